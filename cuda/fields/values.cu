/* CUDA backend: single values of arrays. A thread takes a value. */
#include "core/gpu.cuh"

namespace
{

/* Values that the staging memory holds. */
enum { VALUES_AT_ONCE = LM_GPU_PIECE * 40 / sizeof(struct lm_array_value), THREADS = LM_GPU_THREADS };

struct all_arrays {
    const double *array[LM_ARRAYS];
    int stride;
};

__global__ void values_kernel(const __grid_constant__ all_arrays from, struct lm_array_value *values, uint32_t count)
{
    const uint32_t k = blockIdx.x * THREADS + threadIdx.x;
    if (k < count)
        values[k].value =
            from.array[values[k].array][(size_t)(values[k].j + LM_GHOST) * from.stride + values[k].i + LM_GHOST];
}

} // namespace

int lm_gpu_values(struct lm_backend *b, uint64_t count, struct lm_array_value *values)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_array_value *const device = (struct lm_array_value *)g->staging;
    all_arrays from;
    bool has_pressure = false;
    for (int k = 0; k < LM_ARRAYS; k++)
        from.array[k] = g->array[k];
    from.stride = b->setup.grid.stride;
    for (uint64_t k = 0; k < count; k++)
        has_pressure |= values[k].array == LM_PRESSURE;
    if (has_pressure)
        lm_gpu_pressure(g);
    for (uint64_t first = 0; first < count && !g->failed; first += VALUES_AT_ONCE) {
        const uint32_t n = (uint32_t)(count - first < VALUES_AT_ONCE ? count - first : VALUES_AT_ONCE);
        lm_gpu_check(g, cudaMemcpyAsync(device, values + first, n * sizeof *values, cudaMemcpyHostToDevice, g->stream),
                     "places of values");
        values_kernel<<<(n + THREADS - 1) / THREADS, THREADS, 0, g->stream>>>(from, device, n);
        LM_GPU_LAUNCHED(g, "single values");
        lm_gpu_check(g, cudaMemcpyAsync(values + first, device, n * sizeof *values, cudaMemcpyDeviceToHost, g->stream),
                     "download of values");
    }
    return lm_gpu_wait(g, "single values");
}
