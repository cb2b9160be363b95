/* Runs of ions in a gas, against theory, and their budgets: background fields gain what the ions lose. */
#include <check.h>
#include <math.h>

#include "larmor/physics/fluid/advect.h"
#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

static const char table[] =
    "# source = made up for this test\n# energy = normalized\n# stopping = normalized\n"
    "# scattering = normalized\n0 0.5 0.05\n0.2 1.5 0.02\n1 1 0.01\n4 0.6 0.004\n20 0.2 0.001\n";

/* The same without scattering. */
static const char straight[] = "# source = made up for this test\n# energy = normalized\n# stopping = normalized\n"
                               "0 0.5\n0.2 1.5\n1 1\n4 0.6\n20 0.2\n";

#define BOX(dt, more)                                                                                                  \
    "[run]\ndt = " dt "\nsteps = 100000\n[grid]\nnx = 24\nny = 10\nlx = 12\nly = 5\n[fields]\nsolver = none\n" more

#define TAKERS                                                                                                         \
    "[background.n]\ngains = number\ninitial = 0\n[background.x]\ngains = momentum_x\ninitial = 0\n"                   \
    "[background.y]\ngains = momentum_y\ninitial = 0\n[background.z]\ngains = momentum_z\ninitial = 0\n"               \
    "[background.e]\ngains = energy\ninitial = 0\nvx = 0.5\n"

static struct lm_sim *gas_new(const char *text, const char *more)
{
    make_file("stopping.txt", table);
    make_file("straight.txt", straight);
    return sim_new(text, more);
}

/* Sums over a species at this moment: number, momentum, energy. */
static void sums_over(struct lm_sim *sim, int species, double out[5])
{
    struct lm_particle_sums sums;
    struct lm_pass none = {.speed_exponent = 3};
    const double mass = sim->config->species[species].mass * lm_sim_weight(sim, species);
    ck_assert_int_eq(sim->backend->particles->sums(sim->backend, species, &none, sim->count[species], &sums), LM_OK);
    out[0] = lm_sim_weight(sim, species) * (double)sim->count[species];
    out[4] = 0;
    for (int d = 0; d < 3; d++) {
        out[1 + d] = mass * ldexp((double)sums.v[d], -sums.exponent_v);
        out[4] += 0.5 * mass * ldexp((double)sums.v2[d], -sums.exponent_v2);
    }
}

static void add_account(const struct lm_sim *sim, int species, const struct lm_account *a, double sign, double out[5])
{
    double v[LM_LEDGER_VALUES];
    lm_ledger_values(&sim->ledger[species], a, lm_sim_weight(sim, species), sim->config->species[species].mass, v);
    for (int k = 0; k < 5; k++)
        out[k] += sign * v[1 + k];
}

/* Without fields only collisions change momentum and energy. For each species, what was there at the start is still
 * there, has left, or has gone to the gas; and the background fields have got what all species have given to the gas.
 * Numbers agree exactly, in whole quanta. The run has many kinds of collisions, two species with masses and weights
 * that are no powers of two, and many steps. */
START_TEST(budgets)
{
    enum { STEPS = SANITIZED ? 200 : 1000 };
    static const char text[] =
        BOX("0.02", "") TAKERS "[background.gas]\nkind = neutral_gas\ninitial = 1 + 0.5*sin(2*pi*x/lx)\nvx = 0.3\n"
                               "vy = 0.1*sin(t)\ntemperature = 0.1\n[species.p]\nparticles_per_cell = 30\ndrift_x = 3\n"
                               "temperature = 0.2\ngas = gas\nstopping_table = stopping.txt\nlost_below_energy = 0.1\n"
                               "charge_exchange_cross_section = 0.02\nscattering_sigmas = 3\n[species.q]\nmass = 3\n"
                               "particles_per_cell = 7\ntemperature = 2\ngas = gas\ngas_drag_rate = 0.1\n"
                               "scattering_power = 0.02\ncharge_exchange_rate = 0.05\n";
    struct lm_sim *sim = gas_new(text, _i ? "particles.precision=single" : NULL);
    double before[2][5], given[5] = {0}, scale[5] = {0};
    for (int s = 0; s < 2; s++)
        sums_over(sim, s, before[s]);
    advance(sim, STEPS);
    for (int s = 0; s < 2; s++) {
        const struct lm_ledger *l = &sim->ledger[s];
        double after[5];
        sums_over(sim, s, after);
        for (int channel = 0; channel < LM_CHANNELS; channel++)
            if (channel != LM_ENERGY_STOPPED) /* the share of the gas */
                add_account(sim, s, &l->lost[channel], 1, after);
        add_account(sim, s, &l->to_gas, 1, after);
        add_account(sim, s, &l->to_gas, 1, given);
        ck_assert_uint_eq(l->to_gas.number, l->lost[LM_ENERGY_STOPPED].number);
        for (int k = 0; k < 5; k++) {
            scale[k] += fabs(before[s][k]) + before[s][4];
            ck_assert_msg(fabs(after[k] - before[s][k]) < 1e-12 * (before[s][0] + before[s][4]),
                          "species %d, sum %d: %.17g, then %.17g", s, k, before[s][k], after[k]);
        }
    }
    ck_assert_uint_gt(sim->ledger[0].to_gas.number, STEPS);
    ck_assert_uint_gt(sim->ledger[0].exchanged.number, STEPS / 10);
    ck_assert_uint_gt(sim->ledger[1].exchanged.number, STEPS / 10);
    for (int k = 0; k < 5; k++) {
        const double got = lm_sim_background_value(sim, k, sim->background[k].ledger.total);
        ck_assert_msg(fabs(got - given[k]) < 1e-12 * scale[k], "field %d: %.17g of %.17g", k, got, given[k]);
    }
    sim_free(sim);
}
END_TEST

