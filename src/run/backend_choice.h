/* What run.backend = auto stands for where a GPU has so little to do that the CPU may be faster. */
#ifndef LARMOR_RUN_BACKEND_CHOICE_H
#define LARMOR_RUN_BACKEND_CHOICE_H

#include "survey/prepare.h"

/* The CPU may be faster than a GPU with less work (lm_survey_work) than this for each of its cores. On an H200 it was
 * not: a step of 4096 particles in 1024 cells took the H200 0.076 ms, one core 0.22, and 32 cores 0.35 to 0.53. Other
 * GPUs may be much slower, most of all where they have few units for double precision, so the bound is a generous
 * guess. */
#define LM_DOUBTFUL_WORK 50000.0

/* With fewer steps the measurement takes longer than the better choice saves. */
enum { LM_DOUBTFUL_STEPS = 10000 };

/* 1: the run would go on a GPU and has so little work for it. It has one rank, and no particles come in or are born. */
int lm_backend_is_doubtful(const struct lm_prepared *p);

/* The faster backend, by the seconds of a step on both, and a sentence about it. */
int lm_backend_faster(double on_gpu, double on_cpu, char *line, size_t size);

/* Where `auto` is a GPU, the run is doubtful and has LM_DOUBTFUL_STEPS, takes steps of it in memory on both (for 0.2 s
 * each and at least two steps, after a start) and lets `auto` stand for the faster one from now on. Writes a sentence
 * about it into `line`; "": nothing was measured, for other runs and for those that do not come so far. LM_FAILED: no
 * memory. */
int lm_backend_choose(const struct lm_prepared *p, char *line, size_t size);

#endif
