/* The shadow behind a body in a plasma that streams past it, without fields: every ion moves along a straight line, so
 * the density is known exactly. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "particles_of.h"
#include "sim_run.h"
#include "suite.h"

/* The body covers x from 2 to 2.25 and y from 5 to 7, whole cells. All ions have v_x = 1; the plasma that was there at
 * the start has left after t = 10. */
static const char text[] = "[run]\nsteps = 260\ndt = 0.05\n[grid]\nnx = 40\nny = 48\nlx = 10\nly = 12\n"
                           "[fields]\nsolver = none\n[boundary]\nx_min = inflow\nx_max = absorbing\n"
                           "[species.wind]\nparticles_per_cell = 60\ndrift_x = 1\ntemperature_x = 0\n"
                           "temperature_y = 0.04\ntemperature_z = 0\ninflow_density = 1\n"
                           "[body.plate]\nshape = box\nx = 2.125\ny = 6\nwidth = 0.25\nheight = 2\n";
static const double front = 2, back = 2.25, half_height = 1, thermal = 0.2, per_area = 60 * 16;

/* The share of v_y below s times v_x. */
static double share_below(double s)
{
    return 0.5 * erfc(-s / thermal / sqrt(2));
}

/* An ion at x and at the distance y from the axis has come along a line of slope s = v_y/v_x. The body has stopped it
 * when that line passes the axis at less than half of the body's height anywhere between front and back. */
static double density_at(double x, double y)
{
    const double lowest = fmin((y - half_height) / (x - front), (y - half_height) / (x - back));
    const double highest = fmax((y + half_height) / (x - front), (y + half_height) / (x - back));
    return 1 - (share_below(highest) - share_below(lowest));
}

/* The number of ions with x from `x` to x + 1 and a distance from the axis between y and y + 1/2, on both sides of it.
 */
static double expected_in(double x, double y)
{
    enum { PARTS = 50 };
    double sum = 0;
    for (int i = 0; i < PARTS; i++)
        for (int j = 0; j < PARTS; j++)
            sum += density_at(x + (i + 0.5) / PARTS, y + 0.5 * (j + 0.5) / PARTS);
    return per_area * sum / (PARTS * PARTS);
}

static double counted_in(const struct particles *p, double x, double y)
{
    double count = 0;
    for (uint64_t k = 0; k < p->count; k++) {
        const double at_x = 0.25 * place(p->raw.x, k), at_y = fabs(0.25 * place(p->raw.y, k) - 6);
        count += at_x >= x && at_x < x + 1 && at_y >= y && at_y < y + 0.5;
    }
    return count;
}

/* Ions are independent of each other, so a count has at most the spread of a Poisson distribution: five of them, as 42
 * counts are compared. Images of the body across the periodic sides are more than six thermal spreads away. */
START_TEST(density_behind_a_plate)
{
    struct lm_sim *sim = sim_new(text, _i ? "particles.shape=quadratic" : NULL);
    advance(sim, 260);
    struct particles p = particles_of(sim, 0);
    double darkest = 1, brightest = 0;
    for (int x = 3; x < 10; x++)
        for (int band = 0; band < 6; band++) {
            const double expected = expected_in(x, 0.5 * band), counted = counted_in(&p, x, 0.5 * band);
            ck_assert_msg(fabs(counted - expected) < 5 * sqrt(fmax(expected, 1)),
                          "x from %d, |y - 6| from %g: %g ions, %g expected", x, 0.5 * band, counted, expected);
            darkest = fmin(darkest, expected / per_area);
            brightest = fmax(brightest, expected / per_area);
        }
    ck_assert(darkest < 0.01 && brightest > 0.95); /* the bands reach from the shadow into the open plasma */
    particles_free(&p);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shadow of a body");
    TCase *t = tcase_create("shadow of a body");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, density_behind_a_plate, 0, 2);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
