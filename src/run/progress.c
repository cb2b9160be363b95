#include "run/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "larmor/base.h"

void lm_progress_start(struct lm_progress *p, int quiet, int64_t first, int64_t last, uint64_t particles, double dt)
{
    *p = (struct lm_progress){.quiet = quiet,
                              .terminal = isatty(STDERR_FILENO),
                              .first = first,
                              .last = last,
                              .particles = particles,
                              .dt = dt};
    p->shown = lm_clock();
    p->interval = p->terminal ? 0.2 : 10.0;
}

static void duration(double seconds, char *out, size_t size)
{
    long s = (long)(seconds + 0.5);
    snprintf(out, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

void lm_progress_step(struct lm_progress *p, int64_t step, double stepping)
{
    double now = lm_clock();
    if (p->quiet || (now - p->shown < p->interval && step < p->last))
        return;
    p->shown = now;
    double done = (double)(step - p->first), left = (double)(p->last - step);
    double share = done / (done + left), rate = stepping > 0 ? done * (double)p->particles / stepping : 0;
    char time[32], bar[32];
    duration(done > 0 ? stepping / done * left : 0, time, sizeof time);
    if (!p->terminal) {
        fprintf(stderr, "step %lld of %lld, t = %g, %.4g M particle-steps/s, %s left\n", (long long)step,
                (long long)p->last, (double)step * p->dt, 1e-6 * rate, time);
        return;
    }
    int filled = (int)(share * 24);
    memset(bar, '=', (size_t)filled);
    memset(bar + filled, ' ', (size_t)(24 - filled));
    bar[24] = 0;
    fprintf(stderr, "\r[%s] %3.0f %%  t = %-9g %8.4g M particle-steps/s  %s left ", bar, 100 * share,
            (double)step * p->dt, 1e-6 * rate, time);
}

void lm_progress_end(struct lm_progress *p)
{
    if (!p->quiet && p->terminal)
        fputc('\n', stderr);
}
