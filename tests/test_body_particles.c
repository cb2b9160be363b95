/* Bodies as particles meet them: how large disks are for beams, the angles and the momentum of what a slanted wall
 * reflects, the flux that a thermal wall draws, the density beside surfaces; and no particle is ever in a body.
 * LM_SHOW=1 prints what is found, and the same for bodies that are sets of cells. */
#define LM_PRECISION 64

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/surfaces.h"
#include "larmor/config.h"
#include "larmor/physics/particles/flight.h"
#include "particles_of.h"
#include "require.h"
#include "sim_run.h"
#include "suite.h"

enum { SIDE = 48 };

/* The bodies of a configuration, in a domain of SIDE x SIDE cells. */
struct scene {
    struct lm_config config;
    uint8_t mask[SIDE * SIDE], of[SIDE * SIDE];
    struct lm_body_cut cut[SIDE * SIDE];
    float factor[SIDE * SIDE];
    struct lm_surfaces s;
    struct lm_tiling t;
};

/* `kind`: what all bodies do. The cells are 1 x `ratio` d_i. Returns 0 if a body has no cell. */
static int scene_try(struct scene *c, const char *bodies, int kind, int walls, double ratio)
{
    static char text[4096];
    static const char *const sides = "[boundary]\nx_min = reflecting\nx_max = reflecting\ny_min = reflecting\n"
                                     "y_max = reflecting\n";
    snprintf(text, sizeof text,
             "[run]\ndt = 0.1\nsteps = 1\n[grid]\nnx = %d\nny = %d\nlx = %d\nly = %.17g\n[species.p]\n%s%s", SIDE, SIDE,
             SIDE, SIDE * ratio, walls ? sides : "", bodies);
    lm_config_free(&c->config);
    if (lm_config_read_text("case.ini", text, 0, NULL, &c->config) || lm_body_mask(&c->config, c->mask) ||
        lm_body_obstacles(&c->config, c->mask, c->of, c->cut, c->factor))
        return 0;
    c->t = lm_tiling_make(8, SIDE, SIDE);
    c->s = (struct lm_surfaces){
        .body = c->of, .cut = c->cut, .cells_x = 1, .cells_y = 1 / ratio, .place = lm_whole_domain(SIDE, SIDE)};
    for (int k = 0; k < LM_SURFACES; k++) {
        c->s.of[k] = k >= LM_SIDES ? kind : walls ? LM_REFLECTING : LM_PERIODIC;
        c->s.thermal[k] = 1;
    }
    return 1;
}

static void scene_make(struct scene *c, const char *bodies, int kind, int walls, double ratio)
{
    ck_assert_msg(scene_try(c, bodies, kind, walls, ratio), "%s", lm_error());
}

static int is_solid(const struct scene *c, const struct lm_flight *f)
{
    const size_t k = (size_t)(f->j * SIDE + f->i);
    return c->s.body[k] & LM_CUT ? lm_cut_is_solid(&c->cut[k], f->x, f->y) : c->s.body[k] != 0;
}

/* A particle at (x, y) in cells that moves by (u, v) in a step. */
static struct lm_flight flight_from(double x, double y, double u, double v)
{
    struct lm_flight f = {.i = (int)x, .j = (int)y, .vx = u, .vy = v};
    f.x = (lm_fix)((x - f.i) * (double)LM_ONE);
    f.y = (lm_fix)((y - f.j) * (double)LM_ONE);
    return f;
}

static void fly(const struct scene *c, struct lm_flight *f, uint64_t identity)
{
    lm_move_with_surfaces(f, &c->s, &c->t, lm_round64((double)f->vx * c->s.cells_x * (double)LM_ONE),
                          lm_round64((double)f->vy * c->s.cells_y * (double)LM_ONE), 1, identity);
}

/* Pseudo-random numbers, the same in every run. */
static uint64_t random_below(uint64_t *state, uint64_t n)
{
    return lm_mix((*state)++) % n;
}

static double uniform(uint64_t *random)
{
    return (double)random_below(random, 1ull << 40) * 0x1p-40;
}

