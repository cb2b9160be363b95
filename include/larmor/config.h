/* The resolved configuration of a run, and how it is read.
 *
 * One table of keys (src/config/keys.c) drives parsing, checking, `larmor keys`, the reference in config/ and the echo
 * in run.ini: a new key is one row there and one member here.
 */
#ifndef LARMOR_CONFIG_H
#define LARMOR_CONFIG_H

#include <stdio.h>

#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/body.h"
#include "larmor/grid.h"
#include "larmor/ionisation.h"
#include "larmor/stopping.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lm_closure { LM_ISOTHERMAL, LM_POLYTROPIC, LM_EVOLVED };
enum lm_vacuum { LM_VACUUM_FLOOR, LM_VACUUM_ZERO_E };
enum lm_solver { LM_SOLVER_HYBRID, LM_SOLVER_NONE };
enum lm_shape_order { LM_LINEAR = 1, LM_QUADRATIC = 2 };
enum lm_precision { LM_SINGLE = 32, LM_DOUBLE = 64 };
enum lm_start { LM_RANDOM, LM_QUIET };
enum lm_temperature { LM_TEMPERATURE_AXES, LM_TEMPERATURE_FIELD_ALIGNED };
enum lm_backend_kind { LM_BACKEND_AUTO, LM_BACKEND_CPU, LM_BACKEND_CUDA };

/* Members of type char[LM_MAX_TEXT] hold expressions as the user wrote them, already checked. */
struct lm_species_config {
    char name[LM_MAX_NAME];
    double charge;                    /* Z, > 0, in e */
    double mass;                      /* > 0, in m_p */
    double particles_per_cell;        /* > 0, where the density is 1: the weight of a particle is its inverse */
    int start;                        /* enum lm_start */
    char density[LM_MAX_TEXT];        /* n0 */
    char drift[3][LM_MAX_TEXT];       /* v_A */
    int temperature_kind;             /* enum lm_temperature */
    char temperature[3][LM_MAX_TEXT]; /* along x, y, z; or along B, across B, (unused); B0^2/(mu0 n0) */
    char inflow_density[LM_MAX_TEXT]; /* beyond inflow sides, of x, y and t; "": `density`. n0 */
    double slowing;                   /* rate nu of dv/dt = -nu v, Omega_ci */
    double scattering;                /* d<theta^2>/dt of the angle in one plane, rad^2 Omega_ci */
    double scattering_sigmas;         /* where the sampled tail of the angle ends: theta_cutoff */
    double energy_cutoff;             /* kinetic energy, m_p v_A^2: slower ones have stopped */
    double pitch_min, pitch_max;      /* accepted angles between v and B, degrees: theta_boundary */
    char gas[LM_MAX_NAME];            /* background field that it collides with; "": none */
    int gas_field;                    /* its number, or -1: not a key */
    char stopping_table[LM_MAX_PATH]; /* larmor/stopping.h; "": none */
    double scattering_power;          /* d<theta^2>/ds of the angle in space a unit of density, rad^2/(n0 d_i) */
    double charge_exchange;           /* cross-section, 1/(n0 d_i) */
    double charge_exchange_rate;      /* rate coefficient besides, Omega_ci/n0 */
    double gas_friction;              /* rate coefficient of dv/dt = -nu n (v - u), Omega_ci/n0 */
    double electron_exchange;         /* rate of slowing down on electrons at n = 1, T_e = 1; Omega_ci */
    int64_t collide_every;            /* steps that collisions are done for at once, >= 1 */
    /* Not a key: what is in the file `stopping_table`; owned by the configuration. */
    struct lm_stopping_table stopping;
};

struct lm_body_config {
    char name[LM_MAX_NAME];
    int shape;                     /* enum lm_body_shape */
    double x, y;                   /* centre of a disk or box, d_i */
    double radius;                 /* of a disk */
    double width, height;          /* of a box */
    char points[LM_MAX_TEXT];      /* of a polygon: "x y, x y, ...", d_i; closed, even-odd rule */
    char file[LM_MAX_PATH];        /* of a mask: PGM, or HDF5 with `dataset` [ny][nx]; not 0: body */
    char dataset[LM_MAX_NAME];     /* in an HDF5 file */
    int particles;                 /* enum lm_boundary: LM_ABSORBING, LM_REFLECTING, LM_THERMAL */
    double temperature;            /* of what it re-emits, B0^2/(mu0 n0) */
    int fields;                    /* enum lm_body_fields */
    char resistivity[LM_MAX_TEXT]; /* mu0 v_A d_i */
};

