#include "base/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/expr_parser.h"
#include "base/try.h"

/* MOST_EMITTED bounds the work where functions call functions and constants are folded again and again. */
enum { MOST_NESTED = 200, MOST_EMITTED = 20000 };

/* Values that stand for the names of the arguments within a function: instructions that put them on the stack. */
struct scope {
    const char *at;                /* what is read next */
    const struct lm_function *own; /* whose text it is; NULL: the expression itself */
    struct lm_instruction argument[LM_MAX_ARGUMENTS];
};

struct compiler {
    const struct lm_names *names;
    const char *text; /* the expression */
    int variables;
    struct lm_program *out;
    int depth, nested, emitted;
    struct scope scope;
};

static int read_expression(struct compiler *c);
static int read_signed(struct compiler *c);

static int fail_long(const struct compiler *c)
{
    return lm_fail(LM_BAD_INPUT, "an expression of at most %d operations is expected: \"%s\"", LM_PROGRAM_LENGTH,
                   c->text);
}

static int fail_deep(const struct compiler *c)
{
    return lm_fail(LM_BAD_INPUT, "parentheses and functions are nested too deeply in \"%s\"", c->text);
}

/* muParser has accepted what comes here. */
static int fail_to_read(const struct compiler *c)
{
    return lm_fail(LM_BAD_INPUT, "cannot read \"%s\" near \"%s\"", c->text, c->scope.at);
}

/* --- instructions --- */

static int operands(int code, int argument)
{
    return code <= LM_DO_COPY      ? 0
           : code <= LM_DO_PRODUCT ? 1
           : code <= LM_DO_POWER   ? 2
           : code == LM_DO_SELECT  ? 3
                                   : argument + 1;
}

static int is_number(const struct compiler *c, int k)
{
    return c->out->code[k].code == LM_DO_NUMBER;
}

/* Replaces numbers and the operation on them by its value. */
static void fold(struct compiler *c, const struct lm_instruction *in, int count)
{
    struct lm_instruction *of = &c->out->code[c->out->length - count];
    if (count == 1)
        of->value = lm_program_of_one(in, of[0].value);
    else if (count == 2)
        of->value = lm_program_of_two(in->code, of[0].value, of[1].value);
    else
        of->value = of[0].value != 0.0 ? of[1].value : of[2].value;
    c->out->length -= count - 1;
}

static int emit(struct compiler *c, struct lm_instruction in)
{
    const int count = operands(in.code, in.argument);
    int numbers = 0;
    while (numbers < count && is_number(c, c->out->length - 1 - numbers))
        numbers++;
    c->depth += 1 - count;
    if (count > 0 && numbers == count && in.code != LM_DO_LEAVE) {
        fold(c, &in, count);
        return LM_OK;
    }
    if (c->out->length == LM_PROGRAM_LENGTH || ++c->emitted > MOST_EMITTED)
        return fail_long(c);
    if (c->depth > LM_PROGRAM_STACK)
        return fail_deep(c);
    c->out->code[c->out->length++] = in;
    return LM_OK;
}

static int emit_code(struct compiler *c, int code)
{
    return emit(c, (struct lm_instruction){.code = code});
}

static int emit_number(struct compiler *c, double value)
{
    return emit(c, (struct lm_instruction){.code = LM_DO_NUMBER, .value = value});
}

/* --- text --- */

/* What comes next, without blanks before it. */
static const char *next(struct compiler *c)
{
    while (*c->scope.at && (unsigned char)*c->scope.at <= ' ')
        c->scope.at++;
    return c->scope.at;
}

static int take(struct compiler *c, char sign)
{
    if (*next(c) != sign)
        return 0;
    c->scope.at++;
    return 1;
}

static int expect(struct compiler *c, char sign)
{
    return take(c, sign) ? LM_OK : fail_to_read(c);
}

/* --- functions --- */

static const struct {
    const char *name;
    int code, arguments; /* 0: one or more */
} functions[] = {
    {"sin", LM_DO_SIN, 1},     {"cos", LM_DO_COS, 1},     {"tan", LM_DO_TAN, 1},     {"asin", LM_DO_ASIN, 1},
    {"acos", LM_DO_ACOS, 1},   {"atan", LM_DO_ATAN, 1},   {"sinh", LM_DO_SINH, 1},   {"cosh", LM_DO_COSH, 1},
    {"tanh", LM_DO_TANH, 1},   {"asinh", LM_DO_ASINH, 1}, {"acosh", LM_DO_ACOSH, 1}, {"atanh", LM_DO_ATANH, 1},
    {"exp", LM_DO_EXP, 1},     {"ln", LM_DO_LOG, 1},      {"log", LM_DO_LOG, 1},     {"log2", LM_DO_LOG2, 1},
    {"log10", LM_DO_LOG10, 1}, {"sqrt", LM_DO_SQRT, 1},   {"abs", LM_DO_ABS, 1},     {"sign", LM_DO_SIGN, 1},
    {"rint", LM_DO_RINT, 1},   {"atan2", LM_DO_ATAN2, 2}, {"pow", LM_DO_POWER, 2},   {"min", LM_DO_MIN, 0},
    {"max", LM_DO_MAX, 0},     {"sum", LM_DO_ADD, 0},     {"avg", LM_DO_ADD, 0},
};

