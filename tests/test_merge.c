/* The results of two ranks become one: in any order, with the same bits. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distributed/parts.h"
#include "suite.h"

enum { CASES = 50 };

static int64_t any(void)
{
    return (int64_t)rand() - RAND_MAX / 2;
}

/* A number >= 0; now and then NaN or infinite. */
static double size(void)
{
    const int kind = rand() % 12;
    return kind == 0 ? (double)NAN : kind == 1 ? (double)INFINITY : kind == 2 ? 0.0 : rand() * 1e-3;
}

static struct lm_tally tally(void)
{
    return (struct lm_tally){any(), {any(), any(), any()}, any()};
}

static struct lm_control control(void)
{
    struct lm_control c = {.frequency = size(), .eta = size(), .floored = any(), .voids = any()};
    for (int d = 0; d < 3; d++)
        c.push_e[d] = size();
    for (int axis = 0; axis < 2; axis++)
        c.push_pressure[axis] = size();
    for (int s = 0; s < LM_MAX_SPECIES; s++) {
        c.speed2[s] = size();
        for (int d = 0; d < 3; d++)
            c.friction_e[s][d] = size();
        c.strays[s] = any();
        c.charge_quanta[s] = any();
        c.to_gas[s] = tally();
        c.exchanged[s] = tally();
        c.to_electrons[s] = tally();
        for (int channel = 0; channel < LM_CHANNELS; channel++)
            c.lost[s][channel] = tally();
        for (int way = 0; way < LM_ENTRANCES; way++)
            c.injected[s][way] = tally();
    }
    for (int f = 0; f < LM_MAX_BACKGROUNDS; f++) {
        c.background[f].least = rand() % 100;
        c.background[f].most = 100 + rand() % 100;
    }
    return c;
}

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}

static void assert_same(double a, double b)
{
    ck_assert(isnan(a) ? isnan(b) : a == b);
}

START_TEST(controls)
{
    srand((unsigned)_i);
    const struct lm_control a = control(), b = control(), c = control();
    struct lm_control left = a, right = c;
    lm_merge_control(&left, &b);
    for (int d = 0; d < 3; d++)
        assert_same(left.push_e[d], larger(a.push_e[d], b.push_e[d]));
    assert_same(left.frequency, larger(a.frequency, b.frequency));
    assert_same(left.speed2[1], larger(a.speed2[1], b.speed2[1]));
    ck_assert_int_eq(left.floored, a.floored + b.floored);
    ck_assert_int_eq(left.voids, a.voids + b.voids);
    ck_assert_int_eq(left.charge_quanta[1], a.charge_quanta[1] + b.charge_quanta[1]);
    ck_assert_int_eq(left.lost[1][2].v[1], a.lost[1][2].v[1] + b.lost[1][2].v[1]);
    ck_assert_int_eq(left.injected[1][1].number, a.injected[1][1].number + b.injected[1][1].number);
    ck_assert_double_eq(left.background[1].least, fmin(a.background[1].least, b.background[1].least));
    ck_assert_double_eq(left.background[1].most, fmax(a.background[1].most, b.background[1].most));
    lm_merge_control(&left, &c);
    lm_merge_control(&right, &b);
    lm_merge_control(&right, &a);
    ck_assert(!memcmp(&left, &right, sizeof left));
}
END_TEST

/* A message of all species and fields has each byte of lm_control once; one of a few has what is theirs. */
START_TEST(messages_of_controls)
{
    srand((unsigned)_i);
    struct lm_control c = control(), back;
    struct lm_control_message all = {.species = LM_MAX_SPECIES, .backgrounds = LM_MAX_BACKGROUNDS},
                              few = {.species = 2, .backgrounds = 1};
    lm_pack_control(&c, &all);
    ck_assert_uint_eq(all.used, sizeof c);
    lm_unpack_control(&all, &back);
    ck_assert(!memcmp(&back, &c, sizeof c));
    lm_pack_control(&c, &few);
    ck_assert_uint_lt(few.used, sizeof c / 4);
    lm_unpack_control(&few, &back);
    for (int s = 2; s < LM_MAX_SPECIES; s++) {
        c.speed2[s] = 0;
        memset(c.friction_e[s], 0, sizeof c.friction_e[s]);
        c.strays[s] = c.charge_quanta[s] = 0;
        c.to_gas[s] = c.exchanged[s] = c.to_electrons[s] = (struct lm_tally){0};
        memset(c.lost[s], 0, sizeof c.lost[s]);
        memset(c.injected[s], 0, sizeof c.injected[s]);
    }
    memset(&c.background[1], 0, (LM_MAX_BACKGROUNDS - 1) * sizeof c.background[1]);
    ck_assert(!memcmp(&back, &c, sizeof c));
}
END_TEST

START_TEST(other_results)
{
    srand((unsigned)_i);
    const struct lm_grid_sums a = {{any(), any(), any()}, any(), {1, 2, 3}, 4, size()},
                              b = {{any(), any(), any()}, any(), {1, 2, 3}, 4, size()};
    struct lm_grid_sums sum = a;
    lm_merge_grid_sums(&sum, &b);
    assert_same(sum.div_b, larger(a.div_b, b.div_b));
    ck_assert_int_eq(sum.b2[2], a.b2[2] + b.b2[2]);
    ck_assert_int_eq(sum.electrons, a.electrons + b.electrons);
    ck_assert_int_eq(sum.exponent_b2[2], 3);
    const struct lm_exchange_limits m = {size(), any()}, n = {size(), any()};
    struct lm_exchange_limits limits = m;
    lm_merge_limits(&limits, &n);
    assert_same(limits.noise2, larger(m.noise2, n.noise2));
    ck_assert_int_eq(limits.limited, m.limited + n.limited);
    double least = 3, other = rand() % 7;
    lm_merge_least(&least, &other);
    ck_assert_double_eq(least, fmin(3, other));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge");
    TCase *t = tcase_create("merge");
    suite_add_tcase(suite, t);
    tcase_add_loop_test(t, controls, 0, CASES);
    tcase_add_loop_test(t, messages_of_controls, 0, CASES);
    tcase_add_loop_test(t, other_results, 0, CASES);
    return suite_run(suite);
}
