/* The ledger and the maps of hits of an open system, after a restart and in the files of a run. */
#include <check.h>
#include <hdf5.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inside.h"
#include "cases.h"
#include "open_system.h"
#include "scratch.h"
#include "series_row.h"
#include "suite.h"

static const char *const otherwise[] = {"run.backend=cpu", "run.threads=2", "run.tile=16", "run.sort_every=3"};

static uint64_t *map_of(struct lm_sim *sim, int species, uint64_t *size)
{
    *size = lm_map_size(&sim->maps);
    uint64_t *map = calloc(*size + 1, sizeof *map);
    ck_assert_msg(!sim->backend->ops->get_map(sim->backend, species, map), "%s", lm_error());
    return map;
}

static void same_maps(struct lm_sim *a, struct lm_sim *b, int species)
{
    uint64_t n, m, sum = 0, *one = map_of(a, species, &n), *two = map_of(b, species, &m);
    ck_assert_uint_eq(n, m);
    for (uint64_t k = 0; k < n; k++)
        sum += one[k];
    ck_assert_uint_gt(sum, 1000);
    ck_assert_mem_eq(one, two, n * sizeof *one);
    free(one);
    free(two);
}

static void same_account(const struct lm_account *a, const struct lm_account *b)
{
    ck_assert_uint_eq(a->number, b->number);
    ck_assert(a->v[0] == b->v[0] && a->v[1] == b->v[1] && a->v[2] == b->v[2] && a->v2 == b->v2);
}

static void same_row(struct lm_sim *a, struct lm_sim *b)
{
    struct row one = row_of(a), two = row_of(b);
    for (int c = 0; c < one.count; c++)
        ck_assert_msg(one.values[c] == two.values[c], "step %d, %s: %.17g, %.17g", (int)a->step, one.columns[c].name,
                      one.values[c], two.values[c]);
    free(one.columns);
    free(two.columns);
}

/* Writes a checkpoint of the case at a step, and its path. */
static void save_at(int64_t step, char *path)
{
    const struct lm_references none = {0};
    struct case_state s = case_open(&open_case, 2, one_thread, NULL);
    case_advance(&open_case, &s, step);
    snprintf(s.config->output.directory, sizeof s.config->output.directory, "%s", scratch);
    ck_assert_msg(!lm_sim_save(s.sim, &none, 0, path), "%s", lm_error());
    case_close(&s);
}

START_TEST(a_restart_ends_the_same)
{
    const int64_t middle = _i ? 1 : 23;
    char path[LM_MAX_PATH];
    save_at(middle, path);
    struct case_state a = case_open(&open_case, 2, one_thread, NULL);
    struct case_state b = case_open(&open_case, 4, otherwise, path);
    case_advance(&open_case, &a, middle);
    ck_assert_int_eq(b.sim->step, middle);
    for (int64_t step = middle + 1; step <= 60; step++) {
        uint64_t print = case_advance(&open_case, &a, step);
        ck_assert_uint_eq(case_advance(&open_case, &b, step), print);
        same_row(a.sim, b.sim);
    }
    for (int s = 0; s < 2; s++) {
        same_maps(a.sim, b.sim, s);
        ck_assert_uint_eq(a.sim->ledger[s].loaded, b.sim->ledger[s].loaded);
        for (int k = 0; k < LM_ENTRANCES; k++)
            same_account(&a.sim->ledger[s].injected[k], &b.sim->ledger[s].injected[k]);
        for (int k = 0; k < LM_CHANNELS; k++)
            same_account(&a.sim->ledger[s].lost[k], &b.sim->ledger[s].lost[k]);
    }
    case_close(&a);
    case_close(&b);
}
END_TEST

START_TEST(another_system_is_refused)
{
    static const char *const changed[][2] = {
        {"boundary.x_max=reflecting", "absorbing particles at x_max; the run has reflecting"},
        {"boundary.y_max=absorbing", "reflecting particles at y_max; the run has absorbing"},
        {"body.moon.radius=1.5", "bodies have other cells"},
        {"body.moon.x=6.5", "bodies have other cells"},
        {"body.moon.particles=reflecting", "body 1 is 'moon' there (absorbing), 'moon' (reflecting) in the run"},
        {"output.map_angles=9", "maps of 18 angles and 32 energies from 0.001"},
        {"output.map_angles=0", "the run has no maps"},
        {"output.map_energies=31", "maps of 18 angles and 32 energies"},
        {"output.map_energy_max=999", "maps of 18 angles and 32 energies"},
        {"species.wind.lost_below_energy=0", "species wind can leave by energy_stopped there, and cannot in the run"},
        {"species.heavy.scattering_rate=0.1", "species heavy cannot leave by theta_cutoff there, and can in the run"},
        {"species.heavy.lost_below_pitch=10", "species heavy cannot leave by theta_boundary there"}};
    char path[LM_MAX_PATH];
    save_at(5, path);
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++) {
        const char *const more[] = {"run.backend=cpu", changed[k][0]};
        struct lm_config *c = calloc(1, sizeof *c);
        struct lm_checkpoint head;
        struct lm_sim *sim;
        case_config(&open_case, 2, more, c);
        ck_assert_msg(!lm_sim_create(c, &sim), "%s", lm_error());
        ck_assert_msg(restore_checkpoint(sim, path, &head) == LM_BAD_INPUT, "%s is accepted", changed[k][0]);
        assert_error_has(path);
        assert_error_has(changed[k][1]);
        lm_sim_destroy(&sim);
        lm_config_free(c);
        free(c);
    }
}
END_TEST

