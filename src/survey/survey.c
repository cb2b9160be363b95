#include "survey/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/physics/numerics/bounds.h"
#include "backend/surfaces.h"
#include "config/facts.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "sim/setup.h"
#include "survey/energy.h"
#include "larmor/physics/fields/fields.h"
#include "larmor/physics/numerics/operators.h"

/* Arrays of the points. */
struct arrays {
    double *b[3], *n, *per_cell, *at_random, *eta, *work;
};
enum { ARRAYS = 7 + LM_LOADING_ARRAYS };

/* --- points --- */

static int most_along(int n)
{
    return n < LM_SURVEYED_SIDE ? n : LM_SURVEYED_SIDE;
}

/* The mask at the middle of each point's patch of cells. */
static int thin_mask(struct lm_survey *s)
{
    s->point_mask = malloc(s->at.cells);
    if (!s->point_mask)
        return lm_fail(LM_FAILED, "not enough memory for the bodies");
    for (int j = 0; j < s->at.ny; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const size_t x = (size_t)((i + 0.5) * s->grid.nx / s->at.nx),
                         y = (size_t)((j + 0.5) * s->grid.ny / s->at.ny);
            s->point_mask[(size_t)j * (size_t)s->at.nx + (size_t)i] = s->mask[y * (size_t)s->grid.nx + x];
        }
    return LM_OK;
}

/* What is open of the points, if these are the cells. */
static int make_openings(struct lm_survey *s)
{
    const size_t cells = s->at.cells;
    if (s->config->background_count == 0 || cells != s->grid.cells)
        return LM_OK;
    struct lm_body_cut *cut = malloc(cells * sizeof *cut);
    uint8_t *of = malloc(cells);
    float *factor = malloc(cells * sizeof *factor);
    int status = cut && of && factor ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the bodies");
    if (!status)
        status = lm_body_obstacles(s->points, s->point_mask, of, cut, factor);
    const struct lm_bodies bodies = {.mask = s->point_mask, .obstacles = {of, cut, factor}};
    if (!status)
        status = lm_cuts_make(&s->at, &bodies, &s->cuts);
    free(cut);
    free(of);
    free(factor);
    return status;
}

static int choose_points(struct lm_survey *s)
{
    s->points = malloc(sizeof *s->points);
    if (!s->points)
        return lm_fail(LM_FAILED, "not enough memory for a survey");
    *s->points = *s->config; /* a shallow copy: the configuration still owns its memory */
    if (s->grid.cells > LM_SURVEYED) {
        s->points->grid.nx = most_along(s->grid.nx);
        s->points->grid.ny = most_along(s->grid.ny);
    }
    s->at = lm_config_grid(s->points);
    s->cells_a_point = (double)s->grid.cells / (double)s->at.cells;
    if (!s->mask)
        return LM_OK;
    const int status = thin_mask(s);
    return status ? status : make_openings(s);
}

int lm_survey_begin(const struct lm_config *config, struct lm_survey *s)
{
    *s = (struct lm_survey){.config = config, .grid = lm_config_grid(config)};
    int status = LM_OK;
    if (config->body_count > 0) {
        s->mask = malloc(s->grid.cells);
        status = s->mask ? lm_body_mask(config, s->mask) : lm_fail(LM_FAILED, "not enough memory for the bodies");
    }
    if (!status)
        status = choose_points(s);
    if (status)
        lm_survey_end(s);
    return status;
}

void lm_survey_end(struct lm_survey *s)
{
    free(s->mask);
    free(s->point_mask);
    free(s->points);
    lm_cuts_free(&s->cuts);
    s->mask = s->point_mask = NULL;
    s->points = NULL;
}

/* --- extremes --- */

double lm_survey_largest(const struct lm_survey *s, const double *a)
{
    double m = 0;
    for (int j = 0; j < s->at.ny; j++)
        for (int i = 0; i < s->at.nx; i++)
            m = fmax(m, fabs(a[lm_at(&s->at, i, j)]));
    return m;
}

int lm_survey_enters(const struct lm_config *c)
{
    return c->ionisation_count > 0 || lm_has_inflow(c);
}

double lm_survey_particles(const struct lm_survey *s)
{
    double particles = 0;
    for (int k = 0; k < s->config->species_count; k++)
        particles += s->count[k];
    return particles;
}

double lm_survey_work(const struct lm_survey *s)
{
    return lm_survey_particles(s) + LM_CELL_COST * (double)s->grid.cells;
}

void lm_survey_counts(const struct lm_survey *s, uint64_t counts[LM_MAX_SPECIES])
{
    for (int k = 0; k < LM_MAX_SPECIES; k++)
        counts[k] = (uint64_t)(fmin(s->count[k], 1e18) + 0.5);
}

