/* The command line of the program. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "checkpoint/checkpoint.h"
#include "distributed/distributed.h"
#include "larmor/run.h"
#include "output/info.h"
#include "base/provenance.h"
#include "base/text.h"
#include "base/threads.h"
#include "ranks/ranks.h"
#include "run/completion.h"
#include "run/scan.h"

static const char usage[] =
    "Larmor: hybrid particle-in-cell plasma simulation in two dimensions\n"
    "\n"
    "larmor run FILE.ini [section.key=value ...]   run a simulation\n"
    "    --backend auto|cpu|cuda   where (auto: the GPU if there is one)\n"
    "    --threads N               CPU threads (default: as many as have enough to do)\n"
    "    --output DIR              output directory\n"
    "    --restart CHECKPOINT.h5   go on from a checkpoint; `latest`: from the newest sound one of DIR, if there is "
    "one\n"
    "    --steps N                 end at step N\n"
    "    --overwrite               replace what an earlier run left in DIR\n"
    "    --quiet                   no progress; warnings and errors remain\n"
    "larmor scan FILE.ini section.key=A,B,C ...    a run for each combination of values, and one table of the results\n"
    "    --output DIR              directory of all runs (default FILE.scan); --quiet as above\n"
    "larmor check FILE.ini [section.key=value ...] print settings, memory, disk, limits and advice; run nothing\n"
    "    --ranks N                 also how N ranks of MPI would share the run\n"
    "    --time                    also how long the steps take, by steps of about a second; writes nothing\n"
    "larmor keys [--markdown]                      list every key: type, unit, range, default, meaning\n"
    "larmor info FILE.h5                           describe a file\n"
    "    --verify                  verify the checksum of a checkpoint, or of all checkpoints in a directory\n"
    "larmor fingerprint FILE.h5                    print a hash of the state in a checkpoint\n"
    "larmor bench [CASE ...]                       measure speed and memory (larmor bench --help)\n"
    "larmor completion                             print a script that completes commands, options and keys in bash\n"
    "larmor man                                    print the manual page\n"
    "larmor --version\n"
    "Figures, reports and a page that follows a run are commands of the Python package: python3 -m larmor --help\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong input, 3 stopped early with a checkpoint, 4 (check) beyond a limit.\n"
    "A run for which the machine has too little memory is wrong input.\n";

struct options {
    struct lm_run_options run;
    const char *backend, *threads, *output, *steps, *ranks;
    int help, markdown, verify, time;
    int count;
    const char **words; /* arguments that are not options */
};

#define HELP                                                                                                           \
    {                                                                                                                  \
        "help", no_argument, 0, 'h'                                                                                    \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        0, 0, 0, 0                                                                                                     \
    }
static const struct option run_options[] = {{"backend", required_argument, 0, 'b'},
                                            {"threads", required_argument, 0, 't'},
                                            {"output", required_argument, 0, 'o'},
                                            {"restart", required_argument, 0, 'r'},
                                            {"steps", required_argument, 0, 's'},
                                            {"overwrite", no_argument, 0, 'w'},
                                            {"quiet", no_argument, 0, 'q'},
                                            HELP,
                                            END};
static const struct option scan_options[] = {
    {"output", required_argument, 0, 'o'}, {"quiet", no_argument, 0, 'q'}, HELP, END};
static const struct option check_options[] = {{"ranks", required_argument, 0, 'n'},
                                              {"time", no_argument, 0, 'T'},
                                              {"backend", required_argument, 0, 'b'},
                                              {"threads", required_argument, 0, 't'},
                                              {"output", required_argument, 0, 'o'},
                                              {"steps", required_argument, 0, 's'},
                                              HELP,
                                              END};
static const struct option keys_options[] = {{"markdown", no_argument, 0, 'm'}, HELP, END};
static const struct option info_options[] = {{"verify", no_argument, 0, 'v'}, HELP, END};
static const struct option no_options[] = {HELP, END};

static int bad_usage(const char *what, const char *word)
{
    return lm_fail(LM_BAD_INPUT, "%s%s; see larmor --help", what, word);
}

static void take_option(struct options *o, int letter)
{
    switch (letter) {
    case 'b':
        o->backend = optarg;
        break;
    case 't':
        o->threads = optarg;
        break;
    case 'o':
        o->output = optarg;
        break;
    case 'r':
        o->run.restart = optarg;
        break;
    case 's':
        o->steps = optarg;
        break;
    case 'n':
        o->ranks = optarg;
        break;
    case 'w':
        o->run.overwrite = 1;
        break;
    case 'q':
        o->run.quiet = 1;
        break;
    case 'm':
        o->markdown = 1;
        break;
    case 'v':
        o->verify = 1;
        break;
    case 'T':
        o->time = 1;
        break;
    default:
        o->help = 1;
    }
}

