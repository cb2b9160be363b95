/* CPU backend: B where it diffuses fast (larmor/physics/fields/relaxation.h). */
#include "cpu/fields.h"

/* E/J at the nodes, 0 where B does not diffuse, and E of a stage. Nothing else uses these arrays here. The rows from
 * `first` to `last` have all cells whose B changes. */
struct work {
    double *share[3], *e[3];
    int first, last;
};

static struct work work_of(const struct lm_cpu *c)
{
    return (struct work){.share = {c->motional[0], c->motional[1], c->motional[2]},
                         .e = {c->result[0], c->result[1], c->result[2]}};
}

static struct lm_relaxation relaxation_of(const struct lm_cpu *c, double dt, int stages)
{
    const struct lm_setup *s = &c->base.setup;
    return (struct lm_relaxation){
        .b = lm_cpu_view(c, c->array + LM_B),
        .external = lm_cpu_external(c),
        .eta = dt > 0 ? c->array[LM_ETA] : NULL,
        .substep_eta = lm_most_in_substeps(&s->ohm),
        .eta_share = lm_relaxation_share(dt, stages, lm_largest_k2(&s->grid, s->ohm.inv_dx, s->ohm.inv_dy)),
        .body = {c->solid, c->node, c->array[LM_PER_DENSITY]},
        .sides = c->sides,
        .nx = s->grid.nx,
        .ny = s->grid.ny,
        .inv_dx = s->ohm.inv_dx,
        .inv_dy = s->ohm.inv_dy};
}

static int is_conductor(const struct lm_cpu *c, long k)
{
    return c->node[3 * k + 2].kind == LM_NODE_CONDUCTS;
}

/* Nodes of E_z in conductors have E of their neighbours. Here their share says only whether they have any. */
static void find_shares_in_conductors(const struct lm_cpu *c, const struct lm_relaxation *f, double *share, int j)
{
    for (size_t n = c->at_bodies.start[j]; n < c->at_bodies.start[j + 1]; n++) {
        const long k = c->at_bodies.cell[n];
        int touched = 0;
        if (!is_conductor(c, k))
            continue;
        lm_relaxed_conductor_ez(f, k, lm_view_at(f->b, k), &touched);
        share[k] = touched;
    }
}

static void electric_field_in_conductors(const struct lm_cpu *c, const struct lm_relaxation *f, const struct work *w,
                                         int j)
{
    for (size_t n = c->at_bodies.start[j]; n < c->at_bodies.start[j + 1]; n++) {
        const long k = c->at_bodies.cell[n];
        int touched = 0;
        if (is_conductor(c, k))
            w->e[2][k] = lm_relaxed_conductor_ez(f, k, lm_view_at(f->b, k), &touched);
    }
}

/* E of a component beyond walls, at an element. In domains of fewer cells than ghosts it is that of no node inside. */
static double electric_field_beyond(const struct lm_cpu *c, const struct lm_relaxation *f, int d, long element,
                                    int *touched)
{
    const int stride = c->base.setup.grid.stride;
    return lm_relaxation_e(f, d, (int)(element % stride) - LM_GHOST, (int)(element / stride) - LM_GHOST, touched);
}

/* The shares do not change within a step. Beyond walls they say only whether B diffuses. */
static void find_shares(struct lm_cpu *c, const struct lm_relaxation *f, const struct work *w)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int d = 0; d < 3; d++) {
        const struct lm_cells in = lm_cpu_nodes(c, d);
        double *const share = w->share[d];
        LM_ROWS(c, LM_GHOST, LM_GHOST)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++)
            share[lm_at(g, i, j)] = w->e[d][lm_at(g, i, j)] = 0.0;
