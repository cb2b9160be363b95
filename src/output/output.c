/* Writes the files of one state: openPMD fields and particles. */
#include "output/output.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/facts.h"
#include "output/openpmd.h"

static const char *const field_boundaries[] = {
    [LM_FIELDS_PERIODIC] = "periodic", [LM_CONDUCTING] = "conducting", [LM_OPEN] = "open",
    [LM_INFLOW_B] = "inflow",          [LM_INFLOW_E] = "inflow",       [LM_FIELDS_INFLOW] = "inflow"};

static void describe_run(const struct lm_config *c, struct lm_openpmd_run *run, char *solver, size_t size)
{
    if (c->fields.solver == LM_SOLVER_NONE)
        snprintf(solver, size, "none: particles in given, constant fields");
    else
        snprintf(solver, size,
                 "hybrid: massless electrons, %s, T_e = %g, gamma = %g, eta = %s, eta_hyper = %g, density_floor = %g",
                 c->electrons.closure == LM_ISOTHERMAL ? "isothermal" : "polytropic", c->electrons.temperature,
                 c->electrons.closure == LM_ISOTHERMAL ? 1.0 : c->electrons.gamma, c->fields.eta, c->fields.eta_hyper,
                 c->fields.density_floor);
    *run = (struct lm_openpmd_run){.directory = c->output.directory,
                                   .grid = lm_config_grid(c),
                                   .units = lm_units_make(c->units.b0, c->units.n0),
                                   .dt = c->run.dt,
                                   .shape = c->particles.shape,
                                   .smoothing = c->fields.smoothing,
                                   .solver_parameters = solver,
                                   .compress = c->output.compress};
    for (int side = 0; side < LM_SIDES; side++) {
        const int is_given = c->fields.solver == LM_SOLVER_NONE && c->boundary[side] != LM_PERIODIC;
        run->boundary[side] = is_given ? "given" : field_boundaries[c->boundary_fields[side]];
        run->particle_boundary[side] = lm_boundary_names[c->boundary[side]];
    }
}

enum { MAX_MESHES = LM_OUTPUT_ARRAYS + LM_MAX_SPECIES + LM_MAX_BACKGROUNDS };

struct mesh_list {
    struct lm_mesh mesh[MAX_MESHES];
    enum lm_array array[MAX_MESHES];
    int count;
};

static void add_mesh(struct mesh_list *l, enum lm_array array, const char *record, const char *component, int kind,
                     double x, double y, double time_offset)
{
    assert(l->count < MAX_MESHES); /* else raise LM_OUTPUT_ARRAYS */
    l->mesh[l->count] = (struct lm_mesh){
        .record = record, .component = component, .kind = kind, .offset = {x, y}, .time_offset = time_offset};
    l->array[l->count++] = array;
}

