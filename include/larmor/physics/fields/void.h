/* Thin plasma and voids.
 *
 * Ohm's law divides (J - J_i) x B by the density. Two things keep this quotient in bounds where there is hardly any
 * plasma. The density counts as fields.density_floor at least. In cells of fewer than LM_FEW ions it also counts as
 * (k dt)^2 |B|^2 at least, with the largest wave number k on the grid: below that an Alfven wave of this wave number
 * turns by more than 1 in a step, and the noise of so few ions would heat them. As the density divides at the centres
 * of the cells (ohm.h), its value neither gives energy to the fields nor takes it.
 *
 * A void is a cell without plasma, as are all cells around it. No current flows there: the motional field is 0, and B
 * follows from what surrounds the void, curl B = 0 (Hewett 1980, J. Comput. Phys. 38, 378). After each step B diffuses
 * in the voids as far as LM_VOID_STAGES stages of a stabilised Runge-Kutta method carry it: RKL1 of Meyer, Balsara and
 * Aslam (2012, MNRAS 422, 2102; 2014, J. Comput. Phys. 257, 594). That is a resistivity as large as is stable, with
 * operations on neighbouring cells only. Where nothing is void, no bit of B changes.
 */
#ifndef LARMOR_PHYSICS_FIELDS_VOID_H
#define LARMOR_PHYSICS_FIELDS_VOID_H

#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/faraday.h"
#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/physics/fields/time_step_limits.h"

/* A cell of a void and all cells up to LM_VOID_REACH away have less than this share of the density floor. The edge of a
 * plasma of few particles has no holes then that come and go: where a cell becomes void, its current is lost. */
#define LM_VOID_SHARE 0.1
enum { LM_VOID_REACH = 2 };

/* Fewer ions in a cell are no fluid. */
#define LM_FEW 4

/* --- what carries current --- */

/* lm_ohm.alfven_floor. */
LM_HD double lm_alfven_floor(const struct lm_grid *g, double dt)
{
    return lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy) * (dt * dt);
}

/* 1/n in plasma of a floored density, with B at the centre. */
LM_HD double lm_thin_per_density(double floored, struct lm_vector b, const struct lm_ohm *o)
{
    const double least = o->alfven_floor * (b.x * b.x + b.y * b.y + b.z * b.z);
    return lm_inverse(lm_max(floored, least < o->few ? least : o->few));
}

/* Whether no cell around has plasma. n and `other` stand on the cell in the densities of two levels, which are
 * averaged.
 */
LM_HD int lm_is_void(const double *n, const double *other, int s, const struct lm_ohm *o)
{
    double most = 0.0;
    for (int j = -LM_VOID_REACH; j <= LM_VOID_REACH; j++)
        for (int i = -LM_VOID_REACH; i <= LM_VOID_REACH; i++)
            most = lm_max(most, lm_mean(n[j * s + i], other[j * s + i]));
    return most < LM_VOID_SHARE * o->floor;
}

/* 1/n as Ohm's law takes it in a cell where the densities and B stand; 0 in a void. `solid`: 0, or enum lm_solid. */
LM_HD double lm_per_density(const double *n, const double *other, struct lm_view b, int solid, const struct lm_ohm *o)
{
    const double mean = lm_mean(n[0], other[0]);
    if (!solid && mean < LM_VOID_SHARE * o->floor && lm_is_void(n, other, b.s, o))
        return 0.0;
    return lm_thin_per_density(lm_floored(mean, o), lm_b_centre(b), o);
}

/* --- B in voids --- */

/* Stages in a step, and so many of them between two exchanges of the halo (src/ranks/halo.h): a stage reads the cells
 * beside. */
enum { LM_VOID_STAGES = 16, LM_VOID_EXCHANGE = 8 };

