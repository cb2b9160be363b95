/* Collisions beside forces and from the start are of second order in dt: half the step leaves a quarter of the error of
 * the position and of the velocity of ions. */
#include <check.h>
#include <complex.h>
#include <math.h>

#include "inside.h"
#include "require.h"
#include "sim_case.h"
#include "suite.h"

/* Collisions for which the mean velocity obeys dv/dt = E + v x B - rate (v - u), and stopping. */
enum { DRAG, DRAG_RATE, EXCHANGE, SCATTERING, SELDOM_DRAG, LINEAR_KINDS, STOPPING = LINEAR_KINDS, KINDS };
enum { LEVELS = 3 };

static const double complex gas = 0.4 - 0.7 * I, start = 2 + 1 * I;
static const double rate = 0.4, gyration = 1.2;
static const double complex force = 0.5 - 0.3 * I;

/* S of the table as a function of the energy, and the density of the gas. */
static double stopping(double energy)
{
    return 0.3 + 0.5 * energy;
}
static const double density = 0.5;

static const char table[] = "# source = made up for this test\n# energy = normalized\n# stopping = normalized\n"
                            "0 0.3\n10 5.3\n";

#define ION(count, more)                                                                                               \
    "[species.p]\nparticles_per_cell = " count "\ndensity = x > 32 && y > 32 && x < 40 && y < 40\n" more
#define ONE(more) ION("1", "drift_x = 2\ndrift_y = 1\n" more)
#define MANY(more) ION("100000", "drift_x = 2\ndrift_y = 1\n" more)
#define MOVING "[background.gas]\nkind = neutral_gas\ninitial = 0.5\nvx = 0.4\nvy = -0.7\n"

static const char *const species[KINDS] = {
    [DRAG] = MOVING ONE("gas = gas\ngas_drag_rate = 0.8\n"),
    [DRAG_RATE] = ONE("drag_rate = 0.4\n"),
    [EXCHANGE] = MOVING MANY("gas = gas\ncharge_exchange_rate = 0.8\n"),
    [SCATTERING] = MANY("scattering_rate = 0.4\nscattering_sigmas = 4.9\n"),
    [SELDOM_DRAG] = MOVING ONE("gas = gas\ngas_drag_rate = 0.8\ncollide_every = 2\n"),
    [STOPPING] = "[background.gas]\nkind = neutral_gas\ninitial = 0.5\n" ONE("gas = gas\nstopping_table = order.txt\n"),
};

struct state {
    double complex z, v;     /* mean position and velocity in the plane */
    double error_z, error_v; /* standard errors */
};

static struct state state_of(struct lm_sim *sim)
{
    const uint64_t n = sim->count[0];
    double *x = malloc(5 * n * sizeof *x), z2 = 0, v2 = 0;
    struct state s = {0};
    ck_assert_int_eq(lm_sim_get_particles(sim, 0, 0, n, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n), LM_OK);
    for (uint64_t k = 0; k < n; k++) {
        s.z += (x[k] + I * x[n + k]) / (double)n;
        s.v += (x[2 * n + k] + I * x[3 * n + k]) / (double)n;
    }
    for (uint64_t k = 0; k < n; k++) {
        z2 += pow(cabs(x[k] + I * x[n + k] - s.z), 2) / (double)n;
        v2 += pow(cabs(x[2 * n + k] + I * x[3 * n + k] - s.v), 2) / (double)n;
    }
    free(x);
    s.error_z = sqrt(z2 / (double)n);
    s.error_v = sqrt(v2 / (double)n);
    return s;
}

/* The same from the equation of motion at the time t. */
static struct state linear_state(int kind, int with_forces, double t)
{
    const int has_gas = kind == DRAG || kind == EXCHANGE || kind == SELDOM_DRAG;
    const double complex decay = rate + (with_forces ? gyration * I : 0);
    const double complex end = ((with_forces ? force : 0) + (has_gas ? rate * gas : 0)) / decay;
    return (struct state){.z = end * t + (start - end) * (1 - cexp(-decay * t)) / decay,
                          .v = end + (start - end) * cexp(-decay * t)};
}

static double complex slowing(int with_forces, double complex v)
{
    const double complex other = with_forces ? force - gyration * I * v : 0;
    return other - density * stopping(0.5 * creal(v * conj(v))) * v / cabs(v);
}

/* Runge-Kutta of fourth order in many steps. */
static struct state stopping_state(int with_forces, double t)
{
    enum { STEPS = 2000 };
    const double h = t / STEPS;
    struct state s = {.v = start};
    for (int k = 0; k < STEPS; k++) {
        const double complex a = slowing(with_forces, s.v), b = slowing(with_forces, s.v + 0.5 * h * a),
                             c = slowing(with_forces, s.v + 0.5 * h * b), d = slowing(with_forces, s.v + h * c);
        s.z += h * s.v + h * h / 6 * (a + b + c);
        s.v += h / 6 * (a + 2 * b + 2 * c + d);
    }
    return s;
}

static struct state exact_state(int kind, int with_forces, double t)
{
    return kind == STOPPING ? stopping_state(with_forces, t) : linear_state(kind, with_forces, t);
}

/* Errors of the way until t = 2 and of the velocity half a step before, and the standard errors of both. */
static void errors_of(int kind, int with_forces, double dt, double error[2], double noise[2])
{
    char text[2048], step[64];
    snprintf(text, sizeof text,
             "[run]\ndt = 0.1\nsteps = 100000\n[grid]\nnx = 9\nny = 9\nlx = 72\nly = 72\n[fields]\nsolver = none\n%s%s",
             with_forces ? "bz = 1.2\nex = 0.5\ney = -0.3\n" : "", species[kind]);
    snprintf(step, sizeof step, "run.dt=%.17g", dt);
    make_file("order.txt", table);
    struct lm_sim *sim = sim_new(text, step);
    const struct state before = state_of(sim);
    advance(sim, (int64_t)(2 / dt + 0.5));
    const struct state after = state_of(sim);
    sim_free(sim);
    error[0] = cabs(after.z - before.z - exact_state(kind, with_forces, 2).z);
    error[1] = cabs(after.v - exact_state(kind, with_forces, 2 - 0.5 * dt).v);
    noise[0] = kind == EXCHANGE || kind == SCATTERING ? 2 * after.error_v : 1e-6; /* single precision */
    noise[1] = kind == EXCHANGE || kind == SCATTERING ? after.error_v : 1e-6;
}

/* Errors below a few standard errors say nothing. Between the first and the last step lies a factor of 4, so that a
 * first order leaves 1/4 of the error and the second one 1/16. */
START_TEST(second_order)
{
    const int kind = _i / 2, with_forces = _i % 2, compared = kind == SELDOM_DRAG ? 1 : 2;
    const double coarse = kind == EXCHANGE || kind == SCATTERING ? 1 : 0.5;
    double error[LEVELS][2], noise[LEVELS][2];
    for (int k = 0; k < LEVELS; k++)
        errors_of(kind, with_forces, ldexp(coarse, -k), error[k], noise[k]);
    for (int what = 0; what < compared; what++) {
        for (int k = 1; k < LEVELS; k++) {
            const double limit = 1.3 * ldexp(error[0][what], -2 * k) + 4 * noise[k][what];
            ck_assert_msg(error[k][what] < limit, "error %g with step %d, below %g expected; %g with the first step",
                          error[k][what], k, limit, error[0][what]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("order of collisions");
    TCase *t = tcase_create("order of collisions");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, second_order, 0, 2 * KINDS);
    suite_add_tcase(s, t);
    return suite_run(s);
}
