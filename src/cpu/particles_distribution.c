/* CPU backend: distributions (larmor/physics/particles/distribution.h). Threads share the tiles. Where there are few
 * bins, each thread counts apart. */
#include <stdlib.h>
#include <string.h>

#include "backend/counting.h"
#include "cpu/particles.h"

enum {
    MOST_APART = 1 << 16, /* counters */
    GAP = 8               /* counters between those of two threads, so that no cache line holds both */
};

struct worker {
    struct lm_counting around;
    struct arrays a;
    uint64_t *counts;
    int is_shared; /* other threads count there too */
};

static void count_one(const struct worker *w, int tile, size_t slot)
{
    const struct lm_particle p = particle_at(&w->a, slot);
    const int64_t k = lm_counter_of(&w->around, tile, &p);
    if (k < 0)
        return;
    if (!w->is_shared) {
        w->counts[k]++;
        return;
    }
#pragma omp atomic
    w->counts[k]++;
}

/* What one of the threads of a team does. */
static void count_share(struct lm_cpu *c, int species, const struct worker *w)
{
    const struct lm_cpu_species *s = &c->species[species];
#pragma omp for schedule(dynamic, 4)
    for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++)
        for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
            count_one(w, tile, k);
#pragma omp for schedule(static)
    for (size_t k = s->sorted; k < s->count; k++)
        count_one(w, home_of(s, k, 0), k);
}

int LM_P(lm_cpu_distribution)(struct lm_backend *b, int species, const struct lm_bins *bins, uint64_t *counts)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const size_t counters = lm_bins_counters(bins), each = counters + GAP;
    const int others = counters <= MOST_APART ? c->threads - 1 : 0; /* threads that count apart from the first one */
    uint64_t *apart = calloc((size_t)others * each + 1, sizeof *apart);
    if (!apart)
        return lm_fail(LM_FAILED, "not enough memory to count particles");
    memset(counts, 0, counters * sizeof *counts);
#pragma omp parallel num_threads(c->threads)
    {
        const int thread = omp_get_thread_num();
        const struct worker w = {
            lm_counting_of(&b->setup, species, bins, &c->tiling, &c->array[LM_B]), arrays_of(&c->species[species]),
            others > 0 && thread > 0 ? apart + (size_t)(thread - 1) * each : counts, others < c->threads - 1};
        count_share(c, species, &w);
    }
    for (int other = 0; other < others; other++)
        for (size_t k = 0; k < counters; k++)
            counts[k] += apart[(size_t)other * each + k];
    free(apart);
    return LM_OK;
}
