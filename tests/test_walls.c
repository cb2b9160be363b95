/* Walls and bodies: the ends of straight steps, against folding and against many small steps; and nodes beyond walls.
 */
#define LM_PRECISION 64

#include <check.h>
#include <math.h>

#include "larmor/physics/particles/flight.h"
#include "larmor/physics/particles/inflow.h"
#include "larmor/physics/particles/tile.h"
#include "larmor/physics/fields/wall.h"
#include "require.h"
#include "suite.h"

enum { KINDS = 3, CELLS = 12 };

/* Combinations of sides that are allowed. */
static int valid(int low, int high)
{
    return (low == LM_PERIODIC) == (high == LM_PERIODIC);
}

/* Folds a position along one axis: a mirror at 0 takes x to -1 - x, a mirror at `size` takes it to 2 size - 1 - x. */
struct folded {
    int64_t end;
    int flipped, side;
};

static struct folded fold(const struct lm_surfaces *s, int axis, int64_t from, int64_t by, int64_t size)
{
    const int walls = s->of[2 * axis] != LM_PERIODIC;
    struct folded f = {from + by, 0, -1};
    if (f.end >= 0 && f.end < size)
        return f;
    int64_t period = walls ? 2 * size : size, rest = (f.end % period + period) % period;
    f.flipped = rest >= size;
    f.end = f.flipped ? period - 1 - rest : rest;
    int first = 2 * axis + (by > 0), second = 2 * axis + (by < 0);
    int64_t ahead = by > 0 ? size - from : from + 1, way = by > 0 ? by : -by;
    if (walls && s->of[first] == LM_ABSORBING)
        f.side = first;
    else if (walls && s->of[second] == LM_ABSORBING && way >= ahead + size)
        f.side = second;
    return f;
}

/* A pseudo-random number in [0, n), the same in every run. */
static uint64_t random_below(uint64_t *state, uint64_t n)
{
    return lm_mix((*state)++) % n;
}

static struct lm_flight flight_from(int64_t x, int64_t y)
{
    return (struct lm_flight){.i = (int)(x >> LM_FRACTION_BITS),
                              .j = (int)(y >> LM_FRACTION_BITS),
                              .x = x & (LM_ONE - 1),
                              .y = y & (LM_ONE - 1),
                              .vx = 1,
                              .vy = 1};
}

/* Steps along one axis, over several box lengths, also from and to the outermost positions of cells. */
START_TEST(folds)
{
    int low = _i % KINDS, high = _i / KINDS;
    uint64_t random = 1;
    if (!valid(low, high))
        return;
    for (int axis = 0; axis < 2; axis++)
        for (int n = 1; n <= 4; n++)
            for (int k = 0; k < 3000; k++) {
                struct lm_surfaces s = {.of = {0}};
                const struct lm_tiling t = lm_tiling_make(8, axis ? 5 : n, axis ? n : 5);
                const int64_t size = n * LM_ONE;
                s.of[2 * axis] = low;
                s.of[2 * axis + 1] = high;
                int64_t from = (int64_t)random_below(&random, (uint64_t)size),
                        by = (int64_t)random_below(&random, 16 * LM_ONE) - 8 * LM_ONE;
                if (k % 3 == 0) { /* positions next to faces */
                    from = (int64_t)random_below(&random, (uint64_t)n) * LM_ONE + (k % 2 ? LM_ONE - 1 : 0);
                    by = ((int64_t)random_below(&random, 17) - 8) * LM_ONE + (int64_t)random_below(&random, 3) - 1;
                }
                struct lm_flight f = flight_from(axis ? LM_ONE : from, axis ? from : LM_ONE);
                lm_move_with_surfaces(&f, &s, &t, axis ? 0 : by, axis ? by : 0, 1, 0);
                const struct folded want = fold(&s, axis, from, by, size);
                require(f.channel == want.side);
                if (want.side >= 0)
                    continue;
                const int64_t end =
                    axis ? ((int64_t)f.j << LM_FRACTION_BITS | f.y) : ((int64_t)f.i << LM_FRACTION_BITS | f.x);
                require(end == want.end);
                require((axis ? f.vy : f.vx) == (want.flipped && low != LM_PERIODIC ? -1 : 1));
                require(low == LM_PERIODIC || from + (axis ? f.dy : f.dx) == end);
                require((axis ? f.i : f.j) == 1 && (axis ? f.dx : f.dy) == 0);
            }
}
END_TEST

