/* Converts values of keys from text and to text. */
#include "config/keys.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "larmor/base.h"

enum { LONGEST_PATH = 800 }; /* leaves room for the names of files in a directory */

static void *member(const struct lm_key *key, void *base)
{
    return (char *)base + key->offset;
}

const char *lm_key_type(const struct lm_key *key)
{
    static const char *const names[] = {"integer",    "integer", "integer", "number",  "choice",
                                        "expression", "path",    "text",    "duration"};
    return names[key->kind];
}

/* 1 when an earlier choice has the same value. */
static int is_alias(const struct lm_key *key, const struct lm_choice *choice)
{
    const struct lm_choice *c = key->choices;
    while (c->value != choice->value)
        c++;
    return c != choice;
}

static void list_choices(const struct lm_key *key, char *out, const char *separator)
{
    *out = 0;
    for (const struct lm_choice *c = key->choices; c->name; c++) {
        if (is_alias(key, c))
            continue;
        strcat(out, c == key->choices ? "" : separator);
        strcat(out, c->name);
    }
}

void lm_key_range(const struct lm_key *key, char *out)
{
    enum { SIZE = 128 };
    if (key->kind == LM_KEY_CHOICE)
        list_choices(key, out, ", ");
    else if (key->kind == LM_KEY_SEED)
        snprintf(out, SIZE, "0 to 2^64 - 1");
    else if (key->kind == LM_KEY_PATH)
        snprintf(out, SIZE, "up to %d bytes", LONGEST_PATH);
    else if (key->kind == LM_KEY_TEXT)
        snprintf(out, SIZE, "up to %g bytes", key->high);
    else if (key->low == LM_POSITIVE && key->high == DBL_MAX)
        snprintf(out, SIZE, "> 0");
    else if (key->low == LM_POSITIVE)
        snprintf(out, SIZE, "> 0, <= %.6g", key->high);
    else if (key->high == DBL_MAX)
        snprintf(out, SIZE, key->low == -DBL_MAX ? "any" : ">= %.6g", key->low);
    else
        snprintf(out, SIZE, "%.6g to %.6g", key->low, key->high);
}

static int fail_range(const struct lm_key *key, const char *text)
{
    char range[128];
    lm_key_range(key, range);
    return lm_fail(LM_BAD_INPUT, "%s is out of range (%s)", text, range);
}

static int set_integer(const struct lm_key *key, void *base, const char *text)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end)
        return lm_fail(LM_BAD_INPUT, "\"%s\" is not an integer", text);
    if (errno || (double)v < key->low || (double)v > key->high)
        return fail_range(key, text);
    if (key->kind == LM_KEY_INT)
        *(int *)member(key, base) = (int)v;
    else
        *(int64_t *)member(key, base) = v;
    return LM_OK;
}

static int set_seed(const struct lm_key *key, void *base, const char *text)
{
    if (!*text || text[strspn(text, "0123456789")])
        return lm_fail(LM_BAD_INPUT, "\"%s\" is not an integer of 0 or more", text);
    errno = 0;
    unsigned long long v = strtoull(text, NULL, 10);
    if (errno)
        return fail_range(key, text);
    *(uint64_t *)member(key, base) = v;
    return LM_OK;
}

static int set_real(const struct lm_key *key, void *base, const char *text)
{
    char *end = NULL;
    double v = 0.0;
    if (!text[strspn(text, "0123456789+-.eE")]) /* strtod would accept hexadecimal numbers and nan */
        v = strtod(text, &end);
    if (!end || end == text || *end)
        return lm_fail(LM_BAD_INPUT, "\"%s\" is not a plain number", text);
    if (!isfinite(v) || v < key->low || v > key->high)
        return fail_range(key, text);
    *(double *)member(key, base) = v;
    return LM_OK;
}

int lm_key_is_number(const struct lm_key *key)
{
    return key->kind == LM_KEY_INT || key->kind == LM_KEY_LONG || key->kind == LM_KEY_SEED || key->kind == LM_KEY_REAL;
}

int lm_key_is_plain(const struct lm_key *key, const char *text)
{
    char *end;
    if (text[strspn(text, key->kind == LM_KEY_REAL ? "0123456789+-.eE" : "0123456789+-")])
        return 0; /* strtod accepts hexadecimal numbers and nan */
    strtod(text, &end);
    return end != text && !*end;
}

int lm_key_set_number(const struct lm_key *key, void *base, const char *text, double value)
{
    const double most = key->kind == LM_KEY_SEED ? 0x1p53 : key->high, least = key->kind == LM_KEY_SEED ? 0 : key->low;
    if (key->kind != LM_KEY_REAL && value != floor(value))
        return lm_fail(LM_BAD_INPUT, "\"%s\" is not an integer but %.17g; rint() would round it", text, value);
    if (!(value >= least && value <= most)) {
        char range[128];
        lm_key_range(key, range);
        return lm_fail(LM_BAD_INPUT, "%s = %.10g is out of range (%s)", text, value,
                       key->kind == LM_KEY_SEED ? "0 to 2^53 as an expression" : range);
    }
    if (key->kind == LM_KEY_REAL)
        *(double *)member(key, base) = value;
    else if (key->kind == LM_KEY_INT)
        *(int *)member(key, base) = (int)value;
    else if (key->kind == LM_KEY_LONG)
        *(int64_t *)member(key, base) = (int64_t)value;
    else
        *(uint64_t *)member(key, base) = (uint64_t)value;
    return LM_OK;
}

