/* Ions that a run follows: the copy of an ion stays what the ion is, to the bit, in each case of cases.h. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "cli.h"
#include "dataset.h"
#include "larmor/physics/numerics/hash.h"
#include "sim_run.h"

enum { IONS = 40 };

/* Follows some ions of each species whose ions do not exchange heat. Returns the number of tracks. */
static int follow_all(struct lm_config *c)
{
    c->track_count = 0;
    for (int s = 0; s < c->species_count && c->track_count < LM_MAX_TRACKS; s++) {
        struct lm_track_config *t = &c->track[c->track_count];
        if (c->species[s].electron_heat_exchange_rate > 0)
            continue;
        *t =
            (struct lm_track_config){.count = IONS, .where = "1", .every = 1, .of = s, .start = c->track_count % 2 * 3};
        snprintf(t->name, sizeof t->name, "t%d", s);
        memcpy(t->species, c->species[s].name, sizeof t->species);
        c->track_count++;
    }
    return c->track_count;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The hashes of all particles of a species as they are stored, in ascending order. */
static uint64_t *hashes_of(struct lm_sim *sim, int species, uint64_t *count)
{
    ck_assert_int_eq(lm_sim_compact(sim), LM_OK);
    *count = sim->count[species];
    const int is_single = sim->config->particles.precision == LM_SINGLE;
    int64_t *x = malloc((2 * *count + 1) * sizeof *x), *y = x + *count;
    double *store = malloc((3 * *count + 1) * sizeof *store), *v[3] = {store, store + *count, store + 2 * *count};
    struct lm_raw_particles raw = {x, y, v[0], v[1], v[2]};
    ck_assert_int_eq(sim->backend->particles->get(sim->backend, species, 0, *count, raw), LM_OK);
    uint64_t *hash = malloc((*count + 1) * sizeof *hash);
    for (uint64_t k = 0; k < *count; k++) {
        double u[3];
        for (int d = 0; d < 3; d++)
            u[d] = is_single ? (double)((float *)(void *)v[d])[k] : v[d][k];
        hash[k] = lm_hash_particle(species, x[k], y[k], u[0], u[1], u[2]);
    }
    free(x);
    free(store);
    qsort(hash, *count, sizeof *hash, by_value);
    return hash;
}

/* Every ion of a track is one of the particles, or has left. Returns how many have left. */
static int compare(struct lm_sim *sim, int number, const char *name)
{
    const struct lm_track_config *t = &sim->config->track[number];
    const struct lm_tracked *ion;
    uint64_t count, particles, *hash = hashes_of(sim, t->of, &particles);
    int left = 0;
    ck_assert_int_eq(lm_sim_track(sim, number, &count, &ion), LM_OK);
    ck_assert_uint_eq(count, t->start > 0 || sim->count[t->of] > IONS ? count : IONS);
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t h = lm_hash_particle(t->of, ion[k].x, ion[k].y, ion[k].v[0], ion[k].v[1], ion[k].v[2]);
        const int is_there = bsearch(&h, hash, particles, sizeof *hash, by_value) != NULL;
        left += ion[k].channel >= 0;
        ck_assert_msg(is_there == (ion[k].channel < 0),
                      "%s, species %s: ion %d of %d, channel %d: %s among the particles", name, t->species, (int)k,
                      (int)count, (int)ion[k].channel, is_there ? "is" : "is not");
    }
    free(hash);
    return left;
}

/* The ions of all species, through collisions, walls, bodies and sorts, on all threads. Some cases run to their end,
 * where the fingerprint shows that tracks change no result. */
START_TEST(copies_stay_the_ions)
{
    const struct run_case *c = &run_cases[_i];
    struct case_state s = {calloc(1, sizeof *s.config), NULL};
    case_config(c, 0, NULL, s.config);
    const int tracks = follow_all(s.config), to_the_end = _i % 20 == 0 && !SANITIZED;
    ck_assert_msg(!lm_sim_create(s.config, &s.sim) && !lm_sim_start(s.sim), "%s: %s", c->name, lm_error());
    const uint64_t print = case_advance(c, &s, to_the_end ? INT64_MAX : 25);
    for (int k = 0; k < tracks; k++)
        compare(s.sim, k, c->name);
    if (to_the_end)
        ck_assert_uint_eq(print, golden_of(c->name));
    case_close(&s);
}
END_TEST

/* --- orbits --- */

