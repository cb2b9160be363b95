/* Open sides and sides with given fields, on the CPU backend: what leaves, what a layer absorbs, what flows in. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "field_walls.h"
#include "larmor/physics/fields/side_current.h"
#include "suite.h"

/* The energy of the components of B across x; values on the walls count half. */
static double energy_of(struct box *x)
{
    double sum = 0;
    for (int d = 1; d < 3; d++) {
        double *a = box_get(x, LM_B + d);
        for (int i = -1; i < x->g.nx; i++)
            sum += pow(a[lm_at(&x->g, i, 0)], 2) * (i < 0 || i == x->g.nx - 1 ? 0.5 : 1);
        free(a);
    }
    return sum;
}

enum { LONG = 256 };

static double packet_k, packet_x, packet_width;

static double pulse(double x, double y)
{
    return exp(-pow((x - packet_x) / packet_width, 2)) + 0 * y;
}

static double packet_y(double x, double y)
{
    return pulse(x, y) * cos(packet_k * x);
}

static double packet_z(double x, double y)
{
    return -pulse(x, y) * sin(packet_k * x);
}

/* A flow carries a pulse out through an open side. With centred differences inside and a one-sided one on the wall, a
 * wave is reflected into the saw-tooth mode of the grid with amplitude tan^2(k dx/2). The energy that comes back is the
 * square of this, averaged over the spectrum of the pulse. */
START_TEST(an_open_side_lets_a_flow_out)
{
    static const int sides[LM_SIDES] = {LM_INFLOW_B, LM_OPEN, PERIODIC, PERIODIC};
    struct box x = box_with_walls(LONG, 1, 0.5 * LONG, 0.5, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    packet_width = 4, packet_x = 0.5 * LONG - 32;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_J_OLD, centre, one);
    put_all(&x, LM_B + 2, b_place[2], pulse);
    double before = energy_of(&x), power = 0, back = 0;
    for (double k = 0.005; k < 2.5; k += 0.01) {
        double p = exp(-pow(k * packet_width, 2) / 2);
        power += p, back += p * pow(tan(k * x.g.dx / 2), 4);
    }
    advance(&x, 0.1, 560); /* the pulse is out at t = 32; the reflection reaches the other side at t = 256 */
    double ratio = energy_of(&x) / before;
    ck_assert_msg(fabs(ratio / (back / power) - 1) < 0.2, "%g of the energy came back, theory %g", ratio, back / power);
    box_free(&x);
}
END_TEST

/* The same with a hyper-resistivity that is strong on the scale of a cell, eta_H = 1.6 u d^3. If the difference between
 * B on the side and B beyond it counted as a current, a steady B would be twelve times as large before the side (from
 * the linear equations on this grid). */
START_TEST(an_open_side_lets_a_flow_with_hyper_resistivity_out)
{
    static const int sides[LM_SIDES] = {LM_INFLOW_B, LM_OPEN, PERIODIC, PERIODIC};
    struct box x = box_with_walls(LONG, 1, 0.5 * LONG, 0.5, (struct lm_ohm){.floor = 0.1, .gamma = 1, .eta_hyper = 0.2},
                                  0, sides, NULL);
    packet_width = 12, packet_x = 0.5 * LONG - 48;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_J_OLD, centre, one);
    put_all(&x, LM_B + 2, b_place[2], pulse);
    const double start = energy_of(&x);
    double left = start;
    for (int part = 0; part < 50; part++) {
        advance(&x, 0.04, 50);
        left = energy_of(&x);
        ck_assert_msg(left < start * (1 + 1e-3), "the energy is %g of that of the start after part %d", left / start,
                      part);
    }
    ck_assert_msg(left < 1e-4 * start, "%g of the energy is left", left / start);
    box_free(&x);
}
END_TEST

