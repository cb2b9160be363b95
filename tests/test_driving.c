/* What drives the plasma from outside: currents of magnets and coils, forces on ions, E at sides that changes with
 * time. Each is compared with theory. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "sim_case.h"
#include "suite.h"

/* A cold plasma at rest: it moves only where something drives it. */
#define COLD(grid, more)                                                                                               \
    "[run]\nt_end = 4\ndt = 0.05\nseed = 3\n[grid]\n" grid "[fields]\ndensity_floor = 0.01\nsmoothing = 0\n" more
#define SMALL COLD("nx = 16\nny = 12\nlx = 8\nly = 6\n", "")
#define QUIET "start = quiet\nparticles_per_cell = 4\n"

/* Ion currents are deposited in units of 2^-16 of a power of two above `speed`, and extrapolated: E of the convection
 * is wrong by less than two of these units, for a while `gyrations`, in 1/Omega. */
static double rounding_of_currents(double gyrations, double speed)
{
    return 2 * gyrations * 2 * speed / 65536;
}

/* --- magnets --- */

#define MAGNETS "az = 0.4*cos(2*pi*x/lx)*cos(2*pi*y/ly)\nbz = 0.3*sin(2*pi*(x/lx - y/ly))\n"

/* The plasma carries no current in the field of magnets alone: nothing moves, to the bit. */
START_TEST(plasma_at_rest_in_the_field_of_magnets)
{
    struct lm_sim *sim = sim_new(SMALL "[external]\n" MAGNETS "[species.p]\n" QUIET, NULL);
    double *before[3], v[3];
    for (int d = 0; d < 3; d++)
        before[d] = array_of(sim, LM_B + d);
    advance(sim, 20);
    for (int d = 0; d < 3; d++) {
        double *after = array_of(sim, LM_B + d), largest = 0;
        for (size_t k = 0; k < sim->grid.size; k++)
            largest = fmax(largest, fabs(before[d][k]));
        require(largest > 0.1);
        for (int j = 0; j < sim->grid.ny; j++)
            for (int i = 0; i < sim->grid.nx; i++)
                ck_assert_double_eq_tol(after[lm_at(&sim->grid, i, j)], before[d][lm_at(&sim->grid, i, j)], 1e-13);
        free(after);
        free(before[d]);
    }
    mean_velocity(sim, 0, v);
    require(fabs(v[0]) < 1e-12 && fabs(v[1]) < 1e-12 && fabs(v[2]) < 1e-12);
    sim_free(sim);
}
END_TEST

/* The same field as one of the plasma does move it: J x B is not 0. */
START_TEST(the_same_field_of_a_current_in_the_plasma)
{
    struct lm_sim *sim = sim_new(COLD("nx = 16\nny = 12\nlx = 8\nly = 6\n", MAGNETS) "[species.p]\n" QUIET, NULL);
    double *before = array_of(sim, LM_B + 2), *after, change = 0;
    advance(sim, 20);
    after = array_of(sim, LM_B + 2);
    for (size_t k = 0; k < sim->grid.size; k++)
        change = fmax(change, fabs(after[k] - before[k]));
    ck_assert_double_gt(change, 0.05);
    free(before);
    free(after);
    sim_free(sim);
}
END_TEST

/* --- coils --- */

/* A current J_ext along z that is the same everywhere leaves B as it is, and pushes the plasma with -J_ext x B. */
START_TEST(uniform_current_pushes_the_plasma)
{
    struct lm_sim *sim =
        sim_new(COLD("nx = 8\nny = 8\nlx = 4\nly = 4\n",
                     "bx = 0.8\n") "[external]\ncurrent_z = 0.1*cos(1.5*t)\n[species.p]\nmass = 2\n" QUIET,
                NULL);
    const int steps = 40;
    double v[3];
    advance(sim, steps);
    mean_velocity(sim, 0, v);
    /* Kicks by the E of t = 0, dt, ...: the velocity at n - 1/2 is their sum, less half a kick at the start. */
    double expected = -0.5 * 0.05 * -0.8 * 0.1 / 2;
    for (int n = 0; n < steps; n++)
        expected += 0.05 * -0.8 * 0.1 * cos(1.5 * 0.05 * n) / 2;
    ck_assert_double_eq_tol(v[1], expected, rounding_of_currents(steps * 0.05 * 0.8, 0.05));
    ck_assert_double_eq_tol(expected, -0.8 * 0.1 / 2 * sin(1.5 * 0.05 * (steps - 0.5)) / 1.5, 1e-3 * 0.04);
    ck_assert_double_eq_tol(v[0], 0, 1e-14);
    ck_assert_double_eq_tol(v[2], 0, 0.05 * 0.05 * 0.04); /* E of the convection is of second order in time */
    sim_free(sim);
}
END_TEST

