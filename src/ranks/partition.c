#include "ranks/partition.h"

#include <math.h>
#include <stdlib.h>

#include "larmor/base.h"

/* --- one axis --- */

/* Cuts `count` units of an axis, which cost cost[0 .. count - 1], into parts that cost about share[k] of all each. Part
 * k is [cut[k], cut[k + 1]) and has at least one unit. */
static void cut_axis(const double *cost, int count, int parts, const double *share, int *cut)
{
    double all = 0, done = 0, wanted = 0, shares = 0;
    for (int k = 0; k < count; k++)
        all += cost[k];
    for (int k = 0; k < parts; k++)
        shares += share[k];
    cut[0] = 0;
    for (int k = 0, at = 0; k < parts - 1; k++) {
        wanted += all * share[k] / shares;
        const int least = cut[k] + 1, most = count - (parts - 1 - k);
        while (at < most && (at < least || done + 0.5 * cost[at] < wanted))
            done += cost[at++];
        cut[k + 1] = at;
    }
    cut[parts] = count;
}

static int divided_up(int n, int by)
{
    return (n + by - 1) / by;
}

/* The cells of the largest arrays, with their halos. Columns have ranks / columns rows or one more. */
static double largest_arrays(int units_x, int units_y, int size, int ranks, int columns)
{
    double largest = 0;
    for (int rows = ranks / columns; rows <= divided_up(ranks, columns); rows++) {
        const int width = divided_up(units_x * rows, ranks), height = divided_up(units_y, rows);
        const double x = width * size + (columns > 1 ? 2 * LM_HALO : 0),
                     y = height * size + (rows > 1 ? 2 * LM_HALO : 0);
        largest = fmax(largest, x * y);
    }
    return largest;
}

/* The number of columns for which the largest arrays are smallest; 0: there are not enough units. */
static int column_count(int units_x, int units_y, int size, int ranks)
{
    int best = 0;
    double least = INFINITY;
    for (int columns = 1; columns <= ranks && columns <= units_x; columns++) {
        if (divided_up(ranks, columns) > units_y)
            continue;
        const double largest = largest_arrays(units_x, units_y, size, ranks, columns);
        if (largest < least) {
            least = largest;
            best = columns;
        }
    }
    return best;
}

/* --- the domain --- */

struct units {
    int size, nx, ny;   /* cells along an edge; units in x and y */
    const double *cost; /* [ny][nx], or NULL */
};