static int parse_options(int argc, char **argv, const struct option *longs, struct options *o)
{
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1;) {
        const char *word = argv[optind - 1];
        char letter[3] = {'-', (char)optopt, 0};
        if (c == ':')
            return bad_usage("an option needs a value: ", word);
        if (c == '?')
            return bad_usage("no such option here: ", strncmp(word, "--", 2) ? letter : word);
        if (optarg && !strncmp(optarg, "--", 2))
            return bad_usage("an option needs a value, before ", optarg);
        if (optarg && !*optarg)
            return bad_usage("an option's value is empty", "");
        take_option(o, c);
    }
    o->words = (const char **)argv + optind;
    o->count = argc - optind;
    return LM_OK;
}

/* Turns an option that stands for a key into an override "key=text". */
static void option_override(char *store, const char *key, const char *text, const char **list, int *count)
{
    if (!text)
        return;
    snprintf(store, LM_MAX_PATH, "%s=%s", key, text);
    list[(*count)++] = store;
}

static int read_config(const struct options *o, struct lm_config *config)
{
    char extra[4][LM_MAX_PATH];
    int count = 0;
    if (o->count < 1)
        return bad_usage("which file? ", "larmor run FILE.ini");
    const char **list = malloc((size_t)(o->count + 4) * sizeof *list);
    if (!list)
        return lm_fail(LM_FAILED, "not enough memory");
    for (int k = 1; k < o->count; k++)
        list[count++] = o->words[k];
    option_override(extra[0], "run.backend", o->backend, list, &count);
    option_override(extra[1], "run.threads", o->threads, list, &count);
    option_override(extra[2], "output.directory", o->output, list, &count);
    option_override(extra[3], "run.steps", o->steps, list, &count);
    int status = lm_config_check_repeats(count, list);
    if (!status)
        status = lm_config_read(o->words[0], count, list, config);
    free(list);
    return status;
}

static int with_config(const struct options *o, int (*action)(const struct lm_config *, const struct options *))
{
    struct lm_config *config = calloc(1, sizeof *config);
    if (!config)
        return lm_fail(LM_FAILED, "not enough memory");
    int status = read_config(o, config);
    if (config->notes && !o->run.quiet)
        fputs(config->notes, stderr);
    if (!status)
        status = action(config, o);
    lm_config_free(config);
    free(config);
    return status;
}

static int run_file(const struct lm_config *config, const struct options *o)
{
    return lm_run(config, &o->run);
}

static int command_run(const struct options *o)
{
    return with_config(o, run_file);
}

static int command_scan(const struct options *o)
{
    if (o->count < 1)
        return bad_usage("which file? ", "larmor scan FILE.ini section.key=A,B,C");
    return lm_scan(o->words[0], o->count - 1, o->words + 1, o->output, o->run.quiet);
}

static int check_file(const struct lm_config *config, const struct options *o)
{
    char *end = NULL;
    const long ranks = o->ranks ? strtol(o->ranks, &end, 10) : 0;
    if (o->ranks && (*end || ranks < 1 || ranks > 1000000))
        return bad_usage("--ranks takes a number from 1 to 1000000, not ", o->ranks);
    lm_ranks_plan((int)ranks);
    const int status = lm_check(config, stdout);
    if (!o->time || (status && status != LM_BEYOND))
        return status;
    char beyond[LM_MAX_MESSAGE];
    snprintf(beyond, sizeof beyond, "%s", status ? lm_error() : "");
    const int failed = lm_check_time(config, stdout);
    if (failed && status)
        printf("time\n  not measured: %s\n", lm_error());
    return status ? lm_fail(status, "%s", beyond) : failed;
}

static int command_check(const struct options *o)
{
    return with_config(o, check_file);
}

static int command_keys(const struct options *o)
{
    if (o->count > 0)
        return bad_usage("larmor keys takes no file: ", o->words[0]);
    lm_keys_print(stdout, o->markdown);
    return LM_OK;
}

static int command_info(const struct options *o)
{
    if (o->count != 1)
        return bad_usage("which file? ", "larmor info FILE.h5");
    return o->verify ? lm_checkpoint_verify(o->words[0], stdout) : lm_info_print(o->words[0], stdout);
}

static int command_fingerprint(const struct options *o)
{
    uint64_t fingerprint;
    if (o->count != 1)
        return bad_usage("which file? ", "larmor fingerprint FILE.h5");
    int status = lm_checkpoint_fingerprint(o->words[0], &fingerprint);
    if (!status)
        printf("%016llx\n", (unsigned long long)fingerprint);
    return status;
}

static int command_help(const struct options *o)
{
    (void)o;
    fputs(usage, stdout);
    return LM_OK;
}

static int no_words(const struct options *o, const char *command)
{
    return o->count > 0 ? bad_usage(command, o->words[0]) : LM_OK;
}

static int command_man(const struct options *o)
{
    const int status = no_words(o, "larmor man takes no file: ");
    if (!status)
        lm_keys_man(stdout, usage);
    return status;
}

