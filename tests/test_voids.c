/* Voids (larmor/physics/fields/void.h): what is void, and that B there becomes the field of a vacuum. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_box.h"
#include "larmor/physics/fields/relaxation.h"
#include "suite.h"

enum { NX = 40, NY = 32 };
static const double LX = 10, LY = 6, FLOOR = 0.05;
static const double centre[2] = {0, 0};

/* Plasma around empty cells [10, 30) x [8, 24). */
static double hollow(double x, double y)
{
    const int i = (int)floor(x / LX * NX), j = (int)floor(y / LY * NY);
    return i >= 10 && i < 30 && j >= 8 && j < 24 ? 0 : 1;
}

/* In the corners of the empty cells three cells have too many of plasma around them. */
static int is_void(int i, int j)
{
    const int a = i < 20 ? i - 10 : 29 - i, b = j < 16 ? j - 8 : 23 - j;
    return a >= 0 && b >= 0 && a + b > 1;
}

/* Whether B_d of the cell changes by E of nodes that touch the void. */
static int touches_void(int d, int i, int j)
{
    return is_void(i, j) || (d != 0 && is_void(i + 1, j)) || (d != 1 && is_void(i, j + 1)) ||
           (d == 2 && is_void(i + 1, j + 1));
}

static double full(double x, double y)
{
    (void)x, (void)y;
    return FLOOR;
}

/* A potential that is harmonic on the grid, too, and a bump of it within the void: B of the bump must vanish. */
static double harmonic(double x, double y)
{
    return 0.1 * ((x - 5) * (x - 5) - (y - 3) * (y - 3)) + 0.3 * x;
}

static double with_bump(double x, double y)
{
    return harmonic(x, y) + exp(-40 * ((x - 5) * (x - 5) + (y - 3) * (y - 3)));
}

static struct box box_with(function density, struct lm_ohm ohm)
{
    ohm.floor = FLOOR;
    struct box x = box_new(NX, NY, LX, LY, ohm, 0);
    box_put(&x, LM_N_OLD, centre, density);
    box_put(&x, LM_N_NEW, centre, density);
    return x;
}

/* B_x and B_y of a potential A_z, which lives at the centres. Its jump where the domain ends lies in the plasma. */
static void put_curl(struct box *x, function a)
{
    const struct lm_grid *g = &x->g;
    double *const b[2] = {malloc(g->size * sizeof **b), malloc(g->size * sizeof **b)};
    double *az = malloc(g->size * sizeof *az);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            az[lm_at(g, i, j)] = a((i + 0.5) * g->dx, (j + 0.5) * g->dy);
    lm_grid_wrap(g, az);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            b[0][k] = (az[k + (size_t)g->stride] - az[k]) / g->dy;
            b[1][k] = -(az[k + 1] - az[k]) / g->dx;
        }
    for (int d = 0; d < 2; d++) {
        lm_grid_wrap(g, b[d]);
        x->b->ops->put(x->b, (enum lm_array)(LM_B + d), b[d]);
        free(b[d]);
    }
    free(az);
}

static void relax(struct box *x, int steps)
{
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_NEW, 0.0);
    for (int n = 0; n < steps; n++)
        x->b->ops->relax_b(x->b, 0, LM_INSULATOR_STAGES);
}

/* Empty cells are void up to the edge of the plasma, at the mean of two levels. */
START_TEST(voids_reach_the_plasma)
{
    struct box x = box_with(hollow, (struct lm_ohm){0});
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
    struct box x = box_with(with_holes, (struct lm_ohm){0});
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

static double strong(double x, double y)
{
    (void)x, (void)y;
    return 3;
}

/* Thin plasma counts as so dense that an Alfven wave of the largest wave number turns by 1 in a step, but not as more
 * than that of few ions. */
START_TEST(thin_plasma_follows_the_step)
{
    const double dt = 0.02, corner[2] = {0.5, 0.5};
    const struct lm_grid g = lm_grid_make(NX, NY, LX, LY);
    struct box x =
        box_with(full, (struct lm_ohm){.alfven_floor = lm_alfven_floor(&g, dt), .few = _i ? 2 * FLOOR : INFINITY});
    const double k2 = 4 / (g.dx * g.dx) + 4 / (g.dy * g.dy);
    box_put(&x, LM_B + 2, corner, strong);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
    double *per_density = box_get(&x, LM_PER_DENSITY);
    ck_assert_double_gt(k2 * 9 * dt * dt, 2 * FLOOR);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require_near(per_density[lm_at(&x.g, i, j)], _i ? 0.5 / FLOOR : 1 / (k2 * 9 * dt * dt), 1e-12);
    free(per_density);
    box_free(&x);
}
END_TEST

/* In a substep of B a cell counts as so dense that the whistler of the largest wave number turns by 2.7. */
START_TEST(thin_plasma_follows_the_substep)
{
    const double substep = 0.01, corner[2] = {0.5, 0.5};
    struct box x = box_with(full, (struct lm_ohm){0});
    const double k2 = 4 / (x.g.dx * x.g.dx) + 4 / (x.g.dy * x.g.dy);
    box_put(&x, LM_B + 2, corner, strong);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, substep);
    double *per_density = box_get(&x, LM_PER_DENSITY);
    ck_assert_double_gt(k2 * 3 * substep / 2.7, 2 * FLOOR);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require_near(per_density[lm_at(&x.g, i, j)] * (k2 * 3 * substep), 2.7, 1e-12);
    free(per_density);
    box_free(&x);
}
END_TEST

