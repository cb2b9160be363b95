/* `larmor check`: what a run would need and how far it stays from each limit. Nothing is run and nothing written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "keys.h"
#include "larmor/physics/bounds.h"
#include "larmor/run.h"
#include "larmor/surfaces.h"
#include "sides.h"

/* What the limits are made of: extremes of the initial state. */
struct extremes {
    double b, n_min, frequency, gyration; /* max |B|, min electron density, max grid frequency, max Z |B|/m */
    double speed[LM_MAX_SPECIES];         /* drift + 5 thermal speeds; or the bound on what enters or is re-emitted */
    double thermal[LM_MAX_SPECIES], temperature[LM_MAX_SPECIES];
    uint64_t count[LM_MAX_SPECIES];
    double least_per_cell; /* particles of all species in the emptiest cell */
};

/* 1 where there is plasma; `mask` as in struct lm_bodies, or NULL. */
static int is_plasma(const struct lm_grid *g, const uint8_t *mask, int i, int j)
{
    return !mask || mask[(size_t)j * (size_t)g->nx + (size_t)i] == 0;
}

static double top(const struct lm_grid *g, const double *a)
{
    double m = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            m = fmax(m, fabs(a[lm_at(g, i, j)]));
    return m;
}

/* What a run takes as the largest speed of what enters or is re-emitted. */
static double new_speed(const struct lm_config *c, const struct lm_setup *setup, int s, double drift, double thermal)
{
    double fastest = lm_surfaces_speed(setup, s);
    for (int side = 0; side < LM_SIDES; side++)
        if (c->boundary[side] == LM_INFLOW)
            fastest = fmax(fastest, lm_drawn_speed(drift, thermal));
    return fastest;
}

static void add_species(const struct lm_config *c, const struct lm_setup *setup, const uint8_t *mask, int s,
                        const struct lm_loading *l, double *n, double *per_cell, struct extremes *e)
{
    const struct lm_grid *g = &setup->grid;
    double count = 0, drift = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            n[k] += c->species[s].charge * l->density[k];
            per_cell[k] += l->particles_per_cell * l->density[k];
            count += is_plasma(g, mask, i, j) ? l->particles_per_cell * l->density[k] : 0;
        }
    for (int d = 0; d < 3; d++) {
        drift += pow(top(g, l->drift[d]), 2);
        e->thermal[s] = fmax(e->thermal[s], sqrt(top(g, l->temperature[d])));
    }
    e->temperature[s] = e->thermal[s] * e->thermal[s] * c->species[s].mass;
    e->speed[s] = fmax(sqrt(drift) + 5 * e->thermal[s], new_speed(c, setup, s, sqrt(drift), e->thermal[s]));
    e->count[s] = (uint64_t)(fmin(count, 1e18) + 0.5);
}

static int find_extremes(const struct lm_config *c, const struct lm_grid *g, const uint8_t *mask, struct extremes *e)
{
    double *store = calloc((5 + LM_LOADING_ARRAYS + 1) * g->size, sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory");
    double *b[3] = {store, store + g->size, store + 2 * g->size}, *n = store + 3 * g->size, *per_cell = n + g->size;
    double *eta = per_cell + g->size, *work = eta + g->size;
    struct lm_setup setup = lm_setup_of(c);
    int status = lm_setup_b(c, b);
    if (!status)
        status = lm_setup_eta(c, mask, eta);
    for (int s = 0; s < c->species_count && !status; s++) {
        struct lm_loading l;
        status = lm_setup_loading(c, s, b, work, &l);
        if (!status)
            add_species(c, &setup, mask, s, &l, n, per_cell, e);
    }
    double k2 = lm_largest_k2(g, setup.ohm.rx, setup.ohm.ry);
    e->n_min = e->least_per_cell = INFINITY;
    for (int j = 0; j < g->ny && !status; j++)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            struct lm_vector bc = lm_b_centre(lm_view_at((struct lm_view){b[0], b[1], b[2], g->stride}, (long)k));
            e->b = fmax(e->b, sqrt(bc.x * bc.x + bc.y * bc.y + bc.z * bc.z));
            if (!is_plasma(g, mask, i, j)) {
                e->frequency = fmax(e->frequency, k2 * eta[k]);
                continue;
            }
            e->n_min = fmin(e->n_min, n[k]);
            e->least_per_cell = fmin(e->least_per_cell, per_cell[k]);
            struct lm_vector rest = {0, 0, 0};
            e->frequency =
                fmax(e->frequency, lm_frequency(bc, rest, lm_floored(n[k], &setup.ohm), eta[k], k2, &setup.ohm));
        }
    for (int s = 0; s < c->species_count; s++)
        e->gyration = fmax(e->gyration, e->b * c->species[s].charge / c->species[s].mass);
    free(store);
    return status;
}

