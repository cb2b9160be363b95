/* Expressions: accuracy against the C library, errors, positions, and ghost cells. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "larmor/base.h"
#include "inside.h"
#include "suite.h"

static struct lm_names *names;

static void setup(void)
{
    ck_assert_int_eq(lm_names_new(&names), LM_OK);
}

static void teardown(void)
{
    lm_names_free(&names);
    ck_assert_ptr_null(names);
}

static double value_of(const char *text)
{
    double v = 0.0;
    ck_assert_msg(lm_expr_value(names, text, &v) == LM_OK, "%s: %s", text, lm_error());
    return v;
}

static void assert_fails(const char *text, const char *expected)
{
    double v;
    ck_assert_msg(lm_expr_value(names, text, &v) == LM_BAD_INPUT, "accepted: %s", text);
    ck_assert_msg(strstr(lm_error(), expected) != NULL, "\"%s\": no \"%s\" in \"%s\"", text, expected, lm_error());
}

/* The difference in units in the last place of `want`. */
static double ulps(double got, long double want)
{
    double w = fabs((double)want);
    return (double)(fabsl((long double)got - want) / (long double)(nextafter(w, INFINITY) - w));
}

struct range {
    const char *name;
    long double (*reference)(long double);
    double low, high;
    int both_signs;
};

static const struct range ranges[] = {
    {"sin", sinl, 1e-200, 1e6, 1},       {"cos", cosl, 1e-200, 1e6, 1},       {"tan", tanl, 1e-200, 1e4, 1},
    {"asin", asinl, 1e-200, 1, 1},       {"acos", acosl, 1e-200, 1, 1},       {"atan", atanl, 1e-200, 1e200, 1},
    {"sinh", sinhl, 1e-200, 710, 1},     {"cosh", coshl, 1e-200, 710, 1},     {"tanh", tanhl, 1e-200, 100, 1},
    {"asinh", asinhl, 1e-200, 1e200, 1}, {"acosh", acoshl, 1, 1e200, 0},      {"atanh", atanhl, 1e-200, 1, 1},
    {"exp", expl, 1e-200, 700, 1},       {"ln", logl, 1e-200, 1e200, 0},      {"log", logl, 1e-200, 1e200, 0},
    {"log2", log2l, 1e-200, 1e200, 0},   {"log10", log10l, 1e-200, 1e200, 0},
};

/* Points in geometric progression, and as many uniform points near 1, where cancellation would show. */
START_TEST(test_accuracy)
{
    const struct range *f = &ranges[_i];
    enum { N = 4096 };
    struct lm_grid g = lm_grid_make(N, 2, 2.0, 2.0);
    double *x = malloc(g.size * sizeof *x), *y = malloc(g.size * sizeof *y);
    char text[200], argument[160];
    struct lm_cell_offset centre = {0, 0};
    for (int part = 0; part < 2; part++) {
        double top = fmin(f->high, 8.0);
        if (part == 0)
            snprintf(argument, sizeof argument, "exp(%.17g+%.17g*x)", log(f->low), (log(f->high) - log(f->low)) / 2.0);
        else
            snprintf(argument, sizeof argument, "%.17g+%.17g*x", f->low, (top - f->low) / 2.0);
        for (int sign = 1; sign >= (f->both_signs ? -1 : 1); sign -= 2) {
            char signed_argument[180];
            snprintf(signed_argument, sizeof signed_argument, "%d*(%s)", sign, argument);
            snprintf(text, sizeof text, "%s(%s)", f->name, signed_argument);
            ck_assert_msg(!lm_expr_fill(names, signed_argument, &g, centre, x), "%s", lm_error());
            ck_assert_msg(!lm_expr_fill(names, text, &g, centre, y), "%s", lm_error());
            for (int i = 0; i < N; i++) {
                double a = x[lm_at(&g, i, 0)], got = y[lm_at(&g, i, 0)];
                ck_assert_msg(ulps(got, f->reference(a)) < 3.0, "%s(%.17g) = %.17g", f->name, a, got);
            }
        }
    }
    free(x);
    free(y);
}
END_TEST

