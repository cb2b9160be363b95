/* The order of the fields at bodies: B that diffuses around a conducting and an insulating disk, on grids of more and
 * more cells, beside solutions on fine lines from the centre. B begins as a function of the radius, and as another one
 * times cos theta, which also has a current across the surface. LM_SHOW=1 prints the errors, LM_MOST=128 has disks of
 * up to 128 cells. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/body_nodes.h"
#include "body_diffusion.h"
#include "larmor/physics/fields/relaxation.h"
#include "suite.h"

enum { FINE = 6000 }; /* values of a line */

struct disk {
    double x, y, radius;
};

static int disk_at(const void *disk, double x, double y)
{
    const struct disk *d = disk;
    return hypot(x - d->x, y - d->y) < d->radius;
}

/* A smooth function of u = r/radius, times cos(mode theta). */
static double initial(double u, int mode)
{
    return pow(u, mode) * exp(-u * u);
}

/* --- in one dimension --- */

/* B_z, or the potential, from the middle outwards after a time. */
static void solve_line(const struct disk *disk, enum way way, int mode, double eta, double t, struct line *l)
{
    const double end = 0.5 * side;
    const int in_body = (int)(disk->radius / end * FINE + 0.5);
    l->count = FINE;
    /* The surface is on a face, or at the last centre where B does not change. */
    l->d = disk->radius / (in_body - (eta == 0 && way == IN_PLANE ? 0.5 : 0));
    for (int k = 0; k < FINE; k++) {
        const double r = k + 0.5, here = k < in_body ? eta : 1, d2 = l->d * l->d;
        const double mean = eta > 0 ? 2 / (1 + 1 / eta) : 0;
        const double low = k < in_body    ? eta
                           : k == in_body ? mean
                                          : 1,
                     high = k + 1 < in_body    ? eta
                            : k + 1 == in_body ? mean
                                               : 1;
        l->lower[k] = k / r / d2 * (way == IN_PLANE ? here : low);
        l->upper[k] = k == FINE - 1 ? 0 : (k + 1) / r / d2 * (way == IN_PLANE ? here : high);
        l->loss[k] = here * mode * mode / (r * r * d2);
        l->value[k] = initial(r * l->d / disk->radius, mode);
    }
    line_advance(l, t);
}

static double on_line(const struct line *l, double r)
{
    const double u = fmin(r / l->d - 0.5, FINE - 2.5);
    const int k = u < 0 ? 0 : (int)u;
    return l->value[k] + (u - k) * (l->value[k + 1] - l->value[k]);
}

/* --- on the grid --- */

/* B_z or the potential, at the start (l is NULL) or as that of the line. */
static double scalar(const struct disk *d, int mode, const struct line *l, double x, double y)
{
    const double r = hypot(x - d->x, y - d->y);
    return (l ? on_line(l, r) : initial(r / d->radius, mode)) * cos(mode * atan2(y - d->y, x - d->x));
}

/* A component of B; that in the plane has the flux between two nodes of the potential. */
static double b_at(const struct disk *disk, int mode, const struct line *l, int component, double x, double y)
{
    if (component == 2)
        return scalar(disk, mode, l, x, y);
    if (component == 0)
        return scalar(disk, mode, l, x, y + 0.5) - scalar(disk, mode, l, x, y - 0.5);
    return scalar(disk, mode, l, x - 0.5, y) - scalar(disk, mode, l, x + 0.5, y);
}

static void put_start(struct box *x, const struct disk *disk, enum way way, int mode)
{
    for (int d = 0; d < 3; d++) {
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++)
                x->work[lm_at(&x->g, i, j)] =
                    (d == 2) == (way == ACROSS) ? b_at(disk, mode, NULL, d, node_x(d, i), node_y(d, j)) : 0;
        lm_grid_wrap(&x->g, x->work);
        x->b->ops->put(x->b, LM_B + d, x->work);
    }
}

/* The root mean square of the error of B in the plasma, over that of B, and the largest error over the largest B. Left
 * out are places nearer to the surface than a fifth of the radius, and far ones that feel the sides. */
struct errors {
    double mean, most;
};

