/* The ions that a run follows, in a checkpoint. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/parts.h"

static const struct column {
    const char *name;
    size_t offset; /* of the member in struct lm_tracked, 8 bytes */
    int is_whole;
} columns[] = {
    {"x", offsetof(struct lm_tracked, x), 1},
    {"y", offsetof(struct lm_tracked, y), 1},
    {"turns_x", offsetof(struct lm_tracked, turns[0]), 1},
    {"turns_y", offsetof(struct lm_tracked, turns[1]), 1},
    {"channel", offsetof(struct lm_tracked, channel), 1},
    {"left", offsetof(struct lm_tracked, left), 1},
    {"vx", offsetof(struct lm_tracked, v[0]), 0},
    {"vy", offsetof(struct lm_tracked, v[1]), 0},
    {"vz", offsetof(struct lm_tracked, v[2]), 0},
};
enum { COLUMNS = sizeof columns / sizeof *columns, MOST_IONS = 1000000 };

static hid_t type_of(const struct column *c)
{
    return c->is_whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
}

/* Room for a column, whose numbers have 8 bytes. */
static int64_t *new_column(struct lm_h5 *h, uint64_t count)
{
    int64_t *values = h->status == LM_OK ? malloc((count + 1) * sizeof *values) : NULL;
    if (!values && h->status == LM_OK)
        h->status = lm_fail(LM_FAILED, "no memory for the ions that a run follows");
    return values;
}

static void put_column(struct lm_h5 *h, hid_t group, const struct column *c, const struct lm_checkpoint_track *t)
{
    const hsize_t count = t->count;
    int64_t *values = new_column(h, count);
    hid_t data = lm_h5_make_dataset(h, group, c->name, type_of(c), 1, &count, 0);
    for (uint64_t k = 0; values && k < count; k++)
        memcpy(&values[k], (const char *)&t->ions[k] + c->offset, sizeof *values);
    lm_h5_write_rows(h, data, type_of(c), 0, count, values);
    lm_h5_end(data);
    free(values);
}

void lm_checkpoint_put_tracks(struct lm_h5 *h, const struct lm_checkpoint *head)
{
    const char *names[LM_CHECKPOINT_TRACKS];
    if (head->track_count == 0)
        return;
    hid_t all = lm_h5_make_group(h, h->file, "tracks");
    for (int k = 0; k < head->track_count; k++) {
        const struct lm_checkpoint_track *t = &head->track[k];
        hid_t group = lm_h5_make_group(h, all, t->name);
        names[k] = t->name;
        lm_h5_put_text(h, group, "species", t->species);
        lm_h5_put_whole(h, group, "count", (int64_t)t->count);
        lm_h5_put_whole(h, group, "identity", (int64_t)t->identity);
        for (int c = 0; c < COLUMNS; c++)
            put_column(h, group, &columns[c], t);
        lm_h5_end(group);
    }
    lm_h5_put_whole(h, all, "count", head->track_count);
    lm_h5_put_texts(h, all, "names", head->track_count, names);
    lm_h5_end(all);
}

static void get_track(struct lm_h5 *h, hid_t all, struct lm_checkpoint_track *t)
{
    hid_t group = lm_h5_group(h, all, t->name);
    char *species = lm_h5_get_text(h, group, "species");
    snprintf(t->species, sizeof t->species, "%s", species ? species : "");
    free(species);
    const int64_t count = lm_h5_get_whole(h, group, "count");
    if (h->status == LM_OK && (count < 0 || count > MOST_IONS))
        lm_h5_wrong(h, "track %s: %" PRId64 " ions; the file is damaged", t->name, count);
    t->identity = (uint64_t)lm_h5_get_whole(h, group, "identity");
    t->count = h->status == LM_OK ? (uint64_t)count : 0;
    lm_h5_end(group);
}

void lm_checkpoint_get_tracks(struct lm_h5 *h, struct lm_checkpoint *head)
{
    char names[LM_CHECKPOINT_TRACKS][LM_MAX_NAME] = {{0}};
    if (h->status != LM_OK || H5Lexists(h->file, "tracks", H5P_DEFAULT) <= 0)
        return;
    hid_t all = lm_h5_group(h, h->file, "tracks");
    const int64_t count = lm_h5_get_whole(h, all, "count");
    if (h->status == LM_OK && (count < 1 || count > LM_CHECKPOINT_TRACKS))
        lm_h5_wrong(h, "%" PRId64 " tracks; the file is damaged", count);
    head->track_count = h->status == LM_OK ? (int)count : 0;
    lm_h5_get_texts(h, all, "names", head->track_count, LM_MAX_NAME, names[0]);
    for (int k = 0; k < head->track_count && h->status == LM_OK; k++) {
        memcpy(head->track[k].name, names[k], LM_MAX_NAME);
        get_track(h, all, &head->track[k]);
    }
    lm_h5_end(all);
}

static void get_column(struct lm_h5 *h, hid_t group, const struct column *c, uint64_t count, struct lm_tracked *ions)
{
    const hsize_t length = count;
    int64_t *values = new_column(h, count);
    hid_t data = lm_h5_dataset(h, group, c->name, type_of(c), 1, &length);
    lm_h5_read_rows(h, data, type_of(c), 0, count, values);
    for (uint64_t k = 0; h->status == LM_OK && k < count; k++)
        memcpy((char *)&ions[k] + c->offset, &values[k], sizeof *values);
    lm_h5_end(data);
    free(values);
}

/* 1 when an ion can be one of a run of that grid. */
static int is_sound(const struct lm_tracked *ion, int64_t high_x, int64_t high_y)
{
    return ion->x >= 0 && ion->x <= high_x && ion->y >= 0 && ion->y <= high_y && ion->channel >= -1 &&
           ion->channel < LM_CHANNELS && isfinite(ion->v[0] + ion->v[1] + ion->v[2]);
}

int lm_checkpoint_read_track(const char *path, const char *name, uint64_t count, struct lm_tracked *ions)
{
    struct lm_h5 h;
    if (lm_h5_open(&h, path) != LM_OK)
        return lm_h5_finish(&h, 0);
    const int64_t nx = lm_h5_get_whole(&h, h.file, "nx"), ny = lm_h5_get_whole(&h, h.file, "ny"),
                  bits = lm_h5_get_whole(&h, h.file, "fraction_bits");
    hid_t all = lm_h5_group(&h, h.file, "tracks"), group = lm_h5_group(&h, all, name);
    memset(ions, 0, count * sizeof *ions);
    for (int c = 0; c < COLUMNS; c++)
        get_column(&h, group, &columns[c], count, ions);
    for (uint64_t k = 0; k < count && h.status == LM_OK; k++)
        if (!is_sound(&ions[k], (int64_t)(((uint64_t)nx << bits) - 1), (int64_t)(((uint64_t)ny << bits) - 1)))
            lm_h5_wrong(&h,
                        "track %s: ion %" PRIu64
                        " is outside of the domain, or its velocity is not finite; the file is damaged",
                        name, k);
    lm_h5_end(group);
    lm_h5_end(all);
    return lm_h5_finish(&h, 0);
}
