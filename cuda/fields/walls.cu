/* CUDA backend: the fields where they end at walls, meet bodies or feel currents outside the plasma. One thread a cell,
 * and one kernel for each loop of src/cpu/ohm.c and faraday.c; no shared memory. The bodies are in
 * larmor/physics/fields/.
 *
 * Beyond radiating sides E comes from strips.cu. Substeps of B come here only where stage.cu does not make them.
 *
 * Who writes a cell also writes its periodic images. Ghost cells beyond walls are filled along x, then along y.
 *
 * Rate: these kernels alone are not recorded. A whole step with a wind from an inflow side to an open one makes
 * 30.5e9 particle-steps/s (NVIDIA H200, 2026-11-21, commit f3f446c; docs/performance/results.md).
 */
#include "core/halo.cuh"
#include "fields/domain.cuh"

#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/fields.h"
#include "larmor/physics/fields/open_side.h"
#include "larmor/physics/fields/resistivity.h"
#include "larmor/physics/fields/solid.h"

namespace
{

/* Column and row of this thread in blocks_for(g, LM_GHOST), from -LM_GHOST on. */
__device__ __forceinline__ int my_column()
{
    return (int)(blockIdx.x * TX + threadIdx.x % TX) - LM_GHOST;
}

__device__ __forceinline__ int my_row()
{
    return (int)(blockIdx.y * TY + threadIdx.x / TX) - LM_GHOST;
}

/* J = curl B - J_ext and struct lm_motional in the cells whose E is wanted; J also in what the Laplacian needs around
 * the nodes whose resistive E counts. The ion current J_i is `now`, or if `before` is not NULL it is extrapolated from
 * both. */
__global__ void motional_kernel(domain d, const double *b, const double *now, const double *before,
                                const double *per_density, double *j0, double *motional, struct lm_ohm o)
{
    const shape &s = d.s;
    const int i = my_column(), j = my_row();
    if (i < -2 || j < -2 || i >= s.nx + 2 || j >= s.ny + 2)
        return;
    const size_t k = at(s, i, j);
    const struct lm_view bv = view_of(b, s, k);
    const struct lm_view external = external_at(d, k);
    const struct lm_vector here = current_at(d, i, j, bv, external, 0, o);
    put_vector(j0, s, k, here);
    if (i < -d.walls_x || j < -d.walls_y)
        return;
    double ji[3];
    LM_UNROLL
    for (int m = 0; m < 3; m++)
        ji[m] = before ? lm_extrapolate_half_step(now[m * s.pitch + k], before[m * s.pitch + k]) : now[m * s.pitch + k];
    const struct lm_motional m = motional_at(d, i, j, bv, external, here, {ji[0], ji[1], ji[2]}, per_density[k], o);
    put_vector(motional, s, k, m.field);
    motional[3 * s.pitch + k] = m.slip;
}

/* LM_ETA where it depends on the plasma: in the domain, and one cell and two beyond walls, as far as Ohm's law reads
 * it.
 */
__global__ void local_eta_kernel(domain d, struct lm_grid g, const lm_driving *drive, double t, const double *b,
                                 const double *current, const double *floored, const double *p, const double *given,
                                 double *eta)
{
    const shape &s = d.s;
    const int i = my_column(), j = my_row();
    if (i < -d.walls_x || j < -d.walls_y || i >= s.nx + 2 * d.walls_x || j >= s.ny + 2 * d.walls_y)
        return;
    const size_t k = at(s, i, j);
    const struct lm_electron_view electrons = {floored + k, p + k};
    const double v = d.solid && d.solid[k] ? given[k]
                                           : lm_local_eta(&drive->eta, &g, i, j, t, electrons, view_of(current, s, k),
                                                          view_of(b, s, k), given[k]);
    each_periodic(s, d.walls_x, d.walls_y, i, j, [&](size_t to) { eta[to] = v; });
}

/* What Ohm's law reads. */
struct ohm_arrays {
    const double *b, *j0, *motional, *eta;
    const double *pressure; /* LM_PRESSURE_E; NULL: without that part */
};

__device__ __forceinline__ struct lm_ohm_view ohm_view_at(const ohm_arrays &a, const shape &s, size_t k)
{
    return {view_of(a.motional, s, k),
            view_of(a.b, s, k),
            view_of(a.j0, s, k),
            a.motional + 3 * s.pitch + k,
            a.eta + k,
            {a.pressure ? a.pressure + k : NULL, a.pressure ? a.pressure + s.pitch + k : NULL}};
}

/* E, and its resistive part unless `resistive` is NULL. */
__global__ void electric_kernel(domain d, ohm_arrays a, double *e, double *resistive, struct lm_ohm o)
{
    const shape &s = d.s;
    const int i = my_column(), j = my_row();
    if (i < -d.walls_x || j < -d.walls_y || i >= s.nx || j >= s.ny)
        return;
    const size_t k = at(s, i, j);
    const struct lm_ohm_view v = ohm_view_at(a, s, k);
    double total[3], part[3];
    if (resistive)
        o = lm_with_all_eta(o);
    lm_electric_field(v, &o, total, part);
    if (d.walls_x && (i < 0 || i == s.nx - 1))
        lm_wall_field(0, i < 0 ? 1 : 0, v, &o, total, part);
    if (d.walls_y && (j < 0 || j == s.ny - 1))
        lm_wall_field(1, j < 0 ? s.stride : 0, v, &o, total, part);
    if (d.solid)
        lm_body_field({d.solid + k, d.node + 3 * k, d.per_density + k}, v, &o, total, part);
    LM_UNROLL
    for (int m = 0; m < 3; m++) {
        if (!lm_is_own_e(m, i, j))
            continue;
        each_periodic(s, d.walls_x, d.walls_y, i, j, [&](size_t to) {
            e[m * s.pitch + to] = total[m];
            if (resistive)
                resistive[m * s.pitch + to] = part[m];
        });
    }
}

/* What the ions feel, before smoothing and without ghost cells beyond walls: arrays as from LM_PUSH_E on, those of the
 * pressure only where the ions take it from the faces (`on_faces`). */
__global__ void push_kernel(domain d, ohm_arrays a, const double *resistive, double *to, int friction, bool on_faces)
{
    const shape &s = d.s;
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    const bool in_body = d.solid && d.solid[k];
    const struct lm_vector none = {0.0, 0.0, 0.0}, b = lm_b_centre(view_of(a.b, s, k));
    const struct lm_vector motional = in_body ? none : vector_at(a.motional, s, k);
    const double slip = in_body ? 0.0 : a.motional[3 * s.pitch + k];
    const struct lm_view unfelt = {NULL, NULL, NULL, 0};
    const bool at_centres = a.pressure && !on_faces;
    const struct lm_view pressure = {at_centres ? a.pressure + k : NULL, at_centres ? a.pressure + s.pitch + k : NULL,
                                     NULL, s.stride};
    const struct lm_vector e = lm_push_field(motional, slip, b, friction ? unfelt : view_of(resistive, s, k), pressure);
    each_periodic(s, d.walls_x, d.walls_y, c.i, c.j, [&](size_t image) {
        put_vector(to, s, image, e);
        put_vector(to + FELT_B * s.pitch, s, image, b);
        for (int axis = 0; axis < 2 && on_faces; axis++)
            to[(FELT_PRESSURE + axis) * s.pitch + image] = a.pressure[axis * s.pitch + k];
    });
}

/* Ghost cells of a vector beyond the walls of an axis: one thread a line; blockIdx.y is the component. */
__global__ void fill_kernel(domain d, int axis, enum lm_fill fill, double *e)
{
    const shape &s = d.s;
    const int line = (int)(blockIdx.x * THREADS + threadIdx.x) - LM_GHOST, component = blockIdx.y;
    if (line >= (axis == 0 ? s.ny : s.nx) + LM_GHOST)
        return;
    e += component * s.pitch + (axis == 0 ? at(s, 0, line) : at(s, line, 0));
    lm_fill_line(&d.sides, axis, component, fill, e, axis == 0 ? 1 : s.stride, axis == 0 ? s.nx : s.ny);
}

/* E of such components: one thread a line; blockIdx.y counts the components. */
__global__ void open_kernel(const __grid_constant__ lm_open_sides o, open_components which, size_t pitch, double *e)
{
    const int axis = which.axis[blockIdx.y], component = which.component[blockIdx.y],
              line = (int)(blockIdx.x * THREADS + threadIdx.x) - LM_GHOST;
    if (line < (axis == 0 ? o.ny : o.nx) + LM_GHOST)
        lm_fill_open(&o, axis, component, e + component * pitch, line);
}

/* A stage of the Runge-Kutta method: B, also beyond walls up to where E is known on all sides of a node. `battery` may
 * be NULL. */
__global__ void faraday_kernel(domain d, const double *e, const double *battery, double *state, double *next,
                               double *result, int stage, struct lm_rk4 rk, struct lm_ohm o)
{
    const shape &s = d.s;
    const int beyond_x = d.walls_x ? LM_GHOST : 0, beyond_y = d.walls_y ? LM_GHOST : 0, i = my_column(), j = my_row();
    if (i < -beyond_x || j < -beyond_y || i >= s.nx + beyond_x - d.walls_x || j >= s.ny + beyond_y - d.walls_y)
        return;
    const size_t k = at(s, i, j);
    const struct lm_vector v = lm_faraday(view_of(e, s, k), o.inv_dx, o.inv_dy);
    const double z = lm_corner_rate(d.node ? d.node + 3 * k : NULL, v.z);
    const double rate[3] = {v.x, v.y, battery ? z + battery[k] : z};
    LM_UNROLL
    for (int m = 0; m < 3; m++) {
        const bool held = lm_is_held(&d.sides, m, i, j, s.nx, s.ny);
        double *from = state + m * s.pitch, *sum = result + m * s.pitch, *to = stage == 3 ? from : next + m * s.pitch;
        const double start = from[k], after = lm_rk4_sum(rk, held, stage == 0 ? start : sum[k], rate[m]);
        if (stage < 3)
            sum[k] = after;
        const double b = stage == 3 ? after : lm_rk4_next(rk, held, start, rate[m]);
        each_periodic(s, d.walls_x, d.walls_y, i, j, [&](size_t image) { to[image] = b; });
    }
}

/* A pass of the filter on what the ions feel; blockIdx.z is the component. `on_faces`: the values are on the faces that
 * the axis of the component crosses, and those on faces of bodies stay; else they are at the centres. */
__global__ void smooth_push_kernel(domain d, bool on_faces, const double *from, double *to)
{
    const shape &s = d.s;
    const int component = blockIdx.z;
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    from += component * s.pitch + k;
    to += component * s.pitch;
    double v;
    if (!d.solid)
        v = lm_binomial(from, s.stride);
    else if (!on_faces)
        v = lm_binomial_near_body(from, d.solid + k, s.stride);
    else
        v = lm_touches_body(d.solid + k, component, s.stride) ? from[0] : lm_binomial(from, s.stride);
    each_periodic(s, d.walls_x, d.walls_y, c.i, c.j, [&](size_t m) { to[m] = v; });
}

/* Copies E beyond the sides where it is prescribed: three arrays. */
void prescribe_e(struct lm_gpu *g, double *to, const double *from)
{
    if (lm_any_prescribed_e(&g->sides))
        lm_gpu_check(g, cudaMemcpyAsync(to, from, 3 * g->pitch * sizeof(double), cudaMemcpyDeviceToDevice, g->stream),
                     "E beyond walls");
}

/* `pressure`: LM_PRESSURE_E, or NULL for E without that part. */
ohm_arrays ohm_arrays_of(const struct lm_gpu *g, const double *b, const double *pressure)
{
    return {b, g->general.curl, g->general.motional, g->array[LM_ETA], pressure};
}

const double *pressure_e_of(const struct lm_gpu *g)
{
    return lm_has_pressure(&g->base.setup.ohm) ? g->array[LM_PRESSURE_E] : NULL;
}

/* lm_fill_open_e */
void fill_open_e(struct lm_gpu *g, double substep, const double *current, const double *b, double *e)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const struct lm_open_sides o = open_sides_of(g, substep, current, b);
    const open_order order = open_order_of(g);
    for (int k = 0; k < order.count; k++) {
        const dim3 blocks(line_blocks((grid->nx > grid->ny ? grid->nx : grid->ny) + 2 * LM_GHOST), order.of[k].count);
        open_kernel<<<blocks, THREADS, 0, g->stream>>>(o, order.of[k], g->pitch, e);
    }
}

