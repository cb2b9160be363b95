/* Electrons that bodies absorb with the ions, those that the current carries through the surfaces of bodies and walls,
 * and the entropy s that goes with them.
 *
 * No field flows through the faces of bodies and walls (advect.h). But a body that absorbs ions also takes the
 * electrons that come with them, for the plasma stays neutral. Without this their entropy would stay in the cell at the
 * surface, and its pressure would grow there as long as ions flow into the body.
 *
 * A current along a surface flows partly in cells of the body, also beside an insulator, as the corners of cells do not
 * lie on its surface. What flows in the cells of the plasma alone has a divergence D. It would pile up entropy in some
 * cells and empty others, without an end. So the surface takes and gives electrons as D says. Those that it takes have
 * the entropy per electron s/n of the cell, and those that it gives have the mean one of the cells beside it. (With
 * that of the cell itself the noise of the current would make s/n grow without an end.)
 *
 * A cell at a surface obeys V ds/dt = -s (max(D, 0)/N + sum of L max(u, 0)) + <s/n> n max(-D, 0)/N, with its open
 * volume V, the lengths L of the surfaces in it, and the velocity u = J_i / n of the ions at the centre of the cell
 * along the normal of a surface, into the body. N is n, or more in thin plasma (lm_density_for_battery). Where the
 * density is below LM_VOID_SHARE of the floor, hardly any ions are left to hold electrons. These have no mass, so that
 * a body that absorbs ions takes all of them at once. Otherwise the few ions that a wake draws to its body would bring
 * entropy into these cells and take none of it along.
 */
#ifndef LARMOR_PHYSICS_FLUID_ABSORPTION_H
#define LARMOR_PHYSICS_FLUID_ABSORPTION_H

#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/fluid/flow.h"

/* Surfaces of a cell are put together unless they turn away from each other by 90 degrees or more. No more than four do
 * so from each other. */
enum { LM_MOST_FACINGS = 4 };

/* A cell at the surface of a body or at a wall. */
struct lm_surface_cell {
    uint32_t k;                       /* its element in arrays of the grid */
    float volume;                     /* what is open of it (opening.h) */
    uint32_t beside[LM_SIDES];        /* elements of the cells of plasma beside it; 0: there is none */
    uint8_t at_side;                  /* bits 1 << side: it lies at such a side of the domain, which is not periodic */
    uint8_t closed;                   /* of these, those that are surfaces */
    uint8_t surfaces;                 /* of bodies that absorb ions, 0 to LM_MOST_FACINGS */
    float normal[LM_MOST_FACINGS][2]; /* the normal of a surface times its length, into the body, in lengths of faces */
};

/* A rate that leaves nothing. */
#define LM_ABSORBED_AT_ONCE 1e100

/* The current out of a cell through its open faces, per area of a cell. */
LM_HD double lm_current_out(const struct lm_flow_moments *m, const struct lm_surface_cell *c, const struct lm_ohm *o)
{
    double out = 0.0;
    for (int side = 0; side < LM_SIDES; side++) {
        const int axis = side / 2, high = side % 2;
        const long face = (long)c->k - (high ? 0 : axis == 0 ? 1 : m->b.s);
        const enum lm_face_place place = !(c->at_side >> side & 1) ? LM_FACE_INSIDE : high ? LM_FACE_HIGH : LM_FACE_LOW;
        if (c->closed >> side & 1)
            continue;
        const double through = lm_flow_past_bodies(m, axis, face, place, 0, o).current *
                               lm_opening_at(m->open, axis, face) * (axis == 0 ? o->inv_dx : o->inv_dy);
        out = high ? out + through : out - through;
    }
    return out;
}

/* The sum of L u / V of a cell, >= 0, in units of Omega_ci. */
LM_HD double lm_absorption_rate(const struct lm_flow_moments *m, const struct lm_surface_cell *c,
                                const struct lm_ohm *o)
{
    const long k = (long)c->k;
    const double n = lm_middle_density(m, k), per_n = 1.0 / lm_max(n, lm_least_push_density(o));
    const double x = m->current[0][k] * per_n * o->inv_dx, y = m->current[1][k] * per_n * o->inv_dy;
    double flow = 0.0;
    if (c->surfaces > 0 && n < LM_VOID_SHARE * o->floor)
        return LM_ABSORBED_AT_ONCE;
    for (int of = 0; of < c->surfaces; of++)
        flow = flow + lm_max(x * (double)c->normal[of][0] + y * (double)c->normal[of][1], 0.0);
    return flow / (double)c->volume;
}

/* <s/n>: the harmonic mean of s/n of the cells beside a cell; its own where there is none. */
LM_HD double lm_entropy_beside(const struct lm_flow_moments *m, const struct lm_surface_cell *c, const double *s,
                               const struct lm_ohm *o)
{
    const double least = lm_least_push_density(o);
    double inverse = 0.0, count = 0.0;
    for (int side = 0; side < LM_SIDES; side++) {
        const long k = (long)c->beside[side];
        if (k == 0)
            continue;
        if (!(s[k] > 0.0))
            return 0.0;
        inverse = inverse + lm_max(lm_middle_density(m, k), least) / s[k];
        count = count + 1.0;
    }
    return count > 0.0 ? count / inverse : s[c->k] / lm_max(lm_middle_density(m, (long)c->k), least);
}

/* The content of a cell, in quanta, of which the share exp(-x) stays, to third order in x >= 0. Rounded down. */
LM_HD double lm_content_left(double content, double x)
{
    return lm_trunc(content / (1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0)))));
}

/* What has passed through surfaces. */
struct lm_surface_sums {
    struct lm_wide entropy; /* quanta */
    struct lm_wide energy;  /* of electrons, for a volume of a cell, in units of 2^-LM_WIDE_REAL (wide.h) */
};

/* s[] of a cell after a time dt; of second order in dt where a flow that takes as long precedes one such change and
 * follows another. Quanta are 2^-quantum. Adds the change of the cell to the sums. */
LM_HD double lm_surface_entropy(const struct lm_flow_moments *m, const struct lm_surface_cell *c, const double *s,
                                double dt, int quantum, const struct lm_ohm *o, struct lm_surface_sums *sums)
{
    const long k = (long)c->k;
    const double volume = (double)c->volume, unit = lm_exp2i(-quantum), per_unit = lm_exp2i(quantum);
    const double before = (volume == 1.0 ? s[k] : lm_content(s[k], volume, unit)) * per_unit;
    const double absorbed = lm_absorption_rate(m, c, o);
    double x = absorbed * dt, given = 0.0;
    if (absorbed < LM_ABSORBED_AT_ONCE) {
        const double out = lm_current_out(m, c, o) / (volume * m->counted[k]) * dt;
        x = x + lm_max(out, 0.0);
        if (out < 0.0)
            given = lm_quanta_within(-out * lm_middle_density(m, k) * lm_entropy_beside(m, c, s, o), volume, per_unit);
    }
    const double after = lm_content_left(before, x) + given,
                 left = volume == 1.0 ? after * unit : after * unit / volume;
    lm_wide_add_sound(&sums->entropy, after - before);
    if (after != before)
        lm_wide_add_real(&sums->energy,
                         volume * (lm_pressure_of(left, o->gamma) - lm_pressure_of(s[k], o->gamma)) / (o->gamma - 1.0));
    return left;
}

#endif
