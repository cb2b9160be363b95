/* How large a body is for the fields: B that diffuses through a disk and through a tilted slab, beside solutions in one
 * dimension on fine grids. The size that fits a result best, in the least squares of B, is that of the body to some
 * hundredths of a cell. LM_SHOW=1 prints all of them, and those of bodies that are sets of cells. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/body_nodes.h"
#include "body_diffusion.h"
#include "larmor/physics/fields/relaxation.h"
#include "suite.h"

enum { FINE = 3000 }; /* values of a line */

/* A disk, or slabs |s| < size where s is the distance along (1, 2)/sqrt(5), periodic with the box. */
struct shape {
    int is_slab;
    double x, y, size;
};

static double slab_period(void)
{
    return side / sqrt(5);
}

/* The radius, or the distance from the middle of the slab. */
static double distance(const struct shape *s, double x, double y)
{
    if (!s->is_slab)
        return hypot(x - s->x, y - s->y);
    return remainder((x - s->x + 2 * (y - s->y)) / sqrt(5), slab_period());
}

static int shape_at(const void *shapes, double x, double y)
{
    const struct shape *s = shapes;
    return fabs(distance(s, x, y)) < s->size;
}

static double initial(const struct shape *s, double size, double at)
{
    return s->is_slab ? cos(2 * M_PI * at / slab_period()) : exp(-pow(at / size, 2));
}

/* --- in one dimension --- */

/* B_z, or the potential, from the middle outwards after a time. `size`: that of the body; `scale`: of what it is at the
 * start. */
static void solve_line(const struct shape *s, enum way way, double size, double scale, double eta, double t,
                       struct line *l)
{
    const double end = s->is_slab ? 0.5 * slab_period() : 0.5 * side * M_SQRT2;
    const int in_body = (int)(size / end * FINE + 0.5);
    l->count = FINE;
    /* The surface is on a face, or at the last centre where the potential does not change. */
    l->d = size / (in_body - (eta == 0 && way == IN_PLANE ? 0.5 : 0));
    for (int k = 0; k < FINE; k++) {
        const double middle = s->is_slab ? 1 : k + 0.5, here = k < in_body ? eta : 1;
        const double eta_low = k <= in_body ? (k < in_body ? eta : 2 / (1 + 1 / eta)) : 1;
        const double eta_high = k + 1 <= in_body ? (k + 1 < in_body ? eta : 2 / (1 + 1 / eta)) : 1;
        const double low = (k == 0       ? 0
                            : s->is_slab ? 1
                                         : k) /
                           middle / (l->d * l->d),
                     high = (k == FINE - 1 ? 0
                             : s->is_slab  ? 1
                                           : k + 1) /
                            middle / (l->d * l->d);
        l->lower[k] = low * (way == IN_PLANE ? here : eta == 0 && k <= in_body ? 0 : eta_low);
        l->upper[k] = high * (way == IN_PLANE ? here : eta == 0 && k + 1 <= in_body ? 0 : eta_high);
        l->value[k] = initial(s, scale, (k + 0.5) * l->d);
    }
    line_advance(l, t);
}

/* The value, or its slope, at a distance from the middle. */
static double on_line(const struct line *l, double at, int slope)
{
    const double u = fmin(at / l->d - 0.5, FINE - 2.5);
    const int k = u < 0 ? 0 : (int)u;
    if (slope)
        return (l->value[k + 1] - l->value[k]) / l->d;
    return u < 0 ? l->value[0] : l->value[k] + (u - k) * (l->value[k + 1] - l->value[k]);
}

/* --- on the grid --- */

