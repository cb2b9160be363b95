/* Distributions: what particles are counted by, and in which bins. */
#ifndef LARMOR_DISTRIBUTION_H
#define LARMOR_DISTRIBUTION_H

#include <stddef.h>

#include "larmor/physics/numerics/portable.h"

/* What a distribution may be binned by. */
enum lm_axis {
    LM_AXIS_X,
    LM_AXIS_Y,
    LM_AXIS_VX,
    LM_AXIS_VY,
    LM_AXIS_VZ,
    LM_AXIS_PAR,
    LM_AXIS_PERP,
    LM_AXIS_ENERGY,
    LM_AXIS_PITCH,
    LM_AXIS_GYROPHASE,
    LM_AXES
};

enum { LM_MAX_DIMENSIONS = 3 };

/* The bins of a distribution, at most 2^26. Bin number (k0 count[1] + k1) count[2] + k2 is bin k0 of axis 0, k1 of axis
 * 1 and k2 of axis 2. */
struct lm_bins {
    int dimensions, axis[LM_MAX_DIMENSIONS], count[LM_MAX_DIMENSIONS]; /* enum lm_axis; bins of an axis */
    double low[LM_MAX_DIMENSIONS], high[LM_MAX_DIMENSIONS];            /* of an axis: d_i, v_A, m_p v_A^2 or degrees */
    double from_x, to_x, from_y, to_y; /* d_i: only particles with from <= position < to count; may be infinite */
};

/* from_x, to_x, from_y, to_y of the whole domain. */
#define LM_NO_REGION -INFINITY, INFINITY, -INFINITY, INFINITY

/* The number of bins. */
static inline size_t lm_bins_all(const struct lm_bins *bins)
{
    size_t all = 1;
    for (int k = 0; k < bins->dimensions; k++)
        all *= (size_t)bins->count[k];
    return all;
}

/* Counters of a species: one for each bin, and the last one for particles of the region that are in no bin. */
static inline size_t lm_bins_counters(const struct lm_bins *bins)
{
    return lm_bins_all(bins) + 1;
}

/* The bins of one axis, with what follows from them. */
struct lm_axis_bins {
    int count;
    double low, high, width, per_width; /* per_width: about 1/width, which may be infinite */
};

LM_HD struct lm_axis_bins lm_axis_bins_of(const struct lm_bins *bins, int axis)
{
    struct lm_axis_bins a;
    a.count = bins->count[axis];
    a.low = bins->low[axis];
    a.high = bins->high[axis];
    a.width = (a.high - a.low) / a.count;
    a.per_width = a.count / (a.high - a.low);
    return a;
}

/* The lower edge of bin k, which belongs to the bin; for k = count the upper edge of the last bin. */
LM_HD double lm_bin_edge(const struct lm_axis_bins *a, int k)
{
    return k == a->count ? a->high : a->low + k * a->width;
}

#endif
