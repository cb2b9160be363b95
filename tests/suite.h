/* What every test program needs of Check. */
#ifndef LARMOR_TESTS_SUITE_H
#define LARMOR_TESTS_SUITE_H

#include <check.h>

/* Sanitizers make everything many times slower, and they look for other things than accuracy. Under them a test that
 * takes many steps takes fewer, and `unless_sanitized` leaves out those that only repeat what other tests run through.
 */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* The number of iterations of a test in a loop: 0 under sanitizers. */
static inline int unless_sanitized(int count)
{
    return SANITIZED ? 0 : count;
}

/* Runs the suite; whether anything failed is the exit code. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