START_TEST(test_two_arguments)
{
    for (double a = -3.0; a <= 3.0; a += 0.37)
        for (double b = -30.0; b <= 30.0; b += 0.93) {
            char text[100];
            snprintf(text, sizeof text, "atan2(%.17g,%.17g)", a, b);
            ck_assert_double_lt(ulps(value_of(text), atan2l(a, b)), 3.0);
            snprintf(text, sizeof text, "pow(%.17g,%.17g)", fabs(a), b);
            ck_assert_double_lt(ulps(value_of(text), powl(fabs(a), b)), 3.0);
        }
    ck_assert_double_eq(value_of("pow(5,1)"), 5.0);
    ck_assert_double_eq(value_of("pow(-3,3)"), -27.0);
    ck_assert_double_eq(value_of("pow(10,-2)"), 0.01);
    ck_assert_double_eq(value_of("pow(-2,11)"), -2048.0);
    ck_assert_double_eq(value_of("log10(1000)"), 3.0);
    ck_assert_double_eq(value_of("log2(8)"), 3.0);
    assert_fails("pow(-2,0.5)", "not a number");
}
END_TEST

START_TEST(test_language)
{
    ck_assert_double_eq(value_of("1+2*3-4/8"), 6.5);
    ck_assert_double_eq(value_of("2^3^2"), 512.0);
    ck_assert_double_eq(value_of("(1<2) ? 7 : 8"), 7.0);
    ck_assert_double_eq(value_of("1==2 || 3>=3 && 2!=1"), 1.0);
    ck_assert_double_eq(value_of("min(3,1,2)+max(4,5)+abs(-2)+sqrt(16)+rint(2.7)+sign(-3)"), 14.0);
    ck_assert_double_eq(value_of("pi"), 3.14159265358979323846);
}
END_TEST

START_TEST(test_errors)
{
    assert_fails("foo*2", "unknown name \"foo\"");
    assert_fails("1+sqt(2)", "did you mean sqrt?");
    assert_fails("x+1", "x cannot be used in a number or a constant");
    assert_fails("2*y", "y cannot be used in a number or a constant");
    assert_fails("2*t", "t cannot be used in a number or a constant");
    assert_fails("pi=3", "assignment");
    assert_fails("1=1", "assignment");
    assert_fails("(1", "ends too early");
    assert_fails("sin 1", "parentheses");
    assert_fails("sin(1,2)", "too many arguments");
    assert_fails("3 4", "cannot read");
    assert_fails("5 % 3", "cannot read");
    assert_fails("1,2", "not a list");
    assert_fails("", "empty");
    assert_fails("  ", "empty");
    assert_fails("1/0", "infinite");
    assert_fails("sqrt(-1)", "not a number");
    assert_fails("1e400", "cannot read");
    char text[LM_MAX_TEXT + 8];
    memset(text, '1', sizeof text);
    text[LM_MAX_TEXT] = 0;
    assert_fails(text, "longer than");
}
END_TEST

START_TEST(test_constants)
{
    ck_assert_int_eq(lm_names_define_constant(names, "k", "2*pi"), LM_OK);
    ck_assert_int_eq(lm_names_define_constant(names, "k2", "k*k"), LM_OK);
    ck_assert_double_eq(value_of("k2/k/pi"), 2.0);
    static const char *const taken[] = {"k", "pi", "x", "y", "t", "sin", "atan2", "sqrt", "avg"};
    for (size_t n = 0; n < sizeof taken / sizeof *taken; n++) {
        ck_assert_int_eq(lm_names_define_constant(names, taken[n], "1"), LM_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(lm_error(), "taken"));
    }
    static const char *const bad[] = {"", "1a", "_a", "a-b", "a b", "abcdefghijabcdefghijabcdefghijab"};
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        ck_assert_int_eq(lm_names_set_constant(names, bad[n], 1.0), LM_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(lm_error(), "not a name"));
    }
    ck_assert_int_eq(lm_names_define_constant(names, "inf", "1/0"), LM_BAD_INPUT);
}
END_TEST

static void define_function(const char *signature, const char *text)
{
    ck_assert_msg(lm_names_define_function(names, signature, text) == LM_OK, "%s: %s", signature, lm_error());
}

static double value_at(const char *text, double x, double y, double t)
{
    double out = NAN;
    ck_assert_msg(lm_expr_at(names, text, 1, &x, &y, t, &out) == LM_OK, "%s: %s", text, lm_error());
    return out;
}

