#include "base/expr.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/expr_parser.h"
#include "base/expr_scan.h"
#include "base/threads.h"
#include "base/try.h"
#include "larmor/physics/numerics/cell_index.h"

/* In words, because the C library prints some NaNs with a sign. */
static const char *not_finite(double value)
{
    return isnan(value) ? "not a number" : "infinite";
}

int lm_expr_value(const struct lm_names *names, const char *text, double *value)
{
    struct lm_parser p;
    int status = lm_parser_open(&p, names, text, LM_OF_NOTHING);
    if (!status) {
        *value = lm_parser_value(&p);
        if (!isfinite(*value))
            status = lm_fail(LM_BAD_INPUT, "\"%s\" is %s", text, not_finite(*value));
    }
    lm_parser_close(&p);
    return status;
}

int lm_expr_check(const struct lm_names *names, const char *text, int *uniform)
{
    struct lm_parser p;
    int status = lm_parser_open(&p, names, text, LM_OF_PLACE);
    if (!status)
        *uniform = !(p.uses & (LM_USES_X | LM_USES_Y));
    lm_parser_close(&p);
    return status;
}

int lm_expr_uses_time(const struct lm_names *names, const char *text, int *uses)
{
    struct lm_parser p;
    int status = lm_parser_open(&p, names, text, LM_OF_PLACE_AND_TIME);
    if (!status)
        *uses = (p.uses & LM_USES_T) != 0;
    lm_parser_close(&p);
    return status;
}

int lm_expr_select(const struct lm_names *names, const char *text, size_t count, const double *const xyv[5],
                   unsigned char *selected)
{
    struct lm_parser p;
    int status = lm_parser_open(&p, names, text, LM_OF_PARTICLE);
    for (size_t k = 0; k < count && !status; k++) {
        p.x = xyv[0][k];
        p.y = xyv[1][k];
        for (int d = 0; d < 3; d++)
            p.v[d] = xyv[2 + d][k];
        const double value = lm_parser_value(&p);
        selected[k] = value != 0 && !isnan(value);
    }
    lm_parser_close(&p);
    return status;
}

static double at_cell(struct lm_parser *p, const struct lm_grid *g, struct lm_cell_offset offset, int i, int j)
{
    p->x = (lm_domain_x(&g->place, i) + 0.5 + offset.x) * g->dx;
    p->y = (lm_domain_y(&g->place, j) + 0.5 + offset.y) * g->dy;
    return lm_parser_value(p);
}

static int fail_value(const struct lm_parser *p, const char *text, double value, double least)
{
    char place[128];
    int n = snprintf(place, sizeof place, "x = %.10g, y = %.10g", p->x, p->y);
    if (p->variables == LM_OF_PLACE_AND_TIME)
        snprintf(place + n, sizeof place - (size_t)n, ", t = %.10g", p->t);
    if (!isfinite(value))
        return lm_fail(LM_BAD_INPUT, "\"%s\" is %s at %s", text, not_finite(value), place);
    return lm_fail(LM_BAD_INPUT, "\"%s\" is %.10g at %s; the least allowed is %g", text, value, place, least);
}

int lm_expr_at_least(const struct lm_names *names, const char *text, size_t count, const double *x, const double *y,
                     double t, double least, double *out)
{
    struct lm_parser p;
    int status = lm_parser_open(&p, names, text, LM_OF_PLACE_AND_TIME);
    p.t = t;
    for (size_t k = 0; k < count && !status; k++) {
        p.x = x[k];
        p.y = y[k];
        out[k] = lm_parser_value(&p);
        if (!isfinite(out[k]) || out[k] < least)
            status = fail_value(&p, text, out[k], least);
    }
    lm_parser_close(&p);
    return status;
}

int lm_expr_at(const struct lm_names *names, const char *text, size_t count, const double *x, const double *y, double t,
               double *out)
{
    return lm_expr_at_least(names, text, count, x, y, t, -HUGE_VAL, out);
}

/* The distance between two evaluated cells along an axis of n cells. `many`: the grid has too many cells for all. */
static int stride(int n, int many)
{
    return many ? (n + LM_SURVEYED_SIDE - 1) / LM_SURVEYED_SIDE : 1;
}

/* The last cell of an axis is always evaluated. */
static int next(int i, int by, int n)
{
    return i < n - 1 && i + by > n - 1 ? n - 1 : i + by;
}

static int scan(const struct lm_names *names, const char *text, const struct lm_grid *g, struct lm_cell_offset offset,
                int variables, double t, double least)
{
    struct lm_parser p;
    int status = lm_parser_open(&p, names, text, variables);
    p.t = t;
    const int nx = (p.uses & LM_USES_X) ? g->nx : 1, ny = (p.uses & LM_USES_Y) ? g->ny : 1,
              many = (double)nx * ny > LM_SCANNED_CELLS;
    for (int j = 0; !status && j < ny; j = next(j, stride(ny, many), ny))
        for (int i = 0; !status && i < nx; i = next(i, stride(nx, many), nx)) {
            double value = at_cell(&p, g, offset, i, j);
            if (!isfinite(value) || value < least)
                status = fail_value(&p, text, value, least);
        }
    lm_parser_close(&p);
    return status;
}

int lm_expr_scan(const struct lm_names *names, const char *text, const struct lm_grid *g, struct lm_cell_offset offset,
                 double least)
{
    return scan(names, text, g, offset, LM_OF_PLACE, 0.0, least);
}

int lm_expr_scan_at(const struct lm_names *names, const char *text, const struct lm_grid *g,
                    struct lm_cell_offset offset, double t, double least)
{
    return scan(names, text, g, offset, LM_OF_PLACE_AND_TIME, t, least);
}

