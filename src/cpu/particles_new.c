/* CPU backend: particles that enter through sides or are born. The bodies are in larmor/physics/particles/. */
#include "cpu/particles_worker.h"

#include "larmor/physics/particles/inflow.h"
#include "larmor/physics/particles/ionise.h"
#include "larmor/physics/particles/new_particle.h"

/* A new particle stays behind the sorted ones until the next sort. */
static void append(struct worker *w, struct lm_cpu_species *s, const struct lm_flight *f)
{
    const struct lm_tiling t = tiling(w->c);
    size_t k;
#pragma omp atomic capture
    k = s->count++;
    put_particle(&w->a, k, lm_new_particle(f, &t, &s->home[k - s->sorted]));
}

/* A new particle that starts at *f with `part` of the step left; adds it to *injected. */
static void begin_flight(struct worker *w, struct lm_flight *f, double part, struct lm_tally *injected)
{
    const struct lm_tiling t = tiling(w->c);
    const int order = order_of(w->c);
    const struct lm_tally tally = lm_tally_of(&w->units, (double)f->vx, (double)f->vy, (double)f->vz);
    struct lm_flight mid;
    lm_tally_add(injected, &tally);
    if (lm_new_half_way(&mid, f, &w->surfaces, &t, part))
        add_current(w, order, &mid);
    lm_move_partial(f, &w->surfaces, &t, part);
    if (!book_flight(w, f))
        return;
    add_density(w, order, f);
    raise_speed(w, f);
    append(w, &w->c->species[w->surfaces.species], f);
}

/* Particles that enter through one cell of a side. */
static void enter_cell(struct worker *w, const struct lm_pass *pass, int side, int cell, struct lm_tally *injected)
{
    const int species = w->surfaces.species;
    const struct lm_inflow_cell *from = &w->c->species[species].inflow[side][cell];
    const struct lm_tiling t = tiling(w->c);
    const uint32_t number = lm_inflow_number(side, lm_domain_along(&w->surfaces.place, side < LM_Y_MIN, cell));
    const uint32_t n = lm_inflow_count(from, w->c->base.setup.seed, species, number, pass->step);
    for (uint32_t r = 0; r < n; r++) {
        struct lm_flight f;
        const double part = lm_draw_entering(&f, from, &w->surfaces, &t, side, cell, number, r, n);
        begin_flight(w, &f, part, injected);
    }
}

int LM_P(lm_cpu_enter)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    struct lm_control *to = &c->control;
    const uint64_t gone = c->species[species].gone;
    uint64_t speed2 = lm_bits(to->speed2[species]);
#pragma omp parallel num_threads(c->threads) reduction(max : speed2)
    {
        struct worker w = worker_of(c, species, pass);
        for (int side = 0; side < LM_SIDES; side++) {
            struct lm_tally injected = {0};
            if (!c->species[species].inflow[side] || !lm_owns_side(g, side))
                continue;
#pragma omp for schedule(dynamic, 16)
            for (int cell = side < LM_Y_MIN ? g->own.from_y : g->own.from_x;
                 cell < (side < LM_Y_MIN ? g->own.to_y : g->own.to_x); cell++)
                enter_cell(&w, pass, side, cell, &injected);
#pragma omp critical(book)
            lm_tally_add(&to->injected[species][side], &injected);
        }
        speed2 = larger(speed2, w.speed2);
        add_losses(&w, species);
    }
    c->species[species].gone = gone; /* a new particle that leaves in its first step has had no slot */
    to->speed2[species] = lm_from_bits(speed2);
    return LM_OK;
}

/* Ions that are born in one row of cells; adds what they take from the gas to *taken. */
static void ionise_row(struct worker *w, const struct lm_ionise *from, int j, struct lm_tally *injected,
                       struct lm_wide *taken)
{
    const struct lm_grid *g = &w->c->base.setup.grid;
    const struct lm_tiling t = tiling(w->c);
    for (int i = g->own.from_x; i < g->own.to_x; i++) {
        const size_t k = lm_at(g, i, j);
        const uint32_t cell = lm_domain_cell(&g->place, i, j), n = lm_ionise_count(from, k, cell);
        for (uint32_t r = 0; r < n; r++) {
            struct lm_flight f;
            const double part = lm_draw_newborn(&f, from, lm_cut_at(&w->surfaces, &t, i, j), k, i, j, cell, r, n);
            begin_flight(w, &f, part, injected);
        }
        if (from->gas && n > 0)
            lm_wide_add(taken, -lm_ionise_take(from, k, n));
    }
}

int LM_P(lm_cpu_ionise)(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_control *to = &c->control;
    const int species = b->setup.ionisation[source].species, gas = b->setup.ionisation[source].gas;
    const struct lm_ionise from = lm_ionise_of(&b->setup, c->array, c->open, source, pass, quantum);
    const uint64_t gone = c->species[species].gone;
    uint64_t speed2 = lm_bits(to->speed2[species]);
#pragma omp parallel num_threads(c->threads) reduction(max : speed2)
    {
        struct worker w = worker_of(c, species, pass);
        struct lm_tally injected = {0};
        struct lm_wide taken = {0};
#pragma omp for schedule(dynamic, 1)
        for (int j = b->setup.grid.own.from_y; j < b->setup.grid.own.to_y; j++)
            ionise_row(&w, &from, j, &injected, &taken);
#pragma omp critical(book)
        {
            lm_tally_add(&to->injected[species][LM_IONISED], &injected);
            if (gas >= 0)
                lm_wide_merge(&to->background[gas].source, &taken);
        }
        speed2 = larger(speed2, w.speed2);
        add_losses(&w, species);
    }
    c->species[species].gone = gone; /* a new particle that leaves in its first step has had no slot */
    to->speed2[species] = lm_from_bits(speed2);
    if (gas >= 0)
        lm_halo_refresh(b->setup.halo, &c->array[LM_BACKGROUND + gas], 1);
    return LM_OK;
}
