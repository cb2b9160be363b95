/* Particles between rank 0 and the parts, and from one part to another. */
#include <stdlib.h>
#include <string.h>

#include "distributed/parts.h"
#include "ranks/ranks.h"

size_t lm_real_size(const struct lm_distributed *d)
{
    return d->precision == LM_SINGLE ? sizeof(float) : sizeof(double);
}

static int fraction_bits(const struct lm_distributed *d)
{
    return d->precision == LM_SINGLE ? 24 : 48;
}

static __attribute__((noreturn)) void no_memory(void)
{
    lm_ranks_abort(LM_FAILED, "not enough memory for particles that go from one rank to another");
}

/* The bytes of `count` particles in one piece of memory, and where each column is in it. */
size_t lm_particle_bytes(const struct lm_distributed *d, uint64_t count)
{
    return count * (2 * sizeof(int64_t) + 3 * lm_real_size(d));
}

static struct lm_raw_particles columns_of(const struct lm_distributed *d, void *memory, uint64_t count)
{
    int64_t *x = memory;
    char *v = (char *)(x + 2 * count);
    return (struct lm_raw_particles){x, x + count, v, v + count * lm_real_size(d), v + 2 * count * lm_real_size(d)};
}

static void copy_one(const struct lm_distributed *d, const struct lm_raw_particles *to, uint64_t n,
                     const struct lm_raw_particles *from, uint64_t k)
{
    const size_t size = lm_real_size(d);
    to->x[n] = from->x[k];
    to->y[n] = from->y[k];
    memcpy((char *)to->vx + n * size, (const char *)from->vx + k * size, size);
    memcpy((char *)to->vy + n * size, (const char *)from->vy + k * size, size);
    memcpy((char *)to->vz + n * size, (const char *)from->vz + k * size, size);
}

static int cell_of(const struct lm_distributed *d, int64_t position)
{
    return (int)(position >> fraction_bits(d));
}

static int64_t with_cell(const struct lm_distributed *d, int64_t position, int cell)
{
    const int bits = fraction_bits(d);
    return (int64_t)cell << bits | (position & (((int64_t)1 << bits) - 1));
}

void lm_to_domain(const struct lm_distributed *d, const struct lm_raw_particles *p, uint64_t count)
{
    const struct lm_place *place = &d->halo.grid.place;
    for (uint64_t k = 0; k < count; k++) {
        p->x[k] = with_cell(d, p->x[k], lm_domain_x(place, cell_of(d, p->x[k])));
        p->y[k] = with_cell(d, p->y[k], lm_domain_y(place, cell_of(d, p->y[k])));
    }
}

struct lm_raw_particles lm_new_particles(const struct lm_distributed *d, uint64_t count)
{
    void *memory = malloc(lm_particle_bytes(d, count + 1));
    if (!memory)
        no_memory();
    return columns_of(d, memory, count);
}

/* Positions in own cells of the domain become positions relative to the arrays. */
static void to_part(const struct lm_distributed *d, const struct lm_raw_particles *p, uint64_t k)
{
    const struct lm_cells *own = &d->partition.own[lm_rank()], *here = &d->halo.grid.own;
    p->x[k] = with_cell(d, p->x[k], cell_of(d, p->x[k]) - own->from_x + here->from_x);
    p->y[k] = with_cell(d, p->y[k], cell_of(d, p->y[k]) - own->from_y + here->from_y);
}

static int owner_of(const struct lm_distributed *d, const struct lm_raw_particles *p, uint64_t k)
{
    return lm_partition_owner(&d->partition, cell_of(d, p->x[k]), cell_of(d, p->y[k]));
}

/* --- loading --- */

enum { PROFILES = 10 };

static void list_profiles(struct lm_loading *l, const double **list[PROFILES])
{
    int n = 0;
    list[n++] = &l->density.array;
    for (int c = 0; c < 3; c++) {
        list[n++] = &l->drift[c].array;
        list[n++] = &l->temperature[c].array;
        list[n++] = &l->b[c];
    }
}

int lm_load_parts(struct lm_distributed *d, const struct lm_order *o, const struct lm_loading *whole)
{
    struct lm_loading part = o->loading, all = whole ? *whole : o->loading;
    const double **to[PROFILES], **from[PROFILES];
    const size_t size = d->halo.grid.size;
    double *store = malloc(PROFILES * size * sizeof *store);
    if (!store)
        no_memory();
    list_profiles(&part, to);
    list_profiles(&all, from);
    for (int k = 0; k < PROFILES; k++)
        if (*to[k]) {
            *to[k] = store + (size_t)k * size;
            lm_scatter_array(d, *from[k], store + (size_t)k * size);
        }
    const int status = lm_agree(d->part->particles->load(d->part, o->species, &part, &d->present[o->species]));
    free(store);
    d->result.number = status ? 0 : (uint64_t)lm_ranks_sum((int64_t)d->present[o->species]);
    return status;
}

