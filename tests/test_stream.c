/* Flows from stream functions: no divergence in any cell of fluid, and no flow through bodies and walls. Also the
 * ledger of background fields. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/physics/numerics/hash.h"
#include "require.h"
#include "suite.h"

enum { NX = 23, NY = 17 };
#define LX 11.5
#define LY 5.1

struct flow {
    struct lm_grid g;
    int sides[LM_SIDES];
    uint8_t mask[NX * NY], *room;
    double *psi, *vx, *vy;
};

static void flow_free(struct flow *f)
{
    free(f->room);
    free(f->psi);
    free(f->vx);
    free(f->vy);
}

/* Sets the sides of the field; those of the particles follow. */
static struct flow flow_new(int x_min, int x_max, int y_min, int y_max)
{
    struct flow f = {.g = lm_grid_make(NX, NY, LX, LY), .sides = {x_min, x_max, y_min, y_max}};
    for (int side = 0; side < LM_SIDES; side++)
        f.g.sides.of[side] = f.sides[side] == LM_BACKGROUND_PERIODIC ? LM_PERIODIC : LM_ABSORBING;
    f.room = calloc(f.g.size, 1);
    f.psi = calloc(f.g.size, sizeof *f.psi);
    f.vx = calloc(f.g.size, sizeof *f.vx);
    f.vy = calloc(f.g.size, sizeof *f.vy);
    return f;
}

static void add_disk(struct flow *f, double x, double y, double radius)
{
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            double dx = (i + 0.5) * f->g.dx - x, dy = (j + 0.5) * f->g.dy - y;
            if (f->g.sides.of[LM_X_MIN] == LM_PERIODIC)
                dx = remainder(dx, LX);
            if (f->g.sides.of[LM_Y_MIN] == LM_PERIODIC)
                dy = remainder(dy, LY);
            f->mask[j * NX + i] |= dx * dx + dy * dy < radius * radius;
        }
}

static void add_box(struct flow *f, int i0, int i1, int j0, int j1)
{
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++)
            f->mask[j * NX + i] = 1;
}

static double random_of(int i, int j)
{
    return (double)(lm_mix((uint64_t)(i * 1000 + j)) >> 11) * 0x1p-53 - 0.5;
}

/* psi is noise, periodic where the domain is, plus a mean flow (u, v). */
static void set_psi(struct flow *f, double noise, double u, double v)
{
    for (int j = -1; j < NY; j++)
        for (int i = -1; i < NX; i++) {
            int a = f->g.sides.of[LM_X_MIN] == LM_PERIODIC ? (i + NX) % NX : i;
            int b = f->g.sides.of[LM_Y_MIN] == LM_PERIODIC ? (j + NY) % NY : j;
            f->psi[lm_at(&f->g, i, j)] =
                noise * random_of(a + 1, b + 1) + u * (j + 1) * f->g.dy - v * (i + 1) * f->g.dx;
        }
}

static void make(struct flow *f)
{
    lm_stencil_clearance(&f->g, f->mask, f->room);
    ck_assert_int_eq(lm_background_stream(&f->g, f->sides, f->room, NULL, f->psi, f->vx, f->vy), LM_OK);
}

static int solid(const struct flow *f, int i, int j)
{
    if (f->g.sides.of[LM_X_MIN] == LM_PERIODIC)
        i = (i + NX) % NX;
    if (f->g.sides.of[LM_Y_MIN] == LM_PERIODIC)
        j = (j + NY) % NY;
    return i >= 0 && i < NX && j >= 0 && j < NY && f->mask[j * NX + i];
}

/* Checks that no flow goes through solids and walls, that the divergence is 0 elsewhere, and that the flow is
 * periodic. Returns the largest speed. */
