/* The field solver in boxes that are turned, mirrored, or only a few cells wide. */
#include <check.h>

#include "field_box.h"
#include "suite.h"

enum { N = 16 };

static const struct lm_ohm every_term = {
    .eta_hyper = 0.002, .floor = 0.05, .temperature = 0.4, .gamma = 1.4, .friction = 1};
static const double centre[2] = {0, 0};
static const double (*const places[])[2] = {e_place, b_place};

/* The state of a box as host arrays: B, J_i, n, eta as input; E and the E of the push as output. */
enum { B = 0, JI = 3, DENSITY = 6, ETA, IN, E = IN, PUSH = E + 3, ALL = PUSH + 3 };

static const int arrays[ALL] = {LM_B,   LM_B + 1, LM_B + 2, LM_J_OLD, LM_J_OLD + 1, LM_J_OLD + 2,  LM_N_OLD,
                                LM_ETA, LM_E,     LM_E + 1, LM_E + 2, LM_PUSH_E,    LM_PUSH_E + 1, LM_PUSH_E + 2};

struct state {
    double *a[ALL];
};

static struct state state_new(const struct box *x)
{
    struct state s;
    for (int k = 0; k < ALL; k++)
        s.a[k] = calloc(x->g.size, sizeof(double));
    return s;
}

static void state_free(struct state *s)
{
    for (int k = 0; k < ALL; k++)
        free(s->a[k]);
}

/* Random numbers without any symmetry and with a period of (px, py) cells: density 1 to 2, eta 0 to 0.01, B and J_i up
 * to 0.5. */
static struct state noise(const struct box *x, int px, int py)
{
    struct state s = state_new(x);
    for (int k = 0; k < IN; k++) {
        for (int j = 0; j < x->g.ny; j++)
            for (int i = 0; i < x->g.nx; i++) {
                double u = fabs(sin(1 + 12.9898 * (i % px) + 78.233 * (j % py) + 37.7 * k)) * 437.585;
                u -= floor(u);
                s.a[k][lm_at(&x->g, i, j)] = k == DENSITY ? 1 + u : k == ETA ? 0.01 * u : u - 0.5;
            }
        lm_grid_wrap(&x->g, s.a[k]);
    }
    return s;
}

/* Advances B and evaluates Ohm's law; the result replaces B and fills E. */
static void solve(struct box *x, struct state *s)
{
    for (int k = 0; k < IN; k++)
        x->b->ops->put(x->b, arrays[k], s->a[k]);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD, 0.0);
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_OLD, 0.02, 8, 0, LM_NO_MEAN, 0, 0});
    x->b->ops->ohm(x->b, LM_OHM_OLD);
    for (int k = 0; k < ALL; k++)
        x->b->ops->get(x->b, arrays[k], s->a[k]);
}

static double difference(const struct box *x, const struct state *a, const struct state *b)
{
    double worst = 0;
    for (int k = 0; k < ALL; k++)
        worst = fmax(worst, box_distance(x, a->a[k], b->a[k]));
    return worst;
}

static const double *place_of(int k)
{
    if (k == DENSITY || k == ETA || (k >= JI && k < JI + 3))
        return centre;
    return k < JI ? places[1][k] : k < PUSH ? places[0][k - E] : centre;
}

/* The state turned by 90 degrees: x' = -y, y' = x. A value at the offsets (a, b) of cell (i, j) comes to the offsets
 * (-b, a) of cell (N-1-j, i). */
static struct state turned(const struct box *x, const struct state *s)
{
    struct state t = state_new(x);
    for (int k = 0; k < ALL; k++) {
        int first = k == DENSITY || k == ETA ? -1 : k < DENSITY ? k / 3 * 3 : E + (k - E) / 3 * 3;
        int d = first < 0 ? 2 : k - first, from = d == 2 ? k : first + 1 - d;
        const double *to = place_of(k);
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                size_t source = lm_at(&x->g, j, (2 * N - 1 - i - (to[0] > 0)) % N);
                t.a[k][lm_at(&x->g, i, j)] = d == 0 ? -s->a[from][source] : s->a[from][source];
            }
        lm_grid_wrap(&x->g, t.a[k]);
    }
    return t;
}

