/* WENO reconstruction: the value of a field on a face from the averages over the cells around it.
 *
 * The order is 2r-1 for r = 1 (upwind), 2, 3, 4, 5. The value is a weighted mean of r polynomials of degree r-1, each
 * through r cells. The weights follow from the smoothness indicators beta of the polynomials (Jiang and Shu 1996, J.
 * Comput. Phys. 126, 202), as Z weights (Borges et al. 2008, J. Comput. Phys. 227, 3191; Castro et al. 2011, J. Comput.
 * Phys. 230, 1766). All formulas use differences of the averages, never the averages themselves:
 *  - A polynomial is the one of a degree less plus a multiple of the next difference. A lower order is therefore a part
 *    of the higher one, in the same arithmetic.
 *  - A smoothness indicator is a sum of squares of Legendre coefficients (Balsara et al. 2016, J. Comput. Phys. 326,
 *    780). It is never negative.
 *  - A constant field is reconstructed exactly.
 * The indicators are scaled by a power of two to the order of 1 before a small number is added. The weights therefore
 * do not depend on the scale of the field, and products of several indicators do not under- or overflow (for fields
 * below 1e150).
 *
 * A window is w[0 .. 2r-2], from the cell farthest upwind to the one farthest downwind. w[r-1] is the cell upwind of
 * the face. Polynomials are numbered from the one that reaches farthest upwind. `r` is a literal at every call.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_WENO_H
#define LARMOR_PHYSICS_NUMERICS_WENO_H

#include "larmor/physics/numerics/portable.h"

enum { LM_WENO_MOST = 5, LM_WENO_WINDOW = 2 * LM_WENO_MOST - 1 };

/* Added to indicators of the order of 1. In single precision the product of five indicators must be a normal number. */
#define LM_WENO_SMALL 0x1p-40
#define LM_WENO_SMALL_F 0x1p-20f

/* The optimal (linear) weight of polynomial k, up to a common factor. */
LM_HD double lm_weno_optimal(int r, int k)
{
    switch (r) {
    case 2:
        return k == 0 ? 1.0 : 2.0;
    case 3:
        return k == 0 ? 1.0 : k == 1 ? 6.0 : 3.0;
    case 4:
        return k == 0 ? 1.0 : k == 1 ? 12.0 : k == 2 ? 18.0 : 4.0;
    default:
        return k == 0 ? 1.0 : k == 1 ? 20.0 : k == 2 ? 60.0 : k == 3 ? 40.0 : 5.0;
    }
}

/* The power of two that scales the largest of n sizes to [1, 2). */
LM_HD double lm_scale_to_one(const double *x, int n)
{
#ifdef __CUDA_ARCH__
    uint32_t largest = 0;
    LM_UNROLL
    for (int k = 0; k < n; k++) {
        uint32_t size = (uint32_t)__double2hiint(x[k]) & 0x7fffffffu;
        largest = size > largest ? size : largest;
    }
    return __hiloint2double((int)(0x7fe00000u - (largest & 0x7ff00000u)), 0);
#else
    int64_t largest = 0;
    LM_UNROLL
    for (int k = 0; k < n; k++) {
        int64_t size = (int64_t)lm_size_bits(x[k]);
        largest = size > largest ? size : largest;
    }
    return lm_from_bits(0x7fe0000000000000ull - ((uint64_t)largest & 0x7ff0000000000000ull));
#endif
}

/* n differences: to[i] = from[i + 1] - from[i]. */
LM_HD void lm_differences(int n, const double *from, double *to)
{
    LM_UNROLL
    for (int i = 0; i < n; i++)
        to[i] = from[i + 1] - from[i];
}

/* All differences of a window up to the order r-1. */
struct lm_weno_differences {
    double of[LM_WENO_MOST - 1][LM_WENO_WINDOW - 1];
};

LM_HD void lm_weno_differences(int r, const double *w, struct lm_weno_differences *d)
{
    /* cppcheck-suppress uninitvar ; the call writes it */
    lm_differences(2 * r - 2, w, d->of[0]);
    LM_UNROLL
    for (int order = 1; order < r - 1; order++)
        lm_differences(2 * r - 2 - order, d->of[order - 1], d->of[order]);
}

