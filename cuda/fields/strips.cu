/* CUDA backend: the strips beyond radiating sides (larmor/physics/fields/strip.h; the bodies are in strip_window.h).
 *
 * A stage of B is one kernel for the strips of an axis. The ions have one kernel for each loop of
 * src/cpu/strips_ions.c, with one thread an element of a window, for the strips of all sides at a time: blockIdx.y is
 * the strip. What an element is an
 * image of (lm_strip_source) is computed again for the image, so no kernel fills images afterwards: a kernel writes
 * arrays of which it reads its own element only, if any.
 *
 * Their cost is in docs/develop/open_sides_study.md.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"
#include "fields/domain.cuh"

#include <cstdlib>

#include "larmor/physics/fields/fields.h"
#include "larmor/physics/fields/strip_window.h"
#include "larmor/physics/numerics/hash.h"

static_assert((int)LM_STRIP_SPECIES >= (int)LM_MAX_SPECIES, "room for all species");

struct lm_gpu_strips {
    int count;                             /* radiating sides */
    struct lm_strip_window host[LM_SIDES]; /* one after the other; their arrays are on the device */
    struct lm_strip_window *window;        /* the same on the device */
    int started[LM_SIDES];                 /* 0: the strip has no plasma yet */
    double *packed;                        /* on the device: the state of one strip, or what goes from rank to rank */
    long longest;                          /* elements of the longest window */
    int most_lines;
};

namespace
{

/* The strips that a kernel works on: a bit each. */
struct some_strips {
    const struct lm_strip_window *window;
    unsigned which;

