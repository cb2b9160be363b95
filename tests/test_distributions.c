/* Counts of [distribution.NAME] against a plain count over all particles on the host, which looks up each value in its
 * own way, and the bins of particles with round values. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary_host.h"
#include "output/state.h"
#include "require.h"
#include "sim_run.h"
#include "suite.h"

#define LM_PRECISION 64
#include "larmor/physics/particles/distribution.h"

/* --- the plain count --- */

struct plain {
    const struct lm_bins *bins;
    struct lm_grid grid;
    double *b; /* three arrays with ghost cells */
    double mass;
};

static double interpolate(const struct lm_grid *g, const double *array, struct lm_cell_offset offset, double x,
                          double y)
{
    const double gx = x - 0.5 - offset.x, gy = y - 0.5 - offset.y;
    const double fx = gx - floor(gx), fy = gy - floor(gy);
    const double *low = array + lm_at(g, (int)floor(gx), (int)floor(gy)), *high = low + g->stride;
    return (1 - fy) * ((1 - fx) * low[0] + fx * low[1]) + fy * ((1 - fx) * high[0] + fx * high[1]);
}

static void direction(const struct plain *c, double x, double y, double out[3])
{
    static const struct lm_cell_offset places[3] = {{0, 0.5}, {0.5, 0}, {0.5, 0.5}};
    for (int d = 0; d < 3; d++)
        out[d] = interpolate(&c->grid, c->b + (size_t)d * c->grid.size, places[d], x / c->grid.dx, y / c->grid.dy);
    const double size = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    for (int d = 0; d < 3; d++)
        out[d] = size > 0 ? out[d] / size : d == 0;
}

static double gyrophase(const double v[3], const double b[3])
{
    const double across = sqrt(b[0] * b[0] + b[1] * b[1]);
    const double first[3] = {across > 0 ? -b[1] / across : 1, across > 0 ? b[0] / across : 0, 0};
    const double second[3] = {b[1] * first[2] - b[2] * first[1], b[2] * first[0] - b[0] * first[2],
                              b[0] * first[1] - b[1] * first[0]};
    const double p = v[0] * first[0] + v[1] * first[1] + v[2] * first[2];
    const double q = v[0] * second[0] + v[1] * second[1] + v[2] * second[2];
    const double angle = lm_host_atan2(q, p) * (180 / M_PI);
    return angle < 0 ? angle + 360 : angle;
}

static void values_of(const struct plain *c, double x, double y, const double v[3], double value[LM_AXES])
{
    double b[3];
    direction(c, x, y, b);
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double along = v[0] * b[0] + v[1] * b[1] + v[2] * b[2];
    const double across = sqrt(fmax(square - along * along, 0));
    const double all[LM_AXES] = {
        [LM_AXIS_X] = x,
        [LM_AXIS_Y] = y,
        [LM_AXIS_VX] = v[0],
        [LM_AXIS_VY] = v[1],
        [LM_AXIS_VZ] = v[2],
        [LM_AXIS_PAR] = along,
        [LM_AXIS_PERP] = across,
        [LM_AXIS_ENERGY] = 0.5 * c->mass * square,
        [LM_AXIS_PITCH] = lm_host_atan2(across, along) * (180 / M_PI),
        [LM_AXIS_GYROPHASE] = gyrophase(v, b),
    };
    memcpy(value, all, sizeof all);
}

/* The last bin whose lower edge is not above the value, by bisection. */
static int plain_bin(const struct lm_bins *bins, int axis, double value)
{
    const double width = (bins->high[axis] - bins->low[axis]) / bins->count[axis];
    int low = 0, high = bins->count[axis];
    if (!(value >= bins->low[axis] && value < bins->high[axis]))
        return -1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(value >= bins->low[axis] + middle * width ? &low : &high) = middle;
    }
    return low;
}

static void count_plainly(const struct plain *c, double x, double y, const double v[3], uint64_t *counts)
{
    const struct lm_bins *bins = c->bins;
    double value[LM_AXES];
    size_t at = 0;
    if (x < bins->from_x || x >= bins->to_x || y < bins->from_y || y >= bins->to_y)
        return;
    values_of(c, x, y, v, value);
    for (int k = 0; k < bins->dimensions; k++) {
        const int bin = plain_bin(bins, k, value[bins->axis[k]]);
        if (bin < 0) {
            counts[lm_bins_all(bins)]++;
            return;
        }
        at = at * (size_t)bins->count[k] + (size_t)bin;
    }
    counts[at]++;
}

