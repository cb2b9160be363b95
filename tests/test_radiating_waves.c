/* Whole runs: packets of waves of cold ions and fields leave through a radiating side, and whistlers that turn several
 * times in a step leave warm ions their energy. */
#include <math.h>

#include "sim_run.h"
#include "suite.h"

/* What is allowed to come back, of the amplitude. */
static const double most_back = 0.02;

/* With smaller ones the ions that pass the side, some in a step, are more than the wave. */
static const double amplitude = 3e-2;

/* A packet of waves that move along B0, which points towards the side at an angle, of the right-handed branch (1,
 * whistlers) or of the left-handed one (-1, ion cyclotron waves); 0: compressions across B0. `cells` is the wave length
 * along x, in cells of `size` d_i. The plasma flows towards the side with `flow`. */
struct wave {
    int hand, cells;
    double tan_angle, size, flow;
};

#define TAN_60 1.7320508075688772

static const struct wave waves[] = {{1, 10, 0, 0.25, 0},  {1, 24, 0, 0.25, 0},   {1, 48, 0, 0.5, 0},
                                    {-1, 24, 0, 1, 0},    {1, 16, 1, 0.5, 0},    {1, 16, TAN_60, 0.5, 0},
                                    {0, 24, 0, 0.5, 0},   {0, 64, 0, 0.25, 0},   {1, 24, 0, 0.25, 0.5},
                                    {-1, 24, 0, 1, 0.5},  {1, 16, 1, 0.5, 0.5},  {1, 16, TAN_60, 0.5, 0.5},
                                    {0, 24, 0, 0.5, 0.5}, {1, 24, 0, 0.25, 1.5}, {-1, 24, 0, 1, 1.5}};
enum { WAVES = sizeof waves / sizeof *waves, NX = 192, LONGER = 2 };

#define PACKET "exp(-((x - x0)/w)^2)"

/* B = B0 + a (cos e2 - h sin e3), u = -(k/omega) b; e2 and e3 are across B0. */
static const char *const form =
    "[const]\nkx = %.17g\nky = %d*2*pi/ly\nk = sqrt(kx^2 + ky^2)\na = %g\nh = %d\nc = kx/k\ns = ky/k\nx0 = %.17g\nw "
    "= "
    "x0/4\nr = 1/(sqrt(1 + 0.25*k^2) + 0.5*h*k)\n[run]\nt_end = 1\ndt = %.17g\n[grid]\nnx = %d\nny = %d\nlx = "
    "%.17g\nly = %.17g\n[electrons]\nclosure = isothermal\ntemperature = 0\n[fields]\nbx = c\nby = s\nbz = "
    "-h*a*" PACKET "*sin(kx*x + ky*y)\naz = -a/k*" PACKET "*sin(kx*x + ky*y)\n[boundary]\nx_min = %s\nx_max = "
    "absorbing\nfields_x_max = %s\n[species.p]\nparticles_per_cell = 16\nstart = quiet\ntemperature = 0\n"
    "drift_x = %g + r*s*a*" PACKET "*cos(kx*x + ky*y)\ndrift_y = -r*c*a*" PACKET "*cos(kx*x + ky*y)\n"
    "drift_z = r*h*a*" PACKET "*sin(kx*x + ky*y)\n";

/* Compressions across B0, n = B_z, and u_x = (omega/k) (B_z - 1). */
static const char *const compression =
    "[const]\nkx = %.17g\na = %g\nx0 = %.17g\nw = x0/4\n[run]\nt_end = 1\ndt = "
    "%.17g\n[grid]\nnx = %d\nny = 1\nlx = %.17g\nly = 1\n[electrons]\nclosure = isothermal\ntemperature = 0\n"
    "[fields]\nbz = 1 + a*" PACKET "*cos(kx*x)\n[boundary]\nx_min = %s\nx_max = absorbing\n"
    "fields_x_max = %s\n[species.p]\nparticles_per_cell = 64\nstart = quiet\ntemperature = 0\n"
    "density = 1 + a*" PACKET "*cos(kx*x)\ndrift_x = %g + a*" PACKET "*cos(kx*x)\n";

