/* Ions that are born by ionisation: how many, where, how fast, and what they add to the moments and to a flow. */
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

static double sum_over_cells(struct lm_sim *sim, int array)
{
    double *a = array_of(sim, array), sum = 0;
    for (int j = 0; j < sim->grid.ny; j++)
        for (int i = 0; i < sim->grid.nx; i++)
            sum += a[lm_at(&sim->grid, i, j)];
    free(a);
    return sum;
}

/* Ions that are born at rest stay where they were born. The number in each cell is the integral of the rate; its noise
 * comes from the independent rounding of the expected number in each step. Positions within a cell are uniform. */
START_TEST(numbers)
{
    enum { STEPS = 480 };
    const double dt = 0.05, ppc = 17;
    struct lm_sim *sim =
        sim_new(EMPTY("steps = 480\ndt = 0.05\n", "", "17") "[ionisation.comet]\nspecies = p\n"
                                                            "rate = (0.3 + x*y/12)*(1 + 0.9*sin(3*t))\n",
                NULL);
    double count[NX * NY] = {0}, chi2 = 0, mean_x = 0, mean_y = 0, product = 0, all = 0, variance = 0;
    advance(sim, STEPS);
    struct particles p = particles_of(sim, 0);
    ck_assert(p.count == sim->ledger[0].injected[LM_IONISED].number && sim->ledger[0].loaded == 0);
    for (uint64_t k = 0; k < p.count; k++) {
        const double x = place(p.raw.x, k), y = place(p.raw.y, k), a = x - floor(x) - 0.5, b = y - floor(y) - 0.5;
        count[(int)y * NX + (int)x]++;
        mean_x += a / (double)p.count;
        mean_y += b / (double)p.count;
        product += a * b / (double)p.count;
    }
    for (int cell = 0; cell < NX * NY; cell++) {
        const double x = (cell % NX + 0.5) * 0.25, y = (cell / NX + 0.5) * 0.25;
        double mean = 0, spread = 0;
        for (int step = 0; step < STEPS; step++) {
            const double e = (0.3 + x * y / 12) * (1 + 0.9 * sin(3 * (step + 0.5) * dt)) * dt * ppc;
            mean += e;
            spread += (e - floor(e)) * (1 - (e - floor(e)));
        }
        chi2 += (count[cell] - mean) * (count[cell] - mean) / spread;
        all += mean;
        variance += spread;
    }
    const double cells = NX * NY, n = (double)p.count;
    ck_assert_msg(fabs(n - all) < 4.5 * sqrt(variance), "%g born, %g +- %g expected", n, all, sqrt(variance));
    ck_assert_msg(fabs(chi2 - cells) < 5 * sqrt(2 * cells), "chi^2 %g in %g cells", chi2, cells);
    require(fabs(mean_x) < 4.5 / sqrt(12 * n) && fabs(mean_y) < 4.5 / sqrt(12 * n));
    require(fabs(product) < 4.5 / (12 * sqrt(n)));
    particles_free(&p);
    sim_free(sim);
}
END_TEST

