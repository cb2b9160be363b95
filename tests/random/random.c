/* Random configurations, run in several ways that must give the same: `random --help`.
 *
 * A program without Check: it also runs on a machine that has a GPU and few libraries. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"
#include "compare_run.h"
#include "draw.h"
#include "workers.h"

enum { MOST_ATTEMPTS = 400, MOST_FILES = 1000 };

struct options {
    uint64_t seed;
    int count, first, jobs, seconds, print;
    const char *ways, *keep, *cases;
    char files[MOST_FILES][256]; /* of `cases` */
    int file_count;
};

static const char usage[] = "usage: random [options]\n"
                            "  --seed S      of all cases (1)\n"
                            "  --count N     cases 0 to N - 1 (40)\n"
                            "  --first I     cases I to I + N - 1\n"
                            "  --only I      case I alone\n"
                            "  --print I     print the configuration of case I and run nothing\n"
                            "  --cases DIR   the configurations DIR/*.ini in place of drawn ones\n"
                            "  --jobs J      processes (1)\n"
                            "  --ways LIST   beginnings of names, separated by commas (all that can be run here):\n"
                            "                %s\n"
                            "  --keep DIR    where configurations that differ are kept (build/random)\n"
                            "  --seconds T   after which a case has failed (120)\n";

static void print_usage(FILE *out)
{
    char names[1024] = "";
    for (int k = 0; k < compare_way_count; k++) {
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? " " : "", compare_ways[k].name);
    }
    fprintf(out, usage, names);
}

/* --- one case --- */

/* Draws until a configuration can be started; how many were refused, or -1. */
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

static int read_file(const char *path, struct draft *out)
{
    char text[DRAFT_TEXT];
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    return n > 0 && draft_read(out, text);
}

/* A directory of the case's own, in memory where there is such a place. */
static int make_directory(char *path, size_t size)
{
    const char *parent = getenv("TMPDIR");
    const char *shared = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(path, size, "%s/larmor-random-XXXXXX", parent && parent[0] ? parent : shared);
    return mkdtemp(path) != NULL;
}

static void name_case(const struct options *o, int index, char *out, size_t size)
{
    if (o->cases)
        snprintf(out, size, "%s", o->files[index]);
    else
        snprintf(out, size, "case-%llu-%d.ini", (unsigned long long)o->seed, index);
}

