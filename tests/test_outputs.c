/* [output.NAME] and [distribution.NAME] against direct sums over the particles, and what they may not change. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "inside.h"
#include "larmor/physics/fields/wall.h"
#include "output/moments.h"
#include "output/output.h"
#include "require.h"
#include "sim_run.h"
#include "suite.h"

/* A box of 12 x 8 cells of 0.5 x 0.25 d_i with walls in y, and one of periodic sides. */
static const char walls[] = "[run]\nsteps = 10\ndt = 0.01\nseed = 3\n"
                            "[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"
                            "[boundary]\ny_min = reflecting\ny_max = absorbing\n"
                            "[fields]\nbx = 0.5\nbz = 1 + 0.2*cos(2*pi*x/lx)\n"
                            "[electrons]\ntemperature = 0.4\n"
                            "[particles]\nshape = quadratic\n"
                            "[species.p]\nparticles_per_cell = 30\ntemperature = 0.3\ndrift_x = 0.2\n"
                            "[species.a]\nmass = 4\ncharge = 2\ndensity = 0.1 + 0.05*x/lx\nparticles_per_cell = 200\n"
                            "temperature = 0.5\n";

#define PERIODIC                                                                                                       \
    "[run]\nsteps = 10\ndt = 0.01\nseed = 3\n[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"                                \
    "[fields]\nbx = 0.6\nby = 0.3 + 0.1*sin(2*pi*x/lx)\nbz = 1 + 0.2*cos(2*pi*y/ly)\n"                                 \
    "[electrons]\nclosure = polytropic\ntemperature = 0.4\ngamma = 1.5\n"                                              \
    "[species.p]\nparticles_per_cell = 60\ntemperature_par = 0.5\ntemperature_perp = 0.2\ndrift_y = 0.4\n"
static const char periodic[] = PERIODIC;

static struct lm_sim *begin(const char *text, int steps)
{
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, steps);
    snprintf(((struct lm_config *)sim->config)->output.directory, LM_MAX_PATH, "%s", scratch_path("out"));
    return sim;
}

/* --- the particles, and sums over them by hand --- */

struct particles {
    uint64_t count;
    double *x, *y, *v[3], weight, fastest;
};

static struct particles particles_of(struct lm_sim *sim, int species)
{
    struct lm_sim_status now;
    lm_sim_status(sim, &now);
    struct particles p = {.count = now.species[species].count,
                          .weight = now.species[species].weight,
                          .fastest = now.species[species].fastest};
    p.x = malloc(5 * (p.count + 1) * sizeof *p.x);
    p.y = p.x + p.count;
    for (int d = 0; d < 3; d++)
        p.v[d] = p.y + (size_t)(d + 1) * p.count;
    ck_assert_int_eq(lm_sim_get_particles(sim, species, 0, p.count, p.x, p.y, p.v[0], p.v[1], p.v[2]), LM_OK);
    return p;
}

/* The share that a particle at distance d [cells] from a node gives to it. */
static double shape(int order, double d)
{
    d = fabs(d);
    if (order == 1)
        return d < 1 ? 1 - d : 0;
    return d < 0.5 ? 0.75 - d * d : d < 1.5 ? 0.5 * (1.5 - d) * (1.5 - d) : 0;
}

/* The share of a node along an axis, images included, for a moment that is odd or even in the velocity along it. An
 * image beyond a reflecting wall has the opposite velocity along the axis. */
static double share(int order, int boundary[2], double at, int node, int n, int odd)
{
    const double centre = node + 0.5;
    if (boundary[0] == LM_PERIODIC)
        return shape(order, at - centre) + shape(order, at - n - centre) + shape(order, at + n - centre);
    return shape(order, at - centre) + (odd && boundary[0] == LM_REFLECTING ? -1 : 1) * shape(order, -at - centre) +
           (odd && boundary[1] == LM_REFLECTING ? -1 : 1) * shape(order, 2 * n - at - centre);
}

static double product(int moment, const double v[3])
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    return moment == LM_MOMENT_1    ? 1
           : moment < LM_MOMENT_VV  ? v[moment - LM_MOMENT_V]
           : moment < LM_MOMENT_VVV ? v[pair[moment - LM_MOMENT_VV][0]] * v[pair[moment - LM_MOMENT_VV][1]]
                                    : v[moment - LM_MOMENT_VVV] * square;
}

static int is_odd(int moment, int axis)
{
    static const int odd[2][LM_MOMENT_COUNT] = {{0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0},
                                                {0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0}};
    return odd[axis][moment];
}

static double by_hand(struct lm_sim *sim, const struct particles *p, int moment, int i, int j)
{
    const struct lm_grid *g = &sim->grid;
    int x[2] = {g->sides.of[0], g->sides.of[1]}, y[2] = {g->sides.of[2], g->sides.of[3]};
    const int order = sim->config->particles.shape;
    double sum = 0;
    for (uint64_t k = 0; k < p->count; k++) {
        const double v[3] = {p->v[0][k], p->v[1][k], p->v[2][k]};
        sum += share(order, x, p->x[k] / g->dx, i, g->nx, is_odd(moment, 0)) *
               share(order, y, p->y[k] / g->dy, j, g->ny, is_odd(moment, 1)) * product(moment, v);
    }
    return sum * p->weight / (g->dx * g->dy);
}

