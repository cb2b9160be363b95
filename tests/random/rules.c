/* What is known about keys beyond their rows in the table: sizes that fit each other, names that must exist, and
 * interesting values. A key without a rule is drawn from its type and range. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../inside.h"
#include "rules.h"

static const struct lm_background_config *field_of(const struct draw *d, int field)
{
    return &d->shadow->background[field];
}

/* --- [run], [grid] --- */

RULE(t_end)
{
    return as_number(out, (double)d->plan.steps * d->plan.dt);
}
RULE(steps)
{
    return as_number(out, (double)d->plan.steps);
}
RULE(dt)
{
    return as_number(out, d->plan.dt);
}
RULE(nx)
{
    return as_number(out, d->plan.nx);
}
RULE(ny)
{
    return as_number(out, d->plan.ny);
}
RULE(lx)
{
    return as_number(out, d->plan.nx * d->plan.dx);
}
RULE(ly)
{
    return as_number(out, d->plan.ny * d->plan.dy);
}

/* --- [electrons], [fields] --- */

RULE(closure)
{
    return from(d, d->plan.given_fields ? "isothermal|polytropic" : "isothermal|polytropic|evolved", out);
}
RULE(solver)
{
    return as_text(out, d->plan.given_fields ? "none" : "hybrid");
}
RULE(density_floor)
{
    return as_number(out, d->plan.floor);
}

/* --- sides --- */

/* The side that a key of [boundary] belongs to. */
static int side_of(const struct lm_key *key)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (strstr(key->name, lm_side_names[side]))
            return side;
    return 0;
}

RULE(particles_side)
{
    return as_text(out, lm_boundary_names[d->plan.sides[side_of(key)]]);
}

RULE(fields_side)
{
    if (d->plan.given_fields || d->plan.sides[side_of(key)] == LM_PERIODIC)
        return 0;
    return from(d, "conducting|open|inflow|inflow_b|inflow_e|radiating", out);
}

static int has_layer(const struct draw *d)
{
    char name[DRAFT_NAME];
    for (int side = 0; side < LM_SIDES; side++) {
        snprintf(name, sizeof name, "layer_%s", lm_side_names[side]);
        if (draft_get(d->draft, "boundary", name))
            return 1;
    }
    return 0;
}

RULE(layer)
{
    const int side = side_of(key);
    const double size = side < 2 ? d->plan.nx * d->plan.dx : d->plan.ny * d->plan.dy;
    if (d->plan.given_fields || d->plan.sides[side] == LM_PERIODIC)
        return 0;
    return as_number(out, draw_between(d, 0.1, 0.9) * size);
}
RULE(layer_eta)
{
    return has_layer(d) ? from(d, "{0.02:0.3}|{0.02:0.3}|{1:100}", out) : 0;
}

/* --- [species.NAME] --- */

RULE(particles_per_cell)
{
    const double factor = draw_chance(d, 0.3) ? draw_between(d, 0.3, 1.5) : 1;
    return as_number(out, d->plan.particles * factor);
}

/* A drift that mostly enters the domain by inflow sides and is slow enough for the step. */
static int drift_along(struct draw *d, int low, int high, char *out)
{
    const int in_low = d->plan.sides[low] == LM_INFLOW, in_high = d->plan.sides[high] == LM_INFLOW;
    char speed[DRAFT_VALUE], form[DRAFT_VALUE];
    if (in_low == in_high || draw_chance(d, 0.2))
        return from(d, "0|{-1:1}|{-1:1}+{0:0.3}*sin(2*pi*y/ly)|{-0.8:0.8}*cos(2*pi*x/lx)", out);
    draw_template(d, "{0.2:2}", speed);
    draw_template(d, "|*(1+{0:0.3}*cos(2*pi*y/ly))|*(0.5+x/lx)", form);
    snprintf(out, DRAFT_VALUE, "%s%.30s%.60s", in_high ? "-" : "", speed, form);
    return 1;
}
RULE(drift_x)
{
    return drift_along(d, LM_X_MIN, LM_X_MAX, out);
}
RULE(drift_y)
{
    return drift_along(d, LM_Y_MIN, LM_Y_MAX, out);
}

/* Writes the name of one of the marked fields. Returns 0 when there is none. */
static int name_field(struct draw *d, const int fits[LM_MAX_BACKGROUNDS], char *out)
{
    int count = 0, chosen;
    for (int f = 0; f < d->plan.items[LM_BACKGROUNDS]; f++)
        count += fits[f];
    if (count == 0)
        return 0;
    chosen = draw_whole(d, 0, count - 1);
    for (int f = 0; f < d->plan.items[LM_BACKGROUNDS]; f++)
        if (fits[f] && chosen-- == 0)
            snprintf(out, DRAFT_VALUE, "b%d", f);
    return 1;
}

