/* A simulation as a library offers it: it is created from a configuration, begun or restored, stepped and asked.
 *
 *     struct lm_config config;
 *     struct lm_sim *sim;
 *     lm_config_read("run.ini", 0, NULL, &config);
 *     lm_sim_create(&config, &sim);
 *     lm_sim_begin(sim);
 *     for (int n = 0; n < 100; n++)
 *         if (lm_sim_check(sim) || lm_sim_step(sim))
 *             break;
 *
 * Every function that returns an int returns enum lm_status; lm_error() has the message. Units: lengths d_i, times
 * 1/Omega_ci, speeds v_A, densities n0, B in B0, E in v_A B0. The algorithm is src/sim/step.c.
 */
#ifndef LARMOR_SIM_H
#define LARMOR_SIM_H

#include "larmor/array.h"
#include "larmor/config.h"
#include "larmor/distribution.h"
#include "larmor/track.h"
#include "larmor/velocity_moments.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lm_sim;
struct lm_map_bins;

/* --- life --- */

/* Creates the backend that the configuration asks for. `config` is borrowed and must outlive the simulation.
 * LM_BAD_INPUT: that backend is not there. The caller frees with lm_sim_destroy. */
int lm_sim_create(const struct lm_config *config, struct lm_sim **out);
void lm_sim_destroy(struct lm_sim **sim);

/* The initial state from the configuration: fields, particles, velocities half a step back. LM_BAD_INPUT: div B of the
 * initial field is not 0, no species has particles, a particle is too fast, an expression is not finite, or there is
 * no memory for what the first step brings in. */
int lm_sim_begin(struct lm_sim *sim);

/* Energy and momentum of the state at t = 0, to which the drift columns of the time series refer. */
struct lm_references {
    double energy, momentum[3]; /* n0 m_p v_A^2 d_i^2 and n0 m_p v_A d_i^2 a unit length */
    double scale;               /* the part of the energy that can change (lm_sim_energy_scale); NaN: not known */
    int changed;                /* 1: a restart has changed settings since then */
};

/* The state from a checkpoint, whose references are returned. LM_BAD_INPUT: the file is damaged, or it has another
 * grid, shape, precision, time step, species, walls, bodies, limits or maps than the configuration. */
int lm_sim_restore(struct lm_sim *sim, const char *path, struct lm_references *references);

/* Writes a checkpoint into the output directory of the configuration and removes all but the newest `keep` ones
 * (0: output.keep). `path` (LM_MAX_PATH) gets its path. LM_FAILED: the disk is full or not writable, or the state is
 * not finite; older checkpoints are then intact. */
int lm_sim_save(struct lm_sim *sim, const struct lm_references *references, int keep, char *path);

/* --- steps --- */

/* Whether the next step can be taken. LM_FAILED: it cannot; lm_error() says step, place and likely cause. LM_STOPPED:
 * there is no memory for what the next step brings in. The state is untouched. */
int lm_sim_check(struct lm_sim *sim);

/* One step; lm_sim_check has passed. LM_FAILED also when the ledger does not close. LM_STOPPED: the step has been given
 * up, as lm_stop_allow (src/base/stop.h) allowed. After a failure the state is good for nothing. */
int lm_sim_step(struct lm_sim *sim);

/* --- questions --- */

int64_t lm_sim_step_number(const struct lm_sim *sim); /* n; t = n dt */
double lm_sim_time(const struct lm_sim *sim);
int lm_sim_is_finite(const struct lm_sim *sim); /* 0 if a maximum of the fields or speeds is infinite or NaN */

/* What is known without looking at particles or fields again. */
struct lm_sim_status {
    int64_t step;
    double time;
    const char *backend;     /* "cpu" or "cuda" */
    uint64_t particle_steps; /* since the start or restart */
    int64_t sorts;           /* of a species, likewise */
    int substeps;            /* of B in the last step */
    int64_t floored_cells;   /* below the density floor */
    double electron_heat;    /* that resistivity has given to evolved electrons since t = 0; n0 m_p v_A^2 d_i^2 */
    double electrons_through_surfaces; /* energy that they have brought through bodies and walls; the same unit */
    int64_t conduction_substeps;       /* of the electrons' heat in the last step */
    struct lm_side_status {
        double fields, electrons; /* energy that they have brought through a side since t = 0; n0 m_p v_A^2 d_i^2 */
        double off;               /* standard error of `fields`, from waves that turn within a step */
        double doubtful;          /* part of `fields` that voids brought and that may be no energy of B */
    } side[LM_SIDES];
    struct lm_species_status {
        uint64_t count;   /* particles that are there */
        double weight;    /* real ions that one of them stands for, n0 d_i^2 a unit length */
        double fastest;   /* largest speed, half a step back */
        int64_t residual; /* loaded + injected - lost - present: 0, or the run has stopped */
        struct lm_ledger ledger;
        double charge_exchange_probability; /* the largest in a step */
        double stopping_cells;              /* stopping length of the fastest ions in the densest gas, in cells */
        int64_t limited_heating_cells;      /* in which the next step exchanges as much heat with electrons as it may */
    } species[LM_MAX_SPECIES];
    struct lm_background_status {
        double least, most; /* over the cells of fluid */
        /* Integrals over the domain; through each side, inwards positive; since t = 0. */
        double loaded, total, entered[LM_SIDES], source, rounded;
        double residual; /* of the ledger, in quanta: 0, or the run has stopped */
        int64_t substeps;
    } background[LM_MAX_BACKGROUNDS];
};
void lm_sim_status(const struct lm_sim *sim, struct lm_sim_status *out);

