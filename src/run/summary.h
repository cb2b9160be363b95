/* run.json: the configuration, the device, the speed, the ledgers and the fingerprint of the final state. */
#ifndef LARMOR_RUN_SUMMARY_H
#define LARMOR_RUN_SUMMARY_H

#include <jansson.h>
#include <stdint.h>

#include "output/energy_budget.h"

struct lm_run_state;

struct lm_summary {
    uint64_t fingerprint;
    double rate, drift; /* particle-steps per second; relative change of the energy */
    struct lm_energy_budget energy;
    char device[256];
    json_t *json; /* owned; NULL: there is no summary */
};

/* Collects the summary of the present state; an earlier summary in `out` is freed. LM_FAILED: a fault of the device, or
 * no memory. */
int lm_summary_collect(const struct lm_run_state *r, struct lm_summary *out);

/* Writes run.json, with r->ended as the reason for the end. Unless the run is quiet, it also prints a line on stderr.
 */
int lm_summary_write(const struct lm_run_state *r, const struct lm_summary *s);

void lm_summary_free(struct lm_summary *s);

#endif
