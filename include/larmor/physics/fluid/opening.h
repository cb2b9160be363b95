/* Cells and faces that bodies cut, for background fields (larmor/physics/fluid/advect.h).
 *
 * Of each cell counts the volume that is open, and of each face the length that is open. What is open of cells whose
 * centres are in a body belongs to their neighbours: volumes to the neighbour that the surface faces, lengths to the
 * next face on the same line of the grid. Volumes and lengths can therefore be larger than 1. Nothing enters the other
 * part, so a field obeys d(volume q)/dt = -sum of (length u q) over the faces.
 *
 * In every cell the content, volume times q, is a whole number of quanta U. The value q is the content over the volume,
 * rounded once. The content follows from q without an error, because q has more bits than the content needs.
 */
#ifndef LARMOR_PHYSICS_FLUID_OPENING_H
#define LARMOR_PHYSICS_FLUID_OPENING_H

#include "larmor/physics/numerics/portable.h"

/* Of a cell, in units of a whole cell and a whole face; of its faces the upper one along x and the upper one along y.
 * A face with a length of 0 is closed. Cells in bodies have a volume of 1 and hold nothing. */
struct lm_opening {
    float volume, x, y;
};

/* What flows through the upper faces of a cell, [axis]. What flows between an end of a face and the surface belongs to
 * the face. It is a velocity times the distance of the end from the surface along a line of the grid: along that of the
 * face, or, where this is shorter, along the other line through the end with the velocity on a face of that line. All
 * faces that meet in a corner have one flow between that and the surface. So what these flows add has no divergence. */
struct lm_passage {
    float own[2];       /* length for the velocity on the face itself */
    float other[2][2];  /* [axis][low or high end]: length for the velocity on a face of the other axis */
    int8_t which[2][2]; /* 0: there is none; 1, 2: the first or the second one on the line */
};

/* No volume is smaller or larger, and no length of an open face is smaller. */
#define LM_LEAST_VOLUME 0.25f
#define LM_MOST_VOLUME 2.0f
#define LM_LEAST_OPENING 0.125f

LM_HD int lm_is_cut(const struct lm_opening *o)
{
    return o->volume != 1.0f || o->x != 1.0f || o->y != 1.0f;
}

/* The volume of the cell at k; open NULL: no cell is cut. */
LM_HD double lm_volume_at(const struct lm_opening *open, long k)
{
    return open ? (double)open[k].volume : 1.0;
}

/* The length of the upper face of the cell at k along an axis. */
LM_HD double lm_opening_at(const struct lm_opening *open, int axis, long k)
{
    return !open ? 1.0 : (double)(axis == 0 ? open[k].x : open[k].y);
}

/* The element of the face that `which` says, at an end (0, 1) of the upper face of the cell at k along an axis. */
LM_HD long lm_other_face(int axis, int end, int which, long k, int stride)
{
    return axis == 0 ? k + (which == 2) - (end ? 0 : stride) : k + (which == 2 ? stride : 0) - (end ? 0 : 1);
}

/* The velocity whose flow through the open length of a face is the one that passes. `own` is the velocity on the face,
 * other[2] are those on the faces of lm_other_face, 0 where there is none. */
LM_HD double lm_passing_velocity(const struct lm_passage *p, const struct lm_opening *open, int axis, double own,
                                 const double other[2])
{
    const double length = axis == 0 ? (double)open->x : (double)open->y;
    const double flow =
        own * (double)p->own[axis] + (other[0] * (double)p->other[axis][0] + other[1] * (double)p->other[axis][1]);
    return length > 0.0 ? flow / length : 0.0;
}

/* Whether this differs from the velocity on the face. */
LM_HD int lm_is_passage(const struct lm_passage *p, const struct lm_opening *open, int axis)
{
    return p->own[axis] != (axis == 0 ? open->x : open->y) || p->which[axis][0] || p->which[axis][1];
}

/* The content of a cell, as a multiple of U. |content| < 2^51 U. Between the last two stages a content may have half a
 * quantum more or less, and this drops it: the last stage takes 2/3 of the difference from a multiple of 3/2 U, rounded
 * to whole quanta, and 1/3 does not change that. */
LM_HD double lm_content(double q, double volume, double unit)
{
    const double whole = 0x1.8p52 * unit; /* adding it drops what is below U */
    return lm_fma(q, volume, whole) - whole;
}

/* The same as a number of quanta, for q that needs not have a whole content. */
LM_HD double lm_quanta_within(double q, double volume, double per_quantum)
{
    return lm_trunc(q * volume * per_quantum);
}

#endif
