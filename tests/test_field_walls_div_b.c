/* div B stays zero with every combination of sides, on the CPU backend. */
#include <check.h>
#include <math.h>

#include "larmor/physics/fields/fields.h"
#include "field_box.h"
#include "field_noise.h"
#include "field_walls.h"
#include "suite.h"

START_TEST(b_stays_free_of_divergence)
{
    int sides[LM_SIDES];
    for (int number = _i; number < 3 * 256; number += 8) {
        sides_of_case(number, sides);
        struct box x = box_with_walls(N, N - 2, 7, 5, every_term, 1, sides, NULL);
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

int main(void)
{
    Suite *suite = suite_create("div B between walls");
    TCase *t = tcase_create("div B between walls");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, b_stays_free_of_divergence, 0, 8);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