    __device__ __forceinline__ bool has(int k) const
    {
        return which >> k & 1;
    }
};

some_strips all_strips(const struct lm_gpu_strips *s)
{
    return {s->window, (1u << s->count) - 1};
}

/* Those that have plasma. */
some_strips started_strips(const struct lm_gpu_strips *s)
{
    some_strips some = {s->window, 0};
    for (int k = 0; k < s->count; k++)
        some.which |= s->started[k] ? 1u << k : 0;
    return some;
}

/* A thread's element of a window. */
struct element {
    int p, line;
    long k;
};

__device__ __forceinline__ bool my_element(const some_strips &some, const struct lm_strip_window *&w, element &e)
{
    w = some.window + blockIdx.y;
    e.k = (long)blockIdx.x * THREADS + threadIdx.x;
    if (!some.has(blockIdx.y) || e.k >= w->size)
        return false;
    const int slow = (int)(e.k / w->stride), fast = (int)(e.k % w->stride);
    e.p = w->place.axis == 0 ? fast : slow;
    e.line = (w->place.axis == 0 ? slow : fast) - LM_GHOST;
    return true;
}

/* The cell in [from, from + LM_STRIP_CELLS) and `lines` of which the element is the cell or an image. `cell.k` is its
 * element. */
__device__ __forceinline__ bool cell_in(const struct lm_strip_window *w, int from, int lines, const element &e,
                                        element &cell)
{
    cell = e;
    if (!lm_strip_source(w, from, lines, &cell.p, &cell.line))
        return false;
    cell.k = lm_strip_at(w, cell.p, cell.line);
    return true;
}

__device__ __forceinline__ bool cell_of(const struct lm_strip_window *w, const element &e, element &cell)
{
    return cell_in(w, w->place.first, w->lines, e, cell);
}

__device__ __forceinline__ bool cell_of_b(const struct lm_strip_window *w, int component, const element &e,
                                          element &cell)
{
    return cell_in(w, lm_strip_first_b(w->place, component), lm_strip_lines_of_b(w, component), e, cell);
}

/* Whether the element is in the last cell inside of a line of the side. */
__device__ __forceinline__ bool is_inside(const struct lm_strip_window *w, const element &e)
{
    return e.p == lm_strip_last_inside(w->place) && e.line >= 0 && e.line < w->lines;
}

/* A thread's line of a side, images at the ends included. */
__device__ __forceinline__ bool my_line(const some_strips &some, int strip, const struct lm_strip_window *&w, int &line)
{
    w = some.window + strip;
    line = (int)(blockIdx.x * THREADS + threadIdx.x) - lm_strip_ends(w);
    return some.has(strip) && line < w->lines + lm_strip_ends(w);
}

/* --- B and its current --- */

/* B of the domain in the window, that outside in empty lines, and the images of that of the strip. */
__global__ void take_b_kernel(some_strips some, shape s, const double *main)
{
    const struct lm_strip_window *w;
    element e, cell;
    if (!my_element(some, w, e))
        return;
    for (int d = 0; d < 3; d++) {
        double *const b = w->b[d];
        if (lm_strip_has_main_b(w, d, e.p))
            b[e.k] = main[d * s.pitch + lm_strip_at_main(w, e.p, e.line)];
        else if (cell_of_b(w, d, e, cell) && lm_strip_has_outer_b(w, d, cell.line))
            b[e.k] = main[d * s.pitch + lm_strip_outside(w, cell.line)];
        else if (cell_of_b(w, d, e, cell) && cell.k != e.k)
            b[e.k] = b[cell.k];
    }
}

__global__ void current_kernel(some_strips some)
{
    const struct lm_strip_window *w;
    element e;
    if (my_element(some, w, e) && e.line >= -2 && e.line <= w->lines && e.p >= 1)
        lm_strip_put(w->curl, e.k, lm_strip_curl(w, lm_strip_view(w, w->b), e.p, e.k));
}

/* --- a stage --- */

/* A block takes so many lines of a strip across AXIS to shared memory, and those around that their E depends on. There
 * it does what src/cpu/strips_fields.c does in one loop each. The windows stay in registers: index their arrays of
 * pointers with constants only. */
enum { LINES = 8, LINES_BEFORE = 3, LINES_AFTER = 2 };

template <int AXIS> struct strip_block {
    enum {
        ROWS = LINES_BEFORE + LINES + LINES_AFTER,
        SIZE = ROWS * LM_STRIP_WINDOW,
        CELL_THREADS = (SIZE + 31) / 32 * 32, /* one for each element */
        THREADS = CELL_THREADS + 32,          /* and one for each line, for the cell inside at the side */
        ACROSS = AXIS == 0 ? 1 : (int)ROWS,
        ALONG = AXIS == 0 ? (int)LM_STRIP_WINDOW : 1
    };
    static_assert((int)ROWS <= 32, "a thread for each line");
    double b[3][SIZE], curl[3][SIZE], motional[3][SIZE];
    double flux[3][SIZE]; /* and later E */
    double slip[SIZE], eta[SIZE], per_density[SIZE];
    double inv_size[LM_STRIP_WINDOW], inv_up[LM_STRIP_WINDOW];

    /* A window with these arrays. Its line 0 is the first one of the block. */
    __device__ __forceinline__ struct lm_strip_window window(struct lm_strip_window w)
    {
        w.stride = AXIS == 0 ? (int)LM_STRIP_WINDOW : (int)ROWS;
        w.across = ACROSS;
        w.along = ALONG;
        for (int d = 0; d < 3; d++) {
            w.curl[d] = curl[d];
            w.motional[d] = motional[d];
            w.flux[d] = w.e[d] = flux[d];
        }
        w.slip = slip, w.eta = eta, w.per_density = per_density;
        w.inv_size = inv_size, w.inv_up = inv_up;
        return w;
    }
};

/* The strips of one axis. */
struct strip_stage {
    struct lm_strip_window window[2];
    shape s;
    const double *b; /* of the domain */
    int number;
    struct lm_rk4 rk;
    double *e; /* what the domain takes */
};

/* The element of a block; `line` counts from its first one. */
__device__ __forceinline__ long at_here(const struct lm_strip_window *here, int p, int line)
{
    return (long)p * here->across + (long)(line + LINES_BEFORE) * here->along;
}

/* Where a block has the value of an element that is an image of `cell`. At periodic ends that is the image itself. */
__device__ __forceinline__ long source_here(const struct lm_strip_window *here, const element &e, const element &cell,
                                            int first)
{
    return at_here(here, cell.p, (here->periodic ? e.line : cell.line) - first);
}

/* B of component d of a stage in an element: that of the domain, that outside in empty lines, and that of the strip.
 * All loads of a cell of the strip begin at once. */
__device__ __forceinline__ double b_at(const struct lm_strip_window *w, const strip_stage &a, double *const from[3],
                                       int d, const element &e)
{
    const double *const main = a.b + d * a.s.pitch;
    element cell;
    if (lm_strip_has_main_b(w, d, e.p))
        return main[lm_strip_at_main(w, e.p, e.line)];
    cell_of_b(w, d, e, cell);
    const double outside = main[lm_strip_outside(w, cell.line)], own = from[d][cell.k];
    return lm_strip_has_outer_b(w, d, cell.line) ? outside : own;
}

/* What the motional field of the domain in the cells inside at the side follows from. */
struct cells_inside {
    domain d;
    struct lm_ohm o;
    const double *b, *ji;   /* NULL twice: there is `motional` */
    const double *motional; /* four arrays, the slip last */
};

__device__ __forceinline__ struct lm_motional motional_inside(const cells_inside &a, const struct lm_strip_window *w,
                                                              int line, size_t k)
{
    const shape &s = a.d.s;
    if (!a.b)
        return {vector_at(a.motional, s, k), a.motional[3 * s.pitch + k]};
    const int along_x = w->place.axis == 1, last = w->place.high ? w->deep - 1 : 0;
    const int i = along_x ? line : last, j = along_x ? last : line;
    const struct lm_view b = view_of(a.b, s, k), external = external_at(a.d, k);
    return motional_at(a.d, i, j, b, external, current_at(a.d, i, j, b, external, 0, a.o), vector_at(a.ji, s, k),
                       a.d.per_density[k], a.o);
}

__device__ __forceinline__ void prefetch(const double *p)
{
    asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}

/* What the stage reads of element k of a block. */
template <int AXIS>
__device__ __forceinline__ void load_strip(const strip_stage &a, const struct lm_strip_window *w, double *const b[3],
                                           const element &e, int k, strip_block<AXIS> &m)
{
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        if (a.number > 0) {
            prefetch(w->b[d] + e.k);
            prefetch(w->result[d] + e.k);
        }
    }
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        m.b[d][k] = b_at(w, a, b, d, e);
        m.flux[d][k] = w->flux[d][e.k];
    }
    m.eta[k] = w->eta[e.k];
    m.per_density[k] = w->per_density[e.k];
}

/* The motional field of the domain in the cell inside at the side, in line number `row` of the block. */
template <int AXIS>
__device__ __forceinline__ void load_inside(const cells_inside &inside, const struct lm_strip_window *w, int line,
                                            int row, strip_block<AXIS> &m)
{
    typedef strip_block<AXIS> block;
    const int p = lm_strip_last_inside(w->place), k = p * block::ACROSS + row * block::ALONG;
    const struct lm_motional f = motional_inside(inside, w, line, (size_t)lm_strip_at_main(w, p, line));
    m.motional[0][k] = f.field.x, m.motional[1][k] = f.field.y, m.motional[2][k] = f.field.z;
    m.slip[k] = f.slip;
}

