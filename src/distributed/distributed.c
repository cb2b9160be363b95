/* Rank 0: the seam of a backend whose operations are orders to all ranks. The other ranks: they serve. */
#include "distributed/distributed.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "distributed/parts.h"

static struct lm_distributed *of(struct lm_backend *b)
{
    return (struct lm_distributed *)b;
}

static int busy; /* there is such a backend; the ranks can serve one */

int lm_issue(struct lm_backend *b, struct lm_order o)
{
    o.may_stop = lm_stop_may();
    lm_ranks_broadcast(&o, sizeof o);
    return lm_carry_out(of(b), &o);
}

/* --- data --- */

static int put(struct lm_backend *b, enum lm_array array, const double *host)
{
    of(b)->from = host;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_PUT, .array = array});
}

static int fill(struct lm_backend *b, enum lm_array array, double value)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_FILL, .array = array, .value = value});
}

static int get(struct lm_backend *b, enum lm_array array, double *host)
{
    of(b)->to = host;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_GET, .array = array});
}

static int values(struct lm_backend *b, uint64_t count, struct lm_array_value *out)
{
    of(b)->to = out;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_VALUES, .number = count});
}

static int put_inflow(struct lm_backend *b, int species, enum lm_side side, const struct lm_inflow_cell *cells)
{
    of(b)->from = cells;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_PUT_INFLOW, .species = species, .side = side});
}

static int put_background_side(struct lm_backend *b, int field, enum lm_side side, const double *values)
{
    of(b)->from = values;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_PUT_BACKGROUND_SIDE, .field = field, .side = side});
}

static int get_strip(struct lm_backend *b, enum lm_side side, double *values)
{
    of(b)->to = values;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_GET_STRIP, .side = side});
}

static int put_strip(struct lm_backend *b, enum lm_side side, const double *values)
{
    of(b)->from = values;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_PUT_STRIP, .side = side});
}

static int get_map(struct lm_backend *b, int species, uint64_t *counters)
{
    of(b)->to = counters;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_GET_MAP, .species = species});
}

static int put_map(struct lm_backend *b, int species, const uint64_t *counters)
{
    of(b)->from = counters;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_PUT_MAP, .species = species});
}

/* --- particles --- */

static int load(struct lm_backend *b, int species, const struct lm_loading *from, uint64_t *count)
{
    of(b)->from = from;
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_LOAD, .species = species, .loading = *from});
    *count = of(b)->result.number;
    return status;
}

static int reserve(struct lm_backend *b, int species, uint64_t count)
{
    of(b)->placing[species] = 0;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_RESERVE, .species = species, .number = count});
}

static int put_particles(struct lm_backend *b, int species, enum lm_put_phase phase, uint64_t count,
                         struct lm_raw_particles from)
{
    const int first = phase == LM_PLACE_PARTICLES && !of(b)->placing[species]++;
    of(b)->raw = from;
    return lm_issue(
        b, (struct lm_order){
               .kind = LM_ORDER_PUT_PARTICLES, .species = species, .phase = phase, .number = count, .first = first});
}

static int get_particles(struct lm_backend *b, int species, uint64_t first, uint64_t count, struct lm_raw_particles to)
{
    of(b)->raw = to;
    return lm_issue(
        b, (struct lm_order){.kind = LM_ORDER_GET_PARTICLES, .species = species, .begin = first, .number = count});
}

static int sort(struct lm_backend *b, int species)
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_SORT, .species = species});
    return status ? status : lm_balance_if_due(b);
}

static int reserve_more(struct lm_backend *b, int species, uint64_t more)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_RESERVE_MORE, .species = species, .number = more});
}

static int exchange_heat(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_EXCHANGE_HEAT, .species = species, .exchange = *pass});
}

/* An order with a pass and its collisions. */
static struct lm_order pass_order(enum lm_order_kind kind, int species, const struct lm_pass *pass)
{
    struct lm_order o = {.kind = kind, .species = species, .pass = *pass, .has_collisions = pass->collisions != NULL};
    if (pass->collisions)
        o.collisions = *pass->collisions;
    return o;
}

static int follow(struct lm_backend *b, int species, const struct lm_pass *pass, uint64_t count,
                  struct lm_tracked *ions)
{
    const struct lm_pass none = {.kick_dt = 0};
    struct lm_order o = pass_order(LM_ORDER_FOLLOW, species, pass ? pass : &none);
    o.first = pass != NULL;
    o.number = count;
    of(b)->to = ions;
    return lm_issue(b, o);
}

static int pass_particles(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    return lm_issue(b, pass_order(LM_ORDER_PASS, species, pass));
}

static int enter(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    return lm_issue(b, pass_order(LM_ORDER_ENTER, species, pass));
}

static int ionise(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum)
{
    struct lm_order o = pass_order(LM_ORDER_IONISE, source, pass);
    o.quantum = quantum;
    return lm_issue(b, o);
}