/* Lines of a comment. */
static void print_comment(FILE *out, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, "\n");
        fprintf(out, "# %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void keep(const struct options *o, int index, const struct draft *d, const char *about)
{
    char name[512], path[LM_MAX_PATH], text[DRAFT_TEXT];
    name_case(o, index, name, sizeof name);
    mkdir("build", 0777);
    mkdir(o->keep, 0777);
    FILE *f = lm_path(path, "%s/%s", o->keep, name) ? NULL : fopen(path, "w");
    if (!f) {
        fprintf(stderr, "%s/%s cannot be written: %s\n", o->keep, name, strerror(errno));
        return;
    }
    draft_text(d, text);
    print_comment(f, about);
    fputs(text, f);
    fclose(f);
}

static int get_case(const struct options *o, int index, const char *directory, struct draft *out)
{
    char path[LM_MAX_PATH];
    if (!o->cases)
        return draw_valid(o->seed, index, directory, out);
    return lm_path(path, "%s/%s", o->cases, o->files[index]) || !read_file(path, out) ? -1 : 0;
}

static void report_case(const struct options *o, int index, const struct draft *d, const struct compare_result *r)
{
    char name[512], about[8192];
    name_case(o, index, name, sizeof name);
    if (r->verdict == COMPARE_DIFFERENT) {
        snprintf(about, sizeof about, "%s: %s%s%s differs, first at step %lld\n%s", name, r->way,
                 r->others[0] ? ", also " : "", r->others, (long long)r->step, r->what);
        keep(o, index, d, about);
    } else {
        snprintf(about, sizeof about, "%s: %s: %s", name, r->verdict == COMPARE_BROKEN ? "BROKEN" : "REFUSED", r->what);
    }
    printf("%s\n", about);
    fflush(stdout);
}

static void run_case(void *context, int index, struct worker_report *report)
{
    const struct options *o = context;
    char directory[LM_MAX_PATH / 2];
    struct compare_result *r = calloc(1, sizeof *r);
    struct draft *d = calloc(1, sizeof *d);
    if (!r || !d || !make_directory(directory, sizeof directory)) {
        fprintf(stderr, "no memory or no directory for a case\n");
        exit(2);
    }
    report->refused = get_case(o, index, directory, d);
    if (report->refused < 0)
        snprintf(r->what, sizeof r->what, "no configuration could be drawn or read: %s\n", lm_error());
    r->verdict = COMPARE_BROKEN;
    if (report->refused >= 0)
        compare_draft(d, directory, o->ways, 0, r);
    report->differs = r->verdict == COMPARE_DIFFERENT;
    report->broken = r->verdict == COMPARE_BROKEN || r->verdict == COMPARE_REFUSED;
    report->stopped = r->has_stopped;
    report->ways = r->way_count;
    if (r->verdict != COMPARE_SAME)
        report_case(o, index, d, r);
    compare_remove(directory);
    free(r);
    free(d);
}

static void crashed(void *context, int index, const char *how)
{
    const struct options *o = context;
    char name[512];
    name_case(o, index, name, sizeof name);
    printf("%s: %s\n", name, how);
    fflush(stdout);
}

/* --- the program --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int list_cases(struct options *o)
{
    DIR *directory = opendir(o->cases);
    if (!directory) {
        fprintf(stderr, "%s: %s\n", o->cases, strerror(errno));
        return 0;
    }
    for (struct dirent *e; (e = readdir(directory)) != NULL && o->file_count < MOST_FILES;) {
        const size_t n = strlen(e->d_name);
        if (n > 4 && !strcmp(e->d_name + n - 4, ".ini"))
            snprintf(o->files[o->file_count++], sizeof o->files[0], "%s", e->d_name);
    }
    closedir(directory);
    qsort(o->files, (size_t)o->file_count, sizeof o->files[0], by_name);
    o->first = 0;
    o->count = o->file_count;
    return o->count > 0;
}

static int print_case(const struct options *o)
{
    static char text[DRAFT_TEXT];
    static struct draft d;
    char directory[LM_MAX_PATH / 2];
    if (!make_directory(directory, sizeof directory))
        return 2;
    const int refused = draw_valid(o->seed, o->print, directory, &d);
    compare_remove(directory);
    if (refused < 0)
        return 2;
    draft_text(&d, text);
    fputs(text, stdout);
    return 0;
}

/* 0: wrong. */
static int read_options(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {{"seed", 1, 0, 's'}, {"count", 1, 0, 'c'},   {"first", 1, 0, 'f'},
                                          {"only", 1, 0, 'o'}, {"print", 1, 0, 'p'},   {"cases", 1, 0, 'd'},
                                          {"jobs", 1, 0, 'j'}, {"ways", 1, 0, 'w'},    {"keep", 1, 0, 'k'},
                                          {"help", 0, 0, 'h'}, {"seconds", 1, 0, 't'}, {0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        const int number = optarg ? atoi(optarg) : 0;
        switch (c) {
        case 's':
            o->seed = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            o->count = number;
            break;
        case 'f':
            o->first = number;
            break;
        case 'o':
            o->first = number, o->count = 1;
            break;
        case 'p':
            o->print = number;
            break;
        case 'd':
            o->cases = optarg;
            break;
        case 'j':
            o->jobs = number;
            break;
        case 'w':
            o->ways = optarg;
            break;
        case 'k':
            o->keep = optarg;
            break;
        case 't':
            o->seconds = number;
            break;
        default:
            print_usage(c == 'h' ? stdout : stderr);
            return 0;
        }
    }
    return optind == argc && o->count > 0 && o->jobs > 0 && o->seconds > 0;
}

/* Threads that wait should not spin: cases share the machine. libgomp reads this before main. */
static void be_patient(char **argv)
{
    if (getenv("GOMP_SPINCOUNT"))
        return;
    setenv("GOMP_SPINCOUNT", "100", 1);
    execv("/proc/self/exe", argv);
}

static int run_all(struct options *o)
{
    const struct worker_task task = {o->first, o->count, o->jobs, o->seconds, run_case, crashed, o};
    struct worker_total t;
    const double before = lm_clock();
    if (workers_run(&task, &t)) {
        fprintf(stderr, "%s\n", lm_error());
        return 2;
    }
    printf("%d configurations, seed %llu, in %lld ways: %d different, %d crashed or too long, %d not compared; %d stop "
           "early; %lld drawn in vain; %.0f s, %.2f s a configuration\n",
           t.cases, (unsigned long long)o->seed, (long long)t.ways, t.different, t.crashed, t.broken, t.stopped,
           (long long)t.refused, lm_clock() - before, t.cases > 0 ? t.seconds / t.cases : 0);
    return t.different + t.crashed + t.broken > 0;
}

int main(int argc, char **argv)
{
    static struct options o = {.seed = 1, .count = 40, .jobs = 1, .seconds = 120, .print = -1, .ways = "all"};
    o.keep = "build/random";
    be_patient(argv);
    if (!read_options(argc, argv, &o))
        return 2;
    if (o.print >= 0)
        return print_case(&o);
    if (o.cases && !list_cases(&o))
        return 2;
    return run_all(&o);
}