/* E of the strip, and E through the side. */
__device__ __forceinline__ void find_strip_e(const struct lm_strip_window *here, struct lm_view b, const element &e,
                                             int first, int k)
{
    const int axis = here->place.axis, along = 1 - axis;
    element cell;
    if (cell_of(here, e, cell)) {
        const long from = source_here(here, e, cell, first);
        lm_strip_put(here->e, k, lm_strip_electric(here, b, cell.p, from));
        cell_in(here, here->place.first, lm_strip_lines_of_e(here, along), e, cell);
        const long on_wall = source_here(here, e, cell, first);
        const struct lm_vector v = lm_strip_electric(here, b, cell.p, on_wall);
        here->e[along][k] = along == 0 ? v.x : v.y;
    } else if (e.p == lm_strip_wall(here)) {
        const struct lm_vector v = lm_strip_electric(here, b, e.p, k);
        here->e[axis][k] = axis == 0 ? v.x : v.y;
    }
}

/* E that the domain takes from a line of the block. */
__device__ __forceinline__ void give_e(const strip_stage &a, const struct lm_strip_window *here, int first, int line)
{
    const long wall = at_here(here, lm_strip_wall(here), line - first),
               beyond = at_here(here, lm_strip_last_inside(here->place) + lm_strip_out(here), line - first);
    const int ends = lm_strip_ends(here), lines = here->lines, images = (line + ends) / lines;
    for (int image = line - images * lines; image < lines + ends; image += lines) {
        LM_UNROLL
        for (int d = 0; d < 3; d++)
            lm_strip_give_e(here, d, image, here->e[d][wall], here->e[d][beyond], a.e + d * a.s.pitch);
    }
}

/* A stage. What it reads of other lines is in other arrays than it writes. (In lines with B outside, stage 0 puts it
 * into B of the strip, while other blocks read that and drop it: b_at.) The first row of a block has B only. J needs B
 * of the row before, the motional field needs J of the row before, and E needs the motional field of the next row. */
template <int AXIS>
__global__ void __launch_bounds__(strip_block<AXIS>::THREADS, 1)
    strip_stage_kernel(const __grid_constant__ strip_stage a, const __grid_constant__ cells_inside inside)
{
    typedef strip_block<AXIS> block;
    extern __shared__ double shared[];
    block &m = *(block *)shared;
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion(); /* the stage of the domain may begin: it waits for E of the strips */
#endif
    struct lm_strip_window whole = a.window[blockIdx.y];
    whole.place.axis = AXIS; /* for the compiler */
    const struct lm_strip_window part = m.window(whole), *const w = &whole, *const here = &part;
    const int first = (int)blockIdx.x * LINES, k = (int)threadIdx.x;
    if (first >= w->lines)
        return;
    /* B of this stage and of the next one: that of stage 2 is in the array of the motional field. */
    double *now[3], *next[3];
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        now[d] = a.number == 0 ? w->b[d] : a.number == 2 ? w->motional[d] : w->stage[d];
        next[d] = a.number == 1 ? w->motional[d] : w->stage[d];
    }
    const int row = k >= block::CELL_THREADS ? k - block::CELL_THREADS
                    : AXIS == 0              ? k / LM_STRIP_WINDOW
                                             : k % block::ROWS;
    element e, cell;
    e.p = AXIS == 0 ? k % LM_STRIP_WINDOW : k / block::ROWS;
    e.line = first - LINES_BEFORE + row;
    e.k = lm_strip_at(w, e.p, e.line);
    const bool is_there = k < block::SIZE && e.line < w->lines + LM_GHOST, in_strip = is_there && cell_of(w, e, cell);
    const struct lm_view b = {m.b[0], m.b[1], m.b[2], here->stride};

    if (k < LM_STRIP_WINDOW) {
        m.inv_size[k] = w->inv_size[k];
        m.inv_up[k] = w->inv_up[k];
    }
    if (is_there)
        load_strip(a, w, now, e, k, m);
    else if (k >= block::CELL_THREADS && row < block::ROWS && e.line >= 0 && e.line < w->lines)
        load_inside(inside, w, e.line, row, m);
    __syncthreads();
    if (is_there && row >= 1 && e.p >= 1)
        lm_strip_put(here->curl, k, lm_strip_curl(here, b, e.p, k));
    __syncthreads();
    if (in_strip && row >= 2) {
        const struct lm_motional f = lm_strip_motional(here, b, source_here(here, e, cell, first));
        lm_strip_put(here->motional, k, f.field);
        m.slip[k] = f.slip;
    }
    __syncthreads();
    if (is_there && row >= 2 && row < block::ROWS - 1)
        find_strip_e(here, b, e, first, k);
    __syncthreads();
    const bool is_own = is_there && row >= LINES_BEFORE && row < LINES_BEFORE + LINES && e.line < w->lines;
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        if (!is_own || !cell_of_b(w, d, e, cell))
            continue;
        const bool is_image = cell.k != e.k;
        if (a.number == 0 && (is_image || lm_strip_has_outer_b(w, d, e.line)))
            w->b[d][e.k] = m.b[d][k];
        if (!is_image)
            lm_strip_advance(w, a.number, a.rk, d, e.k, lm_strip_rate(here, d, e.p, e.line, k), next[d]);
    }
    if (is_own && e.p == lm_strip_wall(w))
        give_e(a, here, first, e.line);
}

