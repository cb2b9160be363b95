/* The division of a domain among ranks, and the lists of cells that they exchange, for many sizes drawn at random. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "larmor/base.h"
#include "ranks/halo.h"
#include "require.h"
#include "suite.h"

enum { MOST_RANKS = 9, CASES = 400, ROW = 40, WIDTHS = 5, MOST_SMOOTHING = 8 };

static const int halos[WIDTHS] = {LM_HALO_NARROW, LM_HALO_WIDE, 24, 48, 64};

struct division {
    struct lm_grid domain;
    struct lm_partition p;
    struct lm_halo halo[MOST_RANKS];
};

static int between(int low, int high)
{
    return low + rand() % (high - low + 1);
}

/* Half of the domains are so large that there are halos; walls and periodic sides in turn. */
static struct division draw(int k)
{
    struct division d;
    srand((unsigned)k);
    const int nx = between(1, k % 2 ? 150 : 20), ny = between(1, k % 3 ? 130 : 12);
    const int most = nx * ny < MOST_RANKS ? nx * ny : MOST_RANKS, ranks = between(1, most);
    d.domain = lm_grid_make(nx, ny, 3.0 * nx, 0.5 * ny);
    if (between(0, 2) == 0)
        d.domain.sides.of[LM_X_MIN] = d.domain.sides.of[LM_X_MAX] = LM_REFLECTING;
    if (between(0, 2) == 0)
        d.domain.sides.of[LM_Y_MIN] = d.domain.sides.of[LM_Y_MAX] = LM_ABSORBING;
    ck_assert_int_eq(
        lm_partition_make(&d.domain, ranks, between(0, 1) ? 8 : 16, halos[between(0, WIDTHS - 1)], NULL, &d.p), 0);
    for (int r = 0; r < ranks; r++)
        ck_assert_int_eq(lm_halo_make(&d.p, &d.domain, r, &d.halo[r]), 0);
    return d;
}

static void drop(struct division *d)
{
    for (int r = 0; r < d->p.ranks; r++)
        lm_halo_free(&d->halo[r]);
    lm_partition_free(&d->p);
}

START_TEST(each_cell_has_one_owner)
{
    struct division d = draw(_i);
    for (int y = 0; y < d.domain.ny; y++)
        for (int x = 0; x < d.domain.nx; x++) {
            int owners = 0;
            for (int r = 0; r < d.p.ranks; r++) {
                const struct lm_cells *c = &d.p.own[r];
                const int owns = x >= c->from_x && x < c->to_x && y >= c->from_y && y < c->to_y;
                owners += owns;
                require(owns == (lm_partition_owner(&d.p, x, y) == r));
            }
            require(owners == 1);
        }
    drop(&d);
}
END_TEST

/* The number of a cell and its owner, seen from the arrays of a rank. */
START_TEST(arrays_lie_in_the_domain)
{
    struct division d = draw(_i);
    for (int r = 0; r < d.p.ranks; r++) {
        const struct lm_grid *g = &d.halo[r].grid;
        char *seen = calloc(d.domain.cells, 1);
        require(g->dx == d.domain.dx);
        require(g->lx == d.domain.lx);
        for (int j = 0; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++) {
                const int x = lm_domain_x(&g->place, i), y = lm_domain_y(&g->place, j);
                const uint32_t cell = lm_domain_cell(&g->place, i, j);
                require(x >= 0 && x < d.domain.nx && y >= 0 && y < d.domain.ny);
                require(cell == (uint32_t)(y * d.domain.nx + x));
                require(seen[cell]++ == 0);
                require(lm_is_own(g, i, j) == (lm_partition_owner(&d.p, x, y) == r));
            }
        free(seen);
    }
    drop(&d);
}
END_TEST

