/* The field solver between walls and around bodies, on the CPU backend: against theory, and against itself turned,
 * mirrored and with garbage where nothing may look. */
#include <check.h>

#include "field_box.h"
#include "backend/field_boundaries.h"
#include "suite.h"
#include "larmor/physics/fields/fields.h"

static const double centre[2] = {0, 0};

enum { PERIODIC = LM_FIELDS_PERIODIC };

/* A box whose fields end at `sides`, with bodies if `bodies` is not NULL. */
static struct box walled(int nx, int ny, double lx, double ly, struct lm_ohm ohm, int smoothing, const int *sides,
                         const struct lm_bodies *bodies)
{
    struct lm_grid g = lm_grid_make(nx, ny, lx, ly);
    for (int side = 0; side < LM_SIDES; side++)
        g.sides.of[side] = sides[side] == PERIODIC ? LM_PERIODIC : LM_REFLECTING;
    struct lm_setup setup = box_setup(&g, ohm, smoothing);
    memcpy(setup.field_sides, sides, sizeof setup.field_sides);
    if (bodies)
        setup.bodies = *bodies;
    return box_of(&setup);
}

/* Puts f everywhere, ghosts included. */
static void put_all(struct box *x, int array, const double place[2], function f)
{
    for (int j = -LM_GHOST; j < x->g.ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < x->g.nx + LM_GHOST; i++)
            x->work[lm_at(&x->g, i, j)] = f((i + 0.5 + place[0]) * x->g.dx, (j + 0.5 + place[1]) * x->g.dy);
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, array, x->work);
}

static double one(double x, double y)
{
    return 1 + 0 * (x + y);
}
static double dense(double x, double y)
{
    return 1e13 + 0 * (x + y);
}

static double half(double x, double y)
{
    return 0.5 + 0 * (x + y);
}
static double two(double x, double y)
{
    return 2 + 0 * (x + y);
}

/* A uniform plasma that flows along walls has E = -u x B on them as before them. */
START_TEST(e_through_a_wall)
{
    const int along_y = _i, sides[LM_SIDES] = {along_y ? LM_CONDUCTING : PERIODIC, along_y ? LM_CONDUCTING : PERIODIC,
                                               along_y ? PERIODIC : LM_CONDUCTING, along_y ? PERIODIC : LM_CONDUCTING};
    const double centre[2] = {0, 0};
    struct lm_ohm ohm = {.floor = 0.01, .gamma = 1, .temperature = 0.3};
    struct box x = walled(7, 6, 3.5, 3, ohm, 0, sides, NULL);
    put_all(&x, LM_N_OLD, centre, two);
    put_all(&x, LM_J_OLD + along_y, centre, one); /* u = 0.5 */
    put_all(&x, LM_B + 2, b_place[2], half);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    const int d = along_y ? 0 : 1;
    double *e = box_get(&x, LM_E + d);
    for (int j = d == 1 ? -1 : 0; j < x.g.ny; j++)
        for (int i = d == 0 ? -1 : 0; i < x.g.nx; i++)
            require(fabs(e[lm_at(&x.g, i, j)] - (d == 0 ? -0.25 : 0.25)) < 1e-15);
    free(e);
    box_free(&x);
}
END_TEST

static void advance(struct box *x, double dt, int steps)
{
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD);
    x->b->ops->advance_b(x->b, LM_J_OLD, dt * steps, steps);
}

/* The largest difference of an array from factor * f, from `low` on in both directions. */
static double worst(struct box *x, int array, const double place[2], function f, double factor, int low_x, int low_y)
{
    double *a = box_get(x, array), most = 0;
    for (int j = low_y; j < x->g.ny; j++)
        for (int i = low_x; i < x->g.nx; i++) {
            double want = factor * f((i + 0.5 + place[0]) * x->g.dx, (j + 0.5 + place[1]) * x->g.dy);
            double off = fabs(a[lm_at(&x->g, i, j)] - want);
            most = off <= most ? most : off;
        }
    free(a);
    return most;
}

/* --- modes between walls: the grid's own eigenmodes, so that only the time step's error is left --- */

static double mode_kx, mode_ky;
static double cos_cos(double x, double y)
{
    return cos(mode_kx * x) * cos(mode_ky * y);
}
static double sin_cos(double x, double y)
{
    return sin(mode_kx * x) * cos(mode_ky * y);
}
static double cos_sin(double x, double y)
{
    return -cos(mode_kx * x) * sin(mode_ky * y);
}
/* Wave number of the grid's first difference. */
static double grid_k(double k, double d)
{
    return 2 * sin(k * d / 2) / d;
}
static double flux_x(double x, double y)
{
    return grid_k(mode_ky, 0.3) * sin_cos(x, y);
}
static double flux_y(double x, double y)
{
    return grid_k(mode_kx, 0.25) * cos_sin(x, y);
}

