/* What the loops over particles on the CPU share. For sources that are compiled for each precision. */
#ifndef LARMOR_CPU_PARTICLES_H
#define LARMOR_CPU_PARTICLES_H

#include "cpu/cpu.h"
#include "backend/particle_pass.h"
#include "larmor/physics/particles/footprint.h"
#include "larmor/physics/particles/stray.h"

enum { WIDTH_MAX = 16 + LM_WINDOW_EXTRA, AREA_MAX = WIDTH_MAX * WIDTH_MAX };

struct arrays {
    lm_fix *x, *y;
    lm_real *vx, *vy, *vz;
};

static inline struct arrays arrays_of(const struct lm_cpu_species *s)
{
    return (struct arrays){s->x, s->y, s->vx, s->vy, s->vz};
}

static inline struct lm_particle particle_at(const struct arrays *a, size_t k)
{
    return (struct lm_particle){a->x[k], a->y[k], a->vx[k], a->vy[k], a->vz[k]};
}

static inline void put_particle(const struct arrays *a, size_t k, struct lm_particle p)
{
    a->x[k] = p.x, a->y[k] = p.y;
    a->vx[k] = p.vx, a->vy[k] = p.vy, a->vz[k] = p.vz;
}

static inline struct lm_tiling tiling(const struct lm_cpu *c)
{
    return c->tiling;
}

static inline int order_of(const struct lm_cpu *c)
{
    return c->base.setup.shape == LM_LINEAR ? 1 : 2;
}

/* The fields of a window, as a species feels them. */
static inline void window_fields(const struct lm_cpu *c, int species, const double *field[LM_WINDOW_FIELDS])
{
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        field[d] = d < 3 && c->species[species].push[d] ? c->species[species].push[d] : c->array[LM_PUSH_E + d];
}

static inline double *gas_array(const struct lm_cpu *c, int gas, int which)
{
    return c->array[lm_gas_array(gas, which)];
}

/* The window of a tile, and the cells of the field arrays under its rows and columns (beyond walls: ghosts). */
struct footprint {
    struct lm_footprint at;
    int width, row[WIDTH_MAX], column[WIDTH_MAX];
    int inside[WIDTH_MAX], sign[WIDTH_MAX]; /* lm_cell_inside of the columns */
    int is_free;                            /* there are no surfaces within it */
};

static inline struct footprint footprint_of(const struct lm_cpu *c, int tile)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_sides *sides = &s->grid.sides;
    const struct lm_tiling t = tiling(c);
    struct footprint f = {.width = s->tile + LM_WINDOW_EXTRA};
    f.at = lm_footprint_of(&t, sides, tile, f.width);
    for (int k = 0; k < f.width; k++) {
        f.row[k] = lm_field_cell(sides, 1, s->grid.ny, f.at.j + k);
        f.column[k] = lm_field_cell(sides, 0, s->grid.nx, f.at.i + k);
        f.sign[k] = 1;
        f.inside[k] = lm_cell_inside(sides, 0, s->grid.nx, 1, f.at.i + k, &f.sign[k]);
    }
    f.is_free = !f.at.at_wall && !(c->tile_has_body && c->tile_has_body[tile]);
    return f;
}

/* Home tile of the particle in slot k; `tile`: any tile up to it. */
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
    return lm_surfaces_make(&c->base.setup, species, pass, lm_obstacles_of(&c->base.setup.bodies),
                            c->base.setup.bodies.obstacles.cut, c->near_body);
}

/* The fields around a particle, `p`, wherever it is. */
static inline struct lm_window stray_window(const struct lm_cpu *c, int species, int tile, const struct lm_particle *p,
                                            struct lm_stray *s)
{
    const struct lm_tiling t = tiling(c);
    const double *field[LM_WINDOW_FIELDS];
    window_fields(c, species, field);
    lm_stray_at(order_of(c), s, &t, tile, p, field, c->base.setup.grid.stride);
    return lm_stray_window(s);
}

/* The operations of struct lm_particle_ops, for one precision. */
int LM_P(lm_cpu_load)(struct lm_backend *b, int species, const struct lm_loading *from, uint64_t *count);
int LM_P(lm_cpu_reserve)(struct lm_backend *b, int species, uint64_t count);
int LM_P(lm_cpu_put_particles)(struct lm_backend *b, int species, enum lm_put_phase phase, uint64_t count,
                               struct lm_raw_particles from);
int LM_P(lm_cpu_get_particles)(struct lm_backend *b, int species, uint64_t first, uint64_t count,
                               struct lm_raw_particles to);
int LM_P(lm_cpu_sort)(struct lm_backend *b, int species);
int LM_P(lm_cpu_emigrate)(struct lm_backend *b, int species, uint64_t *count, struct lm_raw_particles *out);
int LM_P(lm_cpu_immigrate)(struct lm_backend *b, int species, uint64_t count, struct lm_raw_particles from);
int LM_P(lm_cpu_reserve_more)(struct lm_backend *b, int species, uint64_t more);
int LM_P(lm_cpu_exchange_heat)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass);
int LM_P(lm_cpu_follow)(struct lm_backend *b, int species, const struct lm_pass *pass, uint64_t count,
                        struct lm_tracked *ions);
int LM_P(lm_cpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass);
int LM_P(lm_cpu_enter)(struct lm_backend *b, int species, const struct lm_pass *pass);
int LM_P(lm_cpu_ionise)(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum);
int LM_P(lm_cpu_particle_maxima)(struct lm_backend *b, int species);
int LM_P(lm_cpu_particle_sums)(struct lm_backend *b, int species, const struct lm_pass *half, uint64_t present,
                               struct lm_particle_sums *out);
int LM_P(lm_cpu_velocity_moments)(struct lm_backend *b, int species, const struct lm_moment_list *list, int64_t *sums);
int LM_P(lm_cpu_distribution)(struct lm_backend *b, int species, const struct lm_bins *bins, uint64_t *counts);

/* Fills the ghost cells of a gas: from the nearest cell beyond a wall, from the opposite side beyond a periodic one. */
void LM_P(lm_cpu_fill_gas_ghosts)(struct lm_cpu *c, int gas);

/* The hash of a species, for the fingerprint; the collisions before a pass. */
uint64_t LM_P(lm_cpu_hash_particles)(struct lm_cpu *c, int species);
void LM_P(lm_cpu_collide)(struct lm_cpu *c, int species, const struct lm_pass *pass);

#endif
