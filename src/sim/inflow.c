#include "sim/inflow.h"

#include <math.h>
#include <stdlib.h>

#include "larmor/physics/fields/fields.h"
#include "larmor/physics/numerics/cell_index.h"
#include "larmor/physics/particles/cut.h"
#include "larmor/sim.h"
#include "larmor/physics/numerics/operators.h"
#include "backend/surfaces.h"
#include "config/side_points.h"
#include "base/expr.h"

double lm_normal_below(double x)
{
    static const double a[7] = {220.206867912376, 221.213596169931,  112.079291497871,  33.912866078383,
                                6.37396220353165, 0.700383064443688, 0.0352624965998911};
    static const double b[8] = {440.413735824752, 793.826512519948, 637.333633378831, 296.564248779674,
                                86.7807322029461, 16.064177579207,  1.75566716318264, 0.0883883476483184};
    const double size = fabs(x), edge = 7.07106781186547;
    double upper = 0;
    if (size <= 37) {
        const double e = lm_exp(-0.5 * size * size);
        if (size < edge) {
            double p = a[6], q = b[7];
            for (int k = 5; k >= 0; k--)
                p = p * size + a[k];
            for (int k = 6; k >= 0; k--)
                q = q * size + b[k];
            upper = e * p / q;
        } else {
            double f = size + 0.65;
            for (int k = 4; k >= 1; k--)
                f = size + k / f;
            upper = e / f / 2.506628274631;
        }
    }
    return x > 0 ? 1 - upper : upper;
}

double lm_inflow_flux(double drift, double thermal)
{
    if (!(thermal > 0))
        return fmax(drift, 0);
    const double a = drift / thermal;
    return fmax(0, thermal * 0.3989422804014327 * lm_exp(-0.5 * a * a) + drift * lm_normal_below(a));
}

/* Profiles at the middle of each cell's edge; arrays of `count`. */
struct edge {
    size_t count;
    double *x, *y, *density, *drift[3], *temperature[3];
};

enum { EDGE_ARRAYS = 9 };

/* Its arrays are one piece of memory, from e->x on, which the caller frees. */
static int edge_new(const struct lm_grid *g, int side, struct edge *e)
{
    const size_t most = lm_longest_side(g);
    double *store = malloc(EDGE_ARRAYS * most * sizeof *store);
    double **const arrays[EDGE_ARRAYS] = {&e->x,
                                          &e->y,
                                          &e->density,
                                          &e->drift[0],
                                          &e->drift[1],
                                          &e->drift[2],
                                          &e->temperature[0],
                                          &e->temperature[1],
                                          &e->temperature[2]};
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for what enters");
    for (size_t k = 0; k < EDGE_ARRAYS; k++)
        *arrays[k] = store + k * most;
    e->count = (size_t)lm_side_points(g, (enum lm_side)side, e->x, e->y);
    return LM_OK;
}

static int negative(const struct lm_config *c, const struct lm_species_config *s, const char *what,
                    const struct edge *e, size_t k, double t)
{
    return lm_fail(LM_BAD_INPUT, "%s: [species.%s]: negative %s beyond the side at x = %g, y = %g, t = %g", c->file,
                   s->name, what, e->x[k], e->y[k], t);
}

static int fill_edge(const struct lm_config *c, const struct lm_species_config *s, struct edge *e)
{
    const int aligned = s->temperature_kind == LM_TEMPERATURE_FIELD_ALIGNED;
    int status = LM_OK;
    for (int d = 0; d < 3 && !status; d++) {
        const char *temperature = s->temperature[aligned && d == 2 ? 1 : d];
        status = lm_expr_at(c->names, s->drift[d], e->count, e->x, e->y, 0, e->drift[d]);
        if (!status)
            status = lm_expr_at(c->names, temperature, e->count, e->x, e->y, 0, e->temperature[d]);
        for (size_t k = 0; k < e->count && !status; k++)
            if (e->temperature[d][k] < 0)
                status = negative(c, s, "temperature", e, k, 0);
    }
    return status;
}

/* Covariance of the velocities in edge k: T/m along the axes, or along and across the unit vector b. */
static void covariance(const struct edge *e, size_t k, double mass, const double *b, double v[3][3])
{
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            double across = p == q ? e->temperature[b ? 1 : p][k] / mass : 0;
            double along = b ? (e->temperature[0][k] - e->temperature[1][k]) / mass * b[p] * b[q] : 0;
            v[p][q] = across + along;
        }
}

/* The normal velocity's spread, and what the tangential ones have given it. */
static void condition(double v[3][3], const int axis[3], int inward, struct lm_inflow_cell *c)
{
    const double nn = v[axis[0]][axis[0]], aa = v[axis[1]][axis[1]], bb = v[axis[2]][axis[2]];
    const double na = inward * v[axis[0]][axis[1]], nb = inward * v[axis[0]][axis[2]], ab = v[axis[1]][axis[2]];
    c->thermal = sqrt(nn);
    c->slope[0] = nn > 0 ? na / nn : 0;
    c->slope[1] = nn > 0 ? nb / nn : 0;
    const double a = aa - c->slope[0] * na, mixed = ab - c->slope[0] * nb, b = bb - c->slope[1] * nb;
    c->spread[0] = sqrt(fmax(a, 0));
    c->spread[1] = a > 0 ? mixed / c->spread[0] : 0;
    c->spread[2] = sqrt(fmax(b - c->spread[1] * c->spread[1], 0));
}

