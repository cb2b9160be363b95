/* Velocities on the faces from a stream function psi on the corners.
 *
 * A face lies between two corners. The flow through it is the difference of psi between them. Corners that are joined
 * by closed faces (faces of bodies and walls) form groups. psi is constant on each group. Across periodic sides psi may
 * grow, by the same amount everywhere; this growth is a mean flow. A group can run around the domain and meet itself.
 * No mean flow can pass such a group.
 *
 * Where a body cuts cells (larmor/physics/fluid/opening.h), its surface crosses lines between corners. A group there
 * has the psi of these places, not that of its corners, which lie up to a cell away from the surface.
 */
#include <stdlib.h>

#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/fluid/opening.h"

/* A corner has the number of the cell whose upper right corner it is. Corners at -1 exist where the axis is not
 * periodic; where it is periodic they are the corners of the last cells. */
struct corners {
    const struct lm_grid *g;
    const int *sides;
    const uint8_t *clearance;
    const struct lm_opening *open; /* NULL: no cell is cut */
    int first[2], count[2], periodic[2];
    double growth[2]; /* of psi across the domain */
    int fixed;        /* the number of conditions on the growth */
    int condition[2]; /* the first condition: condition . growth = 0 */
    int *order;       /* the corners of one group after the other; the first one of each group is stored as ~corner */
    int ordered;      /* their number */
    int16_t (*turns)[2]; /* how many times the path from the first corner of the group crosses the periodic sides */
    uint8_t *seen;       /* 1 once it is visited, GROUPED if it is in a group */
};

enum { GROUPED = 2 };

/* Whether a cell of the domain lies in a body. */
static int is_body(const struct lm_grid *g, const uint8_t *clearance, int i, int j)
{
    if ((lm_has_walls(&g->sides, 0) && (i < 0 || i >= g->nx)) || (lm_has_walls(&g->sides, 1) && (j < 0 || j >= g->ny)))
        return 0;
    return clearance[lm_at(g, i, j)] == 0;
}

/* The open length of the upper face of cell (i, j) along an axis. */
static double opening_of(const struct corners *c, int axis, int i, int j)
{
    return lm_opening_at(c->open, axis, (long)lm_at(c->g, i, j));
}

/* Whether the upper face of cell (i, j) along an axis is closed: a face of a wall or of a body. */
static int is_closed(const struct corners *c, int axis, int i, int j)
{
    const struct lm_grid *g = c->g;
    const int at = axis == 0 ? i : j, last = (axis == 0 ? g->nx : g->ny) - 1;
    if (!c->periodic[axis] && at == -1 && c->sides[2 * axis] == LM_BACKGROUND_WALL)
        return 1;
    if (!c->periodic[axis] && at == last && c->sides[2 * axis + 1] == LM_BACKGROUND_WALL)
        return 1;
    return is_body(g, c->clearance, i, j) || is_body(g, c->clearance, i + (axis == 0), j + (axis == 1)) ||
           opening_of(c, axis, i, j) == 0;
}

static int number_of(const struct corners *c, const int at[2])
{
    return (at[1] - c->first[1]) * c->count[0] + at[0] - c->first[0];
}

/* The number of the next corner along an axis, or -1. face[2] is the cell below the face between both. *turn is +1 or
 * -1 if a periodic side lies between them, else 0. */
static int neighbour_of(const struct corners *c, int corner, int axis, int step, int face[2], int *turn)
{
    int at[2] = {corner % c->count[0] + c->first[0], corner / c->count[0] + c->first[1]};
    face[0] = at[0], face[1] = at[1];
    face[axis] += step > 0;
    at[axis] += step;
    *turn = 0;
    if (c->periodic[axis] && (at[axis] < 0 || at[axis] >= c->count[axis])) {
        *turn = step;
        at[axis] -= step * c->count[axis];
    } else if (at[axis] < c->first[axis] || at[axis] >= c->first[axis] + c->count[axis]) {
        return -1;
    }
    return number_of(c, at);
}

/* The same if a closed face joins both corners, else -1. */
static int next_of(const struct corners *c, int corner, int axis, int step, int *turn)
{
    int face[2];
    const int next = neighbour_of(c, corner, axis, step, face, turn);
    return next >= 0 && is_closed(c, !axis, face[0], face[1]) ? next : -1;
}

/* psi is constant along a path that goes x and y times around the domain. */
static void add_condition(struct corners *c, int x, int y)
{
    if (c->fixed == 0) {
        c->condition[0] = x, c->condition[1] = y;
        c->fixed = 1;
    } else if (c->condition[0] * y != c->condition[1] * x) {
        c->fixed = 2;
    }
}