static double check_flow(const struct flow *f)
{
    double top = 0;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&f->g, i, j);
            const double west = f->vx[k - 1], east = f->vx[k], south = f->vy[k - (size_t)f->g.stride], north = f->vy[k];
            if (solid(f, i, j)) {
                require(west == 0 && east == 0 && south == 0 && north == 0);
                continue;
            }
            require_near((east - west) / f->g.dx + (north - south) / f->g.dy, 0, 2e-13);
            require(i > 0 || f->sides[LM_X_MIN] != LM_BACKGROUND_WALL || west == 0);
            require(i < NX - 1 || f->sides[LM_X_MAX] != LM_BACKGROUND_WALL || east == 0);
            require(j > 0 || f->sides[LM_Y_MIN] != LM_BACKGROUND_WALL || south == 0);
            require(j < NY - 1 || f->sides[LM_Y_MAX] != LM_BACKGROUND_WALL || north == 0);
            top = fmax(top, fmax(fabs(east), fabs(north)));
        }
    for (int j = 0; j < NY && f->sides[LM_X_MIN] == LM_BACKGROUND_PERIODIC; j++)
        require(f->vx[lm_at(&f->g, -1, j)] == f->vx[lm_at(&f->g, NX - 1, j)]);
    for (int i = 0; i < NX && f->sides[LM_Y_MIN] == LM_BACKGROUND_PERIODIC; i++)
        require(f->vy[lm_at(&f->g, i, -1)] == f->vy[lm_at(&f->g, i, NY - 1)]);
    return top;
}

enum { P = LM_BACKGROUND_PERIODIC, W = LM_BACKGROUND_WALL, I = LM_BACKGROUND_INFLOW, O = LM_BACKGROUND_OPEN };
static const int kinds[][LM_SIDES] = {{P, P, P, P}, {W, W, W, W}, {I, O, W, W},
                                      {P, P, W, O}, {O, W, P, P}, {I, O, O, I}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* With any psi, with disks, one of them at a corner of the domain, and with a box that touches the sides. */
START_TEST(no_divergence)
{
    const int *k = kinds[_i];
    struct flow f = flow_new(k[0], k[1], k[2], k[3]);
    set_psi(&f, 1, 0.3, -0.2);
    make(&f);
    ck_assert_double_gt(check_flow(&f), 1);
    add_disk(&f, 6, 2, 1.1);
    add_disk(&f, 0, 0, 1.3);
    make(&f);
    check_flow(&f);
    add_box(&f, 9, 14, NY - 3, NY - 1);
    set_psi(&f, 1, 0.3, -0.2);
    make(&f);
    ck_assert_double_gt(check_flow(&f), 1);
    flow_free(&f);
}
END_TEST

/* Away from solids the flow is the difference of the given psi. */
START_TEST(only_solids_change_it)
{
    struct flow f = flow_new(P, P, O, O);
    add_disk(&f, 6, 2.5, 1);
    set_psi(&f, 1, 0.3, 0);
    double *psi = malloc(f.g.size * sizeof *psi);
    memcpy(psi, f.psi, f.g.size * sizeof *psi);
    make(&f);
    for (int j = 0; j < NY; j++)
        for (int i = -1; i < NX; i++) {
            int near = 0;
            for (int n = -1; n <= 2; n++)
                for (int m = -1; m <= 2; m++)
                    near |= solid(&f, i + m, j + n - 1) || solid(&f, i + m, j + n);
            const size_t k = lm_at(&f.g, i, j);
            if (!near)
                require_near(f.vx[k], (psi[k] - psi[k - (size_t)f.g.stride]) / f.g.dy, 1e-13);
        }
    /* On the surface of a disk psi is the mean of the given values there. */
    double sum = 0, now = NAN;
    int count = 0;
    for (int j = -1; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const int solids = solid(&f, i, j) + solid(&f, i + 1, j) + solid(&f, i, j + 1) + solid(&f, i + 1, j + 1);
            if (solids > 0 && solids < 4) {
                sum += psi[lm_at(&f.g, i, j)];
                count++;
                now = f.psi[lm_at(&f.g, i, j)];
            }
        }
    require_near(now, sum / count, 1e-13);
    free(psi);
    flow_free(&f);
}
END_TEST

/* Potential flow past a disk has a doublet at its centre, anywhere between the corners of cells. The doublet has no
 * influence outside. */
START_TEST(doublet_within)
{
    struct flow f = flow_new(I, O, O, O);
    const double x = 12 * f.g.dx + 1e-5, y = 9 * f.g.dy + 1e-3, a = 3 * f.g.dx;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            f.mask[j * NX + i] = hypot((i + 0.5) * f.g.dx - x, (j + 0.5) * f.g.dy - y) < a;
    for (int j = -1; j < NY; j++)
        for (int i = -1; i < NX; i++) {
            const double dx = (i + 1) * f.g.dx - x, dy = (j + 1) * f.g.dy - y;
            f.psi[lm_at(&f.g, i, j)] = dy * (1 - a * a / (dx * dx + dy * dy));
        }
    make(&f);
    ck_assert_double_lt(check_flow(&f),
                        /* the speed on the disk is twice that at infinity, and more at the steps of its edge */
                        3.5);
    flow_free(&f);
}
END_TEST

/* A mean flow continues across periodic sides, around bodies. */
START_TEST(mean_flow)
{
    struct flow f = flow_new(P, P, P, P);
    set_psi(&f, 0, 0.7, -0.4);
    make(&f);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            require_near(f.vx[lm_at(&f.g, i, j)], 0.7, 1e-13);
            require_near(f.vy[lm_at(&f.g, i, j)], -0.4, 1e-13);
        }
    add_disk(&f, 0.2, 0.1, 1);
    make(&f);
    check_flow(&f);
    double through = 0;
    for (int j = 0; j < NY; j++)
        through += f.vx[lm_at(&f.g, 11, j)] * f.g.dy;
    require_near(through, 0.7 * LY, 1e-12);
    flow_free(&f);
}
END_TEST

