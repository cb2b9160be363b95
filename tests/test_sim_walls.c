/* The whole step between walls: effusion, reflection, and mirrored currents. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "require.h"
#include "sim_run.h"
#include "suite.h"

/* Behind a reflecting wall the current along the normal has the opposite sign, smoothed or not. */
START_TEST(currents_are_mirrored_at_walls)
{
    char more[32];
    snprintf(more, sizeof more, "fields.smoothing=%d", _i);
    struct lm_sim *sim = sim_new("[run]\ndt = 0.02\nsteps = 2\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n"
                                 "[boundary]\nx_min = reflecting\nx_max = reflecting\n[fields]\nbz = 1\n"
                                 "[species.p]\nparticles_per_cell = 30\ntemperature = 0.5\ndrift_x = 0.4*sin(x)\n",
                                 more);
    advance(sim, 2);
    for (int d = 0; d < 4; d++) {
        double *a = array_of(sim, d < 3 ? LM_J_OLD + d : LM_N_OLD), most = 0;
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 2; k++) {
                const double inside = a[lm_at(&sim->grid, k, j)], sign = d == 0 ? -1 : 1;
                ck_assert_double_eq_tol(a[lm_at(&sim->grid, -1 - k, j)], sign * inside, 1e-15);
                most = fmax(most, fabs(inside));
            }
        ck_assert_double_gt(most, 1e-3);
        free(a);
    }
    sim_free(sim);
}
END_TEST

#define WALLED(walls)                                                                                                  \
    "[run]\nsteps = 60\ndt = 0.05\n[grid]\nnx = 40\nny = 24\nlx = 10\nly = 6\n[fields]\nsolver = none\n"               \
    "[species.p]\nparticles_per_cell = 50\ntemperature = 0.5\n[boundary]\n" walls

/* The flux through an open side is n sqrt(T / 2 pi m), as long as the other end of the box has no influence. */
START_TEST(effusion)
{
    static const char *const boxes[] = {
        WALLED("x_min = reflecting\nx_max = absorbing\n"), WALLED("x_min = absorbing\nx_max = reflecting\n"),
        WALLED("y_min = reflecting\ny_max = absorbing\n"), WALLED("y_min = absorbing\ny_max = absorbing\n")};
    struct lm_sim *sim = sim_new(boxes[_i], NULL);
    const double area = sim->grid.dx * sim->grid.dy, length = _i < 2 ? sim->grid.ly : sim->grid.lx;
    advance(sim, 60);
    double want = 50 / area * sqrt(0.5 / (2 * M_PI)) * length * lm_sim_time(sim);
    uint64_t gone = 0;
    for (int side = 0; side < LM_SIDES; side++) {
        double lost = (double)sim->ledger[0].lost[side].number;
        gone += sim->ledger[0].lost[side].number;
        if (sim->config->boundary[side] == LM_ABSORBING)
            ck_assert_msg(fabs(lost - want) < 4 * sqrt(want), "%s: %g lost, %g expected", lm_side_names[side], lost,
                          want);
        else
            ck_assert_int_eq((int)lost, 0);
    }
    ck_assert_uint_eq(sim->count[0] + gone, sim->ledger[0].loaded);
    sim_free(sim);
}
END_TEST

/* Between reflecting walls every particle keeps its energy, to the bit, and the density stays uniform up to the walls.
 */
START_TEST(mirrors)
{
    struct lm_sim *sim =
        sim_new(WALLED("x_min = reflecting\nx_max = reflecting\ny_min = reflecting\ny_max = reflecting\n"),
                _i ? "particles.shape=quadratic" : "species.p.drift_x=6");
    struct lm_totals before, after;
    ck_assert_int_eq(lm_sim_totals(sim, &before), LM_OK);
    advance(sim, 60);
    ck_assert_int_eq(lm_sim_totals(sim, &after), LM_OK);
    for (int d = 0; d < 3; d++)
        ck_assert(before.kinetic[0][d] == after.kinetic[0][d]);
    ck_assert_uint_eq(sim->count[0], sim->ledger[0].loaded);
    double *n = array_of(sim, LM_N_OLD), edge = 0, all = 0;
    for (int j = 0; j < sim->grid.ny; j++)
        for (int i = 0; i < sim->grid.nx; i++) {
            double here = n[lm_at(&sim->grid, i, j)];
            all += here / (double)sim->grid.cells;
            edge += i == 0 || i == sim->grid.nx - 1 ? here / (2 * sim->grid.ny) : 0;
        }
    ck_assert_msg(fabs(all - 1) < 1e-12, "mean density %.15g", all); /* no charge is lost beyond the walls */
    if (_i)
        ck_assert_msg(fabs(edge - 1) < 4 / sqrt(50 * 2.0 * sim->grid.ny), "density at the walls %g", edge);
    free(n);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim, walls");
    TCase *t = tcase_create("sim, walls");
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, currents_are_mirrored_at_walls, 0, 3);
    tcase_add_loop_test(t, effusion, 0, 4);
    tcase_add_loop_test(t, mirrors, 0, 2);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
