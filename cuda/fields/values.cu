/* CUDA backend: single values of arrays. A thread takes a value. */
#include "core/gpu.cuh"

namespace
{

enum { THREADS = LM_GPU_THREADS };

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
    all_arrays from;
    bool has_pressure = false;
    for (int k = 0; k < LM_ARRAYS; k++)
        from.array[k] = g->array[k];
    from.stride = b->setup.grid.stride;
    for (uint64_t k = 0; k < count; k++)
        has_pressure |= values[k].array == LM_PRESSURE;
    if (has_pressure)
        lm_gpu_pressure(g);
    return lm_gpu_in_pieces(g, count, values, "single values", [&](struct lm_array_value *device, uint32_t n) {
        values_kernel<<<(n + THREADS - 1) / THREADS, THREADS, 0, g->stream>>>(from, device, n);
    });
}
