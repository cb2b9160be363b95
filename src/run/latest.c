#include "run/latest.h"

#include <stdio.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"

int lm_run_find_latest(const struct lm_config *config, struct lm_run_options *options, char *path)
{
    const char *directory = config->output.directory;
    char damaged[LM_MAX_PATH] = "", summary[LM_MAX_PATH];
    int64_t step = 0;
    options->restart = lm_checkpoint_newest(directory, path, &step, damaged) ? path : NULL;
    if (*damaged)
        fprintf(stderr, "larmor: warning: %s: is damaged and passed over\n", damaged);
    const int is_complete = options->restart && step >= config->run.steps && !options->overwrite &&
                            !lm_path(summary, "%s/run.json", directory) && !access(summary, F_OK);
    if (is_complete && !options->quiet)
        fprintf(stderr, "%s: the run is complete, at step %lld; nothing is left to do\n", directory, (long long)step);
    else if (!options->quiet && options->restart)
        fprintf(stderr, "goes on from %s\n", path);
    return is_complete;
}