/* A stage of `count` strips of an axis. */
template <int AXIS>
void launch_stage(struct lm_gpu *g, const strip_stage &a, const cells_inside &inside, int count, int lines)
{
    typedef strip_block<AXIS> block;
    const dim3 blocks((unsigned)(lines + LINES - 1) / LINES, (unsigned)count);
    lm_gpu_check(
        g, cudaFuncSetAttribute(strip_stage_kernel<AXIS>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(block)),
        "shared memory of strips beyond sides");
    strip_stage_kernel<AXIS><<<blocks, block::THREADS, sizeof(block), g->stream>>>(a, inside);
}

enum { CORNER_THREADS = 32 };
static_assert(CORNER_THREADS >= 3 * (LM_GHOST + 1), "a thread for each line");

/* E beyond both a radiating side and a wall that it meets: one block, side after side, because sides meet. A thread
 * takes a line along a side. */
__global__ void corner_kernel(some_strips some, int count, shape s, struct lm_field_sides sides, double *main)
{
    const int k = (int)threadIdx.x / 3, d = (int)threadIdx.x % 3;
    for (int strip = 0; strip < count; strip++) {
        const struct lm_strip_window *w = some.window + strip;
        if (!w->periodic && k <= LM_GHOST)
            lm_strip_fill_corner(w, &sides, d, k, main + d * s.pitch);
        __syncthreads();
    }
}

/* The number of the strip of each side; -1: there is none. */
struct corner_strips {
    int of[LM_SIDES];
};

/* B_z in corners of two radiating sides: one thread a corner. */

__global__ void settle_corners_kernel(some_strips some, corner_strips strips, const __grid_constant__ lm_grid grid,
                                      shape s, const double *b, double *e, double substep)
{
    const int high_x = (int)threadIdx.x % 2, high_y = (int)threadIdx.x / 2, x = strips.of[LM_X_MIN + high_x],
              y = strips.of[LM_Y_MIN + high_y];
    if (x >= 0 && y >= 0 && !lm_strip_corner_is_empty(some.window + x, some.window + y))
        lm_strip_settle_corner(&grid, high_x, high_y, b + 2 * s.pitch, e, e + s.pitch, substep);
}

/* --- what the ions of the domain meet at the side --- */

/* Four moments as deposited and with their ghosts, of one strip: one thread a line; blockIdx.y is the moment. */
__global__ void moments_kernel(some_strips some, int strip, shape s, double share, double *group)
{
    const struct lm_strip_window *w;
    int line;
    if (my_line(some, strip, w, line))
        lm_strip_add_moments(w, blockIdx.y, share, line, group + blockIdx.y * s.pitch);
}

/* E and B of the push in the ghosts of a line; blockIdx.z counts them. */
__global__ void find_push_kernel(some_strips some)
{
    const struct lm_strip_window *w;
    int line;
    if (my_line(some, blockIdx.y, w, line) && line >= 0 && line < w->lines)
        lm_strip_find_push(w, 1 + blockIdx.z, line);
}

/* These in the ghosts of three arrays; blockIdx.z counts ghosts and components. */
__global__ void put_push_kernel(some_strips some, shape s, int is_b, double *group)
{
    const int d = blockIdx.z % 3, k = 1 + blockIdx.z / 3;
    const struct lm_strip_window *w;
    int line;
    if (my_line(some, blockIdx.y, w, line))
        lm_strip_put_push(w, d, is_b, k, line, group + d * s.pitch);
}

/* --- the plasma of the side --- */

__global__ void plasma_kernel(some_strips some, some_strips started, const __grid_constant__ lm_strip_domain from)
{
    const struct lm_strip_window *w;
    int line;
    if (my_line(some, blockIdx.y, w, line) && line >= 0 && line < w->lines)
        lm_strip_take_plasma(w, &from, started.has(blockIdx.y), line);
}

/* What a new strip takes from the side, before a pass of the filter; blockIdx.z counts what is smoothed. The arrays of
 * the next step serve for work: the first one, and in odd passes the second one. */
__global__ void mean_kernel(some_strips some, const __grid_constant__ lm_strip_domain from)
{
    const struct lm_strip_window *w;
    int line;
    if (my_line(some, blockIdx.y, w, line) && line >= 0 && line < w->lines)
        w->next[0][(long)blockIdx.z * w->lines + line] = lm_strip_start_mean(w, &from, blockIdx.z, line);
}

__global__ void smooth_kernel(some_strips some, int pass)
{
    const struct lm_strip_window *w;
    int line;
    if (my_line(some, blockIdx.y, w, line) && line >= 0 && line < w->lines) {
        const long first = (long)blockIdx.z * w->lines;
        w->next[1 - pass % 2][first + line] = lm_strip_smoothed(w, w->next[pass % 2] + first, line);
    }
}
static_assert(LM_STRIP_START_PASSES % 2 == 0, "the result is in the first array");

__global__ void start_kernel(some_strips some, const __grid_constant__ lm_strip_domain from)
{
    const struct lm_strip_window *w;
    element e, cell;
    if (my_element(some, w, e) && cell_of(w, e, cell) && cell.k == e.k)
        lm_strip_start(w, &from, w->next[0], e.p - w->place.first, e.line);
}

/* --- the ions --- */

/* u and n of the strip: those of the end of a step (`after`) or as they are, and their images. blockIdx.z counts
 * `first` and the arrays after it: u_x, u_y, u_z, n. */
__global__ void settle_kernel(some_strips some, int first, bool after)
{
    const struct lm_strip_window *w;
    const int array = first + (int)blockIdx.z;
    element e, cell;
    if (!my_element(some, w, e) || !cell_of(w, e, cell) || (!after && cell.k == e.k))
        return;
    double *const to = array < 3 ? w->u[array] : w->n;
    to[e.k] = (after ? w->next[array] : to)[cell.k];
}

