/* CPU backend: electrons whose pressure is evolved. The bodies are in larmor/physics/fluid/electrons.h. */
#include "larmor/physics/fluid/electrons.h"

#include "cpu/cpu.h"
#include "larmor/physics/fields/wall.h"

/* The cell that one beyond the sides is an image of. */
static size_t image(const struct lm_grid *g, int i, int j)
{
    int sign = 1;
    const int x = lm_node_inside(&g->sides, 0, g->nx, 0, 0, i, &sign);
    return lm_at(g, x, lm_node_inside(&g->sides, 1, g->ny, 0, 0, j, &sign));
}

void lm_cpu_evolved_pressure(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double *s = lm_cpu_entropy(c), gamma = c->base.setup.ohm.gamma;
    double *p = c->array[LM_PRESSURE];
    LM_ROWS(c, LM_GHOST, LM_GHOST)
    for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++)
        p[lm_at(g, i, j)] = lm_pressure_of(s[image(g, i, j)], gamma);
}

/* Work arrays of a pass: pressure, the first stage's, temperature, heat of resistivity. */
struct work {
    double *p, *next, *t, *heat;
};

static struct work work_of(const struct lm_cpu *c)
{
    return (struct work){c->result[0], c->result[1], c->result[2], c->spare};
}

/* Pressure and heat at the beginning; 0 in bodies. */
static void begin(struct lm_cpu *c, const struct lm_heat_pass *pass, const struct work *w)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    double *const *b = c->array + LM_B, *const *ji = c->array + LM_J_NEW;
    const struct lm_heat_given given = {.b = {b[0], b[1], b[2], g->stride},
                                        .ji = {ji[0], ji[1], ji[2], g->stride},
                                        .n = c->array[pass->level],
                                        .eta = c->array[LM_ETA],
                                        .room = c->room};
    const int periodic_x = !lm_has_walls(&g->sides, 0), periodic_y = !lm_has_walls(&g->sides, 1);
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        const enum lm_face_place place[4] = {
            lm_face_place(i - 1, g->nx, periodic_x), lm_face_place(i, g->nx, periodic_x),
            lm_face_place(j - 1, g->ny, periodic_y), lm_face_place(j, g->ny, periodic_y)};
        w->p[k] = lm_pressure_of(lm_cpu_entropy(c)[k], o->gamma);
        w->heat[k] = c->room[k] ? lm_heat_in_cell(&given, (long)k, place, o) : 0.0;
    }
}

/* A stage of Heun's method: from `p`, the step having begun with w->p, into `to`. */
static void conduct(struct lm_cpu *c, const struct lm_heat_pass *pass, const struct work *w, const double *p,
                    double *to)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const double *n = c->array[pass->level], h = pass->dt / pass->substeps;
    double *const *b = c->array + LM_B;
    const struct lm_conduction by = {w->t, n, {b[0], b[1], b[2], g->stride}, c->room, c->base.setup.conductivity};
    LM_ROWS(c, 1, 1)
    for (int i = -1; i <= g->nx; i++) {
        const size_t k = image(g, i, j);
        w->t[lm_at(g, i, j)] = p[k] / lm_floored(n[k], o);
    }
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        const double rate = (o->gamma - 1.0) * (w->heat[k] + lm_heat_conducted(&by, (long)k, o));
        to[k] = lm_heated(to != w->p, w->p[k], p[k], rate, h);
    }
}

/* The entropy with what its pressure has gained, and what that adds to the sums. */
static void finish(struct lm_cpu *c, const struct lm_heat_pass *pass, const struct work *w)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const int field = c->base.setup.background_count - 1;
    double *s = c->array[LM_BACKGROUND + field];
    const double per_quantum = lm_exp2i(pass->quantum), scale = lm_exp2i(lm_heat_exponent(pass->quantum, o->gamma));
    struct lm_wide source = {0, 0}, heat = {0, 0};
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double gain =
                pass->substeps ? w->p[k] - lm_pressure_of(s[k], o->gamma) : (o->gamma - 1.0) * w->heat[k] * pass->dt;
            const double after = lm_heated_entropy(s[k], gain, pass->quantum, o->gamma);
            lm_wide_add_sound(&source, (after - s[k]) * per_quantum);
            lm_wide_add_sound(&heat, lm_whole(w->heat[k] * pass->dt * scale));
            s[k] = after;
        }
    lm_wide_merge(&c->control.background[field].source, &source);
    lm_wide_merge(&c->control.heat, &heat);
    lm_cpu_background_extremes(c, field, per_quantum);
}

int lm_cpu_heat(struct lm_backend *b, const struct lm_heat_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct work w = work_of(c);
    begin(c, pass, &w);
    for (int n = 0; n < pass->substeps; n++) {
        if (lm_stop_now())
            return lm_stop_give_up();
        conduct(c, pass, &w, w.p, w.next);
        conduct(c, pass, &w, w.next, w.p);
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
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            for (int level = LM_N_OLD; level <= LM_N_NEW; level += LM_N_NEW - LM_N_OLD) {
                const size_t k = lm_at(g, i, j);
                const double n = c->array[level][k];
                if (c->room[k] && n > b->setup.ohm.floor && lm_bits(n) < smallest)
                    smallest = lm_bits(n);
            }
    *least = lm_from_bits(smallest);
    return LM_OK;
}