static double unit_cost(const struct units *u, const struct lm_partition *p, int i, int j)
{
    if (u->cost)
        return u->cost[(size_t)j * (size_t)u->nx + (size_t)i];
    const int width = (i + 1) * u->size <= p->nx ? u->size : p->nx - i * u->size;
    const int height = (j + 1) * u->size <= p->ny ? u->size : p->ny - j * u->size;
    return (double)width * height;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Cuts columns [from, to) of units into rows for `count` ranks from number `rank` on. */
static void cut_column(struct lm_partition *p, const struct units *u, int from, int to, int rank, int count,
                       double *cost, double *share, int *cut)
{
    for (int j = 0; j < u->ny; j++) {
        cost[j] = 0;
        for (int i = from; i < to; i++)
            cost[j] += unit_cost(u, p, i, j);
    }
    for (int k = 0; k < count; k++)
        share[k] = 1;
    cut_axis(cost, u->ny, count, share, cut);
    for (int k = 0; k < count; k++)
        p->own[rank + k] = (struct lm_cells){from * u->size, smaller(to * u->size, p->nx), cut[k] * u->size,
                                             smaller(cut[k + 1] * u->size, p->ny)};
}

static int no_memory(void)
{
    return lm_fail(LM_FAILED, "not enough memory for the division of the domain");
}

static int cut_domain(struct lm_partition *p, const struct units *u, int columns)
{
    const size_t most = (size_t)(u->nx > u->ny ? u->nx : u->ny), parts = (size_t)p->ranks + 1;
    double *cost = malloc((2 * most + parts) * sizeof *cost), *row = cost + most, *share = row + most;
    double *shares = calloc(parts, sizeof *shares);
    int *cut = malloc(2 * parts * sizeof *cut), *rows = cut + parts;
    const int failed = !cost || !shares || !cut;
    if (!failed) {
        for (int i = 0; i < u->nx; i++) {
            cost[i] = 0;
            for (int j = 0; j < u->ny; j++)
                cost[i] += unit_cost(u, p, i, j);
        }
        for (int k = 0; k < columns; k++)
            shares[k] = p->ranks / columns + (k < p->ranks % columns);
        cut_axis(cost, u->nx, columns, shares, cut);
        for (int k = 0, rank = 0; k < columns; rank += (int)shares[k++])
            cut_column(p, u, cut[k], cut[k + 1], rank, (int)shares[k], row, share, rows);
    }
    free(cost);
    free(shares);
    free(cut);
    return failed ? no_memory() : LM_OK;
}

static void list_owners(struct lm_partition *p)
{
    for (int k = 0; k < p->ranks; k++)
        for (int j = p->own[k].from_y / p->unit; j * p->unit < p->own[k].to_y; j++)
            for (int i = p->own[k].from_x / p->unit; i * p->unit < p->own[k].to_x; i++)
                p->owner[(size_t)j * (size_t)p->units_x + (size_t)i] = k;
}

int lm_partition_make(const struct lm_grid *g, int ranks, int tile, const double *cost, struct lm_partition *out)
{
    struct units u = {tile, divided_up(g->nx, tile), divided_up(g->ny, tile), cost};
    *out = (struct lm_partition){.nx = g->nx, .ny = g->ny, .sides = g->sides, .ranks = ranks};
    int columns = column_count(u.nx, u.ny, u.size, ranks);
    if (columns == 0) {
        u = (struct units){1, g->nx, g->ny, NULL};
        columns = column_count(u.nx, u.ny, u.size, ranks);
    }
    if (columns == 0)
        return lm_fail(LM_BAD_INPUT, "%d ranks cannot share %d x %d cells: take fewer ranks", ranks, g->nx, g->ny);
    out->unit = u.size;
    out->units_x = u.nx;
    out->own = malloc((size_t)ranks * sizeof *out->own);
    out->owner = malloc((size_t)u.nx * (size_t)u.ny * sizeof *out->owner);
    const int status = out->own && out->owner ? cut_domain(out, &u, columns) : no_memory();
    if (status)
        lm_partition_free(out);
    else
        list_owners(out);
    return status;
}

void lm_partition_free(struct lm_partition *p)
{
    free(p->own);
    free(p->owner);
    p->own = NULL;
    p->owner = NULL;
}

double lm_partition_share(const struct lm_partition *p, int rank, int tile, const double *cost)
{
    const struct lm_cells *own = &p->own[rank];
    double sum = 0, all = 0;
    if (p->unit != tile)
        return (double)(own->to_x - own->from_x) * (own->to_y - own->from_y) / ((double)p->nx * p->ny);
    for (int k = 0; k < p->units_x * divided_up(p->ny, tile); k++)
        all += cost[k];
    for (int j = own->from_y / tile; j * tile < own->to_y; j++)
        for (int i = own->from_x / tile; i * tile < own->to_x; i++)
            sum += cost[(size_t)j * (size_t)p->units_x + (size_t)i];
    return sum / all;
}

/* --- the arrays of a rank --- */

/* The part of an axis that arrays hold. */
struct stretch {
    int from, count, origin, fold, own; /* `from` may be negative; `own`: the index of the first own cell */
    int low, high;                      /* 1: ends at a side of the domain that has walls; -1: at the halo's edge */
};

static struct stretch stretch_of(int from, int to, int n, int periodic)
{
    struct stretch s = {0, n, 0, 0x7fffffff, from, !periodic, !periodic};
    const int low = periodic || from > LM_HALO ? from - LM_HALO : 0;
    const int high = periodic || to < n - LM_HALO ? to + LM_HALO : n;
    if (high - low >= n)
        return s;
    s.from = low;
    s.count = high - low;
    s.origin = low < 0 ? low + n : low;
    s.fold = s.origin + s.count > n ? n - s.origin : 0x7fffffff;
    s.own = from - low;
    s.low = periodic || low > 0 ? -1 : 1;
    s.high = periodic || high < n ? -1 : 1;
    return s;
}

/* Sides of the arrays that are no sides of the domain: periodic where both are, because that costs least. A side at the
 * edge of the halo opposite a wall is open to particles, which never reach it. */
static void set_sides(struct lm_grid *g, const struct lm_sides *domain, int axis, const struct stretch *s)
{
    const int low = 2 * axis, high = low + 1;
    g->sides.of[low] = s->low == 1 ? domain->of[low] : s->high == 1 ? LM_ABSORBING : LM_PERIODIC;
    g->sides.of[high] = s->high == 1 ? domain->of[high] : s->low == 1 ? LM_ABSORBING : LM_PERIODIC;
}

struct lm_grid lm_partition_grid(const struct lm_partition *p, const struct lm_grid *domain, int rank)
{
    const struct lm_cells own = p->own[rank];
    const struct stretch x = stretch_of(own.from_x, own.to_x, p->nx, p->sides.of[LM_X_MIN] == LM_PERIODIC);
    const struct stretch y = stretch_of(own.from_y, own.to_y, p->ny, p->sides.of[LM_Y_MIN] == LM_PERIODIC);
    struct lm_grid g = lm_grid_make(x.count, y.count, domain->lx, domain->ly);
    g.dx = domain->dx;
    g.dy = domain->dy;
    set_sides(&g, &p->sides, 0, &x);
    set_sides(&g, &p->sides, 1, &y);
    g.place = (struct lm_place){p->nx, p->ny, x.origin, y.origin, x.fold, y.fold};
    g.own = (struct lm_cells){x.own, x.own + own.to_x - own.from_x, y.own, y.own + own.to_y - own.from_y};
    return g;
}
