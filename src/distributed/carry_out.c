/* Orders, as each rank carries them out on its part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "distributed/parts.h"
#include "larmor/physics/numerics/hash.h"

/* --- agreement --- */

struct verdict {
    int status, rank;
    char message[LM_MAX_MESSAGE];
};

static void merge_verdicts(void *to, const void *from)
{
    struct verdict *a = to;
    const struct verdict *b = from;
    if (b->status && (!a->status || b->rank < a->rank))
        *a = *b;
}

int lm_agree(int status)
{
    struct verdict v = {.status = status, .rank = lm_rank()};
    if (!lm_ranks_largest((uint64_t)status))
        return LM_OK;
    snprintf(v.message, sizeof v.message, "%s", status ? lm_error() : "");
    lm_ranks_reduce(&v, sizeof v, merge_verdicts);
    return lm_fail(v.status, "%s", v.message);
}

/* --- data --- */

static double *part_array(const struct lm_distributed *d)
{
    double *a = calloc(d->halo.grid.size, sizeof *a);
    if (!a)
        lm_ranks_abort(LM_FAILED, "not enough memory for an array");
    return a;
}

static int put_array(struct lm_distributed *d, const struct lm_order *o)
{
    double *part = part_array(d);
    lm_scatter_array(d, d->from, part);
    const int status = d->part->ops->put(d->part, (enum lm_array)o->array, part);
    free(part);
    return lm_agree(status);
}

static int put_inflow(struct lm_distributed *d, const struct lm_order *o)
{
    void **const all = &d->inflow[o->species][o->side];
    lm_share_side(d, o->side, sizeof(struct lm_inflow_cell), d->from, all);
    struct lm_inflow_cell *part = lm_cut_side(d, o->side, sizeof *part, *all);
    const int status = d->part->ops->put_inflow(d->part, o->species, (enum lm_side)o->side, part);
    free(part);
    return lm_agree(status);
}

static int put_background_side(struct lm_distributed *d, const struct lm_order *o)
{
    void **const all = &d->background[o->field][o->side];
    lm_share_side(d, o->side, sizeof(double), d->from, all);
    double *part = lm_cut_side(d, o->side, sizeof *part, *all);
    const int status = d->part->ops->put_background_side(d->part, o->field, (enum lm_side)o->side, part);
    free(part);
    return lm_agree(status);
}

static int ping(const struct lm_distributed *d, const struct lm_order *o)
{
    if (d->part->ops->ping)
        return lm_rank() < 2 ? d->part->ops->ping(d->part, 1 - lm_rank(), o->number, o->count) : LM_OK;
    char *out = calloc(2, o->number + 1);
    if (!out)
        lm_ranks_abort(LM_FAILED, "not enough memory");
    char *in = out + o->number;
    for (int k = 0; k < o->count && lm_rank() < 2; k++) {
        const struct lm_message send = {1 - lm_rank(), o->number, out}, receive = {1 - lm_rank(), o->number, in};
        lm_ranks_exchange(&send, 1, &receive, 1);
    }
    free(out);
    return LM_OK;
}

static int carry_out_data(struct lm_distributed *d, const struct lm_order *o)
{
    switch (o->kind) {
    case LM_ORDER_PING:
        return ping(d, o);
    case LM_ORDER_PUT:
        return put_array(d, o);
    case LM_ORDER_FILL:
        return lm_agree(d->part->ops->fill(d->part, (enum lm_array)o->array, o->value));
    case LM_ORDER_GET:
        return lm_get_array(d, (enum lm_array)o->array);
    case LM_ORDER_PUT_INFLOW:
        return put_inflow(d, o);
    case LM_ORDER_PUT_BACKGROUND_SIDE:
        return put_background_side(d, o);
    case LM_ORDER_GET_STRIP:
        return lm_get_strip(d, o->side);
    case LM_ORDER_PUT_STRIP:
        return lm_put_strip(d, o->side);
    case LM_ORDER_GET_MAP:
        return lm_get_maps(d, o->species, d->to);
    case LM_ORDER_VELOCITY_MOMENTS:
        return lm_gather_moments(d, o->species, &o->moments, d->to);
    case LM_ORDER_VALUES:
        return lm_values_of_parts(d, o, d->to);
    case LM_ORDER_DISTRIBUTION:
        return lm_count_parts(d, o->species, &o->bins, d->to);
    default: /* rank 0 keeps the counters of before a restart */
        return lm_agree(lm_rank() == 0 ? d->part->ops->put_map(d->part, o->species, d->from) : LM_OK);
    }
}

/* --- particles --- */

/* Particles that have come and gone since the last time. */
static void count_present(struct lm_distributed *d, const struct lm_control *c)
{
    for (int s = 0; s < d->part->setup.species_count; s++) {
        for (int way = 0; way < LM_ENTRANCES; way++)
            d->present[s] += (uint64_t)c->injected[s][way].number;
        for (int channel = 0; channel < LM_CHANNELS; channel++)
            d->present[s] -= (uint64_t)c->lost[s][channel].number;
    }
}