/* The values of the polynomials on the face, less the average of the cell upwind. */
LM_HD void lm_weno_values(int r, const struct lm_weno_differences *d, double *g)
{
    const double g2[2] = {0.5 * d->of[0][r - 2], 0.5 * d->of[0][r - 1]};
    if (r == 2) {
        g[0] = g2[0];
        g[1] = g2[1];
        return;
    }
    const double *s = d->of[1] + r - 3;
    const double g3[3] = {lm_fma(1.0 / 3, s[0], g2[0]), lm_fma(-1.0 / 6, s[1], g2[1]), lm_fma(-1.0 / 6, s[2], g2[1])};
    if (r == 3) {
        g[0] = g3[0];
        g[1] = g3[1];
        g[2] = g3[2];
        return;
    }
    const double *t = d->of[2] + r - 4;
    const double g4[4] = {lm_fma(0.25, t[0], g3[0]), lm_fma(-1.0 / 12, t[1], g3[1]), lm_fma(-1.0 / 12, t[2], g3[1]),
                          lm_fma(1.0 / 12, t[3], g3[2])};
    if (r == 4) {
        g[0] = g4[0];
        g[1] = g4[1];
        g[2] = g4[2];
        g[3] = g4[3];
        return;
    }
    const double *f = d->of[3];
    g[0] = lm_fma(0.2, f[0], g4[0]);
    g[1] = lm_fma(-0.05, f[1], g4[1]);
    g[2] = lm_fma(1.0 / 30, f[2], g4[2]);
    g[3] = lm_fma(1.0 / 30, f[3], g4[2]);
    g[4] = lm_fma(-0.05, f[4], g4[3]);
}

/* lm_weno_smoothness and lm_weno_smoothness_f. */
#define LM_SMOOTH double
#define LM_SMOOTH_FMA lm_fma
#define LM_SMOOTH_NAME(name) name
#include "larmor/physics/numerics/weno_smoothness.h"
#define LM_SMOOTH float
#define LM_SMOOTH_FMA lm_fmaf
#define LM_SMOOTH_NAME(name) name##_f
#include "larmor/physics/numerics/weno_smoothness.h"

/* Weights up to a common factor from the indicators, which are scaled in place. The weights C (1 + (tau / beta)^2) are
 * brought to a common denominator, which is then dropped. */
LM_HD void lm_weno_weights(int r, double *beta, double *weight)
{
    double others[LM_WENO_MOST], q[LM_WENO_MOST];
    const double scale = lm_scale_to_one(beta, r);
    LM_UNROLL
    for (int k = 0; k < r; k++)
        beta[k] = lm_fma(beta[k], scale, LM_WENO_SMALL);
    double tau = lm_weno_tau(r, beta);
    tau *= tau;
    LM_UNROLL
    for (int k = 0; k < r; k++)
        q[k] = beta[k] * beta[k];
    lm_weno_others(r, q, others);
    LM_UNROLL
    for (int k = 0; k < r; k++)
        weight[k] = (lm_weno_optimal(r, k) * (q[k] + tau)) * others[k];
}

/* The mean of the values g of the polynomials with these weights. */
LM_HD double lm_weno_mean(int r, const double *weight, const double *g)
{
    double sum = weight[0], mean = weight[0] * g[0];
    LM_UNROLL
    for (int k = 1; k < r; k++) {
        sum += weight[k];
        mean = lm_fma(weight[k], g[k], mean);
    }
    return mean * lm_reciprocal(sum);
}

/* The same with indicators in single precision, from differences that are scaled first. The result is still a mean of
 * the same polynomials. As a rule it differs by less than 2^-14 of the distance between their values on the face. It
 * differs by more only where the indicators of a window differ by factors of 10^6 although tau is as small as the
 * rounding. */
LM_HD double lm_weno_mean_f(int r, const struct lm_weno_differences *d, const double *g)
{
    float first[LM_WENO_WINDOW - 1], beta[LM_WENO_MOST], others[LM_WENO_MOST], weight[LM_WENO_MOST];
    const double scale = lm_scale_to_one(d->of[0], 2 * r - 2);
    LM_UNROLL
    for (int i = 0; i < 2 * r - 2; i++)
        first[i] = (float)(d->of[0][i] * scale);
    lm_weno_smoothness_f(r, first, beta);
    LM_UNROLL
    for (int k = 0; k < r; k++)
        beta[k] += LM_WENO_SMALL_F;
    lm_weno_others_f(r, beta, others);
    const float share = lm_weno_tau_f(r, beta) * lm_reciprocalf(beta[0] * others[0]);
    float sum = 0.0f;
    LM_UNROLL
    for (int k = 0; k < r; k++) {
        const float x = share * others[k], c = (float)lm_weno_optimal(r, k);
        weight[k] = lm_fmaf(c * x, x, c);
        sum += weight[k];
    }
    const float inverse = lm_reciprocalf(sum);
    double mean = g[r / 2];
    LM_UNROLL
    for (int k = 0; k < r; k++)
        if (k != r / 2)
            mean = lm_fma((double)(weight[k] * inverse), g[k] - g[r / 2], mean);
    return mean;
}

/* The value on the face. `single`: indicators in single precision. */
LM_HD double lm_weno(int r, int single, const double *w)
{
    struct lm_weno_differences d;
    double g[LM_WENO_MOST], beta[LM_WENO_MOST], weight[LM_WENO_MOST];
    if (r == 1)
        return w[0];
    lm_weno_differences(r, w, &d);
    lm_weno_values(r, &d, g);
    if (single)
        return w[r - 1] + lm_weno_mean_f(r, &d, g);
    lm_weno_smoothness(r, d.of[0], beta);
    lm_weno_weights(r, beta, weight);
    return w[r - 1] + lm_weno_mean(r, weight, g);
}

#endif
