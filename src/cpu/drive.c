/* CPU backend: what drives the plasma from outside (larmor/physics/fields/driving.h). */
#include "cpu/fields.h"
#include "cpu/strips.h"
#include "larmor/physics/fields/driving.h"

/* J_ext of one component. */
static void external_current(struct lm_cpu *c, int d, double t)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_program *p = &c->base.setup.driving->current[d];
    const int beyond_x = lm_has_walls(&g->sides, 0) ? LM_GHOST : 0,
              beyond_y = lm_has_walls(&g->sides, 1) ? LM_GHOST : 0;
    const double *magnets = c->array[LM_MAGNET_J + d];
    double *to = c->array[LM_EXTERNAL_J + d];
    LM_ROWS(c, beyond_y, beyond_y)
    for (int i = -beyond_x; i < g->nx + beyond_x; i++) {
        const size_t k = lm_at(g, i, j);
        to[k] = magnets[k] + lm_driven_value(p, g, lm_place_of_e(d), i, j, t);
    }
    lm_grid_wrap(g, to);
}

/* E of one component, and that of the push, where it is given. */
static void given_e(struct lm_cpu *c, int d, double t)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_driving *drive = c->base.setup.driving;
    double *e = c->array[LM_E + d], *push = c->array[LM_PUSH_E + d];
    LM_ROWS(c, LM_GHOST, LM_GHOST)
    for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
        const size_t k = lm_at(g, i, j);
        if (drive->everywhere || lm_is_given_e(&c->sides, d, i, j, g->nx, g->ny))
            e[k] = lm_driven_value(&drive->e[d], g, lm_place_of_e(d), i, j, t);
        if (drive->everywhere || lm_is_given_push(&c->sides, i, j, g->nx, g->ny))
            push[k] = lm_driven_value(&drive->e[d], g, lm_place_of_push(), i, j, t);
    }
    lm_grid_wrap(g, e);
    lm_grid_wrap(g, push);
}

/* The cells with the ghosts in which a force is evaluated: beyond walls too, where particles feel the E of the push. */
static struct lm_cells forced_cells(const struct lm_grid *g)
{
    const int x = lm_has_walls(&g->sides, 0) ? LM_GHOST : 0, y = lm_has_walls(&g->sides, 1) ? LM_GHOST : 0;
    return (struct lm_cells){-x, g->nx + x, -y, g->ny + y};
}

void lm_cpu_add_force(struct lm_cpu *c, int species)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_grid *g = &s->grid;
    const struct lm_cells cells = forced_cells(g);
    double *const *to = c->species[species].push;
    lm_cpu_fill_push_of_strips(c);
    const double charge = s->species[species].charge;
    for (int d = 0; d < 3 && to[d]; d++) {
        const double *all = c->array[LM_PUSH_E + d], *friction = c->array[LM_FRICTION_E + 3 * species + d];
#pragma omp parallel for schedule(static) num_threads(c->grid_threads)
        for (int j = cells.from_y; j < cells.to_y; j++)
            for (int i = cells.from_x; i < cells.to_x; i++) {
                const size_t k = lm_at(g, i, j);
                to[d][k] = lm_own_push(all[k], friction ? friction[k] : 0.0, &s->driving->force[species][d], g, i, j,
                                       c->driving_time, charge);
            }
        lm_grid_wrap(g, to[d]);
    }
}

/* The largest |F_d/Z|. */
static double largest_force(const struct lm_cpu *c, int species, int d)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_cells cells = forced_cells(&s->grid);
    const double charge = s->species[species].charge;
    uint64_t largest = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : largest)
    for (int j = cells.from_y; j < cells.to_y; j++)
        for (int i = cells.from_x; i < cells.to_x; i++)
            largest = lm_larger_size(
                largest, lm_force_field(&s->driving->force[species][d], &s->grid, i, j, c->driving_time, charge));
    return lm_from_bits(largest);
}

int lm_cpu_drive(struct lm_backend *b, double t, double force[LM_MAX_SPECIES][3])
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_driving *drive = b->setup.driving;
    c->driving_time = t;
    for (int d = 0; d < 3; d++) {
        if (b->setup.external_current)
            external_current(c, d, t);
        if (drive->e[d].length > 0)
            given_e(c, d, t);
        for (int s = 0; s < LM_MAX_SPECIES; s++)
            force[s][d] = drive->forced[s] ? largest_force(c, s, d) : 0.0;
    }
    return LM_OK;
}
