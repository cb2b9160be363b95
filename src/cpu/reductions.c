/* CPU backend: maxima, sums and hashes over the grid. None depends on the order of the cells or on the number of
 * threads: maxima and hashes are integers, sums are in fixed point. */
#include "cpu/fields.h"
#include "cpu/strips.h"
#include "larmor/physics/fields/grid_sums.h"
#include "larmor/physics/fields/side_energy.h"
#include "larmor/physics/numerics/hash.h"
#include "ranks/ranks.h"

/* --- maxima that set the next step (larmor/physics/fields/time_step_limits.h) --- */

/* Also beyond walls, where E may be prescribed and particles feel it. */
static void survey_e(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_cells own = lm_own_and_beyond(g, c->walls[0] ? LM_GHOST : 0, c->walls[1] ? LM_GHOST : 0);
    uint64_t e[5] = {0};
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : e[:5])
    for (int j = own.from_y; j < own.to_y; j++)
        for (int i = own.from_x; i < own.to_x; i++)
            for (int d = 0; d < 5; d++)
                e[d] = lm_larger_size(e[d], c->array[d < 3 ? LM_PUSH_E + d : LM_PUSH_PRESSURE + d - 3][lm_at(g, i, j)]);
    for (int d = 0; d < 5; d++)
        *(d < 3 ? &c->control.push_e[d] : &c->control.push_pressure[d - 3]) = lm_from_bits(e[d]);
}

/* The frequency of row j. `solid` stands on the row; NULL without bodies. `external` is J_ext. */
LM_HD struct lm_field_maxima survey_row(const struct lm_cpu *c, int level, int j, const uint8_t *solid,
                                        struct lm_view external)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const double *n = c->array[level], k2 = lm_largest_k2(g, o->inv_dx, o->inv_dy);
    double *const *ji = c->array + level + 1;
    const struct lm_view bf = lm_cpu_view(c, c->array + LM_B);
    struct lm_field_maxima m = {.frequency = 0};
    for (int i = g->own.from_x; i < g->own.to_x; i++) {
        size_t k = lm_at(g, i, j);
        lm_limit_frequency(&m, solid ? solid[i] : 0, lm_b_centre(lm_view_at(bf, (long)k)),
                           lm_carried_current(lm_cpu_vector(ji, k), lm_external_at(external, (long)k)), n[k],
                           c->array[LM_PER_DENSITY][k], c->array[LM_ETA][k], k2, o);
    }
    return m;
}

static void survey_b(struct lm_cpu *c, int level)
{
    const struct lm_grid *g = &c->base.setup.grid;
    static const struct lm_view none = {.s = 0};
    const struct lm_view external = lm_cpu_external(c);
    uint64_t frequency = 0, eta = 0, floored = 0, voids = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : frequency, eta) reduction(+ : floored, voids)
    for (int j = g->own.from_y; j < g->own.to_y; j++) {
        /* Two calls: without bodies and J_ext the compiler makes vector instructions of it. */
        const struct lm_field_maxima m =
            c->solid || external.s ? survey_row(c, level, j, c->solid ? c->solid + lm_at(g, 0, j) : NULL, external)
                                   : survey_row(c, level, j, NULL, none);
        frequency = m.frequency > frequency ? m.frequency : frequency;
        eta = m.eta > eta ? m.eta : eta;
        floored += m.floored;
        voids += m.voids;
    }
    c->control.frequency = lm_from_bits(frequency);
    c->control.eta = lm_from_bits(eta);
    c->control.floored = (int64_t)floored;
    c->control.voids = (int64_t)voids;
}

void lm_cpu_survey_level(struct lm_cpu *c, int level)
{
    survey_b(c, level);
    survey_e(c);
    lm_cpu_survey_friction(c);
}

int lm_cpu_field_maxima(struct lm_backend *b, enum lm_maxima which)
{
    struct lm_cpu *c = lm_cpu_of(b);
    lm_cpu_find_per_density(c, c->array[LM_N_OLD], c->array[LM_N_OLD], 0.0);
    if (which == LM_MAXIMA)
        lm_cpu_survey_level(c, LM_N_OLD);
    else
        survey_b(c, LM_N_OLD);
    return LM_OK;
}

/* --- sums --- */

/* Sum of `square ? a^2 : a` over the cells in fixed point; the exponent follows from the largest term. */
static int64_t sum_cells(const struct lm_cpu *c, const double *a, int square, int *exponent)
{
    const struct lm_grid *g = &c->base.setup.grid;
    uint64_t largest = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : largest)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            double v = a[lm_at(g, i, j)];
            largest = lm_larger_size(largest, square ? v * v : v);
        }
    if (c->base.setup.halo)
        largest = lm_ranks_largest(largest);
    *exponent = lm_grid_sum_exponent((double)g->place.domain_nx * g->place.domain_ny, largest);
    double scale = lm_exp2i(*exponent);
    int64_t sum = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : sum)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            double v = a[lm_at(g, i, j)];
            sum += lm_grid_sum_term(square ? v * v : v, scale);
        }
    return sum;
}

