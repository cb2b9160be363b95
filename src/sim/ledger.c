#include "larmor/ledger.h"

#include <math.h>
#include <string.h>

#include "larmor/physics/numerics/bounds.h"

const char *const lm_channel_names[LM_CHANNELS] = {"x_min",
                                                   "x_max",
                                                   "y_min",
                                                   "y_max",
                                                   [LM_ENERGY_STOPPED] = "energy_stopped",
                                                   [LM_THETA_BOUNDARY] = "theta_boundary",
                                                   [LM_THETA_CUTOFF] = "theta_cutoff"};

/* 2^50 particles of the largest speed fit 127 bits. */
enum { LEDGER_BITS = 76 };

void lm_ledger_begin(struct lm_ledger *l, uint64_t loaded, double fastest)
{
    const int speed_exponent = lm_speed_exponent(fastest);
    *l = (struct lm_ledger){
        .loaded = loaded, .exponent_v = LEDGER_BITS - speed_exponent, .exponent_v2 = LEDGER_BITS - 2 * speed_exponent};
}

static lm_int128 shifted(int64_t sum, int from, int to)
{
    return (lm_int128)sum * ((lm_int128)1 << (to - from));
}

void lm_ledger_units(const struct lm_ledger *l, double count, int speed_exponent, int *exponent_v, int *exponent_v2)
{
    const int v = lm_sum_exponent(count, speed_exponent), v2 = lm_sum_exponent(count, 2 * speed_exponent);
    *exponent_v = v < l->exponent_v ? v : l->exponent_v;
    *exponent_v2 = v2 < l->exponent_v2 ? v2 : l->exponent_v2;
}

void lm_ledger_add(const struct lm_ledger *l, struct lm_account *to, const struct lm_tally *t, int exponent_v,
                   int exponent_v2)
{
    to->number += (uint64_t)t->number;
    for (int d = 0; d < 3; d++)
        to->v[d] += shifted(t->v[d], exponent_v, l->exponent_v);
    to->v2 += shifted(t->v2, exponent_v2, l->exponent_v2);
}

uint64_t lm_ledger_present(const struct lm_ledger *l)
{
    uint64_t n = l->loaded;
    for (int way = 0; way < LM_ENTRANCES; way++)
        n += l->injected[way].number;
    for (int channel = 0; channel < LM_CHANNELS; channel++)
        n -= l->lost[channel].number;
    return n;
}

/* The sum of a fixed-point account as a double, rounded once. */
static double value(lm_int128 sum, int exponent)
{
    return ldexp((double)sum, -exponent);
}

void lm_ledger_values(const struct lm_ledger *l, const struct lm_account *a, double weight, double mass,
                      double out[LM_LEDGER_VALUES])
{
    out[0] = (double)a->number;
    out[1] = (double)a->number * weight;
    for (int d = 0; d < 3; d++)
        out[2 + d] = mass * weight * value(a->v[d], l->exponent_v);
    out[5] = 0.5 * mass * weight * value(a->v2, l->exponent_v2);
}
