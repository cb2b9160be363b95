/* CPU backend: advection of background fields. A stage of the Runge-Kutta method goes up the rows of cells. The flux
 * through each face is computed once: first for a whole row of faces as if all cells were free, in a vector loop; then
 * again, face by face, for the faces near bodies and on the sides of the domain. The bodies of the loops are in
 * larmor/physics/fluid/advect.h and face_value.h. No rate of this file is recorded; `larmor bench advect --backend cpu`
 * measures it. */
#include <stdlib.h>

#include "cpu/fields.h"
#include "larmor/physics/fluid/absorption.h"
#include "larmor/physics/fluid/flow.h"
#include "larmor/physics/fluid/face_value.h"
#include "larmor/physics/fields/wall.h"

/* One stage of a field. */
struct stage {
    const struct lm_cpu *cpu;
    const struct lm_bounds *bounds; /* NULL: none */
    const struct lm_background *field;
    int reach; /* lm_scheme_reach */
    struct lm_advect by;
    int sides[LM_SIDES];            /* enum lm_background_side */
    const double *inflow[LM_SIDES]; /* NULL where nothing flows in */
    const double *q0, *q, *vx, *vy, *source;
    double *to;
};

/* A row of faces, with the factors of lm_advective_flux and lm_diffusive_flux. */
struct row {
    struct lm_cpu_faces faces;
    double factor, diffusion;
};

/* What a thread adds up in a stage. */
struct sums {
    struct lm_wide crossed[LM_SIDES], source;
    struct lm_wide through_surfaces; /* of energy: struct lm_surface_sums */
};

/* --- rows of faces --- */

static const struct lm_grid *grid_of(const struct stage *s)
{
    return &s->cpu->base.setup.grid;
}

/* Fluxes as if all cells were free. */
static void flux_row(const struct stage *s, const struct row *r, double *flux)
{
    const struct lm_cpu_faces *faces = &r->faces;
    const double *u = faces->u, *from = faces->c[s->reach - 1], *to = faces->c[s->reach];
    const double factor = r->factor, diffusion = r->diffusion;
    lm_cpu_face_values(s->field, s->bounds, faces, flux);
    for (int f = 0; f < faces->count; f++)
        flux[f] = lm_advective_flux(u[f], flux[f], factor);
    for (int f = 0; f < faces->count && diffusion > 0.0; f++) {
        const double pair[2] = {from[f], to[f]};
        flux[f] += lm_diffusive_flux(pair, diffusion);
    }
}

/* Whether the flux that has been computed as if all cells were free does not hold. */
static int is_special(const struct lm_cpu_special_face *f, int reach)
{
    return f->before < reach || f->behind < reach || f->length != 1.0;
}

/* The flux through face f of a row. */
static double flux_near_body(const struct stage *s, const struct row *r, int f, const struct lm_cpu_special_face *at)
{
    const double pair[2] = {r->faces.c[s->reach - 1][f], r->faces.c[s->reach][f]};
    if (!at->before || !at->behind)
        return 0.0;
    const double value = lm_cpu_value_near_body(s->field, s->bounds, &r->faces, f, at);
    double flux = lm_advective_flux(r->faces.u[f], value, r->factor * at->length);
    if (r->diffusion > 0.0)
        flux += lm_diffusive_flux(pair, r->diffusion * at->length);
    return flux;
}

/* Face f of a row is on cell n of a side of the domain. `clearance`: of the cell inside; `length`: what is open. */
static double flux_on_side(const struct stage *s, const struct row *r, int f, int side, int n, uint8_t clearance,
                           double length)
{
    const double inside = r->faces.c[side % 2 ? s->reach - 1 : s->reach][f];
    return clearance ? lm_side_flux(s->sides[side], s->inflow[side], side, r->faces.u[f], n, inside, r->factor * length)
                     : 0.0;
}

