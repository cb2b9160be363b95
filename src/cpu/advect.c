/* CPU backend: background fields. A stage of the Runge-Kutta method goes up the rows; the flux through each face is
 * formed once, a row of faces at a time, as in free fluid; those beside solids and on sides are then put right one by
 * one. The bodies are in larmor/physics/fluid/advect.h. */
#include <stdlib.h>

#include "cpu/cpu.h"
#include "larmor/physics/fluid/flow.h"
#include "larmor/physics/fields/wall.h"

enum { ACROSS = 2 * LM_WENO_MOST };

/* One stage of a field. */
struct stage {
    const struct lm_cpu *cpu;
    const struct lm_background *field;
    const struct lm_bounds *bounds; /* NULL: none */
    const struct scheme *scheme;
    struct lm_advect by;
    const double *q0, *q, *vx, *vy, *source;
    double *const *inflow; /* of each side; NULL where nothing flows in */
    double *to;
};

/* A row of faces: c[m][f] are the cells across face f. */
struct row {
    int count;
    const double *c[ACROSS], *u;
    double factor, diffusion;
};

/* --- free fluid, a row at a time --- */

static inline __attribute__((always_inline)) void carry(int scheme, int single, const struct lm_bounds *bounds,
                                                        const struct row *r, double *units)
{
    const double *const u = r->u, factor = r->factor;
    for (int f = 0; f < r->count; f++) {
        double c[ACROSS];
        LM_UNROLL
        for (int m = 0; m < 2 * lm_scheme_reach(scheme); m++)
            c[m] = r->c[m][f];
        units[f] = lm_carried(u[f], lm_face_value(scheme, single, bounds, c, u[f]), factor);
    }
}

/* --- beside solids, and on sides: one face --- */

typedef void carry_function(const struct lm_bounds *bounds, const struct row *r, double *restrict units);
typedef double beside_function(const struct lm_bounds *bounds, const double *c, double u, int before, int behind);

/* Functions for each scheme and precision, so that the loop is one of vectors. */
#define SCHEME(scheme, single)                                                                                         \
    static void carry_##scheme##_##single(const struct lm_bounds *bounds, const struct row *r, double *restrict units) \
    {                                                                                                                  \
        if (bounds)                                                                                                    \
            carry(scheme, single, bounds, r, units);                                                                   \
        else                                                                                                           \
            carry(scheme, single, NULL, r, units);                                                                     \
    }                                                                                                                  \
    static double beside_##scheme##_##single(const struct lm_bounds *bounds, const double *c, double u, int before,    \
                                             int behind)                                                               \
    {                                                                                                                  \
        return lm_face_value_beside(scheme, single, bounds, c, u, before, behind);                                     \
    }
SCHEME(0, 0)
SCHEME(1, 0)
SCHEME(2, 0)
SCHEME(3, 0)
SCHEME(4, 0)
SCHEME(5, 0)
SCHEME(2, 1)
SCHEME(3, 1)
SCHEME(4, 1)
SCHEME(5, 1)

static const struct scheme {
    carry_function *carry;
    beside_function *beside;
} schemes[6][2] = {
    {{carry_0_0, beside_0_0}, {carry_0_0, beside_0_0}}, {{carry_1_0, beside_1_0}, {carry_1_0, beside_1_0}},
    {{carry_2_0, beside_2_0}, {carry_2_1, beside_2_1}}, {{carry_3_0, beside_3_0}, {carry_3_1, beside_3_1}},
    {{carry_4_0, beside_4_0}, {carry_4_1, beside_4_1}}, {{carry_5_0, beside_5_0}, {carry_5_1, beside_5_1}}};

static void diffuse(int reach, const struct row *r, double *units)
{
    const double *from = r->c[reach - 1], *to = r->c[reach], factor = r->diffusion;
    if (factor > 0.0)
        for (int f = 0; f < r->count; f++) {
            const double pair[2] = {from[f], to[f]};
            units[f] += lm_diffused(pair, factor);
        }
}

