/* What the configuration means on the grid: backend setup, B, profiles of the species. */
#include "sim/setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "larmor/physics/fields/wall.h"
#include "larmor/physics/fields/fields.h"
#include "config/facts.h"
#include "base/expr.h"
#include "base/expr_scan.h"
#include "base/try.h"

/* Large tiles have few nodes a particle, small ones leave more room in shared memory. Chosen on an H200; a CPU is as
 * fast with either. */
static int tile_for(const struct lm_config *c)
{
    double most = 0, few = c->particles.shape == LM_LINEAR ? 64 : 16;
    for (int k = 0; k < c->species_count; k++)
        most = fmax(most, c->species[k].particles_per_cell);
    return most <= few ? 16 : 8;
}

static struct lm_background background_of(const struct lm_background_config *c)
{
    struct lm_background b = {.scheme = c->scheme,
                              .single = c->single,
                              .limited = c->limited,
                              .least = c->least,
                              .most = c->most,
                              .diffusivity = c->diffusivity,
                              .flow = c->flow,
                              .gains = c->gains,
                              .has_source = lm_background_has_source(c)};
    for (int side = 0; side < LM_SIDES; side++)
        b.sides[side] = c->sides[side];
    return b;
}

/* The value of an expression at a place at the start; 0 where there is none. */
static double value_at(const struct lm_config *c, const char *text, double x, double y)
{
    double value = 0;
    return lm_expr_at_least(c->names, text, 1, &x, &y, 0.0, -INFINITY, &value) ? 0 : value;
}

/* gamma T of the ions for a unit of charge in the middle of a side at the start. Waves that compress ions across B do
 * so in two dimensions: gamma = 2. */
static double side_temperature(const struct lm_config *c, int side)
{
    const double x = side < LM_Y_MIN ? (side == LM_X_MAX) * c->grid.lx : 0.5 * c->grid.lx,
                 y = side < LM_Y_MIN ? 0.5 * c->grid.ly : (side == LM_Y_MAX) * c->grid.ly;
    double pressure = 0, charge = 0;
    for (int k = 0; k < c->species_count; k++) {
        const struct lm_species_config *s = &c->species[k];
        const int across = s->temperature_kind == LM_TEMPERATURE_FIELD_ALIGNED ? 1 : 2;
        const double n = value_at(c, s->density, x, y);
        charge += s->charge * n;
        for (int d = 0; d < 3; d++)
            pressure += n * value_at(c, s->temperature[d < across ? d : across], x, y) / 3;
    }
    return charge > 0 ? 2 * pressure / charge : 0;
}

static int has_layer(const struct lm_config *c)
{
    int layers = 0;
    for (int side = 0; side < LM_SIDES; side++)
        layers |= c->layer[side] > 0;
    return layers;
}

/* The largest resistivity outside bodies, or infinite where it is no number. */
static double plasma_eta(const struct lm_config *c, const struct lm_setup *s)
{
    double eta = 0;
    if (s->local_eta || lm_expr_value(c->names, c->fields.eta, &eta))
        return INFINITY;
    return has_layer(c) ? eta + c->layer_eta : eta;
}

/* lm_ohm.substep_eta. The heat of evolved electrons is of second order, and the relaxation of B is not, so that a
 * resistivity that heats them stays in the substeps. That of bodies heats no electrons. */
static double substep_eta(const struct lm_config *c, const struct lm_setup *s)
{
    const double most = lm_substep_eta_of(&s->grid, c->run.dt);
    return s->ohm.evolved && plasma_eta(c, s) > most ? 0 : most;
}

