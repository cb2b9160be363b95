#include "base/expr.h"

#include <muParserDLL.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary_host.h"
#include "base/expr_scan.h"
#include "larmor/base.h"
#include "base/text.h"
#include "base/try.h"

enum { MAX_CONSTANTS = 128 };

struct lm_constants {
    int count;
    struct {
        char name[LM_MAX_NAME];
        double value;
    } entry[MAX_CONSTANTS];
};

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

/* What an expression may depend on. */
enum variables { CONSTANT, OF_POSITION, OF_POSITION_AND_TIME };

/* A parsed expression; x, y and t are its variables. */
struct parser {
    muParserHandle_t handle;
    enum variables variables;
    double x, y, t;
    int uses_x, uses_y, uses_t;
};

static int is_function(const char *name)
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

static int is_variable(const char *name)
{
    return !strcmp(name, "x") || !strcmp(name, "y") || !strcmp(name, "t");
}

static int find(const struct lm_constants *constants, const char *name)
{
    for (int k = 0; k < constants->count; k++)
        if (!strcmp(constants->entry[k].name, name))
            return k;
    return -1;
}

static const char *nearest_name(const struct lm_constants *constants, const char *word)
{
    const char *best = NULL;
    int distance = lm_text_tolerance(word) + 1;
    for (int k = 0; k < constants->count; k++)
        lm_text_nearer(word, constants->entry[k].name, &best, &distance);
    for (size_t k = 0; k < COUNT(functions); k++)
        lm_text_nearer(word, functions[k].name, &best, &distance);
    for (size_t k = 0; k < COUNT(functions2); k++)
        lm_text_nearer(word, functions2[k].name, &best, &distance);
    for (size_t k = 0; k < COUNT(parser_functions); k++)
        lm_text_nearer(word, parser_functions[k], &best, &distance);
    return best;
}