static int reserve(struct lm_distributed *d, const struct lm_order *o)
{
    d->present[o->species] = 0;
    return o->number > 0 ? LM_OK : lm_agree(d->part->particles->reserve(d->part, o->species, 0));
}

static int particle_sums(struct lm_distributed *d, const struct lm_order *o)
{
    struct lm_particle_sums *out = &d->result.particle_sums;
    const int status = d->part->particles->sums(d->part, o->species, &o->pass, o->number, out);
    if (!status)
        lm_ranks_reduce(out, sizeof *out, lm_merge_particle_sums);
    return status;
}

static int sort(struct lm_distributed *d, int species)
{
    const int status = lm_sort_parts(d, species);
    d->balance = lm_effort_expected(d);
    return status;
}

/* All ranks begin to measure anew. */
static int effort(struct lm_distributed *d)
{
    d->balance = lm_effort_expected(d);
    d->effort = (struct lm_effort){.steps = 0};
    return LM_OK;
}

/* By the costs that rank 0 has. */
static int rebalance(struct lm_distributed *d)
{
    const size_t tiles = lm_setup_tiles(&d->whole);
    double *cost = malloc(tiles * sizeof *cost);
    if (!cost)
        lm_ranks_abort(LM_FAILED, "not enough memory for the division of the domain");
    if (lm_rank() == 0)
        memcpy(cost, d->from, tiles * sizeof *cost);
    lm_ranks_broadcast(cost, tiles * sizeof *cost);
    const int status = lm_rebalance(d, cost);
    free(cost);
    return status;
}

static int carry_out_particles(struct lm_distributed *d, const struct lm_order *o)
{
    const struct lm_particle_ops *ops = d->part->particles;
    struct lm_pass pass = o->pass;
    pass.collisions = o->has_collisions ? &o->collisions : NULL;
    switch (o->kind) {
    case LM_ORDER_LOAD:
        return lm_load_parts(d, o, d->from);
    case LM_ORDER_RESERVE:
        return reserve(d, o);
    case LM_ORDER_PUT_PARTICLES:
        return lm_put_parts(d, o);
    case LM_ORDER_GET_PARTICLES:
        return lm_get_parts(d, o);
    case LM_ORDER_SORT:
        return sort(d, o->species);
    case LM_ORDER_EFFORT:
        return effort(d);
    case LM_ORDER_COST:
        lm_measure_cost(d, d->to);
        return LM_OK;
    case LM_ORDER_REBALANCE:
        return rebalance(d);
    case LM_ORDER_RESERVE_MORE:
        d->more[o->species] = o->number;
        return lm_agree(ops->reserve_more(d->part, o->species, o->number));
    case LM_ORDER_EXCHANGE_HEAT:
        return ops->exchange_heat(d->part, o->species, &o->exchange);
    case LM_ORDER_FOLLOW:
        return lm_follow_parts(d, o, o->first ? &pass : NULL, d->to);
    case LM_ORDER_PASS:
        return ops->pass(d->part, o->species, &pass);
    case LM_ORDER_ENTER:
        return ops->enter(d->part, o->species, &pass);
    case LM_ORDER_IONISE:
        return ops->ionise(d->part, o->species, &pass, o->quantum);
    case LM_ORDER_PARTICLE_MAXIMA:
        return ops->maxima(d->part, o->species);
    default:
        return particle_sums(d, o);
    }
}

/* --- the grid --- */

static int control(struct lm_distributed *d)
{
    struct lm_control *out = &d->result.control;
    *out = (struct lm_control){.floored = 0}; /* a backend leaves out what cannot occur */
    const int status = d->part->ops->control(d->part, out);
    if (status)
        return status;
    count_present(d, out);
    lm_effort_end_step(d);
    lm_reduce_control(out, d->part->setup.species_count, d->part->setup.background_count);
    return LM_OK;
}

static int fingerprint(struct lm_distributed *d, const struct lm_order *o)
{
    uint64_t own = 0;
    const int status = d->part->ops->fingerprint(d->part, (int64_t)o->number, &own);
    const uint64_t step = lm_hash_step((int64_t)o->number); /* each rank has added it */
    d->result.number = (uint64_t)lm_ranks_sum((int64_t)(own - step)) + step;
    return status;
}

static int grid_sums(struct lm_distributed *d)
{
    const int status = d->part->ops->grid_sums(d->part, &d->result.grid_sums);
    lm_ranks_reduce(&d->result.grid_sums, sizeof d->result.grid_sums, lm_merge_grid_sums);
    return status;
}

