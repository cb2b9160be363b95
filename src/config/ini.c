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

/* State of the line reader that inih calls. */
struct reader {
    FILE *file;
    int line;
    char *raw;
    size_t raw_size;
    int skip; /* 1: the header of the current section is wrong, and its lines are passed over */
    int status;
    struct lm_ini *ini;
    struct lm_problems *problems;
};

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
    struct lm_ini_entry *e = &ini->entry[ini->count++];
    *e = (struct lm_ini_entry){.line = line};
    snprintf(e->section, sizeof e->section, "%s", section);
    snprintf(e->key, sizeof e->key, "%s", key);
    snprintf(e->value, sizeof e->value, "%s", value);
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
    if (n >= LM_INI_LINE)
        return "line of 200 bytes or more; [const] can name parts of an expression";
    if (*s == ' ' || *s == '\t')
        return "indented line";
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
        lm_problems_add(r->problems, r->line, "\"%s\": name too long", line);
    else if (r->ini->section_count == 0)
        lm_problems_add(r->problems, r->line, "\"%s\": key before any [section]", line);
    else
        return 1;
    return 0;
}

/* Stands for fgets in inih: the next line without its comment. A line with an error is replaced by an empty one. */
static char *next_line(char *out, int size, void *stream)
{
    struct reader *r = stream;
    ssize_t n = r->status ? -1 : getline(&r->raw, &r->raw_size, r->file);
    if (n < 0)
        return NULL;
    r->line++;
    char *line = r->raw;
    if (r->line == 1 && n >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) {
        line += 3;
        n -= 3;
    }
    const char *wrong = trim_line(line, (size_t)n);
    int keep = 0;
    if (wrong)
        lm_problems_add(r->problems, r->line, "%s", wrong);
    else if (*line == '[') {
        add_section(r, line);
        keep = !r->skip;
    } else if (*line)
        keep = check_entry(r, line);
    snprintf(out, (size_t)size, "%s", keep ? line : "");
    return out;
}

static int add_entry(void *user, const char *section, const char *key, const char *value)
{
    struct reader *r = user;
    const struct lm_ini_entry *first = lm_ini_find(r->ini, section, key);
    if (r->status)
        return 0;
    if (first)
        lm_problems_add(r->problems, r->line, "%s.%s: given twice, first on line %d", section, key, first->line);
    else if (r->ini->count == MAX_ENTRIES)
        r->status = lm_fail(LM_BAD_INPUT, "%s: more than %d keys", r->problems->file, MAX_ENTRIES);
    else
        r->status = lm_ini_append(r->ini, section, key, value, r->line);
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
