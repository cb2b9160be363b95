/* Outputs whose steps lie beyond the end of the run: `larmor check` and `larmor run` say that they stay empty. */
#include "cli.h"

/* The run has 40 steps. */
static const struct {
    const char *lines, *expected;
} beyond[] = {
    {"[output.m]\nevery = 41\nquantities = B\n",
     "output.m.every = 41 is beyond the end of the run at step 40: only step 0 is written"},
    {"[output.m]\nevery = 41\naverage = 2\nquantities = B\n",
     "output.m.every = 41 is beyond the end of the run at step 40: nothing is written, as step 0 has no mean"},
    {"[distribution.f]\nevery = 50\naxes = vx\nbins = 4\nfrom = -1\nto = 1\n",
     "distribution.f.every = 50 is beyond the end of the run at step 40: only step 0 is written"},
    {"[probe.o]\nevery = 100\nquantities = B\nx = 1\ny = 1\n",
     "probe.o.every = 100 is beyond the end of the run at step 40: only step 0 is written"},
    {"[track.t]\nspecies = protons\nevery = 100\n",
     "track.t.every = 100 is beyond the end of the run at step 40: only step 0 is written"},
    {"[track.t]\nspecies = protons\nstart = 41\n",
     "track.t.start = 41 is beyond the end of the run at step 40: nothing is written"},
    {"[track.t]\nspecies = protons\nstart = 1\nevery = 41\n",
     "track.t.every = 41 has no multiple from start = 1 to the end of the run at step 40: nothing is written"},
    {"[track.t]\nspecies = protons\nstart = 31\nevery = 15\n",
     "track.t.every = 15 has no multiple from start = 31 to the end of the run at step 40: nothing is written"},
    {"[output]\nfields_every = 41\n",
     "output.fields_every = 41 is beyond the end of the run at step 40: only step 0 is written"},
    {"[output]\nparticles_every = 41\n",
     "output.particles_every = 41 is beyond the end of the run at step 40: only step 0 is written"},
};

START_TEST(outputs_beyond_the_end)
{
    char text[2048], warning[256], advice[256];
    snprintf(text, sizeof text, "%s%s", cli_small, beyond[_i].lines);
    snprintf(warning, sizeof warning, "larmor: warning: %s\n", beyond[_i].expected);
    snprintf(advice, sizeof advice, "\n  %s\n", beyond[_i].expected);
    make_file("run.ini", text);
    CLI(0, "check run.ini");
    cli_has(strstr(cli.out, "\nadvice\n"), advice);
    CLI(0, "run run.ini --quiet");
    ck_assert_str_eq(cli.err, warning);
    char *messages = cli_read("run.out/larmor.messages"), *json = cli_read("run.out/run.json");
    ck_assert_str_eq(messages, warning);
    cli_has(json, beyond[_i].expected);
    free(messages);
    free(json);
}
END_TEST

/* Steps up to the last one are no reason for a warning, and a run without steps has nothing but its start. */
static const char *const within[] = {
    "[output.m]\nevery = 40\naverage = 2\nquantities = B\n[probe.o]\nevery = 40\nquantities = B\nx = 1\ny = 1\n"
    "[distribution.f]\nevery = 40\naxes = vx\nbins = 4\nfrom = -1\nto = 1\n[output]\nfields_every = 40\n"
    "[track.t]\nspecies = protons\nstart = 40\nevery = 40\n",
    "[track.t]\nspecies = protons\nstart = 30\nevery = 15\n[output]\nseries_every = 100\nmaps_every = 100\n"
    "checkpoint_every = 100\n", /* the last step has a row, maps and a checkpoint in any case */
};

START_TEST(outputs_within_the_run)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", cli_small, within[_i]);
    make_file("run.ini", text);
    CLI(0, "run run.ini --quiet");
    ck_assert_str_eq(cli.err, "");
    CLI(0, "run run.ini --quiet --steps 0 --output zero track.t.start=0");
    ck_assert_str_eq(cli.err, "");
    CLI(0, "check run.ini");
    ck_assert_ptr_null(strstr(cli.out, "beyond the end"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("outputs beyond the end of the run");
    TCase *t = tcase_create("outputs beyond the end of the run");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, outputs_beyond_the_end, 0, sizeof beyond / sizeof *beyond);
    tcase_add_loop_test(t, outputs_within_the_run, 0, sizeof within / sizeof *within);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
