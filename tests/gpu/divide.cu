/* Reciprocals and the root on the GPU against its own, which are correctly rounded: lm_inverse of random mantissas over
 * every exponent, so that both the quick way and the way out of it are taken; lm_reciprocal where WENO needs it;
 * reciprocals and roots in single precision of all mantissas. */
#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/numerics/weno.h"

namespace
{

enum { BLOCKS = 4096, THREADS = 256, ROUNDS = 512 };

/* A finite number > 0 with a random mantissa, each eighth time one of the first and last 256 there are; its exponent in
 * [low, high], biased. */
__device__ double random_number(uint64_t r, int low, int high)
{
    const uint64_t exponent = (uint64_t)low + (r >> 52) % (uint64_t)(high - low + 1), mantissa = lm_mix(r);
    const uint64_t at_an_end = (mantissa & 8 ? mantissa >> 4 & 255 : ~(mantissa >> 4 & 255)) & 0xfffffffffffffull;
    return lm_from_bits((mantissa % 8 == 0 ? at_an_end : mantissa & 0xfffffffffffffull) | exponent << 52);
}

__global__ void divide_kernel(unsigned long long *wrong)
{
    uint64_t thread = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
    for (uint64_t n = 0; n < ROUNDS; n++) {
        const int wide = n % 4 == 0; /* else numbers as they are in a plasma */
        for (uint64_t k = 0; k < 3; k++) {
            const double d = random_number(lm_mix(3 * (thread * ROUNDS + n) + k), wide ? 1 : 1000, wide ? 2046 : 1050);
            if (lm_bits(lm_inverse(d)) != lm_bits(__ddiv_rn(1.0, d)))
                atomicAdd(wrong, 1ull);
        }
        const double x = random_number(lm_mix(thread * ROUNDS + n), 1023 - 500, 1023 + 500);
        if (lm_bits(lm_reciprocal(x)) != lm_bits(__ddiv_rn(1.0, x)))
            atomicAdd(wrong, 1ull);
    }
}

/* A mantissa a thread. */
__global__ void reciprocal_kernel(unsigned long long *wrong)
{
    const unsigned mantissa = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned exponent = 127 - 105; exponent <= 127 + 105; exponent++) {
        const float x = __uint_as_float(exponent << 23 | mantissa);
        if (__float_as_uint(lm_reciprocalf(x)) != __float_as_uint(__fdiv_rn(1.0f, x)))
            atomicAdd(wrong, 1ull);
        if (exponent >= 127 - 100 && __float_as_uint(lm_rootf(x)) != __float_as_uint(__fsqrt_rn(x)))
            atomicAdd(wrong, 1ull);
    }
}

} // namespace

/* Wrong quotients among *tried; all of them where the GPU fails. */
extern "C" unsigned long long test_divide(unsigned long long *tried)
{
    unsigned long long *wrong, result = 0;
    *tried = 4ull * BLOCKS * THREADS * ROUNDS + 2 * 211ull * (1 << 23);
    if (cudaMalloc(&wrong, sizeof *wrong) != cudaSuccess)
        return *tried;
    cudaMemset(wrong, 0, sizeof *wrong);
    divide_kernel<<<BLOCKS, THREADS>>>(wrong);
    reciprocal_kernel<<<(1 << 23) / THREADS, THREADS>>>(wrong);
    if (cudaGetLastError() != cudaSuccess ||
        cudaMemcpy(&result, wrong, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess)
        result = *tried;
    cudaFree(wrong);
    return result;
}
