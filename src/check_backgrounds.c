/* `larmor check`: what a run would do with its background fields. */
#include <math.h>
#include <stdlib.h>

#include "check_electrons.h"
#include "keys.h"
#include "larmor/run.h"

struct found {
    const struct lm_config *config;
    struct lm_grid grid;
    const uint8_t *mask;
    uint8_t *room;
    double *vx, *vy, *work;
};

static int is_fluid(const struct found *f, int i, int j)
{
    return !f->mask || !f->mask[(size_t)j * (size_t)f->grid.nx + (size_t)i];
}

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

/* Extremes over the cells of fluid: the rate of the flow, and its divergence. */
static void survey_flow(const struct found *f, double *rate, double *divergence)
{
    const struct lm_grid *g = &f->grid;
    *rate = *divergence = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double west = f->vx[k - 1], east = f->vx[k], south = f->vy[k - (size_t)g->stride], north = f->vy[k];
            if (!is_fluid(f, i, j))
                continue;
            *rate = fmax(*rate, lm_flow_rate(west, east, south, north, 1 / g->dx, 1 / g->dy));
            *divergence = fmax(*divergence, fabs((east - west) / g->dx + (north - south) / g->dy));
        }
}

static int check_flow(const struct found *f, const struct lm_background *b, int field, FILE *out)
{
    const struct lm_background_config *c = &f->config->background[field];
    const double dt = f->config->run.dt;
    double rate = 0, divergence = INFINITY;
    if (c->flow == LM_FLOW_PRESCRIBED) {
        int status = lm_setup_flow(f->config, field, f->room, 0.5 * dt, f->vx, f->vy, f->work);
        if (status)
            return status;
        survey_flow(f, &rate, &divergence);
    }
    const double substeps = fmax(1, ceil(dt * lm_background_rate(&f->grid, b, rate) / c->courant));
    if (c->flow == LM_FLOW_PRESCRIBED)
        fprintf(out, "    %.4g substeps in the first step\n", substeps);
    else
        fprintf(out, "    %.4g substeps or more in a step: they follow the flow\n", substeps);
    if (substeps > 100)
        fprintf(out, "    so many substeps take long: a smaller velocity or diffusivity, larger cells or run.dt "
                     "would need fewer\n");
    if (c->limited && divergence > 1e-9 * rate && (c->least != 0 || isfinite(c->most)))
        fprintf(out, "    its flow can have a divergence: there no bound holds but a minimum of 0\n");
    if (c->limited && lm_background_has_source(c))
        fprintf(out, "    its source knows no bounds\n");
    return LM_OK;
}

static int check_initial(const struct found *f, int field, FILE *out)
{
    const struct lm_background_config *b = &f->config->background[field];
    const struct lm_grid *g = &f->grid;
    long outside = 0, negative = 0;
    int status = lm_expr_fill_at(f->config->constants, b->initial, g, (struct lm_place){0, 0}, 0, f->work);
    for (int j = 0; j < g->ny && !status; j++)
        for (int i = 0; i < g->nx; i++) {
            const double q = f->work[lm_at(g, i, j)];
            outside += is_fluid(f, i, j) && (q < b->least || q > b->most);
            negative += is_fluid(f, i, j) && q < 0;
        }
    if (b->limited && outside > 0)
        fprintf(out, "    initial is outside of the bounds in %ld cells\n", outside);
    if (b->kind == LM_NEUTRAL_GAS && negative > 0)
        fprintf(out, "    initial is a negative density in %ld cells\n", negative);
    return status;
}

int lm_check_backgrounds(const struct lm_config *c, const uint8_t *mask, FILE *out)
{
    if (c->background_count == 0)
        return LM_OK;
    const struct lm_setup setup = lm_setup_of(c);
    const size_t size = setup.grid.size;
    double *store = calloc(3 * size, sizeof *store);
    struct found f = {c, setup.grid, mask, malloc(size), store, store + size, store + 2 * size};
    int status = store && f.room ? LM_OK : lm_fail(LM_FAILED, "not enough memory");
    if (!status)
        status = lm_background_room(&f.grid, mask, f.room);
    const int own = lm_sim_entropy(c), given = own < 0 ? c->background_count : own; /* it is the last one */
    if (!status && own >= 0)
        status = lm_check_electrons(c, f.room, out);
    if (!status && given > 0)
        fprintf(out, "background fields\n");
    for (int k = 0; k < given && !status; k++) {
        print_field(&c->background[k], out);
        status = check_flow(&f, &setup.background[k], k, out);
        if (!status)
            status = check_initial(&f, k, out);
    }
    free(store);
    free(f.room);
    return status;
}
