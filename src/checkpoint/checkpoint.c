#include "checkpoint/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/parts.h"
#include "larmor/config.h"
#include "larmor/physics/numerics/hash.h"

enum { FIELD_NAME = 64, PIECE = 1 << 20 /* particles in memory at a time */ };

/* ---- a piece of particles in memory ---- */

struct piece {
    uint64_t size;
    struct lm_raw_particles raw;
};

static void *column_of(const struct piece *p, int column)
{
    void *const all[5] = {p->raw.x, p->raw.y, p->raw.vx, p->raw.vy, p->raw.vz};
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

/* Takes over the status of a callback, which has recorded a message of its own. */
static void from_callback(struct lm_h5 *h, int status)
{
    if (h->status == LM_OK)
        h->status = status;
}

/* ---- maps ---- */

static uint64_t *make_map(struct lm_h5 *h, uint64_t size)
{
    uint64_t *map = h->status == LM_OK ? malloc(size * sizeof *map) : NULL;
    if (!map && h->status == LM_OK)
        h->status = lm_fail(LM_FAILED, "no memory for a checkpoint's maps");
    return map;
}

/* Most counters are 0, so even the fastest compression makes the file small. */
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

/* A fingerprint does not include the maps (set_map is NULL), but a file without them is damaged. */
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

/* The shape of a field. Returns the number of its values. */
static size_t shape_of(const struct lm_checkpoint *head, int field, hsize_t dims[2])
{
    if (!strncmp(head->field_names[field], "strip_", 6)) { /* beyond a radiating side */
        dims[0] = LM_STRIP_ARRAYS * LM_STRIP_CELLS;
        dims[1] = (hsize_t)(head->field_names[field][6] == 'x' ? head->ny : head->nx);
        return (size_t)(dims[0] * dims[1]);
    }
    int border = field >= head->field_count - head->bordered ? 2 * LM_GHOST : 0;
    dims[0] = (hsize_t)(head->ny + border);
    dims[1] = (hsize_t)(head->nx + border);
    return (size_t)(dims[0] * dims[1]);
}

/* Memory for the largest field. */
static double *allocate_field(const struct lm_checkpoint *head)
{
    const size_t all = (size_t)(head->nx + 2 * LM_GHOST) * (size_t)(head->ny + 2 * LM_GHOST),
                 strip = LM_STRIP_ARRAYS * LM_STRIP_CELLS * (size_t)(head->nx > head->ny ? head->nx : head->ny);
    return malloc((all > strip ? all : strip) * sizeof(double));
}

static void write_fields(struct lm_h5 *h, const struct lm_checkpoint *head, const struct lm_checkpoint_io *io)
{
    hsize_t dims[2];
    hid_t group = lm_h5_make_group(h, h->file, "fields");
    double *packed = allocate_field(head);
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
    lm_checkpoint_put_species(h, group, sp);
    write_map(h, group, head, s, io);
    hsize_t length = sp->count;
    hid_t data[5];
    for (int k = 0; k < 5; k++)
        data[k] = lm_h5_make_dataset(h, group, lm_checkpoint_columns[k], lm_checkpoint_column_type(head->precision, k),
                                     1, &length, 0);
    for (uint64_t first = 0; h->status == LM_OK && first < sp->count; first += p->size) {
        uint64_t count = sp->count - first < p->size ? sp->count - first : p->size;
        from_callback(h, io->get_particles(io->context, s, first, count, p->raw));
        for (int k = 0; k < 5; k++)
            lm_h5_write_rows(h, data[k], lm_checkpoint_column_type(head->precision, k), first, count, column_of(p, k));
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
        status = lm_h5_create_with_checksum(&h, path_out);
    if (status != LM_OK)
        return status;
    lm_checkpoint_put_head(&h, head, configuration);
    write_fields(&h, head, io);
    write_species(&h, head, io);
    lm_checkpoint_put_sums(&h, head);
    lm_checkpoint_put_tracks(&h, head);
    status = lm_h5_finish(&h, 1);
    if (status == LM_OK)
        lm_checkpoint_prune(folder, head->step, keep);
    return status;
}

int lm_checkpoint_head(const char *path, struct lm_checkpoint *head)
{
    struct lm_h5 h;
    *head = (struct lm_checkpoint){0};
    if (lm_checkpoint_open(&h, path) == LM_OK)
        lm_checkpoint_get_head(&h, head);
    return lm_h5_finish(&h, 0);
}

int lm_checkpoint_configuration(const char *path, char **text)
{
    struct lm_h5 h;
    *text = NULL;
    if (lm_h5_open(&h, path) == LM_OK && lm_checkpoint_check_format(&h) == LM_OK)
        *text = lm_h5_get_text(&h, h.file, "configuration");
    return lm_h5_finish(&h, 0);
}

/* ---- reading the state ---- */

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
    double *packed = allocate_field(head);
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

/* The length of the domain, cells times 2^bits; INT64_MAX where it does not fit. */
static int64_t length_of(int cells, int bits)
{
    return cells > INT64_MAX >> bits ? INT64_MAX : (int64_t)cells << bits;
}

static void check_particles(struct lm_h5 *h, const struct lm_checkpoint *head, int s, uint64_t first, uint64_t count,
                            const struct piece *p)
{
    int bits = lm_checkpoint_fraction_bits(head->precision);
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
        data[k] = lm_h5_dataset(h, group, lm_checkpoint_columns[k], lm_checkpoint_column_type(head->precision, k), 1,
                                &length);
    for (uint64_t first = 0; h->status == LM_OK && first < length; first += p->size) {
        uint64_t count = length - first < p->size ? length - first : p->size;
        for (int k = 0; k < 5; k++)
            lm_h5_read_rows(h, data[k], lm_checkpoint_column_type(head->precision, k), first, count, column_of(p, k));
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
    if (lm_h5_open(&h, path) == LM_OK && lm_checkpoint_check_format(&h) == LM_OK)
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
        sum->total += lm_hash_particle(species, in.x[i], in.y[i], velocity(in.vx, precision, i),
                                       velocity(in.vy, precision, i), velocity(in.vz, precision, i));
    return LM_OK;
}

int lm_checkpoint_fingerprint(const char *path, uint64_t *fingerprint)
{
    struct lm_h5 h;
    struct lm_checkpoint head;
    char names[LM_CHECKPOINT_FIELDS][FIELD_NAME];
    const char *list[LM_CHECKPOINT_FIELDS];
    *fingerprint = 0;
    if (lm_checkpoint_open(&h, path) == LM_OK && lm_checkpoint_get_head(&h, &head) == LM_OK) {
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