#define BOX "[run]\nsteps = 400\ndt = 0.05\nseed = 5\n[grid]\nnx = 12\nny = 10\nlx = 3\nly = 2.5\n"
#define GIVEN_B "[fields]\nsolver = none\nbx = 0.3\nby = 0.4\nbz = 1.2\n"
static const char gyration[] = BOX GIVEN_B "[species.p]\nmass = 2\nparticles_per_cell = 4\ntemperature = 1\n"
                                           "[track.o]\nspecies = p\ncount = 20\n";

/* The angle by which the Boris rotation turns a velocity about B: 2 atan(Z/m B dt/2). */
static double turn_in_a_step(double charge_to_mass, double b, double dt)
{
    return 2 * atan(0.5 * charge_to_mass * b * dt);
}

/* In a uniform B without E every ion goes round a circle and along B: after n steps its velocity has turned by n times
 * the angle of a step, and it has moved by dt times the sum of its velocities, however often it has crossed periodic
 * sides. */
START_TEST(gyration_in_uniform_b)
{
    enum { STEPS = 300 };
    struct lm_sim *sim = sim_new(gyration, NULL);
    const struct lm_tracked *ion;
    const double dt = 0.05, b[3] = {0.3, 0.4, 1.2}, size = 1.3, angle = STEPS * turn_in_a_step(0.5, size, dt);
    double v0[20][3], x0[20][2], sum[20][2] = {{0}}, most_turns = 0;
    uint64_t count;
    for (int n = 0; n <= STEPS; n++) {
        if (n > 0)
            advance(sim, n);
        ck_assert(!lm_sim_track(sim, 0, &count, &ion) && count == 20);
        for (int k = 0; k < 20; k++) {
            const double at[2] = {ldexp((double)ion[k].x, -48) * 0.25 + 3 * (double)ion[k].turns[0],
                                  ldexp((double)ion[k].y, -48) * 0.25 + 2.5 * (double)ion[k].turns[1]};
            for (int d = 0; d < 2; d++) {
                x0[k][d] = n == 0 ? at[d] : x0[k][d];
                sum[k][d] += n == 0 ? 0 : dt * ion[k].v[d];
                ck_assert_double_eq_tol(at[d] - x0[k][d], sum[k][d], 1e-9);
                most_turns = fmax(most_turns, fabs((double)ion[k].turns[d]));
            }
            for (int d = 0; d < 3; d++) {
                v0[k][d] = n == 0 ? ion[k].v[d] : v0[k][d];
                ck_assert_double_eq_tol(ion[k].b[d], b[d], 1e-12);
                ck_assert_double_eq_tol(ion[k].e[d], 0, 1e-12);
            }
        }
    }
    ck_assert_double_ge(most_turns, 3);
    for (int k = 0; k < 20; k++) { /* the rotation of v0 about b, clockwise */
        const double *v = v0[k], along = (v[0] * b[0] + v[1] * b[1] + v[2] * b[2]) / size;
        const double cross[3] = {v[1] * b[2] - v[2] * b[1], v[2] * b[0] - v[0] * b[2], v[0] * b[1] - v[1] * b[0]};
        for (int d = 0; d < 3; d++) {
            const double parallel = along * b[d] / size;
            const double expected = parallel + (v[d] - parallel) * cos(angle) + cross[d] / size * sin(angle);
            ck_assert_double_eq_tol(ion[k].v[d], expected, 1e-10);
        }
    }
    sim_free(sim);
}
END_TEST

/* --- which ions --- */

static const char choosing[] = BOX "[electrons]\ntemperature = 0.3\n[fields]\nbz = 1\n[const]\nvx = 7\n"
                                   "[species.a]\nparticles_per_cell = 30\ntemperature = 0.5\n"
                                   "[species.p]\nparticles_per_cell = 40\ntemperature = 0.5\n"
                                   "[track.fast]\nspecies = p\ncount = 50\nwhere = x > 1 && vx > 0.5 && vx < 7\n"
                                   "[track.all]\nspecies = p\ncount = 100000\n"
                                   "[track.none]\nspecies = a\nwhere = vz > 100\n"
                                   "[track.late]\nspecies = a\ncount = 3\nstart = 4\n";

