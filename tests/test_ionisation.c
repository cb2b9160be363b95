/* Ions that are born: how many, where, how fast, what they add to the moments, what gases lose, and the books. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LM_PRECISION 64
#include "larmor/physics/particles/ionise.h"
#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

enum { NX = 24, NY = 16 };
#define GRID "[grid]\nnx = 24\nny = 16\nlx = 6\nly = 4\n"

/* Given fields, and nothing in them at first. */
#define EMPTY(time, fields, ppc)                                                                                       \
    "[run]\n" time GRID "[fields]\nsolver = none\n" fields "[species.p]\ndensity = 0\nparticles_per_cell = " ppc "\n"

struct particles {
    uint64_t count;
    struct lm_raw_particles raw;
};

static struct particles particles_of(struct lm_sim *sim, int species)
{
    struct particles p = {sim->count[species], {0}};
    const size_t size = (p.count + 1) * sizeof(double);
    ck_assert_int_eq(lm_sim_compact(sim), LM_OK);
    p.raw = (struct lm_raw_particles){malloc(size), malloc(size), malloc(size), malloc(size), malloc(size)};
    ck_assert_int_eq(sim->backend->ops->get_particles(sim->backend, species, 0, p.count, p.raw), LM_OK);
    return p;
}

static void particles_free(struct particles *p)
{
    free(p->raw.x);
    free(p->raw.y);
    free(p->raw.vx);
    free(p->raw.vy);
    free(p->raw.vz);
}

/* In cells. */
static double place(const int64_t *at, uint64_t k)
{
    return ldexp((double)at[k], -LM_FRACTION_BITS);
}

static double velocity(const void *of, uint64_t k)
{
    return ((const double *)of)[k];
}

static double born(const struct lm_sim *sim, int species)
{
    return (double)sim->ledger[species].injected[LM_IONISED].number;
}

static double sum_over_cells(struct lm_sim *sim, int array)
{
    double *a = array_of(sim, array), sum = 0;
    for (int j = 0; j < sim->grid.ny; j++)
        for (int i = 0; i < sim->grid.nx; i++)
            sum += a[lm_at(&sim->grid, i, j)];
    free(a);
    return sum;
}

/* Ions at rest stay where they were born: the number in each cell is the integral of the rate, rounded to the exactness
 * of independent choices of the fraction in each step; within a cell they are anywhere. */
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

/* Without fields they keep what they were born with: momentum and energy of a drifting Maxwellian, in the ledger too.
 */
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
    ck_assert(n == NX * NY * 60.0); /* expected: two a cell and step, exactly */
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

