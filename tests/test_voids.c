/* Voids (larmor/physics/fields/void.h, void_field.h): what is void, and that E and B there are those of a vacuum. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_box.h"
#include "larmor/physics/fields/faraday.h"
#include "larmor/physics/fields/void.h"
#include "larmor/physics/fields/void_field.h"
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

/* 1/n that is 0 in the void, and else so small that E of Ohm's law is 0 to round-off: B changes by E of the void alone.
 */
static double per_density(double x, double y)
{
    return is_void((int)floor(x / LX * NX), (int)floor(y / LY * NY)) ? 0 : 1e-15;
}

static double full(double x, double y)
{
    (void)x, (void)y;
    return FLOOR;
}

static double half_full(double x, double y)
{
    (void)x, (void)y;
    return 0.5 * FLOOR;
}

static double none(double x, double y)
{
    (void)x, (void)y;
    return 0;
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

/* A step of B. */
enum { SUBSTEPS = 16 };
static void step(struct box *x, double dt, int voids)
{
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_NEW, dt / SUBSTEPS);
    x->b->ops->advance_b(x->b, LM_J_NEW, dt, SUBSTEPS, voids);
}

/* A void in a plasma without E. */
static struct box quiet_box(void)
{
    struct box x = box_with(hollow, (struct lm_ohm){0});
    box_put(&x, LM_PER_DENSITY, centre, per_density);
    return x;
}

static void advance(struct box *x, double dt)
{
    x->b->ops->advance_b(x->b, LM_J_NEW, dt, SUBSTEPS, 1);
}

/* So many steps that the waves of the void have gone, by exp(-nu t / 2). */
static void come_to_rest(struct box *x)
{
    for (int n = 0; n < 100; n++)
        advance(x, 0.5);
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

/* The largest difference of div B between two fields. */
static double largest_div(const struct box *x, double *const from[3], double *const to[3])
{
    double largest = 0;
    for (int j = 0; j < NY - 1; j++)
        for (int i = 0; i < NX - 1; i++) {
            const long k = (long)lm_at(&x->g, i, j);
            const struct lm_view a = {from[0] + k, from[1] + k, from[2] + k, x->g.stride},
                                 b = {to[0] + k, to[1] + k, to[2] + k, x->g.stride};
            largest =
                fmax(largest, fabs(lm_div_b(b, 1 / x->g.dx, 1 / x->g.dy) - lm_div_b(a, 1 / x->g.dx, 1 / x->g.dy)));
        }
    return largest;
}

/* The bump of a harmonic potential goes away, and nothing changes in the plasma. There E is that of Ohm's law, which is
 * 0 to round-off only, so that bits may change. div B stays. */
START_TEST(field_becomes_that_of_a_vacuum)
{
    struct box x = quiet_box();
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
    double *start[3] = {box_get(&x, LM_B), box_get(&x, LM_B + 1), box_get(&x, LM_B + 2)};
    come_to_rest(&x);
    double *after[3] = {box_get(&x, LM_B), box_get(&x, LM_B + 1), box_get(&x, LM_B + 2)};
    for (int d = 0; d < 2; d++) {
        double inside, outside;
        differences(&x, d, want[d], &inside, &outside);
        ck_assert_double_lt(inside, 1e-9 * before);
        differences(&x, d, start[d], &inside, &outside);
        ck_assert_double_lt(outside, 1e-11);
        free(want[d]);
    }
    ck_assert_double_gt(before, 0.5);
    ck_assert_double_lt(largest_div(&x, start, after), 1e-11);
    for (int d = 0; d < 3; d++)
        free(start[d]), free(after[d]);
    box_free(&x);
}
END_TEST

static double out_of_plane(double x, double y)
{
    return 1 + 0.5 * sin(3 * x) * cos(2 * y) + 0.2 * x;
}

/* B_z becomes the same in the whole void, and its flux stays. */
START_TEST(flux_of_the_void_stays)
{
    const double corner[2] = {0.5, 0.5};
    struct box x = quiet_box();
    box_put(&x, LM_B + 2, corner, out_of_plane);
    double *before = box_get(&x, LM_B + 2), flux = 0;
    come_to_rest(&x);
    double *after = box_get(&x, LM_B + 2);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&x.g, i, j);
            flux += after[k] - before[k];
            if (touches_void(2, i, j))
                require_near(after[k], after[lm_at(&x.g, 20, 15)], 1e-9);
        }
    require_near(flux, 0, 1e-10);
    free(before), free(after);
    box_free(&x);
}
END_TEST

