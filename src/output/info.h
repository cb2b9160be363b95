/* `larmor info`. */
#ifndef LARMOR_OUTPUT_INFO_H
#define LARMOR_OUTPUT_INFO_H

#include <stdio.h>

/* Describes an HDF5 file that the program has written (checkpoint, series, maps, openPMD). LM_BAD_INPUT: the file is of
 * another kind. */
int lm_info_print(const char *path, FILE *out);

#endif
