#include "output/openpmd.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/h5.h"

/* The standard: https://github.com/openPMD/openPMD-standard, 1.1.0 (STANDARD.md and EXT_ED-PIC.md). */

enum { PIECE = 1 << 20 }; /* particles in memory at a time */

/* ---- what both kinds of file have ---- */

static void put_date(struct lm_h5 *h)
{
    char text[64];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &local);
    lm_h5_put_text(h, h->file, "date", text);
}

static void put_root(struct lm_h5 *h, const char *name, const struct lm_units *units)
{
    char format[LM_MAX_NAME + 16];
    uint32_t ed_pic = 1;
    lm_h5_put_text(h, h->file, "openPMD", "1.1.0");
    lm_h5_put(h, h->file, "openPMDextension", H5T_NATIVE_UINT32, 0, &ed_pic);
    lm_h5_put_text(h, h->file, "basePath", "/data/%T/");
    lm_h5_put_text(h, h->file, "iterationEncoding", "fileBased");
    snprintf(format, sizeof format, "%s_%%T.h5", name);
    lm_h5_put_text(h, h->file, "iterationFormat", format);
    lm_h5_put_text(h, h->file, "author", "not stated");
    lm_h5_put_text(h, h->file, "software", "larmor");
    lm_h5_put_text(h, h->file, "softwareVersion", LM_VERSION);
    put_date(h);
    if (!units->is_si)
        lm_h5_put_text(
            h, h->file, "comment",
            "Lengths are in d_i, times in 1/Omega_ci, speeds in v_A, B in B0, densities in n0: no scales in SI "
            "units were given, so the values have no dimension.");
}

/* Creates FOLDER/NAME_STEP.h5 and in it /data/STEP. STEP has no leading zeros there, because readers expect none.
 * `file` is "FOLDER/NAME". */
static hid_t begin(struct lm_h5 *h, const struct lm_openpmd_run *run, const char *file, int64_t step, double time)
{
    char path[LM_MAX_PATH], number[32];
    const char *name = strchr(file, '/') + 1;
    *h = (struct lm_h5){.file = -1};
    h->status = lm_path(path, "%s/%.*s", run->directory, (int)(name - file), file);
    if (h->status == LM_OK)
        h->status = lm_h5_directory(path);
    if (h->status == LM_OK)
        h->status = lm_path(path, "%s/%s_%08" PRId64 ".h5", run->directory, file, step);
    if (h->status != LM_OK || lm_h5_create(h, path) != LM_OK)
        return -1;
    put_root(h, name, &run->units);
    snprintf(number, sizeof number, "%" PRId64, step);
    hid_t data = lm_h5_make_group(h, h->file, "data");
    hid_t iteration = lm_h5_make_group(h, data, number);
    lm_h5_end(data);
    lm_h5_put_real(h, iteration, "time", time);
    lm_h5_put_real(h, iteration, "dt", run->dt);
    lm_h5_put_real(h, iteration, "timeUnitSI", run->units.time);
    return iteration;
}

/* "Binomial" with its parameters, or "none". */
static void put_smoothing(struct lm_h5 *h, hid_t at, const char *name, int passes)
{
    char key[64], text[64];
    lm_h5_put_text(h, at, name, passes > 0 ? "Binomial" : "none");
    if (passes <= 0)
        return;
    snprintf(key, sizeof key, "%sParameters", name);
    snprintf(text, sizeof text, "period=1;numPasses=%d;compensator=false", passes);
    lm_h5_put_text(h, at, key, text);
}

static void put_dimension(struct lm_h5 *h, hid_t at, const struct lm_units *units, const double *powers)
{
    static const double none[7];
    lm_h5_put(h, at, "unitDimension", H5T_NATIVE_DOUBLE, 7, units->is_si ? powers : none);
}

/* ---- meshes ---- */

