#include "base/expr_parser.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary_host.h"
#include "base/text.h"
#include "base/try.h"
#include "base/units.h"

static const struct {
    const char *name;
    muFun1_t function;
} functions[] = {
    {"sin", lm_host_sin},     {"cos", lm_host_cos},     {"tan", lm_host_tan},     {"asin", lm_host_asin},
    {"acos", lm_host_acos},   {"atan", lm_host_atan},   {"sinh", lm_host_sinh},   {"cosh", lm_host_cosh},
    {"tanh", lm_host_tanh},   {"asinh", lm_host_asinh}, {"acosh", lm_host_acosh}, {"atanh", lm_host_atanh},
    {"exp", lm_host_exp},     {"ln", lm_host_log},      {"log", lm_host_log},     {"log2", lm_host_log2},
    {"log10", lm_host_log10},
};
static const struct {
    const char *name;
    muFun2_t function;
} functions2[] = {{"atan2", lm_host_atan2}, {"pow", lm_host_pow}};
static const char *const parser_functions[] = {"sqrt", "abs", "sign", "rint", "min", "max", "sum", "avg"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

int lm_parser_has_function(const char *name)
{
    for (size_t k = 0; k < COUNT(functions); k++)
        if (!strcmp(name, functions[k].name))
            return 1;
    for (size_t k = 0; k < COUNT(functions2); k++)
        if (!strcmp(name, functions2[k].name))
            return 1;
    for (size_t k = 0; k < COUNT(parser_functions); k++)
        if (!strcmp(name, parser_functions[k]))
            return 1;
    return 0;
}

int lm_parser_has_variable(const char *name)
{
    return !strcmp(name, "x") || !strcmp(name, "y") || !strcmp(name, "t");
}

static const struct {
    const char *name;
    int bit;
    size_t at; /* in struct lm_parser */
} variables_known[] = {
    {"x", LM_USES_X, offsetof(struct lm_parser, x)},
    {"y", LM_USES_Y, offsetof(struct lm_parser, y)},
    {"t", LM_USES_T, offsetof(struct lm_parser, t)},
    {"vx", LM_USES_VELOCITY, offsetof(struct lm_parser, v[0])},
    {"vy", LM_USES_VELOCITY, offsetof(struct lm_parser, v[1])},
    {"vz", LM_USES_VELOCITY, offsetof(struct lm_parser, v[2])},
    {"n", 1 << LM_VAR_N, offsetof(struct lm_parser, plasma[0])},
    {"Te", 1 << LM_VAR_TE, offsetof(struct lm_parser, plasma[1])},
    {"J", 1 << LM_VAR_J, offsetof(struct lm_parser, plasma[2])},
    {"B", 1 << LM_VAR_B, offsetof(struct lm_parser, plasma[3])},
};

int lm_parser_variable(int variables, const char *name)
{
    for (size_t k = 0; k < COUNT(variables_known); k++)
        if ((variables & variables_known[k].bit) && !strcmp(name, variables_known[k].name))
            return variables_known[k].bit;
    return 0;
}

/* 1 for a variable that hides a name of the configuration. (x, y and t are never names of a configuration.) */
static int is_hidden(int variables, const char *name)
{
    return lm_parser_variable(variables, name) != 0;
}

/* --- messages --- */

static const char *nearest_name(const struct lm_names *names, const char *word)
{
    const char *best = NULL;
    int distance = lm_text_tolerance(word) + 1;
    for (int k = 0; k < names->constants; k++)
        lm_text_nearer(word, names->constant[k].name, &best, &distance);
    for (int k = 0; k < names->functions; k++)
        lm_text_nearer(word, names->function[k].name, &best, &distance);
    for (size_t k = 0; k < COUNT(functions); k++)
        lm_text_nearer(word, functions[k].name, &best, &distance);
    for (size_t k = 0; k < COUNT(functions2); k++)
        lm_text_nearer(word, functions2[k].name, &best, &distance);
    for (size_t k = 0; k < COUNT(parser_functions); k++)
        lm_text_nearer(word, parser_functions[k], &best, &distance);
    return best;
}

/* The functions that are called `word` and then _ and more, as those of [data.NAME] and [spectrum.NAME]: NAME_az.
 * Returns how many there are. */
static int list_longer(const struct lm_names *names, const char *word, size_t size, char *out)
{
    const size_t length = strlen(word);
    size_t n = 0;
    int count = 0;
    for (int k = 0; k < names->functions; k++) {
        const char *name = names->function[k].name;
        if (strncmp(name, word, length) || name[length] != '_')
            continue;
        n += n < size ? (size_t)snprintf(out + n, size - n, "%s%s", count > 0 ? ", " : "", name) : 0;
        count++;
    }
    return count;
}

enum { WORDS = 64 };

/* Where a variable cannot be used, into words[WORDS]. */
static const char *where_not(int variables, char *words)
{
    int left = 0, n = 0;
    for (size_t k = 0; k < COUNT(variables_known); k++)
        left += (variables & variables_known[k].bit) != 0;
    if (left == 0)
        return "in a number or a constant";
    n += snprintf(words, WORDS, "here, where only ");
    for (size_t k = 0; k < COUNT(variables_known); k++)
        if (variables & variables_known[k].bit)
            left--, n += snprintf(words + n, (size_t)(WORDS - n), "%s%s", variables_known[k].name,
                                  left > 1    ? ", "
                                  : left == 1 ? " and "
                                              : " can");
    return words;
}

static int takes_arguments(const struct lm_names *names, const char *name)
{
    for (int k = 0; k < names->functions; k++)
        if (!strcmp(name, names->function[k].name))
            return names->function[k].arguments > 0;
    return lm_parser_has_function(name);
}

/* A message with the name at which the parser failed, and what is wrong with that name. */
static int fail_at_name(const struct lm_names *names, int variables, const char *text, const char *at)
{
    char name[LM_MAX_TEXT], words[WORDS];
    size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    n = n < sizeof name ? n : sizeof name - 1;
    memcpy(name, at, n);
    name[n] = 0;
    if (lm_parser_has_variable(name) || ((variables & LM_USES_PLASMA) && lm_parser_variable(LM_USES_PLASMA, name)))
        return lm_fail(LM_BAD_INPUT, "%s cannot be used %s: \"%s\"", name, where_not(variables, words), text);
    if (takes_arguments(names, name))
        return lm_fail(LM_BAD_INPUT, "function %s needs its arguments in parentheses: \"%s\"", name, text);
    if (names->no_units && lm_is_si_unit(name))
        return lm_fail(LM_BAD_INPUT, "unknown name \"%s\" in \"%s\": %s", name, text, names->no_units);
    const char *near = nearest_name(names, name);
    char longer[8 * (LM_MAX_NAME + 2)];
    if (!near && list_longer(names, name, sizeof longer, longer))
        return lm_fail(LM_BAD_INPUT, "unknown name \"%s\" in \"%s\"; there is %s", name, text, longer);
    return lm_fail(LM_BAD_INPUT, "unknown name \"%s\" in \"%s\"%s%s%s", name, text, near ? ", did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

static int fail_to_parse(muParserHandle_t handle, const struct lm_names *names, int variables, const char *text)
{
    enum { UNASSIGNABLE_TOKEN = 1, TOO_MANY_PARAMS = 14, TOO_FEW_PARAMS = 15 }; /* muParser's EErrorCodes */
    int code = mupGetErrorCode(handle), position = mupGetErrorPos(handle);
    size_t at = position < 0 ? 0 : (size_t)position;
    if (code == UNASSIGNABLE_TOKEN && at < strlen(text)) {
        char c = text[at];
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_')
            return fail_at_name(names, variables, text, text + at);
        return lm_fail(LM_BAD_INPUT, "cannot read \"%s\" at \"%s\"", text, text + at);
    }
    if (code == TOO_MANY_PARAMS || code == TOO_FEW_PARAMS)
        return lm_fail(LM_BAD_INPUT, "a function has too %s arguments in \"%s\"",
                       code == TOO_MANY_PARAMS ? "many" : "few", text);
    if (at >= strlen(text))
        return lm_fail(LM_BAD_INPUT, "cannot read \"%s\": it ends too early", text);
    const int lacks_operator = at > 1 && strchr(" \t", text[at - 1]) && isalnum((unsigned char)text[at]);
    return lm_fail(LM_BAD_INPUT, "cannot read \"%s\" near \"%s\"%s", text, text + at,
                   lacks_operator ? ": an operator is missing before it" : "");
}

/* Refuses texts that muParser accepts and that are errors in a configuration. */
static int check_text(const char *text)
{
    size_t n = strlen(text);
    if (n >= LM_MAX_TEXT)
        return lm_fail(LM_BAD_INPUT, "expression longer than %d bytes", LM_MAX_TEXT - 1);
    if (strspn(text, " \t") == n)
        return lm_fail(LM_BAD_INPUT, "empty expression");
    if (text[strcspn(text, "\"'")])
        return lm_fail(LM_BAD_INPUT, "quotes have no meaning in an expression: %s; leave them out", text);
    for (const char *p = text; *p; p++) {
        if (*p != '=')
            continue;
        if (p[1] == '=')
            p++;
        else if (p == text || !strchr("<>!", p[-1]))
            return lm_fail(LM_BAD_INPUT, "assignment (=) in \"%s\"; equality is ==", text);
    }
    return LM_OK;
}

/* --- functions of the configuration --- */

static double call(void *user, int count, const double *argument)
{
    struct lm_used_function *f = user;
    for (int k = 0; k < count; k++)
        f->argument[k] = argument[k];
    return mupEval(f->handle);
}

static double call1(void *f, double a)
{
    return call(f, 1, (double[]){a});
}

static double call2(void *f, double a, double b)
{
    return call(f, 2, (double[]){a, b});
}

static double call3(void *f, double a, double b, double c)
{
    return call(f, 3, (double[]){a, b, c});
}

static double call4(void *f, double a, double b, double c, double d)
{
    return call(f, 4, (double[]){a, b, c, d});
}

/* A function without arguments is a variable, which lm_parser_value sets before. */
static void define_function(muParserHandle_t handle, const struct lm_function *f, struct lm_used_function *used)
{
    switch (f->arguments) {
    case 0:
        mupDefineVar(handle, f->name, &used->value);
        break;
    case 1:
        mupDefineFunUserData1(handle, f->name, call1, used, 0);
        break;
    case 2:
        mupDefineFunUserData2(handle, f->name, call2, used, 0);
        break;
    case 3:
        mupDefineFunUserData3(handle, f->name, call3, used, 0);
        break;
    default:
        mupDefineFunUserData4(handle, f->name, call4, used, 0);
        break;
    }
}

static int is_argument(const struct lm_function *f, const char *name)
{
    for (int k = 0; f && k < f->arguments; k++)
        if (!strcmp(name, f->argument[k]))
            return 1;
    return 0;
}

static double *address(struct lm_parser *p, size_t variable)
{
    return (double *)(void *)((char *)p + variables_known[variable].at);
}

/* `f`: the function whose text is parsed, or NULL. */
static void define_names(struct lm_parser *p, muParserHandle_t handle, const char *text, int functions_before,
                         const struct lm_function *f, struct lm_used_function *own)
{
    const int variables = f ? LM_OF_PLACE_AND_TIME : p->variables;
    mupClearConst(handle); /* _pi and _e */
    for (size_t k = 0; k < COUNT(functions); k++)
        mupDefineFun1(handle, functions[k].name, functions[k].function, 1);
    for (size_t k = 0; k < COUNT(functions2); k++)
        mupDefineFun2(handle, functions2[k].name, functions2[k].function, 1);
    for (int k = 0; k < p->names->constants; k++)
        if (p->names->constant[k].name[0] && !is_argument(f, p->names->constant[k].name) &&
            !is_hidden(variables, p->names->constant[k].name))
            mupDefineConst(handle, p->names->constant[k].name, p->names->constant[k].value);
    for (size_t k = 0; k < COUNT(variables_known); k++)
        if (variables & variables_known[k].bit)
            mupDefineVar(handle, variables_known[k].name, address(p, k));
    for (int k = 0; f && k < f->arguments; k++)
        mupDefineVar(handle, f->argument[k], &own->argument[k]);
    for (int k = 0; k < functions_before; k++)
        if (lm_text_mentions(text, p->names->function[k].name) && !is_argument(f, p->names->function[k].name) &&
            !is_hidden(variables, p->names->function[k].name))
            define_function(handle, &p->names->function[k], &p->function[k]);
}

/* Variables in the expression itself; not in functions that it mentions. */
static int variables_used(struct lm_parser *p, muParserHandle_t handle)
{
    int n = mupGetExprVarNum(handle), uses = 0;
    for (int k = 0; k < n; k++) {
        const char *name = NULL;
        double *variable = NULL;
        mupGetExprVar(handle, (unsigned)k, &name, &variable);
        for (size_t v = 0; v < COUNT(variables_known); v++)
            uses |= variable == address(p, v) ? variables_known[v].bit : 0;
    }
    return uses;
}

static int parse(struct lm_parser *p, muParserHandle_t *handle, const char *text, int functions_before,
                 const struct lm_function *f, struct lm_used_function *own)
{
    int results = 0;
    LM_TRY(check_text(text));
    *handle = mupCreate(muBASETYPE_FLOAT);
    if (!*handle)
        return lm_fail(LM_FAILED, "out of memory");
    define_names(p, *handle, text, functions_before, f, own);
    if (mupError(*handle))
        return lm_fail(LM_BAD_INPUT, "a name is no identifier");
    mupSetExpr(*handle, text);
    mupEvalMulti(*handle, &results);
    if (mupError(*handle))
        return fail_to_parse(*handle, p->names, f ? LM_OF_PLACE_AND_TIME : p->variables, text);
    if (results != 1)
        return lm_fail(LM_BAD_INPUT, "one value expected, not a list: \"%s\"", text);
    p->uses |= variables_used(p, *handle);
    return LM_OK;
}

/* Parses function k and those that it mentions, each once. */
static int parse_function(struct lm_parser *p, int k)
{
    const struct lm_function *f = &p->names->function[k];
    if (p->function[k].is_used)
        return LM_OK;
    p->function[k].is_used = 1;
    if (f->sample) {
        p->uses |= f->uses;
        return LM_OK;
    }
    for (int n = 0; n < k; n++)
        if (lm_text_mentions(f->text, p->names->function[n].name) && !is_argument(f, p->names->function[n].name))
            LM_TRY(parse_function(p, n));
    return parse(p, &p->function[k].handle, f->text, k, f, &p->function[k]);
}

static int parse_mentioned(struct lm_parser *p, const char *text)
{
    char words[WORDS];
    for (int k = 0; k < p->functions; k++) {
        const struct lm_function *f = &p->names->function[k];
        if (!lm_text_mentions(text, f->name) || is_hidden(p->variables, f->name))
            continue;
        const int not_allowed = f->uses & ~p->variables;
        if (not_allowed)
            return lm_fail(LM_BAD_INPUT, "%s depends on %s, which cannot be used %s: \"%s\"", f->name,
                           not_allowed & LM_USES_X   ? "x"
                           : not_allowed & LM_USES_Y ? "y"
                                                     : "t",
                           where_not(p->variables, words), text);
        LM_TRY(parse_function(p, k));
    }
    return LM_OK;
}

static int begin(struct lm_parser *p, const struct lm_names *names, int variables, int functions_known)
{
    *p = (struct lm_parser){.variables = variables, .names = names, .functions = functions_known};
    if (functions_known > 0)
        p->function = calloc((size_t)functions_known, sizeof *p->function);
    return functions_known == 0 || p->function ? LM_OK : lm_fail(LM_FAILED, "out of memory");
}

int lm_parser_open(struct lm_parser *p, const struct lm_names *names, const char *text, int variables)
{
    LM_TRY(begin(p, names, variables, names->functions));
    LM_TRY(check_text(text));
    LM_TRY(parse_mentioned(p, text));
    return parse(p, &p->handle, text, p->functions, NULL, NULL);
}

int lm_parser_open_function(struct lm_parser *p, const struct lm_names *names, int k)
{
    LM_TRY(begin(p, names, LM_OF_PLACE_AND_TIME, k + 1));
    return parse_function(p, k);
}

void lm_parser_close(struct lm_parser *p)
{
    if (p->handle)
        mupRelease(p->handle);
    for (int k = 0; p->function && k < p->functions; k++)
        if (p->function[k].handle)
            mupRelease(p->function[k].handle);
    free(p->function);
    *p = (struct lm_parser){.handle = NULL};
}

double lm_parser_value(struct lm_parser *p)
{
    for (int k = 0; k < p->functions; k++) {
        const struct lm_function *f = &p->names->function[k];
        if (p->function[k].is_used && f->sample)
            p->function[k].value = f->sample(f->data, p->x, p->y);
        else if (p->function[k].is_used && f->arguments == 0)
            p->function[k].value = mupEval(p->function[k].handle);
    }
    return mupEval(p->handle);
}
