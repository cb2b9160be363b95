/* Elementary functions with the same bits everywhere: the C libraries of two machines, or a C library and CUDA, differ
 * in the last bit. Accuracy: about 1 ulp (exp, log, sin, cos), a few ulp (pow, hyperbolic and inverse functions).
 * Polynomials and reductions after FDLIBM (K.-C. Ng, Sun Microsystems, 1993).
 */
#ifndef LARMOR_PHYSICS_NUMERICS_ELEMENTARY_H
#define LARMOR_PHYSICS_NUMERICS_ELEMENTARY_H

#include "larmor/physics/numerics/portable.h"

#define LM_PI 3.14159265358979323846
#define LM_DEGREE 0.017453292519943295 /* rad */
#define LM_LN2_HI 6.93147180369123816490e-01
#define LM_LN2_LO 1.90821492927058770002e-10

LM_HD double lm_infinity(void)
{
    return lm_from_bits(0x7ff0000000000000ull);
}

LM_HD double lm_nan(void)
{
    return lm_from_bits(0x7ff8000000000000ull);
}

/* log((1 + s) / (1 - s)) / s - 2 for |s| <= 0.1716. */
LM_HD double lm_log_kernel(double s)
{
    double z = s * s;
    double r = lm_fma(z, 1.479819860511658591e-01, 1.531383769920937332e-01);
    r = lm_fma(z, r, 1.818357216161805012e-01);
    r = lm_fma(z, r, 2.222219843214978396e-01);
    r = lm_fma(z, r, 2.857142874366239149e-01);
    r = lm_fma(z, r, 3.999999999940941908e-01);
    r = lm_fma(z, r, 6.666666666666735130e-01);
    return z * r;
}

