/* Case `step`: the whole step, as `larmor run` takes it.
 *
 * Warm-up first; then batches of steps, each batch one measurement. A second, short run of the same simulation times
 * the particle passes and sorts in it by waiting before and after each; what is left is the fields and the host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cases.h"
#include "output/series_columns.h"

enum { MAX_ROWS = 36 };

struct step_row {
    char label[64];
    struct lm_bench_problem problem;
    int series_every; /* steps; 0: no rows of the time series */
};

struct protocol {
    int warm_up, batch, batches;
};

struct result {
    struct lm_measured seconds; /* a step */
    double particles, sorts, strays;
    int substeps;
    double pass, sort, rest; /* shares of the time */
};

/* --- what is measured --- */

static struct step_row *add(struct step_row *rows, int *count, const char *label, struct lm_bench_problem problem)
{
    struct step_row *r = &rows[(*count)++];
    *r = (struct step_row){.problem = problem};
    snprintf(r->label, sizeof r->label, "%s", label);
    return r;
}

static void add_thermal(struct step_row *rows, int *count, struct lm_bench_problem p, int threads)
{
    for (int precision = LM_DOUBLE; precision >= LM_SINGLE; precision -= LM_DOUBLE - LM_SINGLE)
        for (p.shape = LM_LINEAR; p.shape <= LM_QUADRATIC; p.shape++) {
            char label[64];
            p.precision = precision;
            p.threads = threads;
            snprintf(label, sizeof label, "thermal, %s, %s%s", lm_bench_shape(p.shape), lm_bench_precision(precision),
                     threads == 1 ? ", 1 thread" : "");
            add(rows, count, label, p);
        }
}

/* A gas and what takes up the ions' energy: without collisions, with them, and with charge exchange too. They are
 * gentle, so that the plasma is the same in all three. `table`: key and path of the table of stopping. */
static void add_gas(struct step_row *rows, int *count, struct lm_bench_problem p, const char *table)
{
    p.sections = "[background.gas]\nkind = neutral_gas\ninitial = 1 + 0.2*sin(2*pi*x/lx)\n"
                 "[background.heat]\ninitial = 0\ngains = energy\n";
    add(rows, count, "a gas and its heat, no collisions", p);
    p.more[0] = "species.protons.gas=gas";
    p.more[1] = table;
    add(rows, count, "stopping and scattering in it", p);
    p.more[2] = "species.protons.charge_exchange_cross_section=1e-3";
    add(rows, count, "and charge exchange", p);
    p.more[2] = "species.protons.collide_every=2";
    add(rows, count, "stopping and scattering every 2 steps", p);
}

#define DISK "[body.disk]\nshape = disk\nx = 0.3*lx\ny = 0.5*ly\nradius = 0.14*ly\nparticles = absorbing\n"

/* What people run: plasma bounded by a void, and a body in a wind, whose wake is empty from the start. */
static void add_bodies_and_voids(const struct lm_bench *b, struct step_row *rows, int *count, struct lm_bench_problem p)
{
    struct lm_bench_problem wind = p;
    p.mean = 0.08 * 3.1416;
    p.more[0] = "species.protons.density=(x/lx-0.5)^2+(y/ly-0.5)^2<0.08";
    add(rows, count, "voids: a blob of a quarter of the box", p);
    wind.sections = DISK "fields = resistive\nresistivity = 1000\n";
    wind.more[0] = "boundary.x_min=inflow";
    wind.more[1] = "boundary.x_max=absorbing";
    wind.more[2] = "species.protons.drift_x=2.5";
    wind.more[3] =
        "species.protons.density=(x-0.3*lx)^2+(y-0.5*ly)^2>(0.14*ly)^2&&(x<0.3*lx||(y-0.5*ly)^2>(0.14*ly)^2)";
    wind.more[4] = "species.protons.inflow_density=1";
    wind.more[5] = "boundary.fields_x_max=open";
    add(rows, count, "wind on a disk", wind);
    wind.more[6] = "electrons.closure=evolved";
    add(rows, count, "wind on a disk, evolved electrons", wind);
    wind.more[6] = NULL;
    struct lm_bench_problem moon = wind;
    moon.cells = b->options->quick ? 16 : 48;
    moon.ppc = b->options->quick ? 8 : 64;
    add(rows, count, b->options->quick ? "moon-like: 16^2 x 8" : "moon-like: 48^2 x 64", moon)->series_every = 5;
    moon.more[5] = wind.more[5] = "boundary.fields_x_max=radiating";
    add(rows, count, "wind on a disk, radiating side", wind);
    add(rows, count, "moon-like, radiating side", moon)->series_every = 5;
}

/* Electrons with a pressure of their own. */
static void add_electrons(struct step_row *rows, int *count, struct lm_bench_problem p)
{
    p.more[0] = "electrons.closure=evolved";
    p.more[1] = "electrons.conductivity=0.1";
    add(rows, count, "evolved electrons that conduct heat", p);
    p.more[1] = "species.protons.electron_heat_exchange_rate=0.01";
    add(rows, count, "evolved electrons, exchange of heat", p);
}

