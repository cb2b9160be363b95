/* The meshes of a species: its density, and values that follow from the moments of its velocity. */
#include <stdio.h>
#include <stdlib.h>

#include "output/mesh_maker.h"
#include "output/moments.h"
#include "output/state.h"

/* The moments of a species and B in the values of the file. */
struct moments {
    double *full[LM_MOMENT_COUNT], *of[LM_MOMENT_COUNT], *b[3];
    double *memory;
};

/* Memory for those moments that are needed, first in the run's cells and then in those of the file. */
static void make_room(struct lm_mesh_maker *m, struct moments *a, unsigned moments)
{
    size_t count = 3 * m->coarse.size;
    for (int k = 0; k < LM_MOMENT_COUNT; k++)
        count += moments >> k & 1 ? m->grid.cells + m->coarse.size : 0;
    double *next = a->memory = calloc(count, sizeof *a->memory);
    if (!next) {
        m->status = lm_fail(LM_FAILED, "not enough memory for an output of moments");
        return;
    }
    for (int k = 0; k < LM_MOMENT_COUNT; k++) {
        a->full[k] = moments >> k & 1 ? next : NULL;
        a->of[k] = a->full[k] ? next + m->grid.cells : NULL;
        next += a->full[k] ? m->grid.cells + m->coarse.size : 0;
    }
    for (int d = 0; d < 3; d++)
        a->b[d] = next + (size_t)d * m->coarse.size;
}

static struct lm_vector b_at_centre(const struct lm_grid *g, struct lm_view b)
{
    (void)g;
    return lm_b_centre(b);
}

static void find_b(struct lm_mesh_maker *m, struct moments *a)
{
    double *b;
    m->status = lm_output_b(m->sim, &m->grid, &b);
    for (int d = 0; d < 3 && !m->status; d++)
        lm_mesh_coarsen_of_b(m, b, d, b_at_centre, a->b[d]);
    free(b);
}

static int wants(unsigned wanted, enum lm_quantity quantity)
{
    return wanted >> quantity & 1;
}

/* Which moments the quantities need. */
static unsigned moments_for(unsigned wanted)
{
    const unsigned first = 1u << LM_MOMENT_1, v = 7u << LM_MOMENT_V, vv = 63u << LM_MOMENT_VV;
    return (wants(wanted, LM_Q_VELOCITY) ? first | v : 0) |
           (wants(wanted, LM_Q_PRESSURE) || wants(wanted, LM_Q_TEMPERATURE) ? first | v | vv : 0) |
           (wants(wanted, LM_Q_ENERGY_FLUX) ? 7u << LM_MOMENT_VVV : 0);
}

static void collect(struct lm_mesh_maker *m, struct moments *a, int species)
{
    m->status = lm_moments_collect(m->sim, m->config, species, a->full);
    for (int k = 0; k < LM_MOMENT_COUNT && !m->status; k++)
        if (a->full[k])
            lm_mesh_coarsen(m, a->full[k], (size_t)m->grid.nx, a->of[k]);
    if (!m->status && lm_mesh_wants(m, LM_Q_TEMPERATURE))
        find_b(m, a);
}

/* The components of a tensor: xx, yy, zz, xy, xz, yz. */
static const char *const pairs[6] = {"xx", "yy", "zz", "xy", "xz", "yz"};
static const int first_of[6] = {0, 1, 2, 0, 0, 1}, second_of[6] = {0, 1, 2, 1, 2, 2};

/* m n <(v - u)_p (v - u)_q>; 0 where there are no particles. */
static double pressure(const struct moments *a, double mass, int pair, size_t k)
{
    const double n = a->of[LM_MOMENT_1][k];
    const double p = a->of[LM_MOMENT_V + first_of[pair]][k], q = a->of[LM_MOMENT_V + second_of[pair]][k];
    return n > 0 ? mass * (a->of[LM_MOMENT_VV + pair][k] - p * q / n) : 0;
}

/* The pressure along B. *trace: the sum of the pressures along x, y and z. */
static double pressure_along(const struct moments *a, double mass, size_t k, double *trace)
{
    double square = 0, along = 0;
    *trace = 0;
    for (int d = 0; d < 3; d++)
        square += a->b[d][k] * a->b[d][k];
    for (int pair = 0; pair < 6; pair++) {
        const double p = pressure(a, mass, pair, k);
        along += (pair < 3 ? 1 : 2) * a->b[first_of[pair]][k] * a->b[second_of[pair]][k] * p;
        *trace += pair < 3 ? p : 0;
    }
    return along / square; /* not a number without B: it has no direction */
}