/* Function k of the table, from the first argument to the closing parenthesis. Sums begin with 0, as muParser's do. */
static int read_known_call(struct compiler *c, size_t k)
{
    const int is_sum = functions[k].code == LM_DO_ADD;
    int count = 0;
    if (is_sum)
        LM_TRY(emit_number(c, 0.0));
    do {
        LM_TRY(read_expression(c));
        count++;
        if (functions[k].arguments == 0 && (is_sum || count > 1))
            LM_TRY(emit_code(c, functions[k].code));
    } while (take(c, ','));
    if (functions[k].arguments > 0)
        LM_TRY(count == functions[k].arguments ? emit_code(c, functions[k].code) : fail_to_read(c));
    if (!strcmp(functions[k].name, "avg")) {
        LM_TRY(emit_number(c, count));
        LM_TRY(emit_code(c, LM_DO_DIVIDE));
    }
    return expect(c, ')');
}

/* The text of a function of the configuration. Beneath its value lie `kept` values of arguments. */
static int read_function(struct compiler *c, const struct lm_function *f, const struct lm_instruction *argument,
                         int kept)
{
    const struct scope caller = c->scope;
    if (f->sample)
        return lm_fail(LM_BAD_INPUT,
                       "%s comes from a file or a spectrum of waves and cannot be used in an expression that is "
                       "evaluated at every step: \"%s\"",
                       f->name, c->text);
    c->scope = (struct scope){.at = f->text, .own = f};
    for (int k = 0; k < f->arguments; k++)
        c->scope.argument[k] = argument[k];
    LM_TRY(read_expression(c));
    if (*next(c))
        return fail_to_read(c);
    c->scope = caller;
    return kept > 0 ? emit(c, (struct lm_instruction){.code = LM_DO_LEAVE, .argument = kept}) : LM_OK;
}

/* An argument that one instruction puts on the stack is put there wherever its name stands. Others are computed once,
 * and copied. */
static int read_call(struct compiler *c, const struct lm_function *f)
{
    struct lm_instruction argument[LM_MAX_ARGUMENTS];
    int count = 0, kept = 0;
    do {
        const int start = c->out->length;
        LM_TRY(count < f->arguments ? read_expression(c) : fail_to_read(c));
        struct lm_instruction *last = &c->out->code[start];
        if (c->out->length == start + 1 && last->code <= LM_DO_COPY) {
            argument[count++] = *last;
            c->out->length--;
            c->depth--;
        } else {
            argument[count++] = (struct lm_instruction){.code = LM_DO_COPY, .argument = c->depth - 1};
            kept++;
        }
    } while (take(c, ','));
    LM_TRY(count == f->arguments ? expect(c, ')') : fail_to_read(c));
    return read_function(c, f, argument, kept);
}

/* --- names --- */

/* The function of the configuration with this name that the text may use: functions see those before them. */
static const struct lm_function *function_named(const struct compiler *c, const char *name)
{
    const struct lm_function *f = c->names->function, *end = c->scope.own ? c->scope.own : f + c->names->functions;
    for (; f < end; f++)
        if (!strcmp(name, f->name))
            return f;
    return NULL;
}

static int read_value(struct compiler *c, const char *name)
{
    const struct lm_function *own = c->scope.own;
    for (int k = 0; own && k < own->arguments; k++)
        if (!strcmp(name, own->argument[k]))
            return emit(c, c->scope.argument[k]);
    const int bit = lm_parser_variable(own ? LM_OF_PLACE_AND_TIME : c->variables, name);
    if (bit)
        return emit(c, (struct lm_instruction){.code = LM_DO_VARIABLE, .argument = __builtin_ctz((unsigned)bit)});
    for (int k = 0; k < c->names->constants; k++)
        if (!strcmp(name, c->names->constant[k].name))
            return emit_number(c, c->names->constant[k].value);
    const struct lm_function *f = function_named(c, name);
    return f && f->arguments == 0 ? read_function(c, f, NULL, 0) : fail_to_read(c);
}

static int read_name(struct compiler *c)
{
    char name[LM_MAX_NAME];
    const size_t n = strspn(c->scope.at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    if (n == 0 || n >= sizeof name)
        return fail_to_read(c);
    memcpy(name, c->scope.at, n);
    name[n] = 0;
    c->scope.at += n;
    if (*c->scope.at != '(')
        return read_value(c, name);
    c->scope.at++;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(name, functions[k].name))
            return read_known_call(c, k);
    const struct lm_function *f = function_named(c, name);
    return f ? read_call(c, f) : fail_to_read(c);
}

/* --- operators, from those that bind most tightly --- */

