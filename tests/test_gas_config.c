/* A gas that ions collide with, in the configuration, and the table of stopping powers: what is read, and errors with
 * their place. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/config.h"
#include "output/openpmd.h"
#include "larmor/stopping.h"
#include "require.h"
#include "scratch.h"
#include "suite.h"

static struct lm_config config;

/* A configuration of fifteen lines. What a test adds begins on line 16, in [species.p]. */
static const char head[] = "[run]\ndt = 0.1\nt_end = 2\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n[background.gas]\n"
                           "kind = neutral_gas\ninitial = 1\n[background.dye]\ninitial = 1\n[background.heat]\n"
                           "initial = 0\n";

static void setup(void)
{
    scratch_make();
    make_file("good.txt", "# source = a book, page 7\n\n# energy = normalized\n# a remark\n# stopping = 2 normalized\n"
                          "1 0.5\n2\t0.25\n 4, 1e-1 \n");
    make_file("three.txt", "#source = s\n#energy=normalized\n#stopping=normalized\n# scattering = normalized\n"
                           "1 2 3\n2 3 1\n");
}

static void teardown(void)
{
    lm_config_free(&config);
    scratch_remove();
}

static int read_after(const char *text)
{
    char all[4096];
    snprintf(all, sizeof all, "%s%s", head, text);
    make_file("case.ini", all);
    lm_config_free(&config);
    return lm_config_read(scratch_path("case.ini"), 0, NULL, &config);
}

static void rejects(const char *text, int line, const char *expected)
{
    char want[1024];
    ck_assert_msg(read_after(text) == LM_BAD_INPUT, "accepted: %s", text);
    snprintf(want, sizeof want, "%s:%d: %s", scratch_path("case.ini"), line, expected);
    ck_assert_msg(!strncmp(lm_error(), want, strlen(want)), "no \"%s\" in:\n%s", want, lm_error());
}

START_TEST(reads_all)
{
    ck_assert_msg(
        !read_after("gains = energy\n[species.p]\ngas = gas\nstopping_table = good.txt\nscattering_power = 0.1\n"
                    "charge_exchange_cross_section = 0.2\ncharge_exchange_rate = 0.3\ngas_drag_rate = 0.4\n"
                    "[species.q]\n[background.s]\ninitial = 0\ngains = number\n"
                    "[background.v]\nkind = neutral_gas\ninitial = 2\ntemperature = 0.7\n"),
        "%s", lm_error());
    const struct lm_species_config *p = &config.species[0], *q = &config.species[1];
    ck_assert_int_eq(p->gas_field, 0);
    ck_assert_str_eq(p->stopping_table, scratch_path("good.txt")); /* an absolute path */
    ck_assert(p->scattering_power == 0.1 && p->charge_exchange_cross_section == 0.2 && p->charge_exchange_rate == 0.3);
    ck_assert(p->gas_drag_rate == 0.4 && p->stopping.points == 3 && !p->stopping.scatters);
    ck_assert(q->gas_field == -1 && !q->gas[0] && !q->stopping_table[0]);
    ck_assert_int_eq(config.background[0].gains, 0);
    ck_assert_int_eq(config.background[2].gains, 1 + LM_GAS_ENERGY);
    ck_assert_int_eq(config.background[3].gains, 1 + LM_GAS_NUMBER);
    ck_assert(config.background[4].temperature == 0.7);
}
END_TEST

START_TEST(scattering_from_the_table)
{
    ck_assert_msg(!read_after("[species.p]\ngas = gas\nstopping_table = three.txt\n"), "%s", lm_error());
    ck_assert_int_eq(config.species[0].stopping.scatters, 1);
}
END_TEST

static const struct {
    const char *text;
    int line;
    const char *wrong;
} bad[] = {
    {"[species.p]\ngas = gaz\n", 17, "species.p.gas: there is no [background.gaz], did you mean gas?"},
    {"[species.p]\ngas = nothing\n", 17, "species.p.gas: there is no [background.nothing]"},
    {"[species.p]\ngas = dye\n", 17, "species.p.gas: background.dye.kind is tracer"},
    {"[background.v]\nkind = neutral_gas\ninitial = 1\nvelocity = ion\n[species.p]\ngas = v\n", 21,
     "species.p.gas: background.v.velocity must be prescribed"},
    {"[species.p]\nscattering_power = 1\n", 17, "species.p.scattering_power: has a meaning only with gas"},
    {"[species.p]\ncharge_exchange_cross_section = 1\n", 17,
     "species.p.charge_exchange_cross_section: has a meaning only with gas"},
    {"[species.p]\ncharge_exchange_rate = 1\n", 17, "species.p.charge_exchange_rate: has a meaning only with gas"},
    {"[species.p]\ngas_drag_rate = 1\n", 17, "species.p.gas_drag_rate: has a meaning only with gas"},
    {"[species.p]\nstopping_table = good.txt\n", 17, "species.p.stopping_table: has a meaning only with gas"},
    {"[species.p]\ngas = gas\ndrag_rate = 1\n", 18,
     "species.p.drag_rate: describes a medium at rest everywhere; with gas"},
    {"[species.p]\ngas = gas\nscattering_rate = 1\n", 18,
     "species.p.scattering_rate: describes a medium everywhere; with gas"},
    {"[species.p]\ngas = gas\nstopping_table = three.txt\nscattering_power = 1\n", 19,
     "species.p.scattering_power: the table of stopping has a column of scattering"},
    {"[species.p]\ngas = gas\nstopping_table = no.txt\n", 18, "species.p.stopping_table: "},
    {"[species.p]\ngas = gas\ngas_drag_rate = -1\n", 18, "species.p.gas_drag_rate: -1 is out of range"},
    {"[background.v]\nkind = neutral_gas\ninitial = 1\ngains = energy\n[species.p]\n", 19,
     "background.v.gains: a neutral_gas is a density and gains a number only"},
    {"gains = heat\n[species.p]\n", 16, "background.heat.gains: "},
    {"temperature = 1\n[species.p]\n", 16, "background.heat.temperature: has a meaning only with kind = neutral_gas"},
};

