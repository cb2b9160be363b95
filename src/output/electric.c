#include "output/electric.h"

#include <stdlib.h>
#include <string.h>

#include "config/facts.h"
#include "larmor/body.h"
#include "larmor/physics/fields/side_current.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/numerics/cell_index.h"
#include "output/state.h"

/* Grid arrays of the work, beside those of the result. */
enum {
    B,
    J = B + 3,
    MOTIONAL = J + 3,
    SLIP = MOTIONAL + 3,
    ION_CURRENT,
    DENSITY = ION_CURRENT + 3,
    PER_DENSITY,
    PRESSURE,
    PRESSURE_E,
    ETA = PRESSURE_E + 2,
    ZERO,
    WORK
};

struct maker {
    struct lm_sim *sim;
    struct lm_grid grid;
    struct lm_ohm ohm;
    int walls[2]; /* 1: the domain ends along this axis */
    struct lm_field_sides sides;
    int external; /* 1: there is a current outside the plasma */
    int friction; /* 1: electrons rub on single species */
    int threads;
    double *work[WORK];
    uint8_t *solid;            /* lm_solid_of in bodies, with ghost cells; NULL without bodies */
    struct lm_body_node *node; /* lm_body_nodes; NULL without bodies */
    struct lm_electric *out;
};

static struct lm_view view_of(const struct maker *m, int first)
{
    return (struct lm_view){m->work[first], m->work[first + 1], m->work[first + 2], m->grid.stride};
}

static struct lm_ohm ohm_of(const struct lm_config *c, const struct lm_grid *g)
{
    return (struct lm_ohm){
        .inv_dx = 1 / g->dx, .inv_dy = 1 / g->dy, .eta_hyper = c->fields.eta_hyper, .floor = c->fields.density_floor};
}

/* Fills the ghost cells: images beyond periodic sides; beyond walls the value of the nearest cell. */
static void fill_ghosts(const struct maker *m, double *a)
{
    const struct lm_grid *g = &m->grid;
    if (!m->walls[0] && !m->walls[1]) {
        lm_grid_wrap(g, a);
        return;
    }
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
            const int from_i = m->walls[0] ? lm_nearest_cell(i, g->nx) : i,
                      from_j = m->walls[1] ? lm_nearest_cell(j, g->ny) : j;
            a[lm_at(g, i, j)] = a[lm_at(g, from_i, from_j)];
        }
    lm_grid_wrap(g, a);
}

/* Marks the cells of bodies. Ghost cells as above. */
static int find_bodies(struct maker *m, const struct lm_config *c)
{
    const struct lm_grid *g = &m->grid;
    if (c->body_count == 0)
        return LM_OK;
    uint8_t *mask = malloc(g->cells);
    m->solid = malloc(g->size);
    m->node = malloc(lm_body_node_count(g) * sizeof *m->node);
    int status = mask && m->solid && m->node ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the bodies");
    if (!status)
        status = lm_body_mask(c, mask);
    if (!status)
        status = lm_body_nodes(c, mask, m->node);
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST && !status; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
            const int x = m->walls[0] ? lm_nearest_cell(i, g->nx) : lm_wrap(i, g->nx),
                      y = m->walls[1] ? lm_nearest_cell(j, g->ny) : lm_wrap(j, g->ny);
            const int body = mask[(size_t)y * (size_t)g->nx + (size_t)x] - 1;
            m->solid[lm_at(g, i, j)] = body < 0 ? 0 : lm_solid_of(c->body[body].particles);
        }
    free(mask);
    return status;
}

/* An array; its ghost cells as above. */
static int get(struct maker *m, enum lm_array array, int to)
{
    const int status = lm_sim_get_array(m->sim, array, m->work[to]);
    if (!status)
        fill_ghosts(m, m->work[to]);
    return status;
}

/* B or J_ext, which have ghost cells of their own beyond walls. */
static int get_with_ghosts(struct maker *m, enum lm_array array, int to)
{
    const int status = lm_sim_get_array(m->sim, array, m->work[to]);
    if (!status)
        lm_grid_wrap(&m->grid, m->work[to]);
    return status;
}