/* --- how large a disk is --- */

static const struct {
    double x, y, radius;
} disks[] = {{24, 24, 5},      {24.5, 24.5, 5},    {24.27, 24.41, 4.7}, {24.1, 24.73, 6.1},
             {24.3, 24.9, 10}, {24.45, 24.2, 2.5}, {24.6, 23.8, 1.7},   {24.2, 24.7, 14.3}};

/* The radius for a beam under an angle: half of the width of its shadow. */
static double radius_for_beam(const struct scene *c, double x, double y, double angle, double radius)
{
    enum { RAYS = 4000 };
    const double u = cos(angle), v = sin(angle), half = radius + 1.5, before = radius + 3;
    int hits = 0;
    for (int k = 0; k < RAYS; k++) {
        const double aside = ((k + 0.5) / RAYS * 2 - 1) * half;
        struct lm_flight f =
            flight_from(x - before * u - aside * v, y - before * v + aside * u, 2 * before * u, 2 * before * v);
        fly(c, &f, 0);
        hits += f.channel >= 0;
    }
    return half * hits / RAYS;
}

/* A chord of a circle is inside of it, by up to an eighth of its squared length over the radius, and it is at most as
 * long as the diagonal of a cell. So a disk is smaller by at most a quarter of a cell squared over the radius for any
 * beam, and not larger than by what corners of cells take away, 2^-12 cells, and half of the distance of the rays. The
 * mean over angles is the thermal flux (Cauchy), and the mean of the chord is two thirds as far away.
 */
START_TEST(disk_in_beams)
{
    enum { ANGLES = 24 };
    static struct scene c;
    char text[200];
    const double x = disks[_i].x, y = disks[_i].y, radius = disks[_i].radius;
    double mean = 0, mean_of_cells = 0, worst = 0, worst_of_cells = 0;
    snprintf(text, sizeof text, "[body.a]\nshape = disk\nx = %g\ny = %g\nradius = %g\n", x, y, radius);
    scene_make(&c, text, LM_ABSORBING, 0, 1);
    for (int k = 0; k < ANGLES; k++) {
        c.s.body = c.of;
        const double found = radius_for_beam(&c, x, y, 2 * M_PI * k / ANGLES, radius) - radius;
        c.s.body = c.mask;
        const double of_cells = radius_for_beam(&c, x, y, 2 * M_PI * k / ANGLES, radius) - radius;
        mean += found / ANGLES;
        mean_of_cells += of_cells / ANGLES;
        worst = fmax(worst, fabs(found));
        worst_of_cells = fmax(worst_of_cells, fabs(of_cells));
        ck_assert_msg(found > -1 / (4 * radius) - 0.005 && found < 0.005, "angle %d: the radius is off by %g", k,
                      found);
    }
    if (getenv("LM_SHOW"))
        printf("disk of %g at %g, %g: beams %.4f, mean %+.4f; as a set of cells %.4f, mean %+.4f\n", radius, x, y,
               worst, mean, worst_of_cells, mean_of_cells);
    ck_assert_msg(mean > -1 / (8 * radius) && mean < 0.005, "for a thermal plasma the radius is off by %g", mean);
    lm_config_free(&c.config);
}
END_TEST

/* --- what surfaces reflect --- */

/* A wall along (2, 1)/sqrt(5): the plasma is above it. */
#define SLOPE "[body.a]\nshape = polygon\npoints = -48 -20, 96 52, 96 -48, -48 -48\n"

/* All angles are those of a mirror to 2^-20 over the length of a line. The momentum that the wall takes has the
 * direction of the normal, and the speed stays. */
