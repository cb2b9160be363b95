#define _GNU_SOURCE
#include "run/signals.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/stop.h"

static const struct {
    int number;
    int stays_ignored; /* where it is ignored at the start */
    const char *name;
} requests[] = {{SIGINT, 1, "interrupted (SIGINT)"},     {SIGTERM, 0, "terminated (SIGTERM)"},
                {SIGHUP, 1, "hung up (SIGHUP)"},         {SIGUSR1, 0, "asked to stop (SIGUSR1)"},
                {SIGUSR2, 0, "asked to stop (SIGUSR2)"}, {SIGXCPU, 0, "CPU-time limit (SIGXCPU)"}};
static const int ignored[] = {SIGPIPE, SIGXFSZ};

enum { REQUESTS = sizeof requests / sizeof *requests, IGNORED = sizeof ignored / sizeof *ignored };

static const double PAUSE = 1; /* seconds between a SIGINT or SIGTERM and the next that counts */

static struct sigaction before[REQUESTS];
static volatile sig_atomic_t writing; /* there is something to keep */
static volatile double insisted;      /* when the first SIGINT or SIGTERM came; 0: none has */

/* Two texts in turn, so that a handler never reads a text while it changes. */
static char texts[2][LM_MAX_PATH];
static volatile sig_atomic_t text;

const char *lm_signals_name(int number)
{
    for (int k = 0; k < REQUESTS; k++)
        if (requests[k].number == number)
            return requests[k].name;
    return number == LM_STOP_TIME ? "wall-time limit (output.wall_limit)" : "stopped";
}

/* A handler may not use stdio, which may hold a lock. Errors of writing are ignored. */
static void say(const char *words)
{
    if (write(STDERR_FILENO, words, strlen(words)) < 0)
        return;
}

/* Ends the program by the signal itself, as its caller expects. */
static void end_at_once(int number, const char *why)
{
    say("\nlarmor: ");
    say(lm_signals_name(number));
    say(why);
    say("\n");
    signal(number, SIG_DFL);
    raise(number); /* takes effect when the handler returns */
}

static void on_signal(int number)
{
    const int insists = number == SIGINT || number == SIGTERM;
    const double now = lm_clock();
    if (!writing) {
        end_at_once(number, " while the run was being prepared: nothing has been written");
        return;
    }
    lm_stop_ask(number);
    if (insists && insisted > 0 && now - insisted >= PAUSE)
        end_at_once(number, texts[text]);
    if (insists && insisted == 0)
        insisted = now;
}

void lm_signals_tell(const char *words)
{
    const int other = !text;
    snprintf(texts[other], sizeof texts[other], " a second time: ended at once; %s", words);
    text = other;
}

void lm_signals_begin(void)
{
    struct sigaction catch = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, ignore = {.sa_handler = SIG_IGN};
    sigfillset(&catch.sa_mask);
    lm_stop_reset();
    writing = 0;
    insisted = 0;
    lm_signals_tell("there is no checkpoint yet");
    for (int k = 0; k < REQUESTS; k++) {
        sigaction(requests[k].number, NULL, &before[k]);
        if (!requests[k].stays_ignored || before[k].sa_handler != SIG_IGN)
            sigaction(requests[k].number, &catch, NULL);
    }
    for (int k = 0; k < IGNORED; k++)
        sigaction(ignored[k], &ignore, NULL);
}

void lm_signals_keep(void)
{
    writing = 1;
}

void lm_signals_end(void)
{
    for (int k = 0; k < REQUESTS; k++)
        sigaction(requests[k].number, &before[k], NULL);
}
