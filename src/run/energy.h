/* Whether the energy of a run stays what it should be (src/config/energy.h), and the warnings where it does not. */
#ifndef LARMOR_RUN_ENERGY_H
#define LARMOR_RUN_ENERGY_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "config/energy.h"
#include "output/energy_budget.h"

struct lm_run_state;

struct lm_energy_watch {
    enum lm_energy_judged judged;
    char why[LM_ENERGY_WHY + 64]; /* why not all is judged, or "" */
    double next;                  /* share at which the next warning is due */
    int is_uncertain;             /* the run has said that the budget is more uncertain than the limit */
    char *said;                   /* the warnings so far, owned, a line each; NULL: none */
};

/* What can be judged with this configuration and these references. */
void lm_energy_watch_begin(const struct lm_config *config, const struct lm_references *references,
                           struct lm_energy_watch *out);
void lm_energy_watch_free(struct lm_energy_watch *watch);

/* One line without its end: why the energy is not judged, or only for gains; "" where all is judged. */
void lm_energy_watch_reason(const struct lm_energy_watch *watch, size_t size, char *out);

/* Warns on stderr and in larmor.messages when the share has left run.energy_limit, and each time that it has doubled
 * since the last warning; and once when it is more uncertain than the limit. */
void lm_energy_watch_row(struct lm_run_state *r, double share, double uncertain);

/* 1 when the share is an error beyond `limit`, and by more than it is uncertain. */
int lm_energy_is_beyond(const struct lm_energy_watch *watch, double share, double uncertain, double limit);

/* The last line of a run; and the fact in run.json, owned by the caller. */
void lm_energy_print_end(const struct lm_run_state *r, const struct lm_energy_budget *budget, FILE *out);
json_t *lm_energy_json(const struct lm_run_state *r, const struct lm_energy_budget *budget);

/* Appends the warnings so far to the list of those in run.json. */
void lm_energy_append_warnings(const struct lm_energy_watch *watch, json_t *list);

#endif
