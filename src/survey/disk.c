/* Part of `larmor check`: what the files of a run take on the disk. */
#include <sys/statvfs.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "output/averages.h"
#include "output/output.h"
#include "output/samples.h"
#include "output/series_columns.h"
#include "survey/parts.h"

/* Files of one kind. */
struct files {
    char what[LM_MAX_NAME + 32];
    double bytes, number, kept; /* of one file; that are written; that stay */
};

struct writer {
    FILE *out;
    double all;
};

static void print_files(struct writer *w, const struct files *f)
{
    if (f->number == 0)
        return;
    fprintf(w->out, "  %s: %.0f file%s of %.4g GiB, ", f->what, f->number, f->number == 1 ? "" : "s",
            f->bytes / 0x1p30);
    if (f->kept < f->number)
        fprintf(w->out, "%.0f of them kept, ", f->kept);
    fprintf(w->out, "%.4g GiB\n", f->kept * f->bytes / 0x1p30);
    w->all += f->kept * f->bytes;
}

/* At step 0 and at each multiple of `every`. */
static double number_of(const struct lm_config *c, int64_t every)
{
    return every > 0 ? 1 + (double)(c->run.steps / every) : 0;
}

/* 1 where the last step has a file although it is no multiple of `every`. */
static int has_more_at_the_end(const struct lm_config *c, int64_t every)
{
    return every == 0 || c->run.steps % every != 0;
}

static void put(struct writer *w, const char *what, const char *name, double number, double bytes)
{
    struct files f = {.bytes = bytes, .number = number, .kept = number};
    snprintf(f.what, sizeof f.what, "%s%s", what, name);
    print_files(w, &f);
}

static void put_named(struct writer *w, const struct lm_config *c)
{
    for (int k = 0; k < c->output_count; k++) {
        const struct lm_output_config *o = &c->outputs[k];
        const double cells = (double)(o->region.cells.to_x - o->region.cells.from_x) *
                             (o->region.cells.to_y - o->region.cells.from_y) / (o->coarsen * o->coarsen);
        put(w, "output.", o->name, number_of(c, o->every) - (o->average > 0), /* a mean has no file of step 0 */
            cells * lm_output_meshes(c, o->wanted, o->of) * (o->precision == LM_SINGLE ? 4 : 8));
    }
    for (int k = 0; k < c->distribution_count; k++) {
        const struct lm_distribution_config *d = &c->distribution[k];
        const double species = __builtin_popcount(d->of);
        put(w, "distribution.", d->name, number_of(c, d->every), 8 * species * (double)lm_bins_all(&d->into));
    }
}

/* The samples of a probe or a track, as if they were in one file. */
static void put_samples(struct writer *w, const struct lm_config *c, const double *particles)
{
    for (int k = 0; k < c->probe_count; k++)
        put(w, "probe.", c->probe[k].name, 1, number_of(c, c->probe[k].every) * lm_probes_sample_bytes(c, k));
    for (int k = 0; k < c->track_count; k++) {
        const struct lm_track_config *t = &c->track[k];
        const int64_t before = t->start > 0 ? (t->start - 1) / t->every + 1 : 0; /* samples of no ions */
        const double samples = number_of(c, t->every) - (double)before;
        if (samples > 0)
            put(w, "track.", t->name, 1, samples * lm_tracks_sample_bytes(c, k, particles[t->of]));
    }
}

/* There is none of step 0. One more than those that are kept is there while it is written. */
static void put_checkpoints(struct writer *w, const struct lm_prepared *p, double particles)
{
    const struct lm_config *c = p->survey.config;
    const double real = c->particles.precision == LM_SINGLE ? 4 : 8, cells = (double)p->survey.grid.cells;
    struct files f = {.what = "checkpoints",
                      .bytes = 8 * cells * (LM_STATE_FIELDS + c->background_count) + particles * (16 + 3 * real) +
                               p->need.host[LM_NEED_MAPS] + lm_averages_bytes(c),
                      .number = number_of(c, c->output.checkpoint_every)};
    if (f.number > 0)
        f.number += has_more_at_the_end(c, c->output.checkpoint_every) - (c->run.steps > 0);
    f.kept = fmin(f.number, c->output.keep);
    print_files(w, &f);
    w->all += f.kept < f.number ? f.bytes : 0;
}

/* A number takes 8 bytes in series.h5 and at most 25 in series.csv. */
static void put_series(struct writer *w, const struct lm_config *c)
{
    struct lm_series_column *columns;
    int count;
    const int64_t every = c->output.series_every;
    if (every == 0 || lm_row_columns(c, &count, &columns))
        return;
    put(w, "time series", "", 2, 0.5 * (8 + 25) * count * (number_of(c, every) + has_more_at_the_end(c, every)));
    free(columns);
}

/* The free bytes where the output goes; 0: unknown. The directory need not be there yet. */
static double free_bytes(const char *directory)
{
    char path[LM_MAX_PATH];
    struct statvfs s;
    snprintf(path, sizeof path, "%s", directory);
    while (statvfs(path, &s)) {
        char *slash = strrchr(path, '/');
        if (!strcmp(path, "/") || !strcmp(path, "."))
            return 0;
        if (slash)
            slash[slash == path] = 0; /* the folder above; of "/name" that is "/" */
        else
            snprintf(path, sizeof path, ".");
    }
    return (double)s.f_bavail * (double)s.f_frsize;
}

void lm_check_disk(const struct lm_prepared *p, FILE *out)
{
    const struct lm_config *c = p->survey.config;
    const double cells = (double)p->survey.grid.cells, particles = lm_survey_particles(&p->survey),
                 has = free_bytes(c->output.directory);
    struct writer w = {out, 0};
    fprintf(out, "disk, without compression\n");
    put_series(&w, c);
    put(&w, "fields", "", number_of(c, c->output.fields_every), 8 * cells * lm_output_meshes(c, LM_FIELDS_OUTPUT, ~0u));
    put(&w, "particles", c->output.particles_with_fields ? " in the files of fields" : "",
        number_of(c, c->output.particles_every), 5 * 8 * ceil(particles * c->output.particles_fraction));
    put_named(&w, c);
    put_samples(&w, c, p->survey.count);
    if (p->need.host[LM_NEED_MAPS] > 0)
        put(&w, "maps of hits", "", number_of(c, c->output.maps_every) + has_more_at_the_end(c, c->output.maps_every),
            p->need.host[LM_NEED_MAPS]);
    put_checkpoints(&w, p, particles);
    fprintf(out, "  in all at most %.4g GiB of ", w.all / 0x1p30);
    fprintf(out, has > 0 ? "%.4g GiB free" : "an unknown number of GiB free", has / 0x1p30);
    if (has > 0 && w.all > has)
        fprintf(out, "; that is too little: write more rarely, a part of the domain, or single precision");
    fprintf(out, "\n");
}