/* Cells are 0.25 d_i and dt = 0.01: the drift of 7.5 v_A crosses 0.3 cells a step. */
static int make_rows(const struct lm_bench *b, const char *table, struct step_row *rows)
{
    int count = 0;
    const struct lm_bench_problem base = {
        .shape = LM_LINEAR, .precision = LM_DOUBLE, .cells = lm_bench_cells(b), .ppc = lm_bench_ppc(b)};
    struct lm_bench_problem p = base;
    add_thermal(rows, &count, base, 0);
    if (!lm_bench_on_gpu(b) && b->threads > 1)
        add_thermal(rows, &count, base, 1);
    p.ppc = 16;
    add(rows, &count, "16 a cell, linear, double", p);
    p.precision = LM_SINGLE;
    add(rows, &count, "16 a cell, linear, single", p);
    p = base;
    p.more[0] = "species.protons.drift_x=7.5";
    add(rows, &count, "drift of 0.3 cells a step", p);
    p = base;
    p.more[0] = "species.protons.temperature=50";
    add(rows, &count, "hot: 0.28 cells a step", p);
    p = base;
    p.mean = 0.2 + 4.0 / 32;
    p.more[0] = "species.protons.density=0.2+1/cosh(32*(y/ly-0.25))^2+1/cosh(32*(y/ly-0.75))^2";
    p.more[1] = "fields.bx=tanh(32*(y/ly-0.25))-tanh(32*(y/ly-0.75))-1";
    p.more[2] = "fields.bz=0";
    p.more[3] = "species.protons.temperature=0.4";
    p.more[4] = "electrons.temperature=0.1";
    add(rows, &count, "two Harris sheets", p);
    p = base;
    p.more[0] = "species.protons.density=1+0.818*cos(2*pi*x/lx)";
    add(rows, &count, "density 10:1", p);
    p = base;
    p.more[0] = "boundary.x_min=inflow";
    p.more[1] = "boundary.x_max=absorbing";
    p.more[2] = "species.protons.drift_x=2.5";
    p.more[3] = "boundary.fields_x_max=open";
    add(rows, &count, "wind of 0.1 cells a step, open sides", p);
    p.more[0] = "boundary.x_min=reflecting";
    p.more[1] = "boundary.x_max=reflecting";
    p.more[2] = "boundary.y_min=reflecting";
    p.more[3] = "boundary.y_max=reflecting";
    add(rows, &count, "walls all round", p);
    add_bodies_and_voids(b, rows, &count, base);
    add_electrons(rows, &count, base);
    p = base;
    add_gas(rows, &count, p, table);
    p.cells = b->options->quick ? 16 : 64;
    p.ppc = b->options->quick ? 8 : 64;
    add(rows, &count, b->options->quick ? "small: 16^2 x 8" : "small: 64^2 x 64", p);
    p = base;
    add(rows, &count, "series row each 10 steps", p)->series_every = 10;
    p.substeps = 4;
    add(rows, &count, "4 substeps, series row each 10 steps", p)->series_every = 10;
    p.substeps = 20;
    add(rows, &count, "20 substeps", p);
    return count;
}

/* --- measuring --- */

static int advance(struct lm_bench_sim *s, int steps, int series_every, const struct lm_references *references)
{
    double row[LM_ROW_MAX];
    int status = LM_OK;
    for (int k = 0; k < steps && !status; k++) {
        status = lm_bench_advance(s, 1);
        if (!status && series_every && s->sim->step % series_every == 0)
            status = lm_row_fill(s->sim, &s->config, references, 0, row);
    }
    return status;
}

static int time_batches(struct lm_bench_sim *s, const struct step_row *row, const struct protocol *p,
                        struct result *out)
{
    double times[LM_BENCH_MAX_REPEATS], strays = 0;
    struct lm_references references = {0};
    int status = advance(s, p->warm_up, row->series_every, &references);
    int64_t sorts = s->sim->sorts;
    for (int k = 0; k < p->batches && !status; k++) {
        double before = lm_clock();
        status = advance(s, p->batch, row->series_every, &references);
        times[k] = (lm_clock() - before) / p->batch;
        strays += (double)s->sim->control.strays[0];
    }
    if (status)
        return status;
    out->seconds = lm_measured_of(times, p->batches);
    out->sorts = (double)(s->sim->sorts - sorts);
    out->strays = strays / p->batches;
    out->particles = s->particles;
    out->substeps = s->sim->substeps;
    return LM_OK;
}

static int time_parts(struct lm_bench_sim *s, const struct step_row *row, const struct protocol *p, struct result *out)
{
    struct lm_references references = {0};
    lm_bench_watch_begin(s->sim->backend);
    double before = lm_clock();
    int status = advance(s, 3 * p->batch, row->series_every, &references);
    double total = lm_clock() - before;
    struct lm_bench_watch w = lm_bench_watch_read();
    lm_bench_watch_end(s->sim->backend);
    out->pass = w.pass / total;
    out->sort = w.sort / total;
    out->rest = 1 - out->pass - out->sort;
    return status;
}

