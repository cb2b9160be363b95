/* openPMD files of values on the grid: the output of the fields, and those of [output.NAME]. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/physics/fields/ohm.h"
#include "output/describe.h"
#include "output/electric.h"
#include "output/moments.h"
#include "output/openpmd.h"
#include "output/output.h"
#include "output/state.h"

enum { MAX_MESHES = 32 + 17 * LM_MAX_SPECIES + LM_MAX_BACKGROUNDS, NAME = LM_MAX_NAME + 16 };

struct request {
    unsigned wanted, of; /* bits of enum lm_quantity, and of species */
    struct lm_cells region;
    int coarsen, single, compress;
    const char *file; /* "fields/data" */
};

/* An output in the making. Values of the file are means over coarsen x coarsen cells of the region. */
struct maker {
    struct lm_sim *sim;
    const struct lm_config *config;
    const struct request *request;
    struct lm_grid grid;   /* of the run */
    struct lm_grid coarse; /* of the file */
    double *work;          /* an array of the run */
    int count, status;
    struct lm_mesh mesh[MAX_MESHES];
    char name[MAX_MESHES][NAME]; /* of the records */
};

static int wants(const struct maker *m, enum lm_quantity quantity)
{
    return m->request->wanted >> quantity & 1;
}

/* Adds a mesh with memory of its own, filled with 0. NULL: there is no memory. */
static double *add(struct maker *m, const char *record, const char *component, int kind, struct lm_cell_offset offset)
{
    assert(m->count < MAX_MESHES);
    double *data = calloc(m->coarse.size, sizeof *data);
    if (!data) {
        m->status = lm_fail(LM_FAILED, "not enough memory for an output of fields");
        return NULL;
    }
    char *name = m->name[m->count];
    snprintf(name, NAME, "%s", record);
    const double of_file = 1.0 / m->request->coarsen;
    m->mesh[m->count++] = (struct lm_mesh){.record = name,
                                           .component = component,
                                           .kind = kind,
                                           .offset = {offset.x * of_file, offset.y * of_file},
                                           .data = data};
    return data;
}

/* The mean of `values`, an array of cells in rows of `stride` with cell (0, 0) at the beginning, over the cells of each
 * value of the file. */
static void coarsen(const struct maker *m, const double *values, size_t stride, double *out)
{
    const int by = m->request->coarsen;
    for (int j = 0; j < m->coarse.ny; j++)
        for (int i = 0; i < m->coarse.nx; i++) {
            const double *first = values + (size_t)(m->request->region.from_y + j * by) * stride +
                                  (size_t)(m->request->region.from_x + i * by);
            double sum = 0;
            for (int b = 0; b < by; b++)
                for (int a = 0; a < by; a++)
                    sum += first[(size_t)b * stride + (size_t)a];
            out[lm_at(&m->coarse, i, j)] = by == 1 ? sum : sum / (by * by);
        }
}

static void coarsen_array(const struct maker *m, const double *array, double *out)
{
    coarsen(m, array + lm_at(&m->grid, 0, 0), (size_t)m->grid.stride, out);
}

/* Copies an array of the simulation to a mesh. */
static void add_array(struct maker *m, enum lm_array array, const char *record, const char *component, int kind,
                      struct lm_cell_offset offset)
{
    double *out = m->status ? NULL : add(m, record, component, kind, offset);
    if (out)
        m->status = lm_sim_get_array(m->sim, array, m->work);
    if (out && !m->status)
        coarsen_array(m, m->work, out);
}

static const char *const axes[3] = {"x", "y", "z"};
static const struct lm_cell_offset centre = {0, 0}, x_face = {0.5, 0}, y_face = {0, 0.5}, corner = {0.5, 0.5};

static void add_fields(struct maker *m)
{
    const struct lm_cell_offset b[3] = {y_face, x_face, corner}, e[3] = {x_face, y_face, centre};
    for (int d = 0; d < 3 && wants(m, LM_Q_B); d++)
        add_array(m, LM_B + d, "B", axes[d], LM_MESH_B, b[d]);
    for (int d = 0; d < 3 && wants(m, LM_Q_E); d++)
        add_array(m, LM_E + d, "E", axes[d], LM_MESH_E, e[d]);
}

/* One component of a vector that follows from B in each cell, as a mean over the cells of a value. `b`: the arrays of
 * B. */
