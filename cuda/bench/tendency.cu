/* Case `advect` of `larmor bench`: ways to write one right-hand side, on the device; the kernels are in
 * tendency_bench.cuh. */
#include "bench/bench.cuh"
#include "bench/tendency.cuh"

#include <cstdlib>
#include <cstring>

namespace
{

enum { MOST_LAUNCHES = 8, CAPS = 6, NO_LIMIT = 255, CONTROL_TIMES = 10, WARM_UP = 20 };

typedef void (*function)(tendency, cells);

struct launch {
    const char *name;
    function run;
    int list;
};

struct way {
    const char *name, *against;
    bool single;
    int count;
    struct launch launch[MOST_LAUNCHES];
};

/* --- the ways --- */

void add(way &w, const char *name, function run, int list)
{
    w.launch[w.count++] = {name, run, list};
}

const char *term_name(int list, int term)
{
    static const char *const names[][4] = {{"x", "y", "diffusion", "source"},
                                           {"interior, x", "interior, y", "interior, diffusion", "interior, source"},
                                           {"boundary, x", "boundary, y", "boundary, diffusion", "boundary, source"}};
    return names[list][term];
}

/* Those for diffusion and sources do not depend on the scheme and need few registers. */
template <bool BESIDE> void add_rest(way &w, int list)
{
    add(w, term_name(list, 2), tendency_kernel < 1, false, BESIDE ? NESTED : FULL, DIFFUSION >, list);
    add(w, term_name(list, 3), tendency_kernel<1, false, FULL, SOURCE>, list);
}

/* A kernel for each term. */
template <int MOST, bool SINGLE, int ORDER> void add_terms(way &w, int list)
{
    add(w, term_name(list, 0), tendency_kernel<MOST, SINGLE, ORDER, ALONG_X>, list);
    add(w, term_name(list, 1), tendency_kernel<MOST, SINGLE, ORDER, ALONG_Y>, list);
    add_rest<ORDER != FULL>(w, list);
}

/* The same with a cap on the kernels for advection. */
template <int MOST, int ORDER, int CAP> void add_capped_terms(way &w, int list)
{
    add(w, term_name(list, 0), capped_kernel<MOST, ORDER, ALONG_X, CAP>, list);
    add(w, term_name(list, 1), capped_kernel<MOST, ORDER, ALONG_Y, CAP>, list);
    add_rest<ORDER != FULL>(w, list);
}

enum {
    MONOLITHIC,
    FISSION,
    SPLIT,
    SPLIT_SINGLE,
    SPLIT_ONLY,
    SPLIT_ONLY_SINGLE,
    FISSION_DYNAMIC,
    FISSION_BRANCH,
    MONOLITHIC_DYNAMIC,
    SPLIT_DYNAMIC,
    MONOLITHIC_FREE,
    SPLIT_ONLY_FREE,
    CAPPED,
    BEST = CAPPED + CAPS,
    WAYS
};

template <int MOST> void list_whole(way *w)
{
    add(w[MONOLITHIC], "all", tendency_kernel<MOST, false, NESTED, ALL>, LM_TENDENCY_ACTIVE);
    add(w[MONOLITHIC_DYNAMIC], "all", tendency_kernel<MOST, false, DYNAMIC, ALL>, LM_TENDENCY_ACTIVE);
    add(w[SPLIT_ONLY], "interior, all", tendency_kernel<MOST, false, FULL, ALL>, LM_TENDENCY_INTERIOR);
    add(w[SPLIT_ONLY], "boundary, all", tendency_kernel<MOST, false, NESTED, ALL>, LM_TENDENCY_BOUNDARY);
    add(w[SPLIT_ONLY_SINGLE], "interior, all", tendency_kernel<MOST, true, FULL, ALL>, LM_TENDENCY_INTERIOR);
    add(w[SPLIT_ONLY_SINGLE], "boundary, all", tendency_kernel<MOST, true, NESTED, ALL>, LM_TENDENCY_BOUNDARY);
}

template <int MOST, int CAP> void add_capped(way &w)
{
    add_capped_terms<MOST, FULL, CAP>(w, LM_TENDENCY_INTERIOR);
    add_capped_terms<MOST, NESTED, CAP>(w, LM_TENDENCY_BOUNDARY);
}

template <int MOST> void list_capped(way *w)
{
    add(w[MONOLITHIC_FREE], "all", capped_kernel<MOST, NESTED, ALL, NO_LIMIT>, LM_TENDENCY_ACTIVE);
    add(w[SPLIT_ONLY_FREE], "interior, all", capped_kernel<MOST, FULL, ALL, NO_LIMIT>, LM_TENDENCY_INTERIOR);
    add(w[SPLIT_ONLY_FREE], "boundary, all", capped_kernel<MOST, NESTED, ALL, NO_LIMIT>, LM_TENDENCY_BOUNDARY);
    add_capped<MOST, 128>(w[CAPPED]);
    add_capped<MOST, 96>(w[CAPPED + 1]);
    add_capped<MOST, 80>(w[CAPPED + 2]);
    add_capped<MOST, 64>(w[CAPPED + 3]);
    add_capped<MOST, 48>(w[CAPPED + 4]);
    add_capped<MOST, 32>(w[CAPPED + 5]);
}

/* All but the last, which is known when the others have been measured. */
template <int MOST> void list_ways(way *w)
{
    list_whole<MOST>(w);
    add_terms<MOST, false, NESTED>(w[FISSION], LM_TENDENCY_ACTIVE);
    add_terms<MOST, false, DYNAMIC>(w[FISSION_DYNAMIC], LM_TENDENCY_ACTIVE);
    add_terms<MOST, false, BRANCH>(w[FISSION_BRANCH], LM_TENDENCY_ACTIVE);
    add_terms<MOST, false, FULL>(w[SPLIT], LM_TENDENCY_INTERIOR);
    add_terms<MOST, false, NESTED>(w[SPLIT], LM_TENDENCY_BOUNDARY);
    add_terms<MOST, true, FULL>(w[SPLIT_SINGLE], LM_TENDENCY_INTERIOR);
    add_terms<MOST, true, NESTED>(w[SPLIT_SINGLE], LM_TENDENCY_BOUNDARY);
    add_terms<MOST, false, FULL>(w[SPLIT_DYNAMIC], LM_TENDENCY_INTERIOR);
    add_terms<MOST, false, DYNAMIC>(w[SPLIT_DYNAMIC], LM_TENDENCY_BOUNDARY);
    list_capped<MOST>(w);
}

void name_ways(way *w)
{
    static const struct {
        const char *name;
        int against;
    } list[WAYS] = {{"monolithic", -1},
                    {"fission", MONOLITHIC},
                    {"fission, split", FISSION},
                    {"fission, split, fp32", SPLIT},
                    {"split", MONOLITHIC},
                    {"split, fp32", SPLIT_ONLY},
                    {"fission, dynamic order", FISSION},
                    {"fission, full order by a branch", FISSION_DYNAMIC},
                    {"monolithic, dynamic order", MONOLITHIC},
                    {"fission, split, boundary dynamic", SPLIT},
                    {"monolithic, registers without limit", MONOLITHIC},
                    {"split, registers without limit", SPLIT_ONLY},
                    {"fission, split, cap 128 everywhere", SPLIT},
                    {"fission, split, cap 96 everywhere", SPLIT},
                    {"fission, split, cap 80 everywhere", SPLIT},
                    {"fission, split, cap 64 everywhere", SPLIT},
                    {"fission, split, cap 48 everywhere", SPLIT},
                    {"fission, split, cap 32 everywhere", SPLIT},
                    {"fission, split, each its best cap", SPLIT}};
    for (int k = 0; k < WAYS; k++) {
        w[k].name = list[k].name;
        w[k].against = list[k].against < 0 ? NULL : list[list[k].against].name;
        w[k].single = k == SPLIT_SINGLE || k == SPLIT_ONLY_SINGLE;
    }
}

/* --- measuring --- */

struct measurement {
    bench_device d;
    const struct lm_tendency_problem *p;
    tendency t;
    cells list[LM_TENDENCY_LISTS];
    size_t elements;
    double *exact, *single; /* sums of the first way in double and in single precision */
    double *first, *second; /* stages; what the control kernel works on */
    u64 *counter;
    bool has_single;
    way ways[WAYS];
    function measured[LM_TENDENCY_ROWS]; /* a row's kernel; NULL: a whole way */
    struct lm_tendency_row *rows;
    int count;
};

template <class T> T *brought(measurement &m, const T *from, size_t count)
{
    T *to = (T *)m.d.allocate(count * sizeof *to);
    if (to)
        m.d.check(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyHostToDevice), "arrays");
    return to;
}

