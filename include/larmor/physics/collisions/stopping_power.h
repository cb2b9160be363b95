/* Tables of the stopping power of a medium, and of how it scatters, by the energy of the ion. Files with such tables:
 * larmor/stopping.h. */
#ifndef LARMOR_PHYSICS_COLLISIONS_STOPPING_POWER_H
#define LARMOR_PHYSICS_COLLISIONS_STOPPING_POWER_H

#include "larmor/physics/numerics/portable.h"

/* A row of a table of stopping, with what changes from it to the next one a unit of energy: 0 in the first row, which
 * lies below all energies, and in the last one. Aligned, to be loaded in two pieces. */
struct lm_stopping_values {
    float stopping;           /* m_p v_A^2 / (n0 d_i) */
    float slope;              /* 1 / (n0 d_i) */
    float power, power_slope; /* d<theta^2>/ds a unit of density, rad^2 / (n0 d_i) */
    float energy;             /* m_p v_A^2 */
} __attribute__((aligned(16)));

/* Which rows hold the energies of a bucket: number `low`, `more` after it, and if there is one more only, the energy
 * from which on that is the one; if none, not a number, which no energy reaches. */
struct lm_stopping_bucket {
    uint16_t low, more;
    float border;
} __attribute__((aligned(8)));

/* Such a table; a guide says between which rows to look. The bits of a float > 0 grow with it, about as its logarithm:
 * each bucket of the guide holds the energies of 2^shift successive floats. */
struct lm_stopping {
    int rows;           /* up to LM_MOST_ROWS; 0: no table */
    int shift, buckets; /* up to LM_MOST_BUCKETS */
    int32_t least;      /* bits with which the first bucket begins; it holds all below, the last one all above */
    const struct lm_stopping_values *row;
    const struct lm_stopping_bucket *guide;
};
enum { LM_MOST_ROWS = 4097, LM_MOST_BUCKETS = 1024 };

/* Rows and guide are one piece of memory, so many bytes from `row` on; the same table elsewhere. */
LM_HD size_t lm_stopping_bytes(const struct lm_stopping *t)
{
    return (size_t)t->rows * sizeof *t->row + (size_t)t->buckets * sizeof *t->guide;
}

LM_HD struct lm_stopping lm_stopping_at_place(struct lm_stopping t, void *memory)
{
    t.row = (const struct lm_stopping_values *)memory;
    t.guide = memory ? (const struct lm_stopping_bucket *)(t.row + t.rows) : NULL;
    return t;
}

/* The last row from `low` to `high` whose energy is not above `energy`, or `low`. */
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

/* The same among all rows. */
LM_HD int lm_stopping_row(const struct lm_stopping *t, float energy)
{
    int32_t bits = (int32_t)lm_bitsf(energy);
    bits = bits < t->least ? t->least : bits;
    const int bucket = (bits - t->least) >> t->shift;
    const struct lm_stopping_bucket b = t->guide[bucket < t->buckets ? bucket : t->buckets - 1];
    return b.more > 1 ? lm_stopping_row_between(t, b.low, b.low + b.more, energy) : b.low + (energy >= b.border);
}

/* The table at an energy. */
struct lm_stopped {
    float stopping, slope, power, power_slope;
};

/* Linear between rows, constant beyond the first and the last. */
LM_HD struct lm_stopped lm_stopping_at(const struct lm_stopping *t, float energy)
{
    const struct lm_stopping_values row = t->row[lm_stopping_row(t, energy)];
    const float past = energy - row.energy;
    struct lm_stopped s;
    s.slope = row.slope;
    s.power_slope = row.power_slope;
    s.stopping = lm_fmaf(past, s.slope, row.stopping);
    s.power = lm_fmaf(past, s.power_slope, row.power);
    return s;
}

#endif
