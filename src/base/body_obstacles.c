#include "base/body_obstacles.h"

#include <math.h>
#include <string.h>

#include "larmor/physics/numerics/cell_index.h"
#include "larmor/physics/particles/cut.h"

/* Places along each axis of a cell that are compared with its line; the distance from a corner of a cell within which a
 * surface goes through the corner; squares along each axis of a cell that weigh a shape. */
enum { PLACES = 16, NEAR_CORNER = LM_CUT_ONE >> 12, SQUARES = 16 };

struct maker {
    const struct lm_grid *g;
    const uint8_t *mask;
    const struct lm_body_places *places;
};

static int is_periodic(const struct lm_grid *g, int axis)
{
    return g->sides.of[2 * axis] == LM_PERIODIC;
}

/* A node of the cells that stands for node i along an axis: the same one for both periodic sides. */
static int node_inside(const struct lm_grid *g, int axis, int i)
{
    const int n = axis ? g->ny : g->nx;
    return is_periodic(g, axis) ? lm_wrap(i, n) : i;
}

static int is_solid(const struct maker *m, double x, double y)
{
    return m->places->smooth(m->places->shapes, x, y) != 0;
}

static int corner_is_solid(const struct maker *m, int i, int j)
{
    return is_solid(m, node_inside(m->g, 0, i), node_inside(m->g, 1, j));
}

/* The place of a surface on the edge from node (i, j) along an axis, by bisection. It depends on nothing but the edge.
 * The two nodes differ. */
static uint32_t cross(const struct maker *m, int axis, int i, int j)
{
    const double x = node_inside(m->g, 0, i), y = node_inside(m->g, 1, j), unit = 1.0 / LM_CUT_ONE;
    const int first = corner_is_solid(m, i, j);
    uint32_t low = 0, high = LM_CUT_ONE;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (is_solid(m, axis ? x : x + middle * unit, axis ? y + middle * unit : y) == first)
            low = middle;
        else
            high = middle;
    }
    return high <= NEAR_CORNER ? 0 : high >= LM_CUT_ONE - NEAR_CORNER ? LM_CUT_ONE : high;
}

/* The line in cell (i, j). Returns 0 where a surface meets its edge in no place, or in more than two. */
static int find_line(const struct maker *m, int i, int j, struct lm_body_cut *cut)
{
    static const int corner[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    int solid[5], ends = 0;
    for (int k = 0; k < 5; k++)
        solid[k] = corner_is_solid(m, i + corner[k][0], j + corner[k][1]);
    for (int edge = 0; edge < 4; edge++) {
        if (solid[edge] == solid[edge + 1])
            continue;
        const int *at = corner[edge < 2 ? edge : (edge + 1) & 3]; /* the lower one of its nodes */
        const uint32_t place = (uint32_t)edge << 24 | cross(m, edge & 1, i + at[0], j + at[1]);
        *(solid[edge] ? &cut->to : &cut->from) = place;
        ends++;
    }
    return ends == 2;
}

/* What a cell is if it has this line: cut, or free or full where the line leaves nothing of one part. */
static int kind_of(const struct lm_body_cut *cut, int body)
{
    const int64_t twice = lm_cut_area(cut), all = 2 * (int64_t)LM_CUT_ONE * LM_CUT_ONE;
    return twice <= 0 ? body : twice >= all ? 0 : LM_CUT | body;
}

static int is_beyond(int kind, const struct lm_cut_line *l, int a, int b)
{
    const int64_t x = (2 * a + 1) * (int64_t)(LM_CUT_ONE / (2 * PLACES)),
                  y = (2 * b + 1) * (int64_t)(LM_CUT_ONE / (2 * PLACES));
    return kind & LM_CUT ? l->a * x + l->b * y >= l->c : kind != 0;
}

/* The body that has most places of a cell, + 1; *others: how many places other bodies have. */
static int main_body(const struct maker *m, int i, int j, uint8_t at[PLACES][PLACES], int *others)
{
    int count[LM_MAX_BODIES + 1] = {0}, all = 0, most = 1;
    for (int b = 0; b < PLACES; b++)
        for (int a = 0; a < PLACES; a++) {
            at[b][a] = (uint8_t)m->places->at(m->places->shapes, i + (a + 0.5) / PLACES, j + (b + 0.5) / PLACES);
            count[at[b][a]]++;
        }
    for (int k = 1; k <= LM_MAX_BODIES; k++) {
        all += count[k];
        most = count[k] > count[most] ? k : most;
    }
    *others = all - count[most];
    return most;
}

/* What particles meet in cell (i, j): as its centre says, unless a line can stand for the surfaces in it. */
static int make_cell(const struct maker *m, int i, int j, struct lm_body_cut *cut)
{
    uint8_t at[PLACES][PLACES];
    int wrong;
    const int as_centre = m->mask[(size_t)j * (size_t)m->g->nx + (size_t)i];
    if (!find_line(m, i, j, cut))
        return as_centre;
    const int kind = kind_of(cut, main_body(m, i, j, at, &wrong));
    const struct lm_cut_line l = lm_cut_line_of(cut);
    for (int b = 0; b < PLACES; b++)
        for (int a = 0; a < PLACES; a++)
            wrong += is_beyond(kind, &l, a, b) != (at[b][a] != 0);
    return 8 * wrong > PLACES * PLACES ? as_centre : kind;
}

/* Whether all of the nine cells around are plasma, or all in bodies. */
static int is_uniform(const struct maker *m, int i, int j)
{
    const struct lm_grid *g = m->g;
    const int here = m->mask[(size_t)j * (size_t)g->nx + (size_t)i] != 0;
    for (int b = j - 1; b <= j + 1; b++)
        for (int a = i - 1; a <= i + 1; a++) {
            if ((!is_periodic(g, 0) && (a < 0 || a >= g->nx)) || (!is_periodic(g, 1) && (b < 0 || b >= g->ny)))
                continue;
            if ((m->mask[(size_t)lm_wrap(b, g->ny) * (size_t)g->nx + (size_t)lm_wrap(a, g->nx)] != 0) != here)
                return 0;
        }
    return 1;
}

void lm_obstacles_make(const struct lm_grid *g, const uint8_t *mask, const struct lm_body_places *places, uint8_t *of,
                       struct lm_body_cut *cut)
{
    const struct maker m = {g, mask, places};
    memset(cut, 0, g->cells * sizeof *cut);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++, of++, cut++)
            *of =
                is_uniform(&m, i, j) ? mask[(size_t)j * (size_t)g->nx + (size_t)i] : (uint8_t)make_cell(&m, i, j, cut);
}