/* E of `b`, with the part of the pressure only where its resistive part is wanted; the other arguments are those of
 * lm_gpu_currents. */
void electric_field(struct lm_gpu *g, const double *b, const double *ji, const double *before,
                    struct lm_level_weights at, double *e, double *resistive)
{
    lm_gpu_currents(g, b, ji, before, at);
    electric_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
        domain_of(g), ohm_arrays_of(g, b, resistive ? pressure_e_of(g) : NULL), e, resistive, g->base.setup.ohm);
    lm_gpu_fill_e(g, e, 3, LM_FILL_FARADAY);
}

/* Whose values beyond radiating sides a pass of the filter reads: neither, or E or B of the push of all ions. */
enum of_strips { OF_NEITHER = -1, OF_E, OF_B };

/* The passes of the filter on `count` components that the ions feel. These begin in `to`, or where the number of passes
 * is odd in `work`, and end in `to`. */
void smooth_push(struct lm_gpu *g, double *to, double *work, int count, enum lm_fill fill, enum of_strips beyond)
{
    int left = g->base.setup.smoothing;
    double *now = left % 2 ? work : to;
    lm_gpu_fill_e(g, now, count, fill);
    dim3 blocks = blocks_for(g, 0);
    blocks.z = (unsigned)count;
    for (; left > 0; left--) {
        double *next = left % 2 ? to : work;
        if (beyond != OF_NEITHER)
            lm_gpu_push_of_strips(g, now, beyond == OF_B);
        smooth_push_kernel<<<blocks, THREADS, 0, g->stream>>>(domain_of(g), fill == LM_FILL_PUSH_PRESSURE, now, next);
        lm_gpu_fill_e(g, next, count, fill);
        now = next;
    }
}

