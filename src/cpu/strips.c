/* CPU backend: strips beyond radiating sides: their arrays and the ghosts of these. */
#include "cpu/strips.h"

#include "cpu/fields.h"
#include "larmor/physics/numerics/hash.h"

/* --- memory --- */

void lm_cpu_make_strips(struct lm_cpu *c)
{
    for (int side = 0; side < LM_SIDES; side++) {
        if (c->sides.of[side] != LM_RADIATING)
            continue;
        struct lm_cpu_strip *s = c->strip[side] = lm_pool_zeros(&c->pool, 1, sizeof *s);
        if (!s)
            return;
        s->threads = 1;
        lm_strip_window_make(&s->w, side, &c->base.setup.grid, &c->sides, &c->base.setup.ohm);
        double *memory = lm_pool_zeros(&c->pool, lm_strip_window_length(&s->w), sizeof *memory);
        if (!memory)
            return;
        lm_strip_find_tables(&s->w, lm_strip_window_place(&s->w, memory));
        if (c->base.setup.halo)
            s->sent = lm_pool_zeros(&c->pool, LM_STRIP_ROWS * (size_t)s->w.lines, sizeof *s->sent);
    }
}

/* --- the state --- */

void lm_cpu_get_strip(const struct lm_cpu *c, enum lm_side side, double *out)
{
    const struct lm_cpu_strip *s = c->strip[side];
    for (long m = 0; m < lm_strip_values(&s->w); m++)
        out[m] = lm_strip_shown(&s->w, s->started, m);
}

uint64_t lm_cpu_hash_strip(const struct lm_cpu *c, enum lm_side side, int field)
{
    const struct lm_cpu_strip *s = c->strip[side];
    uint64_t hash = 0;
    for (long m = 0; s && m < lm_strip_own_values(&s->w); m++) {
        const struct lm_strip_own_value v = lm_strip_own(&s->w, s->started, m);
        hash += lm_hash_value(field, (uint64_t)v.number, v.value);
    }
    return hash;
}

void lm_cpu_put_strip(struct lm_cpu *c, enum lm_side side, const double *in)
{
    struct lm_cpu_strip *s = c->strip[side];
    for (long m = 0; m < lm_strip_values(&s->w); m++)
        *lm_strip_value(&s->w, m) = in[m];
    s->started = s->w.n[lm_strip_at(&s->w, s->w.place.first, 0)] >= 0.0;
}

/* --- between ranks --- */

void lm_cpu_refresh_strip(const struct lm_cpu *c, const struct lm_cpu_strip *s, int from, int to)
{
    const struct lm_strip_window *w = &s->w;
    const int rows = to - from;
    if (!c->base.setup.halo)
        return;
    for (int line = 0; line < w->lines; line++)
        for (int row = 0; row < rows; row++)
            s->sent[(long)line * rows + row] = *lm_strip_row_value(w, from + row, line);
    lm_halo_refresh_side(c->base.setup.halo, w->side, s->sent, rows);
    for (int line = 0; line < w->lines; line++)
        for (int row = 0; row < rows; row++)
            *lm_strip_row_value(w, from + row, line) = s->sent[(long)line * rows + row];
}

void lm_cpu_refresh_b_of_strips(const struct lm_cpu *c)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (c->strip[side])
            lm_cpu_refresh_strip(c, c->strip[side], 0, LM_STRIP_ROWS_OF_B);
}

/* --- ghosts of the window --- */

/* As lm_strip_source says. */
void lm_strip_fill_lines(const struct lm_strip_window *w, double *a, int from, int lines)
{
    const int to = from + LM_STRIP_CELLS, high = w->place.high;
    for (int line = 0; line < lines; line++)
        for (int p = high ? to : from - 1; p >= 0 && p < LM_STRIP_WINDOW; p += high ? 1 : -1)
            a[lm_strip_at(w, p, line)] = a[lm_strip_at(w, high ? to - 1 : from, line)];
    const int low = high ? from : 0, top = high ? LM_STRIP_WINDOW : to;
    for (int line = lines; line < w->lines; line++)
        for (int p = low; p < top; p++)
            a[lm_strip_at(w, p, line)] = a[lm_strip_at(w, p, lines - 1)];
    for (int k = 1; k <= LM_GHOST; k++)
        for (int p = low; p < top; p++) {
            const int below = w->periodic ? lm_wrap(-k, w->lines) : 0,
                      above = w->periodic ? lm_wrap(w->lines - 1 + k, w->lines) : w->lines - 1;
            a[lm_strip_at(w, p, -k)] = a[lm_strip_at(w, p, below)];
            a[lm_strip_at(w, p, w->lines - 1 + k)] = a[lm_strip_at(w, p, above)];
        }
}

void lm_strip_fill(const struct lm_strip_window *w, double *a, int from)
{
    lm_strip_fill_lines(w, a, from, w->lines);
}

/* B of the domain in the window, that outside in empty lines, and the ghosts of that of the strip. */
void lm_strip_take_b(const struct lm_strip_window *w, double *const main[3], double *const b[3])
{
    for (int d = 0; d < 3; d++) {
        const int first = lm_strip_first_b(w->place, d), last = first + LM_STRIP_CELLS;
        const int from = w->place.high ? 0 : last, to = w->place.high ? first : LM_STRIP_WINDOW;
        for (int line = -LM_GHOST; line < w->lines + LM_GHOST; line++)
            for (int p = from; p < to; p++)
                b[d][lm_strip_at(w, p, line)] = main[d][lm_strip_at_main(w, p, line)];
        for (int line = 0; line < w->lines; line++) {
            if (!lm_strip_has_outer_b(w, d, line))
                continue;
            for (int p = first; p < last; p++)
                b[d][lm_strip_at(w, p, line)] = main[d][lm_strip_outside(w, line)];
        }
        lm_strip_fill_lines(w, b[d], first, lm_strip_lines_of_b(w, d));
    }
}

static inline void current_cells(const struct lm_strip_window *w, struct lm_view b, struct lm_strip_row r)
{
    const int axis = w->place.axis;
    double *const to[3] = {w->curl[0], w->curl[1], w->curl[2]};
#pragma GCC ivdep
    for (int i = 0; i < r.length; i++)
        lm_strip_put(to, r.k + i, lm_strip_curl(w, b, lm_strip_row_p(axis, r, i), r.k + i));
}

void lm_strip_current(const struct lm_cpu_strip *s, double *const b[3])
{
    const struct lm_strip_window *w = &s->w;
    const struct lm_view v = lm_strip_view(w, b);
    const struct lm_strip_cells cells = {1, LM_STRIP_WINDOW, -2, w->lines + 1};
    const int rows = lm_strip_row_count(w, cells);
#pragma omp parallel for num_threads(s->threads)
    for (int row = 0; row < rows; row++)
        current_cells(w, v, lm_strip_row(w, cells, row));
}
