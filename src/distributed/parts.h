/* What the files of this folder share. */
#ifndef LARMOR_DISTRIBUTED_PARTS_H
#define LARMOR_DISTRIBUTED_PARTS_H

#include "backend/backend.h"
#include "distributed/balance_record.h"
#include "ranks/halo.h"
#include "ranks/ranks.h"

enum lm_order_kind {
    LM_ORDER_END,
    LM_ORDER_CREATE,
    LM_ORDER_DESTROY,
    LM_ORDER_PING,
    /* data */
    LM_ORDER_PUT,
    LM_ORDER_FILL,
    LM_ORDER_GET,
    LM_ORDER_PUT_INFLOW,
    LM_ORDER_PUT_BACKGROUND_SIDE,
    LM_ORDER_GET_STRIP,
    LM_ORDER_PUT_STRIP,
    LM_ORDER_GET_MAP,
    LM_ORDER_VELOCITY_MOMENTS,
    LM_ORDER_VALUES,
    LM_ORDER_DISTRIBUTION,
    LM_ORDER_PUT_MAP,
    /* particles */
    LM_ORDER_LOAD,
    LM_ORDER_RESERVE,
    LM_ORDER_PUT_PARTICLES,
    LM_ORDER_GET_PARTICLES,
    LM_ORDER_SORT,
    LM_ORDER_EFFORT,
    LM_ORDER_COST,
    LM_ORDER_REBALANCE,
    LM_ORDER_RESERVE_MORE,
    LM_ORDER_EXCHANGE_HEAT,
    LM_ORDER_FOLLOW,
    LM_ORDER_PASS,
    LM_ORDER_ENTER,
    LM_ORDER_IONISE,
    LM_ORDER_PARTICLE_MAXIMA,
    LM_ORDER_PARTICLE_SUMS,
    /* the grid */
    LM_ORDER_CONTROL,
    LM_ORDER_COLLECT,
    LM_ORDER_MOMENTS,
    LM_ORDER_SWAP_LEVELS,
    LM_ORDER_SWAP,
    LM_ORDER_COPY,
    LM_ORDER_DRIVE,
    LM_ORDER_RESISTIVITY,
    LM_ORDER_CLOSURE,
    LM_ORDER_ADVANCE_B,
    LM_ORDER_RELAX_B,
    LM_ORDER_OHM,
    LM_ORDER_FIELD_MAXIMA,
    LM_ORDER_SIDE_ENERGY,
    LM_ORDER_FLOW,
    LM_ORDER_FLOW_RATES,
    LM_ORDER_ADVECT,
    LM_ORDER_SURVEY_BACKGROUND,
    LM_ORDER_TRANSFER_TO_GAS,
    LM_ORDER_HEAT,
    LM_ORDER_LEAST_DENSITY,
    LM_ORDER_HEAT_EXCHANGE_LIMITS,
    LM_ORDER_GRID_SUMS,
    LM_ORDER_FINGERPRINT
};

/* An operation with its arguments: those of the seam, by their names there. */
struct lm_order {
    enum lm_order_kind kind;
    int may_stop; /* the step under way may be given up */
    int species, side, field, array, other, count, exponent, first, quantum, substeps, phase, has_collisions;
    uint64_t number, begin;
    double dt, t, value;
    struct lm_b_step b_step;
    struct lm_pass pass;
    struct lm_collisions collisions;
    struct lm_exchange_pass exchange;
    struct lm_heat_pass heat;
    struct lm_gas_gain gain;
    struct lm_exchange with;
    struct lm_moment_list moments;
    struct lm_bins bins;
    struct lm_loading loading; /* of its pointers it counts only which are NULL */
};

/* Results, on all ranks. */
union lm_order_result {
    struct lm_control control;
    struct lm_particle_sums particle_sums;
    struct lm_grid_sums grid_sums;
    struct lm_exchange_limits limits;
    double rates[LM_FLOW_RATES], least, force[LM_MAX_SPECIES][3];
    uint64_t number;
};

/* What steps have cost a rank, the late ones with more weight. */
struct lm_effort {
    double seconds; /* without the waiting for other ranks */
    double work;    /* in units of a particle: sum of the work in each step */
    int steps;
};

/* What a step costs all ranks together, and the rank that it costs most. */
struct lm_balance {
    double sum, most;
};

/* Particles of a restart until all have been read, in the stored form. */
struct lm_arrivals {
    uint64_t count, capacity;
    struct lm_raw_particles particles; /* owned */
};

/* Particles of this rank that rank 0 will ask for next; x is NULL without memory. */
struct lm_read_ahead {
    int species;
    uint64_t first, count, capacity;
    struct lm_raw_particles particles; /* owned */
};

/* Memory that serves one array after the other. */
struct lm_lent {
    double *memory; /* owned */
    size_t count;
};

