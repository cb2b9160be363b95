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
#include "distributed/distributed.h"
#include "one_case.h"
#include "ranks/ranks.h"

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
                            "  --seconds T   after which a case has failed (120)\n"
                            "  --no-shrink   keep configurations as they are\n";

static void print_usage(FILE *out)
{
    char names[1024] = "";
    for (int k = 0; k < compare_way_count; k++) {
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? " " : "", compare_ways[k].name);
    }
    fprintf(out, usage, names);
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
    if (one_case_draw(o, o->print, &d) < 0)
        return 2;
    draft_text(&d, text);
    fputs(text, stdout);
    return 0;
}

static void set_seed(struct options *o, const char *text)
{
    o->seed = strtoull(text, NULL, 10);
}

static void set_only(struct options *o, const char *text)
{
    o->first = atoi(text);
    o->count = 1;
}

static void set_no_shrink(struct options *o, const char *text)
{
    (void)text;
    o->shrinks = 0;
}

#define NUMBER(member)                                                                                                 \
    static void set_##member(struct options *o, const char *text)                                                      \
    {                                                                                                                  \
        o->member = atoi(text);                                                                                        \
    }
#define TEXT(member)                                                                                                   \
    static void set_##member(struct options *o, const char *text)                                                      \
    {                                                                                                                  \
        o->member = text;                                                                                              \
    }
NUMBER(count)
NUMBER(first)
NUMBER(print)
NUMBER(jobs)
NUMBER(seconds)
TEXT(cases)
TEXT(ways)
TEXT(keep)

/* Returns 0 when the words are wrong or help was asked for. */
static int read_options(int argc, char **argv, struct options *o)
{
    enum { OPTIONS = 11 };
    static const struct option names[OPTIONS + 2] = {{"seed", 1, 0, 0},
                                                     {"count", 1, 0, 0},
                                                     {"first", 1, 0, 0},
                                                     {"only", 1, 0, 0},
                                                     {"print", 1, 0, 0},
                                                     {"cases", 1, 0, 0},
                                                     {"jobs", 1, 0, 0},
                                                     {"ways", 1, 0, 0},
                                                     {"keep", 1, 0, 0},
                                                     {"seconds", 1, 0, 0},
                                                     {"no-shrink", 0, 0, 0},
                                                     {"help", 0, 0, 0},
                                                     {0}};
    static void (*const set[OPTIONS])(struct options *, const char *) = {set_seed,  set_count,   set_first,    set_only,
                                                                         set_print, set_cases,   set_jobs,     set_ways,
                                                                         set_keep,  set_seconds, set_no_shrink};
    int k = 0;
    for (int c; (c = getopt_long(argc, argv, "", names, &k)) != -1;) {
        if (c != 0 || k == OPTIONS) {
            print_usage(c == 0 ? stdout : stderr);
            return 0;
        }
        set[k](o, optarg);
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
    const struct worker_task task = {o->first, o->count, o->jobs, o->seconds, one_case_run, one_case_crashed, o};
    struct worker_total t;
    const double before = lm_clock();
    char directory[LM_MAX_PATH / 2]; /* the directory that holds those of the cases, also of one that crashes */
    if (!one_case_directory(directory) || setenv("TMPDIR", directory, 1)) {
        fprintf(stderr, "%s: no directory for the cases can be made\n", directory);
        return 2;
    }
    const int failed = workers_run(&task, &t);
    compare_remove(directory);
    if (failed) {
        fprintf(stderr, "%s\n", lm_error());
        return 2;
    }
    printf("%d configurations, seed %llu, in %lld ways: %d different, %d crashed or too long, %d not compared; %d stop "
           "early; %lld drawn in vain; %.0f s, %.2f s a configuration\n",
           t.cases, (unsigned long long)o->seed, (long long)t.ways, t.different, t.crashed, t.broken, t.stopped,
           (long long)t.refused, lm_clock() - before, t.cases > 0 ? t.seconds / t.cases : 0);
    return t.different + t.crashed + t.broken > 0;
}

static int drive(int argc, char **argv)
{
    static struct options o = {
        .seed = 1, .count = 40, .jobs = 1, .seconds = 120, .print = -1, .ways = "all", .shrinks = 1};
    o.keep = "build/random";
    if (!read_options(argc, argv, &o))
        return 2;
    if (o.print >= 0)
        return print_case(&o);
    if (o.cases && !list_cases(&o))
        return 2;
    return run_all(&o);
}

/* With many ranks, rank 0 does all the work but that of backends. */
int main(int argc, char **argv)
{
    be_patient(argv);
    lm_ranks_begin();
    lm_ranks_use(1); /* unless a way takes more */
    const int status = lm_rank() > 0 ? lm_distributed_serve() : drive(argc, argv);
    lm_distributed_dismiss();
    lm_ranks_end();
    return status;
}
