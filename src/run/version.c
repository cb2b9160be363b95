#include <stdio.h>

#include "larmor/config.h"
#include "larmor/run.h"
#include "base/threads.h"
#include "backend/backend.h"
#include "ranks/ranks.h"

#ifndef LM_GIT
#define LM_GIT "unknown"
#endif

const char *lm_version_commit(void)
{
    return LM_GIT;
}

const char *lm_version_software(void)
{
    return "Larmor " LM_VERSION " (" LM_GIT ")";
}

void lm_version_print(FILE *out)
{
    int kind = LM_BACKEND_CPU;
    char line[256];
    fprintf(out, "%s\ncompiler: gcc %s\nbackend cpu: %d threads\n", lm_version_software(), __VERSION__,
            lm_threads_available());
    if (lm_backend_resolve(LM_BACKEND_CUDA, 0, &kind, line, sizeof line))
        fprintf(out, "%s\n", lm_error());
    else
        fprintf(out, "backend cuda: %s\n", line);
    fprintf(out, "ranks: %s\n", lm_ranks_library() ? lm_ranks_library() : "this program was built without MPI");
}
