/* The field solver with every combination of sides, and bodies, against itself turned by 90 degrees and mirrored. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_box.h"
#include "field_noise.h"
#include "field_walls.h"
#include "suite.h"

static const double *place_of(int k)
{
    return k < JI ? b_place[k] : k < E || k >= PUSH ? centre : e_place[k - E];
}

/* The index of the first component of the vector that an array belongs to; -1 for a scalar. */
static int vector_of(int k)
{
    return k == DENSITY || k == ETA ? -1 : k < DENSITY ? k / 3 * 3 : E + (k - E) / 3 * 3;
}

/* The state turned by 90 degrees (x' = -y, y' = x) or mirrored in y, ghost cells included. The last ghosts have no
 * image. */
static struct state transformed(const struct box *x, const struct state *s, int mirror)
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

static void transformed_sides(const int sides[LM_SIDES], int mirror, int to[LM_SIDES])
{
    const int turned[LM_SIDES] = {sides[LM_Y_MAX], sides[LM_Y_MIN], sides[LM_X_MIN], sides[LM_X_MAX]};
    const int mirrored[LM_SIDES] = {sides[LM_X_MIN], sides[LM_X_MAX], sides[LM_Y_MAX], sides[LM_Y_MIN]};
    memcpy(to, mirror ? mirrored : turned, sizeof turned);
}

START_TEST(turned_and_mirrored)
{
    const int mirror = _i & 1;
    for (int number = _i >> 1; number < 3 * 256; number += 23) {
        int sides[LM_SIDES], other[LM_SIDES];
        sides_of_case(number, sides);
        transformed_sides(sides, mirror, other);
        struct lm_bodies bodies = three_bodies();
        struct box x = box_with_walls(N, N, 7, 7, every_term, 2, sides, &bodies);
        uint8_t turned[N * N];
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                turned[j * N + i] = mirror ? body_cells[(N - 1 - j) * N + i] : body_cells[(N - 1 - i) * N + j];
        bodies.mask = turned;
        struct box y = box_with_walls(N, N, 7, 7, every_term, 2, other, &bodies);
        struct state s = noise(&x), t = transformed(&x, &s, mirror);
        for (int k = 0; k < ALL; k++)
            lm_grid_wrap(&y.g, t.a[k]);
        solve(&x, &s, 20);
        solve(&y, &t, 20);
        struct state want = transformed(&x, &s, mirror);
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

int main(void)
{
    Suite *suite = suite_create("symmetry between walls");
    TCase *t = tcase_create("symmetry between walls");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, turned_and_mirrored, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
