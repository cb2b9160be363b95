/* The end of every test program: runs the suite, and whether anything failed is the exit code. */
#ifndef LARMOR_TESTS_SUITE_H
#define LARMOR_TESTS_SUITE_H

#include <check.h>

static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
