/* `larmor check` and `larmor run` agree: every key of the table takes extreme values, one key at a time. */
#include <fcntl.h>
#include <float.h>
#include <math.h>

#include "config/keys.h"
#include "inside.h"
#include "scratch.h"
#include "suite.h"

/* Configurations such that each key has a meaning in one of them. */
static const char *const bases[] = {
    /* walls, bodies, evolved electrons, a gas that is ionised */
    "[run]\nsteps = 0\ndt = 0.02\nthreads = 1\nbackend = cpu\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n"
    "[electrons]\nclosure = evolved\ntemperature = 0.5\nconductivity = 0.1\n"
    "[fields]\nbx = 1\neta = 0.01\n"
    "[species.p]\nparticles_per_cell = 4\ntemperature = 0.5\ngas = gas\n"
    "[boundary]\nx_min = thermal\nx_max = thermal\ny_min = thermal\ny_max = thermal\nlayer_x_min = 1\nlayer_eta = 0.1\n"
    "[body.a]\nshape = disk\nx = 2\ny = 1.5\nradius = 0.5\nparticles = thermal\nfields = resistive\nresistivity = 1\n"
    "[body.b]\nshape = box\nx = 0.5\ny = 0.5\nwidth = 1\nheight = 1\n"
    "[background.gas]\nkind = neutral_gas\ninitial = 1\nbounds = on\nmaximum = 9\n"
    "[ionisation.i]\nspecies = p\ngas = gas\nfrequency = 0.01\n",
    /* inflow, given E beyond a side, a background field that flows in, a given rate of ionisation, more outputs */
    "[run]\nsteps = 0\ndt = 0.02\nthreads = 1\nbackend = cpu\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n"
    "[electrons]\nclosure = polytropic\ntemperature = 0.5\n[fields]\nbx = 1\n"
    "[species.p]\nparticles_per_cell = 4\ntemperature = 0.5\ndrift_x = 1\ninflow_density = 1\n"
    "[boundary]\nx_min = inflow\nx_max = absorbing\nfields_x_min = inflow_e\n"
    "[background.dye]\ninitial = 1\nvx = 1\nside_x_min = inflow\ninflow = 1\n"
    "[ionisation.i]\nspecies = p\nrate = 0.01\n"
    "[spectrum.w]\nfrom_k = 1\nto_k = 4\namplitude = 0.1\n"
    "[output.m]\nevery = 2\naverage = 2\nquantities = B temperature\n"
    "[distribution.f]\nevery = 1\naxes = v_par\nbins = 4\nfrom = -1\nto = 1\n"
    "[track.f]\nspecies = p\n[probe.f]\nquantities = B\nx = 1, 2\ny = 1, 2\n"};
enum { BASES = sizeof bases / sizeof *bases };

static struct lm_config config;

static int is_number(const struct lm_key *key)
{
    return key->kind == LM_KEY_INT || key->kind == LM_KEY_LONG || key->kind == LM_KEY_SEED ||
           key->kind == LM_KEY_REAL || key->kind == LM_KEY_EXPR;
}

static int read_base(int base, const char *override)
{
    const char *const overrides[] = {override};
    lm_config_free(&config);
    const int status = lm_config_read_text("case.ini", bases[base], override ? 1 : 0, overrides, &config);
    snprintf(config.output.directory, sizeof config.output.directory, "%s", scratch_path("out"));
    config.run.steps = 0;
    return status;
}

/* Writes the name of a section in which the key has a meaning. Returns 0 when the key has no meaning in this base. */
static int find_section(int base, const struct lm_key *key, char section[LM_MAX_PATH])
{
    const struct lm_named *kind = lm_named_of(key->section);
    ck_assert_msg(!read_base(base, NULL), "%s", lm_error());
    if (!kind) {
        snprintf(section, LM_MAX_PATH, "%s", key->section);
        return lm_key_meaning(key, &config, &config) == LM_MEANINGFUL;
    }
    for (int k = 0; k < lm_named_count(kind, &config); k++) {
        const char *item = (const char *)&config + lm_named_offset(kind, k);
        snprintf(section, LM_MAX_PATH, "%s.%s", kind->kind, item);
        if (lm_key_meaning(key, &config, item) == LM_MEANINGFUL)
            return 1;
    }
    return 0;
}