/* A body across the whole domain stops the mean flow across it; the flow along it passes. */
START_TEST(blocked)
{
    struct flow f = flow_new(P, P, P, P);
    add_box(&f, 4, 5, 0, NY - 1);
    set_psi(&f, 0, 0.7, -0.4);
    make(&f);
    check_flow(&f);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require(fabs(f.vx[lm_at(&f.g, i, j)]) < 1e-13);
    require_near(f.vy[lm_at(&f.g, 15, 3)], -0.4, 1e-13);
    add_box(&f, 0, NX - 1, 8, 8); /* the same along the other axis */
    set_psi(&f, 0, 0.7, -0.4);
    make(&f);
    ck_assert_double_lt(check_flow(&f), 1e-13);
    flow_free(&f);

    f = flow_new(P, P, P, P); /* a staircase that closes after one turn along both axes */
    for (int n = 0; n < NX; n++)
        add_box(&f, n, n, n * NY / NX, (n + 1) * NY / NX < NY ? (n + 1) * NY / NX : NY - 1);
    f.mask[0] = f.mask[NX - 1] = 1;
    set_psi(&f, 0, LX, LY);
    make(&f);
    check_flow(&f);
    double x = 0, y = 0;
    for (int j = 0; j < NY; j++)
        x += f.vx[lm_at(&f.g, 7, j)] * f.g.dy;
    for (int i = 0; i < NX; i++)
        y += f.vy[lm_at(&f.g, i, 7)] * f.g.dx;
    require_near(x - y, 0, 1e-10); /* as much flow crosses a line along y as a line along x */
    require_near(x, LX * LY, 1e-10);
    set_psi(&f, 0, LX, -LY);
    make(&f);
    ck_assert_double_lt(check_flow(&f), 1e-12);
    flow_free(&f);
}
END_TEST

