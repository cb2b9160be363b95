/* CPU backend: the ions of the strips beyond radiating sides (larmor/physics/fields/strip.h). */
#include "cpu/fields.h"
#include "cpu/strips.h"

_Static_assert((int)LM_STRIP_SPECIES >= (int)LM_MAX_SPECIES, "room for all species");

static struct lm_strip_domain domain_of(const struct lm_cpu *c, int ion_current)
{
    const struct lm_setup *setup = &c->base.setup;
    struct lm_strip_domain d = {.floored = c->array[LM_FLOORED],
                                .per_density = c->array[LM_PER_DENSITY],
                                .pressure = c->array[LM_PRESSURE],
                                .species_count = setup->species_count,
                                .ion_current = lm_cpu_view(c, c->array + ion_current),
                                .b = lm_cpu_view(c, c->array + LM_B),
                                .push_e = lm_cpu_view(c, c->array + LM_PUSH_E),
                                .push_b = lm_cpu_view(c, c->array + LM_PUSH_B),
                                .gamma = setup->ohm.gamma,
                                .passes = lm_strip_passes(setup->smoothing, setup->shape == LM_LINEAR)};
    for (int k = 0; k < setup->species_count; k++) {
        d.number[k] = c->array[LM_SPECIES_N + k];
        d.mass[k] = setup->species[k].mass;
        d.charge[k] = setup->species[k].charge;
    }
    memcpy(d.temperature, setup->side_temperature, sizeof d.temperature);
    return d;
}

/* --- the plasma --- */

/* The means of a new strip, [LM_STRIP_MEANS][lines], in lines that other ranks own. */
static void refresh_means(const struct lm_cpu *c, const struct lm_cpu_strip *s, double *means)
{
    const long lines = s->w.lines;
    if (!c->base.setup.halo)
        return;
    for (long k = 0; k < LM_STRIP_MEANS * lines; k++)
        s->sent[k % lines * LM_STRIP_MEANS + k / lines] = means[k];
    lm_halo_refresh_side(c->base.setup.halo, s->w.side, s->sent, LM_STRIP_MEANS);
    for (long k = 0; k < LM_STRIP_MEANS * lines; k++)
        means[k] = s->sent[k % lines * LM_STRIP_MEANS + k / lines];
}

static void smooth_means(const struct lm_strip_window *w, double *means, double *work)
{
    for (int which = 0; which < LM_STRIP_MEANS; which++) {
        double *const mean = means + (long)which * w->lines;
        for (int line = 0; line < w->lines; line++)
            work[line] = lm_strip_smoothed(w, mean, line);
        for (int line = 0; line < w->lines; line++)
            mean[line] = work[line];
    }
}

/* A new strip. The arrays of the next step serve for work. A pass moves the error at the edge of a halo by one line. */
static void start(const struct lm_cpu *c, struct lm_cpu_strip *s, const struct lm_strip_domain *from)
{
    const struct lm_strip_window *w = &s->w;
    const int halo = c->base.setup.halo ? c->base.setup.halo->partition->halo : LM_STRIP_START_PASSES;
    double *const means = w->next[0];
    for (int which = 0; which < LM_STRIP_MEANS; which++)
        for (int line = 0; line < w->lines; line++)
            means[(long)which * w->lines + line] = lm_strip_start_mean(w, from, which, line);
    for (int pass = 0; pass < LM_STRIP_START_PASSES; pass++) {
        if (pass % halo == 0)
            refresh_means(c, s, means);
        smooth_means(w, means, w->next[1]);
    }
    refresh_means(c, s, means);
    for (int line = 0; line < w->lines; line++)
        for (int cell = 0; cell < LM_STRIP_CELLS; cell++)
            lm_strip_start(w, from, means, cell, line);
    s->started = 1;
}

/* 1/n and the damping of the strip, from n, u and B as they stand. */
static void find_medium(const struct lm_cpu_strip *s, const struct lm_strip_domain *from)
{
    const struct lm_strip_window *w = &s->w;
    const int first = w->place.first;
#pragma omp parallel for num_threads(s->threads)
    for (int line = 0; line < w->lines; line++) {
        const double mass = lm_strip_mass(w, line), sound2 = lm_strip_sound2(w, from, line);
        for (int p = first; p < first + LM_STRIP_CELLS; p++) {
            const long k = lm_strip_at(w, p, line);
            const struct lm_strip_medium m = lm_strip_find_medium(w, &w->step, mass, sound2, p, line);
            w->per_density[k] = m.per_density;
            w->eta[k] = m.damping.eta;
            w->mixing[k] = m.damping.mixing;
        }
    }
    lm_strip_fill(w, w->per_density, first);
    lm_strip_fill(w, w->eta, first);
    lm_strip_fill(w, w->mixing, first);
}

/* u half a step later, in w->next. */
static void predict(const struct lm_cpu_strip *s)
{
    const struct lm_strip_window *w = &s->w;
    const int first = w->place.first, inside = lm_strip_last_inside(w->place);
#pragma omp parallel for num_threads(s->threads)
    for (int line = 0; line < w->lines; line++) {
        const double mass = lm_strip_mass(w, line);
        for (int p = first; p < first + LM_STRIP_CELLS; p++) {
            const long k = lm_strip_at(w, p, line);
            lm_strip_put(w->next, k, lm_strip_predict(w, w->step.dt, mass, k));
        }
        const long k = lm_strip_at(w, inside, line);
        lm_strip_put(w->next, k, lm_strip_vector(w->u, k));
    }
    for (int d = 0; d < 3; d++)
        lm_strip_fill(w, w->next[d], first);
}

