/* Checks of an expression that only the reader of the configuration needs. */
#ifndef LARMOR_BASE_EXPR_SCAN_H
#define LARMOR_BASE_EXPR_SCAN_H

#include "base/expr.h"

/* Evaluates the expression as lm_expr_fill does, in as many cells as LM_SCANNED_CELLS allows, and does not keep the
 * values. LM_BAD_INPUT: the message names the first x, y where the expression is not finite or below `least`
 * (-INFINITY: there is no bound). */
int lm_expr_scan(const struct lm_names *names, const char *text, const struct lm_grid *g, struct lm_cell_offset offset,
                 double least);

/* The same for an expression of x, y and the time t. */
int lm_expr_scan_at(const struct lm_names *names, const char *text, const struct lm_grid *g,
                    struct lm_cell_offset offset, double t, double least);

/* As lm_expr_at; LM_BAD_INPUT also where the value is below `least`. */
int lm_expr_at_least(const struct lm_names *names, const char *text, size_t count, const double *x, const double *y,
                     double t, double least, double *out);

#endif
