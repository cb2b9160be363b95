/* Distributions of particles: DIR/distributions/NAME_STEP.h5.
 *
 * The file has a dataset counts_SPECIES [first axis][second axis][third axis] for each species, and for each axis the
 * edges of its bins. Particles are counted where they are, so the result depends neither on their order nor on ranks.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/h5.h"
#include "output/output.h"

enum { DISTRIBUTION_VERSION = 1 };

static const char *const units[LM_AXES] = {"d_i", "d_i", "v_A",       "v_A",     "v_A",
                                           "v_A", "v_A", "m_p v_A^2", "degrees", "degrees"};

struct writer {
    struct lm_sim *sim;
    const struct lm_config *config;
    const struct lm_distribution_config *distribution;
    uint64_t *counts; /* of one species: lm_bins_counters */
};

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

static void put_axes(struct lm_h5 *h, const struct lm_bins *bins)
{
    for (int axis = 0; axis < bins->dimensions; axis++) {
        const struct lm_axis_bins of_axis = lm_axis_bins_of(bins, axis);
        const hsize_t count = (hsize_t)of_axis.count + 1;
        char name[32];
        double *edge = malloc(count * sizeof *edge);
        snprintf(name, sizeof name, "edges_%d", axis);
        for (int k = 0; edge && k <= of_axis.count; k++)
            edge[k] = lm_bin_edge(&of_axis, k);
        if (!edge)
            lm_h5_wrong(h, "not enough memory for the edges of bins");
        hid_t data = lm_h5_make_dataset(h, h->file, name, H5T_NATIVE_DOUBLE, 1, &count, 0);
        lm_h5_write_rows(h, data, H5T_NATIVE_DOUBLE, 0, count, edge);
        lm_h5_put_text(h, data, "quantity", lm_axis_names[bins->axis[axis]]);
        lm_h5_put_text(h, data, "units", units[bins->axis[axis]]);
        lm_h5_end(data);
        free(edge);
    }
}

static void put_counts(struct lm_h5 *h, const struct writer *w, int species, double weight)
{
    const struct lm_bins *bins = &w->distribution->into;
    const struct lm_species_config *s = &w->config->species[species];
    hsize_t dims[LM_MAX_DIMENSIONS];
    char name[LM_MAX_NAME + 8];
    for (int k = 0; k < bins->dimensions; k++)
        dims[k] = (hsize_t)bins->count[k];
    snprintf(name, sizeof name, "counts_%s", s->name);
    hid_t data =
        lm_h5_make_dataset(h, h->file, name, H5T_NATIVE_UINT64, bins->dimensions, dims, w->config->output.compress);
    if (h->status == LM_OK && H5Dwrite(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->counts) < 0)
        lm_h5_error(h, "cannot write %s", name);
    lm_h5_put_whole(h, data, "outside", (int64_t)w->counts[lm_bins_all(bins)]);
    lm_h5_put_real(h, data, "weight", weight);
    lm_h5_put_text(h, data, "weight_units", "n0 d_i^2");
    lm_h5_put_real(h, data, "mass", s->mass);
    lm_h5_put_text(h, data, "mass_units", "m_p");
    lm_h5_end(data);
}

static int write_all(struct lm_h5 *h, const struct writer *w, const struct lm_sim_status *now)
{
    const struct lm_bins *bins = &w->distribution->into;
    put_root(h, now, w->config->run.dt);
    put_axes(h, bins);
    for (int s = 0; s < w->config->species_count && h->status == LM_OK; s++) {
        if (!(w->distribution->of >> s & 1))
            continue;
        h->status = lm_sim_distribution(w->sim, s, bins, w->counts);
        if (h->status == LM_OK)
            put_counts(h, w, s, now->species[s].weight);
    }
    return lm_h5_finish(h, 0);
}

static int open_file(struct lm_h5 *h, const struct writer *w, int64_t step)
{
    char folder[LM_MAX_PATH], path[LM_MAX_PATH];
    int status = lm_path(folder, "%s/distributions", w->config->output.directory);
    if (!status)
        status = lm_path(path, "%s/%s_%08" PRId64 ".h5", folder, w->distribution->name, step);
    if (!status)
        status = lm_h5_directory(folder);
    return status ? status : lm_h5_create(h, path);
}

int lm_output_distribution(struct lm_sim *sim, const struct lm_config *config, int k)
{
    struct writer w = {.sim = sim, .config = config, .distribution = &config->distribution[k]};
    struct lm_sim_status now;
    struct lm_h5 h;
    lm_sim_status(sim, &now);
    w.counts = malloc(lm_bins_counters(&w.distribution->into) * sizeof *w.counts);
    int status = w.counts ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a distribution");
    if (!status)
        status = open_file(&h, &w, now.step);
    if (!status)
        status = write_all(&h, &w, &now);
    free(w.counts);
    return status;
}