struct lm_distributed {
    struct lm_backend base;           /* of rank 0: the seam, with the setup of the whole domain */
    struct lm_backend_ops operations; /* of the seam; its name is that of the parts */
    int placing[LM_MAX_SPECIES];      /* of a restart: pieces that have been placed */
    struct lm_backend *part;          /* the backend of this rank */
    int kind;                         /* enum lm_backend_kind of all parts */
    struct lm_setup whole;            /* of the domain, on all ranks; its memory is `memory` */
    void *mask;                       /* of the bodies in the arrays; NULL without bodies */
    void *obstacle, *cut, *factor;    /* struct lm_obstacles in the same way */
    struct lm_body_node *node;        /* in the same way */
    void *inflow[LM_MAX_SPECIES][LM_SIDES], *background[LM_MAX_BACKGROUNDS][LM_SIDES]; /* along the domain; or NULL */
    struct lm_partition partition;
    struct lm_halo halo;
    struct lm_grid domain;
    int precision;
    uint64_t present[LM_MAX_SPECIES]; /* particles of this rank */
    uint64_t more[LM_MAX_SPECIES];    /* for which there must be slots: the last reserve_more */
    struct lm_arrivals arrivals[LM_MAX_SPECIES];
    struct lm_read_ahead ahead;
    struct lm_lent array, packed;
    struct lm_effort effort;
    double price, next_price;  /* of a unit of work here over the mean of all ranks: as the division assumes it, as the
                                * next one shall (lm_balance_next_price) */
    double driving_time;       /* of the last LM_ORDER_DRIVE */
    struct lm_balance balance; /* as expected after the last sort */
    struct lm_balance_record balanced; /* of rank 0 */
    union lm_order_result result;
    const void *from; /* of rank 0: the data of the order */
    void *to;
    struct lm_raw_particles raw;
    void *memory[64]; /* copies of what a setup lends, for the serving ranks */
    int memories;
};

/* --- src/distributed/carry_out.c --- */

/* Carries out an order on this rank; all ranks call it with the same order. */
int lm_carry_out(struct lm_distributed *d, const struct lm_order *o);

/* The status of all ranks: that of the lowest one that has failed, with its message. */
int lm_agree(int status);

/* --- src/distributed/distributed.c --- */

/* Hands an order to all ranks and carries it out on this one; for rank 0. */
int lm_issue(struct lm_backend *b, struct lm_order o);

/* --- src/distributed/balance.c --- */

/* After a sort, on rank 0: divides the domain anew where that pays. */
int lm_balance_if_due(struct lm_backend *b);

/* --- src/distributed/setup.c --- */

/* Hands the setup of rank 0 to all ranks, divides the domain and creates the backend of this rank's part. `setup` is
 * NULL on the other ranks. The caller frees with lm_distributed_free, also after a failure. */
int lm_distributed_begin(struct lm_distributed *d, int kind, const struct lm_setup *setup);

/* The division of the domain among the ranks by the cost of tiles (NULL: alike). The caller frees it. */
int lm_divide(const struct lm_distributed *d, const double *cost, struct lm_partition *out);
void lm_distributed_free(struct lm_distributed *d);

/* --- src/distributed/arrays.c --- */

/* Between the array of the domain on rank 0 and those of the parts. */
void lm_scatter_array(struct lm_distributed *d, const double *whole, double *part);
int lm_get_array(struct lm_distributed *d, enum lm_array array);

/* Hands the values along a side, of `size` bytes each, to all ranks, which keep them in *all. `whole` counts on rank 0.
 */
void lm_share_side(struct lm_distributed *d, int side, size_t size, const void *whole, void **all);

/* The values for the cells along the arrays of this rank. The caller frees the result. */
void *lm_cut_side(const struct lm_distributed *d, int side, size_t size, const void *all);

/* --- src/distributed/strips.c --- */

/* Between the strip beyond a radiating side on rank 0 and those of the parts. */
int lm_get_strip(struct lm_distributed *d, int side);
int lm_put_strip(struct lm_distributed *d, int side);

/* When the domain is divided anew: the strips of the parts, as the new parts will hold them (NULL beyond other sides);
 * the caller frees them. They go into the new parts. */
int lm_take_strips(struct lm_distributed *d, const struct lm_halo_move *move, double *strip[LM_SIDES]);
int lm_put_strips(struct lm_distributed *d, double *const strip[LM_SIDES]);

/* --- src/distributed/particles.c --- */

int lm_load_parts(struct lm_distributed *d, const struct lm_order *o, const struct lm_loading *whole);
int lm_put_parts(struct lm_distributed *d, const struct lm_order *o);
int lm_sort_parts(struct lm_distributed *d, int species);
void lm_reserve_again(struct lm_distributed *d, int species);

/* Positions relative to the arrays become positions in the domain; those in own cells the other way round. */
void lm_to_domain(const struct lm_distributed *d, const struct lm_raw_particles *p, uint64_t count);

/* Hands particles, whose positions are in the domain, to the ranks that own their cells. Frees `all` and returns what
 * this rank gets, relative to its arrays; the caller frees all->x. */
uint64_t lm_exchange_particles(struct lm_distributed *d, struct lm_raw_particles *all, uint64_t count);

