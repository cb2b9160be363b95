/* The bin of a distribution in which a particle counts. In double precision, whatever the precision of the particles. B
 * is interpolated linearly to the particle from its places in the cells. */
#ifndef LARMOR_PHYSICS_PARTICLES_DISTRIBUTION_H
#define LARMOR_PHYSICS_PARTICLES_DISTRIBUTION_H

#include "larmor/distribution.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/numerics/elementary.h"
#include "larmor/physics/particles/tile.h"

/* What surrounds the particles of a species, and the bins. */
struct lm_counting {
    struct lm_bins bins;
    struct lm_axis_bins axis[LM_MAX_DIMENSIONS];
    int64_t outside; /* number of the counter of particles in no bin */
    int needs_b;     /* some axis does */
    double mass;
    double dx, dy; /* of a cell, d_i */
    struct lm_tiling tiling;
    struct lm_sides sides; /* of the arrays */
    struct lm_place place;
    const double *b[3]; /* arrays with ghost cells, from their first element */
    int stride;
};

/* Where a particle is. */
struct lm_counted_place {
    double x, y;          /* d_i, in the domain */
    int shift_x, shift_y; /* from a cell of the domain to that of the arrays, near the particle */
};

/* (tile_x, tile_y): the home tile. */
LM_HD struct lm_counted_place lm_counted_place(const struct lm_counting *c, int tile_x, int tile_y,
                                               const struct lm_particle *p)
{
    const struct lm_tiling *t = &c->tiling;
    const int64_t x = lm_global(p->x, tile_x, t->size, t->cells_x);
    const int64_t y = lm_global(p->y, tile_y, t->size, t->cells_y);
    const int64_t domain_x = lm_domain_position(&c->place, 0, x), domain_y = lm_domain_position(&c->place, 1, y);
    struct lm_counted_place at;
    at.x = c->dx * lm_exp2i(-LM_FRACTION_BITS) * (double)domain_x;
    at.y = c->dy * lm_exp2i(-LM_FRACTION_BITS) * (double)domain_y;
    at.shift_x = (int)(x >> LM_FRACTION_BITS) - (int)(domain_x >> LM_FRACTION_BITS);
    at.shift_y = (int)(y >> LM_FRACTION_BITS) - (int)(domain_y >> LM_FRACTION_BITS);
    return at;
}

/* The element of a field array for cell i along an axis: beyond a periodic side that of the opposite side. */
LM_HD int64_t lm_counting_element(const struct lm_counting *c, int axis, int i)
{
    const int n = axis == 0 ? c->tiling.cells_x : c->tiling.cells_y;
    return LM_GHOST + ((unsigned)i < (unsigned)n ? i : lm_field_cell(&c->sides, axis, n, i));
}

/* Component d of B: the mean of the four values around the place, weighted linearly. (x, y) is the place in cells. */
LM_HD double lm_counting_b(const struct lm_counting *c, int d, const struct lm_counted_place *at, double x, double y)
{
    const double gx = x - 0.5 - (d == 0 ? 0.0 : 0.5), gy = y - 0.5 - (d == 1 ? 0.0 : 0.5);
    const double low_x = lm_floor(gx), low_y = lm_floor(gy), fx = gx - low_x, fy = gy - low_y;
    const int i = (int)low_x + at->shift_x, j = (int)low_y + at->shift_y;
    const int64_t left = lm_counting_element(c, 0, i), right = lm_counting_element(c, 0, i + 1);
    const double *low = c->b[d] + lm_counting_element(c, 1, j) * c->stride;
    const double *high = c->b[d] + lm_counting_element(c, 1, j + 1) * c->stride;
    return (1.0 - fy) * ((1.0 - fx) * low[left] + fx * low[right]) + fy * ((1.0 - fx) * high[left] + fx * high[right]);
}

/* The unit vector along B; x where there is no B. */
LM_HD void lm_counting_direction(const struct lm_counting *c, const struct lm_counted_place *at, double b[3])
{
    const double x = at->x / c->dx, y = at->y / c->dy;
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        b[d] = lm_counting_b(c, d, at, x, y);
    const double size = lm_sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    for (int d = 0; d < 3; d++)
        b[d] = size > 0.0 ? b[d] / size : d == 0 ? 1.0 : 0.0;
}