/* --- waves --- */

static const double wave_k[2] = {2 * M_PI / 10, 2 * 2 * M_PI / 6}; /* a wave along x, two along y */

static double plane_wave(double x, double y)
{
    return cos(wave_k[0] * x + wave_k[1] * y);
}

/* The amplitude of the plane wave in an array whose nodes are at `place`. */
static double amplitude(const struct box *x, int array, const double place[2])
{
    double *a = box_get(x, array), sum = 0;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            sum += a[lm_at(&x->g, i, j)] * plane_wave((i + 0.5 + place[0]) * x->g.dx, (j + 0.5 + place[1]) * x->g.dy);
    free(a);
    return 2 * sum / (NX * NY);
}

/* A wave in a domain that is all void has the speed c of its substeps and falls with nu/2: from E_v = 0 its amplitude
 * is exp(-nu t / 2) (cos w t + nu / (2 w) sin w t) with w^2 = c^2 K^2 - nu^2 / 4 and the K of the grid. Once B is along
 * z, and E_v in the plane, and once the other way round. The wave turns by w h = 0.3 in a substep, of which the
 * Runge-Kutta method makes an error of (w h)^5 / 120 each: 0.001 in all. */
START_TEST(waves_have_the_speed_c)
{
    const double dt = 0.5, h = dt / SUBSTEPS, corner[2] = {0.5, 0.5}, nu = LM_VOID_DAMPING;
    struct box x = box_with(none, (struct lm_ohm){0});
    const double kx = 2 * sin(wave_k[0] * x.g.dx / 2) / x.g.dx, ky = 2 * sin(wave_k[1] * x.g.dy / 2) / x.g.dy;
    const double largest = sqrt(4 / (x.g.dx * x.g.dx) + 4 / (x.g.dy * x.g.dy)), c = 1.4 / (largest * h);
    const double w = sqrt(c * c * (kx * kx + ky * ky) - nu * nu / 4);
    const int array = _i ? LM_B : LM_B + 2;
    const double *place = _i ? b_place[0] : corner;
    double start;
    if (_i)
        put_curl(&x, plane_wave);
    else
        box_put(&x, LM_B + 2, corner, plane_wave);
    ck_assert_double_lt(w * h, 0.4);
    /* B_x has no cosine but a sine: the wave is taken where it is one, a quarter of a wave on along y. */
    const double shifted[2] = {place[0], place[1] - (_i ? M_PI / 2 / wave_k[1] / x.g.dy : 0)};
    start = amplitude(&x, array, shifted);
    ck_assert_double_gt(fabs(start), 0.9);
    for (int n = 1; n <= 4; n++) {
        step(&x, dt, 1);
        const double t = n * dt, want = exp(-nu * t / 2) * (cos(w * t) + nu / (2 * w) * sin(w * t));
        require_near(amplitude(&x, array, shifted) / start, want, 2e-3);
    }
    box_free(&x);
}
END_TEST

static double noise(double x, double y)
{
    return fmod(sin(x * 12.9898 + y * 78.233) * 43758.5453, 1.0);
}

static double other_noise(double x, double y)
{
    return noise(y + 0.3, x);
}

/* The sum of B^2 + E_v^2 / c^2. */
static double energy(const struct box *x, double speed2)
{
    double sum = 0;
    for (int d = 0; d < 6; d++) {
        double *a = box_get(x, d < 3 ? LM_B + d : LM_VOID_E + d - 3);
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++)
                sum += pow(a[lm_at(&x->g, i, j)], 2) / (d < 3 ? 1 : speed2);
        free(a);
    }
    return sum;
}

/* Noise of B and E_v never gains energy beside a plasma, on any scale of the grid. */
START_TEST(noise_in_a_void_never_grows)
{
    struct box x = quiet_box();
    const double dt = 0.5, speed2 = lm_void_speed2(&x.g, dt / SUBSTEPS);
    put_curl(&x, noise);
    box_put(&x, LM_B + 2, centre, other_noise);
    advance(&x, dt); /* E_v comes to nodes of the void */
    for (int n = 0; n < 10; n++) {
        const double before = energy(&x, speed2);
        advance(&x, dt);
        ck_assert_double_lt(energy(&x, speed2), before * (1 + 1e-12));
    }
    box_free(&x);
}
END_TEST

