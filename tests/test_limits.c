/* The frequency that the number of field substeps follows from, term by term: against the waves of the grid itself, and
 * against numbers worked out by hand. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_box.h"
#include "suite.h"

static void put_uniform(struct box *x, int array, double value)
{
    for (size_t k = 0; k < x->g.size; k++)
        x->work[k] = value;
    x->b->ops->put(x->b, array, x->work);
}

static double frequency_of(struct box *x)
{
    struct lm_control control;
    x->b->ops->field_maxima(x->b, LM_MAXIMA);
    x->b->ops->control(x->b, &control);
    return control.frequency;
}

/* B_z that changes its sign from corner to corner: the shortest wave along every axis with more than one cell. */
static void put_shortest_wave(struct box *x)
{
    memset(x->work, 0, x->g.size * sizeof *x->work);
    for (int j = 0; j < x->g.ny; j++)
        for (int i = 0; i < x->g.nx; i++)
            x->work[lm_at(&x->g, i, j)] = 1e-3 * (i % 2 ? -1 : 1) * (j % 2 ? -1 : 1);
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, LM_B + 2, x->work);
}

/* The decay rate of this wave, from one small substep. */
static double decay_of_shortest_wave(struct box *x, double dt)
{
    put_shortest_wave(x);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD, 0.0);
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_OLD, dt, 1, 0, LM_NO_MEAN, 0, 0});
    double *after = box_get(x, LM_B + 2);
    const double ratio = after[lm_at(&x->g, 0, 0)] / 1e-3;
    free(after);
    return -log(ratio) / dt;
}

/* In dense plasma only the resistive terms of Ohm's law matter. */
static const struct {
    double eta, eta_hyper;
} diffusion[] = {{0.3, 0}, {0, 0.02}, {0.1, 0.01}};

START_TEST(diffusion_is_met)
{
    const __typeof__(diffusion[0]) *d = &diffusion[_i];
    static const int cells[][2] = {{8, 6}, {8, 1}, {1, 6}};
    for (int shape = 0; shape < 3; shape++) {
        const int nx = cells[shape][0], ny = cells[shape][1];
        struct lm_ohm ohm = {.floor = 1, .gamma = 1, .eta_hyper = d->eta_hyper};
        struct box x = box_new(nx, ny, 0.5 * nx, 0.25 * ny, ohm, 0);
        put_uniform(&x, LM_N_OLD, 1e13);
        put_uniform(&x, LM_ETA, d->eta);
        const double frequency = frequency_of(&x), rate = decay_of_shortest_wave(&x, 0.01 / frequency);
        require(frequency > 1);
        require_near(rate, frequency, 1e-8 * frequency);
        box_free(&x);
    }
}
END_TEST

/* One substep of RK4 multiplies a wave exp(-i omega t) by R = 1 - i theta - theta^2/2 + i theta^3/6 + theta^4/24 with
 * theta = omega dt. So a component that was 0 has theta - theta^3/6 of the amplitude after it, and only round-off is
 * missing. */
static const double theta = 0.1, round_off = 1e-12;

/* A box of 8 cells along one axis, of density 2. */
static struct box line_of_cells(int axis)
{
    const int nx = axis ? 1 : 8, ny = axis ? 8 : 1;
    struct box x = box_new(nx, ny, 0.5 * nx, 0.5 * ny, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0);
    put_uniform(&x, LM_N_OLD, 2);
    return x;
}

/* Puts the values of one period, again and again along the cells of the line. */
static void put_along(struct box *x, int array, const double *period, int length)
{
    for (int j = 0; j < x->g.ny; j++)
        for (int i = 0; i < x->g.nx; i++)
            x->work[lm_at(&x->g, i, j)] = period[(i + j) % length];
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, array, x->work);
}

static double value_in(struct box *x, int array, int i, int j)
{
    double *a = box_get(x, array);
    const double value = a[lm_at(&x->g, i, j)];
    free(a);
    return value;
}

static void one_substep(struct box *x, double dt)
{
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD, 0.0);
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_OLD, dt, 1, 0, LM_NO_MEAN, 0, 0});
}

/* The shortest whistler along B has omega = k^2 B/n with k^2 = 4/dx^2: the frequency is that of this wave, and not only
 * an upper bound. The two components across B turn into each other. */
