/* What body_mask.c (cells of shapes), body_file.c (masks from files) and body.c (checks) share. */
#ifndef LARMOR_CONFIG_BODY_SHAPE_H
#define LARMOR_CONFIG_BODY_SHAPE_H

#include "larmor/config.h"

enum { LM_MAX_POINTS = LM_MAX_TEXT / 4 }; /* of a polygon: "0 0," is the shortest */

/* Reads "x y, x y, ...". LM_BAD_INPUT: the text has another form, or fewer than three points. */
int lm_body_points(const char *text, double points[LM_MAX_POINTS][2], int *count);

/* As lm_body_mask, but the message has no file, section and key; *body and *key say which ones. */
int lm_body_cut(const struct lm_config *config, uint8_t *mask, int *body, const char **key);

/* Reads the mask file of a body into own[ny][nx]: 1 in the body. LM_BAD_INPUT: it cannot be read or has another size.
 */
int lm_body_read(const struct lm_body_config *body, int nx, int ny, uint8_t *own);

#endif
