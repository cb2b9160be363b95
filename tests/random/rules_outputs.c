/* Rules as in rules.c, for the keys of what a run writes and of the data that it reads. */
#include <stdlib.h>
#include <string.h>

#include "rules.h"

/* --- [output] --- */

static int is_together(const struct draw *d)
{
    const char *value = draft_get(d->draft, "output", "particles_with_fields");
    return value && !strcmp(value, "on");
}
RULE(fields_every)
{
    return is_together(d) || draw_chance(d, 0.1) ? from(d, "3|4", out) : 0;
}
RULE(particles_every)
{
    if (is_together(d))
        return as_number(out, draw_whole(d, 1, 2) * atoi(draft_get(d->draft, "output", "fields_every")));
    return draw_chance(d, 0.1) ? from(d, "4|5", out) : 0;
}

/* --- [output.NAME] --- */

/* The largest number up to `most` that divides both. */
static int divisor(int most, int a, int b)
{
    while (a % most || b % most)
        most--;
    return most;
}

RULE(quantities)
{
#define QUANTITIES "B E J|density, velocity, pressure|J_i rho p_e T_e|temperature energy_flux backgrounds"
    return from(d, d->plan.given_fields ? QUANTITIES : QUANTITIES "|E_terms heating", out);
}
RULE(average)
{
    return as_number(out, draw_whole(d, 0, atoi(draft_get(d->draft, s->section, "every"))));
}
RULE(average_every)
{
    const char *given = draft_get(d->draft, s->section, "average");
    const int average = given ? atoi(given) : 0;
    return average > 0 ? as_number(out, divisor(draw_whole(d, 1, average), average, average)) : 0;
}
RULE(coarsen)
{
    static const char *const region[] = {"from_x", "to_x", "from_y", "to_y"};
    for (int k = 0; k < 4; k++)
        if (draft_get(d->draft, s->section, region[k]))
            return 0;
    return as_number(out, divisor(draw_whole(d, 1, 4), d->plan.nx, d->plan.ny));
}

/* Ions that exchange heat with the electrons cannot be followed. */
RULE(followed_species)
{
    const int count = d->plan.items[LM_SPECIES], first = draw_whole(d, 0, count - 1);
    for (int k = 0; k < count; k++) {
        snprintf(out, DRAFT_VALUE, "species.s%d", (first + k) % count);
        if (!draft_get(d->draft, out, "electron_heat_exchange_rate"))
            return snprintf(out, DRAFT_VALUE, "s%d", (first + k) % count) > 0;
    }
    return 0;
}

const struct draw_rule draw_output_rules[] = {
    {"output", "directory", .never = "the comparator writes to directories of its own"},
    {"output", "series_every", 0, "1|2|3", NULL, NULL},
    {"output", "fields_every", 100, NULL, fields_every, NULL},
    {"output", "particles_every", 100, NULL, particles_every, NULL},
    {"output", "checkpoint_every", .never = "the ways that are compared set it"},
    {"output", "keep", .never = "the comparator needs all checkpoints"},
    {"output", "particles_with_fields", 10, NULL, NULL, NULL},
    {"output", "particles_fraction", 0, "{0.1:1}", NULL, NULL},
    {"output", "wall_limit", .never = "the end of the run would depend on the clock"},
    {"output", "maps_every", 20, "0|2|5", NULL, NULL},
    {"output", "map_angles", 0, "0|1|5|18", NULL, NULL},
    {"output", "map_energies", 0, "1|7|32", NULL, NULL},
    {"output", "map_energy_min", 0, "{0.001:0.1}", NULL, NULL},
    {"output", "map_energy_max", 0, "{0.2:20}", NULL, NULL},
#define NO_FILES .never = "there are no files of data; see tests/test_data.c"
    {"data.NAME", "file", NO_FILES},
    {"data.NAME", "dataset", NO_FILES},
    {"data.NAME", "magnetic_field", NO_FILES},
    {"data.NAME", "meshes", NO_FILES},
    {"data.NAME", "from_x", NO_FILES},
    {"data.NAME", "to_x", NO_FILES},
    {"data.NAME", "from_y", NO_FILES},
    {"data.NAME", "to_y", NO_FILES},
#define NO_SPECTRA .never = "the functions of a spectrum are expressions as others; see tests/test_spectrum.c"
    {"spectrum.NAME", "from_k", NO_SPECTRA},
    {"spectrum.NAME", "to_k", NO_SPECTRA},
    {"spectrum.NAME", "slope", NO_SPECTRA},
    {"spectrum.NAME", "amplitude", NO_SPECTRA},
    {"spectrum.NAME", "velocity", NO_SPECTRA},
    {"spectrum.NAME", "helicity", NO_SPECTRA},
    {"spectrum.NAME", "cross_helicity", NO_SPECTRA},
    {"spectrum.NAME", "seed", NO_SPECTRA},
#define OUTPUT_RULES(section)                                                                                          \
    {section, "every", 100, "1|2|5", NULL, NULL},                                                                      \
        {section, "species", .never = "a list of names that need not exist"},                                          \
        {section, "from_x", 30, "{0:0.2}*lx", NULL, NULL}, {section, "to_x", 30, "{0.8:1}*lx", NULL, NULL},            \
        {section, "from_y", 30, "{0:0.2}*ly", NULL, NULL},                                                             \
    {                                                                                                                  \
        section, "to_y", 30, "{0.8:1}*ly", NULL, NULL                                                                  \
    }
    OUTPUT_RULES("output.NAME"),
    {"output.NAME", "quantities", 100, NULL, quantities, NULL},
    {"output.NAME", "average", 40, NULL, average, NULL},
    {"output.NAME", "average_every", 60, NULL, average_every, NULL},
    {"output.NAME", "coarsen", 40, NULL, coarsen, NULL},
    OUTPUT_RULES("distribution.NAME"),
    {"distribution.NAME", "axes", 100, "vx|v_par|v_perp|energy|gyrophase", NULL, NULL},
    {"distribution.NAME", "bins", 100, "4|7", NULL, NULL},
    {"distribution.NAME", "from", 100, "-3|0", NULL, NULL},
    {"distribution.NAME", "to", 100, "1|30", NULL, NULL},
    {"probe.NAME", "quantities", 100, "B E|J_i rho p_e density|backgrounds", NULL, NULL},
    {"probe.NAME", "x", 100, "{0.1:0.9}*lx, lx|0, {0.1:0.9}*lx", NULL, NULL},
    {"probe.NAME", "y", 100, "{0.1:0.9}*ly, 0|0, {0.1:0.9}*ly", NULL, NULL},
    {"probe.NAME", "line", 0, "0|5", NULL, NULL},
    {"probe.NAME", "every", 0, "1|2", NULL, NULL},
    {"track.NAME", "species", 100, NULL, followed_species, NULL},
    {"track.NAME", "count", 0, "1|7|40", NULL, NULL},
    {"track.NAME", "where", 0, "x > lx/3|vx^2 + vy^2 < {0.1:4}|1", NULL, NULL},
    {"track.NAME", "start", 0, "0|1|2", NULL, NULL},
    {"track.NAME", "every", 0, "1|2|5", NULL, NULL},
};

const int draw_output_rule_count = sizeof draw_output_rules / sizeof *draw_output_rules;
