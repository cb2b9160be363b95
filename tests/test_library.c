/* The library as a user's program calls it (include/larmor.h): the same bits as the program, restarts of either by the
 * other, arrays, particles, and errors after which the caller goes on. */
#include "cases.h"
#include "cli.h"
#include "library_case.h"
#include "require.h"

/* --- the same bits --- */

/* Some of the cases whose fingerprints a GPU has confirmed, in steps of 1, 2, 3, ... */
static const int some[] = {0, 6, 12, 24}; /* those of them that are short */

START_TEST(golden)
{
    const struct run_case *c = &run_cases[some[_i]];
    const char *overrides[9] = {"run.backend=cpu"};
    char path[LM_MAX_PATH];
    int count = 1;
    for (int k = 0; k < 8 && c->overrides[k]; k++)
        overrides[count++] = c->overrides[k];
    snprintf(path, sizeof path, "%s/cases/%s", tests_directory(), c->file);
    simulation *sim = opened(path, count, overrides);
    ck_assert_int_eq(larmor_step_number(sim), -1);
    GOOD(larmor_begin(sim));
    for (int64_t n = 1; larmor_step_number(sim) < larmor_last_step(sim); n++) {
        const int64_t left = larmor_last_step(sim) - larmor_step_number(sim);
        GOOD(larmor_step(sim, n < left ? n : left));
    }
    uint64_t print;
    GOOD(larmor_fingerprint(sim, &print));
    larmor_close(sim);
    ck_assert_msg(print == golden_of(c->name), "%s: %016llx instead of the golden %016llx", c->name,
                  (unsigned long long)print, (unsigned long long)golden_of(c->name));
}
END_TEST

/* The library goes on from the program's checkpoint, and the program from the library's. */
START_TEST(restarts_of_each_other)
{
    CLI(0, "run small.ini --quiet --output whole output.checkpoint_every=10 output.keep=100");
    simulation *sim = begun("part", NULL);
    const char *path;
    GOOD(larmor_step(sim, 13));
    GOOD(larmor_save(sim, &path));
    ck_assert_str_eq(path, scratch_path("part/checkpoints/checkpoint_00000013.h5"));
    larmor_close(sim);
    CLI(0, "run small.ini --quiet --output part --restart latest");
    ck_assert_str_eq(cli_fingerprint("part"), cli_fingerprint("whole"));

    sim = small("other", NULL);
    GOOD(larmor_restart(sim, scratch_path("whole/checkpoints/checkpoint_00000010.h5")));
    ck_assert_int_eq(larmor_step_number(sim), 10);
    GOOD(larmor_step(sim, 30));
    ck_assert_str_eq(print_of(sim), cli_fingerprint("whole"));
    larmor_close(sim);
    ck_assert(!cli_exists("other"));
}
END_TEST

START_TEST(latest)
{
    simulation *sim = small("u", NULL);
    GOOD(larmor_restart(sim, "latest")); /* there is none: it begins */
    ck_assert_int_eq(larmor_step_number(sim), 0);
    GOOD(larmor_save(sim, NULL));
    GOOD(larmor_step(sim, 4));
    GOOD(larmor_save(sim, NULL));
    GOOD(larmor_step(sim, 2));
    GOOD(larmor_save(sim, NULL));
    const char *last = print_of(sim);
    larmor_close(sim);
    ck_assert(cli_exists("u/checkpoints/checkpoint_00000000.h5")); /* none is removed */
    sim = small("u", NULL);
    GOOD(larmor_restart(sim, "latest"));
    ck_assert_int_eq(larmor_step_number(sim), 6);
    ck_assert_str_eq(print_of(sim), last);
    larmor_close(sim);

    make_file("u/checkpoints/checkpoint_00000006.h5", "cut short");
    sim = small("u", "fields.eta=0.01");
    GOOD(larmor_restart(sim, "latest"));
    ck_assert_int_eq(larmor_step_number(sim), 4);
    cli_has(larmor_warnings(sim), "checkpoint_00000006.h5: is damaged and passed over\n");
    cli_has(larmor_warnings(sim), "fields.eta: 0 -> 0.01");
    larmor_close(sim);
}
END_TEST

/* Two simulations side by side, of which neither disturbs the other. */
START_TEST(side_by_side)
{
    char alone[2][32];
    const char *const more[2] = {"species.protons.start=quiet", "species.protons.start=random"};
    simulation *sims[2];
    for (int k = 0; k < 2; k++) {
        simulation *sim = begun("u", more[k]);
        GOOD(larmor_step(sim, 12));
        snprintf(alone[k], sizeof alone[k], "%s", print_of(sim));
        larmor_close(sim);
    }
    ck_assert_str_ne(alone[0], alone[1]);
    for (int k = 0; k < 2; k++)
        sims[k] = begun("u", more[k]);
    for (int step = 0; step < 12; step++)
        for (int k = 0; k < 2; k++)
            GOOD(larmor_step(sims[k], 1));
    for (int k = 0; k < 2; k++) {
        ck_assert_str_eq(print_of(sims[k]), alone[k]);
        larmor_close(sims[k]);
    }
}
END_TEST