struct lm_background_config {
    char name[LM_MAX_NAME];
    int kind;                      /* enum lm_background_kind */
    char initial[LM_MAX_TEXT];     /* of x and y; n0 (neutral gas), or without a unit */
    int flow;                      /* enum lm_flow: what carries it */
    char velocity[2][LM_MAX_TEXT]; /* where that is prescribed, of x, y and t; v_A */
    char stream[LM_MAX_TEXT];      /* or the stream function instead; "": none. v_A d_i */
    int scheme;                    /* enum lm_scheme */
    int single;                    /* smoothness in single precision */
    int limited;                   /* kept between the next two */
    double least, most;            /* most: INFINITY where not given */
    double diffusivity;            /* v_A d_i */
    char source[LM_MAX_TEXT];      /* of x, y and t; a unit of time. "0": none */
    int sides[LM_SIDES];           /* enum lm_background_side */
    char inflow[LM_MAX_TEXT];      /* what flows in by inflow sides, of x, y and t */
    double courant;                /* largest of a substep, (0, 1] */
    double temperature;            /* of a neutral gas: of the ions that charge exchange makes; B0^2/(mu0 n0) */
    int gains;                     /* as in struct lm_background */
};

struct lm_ionisation_config {
    char name[LM_MAX_NAME];
    char species[LM_MAX_NAME];     /* that gains */
    char rate[LM_MAX_TEXT];        /* ions born a volume and time, of x, y and t; "": of a gas. n0 Omega_ci */
    char gas[LM_MAX_NAME];         /* background field that loses what the ions gain; "": none */
    char frequency[LM_MAX_TEXT];   /* of the gas: ionisations of an atom a time, of x, y and t. Omega_ci */
    char temperature[LM_MAX_TEXT]; /* of those born, of x, y and t; B0^2/(mu0 n0) */
    char drift[3][LM_MAX_TEXT];    /* likewise; "": the gas's flow, or 0. v_A */
    int into, from;                /* the species; the background field, -1: none */
};

