#include "ranks/partition.h"

#include <math.h>
#include <stdlib.h>

#include "larmor/base.h"

/* --- one axis --- */

/* An axis of `count` units, to be cut into parts. Part k shall cost about share[k] of all. */
struct axis {
    const double *cost; /* [count] */
    int count, parts;
    const double *share; /* [parts]; their sum is 1 */
};

/* The end of the longest part that begins at `from` and costs at most `most`, but for its first unit. `last`: no part
 * goes beyond. */
static int longest_part(const struct axis *a, int from, int last, double most)
{
    double cost = a->cost[from];
    int to = from + 1;
    while (to < last && cost + a->cost[to] <= most)
        cost += a->cost[to++];
    return to;
}

/* begin[k]: the first unit at which part k may begin so that this part and the later ones can hold all units, none
 * above `most` times its share. Returns whether part 0 may begin at unit 0. */
static int find_begins(const struct axis *a, double most, int *begin)
{
    int end = a->count;
    for (int k = a->parts - 1; k >= 0; k--) {
        double cost = 0;
        int from = end;
        while (from > k && cost + a->cost[from - 1] <= most * a->share[k])
            cost += a->cost[--from];
        if (from == end)
            return 0; /* not even one unit */
        begin[k] = end = from;
    }
    return begin[0] == 0;
}

/* The least `most` with which find_begins succeeds, to a millionth; `begin` is that of this value. */
static double least_most(const struct axis *a, int *begin)
{
    enum { HALVINGS = 100 };
    double low = 0, high = 0, least_share = 1;
    for (int k = 0; k < a->count; k++)
        high += a->cost[k];
    for (int k = 0; k < a->parts; k++)
        least_share = fmin(least_share, a->share[k]);
    high = 2 * high / least_share;
    for (int n = 0; n < HALVINGS && high - low > 1e-6 * high; n++) {
        const double middle = 0.5 * (low + high);
        if (find_begins(a, middle, begin))
            high = middle;
        else
            low = middle;
    }
    find_begins(a, high, begin);
    return high;
}

/* Part k is [cut[k], cut[k + 1]) and has at least one unit. The largest part, over its share, is as small as it can be;
 * as far as that allows, each cut lies where the shares want it. `begin`: [parts], for this function. */
static void cut_axis(const struct axis *a, int *begin, int *cut)
{
    const double most = least_most(a, begin);
    double all = 0, done = 0, wanted = 0;
    for (int k = 0; k < a->count; k++)
        all += a->cost[k];
    cut[0] = 0;
    for (int k = 0; k < a->parts - 1; k++) {
        const int last = longest_part(a, cut[k], a->count - (a->parts - 1 - k), most * a->share[k]);
        int at = cut[k];
        wanted += all * a->share[k];
        while (at < last && (at == cut[k] || at < begin[k + 1] || done + 0.5 * a->cost[at] < wanted))
            done += a->cost[at++];
        cut[k + 1] = at;
    }
    cut[a->parts] = a->count;
}

static int divided_up(int n, int by)
{
    return (n + by - 1) / by;
}

/* What the domain is divided in. */
struct units {
    int size, nx, ny;   /* cells along an edge; units in x and y */
    const double *cost; /* [ny][nx], or NULL */
};

/* The cells of the largest arrays, with their halos. Columns have ranks / columns rows or one more. */
static double largest_arrays(const struct units *u, const struct lm_partition *p, int columns)
{
    double largest = 0;
    for (int rows = p->ranks / columns; rows <= divided_up(p->ranks, columns); rows++) {
        const int width = divided_up(u->nx * rows, p->ranks), height = divided_up(u->ny, rows);
        const double x = width * u->size + (columns > 1 ? 2 * p->halo : 0),
                     y = height * u->size + (rows > 1 ? 2 * p->halo : 0);
        largest = fmax(largest, x * y);
    }
    return largest;
}

/* The number of columns for which the largest arrays are smallest; 0: there are not enough units. */
static int column_count(const struct units *u, const struct lm_partition *p)
{
    int best = 0;
    double least = INFINITY;
    for (int columns = 1; columns <= p->ranks && columns <= u->nx; columns++) {
        if (divided_up(p->ranks, columns) > u->ny)
            continue;
        const double largest = largest_arrays(u, p, columns);
        if (largest < least) {
            least = largest;
            best = columns;
        }
    }
    return best;
}

/* --- the domain --- */

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

/* Arrays for the cut of an axis. */
struct work {
    double *cost, *share;
    int *begin, *cut;
};

