/* The head of a checkpoint: the attributes of "/", of /surfaces and of each species. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "checkpoint/backgrounds.h"
#include "checkpoint/parts.h"
#include "larmor/config.h"

enum { SIDE_VALUES = LM_SIDES * (int)(sizeof(struct lm_side_energy) / sizeof(double)) };

enum { MAX_ANGLES = 1 << 10, MAX_ENERGIES = 1 << 16 };

const char *const lm_checkpoint_columns[5] = {"x", "y", "u", "v", "w"};

hid_t lm_checkpoint_column_type(int precision, int column)
{
    return column < 2 ? H5T_NATIVE_INT64 : precision == LM_SINGLE ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

int lm_checkpoint_fraction_bits(int precision)
{
    return precision == LM_SINGLE ? 24 : 48;
}

/* ---- writing ---- */

static void put_root(struct lm_h5 *h, const struct lm_checkpoint *head, const char *configuration)
{
    hid_t root = h->file;
    lm_h5_put_text(h, root, "format", "larmor-checkpoint");
    lm_h5_put_whole(h, root, "format_version", LM_CHECKPOINT_FORMAT);
    lm_h5_put_text(h, root, "software", "larmor " LM_VERSION);
    lm_h5_put_whole(h, root, "step", head->step);
    lm_h5_put_real(h, root, "time", head->time);
    lm_h5_put_real(h, root, "dt", head->dt);
    lm_h5_put_whole(h, root, "nx", head->nx);
    lm_h5_put_whole(h, root, "ny", head->ny);
    lm_h5_put_real(h, root, "lx", head->lx);
    lm_h5_put_real(h, root, "ly", head->ly);
    lm_h5_put_whole(h, root, "shape", head->shape);
    lm_h5_put_whole(h, root, "precision", head->precision);
    lm_h5_put_whole(h, root, "fraction_bits", lm_checkpoint_fraction_bits(head->precision));
    lm_h5_put(h, root, "seed", H5T_NATIVE_UINT64, 0, &head->seed);
    lm_h5_put_real(h, root, "energy_start", head->energy_start);
    lm_h5_put(h, root, "momentum_start", H5T_NATIVE_DOUBLE, 3, head->momentum_start);
    if (isfinite(head->energy_scale))
        lm_h5_put_real(h, root, "energy_scale", head->energy_scale);
    lm_h5_put(h, root, "side_energy", H5T_NATIVE_DOUBLE, SIDE_VALUES, head->side);
    if (head->settings_changed)
        lm_h5_put_whole(h, root, "settings_changed", 1);
    lm_h5_put_text(h, root, "configuration", configuration ? configuration : "");
    lm_h5_put_whole(h, root, "field_count", head->field_count);
    if (head->field_count > 0)
        lm_h5_put_texts(h, root, "field_names", head->field_count, head->field_names);
    if (head->bordered > 0)
        lm_h5_put_whole(h, root, "bordered", head->bordered);
    const char *names[LM_MAX_SPECIES];
    for (int s = 0; s < head->species_count; s++)
        names[s] = head->species[s].name;
    lm_h5_put_whole(h, root, "species_count", head->species_count);
    if (head->species_count > 0)
        lm_h5_put_texts(h, root, "species_names", head->species_count, names);
}

uint64_t lm_checkpoint_map_size(const struct lm_checkpoint *head)
{
    const struct lm_checkpoint_surfaces *s = &head->surfaces;
    return s->map_angles > 0 ? s->map_faces * (uint64_t)s->map_angles * ((uint64_t)s->map_energies + 2) : 0;
}

static void put_surfaces(struct lm_h5 *h, const struct lm_checkpoint_surfaces *s)
{
    const char *names[LM_MAX_BODIES];
    for (int k = 0; k < s->body_count; k++)
        names[k] = s->body_names[k];
    hid_t group = lm_h5_make_group(h, h->file, "surfaces");
    lm_h5_put(h, group, "sides", H5T_NATIVE_INT, LM_SIDES, s->sides);
    lm_h5_put_whole(h, group, "body_count", s->body_count);
    if (s->body_count > 0) {
        lm_h5_put_texts(h, group, "body_names", s->body_count, names);
        lm_h5_put(h, group, "body_particles", H5T_NATIVE_INT, s->body_count, s->body_particles);
    }
    lm_h5_put(h, group, "body_cells", H5T_NATIVE_UINT64, 0, &s->body_cells);
    lm_h5_put_whole(h, group, "map_angles", s->map_angles);
    lm_h5_put_whole(h, group, "map_energies", s->map_energies);
    lm_h5_put(h, group, "map_energy", H5T_NATIVE_DOUBLE, 2, s->map_energy);
    lm_h5_put(h, group, "map_faces", H5T_NATIVE_UINT64, 0, &s->map_faces);
    lm_h5_end(group);
}

