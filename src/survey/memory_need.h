/* The memory that a run needs, by what it is for, against what there is. */
#ifndef LARMOR_SURVEY_MEMORY_NEED_H
#define LARMOR_SURVEY_MEMORY_NEED_H

#include "larmor/config.h"
#include "base/memory.h"

enum lm_need_part {
    LM_NEED_PARTICLES,
    LM_NEED_GRID,  /* arrays of the fields, moments, tiles and bodies */
    LM_NEED_START, /* profiles until the particles are loaded, or what outputs take: not both at once */
    LM_NEED_MAPS,  /* of where particles hit */
    LM_NEED_REST,  /* the program, and pieces of particles on the way to a file */
    LM_NEED_PARTS
};
extern const char *const lm_need_names[LM_NEED_PARTS];

struct lm_need {
    int kind;                     /* a resolved kind of backend */
    double host[LM_NEED_PARTS];   /* bytes */
    double device[LM_NEED_PARTS]; /* of the GPU; all 0 without one */
    struct lm_memory has_host, has_device;
};

/* `mask`: of the bodies, as in struct lm_bodies, or NULL: maps of bodies do not count then. */
void lm_need_find(const struct lm_config *config, int kind, const uint8_t *mask, const uint64_t counts[LM_MAX_SPECIES],
                  struct lm_need *out);
double lm_need_sum(const double parts[LM_NEED_PARTS]);

/* LM_BAD_INPUT: it does not fit; the message says need, parts, what there is and what to do. */
int lm_need_check(const struct lm_config *config, const struct lm_need *need);

#endif
