/* The whole step: particles in given fields, and particles that are read and written. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "inside.h"
#include "require.h"
#include "sim_case.h"
#include "sim_run.h"
#include "suite.h"

#define GIVEN(fields, species)                                                                                         \
    "[run]\nsteps = 100\ndt = 0.125\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n[fields]\nsolver = none\n" fields         \
    "[species.p]\ncharge = 2\nmass = 4\nparticles_per_cell = 1\nstart = quiet\n" species

/* Velocities start half a step before the positions and turn by 2 atan(Z B dt / 2m) in a step. */
START_TEST(gyration)
{
    struct lm_sim *sim = sim_new(GIVEN("bz = 1.5\n", "drift_x = 0.5\n"), NULL);
    double v[3], at[2], full = 2 * atan(0.5 * 1.5 * 0.125 / 2), back = 2 * atan(0.5 * 1.5 * 0.125 / 4);
    for (int n = 0; n <= 100; n += 20) {
        advance(sim, n);
        velocity_of_first(sim, v, at);
        double angle = -(n * full - back);
        require_near(v[0], 0.5 * cos(angle), 1e-13);
        require_near(v[1], 0.5 * sin(angle), 1e-13);
        ck_assert(v[2] == 0);
    }
    double *bz = array_of(sim, LM_B + 2);
    for (size_t k = 0; k < sim->grid.size; k++)
        require(bz[k] == 1.5);
    free(bz);
    sim_free(sim);
}
END_TEST

START_TEST(drift_across_fields)
{
    /* E x B / B^2 = (0.5, -0.25, 0) */
    struct lm_sim *sim = sim_new(GIVEN("bz = 2\nex = 0.5\ney = 1\n", "drift_x = 0.5\ndrift_y = -0.25\n"),
                                 "run.sort_every=1000"); /* the first particle stays the first */
    double v[3], at[2], start[2];
    velocity_of_first(sim, v, start);
    advance(sim, 64); /* t = 8: 4 and -2 cells */
    velocity_of_first(sim, v, at);
    require_near(v[0], 0.5, 1e-13);
    require_near(v[1], -0.25, 1e-13);
    require_near(remainder(at[0] - start[0] - 4, 8), 0, 1e-11);
    require_near(remainder(at[1] - start[1] + 2, 8), 0, 1e-11);
    sim_free(sim);
}
END_TEST

START_TEST(acceleration_along_e)
{
    struct lm_sim *sim = sim_new(GIVEN("bz = 1\nez = 0.5\n", ""), NULL);
    double v[3], at[2];
    for (int n = 0; n <= 40; n += 20) {
        advance(sim, n);
        velocity_of_first(sim, v, at);
        require_near(v[2], 0.25 * 0.125 * (n - 0.5), 1e-14);
    }
    sim_free(sim);
}
END_TEST

/* Momentum and energy are those of the velocities at step n, not half a step before. */
START_TEST(integrals_are_at_integer_times)
{
    struct lm_sim *sim = sim_new(GIVEN("bz = 1\nez = 0.5\n", ""), NULL);
    struct lm_totals totals;
    for (int n = 0; n <= 40; n += 20) {
        double v = 0.25 * 0.125 * n, mass = 4 * 64; /* the mass of all ions */
        advance(sim, n);
        ck_assert_int_eq(lm_sim_totals(sim, &totals), LM_OK);
        require_near(totals.momentum[2], mass * v, 1e-11);
        require_near(totals.kinetic[0][2], 0.5 * mass * v * v, 1e-11);
    }
    sim_free(sim);
}
END_TEST

/* The centre of mass of an array along x, in cells. */
static double centre_of(struct lm_sim *sim, int array)
{
    double *a = array_of(sim, array), sum = 0, moment = 0;
    for (int j = 0; j < sim->grid.ny; j++)
        for (int i = 0; i < sim->grid.nx; i++) {
            sum += a[lm_at(&sim->grid, i, j)];
            moment += (i + 0.5) * a[lm_at(&sim->grid, i, j)];
        }
    free(a);
    return moment / sum;
}

/* The current is deposited at the positions half a step before, at the start and in every step. */
START_TEST(current_is_at_half_steps)
{
    const char *shape = _i ? "particles.shape=quadratic" : "particles.shape=linear";
    struct lm_sim *sim =
        sim_new("[run]\nsteps = 2\ndt = 0.5\n[grid]\nnx = 16\nny = 1\nlx = 16\nly = 4\n[fields]\nsolver = none\n"
                "smoothing = 0\n[species.p]\ndensity = abs(x - 6.5) < 1 ? 1 : 0\nparticles_per_cell = 64\n"
                "start = quiet\ndrift_x = 1\ndrift_y = 1\ndrift_z = 1\n",
                shape);
    double first = centre_of(sim, LM_N_OLD);
    for (int n = 0; n <= 2; n++) {
        advance(sim, n);
        require_near(centre_of(sim, LM_N_OLD), first + 0.5 * n, 1e-4);
        for (int d = 0; d < 3; d++)
            require_near(centre_of(sim, LM_J_OLD + d), first + 0.5 * n - 0.25, 1e-4);
    }
    sim_free(sim);
}
END_TEST

/* Particles that get_particles has returned can be put back any number of times, and the survey finds the fastest one.
 */
START_TEST(particles_come_and_go)
{
    struct lm_sim *sim = sim_new("[run]\ndt = 0.02\nsteps = 2\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n"
                                 "[fields]\nbz = 1\n[species.p]\nparticles_per_cell = 30\ntemperature = 0.5\n",
                                 NULL);
    struct lm_backend *b = sim->backend;
    const uint64_t count = sim->count[0];
    int64_t *at = malloc(2 * count * sizeof *at);
    double *v = malloc(3 * count * sizeof *v), fastest = 0;
    struct lm_raw_particles raw = {at, at + count, v, v + count, v + 2 * count};
    struct lm_control control;
    uint64_t before, after;
    advance(sim, 2);
    ck_assert_int_eq(lm_sim_compact(sim), LM_OK);
    ck_assert_int_eq(lm_sim_fingerprint(sim, &before), LM_OK);
    ck_assert_int_eq(b->particles->get(b, 0, 0, count, raw), LM_OK);
    for (uint64_t k = 0; k < count; k++)
        fastest = fmax(fastest, v[k] * v[k] + v[count + k] * v[count + k] + v[2 * count + k] * v[2 * count + k]);
    for (int time = 0; time < 2; time++) {
        ck_assert_int_eq(b->particles->reserve(b, 0, count), LM_OK);
        for (int place = 0; place < 2; place++)
            ck_assert_int_eq(b->particles->put(b, 0, place, count, raw), LM_OK);
        ck_assert_int_eq(lm_sim_fingerprint(sim, &after), LM_OK);
        ck_assert_uint_eq(before, after);
    }
    ck_assert_int_eq(b->particles->maxima(b, 0), LM_OK);
    ck_assert_int_eq(b->ops->control(b, &control), LM_OK);
    ck_assert_double_eq_tol(control.speed2[0], fastest, 1e-14 * fastest);
    free(at);
    free(v);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim, particles");
    TCase *t = tcase_create("sim, particles");
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, gyration);
    tcase_add_test(t, drift_across_fields);
    tcase_add_test(t, acceleration_along_e);
    tcase_add_test(t, integrals_are_at_integer_times);
    tcase_add_loop_test(t, current_is_at_half_steps, 0, 2);
    tcase_add_test(t, particles_come_and_go);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
