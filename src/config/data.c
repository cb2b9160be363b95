/* Arrays of HDF5 files as functions of x and y. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "config/data.h"
#include "config/facts.h"
#include "config/reader.h"

/* --- a value --- */

/* The two values along an axis between which `at` lies, and the weight of the second one. A place within round-off of a
 * value gets that value alone. */
static double find(const struct lm_data_axis *a, double at, int index[2])
{
    double g = (at - a->first) / a->spacing;
    g = fabs(g - rint(g)) < 1e-9 ? rint(g) : g;
    const double low = floor(g);
    for (int k = 0; k < 2; k++) {
        const double i = low + k, n = a->count;
        index[k] = (int)(a->is_periodic ? i - n * floor(i / n) : i < 0 ? 0 : i < n ? i : n - 1);
    }
    return g - low;
}

static double mean(double a, double b, double weight)
{
    return weight == 0 ? a : (1 - weight) * a + weight * b;
}

static double sample(const void *data, double x, double y)
{
    const struct lm_samples *s = ((const struct lm_data_config *)data)->samples;
    int i[2], j[2];
    if (!s)
        return 1; /* it could not be read, which has been reported */
    const double fx = find(&s->x, x, i), fy = find(&s->y, y, j);
    const double *low = s->value + (size_t)j[0] * (size_t)s->x.count,
                 *high = s->value + (size_t)j[1] * (size_t)s->x.count;
    return mean(mean(low[i[0]], low[i[1]], fx), mean(high[i[0]], high[i[1]], fx), fy);
}

/* --- the file --- */

/* The lengths of the file are in units of gridUnitSI metres; without scales in one of the two they are in d_i. */
static double length_scale(const struct lm_config *c, double si)
{
    const struct lm_units u = lm_units_make(c->units.b0, c->units.n0);
    return u.is_si && si != 1 ? si / u.length : 1;
}

static void read_places(struct lm_h5 *h, const struct lm_config *c, hid_t data, hid_t record, struct lm_data_places *p)
{
    double spacing[2], offset[2], position[2];
    char labels[2][8];
    lm_h5_get(h, data, "position", H5T_NATIVE_DOUBLE, 2, position);
    lm_h5_get(h, record, "gridSpacing", H5T_NATIVE_DOUBLE, 2, spacing);
    lm_h5_get(h, record, "gridGlobalOffset", H5T_NATIVE_DOUBLE, 2, offset);
    lm_h5_get_texts(h, record, "axisLabels", 2, sizeof labels[0], labels[0]);
    const double scale = length_scale(c, lm_h5_get_real(h, record, "gridUnitSI"));
    if (h->status == LM_OK && (strcmp(labels[0], "y") || strcmp(labels[1], "x")))
        lm_h5_wrong(h, "the axes of the array are (%s, %s); they must be (y, x)", labels[0], labels[1]);
    for (int k = 0; k < 2; k++) {
        p->spacing[k] = scale * spacing[k];
        p->first[k] = scale * (offset[k] + position[k] * spacing[k]);
        if (h->status == LM_OK && !(p->spacing[k] > 0 && isfinite(p->first[k])))
            lm_h5_wrong(h, "gridSpacing and gridGlobalOffset of the array are no places");
    }
    p->is_known = 1;
}

/* The record of a component is the group around it; a scalar record is the array itself. */
static void find_places(struct lm_h5 *h, const struct lm_config *c, const char *name, hid_t data,
                        struct lm_data_places *p)
{
    char group[LM_H5_NAME];
    const char *slash = strrchr(name, '/');
    snprintf(group, sizeof group, "%.*s", slash ? (int)(slash - name) : 1, slash && slash > name ? name : "/");
    p->is_known = 0;
    if (!lm_h5_has(data, "position"))
        return;
    hid_t record = lm_h5_has(data, "gridSpacing") ? data : lm_h5_group(h, h->file, group);
    if (h->status == LM_OK && lm_h5_has(record, "gridSpacing"))
        read_places(h, c, data, record, p);
    if (record != data)
        lm_h5_end(record);
}

