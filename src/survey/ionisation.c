/* `larmor check`: the production of the sources of ions. */
#include <math.h>
#include <stdlib.h>

#include "survey/parts.h"
#include "larmor/physics/numerics/elementary.h"
#include "backend/surfaces.h"
#include "base/expr.h"
#include "sim/setup.h"

/* The production of one source in the first step. */
struct production {
    double a_step;  /* particles per step */
    double cells;   /* cells in which ions can be born */
    double typical; /* weighted median of the particles per cell and step */
    double speed;   /* upper bound for new ions */
    double gas;     /* the gas in the cells where it is ionised, as a number of particles; -1: no gas */
    double fullest; /* the same in the cell with the most gas */
};

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The weighted median of the expected numbers in the cells. `work` has room for all cells. */
static double typical_of(const struct lm_grid *g, const double *expected, double sum, double *work)
{
    double half = 0;
    size_t n = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            work[n++] = expected[lm_at(g, i, j)];
    qsort(work, n, sizeof *work, rising);
    for (n = 0; n + 1 < g->cells && half < 0.5 * sum; n++)
        half += work[n];
    return work[n > 0 ? n - 1 : 0];
}

/* Multiplies the frequency of ionisation, `expected`, by the density of the gas at the start. */
static int add_gas(const struct lm_config *c, int source, double *expected, double *gas, struct production *p)
{
    const struct lm_ionisation_config *s = &c->ionisation[source];
    const struct lm_grid g = lm_config_grid(c);
    const double worth = c->species[s->into].particles_per_cell;
    p->gas = p->fullest = 0;
    int status = lm_expr_fill_at(c->names, c->background[s->from].initial, &g, (struct lm_cell_offset){0, 0}, 0, gas);
    for (int j = 0; j < g.ny && !status; j++)
        for (int i = 0; i < g.nx; i++) {
            const size_t k = lm_at(&g, i, j);
            const double there = expected[k] > 0 ? fmax(gas[k], 0) : 0;
            expected[k] *= there;
            p->gas += worth * there;
            p->fullest = fmax(p->fullest, worth * there);
        }
    return status;
}

static void survey(const struct lm_grid *g, double *const from[LM_BORN_ARRAYS], double *work, struct production *p)
{
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double u = from[2][k], v = from[3][k], w = from[4][k];
            if (!(from[0][k] > 0))
                continue;
            p->a_step += from[0][k];
            p->cells++;
            p->speed = fmax(p->speed, lm_drawn_speed(sqrt(u * u + v * v + w * w), from[1][k]));
        }
    p->typical = typical_of(g, from[0], p->a_step, work);
}

/* Converts sums over the points to sums over all cells. */
static void scale(struct production *p, double cells_a_point)
{
    p->a_step *= cells_a_point;
    p->cells *= cells_a_point;
    p->gas *= p->gas > 0 ? cells_a_point : 1;
}

/* `clearance` as in lm_setup_ionisation, `store`: LM_BORN_ARRAYS + 3 arrays, of the points. */
static int take_production(const struct lm_survey *s, int source, const uint8_t *clearance, double *store,
                           struct production *p)
{
    const struct lm_config *c = s->points;
    const struct lm_grid *g = &s->at;
    double *to[LM_BORN_ARRAYS], *work = store + LM_BORN_ARRAYS * g->size;
    *p = (struct production){.gas = -1};
    for (int n = 0; n < LM_BORN_ARRAYS; n++)
        to[n] = store + (size_t)n * g->size;
    const struct lm_bodies bodies = {.mask = s->point_mask};
    int status =
        lm_setup_ionisation(c, source, s->point_mask ? &bodies : NULL, clearance, s->cuts, 0.5 * c->run.dt, to, work);
    if (!status && c->ionisation[source].from >= 0)
        status = add_gas(c, source, to[0], work, p);
    if (!status)
        survey(g, to, work, p);
    scale(p, s->cells_a_point);
    return status;
}

static int find_production(const struct lm_survey *s, int source, struct production *p)
{
    double *store = calloc((LM_BORN_ARRAYS + 3) * s->at.size, sizeof *store);
    uint8_t *clearance = malloc(s->at.size);
    int status = store && clearance ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the sources of ions");
    if (!status)
        status = lm_stencil_clearance(&s->at, s->point_mask, clearance);
    if (!status)
        status = take_production(s, source, clearance, store, p);
    free(store);
    free(clearance);
    return status;
}

