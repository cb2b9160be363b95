/* Background fields: scalars on the cells that flows carry (neutral gas, tracers, electron entropy). The equations are
 * in larmor/physics/fluid/advect.h; here: what a field is, its setup and its ledger.
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

/* LM_ENTROPY: the electrons', which the program adds itself (larmor/physics/fluid/electrons.h). */
enum lm_background_kind { LM_TRACER, LM_NEUTRAL_GAS, LM_ENTROPY };
extern const char *const lm_background_kinds[]; /* in words */

/* Reconstruction on the faces: the mean of both cells, or WENO of order 2r - 1 (r = 1: upwind). */
enum lm_scheme { LM_CENTRED = 0, LM_UPWIND = 1, LM_WENO3, LM_WENO5, LM_WENO7, LM_WENO9 };

/* What carries a field. */
enum lm_flow { LM_FLOW_PRESCRIBED, LM_FLOW_ION, LM_FLOW_ELECTRON, LM_FLOW_ENTROPY };

struct lm_background {
    int scheme;          /* enum lm_scheme */
    int single;          /* smoothness in single precision */
    int limited;         /* kept between `least` and `most` */
    double least, most;  /* most may be infinite */
    double diffusivity;  /* v_A d_i, >= 0 */
    int flow;            /* enum lm_flow */
    int sides[LM_SIDES]; /* enum lm_background_side; periodic where the particles' are */
    int has_source;
    int gains; /* 1 + enum lm_gas_transfer: what it receives from collisions; 0: nothing */
};

/* What the collisions of a step transfer to a gas in each cell. */
enum lm_gas_transfer {
    LM_TRANSFER_NUMBER,
    LM_TRANSFER_MOMENTUM,
    LM_TRANSFER_ENERGY = LM_TRANSFER_MOMENTUM + 3,
    LM_TRANSFERS
};

/* A unit of each makes so much of a field; quanta of the fields are 2^-quantum. */
struct lm_gain {
    double unit[LM_TRANSFERS];
    int quantum[LM_MAX_BACKGROUNDS];
    uint64_t key; /* of the step's random numbers */
    int species;  /* that has given */
};

/* Whether it has a velocity of its own, not one that fields share. */
static inline int lm_has_own_flow(const struct lm_background *b)
{
    return b->flow == LM_FLOW_PRESCRIBED || b->flow == LM_FLOW_ENTROPY;
}

static inline lm_int128 lm_wide_value(struct lm_wide w)
{
    return (lm_int128)w.high * ((lm_int128)1 << LM_WIDE_BITS) + w.low;
}

/* What a backend finds out about a field while it advances it, in quanta. */
struct lm_advected {
    struct lm_wide total;             /* sum over the cells, as it is now */
    struct lm_wide crossed[LM_SIDES]; /* through each side in the direction of the axis, since the last call */
    struct lm_wide source;            /* what the source has given since then */
    double least, most;               /* over the cells of fluid, as they are now; NaN if any is */
};

/* The ledger of a field: at all times
 *
 *     loaded + entered + source + rounded = total
 *
 * in units of 2^-exponent, as integers: the quantum at the start, or a larger one since the field has outgrown that by
 * far (as a pulse does that begins at 1e-40). */
struct lm_background_ledger {
    int exponent;                /* of the ledger */
    int quantum;                 /* of the field now: U = 2^-quantum, quantum <= exponent */
    lm_int128 loaded, source;    /* at the start; by the source since then */
    lm_int128 entered[LM_SIDES]; /* by each side, less what has left */
    lm_int128 rounded;           /* by taking larger quanta */
    lm_int128 total;             /* now */
};

/* An exponent for values up to `largest`: they are below 2^47 quanta. 0 stands for 1; for less than LM_BACKGROUND_LEAST
 * quanta are no smaller than for that, so that squares of differences stay normal numbers. */
#define LM_BACKGROUND_LEAST 0x1p-400
int lm_background_quantum(double largest);

/* Adds what a backend has found, in quanta. */
void lm_background_book(struct lm_background_ledger *l, const struct lm_advected *a);

/* Goes over to larger units; what their rounding changes is booked under `rounded`. */
void lm_background_coarsen(struct lm_background_ledger *l, int exponent);

/* loaded + entered + source + rounded - total; 0 unless something is wrong. */
lm_int128 lm_background_residual(const struct lm_background_ledger *l);

/* A sum of a ledger as a double, rounded once. */
double lm_background_value(const struct lm_background_ledger *l, lm_int128 sum);

/* Rounds an array's cells (without ghosts) to whole quanta. */
void lm_background_round(const struct lm_grid *g, double *q, int quantum);

/* The sum over its cells in units of 2^-exponent; exact if all are whole ones. */
lm_int128 lm_background_sum(const struct lm_grid *g, const double *q, int exponent);

/* room[g->size]: larmor/physics/fluid/advect.h, with one cell beyond the sides; mask[ny][nx] as in larmor/body.h, or
 * NULL. LM_FAILED: not enough memory. */
int lm_background_room(const struct lm_grid *g, const uint8_t *mask, uint8_t *room);

/* Velocities on the faces from a stream function psi on the corners (grid array, corner (i+1/2, j+1/2) at (i, j); the
 * ghosts at -1 are read): u_x = d psi/dy, u_y = -d psi/dx, so that the flow has no divergence on this grid. Where
 * nothing can pass, around each body and along each wall, psi is made constant: the mean of what it is on the
 * fluid's corners there. */
int lm_background_stream(const struct lm_grid *g, const int sides[LM_SIDES], const uint8_t *room, double *psi,
                         double *vx, double *vy);

/* Sets the velocities through faces of solid cells to 0. */
void lm_background_shut(const struct lm_grid *g, const uint8_t *room, double *vx, double *vy);

/* Courant number of a field in a unit of time: that of the flow (the largest over the cells of what leaves and what
 * enters, lm_flow_rate; 1 / LM_LOBATTO times that for a field with bounds) and 2 kappa (1/dx^2 + 1/dy^2). */
double lm_background_rate(const struct lm_grid *g, const struct lm_background *b, double flow_rate);

#ifdef __cplusplus
}
#endif
#endif
