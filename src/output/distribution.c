/* Distributions of particles: DIR/distributions/NAME_STEP.h5.
 *
 * The file has a dataset counts_SPECIES [first axis][second axis][third axis] for each species, and for each axis the
 * edges of its bins. Particles are counted, so the result does not depend on their order. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary_host.h"
#include "base/h5.h"
#include "output/output.h"
#include "output/state.h"

enum { DISTRIBUTION_VERSION = 1 };

static const double DEGREES = 180 / 3.14159265358979323846;

struct counter {
    struct lm_sim *sim;
    const struct lm_config *config;
    const struct lm_distribution_config *distribution;
    struct lm_grid grid;
    double *b;        /* three arrays of the grid: B on faces and corners; NULL: not needed */
    uint64_t *counts; /* of the bins of one species */
    size_t bins;
    uint64_t outside; /* particles of the region that are in no bin */
    double mass;
};

/* ---- the quantities ---- */

/* The mean of an array at (x, y) [cells], weighted linearly between the four values around it. */
static double interpolate(const struct lm_grid *g, const double *array, struct lm_cell_offset offset, double x,
                          double y)
{
    const double gx = x - 0.5 - offset.x, gy = y - 0.5 - offset.y;
    const double fx = gx - floor(gx), fy = gy - floor(gy);
    const int i = (int)floor(gx), j = (int)floor(gy);
    const double *low = array + lm_at(g, i, j), *high = low + g->stride;
    return (1 - fy) * ((1 - fx) * low[0] + fx * low[1]) + fy * ((1 - fx) * high[0] + fx * high[1]);
}

/* The unit vector along B at a particle; x where there is no B. */
static void direction(const struct counter *c, double x, double y, double out[3])
{
    static const struct lm_cell_offset places[3] = {{0, 0.5}, {0.5, 0}, {0.5, 0.5}};
    for (int d = 0; d < 3; d++)
        out[d] = interpolate(&c->grid, c->b + (size_t)d * c->grid.size, places[d], x / c->grid.dx, y / c->grid.dy);
    const double size = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    for (int d = 0; d < 3; d++)
        out[d] = size > 0 ? out[d] / size : d == 0;
}

/* The angle of v around b, from the direction z x b (x where b is along z), in degrees from 0 to 360. */
static double gyrophase(const double v[3], const double b[3])
{
    const double across = sqrt(b[0] * b[0] + b[1] * b[1]);
    const double first[3] = {across > 0 ? -b[1] / across : 1, across > 0 ? b[0] / across : 0, 0};
    const double second[3] = {b[1] * first[2] - b[2] * first[1], b[2] * first[0] - b[0] * first[2],
                              b[0] * first[1] - b[1] * first[0]};
    const double p = v[0] * first[0] + v[1] * first[1] + v[2] * first[2];
    const double q = v[0] * second[0] + v[1] * second[1] + v[2] * second[2];
    const double angle = lm_host_atan2(q, p) * DEGREES;
    return angle < 0 ? angle + 360 : angle;
}

static double value_of(const struct counter *c, int axis, double x, double y, const double v[3], const double b[3])
{
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double along = v[0] * b[0] + v[1] * b[1] + v[2] * b[2];
    const double rest = square - along * along, across = sqrt(rest > 0 ? rest : 0);
    switch ((enum lm_axis)axis) {
    case LM_AXIS_X:
        return x;
    case LM_AXIS_Y:
        return y;
    case LM_AXIS_VX:
    case LM_AXIS_VY:
    case LM_AXIS_VZ:
        return v[axis - LM_AXIS_VX];
    case LM_AXIS_PAR:
        return along;
    case LM_AXIS_PERP:
        return across;
    case LM_AXIS_ENERGY:
        return 0.5 * c->mass * square;
    case LM_AXIS_PITCH:
        return lm_host_atan2(across, along) * DEGREES;
    case LM_AXIS_GYROPHASE:
        return gyrophase(v, b);
    case LM_AXES:
        break;
    }
    return 0;
}

