/* Kernels that begin while the kernel before them in the stream ends (programmatic dependent launch, from compute
 * capability 9.0 on). Else a few microseconds pass between two kernels, which is much of a step in a small domain.
 *
 * So the kernels of a step of a periodic box begin early where lm_gpu_is_small; in large domains it made steps slower
 * (docs/performance/tried_and_rejected.md). The kernel of a stage of B begins beside that of the strips (stage.cu).
 *
 * Such a kernel calls await_last in all threads before it touches what kernels before it read or write, and so it ends
 * after the kernel before it. (In stage.cu not all threads wait, and the reason stands there.) A kernel that calls
 * allow_next lets the next one begin when all of its own blocks have begun, in the room that they leave. Between the
 * two kernels there may be nothing else in the stream; if there is, the second one waits for it as any kernel does. */
#ifndef LARMOR_CORE_EARLY_CUH
#define LARMOR_CORE_EARLY_CUH

#include "core/gpu.cuh"

/* Whether the program has code for this GPU that can wait. cuda/core/backend.cu */
bool lm_gpu_can_begin_early(void);

namespace
{

__device__ __forceinline__ void await_last()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

__device__ __forceinline__ void allow_next()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Starts a kernel as above, `early` or as any other. */
template <class... PARAMETERS, class... ARGUMENTS>
void launch_early(struct lm_gpu *g, bool early, dim3 blocks, unsigned threads, size_t shared, cudaStream_t stream,
                  void (*kernel)(PARAMETERS...), const ARGUMENTS &...arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = early && lm_gpu_can_begin_early();
    cudaLaunchConfig_t config = {blocks, threads, shared, stream, &attribute, 1};
    lm_gpu_check(g, cudaLaunchKernelEx(&config, kernel, arguments...), "a kernel that begins early");
}

} // namespace

#endif
