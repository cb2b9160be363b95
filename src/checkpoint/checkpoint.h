/* Checkpoints: the full state in one HDF5 file. A run goes on from it with the same bits on any backend.
 *
 *     DIR/checkpoints/checkpoint_00000500.h5   written as *.part, synced, renamed; older ones than `keep` removed
 *
 * The first 512 bytes are the user block of HDF5. They hold a checksum of all other bytes (src/base/checksum.h), which
 * every reader verifies first.
 *
 * Layout: attributes of "/": format "larmor-checkpoint", format_version, step, time, dt, nx, ny, lx, ly, shape,
 * precision, fraction_bits, seed, energy_start, momentum_start[3], energy_scale (where it is known), settings_changed
 * (where it is not 0), side_energy[4][6] (struct lm_side_energy of each side), configuration (the whole run.ini text),
 * software, field_count, field_names[], bordered (where it is not 0) and species_count, species_names[] (their order is
 * that of the fingerprint); /fields/NAME [ny][nx] float64, the last `bordered` ones with ghosts, and those of the
 * strips beyond radiating sides, strip_x_min and so on, of all their arrays (larmor/physics/fields/strip.h);
 * /species/NAME/{x,y} int64 (cells times 2^fraction_bits, inside the domain), {u,v,w} float32 or float64, and
 * attributes: charge, mass, weight, count, limits[], ionised, stopping (a hash of its table) and the ledger.
 *
 * The ledger of a species: loaded, exponent_v, exponent_v2, and the accounts `injected` (one for each entrance, enum
 * lm_entrance), `lost` (one for each channel, enum lm_channel), to_gas, exchanged and to_electrons (one each). The
 * accounts NAME are stored as NAME[] (numbers), NAME_high[][4] and NAME_low[][4]: the upper and lower 64 bits of the
 * sums of v_x, v_y, v_z and v^2. /species/NAME/hits uint64 is the hit map of the species, where the run has maps.
 *
 * /backgrounds, where there are background fields: count, names[], kinds[], and for each field a group with sides[4],
 * exponent, quantum and the ledger: SUM_high and SUM_low, as above, of loaded, source, entered (4 sides), rounded,
 * total. With evolved electrons, whose entropy is the last of these fields, also electrons_gamma, electrons_heat and
 * electrons_through_surfaces.
 *
 * /sums, where outputs are means over time whose samples are not complete: for each a group with the name of the
 * output, the attributes samples and what, and values [arrays][ny][nx] float64. A program that knows nothing of them
 * goes on without.
 *
 * /tracks/NAME, where the run follows ions: attributes species, count and identity; x, y, turns_x, turns_y, channel,
 * left int64 and vx, vy, vz float64 of struct lm_tracked.
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
#include "larmor/track.h"
#include "backend/raw_particles.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_LIMITS = LM_CHANNELS - LM_SURFACES, LM_CHECKPOINT_TRACKS = 8 };

struct lm_checkpoint_species {
    char name[LM_MAX_NAME];
    double charge, mass, weight;
    uint64_t count;
    int limits[LM_LIMITS];   /* 1: particles can leave by this channel (the channels after the surfaces) */
    int ionised;             /* 1: sources bring in ions of this species */
    uint64_t stopping;       /* a hash of the stopping table; 0: there is none */
    struct lm_ledger ledger; /* since the run began */
};

/* The surfaces of the run and the bins of its maps. The ledger and the maps refer to them. */
struct lm_checkpoint_surfaces {
    int sides[LM_SIDES]; /* enum lm_boundary */
    int body_count;
    char body_names[LM_MAX_BODIES][LM_MAX_NAME];
    int body_particles[LM_MAX_BODIES]; /* enum lm_boundary */
    uint64_t body_cells;               /* a hash of the mask of bodies */
    int map_angles, map_energies;      /* angles = 0: no maps */
    double map_energy[2];
    uint64_t map_faces;
};

struct lm_checkpoint_background {
    char name[LM_MAX_NAME];
    int kind, sides[LM_SIDES]; /* enum lm_background_kind, lm_background_side */
    struct lm_background_ledger ledger;
};

/* The sums over time of an output that is a mean (src/output/averages.h). */
enum { LM_SUMS_TEXT = 1024 };
struct lm_checkpoint_sums {
    char name[LM_MAX_NAME];  /* of the output */
    char what[LM_SUMS_TEXT]; /* what is summed, and at which steps: sums of another text belong to another mean */
    int arrays, ny, nx;
    int64_t samples; /* that have been added; 0: none */
    double *values;  /* [arrays][ny][nx], of the caller; NULL: no such output */
};

struct lm_checkpoint_track {
    char name[LM_MAX_NAME], species[LM_MAX_NAME];
    uint64_t count, identity;      /* identity: as lm_sim_track_identity gives it */
    const struct lm_tracked *ions; /* to be written; NULL after reading */
};

