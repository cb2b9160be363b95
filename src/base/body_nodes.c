#include "base/body_nodes.h"

#include <math.h>
#include <string.h>

/* What a place may be for the fields. */
enum { PLASMA, RESISTS, CONDUCTS, INSULATES, KINDS };

/* Places in a cell along each axis, and along and across each strip. */
enum { CELL = 16, STRIP = LM_NODE_WHOLE, CELL_PLACES = CELL * CELL };

struct maker {
    const struct lm_grid *grid;
    const uint8_t *mask;
    const int *fields;
    lm_body_at at;
    const void *shapes;
};

/* The node of E_component of cell (i, j), in cells from the corner of the domain. */
struct node_place {
    int component, i, j;
    double x, y;
};

static int kind_of_body(const struct maker *m, int body)
{
    if (body == 0)
        return PLASMA;
    const int fields = m->fields[body - 1];
    return fields == LM_BODY_CONDUCTING ? CONDUCTS : fields == LM_BODY_INSULATING ? INSULATES : RESISTS;
}

/* The place in the domain that stands for a place along an axis of n cells. */
static double place_inside(const struct lm_grid *g, int axis, double at)
{
    const int n = axis == 0 ? g->nx : g->ny;
    if (g->sides.of[2 * axis] == LM_PERIODIC) {
        for (; at < 0; at += n)
            ;
        for (; at > n; at -= n)
            ;
        return at;
    }
    while (at < 0 || at > n)
        at = at < 0 ? -at : 2 * n - at;
    return at;
}

static int is_inside(const struct lm_grid *g, int i, int j)
{
    return (g->sides.of[LM_X_MIN] == LM_PERIODIC || (i >= 0 && i < g->nx)) &&
           (g->sides.of[LM_Y_MIN] == LM_PERIODIC || (j >= 0 && j < g->ny));
}

static int kind_at(const struct maker *m, double x, double y)
{
    return kind_of_body(m, m->at(m->shapes, place_inside(m->grid, 0, x), place_inside(m->grid, 1, y)));
}

static int body_of_cell(const struct maker *m, int i, int j)
{
    const int x = (int)place_inside(m->grid, 0, i + 0.5), y = (int)place_inside(m->grid, 1, j + 0.5);
    return m->mask[(size_t)y * (size_t)m->grid->nx + (size_t)x];
}

/* Counts places of each kind in a rectangle around (x, y), at the centres of nx times ny equal pieces. */
static void count(const struct maker *m, double x, double y, double width, double height, int nx, int ny,
                  int counts[KINDS])
{
    memset(counts, 0, KINDS * sizeof *counts);
    for (int b = 0; b < ny; b++)
        for (int a = 0; a < nx; a++)
            counts[kind_at(m, x + ((a + 0.5) / nx - 0.5) * width, y + ((b + 0.5) / ny - 0.5) * height)]++;
}

static void count_cell(const struct maker *m, double x, double y, int counts[KINDS])
{
    count(m, x, y, 1, 1, CELL, CELL, counts);
}

/* The two corners of a node of E_x or E_y, where B_z is. */
static void find_corners(const struct node_place *p, double corner[2][2])
{
    for (int k = 0; k < 2; k++) {
        corner[k][0] = p->component == 0 ? p->x : p->x - 0.5 + k;
        corner[k][1] = p->component == 1 ? p->y : p->y - 0.5 + k;
    }
}

/* --- E_z beside conductors --- */

/* A distance is searched along so many ways, by steps that never end on the faces of cells. */
enum { WAYS = 32, HALVINGS = 10, FINEST = 512 };
#define FARTHEST 2.0
#define WAY_STEP 0.13

static int conducts_at(const struct maker *m, double x, double y)
{
    return kind_at(m, x, y) == CONDUCTS;
}

