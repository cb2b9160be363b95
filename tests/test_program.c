/* Programs: their values against muParser, their functions against those of the host, errors, and what they consist of.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary_host.h"
#include "larmor/physics/numerics/hash.h"
#include "program_case.h"
#include "suite.h"

/* --- values against muParser --- */

static void assert_same(const char *text)
{
    const struct lm_program p = compiled(text, EVERYTHING);
    struct lm_parser m;
    ck_assert_msg(!lm_parser_open(&m, names, text, EVERYTHING), "%s: %s", text, lm_error());
    for (size_t k = 0; k < COUNT(program_points); k++) {
        const double want = muparser_value(&m, program_points[k]), got = value_of(&p, program_points[k]);
        ck_assert_msg(same(got, want), "%s at point %zu: %.17g, muParser %.17g", text, k, got, want);
    }
    lm_parser_close(&m);
}

START_TEST(test_language)
{
    assert_same(program_texts[_i]);
}
END_TEST

/* muParser's ^ is that of the C library. */
START_TEST(test_powers)
{
    const struct lm_program square = compiled("x^2", EVERYTHING), cube = compiled("x^3", EVERYTHING),
                            fourth = compiled("x^(2+2)", EVERYTHING), any = compiled("x^y", EVERYTHING),
                            called = compiled("pow(x, 3)", EVERYTHING), first = compiled("x^1", EVERYTHING);
    for (int k = 0; k < 2000; k++) {
        const double x = -4.0 + 0.00404 * k, v[LM_PROGRAM_VARIABLES] = {x, 0.37 * (k % 41) - 3.0};
        ck_assert_double_eq(value_of(&first, v), x);
        ck_assert_double_eq(value_of(&square, v), x * x);
        ck_assert_double_eq(value_of(&cube, v), x * x * x);
        ck_assert_double_eq(value_of(&fourth, v), x * x * x * x);
        ck_assert_double_eq(value_of(&called, v), lm_host_pow(x, 3.0));
        ck_assert(same(value_of(&any, v), lm_host_pow(x, v[LM_VAR_Y])));
        const double want = pow(x, v[LM_VAR_Y]);
        ck_assert(isnan(want) ? isnan(value_of(&any, v)) : fabs(value_of(&any, v) / want - 1.0) < 1e-15);
    }
}
END_TEST

/* muParser takes a constant between -1 and 1 for false where && or || has two constants. */
START_TEST(test_true)
{
    static const char *const text[] = {"0.5 && 0.25", "0.5 || 0", "0.5 && x", "k*0.1 && 3", "0.5 ? 1 : 0"};
    const double v[LM_PROGRAM_VARIABLES] = {0.125};
    for (size_t n = 0; n < COUNT(text); n++) {
        const struct lm_program p = compiled(text[n], EVERYTHING);
        ck_assert_msg(value_of(&p, v) == 1.0, "%s", text[n]);
    }
}
END_TEST

/* --- functions against those of the host --- */

static const struct {
    const char *name;
    double (*host)(double);
} functions[] = {
    {"sin", lm_host_sin},
    {"cos", lm_host_cos},
    {"tan", lm_host_tan},
    {"asin", lm_host_asin},
    {"acos", lm_host_acos},
    {"atan", lm_host_atan},
    {"sinh", lm_host_sinh},
    {"cosh", lm_host_cosh},
    {"tanh", lm_host_tanh},
    {"asinh", lm_host_asinh},
    {"acosh", lm_host_acosh},
    {"atanh", lm_host_atanh},
    {"exp", lm_host_exp},
    {"ln", lm_host_log},
    {"log", lm_host_log},
    {"log2", lm_host_log2},
    {"log10", lm_host_log10},
    {"sqrt", sqrt},
    {"abs", fabs},
    {NULL, NULL},
};

/* Numbers of every size, numbers around 1, small whole numbers, and any bits at all. */
static double draw_argument(uint64_t k)
{
    const double u = (double)(lm_mix(2 * k) >> 11) * 0x1p-53;
    switch (k % 4) {
    case 0:
        return (k & 4 ? 1.0 : -1.0) * exp(1400.0 * (u - 0.5));
    case 1:
        return 6.0 * (u - 0.5);
    case 2:
        return floor(80.0 * (u - 0.5));
    default:
        return lm_from_bits(lm_mix(2 * k));
    }
}

enum { ARGUMENTS = SANITIZED ? 20000 : 200000 };