static int particle_maxima(struct lm_backend *b, int species)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_PARTICLE_MAXIMA, .species = species});
}

static int particle_sums(struct lm_backend *b, int species, const struct lm_pass *half, uint64_t present,
                         struct lm_particle_sums *out)
{
    struct lm_order o = pass_order(LM_ORDER_PARTICLE_SUMS, species, half);
    o.number = present;
    const int status = lm_issue(b, o);
    *out = of(b)->result.particle_sums;
    return status;
}

static int velocity_moments(struct lm_backend *b, int species, const struct lm_moment_list *list, int64_t *sums)
{
    of(b)->to = sums;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_VELOCITY_MOMENTS, .species = species, .moments = *list});
}

static int distribution(struct lm_backend *b, int species, const struct lm_bins *bins, uint64_t *counts)
{
    of(b)->to = counts;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_DISTRIBUTION, .species = species, .bins = *bins});
}

/* --- the grid --- */

static int control(struct lm_backend *b, struct lm_control *out)
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_CONTROL});
    *out = of(b)->result.control;
    return status;
}

static int collect(struct lm_backend *b, int species, int exponent, int first)
{
    return lm_issue(
        b, (struct lm_order){.kind = LM_ORDER_COLLECT, .species = species, .exponent = exponent, .first = first});
}

static int moments(struct lm_backend *b)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_MOMENTS});
}

static int swap_levels(struct lm_backend *b)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_SWAP_LEVELS});
}

static int swap(struct lm_backend *b, enum lm_array one, enum lm_array other)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_SWAP, .array = one, .other = other});
}

static int copy(struct lm_backend *b, enum lm_array to, enum lm_array from, int count)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_COPY, .array = to, .other = from, .count = count});
}

static int drive(struct lm_backend *b, double t, double force[LM_MAX_SPECIES][3])
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_DRIVE, .t = t});
    memcpy(force, of(b)->result.force, sizeof of(b)->result.force);
    return status;
}

static int resistivity(struct lm_backend *b)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_RESISTIVITY});
}

static int closure(struct lm_backend *b, enum lm_array density, enum lm_array other, double substep)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_CLOSURE, .array = density, .other = other, .dt = substep});
}

static int advance_b(struct lm_backend *b, const struct lm_b_step *step)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_ADVANCE_B, .b_step = *step});
}

static int relax_b(struct lm_backend *b, double dt, int stages)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_RELAX_B, .dt = dt, .substeps = stages});
}

static int ohm(struct lm_backend *b, enum lm_ohm_current current)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_OHM, .first = current});
}

static int field_maxima(struct lm_backend *b, enum lm_maxima which)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_FIELD_MAXIMA, .first = (int)which});
}

static int side_energy(struct lm_backend *b)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_SIDE_ENERGY});
}

static int flow(struct lm_backend *b, enum lm_flow_time when)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_FLOW, .first = (int)when});
}

static int flow_rates(struct lm_backend *b, double rate[LM_FLOW_RATES])
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_FLOW_RATES});
    memcpy(rate, of(b)->result.rates, sizeof of(b)->result.rates);
    return status;
}

static int advect(struct lm_backend *b, int field, int quantum, double dt, int substeps)
{
    return lm_issue(
        b,
        (struct lm_order){.kind = LM_ORDER_ADVECT, .field = field, .quantum = quantum, .dt = dt, .substeps = substeps});
}

static int survey_background(struct lm_backend *b, int field, int quantum)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_SURVEY_BACKGROUND, .field = field, .quantum = quantum});
}

static int transfer_to_gas(struct lm_backend *b, const struct lm_gas_gain *gain)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_TRANSFER_TO_GAS, .gain = *gain});
}

static int heat(struct lm_backend *b, const struct lm_heat_pass *pass)
{
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_HEAT, .heat = *pass});
}

static int least_density(struct lm_backend *b, double *least)
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_LEAST_DENSITY});
    *least = of(b)->result.least;
    return status;
}

static int heat_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out)
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_HEAT_EXCHANGE_LIMITS, .with = *with});
    *out = of(b)->result.limits;
    return status;
}

static int grid_sums(struct lm_backend *b, struct lm_grid_sums *out)
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_GRID_SUMS});
    *out = of(b)->result.grid_sums;
    return status;
}

static int fingerprint(struct lm_backend *b, int64_t step, uint64_t *out)
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_FINGERPRINT, .number = (uint64_t)step});
    *out = of(b)->result.number;
    return status;
}

double lm_distributed_ping(struct lm_backend *b, size_t bytes, int repeats)
{
    lm_issue(b, (struct lm_order){.kind = LM_ORDER_PING, .number = bytes, .count = repeats / 10 + 1}); /* warms up */
    const double before = lm_clock();
    lm_issue(b, (struct lm_order){.kind = LM_ORDER_PING, .number = bytes, .count = repeats});
    return (lm_clock() - before) / repeats;
}

