/* The energy that fields and electrons carry through the sides (larmor/physics/fields/side_energy.h). */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "config/energy.h"
#include "config/facts.h"
#include "output/energy_budget.h"
#include "output/series_columns.h"
#include "require.h"
#include "sim_run.h"
#include "suite.h"

/* A wind along an axis carries the edge between a dense and a thin plasma, with other B, through the last side. */
struct wind {
    char along, across;
    int backwards;      /* it comes from the upper side */
    const char *fields; /* of the side by which it leaves */
    const char *electrons;
};
static const double U = 2, BZ[2] = {1, 0.5}, BT = 0.4, N[2] = {1, 0.4}, LENGTH = 16, WIDTH = 1, T = 0.6,
                    EDGE = 12; /* of the plasma, from where the wind comes */

static const char *const closures[] = {"temperature = 0", "closure = isothermal\ntemperature = 0.6",
                                       "closure = polytropic\ntemperature = 0.6",
                                       "closure = evolved\ntemperature = 0.6"};
enum { CLOSURES = 4 };
static const char *const exits[] = {"open", "radiating"};
enum { WINDS = CLOSURES * 2 * 4 };

static struct wind wind_number(int k)
{
    const int swapped = k / 8 % 2;
    return (struct wind){swapped ? 'y' : 'x', swapped ? 'x' : 'y', k / 16 % 2, exits[k / 4 % 2], closures[k % 4]};
}

static void wind_text(const struct wind *w, char *out, size_t size)
{
    const double u = w->backwards ? -U : U, at = w->backwards ? LENGTH - EDGE : EDGE;
    const char *first = w->backwards ? "max" : "min", *last = w->backwards ? "min" : "max", a = w->along, c = w->across;
    snprintf(out, size,
             "[run]\nt_end = 3\ndt = 0.02\n[grid]\nn%c = 64\nl%c = %g\nn%c = 4\nl%c = %g\n[electrons]\n%s\n"
             "[functions]\ndense = (1 + tanh((%g - %c)*%g))/2\n"
             "[fields]\nbz = %g + %g*dense\nb%c = %g\n"
             "[species.p]\nparticles_per_cell = 64\ntemperature = 0.1\ndrift_%c = %g\n"
             "density = %g + %g*dense\ninflow_density = %g\n"
             "[boundary]\n%c_%s = inflow\n%c_%s = absorbing\nfields_%c_%s = %s\n",
             a, a, LENGTH, c, c, WIDTH, w->electrons, at, a, w->backwards ? -1.0 : 1.0, BZ[1], BZ[0] - BZ[1], c, BT, a,
             u, N[1], N[0] - N[1], N[0], a, first, a, last, a, last, w->fields);
}

/* Runs to the end and finds what is unexplained, of runs that are judged. */
static double unexplained_in(struct lm_sim *sim, struct lm_sim_status *at_end)
{
    char why[LM_ENERGY_WHY];
    struct lm_references references;
    struct lm_energy_budget budget;
    require(lm_energy_judge(sim->config, why) == LM_ENERGY_BOTH);
    require(lm_row_references(sim, &references) == LM_OK);
    advance(sim, sim->config->run.steps);
    const struct lm_totals totals = totals_of(sim);
    lm_sim_status(sim, at_end);
    lm_energy_budget_find(sim->config, at_end, &totals, &references, &budget);
    return budget.unexplained;
}

/* What a uniform wind brings in a unit of time. */
static double power_of_electrons(int closure)
{
    const double enthalpy = closure == 0 ? 0 : closure == 1 ? T : 2.5 * T; /* gamma = 5/3; n = 1 */
    return enthalpy * N[0] * U * WIDTH;
}

