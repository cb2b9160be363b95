/* Points that fill a cube of four dimensions more evenly than random ones: the (0, 4)-sequence in base 4 of
 * Niederreiter (1987, Monatsh. Math. 104, 273), randomised by nested scrambling (Owen 1995).
 *
 * The first 4^m points have one point in each box of volume 4^-m whose sides are powers of 4, whatever the sides. The
 * first 2^m points have one in each of 2^m equal intervals along each axis. With r/4^m, r the number of the point, as a
 * fifth coordinate the boxes have five dimensions. Each scrambled point is uniform in the cube, so means over the
 * points have no bias.
 *
 * Numbers of 32 bits stand for fractions of 2^32. The functions pass them with their bits in reverse order, because the
 * scrambling of a bit depends on the bits above it, and carries of integers go upwards.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_NET_H
#define LARMOR_PHYSICS_NUMERICS_NET_H

#include "larmor/physics/numerics/portable.h"

enum { LM_NET_AXES = 4 };

LM_HD uint32_t lm_reverse_bits(uint32_t x)
{
#ifdef __CUDA_ARCH__
    return __brev(x);
#else
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
#endif
}

/* The field of four elements is 0, 1, w and w + 1 = w^2, as pairs of bits; its sum is the exclusive or. This is w times
 * each of the 16 elements in x. */
LM_HD uint32_t lm_times_w(uint32_t x)
{
    const uint32_t high = x & 0xaaaaaaaau, low = x & 0x55555555u;
    return high >> 1 ^ high ^ low << 1;
}

/* Point number r, not scrambled, bits reversed. A coordinate is a polynomial over the field of four elements: the sum
 * over the digits of r in base 4 of digit k times (z + c)^k, where the axes have c = 0, 1, w and w^2. */
LM_HD void lm_net_point(uint32_t r, uint32_t x[LM_NET_AXES])
{
    uint32_t power[LM_NET_AXES] = {1, 1, 1, 1};
    x[0] = x[1] = x[2] = x[3] = 0;
    for (; r; r >>= 2) {
        LM_UNROLL
        for (int c = 0; c < LM_NET_AXES; c++)
            x[c] ^= (r & 1u ? power[c] : 0) ^ (r & 2u ? lm_times_w(power[c]) : 0);
        power[0] = power[0] << 2;
        power[1] = power[1] << 2 ^ power[1];
        power[2] = power[2] << 2 ^ lm_times_w(power[2]);
        power[3] = power[3] << 2 ^ lm_times_w(lm_times_w(power[3]));
    }
}

/* Scrambles a coordinate with reversed bits by a hash in which a bit changes no bit below it (Burley 2020, J. Comput.
 * Graph. Techn. 9, 4, 1; the constants are those of Vegdahl 2021, "Building a better LK hash"). */
LM_HD uint32_t lm_scramble(uint32_t x, uint32_t seed)
{
    x ^= x * 0x3d20adeau;
    x += seed;
    x *= seed >> 16 | 1u;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return x;
}

/* The coordinate as a number in the open interval (0, 1). */
LM_HD double lm_net_value(uint32_t reversed)
{
    return ((double)lm_reverse_bits(reversed) + 0.5) * (1.0 / 4294967296.0);
}

#endif
