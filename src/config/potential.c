/* The vector potential of a magnetic field of a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/data.h"

/* --- a value --- */

enum { POINTS = 4 };

/* Weights of the values t = 0, 1, ... n - 1 of the polynomial through them, at t. */
static void lagrange(double t, int n, double weight[POINTS])
{
    for (int k = 0; k < n; k++) {
        weight[k] = 1;
        for (int m = 0; m < n; m++)
            weight[k] *= m == k ? 1 : (t - m) / (k - m);
    }
}

/* The numbers and weights of the n values along an axis from which the value at `at` follows. Returns n. */
static int stencil(const struct lm_data_axis *a, double at, int *begin, double weight[POINTS])
{
    double g = (at - a->first) / a->spacing;
    g = fabs(g - rint(g)) < 1e-9 ? rint(g) : g;
    const int n = a->is_periodic || a->count > POINTS ? POINTS : a->count;
    const double inside = a->is_periodic ? g : fmin(fmax(g, -1), a->count);
    double low = floor(g) - 1;
    if (!a->is_periodic)
        low = fmin(fmax(low, 0), a->count - n);
    *begin = (int)low;
    lagrange(inside - low, n, weight);
    if (g != inside) { /* linear beyond the outermost place */
        double before[POINTS];
        lagrange(inside + (g < inside ? 1 : -1) - low, n, before);
        for (int k = 0; k < n; k++)
            weight[k] += fabs(g - inside) * (weight[k] - before[k]);
    }
    return n;
}

/* The index of value number i, and how much is to be added to it. */
static int wrap(const struct lm_data_axis *a, int i, double *more)
{
    const int period = a->is_periodic ? (int)floor((double)i / a->count) : 0;
    *more += period * a->growth;
    return i - period * a->count;
}

double lm_data_potential_at(const void *data, double x, double y)
{
    const struct lm_samples *s = ((const struct lm_data_config *)data)->samples;
    double of_x[POINTS], of_y[POINTS], sum = 0;
    int i, j;
    if (!s)
        return 1; /* it could not be read, which has been reported */
    const int nx = stencil(&s->x, x, &i, of_x), ny = stencil(&s->y, y, &j, of_y);
    for (int n = 0; n < ny; n++)
        for (int m = 0; m < nx; m++) {
            double more = 0;
            const int row = wrap(&s->y, j + n, &more), column = wrap(&s->x, i + m, &more);
            sum += of_y[n] * of_x[m] * (s->value[(size_t)row * (size_t)s->x.count + (size_t)column] + more);
        }
    return sum;
}

/* --- the values --- */

struct field {
    struct lm_samples *b[2]; /* B_x and B_y, owned */
    struct lm_data_places places[2];
};

static void check_values(struct lm_h5 *h, const char *name, const struct lm_samples *s)
{
    const long nx = s->x.count, cells = nx * s->y.count;
    for (long k = 0; k < cells && h->status == LM_OK; k++)
        if (!isfinite(s->value[k]))
            lm_h5_wrong(h, "the dataset %s is not a finite number in column %ld, row %ld", name, k % nx, k / nx);
}

static int read_field(struct lm_h5 *h, const struct lm_config *c, const char *record, struct field *f)
{
    for (int k = 0; k < 2 && h->status == LM_OK; k++) {
        char name[sizeof c->data[0].magnetic_field + 2];
        snprintf(name, sizeof name, "%s/%c", record, "xy"[k]);
        f->b[k] = lm_data_array(h, c, name, &f->places[k]);
        if (h->status == LM_OK)
            check_values(h, name, f->b[k]);
    }
    if (h->status)
        return h->status;
    const struct lm_data_places *x = &f->places[0], *y = &f->places[1];
    if (f->b[0]->x.count != f->b[1]->x.count || f->b[0]->y.count != f->b[1]->y.count)
        lm_h5_wrong(h, "the components x and y of %s differ in size", record);
    else if (x->is_known != y->is_known)
        lm_h5_wrong(h, "only one of the components x and y of %s says where its values are", record);
    else if (x->is_known && !(fabs(x->first[0] - y->first[0] - 0.5 * x->spacing[0]) < 1e-6 * x->spacing[0] &&
                              fabs(y->first[1] - x->first[1] - 0.5 * x->spacing[1]) < 1e-6 * x->spacing[1]))
        lm_h5_wrong(h,
                    "the components x and y of %s are not on the faces of cells, as those of an output of fields "
                    "without coarsening are",
                    record);
    return h->status;
}

