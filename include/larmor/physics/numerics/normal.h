/* Normal random numbers in single precision, two at a time, by the method of Box and Muller (1958, Ann. Math. Stat. 29,
 * 610). They serve random walks, which need many numbers but not their last bits. The largest possible number is 6.76
 * standard deviations.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_NORMAL_H
#define LARMOR_PHYSICS_NUMERICS_NORMAL_H

#include "larmor/physics/numerics/rng.h"

/* The natural logarithm of x > 0, which is not subnormal, with an error below 2e-7 (1 + |log x|). The polynomial is
 * that of logf in the library Cephes (Moshier 1992). */
LM_HD float lm_logf(float x)
{
    const uint32_t bits = lm_bitsf(x);
    const int32_t k = (int32_t)(bits - 0x3f3504f3u) >> 23; /* x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2) */
    const float f = lm_from_bitsf(bits - ((uint32_t)k << 23)) - 1.0f, z = f * f;
    float p = lm_fmaf(7.0376836292e-2f, f, -1.1514610310e-1f);
    p = lm_fmaf(p, f, 1.1676998740e-1f);
    p = lm_fmaf(p, f, -1.2420140846e-1f);
    p = lm_fmaf(p, f, 1.4249322787e-1f);
    p = lm_fmaf(p, f, -1.6668057665e-1f);
    p = lm_fmaf(p, f, 2.0000714765e-1f);
    p = lm_fmaf(p, f, -2.4999993993e-1f);
    p = lm_fmaf(p, f, 3.3333331174e-1f);
    return lm_fmaf((float)k, 0.693147182f, lm_fmaf(z, lm_fmaf(p, f, -0.5f), f));
}

/* The cosine and sine of a uniformly distributed angle, with an error below 2e-7. 30 bits choose an angle of up to pi/4
 * to either side of 0. One bit chooses the sign of the cosine, another one exchanges cosine and sine. The polynomials
 * are those of sinf and cosf in Cephes. */
LM_HD void lm_directionf(uint32_t bits, float *a, float *b)
{
    const float x = (float)(int32_t)(bits << 2) * 3.65729516981739892e-10f, z = x * x; /* pi/4 2^-31 */
    float s = lm_fmaf(-1.9515295891e-4f, z, 8.3321608736e-3f);
    s = lm_fmaf(lm_fmaf(s, z, -1.6666654611e-1f) * z, x, x);
    float c = lm_fmaf(2.443315711809948e-5f, z, -1.388731625493765e-3f);
    c = lm_fmaf(lm_fmaf(c, z, 4.166664568298827e-2f), z * z, lm_fmaf(-0.5f, z, 1.0f));
    c = lm_sign_bit(c, bits);
    *a = bits & 0x40000000u ? s : c;
    *b = bits & 0x40000000u ? c : s;
}

/* The square of the distance of a pair of normal numbers from the origin. */
LM_HD float lm_normal_radius2(uint32_t bits)
{
    const float u = ((float)bits + 0.5f) * 2.3283064365386963e-10f; /* 2^-32; (0, 1] */
    const float square = -2.0f * lm_logf(u);
    return square > 0.0f ? square : 0.0f;
}

/* Three normal numbers from two pairs are at most this far from the origin. One pair reaches sqrt(2 ln 2^33) = 6.764.
 */
#define LM_NORMAL_REACH 9.57

/* A pair of normal numbers from two random numbers of 32 bits. Returns the square of its distance from the origin. */
LM_HD float lm_normal_pair(uint32_t a, uint32_t b, float n[2])
{
    const float square = lm_normal_radius2(a), radius = lm_sqrtf(square);
    lm_directionf(b, &n[0], &n[1]);
    n[0] *= radius;
    n[1] *= radius;
    return square;
}

#endif
