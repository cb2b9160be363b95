/* Larmor as a library: a simulation that a program of the user begins, steps and looks into.
 *
 *     struct larmor_simulation *sim;
 *     uint64_t print;
 *     if (larmor_open("run.ini", 0, NULL, &sim) || larmor_begin(sim) || larmor_step(sim, 100) ||
 *         larmor_fingerprint(sim, &print))
 *         fprintf(stderr, "%s\n", larmor_error());
 *     larmor_close(sim);
 *
 * The state is that of `larmor run` with the same settings, to the bit. The functions print nothing, end no process,
 * catch no signals, and write no files but for larmor_save.
 *
 * Errors. A function that returns an int returns enum larmor_status, or a number that its comment names. After another
 * status than LARMOR_OK larmor_error() says what is wrong and what to do; the outputs of the function are then
 * undefined. Where a message says `command line`, it speaks of the overrides.
 *
 * Threads. At most one call of the library may be under way in a process at any time. Calls may come from different
 * threads, and several simulations may exist side by side. No other thread may use HDF5 while larmor_open,
 * larmor_restart or larmor_save runs, unless HDF5 was built for threads. After fork() only one of the two processes may
 * use the library. A simulation runs in one process; under a launcher of MPI that has started several larmor_open
 * fails.
 *
 * Locale. The caller's locale (setlocale, uselocale) does not matter and stays as it is: numbers have a dot in files,
 * texts and messages.
 *
 * HDF5. Its errors within a call print nothing. What the caller has told H5Eset_auto is in force again after each call.
 *
 * Ownership. Texts belong to the library. Those of a simulation live as long as the simulation, unless a comment says
 * less. Arrays belong to the caller.
 *
 * Units: lengths d_i, times 1/Omega_ci, speeds v_A, densities n0, B in B0, E in v_A B0.
 *
 * The names begin with larmor_, and only these functions are exported. The headers of the program itself (prefix lm_)
 * are not installed, because they change with the program. The number in liblarmor.so.NUMBER grows when a program that
 * was built with an older version of this header could no longer run.
 */
#ifndef LARMOR_H
#define LARMOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The values are the program's exit codes. */
enum larmor_status {
    LARMOR_OK = 0,
    LARMOR_FAILED = 1, /* the simulation cannot go on: the plasma is unstable, the disk is full, ... */
    LARMOR_BAD_INPUT =
        2,             /* the caller's file, key, path, name or order of calls is wrong, or memory does not suffice */
    LARMOR_STOPPED = 3 /* there is no memory for the particles that the next step brings in; the state is good */
};

struct larmor_simulation;

/* "0.1.0" */
const char *larmor_version(void);

/* The message of the last failure in this thread, possibly of several lines; valid until the next call in this
 * thread. */
const char *larmor_error(void);

/* --- life --- */

/* Reads a configuration file and applies overrides "section.key=value" as the command line of the program takes them;
 * of two for one key the last one counts. *out is NULL after a failure. LARMOR_BAD_INPUT: the message names every
 * mistake with its line; or several processes have been started by MPI. */
int larmor_open(const char *file, int count, const char *const *overrides, struct larmor_simulation **out);

/* Frees everything. NULL is allowed. */
void larmor_close(struct larmor_simulation *sim);

/* The state at t = 0. Makes the checks that the program makes before a run, that of the memory included.
 * LARMOR_BAD_INPUT: a run of the program could not begin either, or the simulation has begun before. After a failure
 * nothing is left to do but to close the simulation. */
int larmor_begin(struct larmor_simulation *sim);

/* The state of a checkpoint, in place of larmor_begin. "latest" is the newest undamaged one of the output directory
 * (output.directory); where there is none the simulation begins at t = 0. LARMOR_BAD_INPUT: the file cannot be used, or
 * a setting differs that must not, or as in larmor_begin. */
int larmor_restart(struct larmor_simulation *sim, const char *checkpoint);

/* Writes a checkpoint into the folder `checkpoints` of the output directory, which is made where it is missing, and
 * removes no other one. The program can go on from it. It replaces a checkpoint of the same step, and holds no sums of
 * outputs that are means over time, which are the program's: a run of the program that goes on from it leaves out
 * each mean whose samples have begun by this step. *path gets its path, valid until the next call of larmor_save;
 * `path` may be NULL. LARMOR_BAD_INPUT: the directory holds a run of other settings, or a run is writing there.
 * LARMOR_FAILED: it cannot be written. */
int larmor_save(struct larmor_simulation *sim, const char **path);

