/* `larmor info`: describes an HDF5 file of this program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/info.h"

#include "base/checksum.h"
#include "base/h5.h"
#include "base/try.h"
#include "checkpoint/checkpoint.h"
#include "larmor/particles.h"
#include "output/info_samples.h"

/* ---- checkpoint ---- */

/* Prints nothing where no particle has entered or left. */
static void print_ledger(const struct lm_ledger *l, FILE *out)
{
    uint64_t entered = 0, left = 0;
    for (int way = 0; way < LM_ENTRANCES; way++)
        entered += way == LM_IONISED ? 0 : l->injected[way].number;
    for (int channel = 0; channel < LM_CHANNELS; channel++)
        left += l->lost[channel].number;
    const uint64_t born = l->injected[LM_IONISED].number;
    if (entered + born + left == 0)
        return;
    fprintf(out, "             %" PRIu64 " loaded, %" PRIu64 " have entered, ", l->loaded, entered);
    if (born > 0)
        fprintf(out, "%" PRIu64 " were born by ionisation, ", born);
    fprintf(out, "%" PRIu64 " have left\n", left);
}

static void print_background(const struct lm_checkpoint_background *b, double area, FILE *out)
{
    const struct lm_background_ledger *l = &b->ledger;
    lm_int128 entered = 0;
    for (int side = 0; side < LM_SIDES; side++)
        entered += l->entered[side];
    fprintf(out, "  background %s: %s, total %.10g\n", b->name,
            b->kind == LM_NEUTRAL_GAS ? "neutral gas"
            : b->kind == LM_ENTROPY   ? "entropy of the electrons"
                                      : "tracer",
            area * lm_background_value(l, l->total));
    if (entered != 0 || l->source != 0 || l->rounded != 0)
        fprintf(out, "             %.10g loaded, %.10g entered, %.10g from the source, %.3g rounded\n",
                area * lm_background_value(l, l->loaded), area * lm_background_value(l, entered),
                area * lm_background_value(l, l->source), area * lm_background_value(l, l->rounded));
}

static void print_head(const char *path, const struct lm_checkpoint *head, FILE *out)
{
    fprintf(out, "%s: checkpoint\n", path);
    fprintf(out, "  step       %" PRId64 "\n  time       %.10g 1/Omega_ci (dt %.10g)\n", head->step, head->time,
            head->dt);
    fprintf(out, "  grid       %d x %d cells, %.10g x %.10g d_i\n", head->nx, head->ny, head->lx, head->ly);
    fprintf(out, "  particles  %s shape, %s precision, seed %" PRIu64 "\n",
            head->shape == LM_LINEAR ? "linear" : "quadratic", head->precision == LM_SINGLE ? "single" : "double",
            head->seed);
    for (int s = 0; s < head->species_count; s++) {
        const struct lm_checkpoint_species *sp = &head->species[s];
        fprintf(out, "  species    %s: %" PRIu64 " particles, charge %g e, mass %g m_p, weight %g\n", sp->name,
                sp->count, sp->charge, sp->mass, sp->weight);
        print_ledger(&sp->ledger, out);
    }
    for (int f = 0; f < head->background_count; f++)
        print_background(&head->background[f], head->lx / head->nx * (head->ly / head->ny), out);
    for (int k = 0; k < head->track_count; k++)
        fprintf(out, "  track %s: %" PRIu64 " ions of %s\n", head->track[k].name, head->track[k].count,
                head->track[k].species);
}

static void print_fields(struct lm_h5 *h, FILE *out)
{
    hid_t group = lm_h5_group(h, h->file, "fields");
    struct lm_h5_links links = lm_h5_links(h, group);
    fprintf(out, "  fields    ");
    for (int f = 0; f < links.count; f++)
        fprintf(out, " %s", links.name[f]);
    fprintf(out, links.count > 0 ? "\n" : " none\n");
    free(links.name);
    lm_h5_end(group);
}

