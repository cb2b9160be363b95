/* Who enters and leaves an open system, and what hits its surfaces, as the outputs tell it. */
#include <check.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>

#include "inside.h"
#include "cases.h"
#include "scratch.h"
#include "series_row.h"
#include "suite.h"

static const struct run_case open_case = {"open", "open.ini", {NULL}};

static const char *const one_thread[] = {"run.backend=cpu", "run.threads=1"};
static const char *const otherwise[] = {"run.backend=cpu", "run.threads=2", "run.tile=16", "run.sort_every=3"};

/* A simulation from a text, output into the scratch directory. */
static struct case_state text_open(const char *text)
{
    struct case_state s = {calloc(1, sizeof *s.config), NULL};
    make_file("case.ini", text);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), 2, one_thread, s.config), "%s", lm_error());
    snprintf(s.config->output.directory, sizeof s.config->output.directory, "%s", scratch);
    ck_assert_msg(!lm_sim_create(s.config, &s.sim) && !lm_sim_start(s.sim), "%s", lm_error());
    return s;
}

static void advance(struct case_state *s, int64_t to)
{
    while (s->sim->step < to)
        ck_assert_msg(!lm_sim_check(s->sim) && !lm_sim_step(s->sim), "%s", lm_error());
}

/* --- the time series --- */

static double value_of(const struct row *r, const char *account, const char *quantity, const char *species)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s_%s", account, quantity, species);
    return value(r, name);
}

/* Six columns of an account, from the integers of the ledger. */
static void check_account(struct lm_sim *sim, const struct row *r, int species, const char *name,
                          const struct lm_account *a)
{
    static const char *const momentum[3] = {"_momentum_x", "_momentum_y", "_momentum_z"};
    const struct lm_ledger *l = &sim->ledger[species];
    const struct lm_species_config *s = &sim->config->species[species];
    const double weight = sim->grid.dx * sim->grid.dy / s->particles_per_cell;
    ck_assert(value_of(r, name, "", s->name) == (double)a->number);
    ck_assert_double_eq_tol(value_of(r, name, "_weight", s->name), (double)a->number * weight, 1e-12);
    for (int d = 0; d < 3; d++)
        ck_assert_double_eq_tol(value_of(r, name, momentum[d], s->name),
                                s->mass * weight * ldexp((double)a->v[d], -l->exponent_v), 1e-12);
    ck_assert_double_eq_tol(value_of(r, name, "_energy", s->name),
                            0.5 * s->mass * weight * ldexp((double)a->v2, -l->exponent_v2), 1e-12);
    ck_assert(find(r, "leak_y_min_wind") == NULL && find(r, "body_mirror_wind") == NULL);
}

START_TEST(columns_are_those_of_the_ledger)
{
    static const struct {
        const char *name;
        int channel, of_heavy;
    } want[] = {{"leak_x_min", LM_X_MIN, 1},
                {"leak_x_max", LM_X_MAX, 1},
                {"body_moon", LM_SIDES, 1},
                {"energy_stopped", LM_ENERGY_STOPPED, 0},
                {"theta_boundary", LM_THETA_BOUNDARY, 0},
                {"theta_cutoff", LM_THETA_CUTOFF, 0}};
    struct case_state s = case_open(&open_case, 2, one_thread, NULL);
    case_advance(&open_case, &s, 60);
    struct row r = row_of(s.sim);
    int ledger_columns = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t lost = 0;
        for (size_t n = 0; n < sizeof want / sizeof *want; n++) {
            if (k == 1 && !want[n].of_heavy)
                continue;
            const struct lm_account *a = &s.sim->ledger[k].lost[want[n].channel];
            ck_assert_uint_gt(a->number, 10); /* the case uses it */
            check_account(s.sim, &r, k, want[n].name, a);
            lost += a->number;
            ledger_columns += 6;
        }
        const struct lm_account *in = &s.sim->ledger[k].injected[LM_X_MIN];
        check_account(s.sim, &r, k, "injected_x_min", in);
        const char *name = s.config->species[k].name;
        ck_assert_uint_eq(s.sim->ledger[k].loaded + in->number - lost, s.sim->count[k]);
        ck_assert(value_of(&r, "present", "", name) == (double)s.sim->count[k]);
        ck_assert(value_of(&r, "ledger_residual", "", name) == 0);
        ledger_columns += 6 + 2;
    }
    ck_assert_int_eq(r.count, 15 + 2 * 4 + ledger_columns);
    ck_assert_str_eq(find(&r, "body_moon_weight_wind")->unit, "n0 d_i^2");
    ck_assert_str_eq(find(&r, "body_moon_momentum_z_wind")->unit, "n0 m_p v_A d_i^2");
    ck_assert_str_eq(find(&r, "injected_x_min_energy_wind")->unit, "n0 m_p v_A^2 d_i^2");
    ck_assert(find(&r, "theta_cutoff_wind")->whole && !find(&r, "theta_cutoff_energy_wind")->whole);
    free(r.columns);
    case_close(&s);
}
END_TEST