struct lm_setup lm_setup_of(const struct lm_config *c)
{
    struct lm_setup s = {.grid = lm_config_grid(c),
                         .shape = c->particles.shape,
                         .precision = c->particles.precision,
                         .external_current = lm_has_external_current(c),
                         .local_eta = lm_has_local_eta(c),
                         .smoothing = c->fields.smoothing,
                         .tile = c->run.tile > 0 ? c->run.tile : tile_for(c),
                         .threads = c->run.threads,
                         .rebalance = c->run.rebalance,
                         .halo_cells = c->run.halo,
                         .rank_limit = c->run.rank_limit,
                         .gpu_exchange = (enum lm_gpu_exchange)c->run.gpu_exchange,
                         .seed = c->run.seed,
                         .species_count = c->species_count};
    s.ohm = (struct lm_ohm){.inv_dx = 1.0 / s.grid.dx,
                            .inv_dy = 1.0 / s.grid.dy,
                            .eta_hyper = c->fields.eta_hyper,
                            .floor = c->fields.density_floor,
                            .alfven_floor = lm_alfven_floor(&s.grid, c->run.dt),
                            .temperature = c->electrons.temperature,
                            .gamma = c->electrons.closure == LM_ISOTHERMAL ? 1.0 : c->electrons.gamma,
                            .evolved = c->electrons.closure == LM_EVOLVED,
                            .friction = c->fields.electron_friction};
    s.ohm.thin_frequency = (c->fields.max_substeps - 0.5) * c->fields.substep_safety / c->run.dt;
    s.ohm.thermal_floor = s.ohm.evolved ? lm_thermal_floor(&s.grid, s.ohm.gamma, c->run.dt) : 0;
    for (int k = 0; k < c->species_count; k++) {
        const struct lm_species_config *p = &c->species[k];
        s.species[k] = (struct lm_backend_species){.charge = p->charge,
                                                   .mass = p->mass,
                                                   .weight = 1.0 / p->particles_per_cell,
                                                   .has_gas = p->gas_field >= 0,
                                                   .exchanges = p->electron_heat_exchange_rate > 0,
                                                   .stopping = p->stopping.lookup};
        s.ohm.few = fmax(s.ohm.few, LM_FEW * p->charge / p->particles_per_cell);
        s.friction_species += lm_has_friction(p);
        s.pushed_species += lm_is_forced(p) || lm_has_friction(p);
        for (int side = 0; side < LM_SIDES; side++)
            if (c->boundary[side] == LM_THERMAL)
                s.species[k].thermal[side] = sqrt(c->boundary_temperature[side] / p->mass);
        for (int body = 0; body < c->body_count; body++)
            if (c->body[body].particles == LM_THERMAL)
                s.species[k].thermal[LM_SIDES + body] = sqrt(c->body[body].temperature / p->mass);
    }
    s.local_eta |= s.friction_species > 0;
    s.ohm.substep_eta = substep_eta(c, &s);
    s.conductivity = (struct lm_conductivity){c->electrons.conductivity, c->electrons.conductivity_across};
    s.background_count = c->background_count;
    for (int k = 0; k < c->background_count; k++)
        s.background[k] = background_of(&c->background[k]);
    s.ionisation_count = c->ionisation_count;
    for (int k = 0; k < c->ionisation_count; k++)
        s.ionisation[k] = (struct lm_ionisation){c->ionisation[k].into, c->ionisation[k].from};
    for (int side = 0; side < LM_SIDES; side++) {
        s.field_sides[side] = c->boundary_fields[side];
        if (s.field_sides[side] == LM_RADIATING)
            s.side_temperature[side] = side_temperature(c, side);
    }
    s.bodies.count = c->body_count;
    for (int k = 0; k < c->body_count; k++) {
        s.bodies.particles[k] = c->body[k].particles;
        s.bodies.fields[k] = c->body[k].fields;
    }
    return s;
}

/* The values of an expression at the centres; `array` is filled only where they differ. */
static int give(const struct lm_config *c, const char *text, double *array, struct lm_given *out)
{
    const struct lm_grid g = lm_config_grid(c);
    *out = (struct lm_given){NULL, 0};
    if (!lm_expr_value(c->names, text, &out->everywhere))
        return LM_OK;
    out->array = array;
    return lm_expr_fill(c->names, text, &g, (struct lm_cell_offset){0, 0}, array);
}

/* A profile that must not be negative. The reader of the configuration looks at some cells only where they are many. */
static int check_sign(const struct lm_config *c, const char *section, const char *key, const struct lm_given *a)
{
    const struct lm_grid g = lm_config_grid(c);
    for (int j = 0; j < (a->array ? g.ny : 1); j++)
        for (int i = 0; i < (a->array ? g.nx : 1); i++) {
            const double value = lm_given_at(a, lm_at(&g, i, j));
            if (value < 0)
                return lm_fail(LM_BAD_INPUT, "%s: %s.%s: %.10g at x = %.10g, y = %.10g; the least allowed is 0",
                               c->file, section, key, value, (i + 0.5) * g.dx, (j + 0.5) * g.dy);
        }
    return LM_OK;
}

