/* `larmor check`: the needs of a run and its margin to each limit. Nothing is run, and nothing is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "survey/parts.h"
#include "output/directory.h"
#include "config/facts.h"
#include "config/keys.h"
#include "run/backend_choice.h"
#include "run/unwritten.h"
#include "larmor/run.h"
#include "config/side_points.h"
#include "base/expr.h"

static void print_limit(FILE *out, const struct lm_limit *l)
{
    const double share = l->bound > 0 ? 100 * l->value / l->bound : l->value > 0 ? INFINITY : 0;
    fprintf(out, "  %-34s %10.4g of %-8.4g %6.3g %%  %-6s  %s\n", l->what, l->value, l->bound, share,
            lm_limit_is_exceeded(l) ? "BEYOND" : "ok", l->about);
}

static void print_limits(FILE *out, const struct lm_limits *l)
{
    fprintf(out, "limits (value of limit, share)\n");
    for (int k = 0; k < l->count; k++)
        print_limit(out, &l->of[k]);
}

static void advise_limits(FILE *out, const struct lm_limits *l)
{
    for (int k = 0; k < l->count; k++)
        if (lm_limit_is_exceeded(&l->of[k]))
            fprintf(out, "  %s is beyond its limit: %s\n", l->of[k].what, l->of[k].advice);
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
    char particles[LM_MAX_PATH], fields[LM_MAX_PATH], why[LM_WHY_FIELDS];
    fprintf(out, "sides\n");
    for (int side = 0; side < LM_SIDES; side++) {
        lm_why_fields(c, side, why);
        fprintf(out, "  %s: particles %s, fields %s%s%s\n", lm_side_names[side], choice(c, "", side, particles),
                c->fields.solver == LM_SOLVER_NONE && c->boundary[side] != LM_PERIODIC
                    ? "given"
                    : choice(c, "fields_", side, fields),
                why[0] ? ", because " : "", why);
    }
}

static void print_bodies(FILE *out, const struct lm_survey *s)
{
    const struct lm_config *c = s->config;
    const struct lm_grid *g = &s->grid;
    const uint8_t *mask = s->mask;
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

/* 1 when a species comes in at one point of a side or more at t = 0: the density beyond the side is above 0, and there
 * is a drift inwards or a temperature. `work` has room for four values for each point. */
static int comes_in(const struct lm_config *c, const struct lm_grid *g, int species, int side, double *work)
{
    const struct lm_species_config *s = &c->species[species];
    const char *density = lm_inflow_density(s);
    const char *drift = s->drift[side == LM_X_MIN || side == LM_X_MAX ? 0 : 1];
    double inwards = side == LM_X_MIN || side == LM_Y_MIN ? 1.0 : -1.0;
    size_t most = lm_longest_side(g);
    double *x = work, *y = x + most, *n = y + most, *v = n + most;
    int count = lm_side_points(g, (enum lm_side)side, x, y), timed = 0, found = 0;
    lm_expr_uses_time(c->names, density, &timed);
    if (timed) /* the inflow may begin later */
        return 1;
    for (int d = -1; d < 3 && !found; d++) {
        const char *text = d < 0 ? drift : s->temperature[d];
        if (!*text || lm_expr_at(c->names, density, (size_t)count, x, y, 0.0, n) ||
            lm_expr_at(c->names, text, (size_t)count, x, y, 0.0, v))
            continue;
        for (int k = 0; k < count; k++)
            found |= n[k] > 0.0 && (d < 0 ? inwards : 1.0) * v[k] > 0.0;
    }
    return found;
}

