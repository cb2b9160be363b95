/* Background fields: scalars in the cells that a flow carries, such as a neutral gas, a tracer or the entropy of the
 * electrons. The equations are in larmor/physics/fluid/advect.h. This header has the setup of a field and its ledger.
 */
#ifndef LARMOR_BACKGROUND_H
#define LARMOR_BACKGROUND_H

#include "larmor/grid.h"
#include "larmor/ledger.h"
#include "larmor/physics/fluid/background_sides.h"
#include "larmor/physics/numerics/wide.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_MAX_BACKGROUNDS = 8 };

struct lm_bodies;  /* larmor/body.h */
struct lm_opening; /* larmor/physics/fluid/opening.h */
struct lm_passage;
struct lm_surface_cell; /* larmor/physics/fluid/absorption.h */

/* Cells that bodies cut: grid arrays of lm_openings_fill and lm_passages_fill. Both NULL: no cell is cut. */
struct lm_cuts {
    struct lm_opening *open;
    struct lm_passage *passage;
};

/* LM_ENTROPY is that of the electrons; the program adds this field itself (larmor/physics/fluid/electrons.h). */
enum lm_background_kind { LM_TRACER, LM_NEUTRAL_GAS, LM_ENTROPY };
extern const char *const lm_background_kinds[]; /* in words */

/* The value on a face: the mean of both cells, or WENO of order 2r - 1, where r is the number here (r = 1: upwind). */
enum lm_scheme { LM_CENTRED = 0, LM_UPWIND = 1, LM_WENO3, LM_WENO5, LM_WENO7, LM_WENO9 };

/* The flow that carries a field. */
enum lm_flow { LM_FLOW_PRESCRIBED, LM_FLOW_ION, LM_FLOW_ELECTRON, LM_FLOW_ENTROPY };

struct lm_background {
    enum lm_scheme scheme;
    int single;         /* WENO smoothness in single precision */
    int limited;        /* the field is kept between `least` and `most` */
    double least, most; /* most may be infinite */
    double diffusivity; /* v_A d_i, >= 0 */
    enum lm_flow flow;
    enum lm_background_side sides[LM_SIDES]; /* periodic where the particles' are */
    int has_source;
    int gains; /* 1 + enum lm_gas_sum: the field gains this from collisions; 0: nothing */
};

/* What the collisions of a step have transferred to a gas in each cell. */
enum lm_gas_sum { LM_GAS_NUMBER, LM_GAS_MOMENTUM, LM_GAS_ENERGY = LM_GAS_MOMENTUM + 3, LM_GAS_SUMS };

/* How the fields gain what one species has transferred in a step. */
struct lm_gas_gain {
    double unit[LM_GAS_SUMS];        /* the gain of a field for one unit of each sum */
    int quantum[LM_MAX_BACKGROUNDS]; /* quanta of the fields are 2^-quantum */
    uint64_t key;                    /* of the random numbers of the step */
    int species;
};

/* Whether a field has velocity arrays of its own. Fields that ions or electrons carry share theirs. */
static inline int lm_has_own_flow(const struct lm_background *b)
{
    return b->flow == LM_FLOW_PRESCRIBED || b->flow == LM_FLOW_ENTROPY;
}

static inline lm_int128 lm_wide_value(struct lm_wide w)
{
    return (lm_int128)w.high * ((lm_int128)1 << LM_WIDE_BITS) + w.low;
}

/* What a backend counts while it advances a field, in quanta. */
struct lm_advected {
    struct lm_wide total;             /* sum over the contents of the cells as they stand */
    struct lm_wide crossed[LM_SIDES]; /* through each side in the direction of the axis, since the last call */
    struct lm_wide source;            /* what sources have added since the last call */
    double least, most;               /* over the cells outside bodies; least + most is not finite if a cell is not */
};

/* The ledger of a field. At all times
 *
 *     loaded + entered + source + rounded = total
 *
 * holds as integers, in units of 2^-exponent. The unit is the quantum at the start. A larger one replaces it if the
 * field grows by many orders of magnitude. */
struct lm_background_ledger {
    int exponent;                /* of the ledger */
    int quantum;                 /* of the field as it stands: U = 2^-quantum, quantum <= exponent */
    lm_int128 loaded, source;    /* the total at the start; what sources have added since then */
    lm_int128 entered[LM_SIDES]; /* what has entered through each side less what has left */
    lm_int128 rounded;           /* what rounding to larger quanta has changed */
    lm_int128 total;             /* the sum over the cells as they stand */
};

/* The exponent of the quanta for values up to `largest`: these are below 2^47 quanta. A field of 0 gets the quanta of a
 * field of 1. Below LM_BACKGROUND_LEAST the quanta stay those of LM_BACKGROUND_LEAST, so that squares of differences
 * are normal numbers. */
#define LM_BACKGROUND_LEAST 0x1p-400
int lm_background_quantum(double largest);

/* Books what a backend has counted. */
void lm_background_book(struct lm_background_ledger *l, const struct lm_advected *a);

