/* `larmor info`. */
#ifndef LARMOR_OUTPUT_INFO_H
#define LARMOR_OUTPUT_INFO_H

#include <stdio.h>

/* Describes any HDF5 file that the program writes (checkpoint, series, maps, openPMD). LM_BAD_INPUT: it is none. */
int lm_info_print(const char *path, FILE *out);

#endif
