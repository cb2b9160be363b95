/* The configuration of a run with all defaults resolved, and the functions that read and write it.
 *
 * One table of keys (src/config/keys.c) drives parsing, checking, `larmor keys`, the reference in config/ and the echo
 * in run.ini. A new key is one row in that table and one member in this header.
 */
#ifndef LARMOR_CONFIG_H
#define LARMOR_CONFIG_H

#include <stdio.h>

#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/body.h"
#include "larmor/distribution.h"
#include "larmor/grid.h"
#include "larmor/ionisation.h"
#include "larmor/particles.h"
#include "larmor/ranks.h"
#include "larmor/stopping.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the flow has to do with the fields of a side: nothing; it may choose them, and has kept the default; it has
 * chosen others. */
enum lm_by_flow { LM_NOT_BY_FLOW, LM_LEFT_TO_FLOW, LM_CHANGED_BY_FLOW };
enum lm_closure { LM_ISOTHERMAL, LM_POLYTROPIC, LM_EVOLVED };
enum lm_solver { LM_SOLVER_HYBRID, LM_SOLVER_NONE };
enum lm_temperature { LM_TEMPERATURE_AXES, LM_TEMPERATURE_FIELD_ALIGNED };
enum lm_backend_kind { LM_BACKEND_AUTO, LM_BACKEND_CPU, LM_BACKEND_CUDA };

/* Members of type char[LM_MAX_TEXT] hold expressions as the user wrote them. The reader has checked them. */
struct lm_species_config {
    char name[LM_MAX_NAME];
    double charge;                    /* Z, > 0, in e */
    double mass;                      /* > 0, in m_p */
    double particles_per_cell;        /* > 0, in a cell of density 1; the weight of a particle is its inverse */
    double mean_particles_per_cell;   /* only while the configuration is read, then INFINITY */
    int start;                        /* enum lm_start */
    char density[LM_MAX_TEXT];        /* n0 */
    char drift[3][LM_MAX_TEXT];       /* v_A */
    char force[3][LM_MAX_TEXT];       /* on an ion, of x, y and t; m_p v_A Omega_ci */
    char eta[LM_MAX_TEXT];            /* of the friction with electrons (electron_friction.h); mu0 v_A d_i */
    int temperature_kind;             /* enum lm_temperature */
    char temperature[3][LM_MAX_TEXT]; /* along x, y, z; or along B and across B. B0^2/(mu0 n0) */
    char inflow_density[LM_MAX_TEXT]; /* density beyond inflow sides, of x, y and t; "": as `density`. n0 */
    double drag_rate;                 /* rate nu of dv/dt = -nu v, Omega_ci */
    double scattering_rate;           /* d<theta^2>/dt of the angle in one plane, rad^2 Omega_ci */
    double scattering_sigmas;         /* largest scattering angle, in standard deviations; beyond: theta_cutoff */
    double lost_below_energy;         /* kinetic energy at which a particle has stopped, m_p v_A^2: energy_stopped */
    double lost_below_pitch;          /* least angle between v and B, degrees; below it: theta_boundary */
    double lost_above_pitch;          /* largest angle; above it: theta_boundary */
    char gas[LM_MAX_NAME];            /* background field with which the ions collide; "": none */
    int gas_field;                    /* number of that field, or -1; not a key */
    char stopping_table[LM_MAX_PATH]; /* file, see larmor/stopping.h; "": none */
    double scattering_power;          /* d<theta^2>/ds of the angle in space per unit of density, rad^2/(n0 d_i) */
    double charge_exchange_cross_section; /* 1/(n0 d_i) */
    double charge_exchange_rate;          /* rate coefficient, added to that of the cross-section; Omega_ci/n0 */
    double gas_drag_rate;                 /* rate coefficient of dv/dt = -nu n (v - u), Omega_ci/n0 */
    double electron_heat_exchange_rate;   /* rate of slowing down on electrons at n = 1, T_e = 1; Omega_ci */
    int64_t collide_every; /* >= 1: collisions are computed every so many steps, for all of them at once */
    /* Not a key: the contents of the file `stopping_table`; the configuration owns it. */
    struct lm_stopping_table stopping;
};

