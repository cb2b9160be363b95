/* Electrons whose pressure is evolved: waves, heat, conduction, energy beside vacuum, ledger, restarts, input. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "inside.h"
#include "require.h"
#include "sim_run.h"
#include "series_row.h"
#include "suite.h"
#include "larmor/physics/fluid/electrons.h"

static const double GAMMA = 5.0 / 3;

/* Ions so heavy that they stay where they are. */
#define HEAVY "[species.p]\nstart = quiet\nparticles_per_cell = 4\nmass = 1e20\n"

static struct lm_totals totals_of(struct lm_sim *sim)
{
    struct lm_totals t;
    ck_assert_int_eq(lm_sim_totals(sim, &t), LM_OK);
    return t;
}

static double magnetic(const struct lm_totals *t)
{
    return t->magnetic[0] + t->magnetic[1] + t->magnetic[2];
}

static uint64_t fingerprint(struct lm_sim *sim)
{
    uint64_t print;
    ck_assert_int_eq(lm_sim_fingerprint(sim, &print), LM_OK);
    return print;
}

/* An array's cells, [ny][nx]; p_e. */
static double *packed_of(struct lm_sim *sim, int array)
{
    double *a = array_of(sim, array), *packed = malloc(sim->grid.cells * sizeof *packed);
    lm_grid_pack(&sim->grid, a, packed);
    free(a);
    return packed;
}

static double *pressure_of(struct lm_sim *sim)
{
    return packed_of(sim, LM_PRESSURE);
}

/* Twice the mean of a packed array times cos(2 pi (mx x/lx + my y/ly)). */
static double mode_of(const struct lm_grid *g, const double *a, int mx, int my)
{
    double sum = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            sum += a[j * g->nx + i] * cos(2 * M_PI * (mx * (i + 0.5) / g->nx + my * (j + 0.5) / g->ny));
    return 2 * sum / (double)g->cells;
}

/* --- compression --- */

static const char wave_text[] = "[run]\nsteps = 400\ndt = 0.02\n[grid]\nnx = 64\nny = 2\nlx = 16\nly = 0.5\n"
                                "[electrons]\nclosure = evolved\ntemperature = 1\n[fields]\nsmoothing = 0\n"
                                "[species.p]\nstart = quiet\ndrift_x = 0.02*sin(2*pi*x/lx)\n";

/* The velocity of a standing wave, 0.02 at the start, as its sine mode; half a step back. */
static double speed_of(struct lm_sim *sim)
{
    double *j = array_of(sim, LM_J_OLD), sum = 0;
    for (int i = 0; i < 64; i++)
        sum += j[lm_at(&sim->grid, i, 0)] * sin(2 * M_PI * (i + 0.5) / 64) / 32;
    free(j);
    return sum;
}

/* A sound wave of cold ions has omega = k sqrt(gamma T), and p = n^gamma. The velocity of the flow is averaged to the
 * next faces and back, 1 - (k dx)^2 / 4 of it is left, and a difference over a cell leaves 1 - (k dx)^2 / 24: by both
 * of them s falls short of n. Omega, to which the square root of such factors of p, of E and of J counts, misses less
 * than twice that; an amplitude a = 0.02 k / omega of n adds less than a^2. */
START_TEST(sound)
{
    struct lm_sim *sim = sim_new(wave_text, NULL);
    const double k = 2 * M_PI / 16, kdx = k * 0.25, omega = k * sqrt(GAMMA), amplitude = 0.02 * k / omega;
    const double missed = kdx * kdx * (1.0 / 4 + 1.0 / 24);
    const lm_int128 loaded = sim->background[0].ledger.loaded;
    double before = speed_of(sim), crossing = 0, most = 0;
    for (int n = 1; n <= 400; n++) {
        advance(sim, n);
        const double now = speed_of(sim);
        if (crossing == 0 && now < 0)
            crossing = 0.02 * (n - 0.5 - now / (now - before));
        before = now;
        double *p = pressure_of(sim), *density = packed_of(sim, LM_N_OLD);
        for (size_t c = 0; c < sim->grid.cells; c++)
            density[c] = pow(density[c], GAMMA);
        const double adiabatic = mode_of(&sim->grid, density, 1, 0);
        require_near(mode_of(&sim->grid, p, 1, 0), adiabatic, 1.05 * GAMMA * amplitude * missed);
        most = fmax(most, fabs(adiabatic));
        free(p);
        free(density);
    }
    ck_assert_double_eq_tol(most, GAMMA * amplitude, GAMMA * amplitude * (2 * missed + amplitude));
    ck_assert_double_eq_tol(0.5 * M_PI / crossing, omega, omega * (2 * missed + amplitude * amplitude));
    ck_assert(sim->background[0].ledger.total == loaded);
    sim_free(sim);
}
END_TEST

