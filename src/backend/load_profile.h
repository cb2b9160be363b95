/* Host side of loading, shared by the backends. */
#ifndef LARMOR_BACKEND_LOAD_PROFILE_H
#define LARMOR_BACKEND_LOAD_PROFILE_H

#include "backend/backend.h"
#include "larmor/physics/particles/profile.h"

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