START_TEST(wrong_keys)
{
    rejects(bad[_i].text, bad[_i].line, bad[_i].wrong);
}
END_TEST

static struct lm_stopping_values row_of(const struct lm_stopping_table *t, int row)
{
    return t->lookup.row[1 + row];
}

START_TEST(a_table)
{
    struct lm_stopping_table t;
    ck_assert_msg(!lm_stopping_read(scratch_path("good.txt"), 0, 0, &t), "%s", lm_error());
    ck_assert_int_eq(t.points, 3);
    ck_assert_str_eq(t.source, "a book, page 7");
    static const double stopping[] = {1, 0.5, 0.2}, slope[] = {-0.5, -0.15, 0};
    ck_assert((double)row_of(&t, 0).energy == 1 && !t.scatters);
    for (int k = 0; k < 3; k++) {
        require_near((double)row_of(&t, k).stopping, stopping[k], 1e-7);
        require_near((double)row_of(&t, k).slope, slope[k], 1e-7);
    }
    lm_stopping_free(&t);
}
END_TEST

/* B0 = 5 nT and n0 = 10 / cm^3: v_A and d_i from their definitions. */
START_TEST(physical_units)
{
    struct lm_stopping_table t;
    const double m_p = 1.67262192595e-27, e = 1.602176634e-19, mu0 = 1.25663706127e-6, b = 5e-9, n = 1e7;
    const double v2 = b * b / (mu0 * n * m_p), d_i = sqrt(m_p / (mu0 * n)) / e;
    make_file("si.txt", "# source = s\n# energy = keV\n# stopping = 1e-15 eV cm2\n# scattering = 1e-18 rad2 cm2\n"
                        "1 10 5\n10 20 1\n");
    ck_assert_msg(!lm_stopping_read(scratch_path("si.txt"), b, n, &t), "%s", lm_error());
    require_near((double)row_of(&t, 1).energy * m_p * v2 / (1e4 * e), 1, 1e-7);
    require_near((double)row_of(&t, 1).stopping * m_p * v2 / (n * d_i) / (20e-15 * e * 1e-4), 1, 1e-7);
    require_near((double)row_of(&t, 1).scattering_power / (n * d_i) / (1e-18 * 1e-4), 1, 1e-7);
    ck_assert_int_eq(t.scatters, 1);
    lm_stopping_free(&t);
}
END_TEST

#define UNITS "# source = s\n# energy = normalized\n# stopping = normalized\n"

static const struct {
    const char *text;
    int line; /* 0: the message is about the whole file */
    const char *wrong;
} tables[] = {
    {"# energy = normalized\n# stopping = normalized\n1 2\n", 3, "`# source"},
    {"# source = s\n# stopping = normalized\n1 2\n", 3, "`# source"},
    {"# source = s\n# energy = normalized\n1 2\n", 3, "`# source"},
    {UNITS "1 2\n", 0, "at least two rows"},
    {"", 0, "at least two rows"},
    {UNITS "1 2\n1 3\n", 5, "the energies must rise"},
    {UNITS "2 2\n1 3\n", 5, "the energies must rise"},
    {UNITS "1 2\n2\n", 5, "two numbers"},
    {UNITS "1 2\n2 x\n", 5, "two numbers"},
    {UNITS "1 2\n2 -1\n", 5, "two numbers"},
    {UNITS "1 2\n2 nan\n", 5, "two numbers"},
    {UNITS "1 2\n2 1e999\n", 5, "two numbers"},
    {UNITS "1 2\n2 1 3\n", 5, "more than two columns"},
    {UNITS "# scattering = normalized\n1 2 3\n2 1\n", 6, "three numbers"},
    {UNITS "# scattering = normalized\n1 2 3\n2 1 2 4\n", 6, "more than three columns"},
    {UNITS "1 2\n# energy = normalized\n2 3\n", 5, "units stand before the first row"},
    {"# source = s\n# energy = furlongs\n", 2, "unknown unit of energy"},
    {"# source = s\n# energy = 0 normalized\n", 2, "the number before a unit"},
    {"# source = s\n# stopping = eV\n", 2, "unknown unit of stopping"},
    {"# source = s\n# scattering = rad\n", 2, "unknown unit of scattering"},
    {"# source = s\n# energy = keV\n", 2, "physical units need [units] b0 and n0"},
};

START_TEST(wrong_tables)
{
    struct lm_stopping_table t;
    char where[LM_MAX_PATH + 16];
    make_file("bad.txt", tables[_i].text);
    ck_assert_int_eq(lm_stopping_read(scratch_path("bad.txt"), 0, 0, &t), LM_BAD_INPUT);
    snprintf(where, sizeof where, tables[_i].line ? "bad.txt:%d: " : "bad.txt: ", tables[_i].line);
    assert_error_has(where);
    assert_error_has(tables[_i].wrong);
    ck_assert(t.points == 0 && !t.lookup.row);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("a gas in a configuration");
    TCase *t = tcase_create("a gas in a configuration");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, reads_all);
    tcase_add_test(t, scattering_from_the_table);
    tcase_add_loop_test(t, wrong_keys, 0, (int)(sizeof bad / sizeof *bad));
    tcase_add_test(t, a_table);
    tcase_add_test(t, physical_units);
    tcase_add_loop_test(t, wrong_tables, 0, (int)(sizeof tables / sizeof *tables));
    suite_add_tcase(s, t);
    return suite_run(s);
}
