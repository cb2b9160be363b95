/* Ohm's law of massless electrons, on faces and at centres (Winske and Quest 1986; Kunz, Stone and Bai 2014), and the E
 * that the ions feel, at the centres:
 *
 *     E = (J - J_i) x B / n - grad p_e / n + eta J - eta_H lap J,  J = curl B
 *
 * The motional field is D x B / n = -u_e x B with D = J - J_i: J x B / n is the Hall term, and -J_i x B / n is the
 * convection term, as J_i = n u_i. The gradient of the pressure is formed on the faces (pressure_gradient.h). E on
 * walls is here too, E at bodies in solid.h.
 *
 * J, J_i, B and n meet at the centres, where the ions take what they feel. J and B go there by averages, B_c being that
 * of B, and only the products that the z component has are averaged as products, from the faces where both factors are:
 *
 *     f_x = (D_y B_c,z - D_z B_c,y) / n,   f_y = (D_z B_c,x - D_x B_c,z) / n,
 *     f_z = (avg J_x B_y - avg J_y B_x - J_i,x B_c,y + J_i,y B_c,x) / n.
 *
 * Faraday's law has the adjoint of this on the faces: E_x = avg(D_y B_c,z / n) - B_y avg(D_z / n), E_y = B_x avg(D_z /
 * n) - avg(D_x B_c,z / n), E_z = f_z. So two sums vanish in a periodic domain, whatever the density does. The sum of J
 * E over the faces is 0 for the Hall term, which neither gives energy to B nor takes it. And the sum of n f + J_i x B_c
 * over the centres is that of a discrete J x B, which is a divergence: the ions, who feel f and B_c with the weights by
 * which they deposit n and J_i, get no momentum from their own noise.
 */
#ifndef LARMOR_PHYSICS_FIELDS_OHM_H
#define LARMOR_PHYSICS_FIELDS_OHM_H

#include "larmor/physics/fields/ohm_terms.h"
#include "larmor/physics/numerics/operators.h"

/* --- J and the motional field --- */

/* J = curl B in cell (i, j): J_x on its x-face, J_y on its y-face, J_z at its centre. */
LM_HD struct lm_vector lm_curl_b(struct lm_view b, double inv_dx, double inv_dy)
{
    return lm_curl_down(b, inv_dx, inv_dy);
}

/* B averaged to the centre. */
LM_HD struct lm_vector lm_b_centre(struct lm_view b)
{
    struct lm_vector c;
    c.x = lm_interp_down(b.x, b.s);
    c.y = lm_interp_down(b.y, 1);
    c.z = lm_interp_corner(b.z, b.s);
    return c;
}

/* D x B / n at the centre, the Hall term and the convection term, but for the products of D_z with B_x and B_y: these
 * follow from `slip` = D_z / n, which is minus the velocity of the electrons along z. */
struct lm_motional {
    struct lm_vector field;
    double slip;
};

/* `ji` is the ion current at the centre; per_density: lm_per_density (void.h). */
LM_HD struct lm_motional lm_motional_field(struct lm_view j, struct lm_view b, struct lm_vector ji, double per_density)
{
    const struct lm_vector c = lm_b_centre(b);
    const double dx = lm_interp_down(j.x, 1) - ji.x, dy = lm_interp_down(j.y, j.s) - ji.y;
    const double x_force = 0.5 * (j.x[0] * b.y[0] + j.x[-1] * b.y[-1]) - ji.x * c.y;
    const double y_force = 0.5 * (j.y[0] * b.x[0] + j.y[-j.s] * b.x[-b.s]) - ji.y * c.x;
    struct lm_motional m;
    m.field.x = dy * c.z * per_density;
    m.field.y = -dx * c.z * per_density;
    m.field.z = (x_force - y_force) * per_density;
    m.slip = (j.z[0] - ji.z) * per_density;
    return m;
}

/* All of D x B / n, with B where it is wanted. */
LM_HD struct lm_vector lm_with_slip(struct lm_vector field, double slip, double bx, double by)
{
    field.x -= slip * by;
    field.y += slip * bx;
    return field;
}

/* The ion current at n, from that at n-1/2 and at n-3/2: E at n needs it, and the particles deposit it half way in a
 * step. */
LM_HD double lm_extrapolate_half_step(double later, double earlier)
{
    return lm_extrapolate_half(later, earlier);
}

/* --- what Ohm's law reads --- */

/* struct lm_motional and the resistivity at the centres, B and J, all of one stride; and -grad p_e / n on x-faces and
 * on y-faces, or NULL twice for E without that part. */
struct lm_ohm_view {
    struct lm_view motional, b, j;
    const double *slip, *eta, *pressure[2];
};