/* Where the surface of a conductor is on a way; FARTHEST: no nearer than that. */
static double surface_on_way(const struct maker *m, double x, double y, double dx, double dy)
{
    const int here = conducts_at(m, x, y);
    double low = 0, high = WAY_STEP;
    for (; conducts_at(m, x + high * dx, y + high * dy) == here; high += WAY_STEP) {
        low = high;
        if (high > FARTHEST)
            return FARTHEST;
    }
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        const int is_same = conducts_at(m, x + middle * dx, y + middle * dy) == here;
        *(is_same ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* The distance from the surface of conductors, to 1/FINEST of a cell; less than 0 inside. */
static double distance_from_conductor(const struct maker *m, double x, double y)
{
    double least = FARTHEST;
    for (int k = 0; k < WAYS; k++) {
        const int along = k % 8 - 4, side = k / 8; /* the ends of the ways are on a square */
        const double a = side % 2 ? along : side == 0 ? 4 : -4, b = side % 2 ? (side == 1 ? 4 : -4) : along;
        const double norm = 1 / sqrt(a * a + b * b);
        least = fmin(least, surface_on_way(m, x, y, a * norm, b * norm));
    }
    return (conducts_at(m, x, y) ? -1 : 1) * floor(FINEST * least + 0.5) / FINEST;
}

/* Nodes of E_z that are nearer than this to the surface of a conductor, or in it, have no E_z of their own. Their
 * neighbours outside that do are then so far away that no weight is larger than 1. */
#define NEAR_CONDUCTOR 0.5

/* The weights of the neighbours of a node of E_z at a distance from a conductor: E_z is a distance times a slope, whose
 * value is that of least squares. None has one where the body or the gap between two is too thin for a slope. */
static void find_weights(const struct maker *m, const struct node_place *p, double distance, uint8_t part[4])
{
    double far[4], square = 0;
    for (int k = 0; k < 4; k++) {
        const int step = k % 2 ? 1 : -1, i = p->i + (k < 2 ? step : 0), j = p->j + (k < 2 ? 0 : step);
        far[k] = is_inside(m->grid, i, j) ? distance_from_conductor(m, i + 0.5, j + 0.5) : 0;
        if (far[k] < NEAR_CONDUCTOR || far[k] <= distance)
            far[k] = 0;
        square += far[k] * far[k];
    }
    if ((far[0] > 0 && far[1] > 0) || (far[2] > 0 && far[3] > 0))
        return;
    for (int k = 0; k < 4 && square > 0; k++) {
        const double weight = fmax(-1, distance * far[k] / square);
        part[k] = (uint8_t)(int)floor(LM_NODE_WHOLE * weight + 0.5);
    }
}

/* --- what conductors leave open --- */

static int is_shut(int conducting)
{
    return conducting > CELL_PLACES / 2;
}

/* Places in conductors in the cell around a corner. */
static int corner_shut(const struct maker *m, double x, double y)
{
    int counts[KINDS];
    count_cell(m, x, y, counts);
    return counts[CONDUCTS];
}

/* The open part of the edge of a node of E_x (axis 0) or E_y. */
static double edge_open(const struct maker *m, int axis, double x, double y)
{
    int counts[KINDS];
    count(m, x, y, axis == 0, axis == 1, axis == 0 ? STRIP : 1, axis == 1 ? STRIP : 1, counts);
    return 1 - counts[CONDUCTS] / (double)STRIP;
}

/* The four corners around one, and the edges to them. */
static const int corner_step[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

static double edge_to(const struct maker *m, double x, double y, int k)
{
    const int dx = corner_step[k][0], dy = corner_step[k][1];
    return edge_open(m, dx != 0, x + 0.5 * dx, y + 0.5 * dy);
}

/* The open part of a corner that is shut, and the sum of the edges to those around it that are not. */
static double shared_by_shut(const struct maker *m, double x, double y, double *edges)
{
    *edges = 0;
    for (int k = 0; k < 4; k++)
        if (!is_shut(corner_shut(m, x + corner_step[k][0], y + corner_step[k][1])))
            *edges += edge_to(m, x, y, k);
    return 1 - corner_shut(m, x, y) / (double)CELL_PLACES;
}

/* The open part of the cell around a corner that is not shut, with its share of those that are; else 1. */
static double corner_open(const struct maker *m, double x, double y)
{
    const int shut = corner_shut(m, x, y);
    double open = 1 - shut / (double)CELL_PLACES;
    if (is_shut(shut))
        return 1;
    for (int k = 0; k < 4; k++) {
        const double to_x = x + corner_step[k][0], to_y = y + corner_step[k][1];
        double edges;
        if (!is_shut(corner_shut(m, to_x, to_y)))
            continue;
        const double part = shared_by_shut(m, to_x, to_y, &edges), edge = edge_to(m, x, y, k);
        open += edge > 0 ? part * edge / edges : 0;
    }
    return open;
}

/* Whether one of the corners of a node of E_x or E_y is shut. */
static int has_shut_corner(const struct maker *m, int axis, double x, double y)
{
    return is_shut(corner_shut(m, x - 0.5 * (axis == 1), y - 0.5 * (axis == 0))) ||
           is_shut(corner_shut(m, x + 0.5 * (axis == 1), y + 0.5 * (axis == 0)));
}

/* The open part of an edge, and of those before and behind it that have no current as a corner is shut. */
static double node_open(const struct maker *m, const struct node_place *p)
{
    const int axis = p->component;
    double open = edge_open(m, axis, p->x, p->y);
    for (int side = -1; side <= 1; side += 2) {
        const double x = p->x + (axis == 0 ? side : 0), y = p->y + (axis == 1 ? side : 0);
        if (has_shut_corner(m, axis, x, y))
            open += edge_open(m, axis, x, y);
    }
    return open;
}

/* lm_body_node.more of a node that has a value of its own. */
static int8_t more_of(const struct maker *m, const struct node_place *p)
{
    double open = 1;
    if (p->component == 2)
        open = corner_open(m, p->x + 0.5, p->y + 0.5);
    else if (!has_shut_corner(m, p->component, p->x, p->y))
        open = node_open(m, p);
    const double more = floor(LM_NODE_OPEN * (open - 1) + 0.5);
    return (int8_t)fmin(more, LM_NODE_OPEN - 1);
}

/* --- nodes that are wholly in or out --- */

/* LM_NODE_CONDUCTS or LM_NODE_INSULATES, else LM_NODE_CUT. */
static int kind_of_node(const struct maker *m, const struct node_place *p)
{
    int counts[KINDS], insulating = 0;
    if (p->component == 2) {
        count_cell(m, p->x, p->y, counts);
        return counts[INSULATES] >= CELL_PLACES / 2 ? LM_NODE_INSULATES : LM_NODE_CUT;
    }
    double corner[2][2];
    find_corners(p, corner);
    for (int k = 0; k < 2; k++) {
        count_cell(m, corner[k][0], corner[k][1], counts);
        if (is_shut(counts[CONDUCTS]))
            return LM_NODE_CONDUCTS;
        insulating += counts[INSULATES] > CELL_PLACES / 8;
    }
    return insulating == 2 ? LM_NODE_INSULATES : LM_NODE_CUT;
}

/* The part of what has a resistivity, in units of LM_NODE_WHOLE; -1: there is neither that nor plasma. */
static int part_of(const int counts[KINDS])
{
    const int with_plasma = counts[RESISTS] + counts[PLASMA];
    return with_plasma == 0 ? -1 : (LM_NODE_WHOLE * counts[RESISTS] + with_plasma / 2) / with_plasma;
}

/* Counts places on the line through a node of E_x or E_y, across its path and so far aside of it, in cells, or in the
 * cell of a node of E_z. */
static void count_line(const struct maker *m, const struct node_place *p, double aside, int counts[KINDS])
{
    if (p->component == 0)
        count(m, p->x + aside, p->y, 0, 1, 1, STRIP, counts);
    else if (p->component == 1)
        count(m, p->x, p->y + aside, 1, 0, STRIP, 1, counts);
    else
        count_cell(m, p->x, p->y, counts);
}

/* Counts places in strip k, an eighth of a cell wide. */
static void count_part(const struct maker *m, const struct node_place *p, int k, int counts[KINDS])
{
    count_line(m, p, (2 * k - 3) / 16.0, counts);
}

/* Counts what is in all of the node's strips, or in its cell. */
static void count_all(const struct maker *m, const struct node_place *p, int counts[KINDS])
{
    int of[KINDS];
    memset(counts, 0, KINDS * sizeof *counts);
    for (int k = 0; k < (p->component == 2 ? 1 : LM_NODE_PARTS); k++) {
        count_part(m, p, k, of);
        for (int kind = 0; kind < KINDS; kind++)
            counts[kind] += of[kind];
    }
}

/* A strip without a part of its own has that of all. */
static void find_parts(const struct maker *m, const struct node_place *p, uint8_t part[LM_NODE_PARTS])
{
    int counts[KINDS];
    count_all(m, p, counts);
    const int all = part_of(counts);
    for (int k = 0; k < LM_NODE_PARTS; k++) {
        if (p->component < 2)
            count_part(m, p, k, counts);
        const int own = part_of(counts);
        part[k] = (uint8_t)(own >= 0 ? own : all >= 0 ? all : 0);
    }
}

/* The nearest cell of a kind, as lm_node_source has it; -1: none is near. */
static int nearest(const struct maker *m, const struct node_place *p, int kind)
{
    double least = 1e9;
    int code = -1;
    for (int k = 0; k < 16; k++) {
        const int i = p->i + k % 4 - 1, j = p->j + k / 4 - 1;
        const double dx = i + 0.5 - p->x, dy = j + 0.5 - p->y, far = dx * dx + dy * dy;
        if (!is_inside(m->grid, i, j) || kind_of_body(m, body_of_cell(m, i, j)) != kind || far >= least)
            continue;
        least = far;
        code = k + 1;
    }
    return code;
}

static int source_of(const struct maker *m, const struct node_place *p, int kind)
{
    const int here = kind_of_body(m, body_of_cell(m, p->i, p->j)),
              there = kind_of_body(m, body_of_cell(m, p->i + (p->component == 0), p->j + (p->component == 1)));
    return here == kind && there == kind ? LM_NODE_OWN : nearest(m, p, kind);
}

/* Leaves out what no cell near has a value for. */
static void drop_parts(struct lm_body_node *n, int plasma, int body)
{
    for (int k = 0; k < LM_NODE_PARTS; k++) {
        if (plasma < 0 && n->part[k] < LM_NODE_WHOLE)
            n->part[k] = LM_NODE_WHOLE;
        if (body < 0 && n->part[k] > 0)
            n->part[k] = plasma < 0 ? LM_NODE_NO_FIELD : 0;
    }
}

/* Makes a node of plasma and insulators only; 0: the node has something else. Between two corners J is the difference
 * of B_z over the way in the plasma, as B_z is the same in all of the insulator (Gibou, Fedkiw, Cheng and Kang 2002, J.
 * Comput. Phys. 176, 205). */
static int make_narrow(const struct maker *m, const struct node_place *p, struct lm_body_node *n)
{
    const int plasma = source_of(m, p, PLASMA);
    int counts[KINDS], blocked = 0;
    count_all(m, p, counts);
    if (counts[INSULATES] == 0 || counts[RESISTS] > 0 || counts[CONDUCTS] > 0)
        return 0;
    for (int side = 0; side < 2; side++) { /* just before the line from corner to corner, and just behind it */
        count_line(m, p, (2 * side - 1) / 64.0, counts);
        const int of_both = counts[INSULATES] + counts[PLASMA];
        if (of_both == 0) /* all is in a body that is too thin for the strips */
            return 0;
        const int part = LM_NODE_WHOLE * counts[INSULATES] / of_both;
        n->part[2 * side] = n->part[2 * side + 1] = (uint8_t)part;
        blocked |= part == LM_NODE_WHOLE;
    }
    n->kind = (uint8_t)(blocked || plasma < 0 ? LM_NODE_INSULATES : LM_NODE_NARROW);
    n->plasma = (uint8_t)(plasma < 0 ? 0 : plasma);
    return 1;
}

static struct lm_body_node make_node(const struct maker *m, const struct node_place *p)
{
    const double distance = p->component == 2 ? distance_from_conductor(m, p->x, p->y) : FARTHEST;
    struct lm_body_node n = {.kind = LM_NODE_CONDUCTS, .more = more_of(m, p)};
    if (distance < NEAR_CONDUCTOR) {
        find_weights(m, p, distance, n.part);
        return n;
    }
    n.kind = (uint8_t)kind_of_node(m, p);
    if (n.kind == LM_NODE_CONDUCTS || make_narrow(m, p, &n) || n.kind != LM_NODE_CUT)
        return n;
    const int plasma = source_of(m, p, PLASMA), body = source_of(m, p, RESISTS);
    int any = 0;
    find_parts(m, p, n.part);
    drop_parts(&n, plasma, body);
    for (int k = 0; k < LM_NODE_PARTS; k++)
        any |= n.part[k] > 0;
    any |= p->component < 2 && n.more != 0;
    n.kind = any || plasma != LM_NODE_OWN ? LM_NODE_CUT : LM_NODE_PLASMA;
    n.plasma = (uint8_t)(plasma < 0 ? 0 : plasma);
    n.body = (uint8_t)(body < 0 ? 0 : body);
    return n;
}

/* Whether all cells around the three nodes of a cell are of one body, or of the plasma. */
static int is_uniform(const struct maker *m, int i, int j)
{
    const int body = body_of_cell(m, i, j);
    for (int k = 0; k < 16; k++)
        if (body_of_cell(m, i + k % 4 - 1, j + k / 4 - 1) != body)
            return 0;
    return 1;
}

/* A node with nothing else around it. */
static struct lm_body_node uniform_node(int kind)
{
    struct lm_body_node n = {.kind = LM_NODE_PLASMA};
    if (kind == CONDUCTS)
        n.kind = LM_NODE_CONDUCTS;
    else if (kind == INSULATES)
        n.kind = LM_NODE_INSULATES;
    else if (kind == RESISTS) {
        n.kind = LM_NODE_CUT;
        memset(n.part, LM_NODE_WHOLE, sizeof n.part);
    }
    return n;
}

void lm_body_nodes_make(const struct lm_grid *g, const uint8_t *mask, const int *fields, lm_body_at at,
                        const void *shapes, struct lm_body_node *node)
{
    const struct maker m = {g, mask, fields, at, shapes};
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            struct lm_body_node *n = node + lm_body_node_index(g, i, j);
            const int uniform = is_uniform(&m, i, j);
            for (int d = 0; d < 3; d++) {
                const struct node_place p = {d, i, j, i + (d == 0 ? 1 : 0.5), j + (d == 1 ? 1 : 0.5)};
                n[d] = uniform ? uniform_node(kind_of_body(&m, body_of_cell(&m, i, j))) : make_node(&m, &p);
            }
        }
}

struct cells {
    const struct lm_grid *grid;
    const uint8_t *mask;
};

static int at_cell(const void *shapes, double x, double y)
{
    const struct cells *c = shapes;
    return c->mask[(size_t)y * (size_t)c->grid->nx + (size_t)x];
}

void lm_body_nodes_of_cells(const struct lm_grid *g, const uint8_t *mask, const int *fields, struct lm_body_node *node)
{
    const struct cells c = {g, mask};
    lm_body_nodes_make(g, mask, fields, at_cell, &c, node);
}