/* J along a side beyond it is that of the last cell inside, also where B and J_ext are arrays of different strides. */
START_TEST(the_current_goes_on_beyond_open_sides)
{
    enum { N = 4, EDGE = 3, SMALL = N + 2 * EDGE, LARGE = SMALL + 5 };
    static double b[3][SMALL * SMALL], e[3][LARGE * SMALL];
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < LARGE * SMALL; k++) {
            e[d][k] = sin(3.1 * k + d);
            if (k < SMALL * SMALL)
                b[d][k] = cos(1.7 * k - d);
        }
    const struct lm_field_sides s = {.of = {LM_CONDUCTING, LM_OPEN, LM_RADIATING, LM_OPEN}};
    const struct lm_view bv = {b[0], b[1], b[2], SMALL}, ev = {e[0], e[1], e[2], LARGE};
    for (int j = -2; j < N + 2; j++)
        for (int i = -2; i < N + 2; i++) {
            const int from_i = i < N ? i : N - 1, from_j = j < 0 ? 0 : j < N ? j : N - 1;
            const struct lm_vector is =
                lm_current_in_cell(&s, N, N, i, j, lm_view_at(bv, (EDGE + j) * SMALL + EDGE + i),
                                   lm_view_at(ev, (EDGE + j) * LARGE + EDGE + i), 2, 3);
            const int cells[3][2] = {{i, from_j}, {from_i, j}, {from_i, from_j}};
            struct lm_vector of[3];
            for (int d = 0; d < 3; d++)
                of[d] = lm_plasma_current(lm_view_at(bv, (EDGE + cells[d][1]) * SMALL + EDGE + cells[d][0]),
                                          lm_view_at(ev, (EDGE + cells[d][1]) * LARGE + EDGE + cells[d][0]), 2, 3);
            ck_assert_msg(is.x == of[0].x && is.y == of[1].y && is.z == of[2].z, "cell (%d, %d)", i, j);
        }
}
END_TEST

/* Different everywhere. */
static double uneven(double x, double y)
{
    return 1 + 0.3 * sin(2.1 * x + 0.4) + 0.2 * cos(1.7 * y - 0.3) + 0.1 * sin(x * y);
}

/* Of both signs. */
static double current_x(double x, double y)
{
    return 2 * sin(1.3 * x + 2.9 * y);
}

static double current_y(double x, double y)
{
    return 2 * cos(1.9 * x - 2.3 * y);
}

enum { SMALL = 8 };

/* The velocity of the ions of cell k through a side, outwards. */
static double velocity(double *const a[6], int axis, int high, size_t k)
{
    return (high ? 1 : -1) * a[4 + axis][k] / a[3][k];
}

/* The Alfven speed in cell k; it is less than the speed that the tiny substep can follow. */
static double alfven_speed(const struct box *x, double *const a[6], size_t k)
{
    const size_t s = (size_t)x->g.stride;
    const double bx = (a[0][k] + a[0][k - s]) / 2, by = (a[1][k] + a[1][k - 1]) / 2,
                 bz = (a[2][k] + a[2][k - 1] + a[2][k - s] + a[2][k - s - 1]) / 4, b = hypot(hypot(bx, by), bz);
    return b / sqrt(a[3][k]);
}

/* The rate of B_`component` of node k on a side of an axis. */
static double open_rate(const struct box *x, double *const a[6], int component, int axis, int high, size_t k)
{
    const size_t in = axis == 0 ? 1 : (size_t)x->g.stride, across = axis == 0 ? (size_t)x->g.stride : 1;
    const double *b = a[component], inside = high ? b[k - in] : b[k + in],
                 outside = high ? 2 * b[k + in] - b[k + 2 * in] : 2 * b[k - in] - b[k - 2 * in];
    double out = 0, enters = 0;
    for (int n = 0; n < 2; n++) { /* B_z is between two cells */
        const size_t cell = (high ? k : k + in) + (component == 2 && n ? across : 0);
        const double u = velocity(a, axis, high, cell);
        out += fmax(u, 0) / 2, enters += fmax(alfven_speed(x, a, cell) - u, 0) / 2;
    }
    return -(out * (b[k] - inside) + enters * (b[k] - outside)) / (axis == 0 ? x->g.dx : x->g.dy);
}

