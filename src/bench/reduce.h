/* Case `reduce`: sums in fixed point to which few of many elements contribute, such as the tallies of particles that
 * leave the domain (weight, energy, angle, count). The device and the host use the same functions. */
#ifndef LARMOR_BENCH_REDUCE_H
#define LARMOR_BENCH_REDUCE_H

#include "larmor/physics/numerics/hash.h"

enum { LM_REDUCE_CHANNELS = 4 };

/* The random number of element k; it contributes when this is below the threshold. */
LM_HD uint32_t lm_reduce_draw(uint64_t k)
{
    return (uint32_t)(lm_mix(k) >> 32);
}

/* What a contributing element adds to a channel: 24 bits with sign. */
LM_HD int64_t lm_reduce_value(uint32_t draw, int channel)
{
    return (int64_t)((draw * (0x9e3779b1u + 0x3c6ef372u * (uint32_t)channel)) >> 8) - (1 << 23);
}

/* With a rate of 1 all elements contribute, because all random numbers are below 2^32. */
static inline uint64_t lm_reduce_threshold(double rate)
{
    return (uint64_t)(rate * 4294967296.0);
}

#endif
