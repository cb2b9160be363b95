/* The command line of `larmor bench`. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "larmor/config.h"

static const char usage[] =
    "larmor bench [CASE ...]       measure speed and memory; without a case all of them\n"
    "    --list                    names of the cases\n"
    "    --backend auto|cpu|cuda   where (auto: the GPU if there is one)\n"
    "    --threads N               CPU threads (default: all)\n"
    "    --json FILE               also write all tables to FILE\n"
    "    --repeats N               repeats of each measurement; median, least and largest are reported\n"
    "    --cells N                 cells along each side (default: GPU 1024, CPU 256; ops 4096, 2048)\n"
    "    --ppc N                   particles per cell (default: GPU 128, CPU 64)\n"
    "    --quick                   small problems: they show that the cases work, not how fast\n"
    "    --fill                    case memory: run as many particles as fit the device\n"
    "\n"
    "'of copy' is the bandwidth for the least number of bytes that must be read and written, over the measured\n"
    "copy bandwidth: position and velocity of each particle once, 80 bytes a step in double precision, 40 in single.\n"
    "\n"
    "Exit codes: 0 done, 1 a case failed or results that must be equal are not, 2 wrong input.\n";

enum { BACKEND = 1, THREADS, JSON, REPEATS, CELLS, PPC, QUICK, FILL, LIST, HELP };

static const struct option options[] = {{"backend", required_argument, 0, BACKEND},
                                        {"threads", required_argument, 0, THREADS},
                                        {"json", required_argument, 0, JSON},
                                        {"repeats", required_argument, 0, REPEATS},
                                        {"cells", required_argument, 0, CELLS},
                                        {"ppc", required_argument, 0, PPC},
                                        {"quick", no_argument, 0, QUICK},
                                        {"fill", no_argument, 0, FILL},
                                        {"list", no_argument, 0, LIST},
                                        {"help", no_argument, 0, HELP},
                                        {0, 0, 0, 0}};

struct request {
    struct lm_bench_options bench;
    int list, help;
};

static int bad_usage(const char *what, const char *word)
{
    return lm_fail(LM_BAD_INPUT, "%s%s; see larmor bench --help", what, word);
}

static int take_number(const char *name, double low, double high, double *out)
{
    char *end;
    *out = strtod(optarg, &end);
    if (end == optarg || *end || !(*out >= low && *out <= high))
        return lm_fail(LM_BAD_INPUT, "--%s %s: a number from %g to %g is wanted; see larmor bench --help", name, optarg,
                       low, high);
    return LM_OK;
}

static int take_whole(const char *name, int low, int high, int *out)
{
    double value;
    int status = take_number(name, low, high, &value);
    *out = status ? 0 : (int)value;
    return status || value == *out ? status : bad_usage("a whole number is wanted, not ", optarg);
}

static int take_backend(int *out)
{
    static const char *const names[] = {"auto", "cpu", "cuda"};
    static const int kinds[] = {LM_BACKEND_AUTO, LM_BACKEND_CPU, LM_BACKEND_CUDA};
    for (int k = 0; k < 3; k++)
        if (!strcmp(optarg, names[k])) {
            *out = kinds[k];
            return LM_OK;
        }
    return bad_usage("--backend is auto, cpu or cuda, not ", optarg);
}

static int take_option(struct request *r, int option)
{
    struct lm_bench_options *o = &r->bench;
    switch (option) {
    case BACKEND:
        return take_backend(&o->backend);
    case THREADS:
        return take_whole("threads", 0, 4096, &o->threads);
    case REPEATS:
        return take_whole("repeats", 1, LM_BENCH_MAX_REPEATS, &o->repeats);
    case CELLS:
        return take_whole("cells", 16, 32768, &o->cells);
    case PPC:
        return take_number("ppc", 1, 1e6, &o->ppc);
    case JSON:
        o->json = optarg;
        return LM_OK;
    case QUICK:
        o->quick = 1;
        return LM_OK;
    case FILL:
        o->fill = 1;
        return LM_OK;
    case LIST:
        r->list = 1;
        return LM_OK;
    default:
        r->help = 1;
        return LM_OK;
    }
}

static int parse(int argc, char **argv, struct request *r)
{
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == ':')
            return bad_usage("an option needs a value: ", argv[optind - 1]);
        if (c == '?')
            return bad_usage("no such option here: ", argv[optind - 1]);
        int status = take_option(r, c);
        if (status)
            return status;
    }
    r->bench.cases = (const char *const *)argv + optind;
    r->bench.count = argc - optind;
    return LM_OK;
}

int lm_bench_command(int argc, char **argv)
{
    struct request r = {.list = 0};
    int status = parse(argc, argv, &r);
    if (status)
        return status;
    if (r.help)
        fputs(usage, stdout);
    else if (r.list)
        lm_bench_list(stdout);
    else
        return lm_bench(&r.bench, stdout);
    return LM_OK;
}
