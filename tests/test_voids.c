/* Voids (larmor/physics/fields/void.h): what is void, and how dense thin plasma counts. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "larmor/physics/fields/void.h"
#include "suite.h"
#include "void_box.h"

static double half_full(double x, double y)
{
    (void)x, (void)y;
    return 0.5 * FLOOR;
}

/* Puts the same density of both levels. */
static void put_density(struct box *x, function n)
{
    box_put(x, LM_N_OLD, centre, n);
    box_put(x, LM_N_NEW, centre, n);
}

/* The cells of a void by LM_PER_DENSITY or LM_VOID. */
static int count_void(const struct box *x, int array)
{
    double *a = box_get(x, array);
    int count = 0;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            count += array == LM_VOID ? a[lm_at(&x->g, i, j)] == 1 : a[lm_at(&x->g, i, j)] == 0;
    free(a);
    return count;
}

static int voids_of(struct box *x, function n)
{
    put_density(x, n);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_NEW, 0.0);
    return count_void(x, LM_PER_DENSITY);
}

/* Empty cells are void up to the edge of the plasma, at the mean of two levels. */
START_TEST(voids_reach_the_plasma)
{
    struct box x = box_with(hollow, (struct lm_ohm){.few = INFINITY});
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
    double *per_density = box_get(&x, LM_PER_DENSITY);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const double n = hollow((i + 0.5) * x.g.dx, (j + 0.5) * x.g.dy);
            require_near(per_density[lm_at(&x.g, i, j)], is_void(i, j) ? 0 : 1 / fmax(n, FLOOR), 1e-15);
        }
    free(per_density);
    box_put(&x, LM_N_NEW, centre, full);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
    per_density = box_get(&x, LM_PER_DENSITY);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require(per_density[lm_at(&x.g, i, j)] > 0);
    free(per_density);
    box_free(&x);
}
END_TEST

/* Cells that change place between plasma and void: (20, 15) and (5, 5) to (6, 5). */
static double with_holes(double x, double y)
{
    const int i = (int)floor(x / LX * NX), j = (int)floor(y / LY * NY);
    return (i == 20 && j == 15) || (i >= 5 && i < 7 && j == 5) ? 1 - hollow(x, y) : hollow(x, y);
}

/* A small hole in the plasma is no void. A stray cell of plasma in the void is none itself, but those around it are. */
START_TEST(holes_are_no_voids)
{
    struct box x = box_with(with_holes, (struct lm_ohm){.few = INFINITY});
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
    double *per_density = box_get(&x, LM_PER_DENSITY);
    ck_assert_double_eq(per_density[lm_at(&x.g, 5, 5)], 1 / FLOOR);
    ck_assert_double_eq(per_density[lm_at(&x.g, 6, 5)], 1 / FLOOR);
    for (int j = 14; j <= 16; j++)
        for (int i = 19; i <= 21; i++)
            ck_assert_double_eq(per_density[lm_at(&x.g, i, j)], i == 20 && j == 15 ? 1 : 0);
    free(per_density);
    box_free(&x);
}
END_TEST

/* B of size 3 whose sign changes from node to node, so that it is 0 at the centres. */
static double strong(double x, double y)
{
    return ((int)floor(2 * (x / LX * NX + y / LY * NY)) / 2) % 2 ? 3 : -3;
}

static void put_strong_b(struct box *x)
{
    static const double corner[2] = {0.5, 0.5};
    for (int d = 0; d < 3; d++)
        box_put(x, LM_B + d, corner, strong);
}

/* Thin plasma counts as so dense that an Alfven wave of the largest wave number turns by 1 in a step, but not as more
 * than that of few ions. */
START_TEST(thin_plasma_follows_the_step)
{
    const double dt = 0.02;
    const struct lm_grid g = lm_grid_make(NX, NY, LX, LY);
    struct box x =
        box_with(full, (struct lm_ohm){.alfven_floor = lm_alfven_floor(&g, dt), .few = _i ? 2 * FLOOR : INFINITY});
    const double k2 = 4 / (g.dx * g.dx) + 4 / (g.dy * g.dy);
    put_strong_b(&x);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
    double *per_density = box_get(&x, LM_PER_DENSITY);
    ck_assert_double_gt(k2 * 27 * dt * dt, 2 * FLOOR);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require_near(per_density[lm_at(&x.g, i, j)], _i ? 0.5 / FLOOR : 1 / (k2 * 27 * dt * dt), 1e-12);
    free(per_density);
    box_free(&x);
}
END_TEST