/* The perpendicular b = B_y + i B_z and v of cold ions along B_0 = x, driven by J_ext = a exp(i (k x - w t)):
 * db/dt = i k (K b + J_ext c + v), dv/dt = i (K b + J_ext), with K = k of the grid. Factors c of interpolation differ
 * from 1 in the second order of dx only, and are left out. */
struct response {
    double complex b, v;
};

static struct response rate(struct response r, double k, double w, double a, double t)
{
    const double complex j = a * cexp(-I * w * t);
    return (struct response){I * k * (k * r.b + j + r.v), I * (k * r.b + j)};
}

static struct response add(struct response a, struct response b, double h)
{
    return (struct response){a.b + h * b.b, a.v + h * b.v};
}

static struct response solve(double k, double w, double a, double t_end)
{
    const int steps = 4000;
    const double h = t_end / steps;
    struct response r = {0, 0};
    for (int n = 0; n < steps; n++) {
        const double t = n * h;
        const struct response k1 = rate(r, k, w, a, t), k2 = rate(add(r, k1, h / 2), k, w, a, t + h / 2),
                              k3 = rate(add(r, k2, h / 2), k, w, a, t + h / 2),
                              k4 = rate(add(r, k3, h), k, w, a, t + h);
        r = add(add(add(add(r, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
    }
    return r;
}

static double complex driven_wave(int cells, double dt, double t_end, double w)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[run]\nt_end = %g\ndt = %.17g\n[grid]\nnx = %d\nny = 1\nlx = 8\nly = 0.5\n"
             "[fields]\nbx = 1\nsmoothing = 0\n[external]\ncurrent_y = 1e-3*cos(2*pi*x/lx - (%g)*t)\n"
             "current_z = 1e-3*sin(2*pi*x/lx - (%g)*t)\n[species.p]\n" QUIET,
             t_end, dt, cells, w, w);
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, sim->config->run.steps);
    /* B_y and B_z of cell 0 stand at x = dx, where `mode` takes x = 0. */
    const double complex shift = cexp(-2 * M_PI * I / cells);
    const double complex y = mode(sim, LM_B + 1, 1) * shift, z = mode(sim, LM_B + 2, 1) * shift;
    sim_free(sim);
    /* of b exp(i k x): B_y = Re and B_z = Im of it */
    return 0.5 * (y + I * z);
}

/* An antenna drives waves as linear theory has it, of either sense of rotation, off resonance (0.54 and -1.15), and the
 * error falls as dx^2 and dt^2. */
START_TEST(antenna_drives_waves)
{
    const double w = _i ? -2.0 : 0.25, k = 2 * M_PI / 8, t_end = 4;
    const double complex expected = solve(k, w, 1e-3, t_end).b;
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        const double complex got = driven_wave(fine ? 64 : 32, fine ? 0.0125 : 0.025, t_end, w);
        error[fine] = cabs(got - expected) / cabs(expected);
    }
    ck_assert_double_lt(error[0], 0.02);
    ck_assert_double_gt(error[0] / error[1], 3.4);
    ck_assert_double_lt(error[0] / error[1], 4.6);
}
END_TEST

/* --- forces --- */

/* A force on the ions of a plasma that is the same everywhere moves ions and electrons together: a = F/m, whatever B.
 */
START_TEST(force_on_a_plasma)
{
    static const double force[3] = {0.08, -0.04, 0.12};
    struct lm_sim *sim =
        sim_new(COLD("nx = 8\nny = 8\nlx = 4\nly = 4\n",
                     "bx = 0.3\nbz = 1\n") "[const]\nm = 4\n[species.p]\nmass = m\ncharge = 2\nforce_x = 0.02*m\n"
                                           "force_y = -0.01*m\nforce_z = 0.03*m\n" QUIET,
                NULL);
    double v[3];
    advance(sim, 30);
    mean_velocity(sim, 0, v);
    for (int d = 0; d < 3; d++)
        ck_assert_double_eq_tol(v[d], force[d] / 4 * 29.5 * 0.05, rounding_of_currents(30 * 0.05 * 1.05, 0.06));
    sim_free(sim);
}
END_TEST

