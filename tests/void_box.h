/* A box with voids. */
#ifndef LARMOR_TESTS_VOID_BOX_H
#define LARMOR_TESTS_VOID_BOX_H

#include <math.h>

#include "field_box.h"

enum { NX = 40, NY = 32 };
static const double LX = 10, LY = 6, FLOOR = 0.05;
static const double centre[2] = {0, 0};

/* Plasma around empty cells [10, 30) x [8, 24). */
static inline double hollow(double x, double y)
{
    const int i = (int)floor(x / LX * NX), j = (int)floor(y / LY * NY);
    return i >= 10 && i < 30 && j >= 8 && j < 24 ? 0 : 1;
}

/* In the corners of the empty cells three cells have too many of plasma around them. */
static inline int is_void(int i, int j)
{
    const int a = i < 20 ? i - 10 : 29 - i, b = j < 16 ? j - 8 : 23 - j;
    return a >= 0 && b >= 0 && a + b > 1;
}

static inline double full(double x, double y)
{
    (void)x, (void)y;
    return FLOOR;
}

static inline double none(double x, double y)
{
    (void)x, (void)y;
    return 0;
}

static inline struct box box_with(function density, struct lm_ohm ohm)
{
    ohm.floor = FLOOR;
    struct box x = box_new(NX, NY, LX, LY, ohm, 0);
    box_put(&x, LM_N_OLD, centre, density);
    box_put(&x, LM_N_NEW, centre, density);
    return x;
}

/* A step of B. */
enum { SUBSTEPS = 16 };
static inline void step(struct box *x, double dt, int voids)
{
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_NEW, dt / SUBSTEPS);
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_NEW, dt, SUBSTEPS, voids, LM_NO_MEAN, 0, 0});
}

#endif