/* The moments n u, in w->flux. */
static void find_flux(const struct lm_cpu_strip *s, const struct lm_strip_domain *from, double *const u[3])
{
    const struct lm_strip_window *w = &s->w;
    const int first = w->place.first;
    for (int d = 0; d < 3; d++) {
#pragma omp parallel for num_threads(s->threads)
        for (int line = 0; line < w->lines; line++)
            for (int p = first; p < first + LM_STRIP_CELLS; p++) {
                const long k = lm_strip_at(w, p, line);
                w->flux[d][k] = lm_strip_moving(w, from->passes, u[d], p, k);
            }
        lm_strip_fill(w, w->flux[d], first);
    }
}

/* E and B at the centres, in w->result and w->stage. In the cells inside they are those of the domain. */
static void find_centres(const struct lm_cpu_strip *s, const struct lm_strip_domain *from)
{
    const struct lm_strip_window *w = &s->w;
    const int first = w->place.first, inside = lm_strip_last_inside(w->place);
#pragma omp parallel for num_threads(s->threads)
    for (int line = 0; line < w->lines; line++) {
        for (int p = first; p < first + LM_STRIP_CELLS; p++) {
            const long k = lm_strip_at(w, p, line);
            const struct lm_strip_centre centre = lm_strip_find_centre(w, k);
            lm_strip_put(w->result, k, centre.e);
            lm_strip_put(w->stage, k, centre.b);
        }
        const long k = lm_strip_at(w, inside, line), m = lm_strip_at_main(w, inside, line);
        lm_strip_put(w->result, k, lm_strip_of_main(from->push_e, m));
        lm_strip_put(w->stage, k, lm_strip_of_main(from->push_b, m));
    }
    for (int d = 0; d < 3; d++) {
        lm_strip_fill(w, w->result[d], first);
        lm_strip_fill(w, w->stage[d], first);
    }
}

static void fill_ions(const struct lm_strip_window *w)
{
    for (int d = 0; d < 3; d++)
        lm_strip_fill(w, w->u[d], w->place.first);
    lm_strip_fill(w, w->n, w->place.first);
}

/* u of the strip to the middle of the step, then n. With both as they are in lines of other ranks, E in a stage of B is
 * wrong no farther from the edge of a halo than that of the domain. */
static void advance_ions(const struct lm_cpu *c, const struct lm_cpu_strip *s, const struct lm_strip_domain *from)
{
    const struct lm_strip_window *w = &s->w;
    const int first = w->place.first;
    const double dt = w->step.dt;
#pragma omp parallel for num_threads(s->threads)
    for (int line = 0; line < w->lines; line++) {
        const double mass = lm_strip_mass(w, line), sound2 = lm_strip_sound2(w, from, line);
        for (int p = first; p < first + LM_STRIP_CELLS; p++)
            lm_strip_put(w->next, lm_strip_at(w, p, line), lm_strip_moved(w, from->passes, dt, mass, sound2, p, line));
    }
    for (int d = 0; d < 3; d++) {
        for (int line = 0; line < w->lines; line++)
            for (int p = first; p < first + LM_STRIP_CELLS; p++)
                w->u[d][lm_strip_at(w, p, line)] = w->next[d][lm_strip_at(w, p, line)];
        lm_strip_fill(w, w->u[d], first);
    }
#pragma omp parallel for num_threads(s->threads)
    for (int line = 0; line < w->lines; line++)
        for (int p = first; p < first + LM_STRIP_CELLS; p++)
            w->next[3][lm_strip_at(w, p, line)] = lm_strip_filled(w, dt, p, line);
#pragma omp parallel for num_threads(s->threads)
    for (int line = 0; line < w->lines; line++)
        for (int p = first; p < first + LM_STRIP_CELLS; p++)
            w->n[lm_strip_at(w, p, line)] = w->next[3][lm_strip_at(w, p, line)];
    lm_cpu_refresh_strip(c, s, LM_STRIP_ROWS_OF_B, LM_STRIP_ROWS);
    fill_ions(w);
}

static void copy_vector(const struct lm_strip_window *w, double *const to[3], double *const from[3])
{
    for (int d = 0; d < 3; d++)
        memcpy(to[d], from[d], (size_t)w->size * sizeof **to);
}

void lm_cpu_begin_strips(struct lm_cpu *c, const struct lm_b_step *step)
{
    for (int side = 0; side < LM_SIDES; side++) {
        struct lm_cpu_strip *s = c->strip[side];
        if (!s)
            continue;
        if (step->mean == LM_MEAN_ENDS) {
            copy_vector(&s->w, s->w.next, s->w.b);
            continue;
        }
        const struct lm_strip_domain from = domain_of(c, (int)step->ion_current);
        s->w.step.dt = step->dt;
        s->w.step.substep = step->dt / step->substeps;
        s->threads = c->grid_threads;
        for (int line = 0; line < s->w.lines; line++)
            lm_strip_take_plasma(&s->w, &from, s->started, line);
        if (!s->started)
            start(c, s, &from);
        fill_ions(&s->w);
        lm_strip_take_b(&s->w, c->array + LM_B, s->w.b);
        lm_strip_current(s, s->w.b);
        find_medium(s, &from);
        predict(s);
        find_flux(s, &from, s->w.next);
        find_centres(s, &from);
        advance_ions(c, s, &from);
        find_medium(s, &from);
        find_flux(s, &from, s->w.u);
    }
}

void lm_cpu_end_strips(struct lm_cpu *c, const struct lm_b_step *step)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (c->strip[side] && step->mean == LM_MEAN_ENDS)
            copy_vector(&c->strip[side]->w, c->strip[side]->w.b, c->strip[side]->w.next);
}
