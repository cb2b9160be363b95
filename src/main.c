/* The command line. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/run.h"

static const char usage[] =
    "Larmor: hybrid particle-in-cell plasma simulation in two dimensions\n"
    "\n"
    "larmor run FILE.ini [section.key=value ...]   run a simulation\n"
    "    --backend auto|cpu|cuda   where (auto: the GPU if there is one)\n"
    "    --threads N               CPU threads (default: all)\n"
    "    --output DIR              output directory\n"
    "    --restart CHECKPOINT.h5   go on from a checkpoint\n"
    "    --steps N                 end at step N\n"
    "    --overwrite               replace what an earlier run left in DIR\n"
    "    --quiet                   no progress\n"
    "larmor check FILE.ini [section.key=value ...] resolved settings, memory, limits, advice; runs nothing\n"
    "larmor keys [--markdown]                      every key: type, unit, range, default, meaning\n"
    "larmor info FILE.h5                           what a file holds\n"
    "larmor fingerprint FILE.h5                    hash of the state in a checkpoint, the same on every machine\n"
    "larmor --version\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong input, 3 stopped early with a checkpoint.\n";

struct options {
    struct lm_run_options run;
    const char *backend, *threads, *output, *steps;
    int markdown;
    int count;
    const char **words; /* what is no option */
};

static int bad_usage(const char *what, const char *word)
{
    return lm_fail(LM_BAD_INPUT, "%s%s; see larmor --help", what, word);
}

static int parse_options(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {{"backend", required_argument, 0, 'b'}, {"threads", required_argument, 0, 't'},
                                          {"output", required_argument, 0, 'o'},  {"restart", required_argument, 0, 'r'},
                                          {"steps", required_argument, 0, 's'},   {"overwrite", no_argument, 0, 'w'},
                                          {"quiet", no_argument, 0, 'q'},         {"markdown", no_argument, 0, 'm'},
                                          {0, 0, 0, 0}};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":qo:", longs, NULL)) != -1;) {
        switch (c) {
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
        case 'w':
            o->run.overwrite = 1;
            break;
        case 'q':
            o->run.quiet = 1;
            break;
        case 'm':
            o->markdown = 1;
            break;
        case ':':
            return bad_usage("an option needs a value: ", argv[optind - 1]);
        default:
            return bad_usage("unknown option ", argv[optind - 1]);
        }
    }
    o->words = (const char **)argv + optind;
    o->count = argc - optind;
    return LM_OK;
}

/* An option that stands for a key becomes an override like any other. */
static void option_override(char *store, const char *key, const char *text, const char **list, int *count)
{
    if (!text)
        return;
    snprintf(store, LM_MAX_PATH, "%s=%s", key, text);
    list[(*count)++] = store;
}

static int read_config(const struct options *o, struct lm_config *config)
{
    char extra[3][LM_MAX_PATH];
    const char **list = malloc((size_t)(o->count + 3) * sizeof *list);
    int count = 0;
    if (o->count < 1 || !list) {
        free(list);
        return bad_usage("which file? ", "larmor run FILE.ini");
    }
    for (int k = 1; k < o->count; k++)
        list[count++] = o->words[k];
    option_override(extra[0], "run.backend", o->backend, list, &count);
    option_override(extra[1], "run.threads", o->threads, list, &count);
    option_override(extra[2], "output.directory", o->output, list, &count);
    int status = lm_config_read(o->words[0], count, list, config);
    free(list);
    if (!status && o->steps) {
        char *end;
        config->run.steps = strtoll(o->steps, &end, 10);
        if (!*o->steps || *end || config->run.steps < 0)
            return bad_usage("--steps takes a whole number, not ", o->steps);
    }
    return status;
}

static int with_config(const struct options *o, int (*action)(const struct lm_config *, const struct options *))
{
    struct lm_config *config = calloc(1, sizeof *config);
    if (!config)
        return lm_fail(LM_FAILED, "not enough memory");
    int status = read_config(o, config);
    if (!status)
        status = action(config, o);
    lm_config_free(config);
    free(config);
    return status;
}

static int command_run(const struct lm_config *config, const struct options *o)
{
    return lm_run(config, &o->run);
}

static int command_check(const struct lm_config *config, const struct options *o)
{
    (void)o;
    return lm_check(config, stdout);
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

static int command_info(const struct options *o)
{
    return o->count == 1 ? lm_info_print(o->words[0], stdout) : bad_usage("which file? ", "larmor info FILE.h5");
}

static int dispatch(const char *command, int argc, char **argv)
{
    struct options o = {.count = 0};
    int status = parse_options(argc, argv, &o);
    if (status)
        return status;
    if (!strcmp(command, "run"))
        return with_config(&o, command_run);
    if (!strcmp(command, "check"))
        return with_config(&o, command_check);
    if (!strcmp(command, "info"))
        return command_info(&o);
    if (!strcmp(command, "fingerprint"))
        return command_fingerprint(&o);
    if (!strcmp(command, "keys")) {
        lm_keys_print(stdout, o.markdown);
        return LM_OK;
    }
    return bad_usage("unknown command ", command);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs(usage, stderr);
        return LM_BAD_INPUT;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        fputs(usage, stdout);
        return LM_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        lm_version_print(stdout);
        return LM_OK;
    }
    int status = dispatch(argv[1], argc - 1, argv + 1);
    if (status)
        fprintf(stderr, "%s%s\n", status == LM_STOPPED ? "" : "larmor: ", lm_error());
    return status;
}