/* Rounding keeps whole quanta. Fractions of a quantum, however small, are rounded without loss on average, within five
 * standard deviations. */
START_TEST(gains_are_fair)
{
    const double parts[] = {0.5, 0.25, -0.25, 1e-3, -3.125, 7.75};
    const int many = 200000;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const double share = fabs(parts[k]) - floor(fabs(parts[k]));
        double sum = 0;
        for (uint32_t cell = 0; cell < (uint32_t)many; cell++) {
            const double u = lm_gas_gain_chance(5, 1, cell, (int)k),
                         got = lm_gas_gain_quanta(1000, parts[k] * 0x1p-20 / 1000, 20, u);
            require(got == rint(got) && fabs(got - parts[k]) < 1);
            require(lm_gas_gain_quanta(-(int64_t)cell, 4, 3, u) == -32.0 * cell);
            sum += got;
        }
        require_near(sum / many, parts[k], 5 * sqrt(share * (1 - share) / many));
    }
}
END_TEST

/* With weights that are powers of two the field has every ion that has stopped, to the last bit. */
START_TEST(number_is_exact)
{
    static const char text[] = BOX("0.05", "") "[background.n]\ngains = number\ninitial = 0\nvx = 1\n[background.gas]\n"
                                               "kind = neutral_gas\ninitial = 1\n[species.p]\nparticles_per_cell = 32\n"
                                               "drift_x = 2\ngas = gas\nstopping_table = straight.txt\n";
    struct lm_sim *sim = gas_new(text, NULL);
    advance(sim, 100);
    const struct row r = row_of(sim);
    ck_assert_uint_eq(sim->count[0], 0);
    ck_assert(value(&r, "background_n_total") == value(&r, "to_gas_weight_p"));
    ck_assert(value(&r, "background_n_total") == 60.0);
    free(r.columns);
    sim_free(sim);
}
END_TEST

/* The position where a cold beam stops in a gas whose density varies along x. */
static double stopping_place(const char *text)
{
    struct lm_sim *sim = gas_new(text, NULL);
    double place = 0, all = 0;
    while (sim->count[0] > 0)
        advance(sim, sim->step + 1);
    double *n = array_of(sim, LM_BACKGROUND);
    for (int j = 0; j < sim->grid.ny; j++)
        for (int i = 0; i < sim->grid.nx; i++) {
            place += n[lm_at(&sim->grid, i, j)] * (i + 0.5) * sim->grid.dx;
            all += n[lm_at(&sim->grid, i, j)];
        }
    free(n);
    sim_free(sim);
    return place / all;
}

#define BEAM(dt)                                                                                                       \
    "[run]\ndt = " dt "\nsteps = 100000\n[grid]\nnx = 240\nny = 1\nlx = 24\nly = 1\n[fields]\nsolver = none\n"         \
    "[background.n]\ngains = number\ninitial = 0\n[background.gas]\nkind = neutral_gas\n"                              \
    "initial = 1 + 0.8*sin(2*pi*x/lx)\nvx = 0\n[species.p]\nparticles_per_cell = 64\ndensity = x > 2 && x < 2.2\n"     \
    "start = quiet\ndrift_x = 4\ngas = gas\nstopping_table = straight.txt\nlost_below_energy = 0.01\n"