/* Diffusion between conducting walls: B_z = cos cos and A_z = sin sin decay at eta K^2, on the walls and beyond too. */
START_TEST(resistive_modes)
{
    static const int around[3][LM_SIDES] = {{LM_CONDUCTING, LM_CONDUCTING, LM_CONDUCTING, LM_CONDUCTING},
                                            {LM_CONDUCTING, LM_CONDUCTING, PERIODIC, PERIODIC},
                                            {PERIODIC, PERIODIC, LM_CONDUCTING, LM_CONDUCTING}};
    const int *sides = around[_i];
    const int walls_x = sides[0] != PERIODIC, walls_y = sides[2] != PERIODIC;
    const double eta = 0.02, t = 3, lx = 24 * 0.25, ly = 20 * 0.3;
    struct lm_ohm ohm = {.floor = 1, .gamma = 1, .eta_hyper = 1e-4};
    mode_kx = (walls_x ? 3 : 2) * M_PI / lx, mode_ky = 2 * M_PI / ly;
    for (int plane = 0; plane < 2; plane++) {
        struct box x = walled(24, 20, lx, ly, ohm, 0, sides, NULL);
        const function b[3] = {flux_x, flux_y, cos_cos};
        for (int d = 0; d < 3; d++)
            if (plane == (d < 2))
                put_all(&x, LM_B + d, b_place[d], b[d]);
        put_all(&x, LM_N_OLD, centre, dense);
        for (size_t k = 0; k < x.g.size; k++)
            x.work[k] = eta;
        x.b->ops->put(x.b, LM_ETA, x.work);
        advance(&x, t / 600, 600);
        double k2 = pow(grid_k(mode_kx, x.g.dx), 2) + pow(grid_k(mode_ky, x.g.dy), 2);
        double left = exp(-(eta + k2 * 1e-4) * k2 * t);
        ck_assert(left < 0.95 && left > 0.5);
        for (int d = 0; d < 3; d++)
            if (plane == (d < 2))
                ck_assert_double_lt(worst(&x, LM_B + d, b_place[d], b[d], left, -2 * walls_x, -2 * walls_y), 1e-10);
        box_free(&x);
    }
}
END_TEST

static double whistler_t, whistler_k2;
static int whistler_axis, whistler_odd;
static double shape(double x, double y)
{
    double along = whistler_axis ? mode_ky * y : mode_kx * x;
    return whistler_odd ? sin(along) : cos(along);
}
static double first(double x, double y)
{
    return 0.3 * shape(x, y) * cos(whistler_k2 * whistler_t);
}
static double second(double x, double y)
{
    return 0.3 * shape(x, y) * sin(whistler_k2 * whistler_t);
}

/* A standing whistler along B_n = 1: omega = K^2 B/n. Where the walls conduct, B along them is even (no current there);
 * where it is given, odd. Also in a box of one column. */
