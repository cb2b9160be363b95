/* Particles in a cell that the surface of a body cuts. Positions are relative to the cell, in units of
 * 2^-LM_FRACTION_BITS cells. */
#ifndef LARMOR_PHYSICS_PARTICLES_CUT_CELL_H
#define LARMOR_PHYSICS_PARTICLES_CUT_CELL_H

#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/particles/cut.h"
#include "larmor/physics/particles/real.h"

/* Bits of a position that decide on which side of the line it is, so that products have at most 60 bits and their sum
 * at most 62; what is left of the position below them. */
enum {
    LM_CUT_PLACE_BITS = LM_FRACTION_BITS < 40 ? LM_FRACTION_BITS : 40,
    LM_CUT_REST = LM_FRACTION_BITS - LM_CUT_PLACE_BITS
};

/* How far a place is beyond the line, times the length of the line: >= 0 in the body. */
LM_HD int64_t lm_cut_depth(const struct lm_cut_line *l, lm_fix x, lm_fix y)
{
    return l->a * (int64_t)(x >> LM_CUT_REST) + l->b * (int64_t)(y >> LM_CUT_REST) -
           l->c * ((int64_t)1 << (LM_CUT_PLACE_BITS - LM_CUT_BITS));
}

LM_HD int lm_cut_is_solid(const struct lm_body_cut *cut, lm_fix x, lm_fix y)
{
    const struct lm_cut_line l = lm_cut_line_of(cut);
    return lm_cut_depth(&l, x, y) >= 0;
}

/* Turns a place that is uniform in the cell into one that is uniform in the plasma's part: drawn in the box around it
 * until it is not in the body. At least half of the box is plasma. `who`: of the random numbers, below 256. */
LM_HD void lm_cut_place(const struct lm_body_cut *cut, uint64_t key, int who, uint32_t cell, uint32_t number,
                        lm_fix place[2])
{
    enum { TRIES = 64 };
    int64_t low[2], high[2], corner[LM_CUT_CORNERS][2];
    const double unit = (double)LM_ONE / LM_CUT_ONE;
    double u[2] = {(double)place[0] / (double)LM_ONE, (double)place[1] / (double)LM_ONE};
    lm_cut_box(cut, low, high);
    for (int n = 0; n < TRIES; n++) {
        for (int axis = 0; axis < 2; axis++) {
            place[axis] = (lm_fix)(((double)low[axis] + u[axis] * (double)(high[axis] - low[axis])) * unit);
            place[axis] = place[axis] < LM_ONE ? place[axis] : LM_ONE - 1;
        }
        if (!lm_cut_is_solid(cut, place[0], place[1]))
            return;
        const struct lm_random a = lm_random_at(key, who | n << 8, LM_STREAM_CUT, cell, number);
        u[0] = lm_uniform(a.a), u[1] = lm_uniform(a.b);
    }
    const int n = lm_cut_polygon(cut, corner);
    for (int axis = 0; axis < 2; axis++) {
        place[axis] = 0;
        for (int k = 0; k < n; k++)
            place[axis] += (lm_fix)((double)corner[k][axis] * unit / n);
    }
}

#endif