double *zeros(measurement &m)
{
    double *to = (double *)m.d.allocate(m.elements * sizeof *to);
    if (to)
        m.d.check(cudaMemset(to, 0, m.elements * sizeof *to), "arrays");
    return to;
}

void prepare(measurement &m)
{
    const struct lm_tendency_problem *p = m.p;
    m.elements = (size_t)p->stride * (size_t)(p->ny + 2 * LM_TENDENCY_GHOSTS);
    m.t.by = lm_advect_stage(0, p->unit, p->dt, p->inv_dx, p->inv_dy, p->diffusivity);
    m.t.stride = p->stride;
    m.t.q = brought(m, p->q, m.elements);
    m.t.vx = brought(m, p->vx, m.elements);
    m.t.vy = brought(m, p->vy, m.elements);
    m.t.source = brought(m, p->source, m.elements);
    m.t.clearance = brought(m, p->clearance, m.elements);
    m.t.gain = zeros(m);
    m.exact = zeros(m);
    m.single = zeros(m);
    m.first = zeros(m);
    m.second = zeros(m);
    m.counter = (u64 *)m.d.allocate(sizeof *m.counter);
    for (int k = 0; k < LM_TENDENCY_LISTS; k++)
        m.list[k] = {brought(m, p->list[k], p->count[k] ? p->count[k] : 1), p->count[k]};
}

