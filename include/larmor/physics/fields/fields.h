/* Fields on the staggered grid: curl, Ohm's law, Faraday's law, moments. Every function is the body of a loop over
 * cells; its pointers stand on the cell, s* is the array's stride to the cell above. Where things live: larmor/grid.h.
 *
 * Massless electrons, quasi-neutrality (Winske and Quest 1986; Kunz, Stone and Bai 2014):
 *     J = curl B,  E = [(J - J_i) x B - grad p_e] / n + eta J - eta_H lap J,  dB/dt = -curl E
 * with J_i = sum Z n u the ion current, n = sum Z n_s. (J - J_i) x B is formed at centres, the pressure gradient on the
 * faces.
 */
#ifndef LARMOR_PHYSICS_FIELDS_FIELDS_H
#define LARMOR_PHYSICS_FIELDS_FIELDS_H

#include "larmor/physics/numerics/elementary.h"
#include "larmor/physics/numerics/operators.h"
#include "larmor/physics/fields/ohm_terms.h"
#include "larmor/physics/fields/wall.h"

/* J = curl B in cell (i, j): J_x on its x-face, J_y on its y-face, J_z at its centre. */
LM_HD struct lm_vector lm_curl_b(struct lm_view b, double rx, double ry)
{
    return lm_curl_down(b, rx, ry);
}

/* -curl E: the rate of B_x on the y-face, B_y on the x-face, B_z on the corner of cell (i, j). */
LM_HD struct lm_vector lm_faraday(struct lm_view e, double rx, double ry)
{
    return lm_drop_curl_up(e, rx, ry);
}

/* div B on the corner of cell (i, j). */
LM_HD double lm_div_b(struct lm_view b, double rx, double ry)
{
    return lm_div_up(b, rx, ry);
}

LM_HD struct lm_vector lm_b_centre(struct lm_view b)
{
    struct lm_vector c;
    c.x = lm_interp_down(b.x, b.s);
    c.y = lm_interp_down(b.y, 1);
    c.z = lm_interp_corner(b.z, b.s);
    return c;
}

/* (J - J_i) x B at the centre; `ji` is the ion current there. */
LM_HD struct lm_vector lm_electron_force(struct lm_view j, struct lm_view b, struct lm_vector ji)
{
    struct lm_vector c = lm_b_centre(b), f;
    double dx = lm_interp_down(j.x, 1) - ji.x;
    double dy = lm_interp_down(j.y, j.s) - ji.y;
    double dz = j.z[0] - ji.z;
    f.x = dy * c.z - dz * c.y;
    f.y = dz * c.x - dx * c.z;
    f.z = dx * c.y - dy * c.x;
    return f;
}

/* eta J - eta_H lap J of one component. */
LM_HD double lm_resistive(const double *j, int s, double eta, const struct lm_ohm *o)
{
    double e = eta * j[0];
    if (o->eta_hyper > 0.0)
        e -= o->eta_hyper * lm_laplacian(j, s, o->rx, o->ry);
    return e;
}

LM_HD double lm_eta_vacuum(double density, const struct lm_ohm *o)
{
    return o->eta_vacuum > 0.0 && density <= o->floor ? o->eta_vacuum : 0.0;
}

/* E of cell (i, j) on its faces and at its centre: all of it, and without the resistive part. `given` is
 * floored density, electron pressure and resistivity (as x, y, z). */
LM_HD void lm_electric_field(struct lm_view force, struct lm_view j, struct lm_view given, const struct lm_ohm *o,
                             double total[3], double ideal[3])
{
    const double *n = given.x, *p = given.y, *eta = given.z;
    const double density[3] = {lm_interp_up(n, 1), lm_interp_up(n, given.s), n[0]};
    const double push[3] = {lm_interp_up(force.x, 1) - lm_diff_up(p, 1, o->rx),
                            lm_interp_up(force.y, force.s) - lm_diff_up(p, given.s, o->ry), force.z[0]};
    lm_divide3(push, density, ideal);
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        if (o->zero_vacuum && density[d] <= o->floor)
            ideal[d] = 0.0;
    total[0] = ideal[0] + lm_resistive(j.x, j.s, lm_interp_up(eta, 1) + lm_eta_vacuum(density[0], o), o);
    total[1] = ideal[1] + lm_resistive(j.y, j.s, lm_interp_up(eta, given.s) + lm_eta_vacuum(density[1], o), o);
    total[2] = ideal[2] + lm_resistive(j.z, j.s, eta[0] + lm_eta_vacuum(density[2], o), o);
}

/* E through a surface, on the plasma's side: Ohm's law with what the cell before it has. What a mirror would have
 * behind it is of no use here: the Hall term has no such symmetry. */
LM_HD double lm_surface_field(double force, double floored, const struct lm_ohm *o)
{
    return o->zero_vacuum && floored <= o->floor ? 0.0 : force / floored;
}