static int measure(const struct lm_bench *b, const struct step_row *row, const struct protocol *p, struct result *out)
{
    struct lm_bench_sim *s;
    int status = lm_bench_sim_new(b, &row->problem, &s);
    if (status)
        return status;
    status = time_batches(s, row, p, out);
    status = status ? status : time_parts(s, row, p, out);
    lm_bench_sim_free(&s);
    return status;
}

/* --- the table --- */

enum { PARTICLES, RATE, STEP, STEPS, COPY, PASS, SORT, REST, SUBSTEPS, SORTS, STRAYS };

static int new_table(const struct lm_bench *b, const struct protocol *p, struct lm_table **t)
{
    char title[160];
    snprintf(title, sizeof title, "step: %d x %d cells, %g particles a cell; %d batches of %d steps after %d",
             lm_bench_cells(b), lm_bench_cells(b), lm_bench_ppc(b), p->batches, p->batch, p->warm_up);
    if (lm_table_new("step", title, t))
        return LM_FAILED;
    lm_table_column(*t, "particles", "M");
    lm_table_column(*t, "rate", "G particle-steps/s");
    lm_table_column(*t, "step", "ms");
    lm_table_column(*t, "steps", "1/s");
    lm_table_column(*t, "of copy", "%");
    lm_table_column(*t, "pass", "%");
    lm_table_column(*t, "sort", "%");
    lm_table_column(*t, "rest", "%");
    lm_table_column(*t, "substeps", "");
    lm_table_column(*t, "sorts", "");
    lm_table_column(*t, "strays", "% of particles");
    lm_table_note(*t,
                  "pass, sort, rest (fields, moments, host): shares of the time of %d further steps that wait before "
                  "and after each pass and sort",
                  3 * p->batch);
    return LM_OK;
}

static void put_result(struct lm_table *t, const struct lm_bench *b, const struct step_row *row, const struct result *r)
{
    double bytes = lm_bench_ideal(row->problem.precision) * r->particles;
    lm_table_row(t, "%s", row->label);
    lm_table_number(t, PARTICLES, 1e-6 * r->particles);
    lm_table_measured(t, RATE, lm_measured_rate(1e-9 * r->particles, r->seconds));
    lm_table_number(t, STEP, 1e3 * r->seconds.median);
    lm_table_number(t, STEPS, 1 / r->seconds.median);
    lm_table_number(t, COPY, 100 * bytes / r->seconds.median / b->copy.median);
    lm_table_number(t, PASS, 100 * r->pass);
    lm_table_number(t, SORT, 100 * r->sort);
    lm_table_number(t, REST, 100 * r->rest);
    lm_table_number(t, SUBSTEPS, r->substeps);
    lm_table_number(t, SORTS, r->sorts);
    lm_table_number(t, STRAYS, 100 * r->strays / r->particles);
}

/* A table of stopping in a file of its own; `key` gets the key and its path. */
static int write_table(size_t size, char *key, char *path)
{
    static const char rows[] = "# source = made up: 1 % of the energy in 10/Omega_ci, half a degree a step\n"
                               "# energy = normalized\n# stopping = normalized\n# scattering = normalized\n"
                               "0 1e-4 1e-3\n0.1 1e-3 1e-3\n0.3 1.5e-3 1e-3\n1 1.2e-3 1e-3\n3 9e-4 1e-3\n"
                               "10 5e-4 1e-3\n30 3e-4 1e-3\n";
    const int file = mkstemp(path);
    const ssize_t written = file < 0 ? -1 : write(file, rows, sizeof rows - 1);
    if (file >= 0)
        close(file);
    snprintf(key, size, "species.protons.stopping_table=%s", path);
    return written == sizeof rows - 1 ? LM_OK : lm_fail(LM_FAILED, "%s: %s", path, strerror(errno));
}

int lm_bench_step(struct lm_bench *b)
{
    struct step_row rows[MAX_ROWS];
    char path[] = "/tmp/larmor-stopping-XXXXXX", key[96];
    struct protocol p = {50, 50, 5}; /* a batch holds one sort or two */
    struct lm_table *t;
    if (!lm_bench_on_gpu(b))
        p = (struct protocol){5, 4, 5};
    if (b->options->quick)
        p = (struct protocol){2, 2, 2};
    p.batches = lm_bench_repeats(b, p.batches);
    int count = make_rows(b, key, rows), status = new_table(b, &p, &t);
    status = status ? status : write_table(sizeof key, key, path);
    for (int k = 0; k < count && !status; k++) {
        struct result r = {.particles = 0};
        status = measure(b, &rows[k], &p, &r);
        if (status)
            lm_fail_context(status, "%s", rows[k].label);
        else
            put_result(t, b, &rows[k], &r);
    }
    unlink(path);
    if (status) {
        lm_table_free(&t);
        return status;
    }
    return lm_bench_add(b, &t);
}
