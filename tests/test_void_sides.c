/* Voids at the sides of the domain, on the CPU backend. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "field_walls.h"
#include "larmor/physics/fields/relaxation.h"
#include "suite.h"

enum { LENGTH = 48, FIRST = 20 /* cells from here on are void; B_z touches them from FIRST - 1 on */ };

static double emptied(double x, double y)
{
    return x < FIRST + 0 * y ? 1 : 0;
}

/* Uneven inside, 0.4 beyond the upper side, with cells of 1. */
static double uneven(double x, double y)
{
    return x < LENGTH - 0.5 ? 1 + 0.5 * sin(x) + 0 * y : 0.4;
}

/* B_z after so many steps that its waves have gone, by the damping of E, beside a void that ends at a side of this
 * kind. The caller frees it. */
static double *relaxed(struct box *x, int kind, double *start)
{
    const int sides[LM_SIDES] = {LM_CONDUCTING, kind, PERIODIC, PERIODIC};
    *x = box_with_walls(LENGTH, 1, LENGTH, 1, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    put_all(x, LM_N_OLD, centre, emptied);
    put_all(x, LM_N_NEW, centre, emptied);
    put_all(x, LM_B + 2, b_place[2], uneven);
    double *before = box_get(x, LM_B + 2);
    *start = 0;
    for (int i = FIRST - 1; i < LENGTH; i++)
        *start += before[lm_at(&x->g, i, 0)] * (i == LENGTH - 1 ? 0.5 : 1);
    free(before);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_NEW, 0.0);
    for (int n = 0; n < 200; n++)
        x->b->ops->advance_b(x->b, &(const struct lm_b_step){LM_J_NEW, 0.5, 16, 1, LM_NO_MEAN, 0, 0});
    return box_get(x, LM_B + 2);
}

/* B_z of the nodes of the void, up to the one before `end`, is `want`. Frees what `relaxed` has made. */
static void require_even(struct box *x, double *b, int end, double want)
{
    for (int i = FIRST - 1; i < end; i++)
        require_near(b[lm_at(&x->g, i, 0)], want, 1e-9);
    free(b);
    box_free(x);
}

/* Behind a conducting side no flux is lost. The node on the side counts half. */
START_TEST(a_conductor_keeps_the_flux)
{
    struct box x;
    double flux, *b = relaxed(&x, LM_CONDUCTING, &flux);
    require_even(&x, b, LENGTH, flux / (LENGTH - FIRST + 0.5));
}
END_TEST

/* Where E beyond a side is prescribed, E of the void brings and takes no flux there. E is half a cell beyond the node
 * on the side, which therefore counts whole. */
START_TEST(a_prescribed_field_keeps_the_flux)
{
    static const int kinds[] = {LM_FIELDS_INFLOW, LM_INFLOW_E};
    struct box x;
    double flux, *b = relaxed(&x, kinds[_i], &flux);
    flux += 0.5 * uneven(LENGTH, 0);
    require_even(&x, b, LENGTH, flux / (LENGTH - FIRST + 1));
}
END_TEST

/* Through an open side flux leaves until B in the void is that outside, and B outside stays. So it does where no plasma
 * is behind a radiating side. */
START_TEST(flux_leaves_through_an_open_side)
{
    static const int kinds[] = {LM_OPEN, LM_RADIATING};
    struct box x;
    double flux, *b = relaxed(&x, kinds[_i], &flux);
    require_even(&x, b, LENGTH + 2, 0.4);
}
END_TEST

/* Where B is held on the side, B in the void becomes the same. */
START_TEST(held_field_fills_the_void)
{
    struct box x;
    double flux, *b = relaxed(&x, LM_INFLOW_B, &flux);
    require_even(&x, b, LENGTH + 2, uneven(LENGTH, 0));
}
END_TEST

/* The same varying along the side. */
static double uneven_along(double x, double y)
{
    return uneven(x, y) + 0.3 * cos(2 * M_PI * y / 6);
}

/* B that is held on a side and beyond keeps its bits where it varies along the side, in a step and in the relaxation.
 * B on an open side or a radiating one does so, too, where it is that outside. */
START_TEST(held_field_keeps_its_bits)
{
    static const int kinds[] = {LM_INFLOW_B, LM_OPEN, LM_RADIATING};
    const int sides[LM_SIDES] = {LM_CONDUCTING, kinds[_i], PERIODIC, PERIODIC};
    struct box x = box_with_walls(LENGTH, 6, LENGTH, 6, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    put_all(&x, LM_N_OLD, centre, emptied);
    put_all(&x, LM_N_NEW, centre, emptied);
    put_all(&x, LM_B + 2, b_place[2], uneven_along);
    double *before = box_get(&x, LM_B + 2);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
    x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_NEW, 0.5, 16, 1, LM_NO_MEAN, 0, 0});
    x.b->ops->relax_b(x.b, 0, LM_LEAST_RELAXATION_STAGES);
    double *after = box_get(&x, LM_B + 2);
    for (int j = 0; j < 6; j++) {
        const size_t k = lm_at(&x.g, LENGTH - 1, j);
        require(after[k] == before[k] && after[k - 1] != before[k - 1]);
    }
    free(before), free(after);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("voids at sides");
    TCase *t = tcase_create("voids at sides");
    suite_add_tcase(suite, t);
    tcase_add_test(t, a_conductor_keeps_the_flux);
    tcase_add_loop_test(t, a_prescribed_field_keeps_the_flux, 0, 2);
    tcase_add_loop_test(t, flux_leaves_through_an_open_side, 0, 2);
    tcase_add_test(t, held_field_fills_the_void);
    tcase_add_loop_test(t, held_field_keeps_its_bits, 0, 3);
    return suite_run(suite);
}
