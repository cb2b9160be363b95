/* CPU backend: loops over the grid. The bodies are in larmor/physics/fields/fields.h. */
#include "cpu/cpu.h"

#include <math.h>

#include "backend/field_boundaries.h"
#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/fluid/electrons.h"

static struct lm_view view(const struct lm_cpu *c, double *const a[3])
{
    return (struct lm_view){a[0], a[1], a[2], c->base.setup.grid.stride};
}

static void wrap3(const struct lm_cpu *c, double *const a[3])
{
    for (int k = 0; k < 3; k++)
        lm_grid_wrap(&c->base.setup.grid, a[k]);
}

static void copy(const struct lm_cpu *c, double *to, const double *from)
{
    size_t size = c->base.setup.grid.size;
#pragma omp parallel for num_threads(c->grid_threads)
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

int lm_cpu_copy(struct lm_backend *b, int to, int from, int count)
{
    struct lm_cpu *c = lm_cpu_of(b);
    for (int k = 0; k < count; k++)
        copy(c, c->array[to + k], c->array[from + k]);
    return LM_OK;
}

int lm_cpu_closure(struct lm_backend *b, int density, int other)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_ohm *o = &b->setup.ohm;
    size_t size = b->setup.grid.size;
    const double *n = c->array[density], *m = c->array[other];
    double *floored = c->array[LM_FLOORED], *p = c->array[LM_PRESSURE];
#pragma omp parallel for num_threads(c->grid_threads)
    for (size_t i = 0; i < size; i++) {
        floored[i] = lm_floored(lm_mean(n[i], m[i]), o);
        p[i] = lm_pressure(floored[i], o);
    }
    if (o->evolved)
        lm_cpu_evolved_pressure(c);
    return LM_OK;
}

/* J = curl B and (J - J_i) x B for the cells whose E is wanted: [0, n], from -1 on where there are walls, and what the
 * Laplacian of J needs around them. */
