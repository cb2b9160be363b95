/* Walls: where straight steps end, against one that goes unit by unit; nodes beyond them. */
#define LM_PRECISION 64

#include <check.h>

#include "larmor/physics/wall.h"
#include "require.h"
#include "suite.h"

enum { KINDS = 3 };

/* Sides that may stand together. */
static int valid(int low, int high)
{
    return (low == LM_PERIODIC) == (high == LM_PERIODIC);
}

/* The same step in units of 1: a mirror takes -1 to 0 and `size` to size - 1. */
static struct lm_path by_units(const struct lm_sides *s, int axis, int64_t from, int64_t by, int64_t size)
{
    struct lm_path p = {from, 0, -1, 0};
    int way = by < 0 ? -1 : 1;
    for (int64_t n = by < 0 ? -by : by; n > 0; n--) {
        p.end += way;
        p.length += 1;
        int side = p.end < 0 ? 2 * axis : p.end >= size ? 2 * axis + 1 : -1;
        if (side < 0)
            continue;
        if (s->of[side] == LM_PERIODIC) {
            p.end = p.end < 0 ? size - 1 : 0;
        } else if (s->of[side] == LM_REFLECTING) {
            p.end = p.end < 0 ? 0 : size - 1;
            p.flipped = !p.flipped;
            way = -way;
        } else {
            p.side = side;
            return p;
        }
    }
    return p;
}

START_TEST(paths)
{
    int low = _i % KINDS, high = _i / KINDS;
    if (!valid(low, high))
        return;
    for (int axis = 0; axis < 2; axis++) {
        struct lm_sides s = {{0}};
        s.of[2 * axis] = low;
        s.of[2 * axis + 1] = high;
        for (int64_t size = 1; size < 8; size++)
            for (int64_t from = 0; from < size; from++)
                for (int64_t by = -40; by <= 40; by++) {
                    struct lm_path want = by_units(&s, axis, from, by, size),
                                   got = lm_path_along(&s, axis, from, by, size);
                    require(got.side == want.side);
                    if (want.side >= 0) {
                        require(got.length == want.length);
                        continue;
                    }
                    require(got.end == want.end);
                    require(got.flipped == want.flipped);
                }
    }
}
END_TEST

/* Into a corner of two sides that absorb: the one that is met first counts. */
START_TEST(corners)
{
    const struct lm_sides s = {{LM_ABSORBING, LM_REFLECTING, LM_REFLECTING, LM_ABSORBING}};
    require(lm_step_end_of(&s, 50, 900, -300, 300, 1000, 1000).side == LM_X_MIN);
    require(lm_step_end_of(&s, 100, 950, -300, 300, 1000, 1000).side == LM_Y_MAX);
    require(lm_step_end_of(&s, 100, 900, -50, 300, 1000, 1000).side == LM_Y_MAX);
    require(lm_step_end_of(&s, 100, 900, -300, 50, 1000, 1000).side == LM_X_MIN);
    require(lm_step_end_of(&s, 100, 900, -50, 50, 1000, 1000).side == -1);
    require(lm_step_end_of(&s, 900, 100, 300, -300, 1000, 1000).side == -1);
}
END_TEST

/* Mirrored about the walls until inside, as places in half cells: centre i at 2 i + 1, face i at 2 i + 2. */
START_TEST(nodes)
{
    int low = _i % KINDS, high = _i / KINDS;
    if (!valid(low, high))
        return;
    for (int face = 0; face < 2; face++)
        for (int n = 1; n < 9; n++)
            for (int i = -3 * n; i < 4 * n; i++) {
                struct lm_sides s = {{0, 0, low, high}};
                int place = 2 * i + 1 + face, sign = 1, want = 1;
                if (low == LM_PERIODIC) {
                    require(lm_node_inside(&s, 1, n, face, face, i, &sign) == lm_wrap(i, n));
                    require(sign == 1);
                    continue;
                }
                while (place < 0 || place > 2 * n) {
                    if (s.of[place < 0 ? LM_Y_MIN : LM_Y_MAX] == LM_REFLECTING)
                        want = -want;
                    place = place < 0 ? -place : 4 * n - place;
                }
                int inside = lm_node_inside(&s, 1, n, face, face, i, &sign);
                if (face && (place == 0 || place == 2 * n)) {
                    require(inside == -1);
                    continue;
                }
                require(2 * inside + 1 + face == place);
                require(sign == (face ? want : 1));
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("walls");
    TCase *t = tcase_create("walls");
    tcase_add_loop_test(t, paths, 0, KINDS * KINDS);
    tcase_add_test(t, corners);
    tcase_add_loop_test(t, nodes, 0, KINDS * KINDS);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
