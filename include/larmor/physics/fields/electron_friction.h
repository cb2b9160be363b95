/* Friction between the electrons and the ions of single species (Braginskii 1965): each such species s has a
 * resistivity eta_s. With the charge densities q_s = Z_s n_s and currents J_s of the species, and n = sum q_s and
 * J_i = sum J_s of all ions, the electrons take from the ions of species s, per unit of volume and time, the momentum
 *
 *     f_s = eta_s n q_s (u_s - u_e) = F_s + eta_s q_s J,   F_s = eta_s (n J_s - q_s J_i).
 *
 * Ohm's law has the term E_f = sum f_s / n. All ions feel E_f, and the ions of species s also -f_s/q_s, so that
 * together they get no momentum. The electrons get the heat sum f_s (u_s - u_e). If all ions are of one species, E_f =
 * eta J.
 *
 * The part of E_f with J is a resistivity of its own, sum eta_s q_s/n, which is added to that of the plasma. The other
 * part, sum F_s/n, is added to the motional field (ohm.h). Both stand at the centres.
 */
#ifndef LARMOR_PHYSICS_FIELDS_ELECTRON_FRICTION_H
#define LARMOR_PHYSICS_FIELDS_ELECTRON_FRICTION_H

#include "larmor/physics/fields/resistivity.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/wall.h"

enum {
    LM_ION_MOMENTS = 4,      /* density, and J along x, y and z */
    LM_FRICTION_SPECIES = 16 /* species with friction: >= LM_MAX_SPECIES */
};

/* The moments count with these weights of the OLD and of the NEW level (larmor/array.h). */
struct lm_level_weights {
    double n_old, n_new, j_old, j_new;
};

LM_HD struct lm_level_weights lm_level_weights_of(double n_old, double n_new, double j_old, double j_new)
{
    struct lm_level_weights w;
    w.n_old = n_old, w.n_new = n_new, w.j_old = j_old, w.j_new = j_new;
    return w;
}

/* As enum lm_ohm_current has it: at the level OLD with the current half a step before; at NEW with an extrapolated
 * current. */
LM_HD struct lm_level_weights lm_weights_of_old(void)
{
    return lm_level_weights_of(1.0, 0.0, 1.0, 0.0);
}

LM_HD struct lm_level_weights lm_weights_ahead(void)
{
    return lm_level_weights_of(0.0, 1.0, -0.5, 1.5);
}

/* In the middle of the step, where Faraday's law is. */
LM_HD struct lm_level_weights lm_weights_half_way(void)
{
    return lm_level_weights_of(0.5, 0.5, 0.0, 1.0);
}

/* In either half of a step in which electrons are heated. */
LM_HD struct lm_level_weights lm_weights_of_heat(int later)
{
    return lm_level_weights_of(later ? 0.0 : 1.0, later ? 1.0 : 0.0, 0.0, 1.0);
}

/* What the friction follows from: arrays of one stride, element 0 of each. */
struct lm_friction {
    int count;                        /* of the species that have friction */
    int species[LM_FRICTION_SPECIES]; /* their numbers */
    /* Charge density and current at the centres; [count] are those of all ions. */
    const double *older[LM_FRICTION_SPECIES + 1][LM_ION_MOMENTS], *newer[LM_FRICTION_SPECIES + 1][LM_ION_MOMENTS];
    double least[LM_FRICTION_SPECIES]; /* charge densities below count as this one, where they divide */
    struct lm_level_weights at;
    const struct lm_program *eta; /* of species 0, 1, ... */
    double t;
    struct lm_grid grid;
    struct lm_electron_view electrons;
    struct lm_view current, b;
    const uint8_t *solid; /* NULL without bodies */
};

/* At the centre of a cell. */
struct lm_ion_moments {
    double charge;
    struct lm_vector current;
};

/* Friction without the part that has J: F_s, eta_s and q_s of a species; or of all sum F_s/n and sum eta_s q_s/n, and
 * the charge is 0. */
struct lm_cell_friction {
    double eta, charge;
    struct lm_vector force;
};

LM_HD double lm_between_levels(double older, double newer, double weight_old, double weight_new)
{
    return weight_old * older + weight_new * newer;
}

/* A sixteenth of one particle in a cell. Where a species has less, too little of it feels its friction to matter. */
LM_HD double lm_least_friction_charge(double charge, double weight)
{
    return 0.0625 * charge * weight;
}

/* Of number `which` in the list of species; `count`: of all ions. */
LM_HD struct lm_ion_moments lm_ion_moments_at(const struct lm_friction *f, int which, long k)
{
    const double *const *older = f->older[which], *const *newer = f->newer[which];
    const struct lm_level_weights w = f->at;
    struct lm_ion_moments m;
    m.charge = lm_between_levels(older[0][k], newer[0][k], w.n_old, w.n_new);
    m.current.x = lm_between_levels(older[1][k], newer[1][k], w.j_old, w.j_new);
    m.current.y = lm_between_levels(older[2][k], newer[2][k], w.j_old, w.j_new);
    m.current.z = lm_between_levels(older[3][k], newer[3][k], w.j_old, w.j_new);
    return m;
}