void lm_checkpoint_put_head(struct lm_h5 *h, const struct lm_checkpoint *head, const char *configuration)
{
    put_root(h, head, configuration);
    put_surfaces(h, &head->surfaces);
    lm_checkpoint_put_backgrounds(h, head);
}

void lm_checkpoint_put_species(struct lm_h5 *h, hid_t group, const struct lm_checkpoint_species *sp)
{
    lm_h5_put_real(h, group, "charge", sp->charge);
    lm_h5_put_real(h, group, "mass", sp->mass);
    lm_h5_put_real(h, group, "weight", sp->weight);
    lm_h5_put(h, group, "count", H5T_NATIVE_UINT64, 0, &sp->count);
    lm_h5_put(h, group, "limits", H5T_NATIVE_INT, LM_LIMITS, sp->limits);
    lm_h5_put_whole(h, group, "ionised", sp->ionised);
    lm_h5_put(h, group, "stopping", H5T_NATIVE_UINT64, 0, &sp->stopping);
    lm_checkpoint_put_ledger(h, group, &sp->ledger);
}

/* ---- reading ---- */

static int get_int(struct lm_h5 *h, hid_t at, const char *name, int64_t low, int64_t high)
{
    int64_t value = lm_h5_get_whole(h, at, name);
    if (h->status == LM_OK && (value < low || value > high))
        lm_h5_wrong(h, "the attribute %s is %" PRId64 ", outside of %" PRId64 "..%" PRId64 "; the file is damaged",
                    name, value, low, high);
    return h->status == LM_OK ? (int)value : 0;
}

/* Reads a number that must be finite, and > 0 with `positive`. */
static double get_real(struct lm_h5 *h, hid_t at, const char *name, int positive)
{
    double value = lm_h5_get_real(h, at, name);
    if (h->status == LM_OK && (!isfinite(value) || (positive && value <= 0.0)))
        lm_h5_wrong(h, "the attribute %s is %g; the file is damaged", name, value);
    return value;
}

static void read_species_head(struct lm_h5 *h, struct lm_checkpoint *head)
{
    char names[LM_MAX_SPECIES][LM_MAX_NAME] = {{0}};
    head->species_count = get_int(h, h->file, "species_count", 0, LM_MAX_SPECIES);
    lm_h5_get_texts(h, h->file, "species_names", head->species_count, LM_MAX_NAME, names[0]);
    hid_t all = lm_h5_group(h, h->file, "species");
    for (int s = 0; s < head->species_count; s++) {
        struct lm_checkpoint_species *sp = &head->species[s];
        hid_t group = lm_h5_group(h, all, names[s]);
        memcpy(sp->name, names[s], sizeof sp->name);
        sp->charge = get_real(h, group, "charge", 0);
        sp->mass = get_real(h, group, "mass", 1);
        sp->weight = get_real(h, group, "weight", 1);
        lm_h5_get(h, group, "count", H5T_NATIVE_UINT64, 0, &sp->count);
        lm_h5_get(h, group, "limits", H5T_NATIVE_INT, LM_LIMITS, sp->limits);
        sp->ionised = get_int(h, group, "ionised", 0, 1);
        lm_h5_get(h, group, "stopping", H5T_NATIVE_UINT64, 0, &sp->stopping);
        for (int k = 0; k < 5; k++) {
            hsize_t length = sp->count;
            hid_t data = lm_h5_dataset(h, group, lm_checkpoint_columns[k],
                                       lm_checkpoint_column_type(head->precision, k), 1, &length);
            lm_h5_end(data);
        }
        lm_checkpoint_get_ledger(h, group, sp);
        lm_h5_end(group);
    }
    lm_h5_end(all);
}

