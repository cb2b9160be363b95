/* What is open of the cells and faces that bodies cut (larmor/physics/fluid/opening.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/physics/fluid/absorption.h"
#include "larmor/physics/fluid/opening.h"
#include "larmor/physics/numerics/cell_index.h"
#include "larmor/physics/particles/cut.h"

enum { MOST_TAKEN = 3 };

static const int step_to[LM_SIDES][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

struct maker {
    const struct lm_grid *g;
    const struct lm_bodies *b;
};

/* The part of a face that is open, from `low` to `high` in units of 2^-LM_CUT_BITS of its length. */
struct part {
    int64_t low, high;
};

int lm_any_cut(const struct lm_grid *g, const struct lm_bodies *b)
{
    int any = 0;
    for (size_t k = 0; k < g->cells && b->obstacles.of; k++)
        any |= b->obstacles.of[k] & LM_CUT;
    return any != 0;
}

/* The number of the cell that cell (i, j) is or stands for; -1 beyond a side that is not periodic. */
static long number_of(const struct maker *m, int i, int j)
{
    const struct lm_grid *g = m->g;
    if (g->sides.of[LM_X_MIN] != LM_PERIODIC && (i < 0 || i >= g->nx))
        return -1;
    if (g->sides.of[LM_Y_MIN] != LM_PERIODIC && (j < 0 || j >= g->ny))
        return -1;
    return (long)lm_wrap(j, g->ny) * g->nx + lm_wrap(i, g->nx);
}

static int is_body(const struct maker *m, int i, int j)
{
    const long cell = number_of(m, i, j);
    return cell >= 0 && m->b->mask[cell] != 0;
}

/* What particles meet in a cell (larmor/body.h): nothing beyond the domain. */
static int obstacle_at(const struct maker *m, long cell)
{
    return cell < 0 ? 0 : m->b->obstacles.of ? m->b->obstacles.of[cell] : m->b->mask[cell];
}

/* Whether no body is in cell (i, j) or around it: then nothing is cut, and nothing needs to be searched. 0 at sides. */
static int is_free(const struct maker *m, int i, int j)
{
    const uint8_t *of = lm_obstacles_of(m->b);
    const int nx = m->g->nx;
    int any = 0;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= m->g->ny - 1)
        return 0;
    for (int b = j - 1; b <= j + 1; b++)
        for (int a = i - 1; a <= i + 1; a++)
            any |= of[(size_t)b * (size_t)nx + (size_t)a];
    return !any;
}

/* --- faces --- */

/* What is open of a side of cell (i, j). Beyond the domain all is. */
static struct part part_of_side(const struct maker *m, int i, int j, int side)
{
    const long cell = number_of(m, i, j);
    const int of = obstacle_at(m, cell);
    struct part p = {0, of ? 0 : LM_CUT_ONE};
    if (of & LM_CUT && lm_cut_opening(&m->b->obstacles.cut[cell], side, &p.low, &p.high) == 0)
        p.low = p.high = 0;
    return p;
}

/* What is open of the upper face of cell (i, j) along an axis: for both of its cells. */
static struct part part_of_face(const struct maker *m, int axis, int i, int j)
{
    const struct part a = part_of_side(m, i, j, 2 * axis + 1), b = part_of_side(m, i + !axis, j + axis, 2 * axis);
    return a.high - a.low < b.high - b.low ? a : b;
}

static int is_closed(const struct maker *m, int axis, int i, int j)
{
    const struct part p = part_of_face(m, axis, i, j);
    return is_body(m, i, j) || is_body(m, i + !axis, j + axis) ||
           (double)(p.high - p.low) < (double)LM_LEAST_OPENING * LM_CUT_ONE;
}

/* How far the surface is from the end of face (i, j) along the line of the face, in the direction `step` (1 or -1):
 * over closed faces, in units of 2^-LM_CUT_BITS. -1 if it is farther than MOST_TAKEN faces away, as along a line that
 * runs beside it. */
static int64_t way_to_surface(const struct maker *m, int axis, int i, int j, int step)
{
    int64_t sum = 0;
    for (int n = 1; n <= MOST_TAKEN; n++) {
        const int a = i + axis * step * n, b = j + !axis * step * n;
        const struct part p = part_of_face(m, axis, a, b);
        if ((number_of(m, a, b) < 0 && number_of(m, a + !axis, b + axis) < 0) || !is_closed(m, axis, a, b))
            return -1;
        if (p.high > p.low && (step > 0 ? p.low > 0 : p.high < LM_CUT_ONE))
            return -1; /* open at its other end only */
        sum += p.high - p.low;
        if (p.high - p.low < LM_CUT_ONE)
            return sum;
    }
    return -1;
}