START_TEST(shortest_whistler_has_the_frequency)
{
    const int axis = _i, first = (axis + 1) % 3, second = (axis + 2) % 3;
    const double amplitude = 1e-3, period[2] = {amplitude, -amplitude};
    struct box x = line_of_cells(axis);
    put_uniform(&x, LM_B + axis, -3);
    const double frequency = frequency_of(&x);
    put_along(&x, LM_B + first, period, 2);
    one_substep(&x, theta / frequency);
    require_near(fabs(value_in(&x, LM_B + second, 0, 0)) / amplitude, theta - pow(theta, 3) / 6, round_off);
    box_free(&x);
}
END_TEST

/* A flow u carries a wave by centred differences with omega = u sin(k dx)/dx, at most u/dx. The frequency has k u with
 * k = 2/dx: twice as much. */
START_TEST(fastest_carried_wave_has_half_the_frequency)
{
    const int axis = _i, across = LM_B + (axis + 2) % 3;
    const double amplitude = 1e-3, period[4] = {amplitude, 0, -amplitude, 0};
    struct box x = line_of_cells(axis);
    put_uniform(&x, LM_J_OLD + axis, 2 * 0.7);
    const double frequency = frequency_of(&x);
    put_along(&x, across, period, 4);
    one_substep(&x, 2 * theta / frequency);
    require_near(value_in(&x, across, !axis, axis) / amplitude, theta - pow(theta, 3) / 6, round_off);
    box_free(&x);
}
END_TEST

/* The sum of (B - B_0)^2 over the cells. */
static double energy_of_noise(struct box *x, const double b0[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double *b = box_get(x, LM_B + d);
        for (int j = 0; j < x->g.ny; j++)
            for (int i = 0; i < x->g.nx; i++)
                sum += pow(b[lm_at(&x->g, i, j)] - b0[d], 2);
        free(b);
    }
    return sum;
}

/* b0 and noise: div B = 0, as B in the plane has the curl of numbers. */
static void put_noise(struct box *x, const double b0[3], double amplitude)
{
    for (int d = 0; d < 3; d++) {
        for (int j = 0; j < x->g.ny; j++)
            for (int i = 0; i < x->g.nx; i++) {
                const int right = (i + 1) % x->g.nx, above = (j + 1) % x->g.ny;
                const double here = sin(97 * i + 31 * j * j + 3),
                             next = d ? sin(97 * right + 31 * j * j + 3) : sin(97 * i + 31 * above * above + 3);
                const double curl = d == 0 ? (next - here) / x->g.dy : (here - next) / x->g.dx;
                x->work[lm_at(&x->g, i, j)] = b0[d] + amplitude * (d == 2 ? cos(41 * i * i + 59 * j) : curl);
            }
        lm_grid_wrap(&x->g, x->work);
        x->b->ops->put(x->b, LM_B + d, x->work);
    }
}

/* In two dimensions, with B across and along the grid and a flow in the plane, the rate of B is anti-Hermitian but for
 * terms of the noise's square: RK4 lets no wave grow as long as omega dt < sqrt(8). Substeps of 2.8 / frequency keep
 * below that for every wave of the grid, so the noise loses energy. */
START_TEST(no_wave_is_above_the_frequency)
{
    static const double b0[3] = {1.5, -2, 1};
    struct box x = box_new(8, 6, 4, 1.5, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0);
    put_uniform(&x, LM_N_OLD, 2);
    put_uniform(&x, LM_J_OLD, _i ? 30 : 1);
    put_uniform(&x, LM_J_OLD + 1, _i ? -40 : 1);
    put_noise(&x, b0, 1e-9);
    const double frequency = frequency_of(&x), before = energy_of_noise(&x, b0);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD, 0.0);
    x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_OLD, 400 * 2.8 / frequency, 400, 0, LM_NO_MEAN, 0, 0});
    ck_assert_double_lt(energy_of_noise(&x, b0), before);
    box_free(&x);
}
END_TEST

