/* The strip of plasma beyond a radiating side.
 *
 * Waves that reach a radiating side go on in a strip of LM_STRIP_CELLS cells beyond it, with the same laws: Ohm's and
 * Faraday's with B on the same staggered cells, and ions that are one fluid of density n and velocity u. The cells grow
 * away from the side, so that some tens of them are as long as a thousand cells of the domain, and the waves die there:
 *
 *     E = J x B / n - u x B + eta J_t,   dB/dt = -curl E,
 *     mu n (du/dt + u grad u) = J x B - c^2 mu grad n + d(mu n D du),   dn/dt = -div(n u) + d(D dn) + (n_0 - n) / T
 *
 * d is the derivative away from the side, and J_t the part of J that is made of such derivatives. mu is the mass of the
 * ions for their charge, n_0 the density at the side, T = LM_STRIP_TIME. Both damping coefficients grow with the
 * distance x from the side,
 *
 *     eta = (LM_STRIP_ETA w x + LM_STRIP_HALL |B|/n) r,   D = LM_STRIP_MIXING w x r,   r = x / (x + LM_STRIP_RAMP dx),
 *
 * with w = |u_n| + sqrt(B^2/(mu n) + c^2). A wave then meets, at any wavelength, a damping that grows by little in a
 * wavelength. Derivatives along the side are not damped: they would make the strip stiff for waves that come in at an
 * angle, and these would be reflected. The constants were chosen in a linear study (docs/develop/open_sides_study.md).
 *
 * The first LM_STRIP_UNIFORM cells are as large as those of the domain, so that E in them is the E of the ghost cells
 * beyond the side. Only E goes from the strip to the domain, where Faraday's law advances B with it.
 *
 * A line of the strip is empty where no plasma is at the side: behind a void, behind less than LM_STRIP_THIN times the
 * density floor (twice as much until it is filled again), and where plasma moves inwards, faster than half of the
 * Alfven speed of B outside to begin with, and no ions follow it. There B of the domain follows the rule of open sides
 * (open_side.h), and B of the strip is that outside: the one of the start, which the domain keeps beyond the side.
 *
 * At the ends of a side, the strip is held as at the start where plasma flows in; elsewhere it goes on as in its last
 * line. In a corner of two radiating sides B_z follows its neighbours.
 *
 * "Across" is along the normal of the side, "along" is along the side. Positions across count in a window of
 * LM_STRIP_WINDOW cells with the strip, LM_STRIP_INSIDE cells of the domain and LM_STRIP_OUTSIDE images of the last
 * one.
 */
#ifndef LARMOR_PHYSICS_FIELDS_STRIP_H
#define LARMOR_PHYSICS_FIELDS_STRIP_H

#include "larmor/grid.h"
#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/ohm.h"

enum {
    LM_STRIP_UNIFORM = 6,
    LM_STRIP_INSIDE = 3,
    LM_STRIP_OUTSIDE = 2,
    LM_STRIP_WINDOW = LM_STRIP_INSIDE + LM_STRIP_CELLS + LM_STRIP_OUTSIDE,
    LM_STRIP_BEHIND = 2, /* the plasma of the side: that of LM_STRIP_TAKEN cells before the last LM_STRIP_BEHIND ones */
    LM_STRIP_TAKEN = 4
};

#define LM_STRIP_GROWTH 1.09
#define LM_STRIP_ETA 0.03
#define LM_STRIP_HALL 0.12
#define LM_STRIP_MIXING 0.05
#define LM_STRIP_RAMP 12.0
#define LM_STRIP_TIME 64.0
#define LM_STRIP_THIN 2.0
#define LM_STRIP_INWARDS 0.25 /* half of the Alfven speed, squared */

/* A whistler turns by no more than this in a substep of B. The Runge-Kutta method is stable up to 2.78, which
 * leaves room for resistivity and convection. */
#define LM_STRIP_TURN 2.1

/* --- the window --- */

/* Which cells of a window are which. Positions grow with x or y. `first`: that of the strip's first cell. `main` + p is
 * the index of position p among the cells of the domain along the axis, in front of which the strip lies. */
