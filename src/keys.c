#include "keys.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#define NONE DBL_MAX
#define IN(member) .offset = offsetof(struct lm_config, member)
#define OF(member) .section = LM_SPECIES_SECTION, .offset = offsetof(struct lm_species_config, member)
#define INT .kind = LM_KEY_INT
#define LONG .kind = LM_KEY_LONG
#define REAL .kind = LM_KEY_REAL
#define EXPR .kind = LM_KEY_EXPR
#define CHOICE(list) .kind = LM_KEY_CHOICE, .choices = list
#define RANGE(a, b) .low = (a), .high = (b)
#define ANY RANGE(-NONE, NONE)
#define NOT_NEGATIVE RANGE(0, NONE)
#define PLACE(a, b) .place = {(a), (b)}
#define FAMILY(f, v) .family = LM_##f##_FAMILY, .variant = (v)

#define PRESSURE "B0^2/(mu0 n0)"

static const struct lm_choice backends[] = {
    {"auto", LM_BACKEND_AUTO}, {"cpu", LM_BACKEND_CPU}, {"cuda", LM_BACKEND_CUDA}, {0}};
static const struct lm_choice tiles[] = {{"auto", 0}, {"8", 8}, {"16", 16}, {0}};
static const struct lm_choice closures[] = {{"isothermal", LM_ISOTHERMAL}, {"polytropic", LM_POLYTROPIC}, {0}};
static const struct lm_choice solvers[] = {{"hybrid", LM_SOLVER_HYBRID}, {"none", LM_SOLVER_NONE}, {0}};
static const struct lm_choice vacuums[] = {{"floor", LM_VACUUM_FLOOR}, {"zero_e", LM_VACUUM_ZERO_E}, {0}};
static const struct lm_choice switches[] = {{"on", 1}, {"off", 0}, {0}};
static const struct lm_choice shapes[] = {{"linear", LM_LINEAR}, {"quadratic", LM_QUADRATIC}, {0}};
static const struct lm_choice precisions[] = {{"double", LM_DOUBLE}, {"single", LM_SINGLE}, {0}};
static const struct lm_choice starts[] = {{"random", LM_RANDOM}, {"quiet", LM_QUIET}, {0}};
static const struct lm_choice boundaries[] = {
    {"periodic", LM_PERIODIC}, {"reflecting", LM_REFLECTING}, {"absorbing", LM_ABSORBING}, {0}};
static const struct lm_choice field_boundaries[] = {{"periodic", LM_PERIODIC}, {0}};

static const struct {
    const char *name, *meaning;
} sections[] = {
    {"run", "Length, step and machine of the run."},
    {"grid", "Cells and size of the domain; its lower left corner is x = 0, y = 0."},
    {"const", "NAME = EXPRESSION: names for the expressions below, in order; they may use earlier ones and nx, ny, lx, "
              "ly, dx, dy, dt, pi."},
    {"electrons", "The massless electron fluid."},
    {"fields", "Initial magnetic field, Ohm's law and its solver."},
    {"particles", "Shape and precision of all ions."},
    {LM_SPECIES_SECTION, "One section an ion species; NAME: a letter, then letters, digits and _."},
    {"boundary", "What the sides of the domain do to particles and to fields."},
    {"units", "SI scales, only for the factors in the output: both or none."},
    {"output", "What is written, and how often."},
};

