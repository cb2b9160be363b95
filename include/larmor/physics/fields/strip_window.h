/* The window of a radiating side (strip.h) as arrays, and the bodies of the loops over it: what is done in one cell or
 * in one line. The backends add the iteration and the memory.
 *
 * An array has lines along the side, with LM_GHOST more on both ends, and LM_STRIP_WINDOW cells across. A line is a
 * line of cells across the side, and has the number of the cell of the domain in which it begins. A function that reads
 * neighbours needs the images of the cells around (lm_strip_source).
 */
#ifndef LARMOR_PHYSICS_FIELDS_STRIP_WINDOW_H
#define LARMOR_PHYSICS_FIELDS_STRIP_WINDOW_H

#include "larmor/physics/fields/faraday.h"
#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/strip.h"
#include "larmor/physics/fields/time_step_limits.h"
#include "larmor/physics/numerics/cell_index.h"

enum { LM_STRIP_WINDOW_ARRAYS = 35, LM_STRIP_TABLES = 4, LM_STRIP_SPECIES = 16 /* that a run may have */ };

struct lm_strip_window {
    int side;
    struct lm_strip_place place;
    int lines, stride, across, along;   /* lines without ghosts; of the arrays; steps */
    int deep;                           /* cells of the domain across */
    long main, main_across, main_along; /* the arrays of the domain: element of position 0 in line 0; steps */
    int periodic;                       /* along the side */
    int is_fed;                         /* ions come in through the side */
    int held[2];                        /* the lines at the ends keep the state of the start: there plasma flows in */
    int leaves;                         /* at the upper end is a wall of the domain, and its line is not held */
    int own_from, own_to;               /* the lines that this process owns; none where it does not own the side */
    int whole_from, whole;              /* the line of the whole side that is own_from; lines of the whole side */
    long size;
    /* Tables of the positions: lm_strip_size, lm_strip_depth, 1/cell across, 1/distance to the next centre. */
    const double *cells, *depth, *inv_size, *inv_up;
    double *b[3], *stage[3], *result[3], *e[3], *curl[3], *motional[3], *u[3], *flux[3];
    double *next[4]; /* u and n of the end of a step */
    double *slip, *eta, *mixing, *per_density, *n;
    double *side_n; /* in the first cell inside: n_0 */
    double *mass;   /* in the first cell inside: mu; 0: the ions are given */
    struct lm_strip_step step;
};

/* What a strip reads of the domain, standing on element 0. */
struct lm_strip_domain {
    const double *floored, *per_density, *pressure; /* of the electrons of the last closure */
    const double *number[LM_STRIP_SPECIES];         /* densities */
    double mass[LM_STRIP_SPECIES], charge[LM_STRIP_SPECIES];
    int species_count;
    struct lm_view ion_current, b, push_e, push_b;
    double gamma, temperature[LM_SIDES]; /* of the electrons; gamma T of the ions at the sides */
    double passes;                       /* lm_strip_passes */
};

/* --- the window --- */

/* The lines of the process, and where they are along the whole side. */
LM_HD void lm_strip_window_own(struct lm_strip_window *w, const struct lm_grid *g)
{
    const int x = w->side / 2 == 0, along = x ? 1 : 0;
    w->own_from = x ? g->own.from_y : g->own.from_x;
    w->own_to = !lm_owns_side(g, w->side) ? w->own_from : x ? g->own.to_y : g->own.to_x;
    w->whole_from = lm_domain_along(&g->place, along, w->own_from);
    w->whole = x ? g->place.domain_ny : g->place.domain_nx;
}

/* What the sides at its ends do. The arrays of a process may end inside the domain. */
LM_HD void lm_strip_window_ends(struct lm_strip_window *w, const struct lm_grid *g, const struct lm_field_sides *sides)
{
    const int along = w->side / 2 == 0 ? 1 : 0, top = w->whole_from - w->own_from + w->lines == w->whole;
    w->periodic = !lm_field_walls(sides, along);
    w->is_fed = g->sides.of[w->side] == LM_INFLOW;
    for (int end = 0; end < 2; end++) {
        const int kind = sides->of[2 * along + end];
        w->held[end] = kind == LM_FIELDS_INFLOW || kind == LM_INFLOW_B || kind == LM_INFLOW_E;
    }
    w->leaves = !w->periodic && !w->held[1] && top && w->lines > 1;
}

/* All but the arrays and the tables. The grid is that of the arrays of a process (src/ranks/partition.h), which reach
 * the side. */