unsigned blocks_for(size_t threads)
{
    return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

void start(measurement &m, const launch &l, const tendency &t)
{
    if (m.list[l.list].count > 0)
        l.run<<<blocks_for(m.list[l.list].count), BLOCK>>>(t, m.list[l.list]);
}

void start_all(measurement &m, const way &w, const tendency &t)
{
    for (int k = 0; k < w.count; k++)
        start(m, w.launch[k], t);
}

/* What the compiler and the device make of a kernel. */
void describe(measurement &m, const launch &l, struct lm_tendency_row *row)
{
    cudaFuncAttributes f;
    int blocks = 0, most = 0;
    memset(&f, 0, sizeof f);
    m.d.check(cudaFuncGetAttributes(&f, (const void *)l.run), l.name);
    m.d.check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, l.run, BLOCK, 0), l.name);
    m.d.check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, 0), l.name);
    row->registers = f.numRegs;
    row->spill = (double)f.localSizeBytes;
    row->occupancy = most ? (double)(blocks * BLOCK) / most : 0;
}

struct lm_tendency_row *new_row(measurement &m, const way &w, function run)
{
    struct lm_tendency_row *row = &m.rows[m.count];
    memset(row, 0, sizeof *row);
    row->way = w.name;
    m.measured[m.count++] = run;
    return row;
}

/* A kernel's row, or NULL. */
const struct lm_tendency_row *row_of(const measurement &m, const launch &l)
{
    for (int k = 0; k < m.count; k++)
        if (m.measured[k] == l.run && m.rows[k].list == l.list)
            return &m.rows[k];
    return NULL;
}

/* A kernel that adds is timed on what it has left the time before. */
void measure_kernel(measurement &m, const way &w, const launch &l)
{
    if (row_of(m, l))
        return;
    struct lm_tendency_row *row = new_row(m, w, l.run);
    row->kernel = l.name;
    row->list = l.list;
    describe(m, l, row);
    row->time = m.d.time(
        m.p->repeats, [] {}, [&] { start(m, l, m.t); });
}

/* --- checks --- */

u64 read_counter(measurement &m)
{
    u64 value = 0;
    m.d.check(cudaGetLastError(), "comparison");
    m.d.check(cudaMemcpy(&value, m.counter, sizeof value, cudaMemcpyDeviceToHost), "comparison");
    return value;
}

bool equal(measurement &m, const double *a, const double *b)
{
    const cells &c = m.list[LM_TENDENCY_ACTIVE];
    m.d.check(cudaMemset(m.counter, 0, sizeof *m.counter), "comparison");
    different_kernel<<<blocks_for(c.count), BLOCK>>>(c, a, b, m.counter);
    return read_counter(m) == 0;
}

/* The largest difference between single and double precision, in parts of the bound. */
double beyond_bound(measurement &m)
{
    const cells &c = m.list[LM_TENDENCY_ACTIVE];
    double share;
    m.d.check(cudaMemset(m.counter, 0, sizeof *m.counter), "comparison");
    const int most = m.p->order;
    auto run = most == 3 ? bound_kernel<3> : most == 4 ? bound_kernel<4> : bound_kernel<5>;
    run<<<blocks_for(c.count), BLOCK>>>(m.t, c, m.exact, m.counter);
    const u64 bits = read_counter(m);
    memcpy(&share, &bits, sizeof share);
    return share;
}

