#include "base/elementary_host.h"

#include "larmor/physics/numerics/elementary.h"

double lm_host_sin(double x)
{
    return lm_sin(x);
}

double lm_host_cos(double x)
{
    return lm_cos(x);
}

double lm_host_tan(double x)
{
    return lm_sin(x) / lm_cos(x);
}

double lm_host_exp(double x)
{
    return lm_exp(x);
}

double lm_host_log(double x)
{
    return lm_log(x);
}

double lm_host_atan(double x)
{
    return x == x ? lm_with_sign(lm_atan_positive(lm_abs(x)), x) : x;
}

double lm_host_atan2(double y, double x)
{
    return lm_atan2(y, x);
}

double lm_host_asin(double x)
{
    return lm_host_atan2(x, lm_sqrt((1.0 - x) * (1.0 + x)));
}

double lm_host_acos(double x)
{
    return lm_host_atan2(lm_sqrt((1.0 - x) * (1.0 + x)), x);
}

/* sinh by its series for |x| <= 1, where e^x - e^-x would cancel. */
static double sinh_small(double x)
{
    double z = x * x, sum = 1.0;
    for (int k = 19; k > 3; k -= 2)
        sum = 1.0 + z / (k * (k - 1.0)) * sum;
    return x + x * (z / 6.0 * sum);
}

double lm_host_sinh(double x)
{
    double a = lm_abs(x);
    if (a <= 1.0)
        return sinh_small(x);
    double half = lm_exp(a < 709.0 ? a : 0.5 * a);
    return lm_with_sign(a < 709.0 ? 0.5 * half - 0.5 / half : 0.5 * half * half, x);
}

double lm_host_cosh(double x)
{
    double a = lm_abs(x);
    double half = lm_exp(a < 709.0 ? a : 0.5 * a);
    return a < 709.0 ? 0.5 * half + 0.5 / half : 0.5 * half * half;
}

double lm_host_tanh(double x)
{
    double a = lm_abs(x);
    if (a <= 1.0)
        return sinh_small(x) / lm_host_cosh(x);
    return lm_with_sign(1.0 - 2.0 / (lm_exp(2.0 * a) + 1.0), x);
}

/* log(1 + x); the quotient takes back the rounding of 1 + x (W. Kahan). */
static double log_1p(double x)
{
    double u = 1.0 + x;
    if (u == 1.0 || u == lm_infinity())
        return x;
    return lm_log(u) * (x / (u - 1.0));
}

double lm_host_asinh(double x)
{
    double a = lm_abs(x), r;
    if (a > 1e9)
        r = lm_log(a) + (LM_LN2_HI + LM_LN2_LO);
    else if (a > 2.0)
        r = lm_log(2.0 * a + 1.0 / (lm_sqrt(a * a + 1.0) + a));
    else
        r = log_1p(a + a * a / (1.0 + lm_sqrt(1.0 + a * a)));
    return lm_with_sign(r, x);
}

double lm_host_acosh(double x)
{
    double t = x - 1.0;
    if (x > 1e9)
        return lm_log(x) + (LM_LN2_HI + LM_LN2_LO);
    if (x > 2.0)
        return lm_log(2.0 * x - 1.0 / (x + lm_sqrt(x * x - 1.0)));
    return log_1p(t + lm_sqrt(2.0 * t + t * t));
}

double lm_host_atanh(double x)
{
    double a = lm_abs(x), r;
    if (a < 0.5)
        r = 0.5 * log_1p(2.0 * a + 2.0 * a * a / (1.0 - a));
    else
        r = 0.5 * log_1p(2.0 * a / (1.0 - a));
    return lm_with_sign(r, x);
}

/* x = 2^k m with sqrt(1/2) < m <= sqrt(2), for 0 < x < infinity. */
static double split(double x, int *k)
{
    double m = __builtin_frexp(x, k);
    if (m < 0.70710678118654752440) {
        m *= 2.0;
        *k -= 1;
    }
    return m;
}

static int is_positive_finite(double x)
{
    return x > 0.0 && x < lm_infinity();
}

double lm_host_log2(double x)
{
    if (!is_positive_finite(x))
        return lm_log(x);
    int k;
    double m = split(x, &k);
    return (double)k + lm_log(m) * 1.44269504088896338700;
}

/* FDLIBM e_log10.c: the integer power of two apart, so that log10(10^n) = n. */
double lm_host_log10(double x)
{
    if (!is_positive_finite(x))
        return lm_log(x);
    int k;
    double m = __builtin_frexp(x, &k) * 2.0; /* in [1, 2) */
    k -= 1;
    if (k < 0) {
        k += 1;
        m *= 0.5;
    }
    double z = k * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * lm_log(m);
    return z + k * 3.01029995663611771306e-01;
}

/* log(x) as a sum hi + lo with some 60 bits, for 0 < x < infinity. */
static double log_long(double x, double *lo)
{
    int k;
    double f = split(x, &k) - 1.0;
    double d = 2.0 + f, d_lo = (2.0 - d) + f;
    double s = f / d;
    double s_lo = (lm_fma(-s, d, f) - s * d_lo) / d;
    double z = s * s, sum = 1.0 / 23.0;
    for (int n = 21; n >= 3; n -= 2)
        sum = lm_fma(z, sum, 1.0 / n);
    double a = k * LM_LN2_HI, b = 2.0 * s; /* log(x) = k log(2) + 2 atanh(s) */
    double sum_hi = a + b, part = sum_hi - a;
    double sum_lo = (a - (sum_hi - part)) + (b - part);
    sum_lo += 2.0 * s_lo + 2.0 * s * z * sum + k * LM_LN2_LO;
    double hi = sum_hi + sum_lo;
    *lo = sum_lo - (hi - sum_hi);
    return hi;
}

static double pow_positive(double a, double b)
{
    if (!is_positive_finite(a)) {
        if (a != a)
            return a;
        return (a > 0.0) == (b > 0.0) ? lm_infinity() : 0.0;
    }
    double lo, hi = log_long(a, &lo);
    double e = b * hi;
    double value = lm_exp(e);
    if (!is_positive_finite(value))
        return value;
    return value + value * (lm_fma(b, hi, -e) + b * lo);
}

/* a^n as a product; *exact: none of the products was rounded. */
static double pow_product(double a, int n, int *exact)
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

double lm_host_pow(double a, double b)
{
    if (b == 0.0 || a == 1.0)
        return 1.0;
    if (b != b)
        return b;
    int integer = __builtin_floor(b) == b;
    int odd = integer && lm_abs(b) < 9007199254740992.0 && __builtin_fmod(b, 2.0) != 0.0;
    if (a < 0.0 && !integer)
        return lm_nan();
    if (integer && lm_abs(b) <= 64.0) {
        int exact;
        double product = pow_product(a, (int)lm_abs(b), &exact);
        if (exact)
            return b > 0.0 ? product : 1.0 / product;
    }
    double value = pow_positive(lm_abs(a), b);
    return odd && lm_with_sign(1.0, a) < 0.0 ? -value : value;
}
