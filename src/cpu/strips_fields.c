/* CPU backend: E and B of the strips beyond radiating sides, and what the domain takes from there. */
#include "cpu/fields.h"
#include "cpu/strips.h"

/* --- E and B in a stage --- */

/* The motional field in the cells of a row. */
static inline __attribute__((always_inline)) void motional_cells(const struct lm_strip_window *w, struct lm_view b,
                                                                 struct lm_strip_row r)
{
    double *const to[3] = {w->motional[0], w->motional[1], w->motional[2]}, *const slip = w->slip;
#pragma GCC ivdep
    for (int i = 0; i < r.length; i++) {
        const struct lm_motional f = lm_strip_motional(w, b, r.k + i);
        lm_strip_put(to, r.k + i, f.field);
        slip[r.k + i] = f.slip;
    }
}

/* That in the strip, and that of the domain in the cells inside at the side. */
static void motional_field(const struct lm_cpu *c, const struct lm_cpu_strip *s, double *const b[3])
{
    const struct lm_strip_window *w = &s->w;
    const struct lm_view bv = lm_strip_view(w, b);
    const struct lm_strip_cells all = lm_strip_all(w);
    const int inside = lm_strip_last_inside(w->place), rows = lm_strip_row_count(w, all);
#pragma omp parallel for num_threads(s->threads)
    for (int row = 0; row < rows; row++)
        motional_cells(w, bv, lm_strip_row(w, all, row));
    for (int line = 0; line < w->lines; line++) {
        const long k = lm_strip_at(w, inside, line), m = lm_strip_at_main(w, inside, line);
        lm_strip_put(w->motional, k, lm_cpu_vector(c->motional, (size_t)m));
        w->slip[k] = c->slip[m];
    }
    for (int d = 0; d < 3; d++)
        lm_strip_fill(w, w->motional[d], w->place.first);
    lm_strip_fill(w, w->slip, w->place.first);
}

static inline __attribute__((always_inline)) void electric_cells(const struct lm_strip_window *w, int axis,
                                                                 struct lm_view b, struct lm_strip_row r)
{
    double *const e[3] = {w->e[0], w->e[1], w->e[2]};
#pragma GCC ivdep
    for (int i = 0; i < r.length; i++)
        lm_strip_put(e, r.k + i, lm_strip_electric(w, b, lm_strip_row_p(axis, r, i), r.k + i));
}

/* E of the strip, and E through the side. */
static void electric_field(const struct lm_cpu_strip *s, double *const b[3])
{
    const struct lm_strip_window *w = &s->w;
    const struct lm_view bv = lm_strip_view(w, b);
    const struct lm_strip_cells all = lm_strip_all(w);
    const int axis = w->place.axis, wall = lm_strip_wall(w), rows = lm_strip_row_count(w, all);
#pragma omp parallel for num_threads(s->threads)
    for (int row = 0; row < rows; row++) {
        if (axis == 0)
            electric_cells(w, 0, bv, lm_strip_row(w, all, row));
        else
            electric_cells(w, 1, bv, lm_strip_row(w, all, row));
    }
    for (int line = 0; line < w->lines; line++) {
        const long k = lm_strip_at(w, wall, line);
        const struct lm_vector e = lm_strip_electric(w, bv, wall, k);
        w->e[axis][k] = axis == 0 ? e.x : e.y;
    }
    for (int d = 0; d < 3; d++)
        lm_strip_fill_lines(w, w->e[d], w->place.first, lm_strip_lines_of_e(w, d));
}

/* B of component d after a stage, which is number 0, one between (1), or 3. */
static inline __attribute__((always_inline)) void advance_cells(const struct lm_strip_window *w, int axis, int number,
                                                                struct lm_rk4 rk, int d, struct lm_strip_row r)
{
    double *const next = w->stage[d];
#pragma GCC ivdep
    for (int i = 0; i < r.length; i++) {
        const long k = r.k + i;
        const double rate = lm_strip_rate(w, d, lm_strip_row_p(axis, r, i), lm_strip_row_line(axis, r, i), k);
        lm_strip_advance(w, number, rk, d, k, rate, next);
    }
}

static inline __attribute__((always_inline)) void advance_row(const struct lm_strip_window *w, int number,
                                                              struct lm_rk4 rk, int d, struct lm_strip_row r)
{
    const int axis = w->place.axis, kind = number < 3 ? number > 0 : 3;
    if (axis == 0 && kind == 0)
        advance_cells(w, 0, 0, rk, d, r);
    else if (axis == 0 && kind == 1)
        advance_cells(w, 0, 1, rk, d, r);
    else if (axis == 0)
        advance_cells(w, 0, 3, rk, d, r);
    else if (kind == 0)
        advance_cells(w, 1, 0, rk, d, r);
    else if (kind == 1)
        advance_cells(w, 1, 1, rk, d, r);
    else
        advance_cells(w, 1, 3, rk, d, r);
}

