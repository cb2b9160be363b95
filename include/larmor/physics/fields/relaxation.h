/* B where it diffuses faster than the substeps can follow: in insulating bodies, and where the resistivity is large.
 *
 * No current flows in an insulating body: curl B = 0, as if the resistivity were infinite. An explicit method would
 * need many substeps there, and where the resistivity of a plasma or of a body is above lm_ohm.substep_eta. These parts
 * of the domain take one step of diffusion after each step of B, by a stabilised Runge-Kutta method, RKL1 of Meyer,
 * Balsara and Aslam (2012, MNRAS 422, 2102; 2014, J. Comput. Phys. 257, 594). Its stages are operations on neighbouring
 * cells only. In an insulating body B diffuses as far as is stable. Elsewhere the resistivity of this step is the part
 * above lm_ohm.substep_eta, and the substeps have the part below. Other nodes keep their bits.
 *
 * Voids take part in a step that is taken, as insulators. Flux goes through the surface between a void and such a body
 * or plasma in this step. If E were 0 on that surface, B would jump there.
 */
#ifndef LARMOR_PHYSICS_FIELDS_RELAXATION_H
#define LARMOR_PHYSICS_FIELDS_RELAXATION_H

#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/faraday.h"
#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/time_step_limits.h"
#include "larmor/physics/fields/void.h"

/* A step has LM_LEAST_RELAXATION_STAGES stages, or more where the resistivity needs more, in multiples of
 * LM_RELAXATION_EXCHANGE: between two exchanges of the halo (src/ranks/halo.h) there are so many, as a stage reads the
 * cells beside. */
enum { LM_LEAST_RELAXATION_STAGES = 16, LM_RELAXATION_EXCHANGE = 8, LM_MOST_RELAXATION_STAGES = 256 };

/* The share of the largest stable step that is taken. */
#define LM_RELAXATION_SAFETY 0.9

/* Stage `number`, from 1 on: Y = Y_1 + gain (Y_1 - Y_2) - rate curl E, where E is J in insulators, and Y_1, Y_2 are the
 * results of the last stage and of the one before. All s stages together are a step of diffusion of (s^2 + s)/2
 * explicit steps. */
struct lm_relaxation_stage {
    double gain, rate;
};

LM_HD struct lm_relaxation_stage lm_relaxation_stage(int number, double k2)
{
    struct lm_relaxation_stage s;
    s.gain = (number - 1.0) / number;
    s.rate = LM_RELAXATION_SAFETY * (1.0 + s.gain) * 2.0 / k2;
    return s;
}

/* E/J for a resistivity of 1 that acts for dt. In an insulator E/J is 1, and it is nowhere larger. */
LM_HD double lm_relaxation_share(double dt, int stages, double k2)
{
    return dt * k2 / (LM_RELAXATION_SAFETY * ((double)stages * (stages + 1)));
}

/* The stages for a largest resistivity of `eta` and a step dt; more than LM_MOST_RELAXATION_STAGES where so many are
 * too few. */
LM_HD int lm_relaxation_stages(double eta, double dt, double k2, const struct lm_ohm *o)
{
    int stages = LM_LEAST_RELAXATION_STAGES;
    while (stages <= LM_MOST_RELAXATION_STAGES &&
           lm_relaxation_share(dt, stages, k2) * (eta - lm_substep_eta(eta, o)) > 1.0)
        stages += LM_RELAXATION_EXCHANGE;
    return stages;
}

/* A component of B after a stage. Where B is `held` (lm_is_held) it keeps its bits. */
LM_HD double lm_relaxed(struct lm_relaxation_stage stage, int held, double last, double before, double rate)
{
    return held ? last : last + (stage.gain * (last - before) + stage.rate * rate);
}

/* Where B diffuses: arrays of one stride, element 0 of each. */
struct lm_relaxation {
    struct lm_view b, external;    /* B; the current outside the plasma, s = 0: none */
    const double *eta;             /* resistivity; NULL: none is above substep_eta, and no insulator is there */
    double substep_eta, eta_share; /* lm_most_in_substeps; lm_relaxation_share */
    struct lm_body_view body;      /* `solid` and `node` are NULL without bodies */
    struct lm_field_sides sides;
    int nx, ny;
    double inv_dx, inv_dy;
};