/* The column density from x = 2.1 to the position is the range of an energy of 8. */
static double exact_place(void)
{
    static const double e[] = {0, 0.2, 1, 4, 20}, s[] = {0.5, 1.5, 1, 0.6, 0.2};
    double range = 0, x = 2.1;
    for (double energy = 0.01; energy < 8; energy += 1e-5) {
        int k = 0;
        while (energy > e[k + 1])
            k++;
        range += 1e-5 / (s[k] + (s[k + 1] - s[k]) * (energy - e[k]) / (e[k + 1] - e[k]));
    }
    for (double column = 0; column < range; x += 1e-5)
        column += 1e-5 * (1 + 0.8 * sin(2 * M_PI * x / 24));
    return x;
}

START_TEST(range_in_a_gas)
{
    const double want = exact_place(), coarse = stopping_place(BEAM("0.02")), fine = stopping_place(BEAM("0.005"));
    ck_assert_msg(fabs(fine - want) < 0.05, "%g, %g expected", fine, want);            /* within half a cell */
    ck_assert_msg(fabs(coarse - want) < 0.05 + 0.02, "%g, %g expected", coarse, want); /* and a step's last way */
}
END_TEST

/* The time that collisions have covered: they take place in the middle of it. */
static double time_covered(const struct lm_sim *sim)
{
    const double each = sim->config->run.dt * (double)sim->config->species[0].collide_every;
    return (double)sim->step * sim->config->run.dt - 0.5 * each;
}

/* With a charge exchange whose rate does not depend on the velocity, the mean velocity and the temperature approach
 * those of the gas as exp(-k n t), for any time step. */
START_TEST(relaxes_to_the_gas)
{
    static const char *const steps[] = {"run.dt=0.5", "run.dt=0.1", "species.p.collide_every=4"};
    static const char text[] = BOX("0.5", "") "[background.gas]\nkind = neutral_gas\ninitial = 2\nvx = 0.4\nvy = -0.2\n"
                                              "temperature = 0.3\n[species.p]\nmass = 2\nparticles_per_cell = 400\n"
                                              "drift_x = 1.5\ndrift_z = -1\ngas = gas\ncharge_exchange_rate = 0.35\n";
    struct lm_sim *sim = gas_new(text, steps[_i]);
    double v[5];
    advance(sim, (int64_t)(2 / sim->config->run.dt + 0.5));
    sums_over(sim, 0, v);
    const double left = exp(-0.35 * 2 * time_covered(sim)), n = (double)sim->count[0], mass = 2 * v[0];
    const double spread = 5 / sqrt(n), u[3] = {0.4 + 1.1 * left, -0.2 + 0.2 * left, -left};
    for (int d = 0; d < 3; d++)
        ck_assert_msg(fabs(v[1 + d] / mass - u[d]) < spread * 1.2, "%d: %g, %g expected", d, v[1 + d] / mass, u[d]);
    const double energy = left * 0.5 * (1.5 * 1.5 + 1) + (1 - left) * 0.5 * (0.16 + 0.04 + 3 * 0.15);
    ck_assert_msg(fabs(v[4] / mass - energy) < spread, "energy %g, %g expected", v[4] / mass, energy);
    sim_free(sim);
}
END_TEST

/* <theta^2> of a beam grows by the scattering power in each unit of length. */
START_TEST(scattering_power)
{
    static const char *const steps[] = {"run.dt=0.1", "run.dt=0.02"};
    static const char text[] = BOX("0.1", "") "[background.gas]\nkind = neutral_gas\ninitial = 0.5\n[species.p]\n"
                                              "particles_per_cell = 400\ndrift_x = 2\ngas = gas\n"
                                              "scattering_power = 1e-3\n";
    const double time = SANITIZED ? 0.5 : 3;
    struct lm_sim *sim = gas_new(text, steps[_i]);
    advance(sim, (int64_t)(time / sim->config->run.dt + 0.5));
    double v[5];
    sums_over(sim, 0, v);
    struct lm_particle_sums sums;
    struct lm_pass none = {.speed_exponent = 3};
    ck_assert_int_eq(sim->backend->particles->sums(sim->backend, 0, &none, sim->count[0], &sums), LM_OK);
    const double n = (double)sim->count[0],
                 across2 = ldexp((double)(sums.v2[1] + sums.v2[2]), -sums.exponent_v2) / n / 4;
    const double want = 1e-3 * 0.5 * 2 * time_covered(sim); /* <sin^2> = <theta^2> in this order */
    ck_assert_msg(fabs(across2 / want - 1) < 5 / sqrt(n) + want, "%g, %g expected", across2, want);
    ck_assert_double_lt(fabs(v[4] / (v[0] * 2) - 1), 1e-13);
    sim_free(sim);
}
END_TEST

