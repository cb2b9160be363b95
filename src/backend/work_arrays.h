/* How many work arrays of the grid each backend allocates (src/cpu/memory.c; allocate_grid in cuda/core/memory.cu), for
 * the estimate of the memory that a run needs. */
#ifndef LARMOR_BACKEND_WORK_ARRAYS_H
#define LARMOR_BACKEND_WORK_ARRAYS_H

enum {
    LM_CPU_WORK_ARRAYS = 4 + 6 * 3 + 2, /* raw moments, six vectors of the fields, the slip, one to smooth with */
    LM_CUDA_WORK_ARRAYS = 4 + 8 + 3,    /* raw moments, eight to smooth with, the next B */
    LM_CUDA_GENERAL_ARRAYS = 4 * 3 + 1  /* where fields end at walls, beside bodies and in resistive voids */
};

#endif