static void coarsen_of_b(const struct maker *m, const double *b, int component,
                         struct lm_vector (*of)(const struct lm_grid *, struct lm_view), double *out)
{
    const struct lm_grid *g = &m->grid;
    const struct lm_view all = {b, b + g->size, b + 2 * g->size, g->stride};
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const struct lm_vector v = of(g, lm_view_at(all, (long)k));
            m->work[k] = component == 0 ? v.x : component == 1 ? v.y : v.z;
        }
    coarsen_array(m, m->work, out);
}

/* Where E is. */
static struct lm_vector current(const struct lm_grid *g, struct lm_view b)
{
    return lm_curl_b(b, 1 / g->dx, 1 / g->dy);
}

static struct lm_vector b_at_centre(const struct lm_grid *g, struct lm_view b)
{
    (void)g;
    return lm_b_centre(b);
}

static void add_current(struct maker *m)
{
    const struct lm_cell_offset places[3] = {x_face, y_face, centre};
    double *b = NULL;
    if (!m->status)
        m->status = lm_output_b(m->sim, &m->grid, &b);
    for (int d = 0; d < 3 && !m->status; d++) {
        double *out = add(m, "J", axes[d], LM_MESH_J, places[d]);
        if (out)
            coarsen_of_b(m, b, d, current, out);
    }
    free(b);
}

/* Moments that the program has, and what follows from them. They have passed its smoothing. */
static void add_charges(struct maker *m)
{
    const int first = m->count;
    for (int d = 0; d < 3 && wants(m, LM_Q_ION_CURRENT); d++) {
        add_array(m, LM_J_OLD + d, "J_i", axes[d], LM_MESH_J, centre);
        if (!m->status)
            m->mesh[m->count - 1].time_offset = -0.5 * m->config->run.dt;
    }
    if (wants(m, LM_Q_CHARGE_DENSITY))
        add_array(m, LM_N_OLD, "rho", NULL, LM_MESH_CHARGE_DENSITY, centre);
    if (wants(m, LM_Q_ELECTRON_PRESSURE))
        add_array(m, LM_PRESSURE, "p_e", NULL, LM_MESH_PRESSURE, centre);
    for (int k = first; k < m->count; k++)
        m->mesh[k].smoothed = 1;
}

/* The electrons' temperature is their pressure over their density, both means over the cells of a value. */
static void add_electron_temperature(struct maker *m)
{
    double *out = m->status ? NULL : add(m, "T_e", NULL, LM_MESH_TEMPERATURE, centre);
    double *density = out ? calloc(m->coarse.size, sizeof *density) : NULL;
    if (out && !density)
        m->status = lm_fail(LM_FAILED, "not enough memory for an output of fields");
    if (out && !m->status)
        m->status = lm_sim_get_array(m->sim, LM_PRESSURE, m->work);
    if (out && !m->status) {
        m->mesh[m->count - 1].smoothed = 1;
        coarsen_array(m, m->work, out);
        m->status = lm_sim_get_array(m->sim, LM_FLOORED, m->work);
    }
    if (out && !m->status) {
        coarsen_array(m, m->work, density);
        for (int j = 0; j < m->coarse.ny; j++)
            for (int i = 0; i < m->coarse.nx; i++)
                out[lm_at(&m->coarse, i, j)] /= density[lm_at(&m->coarse, i, j)];
    }
    free(density);
}

/* What follows from Ohm's law (electric.h). */
static void add_electric(struct maker *m)
{
    static const char *const terms[LM_E_TERMS] = {"E_convection", "E_Hall", "E_pressure", "E_resistive"};
    static const char *const powers[LM_POWERS] = {"J_dot_E", "heating_resistive", "heating_compression"};
    const struct lm_cell_offset places[3] = {x_face, y_face, centre};
    struct lm_electric e = {.memory = NULL};
    if (!m->status)
        m->status = lm_electric_make(m->sim, m->config, &e);
    for (int k = 0; k < 3 * LM_E_TERMS && wants(m, LM_Q_E_TERMS) && !m->status; k++) {
        double *out = add(m, terms[k / 3], axes[k % 3], LM_MESH_E, places[k % 3]);
        if (out)
            coarsen_array(m, e.e[k / 3][k % 3], out);
    }
    for (int k = 0; k < LM_POWERS && wants(m, LM_Q_HEATING) && !m->status; k++) {
        double *out = add(m, powers[k], NULL, LM_MESH_POWER, centre);
        if (out)
            coarsen_array(m, e.power[k], out);
    }
    lm_electric_free(&e);
}