static void electron_force(struct lm_cpu *c, double *const bf[3], double *const ion_current[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    struct lm_view b = view(c, bf), j0 = view(c, c->curl), ji = view(c, ion_current);
    LM_ROWS(c, 1 + c->walls[1], 2)
    for (int i = -1 - c->walls[0]; i < g->nx + 2; i++) {
        long k = (long)lm_at(g, i, j);
        struct lm_vector v = lm_curl_b(lm_view_at(b, k), o->rx, o->ry);
        c->curl[0][k] = v.x;
        c->curl[1][k] = v.y;
        c->curl[2][k] = v.z;
    }
    LM_ROWS(c, c->walls[1], 2)
    for (int i = -c->walls[0]; i < g->nx + 2; i++) {
        long k = (long)lm_at(g, i, j);
        struct lm_vector u = {ji.x[k], ji.y[k], ji.z[k]};
        struct lm_vector f = lm_electron_force(lm_view_at(j0, k), lm_view_at(b, k), u);
        c->force[0][k] = f.x;
        c->force[1][k] = f.y;
        c->force[2][k] = f.z;
    }
}

/* What Ohm's law reads. */
struct ohm_views {
    struct lm_view force, curl, given;
};

static struct ohm_views ohm_views(const struct lm_cpu *c)
{
    return (struct ohm_views){
        view(c, c->force),
        view(c, c->curl),
        {c->array[LM_FLOORED], c->array[LM_PRESSURE], c->array[LM_ETA], c->base.setup.grid.stride}};
}

/* E through the walls of an axis, whose nodes have the indices -1 and n - 1. */
static void electric_field_on_wall(struct lm_cpu *c, int axis, double *const e[3], double *const push[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct ohm_views v = ohm_views(c);
    const int along = axis == 0 ? g->ny : g->nx, count = along - c->walls[1 - axis] + 1;
    const long last = axis == 0 ? g->nx : (long)g->ny * g->stride, step = axis == 0 ? 1 : g->stride;
    for (int n = 0; n < 2 * count; n++) {
        const int m = n / 2, high = n % 2;
        const long k = (long)(axis == 0 ? lm_at(g, -1, m) : lm_at(g, m, -1)) + (high ? last : 0);
        double total[3], ideal[3];
        lm_wall_field(axis, high ? 0 : step, lm_view_at(v.force, k), lm_view_at(v.curl, k), lm_view_at(v.given, k), o,
                      total, ideal);
        if (c->solid)
            lm_body_field(c->solid + k, lm_view_at(v.force, k), lm_view_at(v.curl, k), lm_view_at(v.given, k), o, total,
                          ideal);
        e[axis][k] = total[axis];
        if (push)
            push[axis][k] = o->friction ? ideal[axis] : total[axis];
    }
}

/* E of nodes that touch bodies, in a row. */
static void electric_field_of_bodies(const struct lm_cpu *c, int j, int count, double *const e[3],
                                     double *const push[3])
{
    const struct ohm_views v = ohm_views(c);
    for (int i = 0; i < count; i++) {
        long k = (long)lm_at(&c->base.setup.grid, i, j);
        double total[3] = {e[0][k], e[1][k], e[2][k]}, of_push[3] = {0.0, 0.0, 0.0};
        for (int d = 0; d < 3 && push; d++)
            of_push[d] = push[d][k];
        lm_body_field(c->solid + k, lm_view_at(v.force, k), lm_view_at(v.curl, k), lm_view_at(v.given, k),
                      &c->base.setup.ohm, total, of_push);
        for (int d = 0; d < 3; d++) {
            e[d][k] = total[d];
            if (push)
                push[d][k] = of_push[d];
        }
    }
}

/* E on [0, n] in both directions, along walls on [0, n - 1] and through them on [-1, n - 1]; with `push`, also the E of
 * the ions before smoothing. */
static void electric_field(struct lm_cpu *c, double *const e[3], double *const push[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct ohm_views v = ohm_views(c);
    const int columns = g->nx + 1 - c->walls[0];
    LM_ROWS(c, 0, 1 - c->walls[1])
    {
        for (int i = 0; i < columns; i++) {
            long k = (long)lm_at(g, i, j);
            double total[3], ideal[3];
            lm_electric_field(lm_view_at(v.force, k), lm_view_at(v.curl, k), lm_view_at(v.given, k), o, total, ideal);
            for (int d = 0; d < 3; d++) {
                e[d][k] = total[d];
                if (push)
                    push[d][k] = o->friction ? ideal[d] : total[d];
            }
        }
        if (c->solid)
            electric_field_of_bodies(c, j, columns, e, push);
    }
    for (int axis = 0; axis < 2; axis++)
        if (c->walls[axis])
            electric_field_on_wall(c, axis, e, push);
}

/* E beyond walls, where it is given: LM_E holds it. */
static void put_given_e(struct lm_cpu *c, double *const e[3])
{
    for (int d = 0; d < 3 && lm_is_given_e(&c->sides); d++)
        copy(c, e[d], c->array[LM_E + d]);
}

static void fill_e(struct lm_cpu *c, double *const e[3], enum lm_fill fill)
{
    for (int d = 0; d < 3; d++)
        lm_fill_e(&c->base.setup, e[d], d, fill);
}

/* Undoes a stage where B is given: what the last one starts from is what the first one did. */
static void hold_given_b(struct lm_cpu *c, int stage)
{
    const struct lm_grid *g = &c->base.setup.grid;
    double *const *state = c->array + LM_B;
    if (!lm_is_given_b(&c->sides))
        return;
    LM_ROWS(c, LM_GHOST, LM_GHOST)
    for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++)
        for (int d = 0; d < 3; d++) {
            size_t k = lm_at(g, i, j);
            if (!lm_is_held(&c->sides, d, i, j, g->nx, g->ny))
                continue;
            if (stage == 3)
                state[d][k] = c->result[d][k];
            else
                c->stage[d][k] = c->result[d][k] = state[d][k];
        }
}

int lm_cpu_advance_b(struct lm_backend *b, int ion_current, double dt, int substeps)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const int beyond_x = c->walls[0] ? LM_GHOST : 0, beyond_y = c->walls[1] ? LM_GHOST : 0;
    const struct lm_ohm *o = &b->setup.ohm;
    double *const *state = c->array + LM_B;
    put_given_e(c, c->e);
    for (int r = 0; r < substeps; r++) {
        if (lm_stop_now())
            return lm_stop_give_up();
        for (int stage = 0; stage < 4; stage++) {
            struct lm_rk4 rk = lm_rk4_stage(stage, dt / substeps);
            electron_force(c, stage == 0 ? state : c->stage, c->array + ion_current);
            electric_field(c, c->e, NULL);
            if (c->walls[0] || c->walls[1])
                fill_e(c, c->e, LM_FILL_FARADAY);
            struct lm_view e = view(c, c->e);
            /* Beyond walls up to where E is known on all sides of a node. */
            LM_ROWS(c, beyond_y, beyond_y - c->walls[1])
            for (int i = -beyond_x; i < g->nx + beyond_x - c->walls[0]; i++) {
                size_t k = lm_at(g, i, j);
                struct lm_vector v = lm_faraday(lm_view_at(e, (long)k), o->rx, o->ry);
                const double rate[3] = {v.x, v.y, v.z};
                for (int d = 0; d < 3; d++) {
                    double *to = stage == 3 ? state[d] : c->result[d];
                    double before = stage == 0 ? state[d][k] : c->result[d][k];
                    if (stage < 3)
                        c->stage[d][k] = lm_fma(rk.next, rate[d], state[d][k]);
                    to[k] = lm_fma(rk.result, rate[d], before);
                }
            }
            hold_given_b(c, stage);
            wrap3(c, stage == 3 ? state : c->stage);
        }
    }
    return LM_OK;
}

/* Currents as deposited, on the faces of walls. */
static void fill_walls(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int *of = g->sides.of;
    double *jx = c->raw[1], *jy = c->raw[2];
    for (int j = 0; j < g->ny && lm_has_walls(&g->sides, 0); j++) {
        jx[lm_at(g, -1, j)] = g->nx > 1 ? lm_on_wall(of[LM_X_MIN], jx[lm_at(g, 0, j)]) : 0.0;
        jx[lm_at(g, g->nx - 1, j)] = g->nx > 1 ? lm_on_wall(of[LM_X_MAX], jx[lm_at(g, g->nx - 2, j)]) : 0.0;
    }
    for (int i = 0; i < g->nx && lm_has_walls(&g->sides, 1); i++) {
        jy[lm_at(g, i, -1)] = g->ny > 1 ? lm_on_wall(of[LM_Y_MIN], jy[lm_at(g, i, 0)]) : 0.0;
        jy[lm_at(g, i, g->ny - 1)] = g->ny > 1 ? lm_on_wall(of[LM_Y_MAX], jy[lm_at(g, i, g->ny - 2)]) : 0.0;
    }
}

/* One pass of the binomial filter on an array whose ghosts are valid; those stay behind. What was there before is in
 * c->spare. */
static void filter(struct lm_cpu *c, double *a)
{
    const struct lm_grid *g = &c->base.setup.grid;
    copy(c, c->spare, a);
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        a[k] = lm_binomial(c->spare + k, g->stride);
    }
}