struct lm_body_config {
    char name[LM_MAX_NAME];
    int shape;                     /* enum lm_body_shape */
    double x, y;                   /* centre of a disk or box, d_i */
    double radius;                 /* of a disk */
    double width, height;          /* of a box */
    char points[LM_MAX_TEXT];      /* of a polygon: "x y, x y, ...", d_i; closed, even-odd rule */
    char file[LM_MAX_PATH];        /* of a mask: PGM, or HDF5 with `dataset` [ny][nx]; a value other than 0 is body */
    char dataset[LM_MAX_NAME];     /* in the HDF5 file of a mask */
    int particles;                 /* enum lm_boundary: LM_ABSORBING, LM_REFLECTING, LM_THERMAL */
    double temperature;            /* of re-emitted particles, B0^2/(mu0 n0) */
    int fields;                    /* enum lm_body_fields */
    char resistivity[LM_MAX_TEXT]; /* mu0 v_A d_i */
};

struct lm_background_config {
    char name[LM_MAX_NAME];
    int kind;                      /* enum lm_background_kind */
    char initial[LM_MAX_TEXT];     /* value at the start, of x and y; n0 (neutral gas), or without a unit */
    int flow;                      /* enum lm_flow: what carries the field */
    char velocity[2][LM_MAX_TEXT]; /* of a prescribed flow, of x, y and t; v_A */
    char stream[LM_MAX_TEXT];      /* stream function in place of `velocity`; "": none. v_A d_i */
    int scheme;                    /* enum lm_scheme */
    int single;                    /* 1: smoothness indicators in single precision */
    int limited;                   /* 1: the field is kept between `least` and `most` */
    double least, most;            /* most = INFINITY: the configuration sets no maximum */
    double diffusivity;            /* v_A d_i */
    char source[LM_MAX_TEXT];      /* per unit of time, of x, y and t; "0": none */
    int sides[LM_SIDES];           /* enum lm_background_side */
    char inflow[LM_MAX_TEXT];      /* value beyond inflow sides, of x, y and t */
    double courant;                /* largest Courant number of a substep, (0, 1] */
    double temperature;            /* of a neutral gas, and so of ions made by charge exchange; B0^2/(mu0 n0) */
    int gains;                     /* as in struct lm_background */
};

struct lm_ionisation_config {
    char name[LM_MAX_NAME];
    char species[LM_MAX_NAME];     /* the species that gains the ions */
    char rate[LM_MAX_TEXT];        /* ions per volume and time, of x, y and t; "": a gas is ionised. n0 Omega_ci */
    char gas[LM_MAX_NAME];         /* background field that loses what the ions gain; "": none */
    char frequency[LM_MAX_TEXT];   /* ionisations of an atom of the gas per time, of x, y and t; Omega_ci */
    char temperature[LM_MAX_TEXT]; /* of the new ions, of x, y and t; B0^2/(mu0 n0) */
    char drift[3][LM_MAX_TEXT];    /* of the new ions, of x, y and t; "": the velocity of the gas, or 0. v_A */
    int into, from;                /* numbers of the species and of the background field (-1: none); not keys */
};

/* An array of a file, as a function of x and y that expressions may use: NAME, or NAME_az of a magnetic field. */
struct lm_data_config {
    char name[LM_MAX_NAME];
    char file[LM_MAX_PATH];            /* HDF5 */
    char dataset[256];                 /* [ny][nx]; or "" */
    char magnetic_field[256];          /* a record with the components x and y, for its vector potential; or "" */
    char meshes[256];                  /* a group of records of which nothing is used; or "" */
    double from_x, to_x, from_y, to_y; /* what the cells of the array cover, d_i; INFINITY: as the file or the domain */
    struct lm_samples *samples;        /* owned; not a key */
};
enum { LM_MAX_DATA = 16 };

/* Waves of random phases in B and in the velocity, as functions that expressions may use: NAME_az, NAME_bz, NAME_ux,
 * NAME_uy, NAME_uz. */
