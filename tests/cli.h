/* Runs the program ($LARMOR) as a user does, in the scratch directory. */
#ifndef LARMOR_TESTS_CLI_H
#define LARMOR_TESTS_CLI_H

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>

#include "scratch.h"
#include "suite.h"

enum { CLI_WORDS = 32, CLI_TEXT = 1 << 16 };

/* What a call has printed, and options for the next call. */
struct cli {
    char out[CLI_TEXT], err[CLI_TEXT];
    void (*prepare)(void); /* called in the child before the program starts; or NULL */
    FILE *files[2];
    pid_t pid;
};
static struct cli cli;

/* 12 x 8 cells, 768 particles, within all limits; 40 steps take some milliseconds. */
static const char cli_small[] = "[run]\nsteps = 40\ndt = 0.02\nthreads = 1\nbackend = cpu\n"
                                "[grid]\nnx = 12\nny = 8\nlx = 6\nly = 4\n"
                                "[electrons]\ntemperature = 0.5\n"
                                "[fields]\nbx = 1\n"
                                "[species.protons]\nparticles_per_cell = 8\ntemperature = 0.5\nstart = quiet\n";

static inline int cli_lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Splits a line at blanks; '' stands for an empty word. */
static inline void cli_split(char *line, char **words)
{
    int n = 1;
    for (char *w = strtok(line, " "); w && n < CLI_WORDS - 1; w = strtok(NULL, " "))
        words[n++] = strcmp(w, "''") ? w : "";
    words[n] = NULL;
}

static inline void cli_child(char **words)
{
    dup2(fileno(cli.files[0]), STDOUT_FILENO);
    dup2(fileno(cli.files[1]), STDERR_FILENO);
    if (chdir(scratch))
        _exit(126);
    if (cli.prepare)
        cli.prepare();
    execv(words[0], words);
    _exit(127);
}

/* Starts the program with these words; cli_end waits for it. */
static inline void cli_begin_list(const char *format, va_list args)
{
    static char line[8192];
    char *words[CLI_WORDS] = {getenv("LARMOR")};
    ck_assert_msg(words[0] != NULL, "LARMOR must be the path of the program");
    vsnprintf(line, sizeof line, format, args);
    cli_split(line, words);
    for (int k = 0; k < 2; k++)
        cli.files[k] = tmpfile();
    ck_assert(cli.files[0] && cli.files[1]);
    /* A signal that comes at once must not meet Check's handlers in the child, because they would end the test. */
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &before);
    cli.pid = fork();
    if (cli.pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL); /* nohup ignores SIGHUP, and the tests may run under it */
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (cli.pid == 0)
        cli_child(words);
    ck_assert(cli.pid > 0);
}

__attribute__((format(printf, 1, 2))) static inline void cli_begin(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_begin_list(format, args);
    va_end(args);
}

/* Exit code, or 128 + signal. */
static inline int cli_end(void)
{
    int status = 0;
    char *const texts[2] = {cli.out, cli.err};
    ck_assert_int_eq(waitpid(cli.pid, &status, 0), cli.pid);
    for (int k = 0; k < 2; k++) {
        rewind(cli.files[k]);
        texts[k][fread(texts[k], 1, CLI_TEXT - 1, cli.files[k])] = 0;
        fclose(cli.files[k]);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

__attribute__((format(printf, 1, 2))) static inline int cli_call(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli_begin_list(format, args);
    va_end(args);
    return cli_end();
}

/* The call ends with this exit code. */
#define CLI(code, ...)                                                                                                 \
    do {                                                                                                               \
        int cli_code = cli_call(__VA_ARGS__);                                                                          \
        ck_assert_msg(cli_code == (code), "exit code %d instead of %d: %s", cli_code, (code), cli.err);                \
    } while (0)

static inline void cli_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is missing in: %s", part, text);
}

/* A whole file of the scratch directory, to be freed; NULL when there is none. */
static inline char *cli_read(const char *name)
{
    FILE *in = fopen(scratch_path(name), "rb");
    if (!in)
        return NULL;
    fseek(in, 0, SEEK_END);
    size_t n = (size_t)ftell(in);
    char *text = malloc(n + 1);
    rewind(in);
    text[fread(text, 1, n, in)] = 0;
    fclose(in);
    return text;
}

static inline int cli_exists(const char *name)
{
    return access(scratch_path(name), F_OK) == 0;
}

static inline int cli_by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static inline uint64_t cli_mix(uint64_t sum, const void *data, size_t n)
{
    for (size_t k = 0; k < n; k++)
        sum = (sum ^ ((const unsigned char *)data)[k]) * 0x100000001b3u;
    return sum;
}

/* Hash of all names and bytes in the scratch directory. */
static inline uint64_t cli_snapshot(void)
{
    char *const roots[] = {scratch, NULL};
    char block[4096];
    uint64_t sum = 0xcbf29ce484222325u;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, cli_by_name);
    ck_assert_ptr_nonnull(tree);
    for (FTSENT *e; (e = fts_read(tree)) != NULL;) {
        sum = cli_mix(sum, e->fts_path, strlen(e->fts_path) + 1);
        FILE *in = e->fts_info == FTS_F ? fopen(e->fts_path, "rb") : NULL;
        for (size_t n; in && (n = fread(block, 1, sizeof block, in)) > 0;)
            sum = cli_mix(sum, block, n);
        if (in)
            fclose(in);
    }
    fts_close(tree);
    return sum;
}

/* Wrong input: exit code 2, one message that has these words, nothing on stdout, no byte changed. */
static inline void cli_refuses(const char *command, const char *expected, const char *more)
{
    uint64_t before = cli_snapshot();
    int code = cli_call("%s", command);
    ck_assert_msg(code == 2, "%s: exit code %d: %s", command, code, cli.err);
    ck_assert_msg(strstr(cli.err, expected) && (!more || strstr(cli.err, more)), "%s: '%s', '%s' missing in: %s",
                  command, expected, more ? more : "", cli.err);
    ck_assert_msg(!strncmp(cli.err, "larmor: ", 8) && !strstr(cli.err + 1, "larmor: "), "not one message: %s", cli.err);
    ck_assert_msg(cli.out[0] == 0, "%s: printed %s", command, cli.out);
    ck_assert_msg(before == cli_snapshot(), "%s: changed the directory", command);
}

/* The fingerprint in DIRECTORY/run.json. */
static inline const char *cli_fingerprint(const char *directory)
{
    static char turns[4][32];
    static int turn;
    char *print = turns[turn++ % 4], name[256];
    snprintf(name, sizeof name, "%s/run.json", directory);
    char *json = cli_read(name), *at = json ? strstr(json, "\"fingerprint\": \"") : NULL;
    ck_assert_msg(at != NULL, "%s has no fingerprint", name);
    snprintf(print, 32, "%.16s", at + 16);
    free(json);
    return print;
}

static inline void cli_sleep(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static inline int cli_main(Suite *suite)
{
    return suite_run(suite);
}

/* Fixture: a directory with small.ini. */
static inline void cli_setup(void)
{
    scratch_make();
    make_file("small.ini", cli_small);
}

#endif