static int is_nothing(const char *potential)
{
    return !potential[0] || lm_is_zero(potential);
}

/* b[0], b[1] += curl(A_z z) of a potential: A_z is taken at the centres on both sides of a face, also across the
 * domain's edge. */
static int add_curl(const struct lm_config *c, const char *potential, const struct lm_grid *g, double *const b[3])
{
    if (is_nothing(potential))
        return LM_OK;
    double *a = malloc(3 * g->size * sizeof *a);
    if (!a)
        return lm_fail(LM_FAILED, "not enough memory for the vector potential");
    double *up = a + g->size, *right = up + g->size;
    int status = lm_expr_fill(c->names, potential, g, (struct lm_cell_offset){0, 0}, a);
    if (!status)
        status = lm_expr_fill(c->names, potential, g, (struct lm_cell_offset){0, 1}, up);
    if (!status)
        status = lm_expr_fill(c->names, potential, g, (struct lm_cell_offset){1, 0}, right);
    for (size_t k = 0; k < g->size && !status; k++) {
        b[0][k] += (up[k] - a[k]) / g->dy;
        b[1][k] -= (right[k] - a[k]) / g->dx;
    }
    free(a);
    return status;
}

/* What a potential gains over the whole domain along an axis (0: x) must not change from cell to cell along the side,
 * or its curl does not go on beyond the side. `change`: by how much it changes at most. */
static int change_along_side(const struct lm_config *c, const char *potential, const struct lm_grid *g, int axis,
                             double *change)
{
    double *a = malloc(2 * g->size * sizeof *a), before = 0;
    if (!a)
        return lm_fail(LM_FAILED, "not enough memory for the vector potential");
    double *next = a + g->size;
    int status = lm_expr_fill(c->names, potential, g, (struct lm_cell_offset){0, 0}, a);
    if (!status)
        status = lm_expr_fill(c->names, potential, g, (struct lm_cell_offset){axis == 0, axis == 1}, next);
    *change = 0;
    for (int k = 0; k < (axis ? g->nx : g->ny) && !status; k++) {
        const size_t first = axis ? lm_at(g, k, 0) : lm_at(g, 0, k);
        const size_t last = axis ? lm_at(g, k, g->ny - 1) : lm_at(g, g->nx - 1, k);
        const double gain = next[last] - a[first];
        *change = k > 0 ? fmax(*change, fabs(gain - before)) : 0;
        before = gain;
    }
    free(a);
    return status;
}

/* The first potential that gives B a divergence above `most` at periodic sides: its key and axes. axes NULL: none. */
static int find_unfitting(const struct lm_config *c, const struct lm_grid *g, double most, const char **key,
                          const char **axes)
{
    static const char *const words[] = {NULL, "x", "y", "x and y"};
    const char *const keys[] = {"fields.az", "external.az"}, *const texts[] = {c->fields.az, c->external.az};
    *key = *axes = NULL;
    for (int k = 0; k < 2 && !*axes; k++) {
        int wrong = 0;
        for (int axis = 0; axis < 2 && texts[k][0]; axis++) {
            double change = 0;
            if (c->boundary[axis ? LM_Y_MIN : LM_X_MIN] != LM_PERIODIC)
                continue;
            const int status = change_along_side(c, texts[k], g, axis, &change);
            if (status)
                return status;
            wrong |= (change > most * g->dx * g->dy) << axis;
        }
        *key = keys[k];
        *axes = words[wrong];
    }
    return LM_OK;
}