/* The state mirrored in y. E and J_i are polar vectors and change the sign of y; B is an axial vector and changes the
 * signs of x and z. */
static struct state mirrored(const struct box *x, const struct state *s)
{
    struct state t = state_new(x);
    for (int k = 0; k < ALL; k++) {
        int d = k < JI ? k : k < DENSITY ? k - JI : k < IN ? -1 : (k - E) % 3;
        double sign = k < JI ? (d == 1 ? 1 : -1) : (d == 1 ? -1 : 1);
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                t.a[k][lm_at(&x->g, i, j)] =
                    sign * s->a[k][lm_at(&x->g, i, (2 * N - 1 - j - (place_of(k)[1] > 0)) % N)];
        lm_grid_wrap(&x->g, t.a[k]);
    }
    return t;
}

START_TEST(turned_and_mirrored)
{
    struct box x = box_new(N, N, 8, 8, every_term, 1);
    struct state s = noise(&x, N, N);
    struct state t = _i == 0 ? turned(&x, &s) : mirrored(&x, &s);
    struct state start = _i == 0 ? turned(&x, &s) : mirrored(&x, &s);
    solve(&x, &s);
    solve(&x, &t);
    struct state want = _i == 0 ? turned(&x, &s) : mirrored(&x, &s);
    ck_assert_double_lt(difference(&x, &t, &want), 1e-11);
    ck_assert_double_gt(difference(&x, &start, &want), 0.1);
    struct state back = want; /* four turns, or two reflections, give the state of the start */
    for (int k = 1; k < (_i == 0 ? 4 : 2); k++) {
        struct state next = _i == 0 ? turned(&x, &back) : mirrored(&x, &back);
        state_free(&back);
        back = next;
    }
    ck_assert(difference(&x, &back, &s) == 0);
    state_free(&s), state_free(&t), state_free(&start), state_free(&back);
    box_free(&x);
}
END_TEST

/* A box of one or two cells in a direction gives the bits of a larger box whose state has that period. */
START_TEST(flat_and_tiny_boxes)
{
    static const int sizes[][2] = {{1, 12}, {12, 1}, {2, 12}, {12, 2}, {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 2}, {3, 4}};
    for (int smoothing = 0; smoothing < 3; smoothing++) {
        int nx = sizes[_i][0], ny = sizes[_i][1], wide = 12 / nx * nx, high = 12 / ny * ny;
        struct box small = box_new(nx, ny, 0.5 * nx, 0.75 * ny, every_term, smoothing);
        struct box large = box_new(wide, high, 0.5 * wide, 0.75 * high, every_term, smoothing);
        struct state a = noise(&small, nx, ny), b = noise(&large, nx, ny);
        solve(&small, &a);
        solve(&large, &b);
        for (int k = 0; k < ALL; k++)
            for (int j = 0; j < high; j++)
                for (int i = 0; i < wide; i++)
                    require(b.a[k][lm_at(&large.g, i, j)] == a.a[k][lm_at(&small.g, i % nx, j % ny)]);
        state_free(&a), state_free(&b);
        box_free(&small);
        box_free(&large);
    }
}
END_TEST

/* The bits do not depend on the number of threads. */
START_TEST(threads_do_not_matter)
{
    struct state s[3];
    struct box x = box_new(N, N, 8, 8, every_term, 2);
    for (int k = 0; k < 3; k++) {
        struct lm_setup setup = x.b->setup;
        lm_backend_destroy(&x.b);
        setup.threads = k + 1;
        ck_assert_int_eq(lm_cpu_create(&setup, &x.b), LM_OK);
        s[k] = noise(&x, N, N);
        solve(&x, &s[k]);
        ck_assert(difference(&x, &s[k], &s[0]) == 0);
    }
    for (int k = 0; k < 3; k++)
        state_free(&s[k]);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("symmetry of the fields");
    TCase *t = tcase_create("symmetry");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, turned_and_mirrored, 0, 2);
    tcase_add_loop_test(t, flat_and_tiny_boxes, 0, 10);
    tcase_add_test(t, threads_do_not_matter);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
