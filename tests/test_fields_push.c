/* The electric field that pushes the ions: friction, the filter, and its largest value. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "fields_case.h"
#include "suite.h"

/* The survey finds the largest |E| of each component. */
START_TEST(survey_finds_the_largest_e)
{
    static const function e[3] = {jix, jiy, jiz};
    struct lm_control control;
    struct box x;
    select_term(TERMS - 1);
    make_box_with_floor(&x, ohm_of_state(), 0);
    for (int d = 0; d < 3; d++)
        box_put(&x, LM_PUSH_E + d, e_place[d], e[d]);
    for (int axis = 0; axis < 2; axis++)
        box_put(&x, LM_PUSH_PRESSURE + axis, e_place[axis], e[2 - axis]);
    x.b->ops->field_maxima(x.b, LM_MAXIMA);
    x.b->ops->control(x.b, &control);
    for (int d = 0; d < 5; d++) {
        double *a = box_get(&x, d < 3 ? LM_PUSH_E + d : LM_PUSH_PRESSURE + d - 3), most = 0;
        for (int j = 0; j < x.g.ny; j++)
            for (int i = 0; i < x.g.nx; i++)
                most = fmax(most, fabs(a[lm_at(&x.g, i, j)]));
        ck_assert_double_eq(d < 3 ? control.push_e[d] : control.push_pressure[d - 3], most);
        free(a);
    }
    ck_assert(control.push_e[0] != control.push_e[1] && control.push_e[1] != control.push_e[2]);
    ck_assert(control.push_pressure[0] != control.push_pressure[1]);
    box_free(&x);
}
END_TEST

/* The average of `with` - `without` at the centre. */
static double difference_at_centre(const double *with, const double *without, int s)
{
    return 0.5 * (with[0] + with[-s] - without[0] - without[-s]);
}

/* friction = off: the ions feel the average of eta J - eta_H lap J; on: they do not. */
START_TEST(friction)
{
    struct box on, off, none_at_all;
    select_term(TERMS - 1);
    struct lm_ohm ohm = ohm_of_state();
    make_box_with_floor(&off, ohm, 0);
    ohm.friction = 1;
    make_box_with_floor(&on, ohm, 0);
    state.eta0 = state.eta1 = ohm.eta_hyper = 0;
    make_box_with_floor(&none_at_all, ohm, 0);
    for (int d = 0; d < 3; d++) {
        double *e = box_get(&off, LM_E + d), *push_off = box_get(&off, LM_PUSH_E + d), *same = box_get(&on, LM_E + d);
        double *push_on = box_get(&on, LM_PUSH_E + d), *ideal = box_get(&none_at_all, LM_E + d);
        double *push_none = box_get(&none_at_all, LM_PUSH_E + d);
        require(box_distance(&on, e, same) == 0 && box_distance(&on, e, ideal) > 0.01);
        require(box_distance(&on, push_on, push_none) == 0);
        for (int k = 0; k < on.g.nx * on.g.ny; k++) {
            const size_t at = lm_at(&on.g, k % on.g.nx, k / on.g.nx);
            const int s = d == 0 ? 1 : d == 1 ? on.g.stride : 0;
            require_near(push_off[at] - push_on[at], difference_at_centre(e + at, ideal + at, s), 1e-13);
        }
        free(e), free(push_off), free(same), free(push_on), free(ideal), free(push_none);
    }
    box_free(&on);
    box_free(&off);
    box_free(&none_at_all);
}
END_TEST

static int mode_x, mode_y;

static double mode(double x, double y)
{
    return cos(mode_x * KX * x + mode_y * KY * y + 0.3);
}

/* Each pass multiplies a wave by cos^2(kx dx/2) cos^2(ky dy/2); E_z = -J_ix B_y here. */
START_TEST(binomial_filter)
{
    static const int modes[][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 3}, {5, 1}, {8, 0}, {0, 6}, {3, 6}};
    const double centre[2] = {0, 0};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        struct box x = box_new(16, 12, LX, LY, (struct lm_ohm){.floor = 0.1, .gamma = 1}, _i);
        mode_x = modes[m][0], mode_y = modes[m][1];
        box_put(&x, LM_B + 1, centre, one);
        box_put(&x, LM_N_OLD, centre, one);
        box_put(&x, LM_J_OLD, centre, mode);
        x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD, 0.0);
        x.b->ops->ohm(x.b, LM_OHM_OLD);
        double *e = box_get(&x, LM_E + 2), *push = box_get(&x, LM_PUSH_E + 2);
        double factor = pow(cos(M_PI * mode_x / 16) * cos(M_PI * mode_y / 12), 2 * _i);
        for (size_t k = 0; k < x.g.size; k++)
            require_near(push[k], factor * e[k], 1e-14);
        double *zero = calloc(x.g.size, sizeof *zero);
        require(box_distance(&x, e, zero) > 0.1);
        free(e), free(push), free(zero);
        box_free(&x);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields, push");
    TCase *t = tcase_create("fields, push");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, survey_finds_the_largest_e);
    tcase_add_test(t, friction);
    tcase_add_loop_test(t, binomial_filter, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