struct lm_spectrum_config {
    char name[LM_MAX_NAME];
    double from_k, to_k;             /* wave numbers, 1/d_i */
    double slope;                    /* of the power at k, k^-slope */
    double amplitude, velocity;      /* root mean squares over the domain; B0, v_A */
    double helicity, cross_helicity; /* -1 to 1 */
    uint64_t seed;
    struct lm_waves *waves; /* owned; not a key */
};
enum { LM_MAX_SPECTRA = 4 };

/* What an output on the grid may hold: once, and from LM_Q_DENSITY on for each species. */
enum lm_quantity {
    LM_Q_B,
    LM_Q_E,
    LM_Q_E_TERMS,
    LM_Q_CURRENT,
    LM_Q_ION_CURRENT,
    LM_Q_CHARGE_DENSITY,
    LM_Q_ELECTRON_PRESSURE,
    LM_Q_ELECTRON_TEMPERATURE,
    LM_Q_HEATING,
    LM_Q_BACKGROUNDS,
    LM_Q_DENSITY,
    LM_Q_VELOCITY,
    LM_Q_PRESSURE,
    LM_Q_TEMPERATURE,
    LM_Q_ENERGY_FLUX,
    LM_QUANTITIES
};
extern const char *const lm_quantity_names[LM_QUANTITIES]; /* "B", "E", "J", ... */

enum { LM_MAX_OUTPUTS = 16, LM_MAX_LIST = 256 /* bytes of a list of words */ };

/* A part of the domain: the cells whose centres lie in it. */
struct lm_region {
    double from_x, to_x, from_y, to_y; /* d_i; INFINITY: that side of the domain */
    struct lm_cells cells;             /* not a key */
};

struct lm_output_config {
    char name[LM_MAX_NAME];
    int64_t every;                /* steps, >= 1 */
    int64_t average;              /* steps before an output over which it is a mean, <= every; 0: it is none */
    int64_t average_every;        /* steps between two samples of the mean; divides `average` */
    char quantities[LM_MAX_LIST]; /* names of lm_quantity_names */
    char species[LM_MAX_LIST];    /* their names; "": all */
    struct lm_region region;
    int coarsen;         /* the mean of so many times so many cells is one value, >= 1 */
    int precision;       /* enum lm_precision: of the file */
    int compress;        /* gzip level, 0..9 */
    unsigned wanted, of; /* bits of enum lm_quantity, and of species; not keys */
};

extern const char *const lm_axis_names[LM_AXES]; /* "x", "y", "vx", ..., "v_par", "v_perp", "energy", "pitch", ... */

struct lm_distribution_config {
    char name[LM_MAX_NAME];
    int64_t every;                           /* steps, >= 1 */
    char axes[LM_MAX_LIST];                  /* one to three of lm_axis_names */
    char bins[LM_MAX_LIST];                  /* a number for each axis */
    char from[LM_MAX_LIST], to[LM_MAX_LIST]; /* the lower end of the first bin and the upper end of the last one */
    char species[LM_MAX_LIST];               /* their names; "": all */
    struct lm_region region;
    /* Not keys: */
    struct lm_bins into; /* what the keys above say */
    unsigned of;         /* bits of species */
};

/* Points at which values are sampled often. */
struct lm_probe_config {
    char name[LM_MAX_NAME];
    int64_t every;                       /* steps, >= 1 */
    char quantities[LM_MAX_LIST];        /* names of lm_quantity_names */
    char x[LM_MAX_LIST], y[LM_MAX_LIST]; /* a number for each point, d_i */
    int line;                            /* so many points at even distances along the points; 0: the points */
    /* Not keys: */
    unsigned wanted; /* bits of enum lm_quantity */
    int points;
    double *place[2]; /* owned: x and y of each point */
};
enum { LM_MAX_PROBES = 8, LM_MOST_POINTS = 1 << 17 };

/* Ions that are followed. */
struct lm_track_config {
    char name[LM_MAX_NAME];
    char species[LM_MAX_NAME];
    int count;               /* at most so many, 1..1e6 */
    char where[LM_MAX_TEXT]; /* of x, y, vx, vy, vz: ions may be chosen where it is not 0 */
    int64_t start;           /* the step at which they are chosen, >= 0 */
    int64_t every;           /* steps between two samples, >= 1 */
    int of;                  /* number of the species; not a key */
};
enum { LM_MAX_TRACKS = 8 };