static int set_choice(const struct lm_key *key, void *base, const char *text)
{
    const char *best = NULL;
    int distance = lm_text_tolerance(text) + 1;
    for (const struct lm_choice *c = key->choices; c->name; c++) {
        if (!strcmp(c->name, text)) {
            *(int *)member(key, base) = c->value;
            return LM_OK;
        }
        lm_text_nearer(text, c->name, &best, &distance);
    }
    char list[128];
    *(int *)member(key, base) = LM_NOT_CHOSEN;
    list_choices(key, list, ", ");
    return lm_fail(LM_BAD_INPUT, "\"%s\" is not one of %s%s%s%s", text, list, best ? "; did you mean " : "",
                   best ? best : "", best ? "?" : "");
}

/* hh:mm:ss, or 0. */
static int set_duration(const struct lm_key *key, void *base, const char *text)
{
    int h, m, s, end = 0;
    if (!strcmp(text, "0"))
        h = m = s = 0;
    else if (strlen(text) > 12 || text[strspn(text, "0123456789:")] ||
             sscanf(text, "%6d:%2d:%2d%n", &h, &m, &s, &end) != 3 || text[end] || m > 59 || s > 59)
        return lm_fail(LM_BAD_INPUT, "\"%s\" is not a duration hh:mm:ss", text);
    *(double *)member(key, base) = 3600.0 * h + 60.0 * m + s;
    return LM_OK;
}

static int set_text(const struct lm_key *key, void *base, const char *text)
{
    size_t limit = LM_MAX_TEXT - 1;
    if (key->kind == LM_KEY_PATH)
        limit = LONGEST_PATH;
    else if (key->kind == LM_KEY_TEXT)
        limit = (size_t)key->high;
    size_t n = strlen(text);
    if (n > limit)
        return lm_fail(LM_BAD_INPUT, "longer than %zu bytes", limit);
    memcpy(member(key, base), text, n + 1);
    return LM_OK;
}

int lm_key_set(const struct lm_key *key, void *base, const char *text)
{
    if (!*text)
        return lm_fail(LM_BAD_INPUT, "no value");
    if (strchr("\"'", *text) && key->kind != LM_KEY_PATH)
        return lm_fail(LM_BAD_INPUT, "quotes are not allowed: %s; write the value without them", text);
    switch (key->kind) {
    case LM_KEY_INT:
    case LM_KEY_LONG:
        return set_integer(key, base, text);
    case LM_KEY_SEED:
        return set_seed(key, base, text);
    case LM_KEY_REAL:
        return set_real(key, base, text);
    case LM_KEY_CHOICE:
        return set_choice(key, base, text);
    case LM_KEY_DURATION:
        return set_duration(key, base, text);
    case LM_KEY_EXPR:
    case LM_KEY_PATH:
    case LM_KEY_TEXT:
        return set_text(key, base, text);
    }
    return LM_FAILED;
}

/* The shortest decimal number that gives the same double. */
static void real_text(double v, char *out)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            return;
    }
}

static const char *choice_text(const struct lm_key *key, int value)
{
    for (const struct lm_choice *c = key->choices; c->name; c++)
        if (c->value == value)
            return c->name;
    return "?";
}

void lm_key_text(const struct lm_key *key, const void *base, char *out)
{
    const void *at = (const char *)base + key->offset;
    switch (key->kind) {
    case LM_KEY_INT:
        snprintf(out, LM_KEY_TEXT_SIZE, "%d", *(const int *)at);
        break;
    case LM_KEY_LONG:
        snprintf(out, LM_KEY_TEXT_SIZE, "%" PRId64, *(const int64_t *)at);
        break;
    case LM_KEY_SEED:
        snprintf(out, LM_KEY_TEXT_SIZE, "%" PRIu64, *(const uint64_t *)at);
        break;
    case LM_KEY_REAL:
        real_text(*(const double *)at, out);
        break;
    case LM_KEY_CHOICE:
        snprintf(out, LM_KEY_TEXT_SIZE, "%s", choice_text(key, *(const int *)at));
        break;
    case LM_KEY_DURATION: {
        long s = lround(*(const double *)at);
        snprintf(out, LM_KEY_TEXT_SIZE, "%02ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
        break;
    }
    case LM_KEY_EXPR:
    case LM_KEY_PATH:
    case LM_KEY_TEXT:
        snprintf(out, LM_KEY_TEXT_SIZE, "%s", (const char *)at);
        break;
    }
}
