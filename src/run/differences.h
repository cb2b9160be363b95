/* Compares the settings in a checkpoint with those of the run that restarts from it, key by key as resolved. */
#ifndef LARMOR_RUN_DIFFERENCES_H
#define LARMOR_RUN_DIFFERENCES_H

#include <jansson.h>
#include <stdio.h>

#include "checkpoint/checkpoint.h"
#include "larmor/config.h"

enum { LM_DIFFERENCE_KEY = 112, LM_DIFFERENCE_VALUE = LM_MAX_TEXT };

struct lm_difference {
    char key[LM_DIFFERENCE_KEY]; /* "fields.eta"; "[species.alphas]" of a whole section */
    char there[LM_DIFFERENCE_VALUE], here[LM_DIFFERENCE_VALUE]; /* in the checkpoint, in the run; or "not given" */
    const char *remark;                                         /* what the difference means, or NULL */
    int fixed;                                                  /* 1: the run must have the value of the checkpoint */
};

struct lm_differences {
    int count;
    struct lm_difference *list; /* in the order of the keys */
    int64_t series_every;       /* of the run that wrote the checkpoint; 0: it had no series */
};

/* Verifies the checkpoint `path`, reads its head and compares `config` with the settings in it. In `config`, sides of
 * which the file of the run leaves to the flow what they do to fields become what they are there (boundary_by_flow).
 * Keys that a state does not depend on (where the run ends, how it is computed, [output]) are left out. LM_BAD_INPUT:
 * the checkpoint cannot be used (checkpoint/checkpoint.h), or a key differs that must not; the message has all of those
 * with both values. LM_FAILED: no memory. Free in either case. */
int lm_differences_read(struct lm_config *config, const char *path, struct lm_checkpoint *head,
                        struct lm_differences *out);

/* Compares `config` with run.ini of its output directory in the same way. LM_BAD_INPUT: it is not there, or cannot be
 * read. */
int lm_differences_of_run(const struct lm_config *config, struct lm_differences *out);
void lm_differences_free(struct lm_differences *differences);

/* 1 when a difference may give the plasma energy or take it, or change what is known of that. Those with a remark do
 * not. */
int lm_differences_matter(const struct lm_differences *differences);

/* Prints a heading and one line for each difference; nothing where there are none. */
void lm_differences_print(const struct lm_differences *differences, const char *path, FILE *out);

/* For run.json: the checkpoint and the keys with both values; null without a checkpoint. The caller owns it. */
json_t *lm_differences_json(const struct lm_differences *differences, const char *path);

#endif
