/* Heat between ions and electrons: what one cell offers, its neighbours, and bounds of the speeds. */
#include <check.h>
#include <math.h>

#include "larmor/physics/collisions/ion_electron_heating.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

static const double GAMMA = 5.0 / 3;

/* The largest velocity that the noise can give to one of K ions: one ion gets the largest normal number and the others
 * its opposite, and the neighbouring cells have single ions. It is within the bound and close to it. */
START_TEST(worst_noise)
{
    const struct lm_exchange e = {.rate = 0.01, .most = 0.3, .mass = 2, .unit = 1};
    const double reach = 9.5653, share = -expm1(-2 * 0.01), bound = LM_EXCHANGE_REACH * sqrt(share / 2);
    double worst = 0;
    for (int k = 2; k < 100; k++) {
        const int64_t sum[LM_SUM_ENERGY] = {k};
        const struct lm_neighbour_counts around = {k + 8, k - 1};
        const struct lm_cell_electrons place = {1, 1, 1};
        const struct lm_heating_cell b = lm_heating_cell_of(&e, &place, sum, &around);
        worst = fmax(worst, (double)b.thermal * 2 * reach * (k - 1) / k);
    }
    ck_assert_double_le(worst, bound);
    ck_assert_double_gt(worst, 0.999 * bound);
}
END_TEST

/* The bound of the speed, which the fixed-point sums rely on: cold ions get the noise of hot electrons and are pushed
 * after that. Of 12000 ions one reaches four standard deviations. */
START_TEST(speeds_are_bounded)
{
    static const char text[] =
        "[run]\nsteps = 10\ndt = 0.001\n[grid]\nnx = 6\nny = 2\nlx = 6\nly = 2\n[electrons]\nclosure = evolved\n"
        "temperature = 100\n[species.p]\nparticles_per_cell = 1000\ntemperature = 0\nelectron_heat_exchange_rate = "
        "1e6\n";
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, 1);
    ck_assert_double_gt(sqrt(sim->control.speed2[0]), 4 * sqrt(50));
    ck_assert_double_le(sqrt(sim->control.speed2[0]), ldexp(1, sim->pass[0].speed_exponent));
    ck_assert_int_eq(sim->exchange[0].limited, 12);
    advance(sim, 10);
    sim_free(sim);
}
END_TEST

/* Sums over the neighbours of a cell: each neighbour counts once, those beyond walls do not count, and a cell has at
 * least 0 independent ions. */
START_TEST(crowds)
{
    static const int numbers[4][3] = {{1, 0, 2}, {3, 5, 0}, {1, 1, 7}, {0, 0, 4}};
    int64_t sums[12 * LM_CELL_SUMS] = {0};
    for (int k = 0; k < 12; k++)
        sums[k * LM_CELL_SUMS + LM_SUM_NUMBER] = numbers[k / 3][k % 3];
    const struct lm_sides periodic = {{LM_PERIODIC, LM_PERIODIC, LM_PERIODIC, LM_PERIODIC}},
                          walls = {{LM_REFLECTING, LM_ABSORBING, LM_PERIODIC, LM_PERIODIC}};
    struct lm_neighbour_counts c = lm_count_neighbours(sums, 3, 4, &periodic, 1, 1);
    ck_assert(c.ions == 20 && c.independent == 1 + 2 + 4 + 6);
    c = lm_count_neighbours(sums, 3, 4, &periodic, 0, 3);
    ck_assert(c.ions == 16 && c.independent == 1 + 6 + 3);
    c = lm_count_neighbours(sums, 3, 4, &walls, 0, 3);
    ck_assert(c.ions == 3 && c.independent == 0);
    c = lm_count_neighbours(sums, 3, 4, &walls, 2, 0);
    ck_assert(c.ions == 11 && c.independent == 1 + 4 + 3);
    const double no = LM_NO_TEMPERATURE, t[12] = {1, no, 2, 3, 5, no, no, 1, 7, no, no, no};
    require_near(lm_temperature_around(t, 3, 4, &periodic, 1, 1), (1 + 2 + 3 + 5 + 1 + 7) / 6.0, 1e-15);
    require_near(lm_temperature_around(t, 3, 4, &walls, 0, 0), (1 + 3 + 5) / 3.0, 1e-15);
    ck_assert(lm_temperature_around(t, 3, 4, &walls, 0, 3) == 1);
    ck_assert(lm_temperature_around(t, 1, 1, &periodic, 0, 0) == 1);
    ck_assert(lm_temperature_around(t + 9, 3, 1, &periodic, 0, 0) == no);
}
END_TEST

