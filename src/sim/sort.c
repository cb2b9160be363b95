/* When particles are sorted by tile. */
#include <math.h>

#include "base/try.h"
#include "sim/state.h"

/* Measured on an H200 (`larmor bench order`): a sort costs as much as so many passes, a stray as much as so many other
 * particles. */
static const double SORT_COST = 1.9, STRAY_COST = 50;
enum { SORT_AT_LEAST_EVERY = 64 };

static int sort(struct lm_sim *sim, int species)
{
    LM_TRY(sim->backend->particles->sort(sim->backend, species));
    sim->unsorted[species].steps = 0;
    sim->unsorted[species].cells = 0;
    sim->unsorted[species].cost = 0;
    sim->has_gaps[species] = 0;
    sim->sorts++;
    return LM_OK;
}

/* A sort pays as soon as a step costs more than the mean step since the last sort, that sort included. */
static int sort_pays(const struct lm_sim *sim, int species, double cost)
{
    const double steps = (double)sim->unsorted[species].steps, sort_cost = SORT_COST * (double)sim->count[species];
    return cost * steps > sort_cost + sim->unsorted[species].cost || steps >= SORT_AT_LEAST_EVERY;
}

/* `bound`: no particle is faster in the step that begins. */
static int sort_if_due(struct lm_sim *sim, int species, double bound)
{
    const int64_t every = sim->config->run.sort_every;
    const double cells = bound * sim->config->run.dt / fmin(sim->grid.dx, sim->grid.dy);
    const double cost = (double)sim->control.strays[species] * STRAY_COST;
    sim->unsorted[species].cost += cost;
    const int due = every > 0 ? sim->unsorted[species].steps >= every : sort_pays(sim, species, cost);
    if (due || sim->unsorted[species].cells + cells > sim->backend->most_stray_cells)
        LM_TRY(sort(sim, species));
    sim->unsorted[species].steps++;
    sim->unsorted[species].cells += cells;
    return LM_OK;
}

int lm_sim_sort_where_due(struct lm_sim *sim)
{
    for (int s = 0; s < sim->config->species_count; s++)
        LM_TRY(sort_if_due(sim, s, lm_sim_speed_bound(sim, s, sim->config->run.dt)));
    return LM_OK;
}

int lm_sim_compact(struct lm_sim *sim)
{
    for (int s = 0; s < sim->config->species_count; s++) {
        if (!sim->has_gaps[s])
            continue;
        LM_TRY(sim->backend->particles->sort(sim->backend, s));
        sim->has_gaps[s] = 0;
    }
    return LM_OK;
}