static const char *const units[LM_AXES] = {"d_i", "d_i", "v_A",       "v_A",     "v_A",
                                           "v_A", "v_A", "m_p v_A^2", "degrees", "degrees"};

static int needs_b(const struct lm_distribution_config *d)
{
    for (int k = 0; k < d->dimensions; k++)
        if (d->axis[k] == LM_AXIS_PAR || d->axis[k] == LM_AXIS_PERP || d->axis[k] == LM_AXIS_PITCH ||
            d->axis[k] == LM_AXIS_GYROPHASE)
            return 1;
    return 0;
}

/* ---- counting ---- */

static int is_in_region(const struct counter *c, double x, double y)
{
    const struct lm_region *r = &c->distribution->region; /* infinite: that side of the domain */
    return (isinf(r->from_x) || x >= r->from_x) && (isinf(r->to_x) || x < r->to_x) &&
           (isinf(r->from_y) || y >= r->from_y) && (isinf(r->to_y) || y < r->to_y);
}

/* The lower edge of bin k belongs to bin k. Both this function and the edges in the file are made by bin_edge. */
static double bin_edge(const struct lm_distribution_config *d, int axis, int k)
{
    return k == d->count[axis] ? d->high[axis] : d->low[axis] + k * ((d->high[axis] - d->low[axis]) / d->count[axis]);
}

static int bin_of(const struct lm_distribution_config *d, int axis, double value)
{
    if (!(value >= d->low[axis] && value < d->high[axis]))
        return -1;
    int k = (int)((value - d->low[axis]) / (d->high[axis] - d->low[axis]) * d->count[axis]);
    k = k < d->count[axis] ? k : d->count[axis] - 1;
    while (k > 0 && value < bin_edge(d, axis, k))
        k--;
    while (k + 1 < d->count[axis] && value >= bin_edge(d, axis, k + 1))
        k++;
    return k;
}

static void count_particle(void *context, double x, double y, const double v[3])
{
    struct counter *c = context;
    const struct lm_distribution_config *d = c->distribution;
    double b[3] = {1, 0, 0};
    size_t at = 0;
    if (!is_in_region(c, x, y))
        return;
    if (c->b)
        direction(c, x, y, b);
    for (int k = 0; k < d->dimensions; k++) {
        const int bin = bin_of(d, k, value_of(c, d->axis[k], x, y, v, b));
        if (bin < 0) {
            c->outside++;
            return;
        }
        at = at * (size_t)d->count[k] + (size_t)bin;
    }
    c->counts[at]++;
}

static int count_species(struct counter *c, int species)
{
    memset(c->counts, 0, c->bins * sizeof *c->counts);
    c->outside = 0;
    c->mass = c->config->species[species].mass;
    return lm_output_each_particle(c->sim, species, count_particle, c);
}

/* ---- the file ---- */

static void put_root(struct lm_h5 *h, const struct lm_sim_status *now, double dt)
{
    lm_h5_put_text(h, h->file, "format", "larmor-distribution");
    lm_h5_put_whole(h, h->file, "format_version", DISTRIBUTION_VERSION);
    lm_h5_put_text(h, h->file, "software", "larmor " LM_VERSION);
    lm_h5_put_whole(h, h->file, "step", now->step);
    lm_h5_put_real(h, h->file, "time", now->time);
    lm_h5_put_real(h, h->file, "velocity_time", now->time - 0.5 * dt);
    lm_h5_put_text(h, h->file, "time_units", "1/Omega_ci");
    lm_h5_put_text(h, h->file, "description",
                   "counts_SPECIES [axis 0][axis 1]... counts particles; bin k of an axis lies between its edges k and "
                   "k + 1; positions are those of `time`, velocities those of `velocity_time`, B is that of `time`.");
}

