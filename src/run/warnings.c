#include "run/warnings.h"

static void text_of(const struct lm_limit *l, char *out, size_t size)
{
    snprintf(out, size, "%s is %.4g, beyond its limit %.4g (%s): %s", l->what, l->value, l->bound, l->about, l->advice);
}

void lm_warnings_print(const struct lm_limits *limits, const char *before, FILE *out)
{
    char text[LM_MAX_MESSAGE];
    for (int k = 0; k < limits->count; k++) {
        if (!lm_limit_is_exceeded(&limits->of[k]))
            continue;
        text_of(&limits->of[k], text, sizeof text);
        fprintf(out, "%s%s\n", before, text);
    }
}

json_t *lm_warnings_json(const struct lm_limits *limits)
{
    json_t *list = json_array();
    char text[LM_MAX_MESSAGE];
    for (int k = 0; k < limits->count; k++) {
        if (!lm_limit_is_exceeded(&limits->of[k]))
            continue;
        text_of(&limits->of[k], text, sizeof text);
        json_array_append_new(list, json_string(text));
    }
    return list;
}
