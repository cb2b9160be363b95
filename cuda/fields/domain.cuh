/* What kernels need to know of a domain that ends at walls, has bodies or has currents outside the plasma. */
#ifndef LARMOR_FIELDS_DOMAIN_CUH
#define LARMOR_FIELDS_DOMAIN_CUH

#include "core/cells.cuh"

#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/open_side.h"
#include "larmor/physics/fields/side_current.h"

namespace
{

struct domain {
    shape s;
    struct lm_field_sides sides;
    int walls_x, walls_y;
    const uint8_t *solid;            /* NULL without bodies */
    const struct lm_body_node *node; /* in the same way */
    const double *per_density;
    const double *external; /* LM_EXTERNAL_J; NULL: there is none */
};

domain domain_of(const struct lm_gpu *g)
{
    return {shape_of(g),
            g->sides,
            lm_field_walls(&g->sides, 0),
            lm_field_walls(&g->sides, 1),
            g->solid,
            g->node,
            g->array[LM_PER_DENSITY],
            g->base.setup.external_current ? g->array[LM_EXTERNAL_J] : NULL};
}

/* J_ext, standing on element k. */
__device__ __forceinline__ struct lm_view external_at(const domain &d, size_t k)
{
    const struct lm_view none = {NULL, NULL, NULL, 0};
    return d.external ? view_of(d.external, d.s, k) : none;
}

/* J of the plasma in cell (i, j), which is `step` elements away. */
__device__ __forceinline__ struct lm_vector current_at(const domain &d, int i, int j, const struct lm_view &b,
                                                       const struct lm_view &external, long step,
                                                       const struct lm_ohm &o)
{
    return lm_current_in_cell(&d.sides, d.s.nx, d.s.ny, i, j, lm_view_at(b, step), lm_external_at(external, step),
                              o.inv_dx, o.inv_dy);
}

/* The motional field of cell (i, j), on which b and `external` stand. `here`: J there; ji: the ion current. */
__device__ __forceinline__ struct lm_motional motional_at(const domain &d, int i, int j, const struct lm_view &b,
                                                          const struct lm_view &external, const struct lm_vector &here,
                                                          const struct lm_vector &ji, double per_density,
                                                          const struct lm_ohm &o)
{
    /* Patches of 2 x 2 cells whose last one is this: what the body reads of J. */
    const double jx[4] = {0, 0, current_at(d, i - 1, j, b, external, -1, o).x, here.x},
                 jy[4] = {0, current_at(d, i, j - 1, b, external, -d.s.stride, o).y, 0, here.y},
                 jz[4] = {0, 0, 0, here.z};
    return lm_motional_field({jx + 3, jy + 3, jz + 3, 2}, b, ji, per_density);
}

/* For substeps of B of this length. */
inline struct lm_open_sides open_sides_of(const struct lm_gpu *g, double substep, const double *current,
                                          const double *b)
{
    const size_t p = g->pitch;
    const double *const currents[2] = {current, current + p}, *const fields[3] = {b, b + p, b + 2 * p};
    const struct lm_strip_window *strips[LM_SIDES];
    lm_gpu_strip_windows(g, strips);
    return lm_open_sides_of(&g->base.setup.grid, &g->sides, substep, currents, g->array[LM_FLOORED], strips, g->solid,
                            fields);
}

/* Components of E on and beyond the sides of axes that do not depend on each other. */
struct open_components {
    int count, axis[3], component[3];
};

/* The same one after the other. */
struct open_order {
    int count;
    open_components of[3];
};

/* An order of lm_fill_open_e. It matters where sides of both axes are open. */
inline open_order open_order_of(const struct lm_gpu *g)
{
    const bool x = lm_is_open(&g->sides, LM_X_MIN) || lm_is_open(&g->sides, LM_X_MAX),
               y = lm_is_open(&g->sides, LM_Y_MIN) || lm_is_open(&g->sides, LM_Y_MAX);
    if (x && y)
        return {3, {{2, {0, 1}, {0, 1}}, {3, {0, 1, 1}, {1, 2, 0}}, {1, {0}, {2}}}};
    if (x)
        return {1, {{3, {0, 0, 0}, {0, 1, 2}}}};
    if (y)
        return {1, {{3, {1, 1, 1}, {0, 1, 2}}}};
    return {};
}

} // namespace

#endif
