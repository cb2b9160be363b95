/* Friction between electrons and the ions of single species, against the equations of two uniform ion fluids. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/electric.h"
#include "require.h"
#include "sim_case.h"
#include "suite.h"

/* --- two uniform cold species --- */

enum { SPECIES = 2 };

struct fluid {
    double charge, mass, density, eta, drift[3];
};

static const struct fluid start[SPECIES] = {{1, 1, 1, 0.4, {0.3, 0, 0.1}}, {2, 4, 0.25, 0.15, {-0.1, 0.2, 0}}};

#define QUIET "start = quiet\nparticles_per_cell = 16\n"
#define SPECIES_TEXT                                                                                                   \
    "[species.p]\ndrift_x = 0.3\ndrift_z = 0.1\neta = 0.4\n" QUIET                                                     \
    "[species.a]\ncharge = 2\nmass = 4\ndensity = 0.25\ndrift_x = -0.1\ndrift_y = 0.2\neta = 0.15\n" QUIET

/* Velocities of the fluids, and the heat of the electrons in a unit of volume. */
struct state {
    double v[SPECIES][3], heat;
};

/* Without gradients J = 0, so that n u_e = sum q u. */
static struct state rate(const struct state *s, const double b[3])
{
    struct state r = {.heat = 0};
    double n = 0, ue[3] = {0, 0, 0}, friction[3] = {0, 0, 0};
    for (int k = 0; k < SPECIES; k++)
        n += start[k].charge * start[k].density;
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++)
            ue[d] += start[k].charge * start[k].density * s->v[k][d] / n;
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++) {
            const double f = start[k].eta * n * start[k].charge * start[k].density * (s->v[k][d] - ue[d]);
            friction[d] += f;
            r.heat += f * (s->v[k][d] - ue[d]);
        }
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++) {
            const int e = (d + 1) % 3, g = (d + 2) % 3;
            const double w[3] = {s->v[k][0] - ue[0], s->v[k][1] - ue[1], s->v[k][2] - ue[2]};
            r.v[k][d] = start[k].charge / start[k].mass *
                        (w[e] * b[g] - w[g] * b[e] + friction[d] / n - start[k].eta * n * w[d]);
        }
    return r;
}

static struct state add(const struct state *a, const struct state *b, double h)
{
    struct state s = {.heat = a->heat + h * b->heat};
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++)
            s.v[k][d] = a->v[k][d] + h * b->v[k][d];
    return s;
}

static struct state solve(const double b[3], double t_end)
{
    const int steps = 2000;
    const double h = t_end / steps;
    struct state s = {.heat = 0};
    for (int k = 0; k < SPECIES; k++)
        memcpy(s.v[k], start[k].drift, sizeof s.v[k]);
    for (int n = 0; n < steps; n++) {
        const struct state k1 = rate(&s, b), s2 = add(&s, &k1, h / 2), k2 = rate(&s2, b), s3 = add(&s, &k2, h / 2),
                           k3 = rate(&s3, b), s4 = add(&s, &k3, h), k4 = rate(&s4, b);
        s = add(&s, &k1, h / 6);
        s = add(&s, &k2, h / 3);
        s = add(&s, &k3, h / 3);
        s = add(&s, &k4, h / 6);
    }
    return s;
}

/* The case after t_end, half a step earlier than its last level: where the velocities are. */
static struct state run(const double b[3], double dt, int steps)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[run]\nt_end = 100\ndt = %g\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n[electrons]\nclosure = evolved\n"
             "temperature = 0.5\n[fields]\nbx = %g\nby = %g\nbz = %g\ndensity_floor = 0.01\n" SPECIES_TEXT,
             dt, b[0], b[1], b[2]);
    struct lm_sim *sim = sim_new(text, NULL);
    struct state s = {.heat = 0};
    advance(sim, steps);
    for (int k = 0; k < SPECIES; k++)
        mean_velocity(sim, k, s.v[k]);
    s.heat = sim->electrons.heat / (double)sim->grid.cells;
    sim_free(sim);
    return s;
}

static double largest_difference(const struct state *a, const struct state *b)
{
    double largest = 0;
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++)
            largest = fmax(largest, fabs(a->v[k][d] - b->v[k][d]));
    return largest;
}

static const double fields[2][3] = {{0, 0, 0}, {0.6, -0.3, 0.8}};