static void print_gas(const struct lm_config *c, int source, const struct production *p, FILE *out)
{
    const struct lm_ionisation_config *s = &c->ionisation[source];
    if (p->a_step > 0)
        fprintf(out,
                "    the gas there, worth %.4g particles, lasts for %.4g / Omega_ci at this rate (the run: %.4g)\n",
                p->gas, p->gas / p->a_step * c->run.dt, (double)c->run.steps * c->run.dt);
    if (p->gas > 0 && p->fullest < 1)
        fprintf(out, "    no cell holds gas for a particle: nothing is born; raise species.%s.particles_per_cell\n",
                s->species);
    else if (p->gas > 0 && p->gas < 10 * p->cells)
        fprintf(out,
                "    a cell holds gas for %.3g particles on average; less than one particle stays gas: raise "
                "species.%s.particles_per_cell\n",
                p->gas / p->cells, s->species);
}

static void print_noise(const struct lm_config *c, int source, const struct production *p, double b, FILE *out)
{
    const struct lm_species_config *s = &c->species[c->ionisation[source].into];
    const double steps = b > 0 ? 2 * LM_PI * s->mass / (s->charge * b) / c->run.dt : (double)c->run.steps;
    const double count = p->typical * steps;
    fprintf(out, "    half of them in cells with up to %.3g in a %s\n", count, b > 0 ? "gyration" : "run");
    if (p->a_step > 0 && count < 1)
        fprintf(out,
                "    fewer than one a cell in a gyration make noise: raise species.%s.particles_per_cell %.2g times\n",
                s->name, 1 / count);
}

static void print_source(const struct lm_config *c, int source, const struct production *p, double b, FILE *out)
{
    const struct lm_ionisation_config *s = &c->ionisation[source];
    const struct lm_grid g = lm_config_grid(c);
    const double weight = g.dx * g.dy / c->species[s->into].particles_per_cell, cell = fmin(g.dx, g.dy);
    fprintf(out, "  %s: %.4g n0 d_i^2 Omega_ci of %s%s%s: %.4g particles a step, %.4g in the run%s\n", s->name,
            p->a_step * weight / c->run.dt, s->species, s->from >= 0 ? " from " : "", s->gas, p->a_step,
            p->a_step * (double)c->run.steps, s->from >= 0 ? " at most, if none flows in" : "");
    print_noise(c, source, p, b, out);
    if (p->speed * c->run.dt / cell > 1)
        fprintf(out, "    the fastest of them cross %.3g cells in a step\n", p->speed * c->run.dt / cell);
    if (s->from >= 0)
        print_gas(c, source, p, out);
}

/* The number of particles that a source brings in during the run. */
static double born(const struct lm_config *c, const struct production *p)
{
    const double most = p->a_step * (double)c->run.steps;
    return p->gas >= 0 ? fmin(most, p->gas) : most;
}

int lm_check_births(const struct lm_survey *s, uint64_t counts[LM_MAX_SPECIES])
{
    const struct lm_config *c = s->config;
    int status = LM_OK;
    lm_survey_counts(s, counts);
    for (int k = 0; k < c->ionisation_count && !status; k++) {
        struct production p;
        status = find_production(s, k, &p);
        if (!status)
            counts[c->ionisation[k].into] += (uint64_t)fmin(born(c, &p), 1e17);
    }
    return status;
}

/* The memory that the new ions of the run need, if none of them leaves. */
static int print_growth(const struct lm_survey *s, const struct lm_need *need, FILE *out)
{
    const struct lm_setup setup = lm_setup_of(s->config);
    uint64_t now[LM_MAX_SPECIES], then[LM_MAX_SPECIES];
    lm_survey_counts(s, now);
    const int status = lm_check_births(s, then);
    const double growth = lm_backend_bytes(need->kind, &setup, then) - lm_backend_bytes(need->kind, &setup, now);
    if (!status)
        fprintf(out, "  memory grows by up to %.4g GiB, and a quarter of that in reserve, if no new ion leaves\n",
                growth / 0x1p30);
    return status;
}

int lm_check_ionisation(const struct lm_survey *s, const struct lm_need *need, FILE *out)
{
    if (s->config->ionisation_count == 0)
        return LM_OK;
    int status = LM_OK;
    fprintf(out, "ionisation\n");
    for (int k = 0; k < s->config->ionisation_count && !status; k++) {
        struct production p;
        status = find_production(s, k, &p);
        if (!status)
            print_source(s->config, k, &p, s->b, out);
    }
    return status ? status : print_growth(s, need, out);
}
