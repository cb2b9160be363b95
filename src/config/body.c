/* Checks of the bodies of a configuration, before and after their cells are found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/body_shape.h"
#include "config/reader.h"

/* On a grid with more cells the bodies are checked later, when it is known that there is memory for the grid. */
static const double MAX_CELLS = 1 << 22;

static void report(struct lm_config_reader *r, int body, const char *name, const char *wrong)
{
    int k = lm_keys_find(LM_BODY_SECTION, name);
    lm_problems_add(&r->problems, r->named_key_line[LM_BODIES][body][k], "body.%s.%s: %s", r->config->body[body].name,
                    name, wrong);
}

static void check_points(struct lm_config_reader *r, int body)
{
    double points[LM_MAX_POINTS][2];
    int count;
    if (r->config->body[body].points[0] && lm_body_points(r->config->body[body].points, points, &count))
        report(r, body, "points", lm_error());
}

static void resolve_file(struct lm_config_reader *r, int body)
{
    struct lm_body_config *b = &r->config->body[body];
    if (b->file[0])
        lm_config_resolve_path(r, LM_BODY_SECTION, "file", b,
                               r->named_key_line[LM_BODIES][body][lm_keys_find(LM_BODY_SECTION, "file")]);
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
    const double cells = (double)c->grid.nx * c->grid.ny;
    if (c->body_count == 0 || r->problems.count > 0 || r->unusable_values || cells > MAX_CELLS)
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
