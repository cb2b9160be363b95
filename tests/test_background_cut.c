/* Background fields see bodies to second order. A field flows past a disk, with velocities that are given and with a
 * stream function; another one diffuses in a cavity. Totals are exact, bounds hold, and a uniform field stays uniform.
 * LM_SHOW=1 prints the errors, also those of bodies that are sets of whole cells. */
#include <check.h>
#include <stdio.h>

#include "background_cut.h"
#include "larmor/physics/numerics/hash.h"
#include "require.h"
#include "suite.h"

static const enum lm_background_side O = LM_BACKGROUND_OPEN, W = LM_BACKGROUND_WALL;

static void show(const char *what, int n, int whole, double error)
{
    if (getenv("LM_SHOW"))
        printf("%s, %d cells along each side%s: %.3g\n", what, n, whole ? ", bodies of whole cells" : "", error);
}

/* --- past a disk --- */

static const struct cut_disk rock = {.x = 3.03, .y = 2.96, .radius = 1};
#define BOX 6.0
#define TIME 0.3

/* Potential flow with the velocity 1 far away. */
static double potential_flow(const struct cut_disk *d, double x, double y)
{
    const double a = x - d->x, b = y - d->y;
    return b * (1 - d->radius * d->radius / (a * a + b * b));
}

static void velocity(const struct cut_disk *d, const double at[2], double v[2])
{
    const double a = at[0] - d->x, b = at[1] - d->y, r2 = a * a + b * b, s = d->radius * d->radius / (r2 * r2);
    v[0] = 1 - s * (a * a - b * b);
    v[1] = -2 * s * a * b;
}

/* It reaches to the disk, so that fluid of the blob passes along the surface. */
static double blob(const struct cut_disk *d, double x, double y)
{
    const double a = x - d->x + 0.3, b = y - d->y - 1;
    return exp(-(a * a + b * b) / (0.8 * 0.8));
}

/* Where what is at (x, y) was at the start. */
static void trace_back(double at[2])
{
    enum { LEGS = 50 };
    const double h = -TIME / LEGS;
    for (int n = 0; n < LEGS; n++) {
        double k[4][2], to[2];
        for (int stage = 0; stage < 4; stage++) {
            const double part = stage == 3 ? h : 0.5 * h;
            for (int d = 0; d < 2; d++)
                to[d] = at[d] + (stage ? part * k[stage - 1][d] : 0);
            velocity(&rock, to, k[stage]);
        }
        for (int d = 0; d < 2; d++)
            at[d] += h / 6 * (k[0][d] + 2 * k[1][d] + 2 * k[2][d] + k[3][d]);
    }
}

/* The integral of |error| over the free cells. */
static double error_of(const struct cut_case *k)
{
    const struct lm_grid *g = &k->c.setup.grid;
    double sum = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            double at[2] = {(i + 0.5) * g->dx, (j + 0.5) * g->dy};
            if (!k->clearance[lm_at(g, i, j)])
                continue;
            trace_back(at);
            sum += fabs(k->c.q[lm_at(g, i, j)] - blob(&rock, at[0], at[1])) * g->dx * g->dy;
        }
    return sum;
}

/* `given`: by velocities, else by the stream function. */
static double error_past_disk(int n, int given, int whole)
{
    const struct lm_background field = {.scheme = LM_WENO5, .sides = {O, O, O, O}};
    struct cut_case k = cut_case_new(n, BOX, field, rock, whole);
    struct lm_advected found;
    cut_case_fill(&k, blob);
    ck_assert_int_eq(given ? cut_case_flow(&k, velocity) : cut_case_stream(&k, potential_flow), LM_OK);
    ck_assert_int_eq(cut_case_advance(&k, TIME, 0.5, &found), LM_OK);
    const double error = error_of(&k);
    cut_case_free(&k);
    show(given ? "past a disk, by velocities" : "past a disk, by a stream function", n, whole, error);
    return error;
}

/* With cells of a fourth of the size the error of a second order is a sixteenth, that of a first order a fourth. What
 * divides both is an eighth. */
START_TEST(past_disk)
{
    const double coarse = error_past_disk(64, _i, 0), fine = error_past_disk(256, _i, 0);
    ck_assert_double_lt(fine, coarse / 8);
    for (int n = 32; n <= 256 && getenv("LM_SHOW"); n *= 2) {
        error_past_disk(n, _i, 1);
        if (n != 64 && n != 256)
            error_past_disk(n, _i, 0);
    }
}
END_TEST

static double swirl(const struct cut_disk *d, double x, double y)
{
    return log(hypot(x - d->x, y - d->y) / d->radius);
}

/* In a body psi is that of its surface, here 0: from two places h apart, at a place up to h/2 beyond them, it is
 * linearly right to 3 h^2/8 times the second derivative, which is up to 1/(1 - h)^2. */
