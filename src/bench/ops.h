/* Case `ops`: expressions of the operators of larmor/physics/numerics/operators.h over a whole grid. This header has
 * the list of expressions, the problem, and the plain loops with which every other evaluation must agree to the bit. */
#ifndef LARMOR_BENCH_OPS_H
#define LARMOR_BENCH_OPS_H

#include "larmor/base.h"
#include "larmor/grid.h"
#include "larmor/physics/numerics/operators.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lm_ops_expression {
    LM_OPS_GRAD,      /* q to its gradient */
    LM_OPS_DIV,       /* a vector on faces to its divergence */
    LM_OPS_CURL,      /* B to J = curl B */
    LM_OPS_DROP_CURL, /* E to -curl E */
    LM_OPS_TO_FACES,  /* q interpolated along x, along y, along both (to corners) */
    LM_OPS_TO_CENTRE, /* a vector on faces interpolated to centres */
    LM_OPS_CENTRED,   /* q to its collocated differences and its binomial filter */
    LM_OPS_UPWIND,    /* velocity on faces, q: what flows through the faces */
    LM_OPS_DIV_GRAD,  /* f on faces, a, b: div(f grad(a b)) */
    LM_OPS_DIFFUSION, /* kappa, q: div(kappa grad q) */
    LM_OPS_ADVECTION, /* velocity at centres, q: div of what flows through the faces */
    LM_OPS_RESISTIVE, /* B, eta: eta J - eta_H lap J */
    LM_OPS_EXPRESSIONS
};

/* Arrays by number: inputs, results, and what the plain loops need in between. */
enum {
    LM_OPS_INPUTS = 4,
    LM_OPS_OUTPUTS = 3,
    LM_OPS_OUT = LM_OPS_INPUTS,
    LM_OPS_TEMP = LM_OPS_OUT + LM_OPS_OUTPUTS,
    LM_OPS_ARRAYS = LM_OPS_TEMP + 4 /* the last one for arguments with what is beyond walls */
};

/* The boundary conditions that an operator needs. */
enum lm_ops_set {
    LM_OPS_CENTRES,     /* arguments at centres along the axis */
    LM_OPS_COEFFICIENT, /* the diffusivity, the resistivity, the velocity, likewise */
    LM_OPS_FACES,       /* arguments on faces along it */
    LM_OPS_SETS
};

struct lm_ops_problem {
    struct lm_grid grid; /* axes whose sides are not periodic have walls */
    struct lm_condition conditions[LM_OPS_SETS][LM_SIDES];
    double eta_hyper;
    double *array[LM_OPS_ARRAYS]; /* of the grid; inputs with valid ghosts */
};

struct lm_ops_info {
    const char *name;
    int inputs, outputs;
    int faces[LM_OPS_OUTPUTS][2]; /* whether a result lives on faces along x, y: then on lower walls too, index -1 */
};

const struct lm_ops_info *lm_ops_info(int expression);

/* Allocates the arrays and fills the inputs with random numbers in -0.5..0.5, beyond walls too. With walls, each side
 * gets random conditions that the arguments can have. LM_FAILED: no memory. */
int lm_ops_make(int nx, int ny, int walls_x, int walls_y, uint64_t seed, struct lm_ops_problem *out);
void lm_ops_free(struct lm_ops_problem *p);

/* Evaluates an expression as loops over the grid, one for each operator, into array[LM_OPS_OUT ...]. */
void lm_ops_loops(const struct lm_ops_problem *p, int expression, int threads);

/* First index of a result along an axis: -1 on walls. */
static inline int lm_ops_first(const struct lm_grid *g, const struct lm_ops_info *info, int output, int axis)
{
    return info->faces[output][axis] && g->sides.of[2 * axis] != LM_PERIODIC ? -1 : 0;
}

/* A hash of the bits of the results, to compare evaluations. */
uint64_t lm_ops_checksum(const struct lm_ops_problem *p, int expression);

#ifdef __cplusplus
}
#endif
#endif