/* --- values of a species --- */

/* The moments of a species and B in the values of the file. */
struct moments {
    double *full[LM_MOMENT_COUNT], *of[LM_MOMENT_COUNT], *b[3];
    double *memory;
};

/* Memory for those moments that are needed, first in the run's cells and then in those of the file. */
static void make_room(struct maker *m, struct moments *a, unsigned moments)
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

static void find_b(struct maker *m, struct moments *a)
{
    double *b;
    m->status = lm_output_b(m->sim, &m->grid, &b);
    for (int d = 0; d < 3 && !m->status; d++)
        coarsen_of_b(m, b, d, b_at_centre, a->b[d]);
    free(b);
}

/* Which moments the quantities need. */
static unsigned moments_for(const struct maker *m)
{
    const unsigned first = 1u << LM_MOMENT_1, v = 7u << LM_MOMENT_V, vv = 63u << LM_MOMENT_VV;
    return (wants(m, LM_Q_VELOCITY) ? first | v : 0) |
           (wants(m, LM_Q_PRESSURE) || wants(m, LM_Q_TEMPERATURE) ? first | v | vv : 0) |
           (wants(m, LM_Q_ENERGY_FLUX) ? 7u << LM_MOMENT_VVV : 0);
}

static void collect(struct maker *m, struct moments *a, int species)
{
    m->status = lm_moments_collect(m->sim, m->config, species, a->full);
    for (int k = 0; k < LM_MOMENT_COUNT && !m->status; k++)
        if (a->full[k])
            coarsen(m, a->full[k], (size_t)m->grid.nx, a->of[k]);
    if (!m->status && wants(m, LM_Q_TEMPERATURE))
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
} of_species[SPECIES_KINDS] = {{LM_Q_VELOCITY, "u", LM_MESH_VELOCITY, 3, axes},
                               {LM_Q_PRESSURE, "P", LM_MESH_PRESSURE, 6, pairs},
                               {LM_Q_TEMPERATURE, "T", LM_MESH_TEMPERATURE, 2, NULL},
                               {LM_Q_ENERGY_FLUX, "Q", LM_MESH_ENERGY_FLUX, 3, axes}};

static void add_value(struct maker *m, const struct moments *a, int kind, int component, int species)
{
    static const char *const directions[2] = {"_par", "_perp"};
    const struct lm_species_config *s = &m->config->species[species];
    const char *const *names = of_species[kind].names;
    char record[NAME];
    snprintf(record, sizeof record, "%s%s_%s", of_species[kind].record, names ? "" : directions[component], s->name);
    double *out = add(m, record, names ? names[component] : NULL, of_species[kind].kind, centre);
    if (!out)
        return;
    m->mesh[m->count - 1].time_offset = -0.5 * m->config->run.dt;
    for (int j = 0; j < m->coarse.ny; j++)
        for (int i = 0; i < m->coarse.nx; i++) {
            const size_t k = lm_at(&m->coarse, i, j);
            out[k] = value_of(a, of_species[kind].quantity, component, s->mass, k);
        }
}

static void add_species(struct maker *m, int species)
{
    struct moments a = {.memory = NULL};
    char record[NAME];
    snprintf(record, sizeof record, "n_%s", m->config->species[species].name);
    if (wants(m, LM_Q_DENSITY))
        add_array(m, LM_SPECIES_N + species, record, NULL, LM_MESH_DENSITY, centre);
    if (m->status || !moments_for(m))
        return;
    make_room(m, &a, moments_for(m));
    if (!m->status)
        collect(m, &a, species);
    for (int kind = 0; kind < SPECIES_KINDS; kind++)
        for (int c = 0; c < of_species[kind].components && wants(m, of_species[kind].quantity); c++)
            if (!m->status)
                add_value(m, &a, kind, c, species);
    free(a.memory);
}

static void add_backgrounds(struct maker *m)
{
    const struct lm_config *c = m->config;
    char record[NAME];
    for (int f = 0; f < c->background_count; f++) {
        snprintf(record, sizeof record, "background_%s", c->background[f].name);
        add_array(m, LM_BACKGROUND + f, record, NULL,
                  c->background[f].kind == LM_NEUTRAL_GAS ? LM_MESH_DENSITY : LM_MESH_NUMBER, centre);
    }
}