/* Own cells lie as far as the halo is wide from the edge of the arrays, or the arrays end with the domain there. */
START_TEST(halos_are_wide)
{
    struct division d = draw(_i);
    for (int r = 0; r < d.p.ranks; r++) {
        const struct lm_grid *g = &d.halo[r].grid;
        const int whole_x = g->nx == d.domain.nx, whole_y = g->ny == d.domain.ny;
        const int low_x = g->place.origin_x == 0 && d.domain.sides.of[LM_X_MIN] != LM_PERIODIC,
                  high_y = g->place.origin_y + g->ny == d.domain.ny && d.domain.sides.of[LM_Y_MAX] != LM_PERIODIC;
        require(whole_x || low_x || g->own.from_x >= d.p.halo);
        require(whole_y || high_y || g->ny - g->own.to_y >= d.p.halo);
        if (low_x && lm_owns_side(g, LM_X_MIN))
            require(g->own.from_x == 0);
        if (low_x)
            require(g->sides.of[LM_X_MIN] == d.domain.sides.of[LM_X_MIN]);
        require((g->sides.of[LM_X_MIN] == LM_PERIODIC) == (g->sides.of[LM_X_MAX] == LM_PERIODIC));
        require((g->sides.of[LM_Y_MIN] == LM_PERIODIC) == (g->sides.of[LM_Y_MAX] == LM_PERIODIC));
    }
    drop(&d);
}
END_TEST

/* Two ranks side by side in a periodic domain: each holds two strips of the other. */
START_TEST(cells_of_others_are_counted)
{
    const struct lm_grid domain = lm_grid_make(128, 512, 1, 4);
    struct lm_partition p;
    ck_assert_int_eq(lm_partition_make(&domain, 2, 8, LM_HALO_WIDE, NULL, &p), 0);
    ck_assert_double_eq(lm_partition_held(&p, &domain), 2 * 2 * LM_HALO_WIDE * 128);
    lm_partition_free(&p);
}
END_TEST

static int is_own_or_beyond(const struct lm_grid *g, int i, int j)
{
    const struct lm_cells c = lm_own_and_beyond(g, LM_GHOST, LM_GHOST);
    return i >= c.from_x && i < c.to_x && j >= c.from_y && j < c.to_y;
}

/* What one rank sends is what the other expects, cell by cell and in this order. */
static void compare_lists(const struct division *d, int from, const struct lm_halo_list *out, int to,
                          const struct lm_halo_list *in, int are_own)
{
    const struct lm_place *a = &d->halo[from].grid.place, *b = &d->halo[to].grid.place;
    int k = 0;
    for (int n = 0; n < out->count; n++) {
        if (out->piece[n].peer != to)
            continue;
        while (k < in->count && in->piece[k].peer != from)
            k++;
        require(k < in->count);
        const struct lm_cells s = out->piece[n].cells, t = in->piece[k++].cells;
        require(s.to_x - s.from_x == t.to_x - t.from_x);
        require(s.to_y - s.from_y == t.to_y - t.from_y);
        for (int j = 0; j < s.to_y - s.from_y; j++)
            for (int i = 0; i < s.to_x - s.from_x; i++) {
                require(!are_own || is_own_or_beyond(&d->halo[from].grid, s.from_x + i, s.from_y + j));
                require(lm_domain_x(a, s.from_x + i) == lm_domain_x(b, t.from_x + i));
                require(lm_domain_y(a, s.from_y + j) == lm_domain_y(b, t.from_y + j));
            }
    }
    for (; k < in->count; k++)
        require(in->piece[k].peer != from);
}

START_TEST(lists_agree)
{
    struct division d = draw(_i);
    for (int a = 0; a < d.p.ranks; a++)
        for (int b = 0; b < d.p.ranks; b++)
            if (a != b) {
                compare_lists(&d, a, &d.halo[a].owned, b, &d.halo[b].held, 1);
                compare_lists(&d, a, &d.halo[a].shared, b, &d.halo[b].added, 0);
            }
    drop(&d);
}
END_TEST