struct lm_config {
    char file[LM_MAX_PATH]; /* name of the configuration file, for messages */
    struct {
        double t_end, dt; /* 1/Omega_ci; steps = round(t_end / dt) unless the configuration sets steps */
        int64_t steps;
        uint64_t seed;
        int backend;         /* enum lm_backend_kind */
        int threads;         /* 0: as many as have enough to do */
        int rebalance;       /* 1: ranks divide the cells anew when it pays */
        int halo;            /* its width in cells; 0: the program chooses */
        double rank_limit;   /* s: how long a rank waits for another one */
        int gpu_exchange;    /* enum lm_gpu_exchange */
        int tile;            /* 8 or 16 cells; 0: the program chooses */
        int64_t sort_every;  /* steps between two sorts; 0: the program sorts when that pays */
        double energy_limit; /* largest share of the energy whose change may stay unexplained without a warning, > 0 */
    } run;
    struct {
        int nx, ny;
        double lx, ly; /* d_i */
    } grid;
    struct {
        int closure;        /* enum lm_closure */
        double temperature; /* at density 1, B0^2/(mu0 n0); with LM_EVOLVED at the start */
        double gamma;       /* polytropic index */
        /* Only with LM_EVOLVED: */
        char initial_temperature[LM_MAX_TEXT]; /* T in p_e = n T at the start; "": `temperature` counts */
        int scheme, single;                    /* for the entropy, as in struct lm_background_config */
        double courant;
        double conductivity, conductivity_across; /* along and across B; n0 v_A d_i */
    } electrons;
    struct {
        int solver; /* enum lm_solver: hybrid, or none (test particles in prescribed fields) */
        char b[3][LM_MAX_TEXT];
        char az[LM_MAX_TEXT];   /* vector potential; "" or "0": none */
        char e[3][LM_MAX_TEXT]; /* only with solver = none or a side with LM_INFLOW_E */
        char eta[LM_MAX_TEXT];
        double eta_hyper;
        double density_floor;  /* > 0, n0 */
        int smoothing;         /* binomial passes over the moments and over E for the push, 0..8 */
        int electron_friction; /* 1: it cancels the resistive part of E, which then does not act on the ions */
        double substep_safety; /* largest product of frequency and substep, <= 2.7 */
        int min_substeps;      /* least number, also where fewer would be stable */
        int max_substeps;      /* largest number; a step that needs more stops the run */
    } fields;
    struct {
        char current[3][LM_MAX_TEXT]; /* of coils and antennas, of x, y and t; B0/(mu0 d_i) */
        char az[LM_MAX_TEXT];         /* of magnets: curl(az z) + bz z is part of B and does not change. B0 d_i */
        char bz[LM_MAX_TEXT];         /* B0 */
    } external;                       /* outside the plasma; only with solver = hybrid */
    struct {
        int shape;     /* enum lm_shape_order */
        int precision; /* enum lm_precision */
    } particles;
    int species_count;
    struct lm_species_config species[LM_MAX_SPECIES];
    int boundary[LM_SIDES];                /* enum lm_boundary: what a side does to particles */
    double boundary_temperature[LM_SIDES]; /* of thermal sides, B0^2/(mu0 n0) */
    int boundary_fields[LM_SIDES];         /* enum lm_field_boundary; only with solver = hybrid */
    /* Not keys: enum lm_by_flow; and the speed of the flow where it has changed the default, else 0. The flow out of an
     * absorbing side is in units of the thermal speed, that into an inflow side in units of the speed of fast waves. */
    int boundary_by_flow[LM_SIDES];
    double boundary_speed[LM_SIDES];
    double layer[LM_SIDES]; /* width of the resistive layer that damps waves before a side, d_i; 0: none */
    double layer_eta;       /* resistivity of the layers at the side, mu0 v_A d_i */
    int body_count;
    struct lm_body_config body[LM_MAX_BODIES];
    int background_count;
    struct lm_background_config background[LM_MAX_BACKGROUNDS];
    int ionisation_count;
    struct lm_ionisation_config ionisation[LM_MAX_IONISATIONS];
    struct {
        double b0; /* T; 0: not set */
        double n0; /* m^-3; 0: not set */
    } units;
    struct {
        char directory[LM_MAX_PATH];
        int64_t series_every, fields_every, particles_every, checkpoint_every; /* steps; 0: never */
        int keep;                                                              /* checkpoints kept on disk, >= 1 */
        int particles_with_fields; /* 1: particles of a step are in its file of fields */
        double particles_fraction; /* fraction of the particles that an output holds, (0, 1] */
        int compress;              /* gzip level of fields, particles, maps and distributions, 0..9 */
        double wall_limit;         /* s; 0: none. Written hh:mm:ss */
        int64_t maps_every;        /* steps between two hit maps; 0: only at the end */
        int map_angles;            /* bins of the angle of incidence, 0 to 90 degrees; 0: no maps */
        int map_energies;          /* bins of the energy, equal in its logarithm; two more lie below and above them */
        double map_energy[2];      /* lower end of the lowest bin, upper end of the highest bin; m_p v_A^2 */
    } output;
    int data_count;
    struct lm_data_config data[LM_MAX_DATA];
    int spectrum_count;
    struct lm_spectrum_config spectrum[LM_MAX_SPECTRA];
    int output_count;
    struct lm_output_config outputs[LM_MAX_OUTPUTS]; /* [output.NAME] */
    int distribution_count;
    struct lm_distribution_config distribution[LM_MAX_OUTPUTS];
    int probe_count;
    struct lm_probe_config probe[LM_MAX_PROBES];
    int track_count;
    struct lm_track_config track[LM_MAX_TRACKS];
    struct lm_names *names; /* owned; those of [const], [functions], [data.NAME] and [spectrum.NAME], and nx, ny, lx,
                               ly, dx, dy, dt, pi */
    /* [const] and [functions] as the user wrote them, in order, for the echo in run.ini. */
    int const_count, function_count;
    struct lm_definition {
        char name[50]; /* or NAME(ARGUMENT, ...) */
        char text[LM_MAX_TEXT];
    } const_text[64], function_text[64];
    char *notes; /* owned; lines for the user on keys that have another name now; NULL: there are none */
};

