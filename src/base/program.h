/* The compiler from the text of an expression to a program that a backend runs in every cell.
 *
 * It reads the language of base/expr.h, with the same names, precedence and messages. The values are those of muParser
 * with two exceptions. First, the last bits: muParser reorders some sums and products with constants, and its ^ is the
 * pow of the C library. A program computes as written; ^ is lm_power, or a plain product where the exponent is 1, 2, 3
 * or 4. Second, muParser takes a number between -1 and 1 for false where && or || has two constants ("0.5 && 1" is 0).
 * In a program every number but 0 is true.
 */
#ifndef LARMOR_BASE_PROGRAM_H
#define LARMOR_BASE_PROGRAM_H

#include "base/names.h"
#include "larmor/physics/numerics/program.h"

/* The variables of what drives the plasma from outside. */
enum { LM_PROGRAM_OF_X_Y_T = 1 << LM_VAR_X | 1 << LM_VAR_Y | 1 << LM_VAR_T };

/* All variables: those of the resistivity. */
enum { LM_PROGRAM_OF_PLASMA = (1 << LM_PROGRAM_VARIABLES) - 1 };

/* Compiles an expression of those variables x, y, t, n, Te, J and B whose bits, 1 << enum lm_program_variable, are in
 * `allowed`. A name of the configuration that is n, Te, J or B is hidden where that variable is allowed; within
 * functions of the configuration it keeps its meaning. What does not depend on a variable is computed here, and a
 * branch of ?: that is never taken is left out. LM_BAD_INPUT: the expression is wrong, is too long or too deep, or uses
 * a function that `sample` computes; *out is then the program of length 0. */
int lm_program_compile(const struct lm_names *names, const char *text, unsigned allowed, struct lm_program *out);

#endif