static double one(double x, double y)
{
    (void)x, (void)y;
    return 1;
}

static double thin_hollow(double x, double y)
{
    return FLOOR * hollow(x, y);
}

static double little_noise(double x, double y)
{
    return 0.01 * noise(x, y);
}

/* Plasma so thin that its whistlers turn as far as a substep allows is stable beside a void, whose waves do so, too. */
START_TEST(waves_and_whistlers_are_stable)
{
    struct box x = box_with(thin_hollow, (struct lm_ohm){.few = INFINITY});
    const double dt = 0.1, speed2 = lm_void_speed2(&x.g, dt / SUBSTEPS);
    for (int d = 0; d < 2; d++)
        box_put(&x, LM_B + d, b_place[d], one);
    box_put(&x, LM_B + 2, b_place[2], little_noise);
    for (int n = 0; n < 100; n++) {
        const double before = energy(&x, speed2);
        step(&x, dt, 1);
        ck_assert_double_lt(energy(&x, speed2), before * (1 + 1e-6));
    }
    ck_assert_double_gt(lm_whistler_floor(&x.g, dt / SUBSTEPS), 2 * FLOOR);
    box_free(&x);
}
END_TEST

/* Where nothing is void, E_v is forgotten, and no bit of B depends on whether there are voids elsewhere. */
START_TEST(plasma_is_left_alone)
{
    struct box x[2];
    for (int voids = 0; voids < 2; voids++) {
        x[voids] = box_with(full, (struct lm_ohm){0});
        put_curl(&x[voids], with_bump);
        box_put(&x[voids], LM_B + 2, b_place[2], out_of_plane);
        for (int d = 0; d < 3; d++)
            box_put(&x[voids], LM_VOID_E + d, centre, noise);
        for (int n = 0; n < 3; n++)
            step(&x[voids], 1e-3, voids);
    }
    for (int array = LM_B; array <= LM_VOID; array++) {
        double *without = box_get(&x[0], array), *with = box_get(&x[1], array);
        ck_assert(memcmp(without, with, x[0].g.size * sizeof *with) == 0);
        for (size_t k = 0; k < x[0].g.size && array >= LM_VOID_E; k++)
            require(with[k] == 0);
        free(without), free(with);
    }
    box_free(&x[0]), box_free(&x[1]);
}
END_TEST

/* E_v is on nodes with a cell of void, but not in bodies that conduct or insulate. */
START_TEST(nodes_of_voids)
{
    double per_density[9] = {1, 1, 1, 1, 0, 1, 1, 1, 1};
    struct lm_body_node node[27] = {{.kind = LM_NODE_PLASMA}};
    const struct lm_void_nodes nodes = {.per_density = per_density, .node = _i ? node : NULL, .s = 3};
    for (int k = 0; k < 5; k++)
        for (int d = 0; d < 3; d++)
            ck_assert_int_eq(lm_is_void_node(&nodes, d, k), k == 4 || (k == 3 && d == 0) || (k == 1 && d == 1));
    for (int kind = LM_NODE_PLASMA; kind <= LM_NODE_INSULATES; kind++) {
        node[12].kind = (uint8_t)kind;
        ck_assert_int_eq(lm_is_void_node(&nodes, 0, 4), !_i || kind == LM_NODE_PLASMA || kind == LM_NODE_CUT);
    }
}
END_TEST

/* --- what is void --- */

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
    tcase_add_test(t, field_becomes_that_of_a_vacuum);
    tcase_add_test(t, flux_of_the_void_stays);
    tcase_add_loop_test(t, waves_have_the_speed_c, 0, 2);
    tcase_add_test(t, noise_in_a_void_never_grows);
    tcase_add_test(t, waves_and_whistlers_are_stable);
    tcase_add_test(t, plasma_is_left_alone);
    tcase_add_loop_test(t, nodes_of_voids, 0, 2);
    tcase_add_test(t, voids_are_remembered);
    tcase_add_test(t, edge_is_void);
    return suite_run(suite);
}
