/* The decision when the domain is divided anew during a run. It pays as soon as the ranks have waited for the busiest
 * one for as long as a division takes; the first one is assumed to take as long as 16 steps. */
#ifndef LARMOR_DISTRIBUTED_BALANCE_RECORD_H
#define LARMOR_DISTRIBUTED_BALANCE_RECORD_H

/* All zero at the start of a run. */
struct lm_balance_record {
    double began;     /* s: clock at the first look; */
    int first;        /* steps at that time */
    double looked_at; /* s: clock at the last look */
    double lost;      /* s: what imbalance has cost since the last division or refusal */
    double price;     /* s: what the last division took */
    double caution;   /* times the price that must have been lost: larger after divisions that have not helped */
    double before;    /* imbalance before the last division; 0: its effect has been seen */
    double divided;   /* s: clock after the last division */
    int steps;        /* at the last division */
    int divisions;    /* so far, */
    double seconds;   /* which took so long together */
};

/* Looks at the clock (s), at the imbalance (the time of the busiest rank over the mean of all, 1 or more) and at the
 * number of steps since the start. Returns 1 if a division would pay. */
int lm_balance_is_due(struct lm_balance_record *r, double now, double imbalance, int steps);

/* Whether a division is worth it that turns one imbalance into another: it must end half of the waiting. */
int lm_balance_is_better(double imbalance, double than);

/* The price of a unit of work on a rank, over the mean of all ranks, that the next division shall assume: between the
 * one that the present division assumes and the one that has been measured with it. It is not all the way, because the
 * price may depend on the work: on two GPUs the ratio of the times has changed by twice as much as that of the work
 * (docs/performance/results.md, "Many GPUs"). */
double lm_balance_next_price(double assumed, double measured);

/* Notes a division that began at `begin`; one that was not worth it; or one that there was no memory for. */
void lm_balance_note_division(struct lm_balance_record *r, double begin, double now, double imbalance, int steps);
void lm_balance_note_refusal(struct lm_balance_record *r, double now);
void lm_balance_note_no_memory(struct lm_balance_record *r, double now);

#endif
