/* Background fields in the outputs of a run, in `larmor check`, and in memory. */
#include <check.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background_run.h"
#include "inside.h"
#include "larmor/physics/fluid/opening.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

START_TEST(columns)
{
    struct lm_sim *sim = sim_new(open_text, NULL);
    advance(sim, 20);
    struct row r = row_of(sim);
    const double cell = 0.25 * 0.25;
    const struct lm_background_ledger *l = &sim->background[1].ledger;
    const double scale = cell * ldexp(1, -l->exponent);
    require_near(value(&r, "background_gas_total"), (double)l->total * scale, 1e-12);
    require_near(value(&r, "background_gas_entered_x_min"), (double)l->entered[LM_X_MIN] * scale, 1e-12);
    require_near(value(&r, "background_gas_entered_x_max"), (double)l->entered[LM_X_MAX] * scale, 1e-12);
    require_near(value(&r, "background_gas_source"), (double)l->source * scale, 1e-12);
    ck_assert(value(&r, "background_gas_min") == sim->background[1].least);
    ck_assert(value(&r, "background_gas_max") == sim->background[1].most);
    ck_assert(value(&r, "background_heat_substeps") == (double)sim->background[2].substeps);
    ck_assert(value(&r, "background_dye_residual") == 0);
    ck_assert_str_eq(find(&r, "background_gas_total")->unit, "n0 d_i^2");
    ck_assert_str_eq(find(&r, "background_dye_total")->unit, "d_i^2");
    ck_assert_str_eq(find(&r, "background_gas_max")->unit, "n0");
    ck_assert_str_eq(find(&r, "background_dye_max")->unit, "");
    ck_assert_ptr_null(find(&r, "background_dye_source"));
    ck_assert_ptr_null(find(&r, "background_heat_entered_x_min"));
    ck_assert_ptr_null(find(&r, "background_gas_entered_y_min"));
    /* By hand: the source is t in the half of the domain above y = 2, except in half of the body. Chords make this
     * smaller by up to h^2/4R on each side. */
    const double out = 0.5 * M_PI * 0.8 * 0.8, chords = M_PI * 0.25 * 0.25 / 4;
    require_near(value(&r, "background_gas_source"), (12 - out) * 0.5, chords * 0.5);
    double cells = 0;
    for (int j = 8; j < 16; j++)
        for (int i = 0; i < 24; i++)
            cells += sim->mask[j * 24 + i] ? 0 : lm_volume_at(sim->cuts.open, (long)lm_at(&sim->grid, i, j));
    require_near(value(&r, "background_gas_source"), cells * cell * 0.5, 1e-9);
    free(r.columns);
    sim->background[0].ledger.total -= 3;
    r = row_of(sim);
    ck_assert(value(&r, "background_dye_residual") == 3);
    free(r.columns);
    sim_free(sim);
}
END_TEST

START_TEST(colliding_names_are_refused)
{
    struct lm_config *c = config_new(text_with(open_text, "[background.heat]", "[background.dye_entered_x]"), NULL);
    struct lm_series_column *columns = NULL;
    int count;
    ck_assert_int_eq(lm_row_columns(c, &count, &columns), LM_BAD_INPUT);
    assert_error_has("two columns of the time series the name background_dye_entered_x_m");
    free(columns);
    lm_config_free(c);
    free(c);
}
END_TEST

START_TEST(field_files)
{
    char text[8192];
    snprintf(text, sizeof text, "%s[units]\nb0 = 5e-9\nn0 = 5e6\n", open_text);
    struct lm_sim *sim = sim_new(text, NULL);
    output_here(sim);
    ck_assert_msg(!lm_output_fields(sim, sim->config, 0), "%s", lm_error());
    static double q[16 * 24], powers[7];
    const char *const names[] = {"dye", "gas"};
    hid_t file = H5Fopen(scratch_path("fields/data_00000000.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int k = 0; k < 2; k++) {
        char name[64];
        snprintf(name, sizeof name, "/data/0/meshes/background_%s", names[k]);
        hid_t data = H5Dopen2(file, name, H5P_DEFAULT), at = H5Aopen(data, "unitDimension", H5P_DEFAULT);
        ck_assert_int_ge(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q), 0);
        ck_assert_int_ge(H5Aread(at, H5T_NATIVE_DOUBLE, powers), 0);
        ck_assert(powers[0] == (k ? -3 : 0));
        double *a = array_of(sim, LM_BACKGROUND + k);
        for (int n = 0; n < 16 * 24; n++)
            require(q[n] == a[lm_at(&sim->grid, n % 24, n / 24)]);
        free(a);
        H5Aclose(at);
        H5Dclose(data);
    }
    H5Fclose(file);
    sim_free(sim);
}
END_TEST