static void special_faces_x(const struct stage *s, int j, const struct row *r, double *flux)
{
    const struct lm_grid *g = grid_of(s);
    const long k = (long)lm_at(g, -1, j);
    const uint8_t *clearance = s->cpu->clearance + k;
    for (int f = 0; f < r->faces.count && s->cpu->row_near_body[j]; f++) {
        const struct lm_cpu_special_face at = lm_cpu_special_face(s->cpu, 0, k + f, r->faces.u[f]);
        if (is_special(&at, s->reach))
            flux[f] = flux_near_body(s, r, f, &at);
    }
    if (!lm_has_walls(&g->sides, 0))
        return;
    flux[0] = flux_on_side(s, r, 0, LM_X_MIN, j, clearance[1], lm_opening_at(s->cpu->open, 0, k));
    flux[g->nx] = flux_on_side(s, r, g->nx, LM_X_MAX, j, clearance[g->nx], lm_opening_at(s->cpu->open, 0, k + g->nx));
}

/* Fluxes through the nx + 1 faces of row j. `line` is that of lm_cpu_faces_x. */
static void faces_x(const struct stage *s, int j, double *line, double *flux)
{
    const struct row r = {lm_cpu_faces_x(s->cpu, s->reach, j, s->q, s->vx, line), s->by.x, s->by.kx};
    flux_row(s, &r, flux);
    special_faces_x(s, j, &r, flux);
}

static void special_faces_y(const struct stage *s, int j, const struct row *r, double *flux)
{
    const struct lm_grid *g = grid_of(s);
    const int side = j < 0 ? LM_Y_MIN : LM_Y_MAX;
    const int on_side = lm_has_walls(&g->sides, 1) && (j < 0 || j == g->ny - 1);
    const long k = (long)lm_at(g, 0, j);
    const uint8_t *below = s->cpu->clearance + k, *above = below + g->stride;
    if (!lm_cpu_is_near_body(s->cpu, j) && !lm_cpu_is_near_body(s->cpu, j + 1))
        return;
    for (int f = 0; f < r->faces.count; f++) {
        const struct lm_cpu_special_face at = lm_cpu_special_face(s->cpu, 1, k + f, r->faces.u[f]);
        if (on_side)
            flux[f] = flux_on_side(s, r, f, side, f, side == LM_Y_MAX ? below[f] : above[f], at.length);
        else if (is_special(&at, s->reach))
            flux[f] = flux_near_body(s, r, f, &at);
    }
}

/* Fluxes through the faces between rows j and j + 1. */
static void faces_y(const struct stage *s, int j, double *flux)
{
    const struct row r = {lm_cpu_faces_y(s->cpu, s->reach, j, s->q, s->vy), s->by.y, s->by.ky};
    flux_row(s, &r, flux);
    special_faces_y(s, j, &r, flux);
}

/* --- rows of cells --- */

/* Updates one row of cells from the fluxes through their faces, and counts what the source adds. */
static void update_row(const struct stage *s, int j, const double *x, const double *below, const double *above,
                       double *gain, struct lm_wide *from_source)
{
    const struct lm_grid *g = grid_of(s);
    const size_t k = lm_at(g, 0, j);
    const double *q0 = s->q0 + k, *q = s->q + k;
    double *to = s->to + k;
    for (int i = 0; i < g->nx; i++)
        gain[i] = lm_net_inflow(x[i], x[i + 1], below[i], above[i]);
    const struct lm_opening *open = s->cpu->row_near_body[j] ? s->cpu->open : NULL;
    for (int i = 0; i < g->nx && s->source; i++) {
        const double added = lm_source_units(&s->by, s->source[k + (size_t)i], lm_volume_at(open, (long)k + i));
        gain[i] += added;
        if (lm_is_own(g, i, j))
            lm_wide_add(from_source, added);
    }
    for (int i = 0; i < g->nx && open; i++)
        to[i] = lm_advect_update_cut(&s->by, q0[i], q[i], gain[i], lm_volume_at(open, (long)k + i));
    for (int i = 0; i < g->nx && !open; i++)
        to[i] = lm_advect_update(&s->by, q0[i], q[i], gain[i]);
}