/* Changes the units of the ledger to larger ones. What the rounding of the sums changes is booked under `rounded`. */
void lm_background_coarsen(struct lm_background_ledger *l, int exponent);

/* loaded + entered + source + rounded - total. It is 0 unless the program has an error. */
lm_int128 lm_background_residual(const struct lm_background_ledger *l);

/* A sum of a ledger as a double, rounded once. */
double lm_background_value(const struct lm_background_ledger *l, lm_int128 sum);

/* Rounds the cells of an array to whole quanta, and the contents of cut cells towards zero; ghosts stay. `open` is that
 * of lm_openings_fill, NULL where no cell is cut. */
void lm_background_round(const struct lm_grid *g, const struct lm_opening *open, double *q, int quantum);

/* Whether the content of each cell is a whole number of quanta, below 2^53. */
int lm_background_is_whole(const struct lm_grid *g, const struct lm_opening *open, const double *q, int quantum);

/* The sum over the cells of an array in units of 2^-exponent, of cut cells that of their contents, whose quanta are
 * 2^-quantum. It is exact if each cell is a whole number of quanta and a quantum is a whole number of units. */
lm_int128 lm_background_sum(const struct lm_grid *g, const struct lm_opening *open, const double *q, int quantum,
                            int exponent);

/* Whether the surface of a body cuts a cell. */
int lm_any_cut(const struct lm_grid *g, const struct lm_bodies *bodies);

/* Fills open[g->size], with the first cells beyond each side (larmor/physics/fluid/opening.h), from the mask and the
 * obstacles of the bodies. Further ghosts get 1. */
void lm_openings_fill(const struct lm_grid *g, const struct lm_bodies *bodies, struct lm_opening *open);

/* Fills passage[g->size] in the same way, for the upper faces of the cells from -1 on (larmor/physics/fluid/opening.h).
 * Other elements get 0. */
void lm_passages_fill(const struct lm_grid *g, const struct lm_bodies *bodies, struct lm_passage *passage);

/* Makes both where a body cuts a cell, else nothing. LM_FAILED: not enough memory. The caller frees with lm_cuts_free.
 */
int lm_cuts_make(const struct lm_grid *g, const struct lm_bodies *bodies, struct lm_cuts *out);
void lm_cuts_free(struct lm_cuts *cuts);

/* The own cells of plasma that a body cuts, that share a face with a cell of a body, or that lie at one of the
 * `surfaces`, bits 1 << side of sides of the domain (larmor/physics/fluid/absorption.h). Returns their number, and puts
 * them into to[], which the caller owns, unless that is NULL. `open`: NULL where no cell is cut. */
size_t lm_surface_cells(const struct lm_grid *g, const struct lm_bodies *bodies, const struct lm_opening *open,
                        int surfaces, struct lm_surface_cell *to);

/* Turns velocities on faces, 0 on faces of bodies, into those whose flows through the open lengths pass around bodies.
 * LM_FAILED: not enough memory. */
int lm_background_pass(const struct lm_grid *g, struct lm_cuts cuts, double *vx, double *vy);

/* The largest mean length of two opposite faces of a cell over the volume of the cell, at least 1. Rates of diffusion
 * are at most this many times those of whole cells, and rates of a flow are if no speed is above a limit. */
double lm_crowding(const struct lm_grid *g, const uint8_t *clearance, const struct lm_opening *open);

/* Fills clearance[g->size] with the clearance of each cell (larmor/physics/fluid/face_value.h), including the first
 * cell beyond each side. mask[ny][nx] is that of larmor/body.h, or NULL. LM_FAILED: not enough memory. */
int lm_stencil_clearance(const struct lm_grid *g, const uint8_t *mask, uint8_t *clearance);

/* Velocities on the faces from a stream function psi on the corners: u_x = d psi/dy, u_y = -d psi/dx over the open
 * length of the face. The flow has no divergence on this grid. psi is a grid array with corner (i+1/2, j+1/2) at (i,
 * j); the ghosts at -1 are read. Around each body and along each wall psi is made constant, because nothing passes
 * there. The constant is the mean of psi over the corners there that touch a free cell. Where bodies cut cells, it is
 * the mean over the places where the surfaces cross the lines between corners, interpolated along these. */
int lm_background_stream(const struct lm_grid *g, const int sides[LM_SIDES], const uint8_t *clearance,
                         const struct lm_opening *open, double *psi, double *vx, double *vy);

/* Sets the velocities on the faces of cells of bodies to 0. */
void lm_background_shut(const struct lm_grid *g, const uint8_t *clearance, double *vx, double *vy);

/* The Courant number of a field per unit of time, the sum of two parts. The part of the flow is the largest
 * lm_flow_rate over the cells, times 1 / LM_LOBATTO for a field with bounds. The part of diffusion is 2 kappa (1/dx^2 +
 * 1/dy^2) times lm_crowding. */
double lm_background_rate(const struct lm_grid *g, const struct lm_background *b, double flow_rate, double crowding);

#ifdef __cplusplus
}
#endif
#endif