/* --- from rank to rank --- */

/* The ranks of a list, each once. Returns their number. */
static int peers_of(const struct lm_halo_list *l, int *peers)
{
    int n = 0;
    for (int k = 0; k < l->count; k++)
        if (k == 0 || l->piece[k].peer != l->piece[k - 1].peer)
            peers[n++] = l->piece[k].peer;
    return n;
}

/* What this rank exchanges with one of the ranks that own cells of its arrays, or that hold own cells of it. */
struct traffic {
    int ranks, *peer;
    uint64_t *count;
    void **memory;
};

static struct traffic traffic_with(const struct lm_halo_list *l)
{
    const size_t most = (size_t)l->count + 1;
    struct traffic t = {0, malloc(most * sizeof *t.peer), calloc(most, sizeof *t.count),
                        calloc(most, sizeof *t.memory)};
    if (!t.peer || !t.count || !t.memory)
        no_memory();
    t.ranks = peers_of(l, t.peer);
    return t;
}

/* With the first `ranks` ranks. */
static struct traffic traffic_with_first(int ranks)
{
    const size_t most = (size_t)ranks + 1;
    struct traffic t = {ranks, malloc(most * sizeof *t.peer), calloc(most, sizeof *t.count),
                        calloc(most, sizeof *t.memory)};
    if (!t.peer || !t.count || !t.memory)
        no_memory();
    for (int k = 0; k < t.ranks; k++)
        t.peer[k] = k;
    return t;
}

static void end_traffic(struct traffic *t)
{
    for (int k = 0; k < t->ranks; k++)
        free(t->memory[k]);
    free(t->peer);
    free(t->count);
    free(t->memory);
}

/* Packs the particles that leave, which are in the cells of other ranks: `all`, in the domain. */
static void pack(const struct lm_distributed *d, const struct lm_raw_particles *all, uint64_t count,
                 struct traffic *out)
{
    int *index = malloc((size_t)lm_rank_count() * sizeof *index); /* of a rank among the peers */
    uint64_t *done = calloc((size_t)out->ranks + 1, sizeof *done);
    if (!index || !done)
        no_memory();
    for (int k = 0; k < out->ranks; k++)
        index[out->peer[k]] = k;
    for (uint64_t n = 0; n < count; n++)
        out->count[index[owner_of(d, all, n)]]++;
    for (int k = 0; k < out->ranks; k++)
        if (!(out->memory[k] = malloc(lm_particle_bytes(d, out->count[k] + 1))))
            no_memory();
    for (uint64_t n = 0; n < count; n++) {
        const int k = index[owner_of(d, all, n)];
        const struct lm_raw_particles to = columns_of(d, out->memory[k], out->count[k]);
        copy_one(d, &to, done[k]++, all, n);
    }
    free(index);
    free(done);
}

/* Messages of sizes first, then of particles. */
static void send_and_receive(const struct lm_distributed *d, struct traffic *out, struct traffic *in)
{
    struct lm_message *m = malloc((size_t)(out->ranks + in->ranks + 1) * sizeof *m);
    if (!m)
        no_memory();
    struct lm_message *from = m + out->ranks;
    for (int k = 0; k < out->ranks; k++)
        m[k] = (struct lm_message){out->peer[k], sizeof *out->count, &out->count[k]};
    for (int k = 0; k < in->ranks; k++)
        from[k] = (struct lm_message){in->peer[k], sizeof *in->count, &in->count[k]};
    lm_ranks_exchange(m, out->ranks, from, in->ranks);
    int sent = 0, received = 0;
    struct lm_message *some = malloc((size_t)(out->ranks + in->ranks + 1) * sizeof *some);
    if (!some)
        no_memory();
    for (int k = 0; k < out->ranks; k++)
        if (out->count[k] > 0)
            some[sent++] = (struct lm_message){out->peer[k], lm_particle_bytes(d, out->count[k]), out->memory[k]};
    for (int k = 0; k < in->ranks; k++) {
        if (!(in->memory[k] = malloc(lm_particle_bytes(d, in->count[k] + 1))))
            no_memory();
        if (in->count[k] > 0)
            some[sent + received++] =
                (struct lm_message){in->peer[k], lm_particle_bytes(d, in->count[k]), in->memory[k]};
    }
    lm_ranks_exchange(some, sent, some + sent, received);
    free(some);
    free(m);
}