static void advance_b(const struct lm_cpu_strip *s, int number, struct lm_rk4 rk)
{
    const struct lm_strip_window *w = &s->w;
    for (int d = 0; d < 3; d++) {
        const int first = lm_strip_first_b(w->place, d);
        const struct lm_strip_cells own = {first, first + LM_STRIP_CELLS, 0, lm_strip_lines_of_b(w, d)};
        const int rows = lm_strip_row_count(w, own);
#pragma omp parallel for num_threads(s->threads)
        for (int row = 0; row < rows; row++) {
            const struct lm_strip_row r = lm_strip_row(w, own, row);
            if (d == 0)
                advance_row(w, number, rk, 0, r);
            else if (d == 1)
                advance_row(w, number, rk, 1, r);
            else
                advance_row(w, number, rk, 2, r);
        }
    }
}

static void give_e(struct lm_cpu *c, const struct lm_strip_window *w)
{
    const int ends = lm_strip_ends(w), wall = lm_strip_wall(w),
              beyond = lm_strip_last_inside(w->place) + lm_strip_out(w);
    for (int line = -ends; line < w->lines + ends; line++)
        for (int d = 0; d < 3; d++) {
            const double *const from = w->e[d] + lm_strip_at(w, 0, lm_wrap(line, w->lines));
            lm_strip_give_e(w, d, line, from[wall * w->across], from[beyond * w->across], c->e[d]);
        }
}

static void fill_corners(struct lm_cpu *c, const struct lm_strip_window *w)
{
    for (int k = 0; k <= LM_GHOST && !w->periodic; k++)
        for (int d = 0; d < 3; d++)
            lm_strip_fill_corner(w, &c->sides, d, k, c->e[d]);
}

void lm_cpu_advance_strips(struct lm_cpu *c, int number, double *const main[3], double substep)
{
    int any = 0;
    for (int side = 0; side < LM_SIDES; side++) {
        struct lm_cpu_strip *s = c->strip[side];
        if (!s)
            continue;
        double *const *b = number == 0 ? s->w.b : s->w.stage;
        lm_strip_take_b(&s->w, main, b);
        lm_strip_current(s, b);
        motional_field(c, s, b);
        electric_field(s, b);
        advance_b(s, number, lm_rk4_stage(number, substep));
        give_e(c, &s->w);
        any = 1;
    }
    for (int side = 0; side < LM_SIDES && any; side++)
        if (c->strip[side])
            fill_corners(c, &c->strip[side]->w);
}

void lm_cpu_settle_corners(struct lm_cpu *c, double *const main[3], double substep)
{
    for (int corner = 0; corner < 4; corner++) {
        const struct lm_cpu_strip *x = c->strip[LM_X_MIN + corner % 2], *y = c->strip[LM_Y_MIN + corner / 2];
        if (x && y && !lm_strip_corner_is_empty(&x->w, &y->w))
            lm_strip_settle_corner(&c->base.setup.grid, corner % 2, corner / 2, main[2], c->e[0], c->e[1], substep);
    }
}

/* --- what the ions of the domain meet at the side --- */

void lm_cpu_add_strip_moments(struct lm_cpu *c, double *a, int which)
{
    const double share = lm_strip_share(c->base.setup.shape == LM_LINEAR);
    for (int side = 0; side < LM_SIDES; side++) {
        const struct lm_cpu_strip *s = c->strip[side];
        const int ends = s ? lm_strip_ends(&s->w) : 0;
        for (int line = -ends; s && s->started && line < s->w.lines + ends; line++)
            lm_strip_add_moments(&s->w, which, share, line, a);
    }
}

void lm_cpu_push_of_strips(struct lm_cpu *c, double *a, int d, int is_b)
{
    for (int side = 0; side < LM_SIDES; side++) {
        const struct lm_cpu_strip *s = c->strip[side];
        const int ends = s ? lm_strip_ends(&s->w) : 0;
        for (int line = -ends; s && s->started && line < s->w.lines + ends; line++)
            for (int k = 1; k <= LM_GHOST; k++)
                lm_strip_put_push(&s->w, d, is_b, k, line, a);
    }
}

static void find_push(const struct lm_cpu *c, const struct lm_cpu_strip *s, enum lm_array b)
{
    lm_strip_take_b(&s->w, c->array + b, s->w.b);
    lm_strip_current(s, s->w.b);
    for (int line = 0; line < s->w.lines; line++)
        for (int k = 1; k <= LM_GHOST; k++)
            lm_strip_find_push(&s->w, k, line);
}

void lm_cpu_find_push_of_strips(struct lm_cpu *c, enum lm_array b)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (c->strip[side] && c->strip[side]->started)
            find_push(c, c->strip[side], b);
}

void lm_cpu_fill_push_of_strips(struct lm_cpu *c)
{
    lm_cpu_find_push_of_strips(c, LM_B);
    for (int d = 0; d < 3; d++) {
        lm_cpu_push_of_strips(c, c->array[LM_PUSH_E + d], d, 0);
        lm_cpu_push_of_strips(c, c->array[LM_PUSH_B + d], d, 1);
    }
}