/* B on all open sides and in their corners changes as open_side.h says, and B beyond them stays. */
START_TEST(b_leaves_with_ions_and_enters_with_waves)
{
    static const int sides[LM_SIDES] = {LM_OPEN, LM_OPEN, LM_OPEN, LM_OPEN},
                     arrays[6] = {LM_B, LM_B + 1, LM_B + 2, LM_N_OLD, LM_J_OLD, LM_J_OLD + 1};
    static const function functions[6] = {uneven, uneven, uneven, uneven, current_x, current_y};
    struct box x =
        box_with_walls(SMALL, SMALL, SMALL, SMALL, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    const double dt = 1e-6;
    double *before[6], *after[3];
    int kinds[2][2] = {{0}}; /* nodes where ions leave or enter, slower or faster than waves */
    for (int k = 0; k < 6; k++) {
        put_all(&x, arrays[k], k < 3 ? b_place[k] : centre, functions[k]);
        before[k] = box_get(&x, arrays[k]);
    }
    advance(&x, dt, 1);
    for (int d = 0; d < 3; d++)
        after[d] = box_get(&x, LM_B + d);
    for (int d = 0; d < 3; d++)
        for (int j = d == 1 ? 0 : -1; j < SMALL; j++)
            for (int i = d == 0 ? 0 : -1; i < SMALL; i++) {
                const int at_x = d != 0 && (i < 0 || i == SMALL - 1), at_y = d != 1 && (j < 0 || j == SMALL - 1);
                const size_t k = lm_at(&x.g, i, j);
                if (!at_x && !at_y)
                    continue;
                const double want = (at_x ? open_rate(&x, before, d, 0, i > 0, k) : 0) +
                                    (at_y ? open_rate(&x, before, d, 1, j > 0, k) : 0);
                ck_assert_double_eq_tol((after[d][k] - before[d][k]) / dt, want, 1e-3 * fmax(1, fabs(want)));
                if (at_x && i > 0 && j >= 0) {
                    const double u = velocity(before, 0, 1, k);
                    kinds[u > 0][fabs(u) > alfven_speed(&x, before, k)]++;
                }
            }
    ck_assert(kinds[0][0] && kinds[0][1] && kinds[1][0] && kinds[1][1]);
    for (int d = 1; d < 3; d++)
        for (int j = 0; j < SMALL - 1; j++)
            for (int i = SMALL; i < SMALL + LM_GHOST; i++)
                ck_assert(after[d][lm_at(&x.g, i, j)] == before[d][lm_at(&x.g, i, j)]);
    for (int k = 0; k < 6; k++)
        free(before[k]);
    for (int d = 0; d < 3; d++)
        free(after[d]);
    box_free(&x);
}
END_TEST

static double minus_one(double x, double y)
{
    return -1 + 0 * (x + y);
}

static double nearly_one(double x, double y)
{
    return 1 + 1e-3 * sin(7 * x) + 0 * y;
}

/* A flow comes in through an open side. B on the side is held there. If it went on as inside, the difference of B at
 * the side would come in for ever: it was 30 to 40 times as large at the end as at the beginning. */
START_TEST(a_flow_that_comes_in_brings_no_energy)
{
    static const int sides[LM_SIDES] = {LM_OPEN, LM_OPEN, PERIODIC, PERIODIC};
    struct box x = box_with_walls(64, 1, 32, 0.5, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_J_OLD, centre, _i ? one : minus_one);
    put_all(&x, LM_B + 2, b_place[2], nearly_one);
    advance(&x, 0.1, 400);
    double *b = box_get(&x, LM_B + 2);
    for (int i = -1; i < x.g.nx; i++)
        ck_assert_double_lt(fabs(b[lm_at(&x.g, i, 0)] - 1), 1e-2);
    free(b);
    box_free(&x);
}
END_TEST

/* A whistler meets an open side. No current flows on it, so the side alone reflects everything. A resistive layer
 * before the side damps the wave: k^2 = omega / (B/n - i eta) there, so exp(-4 int Im k dx) of the energy returns. */
START_TEST(a_layer_absorbs_whistlers)
{
    static const int sides[LM_SIDES] = {LM_CONDUCTING, LM_OPEN, PERIODIC, PERIODIC};
    const double length = 0.25 * LONG, layer = 16, most = 1;
    struct box x = box_with_walls(LONG, 1, length, 0.25, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    packet_width = 10, packet_x = 28, packet_k = 1;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_B, b_place[0], one);
    put_all(&x, LM_B + 1, b_place[1], packet_y);
    put_all(&x, LM_B + 2, b_place[2], packet_z);
    double before = energy_of(&x), power = 0, back = 0;
    for (double k = 0.01; k < 2.5; k += 0.01) {
        double p = exp(-pow((k - packet_k) * packet_width, 2) / 2), damping = 0;
        for (int s = 0; s < 100; s++) {
            double eta = most * pow((s + 0.5) / 100, 2), size = pow(1 + eta * eta, -0.25);
            damping += k * size * sin(atan(eta) / 2) * layer / 100;
        }
        power += p, back += p * exp(-4 * damping);
    }
    for (int j = -LM_GHOST; j < x.g.ny + LM_GHOST && _i; j++)
        for (int i = -LM_GHOST; i < x.g.nx + LM_GHOST; i++) {
            double deep = fmin(1, fmax(0, ((i + 0.5) * x.g.dx - (length - layer)) / layer));
            x.work[lm_at(&x.g, i, j)] = most * deep * deep;
        }
    for (size_t k = 0; k < x.g.size && !_i; k++)
        x.work[k] = 0;
    x.b->ops->put(x.b, LM_ETA, x.work);
    advance(&x, 0.015, 3000); /* t = 45: no part of the packet is slower than 1 */
    double ratio = energy_of(&x) / before;
    if (_i)
        ck_assert_msg(ratio < 2 * back / power && back / power < 5e-4, "%g came back, theory %g", ratio, back / power);
    else
        ck_assert_msg(fabs(ratio - 1) < 1e-3, "%g came back", ratio);
    box_free(&x);
}
END_TEST

static double given_e;

static double e_beyond(double x, double y)
{
    return given_e + 0 * (x + y);
}

static double tilted(double x, double y)
{
    return 0.5 + 0.1 * sin(3 * x) + 0.05 * y;
}

/* A flow carries in the magnetic flux that E on the side gives: E = -u x B. With the flux that is there already
 * nothing changes. */
START_TEST(inflow_of_flux)
{
    static const int sides[LM_SIDES] = {LM_INFLOW_E, LM_OPEN, PERIODIC, PERIODIC};
    struct box x = box_with_walls(64, 1, 32, 0.5, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 1, sides, NULL);
    given_e = _i ? -1.2 : -1;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_J_OLD, centre, one);
    put_all(&x, LM_B + 1, b_place[1], one);
    put_all(&x, LM_E + 2, centre, e_beyond);
    put_all(&x, LM_PUSH_E + 2, centre, e_beyond);
    for (size_t k = 0; k < x.g.size; k++)
        x.work[k] = 0.2;
    x.b->ops->put(x.b, LM_ETA, x.work);
    advance(&x, 0.05, 400);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    double *by = box_get(&x, LM_B + 1), *e = box_get(&x, LM_E + 2), *push = box_get(&x, LM_PUSH_E + 2);
    for (int i = -1; i < 16; i++)
        ck_assert_double_eq_tol(by[lm_at(&x.g, i, 0)], -given_e, _i ? 1e-3 : 1e-13);
    for (int i = -LM_GHOST; i < 0; i++)
        ck_assert(e[lm_at(&x.g, i, 0)] == given_e && push[lm_at(&x.g, i, 0)] == given_e);
    struct lm_control control;
    x.b->ops->control(x.b, &control);
    ck_assert_double_ge(control.push_e[2], -given_e);
    free(by), free(e), free(push);
    box_free(&x);
}
END_TEST

