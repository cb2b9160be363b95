/* Writes the files of one state: openPMD fields and particles, checkpoints. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/openpmd.h"
#include "larmor/run.h"

static const char *const field_boundaries[] = {
    [LM_FIELDS_PERIODIC] = "periodic", [LM_CONDUCTING] = "conducting", [LM_OPEN] = "open",
    [LM_INFLOW_B] = "inflow",          [LM_INFLOW_E] = "inflow",       [LM_FIELDS_INFLOW] = "inflow"};

static void describe_run(const struct lm_sim *sim, struct lm_openpmd_run *run, char *solver, size_t size)
{
    const struct lm_config *c = sim->config;
    if (c->fields.solver == LM_SOLVER_NONE)
        snprintf(solver, size, "none: particles in given, constant fields");
    else
        snprintf(solver, size,
                 "hybrid: massless electrons, %s, T_e = %g, gamma = %g, eta = %s, eta_hyper = %g, density_floor = %g",
                 c->electrons.closure == LM_ISOTHERMAL ? "isothermal" : "polytropic", c->electrons.temperature,
                 c->electrons.closure == LM_ISOTHERMAL ? 1.0 : c->electrons.gamma, c->fields.eta, c->fields.eta_hyper,
                 c->fields.density_floor);
    *run = (struct lm_openpmd_run){.directory = c->output.directory,
                                   .grid = sim->grid,
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
    int array[MAX_MESHES];
    int count;
};

static void add_mesh(struct mesh_list *l, int array, const char *record, const char *component, int kind, double x,
                     double y, double time_offset)
{
    assert(l->count < MAX_MESHES); /* else raise LM_OUTPUT_ARRAYS */
    l->mesh[l->count] = (struct lm_mesh){
        .record = record, .component = component, .kind = kind, .offset = {x, y}, .time_offset = time_offset};
    l->array[l->count++] = array;
}