/* Place, velocity and time of a birth know nothing of each other, of other births and of other steps and sources. */
START_TEST(independent)
{
    enum { COUNT = 40000, KINDS = 6 };
    static double value[COUNT][KINDS];
    const double zero = 0, one = 1;
    double product[KINDS][KINDS] = {{0}}, next[KINDS] = {0};
    for (uint32_t k = 0; k < COUNT; k++) {
        struct lm_flight f;
        /* In turns: cells, numbers in a cell, steps, sources. */
        const struct lm_ionise s = {.thermal = &one,
                                    .drift = {&zero, &zero, &zero},
                                    .key = lm_step_key(7, _i == 2 ? k : 0),
                                    .source = _i == 3 ? (int)k : 0};
        const double part = lm_draw_newborn(&f, &s, 0, 3, 4, _i == 0 ? k : 0, _i == 1 ? k : 0, _i == 1 ? 1 << 30 : 1);
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

/* From the step of birth on: density n+1 of all; current n+1/2 of those born by then, who are half of the last step's,
 * as four are born in four equal parts of it; and each has come as far as it has time. */
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
        /* Parts are rounded to 2^-16 of the largest speed in 4 to 9 nodes, as often up as down. */
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
    /* Uniform in a cell, and v dt/dx times a quarter of the step each. */
    const double way = v * dt / 0.25, spread = sqrt((1 + way * way / 16) / 12 / (double)p.count);
    require_near(mean, 0.5 * way, 4.5 * spread);
    particles_free(&p);
    sim_free(sim);
}
END_TEST

/* Born at rest in crossed fields, at a constant rate: a cycloid about the drift U for each, over all ages
 *     <v_x> = U (1 - sin t / t), <v_y> = U (1 - cos t) / t, <m v^2 / 2> = m U^2 (1 - sin t / t):
 * at t = 2 pi k the ring of pick-up ions with mean U and energy m U^2. The error is of second order in dt. */
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

/* --- gases --- */

#define GAS(initial, more)                                                                                             \
    "[background.gas]\nkind = neutral_gas\ninitial = " initial "\n" more "[ionisation.light]\nspecies = p\ngas = "     \
    "gas\n"

/* What the ions gain the gas loses, in whole quanta, in every step; nowhere is it below 0. */
static void assert_exchange(struct lm_sim *sim)
{
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const double quanta = lm_ionise_quanta(sim->backend->setup.species[0].weight, l->quantum);
    const lm_int128 unit = (lm_int128)1 << (l->exponent - l->quantum);
    double *q = array_of(sim, LM_BACKGROUND);
    require(l->source == -(lm_int128)sim->ledger[0].injected[LM_IONISED].number * (lm_int128)quanta * unit);
    require(lm_background_residual(l) == 0 && lm_background_sum(&sim->grid, q, l->exponent) == l->total);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require(q[lm_at(&sim->grid, i, j)] >= 0);
    free(q);
}

START_TEST(gas_and_ions)
{
    const double dt = 0.05, nu = 0.8, weight = 1.0 / 30; /* no power of two: a particle is rounded to quanta */
    struct lm_sim *sim = sim_new(EMPTY("steps = 60\ndt = 0.05\n", "", "30")
                                     GAS("3 + cos(2*pi*x/lx)", "vx = 1\nvy = 0.5\nweno = 5\n") "frequency = 0.8\n",
                                 _i ? "run.threads=3" : NULL);
    for (int step = 1; step <= 60; step++) {
        advance(sim, step);
        assert_exchange(sim);
        /* The law of decay, of any dt; at most w^2/4 for each choice of a fraction. */
        const double want = NX * NY * 3 * exp(-nu * dt * step), sigma = weight * sqrt(NX * NY * step / 4.0);
        const double total = lm_background_value(&sim->background[0].ledger, sim->background[0].ledger.total);
        require_near(total, want, 4.5 * sigma);
    }
    sim_free(sim);
}
END_TEST

/* Far more than there is: all whole particles of each cell are made at once, the rest stays. */
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

/* A gas that outgrows its quanta while it is ionised: larger quanta must not come between births and books. */
START_TEST(growing_gas)
{
    struct lm_sim *sim = sim_new(EMPTY("steps = 60\ndt = 0.05\n", "", "0.1")
                                     GAS("0.01", "source = 0.02*exp(min(t, 3)*4)\n") "frequency = 0.5*(t > 1)\n",
                                 NULL);
    const int quantum = sim->background[0].ledger.quantum;
    for (int step = 1; step <= 60; step++)
        advance(sim, step); /* the run stops where the books do not close */
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    ck_assert_int_lt(l->quantum, quantum - 3);
    ck_assert(born(sim, 0) > 1000 && lm_background_residual(l) == 0);
    sim_free(sim);
}
END_TEST

/* Two sources of one gas and one species: what the first leaves. */
START_TEST(shared_gas)
{
    struct lm_sim *sim = sim_new(EMPTY("steps = 20\ndt = 0.05\n", "", "25")
                                     GAS("1", "") "frequency = 30\nvx = 1\n[ionisation.more]\nspecies = p\ngas = gas\n"
                                                  "frequency = 30\nvx = -1\n[ionisation.rate]\nspecies = p\nrate = 1\n",
                                 NULL);
    advance(sim, 20);
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const double given = NX * NY * 25 * 20 * 0.05, of_gas = -lm_background_value(l, l->source) * 25;
    require_near(of_gas, NX * NY * 25, 1e-6); /* all of it */
    require_near(born(sim, 0) - of_gas, given, 4.5 * sqrt(NX * NY * 20 / 4.0));
    require(sim->background[0].least >= 0);
    sim_free(sim);
}
END_TEST

/* By itself what is born has the velocity of the gas in its cell: the mean of that on the faces. */
START_TEST(velocity_of_the_gas)
{
    static const char *const flows[] = {"vx = 1 + x*y\nvy = sin(x)*(1 + t)\n", "stream = y*y + cos(x)*(1 + t)\n"};
    char text[1024];
    snprintf(text, sizeof text,
             EMPTY("steps = 1\ndt = 0.1\n", "",
                   "10") "[boundary]\nx_min = reflecting\nx_max = reflecting\ny_min = reflecting\n"
                         "y_max = reflecting\n" GAS(
                             "1", "x_min = open\nx_max = open\ny_min = open\ny_max = open\n%s") "frequency = 1e8\n%s",
             flows[_i % 2], _i < 2 ? "" : "vx = 0.2\nvz = 0.3\n");
    struct lm_sim *sim = sim_new(text, "run.dt=1e-6"); /* most stay in their cells */
    advance(sim, 1);
    double *vx = array_of(sim, LM_BACKGROUND_X), *vy = array_of(sim, LM_BACKGROUND_Y);
    struct particles p = particles_of(sim, 0);
    ck_assert(p.count == 10 * NX * NY);
    for (uint64_t k = 0; k < p.count; k++) {
        const double edge =
            fabs(place(p.raw.x, k) - rint(place(p.raw.x, k))) * fabs(place(p.raw.y, k) - rint(place(p.raw.y, k)));
        if (edge < 1e-3) /* may have come from the cell beside */
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

/* --- in a run --- */

/* In bodies nothing is born; who is born at rest beside them stays. */
START_TEST(not_in_bodies)
{
    struct lm_sim *sim =
        sim_new(EMPTY("steps = 20\ndt = 0.05\n", "", "20") "[ionisation.comet]\nspecies = p\nrate = 1\n"
                                                           "[body.moon]\nshape = disk\nx = 1\ny = 1\n"
                                                           "radius = 0.9\n",
                NULL);
    int cells = 0;
    advance(sim, 20);
    struct particles p = particles_of(sim, 0);
    for (uint64_t k = 0; k < p.count; k++)
        require(!sim->mask[(int)place(p.raw.y, k) * NX + (int)place(p.raw.x, k)]);
    for (int k = 0; k < NX * NY; k++)
        cells += sim->mask[k] == 0;
    ck_assert(cells < NX * NY - 30 && born(sim, 0) == 20.0 * cells && p.count == (uint64_t)(20 * cells));
    particles_free(&p);
    sim_free(sim);
}
END_TEST

/* A flow across B is loaded with ions at rest: its momentum is that of more and more mass, P = n U with n = 1 + q t,
 * and they all drift with E x B: u = U / (1 + q t). What the discrete step does to P is of second order in dt. */
static double momentum_error(double dt, int steps, double *loaded)
{
    const double u = 0.5, q = 0.8;
    char text[1024];
    snprintf(
        text, sizeof text,
        "[run]\nsteps = %d\ndt = %.17g\n" GRID
        "[fields]\nbz = 1\n[species.wind]\nparticles_per_cell = 64\nstart = quiet\ndrift_x = %g\n"
        "[species.p]\nmass = 1\ndensity = 0\nparticles_per_cell = %.17g\n[ionisation.comet]\nspecies = p\nrate = %g\n",
        steps, dt, u, 4 / (q * dt), q); /* four in each cell and step, two of them in its first half */
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

static const char busy_text[] =
    "[run]\nsteps = 30\ndt = 0.05\nseed = 3\n" GRID "[electrons]\ntemperature = 0.2\n[fields]\nbx = 0.2\nbz = 1\n"
    "eta_hyper = 1e-3\n[boundary]\nx_min = inflow\nx_max = absorbing\n"
    "[species.p]\nparticles_per_cell = 8\ntemperature = 0.1\ndrift_x = 0.8\n"
    "[species.heavy]\nmass = 16\ndensity = 0\nparticles_per_cell = 40\n"
    "[body.moon]\nshape = disk\nx = 3\ny = 0\nradius = 0.8\nfields = transparent\n"
    "[background.gas]\nkind = neutral_gas\ninitial = 1\nvx = 1\ninflow = 0.5*t\n"
    "[ionisation.light]\nspecies = heavy\ngas = gas\nfrequency = 1 + sin(5*t)\ntemperature = 1\n"
    "[ionisation.comet]\nspecies = p\nrate = x > 4\nvy = t\n";

static struct lm_sim *restored(const char *path, const char *more)
{
    struct lm_checkpoint head;
    struct lm_sim *sim;
    struct lm_config *c = config_new(busy_text, more);
    ck_assert_msg(!lm_sim_create(c, &sim) && !restore_checkpoint(sim, path, &head), "%s", lm_error());
    return sim;
}

static void checkpoint(struct lm_sim *sim, char *path)
{
    const struct lm_references none = {0};
    struct lm_config *c = (struct lm_config *)sim->config;
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
    ck_assert_msg(!lm_sim_save(sim, &none, 0, path), "%s", lm_error());
}

/* The state, and the books to the last bit: with other threads, tiles, sorts, and restarted on the way. */
START_TEST(same_bits)
{
    static const char *const ways[] = {"run.threads=2", "run.threads=3", "run.tile=16", "run.sort_every=1"};
    struct lm_sim *sim = sim_new(busy_text, NULL), *other;
    uint64_t a, b;
    char path[LM_MAX_PATH];
    if (_i < 4) {
        other = sim_new(busy_text, ways[_i]);
    } else {
        struct lm_sim *first = sim_new(busy_text, NULL);
        advance(first, 13);
        checkpoint(first, path);
        sim_free(first);
        other = restored(path, "run.threads=2");
    }
    advance(sim, 30);
    advance(other, 30);
    ck_assert(!lm_sim_fingerprint(sim, &a) && !lm_sim_fingerprint(other, &b));
    ck_assert_uint_eq(a, b);
    ck_assert(born(sim, 0) > 500 && born(sim, 1) > 500);
    for (int s = 0; s < 2; s++)
        ck_assert_mem_eq(&sim->ledger[s], &other->ledger[s], sizeof sim->ledger[s]);
    ck_assert_mem_eq(&sim->background[0].ledger, &other->background[0].ledger, sizeof sim->background[0].ledger);
    sim_free(sim);
    sim_free(other);
}
END_TEST

/* The books mean nothing without: a run in which a species is not born does not go on with one in which it is. */
START_TEST(other_sources_are_refused)
{
    struct lm_checkpoint head;
    char path[LM_MAX_PATH], text[2048];
    struct lm_sim *sim = sim_new(busy_text, NULL);
    advance(sim, 1);
    checkpoint(sim, path);
    sim_free(sim);
    snprintf(text, sizeof text, "%.*s", (int)(strstr(busy_text, "[ionisation.comet]") - busy_text), busy_text);
    struct lm_config *c = config_new(text, NULL);
    ck_assert_int_eq(lm_sim_create(c, &sim), LM_OK);
    ck_assert_int_eq(restore_checkpoint(sim, path, &head), LM_BAD_INPUT);
    ck_assert_msg(strstr(lm_error(), "particles of species p are born by ionisation there, and not in the run") != NULL,
                  "%s", lm_error());
    sim_free(sim);
}
END_TEST

START_TEST(columns)
{
    struct lm_sim *sim = sim_new(busy_text, NULL);
    double v[LM_LEDGER_VALUES];
    advance(sim, 8);
    struct row r = row_of(sim);
    for (int s = 0; s < 2; s++) {
        static const char *const names[2][LM_LEDGER_VALUES] = {
            {"ionised_p", "ionised_weight_p", "ionised_momentum_x_p", "ionised_momentum_y_p", "ionised_momentum_z_p",
             "ionised_energy_p"},
            {"ionised_heavy", "ionised_weight_heavy", "ionised_momentum_x_heavy", "ionised_momentum_y_heavy",
             "ionised_momentum_z_heavy", "ionised_energy_heavy"}};
        lm_ledger_values(&sim->ledger[s], &sim->ledger[s].injected[LM_IONISED], lm_sim_weight(sim, s), s ? 16 : 1, v);
        ck_assert(v[0] > 100 && v[5] > 0);
        for (int k = 0; k < LM_LEDGER_VALUES; k++)
            ck_assert(value(&r, names[s][k]) == v[k]);
    }
    ck_assert(value(&r, "ledger_residual_p") == 0 && value(&r, "injected_x_min_p") > 0);
    ck_assert_str_eq(find(&r, "ionised_p")->about, "number of the particles born by ionisation");
    require_near(value(&r, "background_gas_source"), -value(&r, "ionised_weight_heavy"), 1e-9);
    free(r.columns);
    sim_free(sim);
}
END_TEST

/* What stops becomes a gas that is ionised in the same step: many more are born than there was gas for before it. */
START_TEST(gas_of_what_stops)
{
    make_file("stopping.txt", "# source = made up\n# energy = normalized\n# stopping = normalized\n0 1e3\n1 1e3\n");
    struct lm_sim *sim =
        sim_new("[run]\ndt = 0.05\nsteps = 3\n" GRID "[fields]\nsolver = none\n[species.beam]\n"
                "density = 10*(x < 1)*(y < 1)\nparticles_per_cell = 400\ntemperature = 0.1\ngas = air\n"
                "stopping_table = stopping.txt\nenergy_cutoff = 10\n[species.ions]\ndensity = 0\n"
                "particles_per_cell = 1000\n[background.air]\nkind = neutral_gas\ninitial = 1\n"
                "[background.vapour]\nkind = neutral_gas\ninitial = 1\ngains = number\n[ionisation.light]\n"
                "species = ions\ngas = vapour\nfrequency = 100*(x < 1)*(y < 1)\n",
                NULL);
    ck_assert_int_eq(lm_sim_check(sim), LM_OK);
    const uint64_t most = lm_sim_most_births(sim, 1);
    ck_assert_int_eq(sim->backend->ops->room(sim->backend, 1, 1000000), LM_OK); /* come what may */
    ck_assert_int_eq(lm_sim_step(sim), LM_OK);
    ck_assert_uint_gt(sim->count[1], 100000);
    ck_assert_uint_le(sim->count[1], most);
    sim_free(sim);
}
END_TEST

static void stops(const char *text, int64_t at, const char *expected)
{
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, at);
    ck_assert_int_eq(lm_sim_check(sim), LM_FAILED);
    ck_assert_msg(strstr(lm_error(), expected) != NULL, "no \"%s\" in %s", expected, lm_error());
    sim_free(sim);
}

START_TEST(stopped)
{
    stops(EMPTY("steps = 20\ndt = 0.05\n", "",
                "2") "[ionisation.comet]\nspecies = p\nrate = 0.01\nvx = t < 0.2 ? 1 : 50\n",
          4, "could cross 10 cells in it (limit 8; its largest |v| = 50)");
    stops(EMPTY("steps = 20\ndt = 0.05\n", "", "2") "[ionisation.comet]\nspecies = p\nrate = 0.2 - t\n", 4,
          "ionisation.comet.rate: \"0.2 - t\" is -0.025 at x = 0.125, y = 0.125, t = 0.225; the least allowed is 0");
    stops(EMPTY("steps = 20\ndt = 0.05\n", "", "2") "[ionisation.comet]\nspecies = p\nrate = t < 0.1 ? 0 : 1e12\n", 2,
          "ionisation comet would bring up to 1e+11 particles into a cell");
}
END_TEST

/* --- configuration --- */

static const char head[] = "[run]\ndt = 0.1\nsteps = 2\n" GRID "[species.protons]\n[species.dust]\n"
                           "[background.gas]\nkind = neutral_gas\ninitial = 1\n[background.dye]\ninitial = 1\n"
                           "[background.wind]\nkind = neutral_gas\nvelocity = ion\ninitial = 1\n[ionisation.comet]\n";
enum { LINE = 20 }; /* of [ionisation.comet] */

static void rejects(const char *text, int line, const char *expected)
{
    static struct lm_config config;
    char all[2048], want[512];
    snprintf(all, sizeof all, "%s%s", head, text);
    ck_assert_msg(lm_config_read_text("case.ini", all, 0, NULL, &config) == LM_BAD_INPUT, "accepted: %s", text);
    snprintf(want, sizeof want, "case.ini:%d: %s", line, expected);
    ck_assert_msg(!strncmp(lm_error(), want, strlen(want)), "no \"%s\" in:\n%s", want, lm_error());
    ck_assert_msg(!strchr(lm_error(), '\n'), "more than one problem:\n%s", lm_error());
    lm_config_free(&config);
}

START_TEST(bad_input)
{
    rejects("rate = 1\n", LINE, "ionisation.comet.species: required and not given");
    rejects("rate = 1\nspecies = proton\n", LINE + 2,
            "ionisation.comet.species: there is no [species.proton], did you mean protons?");
    rejects("rate = 1\nspecies = ions\n", LINE + 2, "ionisation.comet.species: there is no [species.ions]");
    rejects("species = dust\n", LINE, "ionisation.comet.rate: required and not given (or gas and frequency)");
    rejects("species = dust\nrate = 1\ngas = gas\n", LINE + 3, "ionisation.comet.gas: not together with rate");
    rejects("species = dust\nrate = 1\nfrequency = 1\n", LINE + 3,
            "ionisation.comet.frequency: not together with rate");
    rejects("species = dust\nfrequency = 1\n", LINE + 2, "ionisation.comet.frequency: needs gas as well");
    rejects("species = dust\ngas = gas\n", LINE + 2, "ionisation.comet.gas: needs frequency as well");
    rejects("species = dust\nfrequency = 1\ngas = gs\n", LINE + 3,
            "ionisation.comet.gas: there is no [background.gs], did you mean gas?");
    rejects("species = dust\nfrequency = 1\ngas = dye\n", LINE + 3,
            "ionisation.comet.gas: the field is no gas: it needs kind = neutral_gas");
    rejects("species = dust\nfrequency = 1\ngas = wind\nvy = 1\n", LINE,
            "ionisation.comet.vx: required and not given: the ions carry the gas");
    rejects("species = dust\nrate = x - 0.2\n", LINE + 2,
            "ionisation.comet.rate: \"x - 0.2\" is -0.075 at x = 0.125, y = 0.125, t = 0.05; the least allowed is 0");
    rejects("species = dust\nrate = 1/(x > 1)\n", LINE + 2, "ionisation.comet.rate: \"1/(x > 1)\" is infinite at x = ");
    rejects("species = dust\nrate = 1\ntemperature = -1\n", LINE + 3, "ionisation.comet.temperature: \"-1\" is -1 at");
    rejects("species = dust\nrate = 1\nvz = log(x - 1)\n", LINE + 3, "ionisation.comet.vz: \"log(x - 1)\" is ");
    rejects("species = dust\ngas = gas\nfrequency = -t\n", LINE + 3, "ionisation.comet.frequency: \"-t\" is -0.05 at");
    rejects("species = dust\nrate = 1\nrat = 1\n", LINE + 3, "ionisation.comet.rat: unknown key, did you mean rate?");
    rejects("species = dust\nrate = 1\n[ionization.b]\n", LINE + 3,
            "unknown section [ionization.b], did you mean [ionisation.b]?");
}
END_TEST

/* All keys, and again from the echo. */
START_TEST(every_key)
{
    static const char *const texts[] = {"species = dust\nrate = x*t\ntemperature = 1 + x\nvx = t\nvy = 2\nvz = y\n",
                                        "species = protons\ngas = wind\nfrequency = t\nvx = 1\nvy = 0\n",
                                        "species = protons\ngas = gas\nfrequency = 0.1\n"};
    static struct lm_config first, second;
    char all[2048], *echo = NULL;
    size_t length = 0;
    snprintf(all, sizeof all, "%s%s", head, texts[_i]);
    ck_assert_msg(!lm_config_read_text("case.ini", all, 0, NULL, &first), "%s", lm_error());
    ck_assert_int_eq(first.ionisation[0].into, _i == 0);
    ck_assert_int_eq(first.ionisation[0].from, _i == 0 ? -1 : _i == 1 ? 2 : 0);
    ck_assert_str_eq(first.ionisation[0].drift[0], _i == 0 ? "t" : _i == 1 ? "1" : "");
    ck_assert_str_eq(first.ionisation[0].temperature, _i == 0 ? "1 + x" : "0");
    FILE *out = open_memstream(&echo, &length);
    ck_assert_int_eq(lm_config_write(&first, out), LM_OK);
    fclose(out);
    ck_assert_msg(!lm_config_read_text("case.ini", echo, 0, NULL, &second), "%s\n%s", lm_error(), echo);
    struct lm_constants *constants = first.constants;
    first.constants = second.constants;
    ck_assert_mem_eq(&first, &second, sizeof first);
    first.constants = constants;
    free(echo);
    lm_config_free(&first);
    lm_config_free(&second);
}
END_TEST

static void check_says(const char *text, const char *expected, int says)
{
    struct lm_config *c = config_new(text, NULL);
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    ck_assert_msg((strstr(out, expected) != NULL) == says, "\"%s\"%s in %s", expected, says ? " is not" : "", out);
    free(out);
    lm_config_free(c);
    free(c);
}

/* What a source needs of memory: five arrays. */
START_TEST(memory)
{
    struct lm_config *c = config_new(busy_text, NULL);
    struct lm_setup setup = lm_setup_of(c);
    const uint64_t counts[LM_MAX_SPECIES] = {1000};
    for (int kind = LM_BACKEND_CPU; kind <= LM_BACKEND_CUDA; kind++) {
        setup.ionisation_count = 2;
        const double all = lm_backend_bytes(kind, &setup, counts);
        setup.ionisation_count = 0;
        require_near(all - lm_backend_bytes(kind, &setup, counts), 2 * 5 * 8 * (double)setup.grid.size, 1);
    }
    lm_config_free(c);
    free(c);
}
END_TEST

START_TEST(checked)
{
#define RATE(rate, ppc)                                                                                                \
    EMPTY("steps = 100\ndt = 0.05\n", "bz = 1\n", ppc) "[ionisation.comet]\nspecies = p\nrate = " rate "\n"
    /* 384 cells of 1/16; two in each a step; 2 pi / 0.05 steps a gyration */
    check_says(RATE("2", "20"), "comet: 48 n0 d_i^2 Omega_ci of p: 768 particles a step, 7.68e+04 in the run\n", 1);
    check_says(RATE("2", "20"), "half of them in cells with up to 251 in a gyration\n", 1);
    check_says(RATE("2", "20"), "make noise", 0);
    check_says(RATE("0.01", "1"), "fewer than one a cell in a gyration make noise: raise species.p.particles_per_cell",
               1);
    check_says(RATE("2*(x < 3)", "20") "[body.b]\nshape = box\nx = 1\ny = 2\nwidth = 2\nheight = 4\n",
               "comet: 8 n0 d_i^2 Omega_ci of p: 128 particles a step", 1);
    check_says(RATE("2", "20"), "memory grows by up to 0.004005 GiB", 1); /* 76800 of 56 bytes */
    check_says(RATE("2", "20") "vx = 8\n", "the fastest of them cross 1.6 cells in a step\n", 1);
#define LIGHT(ppc, initial, frequency)                                                                                 \
    EMPTY("steps = 100\ndt = 0.05\n", "bz = 1\n", ppc) GAS(initial, "") "frequency = " frequency "\n"
    check_says(LIGHT("20", "3", "0.1"), "light: 7.182 n0 d_i^2 Omega_ci of p from gas: 114.9 particles a step", 1);
    check_says(LIGHT("20", "3", "0.1"),
               "worth 2.304e+04 particles, lasts for 10.03 / Omega_ci at this rate (the run: 5)", 1);
    check_says(LIGHT("20", "0.01", "0.1"), "no cell holds gas for a particle: nothing is born", 1);
    check_says(LIGHT("20", "0.1", "0.1"), "a cell holds gas for 2 particles in the mean", 1);
    check_says(LIGHT("20", "3", "0.1"), "holds gas for", 0);
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
    tcase_add_loop_test(t, gas_and_ions, 0, 2);
    tcase_add_test(t, used_up);
    tcase_add_test(t, growing_gas);
    tcase_add_test(t, shared_gas);
    tcase_add_test(t, gas_of_what_stops);
    tcase_add_loop_test(t, velocity_of_the_gas, 0, 4);
    tcase_add_test(t, not_in_bodies);
    tcase_add_test(t, mass_loading);
    tcase_add_loop_test(t, same_bits, 0, 5);
    tcase_add_test(t, other_sources_are_refused);
    tcase_add_test(t, columns);
    tcase_add_test(t, stopped);
    tcase_add_test(t, bad_input);
    tcase_add_loop_test(t, every_key, 0, 3);
    tcase_add_test(t, memory);
    tcase_add_test(t, checked);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
