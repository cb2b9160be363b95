/* CPU backend: ions exchange heat with the electrons, in three loops over the particles. The first sums the moments of
 * the ions in each cell. The second sums the energy that they request the electrons of the cell to take. The third
 * applies the exchange where the electrons can take or give that energy. The bodies of the loops are in
 * larmor/physics/collisions/ion_electron_heating_particle.h.
 *
 * A thread does 6e6 particles a second with the exchange and 3.4e7 without (2026-11-22, commit 620b7f0). */
#include "larmor/physics/collisions/ion_electron_heating_particle.h"
#include "cpu/particles.h"

struct exchanger {
    struct lm_cpu *c;
    int species;
    struct lm_exchange with;
    struct arrays a;
    struct lm_tiling tiling;
    struct lm_tally_units units;
    struct lm_tally to_electrons;
};

/* Where an ion is: the index of its cell in the arrays of cells, and the number of its cell in the domain. */
struct spot {
    uint32_t index, cell;
};

typedef void visit(struct exchanger *w, struct spot at, size_t k, const struct lm_particle *p);

static void add(struct exchanger *w, struct spot at, int what, int64_t amount)
{
#pragma omp atomic
    w->c->exchange.sums[(size_t)at.index * LM_CELL_SUMS + (size_t)what] += amount;
}

static void sum_moments(struct exchanger *w, struct spot at, size_t k, const struct lm_particle *p)
{
    int64_t moments[LM_SUM_ENERGY];
    (void)k;
    lm_exchange_moments(&w->with, at.cell, p, moments);
    for (int what = 0; what < LM_SUM_ENERGY; what++)
        add(w, at, what, moments[what]);
}

static void request_energy(struct exchanger *w, struct spot at, size_t k, const struct lm_particle *p)
{
    int64_t energy;
    (void)k;
    if (lm_request_energy(&w->with, &w->c->exchange.cells[at.index], at.cell, &w->units, p, &energy))
        add(w, at, LM_SUM_ENERGY, energy);
}

static void apply(struct exchanger *w, struct spot at, size_t k, const struct lm_particle *p)
{
    struct lm_particle after;
    if (lm_apply_exchange(&w->with, &w->c->exchange.cells[at.index], at.cell, &w->units, p, &after, &w->to_electrons))
        w->a.vx[k] = after.vx, w->a.vy[k] = after.vy, w->a.vz[k] = after.vz;
}

static void visit_one(struct exchanger *w, visit *body, int tile, size_t k)
{
    const struct lm_particle p = particle_at(&w->a, k);
    if (p.x == LM_GONE)
        return;
    const uint32_t index = lm_cell_of(&w->tiling, tile, p.x, p.y), width = (uint32_t)w->tiling.cells_x;
    const struct lm_place *place = &w->c->base.setup.grid.place;
    const struct spot at = {index, lm_domain_cell(place, (int)(index % width), (int)(index / width))};
    body(w, at, k, &p);
}

static void each(const struct exchanger *of, visit *body)
{
    struct lm_cpu *c = of->c;
    const struct lm_cpu_species *s = &c->species[of->species];
#pragma omp parallel num_threads(c->threads)
    {
        struct exchanger w = *of;
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++)
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
                visit_one(&w, body, tile, k);
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            visit_one(&w, body, home_of(s, k, 0), k);
#pragma omp critical(exchange)
        lm_tally_add(&c->control.to_electrons[w.species], &w.to_electrons);
    }
}

int LM_P(lm_cpu_exchange_heat)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct exchanger w = {.c = c,
                                .species = species,
                                .with = pass->with,
                                .a = arrays_of(&c->species[species]),
                                .tiling = tiling(c),
                                .units = {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)}};
    each(&w, sum_moments);
    lm_halo_add(b->setup.halo, &c->exchange.sums, 1, LM_CELL_SUMS);
    lm_cpu_heating_cells(c, pass);
    each(&w, request_energy);
    if (b->setup.halo)
        lm_cpu_add_requests(c);
    lm_cpu_heat_electrons(c, species, pass);
    each(&w, apply);
    return LM_OK;
}
