/* Random numbers that follow from what they are for, never from a thread: Philox4x32-10 (Salmon, Moraes, Dror and Shaw
 * 2011, SC'11) of the library Random123. The key is the seed of the run. The counter is made of the cell, a number in
 * the cell, the species and the stream. */
#ifndef LARMOR_PHYSICS_NUMERICS_RNG_H
#define LARMOR_PHYSICS_NUMERICS_RNG_H

#include "larmor/physics/numerics/elementary.h"
#include "larmor/physics/numerics/random_keys.h"

#include <Random123/philox.h>

/* What random numbers are for. Each purpose has a stream of its own. */
enum lm_stream {
    LM_STREAM_COUNT,
    LM_STREAM_POSITION,
    LM_STREAM_VELOCITY,
    LM_STREAM_VELOCITY_Z,
    LM_STREAM_WALL,
    LM_STREAM_WALL_ALONG,
    LM_STREAM_ENTRY,
    LM_STREAM_FLUX,
    LM_STREAM_FLUX_ACCEPT,
    LM_STREAM_FLUX_ALONG,
    LM_STREAM_SCATTER,
    LM_STREAM_EXCHANGE,
    LM_STREAM_ATOM,
    LM_STREAM_BIRTH,
    LM_STREAM_BIRTH_PLACE,
    LM_STREAM_BIRTH_VELOCITY,
    LM_STREAM_BIRTH_TIME,
    LM_STREAM_HEAT,
    LM_STREAM_HEAT_Z,
    LM_STREAM_GAIN,
    LM_STREAM_SCRAMBLE,
    LM_STREAM_CUT
};

struct lm_random {
    uint64_t a, b;
};

LM_HD struct lm_random lm_random_at(uint64_t seed, int species, enum lm_stream stream, uint32_t cell, uint32_t number)
{
    philox4x32_ctr_t counter = {{cell, number, (uint32_t)species, (uint32_t)stream}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t r = philox4x32(counter, key);
    struct lm_random out;
    out.a = (uint64_t)r.v[0] | (uint64_t)r.v[1] << 32;
    out.b = (uint64_t)r.v[2] | (uint64_t)r.v[3] << 32;
    return out;
}

/* The keys of the rounds of Philox2x32-7 (larmor/physics/numerics/random_keys.h). */
LM_HD void lm_philox2x32_keys(uint32_t key, uint32_t keys[LM_PHILOX_ROUNDS])
{
    for (int round = 0; round < LM_PHILOX_ROUNDS; round++)
        keys[round] = key + (uint32_t)round * 0x9e3779b9u;
}

LM_HD void lm_philox2x32(const uint32_t keys[LM_PHILOX_ROUNDS], uint32_t r[2])
{
    LM_UNROLL
    for (int round = 0; round < LM_PHILOX_ROUNDS; round++) {
        const uint32_t high = lm_mulhi32(0xd256d193u, r[0]), low = 0xd256d193u * r[0];
        r[0] = high ^ keys[round] ^ r[1];
        r[1] = low;
    }
}

/* The keys of a stream of pairs of random numbers. lm_random_pair draws the pair of 32-bit numbers that belongs to the
 * `identity` of a particle. */
LM_HD void lm_random_keys(uint64_t seed, int species, enum lm_stream stream, uint32_t keys[LM_PHILOX_ROUNDS])
{
    lm_philox2x32_keys((uint32_t)(seed ^ seed >> 32) + 0x9e3779b9u * (uint32_t)(species << 8 | (int)stream), keys);
}

LM_HD void lm_random_pair(const uint32_t keys[LM_PHILOX_ROUNDS], uint64_t identity, uint32_t out[2])
{
    out[0] = (uint32_t)identity;
    out[1] = (uint32_t)(identity >> 32);
    lm_philox2x32(keys, out);
}

/* A uniform number in the open interval (0, 1). */
LM_HD double lm_uniform(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * (1.0 / 4503599627370496.0);
}

/* The inverse of the normal distribution function (Wichura 1988, Applied Statistics 37, 477: algorithm AS 241, PPND16).
 */
LM_HD double lm_normal(double p)
{
    double q = p - 0.5;
    if (lm_abs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        double a = lm_fma(r, 2509.0809287301226727, 33430.575583588128105);
        a = lm_fma(r, a, 67265.770927008700853);
        a = lm_fma(r, a, 45921.953931549871457);
        a = lm_fma(r, a, 13731.693765509461125);
        a = lm_fma(r, a, 1971.5909503065514427);
        a = lm_fma(r, a, 133.14166789178437745);
        a = lm_fma(r, a, 3.387132872796366608);
        double b = lm_fma(r, 5226.495278852545925, 28729.085735721942674);
        b = lm_fma(r, b, 39307.89580009271061);
        b = lm_fma(r, b, 21213.794301586595867);
        b = lm_fma(r, b, 5394.1960214247511077);
        b = lm_fma(r, b, 687.1870074920579083);
        b = lm_fma(r, b, 42.313330701600911252);
        b = lm_fma(r, b, 1.0);
        return q * a / b;
    }
    double r = lm_sqrt(-lm_log(q < 0.0 ? p : 1.0 - p)), a, b;
    if (r <= 5.0) {
        r -= 1.6;
        a = lm_fma(r, 7.7454501427834140764e-4, 0.0227238449892691845833);
        a = lm_fma(r, a, 0.24178072517745061177);
        a = lm_fma(r, a, 1.27045825245236838258);
        a = lm_fma(r, a, 3.64784832476320460504);
        a = lm_fma(r, a, 5.7694972214606914055);
        a = lm_fma(r, a, 4.6303378461565452959);
        a = lm_fma(r, a, 1.42343711074968357734);
        b = lm_fma(r, 1.05075007164441684324e-9, 5.475938084995344946e-4);
        b = lm_fma(r, b, 0.0151986665636164571966);
        b = lm_fma(r, b, 0.14810397642748007459);
        b = lm_fma(r, b, 0.68976733498510000455);
        b = lm_fma(r, b, 1.6763848301838038494);
        b = lm_fma(r, b, 2.05319162663775882187);
        b = lm_fma(r, b, 1.0);
    } else {
        r -= 5.0;
        a = lm_fma(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5);
        a = lm_fma(r, a, 0.0012426609473880784386);
        a = lm_fma(r, a, 0.026532189526576123093);
        a = lm_fma(r, a, 0.29656057182850489123);
        a = lm_fma(r, a, 1.7848265399172913358);
        a = lm_fma(r, a, 5.4637849111641143699);
        a = lm_fma(r, a, 6.6579046435011037772);
        b = lm_fma(r, 2.04426310338993978564e-15, 1.4215117583164458887e-7);
        b = lm_fma(r, b, 1.8463183175100546818e-5);
        b = lm_fma(r, b, 7.868691311456132591e-4);
        b = lm_fma(r, b, 0.0148753612908506148525);
        b = lm_fma(r, b, 0.13692988092273580531);
        b = lm_fma(r, b, 0.59983220655588793769);
        b = lm_fma(r, b, 1.0);
    }
    return q < 0.0 ? -(a / b) : a / b;
}

#endif