START_TEST(psi_of_surface)
{
    const struct lm_background field = {.sides = {O, O, O, O}};
    const int n = 40 + 9 * _i;
    const double h = BOX / n;
    struct cut_case k = cut_case_new(n, BOX, field, rock, 0);
    ck_assert_int_eq(cut_case_stream(&k, swirl), LM_OK);
    require_near(k.c.source[lm_at(&k.c.setup.grid, (int)(rock.x / h), (int)(rock.y / h))], 0,
                 0.375 * h * h / pow(1 - h, 2));
    cut_case_free(&k);
}
END_TEST

/* --- in a cavity --- */

static const struct cut_disk cavity = {.x = 2.03, .y = 1.96, .radius = 1.7, .hollow = 1};
#define FIRST_ROOT 1.8411837813406593 /* of the derivative of the Bessel function J_1 */

static double mode(const struct cut_disk *d, double x, double y)
{
    const double a = x - d->x, b = y - d->y, r = hypot(a, b);
    return j1(FIRST_ROOT * r / d->radius) * (0.8 * a + 0.6 * b) / r;
}

/* How much too fast the mode decays, relative to the theory. */
static double error_of_decay(int n, int whole)
{
    const struct lm_background field = {.scheme = LM_CENTRED, .diffusivity = 1, .sides = {W, W, W, W}};
    const double rate = FIRST_ROOT * FIRST_ROOT / (cavity.radius * cavity.radius), time = 0.5 / rate;
    struct cut_case k = cut_case_new(n, 4, field, cavity, whole);
    const struct lm_grid *g = &k.c.setup.grid;
    struct lm_advected found;
    double left = 0, all = 0;
    cut_case_fill(&k, mode);
    ck_assert_int_eq(cut_case_advance(&k, time, 0.9, &found), LM_OK);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t cell = lm_at(g, i, j);
            const double of_mode = mode(&cavity, (i + 0.5) * g->dx, (j + 0.5) * g->dy),
                         weight = lm_volume_at(k.c.open, (long)cell) * of_mode;
            if (!k.clearance[cell])
                continue;
            left += weight * k.c.q[cell];
            all += weight * of_mode;
        }
    cut_case_free(&k);
    const double error = -log(left / all) / (rate * time) - 1;
    show("in a cavity", n, whole, error);
    return error;
}

/* k h is the wave number of the mode times the size of a cell. Without bodies the error of a second order is (k h)^2
 * over 12 to 24. An error of first order is about k h. */
START_TEST(decay_in_cavity)
{
    for (int n = 24; n <= 96; n *= 2) {
        const double kh = FIRST_ROOT / cavity.radius * 4 / n;
        require_near(error_of_decay(n, 0), 0, kh * kh);
        if (getenv("LM_SHOW"))
            error_of_decay(n, 1);
    }
}
END_TEST

/* --- what holds to the last bit --- */

static double random_of(int n)
{
    return (double)(lm_mix((uint64_t)n) >> 11) * 0x1p-53;
}

static struct cut_disk random_disk(int n)
{
    return (struct cut_disk){.x = 6 * random_of(4 * n),
                             .y = 6 * random_of(4 * n + 1),
                             .radius = 0.4 + 1.5 * random_of(4 * n + 2),
                             .hollow = 0};
}

static double stripes(const struct cut_disk *d, double x, double y)
{
    (void)d;
    return fmod(3 * x + 2 * y, 1.0) < 0.5 ? 1 : 0;
}

static double whirls(const struct cut_disk *d, double x, double y)
{
    return sin(2 * M_PI * (x - d->x) / 3) * cos(2 * M_PI * y / 2) + 0.5 * y;
}

/* The flow has no divergence, so a field from 0 to 1 stays there. What a face passes is rounded towards zero by less
 * than a unit of 6 quanta, and a cell has four faces in three stages of each substep. */
START_TEST(random_disks)
{
    const struct lm_background field = {
        .scheme = 1 + _i % 5, .limited = 1, .most = 1, .diffusivity = _i % 2 ? 0.05 : 0, .sides = {O, O, W, W}};
    struct cut_case k = cut_case_new(37 + _i, 6, field, random_disk(_i), 0);
    const struct lm_grid *g = &k.c.setup.grid;
    struct lm_advected found;
    cut_case_fill(&k, stripes);
    const lm_int128 before = lm_background_sum(g, k.c.open, k.c.q, CASE_QUANTUM, CASE_QUANTUM);
    ck_assert_int_eq(cut_case_stream(&k, whirls), LM_OK);
    ck_assert_int_eq(cut_case_advance(&k, 2, 0.9, &found), LM_OK);
    const lm_int128 after = lm_background_sum(g, k.c.open, k.c.q, CASE_QUANTUM, CASE_QUANTUM);
    ck_assert(lm_background_is_whole(g, k.c.open, k.c.q, CASE_QUANTUM));
    ck_assert(lm_wide_value(found.total) == after);
    ck_assert(before + lm_wide_value(found.crossed[LM_X_MIN]) - lm_wide_value(found.crossed[LM_X_MAX]) == after);
    ck_assert_double_ge(found.least, -1e-9);
    ck_assert_double_le(found.most, 1 + 1e-9);
    cut_case_free(&k);
}
END_TEST

static double one(const struct cut_disk *d, double x, double y)
{
    (void)d, (void)x, (void)y;
    return 0.75;
}

