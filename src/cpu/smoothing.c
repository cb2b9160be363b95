/* CPU backend: the binomial filter (larmor/physics/fields/smoothing.h). A pass reads a copy of the array, which stays
 * in c->spare. Where there are bodies, a second loop corrects what the first one has put near them. */
#include "backend/field_boundaries.h"
#include "cpu/fields.h"
#include "cpu/strips.h"

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

/* A pass among bodies, of values at the centres. */
static void correct_near_bodies(struct lm_cpu *c, double *a)
{
    const struct lm_grid *g = &c->base.setup.grid;
    LM_ROWS(c, 0, c->solid ? 0 : -g->ny)
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        a[k] = lm_binomial_near_body(c->spare + k, c->solid + k, g->stride);
    }
}

/* The same of values on the faces that an axis crosses. */
static void restore_faces_of_bodies(struct lm_cpu *c, int axis, double *a)
{
    const struct lm_grid *g = &c->base.setup.grid;
    LM_ROWS(c, 0, c->solid ? 0 : -g->ny)
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        if (lm_touches_body(c->solid + k, axis, g->stride))
            a[k] = c->spare[k];
    }
}

void lm_cpu_smooth_moment(struct lm_cpu *c, double *a, int along)
{
    for (int r = 0; r < c->base.setup.smoothing; r++) {
        smooth(c, a);
        correct_near_bodies(c, a);
        lm_fill_moment(&c->base.setup.grid, a, along);
    }
}

void lm_cpu_smooth_push(struct lm_cpu *c, double *a, int component, enum lm_fill fill)
{
    const int array = a == c->array[LM_PUSH_E + component] ? 0 : a == c->array[LM_PUSH_B + component] ? 1 : -1;
    lm_fill_e(&c->base.setup, a, component, fill);
    for (int r = 0; r < c->base.setup.smoothing; r++) {
        if (array >= 0) /* not the part of friction or of the pressure */
            lm_cpu_push_of_strips(c, a, component, array);
        smooth(c, a);
        if (fill == LM_FILL_PUSH_PRESSURE)
            restore_faces_of_bodies(c, component, a);
        else
            correct_near_bodies(c, a);
        lm_fill_e(&c->base.setup, a, component, fill);
    }
}
