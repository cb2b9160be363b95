/* Shrinks a configuration that shows a failure, as long as it still does: fewer sections and keys, fewer cells, steps
 * and particles, simpler values. */
#ifndef LARMOR_TESTS_RANDOM_SHRINK_H
#define LARMOR_TESTS_RANDOM_SHRINK_H

#include "draft.h"

/* `shows` returns whether a changed configuration still shows the failure; one that is not valid does not. It is
 * called at most `most` times. Returns the number of calls. `d` must show the failure; afterwards it is the smallest
 * configuration that was found. */
int shrink(struct draft *d, int (*shows)(void *context, const struct draft *d), void *context, int most);

#endif
