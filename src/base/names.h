/* The names that expressions of a configuration may use: constants, and functions of x, y, t and arguments. */
#ifndef LARMOR_BASE_NAMES_H
#define LARMOR_BASE_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_MAX_ARGUMENTS = 4 };

/* Constants and functions in the order of their definition. A definition may use earlier ones. `pi` is there from the
 * beginning. Threads may share it as long as nothing is defined. */
struct lm_names;

int lm_names_new(struct lm_names **out);
void lm_names_free(struct lm_names **names);

/* Defines a constant as the value of `text`, an expression without x, y and t, or as `value`. LM_BAD_INPUT: the name is
 * no identifier, it is taken (by a function, a constant, x, y or t), or the expression is wrong or not finite. */
int lm_names_define_constant(struct lm_names *names, const char *name, const char *text);
int lm_names_set_constant(struct lm_names *names, const char *name, double value);

/* Defines a constant that gives way: a later definition of the same name, or an argument, takes its place. */
int lm_names_set_unit(struct lm_names *names, const char *name, double value);

/* What messages say of a unit of SI (units.h) that is not defined. The text is borrowed. */
void lm_names_explain_units(struct lm_names *names, const char *explanation);

/* The most threads that expressions on a whole grid take; 0: all that are available. */
void lm_names_limit_threads(struct lm_names *names, int threads);

/* Defines a function. `signature` is a name, or a name with one to LM_MAX_ARGUMENTS arguments in parentheses,
 * "layer(u, w)". `text` is an expression of x, y, t and the arguments. LM_BAD_INPUT: as above, or an argument has the
 * name of something else. */
int lm_names_define_function(struct lm_names *names, const char *signature, const char *text);

/* Defines a function of x and y that is computed by `sample`. `data` is borrowed. LM_BAD_INPUT: as above. */
typedef double lm_sample(const void *data, double x, double y);
int lm_names_define_sampled(struct lm_names *names, const char *name, lm_sample *sample, const void *data);

/* The name in a signature, into out[LM_MAX_NAME]. LM_BAD_INPUT: it is not of the form NAME or NAME(ARGUMENT, ...). */
int lm_names_of_signature(const char *signature, char *out);

#ifdef __cplusplus
}
#endif
#endif
