/* When ranks divide the domain anew, with clocks and imbalances that are made up. */
#include <check.h>
#include <math.h>

#include "distributed/balance_record.h"
#include "suite.h"

enum { EVERY = 30 /* steps between two looks */ };

/* Looks `looks` times, `seconds` apart, with one imbalance, and counts the steps. Returns the look at which a division
 * is due; 0: never. */
static int looks_until_due(struct lm_balance_record *r, int *steps, int looks, double seconds, double imbalance)
{
    double now = r->looked_at > 0 ? r->looked_at : 100;
    for (int k = 1; k <= looks; k++)
        if (lm_balance_is_due(r, now += seconds, imbalance, *steps += EVERY))
            return k;
    return 0;
}

/* An imbalance of 1.25 costs a fifth of the time. A look each 30 steps costs 6 of them, so that 16 are lost after the
 * third one. The first look has no past. */
START_TEST(first_division_after_sixteen_steps)
{
    struct lm_balance_record r = {.lost = 0};
    int steps = 0;
    ck_assert_int_eq(looks_until_due(&r, &steps, 1000, 0.1, 1.25), 4);
    r = (struct lm_balance_record){.lost = 0};
    ck_assert_int_eq(looks_until_due(&r, &steps, 1000, 10, 1.25), 4);
}
END_TEST

START_TEST(balanced_ranks_are_left_alone)
{
    struct lm_balance_record r = {.lost = 0};
    int steps = 0;
    ck_assert_int_eq(looks_until_due(&r, &steps, 100000, 1, 1), 0);
    ck_assert_double_eq(r.lost, 0);
    ck_assert_int_eq(looks_until_due(&r, &steps, 100000, 1, 1.009), 0);
}
END_TEST

/* A later division is worth what the last one took. */
START_TEST(price_is_that_of_the_last_division)
{
    struct lm_balance_record r = {.lost = 0};
    int steps = 0;
    looks_until_due(&r, &steps, 1000, 0.1, 1.25);
    lm_balance_note_division(&r, 200, 204, 1.25, steps);
    ck_assert_double_eq(r.looked_at, 204);
    ck_assert_int_eq(looks_until_due(&r, &steps, 10, 1, 1), 0);      /* it has helped */
    ck_assert_int_eq(looks_until_due(&r, &steps, 1000, 0.1, 2), 81); /* 4 s, half of the time */
}
END_TEST

START_TEST(refusal_begins_anew)
{
    struct lm_balance_record r = {.lost = 0};
    int steps = 0;
    ck_assert_int_eq(looks_until_due(&r, &steps, 1000, 0.1, 1.25), 4);
    lm_balance_note_refusal(&r, r.looked_at);
    ck_assert_int_eq(looks_until_due(&r, &steps, 1000, 0.1, 1.25), 3);
}
END_TEST

START_TEST(divisions_without_memory_become_rare)
{
    struct lm_balance_record r = {.lost = 0};
    int steps = 0;
    ck_assert_int_eq(looks_until_due(&r, &steps, 1000, 0.1, 1.25), 4);
    lm_balance_note_no_memory(&r, r.looked_at);
    ck_assert_int_eq(looks_until_due(&r, &steps, 1000, 0.1, 1.25), 11); /* 64 steps in place of 16, 6 a look */
    lm_balance_note_no_memory(&r, r.looked_at);
    ck_assert_double_eq(r.caution, 16);
    ck_assert_int_eq(r.divisions, 0);
}
END_TEST

/* Divisions that do not help become four times as rare each time; one that helps ends that. */
START_TEST(useless_divisions_become_rare)
{
    struct lm_balance_record r = {.lost = 0};
    int steps = 0;
    for (double times = 1; times < 100; times *= 4) {
        ck_assert_int_gt(looks_until_due(&r, &steps, 100000, 0.1, 1.25), 0);
        ck_assert_double_eq_tol(r.lost, times > 1 ? 0.5 * times : 16 * 0.1 / EVERY, 0.021);
        lm_balance_note_division(&r, r.looked_at, r.looked_at + 0.5, 1.25, steps);
        steps += 300;
        ck_assert_int_eq(lm_balance_is_due(&r, r.looked_at + 0.01, 1.25, steps), 0);
        ck_assert_double_eq(r.caution, 4 * times);
        r.lost = 0;
    }
    r.before = 1.25;
    lm_balance_is_due(&r, r.looked_at, 1.05, r.steps + 300);
    ck_assert_double_eq(r.caution, 1);
}
END_TEST