/* A step into the corner of two absorbing sides counts for the side that it meets first. */
START_TEST(corners)
{
    const struct lm_surfaces s = {.of = {LM_ABSORBING, LM_REFLECTING, LM_REFLECTING, LM_ABSORBING}};
    const struct lm_tiling t = lm_tiling_make(8, 10, 10);
    static const struct {
        int x, y, dx, dy, channel; /* hundredths of a cell */
    } list[] = {{50, 900, -300, 300, LM_X_MIN}, {100, 950, -300, 300, LM_Y_MAX}, {100, 900, -50, 300, LM_Y_MAX},
                {100, 900, -300, 50, LM_X_MIN}, {100, 900, -50, 50, -1},         {900, 100, 300, -300, -1}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        struct lm_flight f = flight_from(list[k].x * (LM_ONE / 100), list[k].y * (LM_ONE / 100));
        lm_move_with_surfaces(&f, &s, &t, list[k].dx * (LM_ONE / 100), list[k].dy * (LM_ONE / 100), 1, 0);
        require(f.channel == list[k].channel);
    }
}
END_TEST

static const char scene[CELLS][CELLS + 1] = {"............", "..##........", "..##....a...", "........a...",
                                             "....#.......", "...###......", "....#....aa.", ".........a..",
                                             "#..........#", "..aa....#...", "........##..", "............"};

static void make_scene(uint8_t *body, uint8_t *near_body, struct lm_surfaces *s)
{
    for (int k = 0; k < CELLS * CELLS; k++)
        body[k] = scene[k / CELLS][k % CELLS] == '#' ? 1 : scene[k / CELLS][k % CELLS] == 'a' ? 2 : 0;
    for (int k = 0; k < CELLS * CELLS; k++) {
        near_body[k] = 0;
        for (int d = 0; d < 9; d++)
            near_body[k] |=
                body[lm_wrap(k / CELLS + d / 3 - 1, CELLS) * CELLS + lm_wrap(k % CELLS + d % 3 - 1, CELLS)] != 0;
    }
    *s =
        (struct lm_surfaces){.of = {LM_PERIODIC, LM_PERIODIC, LM_REFLECTING, LM_ABSORBING, LM_REFLECTING, LM_ABSORBING},
                             .body = body,
                             .near_body = near_body,
                             .place = lm_whole_domain(CELLS, CELLS)};
}

/* The same step in many small steps in floating point. *near: the path came so close to a corner that rounding may
 * decide. */
static int walk(const struct lm_surfaces *s, double *x, double *y, double dx, double dy, int *near)
{
    enum { STEPS = 20000 };
    double u = dx / STEPS, v = dy / STEPS;
    for (int n = 0; n < STEPS; n++) {
        for (int axis = 0; axis < 2; axis++) {
            double *p = axis ? y : x, *w = axis ? &v : &u, old = *p;
            *p += *w;
            const int from = (int)floor(old), to = (int)floor(*p);
            if (from == to)
                continue;
            const double other = axis ? *x : *y, fraction = other - floor(other);
            *near |= fraction < 2e-3 || fraction > 1 - 2e-3;
            int surface = -1, i = axis ? (int)floor(*x) : lm_wrap(to, CELLS), j = axis ? to : (int)floor(*y);
            if (axis && (to < 0 || to >= CELLS))
                surface = to < 0 ? LM_Y_MIN : LM_Y_MAX;
            else if (s->body[j * CELLS + i])
                surface = LM_SIDES + s->body[j * CELLS + i] - 1;
            if (surface >= 0 && s->of[surface] == LM_ABSORBING)
                return surface;
            if (surface >= 0) {
                *p = old;
                *w = -*w;
            } else if (!axis) {
                *x += i - to;
            }
        }
    }
    return -1;
}

