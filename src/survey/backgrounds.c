/* `larmor check`: background fields, their flows and substeps. */
#include <math.h>
#include <stdlib.h>

#include "survey/parts.h"
#include "config/keys.h"
#include "larmor/physics/fluid/flow.h"
#include "sim/setup.h"
#include "config/facts.h"

static const char *value_of(const struct lm_background_config *b, const char *key, char *text)
{
    lm_key_text(&lm_keys[lm_keys_find(LM_BACKGROUND_SECTION, key)], b, text);
    return text;
}

static void print_field(const struct lm_background_config *b, FILE *out)
{
    static const char *const sides[] = {"periodic", "wall", "inflow", "open"};
    char kind[LM_MAX_PATH], order[LM_MAX_PATH], flow[LM_MAX_PATH];
    fprintf(out, "  %s: %s, weno %s, velocity %s;", b->name, value_of(b, "kind", kind), value_of(b, "weno", order),
            value_of(b, "velocity", flow));
    for (int side = 0; side < LM_SIDES; side++)
        fprintf(out, "%s %s %s", side ? "," : "", lm_side_names[side], sides[b->sides[side]]);
    fprintf(out, "\n");
}

/* What flows through the upper face of the cell at k for each unit of its whole length. */
static double flow_through(const struct lm_survey *s, const double *v, int axis, size_t k)
{
    return v[k] * lm_opening_at(s->cuts.open, axis, (long)k);
}

/* The rate and the divergence of a prescribed flow: maxima over the points of fluid. */
static void survey_flow(const struct lm_survey *s, const double *vx, const double *vy, double *rate, double *divergence)
{
    const struct lm_grid *g = &s->at;
    *rate = *divergence = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double west = flow_through(s, vx, 0, k - 1), east = flow_through(s, vx, 0, k),
                         south = flow_through(s, vy, 1, k - (size_t)g->stride), north = flow_through(s, vy, 1, k);
            if (!lm_survey_is_plasma(s, i, j))
                continue;
            *rate =
                fmax(*rate, lm_flow_rate_at(vx, vy, s->cuts.open, (long)k, g->stride, 1 / s->grid.dx, 1 / s->grid.dy));
            *divergence = fmax(*divergence, fabs((east - west) / g->dx + (north - south) / g->dy));
        }
}

int lm_check_flow(const struct lm_survey *s, int field, double *rate, double *divergence)
{
    const size_t size = s->at.size;
    *rate = 0;
    *divergence = INFINITY;
    if (s->config->background[field].flow != LM_FLOW_PRESCRIBED)
        return LM_OK;
    double *store = calloc(3 * size, sizeof *store);
    uint8_t *clearance = malloc(size);
    int status = store && clearance ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a flow");
    if (!status)
        status = lm_stencil_clearance(&s->at, s->point_mask, clearance);
    if (!status)
        status = lm_setup_flow(s->points, field, clearance, s->cuts, 0.5 * s->config->run.dt, store, store + size,
                               store + 2 * size);
    if (!status)
        survey_flow(s, store, store + size, rate, divergence);
    free(store);
    free(clearance);
    return status;
}

double lm_survey_crowding(const struct lm_survey *s)
{
    uint8_t *clearance = s->cuts.open ? malloc(s->at.size) : NULL;
    double crowding = 1;
    if (clearance && lm_stencil_clearance(&s->at, s->point_mask, clearance) == LM_OK)
        crowding = lm_crowding(&s->at, clearance, s->cuts.open);
    free(clearance);
    return crowding;
}

double lm_check_substeps(const struct lm_survey *s, int field, double rate)
{
    const struct lm_setup setup = lm_setup_of(s->config);
    const double all = lm_background_rate(&s->grid, &setup.background[field], rate, lm_survey_crowding(s));
    return fmax(1, ceil(s->config->run.dt * all / s->config->background[field].courant));
}

static int print_flow(const struct lm_survey *s, int field, FILE *out)
{
    const struct lm_background_config *c = &s->config->background[field];
    double rate, divergence;
    int status = lm_check_flow(s, field, &rate, &divergence);
    if (status)
        return status;
    const double substeps = lm_check_substeps(s, field, rate);
    if (c->flow == LM_FLOW_PRESCRIBED)
        fprintf(out, "    %.4g substeps in the first step\n", substeps);
    else
        fprintf(out, "    %.4g substeps or more in a step: they follow the flow\n", substeps);
    if (substeps > 100)
        fprintf(out,
                "    so many substeps take long: use a smaller velocity, diffusivity or run.dt, or larger cells\n");
    if (c->limited && divergence > 1e-9 * rate && (c->least != 0 || isfinite(c->most)))
        fprintf(out, "    its flow has a divergence: there only a minimum of 0 holds, and no other bound\n");
    if (c->limited && lm_background_has_source(c))
        fprintf(out, "    its source may exceed the bounds\n");
    return LM_OK;
}

int lm_check_backgrounds(const struct lm_survey *s, FILE *out)
{
    const struct lm_config *c = s->config;
    const int own = lm_entropy_field(c), configured = own < 0 ? c->background_count : own; /* `own` is the last */
    int status = own < 0 ? LM_OK : lm_check_electrons(s, out);
    if (!status && configured > 0)
        fprintf(out, "background fields\n");
    for (int k = 0; k < configured && !status; k++) {
        print_field(&c->background[k], out);
        status = print_flow(s, k, out);
    }
    return status;
}