START_TEST(uniform_stays_uniform)
{
    const struct lm_background field = {.scheme = _i % 6, .diffusivity = 0.1, .sides = {O, O, O, O}};
    struct cut_case k = cut_case_new(41, 6, field, random_disk(20 + _i), 0);
    struct lm_advected found;
    cut_case_fill(&k, one);
    ck_assert_int_eq(cut_case_stream(&k, whirls), LM_OK);
    ck_assert_int_eq(cut_case_advance(&k, 1, 0.9, &found), LM_OK);
    require_near(found.least, 0.75, 1e-9);
    require_near(found.most, 0.75, 1e-9);
    cut_case_free(&k);
}
END_TEST

/* The volumes of the free cells are those of the domain without the disk, but for the chords: a cell of size h and a
 * radius R leave 2 pi R h^2 / 12 R between chords and circle at most. A small part may fit to no cell. */
START_TEST(volumes)
{
    const struct lm_background field = {.sides = {W, W, W, W}};
    const double size = 6.0 / (30 + 7 * _i);
    struct cut_disk disk = random_disk(_i);
    disk.x = 2.5 + disk.x / 6, disk.y = 2.5 + disk.y / 6;
    struct cut_case k = cut_case_new(30 + 7 * _i, 6, field, disk, 0);
    const struct lm_grid *g = &k.c.setup.grid;
    double sum = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            sum += k.clearance[lm_at(g, i, j)] ? lm_volume_at(k.c.open, (long)lm_at(g, i, j)) : 0;
    require_near(sum * g->dx * g->dy, 36 - M_PI * disk.radius * disk.radius, M_PI / 6 * size * size * 2);
    cut_case_free(&k);
}
END_TEST

/* --- flows of ions and electrons --- */

/* The velocities of ions or electrons among fields that are noise, periodic. `later` as in lm_flow_on_face. */
static void carried_flow(const struct cut_case *k, int flow, double *vx, double *vy)
{
    struct lm_setup setup = k->c.setup;
    const struct lm_grid *g = &setup.grid;
    double *a = malloc(g->size * sizeof *a);
    struct lm_backend *b;
    setup.background[0].flow = (enum lm_flow)flow;
    ck_assert_int_eq(lm_cpu_create(&setup, &b), LM_OK);
    for (int array = 0; array < LM_E; array++) {
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                const int dense = array == LM_N_OLD || array == LM_N_NEW;
                a[lm_at(g, i, j)] = case_number(array, (i + g->nx) % g->nx, (j + g->ny) % g->ny) + (dense ? 0.6 : 0);
            }
        ck_assert_int_eq(b->ops->put(b, array, a), LM_OK);
    }
    for (int later = 0; later < 2; later++)
        ck_assert_int_eq(b->ops->flow(b, later), LM_OK);
    ck_assert_int_eq(b->ops->get(b, LM_BACKGROUND_X, vx), LM_OK);
    ck_assert_int_eq(b->ops->get(b, LM_BACKGROUND_Y, vy), LM_OK);
    lm_backend_destroy(&b);
    free(a);
}

/* They pass bodies that cut cells as velocities do that are given. */
START_TEST(ions_and_electrons_pass)
{
    const struct lm_background field = {.scheme = LM_WENO3};
    struct cut_case whole = cut_case_new(34, 6, field, random_disk(40 + _i), 1),
                    cut = cut_case_new(34, 6, field, random_disk(40 + _i), 0);
    const struct lm_grid *g = &cut.c.setup.grid;
    double *v = calloc(4 * g->size, sizeof *v), *vx = v, *vy = v + g->size, *x = vy + g->size, *y = x + g->size;
    const int flow = _i % 2 ? LM_FLOW_ION : LM_FLOW_ELECTRON;
    int differ = 0;
    carried_flow(&whole, flow, vx, vy);
    carried_flow(&cut, flow, x, y);
    lm_grid_wrap(g, vx);
    lm_grid_wrap(g, vy);
    ck_assert_int_eq(lm_background_pass(g, cut.cuts, vx, vy), LM_OK);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            require_near(x[k], vx[k], 1e-12 * (1 + fabs(vx[k])));
            require_near(y[k], vy[k], 1e-12 * (1 + fabs(vy[k])));
            differ += cut.cuts.open[k].x != cut.cuts.passage[k].own[0];
        }
    ck_assert_int_gt(differ, 0);
    free(v);
    cut_case_free(&whole);
    cut_case_free(&cut);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("background fields in cut cells");
    TCase *t = tcase_create("background fields in cut cells");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, past_disk, 0, unless_sanitized(2));
    tcase_add_loop_test(t, psi_of_surface, 0, 8);
    tcase_add_loop_test(t, decay_in_cavity, 0, unless_sanitized(1));
    tcase_add_loop_test(t, random_disks, 0, 20);
    tcase_add_loop_test(t, uniform_stays_uniform, 0, 12);
    tcase_add_loop_test(t, volumes, 0, 20);
    tcase_add_loop_test(t, ions_and_electrons_pass, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
