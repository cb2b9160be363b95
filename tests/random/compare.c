#include "../inside.h"
#include "compare.h"

#include <sys/types.h>
#include <fts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_run.h"
#include "distributed/distributed.h"
#include "larmor/physics/numerics/hash.h"
#include "ranks/ranks.h"

#define CPU(threads, tile, sort)                                                                                       \
    {                                                                                                                  \
        LM_BACKEND_CPU, threads, tile, sort, 1, 0                                                                      \
    }
#define GPU(tile, sort)                                                                                                \
    {                                                                                                                  \
        LM_BACKEND_CUDA, 1, tile, sort, 1, 0                                                                           \
    }
#define RANKS(count, threads, tile, sort)                                                                              \
    {                                                                                                                  \
        LM_BACKEND_CPU, threads, tile, sort, count, 0                                                                  \
    }
#define DISTURBED(count, threads, tile, sort)                                                                          \
    {                                                                                                                  \
        LM_BACKEND_CPU, threads, tile, sort, count, 1                                                                  \
    }
#define GPU_RANKS(count, tile, sort, disturbed)                                                                        \
    {                                                                                                                  \
        LM_BACKEND_CUDA, 1, tile, sort, count, disturbed                                                               \
    }
/* steps that are compared one by one; later only every fourth, as files take time */
enum { NEVER = 1000000000, EACH_OF_FIRST = 6 };

const struct compare_way compare_ways[] = {
    {"cpu-threads-2", COMPARE_PLAIN, CPU(2, 0, 0), CPU(0, 0, 0)},
    {"cpu-threads-3", COMPARE_PLAIN, CPU(3, 0, 0), CPU(0, 0, 0)},
    {"cpu-tile-8-sort-3", COMPARE_PLAIN, CPU(1, 8, 3), CPU(0, 0, 0)},
    {"cpu-tile-16-sort-3", COMPARE_PLAIN, CPU(1, 16, 3), CPU(0, 0, 0)},
    {"cpu-sort-1", COMPARE_PLAIN, CPU(1, 0, 1), CPU(0, 0, 0)},
    {"cpu-sort-never", COMPARE_PLAIN, CPU(1, 0, NEVER), CPU(0, 0, 0)},
    {"cpu-restart", COMPARE_RESTART, CPU(1, 0, 0), CPU(2, 8, 2)},
    {"cpu-each-step", COMPARE_EACH, CPU(1, 16, 0), CPU(1, 8, 0)},
    {"cpu-series", COMPARE_SERIES, CPU(1, 0, 0), CPU(1, 0, 0)},
    {"cpu-echo", COMPARE_ECHO, CPU(1, 0, 0), CPU(0, 0, 0)},
    {"gpu-plain", COMPARE_PLAIN, GPU(0, 0), GPU(0, 0)},
    {"gpu-tile-8-sort-3", COMPARE_PLAIN, GPU(8, 3), GPU(0, 0)},
    {"gpu-tile-16-sort-1", COMPARE_PLAIN, GPU(16, 1), GPU(0, 0)},
    {"gpu-sort-never", COMPARE_PLAIN, GPU(0, NEVER), GPU(0, 0)},
    {"gpu-restart", COMPARE_RESTART, GPU(16, 0), GPU(8, 2)},
    {"gpu-from-cpu", COMPARE_RESTART, CPU(1, 0, 0), GPU(0, 0)},
    {"gpu-to-cpu", COMPARE_RESTART, GPU(0, 0), CPU(1, 0, 0)},
    {"gpu-series", COMPARE_SERIES, GPU(0, 0), GPU(0, 0)},
    {"ranks-2", COMPARE_PLAIN, RANKS(2, 1, 0, 0), CPU(0, 0, 0)},
    {"ranks-3", COMPARE_PLAIN, RANKS(3, 1, 0, 0), CPU(0, 0, 0)},
    {"ranks-4", COMPARE_PLAIN, RANKS(4, 2, 8, 3), CPU(0, 0, 0)},
    {"ranks-6", COMPARE_PLAIN, RANKS(6, 1, 0, NEVER), CPU(0, 0, 0)},
    {"ranks-7", COMPARE_PLAIN, RANKS(7, 1, 16, 1), CPU(0, 0, 0)},
    {"ranks-restart-to-3", COMPARE_RESTART, CPU(1, 0, 0), RANKS(3, 1, 0, 0)},
    {"ranks-restart-from-4", COMPARE_RESTART, RANKS(4, 1, 0, 0), CPU(2, 8, 2)},
    {"ranks-each-step", COMPARE_EACH, RANKS(7, 1, 16, 0), RANKS(2, 1, 8, 0)},
    {"ranks-disturbed-3", COMPARE_PLAIN, DISTURBED(3, 1, 8, 1), CPU(0, 0, 0)},
    {"ranks-disturbed-7", COMPARE_RESTART, DISTURBED(7, 1, 8, 2), DISTURBED(4, 2, 8, 1)},
    {"ranks-series", COMPARE_SERIES, RANKS(3, 1, 0, 0), RANKS(6, 1, 0, 0)},
    {"gpu-ranks-2", COMPARE_PLAIN, GPU_RANKS(2, 0, 0, 0), CPU(0, 0, 0)},
    {"gpu-ranks-3", COMPARE_PLAIN, GPU_RANKS(3, 16, 1, 0), CPU(0, 0, 0)},
    {"gpu-ranks-4", COMPARE_PLAIN, GPU_RANKS(4, 8, 3, 0), CPU(0, 0, 0)},
    {"gpu-ranks-restart-to-2", COMPARE_RESTART, RANKS(3, 1, 0, 0), GPU_RANKS(2, 8, 0, 0)},
    {"gpu-ranks-restart-from-4", COMPARE_RESTART, GPU_RANKS(4, 8, 2, 0), GPU(0, 0)},
    {"gpu-ranks-disturbed-4", COMPARE_RESTART, GPU_RANKS(4, 8, 1, 1), GPU_RANKS(2, 8, 2, 1)},
    {"gpu-ranks-series", COMPARE_SERIES, GPU_RANKS(2, 0, 0, 0), GPU_RANKS(4, 0, 0, 0)},
};
const int compare_way_count = sizeof compare_ways / sizeof *compare_ways;