START_TEST(closed_runs_have_no_such_columns)
{
    static const struct run_case mix = {"mix", "mix.ini", {NULL}};
    struct case_state s = case_open(&mix, 2, one_thread, NULL);
    struct row r = row_of(s.sim);
    ck_assert_int_eq(r.count, 15 + 4 * s.config->species_count);
    free(r.columns);
    case_close(&s);
}
END_TEST

#define BEAM(particles, more)                                                                                          \
    "[run]\nsteps = 100\ndt = 0.05\n[grid]\nnx = 8\nny = 6\nlx = 2\nly = 3\n[fields]\nsolver = none\n"                 \
    "[species.p]\nmass = 3\nparticles_per_cell = " particles                                                           \
    "\ntemperature = 0\ndrift_x = 0.75\ndrift_y = -0.3\ndrift_z = 0.1\n" more

/* All leave with the velocity they were given: 4 cells a column of 6, each of 1/2 x 1/4, leave in the end. */
START_TEST(momentum_and_energy_to_the_rounding_unit)
{
    struct case_state s = text_open(BEAM("1", "[boundary]\nx_min = absorbing\nx_max = absorbing\n"));
    const struct lm_ledger *l = &s.sim->ledger[0];
    advance(&s, 1);
    const double unit_v = ldexp(1, -s.sim->pass[0].tally_v), unit_v2 = ldexp(1, -s.sim->pass[0].tally_v2);
    ck_assert_double_lt(unit_v, 1e-12);
    advance(&s, 100);
    struct row r = row_of(s.sim);
    const double weight = 0.125, n = 48;
    ck_assert_uint_eq(l->lost[LM_X_MAX].number, 48);
    ck_assert(value(&r, "leak_x_max_p") == n && value(&r, "leak_x_min_p") == 0 && value(&r, "present_p") == 0);
    ck_assert(value(&r, "leak_x_max_weight_p") == n * weight);
    ck_assert(value(&r, "leak_x_min_energy_p") == 0);
    const double v[3] = {0.75, -0.3, 0.1};
    for (int d = 0; d < 3; d++) {
        char name[64];
        snprintf(name, sizeof name, "leak_x_max_momentum_%c_p", "xyz"[d]);
        ck_assert_double_eq_tol(value(&r, name), 3 * weight * n * v[d], 3 * weight * n * unit_v);
    }
    const double v2 = 0.75 * 0.75 + 0.3 * 0.3 + 0.1 * 0.1;
    ck_assert_double_eq_tol(value(&r, "leak_x_max_energy_p"), 1.5 * weight * n * v2, 1.5 * weight * n * unit_v2);
    free(r.columns);
    case_close(&s);
}
END_TEST

#define LONG_NAME "a23456789_123456789_123456789_1"

START_TEST(the_longest_names_are_whole)
{
    struct case_state s =
        text_open("[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n[fields]\nsolver = none\n"
                  "[species." LONG_NAME "]\nparticles_per_cell = 4\n[body." LONG_NAME
                  "]\nshape = disk\nx = 4\ny = 4\nradius = 1\n");
    struct row r = row_of(s.sim);
    ck_assert_ptr_nonnull(find(&r, "body_" LONG_NAME "_momentum_z_" LONG_NAME));
    free(r.columns);
    case_close(&s);
}
END_TEST

/* The weight of what the body `a` takes of p, and the number of what it takes of weight_p. */
START_TEST(two_columns_of_one_name_are_refused)
{
    struct case_state s =
        text_open("[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n[fields]\nsolver = none\n"
                  "[species.p]\nparticles_per_cell = 4\n[species.weight_p]\nparticles_per_cell = 4\n"
                  "[body.a]\nshape = disk\nx = 4\ny = 4\nradius = 1\n");
    struct lm_series_column *columns;
    int count;
    ck_assert_int_eq(lm_row_columns(s.config, &count, &columns), LM_BAD_INPUT);
    assert_error_has("the name body_a_weight_p");
    free(columns);
    struct lm_run_options options = {.quiet = 1};
    lm_path(s.config->output.directory, "%s/refused", scratch);
    ck_assert_int_eq(lm_run(s.config, &options), LM_BAD_INPUT);
    ck_assert_int_ne(access(scratch_path("refused"), F_OK), 0);
    case_close(&s);
}
END_TEST

