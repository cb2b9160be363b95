/* The files that a drawn configuration names: tables of stopping powers and masks of bodies. Their names describe
 * their content. */
#ifndef LARMOR_TESTS_RANDOM_FILES_H
#define LARMOR_TESTS_RANDOM_FILES_H

#include "draft.h"

/* Writes the files that the draft names into a directory: stopping_K.txt, mask_WxH_K.pgm, mask_WxH_K.h5. Returns 0
 * when a file could not be written. */
int files_write(const struct draft *d, const char *directory);

/* Replaces the sizes in names of masks by those of the draft's grid. */
void files_resize(struct draft *d);

#endif
