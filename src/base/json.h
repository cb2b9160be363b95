/* JSON values that are valid for any number and any text of a run. The caller owns what is returned; NULL: no memory.
 */
#ifndef LARMOR_BASE_JSON_H
#define LARMOR_BASE_JSON_H

#include <jansson.h>

/* The number; null where it is not finite, because JSON has no infinity and no NaN. */
json_t *lm_json_real(double value);

/* The text; "(not UTF-8)" where it is not UTF-8, because JSON must be. Paths and values of keys may hold any bytes. */
json_t *lm_json_text(const char *text);

#endif
