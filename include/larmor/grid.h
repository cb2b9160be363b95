/* The grid: nx x ny cells. All arrays have one shape, with ghost cells around the domain; x varies fastest.
 *
 * The staggering (Yee 1966): where each quantity is in cell (i, j). The edges of the domain lie on cell faces.
 *
 *     y-face  o-----------*  corner (i+1/2, j+1/2): B_z
 *     (i, j+1/2)          |
 *     E_y J_y B_x         |
 *             centre  o   o  x-face (i+1/2, j): E_x J_x B_y
 *             (i, j): n, J_i, p_e, E_z, J_z
 */
#ifndef LARMOR_GRID_H
#define LARMOR_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "larmor/place.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_GHOST = 3 }; /* ghost cells on each side of every grid array */

/* The four sides of the domain. side ^ 1 is the opposite side. */
enum lm_side { LM_X_MIN, LM_X_MAX, LM_Y_MIN, LM_Y_MAX, LM_SIDES };

/* What a side does to particles. Opposite sides are both periodic, or neither is. */
enum lm_boundary {
    LM_PERIODIC,
    LM_REFLECTING, /* the normal velocity changes its sign */
    LM_ABSORBING,  /* the particle is removed and counted */
    LM_THERMAL,    /* the particle comes back with a velocity from a Maxwellian at the temperature of the wall */
    LM_INFLOW      /* the particle is removed and counted; others enter from a plasma beyond the side */
};

/* Whether ions leave through such a side. */
LM_HD int lm_ions_cross(int boundary)
{
    return boundary == LM_ABSORBING || boundary == LM_INFLOW;
}

/* What a side does to the fields. The fields are periodic exactly where the particles are. */
enum lm_field_boundary {
    LM_FIELDS_PERIODIC,
    LM_CONDUCTING,    /* tangential E is 0 on the wall */
    LM_OPEN,          /* the fields do not change across the wall */
    LM_INFLOW_B,      /* the configuration prescribes tangential B on the wall */
    LM_INFLOW_E,      /* the configuration prescribes tangential E beyond the wall */
    LM_FIELDS_INFLOW, /* tangential E beyond the wall is -u x B of the plasma that comes in */
    LM_RADIATING      /* waves go on in a strip of plasma beyond the wall, and die there */
};

/* Whether fields carry energy through such a side. */
LM_HD int lm_fields_cross(int field_boundary)
{
    return field_boundary != LM_FIELDS_PERIODIC && field_boundary != LM_CONDUCTING;
}

/* Whether a side absorbs ions, but B does not leave with them. Such a side is a wall for the electrons. A side through
 * which B leaves is not: there the plasma goes on. */
LM_HD int lm_is_absorbing_wall(int boundary, int field_boundary)
{
    return boundary == LM_ABSORBING && field_boundary != LM_OPEN && field_boundary != LM_RADIATING;
}

/* The state of the strip beyond a radiating side (larmor/physics/fields/strip.h): B, u and n, so many cells deep. */
enum { LM_STRIP_ARRAYS = 7, LM_STRIP_CELLS = 56 };

/* All zero: all sides are periodic. */
struct lm_sides {
    int of[LM_SIDES]; /* enum lm_boundary */
};

/* The cells (i, j) with from_x <= i < to_x and from_y <= j < to_y. */
struct lm_cells {
    int from_x, to_x, from_y, to_y;
};

/* The arrays of a process. */
struct lm_grid {
    int nx, ny;            /* cells of the arrays, >= 1 */
    double lx, ly;         /* size of the domain, d_i */
    double dx, dy;         /* size of a cell, d_i */
    int stride;            /* nx + 2 LM_GHOST: array elements from a cell to the cell above it */
    size_t size;           /* elements of one array, ghost cells included */
    size_t cells;          /* nx * ny */
    struct lm_sides sides; /* of the arrays: those of the domain, but for sides that lie within it */
    struct lm_place place; /* of the arrays in the domain */
    struct lm_cells own;   /* the cells of the arrays that this process owns */
};