/* The word of the standard for a boundary; "other" where the standard has none. */
static const char *boundary_word(const char *ours, int particles)
{
    static const char *const words[][3] = {
        /* ours, fields, particles */
        {"periodic", "periodic", "periodic"},  {"open", "open", "other"},
        {"conducting", "reflecting", "other"}, {"reflecting", "reflecting", "reflecting"},
        {"absorbing", "other", "absorbing"},   {"thermal", "other", "reinjecting"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(ours, words[i][0]) == 0)
            return words[i][particles ? 2 : 1];
    return "other";
}

/* The standard requires the order of axisLabels: y_min, y_max, x_min, x_max. The program's own words are in
 * ...Parameters. */
static void put_boundary(struct lm_h5 *h, hid_t at, const char *name, const char *const sides[4], int particles)
{
    static const int order[4] = {2, 3, 0, 1};
    const char *words[4], *ours[4];
    char key[64];
    for (int k = 0; k < 4; k++) {
        ours[k] = sides[order[k]];
        words[k] = boundary_word(ours[k], particles);
    }
    snprintf(key, sizeof key, "%sParameters", name);
    lm_h5_put_texts(h, at, name, 4, words);
    lm_h5_put_texts(h, at, key, 4, ours);
}

static void put_meshes(struct lm_h5 *h, hid_t meshes, const struct lm_openpmd_run *run)
{
    lm_h5_put_text(h, h->file, "meshesPath", "meshes/");
    lm_h5_put_text(h, meshes, "fieldSolver", "other");
    lm_h5_put_text(h, meshes, "fieldSolverParameters", run->solver_parameters ? run->solver_parameters : "");
    put_boundary(h, meshes, "fieldBoundary", run->boundary, 0);
    put_boundary(h, meshes, "particleBoundary", run->particle_boundary, 1);
    put_smoothing(h, meshes, "currentSmoothing", run->smoothing);
    lm_h5_put_text(h, meshes, "chargeCorrection", "none");
}

struct kind {
    double si;
    double powers[7]; /* length, mass, time, current, temperature, amount, luminous intensity */
};

static struct kind kind_of(const struct lm_units *u, int kind)
{
    switch ((enum lm_mesh_kind)kind) {
    case LM_MESH_E:
        return (struct kind){u->electric, {1, 1, -3, -1}};
    case LM_MESH_B:
        return (struct kind){u->magnetic, {0, 1, -2, -1}};
    case LM_MESH_J:
        return (struct kind){u->current, {-2, 0, 0, 1}};
    case LM_MESH_CHARGE_DENSITY:
        return (struct kind){u->charge * u->density, {-3, 0, 1, 1}};
    case LM_MESH_DENSITY:
        return (struct kind){u->density, {-3}};
    case LM_MESH_PRESSURE:
        return (struct kind){u->pressure, {-1, 1, -2}};
    case LM_MESH_VELOCITY:
        return (struct kind){u->velocity, {1, 0, -1}};
    case LM_MESH_TEMPERATURE:
        return (struct kind){u->mass * u->velocity * u->velocity, {2, 1, -2}};
    case LM_MESH_ENERGY_FLUX:
        return (struct kind){u->pressure * u->velocity, {0, 1, -3}};
    case LM_MESH_POWER:
        return (struct kind){u->pressure / u->time, {-1, 1, -3}};
    case LM_MESH_NUMBER:
        return (struct kind){1.0, {0}};
    }
    assert(!"unknown kind of mesh");
    return (struct kind){1.0, {0}};
}

/* Writes the attributes of a record.
 *
 * The standard requires the `position` of a component in [0, 1) of a cell. The program's quantities are at the centre
 * (offset 0) or on the upper faces (offset 1/2) of a cell; measured from its lower corner that is 1/2 and 1. So the
 * cells of the file begin at the centres of the program's cells: gridGlobalOffset is half a cell, and position is the
 * offset. */
static void put_record(struct lm_h5 *h, hid_t at, const struct lm_openpmd_run *run, const struct lm_mesh *mesh)
{
    static const char *const axes[2] = {"y", "x"};
    const double spacing[2] = {run->grid.dy, run->grid.dx};
    const double offset[2] = {run->origin[1] + 0.5 * run->grid.dy, run->origin[0] + 0.5 * run->grid.dx};
    struct kind kind = kind_of(&run->units, mesh->kind);
    lm_h5_put_text(h, at, "geometry", "cartesian");
    lm_h5_put_text(h, at, "dataOrder", "C");
    lm_h5_put_texts(h, at, "axisLabels", 2, axes);
    lm_h5_put(h, at, "gridSpacing", H5T_NATIVE_DOUBLE, 2, spacing);
    lm_h5_put(h, at, "gridGlobalOffset", H5T_NATIVE_DOUBLE, 2, offset);
    lm_h5_put_real(h, at, "gridUnitSI", run->units.length);
    put_dimension(h, at, &run->units, kind.powers);
    lm_h5_put_real(h, at, "timeOffset", mesh->time_offset);
    put_smoothing(h, at, "fieldSmoothing", mesh->smoothed ? run->smoothing : 0);
    if (run->mean.samples > 0) {
        lm_h5_put_whole(h, at, "averageSamples", run->mean.samples);
        lm_h5_put_whole(h, at, "averageFirstStep", run->mean.first);
        lm_h5_put_whole(h, at, "averageLastStep", run->mean.last);
    }
}

/* Writes the array without its ghost cells. */
static void write_inside(struct lm_h5 *h, hid_t data, const struct lm_grid *g, const double *values)
{
    if (h->status != LM_OK)
        return;
    hsize_t whole[2] = {(hsize_t)(g->ny + 2 * LM_GHOST), (hsize_t)g->stride};
    hsize_t start[2] = {LM_GHOST, LM_GHOST}, count[2] = {(hsize_t)g->ny, (hsize_t)g->nx};
    hid_t memory = H5Screate_simple(2, whole, NULL);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, NULL, count, NULL);
    if (H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, H5S_ALL, H5P_DEFAULT, values) < 0)
        lm_h5_error(h, "cannot write the data");
    H5Sclose(memory);
}

