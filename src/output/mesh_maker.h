/* An output of values on the grid in the making: what meshes.c and species_meshes.c share. */
#ifndef LARMOR_OUTPUT_MESH_MAKER_H
#define LARMOR_OUTPUT_MESH_MAKER_H

#include "checkpoint/checkpoint.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/sim.h"
#include "output/openpmd.h"

enum { LM_MAX_MESHES = 32 + 17 * LM_MAX_SPECIES + LM_MAX_BACKGROUNDS, LM_MESH_NAME = LM_MAX_NAME + 16 };

struct lm_mesh_request {
    unsigned wanted, of; /* bits of enum lm_quantity, and of species */
    struct lm_cells region;
    int coarsen, single, compress;
    const char *file;                /* "fields/data"; NULL: no file, only a sample of the mean */
    struct lm_checkpoint_sums *sums; /* of a mean over time, which the present state joins; NULL: no such mean */
    int64_t average_every;           /* steps between its samples */
    int with_particles;              /* 1: the file has the particles too */
};

/* Values of the file are means over coarsen x coarsen cells of the region. */
struct lm_mesh_maker {
    struct lm_sim *sim;
    const struct lm_config *config;
    const struct lm_mesh_request *request;
    struct lm_grid grid;   /* of the run */
    struct lm_grid coarse; /* of the file */
    double *work;          /* an array of the run */
    int summed;            /* arrays of this state that are in the sums */
    int count, status, threads;
    struct lm_mesh mesh[LM_MAX_MESHES];
    char name[LM_MAX_MESHES][LM_MESH_NAME]; /* of the records */
};

extern const char *const lm_mesh_axes[3];          /* "x", "y", "z" */
extern const struct lm_cell_offset lm_mesh_centre; /* of a cell */

int lm_mesh_wants(const struct lm_mesh_maker *m, enum lm_quantity quantity);

/* Adds a mesh with memory of its own, filled with 0. NULL: there is no memory, and m->status says so. */
double *lm_mesh_add(struct lm_mesh_maker *m, const char *record, const char *component, int kind,
                    struct lm_cell_offset offset);

/* Fills an array of the file, with ghost cells, from `values`: an array of cells in rows of `stride` with cell (0, 0)
 * at the beginning. A value is the mean over the cells of the file's cell. Where the output is a mean over time, the
 * array joins the sums, and `out` gets the mean of all samples until now. What is not linear (ratios, pressures) is
 * computed from such arrays, so it is that of all cells and samples together. */
void lm_mesh_coarsen(struct lm_mesh_maker *m, const double *values, size_t stride, double *out);

/* The same from an array of the grid. */
void lm_mesh_coarsen_array(struct lm_mesh_maker *m, const double *array, double *out);

/* The same from one component of a vector that follows from B in each cell. `b`: the three arrays of lm_output_b. */
void lm_mesh_coarsen_of_b(struct lm_mesh_maker *m, const double *b, int component,
                          struct lm_vector (*of)(const struct lm_grid *, struct lm_view), double *out);

/* Copies an array of the simulation to a new mesh. */
void lm_mesh_add_array(struct lm_mesh_maker *m, enum lm_array array, const char *record, const char *component,
                       int kind, struct lm_cell_offset offset);

/* src/output/species_meshes.c: adds the meshes of a species. For each species there are so many of them, and so many
 * arrays that go through lm_mesh_coarsen. */
void lm_mesh_add_species(struct lm_mesh_maker *m, int species);
int lm_mesh_species_count(unsigned wanted);
int lm_mesh_species_sums(unsigned wanted);

#endif
