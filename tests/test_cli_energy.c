/* The budget of the energy, as a user sees it: what is judged, warnings while a run goes on, its end, run.json, the
 * series, restarts and `larmor check`. */
#include <math.h>

#include "cli.h"

/* The value that follows `name` in the text; NaN where there is none. */
static double number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : NAN;
}

static double fact(const char *directory, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/run.json", directory);
    char *json = cli_read(path);
    const char *energy = strstr(json, "\"energy\": {");
    ck_assert_ptr_nonnull(energy);
    const double value = number_after(strstr(energy, name), ": ");
    free(json);
    return value;
}

/* The column energy_budget of series.csv, and the step of each row; returns the number of rows. */
enum { MOST_ROWS = 64 };
static int budget_rows(const char *directory, int step[MOST_ROWS], double share[MOST_ROWS])
{
    char path[64];
    int rows = 0, wanted = -1;
    snprintf(path, sizeof path, "%s/series.csv", directory);
    char *text = cli_read(path), *lines = text;
    for (char *line; (line = strsep(&lines, "\n")) && *line;) {
        int column = 0;
        char *at = line, *value;
        for (; (value = strsep(&at, ",")); column++) {
            if (wanted < 0 && !strcmp(value, "energy_budget")) {
                wanted = column;
                break;
            }
            if (rows > 0 && column == 0)
                step[rows - 1] = atoi(value);
            if (rows > 0 && column == wanted)
                share[rows - 1] = strtod(value, NULL);
        }
        ck_assert_int_lt(rows++, MOST_ROWS);
        ck_assert_int_ge(wanted, 0);
    }
    free(text);
    return rows - 1;
}

/* --- a run that keeps its energy --- */

START_TEST(silent)
{
    int step[MOST_ROWS];
    double share[MOST_ROWS];
    CLI(0, "run small.ini output.series_every=4");
    ck_assert_ptr_null(strstr(cli.err, "warning"));
    cli_has(cli.err, " unexplained (run.energy_limit: 5 %)\n");
    ck_assert(!cli_exists("small.out/larmor.messages"));
    char *json = cli_read("small.out/run.json");
    cli_has(json, "\"judged\": \"gains and losses\"");
    cli_has(json, "\"beyond\": false");
    free(json);
    const int rows = budget_rows("small.out", step, share);
    ck_assert_int_eq(rows, 11);
    ck_assert_double_eq(share[0], 0);
    ck_assert_double_ne(share[rows - 1], 0);
    ck_assert_double_lt(fabs(fact("small.out", "\"share\"") - share[rows - 1]), 1e-9 * fabs(share[rows - 1]));
    ck_assert_double_lt(fabs(share[rows - 1]), 0.01);
    /* 3/2 p_e and the thermal energy of a quiet start, each 3/2 T n over 24 d_i^2 */
    ck_assert_double_eq_tol(fact("small.out", "\"reference\""), 36, 1e-9);
}
END_TEST

/* A strong uniform field and a fast uniform flow are not part of the reference. */
START_TEST(uniform_fields_and_flows_hide_nothing)
{
    CLI(0, "run small.ini --quiet fields.bz=20 species.protons.drift_z=3 run.dt=0.001");
    ck_assert_double_eq_tol(fact("small.out", "\"reference\""), 36, 1e-6);
    CLI(0, "run small.ini --quiet --overwrite fields.bx=1 fields.bz=0.5*cos(2*pi*x/lx)");
    ck_assert_double_eq_tol(fact("small.out", "\"reference\""), 36 + 0.5 * 0.125 * 24, 1e-9);
    /* between walls a flow can become heat */
    CLI(0, "run small.ini --quiet --overwrite species.protons.drift_z=3 boundary.x_min=reflecting "
           "boundary.x_max=reflecting");
    ck_assert_double_eq_tol(fact("small.out", "\"reference\""), 36 + 4.5 * 24, 1e-6);
}
END_TEST

/* --- warnings --- */

/* In a quiet start of the uniform plasma nothing happens. */
#define NOISY "species.protons.start=random species.protons.particles_per_cell=32 "

/* The run warns at the first row beyond the limit, and then when the share has doubled: the rows say when. */
static int expected_warnings(int rows, const int step[], const double share[], double limit, char *expected)
{
    int count = 0;
    double next = limit;
    *expected = 0;
    for (int k = 0; k < rows; k++) {
        if (!(fabs(share[k]) > next))
            continue;
        next = 2 * fabs(share[k]);
        count++;
        sprintf(expected + strlen(expected), "step %d: %s %.3g;", step[k], share[k] < 0 ? "fallen" : "grown",
                100 * fabs(share[k]));
    }
    return count;
}

