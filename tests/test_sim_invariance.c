/* The whole step: changes of the set-up that must not change the physics. */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "require.h"
#include "sim_case.h"
#include "sim_run.h"
#include "suite.h"

/* Whether b = factor a in every cell, to the bit. */
static int proportional(struct lm_sim *x, struct lm_sim *y, int array, double factor)
{
    double *a = array_of(x, array), *b = array_of(y, array);
    int same = 1;
    for (int j = 0; j < x->grid.ny; j++)
        for (int i = 0; i < x->grid.nx; i++)
            same &= b[lm_at(&x->grid, i, j)] == factor * a[lm_at(&x->grid, i, j)];
    free(a), free(b);
    return same;
}

/* A cold plasma drifts across an oblique B: E = -u x B and nothing changes, for any drift. */
START_TEST(uniform_drift_is_at_rest)
{
    struct lm_sim *sim =
        sim_new("[run]\nsteps = 100\ndt = 0.05\n[grid]\nnx = 12\nny = 9\nlx = 6\nly = 4\n[electrons]\n"
                "temperature = 0.5\n[fields]\nbx = 0.5\nby = -0.3\nbz = 0.8\neta = 0.01\n[species.p]\n"
                "particles_per_cell = 16\nstart = quiet\ndrift_x = 1.5\ndrift_y = 0.75\ndrift_z = -0.5\n",
                NULL);
    static const double drift[3] = {1.5, 0.75, -0.5}, b0[3] = {0.5, -0.3, 0.8};
    advance(sim, 100);
    double v[3], at[2];
    velocity_of_first(sim, v, at);
    for (int d = 0; d < 3; d++) {
        int p = (d + 1) % 3, q = (d + 2) % 3;
        double *b = array_of(sim, LM_B + d), *e = array_of(sim, LM_E + d);
        require_near(v[d], drift[d], 2e-4); /* the current is rounded to 2^-17 of 2 v_A a weight */
        for (size_t k = 0; k < sim->grid.size; k++) {
            require_near(b[k], b0[d], 2e-4);
            require_near(e[k], -(drift[p] * b0[q] - drift[q] * b0[p]), 2e-4);
        }
        free(b), free(e);
    }
    sim_free(sim);
}
END_TEST

/* In a plasma that drifts along B by 8 cells during the run, a wave is the same as at rest, but 8 cells further. */
START_TEST(galilean_shift)
{
    const char *text =
        "[run]\nsteps = 40\ndt = 0.05\n[grid]\nnx = 64\nny = 1\nlx = 16\nly = 1\n[const]\nk = 2*pi/lx\n[fields]\n"
        "bx = 1\nby = 0.1*cos(k*x)\nsmoothing = 0\n[species.p]\nparticles_per_cell = 32\nstart = quiet\n"
        "temperature_x = 0.01\ndrift_y = 0.1*cos(k*x)\n";
    struct lm_sim *rest = sim_new(text, NULL), *moving = sim_new(text, "species.p.drift_x=1");
    advance(rest, 40);
    advance(moving, 40);
    for (int d = 1; d < 3; d++) {
        double complex a = mode(rest, LM_B + d, 1), b = mode(moving, LM_B + d, 1) * cexp(2 * M_PI * I * 8 / 64);
        ck_assert_msg(cabs(a - b) < 0.02 * 0.1, "B_%d: %g%+gi at rest, %g%+gi moving", d, creal(a), cimag(a), creal(b),
                      cimag(b));
        ck_assert_double_gt(cabs(mode(moving, LM_B + d, 1) - a), 0.2 * cabs(a));
    }
    sim_free(rest);
    sim_free(moving);
}
END_TEST

/* The same run in other units: B is twice as large, lengths and times are half, the density is four times as large,
 * and velocities are the same. All factors are powers of two, so all bits stay. */