/* --- arrays, particles and the row --- */

START_TEST(arrays)
{
    static const char *const names[] = {"B/x",   "B/y",   "B/z",   "E/x", "E/y", "E/z",
                                        "J_i/x", "J_i/y", "J_i/z", "rho", "p_e", "n_protons"};
    enum { COUNT = sizeof names / sizeof *names, NX = 12, NY = 8 };
    simulation *sim = begun("u", "species.protons.start=random");
    double copy[NX * NY], lx, ly;
    int nx, ny;
    larmor_grid(sim, &nx, &ny, &lx, &ly);
    ck_assert(nx == NX && ny == NY && lx == 6 && ly == 4 && larmor_time_step(sim) == 0.02);
    GOOD(larmor_step(sim, 5));
    ck_assert_int_eq(larmor_array_count(sim), COUNT);
    ck_assert_ptr_null(larmor_array_name(sim, COUNT));
    for (int k = 0; k < COUNT; k++) {
        const double *first;
        int64_t stride;
        ck_assert_str_eq(larmor_array_name(sim, k), names[k]);
        GOOD(larmor_array_copy(sim, names[k], copy));
        GOOD(larmor_array_view(sim, names[k], &first, &stride));
        require(first != NULL);
        for (int j = 0; j < NY; j++)
            require(!memcmp(first + j * stride, copy + j * NX, NX * sizeof *copy));
    }
    /* isothermal electrons: p_e = T n, and the protons alone make up the charge */
    double pressure[NX * NY], sum = 0;
    GOOD(larmor_array_copy(sim, "p_e", pressure));
    GOOD(larmor_array_copy(sim, "rho", copy));
    for (int k = 0; k < NX * NY; k++) {
        require_near(pressure[k], 0.5 * copy[k], 1e-12);
        sum += copy[k] / (NX * NY);
    }
    require_near(sum, 1, 1e-12);
    larmor_close(sim);
}
END_TEST

START_TEST(places)
{
    simulation *sim = begun("u", NULL);
    double x, y, time;
    GOOD(larmor_array_place(sim, "B/x", &x, &y, &time));
    ck_assert(x == 0 && y == 0.5 && time == 0);
    GOOD(larmor_array_place(sim, "B/z", &x, &y, &time));
    ck_assert(x == 0.5 && y == 0.5 && time == 0);
    GOOD(larmor_array_place(sim, "E/x", &x, &y, &time));
    ck_assert(x == 0.5 && y == 0 && time == 0);
    GOOD(larmor_array_place(sim, "J_i/x", &x, &y, &time));
    ck_assert(x == 0 && y == 0 && time == -0.01);
    larmor_close(sim);
}
END_TEST

/* What a checkpoint does not hold is refused after a restart, until a step has been taken. */
START_TEST(not_in_a_checkpoint)
{
    static const char *const late[] = {"E/x", "n_protons"};
    simulation *sim = begun("u", NULL);
    double before[2][96], after[96];
    GOOD(larmor_step(sim, 3));
    GOOD(larmor_save(sim, NULL));
    GOOD(larmor_step(sim, 1));
    for (int k = 0; k < 2; k++)
        GOOD(larmor_array_copy(sim, late[k], before[k]));
    larmor_close(sim);
    sim = small("u", NULL);
    GOOD(larmor_restart(sim, "latest"));
    GOOD(larmor_array_copy(sim, "B/x", after));
    for (int k = 0; k < 2; k++)
        WRONG(LARMOR_BAD_INPUT, "a checkpoint does not hold", larmor_array_copy(sim, late[k], after));
    GOOD(larmor_step(sim, 1));
    for (int k = 0; k < 2; k++) {
        GOOD(larmor_array_copy(sim, late[k], after));
        ck_assert_mem_eq(after, before[k], sizeof after);
    }
    larmor_close(sim);
}
END_TEST

