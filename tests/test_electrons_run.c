/* Runs with evolved electrons: ledger, restarts, bad input, `larmor check`, memory. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "electrons_case.h"
#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* A run with all features at once: an inflow side, walls, a body, layers, voids, every source of heat, and another
 * background field. */
static const char open_text[] =
    "[run]\nsteps = 30\ndt = 0.04\nseed = 3\n[grid]\nnx = 24\nny = 16\nlx = 6\nly = 4\n"
    "[electrons]\nclosure = evolved\ninitial_temperature = 0.2 + 0.05*sin(y)\ngamma = 1.6\nconductivity = 0.1\n"
    "conductivity_across = 0.02\nweno = 5\n"
    "[fields]\nbx = 0.2\nbz = 1\neta = 0.01\neta_hyper = 1e-3\ndensity_floor = 0.3\n"
    "[boundary]\nx_min = inflow\nfields_x_min = inflow\nx_max = absorbing\ny_min = reflecting\ny_max = "
    "thermal\ny_max_temperature = 0.1\n"
    "layer_x_max = 1\nlayer_eta = 0.1\n"
    "[species.p]\nparticles_per_cell = 8\ntemperature = 0.1\ndrift_x = 0.8\ninflow_density = 1 + 0.2*sin(t)\n"
    "[body.moon]\nshape = disk\nx = 3\ny = 2\nradius = 0.6\nfields = resistive\nresistivity = 0.3\n"
    "[background.dye]\ninitial = x < 3\nvelocity = electron\ninflow = 1\n";

START_TEST(books)
{
    struct lm_sim *sim = sim_new(open_text, NULL);
    const struct lm_background_ledger *l = &sim->background[1].ledger;
    for (int n = 1; n <= 30; n++) {
        advance(sim, n);
        double *s = array_of(sim, LM_BACKGROUND + 1);
        require(lm_background_sum(&sim->grid, sim->cuts.open, s, l->quantum, l->exponent) == l->total);
        require(lm_background_residual(l) == 0);
        for (int k = 0; k < 16 * 24; k++) {
            const double v = s[lm_at(&sim->grid, k % 24, k / 24)];
            require(v >= 0 && (!sim->mask[k] || v == 0));
        }
        free(s);
    }
    /* the moon takes more than heat gives */
    ck_assert(l->source < 0 && l->entered[LM_X_MIN] > 0 && l->entered[LM_X_MAX] < 0);
    ck_assert(l->entered[LM_Y_MIN] == 0 && l->entered[LM_Y_MAX] == 0);
    ck_assert_double_gt(sim->electrons.heat, 0);
    ck_assert_int_gt((int)sim->electrons.substeps, 0);
    sim_free(sim);
}
END_TEST

/* A hot blob in a void, whose electrons cross up to three cells in a step. */
static const char blob_text[] =
    "[run]\nsteps = 30\ndt = 0.05\nseed = 3\n[grid]\nnx = 40\nny = 32\nlx = 10\nly = 8\n"
    "[electrons]\nclosure = evolved\ntemperature = 2\n[fields]\nbz = 0.3\n"
    "[species.p]\nparticles_per_cell = 16\ntemperature = 0.1\ndensity = (x - 5)^2 + (y - 4)^2 < 6 ? 1 : 0\n";

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* All rounds of a step have the same number of substeps, and there are no more substeps than there may be. */
START_TEST(rounds)
{
    int most_rounds = 1, most = 0, needed = 0, fewer = 0;
    struct lm_sim *sim = sim_new(blob_text, NULL);
    for (int n = 1; n <= 30; n++) {
        needed = larger(needed, lm_sim_substeps_needed(sim));
        advance(sim, n);
        require(sim->substeps % sim->electrons.rounds == 0);
        most_rounds = larger(most_rounds, sim->electrons.rounds);
        most = larger(most, sim->substeps);
    }
    sim_free(sim);
    require(most_rounds > 1 && most > needed);
    for (int limit = needed; limit < most; limit++) {
        char text[64];
        snprintf(text, sizeof text, "fields.max_substeps=%d", limit);
        sim = sim_new(blob_text, text);
        for (int n = 1; n <= 30; n++) {
            advance(sim, n);
            require(sim->substeps <= limit && sim->substeps % sim->electrons.rounds == 0);
            fewer |= sim->electrons.rounds < most_rounds;
        }
        sim_free(sim);
    }
    ck_assert(fewer);
}
END_TEST

