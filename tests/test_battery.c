/* The battery of an evolved electron pressure. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "fields_case.h"
#include "suite.h"

static const struct lm_ohm evolved = {.floor = 0.05, .gamma = 5.0 / 3, .evolved = 1};

static double battery_density(double x, double y)
{
    return 1 + 0.3 * sin(KX * x) + 0 * y;
}

static double battery_entropy(double x, double y)
{
    return pow(0.8 + 0.2 * cos(KY * y) + 0 * x, 0.6);
}

/* -curl (-grad p / n) = grad n x grad p / n^2, negative. */
static double battery(double x, double y)
{
    const double n = battery_density(x, y), dn = 0.3 * KX * cos(KX * x), dp = -0.2 * KY * sin(KY * y);
    return -dn * dp / (n * n);
}

/* B_z after a step of 1e-6 in a box whose fields end at `sides`. The caller frees it, and the box. */
static double *made_by_battery(struct box *x, int nx, int ny, const int sides[LM_SIDES])
{
    static const double centre[2] = {0, 0};
    struct lm_grid g = lm_grid_make(nx, ny, LX, LY);
    for (int side = 0; side < LM_SIDES; side++)
        g.sides.of[side] = sides[side] == LM_FIELDS_PERIODIC ? LM_PERIODIC : LM_REFLECTING;
    struct lm_setup setup = box_setup(&g, evolved, 0);
    setup.background_count = 1;
    setup.background[0] = (struct lm_background){.flow = LM_FLOW_ELECTRON};
    memcpy(setup.field_sides, sides, sizeof setup.field_sides);
    *x = box_of(&setup);
    box_put(x, LM_BACKGROUND, centre, battery_entropy);
    box_put(x, LM_N_OLD, centre, battery_density);
    box_put(x, LM_N_NEW, centre, battery_density);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_NEW, 0.0);
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_NEW, 1e-6, 1, 0, LM_NO_MEAN});
    return box_get(x, LM_B + 2);
}

/* The battery of Biermann, of second order in the cells. */
START_TEST(battery_makes_b)
{
    static const int sides[LM_SIDES] = {LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC};
    double error[2];
    for (int k = 0; k < 2; k++) {
        struct box x;
        double *bz = made_by_battery(&x, 24 << k, 18 << k, sides);
        for (size_t m = 0; m < x.g.size; m++)
            bz[m] *= 1e6;
        error[k] = box_error(&x, bz, b_place[2], battery);
        free(bz);
        box_free(&x);
    }
    ck_assert_double_lt(error[1], 2e-3);
    ck_assert_double_gt(error[0], 3.8 * error[1]);
}
END_TEST

/* The battery does not act on B of an open side, where no current would answer. */
START_TEST(an_open_side_has_no_battery)
{
    static const int sides[LM_SIDES] = {LM_OPEN, LM_OPEN, LM_CONDUCTING, LM_OPEN};
    struct box x;
    double *bz = made_by_battery(&x, 24, 18, sides);
    int changed = 0;
    for (int j = -1; j < x.g.ny; j++)
        for (int i = -1; i < x.g.nx; i++) {
            if (i < 0 || i == x.g.nx - 1 || j == x.g.ny - 1)
                ck_assert(bz[lm_at(&x.g, i, j)] == 0);
            else
                changed += bz[lm_at(&x.g, i, j)] != 0;
        }
    ck_assert_int_gt(changed, 300);
    free(bz);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("battery");
    TCase *t = tcase_create("battery");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, battery_makes_b);
    tcase_add_test(t, an_open_side_has_no_battery);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
