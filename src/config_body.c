/* Bodies of a configuration: what can be said of them before and after they are cut into cells. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "config_reader.h"

static void report(struct lm_config_reader *r, int body, const char *name, const char *wrong)
{
    int k = lm_keys_find(LM_BODY_SECTION, name);
    lm_problems_add(&r->problems, r->named[LM_BODIES][body][k], "body.%s.%s: %s", r->config->body[body].name, name,
                    wrong);
}

static void check_points(struct lm_config_reader *r, int body)
{
    double points[LM_MAX_POINTS][2];
    int count;
    if (r->config->body[body].points[0] && lm_body_points(r->config->body[body].points, points, &count))
        report(r, body, "points", lm_error());
}

/* The directory of the configuration's file as a path from the root. */
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

/* A path from the root, so that the echo in another directory means the same file. */
static void resolve_file(struct lm_config_reader *r, int body)
{
    struct lm_body_config *b = &r->config->body[body];
    char directory[LM_MAX_PATH], path[LM_MAX_PATH], wrong[2 * LM_MAX_PATH];
    if (!b->file[0] || b->file[0] == '/')
        return;
    if (directory_of(r->config->file, directory) || lm_path(path, "%s/%s", directory, b->file)) {
        report(r, body, "file", lm_error());
        return;
    }
    int status = lm_key_set(&lm_keys[lm_keys_find(LM_BODY_SECTION, "file")], b, path);
    if (!status && !path[lm_ini_comment(path)])
        return;
    snprintf(wrong, sizeof wrong, "the whole path %s: %s", path, status ? lm_error() : "# or ; would begin a comment");
    report(r, body, "file", wrong);
}

void lm_config_check_points(struct lm_config_reader *r)
{
    for (int k = 0; k < r->config->body_count; k++) {
        check_points(r, k);
        resolve_file(r, k);
    }
}

int lm_config_check_cells(struct lm_config_reader *r)
{
    const struct lm_config *c = r->config;
    if (c->body_count == 0 || r->problems.count > 0 || r->unusable_values)
        return LM_OK;
    int body;
    const char *key;
    uint8_t *mask = malloc((size_t)c->grid.nx * (size_t)c->grid.ny);
    int status = mask ? lm_body_cut(c, mask, &body, &key) : lm_fail(LM_FAILED, "not enough memory");
    free(mask);
    if (status != LM_BAD_INPUT)
        return status;
    report(r, body, key, lm_error());
    return LM_OK;
}
