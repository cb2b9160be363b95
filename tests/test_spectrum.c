/* [spectrum.NAME]: the power of each wave, helicities, phases, and a run that begins with it. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/names.h"
#include "inside.h"
#include "require.h"
#include "scratch.h"
#include "sim_run.h"
#include "suite.h"

static struct lm_config config;

enum { NX = 40, NY = 24, CELLS = NX * NY };
static const double LX = 10, LY = 8, TWO_PI = 6.283185307179586;

#define DOMAIN                                                                                                         \
    "[run]\ndt = 0.02\nsteps = 2\n[grid]\nnx = 40\nny = 24\nlx = 10\nly = 8\n"                                         \
    "[species.p]\nparticles_per_cell = 4\n"
#define SPECTRUM                                                                                                       \
    "[spectrum.w]\nfrom_k = 1\nto_k = 6\nslope = 2\namplitude = 0.3\nvelocity = 0.2\nhelicity = 0.6\n"                 \
    "cross_helicity = -0.4\nseed = 5\n"
#define OTHER "[spectrum.v]\nfrom_k = 1\nto_k = 6\namplitude = 1\n"

static int read_text(const char *text, const char *override)
{
    const char *const overrides[] = {override};
    lm_config_free(&config);
    memset(&config, 0, sizeof config);
    make_file("case.ini", text);
    return lm_config_read(scratch_path("case.ini"), override ? 1 : 0, overrides, &config);
}

/* The values of a function in all cells, to be freed. */
static double *values_of(const char *name)
{
    double *v = malloc(3 * CELLS * sizeof *v), *x = v + CELLS, *y = x + CELLS;
    for (int k = 0; k < CELLS; k++) {
        x[k] = (k % NX + 0.5) * LX / NX;
        y[k] = (k / NX + 0.5) * LY / NY;
    }
    ck_assert_msg(!lm_expr_at(config.names, name, CELLS, x, y, 0, v), "%s", lm_error());
    return v;
}

static double mean_product(const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < CELLS; k++)
        sum += a[k] * b[k];
    return sum / CELLS;
}

/* The coefficients of cos and sin of wave (m, n), m > 0 or m = 0 < n. */
static void transform(const double *v, int m, int n, double out[2])
{
    out[0] = out[1] = 0;
    for (int k = 0; k < CELLS; k++) {
        const double p = TWO_PI * (m * (k % NX + 0.5) / NX + n * (k / NX + 0.5) / NY);
        out[0] += 2 * v[k] * cos(p) / CELLS;
        out[1] += 2 * v[k] * sin(p) / CELLS;
    }
}

static double wave_number(int m, int n)
{
    return TWO_PI * sqrt(m * m / (LX * LX) + n * n / (LY * LY));
}

/* The power of a wave goes with k^-(slope + 1), is 0 outside of the range, and adds up to amplitude^2. */
START_TEST(power_of_waves)
{
    ck_assert_msg(!read_text(DOMAIN SPECTRUM, NULL), "%s", lm_error());
    double *az = values_of("w_az"), *ux = values_of("w_ux"), *uy = values_of("w_uy"), sum = 0, first = 0;
    int waves = 0;
    for (int m = 0; m < NX / 2; m++)
        for (int n = m > 0 ? 1 - NY / 2 : 1; n < NY / 2; n++) {
            const double k = wave_number(m, n);
            double a[2], u[2], v[2];
            transform(az, m, n, a);
            transform(ux, m, n, u);
            transform(uy, m, n, v);
            const double power = k * k * (a[0] * a[0] + a[1] * a[1]);
            for (int part = 0; part < 2; part++) /* no divergence */
                require_near(u[part] * m / LX + v[part] * n / LY, 0, 1e-13);
            if (k < 1 || k > 6) {
                require_near(power, 0, 1e-26);
                continue;
            }
            first = waves++ == 0 ? power * k * k * k : first;
            require_near(power * k * k * k, first, 1e-12 * first);
            sum += power;
        }
    ck_assert_int_gt(waves, 100);
    require_near(sum, 0.09, 1e-13);
    free(az), free(ux), free(uy);
}
END_TEST