/* The bound of the speed, which the fixed-point sums rely on: an ion takes the velocity of an atom and half of a push
 * after that. */
START_TEST(speeds_are_bounded)
{
    static const char text[] = BOX(
        "0.05", "ey = 159.9\n") "[background.gas]\nkind = neutral_gas\ninitial = 1\ntemperature = 0.698\n[species.p]\n"
                                "particles_per_cell = 9000\ntemperature = 0\ngas = gas\ncharge_exchange_rate = 1e3\n";
    struct lm_sim *sim = gas_new(text, NULL);
    advance(sim, 1);
    ck_assert_double_gt(sqrt(sim->control.speed2[0]), 8.0);
    ck_assert_double_le(sqrt(sim->control.speed2[0]), ldexp(1, sim->pass[0].speed_exponent));
    sim_free(sim);
}
END_TEST

/* Velocities that are not finite stop a run, with and without a gas. */
START_TEST(not_finite)
{
    static const char text[] =
        BOX("0.05", "") "[background.gas]\nkind = neutral_gas\ninitial = 1\n[species.p]\ngas = gas\n[species.q]\n";
    struct lm_sim *sim = gas_new(text, NULL);
    ck_assert_int_eq(lm_sim_check(sim), LM_OK);
    sim->control.speed2[_i] = NAN;
    ck_assert_int_eq(lm_sim_check(sim), LM_FAILED);
    sim_free(sim);
}
END_TEST

/* A species that only slows and scatters in a gas at rest has a faster path in the code. It gives the same bits as the
 * general path, which a charge exchange that never happens selects. */
START_TEST(plain_as_any_other)
{
#define STOPPED(shape, more)                                                                                           \
    BOX("0.05", "")                                                                                                    \
    "[particles]\nshape = " shape "\n" TAKERS "[background.gas]\nkind = neutral_gas\n"                                 \
    "initial = 1 + sin(x)\n[species.p]\nparticles_per_cell = 37\ndrift_x = 3\ntemperature = 0.5\n"                     \
    "gas = gas\nstopping_table = stopping.txt\nlost_below_energy = 0.3\nscattering_sigmas = 2\n" more
    static const char *const text[2][2] = {
        {STOPPED("linear", ""), STOPPED("linear", "charge_exchange_rate = 1e-300\n")},
        {STOPPED("quadratic", ""), STOPPED("quadratic", "charge_exchange_rate = 1e-300\n")}};
    uint64_t fingerprint[2];
    uint64_t lost[2];
    for (int k = 0; k < 2; k++) {
        struct lm_sim *sim = gas_new(text[_i / 2][k], _i % 2 ? "particles.precision=single" : NULL);
        advance(sim, 30);
        ck_assert_int_eq(lm_sim_fingerprint(sim, &fingerprint[k]), LM_OK);
        ck_assert_uint_gt(sim->ledger[0].lost[LM_ENERGY_STOPPED].number, 0);
        ck_assert_uint_gt(sim->ledger[0].lost[LM_THETA_CUTOFF].number, 0);
        lost[k] = sim->ledger[0].lost[LM_ENERGY_STOPPED].number;
        sim_free(sim);
    }
    ck_assert_uint_eq(fingerprint[0], fingerprint[1]);
    ck_assert_uint_eq(lost[0], lost[1]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ions in a gas");
    TCase *t = tcase_create("ions in a gas");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, budgets, 0, 2);
    tcase_add_test(t, gains_are_fair);
    tcase_add_test(t, number_is_exact);
    tcase_add_test(t, range_in_a_gas);
    tcase_add_loop_test(t, relaxes_to_the_gas, 0, 3);
    tcase_add_loop_test(t, scattering_power, 0, 2);
    tcase_add_test(t, speeds_are_bounded);
    tcase_add_loop_test(t, not_finite, 0, 2);
    tcase_add_loop_test(t, plain_as_any_other, 0, 4);
    suite_add_tcase(s, t);
    return suite_run(s);
}
