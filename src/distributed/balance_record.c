#include "distributed/balance_record.h"

#include <math.h>

static const double WORTH = 1.01, FIRST_PRICE = 16; /* an imbalance; steps */

/* After a division that has not helped, or that there was no memory for, the next one has to pay four times more. */
static double more_caution(const struct lm_balance_record *r)
{
    return 4 * fmax(r->caution, 1);
}

int lm_balance_is_better(double imbalance, double than)
{
    return imbalance - 1 < 0.5 * (than - 1);
}

/* A part of 1/2 is best where the time grows with the square of the work, 1 where it grows with the work. With 0.6 a
 * division mends 3/5 of the error at least. */
double lm_balance_next_price(double assumed, double measured)
{
    return assumed * pow(measured / assumed, 0.6);
}

/* Looks back at the last division. One that has not helped makes the next ones rarer. What counts is the mean of the
 * imbalance: where the work moves steadily, the imbalance itself is soon back, however good the division was. */
static void learn(struct lm_balance_record *r, double now, int steps)
{
    enum { STEPS = 128 };
    if (r->before == 0 || steps < r->steps + STEPS)
        return;
    const double mean = 1 / (1 - r->lost / (now - r->divided));
    r->caution = lm_balance_is_better(mean, r->before) ? 1 : more_caution(r);
    r->before = 0;
}

int lm_balance_is_due(struct lm_balance_record *r, double now, double imbalance, int steps)
{
    if (r->looked_at == 0) {
        r->began = now;
        r->first = steps;
    }
    const double price = r->price > 0 ? r->price : FIRST_PRICE * (now - r->began) / fmax(steps - r->first, 1);
    r->lost += r->looked_at > 0 ? (now - r->looked_at) * (1 - 1 / imbalance) : 0;
    r->looked_at = now;
    learn(r, now, steps);
    return imbalance > WORTH && r->lost > price * fmax(r->caution, 1);
}

void lm_balance_note_refusal(struct lm_balance_record *r, double now)
{
    r->lost = 0;
    r->looked_at = now;
    r->before = 0;
}

void lm_balance_note_no_memory(struct lm_balance_record *r, double now)
{
    lm_balance_note_refusal(r, now);
    r->caution = more_caution(r);
}

void lm_balance_note_division(struct lm_balance_record *r, double begin, double now, double imbalance, int steps)
{
    lm_balance_note_refusal(r, now);
    r->price = now - begin;
    r->before = imbalance;
    r->divided = now;
    r->steps = steps;
    r->divisions++;
    r->seconds += r->price;
}
