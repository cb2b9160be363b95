#include "run/latest.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint/checkpoint.h"
#include "run/differences.h"

enum left {
    NOTHING,    /* or nothing that can be read */
    UNFINISHED, /* a run of these settings that has not come to its end */
    COMPLETE,   /* a run of these settings to this step */
    OTHER       /* a run of other settings, or one that went further */
};

/* The last step of a run that came to its end; -1: run.json does not tell of one. */
static int64_t complete_at(const struct lm_config *config)
{
    char path[LM_MAX_PATH];
    json_t *summary = lm_path(path, "%s/run.json", config->output.directory) ? NULL : json_load_file(path, 0, NULL);
    const char *ended = json_string_value(json_object_get(summary, "ended"));
    const int64_t step =
        ended && !strcmp(ended, "complete") ? json_integer_value(json_object_get(summary, "last_step")) : -1;
    json_decref(summary);
    return step;
}

/* What the directory holds. */
static enum left what_is_left(const struct lm_config *config)
{
    struct lm_differences d;
    const int64_t end = complete_at(config);
    const int status = lm_differences_of_run(config, &d), others = d.count;
    lm_differences_free(&d);
    if (status)
        return NOTHING;
    return others > 0 || end > config->run.steps ? OTHER : end == config->run.steps ? COMPLETE : UNFINISHED;
}

/* A complete run of other settings stays, unless the user allows that it is replaced. */
static int refuse_other(const struct lm_config *config)
{
    struct lm_differences d;
    char what[512] = "";
    if (!lm_differences_of_run(config, &d) && d.count > 0)
        snprintf(what, sizeof what, " (%s: %.160s there, %.160s here)", d.list[0].key, d.list[0].there, d.list[0].here);
    lm_differences_free(&d);
    return lm_fail(
        LM_BAD_INPUT,
        "%s: holds a complete run of other settings%s, which --overwrite would replace; choose another output "
        "directory with --output or output.directory",
        config->output.directory, what);
}

int lm_run_find_latest(const struct lm_config *config, struct lm_run_options *options, char *path, int *complete)
{
    const char *directory = config->output.directory;
    const enum left left = what_is_left(config);
    char damaged[LM_MAX_PATH] = "";
    int64_t step = 0;
    options->restart = NULL;
    *complete = left == COMPLETE;
    if (*complete && !options->quiet)
        fprintf(stderr, "%s: the run is complete, at step %lld; nothing is left to do\n", directory,
                (long long)config->run.steps);
    if (*complete || (left == OTHER && options->overwrite))
        return LM_OK;
    if (left == OTHER && complete_at(config) >= 0)
        return refuse_other(config);
    options->restart = lm_checkpoint_newest(directory, path, &step, damaged) ? path : NULL;
    if (*damaged)
        fprintf(stderr, "larmor: warning: %s: is damaged and passed over\n", damaged);
    if (!options->quiet && options->restart)
        fprintf(stderr, "goes on from %s\n", path);
    return LM_OK;
}