int verdict(measurement &m, const way &w, double *difference)
{
    double *first = w.single ? m.single : m.exact;
    if (&w == &m.ways[MONOLITHIC] || (w.single && !m.has_single))
        m.d.check(cudaMemcpy(first, m.t.gain, m.elements * sizeof *first, cudaMemcpyDeviceToDevice), "sums");
    m.has_single |= w.single;
    if (!equal(m, m.t.gain, first))
        return LM_SUMS_DIFFERENT;
    if (!w.single)
        return LM_SUMS_EQUAL;
    *difference = beyond_bound(m);
    return *difference <= 1.0 ? LM_SUMS_WITHIN : LM_SUMS_DIFFERENT;
}

/* Each kernel, then the control and all kernels in a row, from sums that are not numbers. */
void measure(measurement &m, const way &w)
{
    for (int k = 0; k < w.count && !m.d.failed; k++)
        measure_kernel(m, w, w.launch[k]);
    struct lm_tendency_row *row = new_row(m, w, NULL);
    row->against = w.against;
    row->control = m.d.time(
        m.p->repeats, [] {},
        [&] {
            for (int k = 0; k < CONTROL_TIMES; k++)
                control_kernel<<<blocks_for(m.elements), BLOCK>>>(m.elements, m.first, m.second);
        });
    row->time = m.d.time(
        m.p->repeats, [] {}, [&] { start_all(m, w, m.t); });
    m.d.check(cudaMemset(m.t.gain, 0xff, m.elements * sizeof *m.t.gain), "sums");
    if (m.d.failed)
        return;
    start_all(m, w, m.t);
    row->sums = verdict(m, w, &row->difference);
}

/* Until the clocks are what they will be. */
void warm_up(measurement &m)
{
    for (int k = 0; k < WARM_UP * m.p->repeats && !m.d.failed; k++)
        start_all(m, m.ways[MONOLITHIC], m.t);
    m.d.check(cudaDeviceSynchronize(), "warm-up");
}

/* Of the split ways' kernels in double precision those that were fastest. */
void choose_best(measurement &m)
{
    way &best = m.ways[BEST];
    const way &plain = m.ways[SPLIT];
    best.count = plain.count;
    for (int k = 0; k < plain.count; k++) {
        best.launch[k] = plain.launch[k];
        for (int c = 0; c < CAPS; c++) {
            const launch &l = m.ways[CAPPED + c].launch[k];
            if (row_of(m, l)->time.median < row_of(m, best.launch[k])->time.median)
                best.launch[k] = l;
        }
    }
}

/* One step of three stages by the monolithic kernel. */
void advance(measurement &m, double *advanced)
{
    const struct lm_tendency_problem *p = m.p;
    const cells &c = m.list[LM_TENDENCY_ACTIVE];
    double *q = (double *)m.t.q;
    double *const from[LM_ADVECT_STAGES] = {q, m.first, m.second}, *const to[LM_ADVECT_STAGES] = {m.first, m.second, q};
    for (int k = 0; k < LM_ADVECT_STAGES; k++) {
        tendency t = m.t;
        t.by = lm_advect_stage(k, p->unit, p->dt, p->inv_dx, p->inv_dy, p->diffusivity);
        t.q = from[k];
        start_all(m, m.ways[MONOLITHIC], t);
        update_kernel<<<blocks_for(c.count), BLOCK>>>(t, c, q, to[k]);
        wrap_kernel<<<blocks_for(m.elements), BLOCK>>>(p->nx, p->ny, to[k]);
    }
    m.d.check(cudaGetLastError(), "a whole step");
    const size_t corner = (size_t)LM_TENDENCY_GHOSTS * (size_t)(p->stride + 1), row = (size_t)p->nx * sizeof *q;
    m.d.check(cudaMemcpy2D(advanced, row, q + corner, (size_t)p->stride * sizeof *q, row, (size_t)p->ny,
                           cudaMemcpyDeviceToHost),
              "a whole step");
}

} // namespace

int lm_cuda_bench_tendency(const struct lm_tendency_problem *problem, struct lm_tendency_row *rows, int *count,
                           double *advanced)
{
    measurement m = {};
    m.p = problem;
    m.rows = rows;
    prepare(m);
    name_ways(m.ways);
    if (problem->order == 3)
        list_ways<3>(m.ways);
    else if (problem->order == 4)
        list_ways<4>(m.ways);
    else
        list_ways<5>(m.ways);
    if (!m.d.failed)
        warm_up(m);
    for (int k = 0; k < WAYS && !m.d.failed; k++) {
        if (k == BEST)
            choose_best(m);
        measure(m, m.ways[k]);
    }
    if (!m.d.failed)
        advance(m, advanced);
    *count = m.count;
    return m.d.failed;
}