START_TEST(slanted_mirror)
{
    static struct scene c;
    const double normal[2] = {-1 / sqrt(5), 2 / sqrt(5)};
    uint64_t random = 3;
    double momentum[2] = {0, 0}, into = 0;
    int hits = 0;
    scene_make(&c, SLOPE, LM_REFLECTING, 1, 1);
    for (int k = 0; k < 20000; k++) {
        const double x = 10 + 25 * uniform(&random), angle = (0.02 + 0.96 * uniform(&random)) * M_PI;
        const double along = 4 * cos(angle), toward = 4 * sin(angle);
        const double vx = along * normal[1] - toward * normal[0], vy = -along * normal[0] - toward * normal[1];
        struct lm_flight f = flight_from(x - 0.5 * vx, 4 + x / 2 - 0.5 * vy, vx, vy); /* the surface is y = x/2 + 4 */
        fly(&c, &f, 0);
        require(f.channel < 0 && f.hits == 1);
        require(fabs((double)f.vx - (vx + 2 * toward * normal[0])) < 4e-5);
        require(fabs((double)f.vy - (vy + 2 * toward * normal[1])) < 4e-5);
        require(fabs(hypot((double)f.vx, (double)f.vy) - 4) < 1e-14);
        require(fabs(f.hit[0].normal2 - toward * toward) < 4e-4);
        const double far =
            (f.i + (double)f.x / (double)LM_ONE) * normal[0] + (f.j + (double)f.y / (double)LM_ONE - 4) * normal[1];
        require(fabs(far - 0.5 * toward) < 1e-4); /* from the surface, as it was before */
        momentum[0] += vx - (double)f.vx, momentum[1] += vy - (double)f.vy;
        into += 2 * toward;
        hits += f.hits;
    }
    ck_assert_int_eq(hits, 20000);
    ck_assert_double_eq_tol(momentum[0] / into, -normal[0], 1e-6);
    ck_assert_double_eq_tol(momentum[1] / into, -normal[1], 1e-6);
    lm_config_free(&c.config);
}
END_TEST

/* A disk that reflects a beam of the density 1 and the speed 1 takes the momentum 8/3 R: the sum of 2 cos^2 over its
 * front. Cells may be twice as high as wide. The force of the staircase would be 4 R. */
START_TEST(force_on_a_mirror)
{
    enum { RAYS = 40000 };
    static struct scene c;
    const double ratio = _i ? 2 : 1, radius = 9.3, half = radius + 2;
    char text[200];
    double force = 0;
    snprintf(text, sizeof text, "[body.a]\nshape = disk\nx = 24.2\ny = %g\nradius = %g\n", 24.7 * ratio, radius);
    scene_make(&c, text, LM_REFLECTING, 0, ratio);
    for (int k = 0; k < RAYS; k++) {
        const double aside = ((k + 0.5) / RAYS * 2 - 1) * half;
        struct lm_flight f = flight_from(2.5, 24.7 + aside / ratio, 21, 0);
        fly(&c, &f, 0);
        require(fabs(hypot((double)f.vx, (double)f.vy) - 21) < 1e-12);
        require(!is_solid(&c, &f));
        force += (21 - (double)f.vx) / 21 * 2 * half / RAYS;
    }
    if (getenv("LM_SHOW"))
        printf("force on a mirror of radius %g, cells of 1 x %g: %.4f of theory\n", radius, ratio,
               force / (8 * radius / 3));
    ck_assert_double_eq_tol(force, 8 * radius / 3, 0.02 * 8 * radius / 3);
    lm_config_free(&c.config);
}
END_TEST

/* What a thermal wall draws has the moments of a flux about its normal: those of the normal velocity are sqrt(pi/2) and
 * 2, those along the wall 0 and 1. Five standard deviations. */