/* A function has the value of its text, wherever it stands: in other functions and in their arguments, too. */
START_TEST(test_functions)
{
    ck_assert_int_eq(lm_names_define_constant(names, "w", "0.5"), LM_OK);
    define_function("s", "(y - 2)/w");
    define_function("layer( u )", "tanh(u/w)");
    define_function("pair(u, v)", "layer(u) - layer(v) + s");
    define_function("four(a,b,c,d)", "a + 10*b + 100*c + 1000*d");
    define_function("wave", "cos(x)*t");
    define_function("both", "wave + s*layer(x)");
    define_function("three", "1 + 2");
    static const double place[] = {-3, 0.25, 1.75};
    for (int k = 0; k < 27; k++) {
        const double x = place[k % 3], y = place[k / 3 % 3], t = place[k / 9], s = (y - 2) / 0.5;
        const double layer = value_at("tanh(x/0.5)", x, y, t), wave = value_at("cos(x)*t", x, y, t);
        ck_assert_double_eq(value_at("s", x, y, t), s);
        ck_assert_double_eq(value_at("layer(x)", x, y, t), layer);
        ck_assert_double_eq(value_at("pair(x, y) + layer(y)", x, y, t),
                            layer - value_at("tanh(y/0.5)", x, y, t) + s + value_at("tanh(y/0.5)", x, y, t));
        ck_assert_double_eq(value_at("layer(layer(x))", x, y, t), value_at("tanh(tanh(x/0.5)/0.5)", x, y, t));
        ck_assert_double_eq(value_at("four(x, y, t, 1)", x, y, t), x + 10 * y + 100 * t + 1000);
        ck_assert_double_eq(value_at("both", x, y, t), wave + s * layer);
    }
    ck_assert_double_eq(value_of("three*four(1, 2, 3, 4)"), 3 * 4321.0);
}
END_TEST

/* What a function depends on, its users depend on. */
START_TEST(test_functions_uses)
{
    int uses = -1, uniform = -1;
    define_function("s", "y");
    define_function("wave(u)", "cos(u)*t");
    define_function("total", "wave(1) + s");
    define_function("square(u)", "u*u");
    ck_assert_int_eq(lm_expr_uses_time(names, "total", &uses), LM_OK);
    ck_assert_int_eq(uses, 1);
    ck_assert_int_eq(lm_expr_uses_time(names, "square(s)", &uses), LM_OK);
    ck_assert_int_eq(uses, 0);
    ck_assert_int_eq(lm_expr_check(names, "square(s)", &uniform), LM_OK);
    ck_assert_int_eq(uniform, 0);
    ck_assert_int_eq(lm_expr_check(names, "square(2)", &uniform), LM_OK);
    ck_assert_int_eq(uniform, 1);
    ck_assert_int_eq(lm_expr_check(names, "1 + total", &uniform), LM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(lm_error(), "total depends on t, which cannot be used here, where only x and y can"));
    assert_fails("1 + s", "s depends on y, which cannot be used in a number");
    assert_fails("square", "function square needs its arguments in parentheses");
    assert_fails("square(1, 2)", "too many arguments");
    assert_fails("squares(1)", "did you mean square?");
    struct lm_grid g = lm_grid_make(5, 4, 5.0, 4.0);
    double *a = calloc(g.size, sizeof *a);
    ck_assert_int_eq(lm_expr_fill(names, "square(s)", &g, (struct lm_cell_offset){0, 0}, a), LM_OK);
    for (int k = 0; k < 20; k++)
        ck_assert_double_eq(a[lm_at(&g, k % 5, k / 5)], (k / 5 + 0.5) * (k / 5 + 0.5));
    free(a);
}
END_TEST

static const struct {
    const char *signature, *text, *expected;
} wrong_functions[] = {
    {"f", "g(x)", "unknown name \"g\""},
    {"f", "f + 1", "unknown name \"f\""},
    {"f(u)", "u + v", "unknown name \"v\""},
    {"f(u)", "", "empty"},
    {"f(u)", "u = 2", "assignment"},
    {"f(u", "u", "not of the form NAME or NAME(ARGUMENT, ...)"},
    {"f()", "1", "not of the form"},
    {"f(u,)", "u", "not of the form"},
    {"f(u) v", "u", "not of the form"},
    {"2f(u)", "u", "not of the form"},
    {"f(a,b,c,d,e)", "a", "not of the form"},
    {"f(u, u)", "u", "the argument u has the name of something else"},
    {"f(x)", "x", "the argument x has the name"},
    {"f(pi)", "x", "the argument pi has the name"},
    {"f(f)", "x", "the argument f has the name"},
    {"sin(u)", "u", "the name \"sin\" is taken"},
    {"known", "1", "the name \"known\" is taken"},
};