static void limit(FILE *out, const char *what, double value, double bound, const char *about)
{
    const char *verdict = value <= bound ? "ok" : "BEYOND";
    fprintf(out, "  %-34s %10.4g of %-8.4g %6.0f %%  %-6s  %s\n", what, value, bound, 100 * value / bound, verdict,
            about);
}

static void print_limits(FILE *out, const struct lm_config *c, const struct lm_grid *g, const struct extremes *e)
{
    double dt = c->run.dt, cell = fmin(g->dx, g->dy);
    fprintf(out, "limits (value of limit, share)\n");
    limit(out, "gyration: Z B dt/m", e->gyration * dt, 0.2,
          "beyond it the phase of the gyration is off by more than 0.3 %");
    for (int s = 0; s < c->species_count; s++) {
        char what[64];
        snprintf(what, sizeof what, "cells a step, %.20s", c->species[s].name);
        limit(out, what, e->speed[s] * dt / cell, 1.0,
              "drift + 5 thermal speeds, of what enters or is re-emitted 15.6; accurate below 1, the run stops at 8");
    }
    if (c->fields.solver == LM_SOLVER_HYBRID) {
        double substeps = ceil(fmax(c->fields.min_substeps, dt * e->frequency / c->fields.substep_safety));
        limit(out, "field substeps a step", substeps, c->fields.max_substeps,
              "chosen each step; the run stops beyond the limit");
    }
    if (e->n_min > 0)
        limit(out, "cell / local ion inertial length", fmax(g->dx, g->dy) * sqrt(fmin(e->n_min, 1e6)), 1.0,
              "Hall physics needs cells below it");
    limit(out, "density noise, emptiest cell", e->least_per_cell > 0 ? 1 / sqrt(e->least_per_cell) : INFINITY, 0.2,
          "1/sqrt(particles); random start");
}

static void limit_species(FILE *out, const char *what, const char *species, double value, double bound,
                          const char *about)
{
    char text[64];
    snprintf(text, sizeof text, "%s, %.20s", what, species);
    limit(out, text, value, bound, about);
}

/* Largest density of a gas at the start. */
static int densest(const struct lm_config *c, const struct lm_grid *g, int field, double *most)
{
    double *q = calloc(g->size, sizeof *q);
    int status = q ? lm_expr_fill_at(c->constants, c->background[field].initial, g, (struct lm_place){0, 0}, 0, q)
                   : lm_fail(LM_FAILED, "not enough memory");
    if (!status)
        *most = top(g, q);
    free(q);
    return status;
}

static int print_collisions(FILE *out, const struct lm_config *c, const struct lm_grid *g, const struct extremes *e)
{
    int status = LM_OK;
    for (int k = 0; k < c->species_count && !status; k++) {
        const struct lm_species_config *s = &c->species[k];
        double n = 0;
        if (s->gas_field < 0)
            continue;
        status = densest(c, g, s->gas_field, &n);
        if (status)
            break;
        const struct lm_collision_limits l = lm_collision_limits(s, g, lm_collision_time(c, k), n, e->speed[k]);
        if (lm_exchanges_charge(s))
            limit_species(out, "charge exchange a step", s->name, l.exchange, 0.1,
                          "probability; an ion has one at most in a step");
        if (lm_scatters(c, k))
            limit_species(out, "scattering a step", s->name, l.angle, 0.3, "root mean square angle in a plane, rad");
        if (s->stopping.points > 0) {
            limit_species(out, "cells / stopping length", s->name, 1 / l.cells, 1.0,
                          "the way on which a fastest ion would lose its energy");
            limit_species(out, "steps / stopping length", s->name,
                          e->speed[k] * lm_collision_time(c, k) / (l.cells * fmin(g->dx, g->dy)), 0.2, "the same way");
        }
    }
    return status;
}

static const char *choice(const struct lm_config *c, const char *prefix, int side, char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s", prefix, lm_side_names[side]);
    lm_key_text(&lm_keys[lm_keys_find("boundary", name)], c, text);
    return text;
}

static void print_sides(FILE *out, const struct lm_config *c)
{
    char particles[LM_MAX_PATH], fields[LM_MAX_PATH];
    fprintf(out, "sides\n");
    for (int side = 0; side < LM_SIDES; side++)
        fprintf(out, "  %s: particles %s, fields %s\n", lm_side_names[side], choice(c, "", side, particles),
                c->fields.solver == LM_SOLVER_NONE && c->boundary[side] != LM_PERIODIC
                    ? "given"
                    : choice(c, "fields_", side, fields));
}