/* --- moments --- */

static const char *const boxes[] = {walls, periodic};

/* A cell has some hundred contributions, and each is rounded to a multiple of bound^p 2^-36. */
START_TEST(moments_are_sums_over_particles)
{
    struct lm_sim *sim = begin(boxes[_i], 7);
    for (int s = 0; s < sim->config->species_count; s++) {
        const struct particles p = particles_of(sim, s);
        double *out[LM_MOMENT_COUNT];
        for (int m = 0; m < LM_MOMENT_COUNT; m++)
            out[m] = malloc(sim->grid.cells * sizeof *out[m]);
        ck_assert_int_eq(lm_moments_collect(sim, sim->config, s, out), LM_OK);
        const double rounding = 500 * ldexp(1, -37) * p.weight / (sim->grid.dx * sim->grid.dy);
        for (int m = 0; m < LM_MOMENT_COUNT; m++) {
            const int order = m == 0 ? 0 : m < LM_MOMENT_VV ? 1 : m < LM_MOMENT_VVV ? 2 : 3;
            for (int k = 0; k < 96; k++)
                require_near(out[m][k], by_hand(sim, &p, m, k % 12, k / 12), rounding * pow(2 * p.fastest, order));
            free(out[m]);
        }
        free(p.x);
    }
    sim_free(sim);
}
END_TEST

/* Only what is asked for; the density is that of the program, whose quanta are larger. */
START_TEST(one_moment)
{
    struct lm_sim *sim = begin(boxes[_i], 3);
    double *n = malloc(sim->grid.cells * sizeof *n), *own = array_of(sim, LM_SPECIES_N);
    double *const out[LM_MOMENT_COUNT] = {n};
    ck_assert_int_eq(lm_moments_collect(sim, sim->config, 0, out), LM_OK);
    for (int k = 0; k < 96; k++)
        require_near(n[k], own[lm_at(&sim->grid, k % 12, k / 12)], 2e-4);
    free(n);
    free(own);
    sim_free(sim);
}
END_TEST

/* --- files --- */

static double *read_mesh(const char *file, const char *name, hsize_t want)
{
    char path[64];
    snprintf(path, sizeof path, "out/%s", file);
    const hid_t h = open_h5(scratch_path(path));
    double *out = malloc(want * sizeof *out);
    ck_assert_uint_eq(read_dataset(h, name, H5T_NATIVE_DOUBLE, want, out), want);
    H5Fclose(h);
    return out;
}

#define MESH(file, name, count) read_mesh(file, "/data/7/meshes/" name, count)

/* The box with walls has two species: "a" is chosen, and the region is [1, 5) x [0.5, 1.5): cells 2..9 and 2..5. */
#define CHOSEN                                                                                                         \
    "[output.chosen]\nevery = 1\nquantities = B, density velocity, pressure,temperature, energy_flux\nspecies = a\n"   \
    "from_x = 1\nto_x = 5\nfrom_y = 0.5\nto_y = 1.5\ncoarsen = 2\n"

