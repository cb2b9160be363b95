/* `larmor check`: electrons whose pressure is evolved, from the state at the start. */
#include <math.h>
#include <stdlib.h>

#include "survey/parts.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/fluid/flow.h"
#include "sim/setup.h"
#include "config/facts.h"
#include "sim/step_limits.h"

enum { ARRAYS = 3 + 5 + 2 + LM_LOADING_ARRAYS };

/* Arrays of the grid. */
struct start {
    const struct lm_survey *survey;
    struct lm_setup setup; /* of the points */
    uint8_t *clearance;
    double *b[3], *n, *counted, *temperature, *current[2], *velocity[2], *work;
};

static int add_species(const struct lm_config *c, int species, const struct start *s)
{
    struct lm_loading l;
    const int status = lm_setup_loading(c, species, s->b, s->work, &l);
    for (size_t k = 0; k < s->setup.grid.size && !status; k++) {
        const double charge = c->species[species].charge * lm_given_at(&l.density, k);
        s->n[k] += charge;
        for (int d = 0; d < 2; d++)
            s->current[d][k] += charge * lm_given_at(&l.drift[d], k);
    }
    return status;
}

/* T_e at the start, and the density that counts where its pressure and B act on each other. */
static int find_temperature(const struct lm_config *c, const struct start *s)
{
    static const struct lm_cell_offset centre = {0, 0};
    const struct lm_grid *g = &s->setup.grid;
    const struct lm_ohm *o = &s->setup.ohm;
    const struct lm_view b = {s->b[0], s->b[1], s->b[2], g->stride};
    const char *profile = c->electrons.initial_temperature;
    const int status = profile[0] ? lm_expr_fill(c->names, profile, g, centre, s->temperature) : LM_OK;
    for (size_t k = 0; k < g->size && !profile[0]; k++)
        s->temperature[k] = c->electrons.temperature * pow(s->n[k], o->gamma - 1);
    for (int j = -1; j <= g->ny && !status; j++)
        for (int i = -1; i <= g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double counted = lm_counted_density(lm_floored(s->n[k], o), lm_view_at(b, (long)k), o);
            s->counted[k] = lm_density_for_battery(counted, lm_entropy_of(s->n[k] * s->temperature[k], o->gamma), o);
        }
    return status;
}

/* The largest rate of the electrons' flow over the cells. */
static double flow_rate(const struct start *s)
{
    const struct lm_grid *g = &s->setup.grid;
    const struct lm_flow_moments given = {.density = {s->n, s->n},
                                          .counted = s->counted,
                                          .current = {s->current[0], s->current[1]},
                                          .b = {s->b[0], s->b[1], s->b[2], g->stride},
                                          .clearance = s->clearance,
                                          .absorbing_walls = lm_absorbing_walls(&s->setup)};
    double largest = 0;
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++)
            for (int axis = 0; axis < 2; axis++) {
                const long k = (long)lm_at(g, i, j);
                const enum lm_face_place place =
                    lm_face_place(axis == 0 ? i : j, axis == 0 ? g->nx : g->ny, !lm_has_walls(&g->sides, axis));
                s->velocity[axis][k] = lm_flow_on_face(&given, axis, k, place, 0, &s->setup.ohm).entropy;
            }
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            if (s->clearance[k])
                largest = fmax(largest, lm_flow_rate_at(s->velocity[0], s->velocity[1], s->survey->cuts.open, (long)k,
                                                        g->stride, 1 / s->survey->grid.dx, 1 / s->survey->grid.dy));
        }
    return largest;
}

static double least_density(const struct start *s)
{
    const struct lm_grid *g = &s->setup.grid;
    double least = INFINITY;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            if (s->clearance[k] && s->n[k] > s->setup.ohm.floor)
                least = fmin(least, s->n[k]);
        }
    return least;
}

/* n T_e^(-3/2) where it is largest: to be multiplied with x of larmor/physics/collisions/ion_electron_heating.h at n =
 * T_e = 1. */
static double densest_bath(const struct start *s)
{
    const struct lm_grid *g = &s->setup.grid;
    const struct lm_exchange one = {.rate = 1};
    double most = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            if (s->clearance[k] && s->n[k] > s->setup.ohm.floor)
                most = fmax(most, lm_exchange_rate(&one, s->n[k], s->temperature[k]));
        }
    return most;
}

static void print_exchange(const struct lm_config *c, const struct start *s, FILE *out)
{
    const double most = densest_bath(s);
    for (int k = 0; k < c->species_count; k++) {
        const double x = lm_exchange_at_one(c, k) * most, limit = lm_exchange_most(c);
        if (x > 0)
            fprintf(out, "    exchange with %s: nu dt up to %.3g at the start%s%s\n", c->species[k].name, x,
                    x > 0.2 && isfinite(x) ? "; a smaller run.dt or collide_every is more accurate" : "",
                    x > limit ? ", which the program limits" : "");
    }
}

static void print_substeps(FILE *out, const char *what, double substeps)
{
    fprintf(out, "    %s: %.4g substeps in the first step%s\n", what, substeps,
            substeps > 100 ? "; so many take long: use larger cells or a smaller run.dt" : "");
}

static void print(const struct lm_config *c, const struct start *s, FILE *out)
{
    const struct lm_grid *g = &s->survey->grid;
    const struct lm_setup whole = lm_setup_of(c);
    const struct lm_background *field = &whole.background[lm_entropy_field(c)];
    const double dt = c->run.dt, courant = c->electrons.courant, least = least_density(s),
                 crowding = lm_survey_crowding(s->survey);
    const double flow = lm_background_rate(g, field, flow_rate(s), crowding);
    const double heat = lm_conduction_rate(whole.conductivity, least, crowding, g, &whole.ohm);
    fprintf(out, "electrons\n  pressure evolved, gamma %g; %s\n", c->electrons.gamma,
            c->electrons.initial_temperature[0] ? "p_e = n T at the start" : "p_e = T n^gamma at the start");
    print_substeps(out, "entropy", 2 * fmax(1, ceil(0.5 * dt * flow / courant)));
    if (c->electrons.conductivity > 0 || c->electrons.conductivity_across > 0)
        print_substeps(out, "conduction", 2 * fmax(1, ceil(0.5 * dt * heat / courant)));
}

static int take(struct start *s)
{
    const struct lm_config *points = s->survey->points;
    int status = lm_stencil_clearance(&s->setup.grid, s->survey->point_mask, s->clearance);
    if (!status)
        status = lm_setup_b(points, s->b);
    for (int k = 0; k < points->species_count && !status; k++)
        status = add_species(points, k, s);
    return status ? status : find_temperature(points, s);
}

int lm_check_electrons(const struct lm_survey *survey, FILE *out)
{
    struct start s = {.survey = survey, .setup = lm_setup_of(survey->points)};
    const size_t size = s.setup.grid.size;
    double *store = calloc(ARRAYS * size, sizeof *store), *next = store;
    double **const arrays[] = {&s.b[0],       &s.b[1],       &s.b[2],        &s.n,           &s.counted, &s.temperature,
                               &s.current[0], &s.current[1], &s.velocity[0], &s.velocity[1], &s.work};
    s.clearance = malloc(size);
    int status = store && s.clearance ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a survey of the electrons");
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays && !status; k++, next += size)
        *arrays[k] = next;
    if (!status)
        status = take(&s);
    if (!status) {
        print(survey->config, &s, out);
        print_exchange(survey->points, &s, out);
    }
    free(store);
    free(s.clearance);
    return status;
}
