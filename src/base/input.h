/* Opens files that the user names as input. */
#ifndef LARMOR_BASE_INPUT_H
#define LARMOR_BASE_INPUT_H

#include <stdio.h>

/* Opens a regular file for reading; the caller closes *out. A pipe, device, socket or directory is refused at once.
 * LM_BAD_INPUT: the message is "PATH: reason". */
int lm_input_open(const char *path, FILE **out);

#endif
