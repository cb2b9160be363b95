#include "config/ini.h"

#include <ini.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "base/try.h"
#include "larmor/base.h"

enum { MAX_BYTES = 1 << 20, MAX_ENTRIES = 4096 };
enum { PART = 190 }; /* bytes of a line that inih gets at once; it has room for 200 */

/* State of the line reader that inih calls. */
struct reader {
    FILE *file;
    int line;
    char *raw;
    size_t raw_size;
    int skip;          /* 1: the header of the current section is wrong, and its lines are passed over */
    int line_of_value; /* 1: the value before may go on; 0: there is none; -1: it has an error, which has been reported
                        */
    int is_indented;   /* 1: the present line goes on with a value */
    const char *rest;  /* what inih has not got of the present line; NULL: nothing */
    int is_rest;       /* 1: what inih reads is such a rest */
    int status;
    struct lm_ini *ini;
    struct lm_problems *problems;
};

int lm_ini_has_gap(const char *value)
{
    int n = 0;
    for (; *value && n <= LM_INI_GAP; value++)
        n = strchr(" \t#;", *value) ? n + 1 : 0;
    return n > LM_INI_GAP;
}

/* Grows a list of `size`-byte items to hold one more. */
static int reserve(void **list, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return LM_OK;
    int wanted = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(*list, (size_t)wanted * size);
    if (!grown)
        return lm_fail(LM_FAILED, "out of memory");
    *list = grown;
    *capacity = wanted;
    return LM_OK;
}

int lm_ini_append(struct lm_ini *ini, const char *section, const char *key, const char *value, int line)
{
    if (reserve((void **)&ini->entry, ini->count, &ini->capacity, sizeof *ini->entry))
        return LM_FAILED;
    struct lm_ini_entry *e = &ini->entry[ini->count];
    *e = (struct lm_ini_entry){.line = line};
    snprintf(e->section, sizeof e->section, "%s", section);
    snprintf(e->key, sizeof e->key, "%s", key);
    LM_TRY(lm_ini_replace(e, value));
    ini->count++;
    return LM_OK;
}

int lm_ini_replace(struct lm_ini_entry *e, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return lm_fail(LM_FAILED, "out of memory");
    free(e->value);
    e->value = copy;
    return LM_OK;
}

/* Appends to a value: the rest of its line, or what a line after it says. */
static int go_on(struct lm_ini_entry *e, const char *more, int is_rest)
{
    const size_t n = strlen(e->value), m = strlen(more);
    const int blank = !is_rest && n > 0;
    char *longer = realloc(e->value, n + m + (size_t)blank + 1);
    if (!longer)
        return lm_fail(LM_FAILED, "out of memory");
    if (blank)
        longer[n] = ' ';
    memcpy(longer + n + blank, more, m + 1);
    e->value = longer;
    return LM_OK;
}

struct lm_ini_entry *lm_ini_find(const struct lm_ini *ini, const char *section, const char *key)
{
    for (int k = 0; k < ini->count; k++)
        if (!strcmp(ini->entry[k].section, section) && !strcmp(ini->entry[k].key, key))
            return &ini->entry[k];
    return NULL;
}

void lm_ini_free(struct lm_ini *ini)
{
    for (int k = 0; k < ini->count; k++)
        free(ini->entry[k].value);
    free(ini->entry);
    free(ini->section);
    *ini = (struct lm_ini){0};
}

int lm_ini_comment(const char *line)
{
    int k = 0;
    for (; line[k]; k++)
        if ((line[k] == '#' || line[k] == ';') && (k == 0 || line[k - 1] == ' ' || line[k - 1] == '\t'))
            break;
    return k;
}

static int has_control(const char *s, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if ((unsigned char)s[k] < ' ' && s[k] != '\t')
            return 1;
    return 0;
}

