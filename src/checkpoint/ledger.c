/* The ledger of a species in a checkpoint: sums of 128 bits in two halves. */
#include <stdio.h>

#include "checkpoint/parts.h"

enum { SUMS = 4 }; /* of v_x, v_y, v_z, v^2 in an account */

struct halves {
    uint64_t number[LM_CHANNELS], low[LM_CHANNELS * SUMS];
    int64_t high[LM_CHANNELS * SUMS];
};

static lm_int128 *sum_of(struct lm_account *a, int k)
{
    return k < 3 ? &a->v[k] : &a->v2;
}

static void write_accounts(struct lm_h5 *h, hid_t group, const char *name, int count, const struct lm_account *accounts)
{
    struct halves part;
    char high[32], low[32];
    for (int n = 0; n < count; n++) {
        struct lm_account a = accounts[n];
        part.number[n] = a.number;
        for (int k = 0; k < SUMS; k++) {
            part.high[n * SUMS + k] = (int64_t)(*sum_of(&a, k) >> 64);
            part.low[n * SUMS + k] = (uint64_t)*sum_of(&a, k);
        }
    }
    snprintf(high, sizeof high, "%s_high", name);
    snprintf(low, sizeof low, "%s_low", name);
    lm_h5_put(h, group, name, H5T_NATIVE_UINT64, count, part.number);
    lm_h5_put(h, group, high, H5T_NATIVE_INT64, count * SUMS, part.high);
    lm_h5_put(h, group, low, H5T_NATIVE_UINT64, count * SUMS, part.low);
}

static void read_accounts(struct lm_h5 *h, hid_t group, const char *name, int count, struct lm_account *accounts)
{
    struct halves part = {0};
    char high[32], low[32];
    snprintf(high, sizeof high, "%s_high", name);
    snprintf(low, sizeof low, "%s_low", name);
    lm_h5_get(h, group, name, H5T_NATIVE_UINT64, count, part.number);
    lm_h5_get(h, group, high, H5T_NATIVE_INT64, count * SUMS, part.high);
    lm_h5_get(h, group, low, H5T_NATIVE_UINT64, count * SUMS, part.low);
    for (int n = 0; n < count; n++) {
        accounts[n].number = part.number[n];
        for (int k = 0; k < SUMS; k++)
            *sum_of(&accounts[n], k) =
                (lm_int128)part.high[n * SUMS + k] * ((lm_int128)1 << 64) + part.low[n * SUMS + k];
    }
}

void lm_checkpoint_put_ledger(struct lm_h5 *h, hid_t group, const struct lm_ledger *l)
{
    lm_h5_put(h, group, "loaded", H5T_NATIVE_UINT64, 0, &l->loaded);
    lm_h5_put_whole(h, group, "exponent_v", l->exponent_v);
    lm_h5_put_whole(h, group, "exponent_v2", l->exponent_v2);
    write_accounts(h, group, "injected", LM_ENTRANCES, l->injected);
    write_accounts(h, group, "lost", LM_CHANNELS, l->lost);
    write_accounts(h, group, "to_gas", 1, &l->to_gas);
    write_accounts(h, group, "exchanged", 1, &l->exchanged);
    write_accounts(h, group, "to_electrons", 1, &l->to_electrons);
}

/* Numbers add up without a carry beyond 64 bits, and nobody has no momentum or energy. */
static int is_sound(const struct lm_ledger *l, uint64_t present)
{
    unsigned __int128 in = l->loaded, out = present;
    int sound = 1;
    for (int k = 0; k < LM_ENTRANCES + LM_CHANNELS; k++) {
        const struct lm_account *a = k < LM_ENTRANCES ? &l->injected[k] : &l->lost[k - LM_ENTRANCES];
        *(k < LM_ENTRANCES ? &in : &out) += a->number;
        sound &= a->v2 >= 0 && (a->number > 0 || (!a->v[0] && !a->v[1] && !a->v[2] && !a->v2));
    }
    return sound && in == out;
}

void lm_checkpoint_get_ledger(struct lm_h5 *h, hid_t group, struct lm_checkpoint_species *sp)
{
    struct lm_ledger *l = &sp->ledger;
    lm_h5_get(h, group, "loaded", H5T_NATIVE_UINT64, 0, &l->loaded);
    l->exponent_v = (int)lm_h5_get_whole(h, group, "exponent_v");
    l->exponent_v2 = (int)lm_h5_get_whole(h, group, "exponent_v2");
    read_accounts(h, group, "injected", LM_ENTRANCES, l->injected);
    read_accounts(h, group, "lost", LM_CHANNELS, l->lost);
    read_accounts(h, group, "to_gas", 1, &l->to_gas);
    read_accounts(h, group, "exchanged", 1, &l->exchanged);
    read_accounts(h, group, "to_electrons", 1, &l->to_electrons);
    if (h->status == LM_OK && !is_sound(l, sp->count))
        lm_h5_wrong(h,
                    "species %s: its ledger does not close: those that are there and those lost are not those loaded "
                    "and injected; the file is damaged",
                    sp->name);
}