/* Two species drift through each other and come to rest relative to each other as the equations of the fluids have it,
 * with and without B. The error falls as dt^2. */
START_TEST(relative_drift)
{
    enum { LEVELS = 3 };
    const double t_end = 6;
    double error[LEVELS];
    for (int k = 0; k < LEVELS; k++) {
        const double dt = ldexp(0.4, -k); /* below 0.1 the rounding of the current to quanta shows */
        const int steps = (int)lround(t_end / dt);
        const struct state got = run(fields[_i], dt, steps), expected = solve(fields[_i], t_end - 0.5 * dt);
        error[k] = largest_difference(&got, &expected);
    }
    ck_assert_double_lt(error[1], 2e-3);
    for (int k = 1; k < LEVELS; k++) {
        ck_assert_double_gt(error[k - 1] / error[k], 3.4);
        ck_assert_double_lt(error[k - 1] / error[k], 4.6);
    }
}
END_TEST

/* The ions get no momentum from friction, and the electrons get as heat what the ions lose of their energy. */
START_TEST(momentum_and_heat)
{
    const double t_end = 6, dt = 0.05;
    const struct state got = run(fields[0], dt, (int)lround(t_end / dt)), expected = solve(fields[0], t_end);
    double momentum[3] = {0, 0, 0}, exchanged = 0, lost = 0;
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++) {
            const double m = start[k].mass * start[k].density;
            momentum[d] += m * (got.v[k][d] - start[k].drift[d]);
            exchanged = fmax(exchanged, fabs(m * (got.v[k][d] - start[k].drift[d])));
            lost += 0.5 * m * (start[k].drift[d] * start[k].drift[d] - expected.v[k][d] * expected.v[k][d]);
        }
    require(exchanged > 0.05);
    for (int d = 0; d < 3; d++) /* currents are deposited in units of 2^-16 of a power of two above the speeds */
        ck_assert_double_eq_tol(momentum[d], 0, 1e-4 * exchanged);
    ck_assert_double_eq_tol(expected.heat, lost, 1e-6 * lost);
    ck_assert_double_eq_tol(got.heat, lost, 2e-3 * lost);
}
END_TEST

/* The resistive term of the output is what friction adds to E, the others stay as they are. */
START_TEST(terms_of_ohms_law)
{
    struct lm_sim *sim =
        sim_new("[run]\nt_end = 1\ndt = 0.05\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n[fields]\nbx = 0.6\nby = -0.3\n"
                "bz = 0.8\neta = 0.01\n" SPECIES_TEXT,
                NULL);
    const double *b = fields[1];
    struct lm_electric terms, powers;
    double n = 0, current[3] = {0, 0, 0}, friction[3] = {0, 0, 0};
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++) {
            n += start[k].charge * start[k].density / 3;
            current[d] += start[k].charge * start[k].density * start[k].drift[d];
        }
    for (int k = 0; k < SPECIES; k++)
        for (int d = 0; d < 3; d++)
            friction[d] += start[k].eta * start[k].charge * start[k].density * (start[k].drift[d] - current[d] / n);
    ck_assert_int_eq(lm_electric_make(sim, sim->config, 1, &terms), LM_OK);
    const size_t k = lm_at(&sim->grid, 3, 2);
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        ck_assert_double_eq_tol(terms.e[LM_E_RESISTIVE][d][k], friction[d], 1e-4);
        ck_assert_double_eq_tol(terms.e[LM_E_CONVECTION][d][k], -(current[e] * b[g] - current[g] * b[e]) / n, 1e-4);
    }
    ck_assert_int_eq(lm_electric_make(sim, sim->config, 0, &powers), LM_OK);
    for (int p = 0; p < LM_POWERS; p++)
        ck_assert_mem_eq(powers.power[p], terms.power[p], sim->grid.size * sizeof(double));
    lm_electric_free(&powers);
    lm_electric_free(&terms);
    sim_free(sim);
}
END_TEST

/* --- one species --- */

#define ALONE(electrons, of_plasma, of_species)                                                                        \
    "[run]\nt_end = 1\ndt = 0.02\n[grid]\nnx = 16\nny = 12\nlx = 8\nly = 6\n[electrons]\ntemperature = "               \
    "0.3\n" electrons "[fields]\nbz = 1\naz = 0.3*cos(2*pi*x/lx)*cos(2*pi*y/ly)\n" of_plasma                           \
    "[species.p]\nparticles_per_cell = 16\ntemperature = 0.2\ndensity = 1 + 0.3*cos(2*pi*y/ly)\n" of_species