/* The cell before edge k. */
static void cell_before(const struct lm_grid *g, int side, int k, int *i, int *j)
{
    *i = side < LM_Y_MIN ? (side == LM_X_MAX ? g->nx - 1 : 0) : k;
    *j = side < LM_Y_MIN ? k : (side == LM_Y_MAX ? g->ny - 1 : 0);
}

/* Unit vector along B there; x where B = 0. */
static void direction(const struct lm_grid *g, double *const b[3], int side, int k, double out[3])
{
    int i, j;
    cell_before(g, side, k, &i, &j);
    const struct lm_view view = {b[0], b[1], b[2], g->stride};
    const struct lm_vector c = lm_b_centre(lm_view_at(view, (long)lm_at(g, i, j)));
    const double size = sqrt(c.x * c.x + c.y * c.y + c.z * c.z);
    out[0] = size > 0 ? c.x / size : 1;
    out[1] = size > 0 ? c.y / size : 0;
    out[2] = size > 0 ? c.z / size : 0;
}

static double largest_speed(const struct lm_inflow_cell *c)
{
    const double sigmas = LM_MOST_SIGMAS;
    double n = fabs(c->drift[0]) + sigmas * c->thermal;
    double a = fabs(c->drift[1]) + fabs(c->slope[0]) * (n + fabs(c->drift[0])) + sigmas * c->spread[0];
    double b =
        fabs(c->drift[2]) + fabs(c->slope[1]) * (n + fabs(c->drift[0])) + sigmas * (fabs(c->spread[1]) + c->spread[2]);
    return sqrt(n * n + a * a + b * b);
}

int lm_inflow_fill(const struct lm_config *c, int species, int side, double *const b[3], struct lm_inflow_cell *cells,
                   double *speed)
{
    const struct lm_species_config *s = &c->species[species];
    const struct lm_grid g = lm_config_grid(c);
    const int inward = side % 2 ? -1 : 1, axis[3] = {side / 2, !(side / 2), 2};
    const int aligned = s->temperature_kind == LM_TEMPERATURE_FIELD_ALIGNED;
    struct edge e = {0};
    int status = edge_new(&g, side, &e);
    if (!status)
        status = fill_edge(c, s, &e);
    for (size_t k = 0; k < e.count && !status; k++) {
        double v[3][3], along[3];
        if (aligned)
            direction(&g, b, side, (int)k, along);
        covariance(&e, k, s->mass, aligned ? along : NULL, v);
        condition(v, axis, inward, &cells[k]);
        for (int d = 0; d < 3; d++)
            cells[k].drift[d] = (d == 0 ? inward : 1) * e.drift[axis[d]][k];
        *speed = fmax(*speed, largest_speed(&cells[k]));
    }
    free(e.x);
    return status;
}

/* The part of a cell's side that is plasma. */
static double opening(int of, const struct lm_body_cut *cut, int side)
{
    int64_t low, high;
    if (!(of & LM_CUT))
        return of ? 0.0 : 1.0;
    return (double)lm_cut_opening(cut, side, &low, &high) / LM_CUT_ONE;
}

int lm_inflow_rate(const struct lm_config *c, int species, int side, double t, const uint8_t *of,
                   const struct lm_body_cut *cut, struct lm_inflow_cell *cells)
{
    const struct lm_species_config *s = &c->species[species];
    const struct lm_grid g = lm_config_grid(c);
    const double step = c->run.dt / (side < LM_Y_MIN ? g.dx : g.dy) * s->particles_per_cell;
    struct edge e = {0};
    int status = edge_new(&g, side, &e);
    if (!status)
        status = lm_expr_at(c->names, lm_inflow_density(s), e.count, e.x, e.y, t, e.density);
    for (size_t k = 0; k < e.count && !status; k++) {
        int i, j;
        cell_before(&g, side, (int)k, &i, &j);
        const size_t cell = (size_t)j * (size_t)g.nx + (size_t)i;
        const double part = of ? opening(of[cell], &cut[cell], side) : 1;
        cells[k].rate =
            part == 0 ? 0 : part * (e.density[k] * lm_inflow_flux(cells[k].drift[0], cells[k].thermal) * step);
        if (e.density[k] < 0)
            status = negative(c, s, "density", &e, k, t);
        else if (!(cells[k].rate < 1e9))
            status =
                lm_fail(LM_BAD_INPUT, "%s: [species.%s]: %.3g particles would enter a cell at x = %g, y = %g in a step",
                        c->file, s->name, cells[k].rate, e.x[k], e.y[k]);
    }
    free(e.x);
    return status;
}

