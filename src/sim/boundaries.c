/* Walls, bodies, what enters and what is taken out: what a simulation of an open system does beside the algorithm. */
#include "sim/boundaries.h"

#include <math.h>
#include <stdlib.h>

#include "base/try.h"
#include "sim/inflow.h"
#include "larmor/physics/numerics/elementary.h"
#include "larmor/physics/particles/tiling.h"
#include "backend/surfaces.h"
#include "config/facts.h"
#include "sim/setup.h"

/* Angles of equal width, energies of equal ratio. */
static int make_bins(struct lm_sim *sim, const struct lm_setup *setup)
{
    const struct lm_config *c = sim->config;
    struct lm_map_bins *m = &sim->maps;
    const int angles = c->output.map_angles, energies = c->output.map_energies;
    lm_surfaces_faces(&sim->grid, &setup->bodies, m->first, NULL);
    if (angles == 0 || m->first[LM_SURFACES] == 0)
        return LM_OK;
    double *cos2 = malloc((size_t)angles * sizeof *cos2), *energy = malloc((size_t)(energies + 1) * sizeof *energy);
    uint32_t *faces = malloc(m->first[LM_SURFACES] * sizeof *faces);
    sim->map_arrays.cos2 = cos2, sim->map_arrays.energy = energy, sim->map_arrays.faces = faces;
    m->cos2 = cos2, m->energy = energy, m->faces = faces;
    if (!cos2 || !energy || !faces)
        return lm_fail(LM_FAILED, "not enough memory for maps of where particles hit");
    for (int k = 0; k < angles; k++) {
        const double edge = k < angles - 1 ? lm_cos(90 * LM_DEGREE * (k + 1) / angles) : 0;
        cos2[k] = edge * edge;
    }
    const double low = lm_log(c->output.map_energy[0]), high = lm_log(c->output.map_energy[1]);
    for (int k = 0; k <= energies; k++)
        energy[k] = lm_exp(low + (high - low) * k / energies);
    lm_surfaces_faces(&sim->grid, &setup->bodies, m->first, faces);
    m->angles = angles;
    m->energies = energies;
    return LM_OK;
}

static int make_nodes(struct lm_sim *sim, struct lm_setup *setup)
{
    sim->node = malloc(lm_body_node_count(&sim->grid) * sizeof *sim->node);
    if (!sim->node)
        return lm_fail(LM_FAILED, "not enough memory for the bodies");
    setup->bodies.node = sim->node;
    return lm_body_nodes(sim->config, sim->mask, sim->node);
}

static int make_obstacles(struct lm_sim *sim, struct lm_setup *setup)
{
    const size_t cells = sim->grid.cells;
    sim->obstacle = malloc(cells);
    sim->cut = malloc(cells * sizeof *sim->cut);
    sim->factor = malloc(cells * sizeof *sim->factor);
    if (!sim->obstacle || !sim->cut || !sim->factor)
        return lm_fail(LM_FAILED, "not enough memory for the bodies");
    setup->bodies.obstacles = (struct lm_obstacles){sim->obstacle, sim->cut, sim->factor};
    return lm_body_obstacles(sim->config, sim->mask, sim->obstacle, sim->cut, sim->factor);
}

int lm_sim_setup_surfaces(struct lm_sim *sim, struct lm_setup *setup)
{
    const struct lm_config *c = sim->config;
    if (c->body_count > 0) {
        sim->mask = malloc(sim->grid.cells);
        int status = sim->mask ? lm_body_mask(c, sim->mask) : lm_fail(LM_FAILED, "not enough memory for the bodies");
        if (status)
            return status;
        setup->bodies.mask = sim->mask;
        LM_TRY(make_nodes(sim, setup));
        LM_TRY(make_obstacles(sim, setup));
    }
    int status = make_bins(sim, setup);
    setup->maps = sim->maps;
    return status;
}

/* Cells of a side: where they are kept for the run, made at first. */
static int fill_side(struct lm_sim *sim, int species, int side, double *const b[3])
{
    const int count = side < LM_Y_MIN ? sim->grid.ny : sim->grid.nx;
    const double middle = lm_sim_time(sim) + 0.5 * sim->config->run.dt;
    struct lm_inflow_cell **cells = &sim->inflow[species].cells[side];
    int status = LM_OK;
    if (!*cells) {
        *cells = malloc((size_t)count * sizeof **cells);
        status = *cells ? lm_inflow_fill(sim->config, species, side, b, *cells, &sim->inflow[species].speed)
                        : lm_fail(LM_FAILED, "not enough memory for what enters");
    }
    if (!status)
        status = lm_inflow_rate(sim->config, species, side, middle, sim->obstacle, sim->cut, *cells);
    for (int k = 0; k < count && !status; k++)
        sim->inflow[species].most += (uint64_t)(*cells)[k].rate + 1;
    return status ? status : sim->backend->ops->put_inflow(sim->backend, species, side, *cells);
}

