/* What the configuration asks of an expression and no other module does. */
#ifndef LARMOR_EXPR_SCAN_H
#define LARMOR_EXPR_SCAN_H

#include "larmor/expr.h"

/* Evaluates the expression as lm_expr_fill would, without keeping the values. LM_BAD_INPUT names the first x, y where
 * it is not finite or below `least` (-INFINITY: no bound). */
int lm_expr_scan(const struct lm_constants *constants, const char *text, const struct lm_grid *g, struct lm_place place,
                 double least);

#endif