/* The passes on a moment, ghosts valid before and after; `along` as in lm_fill_moment. */
static void smooth_moment(struct lm_cpu *c, double *a, int along)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int r = 0; r < c->base.setup.smoothing; r++) {
        filter(c, a);
        LM_ROWS(c, 0, c->solid ? 0 : -g->ny)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            a[k] = lm_binomial_beside(c->spare + k, c->solid + k, g->stride);
        }
        lm_fill_moment(g, a, along);
    }
}

/* The same on the E of the push. What a body does to E is not smoothed. */
static void smooth_e(struct lm_cpu *c, double *a, int component)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int r = 0; r < c->base.setup.smoothing; r++) {
        filter(c, a);
        LM_ROWS(c, 0, c->solid ? 0 : -g->ny)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            if (lm_touches_body(c->solid + k, component, g->stride))
                a[k] = c->spare[k];
        }
        lm_fill_e(&c->base.setup, a, component, LM_FILL_PUSH);
    }
}

static void extrapolate_current(struct lm_cpu *c)
{
    size_t size = c->base.setup.grid.size;
    for (int d = 0; d < 3; d++) {
        const double *later = c->array[LM_J_NEW + d], *earlier = c->array[LM_J_OLD + d];
        double *to = c->ahead[d];
#pragma omp parallel for num_threads(c->grid_threads)
        for (size_t k = 0; k < size; k++)
            to[k] = lm_ahead(later[k], earlier[k]);
    }
}

static uint64_t larger(uint64_t a, double b)
{
    uint64_t bits = lm_size_bits(b);
    return bits > a ? bits : a;
}