/* The outputs that are means over time and have begun. */
static void print_sums(struct lm_h5 *h, FILE *out)
{
    if (h->status != LM_OK || H5Lexists(h->file, "sums", H5P_DEFAULT) <= 0)
        return;
    hid_t all = lm_h5_group(h, h->file, "sums");
    struct lm_h5_links links = lm_h5_links(h, all);
    for (int k = 0; h->status == LM_OK && k < links.count; k++) {
        hid_t group = lm_h5_group(h, all, links.name[k]);
        const int64_t samples = lm_h5_get_whole(h, group, "samples");
        if (h->status == LM_OK)
            fprintf(out, "  output %s: %" PRId64 " sample%s of its mean\n", links.name[k], samples,
                    samples == 1 ? "" : "s");
        lm_h5_end(group);
    }
    free(links.name);
    lm_h5_end(all);
}

/* What has made the file (src/base/h5.c). Every file says when; the rest is known of files of the program. */
static void print_origin(struct lm_h5 *h, FILE *out)
{
    static const char *const names[] = {"created", "machine", "commit", "command"};
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++) {
        char *text = k == 0 || lm_h5_has(h->file, names[k]) ? lm_h5_get_text(h, h->file, names[k]) : NULL;
        if (text)
            fprintf(out, "  %-10s %s\n", names[k], text);
        free(text);
    }
}

/* lm_checkpoint_head verifies the file before HDF5 reads anything of it. */
static int print_checkpoint(const char *path, FILE *out)
{
    struct lm_checkpoint head;
    struct lm_h5 h;
    LM_TRY(lm_checkpoint_head(path, &head));
    print_head(path, &head, out);
    if (lm_h5_open(&h, path) == LM_OK)
        print_fields(&h, out);
    print_sums(&h, out);
    print_origin(&h, out);
    if (h.status == LM_OK)
        fprintf(out, "  checksum   verified\n");
    return lm_h5_finish(&h, 0);
}

/* ---- series ---- */

static void print_column(struct lm_h5 *h, const char *name, FILE *out)
{
    hsize_t length = lm_h5_length(h, h->file, name);
    if (h->status != LM_OK)
        return;
    double first = 0.0, last = 0.0;
    hid_t data = H5Dopen2(h->file, name, H5P_DEFAULT);
    if (data < 0)
        lm_h5_error(h, "cannot read the column %s; the file is damaged", name);
    char *units = lm_h5_get_text(h, data, "units");
    if (length > 0) {
        lm_h5_read_rows(h, data, H5T_NATIVE_DOUBLE, 0, 1, &first);
        lm_h5_read_rows(h, data, H5T_NATIVE_DOUBLE, length - 1, 1, &last);
    }
    if (h->status == LM_OK && length > 0)
        fprintf(out, "  %-24s %16.9g %16.9g  %s\n", name, first, last, units);
    else if (h->status == LM_OK)
        fprintf(out, "  %-24s %16s %16s  %s\n", name, "-", "-", units);
    free(units);
    lm_h5_end(data);
}

static void print_series(struct lm_h5 *h, FILE *out)
{
    struct lm_h5_links links = lm_h5_links(h, h->file);
    if (h->status == LM_OK && links.count == 0)
        lm_h5_wrong(h, "has no columns; the file is damaged");
    hsize_t rows = lm_h5_length(h, h->file, links.count > 0 ? links.name[0] : "");
    if (h->status == LM_OK) {
        fprintf(out, "%s: time series, %d columns, %" PRIu64 " rows\n", h->path, links.count, (uint64_t)rows);
        fprintf(out, "  %-24s %16s %16s  %s\n", "column", "first", "last", "unit");
    }
    for (int c = 0; h->status == LM_OK && c < links.count; c++)
        print_column(h, links.name[c], out);
    free(links.name);
}

/* ---- maps ---- */

