/* Arrays, particles and maps of a simulation as a library offers them. */
#include <math.h>
#include <stdlib.h>

#include "sim/state.h"

int lm_sim_fingerprint(struct lm_sim *sim, uint64_t *fingerprint)
{
    return sim->backend->ops->fingerprint(sim->backend, sim->step, fingerprint);
}

int lm_sim_get_array(struct lm_sim *sim, enum lm_array array, double *out)
{
    return sim->backend->ops->get(sim->backend, array, out);
}

int lm_sim_get_values(struct lm_sim *sim, uint64_t count, struct lm_array_value *values)
{
    return sim->backend->ops->values(sim->backend, count, values);
}

const double *lm_sim_view_array(struct lm_sim *sim, enum lm_array array)
{
    return sim->backend->ops->view ? sim->backend->ops->view(sim->backend, array) : NULL;
}

static int is_single(const struct lm_sim *sim)
{
    return sim->config->particles.precision == LM_SINGLE;
}

static void widen(const struct lm_sim *sim, const void *array, uint64_t count, double *out)
{
    for (uint64_t k = 0; k < count; k++)
        out[k] = is_single(sim) ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

int lm_sim_velocity_moments(struct lm_sim *sim, int species, const struct lm_moment_list *list, int64_t *sums)
{
    return sim->backend->particles->moments(sim->backend, species, list, sums);
}

int lm_sim_distribution(struct lm_sim *sim, int species, const struct lm_bins *bins, uint64_t *counts)
{
    return sim->backend->particles->distribution(sim->backend, species, bins, counts);
}

int lm_sim_get_particles(struct lm_sim *sim, int species, uint64_t first, uint64_t count, double *x, double *y,
                         double *vx, double *vy, double *vz)
{
    const size_t real = is_single(sim) ? sizeof(float) : sizeof(double);
    const int bits = is_single(sim) ? 24 : 48;
    const double scale_x = ldexp(sim->grid.dx, -bits), scale_y = ldexp(sim->grid.dy, -bits);
    int status = lm_sim_compact(sim);
    int64_t *positions = status ? NULL : malloc((count + 1) * (2 * sizeof *positions + 3 * real));
    if (!positions)
        return status ? status : lm_fail(LM_FAILED, "not enough memory for an output of particles");
    char *velocities = (char *)(positions + 2 * count);
    struct lm_raw_particles raw = {positions, positions + count, velocities, velocities + count * real,
                                   velocities + 2 * count * real};
    status = sim->backend->particles->get(sim->backend, species, first, count, raw);
    for (uint64_t k = 0; k < count && !status; k++) {
        x[k] = scale_x * (double)raw.x[k];
        y[k] = scale_y * (double)raw.y[k];
    }
    if (!status) {
        widen(sim, raw.vx, count, vx);
        widen(sim, raw.vy, count, vy);
        widen(sim, raw.vz, count, vz);
    }
    free(positions);
    return status;
}

struct lm_obstacles lm_sim_obstacles(const struct lm_sim *sim)
{
    return (struct lm_obstacles){sim->obstacle, sim->cut, sim->factor};
}

const struct lm_map_bins *lm_sim_map_bins(const struct lm_sim *sim)
{
    return &sim->maps;
}

int lm_sim_get_map(struct lm_sim *sim, int species, uint64_t *counters)
{
    return sim->backend->ops->get_map(sim->backend, species, counters);
}