/* The cells that a rank holds and does not own come from others, each once; with ghost cells beyond walls likewise. */
START_TEST(lists_are_complete)
{
    struct division d = draw(_i);
    for (int r = 0; r < d.p.ranks; r++) {
        const struct lm_grid *g = &d.halo[r].grid;
        char *filled = calloc(g->size, 1);
        const struct lm_halo_list *in = &d.halo[r].held;
        for (int n = 0; n < in->count; n++)
            for (int j = in->piece[n].cells.from_y; j < in->piece[n].cells.to_y; j++)
                for (int i = in->piece[n].cells.from_x; i < in->piece[n].cells.to_x; i++)
                    require(filled[lm_at(g, i, j)]++ == 0);
        for (int j = 0; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++)
                require(filled[lm_at(g, i, j)] == !lm_is_own(g, i, j));
        free(filled);
    }
    drop(&d);
}
END_TEST

/* How many lines arrays have along a side that they reach; 0: they do not reach it, or it is periodic. */
static int lines_along(const struct division *d, int rank, int side)
{
    const struct lm_grid *g = &d->halo[rank].grid;
    const int axis = side / 2, from = axis == 0 ? g->place.origin_x : g->place.origin_y, n = axis == 0 ? g->nx : g->ny,
              whole = axis == 0 ? d->domain.nx : d->domain.ny;
    const int reaches = side % 2 ? from + n == whole : from == 0;
    return d->domain.sides.of[side] != LM_PERIODIC && reaches ? (axis == 0 ? g->ny : g->nx) : 0;
}

/* The ranks that send lines of a side send those that the others expect, in the same order. */
static void compare_lines(const struct division *d, int side, int from, int to)
{
    const struct lm_halo_list *out = &d->halo[from].owned_at[side], *in = &d->halo[to].held_at[side];
    const int along = side < LM_Y_MIN;
    int k = 0;
    for (int n = 0; n < out->count; n++) {
        const struct lm_cells s = out->piece[n].cells;
        if (out->piece[n].peer != to)
            continue;
        while (k < in->count && in->piece[k].peer != from)
            k++;
        require(k < in->count);
        const struct lm_cells t = in->piece[k++].cells;
        require(s.to_x - s.from_x == t.to_x - t.from_x);
        for (int i = 0; i < s.to_x - s.from_x; i++)
            require(lm_domain_along(&d->halo[from].grid.place, along, s.from_x + i) ==
                    lm_domain_along(&d->halo[to].grid.place, along, t.from_x + i));
    }
    for (; k < in->count; k++)
        require(in->piece[k].peer != from);
}

/* The lines along a side of a rank come from their owners, each once, but for those that it owns. */
START_TEST(lines_are_complete)
{
    struct division d = draw(_i);
    for (int r = 0; r < d.p.ranks; r++)
        for (int side = 0; side < LM_SIDES; side++) {
            const struct lm_grid *g = &d.halo[r].grid;
            const struct lm_halo_list *in = &d.halo[r].held_at[side];
            const int lines = lines_along(&d, r, side), from = side < LM_Y_MIN ? g->own.from_y : g->own.from_x,
                      to = side < LM_Y_MIN ? g->own.to_y : g->own.to_x;
            char *filled = calloc((size_t)lines + 1, 1);
            for (int n = 0; n < in->count; n++)
                for (int line = in->piece[n].cells.from_x; line < in->piece[n].cells.to_x; line++)
                    require(line >= 0 && line < lines && filled[line]++ == 0);
            for (int line = 0; line < lines; line++)
                require(filled[line] == !(lm_owns_side(g, side) && line >= from && line < to));
            free(filled);
            for (int other = 0; other < d.p.ranks; other++)
                if (other != r)
                    compare_lines(&d, side, other, r);
        }
    drop(&d);
}
END_TEST

/* Whether particles of this rank may reach a cell of its arrays. */
static int is_reached(const struct lm_grid *g, const struct lm_grid *domain, int i, int j)
{
    const int x = g->nx < domain->nx ? LM_HALO_READ : domain->nx, y = g->ny < domain->ny ? LM_HALO_READ : domain->ny;
    return i >= g->own.from_x - x && i < g->own.to_x + x && j >= g->own.from_y - y && j < g->own.to_y + y;
}