struct lm_config {
    char file[LM_MAX_PATH]; /* where it came from, for messages */
    struct {
        double t_end, dt; /* 1/Omega_ci; steps = round(t_end / dt) unless steps is given */
        int64_t steps;
        uint64_t seed;
        int backend;        /* enum lm_backend_kind */
        int threads;        /* 0: all */
        int tile;           /* 8 or 16 cells; 0: as suits the particles */
        int64_t sort_every; /* 0: when it pays */
    } run;
    struct {
        int nx, ny;
        double lx, ly; /* d_i */
    } grid;
    struct {
        int closure;        /* enum lm_closure */
        double temperature; /* at density 1; B0^2/(mu0 n0). Evolved: at the start */
        double gamma;       /* polytropic index */
        /* Only with LM_EVOLVED: */
        char initial_temperature[LM_MAX_TEXT]; /* in place of `temperature`: p_e = n T; "": none */
        int scheme, single;                    /* of the entropy, as in struct lm_background_config */
        double courant;
        double conductivity, conductivity_across; /* along and across B; n0 v_A d_i */
    } electrons;
    struct {
        int solver; /* enum lm_solver: hybrid, or none (particles in given fields) */
        char b[3][LM_MAX_TEXT];
        char az[LM_MAX_TEXT];   /* vector potential; "" or "0" for none */
        char e[3][LM_MAX_TEXT]; /* solver = none only */
        char eta[LM_MAX_TEXT];
        double eta_hyper;
        double density_floor;  /* > 0, n0 */
        int vacuum;            /* enum lm_vacuum */
        double eta_vacuum;     /* added to eta at the density floor */
        int smoothing;         /* binomial passes on the moments and on E for the push, 0..8 */
        int friction;          /* 1: ions do not feel the resistive part of E */
        double substep_safety; /* largest omega * substep, <= 2.7 */
        int min_substeps;      /* taken even where fewer would be stable */
        int max_substeps;      /* a step that needs more stops the run */
    } fields;
    struct {
        int shape;     /* enum lm_shape_order */
        int precision; /* enum lm_precision */
    } particles;
    int species_count;
    struct lm_species_config species[LM_MAX_SPECIES];
    int boundary[LM_SIDES];                /* enum lm_boundary: particles */
    double boundary_temperature[LM_SIDES]; /* of thermal sides, B0^2/(mu0 n0) */
    int boundary_fields[LM_SIDES];         /* enum lm_field_boundary; solver = none: the given fields simply go on */
    double layer[LM_SIDES]; /* width of the resistive layer that damps waves before a side, d_i; 0: none */
    double layer_eta;       /* its resistivity at the side, mu0 v_A d_i */
    int body_count;
    struct lm_body_config body[LM_MAX_BODIES];
    int background_count;
    struct lm_background_config background[LM_MAX_BACKGROUNDS];
    int ionisation_count;
    struct lm_ionisation_config ionisation[LM_MAX_IONISATIONS];
    struct {
        double b0; /* T; 0: not given */
        double n0; /* m^-3; 0: not given */
    } units;
    struct {
        char directory[LM_MAX_PATH];
        int64_t series_every, fields_every, particles_every, checkpoint_every; /* steps; 0: never */
        int keep;                                                              /* checkpoints that stay on disk, >= 1 */
        double particles_fraction; /* of the particles in an output, (0, 1] */
        int compress;              /* gzip level of fields, 0..9 */
        double wall_limit;         /* s; 0: none. Written hh:mm:ss */
        int64_t maps_every;        /* steps between two maps of where particles hit; 0: only at the end */
        int map_angles;            /* bins of the angle of incidence, 0 to 90 degrees; 0: no maps */
        int map_energies;          /* bins of the energy, equal in its logarithm, and one below and above */
        double map_energy[2];      /* of the lowest and to the highest bin, m_p v_A^2 */
    } output;
    struct lm_constants *constants; /* owned; of [const], with nx, ny, lx, ly, dx, dy, dt and pi */
    /* For the echo in run.ini: [const] as written, in order. */
    int const_count;
    struct {
        char name[LM_MAX_NAME];
        char text[LM_MAX_TEXT];
    } const_text[64];
};

/* Reads and checks FILE with `override_count` overrides "section.key=value" on top, and resolves all defaults. On
 * failure returns LM_BAD_INPUT and lm_error() holds every error found, a line each:
 * `FILE:LINE: section.key: what is wrong[, did you mean ...?]`. Of overrides of one key the last counts. The caller
 * frees with lm_config_free in either case. */
int lm_config_read(const char *file, int override_count, const char *const *overrides, struct lm_config *config);

/* LM_BAD_INPUT: two overrides are of one key, which on a command line is a slip. */
int lm_config_check_repeats(int override_count, const char *const *overrides);
void lm_config_free(struct lm_config *config);

/* The same from a text; `name` stands for the file in messages and in the default output directory. */
int lm_config_read_text(const char *name, const char *text, int override_count, const char *const *overrides,
                        struct lm_config *config);

/* The density of a species beyond inflow sides, an expression: `inflow_density`, or `density` without one. */
static inline const char *lm_inflow_density(const struct lm_species_config *s)
{
    return s->inflow_density[0] ? s->inflow_density : s->density;
}

/* x_min, x_max, y_min, y_max */
extern const char *const lm_side_names[LM_SIDES];

/* The grid of a run, with its sides. */
struct lm_grid lm_config_grid(const struct lm_config *config);

/* Writes all resolved keys, with defaults, as an INI file that gives the same configuration when read again. */
int lm_config_write(const struct lm_config *config, FILE *out);

/* The table of keys: section, key, type, unit, range, default, meaning. As text for a terminal, or as Markdown. */
void lm_keys_print(FILE *out, int markdown);

#ifdef __cplusplus
}
#endif
#endif
