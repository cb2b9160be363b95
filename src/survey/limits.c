#include "survey/limits.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "survey/parts.h"
#include "base/expr.h"
#include "config/facts.h"
#include "larmor/physics/fields/relaxation.h"
#include "sim/step_limits.h"

void lm_limits_add(struct lm_limits *l, const char *what, double value, double bound, const char *about,
                   const char *advice, ...)
{
    if (l->count == LM_MAX_LIMITS)
        return;
    struct lm_limit *limit = &l->of[l->count++];
    *limit = (struct lm_limit){.value = value, .bound = bound, .about = about};
    snprintf(limit->what, sizeof limit->what, "%s", what);
    if (!lm_limit_is_exceeded(limit))
        return;
    va_list args;
    va_start(args, advice);
    vsnprintf(limit->advice, sizeof limit->advice, advice, args);
    va_end(args);
}

int lm_limits_exceeded(const struct lm_limits *l)
{
    int count = 0;
    for (int k = 0; k < l->count; k++)
        count += lm_limit_is_exceeded(&l->of[k]);
    return count;
}

/* The time step at which a value that grows with it is at its bound. */
static double dt_for(const struct lm_config *c, double value, double bound)
{
    return c->run.dt * bound / value;
}

static const char *named(char text[64], const char *what, const char *species)
{
    snprintf(text, 64, "%s, %.20s", what, species);
    return text;
}

static void add_motion(const struct lm_survey *s, struct lm_limits *l)
{
    const struct lm_config *c = s->config;
    const double dt = c->run.dt, cell = fmin(s->grid.dx, s->grid.dy), gyration = s->gyration * dt;
    char what[64];
    lm_limits_add(l, "gyration: Z B dt/m", gyration, 0.2,
                  "beyond it the phase of the gyration is off by more than 0.3 %", "take run.dt <= %.3g",
                  dt_for(c, gyration, 0.2));
    for (int k = 0; k < c->species_count; k++) {
        const double cells = s->speed[k] * dt / cell;
        lm_limits_add(
            l, named(what, "cells a step", c->species[k].name), cells, 1.0,
            "drift + 5 thermal speeds, 15.6 for entering and re-emitted ions; accurate below 1, the run stops "
            "at 8",
            "take run.dt <= %.3g, or cells of %.3g d_i or more", dt_for(c, cells, 1), cell * cells);
    }
}

/* How many turns a whistler may make in a step (docs/physics/accuracy.md, "Short whistlers"). Ions that feel the fields
 * only once a step can give energy to a whistler that makes a whole turn; the smoothing hides the very shortest
 * whistlers, and the first growth was seen at 1.25 turns. Ions that feel the mean of B over a step keep the energy up
 * to 3 turns, and at 4 no longer. They do so where nothing is at the density floor. */
static const double MOST_TURNS = 3, MOST_TURNS_WITHOUT_MEAN = 1.1;

static double most_turns(const struct lm_survey *s)
{
    return s->n_min > s->config->fields.density_floor ? MOST_TURNS : MOST_TURNS_WITHOUT_MEAN;
}

/* The species whose particles carry the most charge each. */
static int heaviest(const struct lm_config *c)
{
    int most = 0;
    for (int k = 1; k < c->species_count; k++)
        if (c->species[k].charge / c->species[k].particles_per_cell >
            c->species[most].charge / c->species[most].particles_per_cell)
            most = k;
    return most;
}

