/* Programs of random expressions against muParser. */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "larmor/physics/numerics/hash.h"
#include "program_case.h"
#include "suite.h"

struct source {
    uint64_t state;
    int wrap;   /* variables and numbers stand in id() */
    int powers; /* ^, and neither differences nor functions that could enlarge an error */
    char text[LM_MAX_TEXT];
    size_t length;
};

static int draw(struct source *s, int n)
{
    s->state++;
    return (int)(lm_mix(s->state) % (uint64_t)n);
}

static __attribute__((format(printf, 2, 3))) void put(struct source *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(s->text + s->length, sizeof s->text - s->length, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof s->text - s->length)
        ck_abort_msg("the text of an expression is too short");
    s->length += (size_t)n;
}

static void put_expression(struct source *s, int depth);

static void put_call(struct source *s, int depth)
{
    static const char *const one[] = {"sin",   "cos",   "tan",   "asin",  "acos", "atan", "sinh", "cosh",
                                      "tanh",  "asinh", "acosh", "atanh", "exp",  "ln",   "log",  "log2",
                                      "log10", "sqrt",  "abs",   "sign",  "rint", "id",   "deep", "with_units"},
                             *const two[] = {"atan2", "pow", "layer", "nested", "unused"},
                             *const any[] = {"min", "max", "sum", "avg"}, *const safe[] = {"min", "max", "sum", "avg"};
    const int kind = s->powers ? 3 : draw(s, 3);
    const int count = kind == 0 ? 1 : kind == 1 ? 2 : 1 + draw(s, 4);
    put(s, "%s(",
        kind == 0   ? one[draw(s, COUNT(one))]
        : kind == 1 ? two[draw(s, COUNT(two))]
        : kind == 2 ? any[draw(s, COUNT(any))]
                    : safe[draw(s, COUNT(safe))]);
    for (int k = 0; k < count; k++) {
        put(s, k ? ", " : "");
        put_expression(s, depth - 1);
    }
    put(s, ")");
}

static void put_operand(struct source *s)
{
    static const char *const variable[] = {"x", "y", "t", "n", "Te", "J", "B"}, *const other[] = {
                                                                                    "pi", "k",   "keV",  "three", "1",
                                                                                    "2",  "0.5", "3e-1", "0.1",   "7"};
    put(s, s->wrap ? "id(%s)" : "%s", draw(s, 2) ? variable[draw(s, COUNT(variable))] : other[draw(s, COUNT(other))]);
}

/* Parentheses stand at random, so that the precedence counts. */
static void put_expression(struct source *s, int depth)
{
    static const char *const operator[] = {"+", "-",  "*",  "/",  "+",  "-",  "*", "<",
                                           ">", "<=", ">=", "==", "!=", "&&", "||"},
                             *const safe[] = {"+", "*", "/", "+", "*"}, *const exponent[] = {"2",   "-1",  "3",
                                                                                             "0.5", "2.5", "4"};
    const int kind = depth <= 0 ? 0 : draw(s, 10), parentheses = draw(s, 3) == 0;
    if (parentheses)
        put(s, "(");
    if (kind < 2) {
        put_operand(s);
    } else if (kind == 2) {
        put_call(s, depth);
    } else if (kind == 3 && !s->powers) {
        put(s, "-");
        put_operand(s);
    } else if (kind == 3) {
        put(s, "(");
        put_expression(s, depth - 1);
        put(s, ")^%s", exponent[draw(s, COUNT(exponent))]);
    } else if (kind == 4) {
        put(s, "(");
        put_expression(s, depth - 1);
        put(s, ") ? ");
        put_expression(s, depth - 1);
        put(s, " : ");
        put_expression(s, depth - 1);
    } else {
        put_expression(s, depth - 1);
        put(s, " %s ", s->powers ? safe[draw(s, COUNT(safe))] : operator[draw(s, COUNT(operator))]);
        put_expression(s, depth - 1);
    }
    if (parentheses)
        put(s, ")");
}

static void draw_expression(struct source *s, uint64_t state, int wrap, int powers)
{
    *s = (struct source){.state = state, .wrap = wrap, .powers = powers};
    put_expression(s, 4);
}

static void draw_point(struct source *s, double v[LM_PROGRAM_VARIABLES])
{
    for (int k = 0; k < LM_PROGRAM_VARIABLES; k++)
        v[k] = (1 + draw(s, 3000)) * 1e-3 * (s->powers || draw(s, 2) ? 1.0 : -1.0);
}

enum { EXPRESSIONS = SANITIZED ? 200 : 2000 };

/* Without ^ and with variables and numbers in id() every operation is the same: so are the bits. Without id() a program
 * has the same instructions. */
START_TEST(test_random)
{
    static struct source wrapped, plain;
    int refused = 0;
    for (uint64_t k = 0; k < EXPRESSIONS; k++) {
        struct lm_parser m;
        struct lm_program p, q;
        draw_expression(&wrapped, k << 20, 1, 0);
        draw_expression(&plain, k << 20, 0, 0);
        ck_assert_msg(!lm_parser_open(&m, names, wrapped.text, EVERYTHING), "%s", lm_error());
        if (lm_program_compile(names, wrapped.text, EVERYTHING, &p)) {
            ck_assert_ptr_nonnull(strstr(lm_error(), "at most 256 operations"));
            refused++;
        } else {
            q = compiled(plain.text, EVERYTHING);
            ck_assert_int_eq(p.length, q.length);
            for (int n = 0; n < 20; n++) {
                double v[LM_PROGRAM_VARIABLES];
                draw_point(&plain, v);
                const double want = muparser_value(&m, v), got = value_of(&p, v);
                if (!same(got, want) || !same(value_of(&q, v), want))
                    ck_abort_msg("%s: %.17g, muParser %.17g", wrapped.text, got, want);
            }
        }
        lm_parser_close(&m);
    }
    ck_assert_int_lt(refused, EXPRESSIONS / 20);
}
END_TEST

/* With ^, as muParser likes to compute it. Values are positive and never subtracted: an operation adds a rounding to
 * the relative errors of its operands, and only ^ makes them larger, at most four times. In four levels that is at most
 * 2 (1 + 4 + 16 + 64) = 170 roundings of 1.1e-16 on either side. */
START_TEST(test_random_powers)
{
    static struct source s;
    for (uint64_t k = 0; k < EXPRESSIONS; k++) {
        struct lm_parser m;
        draw_expression(&s, k << 20, 0, 1);
        const struct lm_program p = compiled(s.text, EVERYTHING);
        ck_assert_msg(!lm_parser_open(&m, names, s.text, EVERYTHING), "%s", lm_error());
        for (int n = 0; n < 20; n++) {
            double v[LM_PROGRAM_VARIABLES];
            draw_point(&s, v);
            const double want = muparser_value(&m, v), got = value_of(&p, v);
            if (!(fabs(got - want) <= 1e-13 * want))
                ck_abort_msg("%s: %.17g, muParser %.17g", s.text, got, want);
        }
        lm_parser_close(&m);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("program_random");
    TCase *tc = tcase_create("program_random");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_random);
    tcase_add_test(tc, test_random_powers);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
