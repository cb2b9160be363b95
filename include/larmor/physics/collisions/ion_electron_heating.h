/* Ions exchange heat with the electrons in their cell, T_i with T_e. Where ions are slow beside electrons (v_ti <<
 * v_te), the Fokker-Planck operator is an Ornstein-Uhlenbeck process (Lemons et al. 2009, J. Comput. Phys. 228, 1391;
 * Spitzer, Physics of Fully Ionized Gases, chapter 5):
 *
 *     w' = w exp(-x) + sqrt(T_e/m (1 - exp(-2 x))) N,   x = nu dt n / T_e^(3/2)
 *
 * w is the velocity relative to the mean velocity of the species in the cell. What electrons do to that mean is part of
 * the resistivity. N are three normal random numbers. Their mean over the ions of the cell is subtracted, so that the
 * momentum of a species in a cell does not change.
 *
 * n and T_e are those of the cell at the beginning of the step, with one exception: x uses T_e averaged over the cell
 * and its neighbours. The local T_e is noisy where there are few ions. With it, cold cells would exchange most, and T_i
 * would settle below T_e.
 *
 * Of the velocities of K ions relative to their mean, K - 1 are independent. A single ion in a cell exchanges nothing.
 * To make the heat exchanged right on average, 1 - exp(-2 x) is multiplied by the number of ions over the number of
 * independent velocities, both counted in the cell and its neighbours. The product is limited to 1.
 *
 * This header has the cells; the particles are in larmor/physics/collisions/ion_electron_heating_particle.h.
 */
#ifndef LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_H
#define LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_H

#include "larmor/physics/collisions/ion_electron_heating_step.h"
#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/numerics/normal.h"
#include "larmor/physics/numerics/one_minus_exp.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/fields/wall.h"

/* The sums over the ions of a species in a cell. First the moments: their number, their velocities, and their normal
 * random numbers in units of 1/LM_NOISE_UNIT. Then the energy that they request the electrons to take, in units of the
 * tallies of the pass. */
enum {
    LM_SUM_NUMBER,
    LM_SUM_VELOCITY,
    LM_SUM_NOISE = LM_SUM_VELOCITY + 3,
    LM_SUM_ENERGY = LM_SUM_NOISE + 3,
    LM_CELL_SUMS
};
#define LM_NOISE_UNIT 0x1p30

enum lm_heating_kind {
    LM_HEATING_NONE, /* no exchange: the cell is at the density floor or in a body, or has fewer than two ions */
    LM_HEATING_ALLOWED,
    LM_HEATING_REFUSED /* the electrons of the cell cannot give the energy that the ions request */
};

/* A cell as the ions of one species see it: how their velocities change in it. */
struct lm_heating_cell {
    float lost;     /* share of a velocity relative to the mean that is lost */
    float thermal;  /* standard deviation of the random change, v_A */
    float noise[3]; /* mean of the normal random numbers of the ions */
    int kind;       /* enum lm_heating_kind */
    double u[3];    /* mean velocity, v_A */
};

/* A cell refuses the exchange if its electrons would keep less than this share of their pressure. */
#define LM_EXCHANGE_LEFT 0x1p-6

/* The temperature of a cell in which there is no exchange. */
#define LM_NO_TEMPERATURE (-1.0)

/* T_e of a cell. `clearance` is that of lm_stencil_clearance. */
LM_HD double lm_electron_temperature(double entropy, double n, uint8_t clearance, const struct lm_ohm *o)
{
    return clearance && n > o->floor ? lm_pressure_of(entropy, o->gamma) / n : LM_NO_TEMPERATURE;
}

/* x for the mean T_e t, before it is limited; infinite at t = 0. */
LM_HD double lm_exchange_rate(const struct lm_exchange *e, double n, double t)
{
    return e->rate * n / (t * lm_sqrt(t));
}

/* The number j nx + i of cell (a, b), or of its periodic image in the domain; -1 beyond a wall. */
LM_HD long lm_neighbour_cell(int nx, int ny, const struct lm_sides *sides, int a, int b)
{
    const int x = lm_has_walls(sides, 0) ? a : lm_wrap_seldom(a, nx),
              y = lm_has_walls(sides, 1) ? b : lm_wrap_seldom(b, ny);
    return x < 0 || x >= nx || y < 0 || y >= ny ? -1 : (long)y * nx + x;
}

/* In a cell and its eight neighbours: the number of ions, and the number of independent velocities relative to the
 * means of the cells. */
struct lm_neighbour_counts {
    int64_t ions, independent;
};

/* Of cell (i, j); sums: [ny][nx][LM_CELL_SUMS]. */
LM_HD struct lm_neighbour_counts lm_count_neighbours(const int64_t *sums, int nx, int ny, const struct lm_sides *sides,
                                                     int i, int j)
{
    struct lm_neighbour_counts c = {0, 0};
    for (int b = j - 1; b <= j + 1; b++)
        for (int a = i - 1; a <= i + 1; a++) {
            const long cell = lm_neighbour_cell(nx, ny, sides, a, b);
            const int64_t number = cell < 0 ? 0 : sums[cell * LM_CELL_SUMS + LM_SUM_NUMBER];
            c.ions += number;
            c.independent += number > 0 ? number - 1 : 0;
        }
    return c;
}

/* The mean T_e of cell (i, j) and its neighbours, without those that exchange nothing; LM_NO_TEMPERATURE if all of them
 * exchange nothing. temperature: [ny][nx]. */