/* What struct lm_free_ways says in the window of the home tile. Where the way ends beyond it, lm_is_free says so. */
static int is_free_in_window(const struct lm_surfaces *s, const struct lm_tiling *t, int home, int64_t x, int64_t y,
                             lm_fix dx, lm_fix dy)
{
    enum { WIDTH = 8 + LM_WINDOW_EXTRA };
    int32_t near_body[WIDTH * WIDTH];
    const int left = home % 2 * 8, low = home / 2 * 8;
    const lm_fix at_x = x - (int64_t)left * LM_ONE, at_y = y - (int64_t)low * LM_ONE;
    for (int j = 0; j < WIDTH; j++)
        for (int i = 0; i < WIDTH; i++)
            near_body[j * WIDTH + i] = s->near_body[lm_wrap(low + j - LM_WINDOW_LOW, CELLS) * CELLS +
                                                    lm_wrap(left + i - LM_WINDOW_LOW, CELLS)];
    const struct lm_free_ways ways = lm_free_ways_of(s, t, home, near_body, WIDTH);
    return lm_in_window(1, at_x + dx, at_y + dy, 8) ? lm_is_free_way(&ways, at_x, at_y, dx, dy)
                                                    : lm_is_free(s, t, home, at_x, at_y, dx, dy);
}

/* Steps among bodies and walls. A step that the quick test calls free must meet no surface. */
START_TEST(bodies)
{
    uint8_t body[CELLS * CELLS], near_body[CELLS * CELLS];
    const struct lm_tiling t = lm_tiling_make(8, CELLS, CELLS);
    struct lm_surfaces s;
    uint64_t random = 7;
    int compared = 0, taken = 0, turned = 0, freed = 0;
    make_scene(body, near_body, &s);
    for (int k = 0; k < 3000; k++) {
        const int64_t size = CELLS * LM_ONE, span = k % 2 ? 2 * LM_ONE : 14 * LM_ONE;
        const int64_t x = (int64_t)random_below(&random, (uint64_t)size),
                      y = (int64_t)random_below(&random, (uint64_t)size);
        const lm_fix dx = (int64_t)random_below(&random, (uint64_t)span) - span / 2,
                     dy = (int64_t)random_below(&random, (uint64_t)span) - span / 2;
        struct lm_flight f = flight_from(x, y);
        if (body[f.j * CELLS + f.i])
            continue;
        const int home = f.j / 8 * 2 + f.i / 8;
        const int free = lm_is_free(&s, &t, home, x - (int64_t)(home % 2 * 8) * LM_ONE,
                                    y - (int64_t)(home / 2 * 8) * LM_ONE, dx, dy);
        require(is_free_in_window(&s, &t, home, x, y, dx, dy) == free);
        lm_move_with_surfaces(&f, &s, &t, dx, dy, 1, 0);
        require(f.channel >= 0 || !body[f.j * CELLS + f.i]);
        require(!free || (f.channel < 0 && f.dx == dx && f.dy == dy));
        double px = (double)x / (double)LM_ONE, py = (double)y / (double)LM_ONE;
        int near = 0;
        int channel = walk(&s, &px, &py, (double)dx / (double)LM_ONE, (double)dy / (double)LM_ONE, &near);
        if (near)
            continue;
        compared++;
        require(channel == f.channel);
        taken += channel >= 0;
        freed += free;
        turned += channel < 0 && (f.vx < 0 || f.vy < 0);
        if (channel < 0) {
            require(fabs(px - f.i - (double)f.x / (double)LM_ONE) < 0.02);
            require(fabs(py - f.j - (double)f.y / (double)LM_ONE) < 0.02);
        }
    }
    require(compared > 1500 && taken > 200 && turned > 200 && freed > 100);
}
END_TEST

