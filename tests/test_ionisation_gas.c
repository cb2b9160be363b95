/* Ionisation of a neutral gas: the gas loses what the ions gain, to the last quantum. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "ionisation_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* The gas has lost what the ions have gained, in whole quanta, and its density is nowhere below 0. */
static void assert_exchange(struct lm_sim *sim)
{
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const double quanta = lm_ionise_quanta(sim->backend->setup.species[0].weight, l->quantum);
    const lm_int128 unit = (lm_int128)1 << (l->exponent - l->quantum);
    double *q = array_of(sim, LM_BACKGROUND);
    require(l->source == -(lm_int128)sim->ledger[0].injected[LM_IONISED].number * (lm_int128)quanta * unit);
    require(lm_background_residual(l) == 0 &&
            lm_background_sum(&sim->grid, sim->cuts.open, q, l->quantum, l->exponent) == l->total);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require(q[lm_at(&sim->grid, i, j)] >= 0);
    free(q);
}

START_TEST(gas_and_ions)
{
    /* this is no power of two, so the mass of a particle is rounded to quanta */
    const double dt = 0.05, nu = 0.8, weight = 1.0 / 30;
    struct lm_sim *sim = sim_new(EMPTY("steps = 60\ndt = 0.05\n", "", "30")
                                     GAS("3 + cos(2*pi*x/lx)", "vx = 1\nvy = 0.5\nweno = 5\n") "frequency = 0.8\n",
                                 _i ? "run.threads=3" : NULL);
    for (int step = 1; step <= 60; step++) {
        advance(sim, step);
        assert_exchange(sim);
        /* The gas decays exponentially, for any dt. Each rounding of an expected number adds at most w^2/4 to the
         * variance. */
        const double want = NX * NY * 3 * exp(-nu * dt * step), sigma = weight * sqrt(NX * NY * step / 4.0);
        const double total = lm_background_value(&sim->background[0].ledger, sim->background[0].ledger.total);
        require_near(total, want, 4.5 * sigma);
    }
    sim_free(sim);
}
END_TEST

/* The rate asks for far more ions than the gas has. All whole particles of each cell are made in the first step, and
 * the rest of the gas stays. */
START_TEST(used_up)
{
    struct lm_sim *sim = sim_new(EMPTY("steps = 4\ndt = 0.05\n", "", "30") GAS("0.2*x", "") "frequency = 1000\n", NULL);
    double expected = 0;
    for (int i = 0; i < NX; i++)
        expected += NY * floor(0.2 * (i + 0.5) * 0.25 * 30 * (1 + 1e-12));
    advance(sim, 1);
    ck_assert(born(sim, 0) == expected);
    assert_exchange(sim);
    double *q = array_of(sim, LM_BACKGROUND);
    for (int i = 0; i < NX; i++)
        require(q[lm_at(&sim->grid, i, 3)] < 1.0 / 30);
    free(q);
    advance(sim, 4);
    ck_assert(born(sim, 0) == expected);
    sim_free(sim);
}
END_TEST

/* A gas outgrows its quantum while it is ionised. The quantum must not become larger between the births and their
 * entry in the ledger. */
START_TEST(growing_gas)
{
    struct lm_sim *sim = sim_new(EMPTY("steps = 60\ndt = 0.05\n", "", "0.1")
                                     GAS("0.01", "source = 0.02*exp(min(t, 3)*4)\n") "frequency = 0.5*(t > 1)\n",
                                 NULL);
    const int quantum = sim->background[0].ledger.quantum;
    for (int step = 1; step <= 60; step++)
        advance(sim, step); /* a step fails when a ledger does not close */
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    ck_assert_int_lt(l->quantum, quantum - 3);
    ck_assert(born(sim, 0) > 1000 && lm_background_residual(l) == 0);
    sim_free(sim);
}
END_TEST

/* Two sources take from one gas: the second one takes of what the first one leaves. */
START_TEST(shared_gas)
{
    struct lm_sim *sim = sim_new(EMPTY("steps = 20\ndt = 0.05\n", "", "25")
                                     GAS("1", "") "frequency = 30\nvx = 1\n[ionisation.more]\nspecies = p\ngas = gas\n"
                                                  "frequency = 30\nvx = -1\n[ionisation.rate]\nspecies = p\nrate = 1\n",
                                 NULL);
    advance(sim, 20);
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const double given = NX * NY * 25 * 20 * 0.05, of_gas = -lm_background_value(l, l->source) * 25;
    require_near(of_gas, NX * NY * 25, 1e-6); /* all of the gas is used */
    require_near(born(sim, 0) - of_gas, given, 4.5 * sqrt(NX * NY * 20 / 4.0));
    require(sim->background[0].least >= 0);
    sim_free(sim);
}
END_TEST

