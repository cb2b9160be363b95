/* How the results of two ranks become one. Sums are integers, maxima compare bits: no order matters. */
#include "distributed/parts.h"
#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/particles/surface.h"

/* The larger of two numbers >= 0. NaN is the largest. */
static void raise_to(double *to, double from)
{
    if (lm_bits(from) > lm_bits(*to))
        *to = from;
}

static void merge_advected(struct lm_advected *to, const struct lm_advected *from)
{
    struct lm_field_survey a = {to->total, ~lm_ordered_bits(to->least), lm_ordered_bits(to->most)};
    const struct lm_field_survey b = {from->total, ~lm_ordered_bits(from->least), lm_ordered_bits(from->most)};
    lm_merge_surveys(&a, &b);
    to->total = a.total;
    to->least = lm_from_ordered_bits(~a.not_least);
    to->most = lm_from_ordered_bits(a.most);
    for (int side = 0; side < LM_SIDES; side++)
        lm_wide_merge(&to->crossed[side], &from->crossed[side]);
    lm_wide_merge(&to->source, &from->source);
}

static void merge_species(struct lm_control *to, const struct lm_control *from, int s)
{
    raise_to(&to->speed2[s], from->speed2[s]);
    for (int c = 0; c < 3; c++)
        raise_to(&to->friction_e[s][c], from->friction_e[s][c]);
    to->strays[s] += from->strays[s];
    to->charge_quanta[s] += from->charge_quanta[s];
    for (int channel = 0; channel < LM_CHANNELS; channel++)
        lm_tally_add(&to->lost[s][channel], &from->lost[s][channel]);
    for (int way = 0; way < LM_ENTRANCES; way++)
        lm_tally_add(&to->injected[s][way], &from->injected[s][way]);
    lm_tally_add(&to->to_gas[s], &from->to_gas[s]);
    lm_tally_add(&to->exchanged[s], &from->exchanged[s]);
    lm_tally_add(&to->to_electrons[s], &from->to_electrons[s]);
}

void lm_merge_control(void *to, const void *from)
{
    struct lm_control *a = to;
    const struct lm_control *b = from;
    for (int s = 0; s < LM_MAX_SPECIES; s++)
        merge_species(a, b, s);
    for (int f = 0; f < LM_MAX_BACKGROUNDS; f++)
        merge_advected(&a->background[f], &b->background[f]);
    for (int c = 0; c < 3; c++)
        raise_to(&a->push_e[c], b->push_e[c]);
    for (int axis = 0; axis < 2; axis++)
        raise_to(&a->push_pressure[axis], b->push_pressure[axis]);
    raise_to(&a->frequency, b->frequency);
    raise_to(&a->eta, b->eta);
    a->floored += b->floored;
    a->voids += b->voids;
    for (int side = 0; side < LM_SIDES; side++)
        for (int k = 0; k < LM_SIDE_SUMS; k++)
            lm_wide_merge(&a->side[side][k], &b->side[side][k]);
    lm_wide_merge(&a->heat, &b->heat);
    lm_wide_merge(&a->through_surfaces, &b->through_surfaces);
}

void lm_merge_particle_sums(void *to, const void *from)
{
    struct lm_particle_sums *a = to;
    const struct lm_particle_sums *b = from;
    for (int c = 0; c < 3; c++) {
        a->v[c] += b->v[c];
        a->v2[c] += b->v2[c];
    }
}

void lm_merge_grid_sums(void *to, const void *from)
{
    struct lm_grid_sums *a = to;
    const struct lm_grid_sums *b = from;
    for (int c = 0; c < 3; c++)
        a->b2[c] += b->b2[c];
    a->electrons += b->electrons;
    raise_to(&a->div_b, b->div_b);
}

void lm_merge_limits(void *to, const void *from)
{
    struct lm_exchange_limits *a = to;
    const struct lm_exchange_limits *b = from;
    raise_to(&a->noise2, b->noise2);
    a->limited += b->limited;
}

void lm_merge_rates(void *to, const void *from)
{
    for (int f = 0; f < LM_FLOW_RATES; f++)
        raise_to((double *)to + f, ((const double *)from)[f]);
}

void lm_merge_force(void *to, const void *from)
{
    double *a = to;
    const double *b = from;
    for (int k = 0; k < 3 * LM_MAX_SPECIES; k++)
        raise_to(&a[k], b[k]);
}

void lm_merge_least(void *to, const void *from)
{
    if (lm_bits(*(const double *)from) < lm_bits(*(double *)to))
        *(double *)to = *(const double *)from;
}