START_TEST(test_wrong_functions)
{
    define_function("known(u)", "u");
    ck_assert_int_eq(lm_names_define_function(names, wrong_functions[_i].signature, wrong_functions[_i].text),
                     LM_BAD_INPUT);
    ck_assert_msg(strstr(lm_error(), wrong_functions[_i].expected) != NULL, "%s", lm_error());
    ck_assert_double_eq(value_of("known(3)"), 3); /* nothing is left of it */
}
END_TEST

START_TEST(test_uniform)
{
    int uniform = -1;
    ck_assert_int_eq(lm_expr_check(names, "pi*2", &uniform), LM_OK);
    ck_assert_int_eq(uniform, 1);
    static const char *const varying[] = {"x", "2*y", "cos(x)*y"};
    for (int n = 0; n < 3; n++) {
        ck_assert_int_eq(lm_expr_check(names, varying[n], &uniform), LM_OK);
        ck_assert_int_eq(uniform, 0);
    }
    ck_assert_int_eq(lm_expr_check(names, "1/x", &uniform), LM_OK); /* no evaluation */
    ck_assert_int_eq(lm_expr_check(names, "x=2", &uniform), LM_BAD_INPUT);
    ck_assert_int_eq(lm_expr_check(names, "z", &uniform), LM_BAD_INPUT);
    ck_assert_int_eq(lm_expr_check(names, "x+t", &uniform), LM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(lm_error(), "t cannot be used here, where only x and y can: \"x+t\""));
}
END_TEST

START_TEST(test_time)
{
    static const double x[] = {0, 1, 2, 0.5}, y[] = {3, 3, 5, 0.25};
    double out[4] = {-1, -1, -1, -1};
    ck_assert_int_eq(lm_names_define_constant(names, "k", "10"), LM_OK);
    ck_assert_int_eq(lm_expr_at(names, "x+k*y+100*t", 4, x, y, 2.0, out), LM_OK);
    for (int n = 0; n < 4; n++)
        ck_assert_double_eq(out[n], x[n] + 10 * y[n] + 200);
    ck_assert_int_eq(lm_expr_at(names, "7", 2, x, y, 1e9, out), LM_OK);
    ck_assert_double_eq(out[0], 7);
    ck_assert_double_eq(out[1], 7);
    ck_assert_double_eq(out[2], 252);
    ck_assert_int_eq(lm_expr_at(names, "t", 0, NULL, NULL, 1, NULL), LM_OK);
    ck_assert_int_eq(lm_expr_at(names, "1/(x-1)+t", 4, x, y, 0.5, out), LM_BAD_INPUT);
    ck_assert_str_eq(lm_error(), "\"1/(x-1)+t\" is infinite at x = 1, y = 3, t = 0.5");
    ck_assert_int_eq(lm_expr_at(names, "sqrt(1-t)", 4, x, y, 1.5, out), LM_BAD_INPUT);
    ck_assert_str_eq(lm_error(), "\"sqrt(1-t)\" is not a number at x = 0, y = 3, t = 1.5");
    ck_assert_int_eq(lm_expr_at(names, "z+t", 4, x, y, 0, out), LM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(lm_error(), "unknown name \"z\""));
}
END_TEST

START_TEST(test_uses_time)
{
    int uses = -1;
    ck_assert_int_eq(lm_expr_uses_time(names, "x+y+atan2(x,y)", &uses), LM_OK);
    ck_assert_int_eq(uses, 0);
    ck_assert_int_eq(lm_expr_uses_time(names, "x/t", &uses), LM_OK); /* no evaluation */
    ck_assert_int_eq(uses, 1);
    ck_assert_int_eq(lm_expr_uses_time(names, "t=2", &uses), LM_BAD_INPUT);
}
END_TEST

