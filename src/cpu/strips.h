/* CPU backend: the strips beyond radiating sides (larmor/physics/fields/strip.h). */
#ifndef LARMOR_CPU_STRIPS_H
#define LARMOR_CPU_STRIPS_H

#include "larmor/physics/fields/strip_window.h"
#include "cpu/cpu.h"

struct lm_cpu_strip {
    struct lm_strip_window w;
    int threads;  /* for loops over the lines */
    int started;  /* 0: the strip has no plasma yet */
    double *sent; /* [lines][rows]: what goes from rank to rank; NULL: there is one */
};

/* Cells of a window: [from, to) across of the lines [from_line, to_line). */
struct lm_strip_cells {
    int from, to, from_line, to_line;
};

/* All cells of the strip. */
static inline struct lm_strip_cells lm_strip_all(const struct lm_strip_window *w)
{
    return (struct lm_strip_cells){w->place.first, w->place.first + LM_STRIP_CELLS, 0, w->lines};
}

/* Some that lie side by side in memory: the first one and its element. They are a line where the strip is beyond x, and
 * have one position where it is beyond y. Loops over them become vector instructions, some of them only with `axis`,
 * that of the window, as a constant. */
struct lm_strip_row {
    int p, line, length;
    long k;
};

static inline int lm_strip_row_count(const struct lm_strip_window *w, struct lm_strip_cells c)
{
    return w->place.axis == 0 ? c.to_line - c.from_line : c.to - c.from;
}

static inline struct lm_strip_row lm_strip_row(const struct lm_strip_window *w, struct lm_strip_cells c, int number)
{
    struct lm_strip_row r = {c.from, c.from_line + number, c.to - c.from, 0};
    if (w->place.axis == 1)
        r = (struct lm_strip_row){c.from + number, c.from_line, c.to_line - c.from_line, 0};
    r.k = lm_strip_at(w, r.p, r.line);
    return r;
}

/* The position and the line of cell i of a row. */
static inline int lm_strip_row_p(int axis, struct lm_strip_row r, int i)
{
    return axis == 0 ? r.p + i : r.p;
}

static inline int lm_strip_row_line(int axis, struct lm_strip_row r, int i)
{
    return axis == 0 ? r.line : r.line + i;
}

/* Fills the cells behind the last one, and the lines beyond both ends, of [from, from + LM_STRIP_CELLS) across; the
 * first one also those of its lines that come after `lines` (lm_strip_lines). */
void lm_strip_fill_lines(const struct lm_strip_window *w, double *a, int from, int lines);
void lm_strip_fill(const struct lm_strip_window *w, double *a, int from);

/* Puts B of the domain into the window's `b`, and fills the ghosts of that of the strip. */
void lm_strip_take_b(const struct lm_strip_window *w, double *const main[3], double *const b[3]);

/* The current of b, in the window's `curl`. */
void lm_strip_current(const struct lm_cpu_strip *s, double *const b[3]);

/* Strips of all radiating sides. The pool knows where memory is lacking. */
void lm_cpu_make_strips(struct lm_cpu *c);

/* In lines that other ranks own: the state's rows [from, to) become what it is there. */
void lm_cpu_refresh_strip(const struct lm_cpu *c, const struct lm_cpu_strip *s, int from, int to);

/* B of all strips, whenever that of the domain is refreshed. */
void lm_cpu_refresh_b_of_strips(const struct lm_cpu *c);

/* At the beginning of a step of B: the ions of the strips go on, and a new strip gets its plasma. In a forecast
 * (LM_MEAN_ENDS) the ions stay as they are, and lm_cpu_end_strips puts B of the strips back. After other steps it does
 * nothing. */
void lm_cpu_begin_strips(struct lm_cpu *c, const struct lm_b_step *step);
void lm_cpu_end_strips(struct lm_cpu *c, const struct lm_b_step *step);

/* In a stage of Runge-Kutta for B: E of the strips, then that of the ghost cells in c->e, then B of the strips. `b` is
 * B of the domain in this stage. */
void lm_cpu_advance_strips(struct lm_cpu *c, int number, double *const b[3], double substep);

/* Then, after E of open sides: B_z in corners of two radiating sides. */
void lm_cpu_settle_corners(struct lm_cpu *c, double *const b[3], double substep);

/* Moment `which` of all ions, n or J_x, J_y, J_z, as deposited and with its ghosts: what the ions of the strips add to
 * it in the last cells inside, and its ghosts beyond radiating sides. */
void lm_cpu_add_strip_moments(struct lm_cpu *c, double *a, int which);

/* What the ions feel beyond radiating sides: finds E and B of the push there from the strips and the array `b`; puts
 * component d of E or B (`is_b`) into the ghosts of `a`; does both for LM_PUSH_E and LM_PUSH_B. */
void lm_cpu_find_push_of_strips(struct lm_cpu *c, enum lm_array b);
void lm_cpu_push_of_strips(struct lm_cpu *c, double *a, int d, int is_b);
void lm_cpu_fill_push_of_strips(struct lm_cpu *c);

/* Their state, LM_STRIP_ARRAYS arrays of LM_STRIP_CELLS x lines cells; a strip without plasma has n = -1. */
void lm_cpu_get_strip(const struct lm_cpu *c, enum lm_side side, double *out);
void lm_cpu_put_strip(struct lm_cpu *c, enum lm_side side, const double *in);

/* The hash of what this process owns of their state, as field number `field` (larmor/physics/numerics/hash.h). */
uint64_t lm_cpu_hash_strip(const struct lm_cpu *c, enum lm_side side, int field);

#endif
