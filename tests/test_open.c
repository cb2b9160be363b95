/* Open systems: particles that enter, are re-emitted, and are taken out, against theory. */
#include <check.h>
#include <math.h>

#include "sim/inflow.h"
#include "inside.h"
#include "require.h"
#include "sim_run.h"
#include "suite.h"

static double sum_of(const struct lm_account *a, int count)
{
    double n = 0;
    for (int k = 0; k < count; k++)
        n += (double)a[k].number;
    return n;
}

/* The function Phi against the C library, and the flux against its integral. */
START_TEST(normal_distribution)
{
    for (double x = -30; x <= 10; x += 0.37) {
        const double want = 0.5 * erfc(-x / sqrt(2)), wrong = fabs(lm_normal_below(x) - want);
        require(wrong < 2e-15 && wrong < 1e-6 * want); /* nothing enters from the far tails */
    }
    for (double u = -2; u <= 3; u += 0.5) {
        double integral = 0;
        for (double v = 0.0005; v < 12; v += 0.001)
            integral += 0.001 * v * exp(-0.5 * (v - u) * (v - u) / 0.36) / (0.6 * sqrt(2 * M_PI));
        require(fabs(lm_inflow_flux(u, 0.6) - integral) < 1e-6);
    }
}
END_TEST

#define BOX(steps, more)                                                                                               \
    "[run]\ndt = 0.05\nsteps = " steps "\n[grid]\nnx = 40\nny = 24\nlx = 10\nly = 6\n[fields]\nsolver = none\n" more

#define ALL_INFLOW "[boundary]\nx_min = inflow\nx_max = inflow\ny_min = inflow\ny_max = inflow\n"

static const char *const plasmas[] = {
    "temperature = 0.5\n", "temperature = 0.5\ndrift_x = 1\ndrift_y = -0.4\ndrift_z = 0.3\n",
    "temperature_x = 0.2\ntemperature_y = 0.8\ntemperature_z = 0.5\ndrift_x = -0.5\n",
    "temperature_par = 1.2\ntemperature_perp = 0.3\ndrift_y = 0.6\n", /* B oblique: tangents depend on the normal */
};
enum { PLASMAS = sizeof plasmas / sizeof *plasmas };

/* E beyond a side is periodic along the side, to the bit, because a backend may read either image. */
START_TEST(inflow_field_is_periodic_along_the_side)
{
    static const char *const sides[] = {
        "[boundary]\ny_min = inflow\nfields_y_min = inflow\ny_max = reflecting\n",
        "[boundary]\nx_min = thermal\nx_min_temperature = 0.1\nx_max = inflow\nfields_x_max = inflow\n"};
    char text[1024];
    snprintf(text, sizeof text,
             "[run]\ndt = 0.01\nsteps = 1\n[grid]\nnx = 5\nny = 7\nlx = 2.5\nly = 4.55\n"
             "[fields]\nbx = 0.3\nby = 0.5\nbz = 0.7 + 0.1*cos(2*pi*%c/l%c)\n%s"
             "[species.a]\nparticles_per_cell = 2\ndensity = 0.05 + (x < lx/2) + (y < ly/2)\ndrift_x = -0.8\n"
             "[species.b]\nparticles_per_cell = 2\ndrift_z = sin(x) + sin(y)\n",
             _i ? 'y' : 'x', _i ? 'y' : 'x', sides[_i]);
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_grid *g = &sim->grid;
    double *store = calloc(4 * g->size, sizeof *store), *b[3] = {store, store + g->size, store + 2 * g->size};
    double *e = store + 3 * g->size, most = 0;
    require(lm_setup_b(sim->config, b) == LM_OK);
    for (int d = 0; d < 3; d++) {
        require(lm_setup_inflow_e(sim->config, b, d, 0, e) == LM_OK);
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                const size_t image = _i ? lm_at(g, i, (j + g->ny) % g->ny) : lm_at(g, (i + g->nx) % g->nx, j);
                require(lm_bits(e[lm_at(g, i, j)]) == lm_bits(e[image]));
                most = fmax(most, fabs(e[image]));
            }
    }
    require(most > 0.1);
    free(store);
    sim_free(sim);
}
END_TEST