/* Cuts line end, comment and trailing blanks off; returns what is wrong with the line, or NULL. */
static const char *trim_line(char *s, size_t n)
{
    if (n > 0 && s[n - 1] == '\n')
        n--;
    if (n > 0 && s[n - 1] == '\r')
        n--;
    s[n] = 0;
    if (memchr(s, 0, n))
        return "NUL byte: not a text file";
    if (has_control(s, n))
        return "control character";
    n = (size_t)lm_ini_comment(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        n--;
    s[n] = 0;
    return NULL;
}

/* The line of the section [KIND.NAME] with this name; 0: there is none. Only sections without a name may occur twice.
 */
static int line_of_name(const struct lm_ini *ini, const char *name, size_t n)
{
    for (int k = 0; k < ini->section_count; k++) {
        const struct lm_ini_section *s = &ini->section[k];
        if (memchr(name, '.', n) && strlen(s->name) == n && !memcmp(s->name, name, n))
            return s->line;
    }
    return 0;
}

static void add_section(struct reader *r, const char *line)
{
    size_t n = strlen(line);
    const char *close = strchr(line, ']');
    r->skip = 1;
    if (!close) {
        lm_problems_add(r->problems, r->line, "\"%s\": ] is missing", line);
        return;
    }
    if (close != line + n - 1) {
        lm_problems_add(r->problems, r->line, "\"%s\": text after the section's name", line);
        return;
    }
    if (n - 2 >= LM_INI_NAME) {
        lm_problems_add(r->problems, r->line, "%s: name too long", line);
        return;
    }
    struct lm_ini *ini = r->ini;
    const int before = line_of_name(ini, line + 1, n - 2);
    if (before > 0) {
        lm_problems_add(r->problems, r->line, "%s: given twice, first on line %d; give the second one another name",
                        line, before);
        return;
    }
    if (reserve((void **)&ini->section, ini->section_count, &ini->section_capacity, sizeof *ini->section)) {
        r->status = LM_FAILED;
        return;
    }
    struct lm_ini_section *s = &ini->section[ini->section_count++];
    s->line = r->line;
    memcpy(s->name, line + 1, n - 2);
    s->name[n - 2] = 0;
    r->skip = 0;
}

/* 1 when the line is a valid `key = value`, which inih may parse. */
static int check_entry(struct reader *r, const char *line)
{
    size_t n = strcspn(line, "=:");
    if (r->skip)
        return 0;
    if (line[n] != '=')
        lm_problems_add(r->problems, r->line, "\"%s\": expected key = value", line);
    else if (n == 0)
        lm_problems_add(r->problems, r->line, "\"%s\": no key before =", line);
    else if (n >= LM_INI_NAME)
        lm_problems_add(r->problems, r->line, "\"%s\": a name of more than %d bytes", line, LM_INI_NAME - 1);
    else if (r->ini->section_count == 0)
        lm_problems_add(r->problems, r->line, "\"%s\": key before any [section]", line);
    else
        return 1;
    return 0;
}

/* 1 for `key = ...`, which is not the rest of a value. */
static int has_key(const char *line)
{
    const size_t n = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.");
    const char *at = line + n + strspn(line + n, " \t");
    return n > 0 && !strchr("0123456789.", *line) && at[0] == '=' && at[1] != '=';
}

/* 1 when the indented line goes on with the value before it. */
static int check_continuation(struct reader *r, const char *line)
{
    line += strspn(line, " \t");
    if (r->line_of_value < 0 || r->skip)
        return 0;
    r->is_indented = *line != '[' && !has_key(line) && r->line_of_value > 0;
    if (r->is_indented)
        return 1;
    lm_problems_add(r->problems, r->line,
                    *line == '[' || has_key(line)
                        ? "indented line with a key or a section of its own: begin it at the left"
                        : "indented line, and no value before it that could go on");
    return 0;
}

/* 1 when inih may parse the line. */
static int check_line(struct reader *r, const char *line)
{
    int keep = 0;
    if (!*line)
        return 0;
    if (*line == ' ' || *line == '\t')
        return check_continuation(r, line);
    if (*line == '[') {
        add_section(r, line);
        r->ini->lost |= r->skip;
        r->line_of_value = 0;
        return !r->skip;
    }
    keep = check_entry(r, line);
    r->ini->lost |= !keep;
    r->line_of_value = keep ? 1 : -1;
    return keep;
}

/* The next line of the file without its comment, or NULL at the end. A line with an error is replaced by an empty one.
 */
static const char *read_line(struct reader *r)
{
    ssize_t n = r->status ? -1 : getline(&r->raw, &r->raw_size, r->file);
    if (n < 0)
        return NULL;
    r->line++;
    r->is_indented = 0;
    char *line = r->raw;
    if (r->line == 1 && n >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) {
        line += 3;
        n -= 3;
    }
    const char *wrong = trim_line(line, (size_t)n);
    if (wrong) {
        lm_problems_add(r->problems, r->line, "%s", wrong);
        r->ini->lost = 1;
        r->line_of_value = -1;
    }
    return !wrong && check_line(r, line) ? line : "";
}

/* 1 when a line may be cut before line[n]: inih removes blanks at both ends of a part, and takes # and ; at its
 * beginning for a comment. */
static int is_seam(const char *line, size_t n)
{
    return !strchr(" \t", line[n - 1]) && !strchr(" \t#;", line[n]);
}

/* Stands for fgets in inih. A long line comes in parts: inih takes those after the first for indented lines. */
static char *next_line(char *out, int size, void *stream)
{
    struct reader *r = stream;
    const char *line = r->rest ? r->rest : read_line(r);
    if (!line)
        return NULL;
    r->is_rest = r->rest != NULL;
    r->rest = NULL;
    size_t n = strlen(line);
    if (n > PART) {
        for (n = PART; n > PART / 2 && !is_seam(line, n); n--)
            ;
        if (is_seam(line, n))
            r->rest = line + n;
        else
            lm_problems_add(r->problems, r->line, "%d blanks, # or ; in a row", PART / 2);
    }
    snprintf(out, (size_t)size, "%s%.*s", r->is_rest ? " " : "", (int)n, line);
    return out;
}

static int add_entry(void *user, const char *section, const char *key, const char *value)
{
    struct reader *r = user;
    struct lm_ini *ini = r->ini;
    const struct lm_ini_entry *first = lm_ini_find(ini, section, key);
    if (r->status)
        return 0;
    if (first && (r->is_rest || r->is_indented))
        r->status = go_on(&ini->entry[first - ini->entry], value, r->is_rest);
    else if (first)
        lm_problems_add(r->problems, r->line, "%s.%s: given twice, first on line %d", section, key, first->line);
    else if (ini->count == MAX_ENTRIES)
        r->status = lm_fail(LM_BAD_INPUT, "%s: more than %d keys", r->problems->file, MAX_ENTRIES);
    else
        r->status = lm_ini_append(ini, section, key, value, r->line);
    if (!r->status && ini->count > 0 && lm_ini_has_gap(ini->entry[ini->count - 1].value)) {
        lm_problems_add(r->problems, r->line, "%s.%s: more than %d blanks, # or ; in a row", section, key, LM_INI_GAP);
        r->status = lm_ini_replace(&ini->entry[ini->count - 1], "0"); /* reported once */
    }
    return 1;
}

static int open_file(const char *file, FILE **out)
{
    struct stat info;
    LM_TRY(lm_input_open(file, out));
    if (!fstat(fileno(*out), &info) && info.st_size <= MAX_BYTES)
        return LM_OK;
    fclose(*out);
    return lm_fail(LM_BAD_INPUT, "%s: larger than %d bytes, no configuration", file, MAX_BYTES);
}

/* Reads to the end of the file and closes it. */
static int read_stream(FILE *file, struct lm_ini *ini, struct lm_problems *problems)
{
    struct reader r = {.ini = ini, .problems = problems, .file = file};
    int before = problems->count + problems->omitted;
    int bad = ini_parse_stream(next_line, &r, add_entry, &r);
    if (ferror(r.file))
        r.status = lm_fail(LM_BAD_INPUT, "%s: cannot be read", problems->file);
    else if (!r.status && bad && before == problems->count + problems->omitted)
        lm_problems_add(problems, bad > 0 ? bad : LM_WHOLE_FILE, "cannot be read as an INI line");
    fclose(r.file);
    free(r.raw);
    return r.status;
}

int lm_ini_read(const char *file, struct lm_ini *ini, struct lm_problems *problems)
{
    FILE *in = NULL;
    *ini = (struct lm_ini){0};
    return open_file(file, &in) ? LM_BAD_INPUT : read_stream(in, ini, problems);
}

int lm_ini_read_text(const char *text, struct lm_ini *ini, struct lm_problems *problems)
{
    *ini = (struct lm_ini){0};
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r"); /* "r": the text is not changed */
    return in ? read_stream(in, ini, problems) : lm_fail(LM_FAILED, "out of memory");
}
