#include "output/tracks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/facts.h"
#include "output/records.h"

enum { TRACK_VERSION = 1 };

static const struct lm_records_column columns[] = {
    {"x", "d_i"},     {"y", "d_i"},     {"vx", "v_A"}, {"vy", "v_A"}, {"vz", "v_A"}, {"ex", "v_A B0"},
    {"ey", "v_A B0"}, {"ez", "v_A B0"}, {"bx", "B0"},  {"by", "B0"},  {"bz", "B0"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* What the file of a track says beside its rows. */
struct track {
    const struct lm_config *config;
    const struct lm_track_config *track;
    struct lm_records *records; /* NULL before the ions are chosen */
    int64_t *channel, *left;    /* of each ion, as in struct lm_tracked */
    uint64_t count;
    int is_told; /* 1: it has been said that no ion has been chosen */
};

struct lm_tracks {
    struct lm_sim *sim;
    const struct lm_config *config;
    struct track of[LM_MAX_TRACKS];
};

int lm_tracks_new(struct lm_sim *sim, const struct lm_config *config, struct lm_tracks **out)
{
    struct lm_tracks *t = *out = calloc(1, sizeof *t);
    if (!t)
        return lm_fail(LM_FAILED, "not enough memory for tracks");
    t->sim = sim;
    t->config = config;
    for (int k = 0; k < config->track_count; k++)
        t->of[k] = (struct track){.config = config, .track = &config->track[k]};
    return LM_OK;
}

/* Frees the room for samples. */
static void end(struct track *t)
{
    lm_records_free(&t->records);
    free(t->channel);
    free(t->left);
    t->channel = t->left = NULL;
}

void lm_tracks_free(struct lm_tracks **t)
{
    for (int k = 0; *t && k < LM_MAX_TRACKS; k++)
        end(&(*t)->of[k]);
    free(*t);
    *t = NULL;
}

static void put_whole(struct lm_h5 *h, const char *name, uint64_t count, const int64_t *values)
{
    const hsize_t length = count;
    hid_t data = lm_h5_make_dataset(h, h->file, name, H5T_NATIVE_INT64, 1, &length, 0);
    lm_h5_write_rows(h, data, H5T_NATIVE_INT64, 0, count, values);
    lm_h5_end(data);
}

/* The names of the numbers in `channel`. */
static void put_channels(struct lm_h5 *h, const struct lm_config *c)
{
    const char *names[LM_CHANNELS];
    char surface[LM_SURFACES][LM_SURFACE_NAME] = {{0}};
    for (int k = 0; k < LM_CHANNELS; k++)
        names[k] = k < LM_SURFACES ? surface[k] : lm_channel_names[k];
    for (int k = 0; k < LM_SURFACES; k++)
        if (k < LM_SIDES + c->body_count)
            lm_surface_name(c, k, surface[k]);
        else
            snprintf(surface[k], sizeof surface[k], "no body");
    lm_h5_put_texts(h, h->file, "channel_names", LM_CHANNELS, names);
}

static void describe(struct lm_h5 *h, const void *context)
{
    const struct track *t = context;
    const struct lm_config *c = t->config;
    const struct lm_species_config *s = &c->species[t->track->of];
    lm_h5_put_text(h, h->file, "format", "larmor-track");
    lm_h5_put_whole(h, h->file, "format_version", TRACK_VERSION);
    lm_h5_put_text(h, h->file, "species", s->name);
    lm_h5_put_real(h, h->file, "charge", s->charge);
    lm_h5_put_real(h, h->file, "mass", s->mass);
    lm_h5_put_real(h, h->file, "lx", c->grid.lx);
    lm_h5_put_real(h, h->file, "ly", c->grid.ly);
    lm_h5_put_text(h, h->file, "description",
                   "x, y: position at time = step dt, which goes on beyond periodic sides. vx, vy, vz: velocity half a "
                   "step back. ex, ey, ez: E that pushes the ion, bx, by, bz: B, at its place. After an ion has left, "
                   "all are NaN. left: the first step at which it was no longer there, or -1. channel: by which it has "
                   "left, a number of channel_names, or -1.");
    put_channels(h, c);
    put_whole(h, "left", t->count, t->left);
    put_whole(h, "channel", t->count, t->channel);
}

static void note_left(struct track *t, const struct lm_tracked *ions)
{
    for (uint64_t k = 0; k < t->count; k++) {
        t->channel[k] = ions[k].channel;
        t->left[k] = ions[k].left;
    }
}

/* Makes room for the samples of a track. */
static int begin(struct track *t, uint64_t identity, uint64_t count, const struct lm_tracked *ions)
{
    const struct lm_records_kind kind = {.folder = "tracks",
                                         .name = t->track->name,
                                         .columns = COLUMNS,
                                         .column = columns,
                                         .width = count,
                                         .identity = identity,
                                         .describe = describe,
                                         .context = t};
    if (t->records)
        return LM_OK;
    t->count = count;
    t->channel = malloc((count + 1) * sizeof *t->channel);
    t->left = malloc((count + 1) * sizeof *t->left);
    if (!t->channel || !t->left)
        return lm_fail(LM_FAILED, "not enough memory for tracks");
    note_left(t, ions);
    return lm_records_new(t->config, &kind, &t->records);
}

/* Where an ion is along an axis, without the turns through periodic sides. */
static double place(const struct lm_config *c, int64_t position, int64_t turns, double cell, double length)
{
    return ldexp((double)position, c->particles.precision == LM_SINGLE ? -24 : -48) * cell + (double)turns * length;
}

static void fill(const struct track *t, const struct lm_tracked *ions, double *row)
{
    const struct lm_grid g = lm_config_grid(t->config);
    for (uint64_t k = 0; k < t->count; k++) {
        const struct lm_tracked *i = &ions[k];
        const double values[COLUMNS] = {place(t->config, i->x, i->turns[0], g.dx, g.lx),
                                        place(t->config, i->y, i->turns[1], g.dy, g.ly),
                                        i->v[0],
                                        i->v[1],
                                        i->v[2],
                                        i->e[0],
                                        i->e[1],
                                        i->e[2],
                                        i->b[0],
                                        i->b[1],
                                        i->b[2]};
        for (int c = 0; c < COLUMNS; c++)
            row[(size_t)c * t->count + k] = i->channel < 0 ? values[c] : NAN;
    }
}

/* `ions` is not NULL once the choice has been made. */
static void tell_of_none(struct track *t, const struct lm_tracked *ions)
{
    if (ions && !t->is_told)
        fprintf(stderr, "larmor: warning: [track.%s]: no ion of %s fulfils `where`, so there are no orbits\n",
                t->track->name, t->track->species);
    t->is_told = ions != NULL;
}

static int sample(struct lm_sim *sim, int number, struct track *t)
{
    const struct lm_tracked *ions;
    uint64_t count;
    double *row;
    int status = lm_sim_track(sim, number, &count, &ions);
    if (!status && count == 0)
        tell_of_none(t, ions);
    if (status || count == 0)
        return status;
    status = begin(t, lm_sim_track_identity(sim, number), count, ions);
    if (!status)
        status = lm_records_add(t->records, lm_sim_step_number(sim), &row);
    if (!status)
        fill(t, ions, row);
    if (!status)
        note_left(t, ions);
    return status;
}

int lm_tracks_sample(struct lm_tracks *t)
{
    const int64_t step = lm_sim_step_number(t->sim);
    int status = LM_OK;
    for (int k = 0; k < t->config->track_count && !status; k++)
        if (step % t->config->track[k].every == 0)
            status = sample(t->sim, k, &t->of[k]);
    return status;
}

int lm_tracks_flush(struct lm_tracks *t)
{
    int status = LM_OK;
    for (int k = 0; k < t->config->track_count && !status; k++)
        if (t->of[k].records)
            status = lm_records_flush(t->of[k].records);
    return status;
}

/* The ions that can be there: no more than the species has, where none enter and none are born. */
static double most_ions(const struct lm_config *c, int k, double particles)
{
    const struct lm_track_config *t = &c->track[k];
    const int grows = lm_is_ionised(c, t->of) || lm_has_inflow(c);
    return grows ? t->count : fmin(t->count, particles);
}

/* What waits, and what the ions themselves take with the working memory of a step and of the choice. */
double lm_tracks_memory(const struct lm_config *config, int k, double particles)
{
    enum { AN_ION = 5 * sizeof(struct lm_tracked) };
    const double ions = most_ions(config, k, particles);
    return lm_records_memory(COLUMNS, (size_t)ions) + AN_ION * ions;
}

double lm_tracks_sample_bytes(const struct lm_config *config, int k, double particles)
{
    return 8.0 * (1 + COLUMNS * most_ions(config, k, particles));
}

/* Makes room for the samples of all tracks, also of those whose ions have not been chosen. */
static int begin_all(struct lm_tracks *t)
{
    const struct lm_tracked *ions;
    int status = LM_OK;
    for (int k = 0; k < t->config->track_count && !status; k++) {
        uint64_t count = 0;
        status = lm_sim_track(t->sim, k, &count, &ions);
        if (!status)
            status = begin(&t->of[k], lm_sim_track_identity(t->sim, k), count, ions);
    }
    return status;
}

static void end_those_not_chosen(struct lm_tracks *t)
{
    for (int k = 0; k < t->config->track_count; k++)
        if (t->of[k].count == 0)
            end(&t->of[k]);
}

int lm_tracks_check(struct lm_tracks *t)
{
    int status = begin_all(t);
    for (int k = 0; k < t->config->track_count && !status; k++)
        status = lm_records_check(t->of[k].records, lm_sim_step_number(t->sim));
    end_those_not_chosen(t);
    return status;
}

int lm_tracks_go_on(struct lm_tracks *t)
{
    int status = begin_all(t);
    for (int k = 0; k < t->config->track_count && !status; k++)
        status = lm_records_go_on(t->of[k].records, lm_sim_step_number(t->sim));
    end_those_not_chosen(t);
    return status;
}
