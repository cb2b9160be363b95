/* One particle: gather of the fields and Boris push.
 *
 * The gather is the interpolation of E and B from the centres of the cells with the shape of the particle (shape.h):
 * with the weights by which the particle deposits density and current there, so that the force on all ions is the sum
 * over the cells that Ohm's law balances (larmor/physics/fields/ohm.h). The force of an electron pressure that follows
 * from the density comes from the faces (larmor/physics/fields/pressure_gradient.h). Along its own axis it is
 * interpolated linearly, across with the shape. The quadratic shape changes by linear weights along the way of a
 * particle, so that its ions gain what the electrons lose. With the linear shape the sum of E_x and this force is
 * linear along x between the centres and the faces. So a window has the sum at both, and a particle reads four values
 * of it in place of eight; likewise along y.
 *
 * The push is that of Boris, Proc. 4th Conf. Numerical Simulation of Plasmas (1970); Birdsall and Langdon, Plasma
 * Physics via Computer Simulation (1985), section 4-3: v- = v + h E, t = h B, v' = v- + v- x t, v+ = v- + 2/(1 + t^2)
 * v' x t, v_new = v+ + h E, h = Z/m dt/2.
 *
 * Collisions take place in the middle of the push, where the velocity belongs to the time level of the fields and of
 * the gas. There the push has two parts: h E and a first turn by half of the angle, then the rest of the turn and h E.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_PUSH_H
#define LARMOR_PHYSICS_PARTICLES_PUSH_H

#include "larmor/grid.h"
#include "larmor/physics/particles/shape.h"

struct lm_particle {
    lm_fix x, y; /* relative to the home tile */
    lm_real vx, vy, vz;
};

/* The fields around a group of particles: component c of node (i, j) is origin[c * area + j * width + i]; nodes may be
 * negative. The components are E_x E_y E_z B_x B_y B_z at the centres, and LM_WINDOW_FACES: -grad p / n on x-faces and
 * on y-faces. For the linear shape E_x and E_y at the centres contain this force, and LM_WINDOW_FACES are E_x and E_y
 * with this force on the faces (lm_join_line). */
enum { LM_WINDOW_E = 0, LM_WINDOW_B = 3, LM_WINDOW_FACES = 6, LM_WINDOW_FIELDS = 8 };
struct lm_window {
    const lm_real *origin;
    int width, area;
};

/* E with the force of the pressure, and B, at a particle. */
struct lm_local_fields {
    lm_real e[3], b[3];
};

/* The numbers of one pass over the particles of a species. */
struct lm_step {
    lm_real kick;        /* h = Z/m dt/2 */
    lm_real rx, ry;      /* displacement by a unit of velocity, in fixed-point cells: dt/dx 2^LM_FRACTION_BITS */
    int move;            /* 0: the particles stay, but the current is still deposited half a displacement away */
    float current_scale; /* 2^16 / bound on |v|; a power of two */
};

/* `kick_dt`, `drift_dt`, `move`, `speed_exponent`: of struct lm_pass (backend/backend.h); inv_dx, inv_dy: 1/dx, 1/dy.
 */
LM_HD struct lm_step lm_step_make(double kick_dt, double drift_dt, int move, int speed_exponent, double charge_to_mass,
                                  double inv_dx, double inv_dy)
{
    struct lm_step s;
    s.kick = (lm_real)(0.5 * kick_dt * charge_to_mass);
    s.rx = (lm_real)(drift_dt * inv_dx * (double)LM_ONE);
    s.ry = (lm_real)(drift_dt * inv_dy * (double)LM_ONE);
    s.move = move;
    s.current_scale = (float)lm_exp2i(16 - speed_exponent);
    return s;
}