static int get_all(struct maker *m)
{
    int status = LM_OK;
    for (int d = 0; d < 3 && !status; d++) {
        status = get_with_ghosts(m, LM_B + d, B + d);
        if (!status && m->external)
            status = get_with_ghosts(m, LM_EXTERNAL_J + d, MOTIONAL + d); /* until find_motional */
        status = status ? status : get(m, LM_J_OLD + d, ION_CURRENT + d);
        status = status ? status : lm_sim_get_array(m->sim, LM_E + d, m->out->e[LM_E_CONVECTION][d]);
    }
    for (int d = 0; d < 2 && !status; d++)
        status = get_with_ghosts(m, LM_PRESSURE_E + d, PRESSURE_E + d);
    status = status ? status : get(m, LM_PRESSURE, PRESSURE);
    status = status ? status : get(m, LM_FLOORED, DENSITY); /* of n, after the pressure */
    status = status ? status : get(m, LM_PER_DENSITY, PER_DENSITY);
    return status ? status : get(m, LM_ETA, ETA);
}

/* J of the plasma, and J x B / n at the centres in place of the current outside. */
static void find_motional(struct maker *m)
{
    const struct lm_grid *g = &m->grid;
    const struct lm_view b = view_of(m, B), j = view_of(m, J), none = {.s = 0},
                         external = m->external ? view_of(m, MOTIONAL) : none;
#pragma omp parallel for num_threads(m->threads)
    for (int y = -1; y <= g->ny; y++)
        for (int x = -1; x <= g->nx; x++) {
            const long k = (long)lm_at(g, x, y);
            const struct lm_vector v = lm_current_in_cell(&m->sides, g->nx, g->ny, x, y, lm_view_at(b, k),
                                                          lm_external_at(external, k), m->ohm.inv_dx, m->ohm.inv_dy);
            m->work[J][k] = v.x, m->work[J + 1][k] = v.y, m->work[J + 2][k] = v.z;
        }
#pragma omp parallel for num_threads(m->threads)
    for (int y = 0; y < g->ny; y++)
        for (int x = 0; x < g->nx; x++) {
            const size_t k = lm_at(g, x, y);
            const struct lm_motional f = lm_motional_field(lm_view_at(j, (long)k), lm_view_at(b, (long)k),
                                                           (struct lm_vector){0, 0, 0}, m->work[PER_DENSITY][k]);
            m->work[MOTIONAL][k] = f.field.x, m->work[MOTIONAL + 1][k] = f.field.y;
            m->work[MOTIONAL + 2][k] = f.field.z, m->work[SLIP][k] = f.slip;
        }
    for (int d = 0; d < 4; d++)
        fill_ghosts(m, m->work[MOTIONAL + d]);
}

/* Ohm's law in one node, at sides and bodies as the solver has it. It is a sum of terms there, too. */
static void apply_in_node(const struct maker *m, const struct lm_ohm_view *all, const struct lm_ohm *ohm, int x, int y,
                          double total[3])
{
    const struct lm_grid *g = &m->grid;
    const int node[2] = {x, y}, cells[2] = {g->nx, g->ny};
    const long k = (long)lm_at(g, x, y), step[2] = {1, g->stride};
    const struct lm_ohm_view here = lm_ohm_view_at(*all, k);
    double resistive[3];
    lm_electric_field(here, ohm, total, resistive);
    for (int axis = 0; axis < 2; axis++)
        if (m->walls[axis] && (node[axis] < 0 || node[axis] == cells[axis] - 1))
            lm_wall_field(axis, node[axis] < 0 ? step[axis] : 0, here, ohm, total, resistive);
    if (m->solid)
        lm_body_field(
            (struct lm_body_view){m->solid + k, m->node + lm_body_node_index(g, x, y), m->work[PER_DENSITY] + k}, here,
            ohm, total, resistive);
}

/* Ohm's law with only some of its terms. `slip` is the number of an array, ZERO for none. The resistivity says also how
 * the other terms count at bodies, so that J is left out where the resistive term is. */
