/* Solid bodies in the fields. A pointer `solid` stands on a cell of an array like the others, with ghost cells. Its
 * elements are 0 in plasma and lm_solid_of in bodies. Ohm's law in the plasma never reads a value inside a body. A
 * pointer `node` stands on the three elements of the cell's nodes of E (larmor/body.h). Moments and smoothing at bodies
 * are in moments.h and smoothing.h.
 *
 * In a node that the surface of a body cuts, the resistivity is a mean of both materials. J along the surface divides
 * itself among them, where E is the same in both: the conductivities add up. So they do along a strip that crosses the
 * surface. E through the surface differs between them, where J is the same: the resistivities add up. So they do over
 * the strips. The strips lie in the middle half of the node's path: with all of the path a disk of the resistivity 50
 * in a plasma of 1 would be too large by 0.09 cells, with its middle line alone a disk of 0.01 would be too large by
 * 0.07.
 *
 * The motional field is averaged from the two cells of the node, and is 0 in cells of bodies. So it is still the
 * adjoint of what the plasma cells read (ohm.h), and the Hall term gives no energy to B. Taken from a cell farther away
 * it does, and B grows without bounds. So it also does if E is 0 where one or both cells of the node are plasma:
 * conductors and insulators take the resistivity away there, and leave the motional field. Where plasma flows into a
 * body, B goes in with it, or a layer of strong B forms. There the plasma's part of a cut node has the resistivity
 * |B|/n in place of the share of the motional field that the node does not have. Otherwise a plasma without resistivity
 * would hold the field in the surface. Where a body gives ions back, no plasma flows in, and such a resistivity would
 * only take energy from B.
 *
 * E_z is 0 on the surface of a conductor, between the nodes of the grid. A node beside the surface, just inside or just
 * outside, takes a multiple of eta J_z from the cells farther out. It does not take their motional field, so a motional
 * field changes the flux through the surface. Therefore the node takes only the part eta^2/(eta^2 + (B/n)^2). The part
 * is nearly 1 where the resistivity is much larger than the Hall term, and there the error is of second order. Where
 * the resistivity is much smaller, the part is nearly 0, and the surface is on the nodes inside.
 */
#ifndef LARMOR_PHYSICS_FIELDS_SOLID_H
#define LARMOR_PHYSICS_FIELDS_SOLID_H

#include "larmor/body.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/physics/fields/void.h"

/* An element of `solid` in a body. `particles`: enum lm_boundary. */
enum { LM_SOLID = 1, LM_SOLID_LETS_IN = 2 /* plasma, and B with it */ };
LM_HD uint8_t lm_solid_of(int particles)
{
    return particles == LM_ABSORBING ? LM_SOLID | LM_SOLID_LETS_IN : LM_SOLID;
}

/* The node of E_`component` lies between its own cell and this other one (E_z at the centre: the same cell). */
LM_HD int lm_across(int component, int s)
{
    return component == 0 ? 1 : component == 1 ? s : 0;
}

/* Whether the node of E_`component` touches a body. */
LM_HD int lm_touches_body(const uint8_t *solid, int component, int s)
{
    return (solid[0] | solid[lm_across(component, s)]) != 0;
}

/* The cell from which a value comes, relative to the node's own one: one cell before to two cells behind, along both
 * axes. */
LM_HD long lm_node_source(int code, int s)
{
    return (code - 1) % 4 - 1 + (long)((code - 1) / 4 - 1) * s;
}

/* The resistivity of a strip of which `part` is in a body. */
LM_HD double lm_strip_eta(int part, double eta_plasma, double eta_body)
{
    const double share = part * (1.0 / LM_NODE_WHOLE), sum = share * eta_plasma + (1.0 - share) * eta_body;
    if (part == LM_NODE_NO_FIELD)
        return 0.0;
    if (part == 0)
        return eta_plasma;
    if (part == LM_NODE_WHOLE)
        return eta_body;
    return sum > 0.0 ? eta_plasma * eta_body / sum : 0.0;
}