static double number_at(const json_t *ledger, const char *list, const char *account, const char *what)
{
    const json_t *a = json_object_get(json_object_get(ledger, list), account);
    ck_assert_msg(a != NULL, "run.json: no %s of %s", account, list);
    return json_number_value(json_object_get(a, what));
}

static json_t *run_json(const char *directory, const char *restart)
{
    static const char *const more[] = {"run.backend=cpu", "output.checkpoint_every=20", "output.maps_every=40"};
    struct lm_run_options options = {.quiet = 1, .restart = restart};
    struct lm_config *c = calloc(1, sizeof *c);
    char path[LM_MAX_PATH];
    case_config(&open_case, 3, more, c);
    lm_path(c->output.directory, "%s/%s", scratch, directory);
    ck_assert_msg(!lm_run(c, &options), "%s", lm_error());
    lm_path(path, "%s/run.json", c->output.directory);
    json_t *j = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(j);
    lm_config_free(c);
    free(c);
    return j;
}

/* The maps of step 60 in two directories must be the same. */
static void same_map_files(const char *a, const char *b)
{
    static const char *const surfaces[] = {"x_min", "x_max", "y_min", "y_max", "body_moon", "body_mirror", "body_warm"};
    static const char *const species[] = {"wind", "heavy"};
    static double one[ROOM], two[ROOM];
    char name[64];
    snprintf(name, sizeof name, "%s/maps/maps_00000060.h5", a);
    hid_t f = H5Fopen(scratch_path(name), H5F_ACC_RDONLY, H5P_DEFAULT);
    snprintf(name, sizeof name, "%s/maps/maps_00000060.h5", b);
    hid_t g = H5Fopen(scratch_path(name), H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert(f >= 0 && g >= 0);
    for (int k = 0; k < 14; k++) {
        snprintf(name, sizeof name, "%s/hits_%s", surfaces[k / 2], species[k % 2]);
        hsize_t n = read_dataset(f, name, H5T_NATIVE_DOUBLE, ROOM, one);
        ck_assert_uint_eq(read_dataset(g, name, H5T_NATIVE_DOUBLE, ROOM, two), n);
        ck_assert_mem_eq(one, two, n * sizeof *one);
    }
    H5Fclose(f);
    H5Fclose(g);
}

START_TEST(files_of_a_run_and_of_its_restart)
{
    char path[LM_MAX_PATH], info[4096] = "";
    json_t *whole = run_json("whole", NULL);
    lm_path(path, "%s/whole/checkpoints/checkpoint_00000040.h5", scratch);
    json_t *part = run_json("part", path);
    ck_assert(json_equal(json_object_get(whole, "species"), json_object_get(part, "species")));
    ck_assert(json_equal(json_object_get(whole, "ledger"), json_object_get(part, "ledger")));
    const json_t *all = json_object_get(whole, "ledger");
    ck_assert_int_eq(json_integer_value(json_object_get(all, "residual")), 0);
    const json_t *wind = json_object_get(json_array_get(json_object_get(whole, "species"), 0), "ledger");
    double present =
        number_at(wind, "injected", "x_min", "number") + (double)json_integer_value(json_object_get(wind, "loaded"));
    static const char *const lost[] = {"x_min",          "x_max",          "body_moon",
                                       "energy_stopped", "theta_boundary", "theta_cutoff"};
    for (int k = 0; k < 6; k++)
        present -= number_at(wind, "lost", lost[k], "number");
    ck_assert(present == (double)json_integer_value(json_object_get(wind, "present")));
    ck_assert(number_at(wind, "lost", "body_moon", "energy") > 0);
    ck_assert_uint_eq(json_object_size(json_object_get(wind, "lost")), 6);
    ck_assert_uint_eq(json_object_size(json_object_get(wind, "injected")), 1);
    json_decref(whole);
    json_decref(part);
    same_map_files("whole", "part");
    ck_assert(access(scratch_path("whole/maps/maps_00000040.h5"), F_OK) == 0);
    FILE *out = fmemopen(info, sizeof info, "w");
    ck_assert_int_eq(lm_info_print(scratch_path("whole/maps/maps_00000060.h5"), out), LM_OK);
    fclose(out);
    /* The circle has a radius of 4.8 cells around a corner, and crosses nine lines of the grid each way twice. */
    ck_assert_msg(strstr(info, "maps of hits, 18 angles, 34 energies") && strstr(info, "body_moon") &&
                      strstr(info, "absorbing, 36 faces, hits heavy"),
                  "%s", info);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger, restarts");
    TCase *t = tcase_create("ledger, restarts");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, a_restart_ends_the_same, 0, 2);
    tcase_add_test(t, another_system_is_refused);
    tcase_add_test(t, files_of_a_run_and_of_its_restart);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
