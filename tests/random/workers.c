#include "workers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "larmor/base.h"
#include "ranks/ranks.h"

/* A process that does every `jobs`th case. */
struct worker {
    pid_t pid; /* 0: there is no process */
    int pipe;  /* its reports */
    int next;  /* the case with which a new process would begin */
    int busy;  /* a case has begun and not ended: the one before `next` */
};

static void send(int pipe, const struct worker_report *report)
{
    if (write(pipe, report, sizeof *report) != (ssize_t)sizeof *report)
        _exit(3);
}

static void work(const struct worker_task *task, int index, int pipe)
{
    const int end = task->first + task->count;
    signal(SIGALRM, SIG_DFL); /* the caller may have set a handler */
    for (; index < end; index += task->jobs) {
        struct worker_report report = {.index = index, .begins = 1};
        send(pipe, &report);
        report.begins = 0;
        const double before = lm_clock();
        alarm((unsigned)task->seconds_each);
        task->run(task->context, index, &report);
        alarm(0);
        report.seconds = lm_clock() - before;
        send(pipe, &report);
    }
}

static int start(const struct worker_task *task, struct worker *w)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends))
        return lm_fail(LM_FAILED, "no pipe: %s", strerror(errno));
    w->pid = fork();
    if (w->pid < 0)
        return lm_fail(LM_FAILED, "no process: %s", strerror(errno));
    if (w->pid == 0) {
        close(ends[0]);
        work(task, w->next, ends[1]);
        fflush(NULL);
        _exit(0);
    }
    close(ends[1]);
    w->pipe = ends[0];
    w->busy = 0;
    return LM_OK;
}

static void take(struct worker_total *total, const struct worker_report *r)
{
    total->cases++;
    total->different += r->differs;
    total->broken += r->broken;
    total->stopped += r->stopped;
    total->ways += r->ways;
    total->refused += r->refused;
    total->seconds += r->seconds;
}

/* A process has ended: the case that it had begun counts as crashed. */
static void bury(const struct worker_task *task, struct worker *w, struct worker_total *total)
{
    char how[128];
    int status = 0;
    close(w->pipe);
    waitpid(w->pid, &status, 0);
    w->pid = 0;
    if (!w->busy)
        return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(how, sizeof how, "took longer than %d s", task->seconds_each);
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "ended its process with code %d", WEXITSTATUS(status));
    total->cases++;
    total->crashed++;
    task->crashed(task->context, w->next - task->jobs, how);
}

/* Reads one report, or the end of a process. */
static int listen_to(const struct worker_task *task, struct worker *w, struct worker_total *total)
{
    struct worker_report r;
    const ssize_t n = read(w->pipe, &r, sizeof r);
    if (n < 0 && errno == EINTR)
        return LM_OK;
    if (n != (ssize_t)sizeof r) {
        bury(task, w, total);
        return w->next < task->first + task->count ? start(task, w) : LM_OK;
    }
    w->busy = r.begins;
    if (r.begins)
        w->next = r.index + task->jobs;
    else
        take(total, &r);
    return LM_OK;
}

/* MPI allows no new processes: with many ranks all cases run in this one. */
static void work_here(const struct worker_task *task, struct worker_total *total)
{
    for (int index = task->first; index < task->first + task->count; index++) {
        struct worker_report report = {.index = index};
        const double before = lm_clock();
        task->run(task->context, index, &report);
        report.seconds = lm_clock() - before;
        take(total, &report);
    }
}

int workers_run(const struct worker_task *task, struct worker_total *total)
{
    struct worker *w = calloc((size_t)task->jobs, sizeof *w);
    struct pollfd *polled = calloc((size_t)task->jobs, sizeof *polled);
    int status = w && polled ? LM_OK : lm_fail(LM_FAILED, "not enough memory"), alive = 1;
    *total = (struct worker_total){.cases = 0};
    if (lm_rank_count() > 1) {
        work_here(task, total);
        free(w);
        free(polled);
        return status;
    }
    for (int k = 0; k < task->jobs && !status; k++) {
        w[k].next = task->first + k;
        if (k < task->count)
            status = start(task, &w[k]);
    }
    while (!status && alive > 0) {
        alive = 0;
        for (int k = 0; k < task->jobs; k++) {
            polled[k] = (struct pollfd){.fd = w[k].pid ? w[k].pipe : -1, .events = POLLIN};
            alive += w[k].pid != 0;
        }
        if (alive == 0 || poll(polled, (nfds_t)task->jobs, -1) < 0)
            continue;
        for (int k = 0; k < task->jobs && !status; k++)
            if (polled[k].revents)
                status = listen_to(task, &w[k], total);
    }
    free(w);
    free(polled);
    return status;
}
