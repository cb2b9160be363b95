#include "base/stop.h"

#include <math.h>
#include <signal.h>

static volatile sig_atomic_t asked;
static int allowed;
static int (*agree)(int asked); /* NULL: this process is alone */
static double deadline = INFINITY;

void lm_stop_ask(int signal)
{
    if (!asked)
        asked = signal;
}

void lm_stop_at(double clock)
{
    deadline = clock;
}

int lm_stop_asked(void)
{
    if (asked)
        return asked;
    return lm_clock() > deadline ? LM_STOP_TIME : 0;
}

void lm_stop_allow(int may)
{
    allowed = may;
}

int lm_stop_may(void)
{
    return allowed;
}

void lm_stop_agree_by(int (*by)(int asked))
{
    agree = by;
}

int lm_stop_now(void)
{
    return allowed && (agree ? agree(lm_stop_asked()) : lm_stop_asked()) != 0;
}

int lm_stop_give_up(void)
{
    return lm_fail(LM_STOPPED, "the step has been given up because the run was asked to stop");
}

void lm_stop_reset(void)
{
    asked = 0;
    allowed = 0;
    deadline = INFINITY;
}