/* Where in its cell a quantity is: the offset from the centre of the cell, in cells. {0.5, 0} is an x-face. */
struct lm_cell_offset {
    double x, y;
};

/* Where the components of B are, and those of E and J. */
extern const struct lm_cell_offset lm_places_of_b[3], lm_places_of_e[3];

/* A grid whose sides are all periodic. nx and ny are 1..32768, lx and ly > 0; the caller has checked them. */
struct lm_grid lm_grid_make(int nx, int ny, double lx, double ly);

/* The index of cell (i, j) in an array; -LM_GHOST <= i < nx + LM_GHOST, and likewise j. */
static inline size_t lm_at(const struct lm_grid *g, int i, int j)
{
    return (size_t)(j + LM_GHOST) * (size_t)g->stride + (size_t)(i + LM_GHOST);
}

static inline int lm_is_own(const struct lm_grid *g, int i, int j)
{
    return i >= g->own.from_x && i < g->own.to_x && j >= g->own.from_y && j < g->own.to_y;
}

/* Whether this process owns the cells before a side of the domain. */
LM_HD int lm_owns_side(const struct lm_grid *g, int side)
{
    const struct lm_place *p = &g->place;
    return side == LM_X_MIN   ? lm_domain_x(p, g->own.from_x) == 0
           : side == LM_X_MAX ? lm_domain_x(p, g->own.to_x - 1) == p->domain_nx - 1
           : side == LM_Y_MIN ? lm_domain_y(p, g->own.from_y) == 0
                              : lm_domain_y(p, g->own.to_y - 1) == p->domain_ny - 1;
}

/* The own cells, and `x` or `y` more beyond each side of the domain at which they lie. */
static inline struct lm_cells lm_own_and_beyond(const struct lm_grid *g, int x, int y)
{
    const struct lm_cells c = {
        g->own.from_x - (lm_owns_side(g, LM_X_MIN) ? x : 0), g->own.to_x + (lm_owns_side(g, LM_X_MAX) ? x : 0),
        g->own.from_y - (lm_owns_side(g, LM_Y_MIN) ? y : 0), g->own.to_y + (lm_owns_side(g, LM_Y_MAX) ? y : 0)};
    return c;
}

/* The own cells before a side of the domain; none where they are not own. */
LM_HD struct lm_cells lm_own_cells_at(const struct lm_grid *g, int side)
{
    struct lm_cells c = g->own;
    if (!lm_owns_side(g, side))
        c.to_x = c.from_x;
    else if (side == LM_X_MIN)
        c.to_x = c.from_x + 1;
    else if (side == LM_X_MAX)
        c.from_x = c.to_x - 1;
    else if (side == LM_Y_MIN)
        c.to_y = c.from_y + 1;
    else
        c.from_y = c.to_y - 1;
    return c;
}

/* The index in an array of the whole domain of a cell (i, j) that is own or beyond a side (lm_own_and_beyond). */
LM_HD size_t lm_domain_element(const struct lm_grid *g, int i, int j)
{
    const int x = lm_domain_x(&g->place, g->own.from_x) + i - g->own.from_x,
              y = lm_domain_y(&g->place, g->own.from_y) + j - g->own.from_y;
    return (size_t)(y + LM_GHOST) * (size_t)(g->place.domain_nx + 2 * LM_GHOST) + (size_t)(x + LM_GHOST);
}

/* Fills the ghost cells beyond periodic sides from the opposite side. A domain may have fewer cells than ghost cells.
 * Ghost cells beyond walls stay as they are. */
void lm_grid_wrap(const struct lm_grid *g, double *array);

/* Copies the cells without ghost cells to or from a packed [ny][nx] array. */
void lm_grid_pack(const struct lm_grid *g, const double *array, double *packed);
void lm_grid_unpack(const struct lm_grid *g, const double *packed, double *array);

#ifdef __cplusplus
}
#endif
#endif
