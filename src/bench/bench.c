/* `larmor bench`: the list of cases, and what all of them need. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "bench/cases.h"
#include "larmor/run.h"
#include "base/threads.h"

static const struct bench_case {
    const char *name, *about;
    int (*run)(struct lm_bench *b);
    int only_on_gpu;
} cases[] = {
    {"copy", "bandwidth of a copy, with which the other cases are compared", lm_bench_copy, 0},
    {"particles", "ways to write the particle pass, side by side", lm_bench_particles, 1},
    {"order", "the particle pass by the steps since the last sort, and the best interval", lm_bench_order, 0},
    {"fields", "each operation on the grid, and the field part of a step for 1, 2, 4, 20 substeps", lm_bench_fields, 0},
    {"advect", "background fields: every scheme, in free fluid and past a slope", lm_bench_advect, 0},
    {"reduce", "sums over elements of which few contribute: atomics, shuffles, blocks", lm_bench_reduce, 0},
    {"ops", "expressions of operators on the grid: from global memory, and as one kernel with shared buffers",
     lm_bench_ops, 0},
    {"scale-weak", "the whole step on 1, 2, 4, ... of the ranks that mpirun has started, as many cells a rank",
     lm_bench_scale_weak, 0},
    {"scale-strong", "the same with as many cells in all; the fingerprints of the last states must be equal",
     lm_bench_scale_strong, 0},
    {"scale-halo", "the whole step on all ranks with halos of several widths", lm_bench_scale_halo, 0},
    {"scale-moving", "a layer and a shock that move from rank to rank, with and without rebalancing",
     lm_bench_scale_moving, 0},
    {"scale-files", "a file of fields and a checkpoint from one rank and from all", lm_bench_scale_files, 0},
    {"step", "the whole step: shapes, precisions, drifting, uneven, small and many-substep problems", lm_bench_step, 0},
    {"outputs", "moments of the velocity, as outputs want them, beside a step", lm_bench_outputs, 0},
    {"memory", "bytes a particle, and how many fit; with --fill such a run", lm_bench_memory, 0},
};

enum { CASES = sizeof cases / sizeof *cases };

void lm_bench_list(FILE *out)
{
    for (int k = 0; k < CASES; k++)
        fprintf(out, "%-12s %s%s\n", cases[k].name, cases[k].about, cases[k].only_on_gpu ? " (GPU)" : "");
}

int lm_bench_repeats(const struct lm_bench *b, int usual)
{
    return b->options->repeats > 0 ? b->options->repeats : usual;
}

int lm_bench_on_gpu(const struct lm_bench *b)
{
    return b->kind == LM_BACKEND_CUDA;
}

int lm_bench_add(struct lm_bench *b, struct lm_table **table)
{
    int status = lm_table_print(*table, b->out);
    if (!status && json_array_append_new(b->tables, lm_table_json(*table)))
        status = lm_fail(LM_FAILED, "not enough memory");
    lm_table_free(table);
    return status;
}

void lm_bench_put_equal(struct lm_bench *b, struct lm_table *t, int column, int equal)
{
    lm_table_text(t, column, equal ? "equal" : "DIFFERENT");
    b->different |= !equal;
}

/* --- the JSON file --- */

static json_t *measured_json(struct lm_measured s, const char *unit)
{
    return json_pack("{s:f, s:s, s:f, s:f, s:f}", "value", s.median, "unit", unit, "median", s.median, "min", s.min,
                     "max", s.max);
}

static json_t *report(const struct lm_bench *b)
{
    char date[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:b, s:o, s:O}", "software", lm_version_software(), "commit",
                     lm_version_commit(), "date", date, "backend", lm_bench_on_gpu(b) ? "cuda" : "cpu", "device",
                     b->device, "threads", b->threads, "quick", b->options->quick, "equal", !b->different,
                     "copy_bandwidth", measured_json(b->copy, "B/s"), "tables", b->tables);
}