/* Beyond a side where a plasma of two species comes in, E = -u x B with the mean drift u of their charges. */
START_TEST(inflow_field_is_that_of_the_drift)
{
    static const char text[] =
        "[run]\ndt = 0.01\nsteps = 1\n[grid]\nnx = 5\nny = 7\nlx = 2.5\nly = 4.55\n"
        "[fields]\nbx = 0.3\nby = 0.5\nbz = 0.7\n[boundary]\nx_min = inflow\n"
        "fields_x_min = inflow\nx_max = absorbing\n[species.a]\nparticles_per_cell = 2\ndensity = 0.4\ncharge = 2\n"
        "drift_x = 1\ndrift_y = 0.5\n[species.b]\nparticles_per_cell = 2\ndensity = 0.2\n"
        "drift_x = 1\ndrift_z = -1\n";
    /* Charges 0.8 and 0.2: u = (1, 0.4, -0.2). */
    static const double want[3] = {-(0.4 * 0.7 + 0.2 * 0.5), -(-0.2 * 0.3 - 1 * 0.7), -(1 * 0.5 - 0.4 * 0.3)};
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_grid *g = &sim->grid;
    double *store = calloc(4 * g->size, sizeof *store), *b[3] = {store, store + g->size, store + 2 * g->size};
    double *e = store + 3 * g->size;
    require(lm_setup_b(sim->config, b) == LM_OK);
    for (int d = 0; d < 3; d++) {
        require(lm_setup_inflow_e(sim->config, b, d, 0, e) == LM_OK);
        for (int j = 0; j < g->ny; j++)
            for (int i = -LM_GHOST; i < -1; i++)
                require(fabs(e[lm_at(g, i, j)] - want[d]) < 1e-14);
    }
    free(store);
    sim_free(sim);
}
END_TEST

/* A uniform plasma that continues beyond all sides does not change: density, flow and temperatures stay, also along
 * the edges, and the number that enters is that of the flux. The given E balances the drift, and B is so weak that no
 * particle turns. */
START_TEST(uniform_plasma)
{
    char text[1024];
    snprintf(text, sizeof text,
             BOX("160", "bx = 0.002\nby = 0.001\nbz = 0.002\n") ALL_INFLOW "[species.p]\nparticles_per_cell = 60\n%s",
             plasmas[_i]);
    struct lm_sim *sim = sim_new(text, _i % 2 ? "particles.shape=quadratic" : NULL);
    struct lm_totals before, after;
    const double present = (double)sim->count[0];
    ck_assert_int_eq(lm_sim_totals(sim, &before), LM_OK);
    double n_edge = 0, n_all = 0;
    int rows = 0;
    for (int step = 0; step < 160; step++) {
        advance(sim, step + 1);
        if (step < 40 || step % 8)
            continue;
        double *n = array_of(sim, LM_N_OLD);
        for (int j = 0; j < sim->grid.ny; j++)
            for (int i = 0; i < sim->grid.nx; i++) {
                const double here = n[lm_at(&sim->grid, i, j)];
                const int edge = i == 0 || j == 0 || i == sim->grid.nx - 1 || j == sim->grid.ny - 1;
                n_all += here / (double)sim->grid.cells;
                n_edge += edge ? here / (2.0 * (sim->grid.nx + sim->grid.ny - 2)) : 0;
            }
        rows++;
        free(n);
    }
    ck_assert_int_eq(lm_sim_totals(sim, &after), LM_OK);
    /* 15 rows of about 57600 particles; about 6 % of these are exchanged between two rows. The spread is about 1 in
     * sqrt(15 * 57600 * 0.3). */
    ck_assert_msg(fabs(n_all / rows - 1) < 4 / sqrt(57600.0), "mean density %g", n_all / rows);
    ck_assert_msg(fabs(n_edge / rows - 1) < 4 / sqrt(57600 * 0.13 * 5), "density at the edges %g", n_edge / rows);
    const double size = lm_sim_weight(sim, 0) * present, spread = 5 / sqrt(present);
    for (int d = 0; d < 3; d++) {
        const double thermal = sqrt(2 * before.kinetic[0][d] / size);
        ck_assert_msg(fabs(after.momentum[d] - before.momentum[d]) < spread * thermal * size,
                      "momentum %d: %g, then %g", d, before.momentum[d] / size, after.momentum[d] / size);
        ck_assert_msg(fabs(after.kinetic[0][d] / before.kinetic[0][d] - 1) < 2 * spread, "energy %d: %g, then %g", d,
                      before.kinetic[0][d] / size, after.kinetic[0][d] / size);
    }
    /* The number that enters through each side is that of the flux, and as many leave. The number that enters has
     * hardly any noise. */
    const struct lm_ledger *l = &sim->ledger[0];
    for (int side = 0; side < LM_SIDES; side++) {
        const int normal = side / 2;
        double v[2] = {before.momentum[normal] / size, 2 * before.kinetic[0][normal] / size};
        const double flux = lm_inflow_flux((side % 2 ? -1 : 1) * v[0], sqrt(v[1] - v[0] * v[0]));
        const double want = flux * (normal ? sim->grid.lx : sim->grid.ly) * lm_sim_time(sim) / lm_sim_weight(sim, 0);
        ck_assert_msg(fabs((double)l->injected[side].number - want) < 0.02 * want, "%s: %g entered, %g expected",
                      lm_side_names[side], (double)l->injected[side].number, want);
    }
    ck_assert_uint_eq(lm_ledger_present(l), sim->count[0]);
    sim_free(sim);
}
END_TEST