static int code_of_run(void)
{
    const struct lm_run_options options = {.overwrite = 1, .quiet = 1};
    fflush(stderr);
    const int kept = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDERR_FILENO); /* hides the warnings of the run */
    const int status = lm_run(&config, &options);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(nothing);
    return status;
}

/* check must not print numbers of hundreds of digits. */
static void check_digits(const char *text, const char *override)
{
    for (const char *p = text; *p; p++) {
        const size_t n = strspn(p, "0123456789.");
        ck_assert_msg(n < 40, "%s: a number of %zu digits: %.60s", override, n, p);
        p += n > 0 ? n - 1 : 0;
    }
}

/* The amount of free memory changes from moment to moment, so the message is cut before it. */
static void forget_free_memory(char *text)
{
    char *free_memory = strstr(text, " GiB are free (");
    while (free_memory && free_memory > text && *free_memory != ';')
        free_memory--;
    if (free_memory)
        *free_memory = 0;
}

static void try(int base, const char *override)
{
    char said[LM_MAX_MESSAGE], *text = NULL;
    size_t size = 0;
    if (read_base(base, override)) {
        ck_assert_msg(lm_error()[0] != 0, "%s: no message", override);
        return; /* check and run would give the same message */
    }
    FILE *out = open_memstream(&text, &size);
    const int check = lm_check(&config, out);
    snprintf(said, sizeof said, "%s", check ? lm_error() : "");
    fclose(out);
    check_digits(text, override);
    free(text);
    const int run = code_of_run();
    ck_assert_msg(run == (check == LM_BEYOND ? LM_OK : check), "base %d, %s: check %d (%s), run %d (%s)", base,
                  override, check, said, run, run ? lm_error() : "");
    if (run == LM_FAILED) /* a run also prints this line when it fails before its first step */
        snprintf(said + strlen(said), sizeof said - strlen(said), "\nnothing has been written");
    char ran[LM_MAX_MESSAGE];
    snprintf(ran, sizeof ran, "%s", lm_error());
    forget_free_memory(said);
    forget_free_memory(ran);
    ck_assert_msg(run == LM_OK || !strcmp(said, ran), "%s: check says %s, run %s", override, said, ran);
}

static void try_all(int base, const struct lm_key *key, const char *section)
{
    static const char *const values[] = {"1e300",   "-1e300", "1e-300",     "0",    "-1",
                                         "nan",     "inf",    "2147483647", "1e17", "99999999999999999999",
                                         "-1e-300", ""};
    char override[2 * LM_MAX_PATH];
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        snprintf(override, sizeof override, "%s.%s=%s", section, key->name, values[k]);
        try(base, override);
    }
    const double ends[2] = {key->low, key->high};
    for (int k = 0; k < 2; k++) {
        if (fabs(ends[k]) >= DBL_MAX || (key->kind == LM_KEY_EXPR && k == 1))
            continue;
        snprintf(override, sizeof override, key->kind == LM_KEY_REAL ? "%s.%s=%.17g" : "%s.%s=%.0f", section, key->name,
                 ends[k]);
        try(base, override);
    }
}

START_TEST(extremes)
{
    const struct lm_key *key = &lm_keys[_i];
    char section[LM_MAX_PATH];
    int found = 0;
    if (!is_number(key) || !strcmp(key->name, "threads")) /* the test must not start thousands of threads */
        return;
    if (!strcmp(key->section, LM_DATA_SECTION)) /* it needs a file: tests/test_data.c */
        return;
    for (int base = 0; base < BASES; base++) {
        if (!find_section(base, key, section))
            continue;
        found = 1;
        try_all(base, key, section);
    }
    ck_assert_msg(found, "%s.%s has a meaning in no base: give it one", key->section, key->name);
    lm_config_free(&config);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("key extremes");
    TCase *t = tcase_create("keys");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, extremes, 0, lm_key_count);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