static double units_beside(const struct stage *s, const struct row *r, int f, int before, int behind)
{
    const int reach = lm_scheme_reach(s->field->scheme), forward = r->u[f] > 0.0, room = forward ? before : behind;
    const int first = reach - room + !forward, last = first + 2 * room - 2;
    double c[ACROSS] = {0};
    if (!before || !behind)
        return 0.0;
    for (int m = 0; m < 2 * reach; m++) /* solid cells are not read */
        if ((m >= first && m <= last) || m == reach - 1 || m == reach)
            c[m] = r->c[m][f];
    double units = lm_carried(r->u[f], s->scheme->beside(s->bounds, c, r->u[f], before, behind), r->factor);
    if (r->diffusion > 0.0)
        units += lm_diffused(c + reach - 1, r->diffusion);
    return units;
}

/* Through face f of a row, which is cell n of a side of the domain. */
static double units_on_side(const struct stage *s, const struct row *r, int f, int side, int n)
{
    const int reach = lm_scheme_reach(s->field->scheme), high = side % 2;
    const double u = r->u[f], inside = r->c[high ? reach - 1 : reach][f];
    return lm_side_units(s->field->sides[side], u, high ? -u : u, inside, s->inflow[side] ? s->inflow[side][n] : 0.0,
                         r->factor);
}

/* --- rows --- */

static const struct lm_grid *grid_of(const struct stage *s)
{
    return &s->cpu->base.setup.grid;
}

/* The cell of a row or column of n that stands for one beyond its ends: nothing but a number where they are not
 * periodic. */
static int inside(int k, int n, int periodic)
{
    return periodic ? ((k % n) + n) % n : k < 0 ? 0 : k >= n ? n - 1 : k;
}

static void put_right_x(const struct stage *s, int j, const struct row *r, double *units)
{
    const struct lm_grid *g = grid_of(s);
    const uint8_t *room = s->cpu->room + lm_at(g, -1, j);
    const int reach = lm_scheme_reach(s->field->scheme);
    for (int f = 0; f < r->count && s->cpu->row_beside[j]; f++)
        if (lm_room_x(room[f]) < reach || lm_room_x(room[f + 1]) < reach)
            units[f] = units_beside(s, r, f, lm_room_x(room[f]), lm_room_x(room[f + 1]));
    if (!lm_has_walls(&g->sides, 0))
        return;
    units[0] = room[1] ? units_on_side(s, r, 0, LM_X_MIN, j) : 0.0;
    units[g->nx] = room[g->nx] ? units_on_side(s, r, g->nx, LM_X_MAX, j) : 0.0;
}

/* Units through the nx + 1 faces of row j; `line` has room for the cells of a row and LM_WENO_MOST more on each
 * side. */
static void faces_x(const struct stage *s, int j, double *line, double *units)
{
    const struct lm_grid *g = grid_of(s);
    const int reach = lm_scheme_reach(s->field->scheme), periodic = !lm_has_walls(&g->sides, 0);
    const double *q = s->q + lm_at(g, 0, j);
    struct row r = {.count = g->nx + 1, .u = s->vx + lm_at(g, -1, j), .factor = s->by.x, .diffusion = s->by.kx};
    for (int i = -LM_WENO_MOST; i < 0; i++) {
        line[i] = q[inside(i, g->nx, periodic)];
        line[g->nx - 1 - i] = q[inside(g->nx - 1 - i, g->nx, periodic)];
    }
    memcpy(line, q, (size_t)g->nx * sizeof *line);
    for (int m = 0; m < 2 * reach; m++)
        r.c[m] = line + m - reach;
    s->scheme->carry(s->bounds, &r, units);
    diffuse(reach, &r, units);
    put_right_x(s, j, &r, units);
}