LM_HD double lm_in_degrees(double angle)
{
    return angle * (180.0 / LM_PI);
}

/* The angle of v around b, from the direction z x b (x where b is along z), in degrees from 0 to 360. */
LM_HD double lm_gyrophase(const double v[3], const double b[3])
{
    const double across = lm_sqrt(b[0] * b[0] + b[1] * b[1]);
    const double first[3] = {across > 0.0 ? -b[1] / across : 1.0, across > 0.0 ? b[0] / across : 0.0, 0.0};
    const double second[3] = {b[1] * first[2] - b[2] * first[1], b[2] * first[0] - b[0] * first[2],
                              b[0] * first[1] - b[1] * first[0]};
    const double p = v[0] * first[0] + v[1] * first[1] + v[2] * first[2];
    const double q = v[0] * second[0] + v[1] * second[1] + v[2] * second[2];
    const double angle = lm_in_degrees(lm_atan2(q, p));
    return angle < 0.0 ? angle + 360.0 : angle;
}

/* The quantity that an axis counts by, of a particle at `at` with velocity v. `b`: the unit vector along B. */
LM_HD double lm_axis_value(int axis, double mass, const struct lm_counted_place *at, const double v[3],
                           const double b[3])
{
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double along = v[0] * b[0] + v[1] * b[1] + v[2] * b[2];
    const double rest = square - along * along, across = lm_sqrt(rest > 0.0 ? rest : 0.0);
    switch (axis) {
    case LM_AXIS_X:
        return at->x;
    case LM_AXIS_Y:
        return at->y;
    case LM_AXIS_VX:
        return v[0];
    case LM_AXIS_VY:
        return v[1];
    case LM_AXIS_VZ:
        return v[2];
    case LM_AXIS_PAR:
        return along;
    case LM_AXIS_PERP:
        return across;
    case LM_AXIS_ENERGY:
        return 0.5 * mass * square;
    case LM_AXIS_PITCH:
        return lm_in_degrees(lm_atan2(across, along));
    default:
        return lm_gyrophase(v, b);
    }
}

LM_HD int lm_axis_needs_b(int axis)
{
    return axis == LM_AXIS_PAR || axis == LM_AXIS_PERP || axis == LM_AXIS_PITCH || axis == LM_AXIS_GYROPHASE;
}

/* The bin in which a value lies, as lm_bin_edge gives the edges; -1: in none. The first guess is right or next to it,
 * and the edges decide. */
LM_HD int lm_bin_of(const struct lm_axis_bins *a, double value)
{
    if (!(value >= a->low && value < a->high))
        return -1;
    const double guess = (value - a->low) * a->per_width;
    int k = guess < a->count ? (int)guess : a->count - 1;
    while (k > 0 && value < lm_bin_edge(a, k))
        k--;
    while (k + 1 < a->count && value >= lm_bin_edge(a, k + 1))
        k++;
    return k;
}

/* The number of the counter for a particle, whose home tile is `tile`; -1 where it counts nowhere: it has left, or it
 * is outside of the region. */
LM_HD int64_t lm_counter_of(const struct lm_counting *c, int tile, const struct lm_particle *p)
{
    const struct lm_bins *bins = &c->bins;
    const double v[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
    const int tile_x = tile % c->tiling.nx, tile_y = tile / c->tiling.nx;
    double b[3] = {1.0, 0.0, 0.0};
    int64_t counter = 0;
    if (p->x == LM_GONE)
        return -1;
    const struct lm_counted_place at = lm_counted_place(c, tile_x, tile_y, p);
    if (!(at.x >= bins->from_x && at.x < bins->to_x && at.y >= bins->from_y && at.y < bins->to_y))
        return -1;
    if (c->needs_b)
        lm_counting_direction(c, &at, b);
    for (int k = 0; k < bins->dimensions; k++) {
        const int bin = lm_bin_of(&c->axis[k], lm_axis_value(bins->axis[k], c->mass, &at, v, b));
        if (bin < 0)
            return c->outside;
        counter = counter * bins->count[k] + bin;
    }
    return counter;
}

#endif
