/* The halo of the arrays of a rank (src/ranks/partition.h): which cells other ranks need, and the exchange of arrays in
 * the memory of the host. */
#ifndef LARMOR_RANKS_HALO_H
#define LARMOR_RANKS_HALO_H

#include "ranks/partition.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cells of the arrays of this rank that another rank owns, or own cells that it needs. Both ranks list the same cells
 * in the same order. */
struct lm_halo_piece {
    int peer;
    struct lm_cells cells;
};

struct lm_halo_list {
    int count;
    struct lm_halo_piece *piece; /* the pieces of a peer stand together */
};

struct lm_halo {
    struct lm_grid grid;                  /* of this rank's arrays */
    const struct lm_partition *partition; /* borrowed */
    int fields_have_walls;                /* at some side of the domain; the caller sets it */
    int smoothing;                        /* passes of the binomial filter; the caller sets it */
    int has_bodies;                       /* the caller sets it */
    int has_surfaces;                     /* lm_has_surfaces, somewhere in the domain; the caller sets it */
    int radiates[LM_SIDES];               /* which sides of the domain are radiating; the caller sets it */
    struct lm_halo_list owned, held;      /* own cells that others hold; cells of others that this rank holds; both with
                                             the ghost cells beyond walls */
    struct lm_halo_list owned_at[LM_SIDES]; /* of `owned` those at a side with walls, as lines (lm_halo_lines) */
    struct lm_halo_list held_at[LM_SIDES];  /* the same of `held` */
    struct lm_halo_list shared, added;      /* cells that another rank holds and particles of this one reach, as they
                                               are sent; cells of this rank that particles of others reach, as they
                                               come */
    char *buffer;
    size_t buffer_size;
};

/* LM_FAILED: not enough memory. The caller frees with lm_halo_free, before the division. */
int lm_halo_make(const struct lm_partition *p, const struct lm_grid *domain, int rank, struct lm_halo *out);
void lm_halo_free(struct lm_halo *h);

/* Copies own cells into the halos of the other ranks, for `count` grid arrays with ghost cells. Ghost cells beyond
 * walls go with the cells; those beyond periodic sides are filled from the arrays. NULL: there is one rank. */
void lm_halo_refresh(struct lm_halo *h, double *const *arrays, int count);

/* The pieces of a list that reach a side of the domain, as numbers from_x to to_x of the lines along that side of
 * arrays with this grid. LM_FAILED: not enough memory. The caller frees to->piece. */
int lm_halo_lines(const struct lm_halo_list *l, const struct lm_grid *g, int side, struct lm_halo_list *to);

/* Copies what the owners of the cells at a side have along it into the other ranks that hold these cells: `values` are
 * [lines of the arrays along the side][each]. */
void lm_halo_refresh_side(struct lm_halo *h, int side, double *values, int each);

/* Whether the moments and E have to be refreshed in each step. In a wide halo both may stay as this rank computes
 * them: they are wrong at the edge of the arrays only, too far out to be read. NULL: there is one rank. */
int lm_halo_needs_moments(const struct lm_halo *h);

/* Whether the halo of B has to be refreshed after a substep, 0 to substeps - 1: before an error at the edge of the
 * arrays reaches own cells, and at the end. NULL: there is one rank. */
int lm_halo_is_used_up(const struct lm_halo *h, int substep, int substeps);

/* A move of arrays from one division of a domain to another. */
struct lm_halo_move {
    struct lm_grid from, to;     /* of this rank's arrays before and after */
    struct lm_halo_list out, in; /* own cells that others or this rank will hold; cells that this rank will hold */
};

int lm_halo_move_make(const struct lm_partition *from, const struct lm_partition *to, const struct lm_grid *domain,
                      int rank, struct lm_halo_move *out);
void lm_halo_move_free(struct lm_halo_move *m);

/* Fills an array with its halo and with its ghost cells beyond walls and periodic sides. */
void lm_halo_move(const struct lm_halo_move *m, const double *from, double *to);

/* The same for what lies along a side, as in lm_halo_refresh_side. A division that does not reach the side has none. */
void lm_halo_move_side(const struct lm_halo_move *m, int side, const double *from, double *to, int each);

/* Adds up what the particles of all ranks have left in the same cell, and gives the sum to all that hold the cell:
 * arrays [ny][nx][each]. */
void lm_halo_add(struct lm_halo *h, int64_t *const *arrays, int count, int each);

#ifdef __cplusplus
}
#endif
#endif
