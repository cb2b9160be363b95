/* CPU backend: ions exchange heat with the electrons. Three times over the particles: first their sums in each cell;
 * then what they would give to its electrons; then, where these can take or give that, they do. */
#include "larmor/physics/collisions/ion_electron_heating_particle.h"
#include "cpu/particles.h"

struct exchanger {
    struct lm_cpu *c;
    int species;
    struct lm_exchange with;
    struct arrays a;
    struct lm_tiling tiling;
    struct lm_tally_units units;
    struct lm_tally given;
};

typedef void visit(struct exchanger *w, uint32_t cell, size_t k, const struct lm_particle *p);

static void add(struct exchanger *w, uint32_t cell, int what, int64_t part)
{
#pragma omp atomic
    w->c->exchange.sums[(size_t)cell * LM_CELL_SUMS + (size_t)what] += part;
}

static void sum(struct exchanger *w, uint32_t cell, size_t k, const struct lm_particle *p)
{
    int64_t part[LM_SUM_ENERGY];
    (void)k;
    lm_exchange_parts(&w->with, cell, p, part);
    for (int what = 0; what < LM_SUM_ENERGY; what++)
        add(w, cell, what, part[what]);
}

static void ask(struct exchanger *w, uint32_t cell, size_t k, const struct lm_particle *p)
{
    const struct lm_bath *bath = &w->c->exchange.bath[cell];
    (void)k;
    if (bath->kind == LM_BATH_NONE)
        return;
    const struct lm_particle after = lm_exchange_heat(&w->with, bath, cell, p);
    add(w, cell, LM_SUM_ENERGY, lm_to_electrons(&w->units, p, &after).v2);
}

static void give(struct exchanger *w, uint32_t cell, size_t k, const struct lm_particle *p)
{
    const struct lm_bath *bath = &w->c->exchange.bath[cell];
    w->given.number += bath->kind == LM_BATH_REFUSES;
    if (bath->kind != LM_BATH_OPEN)
        return;
    const struct lm_particle after = lm_exchange_heat(&w->with, bath, cell, p);
    const struct lm_tally given = lm_to_electrons(&w->units, p, &after);
    lm_tally_add(&w->given, &given);
    w->a.vx[k] = after.vx, w->a.vy[k] = after.vy, w->a.vz[k] = after.vz;
}

static void visit_one(struct exchanger *w, visit *body, int tile, size_t k)
{
    const struct lm_particle p = particle_at(&w->a, k);
    if (p.x != LM_GONE)
        body(w, lm_cell_of(&w->tiling, tile, p.x, p.y), k, &p);
}

static void each(const struct exchanger *of, visit *body)
{
    struct lm_cpu *c = of->c;
    const struct lm_cpu_species *s = &c->species[of->species];
#pragma omp parallel num_threads(c->threads)
    {
        struct exchanger w = *of;
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiles_x * c->tiles_y; tile++)
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
                visit_one(&w, body, tile, k);
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            visit_one(&w, body, home_of(s, k, 0), k);
#pragma omp critical(exchange)
        lm_tally_add(&c->control.to_electrons[w.species], &w.given);
    }
}

int LM_P(lm_cpu_exchange)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct exchanger w = {.c = c,
                                .species = species,
                                .with = pass->with,
                                .a = arrays_of(&c->species[species]),
                                .tiling = tiling(c),
                                .units = {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)}};
    each(&w, sum);
    lm_cpu_baths(c, pass);
    each(&w, ask);
    lm_cpu_settle_exchange(c, species, pass);
    each(&w, give);
    return LM_OK;
}
