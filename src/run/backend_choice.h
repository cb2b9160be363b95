/* What run.backend = auto stands for where a GPU has so little to do that the CPU may be faster. */
#ifndef LARMOR_RUN_BACKEND_CHOICE_H
#define LARMOR_RUN_BACKEND_CHOICE_H

#include "survey/prepare.h"

/* The CPU may be faster than a GPU with less work than this for each of its cores: particles, and 16 for each cell. A
 * core advances some 50 million particles a second, and a GPU needs some 0.1 ms for a step with nothing to do, so that
 * they are equally fast near 5000 particles. Substeps and slow machines move this by less than a factor of ten. */
#define LM_DOUBTFUL_WORK 50000.0

/* In fewer steps no choice gains what the measurement costs. */
enum { LM_DOUBTFUL_STEPS = 10000 };

/* 1: a run from the start that has so little work for the GPU on which it would go, on one rank, and to which no
 * particles come. */
int lm_backend_is_doubtful(const struct lm_prepared *p);

/* The faster backend, by the seconds of a step on both, and a sentence about it. */
int lm_backend_faster(double on_gpu, double on_cpu, char *line, size_t size);

/* Where `auto` is a GPU, the run is doubtful and has LM_DOUBTFUL_STEPS, takes steps of it in memory on both (for 0.2 s
 * each and at least two steps, after a start) and lets `auto` stand for the faster one from now on. Writes a sentence
 * about it into `line`; "": nothing was measured, for other runs and for those that do not come so far. LM_FAILED: no
 * memory. */
int lm_backend_choose(const struct lm_prepared *p, char *line, size_t size);

#endif