/* The component of B in (x, y) where B_z or the potential is that of the line. */
static double b_of_line(const struct shape *s, int component, const struct line *l, double x, double y)
{
    const double at = distance(s, x, y);
    if (component == 2)
        return on_line(l, fabs(at), 0);
    const double slope = on_line(l, fabs(at), 1) * (at < 0 ? -1 : 1);
    const double nx = s->is_slab ? 1 / sqrt(5) : (x - s->x) / fmax(at, 1e-9),
                 ny = s->is_slab ? 2 / sqrt(5) : (y - s->y) / fmax(at, 1e-9);
    return component == 0 ? slope * ny : -slope * nx;
}

static double potential(const struct shape *s, double x, double y)
{
    return initial(s, s->size, fabs(distance(s, x, y)));
}

static void put_start(struct box *x, const struct shape *s, enum way way)
{
    for (int d = 0; d < 3; d++) {
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                const double u = node_x(d, i), v = node_y(d, j);
                double b = 0;
                if (d == 2 && way == ACROSS)
                    b = potential(s, u, v);
                else if (d == 0 && way == IN_PLANE)
                    b = potential(s, u, v + 0.5) - potential(s, u, v - 0.5);
                else if (d == 1 && way == IN_PLANE)
                    b = -(potential(s, u + 0.5, v) - potential(s, u - 0.5, v));
                x->work[lm_at(&x->g, i, j)] = b;
            }
        lm_grid_wrap(&x->g, x->work);
        x->b->ops->put(x->b, LM_B + d, x->work);
    }
}

/* By how much the size differs that fits the field best. */
static double fit(struct box *x, const struct shape *s, enum way way, double eta, double t)
{
    static struct line line[3];
    const double step = 0.2;
    double product = 0, square = 0;
    for (int k = 0; k < 3; k++)
        solve_line(s, way, s->size + (k - 1) * step, s->size, eta, t, &line[k]);
    for (int d = way == ACROSS ? 2 : 0; d < (way == ACROSS ? 3 : 2); d++) {
        double *b = box_get(x, LM_B + d);
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                const double u = node_x(d, i), v = node_y(d, j), far = distance(s, u, v);
                double of[3];
                /* Beside the surface the slope of the potential has a jump where the current of a conductor is. */
                if (far > 0.5 * side - 1 || (way == IN_PLANE && fabs(fabs(far) - s->size) < 1.5))
                    continue;
                for (int k = 0; k < 3; k++)
                    of[k] = b_of_line(s, d, &line[k], u, v);
                const double change = (of[2] - of[0]) / (2 * step);
                product += (b[lm_at(&x->g, i, j)] - of[1]) * change;
                square += change * change;
            }
        free(b);
    }
    return product / square;
}

/* A resistivity of the body, `fields` for the nodes; the plasma has the resistivity 1. The field takes so many steps
 * with a relaxation at the end of each (larmor/physics/fields/relaxation.h); 0: it takes substeps only. */
struct body {
    int fields;
    double eta;
    int relaxations;
};

/* By how much a body is too large, in cells. */
static double excess(const struct shape *s, enum way way, struct body body, int cells_only)
{
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    const int insulates = body.fields == LM_BODY_INSULATING;
    const double eta = insulates ? 1e4 : body.eta, t = (eta > 0.5 ? 0.4 : 0.3) * s->size * s->size;
    uint8_t *mask = malloc((size_t)(side * side));
    for (int k = 0; k < side * side; k++)
        mask[k] = (uint8_t)shape_at(s, k % side + 0.5, k / side + 0.5);
    const struct lm_grid g = lm_grid_make(side, side, side, side);
    struct lm_body_node *node = malloc(lm_body_node_count(&g) * sizeof *node);
    struct lm_bodies bodies = {.count = 1,
                               .mask = mask,
                               .particles = {LM_ABSORBING},
                               .fields = {body.fields},
                               .node = cells_only ? NULL : node};
    lm_body_nodes_make(&g, mask, bodies.fields, shape_at, s, node);
    const int steps = body.relaxations > 0 ? body.relaxations : 1;
    const double dt = t / steps, k2 = lm_largest_k2(&g, 1, 1);
    const struct lm_ohm ohm = {
        .floor = 1, .gamma = 1, .substep_eta = body.relaxations && !insulates ? lm_substep_eta_of(&g, dt) : 0};
    struct box x = box_with_walls(side, side, side, side, ohm, 0, sides, &bodies);
    put_start(&x, s, way);
    put_plasma(&x, mask, insulates ? 0 : eta);
    const int substeps = (int)(dt * fmax(insulates ? 1 : lm_substep_eta(eta, &ohm), 1) * k2 / 2) + 1;
    for (int k = 0; k < steps; k++) {
        advance(&x, dt / substeps, substeps);
        if (body.relaxations)
            ck_assert_int_eq(x.b->ops->relax_b(x.b, dt,
                                               insulates ? LM_LEAST_RELAXATION_STAGES
                                                         : lm_relaxation_stages(fmax(eta, 1), dt, k2, &ohm)),
                             LM_OK);
    }
    const double result = fit(&x, s, way, eta, t);
    box_free(&x);
    free(node);
    free(mask);
    return result;
}