static void print_bodies(FILE *out, const struct lm_config *c, const struct lm_grid *g, const uint8_t *mask)
{
    size_t count[LM_MAX_BODIES + 1] = {0};
    for (size_t k = 0; mask && k < g->cells; k++)
        count[mask[k]]++;
    if (c->body_count > 0)
        fprintf(out, "bodies\n");
    for (int k = 0; k < c->body_count; k++) {
        char particles[LM_MAX_PATH], fields[LM_MAX_PATH];
        lm_key_text(&lm_keys[lm_keys_find(LM_BODY_SECTION, "particles")], &c->body[k], particles);
        lm_key_text(&lm_keys[lm_keys_find(LM_BODY_SECTION, "fields")], &c->body[k], fields);
        if (c->fields.solver == LM_SOLVER_NONE)
            snprintf(fields, sizeof fields, "given");
        fprintf(out, "  %s: %zu cells, %.3g %% of the domain; particles %s, fields %s\n", c->body[k].name, count[k + 1],
                100.0 * (double)count[k + 1] / (double)g->cells, particles, fields);
    }
}

/* 1 when a species comes in through a side at t = 0 at one point of it at least: there is a density beyond it, and a
 * drift inwards or a temperature. `work` has room for four values a point. */
static int comes_in(const struct lm_config *c, const struct lm_grid *g, int species, int side, double *work)
{
    const struct lm_species_config *s = &c->species[species];
    const char *density = lm_inflow_density(s);
    const char *drift = s->drift[side == LM_X_MIN || side == LM_X_MAX ? 0 : 1];
    double inwards = side == LM_X_MIN || side == LM_Y_MIN ? 1.0 : -1.0;
    size_t most = lm_side_most(g);
    double *x = work, *y = x + most, *n = y + most, *v = n + most;
    int count = lm_side_points(g, (enum lm_side)side, x, y), timed = 0, found = 0;
    lm_expr_uses_time(c->constants, density, &timed);
    if (timed) /* it may begin later */
        return 1;
    for (int d = -1; d < 3 && !found; d++) {
        const char *text = d < 0 ? drift : s->temperature[d];
        if (!*text || lm_expr_at(c->constants, density, (size_t)count, x, y, 0.0, n) ||
            lm_expr_at(c->constants, text, (size_t)count, x, y, 0.0, v))
            continue;
        for (int k = 0; k < count; k++)
            found |= n[k] > 0.0 && (d < 0 ? inwards : 1.0) * v[k] > 0.0;
    }
    return found;
}

static int advise_inflow(FILE *out, const struct lm_config *c, const struct lm_grid *g)
{
    double *work = malloc(4 * sizeof *work * lm_side_most(g));
    if (!work)
        return lm_fail(LM_FAILED, "not enough memory");
    for (int side = 0; side < LM_SIDES; side++) {
        int any = c->boundary[side] != LM_INFLOW;
        for (int s = 0; s < c->species_count && !any; s++)
            any = comes_in(c, g, s, side, work);
        if (!any)
            fprintf(out,
                    "  boundary.%s is inflow, and nothing comes in: no species has a density beyond it with a drift "
                    "inwards or a temperature\n",
                    lm_side_names[side]);
    }
    free(work);
    return LM_OK;
}

static void advise_thermal(FILE *out, const struct lm_config *c)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (c->boundary[side] == LM_THERMAL && c->boundary_temperature[side] == 0.0)
            fprintf(out, "  boundary.%s is thermal at boundary.%s_temperature = 0: nothing leaves that wall again\n",
                    lm_side_names[side], lm_side_names[side]);
    for (int k = 0; k < c->body_count; k++)
        if (c->body[k].particles == LM_THERMAL && c->body[k].temperature == 0.0)
            fprintf(out, "  body.%s is thermal at temperature = 0: nothing leaves it again\n", c->body[k].name);
}

/* What ions lose should be somewhere. */
static void advise_gas(FILE *out, const struct lm_config *c)
{
    int collides = 0, taken = 0;
    for (int s = 0; s < c->species_count; s++)
        collides |= c->species[s].gas_field >= 0;
    for (int f = 0; f < c->background_count; f++)
        taken |= c->background[f].gains > 0;
    if (collides && !taken)
        fprintf(out, "  no background field takes up what ions lose to their gas: background.NAME.gains\n");
    if (taken && !collides)
        fprintf(out, "  no species collides with a gas, and there is nothing to gain: species.NAME.gas\n");
}

