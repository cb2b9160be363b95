/* Elementary functions beside those of elementary.h: only expressions use them. They have the same bits everywhere,
 * too. Accuracy: a few ulp over the whole range, for the tangent below arguments of 1e9. Outside its domain a function
 * is NaN.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_ELEMENTARY_EXPR_H
#define LARMOR_PHYSICS_NUMERICS_ELEMENTARY_EXPR_H

#include "larmor/physics/numerics/elementary.h"

LM_HD double lm_tan(double x)
{
    return lm_sin(x) / lm_cos(x);
}

LM_HD double lm_atan(double x)
{
    return x == x ? lm_with_sign(lm_atan_positive(lm_abs(x)), x) : x;
}

LM_HD double lm_asin(double x)
{
    return lm_atan2(x, lm_sqrt((1.0 - x) * (1.0 + x)));
}

LM_HD double lm_acos(double x)
{
    return lm_atan2(lm_sqrt((1.0 - x) * (1.0 + x)), x);
}

/* sinh by its series for |x| <= 1, where e^x - e^-x would cancel. */
LM_HD double lm_sinh_small(double x)
{
    double z = x * x, sum = 1.0;
    for (int k = 19; k > 3; k -= 2)
        sum = 1.0 + z / (k * (k - 1.0)) * sum;
    return x + x * (z / 6.0 * sum);
}

LM_HD double lm_sinh(double x)
{
    double a = lm_abs(x);
    if (a <= 1.0)
        return lm_sinh_small(x);
    double half = lm_exp(a < 709.0 ? a : 0.5 * a);
    return lm_with_sign(a < 709.0 ? 0.5 * half - 0.5 / half : 0.5 * half * half, x);
}

LM_HD double lm_cosh(double x)
{
    double a = lm_abs(x);
    double half = lm_exp(a < 709.0 ? a : 0.5 * a);
    return a < 709.0 ? 0.5 * half + 0.5 / half : 0.5 * half * half;
}

LM_HD double lm_tanh(double x)
{
    double a = lm_abs(x);
    if (a <= 1.0)
        return lm_sinh_small(x) / lm_cosh(x);
    return lm_with_sign(1.0 - 2.0 / (lm_exp(2.0 * a) + 1.0), x);
}

/* log(1 + x); the quotient takes back the rounding of 1 + x (W. Kahan). */
LM_HD double lm_log_1p(double x)
{
    double u = 1.0 + x;
    if (u == 1.0 || u == lm_infinity())
        return x;
    return lm_log(u) * (x / (u - 1.0));
}

LM_HD double lm_asinh(double x)
{
    double a = lm_abs(x), r;
    if (a > 1e9)
        r = lm_log(a) + (LM_LN2_HI + LM_LN2_LO);
    else if (a > 2.0)
        r = lm_log(2.0 * a + 1.0 / (lm_sqrt(a * a + 1.0) + a));
    else
        r = lm_log_1p(a + a * a / (1.0 + lm_sqrt(1.0 + a * a)));
    return lm_with_sign(r, x);
}

LM_HD double lm_acosh(double x)
{
    double t = x - 1.0;
    if (x > 1e9)
        return lm_log(x) + (LM_LN2_HI + LM_LN2_LO);
    if (x > 2.0)
        return lm_log(2.0 * x - 1.0 / (x + lm_sqrt(x * x - 1.0)));
    return lm_log_1p(t + lm_sqrt(2.0 * t + t * t));
}

LM_HD double lm_atanh(double x)
{
    double a = lm_abs(x);
    double r = a < 0.5 ? 2.0 * a + 2.0 * a * a / (1.0 - a) : 2.0 * a / (1.0 - a);
    return lm_with_sign(0.5 * lm_log_1p(r), x);
}

LM_HD int lm_is_positive_finite(double x)
{
    return x > 0.0 && x < lm_infinity();
}