START_TEST(shut)
{
    for (int n = 0; n < KINDS; n++) {
        struct flow f = flow_new(kinds[n][0], kinds[n][1], kinds[n][2], kinds[n][3]);
        add_disk(&f, 3, 2, 1);
        add_box(&f, NX - 2, NX - 1, 4, 6);
        lm_stencil_clearance(&f.g, f.mask, f.room);
        for (size_t k = 0; k < f.g.size; k++)
            f.vx[k] = 1 + (double)k, f.vy[k] = -1 - (double)k;
        lm_background_shut(&f.g, f.room, f.vx, f.vy);
        for (int j = -1; j < NY; j++)
            for (int i = -1; i < NX; i++) {
                const size_t k = lm_at(&f.g, i, j);
                const int x = solid(&f, i, j) || solid(&f, i + 1, j), y = solid(&f, i, j) || solid(&f, i, j + 1);
                require(j < 0 || f.vx[k] == (x ? 0 : 1 + (double)k));
                require(i < 0 || f.vy[k] == (y ? 0 : -1 - (double)k));
            }
        flow_free(&f);
    }
}
END_TEST

/* --- the ledger --- */

START_TEST(quanta)
{
    const double values[] = {1, 0.999, 1.001, 1e-9, 3e17, 1e-290};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        const int q = lm_background_quantum(values[k]);
        ck_assert_double_lt(ldexp(values[k], q), 0x1p47);
        ck_assert_int_le(q, 447);
        ck_assert(q == 447 || ldexp(values[k], q) >= 0x1p46);
    }
    ck_assert_int_eq(lm_background_quantum(0), lm_background_quantum(0.9));
    struct lm_grid g = lm_grid_make(3, 2, 1, 1);
    double *q = calloc(g.size, sizeof *q);
    q[lm_at(&g, 0, 0)] = 0.3;
    q[lm_at(&g, 2, 1)] = -1e-30;
    q[lm_at(&g, 1, 1)] = -0.7;
    q[lm_at(&g, -1, 0)] = 5; /* a ghost cell */
    lm_background_round(&g, NULL, q, 4);
    ck_assert(q[lm_at(&g, 0, 0)] == 0.3125 && q[lm_at(&g, 1, 1)] == -0.6875);
    ck_assert(q[lm_at(&g, 2, 1)] == 0 && !signbit(q[lm_at(&g, 2, 1)]));
    ck_assert(lm_background_sum(&g, NULL, q, 4, 4) == 5 - 11 &&
              lm_background_sum(&g, NULL, q, 4, 70) == -6 * ((lm_int128)1 << 66));
    free(q);
}
END_TEST

START_TEST(ledger)
{
    struct lm_background_ledger l = {.exponent = 50, .quantum = 48, .loaded = 4000, .total = 4000};
    struct lm_advected a = {
        .total = {-1, 1000}, .crossed = {{0, 7}, {0, 3}, {1, -2}, {0, 5}}, .source = {-2, 16777216 * 2 - 9}};
    ck_assert(lm_background_residual(&l) == 0);
    lm_background_book(&l, &a);
    ck_assert(l.total == 4 * (1000 - 16777216ll));
    ck_assert(l.entered[LM_X_MIN] == 28 && l.entered[LM_X_MAX] == -12);
    ck_assert(l.entered[LM_Y_MIN] == 4 * (16777216ll - 2) && l.entered[LM_Y_MAX] == -20);
    ck_assert(l.source == -36);
    ck_assert(lm_background_residual(&l) == 4000 - 36 + 28 - 12 + 4 * (16777216ll - 2) - 20 - 4 * (1000 - 16777216ll));
    ck_assert_double_eq(lm_background_value(&l, l.entered[LM_X_MIN]), 28 * 0x1p-50);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream functions and the ledger of background fields");
    TCase *t = tcase_create("stream");
    tcase_add_loop_test(t, no_divergence, 0, KINDS);
    tcase_add_test(t, only_solids_change_it);
    tcase_add_test(t, doublet_within);
    tcase_add_test(t, mean_flow);
    tcase_add_test(t, blocked);
    tcase_add_test(t, shut);
    tcase_add_test(t, quanta);
    tcase_add_test(t, ledger);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