LM_HD struct lm_ohm_view lm_ohm_view_at(struct lm_ohm_view v, long k)
{
    v.motional = lm_view_at(v.motional, k);
    v.b = lm_view_at(v.b, k);
    v.slip += k;
    v.j = lm_view_at(v.j, k);
    v.eta += k;
    if (v.pressure[0] != NULL) {
        v.pressure[0] += k;
        v.pressure[1] += k;
    }
    return v;
}

/* --- E --- */

/* eta J - eta_H lap J of one component. */
LM_HD double lm_resistive(const double *j, int s, double eta, const struct lm_ohm *o)
{
    double e = eta * j[0];
    if (o->eta_hyper > 0.0)
        e -= o->eta_hyper * lm_laplacian(j, s, o->inv_dx, o->inv_dy);
    return e;
}

/* What of a resistivity the substeps of B have. */
LM_HD double lm_substep_eta(double eta, const struct lm_ohm *o)
{
    return o->substep_eta > 0.0 && eta > o->substep_eta ? o->substep_eta : eta;
}

/* E with all of the resistivity follows from this copy. */
LM_HD struct lm_ohm lm_with_all_eta(struct lm_ohm o)
{
    o.substep_eta = 0.0;
    return o;
}

/* The resistive part of E of cell (i, j) on its faces and at its centre. `eta` stands on it in an array of stride s. */
LM_HD void lm_resistive_field(struct lm_view j, const double *eta, int s, const struct lm_ohm *o, double resistive[3])
{
    resistive[0] = lm_resistive(j.x, j.s, lm_substep_eta(lm_interp_up(eta, 1), o), o);
    resistive[1] = lm_resistive(j.y, j.s, lm_substep_eta(lm_interp_up(eta, s), o), o);
    resistive[2] = lm_resistive(j.z, j.s, lm_substep_eta(eta[0], o), o);
}

/* E of cell (i, j) on its faces and at its centre: `total` is all of it, `resistive` is the resistive part. */
LM_HD void lm_electric_field(struct lm_ohm_view v, const struct lm_ohm *o, double total[3], double resistive[3])
{
    const struct lm_view m = v.motional;
    const int s = m.s;
    total[0] = lm_interp_up(m.x, 1) - v.b.y[0] * lm_interp_up(v.slip, 1);
    total[1] = lm_interp_up(m.y, s) + v.b.x[0] * lm_interp_up(v.slip, s);
    total[2] = m.z[0];
    if (v.pressure[0] != NULL) {
        total[0] += v.pressure[0][0];
        total[1] += v.pressure[1][0];
    }
    lm_resistive_field(v.j, v.eta, s, o, resistive);
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        total[d] += resistive[d];
}

/* E through a surface, on the plasma's side and without resistivity: Ohm's law with the motional field of the plasma
 * cell at the surface, `inside` elements away, and B on the surface. Mirror images behind the surface would not help:
 * the Hall term has no such symmetry. */
LM_HD double lm_surface_field(int axis, long inside, struct lm_ohm_view v)
{
    const struct lm_vector field = {v.motional.x[inside], v.motional.y[inside], v.motional.z[inside]};
    const struct lm_vector all = lm_with_slip(field, v.slip[inside], v.b.x[0], v.b.y[0]);
    return axis == 0 ? all.x : axis == 1 ? all.y : all.z;
}

/* Replaces E_`axis` of a node on a wall that crosses the axis; the other components stay. The plasma cell at the wall
 * is `inside` elements away from the node's own cell (0: it is that cell). */
LM_HD void lm_wall_field(int axis, long inside, struct lm_ohm_view v, const struct lm_ohm *o, double total[3],
                         double resistive[3])
{
    const double *const j = axis == 0 ? v.j.x : v.j.y;
    const int other = axis == 0 ? 1 : v.j.s;
    resistive[axis] = lm_resistive(j, v.j.s, lm_substep_eta(lm_interp_up(v.eta, other), o), o);
    total[axis] = lm_surface_field(axis, inside, v) + resistive[axis];
}

/* --- what the ions feel --- */

/* E of the push at the centre. `b` is B there. `resistive` stands on the resistive part of E; its pointers are NULL
 * where the ions do not feel that part, which has the friction between ions and electrons in it. `pressure` stands on
 * the part of an evolved pressure, without z; its pointers are NULL where there is none, or where the ions take it from
 * the faces (push.h). */
LM_HD struct lm_vector lm_push_field(struct lm_vector motional, double slip, struct lm_vector b,
                                     struct lm_view resistive, struct lm_view pressure)
{
    struct lm_vector e = lm_with_slip(motional, slip, b.x, b.y);
    if (resistive.x != NULL) {
        e.x += lm_interp_down(resistive.x, 1);
        e.y += lm_interp_down(resistive.y, resistive.s);
        e.z += resistive.z[0];
    }
    if (pressure.x != NULL) {
        e.x += lm_interp_down(pressure.x, 1);
        e.y += lm_interp_down(pressure.y, pressure.s);
    }
    return e;
}

#endif
