/* CPU backend: friction between electrons and single species (larmor/physics/fields/electron_friction.h). */
#include "backend/field_boundaries.h"
#include "backend/friction.h"
#include "cpu/fields.h"

static struct lm_friction friction_of(const struct lm_cpu *c, struct lm_level_weights at, struct lm_view b)
{
    const struct lm_setup *s = &c->base.setup;
    struct lm_friction f = lm_friction_of(s, c->array, at, s->driving->friction_eta, c->driving_time);
    f.current = lm_cpu_view(c, c->curl);
    f.b = b;
    f.solid = c->solid;
    return f;
}

void lm_cpu_add_friction(struct lm_cpu *c, struct lm_view b, struct lm_level_weights at)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int up_x = 2 * c->walls[0], up_y = 2 * c->walls[1];
    double *const *store = c->array + LM_FRICTION_FORCE;
    const struct lm_friction f = friction_of(c, at, b);
    LM_ROWS(c, c->walls[1], up_y)
    for (int i = -c->walls[0]; i < g->nx + up_x; i++) {
        const size_t k = lm_at(g, i, j);
        const struct lm_cell_friction sum = lm_friction_in_cell(&f, i, j, (long)k);
        c->array[LM_ETA][k] += sum.eta;
        lm_cpu_put_vector(store, k, sum.force);
    }
    lm_grid_wrap(g, c->array[LM_ETA]);
    for (int d = 0; d < 3; d++) {
        lm_grid_wrap(g, store[d]);
        LM_ROWS(c, c->walls[1], 2)
        for (int i = -c->walls[0]; i < g->nx + 2; i++)
            c->motional[d][lm_at(g, i, j)] += store[d][lm_at(g, i, j)];
    }
}

/* In the cells: what ions of the species number `which` of the list feel; which < 0: what all ions feel, added to `to`.
 */
static void field_of(struct lm_cpu *c, const struct lm_friction *f, int which, double *const to[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        struct lm_vector e;
        if (which < 0) {
            const struct lm_vector add = lm_friction_of_current(f, i, j, (long)k);
            e = lm_cpu_vector(to, k);
            e.x += add.x, e.y += add.y, e.z += add.z;
        } else {
            e = lm_friction_field(f, which, i, j, (long)k);
        }
        lm_cpu_put_vector(to, k, e);
    }
}

void lm_cpu_friction_fields(struct lm_cpu *c, struct lm_level_weights at)
{
    const struct lm_friction f = friction_of(c, at, lm_cpu_view(c, c->array + LM_B));
    field_of(c, &f, -1, c->array + LM_PUSH_E);
    for (int which = 0; which < f.count; which++) {
        double *const *to = c->array + LM_FRICTION_E + 3 * f.species[which];
        field_of(c, &f, which, to);
        for (int d = 0; d < 3; d++)
            lm_cpu_smooth_push(c, to[d], d, LM_FILL_PUSH_E);
        if (lm_halo_needs_moments(c->base.setup.halo))
            lm_halo_refresh(c->base.setup.halo, to, 3);
    }
}

void lm_cpu_add_friction_heat(struct lm_cpu *c, struct lm_level_weights at, double *heat)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_friction f = friction_of(c, at, lm_cpu_view(c, c->array + LM_B));
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        heat[k] += lm_friction_heat(&f, i, j, (long)k);
    }
}

void lm_cpu_survey_friction(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_cells cells = lm_own_and_beyond(g, c->walls[0] ? LM_GHOST : 0, c->walls[1] ? LM_GHOST : 0);
    for (int k = 0; k < 3 * c->base.setup.friction_species; k++) {
        const int species = lm_friction_species(&c->base.setup, k / 3);
        const double *e = c->array[LM_FRICTION_E + 3 * species + k % 3];
        uint64_t largest = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : largest)
        for (int j = cells.from_y; j < cells.to_y; j++)
            for (int i = cells.from_x; i < cells.to_x; i++)
                largest = lm_larger_size(largest, e[lm_at(g, i, j)]);
        c->control.friction_e[species][k % 3] = lm_from_bits(largest);
    }
}
