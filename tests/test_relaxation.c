/* B where the resistivity is larger than substeps can follow: how fast it diffuses, that it does so stably, and
 * how many stages that takes. */
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "field_walls.h"
#include "larmor/physics/fields/relaxation.h"
#include "suite.h"

enum { N = 96 };
static const double size = 0.5, end = 0.4;
static const double corner[2] = {0.5, 0.5};

static double wave(double x, double y)
{
    return sin(2 * 3.14159265358979323846 * (x + y) / (N * size));
}

/* A plasma so dense that only the resistivity acts, with a resistivity from a function. */
static struct box dense_box(double dt, function eta, function bz)
{
    const struct lm_grid g = lm_grid_make(N, N, N * size, N * size);
    const struct lm_ohm ohm = {.floor = 1, .gamma = 1, .substep_eta = lm_substep_eta_of(&g, dt)};
    static const double centre[2] = {0, 0};
    struct box x = box_new(N, N, N * size, N * size, ohm, 0);
    for (size_t k = 0; k < x.g.size; k++)
        x.work[k] = 1e9;
    x.b->ops->put(x.b, LM_N_OLD, x.work);
    box_put(&x, LM_ETA, centre, eta);
    box_put(&x, LM_B + 2, corner, bz);
    return x;
}

static void take_steps(struct box *x, double dt, int count, double largest_eta)
{
    const struct lm_ohm *o = &x->b->setup.ohm;
    const double k2 = lm_largest_k2(&x->g, o->inv_dx, o->inv_dy);
    for (int k = 0; k < count; k++) {
        advance(x, dt / 4, 4);
        x->b->ops->relax_b(x->b, dt, lm_relaxation_stages(largest_eta, dt, k2, o));
    }
}

/* --- how fast --- */

static const double strong = 100;

static double uniform(double x, double y)
{
    (void)x, (void)y;
    return strong;
}

/* The error of the amplitude of a wave that falls as exp(-eta k^2 t), with the k^2 of the grid. A step multiplies it by
 * 1 - z + z^2/4, z being eta k^2 dt: of 16 steps the error is about 4 z^2 exp(-16 z), 0.007. */
static double decay_error(int steps)
{
    const double dt = end / steps, k = 2 * 3.14159265358979323846 / N;
    const double k2 = 2 * pow(2 / size * sin(k / 2), 2);
    struct box x = dense_box(dt, uniform, wave);
    take_steps(&x, dt, steps, strong);
    double *b = box_get(&x, LM_B + 2), sum = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            sum += b[lm_at(&x.g, i, j)] * wave((i + 1) * size, (j + 1) * size);
    free(b);
    box_free(&x);
    return fabs(2 * sum / (N * N) - exp(-strong * k2 * end));
}

START_TEST(diffusion_is_of_first_order)
{
    const double coarse = decay_error(4), middle = decay_error(8), fine = decay_error(16);
    ck_assert_msg(fine < 0.01, "the error of 16 steps is %.4f", fine);
    ck_assert_msg(coarse / middle > 1.7 && coarse / middle < 2.3 && middle / fine > 1.7 && middle / fine < 2.3,
                  "the errors of 4, 8 and 16 steps are %.3g, %.3g, %.3g", coarse, middle, fine);
}
END_TEST

/* --- where --- */

static double even_eta(double x, double y)
{
    const double k = 2 * 3.14159265358979323846 / (N * size);
    return 50 * (1 + cos(4 * k * x)) * (1 + 0.5 * cos(3 * k * y));
}

static double even_wave(double x, double y)
{
    const double k = 2 * 3.14159265358979323846 / (N * size);
    return cos(k * x) * cos(2 * k * y) + cos(20 * k * x);
}

/* A resistivity and a field that are even in x and y stay so: the resistivity of a node is a mean of its two cells. */
START_TEST(even_fields_stay_even)
{
    struct box x = dense_box(0.05, even_eta, even_wave);
    take_steps(&x, 0.05, 4, 150);
    double *b = box_get(&x, LM_B + 2);
    for (int j = 0; j < N - 1; j++)
        for (int i = 0; i < N - 1; i++) {
            require_near(b[lm_at(&x.g, i, j)], b[lm_at(&x.g, N - 2 - i, j)], 1e-10);
            require_near(b[lm_at(&x.g, i, j)], b[lm_at(&x.g, i, N - 2 - j)], 1e-10);
        }
    free(b);
    box_free(&x);
}
END_TEST