static void read_warnings(const char *text, char *out)
{
    *out = 0;
    for (const char *at = text; (at = strstr(at, "larmor: warning: step ")); at++) {
        int step;
        double t, share;
        char way[16];
        ck_assert_int_eq(
            sscanf(at, "larmor: warning: step %d (t = %lf): the energy has %15s by %lf %% of", &step, &t, way, &share),
            4);
        ck_assert_double_eq_tol(t, 0.02 * step, 1e-9);
        sprintf(out + strlen(out), "step %d: %s %.3g;", step, way, share);
    }
}

START_TEST(warns_beyond_the_limit)
{
    static char expected[4096], said[4096], told[4096];
    int step[MOST_ROWS];
    double share[MOST_ROWS];
    const double limit = 1e-7;
    CLI(0, "run small.ini --quiet " NOISY "output.series_every=1 run.energy_limit=1e-7");
    read_warnings(cli.err, said);
    const int rows = budget_rows("small.out", step, share);
    ck_assert_int_ge(expected_warnings(rows, step, share, limit, expected), 2);
    ck_assert_str_eq(said, expected);
    cli_has(cli.err, "run.energy_limit is 1e-05 %");
    char *messages = cli_read("small.out/larmor.messages"), *json = cli_read("small.out/run.json");
    read_warnings(messages, told);
    ck_assert_str_eq(told, expected);
    ck_assert_str_eq(messages, cli.err);
    cli_has(json, "\"beyond\": true");
    cli_has(json, "        \"step ");
    free(messages);
    free(json);
    CLI(0, "run small.ini --overwrite " NOISY "run.energy_limit=1e-7");
    cli_has(cli.err, " unexplained, BEYOND the limit (run.energy_limit: 1e-05 %)\n");
}
END_TEST

/* Without rows the end is judged all the same. */
START_TEST(warns_without_a_series)
{
    CLI(0, "run small.ini --quiet " NOISY "output.series_every=0 run.energy_limit=1e-9");
    cli_has(cli.err, "larmor: warning: step 40 (t = 0.8): the energy has ");
    ck_assert_int_eq(cli_lines(cli.err), 1);
    CLI(0, "run small.ini --quiet --overwrite " NOISY "output.series_every=0 run.energy_limit=1");
    ck_assert_str_eq(cli.err, "");
}
END_TEST

/* Steps in which the shortest whistler turns ten times, and more, make energy. A run with the default limit warns of
 * it, and warns again when the gain has doubled. Short steps to the same time keep the energy. */
START_TEST(warns_of_a_real_gain)
{
#define COLD                                                                                                           \
    "grid.nx=24 grid.ny=24 grid.lx=3 grid.ly=3 fields.bx=2 electrons.temperature=1 species.protons.start=random "      \
    "species.protons.temperature=0.1 fields.max_substeps=1000 output.series_every=20 "
    CLI(0, "run small.ini --quiet " COLD "run.dt=0.1 run.steps=140");
    const char *first = strstr(cli.err, "the energy has grown by ");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first + 1, "the energy has grown by "));
    ck_assert_double_gt(fact("small.out", "\"share\""), 0.05);
    CLI(0, "run small.ini --quiet --overwrite " COLD "run.dt=0.01 run.steps=1400");
    ck_assert_ptr_null(strstr(cli.err, "the energy has"));
#undef COLD
}
END_TEST

/* --- what is not judged --- */

static const struct {
    const char *overrides, *reason;
} unjudged[] = {
    {"species.protons.lost_below_energy=0.01",
     "energy: not judged: the energy of the electrons that come and go with protons (energy_stopped) is not "
     "measured\n"},
    {"boundary.y_min=thermal boundary.y_max=reflecting",
     "energy: not judged: the heat that ions exchange with the thermal side y_min is not measured\n"},
    {"fields.solver=none",
     "energy: not judged: the ions move in given fields (fields.solver = none), whose work is not measured\n"},
    {"external.current_y=0.01*sin(t)",
     "energy: not judged: the work of the current outside the plasma ([external]) is not measured\n"},
    {"species.protons.force_x=0.1",
     "energy: not judged: the work of the force on protons (force_x, _y, _z) is not measured\n"},
    {"fields.eta=0.01 fields.electron_friction=off",
     "energy: not judged: the work of the resistive E on the ions (fields.electron_friction = off) is not measured\n"},
    {"fields.eta=0.01", "energy: only a gain is judged: the heat of the resistivity (fields.eta) is lost: only evolved "
                        "electrons keep it\n"},
    {"fields.eta_hyper=0.001", "energy: only a gain is judged: the heat of the resistivity (fields.eta_hyper) is lost: "
                               "only evolved electrons keep it\n"},
    {"species.protons.drag_rate=1",
     "energy: only a gain is judged: what the drag on protons (drag_rate) takes is not measured\n"},
};

