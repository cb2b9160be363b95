/* openPMD files of values on the grid: the output of the fields, and those of [output.NAME]. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/describe.h"
#include "output/electric.h"
#include "output/grid_quantities.h"
#include "output/mesh_maker.h"
#include "output/output.h"
#include "output/particles.h"
#include "output/state.h"

/* Adds those of the quantities from `first` to `last` that are arrays. */
static void add_arrays(struct lm_mesh_maker *m, enum lm_quantity first, enum lm_quantity last)
{
    for (int k = (int)first; k <= (int)last; k++) {
        const struct lm_grid_quantity *q = &lm_grid_quantities[k];
        const int count = m->count;
        for (int d = 0; d < q->components && lm_mesh_wants(m, (enum lm_quantity)k); d++)
            lm_mesh_add_array(m, q->array + d, q->record, q->components == 3 ? lm_mesh_axes[d] : NULL, q->kind,
                              q->place[d]);
        for (int added = count; added < m->count; added++) {
            m->mesh[added].smoothed = q->smoothed;
            m->mesh[added].time_offset = q->time * m->config->run.dt;
        }
    }
}

/* Where E is. */
static struct lm_vector current(const struct lm_grid *g, struct lm_view b)
{
    return lm_curl_b(b, 1 / g->dx, 1 / g->dy);
}

static void add_current(struct lm_mesh_maker *m)
{
    double *b = NULL;
    if (!m->status)
        m->status = lm_output_b(m->sim, &m->grid, &b);
    for (int d = 0; d < 3 && !m->status; d++) {
        double *out = lm_mesh_add(m, "J", lm_mesh_axes[d], LM_MESH_J, lm_places_of_e[d]);
        if (out)
            lm_mesh_coarsen_of_b(m, b, d, current, out);
    }
    free(b);
}

/* The electrons' temperature is their pressure over their density, both means over the cells of a value. */
static void add_electron_temperature(struct lm_mesh_maker *m)
{
    double *out = m->status ? NULL : lm_mesh_add(m, "T_e", NULL, LM_MESH_TEMPERATURE, lm_mesh_centre);
    double *density = out ? calloc(m->coarse.size, sizeof *density) : NULL;
    if (out && !density)
        m->status = lm_fail(LM_FAILED, "not enough memory for an output of fields");
    if (out && !m->status)
        m->status = lm_sim_get_array(m->sim, LM_PRESSURE, m->work);
    if (out && !m->status) {
        m->mesh[m->count - 1].smoothed = 1;
        lm_mesh_coarsen_array(m, m->work, out);
        m->status = lm_sim_get_array(m->sim, LM_FLOORED, m->work);
    }
    if (out && !m->status) {
        lm_mesh_coarsen_array(m, m->work, density);
        for (int j = 0; j < m->coarse.ny; j++)
            for (int i = 0; i < m->coarse.nx; i++)
                out[lm_at(&m->coarse, i, j)] /= density[lm_at(&m->coarse, i, j)];
    }
    free(density);
}

/* What follows from Ohm's law (electric.h). */
static void add_electric(struct lm_mesh_maker *m)
{
    static const char *const terms[LM_E_TERMS] = {"E_convection", "E_Hall", "E_pressure", "E_resistive"};
    static const char *const powers[LM_POWERS] = {"J_dot_E", "heating_resistive", "heating_compression"};
    struct lm_electric e = {.memory = NULL};
    if (!m->status)
        m->status = lm_electric_make(m->sim, m->config, lm_mesh_wants(m, LM_Q_E_TERMS), &e);
    for (int k = 0; k < 3 * LM_E_TERMS && lm_mesh_wants(m, LM_Q_E_TERMS) && !m->status; k++) {
        double *out = lm_mesh_add(m, terms[k / 3], lm_mesh_axes[k % 3], LM_MESH_E, lm_places_of_e[k % 3]);
        if (out)
            lm_mesh_coarsen_array(m, e.e[k / 3][k % 3], out);
    }
    for (int k = 0; k < LM_POWERS && lm_mesh_wants(m, LM_Q_HEATING) && !m->status; k++) {
        double *out = lm_mesh_add(m, powers[k], NULL, LM_MESH_POWER, lm_mesh_centre);
        if (out)
            lm_mesh_coarsen_array(m, e.power[k], out);
    }
    lm_electric_free(&e);
}

static void add_backgrounds(struct lm_mesh_maker *m)
{
    const struct lm_config *c = m->config;
    char record[LM_MESH_NAME];
    for (int f = 0; f < c->background_count; f++) {
        snprintf(record, sizeof record, "background_%s", c->background[f].name);
        lm_mesh_add_array(m, LM_BACKGROUND + f, record, NULL,
                          c->background[f].kind == LM_NEUTRAL_GAS ? LM_MESH_DENSITY : LM_MESH_NUMBER, lm_mesh_centre);
    }
}

/* Meshes of the grid and, in *species, the number of species that have meshes of their own. */
static int count_meshes(const struct lm_config *c, unsigned wanted, unsigned of, int *species)
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
    int count = wanted >> LM_Q_BACKGROUNDS & 1 ? c->background_count : 0;
    *species = 0;
    for (int s = 0; s < c->species_count; s++)
        *species += (int)(of >> s & 1);
    for (int q = 0; q < LM_Q_DENSITY; q++)
        count += wanted >> q & 1 ? once[q] : 0;
    return count;
}

int lm_output_meshes(const struct lm_config *c, unsigned wanted, unsigned of)
{
    int species;
    const int count = count_meshes(c, wanted, of, &species);
    return count + species * lm_mesh_species_count(wanted);
}

