/* Fields and moments in and around bodies, on the CPU backend. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "larmor/physics/fields/fields.h"
#include "field_box.h"
#include "field_noise.h"
#include "field_walls.h"
#include "suite.h"

/* NaN in values that the solver must not read changes nothing: in the moments of the plasma inside bodies, and in E,
 * which is output except where it is given. */
START_TEST(nobody_looks_into_bodies)
{
    int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    for (int number = _i; number <= 256; number += 17) {
        if (number < 256)
            sides_of_case(number, sides);
        else
            memset(sides, 0, sizeof sides);
        struct lm_bodies bodies = three_bodies();
        struct box x = box_with_walls(N, N, 7, 7, every_term, 2, sides, &bodies);
        struct state s = noise(&x), t = noise(&x);
        uint8_t *solid = malloc(x.g.size);
        lm_fill_solid(&x.b->setup, solid);
        for (int j = -LM_GHOST; j < N + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < N + LM_GHOST; i++) {
                size_t k = lm_at(&x.g, i, j);
                for (int a = JI; a <= DENSITY && solid[k]; a++)
                    t.a[a][k] = NAN;
                const int beyond_x = i < 0    ? sides[0]
                                     : i >= N ? sides[1]
                                              : 0,
                          beyond_y = j < 0    ? sides[2]
                                     : j >= N ? sides[3]
                                              : 0;
                for (int a = E; a < ALL && (a >= PUSH || (beyond_x != LM_INFLOW_E && beyond_y != LM_INFLOW_E)); a++)
                    t.a[a][k] = NAN;
            }
        /* E through a lower wall is computed although the index of the node is that of a ghost cell. */
        struct lm_control one_way, other_way;
        struct lm_grid_sums sums[2];
        solve(&x, &s, 20);
        x.b->ops->control(x.b, &one_way);
        x.b->ops->grid_sums(x.b, &sums[0]);
        solve(&x, &t, 20);
        x.b->ops->control(x.b, &other_way);
        x.b->ops->grid_sums(x.b, &sums[1]);
        for (int a = 0; a < ALL; a++)
            for (size_t k = 0; k < x.g.size; k++)
                if (s.a[a][k] != t.a[a][k] && !(a >= JI && a <= DENSITY && solid[k]))
                    ck_abort_msg("sides %d %d %d %d, array %d, element %zu: %g, %g", sides[0], sides[1], sides[2],
                                 sides[3], a, k, s.a[a][k], t.a[a][k]);
        ck_assert(memcmp(&one_way, &other_way, sizeof one_way) == 0);
        ck_assert(sums[0].electrons == sums[1].electrons && isfinite(one_way.frequency));
        free(solid);
        state_free(&s), state_free(&t);
        box_free(&x);
    }
}
END_TEST

/* The resistive E_z that goes from cell (i, j) to the surface of a conductor: in the plasma the part
 * eta^2/(eta^2 + (B/n)^2) of all. */
static double ez_for_surface(const struct box *x, const struct state *s, int i, int j)
{
    const struct lm_grid *g = &x->g;
    const size_t at = lm_at(g, i, j);
    const struct lm_view b = {s->a[B] + at, s->a[B + 1] + at, s->a[B + 2] + at, g->stride};
    const double eta = s->a[ETA][at], resistive = eta * lm_curl_b(b, 1 / g->dx, 1 / g->dy).z,
                 n = fmax(s->a[DENSITY][at], every_term.floor);
    const int in_body = body_cells[(j + N) % N * N + (i + N) % N] != 0;
    return in_body ? resistive : eta * eta / (eta * eta + lm_b_squared(b) / (n * n)) * resistive;
}

/* E_z in a cell of body 1, a conductor of whole cells: 0 inside; beside its surface minus the mean of what the one or
 * two cells across have for it, so that E_z is 0 on the surface; 0 where it has cells across on opposite sides. */
static double conductor_ez(const struct box *x, const struct state *s, int i, int j)
{
    static const int to[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    int outside[4];
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        outside[k] = body_cells[(j + to[k][1] + N) % N * N + (i + to[k][0] + N) % N] != 1;
        if (outside[k])
            sum += ez_for_surface(x, s, i + to[k][0], j + to[k][1]);
    }
    const int count = outside[0] + outside[1] + outside[2] + outside[3];
    return count == 0 || (outside[0] && outside[1]) || (outside[2] && outside[3]) ? 0 : -sum / count;
}

/* In a conductor E is 0 and B constant, but for E_z at its surface. In the other bodies E = eta J. The E of the push
 * has it, too, but with friction, as smoothing acts on the plasma only. `_i`: the passes of the filter. */