/* Cuts columns [from, to) of units into rows for `count` ranks from number `rank` on. */
static void cut_column(struct lm_partition *p, const struct units *u, int from, int to, int rank, int count,
                       const struct work *w)
{
    for (int j = 0; j < u->ny; j++) {
        w->cost[j] = 0;
        for (int i = from; i < to; i++)
            w->cost[j] += unit_cost(u, p, i, j);
    }
    for (int k = 0; k < count; k++)
        w->share[k] = 1.0 / count;
    const struct axis rows = {w->cost, u->ny, count, w->share};
    cut_axis(&rows, w->begin, w->cut);
    for (int k = 0; k < count; k++)
        p->own[rank + k] = (struct lm_cells){from * u->size, smaller(to * u->size, p->nx), w->cut[k] * u->size,
                                             smaller(w->cut[k + 1] * u->size, p->ny)};
}

/* The number of ranks in a column. */
static int ranks_in(const struct lm_partition *p, int columns, int column)
{
    return p->ranks / columns + (column < p->ranks % columns);
}

static void cut_columns(struct lm_partition *p, const struct units *u, int columns, const struct work *w,
                        const struct work *row)
{
    for (int i = 0; i < u->nx; i++) {
        w->cost[i] = 0;
        for (int j = 0; j < u->ny; j++)
            w->cost[i] += unit_cost(u, p, i, j);
    }
    for (int k = 0; k < columns; k++)
        w->share[k] = (double)ranks_in(p, columns, k) / p->ranks;
    const struct axis all = {w->cost, u->nx, columns, w->share};
    cut_axis(&all, w->begin, w->cut);
    for (int k = 0, rank = 0; k < columns; rank += ranks_in(p, columns, k++))
        cut_column(p, u, w->cut[k], w->cut[k + 1], rank, ranks_in(p, columns, k), row);
}

static int no_memory(void)
{
    return lm_fail(LM_FAILED, "not enough memory for the division of the domain");
}

static int cut_domain(struct lm_partition *p, const struct units *u, int columns)
{
    const size_t most = (size_t)(u->nx > u->ny ? u->nx : u->ny), parts = (size_t)p->ranks + 1;
    double *real = malloc(2 * (most + parts) * sizeof *real);
    int *whole = malloc(4 * parts * sizeof *whole);
    const int failed = !real || !whole;
    const struct work column = {real, real + most, whole, whole + parts};
    const struct work row = {real + most + parts, real + 2 * most + parts, whole + 2 * parts, whole + 3 * parts};
    if (!failed)
        cut_columns(p, u, columns, &column, &row);
    free(real);
    free(whole);
    return failed ? no_memory() : LM_OK;
}

static void list_owners(struct lm_partition *p)
{
    for (int k = 0; k < p->ranks; k++)
        for (int j = p->own[k].from_y / p->unit; j * p->unit < p->own[k].to_y; j++)
            for (int i = p->own[k].from_x / p->unit; i * p->unit < p->own[k].to_x; i++)
                p->owner[(size_t)j * (size_t)p->units_x + (size_t)i] = k;
}

int lm_partition_make(const struct lm_grid *g, int ranks, int tile, int halo, const double *cost,
                      struct lm_partition *out)
{
    struct units u = {tile, divided_up(g->nx, tile), divided_up(g->ny, tile), cost};
    *out = (struct lm_partition){.nx = g->nx, .ny = g->ny, .sides = g->sides, .ranks = ranks, .halo = halo};
    int columns = column_count(&u, out);
    if (columns == 0) {
        u = (struct units){1, g->nx, g->ny, NULL};
        columns = column_count(&u, out);
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

double lm_partition_held(const struct lm_partition *p, const struct lm_grid *domain)
{
    double cells = 0;
    for (int r = 0; r < p->ranks; r++)
        cells += (double)lm_partition_grid(p, domain, r).cells;
    return cells - (double)domain->cells; /* each cell has one owner */
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

static struct stretch stretch_of(int from, int to, int n, int halo, int periodic)
{
    struct stretch s = {0, n, 0, 0x7fffffff, from, !periodic, !periodic};
    const int low = periodic || from > halo ? from - halo : 0;
    const int high = periodic || to < n - halo ? to + halo : n;
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
    const struct stretch x = stretch_of(own.from_x, own.to_x, p->nx, p->halo, p->sides.of[LM_X_MIN] == LM_PERIODIC);
    const struct stretch y = stretch_of(own.from_y, own.to_y, p->ny, p->halo, p->sides.of[LM_Y_MIN] == LM_PERIODIC);
    struct lm_grid g = lm_grid_make(x.count, y.count, domain->lx, domain->ly);
    g.dx = domain->dx;
    g.dy = domain->dy;
    set_sides(&g, &p->sides, 0, &x);
    set_sides(&g, &p->sides, 1, &y);
    g.place = (struct lm_place){p->nx, p->ny, x.origin, y.origin, x.fold, y.fold};
    g.own = (struct lm_cells){x.own, x.own + own.to_x - own.from_x, y.own, y.own + own.to_y - own.from_y};
    return g;
}
