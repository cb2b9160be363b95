/* Runs with background fields. */
#ifndef LARMOR_TESTS_BACKGROUND_RUN_H
#define LARMOR_TESTS_BACKGROUND_RUN_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"

/* A run with all inputs that change with time, with a body across the periodic sides, and with a field that outgrows
 * its first quantum. */
static const char open_text[] =
    "[run]\nsteps = 40\ndt = 0.05\nseed = 3\n[grid]\nnx = 24\nny = 16\nlx = 6\nly = 4\n"
    "[electrons]\ntemperature = 0.2\n[fields]\nbx = 0.2\nbz = 1\neta_hyper = 1e-3\n"
    "[boundary]\nx_min = inflow\nfields_x_min = inflow\nx_max = absorbing\n"
    "[species.p]\nparticles_per_cell = 8\ntemperature = 0.1\ndrift_x = 0.8\n"
    "[body.moon]\nshape = disk\nx = 3\ny = 0\nradius = 0.8\nfields = transparent\n"
    "[background.dye]\ninitial = exp(-(x-1)^2)\nstream = y*(1 + 0.5*sin(t)) + 0.1*cos(x)\ninflow = 0.2*sin(t)^2\n"
    "bounds = on\nmaximum = 1\n"
    "[background.gas]\nkind = neutral_gas\ninitial = 0.01\nvelocity = ion\ninflow = 0.01\nsource = t*(y > 2)\n"
    "[background.heat]\ninitial = 1 + 0.2*sin(y)\nvelocity = electron\ndiffusivity = 0.02\n"
    "side_x_min = wall\nside_x_max = wall\nweno = 5\nsmoothness = single\n";

static const char periodic_text[] = "[run]\nsteps = 40\ndt = 0.05\n[grid]\nnx = 32\nny = 6\nlx = 4\nly = 1.5\n"
                                    "[fields]\nsolver = none\n[species.p]\nparticles_per_cell = 2\n"
                                    "[background.q]\ninitial = 2 + sin(2*pi*x/lx)\n";

static inline void output_here(struct lm_sim *sim)
{
    struct lm_config *c = (struct lm_config *)sim->config;
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
}

/* Checks every ledger: the sum over the cells is its total, and its parts add up to that total. */
static inline void assert_ledgers(struct lm_sim *sim)
{
    for (int f = 0; f < sim->config->background_count; f++) {
        const struct lm_background_ledger *l = &sim->background[f].ledger;
        double *q = array_of(sim, LM_BACKGROUND + f), least = INFINITY, most = -INFINITY;
        require(lm_background_sum(&sim->grid, sim->cuts.open, q, l->quantum, l->exponent) == l->total);
        require(lm_background_residual(l) == 0);
        for (int j = 0; j < sim->grid.ny; j++)
            for (int i = 0; i < sim->grid.nx; i++) {
                const double v = q[lm_at(&sim->grid, i, j)];
                if (sim->mask && sim->mask[j * sim->grid.nx + i]) {
                    require(v == 0);
                    continue;
                }
                least = fmin(least, v);
                most = fmax(most, v);
            }
        require(least == sim->background[f].least && most == sim->background[f].most);
        free(q);
    }
}

static inline void checkpoint_of(const char *text, char *path)
{
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_references references = {0};
    output_here(sim);
    advance(sim, 3);
    ck_assert_msg(!lm_sim_save(sim, &references, 0, path), "%s", lm_error());
    sim_free(sim);
}

/* A copy of `text` in which the first `from` is replaced. It stays valid until the second call after this one. */
static inline const char *text_with(const char *text, const char *from, const char *to)
{
    static char turns[2][4096];
    static int turn;
    char *out = turns[turn++ % 2];
    const char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    snprintf(out, sizeof turns[0], "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

#endif