START_TEST(standing_whistler)
{
    whistler_axis = _i & 1;
    whistler_odd = _i >> 1;
    const int kind = whistler_odd ? LM_INFLOW_B : LM_CONDUCTING, n = 32, m = 3;
    int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    sides[2 * whistler_axis] = sides[2 * whistler_axis + 1] = kind;
    const int nx = whistler_axis ? 1 : n, ny = whistler_axis ? n : 1;
    struct box x = walled(nx, ny, nx * 0.25, ny * 0.25, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    mode_kx = mode_ky = m * M_PI / (n * 0.25);
    whistler_k2 = pow(grid_k(mode_kx, 0.25), 2);
    /* (x, y, z) turned in a circle: along x, B_y goes first and B_z follows; along y, B_z first and B_x follows. */
    const int a = (whistler_axis + 1) % 3, b = (whistler_axis + 2) % 3, low_x = whistler_axis ? 0 : -1;
    whistler_t = 0;
    put_all(&x, LM_B + whistler_axis, centre, one);
    put_all(&x, LM_B + a, b_place[a], first);
    put_all(&x, LM_B + b, b_place[b], second);
    put_all(&x, LM_N_OLD, centre, one);
    const double t = 2 * M_PI / whistler_k2;
    const int steps = 4000;
    advance(&x, 0.7 * t / steps, steps);
    whistler_t = 0.7 * t;
    ck_assert_double_lt(worst(&x, LM_B + a, b_place[a], first, 1, low_x, low_x ? 0 : -1), 1e-8);
    ck_assert_double_lt(worst(&x, LM_B + b, b_place[b], second, 1, low_x, low_x ? 0 : -1), 1e-8);
    ck_assert_double_eq_tol(worst(&x, LM_B + whistler_axis, centre, one, 1, 0, 0), 0, 1e-12);
    whistler_t = 0;
    ck_assert_double_gt(worst(&x, LM_B + a, b_place[a], first, 1, 0, 0), 0.1);
    box_free(&x);
}
END_TEST

/* --- open sides --- */

/* Of B across x; half of what is on the walls. */
static double energy_of(struct box *x)
{
    double sum = 0;
    for (int d = 1; d < 3; d++) {
        double *a = box_get(x, LM_B + d);
        for (int i = -1; i < x->g.nx; i++)
            sum += pow(a[lm_at(&x->g, i, 0)], 2) * (i < 0 || i == x->g.nx - 1 ? 0.5 : 1);
        free(a);
    }
    return sum;
}

enum { LONG = 256 };
static double packet_k, packet_x, packet_width;
static double pulse(double x, double y)
{
    return exp(-pow((x - packet_x) / packet_width, 2)) + 0 * y;
}
static double packet_y(double x, double y)
{
    return pulse(x, y) * cos(packet_k * x);
}
static double packet_z(double x, double y)
{
    return -pulse(x, y) * sin(packet_k * x);
}

/* What a flow carries out leaves. Centred differences and B copied to the wall reflect a wave into the grid's own
 * saw-tooth with amplitude tan(k dx/2): the energy that comes back is that, over the spectrum of the pulse. */
START_TEST(an_open_side_lets_a_flow_out)
{
    static const int sides[LM_SIDES] = {LM_INFLOW_B, LM_OPEN, PERIODIC, PERIODIC};
    struct box x = walled(LONG, 1, 0.5 * LONG, 0.5, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    packet_width = 4, packet_x = 0.5 * LONG - 32;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_J_OLD, centre, one);
    put_all(&x, LM_B + 2, b_place[2], pulse);
    double before = energy_of(&x), power = 0, back = 0;
    for (double k = 0.005; k < 2.5; k += 0.01) {
        double p = exp(-pow(k * packet_width, 2) / 2);
        power += p, back += p * pow(tan(k * x.g.dx / 2), 2);
    }
    advance(&x, 0.1, 560); /* out after 32, back at the other side after 256 */
    double ratio = energy_of(&x) / before;
    ck_assert_msg(fabs(ratio / (back / power) - 1) < 0.2, "%g of the energy came back, theory %g", ratio, back / power);
    box_free(&x);
}
END_TEST

/* A whistler meets an open side: no current flows on it, so that alone it sends everything back. A resistive layer
 * before it damps: k^2 = omega / (B/n - i eta) there, so exp(-4 int Im k dx) of the energy returns. */
START_TEST(a_layer_absorbs_whistlers)
{
    static const int sides[LM_SIDES] = {LM_CONDUCTING, LM_OPEN, PERIODIC, PERIODIC};
    const double length = 0.25 * LONG, layer = 16, most = 1;
    struct box x = walled(LONG, 1, length, 0.25, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    packet_width = 10, packet_x = 28, packet_k = 1;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_B, b_place[0], one);
    put_all(&x, LM_B + 1, b_place[1], packet_y);
    put_all(&x, LM_B + 2, b_place[2], packet_z);
    double before = energy_of(&x), power = 0, back = 0;
    for (double k = 0.01; k < 2.5; k += 0.01) {
        double p = exp(-pow((k - packet_k) * packet_width, 2) / 2), damping = 0;
        for (int s = 0; s < 100; s++) {
            double eta = most * pow((s + 0.5) / 100, 2), size = pow(1 + eta * eta, -0.25);
            damping += k * size * sin(atan(eta) / 2) * layer / 100;
        }
        power += p, back += p * exp(-4 * damping);
    }
    for (int j = -LM_GHOST; j < x.g.ny + LM_GHOST && _i; j++)
        for (int i = -LM_GHOST; i < x.g.nx + LM_GHOST; i++) {
            double deep = fmin(1, fmax(0, ((i + 0.5) * x.g.dx - (length - layer)) / layer));
            x.work[lm_at(&x.g, i, j)] = most * deep * deep;
        }
    for (size_t k = 0; k < x.g.size && !_i; k++)
        x.work[k] = 0;
    x.b->ops->put(x.b, LM_ETA, x.work);
    advance(&x, 0.015, 3000); /* 45: nothing of it moves slower than 1 */
    double ratio = energy_of(&x) / before;
    if (_i)
        ck_assert_msg(ratio < 2 * back / power && back / power < 5e-4, "%g came back, theory %g", ratio, back / power);
    else
        ck_assert_msg(fabs(ratio - 1) < 1e-3, "%g came back", ratio);
    box_free(&x);
}
END_TEST

/* --- given values --- */

static double given_e;
static double e_beyond(double x, double y)
{
    return given_e + 0 * (x + y);
}
static double tilted(double x, double y)
{
    return 0.5 + 0.1 * sin(3 * x) + 0.05 * y;
}

/* A flow brings in the flux that the side's E gives: E = -u x B. As much as is there already: nothing changes. */
START_TEST(inflow_of_flux)
{
    static const int sides[LM_SIDES] = {LM_INFLOW_E, LM_OPEN, PERIODIC, PERIODIC};
    struct box x = walled(64, 1, 32, 0.5, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 1, sides, NULL);
    given_e = _i ? -1.2 : -1;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_J_OLD, centre, one);
    put_all(&x, LM_B + 1, b_place[1], one);
    put_all(&x, LM_E + 2, centre, e_beyond);
    for (size_t k = 0; k < x.g.size; k++)
        x.work[k] = 0.2;
    x.b->ops->put(x.b, LM_ETA, x.work);
    advance(&x, 0.05, 400);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    double *by = box_get(&x, LM_B + 1), *e = box_get(&x, LM_E + 2), *push = box_get(&x, LM_PUSH_E + 2);
    for (int i = -1; i < 16; i++)
        ck_assert_double_eq_tol(by[lm_at(&x.g, i, 0)], -given_e, _i ? 1e-3 : 1e-13);
    for (int i = -LM_GHOST; i < 0; i++)
        ck_assert(e[lm_at(&x.g, i, 0)] == given_e && push[lm_at(&x.g, i, 0)] == given_e);
    struct lm_control control;
    x.b->ops->control(x.b, &control);
    ck_assert_double_ge(control.push_e[2], -given_e);
    free(by), free(e), free(push);
    box_free(&x);
}
END_TEST

