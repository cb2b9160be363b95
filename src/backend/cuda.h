/* What the CUDA backend tells about the device; only where the program was built with nvcc. */
#ifndef LARMOR_BACKEND_CUDA_H
#define LARMOR_BACKEND_CUDA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 and "NVIDIA H200, 139 GiB, ..." when a usable device is there; 0 and the reason otherwise. */
int lm_cuda_describe(char *line, size_t size);

void lm_cuda_memory(double *free_bytes, double *total_bytes);

#ifdef __cplusplus
}
#endif
#endif
