/* The grid: nx x ny cells, x fast, every array of one shape with ghost cells around it.
 *
 * Where a quantity lives in cell (i, j), with the domain's edges on cell faces:
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

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_GHOST = 3 }; /* ghost cells on each side of every grid array */

/* The four sides of the domain, and what they do to particles. */
enum lm_side { LM_X_MIN, LM_X_MAX, LM_Y_MIN, LM_Y_MAX, LM_SIDES };

/* Periodic sides come in pairs. */
enum lm_boundary {
    LM_PERIODIC,
    LM_REFLECTING, /* the normal velocity changes its sign */
    LM_ABSORBING,  /* the particle is gone, and counted */
    LM_THERMAL,    /* it comes back with a velocity drawn from a Maxwellian at the wall's temperature */
    LM_INFLOW      /* it is gone, and counted; others enter from a plasma beyond */
};

/* What they do to the fields. Periodic where the particles are. */
enum lm_field_boundary {
    LM_FIELDS_PERIODIC,
    LM_CONDUCTING,   /* tangential E is 0 on the wall */
    LM_OPEN,         /* nothing changes across it */
    LM_INFLOW_B,     /* tangential B on the wall is given */
    LM_INFLOW_E,     /* tangential E beyond the wall is given */
    LM_FIELDS_INFLOW /* tangential E beyond the wall is that of the plasma that comes in */
};

/* All zero: periodic. */
struct lm_sides {
    int of[LM_SIDES]; /* enum lm_boundary */
};

struct lm_grid {
    int nx, ny;    /* cells, >= 1 */
    double lx, ly; /* size, d_i */
    double dx, dy; /* cell, d_i */
    int stride;    /* nx + 2 LM_GHOST: array elements from a cell to the one above */
    size_t size;   /* elements of one array, ghosts included */
    size_t cells;  /* nx * ny */
    struct lm_sides sides;
};

/* Where in a cell a quantity lives: offset from the cell's centre, in cells. */
struct lm_cell_offset {
    double x, y;
};

/* nx, ny in 1..32768, lx, ly > 0; the caller has checked them. All sides periodic. */
struct lm_grid lm_grid_make(int nx, int ny, double lx, double ly);

/* Index of cell (i, j); -LM_GHOST <= i < nx + LM_GHOST, likewise j. */
static inline size_t lm_at(const struct lm_grid *g, int i, int j)
{
    return (size_t)(j + LM_GHOST) * (size_t)g->stride + (size_t)(i + LM_GHOST);
}

/* Fills the ghosts of a host array beyond periodic sides from the opposite side (any ratio of ghosts to cells); those
 * beyond walls stay. */
void lm_grid_wrap(const struct lm_grid *g, double *array);

/* Copies the cells without ghosts to or from a packed [ny][nx] array. */
void lm_grid_pack(const struct lm_grid *g, const double *array, double *packed);
void lm_grid_unpack(const struct lm_grid *g, const double *packed, double *array);

#ifdef __cplusplus
}
#endif
#endif