/* Without electrons a force F across B gives the drift F x B/(Z B^2), here along x, around which ions gyrate. */
START_TEST(force_on_ions_alone)
{
    struct lm_sim *sim = sim_new("[run]\nt_end = 4\ndt = 0.02\n[grid]\nnx = 8\nny = 8\nlx = 4\nly = 4\n"
                                 "[fields]\nsolver = none\nbz = 1.5\n[species.p]\nmass = 2\ncharge = 3\n"
                                 "force_y = 0.3\n" QUIET,
                                 NULL);
    const double drift = 0.3 / (3 * 1.5), omega = 3 * 1.5 / 2.0;
    double v[3];
    advance(sim, 150);
    mean_velocity(sim, 0, v);
    const double t = 149.5 * 0.02;
    ck_assert_double_eq_tol(v[0], drift * (1 - cos(omega * t)), 2e-3 * drift);
    ck_assert_double_eq_tol(v[1], drift * sin(omega * t), 2e-3 * drift);
    sim_free(sim);
}
END_TEST

/* A force of place and time acts at the place and the time of the ion: each feels F(y, t) of the grid. */
START_TEST(force_of_place_and_time)
{
    struct lm_sim *sim = sim_new("[run]\nt_end = 4\ndt = 0.02\n[grid]\nnx = 4\nny = 32\nlx = 1\nly = 8\n"
                                 "[fields]\nsolver = none\n[species.p]\nforce_x = cos(2*pi*y/ly)*sin(3*t)\n" QUIET,
                                 NULL);
    const uint64_t count = sim->count[0];
    double *x = malloc(5 * count * sizeof *x), sum = 0;
    advance(sim, 60);
    for (int n = 0; n < 60; n++)
        sum += 0.02 * sin(3 * 0.02 * n);
    ck_assert_int_eq(lm_sim_get_particles(sim, 0, 0, count, x, x + count, x + 2 * count, x + 3 * count, x + 4 * count),
                     LM_OK);
    for (uint64_t k = 0; k < count; k++) /* linear interpolation: an error of (2 pi dy/ly)^2/8 */
        ck_assert_double_eq_tol(x[2 * count + k], cos(2 * M_PI * x[count + k] / 8) * sum, 0.006 * sum);
    free(x);
    sim_free(sim);
}
END_TEST

/* --- E at sides --- */

/* The flux of B_z through the domain changes by what the E along the sides lets in. */
START_TEST(flux_through_driven_sides)
{
    struct lm_sim *sim =
        sim_new("[run]\nt_end = 2\ndt = 0.02\n[grid]\nnx = 24\nny = 6\nlx = 6\nly = 1.5\n[fields]\nbz = 1\neta = 0.02\n"
                "ey = (x < lx/2 ? 0.02 : -0.01)*sin(2*t)\n[boundary]\nx_min = reflecting\nx_max = reflecting\n"
                "fields_x_min = inflow_e\nfields_x_max = inflow_e\n[species.p]\nparticles_per_cell = 16\n"
                "temperature = 0.1\n",
                NULL);
    const struct lm_grid *g = &sim->grid;
    double *b = array_of(sim, LM_B + 2), change = 0, time = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++)
            change -= b[lm_at(g, i, j)];
    free(b);
    advance(sim, 60);
    b = array_of(sim, LM_B + 2);
    for (int j = 0; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++)
            change += b[lm_at(g, i, j)];
    free(b);
    for (int n = 0; n < 60; n++)
        time += 0.02 * sin(2 * 0.02 * (n + 0.5));
    ck_assert_double_eq_tol(change * g->dx / g->ny, -(-0.01 - 0.02) * time, 1e-12);
    sim_free(sim);
}
END_TEST

/* The field of a wind turns from z to y beyond the side where the wind flows in, and the wind carries the turn with it:
 * |B| stays the same, so nothing pushes the plasma. The noise of the particles is a few hundredths. */