/* --- restarts --- */

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

/* The path of a checkpoint of the case at a step. */
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
        {"species.wind.energy_cutoff=0", "species wind can leave by energy_stopped there, and cannot in the run"},
        {"species.heavy.scattering=0.1", "species heavy cannot leave by theta_cutoff there, and can in the run"},
        {"species.heavy.pitch_min=10", "species heavy cannot leave by theta_boundary there"}};
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

/* --- maps --- */

/* A map file's dataset as doubles; its length. */
static hsize_t read_list(hid_t file, const char *name, double *out, hsize_t room)
{
    hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
    ck_assert_msg(data >= 0, "no dataset %s", name);
    hid_t space = H5Dget_space(data);
    hsize_t n = (hsize_t)H5Sget_simple_extent_npoints(space);
    ck_assert_uint_le(n, room);
    ck_assert_int_ge(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out), 0);
    H5Sclose(space);
    H5Dclose(data);
    return n;
}

enum { ROOM = 200000 };

static double sum_of(hid_t file, const char *name)
{
    static double values[ROOM];
    double sum = 0;
    hsize_t n = read_list(file, name, values, ROOM);
    for (hsize_t k = 0; k < n; k++)
        sum += values[k];
    return sum;
}

static hid_t open_maps(struct lm_sim *sim)
{
    char name[64];
    ck_assert_msg(!lm_output_maps(sim, sim->config), "%s", lm_error());
    snprintf(name, sizeof name, "maps/maps_%08d.h5", (int)sim->step);
    hid_t file = H5Fopen(scratch_path(name), H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    return file;
}

START_TEST(maps_hold_all_that_was_lost)
{
    struct case_state s = case_open(&open_case, 2, one_thread, NULL);
    snprintf(s.config->output.directory, sizeof s.config->output.directory, "%s", scratch);
    s.config->output.compress = _i ? 6 : 0;
    case_advance(&open_case, &s, 60);
    hid_t file = open_maps(s.sim);
    static const char *const surfaces[3] = {"x_min", "x_max", "body_moon"};
    static const int channels[3] = {LM_X_MIN, LM_X_MAX, LM_SIDES};
    for (int k = 0; k < 2; k++) {
        char name[64];
        for (int n = 0; n < 3; n++) {
            snprintf(name, sizeof name, "%s/hits_%s", surfaces[n], s.config->species[k].name);
            ck_assert(sum_of(file, name) == (double)s.sim->ledger[k].lost[channels[n]].number);
        }
        snprintf(name, sizeof name, "body_warm/hits_%s", s.config->species[k].name);
        ck_assert(sum_of(file, name) > 100); /* re-emitted ones count too */
    }
    ck_assert_int_le(H5Lexists(file, "body_moon/hits_sun", H5P_DEFAULT), 0);
    H5Fclose(file);
    case_close(&s);
}
END_TEST

/* Bins of a map of one species: 9 of 10 degrees, and 0, (0.1, 1), (1, 10), above. */
#define BINS "[output]\nmap_angles = 9\nmap_energies = 2\nmap_energy_min = 0.1\nmap_energy_max = 10\n"
enum { ANGLES = 9, ENERGIES = 4 };

/* Hits on face `face` of a map, all of which must lie in one bin. */
static double hits_in(const double *map, hsize_t face, int angle, int energy)
{
    double sum = 0;
    const double *here = map + face * ANGLES * ENERGIES;
    for (int k = 0; k < ANGLES * ENERGIES; k++)
        sum += here[k];
    ck_assert_msg(here[angle * ENERGIES + energy] == sum, "face %d: %g hits, %g in the bin", (int)face, sum,
                  here[angle * ENERGIES + energy]);
    return sum;
}

/* tan = 0.4: 21.8 degrees from the normal of x, 68.2 from that of y; energy 3/2 (0.5625 + 0.09 + 0.01) = 0.99. */
START_TEST(a_beam_fills_one_bin_of_a_side)
{
    static double map[ROOM], x[ROOM], y[ROOM], normal[ROOM];
    struct case_state s = text_open(BEAM("5", "[boundary]\nx_min = absorbing\nx_max = absorbing\n" BINS));
    advance(&s, 100);
    hid_t file = open_maps(s.sim);
    ck_assert_uint_eq(read_list(file, "x_max/hits_p", map, ROOM), 6 * ANGLES * ENERGIES);
    double sum = 0;
    for (hsize_t face = 0; face < 6; face++)
        sum += hits_in(map, face, 2, 1);
    ck_assert(sum == 5 * 48);
    ck_assert(sum_of(file, "x_min/hits_p") == 0);
    read_list(file, "x_max/x", x, ROOM);
    read_list(file, "x_max/y", y, ROOM);
    read_list(file, "x_max/normal_x", normal, ROOM);
    for (int face = 0; face < 6; face++)
        ck_assert(x[face] == 2 && y[face] == 0.25 + 0.5 * face && normal[face] == -1);
    ck_assert_uint_eq(read_list(file, "angle_edges", x, ROOM), 10);
    ck_assert(x[0] == 0 && x[2] == 20 && x[9] == 90);
    ck_assert_uint_eq(read_list(file, "energy_edges", x, ROOM), 3);
    ck_assert_double_eq_tol(x[1], 1, 1e-12);
    H5Fclose(file);
    case_close(&s);
}
END_TEST

/* The beam comes from the left and from above; cells are 1/4 x 1/2, the box has 3 x 2 of them. */
START_TEST(a_beam_fills_one_bin_of_each_face_of_a_box)
{
    static double map[ROOM], column[5][ROOM];
    static const char *const names[5] = {"x", "y", "normal_x", "normal_y", "length"};
    struct case_state s =
        text_open(BEAM("40", "[body.box]\nshape = box\nx = 1.125\ny = 1.5\nwidth = 0.75\nheight = 1\n" BINS));
    advance(&s, 60);
    hid_t file = open_maps(s.sim);
    ck_assert_uint_eq(read_list(file, "body_box/hits_p", map, ROOM), 10 * ANGLES * ENERGIES);
    for (int k = 0; k < 5; k++) {
        char name[64];
        snprintf(name, sizeof name, "body_box/%s", names[k]);
        ck_assert_uint_eq(read_list(file, name, column[k], ROOM), 10);
    }
    double sum = 0;
    for (hsize_t face = 0; face < 10; face++) {
        const double px = column[0][face], py = column[1][face], nx = column[2][face], ny = column[3][face];
        const int left = nx == -1, top = ny == 1;
        ck_assert(nx * nx + ny * ny == 1 && column[4][face] == (nx != 0 ? 0.5 : 0.25));
        ck_assert(nx == 0 || (px == (nx > 0 ? 1.5 : 0.75) && (py == 1.25 || py == 1.75)));
        ck_assert(ny == 0 || (py == (ny > 0 ? 2 : 1) && (px == 0.875 || px == 1.125 || px == 1.375)));
        double hits = hits_in(map, face, left ? 2 : 6, 1);
        ck_assert_msg((hits > 0) == (left || top), "face at %g, %g: %g hits", px, py, hits);
        sum += hits;
    }
    ck_assert(sum == (double)s.sim->ledger[0].lost[LM_SIDES].number);
    H5Fclose(file);
    case_close(&s);
}
END_TEST

/* --- the files of a run --- */

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

/* Maps of step 60 in two directories. */
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
        hsize_t n = read_list(f, name, one, ROOM);
        ck_assert_uint_eq(read_list(g, name, two, ROOM), n);
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
    ck_assert_msg(strstr(info, "maps of hits, 18 angles, 34 energies") && strstr(info, "body_moon") &&
                      strstr(info, "absorbing, 40 faces, hits heavy"),
                  "%s", info);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("accounts");
    TCase *t = tcase_create("accounts");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, columns_are_those_of_the_ledger);
    tcase_add_test(t, closed_runs_have_no_such_columns);
    tcase_add_test(t, momentum_and_energy_to_the_rounding_unit);
    tcase_add_test(t, the_longest_names_are_whole);
    tcase_add_test(t, two_columns_of_one_name_are_refused);
    tcase_add_loop_test(t, a_restart_ends_the_same, 0, 2);
    tcase_add_test(t, another_system_is_refused);
    tcase_add_loop_test(t, maps_hold_all_that_was_lost, 0, 2);
    tcase_add_test(t, a_beam_fills_one_bin_of_a_side);
    tcase_add_test(t, a_beam_fills_one_bin_of_each_face_of_a_box);
    tcase_add_test(t, files_of_a_run_and_of_its_restart);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