/* Everything at once in two dimensions, whose density and pressure make B (Biermann). */
static const char mixed_text[] =
    "[run]\nsteps = 10\ndt = 0.05\n[grid]\nnx = 16\nny = 16\nlx = 8\nly = 8\n"
    "[const]\nkx = 2*pi/lx\nky = 2*pi/ly\n"
    "[electrons]\nclosure = evolved\ninitial_temperature = 1 + 0.4*cos(kx*x)\nconductivity = 0.2\n"
    "conductivity_across = 0.05\n"
    "[fields]\nbx = 0.1\nbz = 0.5\nby = 0.2*sin(kx*x)\neta = 0.05\neta_hyper = 1e-2\nmin_substeps = 4\n"
    "[particles]\nshape = quadratic\n"
    "[species.p]\nstart = quiet\nparticles_per_cell = 16\ndensity = 1 + 0.4*cos(ky*y)\ndrift_x = 0.3*sin(kx*x)\n";

/* Largest difference of an array between two runs at their ends. */
static double differ(struct lm_sim *a, struct lm_sim *b, int array)
{
    double *p = array_of(a, array), *q = array_of(b, array), most = 0;
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++)
            most = fmax(most, fabs(p[lm_at(&a->grid, i, j)] - q[lm_at(&a->grid, i, j)]));
    free(p);
    free(q);
    return most;
}

/* The differences between runs of halved steps fall by four. */
START_TEST(second_order_in_time)
{
    struct lm_sim *sim[3];
    for (int n = 0; n < 3; n++) {
        char dt[32];
        snprintf(dt, sizeof dt, "run.dt=%g", 0.05 / (1 << n));
        sim[n] = sim_new(mixed_text, dt);
        advance(sim[n], 20 << n);
    }
    static const int arrays[] = {LM_B + 2, LM_PRESSURE, LM_BACKGROUND};
    for (int k = 0; k < 3; k++) {
        const double coarse = differ(sim[0], sim[1], arrays[k]), fine = differ(sim[1], sim[2], arrays[k]);
        ck_assert_double_eq_tol(log2(coarse / fine), 2, 0.3);
    }
    for (int n = 0; n < 3; n++)
        sim_free(sim[n]);
}
END_TEST

/* --- heat --- */

/* `keys` stands in [fields]. */
static struct lm_sim *decay_new(const char *keys, double dt, double t_end)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[run]\nt_end = %g\ndt = %g\n[grid]\nnx = 32\nny = 2\nlx = 8\nly = 0.5\n"
             "[electrons]\nclosure = evolved\ntemperature = 0.3\n"
             "[fields]\nby = 0.5*sin(2*pi*(x + 0.3)/lx)\nmin_substeps = 4\nmax_substeps = 1000\n%s\n" HEAVY,
             t_end, dt, keys);
    return sim_new(text, NULL);
}

/* A current along z decays at the rate r / 2 = eta k^2 + eta_H k^4 (k^2 of the grid) and leaves its energy to the
 * electrons, but for the trapezium rule in time: heat ~ exp(-r t), so by (r dt)^2 / 12 of it. */
START_TEST(resistive_decay)
{
    static const struct {
        const char *key;
        double eta, eta_hyper;
    } kinds[] = {{"eta = 0.2", 0.2, 0}, {"eta_hyper = 0.2", 0, 0.2}, {"eta = 0.1\neta_hyper = 0.1", 0.1, 0.1}};
    const double k2 = pow(2 / 0.25 * sin(M_PI / 32), 2);
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        const double rate = 2 * k2 * (kinds[n].eta + k2 * kinds[n].eta_hyper);
        double error[2];
        for (int half = 0; half < 2; half++) {
            const double dt = half ? 0.2 : 0.4;
            struct lm_sim *sim = decay_new(kinds[n].key, dt, 8);
            const struct lm_totals start = totals_of(sim);
            advance(sim, sim->config->run.steps);
            const struct lm_totals end = totals_of(sim);
            const double heat = magnetic(&start) * -expm1(-rate * 8), gain = end.electrons - start.electrons;
            error[half] = gain / heat - 1;
            ck_assert_double_eq_tol(error[half], pow(rate * dt, 2) / 12, 0.05 * pow(rate * dt, 2) / 12);
            ck_assert_double_eq_tol(magnetic(&start) - magnetic(&end), heat, 1e-7 * heat);
            struct row r = row_of(sim);
            ck_assert_double_eq_tol(value(&r, "electron_heat"), gain, 1e-11);
            ck_assert_double_gt(value(&r, "background_electrons_source"), 0);
            ck_assert(value(&r, "background_electrons_residual") == 0);
            free(r.columns);
            sim_free(sim);
        }
        ck_assert_double_eq_tol(error[0] / error[1], 4, 0.2);
    }
}
END_TEST

