#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/expr_parser.h"
#include "base/text.h"
#include "base/try.h"

static const double MOST_CALLS = 1e4;

int lm_names_new(struct lm_names **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return lm_fail(LM_FAILED, "out of memory");
    return lm_names_set_constant(*out, "pi", 3.14159265358979323846);
}

void lm_names_free(struct lm_names **names)
{
    for (int k = 0; *names && k < (*names)->functions; k++)
        free((*names)->function[k].text);
    free(*names);
    *names = NULL;
}

static int is_known(const struct lm_names *names, const char *name)
{
    for (int k = 0; k < names->constants; k++)
        if (!strcmp(names->constant[k].name, name) && !names->constant[k].gives_way)
            return 1;
    for (int k = 0; k < names->functions; k++)
        if (!strcmp(names->function[k].name, name))
            return 1;
    return lm_parser_has_variable(name) || lm_parser_has_function(name);
}

static int check_name(const struct lm_names *names, const char *name)
{
    if (!lm_text_is_name(name))
        return lm_fail(LM_BAD_INPUT, "\"%.80s\" is not a name: a letter, then letters, digits and _, at most %d", name,
                       LM_MAX_NAME - 1);
    return is_known(names, name) ? lm_fail(LM_BAD_INPUT, "the name \"%s\" is taken", name) : LM_OK;
}

/* The name gets another meaning. */
static void replace_unit(struct lm_names *names, const char *name)
{
    for (int k = 0; k < names->constants; k++)
        if (!strcmp(names->constant[k].name, name))
            names->constant[k].name[0] = 0;
}

int lm_names_set_constant(struct lm_names *names, const char *name, double value)
{
    LM_TRY(check_name(names, name));
    replace_unit(names, name);
    if (names->constants == LM_MAX_CONSTANTS)
        return lm_fail(LM_BAD_INPUT, "more than %d constants", LM_MAX_CONSTANTS);
    int k = names->constants++;
    memcpy(names->constant[k].name, name, strlen(name) + 1);
    names->constant[k].value = value;
    names->constant[k].gives_way = 0;
    return LM_OK;
}

int lm_names_set_unit(struct lm_names *names, const char *name, double value)
{
    LM_TRY(lm_names_set_constant(names, name, value));
    names->constant[names->constants - 1].gives_way = 1;
    return LM_OK;
}

void lm_names_explain_units(struct lm_names *names, const char *explanation)
{
    names->no_units = explanation;
}

void lm_names_limit_threads(struct lm_names *names, int threads)
{
    names->threads = threads;
}

int lm_names_define_constant(struct lm_names *names, const char *name, const char *text)
{
    double value;
    LM_TRY(lm_expr_value(names, text, &value));
    return lm_names_set_constant(names, name, value);
}

/* Copies the name at `text`, without blanks around it; returns what follows it. */
static const char *read_name(const char *text, char *out)
{
    text += strspn(text, " \t");
    const size_t n = strcspn(text, " \t(),");
    const size_t kept = n < LM_MAX_NAME ? n : LM_MAX_NAME - 1;
    memcpy(out, text, kept);
    out[kept] = 0;
    if (n != kept)
        out[0] = 0; /* no name */
    return text + n + strspn(text + n, " \t");
}

static int fail_signature(const char *signature)
{
    return lm_fail(LM_BAD_INPUT, "\"%.80s\" is not of the form NAME or NAME(ARGUMENT, ...), with up to %d arguments",
                   signature, LM_MAX_ARGUMENTS);
}

static int read_signature(const char *signature, struct lm_function *f)
{
    const char *at = read_name(signature, f->name);
    f->arguments = 0;
    if (!lm_text_is_name(f->name))
        return fail_signature(signature);
    if (!*at)
        return LM_OK;
    if (*at != '(')
        return fail_signature(signature);
    do {
        if (f->arguments == LM_MAX_ARGUMENTS)
            return fail_signature(signature);
        at = read_name(at + 1, f->argument[f->arguments++]);
        if (!lm_text_is_name(f->argument[f->arguments - 1]))
            return fail_signature(signature);
    } while (*at == ',');
    return at[0] == ')' && !at[1] ? LM_OK : fail_signature(signature);
}

int lm_names_of_signature(const char *signature, char *out)
{
    struct lm_function f;
    LM_TRY(read_signature(signature, &f));
    memcpy(out, f.name, sizeof f.name);
    return LM_OK;
}

static int check_arguments(const struct lm_names *names, const struct lm_function *f)
{
    for (int k = 0; k < f->arguments; k++) {
        int taken = is_known(names, f->argument[k]) || !strcmp(f->argument[k], f->name);
        for (int n = 0; n < k; n++)
            taken |= !strcmp(f->argument[k], f->argument[n]);
        if (taken)
            return lm_fail(LM_BAD_INPUT, "the argument %s has the name of something else", f->argument[k]);
    }
    return LM_OK;
}

int lm_names_define_function(struct lm_names *names, const char *signature, const char *text)
{
    struct lm_parser p;
    struct lm_function f = {.text = NULL};
    LM_TRY(read_signature(signature, &f));
    LM_TRY(check_name(names, f.name));
    LM_TRY(check_arguments(names, &f));
    if (names->functions == LM_MAX_FUNCTIONS)
        return lm_fail(LM_BAD_INPUT, "more than %d functions", LM_MAX_FUNCTIONS);
    f.text = strdup(text);
    if (!f.text)
        return lm_fail(LM_FAILED, "out of memory");
    struct lm_function *new = &names->function[names->functions];
    for (int k = 0; k < names->functions; k++)
        if (names->function[k].arguments > 0)
            f.calls += lm_text_mentions(text, names->function[k].name) * (1 + names->function[k].calls);
    if (f.calls > MOST_CALLS) {
        free(f.text);
        return lm_fail(LM_BAD_INPUT, "calls other functions %.3g times; at most %g are allowed", f.calls, MOST_CALLS);
    }
    *new = f;
    const int status = lm_parser_open_function(&p, names, names->functions);
    new->uses = p.uses;
    lm_parser_close(&p);
    if (status) {
        free(f.text);
        return status;
    }
    names->functions++;
    replace_unit(names, f.name);
    return LM_OK;
}

int lm_names_define_sampled(struct lm_names *names, const char *name, lm_sample *sample, const void *data)
{
    LM_TRY(check_name(names, name));
    if (names->functions == LM_MAX_FUNCTIONS)
        return lm_fail(LM_BAD_INPUT, "more than %d functions", LM_MAX_FUNCTIONS);
    struct lm_function *f = &names->function[names->functions++];
    *f = (struct lm_function){.sample = sample, .data = data, .uses = LM_USES_X | LM_USES_Y};
    memcpy(f->name, name, strlen(name) + 1);
    replace_unit(names, name);
    return LM_OK;
}