static void add_fields(const struct lm_survey *s, struct lm_limits *l)
{
    const struct lm_config *c = s->config;
    const double wanted = c->run.dt * s->frequency / c->fields.substep_safety, most = c->fields.max_substeps;
    const double width = fmax(s->grid.dx, s->grid.dy), per_inertial = sqrt(fmin(s->n_max, 1e6));
    lm_limits_add(l, "field substeps a step", ceil(fmax(c->fields.min_substeps, wanted)), most,
                  "chosen each step; the run stops beyond the limit",
                  "take run.dt <= %.3g, larger cells, less resistivity or a higher fields.density_floor, or raise "
                  "fields.max_substeps",
                  dt_for(c, wanted, most));
    const double turns = c->run.dt * s->whistler / (2 * M_PI);
    lm_limits_add(l, "shortest whistler: turns a step", turns, most_turns(s),
                  "beyond it short whistlers can gain energy from the ions, with any number of substeps",
                  "take run.dt <= %.3g, or larger cells", dt_for(c, turns, most_turns(s)));
    if (s->stages > 0)
        lm_limits_add(l, "stages of resistivity a step", s->stages, LM_MOST_RELAXATION_STAGES,
                      "chosen each step; the run stops beyond the limit",
                      "take a smaller run.dt, larger cells or less resistivity");
    if (s->n_max > 0)
        lm_limits_add(l, "cell / ion inertial length of the densest cell", width * per_inertial, 1.0,
                      "Hall physics needs cells below it",
                      "take cells of %.3g d_i or less: grid.nx >= %.0f and grid.ny >= %.0f", 1 / per_inertial,
                      fmin(ceil(s->grid.lx * per_inertial), 1e9), fmin(ceil(s->grid.ly * per_inertial), 1e9));
    if (s->thickened > 1 + 1e-9) /* beyond round-off */
        lm_limits_add(l, "density in Ohm's law over that of the plasma", s->thickened, 1.0,
                      "a cell counts as thin plasma if its charge is less than that of four particles of any species",
                      "raise particles_per_cell of species %s, whose particles carry the most charge each, or take a "
                      "smaller run.dt",
                      c->species[heaviest(c)].name);
    if (s->per_cell > 0)
        lm_limits_add(l, "density noise, noisiest cell", s->noise, 0.2, "1/sqrt(particles) of a random start",
                      "raise particles_per_cell %.2g times (that is where the density is 1: the noisiest cell above "
                      "fields.density_floor has %.3g particles), or take start = quiet or low_discrepancy",
                      pow(s->noise / 0.2, 2), s->per_cell);
}

/* Friction with electrons, where its resistivity can be evaluated before the run. */
static int add_friction(const struct lm_survey *s, int k, struct lm_limits *l)
{
    const struct lm_config *c = s->config, *p = s->points;
    const struct lm_species_config *of = &c->species[k];
    const struct lm_cell_offset centre = {0, 0};
    const size_t size = s->at.size;
    int uniform, status;
    if (!lm_has_friction(of) || lm_expr_check(p->names, p->species[k].eta, &uniform))
        return LM_OK;
    double *n = calloc(3 * size, sizeof *n), *eta = n + size, *more = eta + size;
    status =
        n ? lm_expr_fill(p->names, p->species[k].eta, &s->at, centre, eta) : lm_fail(LM_FAILED, "not enough memory");
    for (int other = 0; other < c->species_count && !status; other++) {
        status = lm_expr_fill(p->names, p->species[other].density, &s->at, centre, more);
        for (size_t m = 0; m < size && !status; m++)
            n[m] += c->species[other].charge * more[m];
    }
    for (size_t m = 0; m < size && !status; m++)
        n[m] *= eta[m] * of->charge / of->mass * c->run.dt;
    if (!status) {
        const double rate = lm_survey_largest(s, n);
        char what[64];
        lm_limits_add(l, named(what, "friction with electrons", of->name), rate, 0.2,
                      "eta n Z dt/m: accurate below 0.2, unstable above 1", "take run.dt <= %.3g, or a smaller eta",
                      dt_for(c, rate, 0.2));
    }
    free(n);
    return status;
}

/* Largest density of a gas at the start. */
static int densest(const struct lm_survey *s, int field, double *most)
{
    const struct lm_config *p = s->points;
    double *q = calloc(s->at.size, sizeof *q);
    int status =
        q ? lm_expr_fill_at(p->names, p->background[field].initial, &s->at, (struct lm_cell_offset){0, 0}, 0, q)
          : lm_fail(LM_FAILED, "not enough memory");
    if (!status)
        *most = lm_survey_largest(s, q);
    free(q);
    return status;
}

