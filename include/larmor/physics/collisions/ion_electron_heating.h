/* Ions exchange heat with the electrons in their cell, T_i with T_e, where ions are slow beside electrons (v_ti <<
 * v_te): there the Fokker-Planck operator is an Ornstein-Uhlenbeck process (Lemons et al., J. Comput. Phys. 228 (2009)
 * 1391; Spitzer, Physics of Fully Ionized Gases, chapter 5),
 *
 *     w' = w exp(-x) + sqrt(T_e/m (1 - exp(-2 x))) N,   x = nu dt n / T_e^(3/2),
 *
 * N three normal numbers, w the velocity relative to the mean of the species in the cell: what electrons do to that
 * mean is resistivity's. n and T_e are those of the cell at the beginning of the step; but x has the mean T_e of the
 * cell and its neighbours: few ions make T_e noisy, and if of two cells the colder one exchanged more for that, T_i
 * would settle below T_e. Of the numbers N, too, their mean in the cell is taken off, so that the momentum of a species
 * in a cell stays. Velocities relative to a mean of K ions are K - 1 times independent, and one alone in its cell
 * exchanges nothing. So that the heat exchanged is that of all ions on average, 1 - exp(-2 x) is taken as many times as
 * there are ions to one that is independent, in the cell and its neighbours, but not more than 1.
 *
 * Here what the cells are; the particles are in larmor/physics/collisions/ion_electron_heating_particle.h.
 */
#ifndef LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_H
#define LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_H

#include "larmor/physics/collisions/ion_electron_heating_step.h"
#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/numerics/normal.h"
#include "larmor/physics/numerics/one_minus_exp.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/fields/wall.h"

/* What is added up over the ions of a species in a cell: their number, velocities, and normal numbers in units of
 * 1/LM_NOISE_UNIT; then the energy that they would give, in units of the pass' tallies. */
enum {
    LM_SUM_NUMBER,
    LM_SUM_VELOCITY,
    LM_SUM_NOISE = LM_SUM_VELOCITY + 3,
    LM_SUM_ENERGY = LM_SUM_NOISE + 3,
    LM_CELL_SUMS
};
#define LM_NOISE_UNIT 0x1p30

enum lm_bath_kind {
    LM_BATH_NONE, /* at the density floor, in a solid, or no two ions: no exchange */
    LM_BATH_OPEN,
    LM_BATH_REFUSES /* its electrons have less than they were asked for */
};

/* What the ions of a species meet in a cell. */
struct lm_bath {
    float lost;     /* of a velocity relative to the mean */
    float thermal;  /* standard deviation of the noise, v_A */
    float noise[3]; /* mean of the ions' normal numbers */
    int kind;
    double u[3]; /* mean velocity, v_A */
};

/* A cell whose electrons would be left with less of their pressure than this refuses. */
#define LM_EXCHANGE_LEFT 0x1p-6

/* Stands for the temperature where there is no exchange. */
#define LM_NO_TEMPERATURE (-1.0)

/* T_e of a cell. `room`: lm_background_room. */
LM_HD double lm_electron_temperature(double entropy, double n, uint8_t room, const struct lm_ohm *o)
{
    return room && n > o->floor ? lm_pressure_of(entropy, o->gamma) / n : LM_NO_TEMPERATURE;
}

/* x where the mean T_e is t, before it is limited; infinite at 0. */
LM_HD double lm_exchange_rate(const struct lm_exchange *e, double n, double t)
{
    return e->rate * n / (t * lm_sqrt(t));
}

/* Number b nx + a of a cell beside one of the domain; -1 beyond a wall. */
LM_HD long lm_cell_beside(int nx, int ny, const struct lm_sides *sides, int a, int b)
{
    const int x = lm_has_walls(sides, 0) ? a : lm_wrap(a, nx), y = lm_has_walls(sides, 1) ? b : lm_wrap(b, ny);
    return x < 0 || x >= nx || y < 0 || y >= ny ? -1 : (long)y * nx + x;
}

/* Of cell (i, j) and its eight neighbours: ions, and how many velocities relative to the means of cells are
 * independent. sums: [ny][nx][LM_CELL_SUMS]. */
struct lm_crowd {
    int64_t ions, independent;
};