static int check_div_b(const struct lm_config *c, const struct lm_grid *g, double *const b[3])
{
    struct lm_view view = {b[0], b[1], b[2], g->stride};
    double worst = 0, scale = 0;
    int wi = 0, wj = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            double div = fabs(lm_div_b(lm_view_at(view, (long)k), 1.0 / g->dx, 1.0 / g->dy));
            scale = fmax(scale, fmax(fabs(b[0][k]), fabs(b[1][k])) / fmin(g->dx, g->dy));
            if (div > worst) {
                worst = div;
                wi = i, wj = j;
            }
        }
    if (worst <= 1e-9 * scale)
        return LM_OK;
    char advice[LM_MAX_MESSAGE / 4];
    const char *key, *axes;
    LM_TRY(find_unfitting(c, g, 1e-9 * scale, &key, &axes));
    lm_config_advise_div_b(c, sizeof advice, advice);
    if (axes)
        return lm_fail(LM_BAD_INPUT,
                       "%s: %s: it is not periodic along %s, as the domain is, so div B is not zero: %.3g at x = %g, y "
                       "= %g (|B|/cell is %.3g). Make it periodic along %s (a constant slope may be added), or choose "
                       "sides that are not periodic for %s%s",
                       c->file, key, axes, worst, (wi + 1) * g->dx, (wj + 1) * g->dy, scale, axes, axes, advice);
    return lm_fail(LM_BAD_INPUT,
                   "%s: fields.bx, fields.by%s: div B is not zero: %.3g at x = %g, y = %g (|B|/cell is %.3g). Give the "
                   "part that varies as fields.az, which is free of divergence, and see that B is periodic%s",
                   c->file, lm_has_magnets(c) ? ", external.az" : "", worst, (wi + 1) * g->dx, (wj + 1) * g->dy, scale,
                   advice);
}

int lm_setup_add_magnets(const struct lm_config *c, double *const b[3])
{
    const struct lm_grid g = lm_config_grid(c);
    double *bz = malloc(g.size * sizeof *bz);
    int status = bz ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the field of magnets");
    if (!status)
        status = lm_expr_fill(c->names, c->external.bz, &g, lm_places_of_b[2], bz);
    for (size_t k = 0; k < g.size && !status; k++)
        b[2][k] += bz[k];
    free(bz);
    if (!status)
        status = add_curl(c, c->external.az, &g, b);
    for (int d = 0; d < 3 && !status; d++)
        lm_grid_wrap(&g, b[d]);
    return status;
}

int lm_setup_b(const struct lm_config *c, double *b[3])
{
    struct lm_grid g = lm_config_grid(c);
    int status = LM_OK;
    for (int d = 0; d < 3 && !status; d++)
        status = lm_expr_fill(c->names, c->fields.b[d], &g, lm_places_of_b[d], b[d]);
    if (!status)
        status = add_curl(c, c->fields.az, &g, b);
    if (!status && lm_has_magnets(c))
        status = lm_setup_add_magnets(c, b);
    for (int d = 0; d < 3 && !status; d++)
        lm_grid_wrap(&g, b[d]);
    return status ? status : check_div_b(c, &g, b);
}

int lm_setup_b_is_uniform(const struct lm_config *c, double b[3])
{
    int uniform = is_nothing(c->fields.az) && !lm_has_magnets(c);
    for (int d = 0; d < 3 && uniform; d++)
        uniform = !lm_expr_value(c->names, c->fields.b[d], &b[d]);
    return uniform;
}

/* Unit vectors along B at the centres; x where B = 0. */
static void direction(const struct lm_grid *g, double *const b[3], double *out[3])
{
    struct lm_view view = {b[0], b[1], b[2], g->stride};
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            struct lm_vector c = lm_b_centre(lm_view_at(view, (long)k));
            double size = sqrt(c.x * c.x + c.y * c.y + c.z * c.z);
            out[0][k] = size > 0 ? c.x / size : 1;
            out[1][k] = size > 0 ? c.y / size : 0;
            out[2][k] = size > 0 ? c.z / size : 0;
        }
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, out[d]);
}

int lm_setup_loading(const struct lm_config *c, int species, double *const b[3], double *store, struct lm_loading *out)
{
    const struct lm_species_config *s = &c->species[species];
    const struct lm_grid g = lm_config_grid(c);
    double *along[3];
    char section[LM_MAX_NAME + 16];
    snprintf(section, sizeof section, "species.%s", s->name);
    const int aligned = s->temperature_kind == LM_TEMPERATURE_FIELD_ALIGNED;
    *out = (struct lm_loading){.particles_per_cell = s->particles_per_cell, .start = s->start, .seed = c->run.seed};
    LM_TRY(give(c, s->density, store, &out->density));
    LM_TRY(check_sign(c, section, "density", &out->density));
    for (int d = 0; d < 3; d++) {
        /* field-aligned: [0] along, [1] across; both directions across are alike */
        const char *const text = s->temperature[aligned && d == 2 ? 1 : d];
        struct lm_given *const t = &out->temperature[d];
        double *const temperature = store + (size_t)(4 + d) * g.size;
        along[d] = store + (size_t)(7 + d) * g.size;
        LM_TRY(give(c, s->drift[d], store + (size_t)(1 + d) * g.size, &out->drift[d]));
        LM_TRY(give(c, text, temperature, t));
        LM_TRY(check_sign(c, section, "temperature", t));
        t->everywhere /= s->mass;
        for (size_t k = 0; k < g.size && t->array; k++)
            temperature[k] /= s->mass;
        out->b[d] = aligned ? along[d] : NULL;
    }
    if (aligned)
        direction(&g, b, along);
    return LM_OK;
}