int lm_inflow_is_timed(const struct lm_config *c, int species, int *timed)
{
    return lm_expr_uses_time(c->names, lm_inflow_density(&c->species[species]), timed);
}

/* Nodes beyond a side: LM_GHOST in depth, with the corners. `in` is the nearest cell of the domain. */
struct beyond {
    size_t count, *cell, *in;
    double *x, *y, *density, *sum, *u[2], *e;
};

static int is_beyond(const struct lm_grid *g, int side, int i, int j)
{
    return side == LM_X_MIN ? i < 0 : side == LM_X_MAX ? i >= g->nx : side == LM_Y_MIN ? j < 0 : j >= g->ny;
}

static struct beyond beyond_of(const struct lm_grid *g, int side, struct lm_cell_offset place, double *store,
                               size_t *cells)
{
    const size_t most = (size_t)(LM_GHOST * (side < LM_Y_MIN ? g->ny + 2 * LM_GHOST : g->stride));
    struct beyond n = {.cell = cells,
                       .in = cells + most,
                       .x = store,
                       .y = store + most,
                       .density = store + 2 * most,
                       .sum = store + 3 * most,
                       .u = {store + 4 * most, store + 5 * most},
                       .e = store + 6 * most};
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
            if (!is_beyond(g, side, i, j))
                continue;
            n.cell[n.count] = lm_at(g, i, j);
            n.in[n.count] = lm_at(g, lm_nearest_cell(i, g->nx), lm_nearest_cell(j, g->ny));
            n.x[n.count] = fmin(fmax((i + 0.5 + place.x) * g->dx, 0), g->lx);
            n.y[n.count] = fmin(fmax((j + 0.5 + place.y) * g->dy, 0), g->ly);
            n.count++;
        }
    return n;
}

/* Where B is wanted: at the centre, or where E_`component` is. */
struct place_of_b {
    int at_centre, component, stride;
};

/* B_`d` there, from element k. B_x stands on y-faces, B_y on x-faces, B_z on corners. */
static double b_at(double *const b[3], int d, const struct place_of_b *place, size_t k)
{
    const long s = place->stride, steps[3][3] = {{0, 0, -s}, {0, 0, -1}, {-s, -1, 0}};
    if (!place->at_centre)
        return 0.5 * (b[d][k] + b[d][(long)k + steps[place->component][d]]);
    return d == 2 ? lm_interp_corner(b[d] + k, (int)s) : lm_interp_down(b[d] + k, d == 0 ? (int)s : 1);
}

/* Adds Z n and -Z n u x B of a species; p and q are the components after the one wanted. */
static int add_flow(const struct lm_config *c, const struct lm_species_config *s, int p, int q, struct beyond *n,
                    double *const b[3], const struct place_of_b *place)
{
    int status = lm_expr_at(c->names, lm_inflow_density(s), n->count, n->x, n->y, 0, n->density);
    if (!status)
        status = lm_expr_at(c->names, s->drift[p], n->count, n->x, n->y, 0, n->u[0]);
    if (!status)
        status = lm_expr_at(c->names, s->drift[q], n->count, n->x, n->y, 0, n->u[1]);
    for (size_t k = 0; k < n->count && !status; k++) {
        const double bp = b_at(b, p, place, n->in[k]), bq = b_at(b, q, place, n->in[k]);
        const double weight = s->charge * fmax(n->density[k], 1e-12); /* the drift counts also before anything enters */
        n->sum[k] += weight;
        n->e[k] -= weight * (n->u[0][k] * bq - n->u[1][k] * bp);
    }
    return status;
}

int lm_setup_inflow_e(const struct lm_config *c, double *const b[3], int component, int at_centre, double *e)
{
    const struct lm_grid g = lm_config_grid(c);
    const int p = (component + 1) % 3, q = (component + 2) % 3;
    const struct place_of_b place = {at_centre, component, g.stride};
    const size_t most = LM_GHOST * (lm_longest_side(&g) + 2 * LM_GHOST);
    double *store = malloc(7 * most * sizeof *store);
    size_t *cells = malloc(2 * most * sizeof *cells);
    int status = store && cells ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the fields beyond sides");
    for (int side = 0; side < LM_SIDES && !status; side++) {
        if (c->boundary_fields[side] != LM_FIELDS_INFLOW)
            continue;
        struct beyond n = beyond_of(&g, side, lm_places_of_e[at_centre ? 2 : component], store, cells);
        for (size_t k = 0; k < n.count; k++)
            n.sum[k] = n.e[k] = 0;
        for (int s = 0; s < c->species_count && !status; s++)
            status = add_flow(c, &c->species[s], p, q, &n, b, &place);
        for (size_t k = 0; k < n.count && !status; k++)
            e[n.cell[k]] = n.e[k] / n.sum[k];
    }
    /* Where a side ends at a periodic direction, its corners are images like every other ghost. */
    lm_grid_wrap(&g, e);
    free(store);
    free(cells);
    return status;
}
