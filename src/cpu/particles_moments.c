/* CPU backend: moments of the velocity (larmor/physics/particles/velocity_moments.h). Threads share the tiles. What the
 * particles near a tile give is summed in a window of its own first. */
#include <string.h>

#include "larmor/physics/particles/velocity_moments.h"
#include "cpu/particles.h"

enum { LOW = LM_WINDOW_LOW /* nodes of the window below the tile */, WIDTH = 16 + 2 * LOW, AREA = WIDTH * WIDTH };

struct worker {
    const struct lm_cpu *c;
    const struct lm_moment_list *list;
    int64_t *sums; /* [count][ny][nx] */
    struct arrays a;
    int order;
    double per_bound;
    int64_t window[LM_MOMENT_COUNT][AREA];
};

/* What one particle gives. */
struct gift {
    double x[LM_MOMENT_NODES], y[LM_MOMENT_NODES], product[LM_MOMENT_COUNT];
};

static void find_gift(const struct worker *w, const struct lm_particle *p, struct gift *g)
{
    double u[3];
    lm_moment_weights(w->order, p->x, g->x);
    lm_moment_weights(w->order, p->y, g->y);
    lm_moment_velocity(p, w->per_bound, u);
    for (int k = 0; k < w->list->count; k++)
        g->product[k] = lm_moment_product(w->list->moment[k], u);
}

/* Adds to node (i, j) of the arrays, which may lie beyond a wall or a periodic side. */
static void add_to_grid(const struct worker *w, int k, int i, int j, int64_t quanta)
{
    const struct lm_grid *g = &w->c->base.setup.grid;
    int sign[2] = {1, 1};
    i = lm_cell_inside(&g->sides, 0, g->nx, 1, i, &sign[0]);
    j = lm_cell_inside(&g->sides, 1, g->ny, 1, j, &sign[1]);
    for (int axis = 0; axis < 2; axis++)
        quanta = lm_moment_is_odd(w->list->moment[k], axis) ? sign[axis] * quanta : quanta;
    int64_t *to = &w->sums[((size_t)k * (size_t)g->ny + (size_t)j) * (size_t)g->nx + (size_t)i];
#pragma omp atomic
    *to += quanta;
}

/* `has_window`: the window of the tile takes what it can. */
static void add_one(struct worker *w, int tile, size_t slot, int has_window)
{
    const struct lm_particle p = particle_at(&w->a, slot);
    const struct lm_tiling t = tiling(w->c);
    const int i = (int)(p.x >> LM_FRACTION_BITS), j = (int)(p.y >> LM_FRACTION_BITS), reach = LOW - 1;
    const int near = has_window && i >= -reach && i < t.size + reach && j >= -reach && j < t.size + reach;
    struct gift g;
    if (p.x == LM_GONE)
        return;
    find_gift(w, &p, &g);
    for (int b = 0; b < LM_MOMENT_NODES; b++)
        for (int a = 0; a < LM_MOMENT_NODES; a++)
            for (int k = 0; k < w->list->count; k++) {
                const int64_t quanta = lm_moment_quanta(g.x[a], g.y[b], g.product[k]);
                if (near)
                    w->window[k][(j + b - 1 + LOW) * WIDTH + i + a - 1 + LOW] += quanta;
                else
                    add_to_grid(w, k, tile % t.nx * t.size + i + a - 1, tile / t.nx * t.size + j + b - 1, quanta);
            }
}

static void flush_window(struct worker *w, int tile)
{
    const struct lm_tiling t = tiling(w->c);
    const int left = tile % t.nx * t.size - LOW, low = tile / t.nx * t.size - LOW;
    for (int k = 0; k < w->list->count; k++)
        for (int n = 0; n < AREA; n++)
            if (w->window[k][n])
                add_to_grid(w, k, left + n % WIDTH, low + n / WIDTH, w->window[k][n]);
    memset(w->window, 0, (size_t)w->list->count * sizeof w->window[0]);
}

int LM_P(lm_cpu_velocity_moments)(struct lm_backend *b, int species, const struct lm_moment_list *list, int64_t *sums)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    memset(sums, 0, (size_t)list->count * b->setup.grid.cells * sizeof *sums);
#pragma omp parallel num_threads(c->threads)
    {
        struct worker w = {.c = c,
                           .list = list,
                           .sums = sums,
                           .a = arrays_of(s),
                           .order = order_of(c),
                           .per_bound = lm_exp2i(-list->speed_exponent)};
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++) {
            if (s->tile_start[tile] == s->tile_start[tile + 1])
                continue;
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
                add_one(&w, tile, k, 1);
            flush_window(&w, tile);
        }
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            add_one(&w, home_of(s, k, 0), k, 0);
    }
    return LM_OK;
}
