/* Case `outputs`: moments of the velocity and distributions of all particles, as outputs want them, beside a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"

enum { TIME, RATE, WORTH, STEP };

/* Moments, or a distribution. */
struct wanted {
    const char *label;
    int moments;         /* how many of enum lm_moment, from the first on */
    struct lm_bins bins; /* where this number is 0 */
};

static const struct wanted wanted[] = {
    {"density and velocity", LM_MOMENT_VV, {0}},
    {"and pressure tensor", LM_MOMENT_VVV, {0}},
    {"and energy flux", LM_MOMENT_COUNT, {0}},
    {"60 x 60 bins of vx, vy", 0, {2, {LM_AXIS_VX, LM_AXIS_VY}, {60, 60}, {-3, -3}, {3, 3}, LM_NO_REGION}},
    {"60 x 60 bins of v_par, v_perp", 0, {2, {LM_AXIS_PAR, LM_AXIS_PERP}, {60, 60}, {-3, 0}, {3, 4}, LM_NO_REGION}},
    {"300 x 300 of them", 0, {2, {LM_AXIS_PAR, LM_AXIS_PERP}, {300, 300}, {-3, 0}, {3, 4}, LM_NO_REGION}},
    {"60 x 60 bins of pitch, gyrophase",
     0,
     {2, {LM_AXIS_PITCH, LM_AXIS_GYROPHASE}, {60, 60}, {0, 0}, {181, 360}, LM_NO_REGION}}};

enum { ROWS = sizeof wanted / sizeof *wanted };

static int new_table(const struct lm_bench *b, struct lm_table **t)
{
    char title[160];
    snprintf(title, sizeof title,
             "outputs: moments of the velocity and distributions; %d x %d cells, %g particles a cell",
             lm_bench_cells(b), lm_bench_cells(b), lm_bench_ppc(b));
    if (lm_table_new("outputs", title, t))
        return LM_FAILED;
    lm_table_column(*t, "time", "ms");
    lm_table_column(*t, "rate", "G particles/s");
    lm_table_column(*t, "worth", "steps");
    lm_table_column(*t, "step", "ms");
    lm_table_note(
        *t, "time: with the way of sums and counts to the host, without files; worth: so many steps take as long");
    return LM_OK;
}

static struct lm_moment_list list_of(const struct lm_sim *sim, int count)
{
    struct lm_moment_list list = {.count = count};
    struct lm_sim_status now;
    lm_sim_status(sim, &now);
    frexp(now.species[0].fastest, &list.speed_exponent);
    for (int k = 0; k < count; k++)
        list.moment[k] = k;
    return list;
}

/* `to`: memory for the sums or counts. */
static int make_output(const struct lm_bench_sim *s, const struct wanted *w, void *to)
{
    const struct lm_moment_list list = list_of(s->sim, w->moments);
    return w->moments > 0 ? lm_sim_velocity_moments(s->sim, 0, &list, to)
                          : lm_sim_distribution(s->sim, 0, &w->bins, to);
}

static int time_output(const struct lm_bench *b, const struct lm_bench_sim *s, const struct wanted *w, void *to,
                       struct lm_measured *out)
{
    const int repeats = lm_bench_repeats(b, b->options->quick ? 2 : 5);
    double times[LM_BENCH_MAX_REPEATS];
    int status = make_output(s, w, to);
    for (int k = 0; k < repeats && !status; k++) {
        const double before = lm_clock();
        status = make_output(s, w, to);
        times[k] = lm_clock() - before;
    }
    if (!status)
        *out = lm_measured_of(times, repeats);
    return status;
}

/* The most bytes that an output takes. */
static size_t most_bytes(const struct lm_bench_sim *s)
{
    size_t most = LM_MOMENT_COUNT * s->sim->grid.cells;
    for (int k = 0; k < ROWS; k++) {
        const size_t counters = wanted[k].moments > 0 ? 0 : lm_bins_counters(&wanted[k].bins);
        most = counters > most ? counters : most;
    }
    return most * sizeof(int64_t);
}

/* The step's time, which stands in the middle between two sorts when the outputs are measured. */
static int time_step(const struct lm_bench *b, struct lm_bench_sim *s, double *step)
{
    const int steps = b->options->quick || !lm_bench_on_gpu(b) ? 4 : 60;
    const int status = lm_bench_advance(s, steps);
    const double before = lm_clock();
    const int after = status ? status : lm_bench_advance(s, steps);
    *step = (lm_clock() - before) / steps;
    return after;
}

static int measure(struct lm_bench *b, struct lm_table *t, const struct lm_bench_problem *p)
{
    struct lm_bench_sim *s;
    struct lm_measured time;
    double step = 0;
    int status = lm_bench_sim_new(b, p, &s);
    void *memory = status ? NULL : malloc(most_bytes(s));
    if (!status && !memory)
        status = lm_fail(LM_FAILED, "not enough memory");
    if (!status)
        status = time_step(b, s, &step);
    for (int k = 0; k < ROWS && !status; k++) {
        status = time_output(b, s, &wanted[k], memory, &time);
        if (status)
            break;
        lm_table_row(t, "%s, %s: %s", lm_bench_shape(p->shape), lm_bench_precision(p->precision), wanted[k].label);
        lm_table_measured(t, TIME, lm_measured_scaled(1e3, time));
        lm_table_number(t, RATE, 1e-9 * s->particles / time.median);
        lm_table_number(t, WORTH, time.median / step);
        lm_table_number(t, STEP, 1e3 * step);
    }
    free(memory);
    lm_bench_sim_free(&s);
    return status;
}

int lm_bench_outputs(struct lm_bench *b)
{
    static const struct {
        int shape, precision;
    } problems[] = {{LM_LINEAR, LM_DOUBLE}, {LM_QUADRATIC, LM_DOUBLE}, {LM_LINEAR, LM_SINGLE}};
    struct lm_table *t;
    int status = new_table(b, &t);
    for (size_t k = 0; k < sizeof problems / sizeof *problems && !status; k++) {
        const struct lm_bench_problem p = {.shape = problems[k].shape,
                                           .precision = problems[k].precision,
                                           .cells = lm_bench_cells(b),
                                           .ppc = lm_bench_ppc(b)};
        status = measure(b, t, &p);
    }
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}