static uint64_t *plain_counts(struct lm_sim *sim, int species, const struct lm_bins *bins)
{
    struct plain c = {.bins = bins, .grid = sim->grid, .mass = sim->config->species[species].mass};
    uint64_t *counts = calloc(lm_bins_counters(bins), sizeof *counts);
    ck_assert_int_eq(lm_sim_compact(sim), LM_OK); /* `count` counts those that are there */
    const uint64_t n = sim->count[species];
    double *x = malloc((5 * n + 1) * sizeof *x), *y = x + n, *vx = y + n, *vy = vx + n, *vz = vy + n;
    ck_assert_int_eq(lm_output_b(sim, &c.grid, &c.b), LM_OK);
    ck_assert_int_eq(lm_sim_get_particles(sim, species, 0, n, x, y, vx, vy, vz), LM_OK);
    for (uint64_t k = 0; k < n; k++)
        count_plainly(&c, x[k], y[k], (double[]){vx[k], vy[k], vz[k]}, counts);
    free(x);
    free(c.b);
    return counts;
}

/* --- simulations --- */

#define RUN "[run]\nsteps = 9\ndt = 0.02\nseed = 5\n"
#define IONS                                                                                                           \
    "[species.p]\nparticles_per_cell = 40\ntemperature = 0.4\ndrift_x = 0.3\n[species.a]\nmass = 4\ncharge = 2\n"      \
    "density = 0.1 + 0.05*x/lx\nparticles_per_cell = 100\ntemperature_x = 0.9\ntemperature_y = 0.2\n"
#define FIELD                                                                                                          \
    "[electrons]\ntemperature = 0.4\n[fields]\nbx = 0.6\nby = 0.3 + 0.1*sin(2*pi*x/lx)\n"                              \
    "bz = 0.4 + 0.2*cos(2*pi*y/ly)\n"

static const char *const texts[] = {
    RUN "[grid]\nnx = 40\nny = 21\nlx = 7\nly = 4\n" FIELD IONS,
    RUN "[grid]\nnx = 1\nny = 30\nlx = 0.25\nly = 9\n" FIELD IONS,
    RUN "[grid]\nnx = 30\nny = 1\nlx = 9\nly = 0.25\n" FIELD
        "[particles]\nshape = quadratic\nprecision = single\n" IONS,
    RUN "[grid]\nnx = 26\nny = 24\nlx = 7\nly = 6\n[boundary]\ny_min = reflecting\ny_max = absorbing\n" FIELD
        "[particles]\nprecision = single\n" IONS,
    RUN "[grid]\nnx = 30\nny = 22\nlx = 9\nly = 6\n[boundary]\nx_min = inflow\nx_max = absorbing\n" FIELD IONS
        "[body.moon]\nshape = disk\nx = 4\ny = 3\nradius = 1.2\nparticles = absorbing\n",
    RUN "[grid]\nnx = 9\nny = 2\nlx = 3\nly = 1\n[boundary]\nx_min = thermal\nx_min_temperature = 0.4\n"
        "x_max = reflecting\ny_min = reflecting\ny_max = absorbing\n" FIELD "[particles]\nshape = quadratic\n" IONS,
    RUN "[grid]\nnx = 8\nny = 8\nlx = 3\nly = 3\n[electrons]\ntemperature = 0\n[fields]\nsolver = none\n" IONS,
};

enum { TEXTS = sizeof texts / sizeof *texts };

static const struct lm_bins all_bins[] = {
    {3, {LM_AXIS_PAR, LM_AXIS_PERP, LM_AXIS_X}, {8, 6, 3}, {-1.5, 0, 0}, {1.5, 1.25, 5}, LM_NO_REGION},
    {2, {LM_AXIS_PITCH, LM_AXIS_GYROPHASE}, {12, 8}, {0, 0}, {180, 360}, 0.1, 5.03, 0.1, 0.8},
    {2, {LM_AXIS_Y, LM_AXIS_ENERGY}, {70, 100}, {0, 0}, {5, 0.7}, -INFINITY, INFINITY, 0.06, INFINITY},
    {3, {LM_AXIS_VX, LM_AXIS_VY, LM_AXIS_VZ}, {64, 63, 33}, {-1, -1.5, -1}, {1.5, 1, 0.5}, LM_NO_REGION}, /* more than
                                                                                                              2^16 */
    {1, {LM_AXIS_GYROPHASE}, {1}, {90}, {270}, 0, INFINITY, -INFINITY, 3},
    {1, {LM_AXIS_VX}, {1000}, {0.3}, {0.30001}, LM_NO_REGION},
};

enum { KINDS = sizeof all_bins / sizeof *all_bins };

static uint64_t sum_of(const uint64_t *counts, size_t n)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += counts[k];
    return sum;
}

