/* What the measurements on the device share: memory that is given back, failures that stick, and timing. */
#ifndef LARMOR_BENCH_BENCH_CUH
#define LARMOR_BENCH_BENCH_CUH

#include <cuda_runtime.h>

#include "larmor/base.h"
#include "bench/table.h"

/* Everything runs in the default stream. After a failure nothing more is done, and the first message stays. */
struct bench_device {
    enum { MEMORIES = 16, REPEATS = 1000 };

    int failed = 0;

    ~bench_device()
    {
        for (int k = 0; k < count; k++)
            cudaFree(memory[k]);
    }

    int check(cudaError_t error, const char *what)
    {
        if (error != cudaSuccess && !failed)
            failed = lm_fail(LM_FAILED, "GPU: %s: %s", what, cudaGetErrorString(error));
        return failed;
    }

    /* NULL after a failure. */
    void *allocate(size_t bytes)
    {
        void *m = NULL;
        if (!failed && count == MEMORIES)
            failed = lm_fail(LM_FAILED, "too many arrays");
        if (failed || check(cudaMalloc(&m, bytes), "memory")) {
            cudaGetLastError();
            return NULL;
        }
        return memory[count++] = m;
    }

    /* Seconds of `work`, after a first time that does not count; `prepare` goes before each and is not timed. */
    template <class Prepare, class Work> struct lm_measured time(int repeats, Prepare prepare, Work work)
    {
        struct lm_measured none = {0, 0, 0};
        double seconds[REPEATS];
        cudaEvent_t begin = NULL, end = NULL;
        repeats = repeats > REPEATS ? REPEATS : repeats;
        if (failed || check(cudaEventCreate(&begin), "timing"))
            return none;
        check(cudaEventCreate(&end), "timing");
        for (int r = -1; r < repeats && !failed; r++) {
            float ms = 0;
            prepare();
            check(cudaEventRecord(begin), "timing");
            work();
            check(cudaGetLastError(), "launch");
            check(cudaEventRecord(end), "timing");
            check(cudaEventSynchronize(end), "a measured kernel");
            if (!failed)
                check(cudaEventElapsedTime(&ms, begin, end), "timing");
            seconds[r < 0 ? 0 : r] = 1e-3 * (double)ms;
        }
        cudaEventDestroy(begin);
        if (end)
            cudaEventDestroy(end);
        return failed ? none : lm_measured_of(seconds, repeats);
    }

  private:
    void *memory[MEMORIES];
    int count = 0;
};

#endif
