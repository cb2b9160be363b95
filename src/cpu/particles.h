/* What the CPU's loops over particles share; for sources compiled for each precision. */
#ifndef LARMOR_CPU_PARTICLES_H
#define LARMOR_CPU_PARTICLES_H

#include "cpu/cpu.h"
#include "larmor/physics/particles/stray.h"
#include "larmor/physics/fields/wall.h"

enum { WIDTH_MAX = 16 + LM_WINDOW_EXTRA, AREA_MAX = WIDTH_MAX * WIDTH_MAX };

struct arrays {
    lm_fix *x, *y;
    lm_real *u, *v, *w;
};

static inline struct arrays arrays_of(const struct lm_cpu_species *s)
{
    return (struct arrays){s->x, s->y, s->u, s->v, s->w};
}

static inline struct lm_particle particle_at(const struct arrays *a, size_t k)
{
    return (struct lm_particle){a->x[k], a->y[k], a->u[k], a->v[k], a->w[k]};
}

static inline struct lm_tiling tiling(const struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    return (struct lm_tiling){c->base.setup.tile, c->tiles_x, c->tiles_y, g->nx, g->ny};
}

/* The fields of a window. */
static inline void window_fields(const struct lm_cpu *c, const double *field[LM_WINDOW_FIELDS])
{
    for (int d = 0; d < 3; d++) {
        field[d] = c->array[LM_PUSH_E + d];
        field[3 + d] = c->array[LM_B + d];
    }
}

static inline struct lm_step step_of(const struct lm_cpu *c, int species, const struct lm_pass *pass)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_backend_species *p = &s->species[species];
    return lm_step_make(pass->kick_dt, pass->drift_dt, pass->move, pass->cap, p->charge / p->mass, s->ohm.inv_dx,
                        s->ohm.inv_dy);
}

/* What lies under the rows and columns of a tile's window: cells of the field arrays (beyond walls, ghosts). */
struct footprint {
    int width, row[WIDTH_MAX], column[WIDTH_MAX];
    int first_row, first_column; /* unwrapped */
    int at_wall;                 /* some of it lies beyond one */
    int is_free;                 /* nothing to meet within it */
};

static inline struct footprint footprint_of(const struct lm_cpu *c, int tile)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_sides *sides = &s->grid.sides;
    struct footprint f = {.width = s->tile + LM_WINDOW_EXTRA,
                          .first_row = tile / c->tiles_x * s->tile - LM_WINDOW_LOW,
                          .first_column = tile % c->tiles_x * s->tile - LM_WINDOW_LOW};
    for (int k = 0; k < f.width; k++) {
        int i = f.first_column + k, j = f.first_row + k;
        f.row[k] = lm_field_cell(sides, 1, s->grid.ny, j);
        f.column[k] = lm_field_cell(sides, 0, s->grid.nx, i);
        f.at_wall |= (lm_has_walls(sides, 0) && (i < 0 || i >= s->grid.nx)) ||
                     (lm_has_walls(sides, 1) && (j < 0 || j >= s->grid.ny));
    }
    f.is_free = !f.at_wall && !(c->tile_has_body && c->tile_has_body[tile]);
    return f;
}

/* The tile that the particle in place k is at home in; `tile` may be any before it. */
static inline int home_of(const struct lm_cpu_species *s, size_t k, int tile)
{
    if (k >= s->sorted)
        return (int)s->home[k - s->sorted];
    while (s->tile_start[tile + 1] <= k)
        tile++;
    return tile;
}

static inline struct lm_surfaces surfaces_of(const struct lm_cpu *c, int species, const struct lm_pass *pass)
{
    return lm_surfaces_make(&c->base.setup, species, pass, c->base.setup.bodies.mask, c->beside);
}

static inline struct lm_tally_units units_of(const struct lm_pass *pass)
{
    return (struct lm_tally_units){lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)};
}

static inline struct lm_window fill_window(const struct lm_cpu *c, const struct footprint *f, lm_real *store)
{
    int width = f->width, area = width * width;
    const double *field[LM_WINDOW_FIELDS];
    window_fields(c, field);
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        for (int j = 0; j < width; j++) {
            const double *row = field[d] + lm_at(&c->base.setup.grid, 0, f->row[j]);
            for (int i = 0; i < width; i++)
                store[d * area + j * width + i] = (lm_real)row[f->column[i]];
        }
    return (struct lm_window){store + LM_WINDOW_LOW * width + LM_WINDOW_LOW, width, area};
}

/* The fields around a particle, `p`, wherever it is. */
static inline struct lm_window stray_window(const struct lm_cpu *c, int tile, const struct lm_particle *p,
                                            struct lm_stray *s)
{
    const struct lm_tiling t = tiling(c);
    const double *field[LM_WINDOW_FIELDS];
    window_fields(c, field);
    lm_stray_at(s, &t, tile, p, field, c->base.setup.grid.stride);
    return lm_stray_window(s);
}

#endif
