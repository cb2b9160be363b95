/* What tests of programs share: the names of a configuration, expressions that cover the language, and points at which
 * they are evaluated. */
#ifndef LARMOR_TESTS_PROGRAM_CASE_H
#define LARMOR_TESTS_PROGRAM_CASE_H

#include <check.h>
#include <math.h>
#include <string.h>

#include "base/expr_parser.h"
#include "base/program.h"
#include "larmor/base.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum { EVERYTHING = (1 << LM_PROGRAM_VARIABLES) - 1 };

static struct lm_names *names;

static double from_nowhere(const void *data, double x, double y)
{
    (void)data;
    return x + y;
}

static inline void setup(void)
{
    ck_assert_int_eq(lm_names_new(&names), LM_OK);
    ck_assert_int_eq(lm_names_set_constant(names, "k", 0.75), LM_OK);
    ck_assert_int_eq(lm_names_set_constant(names, "Te", 11.0), LM_OK); /* hidden by the variable */
    ck_assert_int_eq(lm_names_set_unit(names, "keV", 3.5), LM_OK);
    ck_assert_int_eq(lm_names_define_sampled(names, "photo", from_nowhere, NULL), LM_OK);
    static const char *const function[][2] = {
        {"id(u)", "u"},
        {"B", "x - 7"}, /* hidden by the variable */
        {"wave", "cos(k*id(x) - t)"},
        {"three", "1 + 2"},
        {"layer(u, w)", "tanh((u - k)/w)"},
        {"four(a, b, c, d)", "a + 10*id(b) + 100*id(c) + 1000*id(d)"},
        {"with_units(keV)", "keV + Te + B"}, /* its argument, the constant and the function */
        {"nested(n, J)", "layer(n*id(n), J + 2) - layer(J, 2)*wave + four(n, J, n - J, three)"},
        {"deep(u)", "nested(u + 1, nested(u, id(u)*2)) + id(id(u))"},
        {"unused(u, v)", "3"},
    };
    for (size_t f = 0; f < COUNT(function); f++)
        ck_assert_msg(!lm_names_define_function(names, function[f][0], function[f][1]), "%s", lm_error());
}

static inline void teardown(void)
{
    lm_names_free(&names);
}

static inline struct lm_program compiled(const char *text, unsigned allowed)
{
    struct lm_program p;
    ck_assert_msg(!lm_program_compile(names, text, allowed, &p), "%s: %s", text, lm_error());
    return p;
}

/* Kept out of line: the body of lm_program_value is long. */
static __attribute__((noinline, unused)) double value_of(const struct lm_program *p,
                                                         const double v[LM_PROGRAM_VARIABLES])
{
    return lm_program_value(p, v);
}

static inline double muparser_value(struct lm_parser *p, const double v[LM_PROGRAM_VARIABLES])
{
    p->x = v[LM_VAR_X];
    p->y = v[LM_VAR_Y];
    p->t = v[LM_VAR_T];
    for (int k = 0; k < 4; k++)
        p->plasma[k] = v[LM_VAR_N + k];
    return lm_parser_value(p);
}

static inline int same(double a, double b)
{
    return lm_bits(a) == lm_bits(b) || (isnan(a) && isnan(b));
}

static const double program_points[][LM_PROGRAM_VARIABLES] = {
    {3.0, 5.0, 0.5, 1.0, 0.25, 2.0, 4.0},     {-1.5, 0.0, 2.0, 0.125, 1.0, 0.0, 1.0},
    {0.3, -0.7, 11.0, 7.5, 0.1, 3.3, 0.01},   {0.0, -0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
    {1e300, -1e-300, 1e9, 40.0, 1e5, 0.5, 2}, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0},
};

/* The variables stand in id(): muParser would compute with them in another order. Small powers of these numbers are
 * exact in both. */