/* Counts what crosses the sides of the domain. */
static void count_row(const struct stage *s, int j, const double *x, const double *below, const double *above,
                      struct lm_wide crossed[LM_SIDES])
{
    const struct lm_grid *g = grid_of(s);
    if (lm_has_walls(&g->sides, 0) && lm_is_own(g, 0, j) && lm_owns_side(g, LM_X_MIN))
        lm_wide_add(&crossed[LM_X_MIN], x[0]);
    if (lm_has_walls(&g->sides, 0) && lm_is_own(g, g->nx - 1, j) && lm_owns_side(g, LM_X_MAX))
        lm_wide_add(&crossed[LM_X_MAX], x[g->nx]);
    const int low = lm_has_walls(&g->sides, 1) && j == 0 && lm_owns_side(g, LM_Y_MIN),
              high = lm_has_walls(&g->sides, 1) && j == g->ny - 1 && lm_owns_side(g, LM_Y_MAX);
    for (int i = g->own.from_x; i < g->own.to_x && low; i++)
        lm_wide_add(&crossed[LM_Y_MIN], below[i]);
    for (int i = g->own.from_x; i < g->own.to_x && high; i++)
        lm_wide_add(&crossed[LM_Y_MAX], above[i]);
}

static void survey_row(const struct lm_cpu *c, const double *field, double per_quantum, int j,
                       struct lm_field_survey *survey)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double *q = field + lm_at(g, 0, j);
    const uint8_t *clearance = c->clearance + lm_at(g, 0, j);
    const struct lm_opening *open = c->open ? c->open + lm_at(g, 0, j) : NULL;
    for (int i = g->own.from_x; i < g->own.to_x; i++)
        lm_survey_cell(survey, q[i], clearance[i], lm_volume_at(open, i), per_quantum);
}

int lm_cpu_survey_background(struct lm_backend *b, int field, int quantum)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_advected *to = &c->control.background[field];
    struct lm_field_survey all = {.most = 0};
#pragma omp parallel num_threads(c->grid_threads)
    {
        struct lm_field_survey survey = {.most = 0};
#pragma omp for schedule(static)
        for (int j = b->setup.grid.own.from_y; j < b->setup.grid.own.to_y; j++)
            survey_row(c, c->array[LM_BACKGROUND + field], lm_exp2i(quantum), j, &survey);
#pragma omp critical
        lm_merge_surveys(&all, &survey);
    }
    to->total = all.total;
    to->least = lm_from_ordered_bits(~all.not_least);
    to->most = lm_from_ordered_bits(all.most);
    return LM_OK;
}

/* --- a stage --- */

enum { ROW_ARRAYS = 5 };

/* Rows [first, end); `work` has ROW_ARRAYS rows. */
static void advance_rows(const struct stage *s, int first, int end, double *work, struct sums *sums)
{
    const size_t size = lm_cpu_line_size(grid_of(s));
    double *line = work, *x = work + size, *gain = work + 2 * size;
    double *below = work + 3 * size, *above = work + 4 * size;
    faces_y(s, first - 1, below);
    for (int j = first; j < end; j++) {
        faces_x(s, j, line, x);
        faces_y(s, j, above);
        update_row(s, j, x, below, above, gain, &sums->source);
        count_row(s, j, x, below, above, sums->crossed);
        double *t = below;
        below = above;
        above = t;
    }
}

static void merge_sums(struct sums *to, const struct sums *from)
{
    for (int side = 0; side < LM_SIDES; side++)
        lm_wide_merge(&to->crossed[side], &from->crossed[side]);
    lm_wide_merge(&to->source, &from->source);
}

