/* Where the arrays of a process lie in the domain. A process alone holds the whole domain. Of many processes each owns
 * a rectangle of cells. Its arrays hold them and a frame of cells that others own, the halo (src/ranks/partition.h). */
#ifndef LARMOR_PLACE_H
#define LARMOR_PLACE_H

#include "larmor/physics/numerics/portable.h"

struct lm_place {
    int domain_nx, domain_ny; /* cells of the domain */
    int origin_x, origin_y;   /* the cell of the domain at (0, 0) of the arrays, in [0, domain_n) */
    int fold_x, fold_y;       /* from this index on the arrays go on at the opposite, periodic side of the domain */
};

/* The arrays hold the whole domain. */
LM_HD struct lm_place lm_whole_domain(int nx, int ny)
{
    struct lm_place p;
    p.domain_nx = nx, p.domain_ny = ny;
    p.origin_x = p.origin_y = 0;
    p.fold_x = p.fold_y = 0x7fffffff;
    return p;
}

/* The cell of the domain at index i of the arrays along an axis. Beyond walls it lies outside of [0, domain_n). */
LM_HD int lm_domain_x(const struct lm_place *p, int i)
{
    return i + p->origin_x - (i < p->fold_x ? 0 : p->domain_nx);
}

LM_HD int lm_domain_y(const struct lm_place *p, int j)
{
    return j + p->origin_y - (j < p->fold_y ? 0 : p->domain_ny);
}

/* The same, by the number of the axis. */
LM_HD int lm_domain_along(const struct lm_place *p, int axis, int i)
{
    return axis == 0 ? lm_domain_x(p, i) : lm_domain_y(p, i);
}

/* The number of a cell in the domain. Random numbers, fingerprints and maps know a cell by it. */
LM_HD uint32_t lm_domain_cell(const struct lm_place *p, int i, int j)
{
    return (uint32_t)lm_domain_y(p, j) * (uint32_t)p->domain_nx + (uint32_t)lm_domain_x(p, i);
}

#endif