LM_HD struct lm_electron_view lm_electrons_at(struct lm_electron_view v, long k)
{
    v.n += k;
    v.p += k;
    return v;
}

/* eta_s in cell (i, j), element k. */
LM_HD double lm_friction_eta(const struct lm_friction *f, int which, int i, int j, long k)
{
    return lm_local_eta(f->eta + f->species[which], &f->grid, i, j, f->t, lm_electrons_at(f->electrons, k),
                        lm_view_at(f->current, k), lm_view_at(f->b, k), 0.0);
}

LM_HD struct lm_cell_friction lm_friction_of_species(const struct lm_friction *f, int which, int i, int j, long k)
{
    const struct lm_ion_moments all = lm_ion_moments_at(f, f->count, k), own = lm_ion_moments_at(f, which, k);
    struct lm_cell_friction c;
    c.eta = lm_friction_eta(f, which, i, j, k);
    c.charge = own.charge;
    c.force.x = c.eta * (all.charge * own.current.x - own.charge * all.current.x);
    c.force.y = c.eta * (all.charge * own.current.y - own.charge * all.current.y);
    c.force.z = c.eta * (all.charge * own.current.z - own.charge * all.current.z);
    return c;
}

/* The sum over the species in cell (i, j), element k; 0 in bodies. */
LM_HD struct lm_cell_friction lm_friction_in_cell(const struct lm_friction *f, int i, int j, long k)
{
    struct lm_cell_friction sum = {0.0, 0.0, {0.0, 0.0, 0.0}};
    for (int which = 0; which < f->count && !(f->solid && f->solid[k]); which++) {
        const struct lm_cell_friction c = lm_friction_of_species(f, which, i, j, k);
        sum.eta += c.eta * c.charge / f->electrons.n[k];
        sum.force.x += c.force.x / f->electrons.n[k];
        sum.force.y += c.force.y / f->electrons.n[k];
        sum.force.z += c.force.z / f->electrons.n[k];
    }
    return sum;
}

/* J at the centre, where the E of the push is. */
LM_HD struct lm_vector lm_current_at_centre(const struct lm_friction *f, long k)
{
    const struct lm_view j = lm_view_at(f->current, k);
    struct lm_vector c;
    c.x = lm_interp_down(j.x, 1);
    c.y = lm_interp_down(j.y, j.s);
    c.z = j.z[0];
    return c;
}

/* The heat in a cell, without the part (sum eta_s q_s/n) J^2, which the Joule heat has (joule_heating.h):
 *
 *     sum |F_s|^2 / (eta_s n q_s) + 2 J (sum F_s) / n,   J at the centre.
 */
LM_HD double lm_friction_heat(const struct lm_friction *f, int i, int j, long k)
{
    const struct lm_vector j0 = lm_current_at_centre(f, k);
    const struct lm_ion_moments all = lm_ion_moments_at(f, f->count, k);
    double heat = 0.0;
    for (int which = 0; which < f->count && !(f->solid && f->solid[k]) && all.charge > 0.0; which++) {
        const struct lm_cell_friction c = lm_friction_of_species(f, which, i, j, k);
        const double force2 = c.force.x * c.force.x + c.force.y * c.force.y + c.force.z * c.force.z,
                     work = j0.x * c.force.x + j0.y * c.force.y + j0.z * c.force.z;
        if (c.eta > 0.0)
            heat += (force2 / (c.eta * lm_max(f->least[which], c.charge)) + 2.0 * work) / all.charge;
    }
    return heat;
}

/* -f_s/q_s in cell (i, j), element k; 0 in bodies. */
LM_HD struct lm_vector lm_friction_field(const struct lm_friction *f, int which, int i, int j, long k)
{
    struct lm_vector e = {0.0, 0.0, 0.0};
    if (f->solid && f->solid[k])
        return e;
    const struct lm_cell_friction at = lm_friction_of_species(f, which, i, j, k);
    const struct lm_vector current = lm_current_at_centre(f, k);
    const double charge = lm_max(f->least[which], at.charge);
    if (at.charge > 0.0) {
        e.x = -(at.force.x / charge + at.eta * current.x);
        e.y = -(at.force.y / charge + at.eta * current.y);
        e.z = -(at.force.z / charge + at.eta * current.z);
    }
    return e;
}

/* The part (sum eta_s q_s/n) J of E_f in the same cell, which all ions feel. Their E without resistivity has the rest.
 */
LM_HD struct lm_vector lm_friction_of_current(const struct lm_friction *f, int i, int j, long k)
{
    const double eta = lm_friction_in_cell(f, i, j, k).eta;
    struct lm_vector e = lm_current_at_centre(f, k);
    e.x *= eta;
    e.y *= eta;
    e.z *= eta;
    return e;
}

#endif