START_TEST(test_functions)
{
    for (int f = 0; functions[f].name; f++) {
        char text[32];
        snprintf(text, sizeof text, "%s(x)", functions[f].name);
        const struct lm_program p = compiled(text, 1 << LM_VAR_X);
        for (uint64_t k = 0; k < ARGUMENTS; k++) {
            const double v[LM_PROGRAM_VARIABLES] = {draw_argument(k)};
            if (!same(value_of(&p, v), functions[f].host(v[0])))
                ck_abort_msg("%s(%a)", functions[f].name, v[0]);
        }
    }
    const struct lm_program angle = compiled("atan2(x, y)", EVERYTHING), power = compiled("pow(x, y)", EVERYTHING),
                            sign_of_power = compiled("x^y", EVERYTHING);
    for (uint64_t k = 0; k < ARGUMENTS; k++) {
        const double v[LM_PROGRAM_VARIABLES] = {draw_argument(k), draw_argument(k / 16)};
        const double host = lm_host_pow(v[0], v[1]);
        if (!same(value_of(&angle, v), lm_host_atan2(v[0], v[1])))
            ck_abort_msg("atan2(%a, %a)", v[0], v[1]);
        if (!same(value_of(&power, v), host) || !same(value_of(&sign_of_power, v), host))
            ck_abort_msg("pow(%a, %a)", v[0], v[1]);
    }
}
END_TEST

/* The sign of 0/0 differs between processors. */
START_TEST(test_one_nan)
{
    static const char *const text[] = {"0/0", "-(0/0)", "x/x", "-(x/x)", "sqrt(x - 1)", "pow(0/0, 3)"};
    const double v[LM_PROGRAM_VARIABLES] = {0};
    for (size_t k = 0; k < COUNT(text); k++) {
        const struct lm_program p = compiled(text[k], EVERYTHING);
        ck_assert_msg(lm_bits(value_of(&p, v)) == lm_bits(lm_nan()), "%s", text[k]);
    }
}
END_TEST

/* --- errors --- */

enum { PLACE = 1 << LM_VAR_X | 1 << LM_VAR_Y, TIME = 1 << LM_VAR_T, DENSITY = 1 << LM_VAR_N };

static const struct {
    const char *text;
    int allowed;
    const char *expected;
} errors[] = {
    {"foo*2", EVERYTHING, "unknown name \"foo\" in \"foo*2\""},
    {"1+sqt(2)", EVERYTHING, "did you mean sqrt?"},
    {"vx", EVERYTHING, "unknown name \"vx\""},
    {"x + 1", 0, "x cannot be used in a number or a constant: \"x + 1\""},
    {"x + t", TIME, "x cannot be used here, where only t can: \"x + t\""},
    {"t", PLACE, "t cannot be used here, where only x and y can: \"t\""},
    {"n*J", PLACE | TIME | DENSITY, "J cannot be used here, where only x, y, t and n can: \"n*J\""},
    {"n", PLACE | TIME, "unknown name \"n\""},
    {"wave", PLACE, "wave depends on t, which cannot be used here, where only x and y can: \"wave\""},
    {"photo*t", EVERYTHING,
     "photo comes from a file or a spectrum of waves and cannot be used in an expression that is evaluated at every "
     "step: \"photo*t\""},
    {"uses_photo + 1", EVERYTHING, "photo comes from a file or a spectrum of waves"},
    {"x = 3", EVERYTHING, "assignment"},
    {"(1", EVERYTHING, "ends too early"},
    {"sin 1", EVERYTHING, "function sin needs its arguments in parentheses"},
    {"layer", EVERYTHING, "function layer needs its arguments in parentheses"},
    {"layer(1)", EVERYTHING, "too few arguments"},
    {"sin(1, 2)", EVERYTHING, "too many arguments"},
    {"min()", EVERYTHING, "too few arguments"},
    {"3 4", EVERYTHING, "cannot read"},
    {"1 ? 2", EVERYTHING, "cannot read"},
    {"1, 2", EVERYTHING, "one value expected, not a list"},
    {" ", EVERYTHING, "empty expression"},
    {"'a'", EVERYTHING, "quotes"},
    {"twice7(x)", EVERYTHING, "an expression of at most 256 operations is expected: \"twice7(x)\""},
    {"folded16(1)", EVERYTHING, "an expression of at most 256 operations is expected"},
};

static void define(const char *signature, const char *text)
{
    ck_assert_msg(!lm_names_define_function(names, signature, text), "%s: %s", signature, lm_error());
}

START_TEST(test_errors)
{
    define("uses_photo", "photo*2");
    define("twice0(u)", "sin(u)*x");
    define("folded0", "sin(1)");
    for (int k = 1; k <= 16; k++) {
        char signature[32], text[64];
        snprintf(signature, sizeof signature, "twice%d(u)", k);
        snprintf(text, sizeof text, "twice%d(u) + twice%d(u + 1)", k - 1, k - 1);
        if (k <= 7)
            define(signature, text);
        snprintf(signature, sizeof signature, "folded%d%s", k, k == 16 ? "(u)" : "");
        snprintf(text, sizeof text, "folded%d + folded%d", k - 1, k - 1);
        define(signature, text);
    }
    struct lm_program p = compiled("x + t", EVERYTHING);
    ck_assert_msg(lm_program_compile(names, errors[_i].text, (unsigned)errors[_i].allowed, &p) == LM_BAD_INPUT,
                  "accepted: %s", errors[_i].text);
    ck_assert_msg(strstr(lm_error(), errors[_i].expected) != NULL, "%s: \"%s\"", errors[_i].text, lm_error());
    ck_assert_int_eq(p.length, 0);
    ck_assert_int_eq(p.uses, 0);
}
END_TEST