static void apply_ohm(struct maker *m, struct lm_view motional, int slip, enum lm_e_term term)
{
    const struct lm_grid *g = &m->grid;
    const double *const zero = m->work[ZERO];
    const struct lm_view none = {zero, zero, zero, g->stride};
    const int resistive = term == LM_E_RESISTIVE;
    struct lm_ohm_view all = {.motional = motional,
                              .b = view_of(m, B),
                              .j = resistive || !m->solid ? view_of(m, J) : none,
                              .slip = m->work[slip],
                              .eta = resistive || m->solid ? m->work[ETA] : zero};
    struct lm_ohm ohm = m->ohm;
    for (int d = 0; d < 2 && term == LM_E_PRESSURE; d++)
        all.pressure[d] = m->work[PRESSURE_E + d];
    if (!resistive)
        ohm.eta_hyper = 0;
#pragma omp parallel for num_threads(m->threads)
    for (int y = -m->walls[1]; y < g->ny; y++)
        for (int x = -m->walls[0]; x < g->nx; x++) {
            const size_t k = lm_at(g, x, y);
            double total[3];
            apply_in_node(m, &all, &ohm, x, y, total);
            for (int d = 0; d < 3; d++) {
                m->out->e[term][d][k] = total[d];
                m->out->e[LM_E_CONVECTION][d][k] -= total[d];
            }
        }
}

/* The resistive term has the friction with single species, in the place of the motional field. Without `all` only
 * this term is found, because the powers need no other one. */
static int find_terms(struct maker *m, int all)
{
    const double *const zero = m->work[ZERO];
    const struct lm_view none = {zero, zero, zero, m->grid.stride};
    int status = LM_OK;
    if (all) {
        apply_ohm(m, view_of(m, MOTIONAL), SLIP, LM_E_HALL);
        apply_ohm(m, none, ZERO, LM_E_PRESSURE);
    }
    for (int d = 0; d < 3 && m->friction && !status; d++)
        status = get(m, LM_FRICTION_FORCE + d, MOTIONAL + d);
    if (!status)
        apply_ohm(m, m->friction ? view_of(m, MOTIONAL) : none, ZERO, LM_E_RESISTIVE);
    return status;
}

/* J.E at the centres, from the nodes of the components. The motional field is no longer needed. */
static void find_work(struct maker *m, double *const e[3], double *power)
{
    const struct lm_grid *g = &m->grid;
    double *const product[3] = {m->work[MOTIONAL], m->work[MOTIONAL + 1], m->work[MOTIONAL + 2]};
    for (int d = 0; d < 3; d++) {
#pragma omp parallel for num_threads(m->threads)
        for (size_t k = 0; k < g->size; k++)
            product[d][k] = m->work[J + d][k] * e[d][k];
        lm_grid_wrap(g, product[d]); /* the nodes on lower walls are there */
    }
#pragma omp parallel for num_threads(m->threads)
    for (int y = 0; y < g->ny; y++)
        for (int x = 0; x < g->nx; x++) {
            const size_t k = lm_at(g, x, y);
            power[k] = lm_interp_down(product[0] + k, 1) + lm_interp_down(product[1] + k, g->stride) + product[2][k];
        }
}

/* The density that counts in Ohm's law; in voids the floored one. */
static double counted_density(const struct maker *m, size_t k)
{
    const double per_density = m->work[PER_DENSITY][k];
    return per_density > 0 ? 1 / per_density : m->work[DENSITY][k];
}

/* u_e on the upper face of a cell along an axis. It is 0 on faces of bodies and on sides that turn ions back. */
static double electron_velocity(const struct maker *m, int axis, int x, int y)
{
    const struct lm_grid *g = &m->grid;
    const size_t k = lm_at(g, x, y);
    const int s = axis == 0 ? 1 : g->stride, node = axis == 0 ? x : y, last = (axis == 0 ? g->nx : g->ny) - 1;
    if (m->walls[axis] && (node < 0 || node == last) && lm_turns_back(g->sides.of[2 * axis + (node == last)]))
        return 0;
    if (m->solid && lm_touches_body(m->solid + k, axis, g->stride))
        return 0;
    const double counted = 0.5 * (counted_density(m, k) + counted_density(m, k + (size_t)s));
    return lm_interp_up(m->work[ION_CURRENT + axis] + k, s) / lm_interp_up(m->work[DENSITY] + k, s) -
           m->work[J + axis][k] / counted;
}

