/* Background fields of a configuration: their sides, their bounds, what flows in. */
#include <stdio.h>
#include <stdlib.h>

#include "config/reader.h"
#include "config/side_points.h"
#include "base/expr.h"

static int line_of(const struct lm_config_reader *r, int field, const char *name)
{
    return r->named_key_line[LM_BACKGROUNDS][field][lm_keys_find(LM_BACKGROUND_SECTION, name)];
}

static void report(struct lm_config_reader *r, int field, const char *name, const char *wrong)
{
    lm_problems_add(&r->problems, line_of(r, field, name), "background.%s.%s: %s", r->config->background[field].name,
                    name, wrong);
}

int lm_background_side_of(int boundary)
{
    static const int sides[] = {[LM_PERIODIC] = LM_BACKGROUND_PERIODIC,
                                [LM_REFLECTING] = LM_BACKGROUND_WALL,
                                [LM_ABSORBING] = LM_BACKGROUND_OPEN,
                                [LM_THERMAL] = LM_BACKGROUND_WALL,
                                [LM_INFLOW] = LM_BACKGROUND_INFLOW};
    return sides[boundary];
}

static void resolve_side(struct lm_config_reader *r, int field, int side)
{
    const int boundary = r->config->boundary[side];
    int *own = &r->config->background[field].sides[side];
    char key[LM_MAX_NAME];
    if (boundary == LM_NOT_CHOSEN || *own == LM_NOT_CHOSEN)
        return;                         /* an error that has been reported */
    if (*own == LM_BACKGROUND_PERIODIC) /* the value of `auto` */
        *own = lm_background_side_of(boundary);
    else if (boundary == LM_PERIODIC) {
        snprintf(key, sizeof key, "side_%s", lm_side_names[side]);
        report(r, field, key, "the particles are periodic there, so it must be auto");
    }
}

static void check_bounds(struct lm_config_reader *r, int field)
{
    const struct lm_background_config *b = &r->config->background[field];
    if (!(b->least < b->most) && b->limited == 1)
        report(r, field, "maximum", "is not above minimum");
    if (b->scheme == LM_CENTRED && b->limited == 1)
        report(r, field, "bounds", "weno = centred keeps no bounds: choose another order");
}

void lm_config_check_backgrounds(struct lm_config_reader *r)
{
    for (int field = 0; field < r->config->background_count; field++) {
        for (int side = 0; side < LM_SIDES; side++)
            resolve_side(r, field, side);
        check_bounds(r, field);
    }
}

/* `work` has room for x, y and the values along a side. */
static void check_inflow(struct lm_config_reader *r, const struct lm_grid *g, int field, double *work)
{
    const struct lm_config *c = r->config;
    const struct lm_background_config *b = &c->background[field];
    double *x = work, *y = work + lm_longest_side(g), *values = y + lm_longest_side(g);
    char where[LM_MAX_MESSAGE / 2];
    for (int side = 0; side < LM_SIDES; side++) {
        if (b->sides[side] != LM_BACKGROUND_INFLOW)
            continue;
        int count = lm_side_points(g, (enum lm_side)side, x, y);
        if (lm_expr_at(c->names, b->inflow, (size_t)count, x, y, 0.5 * c->run.dt, values)) {
            snprintf(where, sizeof where, "at %s: %s", lm_side_names[side], lm_error());
            report(r, field, "inflow", where);
            return;
        }
    }
}

int lm_config_check_background_inflow(struct lm_config_reader *r)
{
    if (r->unusable_values || r->problems.count > 0 || r->config->background_count == 0)
        return LM_OK;
    struct lm_grid g = lm_config_grid(r->config);
    double *work = malloc(3 * sizeof *work * lm_longest_side(&g));
    if (!work)
        return lm_fail(LM_FAILED, "out of memory");
    for (int field = 0; field < r->config->background_count; field++)
        check_inflow(r, &g, field, work);
    free(work);
    return LM_OK;
}