static struct lm_heating_cell bath_at(const struct lm_exchange *e, double n, double t, const int64_t *sum,
                                      const struct lm_neighbour_counts *crowd)
{
    const struct lm_cell_electrons place = {n, t, t};
    return lm_heating_cell_of(e, &place, sum, crowd);
}

/* What the electrons of a cell give to ions: nothing at the density floor, in solids, and to a single ion; at T_e = 0
 * friction up to the limit. With few ions the share grows by the number of ions over that of independent ones, up to
 * 1. */
START_TEST(baths)
{
    const struct lm_ohm o = {.floor = 0.1, .gamma = GAMMA};
    const struct lm_exchange e = {.rate = 0.1, .most = 0.3, .mass = 4, .unit = 0x1p20};
    const int64_t many[] = {1 << 30, (int64_t)0.3e6 << 30, 0, -((int64_t)0.4e6 << 30), 0, (int64_t)1 << 58, 0};
    const struct lm_neighbour_counts plenty = {1 << 30, 1 << 30}, thirds = {9, 6}, halves = {18, 9}, lonely = {10, 1};
    const int64_t alone[] = {1, 5, 5, 5, 1, 2, 3}, two[] = {2, 2 << 20, 0, 0, 0, 0, 1 << 30},
                  three[LM_SUM_ENERGY] = {3};
    ck_assert(lm_electron_temperature(1, 0.1, 1, &o) == LM_NO_TEMPERATURE);
    ck_assert(lm_electron_temperature(1, 1, 0, &o) == LM_NO_TEMPERATURE);
    ck_assert_double_eq_tol(lm_electron_temperature(8, 2, 1, &o), 16, 1e-12);
    ck_assert_int_eq(bath_at(&e, 1, LM_NO_TEMPERATURE, many, &plenty).kind, LM_HEATING_NONE);
    ck_assert_int_eq(bath_at(&e, 1, 4, alone, &halves).kind, LM_HEATING_NONE);
    struct lm_heating_cell b = bath_at(&e, 2, 4, many, &plenty);
    ck_assert_int_eq(b.kind, LM_HEATING_ALLOWED);
    ck_assert_double_eq_tol(b.lost, -expm1(-0.1 * 2 / 8), 1e-8);
    ck_assert_double_eq_tol(b.thermal, sqrt(-expm1(-0.05)), 1e-7);
    ck_assert_double_eq_tol(b.u[0], 0.3e6 / 0x1p20, 1e-12);
    ck_assert_double_eq_tol(b.u[2], -0.4e6 / 0x1p20, 1e-12);
    ck_assert(b.noise[0] == 0 && b.noise[1] == 0.25f);
    b = bath_at(&e, 0.2, 0, many, &plenty);
    ck_assert(b.thermal == 0 && b.kind == LM_HEATING_ALLOWED);
    ck_assert_double_eq_tol(b.lost, -expm1(-0.3), 1e-7);
    b = bath_at(&e, 2, 4, three, &thirds);
    ck_assert_double_eq_tol(b.lost, 1 - sqrt(1 + 1.5 * expm1(-0.05)), 1e-7);
    ck_assert_double_eq_tol(b.thermal, sqrt(-1.5 * expm1(-0.05)), 1e-7);
    b = bath_at(&e, 9, 1, two, &halves); /* a share of 0.45, doubled, stays below 1 */
    ck_assert_double_eq_tol(b.lost, 1 - sqrt(1 + 2 * expm1(-0.6)), 1e-7);
    ck_assert(b.u[0] == 1 && b.noise[2] == 0.5f);
    const struct lm_exchange strong = {.rate = 9, .most = 0.4, .mass = 1, .unit = 1};
    b = bath_at(&strong, 1, 1, two, &lonely);
    ck_assert(b.lost == 1 && b.thermal == 1);
    ck_assert(lm_can_exchange(1, -0.98 / (GAMMA - 1), GAMMA));
    ck_assert(!lm_can_exchange(1, -0.99 / (GAMMA - 1), GAMMA));
    ck_assert(!lm_can_exchange(0, -1e-9, GAMMA) && lm_can_exchange(0, 1, GAMMA));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exchange of heat, cells");
    TCase *t = tcase_create("exchange of heat, cells");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, worst_noise);
    tcase_add_test(t, speeds_are_bounded);
    tcase_add_test(t, crowds);
    tcase_add_test(t, baths);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
