/* Expressions that a backend evaluates in every cell: a list of instructions for a machine with a stack.
 *
 * src/base/program.h compiles the text of an expression into such a list. muParser, which evaluates all other
 * expressions, runs on the host only. The CPU and the GPU run the same list with the same functions, so the values have
 * the same bits.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_PROGRAM_H
#define LARMOR_PHYSICS_NUMERICS_PROGRAM_H

#include "larmor/physics/numerics/elementary_expr.h"

/* What an expression may depend on: place [d_i], time [1/Omega_ci], and of the plasma there the electron density [n0],
 * the electron temperature, |J| [B0/(mu0 d_i)] and |B| [B0]. */
enum lm_program_variable {
    LM_VAR_X,
    LM_VAR_Y,
    LM_VAR_T,
    LM_VAR_N,
    LM_VAR_TE,
    LM_VAR_J,
    LM_VAR_B,
    LM_PROGRAM_VARIABLES
};

enum { LM_PROGRAM_LENGTH = 256, LM_PROGRAM_STACK = 32 };

/* The top of the stack is written c, or b c, or a b c with c above b above a. The order in the list counts. */
enum lm_instruction_code {
    /* These put one value on the stack: */
    LM_DO_NUMBER,   /* `value` */
    LM_DO_VARIABLE, /* variable number `argument` */
    LM_DO_COPY,     /* a copy of stack place number `argument`, which is an argument of a function */
    /* These replace c: */
    LM_DO_NEGATE, /* -c */
    LM_DO_SQRT,
    LM_DO_ABS,
    LM_DO_SIGN, /* -1, 0 or 1 */
    LM_DO_RINT, /* the nearest whole number; the upper one of two that are equally near */
    LM_DO_SIN,
    LM_DO_COS,
    LM_DO_TAN,
    LM_DO_ASIN,
    LM_DO_ACOS,
    LM_DO_ATAN,
    LM_DO_SINH,
    LM_DO_COSH,
    LM_DO_TANH,
    LM_DO_ASINH,
    LM_DO_ACOSH,
    LM_DO_ATANH,
    LM_DO_EXP,
    LM_DO_LOG,
    LM_DO_LOG2,
    LM_DO_LOG10,
    LM_DO_PRODUCT, /* c c ... c with `argument` factors */
    /* These replace b and c: */
    LM_DO_ADD,
    LM_DO_SUBTRACT,
    LM_DO_MULTIPLY,
    LM_DO_DIVIDE,
    LM_DO_MIN,
    LM_DO_MAX,
    LM_DO_LESS, /* comparisons are 1 or 0 */
    LM_DO_LESS_EQUAL,
    LM_DO_GREATER,
    LM_DO_GREATER_EQUAL,
    LM_DO_EQUAL,
    LM_DO_NOT_EQUAL,
    LM_DO_AND, /* true is what is not 0 */
    LM_DO_OR,
    LM_DO_ATAN2, /* the angle of the point (c, b) */
    LM_DO_POWER, /* b^c */
    /* These replace more: */
    LM_DO_SELECT, /* replaces a, b and c: b where a is true, else c */
    LM_DO_LEAVE   /* takes away the `argument` values beneath c: the arguments of a function whose value is c */
};

struct lm_instruction {
    int code;     /* enum lm_instruction_code */
    int argument; /* number of a variable, of a place or of factors */
    double value; /* of a number */
};

/* No instruction finds too few values on the stack, none needs more than LM_PROGRAM_STACK, and one is left at the end.
 */
struct lm_program {
    int length; /* 0: the value is 0 everywhere */
    int uses;   /* 1 << variable, for each that it reads */
    struct lm_instruction code[LM_PROGRAM_LENGTH];
};

LM_HD double lm_program_of_one(const struct lm_instruction *in, double c)
{
    double product = c;
    switch (in->code) {
    case LM_DO_NEGATE:
        return -c;
    case LM_DO_SQRT:
        return lm_sqrt(c);
    case LM_DO_ABS:
        return c >= 0.0 ? c : -c;
    case LM_DO_SIGN:
        return c < 0.0 ? -1.0 : c > 0.0 ? 1.0 : 0.0;
    case LM_DO_RINT:
        return lm_floor(c + 0.5);
    case LM_DO_SIN:
        return lm_sin(c);
    case LM_DO_COS:
        return lm_cos(c);
    case LM_DO_TAN:
        return lm_tan(c);
    case LM_DO_ASIN:
        return lm_asin(c);
    case LM_DO_ACOS:
        return lm_acos(c);
    case LM_DO_ATAN:
        return lm_atan(c);
    case LM_DO_SINH:
        return lm_sinh(c);
    case LM_DO_COSH:
        return lm_cosh(c);
    case LM_DO_TANH:
        return lm_tanh(c);
    case LM_DO_ASINH:
        return lm_asinh(c);
    case LM_DO_ACOSH:
        return lm_acosh(c);
    case LM_DO_ATANH:
        return lm_atanh(c);
    case LM_DO_EXP:
        return lm_exp(c);
    case LM_DO_LOG:
        return lm_log(c);
    case LM_DO_LOG2:
        return lm_log2(c);
    case LM_DO_LOG10:
        return lm_log10(c);
    default: /* LM_DO_PRODUCT */
        for (int k = 1; k < in->argument; k++)
            product *= c;
        return product;
    }
}

LM_HD double lm_program_of_two(int code, double b, double c)
{
    switch (code) {
    case LM_DO_ADD:
        return b + c;
    case LM_DO_SUBTRACT:
        return b - c;
    case LM_DO_MULTIPLY:
        return b * c;
    case LM_DO_DIVIDE:
        return b / c;
    case LM_DO_MIN:
        return c < b ? c : b;
    case LM_DO_MAX:
        return b < c ? c : b;
    case LM_DO_LESS:
        return b < c;
    case LM_DO_LESS_EQUAL:
        return b <= c;
    case LM_DO_GREATER:
        return b > c;
    case LM_DO_GREATER_EQUAL:
        return b >= c;
    case LM_DO_EQUAL:
        return b == c;
    case LM_DO_NOT_EQUAL:
        return b != c;
    case LM_DO_AND:
        return b != 0.0 && c != 0.0;
    case LM_DO_OR:
        return b != 0.0 || c != 0.0;
    case LM_DO_ATAN2:
        return lm_atan2(b, c);
    default: /* LM_DO_POWER */
        return lm_power(b, c);
    }
}

/* The value for variable[]; of these only the ones that p->uses names are read. NaN is always the same NaN. The body is
 * long: a file calls this function in one place. */
LM_HD double lm_program_value(const struct lm_program *p, const double variable[LM_PROGRAM_VARIABLES])
{
    double below[LM_PROGRAM_STACK], c = 0.0; /* place k of the stack is below[k + 1], that of the top is c */
    int depth = 0;
    for (int k = 0; k < p->length; k++) {
        const struct lm_instruction *in = &p->code[k];
        if (in->code <= LM_DO_COPY) {
            below[depth++] = c;
            c = in->code == LM_DO_NUMBER     ? in->value
                : in->code == LM_DO_VARIABLE ? variable[in->argument]
                                             : below[in->argument + 1];
        } else if (in->code <= LM_DO_PRODUCT) {
            c = lm_program_of_one(in, c);
        } else if (in->code <= LM_DO_POWER) {
            c = lm_program_of_two(in->code, below[--depth], c);
        } else if (in->code == LM_DO_SELECT) {
            depth -= 2;
            c = below[depth] != 0.0 ? below[depth + 1] : c;
        } else {
            depth -= in->argument;
        }
    }
    return c == c ? c : lm_nan();
}

#endif
