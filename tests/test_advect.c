/* Background fields on the CPU: against a reference, and against what must hold for any scheme. */
#include <check.h>

#include "background_case.h"
#include "suite.h"

static struct lm_advected advanced(const struct background_case *c, int substeps, double *out)
{
    struct lm_backend *b;
    struct lm_control control;
    ck_assert_int_eq(lm_cpu_create(&c->setup, &b), LM_OK);
    ck_assert_int_eq(background_case_put(c, b), LM_OK);
    ck_assert_int_eq(b->ops->advect(b, 0, CASE_QUANTUM, c->dt, substeps), LM_OK);
    ck_assert_int_eq(b->ops->survey_background(b, 0, CASE_QUANTUM), LM_OK);
    ck_assert_int_eq(b->ops->control(b, &control), LM_OK);
    ck_assert_int_eq(b->ops->get(b, LM_BACKGROUND, out), LM_OK);
    lm_backend_destroy(&b);
    return control.background[0];
}

static int differ(const struct lm_grid *g, const double *a, const double *b)
{
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            if (lm_bits(a[lm_at(g, i, j)]) != lm_bits(b[lm_at(g, i, j)]))
                return 1;
    return 0;
}

START_TEST(test_plain)
{
    for (int number = 0; number < 360; number++) {
        struct background_case c = background_case_of(number);
        const struct lm_grid *g = &c.setup.grid;
        double *out = malloc(g->size * sizeof *out);
        lm_int128 crossed[LM_SIDES] = {0}, source = 0,
                  before = lm_background_sum(g, c.open, c.q, CASE_QUANTUM, CASE_QUANTUM);
        const struct lm_advected found = advanced(&c, 2, out);
        reference_advance(&c, 2, c.q, crossed, &source);
        ck_assert_msg(!differ(g, c.q, out), "case %d", number);
        for (int side = 0; side < LM_SIDES; side++) {
            ck_assert_msg(lm_wide_value(found.crossed[side]) == crossed[side], "case %d, side %d", number, side);
            before += side % 2 ? -crossed[side] : crossed[side];
        }
        ck_assert_msg(lm_wide_value(found.source) == source, "case %d", number);
        ck_assert_msg(lm_wide_value(found.total) == lm_background_sum(g, c.open, out, CASE_QUANTUM, CASE_QUANTUM),
                      "case %d", number);
        ck_assert_msg(before + source == lm_background_sum(g, c.open, out, CASE_QUANTUM, CASE_QUANTUM), "case %d",
                      number);
        double least = INFINITY, most = -INFINITY;
        for (int j = 0; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++)
                if (reference_is_fluid(&c, i, j)) {
                    least = fmin(least, out[lm_at(g, i, j)]);
                    most = fmax(most, out[lm_at(g, i, j)]);
                }
        ck_assert(found.least == least && found.most == most);
        free(out);
        background_case_free(&c);
    }
}
END_TEST

/* Values in solid cells have no effect. */
START_TEST(test_solids_are_not_read)
{
    for (int scheme = 0; scheme < 6; scheme++)
        for (int limited = 0; limited < 2; limited++) {
            const struct lm_background f = {.scheme = scheme, .limited = limited, .most = 1, .diffusivity = 0.2};
            struct background_case c = background_case_new(64, 50, f, 1);
            const struct lm_grid *g = &c.setup.grid;
            double *a = malloc(2 * g->size * sizeof *a), *b = a + g->size;
            advanced(&c, 2, a);
            for (size_t k = 0; k < g->cells; k++)
                if (c.mask[k])
                    c.q[lm_at(g, (int)k % g->nx, (int)k / g->nx)] = NAN;
            advanced(&c, 2, b);
            for (size_t k = 0; k < g->cells; k++) {
                const size_t n = lm_at(g, (int)k % g->nx, (int)k / g->nx);
                ck_assert(c.mask[k] || a[n] == b[n]);
            }
            free(a);
            background_case_free(&c);
        }
}
END_TEST

/* A wave travels once around the box. Returns the error of the averages over cells. The bounds are the extremes of the
 * wave itself. */
static double wave_error(int scheme, int limited, int n, double dt)
{
    const struct lm_background f = {.scheme = scheme, .limited = limited, .least = 0.5, .most = 1.5};
    struct background_case c = background_case_new(n, n, f, 0);
    const struct lm_grid *g = &c.setup.grid;
    const int substeps = (int)ceil(1 / dt);
    double *out = malloc(g->size * sizeof *out), error = 0;
    const double h = 2 * M_PI / n;
    for (int j = -1; j < n; j++)
        for (int i = -1; i < n; i++) {
            const size_t k = lm_at(g, i, j);
            c.q[k] = 1 + 0.5 * (cos(i * h) - cos((i + 1) * h)) / h * (sin((j + 1) * h) - sin(j * h)) / h;
            c.vx[k] = g->lx;
            c.vy[k] = -g->ly;
        }
    lm_background_round(g, NULL, c.q, CASE_QUANTUM);
    c.dt = 1.0 / substeps;
    advanced(&c, substeps, out);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            error += fabs(out[lm_at(g, i, j)] - c.q[lm_at(g, i, j)]) / (n * n);
    free(out);
    background_case_free(&c);
    return error;
}

