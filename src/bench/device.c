/* Built without CUDA: no case comes here, as none finds a GPU. */
#include "bench/device.h"

#ifndef LM_CUDA

static int no_cuda(void)
{
    return lm_fail(LM_FAILED, "this program was built without CUDA");
}

int lm_cuda_bench_copy(size_t bytes, int repeats, struct lm_measured *kernel, struct lm_measured *memcpy_time)
{
    (void)bytes, (void)repeats, (void)kernel, (void)memcpy_time;
    return no_cuda();
}

int lm_cuda_bench_particles_f32(const struct lm_particle_problem *problem, struct lm_particle_row *rows, int *count)
{
    (void)problem, (void)rows, (void)count;
    return no_cuda();
}

int lm_cuda_bench_particles_f64(const struct lm_particle_problem *problem, struct lm_particle_row *rows, int *count)
{
    (void)problem, (void)rows, (void)count;
    return no_cuda();
}

int lm_cuda_bench_reduce(uint64_t count, int repeats, struct lm_reduce_run *run, int runs)
{
    (void)count, (void)repeats, (void)run, (void)runs;
    return no_cuda();
}

int lm_cuda_bench_tendency(const struct lm_tendency_problem *problem, struct lm_tendency_row *rows, int *count,
                           double *advanced)
{
    (void)problem, (void)rows, (void)count, (void)advanced;
    return no_cuda();
}

int lm_cuda_bench_ops(const struct lm_ops_problem *problem, int expression, int repeats,
                      struct lm_ops_run run[LM_OPS_WAYS])
{
    (void)problem, (void)expression, (void)repeats, (void)run;
    return no_cuda();
}

#endif