static const char *const program_texts[] = {
    "-2^2",
    "2^-1",
    "2^3^2",
    "-2^-2",
    "2^-2^2",
    "2*-3",
    "2--3",
    "- 2",
    "+3",
    "2+-3",
    "8/-2*3",
    "8/-2/2",
    "2^-2*3",
    "-id(x)^2",
    "2^-id(three)",
    "2*-id(x)^2",
    "-id(x)/id(y)*2",
    "2*-id(x)*id(y)",
    "id(y)--id(x)*id(y)",
    "-id(x)*id(y)+1",
    "-(-3)",
    "-(2)^2",
    "10-2-3",
    "100/10/2",
    "1+2*3-4/8",
    "2/3*4",
    "2*3/4",
    "4.0^-3.0",
    "2^+2",
    "1<2==1",
    "2==2<1",
    "3==3>0",
    "1 < 2 < 3",
    "3>2>1",
    "1<-2+4",
    "-id(x)<id(y)",
    "1<=1",
    "2>=3",
    "1!=2",
    "0.0==-0.0",
    "1&&0||1",
    "1||1&&0",
    "3&&2",
    "(0/0)&&1",
    "0||0/0",
    "-1&&0",
    "id(x)>0&&id(y)>0||id(t)>1",
    "1&&-1",
    "id(x)||0",
    "1?2:3?4:5",
    "0?2:0?4:5",
    "0?2:3?4:5",
    "1?0?5:6:7",
    "1?2:3+4",
    "1+1?2:3",
    "(1?2:3)+1",
    "2^(1?2:3)",
    "(0/0)?1:2",
    "-1?2:3",
    "2>1?3:4>1",
    "1?2:3?4:5+1",
    "0||0?1:2",
    "0?1:1||0",
    "id(x)>0?id(y):-id(y)",
    "id(x)>0?id(y)>0?1:2:id(y)>0?3:4",
    "id(x)?1:id(y)?2:3",
    "id(x)>0?1/id(x):0",
    "(id(x)>0)*(id(y)<0)+2",
    "1e-3",
    ".5",
    "5.",
    "1.e2",
    "1E+2",
    "1e5*3.25e-7",
    "pi",
    "k*keV",
    " 1 +\t2 ",
    "sin(id(x))",
    "cos(id(x))",
    "tan(id(x))",
    "asin(id(n))",
    "acos(id(n))",
    "atan(id(x))",
    "sinh(id(x))",
    "cosh(id(x))",
    "tanh(id(x))",
    "asinh(id(x))",
    "acosh(id(n))",
    "atanh(id(n))",
    "exp(id(x))",
    "ln(id(n))",
    "log(id(n))",
    "log2(id(n))",
    "log10(id(n))",
    "sqrt(id(x))",
    "abs(id(y))",
    "sign(id(y))",
    "rint(id(x))",
    "rint(id(x)+id(y))",
    "atan2(id(x), id(y))",
    "pow(id(x),id(n))",
    "pow(id(x),2)",
    "pow(id(n),0.3)",
    "min(id(x))",
    "max(id(y))",
    "min(id(x),id(y))",
    "min(id(x), id(y), id(t))",
    "max(id(x),id(y),id(t),-id(x))",
    "sum(id(y))",
    "sum(id(x),id(y),1)",
    "avg(id(y))",
    "avg(id(x),id(y),id(t))",
    "max(1,2,3)+min(4,5)",
    "min(0/0,1)",
    "max(1,0/0)",
    "id(x)+id(y)*id(t)-id(n)/id(Te)+id(J)*id(B)",
    "wave",
    "three",
    "three*wave",
    "id(id(id(x)))",
    "layer(id(x), id(n))",
    "layer(2,3)",
    "layer(id(x)+1, id(y)*id(y)+id(1))",
    "layer(layer(id(x),1),layer(id(y),2))",
    "four(id(x),id(y),id(t),id(n))",
    "four(id(x)*id(y),1,id(t)*id(t),2)",
    "with_units(id(Te))",
    "with_units(3)",
    "nested(id(x),id(y))",
    "nested(id(x)+id(y),id(J)*id(B))",
    "deep(id(n))",
    "deep(id(n)+id(J))",
    "unused(id(x),id(y))",
    "unused(id(x)+1,id(y)*id(x))*2+id(x)",
    "1+layer(id(x)*id(y)+1,2)*layer(3*id(x),id(n)+1)",
};

#endif