/* T_e needs the pressure and the density. */
int lm_output_sums(const struct lm_config *c, unsigned wanted, unsigned of)
{
    int species;
    const int count = count_meshes(c, wanted, of, &species) + (int)(wanted >> LM_Q_ELECTRON_TEMPERATURE & 1);
    return count + species * lm_mesh_species_sums(wanted);
}

static void add_all(struct lm_mesh_maker *m)
{
    add_arrays(m, LM_Q_B, LM_Q_E);
    if (lm_mesh_wants(m, LM_Q_CURRENT))
        add_current(m);
    add_arrays(m, LM_Q_ION_CURRENT, LM_Q_ELECTRON_PRESSURE);
    if (lm_mesh_wants(m, LM_Q_ELECTRON_TEMPERATURE))
        add_electron_temperature(m);
    if (lm_mesh_wants(m, LM_Q_E_TERMS) || lm_mesh_wants(m, LM_Q_HEATING))
        add_electric(m);
    for (int s = 0; s < m->config->species_count; s++)
        if (m->request->of >> s & 1)
            lm_mesh_add_species(m, s);
    if (lm_mesh_wants(m, LM_Q_BACKGROUNDS))
        add_backgrounds(m);
}

/* Says over which samples the values are a mean, and moves the time of each mesh to their middle. */
static void describe_mean(struct lm_mesh_maker *m, struct lm_openpmd_run *run)
{
    const int64_t step = lm_sim_step_number(m->sim), samples = m->request->sums->samples;
    run->mean.samples = samples;
    run->mean.last = step;
    run->mean.first = step - (samples - 1) * m->request->average_every;
    for (int k = 0; k < m->count; k++)
        m->mesh[k].time_offset -= 0.5 * (double)(run->mean.last - run->mean.first) * run->dt;
}

static int write_file(struct lm_mesh_maker *m)
{
    char solver[LM_SOLVER_TEXT];
    struct lm_openpmd_run run;
    lm_describe_run(m->config, &run, solver);
    run.grid = m->coarse;
    run.origin[0] = m->request->region.from_x * m->grid.dx;
    run.origin[1] = m->request->region.from_y * m->grid.dy;
    run.single = m->request->single;
    run.compress = m->request->compress;
    if (m->request->sums)
        describe_mean(m, &run);
    struct lm_particle_reader reader;
    const int with_particles = m->request->with_particles;
    int status = with_particles ? lm_particle_reader_begin(m->sim, m->config, &reader) : LM_OK;
    if (!status)
        status = lm_openpmd_fields(&run, m->request->file, lm_sim_step_number(m->sim), lm_sim_time(m->sim), m->count,
                                   m->mesh, with_particles ? &reader.particles : NULL);
    if (with_particles)
        lm_particle_reader_end(&reader);
    return status;
}

static int make(struct lm_sim *sim, const struct lm_config *c, const struct lm_mesh_request *request)
{
    struct lm_mesh_maker m = {
        .sim = sim, .config = c, .request = request, .grid = lm_config_grid(c), .threads = lm_output_threads(c)};
    const struct lm_cells *r = &request->region;
    const int by = request->coarsen, nx = (r->to_x - r->from_x) / by, ny = (r->to_y - r->from_y) / by;
    m.coarse = lm_grid_make(nx, ny, nx * by * m.grid.dx, ny * by * m.grid.dy);
    m.work = malloc(m.grid.size * sizeof *m.work);
    if (!m.work)
        return lm_fail(LM_FAILED, "not enough memory for an output of fields");
    add_all(&m);
    assert(m.status || m.count == lm_output_meshes(c, request->wanted, request->of));
    assert(m.status || !request->sums || m.summed == request->sums->arrays);
    if (!m.status && request->sums)
        request->sums->samples++;
    if (!m.status && request->file)
        m.status = write_file(&m);
    for (int k = 0; k < m.count; k++)
        free((double *)m.mesh[k].data);
    free(m.work);
    return m.status;
}

int lm_output_fields(struct lm_sim *sim, const struct lm_config *c, int with_particles)
{
    const struct lm_mesh_request request = {.wanted = LM_FIELDS_OUTPUT,
                                            .of = (1u << c->species_count) - 1,
                                            .region = {0, c->grid.nx, 0, c->grid.ny},
                                            .coarsen = 1,
                                            .compress = c->output.compress,
                                            .file = "fields/data",
                                            .with_particles = with_particles};
    return make(sim, c, &request);
}

static struct lm_mesh_request request_of(const struct lm_output_config *o)
{
    return (struct lm_mesh_request){.wanted = o->wanted,
                                    .of = o->of,
                                    .region = o->region.cells,
                                    .coarsen = o->coarsen,
                                    .single = o->precision == LM_SINGLE,
                                    .compress = o->compress,
                                    .average_every = o->average_every};
}

int lm_output_named(struct lm_sim *sim, const struct lm_config *c, int k)
{
    char file[LM_MAX_NAME + 16];
    snprintf(file, sizeof file, "outputs/%s", c->outputs[k].name);
    struct lm_mesh_request request = request_of(&c->outputs[k]);
    request.file = file;
    return make(sim, c, &request);
}

int lm_output_mean(struct lm_sim *sim, const struct lm_config *c, int k, struct lm_checkpoint_sums *sums, int write)
{
    char file[LM_MAX_NAME + 16];
    snprintf(file, sizeof file, "outputs/%s", c->outputs[k].name);
    struct lm_mesh_request request = request_of(&c->outputs[k]);
    request.file = write ? file : NULL;
    request.sums = sums;
    const int status = make(sim, c, &request);
    if (status || write)
        sums->samples = 0;
    return status;
}
