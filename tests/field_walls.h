/* Boxes of fields with walls and bodies. */
#ifndef LARMOR_TESTS_FIELD_WALLS_H
#define LARMOR_TESTS_FIELD_WALLS_H

#include <math.h>
#include <string.h>

#include "field_box.h"

static const double centre[2] = {0, 0};

enum { PERIODIC = LM_FIELDS_PERIODIC };

/* A box whose fields end at `sides`, with bodies if `bodies` is not NULL. */
static inline struct box box_with_walls(int nx, int ny, double lx, double ly, struct lm_ohm ohm, int smoothing,
                                        const int *sides, const struct lm_bodies *bodies)
{
    struct lm_grid g = lm_grid_make(nx, ny, lx, ly);
    for (int side = 0; side < LM_SIDES; side++)
        g.sides.of[side] = sides[side] == PERIODIC        ? LM_PERIODIC
                           : lm_prescribes_e(sides[side]) ? LM_ABSORBING /* E of the push is given, too */
                                                          : LM_REFLECTING;
    struct lm_setup setup = box_setup(&g, ohm, smoothing);
    memcpy(setup.field_sides, sides, sizeof setup.field_sides);
    if (bodies)
        setup.bodies = *bodies;
    return box_of(&setup);
}

/* Puts f everywhere, ghosts included. */
static inline void put_all(struct box *x, int array, const double place[2], function f)
{
    for (int j = -LM_GHOST; j < x->g.ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < x->g.nx + LM_GHOST; i++)
            x->work[lm_at(&x->g, i, j)] = f((i + 0.5 + place[0]) * x->g.dx, (j + 0.5 + place[1]) * x->g.dy);
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, array, x->work);
}

static inline double one(double x, double y)
{
    return 1 + 0 * (x + y);
}

static inline void advance(struct box *x, double dt, int steps)
{
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD, 0.0);
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_OLD, dt * steps, steps, 0, LM_NO_MEAN, 0, 0});
}

/* Wave number of the grid's first difference. */
static inline double grid_k(double k, double d)
{
    return 2 * sin(k * d / 2) / d;
}

#endif