struct lm_checkpoint {
    int64_t step;
    double time, dt;
    int nx, ny;
    double lx, ly;
    int shape, precision; /* enums of config.h */
    uint64_t seed;
    double energy_start, momentum_start[3]; /* references of the drift columns */
    double energy_scale;                    /* of the budget of the energy; NaN: a file of an earlier version */
    int has_sides;                          /* 0: a file of an earlier version, without `side` */
    struct lm_side_energy side[LM_SIDES];
    int settings_changed; /* 1: a restart has changed settings since the start */
    int field_count;
    const char *const *field_names; /* the caller's list, also when reading */
    int bordered;                   /* number of fields at the end of the list that are stored with their ghost cells */
    int species_count;
    struct lm_checkpoint_species species[LM_MAX_SPECIES];
    struct lm_checkpoint_surfaces surfaces;
    double electrons_gamma; /* of evolved electrons; 0: there are none */
    double electrons_heat, electrons_through_surfaces;
    int background_count;
    struct lm_checkpoint_background background[LM_MAX_BACKGROUNDS];
    int sums_count; /* when writing; lm_checkpoint_read_sums reads them */
    const struct lm_checkpoint_sums *sums;
    int track_count;
    struct lm_checkpoint_track track[LM_CHECKPOINT_TRACKS];
};

/* The number of counters in the maps of a species. */
uint64_t lm_checkpoint_map_size(const struct lm_checkpoint *head);

/* Callbacks to a running simulation, so that no second copy of all particles is needed. */
struct lm_checkpoint_io {
    void *context;
    /* `packed` is [ny][nx]; for a bordered field [ny + 2 LM_GHOST][nx + 2 LM_GHOST]. */
    int (*get_field)(void *context, int field, double *packed);
    int (*set_field)(void *context, int field, const double *packed);
    int (*get_particles)(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles out);
    int (*set_particles)(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles in);
    int (*get_map)(void *context, int species, uint64_t *counters);       /* where there are maps */
    int (*set_map)(void *context, int species, const uint64_t *counters); /* NULL: the maps are not read */
};

/* Writes DIR/checkpoints/checkpoint_STEP.h5 and removes all checkpoints except the newest `keep`. path_out[LM_MAX_PATH]
 * gets the path. LM_FAILED: the disk is full or not writable; then there is no file of that name, or an older one is
 * intact. */
int lm_checkpoint_write(const char *directory, const struct lm_checkpoint *head, const char *configuration, int keep,
                        const struct lm_checkpoint_io *io, char *path_out);

/* Verifies the checksum of the whole file and reads the head. LM_BAD_INPUT: the file is absent, not HDF5, truncated,
 * damaged (the message names an older undamaged checkpoint of the directory, if there is one), of another program, or
 * of another format version. field_names stays NULL; field_count is the number of fields in the file. */
int lm_checkpoint_head(const char *path, struct lm_checkpoint *head);

/* The newest undamaged checkpoint of a run's directory, and its step; 0: there is none. `damaged` gets the newest one
 * that is damaged and newer than that, or "". Both paths have LM_MAX_PATH bytes. */
int lm_checkpoint_newest(const char *directory, char *path, int64_t *step, char *damaged);

/* The text of the configuration in a file that lm_checkpoint_head has accepted. The caller frees it. */
int lm_checkpoint_configuration(const char *path, char **text);

/* Reads fields (by head->field_names) and particles and hands them to the callbacks. `head` comes from
 * lm_checkpoint_head; the caller sets field_count and field_names to all fields of the file, in any order. The checksum
 * is not verified again. LM_BAD_INPUT: a dataset is missing or has another shape, a value is not finite, or a particle
 * is outside of the domain; some callbacks may have been called. */
int lm_checkpoint_read(const char *path, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io);

/* Reads the sums of the output sums->name, where the file has sums for the text sums->what. Otherwise sums->samples is
 * 0 after it. `path` is of a file that lm_checkpoint_head has accepted. */
int lm_checkpoint_read_sums(const char *path, struct lm_checkpoint_sums *sums);

/* Reads the ions of a track that lm_checkpoint_head has found: `count` of them, without the fields. LM_BAD_INPUT: a
 * dataset is missing or an ion is outside of the domain; the file is damaged. */
int lm_checkpoint_read_track(const char *path, const char *name, uint64_t count, struct lm_tracked *ions);

/* Verifies a checkpoint, or all checkpoints of a directory (of a run, or its checkpoints/), and prints a line for each,
 * with its hash where it is undamaged. LM_BAD_INPUT: one is damaged, there are none, or the file is not a checkpoint.
 */
int lm_checkpoint_verify(const char *path, FILE *out);

/* The fingerprint of a stored state (larmor/physics/numerics/hash.h). It equals the fingerprint of the same state in a
 * running program. The checksum is verified first. */
int lm_checkpoint_fingerprint(const char *path, uint64_t *fingerprint);

#ifdef __cplusplus
}
#endif
#endif
