/* CPU backend: ions that the run follows (larmor/physics/particles/follow.h). */
#include "cpu/particles.h"
#include "larmor/physics/particles/follow.h"

/* `pass`: the step, or NULL, as in the seam. */
static struct lm_follow follow_of(struct lm_cpu *c, int species, const struct lm_pass *pass)
{
    const struct lm_setup *s = &c->base.setup;
    struct lm_follow f = {
        .stride = s->grid.stride, .tiling = tiling(c), .place = s->grid.place, .takes_step = pass != NULL};
    lm_cpu_add_force(c, species);
    window_fields(c, species, f.field);
    if (!pass)
        return f;
    f.step = lm_step_of(s, species, pass);
    f.open = lm_setup_is_open(s);
    f.surfaces = surfaces_of(c, species, pass);
    f.collides = pass->collisions != NULL;
    if (!f.collides)
        return f;
    f.collisions = *pass->collisions;
    f.collisions.stopping = s->species[species].stopping;
    for (int k = 0; k < LM_GAS_FIELDS && f.collisions.gas >= 0; k++)
        f.gas[k] = gas_array(c, f.collisions.gas, k);
    return f;
}

int LM_P(lm_cpu_follow)(struct lm_backend *b, int species, const struct lm_pass *pass, uint64_t count,
                        struct lm_tracked *ions)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_follow f = follow_of(c, species, pass);
    if (f.collides && f.collisions.gas >= 0)
        LM_P(lm_cpu_fill_gas_ghosts)(c, f.collisions.gas);
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (uint64_t k = 0; k < count; k++)
        lm_follow_ion(order_of(c), &f, &ions[k]);
    return LM_OK;
}