/* 1/n and the damping. */
__global__ void medium_kernel(some_strips some, const __grid_constant__ lm_strip_domain from, double dt, double substep)
{
    const struct lm_strip_window *w;
    element e, cell;
    if (!my_element(some, w, e) || !cell_of(w, e, cell))
        return;
    struct lm_strip_step step = w->step;
    step.dt = dt;
    step.substep = substep;
    const struct lm_strip_medium m = lm_strip_find_medium(w, &step, lm_strip_mass(w, cell.line),
                                                          lm_strip_sound2(w, &from, cell.line), cell.p, cell.line);
    w->per_density[e.k] = m.per_density;
    w->eta[e.k] = m.damping.eta;
    w->mixing[e.k] = m.damping.mixing;
}

/* u half a step later, in w->next. */
__global__ void predict_kernel(some_strips some, double dt)
{
    const struct lm_strip_window *w;
    element e, cell;
    if (!my_element(some, w, e))
        return;
    if (cell_of(w, e, cell))
        lm_strip_put(w->next, e.k, lm_strip_predict(w, dt, lm_strip_mass(w, cell.line), cell.k));
    else if (is_inside(w, e))
        lm_strip_put(w->next, e.k, lm_strip_vector(w->u, e.k));
}

/* The moments n u, of w->next (`after`) or of w->u; blockIdx.z is the component. */
__global__ void flux_kernel(some_strips some, double passes, bool after)
{
    const struct lm_strip_window *w;
    const int d = blockIdx.z;
    element e, cell;
    if (my_element(some, w, e) && cell_of(w, e, cell))
        w->flux[d][e.k] = lm_strip_moving(w, passes, (after ? w->next[d] : w->u[d]), cell.p, cell.k);
}

/* E and B at the centres. In the cells inside they are those of the domain. */
__global__ void centre_kernel(some_strips some, const __grid_constant__ lm_strip_domain from)
{
    const struct lm_strip_window *w;
    element e, cell;
    if (!my_element(some, w, e))
        return;
    if (cell_of(w, e, cell)) {
        const struct lm_strip_centre centre = lm_strip_find_centre(w, cell.k);
        lm_strip_put(w->result, e.k, centre.e);
        lm_strip_put(w->stage, e.k, centre.b);
    } else if (is_inside(w, e)) {
        const long k = lm_strip_at_main(w, e.p, e.line);
        lm_strip_put(w->result, e.k, lm_strip_of_main(from.push_e, k));
        lm_strip_put(w->stage, e.k, lm_strip_of_main(from.push_b, k));
    }
}

/* u after the step, in w->next. */
__global__ void velocity_kernel(some_strips some, const __grid_constant__ lm_strip_domain from, double dt)
{
    const struct lm_strip_window *w;
    element e, cell;
    if (my_element(some, w, e) && cell_of(w, e, cell) && cell.k == e.k)
        lm_strip_put(w->next, e.k,
                     lm_strip_moved(w, from.passes, dt, lm_strip_mass(w, e.line), lm_strip_sound2(w, &from, e.line),
                                    e.p, e.line));
}

/* n after the step, in w->next[3]. */
__global__ void density_kernel(some_strips some, double dt)
{
    const struct lm_strip_window *w;
    element e, cell;
    if (my_element(some, w, e) && cell_of(w, e, cell) && cell.k == e.k)
        w->next[3][e.k] = lm_strip_filled(w, dt, e.p, e.line);
}

/* --- the state --- */

__global__ void pack_kernel(const struct lm_strip_window *w, int started, double *packed)
{
    const long m = (long)blockIdx.x * THREADS + threadIdx.x;
    if (m < lm_strip_values(w))
        packed[m] = lm_strip_shown(w, started, m);
}

__global__ void unpack_kernel(const struct lm_strip_window *w, const double *packed)
{
    const long m = (long)blockIdx.x * THREADS + threadIdx.x;
    if (m < lm_strip_values(w))
        *lm_strip_value(w, m) = packed[m];
}

__global__ void hash_kernel(const struct lm_strip_window *w, int started, int field, struct lm_gpu_sums *out)
{
    const long m = (long)blockIdx.x * THREADS + threadIdx.x;
    uint64_t hash = 0;
    if (m < lm_strip_own_values(w)) {
        const struct lm_strip_own_value v = lm_strip_own(w, started, m);
        hash = lm_hash_value(field, (uint64_t)v.number, v.value);
    }
    lm_warp_sum(&out->value[0], hash);
}

/* --- between ranks --- */

/* So many rows of the state from number `from` on, [lines][rows]: into `packed`, or back. */
template <bool BACK> __global__ void lines_kernel(const struct lm_strip_window *w, int from, int rows, double *packed)
{
    const long m = (long)blockIdx.x * THREADS + threadIdx.x;
    if (m >= (long)rows * w->lines)
        return;
    double *const value = lm_strip_row_value(w, from + (int)(m % rows), (int)(m / rows));
    if (BACK)
        *value = packed[m];
    else
        packed[m] = *value;
}

/* The means of a new strip in array `which` of the next step, [lines][LM_STRIP_MEANS]: into `packed`, or back. */
template <bool BACK> __global__ void means_kernel(const struct lm_strip_window *w, int which, double *packed)
{
    const long m = (long)blockIdx.x * THREADS + threadIdx.x;
    if (m >= (long)LM_STRIP_MEANS * w->lines)
        return;
    double *const value = w->next[which] + m % LM_STRIP_MEANS * w->lines + m / LM_STRIP_MEANS;
    if (BACK)
        *value = packed[m];
    else
        packed[m] = *value;
}

