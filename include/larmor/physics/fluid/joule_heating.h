/* The heat that the electrons get from the resistivity of Ohm's law: the energy that Faraday's law loses, per unit of
 * volume and time (n0 m_p v_A^2 Omega). J lives on the nodes of its components (larmor/grid.h). */
#ifndef LARMOR_PHYSICS_FLUID_JOULE_HEATING_H
#define LARMOR_PHYSICS_FLUID_JOULE_HEATING_H

#include "larmor/physics/fields/side_current.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/fluid/flow.h"

/* The fields from which the heat follows: arrays, all of one stride. */
struct lm_joule_fields {
    struct lm_view b, ji;     /* B; the ion current at the centres */
    struct lm_view external;  /* current outside the plasma; s = 0: none */
    const double *eta;        /* resistivity */
    const uint8_t *clearance; /* lm_stencil_clearance */
    struct lm_field_sides sides;
};

/* J at the node of a component, of the cell at k. */
LM_HD double lm_current(const struct lm_joule_fields *g, long k, int component, const struct lm_ohm *o)
{
    const struct lm_vector j =
        lm_plasma_current(lm_view_at(g->b, k), lm_external_at(g->external, k), o->inv_dx, o->inv_dy);
    return component == 0 ? j.x : component == 1 ? j.y : j.z;
}

LM_HD double lm_square(double v)
{
    return v * v;
}

/* For the left, right, lower and upper neighbour of a cell: 1 where it lies beyond an open or a radiating side, so that
 * its J along the side is that of the cell. */
struct lm_even_neighbours {
    int at[4];
};

LM_HD struct lm_even_neighbours lm_even_neighbours_of(const struct lm_field_sides *s, int nx, int ny, int i, int j)
{
    const struct lm_even_neighbours e = {{lm_cells_inside(s, 0, nx, i - 1) != 0, lm_cells_inside(s, 0, nx, i + 1) != 0,
                                          lm_cells_inside(s, 1, ny, j - 1) != 0,
                                          lm_cells_inside(s, 1, ny, j + 1) != 0}};
    return e;
}

/* J beside the node of a component, towards side number `side` of the cell. */
LM_HD double lm_current_beside(const struct lm_joule_fields *g, long k, int component, struct lm_even_neighbours even,
                               int side, const struct lm_ohm *o)
{
    const long step = (side < 2 ? 1 : g->b.s) * (side % 2 == 0 ? -1 : 1);
    return lm_current(g, even.at[side] && component != side / 2 ? k : k + step, component, o);
}

/* The heat at the node of a component of J, of the cell at k: eta J^2 + eta_H |grad J|^2. The second term is never
 * negative, and its integral is that of -eta_H J lap J. Where the ions feel the resistive E too (`friction` = 0), they
 * take J_i E of the heat. */
LM_HD double lm_heat_at_node(const struct lm_joule_fields *g, long k, int component, struct lm_even_neighbours even,
                             double ji, double eta, const struct lm_ohm *o)
{
    /* cppcheck-suppress negativeIndex ; all five points lie inside the array */
    const double j[9] = {0.0,
                         o->eta_hyper > 0.0 ? lm_current_beside(g, k, component, even, 2, o) : 0.0,
                         0.0,
                         o->eta_hyper > 0.0 ? lm_current_beside(g, k, component, even, 0, o) : 0.0,
                         lm_current(g, k, component, o),
                         o->eta_hyper > 0.0 ? lm_current_beside(g, k, component, even, 1, o) : 0.0,
                         0.0,
                         o->eta_hyper > 0.0 ? lm_current_beside(g, k, component, even, 3, o) : 0.0,
                         0.0};
    const double *const here = j + 4;
    double heat = eta * lm_square(here[0]);
    if (o->eta_hyper > 0.0)
        heat += 0.5 * o->eta_hyper *
                ((lm_square(lm_diff_up(here, 1, o->inv_dx)) + lm_square(lm_diff_down(here, 1, o->inv_dx))) +
                 (lm_square(lm_diff_up(here, 3, o->inv_dy)) + lm_square(lm_diff_down(here, 3, o->inv_dy))));
    return o->friction ? heat : heat - ji * lm_resistive(here, 3, eta, o);
}

/* The heat on the upper face of the cell at k along an axis, with the resistivity that Ohm's law has there. On the
 * face between a body and the plasma there is no resistive E (lm_body_field), hence no heat. */
LM_HD double lm_heat_on_face(const struct lm_joule_fields *g, int axis, long k, enum lm_face_place place,
                             struct lm_even_neighbours even, const struct lm_ohm *o)
{
    const int other = axis == 0 ? 1 : g->b.s;
    const double *const ji = axis == 0 ? g->ji.x : g->ji.y;
    if (place == LM_FACE_INSIDE && !(g->clearance[k] && g->clearance[k + other]))
        return 0.0;
    return lm_heat_at_node(g, k, axis, even, lm_interp_up(ji + k, other), lm_interp_up(g->eta + k, other), o);
}

/* The heat in the cell at k, which is not in a body: half of what is on each of its faces, so that the sum over the
 * cells is what the fields lose. `place`: of the faces on the left, right, lower and upper side of the cell. */
LM_HD double lm_heat_in_cell(const struct lm_joule_fields *g, long k, const enum lm_face_place place[4],
                             struct lm_even_neighbours even, const struct lm_ohm *o)
{
    const double x = lm_heat_on_face(g, 0, k - 1, place[0], even, o) + lm_heat_on_face(g, 0, k, place[1], even, o);
    const double y = lm_heat_on_face(g, 1, k - g->b.s, place[2], even, o) + lm_heat_on_face(g, 1, k, place[3], even, o);
    return 0.5 * x + (0.5 * y + lm_heat_at_node(g, k, 2, even, g->ji.z[k], g->eta[k], o));
}

/* The same for cell (i, j) at k of the nx x ny cells of the domain; 0 in bodies. */
LM_HD double lm_joule_heat(const struct lm_joule_fields *g, const struct lm_sides *sides, int nx, int ny, int i, int j,
                           long k, const struct lm_ohm *o)
{
    const int periodic_x = !lm_has_walls(sides, 0), periodic_y = !lm_has_walls(sides, 1);
    const enum lm_face_place place[4] = {lm_face_place(i - 1, nx, periodic_x), lm_face_place(i, nx, periodic_x),
                                         lm_face_place(j - 1, ny, periodic_y), lm_face_place(j, ny, periodic_y)};
    return g->clearance[k] ? lm_heat_in_cell(g, k, place, lm_even_neighbours_of(&g->sides, nx, ny, i, j), o) : 0.0;
}

#endif