/* Writes the whole file after every case, so that an interrupted call leaves the tables so far. */
static int write_report(const struct lm_bench *b)
{
    if (!b->options->json)
        return LM_OK;
    json_t *j = report(b);
    int failed = !j || json_dump_file(j, b->options->json, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(j);
    return failed ? lm_fail(LM_FAILED, "%s: cannot be written", b->options->json) : LM_OK;
}

/* --- running --- */

/* Whether a word names a case, or a group: "scale" stands for all cases whose names begin with "scale-". */
static int names_case(const char *word, const char *name)
{
    const size_t length = strlen(word);
    return !strncmp(word, name, length) && (name[length] == '\0' || name[length] == '-');
}

static int names_any(const char *word)
{
    for (int k = 0; k < CASES; k++)
        if (names_case(word, cases[k].name))
            return 1;
    return 0;
}

static int check_names(const struct lm_bench_options *o)
{
    char names[256] = "";
    for (int k = 0; k < CASES; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? ", " : "", cases[k].name);
    for (int k = 0; k < o->count; k++)
        if (!names_any(o->cases[k]))
            return lm_fail(LM_BAD_INPUT, "bench: no case %s; there are %s", o->cases[k], names);
    return LM_OK;
}

static int check_json(const struct lm_bench_options *o)
{
    FILE *f = o->json ? fopen(o->json, "a") : NULL;
    if (o->json && !f)
        return lm_fail(LM_BAD_INPUT, "%s: cannot be written: %s", o->json, strerror(errno));
    if (f)
        fclose(f);
    return LM_OK;
}

static int is_wanted(const struct lm_bench_options *o, const char *name)
{
    for (int k = 0; k < o->count; k++)
        if (names_case(o->cases[k], name))
            return 1;
    return o->count == 0;
}

static int run_case(struct lm_bench *b, const struct bench_case *c)
{
    if (c->only_on_gpu && !lm_bench_on_gpu(b)) {
        fprintf(b->out, "%s: needs a GPU\n\n", c->name);
        return LM_OK;
    }
    int status = c->run(b);
    if (status)
        fprintf(b->out, "%s: failed: %s\n\n", c->name, lm_error());
    return status;
}

/* Runs all requested cases. `message` gets the message of the first failure. */
static int run_cases(struct lm_bench *b, char message[LM_MAX_MESSAGE])
{
    int status = LM_OK;
    for (int k = 0; k < CASES; k++) {
        if (!is_wanted(b->options, cases[k].name))
            continue;
        int failed = run_case(b, &cases[k]);
        failed = failed ? failed : write_report(b);
        if (failed && !status)
            snprintf(message, LM_MAX_MESSAGE, "bench %s: %s", cases[k].name, lm_error());
        status = status ? status : failed;
    }
    return status;
}

int lm_bench(const struct lm_bench_options *options, FILE *out)
{
    struct lm_bench b = {.options = options, .out = out};
    char message[LM_MAX_MESSAGE];
    int status = check_names(options);
    if (!status)
        status = lm_backend_resolve(options->backend, options->threads, &b.kind, b.device, sizeof b.device);
    if (!status)
        status = check_json(options);
    if (status)
        return status;
    b.threads = lm_threads_wanted(options->threads);
    b.tables = json_array();
    fprintf(out, "%s on %s\n", lm_version_software(), b.device);
    status = lm_bench_measure_copy(&b);
    if (!status) {
        fprintf(out, "copy bandwidth %.4g GB/s%s\n\n", 1e-9 * b.copy.median,
                options->quick ? "; --quick: the numbers say nothing about speed" : "");
        status = run_cases(&b, message);
        if (status)
            lm_fail(status, "%s", message);
    }
    json_decref(b.tables);
    if (!status && b.different)
        status = lm_fail(LM_FAILED, "bench: results that must be equal are DIFFERENT");
    return status;
}
