/* How the cells of a domain are divided among ranks, the processes of one run.
 *
 * Each rank owns a rectangle of cells; every cell has one owner. The arrays of a rank hold its rectangle and, along an
 * axis that is divided, some cells of its neighbours on each side: the halo. Operations on the grid work on the halo
 * as on other cells. The edge of the arrays is no side of the domain, so what is computed there is wrong, and the error
 * moves inwards by the width of a stencil with each operation. Before it reaches the own cells, the halo gets the
 * values of the owners anew (src/ranks/halo.h). Along an axis that is too short for this, the arrays of the rank hold
 * all of it, as those of a process alone do, and no error arises.
 *
 * A particle belongs to the rank that owned its cell at the last sort. Until the next sort it may be in the halo, at
 * most LM_HALO_REACH cells from the own ones.
 */
#ifndef LARMOR_RANKS_PARTITION_H
#define LARMOR_RANKS_PARTITION_H

#include "larmor/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A cell of the grid is taken to cost as much as so many particles. On one H200 with three substeps of B it took as
 * long as 14 (4096 x 4096 cells, 64 particles a cell); the ratio depends on the number of substeps. */
#define LM_CELL_COST 16.0

/* Cells. */
enum {
    LM_HALO_REACH = 8,                /* as far as a particle may cross in a step (LM_MAX_CELLS) */
    LM_HALO_READ = LM_HALO_REACH + 3, /* a particle reads and deposits up to here */
    LM_HALO_LEAST = LM_HALO_READ + 5, /* the velocities of a gas are wrong up to 5 cells from the edge of the arrays */
    LM_HALO_NARROW = LM_HALO_LEAST,   /* by default on CPUs, where a cell costs more than on a GPU */
    LM_HALO_WIDE = 32                 /* by default on GPUs */
};

/* Columns of ranks side by side; each is cut into rows. */
struct lm_partition {
    int nx, ny;            /* cells of the domain */
    struct lm_sides sides; /* of the domain */
    int ranks;
    int halo;             /* its width in cells */
    struct lm_cells *own; /* [ranks]: in cells of the domain */
    int unit, units_x;    /* all cuts are multiples of this number of cells; number of such units along x */
    int *owner;           /* of each unit */
};

/* Divides a domain of `grid` in pieces of whole tiles of `tile` cells where there are enough tiles for the ranks, else
 * of cells. `halo`: its width, at least LM_HALO_LEAST. `cost` holds the cost of each tile, [tiles in y][tiles in x];
 * NULL: all cells cost the same. LM_BAD_INPUT: more ranks than cells. The caller frees with lm_partition_free. */
int lm_partition_make(const struct lm_grid *grid, int ranks, int tile, int halo, const double *cost,
                      struct lm_partition *out);
void lm_partition_free(struct lm_partition *p);

/* The grid of the arrays of a rank. */
struct lm_grid lm_partition_grid(const struct lm_partition *p, const struct lm_grid *domain, int rank);

/* The cells of others that the ranks hold, all ranks together. */
double lm_partition_held(const struct lm_partition *p, const struct lm_grid *domain);

/* The part of all cost that the cells of a rank have, by the cost of tiles as above; by cells where the domain is not
 * divided in whole tiles. */
double lm_partition_share(const struct lm_partition *p, int rank, int tile, const double *cost);

/* The owner of a cell of the domain. */
static inline int lm_partition_owner(const struct lm_partition *p, int x, int y)
{
    return p->owner[(size_t)(y / p->unit) * (size_t)p->units_x + (size_t)(x / p->unit)];
}

#ifdef __cplusplus
}
#endif
#endif