static int advise_inflow(FILE *out, const struct lm_config *c, const struct lm_grid *g)
{
    double *work = malloc(4 * sizeof *work * lm_longest_side(g));
    if (!work)
        return lm_fail(LM_FAILED, "not enough memory");
    for (int side = 0; side < LM_SIDES; side++) {
        int any = c->boundary[side] != LM_INFLOW;
        for (int s = 0; s < c->species_count && !any; s++)
            any = comes_in(c, g, s, side, work);
        if (!any)
            fprintf(out,
                    "  boundary.%s is inflow, but nothing comes in: no species has a density beyond it, and a drift "
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

/* Two radiating sides that meet (docs/develop/open_sides_study.md). */
static void advise_corners(FILE *out, const struct lm_config *c)
{
    for (int x = LM_X_MIN; x <= LM_X_MAX; x++)
        for (int y = LM_Y_MIN; y <= LM_Y_MAX; y++)
            if (c->boundary_fields[x] == LM_RADIATING && c->boundary_fields[y] == LM_RADIATING)
                fprintf(out,
                        "  boundary.fields_%s and boundary.fields_%s are radiating and meet in a corner, where B can "
                        "grow, above all where a wind fills a void: make one of them open\n",
                        lm_side_names[x], lm_side_names[y]);
}

/* The losses of ions to a gas should be gained by a background field. */
static void advise_gas(FILE *out, const struct lm_config *c)
{
    int collides = 0, taken = 0;
    for (int s = 0; s < c->species_count; s++)
        collides |= c->species[s].gas_field >= 0;
    for (int f = 0; f < c->background_count; f++)
        taken |= c->background[f].gains > 0;
    if (collides && !taken)
        fprintf(out, "  no background field gains what ions lose to their gas: set background.NAME.gains\n");
    if (taken && !collides)
        fprintf(out,
                "  no species collides with a gas, so background.NAME.gains has no effect: set species.NAME.gas\n");
}

static void print_line(void *out, const char *text)
{
    fprintf(out, "  %s\n", text);
}

static void advise_directory(FILE *out, const struct lm_config *c)
{
    if (lm_directory_check(c->output.directory, 0, NULL))
        fprintf(out, "  %s\n", lm_error());
}

static void print_advice(FILE *out, const struct lm_prepared *p)
{
    const struct lm_survey *e = &p->survey;
    const struct lm_config *c = e->config;
    const double cell = fmin(e->grid.dx, e->grid.dy);
    fprintf(out, "advice\n");
    advise_limits(out, &p->limits);
    if (c->fields.eta_hyper == 0 && c->fields.solver == LM_SOLVER_HYBRID)
        fprintf(
            out,
            "  fields.eta_hyper is 0: the Hall term does not act on the shortest waves of the grid, and their noise "
            "is not damped; %.1g damps it\n",
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
    lm_unwritten_each(c, print_line, out);
    if (c->output.checkpoint_every == 0)
        fprintf(
            out,
            "  output.checkpoint_every is 0: only signals, the wall-time limit and instabilities leave a checkpoint\n");
}

static void print_size(FILE *out, const struct lm_prepared *p)
{
    const struct lm_survey *s = &p->survey;
    const struct lm_config *c = s->config;
    fprintf(out, "\nrun\n  %lld steps to t = %g on %s\n", (long long)c->run.steps, (double)c->run.steps * c->run.dt,
            p->device);
    if (lm_backend_is_doubtful(p))
        fprintf(out,
                "  so little work may be faster on the CPU: with run.backend = auto a run of %d steps or more measures "
                "both\n  for a moment, and takes the faster one\n",
                LM_DOUBTFUL_STEPS);
    fprintf(out, "  %d x %d cells of %g x %g d_i\n", s->grid.nx, s->grid.ny, s->grid.dx, s->grid.dy);
    for (int k = 0; k < c->species_count; k++)
        fprintf(out, "  %s: %.4g M particles, %.4g a cell\n", c->species[k].name, 1e-6 * s->count[k],
                s->count[k] / (double)s->grid.cells);
    if (s->cells_a_point > 1)
        fprintf(out, "  the values below are from %d x %d points, not from every cell; a run checks every cell\n",
                s->at.nx, s->at.ny);
}

static void print_need(FILE *out, const char *where, const double parts[LM_NEED_PARTS], const struct lm_memory *has)
{
    fprintf(out, "  %.4g GiB of %.4g GiB free (%.4g in all) on the %s:", lm_need_sum(parts) / 0x1p30,
            has->free / 0x1p30, has->total / 0x1p30, where);
    for (int k = 0, any = 0; k < LM_NEED_PARTS; k++)
        if (parts[k] > 0)
            fprintf(out, "%s %s %.3g", any++ ? "," : "", lm_need_names[k], parts[k] / 0x1p30);
    fprintf(out, "; limited by %s\n", has->limited_by);
}

static void print_memory(FILE *out, const struct lm_need *n)
{
    fprintf(out, "memory\n");
    if (n->kind == LM_BACKEND_CUDA)
        print_need(out, "GPU", n->device, &n->has_device);
    print_need(out, "host", n->host, &n->has_host);
}

static int print_all(FILE *out, const struct lm_prepared *p)
{
    const struct lm_config *c = p->survey.config;
    fprintf(out, "; resolved settings\n");
    int status = lm_config_write(c, out);
    print_size(out, p);
    print_sides(out, c);
    print_bodies(out, &p->survey);
    print_memory(out, &p->need);
    lm_check_disk(p, out);
    if (!status)
        status = lm_check_ranks(p, out);
    if (!status)
        status = lm_check_backgrounds(&p->survey, out);
    if (!status)
        status = lm_check_ionisation(&p->survey, &p->need, out);
    lm_check_energy(&p->survey, out);
    print_limits(out, &p->limits);
    print_advice(out, p);
    advise_thermal(out, c);
    advise_corners(out, c);
    if (!status)
        status = advise_inflow(out, c, &p->survey.grid);
    advise_directory(out, c);
    return status;
}

/* The names of the limits that are exceeded, as the message. */
static int fail_beyond(const struct lm_limits *l)
{
    char list[LM_MAX_MESSAGE / 2] = "";
    for (int k = 0, n = 0; k < l->count && n < (int)sizeof list; k++)
        if (lm_limit_is_exceeded(&l->of[k]))
            n += snprintf(list + n, sizeof list - (size_t)n, "%s%s", n ? "; " : "", l->of[k].what);
    return lm_fail(LM_BEYOND, "beyond %d limit%s: %s", lm_limits_exceeded(l), lm_limits_exceeded(l) == 1 ? "" : "s",
                   list);
}

/* The message that a run would end with comes last. */
static int check(const struct lm_config *c, const struct lm_prepared *p, FILE *out)
{
    char why[LM_MAX_MESSAGE];
    if (lm_check_ranks(p, NULL))
        return LM_BAD_INPUT;
    const int tried = lm_prepare_try(c, p);
    snprintf(why, sizeof why, "%s", tried ? lm_error() : "");
    if (tried == LM_BAD_INPUT)
        return tried;
    const int status = print_all(out, p);
    if (tried || status)
        return tried ? lm_fail(tried, "%s", why) : status;
    return lm_limits_exceeded(&p->limits) > 0 ? fail_beyond(&p->limits) : LM_OK;
}

int lm_check(const struct lm_config *c, FILE *out)
{
    struct lm_prepared p;
    int status = lm_prepare(c, NULL, &p);
    if (status)
        return status;
    status = check(c, &p, out);
    lm_prepare_free(&p);
    return status;
}