START_TEST(field_of_a_wind_turns)
{
    struct lm_sim *sim =
        sim_new("[run]\nt_end = 12\ndt = 0.025\nseed = 6\n[grid]\nnx = 80\nny = 1\nlx = 40\nly = 0.5\n[const]\nu = 4\n"
                "[functions]\nangle = pi/4*(1 + tanh((t - 5)/1.5))\n[electrons]\ntemperature = 0.1\n"
                "[fields]\nbz = 1\neta_hyper = 2e-3\ney = u*cos(angle)\nez = -u*sin(angle)\n"
                "[boundary]\nx_min = inflow\nx_max = absorbing\nfields_x_min = inflow_e\nfields_x_max = open\n"
                "[species.p]\nstart = low_discrepancy\nparticles_per_cell = 200\ndrift_x = u\ntemperature = 0.1\n",
                NULL);
    const struct lm_grid *g = &sim->grid;
    double error = 0, turned = 0;
    advance(sim, 400);
    double *y = array_of(sim, LM_B + 1), *z = array_of(sim, LM_B + 2);
    for (int i = 0; i < g->nx; i++) {
        const double t = 10 - (i + 1) * g->dx / 4, angle = M_PI / 4 * (1 + tanh((t - 5) / 1.5));
        const size_t k = lm_at(g, i, 0);
        error += (pow(y[k] - sin(angle), 2) + pow(z[k] - cos(angle), 2)) / g->nx;
        turned += pow(sin(angle), 2) / g->nx;
    }
    require(turned > 0.2 && turned < 0.8);
    ck_assert_double_lt(sqrt(error), 0.08);
    free(y), free(z);
    sim_free(sim);
}
END_TEST

/* Without a field solver the ions feel E of the time at which they are kicked. */
START_TEST(given_field_of_time)
{
    struct lm_sim *sim = sim_new("[run]\nt_end = 4\ndt = 0.02\n[grid]\nnx = 8\nny = 8\nlx = 4\nly = 4\n"
                                 "[fields]\nsolver = none\nex = 0.2*cos(3*t)\ney = 0.1\n[species.p]\n" QUIET,
                                 NULL);
    double v[3], sum = -0.01 * 0.2;
    advance(sim, 50);
    mean_velocity(sim, 0, v);
    for (int n = 0; n < 50; n++)
        sum += 0.02 * 0.2 * cos(3 * 0.02 * n);
    ck_assert_double_eq_tol(v[0], sum, 1e-12);
    ck_assert_double_eq_tol(v[1], 0.1 * 49.5 * 0.02, 1e-12);
    sim_free(sim);
}
END_TEST

/* --- resistivity of the plasma --- */

#define LOCAL(eta)                                                                                                     \
    "[run]\nt_end = 1\ndt = 0.02\n[grid]\nnx = 16\nny = 12\nlx = 8\nly = 6\n[electrons]\nclosure = evolved\n"          \
    "temperature = 0.3\ngamma = 1.5\n[fields]\nbz = 1\naz = 0.3*cos(2*pi*x/lx)*cos(2*pi*y/ly)\neta = " eta "\n"        \
    "[species.p]\nparticles_per_cell = 16\ntemperature = 0.2\ndensity = 1 + 0.3*cos(2*pi*y/ly)\n"

/* An expression whose value is the same everywhere has the bits of that number. */
START_TEST(expression_with_the_value_of_a_number)
{
    struct lm_sim *number = sim_new(LOCAL("0.0625"), NULL),
                  *expression = sim_new(LOCAL("0.0625*n/n + 0*Te*J*B*t"), NULL);
    advance(number, 10);
    advance(expression, 10);
    require(fingerprint(number) == fingerprint(expression));
    sim_free(number);
    sim_free(expression);
}
END_TEST

static double size(double x, double y, double z)
{
    return sqrt(x * x + y * y + z * z);
}

/* LM_ETA is the expression of n, Te, J, B, x and t at the centres, with differences of B of this test. */
START_TEST(variables_of_the_plasma)
{
    struct lm_sim *sim = sim_new(LOCAL("0.01*n + 0.02*Te + 0.03*J + 0.04*B + 0.001*x*t - 0.07"), NULL);
    advance(sim, 10);
    const struct lm_grid *g = &sim->grid;
    const int s = g->stride;
    double *eta = array_of(sim, LM_ETA), *p = array_of(sim, LM_PRESSURE), *n = array_of(sim, LM_FLOORED), *b[3];
    int above = 0, zero = 0;
    for (int d = 0; d < 3; d++)
        b[d] = array_of(sim, LM_B + d);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double *x = b[0] + k, *y = b[1] + k, *z = b[2] + k;
            /* J_x on faces k and k - 1, J_y on faces k and k - s, J_z at the centre */
            const double jx = (z[0] - z[-s] + z[-1] - z[-1 - s]) / (2 * g->dy),
                         jy = -(z[0] - z[-1] + z[-s] - z[-s - 1]) / (2 * g->dx),
                         jz = (y[0] - y[-1]) / g->dx - (x[0] - x[-s]) / g->dy;
            const double bsize = size((x[0] + x[-s]) / 2, (y[0] + y[-1]) / 2, (z[0] + z[-1] + z[-s] + z[-s - 1]) / 4);
            const double expected = 0.01 * n[k] + 0.02 * p[k] / n[k] + 0.03 * size(jx, jy, jz) + 0.04 * bsize +
                                    0.001 * (i + 0.5) * g->dx * 0.2 - 0.07;
            ck_assert_double_eq_tol(eta[k], fmax(expected, 0), 1e-14);
            above += expected > 0;
            zero += expected <= 0;
        }
    require(above > 20 && zero > 20);
    for (int d = 0; d < 3; d++)
        free(b[d]);
    free(eta), free(p), free(n);
    sim_free(sim);
}
END_TEST

