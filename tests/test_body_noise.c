/* Noise in the fields around bodies that conduct and insulate. Ohm's law takes energy from B or leaves it, as the Hall
 * term does not work: without a flow of ions no noise grows. The substeps are nearly as long as the Runge-Kutta method
 * bears. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/body_nodes.h"
#include "field_box.h"
#include "field_walls.h"
#include "larmor/physics/fields/relaxation.h"
#include "suite.h"

enum { M = 24, STEPS = 400, SUBSTEPS = 10 };

#define CELL 0.5

struct shape {
    int is_box;
    double x, y, size;
};

static int shape_at(const void *shape, double x, double y)
{
    const struct shape *s = shape;
    return s->is_box ? fabs(x - s->x) < s->size && fabs(y - s->y) < 0.8 * s->size : hypot(x - s->x, y - s->y) < s->size;
}

/* From -1 to 1. */
static double noise(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1;
}

static const double mean_b[3] = {1, 0.5, 0.7};

static void put_field(struct box *x)
{
    const struct lm_grid *g = &x->g;
    double *potential = calloc(g->size, sizeof *potential);
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++)
            potential[lm_at(g, i, j)] = 0.3 * CELL * noise();
    lm_grid_wrap(g, potential);
    for (int d = 0; d < 3; d++) {
        for (int j = 0; j < M; j++)
            for (int i = 0; i < M; i++) {
                const double *a = potential + lm_at(g, i, j);
                x->work[lm_at(g, i, j)] = mean_b[d] + (d == 0   ? (a[g->stride] - a[0]) / CELL
                                                       : d == 1 ? (a[0] - a[1]) / CELL
                                                                : 0.3 * noise());
            }
        lm_grid_wrap(g, x->work);
        x->b->ops->put(x->b, LM_B + d, x->work);
    }
    free(potential);
}

/* Puts a value in the plasma. Within two cells of the body it is `near`. In the body it is 0. */
static void put_around(struct box *x, int array, const struct shape *s, double value, double near)
{
    const struct shape larger = {s->is_box, s->x, s->y, s->size + 2};
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++)
            x->work[lm_at(&x->g, i, j)] = shape_at(s, i + 0.5, j + 0.5)         ? 0
                                          : shape_at(&larger, i + 0.5, j + 0.5) ? near
                                                                                : value;
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, array, x->work);
}

/* The energy of what B has besides its mean. B_z of a cut corner counts with the area that the corner has outside of
 * conductors; where `node` is NULL, all count alike. *largest: of |B| in cells outside the body. */
static double energy_of(struct box *x, const struct lm_body_node *node, const struct shape *s, double *largest)
{
    double *b[3], sum = 0;
    *largest = 0;
    for (int d = 0; d < 3; d++)
        b[d] = box_get(x, LM_B + d);
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) {
            const size_t k = lm_at(&x->g, i, j);
            const struct lm_vector v = lm_b_centre((struct lm_view){b[0] + k, b[1] + k, b[2] + k, x->g.stride});
            const double corner = node ? lm_open_part(node + lm_body_node_index(&x->g, i, j) + 2) : 1;
            for (int d = 0; d < 3; d++)
                sum += (d == 2 ? corner : 1) * (b[d][k] - mean_b[d]) * (b[d][k] - mean_b[d]);
            if (!shape_at(s, i + 0.5, j + 0.5))
                *largest = fmax(*largest, sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
        }
    for (int d = 0; d < 3; d++)
        free(b[d]);
    return sum;
}

/* The smallest and the largest energy on the way, over that of the start; the largest one in which all corners count
 * alike. `pace`: of the longest stable substep. */
struct range {
    double least, most, most_alike;
};