#pragma omp parallel for schedule(static) num_threads(c->grid_threads)
        for (int j = in.from_y; j < in.to_y; j++)
            for (int i = in.from_x; i < in.to_x; i++)
                if (!lm_is_open_face(&c->sides, d, i, j, g->nx, g->ny))
                    share[lm_at(g, i, j)] = lm_open_share(f, d, (long)lm_at(g, i, j));
        for (int j = in.from_y; j < in.to_y && d == 2 && c->node; j++)
            find_shares_in_conductors(c, f, share, j);
        for (size_t n = 0; n < c->beyond[d].count; n++) {
            int touched = 0;
            electric_field_beyond(c, f, d, c->beyond[d].node[n].to, &touched);
            share[c->beyond[d].node[n].to] = touched;
        }
    }
}

/* The cells in which the rate of B depends on a node where B diffuses. */
static void find_cells(struct lm_cpu *c, struct work *w, struct lm_cells cells)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double *const x = w->share[0], *const y = w->share[1], *const z = w->share[2];
    const long s = g->stride;
    int first = cells.to_y, last = cells.from_y - 1;
#pragma omp parallel for schedule(static) num_threads(c->grid_threads) reduction(min : first) reduction(max : last)
    for (int j = cells.from_y; j < cells.to_y; j++) {
        int any = 0;
        for (long k = (long)lm_at(g, cells.from_x, j), end = (long)lm_at(g, cells.to_x, j); k < end; k++) {
            const int relaxes = (x[k] != 0.0) | (x[k + s] != 0.0) | (y[k] != 0.0) | (y[k + 1] != 0.0) | (z[k] != 0.0) |
                                (z[k + 1] != 0.0) | (z[k + s] != 0.0);
            c->relaxes[k] = (uint8_t)relaxes;
            any |= relaxes;
        }
        first = any && j < first ? j : first;
        last = any && j > last ? j : last;
    }
    w->first = first;
    w->last = last;
}

/* E of a component in elements [first, end). */
static inline __attribute__((always_inline)) void electric_cells(const struct lm_relaxation *of, const struct work *w,
                                                                 int d, long first, long end, struct lm_view external)
{
    const struct lm_relaxation f = *of;
    const double *const share = w->share[d];
    double *const e = w->e[d];
#pragma GCC ivdep
    for (long k = first; k < end; k++) {
        const struct lm_vector j =
            lm_plasma_current(lm_view_at(f.b, k), lm_external_at(external, k), f.inv_dx, f.inv_dy);
        const double current = d == 0 ? j.x : d == 1 ? j.y : j.z;
        e[k] = share[k] != 0.0 ? share[k] * current : 0.0;
    }
}

static inline __attribute__((always_inline)) void electric_field(struct lm_cpu *c, const struct lm_relaxation *f,
                                                                 const struct work *w, int d)
{
    static const struct lm_view none = {.s = 0};
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_cells in = lm_cpu_nodes(c, d);
    const int from = in.from_y < w->first ? w->first : in.from_y, to = in.to_y > w->last + 2 ? w->last + 2 : in.to_y;
#pragma omp parallel for schedule(static) num_threads(c->grid_threads)
    for (int j = from; j < to; j++) {
        const long first = (long)lm_at(g, in.from_x, j), end = (long)lm_at(g, in.to_x, j);
        /* Two calls: without J_ext the compiler makes vector instructions of it. */
        if (f->external.s)
            electric_cells(f, w, d, first, end, f->external);
        else
            electric_cells(f, w, d, first, end, none);
        if (d == 2 && c->node)
            electric_field_in_conductors(c, f, w, j);
    }
    for (size_t n = 0; n < c->beyond[d].count; n++) {
        const long k = c->beyond[d].node[n].to;
        int touched = 0;
        w->e[d][k] = w->share[d][k] != 0.0 ? electric_field_beyond(c, f, d, k, &touched) : 0.0;
    }
}

/* B of cells [from, to) of row j. `sides` is NULL where no B is held; `node`: lm_cpu_narrow_nodes. The first stage
 * writes all cells, the others those whose B changes. */