START_TEST(says_what_is_not_judged)
{
    const char *reason = unjudged[_i].reason, *because = strstr(strstr(reason, "judged: "), ": ") + 2;
    char in_json[256];
    const int only = strstr(reason, "only a gain") != NULL;
    snprintf(in_json, sizeof in_json, "\"because\": \"%.*s\"", (int)strlen(because) - 1, because);
    CLI(0, "run small.ini run.energy_limit=1e-12 %s", unjudged[_i].overrides);
    ck_assert_ptr_eq(strstr(cli.err, reason), cli.err); /* before the first step */
    ck_assert_ptr_null(only ? NULL : strstr(cli.err, "warning"));
    ck_assert_ptr_null(strstr(cli.err, "has fallen"));
    char *json = cli_read("small.out/run.json");
    cli_has(json, in_json);
    cli_has(json, only ? "\"judged\": \"gains\"" : "\"judged\": \"nothing\"");
    free(json);
    CLI(0, "check small.ini %s", unjudged[_i].overrides);
    const char *section = strstr(cli.out, "\nenergy\n");
    ck_assert_ptr_nonnull(section);
    cli_has(section, because);
    cli_has(section, only ? "  the run warns of gains beyond 5 %" : "  not judged: ");
}
END_TEST

START_TEST(electrons_that_a_body_absorbs)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[body.rock]\nshape = disk\nx = 2\ny = 2\nradius = 0.6\n", cli_small);
    make_file("rock.ini", text);
    CLI(0, "check rock.ini electrons.closure=evolved");
    cli_has(strstr(cli.out, "\nenergy\n"), "the run warns of gains and losses");
    CLI(0, "check rock.ini");
    cli_has(strstr(cli.out, "\nenergy\n"), "the heat of the electrons that the body rock absorbs is not measured");
    CLI(0, "check rock.ini electrons.closure=evolved body.rock.particles=reflecting");
    cli_has(strstr(cli.out, "\nenergy\n"), "the run warns of gains and losses");
}
END_TEST

/* What fields and electrons carry through sides is measured. */
START_TEST(open_sides_are_judged)
{
    CLI(0, "check small.ini boundary.x_min=absorbing boundary.x_max=absorbing");
    cli_has(strstr(cli.out, "\nenergy\n"), "the run warns of gains and losses");
}
END_TEST

/* --- exchanges that the ledger has --- */

/* Without the heat of electrons, what ions bring and take is all: the energy itself changes by much more than what
 * stays unexplained. */
static const char *const exchanges[] = {
    "boundary.x_min=absorbing boundary.x_max=absorbing boundary.fields_x_min=conducting "
    "boundary.fields_x_max=conducting",
    "boundary.x_min=inflow boundary.x_max=reflecting boundary.fields_x_min=conducting species.protons.drift_x=1",
    "species.protons.gas=gas species.protons.gas_drag_rate=1 species.protons.lost_below_energy=0.1",
    "species.protons.gas=gas species.protons.charge_exchange_rate=1",
    "ionisation.more.rate=0.2 ionisation.more.temperature=2",
};

START_TEST(known_exchanges_count)
{
    make_file("gas.ini", cli_small);
    FILE *f = fopen(scratch_path("gas.ini"), "a");
    if (strstr(exchanges[_i], "gas"))
        fprintf(f, "[background.gas]\nkind = neutral_gas\ninitial = 1\ntemperature = 0.1\n");
    if (strstr(exchanges[_i], "ionisation"))
        fprintf(f, "[ionisation.more]\nspecies = protons\nrate = 0\n");
    fclose(f);
    CLI(0, "run gas.ini --quiet electrons.temperature=0 species.protons.particles_per_cell=64 %s", exchanges[_i]);
    char *json = cli_read("gas.out/run.json");
    cli_has(json, "\"judged\": \"gains and losses\"");
    const double drift = number_after(json, "\"energy_drift\": ");
    free(json);
    const double known = fact("gas.out", "\"brought\"") + fact("gas.out", "\"taken\"");
    ck_assert_double_gt(fabs(drift), 0.05);
    ck_assert_double_lt(fabs(fact("gas.out", "\"unexplained\"")), 0.01 * known);
}
END_TEST

