/* What lets one function body compile as C and as CUDA, and give the same bits in both.
 *
 * Rules for everything under physics/: IEEE operations in a written order; a fused multiply-add only where one is
 * written (-ffp-contract=off, -fmad=false); no library functions but those wrapped here, which are exact or correctly
 * rounded.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_PORTABLE_H
#define LARMOR_PHYSICS_NUMERICS_PORTABLE_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define LM_HD static __host__ __device__ __forceinline__
#ifdef __CUDA_ARCH__
#define LM_UNROLL _Pragma("unroll")
#else
#define LM_UNROLL
#endif
#else
#include <math.h>
#define LM_HD static inline __attribute__((always_inline, unused))
#define LM_UNROLL _Pragma("GCC unroll 10")
#endif

LM_HD double lm_fma(double a, double b, double c)
{
#ifdef __CUDA_ARCH__
    return __fma_rn(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

LM_HD float lm_fmaf(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

/* The upper half of a product. */
LM_HD uint32_t lm_mulhi32(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    return __umulhi(a, b);
#else
    return (uint32_t)((uint64_t)a * b >> 32);
#endif
}

LM_HD double lm_sqrt(double x)
{
#ifdef __CUDA_ARCH__
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
}

LM_HD float lm_sqrtf(float x)
{
#ifdef __CUDA_ARCH__
    return __fsqrt_rn(x);
#else
    return __builtin_sqrtf(x);
#endif
}

/* Nearest integer, ties to even; |x| < 2^31 here, 2^63 in lm_round64. (Compilers make vector instructions of rintf and
 * a conversion, not of lrintf.) */
LM_HD int32_t lm_round32(float x)
{
#ifdef __CUDA_ARCH__
    return __float2int_rn(x);
#else
    return (int32_t)__builtin_rintf(x);
#endif
}

/* Towards zero; |x| < 2^31 in lm_trunc32. */
LM_HD double lm_trunc(double x)
{
#ifdef __CUDA_ARCH__
    return trunc(x);
#else
    return __builtin_trunc(x);
#endif
}

/* Downwards. */
LM_HD double lm_floor(double x)
{
#ifdef __CUDA_ARCH__
    return floor(x);
#else
    return __builtin_floor(x);
#endif
}

/* Nearest whole number, ties to even. */
LM_HD double lm_rint(double x)
{
#ifdef __CUDA_ARCH__
    return rint(x);
#else
    return __builtin_rint(x);
#endif
}

LM_HD int32_t lm_trunc32(float x)
{
#ifdef __CUDA_ARCH__
    return __float2int_rz(x);
#else
    return (int32_t)x;
#endif
}

/* |size| with the sign of x. */
LM_HD float lm_sign(float size, float x)
{
#ifdef __CUDA_ARCH__
    return copysignf(size, x);
#else
    return __builtin_copysignf(size, x);
#endif
}

LM_HD float lm_sizef(float x)
{
    return lm_sign(x, 1.0f);
}

LM_HD uint32_t lm_bitsf(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

LM_HD float lm_from_bitsf(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* x > 0, or -x where the first of the bits is 1. */
LM_HD float lm_sign_bit(float x, uint32_t bits)
{
    return lm_from_bitsf(lm_bitsf(x) | (bits & 0x80000000u));
}

LM_HD int64_t lm_round64(double x)
{
#ifdef __CUDA_ARCH__
    return __double2ll_rn(x);
#else
    return (int64_t)__builtin_lrint(x);
#endif
}

LM_HD uint64_t lm_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

#define LM_SHIFT51 0x4338000000000000ull /* bits of 0x1.8p52 */

/* As lm_round64 for |x| <= 2^51: the last bits of the sum of x and 3 2^51 are the integer. Unlike a conversion to int64
 * this is fast, and a vector instruction, on every processor. */
LM_HD int64_t lm_round51(double x)
{
    return (int64_t)(lm_bits(x + 0x1.8p52) - LM_SHIFT51);
}

/* The integer nearest to x unit, + LM_SHIFT51; |x unit| <= 2^51. A sum of such numbers can subtract the shifts at its
 * end. */
LM_HD uint64_t lm_shifted51_of(double x, double unit)
{
    return lm_bits(lm_fma(x, unit, 0x1.8p52));
}

LM_HD int64_t lm_round51_of(double x, double unit)
{
    return (int64_t)(lm_shifted51_of(x, unit) - LM_SHIFT51);
}

LM_HD double lm_from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

LM_HD double lm_abs(double x)
{
    return lm_from_bits(lm_bits(x) & 0x7fffffffffffffffull);
}

/* |size| with the sign of x. */
LM_HD double lm_with_sign(double size, double x)
{
    return lm_from_bits((lm_bits(size) & 0x7fffffffffffffffull) | (lm_bits(x) & 0x8000000000000000ull));
}

/* The bits of |x|: as integers they are ordered like the numbers, with NaN above all others. All maxima are taken of
 * them. */
LM_HD uint64_t lm_size_bits(double x)
{
    return lm_bits(x) & 0x7fffffffffffffffull;
}

/* 1/x, correctly rounded, for x > 0 far from underflow and overflow: Newton's method, whose last step has the exact
 * remainder (Markstein 1990, IBM J. Res. Dev. 34, 111). Only where the mantissa of x is all ones this ends halfway, one
 * step too low. The GPU's own division ends in a branch. */
LM_HD double lm_reciprocal(double x)
{
#ifdef __CUDA_ARCH__
    double r, e;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    e = __fma_rn(-x, r, 1.0);
    e = __fma_rn(e, e, e);
    r = __fma_rn(r, e, r);
    r = __fma_rn(r, __fma_rn(-x, r, 1.0), r);
    const bool all_ones = ((uint32_t)__double2loint(x) & ((uint32_t)__double2hiint(x) | 0xfff00000u)) == 0xffffffffu;
    return all_ones ? lm_from_bits(lm_bits(r) + 1) : r;
#else
    return 1.0 / x;
#endif
}

LM_HD float lm_reciprocalf(float x)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return __fmaf_rn(r, __fmaf_rn(-x, r, 1.0f), r);
#else
    return 1.0f / x;
#endif
}

/* Square root, correctly rounded, for 1e-30 <= x <= 1e30: the GPU's own ends in a branch. */
LM_HD float lm_rootf(float x)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    const float root = x * r;
    return __fmaf_rn(__fmaf_rn(-root, root, x), 0.5f * r, root);
#else
    return __builtin_sqrtf(x);
#endif
}

/* 1/x, correctly rounded, for every x > 0. */
LM_HD double lm_inverse(double x)
{
#ifdef __CUDA_ARCH__
    /* Between 2^-332 and 2^332, from the upper half of x: a GPU is faster with integers than with doubles. */
    if ((uint32_t)__double2hiint(x) - (691u << 20) < 664u << 20)
        return lm_reciprocal(x);
#endif
    return 1.0 / x;
}

LM_HD double lm_max(double a, double b)
{
    return a > b ? a : b;
}

LM_HD double lm_min(double a, double b)
{
    return a < b ? a : b;
}

/* 2^e for -1022 <= e <= 1023, exact. */
LM_HD double lm_exp2i(int e)
{
    return lm_from_bits((uint64_t)(e + 1023) << 52);
}

#endif