/* What a face gets of the closed ones beyond an end. */
static int64_t taken(const struct maker *m, int axis, int i, int j, int step)
{
    const int64_t way = way_to_surface(m, axis, i, j, step);
    return way > 0 ? way : 0;
}

static float length_of(const struct maker *m, int axis, int i, int j)
{
    if (is_closed(m, axis, i, j))
        return 0;
    const struct part p = part_of_face(m, axis, i, j);
    return (float)(p.high - p.low + taken(m, axis, i, j, -1) + taken(m, axis, i, j, 1)) / (float)LM_CUT_ONE;
}

/* --- flows between corners and the surface --- */

/* A flow between a corner and the surface, psi at the corner less psi of the body: `length` times the velocity on the
 * upper face of cell (i, j) along an axis. Length 0: there is none. */
struct link {
    int axis, i, j;
    double length;
};

/* Takes the way from the face (i, j), which ends at the corner, in the direction `step`, if it is shorter. */
static void try_way(const struct maker *m, int axis, int i, int j, int step, struct link *best, int64_t *shortest)
{
    if (is_closed(m, axis, i, j) || number_of(m, i, j) < 0 || number_of(m, i + !axis, j + axis) < 0)
        return;
    const int64_t way = way_to_surface(m, axis, i, j, step);
    if (way < 0 || way >= *shortest)
        return;
    *shortest = way;
    *best = (struct link){axis, i, j, (axis == 0 ? -step : step) * (double)way / LM_CUT_ONE};
}

/* The flow between the corner (i + 1/2, j + 1/2) and the surface. */
static struct link link_of(const struct maker *m, int i, int j)
{
    struct link best = {0, i, j, 0};
    int64_t shortest = INT64_MAX;
    try_way(m, 0, i, j + 1, -1, &best, &shortest);
    try_way(m, 0, i, j, 1, &best, &shortest);
    try_way(m, 1, i + 1, j, -1, &best, &shortest);
    try_way(m, 1, i, j, 1, &best, &shortest);
    return best;
}

/* Adds what belongs to the upper face of cell (i, j) at an end of it. */
static void pass_end(const struct maker *m, int axis, int i, int j, int end, struct lm_passage *to)
{
    const int a = axis == 0 || end ? i : i - 1, b = axis == 1 || end ? j : j - 1; /* the corner there */
    const struct link l = link_of(m, a, b);
    const double length = (end ? -1 : 1) * (axis == 0 ? 1 : -1) * l.length;
    if (length == 0)
        return;
    if (l.axis == axis) {
        to->own[axis] += (float)length;
        return;
    }
    to->other[axis][end] = (float)length;
    to->which[axis][end] = (int8_t)(1 + (axis == 0 ? l.i > a : l.j > b));
}

static void pass_face(const struct maker *m, int axis, int i, int j, struct lm_passage *to)
{
    const struct part p = part_of_face(m, axis, i, j);
    if (is_closed(m, axis, i, j))
        return;
    to->own[axis] = (float)(p.high - p.low) / (float)LM_CUT_ONE;
    for (int end = 0; end < 2; end++)
        pass_end(m, axis, i, j, end, to);
}

void lm_passages_fill(const struct lm_grid *g, const struct lm_bodies *bodies, struct lm_passage *passage)
{
    const struct maker m = {g, bodies};
    memset(passage, 0, g->size * sizeof *passage);
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            struct lm_passage *to = &passage[lm_at(g, i, j)];
            if (is_free(&m, i, j)) {
                to->own[0] = to->own[1] = 1;
                continue;
            }
            for (int axis = 0; axis < 2; axis++)
                pass_face(&m, axis, i, j, to);
        }
}

/* The velocity that passes the upper face of the cell at k. v: of both axes. */
static double passing(const struct lm_grid *g, const struct lm_cuts *cuts, double *const v[2], int axis, size_t k)
{
    const struct lm_passage *p = &cuts->passage[k];
    double other[2] = {0, 0};
    for (int end = 0; end < 2; end++)
        if (p->which[axis][end])
            other[end] = v[!axis][lm_other_face(axis, end, p->which[axis][end], (long)k, g->stride)];
    return lm_passing_velocity(p, &cuts->open[k], axis, v[axis][k], other);
}