START_TEST(test_places)
{
    struct lm_grid g = lm_grid_make(5, 4, 1.5, 3.0);
    double *a = malloc(g.size * sizeof *a);
    static const struct lm_cell_offset places[] = {{0, 0}, {0.5, 0}, {0, 0.5}, {0.5, 0.5}};
    static const char *const texts[] = {"x+100*y", "x", "y", "7"};
    for (int t = 0; t < 4; t++)
        for (int p = 0; p < 4; p++) {
            ck_assert_int_eq(lm_expr_fill(names, texts[t], &g, places[p], a), LM_OK);
            for (int j = -LM_GHOST; j < g.ny + LM_GHOST; j++)
                for (int i = -LM_GHOST; i < g.nx + LM_GHOST; i++) {
                    double x = ((i + g.nx) % g.nx + 0.5 + places[p].x) * g.dx;
                    double y = ((j + g.ny) % g.ny + 0.5 + places[p].y) * g.dy;
                    double want[] = {x + 100 * y, x, y, 7};
                    ck_assert_double_eq(a[lm_at(&g, i, j)], want[t]);
                }
        }
    free(a);
}
END_TEST

/* An expression of time too, at faces also on the lower sides of the domain. Other elements are not changed. */
START_TEST(test_places_and_time)
{
    struct lm_grid g = lm_grid_make(5, 4, 2.5, 2.0);
    const char *const texts[] = {"x + 10*y + 100*t", "x*t", "y - t", "t", "7"};
    const struct lm_cell_offset places[] = {{0, 0}, {0.5, 0}, {0, 0.5}, {0.5, 0.5}};
    double *a = malloc(g.size * sizeof *a);
    for (int n = 0; n < 5 * 4; n++) {
        const struct lm_cell_offset p = places[n % 4];
        for (size_t k = 0; k < g.size; k++)
            a[k] = -1e9;
        ck_assert_int_eq(lm_expr_fill_at(names, texts[n / 4], &g, p, 3, a), LM_OK);
        for (int j = -LM_GHOST; j < g.ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g.nx + LM_GHOST; i++) {
                const double x = (i + 0.5 + p.x) * 0.5, y = (j + 0.5 + p.y) * 0.5;
                const double want[] = {x + 10 * y + 300, x * 3, y - 3, 3, 7};
                const int inside = x > -1e-9 && y > -1e-9 && i < g.nx && j < g.ny;
                ck_assert_double_eq_tol(a[lm_at(&g, i, j)], inside ? want[n / 4] : -1e9, 1e-12);
            }
    }
    ck_assert_int_eq(lm_expr_fill_at(names, "1/x", &g, places[0], 0, NULL), LM_OK);
    ck_assert_int_eq(lm_expr_fill_at(names, "1/x", &g, places[1], 0, NULL), LM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(lm_error(), "infinite at x = 0, y = 0.25, t = 0"));
    free(a);
}
END_TEST

START_TEST(test_not_finite_names_the_place)
{
    struct lm_grid g = lm_grid_make(4, 4, 4.0, 4.0);
    double *a = malloc(g.size * sizeof *a);
    struct lm_cell_offset centre = {0, 0};
    ck_assert_int_eq(lm_expr_fill(names, "1/(x-2.5)", &g, centre, a), LM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(lm_error(), "infinite at x = 2.5, y = 0.5"));
    ck_assert_int_eq(lm_expr_fill(names, "sqrt(3-y)*x", &g, centre, a), LM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(lm_error(), "not a number at x = 0.5, y = 3.5"));
    ck_assert_int_eq(lm_expr_fill(names, "z", &g, centre, a), LM_BAD_INPUT);
    free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("expr");
    TCase *tc = tcase_create("expr");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_accuracy, 0, sizeof ranges / sizeof *ranges);
    tcase_add_test(tc, test_two_arguments);
    tcase_add_test(tc, test_language);
    tcase_add_test(tc, test_errors);
    tcase_add_test(tc, test_constants);
    tcase_add_test(tc, test_functions);
    tcase_add_test(tc, test_functions_uses);
    tcase_add_loop_test(tc, test_wrong_functions, 0, sizeof wrong_functions / sizeof *wrong_functions);
    tcase_add_test(tc, test_uniform);
    tcase_add_test(tc, test_time);
    tcase_add_test(tc, test_uses_time);
    tcase_add_test(tc, test_places);
    tcase_add_test(tc, test_places_and_time);
    tcase_add_test(tc, test_not_finite_names_the_place);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