/* Particles in two pieces; their energy half a step back is near that of the row. */
START_TEST(particles)
{
    enum { COUNT = 768, PART = 500 };
    static double x[COUNT], y[COUNT], v[3][COUNT];
    simulation *sim = begun("u", NULL);
    uint64_t count;
    double charge, mass, weight, row[256], sum = 0, kinetic = 0;
    GOOD(larmor_step(sim, 2));
    GOOD(larmor_species(sim, "protons", &count, &charge, &mass, &weight));
    ck_assert(count == COUNT && charge == 1 && mass == 1);
    require_near(weight * COUNT, 24, 1e-12); /* density 1 on 6 x 4 d_i^2 */
    ck_assert_str_eq(larmor_species_name(sim, 0), "protons");
    ck_assert_int_eq(larmor_species_count(sim), 1);
    GOOD(larmor_particles(sim, "protons", 0, PART, x, y, v[0], v[1], v[2]));
    GOOD(larmor_particles(sim, "protons", PART, COUNT - PART, x + PART, y + PART, v[0] + PART, v[1] + PART,
                          v[2] + PART));
    for (int k = 0; k < COUNT; k++) {
        require(x[k] >= 0 && x[k] < 6 && y[k] >= 0 && y[k] < 4);
        sum += 0.5 * weight * (v[0][k] * v[0][k] + v[1][k] * v[1][k] + v[2][k] * v[2][k]);
    }
    ck_assert_int_lt(larmor_column_count(sim), 256);
    GOOD(larmor_row(sim, row));
    for (int k = 0; k < larmor_column_count(sim); k++)
        kinetic += strncmp(larmor_column_name(sim, k), "kinetic_", 8) ? 0 : row[k];
    require_near(sum / kinetic, 1, 0.02);
    ck_assert_str_eq(larmor_column_name(sim, 1), "time");
    ck_assert(row[0] == 2 && row[1] == 0.04 && larmor_time(sim) == 0.04);
    ck_assert_ptr_null(larmor_column_name(sim, larmor_column_count(sim)));
    larmor_close(sim);
}
END_TEST

/* --- errors --- */

START_TEST(wrong_files)
{
    static const char *const overrides[] = {"run.dtt=1", "grid.nx=0"};
    simulation *sim;
    WRONG(LARMOR_BAD_INPUT, "absent.ini", larmor_open("absent.ini", 0, NULL, &sim));
    ck_assert_ptr_null(sim);
    WRONG(LARMOR_BAD_INPUT, "did you mean dt?", larmor_open(scratch_path("small.ini"), 2, overrides, &sim));
    cli_has(larmor_error(), "grid.nx");
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    WRONG(LARMOR_BAD_INPUT, "MPI has started 2", larmor_open(scratch_path("small.ini"), 0, NULL, &sim));
    ck_assert_ptr_null(sim);
    larmor_close(NULL);
}
END_TEST

START_TEST(wrong_order)
{
    simulation *sim = small("u", NULL);
    double row[256];
    WRONG(LARMOR_BAD_INPUT, "call larmor_begin", larmor_step(sim, 1));
    WRONG(LARMOR_BAD_INPUT, "call larmor_begin", larmor_row(sim, row));
    WRONG(LARMOR_BAD_INPUT, "call larmor_begin", larmor_save(sim, NULL));
    GOOD(larmor_begin(sim));
    WRONG(LARMOR_BAD_INPUT, "begun already", larmor_begin(sim));
    WRONG(LARMOR_BAD_INPUT, "begun already", larmor_restart(sim, "latest"));
    WRONG(LARMOR_BAD_INPUT, "no array B", larmor_array_copy(sim, "B", row));
    WRONG(LARMOR_BAD_INPUT, "no species alphas", larmor_species(sim, "alphas", NULL, NULL, NULL, NULL));
    WRONG(LARMOR_BAD_INPUT, "has 768 particles", larmor_particles(sim, "protons", 768, 1, row, row, row, row, row));
    larmor_close(sim);
}
END_TEST

/* A simulation that the program would not begin either. */
START_TEST(wrong_start)
{
    simulation *sim = small("u", "species.protons.density=0");
    WRONG(LARMOR_BAD_INPUT, "no species has any particles", larmor_begin(sim));
    WRONG(LARMOR_BAD_INPUT, "there is no state", larmor_step(sim, 1));
    larmor_close(sim);
    sim = small("u", NULL);
    WRONG(LARMOR_BAD_INPUT, "absent.h5", larmor_restart(sim, scratch_path("absent.h5")));
    larmor_close(sim);
    ck_assert(!cli_exists("u"));
}
END_TEST

