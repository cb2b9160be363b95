/* run.json: what ran where, how fast, and the fingerprint of the final state. */
#ifndef LARMOR_RUN_SUMMARY_H
#define LARMOR_RUN_SUMMARY_H

#include <jansson.h>
#include <stdint.h>

struct lm_run_state;

struct lm_summary {
    uint64_t fingerprint;
    double rate, drift; /* particle-steps a second; of the energy, relative */
    char device[256];
    json_t *json; /* owned; NULL: there is no summary */
};

/* Of the state as it stands; what `out` held before is freed. LM_FAILED: a fault of the device, or no memory. */
int lm_summary_collect(const struct lm_run_state *r, struct lm_summary *out);

/* Writes run.json, with the reason for the end in r->ended, and on stderr, unless that is to be quiet, a line. */
int lm_summary_write(const struct lm_run_state *r, const struct lm_summary *s);

void lm_summary_free(struct lm_summary *s);

#endif
