/* CPU backend: B where it diffuses fast (larmor/physics/fields/relaxation.h). */
#include "cpu/fields.h"

static struct lm_relaxation relaxation_of(const struct lm_cpu *c, double dt, int stages)
{
    const struct lm_setup *s = &c->base.setup;
    return (struct lm_relaxation){
        .external = lm_cpu_external(c),
        .eta = dt > 0 ? c->array[LM_ETA] : NULL,
        .substep_eta = lm_most_in_substeps(&s->ohm),
        .eta_share = lm_relaxation_share(dt, stages, lm_largest_k2(&s->grid, s->ohm.inv_dx, s->ohm.inv_dy)),
        .body = {c->solid, c->node, c->array[LM_PER_DENSITY]},
        .sides = c->sides,
        .nx = s->grid.nx,
        .ny = s->grid.ny,
        .inv_dx = s->ohm.inv_dx,
        .inv_dy = s->ohm.inv_dy};
}

/* A stage. `to` holds the result of the stage before the last one and takes that of this one. */
static void advance_stage(struct lm_cpu *c, int number, struct lm_relaxation f, double *const last[3],
                          double *const to[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_relaxation_stage stage = lm_relaxation_stage(number, lm_largest_k2(g, f.inv_dx, f.inv_dy));
    const int beyond_x = c->walls[0] ? LM_GHOST : 0, beyond_y = c->walls[1] ? LM_GHOST : 0;
    f.b = lm_cpu_view(c, last);
    LM_ROWS(c, beyond_y, beyond_y - c->walls[1])
    for (int i = -beyond_x; i < g->nx + beyond_x - c->walls[0]; i++) {
        const size_t k = lm_at(g, i, j);
        struct lm_vector v;
        if (!lm_relaxation_rate(&f, i, j, &v) && number > 1)
            continue;
        const double rate[3] = {v.x, v.y, v.z};
        for (int d = 0; d < 3; d++)
            to[d][k] = lm_relaxed(stage, lm_is_held(&c->sides, d, i, j, g->nx, g->ny), last[d][k],
                                  number == 1 ? last[d][k] : to[d][k], rate[d]);
    }
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, to[d]);
}

int lm_cpu_relax_b(struct lm_backend *b, double dt, int stages)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_relaxation f = relaxation_of(c, dt, stages);
    double *const *state = c->array + LM_B;
    if (f.eta && b->setup.local_eta)
        lm_halo_refresh(b->setup.halo, &c->array[LM_ETA], 1);
    for (int number = 1; number <= stages; number++) {
        const int odd = number % 2;
        advance_stage(c, number, f, odd ? state : c->stage, odd ? c->stage : state);
        if (number % LM_RELAXATION_EXCHANGE == 0) {
            lm_halo_refresh(b->setup.halo, state, 3);
            lm_halo_refresh(b->setup.halo, c->stage, 3);
        }
    }
    return LM_OK;
}