/* Along a side with given B nothing changes, to the bit, whatever happens inside. */
START_TEST(given_b_stays)
{
    static const int sides[LM_SIDES] = {LM_INFLOW_B, LM_CONDUCTING, LM_OPEN, LM_INFLOW_B};
    struct box x = walled(12, 12, 3, 3, (struct lm_ohm){.floor = 0.1, .gamma = 1, .eta_hyper = 1e-4}, 1, sides, NULL);
    put_all(&x, LM_N_OLD, centre, one);
    double *before[3];
    for (int d = 0; d < 3; d++) {
        put_all(&x, LM_J_OLD + d, centre, tilted);
        put_all(&x, LM_B + d, b_place[d], tilted);
        before[d] = box_get(&x, LM_B + d);
    }
    advance(&x, 0.002, 200);
    for (int d = 0; d < 3; d++) {
        double *after = box_get(&x, LM_B + d);
        for (int k = -LM_GHOST; k < 12 + LM_GHOST; k++)
            for (int deep = 1; deep <= LM_GHOST; deep++) {
                size_t low = lm_at(&x.g, -deep, k), high = lm_at(&x.g, k, 10 + deep);
                ck_assert(d == 0 || after[low] == before[d][low]);
                ck_assert(d == 1 || after[high] == before[d][high]);
            }
        ck_assert_double_gt(box_distance(&x, after, before[d]), 1e-3);
        free(after), free(before[d]);
    }
    box_free(&x);
}
END_TEST

/* --- noise: div B, symmetry, bodies --- */

enum { N = 14 };
enum { B = 0, JI = 3, DENSITY = 6, ETA, E, PUSH = E + 3, ALL = PUSH + 3 };
static const int arrays[ALL] = {LM_B,   LM_B + 1, LM_B + 2, LM_J_OLD, LM_J_OLD + 1, LM_J_OLD + 2,  LM_N_OLD,
                                LM_ETA, LM_E,     LM_E + 1, LM_E + 2, LM_PUSH_E,    LM_PUSH_E + 1, LM_PUSH_E + 2};

struct state {
    double *a[ALL];
};

static void state_free(struct state *s)
{
    for (int k = 0; k < ALL; k++)
        free(s->a[k]);
}

static double random_of(int i, int j, int k)
{
    double u = fabs(sin(1 + 12.9898 * i + 78.233 * j + 37.7 * k)) * 437.585;
    return u - floor(u);
}