static int add_collisions(const struct lm_survey *s, int k, struct lm_limits *l)
{
    const struct lm_config *c = s->config;
    const struct lm_species_config *p = &c->species[k];
    const double time = lm_collision_time(c, k);
    static const char dt[] = "take run.dt or species.%s.collide_every %.3g times smaller";
    char what[64];
    double n = 0;
    int status = p->gas_field >= 0 ? densest(s, p->gas_field, &n) : LM_OK;
    if (status || p->gas_field < 0)
        return status;
    const struct lm_collision_limits at = lm_collision_limits(p, &s->grid, time, n, s->speed[k]);
    if (lm_exchanges_charge(p))
        lm_limits_add(l, named(what, "charge exchange a step", p->name), at.exchange, 0.1,
                      "probability; an ion exchanges at most once in a step", dt, p->name,
                      log1p(-fmin(at.exchange, 0.999)) / log1p(-0.1));
    if (lm_scatters(c, k))
        lm_limits_add(l, named(what, "scattering a step", p->name), at.angle, 0.3,
                      "root mean square angle in a plane, rad", dt, p->name, pow(at.angle / 0.3, 2));
    if (p->stopping.points == 0)
        return LM_OK;
    const double steps = s->speed[k] * time / (at.cells * fmin(s->grid.dx, s->grid.dy));
    lm_limits_add(l, named(what, "cells / stopping length", p->name), 1 / at.cells, 1.0,
                  "path on which the fastest ion loses its energy", "take cells %.3g times smaller", 1 / at.cells);
    lm_limits_add(l, named(what, "steps / stopping length", p->name), steps, 0.2, "the same path", dt, p->name,
                  steps / 0.2);
    return LM_OK;
}

/* Prescribed flows only: the flows of ions and electrons are not known before the start. */
static int add_flows(const struct lm_survey *s, struct lm_limits *l)
{
    const struct lm_config *c = s->config;
    int status = LM_OK;
    for (int k = 0; k < c->background_count && !status; k++) {
        double rate, divergence;
        char what[64];
        if (c->background[k].flow != LM_FLOW_PRESCRIBED)
            continue;
        status = lm_check_flow(s, k, &rate, &divergence);
        const double substeps = status ? 0 : lm_check_substeps(s, k, rate);
        lm_limits_add(l, named(what, "substeps of field", c->background[k].name), substeps, LM_MOST_SUBSTEPS,
                      "the run stops beyond the limit", "take run.dt <= %.3g, or a smaller velocity or diffusivity",
                      dt_for(c, substeps, LM_MOST_SUBSTEPS));
    }
    return status;
}

/* Cells of a background field whose start is out of its bounds, by more than round-off. */
static int count_outside(const struct lm_survey *s, int field, double *count)
{
    const struct lm_background_config *b = &s->points->background[field];
    const double slack = 1e-12 * fmax(fabs(b->least), isfinite(b->most) ? fabs(b->most) : 0);
    double *q = calloc(s->at.size, sizeof *q);
    const int status = q ? lm_expr_fill_at(s->points->names, b->initial, &s->at, (struct lm_cell_offset){0, 0}, 0, q)
                         : lm_fail(LM_FAILED, "not enough memory");
    *count = 0;
    for (int j = 0; j < s->at.ny && !status; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const double value = q[lm_at(&s->at, i, j)];
            const int is_outside = value < b->least - slack || value > b->most + slack;
            *count += lm_survey_is_plasma(s, i, j) && is_outside ? s->cells_a_point : 0;
        }
    free(q);
    return status;
}

static int add_bounds(const struct lm_survey *s, struct lm_limits *l)
{
    const int own = lm_entropy_field(s->config);
    int status = LM_OK;
    for (int k = 0; k < s->config->background_count && !status; k++) {
        const struct lm_background_config *b = &s->config->background[k];
        double count;
        char what[64];
        if (k == own || !b->limited)
            continue;
        status = count_outside(s, k, &count);
        lm_limits_add(l, named(what, "cells out of bounds", b->name), status ? 0 : count, 0,
                      "where initial is below the minimum or above the maximum",
                      "take bounds that hold background.%s.initial, or clip it with min and max", b->name);
    }
    return status;
}

int lm_limits_find(const struct lm_survey *s, struct lm_limits *out)
{
    out->count = 0;
    add_motion(s, out);
    if (s->config->fields.solver == LM_SOLVER_HYBRID)
        add_fields(s, out);
    int status = LM_OK;
    for (int k = 0; k < s->config->species_count && !status; k++)
        status = add_friction(s, k, out);
    for (int k = 0; k < s->config->species_count && !status; k++)
        status = add_collisions(s, k, out);
    if (!status)
        status = add_flows(s, out);
    if (!status)
        status = add_bounds(s, out);
    return status;
}