int lm_output_fields(struct lm_sim *sim)
{
    const struct lm_config *c = sim->config;
    char names[LM_MAX_SPECIES][LM_MAX_NAME + 2], solver[512];
    struct mesh_list l = {.count = 0};
    struct lm_openpmd_run run;
    describe_run(sim, &run, solver, sizeof solver);
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
    for (int f = 0; f < c->background_count; f++)
        add_mesh(&l, LM_BACKGROUND + f, sim->background_names[f], NULL,
                 c->background[f].kind == LM_NEUTRAL_GAS ? LM_MESH_DENSITY : LM_MESH_NUMBER, 0, 0, 0);
    double *store = malloc((size_t)l.count * sim->grid.size * sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for an output of fields");
    int status = LM_OK;
    for (int k = 0; k < l.count && !status; k++) {
        double *a = store + (size_t)k * sim->grid.size;
        l.mesh[k].data = a;
        status = sim->backend->ops->get(sim->backend, l.array[k], a);
    }
    if (!status)
        status = lm_openpmd_fields(&run, sim->step, lm_sim_time(sim), l.count, l.mesh);
    free(store);
    return status;
}

/* --- particles --- */

enum { PIECE = 1 << 18 };

struct reader {
    struct lm_sim *sim;
    uint64_t kept[LM_MAX_SPECIES];
    struct lm_raw_particles raw; /* PIECE of each */
};

static int raw_allocate(const struct lm_sim *sim, struct lm_raw_particles *raw)
{
    size_t real = sim->config->particles.precision == LM_SINGLE ? sizeof(float) : sizeof(double);
    raw->x = malloc(PIECE * (2 * sizeof(int64_t) + 3 * real));
    if (!raw->x)
        return lm_fail(LM_FAILED, "not enough memory for an output of particles");
    raw->y = raw->x + PIECE;
    raw->u = raw->y + PIECE;
    raw->v = (char *)raw->u + PIECE * real;
    raw->w = (char *)raw->v + PIECE * real;
    return LM_OK;
}

static double real_at(const struct lm_sim *sim, const void *array, size_t k)
{
    return sim->config->particles.precision == LM_SINGLE ? (double)((const float *)array)[k]
                                                         : ((const double *)array)[k];
}

/* Particle k of the output is particle k count / kept of the species, so the output covers all tiles evenly. */
static uint64_t source_of(const struct reader *r, int species, uint64_t k)
{
    return (uint64_t)((unsigned __int128)k * r->sim->count[species] / r->kept[species]);
}

static int read_particles(void *context, int species, uint64_t first, uint64_t count, double *x, double *y, double *u,
                          double *v, double *w)
{
    struct reader *r = context;
    const struct lm_grid *g = &r->sim->grid;
    int bits = r->sim->config->particles.precision == LM_SINGLE ? 24 : 48;
    double sx = ldexp(g->dx, -bits), sy = ldexp(g->dy, -bits);
    uint64_t begin = 0, end = 0; /* raw holds the particles begin .. end - 1 */
    for (uint64_t k = 0; k < count; k++) {
        uint64_t from = source_of(r, species, first + k);
        if (from >= end) {
            begin = from;
            end = begin + PIECE < r->sim->count[species] ? begin + PIECE : r->sim->count[species];
            int status = r->sim->backend->ops->get_particles(r->sim->backend, species, begin, end - begin, r->raw);
            if (status)
                return status;
        }
        size_t m = (size_t)(from - begin);
        x[k] = sx * (double)r->raw.x[m];
        y[k] = sy * (double)r->raw.y[m];
        u[k] = real_at(r->sim, r->raw.u, m);
        v[k] = real_at(r->sim, r->raw.v, m);
        w[k] = real_at(r->sim, r->raw.w, m);
    }
    return LM_OK;
}

int lm_output_particles(struct lm_sim *sim)
{
    const struct lm_config *c = sim->config;
    struct lm_openpmd_species list[LM_MAX_SPECIES];
    struct lm_openpmd_run run;
    struct reader r = {.sim = sim};
    char solver[512];
    int status = lm_sim_compact(sim);
    if (status)
        return status;
    describe_run(sim, &run, solver, sizeof solver);
    for (int s = 0; s < c->species_count; s++) {
        double kept = ceil((double)sim->count[s] * c->output.particles_fraction);
        r.kept[s] = kept < (double)sim->count[s] ? (uint64_t)kept : sim->count[s];
        double scale = r.kept[s] ? (double)sim->count[s] / (double)r.kept[s] : 1;
        list[s] = (struct lm_openpmd_species){.name = c->species[s].name,
                                              .charge = c->species[s].charge,
                                              .mass = c->species[s].mass,
                                              .weight = lm_sim_weight(sim, s) * scale,
                                              .count = r.kept[s]};
    }
    status = raw_allocate(sim, &r.raw);
    if (!status)
        status = lm_openpmd_particles(&run, sim->step, lm_sim_time(sim), c->species_count, list, read_particles, &r);
    free(r.raw.x);
    return status;
}

/* --- checkpoints --- */

struct save {
    struct lm_sim *sim;
    double *work;
};

/* A state that is not finite is not written: no run could go on from it, and it would replace an older checkpoint. */
static int get_field(void *context, int field, double *packed)
{
    struct save *s = context;
    const struct lm_grid *g = &s->sim->grid;
    const int bordered = field >= lm_sim_state_fields(s->sim) - lm_sim_state_bordered(s->sim);
    const int border = bordered ? LM_GHOST : 0; /* B with its ghosts */
    const size_t row = (size_t)(g->nx + 2 * border), all = border ? g->size : g->cells;
    int status = s->sim->backend->ops->get(s->sim->backend, lm_sim_state_array(s->sim, field), s->work);
    if (!status && border)
        memcpy(packed, s->work, all * sizeof *packed);
    else if (!status)
        lm_grid_pack(g, s->work, packed);
    for (size_t k = 0; k < all && !status; k++)
        if (!isfinite(packed[k]))
            status = lm_fail(LM_FAILED, "the field %s is not finite at x = %g, y = %g", s->sim->state_names[field],
                             ((double)(k % row) - border + 0.5) * g->dx, ((double)(k / row) - border + 0.5) * g->dy);
    return status;
}

static int get_particles(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles out)
{
    struct lm_sim *sim = ((struct save *)context)->sim;
    int status = sim->backend->ops->get_particles(sim->backend, species, first, count, out);
    for (uint64_t k = 0; k < count && !status; k++)
        if (!isfinite(real_at(sim, out.u, k) + real_at(sim, out.v, k) + real_at(sim, out.w, k)))
            status = lm_fail(LM_FAILED, "a velocity of species %s is not finite", sim->config->species[species].name);
    return status;
}

static int get_map(void *context, int species, uint64_t *counters)
{
    struct lm_sim *sim = ((struct save *)context)->sim;
    return sim->backend->ops->get_map(sim->backend, species, counters);
}

int lm_output_checkpoint(struct lm_sim *sim, const struct lm_references *references, char *path)
{
    return lm_output_checkpoint_keeping(sim, references, sim->config->output.keep, path);
}

int lm_output_checkpoint_keeping(struct lm_sim *sim, const struct lm_references *references, int keep, char *path)
{
    const struct lm_config *c = sim->config;
    struct lm_checkpoint head = {.step = sim->step,
                                 .time = lm_sim_time(sim),
                                 .dt = c->run.dt,
                                 .nx = c->grid.nx,
                                 .ny = c->grid.ny,
                                 .lx = c->grid.lx,
                                 .ly = c->grid.ly,
                                 .shape = c->particles.shape,
                                 .precision = c->particles.precision,
                                 .seed = c->run.seed,
                                 .energy_start = references->energy,
                                 .field_count = lm_sim_state_fields(sim),
                                 .bordered = lm_sim_state_bordered(sim),
                                 .field_names = sim->state_names,
                                 .species_count = c->species_count};
    for (int d = 0; d < 3; d++)
        head.momentum_start[d] = references->momentum[d];
    for (int s = 0; s < c->species_count; s++) {
        head.species[s] = (struct lm_checkpoint_species){.charge = c->species[s].charge,
                                                         .mass = c->species[s].mass,
                                                         .weight = sim->backend->setup.species[s].weight,
                                                         .count = sim->count[s],
                                                         .ledger = sim->ledger[s]};
        snprintf(head.species[s].name, sizeof head.species[s].name, "%s", c->species[s].name);
    }
    lm_sim_describe(sim, &head);
    char *text = NULL;
    size_t length = 0;
    FILE *echo = open_memstream(&text, &length);
    struct save save = {sim, malloc(sim->grid.size * sizeof(double))};
    int status =
        echo && save.work ? lm_config_write(c, echo) : lm_fail(LM_FAILED, "not enough memory for a checkpoint");
    if (echo)
        fclose(echo);
    struct lm_checkpoint_io io = {
        .context = &save, .get_field = get_field, .get_particles = get_particles, .get_map = get_map};
    if (!status)
        status = lm_sim_compact(sim);
    if (!status)
        status = lm_checkpoint_write(c->output.directory, &head, text, keep, &io, path);
    free(save.work);
    free(text);
    return status;
}