/* The part of an edge, or of the cell around a corner, that is open; up to 2. */
LM_HD double lm_open_part(const struct lm_body_node *n)
{
    return 1.0 + n->more * (1.0 / LM_NODE_OPEN);
}

/* dB_z/dt on the corner of a cell, where `whole` is that of a corner without conductors. `n` stands on the cell's
 * nodes; NULL: there are no bodies. */
LM_HD double lm_corner_rate(const struct lm_body_node *n, double whole)
{
    return n == NULL || n[2].more == 0 ? whole : whole / lm_open_part(n + 2);
}

/* What Ohm's law reads at bodies besides: 1/n as lm_per_density (void.h) has it, and the array of the bodies' cells. */
struct lm_body_view {
    const uint8_t *solid;
    const struct lm_body_node *node;
    const double *per_density;
};

LM_HD struct lm_body_view lm_body_view_at(struct lm_body_view b, long k)
{
    b.solid += k;
    b.node += 3 * k;
    b.per_density += k;
    return b;
}

/* The resistivity of a node that a body cuts or that lies in one. `eta` stands on the resistivity of the node's own
 * cell, whose other one is `other` elements away. `hall`: a resistivity that the plasma's part has besides. */
LM_HD double lm_cut_eta(const struct lm_body_node *n, const double *eta, int other, int s, double hall)
{
    double plasma = 0.0, body = 0.0, strip[LM_NODE_PARTS];
    int has_plasma = 0, has_body = 0; /* nothing is read of what has no part */
    LM_UNROLL
    for (int p = 0; p < LM_NODE_PARTS; p++) {
        has_plasma |= n->part[p] < LM_NODE_WHOLE;
        has_body |= n->part[p] > 0 && n->part[p] <= LM_NODE_WHOLE;
    }
    if (has_plasma)
        plasma = n->plasma == LM_NODE_OWN ? lm_interp_up(eta, other) : eta[lm_node_source(n->plasma, s)] + hall;
    if (has_body)
        body = n->body == LM_NODE_OWN ? lm_interp_up(eta, other) : eta[lm_node_source(n->body, s)];
    LM_UNROLL
    for (int p = 0; p < LM_NODE_PARTS; p++)
        strip[p] = lm_strip_eta(n->part[p], plasma, body);
    return 0.25 * ((strip[0] + strip[1]) + (strip[2] + strip[3]));
}

/* The weight that E_z of a neighbour has in a node of LM_NODE_CONDUCTS, from -1 on and below 1; neighbours: -x, +x, -y,
 * +y. */
LM_HD double lm_node_weight(const struct lm_body_node *n, int neighbour)
{
    return ((n->part[neighbour] ^ LM_NODE_WHOLE) - LM_NODE_WHOLE) * (1.0 / LM_NODE_WHOLE);
}

LM_HD int lm_neighbour(int neighbour, int s)
{
    const int step = neighbour < 2 ? 1 : s;
    return neighbour % 2 ? step : -step;
}

/* The part of the resistive E_z of a plasma cell that goes into nodes at the surface of a conductor. `eta`: what the
 * substeps take of the resistivity. */
LM_HD double lm_resistive_part(double eta, struct lm_view b, double per_density)
{
    const double square = eta * eta;
    return square > 0.0 ? square / (square + lm_b_squared(b) * (per_density * per_density)) : 0.0;
}

/* The resistive E_z of the cell `k` elements away that goes into nodes at the surface of a conductor. */
LM_HD double lm_resistive_ez(struct lm_body_view b, struct lm_ohm_view v, const struct lm_ohm *o, int k)
{
    const double eta = lm_substep_eta(v.eta[k], o), e = eta * v.j.z[k];
    return b.solid[k] ? e : lm_resistive_part(eta, lm_view_at(v.b, k), b.per_density[k]) * e;
}

/* What a node of LM_NODE_CONDUCTS has of the cells farther out. */
LM_HD double lm_conductor_ez(const struct lm_body_node *n, struct lm_body_view b, struct lm_ohm_view v,
                             const struct lm_ohm *o)
{
    double e = 0.0;
    LM_UNROLL
    for (int p = 0; p < LM_NODE_PARTS; p++)
        if (n->part[p] != 0) /* nothing is read of others */
            e += lm_node_weight(n, p) * lm_resistive_ez(b, v, o, lm_neighbour(p, v.j.s));
    return e;
}