START_TEST(slanted_re_emission)
{
    enum { COUNT = 40000 };
    static struct scene c;
    const double normal[2] = {-1 / sqrt(5), 2 / sqrt(5)};
    double sum[4] = {0, 0, 0, 0};
    scene_make(&c, SLOPE, LM_THERMAL, 1, 1);
    for (int k = 0; k < COUNT; k++) {
        struct lm_flight f = flight_from(20.3, 14.6, 0.1, -1);
        fly(&c, &f, lm_mix((uint64_t)k));
        const double out = (double)f.vx * normal[0] + (double)f.vy * normal[1],
                     along = (double)f.vx * normal[1] - (double)f.vy * normal[0];
        require(f.hits >= 1 && out > 0 && !is_solid(&c, &f));
        sum[0] += out / COUNT, sum[1] += out * out / COUNT, sum[2] += along / COUNT, sum[3] += along * along / COUNT;
    }
    ck_assert_double_eq_tol(sum[0], sqrt(M_PI / 2), 5 * sqrt((2 - M_PI / 2) / COUNT));
    ck_assert_double_eq_tol(sum[1], 2, 5 * sqrt(4.0 / COUNT));
    ck_assert_double_eq_tol(sum[2], 0, 5 * sqrt(1.0 / COUNT));
    ck_assert_double_eq_tol(sum[3], 1, 5 * sqrt(2.0 / COUNT));
    lm_config_free(&c.config);
}
END_TEST

/* --- no leaks --- */

/* A random number of random bodies, which touch, overlap and cross the sides. */
static void random_bodies(uint64_t *random, char *text, size_t size)
{
    int n = 0, count = 1 + (int)random_below(random, 5);
    for (int k = 0; k < count; k++) {
        const double x = 48 * uniform(random), y = 48 * uniform(random), w = 0.8 + 6 * uniform(random);
        const int whole = random_below(random, 4) == 0, shape = (int)random_below(random, 4);
        const double a = whole ? floor(x) : x, b = whole ? floor(y) : y, r = whole ? ceil(w) : w;
        n += snprintf(text + n, size - (size_t)n, "[body.b%d]\n", k);
        if (shape < 2)
            n += snprintf(text + n, size - (size_t)n, "shape = disk\nx = %.9g\ny = %.9g\nradius = %.9g\n", a, b, r);
        else if (shape == 2)
            n += snprintf(text + n, size - (size_t)n, "shape = box\nx = %.9g\ny = %.9g\nwidth = %.9g\nheight = %.9g\n",
                          a, b, r, 2 + 12 * uniform(random));
        else
            n += snprintf(text + n, size - (size_t)n, "shape = polygon\npoints = %.9g %.9g, %.9g %.9g, %.9g %.9g\n", a,
                          b, a + 3 * r, b + r, a - r, b + 2 * r);
    }
}

/* A million ways for each kind of body: from the plasma to the plasma, and with the speed that the particle had. */
START_TEST(nothing_leaks)
{
    static struct scene c;
    static const int kinds[] = {LM_REFLECTING, LM_THERMAL, LM_ABSORBING};
    const int scenes = SANITIZED ? 20 : 250, paths = 4000;
    uint64_t random = 11 + (uint64_t)_i;
    long hits = 0, taken = 0, cut = 0;
    char text[2000];
    for (int k = 0; k < scenes; k++) {
        random_bodies(&random, text, sizeof text);
        if (!scene_try(&c, text, kinds[_i], k % 2, 1))
            continue;
        for (int n = 0; n < SIDE * SIDE; n++)
            cut += (c.of[n] & LM_CUT) != 0;
        for (int n = 0; n < paths; n++) {
            const double reach = n % 3 == 0 ? 0.3 : n % 3 == 1 ? 3 : 14;
            struct lm_flight f = flight_from(48 * uniform(&random), 48 * uniform(&random),
                                             reach * (2 * uniform(&random) - 1), reach * (2 * uniform(&random) - 1));
            if (is_solid(&c, &f))
                continue;
            const double speed = hypot((double)f.vx, (double)f.vy);
            fly(&c, &f, lm_mix((uint64_t)n));
            hits += f.hits;
            taken += f.channel >= 0;
            require(f.channel >= 0 || !is_solid(&c, &f));
            require(kinds[_i] != LM_REFLECTING ||
                    fabs(hypot((double)f.vx, (double)f.vy) - speed) < 1e-13 * (1 + speed));
        }
    }
    ck_assert_int_gt(hits, 100 * scenes);
    ck_assert_int_gt(cut, 10 * scenes);
    ck_assert((taken > 0) == (kinds[_i] == LM_ABSORBING));
    lm_config_free(&c.config);
}
END_TEST

/* --- the density --- */