/* Returns how many particles are in bins. */
static uint64_t require_plain_counts(struct lm_sim *sim, int species, const struct lm_bins *bins)
{
    const size_t n = lm_bins_counters(bins);
    uint64_t *counts = malloc(n * sizeof *counts), *want;
    memset(counts, 0xff, n * sizeof *counts);
    ck_assert_msg(!lm_sim_distribution(sim, species, bins, counts), "%s", lm_error()); /* before anything is sorted */
    want = plain_counts(sim, species, bins);
    for (size_t k = 0; k < n; k++)
        if (counts[k] != want[k])
            ck_abort_msg("counter %zu: %llu, and the plain count is %llu", k, (unsigned long long)counts[k],
                         (unsigned long long)want[k]);
    const uint64_t sum = sum_of(counts, n - 1);
    free(counts);
    free(want);
    return sum;
}

/* At several steps, so that some particles have left their tile, some have left, and some have entered since a sort. */
START_TEST(counts_are_those_of_a_plain_count)
{
    static const char *const threads[] = {"run.threads=1", "run.threads=2"};
    for (int t = 0; t < 2; t++) {
        struct lm_sim *sim = sim_new(texts[_i], threads[t]);
        uint64_t counted[KINDS] = {0};
        for (int step = 0; step <= 8; step += 4) {
            advance(sim, step);
            const uint64_t before = fingerprint(sim);
            for (int kind = 0; kind < KINDS; kind++)
                for (int s = 0; s < 2; s++)
                    counted[kind] += require_plain_counts(sim, s, &all_bins[kind]);
            ck_assert_uint_eq(fingerprint(sim), before);
        }
        for (int kind = 0; kind < KINDS - 1; kind++)
            ck_assert_uint_gt(counted[kind], 100);
        sim_free(sim);
    }
}
END_TEST

/* --- bins of round values --- */

enum { NX = 4, NY = 3, STRIDE = NX + 2 * LM_GHOST, SIZE = STRIDE * (NY + 2 * LM_GHOST) };

static double field[3][SIZE];

/* A periodic box of 4 x 3 cells of 0.5 x 1 d_i with B = (bx, by, bz). */
static struct lm_counting box_of(double bx, double by, double bz)
{
    struct lm_counting c = {.needs_b = 1, .mass = 2, .dx = 0.5, .dy = 1, .stride = STRIDE};
    const double b[3] = {bx, by, bz};
    c.tiling = lm_tiling_make(8, NX, NY);
    c.place = lm_whole_domain(NX, NY);
    for (int d = 0; d < 3; d++) {
        for (int k = 0; k < SIZE; k++)
            field[d][k] = b[d];
        c.b[d] = field[d];
    }
    return c;
}

/* The counter of a particle at (x, y) [cells] with velocity (vx, vy, vz), by one axis. */
static int64_t counter(struct lm_counting *c, int axis, int count, double low, double high, const double at[5])
{
    const struct lm_bins bins = {1, {axis}, {count}, {low}, {high}, LM_NO_REGION};
    const struct lm_particle p = {(lm_fix)ldexp(at[0], 48), (lm_fix)ldexp(at[1], 48), at[2], at[3], at[4]};
    c->bins = bins;
    c->axis[0] = lm_axis_bins_of(&bins, 0);
    c->outside = count;
    return lm_counter_of(c, 0, &p);
}

static const struct {
    int axis, count;
    double low, high, at[5];
    int64_t want; /* `count`: outside */
} round_values[] = {
    {LM_AXIS_X, 4, 0, 2, {0, 0, 0, 0, 0}, 0},
    {LM_AXIS_X, 4, 0, 2, {1, 0, 0, 0, 0}, 1},
    {LM_AXIS_X, 4, 0, 2, {3.999, 0, 0, 0, 0}, 3},
    {LM_AXIS_Y, 3, 0, 2, {0, 2, 0, 0, 0}, 3},
    {LM_AXIS_VX, 10, -1, 1, {0, 0, -1, 0, 0}, 0},
    {LM_AXIS_VY, 10, -1, 1, {0, 0, 0, 1, 0}, 10},
    {LM_AXIS_VZ, 8, -1, 1, {0, 0, 0, 0, 0.25}, 5},
    {LM_AXIS_VZ, 8, -1, 1, {0, 0, 0, 0, 0.2499999}, 4},
    {LM_AXIS_VX, 3, 0, 1, {0, 0, NAN, 0, 0}, 3},
    {LM_AXIS_ENERGY, 5, 0, 5, {0, 0, 1, 0, 1}, 2}, /* 2 m_p v_A^2 */
    {LM_AXIS_PAR, 4, -2, 2, {0, 0, 5, 5, 1}, 3},   /* B is along z */
    {LM_AXIS_PERP, 10, 0, 10, {0, 0, 3, 4, 7}, 5},
    {LM_AXIS_PITCH, 4, 0, 180, {0, 0, 0, 0, 1}, 0},
    {LM_AXIS_PITCH, 4, 0, 180, {0, 0, 1, 0, 0}, 2},
    {LM_AXIS_PITCH, 4, 0, 180, {0, 0, 0, 0, -1}, 4}, /* 180 degrees are no longer in the last bin */
    {LM_AXIS_PITCH, 4, 0, 181, {0, 0, 0, 0, -1}, 3},
    {LM_AXIS_GYROPHASE, 4, 0, 360, {0, 0, 1, 0, 0}, 0},
    {LM_AXIS_GYROPHASE, 4, 0, 360, {0, 0, 0, 1, 0}, 1},
    {LM_AXIS_GYROPHASE, 4, 0, 360, {0, 0, -1, 0, 0}, 2},
    {LM_AXIS_GYROPHASE, 4, 0, 360, {0, 0, 0, -1, 0}, 3},
    {LM_AXIS_GYROPHASE, 8, 0, 360, {0, 0, 1, -1, 3}, 7},
};

