/* Tables of how ions are stopped and scattered in a gas, from text files.
 *
 *     # source = NIST PSTAR, hydrogen, 2024
 *     # energy = keV
 *     # stopping = 1e-15 eV cm2
 *     # scattering = 1e-18 rad2 cm2
 *     # energy of an ion, stopping cross-section, scattering cross-section
 *     1     2.1   8.7
 *     10    6.4   0.094
 *
 * `# key = value` lines say where the numbers come from and their units; other lines that begin with # are comments.
 * Two columns, or three with scattering: d<theta^2>/ds of the angle in space over the gas density (ICRU Report 35,
 * 1984). Units: `normalized` (energy m_p v_A^2, stopping m_p v_A^2/(n0 d_i), scattering rad^2/(n0 d_i)), or for
 * energies eV, keV, MeV; for stopping `eV cm2`; for scattering `rad2 cm2`; the last two after a number if one likes.
 * Physical units need B0 and n0.
 */
#ifndef LARMOR_STOPPING_H
#define LARMOR_STOPPING_H

#include "larmor/base.h"
#include "larmor/physics/collisions/stopping_power.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_MOST_STOPPING = LM_MOST_ROWS - 1 }; /* rows of a file */

struct lm_stopping_table {
    int points;                /* rows of the file, 2 to LM_MOST_STOPPING; 0: no table */
    struct lm_stopping lookup; /* its memory is owned: lm_stopping_free */
    int scatters;              /* there is a third column with something in it */
    char source[LM_MAX_TEXT];
};

/* `b0`, T, and `n0`, m^-3: 0 where not given. LM_BAD_INPUT: not readable, or not such a table (the message says where
 * and what); `out` is then empty. */
int lm_stopping_read(const char *path, double b0, double n0, struct lm_stopping_table *out);
void lm_stopping_free(struct lm_stopping_table *table);

/* Of what is in the table; 0: there is none. */
uint64_t lm_stopping_hash(const struct lm_stopping_table *table);

#ifdef __cplusplus
}
#endif
#endif
