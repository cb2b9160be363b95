/* The columns of the time series: their names, units, meanings and values, all in one place
 * (src/output/series_columns.c). */
#ifndef LARMOR_OUTPUT_SERIES_COLUMNS_H
#define LARMOR_OUTPUT_SERIES_COLUMNS_H

#include "config/facts.h"
#include "larmor/sim.h"
#include "output/series.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the column with struct lm_energy_budget.share (output/energy_budget.h). */
#define LM_ENERGY_COLUMN "energy_budget"
#define LM_UNCERTAIN_COLUMN "energy_uncertain" /* where fields carry energy through a side */

enum { LM_ROW_MAX = 27 + (9 + LM_LEDGER_VALUES * LM_ACCOUNTS) * LM_MAX_SPECIES + (6 + LM_SIDES) * LM_MAX_BACKGROUNDS };

/* The columns, to be freed. LM_BAD_INPUT: names of species, bodies and background fields that give two columns one
 * name. */
int lm_row_columns(const struct lm_config *config, int *count, struct lm_series_column **columns);

/* The row of a state. `rate`: particle-steps/s since the last row. */
int lm_row_fill(struct lm_sim *sim, const struct lm_config *config, const struct lm_references *references, double rate,
                double *row);

/* The state as it stands as the references of the drift columns. */
int lm_row_references(struct lm_sim *sim, struct lm_references *out);

#ifdef __cplusplus
}
#endif
#endif
