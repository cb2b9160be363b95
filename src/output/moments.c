#include "output/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/body.h"
#include "larmor/physics/fields/wall.h"
#include "output/state.h"

/* What a particle gives to a node is a multiple of the bound of the moment over 2^36. So a cell may hold 2^27 particles
 * at the bound, and 2^26 times as many at a tenth of it in the third moments. */
enum { QUANTA_BITS = 36, NODES = 3 };
static const double QUANTA = 0x1p36;

/* Powers of v_x, v_y, v_z; n <v_i v^2> is a sum of three moments, all odd in v_i. */
static const int powers[LM_MOMENT_COUNT][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                                               {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1},
                                               {3, 0, 0}, {0, 3, 0}, {0, 0, 3}};

static int order_of(int moment)
{
    return powers[moment][0] + powers[moment][1] + powers[moment][2];
}

struct collector {
    struct lm_grid grid;
    int shape;
    int exponent;                /* 2^exponent >= every |v| */
    double per_bound;            /* 2^-exponent */
    int wanted;                  /* the length of the lists */
    int moment[LM_MOMENT_COUNT]; /* those that are wanted */
    int64_t *sum[LM_MOMENT_COUNT];
};

/* The nodes along an axis to which a particle at g cells gives, and with which weights. sign[1]: what a wall does to
 * moments that are odd in the velocity along the axis. */
struct stencil {
    int node[NODES], odd_sign[NODES];
    double weight[NODES];
};

static struct stencil stencil_at(const struct collector *c, int axis, double g)
{
    struct stencil s;
    const int n = axis == 0 ? c->grid.nx : c->grid.ny;
    const double low = floor(c->shape == LM_LINEAR ? g - 0.5 : g), f = (c->shape == LM_LINEAR ? g - 0.5 : g) - low;
    const int at = (int)low - (c->shape == LM_LINEAR ? 0 : 1);
    if (c->shape == LM_LINEAR) {
        s.weight[0] = 1 - f;
        s.weight[1] = f;
        s.weight[2] = 0;
    } else {
        s.weight[0] = 0.5 * (1 - f) * (1 - f);
        s.weight[1] = 0.75 - (f - 0.5) * (f - 0.5);
        s.weight[2] = 0.5 * f * f;
    }
    for (int k = 0; k < NODES; k++) {
        s.odd_sign[k] = 1;
        s.node[k] = lm_node_inside(&c->grid.sides, axis, n, 0, 1, at + k, &s.odd_sign[k]);
    }
    return s;
}

/* The products of velocities, in units of 2^exponent. */
static void products(const struct collector *c, const double v[3], double out[LM_MOMENT_COUNT])
{
    const double u[3] = {v[0] * c->per_bound, v[1] * c->per_bound, v[2] * c->per_bound};
    const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    const double all[LM_MOMENT_COUNT] = {
        1,           u[0],        u[1],        u[2],          u[0] * u[0],   u[1] * u[1],  u[2] * u[2],
        u[0] * u[1], u[0] * u[2], u[1] * u[2], u[0] * square, u[1] * square, u[2] * square};
    memcpy(out, all, sizeof all);
}

static void add_particle(void *context, double x, double y, const double v[3])
{
    struct collector *c = context;
    const struct stencil sx = stencil_at(c, 0, x / c->grid.dx), sy = stencil_at(c, 1, y / c->grid.dy);
    double product[LM_MOMENT_COUNT];
    products(c, v, product);
    for (int b = 0; b <= c->shape; b++)
        for (int a = 0; a <= c->shape; a++) {
            const size_t at = (size_t)sy.node[b] * (size_t)c->grid.nx + (size_t)sx.node[a];
            const double weight = sx.weight[a] * sy.weight[b] * QUANTA;
            for (int k = 0; k < c->wanted; k++) {
                const int m = c->moment[k];
                const int sign = (powers[m][0] % 2 ? sx.odd_sign[a] : 1) * (powers[m][1] % 2 ? sy.odd_sign[b] : 1);
                c->sum[k][at] += sign * (int64_t)rint(weight * product[m]);
            }
        }
}

/* From quanta to n0 v_A^p. */
static void scale(const struct collector *c, double weight, const uint8_t *solid, double *const out[LM_MOMENT_COUNT])
{
    for (int n = 0; n < c->wanted; n++) {
        const int m = c->moment[n];
        const double unit = ldexp(weight / (c->grid.dx * c->grid.dy), c->exponent * order_of(m) - QUANTA_BITS);
        for (size_t k = 0; k < c->grid.cells; k++)
            out[m][k] = solid && solid[k] ? 0 : (double)c->sum[n][k] * unit;
    }
}

int lm_moments_collect(struct lm_sim *sim, const struct lm_config *config, int species,
                       double *const out[LM_MOMENT_COUNT])
{
    struct collector c = {.grid = lm_config_grid(config), .shape = config->particles.shape};
    struct lm_sim_status now;
    int status = LM_OK;
    lm_sim_status(sim, &now);
    frexp(now.species[species].fastest, &c.exponent);
    c.per_bound = ldexp(1, -c.exponent);
    for (int m = 0; m < LM_MOMENT_COUNT; m++)
        if (out[m])
            c.moment[c.wanted++] = m;
    int64_t *sums = calloc((size_t)c.wanted * c.grid.cells + 1, sizeof *sums);
    uint8_t *solid = config->body_count > 0 ? malloc(c.grid.cells) : NULL;
    if (!sums || (config->body_count > 0 && !solid))
        status = lm_fail(LM_FAILED, "not enough memory for moments of %s", config->species[species].name);
    for (int k = 0; k < c.wanted && !status; k++)
        c.sum[k] = sums + (size_t)k * c.grid.cells;
    if (!status && solid)
        status = lm_body_mask(config, solid);
    if (!status)
        status = lm_output_each_particle(sim, species, add_particle, &c);
    if (!status)
        scale(&c, now.species[species].weight, solid, out);
    free(sums);
    free(solid);
    return status;
}
