/* The cell of 0 to n - 1 along an axis that an index beyond them stands for. */
#ifndef LARMOR_PHYSICS_NUMERICS_CELL_INDEX_H
#define LARMOR_PHYSICS_NUMERICS_CELL_INDEX_H

#include "larmor/physics/numerics/portable.h"

/* Along a periodic axis: i modulo n. */
LM_HD int lm_wrap(int i, int n)
{
    int r = i % n;
    return r < 0 ? r + n : r;
}

/* The same, faster where it is there already: a division takes long. */
LM_HD int lm_wrap_seldom(int i, int n)
{
    return (unsigned)i < (unsigned)n ? i : lm_wrap(i, n);
}

/* Between walls: the nearest cell. */
LM_HD int lm_nearest_cell(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

#endif