/* -p_e div u_e, with u_e on the faces; 0 in bodies. */
static void find_compression(struct maker *m, double *power)
{
    const struct lm_grid *g = &m->grid;
    double *const u[2] = {m->work[MOTIONAL], m->work[MOTIONAL + 1]};
#pragma omp parallel for num_threads(m->threads)
    for (int y = -1; y < g->ny; y++)
        for (int x = -1; x < g->nx; x++) {
            for (int axis = 0; axis < 2; axis++)
                u[axis][lm_at(g, x, y)] = electron_velocity(m, axis, x, y);
        }
    const struct lm_view all = {u[0], u[1], u[1], g->stride};
#pragma omp parallel for num_threads(m->threads)
    for (int y = 0; y < g->ny; y++)
        for (int x = 0; x < g->nx; x++) {
            const size_t k = lm_at(g, x, y);
            power[k] = -m->work[PRESSURE][k] * lm_div_down(lm_view_at(all, (long)k), m->ohm.inv_dx, m->ohm.inv_dy);
        }
}

static void find_powers(struct maker *m, double *const e[3])
{
    find_work(m, e, m->out->power[LM_POWER_FIELDS]);
    find_work(m, m->out->e[LM_E_RESISTIVE], m->out->power[LM_POWER_RESISTIVE]);
    find_compression(m, m->out->power[LM_POWER_COMPRESSION]);
}

/* Places the arrays of the result, then those of the work, then the three of E. */
static void lay_out(struct maker *m, double *next, double *e[3])
{
    const size_t size = m->grid.size;
    for (int k = 0; k < 3 * LM_E_TERMS; k++, next += size)
        m->out->e[k / 3][k % 3] = next;
    for (int k = 0; k < LM_POWERS; k++, next += size)
        m->out->power[k] = next;
    for (int k = 0; k < WORK; k++, next += size)
        m->work[k] = next;
    for (int d = 0; d < 3; d++, next += size)
        e[d] = next;
}

int lm_electric_make(struct lm_sim *sim, const struct lm_config *config, int terms, struct lm_electric *out)
{
    enum { ARRAYS = 3 * LM_E_TERMS + LM_POWERS + WORK + 3 };
    _Static_assert((int)ARRAYS < (int)LM_ELECTRIC_ARRAYS, "raise LM_ELECTRIC_ARRAYS");
    struct maker m = {.sim = sim,
                      .grid = lm_config_grid(config),
                      .external = lm_has_external_current(config),
                      .threads = lm_output_threads(config),
                      .out = out};
    double *e[3];
    for (int s = 0; s < config->species_count; s++)
        m.friction |= lm_has_friction(&config->species[s]);
    m.ohm = ohm_of(config, &m.grid);
    for (int axis = 0; axis < 2; axis++)
        m.walls[axis] = lm_has_walls(&m.grid.sides, axis);
    for (int side = 0; side < LM_SIDES; side++)
        m.sides.of[side] = config->boundary_fields[side];
    out->memory = calloc(ARRAYS * m.grid.size, sizeof *out->memory);
    if (!out->memory)
        return lm_fail(LM_FAILED, "not enough memory for the terms of Ohm's law");
    lay_out(&m, out->memory, e);
    int status = get_all(&m);
    if (!status)
        status = find_bodies(&m, config);
    if (!status) {
        for (int d = 0; d < 3; d++)
            memcpy(e[d], out->e[LM_E_CONVECTION][d], m.grid.size * sizeof *e[d]);
        find_motional(&m);
        status = find_terms(&m, terms);
    }
    if (!status)
        find_powers(&m, e);
    free(m.solid);
    free(m.node);
    return status;
}

void lm_electric_free(struct lm_electric *e)
{
    free(e->memory);
    e->memory = NULL;
}