/* --- launches --- */

dim3 element_blocks(const struct lm_gpu_strips *s, int arrays)
{
    return dim3(line_blocks((size_t)s->longest), (unsigned)s->count, (unsigned)arrays);
}

dim3 blocks_of_lines(const struct lm_gpu_strips *s, int rows, int arrays)
{
    return dim3(line_blocks((size_t)s->most_lines + 2 * LM_GHOST), (unsigned)rows, (unsigned)arrays);
}

struct lm_strip_domain domain_of(const struct lm_gpu *g, int ion_current)
{
    const struct lm_setup *setup = &g->base.setup;
    struct lm_strip_domain d = {};
    d.floored = g->array[LM_FLOORED];
    d.per_density = g->array[LM_PER_DENSITY];
    d.pressure = g->array[LM_PRESSURE];
    d.species_count = setup->species_count;
    for (int k = 0; k < setup->species_count; k++) {
        d.number[k] = g->array[LM_SPECIES_N + k];
        d.mass[k] = setup->species[k].mass;
        d.charge[k] = setup->species[k].charge;
    }
    d.ion_current = view_of(g, g->array[ion_current]);
    d.b = view_of(g, g->array[LM_B]);
    d.push_e = view_of(g, g->array[LM_PUSH_E]);
    d.push_b = view_of(g, g->array[LM_PUSH_B]);
    d.gamma = setup->ohm.gamma;
    for (int side = 0; side < LM_SIDES; side++)
        d.temperature[side] = setup->side_temperature[side];
    d.passes = lm_strip_passes(setup->smoothing, setup->shape == LM_LINEAR);
    return d;
}

/* In lines that other ranks own: rows [from, to) of the state of all strips become what they are there. */
void refresh(struct lm_gpu *g, int from, int to)
{
    const struct lm_gpu_strips *s = g->strips;
    const int rows = to - from;
    for (int k = 0; k < s->count && g->base.setup.halo; k++) {
        const unsigned blocks = line_blocks((size_t)rows * (size_t)s->host[k].lines);
        lines_kernel<false><<<blocks, THREADS, 0, g->stream>>>(s->window + k, from, rows, s->packed);
        lm_gpu_halo_refresh_side(g, s->host[k].side, s->packed, rows);
        lines_kernel<true><<<blocks, THREADS, 0, g->stream>>>(s->window + k, from, rows, s->packed);
    }
}

/* The same for the means of new strips before a pass. */
void refresh_means(struct lm_gpu *g, some_strips fresh, int pass)
{
    const struct lm_gpu_strips *s = g->strips;
    for (int k = 0; k < s->count && g->base.setup.halo; k++) {
        const unsigned blocks = line_blocks((size_t)LM_STRIP_MEANS * (size_t)s->host[k].lines);
        if (!(fresh.which >> k & 1))
            continue;
        means_kernel<false><<<blocks, THREADS, 0, g->stream>>>(s->window + k, pass % 2, s->packed);
        lm_gpu_halo_refresh_side(g, s->host[k].side, s->packed, LM_STRIP_MEANS);
        means_kernel<true><<<blocks, THREADS, 0, g->stream>>>(s->window + k, pass % 2, s->packed);
    }
}

/* New strips get their plasma. A pass moves the error at the edge of a halo by one line. */
void start(struct lm_gpu *g, const struct lm_strip_domain &from)
{
    struct lm_gpu_strips *s = g->strips;
    const some_strips fresh = {s->window, all_strips(s).which & ~started_strips(s).which};
    if (!fresh.which)
        return;
    const int halo = g->base.setup.halo ? g->base.setup.halo->partition->halo : LM_STRIP_START_PASSES;
    const dim3 means = blocks_of_lines(s, s->count, LM_STRIP_MEANS);
    mean_kernel<<<means, THREADS, 0, g->stream>>>(fresh, from);
    for (int pass = 0; pass < LM_STRIP_START_PASSES; pass++) {
        if (pass % halo == 0)
            refresh_means(g, fresh, pass);
        smooth_kernel<<<means, THREADS, 0, g->stream>>>(fresh, pass);
    }
    refresh_means(g, fresh, LM_STRIP_START_PASSES);
    start_kernel<<<element_blocks(s, 1), THREADS, 0, g->stream>>>(fresh, from);
    for (int k = 0; k < s->count; k++)
        s->started[k] = 1;
    LM_GPU_LAUNCHED(g, "the start of strips beyond sides");
}

void take_b(struct lm_gpu *g, some_strips some, const double *main)
{
    const dim3 blocks = element_blocks(g->strips, 1);
    take_b_kernel<<<blocks, THREADS, 0, g->stream>>>(some, shape_of(g), main);
    current_kernel<<<blocks, THREADS, 0, g->stream>>>(some);
}

void copy_vector(struct lm_gpu *g, const struct lm_strip_window *w, double *const to[3], double *const from[3])
{
    for (int d = 0; d < 3; d++)
        lm_gpu_check(
            g, cudaMemcpyAsync(to[d], from[d], (size_t)w->size * sizeof **to, cudaMemcpyDeviceToDevice, g->stream),
            "a copy of strips beyond sides");
}

/* The number of the strip of a side. */
int strip_of(const struct lm_gpu *g, enum lm_side side)
{
    int k = 0;
    while (g->strips->host[k].side != (int)side)
        k++;
    return k;
}

} // namespace