/* By how much a node of LM_NODE_NARROW has a larger resistivity than the plasma. */
LM_HD double lm_narrow_factor(const struct lm_body_node *n)
{
    double factor = 0.0;
    LM_UNROLL
    for (int p = 0; p < LM_NODE_PARTS; p++)
        factor += (0.25 * LM_NODE_WHOLE) / (LM_NODE_WHOLE - n->part[p]);
    return factor;
}

/* The resistivity of the plasma in such a node; as in lm_cut_eta. */
LM_HD double lm_narrow_eta(const struct lm_body_node *n, const double *eta, int other, int s, double hall)
{
    return n->plasma == LM_NODE_OWN ? lm_interp_up(eta, other) : eta[lm_node_source(n->plasma, s)] + hall;
}

/* What the plasma's part of a cut node has in place of the share of the motional field that is missing. `other`: the
 * node's other cell. */
LM_HD double lm_hall_eta(const struct lm_body_node *n, int other, struct lm_body_view b, struct lm_ohm_view v)
{
    const double missing =
        0.5 * ((b.solid[0] & LM_SOLID_LETS_IN) != 0) + 0.5 * ((b.solid[other] & LM_SOLID_LETS_IN) != 0);
    long from;
    struct lm_vector c;
    if (n->plasma == LM_NODE_OWN || missing == 0.0)
        return 0.0;
    from = lm_node_source(n->plasma, v.j.s);
    c = lm_b_centre(lm_view_at(v.b, from));
    return missing * (lm_sqrt(c.x * c.x + c.y * c.y + c.z * c.z) * b.per_density[from]);
}

/* Replaces E_`d` at a node of a cell that bodies cut or have; E at nodes in the plasma stays. The resistive part that
 * ions feel has nothing of a node between a cell of plasma and one of a body. */
LM_HD void lm_body_node_field(int d, struct lm_body_view b, struct lm_ohm_view v, const struct lm_ohm *o, double *total,
                              double *resistive)
{
    const double *const j = d == 0 ? v.j.x : d == 1 ? v.j.y : v.j.z;
    const struct lm_body_node *const n = b.node + d;
    const int other = lm_across(d, v.j.s), here = b.solid[0] != 0, there = b.solid[other] != 0;
    double own = 0.0;
    if (n->kind == LM_NODE_PLASMA)
        return;
    if (n->kind == LM_NODE_CONDUCTS && d == 2 && !here) {
        *total = (*total - lm_resistive_ez(b, v, o, 0)) + lm_conductor_ez(n, b, v, o);
        return;
    }
    if (n->kind == LM_NODE_CONDUCTS) {
        own = d == 2 ? lm_conductor_ez(n, b, v, o) : 0.0;
    } else if (n->kind != LM_NODE_INSULATES) {
        const double hall = lm_hall_eta(n, other, b, v);
        const double eta = n->kind == LM_NODE_NARROW ? lm_narrow_eta(n, v.eta, other, v.j.s, hall)
                                                     : lm_cut_eta(n, v.eta, other, v.j.s, hall);
        own = lm_substep_eta(eta, o) * (d < 2 ? lm_open_part(n) : 1.0) * j[0];
    }
    if (!(here || there)) {
        const double plasma = lm_resistive(j, v.j.s, lm_substep_eta(lm_interp_up(v.eta, other), o), o);
        *total = (*total - plasma) + own;
    } else {
        *total = here && there ? own : own + 0.5 * lm_surface_field(d, here ? other : 0, v);
        *resistive = here && there ? own : 0.0;
    }
}

/* The same at all nodes of the cell. */
LM_HD void lm_body_field(struct lm_body_view b, struct lm_ohm_view v, const struct lm_ohm *o, double total[3],
                         double resistive[3])
{
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        lm_body_node_field(d, b, v, o, total + d, resistive + d);
}

#endif
