/* openPMD 1.1.0 output with the ED-PIC extension. Each output is one HDF5 file ("fileBased"), which is written as
 * *.part and renamed.
 *
 *     DIR/fields/data_00000042.h5       meshes, on demand also species; likewise DIR/outputs/NAME_00000042.h5
 *     DIR/particles/data_00000042.h5    species
 *
 * Values are in the normalised units of the program. The unitSI attributes are the factors to SI units for the
 * reference B0 [T] and n0 [m^-3] (lm_units_make). Where the configuration sets none, all values are numbers without a
 * dimension: unitSI is 1 and unitDimension 0, and `comment` says so. Axes are (y, x); data are in C order.
 *
 * The standard has no attributes for means over time. The mesh records of such a file have averageSamples,
 * averageFirstStep and averageLastStep of this program, and their timeOffset leads to the middle of the samples.
 */
#ifndef LARMOR_OUTPUT_OPENPMD_H
#define LARMOR_OUTPUT_OPENPMD_H

#include "base/units.h"
#include "larmor/base.h"
#include "larmor/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What files of fields and of particles both say about the run. The strings are borrowed. */
struct lm_openpmd_run {
    const char *directory;
    struct lm_grid grid; /* of the values in the file; it may be coarser than that of the run */
    double origin[2];    /* x, y of its lower left corner in the domain */
    struct lm_units units;
    double dt;               /* 1/Omega_ci */
    int shape;               /* 1 linear, 2 quadratic */
    int smoothing;           /* binomial passes on moments */
    const char *boundary[4]; /* fields at x_min, x_max, y_min, y_max: "periodic", ... */
    const char *particle_boundary[4];
    const char *solver_parameters; /* free text: the Ohm's law in use */
    int compress;                  /* gzip level, 0: none */
    int single;                    /* 1: the numbers of meshes are stored in single precision */
    struct {
        int64_t samples, first, last; /* the steps of the first and the last sample; samples = 0: no mean */
    } mean;                           /* over time, that the meshes are */
};

enum lm_mesh_kind {
    LM_MESH_E,
    LM_MESH_B,
    LM_MESH_J,
    LM_MESH_CHARGE_DENSITY,
    LM_MESH_DENSITY,
    LM_MESH_PRESSURE,
    LM_MESH_VELOCITY,
    LM_MESH_TEMPERATURE, /* an energy */
    LM_MESH_ENERGY_FLUX,
    LM_MESH_POWER, /* in a volume */
    LM_MESH_NUMBER /* without a unit */
};

/* One component of a mesh record. Components of one record follow each other in a list. */
struct lm_mesh {
    const char *record;           /* "E", "B", "J", "rho", "n_protons", ... */
    const char *component;        /* "x", "y", "z"; NULL for a scalar record */
    int kind;                     /* enum lm_mesh_kind: gives unitDimension and unitSI */
    struct lm_cell_offset offset; /* offset from the centre of the cell of the file, in cells */
    double time_offset;           /* 1/Omega_ci, relative to the file's time */
    int smoothed;                 /* 1: went through the run's smoothing of the moments */
    const double *data;           /* g.size doubles with ghosts; borrowed */
};

/* Reads `count` particles from `first` on of one species: x, y in d_i inside the domain, u in v_A. */
typedef int lm_read_particles(void *context, int species, uint64_t first, uint64_t count, double *x, double *y,
                              double *u, double *v, double *w);

struct lm_openpmd_species {
    const char *name;
    double charge, mass; /* e, m_p, of one ion */
    double weight;       /* real ions a macro-particle stands for, in n0 d_i^2 a unit length */
    uint64_t count;
};

/* Momenta are half a step behind (timeOffset = -dt/2). Memory use is bounded: the particles are read in pieces. */
struct lm_openpmd_particles {
    int species_count;
    const struct lm_openpmd_species *species; /* borrowed */
    lm_read_particles *read;
    void *context;
};

/* `file`: its path in the directory without the step, "fields/data". `particles`: stand in the same file, so that both
 * are one series; NULL: none do. */
int lm_openpmd_fields(const struct lm_openpmd_run *run, const char *file, int64_t step, double time, int count,
                      const struct lm_mesh *meshes, const struct lm_openpmd_particles *particles);

/* A file of particles alone. */
int lm_openpmd_particles(const struct lm_openpmd_run *run, int64_t step, double time,
                         const struct lm_openpmd_particles *particles);

#ifdef __cplusplus
}
#endif
#endif