/* The time step shrinks with the cells so that its error falls as fast as that of the reconstruction. WENO of order 3
 * is only of order 2 at extrema, with any weights. */
START_TEST(test_order)
{
    static const int cells[] = {64, 64, 64, 24, 16, 12}, formal[] = {2, 1, 2, 5, 7, 9};
    for (int scheme = 0; scheme < 6; scheme++)
        for (int limited = 0; limited <= (scheme > 2); limited++) {
            const double power = fmax(formal[scheme] / 3.0, 1);
            const int n = cells[scheme];
            const double coarse = wave_error(scheme, limited, n, 0.4 / n),
                         fine = wave_error(scheme, limited, 2 * n, 0.4 / n / pow(2, power));
            const double order = log2(coarse / fine);
            printf("scheme %d%s: order %.2f (%.2g, %.2g)\n", scheme, limited ? ", limited" : "", order, coarse, fine);
            ck_assert_double_ge(order, formal[scheme] - 0.3);
        }
}
END_TEST

/* A uniform field stays uniform in a flow without divergence, also around a body and along walls. */
START_TEST(test_constant)
{
    for (int scheme = 0; scheme < 6; scheme++)
        for (int limited = 0; limited < 2; limited++) {
            const struct lm_background f = {.scheme = scheme,
                                            .limited = limited && scheme > 0,
                                            .least = 0,
                                            .most = 1,
                                            .diffusivity = 0.1,
                                            .sides = {0, 0, LM_BACKGROUND_WALL, LM_BACKGROUND_WALL}};
            struct background_case c = background_case_new(70, 44, f, 1);
            const struct lm_grid *g = &c.setup.grid;
            double *out = malloc(g->size * sizeof *out), *psi = calloc(g->size, sizeof *psi), worst = 0;
            uint8_t *room = malloc(g->size);
            lm_stencil_clearance(g, c.mask, room);
            /* psi on the upper right corner of a cell; 0 where a solid or a wall touches the corner */
            for (int j = -1; j < g->ny; j++)
                for (int i = -1; i < g->nx; i++) {
                    const int open = room[lm_at(g, i, j)] && room[lm_at(g, i + 1, j)] && room[lm_at(g, i, j + 1)] &&
                                     room[lm_at(g, i + 1, j + 1)];
                    psi[lm_at(g, i, j)] = open ? sin(0.3 * ((i + g->nx) % g->nx)) * cos(0.2 * j) : 0;
                }
            for (int j = 0; j < g->ny; j++)
                for (int i = -1; i < g->nx; i++)
                    c.vx[lm_at(g, i, j)] = (psi[lm_at(g, i, j)] - psi[lm_at(g, i, j - 1)]) / g->dy;
            for (int j = -1; j < g->ny; j++)
                for (int i = 0; i < g->nx; i++)
                    c.vy[lm_at(g, i, j)] = -(psi[lm_at(g, i, j)] - psi[lm_at(g, i - 1, j)]) / g->dx;
            for (int j = 0; j < g->ny; j++)
                for (int i = 0; i < g->nx; i++)
                    c.q[lm_at(g, i, j)] = room[lm_at(g, i, j)] ? 0.75 : 0;
            c.dt = 0.05;
            advanced(&c, 60, out);
            for (int j = 0; j < g->ny; j++)
                for (int i = 0; i < g->nx; i++)
                    if (room[lm_at(g, i, j)])
                        worst = fmax(worst, fabs(out[lm_at(g, i, j)] - 0.75));
            ck_assert_double_le(worst, 180 * 6 * ldexp(1, -CASE_QUANTUM) * 4);
            free(out);
            free(psi);
            free(room);
            background_case_free(&c);
        }
}
END_TEST