/* A run in a domain of nx cells along x, with waves of amplitude a. */
static struct lm_sim *run_of(const struct wave *w, const char *fields, int nx, double a)
{
    const int oblique = w->tan_angle > 0, ny = oblique ? (int)(w->cells / w->tan_angle + 0.5) : 1;
    const double ly = oblique ? w->cells * w->size / w->tan_angle : w->size;
    const char *const other = w->flow > 0 ? "inflow" : "reflecting";
    char text[4096];
    if (w->hand == 0)
        snprintf(text, sizeof text, compression, 2 * acos(-1) / (w->cells * w->size), a, 0.5 * NX * w->size,
                 0.08 * w->size, nx, nx * w->size, other, fields, w->flow);
    else
        snprintf(text, sizeof text, form, 2 * acos(-1) / (w->cells * w->size), oblique, a, w->hand, 0.5 * NX * w->size,
                 0.08 * w->size, nx, ny, nx * w->size, ly, other, fields, w->flow);
    return sim_new(text, NULL);
}

/* Two runs with waves of opposite signs. Half of their difference is the wave: the noise of the ions, which flow
 * through the side and are as many in both, is not in it. */
struct pair {
    struct lm_sim *up, *down;
};

static struct pair pair_of(const struct wave *w, const char *fields, int nx)
{
    return (struct pair){run_of(w, fields, nx, amplitude), run_of(w, fields, nx, -amplitude)};
}

static void pair_free(struct pair p)
{
    sim_free(p.up);
    sim_free(p.down);
}

static void advance_pair(struct pair p, int64_t step)
{
    advance(p.up, step);
    advance(p.down, step);
}

/* A component of B of the wave in the first NX cells of each row. The caller frees it. */
static double *wave_of(struct pair p, int component)
{
    const struct lm_grid *g = &p.up->grid;
    double *up = array_of(p.up, LM_B + component), *down = array_of(p.down, LM_B + component);
    double *wave = malloc((size_t)NX * (size_t)g->ny * sizeof *wave);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < NX; i++)
            wave[j * NX + i] = 0.5 * (up[lm_at(g, i, j)] - down[lm_at(g, i, j)]);
    free(up);
    free(down);
    return wave;
}

/* Sum of the squares of B of the wave, less that of another one where there is one. */
static double square_of(struct pair p, const struct pair *other)
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double *b = wave_of(p, d), *r = other ? wave_of(*other, d) : NULL;
        for (int k = 0; k < NX * p.up->grid.ny; k++)
            sum += pow(b[k] - (r ? r[k] : 0), 2);
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
    const struct pair p = pair_of(w, fields, NX), longer = pair_of(w, fields, LONGER * NX);
    const double before = square_of(p, NULL);
    double most = 0;
    const int64_t steps = (int64_t)(NX * w->size / (group * (kx / k) + w->flow) / p.up->config->run.dt);
    for (int part = 4; part <= 8; part++) {
        advance_pair(p, steps * part / 8);
        advance_pair(longer, steps * part / 8);
        most = fmax(most, square_of(p, &longer));
    }
    ck_assert_double_lt(totals_of(p.up).div_b, 1e-12);
    pair_free(p);
    pair_free(longer);
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

/* Plasma flows slowly from an inflow side to a radiating one. The shortest whistlers turn 2.5 times in a step. */
static const char *const box =
    "[run]\nt_end = 60\ndt = 0.1\n[grid]\nnx = 48\nny = 32\nlx = 9.6\nly = 6.4\n[electrons]\nclosure = "
    "isothermal\ntemperature = 0.1\n[fields]\nbx = 0.6\nby = 0.5\nbz = 0.6\n[boundary]\nx_min = inflow\nfields_x_min = "
    "inflow\nx_max = "
    "absorbing\nfields_x_max = radiating\n[species.p]\nparticles_per_cell = 50\ntemperature = 0.1\ndrift_x = 0.3\n";

static double kinetic_energy(struct lm_sim *sim)
{
    const struct lm_totals t = totals_of(sim);
    return t.kinetic[0][0] + t.kinetic[0][1] + t.kinetic[0][2];
}

/* Ions that felt B at whole steps would gain a tenth. */
START_TEST(short_whistlers_give_ions_no_energy)
{
    struct lm_sim *sim = sim_new(box, NULL);
    const double before = kinetic_energy(sim);
    for (int64_t step = 50; step <= 600; step += 50) {
        advance(sim, step);
        ck_assert(sim->feels_mean);
        ck_assert_double_eq_tol(kinetic_energy(sim) / before, 1, 0.05);
    }
    sim_free(sim);
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
    tcase_add_test(t, short_whistlers_give_ions_no_energy);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