/* What all ions feel, from the resistive part of E, and what strips beyond sides add, from B in b_of_strips. LM_PUSH_E
 * has its values beyond sides where E is prescribed; the memory of the filter needs them, too. */
void push_fields(struct lm_gpu *g, struct lm_level_weights at, const double *resistive, enum lm_array b_of_strips)
{
    const int passes = g->base.setup.smoothing;
    double *const push = g->array[LM_PUSH_E], *const work = g->spare, *const first = passes % 2 ? work : push;
    const size_t b = FELT_B * g->pitch, pressure = FELT_PRESSURE * g->pitch;
    const bool on_faces = lm_has_pressure_on_faces(&g->base.setup.ohm);
    if (passes > 0)
        prescribe_e(g, work, push);
    push_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(domain_of(g),
                                                             ohm_arrays_of(g, g->array[LM_B], pressure_e_of(g)),
                                                             resistive, first, g->base.setup.ohm.friction, on_faces);
    if (g->base.setup.friction_species > 0)
        lm_gpu_friction_field(g, at, -1, first);
    lm_gpu_find_push_of_strips(g, b_of_strips);
    smooth_push(g, push, work, 3, LM_FILL_PUSH_E, OF_E);
    smooth_push(g, push + b, work + b, 3, LM_FILL_PUSH_B, OF_B);
    if (on_faces)
        smooth_push(g, push + pressure, work + pressure, 2, LM_FILL_PUSH_PRESSURE, OF_NEITHER);
    if (lm_halo_needs_moments(g->base.setup.halo))
        lm_gpu_halo_refresh(g, g->array + LM_PUSH_E, FELT_ARRAYS);
}

