/* Expressions of operators on the GPU, from global memory and with shared buffers, against the CPU's loops, bit for
 * bit: domains of many sizes, periodic and between walls with random conditions; loads are counted. */
#ifndef LARMOR_TESTS_GPU_OPERATORS_H
#define LARMOR_TESTS_GPU_OPERATORS_H

#include <stdio.h>
#include <stdlib.h>

#include "bench/device.h"
#include "larmor/physics/numerics/hash.h"

static inline void operators_must(int status)
{
    if (!status)
        return;
    printf("operators: %s\n", lm_error());
    exit(1);
}

/* All expressions in all ways. *ways counts the ways, *fell_back those that ran without shared buffers. Returns how
 * many differ. */
static inline int operators_case(int nx, int ny, int walls_x, int walls_y, int number, int *ways, int *fell_back)
{
    struct lm_ops_problem p;
    struct lm_ops_run run[LM_OPS_WAYS];
    int different = 0;
    operators_must(lm_ops_make(nx, ny, walls_x, walls_y, (uint64_t)number, &p));
    for (int e = 0; e < LM_OPS_EXPRESSIONS; e++) {
        lm_ops_loops(&p, e, 1);
        operators_must(lm_cuda_bench_ops(&p, e, 0, run));
        for (int k = 0; k < LM_OPS_WAYS; k++, ++*ways) {
            *fell_back += run[k].fell_back;
            different += run[k].different > 0;
            if (run[k].different)
                printf("operators %d (%d x %d, walls %d %d), %s, way %d: %llu nodes DIFFERENT\n", number, nx, ny,
                       walls_x, walls_y, lm_ops_info(e)->name, k, (unsigned long long)run[k].different);
        }
    }
    lm_ops_free(&p);
    return different;
}

/* A block with tiles of 32 x 8 must read every input once: its tile and the neighbours that the operators need. */
static inline int operators_loads(void)
{
    static const struct {
        int expression, loads; /* of a block */
    } expected[] = {
        {LM_OPS_GRAD, 33 * 9},
        {LM_OPS_CENTRED, 34 * 10},
        {LM_OPS_UPWIND, 2 * 32 * 8 + 33 * 9},
        {LM_OPS_DIV_GRAD, 33 * 8 + 32 * 9 + 2 * 34 * 10},
        {LM_OPS_DIFFUSION, 2 * 34 * 10},
        {LM_OPS_ADVECTION, 34 * 8 + 32 * 10 + 34 * 10},
        {LM_OPS_RESISTIVE, 35 * 11 + 35 * 10 + 34 * 11 + 33 * 9},
    };
    struct lm_ops_problem p;
    struct lm_ops_run run[LM_OPS_WAYS];
    int wrong = 0;
    operators_must(lm_ops_make(96, 24, 0, 0, 1, &p));
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        lm_ops_loops(&p, expected[k].expression, 1);
        operators_must(lm_cuda_bench_ops(&p, expected[k].expression, 0, run));
        const double want = expected[k].loads / 256.0, have = run[LM_OPS_WIDE].loads;
        wrong += have != want;
        if (have != want)
            printf("%s: %.17g loads a cell, not %.17g: DIFFERENT\n", lm_ops_info(expected[k].expression)->name, have,
                   want);
    }
    lm_ops_free(&p);
    return wrong;
}

/* Returns how many of `count` domains' evaluations differ. */
static inline int operators_compare(int count)
{
    int different = operators_loads(), ways = 0, fell_back = 0;
    for (int number = 0; number < count; number++) {
        const uint64_t random = lm_mix((uint64_t)number);
        const int wide = number % 16 == 15; /* many tiles */
        const int nx = 1 + (int)(random % (wide ? 400 : 80)), ny = 1 + (int)(random / 400 % (wide ? 300 : 40));
        different += operators_case(nx, ny, number & 1, number >> 1 & 1, number, &ways, &fell_back);
    }
    printf("%-28s %d, different %d; %d fell back to global memory\n", "expressions of operators", ways, different,
           fell_back);
    return different;
}

#endif
