/* Expressions of the configuration: muParser, with names for the constants and, where allowed, x and y, or x, y and t.
 *
 * Operators and functions are muParser's (+ - * / ^, comparisons, `&&`, `||`, `?:`, sin, exp, min, ...), `pi`,
 * and the names of the [const] section. An assignment is an error. The elementary functions are the program's
 * own (larmor/physics/numerics/elementary.h) so that they give the same bits with every C library.
 */
#ifndef LARMOR_BASE_EXPR_H
#define LARMOR_BASE_EXPR_H

#include "larmor/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where values are looked at and not kept, all cells are, up to so many; of a larger grid at most that many along each
 * axis, spread evenly. */
enum { LM_SURVEYED_SIDE = 1 << 10, LM_SCANNED_CELLS = LM_SURVEYED_SIDE * LM_SURVEYED_SIDE };

/* Named constants, in order; later ones may use earlier ones. */
struct lm_constants;

int lm_constants_new(struct lm_constants **out);
void lm_constants_free(struct lm_constants **constants);

/* Defines `name` as the value of `text` (constants only, no x and y). LM_BAD_INPUT: the name is no identifier, is
 * taken (function, constant, x, y, t), or the expression is wrong or not finite. */
int lm_constants_define(struct lm_constants *constants, const char *name, const char *text);
int lm_constants_set(struct lm_constants *constants, const char *name, double value);

/* Value of an expression without x, y and t. LM_BAD_INPUT: cannot be parsed or is not finite. */
int lm_expr_value(const struct lm_constants *constants, const char *text, double *value);

/* Parses an expression of x and y without evaluating it over a grid; *uniform: it uses neither x nor y. */
int lm_expr_check(const struct lm_constants *constants, const char *text, int *uniform);

/* Evaluates an expression of x and y [d_i, from the domain's lower left corner] at `offset` in every cell of the grid
 * and fills `array` (g->size doubles, ghosts by periodic wrap; behind walls the expression goes on, or
 * where it is not finite the value at the wall). LM_BAD_INPUT names the first x, y where it is not
 * finite. */
int lm_expr_fill(const struct lm_constants *constants, const char *text, const struct lm_grid *g,
                 struct lm_cell_offset offset, double *array);

/* Evaluates an expression of x, y and the time t at `offset` in every cell, and where that is on an upper face also on
 * the domain's lower one (index -1); other ghosts stay. `array`: g->size doubles, or NULL: looked at only. LM_BAD_INPUT
 * names the first x, y, t where it is not finite. */
int lm_expr_fill_at(const struct lm_constants *constants, const char *text, const struct lm_grid *g,
                    struct lm_cell_offset offset, double t, double *array);

/* Evaluates an expression of x, y and the time t at `count` points. LM_BAD_INPUT names the first x, y, t where it is
 * not finite. */
int lm_expr_at(const struct lm_constants *constants, const char *text, size_t count, const double *x, const double *y,
               double t, double *out);

/* Parses an expression of x, y and t; *uses: it depends on t. */
int lm_expr_uses_time(const struct lm_constants *constants, const char *text, int *uses);

#ifdef __cplusplus
}
#endif
#endif