int lm_output_meshes(const struct lm_config *c, unsigned wanted, unsigned of)
{
    static const int once[LM_Q_DENSITY] = {[LM_Q_B] = 3,
                                           [LM_Q_E] = 3,
                                           [LM_Q_E_TERMS] = 3 * LM_E_TERMS,
                                           [LM_Q_CURRENT] = 3,
                                           [LM_Q_ION_CURRENT] = 3,
                                           [LM_Q_CHARGE_DENSITY] = 1,
                                           [LM_Q_ELECTRON_PRESSURE] = 1,
                                           [LM_Q_ELECTRON_TEMPERATURE] = 1,
                                           [LM_Q_HEATING] = LM_POWERS};
    int species = 0, count = wanted >> LM_Q_BACKGROUNDS & 1 ? c->background_count : 0;
    for (int s = 0; s < c->species_count; s++)
        species += (int)(of >> s & 1);
    for (int q = 0; q < LM_Q_DENSITY; q++)
        count += wanted >> q & 1 ? once[q] : 0;
    count += wanted >> LM_Q_DENSITY & 1 ? species : 0;
    for (int kind = 0; kind < SPECIES_KINDS; kind++)
        count += wanted >> of_species[kind].quantity & 1 ? species * of_species[kind].components : 0;
    return count;
}

static void add_all(struct maker *m)
{
    add_fields(m);
    if (wants(m, LM_Q_CURRENT))
        add_current(m);
    add_charges(m);
    if (wants(m, LM_Q_ELECTRON_TEMPERATURE))
        add_electron_temperature(m);
    if (wants(m, LM_Q_E_TERMS) || wants(m, LM_Q_HEATING))
        add_electric(m);
    for (int s = 0; s < m->config->species_count; s++)
        if (m->request->of >> s & 1)
            add_species(m, s);
    if (wants(m, LM_Q_BACKGROUNDS))
        add_backgrounds(m);
}

static int write_file(struct maker *m)
{
    char solver[LM_SOLVER_TEXT];
    struct lm_openpmd_run run;
    lm_describe_run(m->config, &run, solver);
    run.grid = m->coarse;
    run.origin[0] = m->request->region.from_x * m->grid.dx;
    run.origin[1] = m->request->region.from_y * m->grid.dy;
    run.single = m->request->single;
    run.compress = m->request->compress;
    return lm_openpmd_fields(&run, m->request->file, lm_sim_step_number(m->sim), lm_sim_time(m->sim), m->count,
                             m->mesh);
}

static int make(struct lm_sim *sim, const struct lm_config *c, const struct request *request)
{
    struct maker m = {.sim = sim, .config = c, .request = request, .grid = lm_config_grid(c)};
    const struct lm_cells *r = &request->region;
    const int by = request->coarsen, nx = (r->to_x - r->from_x) / by, ny = (r->to_y - r->from_y) / by;
    m.coarse = lm_grid_make(nx, ny, nx * by * m.grid.dx, ny * by * m.grid.dy);
    m.work = malloc(m.grid.size * sizeof *m.work);
    if (!m.work)
        return lm_fail(LM_FAILED, "not enough memory for an output of fields");
    add_all(&m);
    assert(m.status || m.count == lm_output_meshes(c, request->wanted, request->of));
    if (!m.status)
        m.status = write_file(&m);
    for (int k = 0; k < m.count; k++)
        free((double *)m.mesh[k].data);
    free(m.work);
    return m.status;
}

int lm_output_fields(struct lm_sim *sim, const struct lm_config *c)
{
    const struct request request = {.wanted = LM_FIELDS_OUTPUT,
                                    .of = (1u << c->species_count) - 1,
                                    .region = {0, c->grid.nx, 0, c->grid.ny},
                                    .coarsen = 1,
                                    .compress = c->output.compress,
                                    .file = "fields/data"};
    return make(sim, c, &request);
}

int lm_output_named(struct lm_sim *sim, const struct lm_config *c, int k)
{
    const struct lm_output_config *o = &c->outputs[k];
    char file[LM_MAX_NAME + 16];
    snprintf(file, sizeof file, "outputs/%s", o->name);
    const struct request request = {.wanted = o->wanted,
                                    .of = o->of,
                                    .region = o->region.cells,
                                    .coarsen = o->coarsen,
                                    .single = o->precision == LM_SINGLE,
                                    .compress = o->compress,
                                    .file = file};
    return make(sim, c, &request);
}