/* clang-format off */
const struct lm_key lm_keys[] = {
#define SECTION .section = "run"
    {SECTION, .name = "t_end", REAL, IN(run.t_end), NOT_NEGATIVE, .unit = "1/Omega_ci", .shown = "required, or steps",
     FAMILY(DURATION, LM_BY_TIME), .meaning = "end of the run; the number of steps is t_end/dt, rounded"},
    {SECTION, .name = "steps", LONG, IN(run.steps), RANGE(0, 1e15), .shown = "t_end/dt",
     FAMILY(DURATION, LM_BY_STEPS), .meaning = "number of steps, in place of t_end"},
    {SECTION, .name = "dt", REAL, IN(run.dt), RANGE(LM_POSITIVE, 1e6), .unit = "1/Omega_ci", .meaning = "time step"},
    {SECTION, .name = "seed", .kind = LM_KEY_SEED, IN(run.seed), .initial = "1", .meaning = "of the random numbers"},
    {SECTION, .name = "backend", CHOICE(backends), IN(run.backend), .initial = "auto",
     .meaning = "where to run; auto: the GPU if there is one"},
    {SECTION, .name = "threads", INT, IN(run.threads), RANGE(0, 4096), .initial = "0",
     .meaning = "of the CPU backend; 0: all cores"},
    {SECTION, .name = "tile", CHOICE(tiles), IN(run.tile), .unit = "cells", .initial = "auto",
     .meaning = "side of the tiles that particles are sorted into; speed only, no result depends on it"},
    {SECTION, .name = "sort_every", LONG, IN(run.sort_every), RANGE(0, 1e15), .unit = "steps", .initial = "0",
     .meaning = "between two sorts of the particles, speed only; 0: when it pays"},
#undef SECTION
#define SECTION .section = "grid"
    {SECTION, .name = "nx", INT, IN(grid.nx), RANGE(1, 32768), .unit = "cells", .meaning = "along x"},
    {SECTION, .name = "ny", INT, IN(grid.ny), RANGE(1, 32768), .unit = "cells", .meaning = "along y"},
    {SECTION, .name = "lx", REAL, IN(grid.lx), RANGE(1e-9, 1e9), .unit = "d_i", .meaning = "size along x"},
    {SECTION, .name = "ly", REAL, IN(grid.ly), RANGE(1e-9, 1e9), .unit = "d_i", .meaning = "size along y"},
#undef SECTION
#define SECTION .section = "electrons"
    {SECTION, .name = "closure", CHOICE(closures), IN(electrons.closure), .initial = "isothermal",
     .meaning = "p_e = T n, or p_e = T n^gamma"},
    {SECTION, .name = "temperature", REAL, IN(electrons.temperature), NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     .meaning = "at density 1"},
    {SECTION, .name = "gamma", REAL, IN(electrons.gamma), RANGE(1, 10), .initial = "1.6666666666666667", .shown = "5/3",
     .when = LM_IF_POLYTROPIC, .meaning = "polytropic index; only with closure = polytropic"},
#undef SECTION
#define SECTION .section = "fields"
    {SECTION, .name = "solver", CHOICE(solvers), IN(fields.solver), .initial = "hybrid",
     .meaning = "none: particles move in the given, constant B and E"},
    {SECTION, .name = "bx", EXPR, IN(fields.b[0]), ANY, PLACE(0, 0.5), .unit = "B0", .initial = "0",
     .meaning = "initial magnetic field"},
    {SECTION, .name = "by", EXPR, IN(fields.b[1]), ANY, PLACE(0.5, 0), .unit = "B0", .initial = "0",
     .meaning = "initial magnetic field"},
    {SECTION, .name = "bz", EXPR, IN(fields.b[2]), ANY, PLACE(0.5, 0.5), .unit = "B0", .initial = "0",
     .meaning = "initial magnetic field"},
    {SECTION, .name = "az", EXPR, IN(fields.az), ANY, PLACE(0, 0), .unit = "B0 d_i", .initial = "0",
     .meaning = "vector potential: adds curl(az z) to bx and by, free of divergence"},
    {SECTION, .name = "ex", EXPR, IN(fields.e[0]), ANY, PLACE(0.5, 0), .unit = "v_A B0", .initial = "0",
     .when = LM_IF_NO_SOLVER, .meaning = "electric field; only with solver = none"},
    {SECTION, .name = "ey", EXPR, IN(fields.e[1]), ANY, PLACE(0, 0.5), .unit = "v_A B0", .initial = "0",
     .when = LM_IF_NO_SOLVER, .meaning = "electric field; only with solver = none"},
    {SECTION, .name = "ez", EXPR, IN(fields.e[2]), ANY, PLACE(0, 0), .unit = "v_A B0", .initial = "0",
     .when = LM_IF_NO_SOLVER, .meaning = "electric field; only with solver = none"},
    {SECTION, .name = "eta", EXPR, IN(fields.eta), NOT_NEGATIVE, .unit = "mu0 v_A d_i", .initial = "0",
     .meaning = "resistivity"},
    {SECTION, .name = "eta_hyper", REAL, IN(fields.eta_hyper), NOT_NEGATIVE, .unit = "mu0 v_A d_i^3", .initial = "0",
     .meaning = "hyper-resistivity"},
    {SECTION, .name = "density_floor", REAL, IN(fields.density_floor), RANGE(LM_POSITIVE, NONE), .unit = "n0",
     .initial = "0.05", .meaning = "least density in Ohm's law"},
    {SECTION, .name = "vacuum", CHOICE(vacuums), IN(fields.vacuum), .initial = "floor",
     .meaning = "below the floor: use the floor, or E = 0"},
    {SECTION, .name = "smoothing", INT, IN(fields.smoothing), RANGE(0, 8), .initial = "1",
     .meaning = "binomial passes on the moments and on E for the push"},
    {SECTION, .name = "friction", CHOICE(switches), IN(fields.friction), .initial = "on",
     .meaning = "on: ions do not feel the resistive part of E (electron-ion friction)"},
    {SECTION, .name = "substep_safety", REAL, IN(fields.substep_safety), RANGE(LM_POSITIVE, 2.7), .initial = "2",
     .meaning = "largest frequency times substep; RK4 is stable below 2.78"},
    {SECTION, .name = "min_substeps", INT, IN(fields.min_substeps), RANGE(1, 1e6), .initial = "1",
     .meaning = "of the fields in a step, also where fewer are stable: more accurate, slower"},
    {SECTION, .name = "max_substeps", INT, IN(fields.max_substeps), RANGE(1, 1e6), .initial = "200",
     .meaning = "a step that needs more stops the run"},
#undef SECTION
#define SECTION .section = "particles"
    {SECTION, .name = "shape", CHOICE(shapes), IN(particles.shape), .initial = "linear",
     .meaning = "of a particle (CIC or TSC)"},
    {SECTION, .name = "precision", CHOICE(precisions), IN(particles.precision), .initial = "double",
     .meaning = "of positions and velocities; fields and moments are always double"},
#undef SECTION
    {OF(charge), .name = "charge", REAL, RANGE(LM_POSITIVE, NONE), .unit = "e", .initial = "1", .meaning = "of an ion"},
    {OF(mass), .name = "mass", REAL, RANGE(LM_POSITIVE, NONE), .unit = "m_p", .initial = "1", .meaning = "of an ion"},
    {OF(particles_per_cell), .name = "particles_per_cell", REAL, RANGE(LM_POSITIVE, 1e9), .initial = "64",
     .meaning = "where the density is 1; the weight of a particle is the inverse"},
    {OF(start), .name = "start", CHOICE(starts), .initial = "random", .meaning = "how particles are placed"},
    {OF(density), .name = "density", EXPR, NOT_NEGATIVE, .unit = "n0", .initial = "1", .meaning = "number density"},
    {OF(drift[0]), .name = "drift_x", EXPR, ANY, .unit = "v_A", .initial = "0", .meaning = "mean velocity"},
    {OF(drift[1]), .name = "drift_y", EXPR, ANY, .unit = "v_A", .initial = "0", .meaning = "mean velocity"},
    {OF(drift[2]), .name = "drift_z", EXPR, ANY, .unit = "v_A", .initial = "0", .meaning = "mean velocity"},
    {OF(temperature[0]), .name = "temperature", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .shown = "0",
     FAMILY(TEMPERATURE, LM_ISOTROPIC), .meaning = "isotropic"},
    {OF(temperature[0]), .name = "temperature_x", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     FAMILY(TEMPERATURE, LM_ALONG_AXES), .meaning = "along x, in place of temperature"},
    {OF(temperature[1]), .name = "temperature_y", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     FAMILY(TEMPERATURE, LM_ALONG_AXES), .meaning = "along y"},
    {OF(temperature[2]), .name = "temperature_z", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     FAMILY(TEMPERATURE, LM_ALONG_AXES), .meaning = "along z"},
    {OF(temperature[0]), .name = "temperature_par", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .shown = "-",
     FAMILY(TEMPERATURE, LM_ALONG_FIELD), .meaning = "along the local B, in place of temperature"},
    {OF(temperature[1]), .name = "temperature_perp", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .shown = "-",
     FAMILY(TEMPERATURE, LM_ALONG_FIELD), .meaning = "across the local B; with temperature_par"},
#define SIDE(text, side, member, choices) \
    .section = "boundary", .name = text, CHOICE(choices), IN(member[side]), .initial = "periodic"
    {SIDE("x_min", LM_X_MIN, boundary, boundaries), .meaning = "particles at x = 0: they enter at the side opposite, turn round, or are gone and counted"},
    {SIDE("x_max", LM_X_MAX, boundary, boundaries), .meaning = "particles at x = lx"},
    {SIDE("y_min", LM_Y_MIN, boundary, boundaries), .meaning = "particles at y = 0"},
    {SIDE("y_max", LM_Y_MAX, boundary, boundaries), .meaning = "particles at y = ly"},
    {SIDE("fields_x_min", LM_X_MIN, boundary_fields, field_boundaries), .meaning = "fields at x = 0"},
    {SIDE("fields_x_max", LM_X_MAX, boundary_fields, field_boundaries), .meaning = "fields at x = lx"},
    {SIDE("fields_y_min", LM_Y_MIN, boundary_fields, field_boundaries), .meaning = "fields at y = 0"},
    {SIDE("fields_y_max", LM_Y_MAX, boundary_fields, field_boundaries), .meaning = "fields at y = ly"},
#define SECTION .section = "units"
    {SECTION, .name = "b0", REAL, IN(units.b0), NOT_NEGATIVE, .unit = "T", .initial = "0", .shown = "not given",
     .meaning = "magnetic field"},
    {SECTION, .name = "n0", REAL, IN(units.n0), NOT_NEGATIVE, .unit = "m^-3", .initial = "0", .shown = "not given",
     .meaning = "number density"},
#undef SECTION
#define SECTION .section = "output"
    {SECTION, .name = "directory", .kind = LM_KEY_PATH, IN(output.directory), .shown = "NAME.out for NAME.ini",
     .meaning = "where everything is written"},
    {SECTION, .name = "series_every", LONG, IN(output.series_every), RANGE(0, 1e15), .unit = "steps", .initial = "10",
     .meaning = "between two rows of the time series; 0: never"},
    {SECTION, .name = "fields_every", LONG, IN(output.fields_every), RANGE(0, 1e15), .unit = "steps", .initial = "0",
     .meaning = "between two outputs of the fields; 0: never"},
    {SECTION, .name = "particles_every", LONG, IN(output.particles_every), RANGE(0, 1e15), .unit = "steps",
     .initial = "0", .meaning = "between two outputs of the particles; 0: never"},
    {SECTION, .name = "checkpoint_every", LONG, IN(output.checkpoint_every), RANGE(0, 1e15), .unit = "steps",
     .initial = "0", .meaning = "between two checkpoints; 0: only when the run is stopped early"},
    {SECTION, .name = "keep", INT, IN(output.keep), RANGE(1, 1e6), .initial = "2",
     .meaning = "checkpoints that stay on disk"},
    {SECTION, .name = "particles_fraction", REAL, IN(output.particles_fraction), RANGE(LM_POSITIVE, 1), .initial = "1",
     .meaning = "of the particles in an output; which ones is not specified"},
    {SECTION, .name = "compress", INT, IN(output.compress), RANGE(0, 9), .initial = "0",
     .meaning = "gzip level of the fields; 0: none"},
    {SECTION, .name = "wall_limit", .kind = LM_KEY_DURATION, IN(output.wall_limit), RANGE(0, 1e9), .initial = "0",
     .unit = "hh:mm:ss", .meaning = "time after which the run ends in a checkpoint; 0: none"},
#undef SECTION
};
/* clang-format on */

