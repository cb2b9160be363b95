/* A table of stopping powers, and random numbers, for tests of collisions. */
#ifndef LARMOR_TESTS_COLLIDE_CASE_H
#define LARMOR_TESTS_COLLIDE_CASE_H

#include <check.h>
#include <stdio.h>

#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif
#include "larmor/physics/collisions/collide_particle.h"
#include "larmor/stopping.h"
#include "require.h"
#include "scratch.h"

enum { MANY = 1000000 };

static inline void random_of(uint32_t k, uint32_t r[2])
{
    uint32_t keys[LM_PHILOX_ROUNDS];
    lm_random_keys(77, 0, LM_STREAM_SCATTER, keys);
    lm_random_pair(keys, k, r);
}

enum { POINTS = 7 };

static const double energies[POINTS] = {0.1, 0.2, 0.5, 1, 2, 2.5, 9}, stopping[POINTS] = {2, 3, 2.5, 2, 1, 0.8, 0.3},
                    power[POINTS] = {0.5, 0.4, 0.3, 0.1, 0.05, 0.04, 0.01};

static struct lm_stopping_table table;

static inline void read_table(struct lm_stopping_table *to, const double *energy, const double *s, const double *p,
                              int points)
{
    char path[LM_MAX_PATH];
    snprintf(path, sizeof path, "%s/stopping.txt", scratch);
    FILE *file = fopen(path, "w");
    fprintf(file, "# source = test\n# energy = normalized\n# stopping = normalized\n# scattering = normalized\n");
    for (int k = 0; k < points; k++)
        fprintf(file, "%.17g %.17g %.17g\n", energy[k], s[k], p[k]);
    fclose(file);
    ck_assert_int_eq(lm_stopping_read(path, 0, 0, to), LM_OK);
    ck_assert_int_eq(to->points, points);
}

static inline void fill_table(void)
{
    scratch_make();
    read_table(&table, energies, stopping, power, POINTS);
}

static inline void free_table(void)
{
    lm_stopping_free(&table);
    scratch_remove();
}

/* The value of a table at a point, found by a search through all intervals. */
static inline double interpolated_at(const double *energy, const double *value, int points, double at)
{
    if (at <= energy[0])
        return value[0];
    for (int k = 0; k + 1 < points; k++)
        if (at <= energy[k + 1])
            return value[k] + (value[k + 1] - value[k]) * (at - energy[k]) / (energy[k + 1] - energy[k]);
    return value[points - 1];
}

#endif
