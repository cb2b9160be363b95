/* A parsed expression. Only the files expr*.c, names.c and program.c need it. */
#ifndef LARMOR_BASE_EXPR_PARSER_H
#define LARMOR_BASE_EXPR_PARSER_H

#include <muParserDLL.h>

#include "base/names.h"
#include "larmor/base.h"
#include "larmor/physics/numerics/program.h"

/* What an expression may depend on, or what it does depend on, also through functions. LM_USES_X to LM_USES_B are
 * 1 << enum lm_program_variable. */
enum {
    LM_USES_X = 1 << LM_VAR_X,
    LM_USES_Y = 1 << LM_VAR_Y,
    LM_USES_T = 1 << LM_VAR_T,
    LM_USES_PLASMA = 1 << LM_VAR_N | 1 << LM_VAR_TE | 1 << LM_VAR_J | 1 << LM_VAR_B,
    LM_USES_VELOCITY = 1 << LM_PROGRAM_VARIABLES
};
enum {
    LM_OF_NOTHING = 0,
    LM_OF_PLACE = LM_USES_X | LM_USES_Y,
    LM_OF_PLACE_AND_TIME = LM_OF_PLACE | LM_USES_T,
    LM_OF_PARTICLE = LM_OF_PLACE | LM_USES_VELOCITY
};

enum { LM_MAX_CONSTANTS = 128, LM_MAX_FUNCTIONS = 64 };

struct lm_function {
    char name[LM_MAX_NAME];
    int arguments;
    char argument[LM_MAX_ARGUMENTS][LM_MAX_NAME];
    char *text; /* owned; NULL: `sample` computes the value */
    lm_sample *sample;
    const void *data;
    int uses;
    double calls; /* of functions with arguments, in one evaluation */
};

struct lm_names {
    int constants, functions;
    struct {
        char name[LM_MAX_NAME]; /* "": another definition has taken its place */
        double value;
        int gives_way;
    } constant[LM_MAX_CONSTANTS];
    struct lm_function function[LM_MAX_FUNCTIONS];
    const char *no_units; /* what messages say of a unit of SI that is not defined, or NULL */
    int threads;          /* lm_names_limit_threads */
};

/* A function as one parser uses it: parsed on its own, evaluated before or within the expressions that mention it. */
struct lm_used_function {
    int is_used; /* 0: the expression does not need this function */
    muParserHandle_t handle;
    double argument[LM_MAX_ARGUMENTS], value;
};

/* Expressions are evaluated at x, y and t, with n, Te, J and B there, or at x, y and a velocity. The parser keeps the
 * addresses of these members, so it must not move. */
struct lm_parser {
    muParserHandle_t handle;
    int variables; /* that it may depend on */
    double x, y, t, v[3], plasma[4];
    int uses;
    int functions; /* of the names; the length of the list */
    struct lm_used_function *function;
    const struct lm_names *names;
};

/* Parses `text`. The caller closes the parser, also after an error. Those of `variables` that are neither x, y nor t
 * hide names of the configuration, but not within its functions. */
int lm_parser_open(struct lm_parser *p, const struct lm_names *names, const char *text, int variables);
void lm_parser_close(struct lm_parser *p);

/* Parses function k of the names, which may use those before it. */
int lm_parser_open_function(struct lm_parser *p, const struct lm_names *names, int k);

/* The value at p->x, p->y, p->t and p->plasma, or p->v. */
double lm_parser_value(struct lm_parser *p);

/* 1 when the name is x, y or t; 1 when it is a function that every expression may use (sin, ...). */
int lm_parser_has_variable(const char *name);
int lm_parser_has_function(const char *name);

/* The bit of a variable among `variables`, 0 when the name is none of them. */
int lm_parser_variable(int variables, const char *name);

#endif
