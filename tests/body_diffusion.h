/* B that diffuses at a body: what tests of bodies' sizes and orders share. A solution in one dimension on a fine line,
 * and the arrays of a box whose cells have the size 1. */
#ifndef LARMOR_TESTS_BODY_DIFFUSION_H
#define LARMOR_TESTS_BODY_DIFFUSION_H

#include <string.h>

#include "field_box.h"
#include "field_walls.h"

enum { LINE_MOST = 6000, LINE_STEPS = 400 };

/* Cells along each axis of the box. */
static int side;

/* B_z, or B_x and B_y of a potential. */
enum way { ACROSS, IN_PLANE };

/* `count` values at d/2, 3d/2 and so on, with the rate lower (left - value) + upper (right - value) - loss value. */
struct line {
    int count;
    double d, value[LINE_MOST + 1], lower[LINE_MOST], upper[LINE_MOST], loss[LINE_MOST];
};

/* (1 + c A) value -> value; backwards: solves (1 + c A) new = value. */
static inline void line_apply(struct line *l, double c, int backwards)
{
    static double ratio[LINE_MOST], out[LINE_MOST];
    const int last = l->count - 1;
    for (int k = 0; k <= last; k++) {
        const double a = c * l->lower[k], b = c * l->upper[k];
        if (!backwards) {
            out[k] = l->value[k] + a * ((k ? l->value[k - 1] : 0) - l->value[k]) +
                     b * ((k < last ? l->value[k + 1] : 0) - l->value[k]) - c * l->loss[k] * l->value[k];
            continue;
        }
        const double pivot = 1 - a - b - c * l->loss[k] - (k ? a * ratio[k - 1] : 0);
        ratio[k] = b / pivot;
        out[k] = (l->value[k] - (k ? a * out[k - 1] : 0)) / pivot;
    }
    for (int k = last - 1; k >= 0 && backwards; k--)
        out[k] -= ratio[k] * out[k + 1];
    memcpy(l->value, out, (size_t)l->count * sizeof *out);
}

/* The values after a time, by Crank and Nicolson. */
static inline void line_advance(struct line *l, double t)
{
    const double dt = t / LINE_STEPS;
    for (int k = 0; k < 4; k++) /* in all two steps, without ringing */
        line_apply(l, -0.5 * dt, 1);
    for (int k = 0; k < LINE_STEPS - 2; k++) {
        line_apply(l, 0.5 * dt, 0);
        line_apply(l, -0.5 * dt, 1);
    }
}

/* Where a component of B stands. */
static inline double node_x(int component, int i)
{
    return i + 0.5 + b_place[component][0];
}

static inline double node_y(int component, int j)
{
    return j + 0.5 + b_place[component][1];
}

static inline void put_constant(struct box *x, int array, double value)
{
    for (size_t k = 0; k < x->g.size; k++)
        x->work[k] = value;
    x->b->ops->put(x->b, array, x->work);
}

/* So much plasma that Ohm's law has the resistivity only, which is 1 in the plasma. */
static inline void put_plasma(struct box *x, const uint8_t *mask, double eta_in_body)
{
    for (int a = LM_N_OLD; a < LM_N_NEW; a++)
        put_constant(x, a, a == LM_N_OLD ? 1e9 : 0);
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++)
            x->work[lm_at(&x->g, i, j)] = mask[j * side + i] ? eta_in_body : 1;
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, LM_ETA, x->work);
}

#endif