/* `where` sees the ion, and no constant of the name of a velocity. */
START_TEST(the_chosen_ions)
{
    struct lm_sim *sim = sim_new(choosing, "run.seed=9"), *other = sim_new(choosing, "run.seed=10");
    const struct lm_tracked *ion, *twin;
    uint64_t count, of_twin;
    int same = 0;
    ck_assert(!lm_sim_track(sim, 0, &count, &ion) && count == 50);
    ck_assert(!lm_sim_track(other, 0, &of_twin, &twin) && of_twin == 50);
    for (int k = 0; k < 50; k++) {
        ck_assert_double_gt(ldexp((double)ion[k].x, -48) * 0.25, 1);
        ck_assert(ion[k].v[0] > 0.5 && ion[k].v[0] < 7);
        same += ion[k].x == twin[k].x;
    }
    ck_assert_int_lt(same, 5);
    ck_assert(!lm_sim_track(sim, 1, &count, &ion) && count == sim->count[1]);
    for (uint64_t k = 1; k < count; k++)
        ck_assert(memcmp(&ion[k], &ion[k - 1], sizeof *ion));
    ck_assert(!lm_sim_track(sim, 2, &count, &ion) && count == 0);
    ck_assert(!lm_sim_track(sim, 3, &count, &ion) && count == 0);
    advance(sim, 4);
    ck_assert(!lm_sim_track(sim, 3, &count, &ion) && count == 3);
    sim_free(sim);
    sim_free(other);
}
END_TEST

/* --- files, and restarts --- */

static const char leaving[] = "[run]\nsteps = 60\ndt = 0.05\nthreads = 1\nbackend = cpu\n"
                              "[grid]\nnx = 12\nny = 8\nlx = 3\nly = 2\n"
                              "[boundary]\nx_min = absorbing\nx_max = reflecting\n[electrons]\ntemperature = 0.5\n"
                              "[fields]\nbx = 1\n[species.p]\nparticles_per_cell = 40\ntemperature = 0.5\n"
                              "[track.o]\nspecies = p\ncount = 30\nevery = 2\n"
                              "[track.late]\nspecies = p\ncount = 4\nstart = 31\n"
                              "[output]\ncheckpoint_every = 25\nkeep = 9\n";

enum { MOST_ROWS = 64, MOST_IONS = 30 };
static const char *const names[] = {"x", "y", "vx", "vy", "vz", "ex", "ey", "ez", "bx", "by", "bz"};
enum { NAMES = sizeof names / sizeof *names };

/* All files of a track, one after the other. */
struct orbits {
    int rows, ions;
    int64_t step[MOST_ROWS], left[MOST_IONS];
    double value[NAMES][MOST_ROWS * MOST_IONS];
};

static struct orbits *read_orbits(const char *pattern)
{
    struct orbits *o = calloc(1, sizeof *o);
    glob_t files;
    ck_assert_int_eq(glob(scratch_path(pattern), 0, NULL, &files), 0); /* in the order of the steps */
    for (size_t k = 0; k < files.gl_pathc; k++) {
        const hid_t file = open_h5(files.gl_pathv[k]);
        const hsize_t room = (hsize_t)(MOST_ROWS - o->rows);
        const int rows = (int)read_dataset(file, "step", H5T_NATIVE_INT64, room, o->step + o->rows);
        o->ions = (int)read_dataset(file, "left", H5T_NATIVE_INT64, MOST_IONS, o->left);
        for (int n = 0; n < o->ions; n++)
            ck_assert(o->left[n] >= -1 && o->left[n] <= 60);
        for (int c = 0; c < NAMES; c++)
            read_dataset(file, names[c], H5T_NATIVE_DOUBLE, room * (hsize_t)o->ions, o->value[c] + o->rows * o->ions);
        o->rows += rows;
        H5Fclose(file);
    }
    globfree(&files);
    return o;
}

/* An ion that has left is NaN from that step on, and only then. Returns how many have left. */
static int check_left(const struct orbits *o)
{
    int left = 0;
    for (int k = 0; k < o->ions; k++) {
        left += o->left[k] >= 0;
        for (int row = 0; row < o->rows; row++)
            for (int c = 0; c < NAMES; c++)
                ck_assert_int_eq(isnan(o->value[c][row * o->ions + k]) != 0,
                                 o->left[k] >= 0 && o->step[row] >= o->left[k]);
    }
    return left;
}

/* A run that goes on from an older checkpoint, with checkpoints at other steps, ends with the same orbits: also where a
 * file has samples from before and after the checkpoint. */
