/* WENO of an order 2r-1 that is known only at run time, computed without branches by the scheme of the highest order.
 *
 * A polynomial is the one of a degree less plus a multiple of the next difference. If the differences beyond a lower
 * order are set to 0, the scheme of the highest order has the polynomials of that lower order, some of them more than
 * once. For r = 5 as the highest order these are, by their numbers at the lower one:
 *     r = 5: 0 1 2 3 4, r = 4: 0 1 2 2 3, r = 3: 0 1 1 1 2, r = 2: 0 1 1 1 1
 * All repetitions get the weight 0, and the factor 1 in the products of indicators. The remaining arithmetic is that of
 * larmor/physics/numerics/weno.h. The value has the same bits as lm_weno(r, 0, ...). (The sign of a zero may differ,
 * but fields hold no -0.)
 */
#ifndef LARMOR_PHYSICS_NUMERICS_WENO_DYNAMIC_H
#define LARMOR_PHYSICS_NUMERICS_WENO_DYNAMIC_H

#include "larmor/physics/numerics/weno.h"

/* The optimal weight at order 2r-1 of polynomial k of the scheme of order 2 most - 1; 0 for a repetition. */
LM_HD double lm_dynamic_optimal(int most, int r, int k)
{
    const int fifth = most >= 5 && r >= 5, fourth = most >= 4 && r >= 4;
    if (k == 0)
        return 1.0;
    if (k == most - 1 && most > 2)
        return fifth ? 5.0 : fourth ? 4.0 : r >= 3 ? 3.0 : 0.0;
    if (k == 1)
        return fifth ? 20.0 : fourth ? 12.0 : most >= 3 && r >= 3 ? 6.0 : 2.0;
    if (k == 2)
        return fifth ? 60.0 : fourth ? 18.0 : 0.0;
    return fifth ? 40.0 : 0.0;
}

/* Sets to 0 the differences that order 2r-1 does not have, of those that the polynomials use. Values in cells outside
 * the window of order 2r-1 then do not matter, not even NaN. */
LM_HD void lm_dynamic_differences(int most, int r, const double *w, struct lm_weno_differences *d)
{
    lm_weno_differences(most, w, d);
    LM_UNROLL
    for (int order = 1; order < most - 1; order++) {
        LM_UNROLL
        for (int i = 0; i < order + 2; i++) {
            double *one = &d->of[order][most - 2 - order + i];
            *one = r >= order + 2 ? *one : 0.0;
        }
    }
}

/* As lm_weno_smoothness, from differences of all orders. */
LM_HD void lm_dynamic_smoothness(int most, const struct lm_weno_differences *d, double *beta)
{
    const double *first = d->of[0] + most - 2;
    double b1[4], b2[4];
    if (most == 2) {
        beta[0] = first[0] * first[0];
        beta[1] = first[1] * first[1];
        return;
    }
    const double *a2 = d->of[1] + most - 3;
    const double a1[3] = {lm_fma(0.5, a2[0], first[0]), lm_fma(-0.5, a2[1], first[1]), lm_fma(-0.5, a2[2], first[1])};
    if (most == 3) {
        LM_UNROLL
        for (int k = 0; k < 3; k++)
            beta[k] = lm_weno_squares(3, a1[k], a2[k], 0, 0);
        return;
    }
    const double *third = d->of[2] + most - 4;
    lm_weno_cubics(a1, a2, third, b1, b2);
    if (most == 4) {
        LM_UNROLL
        for (int k = 0; k < 4; k++)
            beta[k] = lm_weno_squares(4, b1[k], b2[k], third[k], 0);
        return;
    }
    lm_weno_quartics(b1, b2, third, d->of[3], beta);
}

/* As lm_weno_tau; repeated polynomials cancel. */
LM_HD double lm_dynamic_tau(int most, int r, const double *beta)
{
    if (most < 4)
        return beta[0] - beta[most - 1];
    const double low = lm_fma(3, beta[1] - beta[2], beta[0] - beta[most - 1]);
    return most == 5 && r >= 5 ? lm_weno_tau(5, beta) : low;
}

/* As lm_weno_weights. */
LM_HD void lm_dynamic_weights(int most, int r, double *beta, double *weight)
{
    double others[LM_WENO_MOST], q[LM_WENO_MOST];
    const double scale = lm_scale_to_one(beta, most);
    LM_UNROLL
    for (int k = 0; k < most; k++)
        beta[k] = lm_fma(beta[k], scale, LM_WENO_SMALL);
    double tau = lm_dynamic_tau(most, r, beta);
    tau *= tau;
    LM_UNROLL
    for (int k = 0; k < most; k++)
        q[k] = lm_dynamic_optimal(most, r, k) > 0.0 ? beta[k] * beta[k] : 1.0;
    lm_weno_others(most, q, others);
    LM_UNROLL
    for (int k = 0; k < most; k++)
        weight[k] = (lm_dynamic_optimal(most, r, k) * (q[k] + tau)) * others[k];
}

/* The value on the face from a window w[0 .. 2 most - 2], where most >= 2 is a literal. r >= 1; a larger r than `most`
 * counts as `most`. Cells that are r or more cells from the middle are read, but do not affect the value. */
LM_HD double lm_weno_dynamic(int most, int r, const double *w)
{
    struct lm_weno_differences d;
    double g[LM_WENO_MOST], beta[LM_WENO_MOST], weight[LM_WENO_MOST];
    lm_dynamic_differences(most, r, w, &d);
    lm_weno_values(most, &d, g);
    lm_dynamic_smoothness(most, &d, beta);
    lm_dynamic_weights(most, r, beta, weight);
    const double value = w[most - 1] + lm_weno_mean(most, weight, g);
    return r > 1 ? value : w[most - 1];
}

#endif
