/* Ohm's law at and below the density floor, and the pressure of the electrons there. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_box.h"
#include "fields_case.h"
#include "suite.h"

static double clipped(double x, double y)
{
    return fmax(density(x, y), FLOOR);
}

static double pressure_above_floor(double x, double y)
{
    return state.temperature * pow(clipped(x, y), state.gamma);
}

/* Below the floor every term of E but that of the pressure, which has a lower floor of its own, is to the bit that of a
 * density clipped at the floor. */
START_TEST(floor_holds_in_every_term)
{
    const double centre[2] = {0, 0};
    double *e[3], *n;
    struct box x;
    select_term(_i);
    if (state.n0 > 10)
        state.n0 = 1, state.n1 = 0.3;
    state.temperature = 0;
    make_box_with_floor(&x, ohm_of_state(), 1);
    for (int d = 0; d < 3; d++)
        e[d] = box_get(&x, LM_E + d);
    n = box_get(&x, LM_FLOORED);
    ck_assert_double_lt(box_error(&x, n, centre, clipped), 1e-15);
    box_put(&x, LM_N_OLD, centre, clipped);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD, 0.0);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    for (int d = 0; d < 3; d++) {
        double *other = box_get(&x, LM_E + d);
        ck_assert(memcmp(other, e[d], x.g.size * sizeof *other) == 0);
        free(other), free(e[d]);
    }
    free(n);
    box_free(&x);
}
END_TEST

START_TEST(floored_cells_are_counted)
{
    struct box x;
    struct lm_control control;
    select_term(0);
    make_box_with_floor(&x, ohm_of_state(), 1);
    x.b->ops->field_maxima(x.b, LM_MAXIMA);
    x.b->ops->control(x.b, &control);
    int64_t want = 0;
    for (int j = 0; j < x.g.ny; j++)
        for (int i = 0; i < x.g.nx; i++)
            want += density((i + 0.5) * x.g.dx, (j + 0.5) * x.g.dy) < FLOOR;
    ck_assert_int_gt(want, 20);
    ck_assert_int_eq(control.floored, want);
    box_free(&x);
}
END_TEST

/* The pressure that `get` returns is that of the density at step n, even when the last closure used another density. */
START_TEST(pressure_is_of_now)
{
    const double centre[2] = {0, 0};
    struct box x;
    select_term(TERMS - 1);
    make_box_with_floor(&x, ohm_of_state(), 0);
    box_put(&x, LM_N_NEW, centre, one);
    x.b->ops->closure(x.b, LM_N_NEW, LM_N_NEW, 0.0);
    double *p = box_get(&x, LM_PRESSURE);
    ck_assert_double_lt(box_error(&x, p, centre, pressure_above_floor), 1e-14);
    ck_assert_double_gt(box_error(&x, p, centre, one), 0.01);
    free(p);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields, vacuum");
    TCase *t = tcase_create("fields, vacuum");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, floor_holds_in_every_term, 0, TERMS);
    tcase_add_test(t, floored_cells_are_counted);
    tcase_add_test(t, pressure_is_of_now);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