START_TEST(rescaled_units)
{
    struct lm_sim *a = sim_new(PLAIN, NULL);
    struct lm_sim *b =
        sim_new(BOX("dt = 0.015625\n", "lx = 4\nly = 2.5\n",
                    "bx = 1\nbz = 2*(1 + 0.2*cos(kx*x)*sin(ky*y))\neta = 0.0078125\neta_hyper = 0.00048828125\n"
                    "density_floor = 1\n",
                    "density = 4*(1 + 0.25*sin(kx*x))\nparticles_per_cell = 8\ntemperature = 0.5\n"
                    "drift_y = 0.25*cos(kx*x)\nstart = random\n"),
                NULL);
    advance(a, 30);
    advance(b, 30);
    ck_assert_uint_eq(a->count[0], b->count[0]);
    for (int d = 0; d < 3; d++) {
        ck_assert(proportional(a, b, LM_B + d, 2));
        ck_assert(proportional(a, b, LM_PUSH_E + d, 2));
        ck_assert(proportional(a, b, LM_J_OLD + d, 4));
    }
    ck_assert(proportional(a, b, LM_N_OLD, 4));
    sim_free(a);
    sim_free(b);
}
END_TEST

/* Ions of twice the charge and mass at half the density are the same fluid. */
START_TEST(charge_to_mass_is_what_counts)
{
    struct lm_sim *a = sim_new(PLAIN, NULL);
    struct lm_sim *b =
        sim_new(BOX("dt = 0.03125\n", "lx = 8\nly = 5\n",
                    "bx = 0.5\nbz = 1 + 0.2*cos(kx*x)*sin(ky*y)\neta = 0.015625\neta_hyper = 0.00390625\n"
                    "density_floor = 0.25\n",
                    "charge = 2\nmass = 2\ndensity = 0.5*(1 + 0.25*sin(kx*x))\nparticles_per_cell = 64\n"
                    "temperature = 1\ndrift_y = 0.25*cos(kx*x)\nstart = random\n"),
                NULL);
    advance(a, 30);
    advance(b, 30);
    for (int d = 0; d < 3; d++)
        ck_assert(proportional(a, b, LM_B + d, 1) && proportional(a, b, LM_PUSH_E + d, 1) &&
                  proportional(a, b, LM_J_OLD + d, 1));
    ck_assert(proportional(a, b, LM_N_OLD, 1));
    struct lm_totals p, q;
    ck_assert(!lm_sim_totals(a, &p) && !lm_sim_totals(b, &q));
    require_near(q.energy / p.energy, 1, 1e-12);
    sim_free(a);
    sim_free(b);
}
END_TEST

/* A species with a quiet start is split into two species, each with half the density at the same positions. */
#define HALF "density = 0.5\nparticles_per_cell = 64\nstart = quiet\ntemperature = 0.2\ndrift_y = 0.25*cos(kx*x)\n"

START_TEST(split_species)
{
    const char *fields = "bx = 0.5\nbz = 1 + 0.2*cos(kx*x)*sin(ky*y)\n";
    char one[1024], two[1024];
    const char *head =
        "[run]\nsteps = 30\ndt = 0.03125\n[grid]\nnx = 20\nny = 13\nlx = 8\nly = 5\n[const]\nkx = 2*pi/lx\n"
        "ky = 2*pi/ly\n[fields]\n";
    snprintf(one, sizeof one,
             "%s%s[species.p]\nparticles_per_cell = 32\nstart = quiet\ntemperature = 0.2\ndrift_y = 0.25*cos(kx*x)\n",
             head, fields);
    snprintf(two, sizeof two, "%s%s[species.p]\n" HALF "[species.q]\n" HALF, head, fields);
    struct lm_sim *a = sim_new(one, NULL), *b = sim_new(two, NULL);
    advance(a, 30);
    advance(b, 30);
    for (int d = 0; d < 3; d++)
        ck_assert(proportional(a, b, LM_B + d, 1) && proportional(a, b, LM_PUSH_E + d, 1) &&
                  proportional(a, b, LM_J_OLD + d, 1));
    ck_assert(proportional(a, b, LM_N_OLD, 1));
    ck_assert(proportional(b, b, LM_SPECIES_N, 1) && proportional(a, b, LM_SPECIES_N, 0.5));
    sim_free(a);
    sim_free(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim, invariance");
    TCase *t = tcase_create("sim, invariance");
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, uniform_drift_is_at_rest);
    tcase_add_test(t, galilean_shift);
    tcase_add_test(t, rescaled_units);
    tcase_add_test(t, charge_to_mass_is_what_counts);
    tcase_add_test(t, split_species);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
