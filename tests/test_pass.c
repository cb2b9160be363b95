/* The pass of the CPU backend, which takes particles in blocks, against one particle after the other on the whole
 * grid, to the bit: any number of particles in a tile, also strays. test_pass_single.c includes this file. */
#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "larmor/config.h"
#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/particles/deposit.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/particles/stray.h"
#include "require.h"
#include "suite.h"
#include "larmor/physics/fields/fields.h"

enum { NX = 37, NY = 21, CELLS = NX * NY, SIZE = (NX + 2 * LM_GHOST) * (NY + 2 * LM_GHOST), MOST = 20000 };

struct particles {
    int64_t x[MOST], y[MOST];
    lm_real vx[MOST], vy[MOST], vz[MOST];
};

static struct particles before, after;
static double field[LM_WINDOW_FIELDS][SIZE];
static int64_t moments[LM_MOMENTS][CELLS];
static uint64_t draws;

static double draw(void) /* in [0, 1) */
{
    return (double)(lm_random_at(7, 0, LM_STREAM_POSITION, (uint32_t)draws++, 0).a >> 11) * 0x1p-53;
}

static struct lm_raw_particles raw(struct particles *p)
{
    return (struct lm_raw_particles){p->x, p->y, p->vx, p->vy, p->vz};
}

static struct lm_backend *backend(int shape, int tile, int threads)
{
    struct lm_setup s = {.grid = lm_grid_make(NX, NY, NX * 0.25, NY * 0.25),
                         .shape = shape,
                         .precision = LM_PRECISION == 32 ? LM_SINGLE : LM_DOUBLE,
                         .tile = tile,
                         .threads = threads,
                         .species_count = 1};
    s.ohm.inv_dx = s.ohm.inv_dy = 4;
    s.species[0] = (struct lm_backend_species){.charge = 1, .mass = 1, .weight = 1};
    struct lm_backend *b;
    ck_assert_int_eq(lm_cpu_create(&s, &b), LM_OK);
    for (int d = 0; d < LM_WINDOW_FIELDS; d++) {
        for (int k = 0; k < SIZE; k++)
            field[d][k] = 2 * draw() - 1;
        lm_grid_wrap(&s.grid, field[d]);
        b->ops->put(b, LM_PUSH_E + d, field[d]);
    }
    return b;
}

/* Particles in the cells [0, wide) x [0, wide). One in `fast` crosses up to seven cells in a step of 1/8, the others a
 * tenth of that. */
static void fill(struct lm_backend *b, int count, int wide, int fast)
{
    for (int k = 0; k < count; k++) {
        double speed = fast && k % fast == 0 ? 14 : 0.2;
        before.x[k] = (int64_t)(draw() * wide * (double)LM_ONE);
        before.y[k] = (int64_t)(draw() * wide * (double)LM_ONE);
        before.vx[k] = (lm_real)(speed * (2 * draw() - 1));
        before.vy[k] = (lm_real)(speed * (2 * draw() - 1));
        before.vz[k] = (lm_real)(speed * (2 * draw() - 1));
    }
    b->particles->reserve(b, 0, (uint64_t)count);
    for (int place = 0; place < 2; place++)
        b->particles->put(b, 0, place, (uint64_t)count, raw(&before));
}

static void add(int moment, int i, int j, int32_t part)
{
    moments[moment][lm_wrap(j, NY) * NX + lm_wrap(i, NX)] += part;
}

/* Advances one particle of `before` to what is expected of it; returns |v|^2. */
static double pass_one(const struct lm_setup *s, int order, const struct lm_step *step, int k)
{
    const double *fields[LM_WINDOW_FIELDS];
    /* positions relative to the corner of the domain, as there is one tile */
    struct lm_tiling t = lm_tiling_make(NX, NX, NY);
    struct lm_particle p = {(lm_fix)before.x[k], (lm_fix)before.y[k], before.vx[k], before.vy[k], before.vz[k]};
    struct lm_stray at;
    lm_fix dx, dy;
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        fields[d] = field[d];
    lm_stray_at(order, &at, &t, 0, &p, fields, s->grid.stride);
    struct lm_window win = lm_stray_window(&at);
    lm_push(order, &at.p, &win, step, &dx, &dy);
    int32_t half_x = lm_fix24(at.p.x + (dx >> 1)), half_y = lm_fix24(at.p.y + (dy >> 1));
    dx = step->move ? dx : 0, dy = step->move ? dy : 0;
    int32_t end_x = lm_fix24(at.p.x + dx), end_y = lm_fix24(at.p.y + dy);
#define ADD(d, a, b, part) add(d, at.i + (a), at.j + (b), part)
    LM_DEPOSIT_CURRENT(order, half_x, half_y, at.p.vx, at.p.vy, at.p.vz, step->current_scale, ADD);
    LM_DEPOSIT_DENSITY(order, end_x, end_y, ADD);
#undef ADD
    before.x[k] = lm_global((lm_fix)(p.x + dx), 0, NX, NX);
    before.y[k] = lm_global((lm_fix)(p.y + dy), 0, NX, NY);
    before.vx[k] = at.p.vx, before.vy[k] = at.p.vy, before.vz[k] = at.p.vz;
    return lm_speed2(&at.p);
}