static inline __attribute__((always_inline)) void advance_row(struct lm_cpu *c, struct lm_relaxation_stage stage,
                                                              int is_first, struct lm_cells cells, int j,
                                                              const struct lm_field_sides *sides,
                                                              const struct lm_body_node *node, struct lm_view e,
                                                              double *const last[3], double *const to[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double inv_dx = c->base.setup.ohm.inv_dx, inv_dy = c->base.setup.ohm.inv_dy;
    const uint8_t *const relaxes = c->relaxes;
    const long row = (long)lm_at(g, 0, j);
    double *const from[3] = {last[0], last[1], last[2]}, *const out[3] = {to[0], to[1], to[2]};
#pragma GCC ivdep
    for (int i = cells.from_x; i < cells.to_x; i++) {
        const long k = row + i;
        const struct lm_vector v = lm_faraday(lm_view_at(e, k), inv_dx, inv_dy);
        const double rate[3] = {v.x, v.y, lm_corner_rate(node ? node + 3 * k : NULL, v.z)};
        LM_UNROLL
        for (int d = 0; d < 3; d++) {
            const int held = sides && lm_is_held(sides, d, i, j, g->nx, g->ny);
            const double before = is_first ? from[d][k] : out[d][k];
            const double after = lm_relaxed(stage, held, from[d][k], before, rate[d]);
            out[d][k] = is_first || relaxes[k] ? after : before;
        }
    }
}

/* A stage. `to` holds the result of the stage before the last one and takes that of this one. */
static void advance_stage(struct lm_cpu *c, int number, struct lm_relaxation f, const struct work *w,
                          struct lm_cells cells, double *const last[3], double *const to[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_relaxation_stage stage = lm_relaxation_stage(number, lm_largest_k2(g, f.inv_dx, f.inv_dy));
    const struct lm_view e = lm_cpu_view(c, w->e);
    const int from = number == 1 ? cells.from_y : w->first, to_row = number == 1 ? cells.to_y : w->last + 1;
    f.b = lm_cpu_view(c, last);
    for (int d = 0; d < 3; d++)
        electric_field(c, &f, w, d);
#pragma omp parallel for schedule(static) num_threads(c->grid_threads)
    for (int j = from; j < to_row; j++) {
        const struct lm_body_node *const node = lm_cpu_narrow_nodes(c, j);
        /* Three calls: where no B is held and no conductor is cut the compiler makes vector instructions of it. */
        if (lm_any_held_b(&c->sides) || node)
            advance_row(c, stage, number == 1, cells, j, &c->sides, node, e, last, to);
        else if (number == 1)
            advance_row(c, stage, 1, cells, j, NULL, NULL, e, last, to);
        else
            advance_row(c, stage, 0, cells, j, NULL, NULL, e, last, to);
    }
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, to[d]);
}

int lm_cpu_relax_b(struct lm_backend *b, double dt, int stages)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_relaxation f = relaxation_of(c, dt, stages);
    struct work w = work_of(c);
    const int beyond_x = c->walls[0] ? LM_GHOST : 0, beyond_y = c->walls[1] ? LM_GHOST : 0;
    const struct lm_cells cells = {-beyond_x, g->nx + beyond_x - c->walls[0], -beyond_y,
                                   g->ny + beyond_y - c->walls[1]};
    double *const *state = c->array + LM_B;
    if (f.eta && b->setup.local_eta)
        lm_halo_refresh(b->setup.halo, &c->array[LM_ETA], 1);
    find_shares(c, &f, &w);
    find_cells(c, &w, cells);
    for (int number = 1; number <= stages; number++) {
        const int odd = number % 2;
        advance_stage(c, number, f, &w, cells, odd ? state : c->stage, odd ? c->stage : state);
        if (number % LM_RELAXATION_EXCHANGE == 0) {
            lm_halo_refresh(b->setup.halo, state, 3);
            lm_halo_refresh(b->setup.halo, c->stage, 3);
        }
    }
    return LM_OK;
}
