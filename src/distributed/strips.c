/* The strips beyond radiating sides (larmor/physics/fields/strip.h): rank 0 has the state of the whole side, and the
 * ranks whose arrays reach the side have its lines along these. */
#include <stdlib.h>
#include <string.h>

#include "distributed/parts.h"
#include "larmor/physics/fields/strip_window.h"

static int lines_of(const struct lm_grid *g, int side)
{
    return side < LM_Y_MIN ? g->ny : g->nx;
}

/* What each line has of the state, line after line. */
static double *new_lines(int lines)
{
    double *values = calloc((size_t)lines * LM_STRIP_ROWS, sizeof *values);
    if (!values)
        lm_ranks_abort(LM_FAILED, "not enough memory for a strip beyond a side");
    return values;
}

/* The state is in rows along the side for others, and line after line here. */
static void rows_to_lines(const double *rows, int lines, double *to)
{
    for (int row = 0; row < LM_STRIP_ROWS; row++)
        for (int line = 0; line < lines; line++)
            to[(size_t)line * LM_STRIP_ROWS + (size_t)row] = rows[(size_t)row * (size_t)lines + (size_t)line];
}

static void lines_to_rows(const double *from, int lines, double *rows)
{
    for (int row = 0; row < LM_STRIP_ROWS; row++)
        for (int line = 0; line < lines; line++)
            rows[(size_t)row * (size_t)lines + (size_t)line] = from[(size_t)line * LM_STRIP_ROWS + (size_t)row];
}

/* Whether the arrays of this rank reach a radiating side. */
static int has_strip(const struct lm_distributed *d, int side)
{
    return d->part->setup.field_sides[side] == LM_RADIATING;
}

/* The strip of this rank; the caller frees the result. */
static double *take_lines(struct lm_distributed *d, int side, int *status)
{
    const int lines = lines_of(&d->halo.grid, side);
    double *rows = new_lines(lines), *to = new_lines(lines);
    const int failed = has_strip(d, side) ? d->part->ops->get_strip(d->part, (enum lm_side)side, rows) : LM_OK;
    *status = failed ? failed : *status;
    rows_to_lines(rows, lines, to);
    free(rows);
    return to;
}

/* `from` becomes the strip of this rank. */
static int put_lines(struct lm_distributed *d, int side, const double *from)
{
    if (!has_strip(d, side))
        return LM_OK;
    const int lines = lines_of(&d->halo.grid, side);
    double *rows = new_lines(lines);
    lines_to_rows(from, lines, rows);
    const int status = d->part->ops->put_strip(d->part, (enum lm_side)side, rows);
    free(rows);
    return status;
}

/* The lines that a rank owns: the first one in its arrays and along the side, and how many. */
struct own_lines {
    int from, whole, count;
};

static struct own_lines own_lines_of(const struct lm_distributed *d, int rank, int side)
{
    const struct lm_grid g = lm_partition_grid(&d->partition, &d->domain, rank);
    const int along = side < LM_Y_MIN, from = along ? g.own.from_y : g.own.from_x, to = along ? g.own.to_y : g.own.to_x;
    return (struct own_lines){from, lm_domain_along(&g.place, along, from), lm_owns_side(&g, side) ? to - from : 0};
}

/* The own lines of all ranks into the strip of the whole side on rank 0; line after line. */
static void gather_lines(const struct lm_distributed *d, int side, double *part, double *whole)
{
    const struct own_lines own = own_lines_of(d, lm_rank(), side);
    const size_t line = LM_STRIP_ROWS * sizeof *part;
    double *first = part + (size_t)own.from * LM_STRIP_ROWS;
    const struct lm_message out = {0, (size_t)own.count * line, first};
    if (lm_rank() > 0) {
        lm_ranks_exchange(&out, own.count > 0, NULL, 0);
        return;
    }
    memcpy(whole + (size_t)own.whole * LM_STRIP_ROWS, first, (size_t)own.count * line);
    for (int rank = 1; rank < lm_rank_count(); rank++) {
        const struct own_lines its = own_lines_of(d, rank, side);
        const struct lm_message in = {rank, (size_t)its.count * line, whole + (size_t)its.whole * LM_STRIP_ROWS};
        lm_ranks_exchange(NULL, 0, &in, its.count > 0);
    }
}

int lm_get_strip(struct lm_distributed *d, int side)
{
    const int lines = lines_of(&d->domain, side);
    int status = LM_OK;
    double *part = take_lines(d, side, &status), *whole = lm_rank() == 0 ? new_lines(lines) : NULL;
    status = lm_agree(status);
    if (!status)
        gather_lines(d, side, part, whole);
    if (!status && whole)
        lines_to_rows(whole, lines, d->to);
    free(part);
    free(whole);
    return status;
}

int lm_put_strip(struct lm_distributed *d, int side)
{
    const int lines = lines_of(&d->domain, side);
    const size_t size = LM_STRIP_ROWS * sizeof(double);
    double *whole = lm_rank() == 0 ? new_lines(lines) : NULL;
    void *all = NULL;
    if (whole)
        rows_to_lines(d->from, lines, whole);
    lm_share_side(d, side, size, whole, &all);
    double *part = lm_cut_side(d, side, size, all);
    const int status = put_lines(d, side, part);
    free(whole);
    free(all);
    free(part);
    return lm_agree(status);
}

int lm_take_strips(struct lm_distributed *d, const struct lm_halo_move *move, double *strip[LM_SIDES])
{
    int status = LM_OK;
    for (int side = 0; side < LM_SIDES; side++) {
        if (d->whole.field_sides[side] != LM_RADIATING)
            continue;
        double *before = take_lines(d, side, &status);
        strip[side] = new_lines(lines_of(&move->to, side));
        lm_halo_move_side(move, side, before, strip[side], LM_STRIP_ROWS);
        free(before);
    }
    return status;
}

int lm_put_strips(struct lm_distributed *d, double *const strip[LM_SIDES])
{
    int status = LM_OK;
    for (int side = 0; side < LM_SIDES && !status; side++)
        if (strip[side])
            status = put_lines(d, side, strip[side]);
    return status;
}