/* Returns the dataset, because a scalar record has its attributes there. */
static hid_t write_component(struct lm_h5 *h, hid_t at, const char *name, const struct lm_openpmd_run *run,
                             const struct lm_mesh *mesh)
{
    const struct lm_cell_offset *offset = &mesh->offset;
    assert(offset->x >= 0.0 && offset->x < 1.0 && offset->y >= 0.0 && offset->y < 1.0);
    const double position[2] = {offset->y, offset->x};
    hsize_t dims[2] = {(hsize_t)run->grid.ny, (hsize_t)run->grid.nx};
    hid_t data =
        lm_h5_make_dataset(h, at, name, run->single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, 2, dims, run->compress);
    lm_h5_put_real(h, data, "unitSI", kind_of(&run->units, mesh->kind).si);
    lm_h5_put(h, data, "position", H5T_NATIVE_DOUBLE, 2, position);
    write_inside(h, data, &run->grid, mesh->data);
    return data;
}

static void write_meshes(struct lm_h5 *h, hid_t iteration, const struct lm_openpmd_run *run, int count,
                         const struct lm_mesh *meshes)
{
    hid_t group = lm_h5_make_group(h, iteration, "meshes");
    put_meshes(h, group, run);
    for (int m = 0; m < count;) {
        const struct lm_mesh *first = &meshes[m];
        hid_t record;
        if (!first->component) {
            record = write_component(h, group, first->record, run, first);
            m++;
        } else {
            record = lm_h5_make_group(h, group, first->record);
            for (; m < count && meshes[m].component && strcmp(meshes[m].record, first->record) == 0; m++)
                lm_h5_end(write_component(h, record, meshes[m].component, run, &meshes[m]));
        }
        put_record(h, record, run, first);
        lm_h5_end(record);
    }
    lm_h5_end(group);
}

/* ---- particles ---- */

static const double dim_none[7], dim_length[7] = {1}, dim_mass[7] = {0, 1}, dim_charge[7] = {0, 0, 1, 1},
                                 dim_momentum[7] = {1, 1, -1};

/* Values are those of one real ion (macroWeighted 0), except for the weighting itself. Times weighting^power they are
 * those of the macro-particle. */
static void put_particle_record(struct lm_h5 *h, hid_t at, const struct lm_units *units, const double *dimension,
                                double power, int macro, double time_offset)
{
    uint32_t weighted = (uint32_t)macro;
    put_dimension(h, at, units, dimension);
    lm_h5_put_real(h, at, "timeOffset", time_offset);
    lm_h5_put_real(h, at, "weightingPower", power);
    lm_h5_put(h, at, "macroWeighted", H5T_NATIVE_UINT32, 0, &weighted);
}

