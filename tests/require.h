/* Assertions for inner loops. The assertions of Check write to a pipe each time that they pass, which is slow. */
#ifndef LARMOR_TESTS_REQUIRE_H
#define LARMOR_TESTS_REQUIRE_H

#include <check.h>
#include <math.h>

#define require(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("%s", #condition);                                                                            \
    } while (0)

#define require_near(a, b, tolerance)                                                                                  \
    do {                                                                                                               \
        double a_ = (a), b_ = (b);                                                                                     \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                                           \
            ck_abort_msg("%s is %.17g; %s is %.17g: off by %.3g", #a, a_, #b, b_, a_ - b_);                            \
    } while (0)

#endif