/* Gather: the sum over the stencil of wx wy field. The orders along x and y are those of the stencils. */
#define LM_DEFINE_GATHER(suffix, real, fma)                                                                            \
    LM_HD real lm_gather##suffix(int order_x, int order_y, const real *f, int width,                                   \
                                 const struct lm_stencil##suffix *x, const struct lm_stencil##suffix *y)               \
    {                                                                                                                  \
        real sum = 0;                                                                                                  \
        LM_UNROLL                                                                                                      \
        for (int b = 0; b <= order_y; b++) {                                                                           \
            int row = (y->at + b) * width + x->at;                                                                     \
            real r = x->w[0] * f[row];                                                                                 \
            LM_UNROLL                                                                                                  \
            for (int a = 1; a <= order_x; a++)                                                                         \
                r = fma(x->w[a], f[row + a], r);                                                                       \
            sum = b == 0 ? y->w[0] * r : fma(y->w[b], r, sum);                                                         \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

LM_DEFINE_GATHER(, lm_real, lm_rfma)
LM_DEFINE_GATHER(24, float, lm_fmaf)

/* A line of nodes along x or y, `step` elements from one to the next: their E along it at the centres, and the force p
 * on the upper faces. Both become E with this force, for the linear shape. The first and the last node have one
 * neighbour, so the first e and the last of both stay. */
LM_HD void lm_join_line(lm_real *e, lm_real *p, int step, int count)
{
    lm_real below = p[0];
    for (int n = 0; n < count - 1; n++) {
        lm_real *const centre = e + n * step, *const face = p + n * step;
        const lm_real e_here = *centre, p_here = *face;
        *centre = n > 0 ? lm_on_centre(e_here, below, p_here) : e_here;
        *face = lm_on_face(p_here, e_here, centre[step]);
        below = p_here;
    }
}

/* The same for all lines of a window of width x width nodes. `node`, `component`: elements from a node to the next one
 * along x, and from a component to the next one. */
LM_HD void lm_join_window(lm_real *first, int width, int node, int component)
{
    for (int n = 0; n < width; n++) {
        lm_real *const row = first + n * width * node, *const column = first + n * node;
        lm_join_line(row + LM_WINDOW_E * component, row + LM_WINDOW_FACES * component, node, width);
        lm_join_line(column + (LM_WINDOW_E + 1) * component, column + (LM_WINDOW_FACES + 1) * component, width * node,
                     width);
    }
}

/* Gather of a field that is linear between the centres and the faces along an axis: from the centre of the cell and the
 * nearer face, in two lines. `along`, `across`: elements from a node to the next one. */
LM_HD lm_real lm_gather_joined(const lm_real *centre, const lm_real *face, int along, int across,
                               const struct lm_joined *a, const struct lm_stencil *b)
{
    const lm_real *const c = centre + a->centre * along + b->at * across;
    const lm_real *const f = face + a->face * along + b->at * across;
    const lm_real first = lm_rfma(a->on_face, f[0], a->on_centre * c[0]),
                  second = lm_rfma(a->on_face, f[across], a->on_centre * c[across]);
    return lm_rfma(b->w[1], second, b->w[0] * first);
}

/* lm_gather_fields with the linear shape. */
LM_HD void lm_gather_linear(const struct lm_window *win, lm_fix x, lm_fix y, lm_real e[3], lm_real b[3])
{
    const struct lm_stencil cx = lm_centre(1, x), cy = lm_centre(1, y);
    const struct lm_joined ax = lm_joined_of(x, &cx), ay = lm_joined_of(y, &cy);
    const struct lm_corners w = lm_corners_of(&cx, &cy);
    const lm_real *const f = win->origin, *const face = f + LM_WINDOW_FACES * win->area,
                         *const corner = f + cy.at * win->width + cx.at;
    e[0] = lm_gather_joined(f, face, 1, win->width, &ax, &cy);
    e[1] = lm_gather_joined(f + win->area, face + win->area, win->width, 1, &ay, &cx);
    e[2] = lm_gather_corners(corner + (LM_WINDOW_E + 2) * win->area, 1, win->width, &w);
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        b[d] = lm_gather_corners(corner + (LM_WINDOW_B + d) * win->area, 1, win->width, &w);
}

/* lm_gather_fields with the quadratic shape. */
LM_HD void lm_gather_quadratic(const struct lm_window *win, lm_fix x, lm_fix y, lm_real e[3], lm_real b[3])
{
    enum { order = 2 };
    const struct lm_stencil cx = lm_centre(order, x), cy = lm_centre(order, y), fx = lm_face(1, x), fy = lm_face(1, y);
    const lm_real *const f = win->origin, *const pressure = f + LM_WINDOW_FACES * win->area;
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        e[d] = lm_gather(order, order, f + (LM_WINDOW_E + d) * win->area, win->width, &cx, &cy);
        b[d] = lm_gather(order, order, f + (LM_WINDOW_B + d) * win->area, win->width, &cx, &cy);
    }
    e[0] += lm_gather(1, order, pressure, win->width, &fx, &cy);
    e[1] += lm_gather(order, 1, pressure + win->area, win->width, &cx, &fy);
}

/* The fields at (x, y), as in struct lm_local_fields. */
LM_HD void lm_gather_fields(int order, const struct lm_window *win, lm_fix x, lm_fix y, lm_real e[3], lm_real b[3])
{
    if (order == 1)
        lm_gather_linear(win, x, y, e, b);
    else
        lm_gather_quadratic(win, x, y, e, b);
}

/* Boris push: v += h E, rotation by B, v += h E. If E = 0, |v| is conserved to round-off. */
LM_HD void lm_boris(lm_real *u, lm_real *v, lm_real *w, const lm_real e[3], const lm_real b[3], lm_real h)
{
    lm_real vx = lm_rfma(h, e[0], *u), vy = lm_rfma(h, e[1], *v), vz = lm_rfma(h, e[2], *w);
    lm_real tx = h * b[0], ty = h * b[1], tz = h * b[2];
    lm_real s = (lm_real)2 / lm_rfma(tx, tx, lm_rfma(ty, ty, lm_rfma(tz, tz, (lm_real)1)));
    lm_real px = lm_rfma(vy, tz, lm_rfma(-vz, ty, vx));
    lm_real py = lm_rfma(vz, tx, lm_rfma(-vx, tz, vy));
    lm_real pz = lm_rfma(vx, ty, lm_rfma(-vy, tx, vz));
    vx = lm_rfma(s, lm_rfma(py, tz, -pz * ty), vx);
    vy = lm_rfma(s, lm_rfma(pz, tx, -px * tz), vy);
    vz = lm_rfma(s, lm_rfma(px, ty, -py * tx), vz);
    *u = lm_rfma(h, e[0], vx);
    *v = lm_rfma(h, e[1], vy);
    *w = lm_rfma(h, e[2], vz);
}

/* Adds x v x t + y (v x t) x t to v. */
LM_HD void lm_turn(lm_real *u, lm_real *v, lm_real *w, lm_real tx, lm_real ty, lm_real tz, lm_real x, lm_real y)
{
    const lm_real cx = lm_rfma(*v, tz, -*w * ty);
    const lm_real cy = lm_rfma(*w, tx, -*u * tz);
    const lm_real cz = lm_rfma(*u, ty, -*v * tx);
    *u = lm_rfma(x, cx, lm_rfma(y, lm_rfma(cy, tz, -cz * ty), *u));
    *v = lm_rfma(x, cy, lm_rfma(y, lm_rfma(cz, tx, -cx * tz), *v));
    *w = lm_rfma(x, cz, lm_rfma(y, lm_rfma(cx, ty, -cy * tx), *w));
}

/* The first part of lm_boris: v += h E, rotation by 2 atan(t/2). Half of the whole angle 2 atan(t) is
 * 2 atan(t / (1 + sqrt(1 + t^2))), which differs from it by t^3/4. */
LM_HD void lm_boris_first(lm_real *u, lm_real *v, lm_real *w, const lm_real e[3], const lm_real b[3], lm_real h)
{
    const lm_real tx = h * b[0], ty = h * b[1], tz = h * b[2];
    const lm_real t2 = lm_rfma(tx, tx, lm_rfma(ty, ty, tz * tz));
    const lm_real x = (lm_real)1 / lm_rfma((lm_real)0.25, t2, (lm_real)1);
    *u = lm_rfma(h, e[0], *u);
    *v = lm_rfma(h, e[1], *v);
    *w = lm_rfma(h, e[2], *w);
    lm_turn(u, v, w, tx, ty, tz, x, (lm_real)0.5 * x);
}

/* The rest: rotation by 2 atan(t) - 2 atan(t/2), v += h E. Both parts are lm_boris to round-off. */
LM_HD void lm_boris_rest(lm_real *u, lm_real *v, lm_real *w, const lm_real e[3], const lm_real b[3], lm_real h)
{
    const lm_real tx = h * b[0], ty = h * b[1], tz = h * b[2];
    const lm_real t2 = lm_rfma(tx, tx, lm_rfma(ty, ty, tz * tz));
    const lm_real d = (lm_real)1 / (lm_rfma((lm_real)0.25, t2, (lm_real)1) * ((lm_real)1 + t2));
    lm_turn(u, v, w, tx, ty, tz, lm_rfma((lm_real)0.5, t2, (lm_real)1) * d, (lm_real)0.5 * d);
    *u = lm_rfma(h, e[0], *u);
    *v = lm_rfma(h, e[1], *v);
    *w = lm_rfma(h, e[2], *w);
}

/* Advances the velocity from n-1/2 to n+1/2 in the fields at the particle. *dx, *dy: the displacement over the step,
 * fixed point. The caller moves the particle. */
LM_HD void lm_push_in(struct lm_particle *p, const struct lm_local_fields *fields, const struct lm_step *step,
                      lm_fix *dx, lm_fix *dy)
{
    lm_boris(&p->vx, &p->vy, &p->vz, fields->e, fields->b, step->kick);
    *dx = lm_round_product(p->vx, step->rx);
    *dy = lm_round_product(p->vy, step->ry);
}

/* The same with the fields of a window. */
LM_HD void lm_push(int order, struct lm_particle *p, const struct lm_window *win, const struct lm_step *step,
                   lm_fix *dx, lm_fix *dy)
{
    struct lm_local_fields fields;
    lm_gather_fields(order, win, p->x, p->y, fields.e, fields.b);
    lm_push_in(p, &fields, step, dx, dy);
}

/* The same for a particle that has collided: the velocity stands behind the first part of the push in these fields. */
LM_HD void lm_push_rest(struct lm_particle *p, const struct lm_local_fields *fields, const struct lm_step *step,
                        lm_fix *dx, lm_fix *dy)
{
    lm_boris_rest(&p->vx, &p->vy, &p->vz, fields->e, fields->b, step->kick);
    *dx = lm_round_product(p->vx, step->rx);
    *dy = lm_round_product(p->vy, step->ry);
}

/* |v|^2. The scales of the next step follow from its maximum. */
LM_HD lm_real lm_speed2(const struct lm_particle *p)
{
    return lm_rfma(p->vx, p->vx, lm_rfma(p->vy, p->vy, p->vz * p->vz));
}

/* The same as bits of a double: as whole numbers they have the order of the speeds, and NaN stands above all. */
LM_HD uint64_t lm_speed2_bits(const struct lm_particle *p)
{
    return lm_bits((double)lm_speed2(p));
}

/* Adds v of a particle to sums[0..2] and v^2 to sums[3..5], component by component, in units of 1/scale_v and
 * 1/scale_v2. `are_small`, a literal: no term is beyond 2^51 units, and the compiler can make vector instructions. */
LM_HD void lm_add_sums(int are_small, int64_t sums[6], const struct lm_particle *p, double scale_v, double scale_v2)
{
    double v[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        const double term = v[d] * scale_v, square = v[d] * v[d] * scale_v2;
        sums[d] += are_small ? lm_round51(term) : lm_round64(term);
        sums[3 + d] += are_small ? lm_round51(square) : lm_round64(square);
    }
}

#endif