/* Also beyond walls, where E may be given and particles feel it. */
static void survey_e(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int x = c->walls[0] ? LM_GHOST : 0, y = c->walls[1] ? LM_GHOST : 0;
    uint64_t ex = 0, ey = 0, ez = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : ex, ey, ez)
    for (int j = -y; j < g->ny + y; j++)
        for (int i = -x; i < g->nx + x; i++) {
            size_t k = lm_at(g, i, j);
            ex = larger(ex, c->array[LM_PUSH_E][k]);
            ey = larger(ey, c->array[LM_PUSH_E + 1][k]);
            ez = larger(ez, c->array[LM_PUSH_E + 2][k]);
        }
    c->control.push_e[0] = lm_from_bits(ex);
    c->control.push_e[1] = lm_from_bits(ey);
    c->control.push_e[2] = lm_from_bits(ez);
}

/* The largest frequency of a row, as bits, and its cells at the floor. `solid` stands on the row; NULL: all plasma. */
LM_HD uint64_t survey_row(const struct lm_cpu *c, int level, int j, const uint8_t *solid, int64_t *floored)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const double *n = c->array[level], k2 = lm_largest_k2(g, o->rx, o->ry);
    double *const *ji = c->array + level + 1;
    const struct lm_view bf = view(c, c->array + LM_B);
    uint64_t frequency = 0;
    int64_t count = 0;
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        struct lm_vector u = {ji[0][k], ji[1][k], ji[2][k]};
        struct lm_vector bc = lm_b_centre(lm_view_at(bf, (long)k));
        int body = solid ? solid[i] : 0;
        frequency =
            larger(frequency, lm_frequency_beside(body, bc, u, lm_floored(n[k], o), c->array[LM_ETA][k], k2, o));
        count += !body && n[k] < o->floor;
    }
    *floored += count;
    return frequency;
}

/* Maxima with the density and the ion current of a level: LM_N_OLD or LM_N_NEW. */
static void survey(struct lm_cpu *c, int level)
{
    const struct lm_grid *g = &c->base.setup.grid;
    uint64_t frequency = 0;
    int64_t floored = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : frequency) reduction(+ : floored)
    for (int j = 0; j < g->ny; j++) {
        /* Two calls: without bodies the compiler makes vector instructions of it. */
        uint64_t f = c->solid ? survey_row(c, level, j, c->solid + lm_at(g, 0, j), &floored)
                              : survey_row(c, level, j, NULL, &floored);
        frequency = f > frequency ? f : frequency;
    }
    survey_e(c);
    c->control.frequency = lm_from_bits(frequency);
    c->control.floored = floored;
}

int lm_cpu_survey(struct lm_backend *b)
{
    survey(lm_cpu_of(b), LM_N_OLD);
    return LM_OK;
}

int lm_cpu_ohm(struct lm_backend *b, enum lm_ohm_current current)
{
    struct lm_cpu *c = lm_cpu_of(b);
    double *const *push = c->array + LM_PUSH_E;
    const int level = current == LM_OHM_AHEAD ? LM_N_NEW : LM_N_OLD;
    lm_cpu_closure(b, level, level);
    if (current == LM_OHM_AHEAD)
        extrapolate_current(c);
    electron_force(c, c->array + LM_B, current == LM_OHM_AHEAD ? c->ahead : c->array + LM_J_OLD);
    put_given_e(c, push);
    electric_field(c, c->array + LM_E, push);
    fill_e(c, c->array + LM_E, LM_FILL_FARADAY);
    fill_e(c, push, LM_FILL_PUSH);
    for (int k = 0; k < 3; k++)
        smooth_e(c, push[k], k);
    survey(c, level);
    return LM_OK;
}

/* Adds the integer moments of a species to the sums over species, as charge density and current, and clears them. */
int lm_cpu_collect(struct lm_backend *b, int species, int speed_exponent, int first)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_backend_species *s = &b->setup.species[species];
    double *number = c->array[LM_SPECIES_N + species];
    int64_t parts = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : parts)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j), m = (size_t)j * (size_t)g->nx + (size_t)i;
            const int64_t sums[4] = {c->sums[0][m], c->sums[1][m], c->sums[2][m], c->sums[3][m]};
            double add[4];
            number[k] = lm_species_moments(sums, s->charge, s->weight, speed_exponent, add);
            parts += sums[0];
            for (int d = 0; d < 4; d++) {
                c->raw[d][k] = first ? add[d] : c->raw[d][k] + add[d];
                c->sums[d][m] = 0;
            }
        }
    for (size_t k = 0; k < g->size && c->solid; k++)
        if (c->solid[k])
            number[k] = 0.0;
    c->control.charge_quanta[species] = parts;
    lm_fill_moment(g, number, -1);
    return LM_OK;
}

