/* CPU backend: memory. */
#include "backend/field_boundaries.h"
#include "backend/work_arrays.h"
#include "cpu/fields.h"
#include "cpu/strips.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/fluid/absorption.h"
#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/fluid/face_value.h"

/* Zeroed in parallel, so that the rows of each thread are near it. */
static double *grid_array(struct lm_cpu *c)
{
    const size_t size = c->base.setup.grid.size;
    double *a = lm_pool_take(&c->pool, size * sizeof *a);
    if (!a)
        return NULL;
#pragma omp parallel for num_threads(c->threads)
    for (size_t k = 0; k < size; k++)
        a[k] = 0.0;
    return a;
}

/* Copies what the setup lends. */
static void allocate_surfaces(struct lm_cpu *c)
{
    struct lm_setup *s = &c->base.setup;
    struct lm_map_bins *m = &s->maps;
    struct lm_obstacles *const obstacles = &s->bodies.obstacles;
    s->bodies.mask = lm_pool_copy(&c->pool, s->bodies.mask, s->grid.cells);
    obstacles->of = lm_pool_copy(&c->pool, obstacles->of, s->grid.cells);
    obstacles->cut = lm_pool_copy(&c->pool, obstacles->cut, s->grid.cells * sizeof *obstacles->cut);
    m->cos2 = lm_pool_copy(&c->pool, m->cos2, (size_t)m->angles * sizeof *m->cos2);
    m->energy = lm_pool_copy(&c->pool, m->energy, (size_t)(m->energies + 1) * sizeof *m->energy);
    m->faces = lm_pool_copy(&c->pool, m->faces, m->first[LM_SURFACES] * sizeof *m->faces);
    for (int k = 0; k < s->species_count && m->angles > 0; k++)
        c->species[k].map = lm_pool_zeros(&c->pool, lm_map_size(m), sizeof *c->species[k].map);
    if (s->bodies.count == 0)
        return;
    c->near_body = lm_pool_take(&c->pool, s->grid.cells);
    c->tile_has_body = lm_pool_take(&c->pool, (size_t)c->tiling.nx * (size_t)c->tiling.ny);
    c->factor = lm_pool_take(&c->pool, s->grid.cells * sizeof *c->factor);
    c->solid = lm_pool_take(&c->pool, s->grid.size);
    c->node = lm_pool_take(&c->pool, 3 * s->grid.size * sizeof *c->node);
    if (c->pool.failed)
        return;
    lm_surfaces_mark(s, c->near_body, c->tile_has_body);
    lm_surfaces_factors(s, c->factor);
    obstacles->factor = NULL; /* it was lent */
    lm_fill_solid(s, c->solid);
    c->pool.failed |= lm_fill_nodes(s, c->node) != LM_OK;
    s->bodies.node = NULL; /* it was lent */
}

static int is_at_body(const struct lm_cpu *c, long k)
{
    const struct lm_body_node *n = c->node + 3 * k;
    return n[0].kind != LM_NODE_PLASMA || n[1].kind != LM_NODE_PLASMA || n[2].kind != LM_NODE_PLASMA;
}

/* Lists the cells of which a node is at a body, where lm_cpu_electric_field finds E. */
static void list_cells_at_bodies(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int columns = g->nx + 1 - c->walls[0], rows = g->ny + 1 - c->walls[1];
    struct lm_cpu_cells *list = &c->at_bodies;
    size_t count = 0;
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < columns; i++)
            count += (size_t)is_at_body(c, (long)lm_at(g, i, j));
    list->start = lm_pool_zeros(&c->pool, (size_t)rows + 1, sizeof *list->start);
    list->cell = lm_pool_take(&c->pool, (count + 1) * sizeof *list->cell);
    for (int j = 0; j < rows && !c->pool.failed; j++) {
        size_t n = list->start[j];
        for (int i = 0; i < columns; i++)
            if (is_at_body(c, (long)lm_at(g, i, j)))
                list->cell[n++] = (long)lm_at(g, i, j);
        list->start[j + 1] = n;
    }
}

/* Marks rows in which a conductor leaves a part of a cell or an edge, ghost cells included. */
static void mark_narrow_rows(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    c->row_is_narrow = lm_pool_zeros(&c->pool, (size_t)g->ny, 1);
    for (int j = 0; j < g->ny && !c->pool.failed; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++)
            for (int d = 0; d < 3; d++)
                c->row_is_narrow[j] |= c->node[3 * lm_at(g, i, j) + (size_t)d].more != 0;
}