static struct range range_of(int fields, int particles, const struct shape *s, double eta, double thin, double pace)
{
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    uint8_t mask[M * M];
    for (int k = 0; k < M * M; k++)
        mask[k] = (uint8_t)shape_at(s, k % M + 0.5, k / M + 0.5);
    const struct lm_grid g = lm_grid_make(M, M, M * CELL, M * CELL);
    struct lm_body_node *node = malloc(lm_body_node_count(&g) * sizeof *node);
    struct lm_bodies bodies = {.count = 1, .mask = mask, .particles = {particles}, .fields = {fields}, .node = node};
    lm_body_nodes_make(&g, mask, bodies.fields, shape_at, s, node);
    struct box x =
        box_with_walls(M, M, g.nx * CELL, g.ny * CELL, (struct lm_ohm){.floor = 1e-3, .gamma = 1}, 0, sides, &bodies);
    put_field(&x);
    put_around(&x, LM_N_OLD, s, 1, thin);
    put_around(&x, LM_ETA, s, eta, eta);
    const double k2 = lm_largest_k2(&g, 1 / CELL, 1 / CELL);
    double largest;
    struct range r = {INFINITY, 0, 0};
    const double start_alike = energy_of(&x, NULL, s, &largest), start = energy_of(&x, node, s, &largest);
    for (int step = 0; step < STEPS && r.most < 10; step++) {
        const double dt = pace * 2.6 / (k2 * (largest / thin + eta));
        advance(&x, dt, SUBSTEPS);
        if (fields == LM_BODY_INSULATING)
            ck_assert_int_eq(x.b->ops->relax_b(x.b, dt * SUBSTEPS, LM_LEAST_RELAXATION_STAGES), LM_OK);
        const double now = energy_of(&x, node, s, &largest) / start,
                     alike = energy_of(&x, NULL, s, &largest) / start_alike;
        ck_assert(isfinite(now) && isfinite(alike));
        r = (struct range){fmin(r.least, now), fmax(r.most, now), fmax(r.most_alike, alike)};
    }
    box_free(&x);
    free(node);
    return r;
}

START_TEST(noise_does_not_grow)
{
    static const int kinds[] = {LM_BODY_CONDUCTING, LM_BODY_INSULATING}, turns[] = {LM_ABSORBING, LM_REFLECTING};
    static const struct shape shapes[] = {
        {0, 12.27, 12.41, 5.3}, {0, 12.5, 12.5, 4.7}, {1, 12.1, 12.73, 5.05}, {1, 12, 12, 5.5}};
    static const struct {
        double eta, thin;
    } plasmas[] = {{0, 1}, {0.2, 1}, {3, 1}, {0.01, 0.03}};
    for (int s = 0; s < 4; s++)
        for (int p = 0; p < 4; p++) {
            const struct range r =
                range_of(kinds[_i % 2], turns[_i / 2], &shapes[s], plasmas[p].eta, plasmas[p].thin, 1);
            /* Beside a reflecting conductor energy stays, and goes from corner to corner. An instability in a corner
             * that is nearly closed has hardly any energy with its area, and much without. */
            const double most_alike = _i == 2 ? 2 : 1;
            ck_assert_msg(r.most <= 1 && r.most_alike <= most_alike,
                          "body %d, particles %d, shape %d, plasma %d: the energy of the noise is %g times that of the "
                          "start, and %g times if all corners count alike",
                          kinds[_i % 2], turns[_i / 2], s, p, r.most, r.most_alike);
        }
}
END_TEST

/* Nothing takes energy from the noise beside a conductor that gives ions back, in plasma without resistivity. In short
 * substeps the Runge-Kutta method takes nearly nothing. */
START_TEST(conductors_that_reflect_take_no_energy)
{
    static const struct shape shapes[] = {{0, 12.27, 12.41, 5.3}, {1, 12.1, 12.73, 5.05}};
    const struct range r = range_of(LM_BODY_CONDUCTING, LM_REFLECTING, &shapes[_i], 0, 1, 0.25);
    ck_assert_msg(r.least > 0.99 && r.most < 1.0001,
                  "shape %d: the energy of the noise is %g to %g times that of the start", _i, r.least, r.most);
}
END_TEST

/* An insulator takes energy, as B follows its surroundings there. One that gives ions back takes less: its surface has
 * no resistivity that lets the B of a wind in. */
START_TEST(insulators_that_absorb_take_more)
{
    static const struct shape shapes[] = {{0, 12.27, 12.41, 5.3}, {1, 12.1, 12.73, 5.05}};
    const struct range absorbing = range_of(LM_BODY_INSULATING, LM_ABSORBING, &shapes[_i], 0, 1, 0.25),
                       reflecting = range_of(LM_BODY_INSULATING, LM_REFLECTING, &shapes[_i], 0, 1, 0.25);
    ck_assert_msg(reflecting.least > absorbing.least,
                  "shape %d: %g of the energy is left, and %g where ions are absorbed", _i, reflecting.least,
                  absorbing.least);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise at bodies");
    TCase *t = tcase_create("noise at bodies");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, noise_does_not_grow, 0, 4);
    tcase_add_loop_test(t, conductors_that_reflect_take_no_energy, 0, 2);
    tcase_add_loop_test(t, insulators_that_absorb_take_more, 0, 2);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