/* Memory for the array. NULL: it is no array of numbers with two dimensions, or there is no memory. */
static struct lm_samples *make_samples(struct lm_h5 *h, hid_t data, int *is_single)
{
    hsize_t size[2] = {0, 0};
    hid_t space = H5Dget_space(data), type = H5Dget_type(data);
    const H5T_class_t kind = H5Tget_class(type);
    *is_single = kind == H5T_FLOAT && H5Tget_size(type) < sizeof(double);
    const int is_good = H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, size, NULL) == 2;
    H5Sclose(space);
    H5Tclose(type);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT)
        lm_h5_wrong(h, "the dataset is neither of integers nor of reals");
    else if (!is_good || size[0] < 1 || size[1] < 1 || size[0] > 1 << 24 || size[1] > 1 << 24)
        lm_h5_wrong(h, "the dataset is not two-dimensional, [ny][nx]");
    if (h->status)
        return NULL;
    struct lm_samples *s = malloc(sizeof *s + (size_t)(size[0] * size[1]) * sizeof s->value[0]);
    if (!s) {
        h->status = lm_fail(LM_FAILED, "not enough memory for an array of a file");
        return NULL;
    }
    s->x.count = (int)size[1];
    s->y.count = (int)size[0];
    return s;
}

/* Ends that the configuration gives come first, then those of the file, then those of the domain. */
static void place(struct lm_data_axis *a, double from, double to, const struct lm_data_places *p, int k, double length,
                  int is_periodic)
{
    if (isinf(from) && isinf(to) && p->is_known) {
        a->first = p->first[k];
        a->spacing = p->spacing[k];
    } else {
        const double begin = isinf(from) ? 0 : from, end = isinf(to) ? length : to;
        a->spacing = (end - begin) / a->count;
        a->first = begin + 0.5 * a->spacing;
    }
    a->is_periodic = is_periodic && fabs(a->count * a->spacing - length) < 1e-6 * length;
}

void lm_data_place(struct lm_samples *s, const struct lm_config *c, const struct lm_data_config *d,
                   const struct lm_data_places *p)
{
    place(&s->x, d->from_x, d->to_x, p, 1, c->grid.lx, c->boundary[LM_X_MIN] == LM_PERIODIC);
    place(&s->y, d->from_y, d->to_y, p, 0, c->grid.ly, c->boundary[LM_Y_MIN] == LM_PERIODIC);
}

struct lm_samples *lm_data_array(struct lm_h5 *h, const struct lm_config *c, const char *name, struct lm_data_places *p)
{
    hid_t data = H5Dopen2(h->file, name, H5P_DEFAULT);
    if (data < 0) {
        lm_h5_wrong(h, "the dataset %s is missing", name);
        return NULL;
    }
    struct lm_samples *s = make_samples(h, data, &p->is_single);
    if (s && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, s->value) < 0)
        lm_h5_error(h, "truncated or damaged: %s cannot be read", name);
    if (s && h->status == LM_OK)
        find_places(h, c, name, data, p);
    lm_h5_end(data);
    return s;
}

static struct lm_samples *read_samples(struct lm_h5 *h, const struct lm_config *c, const struct lm_data_config *d)
{
    struct lm_data_places p;
    if (d->magnetic_field[0])
        return lm_data_potential(h, c, d);
    struct lm_samples *s = lm_data_array(h, c, d->dataset, &p);
    if (s && h->status == LM_OK)
        lm_data_place(s, c, d, &p);
    return s;
}

/* --- all of them --- */

static void report(struct lm_config_reader *r, int k, const char *key, const char *wrong)
{
    char section[LM_INI_NAME];
    const int line = r->named_key_line[LM_DATA][k][lm_keys_find(LM_DATA_SECTION, key)];
    snprintf(section, sizeof section, "data.%s", r->config->data[k].name);
    lm_problems_add(&r->problems, line ? line : lm_config_header_line(r, section), "%s.%s: %s", section, key, wrong);
    r->unusable_values = 1;
}

void lm_config_name_data(struct lm_config_reader *r)
{
    for (int k = 0; k < r->config->data_count; k++) {
        struct lm_data_config *d = &r->config->data[k];
        char name[LM_MAX_NAME + 4];
        if (d->meshes[0])
            continue;
        snprintf(name, sizeof name, "%s%s", d->name, d->magnetic_field[0] ? "_az" : "");
        const int status = lm_config_has_given(name)
                               ? lm_fail(LM_BAD_INPUT, "the name \"%s\" is taken", name)
                               : lm_names_define_sampled(r->config->names, name,
                                                         d->magnetic_field[0] ? lm_data_potential_at : sample, d);
        if (status)
            report(r, k, "file", lm_error());
    }
}

/* 0 also for a key whose name is misspelt. */
static int is_missing(const struct lm_config_reader *r, const struct lm_data_config *d, const char *key)
{
    char section[LM_INI_NAME];
    snprintf(section, sizeof section, "data.%s", d->name);
    return lm_config_is_missing(r, section, key);
}