/* Tables of stopping, and the sums of what collisions transfer to a gas. */
static void allocate_gas(struct lm_cpu *c)
{
    struct lm_setup *s = &c->base.setup;
    int any = 0;
    for (int k = 0; k < s->species_count; k++) {
        struct lm_backend_species *p = &s->species[k];
        p->stopping = lm_stopping_in_memory(p->stopping,
                                            lm_pool_copy(&c->pool, p->stopping.row, lm_stopping_bytes(&p->stopping)));
        any |= p->has_gas;
    }
    for (int k = 0; k < LM_GAS_SUMS && any; k++)
        c->gas_transfer[k] = lm_pool_zeros(&c->pool, s->grid.cells, sizeof **c->gas_transfer);
}

/* The arrays of one background field. Fields that ions or electrons carry share the velocities. */
static void allocate_background(struct lm_cpu *c, int f)
{
    const struct lm_background *field = &c->base.setup.background[f];
    const int flow = field->flow == LM_FLOW_ION ? 0 : 2;
    for (int k = 0; k < 4 && !lm_has_own_flow(field); k++)
        c->flow[k] = c->flow[k] ? c->flow[k] : grid_array(c);
    c->array[LM_BACKGROUND + f] = grid_array(c);
    for (int axis = 0; axis < 2; axis++)
        c->array[LM_BACKGROUND_X + axis * LM_MAX_BACKGROUNDS + f] =
            lm_has_own_flow(field) ? grid_array(c) : c->flow[flow + axis];
    if (field->has_source)
        c->array[LM_BACKGROUND_SOURCE + f] = grid_array(c);
}

/* The arrays of the background fields, and the clearance of their stencils. Returns 0 without memory. */
static int allocate_backgrounds(struct lm_cpu *c)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_grid *g = &s->grid;
    for (int f = 0; f < s->background_count; f++)
        allocate_background(c, f);
    if (s->background_count == 0)
        return 1;
    if (s->ohm.evolved)
        c->counted = grid_array(c);
    c->clearance = lm_pool_take(&c->pool, g->size);
    c->row_near_body = lm_pool_zeros(&c->pool, (size_t)g->ny, 1);
    if (lm_any_cut(g, &s->bodies)) {
        c->open = lm_pool_take(&c->pool, g->size * sizeof *c->open);
        c->passage = lm_pool_take(&c->pool, g->size * sizeof *c->passage);
    }
    if (c->pool.failed || lm_stencil_clearance(g, s->bodies.mask, c->clearance))
        return 0;
    if (c->open) {
        lm_openings_fill(g, &s->bodies, c->open);
        lm_passages_fill(g, &s->bodies, c->passage);
    }
    if (lm_has_surfaces(s)) {
        const int sides = lm_surface_sides(s);
        c->at_surface_count = lm_surface_cells(g, &s->bodies, c->open, sides, NULL);
        c->at_surface = lm_pool_take(&c->pool, c->at_surface_count * sizeof *c->at_surface);
        c->of_surface = lm_pool_take(&c->pool, c->at_surface_count * sizeof *c->of_surface);
        if (!c->at_surface || !c->of_surface)
            return 0;
        lm_surface_cells(g, &s->bodies, c->open, sides, c->at_surface);
    }
    for (int j = 0; j < g->ny; j++)
        for (int i = -1; i <= g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            c->row_near_body[j] |= !lm_has_full_clearance(c->clearance[k]) || (c->open && lm_is_cut(&c->open[k]));
        }
    return 1;
}

static void allocate_exchange(struct lm_cpu *c)
{
    const size_t cells = c->base.setup.grid.cells;
    if (!lm_any_exchanges(&c->base.setup))
        return;
    c->exchange.temperature = lm_pool_zeros(&c->pool, cells, sizeof *c->exchange.temperature);
    c->exchange.cells = lm_pool_take(&c->pool, cells * sizeof *c->exchange.cells);
    c->exchange.sums = lm_pool_zeros(&c->pool, cells, LM_CELL_SUMS * sizeof *c->exchange.sums);
    if (c->base.setup.halo)
        c->exchange.requests = lm_pool_zeros(&c->pool, cells, sizeof *c->exchange.requests);
}