START_TEST(budget_of_a_wind_closes)
{
    const struct wind w = wind_number(_i);
    char text[2048];
    struct lm_sim_status now;
    wind_text(&w, text, sizeof text);
    struct lm_sim *sim = sim_new(text, NULL);
    const double unexplained = unexplained_in(sim, &now), fields = U * (BZ[0] * BZ[0] + BT * BT) * WIDTH * now.time,
                 electrons = power_of_electrons(_i % CLOSURES) * now.time;
    const int axis = w.along == 'y', first = 2 * axis + w.backwards, last = 2 * axis + !w.backwards;
    require_near(now.side[first].fields, fields, 0.01 * fields);
    require_near(now.side[first].electrons, electrons, 0.01 * electrons);
    require(now.side[last].fields < -0.4 * fields && now.side[last].electrons <= 0);
    require_near(unexplained, 0, 0.02 * fields);
    sim_free(sim);
}
END_TEST

/* A way from the side `first` of an axis to the side `last`; `near` is the half of the domain before the latter. */
struct way {
    char along, across;
    int backwards, enters; /* enum lm_side */
    const char *first, *last, *near;
};

static struct way way_number(int k)
{
    static const char *const near[] = {"x > 8", "y > 8", "x < 8", "y < 8"};
    const int axis = k % 2, backwards = k / 2;
    return (struct way){
        "xy"[axis], "yx"[axis], backwards, 2 * axis + backwards, backwards ? "max" : "min", backwards ? "min" : "max",
        near[k]};
}

/* A wind with a density and a B_z that vary along the side by which they leave. The pressure's part of E along the side
 * is no part of what the fields carry. A radiating side may leave as much unexplained as it may in a uniform wind. */
START_TEST(budget_of_an_uneven_wind_closes)
{
    const struct way w = way_number(_i % 4);
    const int is_open = _i < 4;
    char text[2048];
    struct lm_sim_status now;
    snprintf(text, sizeof text,
             "[run]\nt_end = 3\ndt = 0.01\n[grid]\nn%c = 64\nl%c = 16\nn%c = 16\nl%c = 4\n"
             "[electrons]\nclosure = polytropic\ntemperature = 0.6\n[functions]\nnear = %s\n"
             "[fields]\nbz = 1 + (near ? 0.5*sin(2*pi*%c/4) : 0)\n"
             "[species.p]\nparticles_per_cell = 64\ntemperature = 0.1\ndrift_%c = %s\n"
             "density = 1 + (near ? 0.5*cos(2*pi*%c/4) : 0)\ninflow_density = 1\n"
             "[boundary]\n%c_%s = inflow\n%c_%s = absorbing\nfields_%c_%s = %s\n",
             w.along, w.along, w.across, w.across, w.near, w.across, w.along, w.backwards ? "-2" : "2", w.across,
             w.along, w.first, w.along, w.last, w.along, w.last, is_open ? "open" : "radiating");
    struct lm_sim *sim = sim_new(text, NULL);
    const double unexplained = unexplained_in(sim, &now);
    require_near(unexplained, 0, (is_open ? 0.005 : 0.02) * now.side[w.enters].fields);
    sim_free(sim);
}
END_TEST

/* A plasma at rest that leaves through a side slowly, so that the current of the ions varies from cell to cell. The
 * electrons of the half cell before the side are wrong by a part that halves with the cells. */
START_TEST(budget_of_a_slow_outflow_closes)
{
    const struct way w = way_number(_i);
    char text[2048];
    struct lm_sim_status now;
    snprintf(text, sizeof text,
             "[run]\nt_end = 6\ndt = 0.02\n[grid]\nn%c = 128\nl%c = 16\nn%c = 4\nl%c = 0.5\n"
             "[electrons]\nclosure = polytropic\ntemperature = 0.6\n"
             "[species.p]\nparticles_per_cell = 128\ntemperature = 0.1\nstart = quiet\n"
             "[boundary]\n%c_%s = reflecting\n%c_%s = absorbing\nfields_%c_%s = conducting\n",
             w.along, w.along, w.across, w.across, w.along, w.first, w.along, w.last, w.along, w.last);
    struct lm_sim *sim = sim_new(text, NULL);
    const double unexplained = unexplained_in(sim, &now), electrons = now.side[w.enters ^ 1].electrons;
    require(electrons < -0.5);
    require_near(unexplained, 0, -0.02 * electrons);
    sim_free(sim);
}
END_TEST

