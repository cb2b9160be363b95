/* What the CUDA backend tells about the device; only where the program was built with nvcc. */
#ifndef LARMOR_BACKEND_CUDA_H
#define LARMOR_BACKEND_CUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks of a machine take its GPUs in turn. 1 and "NVIDIA H200, 139 GiB, ..." when the one of this rank can be
 * used; 0 and the reason otherwise. */
int lm_cuda_describe(char *line, size_t size);

/* The number of GPUs. */
int lm_cuda_count(void);

/* How the GPUs of many ranks exchange data: "NCCL 2.28.3", "pinned memory and MPI"; "" before lm_cuda_create. */
const char *lm_cuda_exchange(void);

void lm_cuda_memory(double *free_bytes, double *total_bytes);

#ifdef __cplusplus
}
#endif
#endif
