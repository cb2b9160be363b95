/* CPU backend: the cells in which ions exchange heat with the electrons. The bodies of the loops are in
 * larmor/physics/collisions/ion_electron_heating.h, the loops over particles in particles_heating.c. A rate of both is
 * there. */
#include "cpu/cpu.h"
#include "larmor/physics/collisions/ion_electron_heating.h"

static void fill_temperatures(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        c->exchange.temperature[(size_t)j * (size_t)g->nx + (size_t)i] =
            lm_electron_temperature(lm_cpu_entropy(c)[k], c->array[LM_N_OLD][k], c->clearance[k], &c->base.setup.ohm);
    }
}

static struct lm_cell_electrons electrons_of_cell(const struct lm_cpu *c, int i, int j)
{
    const struct lm_grid *g = &c->base.setup.grid;
    return lm_electrons_of_cell(c->array[LM_N_OLD][lm_at(g, i, j)], c->exchange.temperature, g->nx, g->ny, &g->sides, i,
                                j);
}

void lm_cpu_heating_cells(struct lm_cpu *c, const struct lm_exchange_pass *pass)
{
    const struct lm_grid *g = &c->base.setup.grid;
    if (pass->first)
        fill_temperatures(c);
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const struct lm_cell_electrons electrons = electrons_of_cell(c, i, j);
        c->exchange.cells[(size_t)j * (size_t)g->nx + (size_t)i] =
            lm_heating_cell_at(&pass->with, &electrons, c->exchange.sums, g->nx, g->ny, &g->sides, i, j);
    }
}

/* Adds up the energy that the ions of all ranks request. Their moments have been added up before. */
void lm_cpu_add_requests(struct lm_cpu *c)
{
    const size_t cells = c->base.setup.grid.cells;
    int64_t *requests = c->exchange.requests, *sums = c->exchange.sums + LM_SUM_ENERGY;
    for (size_t k = 0; k < cells; k++)
        requests[k] = sums[k * LM_CELL_SUMS];
    lm_halo_add(c->base.setup.halo, &requests, 1, 1);
    for (size_t k = 0; k < cells; k++)
        sums[k * LM_CELL_SUMS] = requests[k];
}

void lm_cpu_heat_electrons(struct lm_cpu *c, int species, const struct lm_exchange_pass *pass)
{
    const struct lm_backend_species *p = &c->base.setup.species[species];
    const struct lm_grid *g = &c->base.setup.grid;
    const double gamma = c->base.setup.ohm.gamma, unit = 0.5 * p->weight * p->mass * lm_exp2i(-pass->tally_v2);
    const int field = c->base.setup.background_count - 1;
#pragma omp parallel num_threads(c->grid_threads)
    {
        struct lm_wide source = {0, 0}, elsewhere = {0, 0};
#pragma omp for schedule(static)
        for (int j = 0; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++) {
                const size_t cell = (size_t)j * (size_t)g->nx + (size_t)i;
                const size_t k = lm_at(g, i, j);
                lm_heat_electrons(&c->exchange.cells[cell], c->exchange.sums + cell * LM_CELL_SUMS,
                                  &lm_cpu_entropy(c)[k], lm_volume_at(c->open, (long)k), unit, pass->quantum, gamma,
                                  lm_is_own(g, i, j) ? &source : &elsewhere);
            }
#pragma omp critical
        lm_wide_merge(&c->control.background[field].source, &source);
    }
}

int lm_cpu_heat_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    uint64_t noise2 = 0;
    int64_t limited = 0;
    fill_temperatures(c);
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : noise2) reduction(+ : limited)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            const struct lm_cell_electrons electrons = electrons_of_cell(c, i, j);
            const struct lm_exchange_bound r = lm_exchange_bound(with, &electrons);
            noise2 = r.noise2 > noise2 ? r.noise2 : noise2;
            limited += r.limited;
        }
    *out = (struct lm_exchange_limits){lm_from_bits(noise2), limited};
    return LM_OK;
}