/* A component that is the same for all particles is a group in place of a dataset. */
static hid_t put_constant(struct lm_h5 *h, hid_t at, const char *name, double value, double si, uint64_t count)
{
    hid_t group = lm_h5_make_group(h, at, name);
    lm_h5_put_real(h, group, "value", value);
    lm_h5_put(h, group, "shape", H5T_NATIVE_UINT64, 1, &count);
    lm_h5_put_real(h, group, "unitSI", si);
    return group;
}

static void put_constants(struct lm_h5 *h, hid_t at, const struct lm_units *u, const struct lm_openpmd_species *s)
{
    hid_t group = put_constant(h, at, "charge", s->charge, u->charge, s->count);
    put_particle_record(h, group, u, dim_charge, 1.0, 0, 0.0);
    lm_h5_end(group);
    group = put_constant(h, at, "mass", s->mass, u->mass, s->count);
    put_particle_record(h, group, u, dim_mass, 1.0, 0, 0.0);
    lm_h5_end(group);
    /* ED-PIC fixes unitSI = 1 here, so the value itself is in SI. */
    group = put_constant(h, at, "weighting", s->weight * u->density * u->length * u->length, 1.0, s->count);
    put_particle_record(h, group, u, dim_none, 1.0, 1, 0.0);
    lm_h5_put_text(h, group, "comment",
                   u->is_si ? "real ions per metre along z" : "real ions per d_i along z, in n0 d_i^3");
    lm_h5_end(group);
    group = lm_h5_make_group(h, at, "positionOffset");
    put_particle_record(h, group, u, dim_length, 0.0, 0, 0.0);
    lm_h5_end(put_constant(h, group, "x", 0.0, u->length, s->count));
    lm_h5_end(put_constant(h, group, "y", 0.0, u->length, s->count));
    lm_h5_end(group);
}

static void put_patch_value(struct lm_h5 *h, hid_t at, const char *name, hid_t type, const void *value, double si)
{
    hsize_t one = 1;
    hid_t data = lm_h5_make_dataset(h, at, name, type, 1, &one, 0);
    lm_h5_put_real(h, data, "unitSI", si);
    lm_h5_write_rows(h, data, type, 0, 1, value);
    lm_h5_end(data);
}

/* One patch: the whole domain. */
static void put_patches(struct lm_h5 *h, hid_t at, const struct lm_openpmd_run *run, uint64_t count)
{
    const double low[2] = {0.0, 0.0}, size[2] = {run->grid.lx, run->grid.ly}, *const values[2] = {low, size};
    static const char *const names[2] = {"offset", "extent"};
    uint64_t none = 0;
    hid_t patches = lm_h5_make_group(h, at, "particlePatches");
    put_patch_value(h, patches, "numParticles", H5T_NATIVE_UINT64, &count, 1.0);
    put_patch_value(h, patches, "numParticlesOffset", H5T_NATIVE_UINT64, &none, 1.0);
    for (int k = 0; k < 2; k++) {
        hid_t group = lm_h5_make_group(h, patches, names[k]);
        put_dimension(h, group, &run->units, dim_length);
        put_patch_value(h, group, "x", H5T_NATIVE_DOUBLE, &values[k][0], run->units.length);
        put_patch_value(h, group, "y", H5T_NATIVE_DOUBLE, &values[k][1], run->units.length);
        lm_h5_end(group);
    }
    lm_h5_end(patches);
}

static void put_species(struct lm_h5 *h, hid_t at, const struct lm_openpmd_run *run)
{
    lm_h5_put_real(h, at, "particleShape", run->shape);
    lm_h5_put_text(h, at, "currentDeposition", "other");
    lm_h5_put_text(h, at, "currentDepositionParameters", "direct, on the faces, at half steps");
    lm_h5_put_text(h, at, "particlePush", "Boris");
    lm_h5_put_text(h, at, "particleInterpolation", "uniform");
    put_smoothing(h, at, "particleSmoothing", run->smoothing);
}

