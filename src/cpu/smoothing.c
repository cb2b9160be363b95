/* CPU backend: the binomial filter (larmor/physics/fields/smoothing.h). A pass reads a copy of the array, which stays
 * in c->spare. Where there are bodies, a second loop corrects what the first one has put near them. */
#include "backend/field_boundaries.h"
#include "cpu/fields.h"

static void smooth(struct lm_cpu *c, double *a)
{
    const struct lm_grid *g = &c->base.setup.grid;
    lm_cpu_copy_array(c, c->spare, a);
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        a[k] = lm_binomial(c->spare + k, g->stride);
    }
}

void lm_cpu_smooth_moment(struct lm_cpu *c, double *a, int along)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int r = 0; r < c->base.setup.smoothing; r++) {
        smooth(c, a);
        LM_ROWS(c, 0, c->solid ? 0 : -g->ny)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            a[k] = lm_binomial_near_body(c->spare + k, c->solid + k, g->stride);
        }
        lm_fill_moment(g, a, along);
    }
}

void lm_cpu_smooth_e(struct lm_cpu *c, double *e, int component)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int r = 0; r < c->base.setup.smoothing; r++) {
        smooth(c, e);
        LM_ROWS(c, 0, c->solid ? 0 : -g->ny)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            if (lm_touches_body(c->solid + k, component, g->stride))
                e[k] = c->spare[k];
        }
        lm_fill_e(&c->base.setup, e, component, LM_FILL_PUSH);
    }
}