/* The largest resistivity in the substeps. */
LM_HD double lm_most_in_substeps(const struct lm_ohm *o)
{
    return o->substep_eta > 0.0 ? o->substep_eta : 1e300;
}

/* The resistivity of the node of a component of the cell at k that is above that of the substeps. A cut node has no
 * part here that stands for the Hall term (solid.h). */
LM_HD double lm_relaxed_eta(const struct lm_relaxation *f, int component, long k)
{
    const int other = lm_across(component, f->b.s);
    const struct lm_body_node *const n = f->body.node != NULL ? f->body.node + 3 * k + component : NULL;
    if (n != NULL && n->kind == LM_NODE_NARROW) {
        const double eta = lm_narrow_eta(n, f->eta + k, other, f->b.s, 0.0);
        return lm_narrow_factor(n) * eta - lm_min(eta, f->substep_eta);
    }
    if (n != NULL && n->kind == LM_NODE_CUT)
        return lm_cut_eta(n, f->eta + k, other, f->b.s, 0.0) - f->substep_eta;
    return lm_interp_up(f->eta + k, other) - f->substep_eta;
}

/* E/J at such a node, without voids. */
LM_HD double lm_eta_in_relaxation(const struct lm_relaxation *f, int component, long k)
{
    const double share = f->eta_share * lm_relaxed_eta(f, component, k);
    return share > 0.0 ? lm_min(share, 1.0) : 0.0;
}

/* The same where there may be a void: 1 if one of the two cells of the node is void or the node is in an insulator. */
LM_HD double lm_node_in_relaxation(const struct lm_relaxation *f, int component, long k)
{
    const int kind = f->body.node != NULL ? f->body.node[3 * k + component].kind : LM_NODE_PLASMA;
    const double *const n = f->body.per_density + k;
    if (kind == LM_NODE_INSULATES)
        return 1.0;
    if (kind == LM_NODE_CONDUCTS)
        return 0.0;
    if (n[0] == 0.0 || n[lm_across(component, f->b.s)] == 0.0)
        return 1.0;
    return f->eta != NULL ? lm_eta_in_relaxation(f, component, k) : 0.0;
}

/* E_z in a node of LM_NODE_CONDUCTS (lm_conductor_ez). `b` stands on B there; its stride may differ from that of the
 * other arrays. */
LM_HD double lm_relaxed_conductor_ez(const struct lm_relaxation *f, long k, struct lm_view b, int *touched)
{
    const struct lm_body_node *const n = f->body.node + 3 * k + 2;
    double e = 0.0;
    LM_UNROLL
    for (int p = 0; p < LM_NODE_PARTS; p++) {
        const long at = k + lm_neighbour(p, f->b.s);
        const double share = n->part[p] != 0 ? lm_node_in_relaxation(f, 2, at) : 0.0;
        if (share == 0.0)
            continue;
        *touched = 1;
        e += lm_node_weight(n, p) * (share * lm_plasma_current(lm_view_at(b, lm_neighbour(p, b.s)),
                                                               lm_external_at(f->external, at), f->inv_dx, f->inv_dy)
                                                 .z);
    }
    return e;
}

/* The same for what Faraday's law takes: for the open part of the node's edge. */
LM_HD double lm_open_share(const struct lm_relaxation *f, int component, long k)
{
    const double share = lm_node_in_relaxation(f, component, k);
    return component < 2 && f->body.node != NULL ? share * lm_open_part(f->body.node + 3 * k + component) : share;
}

/* How E_`component` of a cell follows in the diffusion from J in the cell inside (x, y), at element k. */
enum lm_relaxation_kind { LM_RELAXES_NOT, LM_RELAXES, LM_RELAXES_CONDUCTOR };

struct lm_relaxation_node {
    int kind; /* enum lm_relaxation_kind: E is 0, factor times J, or factor times lm_relaxed_conductor_ez */
    int x, y;
    long k;
    double factor;
};