/* x, y, and the three momenta, in one pass over the particles. */
static void write_particles(struct lm_h5 *h, const hid_t *data, const struct lm_openpmd_particles *particles, int s)
{
    const struct lm_openpmd_species *species = particles->species;
    uint64_t total = species[s].count, size = total < PIECE ? total : PIECE;
    double *block = malloc((size_t)(size > 0 ? size : 1) * 5 * sizeof *block), *column[5];
    if (!block) {
        lm_h5_wrong(h, "no memory for the particles");
        return;
    }
    for (int k = 0; k < 5; k++)
        column[k] = block + (uint64_t)k * size;
    for (uint64_t first = 0; h->status == LM_OK && first < total; first += size) {
        uint64_t count = total - first < size ? total - first : size;
        h->status =
            particles->read(particles->context, s, first, count, column[0], column[1], column[2], column[3], column[4]);
        for (int k = 2; h->status == LM_OK && k < 5; k++)
            for (uint64_t i = 0; i < count; i++)
                column[k][i] *= species[s].mass;
        for (int k = 0; k < 5; k++)
            lm_h5_write_rows(h, data[k], H5T_NATIVE_DOUBLE, first, count, column[k]);
    }
    free(block);
}

static void write_species(struct lm_h5 *h, hid_t at, const struct lm_openpmd_run *run,
                          const struct lm_openpmd_particles *particles, int s)
{
    const struct lm_openpmd_species *species = particles->species;
    static const char *const names[5] = {"x", "y", "x", "y", "z"};
    hsize_t length = species[s].count;
    hid_t position = lm_h5_make_group(h, at, "position"), momentum = lm_h5_make_group(h, at, "momentum"), data[5];
    put_particle_record(h, position, &run->units, dim_length, 0.0, 0, 0.0);
    put_particle_record(h, momentum, &run->units, dim_momentum, 1.0, 0, -0.5 * run->dt);
    for (int k = 0; k < 5; k++) {
        data[k] =
            lm_h5_make_dataset(h, k < 2 ? position : momentum, names[k], H5T_NATIVE_DOUBLE, 1, &length, run->compress);
        lm_h5_put_real(h, data[k], "unitSI", k < 2 ? run->units.length : run->units.momentum);
    }
    put_species(h, at, run);
    put_constants(h, at, &run->units, &species[s]);
    put_patches(h, at, run, species[s].count);
    if (h->status == LM_OK)
        write_particles(h, data, particles, s);
    for (int k = 0; k < 5; k++)
        lm_h5_end(data[k]);
    lm_h5_end(position);
    lm_h5_end(momentum);
}

/* The standard requires that particlesPath exists where it is named, so a run without species names none. */
static void write_all_species(struct lm_h5 *h, hid_t iteration, const struct lm_openpmd_run *run,
                              const struct lm_openpmd_particles *particles)
{
    if (particles->species_count == 0)
        return;
    lm_h5_put_text(h, h->file, "particlesPath", "particles/");
    hid_t all = lm_h5_make_group(h, iteration, "particles");
    for (int s = 0; s < particles->species_count; s++) {
        hid_t group = lm_h5_make_group(h, all, particles->species[s].name);
        write_species(h, group, run, particles, s);
        lm_h5_end(group);
    }
    lm_h5_end(all);
}

/* ---- files ---- */

int lm_openpmd_fields(const struct lm_openpmd_run *run, const char *file, int64_t step, double time, int count,
                      const struct lm_mesh *meshes, const struct lm_openpmd_particles *particles)
{
    struct lm_h5 h;
    hid_t iteration = begin(&h, run, file, step, time);
    if (iteration < 0)
        return lm_h5_finish(&h, 0);
    write_meshes(&h, iteration, run, count, meshes);
    if (particles)
        write_all_species(&h, iteration, run, particles);
    lm_h5_end(iteration);
    return lm_h5_finish(&h, 0);
}

int lm_openpmd_particles(const struct lm_openpmd_run *run, int64_t step, double time,
                         const struct lm_openpmd_particles *particles)
{
    struct lm_h5 h;
    hid_t iteration = begin(&h, run, "particles/data", step, time);
    if (iteration < 0)
        return lm_h5_finish(&h, 0);
    write_all_species(&h, iteration, run, particles);
    lm_h5_end(iteration);
    return lm_h5_finish(&h, 0);
}
