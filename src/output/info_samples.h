/* `larmor info` of files with samples (output/records.h). */
#ifndef LARMOR_OUTPUT_INFO_SAMPLES_H
#define LARMOR_OUTPUT_INFO_SAMPLES_H

#include <stdio.h>

#include "base/h5.h"

void lm_info_track(struct lm_h5 *h, FILE *out);
void lm_info_probe(struct lm_h5 *h, FILE *out);

#endif