struct lm_strip_place {
    int axis, high; /* 0: x; 1: the side is the upper one */
    int first, main;
};

LM_HD struct lm_strip_place lm_strip_place(int side, int nx, int ny)
{
    struct lm_strip_place w;
    w.axis = side / 2;
    w.high = side % 2;
    w.first = w.high ? LM_STRIP_INSIDE : LM_STRIP_OUTSIDE;
    w.main = w.high ? (w.axis == 0 ? nx : ny) - LM_STRIP_INSIDE : -LM_STRIP_OUTSIDE - LM_STRIP_CELLS;
    return w;
}

/* The number of a cell of the strip, from the side on; negative inside. */
LM_HD int lm_strip_number(struct lm_strip_place w, int p)
{
    return w.high ? p - w.first : w.first + LM_STRIP_CELLS - 1 - p;
}

/* The position of the cell inside at the side. */
LM_HD int lm_strip_last_inside(struct lm_strip_place w)
{
    return w.high ? w.first - 1 : w.first + LM_STRIP_CELLS;
}

/* The positions [from, from + LM_STRIP_CELLS) where a component of B belongs to the strip. Those on faces that the axis
 * crosses begin behind the side, where B belongs to the domain. */
LM_HD int lm_strip_first_b(struct lm_strip_place w, int component)
{
    return w.high || component == w.axis ? w.first : w.first - 1;
}

/* The size of a cell, and the distance of its centre from the side, in cells of the domain. */
LM_HD double lm_strip_size(int number)
{
    double size = 1.0;
    for (int k = LM_STRIP_UNIFORM; k <= number && k < LM_STRIP_CELLS; k++)
        size *= LM_STRIP_GROWTH;
    return size;
}

LM_HD double lm_strip_depth(int number)
{
    double depth = 0.5 * lm_strip_size(number);
    for (int k = 0; k < number; k++)
        depth += lm_strip_size(k);
    return number < 0 ? 0.0 : depth;
}

/* --- the medium --- */

/* What holds in a whole strip in a step. */
struct lm_strip_step {
    double cell, along;   /* the cell of the domain across and along, d_i */
    double inv_along;     /* 1/along */
    double k2_along;      /* the largest k^2 of the grid along the side */
    double dt, substep;   /* of the ions; of B */
    double floor, alfven; /* lm_ohm */
};

/* Both at a cell. */
struct lm_strip_damping {
    double eta, mixing;
};

/* 1/n of Ohm's law in the strip; 0 in a void. Beside the density floor, n counts as much at least as keeps an Alfven
 * wave on the grid from turning by more than 1 in a step (void.h), and whistlers stable in a substep: the density
 * beyond the side may be lower than any in the domain, where the substep was chosen. */
LM_HD double lm_strip_per_density(double n, double b2, double size, const struct lm_strip_step *s)
{
    const double across = 2.0 / (size * s->cell), k2 = across * across + s->k2_along;
    const double whistler = k2 * lm_sqrt(b2) * s->substep * (1.0 / LM_STRIP_TURN);
    if (n < 0.1 * s->floor)
        return 0.0;
    return lm_inverse(lm_max(lm_max(n, s->floor), lm_max(s->alfven * b2, whistler)));
}

/* `speed` is w, `depth` x in cells; in a void eta is as large as is stable. */
LM_HD struct lm_strip_damping lm_strip_damp(double depth, double size, double speed, double b2, double per_density,
                                            const struct lm_strip_step *s)
{
    const double h = size * s->cell, x = depth * s->cell, r = depth / (depth + LM_STRIP_RAMP),
                 least = lm_min(h, s->along);
    const double most = 0.125 * h * h / s->substep, mixed = 0.2 * h * h / s->dt;
    struct lm_strip_damping d = {0.125 * least * least / s->substep, 0.0};
    if (per_density > 0.0) {
        const double eta = (LM_STRIP_ETA * speed * x + LM_STRIP_HALL * lm_sqrt(b2) * per_density) * r,
                     mixing = LM_STRIP_MIXING * speed * x * r;
        d.eta = eta < most ? eta : most;
        d.mixing = mixing < mixed ? mixing : mixed;
    }
    return d;
}