/* The bytes of a component of a velocity. */
size_t lm_real_size(const struct lm_distributed *d);

/* Space for particles in one piece of memory, and its size; the caller frees x. */
size_t lm_particle_bytes(const struct lm_distributed *d, uint64_t count);
struct lm_raw_particles lm_new_particles(const struct lm_distributed *d, uint64_t count);

/* --- src/distributed/pieces.c --- */

/* A piece of all particles to rank 0. */
int lm_get_parts(struct lm_distributed *d, const struct lm_order *o);

/* Frees what serves the reading of particles and arrays. Before an order that may change the state, and at the end. */
void lm_end_reading(struct lm_distributed *d);

/* --- src/distributed/velocity_moments.c --- */

/* The moments of the velocity of all ranks, [list->count][ny][nx] of the domain, on rank 0; all ranks call it. */
int lm_gather_moments(struct lm_distributed *d, int species, const struct lm_moment_list *list, int64_t *whole);

/* --- src/distributed/deal.c --- */

/* Items of rank 0, each of which concerns the cell of one rank. The caller sets the first three members. */
struct lm_deal {
    uint64_t all; /* items on rank 0; 0 on the others */
    size_t size;  /* bytes of an item */
    int (*owner_of)(const struct lm_distributed *d, const void *item);
    uint64_t *count; /* of each rank, on all ranks */
    uint64_t *place; /* of rank 0: where each item is in `sorted` */
    char *sorted;    /* of rank 0 */
    void *own;       /* the items of this rank */
};

/* Hands the items to the owners; returns how many this rank has. All ranks call it, and lm_deal_back after it. */
uint64_t lm_deal_out(const struct lm_distributed *d, struct lm_deal *deal, const void *items);

/* Takes the items back, in the order in which they were handed out. */
void lm_deal_back(struct lm_deal *deal, void *items);

/* --- src/distributed/values.c --- */

/* Values of arrays: o->number of them, on rank 0; all ranks call it. */
int lm_values_of_parts(struct lm_distributed *d, const struct lm_order *o, struct lm_array_value *values);

/* --- src/distributed/counts.c --- */

/* The particles of all ranks in bins, on rank 0; the maps of hits of all ranks, on rank 0. All ranks call these. */
int lm_count_parts(struct lm_distributed *d, int species, const struct lm_bins *bins, uint64_t *counts);
int lm_get_maps(struct lm_distributed *d, int species, uint64_t *counters);

/* --- src/distributed/follow.c --- */

/* Hands each ion that the run follows to the rank that owns its cell, which follows it, and takes it back. `pass`: as
 * in the seam; `ions`: o->number of them, on rank 0; all ranks call it. */
int lm_follow_parts(struct lm_distributed *d, const struct lm_order *o, const struct lm_pass *pass,
                    struct lm_tracked *ions);

/* --- src/distributed/rebalance.c --- */

/* Divides the domain anew by the cost of the tiles, which all ranks know. The state stays as it is. LM_STOPPED: there
 * is no memory for it, and the division stays. */
int lm_rebalance(struct lm_distributed *d, const double *cost);

/* The cost of each tile as it is now, on rank 0; all ranks call it. */
void lm_measure_cost(struct lm_distributed *d, double *cost);

/* --- src/distributed/effort.c --- */

/* Adds the seconds since `clock` to the effort, but for those that the rank has waited meanwhile: `waited` is
 * lm_ranks_traffic().seconds as it was at `clock`. */
void lm_effort_add(struct lm_distributed *d, double clock, double waited);

/* Counts a step. */
void lm_effort_end_step(struct lm_distributed *d);

/* Seconds that a unit of work costs this rank. 1 on all ranks as long as too few steps have been measured. */
double lm_effort_rate(const struct lm_distributed *d);

/* That rate over the mean of all ranks; all ranks call it. */
double lm_effort_price(const struct lm_distributed *d);

/* What the next steps are expected to cost; all ranks call it. */
struct lm_balance lm_effort_expected(const struct lm_distributed *d);

/* The setup of this rank's part, and its backend: src/distributed/setup.c. */
int lm_create_part(struct lm_distributed *d);

/* --- src/distributed/control.c --- */

/* What a message has of lm_control: the values, and the entries of so many species and background fields. */
struct lm_control_message {
    int species, backgrounds; /* of the setup */
    size_t used;              /* bytes of data */
    char data[sizeof(struct lm_control)];
};

/* To a message whose counts are set, and back. Entries that the message does not have become 0. */
void lm_pack_control(struct lm_control *c, struct lm_control_message *m);
void lm_unpack_control(struct lm_control_message *m, struct lm_control *c);

/* c of all ranks becomes what lm_merge_control makes of all; collective. */
void lm_reduce_control(struct lm_control *c, int species, int backgrounds);

/* --- src/distributed/merge.c --- */

lm_merge lm_merge_control, lm_merge_particle_sums, lm_merge_grid_sums, lm_merge_limits, lm_merge_rates, lm_merge_least,
    lm_merge_force;

#endif
