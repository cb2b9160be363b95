/* Whether the next step can be taken; if it cannot, why, where, and what to do about it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/try.h"
#include "larmor/physics/fields/relaxation.h"
#include "sim/advection.h"
#include "sim/boundaries.h"
#include "sim/ion_electron_heating.h"
#include "sim/ionisation.h"
#include "sim/state.h"

/* The cell with the largest vector (NaN counts as that) of `count` arrays, and its length. */
static int find_largest(struct lm_sim *sim, int array, int count, int *i, int *j, double *value)
{
    const struct lm_grid *g = &sim->grid;
    double *a = malloc(g->size * sizeof *a), *sum = calloc(g->size, sizeof *sum);
    int status = a && sum ? LM_OK : lm_fail(LM_FAILED, "not enough memory");
    for (int c = 0; c < count && !status; c++) {
        status = sim->backend->ops->get(sim->backend, array + c, a);
        for (size_t k = 0; k < g->size && !status; k++)
            sum[k] = hypot(sum[k], a[k]);
    }
    *value = -1;
    for (int y = 0; y < g->ny && !status; y++)
        for (int x = 0; x < g->nx; x++) {
            double v = sum[lm_at(g, x, y)];
            if (!(v <= *value)) {
                *value = v;
                *i = x, *j = y;
                if (v != v)
                    goto found;
            }
        }
found:
    free(a);
    free(sum);
    return status;
}

/* Where the resistivity is largest, if it depends on the plasma; and whether it is not finite. */
static int find_resistivity(struct lm_sim *sim, char *text, size_t size, int *is_odd)
{
    const struct lm_grid *g = &sim->grid;
    int i = 0, j = 0;
    double eta = 0;
    text[0] = '\0';
    if (sim->backend->setup.local_eta) {
        LM_TRY(find_largest(sim, LM_ETA, 1, &i, &j, &eta));
        snprintf(text, size, "; largest resistivity %.4g at x = %g, y = %g", fabs(eta), (i + 0.5) * g->dx,
                 (j + 0.5) * g->dy);
    }
    *is_odd = !isfinite(eta);
    return LM_OK;
}

/* Why the next step cannot be taken, where the fields are largest, and what to do about it. */
static int unstable(struct lm_sim *sim, const char *what, const char *cause)
{
    int i = 0, j = 0, p = 0, q = 0, is_odd = 0;
    double e = 0, b = 0;
    char resistivity[128];
    if (find_largest(sim, LM_PUSH_E, 3, &i, &j, &e) || find_largest(sim, LM_B, 3, &p, &q, &b) ||
        find_resistivity(sim, resistivity, sizeof resistivity, &is_odd))
        return LM_FAILED;
    const struct lm_grid *g = &sim->grid;
    const char *more = sim->backend->setup.local_eta ? ", or fields.eta or species.NAME.eta too large" : "";
    if (is_odd && isfinite(b))
        cause = "an expression of fields.eta or species.NAME.eta", more = "";
    return lm_fail(
        LM_FAILED,
        "step %lld (from t = %g) cannot be taken: %s. Largest |E| %.4g at x = %g, y = %g; largest |B| %.4g at "
        "x = %g, y = %g%s; %lld cells at the density floor. Likely cause: %s%s%s",
        (long long)sim->step + 1, lm_sim_time(sim), what, fabs(e), (i + 0.5) * g->dx, (j + 0.5) * g->dy, fabs(b),
        (p + 0.5) * g->dx, (q + 0.5) * g->dy, resistivity, (long long)sim->control.floored, cause, more,
        sim->control.floored ? ", or fields.density_floor so low that E grows in the voids" : "");
}

/* Slots for the particles that the next step brings in. */
static int reserve_slots(struct lm_sim *sim)
{
    LM_TRY(lm_sim_update_inflow(sim));
    LM_TRY(lm_sim_bound_ionisation(sim));
    for (int s = 0; s < sim->config->species_count; s++) {
        const uint64_t more = lm_sim_most_new_particles(sim, s);
        if (more > 0)
            LM_TRY(sim->backend->particles->reserve_more(sim->backend, s, more));
    }
    return LM_OK;
}

