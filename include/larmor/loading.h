/* Host side of loading, shared by the backends. */
#ifndef LARMOR_LOADING_H
#define LARMOR_LOADING_H

#include "larmor/backend.h"
#include "larmor/physics/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `profile` from `from` (host arrays, borrowed). *scale: the table that profile->quiet_scale points to, or NULL;
 * the caller frees it after the profile's last use. */
int lm_profile_make(const struct lm_grid *g, const struct lm_loading *from, int species, struct lm_profile *profile,
                    double **scale);

#ifdef __cplusplus
}
#endif
#endif
