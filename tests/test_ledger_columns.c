/* The ledger of entries and losses of an open system, in the columns of the time series. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "inside.h"
#include "cases.h"
#include "open_system.h"
#include "scratch.h"
#include "series_row.h"
#include "suite.h"

static double value_of(const struct row *r, const char *account, const char *quantity, const char *species)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s_%s", account, quantity, species);
    return value(r, name);
}

/* Checks the six columns of an account against the integers of the ledger. */
static void check_account(struct lm_sim *sim, const struct row *r, int species, const char *name,
                          const struct lm_account *a)
{
    static const char *const momentum[3] = {"_momentum_x", "_momentum_y", "_momentum_z"};
    const struct lm_ledger *l = &sim->ledger[species];
    const struct lm_species_config *s = &sim->config->species[species];
    const double weight = sim->grid.dx * sim->grid.dy / s->particles_per_cell;
    ck_assert(value_of(r, name, "", s->name) == (double)a->number);
    ck_assert_double_eq_tol(value_of(r, name, "_weight", s->name), (double)a->number * weight, 1e-12);
    for (int d = 0; d < 3; d++)
        ck_assert_double_eq_tol(value_of(r, name, momentum[d], s->name),
                                s->mass * weight * ldexp((double)a->v[d], -l->exponent_v), 1e-12);
    ck_assert_double_eq_tol(value_of(r, name, "_energy", s->name),
                            0.5 * s->mass * weight * ldexp((double)a->v2, -l->exponent_v2), 1e-12);
    ck_assert(find(r, "leak_y_min_wind") == NULL && find(r, "body_mirror_wind") == NULL);
}

START_TEST(columns_are_those_of_the_ledger)
{
    static const struct {
        const char *name;
        int channel, of_heavy;
    } want[] = {{"leak_x_min", LM_X_MIN, 1},
                {"leak_x_max", LM_X_MAX, 1},
                {"body_moon", LM_SIDES, 1},
                {"energy_stopped", LM_ENERGY_STOPPED, 0},
                {"theta_boundary", LM_THETA_BOUNDARY, 0},
                {"theta_cutoff", LM_THETA_CUTOFF, 0}};
    struct case_state s = case_open(&open_case, 2, one_thread, NULL);
    case_advance(&open_case, &s, 60);
    struct row r = row_of(s.sim);
    int ledger_columns = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t lost = 0;
        for (size_t n = 0; n < sizeof want / sizeof *want; n++) {
            if (k == 1 && !want[n].of_heavy)
                continue;
            const struct lm_account *a = &s.sim->ledger[k].lost[want[n].channel];
            ck_assert_uint_gt(a->number, 10); /* the case uses this channel */
            check_account(s.sim, &r, k, want[n].name, a);
            lost += a->number;
            ledger_columns += 6;
        }
        const struct lm_account *in = &s.sim->ledger[k].injected[LM_X_MIN];
        check_account(s.sim, &r, k, "injected_x_min", in);
        const char *name = s.config->species[k].name;
        ck_assert_uint_eq(s.sim->ledger[k].loaded + in->number - lost, s.sim->count[k]);
        ck_assert(value_of(&r, "present", "", name) == (double)s.sim->count[k]);
        ck_assert(value_of(&r, "ledger_residual", "", name) == 0);
        ledger_columns += 6 + 2;
    }
    ck_assert_int_eq(r.count, 16 + 2 * 4 + ledger_columns);
    ck_assert_str_eq(find(&r, "body_moon_weight_wind")->unit, "n0 d_i^2");
    ck_assert_str_eq(find(&r, "body_moon_momentum_z_wind")->unit, "n0 m_p v_A d_i^2");
    ck_assert_str_eq(find(&r, "injected_x_min_energy_wind")->unit, "n0 m_p v_A^2 d_i^2");
    ck_assert(find(&r, "theta_cutoff_wind")->whole && !find(&r, "theta_cutoff_energy_wind")->whole);
    free(r.columns);
    case_close(&s);
}
END_TEST