/* A message with the name at which the parser failed, and what is wrong with that name. */
static int fail_at_name(const struct parser *p, const struct lm_constants *constants, const char *text, const char *at)
{
    char name[LM_MAX_TEXT];
    size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    n = n < sizeof name ? n : sizeof name - 1;
    memcpy(name, at, n);
    name[n] = 0;
    if (is_variable(name))
        return lm_fail(LM_BAD_INPUT, "%s cannot be used %s: \"%s\"", name,
                       p->variables == CONSTANT ? "in a constant" : "here, where only x and y can", text);
    if (is_function(name))
        return lm_fail(LM_BAD_INPUT, "function %s needs its arguments in parentheses: \"%s\"", name, text);
    const char *near = nearest_name(constants, name);
    return lm_fail(LM_BAD_INPUT, "unknown name \"%s\" in \"%s\"%s%s%s", name, text, near ? ", did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

static int fail_to_parse(const struct parser *p, const struct lm_constants *constants, const char *text)
{
    enum { UNASSIGNABLE_TOKEN = 1 }; /* muParser's ecUNASSIGNABLE_TOKEN */
    int code = mupGetErrorCode(p->handle), position = mupGetErrorPos(p->handle);
    size_t at = position < 0 ? 0 : (size_t)position;
    if (code == UNASSIGNABLE_TOKEN && at < strlen(text)) {
        char c = text[at];
        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_')
            return fail_at_name(p, constants, text, text + at);
        return lm_fail(LM_BAD_INPUT, "cannot read \"%s\" at \"%s\"", text, text + at);
    }
    if (at >= strlen(text))
        return lm_fail(LM_BAD_INPUT, "cannot read \"%s\": it ends too early", text);
    return lm_fail(LM_BAD_INPUT, "cannot read \"%s\" near \"%s\"", text, text + at);
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

static void define_all(struct parser *p, const struct lm_constants *constants)
{
    for (size_t k = 0; k < COUNT(functions); k++)
        mupDefineFun1(p->handle, functions[k].name, functions[k].function, 1);
    for (size_t k = 0; k < COUNT(functions2); k++)
        mupDefineFun2(p->handle, functions2[k].name, functions2[k].function, 1);
    for (int k = 0; k < constants->count; k++)
        mupDefineConst(p->handle, constants->entry[k].name, constants->entry[k].value);
    if (p->variables != CONSTANT) {
        mupDefineVar(p->handle, "x", &p->x);
        mupDefineVar(p->handle, "y", &p->y);
    }
    if (p->variables == OF_POSITION_AND_TIME)
        mupDefineVar(p->handle, "t", &p->t);
}

static void find_used(struct parser *p)
{
    int n = mupGetExprVarNum(p->handle);
    for (int k = 0; k < n; k++) {
        const char *name = NULL;
        double *variable = NULL;
        mupGetExprVar(p->handle, (unsigned)k, &name, &variable);
        p->uses_x |= name && !strcmp(name, "x");
        p->uses_y |= name && !strcmp(name, "y");
        p->uses_t |= name && !strcmp(name, "t");
    }
}

/* The parser keeps the addresses of p->x, p->y and p->t, so p must not move. The caller closes the parser, also after
 * an error. */
static int open_parser(struct parser *p, const struct lm_constants *constants, const char *text,
                       enum variables variables)
{
    *p = (struct parser){.variables = variables};
    if (check_text(text))
        return LM_BAD_INPUT;
    p->handle = mupCreate(muBASETYPE_FLOAT);
    if (!p->handle)
        return lm_fail(LM_FAILED, "out of memory");
    define_all(p, constants);
    if (mupError(p->handle))
        return lm_fail(LM_BAD_INPUT, "a name is no identifier");
    mupSetExpr(p->handle, text);
    int results = 0;
    mupEvalMulti(p->handle, &results);
    if (mupError(p->handle))
        return fail_to_parse(p, constants, text);
    if (results != 1)
        return lm_fail(LM_BAD_INPUT, "one value expected, not a list: \"%s\"", text);
    find_used(p);
    return LM_OK;
}

static void close_parser(struct parser *p)
{
    if (p->handle)
        mupRelease(p->handle);
    p->handle = NULL;
}

/* In words, because the C library prints some NaNs with a sign. */
static const char *not_finite(double value)
{
    return isnan(value) ? "not a number" : "infinite";
}

int lm_constants_new(struct lm_constants **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return lm_fail(LM_FAILED, "out of memory");
    return lm_constants_set(*out, "pi", 3.14159265358979323846);
}

void lm_constants_free(struct lm_constants **constants)
{
    free(*constants);
    *constants = NULL;
}

int lm_constants_set(struct lm_constants *constants, const char *name, double value)
{
    if (!lm_text_is_name(name))
        return lm_fail(LM_BAD_INPUT, "\"%.80s\" is not a name: a letter, then letters, digits and _, at most %d", name,
                       LM_MAX_NAME - 1);
    if (is_variable(name) || is_function(name) || find(constants, name) >= 0)
        return lm_fail(LM_BAD_INPUT, "the name \"%s\" is taken", name);
    if (constants->count == MAX_CONSTANTS)
        return lm_fail(LM_BAD_INPUT, "more than %d constants", MAX_CONSTANTS);
    int k = constants->count++;
    memcpy(constants->entry[k].name, name, strlen(name) + 1);
    constants->entry[k].value = value;
    return LM_OK;
}

int lm_constants_define(struct lm_constants *constants, const char *name, const char *text)
{
    double value;
    LM_TRY(lm_expr_value(constants, text, &value));
    return lm_constants_set(constants, name, value);
}

int lm_expr_value(const struct lm_constants *constants, const char *text, double *value)
{
    struct parser p;
    int status = open_parser(&p, constants, text, CONSTANT);
    if (!status) {
        *value = mupEval(p.handle);
        if (!isfinite(*value))
            status = lm_fail(LM_BAD_INPUT, "\"%s\" is %s", text, not_finite(*value));
    }
    close_parser(&p);
    return status;
}

int lm_expr_check(const struct lm_constants *constants, const char *text, int *uniform)
{
    struct parser p;
    int status = open_parser(&p, constants, text, OF_POSITION);
    if (!status)
        *uniform = !p.uses_x && !p.uses_y;
    close_parser(&p);
    return status;
}

int lm_expr_uses_time(const struct lm_constants *constants, const char *text, int *uses)
{
    struct parser p;
    int status = open_parser(&p, constants, text, OF_POSITION_AND_TIME);
    if (!status)
        *uses = p.uses_t;
    close_parser(&p);
    return status;
}

static double at_cell(struct parser *p, const struct lm_grid *g, struct lm_cell_offset offset, int i, int j)
{
    p->x = (lm_domain_x(&g->place, i) + 0.5 + offset.x) * g->dx;
    p->y = (lm_domain_y(&g->place, j) + 0.5 + offset.y) * g->dy;
    return mupEval(p->handle);
}

static int fail_value(const struct parser *p, const char *text, double value, double least)
{
    char place[128];
    int n = snprintf(place, sizeof place, "x = %.10g, y = %.10g", p->x, p->y);
    if (p->variables == OF_POSITION_AND_TIME)
        snprintf(place + n, sizeof place - (size_t)n, ", t = %.10g", p->t);
    if (!isfinite(value))
        return lm_fail(LM_BAD_INPUT, "\"%s\" is %s at %s", text, not_finite(value), place);
    return lm_fail(LM_BAD_INPUT, "\"%s\" is %.10g at %s; the least allowed is %g", text, value, place, least);
}

int lm_expr_at_least(const struct lm_constants *constants, const char *text, size_t count, const double *x,
                     const double *y, double t, double least, double *out)
{
    struct parser p;
    int status = open_parser(&p, constants, text, OF_POSITION_AND_TIME);
    p.t = t;
    for (size_t k = 0; k < count && !status; k++) {
        p.x = x[k];
        p.y = y[k];
        out[k] = mupEval(p.handle);
        if (!isfinite(out[k]) || out[k] < least)
            status = fail_value(&p, text, out[k], least);
    }
    close_parser(&p);
    return status;
}

int lm_expr_at(const struct lm_constants *constants, const char *text, size_t count, const double *x, const double *y,
               double t, double *out)
{
    return lm_expr_at_least(constants, text, count, x, y, t, -HUGE_VAL, out);
}

/* The distance between two evaluated cells along an axis of n cells. `many`: the grid has too many cells for all. */
static int stride(int n, int many)
{
    return many ? (n + LM_SURVEYED_SIDE - 1) / LM_SURVEYED_SIDE : 1;
}

/* The last cell of an axis is always evaluated. */
static int next(int i, int by, int n)
{
    return i < n - 1 && i + by > n - 1 ? n - 1 : i + by;
}

static int scan(const struct lm_constants *constants, const char *text, const struct lm_grid *g,
                struct lm_cell_offset offset, enum variables variables, double t, double least)
{
    struct parser p;
    int status = open_parser(&p, constants, text, variables);
    p.t = t;
    const int nx = p.uses_x ? g->nx : 1, ny = p.uses_y ? g->ny : 1, many = (double)nx * ny > LM_SCANNED_CELLS;
    for (int j = 0; !status && j < ny; j = next(j, stride(ny, many), ny))
        for (int i = 0; !status && i < nx; i = next(i, stride(nx, many), nx)) {
            double value = at_cell(&p, g, offset, i, j);
            if (!isfinite(value) || value < least)
                status = fail_value(&p, text, value, least);
        }
    close_parser(&p);
    return status;
}

int lm_expr_scan(const struct lm_constants *constants, const char *text, const struct lm_grid *g,
                 struct lm_cell_offset offset, double least)
{
    return scan(constants, text, g, offset, OF_POSITION, 0.0, least);
}

int lm_expr_scan_at(const struct lm_constants *constants, const char *text, const struct lm_grid *g,
                    struct lm_cell_offset offset, double t, double least)
{
    return scan(constants, text, g, offset, OF_POSITION_AND_TIME, t, least);
}

int lm_expr_fill_at(const struct lm_constants *constants, const char *text, const struct lm_grid *g,
                    struct lm_cell_offset offset, double t, double *array)
{
    struct parser p;
    if (!array && g->cells > LM_SCANNED_CELLS)
        return lm_expr_scan_at(constants, text, g, offset, t, -HUGE_VAL);
    int status = open_parser(&p, constants, text, OF_POSITION_AND_TIME);
    const int x = offset.x > 0.0 ? -1 : 0, y = offset.y > 0.0 ? -1 : 0;
    double value = 0.0;
    p.t = t;
    for (int j = y; !status && j < g->ny; j++)
        for (int i = x; !status && i < g->nx; i++) {
            if (p.uses_x || i == x) /* else the value is that of the first cell of the row */
                value = at_cell(&p, g, offset, i, j);
            if (!isfinite(value))
                status = fail_value(&p, text, value, -HUGE_VAL);
            if (array)
                array[lm_at(g, i, j)] = value;
        }
    close_parser(&p);
    return status;
}

/* The number of ghost cells in which an expression is evaluated: those behind a wall. */
static int beyond(const struct lm_grid *g, enum lm_side side)
{
    return g->sides.of[side] == LM_PERIODIC ? 0 : LM_GHOST;
}

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Row j of the array. An expression that does not depend on a coordinate is evaluated once along that axis. */
static int fill_row(struct parser *p, const struct lm_grid *g, struct lm_cell_offset offset, int j, const char *text,
                    double *array)
{
    const int x = beyond(g, LM_X_MIN), y = beyond(g, LM_Y_MIN);
    double *row = array + lm_at(g, 0, j);
    if (j > -y && !p->uses_y) {
        memcpy(row - x, array + lm_at(g, -x, -y), (size_t)(g->nx + 2 * x) * sizeof *row);
        return LM_OK;
    }
    for (int i = -x; i < g->nx + x; i++) {
        row[i] = i > -x && !p->uses_x ? row[-x] : at_cell(p, g, offset, i, j);
        if (!isfinite(row[i])) /* an expression need not be finite behind a wall: take the value at the wall */
            row[i] = at_cell(p, g, offset, clamp(i, g->nx), clamp(j, g->ny));
        if (!isfinite(row[i]))
            return fail_value(p, text, row[i], -HUGE_VAL);
    }
    return LM_OK;
}

int lm_expr_fill(const struct lm_constants *constants, const char *text, const struct lm_grid *g,
                 struct lm_cell_offset offset, double *array)
{
    struct parser p;
    int status = open_parser(&p, constants, text, OF_POSITION);
    const int y = beyond(g, LM_Y_MIN);
    for (int j = -y; !status && j < g->ny + y; j++)
        status = fill_row(&p, g, offset, j, text, array);
    if (!status)
        lm_grid_wrap(g, array);
    close_parser(&p);
    return status;
}