int lm_background_pass(const struct lm_grid *g, struct lm_cuts cuts, double *vx, double *vy)
{
    double *const to[2] = {vx, vy}, *v[2] = {NULL, NULL};
    if (!cuts.open)
        return LM_OK;
    for (int axis = 0; axis < 2; axis++)
        v[axis] = malloc(g->size * sizeof *vx);
    const int status = v[0] && v[1] ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a flow");
    for (int axis = 0; axis < 2 && !status; axis++)
        memcpy(v[axis], to[axis], g->size * sizeof *vx);
    for (int j = -1; j < g->ny && !status; j++)
        for (int i = -1; i < g->nx; i++)
            for (int axis = 0; axis < 2; axis++) {
                const size_t k = lm_at(g, i, j);
                if ((axis == 0 ? j : i) >= 0 && lm_is_passage(&cuts.passage[k], &cuts.open[k], axis))
                    to[axis][k] = passing(g, &cuts, v, axis, k);
            }
    free(v[0]);
    free(v[1]);
    return status;
}

/* --- cells --- */

static double part_of_cell(const struct maker *m, long cell)
{
    return lm_plasma_part(m->b->obstacles.of[cell], &m->b->obstacles.cut[cell]);
}

/* The directions in which what is open of a cell of a body may go: where its surface faces, first the main one. */
static void directions(const struct lm_body_cut *cut, int side[2])
{
    const struct lm_cut_line l = lm_cut_line_of(cut);
    side[0] = lm_cut_direction(cut);
    side[1] = side[0] < LM_Y_MIN ? LM_Y_MIN + (l.b < 0) : l.a < 0;
}

/* Whether what is open of cell (i, j) belongs to the cell on a side of it. */
static int goes_to(const struct maker *m, int i, int j, int to)
{
    const long cell = number_of(m, i, j);
    int side[2];
    if (cell < 0 || !m->b->mask[cell] || !(m->b->obstacles.of[cell] & LM_CUT))
        return 0;
    directions(&m->b->obstacles.cut[cell], side);
    for (int k = 0; k < 2; k++) {
        const int a = i + step_to[side[k]][0], b = j + step_to[side[k]][1];
        if (number_of(m, a, b) >= 0 && !is_body(m, a, b))
            return side[k] == to;
    }
    return 0;
}

static float volume_of(const struct maker *m, int i, int j)
{
    const long cell = number_of(m, i, j);
    if (cell < 0 || m->b->mask[cell])
        return 1;
    double volume = part_of_cell(m, cell);
    for (int d = 0; d < LM_SIDES; d++) {
        const int a = i + step_to[d][0], b = j + step_to[d][1];
        if (goes_to(m, a, b, d ^ 1))
            volume += part_of_cell(m, number_of(m, a, b));
    }
    return fminf(fmaxf((float)volume, LM_LEAST_VOLUME), LM_MOST_VOLUME);
}

void lm_openings_fill(const struct lm_grid *g, const struct lm_bodies *bodies, struct lm_opening *open)
{
    const struct maker m = {g, bodies};
    for (size_t k = 0; k < g->size; k++)
        open[k] = (struct lm_opening){1, 1, 1};
    for (int j = -1; j <= g->ny; j++)
        for (int i = -1; i <= g->nx; i++)
            if (!is_free(&m, i, j))
                open[lm_at(g, i, j)] =
                    (struct lm_opening){volume_of(&m, i, j), length_of(&m, 0, i, j), length_of(&m, 1, i, j)};
}

static double open_length(const struct maker *m, int i, int j, int side)
{
    const struct part p = part_of_side(m, i, j, side);
    return (double)(p.high - p.low) / LM_CUT_ONE;
}

/* Adds a surface of the body `of` (lm_obstacles' `of`), with its normal times its length. */
static void add_surface(const struct maker *m, int of, double x, double y, struct lm_surface_cell *to)
{
    const int body = (of & ~LM_CUT) - 1;
    int n = 0;
    if (m->b->particles[body] != LM_ABSORBING)
        return;
    while (n < to->surfaces && (n < LM_MOST_FACINGS - 1) &&
           x * (double)to->normal[n][0] + y * (double)to->normal[n][1] <= 0)
        n++;
    to->normal[n][0] += (float)x;
    to->normal[n][1] += (float)y;
    if (n == to->surfaces)
        to->surfaces++;
}

/* Adds the surfaces in cell (i, j) and on its sides: a line that cuts it, and what is open of a side, but not of the
 * other cell there. */
static void add_surfaces(const struct maker *m, int i, int j, struct lm_surface_cell *to)
{
    const long cell = number_of(m, i, j);
    const int of = obstacle_at(m, cell);
    if (of & LM_CUT) {
        const struct lm_cut_line line = lm_cut_line_of(&m->b->obstacles.cut[cell]);
        add_surface(m, of, (double)line.a / LM_CUT_ONE, (double)line.b / LM_CUT_ONE, to);
    }
    for (int side = 0; side < LM_SIDES; side++) {
        const int a = i + step_to[side][0], b = j + step_to[side][1];
        const double more = open_length(m, i, j, side) - open_length(m, a, b, side ^ 1);
        if (more > 0)
            add_surface(m, obstacle_at(m, number_of(m, a, b)), more * step_to[side][0], more * step_to[side][1], to);
    }
}

