#include "checkpoint/backgrounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Largest exponent of a quantum, and largest ratio (as an exponent) of the quantum of a field to that of its ledger. */
enum { MOST_QUANTUM = 1100, MOST_GROWTH = 64 };

static void put_sums(struct lm_h5 *h, hid_t group, const char *name, int n, const lm_int128 *sums)
{
    int64_t high[LM_SIDES];
    uint64_t low[LM_SIDES];
    char text[32];
    for (int k = 0; k < (n > 0 ? n : 1); k++) {
        high[k] = (int64_t)(sums[k] >> 64);
        low[k] = (uint64_t)sums[k];
    }
    snprintf(text, sizeof text, "%s_high", name);
    lm_h5_put(h, group, text, H5T_NATIVE_INT64, n, high);
    snprintf(text, sizeof text, "%s_low", name);
    lm_h5_put(h, group, text, H5T_NATIVE_UINT64, n, low);
}

static void get_sums(struct lm_h5 *h, hid_t group, const char *name, int n, lm_int128 *sums)
{
    int64_t high[LM_SIDES] = {0};
    uint64_t low[LM_SIDES] = {0};
    char text[32];
    snprintf(text, sizeof text, "%s_high", name);
    lm_h5_get(h, group, text, H5T_NATIVE_INT64, n, high);
    snprintf(text, sizeof text, "%s_low", name);
    lm_h5_get(h, group, text, H5T_NATIVE_UINT64, n, low);
    for (int k = 0; k < (n > 0 ? n : 1); k++)
        sums[k] = (lm_int128)high[k] * ((lm_int128)1 << 64) + low[k];
}

static void put_one(struct lm_h5 *h, hid_t group, const struct lm_checkpoint_background *b)
{
    const struct lm_background_ledger *l = &b->ledger;
    lm_h5_put(h, group, "sides", H5T_NATIVE_INT, LM_SIDES, b->sides);
    lm_h5_put_whole(h, group, "exponent", l->exponent);
    lm_h5_put_whole(h, group, "quantum", l->quantum);
    put_sums(h, group, "loaded", 0, &l->loaded);
    put_sums(h, group, "source", 0, &l->source);
    put_sums(h, group, "entered", LM_SIDES, l->entered);
    put_sums(h, group, "rounded", 0, &l->rounded);
    put_sums(h, group, "total", 0, &l->total);
}

void lm_checkpoint_put_backgrounds(struct lm_h5 *h, const struct lm_checkpoint *head)
{
    const char *names[LM_MAX_BACKGROUNDS];
    int kinds[LM_MAX_BACKGROUNDS];
    if (head->background_count == 0)
        return;
    hid_t all = lm_h5_make_group(h, h->file, "backgrounds");
    for (int k = 0; k < head->background_count; k++) {
        names[k] = head->background[k].name;
        kinds[k] = head->background[k].kind;
        hid_t group = lm_h5_make_group(h, all, names[k]);
        put_one(h, group, &head->background[k]);
        lm_h5_end(group);
    }
    lm_h5_put_whole(h, all, "count", head->background_count);
    lm_h5_put_texts(h, all, "names", head->background_count, names);
    lm_h5_put(h, all, "kinds", H5T_NATIVE_INT, head->background_count, kinds);
    if (head->electrons_gamma > 0) {
        lm_h5_put_real(h, all, "electrons_gamma", head->electrons_gamma);
        lm_h5_put_real(h, all, "electrons_heat", head->electrons_heat);
        lm_h5_put_real(h, all, "electrons_through_surfaces", head->electrons_through_surfaces);
    }
    lm_h5_end(all);
}

static void get_one(struct lm_h5 *h, hid_t group, struct lm_checkpoint_background *b)
{
    struct lm_background_ledger *l = &b->ledger;
    lm_h5_get(h, group, "sides", H5T_NATIVE_INT, LM_SIDES, b->sides);
    const int64_t exponent = lm_h5_get_whole(h, group, "exponent"), quantum = lm_h5_get_whole(h, group, "quantum");
    get_sums(h, group, "loaded", 0, &l->loaded);
    get_sums(h, group, "source", 0, &l->source);
    get_sums(h, group, "entered", LM_SIDES, l->entered);
    get_sums(h, group, "rounded", 0, &l->rounded);
    get_sums(h, group, "total", 0, &l->total);
    if (h->status != LM_OK)
        return;
    if (exponent > MOST_QUANTUM || quantum < -MOST_QUANTUM || quantum > exponent || exponent - quantum > MOST_GROWTH)
        lm_h5_wrong(h, "background field %s: quanta of 2^%" PRId64 " and 2^%" PRId64 "; the file is damaged", b->name,
                    -quantum, -exponent);
    l->exponent = (int)exponent;
    l->quantum = (int)quantum;
    if (h->status == LM_OK && lm_background_residual(l) != 0)
        lm_h5_wrong(h, "background field %s: its ledger does not close; the file is damaged", b->name);
}

void lm_checkpoint_get_backgrounds(struct lm_h5 *h, struct lm_checkpoint *head)
{
    char names[LM_MAX_BACKGROUNDS][LM_MAX_NAME] = {{0}};
    int kinds[LM_MAX_BACKGROUNDS] = {0};
    if (h->status != LM_OK || H5Lexists(h->file, "backgrounds", H5P_DEFAULT) <= 0)
        return;
    hid_t all = lm_h5_group(h, h->file, "backgrounds");
    const int64_t count = lm_h5_get_whole(h, all, "count");
    if (h->status == LM_OK && (count < 1 || count > LM_MAX_BACKGROUNDS))
        lm_h5_wrong(h, "%" PRId64 " background fields; the file is damaged", count);
    head->background_count = h->status == LM_OK ? (int)count : 0;
    lm_h5_get_texts(h, all, "names", head->background_count, LM_MAX_NAME, names[0]);
    lm_h5_get(h, all, "kinds", H5T_NATIVE_INT, head->background_count, kinds);
    for (int k = 0; k < head->background_count && h->status == LM_OK; k++) {
        struct lm_checkpoint_background *b = &head->background[k];
        hid_t group = lm_h5_group(h, all, names[k]);
        memcpy(b->name, names[k], sizeof b->name);
        b->kind = kinds[k];
        get_one(h, group, b);
        lm_h5_end(group);
    }
    if (h->status == LM_OK && lm_h5_has(all, "electrons_gamma")) {
        lm_h5_get(h, all, "electrons_gamma", H5T_NATIVE_DOUBLE, 0, &head->electrons_gamma);
        lm_h5_get(h, all, "electrons_heat", H5T_NATIVE_DOUBLE, 0, &head->electrons_heat);
        lm_h5_get(h, all, "electrons_through_surfaces", H5T_NATIVE_DOUBLE, 0, &head->electrons_through_surfaces);
    }
    lm_h5_end(all);
}