/* --- restart --- */

static const char *const driven[] = {
    COLD("nx = 16\nny = 12\nlx = 8\nly = 6\n",
         "bx = 1\neta = 0.01\n") "[external]\n" MAGNETS
                                 "current_z = 0.1*cos(2*pi*x/lx - t)\ncurrent_x = 0.05*sin(2*pi*y/ly)\n[species.p]\n"
                                 "temperature = 0.2\nparticles_per_cell = 8\nforce_y = 0.1*sin(t + x)\n",
    "[run]\nt_end = 2\ndt = 0.02\n[grid]\nnx = 24\nny = 6\nlx = 6\nly = 1.5\n[fields]\nbz = 1\neta = 0.02\n"
    "ey = (x < lx/2 ? 0.02 : -0.01)*sin(2*t)\n[boundary]\nx_min = reflecting\nx_max = reflecting\n"
    "fields_x_min = inflow_e\nfields_x_max = inflow_e\n[species.p]\nparticles_per_cell = 16\ntemperature = 0.1\n",
    "[run]\nt_end = 4\ndt = 0.02\n[grid]\nnx = 8\nny = 8\nlx = 4\nly = 4\n[fields]\nsolver = none\nbz = 1\n"
    "ex = 0.2*cos(3*t)*sin(2*pi*y/ly)\n[species.p]\nparticles_per_cell = 8\ntemperature = 0.1\nforce_z = 0.1*t\n",
    LOCAL("0.02*J + 0.001*Te*(1 + sin(t))/n"),
    "[run]\nt_end = 2\ndt = 0.02\n[grid]\nnx = 24\nny = 10\nlx = 6\nly = 2.5\n[fields]\nbz = 1\neta = 0.01*(1 + J)/B\n"
    "[external]\ncurrent_y = 0.1*exp(-(x-3)^2)*cos(t)\n[boundary]\nx_min = reflecting\nx_max = absorbing\n"
    "fields_x_max = open\n[species.p]\nparticles_per_cell = 16\ntemperature = 0.1\nforce_x = -0.1*x\n"
    "[body.b]\nshape = disk\nx = 4\ny = 1\nradius = 0.6\nfields = resistive\nresistivity = 0.1\n",
    COLD("nx = 16\nny = 12\nlx = 8\nly = 6\n",
         "bx = 1\neta = 0.01\n") "[electrons]\nclosure = evolved\n"
                                 "temperature = 0.3\n[species.p]\ntemperature = 0.2\nparticles_per_cell = 8\neta = "
                                 "0.02*n*(1 + sin(t))\n"
                                 "[species.a]\ncharge = 2\nmass = 4\nparticles_per_cell = 16\ndensity = 0.1\ndrift_y = "
                                 "0.3\n"
                                 "eta = 0.1/B + 0.01*J\n[species.q]\ntemperature = 0.1\nparticles_per_cell = "
                                 "8\nforce_y = 0.1\n",
    "[run]\nt_end = 2\ndt = 0.02\n[grid]\nnx = 24\nny = 10\nlx = 6\nly = 2.5\n[fields]\nbz = 1\ney = 0.1*sin(t)\n"
    "[boundary]\nx_min = reflecting\nx_max = absorbing\nfields_x_max = open\nfields_x_min = inflow_e\n[species.p]\n"
    "particles_per_cell = 16\ntemperature = 0.1\n[species.a]\nmass = 16\ndensity = 0.2*(x > 2)\n"
    "particles_per_cell = 40\ndrift_x = 0.2\neta = 0.2*(1 + J)\n"
    "[body.b]\nshape = disk\nx = 4\ny = 1\nradius = 0.6\nfields = resistive\nresistivity = 0.1\n"};