static int flow_rates(struct lm_distributed *d)
{
    const int status = d->part->ops->flow_rates(d->part, d->result.rates);
    lm_ranks_reduce(d->result.rates, sizeof d->result.rates, lm_merge_rates);
    return status;
}

static int drive(struct lm_distributed *d, double t)
{
    const int status = d->part->ops->drive(d->part, t, d->result.force);
    d->driving_time = t;
    lm_ranks_reduce(d->result.force, sizeof d->result.force, lm_merge_force);
    return status;
}

static int least_density(struct lm_distributed *d)
{
    const int status = d->part->ops->least_density(d->part, &d->result.least);
    lm_ranks_reduce(&d->result.least, sizeof d->result.least, lm_merge_least);
    return status;
}

static int heat_exchange_limits(struct lm_distributed *d, const struct lm_order *o)
{
    const int status = d->part->ops->heat_exchange_limits(d->part, &o->with, &d->result.limits);
    lm_ranks_reduce(&d->result.limits, sizeof d->result.limits, lm_merge_limits);
    return status;
}

static int carry_out_grid(struct lm_distributed *d, const struct lm_order *o)
{
    const struct lm_backend_ops *ops = d->part->ops;
    switch (o->kind) {
    case LM_ORDER_CONTROL:
        return control(d);
    case LM_ORDER_COLLECT:
        return ops->collect(d->part, o->species, o->exponent, o->first);
    case LM_ORDER_MOMENTS:
        return ops->moments(d->part);
    case LM_ORDER_SWAP_LEVELS:
        return ops->swap_levels(d->part);
    case LM_ORDER_SWAP:
        return ops->swap(d->part, (enum lm_array)o->array, (enum lm_array)o->other);
    case LM_ORDER_COPY:
        return ops->copy(d->part, (enum lm_array)o->array, (enum lm_array)o->other, o->count);
    case LM_ORDER_DRIVE:
        return drive(d, o->t);
    case LM_ORDER_RESISTIVITY:
        return ops->resistivity(d->part);
    case LM_ORDER_CLOSURE:
        return ops->closure(d->part, (enum lm_array)o->array, (enum lm_array)o->other, o->dt);
    case LM_ORDER_ADVANCE_B:
        return ops->advance_b(d->part, &o->b_step);
    case LM_ORDER_RELAX_B:
        return ops->relax_b(d->part, o->dt, o->substeps);
    case LM_ORDER_OHM:
        return ops->ohm(d->part, (enum lm_ohm_current)o->first);
    case LM_ORDER_FIELD_MAXIMA:
        return ops->field_maxima(d->part, (enum lm_maxima)o->first);
    case LM_ORDER_SIDE_ENERGY:
        return ops->side_energy(d->part);
    case LM_ORDER_FLOW:
        return ops->flow(d->part, (enum lm_flow_time)o->first);
    case LM_ORDER_FLOW_RATES:
        return flow_rates(d);
    case LM_ORDER_ADVECT:
        return ops->advect(d->part, o->field, o->quantum, o->dt, o->substeps);
    case LM_ORDER_SURVEY_BACKGROUND:
        return ops->survey_background(d->part, o->field, o->quantum);
    case LM_ORDER_TRANSFER_TO_GAS:
        return ops->transfer_to_gas(d->part, &o->gain);
    case LM_ORDER_HEAT:
        return ops->heat(d->part, &o->heat);
    case LM_ORDER_LEAST_DENSITY:
        return least_density(d);
    case LM_ORDER_HEAT_EXCHANGE_LIMITS:
        return heat_exchange_limits(d, o);
    case LM_ORDER_GRID_SUMS:
        return grid_sums(d);
    default:
        return fingerprint(d, o);
    }
}

/* A rank that fails alone would leave the others waiting. Only what all ranks have agreed upon returns. */
static int must_succeed(int status)
{
    if (status && status != LM_STOPPED)
        lm_ranks_abort(status, lm_error());
    return status;
}

/* The operations of a step. */
static int carry_out_step(struct lm_distributed *d, const struct lm_order *o)
{
    const double clock = lm_clock(), waited = lm_ranks_traffic().seconds;
    const int status = o->kind <= LM_ORDER_PARTICLE_SUMS ? carry_out_particles(d, o) : carry_out_grid(d, o);
    lm_effort_add(d, clock, waited);
    return must_succeed(status);
}

int lm_carry_out(struct lm_distributed *d, const struct lm_order *o)
{
    lm_stop_allow(o->may_stop);
    if (o->kind != LM_ORDER_GET && o->kind != LM_ORDER_GET_STRIP && o->kind != LM_ORDER_GET_PARTICLES)
        lm_end_reading(d);
    if (o->kind <= LM_ORDER_PUT_MAP)
        return carry_out_data(d, o);
    if (o->kind <= LM_ORDER_RESERVE_MORE)
        return carry_out_particles(d, o);
    return carry_out_step(d, o);
}