LM_HD void lm_strip_window_make(struct lm_strip_window *w, int side, const struct lm_grid *g,
                                const struct lm_field_sides *sides, const struct lm_ohm *o)
{
    const int x = side / 2 == 0, lines = x ? g->ny : g->nx;
    const double cell = x ? g->dx : g->dy;
    w->side = side;
    w->place = lm_strip_place(side, g->nx, g->ny);
    w->lines = lines;
    lm_strip_window_own(w, g);
    lm_strip_window_ends(w, g, sides);
    w->stride = x ? LM_STRIP_WINDOW : lines + 2 * LM_GHOST;
    w->across = x ? 1 : w->stride;
    w->along = x ? w->stride : 1;
    w->deep = x ? g->nx : g->ny;
    w->main_across = x ? 1 : g->stride;
    w->main_along = x ? g->stride : 1;
    w->main = LM_GHOST * ((long)g->stride + 1) + w->place.main * w->main_across;
    w->size = (long)LM_STRIP_WINDOW * (lines + 2 * LM_GHOST);
    w->step.cell = cell;
    w->step.along = x ? g->dy : g->dx;
    w->step.inv_along = 1.0 / w->step.along;
    w->step.k2_along = lm_largest_k2(g, x ? 0.0 : 1.0 / g->dx, x ? 1.0 / g->dy : 0.0);
    w->step.dt = w->step.substep = 0.0;
    w->step.floor = o->floor;
    w->step.alfven = o->alfven_floor;
}

/* The values of the tables, one after the other. */
LM_HD void lm_strip_find_tables(const struct lm_strip_window *w, double tables[LM_STRIP_TABLES * LM_STRIP_WINDOW])
{
    double *const cells = tables, *const depth = cells + LM_STRIP_WINDOW, *const inv_size = depth + LM_STRIP_WINDOW,
                  *const inv_up = inv_size + LM_STRIP_WINDOW;
    const double cell = w->step.cell;
    for (int p = 0; p < LM_STRIP_WINDOW; p++) {
        cells[p] = lm_strip_size(lm_strip_number(w->place, p));
        depth[p] = lm_strip_depth(lm_strip_number(w->place, p));
    }
    for (int p = 0; p < LM_STRIP_WINDOW; p++) {
        inv_size[p] = 1.0 / (cell * cells[p]);
        inv_up[p] = 2.0 / (cell * (cells[p] + cells[p + 1 < LM_STRIP_WINDOW ? p + 1 : p]));
    }
}

LM_HD size_t lm_strip_window_length(const struct lm_strip_window *w)
{
    return (size_t)LM_STRIP_WINDOW_ARRAYS * (size_t)w->size + (size_t)LM_STRIP_TABLES * LM_STRIP_WINDOW;
}

/* The arrays, in a cleared memory of lm_strip_window_length values. Returns where the tables are, which come last. */
LM_HD double *lm_strip_window_place(struct lm_strip_window *w, double *memory)
{
    double **const vectors[] = {w->b, w->stage, w->result, w->e, w->curl, w->motional, w->u, w->flux, w->next};
    double **const scalars[] = {&w->next[3],     &w->slip, &w->eta,    &w->mixing,
                                &w->per_density, &w->n,    &w->side_n, &w->mass};
    for (int v = 0; v < 9; v++)
        for (int d = 0; d < 3; d++, memory += w->size)
            vectors[v][d] = memory;
    for (int v = 0; v < 8; v++, memory += w->size)
        *scalars[v] = memory;
    w->cells = memory;
    w->depth = memory + LM_STRIP_WINDOW;
    w->inv_size = memory + 2 * LM_STRIP_WINDOW;
    w->inv_up = memory + 3 * LM_STRIP_WINDOW;
    return memory;
}

LM_HD long lm_strip_at(const struct lm_strip_window *w, int p, int line)
{
    return (long)p * w->across + (long)(line + LM_GHOST) * w->along;
}

/* The element of the domain's arrays. */
LM_HD long lm_strip_at_main(const struct lm_strip_window *w, int p, int line)
{
    return w->main + p * w->main_across + line * w->main_along;
}

/* From one of the first cells of the strip to the next one. */
LM_HD int lm_strip_out(const struct lm_strip_window *w)
{
    return w->place.high ? 1 : -1;
}

/* Lines beyond each end of the side whose cells in the domain are images. */
LM_HD int lm_strip_ends(const struct lm_strip_window *w)
{
    return w->periodic ? LM_GHOST : 0;
}

LM_HD struct lm_view lm_strip_view(const struct lm_strip_window *w, double *const a[3])
{
    struct lm_view v;
    v.x = a[0], v.y = a[1], v.z = a[2], v.s = w->stride;
    return v;
}

LM_HD struct lm_vector lm_strip_vector(double *const a[3], long k)
{
    struct lm_vector v;
    v.x = a[0][k], v.y = a[1][k], v.z = a[2][k];
    return v;
}

LM_HD void lm_strip_put(double *const a[3], long k, struct lm_vector v)
{
    a[0][k] = v.x;
    a[1][k] = v.y;
    a[2][k] = v.z;
}