/* The surfaces of a cell of plasma. The open part of a body's cell beside it may belong to it (goes_to): then the
 * surfaces there are among them. */
static struct lm_surface_cell surface_cell(const struct maker *m, const struct lm_opening *open, int i, int j)
{
    const size_t k = lm_at(m->g, i, j);
    struct lm_surface_cell c = {.k = (uint32_t)k, .volume = (float)lm_volume_at(open, (long)k)};
    add_surfaces(m, i, j, &c);
    for (int side = 0; side < LM_SIDES && open; side++) {
        const int a = i + step_to[side][0], b = j + step_to[side][1];
        if (goes_to(m, a, b, side ^ 1))
            add_surfaces(m, a, b, &c);
    }
    return c;
}

/* Puts the sides of the domain at which cell (i, j) lies, and those of them that are surfaces. */
static void put_sides(const struct lm_grid *g, int surfaces, int i, int j, struct lm_surface_cell *to)
{
    const int at[LM_SIDES] = {i == 0, i == g->nx - 1, j == 0, j == g->ny - 1};
    for (int side = 0; side < LM_SIDES; side++)
        if (at[side] && lm_has_walls(&g->sides, side / 2) && lm_owns_side(g, side))
            to->at_side |= (uint8_t)(1 << side);
    to->closed = to->at_side & (uint8_t)surfaces;
}

/* Whether a body cuts the cell or shares a face with it. */
static int is_at_body(const struct maker *m, const struct lm_opening *open, int i, int j)
{
    if (!m->b->mask || is_free(m, i, j))
        return 0;
    return (obstacle_at(m, number_of(m, i, j)) & LM_CUT) || (open && open[lm_at(m->g, i, j)].volume != 1) ||
           is_body(m, i - 1, j) || is_body(m, i + 1, j) || is_body(m, i, j - 1) || is_body(m, i, j + 1);
}

static void put_neighbours(const struct maker *m, int i, int j, struct lm_surface_cell *to)
{
    for (int side = 0; side < LM_SIDES; side++) {
        const int a = i + step_to[side][0], b = j + step_to[side][1];
        if (number_of(m, a, b) >= 0 && !(m->b->mask && is_body(m, a, b)))
            to->beside[side] = (uint32_t)lm_at(m->g, lm_wrap(a, m->g->nx), lm_wrap(b, m->g->ny));
    }
}

size_t lm_surface_cells(const struct lm_grid *g, const struct lm_bodies *bodies, const struct lm_opening *open,
                        int surfaces, struct lm_surface_cell *to)
{
    const struct maker m = {g, bodies};
    size_t count = 0;
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            const int at_body = is_at_body(&m, open, i, j);
            struct lm_surface_cell c = {.k = (uint32_t)lm_at(g, i, j), .volume = 1};
            if (at_body && to)
                c = surface_cell(&m, open, i, j);
            put_sides(g, surfaces, i, j, &c);
            if ((!c.closed && !at_body) || (bodies->mask && is_body(&m, i, j)))
                continue;
            put_neighbours(&m, i, j, &c);
            if (to)
                to[count] = c;
            count++;
        }
    return count;
}

double lm_crowding(const struct lm_grid *g, const uint8_t *clearance, const struct lm_opening *open)
{
    double most = 1;
    for (int j = 0; j < g->ny && open; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const float x = open[k - 1].x + open[k].x, y = open[k - (size_t)g->stride].y + open[k].y;
            if (clearance[k])
                most = fmax(most, 0.5 * (double)fmaxf(x, y) / (double)open[k].volume);
        }
    return most;
}

/* --- both --- */

int lm_cuts_make(const struct lm_grid *g, const struct lm_bodies *bodies, struct lm_cuts *out)
{
    *out = (struct lm_cuts){NULL, NULL};
    if (!lm_any_cut(g, bodies))
        return LM_OK;
    *out = (struct lm_cuts){malloc(g->size * sizeof *out->open), malloc(g->size * sizeof *out->passage)};
    if (!out->open || !out->passage) {
        lm_cuts_free(out);
        return lm_fail(LM_FAILED, "not enough memory for the cells that bodies cut");
    }
    lm_openings_fill(g, bodies, out->open);
    lm_passages_fill(g, bodies, out->passage);
    return LM_OK;
}

void lm_cuts_free(struct lm_cuts *cuts)
{
    free(cuts->open);
    free(cuts->passage);
    *cuts = (struct lm_cuts){NULL, NULL};
}