static void run_stage(const struct stage *s, double *work, struct sums *sums)
{
    const struct lm_grid *g = grid_of(s);
#pragma omp parallel num_threads(s->cpu->grid_threads)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        struct sums own = {.source = {0, 0}};
        advance_rows(s, g->ny * thread / threads, g->ny * (thread + 1) / threads,
                     work + (size_t)thread * ROW_ARRAYS * lm_cpu_line_size(g), &own);
#pragma omp critical
        merge_sums(sums, &own);
    }
}

/* What all stages of a call share. */
static struct stage begin_stages(const struct lm_cpu *c, int field, const struct lm_bounds *bounds)
{
    const struct lm_background *f = &c->base.setup.background[field];
    struct stage s = {.cpu = c,
                      .bounds = f->limited ? bounds : NULL,
                      .field = f,
                      .reach = lm_scheme_reach(f->scheme),
                      .q0 = c->array[LM_BACKGROUND + field],
                      .vx = c->array[LM_BACKGROUND_X + field],
                      .vy = c->array[LM_BACKGROUND_Y + field],
                      .source = f->has_source ? c->array[LM_BACKGROUND_SOURCE + field] : NULL};
    for (int side = 0; side < LM_SIDES; side++) {
        s.sides[side] = f->sides[side];
        s.inflow[side] = c->background_inflow[field][side];
    }
    return s;
}

static void take_sums(struct lm_advected *to, const struct sums *from)
{
    for (int side = 0; side < LM_SIDES; side++)
        lm_wide_merge(&to->crossed[side], &from->crossed[side]);
    lm_wide_merge(&to->source, &from->source);
}

/* A substep, from q and back to it. LM_STOPPED: the run is to end. */
static int advance_substep(struct lm_cpu *c, struct stage *s, double *q, const struct lm_advect by[], double *work,
                           struct sums *sums)
{
    double *const from[LM_ADVECT_STAGES] = {q, c->stage[0], c->stage[1]};
    double *const to[LM_ADVECT_STAGES] = {c->stage[0], c->stage[1], q};
    for (int k = 0; k < LM_ADVECT_STAGES; k++) {
        s->by = by[k];
        s->q = from[k];
        s->to = to[k];
        run_stage(s, work, sums);
        if (k == LM_ADVECT_STAGES - 1)
            lm_halo_refresh(c->base.setup.halo, &q, 1);
        if (lm_stop_now())
            return lm_stop_give_up();
    }
    return LM_OK;
}

/* Takes and gives the entropy that passes through surfaces in a time dt. */
static void pass_surfaces(struct lm_cpu *c, const struct lm_flow_moments *moments, int quantum, double dt,
                          struct sums *sums)
{
    double *s = lm_cpu_entropy(c);
    struct lm_surface_sums passed = {{0, 0}, {0, 0}};
    for (size_t n = 0; n < c->at_surface_count; n++)
        c->of_surface[n] = lm_surface_entropy(moments, &c->at_surface[n], s, dt, quantum, &c->base.setup.ohm, &passed);
    lm_wide_merge(&sums->source, &passed.entropy);
    lm_wide_merge(&sums->through_surfaces, &passed.energy);
    for (size_t n = 0; n < c->at_surface_count; n++)
        s[c->at_surface[n].k] = c->of_surface[n];
    if (c->base.setup.halo && c->base.setup.halo->has_surfaces)
        lm_halo_refresh(c->base.setup.halo, &s, 1);
}

/* The substeps of the entropy, each with the heat of mixing and what passes through surfaces: before the advection
 * where a round begins, after it where the round ends, so that both halves of a round mirror each other. */
static int advance_entropy(struct lm_cpu *c, struct stage *s, const struct lm_mixing_pass *mixing, int substeps,
                           const struct lm_advect by[], double *work, struct sums *sums)
{
    const int field = c->base.setup.background_count - 1;
    const struct lm_flow_moments moments = lm_cpu_flow_moments(c);
    int status = LM_OK;
    lm_cpu_work_velocities(c, &moments, mixing->work);
    for (int n = 0; n < substeps && !status; n++) {
        if (!c->later) {
            lm_cpu_mix(c, mixing);
            pass_surfaces(c, &moments, mixing->quantum, mixing->dt, sums);
        }
        status = advance_substep(c, s, c->array[LM_BACKGROUND + field], by, work, sums);
        if (c->later && !status) {
            pass_surfaces(c, &moments, mixing->quantum, mixing->dt, sums);
            lm_cpu_mix(c, mixing);
        }
    }
    return status;
}

