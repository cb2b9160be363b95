#include "run/scan.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/try.h"
#include "output/directory.h"

enum { MOST_LISTS = 8, MOST_RUNS = 10000, VALUE = LM_MAX_TEXT };

/* A key and its values. */
struct list {
    const char *word; /* "run.dt=0.01,0.02" */
    int key_length, count;
};

struct scan {
    const char *file;
    int count, lists, runs;
    const char *const *words;
    struct list list[MOST_LISTS];
    char directory[LM_MAX_PATH];
    int quiet;
    char *has_failed; /* [runs] */
};

static int count_values(const char *text)
{
    int count = 1;
    for (size_t n = lm_text_item(text); text[n]; n += 1 + lm_text_item(text + n + 1))
        count++;
    return count;
}

static int find_lists(struct scan *s)
{
    s->runs = 1;
    for (int k = 0; k < s->count; k++) {
        const char *equals = strchr(s->words[k], '=');
        if (!strncmp(s->words[k], "output.directory=", strlen("output.directory=")))
            return lm_fail(LM_BAD_INPUT, "command line: output.directory: a scan names the directories of its runs; "
                                         "--output says in which directory they are");
        const int values = equals ? count_values(equals + 1) : 1;
        if (values == 1)
            continue;
        if (s->lists == MOST_LISTS)
            return lm_fail(LM_BAD_INPUT, "command line: more than %d keys with a list of values", MOST_LISTS);
        s->list[s->lists++] =
            (struct list){.word = s->words[k], .key_length = (int)(equals - s->words[k]), .count = values};
        s->runs = values <= MOST_RUNS / s->runs ? s->runs * values : MOST_RUNS + 1;
        if (s->runs > MOST_RUNS)
            return lm_fail(LM_BAD_INPUT, "command line: more than %d runs", MOST_RUNS);
    }
    return s->lists > 0 ? LM_OK
                        : lm_fail(LM_BAD_INPUT, "command line: no key has a list of values, as run.dt=0.01,0.02");
}

/* Which value of list k run number `run` has; the last list changes fastest. */
static int value_number(const struct scan *s, int run, int k)
{
    for (int n = s->lists - 1; n > k; n--)
        run /= s->list[n].count;
    return run % s->list[k].count;
}

static void value_of(const struct scan *s, int run, int k, char out[VALUE])
{
    const char *text = s->list[k].word + s->list[k].key_length + 1;
    for (int n = value_number(s, run, k); n > 0; n--)
        text += lm_text_item(text) + 1;
    snprintf(out, VALUE, "%.*s", (int)lm_text_item(text), text);
}

/* "0003_nx=64_dt=0.02": the number of the run, and its values with other characters as _. */
static void name_of(const struct scan *s, int run, char out[LM_MAX_NAME * 4])
{
    enum { SIZE = LM_MAX_NAME * 4 };
    int n = snprintf(out, SIZE, "%04d", run + 1);
    for (int k = 0; k < s->lists; k++) {
        const struct list *l = &s->list[k];
        const char *key = l->word;
        char value[VALUE];
        for (const char *p = key; p < l->word + l->key_length; p++)
            key = *p == '.' ? p + 1 : key;
        value_of(s, run, k, value);
        const int room = SIZE - n;
        if (room > 1)
            n += snprintf(out + n, (size_t)room, "_%.*s=%s", (int)(l->word + l->key_length - key), key, value);
    }
    for (char *p = out; *p; p++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=._+-", *p))
            *p = '_';
}

/* Reads the configuration of a run. The caller frees it in either case. */
static int read_run(const struct scan *s, int run, struct lm_config *config)
{
    char directory[LM_MAX_PATH + 5 * LM_MAX_NAME], name[LM_MAX_NAME * 4];
    const char **words = malloc((size_t)(s->count + 1) * sizeof *words);
    char(*values)[VALUE + 128] = calloc(MOST_LISTS, sizeof *values);
    int status = words && values ? LM_OK : lm_fail(LM_FAILED, "not enough memory");
    for (int k = 0, list = 0; k < s->count && !status; k++) {
        words[k] = s->words[k];
        if (list < s->lists && s->list[list].word == s->words[k]) {
            char value[VALUE];
            value_of(s, run, list, value);
            snprintf(values[list], sizeof values[list], "%.*s=%s", s->list[list].key_length, s->words[k], value);
            words[k] = values[list++];
        }
    }
    name_of(s, run, name);
    snprintf(directory, sizeof directory, "output.directory=%s/%s", s->directory, name);
    if (!status) {
        words[s->count] = directory;
        status = lm_config_read(s->file, s->count + 1, words, config);
    }
    free(words);
    free(values);
    return status;
}

static int check_all(const struct scan *s, struct lm_config *config)
{
    int status = LM_OK;
    for (int run = 0; run < s->runs && !status; run++) {
        char name[LM_MAX_NAME * 4];
        status = read_run(s, run, config);
        if (run == 0 && config->notes && !s->quiet) /* all runs have the same notes */
            fputs(config->notes, stderr);
        if (status) {
            name_of(s, run, name);
            status = lm_fail_context(status, "run %s", name);
        }
        lm_config_free(config);
        memset(config, 0, sizeof *config);
    }
    return status;
}

/* --- the table --- */

/* The last complete line of a file, and its first one, without the line end. The caller frees them; NULL: there is
 * none. */
static void read_ends(const char *path, char **first, char **last)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    for (ssize_t n; f && (n = getline(&line, &size, f)) > 0;) {
        if (line[n - 1] != '\n')
            break;
        line[n - 1] = 0;
        if (!*first) {
            *first = strdup(line);
            continue;
        }
        free(*last);
        *last = strdup(line);
    }
    free(line);
    if (f)
        fclose(f);
}