RULE(gas)
{
    int fits[LM_MAX_BACKGROUNDS] = {0};
    for (int f = 0; f < d->plan.items[LM_BACKGROUNDS]; f++)
        fits[f] = field_of(d, f)->kind == LM_NEUTRAL_GAS && field_of(d, f)->flow == LM_FLOW_PRESCRIBED;
    if (draft_get(d->draft, s->section, "drag_rate") || draft_get(d->draft, s->section, "scattering_rate"))
        return 0;
    return name_field(d, fits, out);
}

static int with_gas(struct draw *d, const struct draw_scope *s, const char *templates, char *out)
{
    return draft_get(d->draft, s->section, "gas") ? from(d, templates, out) : 0;
}
RULE(stopping_table)
{
    return with_gas(
        d, s, d->plan.has_units ? "stopping_0.txt|stopping_1.txt|stopping_2.txt" : "stopping_0.txt|stopping_1.txt",
        out);
}
RULE(scattering_power)
{
    const char *table = draft_get(d->draft, s->section, "stopping_table");
    return table && strcmp(table, "stopping_0.txt") ? 0 : with_gas(d, s, "{0.01:0.3}", out);
}
RULE(of_gas)
{
    return with_gas(d, s, "{0.02:0.5}|{0.5:5}", out);
}
RULE(friction_eta)
{
    const int has_it = !d->plan.given_fields && d->shadow->fields.electron_friction;
    return has_it ? from(d, "{0.01:0.3}|{0.02:0.2}*n|{0.05:0.5}*J/(1+B)|{0.01:0.1}*(1+sin({1:30}*t))*sqrt(1+Te)", out)
                  : 0;
}
/* A track needs a species whose ions do not exchange heat. */
RULE(electron_heat_exchange_rate)
{
    if (s->item == 0 && d->plan.items[LM_TRACKS] > 0)
        return 0;
    return d->shadow->electrons.closure == LM_EVOLVED ? from(d, "{0.02:0.5}|{1:20}", out) : 0;
}

/* --- [body.NAME] --- */

RULE(body_x)
{
    return as_number(out, draw_between(d, 0, 1) * d->plan.nx * d->plan.dx);
}
RULE(body_y)
{
    return as_number(out, draw_between(d, 0, 1) * d->plan.ny * d->plan.dy);
}

/* A body that contains the centre of a cell and does not cover the whole domain. */
static double body_size(struct draw *d)
{
    const struct draw_plan *p = &d->plan;
    const double least = 0.75 * fmax(p->dx, p->dy), most = 0.35 * fmin(p->nx * p->dx, p->ny * p->dy);
    return most > least ? draw_between(d, least, most) : least;
}
RULE(radius)
{
    return as_number(out, body_size(d));
}
RULE(width)
{
    return as_number(out, 2 * body_size(d));
}
RULE(points)
{
    const struct draw_plan *p = &d->plan;
    const int corners = draw_whole(d, 3, 6);
    size_t n = 0;
    for (int k = 0; k < corners; k++)
        n += (size_t)snprintf(out + n, DRAFT_VALUE - n, "%s%.3g %.3g", k > 0 ? ", " : "",
                              draw_between(d, 0, 1) * p->nx * p->dx, draw_between(d, 0, 1) * p->ny * p->dy);
    return 1;
}

/* Half of the masks are datasets; both keys follow from the number of the body. */
static int is_hdf5(const struct draw *d, const struct draw_scope *s)
{
    return (s->item + d->plan.nx) % 2;
}
RULE(mask_file)
{
    snprintf(out, DRAFT_VALUE, "mask_%dx%d_%d.%s", d->plan.nx, d->plan.ny, draw_whole(d, 0, 3),
             is_hdf5(d, s) ? "h5" : "pgm");
    return 1;
}
RULE(dataset)
{
    return is_hdf5(d, s) ? from(d, "mask|half", out) : 0;
}

/* --- [background.NAME] --- */

static int has_wall(const struct draw *d, const struct lm_key *key)
{
    return d->plan.sides[side_of(key)] != LM_PERIODIC;
}
RULE(background_side)
{
    return has_wall(d, key) ? from(d, "auto|wall|inflow|open", out) : 0;
}
RULE(bounds)
{
    return from(d, field_of(d, s->item)->scheme == LM_CENTRED ? "off" : "on|off", out);
}
RULE(gains)
{
    const int is_gas = field_of(d, s->item)->kind == LM_NEUTRAL_GAS;
    return from(d, is_gas ? "nothing|number" : "nothing|number|momentum_x|momentum_y|momentum_z|energy", out);
}