static void destroy(struct lm_backend *b)
{
    struct lm_order o = {.kind = LM_ORDER_DESTROY};
    lm_ranks_broadcast(&o, sizeof o);
    lm_distributed_free(of(b));
    lm_ranks_leave();
    free(b);
    busy = 0;
}

static const struct lm_particle_ops particle_operations = {.load = load,
                                                           .reserve = reserve,
                                                           .put = put_particles,
                                                           .get = get_particles,
                                                           .sort = sort,
                                                           .reserve_more = reserve_more,
                                                           .exchange_heat = exchange_heat,
                                                           .follow = follow,
                                                           .pass = pass_particles,
                                                           .enter = enter,
                                                           .ionise = ionise,
                                                           .maxima = particle_maxima,
                                                           .sums = particle_sums,
                                                           .moments = velocity_moments,
                                                           .distribution = distribution};

static const struct lm_backend_ops operations = {.destroy = destroy,
                                                 .put = put,
                                                 .fill = fill,
                                                 .get = get,
                                                 .values = values,
                                                 .put_inflow = put_inflow,
                                                 .put_background_side = put_background_side,
                                                 .get_strip = get_strip,
                                                 .put_strip = put_strip,
                                                 .get_map = get_map,
                                                 .put_map = put_map,
                                                 .control = control,
                                                 .collect = collect,
                                                 .moments = moments,
                                                 .swap_levels = swap_levels,
                                                 .swap = swap,
                                                 .copy = copy,
                                                 .drive = drive,
                                                 .resistivity = resistivity,
                                                 .closure = closure,
                                                 .advance_b = advance_b,
                                                 .relax_b = relax_b,
                                                 .ohm = ohm,
                                                 .field_maxima = field_maxima,
                                                 .side_energy = side_energy,
                                                 .flow = flow,
                                                 .flow_rates = flow_rates,
                                                 .advect = advect,
                                                 .survey_background = survey_background,
                                                 .transfer_to_gas = transfer_to_gas,
                                                 .heat = heat,
                                                 .least_density = least_density,
                                                 .heat_exchange_limits = heat_exchange_limits,
                                                 .grid_sums = grid_sums,
                                                 .fingerprint = fingerprint};

int lm_distributed_create(int kind, const struct lm_setup *setup, struct lm_backend **out)
{
    *out = NULL;
    if (busy)
        return lm_fail(LM_FAILED, "the ranks serve another simulation");
    struct lm_distributed *d = calloc(1, sizeof *d);
    if (!d)
        return lm_fail(LM_FAILED, "not enough memory");
    struct lm_order o = {.kind = LM_ORDER_CREATE, .count = lm_ranks_used(), .first = kind};
    lm_ranks_broadcast(&o, sizeof o);
    lm_ranks_enter(o.count);
    d->operations = operations;
    d->base.ops = &d->operations;
    d->base.particles = &particle_operations;
    d->base.setup = *setup;
    const int status = lm_distributed_begin(d, kind, setup);
    if (status) {
        lm_distributed_free(d);
        lm_ranks_leave();
        free(d);
        return status;
    }
    d->operations.name = d->part->ops->name;
    d->base.most_stray_cells = d->part->most_stray_cells;
    *out = &d->base;
    busy = 1;
    return LM_OK;
}

/* --- the other ranks --- */

static void stop_serving(struct lm_distributed **d)
{
    lm_distributed_free(*d);
    lm_ranks_leave();
    free(*d);
    *d = NULL;
}

/* Returns NULL on a rank that takes no part, and where rank 0 has failed. */
static struct lm_distributed *begin_to_serve(int ranks, int kind)
{
    struct lm_distributed *d = calloc(1, sizeof *d);
    if (!d)
        lm_ranks_abort(LM_FAILED, "not enough memory");
    lm_ranks_enter(ranks);
    if (lm_rank() >= ranks || lm_distributed_begin(d, kind, NULL))
        stop_serving(&d);
    return d;
}

int lm_distributed_serve(void)
{
    static const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}; /* rank 0 decides */
    struct lm_distributed *d = NULL;
    for (size_t k = 0; k < sizeof requests / sizeof *requests; k++)
        signal(requests[k], SIG_IGN);
    for (;;) {
        struct lm_order o;
        lm_ranks_broadcast(&o, sizeof o);
        if (o.kind == LM_ORDER_END)
            return LM_OK;
        if (o.kind == LM_ORDER_CREATE) {
            d = begin_to_serve(o.count, o.first);
        } else if (o.kind == LM_ORDER_DESTROY) {
            stop_serving(&d);
        } else {
            lm_carry_out(d, &o); /* what fails here fails on rank 0, too */
        }
    }
}

void lm_distributed_dismiss(void)
{
    struct lm_order o = {.kind = LM_ORDER_END};
    if (lm_rank_count() > 1 && lm_rank() == 0)
        lm_ranks_broadcast(&o, sizeof o);
}