void lm_gpu_make_strips(struct lm_gpu *g)
{
    const struct lm_setup *setup = &g->base.setup;
    if (lm_radiating_sides(setup) == 0 || g->failed)
        return;
    struct lm_gpu_strips *s = g->strips = (struct lm_gpu_strips *)calloc(1, sizeof *s);
    if (!s) {
        g->failed = lm_fail(LM_FAILED, "not enough memory for strips beyond sides");
        return;
    }
    s->count = lm_radiating_sides(setup);
    for (int k = 0; k < s->count; k++) {
        struct lm_strip_window *w = &s->host[k];
        const int side = lm_radiating_side(setup, k);
        lm_strip_window_make(w, side, &setup->grid, &g->sides, &setup->ohm);
        const size_t bytes = lm_strip_window_length(w) * sizeof(double);
        double tables[LM_STRIP_TABLES * LM_STRIP_WINDOW];
        double *memory = (double *)lm_gpu_allocate(g, bytes, "strips beyond sides");
        if (!memory)
            return;
        lm_gpu_check(g, cudaMemsetAsync(memory, 0, bytes, g->stream), "strips beyond sides");
        lm_strip_find_tables(w, tables);
        lm_gpu_check(
            g,
            cudaMemcpyAsync(lm_strip_window_place(w, memory), tables, sizeof tables, cudaMemcpyHostToDevice, g->stream),
            "strips beyond sides");
        s->longest = w->size > s->longest ? w->size : s->longest;
        s->most_lines = w->lines > s->most_lines ? w->lines : s->most_lines;
    }
    const size_t state = (size_t)LM_STRIP_ARRAYS * LM_STRIP_CELLS * s->most_lines * sizeof(double);
    s->window = (struct lm_strip_window *)lm_gpu_allocate(g, sizeof s->host, "strips beyond sides");
    s->packed = (double *)lm_gpu_allocate(g, state, "strips beyond sides");
    if (g->failed)
        return;
    lm_gpu_check(g, cudaMemcpyAsync(s->window, s->host, sizeof s->host, cudaMemcpyHostToDevice, g->stream),
                 "strips beyond sides");
    lm_gpu_wait(g, "strips beyond sides");
}

void lm_gpu_free_strips(struct lm_gpu *g)
{
    free(g->strips);
    g->strips = NULL;
}

void lm_gpu_begin_strips(struct lm_gpu *g, const struct lm_b_step *step)
{
    const struct lm_gpu_strips *s = g->strips;
    if (!s)
        return;
    if (step->mean == LM_MEAN_ENDS) {
        for (int k = 0; k < s->count; k++)
            copy_vector(g, &s->host[k], s->host[k].next, s->host[k].b);
        return;
    }
    const some_strips all = all_strips(s);
    const struct lm_strip_domain from = domain_of(g, step->ion_current);
    const double dt = step->dt, substep = step->dt / step->substeps;
    const dim3 one = element_blocks(s, 1), three = element_blocks(s, 3);
    plasma_kernel<<<blocks_of_lines(s, s->count, 1), THREADS, 0, g->stream>>>(all, started_strips(s), from);
    start(g, from);
    settle_kernel<<<element_blocks(s, 4), THREADS, 0, g->stream>>>(all, 0, false);
    take_b(g, all, g->array[LM_B]);
    medium_kernel<<<one, THREADS, 0, g->stream>>>(all, from, dt, substep);
    predict_kernel<<<one, THREADS, 0, g->stream>>>(all, dt);
    flux_kernel<<<three, THREADS, 0, g->stream>>>(all, from.passes, true);
    centre_kernel<<<one, THREADS, 0, g->stream>>>(all, from);
    velocity_kernel<<<one, THREADS, 0, g->stream>>>(all, from, dt);
    settle_kernel<<<three, THREADS, 0, g->stream>>>(all, 0, true);
    density_kernel<<<one, THREADS, 0, g->stream>>>(all, dt);
    settle_kernel<<<one, THREADS, 0, g->stream>>>(all, 3, true);
    if (g->base.setup.halo) { /* as advance_ions in src/cpu/strips_ions.c */
        refresh(g, LM_STRIP_ROWS_OF_B, LM_STRIP_ROWS);
        settle_kernel<<<element_blocks(s, 4), THREADS, 0, g->stream>>>(all, 0, false);
    }
    medium_kernel<<<one, THREADS, 0, g->stream>>>(all, from, dt, substep);
    flux_kernel<<<three, THREADS, 0, g->stream>>>(all, from.passes, false);
    LM_GPU_LAUNCHED(g, "ions beyond sides");
}

void lm_gpu_end_strips(struct lm_gpu *g, const struct lm_b_step *step)
{
    const struct lm_gpu_strips *s = g->strips;
    for (int k = 0; s && k < s->count && step->mean == LM_MEAN_ENDS; k++)
        copy_vector(g, &s->host[k], s->host[k].b, s->host[k].next);
}

void lm_gpu_refresh_b_of_strips(struct lm_gpu *g)
{
    if (g->strips)
        refresh(g, 0, LM_STRIP_ROWS_OF_B);
}

bool lm_gpu_strips_are_periodic(const struct lm_gpu *g)
{
    bool all = true;
    for (int k = 0; g->strips && k < g->strips->count; k++)
        all = all && g->strips->host[k].periodic;
    return all;
}