START_TEST(fields_in_bodies)
{
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    struct lm_bodies bodies = three_bodies();
    struct lm_ohm ohm = every_term;
    ohm.friction = _i % 2;
    struct box x = box_with_walls(N, N, 7, 7, ohm, _i, sides, &bodies);
    struct state s = noise(&x), before = noise(&x);
    solve(&x, &s, 20);
    struct lm_view b = {s.a[B], s.a[B + 1], s.a[B + 2], x.g.stride};
    int seen[4] = {0}, at_surface = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            size_t k = lm_at(&x.g, i, j);
            int body = body_cells[j * N + i];
            struct lm_vector v = lm_curl_b(lm_view_at(b, (long)k), 1 / x.g.dx, 1 / x.g.dy);
            if (!body)
                continue;
            const double want = body == 1 ? conductor_ez(&x, &s, i, j) : s.a[ETA][k] * v.z;
            ck_assert_double_eq_tol(s.a[E + 2][k], want, 1e-12);
            ck_assert(s.a[PUSH + 2][k] == (ohm.friction ? 0 : s.a[E + 2][k]));
            at_surface += body == 1 && want != 0;
            if (body == 1) {
                const int right = body_cells[j * N + (i + 1) % N] != 0, above = body_cells[(j + 1) % N * N + i] != 0;
                ck_assert(!right || s.a[E][k] == 0);
                ck_assert(!above || s.a[E + 1][k] == 0);
                ck_assert(s.a[PUSH][k] == 0 && s.a[PUSH + 1][k] == 0);
            } else if (body_cells[j * N + (i + 1) % N] == body)
                ck_assert(s.a[E][k] == 0.5 * (s.a[ETA][k] + s.a[ETA][k + 1]) * v.x);
            seen[body]++;
            if (i == 4 && j == 4)
                for (int d = 0; d < 3; d++)
                    ck_assert(s.a[B + d][k] == before.a[B + d][k]);
        }
    ck_assert(seen[1] > 8 && seen[2] > 4 && seen[3] > 8 && at_surface > 3);
    state_free(&s), state_free(&before);
    box_free(&x);
}
END_TEST

/* A resistive slab between conductors, without plasma: B_z diffuses at the rate eta K^2, where K belongs to half waves
 * between the faces of the conductors. */
START_TEST(diffusion_into_a_slab)
{
    enum { CELLS = 24, SLAB = 15, FROM = 4 };
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    uint8_t mask[CELLS];
    for (int i = 0; i < CELLS; i++)
        mask[i] = i >= FROM && i < FROM + SLAB ? 1 : 2;
    struct lm_bodies bodies = {
        .count = 2, .mask = mask, .fields = {LM_BODY_RESISTIVE, LM_BODY_CONDUCTING}, .particles = {LM_ABSORBING}};
    struct box x = box_with_walls(CELLS, 1, CELLS * 0.25, 0.25,
                                  (struct lm_ohm){.floor = 1, .gamma = 1, .eta_hyper = 1e-2}, 0, sides, &bodies);
    const double d = 0.25, k = 2 * M_PI / (SLAB * d), eta = 0.3, t = 2;
    double want[CELLS], *nan = malloc(x.g.size * sizeof *nan);
    memset(x.work, 0, x.g.size * sizeof *x.work);
    /* B_z stands on the faces, also on those of the conductors */
    for (int i = FROM - 1; i < FROM + SLAB; i++)
        want[i] = x.work[lm_at(&x.g, i, 0)] = cos(k * (i - FROM + 1) * d);
    lm_grid_wrap(&x.g, x.work);
    x.b->ops->put(x.b, LM_B + 2, x.work);
    for (size_t n = 0; n < x.g.size; n++)
        nan[n] = NAN, x.work[n] = eta;
    x.b->ops->put(x.b, LM_ETA, x.work);
    for (int a = LM_N_OLD; a < LM_N_NEW; a++)
        x.b->ops->put(x.b, a, nan);
    advance(&x, t / 400, 400);
    double *b = box_get(&x, LM_B + 2), left = exp(-eta * pow(grid_k(k, d), 2) * t);
    ck_assert(left < 0.5 && left > 0.01);
    for (int i = FROM - 1; i < FROM + SLAB; i++)
        ck_assert_double_eq_tol(b[lm_at(&x.g, i, 0)], left * want[i], 1e-9);
    x.b->ops->field_maxima(x.b, LM_MAXIMA);
    struct lm_control control;
    x.b->ops->control(x.b, &control);
    ck_assert_double_eq_tol(control.frequency, eta * 4 / (d * d), 1e-10);
    ck_assert_int_eq(control.floored, 0);
    free(b), free(nan);
    box_free(&x);
}
END_TEST

/* In a body that insulates E is 0, and J becomes 0 in all of its nodes: those of its cells and on its faces. In a
 * vacuum without currents B is uniform here, up to what the surroundings hold. No bit of B changes where no node of the
 * body touches it. */
