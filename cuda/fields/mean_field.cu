/* CUDA backend: the mean of B that ions feel where whistlers turn within a step (larmor/physics/fields/mean_field.h),
 * one thread an element of three arrays, ghost cells included. */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fields/mean_field.h"
#include "larmor/physics/fields/ohm.h"

namespace
{

/* Three arrays, which do not lie in a row after a substep. */
struct components {
    const double *of[3];
};

/* Where the mean begins, its memory may not have been written and is not read. */
__global__ void add_kernel(components b, double *mean, size_t pitch, size_t size, double weight, bool is_first)
{
    const size_t k = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (k >= size)
        return;
    double sum[3];
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        sum[d] =
            is_first ? lm_part_of_mean(weight, b.of[d][k]) : mean[d * pitch + k] + lm_part_of_mean(weight, b.of[d][k]);
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        mean[d * pitch + k] = sum[d];
}

__global__ void extrapolate_kernel(components later, components earlier, double *to, size_t pitch, size_t size)
{
    const size_t k = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (k >= size)
        return;
    double ahead[3];
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        ahead[d] = lm_extrapolate_half_step(later.of[d][k], earlier.of[d][k]);
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        to[d * pitch + k] = ahead[d];
}

components components_of(const struct lm_gpu *g, int array)
{
    return {{g->array[array], g->array[array + 1], g->array[array + 2]}};
}

/* The arrays, with the first step that needs them. */
int allocate(struct lm_gpu *g)
{
    enum { ARRAYS = LM_KEPT_B + 3 - LM_J_AHEAD };
    if (g->array[LM_J_AHEAD])
        return g->failed;
    double *const all = (double *)lm_gpu_allocate(g, (ARRAYS + 1) * g->pitch * sizeof(double), "the mean of B");
    for (int k = 0; k < ARRAYS && all; k++)
        g->array[LM_J_AHEAD + k] = all + k * g->pitch;
    g->next_per_density = all ? all + ARRAYS * g->pitch : NULL;
    return g->failed;
}

} // namespace

int lm_gpu_begin_mean(struct lm_gpu *g, const struct lm_b_step *step)
{
    if (step->mean != LM_MEAN_BEGINS || allocate(g))
        return g->failed;
    lm_gpu_fork(g);
    extrapolate_kernel<<<line_blocks(g->base.setup.grid.size), THREADS, 0, g->beside.stream>>>(
        components_of(g, LM_J_NEW), components_of(g, LM_J_OLD), g->array[LM_J_AHEAD], g->pitch,
        g->base.setup.grid.size);
    return LM_GPU_LAUNCHED(g, "the ion current ahead");
}

int lm_gpu_keep_b(struct lm_gpu *g, const struct lm_b_step *step)
{
    return step->mean == LM_MEAN_ENDS ? lm_gpu_copy(&g->base, LM_KEPT_B, LM_B, 3) : g->failed;
}

int lm_gpu_add_to_mean(struct lm_gpu *g, const struct lm_b_step *step, int substep)
{
    const double weight = lm_mean_weight(step->mean, substep, step->substeps, step->forecast);
    const bool is_first = lm_mean_is_new(step->mean, substep, step->substeps);
    if (weight == 0.0)
        return g->failed;
    lm_gpu_fork(g);
    add_kernel<<<line_blocks(g->base.setup.grid.size), THREADS, 0, g->beside.stream>>>(
        components_of(g, LM_B), g->array[LM_MEAN_B], g->pitch, g->base.setup.grid.size, weight, is_first);
    return LM_GPU_LAUNCHED(g, "the mean of B");
}

void lm_gpu_end_mean(struct lm_gpu *g, const struct lm_b_step *step)
{
    if (step->mean != LM_MEAN_ENDS)
        return; /* B after the last substep is added beside what follows */
    lm_gpu_join(g);
    lm_gpu_halo_refresh(g, g->array + LM_MEAN_B, 3);
}
