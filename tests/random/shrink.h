/* Makes a configuration small that shows something, while it still does: without sections and keys it can do without,
 * with fewer cells, steps and particles, with plain values. */
#ifndef LARMOR_TESTS_RANDOM_SHRINK_H
#define LARMOR_TESTS_RANDOM_SHRINK_H

#include "draft.h"

/* `shows` tells whether a changed configuration still shows it; one that is not valid does not. It is asked `most`
 * times at most. Returns how often it was asked. `d` must show it, and then is the smallest that was found. */
int shrink(struct draft *d, int (*shows)(void *context, const struct draft *d), void *context, int most);

#endif
