/* Whole runs with cold ions: packets of waves of ions and fields leave through a radiating side. */
#include <math.h>

#include "sim_run.h"
#include "suite.h"

/* What is allowed to come back, of the amplitude. */
static const double most_back = 0.02;

/* A packet of waves that move along B0, which points towards the side at an angle, of the right-handed branch (1,
 * whistlers) or of the left-handed one (-1, ion cyclotron waves); 0: compressions across B0. `cells` is the wave length
 * along x, in cells of `size` d_i. */
struct wave {
    int hand, cells;
    double tan_angle, size;
};

static const struct wave waves[] = {{1, 10, 0, 0.25}, {1, 24, 0, 0.25}, {1, 48, 0, 0.5},
                                    {-1, 24, 0, 1},   {1, 16, 1, 0.5},  {1, 16, 1.7320508075688772, 0.5},
                                    {0, 24, 0, 0.5},  {0, 64, 0, 0.25}};
enum { WAVES = sizeof waves / sizeof *waves, NX = 192, LONGER = 2 };

#define PACKET "exp(-((x - x0)/w)^2)"

/* B = B0 + a (cos e2 - h sin e3), u = -(k/omega) b; e2 and e3 are across B0. */
static const char *const form =
    "[const]\nkx = %.17g\nky = %d*2*pi/ly\nk = sqrt(kx^2 + ky^2)\na = 1e-3\nh = %d\nc = kx/k\ns = ky/k\nx0 = %.17g\nw "
    "= "
    "x0/4\nr = 1/(sqrt(1 + 0.25*k^2) + 0.5*h*k)\n[run]\nt_end = 1\ndt = %.17g\n[grid]\nnx = %d\nny = %d\nlx = "
    "%.17g\nly = %.17g\n[electrons]\nclosure = isothermal\ntemperature = 0\n[fields]\nbx = c\nby = s\nbz = "
    "-h*a*" PACKET "*sin(kx*x + ky*y)\naz = -a/k*" PACKET "*sin(kx*x + ky*y)\n[boundary]\nx_min = reflecting\nx_max = "
    "absorbing\nfields_x_max = %s\n[species.p]\nparticles_per_cell = 16\nstart = quiet\ntemperature = 0\n"
    "drift_x = r*s*a*" PACKET "*cos(kx*x + ky*y)\ndrift_y = -r*c*a*" PACKET "*cos(kx*x + ky*y)\n"
    "drift_z = r*h*a*" PACKET "*sin(kx*x + ky*y)\n";

/* Compressions across B0, n = B_z, and u_x = (omega/k) (B_z - 1). */
static const char *const compression =
    "[const]\nkx = %.17g\na = 1e-3\nx0 = %.17g\nw = x0/4\n[run]\nt_end = 1\ndt = "
    "%.17g\n[grid]\nnx = %d\nny = 1\nlx = %.17g\nly = 1\n[electrons]\nclosure = isothermal\ntemperature = 0\n"
    "[fields]\nbz = 1 + a*" PACKET "*cos(kx*x)\n[boundary]\nx_min = reflecting\nx_max = absorbing\n"
    "fields_x_max = %s\n[species.p]\nparticles_per_cell = 64\nstart = quiet\ntemperature = 0\n"
    "density = 1 + a*" PACKET "*cos(kx*x)\ndrift_x = a*" PACKET "*cos(kx*x)\n";

/* A run in a domain of nx cells along x. */
static struct lm_sim *run_of(const struct wave *w, const char *fields, int nx)
{
    const int oblique = w->tan_angle > 0, ny = oblique ? (int)(w->cells / w->tan_angle + 0.5) : 1;
    const double ly = oblique ? w->cells * w->size / w->tan_angle : w->size;
    char text[4096];
    if (w->hand == 0)
        snprintf(text, sizeof text, compression, 2 * acos(-1) / (w->cells * w->size), 0.5 * NX * w->size,
                 0.08 * w->size, nx, nx * w->size, fields);
    else
        snprintf(text, sizeof text, form, 2 * acos(-1) / (w->cells * w->size), oblique, w->hand, 0.5 * NX * w->size,
                 0.08 * w->size, nx, ny, nx * w->size, ly, fields);
    return sim_new(text, NULL);
}

/* Sum of the squares of B less that of another simulation, or of B0, in the first NX cells. */
static double square_of(struct lm_sim *sim, struct lm_sim *other, const double b0[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double *b = array_of(sim, LM_B + d), *r = other ? array_of(other, LM_B + d) : NULL;
        for (int j = 0; j < sim->grid.ny; j++)
            for (int i = 0; i < NX; i++)
                sum += pow(b[lm_at(&sim->grid, i, j)] - (r ? r[lm_at(&other->grid, i, j)] : b0[d]), 2);
        free(b);
        free(r);
    }
    return sum;
}

/* The largest share of the amplitude that has come back while the packet leaves: what differs from a domain in which it
 * goes on. */
static double back(const struct wave *w, const char *fields)
{
    const double kx = 2 * acos(-1) / (w->cells * w->size), ky = kx * w->tan_angle, k = hypot(kx, ky),
                 root = sqrt(1 + 0.25 * k * k), group = w->hand == 0 ? 1 : root + w->hand * k + 0.25 * k * k / root;
    const double b0[3] = {w->hand == 0 ? 0 : kx / k, ky / k, w->hand == 0}, cosine = kx / k;
    struct lm_sim *sim = run_of(w, fields, NX), *longer = run_of(w, fields, LONGER * NX);
    const double before = square_of(sim, NULL, b0);
    double most = 0;
    const int64_t steps = (int64_t)(NX * w->size / (group * cosine) / sim->config->run.dt);
    for (int part = 4; part <= 8; part++) {
        advance(sim, steps * part / 8);
        advance(longer, steps * part / 8);
        most = fmax(most, square_of(sim, longer, b0));
    }
    ck_assert_double_lt(totals_of(sim).div_b, 1e-12);
    sim_free(sim);
    sim_free(longer);
    return sqrt(most / before);
}

/* That the measure sees what comes back: an open side reflects a whistler. */
START_TEST(an_open_side_reflects)
{
    const double share = back(&waves[0], "open");
    ck_assert_msg(share > 0.9 && share < 1.1, "%g of the amplitude came back", share);
}
END_TEST

START_TEST(waves_leave)
{
    const double share = back(&waves[_i], "radiating");
    ck_assert_msg(share < most_back, "%g of the amplitude came back", share);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("radiating sides");
    TCase *t = tcase_create("radiating sides");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_set_timeout(t, 600);
    tcase_add_test(t, an_open_side_reflects);
    tcase_add_loop_test(t, waves_leave, 0, WAVES);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
