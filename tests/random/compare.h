/* Runs a configuration in several ways, which must all give the same result. The first way is the reference, one
 * thread of the CPU. Every other way is compared with it: after every step the fingerprint and the row of the time
 * series; the step and the message where it stops; and at the end the ledgers, the maps of hits and the arrays that
 * only outputs contain. */
#ifndef LARMOR_TESTS_RANDOM_COMPARE_H
#define LARMOR_TESTS_RANDOM_COMPARE_H

#include "draft.h"
#include "../inside.h"

enum compare_verdict {
    COMPARE_SAME,
    COMPARE_DIFFERENT, /* or a ledger that does not close */
    COMPARE_REFUSED,   /* not a configuration that a step can be taken with */
    COMPARE_BROKEN     /* the comparison could not be made: no memory, no disk */
};

/* How a way runs the steps. Restarts go through checkpoints, from the machine `before` to the one `after`. */
enum compare_kind {
    COMPARE_PLAIN,
    COMPARE_RESTART, /* at a step that depends on the case */
    COMPARE_EACH,    /* after each of the first steps, later after every fourth; to and fro */
    COMPARE_ECHO,    /* with the configuration that has been written as run.ini and read back */
    COMPARE_SERIES   /* lm_run to the end, then again from a checkpoint in the middle: the files of the time series */
};

struct compare_machine {
    int backend, threads, tile; /* of the same members of struct lm_config */
    int64_t sort_every;
    int ranks;
    int disturbed; /* the domain is divided anew at each sort */
};

struct compare_way {
    const char *name;
    enum compare_kind kind;
    struct compare_machine before, after;
};
extern const struct compare_way compare_ways[];
extern const int compare_way_count;

struct compare_result {
    enum compare_verdict verdict;
    char way[32];     /* the first way that differs */
    int64_t step;     /* the first one that differs; -1: not known */
    char what[4096];  /* a description in words, some lines long */
    int64_t steps;    /* that the reference has taken */
    int has_stopped;  /* the reference stopped before the end */
    int way_count;    /* that have been compared */
    char others[512]; /* names of the other ways that differ */
};

/* Whether a way can be run here; some need a GPU, some many ranks. Starts CUDA. */
int compare_can(const struct compare_way *way);

/* `ways`: names separated by commas; those whose names begin so are run, "all": each that can be. `directory`: an
 * existing one for files. With `first_only` it ends at the first way that differs. */
void compare_draft(const struct draft *d, const char *directory, const char *ways, int first_only,
                   struct compare_result *out);

/* Whether a configuration can be read and started on the CPU: COMPARE_SAME, COMPARE_REFUSED or COMPARE_BROKEN. */
enum compare_verdict compare_try(const struct draft *d, const char *directory);

#endif
