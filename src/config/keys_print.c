/* The table of keys as text: for a terminal, for the reference, and as a manual page. */
#include <stdio.h>
#include <string.h>

#include "config/keys.h"

static const struct {
    const char *name, *meaning;
} sections[] = {
    {"run", "The length of the run, its step, and the machine it uses."},
    {"grid", "The cells and the size of the domain. The lower left corner is x = 0, y = 0."},
    {"const",
     "NAME = EXPRESSION gives a name to a value, which numbers and expressions may use. The definitions may use "
     "each other, in any order, and nx, ny, lx, ly, dx, dy, dt, pi."},
    {"functions",
     "NAME = EXPRESSION, or NAME(ARGUMENT, ...) = EXPRESSION, gives a name to an expression of x, y, t and "
     "up to four arguments, which expressions may use. The functions may use each other, in any order."},
    {LM_DATA_SECTION,
     "One section for each array of an HDF5 file, also of another run. NAME is then a function of x and y, "
     "which expressions may use: the array, interpolated linearly. Beyond its cells it goes on "
     "periodically where it covers a periodic domain, else with its last values. With magnetic_field the function "
     "is NAME_az, the vector potential for fields.az, and the interpolation is cubic."},
    {LM_SPECTRUM_SECTION,
     "One section for each spectrum of waves with random phases, up to 4. It makes functions of x and y, which "
     "expressions may use: NAME_az and NAME_bz for the magnetic field (B_x and B_y follow from the vector potential), "
     "and NAME_ux, NAME_uy, NAME_uz for velocities. All waves have whole numbers of periods in the domain, and both "
     "fields are free of divergence."},
    {"electrons", "The electrons, a fluid without mass."},
    {"fields", "The initial magnetic field, Ohm's law and its solver."},
    {"external", "Currents outside the plasma. Ohm's law takes J = curl B - J_ext, where J_ext is the current of "
                 "coils, antennas and "
                 "magnets. A current that changes with time drives waves or compresses the plasma."},
    {"particles", "The shape and the precision of all ions."},
    {LM_SPECIES_SECTION, "One section for each species of ions. NAME is a letter, then letters, digits and _."},
    {"boundary",
     "What happens at the sides of the domain. Periodic sides come in pairs, for particles and fields alike. Particles "
     "at a reflecting side turn round. At an absorbing side they are removed and counted. From a thermal side they "
     "come "
     "back as from a plasma at rest at the wall's temperature. At an inflow side they are removed and counted, and "
     "others enter from a plasma beyond. Fields at a conducting side have a tangential E of 0. At an open side nothing "
     "changes across it. Beyond an inflow side E is that of the plasma that comes in, -u x B; beyond an inflow_e side "
     "it "
     "is fields.ex, ey, ez; on an inflow_b side the tangential B stays as fields.bx, by, bz say. A radiating side lets "
     "waves "
     "leave. By default fields are conducting where particles are reflecting or thermal. Where they are "
     "absorbing, fields are radiating if the plasma flows out at its thermal speed or faster, the two other sides are "
     "periodic and no resistive layer is before the side; otherwise they are open. Where particles are inflow, fields "
     "are inflow if the plasma flows in faster than fast waves; otherwise they are radiating, or open where an "
     "absorbing side would be open (beside radiating sides they are inflow). The mean flow at the start counts. With "
     "solver = none the given fields go on "
     "beyond the sides."},
    {LM_BODY_SECTION,
     "One section for each solid body. A cell is in the body if its centre lies in its shape. Particles and resistive "
     "fields also see how the surface cuts the cells. The shape is cut off at walls and continued across periodic "
     "sides. Where bodies overlap, the cell "
     "belongs to the last one."},
    {LM_BACKGROUND_SECTION,
     "One section for each background field, a scalar q on the cells that a flow u carries: dq/dt + div(q u) = "
     "div(diffusivity grad q) + source. Nothing goes through bodies or through sides of kind wall. At an inflow side "
     "the given value flows in where u points inwards. At an open side the value of the first cell flows in. Out of "
     "both flows what is there. The field is conserved exactly, and its ledger is in the time series."},
    {LM_IONISATION_SECTION,
     "One section for each source of ions within the domain, up to 8. A source is a given rate, or a gas (a background "
     "field of kind neutral_gas) and the frequency with which it is ionised. The gas loses exactly what the ions gain. "
     "An amount of gas in a cell that is less than a particle stays gas. Nothing is born in bodies. The ledger of the "
     "species counts the ions as `ionised`, and the ledger of the gas as a negative source."},
    {"units", "The scales in SI units, for factors in the output and for values with units in this file (500*km, 5*nT, "
              "400*km/s, 25*eV, 5*per_cm3). Give both or none."},
    {"output", "What is written, and how often."},
    {LM_OUTPUT_SECTION, "One section for each further output on the grid: outputs/NAME_STEP.h5. Values of a species "
                        "are made from its particles; velocities are half a step back."},
    {LM_DISTRIBUTION_SECTION,
     "One section for each distribution of particles: distributions/NAME_STEP.h5. Particles are "
     "counted in bins of one to three quantities; velocities are half a step back."},
    {LM_PROBE_SECTION,
     "One section for each group of points at which values are sampled: probes/NAME_STEP.h5. Values are interpolated "
     "linearly from the four places around a point where they are."},
    {LM_TRACK_SECTION,
     "One section for each group of ions that are followed: tracks/NAME_STEP.h5 has their orbits, and the fields that "
     "they felt. The ions are chosen once. The same ions are followed on every machine and after a restart."},
};

