/* E and B in voids (larmor/physics/fields/void_field.h): those of a vacuum. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/physics/fields/faraday.h"
#include "larmor/physics/fields/void.h"
#include "larmor/physics/fields/void_field.h"
#include "suite.h"
#include "void_box.h"

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

/* A potential that is harmonic on the grid, too, and a bump of it within the void: B of the bump must vanish. */
static double harmonic(double x, double y)
{
    return 0.1 * ((x - 5) * (x - 5) - (y - 3) * (y - 3)) + 0.3 * x;
}

static double with_bump(double x, double y)
{
    return harmonic(x, y) + exp(-40 * ((x - 5) * (x - 5) + (y - 3) * (y - 3)));
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

/* A void in a plasma without E. */
static struct box quiet_box(void)
{
    struct box x = box_with(hollow, (struct lm_ohm){0});
    box_put(&x, LM_PER_DENSITY, centre, per_density);
    return x;
}

static void advance(struct box *x, double dt)
{
    x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_NEW, dt, SUBSTEPS, 1, LM_NO_MEAN, 0, 0});
}

/* So many steps that the waves of the void have gone, by exp(-nu t / 2). */
static void come_to_rest(struct box *x)
{
    for (int n = 0; n < 100; n++)
        advance(x, 0.5);
}

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

int main(void)
{
    Suite *suite = suite_create("waves in voids");
    TCase *t = tcase_create("waves in voids");
    suite_add_tcase(suite, t);
    tcase_add_test(t, field_becomes_that_of_a_vacuum);
    tcase_add_test(t, flux_of_the_void_stays);
    tcase_add_loop_test(t, waves_have_the_speed_c, 0, 2);
    tcase_add_test(t, noise_in_a_void_never_grows);
    tcase_add_test(t, waves_and_whistlers_are_stable);
    tcase_add_test(t, plasma_is_left_alone);
    tcase_add_loop_test(t, nodes_of_voids, 0, 2);
    return suite_run(suite);
}