START_TEST(values_of_a_species)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", walls, CHOSEN);
    struct lm_sim *sim = begin(text, 7);
    ck_assert_msg(!lm_output_named(sim, sim->config, 0), "%s", lm_error());
    const struct particles p = particles_of(sim, 1);
    double *ux = MESH("outputs/chosen_00000007.h5", "u_a/x", 8), *uz = MESH("outputs/chosen_00000007.h5", "u_a/z", 8);
    double *xz = MESH("outputs/chosen_00000007.h5", "P_a/xz", 8), *yy = MESH("outputs/chosen_00000007.h5", "P_a/yy", 8);
    double *par = MESH("outputs/chosen_00000007.h5", "T_par_a", 8), *q = MESH("outputs/chosen_00000007.h5", "Q_a/y", 8);
    double *perp = MESH("outputs/chosen_00000007.h5", "T_perp_a", 8), *n = MESH("outputs/chosen_00000007.h5", "n_a", 8);
    double *own = array_of(sim, LM_SPECIES_N + 1), *b[3];
    for (int d = 0; d < 3; d++) {
        b[d] = array_of(sim, LM_B + d);
        lm_grid_wrap(&sim->grid, b[d]);
    }
    for (int k = 0; k < 8; k++) {
        double mean[LM_MOMENT_COUNT] = {0}, field[3] = {0}, density = 0, P[3][3], along = 0;
        for (int c = 0; c < 4; c++) {
            const int i = 2 + 2 * (k % 4) + c % 2, j = 2 + 2 * (k / 4) + c / 2;
            const size_t at = lm_at(&sim->grid, i, j), below = lm_at(&sim->grid, i, j - 1);
            density += 0.25 * own[at];
            for (int m = 0; m < LM_MOMENT_COUNT; m++)
                mean[m] += 0.25 * by_hand(sim, &p, m, i, j);
            field[0] += 0.125 * (b[0][at] + b[0][below]);
            field[1] += 0.125 * (b[1][at] + b[1][at - 1]);
            field[2] += 0.0625 * (b[2][at] + b[2][at - 1] + b[2][below] + b[2][below - 1]);
        }
        const double size = sqrt(field[0] * field[0] + field[1] * field[1] + field[2] * field[2]);
        static const int number[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                P[i][j] = 4 * (mean[LM_MOMENT_VV + number[i][j]] -
                               mean[LM_MOMENT_V + i] * mean[LM_MOMENT_V + j] / mean[LM_MOMENT_1]);
                along += P[i][j] * field[i] * field[j] / (size * size);
            }
        require_near(n[k], density, 1e-15);
        require_near(ux[k], mean[LM_MOMENT_V] / mean[0], 1e-7);
        require_near(uz[k], mean[LM_MOMENT_V + 2] / mean[0], 1e-7);
        require_near(xz[k], P[0][2], 1e-7);
        require_near(yy[k], P[1][1], 1e-7);
        require_near(par[k], along / mean[0], 1e-6);
        require_near(perp[k], 0.5 * (P[0][0] + P[1][1] + P[2][2] - along) / mean[0], 1e-6);
        require_near(q[k], 2 * mean[LM_MOMENT_VVV + 1], 1e-6);
    }
    free(ux), free(uz), free(xz), free(yy), free(par), free(perp), free(q), free(n), free(own), free(p.x);
    for (int d = 0; d < 3; d++)
        free(b[d]);
    sim_free(sim);
}
END_TEST