static void visit_neighbours(struct corners *c, int corner)
{
    for (int k = 0; k < 4; k++) {
        const int axis = k / 2;
        int turn, next = next_of(c, corner, axis, k % 2 ? 1 : -1, &turn);
        if (next < 0)
            continue;
        const int x = c->turns[corner][0] + (axis == 0 ? turn : 0), y = c->turns[corner][1] + (axis == 1 ? turn : 0);
        if (!c->seen[next]) {
            c->seen[next] = 1;
            c->turns[next][0] = (int16_t)x, c->turns[next][1] = (int16_t)y;
            c->order[c->ordered++] = next;
        } else if (c->turns[next][0] != x || c->turns[next][1] != y) {
            add_condition(c, x - c->turns[next][0], y - c->turns[next][1]);
        }
    }
}

static void find_groups(struct corners *c)
{
    for (int corner = 0; corner < c->count[0] * c->count[1]; corner++) {
        if (c->seen[corner])
            continue;
        const int begin = c->ordered;
        c->seen[corner] = 1;
        c->order[c->ordered++] = corner;
        for (int k = begin; k < c->ordered; k++)
            visit_neighbours(c, c->order[k]);
        if (c->ordered == begin + 1)
            c->ordered = begin; /* a single corner is no group */
        else
            c->order[begin] = ~corner;
        for (int k = begin; k < c->ordered; k++)
            c->seen[k == begin ? corner : c->order[k]] = GROUPED;
    }
}

static double *psi_at(const struct corners *c, double *psi, int corner)
{
    return &psi[lm_at(c->g, corner % c->count[0] + c->first[0], corner / c->count[0] + c->first[1])];
}

/* The mean growth of psi across the domain. */
static void find_growth(struct corners *c, const double *psi)
{
    const struct lm_grid *g = c->g;
    double x = 0, y = 0;
    for (int j = c->first[1]; j < g->ny; j++)
        x += psi[lm_at(g, g->nx - 1, j)] - psi[lm_at(g, -1, j)];
    for (int i = c->first[0]; i < g->nx; i++)
        y += psi[lm_at(g, i, g->ny - 1)] - psi[lm_at(g, i, -1)];
    c->growth[0] = c->periodic[0] ? x / c->count[1] : 0;
    c->growth[1] = c->periodic[1] ? y / c->count[0] : 0;
}

/* Whether a corner touches a free cell. Deep inside a body psi may be singular; its values there are not used. */
static int touches_free_cell(const struct corners *c, int corner)
{
    const int i = corner % c->count[0] + c->first[0], j = corner / c->count[0] + c->first[1];
    for (int k = 0; k < 4; k++) {
        const int x = i + k % 2, y = j + k / 2;
        const int beyond =
            (!c->periodic[0] && (x < 0 || x >= c->g->nx)) || (!c->periodic[1] && (y < 0 || y >= c->g->ny));
        if (!beyond && !is_body(c->g, c->clearance, x, y))
            return 1;
    }
    return 0;
}

/* Subtracts from psi the part of the mean flow that cannot pass the groups. */
static void stop_mean_flow(struct corners *c, double *psi)
{
    const struct lm_grid *g = c->g;
    double part[2] = {c->growth[0], c->growth[1]};
    if (c->fixed == 1) {
        const double x = c->condition[0], y = c->condition[1];
        const double along = (x * part[0] + y * part[1]) / (x * x + y * y);
        part[0] = along * x, part[1] = along * y;
    }
    for (int j = c->first[1]; j < g->ny && c->fixed; j++)
        for (int i = c->first[0]; i < g->nx; i++)
            psi[lm_at(g, i, j)] -= part[0] * (i + 1) / g->nx + part[1] * (j + 1) / g->ny;
    for (int axis = 0; axis < 2 && c->fixed; axis++)
        c->growth[axis] -= part[axis];
}

/* Adds psi where the surface crosses the open faces between a corner of a group and corners of no group, or up to half
 * a cell beyond the corner of the group, as it is where the group begins. */
static void add_crossings(const struct corners *c, double *psi, int corner, double *sum, int *count)
{
    for (int k = 0; k < 4; k++) {
        int face[2], turn;
        const int axis = k / 2, next = neighbour_of(c, corner, axis, k % 2 ? 1 : -1, face, &turn);
        if (next < 0 || c->seen[next] == GROUPED || is_closed(c, !axis, face[0], face[1]))
            continue;
        const double length = opening_of(c, !axis, face[0], face[1]);
        if (length == 1 || length > 1.5)
            continue; /* no surface is near on this line */
        const double here = *psi_at(c, psi, corner);
        const double there = *psi_at(c, psi, next) + turn * c->growth[axis];
        *sum +=
            there + length * (here - there) + c->turns[corner][0] * c->growth[0] + c->turns[corner][1] * c->growth[1];
        ++*count;
    }
}