static struct lm_sim *restored(const char *path, const char *text, const char *more, int expected)
{
    struct lm_sim *sim;
    struct lm_checkpoint head;
    struct lm_config *c = config_new(text, more);
    ck_assert_msg(!lm_sim_create(c, &sim), "%s", lm_error());
    ck_assert_msg(restore_checkpoint(sim, path, &head) == expected, "%s", lm_error());
    return sim;
}

static void checkpoint_of(struct lm_sim *sim, char *path)
{
    static const struct lm_references none;
    struct lm_config *c = (struct lm_config *)sim->config;
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
    ck_assert_msg(!lm_sim_save(sim, &none, 0, path), "%s", lm_error());
}

START_TEST(restarts)
{
    struct lm_sim *whole = sim_new(open_text, NULL);
    char path[LM_MAX_PATH];
    uint64_t stored;
    advance(whole, 3 * _i);
    checkpoint_of(whole, path);
    ck_assert_msg(!lm_checkpoint_fingerprint(path, &stored), "%s", lm_error());
    ck_assert(stored == fingerprint(whole));
    struct lm_sim *part = restored(path, open_text, "run.threads=2", LM_OK);
    advance(whole, 20);
    advance(part, 20);
    ck_assert(fingerprint(part) == fingerprint(whole));
    ck_assert_mem_eq(&whole->background[1].ledger, &part->background[1].ledger, sizeof part->background[1].ledger);
    ck_assert(whole->electrons.heat == part->electrons.heat);
    sim_free(part);
    sim_free(whole);
}
END_TEST

START_TEST(other_closures_are_refused)
{
    char path[LM_MAX_PATH];
    struct lm_sim *sim = sim_new(mixed_text, NULL);
    advance(sim, 1);
    checkpoint_of(sim, path);
    sim_free(sim);
    sim_free(restored(path, mixed_text, "electrons.gamma=1.5", LM_BAD_INPUT));
    assert_error_has("a checkpoint with gamma = 1.6666666666666667; the run has 1.5: set electrons.gamma as there");
    static const char other[] = "[run]\nsteps = 10\ndt = 0.05\n[grid]\nnx = 16\nny = 16\nlx = 8\nly = 8\n"
                                "[particles]\nshape = quadratic\n[species.p]\nparticles_per_cell = 16\n";
    sim_free(restored(path, other, NULL, LM_BAD_INPUT));
    assert_error_has("a checkpoint with closure = evolved; the run has another: set electrons.closure as there");
    sim = sim_new(other, NULL);
    checkpoint_of(sim, path);
    sim_free(sim);
    sim_free(restored(path, other, "electrons.closure=evolved", LM_BAD_INPUT));
    assert_error_has("a checkpoint without closure = evolved; the run has it");
}
END_TEST

static void refuses(const char *keys, const char *expected)
{
    struct lm_config c;
    char text[1024];
    snprintf(text, sizeof text, "[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n[species.p]\n%s\n",
             keys);
    ck_assert_int_eq(lm_config_read_text("case.ini", text, 0, NULL, &c), LM_BAD_INPUT);
    assert_error_has(expected);
    ck_assert_ptr_null(strchr(lm_error(), '\n'));
    lm_config_free(&c);
}