/* What Faraday's law takes from B in two dimensions, by every part of the resistivity, is what the electrons get: with
 * all components of B, a resistivity that varies, layers, voids. One short step, so that nothing else has changed: the
 * trapezium rule and Runge-Kutta miss (omega dt)^2. Walls and bodies: with no hyper-resistivity, which works against
 * what lies behind them. */
START_TEST(heat_of_every_resistivity)
{
    static const struct {
        const char *keys;
        int closed;
    } kinds[] = {{"[fields]\neta = 0.02*(1 + x/lx)", 1},
                 {"[fields]\neta_hyper = 1e-3", 1},
                 {"[fields]\neta = 0.01\neta_hyper = 1e-3\nvacuum = zero_e\neta_vacuum = 0.3\ndensity_floor = 1.1", 1},
                 {"[fields]\neta = 0.01\neta_hyper = 1e-3\nfriction = off", 1}};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "[run]\nsteps = 1\ndt = 1e-4\n[grid]\nnx = 12\nny = 10\nlx = 6\nly = 5\n[const]\nk = 2*pi/lx\nq = 2*pi/ly\n"
            "[electrons]\nclosure = evolved\ntemperature = 0.3\n"
            "[fields]\naz = 0.3*cos(k*x)*sin(q*y + 1)\nbz = 0.5*sin(k*x + q*y)\n"
            "[species.p]\nstart = quiet\nparticles_per_cell = 4\nmass = 1e20\n%s\n",
            kinds[n].keys);
        struct lm_sim *sim = sim_new(text, NULL);
        const struct lm_totals start = totals_of(sim);
        advance(sim, 1);
        const struct lm_totals end = totals_of(sim);
        const double lost = magnetic(&start) - magnetic(&end);
        struct row r = row_of(sim);
        ck_assert_double_eq_tol(value(&r, "electron_heat"), lost, 1e-5 * lost);
        free(r.columns);
        sim_free(sim);
    }
}
END_TEST

/* --- conduction --- */

/* T = 1 + 0.1 cos of mode (mx, my) in plasma at rest, n = 1; the share of the mode that is left at the end. */
static double left_of_mode(const char *keys, int cells, int mx, int my, double dt, double t_end)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[run]\nt_end = %g\ndt = %g\n[grid]\nnx = %d\nny = %d\nlx = 8\nly = 8\n"
             "[fields]\nmax_substeps = 1000\nsmoothing = 0\n" HEAVY
             "[electrons]\nclosure = evolved\ninitial_temperature = 1 + 0.1*cos(2*pi*(%d*x + %d*y)/8)\n%s\n",
             t_end, dt, cells, cells, mx, my, keys);
    struct lm_sim *sim = sim_new(text, NULL);
    const double energy = totals_of(sim).electrons;
    advance(sim, sim->config->run.steps);
    ck_assert_double_eq_tol(totals_of(sim).electrons, energy, 1e-12 * energy);
    double *p = pressure_of(sim);
    const double left = mode_of(&sim->grid, p, mx, my) / 0.1;
    free(p);
    sim_free(sim);
    return left;
}

/* exp(-(gamma - 1) kappa k^2 t / n) with the grid's k^2, isotropic and along and across B = x and B = y; without B the
 * heat flows as along it. Heun's method misses (r dt)^2 / 6 of the exponent r t in its substeps, of which there are at
 * least two a step. */
