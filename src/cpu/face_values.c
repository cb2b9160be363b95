/* CPU backend: values of background fields on the faces, row by row. The bodies of the loops are in
 * larmor/physics/fluid/face_value.h. No rate of this file is recorded; `larmor bench advect --backend cpu` measures it.
 */
#include "cpu/fields.h"
#include "larmor/physics/fluid/face_value.h"

static inline __attribute__((always_inline)) void values_of_row(int scheme, int single, const struct lm_bounds *bounds,
                                                                const struct lm_cpu_faces *r, double *value)
{
    const double *const u = r->u;
    for (int f = 0; f < r->count; f++) {
        double c[LM_CPU_ACROSS];
        LM_UNROLL
        for (int m = 0; m < 2 * lm_scheme_reach(scheme); m++)
            c[m] = r->c[m][f];
        value[f] = lm_face_value(scheme, single, bounds, c, u[f]);
    }
}

typedef void row_function(const struct lm_bounds *bounds, const struct lm_cpu_faces *r, double *restrict value);
typedef double near_body_function(const struct lm_bounds *bounds, const double *c, double u, int before, int behind,
                                  int is_cut);

/* Functions for each scheme and precision, so that the compiler vectorises the loop over the faces. */
#define SCHEME(scheme, single)                                                                                         \
    static void row_##scheme##_##single(const struct lm_bounds *bounds, const struct lm_cpu_faces *r,                  \
                                        double *restrict value)                                                        \
    {                                                                                                                  \
        if (bounds)                                                                                                    \
            values_of_row(scheme, single, bounds, r, value);                                                           \
        else                                                                                                           \
            values_of_row(scheme, single, NULL, r, value);                                                             \
    }                                                                                                                  \
    static double near_body_##scheme##_##single(const struct lm_bounds *bounds, const double *c, double u, int before, \
                                                int behind, int is_cut)                                                \
    {                                                                                                                  \
        return lm_face_value_near_body(scheme, single, bounds, c, u, before, behind, is_cut);                          \
    }
SCHEME(0, 0)
SCHEME(1, 0)
SCHEME(2, 0)
SCHEME(3, 0)
SCHEME(4, 0)
SCHEME(5, 0)
SCHEME(2, 1)
SCHEME(3, 1)
SCHEME(4, 1)
SCHEME(5, 1)

static const struct {
    row_function *row;
    near_body_function *near_body;
} schemes[6][2] = {
    {{row_0_0, near_body_0_0}, {row_0_0, near_body_0_0}}, {{row_1_0, near_body_1_0}, {row_1_0, near_body_1_0}},
    {{row_2_0, near_body_2_0}, {row_2_1, near_body_2_1}}, {{row_3_0, near_body_3_0}, {row_3_1, near_body_3_1}},
    {{row_4_0, near_body_4_0}, {row_4_1, near_body_4_1}}, {{row_5_0, near_body_5_0}, {row_5_1, near_body_5_1}}};

int lm_cpu_inside(int k, int n, int periodic)
{
    return periodic ? ((k % n) + n) % n : k < 0 ? 0 : k >= n ? n - 1 : k;
}

struct lm_cpu_faces lm_cpu_faces_x(const struct lm_cpu *c, int reach, int j, const double *field,
                                   const double *velocity, double *line)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int periodic = !lm_has_walls(&g->sides, 0);
    const double *q = field + lm_at(g, 0, j);
    struct lm_cpu_faces faces = {.count = g->nx + 1, .u = velocity + lm_at(g, -1, j)};
    line += LM_WENO_MOST;
    for (int i = -LM_WENO_MOST; i < 0; i++) {
        line[i] = q[lm_cpu_inside(i, g->nx, periodic)];
        line[g->nx - 1 - i] = q[lm_cpu_inside(g->nx - 1 - i, g->nx, periodic)];
    }
    memcpy(line, q, (size_t)g->nx * sizeof *line);
    for (int m = 0; m < 2 * reach; m++)
        faces.c[m] = line + m - reach;
    return faces;
}

struct lm_cpu_faces lm_cpu_faces_y(const struct lm_cpu *c, int reach, int j, const double *field,
                                   const double *velocity)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int periodic = !lm_has_walls(&g->sides, 1);
    struct lm_cpu_faces faces = {.count = g->nx, .u = velocity + lm_at(g, 0, j)};
    for (int m = 0; m < 2 * reach; m++)
        faces.c[m] = field + lm_at(g, 0, lm_cpu_inside(j + 1 - reach + m, g->ny, periodic));
    return faces;
}

void lm_cpu_face_values(const struct lm_background *f, const struct lm_bounds *bounds, const struct lm_cpu_faces *faces,
                        double *value)
{
    schemes[f->scheme][f->single].row(bounds, faces, value);
}

struct lm_cpu_special_face lm_cpu_special_face(const struct lm_cpu *c, int axis, long k, double u)
{
    const long next = k + (axis == 0 ? 1 : c->base.setup.grid.stride);
    const uint8_t a = c->clearance[k], b = c->clearance[next];
    return (struct lm_cpu_special_face){
        axis == 0 ? lm_clearance_x(a) : lm_clearance_y(a), axis == 0 ? lm_clearance_x(b) : lm_clearance_y(b),
        lm_volume_at(c->open, u > 0.0 ? k : next) != 1.0, lm_opening_at(c->open, axis, k)};
}

double lm_cpu_value_near_body(const struct lm_background *field, const struct lm_bounds *bounds,
                              const struct lm_cpu_faces *faces, int f, const struct lm_cpu_special_face *at)
{
    const double u = faces->u[f];
    const int reach = lm_scheme_reach(field->scheme), forward = u > 0.0, clearance = forward ? at->before : at->behind;
    const int second = (forward ? at->behind : at->before) > 1; /* the second cell beyond the face is free */
    const int first = reach - clearance + !forward, last = first + 2 * clearance - 2;
    double c[LM_CPU_ACROSS] = {0};
    for (int m = 0; m < 2 * reach; m++)
        if ((m >= first && m <= last) || m == reach - 1 || m == reach ||
            (second && m == (forward ? reach + 1 : reach - 2)))
            c[m] = faces->c[m][f];
    return schemes[field->scheme][field->single].near_body(bounds, c, u, at->before, at->behind, at->is_cut);
}
