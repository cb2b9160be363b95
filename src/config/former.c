#include "config/former.h"

#include <string.h>

#include "config/keys.h"

#define VOIDS                                                                                                          \
    "the key has been removed, as the program treats voids by itself: leave it out. A resistivity of thin plasma is "  \
    "fields.eta as an expression of n, such as n < 0.1 ? 1 : 0"

static const struct {
    const char *section, *name, *why;
} removed[] = {{"fields", "vacuum", VOIDS}, {"fields", "eta_vacuum", VOIDS}};

const char *lm_former_now(const char *section, const char *name)
{
    const struct lm_named *kind = lm_named_of(section);
    const char *table = kind ? kind->section : section;
    for (int k = 0; k < lm_key_count; k++)
        if (lm_keys[k].formerly && !strcmp(lm_keys[k].section, table) && !strcmp(lm_keys[k].formerly, name))
            return lm_keys[k].name;
    return name;
}

const char *lm_former_removed(const char *section, const char *name)
{
    for (size_t k = 0; k < sizeof removed / sizeof *removed; k++)
        if (!strcmp(removed[k].section, section) && !strcmp(removed[k].name, name))
            return removed[k].why;
    return NULL;
}

void lm_former_note(FILE *notes, const struct lm_problems *problems, int line, const char *section, const char *name,
                    const char *now)
{
    char location[LM_PROBLEMS_LOCATION];
    lm_problems_locate(problems, line, location);
    fprintf(notes, "%s: note: %s.%s is now called %s\n", location, section, name, now);
}

void lm_former_rename(struct lm_ini *ini, struct lm_problems *problems, FILE *notes)
{
    for (int k = 0; k < ini->count; k++) {
        struct lm_ini_entry *e = &ini->entry[k];
        const char *now = lm_former_now(e->section, e->key);
        if (now == e->key)
            continue;
        const struct lm_ini_entry *other = lm_ini_find(ini, e->section, now);
        if (other) {
            lm_problems_add(problems, e->line,
                            "%s.%s: given twice, on line %d as %s, which is its name now: leave one out", e->section,
                            e->key, other->line, now);
            e->dropped = 1;
            continue;
        }
        if (notes)
            lm_former_note(notes, problems, e->line, e->section, e->key, now);
        snprintf(e->key, sizeof e->key, "%s", now);
    }
}