/* x = 2^k m with 1 <= m < 2, for 0 < x < infinity. */
LM_HD double lm_mantissa(double x, int *k)
{
    *k = -1023;
    if (x < 2.2250738585072014e-308) { /* subnormal */
        x *= 18014398509481984.0;      /* 2^54 */
        *k -= 54;
    }
    *k += (int)(lm_bits(x) >> 52);
    return lm_from_bits((lm_bits(x) & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
}

/* x = 2^k m with sqrt(1/2) <= m < sqrt(2), for 0 < x < infinity. */
LM_HD double lm_mantissa_near_1(double x, int *k)
{
    double m = lm_mantissa(x, k);
    if (m < 1.41421356237309504880)
        return m;
    *k += 1;
    return 0.5 * m;
}

LM_HD double lm_log2(double x)
{
    if (!lm_is_positive_finite(x))
        return lm_log(x);
    int k;
    double m = lm_mantissa_near_1(x, &k);
    return (double)k + lm_log(m) * 1.44269504088896338700;
}

/* FDLIBM e_log10.c: the integer power of two apart, so that log10(10^n) = n. */
LM_HD double lm_log10(double x)
{
    if (!lm_is_positive_finite(x))
        return lm_log(x);
    int k;
    double m = lm_mantissa(x, &k);
    if (k < 0) {
        k += 1;
        m *= 0.5;
    }
    double z = k * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * lm_log(m);
    return z + k * 3.01029995663611771306e-01;
}

/* log(x) as a sum hi + lo with some 60 bits, for 0 < x < infinity. */
LM_HD double lm_log_long(double x, double *lo)
{
    int k;
    double f = lm_mantissa_near_1(x, &k) - 1.0;
    double d = 2.0 + f, d_lo = (2.0 - d) + f;
    double s = f / d;
    double s_lo = (lm_fma(-s, d, f) - s * d_lo) / d;
    double z = s * s, sum = lm_fma(z, 1.0 / 23.0, 1.0 / 21.0);
    sum = lm_fma(z, sum, 1.0 / 19.0);
    sum = lm_fma(z, sum, 1.0 / 17.0);
    sum = lm_fma(z, sum, 1.0 / 15.0);
    sum = lm_fma(z, sum, 1.0 / 13.0);
    sum = lm_fma(z, sum, 1.0 / 11.0);
    sum = lm_fma(z, sum, 1.0 / 9.0);
    sum = lm_fma(z, sum, 1.0 / 7.0);
    sum = lm_fma(z, sum, 1.0 / 5.0);
    sum = lm_fma(z, sum, 1.0 / 3.0);
    double a = k * LM_LN2_HI, b = 2.0 * s; /* log(x) = k log(2) + 2 atanh(s) */
    double sum_hi = a + b, part = sum_hi - a;
    double sum_lo = (a - (sum_hi - part)) + (b - part);
    sum_lo += 2.0 * s_lo + 2.0 * s * z * sum + k * LM_LN2_LO;
    double hi = sum_hi + sum_lo;
    *lo = sum_lo - (hi - sum_hi);
    return hi;
}

/* a^b for a >= 0. */
LM_HD double lm_power_positive(double a, double b)
{
    if (!lm_is_positive_finite(a)) {
        if (a != a)
            return a;
        return (a > 0.0) == (b > 0.0) ? lm_infinity() : 0.0;
    }
    double lo, hi = lm_log_long(a, &lo);
    double e = b * hi;
    double value = lm_exp(e);
    if (!lm_is_positive_finite(value))
        return value;
    return value + value * (lm_fma(b, hi, -e) + b * lo);
}

/* a^n as a product; *exact: none of the products was rounded. */
LM_HD double lm_power_product(double a, int n, int *exact)
{
    double value = 1.0;
    *exact = 1;
    for (int k = 0; k < n && *exact; k++) {
        double next = value * a;
        *exact = lm_fma(value, a, -next) == 0.0;
        value = next;
    }
    return value;
}

/* a^b; a negative base needs an integer exponent. Slower than lm_pow of elementary.h and more accurate. */
LM_HD double lm_power(double a, double b)
{
    if (b == 0.0 || a == 1.0)
        return 1.0;
    if (b != b)
        return b;
    int integer = lm_floor(b) == b;
    int odd = integer && lm_abs(b) < 9007199254740992.0 && ((int64_t)b & 1);
    if (a < 0.0 && !integer)
        return lm_nan();
    if (integer && lm_abs(b) <= 64.0) {
        int exact;
        double product = lm_power_product(a, (int)lm_abs(b), &exact);
        if (exact)
            return b > 0.0 ? product : 1.0 / product;
    }
    double value = lm_power_positive(lm_abs(a), b);
    return odd && lm_with_sign(1.0, a) < 0.0 ? -value : value;
}

#endif
