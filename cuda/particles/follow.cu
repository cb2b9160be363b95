/* CUDA backend: ions that the run follows (larmor/physics/particles/follow.h). A thread takes an ion. Compiled for each
 * precision. */
#include "particles/direct.cuh"

#include "larmor/physics/particles/follow.h"

namespace
{

template <int ORDER>
__global__ void follow_kernel(const __grid_constant__ struct lm_follow around, struct lm_tracked *ions, uint32_t count)
{
    const uint32_t k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= count)
        return;
    struct lm_tracked ion = ions[k];
    lm_follow_ion(ORDER, &around, &ion);
    ions[k] = ion;
}

/* `pass`: the step, or NULL, as in the seam. */
struct lm_follow follow_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    const struct lm_setup *s = &g->base.setup;
    const fields all = fields_of(g, species);
    struct lm_follow f = {};
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        f.field[d] = all.component(d);
    f.stride = all.stride;
    f.tiling = g->tiling;
    f.place = s->grid.place;
    f.takes_step = pass != NULL;
    if (!pass)
        return f;
    f.step = lm_step_of(s, species, pass);
    f.open = g->open;
    f.surfaces = lm_surfaces_make(s, species, pass, g->body, g->cut, g->near_body);
    f.collides = pass->collisions != NULL;
    if (!f.collides)
        return f;
    f.collisions = *pass->collisions;
    f.collisions.stopping = lm_stopping_in_memory(f.collisions.stopping, g->species[species].stopping);
    for (int k = 0; k < LM_GAS_FIELDS && f.collisions.gas >= 0; k++)
        f.gas[k] = g->array[lm_gas_array(f.collisions.gas, k)];
    return f;
}

} // namespace

int LM_P(lm_gpu_follow)(struct lm_backend *b, int species, const struct lm_pass *pass, uint64_t count,
                        struct lm_tracked *ions)
{
    lm_gpu_range range("ions that are followed");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_follow f = follow_of(g, species, pass);
    auto kernel = b->setup.shape == LM_LINEAR ? follow_kernel<1> : follow_kernel<2>;
    if (f.collides && f.collisions.gas >= 0 && count > 0)
        lm_gpu_fill_gas(g, f.collisions.gas);
    return lm_gpu_in_pieces(g, count, ions, "following ions", [&](struct lm_tracked *device, uint32_t n) {
        kernel<<<particle_blocks(n), THREADS, 0, g->stream>>>(f, device, n);
    });
}