START_TEST(conduction_decays)
{
    static const struct {
        const char *keys;
        int mx, my;
        double kappa;
    } kinds[] = {{"conductivity = 1\nconductivity_across = 1\n[fields]\nbx = 0.3", 1, 0, 1},
                 {"conductivity = 1\nconductivity_across = 1\n[fields]\nbx = 0.3\nby = 0.4", 1, 2, 1},
                 {"conductivity = 1\nconductivity_across = 0.1\n[fields]\nbx = 0.3", 1, 0, 1},
                 {"conductivity = 1\nconductivity_across = 0.1\n[fields]\nbx = 0.3", 0, 1, 0.1},
                 {"conductivity = 1\nconductivity_across = 0.1\n[fields]\nby = 0.3", 0, 1, 1},
                 {"conductivity = 1\nconductivity_across = 0.1\n[fields]\nby = 0.3", 1, 0, 0.1},
                 {"conductivity = 1\nconductivity_across = 0.1\n[fields]\nbz = 0.3", 1, 0, 0.1},
                 {"conductivity = 1\nconductivity_across = 0.1", 0, 1, 1}};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        const double dt = 0.05, t_end = 2, d = 8.0 / 16;
        const double k2 = pow(2 / d * sin(M_PI * kinds[n].mx / 16), 2) + pow(2 / d * sin(M_PI * kinds[n].my / 16), 2);
        const double rate = (GAMMA - 1) * kinds[n].kappa * k2;
        const double left = left_of_mode(kinds[n].keys, 16, kinds[n].mx, kinds[n].my, dt, t_end);
        ck_assert_double_eq_tol(-log(left) / t_end, rate, 1e-9 + 1.1 * rate * pow(0.5 * rate * dt, 2) / 6);
    }
}
END_TEST

/* Of second order in space along and across an oblique B too, where slopes along the faces count; there the limiter
 * leaves less than that at extremes, so no more than 1.5 is asked for. */
START_TEST(conduction_converges)
{
    static const struct {
        const char *keys;
        int mx, my;
        double kappa, k2, least;
    } kinds[] = {{"conductivity = 1\nconductivity_across = 1", 1, 0, 1, 1, 1.95},
                 {"conductivity = 1\nconductivity_across = 0\n[fields]\nbx = 0.3\nby = 0.3", 1, 1, 1, 2, 1.5},
                 {"conductivity = 1\nconductivity_across = 0\n[fields]\nbx = 0.3\nby = 0.6", 1, 1, 0.9, 2, 1.5},
                 {"conductivity = 0.2\nconductivity_across = 1\n[fields]\nbx = 0.3\nby = 0.3", 1, 1, 0.2, 2, 1.5}};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        const double rate = (GAMMA - 1) * kinds[n].kappa * kinds[n].k2 * pow(2 * M_PI / 8, 2), exact = exp(-rate);
        double error[3];
        for (int fine = 0; fine < 3; fine++)
            error[fine] = fabs(left_of_mode(kinds[n].keys, 12 << fine, kinds[n].mx, kinds[n].my, 0.02, 1) - exact);
        ck_assert_double_ge(log2(error[0] / error[2]) / 2, kinds[n].least);
    }
}
END_TEST

START_TEST(slopes)
{
    ck_assert(lm_limited_mean(1, 2, 3, 2) == 2 && lm_limited_mean(-1, -2, -3, -2) == -2);
    ck_assert(lm_limited_mean(1, 4, 4, 4) == 2 && lm_limited_mean(-4, -4, -1, -4) == -2); /* twice the least */
    for (int k = 0; k < 4; k++)                                                           /* none at an extreme */
        for (int zero = 0; zero < 2; zero++) {
            double v[4] = {3, 3, 3, 3};
            v[k] = zero ? 0 : -2;
            ck_assert(lm_limited_mean(v[0], v[1], v[2], v[3]) == 0);
            ck_assert(lm_limited_mean(-v[0], -v[1], -v[2], -v[3]) == 0);
        }
}
END_TEST

/* A hot patch on rings of B: heat goes along them, and no T leaves what there was at the start (Parrish and Stone 2005,
 * Sharma and Hammett 2007). */