static void require_moments(struct lm_backend *b, int speed_exponent)
{
    static double got[LM_MOMENTS][SIZE];
    b->ops->collect(b, 0, speed_exponent, 1);
    b->ops->moments(b);
    for (int d = 0; d < 4; d++)
        b->ops->get(b, LM_N_NEW + d, got[d]);
    for (int k = 0; k < CELLS; k++) {
        const int64_t sums[4] = {moments[0][k], moments[1][k], moments[2][k], moments[3][k]};
        double want[4];
        lm_species_moments(sums, 1, 1, speed_exponent, want);
        for (int d = 0; d < 4; d++)
            require(got[d][lm_at(&b->setup.grid, k % NX, k / NX)] == want[d]);
    }
}

static void check_pass(struct lm_backend *b, int count, int move)
{
    const struct lm_setup *s = &b->setup;
    struct lm_pass pass = {.kick_dt = 0.125, .drift_dt = 0.125, .move = move, .speed_exponent = 5};
    struct lm_step step =
        lm_step_make(pass.kick_dt, pass.drift_dt, move, pass.speed_exponent, 1, s->ohm.inv_dx, s->ohm.inv_dy);
    struct lm_control control;
    double speed2 = 0;
    memset(moments, 0, sizeof moments);
    b->particles->get(b, 0, 0, (uint64_t)count, raw(&before));
    for (int k = 0; k < count; k++)
        speed2 = lm_max(speed2, s->shape == 1 ? pass_one(s, 1, &step, k) : pass_one(s, 2, &step, k));
    b->particles->pass(b, 0, &pass);
    b->particles->get(b, 0, 0, (uint64_t)count, raw(&after));
    b->ops->control(b, &control);
    require(control.speed2[0] == speed2);
    for (int k = 0; k < count; k++) {
        require(after.x[k] == before.x[k] && after.y[k] == before.y[k]);
        require(after.vx[k] == before.vx[k] && after.vy[k] == before.vy[k] && after.vz[k] == before.vz[k]);
    }
    require_moments(b, pass.speed_exponent);
}

/* Every remainder of a block and of the vectors in it, more than one block, more than LM_CHUNK; strays that begin or
 * end far from their home tile. The third pass takes the particles that the first two have scattered. */
START_TEST(like_one_after_the_other)
{
    static const int counts[] = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 1000, MOST};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int fast = 0; fast <= 8; fast += 4) {
            struct lm_backend *b = backend(1 + _i % 2, _i & 2 ? 16 : 8, 1 + k % 2);
            fill(b, counts[k], k % 3 ? 8 : 16, fast);
            check_pass(b, counts[k], 1);
            check_pass(b, counts[k], 1);
            check_pass(b, counts[k], 0);
            lm_backend_destroy(&b);
        }
}
END_TEST

/* The number of strays is right, where there are some and where there are none. */
START_TEST(strays_are_counted)
{
    struct lm_control control;
    for (int fast = 0; fast <= 4; fast += 4) {
        struct lm_backend *b = backend(1, 8, 1);
        fill(b, 1000, 16, fast);
        check_pass(b, 1000, 1);
        b->ops->control(b, &control);
        require(fast ? control.strays[0] > 50 && control.strays[0] <= 250 : control.strays[0] == 0);
        lm_backend_destroy(&b);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create(LM_PRECISION == 64 ? "pass, double" : "pass, single");
    TCase *t = tcase_create("pass");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, like_one_after_the_other, 0, 4);
    tcase_add_test(t, strays_are_counted);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
