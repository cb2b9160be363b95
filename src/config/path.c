/* Paths of files that a configuration names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/reader.h"

/* The directory of the configuration file as an absolute path. */
static int directory_of(const char *file, char *out)
{
    char path[LM_MAX_PATH];
    const char *slash = strrchr(file, '/');
    if (lm_path(path, "%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : "."))
        return LM_BAD_INPUT;
    char *whole = realpath(path, NULL);
    if (!whole)
        return lm_fail(LM_BAD_INPUT, "%s: %s", path, strerror(errno));
    int status = lm_path(out, "%s", strcmp(whole, "/") ? whole : "");
    free(whole);
    return status;
}

int lm_config_resolve_path(struct lm_config_reader *r, const char *section, const char *key, void *item, int line)
{
    const struct lm_key *k = &lm_keys[lm_keys_find(section, key)];
    const char *value = (const char *)item + k->offset;
    char directory[LM_MAX_PATH], path[LM_MAX_PATH];
    const int prefix = (int)strcspn(section, ".") + 1;
    if (value[0] == '/')
        return 0;
    if (directory_of(r->config->file, directory) || lm_path(path, "%s/%s", directory, value)) {
        lm_problems_add(&r->problems, line, "%.*s%s.%s: %s", prefix, section, (const char *)item, key, lm_error());
        return 1;
    }
    int status = lm_key_set(k, item, path);
    if (!status && !path[lm_ini_comment(path)])
        return 0;
    lm_problems_add(&r->problems, line, "%.*s%s.%s: the whole path %s: %s", prefix, section, (const char *)item, key,
                    path, status ? lm_error() : "# or ; would begin a comment");
    return 1;
}