/* B along a side with given B stays the same to the bit, although B changes inside. */
START_TEST(given_b_stays)
{
    static const int sides[LM_SIDES] = {LM_INFLOW_B, LM_CONDUCTING, LM_OPEN, LM_INFLOW_B};
    struct box x =
        box_with_walls(12, 12, 3, 3, (struct lm_ohm){.floor = 0.1, .gamma = 1, .eta_hyper = 1e-4}, 1, sides, NULL);
    put_all(&x, LM_N_OLD, centre, one);
    double *before[3];
    for (int d = 0; d < 3; d++) {
        put_all(&x, LM_J_OLD + d, centre, tilted);
        put_all(&x, LM_B + d, b_place[d], tilted);
        before[d] = box_get(&x, LM_B + d);
    }
    advance(&x, 0.002, 200);
    for (int d = 0; d < 3; d++) {
        double *after = box_get(&x, LM_B + d);
        for (int k = -LM_GHOST; k < 12 + LM_GHOST; k++)
            for (int deep = 1; deep <= LM_GHOST; deep++) {
                size_t low = lm_at(&x.g, -deep, k), high = lm_at(&x.g, k, 10 + deep);
                ck_assert(d == 0 || after[low] == before[d][low]);
                ck_assert(d == 1 || after[high] == before[d][high]);
            }
        ck_assert_double_gt(box_distance(&x, after, before[d]), 1e-3);
        free(after), free(before[d]);
    }
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields at open sides");
    TCase *t = tcase_create("fields at open sides");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, an_open_side_lets_a_flow_out);
    tcase_add_test(t, an_open_side_lets_a_flow_with_hyper_resistivity_out);
    tcase_add_test(t, the_current_goes_on_beyond_open_sides);
    tcase_add_test(t, b_leaves_with_ions_and_enters_with_waves);
    tcase_add_loop_test(t, a_flow_that_comes_in_brings_no_energy, 0, 2);
    tcase_add_loop_test(t, a_layer_absorbs_whistlers, 0, 2);
    tcase_add_loop_test(t, inflow_of_flux, 0, 2);
    tcase_add_test(t, given_b_stays);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