START_TEST(only_the_chosen_species)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", walls, CHOSEN);
    struct lm_sim *sim = begin(text, 7);
    ck_assert_int_eq(lm_output_named(sim, sim->config, 0), LM_OK);
    hid_t h = H5Fopen(scratch_path("out/outputs/chosen_00000007.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t meshes = H5Gopen2(h, "/data/7/meshes", H5P_DEFAULT);
    H5G_info_t info;
    ck_assert_int_ge(H5Gget_info(meshes, &info), 0);
    ck_assert_int_eq((int)info.nlinks, 7); /* B, n_a, u_a, P_a, T_par_a, T_perp_a, Q_a */
    H5Gclose(meshes);
    H5Fclose(h);
    sim_free(sim);
}
END_TEST

/* J = curl B where it is taken, and T_e = p_e/n. */
START_TEST(current_and_electron_temperature)
{
    struct lm_sim *sim = begin(PERIODIC "[output.j]\nevery = 1\nquantities = J T_e B\n", 7);
    ck_assert_msg(!lm_output_named(sim, sim->config, 0), "%s", lm_error());
    double *b[3] = {MESH("outputs/j_00000007.h5", "B/x", 96), MESH("outputs/j_00000007.h5", "B/y", 96),
                    MESH("outputs/j_00000007.h5", "B/z", 96)};
    double *j[3] = {MESH("outputs/j_00000007.h5", "J/x", 96), MESH("outputs/j_00000007.h5", "J/y", 96),
                    MESH("outputs/j_00000007.h5", "J/z", 96)};
    double *t = MESH("outputs/j_00000007.h5", "T_e", 96), *p = array_of(sim, LM_PRESSURE), largest = 0;
    double *n = array_of(sim, LM_FLOORED);
    for (int k = 0; k < 96; k++) {
        const int left = k % 12 ? k - 1 : k + 11, down = k >= 12 ? k - 12 : k + 84;
        require_near(j[0][k], (b[2][k] - b[2][down]) / 0.25, 1e-12);
        require_near(j[1][k], -(b[2][k] - b[2][left]) / 0.5, 1e-12);
        require_near(j[2][k], (b[1][k] - b[1][left]) / 0.5 - (b[0][k] - b[0][down]) / 0.25, 1e-12);
        largest = fmax(largest, fabs(j[0][k]));
        const size_t at = lm_at(&sim->grid, k % 12, k / 12);
        require_near(t[k], p[at] / n[at], 1e-15);
        require_near(t[k], 0.4 * sqrt(n[at]), 1e-12); /* polytropic, gamma = 1.5 */
    }
    ck_assert_double_gt(largest, 0.1);
    for (int d = 0; d < 3; d++)
        free(b[d]), free(j[d]);
    free(t), free(p), free(n);
    sim_free(sim);
}
END_TEST

/* --- the terms of Ohm's law --- */

#define OHM                                                                                                            \
    "[run]\nsteps = 10\ndt = 0.01\nseed = 3\n[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"                                \
    "[fields]\nbx = 0.6\nby = 0.3 + 0.1*sin(2*pi*x/lx)\nbz = 1 + 0.2*cos(2*pi*y/ly)\neta = 0.05*(1 + "                 \
    "0.5*cos(2*pi*x/lx))\neta_hyper = 2e-3\n"                                                                          \
    "[electrons]\nclosure = polytropic\ntemperature = 0.4\ngamma = 1.5\n"                                              \
    "[species.p]\nparticles_per_cell = 60\ntemperature = 0.4\ndrift_y = 0.4\ndrift_z = 0.2\n"                          \
    "[output.e]\nevery = 1\nquantities = E J E_terms heating\n"

static double mean(const double *a, int s)
{
    return 0.5 * (a[0] + a[s]);
}

/* What the arrays of the simulation and of the file say in one cell; indices are of arrays with ghost cells. */
struct ohm_case {
    struct lm_sim *sim;
    double *b[3], *j[3], *ji[3], *n, *p, *eta;
};

/* D = J - ji at the centre of a cell, over n there; factor 0 or 1 for J, and for ji. */
static double drift(const struct ohm_case *c, int d, size_t k, double with_j, double with_ji)
{
    const int back[3] = {-1, -c->sim->grid.stride, 0};
    return (with_j * mean(c->j[d] + k, back[d]) - with_ji * c->ji[d][k]) / c->n[k];
}

/* D_x or D_y times B_z over n at the centre. */
static double drift_bz(const struct ohm_case *c, int d, size_t k, double with_j, double with_ji)
{
    const double *bz = c->b[2] + k;
    const int s = c->sim->grid.stride;
    return drift(c, d, k, with_j, with_ji) * 0.25 * (bz[0] + bz[-1] + bz[-s] + bz[-s - 1]);
}

/* (J - ji) x B / n on the node of cell k; `next` is the cell beyond it. */
static double motional(const struct ohm_case *c, int axis, size_t k, size_t next, double with_j, double with_ji)
{
    const int s = c->sim->grid.stride;
    const double *bx = c->b[0] + k, *by = c->b[1] + k, *jx = c->j[0] + k, *jy = c->j[1] + k;
    const double slip = 0.5 * (drift(c, 2, k, with_j, with_ji) + drift(c, 2, next, with_j, with_ji));
    if (axis == 0)
        return 0.5 * (drift_bz(c, 1, k, with_j, with_ji) + drift_bz(c, 1, next, with_j, with_ji)) - *by * slip;
    if (axis == 1)
        return *bx * slip - 0.5 * (drift_bz(c, 0, k, with_j, with_ji) + drift_bz(c, 0, next, with_j, with_ji));
    const double of_j = 0.5 * (jx[0] * by[0] + jx[-1] * by[-1] - jy[0] * bx[0] - jy[-s] * bx[-s]);
    const double of_ions = c->ji[0][k] * mean(by, -1) - c->ji[1][k] * mean(bx, -s);
    return (with_j * of_j - with_ji * of_ions) / c->n[k];
}

/* A mesh of the file as an array with ghost cells. */
static double *with_ghosts(const struct lm_sim *sim, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/data/7/meshes/%s", name);
    double *packed = read_mesh("outputs/e_00000007.h5", path, 96), *out = malloc(sim->grid.size * sizeof *out);
    lm_grid_unpack(&sim->grid, packed, out);
    free(packed);
    return out;
}

static double *wrapped_array(struct lm_sim *sim, enum lm_array array)
{
    double *a = array_of(sim, array);
    lm_grid_wrap(&sim->grid, a);
    return a;
}

static void begin_ohm(struct ohm_case *c)
{
    static const char *const j[3] = {"J/x", "J/y", "J/z"};
    c->sim = begin(OHM, 7);
    ck_assert_msg(!lm_output_named(c->sim, c->sim->config, 0), "%s", lm_error());
    for (int d = 0; d < 3; d++) {
        double *earlier = wrapped_array(c->sim, LM_J_NEW + d); /* the levels have been swapped */
        c->b[d] = wrapped_array(c->sim, LM_B + d);
        c->j[d] = with_ghosts(c->sim, j[d]);
        c->ji[d] = wrapped_array(c->sim, LM_J_OLD + d);
        for (size_t k = 0; k < c->sim->grid.size; k++)
            c->ji[d][k] = 1.5 * c->ji[d][k] - 0.5 * earlier[k];
        free(earlier);
    }
    c->p = wrapped_array(c->sim, LM_PRESSURE);
    c->n = wrapped_array(c->sim, LM_FLOORED);
    c->eta = wrapped_array(c->sim, LM_ETA);
}

static void end_ohm(struct ohm_case *c)
{
    for (int d = 0; d < 3; d++)
        free(c->b[d]), free(c->j[d]), free(c->ji[d]);
    free(c->p), free(c->n), free(c->eta);
    sim_free(c->sim);
}

/* Each term by its formula, and their sum is E. `_i`: the axis. */
START_TEST(terms_of_ohms_law)
{
    static const char axis[] = "xyz";
    static const char *const names[5] = {"E_convection", "E_Hall", "E_pressure", "E_resistive", "E"};
    struct ohm_case c;
    double *e[5], largest[4] = {0};
    begin_ohm(&c);
    const struct lm_grid *g = &c.sim->grid;
    const int s = g->stride, along[3] = {1, s, 0};
    for (int n = 0; n < 5; n++) {
        char name[32];
        snprintf(name, sizeof name, "%s/%c", names[n], axis[_i]);
        e[n] = with_ghosts(c.sim, name);
    }
    for (int cell = 0; cell < 96; cell++) {
        const size_t k = lm_at(g, cell % 12, cell / 12), next = k + (size_t)along[_i];
        const double n[2] = {c.n[k], c.n[next]}, spacing = _i == 0 ? 0.5 : 0.25, *j = c.j[_i] + k;
        const double lap = (j[1] - 2 * j[0] + j[-1]) / 0.25 + (j[s] - 2 * j[0] + j[-s]) / 0.0625;
        require_near(e[0][k], motional(&c, _i, k, next, 0, 1), 1e-12);
        require_near(e[1][k], motional(&c, _i, k, next, 1, 0), 1e-12);
        require_near(e[2][k], _i < 2 ? -1.2 * (sqrt(n[1]) - sqrt(n[0])) / spacing : 0, 1e-12);
        require_near(e[3][k], mean(c.eta + k, along[_i]) * j[0] - 2e-3 * lap, 1e-12);
        require_near(e[0][k] + e[1][k] + e[2][k] + e[3][k], e[4][k], 1e-14);
        for (int term = 0; term < 4; term++)
            largest[term] = fmax(largest[term], fabs(e[term][k]));
    }
    for (int n = 0; n < 4; n++)
        ck_assert(largest[n] > 1e-3 || (n == 2 && _i == 2));
    for (int n = 0; n < 5; n++)
        free(e[n]);
    end_ohm(&c);
}
END_TEST

/* Powers: the sums over the nodes of J.E are the sums over the cells; the compression by its formula. */
START_TEST(heating)
{
    static const char *const names[2][3] = {{"E/x", "E/y", "E/z"}, {"E_resistive/x", "E_resistive/y", "E_resistive/z"}};
    struct ohm_case c;
    begin_ohm(&c);
    const struct lm_grid *g = &c.sim->grid;
    const int s = g->stride;
    double *power[3] = {with_ghosts(c.sim, "J_dot_E"), with_ghosts(c.sim, "heating_resistive"),
                        with_ghosts(c.sim, "heating_compression")};
    for (int kind = 0; kind < 2; kind++) {
        double sum = 0, nodes = 0;
        for (int d = 0; d < 3; d++) {
            double *e = with_ghosts(c.sim, names[kind][d]);
            for (int cell = 0; cell < 96; cell++)
                nodes += c.j[d][lm_at(g, cell % 12, cell / 12)] * e[lm_at(g, cell % 12, cell / 12)];
            free(e);
        }
        for (int cell = 0; cell < 96; cell++)
            sum += power[kind][lm_at(g, cell % 12, cell / 12)];
        require_near(sum, nodes, 1e-12 * fabs(nodes));
        ck_assert_double_gt(fabs(nodes), 1e-3);
    }
    double *ji[2] = {wrapped_array(c.sim, LM_J_OLD), wrapped_array(c.sim, LM_J_OLD + 1)};
    for (int cell = 0; cell < 96; cell++) {
        const size_t k = lm_at(g, cell % 12, cell / 12);
        double divergence = 0;
        for (int d = 0; d < 2; d++)
            for (int side = 0; side < 2; side++) {
                const int along = d == 0 ? 1 : s;
                const size_t at = side ? k : k - (size_t)along;
                const double u = (mean(ji[d] + at, along) - c.j[d][at]) / mean(c.n + at, along);
                divergence += (side ? u : -u) / (d == 0 ? 0.5 : 0.25);
            }
        require_near(power[2][k], -c.p[k] * divergence, 1e-12);
    }
    for (int k = 0; k < 3; k++)
        free(power[k]);
    free(ji[0]), free(ji[1]);
    end_ohm(&c);
}
END_TEST

/* A box of 12 x 8 cells with a body in the cells [4, 8) x [2, 6), and a resistivity of the plasma that does not count
 * in it. */
#define WITH_BODY                                                                                                      \
    "[run]\nsteps = 10\ndt = 0.01\n[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"                                          \
    "[fields]\nbx = 0.6\nby = 0.3\nbz = 1 + 0.2*cos(2*pi*x/lx)\neta = 0.3\n[electrons]\ntemperature = 0.4\n"           \
    "[species.p]\nparticles_per_cell = 60\ntemperature = 0.4\n"                                                        \
    "[body.b]\nshape = box\nx = 3\ny = 1\nwidth = 2\nheight = 1\n"                                                     \
    "[output.e]\nevery = 1\nquantities = E E_terms heating\n"

/* Inside a resistive body E is eta J with the eta of the body; inside a conducting one there is no E. */
START_TEST(terms_in_a_body)
{
    static const char *const kinds[] = {"fields = resistive\nresistivity = 0.5\n", "fields = conducting\n"};
    char text[1024];
    snprintf(text, sizeof text, "%.*s%s%s", (int)(strstr(WITH_BODY, "[output.e]") - WITH_BODY), WITH_BODY, kinds[_i],
             strstr(WITH_BODY, "[output.e]"));
    struct lm_sim *sim = begin(text, 7);
    ck_assert_msg(!lm_output_named(sim, sim->config, 0), "%s", lm_error());
    static const char *const names[4] = {"E_convection/y", "E_Hall/y", "E_pressure/y", "E_resistive/y"};
    double *e[4], *all = with_ghosts(sim, "E/y"), *je = with_ghosts(sim, "J_dot_E"), largest = 0;
    double *heat = with_ghosts(sim, "heating_resistive"), *work = with_ghosts(sim, "heating_compression");
    for (int n = 0; n < 4; n++)
        e[n] = with_ghosts(sim, names[n]);
    for (int j = 3; j < 5; j++)
        for (int i = 5; i < 7; i++) {
            const size_t k = lm_at(&sim->grid, i, j);
            require_near(e[0][k], 0, 1e-15);
            require_near(e[1][k], 0, 0);
            require_near(e[2][k], 0, 0);
            require_near(e[3][k], all[k], 1e-15);
            require_near(je[k], heat[k], 1e-15);
            require_near(work[k], 0, 0);
            largest = fmax(largest, fabs(all[k]));
        }
    ck_assert(_i == 0 ? largest > 1e-3 : largest == 0);
    for (int n = 0; n < 4; n++)
        free(e[n]);
    free(all), free(je), free(heat), free(work);
    sim_free(sim);
}
END_TEST

/* A field that is its own mirror image between two reflecting walls heats alike on both sides. Electrons do not go
 * through these walls, so that the work of compression adds up to -p div u over the faces inside. */
START_TEST(heating_between_walls)
{
    struct lm_sim *sim = begin("[run]\nsteps = 10\ndt = 0.01\n[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"
                               "[boundary]\nx_min = reflecting\nx_max = reflecting\n"
                               "[fields]\nbz = 1 + 0.2*cos(2*pi*x/lx)\neta = 0.05\n"
                               "[electrons]\ntemperature = 0.4\n[species.p]\nparticles_per_cell = 60\ndrift_x = 0.3\n"
                               "[output.e]\nevery = 1\nquantities = heating p_e J_i J rho\n",
                               7);
    ck_assert_msg(!lm_output_named(sim, sim->config, 0), "%s", lm_error());
    double *work = with_ghosts(sim, "heating_compression"), *ji = with_ghosts(sim, "J_i/x"),
           *j = with_ghosts(sim, "J/x");
    double *n = with_ghosts(sim, "rho"), *p = with_ghosts(sim, "p_e"), *jy = with_ghosts(sim, "J_i/y");
    double *j_y = with_ghosts(sim, "J/y");
    const int s = sim->grid.stride;
    for (int row = 0; row < 8; row++) {
        const size_t k = lm_at(&sim->grid, 0, row), below = k - (size_t)s;
        const double u = (mean(ji + k, 1) - j[k]) / mean(n + k, 1); /* on the face inside; 0 on the wall */
        const double v = (mean(jy + k, s) - j_y[k]) / mean(n + k, s),
                     w = (mean(jy + below, s) - j_y[below]) / mean(n + below, s);
        require_near(work[k], -p[k] * (u / 0.5 + (v - w) / 0.25), 1e-12);
    }
    free(work), free(ji), free(j), free(n), free(p), free(jy), free(j_y);
    sim_free(sim);
    sim = begin("[run]\nsteps = 10\ndt = 0.01\n[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"
                "[boundary]\nx_min = reflecting\nx_max = reflecting\n"
                "[fields]\nbz = 1 + 0.2*cos(pi*x/lx)^2\neta = 0.05\n"
                "[electrons]\ntemperature = 0.4\n[species.p]\nparticles_per_cell = 60\n"
                "[output.e]\nevery = 1\nquantities = heating\n",
                0);
    ck_assert_msg(!lm_output_named(sim, sim->config, 0), "%s", lm_error());
    double *heat = read_mesh("outputs/e_00000000.h5", "/data/0/meshes/heating_resistive", 96), largest = 0;
    for (int k = 0; k < 96; k++) {
        require_near(heat[k], heat[k / 12 * 12 + 11 - k % 12], 1e-15);
        largest = fmax(largest, heat[k]);
    }
    ck_assert_double_gt(largest, 1e-4);
    free(heat);
    sim_free(sim);
}
END_TEST

/* --- distributions --- */

#define BINNED                                                                                                         \
    "[distribution.f]\nevery = 1\naxes = v_par, v_perp, x\nbins = 8, 2*3, 3\nfrom = -max(1, 1.5), 0, 0\nto = 1.5, "    \
    "1.25, lx\n"                                                                                                       \
    "from_y = 0.5\n[distribution.g]\nevery = 1\naxes = pitch gyrophase\nbins = 6, 4\nfrom = 0, 0\nto = 181, 360\n"     \
    "[distribution.h]\nevery = 1\naxes = energy\nbins = 5\nfrom = 0\nto = 0.5\n"

/* B at a particle by the definition: linear in each direction between the places of a component. */
static double b_at(const double *b, const struct lm_grid *g, double ox, double oy, double x, double y)
{
    double sum = 0;
    for (int j = -1; j <= g->ny; j++)
        for (int i = -1; i <= g->nx; i++)
            sum += b[lm_at(g, i, j)] * shape(1, x / g->dx - i - 0.5 - ox) * shape(1, y / g->dy - j - 0.5 - oy);
    return sum;
}

START_TEST(distributions_count_particles)
{
    struct lm_sim *sim = begin(PERIODIC BINNED, 7);
    for (int k = 0; k < 3; k++)
        ck_assert_msg(!lm_output_distribution(sim, sim->config, k), "%s", lm_error());
    double *f = read_mesh("distributions/f_00000007.h5", "counts_p", 8 * 6 * 3);
    double *g = read_mesh("distributions/g_00000007.h5", "counts_p", 6 * 4);
    double *h = read_mesh("distributions/h_00000007.h5", "counts_p", 5), *b[3];
    const struct particles p = particles_of(sim, 0);
    for (int d = 0; d < 3; d++) {
        b[d] = array_of(sim, LM_B + d);
        lm_grid_wrap(&sim->grid, b[d]);
    }
    int in_f = 0;
    for (uint64_t k = 0; k < p.count; k++) {
        double e[3], v[3] = {p.v[0][k], p.v[1][k], p.v[2][k]}, size = 0, along = 0, square = 0;
        for (int d = 0; d < 3; d++) {
            e[d] = b_at(b[d], &sim->grid, d == 0 ? 0 : 0.5, d == 1 ? 0 : 0.5, p.x[k], p.y[k]);
            size += e[d] * e[d];
        }
        for (int d = 0; d < 3; d++) {
            along += e[d] / sqrt(size) * v[d];
            square += v[d] * v[d];
        }
        const double across = sqrt(square - along * along);
        if (p.y[k] >= 0.5 && fabs(along) < 1.5 && across < 1.25) {
            f[((int)((along + 1.5) / 0.375) * 6 + (int)(across / (1.25 / 6))) * 3 + (int)(p.x[k] / 2)]--;
            in_f++;
        }
        /* e1 along z x b, e2 = b x e1: the right-handed triple e1, e2, b */
        const double r = sqrt(e[0] * e[0] + e[1] * e[1]), e1[3] = {-e[1] / r, e[0] / r, 0};
        const double e2[3] = {-e[2] * e1[1] / sqrt(size), e[2] * e1[0] / sqrt(size),
                              (e[0] * e1[1] - e[1] * e1[0]) / sqrt(size)};
        double angle = atan2(v[0] * e2[0] + v[1] * e2[1] + v[2] * e2[2], v[0] * e1[0] + v[1] * e1[1]) * 180 / M_PI;
        angle += angle < 0 ? 360 : 0;
        g[(int)(acos(along / sqrt(square)) * 180 / M_PI / (181.0 / 6)) * 4 + (int)(angle / 90)]--;
        if (0.5 * square < 0.5)
            h[(int)(0.5 * square / 0.1)]--;
    }
    ck_assert_int_gt(in_f, 1000);
    for (int k = 0; k < 144; k++)
        require_near(f[k], 0, 0);
    for (int k = 0; k < 24; k++)
        require_near(g[k], 0, 0);
    for (int k = 0; k < 5; k++)
        require_near(h[k], 0, 0);
    hid_t file = H5Fopen(scratch_path("out/distributions/f_00000007.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    int64_t outside;
    hid_t at = H5Aopen_by_name(file, "counts_p", "outside", H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Aread(at, H5T_NATIVE_INT64, &outside), 0);
    uint64_t in_region = 0;
    for (uint64_t k = 0; k < p.count; k++)
        in_region += p.y[k] >= 0.5;
    ck_assert_int_eq(outside, (int64_t)in_region - in_f);
    H5Aclose(at);
    H5Fclose(file);
    for (int d = 0; d < 3; d++)
        free(b[d]);
    free(f), free(g), free(h), free(p.x);
    sim_free(sim);
}
END_TEST

/* --- what may not change --- */

START_TEST(outputs_change_nothing)
{
    struct lm_sim *with = begin(PERIODIC BINNED "[output.m]\nevery = 1\nquantities = B E J J_i rho p_e T_e density "
                                                "velocity pressure temperature energy_flux backgrounds\n",
                                0),
                  *without = sim_new(periodic, NULL);
    for (int n = 0; n <= 10; n++) {
        advance(with, n);
        ck_assert_int_eq(lm_output_named(with, with->config, 0), LM_OK);
        ck_assert_int_eq(lm_output_distribution(with, with->config, n % 3), LM_OK);
    }
    advance(without, 10);
    ck_assert_uint_eq(fingerprint(with), fingerprint(without));
    sim_free(with);
    sim_free(without);
}
END_TEST

static const struct {
    const char *text;
    int line;
    const char *message;
} bad[] = {
    {"[output.m]\nevery = 1\nquantities = B, densty\n", 17,
     "output.m.quantities: \"densty\" is not one of B, E, E_terms, J,"},
    {"[output.m]\nevery = 1\nquantities = B, densty\n", 17, "did you mean density?"},
    {"[output.m]\nevery = 1\nquantities = heating\n[fields]\nsolver = none\n", 17,
     "need Ohm's law: fields.solver = hybrid"},
    {"[output.m]\nevery = 1\nquantities = ,\n", 17, "output.m.quantities: has no word"},
    {"[output.m]\nevery = 1\nquantities = B\nfrom_x = 4\nto_x = 3\ncoarsen = 2\n", 18, "output.m.from_x: the region"},
    {"[distribution.f]\nevery = 1\naxes = ,\nbins = 4\nfrom = 0\nto = 1\n", 17, "distribution.f.axes: has no word"},
    {"[distribution.f]\nevery = 1\naxes = vx\nbins = 1e30\nfrom = 0\nto = 1\n", 18, "1e30 is out of range"},
    {"[output.m]\nevery = 0\nquantities = B\n", 16, "output.m.every: 0 is out of range"},
    {"[output.m]\nquantities = B\n", 15, "output.m.every: required and not given"},
    {"[output.m]\nevery = 1\nquantities = B\nspecies = q\n", 18, "output.m.species: \"q\" is not one of p"},
    {"[output.m]\nevery = 1\nquantities = B\nfrom_x = 5.9\n", 18, "output.m.from_x: the region"},
    {"[output.m]\nevery = 1\nquantities = B\ncoarsen = 5\n", 18, "the output has 12 x 8 cells, and 5 divides not both"},
    {"[distribution.f]\nevery = 1\naxes = vx, v_prep\nbins = 4, 4\nfrom = 0, 0\nto = 1, 1\n", 17,
     "did you mean v_perp?"},
    {"[distribution.f]\nevery = 1\naxes = vx, vy\nbins = 4\nfrom = 0, 0\nto = 1, 1\n", 18,
     "distribution.f.bins: has 1 number, and there are 2 axes"},
    {"[distribution.f]\nevery = 1\naxes = vx\nbins = 4.5\nfrom = 0\nto = 1\n", 18,
     "a number of bins is not an integer"},
    {"[distribution.f]\nevery = 1\naxes = vx\nbins = 4\nfrom = 1\nto = 1\n", 20,
     "distribution.f.to: an upper end is not"},
    {"[distribution.f]\nevery = 1\naxes = vx\nbins = 4\nfrom = -1e308\nto = 1e308\n", 20,
     "distribution.f.to: the ends of an axis are more than 1.8e308 apart"},
    {"[distribution.f]\nevery = 1\naxes = vx\nbins = 4\nfrom = k\nto = 1\n", 19,
     "distribution.f.from: unknown name \"k\""},
    {"[distribution.f]\nevery = 1\naxes = vx vy vz x\nbins = 1,1,1\nfrom = 0,0,0\nto = 1,1,1\n", 17,
     "more than three axes"},
    {"[distribution.f]\nevery = 1\naxes = vx vy\nbins = 10000, 10000\nfrom = 0,0\nto = 1,1\n", 18,
     "more than 2^26 bins"},
};

START_TEST(wrong_input)
{
    static struct lm_config c;
    char text[2048], want[64];
    snprintf(text, sizeof text,
             "[run]\nsteps = 10\ndt = 0.01\n[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"
             "[fields]\nbx = 1\n[species.p]\nparticles_per_cell = 2\n\n\n%s",
             bad[_i].text);
    make_file("case.ini", text);
    ck_assert_int_eq(lm_config_read(scratch_path("case.ini"), 0, NULL, &c), LM_BAD_INPUT);
    snprintf(want, sizeof want, "case.ini:%d: ", bad[_i].line);
    assert_error_has(want);
    assert_error_has(bad[_i].message);
    ck_assert_msg(!strchr(lm_error(), '\n'), "more than one message: %s", lm_error());
    lm_config_free(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("outputs");
    TCase *t = tcase_create("outputs");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, moments_are_sums_over_particles, 0, 2);
    tcase_add_loop_test(t, terms_of_ohms_law, 0, 3);
    tcase_add_test(t, heating);
    tcase_add_loop_test(t, terms_in_a_body, 0, 2);
    tcase_add_test(t, heating_between_walls);
    tcase_add_loop_test(t, one_moment, 0, 2);
    tcase_add_test(t, values_of_a_species);
    tcase_add_test(t, only_the_chosen_species);
    tcase_add_test(t, current_and_electron_temperature);
    tcase_add_test(t, distributions_count_particles);
    tcase_add_test(t, outputs_change_nothing);
    tcase_add_loop_test(t, wrong_input, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
