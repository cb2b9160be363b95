/* Faraday's law on the staggered grid (Yee 1966), and the classical Runge-Kutta method of fourth order for B.
 *
 * With the rates k_0 to k_3 of the four stages a step h takes B to B + h (k_0 + 2 k_1 + 2 k_2 + k_3) / 6. The rate of
 * stages 1, 2 and 3 is that of B + h k_0 / 2, B + h k_1 / 2 and B + h k_2.
 */
#ifndef LARMOR_PHYSICS_FIELDS_FARADAY_H
#define LARMOR_PHYSICS_FIELDS_FARADAY_H

#include "larmor/physics/numerics/operators.h"

/* -curl E: the rate of B_x on the y-face, B_y on the x-face, B_z on the corner of cell (i, j). */
LM_HD struct lm_vector lm_faraday(struct lm_view e, double inv_dx, double inv_dy)
{
    return lm_drop_curl_up(e, inv_dx, inv_dy);
}

/* div B on the corner of cell (i, j). */
LM_HD double lm_div_b(struct lm_view b, double inv_dx, double inv_dy)
{
    return lm_div_up(b, inv_dx, inv_dy);
}

/* How the rate of a stage, 0 to 3, enters the result and the B of the next stage. */
struct lm_rk4 {
    double result, next;
};

LM_HD struct lm_rk4 lm_rk4_stage(int stage, double h)
{
    struct lm_rk4 r;
    r.result = stage == 0 || stage == 3 ? h / 6.0 : h / 3.0;
    r.next = stage == 2 ? h : 0.5 * h;
    return r;
}

/* One component of B after a stage: the sum that becomes the result, from the sum so far (in stage 0: B at the
 * beginning of the step), and the B that the next stage takes, from `start`, which is B at the beginning of the step.
 * Stage 3 has no next one. Where B is `held` (lm_is_held) it keeps its bits. */
LM_HD double lm_rk4_sum(struct lm_rk4 rk, int held, double sum, double rate)
{
    return held ? sum : lm_fma(rk.result, rate, sum);
}

LM_HD double lm_rk4_next(struct lm_rk4 rk, int held, double start, double rate)
{
    return held ? start : lm_fma(rk.next, rate, start);
}

#endif
