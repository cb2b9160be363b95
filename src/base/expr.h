/* Expressions of the configuration, parsed by muParser.
 *
 * An expression may use the operators and functions of muParser (+ - * / ^, comparisons, `&&`, `||`, `?:`, sin, exp,
 * min,
 * ...), the names of its configuration (base/names.h), and where it is allowed also x and y, or x, y and t. An
 * assignment is an error. The elementary functions are the program's own (base/elementary_host.h), so that they give
 * the same bits with every C library. The operator ^ is muParser's, which calls the C library's pow; pow(a, b) is the
 * program's own.
 */
#ifndef LARMOR_BASE_EXPR_H
#define LARMOR_BASE_EXPR_H

#include "base/names.h"
#include "larmor/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A check that does not keep the values evaluates every cell of a grid of up to LM_SCANNED_CELLS cells. On a larger
 * grid it evaluates at most LM_SURVEYED_SIDE cells along each axis, at even distances. */
enum { LM_SURVEYED_SIDE = 1 << 10, LM_SCANNED_CELLS = LM_SURVEYED_SIDE * LM_SURVEYED_SIDE };

/* The value of an expression without x, y and t. LM_BAD_INPUT: it cannot be parsed or is not finite. */
int lm_expr_value(const struct lm_names *names, const char *text, double *value);

/* Parses an expression of x and y and does not evaluate it. *uniform = 1: it uses neither x nor y. */
int lm_expr_check(const struct lm_names *names, const char *text, int *uniform);

/* Evaluates an expression of x and y [d_i, from the lower left corner of the domain] at `offset` in every cell of the
 * grid, into array[g->size]. Ghost cells beyond periodic sides are copies. In ghost cells behind walls the expression
 * is evaluated too; where it is not finite there, the value at the wall is taken. LM_BAD_INPUT: the message names the
 * first x, y in the domain where the expression is not finite. */
int lm_expr_fill(const struct lm_names *names, const char *text, const struct lm_grid *g, struct lm_cell_offset offset,
                 double *array);

/* Evaluates an expression of x, y and the time t at `offset` in every cell. Where the offset is that of an upper face,
 * the lower face of the domain (index -1) is evaluated too. Other ghost cells stay as they are. `array` has g->size
 * doubles; with NULL the values are checked and not kept. LM_BAD_INPUT: the message names the first x, y, t where the
 * expression is not finite. */
int lm_expr_fill_at(const struct lm_names *names, const char *text, const struct lm_grid *g,
                    struct lm_cell_offset offset, double t, double *array);

/* Evaluates an expression of x, y and the time t at `count` points. LM_BAD_INPUT: the message names the first x, y, t
 * where it is not finite. */
int lm_expr_at(const struct lm_names *names, const char *text, size_t count, const double *x, const double *y, double t,
               double *out);

/* Which of `count` particles an expression of x, y, vx, vy and vz selects: selected[k] = 1 where its value is a number
 * other than 0. count = 0 only checks it. LM_BAD_INPUT: it cannot be parsed. */
int lm_expr_select(const struct lm_names *names, const char *text, size_t count, const double *const xyv[5],
                   unsigned char *selected);

/* Parses an expression of x, y and t. *uses = 1: it depends on t. */
int lm_expr_uses_time(const struct lm_names *names, const char *text, int *uses);

#ifdef __cplusplus
}
#endif
#endif
