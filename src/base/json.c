#include "base/json.h"

#include <math.h>

json_t *lm_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *lm_json_text(const char *text)
{
    json_t *j = json_string(text);
    return j ? j : json_string("(not UTF-8)");
}
