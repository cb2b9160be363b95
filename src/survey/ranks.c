/* How a run would be divided among ranks. */
#include <math.h>
#include <stdlib.h>

#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "sim/setup.h"
#include "survey/parts.h"

enum { MOST_LINES = 16 };

/* The least, the mean and the largest value over the ranks. */
struct spread {
    double least, sum, most;
};

static void add(struct spread *s, double value)
{
    s->least = fmin(s->least, value);
    s->most = fmax(s->most, value);
    s->sum += value;
}

static double cells_of(const struct lm_cells *c)
{
    return (double)(c->to_x - c->from_x) * (c->to_y - c->from_y);
}

/* The memory of a rank with a share of the particles. */
static double bytes_of(const struct lm_prepared *p, const struct lm_setup *whole, const struct lm_grid *part,
                       double share)
{
    struct lm_setup s = *whole;
    uint64_t counts[LM_MAX_SPECIES];
    s.grid = *part;
    lm_survey_counts(&p->survey, counts);
    for (int k = 0; k < LM_MAX_SPECIES; k++)
        counts[k] = (uint64_t)(share * (double)counts[k]);
    return lm_backend_bytes(p->need.kind, &s, counts);
}

static void print_division(const struct lm_prepared *p, const struct lm_setup *s, const double *cost,
                           const struct lm_partition *by, FILE *out)
{
    struct spread work = {INFINITY, 0, 0}, memory = {INFINITY, 0, 0}, halo = {INFINITY, 0, 0};
    fprintf(out, "ranks (%d)\n", by->ranks);
    for (int r = 0; r < by->ranks; r++) {
        const struct lm_grid g = lm_partition_grid(by, &s->grid, r);
        const double share = lm_partition_share(by, r, s->tile, cost);
        const double bytes = bytes_of(p, s, &g, share);
        add(&work, share);
        add(&memory, bytes);
        add(&halo, (double)g.cells / cells_of(&by->own[r]) - 1);
        if (r < MOST_LINES)
            fprintf(out, "  %d: cells %d to %d x %d to %d, arrays of %d x %d; %.3g %% of the work, %.4g GiB\n", r,
                    by->own[r].from_x, by->own[r].to_x - 1, by->own[r].from_y, by->own[r].to_y - 1, g.nx, g.ny,
                    100 * share, bytes / 0x1p30);
    }
    if (by->ranks > MOST_LINES)
        fprintf(out, "  and %d more\n", by->ranks - MOST_LINES);
    fprintf(out,
            "  work: the most is %.4g of the mean; memory: %.4g to %.4g GiB; halo: %.3g to %.3g of the own cells\n",
            work.most * by->ranks, memory.least / 0x1p30, memory.most / 0x1p30, halo.least, halo.most);
}

int lm_check_ranks(const struct lm_prepared *p, FILE *out)
{
    const struct lm_config *c = p->survey.config;
    const int ranks = lm_ranks_planned();
    const struct lm_setup setup = lm_setup_of(c);
    const int halo = lm_setup_halo(&setup, p->need.kind);
    struct lm_partition by;
    if (ranks == 0)
        return LM_OK;
    double *cost = malloc(lm_setup_tiles(&setup) * sizeof *cost);
    int status = cost ? lm_setup_cost(c, &setup, cost) : lm_fail(LM_FAILED, "not enough memory");
    if (!status)
        status = lm_partition_make(&setup.grid, ranks, setup.tile, halo, cost, &by);
    if (!status && out)
        print_division(p, &setup, cost, &by, out);
    if (!status)
        lm_partition_free(&by);
    free(cost);
    return status;
}