/* The number that enters is the expected one, over many steps to within one particle for each cell of the side. */
START_TEST(inflow_is_even)
{
    struct lm_sim *sim =
        sim_new(BOX("200", "") "[boundary]\nx_min = inflow\nx_max = absorbing\ny_min = reflecting\n"
                               "y_max = reflecting\n[species.p]\ndensity = 0\ninflow_density = 0.5 + 0.25*sin(t)\n"
                               "particles_per_cell = 16\ndrift_x = 2\n",
                NULL);
    double want = 0;
    for (int step = 0; step < 200; step++) {
        want += (0.5 + 0.25 * sin(0.05 * step)) * 2 * 0.05 * 6 / lm_sim_weight(sim, 0);
        advance(sim, step + 1);
        ck_assert_msg(fabs((double)sim->ledger[0].injected[LM_X_MIN].number - want) < 24 * 1.5, "step %d: %g, %g", step,
                      (double)sim->ledger[0].injected[LM_X_MIN].number, want);
    }
    /* A cold beam of 2 v_A fills the box from the left; the density follows from the number that has entered. */
    double *n = array_of(sim, LM_N_OLD);
    for (int i = 1; i < sim->grid.nx - 1; i++) {
        double mean = 0, entered = lm_sim_time(sim) - (i + 0.5) * sim->grid.dx / 2;
        for (int j = 0; j < sim->grid.ny; j++)
            mean += n[lm_at(&sim->grid, i, j)] / sim->grid.ny;
        ck_assert_msg(fabs(mean - 0.5 - 0.25 * sin(entered)) < 0.03, "cell %d: density %g", i, mean);
    }
    free(n);
    sim_free(sim);
}
END_TEST

/* Particles between two thermal walls take the temperature of the walls, and none is lost. */
START_TEST(thermal_walls)
{
    struct lm_sim *sim = sim_new(
        BOX("3000",
            "") "[boundary]\nx_min = thermal\nx_max = thermal\ny_min = thermal\ny_max = thermal\n"
                "x_min_temperature = 0.8\nx_max_temperature = 0.8\ny_min_temperature = 0.8\ny_max_temperature = 0.8\n"
                "[species.p]\nmass = 2\nparticles_per_cell = 10\ntemperature = 0.2\ndrift_x = 1\n",
        NULL);
    struct lm_totals t;
    advance(sim, 3000);
    ck_assert_int_eq(lm_sim_totals(sim, &t), LM_OK);
    const double size = lm_sim_weight(sim, 0) * (double)sim->count[0];
    ck_assert_uint_eq(sim->count[0], sim->ledger[0].loaded);
    for (int d = 0; d < 3; d++) {
        ck_assert_msg(fabs(2 * t.kinetic[0][d] / size - 0.8) < 0.8 * 5 * sqrt(2 / 9600.0), "temperature %d: %g", d,
                      2 * t.kinetic[0][d] / size);
        ck_assert_msg(fabs(t.momentum[d] / size / sqrt(1.6)) < 5 / sqrt(9600.0), "momentum %d: %g", d,
                      t.momentum[d] / size);
    }
    sim_free(sim);
}
END_TEST