/* Half of the power is along z; helicity and cross helicity are as given, for any phases. */
START_TEST(correlations)
{
    ck_assert_msg(!read_text(DOMAIN SPECTRUM, _i ? "spectrum.w.seed=77" : NULL), "%s", lm_error());
    double *az = values_of("w_az"), *bz = values_of("w_bz");
    double *u[3] = {values_of("w_ux"), values_of("w_uy"), values_of("w_uz")}, helicity = 0, cross = 0;
    require_near(mean_product(bz, bz), 0.09 / 2, 1e-13);
    require_near(mean_product(u[0], u[0]) + mean_product(u[1], u[1]), 0.04 / 2, 1e-13);
    require_near(mean_product(u[2], u[2]), 0.04 / 2, 1e-13);
    require_near(mean_product(u[2], bz), -0.4 * 0.3 * 0.2 / 2, 1e-13);
    for (int m = 0; m < NX / 2; m++)
        for (int n = m > 0 ? 1 - NY / 2 : 1; n < NY / 2; n++) {
            double a[2], v[2][2];
            transform(az, m, n, a);
            transform(u[0], m, n, v[0]);
            transform(u[1], m, n, v[1]);
            const double kx = TWO_PI * m / LX, ky = TWO_PI * n / LY;
            const double b[2][2] = {{ky * a[1], -ky * a[0]}, {-kx * a[1], kx * a[0]}}; /* dA_z/dy, -dA_z/dx */
            helicity += 0.5 * wave_number(m, n) * (a[0] * a[0] + a[1] * a[1]);
            for (int axis = 0; axis < 2; axis++)
                cross += 0.5 * (b[axis][0] * v[axis][0] + b[axis][1] * v[axis][1]);
        }
    require_near(mean_product(az, bz), 0.6 * helicity, 1e-13);
    require_near(cross, -0.4 * 0.3 * 0.2 / 2, 1e-13);
    free(az), free(bz), free(u[0]), free(u[1]), free(u[2]);
}
END_TEST

/* The phase of a wave depends on the seed, and on nothing else. */
START_TEST(phases)
{
    double *az[3], a[3][2];
    static const char *const overrides[3] = {NULL, "spectrum.w.to_k=3", "spectrum.w.seed=6"};
    for (int k = 0; k < 3; k++) {
        ck_assert_msg(!read_text(DOMAIN SPECTRUM, overrides[k]), "%s", lm_error());
        az[k] = values_of("w_az");
        transform(az[k], 3, -2, a[k]);
    }
    require_near(atan2(a[0][0], a[0][1]), atan2(a[1][0], a[1][1]), 1e-10);
    ck_assert(fabs(atan2(a[0][0], a[0][1]) - atan2(a[2][0], a[2][1])) > 1e-3);
    free(az[0]), free(az[1]), free(az[2]);
}
END_TEST

/* A value is that of its place: whatever was evaluated before, along rows, along columns, by many threads, in another
 * configuration, or with other waves of the same place. */
START_TEST(values_depend_on_the_place_alone)
{
    static const char text[] = "w_az + 3*v_az - w_ux*v_bz + 5*w_az";
    ck_assert_msg(!read_text(DOMAIN SPECTRUM OTHER "seed = 6\n", NULL), "%s", lm_error());
    free(values_of(text));
    ck_assert_msg(!read_text(DOMAIN SPECTRUM OTHER "seed = 7\n", NULL), "%s", lm_error());
    lm_names_limit_threads(config.names, 3);
    const struct lm_grid g = lm_grid_make(8 * NX, 8 * NY, LX, LY);
    double *rows = malloc(g.size * sizeof *rows), one;
    ck_assert_msg(!lm_expr_fill(config.names, text, &g, (struct lm_cell_offset){0, 0}, rows), "%s", lm_error());
    for (int i = 0; i < g.nx; i += 37)
        for (int j = 0; j < g.ny; j++) {
            const double x = (i + 0.5) * g.dx, y = (j + 0.5) * g.dy;
            ck_assert(!lm_expr_at(config.names, text, 1, &x, &y, 0, &one));
            require_near(one, rows[lm_at(&g, i, j)], 0);
        }
    const double x = 1, y = 2;
    double two[2];
    ck_assert(!lm_expr_at(config.names, "w_az", 1, &x, &y, 0, &two[0]));
    ck_assert(!lm_expr_at(config.names, "v_az", 1, &x, &y, 0, &two[1]));
    require(two[0] != two[1]);
    free(rows);
}
END_TEST

