/* How the ranks of a run, the processes that MPI has started together, exchange data. */
#ifndef LARMOR_RANKS_H
#define LARMOR_RANKS_H

/* Between GPUs. */
enum lm_gpu_exchange {
    LM_EXCHANGE_AUTO,      /* by NCCL where it is there and each rank has a GPU of its own; else as LM_EXCHANGE_HOST */
    LM_EXCHANGE_NCCL,      /* by NCCL, over the links between the GPUs of a machine */
    LM_EXCHANGE_NCCL_HOST, /* by NCCL, through the memory of the machine, so that the links can sleep */
    LM_EXCHANGE_HOST       /* through pinned memory of the hosts and MPI */
};

#endif