/* The largest difference of B_d from `want` where a node touches the void, and elsewhere. */
static void differences(const struct box *x, int d, const double *want, double *inside, double *outside)
{
    double *b = box_get(x, LM_B + d);
    *inside = *outside = 0;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&x->g, i, j);
            double *to = touches_void(d, i, j) ? inside : outside;
            *to = fmax(*to, fabs(b[k] - want[k]));
        }
    free(b);
}

/* The bump of a harmonic potential goes away; nothing changes in the plasma, to the bit. */
START_TEST(field_becomes_that_of_a_vacuum)
{
    struct box x = box_with(hollow, (struct lm_ohm){0});
    double *want[2], before = 0;
    put_curl(&x, harmonic);
    for (int d = 0; d < 2; d++)
        want[d] = box_get(&x, LM_B + d);
    put_curl(&x, with_bump);
    for (int d = 0; d < 2; d++) {
        double inside, outside;
        differences(&x, d, want[d], &inside, &outside);
        before = fmax(before, inside);
    }
    double *start[2] = {box_get(&x, LM_B), box_get(&x, LM_B + 1)};
    relax(&x, 60);
    for (int d = 0; d < 2; d++) {
        double inside, outside;
        differences(&x, d, want[d], &inside, &outside);
        ck_assert_double_lt(inside, 1e-9 * before);
        differences(&x, d, start[d], &inside, &outside);
        ck_assert(outside == 0);
        free(start[d]), free(want[d]);
    }
    ck_assert_double_gt(before, 0.5);
    box_free(&x);
}
END_TEST

static double out_of_plane(double x, double y)
{
    return 1 + 0.5 * sin(3 * x) * cos(2 * y) + 0.2 * x;
}

/* Root mean square of what differs from the mean, over the B_z that touch the void. */
static double spread(const struct box *x, const double *b)
{
    double sum = 0, sum2 = 0;
    int count = 0;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const double v = touches_void(2, i, j) ? b[lm_at(&x->g, i, j)] : 0;
            sum += v, sum2 += v * v, count += touches_void(2, i, j);
        }
    return sqrt(sum2 / count - pow(sum / count, 2));
}

/* B_z becomes the same in the whole void, and its flux stays. */
START_TEST(flux_of_the_void_stays)
{
    const double corner[2] = {0.5, 0.5};
    struct box x = box_with(hollow, (struct lm_ohm){0});
    box_put(&x, LM_B + 2, corner, out_of_plane);
    double *before = box_get(&x, LM_B + 2), flux = 0;
    relax(&x, 1);
    double *once = box_get(&x, LM_B + 2);
    relax(&x, 60);
    double *after = box_get(&x, LM_B + 2);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&x.g, i, j);
            flux += after[k] - before[k];
            if (touches_void(2, i, j))
                require_near(after[k], after[lm_at(&x.g, 20, 15)], 1e-9);
        }
    require_near(flux, 0, 1e-10);
    /* The slowest mode falls to exp(-k^2 tau) in a step, with k = pi over the length of the void and the tau of all
     * stages. */
    const double k2 = 4 / (x.g.dx * x.g.dx) + 4 / (x.g.dy * x.g.dy), length = 21 * x.g.dx;
    const double tau = 0.9 * (LM_INSULATOR_STAGES * LM_INSULATOR_STAGES + LM_INSULATOR_STAGES) / k2;
    ck_assert_double_lt(spread(&x, once), 1.2 * exp(-pow(3.14159265 / length, 2) * tau) * spread(&x, before));
    free(before), free(once), free(after);
    box_free(&x);
}
END_TEST

/* No bit of B changes where nothing is void. */
START_TEST(plasma_is_left_alone)
{
    const double corner[2] = {0.5, 0.5};
    struct box x = box_with(full, (struct lm_ohm){0});
    put_curl(&x, with_bump);
    box_put(&x, LM_B + 2, corner, out_of_plane);
    for (int d = 0; d < 3; d++) {
        double *before = box_get(&x, LM_B + d);
        relax(&x, 3);
        double *after = box_get(&x, LM_B + d);
        ck_assert(memcmp(before, after, x.g.size * sizeof *after) == 0);
        free(before), free(after);
    }
    box_free(&x);
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
    tcase_add_test(t, field_becomes_that_of_a_vacuum);
    tcase_add_test(t, flux_of_the_void_stays);
    tcase_add_test(t, plasma_is_left_alone);
    return suite_run(suite);
}