/* By default ions are born with the velocity of the gas in their cell, which is the mean of the velocities on its
 * faces. */
START_TEST(velocity_of_the_gas)
{
    static const char *const flows[] = {"vx = 1 + x*y\nvy = sin(x)*(1 + t)\n", "stream = y*y + cos(x)*(1 + t)\n"};
    char text[1024];
    snprintf(text, sizeof text,
             EMPTY("steps = 1\ndt = 0.1\n", "",
                   "10") "[boundary]\nx_min = reflecting\nx_max = reflecting\ny_min = reflecting\n"
                         "y_max = reflecting\n" GAS("1", "side_x_min = open\nside_x_max = open\nside_y_min = "
                                                         "open\nside_y_max = open\n%s") "frequency = 1e8\n%s",
             flows[_i % 2], _i < 2 ? "" : "vx = 0.2\nvz = 0.3\n");
    struct lm_sim *sim = sim_new(text, "run.dt=1e-6"); /* most stay in their cells */
    advance(sim, 1);
    double *vx = array_of(sim, LM_BACKGROUND_X), *vy = array_of(sim, LM_BACKGROUND_Y);
    struct particles p = particles_of(sim, 0);
    ck_assert(p.count == 10 * NX * NY);
    for (uint64_t k = 0; k < p.count; k++) {
        const double edge =
            fabs(place(p.raw.x, k) - rint(place(p.raw.x, k))) * fabs(place(p.raw.y, k) - rint(place(p.raw.y, k)));
        if (edge < 1e-3) /* the ion may have come from the next cell */
            continue;
        const size_t c = lm_at(&sim->grid, (int)place(p.raw.x, k), (int)place(p.raw.y, k));
        const double x = _i < 2 ? 0.5 * (vx[c - 1] + vx[c]) : 0.2;
        require_near(velocity(p.raw.vx, k), x, 1e-12);
        require_near(velocity(p.raw.vy, k), 0.5 * (vy[c - (size_t)sim->grid.stride] + vy[c]), 1e-12);
        require(velocity(p.raw.vz, k) == (_i < 2 ? 0 : 0.3));
    }
    free(vx);
    free(vy);
    particles_free(&p);
    sim_free(sim);
}
END_TEST

/* Ions that stop become a gas that is ionised in the same step. So more ions are born than the gas at the start of the
 * step has. */
START_TEST(gas_of_what_stops)
{
    make_file("stopping.txt", "# source = made up\n# energy = normalized\n# stopping = normalized\n0 1e3\n1 1e3\n");
    struct lm_sim *sim =
        sim_new("[run]\ndt = 0.05\nsteps = 3\n" GRID "[fields]\nsolver = none\n[species.beam]\n"
                "density = 10*(x < 1)*(y < 1)\nparticles_per_cell = 400\ntemperature = 0.1\ngas = air\n"
                "stopping_table = stopping.txt\nlost_below_energy = 10\n[species.ions]\ndensity = 0\n"
                "particles_per_cell = 1000\n[background.air]\nkind = neutral_gas\ninitial = 1\n"
                "[background.vapour]\nkind = neutral_gas\ninitial = 1\ngains = number\n[ionisation.light]\n"
                "species = ions\ngas = vapour\nfrequency = 100*(x < 1)*(y < 1)\n",
                NULL);
    ck_assert_int_eq(lm_sim_check(sim), LM_OK);
    const uint64_t most = lm_sim_most_births(sim, 1);
    /* enough memory in any case */
    ck_assert_int_eq(sim->backend->particles->reserve_more(sim->backend, 1, 1000000), LM_OK);
    ck_assert_int_eq(lm_sim_step(sim), LM_OK);
    ck_assert_uint_gt(sim->count[1], 100000);
    ck_assert_uint_le(sim->count[1], most);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ionisation of a gas");
    TCase *t = tcase_create("ionisation of a gas");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, gas_and_ions, 0, 2);
    tcase_add_test(t, used_up);
    tcase_add_test(t, growing_gas);
    tcase_add_test(t, shared_gas);
    tcase_add_test(t, gas_of_what_stops);
    tcase_add_loop_test(t, velocity_of_the_gas, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
