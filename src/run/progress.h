/* Shows the progress of a run on stderr: a bar on a terminal, otherwise a line every 10 s. */
#ifndef LARMOR_RUN_PROGRESS_H
#define LARMOR_RUN_PROGRESS_H

#include <stdint.h>

struct lm_progress {
    int quiet, terminal;
    int64_t first, last;
    uint64_t particles;
    double dt, shown, interval; /* clock of the last line, seconds between lines */
};

void lm_progress_start(struct lm_progress *p, int quiet, int64_t first, int64_t last, uint64_t particles, double dt);

/* `stepping`: seconds spent in the steps since the first. */
void lm_progress_step(struct lm_progress *p, int64_t step, double stepping);
void lm_progress_end(struct lm_progress *p);

#endif