static const char *shown_default(const struct lm_key *key)
{
    return key->shown ? key->shown : key->initial ? key->initial : "required";
}

/* What a key does, and the name that it had before; `mark` stands around that name. */
static void put_meaning(FILE *out, const struct lm_key *key, const char *mark)
{
    fputs(key->meaning, out);
    if (key->formerly)
        fprintf(out, " Formerly %s%s%s.", mark, key->formerly, mark);
}

/* Prints a key in one of the forms. */
typedef void row(FILE *out, const struct lm_key *key, const char *range);

static void print_rows(FILE *out, const char *section, row *print)
{
    for (int k = 0; k < lm_key_count; k++) {
        char range[128];
        if (strcmp(lm_keys[k].section, section))
            continue;
        lm_key_range(&lm_keys[k], range);
        print(out, &lm_keys[k], range);
    }
}

static void text_row(FILE *out, const struct lm_key *key, const char *range)
{
    fprintf(out, "  %-29s  %-10s  %-13s  %-22s  %-21s  ", key->name, lm_key_type(key), key->unit ? key->unit : "-",
            range, shown_default(key));
    put_meaning(out, key, "");
    fputc('\n', out);
}

static void markdown_row(FILE *out, const struct lm_key *key, const char *range)
{
    fprintf(out, "| `%s` | %s | %s | %s | %s | ", key->name, lm_key_type(key), key->unit ? key->unit : "", range,
            shown_default(key));
    put_meaning(out, key, "`");
    fputs(" |\n", out);
}

static const char intro[] =
    "# Keys of a configuration\n\n"
    "<!-- Generated by `larmor keys --markdown > config/reference.md` from the table in src/config/keys.c: edit that. "
    "-->\n\n"
    "A number may be an expression without x, y and t: `5/3`, `8*n`. An expression may use x and y [d_i], where it is\n"
    "said also the time t, the names of `[const]` and `[functions]`, nx, ny, lx, ly, dx, dy, dt, pi, `+ - * / ^`,\n"
    "comparisons, `&&`, `||`, `?:` and the functions sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh,\n"
    "acosh, atanh, exp, ln, log (natural, as ln), log2, log10, pow, sqrt, abs, sign, rint, min, max, sum, avg.\n\n"
    "`#` or `;` at the start of a line or after a blank begins a comment. An indented line goes on with the value of "
    "the\n"
    "line before it.\n";

/* Text in a manual page: backslashes and hyphens have a meaning there, and so have dots and quotes at the beginning of
 * a line. */
static void put_man_text(FILE *out, const char *text)
{
    for (int first = 1; *text; first = *text++ == '\n') {
        if (first && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
    fputc('\n', out);
}

static void man_row(FILE *out, const struct lm_key *key, const char *range)
{
    char text[512];
    fprintf(out, ".TP\n.B %s\n", key->name);
    put_man_text(out, key->meaning);
    snprintf(text, sizeof text, "(%s%s%s%s%s; default: %s)", lm_key_type(key), key->unit ? " in " : "",
             key->unit ? key->unit : "", *range ? "; " : "", range, shown_default(key));
    put_man_text(out, text);
}

void lm_keys_man(FILE *out, const char *usage)
{
    fputs(".TH LARMOR 1 \"\" \"Larmor " LM_VERSION "\" \"User commands\"\n.ad l\n"
          ".SH NAME\nlarmor \\- hybrid particle\\-in\\-cell simulation of plasmas\n.SH SYNOPSIS\n.nf\n",
          out);
    put_man_text(out, usage);
    fputs(".fi\n.SH CONFIGURATION\nA configuration is an INI file with the following sections. A number may be an "
          "expression of constants.\n",
          out);
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        fprintf(out, ".SS [%s]\n", sections[s].name);
        put_man_text(out, sections[s].meaning);
        print_rows(out, sections[s].name, man_row);
    }
}

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
            fputs("\n| key | type | unit | range | default | meaning |\n|---|---|---|---|---|---|\n", out);
        print_rows(out, name, markdown ? markdown_row : text_row);
    }
}