static void put_right_y(const struct stage *s, int j, const struct row *r, double *units)
{
    const struct lm_grid *g = grid_of(s);
    const int reach = lm_scheme_reach(s->field->scheme), side = j < 0 ? LM_Y_MIN : LM_Y_MAX;
    const int on_side = lm_has_walls(&g->sides, 1) && (j < 0 || j == g->ny - 1);
    const uint8_t *room = s->cpu->room + lm_at(g, 0, j), *next = room + g->stride;
    if (!s->cpu->row_beside[inside(j, g->ny, 1)] && !s->cpu->row_beside[inside(j + 1, g->ny, 1)])
        return;
    for (int f = 0; f < r->count; f++)
        if (on_side)
            units[f] = room[f] || next[f] ? units_on_side(s, r, f, side, f) : 0.0;
        else if (lm_room_y(room[f]) < reach || lm_room_y(next[f]) < reach)
            units[f] = units_beside(s, r, f, lm_room_y(room[f]), lm_room_y(next[f]));
}

/* Units through the faces between rows j and j + 1. */
static void faces_y(const struct stage *s, int j, double *units)
{
    const struct lm_grid *g = grid_of(s);
    const int reach = lm_scheme_reach(s->field->scheme), periodic = !lm_has_walls(&g->sides, 1);
    struct row r = {.count = g->nx, .u = s->vy + lm_at(g, 0, j), .factor = s->by.y, .diffusion = s->by.ky};
    for (int m = 0; m < 2 * reach; m++)
        r.c[m] = s->q + lm_at(g, 0, inside(j + 1 - reach + m, g->ny, periodic));
    s->scheme->carry(s->bounds, &r, units);
    diffuse(reach, &r, units);
    put_right_y(s, j, &r, units);
}

/* --- what is counted --- */

static const struct lm_advected nothing = {.least = INFINITY, .most = -INFINITY};

/* NaN is lesser and greater than anything. */
static double lesser(double a, double b)
{
    return a != a || a <= b ? a : b;
}

static double greater(double a, double b)
{
    return a != a || a >= b ? a : b;
}

static void add_found(struct lm_advected *to, const struct lm_advected *from)
{
    lm_wide_merge(&to->total, &from->total);
    lm_wide_merge(&to->source, &from->source);
    for (int side = 0; side < LM_SIDES; side++)
        lm_wide_merge(&to->crossed[side], &from->crossed[side]);
    to->least = lesser(to->least, from->least);
    to->most = greater(to->most, from->most);
}

/* One row of cells from the units through their faces; the source's are counted on the way. */
static void update_row(const struct stage *s, int j, const double *x, const double *below, const double *above,
                       double *gain, struct lm_wide *from_source)
{
    const struct lm_grid *g = grid_of(s);
    const size_t k = lm_at(g, 0, j);
    const double *q0 = s->q0 + k, *q = s->q + k;
    double *to = s->to + k;
    for (int i = 0; i < g->nx; i++)
        gain[i] = (x[i] - x[i + 1]) + (below[i] - above[i]);
    for (int i = 0; i < g->nx && s->source; i++) {
        const double given = lm_trunc(s->source[k + (size_t)i] * s->by.source);
        gain[i] += given;
        lm_wide_add(from_source, given);
    }
    for (int i = 0; i < g->nx; i++)
        to[i] = lm_advect_update(&s->by, q0[i], q[i], gain[i]);
}

/* What crosses the sides. */
static void count_row(const struct stage *s, int j, const double *x, const double *below, const double *above,
                      struct lm_advected *found)
{
    const struct lm_grid *g = grid_of(s);
    if (lm_has_walls(&g->sides, 0)) {
        lm_wide_add(&found->crossed[LM_X_MIN], x[0]);
        lm_wide_add(&found->crossed[LM_X_MAX], x[g->nx]);
    }
    for (int i = 0; i < g->nx && lm_has_walls(&g->sides, 1) && j == 0; i++)
        lm_wide_add(&found->crossed[LM_Y_MIN], below[i]);
    for (int i = 0; i < g->nx && lm_has_walls(&g->sides, 1) && j == g->ny - 1; i++)
        lm_wide_add(&found->crossed[LM_Y_MAX], above[i]);
}