START_TEST(rings)
{
    static const char text[] =
        "[run]\nt_end = 6\ndt = 0.05\n[grid]\nnx = 40\nny = 40\nlx = 8\nly = 8\n[fields]\naz = cos(2*pi*x/lx) + "
        "cos(2*pi*y/ly)\n"
        "max_substeps = 1000\nsmoothing = 0\n" HEAVY "[electrons]\nclosure = evolved\nconductivity = 0.5\n"
        "initial_temperature = 1 + 9*((x-5.6)^2 + (y-4)^2 < 0.4)\n";
    struct lm_sim *sim = sim_new(text, NULL);
    const double energy = totals_of(sim).electrons;
    for (int n = 1; n <= 120; n++) {
        advance(sim, n);
        double *p = pressure_of(sim);
        for (size_t k = 0; k < sim->grid.cells; k++)
            require(p[k] > 1 - 1e-11 && p[k] < 10 + 1e-10);
        free(p);
    }
    double *p = pressure_of(sim);
    ck_assert_double_gt(p[20 * 40 + 12], 1.1); /* the other side of the ring */
    ck_assert_double_lt(p[20 * 40 + 20], 1.1); /* its centre, and far outside */
    ck_assert_double_lt(p[20 * 40 + 38], 1.1);
    /* In each half of a step a cell's entropy is rounded by up to half a quantum U: dp / (gamma - 1) = gamma p / s U/2.
     */
    const double quantum = ldexp(1, -sim->background[0].ledger.quantum), area = 0.2 * 0.2;
    double rounded = 0;
    for (size_t k = 0; k < sim->grid.cells; k++)
        rounded += 240 * 0.5 * quantum * area * GAMMA / (GAMMA - 1) * pow(10, 1 - 1 / GAMMA);
    ck_assert_double_eq_tol(totals_of(sim).electrons, energy, rounded);
    free(p);
    sim_free(sim);
}
END_TEST

/* No heat goes through walls, where slopes along them would drive it. So cold that the currents which E on the walls
 * drives carry next to nothing: T and what they change of it are as the square. */
START_TEST(walls)
{
    static const char text[] =
        "[run]\nsteps = 20\ndt = 0.05\n[grid]\nnx = 12\nny = 12\nlx = 6\nly = 6\n[boundary]\nx_min = reflecting\n"
        "x_max = thermal\ny_min = reflecting\ny_max = absorbing\n[fields]\nbx = 0.3\nby = 0.2\nsmoothing = 0\n" HEAVY
        "[electrons]\nclosure = evolved\ninitial_temperature = 1e-6*(1 + 0.1*x + 0.05*y)\nconductivity = 1\n";
    struct lm_sim *sim = sim_new(text, NULL);
    const double energy = totals_of(sim).electrons;
    double *before = pressure_of(sim);
    advance(sim, 20);
    double *after = pressure_of(sim);
    ck_assert_double_eq_tol(totals_of(sim).electrons, energy, 1e-5 * energy);
    ck_assert_double_gt(after[0], before[0] + 1e-8); /* the cold corner has been warmed */
    free(before);
    free(after);
    sim_free(sim);
}
END_TEST

/* --- beside vacuum --- */

/* Heat stays in a bounded slab at rest, beside voids and around a body. */
START_TEST(heat_stays_beside_vacuum)
{
    static const char text[] =
        "[run]\nsteps = 40\ndt = 0.05\n[grid]\nnx = 48\nny = 1\nlx = 12\nly = 0.25\n[fields]\nsmoothing = 0\n" HEAVY
        "density = abs(x - 6) < 4\n[body.wall]\nshape = box\nx = 5\ny = 0.125\nwidth = 1\nheight = 1\n"
        "[electrons]\nclosure = evolved\ninitial_temperature = 1 + 0.5*cos(x)\nconductivity = 1\nconductivity_across = "
        "1\n";
    struct lm_sim *sim = sim_new(text, NULL);
    double *before = packed_of(sim, LM_BACKGROUND), *n = packed_of(sim, LM_N_OLD);
    const double energy = totals_of(sim).electrons;
    advance(sim, 40);
    double *after = packed_of(sim, LM_BACKGROUND), least = INFINITY, most = 0;
    int changed = 0;
    for (size_t k = 0; k < sim->grid.cells; k++) {
        const int floored = n[k] <= sim->config->fields.density_floor || sim->mask[k];
        require(!floored || after[k] == before[k]);
        changed += after[k] != before[k];
        if (!floored) {
            least = fmin(least, pow(after[k], GAMMA) / n[k]);
            most = fmax(most, pow(after[k], GAMMA) / n[k]);
        }
    }
    ck_assert_int_gt(changed, 20);
    ck_assert(least > 0.5 && most < 1.5 && most - least < 0.9); /* between 0.5 and 1.5 at the start */
    ck_assert_double_eq_tol(totals_of(sim).electrons, energy, 1e-12 * energy);
    free(before);
    free(after);
    free(n);
    sim_free(sim);
}
END_TEST