static int check_fields(struct lm_sim *sim)
{
    const double *e = sim->control.push_e, *pressure = sim->control.push_pressure;
    if (!isfinite(e[0] + e[1] + e[2] + pressure[0] + pressure[1]) || !isfinite(sim->control.frequency))
        return unstable(sim, "a field is not finite", "run.dt too large for the cells or the fields");
    for (int s = 0; s < sim->config->species_count; s++)
        if (!isfinite(sim->force[s][0] + sim->force[s][1] + sim->force[s][2]))
            return unstable(sim, "a force is not finite", "an expression of species.NAME.force_x, force_y or force_z");
    return LM_OK;
}

static int check_speeds(struct lm_sim *sim)
{
    const double dt = sim->config->run.dt, cell = fmin(sim->grid.dx, sim->grid.dy);
    char what[256];
    for (int s = 0; s < sim->config->species_count; s++) {
        const double bound = lm_sim_speed_bound(sim, s, dt);
        if (bound * dt / cell <= LM_MAX_CELLS)
            continue;
        const int is_new = bound == lm_sim_new_particle_speed(sim, s);
        snprintf(what, sizeof what, "a particle of species %s%s could cross %.3g cells in it (limit %d; %s |v| = %.4g)",
                 sim->config->species[s].name, is_new ? " that enters, is born or is re-emitted" : "",
                 bound * dt / cell, LM_MAX_CELLS, is_new ? "its largest" : "fastest now",
                 is_new ? bound : sqrt(sim->control.speed2[s]));
        return unstable(sim, what, "run.dt too large for the cells or the speeds");
    }
    return LM_OK;
}

/* Whether most of the substeps are there for the resistivity, all of which they have. */
static int are_for_resistivity(const struct lm_sim *sim)
{
    const struct lm_ohm *o = &sim->backend->setup.ohm;
    return o->substep_eta == 0 &&
           lm_largest_k2(&sim->grid, o->inv_dx, o->inv_dy) * sim->control.eta > 0.5 * sim->control.frequency;
}

static int check_substeps(struct lm_sim *sim)
{
    const int needed = lm_sim_substeps_needed(sim), most = sim->config->fields.max_substeps;
    char what[256];
    if (sim->config->fields.solver != LM_SOLVER_HYBRID)
        return LM_OK;
    if (lm_sim_relaxation_stages(sim) > LM_MOST_RELAXATION_STAGES) {
        snprintf(what, sizeof what, "a resistivity of %.4g is more than can be followed", sim->control.eta);
        return unstable(sim, what,
                        sim->backend->setup.local_eta ? "run.dt too large for the cells"
                                                      : "the resistivity or run.dt too large for the cells");
    }
    if (needed <= most)
        return LM_OK;
    snprintf(what, sizeof what, "the fields need %d substeps (fields.max_substeps = %d)", needed, most);
    return unstable(sim, what,
                    are_for_resistivity(sim)
                        ? "a resistivity too large for the cells and run.dt: with evolved electrons the substeps "
                          "have all of it, unless fields.eta is a small number and only bodies have more"
                        : "run.dt too large for the cells and |B|/n, or fields.max_substeps too small");
}

int lm_sim_check(struct lm_sim *sim)
{
    LM_TRY(lm_sim_update_backgrounds(sim));
    LM_TRY(lm_sim_bound_heat_exchange(sim));
    LM_TRY(check_fields(sim));
    LM_TRY(lm_sim_update_ionisation(sim));
    LM_TRY(check_speeds(sim));
    LM_TRY(check_substeps(sim));
    LM_TRY(lm_sim_check_backgrounds(sim));
    return reserve_slots(sim);
}