/* Numbers without any symmetry, ghosts included; B in the plane is the curl of such numbers, so div B is round-off. */
static struct state noise(const struct box *x)
{
    const struct lm_grid *g = &x->g;
    const int periodic_x = g->sides.of[0] == LM_PERIODIC, periodic_y = g->sides.of[2] == LM_PERIODIC;
    struct state s;
    for (int k = 0; k < ALL; k++) {
        s.a[k] = calloc(g->size, sizeof(double));
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                int p = periodic_x ? (i + g->nx * 3) % g->nx : i + 10,
                    q = periodic_y ? (j + g->ny * 3) % g->ny : j + 10;
                int right = periodic_x ? (p + 1) % g->nx : p + 1, above = periodic_y ? (q + 1) % g->ny : q + 1;
                double u = random_of(p, q, k), a = random_of(p, q, 99);
                double *to = s.a[k] + lm_at(g, i, j);
                *to = k == DENSITY ? 1 + u : k == ETA ? 0.02 + 0.01 * u : u - 0.5;
                if (k == B)
                    *to = (random_of(p, above, 99) - a) * 0.2 / g->dy;
                if (k == B + 1)
                    *to = (a - random_of(right, q, 99)) * 0.2 / g->dx;
            }
    }
    return s;
}

static void solve(struct box *x, struct state *s, int steps)
{
    for (int k = 0; k < ALL; k++)
        x->b->ops->put(x->b, arrays[k], s->a[k]);
    advance(x, 0.002, steps);
    x->b->ops->ohm(x->b, LM_OHM_OLD);
    for (int k = 0; k < ALL; k++)
        x->b->ops->get(x->b, arrays[k], s->a[k]);
}

static const struct lm_ohm every_term = {
    .eta_hyper = 0.001, .floor = 0.05, .temperature = 0.4, .gamma = 1.4, .friction = 1};

/* Every pair of kinds meets in a corner, and each meets a periodic direction. */
static void sides_of_case(int number, int sides[LM_SIDES])
{
    for (int side = 0; side < LM_SIDES; side++) {
        sides[side] = LM_CONDUCTING + number % 4;
        number /= 4;
    }
    if (number > 0) /* 256 and up */
        sides[2 * number - 2] = sides[2 * number - 1] = PERIODIC;
}

START_TEST(b_stays_free_of_divergence)
{
    int sides[LM_SIDES];
    for (int number = _i; number < 3 * 256; number += 8) {
        sides_of_case(number, sides);
        struct box x = walled(N, N - 2, 7, 5, every_term, 1, sides, NULL);
        struct state s = noise(&x);
        solve(&x, &s, SANITIZED ? 10 : 300);
        struct lm_grid_sums sums;
        x.b->ops->grid_sums(x.b, &sums);
        ck_assert_msg(sums.div_b < 2e-13, "sides %d %d %d %d: div B %g", sides[0], sides[1], sides[2], sides[3],
                      sums.div_b);
        for (int j = -2; j < x.g.ny; j++)
            for (int i = -2; i < x.g.nx; i++) {
                struct lm_view b = {s.a[B], s.a[B + 1], s.a[B + 2], x.g.stride};
                double div = lm_div_b(lm_view_at(b, (long)lm_at(&x.g, i, j)), 1 / x.g.dx, 1 / x.g.dy);
                ck_assert_msg(fabs(div) < 2e-13, "sides %d %d %d %d: div B %g in %d, %d", sides[0], sides[1], sides[2],
                              sides[3], div, i, j);
                ck_assert_double_lt(fabs(s.a[B + 2][lm_at(&x.g, i, j)]), 2);
            }
        state_free(&s);
        box_free(&x);
    }
}
END_TEST

static const double *place_of(int k)
{
    return k < JI ? b_place[k] : k < E ? centre : e_place[(k - E) % 3];
}

/* The vector that an array belongs to starts there; -1: a scalar. */
static int vector_of(int k)
{
    return k == DENSITY || k == ETA ? -1 : k < DENSITY ? k / 3 * 3 : E + (k - E) / 3 * 3;
}

/* Turned by 90 degrees (x' = -y, y' = x), or mirrored in y, walls and all. The last ghosts have no image. */
static struct state moved(const struct box *x, const struct state *s, int mirror)
{
    struct state t;
    for (int k = 0; k < ALL; k++) {
        const int vector = vector_of(k), d = vector < 0 ? 2 : k - vector, axial = k < JI;
        const int from = d == 2 || mirror ? k : vector + 1 - d;
        double sign = d == 0 ? -1 : 1;
        if (mirror)
            sign = vector < 0 || (d == 1) == axial ? 1 : -1;
        t.a[k] = calloc(x->g.size, sizeof(double));
        for (int j = -LM_GHOST; j < N + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < N + LM_GHOST; i++) {
                int p = mirror ? i : j, q = N - 1 - (mirror ? j : i) - (place_of(k)[mirror] > 0);
                if (q >= -LM_GHOST)
                    t.a[k][lm_at(&x->g, i, j)] = sign * s->a[from][lm_at(&x->g, p, q)];
            }
    }
    return t;
}