LM_HD struct lm_relaxation_node lm_relaxation_node(const struct lm_relaxation *f, int component, int i, int j)
{
    struct lm_relaxation_node n;
    int sign = 1;
    double share;
    n.x = lm_inside_node(&f->sides, 0, f->nx, component == 0, i, &sign);
    n.y = lm_inside_node(&f->sides, 1, f->ny, component == 1, j, &sign);
    n.k = (long)(n.y + LM_GHOST) * f->b.s + (n.x + LM_GHOST);
    n.kind = LM_RELAXES_CONDUCTOR;
    n.factor = sign;
    if (component == 2 && f->body.node != NULL && f->body.node[3 * n.k + 2].kind == LM_NODE_CONDUCTS)
        return n;
    share = lm_open_share(f, component, n.k);
    n.kind = share == 0.0 || lm_is_open_face(&f->sides, component, i, j, f->nx, f->ny) ? LM_RELAXES_NOT : LM_RELAXES;
    n.factor = sign * share;
    return n;
}

/* E_`component` at such a node. `b` stands on B in the cell inside. *touched is set where it may differ from 0. */
LM_HD double lm_relaxation_node_e(const struct lm_relaxation *f, int component, int kind, double factor, long k,
                                  struct lm_view b, int *touched)
{
    struct lm_vector current;
    if (kind == LM_RELAXES_NOT)
        return 0.0;
    if (kind == LM_RELAXES_CONDUCTOR)
        return factor * lm_relaxed_conductor_ez(f, k, b, touched);
    *touched = 1;
    current = lm_plasma_current(b, lm_external_at(f->external, k), f->inv_dx, f->inv_dy);
    return factor * (component == 0 ? current.x : component == 1 ? current.y : current.z);
}

/* The same for the node of cell (i, j). */
LM_HD double lm_relaxation_e(const struct lm_relaxation *f, int component, int i, int j, int *touched)
{
    const struct lm_relaxation_node n = lm_relaxation_node(f, component, i, j);
    return lm_relaxation_node_e(f, component, n.kind, n.factor, n.k, lm_view_at(f->b, n.k), touched);
}

/* Whether B does not diffuse at the seven nodes that the rate of B in cell (i, j) depends on, as far as it is quickly
 * seen. */
LM_HD int lm_is_at_rest(const struct lm_relaxation *f, int i, int j)
{
    const long k = (long)(j + LM_GHOST) * f->b.s + (i + LM_GHOST), up = k + f->b.s;
    const double *const n = f->body.per_density, *const eta = f->eta, most = f->substep_eta;
    const struct lm_body_node *const node = f->body.node;
    if (i < 0 || i >= f->nx - 1 || j < 0 || j >= f->ny - 1)
        return 0;
    if (n[k] == 0.0 || n[k + 1] == 0.0 || n[up] == 0.0 || n[up + 1] == 0.0)
        return 0;
    if (eta != NULL && (eta[k] > most || eta[k + 1] > most || eta[up] > most || eta[up + 1] > most))
        return 0;
    return node == NULL || (node[3 * k].kind | node[3 * k + 1].kind | node[3 * k + 2].kind | node[3 * k + 4].kind |
                            node[3 * k + 5].kind | node[3 * up].kind | node[3 * up + 2].kind) == LM_NODE_PLASMA;
}

/* -curl E in cell (i, j). Returns whether B diffuses at a node of it; else the rate is 0. */
LM_HD int lm_relaxation_rate(const struct lm_relaxation *f, int i, int j, struct lm_vector *rate)
{
    const long k = (long)(j + LM_GHOST) * f->b.s + (i + LM_GHOST);
    int touched = 0;
    rate->x = rate->y = rate->z = 0.0;
    if (lm_is_at_rest(f, i, j))
        return 0;
    const double x[3] = {lm_relaxation_e(f, 0, i, j, &touched), 0.0, lm_relaxation_e(f, 0, i, j + 1, &touched)},
                 y[3] = {lm_relaxation_e(f, 1, i, j, &touched), lm_relaxation_e(f, 1, i + 1, j, &touched), 0.0},
                 z[3] = {lm_relaxation_e(f, 2, i, j, &touched), lm_relaxation_e(f, 2, i + 1, j, &touched),
                         lm_relaxation_e(f, 2, i, j + 1, &touched)};
    const struct lm_view e = {x, y, z, 2};
    *rate = lm_faraday(e, f->inv_dx, f->inv_dy);
    if (f->body.node != NULL)
        rate->z = lm_corner_rate(f->body.node + 3 * k, rate->z);
    return touched;
}

#endif