/* ---- the part of shapes in the plasma ---- */

struct weigher {
    const struct lm_grid *g;
    const uint8_t *of;
    const struct lm_body_cut *cut;
    int order;
};

/* The cell along an axis that cell i, which may lie outside, stands for: beyond a wall its mirror image. */
static int cell_inside(const struct lm_grid *g, int axis, int i, int *is_image)
{
    const int n = axis ? g->ny : g->nx;
    *is_image = !is_periodic(g, axis) && (i < 0 || i >= n);
    for (; *is_image && (i < 0 || i >= n);)
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return lm_wrap(i, n);
}

/* The part of a square of a cut cell that is plasma. Of a straight line along an axis it is exact. */
static double part_of_square(const struct lm_cut_line *l, int a, int b)
{
    const double size = (double)LM_CUT_ONE / SQUARES, far = fmax(fabs((double)l->a), fabs((double)l->b)) * size;
    const double depth = l->a * ((a + 0.5) * size) + l->b * ((b + 0.5) * size) - (double)l->c;
    return fmin(fmax(0.5 - depth / far, 0.0), 1.0);
}

/* What a shape has at a distance of some half squares from its middle, and at the middle of a square. */
static double shape_at(int order, int halves)
{
    const double d = fabs(halves / (2.0 * SQUARES));
    if (order == 1)
        return fmax(1 - d, 0);
    return d < 0.5 ? 0.75 - d * d : d < 1.5 ? 0.5 * (1.5 - d) * (1.5 - d) : 0;
}

/* The sum over cell (i + u, j + v) of what the shape of a particle in the middle of cell (i, j) has in the plasma. */
static double weigh_cell(const struct weigher *w, int i, int j, int u, int v, const double shape[3][SQUARES])
{
    int mirrored_x, mirrored_y;
    const int x = cell_inside(w->g, 0, i + u, &mirrored_x), y = cell_inside(w->g, 1, j + v, &mirrored_y);
    const size_t cell = (size_t)y * (size_t)w->g->nx + (size_t)x;
    const int of = w->of[cell], is_cut = of & LM_CUT;
    struct lm_cut_line l = {0, 0, 0};
    double sum = 0;
    if (of && !is_cut)
        return 0;
    if (is_cut)
        l = lm_cut_line_of(&w->cut[cell]);
    for (int b = 0; b < SQUARES; b++)
        for (int a = 0; a < SQUARES; a++)
            sum +=
                shape[u + 1][a] * shape[v + 1][b] *
                (is_cut ? part_of_square(&l, mirrored_x ? SQUARES - 1 - a : a, mirrored_y ? SQUARES - 1 - b : b) : 1.0);
    return sum;
}

/* One over the part of the shape that is plasma. */
static float factor_of(const struct weigher *w, int i, int j)
{
    double shape[3][SQUARES], all = 0, sum = 0;
    for (int u = 0; u < 3; u++)
        for (int a = 0; a < SQUARES; a++) {
            shape[u][a] = shape_at(w->order, 2 * ((u - 1) * SQUARES + a) + 1 - SQUARES);
            all += shape[u][a];
        }
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++)
            sum += weigh_cell(w, i, j, u, v, (const double(*)[SQUARES])shape);
    return (float)(all * all / fmax(sum, all * all / 8));
}

/* Whether a shape in cell (i, j) can reach a body. */
static int is_near(const struct weigher *w, int i, int j)
{
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++) {
            int image;
            const int x = cell_inside(w->g, 0, i + u, &image), y = cell_inside(w->g, 1, j + v, &image);
            if (w->of[(size_t)y * (size_t)w->g->nx + (size_t)x])
                return 1;
        }
    return 0;
}

void lm_obstacles_weigh(const struct lm_grid *g, const uint8_t *mask, int order, const uint8_t *of,
                        const struct lm_body_cut *cut, float *factor)
{
    const struct weigher w = {g, of, cut, order};
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            *factor++ = *mask++ ? 0.0f : is_near(&w, i, j) ? factor_of(&w, i, j) : 1.0f;
}
