/* A small state that is written into checkpoints, one that they are read into, and the callbacks for both. */
#ifndef LARMOR_TESTS_CHECKPOINT_STATE_H
#define LARMOR_TESTS_CHECKPOINT_STATE_H

#include <math.h>

#include "checkpoint/checkpoint.h"
#include "larmor/config.h"
#include "larmor/physics/numerics/hash.h"
#include "inside.h"
#include "scratch.h"

enum { NX = 6, NY = 4, FIELDS = 3, SPECIES = 3, FACES = 5, ANGLES = 2, ENERGIES = 3 };
enum { MAP = FACES * ANGLES * (ENERGIES + 2) };

static const char *const field_names[FIELDS] = {"bx", "ez", "moments"};

struct state {
    int precision;
    uint64_t count[SPECIES];
    double fields[FIELDS][NX * NY];
    int64_t *position[SPECIES][2];
    void *velocity[SPECIES][3];
    uint64_t map[SPECIES][MAP];
    uint64_t largest; /* the largest number of particles in one piece */
    int refuse;       /* callbacks fail */
};

static inline size_t real_size(const struct state *s)
{
    return s->precision == LM_SINGLE ? sizeof(float) : sizeof(double);
}

static inline struct state *make_state(int precision, uint64_t first_count)
{
    struct state *s = calloc(1, sizeof *s);
    s->precision = precision;
    s->count[0] = first_count;
    s->count[2] = 7; /* the second species is empty */
    for (int k = 0; k < SPECIES; k++) {
        for (int d = 0; d < 2; d++)
            s->position[k][d] = calloc(s->count[k] + 1, sizeof(int64_t));
        for (int d = 0; d < 3; d++)
            s->velocity[k][d] = calloc(s->count[k] + 1, sizeof(double));
    }
    return s;
}

static inline void free_state(struct state *s)
{
    for (int k = 0; k < SPECIES; k++) {
        for (int d = 0; d < 2; d++)
            free(s->position[k][d]);
        for (int d = 0; d < 3; d++)
            free(s->velocity[k][d]);
    }
    free(s);
}

static inline void set_velocity(struct state *s, int k, int d, uint64_t i, double value)
{
    if (s->precision == LM_SINGLE)
        ((float *)s->velocity[k][d])[i] = (float)value;
    else
        ((double *)s->velocity[k][d])[i] = value;
}

static inline double get_velocity(const struct state *s, int k, int d, uint64_t i)
{
    return s->precision == LM_SINGLE ? (double)((float *)s->velocity[k][d])[i] : ((double *)s->velocity[k][d])[i];
}

/* Positions over the whole domain, its two ends included. */
static inline struct state *full_state(int precision, uint64_t first_count)
{
    struct state *s = make_state(precision, first_count);
    int bits = precision == LM_SINGLE ? 24 : 48;
    for (int f = 0; f < FIELDS; f++)
        for (int c = 0; c < NX * NY; c++)
            s->fields[f][c] = 1.0 / (1.0 + c + 31.0 * f) - (f == 1 && c == 3 ? 1.0 : 0.0);
    for (int k = 0; k < SPECIES; k++)
        for (int n = 0; n < MAP; n++)
            s->map[k][n] = n % 3 ? 0 : lm_mix((uint64_t)(k * MAP + n));
    for (int k = 0; k < SPECIES; k++)
        for (uint64_t i = 0; i < s->count[k]; i++) {
            uint64_t r = lm_mix(i + 1000003u * (uint64_t)k);
            s->position[k][0][i] = (int64_t)(r % ((uint64_t)NX << bits));
            s->position[k][1][i] = (int64_t)(lm_mix(r) % ((uint64_t)NY << bits));
            for (int d = 0; d < 3; d++)
                set_velocity(s, k, d, i, sin((double)i + d + 0.1 * k));
        }
    s->position[0][0][0] = 0;
    s->position[0][1][0] = ((int64_t)NY << bits) - 1;
    s->position[0][0][1] = ((int64_t)NX << bits) - 1;
    return s;
}

static inline int get_field(void *context, int field, double *packed)
{
    struct state *s = context;
    memcpy(packed, s->fields[field], sizeof s->fields[field]);
    return LM_OK;
}

static inline int set_field(void *context, int field, const double *packed)
{
    struct state *s = context;
    memcpy(s->fields[field], packed, sizeof s->fields[field]);
    return LM_OK;
}

static inline int get_particles(void *context, int k, uint64_t first, uint64_t count, struct lm_raw_particles out)
{
    struct state *s = context;
    size_t real = real_size(s);
    if (s->refuse)
        return lm_fail(LM_FAILED, "the device is gone");
    ck_assert_uint_le(first + count, s->count[k]);
    s->largest = count > s->largest ? count : s->largest;
    memcpy(out.x, s->position[k][0] + first, count * sizeof(int64_t));
    memcpy(out.y, s->position[k][1] + first, count * sizeof(int64_t));
    memcpy(out.vx, (char *)s->velocity[k][0] + first * real, count * real);
    memcpy(out.vy, (char *)s->velocity[k][1] + first * real, count * real);
    memcpy(out.vz, (char *)s->velocity[k][2] + first * real, count * real);
    return LM_OK;
}