/* LM_FRICTION_E of all species. It is 0 where E is given, beyond sides: in the memory of the filter, too. */
void friction_of_species(struct lm_gpu *g, struct lm_level_weights at)
{
    const int passes = g->base.setup.smoothing;
    for (int which = 0; which < g->base.setup.friction_species; which++) {
        double *to = g->array[LM_FRICTION_E + 3 * lm_friction_species(&g->base.setup, which)];
        if (passes > 0)
            lm_gpu_check(g, cudaMemsetAsync(g->spare, 0, 3 * g->pitch * sizeof(double), g->stream), "friction");
        lm_gpu_friction_field(g, at, which, passes % 2 ? g->spare : to);
        smooth_push(g, to, g->spare, 3, LM_FILL_PUSH_E, OF_NEITHER);
        if (lm_halo_needs_moments(g->base.setup.halo)) {
            double *arrays[3] = {to, to + g->pitch, to + 2 * g->pitch};
            lm_gpu_halo_refresh(g, arrays, 3);
        }
    }
}

} // namespace

void lm_gpu_fill_e(struct lm_gpu *g, double *e, int count, enum lm_fill fill)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    for (int axis = 0; axis < 2; axis++)
        if (lm_field_walls(&g->sides, axis))
            fill_kernel<<<dim3(line_blocks((axis == 0 ? grid->ny : grid->nx) + 2 * LM_GHOST), count), THREADS, 0,
                          g->stream>>>(domain_of(g), axis, fill, e);
}