/* The largest rate at which anything leaves or enters a cell of fluid. */
START_TEST(test_flow_rates)
{
    for (int number = 0; number < 36; number++) {
        struct background_case c = background_case_of(10 * number);
        const struct lm_grid *g = &c.setup.grid;
        struct lm_backend *b;
        double found[LM_FLOW_RATES], most = 0;
        ck_assert_int_eq(lm_cpu_create(&c.setup, &b), LM_OK);
        ck_assert_int_eq(background_case_put(&c, b), LM_OK);
        ck_assert_int_eq(b->ops->flow_rates(b, found), LM_OK);
        for (int j = 0; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++) {
                const long k = (long)lm_at(g, i, j), left = k - 1, below = k - g->stride;
                const double volume = lm_volume_at(c.open, k);
                const double x[2] = {c.vx[left] * lm_opening_at(c.open, 0, left) / (g->dx * volume),
                                     c.vx[k] * lm_opening_at(c.open, 0, k) / (g->dx * volume)},
                             y[2] = {c.vy[below] * lm_opening_at(c.open, 1, below) / (g->dy * volume),
                                     c.vy[k] * lm_opening_at(c.open, 1, k) / (g->dy * volume)};
                const double out = fmax(x[1], 0) + fmax(-x[0], 0) + fmax(y[1], 0) + fmax(-y[0], 0),
                             in = fmax(x[0], 0) + fmax(-x[1], 0) + fmax(y[0], 0) + fmax(-y[1], 0);
                if (reference_is_fluid(&c, i, j))
                    most = fmax(most, fmax(out, in));
            }
        ck_assert_msg(fabs(found[0] - most) <= 1e-14 * most, "case %d: %g instead of %g", number, found[0], most);
        lm_backend_destroy(&b);
        background_case_free(&c);
    }
}
END_TEST

/* A slotted cylinder turns once about the middle of the box. (WENO of order 3 stays within its bounds even without the
 * limiter.) */
START_TEST(test_bounds)
{
    for (int scheme = 3; scheme < 6; scheme++)
        for (int limited = 0; limited < 2; limited++) {
            const struct lm_background f = {.scheme = scheme, .limited = limited, .least = 0, .most = 1};
            const int n = 60;
            struct background_case c = background_case_new(n, n, f, 0);
            const struct lm_grid *g = &c.setup.grid;
            double *out = malloc(g->size * sizeof *out);
            for (int j = -1; j < n; j++)
                for (int i = -1; i < n; i++) {
                    const double x = (i + 0.5) / n - 0.5, y = (j + 0.5) / n - 0.5, r = hypot(x, y - 0.25);
                    c.q[lm_at(g, i, j)] = r < 0.15 && !(fabs(x) < 0.025 && y < 0.3) ? 1 : 0;
                    c.vx[lm_at(g, i, j)] = -y * g->lx;
                    c.vy[lm_at(g, i, j)] = x * g->ly;
                }
            const int substeps = (int)ceil(2 * M_PI * n / 0.16);
            c.dt = 2 * M_PI / substeps;
            const struct lm_advected found = advanced(&c, substeps, out);
            printf("scheme %d%s: least %.3g, most 1 + %.3g\n", scheme, limited ? ", limited" : "", found.least,
                   found.most - 1);
            if (limited) {
                ck_assert_double_ge(found.least, 0);
                ck_assert_double_le(found.most, 1 + 1e-12);
            } else {
                /* otherwise the limiter would have nothing to do */
                ck_assert(found.least < -1e-6 || found.most > 1 + 1e-6);
            }
            free(out);
            background_case_free(&c);
        }
}
END_TEST

START_TEST(test_ledger)
{
    struct lm_background_ledger l = {.exponent = 50, .quantum = 47, .loaded = 1000};
    const struct lm_advected a = {.total = {3, 5}, .crossed = {{0, 4}, {0, -3}, {1, 0}, {0, 0}}, .source = {0, -7}};
    lm_background_book(&l, &a);
    ck_assert(l.entered[LM_X_MIN] == 32 && l.entered[LM_X_MAX] == 24 && l.entered[LM_Y_MIN] == (lm_int128)8 << 24);
    ck_assert(l.source == -56 && l.total == (((lm_int128)3 << 24) + 5) * 8);
    ck_assert(lm_background_residual(&l) == 1000 + 32 + 24 + ((lm_int128)8 << 24) - 56 - l.total);
    ck_assert(lm_background_value(&l, (lm_int128)1 << 50) == 1);
    ck_assert_int_eq(lm_background_quantum(1), 46);
    ck_assert_int_eq(lm_background_quantum(0.99), 47);
    ck_assert_int_eq(lm_background_quantum(0), 47);
    ck_assert_int_eq(lm_background_quantum(1e-300), 47 + 400);
    l.loaded -= lm_background_residual(&l);
    const struct lm_background_ledger fine = l;
    lm_background_coarsen(&l, 48);
    ck_assert(l.exponent == 48 && lm_background_residual(&l) == 0 && l.total == fine.total / 4);
    ck_assert(l.entered[LM_X_MIN] == 8 && l.source == -14 && llabs((long long)l.rounded) <= 8);
    lm_background_coarsen(&l, -500);
    ck_assert(l.exponent == -500 && l.loaded == 0 && l.total == 0 && lm_background_residual(&l) == 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("advect");
    TCase *t = tcase_create("advect");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, test_plain);
    tcase_add_test(t, test_solids_are_not_read);
    tcase_add_test(t, test_order);
    tcase_add_test(t, test_constant);
    tcase_add_loop_test(t, test_bounds, 0, unless_sanitized(1));
    tcase_add_test(t, test_ledger);
    tcase_add_test(t, test_flow_rates);
    suite_add_tcase(s, t);
    return suite_run(s);
}