LM_HD struct lm_vector lm_strip_of_main(struct lm_view v, long k)
{
    struct lm_vector r;
    r.x = v.x[k], r.y = v.y[k], r.z = v.z[k];
    return r;
}

LM_HD const double *lm_strip_component(const struct lm_view *v, int d)
{
    return d == 0 ? v->x : d == 1 ? v->y : v->z;
}

/* An entry of a table of the window where the axis is the one across, else 1 over the cell along the side. */
LM_HD double lm_strip_inverse(const struct lm_strip_window *w, const double *table, int axis, int p)
{
    return axis == w->place.axis ? table[p] : w->step.inv_along;
}

LM_HD double lm_strip_square(struct lm_vector v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

/* Cells behind the last one, and those in lines beyond both ends, are images of cells in [from, from + LM_STRIP_CELLS)
 * across and [0, lines) along: *p and *line become those of such a cell. Returns 0 for positions in front of these. */
LM_HD int lm_strip_source(const struct lm_strip_window *w, int from, int lines, int *p, int *line)
{
    const int last = from + LM_STRIP_CELLS - 1;
    if (w->place.high ? *p < from : *p > last)
        return 0;
    *p = *p < from ? from : *p > last ? last : *p;
    if (w->periodic)
        *line = lm_wrap_seldom(*line, w->lines);
    else
        *line = *line < 0 ? 0 : *line < lines ? *line : lines - 1;
    return 1;
}

/* The lines of components with nodes on walls at the ends (`on_wall`) or between them. On a wall that plasma leaves
 * through, a node has the value of the line before, so that what the plasma takes along goes out. */
LM_HD int lm_strip_lines(const struct lm_strip_window *w, int on_wall)
{
    return w->lines - (on_wall && w->leaves);
}

LM_HD int lm_strip_lines_of_b(const struct lm_strip_window *w, int component)
{
    return lm_strip_lines(w, component != 1 - w->place.axis);
}

LM_HD int lm_strip_lines_of_e(const struct lm_strip_window *w, int component)
{
    return lm_strip_lines(w, component == 1 - w->place.axis);
}

/* Whether no plasma is beyond the side in a line. The domain takes nothing from there. */
LM_HD int lm_strip_is_empty(const struct lm_strip_window *w, int line)
{
    return w->n[lm_strip_at(w, lm_strip_last_inside(w->place) + lm_strip_out(w), lm_wrap_seldom(line, w->lines))] ==
           0.0;
}

/* Whether B of component d in a line is that outside. A node between two lines needs both to be empty. */
LM_HD int lm_strip_has_outer_b(const struct lm_strip_window *w, int d, int line)
{
    const int next = w->periodic || line + 1 < w->lines ? line + 1 : line;
    return lm_strip_is_empty(w, line) && (d == 1 - w->place.axis || lm_strip_is_empty(w, next));
}

/* The element of the domain's arrays where B along the side is that outside, the one of the start. */
LM_HD long lm_strip_outside(const struct lm_strip_window *w, int line)
{
    return lm_strip_at_main(w, lm_strip_last_inside(w->place) + 2 * lm_strip_out(w), line);
}

/* --- the state --- */

enum { LM_STRIP_ROWS = LM_STRIP_ARRAYS * LM_STRIP_CELLS, LM_STRIP_ROWS_OF_B = 3 * LM_STRIP_CELLS };

/* The state is in rows along the side: row LM_STRIP_CELLS a + c has cell c across of array a. */
LM_HD double *lm_strip_row_value(const struct lm_strip_window *w, int row, int line)
{
    const int array = row / LM_STRIP_CELLS, p = row % LM_STRIP_CELLS;
    double *const a = array < 3 ? w->b[array] : array < 6 ? w->u[array - 3] : w->n;
    const int first = array < 3 ? lm_strip_first_b(w->place, array) : w->place.first;
    return a + lm_strip_at(w, first + p, line);
}

LM_HD long lm_strip_values(const struct lm_strip_window *w)
{
    return (long)LM_STRIP_ROWS * w->lines;
}

/* Value number m of the state, row after row. */
LM_HD double *lm_strip_value(const struct lm_strip_window *w, long m)
{
    return lm_strip_row_value(w, (int)(m / w->lines), (int)(m % w->lines));
}

/* The same for others to see: a strip without plasma has n = -1. */
LM_HD double lm_strip_shown_value(const struct lm_strip_window *w, int started, int row, int line)
{
    return started ? *lm_strip_row_value(w, row, line) : row / LM_STRIP_CELLS == LM_STRIP_ARRAYS - 1 ? -1.0 : 0.0;
}

LM_HD double lm_strip_shown(const struct lm_strip_window *w, int started, long m)
{
    return lm_strip_shown_value(w, started, (int)(m / w->lines), (int)(m % w->lines));
}

/* Own value number m of the state: its number in that of the whole side, and what others see. */
struct lm_strip_own_value {
    long number;
    double value;
};

LM_HD long lm_strip_own_values(const struct lm_strip_window *w)
{
    return (long)LM_STRIP_ROWS * (w->own_to - w->own_from);
}

LM_HD struct lm_strip_own_value lm_strip_own(const struct lm_strip_window *w, int started, long m)
{
    const int lines = w->own_to - w->own_from, row = (int)(m / lines), line = (int)(m % lines);
    struct lm_strip_own_value v;
    v.number = (long)row * w->whole + w->whole_from + line;
    v.value = lm_strip_shown_value(w, started, row, w->own_from + line);
    return v;
}

/* Whether a line keeps the state of the start. */
LM_HD int lm_strip_is_held(const struct lm_strip_window *w, int line)
{
    return (w->held[0] & (line == 0)) | (w->held[1] & (line == w->lines - 1));
}

/* --- E and B in a stage --- */

/* Whether B of component d at position p belongs to the domain. */
LM_HD int lm_strip_has_main_b(const struct lm_strip_window *w, int d, int p)
{
    const int first = lm_strip_first_b(w->place, d);
    return w->place.high ? p < first : p >= first + LM_STRIP_CELLS;
}

LM_HD struct lm_vector lm_strip_curl(const struct lm_strip_window *w, struct lm_view b, int p, long k)
{
    return lm_curl_b(lm_view_at(b, k), lm_strip_inverse(w, w->inv_size, 0, p), lm_strip_inverse(w, w->inv_size, 1, p));
}

LM_HD struct lm_motional lm_strip_motional(const struct lm_strip_window *w, struct lm_view b, long k)
{
    return lm_motional_field(lm_view_at(lm_strip_view(w, w->curl), k), lm_view_at(b, k), lm_strip_vector(w->flux, k),
                             w->per_density[k]);
}

/* The position of E through the side. */
LM_HD int lm_strip_wall(const struct lm_strip_window *w)
{
    return w->place.high ? w->place.first - 1 : w->place.first + LM_STRIP_CELLS - 1;
}

LM_HD struct lm_vector lm_strip_electric(const struct lm_strip_window *w, struct lm_view b, int p, long k)
{
    struct lm_ohm_view v;
    v.motional = lm_strip_view(w, w->motional);
    v.b = b;
    v.j = lm_strip_view(w, w->curl);
    v.slip = w->slip;
    v.eta = w->eta;
    v.pressure[0] = v.pressure[1] = NULL;
    return lm_strip_field(w->place.axis, w->inv_size[p], w->step.inv_along, w->per_density + k, lm_ohm_view_at(v, k));
}

/* dB/dt of component d at position p of a line. The arrays have E of the cell at element k. */
LM_HD double lm_strip_rate(const struct lm_strip_window *w, int d, int p, int line, long k)
{
    const struct lm_vector v = lm_faraday(lm_view_at(lm_strip_view(w, w->e), k), lm_strip_inverse(w, w->inv_up, 0, p),
                                          lm_strip_inverse(w, w->inv_up, 1, p));
    return lm_strip_is_held(w, line) ? 0.0 : d == 0 ? v.x : d == 1 ? v.y : v.z;
}

/* Component d of B at element k after a stage. `next` is that of the next stage. */
LM_HD void lm_strip_advance(const struct lm_strip_window *w, int number, struct lm_rk4 rk, int d, long k, double rate,
                            double *next)
{
    const double begin = w->b[d][k], sum = number == 0 ? begin : w->result[d][k];
    if (number < 3)
        next[k] = lm_rk4_next(rk, 0, begin, rate);
    *(number < 3 ? &w->result[d][k] : &w->b[d][k]) = lm_rk4_sum(rk, 0, sum, rate);
}

/* E that the domain takes in a line: `through` the side and, `along` it, in the ghost cells beyond. All of these have
 * the same, and no E is through them, so that B along the side keeps the bits of the start beyond it. */
LM_HD void lm_strip_give_e(const struct lm_strip_window *w, int d, int line, double through, double along, double *e)
{
    const int inside = lm_strip_last_inside(w->place), out = lm_strip_out(w), is_through = d == w->place.axis;
    for (int k = 1; k <= LM_GHOST; k++)
        e[lm_strip_at_main(w, inside + k * out, line)] = is_through ? 0.0 : along;
    if (is_through)
        e[lm_strip_at_main(w, lm_strip_wall(w), line)] = through;
}

/* E beyond both a radiating side and a wall that it meets: component d in the last column of the domain (k = 0) and in
 * the LM_GHOST ones beyond. */
LM_HD void lm_strip_fill_corner(const struct lm_strip_window *w, const struct lm_field_sides *sides, int d, int k,
                                double *e)
{
    const int p = lm_strip_last_inside(w->place) + k * lm_strip_out(w), axis = 1 - w->place.axis;
    const struct lm_line_end below = lm_line_end_of(sides, 2 * axis, d, LM_FILL_FARADAY),
                             above = lm_line_end_of(sides, 2 * axis + 1, d, LM_FILL_FARADAY);
    const int low = sides->of[2 * axis], high = sides->of[2 * axis + 1];
    const long step = w->main_along;
    double *const first = e + lm_strip_at_main(w, p, 0), *const last = first + (w->lines - 1) * step;
    if (low == LM_RADIATING && k > 0 && below.on_wall)
        first[-step] = first[0];
    for (int out = 1; out <= LM_GHOST && k > 0 && below.on_wall; out++) {
        if (low == LM_RADIATING && out > 1)
            first[-out * step] = 0.0;
        if (high == LM_RADIATING)
            last[out * step] = 0.0;
    }
    if (low != LM_RADIATING || (k > 0 && !below.on_wall))
        lm_fill_beyond(below.on_wall ? first - step : first, step, w->lines, below, LM_GHOST - below.on_wall);
    if (high != LM_RADIATING || (k > 0 && !below.on_wall))
        lm_fill_beyond(last, -step, w->lines, above, LM_GHOST);
}

/* Whether the strips of both sides of a corner are empty in the lines at it: then the rule of open sides holds there.
 */
LM_HD int lm_strip_corner_is_empty(const struct lm_strip_window *x, const struct lm_strip_window *y)
{
    const long in_x = lm_strip_at(x, lm_strip_last_inside(x->place), y->place.high ? x->lines - 1 : 0),
               in_y = lm_strip_at(y, lm_strip_last_inside(y->place), x->place.high ? y->lines - 1 : 0);
    return x->side_n[in_x] == 0.0 && y->side_n[in_y] == 0.0;
}

/* dB_z/dt at the node of the elements k of E. */
LM_HD double lm_strip_rate_of_bz(const struct lm_grid *g, const double *ex, const double *ey, long k)
{
    return (ex[k + g->stride] - ex[k]) / g->dy - (ey[k + 1] - ey[k]) / g->dx;
}

/* B_z in a corner of two radiating sides follows its neighbours on both: each strip has its own law there, and together
 * they let it grow. E_x beyond the corner, which changes nothing else, makes it do so. */
LM_HD void lm_strip_settle_corner(const struct lm_grid *g, int high_x, int high_y, const double *bz, double *ex,
                                  const double *ey, double substep)
{
    const int i = high_x ? g->nx - 1 : -1, j = high_y ? g->ny - 1 : -1;
    const long corner = (i + LM_GHOST) + (long)(j + LM_GHOST) * g->stride, in_x = corner + (high_x ? -1 : 1),
               in_y = corner + (high_y ? -g->stride : g->stride);
    const double rate = 0.5 * (lm_strip_rate_of_bz(g, ex, ey, in_x) + lm_strip_rate_of_bz(g, ex, ey, in_y)) +
                        (0.5 * (bz[in_x] + bz[in_y]) - bz[corner]) * (0.25 / substep),
                 change = (rate - lm_strip_rate_of_bz(g, ex, ey, corner)) * g->dy;
    for (int k = 0; k < LM_GHOST; k++)
        ex[high_y ? corner + (k + 1) * g->stride : corner - k * g->stride] += high_y ? change : -change;
}

/* --- what the ions of the domain meet at the side --- */

LM_HD double lm_strip_moment_of(const struct lm_strip_window *w, int which, long k)
{
    return which == 0 ? w->n[k] : w->n[k] * w->u[which - 1][k];
}

/* Moment `which` of all ions in a line, n or J_x, J_y, J_z, as deposited: what the ions of the strip add to it in the
 * last cell inside, and its ghosts. */
LM_HD void lm_strip_add_moments(const struct lm_strip_window *w, int which, double share, int line, double *a)
{
    const int inside = lm_strip_last_inside(w->place), out = lm_strip_out(w), from = lm_wrap_seldom(line, w->lines);
    double *const last = a + lm_strip_at_main(w, inside, line);
    if (lm_strip_is_empty(w, line))
        return;
    *last = lm_strip_moment(*last, lm_strip_moment_of(w, which, lm_strip_at(w, inside + out, from)), share);
    for (int k = 1; k <= LM_GHOST; k++)
        a[lm_strip_at_main(w, inside + k * out, line)] =
            lm_strip_moment_of(w, which, lm_strip_at(w, inside + k * out, from));
}

/* E and B of the push in ghost cell k of a line, from 1 on, into w->result and w->stage. Only from what a checkpoint
 * holds, so that a restarted run finds the same. */
LM_HD void lm_strip_find_push(const struct lm_strip_window *w, int k, int line)
{
    const long m = lm_strip_at(w, lm_strip_last_inside(w->place) + k * lm_strip_out(w), line);
    const struct lm_view b = lm_strip_view(w, w->b);
    struct lm_strip_step step = w->step;
    step.substep = 0.0;
    const struct lm_vector centre = lm_b_centre(lm_view_at(b, m));
    const double per_density = lm_strip_per_density(w->n[m], lm_strip_square(centre), 1.0, &step),
                 n = lm_inverse(per_density > 0.0 ? per_density : 1.0);
    const struct lm_vector ji = {n * w->u[0][m], n * w->u[1][m], n * w->u[2][m]};
    const struct lm_motional f =
        lm_motional_field(lm_view_at(lm_strip_view(w, w->curl), m), lm_view_at(b, m), ji, per_density);
    lm_strip_put(w->result, m, lm_with_slip(f.field, f.slip, centre.x, centre.y));
    lm_strip_put(w->stage, m, centre);
}

/* These in the ghosts of component d of E or B (`is_b`). */
LM_HD void lm_strip_put_push(const struct lm_strip_window *w, int d, int is_b, int k, int line, double *a)
{
    const int p = lm_strip_last_inside(w->place) + k * lm_strip_out(w);
    if (lm_strip_is_empty(w, line))
        return;
    a[lm_strip_at_main(w, p, line)] =
        (is_b ? w->stage : w->result)[d][lm_strip_at(w, p, lm_wrap_seldom(line, w->lines))];
}

/* --- the plasma of the side --- */

/* The cells of the domain whose mean is the plasma of the side: behind those where the shapes of particles that have
 * left are missing. A domain may have fewer cells. */
LM_HD int lm_strip_taken(const struct lm_strip_window *w, int k)
{
    const int last = lm_strip_last_inside(w->place);
    int in = LM_STRIP_BEHIND + k;
    in = in < w->deep ? in : w->deep - 1;
    return w->place.high ? last - in : last + in;
}

LM_HD double lm_strip_mean(const struct lm_strip_window *w, const double *main, int line)
{
    double sum = 0.0;
    for (int k = 0; k < LM_STRIP_TAKEN; k++)
        sum += main[lm_strip_at_main(w, lm_strip_taken(w, k), line)];
    return sum * (1.0 / LM_STRIP_TAKEN);
}

/* The mass of the ions for their charge. Both sums are over the same ions: the density of Ohm's law is smoothed, and
 * these cells may have much less of the ions, or none. Then all species count the same. */
LM_HD double lm_strip_mass_of_side(const struct lm_strip_window *w, const struct lm_strip_domain *from, int line)
{
    double mass = 0.0, charge = 0.0;
    for (int s = 0; s < from->species_count; s++) {
        const double n = lm_strip_mean(w, from->number[s], line);
        mass += from->mass[s] * n;
        charge += from->charge[s] * n;
    }
    const int none = charge == 0.0;
    for (int s = 0; none && s < from->species_count; s++) {
        mass += from->mass[s];
        charge += from->charge[s];
    }
    return charge > 0.0 ? mass * lm_inverse(charge) : 0.0;
}

/* Whether a line has no plasma beyond the side (strip.h). `started`: 0 in a new strip. */
LM_HD int lm_strip_has_no_plasma(const struct lm_strip_window *w, const struct lm_strip_domain *from, int started,
                                 int line)
{
    const long last = lm_strip_at_main(w, lm_strip_last_inside(w->place), line),
               k = lm_strip_at_main(w, lm_strip_taken(w, 0), line);
    const int was = started && lm_strip_is_empty(w, line);
    const double n = lm_strip_mean(w, from->floored, line),
                 b2 = lm_strip_square(lm_b_centre(lm_view_at(from->b, lm_strip_outside(w, line)))),
                 flow = lm_strip_mean(w, lm_strip_component(&from->ion_current, w->place.axis), line),
                 inwards = w->is_fed       ? 0.0
                           : w->place.high ? -flow
                                           : flow;
    if (from->per_density[last] == 0.0 || from->per_density[k] == 0.0)
        return 1;
    if (n < (was ? 2.0 : 1.0) * LM_STRIP_THIN * w->step.floor)
        return 1;
    return inwards > 0.0 && (was || inwards * inwards > LM_STRIP_INWARDS * n * b2);
}

/* n_0 and mu of the side, and n and u of the cell inside, in the window's cell inside. */
LM_HD void lm_strip_take_plasma(const struct lm_strip_window *w, const struct lm_strip_domain *from, int started,
                                int line)
{
    const int inside = lm_strip_last_inside(w->place);
    const long m = lm_strip_at(w, inside, line), k = lm_strip_at_main(w, inside, line);
    const double n = lm_strip_mean(w, from->floored, line);
    const int is_void = lm_strip_has_no_plasma(w, from, started, line);
    w->side_n[m] = is_void ? 0.0 : n;
    w->mass[m] = is_void ? 0.0 : lm_strip_mass_of_side(w, from, line);
    w->n[m] = is_void ? 0.0 : from->floored[k];
    for (int d = 0; d < 3; d++)
        w->u[d][m] = lm_strip_component(&from->ion_current, d)[k] * from->per_density[k];
}

/* A new strip has the plasma and B of the side in all its cells, but n, J_x, J_y and J_z are smoothed along the side:
 * the passes of the binomial filter; what is smoothed; a pass. `mean` has a value a line. */
enum { LM_STRIP_START_PASSES = 64, LM_STRIP_MEANS = 4 };

LM_HD double lm_strip_start_mean(const struct lm_strip_window *w, const struct lm_strip_domain *from, int which,
                                 int line)
{
    return lm_strip_mean(w, which == 0 ? from->floored : lm_strip_component(&from->ion_current, which - 1), line);
}

LM_HD double lm_strip_smoothed(const struct lm_strip_window *w, const double *mean, int line)
{
    const int up = w->periodic           ? lm_wrap_seldom(line + 1, w->lines)
                   : line + 1 < w->lines ? line + 1
                                         : line,
              down = w->periodic ? lm_wrap_seldom(line - 1, w->lines)
                     : line > 0  ? line - 1
                                 : 0;
    return 0.5 * mean[line] + 0.25 * (mean[down] + mean[up]);
}

/* Cell number c of a line of a new strip. `means` has the smoothed values of all lines, one array after the other. */
LM_HD void lm_strip_start(const struct lm_strip_window *w, const struct lm_strip_domain *from, const double *means,
                          int c, int line)
{
    const int inside = lm_strip_last_inside(w->place), wall = w->place.high ? inside : inside - 1;
    const double n = means[line];
    const long k = lm_strip_at(w, w->place.first + c, line);
    for (int d = 0; d < 3; d++) {
        const int from_p = d == w->place.axis ? inside : wall;
        w->b[d][lm_strip_at(w, lm_strip_first_b(w->place, d) + c, line)] =
            lm_strip_component(&from->b, d)[lm_strip_at_main(w, from_p, line)];
        w->u[d][k] = means[(long)(d + 1) * w->lines + line] / n;
    }
    w->n[k] = w->side_n[lm_strip_at(w, inside, line)] > 0.0 ? n : 0.0;
}

/* --- the ions --- */

LM_HD double lm_strip_mass(const struct lm_strip_window *w, int line)
{
    return w->mass[lm_strip_at(w, lm_strip_last_inside(w->place), line)];
}

/* c^2 of a pressure of the electrons and of ions of the temperature that the side has. */
LM_HD double lm_strip_sound2(const struct lm_strip_window *w, const struct lm_strip_domain *from, int line)
{
    const long k = lm_strip_at_main(w, lm_strip_taken(w, 0), line);
    const double mass = lm_strip_mass(w, line);
    const double electrons = from->gamma * from->pressure[k] * lm_inverse(from->floored[k]);
    return mass > 0.0 ? (electrons + from->temperature[w->side]) * lm_inverse(mass) : 0.0;
}

/* 1/n and the damping of a cell, from n, u and B as they stand. */
struct lm_strip_medium {
    double per_density;
    struct lm_strip_damping damping;
};

LM_HD struct lm_strip_medium lm_strip_find_medium(const struct lm_strip_window *w, const struct lm_strip_step *step,
                                                  double mass, double sound2, int p, int line)
{
    const long k = lm_strip_at(w, p, line);
    const double b2 = lm_strip_square(lm_b_centre(lm_view_at(lm_strip_view(w, w->b), k)));
    struct lm_strip_medium m;
    m.per_density = lm_strip_is_empty(w, line) ? 0.0 : lm_strip_per_density(w->n[k], b2, w->cells[p], step);
    const double u = w->u[w->place.axis][k],
                 speed = (u < 0.0 ? -u : u) + lm_sqrt(b2 * m.per_density / (mass > 0.0 ? mass : 1.0) + sound2);
    m.damping = lm_strip_damp(w->depth[p], w->cells[p], speed, b2, m.per_density, step);
    return m;
}

LM_HD struct lm_strip_ions lm_strip_ions_at(const struct lm_strip_window *w, int p, long k)
{
    struct lm_strip_ions i;
    i.n = w->n + k;
    i.u[0] = w->u[0] + k, i.u[1] = w->u[1] + k, i.u[2] = w->u[2] + k;
    i.mixing = w->mixing + k;
    i.axis = w->place.axis;
    i.across = w->across;
    i.along = w->along;
    i.inv_size = w->inv_size[p];
    i.up = w->inv_up[p];
    i.down = w->inv_up[p - 1];
    i.inv_along = w->step.inv_along;
    i.floor = w->step.floor;
    return i;
}

LM_HD struct lm_strip_filter lm_strip_filter_at(const struct lm_strip_window *w, double passes, int p)
{
    struct lm_strip_filter f;
    f.across = w->across;
    f.along = w->along;
    f.inv_size = w->inv_size[p];
    f.up = w->inv_up[p];
    f.down = w->inv_up[p - 1];
    f.scale = 0.25 * passes * w->step.cell * w->step.cell;
    f.scale_along = 0.25 * passes;
    return f;
}

/* u half a step later, for the E that pushes the ions. The cells inside keep their u. */
LM_HD struct lm_vector lm_strip_predict(const struct lm_strip_window *w, double dt, double mass, long k)
{
    const struct lm_vector b = lm_b_centre(lm_view_at(lm_strip_view(w, w->b), k));
    const double h = mass > 0.0 ? 0.5 * dt * w->per_density[k] * lm_inverse(mass) : 0.0,
                 x = lm_interp_down(w->curl[0] + k, 1), y = lm_interp_down(w->curl[1] + k, w->stride),
                 z = w->curl[2][k];
    struct lm_vector u;
    u.x = w->u[0][k] + h * (y * b.z - z * b.y);
    u.y = w->u[1][k] + h * (z * b.x - x * b.z);
    u.z = w->u[2][k] + h * (x * b.y - y * b.x);
    return u;
}

/* A moment n u as Ohm's law takes it; n here is that of 1/n. `u` stands on element 0. */
LM_HD double lm_strip_moving(const struct lm_strip_window *w, double passes, const double *u, int p, long k)
{
    const struct lm_strip_filter f = lm_strip_filter_at(w, passes, p);
    const double per_density = w->per_density[k];
    return per_density > 0.0 ? lm_strip_filtered(&f, u + k) * lm_inverse(per_density) : 0.0;
}

/* E and B at the centre, from n u, B and J as they stand. */
struct lm_strip_centre {
    struct lm_vector e, b;
};

LM_HD struct lm_strip_centre lm_strip_find_centre(const struct lm_strip_window *w, long k)
{
    const struct lm_view b = lm_strip_view(w, w->b);
    const struct lm_motional f = lm_strip_motional(w, b, k);
    struct lm_strip_centre c;
    c.b = lm_b_centre(lm_view_at(b, k));
    c.e = lm_with_slip(f.field, f.slip, c.b.x, c.b.y);
    return c;
}

LM_HD struct lm_vector lm_strip_filtered_vector(const struct lm_strip_filter *f, double *const a[3], long k)
{
    struct lm_vector v;
    v.x = lm_strip_filtered(f, a[0] + k), v.y = lm_strip_filtered(f, a[1] + k), v.z = lm_strip_filtered(f, a[2] + k);
    return v;
}

/* u of a void: that of the plasma around, which flows in with it. */
LM_HD struct lm_vector lm_strip_void_velocity(const struct lm_strip_window *w, long k)
{
    const long around[4] = {k - w->across, k + w->across, k - w->along, k + w->along};
    struct lm_vector u = {0.0, 0.0, 0.0};
    double n = 0.0;
    for (int a = 0; a < 4; a++) {
        const double there = w->n[around[a]];
        n += there;
        u.x += there * w->u[0][around[a]];
        u.y += there * w->u[1][around[a]];
        u.z += there * w->u[2][around[a]];
    }
    const double per = n > 0.0 ? lm_inverse(n) : 0.0;
    u.x *= per, u.y *= per, u.z *= per;
    return u;
}

/* u after a step, from E and B at the centres in w->result and w->stage. Given ions have the u of the side, and those
 * of a void none. */
LM_HD struct lm_vector lm_strip_moved(const struct lm_strip_window *w, double passes, double dt, double mass,
                                      double sound2, int p, int line)
{
    const long k = lm_strip_at(w, p, line);
    const struct lm_strip_ions ions = lm_strip_ions_at(w, p, k);
    const struct lm_strip_filter f = lm_strip_filter_at(w, passes, p);
    struct lm_vector u = lm_strip_vector(w->u, lm_strip_at(w, lm_strip_last_inside(w->place), line));
    if (lm_strip_is_held(w, line))
        return lm_strip_vector(w->u, k);
    if (w->per_density[k] == 0.0)
        u = lm_strip_void_velocity(w, k);
    else if (mass > 0.0)
        u = lm_strip_velocity(&ions, lm_strip_filtered_vector(&f, w->result, k),
                              lm_strip_filtered_vector(&f, w->stage, k), mass, sound2, dt);
    return u;
}

/* n after a step. */
LM_HD double lm_strip_filled(const struct lm_strip_window *w, double dt, int p, int line)
{
    const long m = lm_strip_at(w, lm_strip_last_inside(w->place), line), k = lm_strip_at(w, p, line);
    const struct lm_strip_ions ions = lm_strip_ions_at(w, p, k);
    if (lm_strip_is_held(w, line))
        return w->n[k];
    return w->mass[m] > 0.0 ? lm_strip_density(&ions, w->side_n[m], dt) : w->side_n[m];
}

#endif