/* What the host asks for, of the field as it is at last. */
static void survey_row(const struct lm_cpu *c, const double *field, double per_quantum, int j,
                       struct lm_advected *found)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double *q = field + lm_at(g, 0, j);
    const uint8_t *room = c->room + lm_at(g, 0, j);
    for (int i = 0; i < g->nx; i++) {
        lm_wide_add(&found->total, q[i] * per_quantum);
        if (room[i]) {
            found->least = lesser(found->least, q[i]);
            found->most = greater(found->most, q[i]);
        }
    }
}

void lm_cpu_survey_field(struct lm_cpu *c, int field, double per_quantum)
{
    struct lm_advected all = nothing, *found = &c->control.background[field];
    for (int j = 0; j < c->base.setup.grid.ny; j++)
        survey_row(c, c->array[LM_BACKGROUND + field], per_quantum, j, &all);
    found->total = all.total;
    found->least = all.least;
    found->most = all.most;
}

enum { ROW_ARRAYS = 5 };

static size_t row_size(const struct lm_grid *g)
{
    return (size_t)g->nx + 2 * LM_WENO_MOST;
}

/* Rows [first, end); `work` has ROW_ARRAYS rows. */
static void advance_rows(const struct stage *s, int first, int end, int last, double *work, struct lm_advected *found)
{
    const size_t size = row_size(grid_of(s));
    double *line = work + LM_WENO_MOST, *x = work + size, *gain = work + 2 * size;
    double *below = work + 3 * size, *above = work + 4 * size;
    faces_y(s, first - 1, below);
    for (int j = first; j < end; j++) {
        faces_x(s, j, line, x);
        faces_y(s, j, above);
        update_row(s, j, x, below, above, gain, &found->source);
        count_row(s, j, x, below, above, found);
        if (last)
            survey_row(s->cpu, s->to, 1.0 / s->by.unit, j, found);
        double *t = below;
        below = above;
        above = t;
    }
}

static void run_stage(const struct stage *s, int last, double *work, struct lm_advected *found)
{
    const struct lm_grid *g = grid_of(s);
#pragma omp parallel num_threads(s->cpu->grid_threads)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        struct lm_advected own = nothing;
        advance_rows(s, g->ny * thread / threads, g->ny * (thread + 1) / threads, last,
                     work + (size_t)thread * ROW_ARRAYS * row_size(g), &own);
#pragma omp critical
        add_found(found, &own);
    }
}

int lm_cpu_advect(struct lm_backend *b, int field, int quantum, double dt, int substeps)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_background *f = &b->setup.background[field];
    const struct lm_ohm *o = &b->setup.ohm;
    const struct lm_bounds bounds = {f->least, f->most};
    double *q = c->array[LM_BACKGROUND + field], *first = c->stage[0], *second = c->stage[1];
    double *const from[LM_ADVECT_STAGES] = {q, first, second}, *const to[LM_ADVECT_STAGES] = {first, second, q};
    struct lm_advected *found = &c->control.background[field];
    double *work = malloc((size_t)c->grid_threads * ROW_ARRAYS * row_size(&b->setup.grid) * sizeof *work);
    if (!work)
        return lm_fail(LM_FAILED, "not enough memory for the background fields");
    found->total = nothing.total;
    found->least = nothing.least;
    found->most = nothing.most;
    int given_up = 0;
    for (int n = 0; n < LM_ADVECT_STAGES * substeps && !given_up; n++) {
        const int k = n % LM_ADVECT_STAGES;
        const struct stage s = {.cpu = c,
                                .field = f,
                                .bounds = f->limited ? &bounds : NULL,
                                .scheme = &schemes[f->scheme][f->single],
                                .by = lm_advect_stage(k, lm_exp2i(-quantum), dt, o->inv_dx, o->inv_dy, f->diffusivity),
                                .q0 = q,
                                .q = from[k],
                                .to = to[k],
                                .vx = c->array[LM_BACKGROUND_X + field],
                                .vy = c->array[LM_BACKGROUND_Y + field],
                                .source = f->has_source ? c->array[LM_BACKGROUND_SOURCE + field] : NULL,
                                .inflow = c->background_inflow[field]};
        run_stage(&s, n == LM_ADVECT_STAGES * substeps - 1, work, found);
        given_up = lm_stop_now();
    }
    free(work);
    return given_up ? lm_stop_give_up() : LM_OK;
}