static int read_operand(struct compiler *c)
{
    const char first = *next(c);
    if (take(c, '(')) {
        LM_TRY(read_expression(c));
        return expect(c, ')');
    }
    if ((first >= '0' && first <= '9') || first == '.') {
        char *end;
        const double value = strtod(c->scope.at, &end);
        c->scope.at = end;
        return emit_number(c, value);
    }
    return read_name(c);
}

/* a^b, where b may be a power and may have a sign: 2^3^2 = 2^9, 2^-x^2 = 2^(-(x^2)). */
static int read_power(struct compiler *c)
{
    LM_TRY(read_operand(c));
    if (!take(c, '^'))
        return LM_OK;
    LM_TRY(read_signed(c));
    const struct lm_instruction *last = &c->out->code[c->out->length - 1];
    const double exponent = last->code == LM_DO_NUMBER ? last->value : 0.0;
    if (exponent != 1.0 && exponent != 2.0 && exponent != 3.0 && exponent != 4.0)
        return emit_code(c, LM_DO_POWER);
    c->out->length--;
    c->depth--;
    return emit(c, (struct lm_instruction){.code = LM_DO_PRODUCT, .argument = (int)exponent});
}

/* A sign binds less than ^: -2^2 = -4. */
static int read_signed(struct compiler *c)
{
    if (take(c, '-')) {
        LM_TRY(read_power(c));
        return emit_code(c, LM_DO_NEGATE);
    }
    take(c, '+');
    return read_power(c);
}

enum { LEVELS = 5 };

/* Where one sign begins with another, the longer one comes first. */
static const struct {
    const char *sign;
    int level, code;
} operators[] = {
    {"||", 0, LM_DO_OR},        {"&&", 1, LM_DO_AND},     {"<=", 2, LM_DO_LESS_EQUAL}, {">=", 2, LM_DO_GREATER_EQUAL},
    {"!=", 2, LM_DO_NOT_EQUAL}, {"==", 2, LM_DO_EQUAL},   {"<", 2, LM_DO_LESS},        {">", 2, LM_DO_GREATER},
    {"+", 3, LM_DO_ADD},        {"-", 3, LM_DO_SUBTRACT}, {"*", 4, LM_DO_MULTIPLY},    {"/", 4, LM_DO_DIVIDE},
};

/* The code of an operator of the level that comes next, which is taken, or -1. */
static int take_operator(struct compiler *c, int level)
{
    const char *at = next(c);
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
        if (!strncmp(at, operators[k].sign, strlen(operators[k].sign))) {
            if (operators[k].level != level)
                return -1;
            c->scope.at += strlen(operators[k].sign);
            return operators[k].code;
        }
    return -1;
}

/* Operators of one level are applied from left to right. */
static int read_level(struct compiler *c, int level)
{
    if (level == LEVELS)
        return read_signed(c);
    LM_TRY(read_level(c, level + 1));
    for (int code = take_operator(c, level); code >= 0; code = take_operator(c, level)) {
        LM_TRY(read_level(c, level + 1));
        LM_TRY(emit_code(c, code));
    }
    return LM_OK;
}

/* The branches of ?: after a condition that has the value `condition` everywhere. */
static int read_branch(struct compiler *c, double condition)
{
    const int start = c->out->length, depth = c->depth;
    LM_TRY(read_expression(c));
    LM_TRY(expect(c, ':'));
    if (condition == 0.0) {
        c->out->length = start;
        c->depth = depth;
        return read_expression(c);
    }
    const int end = c->out->length;
    LM_TRY(read_expression(c));
    c->out->length = end;
    c->depth = depth + 1;
    return LM_OK;
}

static int read_choice(struct compiler *c)
{
    const int start = c->out->length;
    LM_TRY(read_level(c, 0));
    if (!take(c, '?'))
        return LM_OK;
    if (c->out->length == start + 1 && is_number(c, start)) {
        c->out->length--;
        c->depth--;
        return read_branch(c, c->out->code[start].value);
    }
    LM_TRY(read_expression(c));
    LM_TRY(expect(c, ':'));
    LM_TRY(read_expression(c));
    return emit_code(c, LM_DO_SELECT);
}

static int read_expression(struct compiler *c)
{
    if (++c->nested > MOST_NESTED)
        return fail_deep(c);
    LM_TRY(read_choice(c));
    c->nested--;
    return LM_OK;
}

int lm_program_compile(const struct lm_names *names, const char *text, unsigned allowed, struct lm_program *out)
{
    struct lm_parser p;
    struct compiler c = {.names = names, .text = text, .variables = (int)allowed, .out = out, .scope = {.at = text}};
    *out = (struct lm_program){.length = 0};
    int status = lm_parser_open(&p, names, text, (int)allowed);
    lm_parser_close(&p);
    if (!status)
        status = read_expression(&c);
    if (!status && *next(&c))
        status = fail_to_read(&c);
    for (int k = 0; k < out->length; k++)
        if (out->code[k].code == LM_DO_VARIABLE)
            out->uses |= 1 << out->code[k].argument;
    if (status)
        *out = (struct lm_program){.length = 0};
    return status;
}