/* The mean of psi over the places where the surface of a group crosses faces; 0 if there are none. */
static int mean_of_crossings(const struct corners *c, double *psi, int begin, int end, double *mean)
{
    double sum = 0;
    int count = 0;
    for (int k = begin; k < end && c->open; k++)
        add_crossings(c, psi, k == begin ? ~c->order[k] : c->order[k], &sum, &count);
    *mean = count ? sum / count : 0;
    return count > 0;
}

/* Makes psi constant on each group: the mean over the corners of the group that touch a free cell, or over the places
 * where its surface crosses faces. */
static void level_groups(const struct corners *c, double *psi)
{
    for (int begin = 0, end; begin < c->ordered; begin = end) {
        double sum = 0;
        int count = 0;
        for (end = begin; end < c->ordered && (end == begin || c->order[end] >= 0); end++) {
            const int corner = end == begin ? ~c->order[end] : c->order[end];
            const int16_t *turns = c->turns[corner];
            if (!touches_free_cell(c, corner))
                continue;
            sum += *psi_at(c, psi, corner) + turns[0] * c->growth[0] + turns[1] * c->growth[1];
            count++;
        }
        double mean;
        if (!mean_of_crossings(c, psi, begin, end, &mean))
            mean = count ? sum / count : 0;
        for (int k = begin; k < end; k++) {
            const int corner = k == begin ? ~c->order[k] : c->order[k];
            const int16_t *turns = c->turns[corner];
            *psi_at(c, psi, corner) = mean - turns[0] * c->growth[0] - turns[1] * c->growth[1];
        }
    }
}

/* Velocities are flows through faces over their open lengths. */
static void widen(const struct corners *c, double *vx, double *vy)
{
    const struct lm_grid *g = c->g;
    for (int j = -1; j < g->ny && c->open; j++)
        for (int i = -1; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            if (j >= 0 && vx[k] != 0)
                vx[k] /= opening_of(c, 0, i, j);
            if (i >= 0 && vy[k] != 0)
                vy[k] /= opening_of(c, 1, i, j);
        }
}

static void set_velocities(const struct corners *c, double *psi, double *vx, double *vy)
{
    const struct lm_grid *g = c->g;
    for (int j = c->first[1]; j < g->ny && c->periodic[0]; j++)
        psi[lm_at(g, -1, j)] = psi[lm_at(g, g->nx - 1, j)] - c->growth[0];
    for (int i = -1; i < g->nx && c->periodic[1]; i++)
        psi[lm_at(g, i, -1)] = psi[lm_at(g, i, g->ny - 1)] - c->growth[1];
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            if (j >= 0)
                vx[k] = is_closed(c, 0, i, j) ? 0 : (psi[k] - psi[k - (size_t)g->stride]) / g->dy;
            if (i >= 0)
                vy[k] = is_closed(c, 1, i, j) ? 0 : (psi[k - 1] - psi[k]) / g->dx;
        }
    widen(c, vx, vy);
    for (int j = 0; j < g->ny && c->periodic[0]; j++) /* both are the same face */
        vx[lm_at(g, -1, j)] = vx[lm_at(g, g->nx - 1, j)];
    for (int i = 0; i < g->nx && c->periodic[1]; i++)
        vy[lm_at(g, i, -1)] = vy[lm_at(g, i, g->ny - 1)];
}

int lm_background_stream(const struct lm_grid *g, const int sides[LM_SIDES], const uint8_t *clearance,
                         const struct lm_opening *open, double *psi, double *vx, double *vy)
{
    struct corners c = {.g = g,
                        .sides = sides,
                        .clearance = clearance,
                        .open = open,
                        .periodic = {!lm_has_walls(&g->sides, 0), !lm_has_walls(&g->sides, 1)}};
    for (int axis = 0; axis < 2; axis++) {
        c.first[axis] = c.periodic[axis] ? 0 : -1;
        c.count[axis] = (axis == 0 ? g->nx : g->ny) - c.first[axis];
    }
    const size_t corners = (size_t)c.count[0] * (size_t)c.count[1];
    c.order = malloc(corners * sizeof *c.order);
    c.turns = calloc(corners, sizeof *c.turns);
    c.seen = calloc(corners, 1);
    const int status =
        c.order && c.turns && c.seen ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a stream function");
    if (status == LM_OK) {
        find_growth(&c, psi);
        find_groups(&c);
        stop_mean_flow(&c, psi);
        level_groups(&c, psi);
        set_velocities(&c, psi, vx, vy);
    }
    free(c.order);
    free(c.turns);
    free(c.seen);
    return status;
}

void lm_background_shut(const struct lm_grid *g, const uint8_t *clearance, double *vx, double *vy)
{
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            const int here = is_body(g, clearance, i, j);
            if (j >= 0 && (here || is_body(g, clearance, i + 1, j)))
                vx[lm_at(g, i, j)] = 0;
            if (i >= 0 && (here || is_body(g, clearance, i, j + 1)))
                vy[lm_at(g, i, j)] = 0;
        }
}