LM_HD struct lm_crowd lm_crowd_around(const int64_t *sums, int nx, int ny, const struct lm_sides *sides, int i, int j)
{
    struct lm_crowd c = {0, 0};
    for (int b = j - 1; b <= j + 1; b++)
        for (int a = i - 1; a <= i + 1; a++) {
            const long cell = lm_cell_beside(nx, ny, sides, a, b);
            const int64_t number = cell < 0 ? 0 : sums[cell * LM_CELL_SUMS + LM_SUM_NUMBER];
            c.ions += number;
            c.independent += number > 0 ? number - 1 : 0;
        }
    return c;
}

/* The mean of the temperatures there that there are, or none. temperature: [ny][nx]. */
LM_HD double lm_temperature_around(const double *temperature, int nx, int ny, const struct lm_sides *sides, int i,
                                   int j)
{
    double sum = 0.0;
    int count = 0;
    for (int b = j - 1; b <= j + 1; b++)
        for (int a = i - 1; a <= i + 1; a++) {
            const long cell = lm_cell_beside(nx, ny, sides, a, b);
            const double t = cell < 0 ? LM_NO_TEMPERATURE : temperature[cell];
            sum += t == LM_NO_TEMPERATURE ? 0.0 : t;
            count += t != LM_NO_TEMPERATURE;
        }
    return count > 0 ? sum / count : LM_NO_TEMPERATURE;
}

/* Density and T_e in a cell, and the mean T_e around it. */
struct lm_exchange_place {
    double n, t, around;
};

/* Of a cell with these sums over the species. */
LM_HD struct lm_bath lm_bath_of(const struct lm_exchange *e, const struct lm_exchange_place *p,
                                const int64_t sum[LM_SUM_ENERGY], const struct lm_crowd *crowd)
{
    struct lm_bath b = {0.0f, 0.0f, {0.0f, 0.0f, 0.0f}, LM_BATH_NONE, {0.0, 0.0, 0.0}};
    const double number = (double)sum[LM_SUM_NUMBER];
    if (p->t == LM_NO_TEMPERATURE || number < 2.0)
        return b;
    const double x = lm_min(lm_exchange_rate(e, p->n, p->around), e->most);
    const double share = lm_min(lm_one_minus_exp(2.0 * x) * (double)crowd->ions / (double)crowd->independent, 1.0);
    b.lost = (float)(share / (1.0 + lm_sqrt(1.0 - share)));
    b.thermal = (float)lm_sqrt(p->t * share / e->mass);
    for (int d = 0; d < 3; d++) {
        b.noise[d] = (float)((double)sum[LM_SUM_NOISE + d] / (number * LM_NOISE_UNIT));
        b.u[d] = (double)sum[LM_SUM_VELOCITY + d] / (number * e->unit);
    }
    b.kind = LM_BATH_OPEN;
    return b;
}

/* No ion's speed grows by more than so many times sqrt(T_e/m (1 - exp(-2 x))). Its noise is at most (K - 1)/K of twice
 * the reach of normal numbers away from the mean of K, and with eight lonely neighbours there are (K + 8)/(K - 1) ions
 * to an independent one: the product of the former and the root of the latter is largest for K = 2. */
#define LM_EXCHANGE_REACH (2 * LM_NORMAL_REACH * 1.5812)

/* What of a cell counts for lm_exchange_limits: a size as bits, which order like sizes. */
struct lm_exchange_reach {
    uint64_t noise2;
    int limited;
};

LM_HD struct lm_exchange_reach lm_exchange_reach(const struct lm_exchange *e, const struct lm_exchange_place *p)
{
    struct lm_exchange_reach r = {0, 0};
    if (p->t == LM_NO_TEMPERATURE)
        return r;
    const double x = lm_exchange_rate(e, p->n, p->around);
    r.noise2 = lm_size_bits(p->t * lm_one_minus_exp(2.0 * lm_min(x, e->most)));
    r.limited = x > e->most;
    return r;
}

/* Whether the electrons of a cell of that entropy can take, or give, an energy density. */
LM_HD int lm_can_exchange(double entropy, double heat, double gamma)
{
    const double p = lm_pressure_of(entropy, gamma);
    return p + (gamma - 1.0) * heat >= LM_EXCHANGE_LEFT * p;
}

#endif
