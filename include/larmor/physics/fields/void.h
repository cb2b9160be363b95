/* Thin plasma and voids.
 *
 * Ohm's law divides (J - J_i) x B by the density. Three things keep this quotient in bounds where there is hardly any
 * plasma. The density counts as fields.density_floor at least. In cells of fewer than LM_FEW ions it also counts as
 * (k dt)^2 |B|^2 at least, with the largest wave number k on the grid: below that an Alfven wave of this wave number
 * turns by more than 1 in a step, and the noise of so few ions would heat them. In the substeps of B it counts as so
 * much that they are stable: their number was chosen at the beginning of the step, and a cell of few ions may have lost
 * most of its density since. As the density divides at the centres of the cells (ohm.h), its value neither gives energy
 * to the fields nor takes it.
 *
 * A void is a cell without plasma, as are most cells around it. The motional field is 0 there, and E follows from the
 * equations of a vacuum (void_field.h). The void begins in the first empty cell beside a plasma. Empty cells that were
 * no void would keep their B between the void and the plasma, and the pressure of the field would not reach the ions.
 *
 * A cell is empty that has less than a share of the density floor. Two kinds of cells are empty up to the floor itself.
 * One kind was void as the last step ended (LM_VOID): single ions that cross a void do not end it, for at its edge it
 * would come and go with each of them, and the current of a cell that becomes void is lost. The other kind lies at the
 * edge of a plasma, with far less than the cells around. In such cells the current of the ions is too small for the
 * floor to carry B along, so that B there would lag behind that of the void.
 */
#ifndef LARMOR_PHYSICS_FIELDS_VOID_H
#define LARMOR_PHYSICS_FIELDS_VOID_H

#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/physics/fields/time_step_limits.h"

/* A cell is empty that has less than this share of the density floor. It is void if of the cells up to LM_VOID_REACH
 * away, itself included, at least LM_VOID_COUNT are empty, more than half of them: beside a straight edge 15 of 25 are.
 * A hole of one cell or of two in a plasma of few particles is no void: such holes come and go, and where a cell
 * becomes void, its current is lost. */
#define LM_VOID_SHARE 0.1
enum { LM_VOID_REACH = 2, LM_VOID_CELLS = (2 * LM_VOID_REACH + 1) * (2 * LM_VOID_REACH + 1), LM_VOID_COUNT = 13 };

/* At the edge of a plasma a cell is empty that has less than the floor and less than this share of the mean of these
 * LM_VOID_CELLS cells. */
#define LM_EDGE_SHARE 0.5

/* Fewer ions in a cell are no fluid. */
#define LM_FEW 4

/* lm_ohm.alfven_floor. */
LM_HD double lm_alfven_floor(const struct lm_grid *g, double dt)
{
    return lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy) * (dt * dt);
}

/* lm_ohm.thermal_floor: where the density varies, an evolved pressure p and B are an oscillator of at most the
 * frequency k^2 sqrt(gamma p) / n, which turns by no more than 1 in a step above this density. */
LM_HD double lm_thermal_floor(const struct lm_grid *g, double gamma, double dt)
{
    return lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy) * (dt * lm_sqrt(gamma));
}

/* In a substep of B the whistler of the largest wave number turns by no more than this. It is the largest value of
 * fields.substep_safety; the Runge-Kutta method is stable up to 2.78. */
#define LM_LARGEST_TURN 2.7

/* The density at which it does, for |B| = 1. */
LM_HD double lm_whistler_floor(const struct lm_grid *g, double substep)
{
    return lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy) * (substep / LM_LARGEST_TURN);
}

/* B^2 of a cell: the mean of the squares on its nodes. B at the centre of thin plasma may be near 0 between nodes of
 * opposite signs, where J is large, and the density must not count as less there. */
LM_HD double lm_b_squared(struct lm_view b)
{
    const double x = b.x[0] * b.x[0] + b.x[-b.s] * b.x[-b.s], y = b.y[0] * b.y[0] + b.y[-1] * b.y[-1],
                 z = (b.z[0] * b.z[0] + b.z[-1] * b.z[-1]) + (b.z[-b.s] * b.z[-b.s] + b.z[-b.s - 1] * b.z[-b.s - 1]);
    return 0.5 * (x + y) + 0.25 * z;
}

/* The density that counts in plasma of a floored density. `b2`: lm_b_squared. */
LM_HD double lm_thin_density(double floored, double b2, const struct lm_ohm *o)
{
    const double least = o->alfven_floor * b2;
    return lm_max(floored, least < o->few ? least : o->few);
}

