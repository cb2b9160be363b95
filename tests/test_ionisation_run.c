/* Runs with ionisation: the same bits in every way, restarts, columns of the series, and what stops a run. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "ionisation_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

static struct lm_sim *restored(const char *path, const char *more)
{
    struct lm_checkpoint head;
    struct lm_sim *sim;
    struct lm_config *c = config_new(busy_text, more);
    ck_assert_msg(!lm_sim_create(c, &sim) && !restore_checkpoint(sim, path, &head), "%s", lm_error());
    return sim;
}

static void checkpoint(struct lm_sim *sim, char *path)
{
    const struct lm_references none = {0};
    struct lm_config *c = (struct lm_config *)sim->config;
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
    ck_assert_msg(!lm_sim_save(sim, &none, 0, path), "%s", lm_error());
}

/* The state and the ledgers are the same to the last bit with other threads, tiles and sort intervals, and after a
 * restart. */
START_TEST(same_bits)
{
    static const char *const ways[] = {"run.threads=2", "run.threads=3", "run.tile=16", "run.sort_every=1"};
    struct lm_sim *sim = sim_new(busy_text, NULL), *other;
    uint64_t a, b;
    char path[LM_MAX_PATH];
    if (_i < 4) {
        other = sim_new(busy_text, ways[_i]);
    } else {
        struct lm_sim *first = sim_new(busy_text, NULL);
        advance(first, 13);
        checkpoint(first, path);
        sim_free(first);
        other = restored(path, "run.threads=2");
    }
    advance(sim, 30);
    advance(other, 30);
    ck_assert(!lm_sim_fingerprint(sim, &a) && !lm_sim_fingerprint(other, &b));
    ck_assert_uint_eq(a, b);
    ck_assert(born(sim, 0) > 500 && born(sim, 1) > 500);
    for (int s = 0; s < 2; s++)
        ck_assert_mem_eq(&sim->ledger[s], &other->ledger[s], sizeof sim->ledger[s]);
    ck_assert_mem_eq(&sim->background[0].ledger, &other->background[0].ledger, sizeof sim->background[0].ledger);
    sim_free(sim);
    sim_free(other);
}
END_TEST

/* A checkpoint of a run in which a species is born by ionisation is refused by a run in which it is not, as the ledger
 * would lose its meaning. */
START_TEST(other_sources_are_refused)
{
    struct lm_checkpoint head;
    char path[LM_MAX_PATH], text[2048];
    struct lm_sim *sim = sim_new(busy_text, NULL);
    advance(sim, 1);
    checkpoint(sim, path);
    sim_free(sim);
    snprintf(text, sizeof text, "%.*s", (int)(strstr(busy_text, "[ionisation.comet]") - busy_text), busy_text);
    struct lm_config *c = config_new(text, NULL);
    ck_assert_int_eq(lm_sim_create(c, &sim), LM_OK);
    ck_assert_int_eq(restore_checkpoint(sim, path, &head), LM_BAD_INPUT);
    ck_assert_msg(strstr(lm_error(), "particles of species p are born by ionisation there, and not in the run") != NULL,
                  "%s", lm_error());
    sim_free(sim);
}
END_TEST

START_TEST(columns)
{
    struct lm_sim *sim = sim_new(busy_text, NULL);
    double v[LM_LEDGER_VALUES];
    advance(sim, 8);
    struct row r = row_of(sim);
    for (int s = 0; s < 2; s++) {
        static const char *const names[2][LM_LEDGER_VALUES] = {
            {"ionised_p", "ionised_weight_p", "ionised_momentum_x_p", "ionised_momentum_y_p", "ionised_momentum_z_p",
             "ionised_energy_p"},
            {"ionised_heavy", "ionised_weight_heavy", "ionised_momentum_x_heavy", "ionised_momentum_y_heavy",
             "ionised_momentum_z_heavy", "ionised_energy_heavy"}};
        lm_ledger_values(&sim->ledger[s], &sim->ledger[s].injected[LM_IONISED], lm_sim_weight(sim, s), s ? 16 : 1, v);
        ck_assert(v[0] > 100 && v[5] > 0);
        for (int k = 0; k < LM_LEDGER_VALUES; k++)
            ck_assert(value(&r, names[s][k]) == v[k]);
    }
    ck_assert(value(&r, "ledger_residual_p") == 0 && value(&r, "injected_x_min_p") > 0);
    ck_assert_str_eq(find(&r, "ionised_p")->about, "number of the particles born by ionisation");
    require_near(value(&r, "background_gas_source"), -value(&r, "ionised_weight_heavy"), 1e-9);
    free(r.columns);
    sim_free(sim);
}
END_TEST

static void stops(const char *text, int64_t at, const char *expected)
{
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, at);
    ck_assert_int_eq(lm_sim_check(sim), LM_FAILED);
    ck_assert_msg(strstr(lm_error(), expected) != NULL, "no \"%s\" in %s", expected, lm_error());
    sim_free(sim);
}

START_TEST(stopped)
{
    stops(EMPTY("steps = 20\ndt = 0.05\n", "",
                "2") "[ionisation.comet]\nspecies = p\nrate = 0.01\nvx = t < 0.2 ? 1 : 50\n",
          4, "could cross 10 cells in it (limit 8; its largest |v| = 50)");
    stops(EMPTY("steps = 20\ndt = 0.05\n", "", "2") "[ionisation.comet]\nspecies = p\nrate = 0.2 - t\n", 4,
          "ionisation.comet.rate: \"0.2 - t\" is -0.025 at x = 0.125, y = 0.125, t = 0.225; the least allowed is 0");
    stops(EMPTY("steps = 20\ndt = 0.05\n", "", "2") "[ionisation.comet]\nspecies = p\nrate = t < 0.1 ? 0 : 1e12\n", 2,
          "ionisation comet would bring up to 1e+11 particles into a cell");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ionisation in runs");
    TCase *t = tcase_create("ionisation in runs");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, same_bits, 0, 5);
    tcase_add_test(t, other_sources_are_refused);
    tcase_add_test(t, columns);
    tcase_add_test(t, stopped);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