LM_HD double lm_temperature_around(const double *temperature, int nx, int ny, const struct lm_sides *sides, int i,
                                   int j)
{
    double sum = 0.0;
    int count = 0;
    for (int b = j - 1; b <= j + 1; b++)
        for (int a = i - 1; a <= i + 1; a++) {
            const long cell = lm_neighbour_cell(nx, ny, sides, a, b);
            const double t = cell < 0 ? LM_NO_TEMPERATURE : temperature[cell];
            sum += t == LM_NO_TEMPERATURE ? 0.0 : t;
            count += t != LM_NO_TEMPERATURE;
        }
    return count > 0 ? sum / count : LM_NO_TEMPERATURE;
}

/* The electrons of a cell: density, T_e, and the mean T_e around it. */
struct lm_cell_electrons {
    double n, t, around;
};

/* Of cell (i, j) with density n; temperature: [ny][nx]. */
LM_HD struct lm_cell_electrons lm_electrons_of_cell(double n, const double *temperature, int nx, int ny,
                                                    const struct lm_sides *sides, int i, int j)
{
    struct lm_cell_electrons e;
    e.n = n;
    e.t = temperature[(long)j * nx + i];
    e.around = lm_temperature_around(temperature, nx, ny, sides, i, j);
    return e;
}

/* From the electrons of a cell, the moments of its ions and the counts around it. */
LM_HD struct lm_heating_cell lm_heating_cell_of(const struct lm_exchange *e, const struct lm_cell_electrons *p,
                                                const int64_t sum[LM_SUM_ENERGY],
                                                const struct lm_neighbour_counts *around)
{
    struct lm_heating_cell b = {0.0f, 0.0f, {0.0f, 0.0f, 0.0f}, LM_HEATING_NONE, {0.0, 0.0, 0.0}};
    const double number = (double)sum[LM_SUM_NUMBER];
    if (p->t == LM_NO_TEMPERATURE || number < 2.0)
        return b;
    const double x = lm_min(lm_exchange_rate(e, p->n, p->around), e->most);
    const double share = lm_min(lm_one_minus_exp(2.0 * x) * (double)around->ions / (double)around->independent, 1.0);
    b.lost = (float)(share / (1.0 + lm_sqrt(1.0 - share)));
    b.thermal = (float)lm_sqrt(p->t * share / e->mass);
    for (int d = 0; d < 3; d++) {
        b.noise[d] = (float)((double)sum[LM_SUM_NOISE + d] / (number * LM_NOISE_UNIT));
        b.u[d] = (double)sum[LM_SUM_VELOCITY + d] / (number * e->unit);
    }
    b.kind = LM_HEATING_ALLOWED;
    return b;
}

/* The same for cell (i, j); sums: [ny][nx][LM_CELL_SUMS]. */
LM_HD struct lm_heating_cell lm_heating_cell_at(const struct lm_exchange *e, const struct lm_cell_electrons *electrons,
                                                const int64_t *sums, int nx, int ny, const struct lm_sides *sides,
                                                int i, int j)
{
    const struct lm_neighbour_counts around = lm_count_neighbours(sums, nx, ny, sides, i, j);
    return lm_heating_cell_of(e, electrons, sums + ((long)j * nx + i) * LM_CELL_SUMS, &around);
}

/* An exchange adds at most this many times sqrt(T_e/m (1 - exp(-2 x))) to the speed of an ion. The random numbers of an
 * ion differ from the mean of K by at most (K - 1)/K of twice their reach. With eight neighbours of one ion each there
 * are (K + 8)/(K - 1) ions for each independent velocity. The product of the first factor and the root of the second
 * one is largest for K = 2. */
#define LM_EXCHANGE_REACH (2 * LM_NORMAL_REACH * 1.5812)

/* What a cell adds to lm_exchange_limits. */
struct lm_exchange_bound {
    uint64_t noise2; /* T_e (1 - exp(-2 x)) as bits, which order like sizes */
    int limited;     /* whether x is limited */
};

LM_HD struct lm_exchange_bound lm_exchange_bound(const struct lm_exchange *e, const struct lm_cell_electrons *p)
{
    struct lm_exchange_bound r = {0, 0};
    if (p->t == LM_NO_TEMPERATURE)
        return r;
    const double x = lm_exchange_rate(e, p->n, p->around);
    r.noise2 = lm_size_bits(p->t * lm_one_minus_exp(2.0 * lm_min(x, e->most)));
    r.limited = x > e->most;
    return r;
}

/* Whether the electrons of a cell with this entropy can take an energy density, or give it if it is negative. */
LM_HD int lm_can_exchange(double entropy, double heat, double gamma)
{
    const double p = lm_pressure_of(entropy, gamma);
    return p + (gamma - 1.0) * heat >= LM_EXCHANGE_LEFT * p;
}

/* Adds the requested energy to the electrons of a cell, or refuses it: changes *entropy or cell->kind. Clears the sums
 * of the cell. `unit` turns the sum of energy into an energy density in a whole cell, of which `volume` is open. Quanta
 * of the entropy are 2^-quantum; those of the change are added to *source. */
LM_HD void lm_heat_electrons(struct lm_heating_cell *cell, int64_t sum[LM_CELL_SUMS], double *entropy, double volume,
                             double unit, int quantum, double gamma, struct lm_wide *source)
{
    const double heat = (double)sum[LM_SUM_ENERGY] * unit / volume, before = *entropy;
    for (int what = 0; what < LM_CELL_SUMS; what++)
        sum[what] = 0;
    if (cell->kind == LM_HEATING_ALLOWED && !lm_can_exchange(before, heat, gamma))
        cell->kind = LM_HEATING_REFUSED;
    if (cell->kind == LM_HEATING_ALLOWED)
        *entropy =
            lm_heat_cell(before, lm_pressure_of(before, gamma), (gamma - 1.0) * heat, volume, quantum, gamma, source);
}

#endif