/* The state before a step that cannot be taken stays good: it can be asked and saved. */
START_TEST(step_that_cannot_be_taken)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[background.gas]\ninitial = 1\nvx = 0.1\nsource = exp(1000*t)\n", cli_small);
    make_file("small.ini", text);
    simulation *sim = begun("u", NULL);
    WRONG(LARMOR_FAILED, "step 18 (from t = 0.34) cannot be taken", larmor_step(sim, 40));
    ck_assert_int_eq(larmor_step_number(sim), 17);
    WRONG(LARMOR_FAILED, "step 18 (from t = 0.34) cannot be taken", larmor_step(sim, 1));
    GOOD(larmor_save(sim, NULL));
    CLI(0, "fingerprint u/checkpoints/checkpoint_00000017.h5");
    ck_assert_str_eq(strtok(cli.out, "\n"), print_of(sim));
    larmor_close(sim);
}
END_TEST

/* Within a step the state is lost. */
START_TEST(lost_within_a_step)
{
    make_file("more.ini", cli_small);
    const char *const overrides[] = {"electrons.closure=evolved", "electrons.conductivity=1e12"};
    double row[256];
    simulation *sim = opened(scratch_path("more.ini"), 2, overrides);
    GOOD(larmor_begin(sim));
    WRONG(LARMOR_FAILED, "step 1 failed, and the state is lost: step 1 (from t = 0) cannot be taken",
          larmor_step(sim, 1));
    WRONG(LARMOR_FAILED, "the state is lost", larmor_step(sim, 1));
    WRONG(LARMOR_FAILED, "the state is lost", larmor_save(sim, NULL));
    WRONG(LARMOR_FAILED, "the state is lost", larmor_row(sim, row));
    larmor_close(sim);
}
END_TEST

/* A checkpoint goes into the directory of a run of the same settings, a new one, or none. */
START_TEST(where_to_save)
{
    CLI(0, "run small.ini --quiet --output u");
    simulation *sim = begun("u", "fields.eta=0.01");
    WRONG(LARMOR_BAD_INPUT, "holds a run of other settings (fields.eta: 0 there, 0.01 here)", larmor_save(sim, NULL));
    ck_assert(!cli_exists("u/checkpoints/checkpoint_00000000.h5"));
    larmor_close(sim);
    sim = begun("u", NULL);
    GOOD(larmor_save(sim, NULL));
    ck_assert(cli_exists("u/checkpoints/checkpoint_00000000.h5"));
    larmor_close(sim);
    mkdir(scratch_path("mine"), 0777);
    make_file("mine/letter.txt", "dear\n");
    sim = begun("mine", NULL);
    WRONG(LARMOR_BAD_INPUT, "is not the output of a run", larmor_save(sim, NULL));
    larmor_close(sim);
    make_file("u/larmor.lock", "");
    sim = begun("u", NULL);
    GOOD(larmor_save(sim, NULL)); /* a lock file alone stops nobody */
    ck_assert(cli_exists("u/larmor.lock"));
    larmor_close(sim);
}
END_TEST

/* Nothing is written but for larmor_save, and nothing is printed. */
START_TEST(silence)
{
    const uint64_t before = cli_snapshot();
    FILE *printed = tmpfile();
    fflush(NULL);
    const int err = dup(STDERR_FILENO), out = dup(STDOUT_FILENO);
    dup2(fileno(printed), STDERR_FILENO);
    dup2(fileno(printed), STDOUT_FILENO);
    simulation *sim = begun("u", "run.dt=0.2"); /* beyond a limit, of which the program warns */
    const int has_warning = larmor_warnings(sim)[0] != 0;
    larmor_step(sim, 3);
    larmor_close(sim);
    fflush(NULL);
    dup2(err, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    ck_assert(has_warning);
    ck_assert_int_eq(ftell(printed), 0);
    fseek(printed, 0, SEEK_END);
    ck_assert_int_eq(ftell(printed), 0);
    ck_assert(before == cli_snapshot());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("library");
    TCase *t = tcase_create("bits"), *u = tcase_create("library");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, golden, 0, unless_sanitized(sizeof some / sizeof *some));
    tcase_set_timeout(u, 60);
    tcase_add_checked_fixture(u, cli_setup, scratch_remove);
    tcase_add_test(u, restarts_of_each_other);
    tcase_add_test(u, latest);
    tcase_add_test(u, side_by_side);
    tcase_add_test(u, arrays);
    tcase_add_test(u, places);
    tcase_add_test(u, not_in_a_checkpoint);
    tcase_add_test(u, particles);
    tcase_add_test(u, wrong_files);
    tcase_add_test(u, wrong_order);
    tcase_add_test(u, wrong_start);
    tcase_add_test(u, step_that_cannot_be_taken);
    tcase_add_test(u, lost_within_a_step);
    tcase_add_test(u, where_to_save);
    tcase_add_test(u, silence);
    suite_add_tcase(suite, t);
    suite_add_tcase(suite, u);
    return cli_main(suite);
}