/* Electrons that evolve: a wall takes those of the ions that leave, and an open side also those of the current, 0.3. */
START_TEST(a_wall_takes_the_electrons_of_its_ions)
{
    const int high = _i % 2, side = high ? LM_X_MAX : LM_X_MIN;
    const double ji_here = _i / 2 ? -0.2 : 0.2;
    const struct lm_grid g = lm_grid_make(4, 4, 4, 4);
    const struct lm_ohm o = {.gamma = 5.0 / 3, .floor = 0.05, .evolved = 1, .inv_dx = 1, .inv_dy = 1};
    double *zero = calloc(5 * g.size, sizeof *zero), *bz = zero + g.size, *n = bz + g.size, *ji = n + g.size,
           *entropy = ji + g.size, sum[LM_SIDE_SUMS];
    for (size_t k = 0; k < g.size; k++)
        bz[k] = 0.3 * (double)(k / (size_t)g.stride), n[k] = 0.5, ji[k] = ji_here,
        entropy[k] = lm_entropy_of(0.4, o.gamma);
    const struct lm_view none = {zero, zero, zero, g.stride};
    const struct lm_side_arrays a = {.e = none,
                                     .void_e = none,
                                     .b = {zero, zero, bz, g.stride},
                                     .ion_current = {ji, zero},
                                     .density = n,
                                     .entropy = entropy};
    const long k = (long)lm_at(&g, high ? 3 : 0, 2);
    const double enthalpy = 2.5 * 0.4 / 0.5, inwards = high ? -1 : 1, leaves = high == (ji_here > 0) ? ji_here : 0;
    lm_side_cell(&a, &g, side, LM_OPEN, LM_ABSORBING, k, &o, sum);
    require_near(sum[LM_SIDE_ELECTRONS], inwards * enthalpy * (ji_here - 0.3), 1e-12);
    lm_side_cell(&a, &g, side, LM_CONDUCTING, LM_ABSORBING, k, &o, sum);
    require_near(sum[LM_SIDE_ELECTRONS], inwards * enthalpy * leaves, 1e-12);
    free(zero);
}
END_TEST

/* Electrons that evolve pass through surfaces with the current and with ions that bodies absorb: a body in a plasma, a
 * blob in a void between walls, and a plasma that leaves through walls. What passes is more than a run may leave
 * unexplained.
 */
START_TEST(budget_at_surfaces_closes)
{
    static const char *const plasmas[] = {
        "density = (x-3)^2+(y-3)^2 < 2.25 ? 0 : 1\n"
        "[body.rock]\nshape = disk\nx = 3\ny = 3\nradius = 1.5\nparticles = absorbing\nfields = conducting\n",
        "density = (x-3)^2+(y-3)^2 < 2.25 ? 1 : 0\n"
        "[boundary]\nx_min = reflecting\nx_max = reflecting\ny_min = reflecting\ny_max = reflecting\n",
        "density = 1\n"
        "[boundary]\nx_min = absorbing\nx_max = absorbing\ny_min = absorbing\ny_max = absorbing\n"
        "fields_x_min = conducting\nfields_x_max = conducting\nfields_y_min = conducting\nfields_y_max = conducting\n"};
    static const int cells[] = {24, 24, 48};
    char text[2048];
    struct lm_sim_status now;
    struct lm_references references;
    snprintf(text, sizeof text,
             "[run]\nt_end = 4\ndt = 0.02\n[grid]\nnx = %d\nny = nx\nlx = 6\nly = lx\n"
             "[electrons]\nclosure = evolved\ntemperature = 0.6\n[fields]\nbz = 0.3\n"
             "[species.p]\nparticles_per_cell = 64\ntemperature = 0.3\n%s",
             cells[_i], plasmas[_i]);
    struct lm_sim *sim = sim_new(text, NULL);
    require(lm_row_references(sim, &references) == LM_OK);
    const double unexplained = unexplained_in(sim, &now);
    require(lm_has_electron_surfaces(sim->config));
    require(now.electrons_through_surfaces < -1.2 * sim->config->run.energy_limit * references.scale);
    require_near(unexplained, 0, sim->config->run.energy_limit * references.scale);
    sim_free(sim);
}
END_TEST

