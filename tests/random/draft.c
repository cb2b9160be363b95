#include "draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find(const struct draft *d, const char *section, const char *key)
{
    for (int k = 0; k < d->count; k++)
        if (!strcmp(d->entry[k].section, section) && !strcmp(d->entry[k].key, key))
            return k;
    return -1;
}

static struct draft_entry *add(struct draft *d, const char *section, const char *key)
{
    if (d->count == DRAFT_MOST) {
        fprintf(stderr, "a configuration of more than %d lines: raise DRAFT_MOST\n", DRAFT_MOST);
        exit(2);
    }
    struct draft_entry *e = &d->entry[d->count++];
    *e = (struct draft_entry){.value = ""};
    snprintf(e->section, sizeof e->section, "%s", section);
    snprintf(e->key, sizeof e->key, "%s", key);
    return e;
}

void draft_set(struct draft *d, const char *section, const char *key, const char *value)
{
    if (find(d, section, "") < 0)
        add(d, section, "");
    const int k = find(d, section, key);
    struct draft_entry *e = k < 0 ? add(d, section, key) : &d->entry[k];
    snprintf(e->value, sizeof e->value, "%s", value);
}

void draft_set_number(struct draft *d, const char *section, const char *key, double value)
{
    char text[DRAFT_VALUE];
    snprintf(text, sizeof text, "%.15g", value);
    draft_set(d, section, key, text);
}

const char *draft_get(const struct draft *d, const char *section, const char *key)
{
    const int k = find(d, section, key);
    return k < 0 ? NULL : d->entry[k].value;
}

void draft_remove(struct draft *d, int entry)
{
    d->count--;
    memmove(d->entry + entry, d->entry + entry + 1, (size_t)(d->count - entry) * sizeof *d->entry);
}

void draft_remove_section(struct draft *d, const char *section)
{
    for (int k = d->count - 1; k >= 0; k--)
        if (!strcmp(d->entry[k].section, section))
            draft_remove(d, k);
}

static void append(char *out, size_t *length, const char *a, const char *b, const char *c)
{
    const int n = snprintf(out + *length, DRAFT_TEXT - *length, "%s%s%s\n", a, b, c);
    if (n < 0 || (size_t)n >= DRAFT_TEXT - *length) {
        fputs("a configuration that is too long: raise DRAFT_TEXT\n", stderr);
        exit(2);
    }
    *length += (size_t)n;
}

void draft_text(const struct draft *d, char *out)
{
    char key[DRAFT_NAME + 4];
    size_t length = 0;
    out[0] = '\0';
    for (int s = 0; s < d->count; s++) {
        const char *section = d->entry[s].section;
        if (d->entry[s].key[0])
            continue;
        append(out, &length, "[", section, "]");
        for (int k = 0; k < d->count; k++) {
            if (!d->entry[k].key[0] || strcmp(d->entry[k].section, section))
                continue;
            snprintf(key, sizeof key, "%s = ", d->entry[k].key);
            append(out, &length, key, d->entry[k].value, "");
        }
    }
}

/* Removes blanks at both ends; changes the text. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]))
        text[--n] = '\0';
    return text;
}

/* Returns 0 when the line is of another kind. */
static int read_line(struct draft *d, char *line, char section[DRAFT_NAME])
{
    line = trimmed(line);
    const size_t n = strlen(line);
    char *equals = strchr(line, '=');
    if (n == 0 || *line == '#' || *line == ';')
        return 1;
    if (*line == '[' && line[n - 1] == ']') {
        snprintf(section, DRAFT_NAME, "%.*s", (int)n - 2, line + 1);
        if (find(d, section, "") < 0)
            add(d, section, "");
        return 1;
    }
    if (!equals || !section[0])
        return 0;
    *equals = '\0';
    draft_set(d, section, trimmed(line), trimmed(equals + 1));
    return 1;
}

int draft_read(struct draft *d, const char *text)
{
    char line[512], section[DRAFT_NAME] = "";
    *d = (struct draft){.count = 0};
    while (*text) {
        const size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        if (n >= sizeof line || !read_line(d, line, section))
            return 0;
        text += n + (text[n] == '\n');
    }
    return 1;
}
