/* Electrons that bodies absorb with the ions, and the entropy s that goes with them.
 *
 * No field flows through the faces of bodies (advect.h). But a body that absorbs ions also takes the electrons that
 * come with them, for the plasma stays neutral. Without this their entropy would stay in the cell at the surface, and
 * its pressure would grow there as long as ions flow into the body.
 *
 * A cell at a surface obeys V ds/dt = -s sum of L max(u, 0) over the surfaces in it, with its open volume V, the length
 * L of a surface, and the velocity u = J_i / n of the ions at the centre of the cell along the normal, into the body.
 * Where the density is below LM_VOID_SHARE of the floor, hardly any ions are left to hold electrons. These have no
 * mass, so that the body takes all of them at once. Otherwise the few ions that a wake draws to its body would bring
 * entropy into these cells and take none of it along.
 */
#ifndef LARMOR_PHYSICS_FLUID_ABSORPTION_H
#define LARMOR_PHYSICS_FLUID_ABSORPTION_H

#include "larmor/physics/fluid/flow.h"

/* Surfaces of a cell are put together unless they turn away from each other by 90 degrees or more. No more than four do
 * so from each other. */
enum { LM_MOST_FACINGS = 4 };

/* A cell at the surface of a body that absorbs ions. */
struct lm_surface_cell {
    uint32_t k;                       /* its element in arrays of the grid */
    float volume;                     /* what is open of it (opening.h) */
    int32_t surfaces;                 /* 1 to LM_MOST_FACINGS */
    float normal[LM_MOST_FACINGS][2]; /* the normal of a surface times its length, into the body, in lengths of faces */
};

/* A rate that leaves nothing. */
#define LM_ABSORBED_AT_ONCE 1e100

/* The sum of L u / V of a cell, >= 0, in units of Omega_ci. */
LM_HD double lm_absorption_rate(const struct lm_flow_moments *m, const struct lm_surface_cell *c,
                                const struct lm_ohm *o)
{
    const long k = (long)c->k;
    const double n = lm_middle_density(m, k), per_n = 1.0 / lm_max(n, lm_least_push_density(o));
    const double x = m->current[0][k] * per_n * o->inv_dx, y = m->current[1][k] * per_n * o->inv_dy;
    double flow = 0.0;
    if (n < LM_VOID_SHARE * o->floor)
        return LM_ABSORBED_AT_ONCE;
    for (int of = 0; of < c->surfaces; of++)
        flow = flow + lm_max(x * (double)c->normal[of][0] + y * (double)c->normal[of][1], 0.0);
    return flow / (double)c->volume;
}

/* s exp(-rate dt) to second order in dt, never negative. Its content is in whole quanta of 2^-quantum, rounded down.
 * Adds the quanta of the change to *source. */
LM_HD double lm_absorb_entropy(double s, double rate, double volume, double dt, int quantum, struct lm_wide *source)
{
    const double x = rate * dt, unit = lm_exp2i(-quantum);
    const double before = (volume == 1.0 ? s : lm_content(s, volume, unit)) * lm_exp2i(quantum);
    const double after = lm_trunc(before / (1.0 + x * (1.0 + 0.5 * x)));
    lm_wide_add_sound(source, after - before);
    return volume == 1.0 ? after * unit : after * unit / volume;
}

#endif