/* Hands the particles in cells of other ranks to these, and takes theirs: through the memory of the hosts. */
static int migrate_by_hosts(struct lm_distributed *d, int species)
{
    struct lm_raw_particles leaving = {NULL, NULL, NULL, NULL, NULL};
    uint64_t count = 0;
    int status = lm_agree(d->part->particles->emigrate(d->part, species, &count, &leaving));
    struct traffic out = traffic_with(&d->halo.held), in = traffic_with(&d->halo.owned);
    if (!status) {
        lm_to_domain(d, &leaving, count);
        pack(d, &leaving, count, &out);
        send_and_receive(d, &out, &in);
    }
    for (int k = 0; k < in.ranks && !status; k++) {
        const struct lm_raw_particles from = columns_of(d, in.memory[k], in.count[k]);
        for (uint64_t n = 0; n < in.count[k]; n++)
            to_part(d, &from, n);
        if (d->part->particles->immigrate(d->part, species, in.count[k], from)) /* no rank has them any more */
            lm_ranks_abort(LM_FAILED, lm_error());
        d->present[species] += in.count[k];
    }
    d->present[species] -= count;
    end_traffic(&out);
    end_traffic(&in);
    free(leaving.x);
    return lm_agree(status);
}

/* Particles that have come may have taken the slots of those that will enter or be born. */
void lm_reserve_again(struct lm_distributed *d, int species)
{
    if (d->more[species] > 0 && d->part->particles->reserve_more(d->part, species, d->more[species]))
        lm_ranks_abort(LM_FAILED, lm_error());
}

static int migrate(struct lm_distributed *d, int species)
{
    uint64_t gone = 0, come = 0;
    if (!d->part->particles->migrate)
        return migrate_by_hosts(d, species);
    const int status = d->part->particles->migrate(d->part, species, &gone, &come);
    d->present[species] += come - gone;
    return lm_agree(status);
}

int lm_sort_parts(struct lm_distributed *d, int species)
{
    int status = migrate(d, species);
    if (!status)
        status = d->part->particles->sort(d->part, species);
    if (!status)
        lm_reserve_again(d, species);
    return status;
}

/* --- a restart: pieces of a file, first to count, then to place --- */

static void add_arrival(struct lm_distributed *d, struct lm_arrivals *a, const struct lm_raw_particles *from,
                        uint64_t k)
{
    if (a->count == a->capacity) {
        const uint64_t more = a->capacity ? 2 * a->capacity : 4096;
        void *memory = malloc(lm_particle_bytes(d, more));
        if (!memory)
            no_memory();
        const struct lm_raw_particles to = columns_of(d, memory, more);
        for (uint64_t n = 0; n < a->count; n++)
            copy_one(d, &to, n, &a->particles, n);
        free(a->particles.x);
        a->particles = to;
        a->capacity = more;
    }
    copy_one(d, &a->particles, a->count, from, k);
    to_part(d, &a->particles, a->count++);
}

/* Hands the particles that have arrived to the backend. */
static int settle(struct lm_distributed *d, int species)
{
    struct lm_arrivals *a = &d->arrivals[species];
    const struct lm_particle_ops *ops = d->part->particles;
    int status = ops->reserve(d->part, species, a->count);
    for (int phase = LM_COUNT_PARTICLES; phase <= LM_PLACE_PARTICLES && !status; phase++)
        status = ops->put(d->part, species, (enum lm_put_phase)phase, a->count, a->particles);
    d->present[species] = a->count;
    free(a->particles.x);
    *a = (struct lm_arrivals){.count = 0};
    return lm_agree(status);
}

/* Rank 0 hands each particle of a piece to its owner. */
int lm_put_parts(struct lm_distributed *d, const struct lm_order *o)
{
    struct lm_arrivals *a = &d->arrivals[o->species];
    if (o->phase == LM_PLACE_PARTICLES) /* the first piece brings all: they have been kept */
        return o->first ? settle(d, o->species) : LM_OK;
    struct traffic out = traffic_with_first(lm_rank() == 0 ? lm_rank_count() : 0), in = traffic_with_first(1);
    if (lm_rank() == 0)
        pack(d, &d->raw, o->number, &out);
    send_and_receive(d, &out, &in);
    const struct lm_raw_particles piece = columns_of(d, in.memory[0], in.count[0]);
    for (uint64_t k = 0; k < in.count[0]; k++)
        add_arrival(d, a, &piece, k);
    end_traffic(&out);
    end_traffic(&in);
    return LM_OK;
}

/* --- to new owners --- */

uint64_t lm_exchange_particles(struct lm_distributed *d, struct lm_raw_particles *all, uint64_t count)
{
    struct traffic out = traffic_with_first(lm_rank_count()), in = traffic_with_first(lm_rank_count());
    uint64_t total = 0, done = 0;
    pack(d, all, count, &out);
    send_and_receive(d, &out, &in);
    free(all->x);
    for (int k = 0; k < in.ranks; k++)
        total += in.count[k];
    *all = lm_new_particles(d, total);
    for (int k = 0; k < in.ranks; k++) {
        const struct lm_raw_particles from = columns_of(d, in.memory[k], in.count[k]);
        for (uint64_t n = 0; n < in.count[k]; n++, done++) {
            copy_one(d, all, done, &from, n);
            to_part(d, all, done);
        }
    }
    end_traffic(&out);
    end_traffic(&in);
    return total;
}
