/* Cells that the surface of a body cuts, by a straight line between two places on their edge (struct lm_obstacles).
 * Units of 2^-LM_CUT_BITS cells. Independent of the precision of the particles. */
#ifndef LARMOR_PHYSICS_PARTICLES_CUT_H
#define LARMOR_PHYSICS_PARTICLES_CUT_H

#include "larmor/body.h"
#include "larmor/physics/numerics/portable.h"

/* a x + b y >= c is in the body. |a|, |b| <= 2^20, |c| <= 2^41. */
struct lm_cut_line {
    int32_t a, b;
    int64_t c;
};

/* A place on the edge. */
LM_HD void lm_cut_end(uint32_t place, int64_t at[2])
{
    const int edge = (int)(place >> 24), axis = edge & 1;
    at[axis] = (int64_t)(place & 0xffffffu);
    at[!axis] = edge == 1 || edge == 2 ? LM_CUT_ONE : 0;
}

LM_HD struct lm_cut_line lm_cut_line_of(const struct lm_body_cut *cut)
{
    int64_t p[2], q[2];
    struct lm_cut_line l;
    lm_cut_end(cut->from, p);
    lm_cut_end(cut->to, q);
    l.a = (int32_t)(q[1] - p[1]);
    l.b = (int32_t)(p[0] - q[0]);
    l.c = l.a * p[0] + l.b * p[1];
    return l;
}

/* The side of the cell (enum lm_side) that the line faces: that of its face in the maps. */
LM_HD int lm_cut_direction(const struct lm_body_cut *cut)
{
    const struct lm_cut_line l = lm_cut_line_of(cut);
    const int a = l.a < 0 ? -l.a : l.a, b = l.b < 0 ? -l.b : l.b;
    return a >= b ? l.a < 0 : 2 + (l.b < 0);
}

/* The corners of the plasma's part, counterclockwise; returns how many. */
enum { LM_CUT_CORNERS = 5 };

LM_HD int lm_cut_polygon(const struct lm_body_cut *cut, int64_t at[LM_CUT_CORNERS][2])
{
    int n = 0;
    lm_cut_end(cut->to, at[n++]);
    for (uint32_t edge = cut->to >> 24; edge != cut->from >> 24; edge = (edge + 1) & 3) {
        at[n][0] = edge < 2 ? LM_CUT_ONE : 0; /* the corner at the end of the edge */
        at[n++][1] = edge == 1 || edge == 2 ? LM_CUT_ONE : 0;
    }
    lm_cut_end(cut->from, at[n++]);
    return n;
}

/* Twice the area of the plasma's part, from 0 to 2 LM_CUT_ONE^2. */
LM_HD int64_t lm_cut_area(const struct lm_body_cut *cut)
{
    int64_t at[LM_CUT_CORNERS][2], twice = 0;
    const int n = lm_cut_polygon(cut, at);
    for (int k = 0; k < n; k++) {
        const int64_t *p = at[k], *q = at[k + 1 < n ? k + 1 : 0];
        twice += p[0] * q[1] - p[1] * q[0];
    }
    return twice;
}

/* The part of a cell that is plasma. */
LM_HD double lm_plasma_part(int obstacle, const struct lm_body_cut *cut)
{
    if (!(obstacle & LM_CUT))
        return obstacle ? 0.0 : 1.0;
    return (double)lm_cut_area(cut) * (0.5 / LM_CUT_ONE / LM_CUT_ONE);
}

/* The smallest box around the plasma's part, with low and high[axis]. */
LM_HD void lm_cut_box(const struct lm_body_cut *cut, int64_t low[2], int64_t high[2])
{
    int64_t at[LM_CUT_CORNERS][2];
    const int n = lm_cut_polygon(cut, at);
    low[0] = low[1] = LM_CUT_ONE;
    high[0] = high[1] = 0;
    for (int k = 0; k < n; k++)
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = at[k][axis] < low[axis] ? at[k][axis] : low[axis];
            high[axis] = at[k][axis] > high[axis] ? at[k][axis] : high[axis];
        }
}

/* The plasma's part of a side of the cell, from *low to *high; returns its length. */
LM_HD int64_t lm_cut_opening(const struct lm_body_cut *cut, int side, int64_t *low, int64_t *high)
{
    int64_t at[LM_CUT_CORNERS][2];
    const int n = lm_cut_polygon(cut, at), axis = side / 2;
    *low = LM_CUT_ONE;
    *high = 0;
    for (int k = 0; k < n; k++) {
        if (at[k][axis] != (side % 2 ? LM_CUT_ONE : 0))
            continue;
        *low = at[k][!axis] < *low ? at[k][!axis] : *low;
        *high = at[k][!axis] > *high ? at[k][!axis] : *high;
    }
    return *high > *low ? *high - *low : 0;
}

#endif
