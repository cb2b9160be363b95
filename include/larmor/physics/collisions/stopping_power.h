/* Tables of the stopping power of a medium, and of its scattering power, as functions of the energy of the ion. Files
 * with such tables: larmor/stopping.h.
 *
 * The table is interpolated linearly. The row of an energy is found by a guide: the bits of a float > 0 increase with
 * it, about as its logarithm, and each bucket of the guide holds the energies of 2^shift successive floats. Most
 * buckets lie within one row or across one border between rows, so that no search is needed.
 */
#ifndef LARMOR_PHYSICS_COLLISIONS_STOPPING_POWER_H
#define LARMOR_PHYSICS_COLLISIONS_STOPPING_POWER_H

#include "larmor/physics/numerics/portable.h"

/* A row of the table: values at its energy, and slopes up to the next row. The slopes are 0 in the first row, which
 * lies below all energies, and in the last one. Aligned, so that two loads read it. */
struct lm_stopping_values {
    float stopping;         /* m_p v_A^2 / (n0 d_i) */
    float slope;            /* 1 / (n0 d_i) */
    float scattering_power; /* d<theta^2>/ds at density 1, rad^2 / (n0 d_i) */
    float scattering_slope; /* rad^2 / (n0 d_i m_p v_A^2) */
    float energy;           /* m_p v_A^2 */
} __attribute__((aligned(16)));

/* The rows in which the energies of a bucket lie: `low` and the `more` rows after it. */
struct lm_stopping_bucket {
    uint16_t low, more;
    float border; /* first energy of row low + 1; NaN where more is 0, because no comparison with NaN is true */
} __attribute__((aligned(8)));

struct lm_stopping {
    int rows;           /* up to LM_MOST_ROWS; 0: no table */
    int shift, buckets; /* up to LM_MOST_BUCKETS */
    int32_t least_bits; /* first bits of the first bucket, which also holds all smaller energies; the last bucket also
                           holds all larger ones */
    const struct lm_stopping_values *row;
    const struct lm_stopping_bucket *guide;
};
enum { LM_MOST_ROWS = 4097, LM_MOST_BUCKETS = 1024 };

/* Rows and guide are one piece of memory that begins at `row`: its size. */
LM_HD size_t lm_stopping_bytes(const struct lm_stopping *t)
{
    return (size_t)t->rows * sizeof *t->row + (size_t)t->buckets * sizeof *t->guide;
}

/* The same table with its rows and guide in other memory. */
LM_HD struct lm_stopping lm_stopping_in_memory(struct lm_stopping t, void *memory)
{
    t.row = (const struct lm_stopping_values *)memory;
    t.guide = memory ? (const struct lm_stopping_bucket *)(t.row + t.rows) : NULL;
    return t;
}

/* By bisection: the last row from `low` to `high` whose energy is not above `energy`; `low` if there is none. */
LM_HD int lm_stopping_row_between(const struct lm_stopping *t, int low, int high, float energy)
{
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (t->row[middle].energy <= energy)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The last row of the table whose energy is not above `energy`. NaN gets some row. */
LM_HD int lm_stopping_row(const struct lm_stopping *t, float energy)
{
    int32_t bits = (int32_t)lm_bitsf(energy);
    bits = bits < t->least_bits ? t->least_bits : bits;
    const int bucket = (bits - t->least_bits) >> t->shift;
    const struct lm_stopping_bucket b = t->guide[bucket < t->buckets ? bucket : t->buckets - 1];
    return b.more > 1 ? lm_stopping_row_between(t, b.low, b.low + b.more, energy) : b.low + (energy >= b.border);
}

/* The table at one energy; units as in struct lm_stopping_values. */
struct lm_interpolated_stopping {
    float stopping, slope, scattering_power, scattering_slope;
};

/* Linear between rows, constant below the first and above the last energy. */
LM_HD struct lm_interpolated_stopping lm_stopping_at(const struct lm_stopping *t, float energy)
{
    const struct lm_stopping_values row = t->row[lm_stopping_row(t, energy)];
    const float past = energy - row.energy;
    struct lm_interpolated_stopping s;
    s.slope = row.slope;
    s.scattering_slope = row.scattering_slope;
    s.stopping = lm_fmaf(past, s.slope, row.stopping);
    s.scattering_power = lm_fmaf(past, s.scattering_slope, row.scattering_power);
    return s;
}

#endif
