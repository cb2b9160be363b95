#include "config/energy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "config/facts.h"

const char *const lm_energy_judged_names[] = {"nothing", "gains", "gains and losses"};

__attribute__((format(printf, 2, 3))) static int because(char *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, LM_ENERGY_WHY, format, args);
    va_end(args);
    return 1;
}

/* --- what can give energy --- */

static int is_driven(const struct lm_config *c, char *why)
{
    if (c->fields.solver == LM_SOLVER_NONE)
        return because(why, "the ions move in given fields (fields.solver = none), whose work is not measured");
    if (lm_has_external_current(c))
        return because(why, "the work of the current outside the plasma ([external]) is not measured");
    for (int s = 0; s < c->species_count; s++)
        if (lm_is_forced(&c->species[s]))
            return because(why, "the work of the force on %s (force_x, _y, _z) is not measured", c->species[s].name);
    return 0;
}

static int has_hot_surfaces(const struct lm_config *c, char *why)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (c->boundary[side] == LM_THERMAL)
            return because(why, "the heat that ions exchange with the thermal side %s is not measured",
                           lm_side_names[side]);
    for (int k = 0; k < c->body_count; k++)
        if (c->body[k].particles == LM_THERMAL)
            return because(why, "the heat that ions exchange with the thermal body %s is not measured",
                           c->body[k].name);
    return 0;
}

/* Electrons come and go with the ions, for the plasma stays neutral. What they carry through sides is measured; into
 * bodies it is a loss: takes_energy. An evolved pressure does not change where ions are born or taken out. */
static int loses_electrons(const struct lm_config *c, char *why)
{
    struct lm_account_of accounts[LM_ACCOUNTS];
    if (lm_entropy_field(c) >= 0 || c->electrons.temperature == 0)
        return 0;
    for (int s = 0; s < c->species_count; s++)
        for (int k = 0, n = lm_accounts(c, s, accounts); k < n; k++) {
            const int inside = accounts[k].kind == LM_ENTERS   ? accounts[k].channel >= LM_SIDES
                               : accounts[k].kind == LM_LEAVES ? accounts[k].channel >= LM_SURFACES
                                                               : 0;
            if (inside)
                return because(why, "the energy of the electrons that come and go with %s (%s) is not measured",
                               c->species[s].name, accounts[k].name);
        }
    return 0;
}

/* --- what can take energy --- */

static int has_layers(const struct lm_config *c)
{
    double width = 0;
    for (int side = 0; side < LM_SIDES; side++)
        width = fmax(width, c->layer[side]);
    return width > 0 && c->layer_eta > 0;
}

/* The key of a resistivity of the plasma; NULL: there is none. */
static const char *resistivity_of(const struct lm_config *c)
{
    for (int s = 0; s < c->species_count; s++)
        if (lm_has_friction(&c->species[s]))
            return "species.NAME.eta";
    return !lm_is_zero(c->fields.eta) ? "fields.eta"
           : c->fields.eta_hyper > 0  ? "fields.eta_hyper"
           : has_layers(c)            ? "boundary.layer_eta"
                                      : NULL;
}

static int takes_energy(const struct lm_config *c, char *why)
{
    const char *resistivity = resistivity_of(c);
    if (resistivity && c->electrons.closure != LM_EVOLVED)
        return because(why, "the heat of the resistivity (%s) is lost: only evolved electrons keep it", resistivity);
    for (int k = 0; k < c->body_count; k++)
        if (c->body[k].fields != LM_BODY_CONDUCTING)
            return because(why, "the heat of the current in the body %s is lost", c->body[k].name);
        else if (c->body[k].particles == LM_ABSORBING && c->electrons.closure != LM_EVOLVED &&
                 c->electrons.temperature != 0)
            return because(why, "the heat of the electrons that the body %s absorbs is not measured", c->body[k].name);
    for (int s = 0; s < c->species_count; s++)
        if (c->species[s].drag_rate > 0)
            return because(why, "what the drag on %s (drag_rate) takes is not measured", c->species[s].name);
    return 0;
}

enum lm_energy_judged lm_energy_judge(const struct lm_config *c, char why[LM_ENERGY_WHY])
{
    why[0] = 0;
    if (is_driven(c, why) || has_hot_surfaces(c, why) || loses_electrons(c, why))
        return LM_ENERGY_NOT;
    if (resistivity_of(c) && c->electrons.closure != LM_EVOLVED && !c->fields.electron_friction)
        return because(why, "the work of the resistive E on the ions (fields.electron_friction = off) is not measured"),
               LM_ENERGY_NOT;
    return takes_energy(c, why) ? LM_ENERGY_GAINS : LM_ENERGY_BOTH;
}

/* --- the energy that can change --- */

/* 1 where the momentum of the whole plasma stays the same. */
static int keeps_momentum(const struct lm_config *c)
{
    int keeps = c->body_count == 0;
    for (int side = 0; side < LM_SIDES; side++)
        keeps &= c->boundary[side] == LM_PERIODIC;
    for (int s = 0; s < c->species_count; s++)
        keeps &= !lm_collides(&c->species[s]) && !lm_is_ionised(c, s);
    return keeps;
}

double lm_energy_scale(const struct lm_config *c, const struct lm_energy_parts *p)
{
    double momentum2 = 0;
    for (int d = 0; d < 3; d++)
        momentum2 += p->momentum[d] * p->momentum[d];
    const double common = p->mass > 0 && keeps_momentum(c) ? 0.5 * momentum2 / p->mass : 0;
    const double all = p->kinetic + p->magnetic + 1.5 * p->electrons;
    return fmax(p->kinetic - common + p->varying + 1.5 * p->electrons, LM_ENERGY_LEAST * all);
}