/* E of a void is a part of the power of the fields, and the sums have its power and the size of it, too; not where E is
 * given. */
START_TEST(power_of_voids)
{
    static const int fields[] = {LM_OPEN, LM_RADIATING, LM_INFLOW_E};
    const int side = _i % LM_SIDES, kind = fields[_i / LM_SIDES], along_y = side / 2, high = side % 2;
    const struct lm_grid g = lm_grid_make(4, 4, 2, 3);
    const struct lm_ohm o = {.gamma = 1, .floor = 0.05, .inv_dx = 2, .inv_dy = 4.0 / 3};
    double *e = malloc(6 * g.size * sizeof *e);
    for (size_t k = 0; k < 6 * g.size; k++)
        e[k] = 1 + (double)(k / g.size); /* E_v = (1, 2, 3), B = (4, 5, 6) */
    const struct lm_view void_e = {e, e + g.size, e + 2 * g.size, g.stride},
                         b = {e + 3 * g.size, e + 4 * g.size, e + 5 * g.size, g.stride};
    double *zero = calloc(g.size, sizeof *zero), sum[LM_SIDE_SUMS];
    const struct lm_side_arrays a = {
        .e = {zero, zero, zero, g.stride}, .void_e = void_e, .b = b, .ion_current = {zero, zero}, .density = zero};
    const double through = (along_y ? 3 * 4 - 1 * 6 : 2 * 6 - 3 * 5) * (along_y ? g.dx : g.dy), /* E x B */
        inwards = kind == LM_INFLOW_E ? 0
                  : high              ? -through
                                      : through;
    lm_side_cell(&a, &g, side, kind, LM_ABSORBING, (long)lm_at(&g, 2, 2), &o, sum);
    require_near(sum[LM_SIDE_FIELDS], inwards, 1e-14);
    require_near(sum[LM_SIDE_VOID], inwards, 1e-14);
    require_near(sum[LM_SIDE_VOID_SIZES], fabs(inwards), 1e-14);
    free(e), free(zero);
}
END_TEST

/* --- fields alone --- */

/* A plasma at rest between reflecting sides; a given E along one of them lets flux in, which drives the plasma away.
 * The gap is a void as soon as it has one cell, so that the flux does not pile up on the side. */
enum { PUMPS = 2 * 2 * 2 };

START_TEST(budget_of_a_driven_side_closes)
{
    const int axis = _i % 2, high = _i / 2 % 2, in_plane = _i / 4;
    const char a = "xy"[axis], c = "yx"[axis], *side = high ? "max" : "min";
    /* E x B into the plasma: B_z = 1 with E across, or B across = 1 with E_z */
    const double sign = (high ? -1 : 1) * (axis == 0 ? 1 : -1) * (in_plane ? -1 : 1);
    char text[2048];
    struct lm_sim_status now;
    snprintf(text, sizeof text,
             "[run]\nt_end = 6\ndt = 0.02\n[grid]\nn%c = 48\nl%c = 12\nn%c = 4\nl%c = 1\n"
             "[electrons]\nclosure = polytropic\ntemperature = 0.2\n[fields]\nb%c = 1\ne%c = %g*0.1*t\n"
             "[species.p]\nparticles_per_cell = 64\ntemperature = 0.2\nstart = quiet\n"
             "[boundary]\n%c_min = reflecting\n%c_max = reflecting\nfields_%c_%s = inflow_e\n",
             a, a, c, c, in_plane ? c : 'z', in_plane ? 'z' : c, sign, a, a, a, side);
    struct lm_sim *sim = sim_new(text, NULL);
    const double unexplained = unexplained_in(sim, &now), fields = now.side[2 * axis + high].fields;
    const long step = axis == 0 ? 1 : sim->grid.stride;
    const double *const b = lm_sim_view_array(sim, LM_B + (in_plane ? 1 - axis : 2)) +
                            (axis == 0 ? lm_at(&sim->grid, high ? 47 : -1, 1) : lm_at(&sim->grid, 1, high ? 47 : -1));
    require(b[0] > 1.2 && b[0] < 1.5 * b[high ? -step : step]);
    require(fields > 1 && now.side[2 * axis + !high].fields == 0);
    require_near(unexplained, 0, 0.02 * fields);
    sim_free(sim);
}
END_TEST

