#include "sim/side_energy.h"

#include <math.h>

#include "config/facts.h"

static int is_crossed(const struct lm_sim *sim, int side)
{
    return lm_is_crossed_by_fields(sim->config, side) || lm_is_crossed_by_electrons(sim->config, side);
}

int lm_sim_survey_sides(struct lm_sim *sim)
{
    int any = 0;
    for (int side = 0; side < LM_SIDES; side++)
        any |= is_crossed(sim, side);
    return any ? sim->backend->ops->side_energy(sim->backend) : LM_OK;
}

static double sum_of(const struct lm_sim *sim, int side, enum lm_side_sum what)
{
    return ldexp((double)lm_wide_value(sim->control.side[side][what]), -LM_WIDE_REAL);
}

/* What of the power of voids may be none of B. E without curl has power of both signs along a side: ten times what
 * cancels is doubtful, but at most all of it. */
static double doubtful_power(const struct lm_sim *sim, int side)
{
    const double sizes = sum_of(sim, side, LM_SIDE_VOID_SIZES), sum = fabs(sum_of(sim, side, LM_SIDE_VOID));
    return fmin(sizes, 10 * (sizes - sum));
}

void lm_sim_begin_sides(struct lm_sim *sim)
{
    for (int side = 0; side < LM_SIDES; side++)
        sim->side[side] = (struct lm_side_energy){.power_fields = sum_of(sim, side, LM_SIDE_FIELDS),
                                                  .power_electrons = sum_of(sim, side, LM_SIDE_ELECTRONS),
                                                  .wall = sum_of(sim, side, LM_SIDE_WALL)};
}

void lm_sim_book_sides(struct lm_sim *sim)
{
    const double half = 0.5 * sim->config->run.dt;
    for (int side = 0; side < LM_SIDES; side++) {
        struct lm_side_energy *s = &sim->side[side], before = *s;
        s->power_fields = sum_of(sim, side, LM_SIDE_FIELDS);
        s->power_electrons = sum_of(sim, side, LM_SIDE_ELECTRONS);
        s->wall = sum_of(sim, side, LM_SIDE_WALL);
        s->fields += half * (before.power_fields + s->power_fields) + (s->wall - before.wall);
        s->doubtful += 2 * half * doubtful_power(sim, side);
        s->off2 += pow(half * (s->power_fields - before.power_fields), 2);
        s->electrons += half * (before.power_electrons + s->power_electrons);
    }
}

void lm_sim_take_sides(struct lm_sim *sim, struct lm_checkpoint *head)
{
    for (int side = 0; side < LM_SIDES; side++) {
        sim->side[side] = head->side[side];
        if (is_crossed(sim, side) && !head->has_sides)
            head->energy_scale = NAN;
    }
}
