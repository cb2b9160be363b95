/* Electrons that bodies absorb with the ions and with the current, and their entropy. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "background_cut.h"
#include "electrons_case.h"
#include "larmor/physics/fluid/absorption.h"
#include "require.h"
#include "sim_run.h"
#include "suite.h"

#define BOX 6.0
#define DENSITY 0.7
static const struct cut_disk disk = {.x = 3.03, .y = 2.96, .radius = 1};
static const struct lm_background entropy = {.scheme = LM_WENO3};

/* Flows of ions and of current that are uniform in the whole box, at `angle` to x. */
struct flows {
    double ions, current, angle;
    int particles, fields; /* of the disk */
    int whole;             /* it fills its cells */
};

/* B_z whose curl is J: it has no ends at the sides. */
static void fill(const struct lm_grid *g, const struct flows *f, double *n, double *x, double *y, double *bz)
{
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
            const size_t k = lm_at(g, i, j);
            n[k] = DENSITY;
            x[k] = f->ions * cos(f->angle);
            y[k] = f->ions * sin(f->angle);
            bz[k] = f->current * (cos(f->angle) * j * g->dy - sin(f->angle) * i * g->dx);
        }
}

/* What the disk absorbs of an entropy of 1 in a time of 1. */
static double absorbed(int cells, struct flows f)
{
    struct cut_case k = cut_case_new(cells, BOX, entropy, disk, f.whole);
    struct lm_setup *s = &k.c.setup;
    const struct lm_grid *g = &s->grid;
    double *a = calloc(6 * g->size, sizeof *a), *b[3] = {a, a + g->size, a + 2 * g->size}, *n = a + 3 * g->size,
           *x = n + g->size, *y = x + g->size, sum = 0;
    s->bodies.particles[0] = f.particles;
    s->bodies.fields[0] = f.fields;
    s->ohm.evolved = 1, s->ohm.floor = 0.05, s->ohm.gamma = GAMMA;
    fill(g, &f, n, x, y, b[2]);
    const struct lm_flow_moments m = {.density = {n, n}, .current = {x, y}, .b = {b[0], b[1], b[2], g->stride}};
    const size_t count = lm_surface_cells(g, &s->bodies, k.c.open, NULL);
    struct lm_surface_cell *cell = malloc((count + 1) * sizeof *cell);
    ck_assert_uint_eq(lm_surface_cells(g, &s->bodies, k.c.open, cell), count);
    for (size_t c = 0; c < count; c++) {
        const double rate = lm_absorption_rate(&m, &cell[c], &s->ohm);
        require(rate >= 0 && k.clearance[cell[c].k]);
        sum += rate * (double)cell[c].volume * g->dx * g->dy;
    }
    free(cell);
    free(a);
    cut_case_free(&k);
    return sum;
}

/* A flow meets the width of the disk. Chords in the cells make it too narrow by h^2/8 or less for R = 1. */
START_TEST(a_flow_meets_the_width_of_a_disk)
{
    const double angle = 0.4 * _i, h = BOX / 64;
    const struct flows ions = {0.3, 0, angle, LM_ABSORBING, LM_BODY_INSULATING, 0},
                       current = {0, -0.3, angle, LM_REFLECTING, LM_BODY_CONDUCTING, 0},
                       resistive = {0, -0.3, angle, LM_REFLECTING, LM_BODY_RESISTIVE, 0},
                       both = {0.5, 0.2, angle, LM_ABSORBING, LM_BODY_TRANSPARENT, 0};
    const double expected = 0.3 / DENSITY * 2 * disk.radius;
    require_near(absorbed(64, ions), expected, h * h * expected);
    require_near(absorbed(64, current), expected, h * h * expected);
    require_near(absorbed(64, resistive), expected, h * h * expected);
    require_near(absorbed(64, both), expected, h * h * expected);
}
END_TEST