void lm_gpu_currents(struct lm_gpu *g, const double *b, const double *ji, const double *before,
                     struct lm_level_weights at)
{
    const dim3 blocks = blocks_for(g, LM_GHOST);
    motional_kernel<<<blocks, THREADS, 0, g->stream>>>(domain_of(g), b, ji, before, g->array[LM_PER_DENSITY],
                                                       g->general.curl, g->general.motional, g->base.setup.ohm);
    if (g->base.setup.local_eta)
        local_eta_kernel<<<blocks, THREADS, 0, g->stream>>>(
            domain_of(g), g->base.setup.grid, g->driving, g->driving_time, b, g->general.curl, g->array[LM_FLOORED],
            g->array[LM_PRESSURE], g->array[LM_GIVEN_ETA], g->array[LM_ETA]);
    if (g->base.setup.friction_species > 0)
        lm_gpu_add_friction(g, at, b);
}

int lm_gpu_general_advance_b(struct lm_gpu *g, const struct lm_b_step *step)
{
    const enum lm_array ion_current = step->ion_current;
    const double substep = step->dt / step->substeps;
    double *state = g->array[LM_B], *next = g->next_b;
    const double *battery = lm_gpu_battery(g);
    lm_gpu_keep_b(g, step);
    prescribe_e(g, g->general.e, g->array[LM_E]);
    lm_gpu_begin_strips(g, step);
    const bool whole = lm_gpu_has_whole_stages(g);
    if (whole)
        lm_gpu_begin_stages(g, step->voids);
    for (int r = 0; r < step->substeps; r++) {
        if (lm_gpu_is_given_up(g))
            return lm_stop_give_up();
        if (whole)
            lm_gpu_advance_stages(g, ion_current, battery, substep, r == 0, step->voids);
        for (int stage = 0; stage < 4 && !whole; stage++) {
            const double *const b = stage == 0 ? state : next;
            electric_field(g, b, g->array[ion_current], NULL, lm_weights_half_way(), g->general.e, NULL);
            lm_gpu_advance_strips(g, stage, b, NULL, g->general.e, substep);
            if (step->voids)
                lm_gpu_advance_void_field(g, stage, substep);
            fill_open_e(g, substep, g->array[ion_current], b, g->general.e);
            lm_gpu_settle_corners(g, b, g->general.e, substep);
            faraday_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
                domain_of(g), g->general.e, battery, state, next, g->general.result, stage,
                lm_rk4_stage(stage, substep), g->base.setup.ohm);
        }
        LM_GPU_LAUNCHED(g, "Faraday's law between walls");
        if (lm_halo_is_used_up(g->base.setup.halo, r, step->substeps)) {
            lm_gpu_halo_refresh(g, g->array + LM_B, step->voids ? 6 : 3); /* with LM_VOID_E */
            lm_gpu_refresh_b_of_strips(g);
        }
        lm_gpu_add_to_mean(g, step, r);
        if (!whole)
            lm_gpu_join(g); /* the next substep writes where the mean reads */
    }
    lm_gpu_end_strips(g, step);
    lm_gpu_end_mean(g, step);
    return g->failed;
}

int lm_gpu_resistivity(struct lm_backend *b)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_closure(b, LM_N_OLD, LM_N_OLD, 0.0);
    lm_gpu_currents(g, g->array[LM_B], g->array[LM_J_OLD], NULL, lm_weights_of_old());
    return LM_GPU_LAUNCHED(g, "resistivity");
}

int lm_gpu_general_ohm(struct lm_gpu *g, enum lm_ohm_current current)
{
    const bool ahead = current != LM_OHM_OLD;
    const enum lm_array level = ahead ? LM_N_NEW : LM_N_OLD;
    const struct lm_level_weights at = ahead ? lm_weights_ahead() : lm_weights_of_old();
    lm_gpu_closure(&g->base, level, level, 0.0);
    lm_gpu_pressure_field(g, g->array[level], lm_least_push_density(&g->base.setup.ohm), false);
    electric_field(g, g->array[LM_B], g->array[level + 1], ahead ? g->array[LM_J_OLD] : NULL, at, g->array[LM_E],
                   g->general.e);
    push_fields(g, at, g->general.e, lm_b_of_ohm(current));
    friction_of_species(g, at);
    LM_GPU_LAUNCHED(g, "Ohm's law between walls");
    return lm_gpu_level_maxima(g, level);
}
