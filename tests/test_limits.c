/* The frequency that the number of field substeps follows from, term by term: against the decay of the grid's shortest
 * wave, which diffusion has exactly, and against numbers worked out by hand where it is an upper bound. */
#include <check.h>

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
    x->b->ops->field_maxima(x->b);
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

/* The rate at which it decays, from one small substep. */
static double decay_of_shortest_wave(struct box *x, double dt)
{
    put_shortest_wave(x);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD);
    x->b->ops->advance_b(x->b, LM_J_OLD, dt, 1);
    double *after = box_get(x, LM_B + 2);
    const double ratio = after[lm_at(&x->g, 0, 0)] / 1e-3;
    free(after);
    return -log(ratio) / dt;
}

/* In dense plasma only resistivity is left of Ohm's law; in a void that of the vacuum adds to it. */
static const struct {
    double eta, eta_hyper, eta_vacuum, density, floor;
} diffusion[] = {{0.3, 0, 0, 1e13, 1}, {0, 0.02, 0, 1e13, 1}, {0.1, 0.01, 0, 1e13, 1}, {0, 0, 0.7, 1e12, 1e13}};

START_TEST(diffusion_is_met)
{
    const __typeof__(diffusion[0]) *d = &diffusion[_i];
    static const int cells[][2] = {{8, 6}, {8, 1}, {1, 6}};
    for (int shape = 0; shape < 3; shape++) {
        const int nx = cells[shape][0], ny = cells[shape][1];
        struct lm_ohm ohm = {.floor = d->floor, .gamma = 1, .eta_hyper = d->eta_hyper, .eta_vacuum = d->eta_vacuum};
        struct box x = box_new(nx, ny, 0.5 * nx, 0.25 * ny, ohm, 0);
        put_uniform(&x, LM_N_OLD, d->density);
        put_uniform(&x, LM_ETA, d->eta);
        const double frequency = frequency_of(&x), rate = decay_of_shortest_wave(&x, 0.01 / frequency);
        require(frequency > 1);
        require_near(rate, frequency, 1e-8 * frequency);
        box_free(&x);
    }
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

/* The thinnest plasma counts, down to the floor; a direction of one cell has no waves. */
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

/* Between walls a single cell has gradients. A run with as many substeps as the limits ask for stays as it is but for
 * noise; with too few B grew fivefold in each step. */
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
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD);
    x.b->ops->advance_b(x.b, LM_J_OLD, 20, (int)ceil(20 * frequency / 2.7));
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
    tcase_add_test(t, whistlers_and_flow);
    tcase_add_test(t, floor_and_single_cells);
    tcase_add_test(t, single_cell_between_walls);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