START_TEST(round_values_are_in_their_bins)
{
    struct lm_counting c = box_of(0, 0, 2);
    ck_assert_int_eq(counter(&c, round_values[_i].axis, round_values[_i].count, round_values[_i].low,
                             round_values[_i].high, round_values[_i].at),
                     round_values[_i].want);
}
END_TEST

/* An edge belongs to the bin above it, and the number before it does not, whatever the edges are rounded to. */
START_TEST(edges_belong_to_the_bins_above)
{
    for (int count = 1; count <= 300; count++) {
        const struct lm_bins bins = {1, {LM_AXIS_VX}, {count}, {-0.3}, {1.1}, LM_NO_REGION};
        const struct lm_axis_bins a = lm_axis_bins_of(&bins, 0);
        for (int k = 0; k <= count; k++) {
            const double edge = lm_bin_edge(&a, k);
            require(lm_bin_of(&a, edge) == (k < count ? k : -1));
            require(lm_bin_of(&a, nextafter(edge, -1)) == k - 1);
        }
    }
}
END_TEST

/* Bins narrower than the numbers that there are: each number is in the one bin that holds it. */
START_TEST(bins_may_be_very_narrow)
{
    static const struct lm_bins narrow[] = {{1, {LM_AXIS_VX}, {1000}, {0}, {1e-320}, LM_NO_REGION},
                                            {1, {LM_AXIS_VX}, {100}, {1}, {1 + 0x1p-50}, LM_NO_REGION},
                                            {1, {LM_AXIS_VX}, {7}, {-8e307}, {8e307}, LM_NO_REGION}};
    for (size_t n = 0; n < sizeof narrow / sizeof *narrow; n++) {
        const struct lm_axis_bins a = lm_axis_bins_of(&narrow[n], 0);
        double value = a.low;
        for (int k = 0; k < 4; k++, value = nextafter(value, INFINITY)) {
            const int bin = lm_bin_of(&a, value);
            ck_assert(bin >= 0 && value >= lm_bin_edge(&a, bin) && value < lm_bin_edge(&a, bin + 1));
        }
        ck_assert_int_eq(lm_bin_of(&a, a.high), -1);
    }
}
END_TEST

/* B_x = number of the cell along x, B_y = 1: from the last face to the first one B_x falls from 3 to 0. At y-faces, x
 * in the middle of a cell, B_x is that of the cell. */
START_TEST(b_is_interpolated_to_the_particle)
{
    struct lm_counting c = box_of(0, 1, 0);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            field[0][(j + LM_GHOST) * STRIDE + i + LM_GHOST] = i;
    const struct lm_particle p = {0, 0, 0, 0, 0};
    const struct {
        double x, bx;
    } at[] = {{1.5, 1}, {1.75, 1.25}, {3.75, 2.25}, {0.25, 0.75}};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        struct lm_particle here = p;
        double b[3];
        here.x = (lm_fix)ldexp(at[k].x, 48);
        const struct lm_counted_place place = lm_counted_place(&c, 0, 0, &here);
        lm_counting_direction(&c, &place, b);
        require_near(b[0] / b[1], at[k].bx, 1e-15);
    }
}
END_TEST

START_TEST(particles_that_have_left_do_not_count)
{
    struct lm_counting c = box_of(1, 0, 0);
    struct lm_particle p = {LM_GONE, 0, 0, 0, 0};
    c.bins = all_bins[4];
    c.outside = 1;
    ck_assert_int_eq(lm_counter_of(&c, 0, &p), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("distributions");
    TCase *t = tcase_create("distributions");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, counts_are_those_of_a_plain_count, 0, TEXTS);
    tcase_add_loop_test(t, round_values_are_in_their_bins, 0, sizeof round_values / sizeof *round_values);
    tcase_add_test(t, edges_belong_to_the_bins_above);
    tcase_add_test(t, bins_may_be_very_narrow);
    tcase_add_test(t, b_is_interpolated_to_the_particle);
    tcase_add_test(t, particles_that_have_left_do_not_count);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