/* k^2 = 4 (1/dx^2 + 1/dy^2) = 80; |B| = 5, |J_i| = 3, n = 2. */
START_TEST(whistlers_and_flow)
{
    struct box x = box_new(8, 6, 4, 1.5, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0);
    put_uniform(&x, LM_N_OLD, 2);
    ck_assert(frequency_of(&x) == 0);
    put_uniform(&x, LM_B, 3);
    put_uniform(&x, LM_B + 2, -4);
    require_near(frequency_of(&x), 80 * 5 / 2., 1e-11);
    put_uniform(&x, LM_J_OLD, 2);
    put_uniform(&x, LM_J_OLD + 1, -1);
    put_uniform(&x, LM_J_OLD + 2, 2);
    require_near(frequency_of(&x), 80 * 5 / 2. + sqrt(80) * 3 / 2, 1e-11);
    put_uniform(&x, LM_B, 0);
    put_uniform(&x, LM_B + 2, 0);
    require_near(frequency_of(&x), sqrt(80) * 3 / 2, 1e-11);
    box_free(&x);
}
END_TEST

/* In cells of few ions the motional field counts as no more than its limit, and diffusion counts in full. */
START_TEST(cells_of_few_ions)
{
    for (int k = 0; k < 2; k++) {
        struct lm_ohm ohm = {.floor = 0.1, .gamma = 1, .few = k == 0 ? 1.9 : 2.1, .thin_frequency = 50};
        struct box x = box_new(8, 6, 4, 1.5, ohm, 0);
        put_uniform(&x, LM_N_OLD, 2);
        put_uniform(&x, LM_ETA, 0.01);
        put_uniform(&x, LM_B, 1);
        require_near(frequency_of(&x), 80 / 2. + 0.8, 1e-11);
        put_uniform(&x, LM_B, 5);
        require_near(frequency_of(&x), (k == 0 ? 80 * 5 / 2. : 50) + 0.8, 1e-11);
        box_free(&x);
    }
}
END_TEST

/* The cell with the lowest density sets the frequency, but not below the floor. There are no waves along a direction
 * of one cell. */
START_TEST(floor_and_single_cells)
{
    struct box x = box_new(8, 1, 4, 0.25, (struct lm_ohm){.floor = 0.25, .gamma = 1}, 0);
    put_uniform(&x, LM_B + 1, 5);
    put_uniform(&x, LM_N_OLD, 1);
    x.work[lm_at(&x.g, 3, 0)] = 0.01;
    lm_grid_wrap(&x.g, x.work);
    x.b->ops->put(x.b, LM_N_OLD, x.work);
    require_near(frequency_of(&x), 16 * 5 / 0.25, 1e-11);
    box_free(&x);
}
END_TEST

/* Between walls a single cell has gradients. With as many substeps as the limit asks for, B does not grow; with too
 * few it grew fivefold in each step. */
START_TEST(single_cell_between_walls)
{
    struct lm_grid g = lm_grid_make(1, 6, 0.5, 1.5);
    g.sides.of[LM_X_MIN] = g.sides.of[LM_X_MAX] = LM_REFLECTING;
    struct lm_setup setup = box_setup(&g, (struct lm_ohm){.floor = 1, .gamma = 1}, 0);
    setup.field_sides[LM_X_MIN] = setup.field_sides[LM_X_MAX] = LM_CONDUCTING;
    struct box x = box_of(&setup);
    put_uniform(&x, LM_N_OLD, 1e13);
    put_uniform(&x, LM_ETA, 0.5);
    put_shortest_wave(&x);
    const double frequency = frequency_of(&x);
    require_near(frequency, 80 * 0.5, 1e-11);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD, 0.0);
    x.b->ops->advance_b(x.b,
                        &(const struct lm_b_step){LM_J_OLD, 20, (int)ceil(20 * frequency / 2.7), 0, LM_NO_MEAN, 0, 0});
    double *after = box_get(&x, LM_B + 2);
    for (int j = 0; j < 6; j++)
        require(fabs(after[lm_at(&g, 0, j)]) <= 1e-3);
    free(after);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("limits");
    TCase *t = tcase_create("limits");
    tcase_add_loop_test(t, diffusion_is_met, 0, sizeof diffusion / sizeof *diffusion);
    tcase_add_loop_test(t, shortest_whistler_has_the_frequency, 0, 2);
    tcase_add_loop_test(t, fastest_carried_wave_has_half_the_frequency, 0, 2);
    tcase_add_loop_test(t, no_wave_is_above_the_frequency, 0, 2);
    tcase_add_test(t, whistlers_and_flow);
    tcase_add_test(t, cells_of_few_ions);
    tcase_add_test(t, floor_and_single_cells);
    tcase_add_test(t, single_cell_between_walls);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
