/* Electrons that bodies absorb, and the entropy s that goes with them.
 *
 * No field flows through the faces of bodies (advect.h). But a body that absorbs ions also takes the electrons that
 * come with them, and a body that is no insulator takes those that carry its current. Without this their entropy would
 * stay in the cell at the surface, and its pressure would grow there as long as ions or currents flow into the body.
 *
 * A cell at a surface obeys V ds/dt = -L u s, with its open volume V, the length L of the surface in it, and the
 * velocity u of the electrons along the normal, into the body. Their velocity is J_i/n - J/n at the centre of the cell,
 * of which a body may take one part only. J_i and J are divided by the densities that divide them in the flow (flow.h).
 * What a body gives to the plasma has no entropy: u < 0 counts as 0.
 */
#ifndef LARMOR_PHYSICS_FLUID_ABSORPTION_H
#define LARMOR_PHYSICS_FLUID_ABSORPTION_H

#include "larmor/physics/fluid/flow.h"

enum { LM_TAKES_IONS = 1, LM_TAKES_CURRENT = 2 };

/* A cell at the surface of a body: its element in arrays of the grid; the normal of the surface times its length, into
 * the body and in lengths of faces; its open volume (opening.h); and what the body takes. */
struct lm_surface_cell {
    uint32_t k;
    float x, y, volume;
    uint32_t takes;
};

/* L u / V of a cell, >= 0, in units of Omega_ci. */
LM_HD double lm_absorption_rate(const struct lm_flow_moments *m, const struct lm_surface_cell *c,
                                const struct lm_ohm *o)
{
    const long k = (long)c->k, left = k - 1, below = k - m->b.s;
    double x = 0.0, y = 0.0;
    if (c->takes & LM_TAKES_IONS) {
        const double per_n = 1.0 / lm_max(lm_middle_density(m, k), lm_least_push_density(o));
        x = m->current[0][k] * per_n;
        y = m->current[1][k] * per_n;
    }
    if (c->takes & LM_TAKES_CURRENT) {
        const double per_n = 1.0 / lm_density_for_b(m, k, o);
        const struct lm_vector j =
            lm_plasma_current(lm_view_at(m->b, k), lm_external_at(m->external, k), o->inv_dx, o->inv_dy);
        const double low_x =
            lm_plasma_current(lm_view_at(m->b, left), lm_external_at(m->external, left), o->inv_dx, o->inv_dy).x;
        const double low_y =
            lm_plasma_current(lm_view_at(m->b, below), lm_external_at(m->external, below), o->inv_dx, o->inv_dy).y;
        x = x - 0.5 * (low_x + j.x) * per_n;
        y = y - 0.5 * (low_y + j.y) * per_n;
    }
    const double flow = x * (double)c->x * o->inv_dx + y * (double)c->y * o->inv_dy;
    return lm_max(flow, 0.0) / (double)c->volume;
}

/* The entropy of the cell after a time dt at this rate, to second order in dt and never negative. Its content is in
 * whole quanta of 2^-quantum, rounded down. Adds the quanta of the change to *source. */
LM_HD double lm_absorb_entropy(double s, double rate, double volume, double dt, int quantum, struct lm_wide *source)
{
    const double x = rate * dt, unit = lm_exp2i(-quantum);
    const double before = (volume == 1.0 ? s : lm_content(s, volume, unit)) * lm_exp2i(quantum);
    const double after = lm_trunc(before / (1.0 + x * (1.0 + 0.5 * x)));
    lm_wide_add_sound(source, after - before);
    return volume == 1.0 ? after * unit : after * unit / volume;
}

#endif