/* A slab that expands into vacuum: its entropy is conserved to the last quantum; energy but for the work that the
 * pressure does below the density floor, where E is not all of grad p / n. That is as the floor: a fifth of it loses
 * less than a third (measured: a quarter), and no more than the floor's share of the density. */
static double slab_loss(const char *floor)
{
    static const char text[] =
        "[run]\nsteps = 300\ndt = 0.01\n[grid]\nnx = 96\nny = 1\nlx = 12\nly = 0.125\n"
        "[electrons]\nclosure = evolved\ninitial_temperature = 1\n[particles]\nshape = quadratic\n"
        "[species.p]\nstart = quiet\nparticles_per_cell = 1024\ntemperature = 0.5\n"
        "density = cos(pi*min(abs(x-6),2)/4)^2\n";
    struct lm_sim *sim = sim_new(text, floor);
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const struct lm_totals start = totals_of(sim);
    for (int n = 1; n <= 300; n++) {
        advance(sim, n);
        require(l->total == l->loaded && l->source == 0 && sim->background[0].least >= 0);
    }
    const struct lm_totals end = totals_of(sim);
    ck_assert_double_lt(end.electrons, 0.7 * start.electrons); /* it has expanded */
    sim_free(sim);
    return fabs(end.energy / start.energy - 1);
}

START_TEST(energy_beside_vacuum)
{
    const double loss = slab_loss("fields.density_floor=0.05"), less = slab_loss("fields.density_floor=0.01");
    ck_assert_double_lt(loss, 0.05);
    ck_assert_double_lt(less, 0.01);
    ck_assert_double_lt(less, loss / 3);
}
END_TEST

/* The same energy in two dimensions, at steep edges in a field that the step does not resolve by far: B and pressure
 * must not feed each other. Heat is counted where it comes from. */
START_TEST(edges_are_stable)
{
    static const char text[] =
        "[run]\nsteps = 40\ndt = 0.02\n[grid]\nnx = 32\nny = 32\nlx = 8\nly = 8\n"
        "[electrons]\nclosure = evolved\ninitial_temperature = 1\n[particles]\nshape = quadratic\n"
        "[fields]\nbz = 1\neta = 0.02\neta_hyper = 1e-3\n[species.p]\nstart = quiet\nparticles_per_cell = 64\n"
        "density = cos(pi*sqrt(min((x-4)^2 + (y-4)^2, 4))/4)^2\n";
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_totals start = totals_of(sim);
    advance(sim, 40);
    const struct lm_totals end = totals_of(sim);
    ck_assert_double_lt(fabs(end.energy - start.energy), 0.05 * start.electrons);
    ck_assert_double_lt(end.electrons, start.electrons);
    sim_free(sim);
}
END_TEST

/* --- books and restarts --- */

/* Everything at once: an inflow side, walls, a body, layers, voids, every kind of heat, another field. */
static const char open_text[] =
    "[run]\nsteps = 30\ndt = 0.04\nseed = 3\n[grid]\nnx = 24\nny = 16\nlx = 6\nly = 4\n"
    "[electrons]\nclosure = evolved\ninitial_temperature = 0.2 + 0.05*sin(y)\ngamma = 1.6\nconductivity = 0.1\n"
    "conductivity_across = 0.02\nweno = 5\n"
    "[fields]\nbx = 0.2\nbz = 1\neta = 0.01\neta_hyper = 1e-3\neta_vacuum = 0.1\ndensity_floor = 0.3\n"
    "[boundary]\nx_min = inflow\nx_max = absorbing\ny_min = reflecting\ny_max = thermal\ny_max_temperature = 0.1\n"
    "layer_x_max = 1\nlayer_eta = 0.1\n"
    "[species.p]\nparticles_per_cell = 8\ntemperature = 0.1\ndrift_x = 0.8\ninflow_density = 1 + 0.2*sin(t)\n"
    "[body.moon]\nshape = disk\nx = 3\ny = 2\nradius = 0.6\nfields = resistive\nresistivity = 0.3\n"
    "[background.dye]\ninitial = x < 3\nvelocity = electron\ninflow = 1\n";

