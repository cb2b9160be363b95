/* lm_control of all ranks. Only the entries of species and background fields that there are go from rank to rank: the
 * whole struct has 16 KB. Two ranks of one machine take 32 us to reduce as much, and 5 us for 1 KB (one species). */
#include <stddef.h>
#include <string.h>

#include "distributed/parts.h"

/* An array of lm_control: where it is, and the size of an entry. */
struct entries {
    size_t offset, size;
};

#define VALUE(name)                                                                                                    \
    {                                                                                                                  \
        offsetof(struct lm_control, name), sizeof(((struct lm_control *)NULL)->name)                                   \
    }
#define ENTRIES(name)                                                                                                  \
    {                                                                                                                  \
        offsetof(struct lm_control, name), sizeof(((struct lm_control *)NULL)->name[0])                                \
    }
enum { VALUES = 9, PER_SPECIES = 9 };
static const struct entries values[VALUES] = {VALUE(push_e), VALUE(push_pressure), VALUE(frequency),
                                              VALUE(eta),    VALUE(floored),       VALUE(voids),
                                              VALUE(side),   VALUE(heat),          VALUE(through_surfaces)};
static const struct entries per_species[PER_SPECIES] = {
    ENTRIES(speed2),   ENTRIES(friction_e), ENTRIES(strays),    ENTRIES(charge_quanta), ENTRIES(lost),
    ENTRIES(injected), ENTRIES(to_gas),     ENTRIES(exchanged), ENTRIES(to_electrons)};
static const struct entries per_background = ENTRIES(background);

enum way { TO_MESSAGE, FROM_MESSAGE };

static void copy(const struct entries *e, int count, struct lm_control *c, struct lm_control_message *m, enum way way)
{
    const size_t size = (size_t)count * e->size;
    char *const own = (char *)c + e->offset, *const sent = m->data + m->used;
    memcpy(way == TO_MESSAGE ? sent : own, way == TO_MESSAGE ? own : sent, size);
    m->used += size;
}

static void copy_all(struct lm_control *c, struct lm_control_message *m, enum way way)
{
    m->used = 0;
    for (int k = 0; k < VALUES; k++)
        copy(&values[k], 1, c, m, way);
    for (int k = 0; k < PER_SPECIES; k++)
        copy(&per_species[k], m->species, c, m, way);
    copy(&per_background, m->backgrounds, c, m, way);
}

void lm_pack_control(struct lm_control *c, struct lm_control_message *m)
{
    copy_all(c, m, TO_MESSAGE);
}

void lm_unpack_control(struct lm_control_message *m, struct lm_control *c)
{
    *c = (struct lm_control){.floored = 0};
    copy_all(c, m, FROM_MESSAGE);
}

static size_t size_of(const struct lm_control_message *m)
{
    return offsetof(struct lm_control_message, data) + m->used;
}

static void merge(void *to, const void *from)
{
    struct lm_control a, b;
    struct lm_control_message other; /* MPI gives no more memory than what is used */
    memcpy(&other, from, size_of(from));
    lm_unpack_control(to, &a);
    lm_unpack_control(&other, &b);
    lm_merge_control(&a, &b);
    lm_pack_control(&a, to);
}

void lm_reduce_control(struct lm_control *c, int species, int backgrounds)
{
    struct lm_control_message m = {.species = species, .backgrounds = backgrounds};
    lm_pack_control(c, &m);
    lm_ranks_reduce(&m, size_of(&m), merge);
    lm_unpack_control(&m, c);
}