/* Each rank sends what its particles leave in a cell to every other one that holds the cell, once. */
START_TEST(shared_cells_are_complete)
{
    struct division d = draw(_i);
    for (int r = 0; r < d.p.ranks; r++) {
        const struct lm_grid *g = &d.halo[r].grid;
        const struct lm_halo_list *out = &d.halo[r].shared;
        int *sent = calloc(g->cells, sizeof *sent), *holders = calloc(d.domain.cells, sizeof *holders);
        for (int other = 0; other < d.p.ranks; other++)
            for (int k = 0; k < (int)d.halo[other].grid.cells; k++) {
                const struct lm_grid *o = &d.halo[other].grid;
                holders[lm_domain_cell(&o->place, k % o->nx, k / o->nx)] += other != r;
            }
        for (int n = 0; n < out->count; n++)
            for (int j = out->piece[n].cells.from_y; j < out->piece[n].cells.to_y; j++)
                for (int i = out->piece[n].cells.from_x; i < out->piece[n].cells.to_x; i++)
                    sent[j * g->nx + i]++;
        for (int k = 0; k < (int)g->cells; k++)
            require(sent[k] == (is_reached(g, &d.domain, k % g->nx, k / g->nx)
                                    ? holders[lm_domain_cell(&g->place, k % g->nx, k / g->nx)]
                                    : 0));
        free(sent);
        free(holders);
    }
    drop(&d);
}
END_TEST

/* How far from own cells B, moments and E are right, step after step: what counts is never wrong. Each stage of a
 * substep of B and E read two and three cells beside, each filter one, and the average of the moments one. */
START_TEST(halo_lasts)
{
    enum { STAGES = 4, MOST_SUBSTEPS = 20 };
    const int width = halos[_i % WIDTHS], smoothing = _i / WIDTHS;
    const struct lm_partition p = {.halo = width};
    const struct lm_halo h = {.partition = &p, .smoothing = smoothing};
    const int moments = lm_halo_needs_moments(&h) ? width : width - 1 - smoothing;
    for (int substeps = 1; substeps <= MOST_SUBSTEPS; substeps++) {
        int b = width;
        for (int r = 0; r < substeps; r++) {
            for (int stage = 0; stage < STAGES; stage++)
                b = (b < moments ? b : moments) - 2;
            ck_assert_int_ge(b, 0);
            b = lm_halo_is_used_up(&h, r, substeps) ? width : b;
        }
        ck_assert_int_eq(b, width);
    }
    if (!lm_halo_needs_moments(&h)) {
        ck_assert_int_ge(moments - 3 - smoothing, LM_HALO_READ);
        ck_assert_int_ge(moments - 5, LM_HALO_READ);
    }
    ck_assert_int_eq(lm_halo_is_used_up(NULL, 0, 1), 0);
}
END_TEST

/* A wide halo with the usual filter saves the exchanges of moments and E, and lasts three substeps. */
START_TEST(wide_halo_saves_exchanges)
{
    const struct lm_partition narrow = {.halo = LM_HALO_NARROW}, wide = {.halo = LM_HALO_WIDE};
    const struct lm_halo n = {.partition = &narrow, .smoothing = 1}, w = {.partition = &wide, .smoothing = 1};
    ck_assert(lm_halo_needs_moments(&n));
    ck_assert(!lm_halo_needs_moments(&w));
    ck_assert(!lm_halo_is_used_up(&n, 0, 4) && lm_halo_is_used_up(&n, 1, 4));
    ck_assert(!lm_halo_is_used_up(&w, 0, 4) && !lm_halo_is_used_up(&w, 1, 4) && lm_halo_is_used_up(&w, 2, 4));
}
END_TEST