/* The largest |div B|, on lower walls too. */
static double largest_div_b(const struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct lm_view b = lm_cpu_view(c, c->array + LM_B);
    uint64_t div = 0;
    const struct lm_cells own = lm_own_and_beyond(g, c->walls[0], c->walls[1]);
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : div)
    for (int j = own.from_y; j < g->own.to_y; j++)
        for (int i = own.from_x; i < g->own.to_x; i++)
            div = lm_larger_size(div, lm_div_b(lm_view_at(b, (long)lm_at(g, i, j)), o->inv_dx, o->inv_dy));
    return lm_from_bits(div);
}

int lm_cpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const double *entropy = b->setup.ohm.evolved ? lm_cpu_entropy(c) : NULL, *density = c->array[LM_N_OLD];
    for (int d = 0; d < 3; d++)
        out->b2[d] = sum_cells(c, c->array[LM_B + d], 1, &out->exponent_b2[d]);
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        c->spare[k] = lm_electron_energy_in_cell(c->solid ? c->solid[k] : 0, entropy ? entropy + k : NULL,
                                                 lm_volume_at(c->open, (long)k), density + k, &b->setup.ohm);
    }
    out->electrons = sum_cells(c, c->spare, 0, &out->exponent_electrons);
    out->div_b = largest_div_b(c);
    return LM_OK;
}

/* --- energy through the sides (larmor/physics/fields/side_energy.h) --- */

int lm_cpu_side_energy(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_ohm *o = &b->setup.ohm;
    const int subtracts = lm_has_pressure(o) && !o->evolved;
    const struct lm_side_arrays a = {
        .e = lm_cpu_view(c, c->array + LM_E),
        .void_e = lm_cpu_view(c, c->array + LM_VOID_E),
        .b = lm_cpu_view(c, c->array + LM_B),
        .pressure_e = {subtracts ? c->array[LM_PRESSURE_E] : NULL, subtracts ? c->array[LM_PRESSURE_E + 1] : NULL},
        .ion_current = {c->array[LM_J_OLD], c->array[LM_J_OLD + 1]},
        .density = c->array[LM_N_OLD],
        .entropy = o->evolved ? lm_cpu_entropy(c) : NULL};
    memset(c->control.side, 0, sizeof c->control.side);
    for (int side = 0; side < LM_SIDES; side++) {
        const struct lm_cells at = lm_own_cells_at(g, side);
        for (int j = at.from_y; j < at.to_y; j++)
            for (int i = at.from_x; i < at.to_x; i++) {
                double sum[LM_SIDE_SUMS];
                lm_side_cell(&a, g, side, c->sides.of[side], g->sides.of[side], (long)lm_at(g, i, j), o, sum);
                for (int k = 0; k < LM_SIDE_SUMS; k++)
                    lm_wide_add_real(&c->control.side[side][k], sum[k]);
            }
    }
    return LM_OK;
}

/* --- hashes (larmor/physics/numerics/hash.h) --- */

/* Of the cells of an array that is field number `field` of the state. */
static uint64_t hash_cells(const struct lm_cpu *c, int field, const double *a)
{
    const struct lm_grid *g = &c->base.setup.grid;
    uint64_t hash = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : hash)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++)
            hash += lm_hash_value(field, lm_domain_cell(&g->place, i, j), a[lm_at(g, i, j)]);
    return hash;
}

/* Of the array with the ghost cells of the domain. */
static uint64_t hash_array(const struct lm_cpu *c, int field, const double *a)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_cells own = lm_own_and_beyond(g, LM_GHOST, LM_GHOST);
    uint64_t hash = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : hash)
    for (int j = own.from_y; j < own.to_y; j++)
        for (int i = own.from_x; i < own.to_x; i++)
            hash += lm_hash_value(field, lm_domain_element(g, i, j), a[lm_at(g, i, j)]);
    return hash;
}

uint64_t lm_cpu_hash_fields(struct lm_cpu *c)
{
    const int backgrounds = c->base.setup.background_count;
    const int has_walls = c->base.setup.halo ? c->base.setup.halo->fields_have_walls : lm_any_field_walls(&c->sides);
    uint64_t hash = 0;
    for (int f = 0; f < LM_STATE_FIELDS; f++)
        hash += hash_cells(c, f, c->array[f]);
    for (int f = 0; f < backgrounds; f++)
        hash += hash_cells(c, LM_STATE_FIELDS + f, c->array[LM_BACKGROUND + f]);
    const int friction = LM_FRICTION_STATE * c->base.setup.friction_species, first = LM_STATE_FIELDS + backgrounds;
    for (int k = 0; k < friction; k++) {
        const int species = lm_friction_species(&c->base.setup, k / LM_FRICTION_STATE);
        hash += hash_cells(c, first + k, c->array[lm_friction_array(species, k % LM_FRICTION_STATE)]);
    }
    const int strips = lm_radiating_before(&c->base.setup, LM_SIDES);
    for (int side = 0; side < LM_SIDES; side++)
        hash += lm_cpu_hash_strip(c, (enum lm_side)side, first + friction + lm_radiating_before(&c->base.setup, side));
    /* B beyond walls is part of the state, and E_v on them: both once more, with ghost cells. */
    for (int k = 0; k < LM_BORDERED_FIELDS && has_walls; k++)
        hash += hash_array(c, first + friction + strips + k, c->array[LM_B + k]);
    return hash;
}