START_TEST(bad_input)
{
    refuses("[electrons]\nconductivity = 1",
            "case.ini:11: electrons.conductivity: has a meaning only with closure = evolved");
    refuses("[electrons]\ninitial_temperature = 1", "electrons.initial_temperature: has a meaning only with");
    refuses("[electrons]\nweno = 5", "electrons.weno: has a meaning only with closure = evolved");
    refuses("[electrons]\nclosure = evolved\ngamma = 1", "electrons.gamma: closure = evolved needs gamma > 1");
    refuses("[electrons]\nclosure = evolved\n[fields]\nsolver = none",
            "evolved has a meaning only with fields.solver = hybrid");
    refuses("[electrons]\nclosure = evolved\ntemperature = 1\ninitial_temperature = 1",
            "not together with temperature");
    refuses("[electrons]\nclosure = evolved\ninitial_temperature = x - 4", "electrons.initial_temperature: ");
    refuses("[electrons]\nclosure = evolved\nweno = centred", "electrons.weno: ");
    refuses("[electrons]\nclosure = evolved\nconductivity = -1", "electrons.conductivity: ");
    refuses("[electrons]\nclosure = evolved\n[background.electrons]\ninitial = 1", "give yours another name");
}
END_TEST

/* run.ini does not contain the background field that the program adds, and gives the same configuration. */
START_TEST(settings_are_written)
{
    struct lm_config *c = config_new(mixed_text, NULL), again;
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    ck_assert_int_eq(lm_config_write(c, to), LM_OK);
    fclose(to);
    ck_assert_ptr_null(strstr(out, "[background.electrons]"));
    ck_assert_ptr_nonnull(strstr(out, "initial_temperature = 1 + 0.4*cos(kx*x)\n"));
    ck_assert_msg(!lm_config_read_text("again.ini", out, 0, NULL, &again), "%s", lm_error());
    ck_assert_int_eq(again.background_count, 1);
    ck_assert_mem_eq(&again.electrons, &c->electrons, sizeof c->electrons);
    ck_assert_mem_eq(&again.background[0], &c->background[0], sizeof c->background[0]);
    lm_config_free(&again);
    lm_config_free(c);
    free(c);
    free(out);
}
END_TEST

START_TEST(checked)
{
    struct lm_config *c = config_new(open_text, NULL);
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    /* By hand. Entropy: u = 0.8 on cells of 1/4, six times that for the bound, a Courant number of 0.6, in half steps:
     * a half of it takes 0.64, and in cells that the body cuts two to three times that. Conduction at n = 1: a rate of
     * 0.6 * 2 (0.1 + 0.08) (16 + 16) = 6.9. */
    ck_assert_msg(strstr(out, "electrons\n  pressure evolved, gamma 1.6; p_e = n T at the start\n"
                              "    entropy: 4 substeps in the first step\n"
                              "    conduction: 2 substeps in the first step\n") != NULL,
                  "%s", out);
    ck_assert_ptr_null(strstr(out, "  electrons: "));
    free(out);
    lm_config_free(c);
    free(c);
}
END_TEST

START_TEST(memory)
{
    struct lm_config *c = config_new(mixed_text, NULL);
    struct lm_setup setup = lm_setup_of(c);
    const uint64_t counts[LM_MAX_SPECIES] = {1000};
    const double size = 8 * (double)setup.grid.size;
    for (int kind = LM_BACKEND_CPU; kind <= LM_BACKEND_CUDA; kind++) {
        setup.background_count = 1;
        const double all = lm_backend_bytes(kind, &setup, counts);
        /* arrays: the field, its two velocities; a byte for each cell; on a GPU two stages more */
        setup.background_count = 0;
        require_near(all - lm_backend_bytes(kind, &setup, counts), size * (kind == LM_BACKEND_CUDA ? 5.125 : 3.125), 1);
    }
    lm_config_free(c);
    free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("electrons in runs");
    TCase *t = tcase_create("electrons in runs");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, books);
    tcase_add_test(t, rounds);
    tcase_add_loop_test(t, restarts, 0, 6);
    tcase_add_test(t, other_closures_are_refused);
    tcase_add_test(t, bad_input);
    tcase_add_test(t, settings_are_written);
    tcase_add_test(t, checked);
    tcase_add_test(t, memory);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