/* The field as B_x dy and B_y dx: differences of the potential. */
static void scale_field(const struct field *f, double dx, double dy)
{
    const size_t cells = (size_t)f->b[0]->x.count * (size_t)f->b[0]->y.count;
    for (size_t k = 0; k < cells; k++) {
        f->b[0]->value[k] *= dy;
        f->b[1]->value[k] *= dx;
    }
}

/* Whether the differences add up to 0 around each corner. Differences that have overflowed count as no. */
static int is_free_of_divergence(const struct field *f, const struct lm_samples *a)
{
    const long nx = f->b[0]->x.count, ny = f->b[0]->y.count;
    const double *bx = f->b[0]->value, *by = f->b[1]->value;
    double worst = 0, scale = 0;
    for (long j = 0; j < ny; j++)
        for (long i = 0; i < nx; i++) {
            const long k = j * nx + i, right = j * nx + (i + 1) % nx, up = (j + 1) % ny * nx + i;
            const double off = fabs(bx[right] - bx[k] + by[up] - by[k]);
            const int is_inside = (i + 1 < nx || a->x.is_periodic) && (j + 1 < ny || a->y.is_periodic);
            if (is_inside)
                worst = fmax(worst, off);
            scale = fmax(scale, fmax(fabs(bx[k]), fabs(by[k])));
        }
    return isfinite(scale) && worst <= (f->places[0].is_single ? 1e-6 : 1e-9) * scale;
}

/* Values [ny + 1][nx + 1]: along the first row, up the columns, and to the right of the last column. */
static void integrate(const struct field *f, double *a)
{
    const long nx = f->b[0]->x.count, ny = f->b[0]->y.count, row = nx + 1;
    const double *bx = f->b[0]->value, *by = f->b[1]->value;
    a[0] = 0;
    for (long i = 0; i < nx; i++)
        a[i + 1] = a[i] - by[i];
    for (long j = 0; j < ny; j++) {
        for (long i = 0; i < nx; i++)
            a[(j + 1) * row + i] = a[j * row + i] + bx[j * nx + i];
        /* Beyond the last column of the last row B_x goes on. */
        const double change = j + 1 < ny ? -by[(j + 1) * nx + nx - 1] : a[j * row + nx] - a[j * row + nx - 1];
        a[(j + 1) * row + nx] = a[(j + 1) * row + nx - 1] + change;
    }
}

/* Keeps one period along each periodic axis, and its mean growth. */
static void keep_period(struct lm_samples *s)
{
    const long nx = s->x.count, ny = s->y.count, row = nx + 1; /* cells */
    for (long j = 0; j < ny; j++)
        s->x.growth += (s->value[j * row + nx] - s->value[j * row]) / (double)ny;
    for (long i = 0; i < nx; i++)
        s->y.growth += (s->value[ny * row + i] - s->value[i]) / (double)nx;
    s->x.count += !s->x.is_periodic;
    s->y.count += !s->y.is_periodic;
    for (long j = 0; j < s->y.count; j++)
        for (long i = 0; i < s->x.count; i++)
            s->value[j * s->x.count + i] = s->value[j * row + i];
}

static struct lm_samples *make_potential(struct lm_h5 *h, const struct lm_config *c, const struct lm_data_config *d,
                                         const struct field *f)
{
    const struct lm_samples *bx = f->b[0];
    struct lm_data_places p = f->places[0];
    p.first[0] = f->places[1].first[0]; /* the centres have the x of B_x and the y of B_y */
    struct lm_samples *s =
        calloc(1, sizeof *s + (size_t)(bx->x.count + 1) * (size_t)(bx->y.count + 1) * sizeof s->value[0]);
    if (!s) {
        h->status = lm_fail(LM_FAILED, "not enough memory for a vector potential");
        return NULL;
    }
    s->x.count = bx->x.count;
    s->y.count = bx->y.count;
    lm_data_place(s, c, d, &p);
    scale_field(f, s->x.spacing, s->y.spacing);
    if (s->x.spacing > 0 && s->y.spacing > 0 && !is_free_of_divergence(f, s))
        lm_h5_wrong(h, "%s is not free of divergence%s: it has no vector potential", d->magnetic_field,
                    s->x.is_periodic || s->y.is_periodic ? ", or not periodic as the domain is" : "");
    integrate(f, s->value);
    keep_period(s);
    return s;
}

struct lm_samples *lm_data_potential(struct lm_h5 *h, const struct lm_config *c, const struct lm_data_config *d)
{
    struct field f = {.b = {NULL, NULL}};
    struct lm_samples *s = NULL;
    if (!read_field(h, c, d->magnetic_field, &f))
        s = make_potential(h, c, d, &f);
    free(f.b[0]);
    free(f.b[1]);
    return s;
}
