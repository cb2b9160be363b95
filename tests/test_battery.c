/* The battery of an evolved electron pressure. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "fields_case.h"
#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/fluid/oscillation.h"
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

static double field(double x, double y)
{
    return 2 + 0 * x + 0 * y;
}

/* B_z after a step of 1e-6 in a box whose fields end at `sides`; before it was that of `field`, or 0 (`has_b` = 0). The
 * caller frees it, and the box. */
static double *made_by_battery(struct box *x, int nx, int ny, const int sides[LM_SIDES], const struct lm_ohm *ohm,
                               int has_b)
{
    static const double centre[2] = {0, 0};
    struct lm_grid g = lm_grid_make(nx, ny, LX, LY);
    for (int side = 0; side < LM_SIDES; side++)
        g.sides.of[side] = sides[side] == LM_FIELDS_PERIODIC ? LM_PERIODIC : LM_REFLECTING;
    struct lm_setup setup = box_setup(&g, *ohm, 0);
    setup.background_count = 1;
    setup.background[0] = (struct lm_background){.flow = LM_FLOW_ELECTRON};
    memcpy(setup.field_sides, sides, sizeof setup.field_sides);
    *x = box_of(&setup);
    box_put(x, LM_BACKGROUND, centre, battery_entropy);
    if (has_b)
        box_put(x, LM_B + 2, b_place[2], field);
    box_put(x, LM_N_OLD, centre, battery_density);
    box_put(x, LM_N_NEW, centre, battery_density);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_NEW, 0.0);
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_NEW, 1e-6, 1, 0, LM_NO_MEAN, 0, 0});
    return box_get(x, LM_B + 2);
}

