/* Simulations of the library in the scratch directory. */
#ifndef LARMOR_TESTS_LIBRARY_CASE_H
#define LARMOR_TESTS_LIBRARY_CASE_H

#include "larmor.h"

#include "scratch.h"

typedef struct larmor_simulation simulation;

#define GOOD(call) ck_assert_msg((call) == LARMOR_OK, "%s", larmor_error())

/* The call has this status, and the message has these words. */
#define WRONG(status, words, call)                                                                                     \
    do {                                                                                                               \
        const int wrong_status = (call);                                                                               \
        ck_assert_msg(wrong_status == (status), "status %d instead of %d: %s", wrong_status, (status),                 \
                      larmor_error());                                                                                 \
        ck_assert_msg(strstr(larmor_error(), words) != NULL, "'%s' is missing in: %s", words, larmor_error());         \
    } while (0)

static inline simulation *opened(const char *file, int count, const char *const *overrides)
{
    simulation *sim;
    GOOD(larmor_open(file, count, overrides, &sim));
    return sim;
}

/* small.ini of the scratch directory, whose output goes to `output` there. */
static inline simulation *small(const char *output, const char *more)
{
    char directory[LM_MAX_PATH + 32];
    snprintf(directory, sizeof directory, "output.directory=%s", scratch_path(output));
    const char *overrides[] = {directory, more};
    return opened(scratch_path("small.ini"), more ? 2 : 1, overrides);
}

static inline simulation *begun(const char *output, const char *more)
{
    simulation *sim = small(output, more);
    GOOD(larmor_begin(sim));
    return sim;
}

static inline const char *print_of(simulation *sim)
{
    static char turns[4][32];
    static int turn;
    char *text = turns[turn++ % 4];
    uint64_t print;
    GOOD(larmor_fingerprint(sim, &print));
    snprintf(text, 32, "%016llx", (unsigned long long)print);
    return text;
}

#endif