static void read_surfaces(struct lm_h5 *h, struct lm_checkpoint_surfaces *s)
{
    hid_t group = lm_h5_group(h, h->file, "surfaces");
    lm_h5_get(h, group, "sides", H5T_NATIVE_INT, LM_SIDES, s->sides);
    s->body_count = get_int(h, group, "body_count", 0, LM_MAX_BODIES);
    if (s->body_count > 0) {
        lm_h5_get_texts(h, group, "body_names", s->body_count, LM_MAX_NAME, s->body_names[0]);
        lm_h5_get(h, group, "body_particles", H5T_NATIVE_INT, s->body_count, s->body_particles);
    }
    lm_h5_get(h, group, "body_cells", H5T_NATIVE_UINT64, 0, &s->body_cells);
    s->map_angles = get_int(h, group, "map_angles", 0, MAX_ANGLES);
    s->map_energies = get_int(h, group, "map_energies", 0, MAX_ENERGIES);
    lm_h5_get(h, group, "map_energy", H5T_NATIVE_DOUBLE, 2, s->map_energy);
    lm_h5_get(h, group, "map_faces", H5T_NATIVE_UINT64, 0, &s->map_faces);
    if (h->status == LM_OK && s->map_faces > (uint64_t)1 << 32)
        lm_h5_wrong(h, "the attribute map_faces is %" PRIu64 "; the file is damaged", s->map_faces);
    lm_h5_end(group);
}

static void get_sides(struct lm_h5 *h, struct lm_checkpoint *head)
{
    head->has_sides = lm_h5_has(h->file, "side_energy");
    if (head->has_sides)
        lm_h5_get(h, h->file, "side_energy", H5T_NATIVE_DOUBLE, SIDE_VALUES, head->side);
    for (int side = 0; side < LM_SIDES; side++) {
        const struct lm_side_energy *e = &head->side[side];
        if (h->status == LM_OK && !isfinite(e->fields + e->electrons + e->off2 + e->doubtful + e->power_fields +
                                            e->power_electrons + e->wall))
            lm_h5_wrong(h, "the attribute side_energy is not finite; the file is damaged");
    }
}

int lm_checkpoint_get_head(struct lm_h5 *h, struct lm_checkpoint *head)
{
    *head = (struct lm_checkpoint){0};
    head->step = lm_h5_get_whole(h, h->file, "step");
    if (h->status == LM_OK && head->step < 0)
        lm_h5_wrong(h, "the attribute step is negative; the file is damaged");
    head->time = get_real(h, h->file, "time", 0);
    head->dt = get_real(h, h->file, "dt", 1);
    head->nx = get_int(h, h->file, "nx", 1, 1 << 20);
    head->ny = get_int(h, h->file, "ny", 1, 1 << 20);
    if (h->status == LM_OK && head->time != (double)head->step * head->dt)
        lm_h5_wrong(h, "the attribute time is %.17g, which is not %" PRId64 " steps of dt = %.17g; the file is damaged",
                    head->time, head->step, head->dt);
    head->lx = get_real(h, h->file, "lx", 1);
    head->ly = get_real(h, h->file, "ly", 1);
    head->shape = get_int(h, h->file, "shape", LM_LINEAR, LM_QUADRATIC);
    head->precision = get_int(h, h->file, "precision", LM_SINGLE, LM_DOUBLE);
    int bits = get_int(h, h->file, "fraction_bits", 1, 62);
    if (h->status == LM_OK && (head->precision % 32 != 0 || bits != lm_checkpoint_fraction_bits(head->precision)))
        lm_h5_wrong(h, "precision %d with %d fraction bits is unknown; the file is damaged", head->precision, bits);
    lm_h5_get(h, h->file, "seed", H5T_NATIVE_UINT64, 0, &head->seed);
    head->energy_start = get_real(h, h->file, "energy_start", 0);
    lm_h5_get(h, h->file, "momentum_start", H5T_NATIVE_DOUBLE, 3, head->momentum_start);
    for (int k = 0; k < 3; k++)
        if (h->status == LM_OK && !isfinite(head->momentum_start[k]))
            lm_h5_wrong(h, "the attribute momentum_start is not finite; the file is damaged");
    head->energy_scale = lm_h5_has(h->file, "energy_scale") ? get_real(h, h->file, "energy_scale", 0) : NAN;
    head->settings_changed = lm_h5_has(h->file, "settings_changed");
    get_sides(h, head);
    head->field_count = get_int(h, h->file, "field_count", 0, LM_CHECKPOINT_FIELDS);
    if (lm_h5_has(h->file, "bordered"))
        head->bordered = get_int(h, h->file, "bordered", 1, head->field_count);
    read_surfaces(h, &head->surfaces);
    lm_checkpoint_get_backgrounds(h, head);
    lm_checkpoint_get_tracks(h, head);
    read_species_head(h, head);
    return h->status;
}