/* The state and the work arrays of the fields. */
static void allocate_fields(struct lm_cpu *c)
{
    const struct lm_setup *s = &c->base.setup;
    double **const vectors[] = {c->curl, c->ahead, c->motional, c->e, c->stage, c->result};
    _Static_assert(4 + 3 * sizeof vectors / sizeof *vectors + 2 == LM_CPU_WORK_ARRAYS, "as the estimate of the memory");
    for (int k = 0; k < LM_SPECIES_N + s->species_count; k++)
        c->array[k] = grid_array(c);
    for (int k = 0; k < 3 * s->species_count; k++)
        c->species[k / 3].push[k % 3] = lm_has_own_push(s, k / 3) ? grid_array(c) : NULL;
    for (int k = 0; k < LM_FRICTION_STATE * s->friction_species; k++)
        c->array[lm_friction_array(lm_friction_species(s, k / LM_FRICTION_STATE), k % LM_FRICTION_STATE)] =
            grid_array(c);
    for (int k = 0; k < 4 * s->friction_species; k++)
        c->array[LM_SPECIES_NEW + 4 * lm_friction_species(s, k / 4) + k % 4] = grid_array(c);
    for (int d = 0; d < 3 && s->friction_species > 0; d++)
        c->array[LM_FRICTION_FORCE + d] = grid_array(c);
    if (s->local_eta)
        c->array[LM_GIVEN_ETA] = grid_array(c);
    for (int k = LM_MAGNET_J; k < LM_EXTERNAL_J + 3 && s->external_current; k++)
        c->array[k] = grid_array(c);
    for (int k = 0; k < LM_BORN_ARRAYS * s->ionisation_count; k++)
        c->array[LM_BORN + k % LM_BORN_ARRAYS * LM_MAX_IONISATIONS + k / LM_BORN_ARRAYS] = grid_array(c);
    for (int k = 0; k < 4; k++) {
        c->raw[k] = grid_array(c);
        c->sums[k] = lm_pool_zeros(&c->pool, s->grid.cells, sizeof **c->sums);
    }
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++)
        for (int d = 0; d < 3; d++)
            vectors[v][d] = grid_array(c);
    c->slip = grid_array(c);
    c->spare = grid_array(c);
    c->void_node = lm_pool_zeros(&c->pool, s->grid.size, 1);
    c->relaxes = lm_pool_zeros(&c->pool, s->grid.size, 1);
    c->row_lock = lm_pool_take(&c->pool, (size_t)s->grid.ny * sizeof *c->row_lock);
    for (int j = 0; c->row_lock && j < s->grid.ny; j++)
        omp_init_lock(&c->row_lock[j]);
}

/* Lists the nodes of a component of E beyond walls, as far as Faraday's law reads them. */
static void list_nodes_beyond(struct lm_cpu *c, int component)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_cells in = lm_cpu_nodes(c, component);
    const int more_x = c->walls[0] ? LM_GHOST : 0, more_y = c->walls[1] ? LM_GHOST : 0;
    const int columns = g->nx + 1 + 2 * more_x, rows = g->ny + 1 + 2 * more_y;
    struct lm_cpu_beyond *list = &c->beyond[component];
    if (!more_x && !more_y)
        return;
    list->node = lm_pool_take(
        &c->pool, ((size_t)columns * (size_t)rows - (size_t)(in.to_x - in.from_x) * (size_t)(in.to_y - in.from_y)) *
                      sizeof *list->node);
    for (int j = -more_y; j < g->ny + (more_y ? more_y : 1) && list->node; j++)
        for (int i = -more_x; i < g->nx + (more_x ? more_x : 1); i++) {
            int sign = 1;
            const int x = lm_inside_node(&c->sides, 0, g->nx, component == 0, i, &sign),
                      y = lm_inside_node(&c->sides, 1, g->ny, component == 1, j, &sign);
            if (i < in.from_x || i >= in.to_x || j < in.from_y || j >= in.to_y)
                list->node[list->count++] =
                    (struct lm_cpu_image){(uint32_t)lm_at(g, i, j), (uint32_t)lm_at(g, x, y), sign};
        }
}

static void allocate_tiles(struct lm_cpu *c)
{
    const struct lm_setup *s = &c->base.setup;
    const size_t tiles = (size_t)c->tiling.nx * (size_t)c->tiling.ny, cells = tiles * (size_t)(s->tile * s->tile);
    for (int k = 0; k < s->species_count; k++) {
        struct lm_cpu_species *p = &c->species[k];
        p->tile_start = lm_pool_zeros(&c->pool, tiles + 1, sizeof *p->tile_start);
        p->cell_start = lm_pool_zeros(&c->pool, cells + 1, sizeof *p->cell_start);
        p->cell_rank = lm_pool_zeros(&c->pool, cells, sizeof *p->cell_rank);
    }
}

int lm_cpu_allocate(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    allocate_surfaces(c);
    if (c->node && !c->pool.failed) {
        list_cells_at_bodies(c);
        mark_narrow_rows(c);
    }
    for (int d = 0; d < 3; d++)
        list_nodes_beyond(c, d);
    allocate_gas(c);
    allocate_exchange(c);
    allocate_fields(c);
    allocate_tiles(c);
    lm_cpu_make_strips(c);
    if (!allocate_backgrounds(c) || c->pool.failed)
        return lm_fail(LM_FAILED, "not enough memory for a grid of %d x %d cells", g->nx, g->ny);
    return LM_OK;
}
