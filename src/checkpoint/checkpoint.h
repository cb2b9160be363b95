/* Checkpoints: the full state in one HDF5 file, from which a run goes on with the same bits on any backend.
 *
 *     DIR/checkpoints/checkpoint_00000500.h5   written as *.part, synced, renamed; older ones than `keep` removed
 *
 * The first 512 bytes, HDF5's user block, hold a checksum of all that follows (src/base/checksum.h), which every reader
 * verifies first.
 *
 * Layout: attributes of "/": format "larmor-checkpoint", format_version, step, time, dt, nx, ny, lx, ly, shape,
 * precision, fraction_bits, seed, energy_start, momentum_start[3], configuration (the whole run.ini
 * text), software, field_count, field_names[], bordered (where it is not 0) and species_count, species_names[] (their
 * order is that of the fingerprint); /fields/NAME [ny][nx] float64, the last `bordered` ones with ghosts;
 * /species/NAME/{x,y} int64 (cells times 2^fraction_bits, inside the domain), {u,v,w} float32 or float64, and
 * attributes: charge, mass, weight, count, limits[], ionised, stopping (a hash of its table) and the ledger.
 *
 * The ledger of a species: loaded, exponent_v, exponent_v2, and of what each entrance (enum lm_entrance) has let in
 * (injected) and each channel (enum lm_channel) has taken (lost): NAME[] numbers, NAME_high[][4] and NAME_low[][4], the
 * upper and lower 64 bits of the sums of v_x, v_y, v_z and v^2; likewise, of one account each, to_gas, exchanged and
 * to_electrons. /species/NAME/hits uint64: its map of hits, where the run has maps.
 *
 * /backgrounds, where there are background fields: count, names[], kinds[], and for each field a group with sides[4],
 * exponent, quantum and the ledger: SUM_high and SUM_low, as above, of loaded, source, entered (4 sides), rounded,
 * total. With evolved electrons, whose entropy is the last of these fields, also electrons_gamma, electrons_heat.
 *
 * Attributes of /surfaces: sides[4], body_count, body_names[], body_particles[], body_cells (a hash), map_angles,
 * map_energies, map_energy[2], map_faces.
 */
#ifndef LARMOR_CHECKPOINT_CHECKPOINT_H
#define LARMOR_CHECKPOINT_CHECKPOINT_H

#include <stdio.h>

#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/grid.h"
#include "larmor/ledger.h"
#include "backend/raw_particles.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_LIMITS = LM_CHANNELS - LM_SURFACES };

struct lm_checkpoint_species {
    char name[LM_MAX_NAME];
    double charge, mass, weight;
    uint64_t count;
    int limits[LM_LIMITS];   /* whether particles can leave by the channels after the surfaces */
    int ionised;             /* whether particles are born */
    uint64_t stopping;       /* a hash of the table of stopping; 0: there is none */
    struct lm_ledger ledger; /* since the run began */
};

/* What particles could meet, and the bins of the maps: the ledger and the maps mean nothing without. */
struct lm_checkpoint_surfaces {
    int sides[LM_SIDES]; /* enum lm_boundary */
    int body_count;
    char body_names[LM_MAX_BODIES][LM_MAX_NAME];
    int body_particles[LM_MAX_BODIES]; /* enum lm_boundary */
    uint64_t body_cells;               /* a hash of which cells are which body's */
    int map_angles, map_energies;      /* angles = 0: no maps */
    double map_energy[2];
    uint64_t map_faces;
};

struct lm_checkpoint_background {
    char name[LM_MAX_NAME];
    int kind, sides[LM_SIDES]; /* enum lm_background_kind, lm_background_side */
    struct lm_background_ledger ledger;
};

struct lm_checkpoint {
    int64_t step;
    double time, dt;
    int nx, ny;
    double lx, ly;
    int shape, precision; /* enums of config.h */
    uint64_t seed;
    double energy_start, momentum_start[3]; /* references of the drift columns */
    int field_count;
    const char *const *field_names; /* the caller's list, also when reading */
    int bordered;                   /* the last so many fields have LM_GHOST cells around them */
    int species_count;
    struct lm_checkpoint_species species[LM_MAX_SPECIES];
    struct lm_checkpoint_surfaces surfaces;
    double electrons_gamma, electrons_heat; /* of evolved electrons; gamma = 0: there are none */
    int background_count;
    struct lm_checkpoint_background background[LM_MAX_BACKGROUNDS];
};

/* Counters in the maps of each species. */
uint64_t lm_checkpoint_map_size(const struct lm_checkpoint *head);

/* Callbacks to a running simulation, so that no second copy of all particles is needed. `packed` is [ny][nx]. */
struct lm_checkpoint_io {
    void *context;
    /* Of a bordered field [ny + 2 LM_GHOST][nx + 2 LM_GHOST]. */
    int (*get_field)(void *context, int field, double *packed);
    int (*set_field)(void *context, int field, const double *packed);
    int (*get_particles)(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles out);
    int (*set_particles)(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles in);
    int (*get_map)(void *context, int species, uint64_t *counters);       /* where there are maps */
    int (*set_map)(void *context, int species, const uint64_t *counters); /* or NULL: they are not wanted */
};

/* Writes DIR/checkpoints/checkpoint_STEP.h5 and removes all but the newest `keep`. `path_out` (LM_MAX_PATH) gets the
 * path. LM_FAILED: disk full or not writable; then no file of that name is left or an older one is intact. */
int lm_checkpoint_write(const char *directory, const struct lm_checkpoint *head, const char *configuration, int keep,
                        const struct lm_checkpoint_io *io, char *path_out);

/* Verifies the checksum of the whole file, then reads the head. LM_BAD_INPUT: no such file, not HDF5, truncated,
 * damaged (the message names an older sound checkpoint beside it, where there is one), foreign or of another format
 * version. field_names is left NULL, field_count is what the file holds. */
int lm_checkpoint_head(const char *path, struct lm_checkpoint *head);

/* The text of its configuration, to be freed by the caller; of a file that lm_checkpoint_head has found good. */
int lm_checkpoint_configuration(const char *path, char **text);

/* Reads fields (by `head->field_names`) and particles through the callbacks. `head` is what lm_checkpoint_head gave,
 * with field_count and field_names set by the caller: all fields of the file, in any order; the checksum is not
 * verified again. A missing or misshapen dataset, a value that is not finite, a particle outside of the domain is
 * LM_BAD_INPUT, maybe after some callbacks. */
int lm_checkpoint_read(const char *path, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io);

/* Verifies a checkpoint, or all of a directory (of a run, or its checkpoints/), and prints a line of each, with its
 * hash where it is sound. LM_BAD_INPUT: one of them is not, there are none, or the file is no checkpoint. */
int lm_checkpoint_verify(const char *path, FILE *out);

/* Verifies the checksum. Fingerprint of a stored state; equals the running program's of the same state
 * (larmor/physics/numerics/hash.h). */
int lm_checkpoint_fingerprint(const char *path, uint64_t *fingerprint);

#ifdef __cplusplus
}
#endif
#endif
