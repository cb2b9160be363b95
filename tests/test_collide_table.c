/* The table of stopping powers, against a search through all of its rows. */
#include <check.h>
#include <math.h>

#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif
#include "larmor/stopping.h"
#include "collide_case.h"
#include "require.h"
#include "scratch.h"
#include "suite.h"

static void check_energy(const struct lm_stopping *t, const double *e, const double *s, const double *p, int points,
                         float energy)
{
    const int k = lm_stopping_row(t, energy);
    const struct lm_interpolated_stopping at = lm_stopping_at(t, energy);
    require(k >= 0 && k < t->rows && t->row[k].energy <= energy && (k + 1 == t->rows || energy < t->row[k + 1].energy));
    require(fabs((double)at.stopping - interpolated_at(e, s, points, (double)energy)) < 1e-6);
    require(fabs((double)at.scattering_power - interpolated_at(e, p, points, (double)energy)) < 1e-6);
    const int inside = energy >= (float)e[0] && energy < (float)e[points - 1];
    require(inside || (at.slope == 0 && at.scattering_slope == 0));
}

START_TEST(every_interval)
{
    for (float energy = 0; energy < 12; energy += 0.00037f)
        check_energy(&table.lookup, energies, stopping, power, POINTS, energy);
    for (int k = 0; k < POINTS; k++) {
        const float at = (float)energies[k];
        check_energy(&table.lookup, energies, stopping, power, POINTS, at);
        check_energy(&table.lookup, energies, stopping, power, POINTS, nextafterf(at, 0));
        check_energy(&table.lookup, energies, stopping, power, POINTS, nextafterf(at, 20));
    }
}
END_TEST

/* A table with the largest number of rows, from 0 to 10^8, some as close together as floats are: some buckets of the
 * index hold many rows, others none. NaN finds some valid row. */
START_TEST(crowded_table)
{
    static double e[LM_MAX_STOPPING_ROWS], s[LM_MAX_STOPPING_ROWS], p[LM_MAX_STOPPING_ROWS];
    const int points = LM_MAX_STOPPING_ROWS;
    struct lm_stopping_table t;
    for (int k = 0; k < points; k++) {
        e[k] = k == 0           ? 0
               : k < points / 2 ? 1 + 1e-6 * k
               : k < points - 3 ? 1e3 * (1 + 1e-3 * k)
                                : pow(10, 10 + k - points);
        s[k] = 1 + 0.5 * sin(0.01 * k);
        p[k] = 0.5 + 0.25 * cos(0.013 * k);
    }
    read_table(&t, e, s, p, points);
    for (int k = 0; k < points; k++) {
        const float at = (float)e[k];
        require(lm_stopping_row(&t.lookup, at) == k + 1);
        require(k == 0 || lm_stopping_row(&t.lookup, nextafterf(at, 0)) == k);
    }
    for (double at = 1e-30; at < 1e30; at *= 1.01) {
        const int k = lm_stopping_row(&t.lookup, (float)at);
        require(t.lookup.row[k].energy <= (float)at && (k == points || (float)at < t.lookup.row[k + 1].energy));
    }
    const int lost = lm_stopping_row(&t.lookup, NAN);
    require(lost >= 0 && lost <= points && t.lookup.buckets <= LM_MOST_BUCKETS);
    lm_stopping_free(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create(LM_PRECISION == 64 ? "stopping table, double" : "stopping table, single");
    TCase *t = tcase_create("stopping table");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, fill_table, free_table);
    tcase_add_test(t, every_interval);
    tcase_add_test(t, crowded_table);
    suite_add_tcase(s, t);
    return suite_run(s);
}
