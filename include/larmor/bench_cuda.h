/* What `larmor bench` measures on the device itself; without CUDA every function fails (src/bench_cuda.c). */
#ifndef LARMOR_BENCH_CUDA_H
#define LARMOR_BENCH_CUDA_H

#include <stddef.h>

#include "larmor/base.h"
#include "larmor/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of a copy of `bytes` (a multiple of 16) from one array to another, by a kernel and by cudaMemcpy. */
int lm_cuda_bench_copy(size_t bytes, int repeats, struct lm_spread *kernel, struct lm_spread *memcpy_time);

#ifdef __cplusplus
}
#endif
#endif