/* One tile costs as much as all others: the ranks that do not have it share the rest. */
START_TEST(cost_is_balanced)
{
    const struct lm_grid domain = lm_grid_make(64 * 8, 64 * 8, 1, 1);
    double *cost = malloc(64 * 64 * sizeof *cost), largest = 0, all = 0;
    struct lm_partition p;
    for (int j = 0; j < 64; j++)
        for (int i = 0; i < 64; i++)
            all += cost[64 * j + i] = i < 32 ? 10 : 1;
    ck_assert_int_eq(lm_partition_make(&domain, 8, 8, LM_HALO_NARROW, cost, &p), 0);
    for (int r = 0; r < 8; r++) {
        double sum = 0;
        for (int j = p.own[r].from_y / 8; j < p.own[r].to_y / 8; j++)
            for (int i = p.own[r].from_x / 8; i < p.own[r].to_x / 8; i++)
                sum += cost[64 * j + i];
        largest = sum > largest ? sum : largest;
    }
    ck_assert_double_lt(largest * 8 / all, 1.1);
    lm_partition_free(&p);
    free(cost);
}
END_TEST

/* The largest cost of a part of a row of units, of all ways to cut it. */
static double least_most(const double *cost, int count, int parts)
{
    double best[MOST_RANKS + 1][ROW + 1];
    for (int n = 0; n <= count; n++)
        best[0][n] = n == 0 ? 0 : INFINITY;
    for (int k = 1; k <= parts; k++)
        for (int n = 0; n <= count; n++) {
            double sum = 0;
            best[k][n] = INFINITY;
            for (int from = n - 1; from >= k - 1; from--) {
                sum += cost[from];
                best[k][n] = fmin(best[k][n], fmax(best[k - 1][from], sum));
            }
        }
    return best[parts][count];
}

/* No division of a row of units has a largest part that costs less. */
START_TEST(largest_part_is_least)
{
    double cost[ROW], largest = 0;
    struct lm_partition p;
    srand((unsigned)_i);
    const int count = between(1, ROW), ranks = between(1, count < MOST_RANKS ? count : MOST_RANKS);
    const struct lm_grid domain = lm_grid_make(8 * count, 8, 1, 1);
    for (int k = 0; k < count; k++)
        cost[k] = between(0, 3) ? between(0, 20) : between(0, 500);
    ck_assert_int_eq(lm_partition_make(&domain, ranks, 8, LM_HALO_NARROW, cost, &p), 0);
    for (int r = 0; r < ranks; r++) {
        double sum = 0;
        for (int k = p.own[r].from_x / 8; k < p.own[r].to_x / 8; k++)
            sum += cost[k];
        largest = fmax(largest, sum);
        require(p.own[r].to_x > p.own[r].from_x);
    }
    ck_assert_double_le(largest, least_most(cost, count, ranks) * (1 + 2e-6));
    lm_partition_free(&p);
}
END_TEST

START_TEST(too_many_ranks)
{
    const struct lm_grid domain = lm_grid_make(3, 2, 1, 1);
    struct lm_partition p;
    ck_assert_int_eq(lm_partition_make(&domain, 7, 8, LM_HALO_NARROW, NULL, &p), LM_BAD_INPUT);
    ck_assert_str_eq(lm_error(), "7 ranks cannot share 3 x 2 cells: take fewer ranks");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("partition");
    TCase *t = tcase_create("partition");
    tcase_set_timeout(t, 60);
    suite_add_tcase(suite, t);
    tcase_add_loop_test(t, each_cell_has_one_owner, 0, CASES);
    tcase_add_loop_test(t, arrays_lie_in_the_domain, 0, CASES);
    tcase_add_loop_test(t, halos_are_wide, 0, CASES);
    tcase_add_test(t, cells_of_others_are_counted);
    tcase_add_loop_test(t, lists_agree, 0, CASES);
    tcase_add_loop_test(t, lists_are_complete, 0, CASES);
    tcase_add_loop_test(t, lines_are_complete, 0, CASES);
    tcase_add_loop_test(t, shared_cells_are_complete, 0, CASES);
    tcase_add_loop_test(t, halo_lasts, 0, WIDTHS * (MOST_SMOOTHING + 1));
    tcase_add_test(t, wide_halo_saves_exchanges);
    tcase_add_test(t, cost_is_balanced);
    tcase_add_loop_test(t, largest_part_is_least, 0, CASES);
    tcase_add_test(t, too_many_ranks);
    return suite_run(suite);
}