/* Integrals of the state at t: energies in n0 m_p v_A^2 d_i^2, momentum in n0 m_p v_A d_i^2, a unit length; the largest
 * |div B|, B0/d_i. Kinetic energies and the momentum are NaN where ions may be faster than LM_MAX_SPEED
 * (larmor/physics/numerics/bounds.h) after half a step, or may turn by more radians than that number. Loops over all
 * particles and cells. */
struct lm_totals {
    double kinetic[LM_MAX_SPECIES][3], momentum[3], magnetic[3], electrons, energy, div_b;
};
int lm_sim_totals(struct lm_sim *sim, struct lm_totals *out);

/* The part of the energy that can change, of a state at t = 0 with these totals (lm_energy_scale in
 * src/config/energy.h). Takes B to the host. */
int lm_sim_energy_scale(struct lm_sim *sim, const struct lm_totals *totals, double *scale);

/* Of the whole state; the same on every machine, backend and number of threads. */
int lm_sim_fingerprint(struct lm_sim *sim, uint64_t *fingerprint);

/* A grid array with its ghost cells: lm_config_grid(config).size doubles, placed as larmor/grid.h says. */
int lm_sim_get_array(struct lm_sim *sim, enum lm_array array, double *out);

/* Single values of arrays: a few of them without the whole arrays. */
int lm_sim_get_values(struct lm_sim *sim, uint64_t count, struct lm_array_value *values);

/* The same array where it lies, for reading until the next step or the next question about arrays. NULL where it is not
 * in the memory of this process as a whole (a GPU, many ranks). */
const double *lm_sim_view_array(struct lm_sim *sim, enum lm_array array);

/* `count` particles of a species from number `first` on: positions, and velocities half a step back; in no particular
 * order, which stays the same until the next step or lm_sim_velocity_moments. */
int lm_sim_get_particles(struct lm_sim *sim, int species, uint64_t first, uint64_t count, double *x, double *y,
                         double *vx, double *vy, double *vz);

/* Moments of the velocity of a species, half a step back, with positions of the present step:
 * [list->count][ny][nx] sums over its particles with their shape, in the integers of larmor/velocity_moments.h. A sum
 * times 2^(p list->speed_exponent - LM_MOMENT_BITS), the weight of a particle, and 1/(dx dy) is the moment. */
int lm_sim_velocity_moments(struct lm_sim *sim, int species, const struct lm_moment_list *list, int64_t *sums);

/* Counts the particles of a species in bins, with velocities half a step back, positions and B of the present step:
 * lm_bins_counters(bins) counts. The lower edge of a bin belongs to it. */
int lm_sim_distribution(struct lm_sim *sim, int species, const struct lm_bins *bins, uint64_t *counts);

/* The ions of [track.NAME] number k as they are, with the fields at their places: *count of them, owned by the
 * simulation until its next step. *count is 0 before they are chosen. */
int lm_sim_track(struct lm_sim *sim, int k, uint64_t *count, const struct lm_tracked **ions);

/* A number that tells these ions from others that could have been chosen; 0 before they are chosen. */
uint64_t lm_sim_track_identity(const struct lm_sim *sim, int k);

/* What bodies are to particles, owned by the simulation; NULLs without bodies. */
struct lm_obstacles lm_sim_obstacles(const struct lm_sim *sim);

/* The bins of the maps of hits (larmor/physics/particles/hit_map.h), owned by the simulation; and the map of a species
 * since t = 0: lm_map_size counters. */
const struct lm_map_bins *lm_sim_map_bins(const struct lm_sim *sim);
int lm_sim_get_map(struct lm_sim *sim, int species, uint64_t *counters);

#ifdef __cplusplus
}
#endif
#endif