/* --- velocities --- */

int lm_cpu_flow(struct lm_backend *b, int later)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_flow_given given = {.density = {c->array[LM_N_OLD], c->array[LM_N_NEW]},
                                        .current = {c->array[LM_J_NEW], c->array[LM_J_NEW + 1]},
                                        .b = {c->array[LM_B], c->array[LM_B + 1], c->array[LM_B + 2], g->stride},
                                        .room = c->room};
    const int last = b->setup.background_count - 1, evolved = b->setup.ohm.evolved;
    double *const entropy[2] = {evolved ? c->array[LM_BACKGROUND_X + last] : NULL,
                                evolved ? c->array[LM_BACKGROUND_Y + last] : NULL};
    LM_ROWS(c, 1, 0)
    for (int i = -1; i < g->nx; i++)
        for (int axis = 0; axis < 2; axis++) {
            const size_t k = lm_at(g, i, j);
            const enum lm_face_place place =
                lm_face_place(axis == 0 ? i : j, axis == 0 ? g->nx : g->ny, !lm_has_walls(&g->sides, axis));
            const struct lm_flows u = lm_flow_on_face(&given, axis, (long)k, place, later, &b->setup.ohm);
            if (entropy[axis])
                entropy[axis][k] = u.entropy;
            if (!c->flow[0])
                continue;
            double *ion = &c->flow[axis][k], *electron = &c->flow[2 + axis][k];
            *ion = later ? *ion : u.ion;
            *electron = later ? *electron + u.electron : u.electron;
        }
    return LM_OK;
}

int lm_cpu_flow_rates(struct lm_backend *b, double rate[LM_MAX_BACKGROUNDS])
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_ohm *o = &b->setup.ohm;
    for (int f = 0; f < b->setup.background_count; f++) {
        const double *x = c->array[LM_BACKGROUND_X + f], *y = c->array[LM_BACKGROUND_Y + f];
        uint64_t largest = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : largest)
        for (int j = 0; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++) {
                const size_t k = lm_at(g, i, j);
                uint64_t size =
                    lm_size_bits(lm_flow_rate(x[k - 1], x[k], y[k - (size_t)g->stride], y[k], o->inv_dx, o->inv_dy));
                largest = c->room[k] && size > largest ? size : largest;
            }
        rate[f] = lm_from_bits(largest);
    }
    return LM_OK;
}

int lm_cpu_gain(struct lm_backend *b, const struct lm_gain *gain)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    for (int f = 0; f < b->setup.background_count; f++) {
        const int what = b->setup.background[f].gains - 1;
        for (int j = 0; j < g->ny && what >= 0; j++)
            for (int i = 0; i < g->nx; i++) {
                const size_t k = (size_t)j * (size_t)g->nx + (size_t)i;
                if (c->given[what][k] == 0)
                    continue;
                const double whole = lm_gained(c->given[what][k], gain->unit[what], gain->quantum[f],
                                               lm_gain_chance(gain->key, gain->species, (uint32_t)k, f));
                c->array[LM_BACKGROUND + f][lm_at(g, i, j)] += whole * lm_exp2i(-gain->quantum[f]);
                lm_wide_add(&c->control.background[f].source, whole);
            }
    }
    for (int k = 0; k < LM_GIVEN; k++)
        memset(c->given[k], 0, g->cells * sizeof *c->given[k]);
    return LM_OK;
}