/* --- steps --- */

/* Takes `count` steps. It does not stop at the end that the settings name: that is step larmor_last_step, and a caller
 * who wants to end there takes at most larmor_last_step(sim) - larmor_step_number(sim) steps. LARMOR_OK: all of them
 * have been taken. Before each the program's check is made. LARMOR_FAILED or LARMOR_STOPPED: the next step cannot be
 * taken; the steps before it have been taken, and the state after them is good. Where a step has failed within, the
 * message says so, and of this simulation only larmor_close may follow. */
int larmor_step(struct larmor_simulation *sim, int64_t count);

/* --- questions about the settings --- */

/* All settings, defaults included, as the text of an INI file. */
const char *larmor_settings(const struct larmor_simulation *sim);

/* Warnings of larmor_begin and larmor_restart, a line each: limits of accuracy that the start is beyond, settings that
 * differ from those of the checkpoint, damaged checkpoints that were passed over. "" if there are none. */
const char *larmor_warnings(const struct larmor_simulation *sim);

void larmor_grid(const struct larmor_simulation *sim, int *nx, int *ny, double *lx, double *ly);
double larmor_time_step(const struct larmor_simulation *sim);
int64_t larmor_last_step(const struct larmor_simulation *sim); /* at which a run of the program would end */

/* Species, in the order of the settings. NULL: k is none of 0 ... count - 1. */
int larmor_species_count(const struct larmor_simulation *sim);
const char *larmor_species_name(const struct larmor_simulation *sim, int k);

/* --- questions about the state; the simulation has begun --- */

int64_t larmor_step_number(const struct larmor_simulation *sim); /* n; -1: it has not begun */
double larmor_time(const struct larmor_simulation *sim);         /* n dt; 0: it has not begun */
const char *larmor_backend(const struct larmor_simulation *sim); /* "cpu" or "cuda"; "": it has not begun */

/* A hash of the whole state; `larmor fingerprint` prints the same number in hexadecimal digits. */
int larmor_fingerprint(struct larmor_simulation *sim, uint64_t *fingerprint);

/* The columns of the time series: step, time, energies, momentum, accounts of what has left and entered, and so on, as
 * docs/user/outputs.md explains them. NULL: k is no column. larmor_row fills values[larmor_column_count]. `rate` counts
 * since the row before. */
int larmor_column_count(const struct larmor_simulation *sim);
const char *larmor_column_name(const struct larmor_simulation *sim, int k);
const char *larmor_column_unit(const struct larmor_simulation *sim, int k); /* "": a pure number */
const char *larmor_column_about(const struct larmor_simulation *sim, int k);
int larmor_row(struct larmor_simulation *sim, double *values);

/* The arrays on the grid: "B/x", "B/y", "B/z", "E/x", ..., "J_i/x", ..., "rho", "p_e", "n_SPECIES", "background_NAME",
 * as in the output of the fields. NULL: k is no array. */
int larmor_array_count(const struct larmor_simulation *sim);
const char *larmor_array_name(const struct larmor_simulation *sim, int k);

/* Where in its cell an array is, from the centre on in cells: x = 0.5 is the upper face along x; and how far from the
 * time of the state it is. */
int larmor_array_place(const struct larmor_simulation *sim, const char *name, double *x, double *y, double *time);

/* Copies an array without ghost cells to out[ny][nx]. */
int larmor_array_copy(struct larmor_simulation *sim, const char *name, double *out);

/* An array where it lies: cell (i, j) is (*first)[j * *stride + i]. It is for reading only, until the next call of
 * larmor_step, of larmor_close, or of larmor_array_view with "p_e"; afterwards its values are undefined, and after
 * larmor_close the memory is gone. *first is NULL where the array is not in the memory of this process (a GPU): copy it
 * then. */
int larmor_array_view(struct larmor_simulation *sim, const char *name, const double **first, int64_t *stride);

/* The number of particles of a species, charge [e] and mass [m_p] of an ion, and the number of ions that a particle
 * stands for [n0 d_i^2]. Pointers may be NULL. */
int larmor_species(const struct larmor_simulation *sim, const char *name, uint64_t *count, double *charge, double *mass,
                   double *weight);

/* Copies `count` particles of a species from number `first` on: positions, and velocities half a step back. Their order
 * is arbitrary, and stays the same until the next call of larmor_step. */
int larmor_particles(struct larmor_simulation *sim, const char *species, uint64_t first, uint64_t count, double *x,
                     double *y, double *vx, double *vy, double *vz);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
