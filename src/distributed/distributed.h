/* The backend of many ranks. Rank 0 runs the simulation, and every other rank serves it.
 *
 * Each operation of the seam (src/backend/backend.h) becomes an order that rank 0 hands to all ranks. All ranks, rank 0
 * too, carry it out on the backend of their part of the domain. Orders with a result reduce it; orders with data move
 * these between rank 0, which has whole arrays, and the ranks. So the simulation, its outputs and its checkpoints know
 * of no ranks, and one state has one form on any number of them.
 *
 * The bits are the same on any number of ranks: sums over particles and cells are integers, maxima do not depend on an
 * order, and the rest is local: a rank computes the cells of its halo from the same values with the same operations as
 * their owner.
 */
#ifndef LARMOR_DISTRIBUTED_DISTRIBUTED_H
#define LARMOR_DISTRIBUTED_DISTRIBUTED_H

#include "backend/backend.h"
#include "ranks/halo.h"

/* Carries out the orders of rank 0 until it ends; for all other ranks. Returns LM_OK. */
int lm_distributed_serve(void);

/* Seconds that ranks 0 and 1 take to send each other so many bytes, the mean of `repeats` times; for rank 0. `b`:
 * a backend of two ranks or more. */
double lm_distributed_ping(struct lm_backend *b, size_t bytes, int repeats);

/* The imbalance of the steps since the last call: the time that they have kept the busiest rank computing, over the
 * mean of all ranks. For rank 0. */
int lm_distributed_measure(struct lm_backend *b, double *imbalance);

/* Divides the domain anew by what the steps since then have cost the ranks. For rank 0. */
int lm_distributed_rebalance(struct lm_backend *b);

/* How often the domain has been divided anew, and the seconds that all of it took. For rank 0. */
int lm_distributed_divisions(struct lm_backend *b, double *seconds);

/* For tests: at every sort the domain is divided anew, by costs that differ from sort to sort. */
void lm_distributed_disturb(int always);

/* Tells the serving ranks to end; for rank 0, last of all. */
void lm_distributed_dismiss(void);

#endif