#define EVOLVED "closure = evolved\ngamma = 1.5\n"

/* Heat is given to the electrons before and after B advances, with an eta of that time for a species only. So eta of J
 * is tested with electrons that are not heated. */
static const struct {
    const char *of_plasma, *of_species, *of_none;
} alone[2] = {{ALONE("", "eta = 0.0625*J\n", ""), ALONE("", "", "eta = 0.0625*J\n"), ALONE("", "", "")},
              {ALONE(EVOLVED, "eta = 0.0625\n", ""), ALONE(EVOLVED, "", "eta = 0.0625\n"), ALONE(EVOLVED, "", "")}};

/* The resistivity of the only species is that of the plasma: E = eta J, which the ions do not feel. */
START_TEST(one_species)
{
    struct lm_sim *plasma = sim_new(alone[_i].of_plasma, NULL), *species = sim_new(alone[_i].of_species, NULL),
                  *none = sim_new(alone[_i].of_none, NULL);
    double change = 0;
    advance(plasma, 25);
    advance(species, 25);
    advance(none, 25);
    for (int a = LM_B; a < LM_B + 3; a++) {
        double *p = array_of(plasma, a), *s = array_of(species, a), *n = array_of(none, a);
        for (size_t k = 0; k < plasma->grid.size; k++) {
            ck_assert_double_eq_tol(s[k], p[k], 1e-11);
            change = fmax(change, fabs(p[k] - n[k]));
        }
        free(p), free(s), free(n);
    }
    require(change > 1e-4);
    if (_i == 1)
        ck_assert_double_eq_tol(species->electrons.heat / plasma->electrons.heat, 1, 1e-9);
    sim_free(plasma);
    sim_free(species);
    sim_free(none);
}
END_TEST

/* --- a plasma with noise and gradients --- */

static void momentum(struct lm_sim *sim, int species, double p[3])
{
    mean_velocity(sim, species, p);
    for (int d = 0; d < 3; d++)
        p[d] *= sim->config->species[species].mass * lm_sim_weight(sim, species) * (double)sim->count[species];
}

/* What the alphas lose, the protons gain in a plasma that is not uniform: its momentum changes by less than a
 * thousandth of what is exchanged. */
START_TEST(momentum_of_a_plasma_with_gradients)
{
    struct lm_sim *sim =
        sim_new("[run]\nt_end = 10\ndt = 0.05\nseed = 5\n[grid]\nnx = 32\nny = 24\nlx = 16\nly = 12\n[electrons]\n"
                "temperature = 0.2\n[species.p]\nparticles_per_cell = 100\ntemperature = 0.1\n"
                "density = 1 + 0.3*cos(2*pi*x/lx)\ndrift_z = 0.05\n"
                "[species.a]\ncharge = 2\nmass = 4\ndensity = 0.2*(1 + 0.5*sin(2*pi*y/ly))\nparticles_per_cell = 300\n"
                "temperature = 0.1\ndrift_z = 0.4\neta = 0.5*(1 + n)\n",
                NULL);
    double before[SPECIES][3], after[SPECIES][3];
    for (int k = 0; k < SPECIES; k++)
        momentum(sim, k, before[k]);
    advance(sim, 60);
    for (int k = 0; k < SPECIES; k++)
        momentum(sim, k, after[k]);
    const double exchanged = after[1][2] - before[1][2];
    require(exchanged < -0.2 * before[1][2]);
    for (int d = 0; d < 3; d++)
        ck_assert_double_eq_tol((after[0][d] - before[0][d]) + (after[1][d] - before[1][d]), 0, 1e-3 * -exchanged);
    sim_free(sim);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("electron_friction");
    TCase *c = tcase_create("uniform");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, relative_drift, 0, 2);
    tcase_add_test(c, momentum_and_heat);
    tcase_add_test(c, terms_of_ohms_law);
    suite_add_tcase(s, c);
    c = tcase_create("one species");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, one_species, 0, 2);
    suite_add_tcase(s, c);
    c = tcase_create("gradients");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, momentum_of_a_plasma_with_gradients);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