/* Without fields ions keep the velocity of their birth: a drifting Maxwellian, in the sums and in the ledger. */
START_TEST(velocities)
{
    const double mass = 2, t = 0.7, drift[3] = {0.5, -0.3, 0.8}, weight = 0.0625 / 40, sigma2 = t / mass;
    struct lm_sim *sim =
        sim_new(EMPTY("steps = 30\ndt = 0.05\n", "", "40") "mass = 2\n[ionisation.comet]\nspecies = p\n"
                                                           "rate = 1\ntemperature = 0.7\nvx = 0.5\n"
                                                           "vy = -0.3\nvz = 0.8\n",
                _i ? "particles.shape=quadratic" : NULL);
    double value[LM_LEDGER_VALUES], sum[3] = {0}, squares[3] = {0}, energy = 0;
    advance(sim, 30);
    struct particles p = particles_of(sim, 0);
    const double n = (double)p.count;
    ck_assert(n == NX * NY * 60.0); /* exactly two in each cell and step */
    lm_ledger_values(&sim->ledger[0], &sim->ledger[0].injected[LM_IONISED], lm_sim_weight(sim, 0), mass, value);
    for (uint64_t k = 0; k < p.count; k++) {
        const double v[3] = {velocity(p.raw.vx, k), velocity(p.raw.vy, k), velocity(p.raw.vz, k)};
        for (int d = 0; d < 3; d++) {
            sum[d] += v[d];
            squares[d] += (v[d] - drift[d]) * (v[d] - drift[d]);
            energy += 0.5 * v[d] * v[d];
        }
    }
    for (int d = 0; d < 3; d++) {
        require_near(sum[d] / n, drift[d], 4.5 * sqrt(sigma2 / n));
        require_near(squares[d] / n, sigma2, 4.5 * sigma2 * sqrt(2 / n));
        require_near(value[2 + d], mass * weight * sum[d], 1e-9 * mass * weight * n);
    }
    const double u2 = drift[0] * drift[0] + drift[1] * drift[1] + drift[2] * drift[2];
    require_near(energy / n, 0.5 * u2 + 1.5 * sigma2, 4.5 * sqrt((u2 * sigma2 + 1.5 * sigma2 * sigma2) / n));
    require_near(value[5], mass * weight * energy, 1e-9 * mass * weight * n);
    require(value[0] == n && fabs(value[1] - n * weight) < 1e-12 * n * weight);
    particles_free(&p);
    sim_free(sim);
}
END_TEST

/* Position, velocity and time of a birth are independent of each other, of other births, and of other steps and
 * sources. */
START_TEST(independent)
{
    enum { COUNT = 40000, KINDS = 6 };
    static double value[COUNT][KINDS];
    const double zero = 0, one = 1;
    double product[KINDS][KINDS] = {{0}}, next[KINDS] = {0};
    for (uint32_t k = 0; k < COUNT; k++) {
        struct lm_flight f;
        /* What changes from birth to birth, by _i: the cell, the number in a cell, the step, the source. */
        const struct lm_ionise s = {.thermal = &one,
                                    .drift = {&zero, &zero, &zero},
                                    .key = lm_step_key(7, _i == 2 ? k : 0),
                                    .source = _i == 3 ? (int)k : 0};
        const double part =
            lm_draw_newborn(&f, &s, NULL, 0, 3, 4, _i == 0 ? k : 0, _i == 1 ? k : 0, _i == 1 ? 1 << 30 : 1);
        const double v[KINDS] = {place(&f.x, 0), place(&f.y, 0), f.vx, f.vy, f.vz, _i == 1 ? 0.5 : part};
        for (int a = 0; a < KINDS; a++) /* with mean 0 and variance 1 */
            value[k][a] = a == 2 || a == 3 || a == 4 ? v[a] : (v[a] - 0.5) * sqrt(12);
    }
    for (int k = 0; k < COUNT; k++)
        for (int a = 0; a < KINDS; a++) {
            next[a] += value[k][a] * value[(k + 1) % COUNT][a];
            for (int b = 0; b < KINDS; b++)
                product[a][b] += value[k][a] * value[k][b];
        }
    for (int a = 0; a < KINDS; a++) {
        require(fabs(next[a]) < 4.5 * sqrt(COUNT));
        for (int b = 0; b < a; b++)
            require(fabs(product[a][b]) < 4.5 * sqrt(COUNT));
    }
}
END_TEST

/* Moments from the step of birth on. The density n+1 contains all ions. The current n+1/2 contains those that are born
 * by then: half of the last step's ions, as four are born in four equal parts of the step. Each ion has moved for the
 * time since its birth. */