/* The upper bound that a run uses for the speed of entering and re-emitted particles. */
static double new_speed(const struct lm_config *c, const struct lm_setup *setup, int s, double drift, double thermal)
{
    double fastest = lm_surfaces_speed(setup, s);
    for (int side = 0; side < LM_SIDES; side++)
        if (c->boundary[side] == LM_INFLOW)
            fastest = fmax(fastest, lm_drawn_speed(drift, thermal));
    return fastest;
}

static double square(double x)
{
    return x * x;
}

/* The speed at one thermal speed from the drift, where particles are. */
static double typical_speed(const struct lm_survey *s, const struct lm_loading *l)
{
    double most = 0;
    for (int j = 0; j < s->at.ny; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const size_t k = lm_at(&s->at, i, j);
            if (!lm_survey_is_plasma(s, i, j) || !(lm_given_at(&l->density, k) > 0))
                continue;
            double drift = 0, thermal = 0;
            for (int d = 0; d < 3; d++) {
                drift += square(lm_given_at(&l->drift[d], k));
                thermal = fmax(thermal, lm_given_at(&l->temperature[d], k));
            }
            most = fmax(most, sqrt(drift) + sqrt(thermal));
        }
    return most;
}

static void add_moments(struct lm_survey *s, int species, const struct lm_loading *l, const struct arrays *a)
{
    double count = 0;
    for (int j = 0; j < s->at.ny; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const size_t k = lm_at(&s->at, i, j);
            const double density = lm_given_at(&l->density, k), per_cell = l->particles_per_cell * density;
            a->n[k] += s->config->species[species].charge * density;
            a->per_cell[k] += per_cell;
            a->at_random[k] += l->start == LM_RANDOM ? per_cell : 0;
            count += lm_survey_is_plasma(s, i, j) ? per_cell : 0;
        }
    s->count[species] = count * s->cells_a_point;
}

static double largest_given(const struct lm_survey *s, const struct lm_given *a)
{
    return a->array ? lm_survey_largest(s, a->array) : fabs(a->everywhere);
}

static void add_speeds(struct lm_survey *s, const struct lm_setup *setup, int species, const struct lm_loading *l)
{
    double drift = 0, thermal = 0;
    for (int d = 0; d < 3; d++) {
        drift += square(largest_given(s, &l->drift[d]));
        thermal = fmax(thermal, sqrt(largest_given(s, &l->temperature[d])));
    }
    s->thermal[species] = thermal;
    s->temperature[species] = thermal * thermal * s->config->species[species].mass;
    s->speed[species] = fmax(sqrt(drift) + 5 * thermal, new_speed(s->config, setup, species, sqrt(drift), thermal));
}

static int take_species(struct lm_survey *s, const struct lm_setup *setup, int species, const struct arrays *a)
{
    const struct lm_config *c = s->config;
    struct lm_loading l;
    int status = lm_setup_loading(s->points, species, a->b, a->work, &l);
    if (status)
        return status;
    add_moments(s, species, &l, a);
    add_speeds(s, setup, species, &l);
    lm_survey_add_ions(s, species, &l);
    const int ranks = lm_ranks_expected();
    const unsigned long long most = LM_MAX_PARTICLES * (unsigned long long)ranks;
    if (!(s->count[species] <= (double)most))
        return lm_fail(LM_BAD_INPUT,
                       "%s: [species.%s]: %.4g particles; at most %llu fit %d rank%s: use more ranks, fewer "
                       "particles_per_cell, fewer cells or less density",
                       c->file, c->species[species].name, s->count[species], most, ranks, ranks == 1 ? "" : "s");
    if (!(typical_speed(s, &l) < LM_MAX_SPEED))
        return lm_sim_too_fast(c, species);
    return LM_OK;
}

static struct lm_view view_of(const struct lm_survey *s, const struct arrays *a, size_t k)
{
    return lm_view_at((struct lm_view){a->b[0], a->b[1], a->b[2], s->at.stride}, (long)k);
}

static double centre_b(const struct lm_survey *s, const struct arrays *a, size_t k, struct lm_vector *out)
{
    *out = lm_b_centre(view_of(s, a, k));
    return sqrt(out->x * out->x + out->y * out->y + out->z * out->z);
}

static void take_noise(struct lm_survey *s, const struct lm_setup *setup, const struct arrays *a, size_t k)
{
    const double noise = sqrt(a->at_random[k]) / a->per_cell[k];
    if (!(a->n[k] >= setup->ohm.floor) || !(noise > s->noise))
        return;
    s->noise = noise;
    s->per_cell = a->per_cell[k];
}

static void take_thickened(struct lm_survey *s, const struct lm_setup *setup, const struct arrays *a, size_t k)
{
    const double n = lm_floored(a->n[k], &setup->ohm);
    if (a->per_cell[k] >= LM_FEW)
        s->thickened = fmax(s->thickened, lm_counted_density(n, view_of(s, a, k), &setup->ohm) / n);
}

