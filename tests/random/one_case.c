#include "one_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "compare_run.h"
#include "draw.h"
#include "shrink.h"

enum { MOST_ATTEMPTS = 400, MOST_TRIES = 1500, SHRINK_SECONDS = 40 };

/* The data of the case that is being worked on; too large for a stack. */
struct one_case {
    const struct options *options;
    char directory[LM_MAX_PATH / 2]; /* a directory of its own */
    char name[512];                  /* of the file that it is kept in */
    struct draft draft;
    struct compare_result result, trial;
    char about[8192], text[DRAFT_TEXT];
    double until; /* clock time at which shrinking ends */
};

/* --- drawing or reading a case --- */

int one_case_directory(char *path)
{
    const char *parent = getenv("TMPDIR");
    const char *shared = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(path, LM_MAX_PATH / 2, "%s/larmor-random-XXXXXX", parent && parent[0] ? parent : shared);
    return mkdtemp(path) != NULL;
}

static int draw_valid(uint64_t seed, int index, const char *directory, struct draft *out)
{
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        draw_case(seed, index, attempt, out);
        const enum compare_verdict verdict = compare_try(out, directory);
        if (verdict == COMPARE_SAME)
            return attempt;
        if (verdict == COMPARE_BROKEN || getenv("LARMOR_RANDOM_REFUSED"))
            fprintf(stderr, "case %d, attempt %d: %s\n", index, attempt, lm_error());
    }
    return -1;
}

int one_case_draw(const struct options *o, int index, struct draft *out)
{
    char directory[LM_MAX_PATH / 2];
    if (!one_case_directory(directory))
        return -1;
    const int refused = draw_valid(o->seed, index, directory, out);
    compare_remove(directory);
    return refused;
}

static int read_file(struct one_case *c, int index)
{
    char path[LM_MAX_PATH];
    FILE *f = lm_path(path, "%s/%s", c->options->cases, c->options->files[index]) ? NULL : fopen(path, "r");
    const size_t n = f ? fread(c->text, 1, sizeof c->text - 1, f) : 0;
    if (f)
        fclose(f);
    c->text[n] = '\0';
    return n > 0 && draft_read(&c->draft, c->text);
}

/* Begins a case, which end_case frees. Ends the process when that is not possible. */
static struct one_case *begin_case(const struct options *o, int index)
{
    struct one_case *c = calloc(1, sizeof *c);
    if (!c || !one_case_directory(c->directory)) {
        fprintf(stderr, "no memory or no directory for a case\n");
        exit(2);
    }
    c->options = o;
    if (o->cases)
        snprintf(c->name, sizeof c->name, "%s", o->files[index]);
    else
        snprintf(c->name, sizeof c->name, "case-%llu-%d.ini", (unsigned long long)o->seed, index);
    return c;
}

/* Returns how many drawn configurations were refused, or -1 when none could be started. */
static int get_case(struct one_case *c, int index)
{
    if (c->options->cases)
        return read_file(c, index) ? 0 : -1;
    return draw_valid(c->options->seed, index, c->directory, &c->draft);
}

static void end_case(struct one_case *c)
{
    compare_remove(c->directory);
    free(c);
}

/* --- keeping a case that differs --- */