/* A cold beam meets an absorbing disk: 2 R n U hit it in a unit of time, and there are no particles behind it. */
START_TEST(beam_on_disk)
{
    struct lm_sim *sim =
        sim_new("[run]\ndt = 0.05\nsteps = 400\n[grid]\nnx = 80\nny = 80\nlx = 20\nly = 20\n[fields]\nsolver = none\n"
                "[boundary]\nx_min = inflow\nx_max = absorbing\n[body.moon]\nshape = disk\nx = 8\ny = 10\nradius = 3\n"
                "[species.p]\nparticles_per_cell = 9\ndrift_x = 2\n",
                NULL);
    const uint64_t *before = &sim->ledger[0].lost[LM_SIDES].number;
    advance(sim, 200);
    const uint64_t start = *before;
    advance(sim, 400);
    const double want = 6.0 * 2 * 10 / lm_sim_weight(sim, 0); /* the disk covers 24 rows of cells, 6 d_i */
    ck_assert_msg(fabs((double)(*before - start) - want) < 24 * 2, "%g hit, %g expected", (double)(*before - start),
                  want);
    struct lm_account *hit = &sim->ledger[0].lost[LM_SIDES];
    double values[LM_LEDGER_VALUES];
    lm_ledger_values(&sim->ledger[0], hit, lm_sim_weight(sim, 0), 1, values);
    ck_assert(fabs(values[2] / values[1] - 2) < 1e-6 && fabs(values[5] / values[1] - 2) < 1e-6 && values[3] == 0);
    double *n = array_of(sim, LM_N_OLD), shadow = 0, beside = 0;
    for (int i = 60; i < 76; i++)
        for (int j = 0; j < 80; j++) {
            if (j >= 32 && j < 48)
                shadow += n[lm_at(&sim->grid, i, j)] / (16 * 16);
            if (j < 24)
                beside += n[lm_at(&sim->grid, i, j)] / (16 * 24);
        }
    ck_assert_msg(shadow == 0 && fabs(beside - 1) < 0.02, "density behind %g, beside %g", shadow, beside);
    free(n);
    sim_free(sim);
}
END_TEST

/* Collisions have covered the time until half a step before the end. Slowing is exact to 1e-6. Scattering gives the
 * <sin^2> of diffusion on the sphere, (1 - exp(-6 D t)) 2/3 with D = d<theta^2>/dt / 2 in each plane. The tail that is
 * cut at s sigmas removes exp(-s^2/2) of all particles in each step. Particles that stop or turn too far are counted.
 */
START_TEST(losses)
{
    struct lm_sim *sim = sim_new(
        BOX("100", "") "[species.p]\nparticles_per_cell = 40\ndrift_x = 1\nscattering_rate = 0.04\n"
                       "scattering_sigmas = 3.2\ndrag_rate = 0.1\n[species.q]\nparticles_per_cell = 4\ndrift_z = 1\n"
                       "temperature = 1e-4\ndrag_rate = 0.2\nlost_below_energy = 0.1\n"
                       "[species.r]\nparticles_per_cell = 40\ntemperature = 0.5\nlost_below_pitch = "
                       "30\nlost_above_pitch = 120\n",
        "fields.bz=1");
    const double loaded = (double)sim->count[0], time = 5 - 0.5 * 0.05;
    advance(sim, 100);
    struct lm_totals t;
    ck_assert_int_eq(lm_sim_totals(sim, &t), LM_OK);
    const double kept = pow(1 - exp(-0.5 * 3.2 * 3.2), 100), present = (double)sim->count[0];
    ck_assert_msg(fabs(present / loaded - kept) < 5 * sqrt(kept * (1 - kept) / loaded), "%g are left, %g expected",
                  present / loaded, kept);
    ck_assert_uint_eq(sim->ledger[0].lost[LM_THETA_CUTOFF].number + sim->count[0], (uint64_t)loaded);
    const double size = lm_sim_weight(sim, 0) * present, energy = t.kinetic[0][0] + t.kinetic[0][1] + t.kinetic[0][2];
    ck_assert_msg(fabs(2 * energy / size / exp(-2 * 0.1 * time) - 1) < 1e-6, "energy %g", 2 * energy / size);
    /* v_z^2 does not depend on the gyration about B_z. The cut tail lowers the variance of the angle a little. */
    const double r2 = 3.2 * 3.2, variance = 0.04 * (1 - 0.5 * r2 * exp(-0.5 * r2) / (1 - exp(-0.5 * r2)));
    const double want = (1 - exp(-3 * variance * time)) / 3, got = t.kinetic[0][2] / energy;
    ck_assert_msg(fabs(got - want) < 5 * want * sqrt(2 / present), "part of the energy along z %g, %g expected", got,
                  want);
    /* energy 0.5 exp(-0.4 t) < 0.1 after t = 4.02 */
    ck_assert_uint_eq(sim->count[1] + sim->ledger[1].lost[LM_ENERGY_STOPPED].number, sim->ledger[1].loaded);
    ck_assert_uint_eq(sim->count[1], 0);
    const double accepted = (cos(30 * M_PI / 180) - cos(120 * M_PI / 180)) / 2, all = (double)sim->ledger[2].loaded;
    ck_assert_msg(fabs((double)sim->count[2] / all - accepted) < 5 * sqrt(accepted * (1 - accepted) / all),
                  "%g in the cone, %g expected", (double)sim->count[2] / all, accepted);
    ck_assert(sum_of(sim->ledger[2].lost, LM_CHANNELS) == (double)sim->ledger[2].lost[LM_THETA_BOUNDARY].number);
    sim_free(sim);
}
END_TEST

