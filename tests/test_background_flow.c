/* Background fields in runs are carried by given flows, by ions and by electrons. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "background_run.h"
#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* The mean of |q - exact| over a row, with exact = 2 + sin(2 pi (x - shift) / lx). */
static double error_of_row(struct lm_sim *sim, int j, double shift)
{
    double *q = array_of(sim, LM_BACKGROUND), sum = 0;
    for (int i = 0; i < sim->grid.nx; i++)
        sum += fabs(q[lm_at(&sim->grid, i, j)] - 2 - sin(2 * M_PI * ((i + 0.5) * sim->grid.dx - shift) / 4));
    free(q);
    return sum / sim->grid.nx;
}

static double error_of(struct lm_sim *sim, double shift)
{
    double sum = 0;
    for (int j = 0; j < sim->grid.ny; j++)
        sum += error_of_row(sim, j, shift) / sim->grid.ny;
    return sum;
}

/* A flow that depends on time carries the field by the sum over the steps of dt times the velocity in the middle of
 * each step. */
START_TEST(given_flows)
{
    static const struct {
        const char *keys;
        double shift; /* at t = 2 */
        int substeps;
    } flows[] = {
        {"vx = 0.5", 1, 1},
        {"vx = t", 2, 2},
        {"stream = y*t", 2, 2},
        {"stream = -0.5*y", -1, 1},
        {"vx = 0.5\nbounds = on\ncourant = 0.7", 1, 2}, /* two substeps, as 0.2 cells a step are above 0.7 / 6 */
        {"vx = 0.5\ndiffusivity = 0.1", 0, 2}};
    for (size_t k = 0; k < sizeof flows / sizeof *flows; k++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s\n", periodic_text, flows[k].keys);
        struct lm_sim *sim = sim_new(text, NULL);
        const lm_int128 total = sim->background[0].ledger.total;
        advance(sim, 40);
        ck_assert_int_eq((int)sim->background[0].substeps, flows[k].substeps);
        ck_assert(sim->background[0].ledger.total == total);
        if (k < 5)
            require_near(error_of(sim, flows[k].shift), 0, 2e-3);
        else
            ck_assert_double_lt(sim->background[0].most, 2 + 1.02 * exp(-0.1 * M_PI * M_PI / 4 * 2));
        sim_free(sim);
    }
}
END_TEST

/* The velocity through walls and bodies is 0, whatever flow is given. */
START_TEST(shut_flows)
{
    static const char *const sides[] = {"side_x_min = wall", "side_x_max = wall", "side_y_min = wall",
                                        "side_y_max = wall"};
    for (int side = 0; side < LM_SIDES; side++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%svx = 1\nvy = 2\nside_x_min = open\nside_x_max = open\nside_y_min = open\nside_y_max = open\n",
                 text_with(periodic_text, "[background.q]",
                           "[boundary]\nx_min = absorbing\nx_max = absorbing\ny_min = absorbing\ny_max = absorbing\n"
                           "[body.b]\nshape = box\nx = 2\ny = 0.75\nwidth = 0.25\nheight = 0.5\n[background.q]"));
        char open[24];
        snprintf(open, sizeof open, "%.10s = open", sides[side]);
        struct lm_sim *sim = sim_new(text_with(text, open, sides[side]), NULL);
        const struct lm_grid *g = &sim->grid;
        double *vx = array_of(sim, LM_BACKGROUND_X), *vy = array_of(sim, LM_BACKGROUND_Y);
        for (int j = 0; j < g->ny; j++)
            for (int i = -1; i < g->nx; i++) {
                const int solid = (i >= 14 && i <= 16) && (j == 2 || j == 3);
                const int wall = (side == LM_X_MIN && i == -1) || (side == LM_X_MAX && i == g->nx - 1);
                require(vx[lm_at(g, i, j)] == (solid || wall ? 0 : 1));
            }
        for (int j = -1; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++) {
                const int solid = (i == 15 || i == 16) && j >= 1 && j <= 3;
                const int wall = (side == LM_Y_MIN && j == -1) || (side == LM_Y_MAX && j == g->ny - 1);
                require(vy[lm_at(g, i, j)] == (solid || wall ? 0 : 2));
            }
        free(vx);
        free(vy);
        sim_free(sim);
    }
}
END_TEST

/* Fields are carried by ions in uniform motion, and by electrons that move with them as there is no current. */
START_TEST(carried)
{
    for (int k = 0; k < 2; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%svelocity = %s\n[particles]\nshape = linear\n[species.d]\nstart = quiet\ndrift_x = 0.5\n",
                 periodic_text, k ? "electron" : "ion");
        struct lm_sim *sim = sim_new(text_with(text, "particles_per_cell = 2", "density = 0"), NULL);
        advance(sim, 40);
        require_near(error_of(sim, 1), 0, 2e-3);
        sim_free(sim);
    }
}
END_TEST

/* Electrons move with u_i - J/n, and carry the field also when the ions are at rest. */
START_TEST(carried_by_a_current)
{
    char text[1024];
    snprintf(text, sizeof text, "%.512s[species.d]\nstart = quiet\nparticles_per_cell = 64\n",
             text_with(periodic_text, "particles_per_cell = 2", "density = 0"));
    snprintf(text, sizeof text, "%s", text_with(text, "[background.q]", "[background.q]\nvelocity = electron"));
    snprintf(text, sizeof text, "%s", text_with(text, "solver = none", "solver = none\nbz = 0.2*sin(2*pi*y/ly)"));
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, 40);
    for (int j = 0; j < 6; j++) {
        const double j_x = 0.2 * (sin(2 * M_PI * (j + 1) / 6) - sin(2 * M_PI * j / 6)) / 0.25;
        require_near(error_of_row(sim, j, -2 * j_x), 0, 2e-3);
    }
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("background fields, flows");
    TCase *t = tcase_create("background fields, flows");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, given_flows);
    tcase_add_test(t, shut_flows);
    tcase_add_test(t, carried);
    tcase_add_test(t, carried_by_a_current);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