/* An expression, and the rows of an array that get its values. */
struct filling {
    const struct lm_names *names;
    const char *text;
    const struct lm_grid *grid;
    struct lm_cell_offset offset;
    int variables;
    double t;
    double *array; /* NULL: values are checked only */
    int (*row)(struct lm_parser *p, const struct filling *f, int j);
};

/* Rows from `first` to before `end`, by a parser of their own. */
static int fill_rows(const struct filling *f, int first, int end)
{
    struct lm_parser p;
    int status = lm_parser_open(&p, f->names, f->text, f->variables);
    p.t = f->t;
    for (int j = first; j < end && !status; j++)
        status = f->row(&p, f, j);
    lm_parser_close(&p);
    return status;
}

enum { CELLS_OF_A_THREAD = 8192 };

/* The same, shared among threads where there is enough to do. After an error this thread goes over the rows once more,
 * so that the message is that of the first wrong cell. */
static int fill_by_threads(const struct filling *f, int first, int end)
{
    const uint64_t cells = (uint64_t)(end - first) * (uint64_t)f->grid->nx;
    int failed = 0, threads = lm_threads_useful(cells, CELLS_OF_A_THREAD, INT_MAX);
    if (threads == 1)
        return fill_rows(f, first, end);
    threads = lm_threads_useful(cells, CELLS_OF_A_THREAD, lm_threads_wanted(f->names->threads));
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : failed)
    for (int k = 0; k < threads; k++)
        failed |= fill_rows(f, first + (int)((int64_t)(end - first) * k / threads),
                            first + (int)((int64_t)(end - first) * (k + 1) / threads)) != LM_OK;
    return failed ? fill_rows(f, first, end) : LM_OK;
}

/* Where the offset is that of an upper face, rows and columns begin with the lower face of the domain. */
static int first_cell(double offset)
{
    return offset > 0.0 ? -1 : 0;
}

static int row_at(struct lm_parser *p, const struct filling *f, int j)
{
    const int first = first_cell(f->offset.x);
    double value = 0.0;
    for (int i = first; i < f->grid->nx; i++) {
        if ((p->uses & LM_USES_X) || i == first)
            value = at_cell(p, f->grid, f->offset, i, j);
        if (!isfinite(value))
            return fail_value(p, f->text, value, -HUGE_VAL);
        if (f->array)
            f->array[lm_at(f->grid, i, j)] = value;
    }
    return LM_OK;
}

int lm_expr_fill_at(const struct lm_names *names, const char *text, const struct lm_grid *g,
                    struct lm_cell_offset offset, double t, double *array)
{
    const struct filling f = {names, text, g, offset, LM_OF_PLACE_AND_TIME, t, array, row_at};
    if (!array && g->cells > LM_SCANNED_CELLS)
        return lm_expr_scan_at(names, text, g, offset, t, -HUGE_VAL);
    return fill_by_threads(&f, first_cell(offset.y), g->ny);
}

/* The number of ghost cells in which an expression is evaluated: those behind a wall. */
static int beyond(const struct lm_grid *g, enum lm_side side)
{
    return g->sides.of[side] == LM_PERIODIC ? 0 : LM_GHOST;
}

/* An expression that does not depend on x is evaluated once in a row. */
static int row_with_ghosts(struct lm_parser *p, const struct filling *f, int j)
{
    const struct lm_grid *g = f->grid;
    const int x = beyond(g, LM_X_MIN);
    double *row = f->array + lm_at(g, 0, j);
    for (int i = -x; i < g->nx + x; i++) {
        row[i] = i > -x && !(p->uses & LM_USES_X) ? row[-x] : at_cell(p, g, f->offset, i, j);
        if (!isfinite(row[i])) /* an expression need not be finite behind a wall: take the value at the wall */
            row[i] = at_cell(p, g, f->offset, lm_nearest_cell(i, g->nx), lm_nearest_cell(j, g->ny));
        if (!isfinite(row[i]))
            return fail_value(p, f->text, row[i], -HUGE_VAL);
    }
    return LM_OK;
}

static int depends_on_y(const struct lm_names *names, const char *text, int *depends)
{
    struct lm_parser p;
    const int status = lm_parser_open(&p, names, text, LM_OF_PLACE);
    *depends = (p.uses & LM_USES_Y) != 0;
    lm_parser_close(&p);
    return status;
}

/* Copies the first row to all others. There are x ghost cells at both ends of a row, and y rows of ghost cells below
 * and above the domain. */
static void repeat_row(const struct filling *f, int x, int y)
{
    const struct lm_grid *g = f->grid;
    const double *const first = f->array + lm_at(g, -x, -y);
    const int threads = lm_threads_useful(g->cells, CELLS_OF_A_THREAD, lm_threads_wanted(f->names->threads));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int j = 1 - y; j < g->ny + y; j++)
        memcpy(f->array + lm_at(g, -x, j), first, (size_t)(g->nx + 2 * x) * sizeof *first);
}

int lm_expr_fill(const struct lm_names *names, const char *text, const struct lm_grid *g, struct lm_cell_offset offset,
                 double *array)
{
    const struct filling f = {names, text, g, offset, LM_OF_PLACE, 0.0, array, row_with_ghosts};
    const int x = beyond(g, LM_X_MIN), y = beyond(g, LM_Y_MIN);
    int all_rows;
    LM_TRY(depends_on_y(names, text, &all_rows));
    LM_TRY(fill_by_threads(&f, -y, all_rows ? g->ny + y : 1 - y));
    if (!all_rows)
        repeat_row(&f, x, y);
    lm_grid_wrap(g, array);
    return LM_OK;
}
