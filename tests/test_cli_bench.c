/* `larmor bench`: its cases, wrong input, and a quick call whose JSON must be complete. */
#include "cli.h"

#include <jansson.h>

START_TEST(help_and_list)
{
    CLI(0, "bench --help");
    cli_has(cli.out, "larmor bench [CASE ...]");
    cli_has(cli.out, "--repeats N");
    CLI(0, "bench --list");
    static const char *const names[] = {"copy ", "particles ", "order ",   "fields ", "reduce ",
                                        "ops ",  "step ",      "outputs ", "memory "};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        cli_has(cli.out, names[k]);
    ck_assert_str_eq(cli.err, "");
}
END_TEST

static const struct {
    const char *command, *expected, *more;
} wrong[] = {
    {"bench frob", "bench: no case frob; there are copy, ", "step"},
    {"bench step frob --quick", "bench: no case frob", NULL},
    {"bench --frob", "no such option here: --frob", "larmor bench --help"},
    {"bench --json", "an option needs a value: --json", "larmor bench --help"},
    {"bench --json none/b.json copy", "none/b.json: cannot be written: No such file", NULL},
    {"bench --repeats 0", "--repeats 0: a number from 1 to 1000 is wanted", "larmor bench --help"},
    {"bench --repeats 2.5", "a whole number is wanted, not 2.5", NULL},
    {"bench --cells x", "--cells x: a number from 16", NULL},
    {"bench --ppc nan", "--ppc nan: a number from 1", NULL},
    {"bench --threads -1", "--threads -1: a number from 0", NULL},
    {"bench --backend gpu", "--backend is auto, cpu or cuda, not gpu", NULL},
    {"bench --backend cuda", "backend cuda: ", "use --backend cpu"},
};

static void hide_gpus(void)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
}

START_TEST(wrong_input)
{
    cli.prepare = hide_gpus;
    cli_refuses(wrong[_i].command, wrong[_i].expected, wrong[_i].more);
}
END_TEST

/* A case that only a GPU can run says so, and the call goes on. */
START_TEST(case_for_a_gpu)
{
    CLI(0, "bench copy particles --quick --backend cpu --threads 1");
    cli_has(cli.out, "particles: needs a GPU");
    cli_has(cli.out, "copy: ");
}
END_TEST

/* The number of a row of a table in a case's JSON; checks that it has a unit and lies between its extremes. */
static double value_of(json_t *table, size_t row, const char *column, int spread)
{
    json_t *v = json_object_get(json_object_get(json_array_get(json_object_get(table, "rows"), row), "values"), column);
    double value, min, median, max;
    const char *unit;
    ck_assert_msg(!json_unpack(v, "{s:F, s:s}", "value", &value, "unit", &unit), "no %s", column);
    if (spread) {
        ck_assert(!json_unpack(v, "{s:F, s:F, s:F}", "min", &min, "median", &median, "max", &max));
        ck_assert(0 < min && min <= median && median <= max && value == median);
    }
    return value;
}

START_TEST(quick_step)
{
    const char *software, *commit, *date, *backend, *device;
    double copy;
    int quick;
    CLI(0, "bench step --quick --backend cpu --threads 1 --json b.json");
    cli_has(cli.out, "thermal, quadratic, single");
    cli_has(cli.out, "G particle-steps/s");
    ck_assert_str_eq(cli.err, "");
    json_error_t error;
    json_t *j = json_load_file(scratch_path("b.json"), 0, &error);
    ck_assert_msg(j != NULL, "%s", error.text);
    ck_assert(!json_unpack(j, "{s:s, s:s, s:s, s:s, s:s, s:b, s:{s:F}}", "software", &software, "commit", &commit,
                           "date", &date, "backend", &backend, "device", &device, "quick", &quick, "copy_bandwidth",
                           "value", &copy));
    ck_assert_str_eq(backend, "cpu");
    ck_assert(quick && copy > 0 && strlen(date) == 20 && commit[0] && device[0] && software[0]);
    json_t *tables = json_object_get(j, "tables"), *step = json_array_get(tables, 0);
    ck_assert_uint_eq(json_array_size(tables), 1);
    ck_assert_str_eq(json_string_value(json_object_get(step, "name")), "step");
    size_t rows = json_array_size(json_object_get(step, "rows"));
    ck_assert_uint_ge(rows, 11);
    for (size_t r = 0; r < rows; r++) {
        ck_assert(value_of(step, r, "rate", 1) > 0);
        ck_assert(value_of(step, r, "of copy", 0) > 0);
        double parts = value_of(step, r, "pass", 0) + value_of(step, r, "sort", 0) + value_of(step, r, "rest", 0);
        ck_assert(parts > 99.9 && parts < 100.1);
    }
    ck_assert(value_of(step, rows - 1, "substeps", 0) == 20);
    json_decref(j);
}
END_TEST

static const struct {
    const char *words, *expected;
} others[] = {
    {"copy", "copy: bytes read and written"},
    {"order", "BEST: every "},
    {"fields", "20 substeps"},
    {"reduce", "OpenMP reduction"},
    {"ops", "div(f grad(a b))"},
    {"memory --fill", "a run that fills the device"},
    {"scale", "scale-moving: one rank; mpirun -n N larmor bench scale-moving compares"},
};

START_TEST(quick_others)
{
    CLI(0, "bench %s --quick --backend cpu --threads 1 --repeats 1", others[_i].words);
    cli_has(cli.out, others[_i].expected);
    ck_assert_str_eq(cli.err, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_bench");
    TCase *t = tcase_create("bench");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, help_and_list);
    tcase_add_loop_test(t, wrong_input, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(t, case_for_a_gpu);
    tcase_add_test(t, quick_step);
    tcase_add_loop_test(t, quick_others, 0, sizeof others / sizeof *others);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