/* In one dimension all waves are along it, and the power of a wave goes with k^-slope. */
START_TEST(one_dimension)
{
    ck_assert_msg(!read_text(DOMAIN SPECTRUM, "grid.ny=1"), "%s", lm_error());
    double x[NX], y[NX], bz[NX], power[2];
    for (int k = 0; k < NX; k++)
        x[k] = (k + 0.5) * LX / NX, y[k] = 4;
    ck_assert(!lm_expr_at(config.names, "w_bz", NX, x, y, 0, bz));
    for (int wave = 0; wave < 2; wave++) {
        double c = 0, s = 0;
        for (int k = 0; k < NX; k++) {
            c += bz[k] * cos(TWO_PI * (2 + 2 * wave) * x[k] / LX);
            s += bz[k] * sin(TWO_PI * (2 + 2 * wave) * x[k] / LX);
        }
        power[wave] = c * c + s * s;
    }
    require_near(power[0] / power[1], 4, 1e-9);
}
END_TEST

/* B follows from the vector potential, so a run begins, with the magnetic energy of the waves up to the error of the
 * grid. */
START_TEST(run_begins)
{
    struct lm_sim *sim =
        sim_new(DOMAIN SPECTRUM "[fields]\nbx = 1\naz = w_az\nbz = w_bz\n"
                                "[species.q]\nparticles_per_cell = 4\ndrift_x = w_ux\ndrift_z = w_uz\n",
                NULL);
    struct lm_totals totals;
    ck_assert_int_eq(lm_sim_totals(sim, &totals), LM_OK);
    require_near(totals.magnetic[2], 0.5 * 80 * 0.045, 1e-10);
    require_near(totals.magnetic[1] + totals.magnetic[0] - 0.5 * 80, 0.5 * 80 * 0.045, 0.15 * 0.5 * 80 * 0.045);
    ck_assert_double_lt(totals.div_b, 1e-12);
    sim_free(sim);
}
END_TEST

static const struct {
    const char *text, *message;
} wrong[] = {
    {SPECTRUM "[const]\nw_az = 1\n", "w_az"},
    {"[spectrum.w]\nfrom_k = 1\nto_k = 30\namplitude = 1\n",
     "spectrum.w.to_k: 30 is beyond the shortest wave of the grid"},
    {"[spectrum.w]\nfrom_k = 1.01\nto_k = 1.02\namplitude = 1\n", "spectrum.w.to_k: no wave fits the domain"},
    {"[spectrum.w]\nfrom_k = 1\nto_k = 2\n", "spectrum.w.amplitude: required and not given"},
    {"[spectrum.w]\nfrom_k = 1\nto_k = 2\namplitude = 1\nhelicity = 2\n", "spectrum.w.helicity: 2 is out of range"},
    {"[spectrum.w]\nfrom_k = 1\nto_k = 2\namplitude = 1\n[fields]\nbz = w_by\n", "w_by"},
};

START_TEST(wrong_input)
{
    char text[1024];
    snprintf(text, sizeof text, DOMAIN "%s", wrong[_i].text);
    ck_assert_int_eq(read_text(text, NULL), LM_BAD_INPUT);
    ck_assert_msg(strstr(lm_error(), wrong[_i].message) != NULL, "%s", lm_error());
    lm_config_free(&config);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spectrum");
    TCase *t = tcase_create("spectrum");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, power_of_waves);
    tcase_add_loop_test(t, correlations, 0, 2);
    tcase_add_test(t, phases);
    tcase_add_test(t, values_depend_on_the_place_alone);
    tcase_add_test(t, one_dimension);
    tcase_add_test(t, run_begins);
    tcase_add_loop_test(t, wrong_input, 0, (int)(sizeof wrong / sizeof *wrong));
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
