/* CPU backend: what ions that exchange heat with the electrons meet in the cells. The bodies are in
 * larmor/physics/exchange.h, the loops over particles in particles_exchange.c. */
#include "cpu.h"

static double *entropy_of(const struct lm_cpu *c)
{
    return c->array[LM_BACKGROUND + c->base.setup.background_count - 1];
}

static double temperature_at(const struct lm_cpu *c, size_t k)
{
    return lm_electron_temperature(entropy_of(c)[k], c->array[LM_N_OLD][k], c->room[k], &c->base.setup.ohm);
}

void lm_cpu_begin_exchange(struct lm_cpu *c, const struct lm_exchange_pass *pass)
{
    const struct lm_grid *g = &c->base.setup.grid;
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        const double current[3] = {c->array[LM_J_OLD][k], c->array[LM_J_OLD + 1][k], c->array[LM_J_OLD + 2][k]};
        if (pass->first)
            c->exchange.temperature[k] = temperature_at(c, k);
        c->exchange.bath[(size_t)j * (size_t)g->nx + (size_t)i] =
            lm_bath_of(&pass->with, c->array[LM_N_OLD][k], c->exchange.temperature[k], current);
    }
}

void lm_cpu_settle_exchange(struct lm_cpu *c, int species, const struct lm_exchange_pass *pass)
{
    const struct lm_backend_species *p = &c->base.setup.species[species];
    const struct lm_grid *g = &c->base.setup.grid;
    const double gamma = c->base.setup.ohm.gamma, unit = 0.5 * p->weight * p->mass * lm_exp2i(-pass->tally_v2);
    const double per_quantum = lm_exp2i(pass->quantum);
    const int field = c->base.setup.background_count - 1;
    struct lm_wide source = {0, 0};
    double *s = entropy_of(c);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j), cell = (size_t)j * (size_t)g->nx + (size_t)i;
            struct lm_bath *bath = &c->exchange.bath[cell];
            const double heat = (double)c->exchange.asked[cell] * unit;
            c->exchange.asked[cell] = 0;
            if (bath->kind == LM_BATH_OPEN && !lm_can_exchange(s[k], heat, gamma))
                bath->kind = LM_BATH_REFUSES;
            if (bath->kind != LM_BATH_OPEN)
                continue;
            const double after = lm_heated_entropy(s[k], (gamma - 1.0) * heat, pass->quantum, gamma);
            lm_wide_add_sound(&source, (after - s[k]) * per_quantum);
            s[k] = after;
        }
    c->control.background[field].source.high += source.high;
    c->control.background[field].source.low += source.low;
    lm_cpu_survey_field(c, field, per_quantum);
}

int lm_cpu_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    uint64_t lost = 0, noise2 = 0;
    int64_t limited = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : lost, noise2) reduction(+ : limited)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const struct lm_exchange_reach r = lm_exchange_reach(with, c->array[LM_N_OLD][k], temperature_at(c, k));
            lost = r.lost > lost ? r.lost : lost;
            noise2 = r.noise2 > noise2 ? r.noise2 : noise2;
            limited += r.limited;
        }
    *out = (struct lm_exchange_limits){lm_from_bits(lost), lm_from_bits(noise2), limited};
    return LM_OK;
}