const struct compare_machine compare_reference = CPU(1, 0, 0);

/* --- results --- */

void compare_says(struct compare_result *r, const char *format, ...)
{
    const size_t n = strlen(r->what);
    va_list args;
    va_start(args, format);
    vsnprintf(r->what + n, sizeof r->what - n, format, args);
    va_end(args);
}

int compare_differs(struct compare_result *r, int64_t step, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->what, sizeof r->what, format, args);
    va_end(args);
    r->verdict = COMPARE_DIFFERENT;
    r->step = step;
    return 1;
}

void compare_breaks(struct compare_result *r)
{
    r->verdict = COMPARE_BROKEN;
    snprintf(r->what, sizeof r->what, "%s\n", lm_error());
}

int compare_rows(const struct compare_trace *t, int64_t step, const double *row, struct compare_result *r)
{
    const double *want = compare_row(t, step);
    int count = 0;
    for (int c = 0; c + 1 < t->column_count; c++) {
        if (!memcmp(&row[c], &want[c], sizeof *row))
            continue;
        if (count++ == 0)
            compare_differs(r, step, "rows of the time series differ:");
        if (count <= 8)
            compare_says(r, " %s %.17g, reference %.17g;", t->columns[c].name, row[c], want[c]);
    }
    if (count > 0)
        compare_says(r, " %d columns differ\n", count);
    return count > 0;
}

/* --- files --- */