/* --- [ionisation.NAME] --- */

RULE(born_species)
{
    snprintf(out, DRAFT_VALUE, "s%d", draw_whole(d, 0, d->plan.items[LM_SPECIES] - 1));
    return 1;
}
RULE(born_gas)
{
    int fits[LM_MAX_BACKGROUNDS] = {0};
    for (int f = 0; f < d->plan.items[LM_BACKGROUNDS]; f++)
        fits[f] = field_of(d, f)->kind == LM_NEUTRAL_GAS;
    return name_field(d, fits, out);
}

/* --- [units] --- */

RULE(units)
{
    return d->plan.has_units ? from(d, strcmp(key->name, "b0") ? "5e6|1e19" : "5e-9|0.01", out) : 0;
}

#define FORMS(a) "0|1|" a "|" a "+{0:0.3}"
static const char given_e[] = "{-0.5:0.5}|{-0.5:0.5}*sin({1:30}*t)|{-0.5:0.5}*cos(2*pi*x/"
                              "lx-{1:30}*t)|{-0.5:0.5}*cos(2*pi*x/lx)|{-0.5:0.5}*(y>ly/2)";
static const char vector_potential[] = "{-0.2:0.2}*cos(2*pi*x/lx)*cos(2*pi*y/ly)|{-0.2:0.2}*sin(2*pi*(x/lx+y/ly))";
static const char temperatures[] = "0|{0.05:0.6}|{0.1:0.4}+{0:0.1}*cos(2*pi*x/lx)|{0.3:1}*exp(-y/ly)";
static const char by_the_ways[] = "the ways that are compared set it";