int lm_cpu_advect(struct lm_backend *b, int field, int quantum, double dt, int substeps)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_background *f = &b->setup.background[field];
    const struct lm_ohm *o = &b->setup.ohm;
    const struct lm_bounds bounds = {f->least, f->most};
    const int mixes = o->evolved && field == b->setup.background_count - 1;
    struct stage s = begin_stages(c, field, &bounds);
    struct sums sums = {.source = {0, 0}};
    struct lm_advect by[LM_ADVECT_STAGES];
    int status = LM_OK;
    double *work = malloc((size_t)c->grid_threads * ROW_ARRAYS * lm_cpu_line_size(&b->setup.grid) * sizeof *work);
    if (!work)
        return lm_fail(LM_FAILED, "not enough memory for the background fields");
    const struct lm_mixing_pass mixing = {
        dt, dt * substeps, quantum, {c->result[0], c->result[1]}, {c->stage[0], c->stage[1]}, work};
    for (int k = 0; k < LM_ADVECT_STAGES; k++)
        by[k] = lm_advect_stage(k, lm_exp2i(-quantum), dt, o->inv_dx, o->inv_dy, f->diffusivity);
    for (int n = 0; n < substeps && !mixes && !status; n++)
        status = advance_substep(c, &s, c->array[LM_BACKGROUND + field], by, work, &sums);
    if (mixes)
        status = advance_entropy(c, &s, &mixing, substeps, by, work, &sums);
    take_sums(&c->control.background[field], &sums);
    lm_wide_merge(&c->control.through_surfaces, &sums.through_surfaces);
    free(work);
    return status;
}

/* --- what particles transfer to a gas --- */

/* What the cells of row j of a field gain. */
static void gain_row(struct lm_cpu *c, const struct lm_gas_gain *gain, int field, int j, struct lm_wide *source)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int what = c->base.setup.background[field].gains - 1;
    for (int i = g->own.from_x; i < g->own.to_x; i++) {
        const int64_t quanta = c->gas_transfer[what][(size_t)j * (size_t)g->nx + (size_t)i];
        const size_t k = lm_at(g, i, j);
        if (quanta == 0)
            continue;
        const double chance = lm_gas_gain_chance(gain->key, gain->species, lm_domain_cell(&g->place, i, j), field);
        lm_wide_add(source, lm_add_gas_gain(&c->array[LM_BACKGROUND + field][k], quanta, lm_volume_at(c->open, (long)k),
                                            gain->unit[what], gain->quantum[field], chance));
    }
}

int lm_cpu_transfer_to_gas(struct lm_backend *b, const struct lm_gas_gain *gain)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    lm_halo_add(b->setup.halo, c->gas_transfer, LM_GAS_SUMS, 1);
    for (int f = 0; f < b->setup.background_count; f++) {
        if (!b->setup.background[f].gains)
            continue;
#pragma omp parallel num_threads(c->grid_threads)
        {
            struct lm_wide source = {0, 0};
#pragma omp for schedule(static)
            for (int j = g->own.from_y; j < g->own.to_y; j++)
                gain_row(c, gain, f, j, &source);
#pragma omp critical
            lm_wide_merge(&c->control.background[f].source, &source);
        }
        lm_halo_refresh(b->setup.halo, &c->array[LM_BACKGROUND + f], 1);
    }
    for (int k = 0; k < LM_GAS_SUMS; k++)
        memset(c->gas_transfer[k], 0, g->cells * sizeof *c->gas_transfer[k]);
    return LM_OK;
}
