/* Case `scale-files`: how long a run on one rank and on all ranks takes to write a file of fields and a checkpoint, and
 * how many steps it could take in that time. Rank 0 writes alone, and the other ranks hand their parts to it. */
#include <fts.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bench/cases.h"
#include "output/output.h"
#include "ranks/ranks.h"

enum { STEP, FIELDS_SIZE, FIELDS_RATE, FIELDS_STEPS, STATE_SIZE, STATE_RATE, STATE_STEPS };

/* Bytes of a particle in a checkpoint in double precision, and the most that a checkpoint shall hold. */
static const double PARTICLE = 40, MOST = 0x1p30;

struct written {
    double seconds, bytes;
};

struct output {
    double step; /* s */
    struct written fields, state;
};

/* The bytes of the files in a directory, which go with it if `removes`. */
static double visit_files(const char *directory, int removes)
{
    char root[LM_MAX_PATH];
    char *const roots[] = {root, NULL};
    double bytes = 0;
    snprintf(root, sizeof root, "%s", directory);
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree && (entry = fts_read(tree)) != NULL;) {
        bytes += entry->fts_info == FTS_F ? (double)entry->fts_statp->st_size : 0;
        if (removes && entry->fts_info != FTS_D)
            remove(entry->fts_path);
    }
    if (tree)
        fts_close(tree);
    return bytes;
}

/* Writes both files and times them. */
static int write_files(struct lm_bench_sim *s, struct output *out)
{
    const struct lm_references none = {.energy = 0};
    const char *directory = s->config.output.directory;
    char path[LM_MAX_PATH];
    const double begin = lm_clock();
    int status = lm_output_fields(s->sim, &s->config, 0);
    out->fields = (struct written){lm_clock() - begin, visit_files(directory, 0)};
    const double middle = lm_clock();
    if (!status)
        status = lm_sim_save(s->sim, &none, 0, path);
    out->state = (struct written){lm_clock() - middle, visit_files(directory, 0) - out->fields.bytes};
    return status;
}

static int time_step(struct lm_bench_sim *s, int steps, double *seconds)
{
    int status = lm_bench_advance(s, steps);
    const double begin = lm_clock();
    if (!status)
        status = lm_bench_advance(s, steps);
    *seconds = (lm_clock() - begin) / steps;
    return status;
}

static int measure(struct lm_bench *b, int ranks, double ppc, struct output *out)
{
    struct lm_bench_sim *s = NULL;
    const struct lm_bench_problem p = {
        .shape = LM_LINEAR, .precision = LM_DOUBLE, .cells = lm_bench_cells(b), .ppc = ppc};
    char directory[] = "/tmp/larmor-bench-XXXXXX";
    if (!mkdtemp(directory))
        return lm_fail(LM_FAILED, "/tmp: no directory can be made there for the files of the benchmark");
    lm_ranks_use(ranks);
    int status = lm_bench_sim_new(b, &p, &s);
    if (!status) {
        snprintf(s->config.output.directory, sizeof s->config.output.directory, "%s", directory);
        status = time_step(s, b->options->quick ? 2 : 20, &out->step);
    }
    if (!status)
        status = write_files(s, out);
    if (s)
        lm_bench_sim_free(&s);
    lm_ranks_use(0);
    visit_files(directory, 1);
    return status;
}

static void put_file(struct lm_table *t, int first, const struct written *w, double step)
{
    lm_table_number(t, first, 1e-6 * w->bytes);
    lm_table_number(t, first + 1, 1e-6 * w->bytes / w->seconds);
    lm_table_number(t, first + 2, w->seconds / step);
}

static int new_table(const struct lm_bench *b, double ppc, struct lm_table **t)
{
    char title[160];
    snprintf(title, sizeof title, "files: %d x %d cells in all, %.3g particles a cell", lm_bench_cells(b),
             lm_bench_cells(b), ppc);
    if (lm_table_new("scale_output", title, t))
        return LM_FAILED;
    lm_table_column(*t, "step", "ms");
    lm_table_column(*t, "fields", "MB");
    lm_table_column(*t, "fields rate", "MB/s");
    lm_table_column(*t, "fields worth", "steps");
    lm_table_column(*t, "state", "MB");
    lm_table_column(*t, "state rate", "MB/s");
    lm_table_column(*t, "state worth", "steps");
    lm_table_note(
        *t, "a file of fields and a checkpoint (state), written to /tmp by rank 0; worth: so many steps take as long");
    return LM_OK;
}

int lm_bench_scale_files(struct lm_bench *b)
{
    if (lm_bench_needs_ranks(b, "scale-files"))
        return LM_OK;
    const double cells = lm_bench_cells(b),
                 ppc = fmax(1, fmin(lm_bench_ppc(b), floor(MOST / PARTICLE / cells / cells)));
    const int counts[] = {1, lm_rank_count()};
    struct lm_table *t;
    int status = new_table(b, ppc, &t);
    if (status)
        return status;
    for (int k = 0; k < 2; k++) {
        struct output o = {.step = 0};
        status = measure(b, counts[k], ppc, &o);
        if (status)
            break;
        lm_table_row(t, "%d rank%s", counts[k], counts[k] == 1 ? "" : "s");
        lm_table_number(t, STEP, 1e3 * o.step);
        put_file(t, FIELDS_SIZE, &o.fields, o.step);
        put_file(t, STATE_SIZE, &o.state, o.step);
    }
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}