void compare_remove(const char *directory)
{
    char root[LM_MAX_PATH];
    char *const roots[] = {root, NULL};
    snprintf(root, sizeof root, "%s", directory);
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree && (entry = fts_read(tree)) != NULL;)
        if (entry->fts_info != FTS_D)
            remove(entry->fts_path);
    if (tree)
        fts_close(tree);
}

struct lm_config *compare_config(const struct compare_trace *t, const struct compare_machine *machine)
{
    struct lm_config *c = malloc(sizeof *c);
    if (!c) {
        lm_fail(LM_FAILED, "not enough memory for a configuration");
        return NULL;
    }
    *c = *t->config;
    c->run.backend = machine->backend;
    c->run.threads = machine->threads;
    c->run.tile = machine->tile;
    c->run.sort_every = machine->sort_every;
    lm_ranks_use(machine->ranks);
    lm_distributed_disturb(machine->disturbed);
    snprintf(c->output.directory, sizeof c->output.directory, "%s/out", t->directory);
    return c;
}

/* --- one way --- */

struct way_run {
    const struct compare_trace *trace;
    struct compare_result *result;
    struct lm_config *config;
    struct lm_sim *sim;
};

/* Prints what differs from the reference at the same step. */
static void describe(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    struct lm_config *config = compare_config(t, &compare_reference);
    struct lm_sim *reference = NULL;
    int status = config ? lm_sim_create(config, &reference) : LM_FAILED;
    if (!status)
        status = lm_sim_start(reference);
    while (!status && reference->step < sim->step) {
        status = lm_sim_check(reference);
        if (!status)
            status = lm_sim_step(reference);
    }
    if (status)
        compare_says(r, "the reference cannot be run again: %s\n", lm_error());
    else
        compare_states(reference, sim, r);
    lm_sim_destroy(&reference);
    free(config);
}

/* Compares after a step. Returns 1 when the run differs or cannot be compared. */
static int compare_step(struct way_run *w)
{
    const struct compare_trace *t = w->trace;
    double row[LM_ROW_MAX];
    uint64_t print;
    const int64_t step = w->sim->step;
    if (step == t->steps && !t->is_finite)
        return lm_sim_is_finite(w->sim) &&
               compare_differs(w->result, step, "the state is finite, and that of the reference is not\n");
    if (lm_sim_fingerprint(w->sim, &print) || lm_row_fill(w->sim, w->sim->config, &t->references, 0, row)) {
        compare_breaks(w->result);
        return 1;
    }
    int differs = compare_rows(t, step, row, w->result);
    if (print != t->prints[step]) {
        if (!differs)
            compare_differs(w->result, step, "the states differ\n");
        describe(t, w->sim, w->result);
        differs = 1;
    }
    return differs;
}

/* Runs to a step and compares on the way. Returns 1 when the run ends before it. */
static int walk(struct way_run *w, int64_t to)
{
    static const char stops[] = "it stops where the reference goes on: %s\n";
    while (w->sim->step < to) {
        if (lm_sim_step(w->sim))
            return compare_differs(w->result, w->sim->step, stops, lm_error());
        const int stopped = lm_sim_check(w->sim) && w->sim->step < w->trace->steps;
        if (stopped)
            return compare_differs(w->result, w->sim->step, stops, lm_error());
        if (compare_step(w))
            return 1;
    }
    return 0;
}

static int open_way(struct way_run *w, const struct compare_machine *machine, const char *checkpoint)
{
    struct lm_checkpoint *head = calloc(1, sizeof *head);
    w->config = compare_config(w->trace, machine);
    int status = w->config && head ? lm_sim_create(w->config, &w->sim) : LM_FAILED;
    if (!status)
        status = checkpoint ? restore_checkpoint(w->sim, checkpoint, head) : lm_sim_start(w->sim);
    if (!status)
        status = lm_sim_check(w->sim);
    free(head);
    if (status)
        return compare_differs(w->result, -1, "it cannot be %s: %s\n", checkpoint ? "restored" : "started", lm_error());
    return 0;
}