static uint64_t sum_of(struct lm_h5 *h, hid_t data, hsize_t size)
{
    uint64_t *values = h->status == LM_OK ? malloc(size * sizeof *values) : NULL, sum = 0;
    if (!values)
        lm_h5_wrong(h, "not enough memory for a map");
    else if (H5Dread(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        lm_h5_error(h, "cannot read a map; the file is damaged");
    for (hsize_t k = 0; h->status == LM_OK && k < size; k++)
        sum += values[k];
    free(values);
    return sum;
}

static void print_hits(struct lm_h5 *h, hid_t group, const char *name, const hsize_t dims[3], FILE *out)
{
    hid_t data = lm_h5_dataset(h, group, name, H5T_NATIVE_UINT64, 3, dims);
    uint64_t sum = sum_of(h, data, dims[0] * dims[1] * dims[2]);
    if (h->status == LM_OK)
        fprintf(out, " %s %" PRIu64, name + strlen("hits_"), sum);
    lm_h5_end(data);
}

static void print_surface(struct lm_h5 *h, const char *name, hsize_t angles, hsize_t energies, FILE *out)
{
    hid_t group = lm_h5_group(h, h->file, name);
    char *particles = lm_h5_get_text(h, group, "particles");
    const hsize_t dims[3] = {lm_h5_length(h, group, "x"), angles, energies};
    if (h->status == LM_OK)
        fprintf(out, "  %-10s %s, %" PRIu64 " faces, hits", name, particles, (uint64_t)dims[0]);
    struct lm_h5_links links = lm_h5_links(h, group);
    for (int k = 0; h->status == LM_OK && k < links.count; k++)
        if (!strncmp(links.name[k], "hits_", strlen("hits_")))
            print_hits(h, group, links.name[k], dims, out);
    free(links.name);
    if (h->status == LM_OK)
        fprintf(out, "\n");
    free(particles);
    lm_h5_end(group);
}

static void print_maps(struct lm_h5 *h, FILE *out)
{
    const hsize_t angles = lm_h5_length(h, h->file, "angle_edges"), energies = lm_h5_length(h, h->file, "energy_edges");
    const int64_t step = lm_h5_get_whole(h, h->file, "step");
    const double time = lm_h5_get_real(h, h->file, "time");
    if (h->status == LM_OK && angles < 2)
        lm_h5_wrong(h, "has no bins of the angle; the file is damaged");
    if (h->status != LM_OK)
        return;
    fprintf(out, "%s: maps of hits, %" PRIu64 " angles, %" PRIu64 " energies\n", h->path, (uint64_t)angles - 1,
            (uint64_t)energies + 1);
    fprintf(out, "  step       %" PRId64 "\n  time       %.10g 1/Omega_ci\n", step, time);
    struct lm_h5_links links = lm_h5_links(h, h->file);
    for (int k = 0; h->status == LM_OK && k < links.count; k++)
        if (strcmp(links.name[k], "angle_edges") && strcmp(links.name[k], "energy_edges"))
            print_surface(h, links.name[k], angles - 1, energies + 1, out);
    free(links.name);
}

/* ---- distributions ---- */

/* Prints "v_par (40 bins, -4 to 4 v_A)"; returns the number of bins. */
static hsize_t print_axis(struct lm_h5 *h, const char *name, FILE *out)
{
    const hsize_t edges = lm_h5_length(h, h->file, name);
    if (h->status == LM_OK && edges < 2)
        lm_h5_wrong(h, "%s has no bins; the file is damaged", name);
    hid_t data = lm_h5_dataset(h, h->file, name, H5T_NATIVE_DOUBLE, 1, &edges);
    char *quantity = lm_h5_get_text(h, data, "quantity"), *units = lm_h5_get_text(h, data, "units");
    double low = 0, high = 0;
    lm_h5_read_rows(h, data, H5T_NATIVE_DOUBLE, 0, 1, &low);
    lm_h5_read_rows(h, data, H5T_NATIVE_DOUBLE, edges - 1, 1, &high);
    if (h->status == LM_OK)
        fprintf(out, "  axis       %s (%" PRIu64 " bins, %.6g to %.6g %s)\n", quantity, (uint64_t)edges - 1, low, high,
                units);
    free(quantity);
    free(units);
    lm_h5_end(data);
    return edges - 1;
}

static void print_counts(struct lm_h5 *h, const char *name, int rank, const hsize_t *dims, FILE *out)
{
    hsize_t bins = 1;
    for (int k = 0; k < rank; k++)
        bins *= dims[k];
    hid_t data = lm_h5_dataset(h, h->file, name, H5T_NATIVE_UINT64, rank, dims);
    const uint64_t sum = sum_of(h, data, bins);
    const int64_t outside = lm_h5_get_whole(h, data, "outside");
    if (h->status == LM_OK)
        fprintf(out, "  %-10s %" PRIu64 " particles in bins, %" PRId64 " outside\n", name + strlen("counts_"), sum,
                outside);
    lm_h5_end(data);
}

static void print_distribution(struct lm_h5 *h, FILE *out)
{
    const int64_t step = lm_h5_get_whole(h, h->file, "step");
    const double time = lm_h5_get_real(h, h->file, "time");
    struct lm_h5_links links = lm_h5_links(h, h->file);
    hsize_t dims[LM_H5_RANK];
    int rank = 0;
    if (h->status == LM_OK)
        fprintf(out, "%s: distribution\n  step       %" PRId64 "\n  time       %.10g 1/Omega_ci\n", h->path, step,
                time);
    for (int k = 0; h->status == LM_OK && k < links.count; k++)
        if (!strncmp(links.name[k], "edges_", strlen("edges_")) && rank < LM_H5_RANK)
            dims[rank++] = print_axis(h, links.name[k], out);
    for (int k = 0; h->status == LM_OK && k < links.count; k++)
        if (!strncmp(links.name[k], "counts_", strlen("counts_")))
            print_counts(h, links.name[k], rank, dims, out);
    free(links.name);
}

/* ---- openPMD ---- */

/* "512 x 8" of a dataset. */
static void print_shape(struct lm_h5 *h, hid_t data, FILE *out)
{
    hsize_t dims[H5S_MAX_RANK];
    hid_t space = H5Dget_space(data);
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    if (rank < 1)
        lm_h5_error(h, "cannot read the shape of a mesh; the file is damaged");
    for (int d = 0; d < rank; d++)
        fprintf(out, "%s%" PRIu64, d > 0 ? " x " : "", (uint64_t)dims[d]);
    if (space >= 0)
        H5Sclose(space);
}

/* Prints the names of the components of a record. Returns the first component, which the caller closes. */
static hid_t open_component(struct lm_h5 *h, hid_t record, FILE *out)
{
    struct lm_h5_links links = lm_h5_links(h, record);
    for (int c = 0; c < links.count; c++)
        fprintf(out, "%s%s", c > 0 ? ", " : ": ", links.name[c]);
    hid_t first = links.count > 0 ? H5Oopen(record, links.name[0], H5P_DEFAULT) : -1;
    free(links.name);
    return first;
}

/* "mean of 8 samples, steps 186 to 200", where a record is a mean over time. */
static void print_mean(struct lm_h5 *h, hid_t record, FILE *out)
{
    if (h->status != LM_OK || !lm_h5_has(record, "averageSamples"))
        return;
    const int64_t samples = lm_h5_get_whole(h, record, "averageSamples");
    const int64_t first = lm_h5_get_whole(h, record, "averageFirstStep"),
                  last = lm_h5_get_whole(h, record, "averageLastStep");
    if (h->status == LM_OK)
        fprintf(out, ", mean of %" PRId64 " samples, steps %" PRId64 " to %" PRId64, samples, first, last);
}

static void print_mesh(struct lm_h5 *h, hid_t meshes, const char *name, FILE *out)
{
    hid_t record = H5Oopen(meshes, name, H5P_DEFAULT), data = record;
    fprintf(out, "  mesh       %s", name);
    if (H5Iget_type(record) == H5I_GROUP)
        data = open_component(h, record, out);
    if (data < 0 || H5Iget_type(data) != H5I_DATASET)
        lm_h5_error(h, "cannot read the mesh %s; the file is damaged", name);
    const double unit = lm_h5_get_real(h, data, "unitSI");
    if (h->status == LM_OK) {
        fprintf(out, " (");
        print_shape(h, data, out);
        fprintf(out, unit != 1 ? ", unit %.6g SI)" : ")", unit);
    }
    print_mean(h, record, out);
    fprintf(out, "\n");
    if (data != record)
        lm_h5_end(data);
    lm_h5_end(record);
}

static void print_species(struct lm_h5 *h, hid_t particles, const char *name, FILE *out)
{
    hid_t species = lm_h5_group(h, particles, name), mass = lm_h5_group(h, species, "mass");
    hid_t charge = lm_h5_group(h, species, "charge");
    uint64_t count;
    lm_h5_get(h, mass, "shape", H5T_NATIVE_UINT64, 1, &count);
    double z = lm_h5_get_real(h, charge, "value"), m = lm_h5_get_real(h, mass, "value");
    if (h->status == LM_OK)
        fprintf(out, "  species    %s: %" PRIu64 " particles, charge %g e, mass %g m_p\n", name, count, z, m);
    lm_h5_end(charge);
    lm_h5_end(mass);
    lm_h5_end(species);
}

/* Prints all members of a group of the iteration. Returns their number. */
static int print_members(struct lm_h5 *h, hid_t iteration, const char *name, FILE *out,
                         void (*print)(struct lm_h5 *, hid_t, const char *, FILE *))
{
    if (h->status != LM_OK || H5Lexists(iteration, name, H5P_DEFAULT) <= 0)
        return 0;
    hid_t group = lm_h5_group(h, iteration, name);
    struct lm_h5_links links = lm_h5_links(h, group);
    for (int i = 0; h->status == LM_OK && i < links.count; i++)
        print(h, group, links.name[i], out);
    free(links.name);
    lm_h5_end(group);
    return links.count;
}

static void print_iteration(struct lm_h5 *h, hid_t data, const char *number, FILE *out)
{
    hid_t iteration = lm_h5_group(h, data, number);
    double time = lm_h5_get_real(h, iteration, "time"), si = lm_h5_get_real(h, iteration, "timeUnitSI");
    if (h->status == LM_OK)
        fprintf(out,
                si != 1 ? "  step       %s\n  time       %.10g (unit %.6g s)\n"
                        : "  step       %s\n  time       %.10g 1/Omega_ci\n",
                number, time, si);
    int n = print_members(h, iteration, "meshes", out, print_mesh);
    n += print_members(h, iteration, "particles", out, print_species);
    if (h->status == LM_OK && n == 0)
        lm_h5_wrong(h, "holds neither meshes nor particles; the file is damaged");
    lm_h5_end(iteration);
}

static void print_openpmd(struct lm_h5 *h, FILE *out)
{
    char *version = lm_h5_get_text(h, h->file, "openPMD");
    hid_t data = lm_h5_group(h, h->file, "data");
    struct lm_h5_links links = lm_h5_links(h, data);
    if (h->status == LM_OK && links.count == 0)
        lm_h5_wrong(h, "holds no iteration; the file is damaged");
    if (h->status == LM_OK)
        fprintf(out, "%s: openPMD %s, %d iteration%s\n", h->path, version, links.count, links.count == 1 ? "" : "s");
    for (int i = 0; h->status == LM_OK && i < links.count; i++)
        print_iteration(h, data, links.name[i], out);
    free(links.name);
    lm_h5_end(data);
    free(version);
}

/* Files with the attribute `format`, but for checkpoints. */
static const struct {
    const char *format;
    void (*print)(struct lm_h5 *h, FILE *out);
} kinds[] = {{"larmor-series", print_series},
             {"larmor-maps", print_maps},
             {"larmor-distribution", print_distribution},
             {"larmor-track", lm_info_track},
             {"larmor-probe", lm_info_probe}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void print_file(struct lm_h5 *h, const char *format, FILE *out)
{
    int k = 0;
    while (k < KINDS && strcmp(format, kinds[k].format))
        k++;
    if (k < KINDS)
        kinds[k].print(h, out);
    else if (lm_h5_has(h->file, "openPMD"))
        print_openpmd(h, out);
    else
        lm_h5_wrong(h, "is no file of this program (neither checkpoint, series, maps, distribution, track, probe nor "
                       "openPMD)");
    print_origin(h, out);
}

int lm_info_print(const char *path, FILE *out)
{
    struct lm_h5 h;
    if (lm_checksum_is_there(path))
        return print_checkpoint(path, out);
    if (lm_h5_open(&h, path) != LM_OK)
        return lm_h5_finish(&h, 0);
    char *format = lm_h5_has(h.file, "format") ? lm_h5_get_text(&h, h.file, "format") : NULL;
    if (format && !strcmp(format, "larmor-checkpoint"))
        h.status = print_checkpoint(path, out);
    else if (h.status == LM_OK)
        print_file(&h, format ? format : "", out);
    free(format);
    return lm_h5_finish(&h, 0);
}