void lm_gpu_advance_strips(struct lm_gpu *g, int number, const double *b, const double *ji, double *e, double substep)
{
    const struct lm_gpu_strips *s = g->strips;
    if (!s)
        return;
    const cells_inside inside = {domain_of(g), g->base.setup.ohm, ji ? b : NULL, ji, g->general.motional};
    for (int axis = 0; axis < 2; axis++) {
        strip_stage a = {{}, shape_of(g), b, number, lm_rk4_stage(number, substep), e};
        int count = 0;
        for (int k = 0; k < s->count; k++)
            if (s->host[k].place.axis == axis)
                a.window[count++] = s->host[k];
        if (count > 0 && axis == 0)
            launch_stage<0>(g, a, inside, count, s->most_lines);
        else if (count > 0)
            launch_stage<1>(g, a, inside, count, s->most_lines);
    }
    if (!lm_gpu_strips_are_periodic(g))
        corner_kernel<<<1, CORNER_THREADS, 0, g->stream>>>(all_strips(s), s->count, shape_of(g), g->sides, e);
    LM_GPU_LAUNCHED(g, "fields beyond sides");
}

void lm_gpu_strip_windows(const struct lm_gpu *g, const struct lm_strip_window *of[LM_SIDES])
{
    for (int side = 0; side < LM_SIDES; side++)
        of[side] = NULL;
    for (int k = 0; g->strips && k < g->strips->count; k++)
        of[g->strips->host[k].side] = &g->strips->host[k];
}

void lm_gpu_settle_corners(struct lm_gpu *g, const double *b, double *e, double substep)
{
    const struct lm_gpu_strips *s = g->strips;
    corner_strips strips = {{-1, -1, -1, -1}};
    for (int k = 0; s && k < s->count; k++)
        strips.of[s->host[k].side] = k;
    if ((strips.of[LM_X_MIN] < 0 && strips.of[LM_X_MAX] < 0) || (strips.of[LM_Y_MIN] < 0 && strips.of[LM_Y_MAX] < 0))
        return;
    settle_corners_kernel<<<1, 4, 0, g->stream>>>(all_strips(s), strips, g->base.setup.grid, shape_of(g), b, e,
                                                  substep);
    LM_GPU_LAUNCHED(g, "corners of radiating sides");
}

void lm_gpu_add_strip_moments(struct lm_gpu *g, double *group)
{
    const struct lm_gpu_strips *s = g->strips;
    const double share = lm_strip_share(g->base.setup.shape == LM_LINEAR);
    for (int k = 0; s && k < s->count; k++) /* one after the other: a cell in a corner has moments of two strips */
        if (s->started[k])
            moments_kernel<<<blocks_of_lines(s, 4, 1), THREADS, 0, g->stream>>>(started_strips(s), k, shape_of(g),
                                                                                share, group);
}

void lm_gpu_find_push_of_strips(struct lm_gpu *g, enum lm_array b)
{
    const struct lm_gpu_strips *s = g->strips;
    if (!s || !started_strips(s).which)
        return;
    take_b(g, started_strips(s), g->array[b]);
    find_push_kernel<<<blocks_of_lines(s, s->count, LM_GHOST), THREADS, 0, g->stream>>>(started_strips(s));
}

void lm_gpu_push_of_strips(struct lm_gpu *g, double *group, int is_b)
{
    const struct lm_gpu_strips *s = g->strips;
    if (s && started_strips(s).which)
        put_push_kernel<<<blocks_of_lines(s, s->count, 3 * LM_GHOST), THREADS, 0, g->stream>>>(
            started_strips(s), shape_of(g), is_b, group);
}

void lm_gpu_fill_push_of_strips(struct lm_gpu *g)
{
    if (!g->strips)
        return;
    lm_gpu_find_push_of_strips(g, LM_B);
    lm_gpu_push_of_strips(g, g->array[LM_PUSH_E], 0);
    lm_gpu_push_of_strips(g, g->array[LM_PUSH_B], 1);
    LM_GPU_LAUNCHED(g, "what ions feel beyond sides");
}

int lm_gpu_get_strip(struct lm_backend *b, enum lm_side side, double *values)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_strips *s = g->strips;
    const int k = strip_of(g, side);
    const size_t count = (size_t)lm_strip_values(&s->host[k]);
    pack_kernel<<<line_blocks(count), THREADS, 0, g->stream>>>(s->window + k, s->started[k], s->packed);
    LM_GPU_LAUNCHED(g, "download of a strip");
    lm_gpu_check(g, cudaMemcpyAsync(values, s->packed, count * sizeof *values, cudaMemcpyDeviceToHost, g->stream),
                 "download of a strip");
    return lm_gpu_wait(g, "download of a strip");
}

int lm_gpu_put_strip(struct lm_backend *b, enum lm_side side, const double *values)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_strips *s = g->strips;
    const int k = strip_of(g, side);
    const size_t count = (size_t)lm_strip_values(&s->host[k]), each = count / LM_STRIP_ARRAYS;
    lm_gpu_check(g, cudaMemcpyAsync(s->packed, values, count * sizeof *values, cudaMemcpyHostToDevice, g->stream),
                 "upload of a strip");
    unpack_kernel<<<line_blocks(count), THREADS, 0, g->stream>>>(s->window + k, s->packed);
    LM_GPU_LAUNCHED(g, "upload of a strip");
    s->started[k] = values[(LM_STRIP_ARRAYS - 1) * each] >= 0.0; /* n of the first cell */
    return lm_gpu_wait(g, "upload of a strip");
}

void lm_gpu_hash_strips(struct lm_gpu *g, int first)
{
    const struct lm_gpu_strips *s = g->strips;
    for (int k = 0; s && k < s->count; k++) {
        const long own = lm_strip_own_values(&s->host[k]);
        const int field = first + lm_radiating_before(&g->base.setup, s->host[k].side);
        if (own > 0)
            hash_kernel<<<line_blocks((size_t)own), THREADS, 0, g->stream>>>(s->window + k, s->started[k], field,
                                                                             g->reduced);
    }
}