static void moved_sides(const int sides[LM_SIDES], int mirror, int to[LM_SIDES])
{
    const int turned[LM_SIDES] = {sides[LM_Y_MAX], sides[LM_Y_MIN], sides[LM_X_MIN], sides[LM_X_MAX]};
    const int mirrored[LM_SIDES] = {sides[LM_X_MIN], sides[LM_X_MAX], sides[LM_Y_MAX], sides[LM_Y_MIN]};
    memcpy(to, mirror ? mirrored : turned, sizeof turned);
}

/* Three bodies, one of each kind, one of them at a wall. */
static uint8_t blobs[N * N];
static struct lm_bodies three_bodies(void)
{
    memset(blobs, 0, sizeof blobs);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            if (hypot(i - 4, j - 4) < 2.2)
                blobs[j * N + i] = 1;
            if (i > 8 && i < 12 && j > 1 && j < 4)
                blobs[j * N + i] = 2;
            if (hypot(i - 8, j - 13) < 3.1)
                blobs[j * N + i] = 3;
        }
    return (struct lm_bodies){.count = 3,
                              .mask = blobs,
                              .particles = {LM_ABSORBING, LM_REFLECTING, LM_ABSORBING},
                              .fields = {LM_BODY_CONDUCTING, LM_BODY_RESISTIVE, LM_BODY_TRANSPARENT}};
}

START_TEST(turned_and_mirrored)
{
    const int mirror = _i & 1;
    for (int number = _i >> 1; number < 3 * 256; number += 23) {
        int sides[LM_SIDES], other[LM_SIDES];
        sides_of_case(number, sides);
        moved_sides(sides, mirror, other);
        struct lm_bodies bodies = three_bodies();
        struct box x = walled(N, N, 7, 7, every_term, 2, sides, &bodies);
        uint8_t turned[N * N];
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                turned[j * N + i] = mirror ? blobs[(N - 1 - j) * N + i] : blobs[(N - 1 - i) * N + j];
        bodies.mask = turned;
        struct box y = walled(N, N, 7, 7, every_term, 2, other, &bodies);
        struct state s = noise(&x), t = moved(&x, &s, mirror);
        for (int k = 0; k < ALL; k++)
            lm_grid_wrap(&y.g, t.a[k]);
        solve(&x, &s, 20);
        solve(&y, &t, 20);
        struct state want = moved(&x, &s, mirror);
        for (int k = 0; k < ALL; k++)
            for (int j = k < JI ? -2 : 0; j < N; j++)
                for (int i = k < JI ? -2 : 0; i < N; i++) {
                    double a = t.a[k][lm_at(&y.g, i, j)], b = want.a[k][lm_at(&y.g, i, j)];
                    ck_assert_msg(fabs(a - b) < 1e-10, "sides %d %d %d %d, array %d in %d, %d: %g, %g", sides[0],
                                  sides[1], sides[2], sides[3], k, i, j, a, b);
                }
        state_free(&s), state_free(&t), state_free(&want);
        box_free(&x);
        box_free(&y);
    }
}
END_TEST

/* Garbage where nothing may look changes nothing: in the plasma's quantities inside bodies, and in E, which is all
 * output but for what is given. */