/* --- restarts --- */

START_TEST(restart_keeps_the_reference)
{
    CLI(0, "run small.ini --quiet " NOISY "--output whole output.series_every=1 output.checkpoint_every=20");
    CLI(0, "run small.ini --quiet " NOISY "--output part --steps 20 output.series_every=1 output.checkpoint_every=20");
    CLI(0, "run small.ini --quiet " NOISY "--restart part/checkpoints/checkpoint_00000020.h5 --output part "
           "output.series_every=1 output.checkpoint_every=20 run.energy_limit=0.5");
    int step[2][MOST_ROWS];
    double share[2][MOST_ROWS];
    ck_assert_int_eq(budget_rows("whole", step[0], share[0]), 41);
    ck_assert_int_eq(budget_rows("part", step[1], share[1]), 41);
    ck_assert_mem_eq(share[0], share[1], 41 * sizeof share[0][0]);
    ck_assert(fact("whole", "\"share\"") == fact("part", "\"share\""));
    char *json = cli_read("part/run.json");
    cli_has(json, "\"judged\": \"gains and losses\""); /* the limit is no setting that matters */
    free(json);
}
END_TEST

/* Other settings change the energy in ways that the reference does not know, also for restarts of that restart. */
START_TEST(restart_with_other_settings)
{
    CLI(0, "run small.ini --quiet --steps 10 output.checkpoint_every=10");
    CLI(0, "run small.ini --restart small.out/checkpoints/checkpoint_00000010.h5 --steps 20 "
           "output.checkpoint_every=10 electrons.temperature=0.7");
    cli_has(cli.err, "energy: not judged: a restart has changed settings since the start\n");
    CLI(0, "run small.ini --restart small.out/checkpoints/checkpoint_00000020.h5 electrons.temperature=0.7");
    cli_has(cli.err, "energy: not judged: a restart has changed settings since the start\n");
}
END_TEST

/* --- check, and wrong values --- */

START_TEST(check_prints_the_reference)
{
    CLI(0, "check small.ini");
    cli_has(cli.out,
            "\nenergy\n  the run warns of gains and losses beyond 5 % (run.energy_limit) of 36, the energy that can "
            "change\n");
    CLI(0, "check small.ini electrons.closure=evolved fields.bz=0.5*cos(2*pi*x/lx) run.energy_limit=0.1");
    cli_has(cli.out, "beyond 10 % (run.energy_limit) of 37.5, the energy that can change\n");
    CLI(0, "check small.ini --time " NOISY "run.energy_limit=1e-12");
    cli_has(strstr(cli.out, "\ntime\n"), "  energy: ");
    cli_has(strstr(cli.out, "\ntime\n"), " at the end, BEYOND run.energy_limit\n");
    CLI(0, "check small.ini --time " NOISY "run.energy_limit=1e3");
    cli_has(strstr(cli.out, "\ntime\n"), " at the end\n");
}
END_TEST

START_TEST(wrong_limits)
{
    static const char *const values[] = {"0", "-0.1", "nan", "often"};
    CLI(2, "run small.ini run.energy_limit=%s", values[_i]);
    cli_has(cli.err, "run.energy_limit");
    ck_assert(!cli_exists("small.out"));
}
END_TEST

static void prepare(void)
{
    scratch_make();
    make_file("small.ini", cli_small);
}

int main(void)
{
    Suite *suite = suite_create("budget of the energy");
    TCase *t = tcase_create("budget of the energy");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, prepare, scratch_remove);
    tcase_add_test(t, silent);
    tcase_add_test(t, uniform_fields_and_flows_hide_nothing);
    tcase_add_test(t, warns_beyond_the_limit);
    tcase_add_test(t, warns_without_a_series);
    tcase_add_test(t, warns_of_a_real_gain);
    tcase_add_test(t, electrons_that_a_body_absorbs);
    tcase_add_test(t, open_sides_are_judged);
    tcase_add_loop_test(t, says_what_is_not_judged, 0, sizeof unjudged / sizeof *unjudged);
    tcase_add_loop_test(t, known_exchanges_count, 0, sizeof exchanges / sizeof *exchanges);
    tcase_add_test(t, restart_keeps_the_reference);
    tcase_add_test(t, restart_with_other_settings);
    tcase_add_test(t, check_prints_the_reference);
    tcase_add_loop_test(t, wrong_limits, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