/* A value of CSV; quoted where it has a comma or a quote. */
static void put_value(FILE *out, const char *text)
{
    if (!text[strcspn(text, ",\"")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, out);
    fputc('"', out);
}

static void put_head(const struct scan *s, FILE *out, const char *series)
{
    fputs("run", out);
    for (int k = 0; k < s->lists; k++) {
        char key[VALUE];
        snprintf(key, sizeof key, "%.*s", s->list[k].key_length, s->list[k].word);
        fputc(',', out);
        put_value(out, key);
    }
    fputs(",ended,fingerprint", out);
    fprintf(out, "%s%s\n", series ? "," : "", series ? series : "");
}

static void put_summary(FILE *out, const char *path)
{
    json_t *summary = json_load_file(path, 0, NULL);
    const char *ended = json_string_value(json_object_get(summary, "ended"));
    const char *print = json_string_value(json_object_get(summary, "fingerprint"));
    fputc(',', out);
    put_value(out, ended ? ended : "not complete");
    fprintf(out, ",%s", print ? print : "");
    json_decref(summary);
}

/* The cells of a row of a time series, for a reader: whole numbers, as counts, with all their digits, others with six.
 */
static void put_row(FILE *out, const char *row)
{
    for (char *end; row; row = *end == ',' ? end + 1 : NULL) {
        const double value = strtod(row, &end) + 0.0; /* no -0 */
        fprintf(out, value == rint(value) && fabs(value) < 1e15 ? ",%.0f" : ",%.6g", value);
    }
}

/* The line of a run: its values, how it ended, and the last row of its time series, if that has the columns of `head`.
 */
static int put_run(const struct scan *s, int run, FILE *out, const char *head)
{
    char name[LM_MAX_NAME * 4], path[LM_MAX_PATH], value[VALUE], *first = NULL, *last = NULL;
    name_of(s, run, name);
    LM_TRY(lm_path(path, "%s/%s/series.csv", s->directory, name));
    read_ends(path, &first, &last);
    fputs(name, out);
    for (int k = 0; k < s->lists; k++) {
        value_of(s, run, k, value);
        fputc(',', out);
        put_value(out, value);
    }
    int status = lm_path(path, "%s/%s/run.json", s->directory, name);
    if (s->has_failed[run])
        fputs(",failed,", out);
    else if (!status)
        put_summary(out, path);
    if (!s->has_failed[run] && last && head && !strcmp(first, head))
        put_row(out, last);
    else
        for (const char *p = head; p; p = strchr(p + 1, ','))
            fputc(',', out);
    fputc('\n', out);
    free(first);
    free(last);
    return status;
}

/* The columns of the first time series that there is, to be freed; NULL: there is none. */
static char *find_head(const struct scan *s)
{
    char *head = NULL;
    for (int run = 0; run < s->runs && !head; run++) {
        char name[LM_MAX_NAME * 4], path[LM_MAX_PATH], *last = NULL;
        name_of(s, run, name);
        if (!lm_path(path, "%s/%s/series.csv", s->directory, name))
            read_ends(path, &head, &last);
        free(last);
    }
    return head;
}

static int write_table(const struct scan *s)
{
    char path[LM_MAX_PATH], part[LM_MAX_PATH];
    FILE *out = lm_directory_begin(s->directory, "table.csv", path, part);
    if (!out)
        return LM_FAILED;
    char *head = find_head(s);
    int status = LM_OK;
    put_head(s, out, head);
    for (int run = 0; run < s->runs && !status; run++)
        status = put_run(s, run, out, head);
    free(head);
    status = lm_directory_end(out, path, part, status);
    if (!status && !s->quiet)
        fprintf(stderr, "%s: the results of %d runs\n", path, s->runs);
    return status;
}

/* --- the runs --- */

/* One run. What a run of other settings has left is replaced. A failure is reported at once, and counted. */
static int do_run(const struct scan *s, int run, struct lm_config *config, int *failures)
{
    const struct lm_run_options options = {.restart = "latest", .overwrite = 1, .quiet = s->quiet};
    char name[LM_MAX_NAME * 4];
    name_of(s, run, name);
    if (!s->quiet)
        fprintf(stderr, "run %d of %d: %s\n", run + 1, s->runs, name);
    int status = read_run(s, run, config);
    if (!status)
        status = lm_run(config, &options);
    if (status == LM_FAILED || status == LM_BAD_INPUT) {
        fprintf(stderr, "larmor: run %s: %s\n", name, lm_error());
        s->has_failed[run] = 1;
        ++*failures;
        status = LM_OK;
    }
    lm_config_free(config);
    memset(config, 0, sizeof *config);
    return status;
}

static int find_directory(struct scan *s, const char *directory)
{
    const char *slash = strrchr(s->file, '/'), *name = slash ? slash + 1 : s->file;
    const size_t n = strlen(name);
    if (directory)
        return lm_path(s->directory, "%s", directory);
    return lm_path(s->directory, "%.*s.scan", (int)(n > 4 && !strcmp(name + n - 4, ".ini") ? n - 4 : n), name);
}

static int make_directory(const struct scan *s)
{
    struct stat info;
    if (!stat(s->directory, &info) && !S_ISDIR(info.st_mode))
        return lm_fail(LM_BAD_INPUT, "%s: is a file, not a directory; choose another one with --output", s->directory);
    return lm_directory_make(s->directory);
}

/* Writes the table, also after a signal. */
static int finish(const struct scan *s, int status)
{
    char why[LM_MAX_MESSAGE / 2];
    if (status && status != LM_STOPPED)
        return status;
    snprintf(why, sizeof why, "%s", lm_error());
    if (write_table(s))
        return LM_FAILED;
    return status ? lm_fail(LM_STOPPED, "%s\nthe same command goes on with the scan", why) : LM_OK;
}

int lm_scan(const char *file, int count, const char *const *words, const char *directory, int quiet)
{
    struct scan s = {.file = file, .count = count, .words = words, .quiet = quiet};
    int failures = 0;
    LM_TRY(lm_config_check_repeats(count, words));
    LM_TRY(find_lists(&s));
    LM_TRY(find_directory(&s, directory));
    struct lm_config *config = calloc(1, sizeof *config);
    s.has_failed = calloc((size_t)s.runs, 1);
    int status = config && s.has_failed ? check_all(&s, config) : lm_fail(LM_FAILED, "not enough memory");
    if (!status)
        status = make_directory(&s);
    for (int run = 0; run < s.runs && !status; run++)
        status = do_run(&s, run, config, &failures);
    free(config);
    status = finish(&s, status);
    free(s.has_failed);
    if (!status && failures > 0)
        return lm_fail(LM_FAILED, "%d of %d runs have failed; %s/table.csv has the others", failures, s.runs,
                       s.directory);
    return status;
}
