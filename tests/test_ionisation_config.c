/* Sections [ionisation.NAME]: bad input, every key, and what `larmor check` says. */
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

static const char head[] = "[run]\ndt = 0.1\nsteps = 2\n" GRID "[species.protons]\n[species.dust]\n"
                           "[background.gas]\nkind = neutral_gas\ninitial = 1\n[background.dye]\ninitial = 1\n"
                           "[background.wind]\nkind = neutral_gas\nvelocity = ion\ninitial = 1\n[ionisation.comet]\n";

enum { LINE = 20 }; /* the line of the header [ionisation.comet] */

static void rejects(const char *text, int line, const char *expected)
{
    static struct lm_config config;
    char all[2048], want[512];
    snprintf(all, sizeof all, "%s%s", head, text);
    ck_assert_msg(lm_config_read_text("case.ini", all, 0, NULL, &config) == LM_BAD_INPUT, "accepted: %s", text);
    snprintf(want, sizeof want, "case.ini:%d: %s", line, expected);
    ck_assert_msg(!strncmp(lm_error(), want, strlen(want)), "no \"%s\" in:\n%s", want, lm_error());
    ck_assert_msg(!strchr(lm_error(), '\n'), "more than one problem:\n%s", lm_error());
    lm_config_free(&config);
}

START_TEST(bad_input)
{
    rejects("rate = 1\n", LINE, "ionisation.comet.species: required and not given");
    rejects("rate = 1\nspecies = proton\n", LINE + 2,
            "ionisation.comet.species: there is no [species.proton], did you mean protons?");
    rejects("rate = 1\nspecies = ions\n", LINE + 2, "ionisation.comet.species: there is no [species.ions]");
    rejects("species = dust\n", LINE, "ionisation.comet.rate: required and not given (or gas and frequency)");
    rejects("species = dust\nrate = 1\ngas = gas\n", LINE + 3, "ionisation.comet.gas: not together with rate");
    rejects("species = dust\nrate = 1\nfrequency = 1\n", LINE + 3,
            "ionisation.comet.frequency: not together with rate");
    rejects("species = dust\nfrequency = 1\n", LINE + 2, "ionisation.comet.frequency: needs gas as well");
    rejects("species = dust\ngas = gas\n", LINE + 2, "ionisation.comet.gas: needs frequency as well");
    rejects("species = dust\nfrequency = 1\ngas = gs\n", LINE + 3,
            "ionisation.comet.gas: there is no [background.gs], did you mean gas?");
    rejects("species = dust\nfrequency = 1\ngas = dye\n", LINE + 3,
            "ionisation.comet.gas: the field is not a gas: it needs kind = neutral_gas");
    rejects("species = dust\nfrequency = 1\ngas = wind\nvy = 1\n", LINE,
            "ionisation.comet.vx: required and not given: the ions carry the gas");
    rejects("species = dust\nrate = x - 0.2\n", LINE + 2,
            "ionisation.comet.rate: \"x - 0.2\" is -0.075 at x = 0.125, y = 0.125, t = 0.05; the least allowed is 0");
    rejects("species = dust\nrate = 1/(x > 1)\n", LINE + 2, "ionisation.comet.rate: \"1/(x > 1)\" is infinite at x = ");
    rejects("species = dust\nrate = 1\ntemperature = -1\n", LINE + 3, "ionisation.comet.temperature: \"-1\" is -1 at");
    rejects("species = dust\nrate = 1\nvz = log(x - 1)\n", LINE + 3, "ionisation.comet.vz: \"log(x - 1)\" is ");
    rejects("species = dust\ngas = gas\nfrequency = -t\n", LINE + 3, "ionisation.comet.frequency: \"-t\" is -0.05 at");
    rejects("species = dust\nrate = 1\nrat = 1\n", LINE + 3, "ionisation.comet.rat: unknown key, did you mean rate?");
    rejects("species = dust\nrate = 1\n[ionization.b]\n", LINE + 3,
            "unknown section [ionization.b], did you mean [ionisation.b]?");
}
END_TEST