/* The size over that of a box of 44 cells, and the place of the centre in its cell. */
static const struct shape shapes[] = {{0, 0, 0, 5.3},      {0, 0.5, 0.5, 5.3}, {0, 0.27, 0.41, 4.7},
                                      {0, 0.1, 0.73, 6.1}, {1, 0, 0, 4.9},     {1, 0.3, 0.1, 5.33}};

static void compare(struct body body, int cells, double most)
{
    side = cells;
    for (int way = ACROSS; way <= IN_PLANE; way++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const struct shape *of = shapes + k,
                               shape = {of->is_slab, side / 2 + of->x, side / 2 + of->y, of->size * side / 44.0};
            const struct shape *s = &shape;
            const double found = excess(s, way, body, 0);
            if (getenv("LM_SHOW"))
                printf("fields %d, eta %g, %s, %s of %g: %+.3f cells, as a set of cells %+.3f\n", body.fields, body.eta,
                       way == ACROSS ? "B_z" : "B_x and B_y", s->is_slab ? "slab" : "disk", s->size, found,
                       excess(s, way, body, 1));
            ck_assert_msg(fabs(found) < most, "eta %g, way %d, shape %zu: the body is too large by %.3f cells",
                          body.eta, way, k, found);
        }
}

/* A tenth of a cell: what is asked of a body of second order. The surface of a set of cells is off by up to half a
 * cell. */
START_TEST(resistive_bodies)
{
    static const double etas[] = {50, 200, 5, 0.1};
    compare((struct body){LM_BODY_RESISTIVE, etas[_i], 0}, etas[_i] < 50 ? 88 : 44, 0.1);
}
END_TEST

/* The same in 100 steps, of which each takes more than a hundred explicit ones in the body. */
START_TEST(resistive_bodies_relax)
{
    compare((struct body){LM_BODY_RESISTIVE, 200, 100}, 44, 0.1);
}
END_TEST

START_TEST(conducting_bodies)
{
    compare((struct body){LM_BODY_CONDUCTING, 0, 0}, 44, 0.1);
}
END_TEST

/* The same in 20 steps, where a part of the plasma's resistivity is in the relaxation. */
START_TEST(conducting_bodies_relax)
{
    compare((struct body){LM_BODY_CONDUCTING, 0, 20}, 44, 0.1);
}
END_TEST

/* What the insulator adds to the resistivity of the nodes that its surface cuts is in the relaxation. */
START_TEST(insulating_bodies)
{
    compare((struct body){LM_BODY_INSULATING, 0, 400}, 44, 0.1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("size of bodies");
    TCase *t = tcase_create("size of bodies");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, resistive_bodies, 0, 4);
    tcase_add_test(t, resistive_bodies_relax);
    tcase_add_test(t, conducting_bodies);
    tcase_add_test(t, conducting_bodies_relax);
    tcase_add_test(t, insulating_bodies);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
