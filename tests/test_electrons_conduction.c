/* Conduction of heat by electrons: along and across B, at walls, and beside vacuum. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "larmor/physics/fluid/electrons.h"
#include "electrons_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* Plasma at rest with n = 1 and T = 1 + 0.1 cos of mode (mx, my). Returns the share of the mode that is left at the
 * end. */
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

/* A mode decays as exp(-(gamma - 1) kappa k^2 t / n) with the k^2 of the grid: with isotropic conduction, and along
 * and across B. Without B the conductivity is that along B. Heun's method has a relative error of (r dt)^2 / 6 in the
 * rate r; it takes at least two substeps in a step. */
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

/* Conduction is of second order in space, also along and across an oblique B, where the slopes along the faces matter.
 * At extrema the limiter lowers the order, so the test asks for 1.5 there. */
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

/* --- in a cavity --- */

#define FIRST_ROOT 1.8411837813406593 /* of the derivative of the Bessel function J_1 */
static const double middle[2] = {2.03, 1.96}, radius = 1.7;

/* With four particles a cell the wall would be rough: cells that it cuts have whole numbers of them. */
#define MANY "[species.p]\nstart = quiet\nparticles_per_cell = 64\nmass = 1e20\n"

/* A body that is what lies beyond a circle: a frame and a polygon in one line, by the even-odd rule. */
static void write_cavity(char *text, size_t size)
{
    enum { CORNERS = 128 };
    int n = snprintf(text, size,
                     "[body.beyond]\nshape = polygon\nparticles = reflecting\npoints = 0 0, 4 0, 4 4, 0 4, 0 0");
    for (int k = 0; k <= CORNERS; k++) {
        const double angle = 2 * M_PI * (k % CORNERS) / CORNERS;
        n += snprintf(text + n, size - (size_t)n, ", %.4f %.4f", middle[0] + radius * cos(angle),
                      middle[1] + radius * sin(angle));
    }
}

/* How much too fast the slowest mode of a cavity without heat through its wall decays, relative to the theory: in cells
 * that the wall does not cut. */
static double error_in_cavity(int cells)
{
    static const char bessel[] = "[functions]\nj(r) = r/2*(1 - r^2/8 + r^4/192 - r^6/9216 + r^8/737280)\n"
                                 "across(a,b) = (0.8*a + 0.6*b)/sqrt(a^2 + b^2)\n";
    const double rate = (GAMMA - 1) * 1000 * pow(FIRST_ROOT / radius, 2), t_end = 0.5 / rate;
    char text[4096], body[3000];
    write_cavity(body, sizeof body);
    snprintf(
        text, sizeof text,
        "[run]\nt_end = %.17g\ndt = %.17g\n[grid]\nnx = %d\nny = %d\nlx = 4\nly = 4\n[fields]\nsmoothing = 0\n" MANY
        "%s[electrons]\nclosure = evolved\nconductivity = 1000\nconductivity_across = 1000\n"
        "initial_temperature = 1 + 0.1*j(%.17g*sqrt((x - 2.03)^2 + (y - 1.96)^2))*across(x - 2.03, y - 1.96)\n%s\n",
        t_end, t_end / 20, cells, cells, bessel, FIRST_ROOT / radius, body);
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_grid *g = &sim->grid;
    double left = 0, all = 0;
    advance(sim, sim->config->run.steps);
    double *p = pressure_of(sim);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const double a = (i + 0.5) * g->dx - middle[0], b = (j + 0.5) * g->dy - middle[1], r = hypot(a, b);
            const double of_mode = j1(FIRST_ROOT * r / radius) * (0.8 * a + 0.6 * b) / r;
            if (r > radius - 1.5 * g->dx)
                continue;
            left += of_mode * (p[j * g->nx + i] - 1);
            all += of_mode * of_mode;
        }
    free(p);
    sim_free(sim);
    return -log(left / all / 0.1) / (rate * t_end) - 1;
}

/* k h is the wave number of the mode times the size of a cell. Without bodies the error of a second order is (k h)^2
 * over 12 to 24. An error of first order is about k h. */
START_TEST(conduction_in_a_cavity)
{
    for (int cells = 24; cells <= 96; cells *= 2) {
        const double kh = FIRST_ROOT / radius * 4 / cells, error = error_in_cavity(cells);
        if (getenv("LM_SHOW"))
            printf("%d cells: %.3g, (k h)^2 = %.3g\n", cells, error, kh * kh);
        require_near(error, 0, kh * kh);
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

/* A hot patch on circular field lines: heat flows along them, and no temperature leaves the range of the start
 * (Parrish and Stone 2005, Sharma and Hammett 2007). */
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
    ck_assert_double_gt(p[20 * 40 + 12], 1.1); /* the opposite side of the ring is warmed */
    ck_assert_double_lt(p[20 * 40 + 20], 1.1); /* its centre and the region far outside are not */
    ck_assert_double_lt(p[20 * 40 + 38], 1.1);
    /* In each half of a step the entropy s of a cell is rounded by up to half a quantum U: dp / (gamma - 1) = gamma p
     * / ((gamma - 1) s) U/2. */
    const double quantum = ldexp(1, -sim->background[0].ledger.quantum), area = 0.2 * 0.2;
    double rounded = 0;
    for (size_t k = 0; k < sim->grid.cells; k++)
        rounded += 240 * 0.5 * quantum * area * GAMMA / (GAMMA - 1) * pow(10, 1 - 1 / GAMMA);
    ck_assert_double_eq_tol(totals_of(sim).electrons, energy, rounded);
    free(p);
    sim_free(sim);
}
END_TEST

/* No heat flows through walls, although the slopes along them would drive it with an oblique B. The electrons are so
 * cold that currents along the walls change the energy by a negligible amount, which is of second order in T. */
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

/* Heat does not leave a slab at rest that has voids beside it and a body in it. */
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
    ck_assert(least > 0.5 && most < 1.5 && most - least < 0.9); /* T was between 0.5 and 1.5 at the start */
    ck_assert_double_eq_tol(totals_of(sim).electrons, energy, 1e-12 * energy);
    free(before);
    free(after);
    free(n);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("electrons, conduction");
    TCase *t = tcase_create("electrons, conduction");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, conduction_decays);
    tcase_add_test(t, conduction_converges);
    tcase_add_test(t, conduction_in_a_cavity);
    tcase_add_test(t, slopes);
    tcase_add_test(t, rings);
    tcase_add_test(t, walls);
    tcase_add_test(t, heat_stays_beside_vacuum);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