/* Reads all keys, and reads them again from the echo. */
START_TEST(every_key)
{
    static const char *const texts[] = {"species = dust\nrate = x*t\ntemperature = 1 + x\nvx = t\nvy = 2\nvz = y\n",
                                        "species = protons\ngas = wind\nfrequency = t\nvx = 1\nvy = 0\n",
                                        "species = protons\ngas = gas\nfrequency = 0.1\n"};
    static struct lm_config first, second;
    char all[2048], *echo = NULL;
    size_t length = 0;
    snprintf(all, sizeof all, "%s%s", head, texts[_i]);
    ck_assert_msg(!lm_config_read_text("case.ini", all, 0, NULL, &first), "%s", lm_error());
    ck_assert_int_eq(first.ionisation[0].into, _i == 0);
    ck_assert_int_eq(first.ionisation[0].from, _i == 0 ? -1 : _i == 1 ? 2 : 0);
    ck_assert_str_eq(first.ionisation[0].drift[0], _i == 0 ? "t" : _i == 1 ? "1" : "");
    ck_assert_str_eq(first.ionisation[0].temperature, _i == 0 ? "1 + x" : "0");
    FILE *out = open_memstream(&echo, &length);
    ck_assert_int_eq(lm_config_write(&first, out), LM_OK);
    fclose(out);
    ck_assert_msg(!lm_config_read_text("case.ini", echo, 0, NULL, &second), "%s\n%s", lm_error(), echo);
    struct lm_names *names = first.names;
    first.names = second.names;
    ck_assert_mem_eq(&first, &second, sizeof first);
    first.names = names;
    free(echo);
    lm_config_free(&first);
    lm_config_free(&second);
}
END_TEST

static void check_says(const char *text, const char *expected, int says)
{
    struct lm_config *c = config_new(text, NULL);
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    ck_assert_msg((strstr(out, expected) != NULL) == says, "\"%s\"%s in %s", expected, says ? " is not" : "", out);
    free(out);
    lm_config_free(c);
    free(c);
}

/* A source needs the memory of five arrays. */
START_TEST(memory)
{
    struct lm_config *c = config_new(busy_text, NULL);
    struct lm_setup setup = lm_setup_of(c);
    const uint64_t counts[LM_MAX_SPECIES] = {1000};
    for (int kind = LM_BACKEND_CPU; kind <= LM_BACKEND_CUDA; kind++) {
        setup.ionisation_count = 2;
        const double all = lm_backend_bytes(kind, &setup, counts);
        setup.ionisation_count = 0;
        require_near(all - lm_backend_bytes(kind, &setup, counts), 2 * 5 * 8 * (double)setup.grid.size, 1);
    }
    lm_config_free(c);
    free(c);
}
END_TEST

START_TEST(checked)
{
#define RATE(rate, ppc)                                                                                                \
    EMPTY("steps = 100\ndt = 0.05\n", "bz = 1\n", ppc) "[ionisation.comet]\nspecies = p\nrate = " rate "\n"
    /* 384 cells of area 1/16; two births in each cell and step; 2 pi / 0.05 steps in a gyration */
    check_says(RATE("2", "20"), "comet: 48 n0 d_i^2 Omega_ci of p: 768 particles a step, 7.68e+04 in the run\n", 1);
    check_says(RATE("2", "20"), "half of them in cells with up to 251 in a gyration\n", 1);
    check_says(RATE("2", "20"), "make noise", 0);
    check_says(RATE("0.01", "1"), "fewer than one a cell in a gyration make noise: raise species.p.particles_per_cell",
               1);
    check_says(RATE("2*(x < 3)", "20") "[body.b]\nshape = box\nx = 1\ny = 2\nwidth = 2\nheight = 4\n",
               "comet: 8 n0 d_i^2 Omega_ci of p: 128 particles a step", 1);
    check_says(RATE("2", "20"), "memory grows by up to 0.004005 GiB", 1); /* 76800 particles of 56 bytes */
    check_says(RATE("2", "20") "vx = 8\n", "the fastest of them cross 1.6 cells in a step\n", 1);
#define LIGHT(ppc, initial, frequency)                                                                                 \
    EMPTY("steps = 100\ndt = 0.05\n", "bz = 1\n", ppc) GAS(initial, "") "frequency = " frequency "\n"
    check_says(LIGHT("20", "3", "0.1"), "light: 7.182 n0 d_i^2 Omega_ci of p from gas: 114.9 particles a step", 1);
    check_says(LIGHT("20", "3", "0.1"),
               "worth 2.304e+04 particles, lasts for 10.03 / Omega_ci at this rate (the run: 5)", 1);
    check_says(LIGHT("20", "0.01", "0.1"), "no cell holds gas for a particle: nothing is born", 1);
    check_says(LIGHT("20", "0.1", "0.1"), "a cell holds gas for 2 particles on average", 1);
    check_says(LIGHT("20", "3", "0.1"), "holds gas for", 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ionisation, configuration");
    TCase *t = tcase_create("ionisation, configuration");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, bad_input);
    tcase_add_loop_test(t, every_key, 0, 3);
    tcase_add_test(t, memory);
    tcase_add_test(t, checked);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