int lm_cpu_moments(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    for (int d = 0; d < 4; d++)
        lm_grid_wrap(g, c->raw[d]);
    fill_walls(c);
    double *const *out = c->array + LM_N_NEW;
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        const double *const raw[4] = {c->raw[0] + k, c->raw[1] + k, c->raw[2] + k, c->raw[3] + k};
        double centred[4];
        lm_centred_moments(raw, g->stride, centred);
        for (int d = 0; d < 4; d++)
            out[d][k] = centred[d];
    }
    LM_ROWS(c, 0, c->solid ? 0 : -g->ny)
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        const double *const raw[4] = {c->raw[0] + k, c->raw[1] + k, c->raw[2] + k, c->raw[3] + k};
        double centred[4];
        lm_moments_beside(raw, c->solid + k, g->stride, centred);
        for (int d = 0; d < 4; d++)
            out[d][k] = centred[d];
    }
    for (int d = 0; d < 4; d++) {
        lm_fill_moment(g, out[d], d - 1);
        smooth_moment(c, out[d], d - 1);
    }
    return LM_OK;
}

/* Sum of `square ? a^2 : a` over the cells in fixed point; the exponent follows from the largest term. */
static int64_t sum_cells(const struct lm_cpu *c, const double *a, int square, int *exponent)
{
    const struct lm_grid *g = &c->base.setup.grid;
    uint64_t top = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : top)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            double v = a[lm_at(g, i, j)];
            top = larger(top, square ? v * v : v);
        }
    *exponent = lm_sum_exponent((double)g->cells, lm_speed_exponent(lm_from_bits(top)));
    double scale = lm_exp2i(*exponent);
    int64_t sum = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : sum)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            double v = a[lm_at(g, i, j)];
            sum += lm_round64((square ? v * v : v) * scale);
        }
    return sum;
}

int lm_cpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_ohm *o = &b->setup.ohm;
    const double *entropy = o->evolved ? c->array[LM_BACKGROUND + b->setup.background_count - 1] : NULL;
    for (int d = 0; d < 3; d++)
        out->b2[d] = sum_cells(c, c->array[LM_B + d], 1, &out->exponent_b2[d]);
    uint64_t div = 0;
    struct lm_view bf = view(c, c->array + LM_B);
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : div)
    for (int j = -c->walls[1]; j < g->ny; j++)
        for (int i = -c->walls[0]; i < g->nx; i++) {
            size_t k = lm_at(g, i, j);
            int solid = c->solid ? c->solid[k] : 0;
            c->spare[k] = solid     ? 0.0
                          : entropy ? lm_pressure_of(entropy[k], o->gamma) / (o->gamma - 1.0)
                                    : lm_electron_energy(lm_floored(c->array[LM_N_OLD][k], o), o);
            div = larger(div, lm_div_b(lm_view_at(bf, (long)k), o->rx, o->ry));
        }
    out->electrons = sum_cells(c, c->spare, 0, &out->exponent_electrons);
    out->div_b = lm_from_bits(div);
    return LM_OK;
}

/* Of the cells of an array that is field number `field` of the state. */
static uint64_t hash_cells(const struct lm_cpu *c, int field, const double *a)
{
    const struct lm_grid *g = &c->base.setup.grid;
    uint64_t hash = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : hash)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            hash += lm_hash_value(field, (uint64_t)j * (uint64_t)g->nx + (uint64_t)i, a[lm_at(g, i, j)]);
    return hash;
}

uint64_t lm_cpu_hash_fields(struct lm_cpu *c)
{
    const int backgrounds = c->base.setup.background_count;
    uint64_t hash = 0;
    for (int f = 0; f < LM_STATE_FIELDS; f++)
        hash += hash_cells(c, f, c->array[f]);
    for (int f = 0; f < backgrounds; f++)
        hash += hash_cells(c, LM_STATE_FIELDS + f, c->array[LM_BACKGROUND + f]);
    for (int d = 0; d < 3 && lm_any_field_walls(&c->sides); d++) {
        const double *a = c->array[LM_B + d];
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : hash)
        for (size_t k = 0; k < c->base.setup.grid.size; k++)
            hash += lm_hash_value(LM_STATE_FIELDS + backgrounds + d, k, a[k]);
    }
    return hash;
}