START_TEST(told_of_a_checkpoint)
{
    char path[LM_MAX_PATH], *out = NULL;
    size_t length = 0;
    checkpoint_of(open_text, path);
    FILE *to = open_memstream(&out, &length);
    ck_assert_msg(!lm_info_print(path, to), "%s", lm_error());
    fclose(to);
    static const char *const parts[] = {"  background dye: tracer, total ", "  background gas: neutral gas, total ",
                                        " entered, ", "from the source", "background_heat "};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        ck_assert_msg(strstr(out, parts[k]) != NULL, "no '%s' in %s", parts[k], out);
    free(out);
}
END_TEST

START_TEST(summary)
{
    struct lm_config *c = config_new(open_text, "run.steps=10");
    const struct lm_run_options quiet = {.quiet = 1};
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch_path("out"));
    ck_assert_msg(!lm_run(c, &quiet), "%s", lm_error());
    json_error_t wrong;
    json_t *run = json_load_file(scratch_path("out/run.json"), 0, &wrong), *list = json_object_get(run, "backgrounds");
    ck_assert_int_eq((int)json_array_size(list), 3);
    json_t *gas = json_array_get(list, 1), *entered = json_object_get(gas, "entered");
    ck_assert_str_eq(json_string_value(json_object_get(gas, "name")), "gas");
    ck_assert_int_eq((int)json_integer_value(json_object_get(gas, "residual")), 0);
    double sum = 0;
    const char *const parts[] = {"loaded", "source", "rounded"};
    for (int k = 0; k < 3; k++)
        sum += json_number_value(json_object_get(gas, parts[k]));
    ck_assert_int_eq((int)json_object_size(entered), 2);
    sum += json_number_value(json_object_get(entered, "x_min")) + json_number_value(json_object_get(entered, "x_max"));
    require_near(sum, json_number_value(json_object_get(gas, "total")), 1e-10);
    ck_assert_double_gt(json_number_value(json_object_get(gas, "maximum")), 0.01);
    json_decref(run);
    lm_config_free(c);
    free(c);
}
END_TEST

static char *check_of(const char *text)
{
    char *out = NULL;
    size_t length = 0;
    struct lm_config *c = config_new(text, NULL);
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    lm_config_free(c);
    free(c);
    return out;
}

static void check_says(const char *more, const char *expected)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s\n", periodic_text, more);
    char *out = check_of(text);
    ck_assert_msg(strstr(out, expected) != NULL, "no \"%s\" in %s", expected, out);
    free(out);
}

START_TEST(checked)
{
    check_says("vx = 2", "q: tracer, weno 7, velocity prescribed; x_min periodic,");
    check_says("vx = 2", "    2 substeps in the first step\n");
    check_says("velocity = ion\ndiffusivity = 0.1", "    2 substeps or more in a step: they follow the flow\n");
    check_says("bounds = on\nmaximum = 3", "    1 substeps in the first step\n");
    check_says("vx = sin(2*pi*x/lx)\nbounds = on\nmaximum = 9", "its flow has a divergence");
    check_says("vx = 1\nbounds = on\nsource = -1", "its source may exceed the bounds");
    check_says("vx = 1e5", "so many substeps take long");
    char *out = check_of(open_text);
    ck_assert_ptr_null(strstr(out, "divergence"));
    free(out);
}
END_TEST

/* The memory that background fields need, counted by hand. */
START_TEST(memory)
{
    struct lm_config *c = config_new(open_text, NULL);
    struct lm_setup setup = lm_setup_of(c);
    const uint64_t counts[LM_MAX_SPECIES] = {1000};
    const double size = 8 * (double)setup.grid.size;
    for (int kind = LM_BACKEND_CPU; kind <= LM_BACKEND_CUDA; kind++) {
        const double all = lm_backend_bytes(kind, &setup, counts);
        setup.background_count = 0;
        const double none = lm_backend_bytes(kind, &setup, counts);
        /* arrays: 3 for dye, 2 for gas, 1 for heat, 4 for the flows; and for each cell 41 bytes: the clearance, and
         * what is open and passes */
        setup.background_count = 3;
        require_near(all - none, size * (kind == LM_BACKEND_CUDA ? 17.125 : 15.125), 1);
    }
    lm_config_free(c);
    free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("background fields, outputs");
    TCase *t = tcase_create("background fields, outputs");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, columns);
    tcase_add_test(t, colliding_names_are_refused);
    tcase_add_test(t, field_files);
    tcase_add_test(t, told_of_a_checkpoint);
    tcase_add_test(t, summary);
    tcase_add_test(t, checked);
    tcase_add_test(t, memory);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
