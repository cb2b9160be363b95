#include "larmor/checkpoint.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint_backgrounds.h"
#include "h5.h"
#include "larmor/config.h"
#include "larmor/physics/hash.h"

enum {
    FORMAT_VERSION = 3,
    MAX_FIELDS = 256,
    FIELD_NAME = 64,
    PIECE = 1 << 20, /* particles in memory at a time */
    MAX_ANGLES = 1 << 10,
    MAX_ENERGIES = 1 << 16
};

static int fraction_bits(int precision)
{
    return precision == LM_SINGLE ? 24 : 48;
}

static hid_t velocity_type(int precision)
{
    return precision == LM_SINGLE ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

static const char *const columns[5] = {"x", "y", "u", "v", "w"};

static hid_t column_type(int precision, int column)
{
    return column < 2 ? H5T_NATIVE_INT64 : velocity_type(precision);
}

/* ---- a piece of particles in memory ---- */

struct piece {
    uint64_t size;
    struct lm_raw_particles raw;
};

static void *column_of(const struct piece *p, int column)
{
    void *const all[5] = {p->raw.x, p->raw.y, p->raw.u, p->raw.v, p->raw.w};
    return all[column];
}

static void free_piece(struct piece *p)
{
    for (int k = 0; k < 5; k++)
        free(column_of(p, k));
}

static int make_piece(const struct lm_checkpoint *head, struct piece *p)
{
    uint64_t most = 1;
    for (int s = 0; s < head->species_count; s++)
        most = head->species[s].count > most ? head->species[s].count : most;
    p->size = most < PIECE ? most : PIECE;
    size_t real = head->precision == LM_SINGLE ? sizeof(float) : sizeof(double);
    p->raw = (struct lm_raw_particles){malloc(p->size * sizeof(int64_t)), malloc(p->size * sizeof(int64_t)),
                                       malloc(p->size * real), malloc(p->size * real), malloc(p->size * real)};
    for (int k = 0; k < 5; k++)
        if (!column_of(p, k)) {
            free_piece(p);
            return lm_fail(LM_FAILED, "no memory for a checkpoint's particles");
        }
    return LM_OK;
}

/* A callback has its own message. */
static void from_callback(struct lm_h5 *h, int status)
{
    if (h->status == LM_OK)
        h->status = status;
}

/* ---- writing the head ---- */

static void write_head(struct lm_h5 *h, const struct lm_checkpoint *head, const char *configuration)
{
    hid_t root = h->file;
    lm_h5_put_text(h, root, "format", "larmor-checkpoint");
    lm_h5_put_whole(h, root, "format_version", FORMAT_VERSION);
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
    lm_h5_put_whole(h, root, "fraction_bits", fraction_bits(head->precision));
    lm_h5_put(h, root, "seed", H5T_NATIVE_UINT64, 0, &head->seed);
    lm_h5_put_real(h, root, "energy_start", head->energy_start);
    lm_h5_put(h, root, "momentum_start", H5T_NATIVE_DOUBLE, 3, head->momentum_start);
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

static void write_surfaces(struct lm_h5 *h, const struct lm_checkpoint_surfaces *s)
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

/* ---- the ledger: sums of 128 bits in two halves ---- */

enum { SUMS = 4 }; /* of v_x, v_y, v_z, v^2 in an account */

struct halves {
    uint64_t number[LM_CHANNELS], low[LM_CHANNELS * SUMS];
    int64_t high[LM_CHANNELS * SUMS];
};

static lm_int128 *sum_of(struct lm_account *a, int k)
{
    return k < 3 ? &a->v[k] : &a->v2;
}

static void write_accounts(struct lm_h5 *h, hid_t group, const char *name, int count, const struct lm_account *accounts)
{
    struct halves part;
    char high[32], low[32];
    for (int n = 0; n < count; n++) {
        struct lm_account a = accounts[n];
        part.number[n] = a.number;
        for (int k = 0; k < SUMS; k++) {
            part.high[n * SUMS + k] = (int64_t)(*sum_of(&a, k) >> 64);
            part.low[n * SUMS + k] = (uint64_t)*sum_of(&a, k);
        }
    }
    snprintf(high, sizeof high, "%s_high", name);
    snprintf(low, sizeof low, "%s_low", name);
    lm_h5_put(h, group, name, H5T_NATIVE_UINT64, count, part.number);
    lm_h5_put(h, group, high, H5T_NATIVE_INT64, count * SUMS, part.high);
    lm_h5_put(h, group, low, H5T_NATIVE_UINT64, count * SUMS, part.low);
}

static void read_accounts(struct lm_h5 *h, hid_t group, const char *name, int count, struct lm_account *accounts)
{
    struct halves part = {0};
    char high[32], low[32];
    snprintf(high, sizeof high, "%s_high", name);
    snprintf(low, sizeof low, "%s_low", name);
    lm_h5_get(h, group, name, H5T_NATIVE_UINT64, count, part.number);
    lm_h5_get(h, group, high, H5T_NATIVE_INT64, count * SUMS, part.high);
    lm_h5_get(h, group, low, H5T_NATIVE_UINT64, count * SUMS, part.low);
    for (int n = 0; n < count; n++) {
        accounts[n].number = part.number[n];
        for (int k = 0; k < SUMS; k++)
            *sum_of(&accounts[n], k) =
                (lm_int128)part.high[n * SUMS + k] * ((lm_int128)1 << 64) + part.low[n * SUMS + k];
    }
}

static void write_ledger(struct lm_h5 *h, hid_t group, const struct lm_ledger *l)
{
    lm_h5_put(h, group, "loaded", H5T_NATIVE_UINT64, 0, &l->loaded);
    lm_h5_put_whole(h, group, "exponent_v", l->exponent_v);
    lm_h5_put_whole(h, group, "exponent_v2", l->exponent_v2);
    write_accounts(h, group, "injected", LM_ENTRANCES, l->injected);
    write_accounts(h, group, "lost", LM_CHANNELS, l->lost);
    write_accounts(h, group, "to_gas", 1, &l->to_gas);
    write_accounts(h, group, "exchanged", 1, &l->exchanged);
    write_accounts(h, group, "to_electrons", 1, &l->to_electrons);
}

/* Numbers add up without a carry beyond 64 bits, and nobody has no momentum or energy. */
static int is_sound(const struct lm_ledger *l, uint64_t present)
{
    unsigned __int128 in = l->loaded, out = present;
    int sound = 1;
    for (int k = 0; k < LM_ENTRANCES + LM_CHANNELS; k++) {
        const struct lm_account *a = k < LM_ENTRANCES ? &l->injected[k] : &l->lost[k - LM_ENTRANCES];
        *(k < LM_ENTRANCES ? &in : &out) += a->number;
        sound &= a->v2 >= 0 && (a->number > 0 || (!a->v[0] && !a->v[1] && !a->v[2] && !a->v2));
    }
    return sound && in == out;
}

static void read_ledger(struct lm_h5 *h, hid_t group, struct lm_checkpoint_species *sp)
{
    struct lm_ledger *l = &sp->ledger;
    lm_h5_get(h, group, "loaded", H5T_NATIVE_UINT64, 0, &l->loaded);
    l->exponent_v = (int)lm_h5_get_whole(h, group, "exponent_v");
    l->exponent_v2 = (int)lm_h5_get_whole(h, group, "exponent_v2");
    read_accounts(h, group, "injected", LM_ENTRANCES, l->injected);
    read_accounts(h, group, "lost", LM_CHANNELS, l->lost);
    read_accounts(h, group, "to_gas", 1, &l->to_gas);
    read_accounts(h, group, "exchanged", 1, &l->exchanged);
    if (h->status == LM_OK && lm_h5_has(group, "to_electrons")) /* files that are older have none */
        read_accounts(h, group, "to_electrons", 1, &l->to_electrons);
    if (h->status == LM_OK && !is_sound(l, sp->count))
        lm_h5_wrong(h,
                    "species %s: its ledger does not close: those that are there and those lost are not those loaded "
                    "and injected; the file is damaged",
                    sp->name);
}

/* ---- maps ---- */

static uint64_t *make_map(struct lm_h5 *h, uint64_t size)
{
    uint64_t *map = h->status == LM_OK ? malloc(size * sizeof *map) : NULL;
    if (!map && h->status == LM_OK)
        h->status = lm_fail(LM_FAILED, "no memory for a checkpoint's maps");
    return map;
}

/* Most counters are 0: the fastest compression makes little of them. */
static void write_map(struct lm_h5 *h, hid_t group, const struct lm_checkpoint *head, int s,
                      const struct lm_checkpoint_io *io)
{
    hsize_t size = lm_checkpoint_map_size(head);
    uint64_t *map = size > 0 ? make_map(h, size) : NULL;
    if (!map)
        return;
    from_callback(h, io->get_map(io->context, s, map));
    hid_t data = lm_h5_make_dataset(h, group, "hits", H5T_NATIVE_UINT64, 1, &size, 1);
    lm_h5_write_rows(h, data, H5T_NATIVE_UINT64, 0, size, map);
    lm_h5_end(data);
    free(map);
}

/* A fingerprint does not cover maps, but a file without them is damaged. */
static void read_map(struct lm_h5 *h, hid_t group, const struct lm_checkpoint *head, int s,
                     const struct lm_checkpoint_io *io)
{
    hsize_t size = lm_checkpoint_map_size(head);
    if (size == 0)
        return;
    hid_t data = lm_h5_dataset(h, group, "hits", H5T_NATIVE_UINT64, 1, &size);
    uint64_t *map = io->set_map ? make_map(h, size) : NULL;
    if (map) {
        lm_h5_read_rows(h, data, H5T_NATIVE_UINT64, 0, size, map);
        from_callback(h, h->status == LM_OK ? io->set_map(io->context, s, map) : LM_OK);
    }
    free(map);
    lm_h5_end(data);
}

/* ---- writing the state ---- */

/* Shape of a field; returns its number of values. */
static size_t shape_of(const struct lm_checkpoint *head, int field, hsize_t dims[2])
{
    int border = field >= head->field_count - head->bordered ? 2 * LM_GHOST : 0;
    dims[0] = (hsize_t)(head->ny + border);
    dims[1] = (hsize_t)(head->nx + border);
    return (size_t)(dims[0] * dims[1]);
}

/* Room for any field. */
static double *field_room(const struct lm_checkpoint *head)
{
    return malloc((size_t)(head->nx + 2 * LM_GHOST) * (size_t)(head->ny + 2 * LM_GHOST) * sizeof(double));
}

static void write_fields(struct lm_h5 *h, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io)
{
    hsize_t dims[2];
    hid_t group = lm_h5_make_group(h, h->file, "fields");
    double *packed = field_room(head);
    if (!packed)
        lm_h5_wrong(h, "no memory for a field");
    for (int f = 0; h->status == LM_OK && f < head->field_count; f++) {
        shape_of(head, f, dims);
        from_callback(h, io->get_field(io->context, f, packed));
        hid_t data = lm_h5_make_dataset(h, group, head->field_names[f], H5T_NATIVE_DOUBLE, 2, dims, 0);
        if (h->status == LM_OK && H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) < 0)
            lm_h5_error(h, "cannot write the field %s", head->field_names[f]);
        lm_h5_end(data);
    }
    free(packed);
    lm_h5_end(group);
}

static void write_one_species(struct lm_h5 *h, hid_t group, const struct lm_checkpoint *head, int s,
                              const struct lm_checkpoint_io *io, struct piece *p)
{
    const struct lm_checkpoint_species *sp = &head->species[s];
    lm_h5_put_real(h, group, "charge", sp->charge);
    lm_h5_put_real(h, group, "mass", sp->mass);
    lm_h5_put_real(h, group, "weight", sp->weight);
    lm_h5_put(h, group, "count", H5T_NATIVE_UINT64, 0, &sp->count);
    lm_h5_put(h, group, "limits", H5T_NATIVE_INT, LM_LIMITS, sp->limits);
    lm_h5_put_whole(h, group, "ionised", sp->ionised);
    write_ledger(h, group, &sp->ledger);
    write_map(h, group, head, s, io);
    hsize_t length = sp->count;
    hid_t data[5];
    for (int k = 0; k < 5; k++)
        data[k] = lm_h5_make_dataset(h, group, columns[k], column_type(head->precision, k), 1, &length, 0);
    for (uint64_t first = 0; h->status == LM_OK && first < sp->count; first += p->size) {
        uint64_t count = sp->count - first < p->size ? sp->count - first : p->size;
        from_callback(h, io->get_particles(io->context, s, first, count, p->raw));
        for (int k = 0; k < 5; k++)
            lm_h5_write_rows(h, data[k], column_type(head->precision, k), first, count, column_of(p, k));
    }
    for (int k = 0; k < 5; k++)
        lm_h5_end(data[k]);
}

static void write_species(struct lm_h5 *h, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io)
{
    struct piece p;
    hid_t all = lm_h5_make_group(h, h->file, "species");
    if (h->status != LM_OK)
        return;
    h->status = make_piece(head, &p);
    if (h->status == LM_OK) {
        for (int s = 0; s < head->species_count; s++) {
            hid_t group = lm_h5_make_group(h, all, head->species[s].name);
            write_one_species(h, group, head, s, io, &p);
            lm_h5_end(group);
        }
        free_piece(&p);
    }
    lm_h5_end(all);
}

/* ---- old checkpoints ---- */

/* Step of a file name checkpoint_DIGITS.h5, or -1. */
static int64_t step_of(const char *name)
{
    const char *prefix = "checkpoint_";
    size_t n = strlen(prefix), digits;
    if (strncmp(name, prefix, n) != 0)
        return -1;
    digits = strspn(name + n, "0123456789");
    if (digits == 0 || digits > 18 || strcmp(name + n + digits, ".h5") != 0)
        return -1;
    return strtoll(name + n, NULL, 10);
}

static int is_checkpoint(const struct dirent *entry)
{
    return step_of(entry->d_name) >= 0;
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
    int64_t x = step_of((*a)->d_name), y = step_of((*b)->d_name);
    return (x < y) - (x > y);
}

/* Best effort: a file that cannot be removed does not spoil the new checkpoint. Higher steps belong to a run that went
 * further; they stay. */
static void prune(const char *directory, int64_t step, int keep)
{
    struct dirent **entries;
    int n = scandir(directory, &entries, is_checkpoint, newest_first), kept = 1;
    for (int i = 0; i < n; i++) {
        char path[LM_MAX_PATH];
        int older = step_of(entries[i]->d_name) < step;
        if (older && kept >= keep && lm_path(path, "%s/%s", directory, entries[i]->d_name) == LM_OK)
            unlink(path);
        kept += older;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int lm_checkpoint_write(const char *directory, const struct lm_checkpoint *head, const char *configuration, int keep,
                        const struct lm_checkpoint_io *io, char *path_out)
{
    char folder[LM_MAX_PATH];
    struct lm_h5 h;
    int status = lm_path(folder, "%s/checkpoints", directory);
    if (status == LM_OK)
        status = lm_h5_directory(folder);
    if (status == LM_OK)
        status = lm_path(path_out, "%s/checkpoint_%08" PRId64 ".h5", folder, head->step);
    if (status == LM_OK)
        status = lm_h5_create(&h, path_out);
    if (status != LM_OK)
        return status;
    write_head(&h, head, configuration);
    write_surfaces(&h, &head->surfaces);
    lm_checkpoint_put_backgrounds(&h, head);
    write_fields(&h, head, io);
    write_species(&h, head, io);
    status = lm_h5_finish(&h, 1);
    if (status == LM_OK)
        prune(folder, head->step, keep);
    return status;
}

/* ---- reading: the head ---- */

static void check_format(struct lm_h5 *h)
{
    char *format = lm_h5_has(h->file, "format") ? lm_h5_get_text(h, h->file, "format") : NULL;
    if (h->status == LM_OK && lm_h5_has(h->file, "openPMD"))
        lm_h5_wrong(h, "is an openPMD output, no checkpoint; take a file of checkpoints/");
    else if (h->status == LM_OK && (!format || strcmp(format, "larmor-checkpoint") != 0))
        lm_h5_wrong(h, "is no checkpoint of this program; take a file of checkpoints/");
    free(format);
    int64_t version = lm_h5_get_whole(h, h->file, "format_version");
    if (h->status == LM_OK && version != FORMAT_VERSION)
        lm_h5_wrong(h, "has checkpoint format %" PRId64 ", this program reads %d; use the version that wrote it",
                    version, FORMAT_VERSION);
}

static int get_int(struct lm_h5 *h, hid_t at, const char *name, int64_t low, int64_t high)
{
    int64_t value = lm_h5_get_whole(h, at, name);
    if (h->status == LM_OK && (value < low || value > high))
        lm_h5_wrong(h, "the attribute %s is %" PRId64 ", outside of %" PRId64 "..%" PRId64 "; the file is damaged",
                    name, value, low, high);
    return h->status == LM_OK ? (int)value : 0;
}

/* Finite, and > 0 where `positive` says so. */
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
        for (int k = 0; k < 5; k++) {
            hsize_t length = sp->count;
            hid_t data = lm_h5_dataset(h, group, columns[k], column_type(head->precision, k), 1, &length);
            lm_h5_end(data);
        }
        read_ledger(h, group, sp);
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

static int read_head(struct lm_h5 *h, struct lm_checkpoint *head)
{
    *head = (struct lm_checkpoint){0};
    check_format(h);
    head->step = lm_h5_get_whole(h, h->file, "step");
    if (h->status == LM_OK && head->step < 0)
        lm_h5_wrong(h, "the attribute step is negative; the file is damaged");
    head->time = get_real(h, h->file, "time", 0);
    head->dt = get_real(h, h->file, "dt", 1);
    head->nx = get_int(h, h->file, "nx", 1, 1 << 20);
    head->ny = get_int(h, h->file, "ny", 1, 1 << 20);
    head->lx = get_real(h, h->file, "lx", 1);
    head->ly = get_real(h, h->file, "ly", 1);
    head->shape = get_int(h, h->file, "shape", LM_LINEAR, LM_QUADRATIC);
    head->precision = get_int(h, h->file, "precision", LM_SINGLE, LM_DOUBLE);
    int bits = get_int(h, h->file, "fraction_bits", 1, 62);
    if (h->status == LM_OK && (head->precision % 32 != 0 || bits != fraction_bits(head->precision)))
        lm_h5_wrong(h, "precision %d with %d fraction bits is unknown; the file is damaged", head->precision, bits);
    lm_h5_get(h, h->file, "seed", H5T_NATIVE_UINT64, 0, &head->seed);
    head->energy_start = get_real(h, h->file, "energy_start", 0);
    lm_h5_get(h, h->file, "momentum_start", H5T_NATIVE_DOUBLE, 3, head->momentum_start);
    for (int k = 0; k < 3; k++)
        if (h->status == LM_OK && !isfinite(head->momentum_start[k]))
            lm_h5_wrong(h, "the attribute momentum_start is not finite; the file is damaged");
    head->field_count = get_int(h, h->file, "field_count", 0, MAX_FIELDS);
    if (lm_h5_has(h->file, "bordered"))
        head->bordered = get_int(h, h->file, "bordered", 1, head->field_count);
    read_surfaces(h, &head->surfaces);
    lm_checkpoint_get_backgrounds(h, head);
    read_species_head(h, head);
    return h->status;
}

int lm_checkpoint_head(const char *path, struct lm_checkpoint *head)
{
    struct lm_h5 h;
    *head = (struct lm_checkpoint){0};
    if (lm_h5_open(&h, path) == LM_OK)
        read_head(&h, head);
    return lm_h5_finish(&h, 0);
}

/* ---- reading: the state ---- */

static void read_field(struct lm_h5 *h, hid_t group, const struct lm_checkpoint *head, int field, double *packed)
{
    hsize_t dims[2];
    size_t cells = shape_of(head, field, dims);
    const char *name = head->field_names[field];
    hid_t data = lm_h5_dataset(h, group, name, H5T_NATIVE_DOUBLE, 2, dims);
    if (h->status == LM_OK && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) < 0)
        lm_h5_error(h, "cannot read the field %s; the file is damaged", name);
    lm_h5_end(data);
    for (size_t c = 0; h->status == LM_OK && c < cells; c++)
        if (!isfinite(packed[c]))
            lm_h5_wrong(h, "the field %s is not finite in cell (%zu, %zu); the file is damaged", name,
                        c % (size_t)dims[1], c / (size_t)dims[1]);
}

static void read_fields(struct lm_h5 *h, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io)
{
    int64_t stored = lm_h5_get_whole(h, h->file, "field_count");
    if (h->status == LM_OK && stored != head->field_count)
        lm_h5_wrong(h, "holds %" PRId64 " fields, this run has %d; restart with the same settings", stored,
                    head->field_count);
    hid_t group = lm_h5_group(h, h->file, "fields");
    if (h->status != LM_OK)
        return;
    double *packed = field_room(head);
    if (!packed)
        h->status = lm_fail(LM_FAILED, "no memory for a field");
    for (int f = 0; h->status == LM_OK && f < head->field_count; f++) {
        read_field(h, group, head, f, packed);
        if (h->status == LM_OK)
            h->status = io->set_field(io->context, f, packed);
    }
    free(packed);
    lm_h5_end(group);
}

static double velocity(const void *values, int precision, uint64_t i)
{
    return precision == LM_SINGLE ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Cells times 2^bits; a domain that long that it does not fit has no upper limit in 64 bits. */
static int64_t length_of(int cells, int bits)
{
    return cells > INT64_MAX >> bits ? INT64_MAX : (int64_t)cells << bits;
}

static void check_particles(struct lm_h5 *h, const struct lm_checkpoint *head, int s, uint64_t first, uint64_t count,
                            const struct piece *p)
{
    int bits = fraction_bits(head->precision);
    int64_t high_x = length_of(head->nx, bits), high_y = length_of(head->ny, bits);
    for (uint64_t i = 0; h->status == LM_OK && i < count; i++) {
        int64_t x = p->raw.x[i], y = p->raw.y[i];
        if (x < 0 || x >= high_x || y < 0 || y >= high_y)
            lm_h5_wrong(h, "species '%s': particle %" PRIu64 " is outside of the domain; the file is damaged",
                        head->species[s].name, first + i);
        for (int k = 2; k < 5; k++)
            if (h->status == LM_OK && !isfinite(velocity(column_of(p, k), head->precision, i)))
                lm_h5_wrong(h, "species '%s': particle %" PRIu64 " has no finite velocity; the file is damaged",
                            head->species[s].name, first + i);
    }
}

static void read_one_species(struct lm_h5 *h, hid_t group, const struct lm_checkpoint *head, int s,
                             const struct lm_checkpoint_io *io, struct piece *p)
{
    hsize_t length = head->species[s].count;
    hid_t data[5];
    read_map(h, group, head, s, io);
    for (int k = 0; k < 5; k++)
        data[k] = lm_h5_dataset(h, group, columns[k], column_type(head->precision, k), 1, &length);
    for (uint64_t first = 0; h->status == LM_OK && first < length; first += p->size) {
        uint64_t count = length - first < p->size ? length - first : p->size;
        for (int k = 0; k < 5; k++)
            lm_h5_read_rows(h, data[k], column_type(head->precision, k), first, count, column_of(p, k));
        if (h->status == LM_OK)
            check_particles(h, head, s, first, count, p);
        if (h->status == LM_OK)
            h->status = io->set_particles(io->context, s, first, count, p->raw);
    }
    for (int k = 0; k < 5; k++)
        lm_h5_end(data[k]);
}

static void read_state(struct lm_h5 *h, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io)
{
    struct piece p;
    read_fields(h, head, io);
    hid_t all = lm_h5_group(h, h->file, "species");
    if (h->status == LM_OK && (h->status = make_piece(head, &p)) == LM_OK) {
        for (int s = 0; s < head->species_count; s++) {
            hid_t group = lm_h5_group(h, all, head->species[s].name);
            read_one_species(h, group, head, s, io, &p);
            lm_h5_end(group);
        }
        free_piece(&p);
    }
    lm_h5_end(all);
}

int lm_checkpoint_read(const char *path, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io)
{
    struct lm_h5 h;
    if (lm_h5_open(&h, path) == LM_OK)
        check_format(&h);
    if (h.status == LM_OK)
        read_state(&h, head, io);
    return lm_h5_finish(&h, 0);
}

/* ---- fingerprint ---- */

struct sum {
    const struct lm_checkpoint *head;
    uint64_t total;
};

static int hash_field(void *context, int field, const double *packed)
{
    struct sum *sum = context;
    hsize_t dims[2];
    uint64_t cells = shape_of(sum->head, field, dims);
    for (uint64_t c = 0; c < cells; c++)
        sum->total += lm_hash_value(field, c, packed[c]);
    return LM_OK;
}

static int hash_particles(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles in)
{
    struct sum *sum = context;
    int precision = sum->head->precision;
    (void)first;
    for (uint64_t i = 0; i < count; i++)
        sum->total += lm_hash_particle(species, in.x[i], in.y[i], velocity(in.u, precision, i),
                                       velocity(in.v, precision, i), velocity(in.w, precision, i));
    return LM_OK;
}

int lm_checkpoint_fingerprint(const char *path, uint64_t *fingerprint)
{
    struct lm_h5 h;
    struct lm_checkpoint head;
    char names[MAX_FIELDS][FIELD_NAME];
    const char *list[MAX_FIELDS];
    *fingerprint = 0;
    if (lm_h5_open(&h, path) == LM_OK && read_head(&h, &head) == LM_OK) {
        lm_h5_get_texts(&h, h.file, "field_names", head.field_count, FIELD_NAME, names[0]);
        for (int f = 0; f < head.field_count; f++)
            list[f] = names[f];
        head.field_names = list;
        struct sum sum = {&head, lm_hash_step(head.step)};
        struct lm_checkpoint_io io = {.context = &sum, .set_field = hash_field, .set_particles = hash_particles};
        if (h.status == LM_OK)
            read_state(&h, &head, &io);
        *fingerprint = sum.total;
    }
    return lm_h5_finish(&h, 0);
}
