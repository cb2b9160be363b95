/* CPU backend: particles that go from one rank to another, before a sort. Compiled for each precision. */
#include <stdlib.h>

#include "cpu/particles.h"

/* Whether the particle in slot k has left the own cells. Its position relative to the arrays goes to *x and *y. */
static int is_away(const struct lm_cpu *c, const struct lm_cpu_species *s, size_t k, int tile, int64_t *x, int64_t *y)
{
    const struct lm_tiling t = tiling(c);
    const struct arrays a = arrays_of(s);
    if (a.x[k] == LM_GONE)
        return 0;
    *x = lm_global(a.x[k], tile % t.nx, t.size, t.cells_x);
    *y = lm_global(a.y[k], tile / t.nx, t.size, t.cells_y);
    return !lm_is_own(&c->base.setup.grid, (int)(*x >> LM_FRACTION_BITS), (int)(*y >> LM_FRACTION_BITS));
}

static uint64_t count_away(const struct lm_cpu *c, const struct lm_cpu_species *s)
{
    uint64_t count = 0;
#pragma omp parallel num_threads(c->threads) reduction(+ : count)
    {
        int64_t x, y;
#pragma omp for schedule(dynamic, 16)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++)
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
                count += (uint64_t)is_away(c, s, k, tile, &x, &y);
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            count += (uint64_t)is_away(c, s, k, home_of(s, k, 0), &x, &y);
    }
    return count;
}

/* Moves the particle in slot k to place n of the list. */
static void take(const struct lm_cpu_species *s, size_t k, int64_t x, int64_t y, uint64_t n,
                 const struct lm_raw_particles *to)
{
    const struct arrays a = arrays_of(s);
    to->x[n] = x;
    to->y[n] = y;
    ((lm_real *)to->vx)[n] = a.vx[k];
    ((lm_real *)to->vy)[n] = a.vy[k];
    ((lm_real *)to->vz)[n] = a.vz[k];
    a.x[k] = LM_GONE;
    a.vx[k] = a.vy[k] = a.vz[k] = 0;
}

int LM_P(lm_cpu_emigrate)(struct lm_backend *b, int species, uint64_t *count, struct lm_raw_particles *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    uint64_t n = 0;
    int64_t x, y;
    *count = count_away(c, s);
    int64_t *store = malloc((*count + 1) * (2 * sizeof *store + 3 * sizeof(lm_real)));
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for the particles that change the rank");
    const size_t column = *count * sizeof(lm_real);
    char *v = (char *)(store + 2 * *count);
    *out = (struct lm_raw_particles){store, store + *count, v, v + column, v + 2 * column};
    for (int tile = 0; tile < c->tiling.nx * c->tiling.ny && n < *count; tile++)
        for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
            if (is_away(c, s, k, tile, &x, &y))
                take(s, k, x, y, n++, out);
    for (size_t k = s->sorted; k < s->count && n < *count; k++)
        if (is_away(c, s, k, home_of(s, k, 0), &x, &y))
            take(s, k, x, y, n++, out);
    s->gone += n;
    return LM_OK;
}

int LM_P(lm_cpu_immigrate)(struct lm_backend *b, int species, uint64_t count, struct lm_raw_particles from)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    const struct lm_tiling t = tiling(c);
    const int status = count > 0 ? LM_P(lm_cpu_reserve_more)(b, species, count) : LM_OK;
    if (status)
        return status;
    const struct arrays a = arrays_of(s);
    for (uint64_t n = 0; n < count; n++) {
        const size_t k = s->count++;
        int column, row;
        a.x[k] = lm_local(from.x[n], t.size, &column);
        a.y[k] = lm_local(from.y[n], t.size, &row);
        a.vx[k] = ((const lm_real *)from.vx)[n];
        a.vy[k] = ((const lm_real *)from.vy)[n];
        a.vz[k] = ((const lm_real *)from.vz)[n];
        s->home[k - s->sorted] = (uint32_t)(row * t.nx + column);
    }
    return LM_OK;
}