/* A restarted run has the bits of one without a break. */
START_TEST(restart)
{
    char out[LM_MAX_PATH + 32];
    snprintf(out, sizeof out, "output.directory=%s", scratch_path("out"));
    struct lm_sim *whole = sim_new(driven[_i], out), *again;
    const struct lm_references references = {0};
    struct lm_checkpoint head;
    char path[LM_MAX_PATH];
    advance(whole, 7);
    ck_assert_msg(!lm_sim_save(whole, &references, 1, path), "%s", lm_error());
    advance(whole, 15);
    ck_assert_int_eq(lm_sim_create(whole->config, &again), LM_OK);
    ck_assert_msg(!restore_checkpoint(again, path, &head), "%s", lm_error());
    advance(again, 15);
    require(fingerprint(whole) == fingerprint(again));
    lm_sim_destroy(&again);
    sim_free(whole);
}
END_TEST

/* The number of threads does not change the bits. */
START_TEST(threads)
{
    struct lm_sim *one = sim_new(driven[_i], NULL), *more = sim_new(driven[_i], "run.threads=3");
    advance(one, 10);
    advance(more, 10);
    require(fingerprint(one) == fingerprint(more));
    sim_free(one);
    sim_free(more);
}
END_TEST

/* --- bad input --- */

static const struct {
    const char *text, *message;
} refused[] = {
    {"[external]\naz = sin(t)\n", "case.ini:11: external.az: t cannot be used here"},
    {"[external]\ncurrent_x = sin(k*x\n", "external.current_x: "},
    {"[external]\ncurrent_x = 1/(x - x)*t\n", "external.current_x: \"1/(x - x)*t\" is "},
    {"[external]\ncurrents = 1\n", "did you mean"},
    {"[species.p]\nforce_x = vx\n", "force_x: unknown name"},
    {"[species.p]\neta = 0.1*JJ\n", "species.p.eta: unknown name \"JJ\""},
    {"[species.p]\neta = -0.1\n", "species.p.eta: "},
    {"[species.p]\neta = 0.1\n[fields]\nelectron_friction = off\n",
     "case.ini:10: species.p.eta: only with fields.electron_friction = on"},
    {"[species.p]\neta = 0.1\n[fields]\nsolver = none\n", "species.p.eta: only with fields.solver = hybrid"},
    {"[fields]\nex = t\n", "fields.ex: has a meaning only with solver = none or a side whose fields are inflow_e"},
    {"[fields]\neta = 0.1*JJ\n", "fields.eta: unknown name \"JJ\""},
    {"[fields]\nbz = n\n", "fields.bz: unknown name \"n\""},
};

START_TEST(bad_input)
{
    struct lm_config *c = calloc(1, sizeof *c);
    char text[1024];
    snprintf(text, sizeof text, "[run]\nt_end = 4\ndt = 0.02\n[grid]\nnx = 8\nny = 8\nlx = 4\nly = 4\n%s%s",
             strstr(refused[_i].text, "species") ? "" : "[species.p]\n", refused[_i].text);
    ck_assert_int_eq(lm_config_read_text("case.ini", text, 0, NULL, c), LM_BAD_INPUT);
    ck_assert_msg(strstr(lm_error(), refused[_i].message) != NULL, "%s", lm_error());
    lm_config_free(c);
    free(c);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("driving");
    TCase *c = tcase_create("magnets");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, plasma_at_rest_in_the_field_of_magnets);
    tcase_add_test(c, the_same_field_of_a_current_in_the_plasma);
    suite_add_tcase(s, c);
    c = tcase_create("coils");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, uniform_current_pushes_the_plasma);
    tcase_add_loop_test(c, antenna_drives_waves, 0, 2);
    suite_add_tcase(s, c);
    c = tcase_create("forces");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, force_on_a_plasma);
    tcase_add_test(c, force_on_ions_alone);
    tcase_add_test(c, force_of_place_and_time);
    suite_add_tcase(s, c);
    c = tcase_create("sides");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, flux_through_driven_sides);
    tcase_add_test(c, field_of_a_wind_turns);
    tcase_add_test(c, given_field_of_time);
    suite_add_tcase(s, c);
    c = tcase_create("resistivity");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, expression_with_the_value_of_a_number);
    tcase_add_test(c, variables_of_the_plasma);
    suite_add_tcase(s, c);
    c = tcase_create("restart");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, restart, 0, sizeof driven / sizeof *driven);
    tcase_add_loop_test(c, threads, 0, sizeof driven / sizeof *driven);
    suite_add_tcase(s, c);
    c = tcase_create("bad input");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, bad_input, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