/* The E of a coil around the domain lets flux in through the void around a column. E along a side changes along it, and
 * half of the flux on the side comes with E through it. */
START_TEST(budget_of_a_coil_closes)
{
    struct lm_sim_status now;
    struct lm_sim *sim =
        sim_new("[run]\nt_end = 4\ndt = 0.02\n[grid]\nnx = 16\nny = 16\nlx = 8\nly = 8\n"
                "[electrons]\nclosure = polytropic\ntemperature = 0.25\n"
                "[fields]\nbz = (x - 4)^2 + (y - 4)^2 < 4 ? 0.5 : sqrt(1.25)\nex = 0.2*(y - 4)\ney = -0.2*(x - 4)\n"
                "[species.p]\nparticles_per_cell = 64\ntemperature = 0.25\ndensity = (x - 4)^2 + (y - 4)^2 < 4\n"
                "[boundary]\nx_min = absorbing\nx_max = absorbing\ny_min = absorbing\ny_max = absorbing\n"
                "fields_x_min = inflow_e\nfields_x_max = inflow_e\nfields_y_min = inflow_e\nfields_y_max = inflow_e\n",
                NULL);
    const double unexplained = unexplained_in(sim, &now);
    double brought = 0;
    for (int side = 0; side < LM_SIDES; side++)
        brought += now.side[side].fields;
    require_near(unexplained, 0, 0.02 * brought);
    sim_free(sim);
}
END_TEST

/* A shear of the flow becomes Alfven waves, which run along B into both sides. */
static const char *const kinds[] = {"open", "radiating", "inflow_b"};
enum { WAVES = 3 * 2 };

START_TEST(budget_of_waves_closes)
{
    const char a = "xy"[_i % 2], c = "yx"[_i % 2], *kind = kinds[_i / 2];
    char text[2048];
    struct lm_sim_status now;
    snprintf(text, sizeof text,
             "[run]\nt_end = 24\ndt = 0.05\n[grid]\nn%c = 64\nl%c = 32\nn%c = 4\nl%c = 2\n"
             "[electrons]\ntemperature = 0\n[fields]\nb%c = 1\n"
             "[species.p]\nparticles_per_cell = 16\ntemperature = 0\nstart = quiet\n"
             "drift_z = 0.2*exp(-((%c - 16)/4)^2)\n"
             "[boundary]\n%c_min = reflecting\n%c_max = reflecting\nfields_%c_min = %s\nfields_%c_max = %s\n",
             a, a, c, c, a, a, a, a, a, kind, a, kind);
    struct lm_sim *sim = sim_new(text, NULL);
    const double wave = 0.5 * 0.2 * 0.2 * 4 * sqrt(M_PI / 2) * 2, unexplained = unexplained_in(sim, &now);
    require_near(unexplained, 0, 0.02 * wave);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("energy through the sides");
    TCase *t = tcase_create("energy through the sides");
    tcase_set_timeout(t, 600);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, budget_of_a_wind_closes, 0, WINDS);
    tcase_add_loop_test(t, budget_of_an_uneven_wind_closes, 0, 2 * 4);
    tcase_add_loop_test(t, budget_of_a_slow_outflow_closes, 0, 4);
    tcase_add_loop_test(t, a_wall_takes_the_electrons_of_its_ions, 0, 4);
    tcase_add_loop_test(t, budget_at_surfaces_closes, 0, 3);
    tcase_add_loop_test(t, power_of_voids, 0, 12);
    tcase_add_loop_test(t, budget_of_a_driven_side_closes, 0, PUMPS);
    tcase_add_test(t, budget_of_a_coil_closes);
    tcase_add_loop_test(t, budget_of_waves_closes, 0, WAVES);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