static inline int set_particles(void *context, int k, uint64_t first, uint64_t count, struct lm_raw_particles in)
{
    struct state *s = context;
    size_t real = real_size(s);
    if (s->refuse)
        return lm_fail(LM_FAILED, "the device is gone");
    ck_assert_uint_le(first + count, s->count[k]);
    memcpy(s->position[k][0] + first, in.x, count * sizeof(int64_t));
    memcpy(s->position[k][1] + first, in.y, count * sizeof(int64_t));
    memcpy((char *)s->velocity[k][0] + first * real, in.vx, count * real);
    memcpy((char *)s->velocity[k][1] + first * real, in.vy, count * real);
    memcpy((char *)s->velocity[k][2] + first * real, in.vz, count * real);
    return LM_OK;
}

static inline int get_map(void *context, int k, uint64_t *counters)
{
    struct state *s = context;
    memcpy(counters, s->map[k], sizeof s->map[k]);
    return LM_OK;
}

static inline int set_map(void *context, int k, const uint64_t *counters)
{
    struct state *s = context;
    memcpy(s->map[k], counters, sizeof s->map[k]);
    return LM_OK;
}

static inline struct lm_checkpoint_io io_of(struct state *s)
{
    return (struct lm_checkpoint_io){s, get_field, set_field, get_particles, set_particles, get_map, set_map};
}

/* An account whose sums need both halves of 128 bits and have both signs. */
static inline struct lm_account account_of(uint64_t number, int64_t high)
{
    const lm_int128 unit = (lm_int128)1 << 64;
    return (struct lm_account){number, {high * unit + 7, -high * unit - 1, -3}, 5 * unit + (lm_int128)UINT64_MAX};
}

/* A ledger in which 20 particles have entered by x_min, 4 were born, and 30 have left. */
static inline struct lm_ledger busy_ledger(uint64_t count)
{
    struct lm_ledger l = {.loaded = count + 6, .exponent_v = 70, .exponent_v2 = -3};
    l.injected[LM_X_MIN] = account_of(20, 1);
    l.injected[LM_IONISED] = account_of(4, -3);
    l.lost[LM_X_MAX] = account_of(1, -2);
    l.lost[LM_SIDES + 1] = account_of(10, 1ll << 40);
    l.lost[LM_ENERGY_STOPPED] = account_of(13, -(1ll << 50));
    l.lost[LM_THETA_CUTOFF] = account_of(6, 0);
    return l;
}

static inline struct lm_checkpoint_species species_of(const struct state *s, int k, const char *name, double charge,
                                                      double mass, double weight)
{
    struct lm_checkpoint_species sp = {.charge = charge, .mass = mass, .weight = weight, .count = s->count[k]};
    snprintf(sp.name, sizeof sp.name, "%s", name);
    sp.limits[LM_ENERGY_STOPPED - LM_SURFACES] = k == 0;
    sp.limits[LM_THETA_CUTOFF - LM_SURFACES] = k == 0;
    sp.ledger = k == 0 ? busy_ledger(s->count[k]) : (struct lm_ledger){.loaded = s->count[k]};
    return sp;
}

static inline struct lm_checkpoint head_of(const struct state *s, int64_t step)
{
    struct lm_checkpoint h = {.step = step,
                              .time = 0.1 * (double)step,
                              .dt = 0.1,
                              .nx = NX,
                              .ny = NY,
                              .lx = 3.0,
                              .ly = 1.0,
                              .shape = LM_QUADRATIC,
                              .precision = s->precision,
                              .seed = 0xfedcba9876543210u,
                              .energy_start = 12.5,
                              .momentum_start = {0.1, -0.2, 0.3},
                              .energy_scale = step == 500 ? 6.25 : NAN, /* of an earlier version */
                              .settings_changed = step == 500,
                              .field_count = FIELDS,
                              .field_names = field_names,
                              .species_count = SPECIES,
                              .surfaces = {.sides = {LM_INFLOW, LM_ABSORBING, LM_PERIODIC, LM_PERIODIC},
                                           .body_count = 2,
                                           .body_names = {"mirror", "moon"},
                                           .body_particles = {LM_REFLECTING, LM_ABSORBING},
                                           .body_cells = 0xfedcba9876543210u,
                                           .map_angles = ANGLES,
                                           .map_energies = ENERGIES,
                                           .map_energy = {0.1, 10},
                                           .map_faces = FACES}};
    h.species[0] = species_of(s, 0, "protons", 1.0, 1.0, 0.03125);
    h.species[1] = species_of(s, 1, "none_yet", 2.0, 4.0, 0.5);
    h.species[2] = species_of(s, 2, "alphas", 2.0, 4.0, 0.0078125);
    return h;
}

static char path[LM_MAX_PATH]; /* path of the last checkpoint written */

static inline void write_state(struct state *s, int64_t step, int keep)
{
    struct lm_checkpoint head = head_of(s, step);
    struct lm_checkpoint_io io = io_of(s);
    ck_assert_msg(lm_checkpoint_write(scratch, &head, "[run]\ndt = 0.1\n", keep, &io, path) == LM_OK, "%s", lm_error());
}

/* Writes the small state that most tests use. */
static inline void write_small(int64_t step, int keep)
{
    struct state *s = full_state(LM_DOUBLE, 10);
    write_state(s, step, keep);
    free_state(s);
}

/* Reads the head and the state of a file as a restart does. */
static inline int read_file(const char *file, struct state *s)
{
    struct lm_checkpoint head;
    int status = lm_checkpoint_head(file, &head);
    if (status != LM_OK)
        return status;
    struct lm_checkpoint_io io = io_of(s);
    head.field_count = FIELDS;
    head.field_names = field_names;
    return lm_checkpoint_read(file, &head, &io);
}

#endif