START_TEST(nobody_looks_into_bodies)
{
    int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    for (int number = _i; number <= 256; number += 17) {
        if (number < 256)
            sides_of_case(number, sides);
        else
            memset(sides, 0, sizeof sides);
        struct lm_bodies bodies = three_bodies();
        struct box x = walled(N, N, 7, 7, every_term, 2, sides, &bodies);
        struct state s = noise(&x), t = noise(&x);
        uint8_t *solid = malloc(x.g.size);
        lm_fill_solid(&x.b->setup, solid);
        for (int j = -LM_GHOST; j < N + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < N + LM_GHOST; i++) {
                size_t k = lm_at(&x.g, i, j);
                for (int a = JI; a <= DENSITY && solid[k]; a++)
                    t.a[a][k] = NAN;
                const int beyond_x = i < 0    ? sides[0]
                                     : i >= N ? sides[1]
                                              : 0,
                          beyond_y = j < 0    ? sides[2]
                                     : j >= N ? sides[3]
                                              : 0;
                for (int a = E; a < ALL && (a >= PUSH || (beyond_x != LM_INFLOW_E && beyond_y != LM_INFLOW_E)); a++)
                    t.a[a][k] = NAN;
            }
        /* On walls, E through them is computed also where the node's index is that of a ghost. */
        struct lm_control one_way, other_way;
        struct lm_grid_sums sums[2];
        solve(&x, &s, 20);
        x.b->ops->control(x.b, &one_way);
        x.b->ops->grid_sums(x.b, &sums[0]);
        solve(&x, &t, 20);
        x.b->ops->control(x.b, &other_way);
        x.b->ops->grid_sums(x.b, &sums[1]);
        for (int a = 0; a < ALL; a++)
            for (size_t k = 0; k < x.g.size; k++)
                ck_assert_msg(s.a[a][k] == t.a[a][k] || (a >= JI && a <= DENSITY && solid[k]),
                              "sides %d %d %d %d, array %d, element %zu: %g, %g", sides[0], sides[1], sides[2],
                              sides[3], a, k, s.a[a][k], t.a[a][k]);
        ck_assert(memcmp(&one_way, &other_way, sizeof one_way) == 0);
        ck_assert(sums[0].electrons == sums[1].electrons && isfinite(one_way.frequency));
        free(solid);
        state_free(&s), state_free(&t);
        box_free(&x);
    }
}
END_TEST

/* In a conductor E is 0 and B stays; in the others E = eta J, in the push too; what is smoothed is the plasma's. */
START_TEST(fields_in_bodies)
{
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    struct lm_bodies bodies = three_bodies();
    struct box x = walled(N, N, 7, 7, every_term, _i, sides, &bodies);
    struct state s = noise(&x), before = noise(&x);
    solve(&x, &s, 20);
    struct lm_view b = {s.a[B], s.a[B + 1], s.a[B + 2], x.g.stride};
    int seen[4] = {0};
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            size_t k = lm_at(&x.g, i, j);
            int body = blobs[j * N + i];
            struct lm_vector v = lm_curl_b(lm_view_at(b, (long)k), 1 / x.g.dx, 1 / x.g.dy);
            if (!body)
                continue;
            double want = body == 1 ? 0 : s.a[ETA][k] * v.z;
            ck_assert(s.a[E + 2][k] == want && s.a[PUSH + 2][k] == want);
            if (body == 1) {
                const int right = blobs[j * N + (i + 1) % N] != 0, above = blobs[(j + 1) % N * N + i] != 0;
                ck_assert(!right || (s.a[E][k] == 0 && s.a[PUSH][k] == 0));
                ck_assert(!above || (s.a[E + 1][k] == 0 && s.a[PUSH + 1][k] == 0));
            } else if (blobs[j * N + (i + 1) % N] == body)
                ck_assert(s.a[E][k] == 0.5 * (s.a[ETA][k] + s.a[ETA][k + 1]) * v.x);
            seen[body]++;
            if (i == 4 && j == 4)
                for (int d = 0; d < 3; d++)
                    ck_assert(s.a[B + d][k] == before.a[B + d][k]);
        }
    ck_assert(seen[1] > 8 && seen[2] > 4 && seen[3] > 8);
    state_free(&s), state_free(&before);
    box_free(&x);
}
END_TEST

/* A resistive slab between conductors: B_z diffuses at eta K^2, K that of half waves between the conductors' first
 * cells. Nothing of it is plasma. */
START_TEST(diffusion_into_a_slab)
{
    enum { CELLS = 24, SLAB = 15, FROM = 4 };
    static const int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    uint8_t mask[CELLS];
    for (int i = 0; i < CELLS; i++)
        mask[i] = i >= FROM && i < FROM + SLAB ? 1 : 2;
    struct lm_bodies bodies = {
        .count = 2, .mask = mask, .fields = {LM_BODY_RESISTIVE, LM_BODY_CONDUCTING}, .particles = {LM_ABSORBING}};
    struct box x = walled(CELLS, 1, CELLS * 0.25, 0.25, (struct lm_ohm){.floor = 1, .gamma = 1, .eta_hyper = 1e-2}, 0,
                          sides, &bodies);
    const double d = 0.25, k = 2 * M_PI / ((SLAB + 1) * d), eta = 0.3, t = 2;
    double want[CELLS], *nan = malloc(x.g.size * sizeof *nan);
    memset(x.work, 0, x.g.size * sizeof *x.work);
    for (int i = FROM - 1; i < FROM + SLAB; i++) /* faces; the wave's 0 is half a cell inside of the conductor */
        want[i] = x.work[lm_at(&x.g, i, 0)] = cos(k * (i - FROM + 1.5) * d);
    lm_grid_wrap(&x.g, x.work);
    x.b->ops->put(x.b, LM_B + 2, x.work);
    for (size_t n = 0; n < x.g.size; n++)
        nan[n] = NAN, x.work[n] = eta;
    x.b->ops->put(x.b, LM_ETA, x.work);
    for (int a = LM_N_OLD; a < LM_N_NEW; a++)
        x.b->ops->put(x.b, a, nan);
    advance(&x, t / 400, 400);
    double *b = box_get(&x, LM_B + 2), left = exp(-eta * pow(grid_k(k, d), 2) * t);
    ck_assert(left < 0.5 && left > 0.01);
    for (int i = FROM - 1; i < FROM + SLAB; i++)
        ck_assert_double_eq_tol(b[lm_at(&x.g, i, 0)], left * want[i], 1e-9);
    x.b->ops->survey(x.b);
    struct lm_control control;
    x.b->ops->control(x.b, &control);
    ck_assert_double_eq_tol(control.frequency, eta * 4 / (d * d), 1e-10);
    ck_assert_int_eq(control.floored, 0);
    free(b), free(nan);
    box_free(&x);
}
END_TEST