static int command_completion(const struct options *o);

static int command_version(const struct options *o)
{
    (void)o;
    lm_version_print(stdout);
    return LM_OK;
}

static const struct {
    const char *name;
    const struct option *options;
    int (*action)(const struct options *);
} commands[] = {
    {"run", run_options, command_run},       {"scan", scan_options, command_scan},
    {"check", check_options, command_check}, {"keys", keys_options, command_keys},
    {"info", info_options, command_info},    {"fingerprint", no_options, command_fingerprint},
    {"man", no_options, command_man},        {"completion", no_options, command_completion},
    {"help", no_options, command_help},      {"--help", no_options, command_help},
    {"-h", no_options, command_help},        {"--version", no_options, command_version},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int command_completion(const struct options *o)
{
    struct lm_command_words words[COMMANDS + 1] = {{"bench", no_options}};
    size_t count = 1;
    for (size_t k = 0; k < COMMANDS; k++)
        if (commands[k].name[0] != '-')
            words[count++] = (struct lm_command_words){commands[k].name, commands[k].options};
    const int status = no_words(o, "larmor completion takes no word: ");
    if (!status)
        lm_completion_print(stdout, words, count);
    return status;
}

/* The commands of the Python package larmor, which draw figures of runs. */
static int is_of_python(const char *word)
{
    static const char *const names[] = {"energy",     "power", "growth",  "fields",      "movie",
                                        "anisotropy", "probe", "orbits",  "spectrum",    "report",
                                        "live",       "xdmf",  "compare", "distribution"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(word, names[k]))
            return 1;
    return 0;
}

static int unknown_command(const char *word)
{
    const char *best = NULL;
    const size_t n = strlen(word);
    int distance = lm_text_tolerance(word) + 1;
    if (n > 4 && !strcmp(word + n - 4, ".ini"))
        return lm_fail(LM_BAD_INPUT, "unknown command %s: a file comes after its command, as in larmor run %s", word,
                       word);
    if (is_of_python(word))
        return lm_fail(
            LM_BAD_INPUT,
            "%s is a command of the Python package: tools/python.sh -m larmor %s DIR in the directory of the "
            "sources, or python3 -m larmor %s DIR after pip install ./diagnostics",
            word, word, word);
    lm_text_nearer(word, "bench", &best, &distance);
    for (size_t k = 0; k < COMMANDS; k++)
        lm_text_nearer(word, commands[k].name, &best, &distance);
    return lm_fail(LM_BAD_INPUT, "unknown command %s%s%s%s; see larmor --help", word, best ? ", did you mean " : "",
                   best ? best : "", best ? "?" : "");
}

static int dispatch(int argc, char **argv)
{
    struct options o = {.count = 0};
    if (!strcmp(argv[0], "bench"))
        return lm_bench_command(argc, argv);
    for (size_t k = 0; k < COMMANDS; k++) {
        if (strcmp(argv[0], commands[k].name))
            continue;
        int status = parse_options(argc, argv, commands[k].options, &o);
        if (status)
            return status;
        return o.help ? command_help(&o) : commands[k].action(&o);
    }
    return unknown_command(argv[0]);
}

/* Where the caller has closed a standard descriptor, a data file would get its number, and messages would go into that
 * file. So such descriptors are opened on /dev/null, in the direction in which nobody uses them: reading stdin and
 * writing stdout and stderr stay errors. */
static int fill_descriptors(void)
{
    for (int k = STDIN_FILENO; k <= STDERR_FILENO; k++)
        if (fcntl(k, F_GETFD) < 0 && open("/dev/null", k == STDIN_FILENO ? O_WRONLY : O_RDONLY) != k)
            return lm_fail(LM_FAILED, "descriptor %d is closed and /dev/null cannot be opened: %s", k, strerror(errno));
    return LM_OK;
}

int main(int argc, char **argv)
{
    lm_threads_wait_briefly(argv);
    if (fill_descriptors())
        return LM_FAILED;
    if (argc < 2) {
        fputs(usage, stderr);
        return LM_BAD_INPUT;
    }
    lm_ranks_begin();
    if (lm_rank_count() > 1)
        lm_threads_share(lm_ranks_here());
    if (lm_rank() > 0) {
        lm_distributed_serve();
        lm_ranks_end();
        return LM_OK;
    }
    lm_provenance_set_command(argc, argv);
    int status = dispatch(argc - 1, argv + 1);
    if ((!status || status == LM_BEYOND) && (fflush(stdout) || ferror(stdout)))
        status = lm_fail(LM_FAILED, "standard output: %s", strerror(errno));
    if (status)
        fprintf(stderr, "%s%s\n", status == LM_STOPPED ? "" : "larmor: ", lm_error());
    lm_distributed_dismiss();
    lm_ranks_end();
    return status;
}