START_TEST(moments_at_birth)
{
    const double dt = 0.25, v = 2, cells = NX * NY;
    struct lm_sim *sim = sim_new(EMPTY("steps = 3\ndt = 0.25\n", "", "16") "[ionisation.comet]\nspecies = p\nrate = 1\n"
                                                                           "vx = 2*((x-3)^2 < 1e-1)\nvy = 2\nvz = -2\n",
                                 _i ? "particles.shape=quadratic" : NULL);
    for (int step = 1; step <= 3; step++) {
        advance(sim, step);
        require(born(sim, 0) == 4 * cells * step);
        require_near(sum_over_cells(sim, LM_N_OLD), 0.25 * cells * step, 1e-9 * cells);
        /* The current in each of 4 to 9 nodes is rounded to 2^-16 of the largest speed, up or down with zero mean. */
        const double rounding = 3 * sqrt(9 * 4 * cells * step) * 4 * 0x1p-16 / 16;
        require_near(sum_over_cells(sim, LM_J_OLD + 1), v * 0.25 * cells * (step - 0.5), rounding);
        require_near(sum_over_cells(sim, LM_J_OLD + 2), -v * 0.25 * cells * (step - 0.5), rounding);
    }
    sim_free(sim);

    sim = sim_new(EMPTY("steps = 1\ndt = 0.25\n", "", "16") "[ionisation.comet]\nspecies = p\n"
                                                            "rate = (x > 2)*(x < 2.25)\nvx = 2\n",
                  NULL);
    advance(sim, 1);
    struct particles p = particles_of(sim, 0);
    double mean = 0;
    for (uint64_t k = 0; k < p.count; k++)
        mean += (place(p.raw.x, k) - 8.5) / (double)p.count;
    ck_assert(p.count == 4 * NY);
    /* Positions are uniform in a cell, and the births in quarters of the step shift them by v dt/dx times the time. */
    const double way = v * dt / 0.25, spread = sqrt((1 + way * way / 16) / 12 / (double)p.count);
    require_near(mean, 0.5 * way, 4.5 * spread);
    particles_free(&p);
    sim_free(sim);
}
END_TEST

/* Ions are born at rest in crossed fields, at a constant rate. Each follows a cycloid about the drift U. Averages over
 * all ages are <v_x> = U (1 - sin t / t), <v_y> = U (1 - cos t) / t and <m v^2 / 2> = m U^2 (1 - sin t / t). At t = 2
 * pi k this is the ring of pick-up ions with the mean U and the energy m U^2. The error is of second order in dt. */
static void pick_up(double dt, int steps, double error[3])
{
    const double u = 0.6, mass = 1;
    char text[1024];
    snprintf(text, sizeof text,
             EMPTY("steps = %d\ndt = %.17g\n", "bz = 1\ney = 0.6\n", "20") "[ionisation.comet]\nspecies = p\n"
                                                                           "rate = 0.1/dt\n",
             steps, dt);
    struct lm_sim *sim = sim_new(text, NULL);
    struct lm_totals totals;
    advance(sim, steps);
    ck_assert_int_eq(lm_sim_totals(sim, &totals), LM_OK);
    const double t = steps * dt, all = born(sim, 0) * lm_sim_weight(sim, 0) * mass;
    ck_assert(born(sim, 0) == 2.0 * NX * NY * steps);
    error[0] = totals.momentum[0] / all - u * (1 - sin(t) / t);
    error[1] = totals.momentum[1] / all - u * (1 - cos(t)) / t;
    error[2] = (totals.kinetic[0][0] + totals.kinetic[0][1]) / all - u * u * (1 - sin(t) / t);
    require(fabs(totals.momentum[2]) < 1e-12 && totals.kinetic[0][2] < 1e-24);
    sim_free(sim);
}

START_TEST(pick_up_ring)
{
    const double pi = 3.14159265358979323846, end = _i ? 6 * pi : 4.1;
    double coarse[3], fine[3];
    const int steps = _i ? 120 : 30;
    pick_up(end / steps, steps, coarse);
    pick_up(end / (2 * steps), 2 * steps, fine);
    for (int d = 0; d < 3; d++) {
        require(fabs(coarse[d]) < 0.6 * pow(end / steps, 2));
        ck_assert_msg(log2(coarse[d] / fine[d]) > 1.85, "%d: errors %g, %g", d, coarse[d], fine[d]);
    }
}
END_TEST

