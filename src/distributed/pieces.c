/* Particles to rank 0, for files: a piece at a time, those of the ranks one after the other. While rank 0 writes a
 * piece, the ranks that have the next one read it from their backends. */
#include <stdlib.h>

#include "distributed/parts.h"

enum { COLUMNS = 5 };

/* Those particles of a piece that a rank has. */
struct stretch {
    uint64_t first, count; /* of its own */
    uint64_t at;           /* of the first one in the piece */
};

/* `before`: particles of the ranks before the one that has `present`. */
static struct stretch stretch_of(uint64_t begin, uint64_t number, uint64_t before, uint64_t present)
{
    const uint64_t end = begin + number, last = before + present;
    const uint64_t from = begin > before ? begin : before, to = end < last ? end : last;
    return from < to ? (struct stretch){from - before, to - from, from - begin} : (struct stretch){0, 0, 0};
}

/* Reads own particles; positions in the domain. */
static int read(struct lm_distributed *d, int species, uint64_t first, uint64_t count, struct lm_raw_particles to)
{
    const int status = d->part->particles->get(d->part, species, first, count, to);
    if (!status)
        lm_to_domain(d, &to, count);
    return status;
}

static void forget_ahead(struct lm_distributed *d)
{
    free(d->ahead.particles.x);
    d->ahead = (struct lm_read_ahead){.count = 0};
}

void lm_end_reading(struct lm_distributed *d)
{
    forget_ahead(d);
    free(d->array.memory);
    free(d->packed.memory);
    d->array = d->packed = (struct lm_lent){NULL, 0};
}

static int read_ahead(struct lm_distributed *d, int species, const struct stretch *s)
{
    struct lm_read_ahead *a = &d->ahead;
    if (a->species == species && a->first == s->first && a->count == s->count)
        return LM_OK;
    if (s->count > a->capacity) {
        forget_ahead(d);
        a->particles = lm_new_particles(d, s->count);
        a->capacity = s->count;
    }
    a->species = species;
    a->first = s->first;
    a->count = s->count;
    const int status = read(d, species, s->first, s->count, a->particles);
    if (status)
        a->count = 0;
    return status;
}

/* A message for each column of `count` particles from number `first` on. */
static void make_messages(const struct lm_distributed *d, int peer, const struct lm_raw_particles *p, uint64_t first,
                          uint64_t count, struct lm_message m[COLUMNS])
{
    const size_t real = lm_real_size(d);
    void *const columns[COLUMNS] = {p->x, p->y, p->vx, p->vy, p->vz};
    for (int c = 0; c < COLUMNS; c++) {
        const size_t size = c < 2 ? sizeof *p->x : real;
        m[c] = (struct lm_message){peer, count * size, (char *)columns[c] + first * size};
    }
}

/* One stretch of a piece, from its rank to rank 0. */
static int get_stretch(struct lm_distributed *d, int species, int rank, const struct stretch *s)
{
    struct lm_message m[COLUMNS];
    int status = LM_OK;
    if (rank == 0 && lm_rank() == 0) {
        const size_t real = lm_real_size(d) * s->at;
        const struct lm_raw_particles to = {d->raw.x + s->at, d->raw.y + s->at, (char *)d->raw.vx + real,
                                            (char *)d->raw.vy + real, (char *)d->raw.vz + real};
        status = read(d, species, s->first, s->count, to);
    } else if (lm_rank() == rank) {
        status = read_ahead(d, species, s);
        make_messages(d, 0, &d->ahead.particles, 0, s->count, m);
        lm_ranks_exchange(m, COLUMNS, NULL, 0);
    } else if (lm_rank() == 0) {
        make_messages(d, rank, &d->raw, s->at, s->count, m);
        lm_ranks_exchange(NULL, 0, m, COLUMNS);
    }
    return status;
}

int lm_get_parts(struct lm_distributed *d, const struct lm_order *o)
{
    const int ranks = lm_rank_count(), self = lm_rank();
    uint64_t *present = malloc((size_t)ranks * sizeof *present), before = 0, own_before = 0;
    int status = LM_OK;
    if (!present)
        lm_ranks_abort(LM_FAILED, "not enough memory for particles that go to rank 0");
    lm_ranks_gather(d->present[o->species], present);
    for (int rank = 0; rank < ranks; before += present[rank++]) {
        const struct stretch s = stretch_of(o->begin, o->number, before, present[rank]);
        const int failed = s.count > 0 ? get_stretch(d, o->species, rank, &s) : LM_OK;
        status = status ? status : failed;
        own_before += rank < self ? present[rank] : 0;
    }
    status = lm_agree(status);
    const struct stretch next = stretch_of(o->begin + o->number, o->number, own_before, present[self]);
    if (self > 0 && next.count > 0 && !status)
        read_ahead(d, o->species, &next); /* a failure shows when the piece is asked for */
    free(present);
    return status;
}