/* Given fields of 0, and a plasma that is uniform and stays so. */
#define PLASMA                                                                                                         \
    "[run]\nsteps = 200\ndt = 0.2\n[grid]\nnx = 24\nny = 24\nlx = 24\nly = 24\n[fields]\nsolver = none\n"              \
    "[species.p]\nparticles_per_cell = 400\nstart = random\ntemperature = 1\n"
static const char *const plasmas[] = {
    PLASMA "[boundary]\nx_min = reflecting\nx_max = reflecting\ny_min = reflecting\ny_max = reflecting\n"
           "[body.a]\nshape = polygon\npoints = -24 -8, 48 28, 48 -24, -24 -24\nparticles = reflecting\n",
    PLASMA "[body.a]\nshape = disk\nx = 11.3\ny = 12.8\nradius = 5.4\nparticles = reflecting\n",
    PLASMA
    "[particles]\nshape = quadratic\n[body.a]\nshape = disk\nx = 11.3\ny = 12.8\nradius = 5.4\nparticles = thermal\n"
    "temperature = 1\n",
    PLASMA "[body.a]\nshape = box\nx = 12\ny = 12\nwidth = 10\nheight = 8\nparticles = reflecting\n",
};

/* The mean density over the cells beside the body is that of the plasma, at the start and after 40 1/Omega_ci: to five
 * standard deviations and half a percent. The mean of a cell has 400 particles. Without the factors it is an eighth
 * low. */
START_TEST(uniform_density)
{
    struct lm_sim *sim = sim_new(plasmas[_i], NULL);
    const struct lm_grid *g = &sim->grid;
    for (int part = 0; part < 2; part++) {
        double sum = 0, cells = 0, plain = 0;
        for (int n = 0; n < (part ? 40 : 1); n++) {
            advance(sim, part ? 40 + 4 * n : 0);
            double *density = array_of(sim, LM_SPECIES_N);
            for (int j = 0; j < g->ny; j++)
                for (int i = 0; i < g->nx; i++) {
                    const float factor = sim->factor[j * g->nx + i];
                    if (factor <= 1.0f)
                        continue;
                    cells++;
                    sum += density[lm_at(g, i, j)];
                    plain += density[lm_at(g, i, j)] / (double)factor;
                }
            free(density);
        }
        if (getenv("LM_SHOW"))
            printf("density %d beside a surface, %s: %.4f, without factors %.4f\n", _i, part ? "later" : "at the start",
                   sum / cells, plain / cells);
        ck_assert_double_eq_tol(sum / cells, 1, 0.005 + 5 * sqrt(1 / (400 * fmin(cells, 40))));
    }
    sim_free(sim);
}
END_TEST

/* All particles are in the plasma, in all starts. Their number is that of the area. */
START_TEST(loading)
{
    static const char *const starts[] = {"species.p.start=random", "species.p.start=quiet",
                                         "species.p.start=low_discrepancy"};
    struct lm_sim *sim = sim_new(plasmas[1], starts[_i]);
    struct particles p = particles_of(sim, 0);
    for (uint64_t k = 0; k < p.count; k++) {
        const double x = place(p.raw.x, k), y = place(p.raw.y, k);
        require(hypot(x - 11.3, y - 12.8) > 5.4 - 0.05); /* chords are inside the disk */
    }
    const double area = 24 * 24 - M_PI * 5.4 * 5.4;
    ck_assert_double_eq_tol((double)p.count / 400, area, 0.5 + 5 * sqrt(area / 400));
    particles_free(&p);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bodies and particles");
    TCase *t = tcase_create("bodies and particles");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, disk_in_beams, 0, (int)(sizeof disks / sizeof *disks));
    tcase_add_test(t, slanted_mirror);
    tcase_add_loop_test(t, force_on_a_mirror, 0, 2);
    tcase_add_test(t, slanted_re_emission);
    tcase_add_loop_test(t, nothing_leaks, 0, 3);
    tcase_add_loop_test(t, uniform_density, 0, 4);
    tcase_add_loop_test(t, loading, 0, 3);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