/* Writes lines of a comment. */
static void print_comment(FILE *out, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, "\n");
        fprintf(out, "# %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void keep(struct one_case *c)
{
    const char *directory = c->options->keep;
    char path[LM_MAX_PATH];
    mkdir("build", 0777);
    mkdir(directory, 0777);
    FILE *f = lm_path(path, "%s/%s", directory, c->name) ? NULL : fopen(path, "w");
    if (!f) {
        fprintf(stderr, "%s/%s cannot be written: %s\n", directory, c->name, strerror(errno));
        return;
    }
    draft_text(&c->draft, c->text);
    print_comment(f, c->about);
    fputs(c->text, f);
    fclose(f);
    printf("%s\nkept in %s:\n%s\n", c->about, path, c->text);
}

static void describe(struct one_case *c, int index, int asked)
{
    const struct compare_result *r = &c->result;
    size_t n = 0;
    n = (size_t)snprintf(c->about, sizeof c->about, "%s: %s%s%s differs, first at step %lld\n%.6000s", c->name, r->way,
                         r->others[0] ? ", also " : "", r->others, (long long)r->step, r->what);
    if (asked > 0 && n < sizeof c->about)
        snprintf(c->about + n, sizeof c->about - n, "made small in %d tries; as drawn: random --seed %llu --print %d\n",
                 asked, (unsigned long long)c->options->seed, index);
}

/* --- shrinking a case --- */

static int still_differs(void *context, const struct draft *d)
{
    struct one_case *c = context;
    if (lm_clock() > c->until)
        return 0;
    compare_draft(d, c->directory, c->result.way, 1, &c->trial);
    return c->trial.verdict == COMPARE_DIFFERENT;
}

static int shrink_case(struct one_case *c)
{
    if (!c->options->shrinks || !strcmp(c->result.way, "reference"))
        return 0;
    alarm(0);
    c->until = lm_clock() + SHRINK_SECONDS;
    const int asked = shrink(&c->draft, still_differs, c, MOST_TRIES);
    compare_draft(&c->draft, c->directory, c->options->ways, 0, &c->trial);
    if (c->trial.verdict == COMPARE_DIFFERENT)
        c->result = c->trial;
    return asked;
}

void one_case_run(void *options, int index, struct worker_report *report)
{
    const struct options *o = options;
    struct one_case *c = begin_case(o, index);
    struct compare_result *r = &c->result;
    report->refused = get_case(c, index);
    if (report->refused >= 0) {
        compare_draft(&c->draft, c->directory, o->ways, 0, r);
    } else {
        r->verdict = COMPARE_BROKEN;
        snprintf(r->what, sizeof r->what, "no configuration could be drawn or read: %s\n", lm_error());
    }
    report->differs = r->verdict == COMPARE_DIFFERENT;
    report->broken = r->verdict == COMPARE_BROKEN || r->verdict == COMPARE_REFUSED;
    report->stopped = r->has_stopped;
    report->ways = r->way_count;
    if (report->differs) {
        describe(c, index, shrink_case(c));
        keep(c);
    } else if (report->broken) {
        printf("%s: %s: %s", c->name, r->verdict == COMPARE_BROKEN ? "not compared" : "refused", r->what);
    }
    fflush(stdout);
    end_case(c);
}

/* --- a case that crashes or takes too long --- */

/* Runs in a process of its own, where the case may crash again. */
static int still_crashes(void *context, const struct draft *d)
{
    struct one_case *c = context;
    int status = 0;
    if (lm_clock() > c->until)
        return 0;
    const pid_t pid = fork();
    if (pid == 0) {
        alarm((unsigned)c->options->seconds);
        compare_draft(d, c->directory, c->options->ways, 0, &c->trial);
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status != 0;
}

/* Also in a process of its own, as drawing starts a simulation. */
static void shrink_crash(const struct options *o, int index, const char *how)
{
    struct one_case *c = begin_case(o, index);
    c->until = lm_clock() + SHRINK_SECONDS;
    if (get_case(c, index) >= 0) {
        const int asked = o->shrinks ? shrink(&c->draft, still_crashes, c, MOST_TRIES) : 0;
        snprintf(c->about, sizeof c->about, "%s: %s (%d tries to make it small)\n", c->name, how, asked);
        keep(c);
    }
    fflush(stdout);
    end_case(c);
}

void one_case_crashed(void *options, int index, const char *how)
{
    const struct options *o = options;
    printf("case %d of seed %llu %s\n", index, (unsigned long long)o->seed, how);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        shrink_crash(o, index, how);
        _exit(0);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
}