START_TEST(no_current_in_an_insulator)
{
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    struct lm_bodies bodies = three_bodies();
    bodies.fields[2] = LM_BODY_INSULATING;
    struct box x = box_with_walls(N, N, 7, 7, every_term, 0, sides, &bodies);
    struct state s = noise(&x);
    solve(&x, &s, 20);
    double *before[3], *after[3];
    for (int d = 0; d < 3; d++)
        before[d] = box_get(&x, LM_B + d);
    for (int k = 0; k < 40; k++)
        ck_assert_int_eq(x.b->ops->relax_b(x.b, 0, LM_LEAST_RELAXATION_STAGES), LM_OK);
    for (int d = 0; d < 3; d++)
        after[d] = box_get(&x, LM_B + d);
    const struct lm_view b = {after[0], after[1], after[2], x.g.stride}, was = {before[0], before[1], before[2], b.s};
    double most = 0, most_before = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            const size_t k = lm_at(&x.g, i, j);
            const int here = body_cells[j * N + i] == 3, right = body_cells[j * N + (i + 1) % N] == 3,
                      above = body_cells[(j + 1) % N * N + i] == 3;
            const struct lm_vector now = lm_curl_b(lm_view_at(b, (long)k), 1 / x.g.dx, 1 / x.g.dy),
                                   then = lm_curl_b(lm_view_at(was, (long)k), 1 / x.g.dx, 1 / x.g.dy);
            ck_assert(!here || s.a[E + 2][k] == 0);
            most = fmax(most,
                        fmax(here * fabs(now.z), fmax((here || right) * fabs(now.x), (here || above) * fabs(now.y))));
            most_before = fmax(most_before, here * fabs(then.z));
            for (int d = 0; d < 3 && hypot(i - 8, j - 13) > 6 && hypot(i - 8, j + N - 13) > 6; d++)
                ck_assert(before[d][k] == after[d][k]);
        }
    ck_assert_msg(most < 1e-6 * most_before, "J in an insulator is %g, it was %g", most, most_before);
    for (int d = 0; d < 3; d++)
        free(before[d]), free(after[d]);
    state_free(&s);
    box_free(&x);
}
END_TEST

/* Deposits a species of density 1 that drifts. Returns its number density, the charge density and the current. */
static void deposit(struct box *x, double *out[3])
{
    struct lm_loading loading = {
        .density = {NULL, 1}, .drift[2] = {NULL, 1}, .particles_per_cell = 1, .start = LM_QUIET, .seed = 1};
    uint64_t count;
    ck_assert_int_eq(x->b->particles->load(x->b, 0, &loading, &count), LM_OK);
    struct lm_pass pass = {.speed_exponent = 2};
    x->b->particles->pass(x->b, 0, &pass);
    x->b->ops->collect(x->b, 0, pass.speed_exponent, 1);
    x->b->ops->moments(x->b);
    static const int which[3] = {LM_SPECIES_N, LM_N_NEW, LM_J_NEW + 2};
    for (int k = 0; k < 3; k++)
        out[k] = box_get(x, which[k]);
}

/* Moments are 0 in bodies. Outside they are as without bodies, or smoothed over plasma cells only: a weighted mean
 * lies between the extremes. */
START_TEST(no_moments_in_bodies)
{
    static const int sides[LM_SIDES] = {LM_CONDUCTING, LM_CONDUCTING, PERIODIC, PERIODIC};
    struct lm_bodies bodies = three_bodies();
    struct box x = box_with_walls(N, N, 7, 7, every_term, _i, sides, &bodies),
               y = box_with_walls(N, N, 7, 7, every_term, 0, sides, NULL);
    double *a[3], *b[3];
    deposit(&x, a);
    deposit(&y, b);
    for (int m = 0; m < 3; m++) {
        double least = HUGE_VAL, most = 0;
        for (int k = 0; k < N * N; k++)
            if (!body_cells[k]) {
                double v = b[m][lm_at(&x.g, k % N, k / N)];
                least = fmin(least, v), most = fmax(most, v);
            }
        ck_assert(least > 0.1 && most > least);
        for (int k = 0; k < N * N; k++) {
            double v = a[m][lm_at(&x.g, k % N, k / N)];
            if (body_cells[k])
                ck_assert(v == 0);
            else
                ck_assert(m == 0 || _i == 0 ? v == b[m][lm_at(&x.g, k % N, k / N)] : v >= least && v <= most);
        }
        free(a[m]), free(b[m]);
    }
    box_free(&x);
    box_free(&y);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields and bodies");
    TCase *t = tcase_create("fields and bodies");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, nobody_looks_into_bodies, 0, 17);
    tcase_add_loop_test(t, fields_in_bodies, 0, 3);
    tcase_add_test(t, diffusion_into_a_slab);
    tcase_add_test(t, no_current_in_an_insulator);
    tcase_add_loop_test(t, no_moments_in_bodies, 0, 3);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