START_TEST(orbits_through_restarts)
{
    make_file("run.ini", leaving);
    CLI(0, "run run.ini --quiet --output whole");
    CLI(0, "run run.ini --quiet --output again");
    struct orbits *whole = read_orbits("whole/tracks/o_*.h5"), *late = read_orbits("whole/tracks/late_*.h5");
    ck_assert_int_eq(whole->rows, 31);
    ck_assert_int_eq(whole->ions, 30);
    ck_assert_int_eq(late->rows, 30);
    ck_assert_int_eq(late->step[0], 31);
    for (int row = 0; row < whole->rows; row++)
        ck_assert_int_eq(whole->step[row], 2 * row);
    ck_assert_int_ge(check_left(whole), 3);
    static const char *const restarts[] = {"25.h5 output.checkpoint_every=40", "50.h5",
                                           "25.h5 --steps 48 output.checkpoint_every=0", "25.h5"};
    for (size_t k = 0; k < sizeof restarts / sizeof *restarts; k++)
        CLI(0, "run run.ini --quiet --output again --restart again/checkpoints/checkpoint_000000%s", restarts[k]);
    /* From within a file, which is cut; and without the track for a while: other ions would be chosen then. */
    CLI(0, "run run.ini --quiet --output again --steps 40 --restart "
           "again/checkpoints/checkpoint_00000025.h5 output.checkpoint_every=0");
    CLI(0, "run run.ini --quiet --output other --steps 25");
    char without[2048];
    const char *first = strstr(leaving, "[track.o]"), *second = strstr(leaving, "[track.late]");
    snprintf(without, sizeof without, "%.*s%s", (int)(first - leaving), leaving, second);
    make_file("without.ini", without);
    CLI(0, "run without.ini --quiet --output other --steps 27 --restart "
           "other/checkpoints/checkpoint_00000025.h5 output.checkpoint_every=27");
    ck_assert_int_eq(cli_call("run run.ini --quiet --output other --restart "
                              "other/checkpoints/checkpoint_00000027.h5"),
                     2);
    ck_assert_msg(strstr(cli.err, "[track.o] cannot go on with its samples") != NULL, "%s", cli.err);
    CLI(0, "run run.ini --quiet --output again --restart again/checkpoints/checkpoint_00000025.h5");
    struct orbits *again = read_orbits("again/tracks/o_*.h5"), *later = read_orbits("again/tracks/late_*.h5");
    ck_assert(!memcmp(whole, again, sizeof *whole));
    ck_assert(!memcmp(late, later, sizeof *late));
    free(whole);
    free(late);
    free(again);
    free(later);
}
END_TEST

/* A condition that no ion fulfils is told of once. */
START_TEST(no_ion)
{
    char text[4096];
    snprintf(text, sizeof text, "%s[track.none]\nspecies = p\nwhere = vx > 1000\n", leaving);
    make_file("run.ini", text);
    CLI(0, "run run.ini --quiet --output out --steps 9");
    const char *told = strstr(cli.err, "[track.none]: no ion of p fulfils `where`");
    ck_assert_msg(told && !strstr(told + 1, "[track.none]"), "%s", cli.err);
}
END_TEST

/* --- bad input --- */

static const struct {
    const char *text, *wrong;
} bad[] = {
    {"[track.o]\nspecies = q\n", "track.o.species: \"q\" is not one of p"},
    {"[track.o]\ncount = 3\n", "track.o.species: required and not given"},
    {"[track.o]\nspecies = p\ncount = 0\n", "track.o.count: 0 is out of range"},
    {"[track.o]\nspecies = p\nwhere = vx > vmax\n", "track.o.where: unknown name \"vmax\""},
    {"[track.o]\nspecies = p\nwhere = t > 1\n", "t cannot be used here, where only x, y, vx, vy and vz can"},
    {"[track.o]\nspecies = p\nwhere = vx >\n", "it ends too early"},
    {"[track.o]\nspecies = p\n[electrons]\nclosure = evolved\n", "electron_heat_exchange_rate) cannot be followed"},
};

START_TEST(wrong_input)
{
    char text[4096];
    const int exchanges = strstr(bad[_i].text, "evolved") != NULL;
    snprintf(text, sizeof text, "%s[species.p]\nparticles_per_cell = 4\ntemperature = 0.5\n%s%s",
             BOX "[fields]\nbz = 1\n", exchanges ? "electron_heat_exchange_rate = 0.1\n" : "", bad[_i].text);
    make_file("run.ini", text);
    cli_refuses("run run.ini --quiet --output out", bad[_i].wrong, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tracks");
    TCase *t = tcase_create("tracks");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, copies_stay_the_ions, 0, sizeof run_cases / sizeof *run_cases);
    tcase_add_test(t, gyration_in_uniform_b);
    tcase_add_test(t, the_chosen_ions);
    tcase_add_test(t, orbits_through_restarts);
    tcase_add_test(t, no_ion);
    tcase_add_loop_test(t, wrong_input, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