static void put_axes(struct lm_h5 *h, const struct lm_distribution_config *d)
{
    for (int axis = 0; axis < d->dimensions; axis++) {
        const hsize_t count = (hsize_t)d->count[axis] + 1;
        char name[32];
        double *edge = malloc(count * sizeof *edge);
        snprintf(name, sizeof name, "edges_%d", axis);
        for (int k = 0; edge && k <= d->count[axis]; k++)
            edge[k] = bin_edge(d, axis, k);
        if (!edge)
            lm_h5_wrong(h, "not enough memory for the edges of bins");
        hid_t data = lm_h5_make_dataset(h, h->file, name, H5T_NATIVE_DOUBLE, 1, &count, 0);
        lm_h5_write_rows(h, data, H5T_NATIVE_DOUBLE, 0, count, edge);
        lm_h5_put_text(h, data, "quantity", lm_axis_names[d->axis[axis]]);
        lm_h5_put_text(h, data, "units", units[d->axis[axis]]);
        lm_h5_end(data);
        free(edge);
    }
}

static void put_counts(struct lm_h5 *h, const struct counter *c, int species, double weight)
{
    const struct lm_distribution_config *d = c->distribution;
    const struct lm_species_config *s = &c->config->species[species];
    hsize_t dims[LM_MAX_DIMENSIONS];
    char name[LM_MAX_NAME + 8];
    for (int k = 0; k < d->dimensions; k++)
        dims[k] = (hsize_t)d->count[k];
    snprintf(name, sizeof name, "counts_%s", s->name);
    hid_t data =
        lm_h5_make_dataset(h, h->file, name, H5T_NATIVE_UINT64, d->dimensions, dims, c->config->output.compress);
    if (h->status == LM_OK && H5Dwrite(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->counts) < 0)
        lm_h5_error(h, "cannot write %s", name);
    lm_h5_put_whole(h, data, "outside", (int64_t)c->outside);
    lm_h5_put_real(h, data, "weight", weight);
    lm_h5_put_text(h, data, "weight_units", "n0 d_i^2");
    lm_h5_put_real(h, data, "mass", s->mass);
    lm_h5_put_text(h, data, "mass_units", "m_p");
    lm_h5_end(data);
}

static int write_all(struct lm_h5 *h, struct counter *c, const struct lm_sim_status *now)
{
    put_root(h, now, c->config->run.dt);
    put_axes(h, c->distribution);
    for (int s = 0; s < c->config->species_count && h->status == LM_OK; s++) {
        if (!(c->distribution->of >> s & 1))
            continue;
        h->status = count_species(c, s);
        if (h->status == LM_OK)
            put_counts(h, c, s, now->species[s].weight);
    }
    return lm_h5_finish(h, 0);
}

static int open_file(struct lm_h5 *h, const struct counter *c, int64_t step)
{
    char folder[LM_MAX_PATH], path[LM_MAX_PATH];
    int status = lm_path(folder, "%s/distributions", c->config->output.directory);
    if (!status)
        status = lm_path(path, "%s/%s_%08" PRId64 ".h5", folder, c->distribution->name, step);
    if (!status)
        status = lm_h5_directory(folder);
    return status ? status : lm_h5_create(h, path);
}

int lm_output_distribution(struct lm_sim *sim, const struct lm_config *config, int k)
{
    const struct lm_distribution_config *d = &config->distribution[k];
    struct counter c = {.sim = sim, .config = config, .distribution = d, .grid = lm_config_grid(config), .bins = 1};
    struct lm_sim_status now;
    struct lm_h5 h;
    lm_sim_status(sim, &now);
    for (int axis = 0; axis < d->dimensions; axis++)
        c.bins *= (size_t)d->count[axis];
    c.counts = malloc(c.bins * sizeof *c.counts);
    int status = c.counts ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a distribution");
    if (!status && needs_b(d))
        status = lm_output_b(sim, &c.grid, &c.b);
    if (!status)
        status = open_file(&h, &c, now.step);
    if (!status)
        status = write_all(&h, &c, &now);
    free(c.b);
    free(c.counts);
    return status;
}
