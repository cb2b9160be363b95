/* Newborn ions within the domain: from a given production rate, or from the ionisation of a gas.
 *
 * The number of newborn ions in a cell in a step is the expected number, rounded up with the probability of its
 * fraction. Their positions are uniform in the plasma of the cell, and their velocities are those of a drifting
 * Maxwellian. The times of birth are spread evenly over the step, and each ion moves for the rest of the step. The
 * velocity at birth is used as that in the middle of the step. The times of birth are symmetric about the middle, so
 * means over many ions are of second order in dt.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_IONISE_H
#define LARMOR_PHYSICS_PARTICLES_IONISE_H

#include "larmor/physics/fluid/opening.h"
#include "larmor/physics/particles/flight.h"

/* One source of ions in one step. Arrays of the grid, from their first element. */
struct lm_ionise {
    const double *expected; /* particles in a cell; of a gas: for each unit of its density */
    const double *thermal, *drift[3];
    double *gas;                   /* its density; NULL: the ions take nothing from a gas */
    const struct lm_opening *open; /* of the cells of the gas; NULL: no body cuts a cell */
    double unit, quanta;           /* of the gas: its quantum, and how many of them a particle takes */
    uint64_t key;                  /* of the step's random numbers */
    int source;
};

/* Quanta of 2^-quantum that a particle of a weight takes from the gas. They are rounded down, so that a gas with the
 * mass of n particles makes n of them. */
LM_HD double lm_ionise_quanta(double weight, int quantum)
{
    return lm_trunc(weight * lm_exp2i(quantum));
}

/* How many ions are born in cell number `cell` of the domain, at index k of the arrays: at most as many as its gas can
 * make. */
LM_HD uint32_t lm_ionise_count(const struct lm_ionise *s, size_t k, uint32_t cell)
{
    const double there = s->gas ? lm_max(s->gas[k], 0.0) : 1.0, expected = s->expected[k] * there;
    if (!(expected > 0.0))
        return 0;
    const double whole = (double)(int64_t)expected;
    const double u = lm_uniform(lm_random_at(s->key, s->source, LM_STREAM_BIRTH, cell, 0).a);
    const uint32_t n = (uint32_t)whole + (u < expected - whole ? 1u : 0u);
    if (!s->gas || s->quanta == 0.0)
        return n;
    const double volume = lm_volume_at(s->open, (long)k);
    const double content = volume == 1.0 ? there : lm_content(there, volume, s->unit);
    const double most = lm_trunc(content / (s->unit * s->quanta)); /* exact: both are whole and below 2^53 */
    return (double)n < most ? n : (uint32_t)most;
}

/* Takes the quanta of n ions from the content of the gas in their cell; returns their number. */
LM_HD double lm_ionise_take(const struct lm_ionise *s, size_t k, uint32_t n)
{
    const double taken = (double)n * s->quanta, volume = lm_volume_at(s->open, (long)k);
    if (volume == 1.0)
        s->gas[k] = lm_fma(-taken, s->unit, s->gas[k]);
    else
        s->gas[k] = lm_fma(-taken, s->unit, lm_content(s->gas[k], volume, s->unit)) / volume;
    return taken;
}

/* Draws number r of the n ions that are born in a step in cell (i, j) of the arrays, number `cell` of the domain:
 * position and velocity. `cut`: that of the cell, or NULL. Returns the part of the step that is left. */
LM_HD double lm_draw_newborn(struct lm_flight *f, const struct lm_ionise *s, const struct lm_body_cut *cut, size_t k,
                             int i, int j, uint32_t cell, uint32_t r, uint32_t n)
{
    const struct lm_random place = lm_random_at(s->key, s->source, LM_STREAM_BIRTH_PLACE, cell, r);
    const struct lm_random v = lm_random_at(s->key, s->source, LM_STREAM_BIRTH_VELOCITY, cell, r);
    const struct lm_random z = lm_random_at(s->key, s->source, LM_STREAM_BIRTH_TIME, cell, r);
    const double thermal = s->thermal[k];
    f->i = i;
    f->j = j;
    lm_fix at[2] = {(lm_fix)(place.a >> (64 - LM_FRACTION_BITS)), (lm_fix)(place.b >> (64 - LM_FRACTION_BITS))};
    if (cut)
        lm_cut_place(cut, s->key, s->source, cell, r, at);
    f->x = at[0];
    f->y = at[1];
    f->vx = (lm_real)(s->drift[0][k] + thermal * lm_normal(lm_uniform(v.a)));
    f->vy = (lm_real)(s->drift[1][k] + thermal * lm_normal(lm_uniform(v.b)));
    f->vz = (lm_real)(s->drift[2][k] + thermal * lm_normal(lm_uniform(z.a)));
    return 1.0 - ((double)r + lm_uniform(z.b)) / (double)n;
}

#endif
