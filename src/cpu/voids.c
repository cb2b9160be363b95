/* CPU backend: B in voids (larmor/physics/fields/void.h). */
#include "cpu/fields.h"

static struct lm_void_fields fields_of(const struct lm_cpu *c, double *const b[3])
{
    const struct lm_setup *s = &c->base.setup;
    return (struct lm_void_fields){.b = lm_cpu_view(c, b),
                                   .external = lm_cpu_external(c),
                                   .per_density = c->array[LM_PER_DENSITY],
                                   .sides = c->sides,
                                   .nx = s->grid.nx,
                                   .ny = s->grid.ny,
                                   .inv_dx = s->ohm.inv_dx,
                                   .inv_dy = s->ohm.inv_dy};
}

/* A stage. `to` holds the result of the stage before the last one and takes that of this one. */
static void advance_stage(struct lm_cpu *c, int number, double *const last[3], double *const to[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct lm_void_fields f = fields_of(c, last);
    const struct lm_void_stage stage = lm_void_stage(number, lm_largest_k2(g, o->inv_dx, o->inv_dy));
    const int beyond_x = c->walls[0] ? LM_GHOST : 0, beyond_y = c->walls[1] ? LM_GHOST : 0;
    LM_ROWS(c, beyond_y, beyond_y - c->walls[1])
    for (int i = -beyond_x; i < g->nx + beyond_x - c->walls[0]; i++) {
        const size_t k = lm_at(g, i, j);
        struct lm_vector v;
        if (!lm_void_rate(&f, i, j, &v) && number > 1)
            continue;
        const double rate[3] = {v.x, v.y, v.z};
        for (int d = 0; d < 3; d++)
            to[d][k] = lm_void_next(stage, lm_is_held(&c->sides, d, i, j, g->nx, g->ny), last[d][k],
                                    number == 1 ? last[d][k] : to[d][k], rate[d]);
    }
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, to[d]);
}

int lm_cpu_relax_voids(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    double *const *state = c->array + LM_B;
    for (int number = 1; number <= LM_VOID_STAGES; number++) {
        const int odd = number % 2;
        advance_stage(c, number, odd ? state : c->stage, odd ? c->stage : state);
        if (number % LM_VOID_EXCHANGE == 0) {
            lm_halo_refresh(b->setup.halo, state, 3);
            lm_halo_refresh(b->setup.halo, c->stage, 3);
        }
    }
    return LM_OK;
}