static struct errors errors_of(struct box *x, const struct disk *disk, enum way way, int mode, const struct line *l)
{
    double error = 0, square = 0, worst = 0, most = 0;
    for (int d = way == ACROSS ? 2 : 0; d < (way == ACROSS ? 3 : 2); d++) {
        double *b = box_get(x, LM_B + d);
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) {
                const double u = node_x(d, i), v = node_y(d, j), r = hypot(u - disk->x, v - disk->y) / disk->radius;
                if (r < 1.2 || r > 3)
                    continue;
                const double want = b_at(disk, mode, l, d, u, v), off = b[lm_at(&x->g, i, j)] - want;
                error += off * off, square += want * want;
                worst = fmax(worst, fabs(off)), most = fmax(most, fabs(want));
            }
        free(b);
    }
    return (struct errors){sqrt(error / square), worst / most};
}

/* The plasma has the resistivity 1. An insulator takes a relaxation after each step. It is of first order in time, so
 * the steps are short. Its stages are many, so that no current is left in the body. */
#define STEP 0.0125
enum { STAGES = 48 };

static struct errors solve(int fields, enum way way, int mode, int cells)
{
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    static struct line line;
    const int insulates = fields == LM_BODY_INSULATING;
    const double radius = 0.5 * cells, t = 0.1 * radius * radius;
    side = 4 * cells;
    const struct disk disk = {0.5 * side + 0.27, 0.5 * side + 0.41, radius};
    uint8_t *mask = malloc((size_t)(side * side));
    for (int k = 0; k < side * side; k++)
        mask[k] = (uint8_t)disk_at(&disk, k % side + 0.5, k / side + 0.5);
    const struct lm_grid g = lm_grid_make(side, side, side, side);
    struct lm_body_node *node = malloc(lm_body_node_count(&g) * sizeof *node);
    struct lm_bodies bodies = {.count = 1, .mask = mask, .particles = {LM_ABSORBING}, .fields = {fields}, .node = node};
    lm_body_nodes_make(&g, mask, bodies.fields, disk_at, &disk, node);
    struct box x = box_with_walls(side, side, side, side, (struct lm_ohm){.floor = 1, .gamma = 1}, 0, sides, &bodies);
    put_start(&x, &disk, way, mode);
    put_plasma(&x, mask, 0);
    const int steps = insulates ? (int)(t / STEP) : 1;
    const double dt = t / steps;
    const int substeps = (int)(dt * lm_largest_k2(&g, 1, 1) / 2) + 1;
    for (int k = 0; k < steps; k++) {
        advance(&x, dt / substeps, substeps);
        if (insulates)
            ck_assert_int_eq(x.b->ops->relax_b(x.b, dt, STAGES), LM_OK);
    }
    solve_line(&disk, way, mode, insulates ? 1e4 : 0, t, &line);
    const struct errors errors = errors_of(&x, &disk, way, mode, &line);
    box_free(&x);
    free(node), free(mask);
    return errors;
}

/* Disks of 16 cells across, 32 and so on. An error of second order falls to a quarter when the cells are half as large,
 * one of first order to a half. The limit is in the middle. */
START_TEST(order)
{
    static const int kinds[] = {LM_BODY_CONDUCTING, LM_BODY_INSULATING};
    const int most = getenv("LM_MOST") ? atoi(getenv("LM_MOST")) : 32;
    const int fields = kinds[_i / 4], mode = _i % 2;
    const enum way way = _i / 2 % 2;
    struct errors before = {0, 0};
    for (int cells = 16; cells <= most; cells *= 2) {
        const struct errors e = solve(fields, way, mode, cells);
        const double order = log2(before.mean / e.mean);
        if (getenv("LM_SHOW"))
            printf("fields %d, %s, mode %d, %d cells: %.2e, order %.2f; at most %.2e, order %.2f\n", fields,
                   way == ACROSS ? "B_z" : "B_x and B_y", mode, cells, e.mean, cells > 16 ? order : 0, e.most,
                   cells > 16 ? log2(before.most / e.most) : 0);
        ck_assert_msg(cells == 16 || order > 1.5, "fields %d, way %d, mode %d, %d cells: order %.2f", fields, way, mode,
                      cells, order);
        before = e;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order of bodies");
    TCase *t = tcase_create("order of bodies");
    tcase_set_timeout(t, 1000);
    tcase_add_loop_test(t, order, 0, 8);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