/* Stage `number`, from 1 on: Y = Y_1 + gain (Y_1 - Y_2) - rate curl E, where E is J in voids, and Y_1, Y_2 are the
 * results of the last stage and of the one before. All stages together are a step of diffusion of
 * (LM_VOID_STAGES^2 + LM_VOID_STAGES)/2 explicit steps; 0.9 of what is stable. */
struct lm_void_stage {
    double gain, rate;
};

LM_HD struct lm_void_stage lm_void_stage(int number, double k2)
{
    struct lm_void_stage s;
    s.gain = (number - 1.0) / number;
    s.rate = 0.9 * (1.0 + s.gain) * 2.0 / k2;
    return s;
}

/* A component of B after a stage. Where B is `held` (lm_is_held) it keeps its bits. */
LM_HD double lm_void_next(struct lm_void_stage stage, int held, double last, double before, double rate)
{
    return held ? last : last + (stage.gain * (last - before) + stage.rate * rate);
}

/* Where B diffuses: arrays of one stride, element 0 of each. */
struct lm_void_fields {
    struct lm_view b, external; /* B; the current outside the plasma, s = 0: none */
    const double *per_density;
    struct lm_field_sides sides;
    int nx, ny;
    double inv_dx, inv_dy;
};

/* The node inside whose E a node beyond walls of an axis of n cells takes: the mirror image behind conducting walls,
 * else the nearest one. `on_wall`: the nodes are the faces that the axis crosses. *sign is multiplied by that of E. */
LM_HD int lm_void_node(const struct lm_field_sides *sides, int axis, int n, int on_wall, int i, int *sign)
{
    const int low = on_wall ? -1 : 0, side = 2 * axis + (i >= n);
    if (!lm_field_walls(sides, axis) || (i >= low && i < n))
        return i;
    if (sides->of[side] == LM_CONDUCTING) {
        *sign = on_wall ? *sign : -*sign;
        i = i < low ? low + (on_wall ? low - i : low - 1 - i) : on_wall ? 2 * (n - 1) - i : 2 * n - 1 - i;
    }
    return i < low ? low : i < n ? i : n - 1;
}

/* E_`component` for the diffusion at the node of cell (i, j): J where one of the two cells of the node is void, else 0.
 * *touched is set where it is void. */
LM_HD double lm_void_e(const struct lm_void_fields *f, int component, int i, int j, int *touched)
{
    int sign = 1;
    const int x = lm_void_node(&f->sides, 0, f->nx, component == 0, i, &sign),
              y = lm_void_node(&f->sides, 1, f->ny, component == 1, j, &sign);
    const long k = (long)(y + LM_GHOST) * f->b.s + (x + LM_GHOST), other = component == 0   ? 1
                                                                           : component == 1 ? f->b.s
                                                                                            : 0;
    struct lm_vector current;
    if (f->per_density[k] != 0.0 && f->per_density[k + other] != 0.0)
        return 0.0;
    *touched = 1;
    current = lm_plasma_current(lm_view_at(f->b, k), lm_external_at(f->external, k), f->inv_dx, f->inv_dy);
    return sign * (component == 0 ? current.x : component == 1 ? current.y : current.z);
}

/* -curl E in cell (i, j). Returns whether a node of it touches a void; else the rate is 0. */
LM_HD int lm_void_rate(const struct lm_void_fields *f, int i, int j, struct lm_vector *rate)
{
    int touched = 0;
    const double x[3] = {lm_void_e(f, 0, i, j, &touched), 0.0, lm_void_e(f, 0, i, j + 1, &touched)},
                 y[3] = {lm_void_e(f, 1, i, j, &touched), lm_void_e(f, 1, i + 1, j, &touched), 0.0},
                 z[3] = {lm_void_e(f, 2, i, j, &touched), lm_void_e(f, 2, i + 1, j, &touched),
                         lm_void_e(f, 2, i, j + 1, &touched)};
    const struct lm_view e = {x, y, z, 2};
    *rate = lm_faraday(e, f->inv_dx, f->inv_dy);
    return touched;
}

#endif
