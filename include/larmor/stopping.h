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
 * Lines `# key = value` set the source of the numbers and the units. Other lines that begin with # are comments. A
 * table has two columns, or three with scattering. Scattering is d<theta^2>/ds, the growth of the mean square angle in
 * space along the path, divided by the density of the gas (ICRU Report 35, 1984).
 *
 * Every column may have the unit `normalized`: energy m_p v_A^2, stopping m_p v_A^2/(n0 d_i), scattering
 * rad^2/(n0 d_i). Energies may also be in eV, keV or MeV, stopping in `eV cm2`, scattering in `rad2 cm2`. A number may
 * stand before the unit as a factor. Physical units need B0 and n0.
 */
#ifndef LARMOR_STOPPING_H
#define LARMOR_STOPPING_H

#include "larmor/base.h"
#include "larmor/physics/collisions/stopping_power.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_MAX_STOPPING_ROWS = LM_MOST_ROWS - 1 }; /* of a file; the program adds one row below all energies */

struct lm_stopping_table {
    int points;                /* rows of the file, 2 to LM_MAX_STOPPING_ROWS; 0: no table */
    struct lm_stopping lookup; /* for the program; its rows and guide lie in `memory` */
    void *memory;              /* owned; lm_stopping_free frees it */
    int scatters;              /* 1: the third column has a value above 0 */
    char source[256];
};

/* Reads a table. `b0` [T] and `n0` [m^-3] are 0 where the configuration does not set them. LM_BAD_INPUT: the file
 * cannot be read or is no such table; the message says where and what, and `out` is empty. LM_FAILED: no memory. The
 * caller frees `out` with lm_stopping_free. */
int lm_stopping_read(const char *path, double b0, double n0, struct lm_stopping_table *out);
void lm_stopping_free(struct lm_stopping_table *table);

/* A hash of the rows of the table; 0: there is no table. */
uint64_t lm_stopping_hash(const struct lm_stopping_table *table);

#ifdef __cplusplus
}
#endif
#endif