static void close_way(struct way_run *w)
{
    lm_sim_destroy(&w->sim);
    free(w->config);
    w->config = NULL;
}

/* Moves a run from one machine to another through a checkpoint. */
static int move_way(struct way_run *w, const struct compare_machine *machine)
{
    char path[LM_MAX_PATH];
    const int64_t step = w->sim->step;
    if (lm_sim_save(w->sim, &w->trace->references, 0, path))
        return compare_differs(w->result, step, "no checkpoint could be written: %s\n", lm_error());
    close_way(w);
    if (open_way(w, machine, path))
        return 1;
    uint64_t print;
    if (!lm_sim_fingerprint(w->sim, &print) && print == w->trace->prints[step])
        return 0;
    compare_differs(w->result, step, "what has been restored is not what was stored\n");
    describe(w->trace, w->sim, w->result);
    return 1;
}

/* Checks a run where the reference has stopped. */
static int compare_stop(struct way_run *w)
{
    const struct compare_trace *t = w->trace;
    const int64_t step = t->steps;
    if (!t->stopped[0])
        return compare_ends(t, w->sim, w->result);
    int in_check = lm_sim_check(w->sim) != LM_OK;
    if (!in_check && lm_sim_step(w->sim) == LM_OK)
        return compare_differs(w->result, step, "it goes on where the reference stops: %s\n", t->stopped);
    if (in_check != t->in_check || strcmp(lm_error(), t->stopped))
        return compare_differs(w->result, step, "it stops with another message:\n%s\nreference:\n%s\n", lm_error(),
                               t->stopped);
    return in_check && t->is_finite ? compare_ends(t, w->sim, w->result) : 0;
}

/* Writes the configuration as run.ini has it and reads it back into `out`. */
static int read_echo(const struct compare_trace *t, struct lm_config *out)
{
    char name[LM_MAX_PATH], *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    int status = f ? lm_config_write(t->config, f) : lm_fail(LM_FAILED, "not enough memory for run.ini");
    if (f && fclose(f) && !status)
        status = lm_fail(LM_FAILED, "not enough memory for run.ini");
    if (!status)
        status = lm_path(name, "%s", t->config->file); /* messages contain this name */
    if (!status)
        status = lm_config_read_text(name, text, 0, NULL, out);
    free(text);
    return status;
}

static void compare_echo(const struct compare_trace *t, const struct compare_way *way, struct compare_result *r)
{
    struct compare_trace other = *t;
    struct way_run w = {.trace = &other, .result = r};
    struct lm_config *config = calloc(1, sizeof *config);
    const int status = config ? read_echo(t, config) : lm_fail(LM_FAILED, "not enough memory for a configuration");
    other.config = config;
    if (status)
        compare_differs(r, 0, "run.ini cannot be read back: %s\n", lm_error());
    else if (!open_way(&w, &way->before, NULL) && !walk(&w, t->steps))
        compare_stop(&w);
    close_way(&w);
    if (config)
        lm_config_free(config);
    free(config);
}

/* Returns 1 when the run has ended before the last step of the reference. */
static int run_way(struct way_run *w, const struct compare_way *way, int64_t middle)
{
    const struct compare_trace *t = w->trace;
    if (open_way(w, &way->before, NULL))
        return 1;
    if (way->kind == COMPARE_PLAIN)
        return walk(w, t->steps);
    if (way->kind == COMPARE_RESTART)
        return walk(w, middle) || move_way(w, &way->after) || walk(w, t->steps);
    for (int64_t step = 0; step < t->steps; step++) {
        const int moves = step < EACH_OF_FIRST || step % 4 == 0;
        if ((moves && move_way(w, step % 2 ? &way->before : &way->after)) || walk(w, step + 1))
            return 1;
    }
    return 0;
}