/* In a substep of B a cell counts as so dense that the whistler of the largest wave number turns by 2.7. */
START_TEST(thin_plasma_follows_the_substep)
{
    const double substep = 0.01;
    struct box x = box_with(full, (struct lm_ohm){0});
    const double k2 = 4 / (x.g.dx * x.g.dx) + 4 / (x.g.dy * x.g.dy);
    put_strong_b(&x);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, substep);
    double *per_density = box_get(&x, LM_PER_DENSITY);
    ck_assert_double_gt(k2 * sqrt(27) * substep / 2.7, 2 * FLOOR);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require_near(per_density[lm_at(&x.g, i, j)] * (k2 * sqrt(27) * substep), 2.7, 1e-12);
    free(per_density);
    box_free(&x);
}
END_TEST

/* What was void stays so up to the floor, and only what was void does. A step without voids forgets all. */
START_TEST(voids_are_remembered)
{
    struct box x = box_with(half_full, (struct lm_ohm){.few = INFINITY});
    const int all = NX * NY;
    ck_assert_int_eq(voids_of(&x, half_full), 0);
    const int hollow_cells = voids_of(&x, hollow);
    step(&x, 1e-3, 1);
    ck_assert_int_eq(count_void(&x, LM_VOID), hollow_cells);
    /* A closure of another step does not change the memory. */
    ck_assert_int_eq(voids_of(&x, none), all);
    ck_assert_int_eq(count_void(&x, LM_VOID), hollow_cells);
    /* In the corners of the void too few cells around were void. */
    const int kept = voids_of(&x, half_full);
    ck_assert_int_gt(kept, hollow_cells - 13);
    ck_assert_int_lt(kept, hollow_cells + 1);
    ck_assert_int_eq(voids_of(&x, full), 0);
    voids_of(&x, half_full);
    step(&x, 1e-3, 1);
    ck_assert_int_eq(count_void(&x, LM_VOID), kept);
    step(&x, 1e-3, 0);
    ck_assert_int_eq(count_void(&x, LM_VOID), 0);
    ck_assert_int_eq(voids_of(&x, half_full), 0);
    box_free(&x);
}
END_TEST

/* Columns [12, 28) are empty, beside them in the columns 11 and 28 there is `edge_density`, else `plasma_density`. */
static double edge_density, plasma_density;

static double with_edge(double x, double y)
{
    const int i = (int)floor(x / LX * NX);
    (void)y;
    return i >= 12 && i < 28 ? 0 : i == 11 || i == 28 ? edge_density : plasma_density;
}

/* A cell at the edge of a plasma, with the mean (2 plasma + edge) / 5 around it, is void if it has less than the floor
 * and less than half this mean, and if the mean is more than that of few ions. */
START_TEST(edge_is_void)
{
    static const struct {
        double edge, plasma, few;
        int is_void;
    } cases[] = {{0.8, 20, 4, 1},   {0.99, 5, 2, 1},  {1.01, 20, 4, 0}, /* the floor */
                 {0.8, 3.5, 0, 0},  {0.8, 3.7, 0, 1},                   /* half of the mean */
                 {0.8, 20, 8.1, 1}, {0.8, 20, 8.2, 0}};                 /* few ions */
    const int count = sizeof cases / sizeof *cases;
    for (int c = 0; c < count; c++) {
        struct box x = box_with(none, (struct lm_ohm){.few = cases[c].few * FLOOR});
        edge_density = cases[c].edge * FLOOR, plasma_density = cases[c].plasma * FLOOR;
        ck_assert_int_eq(voids_of(&x, with_edge), (cases[c].is_void ? 18 : 16) * NY);
        box_free(&x);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("voids");
    TCase *t = tcase_create("voids");
    suite_add_tcase(suite, t);
    tcase_add_test(t, voids_reach_the_plasma);
    tcase_add_test(t, holes_are_no_voids);
    tcase_add_loop_test(t, thin_plasma_follows_the_step, 0, 2);
    tcase_add_test(t, thin_plasma_follows_the_substep);
    tcase_add_test(t, voids_are_remembered);
    tcase_add_test(t, edge_is_void);
    return suite_run(suite);
}
