/* `larmor check`: electrons whose pressure is evolved. */
#ifndef LARMOR_CHECK_ELECTRONS_H
#define LARMOR_CHECK_ELECTRONS_H

#include "larmor/sim.h"

/* room: lm_background_room. */
int lm_check_electrons(const struct lm_config *config, const uint8_t *room, FILE *out);

#endif