START_TEST(books)
{
    struct lm_sim *sim = sim_new(open_text, NULL);
    const struct lm_background_ledger *l = &sim->background[1].ledger;
    for (int n = 1; n <= 30; n++) {
        advance(sim, n);
        double *s = array_of(sim, LM_BACKGROUND + 1);
        require(lm_background_sum(&sim->grid, s, l->exponent) == l->total);
        require(lm_background_residual(l) == 0);
        for (int k = 0; k < 16 * 24; k++) {
            const double v = s[lm_at(&sim->grid, k % 24, k / 24)];
            require(v >= 0 && (!sim->mask[k] || v == 0));
        }
        free(s);
    }
    ck_assert(l->source > 0 && l->entered[LM_X_MIN] > 0 && l->entered[LM_X_MAX] < 0);
    ck_assert(l->entered[LM_Y_MIN] == 0 && l->entered[LM_Y_MAX] == 0);
    ck_assert_double_gt(sim->electrons.heat, 0);
    ck_assert_int_gt((int)sim->electrons.substeps, 0);
    sim_free(sim);
}
END_TEST

static struct lm_sim *restored(const char *path, const char *text, const char *more, int expected)
{
    struct lm_sim *sim;
    struct lm_checkpoint head;
    struct lm_config *c = config_new(text, more);
    ck_assert_msg(!lm_sim_create(c, &sim), "%s", lm_error());
    ck_assert_msg(restore_checkpoint(sim, path, &head) == expected, "%s", lm_error());
    return sim;
}

static void checkpoint_of(struct lm_sim *sim, char *path)
{
    static const struct lm_references none;
    struct lm_config *c = (struct lm_config *)sim->config;
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
    ck_assert_msg(!lm_sim_save(sim, &none, 0, path), "%s", lm_error());
}

START_TEST(restarts)
{
    struct lm_sim *whole = sim_new(open_text, NULL);
    char path[LM_MAX_PATH];
    uint64_t stored;
    advance(whole, 3 * _i);
    checkpoint_of(whole, path);
    ck_assert_msg(!lm_checkpoint_fingerprint(path, &stored), "%s", lm_error());
    ck_assert(stored == fingerprint(whole));
    struct lm_sim *part = restored(path, open_text, "run.threads=2", LM_OK);
    advance(whole, 20);
    advance(part, 20);
    ck_assert(fingerprint(part) == fingerprint(whole));
    ck_assert_mem_eq(&whole->background[1].ledger, &part->background[1].ledger, sizeof part->background[1].ledger);
    ck_assert(whole->electrons.heat == part->electrons.heat);
    sim_free(part);
    sim_free(whole);
}
END_TEST

START_TEST(other_closures_are_refused)
{
    char path[LM_MAX_PATH];
    struct lm_sim *sim = sim_new(mixed_text, NULL);
    advance(sim, 1);
    checkpoint_of(sim, path);
    sim_free(sim);
    sim_free(restored(path, mixed_text, "electrons.gamma=1.5", LM_BAD_INPUT));
    assert_error_has("a checkpoint with gamma = 1.6666666666666667; the run has 1.5: set electrons.gamma as there");
    static const char other[] = "[run]\nsteps = 10\ndt = 0.05\n[grid]\nnx = 16\nny = 16\nlx = 8\nly = 8\n"
                                "[particles]\nshape = quadratic\n[species.p]\nparticles_per_cell = 16\n";
    sim_free(restored(path, other, NULL, LM_BAD_INPUT));
    assert_error_has("a checkpoint with closure = evolved; the run has another: set electrons.closure as there");
    sim = sim_new(other, NULL);
    checkpoint_of(sim, path);
    sim_free(sim);
    sim_free(restored(path, other, "electrons.closure=evolved", LM_BAD_INPUT));
    assert_error_has("a checkpoint without closure = evolved; the run has it");
}
END_TEST

/* --- what it says --- */

static void refuses(const char *keys, const char *expected)
{
    struct lm_config c;
    char text[1024];
    snprintf(text, sizeof text, "[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n[species.p]\n%s\n",
             keys);
    ck_assert_int_eq(lm_config_read_text("case.ini", text, 0, NULL, &c), LM_BAD_INPUT);
    assert_error_has(expected);
    ck_assert_ptr_null(strchr(lm_error(), '\n'));
    lm_config_free(&c);
}