/* An empty box is filled with many times the particles that were reserved. None is lost, with any number of threads. */
START_TEST(room_for_more)
{
    static const char text[] = BOX(
        "300",
        "") "[boundary]\nx_min = inflow\nx_max = absorbing\ny_min = inflow\n"
            "y_max = absorbing\n[species.p]\ndensity = (x < 1)*(y < 1)\ninflow_density = 1\nparticles_per_cell = 30\n"
            "temperature = 0.4\ndrift_x = 1\n";
    struct lm_sim *sim = sim_new(text, NULL), *other = sim_new(text, "run.sort_every=1000");
    const uint64_t at_start = sim->count[0];
    uint64_t a, b;
    advance(sim, 300);
    advance(other, 300);
    ck_assert(!lm_sim_fingerprint(sim, &a) && !lm_sim_fingerprint(other, &b));
    ck_assert_uint_eq(a, b);
    ck_assert_msg(sim->count[0] > 20 * at_start, "%g of %g", (double)sim->count[0], (double)at_start);
    sim_free(sim);
    sim_free(other);
}
END_TEST

/* Ions exactly along B are inside every cone about B; rounding must not remove them. */
START_TEST(along_b)
{
    struct lm_sim *sim =
        sim_new(BOX("5", "bx = 0.3\nby = 0.7\n") "[species.p]\nparticles_per_cell = 8\ndrift_x = 0.45\n"
                                                 "drift_y = 1.05\nlost_above_pitch = 90\n",
                _i ? "particles.precision=single" : NULL);
    advance(sim, 5);
    ck_assert_uint_eq(sim->count[0], sim->ledger[0].loaded);
    sim_free(sim);
}
END_TEST

/* A body in front of an inflow side closes that part of the side, even if it is one cell thick. A box that is empty at
 * first is filled. */
START_TEST(plugged_inlet)
{
    static const char text[] = BOX(
        "60",
        "") "[boundary]\nx_min = inflow\nx_max = absorbing\n[species.p]\ndensity = 0\ninflow_density = min(t, 1)\n"
            "particles_per_cell = 20\ndrift_x = 1\n[body.plug]\nshape = box\nx = 0\nwidth = 0.5\ny = 1.5\nheight = 3\n";
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, 60);
    const double open_part = 0.5, t = 3; /* half of the side is open; min(t, 1) lets in 0.5 until t = 1 */
    const double want = open_part * 6 * (0.5 + (t - 1)) / lm_sim_weight(sim, 0);
    ck_assert_msg(fabs((double)sim->ledger[0].injected[LM_X_MIN].number - want) < 24, "%g entered, %g expected",
                  (double)sim->ledger[0].injected[LM_X_MIN].number, want);
    ck_assert_uint_eq(sim->ledger[0].lost[LM_SIDES].number, 0); /* the beam passes beside it */
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("open");
    TCase *t = tcase_create("open");
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, normal_distribution);
    tcase_add_loop_test(t, uniform_plasma, 0, unless_sanitized(PLASMAS));
    tcase_add_test(t, inflow_is_even);
    tcase_add_loop_test(t, thermal_walls, 0, unless_sanitized(1));
    tcase_add_test(t, beam_on_disk);
    tcase_add_test(t, losses);
    tcase_add_test(t, room_for_more);
    tcase_add_loop_test(t, along_b, 0, 2);
    tcase_add_test(t, plugged_inlet);
    tcase_add_loop_test(t, inflow_field_is_periodic_along_the_side, 0, 2);
    tcase_add_test(t, inflow_field_is_that_of_the_drift);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