static int fill_species(struct lm_sim *sim, int species, double *const b[3])
{
    int status = LM_OK;
    sim->inflow[species].most = 0;
    for (int side = 0; side < LM_SIDES && !status; side++)
        if (sim->config->boundary[side] == LM_INFLOW)
            status = fill_side(sim, species, side, b);
    return status;
}

int lm_sim_begin_inflow(struct lm_sim *sim)
{
    const struct lm_config *c = sim->config;
    const size_t size = lm_has_inflow(c) ? sim->grid.size : 0;
    double *store = malloc(3 * size * sizeof *store + 1), *b[3] = {store, store + size, store + 2 * size};
    int status = store ? LM_OK : lm_fail(LM_FAILED, "not enough memory for what enters");
    if (!status && size > 0)
        status = lm_setup_b(c, b);
    for (int s = 0; s < c->species_count && !status; s++) {
        sim->inflow[s].speed = lm_surfaces_speed(&sim->backend->setup, s);
        status = lm_inflow_is_timed(c, s, &sim->inflow[s].timed);
        if (!status)
            status = fill_species(sim, s, b);
    }
    free(store);
    return status;
}

int lm_sim_update_inflow(struct lm_sim *sim)
{
    int status = LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++)
        if (sim->inflow[s].timed)
            status = fill_species(sim, s, NULL);
    if (status == LM_BAD_INPUT) /* it was sound at t = 0 */
        return lm_fail_context(LM_FAILED, "step %lld: inflow_density", (long long)sim->step + 1);
    return status;
}

static uint64_t sum_of(const struct lm_tally *t, int count)
{
    uint64_t n = 0;
    for (int k = 0; k < count; k++)
        n += (uint64_t)t[k].number;
    return n;
}

static void book_tallies(struct lm_sim *sim, int species)
{
    const struct lm_control *c = &sim->control;
    const struct lm_pass *pass = &sim->pass[species];
    struct lm_ledger *l = &sim->ledger[species];
    for (int way = 0; way < LM_ENTRANCES; way++)
        lm_ledger_add(l, &l->injected[way], &c->injected[species][way], pass->tally_v, pass->tally_v2);
    for (int channel = 0; channel < LM_CHANNELS; channel++)
        lm_ledger_add(l, &l->lost[channel], &c->lost[species][channel], pass->tally_v, pass->tally_v2);
    lm_ledger_add(l, &l->to_gas, &c->to_gas[species], pass->tally_v, pass->tally_v2);
    lm_ledger_add(l, &l->exchanged, &c->exchanged[species], pass->tally_v, pass->tally_v2);
    lm_ledger_add(l, &l->to_electrons, &c->to_electrons[species], pass->tally_v, pass->tally_v2);
}

int lm_sim_book_particles(struct lm_sim *sim)
{
    const struct lm_control *c = &sim->control;
    for (int s = 0; s < sim->config->species_count; s++) {
        struct lm_ledger *l = &sim->ledger[s];
        const uint64_t in = sum_of(c->injected[s], LM_ENTRANCES), out = sum_of(c->lost[s], LM_CHANNELS);
        book_tallies(sim, s);
        sim->count[s] += in - out;
        sim->has_gaps[s] |= in + out > 0;
        if ((uint64_t)c->charge_quanta[s] == sim->count[s] * LM_CHARGE_QUANTA && sim->count[s] == lm_ledger_present(l))
            continue;
        return lm_fail(
            LM_FAILED,
            "step %lld: the ledger of species %s does not close: %llu loaded, and with all that have entered "
            "and left %llu should be there (in this step %llu entered, %llu left), but %.10g are: an error "
            "of the program",
            (long long)sim->step, sim->config->species[s].name, (unsigned long long)l->loaded,
            (unsigned long long)lm_ledger_present(l), (unsigned long long)in, (unsigned long long)out,
            (double)c->charge_quanta[s] / LM_CHARGE_QUANTA);
    }
    return LM_OK;
}