const int lm_key_count = (int)(sizeof lm_keys / sizeof *lm_keys);
_Static_assert(sizeof lm_keys / sizeof *lm_keys <= LM_MAX_KEYS, "raise LM_MAX_KEYS");

int lm_keys_find(const char *section, const char *name)
{
    for (int k = 0; k < lm_key_count; k++)
        if (!strcmp(lm_keys[k].section, section) && !strcmp(lm_keys[k].name, name))
            return k;
    return -1;
}

int lm_keys_has_section(const char *section)
{
    for (int k = 0; k < lm_key_count; k++)
        if (!strcmp(lm_keys[k].section, section))
            return 1;
    return 0;
}

static const char *shown_default(const struct lm_key *key)
{
    return key->shown ? key->shown : key->initial ? key->initial : "required";
}

static void print_text(FILE *out, const char *section)
{
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        char range[128];
        if (strcmp(key->section, section))
            continue;
        lm_key_range(key, range);
        fprintf(out, "  %-18s  %-10s  %-13s  %-22s  %-21s  %s\n", key->name, lm_key_type(key),
                key->unit ? key->unit : "-", range, shown_default(key), key->meaning);
    }
}

static void print_markdown(FILE *out, const char *section)
{
    fputs("\n| key | type | unit | range | default | meaning |\n|---|---|---|---|---|---|\n", out);
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        char range[128];
        if (strcmp(key->section, section))
            continue;
        lm_key_range(key, range);
        fprintf(out, "| `%s` | %s | %s | %s | %s | %s |\n", key->name, lm_key_type(key), key->unit ? key->unit : "",
                range, shown_default(key), key->meaning);
    }
}

static const char intro[] =
    "# Keys of a configuration\n\n"
    "<!-- Generated by `larmor keys --markdown > config/reference.md` from the table in src/keys.c: edit that. -->\n\n"
    "A number is plain. An expression may use x and y [d_i], the names of `[const]`, nx, ny, lx, ly, dx, dy, dt, pi,\n"
    "`+ - * / ^`, comparisons, `&&`, `||`, `?:` and the functions sin, cos, tan, asin, acos, atan, atan2, sinh, cosh,\n"
    "tanh, asinh, acosh, atanh, exp, ln, log (natural, as ln), log2, log10, pow, sqrt, abs, sign, rint, min, max, "
    "sum,\n"
    "avg. `#` or `;` at the start of a line or after a blank begins a comment.\n";

void lm_keys_print(FILE *out, int markdown)
{
    if (markdown)
        fputs(intro, out);
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        const char *name = sections[s].name;
        fprintf(out, markdown ? "\n## [%s]\n\n%s\n" : "[%s]  %s\n", name, sections[s].meaning);
        if (!lm_keys_has_section(name))
            continue;
        if (markdown)
            print_markdown(out, name);
        else
            print_text(out, name);
    }
}