/* The effect of a division is judged after some hundred steps, not before. */
START_TEST(effect_is_awaited)
{
    struct lm_balance_record r = {.lost = 0};
    lm_balance_note_division(&r, 1, 2, 1.25, 1000);
    lm_balance_is_due(&r, 3, 1.25, 1100);
    ck_assert_double_eq(r.caution, 0);
    lm_balance_is_due(&r, 4, 1.25, 1128);
    ck_assert_double_eq(r.caution, 4);
}
END_TEST

/* A layer that drifts: the imbalance grows from 1 after each division, by a thousandth in each step of a hundredth of a
 * second. A division takes half a second. It is due whenever the waiting has cost as much, which is best there, and is
 * never taken for one that has not helped. */
START_TEST(steady_drift_is_followed)
{
    struct lm_balance_record r = {.lost = 0};
    double now = 1, imbalance = 1;
    for (int step = 0; step < 5000; step++) {
        now += 0.01;
        imbalance += 0.001;
        if (step % 5 == 0 && lm_balance_is_due(&r, now, imbalance, step)) {
            ck_assert_double_eq_tol(r.lost, r.divisions > 0 ? 0.5 : 16 * 0.01, 0.02);
            lm_balance_note_division(&r, now, now + 0.5, imbalance, step);
            now += 0.5;
            imbalance = 1;
        }
    }
    ck_assert_double_eq(r.caution, 1);
    ck_assert_int_eq(r.divisions, 14); /* one in 351 steps: 10 s (y - ln(1 + y)) = 0.5 s for y = .351 */
    ck_assert_double_eq_tol(r.seconds, 0.5 * r.divisions, 1e-9);
}
END_TEST

START_TEST(half_of_the_waiting)
{
    ck_assert(lm_balance_is_better(1.09, 1.2));
    ck_assert(!lm_balance_is_better(1.11, 1.2));
    ck_assert(!lm_balance_is_better(1, 1));
}
END_TEST

/* Two machines, one of them 3 % slower, share work. The time of a share is its power `growth`. Each division mends more
 * than half of the imbalance, whether the machines slow down under load (2) or not (1). */
START_TEST(next_price_fits_machines_that_slow_down_or_not)
{
    const double growth = _i;
    double assumed = 1, before = 0;
    for (int k = 0; k < 4; k++) { /* the price of the first machine over that of the second */
        const double work = 1 / (1 + assumed), time = pow(work, growth), other = 1.03 * pow(1 - work, growth);
        const double imbalance = 2 * fmax(time, other) / (time + other), price = time / work * (1 - work) / other;
        if (k > 0)
            ck_assert(lm_balance_is_better(imbalance, before));
        before = imbalance;
        assumed = lm_balance_next_price(assumed, price);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("balance");
    TCase *t = tcase_create("balance");
    suite_add_tcase(suite, t);
    tcase_add_test(t, first_division_after_sixteen_steps);
    tcase_add_test(t, balanced_ranks_are_left_alone);
    tcase_add_test(t, price_is_that_of_the_last_division);
    tcase_add_test(t, refusal_begins_anew);
    tcase_add_test(t, divisions_without_memory_become_rare);
    tcase_add_test(t, useless_divisions_become_rare);
    tcase_add_test(t, effect_is_awaited);
    tcase_add_test(t, steady_drift_is_followed);
    tcase_add_test(t, half_of_the_waiting);
    tcase_add_loop_test(t, next_price_fits_machines_that_slow_down_or_not, 1, 3);
    return suite_run(suite);
}
