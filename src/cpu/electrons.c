/* CPU backend: electrons whose pressure is evolved. The bodies of the loops are in larmor/physics/fluid/electrons.h,
 * joule_heating.h and conduction.h. No rate of this file is recorded. */
#include "larmor/physics/fluid/electrons.h"

#include "cpu/fields.h"
#include "larmor/physics/fields/wall.h"

/* Index of the cell whose values cell (i, j) has. */
static size_t image(const struct lm_grid *g, int i, int j)
{
    lm_image_cell(&g->sides, g->nx, g->ny, &i, &j);
    return lm_at(g, i, j);
}

static int is_inside(const struct lm_grid *g, int i, int j)
{
    return i >= 0 && i < g->nx && j >= 0 && j < g->ny;
}

void lm_cpu_evolved_pressure(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double *s = lm_cpu_entropy(c), gamma = c->base.setup.ohm.gamma;
    double *p = c->array[LM_PRESSURE];
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        p[k] = lm_pressure_of(s[k], gamma);
    }
    LM_ROWS(c, LM_GHOST, LM_GHOST)
    for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++)
        if (!is_inside(g, i, j))
            p[lm_at(g, i, j)] = p[image(g, i, j)];
}

/* Work arrays of a pass: pressure, pressure after the first stage, temperature, Joule heat. */
struct work {
    double *p, *next, *t, *heat;
};

static struct work work_of(const struct lm_cpu *c)
{
    return (struct work){c->result[0], c->result[1], c->result[2], c->spare};
}

/* Pressure and Joule heat at the beginning. */
static void begin(struct lm_cpu *c, const struct work *w)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    double *const *b = c->array + LM_B, *const *ji = c->array + LM_J_NEW;
    const struct lm_joule_fields fields = {.b = {b[0], b[1], b[2], g->stride},
                                           .ji = {ji[0], ji[1], ji[2], g->stride},
                                           .external = lm_cpu_external(c),
                                           .eta = c->array[LM_ETA],
                                           .clearance = c->clearance,
                                           .sides = c->sides};
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        w->p[k] = lm_pressure_of(lm_cpu_entropy(c)[k], o->gamma);
        w->heat[k] = lm_joule_heat(&fields, &g->sides, g->nx, g->ny, i, j, (long)k, o);
    }
}

/* A stage of Heun's method, from the pressure `p` to the pressure `to`. The step has begun with w->p. */
static void conduct(struct lm_cpu *c, const struct lm_heat_pass *pass, const struct work *w, const double *p,
                    double *to)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const double *n = c->array[pass->level], h = pass->dt / pass->substeps;
    double *const *b = c->array + LM_B;
    const struct lm_conduction by = {w->t,         n,       {b[0], b[1], b[2], g->stride},
                                     c->clearance, c->open, c->base.setup.conductivity};
    LM_ROWS(c, 1, 1)
    for (int i = -1; i <= g->nx; i++) {
        const size_t k = image(g, i, j);
        w->t[lm_at(g, i, j)] = lm_conduction_temperature(p[k], n[k], o);
    }
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        to[k] = lm_conduction_stage(&by, (long)k, w->heat, to != w->p, w->p, p, h, o);
    }
}

/* Brings the entropy of row j to the new pressure, and adds up the change and the Joule heat. */
static void finish_row(struct lm_cpu *c, const struct lm_heat_pass *pass, const struct work *w, int j,
                       struct lm_wide *source, struct lm_wide *heat)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double gamma = c->base.setup.ohm.gamma;
    const int exponent = lm_heat_exponent(pass->quantum, gamma);
    double *s = lm_cpu_entropy(c);
    for (int i = g->own.from_x; i < g->own.to_x; i++) {
        const size_t k = lm_at(g, i, j);
        const double p = lm_pressure_of(s[k], gamma), volume = lm_volume_at(c->open, (long)k);
        const double gain = lm_pressure_gain(p, pass->substeps ? &w->p[k] : NULL, w->heat[k], pass->dt, gamma);
        s[k] = lm_heat_cell(s[k], p, gain, volume, pass->quantum, gamma, source);
        lm_count_heat(heat, w->heat[k], volume, pass->dt, exponent);
    }
}

static void finish(struct lm_cpu *c, const struct lm_heat_pass *pass, const struct work *w)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int field = c->base.setup.background_count - 1;
    double *s = lm_cpu_entropy(c);
#pragma omp parallel num_threads(c->grid_threads)
    {
        struct lm_wide source = {0, 0}, heat = {0, 0};
#pragma omp for schedule(static)
        for (int j = g->own.from_y; j < g->own.to_y; j++)
            finish_row(c, pass, w, j, &source, &heat);
#pragma omp critical
        {
            lm_wide_merge(&c->control.background[field].source, &source);
            lm_wide_merge(&c->control.heat, &heat);
        }
    }
    lm_halo_refresh(c->base.setup.halo, &s, 1);
}

int lm_cpu_heat(struct lm_backend *b, const struct lm_heat_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct work w = work_of(c);
    const struct lm_level_weights at = lm_weights_of_heat(pass->level == LM_N_NEW);
    if (b->setup.friction_species > 0) { /* J and the resistivity as B stands */
        lm_cpu_closure(b, pass->level, pass->level, 0.0);
        lm_cpu_motional_field(c, c->array + LM_B, c->array + LM_J_NEW, at);
    }
    begin(c, &w);
    if (b->setup.friction_species > 0)
        lm_cpu_add_friction_heat(c, at, w.heat);
    for (int n = 0; n < pass->substeps; n++) {
        if (lm_stop_now())
            return lm_stop_give_up();
        conduct(c, pass, &w, w.p, w.next);
        conduct(c, pass, &w, w.next, w.p);
        lm_halo_refresh(b->setup.halo, &w.p, 1);
    }
    finish(c, pass, &w);
    return LM_OK;
}

int lm_cpu_least_density(struct lm_backend *b, double *least)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    uint64_t smallest = lm_bits(lm_infinity());
#pragma omp parallel for num_threads(c->grid_threads) reduction(min : smallest)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++)
            for (int level = LM_N_OLD; level <= LM_N_NEW; level += LM_N_NEW - LM_N_OLD) {
                const size_t k = lm_at(g, i, j);
                const uint64_t n = lm_conducting_density_bits(c->array[level][k], c->clearance[k], b->setup.ohm.floor);
                smallest = n < smallest ? n : smallest;
            }
    *least = lm_from_bits(smallest);
    return LM_OK;
}