/* `count` times `open`, x, and as many times `close`. */
static const char *nest(int count, const char *open, const char *close)
{
    static char text[LM_MAX_TEXT];
    text[0] = 0;
    for (int k = 0; k < count; k++)
        strcat(text, open);
    strcat(text, "x");
    for (int k = 0; k < count; k++)
        strcat(text, close);
    return text;
}

/* The limits themselves are allowed. */
START_TEST(test_limits)
{
    struct lm_program p;
    const double v[LM_PROGRAM_VARIABLES] = {1.5};
    p = compiled(nest(LM_PROGRAM_STACK - 1, "1+(", ")"), EVERYTHING);
    ck_assert_double_eq(value_of(&p, v), LM_PROGRAM_STACK + 0.5);
    p = compiled(nest(199, "(", ")"), EVERYTHING);
    ck_assert_double_eq(value_of(&p, v), 1.5);
    p = compiled(nest(LM_PROGRAM_LENGTH / 2 - 1, "", "+2"), EVERYTHING);
    ck_assert_int_eq(p.length, LM_PROGRAM_LENGTH - 1);
    ck_assert_double_eq(value_of(&p, v), LM_PROGRAM_LENGTH - 0.5);
    static const struct {
        int count;
        const char *open, *close, *expected;
    } beyond[] = {
        {LM_PROGRAM_STACK, "1+(", ")", "parentheses and functions are nested too deeply in \"1+(1+("},
        {200, "(", ")", "nested too deeply"},
        {LM_PROGRAM_LENGTH / 2, "", "+2", "at most 256 operations"},
    };
    for (size_t k = 0; k < COUNT(beyond); k++) {
        const char *text = nest(beyond[k].count, beyond[k].open, beyond[k].close);
        ck_assert_int_eq(lm_program_compile(names, text, EVERYTHING, &p), LM_BAD_INPUT);
        ck_assert_msg(strstr(lm_error(), beyond[k].expected) != NULL, "%s", lm_error());
    }
}
END_TEST

/* --- what programs consist of --- */

static const struct {
    const char *text;
    int uses, length;
} sizes[] = {
    {"0", 0, 1},
    {"2*pi + sin(1)^2 - keV", 0, 1},
    {"k > 0 ? 1 : 2", 0, 1},
    {"four(1, 2, three, layer(2, 3))", 0, 1},
    {"x", 1 << LM_VAR_X, 1},
    {"id(id(x))", 1 << LM_VAR_X, 1},
    {"wave + y", 1 << LM_VAR_X | 1 << LM_VAR_Y | 1 << LM_VAR_T, 8},
    {"n + Te*J - B", LM_USES_PLASMA, 7},
    {"k > 0 ? x : t", 1 << LM_VAR_X, 1},
    {"k < 0 ? x : t*t", 1 << LM_VAR_T, 3},
    {"unused(x, y)", 0, 1},
    {"unused(x, y*y)", 1 << LM_VAR_Y, 5},
    {"y^2", 1 << LM_VAR_Y, 2},
    {"with_units(Te)", 1 << LM_VAR_X | 1 << LM_VAR_TE, 7},
};

START_TEST(test_sizes)
{
    const struct lm_program p = compiled(sizes[_i].text, EVERYTHING);
    ck_assert_int_eq(p.uses, sizes[_i].uses);
    ck_assert_int_eq(p.length, sizes[_i].length);
}
END_TEST

/* A name of the configuration has its own meaning where the variable of that name is not allowed. */
START_TEST(test_hidden_names)
{
    const double v[LM_PROGRAM_VARIABLES] = {2.0, 0, 0, 0, 5.0, 0, 6.0};
    const struct lm_program variables = compiled("Te + B", EVERYTHING), own = compiled("Te + B", PLACE);
    ck_assert_double_eq(value_of(&variables, v), 5.0 + 6.0);
    ck_assert_double_eq(value_of(&own, v), 11.0 + (2.0 - 7.0));
    ck_assert_int_eq(own.uses, 1 << LM_VAR_X);
    const struct lm_program nothing = {.length = 0};
    ck_assert_double_eq(value_of(&nothing, v), 0.0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("program");
    TCase *tc = tcase_create("program");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_language, 0, COUNT(program_texts));
    tcase_add_test(tc, test_powers);
    tcase_add_test(tc, test_true);
    tcase_add_test(tc, test_functions);
    tcase_add_test(tc, test_one_nan);
    tcase_add_loop_test(tc, test_errors, 0, COUNT(errors));
    tcase_add_test(tc, test_limits);
    tcase_add_loop_test(tc, test_sizes, 0, COUNT(sizes));
    tcase_add_test(tc, test_hidden_names);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