/* As a set of cells the disk is as wide as its rows of cells, and nothing is lost in between. */
START_TEST(a_flow_meets_the_rows_of_cells)
{
    const struct flows ions = {0.3, 0, 0, LM_ABSORBING, LM_BODY_INSULATING, 1};
    const double rows = round(2 * disk.radius / (BOX / 64));
    const double found = absorbed(64, ions) / (0.3 / DENSITY * BOX / 64);
    require_near(found, round(found), 1e-9);
    require_near(found, rows, 1.0);
}
END_TEST

START_TEST(what_does_not_flow_into_a_body_stays)
{
    for (int angle = 0; angle < 6; angle++) {
        const struct flows reflected = {0.3, 0, angle, LM_REFLECTING, LM_BODY_CONDUCTING, 0},
                           emitted = {0.3, 0, angle, LM_THERMAL, LM_BODY_CONDUCTING, 0},
                           insulated = {0, 0.3, angle, LM_ABSORBING, LM_BODY_INSULATING, 0},
                           nothing = {0.3, 0.3, angle, LM_REFLECTING, LM_BODY_INSULATING, 0},
                           resting = {0.3, 0.3, angle, LM_ABSORBING, LM_BODY_CONDUCTING, 0};
        require_near(absorbed(32, reflected), 0, 1e-12);
        require_near(absorbed(32, emitted), 0, 1e-12);
        require_near(absorbed(32, insulated), 0, 1e-12);
        require_near(absorbed(32, nothing), 0, 0);
        require_near(absorbed(32, resting), 0, 1e-12);
    }
}
END_TEST

/* e^-x to second order, also for large x; in whole quanta, and booked. */
START_TEST(entropy_falls)
{
    const double volume = _i ? 0.7f : 1.0;
    for (double x = 0; x < 100; x = x * 2 + 0.01) {
        struct lm_wide source = {0, 0};
        const double unit = lm_exp2i(-40), before = _i ? lm_content(0.3, volume, unit) / volume : 0.25,
                     after = lm_absorb_entropy(before, x / 0.1, volume, 0.1, 40, &source);
        require(after >= 0 && after <= before);
        require(x > 0 || after == before);
        require_near(after / before, exp(-x), x * x * x / 6 + 1e-11);
        const double content = after * volume / unit;
        require_near(content, round(content), 1e-3);
        require_near((double)lm_wide_value(source), round((after - before) * volume / unit), 0);
    }
}
END_TEST

/* A cold wind in which the electrons have s/n = T^(1/gamma): an ion that is absorbed takes so much. */
static const char wind[] = "[run]\nsteps = 200\ndt = 0.02\nseed = 1\n[grid]\nnx = 48\nny = 48\nlx = 12\nly = 12\n"
                           "[electrons]\nclosure = evolved\ntemperature = 0.1\n[fields]\ndensity_floor = 0.05\n"
                           "[species.p]\nparticles_per_cell = 64\ntemperature = 0.02\ndrift_x = 2\n"
                           "[body.rock]\nshape = disk\nx = 6\ny = 6.1\nradius = 1.3\n";

START_TEST(an_ion_takes_the_entropy_of_its_electrons)
{
    struct lm_sim *sim = sim_new(wind, _i ? "body.rock.fields=insulating" : NULL);
    struct lm_sim_status start, end;
    lm_sim_status(sim, &start);
    advance(sim, 200);
    lm_sim_status(sim, &end);
    const double ions = (double)(start.species[0].count - end.species[0].count) * start.species[0].weight;
    ck_assert_double_gt(ions, 10);
    require_near(-end.background[0].source / ions, pow(0.1, 1 / GAMMA), 0.05 * pow(0.1, 1 / GAMMA));
    ck_assert(end.background[0].residual == 0);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("electrons that bodies absorb");
    TCase *t = tcase_create("electrons that bodies absorb");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, a_flow_meets_the_width_of_a_disk, 0, 8);
    tcase_add_test(t, a_flow_meets_the_rows_of_cells);
    tcase_add_test(t, what_does_not_flow_into_a_body_stays);
    tcase_add_loop_test(t, entropy_falls, 0, 2);
    tcase_add_loop_test(t, an_ion_takes_the_entropy_of_its_electrons, 0, 2);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
