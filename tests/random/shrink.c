#include "shrink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

struct shrinker {
    struct draft *best, changed;
    int (*shows)(void *context, const struct draft *d);
    void *context;
    int asked, most;
};

/* Returns 1 when the changed draft still fails; the change is then kept. */
static int try(struct shrinker *s)
{
    if (s->asked >= s->most)
        return 0;
    s->asked++;
    if (!s->shows(s->context, &s->changed))
        return 0;
    *s->best = s->changed;
    return 1;
}

static void begin(struct shrinker *s)
{
    s->changed = *s->best;
}

static double number(const struct draft *d, const char *section, const char *key)
{
    const char *text = draft_get(d, section, key);
    return text ? strtod(text, NULL) : 0;
}

/* --- sections and keys --- */

/* Removes the keys that name a section which is no longer there. */
static void drop_references(struct draft *d, const char *section)
{
    const char *dot = strchr(section, '.');
    for (int k = d->count - 1; dot && k >= 0; k--)
        if (d->entry[k].key[0] && !strcmp(d->entry[k].value, dot + 1))
            draft_remove(d, k);
}

static int drop_sections(struct shrinker *s)
{
    int done = 0;
    for (int k = s->best->count - 1; k >= 0; k--) {
        char section[DRAFT_NAME];
        if (k >= s->best->count || s->best->entry[k].key[0])
            continue;
        snprintf(section, sizeof section, "%s", s->best->entry[k].section);
        begin(s);
        draft_remove_section(&s->changed, section);
        drop_references(&s->changed, section);
        done += try(s);
    }
    return done;
}

/* Tries the draft without up to `count` keys from one on. Returns 1 when there were such keys and they are not needed.
 */
static int drop_some(struct shrinker *s, int first, int count)
{
    int removed = 0;
    begin(s);
    for (int k = first + count - 1; k >= first; k--)
        if (k < s->changed.count && s->changed.entry[k].key[0]) {
            draft_remove(&s->changed, k);
            removed++;
        }
    return removed > 0 && try(s);
}

/* Many keys at once first, as some keys can only be removed together. */
static int drop_keys(struct shrinker *s)
{
    int done = 0;
    for (int count = s->best->count / 2; count > 0; count /= 2)
        for (int first = s->best->count - count; first > -count; first -= count)
            done += drop_some(s, first > 0 ? first : 0, count);
    return done;
}

/* Tries to remove two keys of a section that can only be removed together. */
static int drop_pairs(struct shrinker *s)
{
    for (int k = s->best->count - 1; k >= 0; k--)
        for (int n = k - 1; n >= 0; n--) {
            begin(s);
            const struct draft_entry *a = &s->best->entry[k], *b = &s->best->entry[n];
            if (!a->key[0] || !b->key[0] || strcmp(a->section, b->section) != 0)
                continue;
            draft_remove(&s->changed, k);
            draft_remove(&s->changed, n);
            if (try(s))
                return 1;
        }
    return 0;
}

/* --- sizes --- */

/* Sets the number of cells along an axis; the size of a cell stays. */
static int try_cells(struct shrinker *s, int along_y, int cells)
{
    const char *count = along_y ? "ny" : "nx", *size = along_y ? "ly" : "lx";
    const double before = number(s->best, "grid", count), length = number(s->best, "grid", size);
    if (cells < 1 || cells >= (int)before)
        return 0;
    begin(s);
    draft_set_number(&s->changed, "grid", count, cells);
    draft_set_number(&s->changed, "grid", size, round(1e9 * length * cells / before) * 1e-9);
    files_resize(&s->changed);
    return try(s);
}

static int shrink_cells(struct shrinker *s)
{
    int done = 0;
    for (int along_y = 0; along_y < 2; along_y++) {
        int cells = (int)number(s->best, "grid", along_y ? "ny" : "nx");
        if (try_cells(s, along_y, 1))
            return 1;
        for (int less = cells / 2; less > 0; less /= 2)
            while (try_cells(s, along_y, cells - less)) {
                cells -= less;
                done++;
            }
    }
    return done;
}

static int try_number(struct shrinker *s, const char *section, const char *key, double value)
{
    begin(s);
    draft_set_number(&s->changed, section, key, value);
    return try(s);
}

/* Makes a whole number as small as possible, at least 1. */
static int shrink_number(struct shrinker *s, const char *section, const char *key)
{
    int done = 0;
    double value = ceil(number(s->best, section, key));
    for (double less = floor(value / 2); less >= 1; less = floor(less / 2))
        while (value - less >= 1 && try_number(s, section, key, value - less)) {
            value -= less;
            done++;
        }
    return done;
}

/* Replaces the end time by a number of steps. */
static void count_steps(struct shrinker *s)
{
    const double t_end = number(s->best, "run", "t_end"), dt = number(s->best, "run", "dt");
    if (draft_get(s->best, "run", "steps") || !(dt > 0))
        return;
    begin(s);
    for (int k = s->changed.count - 1; k >= 0; k--)
        if (!strcmp(s->changed.entry[k].section, "run") && !strcmp(s->changed.entry[k].key, "t_end"))
            draft_remove(&s->changed, k);
    draft_set_number(&s->changed, "run", "steps", floor(t_end / dt + 0.5));
    try(s);
}

static int shrink_particles(struct shrinker *s)
{
    int done = 0;
    for (int k = 0; k < s->best->count; k++) {
        char section[DRAFT_NAME];
        snprintf(section, sizeof section, "%s", s->best->entry[k].section);
        if (!strcmp(s->best->entry[k].key, "particles_per_cell"))
            done += shrink_number(s, section, "particles_per_cell");
    }
    return done;
}

/* --- values --- */

/* Tries a shorter value of a key. */
static int try_value(struct shrinker *s, int k, const char *value)
{
    if (k >= s->best->count || strlen(value) >= strlen(s->best->entry[k].value))
        return 0;
    begin(s);
    snprintf(s->changed.entry[k].value, DRAFT_VALUE, "%s", value);
    return try(s);
}

static int is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return end != text && !*end;
}

static int simplify_value(struct shrinker *s, int k)
{
    char rounded[32];
    const char *value = s->best->entry[k].value;
    if (!s->best->entry[k].key[0] || !strcmp(s->best->entry[k].section, "grid"))
        return 0;
    if (try_value(s, k, "0") || try_value(s, k, "1"))
        return 1;
    for (int digits = 1; digits <= 2 && is_number(value); digits++) {
        snprintf(rounded, sizeof rounded, "%.*g", digits, strtod(value, NULL));
        if (try_value(s, k, rounded))
            return 1;
    }
    return 0;
}

static int simplify_values(struct shrinker *s)
{
    int done = 0;
    for (int k = 0; k < s->best->count; k++)
        done += simplify_value(s, k);
    return done;
}

int shrink(struct draft *d, int (*shows)(void *context, const struct draft *d), void *context, int most)
{
    struct shrinker *s = calloc(1, sizeof *s);
    int asked = 0, done = 1;
    if (!s)
        return 0;
    *s = (struct shrinker){.best = d, .shows = shows, .context = context, .most = most};
    count_steps(s);
    shrink_number(s, "run", "steps"); /* the following attempts are quicker then */
    while (done > 0 && s->asked < most) {
        done = drop_sections(s) + drop_keys(s) + shrink_cells(s) + shrink_particles(s);
        done += shrink_number(s, "run", "steps") + simplify_values(s);
        done = done > 0 ? done : drop_pairs(s);
    }
    asked = s->asked;
    free(s);
    return asked;
}