/* --- E --- */

/* The resistivity of a void between two cells, `step` elements apart. */
LM_HD double lm_strip_void_eta(const double *eta, const double *per_density, int step)
{
    return 0.5 * ((per_density[0] == 0.0 ? eta[0] : 0.0) + (per_density[step] == 0.0 ? eta[step] : 0.0));
}

/* E of a cell of the strip: all on the faces and at the centre as in lm_electric_field, but that in plasma only the
 * part of J with derivatives across is resisted. `across` and `along` are 1 over the size of the cell. */
LM_HD struct lm_vector lm_strip_field(int axis, double across, double along, const double *per_density,
                                      struct lm_ohm_view v)
{
    const int s = v.motional.s;
    const double all = per_density[0] == 0.0 ? v.eta[0] : 0.0;
    struct lm_vector e;
    e.x = lm_interp_up(v.motional.x, 1) - v.b.y[0] * lm_interp_up(v.slip, 1);
    e.y = lm_interp_up(v.motional.y, s) + v.b.x[0] * lm_interp_up(v.slip, s);
    e.z = v.motional.z[0];
    if (axis == 0) {
        e.x += lm_strip_void_eta(v.eta, per_density, 1) * v.j.x[0];
        e.y += lm_interp_up(v.eta, s) * v.j.y[0];
        e.z += v.eta[0] * lm_diff_down(v.b.y, 1, across) - all * lm_diff_down(v.b.x, s, along);
    } else {
        e.x += lm_interp_up(v.eta, 1) * v.j.x[0];
        e.y += lm_strip_void_eta(v.eta, per_density, s) * v.j.y[0];
        e.z += all * lm_diff_down(v.b.y, 1, along) - v.eta[0] * lm_diff_down(v.b.x, s, across);
    }
    return e;
}

/* --- at the side --- */

/* The ions of the strip have shapes that reach into the domain, and it is the domain's ions that the deposit has
 * mirrored instead. A moment of the last cell inside with what is beyond: `share` is the mean part of the shape of an
 * ion of the last cell that lies beyond it, 1/8 of a linear shape and 1/6 of a quadratic one. */
LM_HD double lm_strip_share(int is_linear)
{
    return is_linear ? 1.0 / 8.0 : 1.0 / 6.0;
}

LM_HD double lm_strip_moment(double inside, double beyond, double share)
{
    return inside + share * (beyond - inside);
}

/* --- the ions --- */

/* What the ions of a cell read: n and u stand on it. `up` and `down`: 1 over the distance to the next centre across. */
struct lm_strip_ions {
    const double *n, *u[3], *mixing;
    int axis, across, along;                     /* steps of the arrays */
    double inv_size, up, down, inv_along, floor; /* floor: the least density that divides a pressure */
};

LM_HD double lm_strip_courant(double u, double inv, double dt)
{
    const double c = u * inv * dt;
    return c > 0.45 ? 0.45 : c < -0.45 ? -0.45 : c;
}

LM_HD double lm_strip_mixed(const struct lm_strip_ions *s, const double *a)
{
    const double high = lm_interp_up(s->mixing, s->across) * (a[s->across] - a[0]) * s->up,
                 low = lm_interp_down(s->mixing, s->across) * (a[0] - a[-s->across]) * s->down;
    return (high - low) * s->inv_size;
}

/* Minus u grad a for a time dt, upwind. */
LM_HD double lm_strip_carried(const struct lm_strip_ions *s, const double *a, double dt)
{
    const double x = lm_strip_courant(s->u[s->axis][0], s->inv_size, dt),
                 y = lm_strip_courant(s->u[1 - s->axis][0], s->inv_along, dt);
    return -x * (x > 0.0 ? a[0] - a[-s->across] : a[s->across] - a[0]) -
           y * (y > 0.0 ? a[0] - a[-s->along] : a[s->along] - a[0]);
}

/* What the shapes of the particles and the passes of the binomial filter do to a moment in the domain and to what the
 * ions feel there, to second order in the wave number: the strip does the same to n u and to E and B of its ions. A
 * linear shape counts as 1/3 of a pass, a quadratic one as half of one. Without this, ion cyclotron waves of some 20
 * cells have other phase speeds in the domain than in the strip, and are reflected. */