enum { SPECIES_KINDS = 4 };

/* A value of a species, by quantity and component. Velocity and temperature are not a number without particles. */
static double value_of(const struct moments *a, enum lm_quantity quantity, int component, double mass, size_t k)
{
    double trace, along;
    switch (quantity) {
    case LM_Q_VELOCITY:
        return a->of[LM_MOMENT_V + component][k] / a->of[LM_MOMENT_1][k];
    case LM_Q_PRESSURE:
        return pressure(a, mass, component, k);
    case LM_Q_TEMPERATURE:
        along = pressure_along(a, mass, k, &trace);
        return (component == 0 ? along : 0.5 * (trace - along)) / a->of[LM_MOMENT_1][k];
    default:
        return 0.5 * mass * a->of[LM_MOMENT_VVV + component][k];
    }
}

static const struct {
    enum lm_quantity quantity;
    const char *record; /* before _SPECIES */
    int kind, components;
    const char *const *names; /* NULL: records of their own */
} of_species[SPECIES_KINDS] = {{LM_Q_VELOCITY, "u", LM_MESH_VELOCITY, 3, lm_mesh_axes},
                               {LM_Q_PRESSURE, "P", LM_MESH_PRESSURE, 6, pairs},
                               {LM_Q_TEMPERATURE, "T", LM_MESH_TEMPERATURE, 2, NULL},
                               {LM_Q_ENERGY_FLUX, "Q", LM_MESH_ENERGY_FLUX, 3, lm_mesh_axes}};

static void add_value(struct lm_mesh_maker *m, const struct moments *a, int kind, int component, int species)
{
    static const char *const directions[2] = {"_par", "_perp"};
    const struct lm_species_config *s = &m->config->species[species];
    const char *const *names = of_species[kind].names;
    char record[LM_MESH_NAME];
    snprintf(record, sizeof record, "%s%s_%s", of_species[kind].record, names ? "" : directions[component], s->name);
    double *out = lm_mesh_add(m, record, names ? names[component] : NULL, of_species[kind].kind, lm_mesh_centre);
    if (!out)
        return;
    m->mesh[m->count - 1].time_offset = -0.5 * m->config->run.dt;
    for (int j = 0; j < m->coarse.ny; j++)
        for (int i = 0; i < m->coarse.nx; i++) {
            const size_t k = lm_at(&m->coarse, i, j);
            out[k] = value_of(a, of_species[kind].quantity, component, s->mass, k);
        }
}

void lm_mesh_add_species(struct lm_mesh_maker *m, int species)
{
    struct moments a = {.memory = NULL};
    char record[LM_MESH_NAME];
    snprintf(record, sizeof record, "n_%s", m->config->species[species].name);
    if (lm_mesh_wants(m, LM_Q_DENSITY))
        lm_mesh_add_array(m, LM_SPECIES_N + species, record, NULL, LM_MESH_DENSITY, lm_mesh_centre);
    const unsigned moments = moments_for(m->request->wanted);
    if (m->status || !moments)
        return;
    make_room(m, &a, moments);
    if (!m->status)
        collect(m, &a, species);
    for (int kind = 0; kind < SPECIES_KINDS; kind++)
        for (int c = 0; c < of_species[kind].components && lm_mesh_wants(m, of_species[kind].quantity); c++)
            if (!m->status)
                add_value(m, &a, kind, c, species);
    free(a.memory);
}

int lm_mesh_species_count(unsigned wanted)
{
    int count = wants(wanted, LM_Q_DENSITY);
    for (int kind = 0; kind < SPECIES_KINDS; kind++)
        count += wants(wanted, of_species[kind].quantity) ? of_species[kind].components : 0;
    return count;
}

int lm_mesh_species_sums(unsigned wanted)
{
    return wants(wanted, LM_Q_DENSITY) + (wants(wanted, LM_Q_TEMPERATURE) ? 3 : 0) +
           __builtin_popcount(moments_for(wanted));
}