/* A species of density 1 that drifts, deposited: number density, density and current. */
static void deposit(struct box *x, double *out[3])
{
    double *ones = malloc(x->g.size * sizeof *ones), *zeros = calloc(x->g.size, sizeof *zeros);
    for (size_t k = 0; k < x->g.size; k++)
        ones[k] = 1;
    struct lm_loading loading = {.density = ones,
                                 .drift = {zeros, zeros, ones},
                                 .temperature = {zeros, zeros, zeros},
                                 .particles_per_cell = 1,
                                 .quiet = 1,
                                 .seed = 1};
    uint64_t count;
    ck_assert_int_eq(x->b->ops->load(x->b, 0, &loading, &count), LM_OK);
    struct lm_pass pass = {.speed_exponent = 2};
    x->b->ops->pass(x->b, 0, &pass);
    x->b->ops->collect(x->b, 0, pass.speed_exponent, 1);
    x->b->ops->moments(x->b);
    static const int which[3] = {LM_SPECIES_N, LM_N_NEW, LM_J_NEW + 2};
    for (int k = 0; k < 3; k++)
        out[k] = box_get(x, which[k]);
    free(ones), free(zeros);
}

/* Moments: none in bodies; outside as if there were none, and smoothed without them: convex, so between the extremes.
 */
START_TEST(no_moments_in_bodies)
{
    static const int sides[LM_SIDES] = {LM_CONDUCTING, LM_CONDUCTING, PERIODIC, PERIODIC};
    struct lm_bodies bodies = three_bodies();
    struct box x = walled(N, N, 7, 7, every_term, _i, sides, &bodies),
               y = walled(N, N, 7, 7, every_term, 0, sides, NULL);
    double *a[3], *b[3];
    deposit(&x, a);
    deposit(&y, b);
    for (int m = 0; m < 3; m++) {
        double least = HUGE_VAL, most = 0;
        for (int k = 0; k < N * N; k++)
            if (!blobs[k]) {
                double v = b[m][lm_at(&x.g, k % N, k / N)];
                least = fmin(least, v), most = fmax(most, v);
            }
        ck_assert(least > 0.1 && most > least);
        for (int k = 0; k < N * N; k++) {
            double v = a[m][lm_at(&x.g, k % N, k / N)];
            if (blobs[k])
                ck_assert(v == 0);
            else
                ck_assert(m == 0 || _i == 0 ? v == b[m][lm_at(&x.g, k % N, k / N)] : v >= least && v <= most);
        }
        free(a[m]), free(b[m]);
    }
    box_free(&x);
    box_free(&y);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields and walls");
    TCase *t = tcase_create("walls");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, e_through_a_wall, 0, 2);
    tcase_add_loop_test(t, resistive_modes, 0, 3);
    tcase_add_loop_test(t, standing_whistler, 0, 4);
    tcase_add_test(t, an_open_side_lets_a_flow_out);
    tcase_add_loop_test(t, a_layer_absorbs_whistlers, 0, 2);
    tcase_add_loop_test(t, inflow_of_flux, 0, 2);
    tcase_add_test(t, given_b_stays);
    tcase_add_loop_test(t, b_stays_free_of_divergence, 0, 8);
    tcase_add_loop_test(t, turned_and_mirrored, 0, 4);
    tcase_add_loop_test(t, nobody_looks_into_bodies, 0, 17);
    tcase_add_loop_test(t, fields_in_bodies, 0, 3);
    tcase_add_test(t, diffusion_into_a_slab);
    tcase_add_loop_test(t, no_moments_in_bodies, 0, 3);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