LM_HD double lm_strip_passes(int passes, int is_linear)
{
    return passes + (is_linear ? 1.0 / 3.0 : 0.5);
}

/* `scale`: a quarter of the passes times the square of the cell of the domain. */
struct lm_strip_filter {
    int across, along;
    double inv_size, up, down, scale,
        scale_along; /* as in lm_strip_ions; of the passes along: over the cell's square */
};

LM_HD double lm_strip_filtered(const struct lm_strip_filter *f, const double *a)
{
    const double across = ((a[f->across] - a[0]) * f->up - (a[0] - a[-f->across]) * f->down) * f->inv_size;
    return a[0] + f->scale * across + f->scale_along * (a[f->along] - 2.0 * a[0] + a[-f->along]);
}

/* The push of Boris (push.h) for a time 2 h mu. */
LM_HD struct lm_vector lm_strip_boris(struct lm_vector u, struct lm_vector e, struct lm_vector b, double h)
{
    const double x = u.x + h * e.x, y = u.y + h * e.y, z = u.z + h * e.z, tx = h * b.x, ty = h * b.y, tz = h * b.z;
    const double px = x + (y * tz - z * ty), py = y + (z * tx - x * tz), pz = z + (x * ty - y * tx);
    const double s = 2.0 * lm_inverse(1.0 + (tx * tx + ty * ty + tz * tz));
    u.x = x + s * (py * tz - pz * ty) + h * e.x;
    u.y = y + s * (pz * tx - px * tz) + h * e.y;
    u.z = z + s * (px * ty - py * tx) + h * e.z;
    return u;
}

/* u after dt. `e` and `b` are what the ions feel, `mass` is mu, `sound2` c^2. */
LM_HD struct lm_vector lm_strip_velocity(const struct lm_strip_ions *s, struct lm_vector e, struct lm_vector b,
                                         double mass, double sound2, double dt)
{
    const double n = sound2 * lm_inverse(lm_max(s->n[0], s->floor));
    const double push[2] = {n * 0.5 * ((s->n[s->across] - s->n[0]) * s->up + (s->n[0] - s->n[-s->across]) * s->down),
                            n * 0.5 * (s->n[s->along] - s->n[-s->along]) * s->inv_along};
    struct lm_vector u = {s->u[0][0], s->u[1][0], s->u[2][0]};
    u = lm_strip_boris(u, e, b, 0.5 * dt * lm_inverse(mass));
    u.x += lm_strip_carried(s, s->u[0], dt) + dt * (lm_strip_mixed(s, s->u[0]) - push[s->axis]);
    u.y += lm_strip_carried(s, s->u[1], dt) + dt * (lm_strip_mixed(s, s->u[1]) - push[1 - s->axis]);
    u.z += lm_strip_carried(s, s->u[2], dt) + dt * lm_strip_mixed(s, s->u[2]);
    return u;
}

/* n u dt / h through the upper face of a cell, upwind; u stands on the cell below it. */
LM_HD double lm_strip_flux(const double *n, const double *u, int step, double inv_size, double dt)
{
    return lm_upwind(lm_strip_courant(lm_interp_up(u, step), inv_size, dt), n, step);
}

/* n after dt; `side` is n_0. */
LM_HD double lm_strip_density(const struct lm_strip_ions *s, double side, double dt)
{
    const double *u = s->u[s->axis], *v = s->u[1 - s->axis];
    const double flow = lm_strip_flux(s->n, u, s->across, s->inv_size, dt) -
                        lm_strip_flux(s->n - s->across, u - s->across, s->across, s->inv_size, dt) +
                        lm_strip_flux(s->n, v, s->along, s->inv_along, dt) -
                        lm_strip_flux(s->n - s->along, v - s->along, s->along, s->inv_along, dt);
    return lm_max(0.0, s->n[0] - flow + dt * (lm_strip_mixed(s, s->n) + (side - s->n[0]) * (1.0 / LM_STRIP_TIME)));
}

#endif
