#include "run/latest.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint/checkpoint.h"

/* 1 when run.json says that a run to this number of steps has ended there. */
static int is_complete(const struct lm_config *config)
{
    char path[LM_MAX_PATH];
    json_t *summary = lm_path(path, "%s/run.json", config->output.directory) ? NULL : json_load_file(path, 0, NULL);
    const char *ended = json_string_value(json_object_get(summary, "ended"));
    const json_int_t step = json_integer_value(json_object_get(summary, "last_step"));
    const int complete = ended && !strcmp(ended, "complete") && step >= config->run.steps;
    json_decref(summary);
    return complete;
}

int lm_run_find_latest(const struct lm_config *config, struct lm_run_options *options, char *path)
{
    const char *directory = config->output.directory;
    char damaged[LM_MAX_PATH] = "";
    int64_t step = 0;
    if (is_complete(config)) {
        if (!options->quiet)
            fprintf(stderr, "%s: the run is complete, at step %lld; nothing is left to do\n", directory,
                    (long long)config->run.steps);
        return 1;
    }
    options->restart = lm_checkpoint_newest(directory, path, &step, damaged) ? path : NULL;
    if (*damaged)
        fprintf(stderr, "larmor: warning: %s: is damaged and passed over\n", damaged);
    if (!options->quiet && options->restart)
        fprintf(stderr, "goes on from %s\n", path);
    return 0;
}
