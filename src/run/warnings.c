#include "run/warnings.h"

#include "run/unwritten.h"

/* A stream, and what begins each of its lines. */
struct lines {
    FILE *out;
    const char *before;
};

static void print(void *user, const char *text)
{
    const struct lines *l = user;
    fprintf(l->out, "%s%s\n", l->before, text);
}

static void append(void *user, const char *text)
{
    json_array_append_new(user, json_string(text));
}

static void each(const struct lm_config *config, const struct lm_limits *limits,
                 void (*tell)(void *user, const char *text), void *user)
{
    char text[LM_MAX_MESSAGE];
    for (int k = 0; k < limits->count; k++) {
        const struct lm_limit *l = &limits->of[k];
        if (!lm_limit_is_exceeded(l))
            continue;
        snprintf(text, sizeof text, "%s is %.4g, beyond its limit %.4g (%s): %s", l->what, l->value, l->bound, l->about,
                 l->advice);
        tell(user, text);
    }
    if (config)
        lm_unwritten_each(config, tell, user);
}

void lm_warnings_print(const struct lm_config *config, const struct lm_limits *limits, const char *before, FILE *out)
{
    each(config, limits, print, &(struct lines){out, before});
}

json_t *lm_warnings_json(const struct lm_config *config, const struct lm_limits *limits)
{
    json_t *list = json_array();
    each(config, limits, append, list);
    return list;
}
