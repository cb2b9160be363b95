/* Ohm's law of massless electrons, on faces and at centres (Winske and Quest 1986; Kunz, Stone and Bai 2014):
 *
 *     E = (J - J_i) x B / n - grad p_e / n + eta J - eta_H lap J,  J = curl B
 *
 * The motional field (J - J_i) x B / n = -u_e x B is formed at the centres and averaged to the faces. J x B / n is the
 * Hall term; -J_i x B / n is the convection term, as J_i = n u_i. The gradient of the pressure is formed on the faces
 * (pressure_gradient.h). E on walls is here too, E at bodies in solid.h.
 *
 * J, B and n meet at the centres, and J goes there by the adjoint of the average that leads back to the faces. So the
 * sum of J E over the faces is the sum of J (J x B) / n over the centres for the Hall term, which is 0 whatever the
 * density does: the Hall term neither gives energy to B nor takes it. The work of the convection term on B is minus
 * that of the Hall term on the ions.
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

/* (J - J_i) x B / n at the centre: the Hall term and the convection term. `ji` is the ion current there. */
LM_HD struct lm_vector lm_motional_field(struct lm_view j, struct lm_view b, struct lm_vector ji, double floored)
{
    const double per_density = lm_inverse(floored);
    struct lm_vector c = lm_b_centre(b), f;
    double dx = lm_interp_down(j.x, 1) - ji.x;
    double dy = lm_interp_down(j.y, j.s) - ji.y;
    double dz = j.z[0] - ji.z;
    f.x = (dy * c.z - dz * c.y) * per_density;
    f.y = (dz * c.x - dx * c.z) * per_density;
    f.z = (dx * c.y - dy * c.x) * per_density;
    return f;
}

/* The ion current at n, from that at n-1/2 and at n-3/2: E at n needs it, and the particles deposit it half way in a
 * step. */
LM_HD double lm_extrapolate_half_step(double later, double earlier)
{
    return 1.5 * later - 0.5 * earlier;
}

/* --- what Ohm's law reads --- */

/* The motional field, the floored density and the resistivity at the centres, of one stride; J where E is; and
 * -grad p_e / n on x-faces and on y-faces, or NULL twice for E without that part. */
struct lm_ohm_view {
    struct lm_view motional, j;
    const double *n, *eta, *pressure[2];
};

LM_HD struct lm_ohm_view lm_ohm_view_at(struct lm_ohm_view v, long k)
{
    v.motional = lm_view_at(v.motional, k);
    v.j = lm_view_at(v.j, k);
    v.n += k;
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

/* The resistivity that plasma at the density floor has in addition. */
LM_HD double lm_eta_vacuum(double density, const struct lm_ohm *o)
{
    return o->eta_vacuum > 0.0 && density <= o->floor ? o->eta_vacuum : 0.0;
}

/* E of cell (i, j) on its faces and at its centre: `total` is all of it, `ideal` is E without the resistive part. */
LM_HD void lm_electric_field(struct lm_ohm_view v, const struct lm_ohm *o, double total[3], double ideal[3])
{
    const struct lm_view m = v.motional, j = v.j;
    const double *const n = v.n, *const eta = v.eta;
    const int s = m.s;
    const double density[3] = {lm_interp_up(n, 1), lm_interp_up(n, s), n[0]};
    ideal[0] = lm_interp_up(m.x, 1);
    ideal[1] = lm_interp_up(m.y, m.s);
    ideal[2] = m.z[0];
    if (v.pressure[0] != NULL) {
        ideal[0] += v.pressure[0][0];
        ideal[1] += v.pressure[1][0];
    }
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        if (o->zero_vacuum && density[d] <= o->floor)
            ideal[d] = 0.0;
    total[0] = ideal[0] + lm_resistive(j.x, j.s, lm_interp_up(eta, 1) + lm_eta_vacuum(density[0], o), o);
    total[1] = ideal[1] + lm_resistive(j.y, j.s, lm_interp_up(eta, s) + lm_eta_vacuum(density[1], o), o);
    total[2] = ideal[2] + lm_resistive(j.z, j.s, eta[0] + lm_eta_vacuum(density[2], o), o);
}

/* E of the push, one component: with friction between ions and electrons the ions do not feel the resistive part. */
LM_HD double lm_push_field(double total, double ideal, int friction)
{
    return friction ? ideal : total;
}

/* E through a surface, on the plasma's side: Ohm's law with the motional field and the density of the plasma cell at
 * the surface. Mirror images behind the surface would not help: the Hall term has no such symmetry. */
LM_HD double lm_surface_field(double motional, double floored, const struct lm_ohm *o)
{
    return o->zero_vacuum && floored <= o->floor ? 0.0 : motional;
}

/* Replaces E_`axis` of a node on a wall that crosses the axis; the other components stay. The plasma cell at the wall
 * is `inside` elements away from the node's own cell (0: it is that cell). */
LM_HD void lm_wall_field(int axis, long inside, struct lm_ohm_view v, const struct lm_ohm *o, double total[3],
                         double ideal[3])
{
    const double *const motional = axis == 0 ? v.motional.x : v.motional.y, *const j = axis == 0 ? v.j.x : v.j.y;
    const int other = axis == 0 ? 1 : v.j.s;
    ideal[axis] = lm_surface_field(motional[inside], v.n[inside], o);
    total[axis] = ideal[axis] + lm_resistive(j, v.j.s, lm_interp_up(v.eta, other), o);
}

#endif