static int read_one(struct lm_config_reader *r, int k)
{
    struct lm_data_config *d = &r->config->data[k];
    struct lm_h5 h;
    const int line = r->named_key_line[LM_DATA][k][lm_keys_find(LM_DATA_SECTION, "file")];
    const int given = (d->dataset[0] != 0) + (d->magnetic_field[0] != 0) + (d->meshes[0] != 0);
    if (given > 1)
        report(r, k, d->meshes[0] ? "meshes" : "magnetic_field",
               d->dataset[0] ? "dataset is given as well; give one of the three"
                             : "magnetic_field is given as well; give one of the three");
    else if (given == 0 && is_missing(r, d, "dataset") && is_missing(r, d, "magnetic_field") &&
             is_missing(r, d, "meshes"))
        report(r, k, "dataset", "required and not given (or magnetic_field, or meshes)");
    if (given != 1 || d->meshes[0])
        return LM_OK;
    if (!d->file[0] || lm_config_resolve_path(r, LM_DATA_SECTION, "file", d, line))
        return LM_OK; /* a missing key is reported with those of other sections */
    if (!lm_h5_open(&h, d->file))
        d->samples = read_samples(&h, r->config, d);
    const int status = lm_h5_finish(&h, 0);
    if (status == LM_BAD_INPUT) {
        report(r, k, "file", lm_error());
        free(d->samples);
        d->samples = NULL;
    } else if (!status && !(d->samples->x.spacing > 0 && d->samples->y.spacing > 0)) {
        report(r, k, "file", "from_x is not below to_x, or from_y not below to_y");
    }
    return status == LM_FAILED ? status : LM_OK;
}

int lm_config_read_data(struct lm_config_reader *r)
{
    int status = LM_OK;
    for (int k = 0; k < r->config->data_count && !status && !r->unusable_values; k++)
        status = read_one(r, k);
    return status;
}

/* 1 when one of the texts, or a function of the configuration, mentions the name. */
static int is_mentioned(const struct lm_config *c, const char *name, int count, const char *const *texts)
{
    int found = 0;
    for (int k = 0; k < count; k++)
        found += lm_text_mentions(texts[k], name);
    for (int k = 0; k < c->function_count; k++)
        found += lm_text_mentions(c->function_text[k].text, name);
    return found > 0;
}

void lm_config_advise_div_b(const struct lm_config *c, size_t size, char *out)
{
    const char *const texts[] = {c->fields.b[0], c->fields.b[1], c->fields.az};
    int interpolated = 0;
    size_t n = 0;
    *out = 0;
    for (int k = 0; k < c->data_count && n < size; k++) {
        const struct lm_data_config *d = &c->data[k];
        const int is_potential = d->magnetic_field[0] != 0;
        if (d->meshes[0])
            continue;
        char name[LM_MAX_NAME + 4];
        snprintf(name, sizeof name, "%s%s", d->name, is_potential ? "_az" : "");
        if (!is_mentioned(c, name, is_potential ? 3 : 2, texts))
            continue;
        const struct lm_data_axis *x = &d->samples->x, *y = &d->samples->y;
        interpolated |= !is_potential;
        /* A potential has one value more than cells along an axis that is not periodic. */
        const double nx = x->count - (is_potential && !x->is_periodic),
                     ny = y->count - (is_potential && !y->is_periodic);
        const int differs = (c->boundary[LM_X_MIN] == LM_PERIODIC && !x->is_periodic) ||
                            (c->boundary[LM_Y_MIN] == LM_PERIODIC && !y->is_periodic);
        if (differs)
            n += (size_t)snprintf(
                out + n, size - n,
                ". [data.%s] covers x = %g to %g and y = %g to %g, and the domain is periodic over %g and %g", d->name,
                x->first - 0.5 * x->spacing, x->first + (nx - 0.5) * x->spacing, y->first - 0.5 * y->spacing,
                y->first + (ny - 0.5) * y->spacing, c->grid.lx, c->grid.ly);
    }
    if (interpolated && n < size)
        snprintf(out + n, size - n,
                 ". Interpolated values of a file have a divergence: set data.NAME.magnetic_field and fields.az = "
                 "NAME_az");
}

void lm_config_free_data(struct lm_config *c)
{
    for (int k = 0; k < c->data_count; k++) {
        free(c->data[k].samples);
        c->data[k].samples = NULL;
    }
}