int lm_output_fields(struct lm_sim *sim, const struct lm_config *c)
{
    char names[LM_MAX_SPECIES][LM_MAX_NAME + 2], backgrounds[LM_MAX_BACKGROUNDS][LM_MAX_NAME + 16],
        solver[LM_MAX_TEXT + 256];
    struct mesh_list l = {.count = 0};
    struct lm_openpmd_run run;
    describe_run(c, &run, solver, sizeof solver);
    add_mesh(&l, LM_B, "B", "x", LM_MESH_B, 0, 0.5, 0);
    add_mesh(&l, LM_B + 1, "B", "y", LM_MESH_B, 0.5, 0, 0);
    add_mesh(&l, LM_B + 2, "B", "z", LM_MESH_B, 0.5, 0.5, 0);
    add_mesh(&l, LM_E, "E", "x", LM_MESH_E, 0.5, 0, 0);
    add_mesh(&l, LM_E + 1, "E", "y", LM_MESH_E, 0, 0.5, 0);
    add_mesh(&l, LM_E + 2, "E", "z", LM_MESH_E, 0, 0, 0);
    for (int d = 0; d < 3; d++)
        add_mesh(&l, LM_J_OLD + d, "J_i", d == 0 ? "x" : d == 1 ? "y" : "z", LM_MESH_J, 0, 0, -0.5 * c->run.dt);
    add_mesh(&l, LM_N_OLD, "rho", NULL, LM_MESH_CHARGE_DENSITY, 0, 0, 0);
    add_mesh(&l, LM_PRESSURE, "p_e", NULL, LM_MESH_PRESSURE, 0, 0, 0);
    for (int k = 6; k < l.count; k++) /* all meshes after B and E are moments, or follow from moments */
        l.mesh[k].smoothed = 1;
    for (int s = 0; s < c->species_count; s++) {
        snprintf(names[s], sizeof names[s], "n_%s", c->species[s].name);
        add_mesh(&l, LM_SPECIES_N + s, names[s], NULL, LM_MESH_DENSITY, 0, 0, 0);
    }
    for (int f = 0; f < c->background_count; f++) {
        snprintf(backgrounds[f], sizeof backgrounds[f], "background_%s", c->background[f].name);
        add_mesh(&l, LM_BACKGROUND + f, backgrounds[f], NULL,
                 c->background[f].kind == LM_NEUTRAL_GAS ? LM_MESH_DENSITY : LM_MESH_NUMBER, 0, 0, 0);
    }
    double *store = malloc((size_t)l.count * run.grid.size * sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for an output of fields");
    int status = LM_OK;
    for (int k = 0; k < l.count && !status; k++) {
        double *a = store + (size_t)k * run.grid.size;
        l.mesh[k].data = a;
        status = lm_sim_get_array(sim, l.array[k], a);
    }
    if (!status)
        status = lm_openpmd_fields(&run, lm_sim_step_number(sim), lm_sim_time(sim), l.count, l.mesh);
    free(store);
    return status;
}

/* --- particles --- */

enum { PIECE = 1 << 18, COMPONENTS = 5 };

/* Reads all particles in pieces and keeps some of them. */
struct reader {
    struct lm_sim *sim;
    uint64_t count[LM_MAX_SPECIES], kept[LM_MAX_SPECIES];
    double *piece[COMPONENTS]; /* x, y, v_x, v_y, v_z, PIECE of each */
};

/* Particle k of the output is particle k count / kept of the species, so the output covers all tiles evenly. */
static uint64_t source_of(const struct reader *r, int species, uint64_t k)
{
    return (uint64_t)((unsigned __int128)k * r->count[species] / r->kept[species]);
}

static int read_particles(void *context, int species, uint64_t first, uint64_t count, double *x, double *y, double *vx,
                          double *vy, double *vz)
{
    const struct reader *r = context;
    double *const *p = r->piece, *const out[COMPONENTS] = {x, y, vx, vy, vz};
    uint64_t begin = 0, end = 0; /* the piece holds the particles begin .. end - 1 */
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t from = source_of(r, species, first + k);
        if (from >= end) {
            begin = from;
            end = begin + PIECE < r->count[species] ? begin + PIECE : r->count[species];
            const int status = lm_sim_get_particles(r->sim, species, begin, end - begin, p[0], p[1], p[2], p[3], p[4]);
            if (status)
                return status;
        }
        for (int c = 0; c < COMPONENTS; c++)
            out[c][k] = p[c][from - begin];
    }
    return LM_OK;
}

int lm_output_particles(struct lm_sim *sim, const struct lm_config *c)
{
    struct lm_openpmd_species list[LM_MAX_SPECIES];
    struct lm_openpmd_run run;
    struct lm_sim_status now;
    struct reader r = {.sim = sim};
    char solver[LM_MAX_TEXT + 256];
    describe_run(c, &run, solver, sizeof solver);
    lm_sim_status(sim, &now);
    for (int s = 0; s < c->species_count; s++) {
        const uint64_t count = r.count[s] = now.species[s].count;
        const double kept = ceil((double)count * c->output.particles_fraction);
        r.kept[s] = kept < (double)count ? (uint64_t)kept : count;
        const double scale = r.kept[s] ? (double)count / (double)r.kept[s] : 1;
        list[s] = (struct lm_openpmd_species){.name = c->species[s].name,
                                              .charge = c->species[s].charge,
                                              .mass = c->species[s].mass,
                                              .weight = now.species[s].weight * scale,
                                              .count = r.kept[s]};
    }
    double *store = malloc(COMPONENTS * (size_t)PIECE * sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for an output of particles");
    for (int k = 0; k < COMPONENTS; k++)
        r.piece[k] = store + (size_t)k * PIECE;
    const int status = lm_openpmd_particles(&run, now.step, now.time, c->species_count, list, read_particles, &r);
    free(store);
    return status;
}