START_TEST(bad_input)
{
    refuses("[electrons]\nconductivity = 1",
            "case.ini:11: electrons.conductivity: has a meaning only with closure = evolved");
    refuses("[electrons]\ninitial_temperature = 1", "electrons.initial_temperature: has a meaning only with");
    refuses("[electrons]\nweno = 5", "electrons.weno: has a meaning only with closure = evolved");
    refuses("[electrons]\nclosure = evolved\ngamma = 1", "electrons.gamma: closure = evolved needs more than 1");
    refuses("[electrons]\nclosure = evolved\n[fields]\nsolver = none",
            "evolved has a meaning only with fields.solver = hybrid");
    refuses("[electrons]\nclosure = evolved\ntemperature = 1\ninitial_temperature = 1",
            "not together with temperature");
    refuses("[electrons]\nclosure = evolved\ninitial_temperature = x - 4", "electrons.initial_temperature: ");
    refuses("[electrons]\nclosure = evolved\nweno = centred", "electrons.weno: ");
    refuses("[electrons]\nclosure = evolved\nconductivity = -1", "electrons.conductivity: ");
    refuses("[electrons]\nclosure = evolved\n[background.electrons]\ninitial = 1", "give yours another name");
}
END_TEST

/* run.ini does not show the field that the program adds, and gives the same run. */
START_TEST(settings_are_written)
{
    struct lm_config *c = config_new(mixed_text, NULL), again;
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    ck_assert_int_eq(lm_config_write(c, to), LM_OK);
    fclose(to);
    ck_assert_ptr_null(strstr(out, "[background.electrons]"));
    ck_assert_ptr_nonnull(strstr(out, "initial_temperature = 1 + 0.4*cos(kx*x)\n"));
    ck_assert_msg(!lm_config_read_text("again.ini", out, 0, NULL, &again), "%s", lm_error());
    ck_assert_int_eq(again.background_count, 1);
    ck_assert_mem_eq(&again.electrons, &c->electrons, sizeof c->electrons);
    ck_assert_mem_eq(&again.background[0], &c->background[0], sizeof c->background[0]);
    lm_config_free(&again);
    lm_config_free(c);
    free(c);
    free(out);
}
END_TEST

START_TEST(checked)
{
    struct lm_config *c = config_new(open_text, NULL);
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    /* By hand: u = 0.8 on cells of 1/4, 6 times that for the bound, 0.6 of Courant, halves; conduction at n = 1:
     * 0.6 * 2 (0.1 + 0.08) (16 + 16) = 6.9 in a unit of time. */
    ck_assert_msg(strstr(out, "electrons\n  pressure evolved, gamma 1.6; p_e = n T at the start\n"
                              "    entropy: 2 substeps in the first step\n"
                              "    conduction: 2 substeps in the first step\n"
                              "    body.moon absorbs ions but no heat") != NULL,
                  "%s", out);
    ck_assert_ptr_null(strstr(out, "  electrons: "));
    free(out);
    lm_config_free(c);
    free(c);
}
END_TEST

START_TEST(memory)
{
    struct lm_config *c = config_new(mixed_text, NULL);
    struct lm_setup setup = lm_setup_of(c);
    const uint64_t counts[LM_MAX_SPECIES] = {1000};
    const double size = 8 * (double)setup.grid.size;
    for (int kind = LM_BACKEND_CPU; kind <= LM_BACKEND_CUDA; kind++) {
        setup.background_count = 1;
        const double all = lm_backend_bytes(kind, &setup, counts);
        setup.background_count = 0; /* the field, its velocity, a byte a cell, on a GPU two stages */
        require_near(all - lm_backend_bytes(kind, &setup, counts), size * (kind == LM_BACKEND_CUDA ? 5.125 : 3.125), 1);
    }
    lm_config_free(c);
    free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("electrons");
    TCase *t = tcase_create("electrons");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, sound);
    tcase_add_test(t, second_order_in_time);
    tcase_add_test(t, resistive_decay);
    tcase_add_test(t, heat_of_every_resistivity);
    tcase_add_test(t, conduction_decays);
    tcase_add_test(t, conduction_converges);
    tcase_add_test(t, slopes);
    tcase_add_test(t, rings);
    tcase_add_test(t, walls);
    tcase_add_test(t, heat_stays_beside_vacuum);
    tcase_add_test(t, energy_beside_vacuum);
    tcase_add_test(t, edges_are_stable);
    tcase_add_test(t, books);
    tcase_add_loop_test(t, restarts, 0, 6);
    tcase_add_test(t, other_closures_are_refused);
    tcase_add_test(t, bad_input);
    tcase_add_test(t, settings_are_written);
    tcase_add_test(t, checked);
    tcase_add_test(t, memory);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