/* E_`axis` on a wall: the node of a cell, whose neighbour inside is `inside` away (0: itself); the others stay. */
LM_HD void lm_wall_field(int axis, long inside, struct lm_view force, struct lm_view j, struct lm_view given,
                         const struct lm_ohm *o, double total[3], double ideal[3])
{
    const double *const pull = axis == 0 ? force.x : force.y, *const current = axis == 0 ? j.x : j.y;
    const int other = axis == 0 ? 1 : j.s;
    ideal[axis] = lm_surface_field(pull[inside], given.x[inside], o);
    total[axis] = ideal[axis] + lm_resistive(current, j.s, lm_interp_up(given.z, other), o);
}

/* Integer moments of a species in a cell (larmor/physics/particles/deposit.h) as charge density and current; returns
 * its number density. */
LM_HD double lm_species_moments(const int64_t sums[4], double charge, double weight, int speed_exponent, double out[4])
{
    double number = weight * lm_exp2i(-16) * (double)sums[0], current = charge * weight * lm_exp2i(speed_exponent - 16);
    out[0] = charge * number;
    for (int d = 1; d < 4; d++)
        out[d] = current * (double)sums[d];
    return number;
}

/* Density and currents as deposited (J_x and J_y on faces), brought to the centre. */
LM_HD void lm_centred_moments(const double *const raw[4], int s, double out[4])
{
    out[0] = raw[0][0];
    /* cppcheck-suppress negativeIndex ; the pointers stand inside their arrays */
    out[1] = lm_interp_down(raw[1], 1);
    out[2] = lm_interp_down(raw[2], s);
    out[3] = raw[3][0];
}

/* A quantity half way between two levels, and half a step beyond the later one. */
LM_HD double lm_mean(double a, double b)
{
    return 0.5 * a + 0.5 * b;
}

LM_HD double lm_ahead(double later, double earlier)
{
    return 1.5 * later - 0.5 * earlier;
}

/* Floored density and electron pressure of a cell. */
LM_HD double lm_floored(double n, const struct lm_ohm *o)
{
    return lm_max(n, o->floor);
}

LM_HD double lm_pressure(double floored, const struct lm_ohm *o)
{
    return o->temperature * (o->gamma == 1.0 ? floored : lm_pow(floored, o->gamma));
}

/* Thermal energy of the electrons in a unit area: T n ln n (isothermal; the part that work can change) or p / (gamma -
 * 1). */
LM_HD double lm_electron_energy(double floored, const struct lm_ohm *o)
{
    if (o->temperature == 0.0)
        return 0.0;
    return o->gamma == 1.0 ? o->temperature * floored * lm_log(floored) : lm_pressure(floored, o) / (o->gamma - 1.0);
}

/* Largest frequency of this grid in a cell: whistler k^2 |B|/n, convection k |u_i|, resistive eta k^2 + eta_H k^4, with
 * k^2 the largest eigenvalue of the grid's Laplacian. RK4 is stable up to 2.78 / frequency. */
LM_HD double lm_frequency(struct lm_vector b, struct lm_vector ji, double floored, double eta, double k2,
                          const struct lm_ohm *o)
{
    double bb = lm_sqrt(b.x * b.x + b.y * b.y + b.z * b.z);
    double uu = lm_sqrt(ji.x * ji.x + ji.y * ji.y + ji.z * ji.z);
    return (k2 * bb + lm_sqrt(k2) * uu) / floored + k2 * (eta + lm_eta_vacuum(floored, o) + k2 * o->eta_hyper);
}

/* Largest eigenvalue of minus the grid's Laplacian. Along an axis of one cell there are waves between walls only. */
LM_HD double lm_largest_k2(const struct lm_grid *g, double rx, double ry)
{
    return 4.0 * ((lm_varies_along(g, 0) ? rx * rx : 0.0) + (lm_varies_along(g, 1) ? ry * ry : 0.0));
}

/* One pass of the binomial filter, 1-2-1 in x and in y: from the values of the row below, of the cell's and of the one
 * above, and the sums of those left and right of them. */
LM_HD double lm_binomial_rows(const double centre[3], const double sides[3])
{
    double corners = sides[0] + sides[2];
    double edges = sides[1] + (centre[0] + centre[2]);
    return 0.0625 * corners + (0.125 * edges + 0.25 * centre[1]);
}

LM_HD double lm_binomial(const double *a, int s)
{
    const double centre[3] = {a[-s], a[0], a[s]};
    const double sides[3] = {a[-s - 1] + a[-s + 1], a[-1] + a[1], a[s - 1] + a[s + 1]};
    return lm_binomial_rows(centre, sides);
}

/* Classical Runge-Kutta, four stages: how the rate of stage 0..3 enters the result and the next stage's B, for a step
 * h. */
struct lm_rk4 {
    double result, next;
};

LM_HD struct lm_rk4 lm_rk4_stage(int stage, double h)
{
    struct lm_rk4 r;
    r.result = stage == 0 || stage == 3 ? h / 6.0 : h / 3.0;
    r.next = stage == 2 ? h : 0.5 * h;
    return r;
}

#endif