/* Resistivity of the layers before sides: it grows with the square of the depth in a layer; where two meet, the larger
 * one counts. */
static double layer_eta(const struct lm_config *c, const struct lm_grid *g, int i, int j)
{
    const double x = (i + 0.5) * g->dx, y = (j + 0.5) * g->dy;
    const double from[LM_SIDES] = {x, g->lx - x, y, g->ly - y}; /* negative beyond a side */
    double deepest = 0;
    for (int side = 0; side < LM_SIDES; side++)
        if (c->layer[side] > 0)
            deepest = fmax(deepest, fmin(1 - from[side] / c->layer[side], 1));
    return c->layer_eta * deepest * deepest;
}

/* Largest eta k^2 dt of a transparent body: some ten substeps. */
static const double TRANSPARENT = 20;

/* Puts a body's resistivity into its cells, and into their ghosts. */
static int add_body_eta(const struct lm_config *c, const struct lm_grid *g, const uint8_t *mask, int body, double *work,
                        double *eta)
{
    const struct lm_body_config *b = &c->body[body];
    const double k2 = lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy);
    const double transparent = k2 > 0 ? TRANSPARENT / (k2 * c->run.dt) : 0;
    char section[LM_MAX_NAME + 16];
    int status = LM_OK;
    snprintf(section, sizeof section, "body.%s", b->name);
    if (b->fields == LM_BODY_RESISTIVE)
        status = lm_expr_fill(c->names, b->resistivity, g, (struct lm_cell_offset){0, 0}, work);
    if (!status && b->fields == LM_BODY_RESISTIVE)
        status = check_sign(c, section, "resistivity", &(struct lm_given){work, 0});
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST && !status; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
            int sign = 1, x = lm_cell_inside(&g->sides, 0, g->nx, 0, i, &sign),
                y = lm_cell_inside(&g->sides, 1, g->ny, 0, j, &sign);
            if (mask[(size_t)y * (size_t)g->nx + (size_t)x] != body + 1)
                continue;
            size_t k = lm_at(g, i, j);
            eta[k] = b->fields == LM_BODY_RESISTIVE ? work[k] : b->fields == LM_BODY_TRANSPARENT ? transparent : 0;
        }
    return status;
}

/* The part of the resistivity that does not depend on the plasma. */
static const char *given_eta(const struct lm_config *c)
{
    return lm_has_local_eta(c) ? "0" : c->fields.eta;
}

int lm_setup_eta_is_uniform(const struct lm_config *c, double *eta)
{
    return c->body_count == 0 && !has_layer(c) && !lm_expr_value(c->names, given_eta(c), eta) && *eta >= 0;
}

int lm_setup_eta(const struct lm_config *c, const uint8_t *mask, double *eta)
{
    struct lm_grid g = lm_config_grid(c);
    double *work = malloc(g.size * sizeof *work);
    int status = work ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the resistivity");
    if (!status)
        status = lm_expr_fill(c->names, given_eta(c), &g, (struct lm_cell_offset){0, 0}, eta);
    if (!status)
        status = check_sign(c, "fields", "eta", &(struct lm_given){eta, 0});
    for (int j = -LM_GHOST; j < g.ny + LM_GHOST && !status; j++)
        for (int i = -LM_GHOST; i < g.nx + LM_GHOST; i++)
            eta[lm_at(&g, i, j)] += layer_eta(c, &g, i, j);
    for (int body = 0; body < c->body_count && mask && !status; body++)
        status = add_body_eta(c, &g, mask, body, work, eta);
    free(work);
    return status;
}
