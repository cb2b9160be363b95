/* Case `particles`: the table of what the device measures (cuda/bench/particles.cu). */
#include "bench/cases.h"
#include "bench/device.h"

enum { REPEATS = 10 };

enum { TIME, RATE, BANDWIDTH, COPY, REGISTERS, SPILL, STATIC, DYNAMIC, THREADS, OCCUPANCY, GLOBAL, SHARED, SUMS };

static int new_table(const struct lm_particle_problem *p, int precision, struct lm_table **t)
{
    char name[64], title[160];
    snprintf(name, sizeof name, "particles_%s_%s", lm_bench_shape(p->shape), lm_bench_precision(precision));
    snprintf(title, sizeof title, "particles: %s, %s; %d x %d cells, %d particles a cell in tiles of 8 x 8 cells",
             lm_bench_shape(p->shape), lm_bench_precision(precision), p->cells, p->cells, p->particles_per_cell);
    if (lm_table_new(name, title, t))
        return LM_FAILED;
    lm_table_column(*t, "time", "ms");
    lm_table_column(*t, "rate", "G particle-steps/s");
    lm_table_column(*t, "bandwidth", "TB/s");
    lm_table_column(*t, "of copy", "%");
    lm_table_column(*t, "registers", "");
    lm_table_column(*t, "spilled", "B");
    lm_table_column(*t, "static", "B shared");
    lm_table_column(*t, "dynamic", "B shared");
    lm_table_column(*t, "block", "threads");
    lm_table_column(*t, "occupancy", "%");
    lm_table_column(*t, "global atomics", "a particle");
    lm_table_column(*t, "shared atomics", "a particle");
    lm_table_column(*t, "sums", "");
    lm_table_note(*t, "bandwidth: of x, y, u, v, w read and written once; a deposit alone reads them only");
    lm_table_note(*t, "atomics: by particles as the kernel has them; those that add a block's window to the grid are "
                      "counted in an untimed run");
    lm_table_note(*t, "sums: against int32, shared, sorted; floating ones may be off by %g of a cell's particles",
                  LM_PARTICLE_TOLERANCE);
    return LM_OK;
}

static void put_row(struct lm_bench *b, struct lm_table *t, const struct lm_particle_row *r, double particles)
{
    static const char *const sums[] = {"-", "equal", "within", "DIFFERENT"};
    lm_table_row(t, "%s; %s", r->variant, r->order);
    lm_table_measured(t, TIME, lm_measured_scaled(1e3, r->time));
    lm_table_number(t, RATE, 1e-9 * particles / r->time.median);
    lm_table_number(t, BANDWIDTH, 1e-12 * r->bytes * particles / r->time.median);
    lm_table_number(t, COPY, 100 * r->bytes * particles / r->time.median / b->copy.median);
    lm_table_number(t, REGISTERS, r->registers);
    lm_table_number(t, SPILL, r->spill);
    lm_table_number(t, STATIC, r->shared_static);
    lm_table_number(t, DYNAMIC, r->shared_dynamic);
    lm_table_number(t, THREADS, r->threads);
    lm_table_number(t, OCCUPANCY, 100 * r->occupancy);
    lm_table_number(t, GLOBAL, r->global_atomics);
    lm_table_number(t, SHARED, r->shared_atomics);
    lm_table_text(t, SUMS, sums[r->sums]);
    b->different |= r->sums == LM_SUMS_DIFFERENT;
}

static int one_table(struct lm_bench *b, const struct lm_particle_problem *p, int precision)
{
    struct lm_particle_row rows[LM_PARTICLE_ROWS];
    struct lm_table *t;
    double particles = (double)p->cells * p->cells * p->particles_per_cell;
    int count = 0, status = precision == LM_SINGLE ? lm_cuda_bench_particles_f32(p, rows, &count)
                                                   : lm_cuda_bench_particles_f64(p, rows, &count);
    if (!status)
        status = new_table(p, precision, &t);
    if (status)
        return status;
    for (int k = 0; k < count; k++)
        put_row(b, t, &rows[k], particles);
    return lm_bench_add(b, &t);
}

int lm_bench_particles(struct lm_bench *b)
{
    int status = LM_OK;
    struct lm_particle_problem p = {.cells = lm_bench_cells(b) & ~7, /* whole tiles */
                                    .particles_per_cell = (int)lm_bench_ppc(b),
                                    .repeats = lm_bench_repeats(b, b->options->quick ? 2 : REPEATS)};
    for (p.shape = LM_LINEAR; p.shape <= LM_QUADRATIC && !status; p.shape++) {
        status = one_table(b, &p, LM_DOUBLE);
        status = status ? status : one_table(b, &p, LM_SINGLE);
    }
    return status;
}