/* Natural logarithm. log(0) = -inf, NaN below. */
LM_HD double lm_log(double x)
{
    if (!(x > 0.0))
        return x == 0.0 ? -lm_infinity() : lm_nan();
    if (x == lm_infinity())
        return x;
    int k = 0;
    if (x < 2.2250738585072014e-308) { /* subnormal */
        x *= 18014398509481984.0;      /* 2^54 */
        k = -54;
    }
    /* x = 2^k (1 + f) with sqrt(1/2) < 1 + f < sqrt(2) */
    uint64_t bits = lm_bits(x);
    k += (int)(bits >> 52) - 1023;
    double m = lm_from_bits((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    if (m > 1.41421356237309504880) {
        m *= 0.5;
        k += 1;
    }
    double f = m - 1.0;
    double s = f / (2.0 + f);
    double r = lm_log_kernel(s);
    double half = 0.5 * f * f;
    double dk = (double)k;
    return lm_fma(dk, LM_LN2_HI, -((half - lm_fma(s, half + r, dk * LM_LN2_LO)) - f));
}

/* log(a / b) for a, b > 0. The bits do not depend on a power of two that both have in common, and nearly equal numbers
 * lose no accuracy. */
LM_HD double lm_log_ratio(double a, double b)
{
    const double s = (a - b) * lm_inverse(a + b);
    return lm_abs(s) < 0.17 ? lm_fma(s, lm_log_kernel(s), 2.0 * s) : lm_log(a / b);
}

/* Exponential; 0 below -745, inf above 709.78. */
LM_HD double lm_exp(double x)
{
    if (!(x <= 709.782712893383973096))
        return x != x ? x : lm_infinity();
    if (x < -745.2)
        return 0.0;
    int64_t n = lm_round64(x * 1.44269504088896338700);
    double dn = (double)n;
    double hi = lm_fma(-dn, LM_LN2_HI, x);
    double lo = dn * LM_LN2_LO;
    double r = hi - lo;
    double t = r * r;
    double c = lm_fma(t, 4.13813679705723846039e-08, -1.65339022054652515390e-06);
    c = lm_fma(t, c, 6.61375632143793436117e-05);
    c = lm_fma(t, c, -2.77777777770155933842e-03);
    c = lm_fma(t, c, 1.66666666666666019037e-01);
    c = r - t * c;
    double y = 1.0 - ((lo - (r * c) / (2.0 - c)) - hi);
    int a = (int)(n / 2), b = (int)n - a; /* two factors reach the subnormals and 2^1024 */
    return y * lm_exp2i(a) * lm_exp2i(b);
}

/* x^p for x >= 0; 0^0 = 1. */
LM_HD double lm_pow(double x, double p)
{
    if (p == 0.0)
        return 1.0;
    if (x == 0.0)
        return p > 0.0 ? 0.0 : lm_infinity();
    return lm_exp(p * lm_log(x));
}

/* Kernels on [-pi/4, pi/4]; `lo` is the tail of x. */
LM_HD double lm_sin_kernel(double x, double lo)
{
    double z = x * x, v = z * x;
    double r = lm_fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
    r = lm_fma(z, r, 2.75573137070700676789e-06);
    r = lm_fma(z, r, -1.98412698298579493134e-04);
    r = lm_fma(z, r, 8.33333333332248946124e-03);
    return x - ((z * (0.5 * lo - v * r) - lo) - v * -1.66666666666666324348e-01);
}

LM_HD double lm_cos_kernel(double x, double lo)
{
    double z = x * x;
    double r = lm_fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
    r = lm_fma(z, r, -2.75573143513906633035e-07);
    r = lm_fma(z, r, 2.48015872894767294178e-05);
    r = lm_fma(z, r, -1.38888888888741095749e-03);
    r = lm_fma(z, r, 4.16666666666666019037e-02);
    double half = 0.5 * z, w = 1.0 - half;
    return w + (((1.0 - w) - half) + (z * z * r - x * lo));
}

/* sin(x + quarter pi/2) for |x| < 1e9; NaN beyond (the reduction would lose its accuracy). */
LM_HD double lm_sin_quarter(double x, int quarter)
{
    if (!(lm_abs(x) < 1e9))
        return lm_nan();
    int64_t n = lm_round64(x * 6.36619772367581382433e-01);
    double dn = (double)n;
    double a = lm_fma(-dn, 1.57079632679489655800e+00, x);
    double y = lm_fma(-dn, 6.12323399573676603587e-17, a);
    double lo = lm_fma(-dn, 6.12323399573676603587e-17, a - y);
    int q = (int)((n + quarter) & 3);
    double r = (q & 1) ? lm_cos_kernel(y, lo) : lm_sin_kernel(y, lo);
    return (q & 2) ? -r : r;
}

LM_HD double lm_sin(double x)
{
    return lm_sin_quarter(x, 0);
}

LM_HD double lm_cos(double x)
{
    return lm_sin_quarter(x, 1);
}

#define LM_PI_2_LO 6.12323399573676603587e-17 /* pi/2 - (double)(pi/2) */

/* The arc tangent of x >= 0: atan(x) = atan(c) + atan((x - c)/(1 + x c)) with c = 0, 1/2, 1, 3/2 or infinity. */
LM_HD double lm_atan_positive(double x)
{
    double hi = 0.0, lo = 0.0; /* atan(c) */
    const int is_small = x < 0.4375;
    if (x >= 2.4375) {
        hi = 1.57079632679489655800e+00, lo = LM_PI_2_LO;
        x = -1.0 / x;
    } else if (x >= 1.1875) {
        hi = 9.82793723247329054082e-01, lo = 1.39033110312309984516e-17;
        x = (x - 1.5) / (1.0 + 1.5 * x);
    } else if (x >= 0.6875) {
        hi = 7.85398163397448278999e-01, lo = 3.06161699786838301793e-17;
        x = (x - 1.0) / (x + 1.0);
    } else if (!is_small) {
        hi = 4.63647609000806093515e-01, lo = 2.26987774529616870924e-17;
        x = (2.0 * x - 1.0) / (2.0 + x);
    }
    const double z = x * x;
    double r = lm_fma(z, 1.62858201153657823623e-02, -3.65315727442169155270e-02);
    r = lm_fma(z, r, 4.97687799461593236017e-02);
    r = lm_fma(z, r, -5.83357013379057348645e-02);
    r = lm_fma(z, r, 6.66107313738753120669e-02);
    r = lm_fma(z, r, -7.69187620504482999495e-02);
    r = lm_fma(z, r, 9.09088713343650656196e-02);
    r = lm_fma(z, r, -1.11111104054623557880e-01);
    r = lm_fma(z, r, 1.42857142725034663711e-01);
    r = lm_fma(z, r, -1.99999999998764832476e-01);
    r = lm_fma(z, r, 3.33333333333329318027e-01);
    r *= z;
    return is_small ? x - x * r : hi - ((x * r - lo) - x);
}

/* The angle of the point (x, y) from the x axis, -pi to pi. */
LM_HD double lm_atan2(double y, double x)
{
    if (x != x || y != y)
        return lm_nan();
    const double ax = lm_abs(x), ay = lm_abs(y);
    const double ratio = ax == ay ? (ax == 0.0 ? 0.0 : 1.0) : ay / ax;
    double angle = lm_atan_positive(ratio);
    if (lm_with_sign(1.0, x) < 0.0)
        angle = LM_PI - (angle - 2.0 * LM_PI_2_LO);
    return lm_with_sign(angle, y);
}

#endif