START_TEST(closed_runs_have_no_such_columns)
{
    static const struct run_case mix = {"mix", "mix.ini", {NULL}};
    struct case_state s = case_open(&mix, 2, one_thread, NULL);
    struct row r = row_of(s.sim);
    ck_assert_int_eq(r.count, 16 + 4 * s.config->species_count);
    free(r.columns);
    case_close(&s);
}
END_TEST

/* All 48 particles leave with the velocity that they had at the start. */
START_TEST(momentum_and_energy_to_the_rounding_unit)
{
    struct case_state s = text_open(BEAM("1", "[boundary]\nx_min = absorbing\nx_max = absorbing\n"));
    const struct lm_ledger *l = &s.sim->ledger[0];
    advance(&s, 1);
    const double unit_v = ldexp(1, -s.sim->pass[0].tally_v), unit_v2 = ldexp(1, -s.sim->pass[0].tally_v2);
    ck_assert_double_lt(unit_v, 1e-12);
    advance(&s, 100);
    struct row r = row_of(s.sim);
    const double weight = 0.125, n = 48;
    ck_assert_uint_eq(l->lost[LM_X_MAX].number, 48);
    ck_assert(value(&r, "leak_x_max_p") == n && value(&r, "leak_x_min_p") == 0 && value(&r, "present_p") == 0);
    ck_assert(value(&r, "leak_x_max_weight_p") == n * weight);
    ck_assert(value(&r, "leak_x_min_energy_p") == 0);
    const double v[3] = {0.75, -0.3, 0.1};
    for (int d = 0; d < 3; d++) {
        char name[64];
        snprintf(name, sizeof name, "leak_x_max_momentum_%c_p", "xyz"[d]);
        ck_assert_double_eq_tol(value(&r, name), 3 * weight * n * v[d], 3 * weight * n * unit_v);
    }
    const double v2 = 0.75 * 0.75 + 0.3 * 0.3 + 0.1 * 0.1;
    ck_assert_double_eq_tol(value(&r, "leak_x_max_energy_p"), 1.5 * weight * n * v2, 1.5 * weight * n * unit_v2);
    free(r.columns);
    case_close(&s);
}
END_TEST

#define LONG_NAME "a23456789_123456789_123456789_1"

START_TEST(the_longest_names_are_whole)
{
    struct case_state s =
        text_open("[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n[fields]\nsolver = none\n"
                  "[species." LONG_NAME "]\nparticles_per_cell = 4\n[body." LONG_NAME
                  "]\nshape = disk\nx = 4\ny = 4\nradius = 1\n");
    struct row r = row_of(s.sim);
    ck_assert_ptr_nonnull(find(&r, "body_" LONG_NAME "_momentum_z_" LONG_NAME));
    free(r.columns);
    case_close(&s);
}
END_TEST

/* The column of the weight that body `a` takes of species p, and the column of the number that it takes of species
 * weight_p, would have the same name. */
START_TEST(two_columns_of_one_name_are_refused)
{
    struct case_state s =
        text_open("[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n[fields]\nsolver = none\n"
                  "[species.p]\nparticles_per_cell = 4\n[species.weight_p]\nparticles_per_cell = 4\n"
                  "[body.a]\nshape = disk\nx = 4\ny = 4\nradius = 1\n");
    struct lm_series_column *columns;
    int count;
    ck_assert_int_eq(lm_row_columns(s.config, &count, &columns), LM_BAD_INPUT);
    assert_error_has("the name body_a_weight_p");
    free(columns);
    struct lm_run_options options = {.quiet = 1};
    lm_path(s.config->output.directory, "%s/refused", scratch);
    ck_assert_int_eq(lm_run(s.config, &options), LM_BAD_INPUT);
    ck_assert_int_ne(access(scratch_path("refused"), F_OK), 0);
    case_close(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger, columns");
    TCase *t = tcase_create("ledger, columns");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, columns_are_those_of_the_ledger);
    tcase_add_test(t, closed_runs_have_no_such_columns);
    tcase_add_test(t, momentum_and_energy_to_the_rounding_unit);
    tcase_add_test(t, the_longest_names_are_whole);
    tcase_add_test(t, two_columns_of_one_name_are_refused);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
