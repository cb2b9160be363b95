/* CPU backend: what ions that exchange heat with the electrons meet in the cells. The bodies are in
 * larmor/physics/collisions/ion_electron_heating.h, the loops over particles in particles_exchange.c. */
#include "cpu/cpu.h"
#include "larmor/physics/collisions/ion_electron_heating.h"

static void fill_temperatures(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        c->exchange.temperature[(size_t)j * (size_t)g->nx + (size_t)i] =
            lm_electron_temperature(lm_cpu_entropy(c)[k], c->array[LM_N_OLD][k], c->room[k], &c->base.setup.ohm);
    }
}

static struct lm_exchange_place place_at(const struct lm_cpu *c, int i, int j)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double *t = c->exchange.temperature;
    return (struct lm_exchange_place){c->array[LM_N_OLD][lm_at(g, i, j)], t[(size_t)j * (size_t)g->nx + (size_t)i],
                                      lm_temperature_around(t, g->nx, g->ny, &g->sides, i, j)};
}

void lm_cpu_baths(struct lm_cpu *c, const struct lm_exchange_pass *pass)
{
    const struct lm_grid *g = &c->base.setup.grid;
    if (pass->first)
        fill_temperatures(c);
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t cell = (size_t)j * (size_t)g->nx + (size_t)i;
        const struct lm_crowd crowd = lm_crowd_around(c->exchange.sums, g->nx, g->ny, &g->sides, i, j);
        const struct lm_exchange_place place = place_at(c, i, j);
        int64_t sum[LM_SUM_ENERGY];
        memcpy(sum, &c->exchange.sums[cell * LM_CELL_SUMS], sizeof sum);
        c->exchange.bath[cell] = lm_bath_of(&pass->with, &place, sum, &crowd);
    }
}

void lm_cpu_apply_heat_exchange(struct lm_cpu *c, int species, const struct lm_exchange_pass *pass)
{
    const struct lm_backend_species *p = &c->base.setup.species[species];
    const struct lm_grid *g = &c->base.setup.grid;
    const double gamma = c->base.setup.ohm.gamma, unit = 0.5 * p->weight * p->mass * lm_exp2i(-pass->tally_v2);
    const double per_quantum = lm_exp2i(pass->quantum);
    const int field = c->base.setup.background_count - 1;
    struct lm_wide source = {0, 0};
    double *s = lm_cpu_entropy(c);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j), cell = (size_t)j * (size_t)g->nx + (size_t)i;
            struct lm_bath *bath = &c->exchange.bath[cell];
            int64_t *sum = c->exchange.sums + cell * LM_CELL_SUMS;
            const double heat = (double)sum[LM_SUM_ENERGY] * unit;
            memset(sum, 0, LM_CELL_SUMS * sizeof *sum);
            if (bath->kind == LM_BATH_OPEN && !lm_can_exchange(s[k], heat, gamma))
                bath->kind = LM_BATH_REFUSES;
            if (bath->kind != LM_BATH_OPEN)
                continue;
            const double after = lm_heated_entropy(s[k], (gamma - 1.0) * heat, pass->quantum, gamma);
            lm_wide_add_sound(&source, (after - s[k]) * per_quantum);
            s[k] = after;
        }
    lm_wide_merge(&c->control.background[field].source, &source);
    lm_cpu_background_extremes(c, field, per_quantum);
}

int lm_cpu_heat_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    uint64_t noise2 = 0;
    int64_t limited = 0;
    fill_temperatures(c);
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : noise2) reduction(+ : limited)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const struct lm_exchange_place place = place_at(c, i, j);
            const struct lm_exchange_reach r = lm_exchange_reach(with, &place);
            noise2 = r.noise2 > noise2 ? r.noise2 : noise2;
            limited += r.limited;
        }
    *out = (struct lm_exchange_limits){lm_from_bits(noise2), limited};
    return LM_OK;
}