static void compare_way(const struct compare_trace *t, const struct compare_way *way, struct compare_result *r)
{
    struct way_run w = {.trace = t, .result = r};
    char out[LM_MAX_PATH];
    /* A step that depends only on the case and the way. */
    const uint64_t any = lm_mix(t->prints[0] ^ (uint64_t)(way - compare_ways));
    const int64_t middle = t->steps > 0 ? (int64_t)(any % (uint64_t)t->steps) : 0;
    if (way->kind == COMPARE_SERIES)
        compare_series(t, way, middle, r);
    else if (way->kind == COMPARE_ECHO)
        compare_echo(t, way, r);
    else if (!run_way(&w, way, middle))
        compare_stop(&w);
    close_way(&w);
    lm_ranks_use(1);
    snprintf(out, sizeof out, "%.900s/out", t->directory);
    compare_remove(out);
}

/* --- all ways --- */

int compare_can(const struct compare_way *way)
{
    static int has_gpu = -1;
    int kind;
    char line[256];
    if (way->before.ranks > lm_rank_count() || way->after.ranks > lm_rank_count())
        return 0;
    if (way->before.backend == LM_BACKEND_CPU && way->after.backend == LM_BACKEND_CPU)
        return 1;
    if (has_gpu < 0)
        has_gpu = !lm_backend_resolve(LM_BACKEND_CUDA, 1, &kind, line, sizeof line);
    return has_gpu;
}

/* Whether a list, separated by commas, contains the beginning of the name. */
static int is_listed(const char *name, const char *list)
{
    while (*list) {
        const size_t n = strcspn(list, ",");
        if (!strncmp(name, list, n) || (n == 3 && !strncmp(list, "all", 3)))
            return 1;
        list += n + (list[n] == ',');
    }
    return 0;
}

static void take_result(struct compare_result *out, const struct compare_result *one, const char *way)
{
    const size_t n = strlen(out->others);
    if (out->verdict == COMPARE_SAME) {
        const int64_t steps = out->steps;
        const int stopped = out->has_stopped, count = out->way_count;
        *out = *one;
        out->steps = steps, out->has_stopped = stopped, out->way_count = count;
        snprintf(out->way, sizeof out->way, "%s", way);
    } else {
        snprintf(out->others + n, sizeof out->others - n, "%s%s", n > 0 ? ", " : "", way);
    }
}

/* An error of the program counts, whichever way shows it. */
static int has_erred(const struct compare_trace *t, struct compare_result *r)
{
    if (!strstr(t->stopped, "error of the program"))
        return 0;
    compare_differs(r, t->steps, "%s\n", t->stopped);
    snprintf(r->way, sizeof r->way, "reference");
    return 1;
}

/* Whether the ranks of a way can share a case: each needs a cell. */
static int can_share(const struct compare_trace *t, const struct compare_way *way)
{
    const int ranks = way->before.ranks > way->after.ranks ? way->before.ranks : way->after.ranks;
    return ranks <= 1 || t->config->grid.nx * t->config->grid.ny >= ranks;
}

void compare_draft(const struct draft *d, const char *directory, const char *ways, int first_only,
                   struct compare_result *out)
{
    struct compare_trace t = {.directory = directory};
    *out = (struct compare_result){.step = -1};
    int go_on = compare_trace_make(d, &t, out) && !has_erred(&t, out);
    for (int k = 0; k < compare_way_count && go_on; k++) {
        const struct compare_way *way = &compare_ways[k];
        struct compare_result one = {.step = -1};
        if (!is_listed(way->name, ways) || !compare_can(way) || !can_share(&t, way))
            continue;
        compare_way(&t, way, &one);
        out->way_count++;
        if (one.verdict != COMPARE_SAME)
            take_result(out, &one, way->name);
        go_on = !first_only || out->verdict == COMPARE_SAME;
    }
    compare_trace_free(&t);
}