/* Reads and checks FILE, applies the overrides "section.key=value", and resolves all defaults. The last override of a
 * key counts. LM_BAD_INPUT: lm_error() holds all errors, each on its line:
 * `FILE:LINE: section.key: what is wrong[, did you mean ...?]`. The caller frees with lm_config_free in either case. */
int lm_config_read(const char *file, int override_count, const char *const *overrides, struct lm_config *config);

/* LM_BAD_INPUT: two overrides have the same key. On a command line that is a mistake. */
int lm_config_check_repeats(int override_count, const char *const *overrides);
void lm_config_free(struct lm_config *config);

/* The same from a text. `name` is the name of the file in messages and for the default output directory. */
int lm_config_read_text(const char *name, const char *text, int override_count, const char *const *overrides,
                        struct lm_config *config);

/* The expression of the density of a species beyond inflow sides: `inflow_density`, or `density` where that is not set.
 */
static inline const char *lm_inflow_density(const struct lm_species_config *s)
{
    return s->inflow_density[0] ? s->inflow_density : s->density;
}

/* x_min, x_max, y_min, y_max */
extern const char *const lm_side_names[LM_SIDES];

/* The grid of a run, and what its sides do to particles. */
struct lm_grid lm_config_grid(const struct lm_config *config);

/* Writes all resolved keys, defaults included, as an INI file. Reading that file gives the same configuration. */
int lm_config_write(const struct lm_config *config, FILE *out);

/* Prints the table of keys: section, key, type, unit, range, default and meaning. `markdown` = 0: as plain text. */
void lm_keys_print(FILE *out, int markdown);

/* Prints the manual page (troff), with what the program says of its usage and with every key. */
void lm_keys_man(FILE *out, const char *usage);

#ifdef __cplusplus
}
#endif
#endif
