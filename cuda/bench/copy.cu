/* Bandwidth of a copy on the device. */
#include "bench/bench.cuh"

#include "bench/device.h"

namespace
{

enum { THREADS = 256 };

__global__ void copy_kernel(double2 *to, const double2 *from, size_t count)
{
    size_t k = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (k < count)
        to[k] = from[k];
}

} // namespace

int lm_cuda_bench_copy(size_t bytes, int repeats, struct lm_measured *kernel, struct lm_measured *memcpy_time)
{
    bench_device d;
    size_t count = bytes / sizeof(double2);
    double2 *from = (double2 *)d.allocate(bytes), *to = (double2 *)d.allocate(bytes);
    d.check(d.failed ? cudaSuccess : cudaMemset(from, 1, bytes), "copy");
    *kernel = d.time(
        repeats, [] {},
        [&] { copy_kernel<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS>>>(to, from, count); });
    *memcpy_time = d.time(
        repeats, [] {}, [&] { d.check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copy"); });
    return d.failed;
}