/* No ions are born in bodies, and as many outside as the plasma has area: to five standard deviations of what is
 * rounded in the cells that the surface cuts, and half a cell, as chords are inside of the circle. Ions that are born
 * at rest beside a body stay there. */
START_TEST(not_in_bodies)
{
    struct lm_sim *sim =
        sim_new(EMPTY("steps = 20\ndt = 0.05\n", "", "20") "[ionisation.comet]\nspecies = p\nrate = 1\n"
                                                           "[body.moon]\nshape = disk\nx = 1\ny = 1\n"
                                                           "radius = 0.9\n",
                NULL);
    const double radius = 0.9 / sim->grid.dx, area = NX * NY - 3.14159265358979323846 * radius * radius;
    int cut = 0;
    ck_assert_double_eq_tol(sim->grid.dx, sim->grid.dy, 1e-12);
    advance(sim, 20);
    struct particles p = particles_of(sim, 0);
    for (uint64_t k = 0; k < p.count; k++) {
        const double x = place(p.raw.x, k) - 1 / sim->grid.dx, y = place(p.raw.y, k) - 1 / sim->grid.dy;
        require(hypot(x, y) > radius - 0.25 / radius - 0.001);
    }
    for (int k = 0; k < NX * NY; k++)
        cut += (sim->obstacle[k] & LM_CUT) != 0;
    ck_assert(cut > 10 && p.count == (uint64_t)born(sim, 0));
    ck_assert_double_eq_tol(born(sim, 0), 20 * area, 20 * 0.5 + 5 * sqrt(20 * cut / 4.0));
    particles_free(&p);
    sim_free(sim);
}
END_TEST

/* Ions that are born at rest load a flow across B with mass. The density is n = 1 + q t and all ions drift with E x B,
 * at u = U / (1 + q t), so the momentum is constant. The error of the momentum is of second order in dt. */
static double momentum_error(double dt, int steps, double *loaded)
{
    const double u = 0.5, q = 0.8;
    char text[1024];
    snprintf(
        text, sizeof text,
        "[run]\nsteps = %d\ndt = %.17g\n" GRID
        "[fields]\nbz = 1\n[species.wind]\nparticles_per_cell = 64\nstart = quiet\ndrift_x = %g\n"
        "[species.p]\nmass = 1\ndensity = 0\nparticles_per_cell = %.17g\n[ionisation.comet]\nspecies = p\nrate = %g\n",
        /* four ions in each cell and step, two of them in the first half of the step */
        steps, dt, u, 4 / (q * dt), q);
    struct lm_sim *sim = sim_new(text, NULL);
    struct lm_totals totals;
    advance(sim, steps);
    ck_assert_int_eq(lm_sim_totals(sim, &totals), LM_OK);
    const double volume = sim->grid.lx * sim->grid.ly;
    *loaded = born(sim, 1) * lm_sim_weight(sim, 1) / volume;
    require_near(*loaded, q * dt * steps, 1e-12);
    sim_free(sim);
    return totals.momentum[0] / (volume * u) - 1;
}

START_TEST(mass_loading)
{
    double loaded;
    const double coarse = momentum_error(0.1, 40, &loaded), fine = momentum_error(0.05, 80, &loaded);
    ck_assert_msg(fabs(coarse) < 0.1 * 0.1 && fabs(fine) < 0.05 * 0.05, "errors %g, %g", coarse, fine);
    ck_assert(loaded > 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ionisation");
    TCase *t = tcase_create("ionisation");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, numbers);
    tcase_add_loop_test(t, velocities, 0, 2);
    tcase_add_loop_test(t, independent, 0, 4);
    tcase_add_loop_test(t, moments_at_birth, 0, 2);
    tcase_add_loop_test(t, pick_up_ring, 0, 2);
    tcase_add_test(t, not_in_bodies);
    tcase_add_test(t, mass_loading);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
