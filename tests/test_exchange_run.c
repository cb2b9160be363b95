/* Runs with heat between ions and electrons: the same bits, restarts, bad input, `larmor check`, columns. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange_case.h"
#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

START_TEST(same_bits)
{
    static const char *const others[] = {"run.threads=3", "run.tile=16", "run.sort_every=1", "run.seed=2"};
    struct lm_sim *one = sim_new(busy_text, "run.tile=8"), *other = sim_new(busy_text, others[_i]);
    advance(one, 20);
    advance(other, 20);
    ck_assert_int_eq(fingerprint(one) == fingerprint(other), _i != 3);
    if (_i != 3)
        ck_assert_mem_eq(&one->ledger[1], &other->ledger[1], sizeof one->ledger[1]);
    sim_free(one);
    sim_free(other);
}
END_TEST

START_TEST(restarts)
{
    static const struct lm_references none;
    struct lm_sim *whole = sim_new(busy_text, NULL), *part;
    struct lm_config *c = (struct lm_config *)whole->config;
    struct lm_checkpoint head;
    char path[LM_MAX_PATH];
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
    advance(whole, 5 + 2 * _i);
    ck_assert_msg(!lm_sim_save(whole, &none, 0, path), "%s", lm_error());
    c = config_new(busy_text, "run.tile=16");
    ck_assert_msg(!lm_sim_create(c, &part) && !restore_checkpoint(part, path, &head), "%s", lm_error());
    advance(whole, 20);
    advance(part, 20);
    ck_assert(fingerprint(part) == fingerprint(whole));
    for (int s = 0; s < 2; s++)
        ck_assert_mem_eq(&part->ledger[s], &whole->ledger[s], sizeof part->ledger[s]);
    sim_free(part);
    sim_free(whole);
}
END_TEST

static void refuses(const char *keys, const char *expected)
{
    struct lm_config c;
    char text[1024];
    snprintf(text, sizeof text, "[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n%s\n", keys);
    ck_assert_int_eq(lm_config_read_text("case.ini", text, 0, NULL, &c), LM_BAD_INPUT);
    assert_error_has(expected);
    ck_assert_ptr_null(strchr(lm_error(), '\n'));
    lm_config_free(&c);
}

START_TEST(bad_input)
{
    refuses("[species.p]\nelectron_heat_exchange_rate = 1",
            "case.ini:10: species.p.electron_heat_exchange_rate: needs electrons.closure = evolved");
    refuses("[electrons]\nclosure = polytropic\n[species.p]\nelectron_heat_exchange_rate = 1",
            "needs electrons.closure = evolved");
    refuses("[electrons]\nclosure = evolved\n[species.p]\nelectron_heat_exchange_rate = -1",
            "species.p.electron_heat_exchange_rate: ");
    refuses("[electrons]\nclosure = evolved\n[species.p]\nelectron_heat_exchange_rate = x",
            "species.p.electron_heat_exchange_rate: ");
}
END_TEST

static void checked_has(const char *more, const char *expected, int has)
{
    struct lm_config *c = config_new(busy_text, more);
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    ck_assert_msg((strstr(out, expected) != NULL) == has, "%s", out);
    free(out);
    lm_config_free(c);
    free(c);
}

/* n = 1.4. The coldest cell has its centre at x = 8.5: T = 0.5 + 0.3 sin(2 pi 8.5/11) = 0.203. */
START_TEST(checked)
{
    char line[256];
    const double most = 1.4 * pow(0.5 + 0.3 * sin(2 * M_PI * 8.5 / 11), -1.5);
    snprintf(line, sizeof line, "    exchange with p: nu dt up to %.3g at the start\n    exchange with q: nu dt up to",
             0.3 * 0.02 * most);
    checked_has(NULL, line, 1);
    checked_has(NULL, "; a smaller run.dt", 1); /* species q exchanges every third step: nu dt = 0.92 */
    checked_has("species.q.collide_every=1", "; a smaller run.dt", 1);
    checked_has("species.q.electron_heat_exchange_rate=0.1", "; a smaller run.dt", 0);
    checked_has("species.q.electron_heat_exchange_rate=0", "exchange with q", 0);
}
END_TEST

/* A species without an exchange has no columns of it in the series. */
START_TEST(columns)
{
    struct lm_sim *sim = sim_new(busy_text, "species.q.electron_heat_exchange_rate=0");
    struct row r = row_of(sim);
    ck_assert_ptr_nonnull(find(&r, "to_electrons_energy_p"));
    ck_assert_ptr_nonnull(find(&r, "electron_exchange_limited_p"));
    ck_assert_ptr_null(find(&r, "to_electrons_energy_q"));
    ck_assert_ptr_null(find(&r, "electron_exchange_limited_q"));
    free(r.columns);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exchange of heat, runs");
    TCase *t = tcase_create("exchange of heat, runs");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, same_bits, 0, 4);
    tcase_add_loop_test(t, restarts, 0, 4);
    tcase_add_test(t, bad_input);
    tcase_add_test(t, checked);
    tcase_add_test(t, columns);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