const struct draw_rule draw_rules[] = {
    {"run", "t_end", 100, NULL, t_end, NULL},
    {"run", "steps", 100, NULL, steps, NULL},
    {"run", "dt", 100, NULL, dt, NULL},
    {"run", "seed", 90, NULL, NULL, NULL},
    {"run", "energy_limit", .never = "it changes no result"},
    {"run", "backend", .never = by_the_ways},
    {"run", "threads", .never = by_the_ways},
    {"run", "rebalance", .never = "it depends on the clock; other ways disturb the division"},
    {"run", "halo", 70, NULL, NULL, NULL},
    {"run", "rank_limit", .never = "it matters only where a rank hangs"},
    {"run", "gpu_exchange", .never = "the machine decides which values it can have"},
    {"run", "tile", .never = by_the_ways},
    {"run", "sort_every", .never = by_the_ways},
    {"grid", "nx", 100, NULL, nx, NULL},
    {"grid", "ny", 100, NULL, ny, NULL},
    {"grid", "lx", 100, NULL, lx, NULL},
    {"grid", "ly", 100, NULL, ly, NULL},
    {"electrons", "closure", 80, NULL, closure, NULL},
    {"electrons", "temperature", 90, "0|{0.05:1}", NULL, NULL},
    {"electrons", "initial_temperature", 100, temperatures, NULL, NULL},
    {"electrons", "gamma", 0, "{1.05:3}", NULL, NULL},
    {"electrons", "conductivity", 0, "{0.005:0.3}", NULL, NULL},
    {"electrons", "conductivity_across", 0, "{0.005:0.3}", NULL, NULL},
    {"electrons", "courant", 0, "{0.1:1}", NULL, NULL},
    {"fields", "solver", 100, NULL, solver, NULL},
    {"fields", "bx", 75, FORMS("{-1:1}*cos(2*pi*y/ly)"), NULL, NULL},
    {"fields", "by", 75, FORMS("{-1:1}*sin(2*pi*x/lx)"), NULL, NULL},
    {"fields", "bz", 75, FORMS("{-1:1}*cos(2*pi*x/lx)"), NULL, NULL},
    {"fields", "az", 0, vector_potential, NULL, NULL},
    {"fields", "ex", 60, given_e, NULL, NULL},
    {"fields", "ey", 60, given_e, NULL, NULL},
    {"fields", "ez", 60, given_e, NULL, NULL},
    {"fields", "eta", 0,
     "{0.001:0.05}|{1:200}*(y<ly/2)|{0.005:0.02}+{0:0.005}*cos(2*pi*y/ly)|{0:0.1}*(x<lx/3)"
     "|{0.001:0.02}/n|{0.005:0.05}*J/(1+B)|{0.001:0.02}*(1+sin({1:30}*t))*sqrt(1+Te)|J>{0.5:2}?{0.01:0.1}:0",
     NULL, NULL},
    {"fields", "eta_hyper", 0, "{1e-5:1e-3}", NULL, NULL},
    {"fields", "density_floor", 100, NULL, density_floor, NULL},
    {"fields", "smoothing", 60, "0|1|2|3|8", NULL, NULL},
    {"fields", "substep_safety", 0, "{0.5:2.5}", NULL, NULL},
    {"fields", "min_substeps", 50, "1|2|3|4|5|9", NULL, NULL},
    {"fields", "max_substeps", 0, "3|20|100|1000", NULL, NULL},
    {"external", "az", 0, vector_potential, NULL, NULL},
    {"external", "bz", 0, "{-0.3:0.3}|{-0.5:0.5}*cos(2*pi*(x/lx+y/ly))", NULL, NULL},
    {"particles", "shape", 80, NULL, NULL, NULL},
    {"particles", "precision", 80, NULL, NULL, NULL},
    {"species.NAME", "charge", 0, "1|2|{0.5:3}", NULL, NULL},
    {"species.NAME", "mass", 0, "1|4|16|{0.5:3}", NULL, NULL},
    {"species.NAME", "particles_per_cell", 100, NULL, particles_per_cell, NULL},
    {"species.NAME", "mean_particles_per_cell", .never = "another way to write particles_per_cell"},
    {"species.NAME", "start", 60, NULL, NULL, NULL},
    {"species.NAME", "density", 60,
     "1|{0.05:1.5}|{0.5:1}+{0:0.4}*cos(2*pi*x/lx)|0.05+(x<lx/2)|(y<ly/2)|{0.5:1.5}*(x>lx/3)|(x-lx/2)^2 + (y-ly/2)^2 < "
     "{0.5:4}|{0.5:1.5}*exp(-((x-lx/2)^2+(y-ly/2)^2)/"
     "{0.1:3})",
     NULL, NULL},
    {"species.NAME", "drift_x", 60, NULL, drift_x, NULL},
    {"species.NAME", "drift_y", 60, NULL, drift_y, NULL},
    {"species.NAME", "temperature", 100, temperatures, NULL, NULL},
    {"species.NAME", "temperature_x", 90, temperatures, NULL, NULL},
    {"species.NAME", "temperature_y", 90, temperatures, NULL, NULL},
    {"species.NAME", "temperature_z", 90, temperatures, NULL, NULL},
    {"species.NAME", "temperature_par", 100, temperatures, NULL, NULL},
    {"species.NAME", "temperature_perp", 100, temperatures, NULL, NULL},
    {"species.NAME", "inflow_density", 0, "{0.2:1.5}|1+{0:1}*sin({3:40}*t)|(y<ly/2)|(1-{5:40}*t)*({5:40}*t<1)", NULL,
     NULL},
    {"species.NAME", "drag_rate", 0, "{0.05:2}", NULL, NULL},
    {"species.NAME", "scattering_rate", 0, "{0.02:1}", NULL, NULL},
    {"species.NAME", "scattering_sigmas", 0, "{1:6}", NULL, NULL},
    {"species.NAME", "lost_below_energy", 0, "{0.001:0.1}", NULL, NULL},
    {"species.NAME", "lost_below_pitch", 0, "{0:30}", NULL, NULL},
    {"species.NAME", "lost_above_pitch", 0, "{150:180}", NULL, NULL},
    {"species.NAME", "gas", 70, NULL, gas, NULL},
    {"species.NAME", "stopping_table", 40, NULL, stopping_table, NULL},
    {"species.NAME", "scattering_power", 40, NULL, scattering_power, NULL},
    {"species.NAME", "charge_exchange_cross_section", 40, NULL, of_gas, NULL},
    {"species.NAME", "charge_exchange_rate", 40, NULL, of_gas, NULL},
    {"species.NAME", "gas_drag_rate", 40, NULL, of_gas, NULL},
    {"species.NAME", "electron_heat_exchange_rate", 50, NULL, electron_heat_exchange_rate, NULL},
    {"species.NAME", "eta", 25, NULL, friction_eta, NULL},
    {"species.NAME", "collide_every", 0, "1|2|3|7", NULL, NULL},
    {"boundary", "x_min", 100, NULL, particles_side, NULL},
    {"boundary", "x_max", 100, NULL, particles_side, NULL},
    {"boundary", "y_min", 100, NULL, particles_side, NULL},
    {"boundary", "y_max", 100, NULL, particles_side, NULL},
    {"boundary", "fields_x_min", 40, NULL, fields_side, NULL},
    {"boundary", "fields_x_max", 40, NULL, fields_side, NULL},
    {"boundary", "fields_y_min", 40, NULL, fields_side, NULL},
    {"boundary", "fields_y_max", 40, NULL, fields_side, NULL},
    {"boundary", "layer_x_min", 12, NULL, layer, NULL},
    {"boundary", "layer_x_max", 12, NULL, layer, NULL},
    {"boundary", "layer_y_min", 12, NULL, layer, NULL},
    {"boundary", "layer_y_max", 12, NULL, layer, NULL},
    {"boundary", "layer_eta", 100, NULL, layer_eta, NULL},
    {"body.NAME", "x", 100, NULL, body_x, NULL},
    {"body.NAME", "y", 100, NULL, body_y, NULL},
    {"body.NAME", "radius", 100, NULL, radius, NULL},
    {"body.NAME", "width", 100, NULL, width, NULL},
    {"body.NAME", "height", 100, NULL, width, NULL},
    {"body.NAME", "points", 100, NULL, points, NULL},
    {"body.NAME", "file", 100, NULL, mask_file, NULL},
    {"body.NAME", "dataset", 100, NULL, dataset, NULL},
    {"body.NAME", "particles", 70, NULL, NULL, NULL},
    {"body.NAME", "fields", 70, NULL, NULL, NULL},
    {"body.NAME", "resistivity", 100, "{0.05:1}|{0.05:1}*(1+x/lx)|{10:1000}", NULL, NULL},
    {"background.NAME", "kind", 70, NULL, NULL, NULL},
    {"background.NAME", "initial", 100,
     "0|{0.1:1}|{0.5:1}+{0:0.4}*cos(2*pi*x/lx)|x<lx/2|{0.5:1}*exp(-((x-lx/2)^2+(y-ly/2)^2)/{0.2:3})", NULL, NULL},
    {"background.NAME", "stream", 100,
     "{-0.5:0.5}*y|{-0.1:0.1}*cos(2*pi*x/lx)*cos(2*pi*y/ly)|{-0.3:0.3}*y*(1+sin({5:30}*t))", NULL, NULL},
    {"background.NAME", "bounds", 0, NULL, bounds, NULL},
    {"background.NAME", "minimum", 0, "0|-1", NULL, NULL},
    {"background.NAME", "maximum", 0, "2|{1.5:5}", NULL, NULL},
    {"background.NAME", "diffusivity", 0, "{0.002:0.1}", NULL, NULL},
    {"background.NAME", "side_x_min", 30, NULL, background_side, NULL},
    {"background.NAME", "side_x_max", 30, NULL, background_side, NULL},
    {"background.NAME", "side_y_min", 30, NULL, background_side, NULL},
    {"background.NAME", "side_y_max", 30, NULL, background_side, NULL},
    {"background.NAME", "inflow", 100, "{0.1:1}|{0.1:1}*(1+sin({5:40}*t))|(y<ly/2)", NULL, NULL},
    {"background.NAME", "courant", 0, "{0.1:1}", NULL, NULL},
    {"background.NAME", "temperature", 50, "0|{0.02:0.5}", NULL, NULL},
    {"background.NAME", "gains", 40, NULL, gains, NULL},
    {"ionisation.NAME", "species", 100, NULL, born_species, NULL},
    {"ionisation.NAME", "rate", 100,
     "{0.1:3}|{0.5:5}*exp(-((x-lx/2)^2+(y-ly/2)^2)/{0.2:3})*(1+sin({5:40}*t))|{1:9}*(x<lx/3)", NULL, NULL},
    {"ionisation.NAME", "gas", 100, NULL, born_gas, NULL},
    {"ionisation.NAME", "frequency", 100, "{0.1:3}|{0.1:20}*(y>ly/2)|{0.5:2}*(1+sin({5:40}*t))", NULL, NULL},
    {"ionisation.NAME", "vx", 80, NULL, NULL, NULL},
    {"ionisation.NAME", "vy", 80, NULL, NULL, NULL},
    {"units", "b0", 100, NULL, units, NULL},
    {"units", "n0", 100, NULL, units, NULL},
};

const int draw_rule_count = sizeof draw_rules / sizeof *draw_rules;

static const struct draw_rule *find(int count, const struct draw_rule *rules, const struct lm_key *key)
{
    for (int k = 0; k < count; k++)
        if (!strcmp(rules[k].section, key->section) && !strcmp(rules[k].key, key->name))
            return &rules[k];
    return NULL;
}

const struct draw_rule *draw_rule_of(const struct lm_key *key)
{
    const struct draw_rule *rule = find(draw_rule_count, draw_rules, key);
    return rule ? rule : find(draw_output_rule_count, draw_output_rules, key);
}