/* The frequency of the shortest whistler, k (k.B)/n. Its wave numbers are the largest that differences over one cell
 * give, 2/dx and 2/dy. */
static double whistler(const struct lm_survey *s, const struct lm_setup *setup, struct lm_vector b, double n)
{
    const double kx = s->grid.nx > 1 ? 2 * setup->ohm.inv_dx : 0, ky = s->grid.ny > 1 ? 2 * setup->ohm.inv_dy : 0;
    return hypot(kx, ky) * (kx * fabs(b.x) + ky * fabs(b.y)) / n;
}

/* Where the density is below its floor, there are no whistlers. The ions of thin cells (lm_ohm.few) give them no energy
 * that counts in a plasma that is ten times as dense elsewhere. */
static void take_whistlers(struct lm_survey *s, const struct lm_setup *setup, const struct arrays *a)
{
    static const double EDGE = 0.1; /* of the largest density */
    const double least = fmax(setup->ohm.floor, fmin(setup->ohm.few, EDGE * s->n_max));
    for (int j = 0; j < s->at.ny; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const size_t k = lm_at(&s->at, i, j);
            struct lm_vector b;
            centre_b(s, a, k, &b);
            if (lm_survey_is_plasma(s, i, j) && a->n[k] >= least && a->n[k] > 0)
                s->whistler = fmax(s->whistler, whistler(s, setup, b, a->n[k]));
        }
}

static void take_fields(struct lm_survey *s, const struct lm_setup *setup, const struct arrays *a)
{
    const struct lm_vector rest = {0, 0, 0};
    const double k2 = lm_largest_k2(&s->grid, setup->ohm.inv_dx, setup->ohm.inv_dy);
    double eta = 0;
    for (int j = 0; j < s->at.ny; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const size_t k = lm_at(&s->at, i, j);
            struct lm_vector b;
            s->b = fmax(s->b, centre_b(s, a, k, &b));
            eta = fmax(eta, a->eta[k]);
            if (!lm_survey_is_plasma(s, i, j)) {
                s->frequency = fmax(s->frequency, k2 * lm_substep_eta(a->eta[k], &setup->ohm));
                continue;
            }
            s->n_min = fmin(s->n_min, a->n[k]);
            s->n_max = fmax(s->n_max, a->n[k]);
            take_noise(s, setup, a, k);
            const double b2 = b.x * b.x + b.y * b.y + b.z * b.z,
                         per_density = lm_thin_per_density(lm_floored(a->n[k], &setup->ohm), b2, &setup->ohm, 0.0);
            take_thickened(s, setup, a, k);
            s->frequency = fmax(s->frequency, lm_frequency(b, rest, per_density, a->eta[k], k2, &setup->ohm));
        }
    take_whistlers(s, setup, a);
    if (eta > lm_substep_eta(eta, &setup->ohm))
        s->stages = lm_relaxation_stages(eta, s->config->run.dt, k2, &setup->ohm);
    for (int k = 0; k < s->config->species_count; k++)
        s->gyration = fmax(s->gyration, s->b * s->config->species[k].charge / s->config->species[k].mass);
}

static int check_particles(const struct lm_survey *s)
{
    return lm_survey_particles(s) > 0 || lm_survey_enters(s->config) ? LM_OK : lm_sim_no_particles(s->config);
}

/* --- background fields --- */

static int take_backgrounds(const struct lm_survey *s, double *work)
{
    const int own = lm_entropy_field(s->config);
    int status = LM_OK;
    for (int k = 0; k < s->config->background_count && !status; k++)
        if (k != own)
            status = lm_setup_initial(s->points, k, s->point_mask, work);
    return status;
}

int lm_survey_evaluate(struct lm_survey *s)
{
    const size_t size = s->at.size;
    double *store = calloc(ARRAYS * size, sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for a survey of the start");
    const struct arrays a = {.b = {store, store + size, store + 2 * size},
                             .n = store + 3 * size,
                             .per_cell = store + 4 * size,
                             .at_random = store + 5 * size,
                             .eta = store + 6 * size,
                             .work = store + 7 * size};
    const struct lm_setup setup = lm_setup_of(s->config);
    double *b[3] = {a.b[0], a.b[1], a.b[2]};
    s->n_min = INFINITY;
    int status = lm_setup_b(s->points, b);
    if (!status)
        status = lm_setup_eta(s->points, s->point_mask, a.eta);
    for (int k = 0; k < s->config->species_count && !status; k++)
        status = take_species(s, &setup, k, &a);
    if (!status)
        status = check_particles(s);
    if (!status)
        status = take_backgrounds(s, a.work);
    if (!status)
        status = lm_survey_add_electrons(s, a.n, a.work);
    if (!status) {
        take_fields(s, &setup, &a);
        lm_survey_add_magnetic(s, b);
    }
    free(store);
    return status;
}