static void print_advice(FILE *out, const struct lm_config *c, const struct lm_grid *g, const struct extremes *e)
{
    double cell = fmin(g->dx, g->dy);
    fprintf(out, "advice\n");
    if (c->fields.eta_hyper == 0 && c->fields.solver == LM_SOLVER_HYBRID)
        fprintf(out,
                "  fields.eta_hyper is 0: the Hall term does not see the grid's shortest waves; %.1g damps what noise "
                "leaves there\n",
                0.025 * pow(cell, 4));
    if (e->n_min < c->fields.density_floor)
        fprintf(out, "  the density falls below fields.density_floor: %g < %g; such cells are counted in the series\n",
                e->n_min, c->fields.density_floor);
    for (int s = 0; s < c->species_count; s++)
        if (e->count[s] > 0 && e->temperature[s] < c->electrons.temperature && cell > e->thermal[s])
            fprintf(out,
                    "  species %s: cold ions (T = %g) in warm electrons (%g) on cells larger than their gyroradius "
                    "(%g) heat by the "
                    "finite-grid instability: use smaller cells, quadratic shape or more smoothing\n",
                    c->species[s].name, e->temperature[s], c->electrons.temperature, e->thermal[s]);
    advise_gas(out, c);
    if (c->output.checkpoint_every == 0)
        fprintf(
            out,
            "  output.checkpoint_every is 0: only signals, the wall-time limit and instabilities leave a checkpoint\n");
}

/* `mask`: of the bodies; NULL without any. */
static int check(const struct lm_config *c, const uint8_t *mask, FILE *out)
{
    struct lm_grid g = lm_config_grid(c);
    struct extremes e = {.b = 0};
    char device[256];
    int kind = LM_BACKEND_CPU,
        status = lm_backend_resolve(c->run.backend, c->run.threads, &kind, device, sizeof device);
    if (!status)
        status = find_extremes(c, &g, mask, &e);
    if (status)
        return status;
    struct lm_setup setup = lm_setup_of(c);
    double free_bytes, total_bytes, bytes = lm_backend_bytes(kind, &setup, e.count), particles = 0;
    for (int s = 0; s < c->species_count; s++)
        particles += (double)e.count[s];
    int enters = c->ionisation_count > 0;
    for (int side = 0; side < LM_SIDES; side++)
        enters |= c->boundary[side] == LM_INFLOW;
    if (particles == 0 && !enters)
        return lm_fail(LM_BAD_INPUT,
                       "%s: [species.NAME]: no species has any particles: raise density or particles_per_cell",
                       c->file);
    lm_backend_memory(kind, &free_bytes, &total_bytes);
    fprintf(out, "; resolved settings\n");
    status = lm_config_write(c, out);
    fprintf(out, "\nrun\n  %lld steps to t = %g on %s\n", (long long)c->run.steps, (double)c->run.steps * c->run.dt,
            device);
    fprintf(out, "  %d x %d cells of %g x %g d_i\n", g.nx, g.ny, g.dx, g.dy);
    for (int s = 0; s < c->species_count; s++)
        fprintf(out, "  %s: %.4g M particles, %.4g a cell\n", c->species[s].name, 1e-6 * (double)e.count[s],
                (double)e.count[s] / (double)g.cells);
    print_sides(out, c);
    print_bodies(out, c, &g, mask);
    fprintf(out, "memory\n  %.4g GiB of %.4g GiB free (%.4g in all)%s\n", bytes / 0x1p30, free_bytes / 0x1p30,
            total_bytes / 0x1p30, bytes > free_bytes ? ": TOO MUCH" : "");
    status = status ? status : lm_check_backgrounds(c, mask, out);
    status = status ? status : lm_check_ionisation(c, kind, mask, e.b, e.count, out);
    print_limits(out, c, &g, &e);
    status = status ? status : print_collisions(out, c, &g, &e);
    print_advice(out, c, &g, &e);
    advise_thermal(out, c);
    return status ? status : advise_inflow(out, c, &g);
}

int lm_check(const struct lm_config *c, FILE *out)
{
    struct lm_grid g = lm_config_grid(c);
    uint8_t *mask = c->body_count > 0 ? malloc(g.cells) : NULL;
    if (c->body_count > 0 && !mask)
        return lm_fail(LM_FAILED, "not enough memory");
    int status = mask ? lm_body_mask(c, mask) : LM_OK;
    if (!status)
        status = check(c, mask, out);
    free(mask);
    return status;
}