/* The battery of Biermann, of second order in the cells. */
START_TEST(battery_makes_b)
{
    static const int sides[LM_SIDES] = {LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC};
    double error[2];
    for (int k = 0; k < 2; k++) {
        struct box x;
        double *bz = made_by_battery(&x, 24 << k, 18 << k, sides, &evolved, 0);
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

/* In thin plasma the density counts as (k dt)^2 B^2. Where this is uniform and above the density, there is no battery.
 */
START_TEST(thin_plasma_has_the_density_that_counts)
{
    static const int sides[LM_SIDES] = {LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC};
    struct lm_ohm thin = evolved;
    struct box x;
    double largest[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        thin.few = k == 0 ? 0 : 1.5;
        thin.alfven_floor = 0.4;
        double *bz = made_by_battery(&x, 24, 18, sides, &thin, 1);
        for (int j = 0; j < x.g.ny; j++)
            for (int i = 0; i < x.g.nx; i++)
                largest[k] = fmax(largest[k], fabs(bz[lm_at(&x.g, i, j)] - 2));
        free(bz);
        box_free(&x);
    }
    ck_assert_double_gt(largest[0], 1e-8);
    ck_assert_double_lt(largest[1], 1e-14);
}
END_TEST

/* Without B the density counts as k^2 dt sqrt(gamma p) in cells of few ions. Where this is above the density in all
 * cells, and p varies along y alone, nothing varies along x. */
START_TEST(thin_plasma_has_the_density_that_its_pressure_needs)
{
    static const int sides[LM_SIDES] = {LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC};
    struct lm_ohm thin = evolved;
    double largest[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        struct box x;
        thin.few = k == 0 ? 0 : 3;
        thin.thermal_floor = k == 1 ? 2 : 0;
        double *bz = made_by_battery(&x, 24, 18, sides, &thin, 0);
        for (int j = 0; j < x.g.ny; j++)
            for (int i = 0; i < x.g.nx; i++)
                largest[k] = fmax(largest[k], fabs(bz[lm_at(&x.g, i, j)]));
        free(bz);
        box_free(&x);
    }
    ck_assert_double_gt(largest[0], 1e-8);
    ck_assert_double_lt(largest[1], 1e-14);
    ck_assert_double_gt(largest[2], 1e-8);
}
END_TEST

/* The limit is where the oscillation of p and B turns by 1 in a step, and it is not above that of few ions. */
START_TEST(density_that_a_pressure_needs)
{
    const struct lm_grid g = lm_grid_make(40, 30, 20, 10);
    const double k2 = 4 * (1 / (0.5 * 0.5) + 9), gamma = 5.0 / 3, dt = 0.03, p = 0.02;
    const struct lm_ohm o = {.gamma = gamma, .few = 0.3, .thermal_floor = lm_thermal_floor(&g, gamma, dt)};
    const double s = lm_entropy_of(p, gamma), n = lm_density_for_battery(1e-4, s, &o);
    ck_assert_double_eq_tol(n, k2 * sqrt(gamma * p) * dt, 1e-12);
    ck_assert_double_eq(lm_density_for_battery(0.29, s, &o), 0.29);
    ck_assert_double_eq(lm_density_for_battery(0.31, 100 * s, &o), 0.31);
    ck_assert_double_eq(lm_density_for_battery(0.01, 100 * s, &o), 0.3);
}
END_TEST

/* A small plasma without gradients but that of B_z: J_x is 0.3. */
enum { ACROSS = 8, K = 3 * ACROSS + 3 };
struct uniform {
    double n[ACROSS * ACROSS], counted[ACROSS * ACROSS], ji[ACROSS * ACROSS], bz[ACROSS * ACROSS],
        zero[ACROSS * ACROSS];
    uint8_t clearance[ACROSS * ACROSS];
};

static struct lm_flow_moments uniform_moments(struct uniform *u, double n, double ji)
{
    for (int k = 0; k < ACROSS * ACROSS; k++) {
        u->n[k] = u->counted[k] = n;
        u->ji[k] = ji;
        u->bz[k] = 0.3 * (k / ACROSS);
        u->zero[k] = 0;
        u->clearance[k] = 1;
    }
    return (struct lm_flow_moments){.density = {u->n, u->n},
                                    .counted = u->counted,
                                    .current = {u->ji, u->zero},
                                    .b = {u->zero, u->zero, u->bz, ACROSS},
                                    .clearance = u->clearance};
}

static double entropy_flow(const struct lm_flow_moments *m, enum lm_face_place place, int later)
{
    struct lm_ohm o = evolved;
    o.inv_dx = o.inv_dy = 1;
    return lm_flow_on_face(m, 0, K, place, later, &o).entropy;
}

/* The same density divides the current in the velocity of the entropy. */
START_TEST(thin_plasma_carries_its_entropy_with_this_density)
{
    struct uniform u;
    const struct lm_flow_moments moments = uniform_moments(&u, 0.1, 0);
    for (int k = 0; k < ACROSS * ACROSS; k++)
        u.counted[k] = k < K + 1 ? 0.2 : 0.6;
    ck_assert_double_eq_tol(entropy_flow(&moments, LM_FACE_INSIDE, 1), -0.3 / 0.4, 1e-12);
}
END_TEST

/* Entropy leaves through a wall with the ions that leave. Through other sides the current carries it too. */
START_TEST(only_ions_carry_entropy_into_a_wall)
{
    struct uniform u;
    const int high = _i / 2;
    const double ji = _i % 2 ? -0.2 : 0.2, with_current = (ji - 0.3) / 0.5, leaves = high == (ji > 0) ? ji / 0.5 : 0;
    const enum lm_face_place place = high ? LM_FACE_HIGH : LM_FACE_LOW;
    struct lm_flow_moments moments = uniform_moments(&u, 0.5, ji);
    moments.absorbing_walls = 1 << (high ? LM_X_MIN : LM_X_MAX);
    ck_assert_double_eq_tol(entropy_flow(&moments, place, 0), with_current, 1e-12);
    moments.absorbing_walls = 1 << (high ? LM_X_MAX : LM_X_MIN);
    ck_assert_double_eq_tol(entropy_flow(&moments, place, 0), leaves, 1e-12);
    ck_assert_double_eq_tol(entropy_flow(&moments, LM_FACE_INSIDE, 0), with_current, 1e-12);
}
END_TEST

/* By hand: 1/n differs by 2 from the cell on the right, s/n by 0.4 from that cell and by 0.2 from the one above. Cells
 * of bodies and the periodic image of the cell on the left, which is like this one, count 0. */
START_TEST(turn_of_the_oscillation)
{
    enum { SIDE = 2 * LM_GHOST + 3 };
    const struct lm_sides periodic = {{LM_PERIODIC, LM_PERIODIC, LM_PERIODIC, LM_PERIODIC}};
    const struct lm_ohm o = {.inv_dx = 2, .inv_dy = 3, .gamma = 1.5, .alfven_floor = 0.1};
    double counted[SIDE * SIDE], s[SIDE * SIDE];
    uint8_t clearance[SIDE * SIDE];
    const int k = LM_GHOST * SIDE + LM_GHOST;
    for (int n = 0; n < SIDE * SIDE; n++)
        counted[n] = 0.5, s[n] = 0.2, clearance[n] = 1;
    counted[k + 1] = 0.25;
    s[k + SIDE] = 0.3;
    s[k + 2 * SIDE] = 9;
    clearance[k + 2 * SIDE] = 0; /* below, beyond the periodic side */
    const struct lm_flow_moments m = {.counted = counted, .b = {.s = SIDE}, .clearance = clearance};
    const double steep_n = 2 * 2, steep_s = hypot(0.4 * 2, 0.2 * 3);
    const double turn = lm_from_bits(lm_oscillation_bits(&m, s, &periodic, 3, 3, 0, 0, &o));
    ck_assert_double_eq_tol(turn, sqrt(1.5 * pow(0.2, 0.5) * 0.1 * steep_n * steep_s), 1e-12);
    ck_assert_uint_eq(lm_oscillation_bits(&m, s, &periodic, 3, 3, 0, 2, &o), 0);
}
END_TEST

/* The pressure of isothermal and of polytropic electrons is a gradient, which does not act on B, also where E ends at
 * walls. */
START_TEST(a_gradient_makes_no_b)
{
    static const int sides[LM_SIDES] = {LM_CONDUCTING, LM_OPEN, LM_CONDUCTING, LM_CONDUCTING};
    const struct lm_ohm o = {.floor = 0.05, .temperature = 0.7, .gamma = _i == 0 ? 1 : 5.0 / 3};
    struct box x;
    double *bz = made_by_battery(&x, 24, 18, sides, &o, 0);
    for (size_t k = 0; k < x.g.size; k++)
        ck_assert(bz[k] == 0);
    free(bz);
    box_free(&x);
}
END_TEST

/* The ions in a cell at a wall feel half of the force on the face between this cell and the next one, and nothing of
 * the wall. (B is of the order of 1e-6.) */
START_TEST(walls_do_not_push_ions)
{
    static const int sides[LM_SIDES] = {LM_CONDUCTING, LM_CONDUCTING, LM_CONDUCTING, LM_CONDUCTING};
    struct box x;
    free(made_by_battery(&x, 24, 18, sides, &evolved, 0));
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    double *n = box_get(&x, LM_N_OLD), *s = box_get(&x, LM_BACKGROUND), *e = box_get(&x, LM_PUSH_E + 1), largest = 0;
    for (int top = 0; top < 2; top++)
        for (int i = 0; i < x.g.nx; i++) {
            const size_t low = lm_at(&x.g, i, top ? x.g.ny - 2 : 0), high = low + (size_t)x.g.stride;
            const double drop = pow(s[low], evolved.gamma) - pow(s[high], evolved.gamma);
            const double force = drop / (0.5 * (n[low] + n[high]) * x.g.dy);
            largest = fmax(largest, fabs(force));
            ck_assert_double_eq_tol(e[top ? high : low], 0.5 * force, 2e-6);
        }
    ck_assert_double_gt(largest, 0.01);
    free(n), free(s), free(e);
    box_free(&x);
}
END_TEST

/* The battery does not act on B of a side, where the potential of a sheath stands against it. On conducting sides
 * E changes B, but only by what the new B beside them makes. */
START_TEST(sides_have_no_battery)
{
    static const int sides[][LM_SIDES] = {{LM_OPEN, LM_OPEN, LM_CONDUCTING, LM_OPEN},
                                          {LM_CONDUCTING, LM_OPEN, LM_OPEN, LM_CONDUCTING}};
    struct box x;
    double *bz = made_by_battery(&x, 24, 18, sides[_i], &evolved, 0);
    int changed = 0;
    for (int j = -1; j < x.g.ny; j++)
        for (int i = -1; i < x.g.nx; i++) {
            const int on[LM_SIDES] = {i < 0, i == x.g.nx - 1, j < 0, j == x.g.ny - 1};
            int is_on_side = 0, is_open = 0;
            for (int side = 0; side < LM_SIDES; side++) {
                is_on_side |= on[side];
                is_open |= on[side] && sides[_i][side] == LM_OPEN;
            }
            if (is_on_side)
                ck_assert_double_le(fabs(bz[lm_at(&x.g, i, j)]), is_open ? 0 : 1e-15);
            else
                changed += bz[lm_at(&x.g, i, j)] != 0;
        }
    ck_assert_int_gt(changed, 300);
    free(bz);
    box_free(&x);
}
END_TEST

/* Nor where one of the four cells around a corner is in a body, in the domain and in its periodic images. */
START_TEST(corners_of_bodies_have_no_battery)
{
    enum { N = 8, STRIDE = N + 2 * LM_GHOST };
    struct lm_sides sides = {{LM_PERIODIC, LM_PERIODIC, LM_PERIODIC, LM_PERIODIC}};
    uint8_t clearance[STRIDE * STRIDE];
    int count[2] = {0, 0};
    memset(clearance, 1, sizeof clearance);
    clearance[(2 + LM_GHOST) * STRIDE + (7 + LM_GHOST)] = 0; /* cell (7, 2) */
    for (int walls = 0; walls < 2; walls++) {
        sides.of[LM_X_MIN] = sides.of[LM_X_MAX] = walls ? LM_REFLECTING : LM_PERIODIC;
        for (int j = -LM_GHOST; j < N + LM_GHOST - 1; j++)
            for (int i = -LM_GHOST; i < N + LM_GHOST - 1; i++) {
                const int at = walls ? i >= 6 && i <= 8 : i == -2 || i == -1 || i == 6 || i == 7,
                          at_body = at && (j == 1 || j == 2 || j == 1 + N), on_wall = walls && (i == -1 || i == N - 1);
                ck_assert_int_eq(lm_has_battery(clearance, &sides, N, N, STRIDE, i, j), !at_body && !on_wall);
                count[walls] += at_body;
            }
        ck_assert_int_gt(count[walls], 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("battery");
    TCase *t = tcase_create("battery");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, battery_makes_b);
    tcase_add_test(t, thin_plasma_has_the_density_that_counts);
    tcase_add_test(t, thin_plasma_carries_its_entropy_with_this_density);
    tcase_add_test(t, thin_plasma_has_the_density_that_its_pressure_needs);
    tcase_add_test(t, density_that_a_pressure_needs);
    tcase_add_loop_test(t, only_ions_carry_entropy_into_a_wall, 0, 4);
    tcase_add_test(t, turn_of_the_oscillation);
    tcase_add_loop_test(t, a_gradient_makes_no_b, 0, 2);
    tcase_add_test(t, corners_of_bodies_have_no_battery);
    tcase_add_test(t, walls_do_not_push_ions);
    tcase_add_loop_test(t, sides_have_no_battery, 0, 2);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