/* Particles that a thermal wall re-emits go inward and have the moments of a flux-weighted Maxwellian. */
START_TEST(re_emission)
{
    enum { COUNT = 200000 };
    const struct lm_surfaces s = {.of = {LM_THERMAL, LM_ABSORBING, LM_REFLECTING, LM_REFLECTING},
                                  .thermal = {0.7},
                                  .cells_x = 0.5,
                                  .cells_y = 0.5,
                                  .key = lm_step_key(3, 4)};
    const struct lm_tiling t = lm_tiling_make(8, 16, 16);
    double sum = 0, sum2 = 0, along2[2] = {0, 0}, along = 0;
    for (int k = 0; k < COUNT; k++) {
        struct lm_flight f = flight_from(LM_ONE / 10, 8 * LM_ONE);
        f.vx = -1;
        lm_move_with_surfaces(&f, &s, &t, -LM_ONE / 2, LM_ONE / 4, 1, lm_mix((uint64_t)k));
        require(f.channel < 0 && f.hits == 1 && f.vx > 0);
        /* the particle hit the wall after a fifth of the step */
        require(fabs(f.i + (double)f.x / (double)LM_ONE - f.vx * 0.5 * 0.8) < 1e-12);
        sum += f.vx, sum2 += f.vx * f.vx;
        along += f.vy, along2[0] += f.vy * f.vy, along2[1] += f.vz * f.vz;
    }
    const double T = 0.49, error = 5 / sqrt(COUNT);
    require(fabs(sum / COUNT / sqrt(T) - sqrt(acos(-1) / 2)) < error * 0.66);
    require(fabs(sum2 / COUNT / T - 2) < error * 2);
    require(fabs(along / COUNT / sqrt(T)) < error);
    require(fabs(along2[0] / COUNT / T - 1) < error * 1.42 && fabs(along2[1] / COUNT / T - 1) < error * 1.42);
}
END_TEST

/* Normal velocities of inflow against the moments of v exp(-(v - a)^2/2), by quadrature. */
START_TEST(flux_speeds)
{
    static const double drifts[] = {-3, -1, -0.5, 0, 0.3, 1, 4};
    enum { COUNT = 100000 };
    double a = drifts[_i], weight = 0, mean = 0, square = 0, got = 0, got2 = 0;
    for (double v = 0.0005; v < 14; v += 0.001) {
        double f = v * exp(-0.5 * (v - a) * (v - a));
        weight += f, mean += f * v, square += f * v * v;
    }
    mean /= weight, square /= weight;
    for (uint32_t k = 0; k < COUNT; k++) {
        double v = lm_flux_speed(a, lm_step_key(5, 6), 1, 77, k);
        require(v > 0);
        got += v, got2 += v * v;
    }
    double error = 5 * sqrt((square - mean * mean) / COUNT);
    require(fabs(got / COUNT - mean) < error);
    require(fabs(got2 / COUNT - square) < 5 * error * (mean + 1));
}
END_TEST

/* Mirrors a centre about the walls until it is inside. Positions count half cells: centre i is at 2 i + 1. A current
 * along the axis changes its sign, others do not. */
START_TEST(cells_inside)
{
    int low = _i % KINDS, high = _i / KINDS;
    if (!valid(low, high))
        return;
    for (int along = 0; along < 2; along++)
        for (int n = 1; n < 9; n++)
            for (int i = -3 * n; i < 4 * n; i++) {
                struct lm_sides s = {{0, 0, low, high}};
                int place = 2 * i + 1, sign = 1, want = 1;
                if (low == LM_PERIODIC) {
                    require(lm_cell_inside(&s, 1, n, along, i, &sign) == lm_wrap(i, n));
                    require(sign == 1);
                    continue;
                }
                while (place < 0 || place > 2 * n) {
                    if (s.of[place < 0 ? LM_Y_MIN : LM_Y_MAX] == LM_REFLECTING)
                        want = -want;
                    place = place < 0 ? -place : 4 * n - place;
                }
                require(2 * lm_cell_inside(&s, 1, n, along, i, &sign) + 1 == place);
                require(sign == (along ? want : 1));
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("walls");
    TCase *t = tcase_create("walls");
    tcase_add_loop_test(t, folds, 0, KINDS * KINDS);
    tcase_add_test(t, corners);
    tcase_add_test(t, bodies);
    tcase_add_test(t, re_emission);
    tcase_add_loop_test(t, flux_speeds, 0, 7);
    tcase_add_loop_test(t, cells_inside, 0, KINDS * KINDS);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