/* --- how stably --- */

static double noise(double x, double y)
{
    return fmod(sin(x * 12.9898 + y * 78.233) * 43758.5453, 1.0);
}

/* Between 0 and so much that up to 64 stages are needed. */
static double patchy(double x, double y)
{
    const double u = noise(y, x);
    return u > 0 ? 4e4 * u * u : 0;
}

static double energy(const struct box *x)
{
    double *b = box_get(x, LM_B + 2), sum = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            sum += pow(b[lm_at(&x->g, i, j)], 2);
    free(b);
    return sum;
}

START_TEST(noise_never_grows)
{
    struct box x = dense_box(0.01, patchy, noise);
    for (int k = 0; k < 5; k++) {
        const double before = energy(&x);
        take_steps(&x, 0.01, 1, 4e4);
        ck_assert_double_le(energy(&x), before);
    }
    box_free(&x);
}
END_TEST

/* As many stages as the largest resistivity needs, and no more resistivity than the stages carry. */
START_TEST(stages_suffice)
{
    const struct lm_grid g = lm_grid_make(N, N, N * size, N * size);
    const double dt = 0.01, k2 = lm_largest_k2(&g, 1 / g.dx, 1 / g.dy);
    const struct lm_ohm o = {.substep_eta = lm_substep_eta_of(&g, dt)};
    ck_assert_int_eq(lm_relaxation_stages(0, dt, k2, &o), LM_LEAST_RELAXATION_STAGES);
    for (double eta = 1; eta < 1e5; eta *= 1.3) {
        const int stages = lm_relaxation_stages(eta, dt, k2, &o);
        ck_assert_int_eq(stages % LM_RELAXATION_EXCHANGE, 0);
        ck_assert_double_le(lm_relaxation_share(dt, stages, k2) * (eta - o.substep_eta), 1);
        if (stages > LM_LEAST_RELAXATION_STAGES)
            ck_assert_double_gt(lm_relaxation_share(dt, stages - LM_RELAXATION_EXCHANGE, k2) * (eta - o.substep_eta),
                                1);
    }
    ck_assert_int_gt(lm_relaxation_stages(1e9, dt, k2, &o), LM_MOST_RELAXATION_STAGES);
}
END_TEST

/* --- beside a void --- */

static double in_the_left_half(double x, double y)
{
    return x < N * size / 2 + 0 * y ? 1 : 0;
}

static double strong_in_the_left_half(double x, double y)
{
    return strong * in_the_left_half(x, y);
}

/* Flux goes through the surface between a void and what resists, until B is the same on both sides. */
START_TEST(a_void_takes_part)
{
    static const double centre[2] = {0, 0};
    const double dt = 0.01;
    struct box x = dense_box(dt, strong_in_the_left_half, in_the_left_half);
    box_put(&x, LM_N_OLD, centre, in_the_left_half);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD, 0.0);
    const double k2 = lm_largest_k2(&x.g, 1 / size, 1 / size);
    for (int k = 0; k < 500; k++)
        x.b->ops->relax_b(x.b, dt, lm_relaxation_stages(strong, dt, k2, &x.b->setup.ohm));
    double *b = box_get(&x, LM_B + 2);
    for (int i = 0; i < N; i++) /* B_z is 1 at the corners of 47 columns */
        ck_assert_double_eq_tol(b[lm_at(&x.g, i, 3)], 47.0 / N, 1e-3);
    free(b);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("relaxation of B");
    TCase *t = tcase_create("relaxation of B");
    tcase_add_test(t, diffusion_is_of_first_order);
    tcase_add_test(t, a_void_takes_part);
    tcase_add_test(t, even_fields_stay_even);
    tcase_add_test(t, noise_never_grows);
    tcase_add_test(t, stages_suffice);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
