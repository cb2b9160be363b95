/* Radiating sides on the CPU backend, without particles: waves leave, and B keeps its divergence. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "backend/field_boundaries.h"
#include "field_box.h"
#include "field_walls.h"
#include "larmor/physics/fields/strip_window.h"
#include "suite.h"

/* What is allowed to come back: 2 % of the amplitude. */
static const double most_back = 0.02 * 0.02;

static double wave_kx, wave_ky, packet_x, packet_width, b0[3], size[3];

static double packet(int d, double x, double y)
{
    const double phase = wave_kx * x + wave_ky * y, shape = exp(-pow((x - packet_x) / packet_width, 2));
    return b0[d] + 1e-3 * shape *
                       (d == 0   ? size[0] * cos(phase)
                        : d == 1 ? size[1] * cos(phase)
                                 : size[2] * sin(phase));
}

static double packet_b0(double x, double y)
{
    return packet(0, x, y);
}

static double packet_b1(double x, double y)
{
    return packet(1, x, y);
}

static double packet_b2(double x, double y)
{
    return packet(2, x, y);
}

static double energy_of(struct box *x)
{
    double sum = 0;
    for (int d = 1; d < 3; d++) {
        double *a = box_get(x, LM_B + d);
        for (int j = 0; j < x->g.ny; j++)
            for (int i = -1; i < x->g.nx; i++)
                sum += pow(a[lm_at(&x->g, i, j)] - b0[d], 2) * (i < 0 || i == x->g.nx - 1 ? 0.5 : 1);
        free(a);
    }
    return sum;
}

enum { CELLS = 512 };

/* Whistlers among resting ions, of 8 to 64 cells in a wave length, meet a side along the field. */
START_TEST(whistlers_leave)
{
    static const int lengths[] = {8, 16, 32, 64};
    const int sides[LM_SIDES] = {LM_CONDUCTING, LM_RADIATING, PERIODIC, PERIODIC};
    const double d = 0.25, k = 2 * acos(-1) / (lengths[_i] * d);
    struct box x = box_with_walls(CELLS, 1, CELLS * d, d, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    b0[0] = 1, b0[1] = b0[2] = 0, size[0] = 0, size[1] = 1, size[2] = -1;
    wave_kx = k, wave_ky = 0, packet_x = 0.5 * CELLS * d, packet_width = 0.12 * CELLS * d;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_B, b_place[0], packet_b0);
    put_all(&x, LM_B + 1, b_place[1], packet_b1);
    put_all(&x, LM_B + 2, b_place[2], packet_b2);
    const double before = energy_of(&x), speed = 2 * sin(k * d) / d; /* of the group on the grid */
    const int steps = (int)(2.0 * CELLS * d / speed / 0.02);
    advance(&x, 0.02, steps);
    const double back = energy_of(&x) / before;
    ck_assert_msg(back < most_back, "%g of the energy of a whistler of %d cells came back", back, lengths[_i]);
    box_free(&x);
}
END_TEST

static const struct ions {
    double number[2], mass;
} of_ions[] = {{{1e-6, 0}, 2}, {{1e-6, 3e-6}, 26 / 7.0}, {{0, 0}, 10 / 3.0}};

/* The mass of the ions at a side for their charge does not depend on how many there are; it is a mean of all species
 * where there are none. One species has the mass 2 and the charge 1, the other one 8 and 2. */
START_TEST(few_ions_have_their_mass)
{
    const int sides[LM_SIDES] = {LM_CONDUCTING, LM_RADIATING, PERIODIC, PERIODIC};
    struct box x = box_with_walls(8, 2, 8, 2, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    struct lm_strip_window w;
    struct lm_strip_domain from = {.species_count = 2, .mass = {2, 8}, .charge = {1, 2}};
    double *number[2];
    for (int k = 0; k < 2; k++) {
        from.number[k] = number[k] = calloc(x.g.size, sizeof *number[k]);
        for (size_t c = 0; c < x.g.size; c++)
            number[k][c] = of_ions[_i].number[k];
    }
    const struct lm_field_sides of = lm_field_sides_of(&x.b->setup);
    lm_strip_window_make(&w, LM_X_MAX, &x.g, &of, &x.b->setup.ohm);
    ck_assert_double_eq_tol(lm_strip_mass_of_side(&w, &from, 0), of_ions[_i].mass, 1e-14);
    free(number[0]), free(number[1]);
    box_free(&x);
}
END_TEST

static double wavy(double x, double y)
{
    return 1 + 0.2 * sin(x) + 0.1 * y;
}

enum { SMALL = 8 };

static double *strip_of(struct box *x)
{
    double *state = malloc((size_t)LM_STRIP_ARRAYS * LM_STRIP_CELLS * SMALL * sizeof *state);
    ck_assert(!x->b->ops->get_strip(x->b, LM_Y_MIN, state));
    return state;
}

/* Where plasma flows in, a strip keeps the state of the start, while it goes on elsewhere. */
START_TEST(a_strip_is_held_at_an_inflow)
{
    const int sides[LM_SIDES] = {LM_INFLOW_B, LM_CONDUCTING, LM_RADIATING, LM_CONDUCTING};
    struct box x =
        box_with_walls(SMALL, SMALL, SMALL, SMALL, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    int changed = 0;
    put_all(&x, LM_N_OLD, centre, one);
    put_all(&x, LM_B, b_place[0], one);
    put_all(&x, LM_B + 1, b_place[1], one);
    put_all(&x, LM_B + 2, b_place[2], wavy);
    advance(&x, 0.02, 1);
    double *before = strip_of(&x);
    advance(&x, 0.02, 5);
    double *after = strip_of(&x);
    for (int row = 0; row < LM_STRIP_ARRAYS * LM_STRIP_CELLS; row++) {
        ck_assert(after[row * SMALL] == before[row * SMALL]);
        changed += after[row * SMALL + 3] != before[row * SMALL + 3];
    }
    ck_assert_int_gt(changed, 10);
    free(before), free(after);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("radiating sides");
    TCase *t = tcase_create("radiating sides");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, whistlers_leave, 0, 4);
    tcase_add_loop_test(t, few_ions_have_their_mass, 0, 3);
    tcase_add_test(t, a_strip_is_held_at_an_inflow);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