/* The same in a cell where B stands, which is read in thin plasma only. */
LM_HD double lm_counted_density(double floored, struct lm_view b, const struct lm_ohm *o)
{
    return floored >= o->few ? floored : lm_thin_density(floored, lm_b_squared(b), o);
}

/* The density that divides the force of an evolved pressure on B, and the current in the velocity that carries the
 * entropy. `counted`: lm_counted_density of the cell; `entropy`: p^(1/gamma). */
LM_HD double lm_density_for_battery(double counted, double entropy, const struct lm_ohm *o)
{
    if (counted >= o->few)
        return counted;
    return lm_max(counted, lm_min(o->few, o->thermal_floor * lm_sqrt(lm_pow(entropy, o->gamma))));
}

/* 1/n in plasma of a floored density. whistler_floor: 0 outside the substeps of B. */
LM_HD double lm_thin_per_density(double floored, double b2, const struct lm_ohm *o, double whistler_floor)
{
    const double n = lm_thin_density(floored, b2, o);
    return lm_inverse(whistler_floor > 0.0 ? lm_max(n, whistler_floor * lm_sqrt(b2)) : n);
}

/* The density of the LM_VOID_CELLS cells around, of the mean of two levels. */
LM_HD double lm_density_around(const double *n, const double *other, int s)
{
    double sum = 0.0;
    for (int j = -LM_VOID_REACH; j <= LM_VOID_REACH; j++)
        for (int i = -LM_VOID_REACH; i <= LM_VOID_REACH; i++)
            sum += lm_mean(n[j * s + i], other[j * s + i]);
    return sum * (1.0 / LM_VOID_CELLS);
}

/* Whether a cell is empty. n and `other` stand on it in the densities of two levels, which are averaged. `was_void`: 1
 * if it was void in the step of B before, else 0. */
LM_HD int lm_is_empty(const double *n, const double *other, int s, double was_void, const struct lm_ohm *o)
{
    const double here = lm_mean(n[0], other[0]);
    double around;
    if (here >= o->floor)
        return 0;
    if (here < LM_VOID_SHARE * o->floor || was_void != 0.0)
        return 1;
    around = lm_density_around(n, other, s);
    return around > o->few && here < LM_EDGE_SHARE * around;
}

/* Whether cell (i, j) lies beyond a side through which a given E lets flux in. It counts as empty: a vacuum brings the
 * flux there, and a gap of one cell between this side and a plasma is a void. */
LM_HD int lm_is_vacuum_beyond(const struct lm_field_sides *s, int nx, int ny, int i, int j)
{
    return (i < 0 && s->of[LM_X_MIN] == LM_INFLOW_E) || (i >= nx && s->of[LM_X_MAX] == LM_INFLOW_E) ||
           (j < 0 && s->of[LM_Y_MIN] == LM_INFLOW_E) || (j >= ny && s->of[LM_Y_MAX] == LM_INFLOW_E);
}

/* Whether a cell is void. `empty` stands on it, with 1 in empty cells and else 0. */
LM_HD int lm_is_void(const double *empty, int s)
{
    double count = 0.0;
    if (empty[0] == 0.0)
        return 0;
    for (int j = -LM_VOID_REACH; j <= LM_VOID_REACH; j++)
        for (int i = -LM_VOID_REACH; i <= LM_VOID_REACH; i++)
            count += empty[j * s + i];
    return count >= LM_VOID_COUNT;
}

/* 1/n in a cell of plasma where B stands. B matters in thin plasma and in substeps only, and is read only there. */
LM_HD double lm_plasma_per_density(double floored, struct lm_view b, const struct lm_ohm *o, double whistler_floor)
{
    const int is_thick = floored >= o->few && !(whistler_floor > 0.0);
    return lm_thin_per_density(floored, is_thick ? 0.0 : lm_b_squared(b), o, whistler_floor);
}

/* 1/n as Ohm's law takes it in a cell where B stands, of a floored density; 0 in a void. `empty`: NULL where no cell
 * is. `solid`: not 0 in a body. */
LM_HD double lm_per_density(double floored, const double *empty, struct lm_view b, int solid, const struct lm_ohm *o,
                            double whistler_floor)
{
    if (!solid && empty != NULL && lm_is_void(empty, b.s))
        return 0.0;
    return lm_plasma_per_density(floored, b, o, whistler_floor);
}

#endif
