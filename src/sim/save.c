/* Writes the state into a checkpoint. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/restart.h"
#include "sim/state.h"
#include "sim/tracks.h"

static double real_at(const struct lm_sim *sim, const void *array, size_t k)
{
    return sim->config->particles.precision == LM_SINGLE ? (double)((const float *)array)[k]
                                                         : ((const double *)array)[k];
}

struct save {
    struct lm_sim *sim;
    double *work;
};

static int get_strip(const struct lm_sim *sim, enum lm_side side, double *values)
{
    const size_t lines = (size_t)(side < LM_Y_MIN ? sim->grid.ny : sim->grid.nx);
    int status = sim->backend->ops->get_strip(sim->backend, side, values);
    for (size_t k = 0; k < LM_STRIP_ARRAYS * LM_STRIP_CELLS * lines && !status; k++)
        if (!isfinite(values[k]))
            status = lm_fail(LM_FAILED, "the fields beyond %s are not finite", lm_side_names[side]);
    return status;
}

/* A state that is not finite is not written: no run could go on from it, and it would replace an older checkpoint. */
static int get_field(void *context, int field, double *packed)
{
    struct save *s = context;
    const struct lm_grid *g = &s->sim->grid;
    const int bordered = field >= lm_sim_state_fields(s->sim) - lm_sim_state_bordered(s->sim);
    const int border = bordered ? LM_GHOST : 0; /* B with its ghosts */
    const size_t row = (size_t)(g->nx + 2 * border), all = border ? g->size : g->cells;
    const int side = lm_sim_state_strip(s->sim, field);
    if (side >= 0)
        return get_strip(s->sim, (enum lm_side)side, packed);
    int status = s->sim->backend->ops->get(s->sim->backend, lm_sim_state_array(s->sim, field), s->work);
    if (!status && border)
        memcpy(packed, s->work, all * sizeof *packed);
    else if (!status)
        lm_grid_pack(g, s->work, packed);
    for (size_t k = 0; k < all && !status; k++)
        if (!isfinite(packed[k]))
            status = lm_fail(LM_FAILED, "the field %s is not finite at x = %g, y = %g", s->sim->state_names[field],
                             ((double)(k % row) - border + 0.5) * g->dx, ((double)(k / row) - border + 0.5) * g->dy);
    return status;
}

static int get_particles(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles out)
{
    struct lm_sim *sim = ((struct save *)context)->sim;
    int status = sim->backend->particles->get(sim->backend, species, first, count, out);
    for (uint64_t k = 0; k < count && !status; k++)
        if (!isfinite(real_at(sim, out.vx, k) + real_at(sim, out.vy, k) + real_at(sim, out.vz, k)))
            status = lm_fail(LM_FAILED, "a velocity of species %s is not finite", sim->config->species[species].name);
    return status;
}

static int get_map(void *context, int species, uint64_t *counters)
{
    struct lm_sim *sim = ((struct save *)context)->sim;
    return sim->backend->ops->get_map(sim->backend, species, counters);
}

int lm_sim_save(struct lm_sim *sim, const struct lm_references *references, int keep, char *path)
{
    return lm_sim_save_with(sim, references, 0, NULL, keep, path);
}

int lm_sim_save_with(struct lm_sim *sim, const struct lm_references *references, int sums_count,
                     const struct lm_checkpoint_sums *sums, int keep, char *path)
{
    const struct lm_config *c = sim->config;
    struct lm_checkpoint head = {.step = sim->step,
                                 .time = lm_sim_time(sim),
                                 .dt = c->run.dt,
                                 .nx = c->grid.nx,
                                 .ny = c->grid.ny,
                                 .lx = c->grid.lx,
                                 .ly = c->grid.ly,
                                 .shape = c->particles.shape,
                                 .precision = c->particles.precision,
                                 .seed = c->run.seed,
                                 .energy_start = references->energy,
                                 .energy_scale = references->scale,
                                 .settings_changed = references->changed,
                                 .field_count = lm_sim_state_fields(sim),
                                 .bordered = lm_sim_state_bordered(sim),
                                 .field_names = sim->state_names,
                                 .species_count = c->species_count,
                                 .sums_count = sums_count,
                                 .sums = sums};
    for (int d = 0; d < 3; d++)
        head.momentum_start[d] = references->momentum[d];
    for (int s = 0; s < c->species_count; s++) {
        head.species[s] = (struct lm_checkpoint_species){.charge = c->species[s].charge,
                                                         .mass = c->species[s].mass,
                                                         .weight = sim->backend->setup.species[s].weight,
                                                         .count = sim->count[s],
                                                         .ledger = sim->ledger[s]};
        snprintf(head.species[s].name, sizeof head.species[s].name, "%s", c->species[s].name);
    }
    head.has_sides = 1;
    memcpy(head.side, sim->side, sizeof head.side);
    lm_sim_describe(sim, &head);
    lm_sim_describe_tracks(sim, &head);
    char *text = NULL;
    size_t length = 0;
    FILE *echo = open_memstream(&text, &length);
    struct save save = {sim, malloc(sim->grid.size * sizeof(double))};
    int status =
        echo && save.work ? lm_config_write(c, echo) : lm_fail(LM_FAILED, "not enough memory for a checkpoint");
    if (echo)
        fclose(echo);
    struct lm_checkpoint_io io = {
        .context = &save, .get_field = get_field, .get_particles = get_particles, .get_map = get_map};
    if (!status)
        status = lm_sim_compact(sim);
    if (!status)
        status = lm_checkpoint_write(c->output.directory, &head, text, keep > 0 ? keep : c->output.keep, &io, path);
    free(save.work);
    free(text);
    return status;
}
