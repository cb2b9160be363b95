/* A problem of bench/ops.h that several tests share: functions that make it, read it and free it. */
#ifndef LARMOR_TESTS_OPERATOR_BOX_H
#define LARMOR_TESTS_OPERATOR_BOX_H

#include <stdlib.h>

#include "bench/ops.h"
#include "require.h"
#include "suite.h"

enum { X, Y };

static struct lm_ops_problem p;

static inline void make(int nx, int ny, int walls_x, int walls_y, uint64_t seed)
{
    lm_ops_free(&p);
    ck_assert_int_eq(lm_ops_make(nx, ny, walls_x, walls_y, seed, &p), LM_OK);
}

static inline void free_problem(void)
{
    lm_ops_free(&p);
}

static inline const double *in(int n, int i, int j)
{
    return p.array[n] + lm_at(&p.grid, i, j);
}

static inline double out(int n, int i, int j)
{
    return p.array[LM_OPS_OUT + n][lm_at(&p.grid, i, j)];
}

static inline struct lm_view inputs(int i, int j)
{
    return (struct lm_view){in(0, i, j), in(1, i, j), in(2, i, j), p.grid.stride};
}

#endif
