#include "run/provenance.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/provenance.h"
#include "larmor/run.h"

void lm_run_set_provenance(const struct lm_config *c)
{
    char *settings = NULL;
    size_t size;
    FILE *out = open_memstream(&settings, &size);
    const int failed = !out || lm_config_write(c, out);
    if (out)
        fclose(out);
    lm_provenance_set(LM_COMMIT, lm_version_commit());
    lm_provenance_set(LM_SETTINGS, failed ? NULL : settings);
    free(settings);
}
