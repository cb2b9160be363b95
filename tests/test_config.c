/* The configuration: defaults, every class of bad input with file, line and key in the message, overrides, round trip.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inside.h"
#include "larmor/base.h"
#include "larmor/config.h"
#include "suite.h"

static char directory[64];
static char file[128];
static struct lm_config config;

static void setup(void)
{
    snprintf(directory, sizeof directory, "/tmp/larmor-config-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/case.ini", directory);
}

static void teardown(void)
{
    lm_config_free(&config);
    unlink(file);
    rmdir(directory);
}

static void put_bytes(const char *text, size_t n)
{
    FILE *out = fopen(file, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(text, 1, n, out), n);
    fclose(out);
}

/* A valid head of nine lines; what a test adds begins on line 10, in [species.p]. */
static const char head[] = "[run]\ndt = 0.1\nt_end = 2\n[grid]\nnx = 4\nny = 3\nlx = 2\nly = 1.5\n[species.p]\n";

static void put_after_head(const char *text)
{
    char all[8192];
    int n = snprintf(all, sizeof all, "%s%s", head, text);
    ck_assert_int_lt(n, (int)sizeof all);
    put_bytes(all, (size_t)n);
}

static int read_again(int count, const char *const *overrides)
{
    lm_config_free(&config);
    return lm_config_read(file, count, overrides, &config);
}

static void assert_reads(const char *text)
{
    put_after_head(text);
    ck_assert_msg(read_again(0, NULL) == LM_OK, "%s", lm_error());
}

static void assert_message(const char *expected)
{
    ck_assert_msg(strstr(lm_error(), expected) != NULL, "no \"%s\" in:\n%s", expected, lm_error());
}

/* The head plus `text` must fail with exactly one message "FILE:LINE: expected". */
static void assert_rejects(const char *text, int line, const char *expected)
{
    char want[512];
    put_after_head(text);
    ck_assert_msg(read_again(0, NULL) == LM_BAD_INPUT, "accepted: %s", text);
    snprintf(want, sizeof want, "%s:%d: %s", file, line, expected);
    assert_message(want);
    ck_assert_msg(!strchr(lm_error(), '\n'), "more than one problem:\n%s", lm_error());
}

static void assert_override_fails(const char *override, const char *expected)
{
    char want[512];
    ck_assert_msg(read_again(1, &override) == LM_BAD_INPUT, "accepted: %s", override);
    snprintf(want, sizeof want, "command line: %s", expected);
    assert_message(want);
}

/* Writes the configuration over its file and reads it again. */
static void assert_round_trip(void)
{
    static struct lm_config first;
    memcpy(&first, &config, sizeof first);
    FILE *out = fopen(file, "w");
    ck_assert_int_eq(lm_config_write(&config, out), LM_OK);
    fclose(out);
    ck_assert_msg(read_again(0, NULL) == LM_OK, "%s", lm_error());
    first.constants = config.constants;
    ck_assert_mem_eq(&first, &config, sizeof first);
}

START_TEST(test_defaults)
{
    assert_reads("");
    ck_assert_int_eq(config.run.steps, 20);
    ck_assert_uint_eq(config.run.seed, 1);
    ck_assert_int_eq(config.run.backend, LM_BACKEND_AUTO);
    ck_assert_int_eq(config.run.tile, 0);
    ck_assert_int_eq(config.grid.nx, 4);
    ck_assert_double_eq(config.grid.ly, 1.5);
    ck_assert_int_eq(config.electrons.closure, LM_ISOTHERMAL);
    ck_assert_double_eq(config.fields.density_floor, 0.05);
    ck_assert_int_eq(config.fields.smoothing, 1);
    ck_assert_int_eq(config.fields.friction, 1);
    ck_assert_double_eq(config.fields.substep_safety, 2.0);
    ck_assert_int_eq(config.fields.min_substeps, 1);
    ck_assert_int_eq(config.fields.max_substeps, 200);
    ck_assert_int_eq(config.particles.shape, LM_LINEAR);
    ck_assert_int_eq(config.particles.precision, LM_DOUBLE);
    ck_assert_int_eq(config.species_count, 1);
    ck_assert_str_eq(config.species[0].name, "p");
    ck_assert_double_eq(config.species[0].particles_per_cell, 64.0);
    ck_assert_str_eq(config.species[0].density, "1");
    ck_assert_str_eq(config.species[0].temperature[2], "0");
    ck_assert_int_eq(config.output.series_every, 10);
    ck_assert_int_eq(config.output.keep, 2);
    ck_assert_double_eq(config.output.particles_fraction, 1.0);
    ck_assert_str_eq(config.output.directory, "case.out");
    for (int side = 0; side < LM_SIDES; side++) {
        ck_assert_int_eq(config.boundary[side], LM_PERIODIC);
        ck_assert_int_eq(config.boundary_fields[side], LM_FIELDS_PERIODIC);
        ck_assert_double_eq(config.layer[side], 0.0);
    }
    ck_assert_int_eq(config.body_count, 0);
    ck_assert_str_eq(config.species[0].inflow_density, "");
    ck_assert_double_eq(config.species[0].slowing, 0.0);
    ck_assert_double_eq(config.species[0].scattering, 0.0);
    ck_assert_double_eq(config.species[0].scattering_sigmas, 5.0);
    ck_assert_double_eq(config.species[0].energy_cutoff, 0.0);
    ck_assert_double_eq(config.species[0].pitch_min, 0.0);
    ck_assert_double_eq(config.species[0].pitch_max, 180.0);
    ck_assert_int_eq(config.output.maps_every, 0);
    ck_assert_int_eq(config.output.map_angles, 18);
    ck_assert_int_eq(config.output.map_energies, 32);
    ck_assert_double_eq(config.output.map_energy[0], 1e-3);
    ck_assert_double_eq(config.output.map_energy[1], 1e3);
    double v = 0.0;
    ck_assert_int_eq(lm_expr_value(config.constants, "nx+10*ny+100*lx+1000*dx+1e5*dt+1e6*dy+1e9*ly", &v), LM_OK);
    ck_assert_double_eq_tol(v, 4 + 30 + 200 + 500 + 1e4 + 5e5 + 1.5e9, 1e-3);
}
END_TEST

START_TEST(test_accepts)
{
    static const char crlf[] =
        "\xEF\xBB\xBF[run]\r\ndt = 0.1 ; step\r\nsteps=3\r\n\r\n  # note\r\n[grid]\r\nnx=4\r\nny =3\r\n"
        "lx= 2\r\nly = 1e0\t# size\r\n[species.p]";
    put_bytes(crlf, sizeof crlf - 1);
    ck_assert_msg(read_again(0, NULL) == LM_OK, "%s", lm_error());
    ck_assert_int_eq(config.run.steps, 3);
    ck_assert_double_eq(config.run.t_end, 3 * 0.1);
    assert_reads("temperature_par = 1\ntemperature_perp = 2\n[output]\nwall_limit = 01:02:03\ndirectory = a#b\n"
                 "[run]\nseed = 18446744073709551615\n[fields]\nbx = (x>1) ? 2 : 3\n");
    ck_assert_double_eq(config.output.wall_limit, 3723.0);
    ck_assert_str_eq(config.output.directory, "a#b");
    ck_assert_uint_eq(config.run.seed, UINT64_MAX);
    ck_assert_int_eq(config.species[0].temperature_kind, LM_TEMPERATURE_FIELD_ALIGNED);
    ck_assert_str_eq(config.species[0].temperature[1], "2");
    assert_reads("temperature = 0.5\n");
    ck_assert_str_eq(config.species[0].temperature[2], "0.5");
}
END_TEST

static const struct {
    const char *text;
    int line;
    const char *message;
} bad[] = {
    /* names */
    {"[feilds]\nbx = 1\n", 10, "unknown section [feilds], did you mean [fields]?"},
    {"[zzzzzz]\n", 10, "unknown section [zzzzzz]"},
    {"[specis.q]\n", 10, "unknown section [specis.q], did you mean [species.q]?"},
    {"[species]\n", 10, "unknown section [species]: a species has a name"},
    {"[species.1a]\n", 10, "[species.1a]: \"1a\" is no name"},
    {"[species.]\n", 10, "[species.]: \"\" is no name"},
    {"[species.abcdefghijabcdefghijabcdefghijab]\n", 10, "[species.abcdefghijabcdefghijabcdefghijab]: "},
    {"[fields]\ndensity_flor = 1\n", 11, "fields.density_flor: unknown key, did you mean density_floor?"},
    {"[run]\nnx = 1\n", 11, "run.nx: unknown key, did you mean grid.nx?"},
    {"qqqqqq = 1\n", 10, "species.p.qqqqqq: unknown key"},
    {"desnity = 1\n", 10, "species.p.desnity: unknown key, did you mean density?"},
    {"[grid]\nxn = 1\n", 11, "grid.xn: unknown key, did you mean nx?"},
    /* values */
    {"mass = 1x\n", 10, "species.p.mass: \"1x\" is not a plain number"},
    {"mass = 2*3\n", 10, "species.p.mass: \"2*3\" is not a plain number"},
    {"mass = nan\n", 10, "species.p.mass: \"nan\" is not a plain number"},
    {"mass = 0x10\n", 10, "species.p.mass: \"0x10\" is not a plain number"},
    {"mass = 1e999\n", 10, "species.p.mass: 1e999 is out of range (> 0)"},
    {"mass = 0\n", 10, "species.p.mass: 0 is out of range (> 0)"},
    {"mass =\n", 10, "species.p.mass: no value"},
    {"density =\n", 10, "species.p.density: no value"},
    {"density = # 1\n", 10, "species.p.density: no value"},
    {"start = loud\n", 10, "species.p.start: \"loud\" is not one of random, quiet"},
    {"[output]\nkeep = 2.5\n", 11, "output.keep: \"2.5\" is not an integer"},
    {"[output]\nkeep = 0\n", 11, "output.keep: 0 is out of range (1 to 1e+06)"},
    {"[output]\nseries_every = 99999999999999999999\n", 11,
     "output.series_every: 99999999999999999999 is out of range"},
    {"[output]\nwall_limit = 1:60:00\n", 11, "output.wall_limit: \"1:60:00\" is no duration"},
    {"[output]\nwall_limit = 90\n", 11, "output.wall_limit: \"90\" is no duration"},
    {"[run]\nseed = -1\n", 11, "run.seed: \"-1\" is not an integer of 0 or more"},
    {"[run]\nseed = 18446744073709551616\n", 11, "run.seed: 18446744073709551616 is out of range"},
    {"[run]\ntile = 9\n", 11, "run.tile: \"9\" is not one of auto, 8, 16"},
    {"[fields]\nsubstep_safety = 2.9\n", 11, "fields.substep_safety: 2.9 is out of range (> 0, <= 2.7)"},
    {"[boundary]\nx_min = reflecting\n", 11,
     "boundary.x_min: the side opposite is periodic: set boundary.x_max as well"},
    /* duplicates */
    {"[run]\ndt = 1\n", 11, "run.dt: given twice, first on line 2"},
    {"mass = 1\nmass = 1\n", 11, "species.p.mass: given twice, first on line 10"},
    {"[const]\na = 1\na = 2\n", 12, "const.a: given twice, first on line 11"},
    /* expressions */
    {"density = 1+foo\n", 10, "species.p.density: unknown name \"foo\""},
    {"density = 1+\n", 10, "species.p.density: cannot read \"1+\""},
    {"density = x=2\n", 10, "species.p.density: assignment"},
    {"density = 1/abs(x-0.75)\n", 10, "species.p.density: \"1/abs(x-0.75)\" is infinite at x = 0.75, y = 0.25"},
    {"density = 1-x\n", 10, "species.p.density: \"1-x\" is -0.25 at x = 1.25, y = 0.25; the least allowed is 0"},
    {"temperature = y-0.5\n", 10, "species.p.temperature: \"y-0.5\" is -0.25 at x = 0.25, y = 0.25"},
    {"temperature_z = -1\n", 10, "species.p.temperature_z: \"-1\" is -1 at "},
    {"drift_x = sqrt(x-0.5)\n", 10, "species.p.drift_x: \"sqrt(x-0.5)\" is not a number at x = 0.25, y = 0.25"},
    {"[fields]\neta = -1e-3\n", 11, "fields.eta: \"-1e-3\" is -0.001 at "},
    {"[fields]\nbx = 1/(y-0.5)\n", 11, "fields.bx: \"1/(y-0.5)\" is infinite at x = 0.25, y = 0.5"},
    {"[fields]\nby = 1/(x-0.5)\n", 11, "fields.by: \"1/(x-0.5)\" is infinite at x = 0.5, y = 0.25"},
    {"[fields]\nbz = 1/(x-0.5+y-0.5)\n", 11, "fields.bz: \"1/(x-0.5+y-0.5)\" is infinite at x = 0.5, y = 0.5"},
    {"[fields]\naz = ln(x-0.25)\n", 11, "fields.az: \"ln(x-0.25)\" is infinite at x = 0.25, y = 0.25"},
    {"[const]\na = x\n", 11, "const.a: x cannot be used in a constant"},
    {"[const]\na = 1/0\n", 11, "const.a: \"1/0\" is infinite"},
    {"[const]\na = b\nb = 1\n", 11, "const.a: unknown name \"b\""},
    {"[const]\nsin = 1\n", 11, "const.sin: the name \"sin\" is taken"},
    {"[const]\ndx = 1\n", 11, "const.dx: the name \"dx\" is taken"},
    {"[const]\n2a = 1\n", 11, "const.2a: no name"},
    /* lines */
    {" mass = 2\n", 10, "indented line"},
    {"\tmass = 2\n", 10, "indented line"},
    {"mass\n", 10, "\"mass\": expected key = value"},
    {"mass : 2\n", 10, "\"mass : 2\": expected key = value"},
    {"= 2\n", 10, "\"= 2\": no key before ="},
    {"[run\n", 10, "\"[run\": ] is missing"},
    {"[run] x\n", 10, "\"[run] x\": text after the section's name"},
    {"mass = 1\001\n", 10, "control character"},
    {"mass = 1\rcharge = 1\n", 10, "control character"},
    /* combinations */
    {"[run]\nsteps = 5\n", 11, "run.steps: not together with t_end"},
    {"temperature = 1\ntemperature_y = 1\n", 11, "species.p.temperature_y: not together with temperature"},
    {"temperature_x = 1\ntemperature_par = 1\ntemperature_perp = 1\n", 11,
     "species.p.temperature_par: not together with temperature_x"},
    {"temperature_par = 1\n", 10, "species.p.temperature_par: needs temperature_perp as well"},
    {"temperature_perp = 1\n", 10, "species.p.temperature_perp: needs temperature_par as well"},
    {"[electrons]\ngamma = 2\n", 11, "electrons.gamma: has a meaning only with closure = polytropic"},
    {"[fields]\ney = 2\n", 11, "fields.ey: has a meaning only with solver = none"},
    {"[units]\nb0 = 1e-9\n", 11, "units.b0: needs units.n0 as well"},
    {"[units]\nn0 = 1e6\n", 11, "units.n0: needs units.b0 as well"},
    /* sides, bodies */
    {"[bdy.m]\n", 10, "unknown section [bdy.m], did you mean [body.m]?"},
    {"[body]\n", 10, "unknown section [body]: a body has a name, [body.NAME]"},
    {"[body.1]\n", 10, "[body.1]: \"1\" is no name"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nraduis = 1\n", 15,
     "body.m.raduis: unknown key, did you mean radius?"},
    {"[boundary]\nx_min = thermal\n", 11, "boundary.x_min: the side opposite is periodic: set boundary.x_max as well"},
    {"[boundary]\nx_max = thermal\n", 11, "boundary.x_max: the side opposite is periodic: set boundary.x_min as well"},
    {"[boundary]\ny_min = thermal\n", 11, "boundary.y_min: the side opposite is periodic: set boundary.y_max as well"},
    {"[boundary]\ny_max = thermal\n", 11, "boundary.y_max: the side opposite is periodic: set boundary.y_min as well"},
    {"[boundary]\nx_min = solid\nx_max = inflow\n", 11,
     "boundary.x_min: \"solid\" is not one of periodic, reflecting, absorbing, thermal, inflow"},
    {"[boundary]\nfields_y_max = closed\n", 11,
     "boundary.fields_y_max: \"closed\" is not one of periodic, conducting, open, inflow, inflow_b, inflow_e"},
    {"[boundary]\nfields_x_min = open\n", 11,
     "boundary.fields_x_min: fields are periodic where the particles are and nowhere else: see boundary.x_min"},
    {"[boundary]\ny_min = absorbing\ny_max = thermal\nfields_y_max = periodic\n", 13,
     "boundary.fields_y_max: fields are periodic where the particles are and nowhere else: see boundary.y_max"},
    {"[fields]\nsolver = none\n[boundary]\nx_min = absorbing\nx_max = absorbing\nfields_x_min = open\n", 15,
     "boundary.fields_x_min: has a meaning only with fields.solver = hybrid"},
    {"[boundary]\nx_max_temperature = 1\n", 11, "boundary.x_max_temperature: has a meaning only with x_max = thermal"},
    {"[boundary]\nx_min = thermal\nx_max = inflow\nx_max_temperature = 1\n", 13,
     "boundary.x_max_temperature: has a meaning only with x_max = thermal"},
    {"[boundary]\ny_min = thermal\ny_max = inflow\ny_min_temperature = -1\n", 13,
     "boundary.y_min_temperature: -1 is out of range (>= 0)"},
    {"[boundary]\nx_min = inflow\nx_max = open\n", 12, "boundary.x_max: \"open\" is not one of"},
    {"[boundary]\nlayer_x_min = 0.5\nlayer_eta = 1\n", 11,
     "boundary.layer_x_min: has a meaning only before a side that is not periodic"},
    {"[boundary]\nx_min = inflow\nx_max = absorbing\nlayer_x_max = 0.5\n", 13,
     "boundary.layer_x_max: needs boundary.layer_eta as well"},
    {"[boundary]\nx_min = inflow\nx_max = absorbing\nlayer_x_max = 0.5\nlayer_eta = 0\n", 14,
     "boundary.layer_eta: the layers need a resistivity above 0"},
    {"[boundary]\nx_min = inflow\nx_max = absorbing\nlayer_eta = 0.5\n", 13,
     "boundary.layer_eta: has a meaning only with a layer"},
    {"[boundary]\ny_min = inflow\ny_max = absorbing\nlayer_y_max = 1.6\nlayer_eta = 1\n", 13,
     "boundary.layer_y_max: the layer is wider than the domain"},
    {"[fields]\nsolver = none\n[boundary]\nx_min = absorbing\nx_max = absorbing\nlayer_x_max = 1\nlayer_eta = 1\n", 15,
     "boundary.layer_x_max: has a meaning only with fields.solver = hybrid"},
    {"inflow_density = 1\n", 10, "species.p.inflow_density: has a meaning only with an inflow side"},
    {"inflow_density = t*q\n[boundary]\nx_min = inflow\nx_max = absorbing\n", 10,
     "species.p.inflow_density: unknown name \"q\""},
    {"inflow_density = y-0.5\n[boundary]\nx_min = inflow\nx_max = absorbing\n", 10,
     "species.p.inflow_density: beyond x_min: \"y-0.5\" is -0.25 at x = 0, y = 0.25, t = 0; the least allowed is 0"},
    {"inflow_density = 1/t\n[boundary]\nx_min = inflow\nx_max = absorbing\n", 10,
     "species.p.inflow_density: beyond x_min: \"1/t\" is infinite at x = 0, y = 0.25, t = 0"},
    {"density = x-0.1\n[boundary]\nx_min = inflow\nx_max = absorbing\n", 10,
     "species.p.density: beyond x_min: \"x-0.1\" is -0.1 at x = 0, y = 0.25, t = 0"},
    {"inflow_density = x-2\n[boundary]\ny_min = inflow\ny_max = absorbing\n", 10,
     "species.p.inflow_density: beyond y_min: \"x-2\" is -1.75 at x = 0.25, y = 0, t = 0"},
    {"density = 1+t\n", 10, "species.p.density: t cannot be used here, where only x and y can"},
    {"[fields]\nbx = t\n", 11, "fields.bx: t cannot be used here"},
    {"[const]\nt = 1\n", 11, "const.t: the name \"t\" is taken"},
    {"[const]\na = t\n", 11, "const.a: t cannot be used in a constant"},
    {"slowing = -1\n", 10, "species.p.slowing: -1 is out of range (>= 0)"},
    {"scattering = -1\n", 10, "species.p.scattering: -1 is out of range (>= 0)"},
    {"scattering_sigmas = 0\n", 10, "species.p.scattering_sigmas: 0 is out of range (> 0"},
    {"energy_cutoff = -1\n", 10, "species.p.energy_cutoff: -1 is out of range (>= 0)"},
    {"pitch_max = 181\n", 10, "species.p.pitch_max: 181 is out of range (0 to 180)"},
    {"pitch_min = 180\n", 10, "species.p.pitch_min: pitch_min is not below pitch_max"},
    {"pitch_max = 0\n", 10, "species.p.pitch_max: pitch_min is not below pitch_max"},
    {"scattering = 1e25\n", 10, "species.p.scattering: sqrt(scattering*dt)*scattering_sigmas"},
    {"[output]\nmaps_every = -1\n", 11, "output.maps_every: -1 is out of range"},
    {"[output]\nmap_angles = -1\n", 11, "output.map_angles: -1 is out of range (0 to 180)"},
    {"[output]\nmap_energies = 0\n", 11, "output.map_energies: 0 is out of range (1 to 1000)"},
    {"[output]\nmap_energy_min = 0\n", 11, "output.map_energy_min: 0 is out of range (> 0)"},
    {"[output]\nmap_energy_max = 1e-3\n", 11, "output.map_energy_max: map_energy_min is not below map_energy_max"},
    {"[body.m]\n", 10, "body.m.shape: required and not given"},
    {"[body.m]\nshape = ring\nradius = 1\n", 11, "body.m.shape: \"ring\" is not one of disk, box, polygon, mask"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\n", 10, "body.m.radius: required with shape = disk and not given"},
    {"[body.m]\nshape = disk\nx = 1\nradius = 1\n", 10, "body.m.y: required with shape = disk or box and not given"},
    {"[body.m]\nshape = box\nx = 1\ny = 1\nwidth = 1\n", 10, "body.m.height: required with shape = box and not given"},
    {"[body.m]\nshape = polygon\n", 10, "body.m.points: required with shape = polygon and not given"},
    {"[body.m]\nshape = mask\n", 10, "body.m.file: required with shape = mask and not given"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nwidth = 1\n", 15,
     "body.m.width: has a meaning only with shape = box"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nheight = 1\n", 15,
     "body.m.height: has a meaning only with shape = box"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\npoints = 0 0, 1 0, 1 1\n", 15,
     "body.m.points: has a meaning only with shape = polygon"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nfile = a.pgm\n", 15,
     "body.m.file: has a meaning only with shape = mask"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\ndataset = a\n", 15,
     "body.m.dataset: has a meaning only with shape = mask"},
    {"[body.m]\nshape = polygon\npoints = 0 0, 1 0, 1 1\nx = 1\n", 13,
     "body.m.x: has a meaning only with shape = disk or box"},
    {"[body.m]\nshape = box\nx = 1\ny = 1\nwidth = 1\nheight = 1\nradius = 1\n", 16,
     "body.m.radius: has a meaning only with shape = disk"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0\n", 14, "body.m.radius: 0 is out of range (> 0, <= 1e+12)"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nparticles = sticky\n", 15,
     "body.m.particles: \"sticky\" is not one of absorbing, reflecting, thermal"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nparticles = periodic\n", 15,
     "body.m.particles: \"periodic\" is not one of"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\ntemperature = 1\n", 15,
     "body.m.temperature: has a meaning only with particles = thermal"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nfields = open\n", 15,
     "body.m.fields: \"open\" is not one of conducting, resistive, transparent"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nresistivity = 1\n", 15,
     "body.m.resistivity: has a meaning only with fields = resistive"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nfields = resistive\n", 10,
     "body.m.resistivity: required with fields = resistive and not given"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nfields = resistive\nresistivity = x-1\n", 16,
     "body.m.resistivity: \"x-1\" is -0.75 at x = 0.25, y = 0.25"},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 0.5\nfields = resistive\nresistivity = t\n", 16,
     "body.m.resistivity: t cannot be used here"},
    {"[body.m]\nshape = mask\nfile = a\ndataset = abcdefghijabcdefghijabcdefghijab\n", 13,
     "body.m.dataset: longer than 31 bytes"},
};

START_TEST(test_bad_input)
{
    assert_rejects(bad[_i].text, bad[_i].line, bad[_i].message);
}
END_TEST

START_TEST(test_line_length)
{
    char line[400] = "density = 1";
    while (strlen(line) < 199)
        strcat(line, strlen(line) % 2 ? "+" : "1");
    line[198] = '1';
    line[199] = '\n';
    line[200] = 0;
    assert_reads(line);
    ck_assert_uint_eq(strlen(config.species[0].density), 189);
    strcpy(line + 199, "1\n");
    assert_rejects(line, 10, "line of 200 bytes or more");
    strcpy(line, "mass = 1 # ");
    memset(line + 11, 'c', 300);
    strcpy(line + 311, "\n");
    assert_reads(line); /* a comment may be long */
}
END_TEST

START_TEST(test_nul_byte)
{
    char text[300];
    size_t n = (size_t)snprintf(text, sizeof text, "%smass = 1?0\n", head);
    *strchr(text, '?') = 0;
    put_bytes(text, n);
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message("case.ini:10: NUL byte");
}
END_TEST

START_TEST(test_files)
{
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message("case.ini: No such file");
    ck_assert_int_eq(lm_config_read(directory, 0, NULL, &config), LM_BAD_INPUT);
    assert_message("not a regular file");
    put_bytes("", 0);
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    static const char *const required[] = {"run.dt", "run.t_end", "grid.nx", "grid.ny", "grid.lx", "grid.ly"};
    for (int k = 0; k < 6; k++) {
        char want[200];
        snprintf(want, sizeof want, "%s: %s: required", file, required[k]);
        assert_message(want);
    }
    assert_message("no ion species");
    put_bytes("dt = 1\n[run]\n", 13);
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message("case.ini:1: \"dt = 1\": key before any [section]");
    ck_assert_int_eq(truncate(file, 2 << 20), 0);
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message("larger than");
}
END_TEST

START_TEST(test_all_errors_at_once)
{
    put_after_head("mass = -1\ncharg = 2\n[grid]\nlx = 3\n[fields]\nbx = foo\n"
                   "[body.m]\nshape = polygon\npoints = 1 2\n[body.n]\nparticles = no\n");
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message(":10: species.p.mass: -1 is out of range");
    assert_message(":11: species.p.charg: unknown key, did you mean charge?");
    assert_message(":13: grid.lx: given twice, first on line 7");
    assert_message(":15: fields.bx: unknown name");
    assert_message(":18: body.m.points: \"1 2\": a polygon has three points or more, not 1");
    assert_message(":19: body.n.shape: required and not given");
    assert_message(":20: body.n.particles: \"no\" is not one of");
    ck_assert(strstr(lm_error(), ":10: ") < strstr(lm_error(), ":13: "));
    ck_assert(strstr(lm_error(), ":13: ") < strstr(lm_error(), ":15: "));

    char many[4000] = "";
    for (int k = 0; k < 300; k++)
        strcat(many, "wrong\n");
    put_after_head(many);
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message(":10: \"wrong\"");
    assert_message(" more");
    ck_assert_uint_lt(strlen(lm_error()), LM_MAX_MESSAGE);
}
END_TEST

/* A wrong size must not hide errors in expressions, nor make up any. */
START_TEST(test_expressions_without_a_grid)
{
    put_bytes("[run]\ndt=1\nsteps=1\n[grid]\nnx=0\nny=1\nlx=1\nly=1\n[const]\na=1/nx\n[fields]\nbx=a*fo\nby=a/(nx-1)\n"
              "[species.p]\n",
              102);
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message(":5: grid.nx: 0 is out of range (1 to 32768)\n");
    assert_message(":12: fields.bx: unknown name \"fo\"");
    ck_assert_ptr_null(strstr(lm_error(), "infinite"));
}
END_TEST

START_TEST(test_too_many_species)
{
    char text[1000] = "";
    for (int k = 0; k < LM_MAX_SPECIES - 1; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "[species.s%d]\n", k);
    assert_reads(text);
    ck_assert_int_eq(config.species_count, LM_MAX_SPECIES);
    strcat(text, "[species.last]\n");
    assert_rejects(text, 10 + LM_MAX_SPECIES - 1, "[species.last]: more than 16 species");
}
END_TEST

START_TEST(test_too_many_bodies)
{
    char text[2000] = "";
    for (int k = 0; k < LM_MAX_BODIES; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "[body.b%d]\nshape = box\nx = %g\ny = 0.75\nwidth = 0.1\nheight = 0.1\n", k, 0.1 + 0.25 * k);
    put_after_head(text);
    static const char *const finer[] = {"grid.nx=64", "grid.ny=64"};
    ck_assert_msg(read_again(2, finer) == LM_OK, "%s", lm_error());
    ck_assert_int_eq(config.body_count, LM_MAX_BODIES);
    ck_assert_str_eq(config.body[7].name, "b7");
    strcat(text, "[body.last]\nshape = disk\n");
    assert_rejects(text, 10 + 6 * LM_MAX_BODIES, "[body.last]: more than 8 bodies");
}
END_TEST

START_TEST(test_sides)
{
    assert_reads("[boundary]\nx_min = reflecting\nx_max = absorbing\ny_min = thermal\ny_max = inflow\n"
                 "y_min_temperature = 0.5\n");
    static const int fields[LM_SIDES] = {LM_CONDUCTING, LM_OPEN, LM_CONDUCTING, LM_FIELDS_INFLOW};
    ck_assert_mem_eq(config.boundary_fields, fields, sizeof fields);
    ck_assert_int_eq(config.boundary[LM_Y_MIN], LM_THERMAL);
    ck_assert_int_eq(config.boundary[LM_Y_MAX], LM_INFLOW);
    ck_assert_double_eq(config.boundary_temperature[LM_Y_MIN], 0.5);
    assert_round_trip();

    assert_reads("[boundary]\nx_min = reflecting\nx_max = inflow\nfields_x_min = open\nfields_x_max = inflow_e\n"
                 "layer_x_min = 0.5\nlayer_eta = 0.1\n[fields]\ney = 0.3\n");
    static const int given[LM_SIDES] = {LM_OPEN, LM_INFLOW_E, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC};
    ck_assert_mem_eq(config.boundary_fields, given, sizeof given);
    ck_assert_str_eq(config.fields.e[1], "0.3");
    ck_assert_double_eq(config.layer[LM_X_MIN], 0.5);
    ck_assert_double_eq(config.layer_eta, 0.1);
    assert_round_trip();

    assert_reads("[fields]\nsolver = none\n[boundary]\nx_min = thermal\nx_max = inflow\nfields_x_min = periodic\n");
    ck_assert_int_eq(config.boundary_fields[LM_X_MIN], LM_FIELDS_PERIODIC);
    ck_assert_int_eq(config.boundary_fields[LM_X_MAX], LM_FIELDS_PERIODIC);
    assert_round_trip();
}
END_TEST

START_TEST(test_bodies)
{
    assert_reads("inflow_density = 1+0.1*sin(t)\nslowing = 0.1\nscattering = 0.2\nscattering_sigmas = 3\n"
                 "energy_cutoff = 0.01\npitch_min = 10\npitch_max = 80\n"
                 "[boundary]\nx_min = inflow\nx_max = absorbing\n"
                 "[body.moon]\nshape = disk\nx = 1\ny = 0.75\nradius = 0.3\nparticles = absorb\nfields = resistive\n"
                 "resistivity = 0.1+x\n[body.m]\nshape = box\nx = 0.25\ny = 0.25\nwidth = 0.1\nheight = 0.2\n"
                 "particles = reflect\nfields = transparent\n[body.tip]\nshape = polygon\n"
                 "points = 1.5 1, 2 1 , 1.75 1.5\nparticles = thermal\ntemperature = 0.2\n"
                 "[output]\nmaps_every = 5\nmap_angles = 9\nmap_energies = 8\nmap_energy_min = 0.1\n"
                 "map_energy_max = 10\n");
    ck_assert_int_eq(config.body_count, 3);
    ck_assert_str_eq(config.body[0].name, "moon");
    ck_assert_int_eq(config.body[0].shape, LM_DISK);
    ck_assert_double_eq(config.body[0].y, 0.75);
    ck_assert_double_eq(config.body[0].radius, 0.3);
    ck_assert_int_eq(config.body[0].particles, LM_ABSORBING);
    ck_assert_int_eq(config.body[0].fields, LM_BODY_RESISTIVE);
    ck_assert_str_eq(config.body[0].resistivity, "0.1+x");
    ck_assert_int_eq(config.body[1].shape, LM_BOX);
    ck_assert_int_eq(config.body[1].particles, LM_REFLECTING);
    ck_assert_int_eq(config.body[1].fields, LM_BODY_TRANSPARENT);
    ck_assert_double_eq(config.body[1].height, 0.2);
    ck_assert_int_eq(config.body[2].shape, LM_POLYGON);
    ck_assert_int_eq(config.body[2].particles, LM_THERMAL);
    ck_assert_double_eq(config.body[2].temperature, 0.2);
    ck_assert_int_eq(config.body[2].fields, LM_BODY_CONDUCTING);
    ck_assert_str_eq(config.species[0].inflow_density, "1+0.1*sin(t)");
    ck_assert_double_eq(config.species[0].slowing, 0.1);
    ck_assert_double_eq(config.species[0].scattering, 0.2);
    ck_assert_double_eq(config.species[0].scattering_sigmas, 3.0);
    ck_assert_double_eq(config.species[0].energy_cutoff, 0.01);
    ck_assert_double_eq(config.species[0].pitch_min, 10.0);
    ck_assert_double_eq(config.species[0].pitch_max, 80.0);
    ck_assert_int_eq(config.output.maps_every, 5);
    ck_assert_double_eq(config.output.map_energy[1], 10.0);
    assert_round_trip();

    static const char *const larger[] = {"body.moon.radius=0.4"};
    ck_assert_int_eq(read_again(1, larger), LM_OK);
    ck_assert_double_eq(config.body[0].radius, 0.4);
    assert_override_fails("body.mon.radius=1",
                          "body.mon.radius: the file has no [body.mon], did you mean [body.moon]?");
    assert_override_fails("body.moon.radus=1", "body.moon.radus: unknown key, did you mean radius?");
    assert_override_fails("body.moon.particles=inflow", "body.moon.particles: \"inflow\" is not one of absorbing, ");
}
END_TEST

START_TEST(test_time)
{
    static const char *const short_end[] = {"run.t_end=0.04"}, *const long_end[] = {"run.t_end=1e300"};
    put_after_head("");
    ck_assert_int_eq(read_again(1, short_end), LM_BAD_INPUT);
    assert_message("command line: run.t_end: less than half a step");
    ck_assert_int_eq(read_again(1, long_end), LM_BAD_INPUT);
    assert_message("command line: run.t_end: more than 1e15 steps");
}
END_TEST

START_TEST(test_overrides)
{
    static const char *const good[] = {
        "run.steps=7", "grid.nx=16", "species.p.temperature_x= 2*a ", "const.a=3", "output.directory=here",
        "run.seed=5",  "run.seed=6"};
    put_after_head("temperature = 1\n[const]\na = 1\n");
    ck_assert_msg(read_again(7, good) == LM_OK, "%s", lm_error());
    ck_assert_int_eq(config.run.steps, 7);
    ck_assert_int_eq(config.grid.nx, 16);
    ck_assert_uint_eq(config.run.seed, 6);
    ck_assert_str_eq(config.species[0].temperature[0], "2*a");
    ck_assert_str_eq(config.species[0].temperature[1], "0");
    ck_assert_str_eq(config.output.directory, "here");
    double a = 0.0;
    ck_assert_int_eq(lm_expr_value(config.constants, "a", &a), LM_OK);
    ck_assert_double_eq(a, 3.0);

    assert_override_fails("grid.nx=12x", "grid.nx: \"12x\" is not an integer");
    assert_override_fails("grid.nz=12", "grid.nz: unknown key, did you mean nx?");
    assert_override_fails("gird.nx=12", "unknown section [gird], did you mean [grid]?");
    assert_override_fails("species.q.mass=1", "species.q.mass: the file has no [species.q]");
    assert_override_fails("const.b=1", "const.b: the file has no such constant");
    assert_override_fails("fields.bx=1/0", "fields.bx: \"1/0\" is infinite");
    assert_override_fails("fields.bx=1 # 2", "fields.bx: # or ; would begin a comment");
    assert_override_fails("fields.bx=1\n2", "fields.bx: control character");
    assert_override_fails("fields.bx=", "fields.bx: no value");
    assert_override_fails("nx=12", "\"nx=12\": expected section.key=value");
    assert_override_fails("grid.nx", "\"grid.nx\": expected section.key=value");
    assert_override_fails(".nx=1", "\".nx=1\": expected section.key=value");
    assert_override_fails("grid.=1", "\"grid.=1\": expected section.key=value");
    char text[300] = "fields.bx=";
    memset(text + 10, '1', 200);
    assert_override_fails(text, "fields.bx: value too long");
    static const char *const both[] = {"run.steps=7", "run.t_end=1"};
    ck_assert_int_eq(read_again(2, both), LM_BAD_INPUT);
    assert_message("command line: run.steps: not together with t_end");
}
END_TEST

START_TEST(test_round_trip)
{
    assert_reads("");
    assert_round_trip();
    assert_reads(
        "charge = 2\nmass = 4.1000000000000005\nparticles_per_cell = 0.30000000000000004\nstart = quiet\n"
        "density = 1+0.1*cos(k*x)\ndrift_z = y\ntemperature_par = 0.1\ntemperature_perp = k\n"
        "[species.q]\ntemperature_y = 2\n[species.r]\ntemperature = x*y\n"
        "[const]\nk = 2*pi/lx\nk2 = k*k\n[run]\nseed = 18446744073709551615\ntile = 16\nthreads = 3\n"
        "sort_every = 123456789012\nbackend = cuda\n[electrons]\nclosure = polytropic\ntemperature = 0.1\n"
        "[fields]\nsolver = none\nex = 1\ney = x\nez = k2\nbx = 1\nby = 2\nbz = 3\naz = 4\neta = x\n"
        "eta_hyper = 1e-300\ndensity_floor = 1.7976931348623157e308\nvacuum = zero_e\nsmoothing = 0\n"
        "friction = off\nmin_substeps = 4\nmax_substeps = 5\n[particles]\nshape = quadratic\nprecision = single\n"
        "[units]\nb0 = 1e-9\nn0 = 1e7\n[output]\ndirectory = a b/c\nseries_every = 0\nfields_every = 7\n"
        "particles_every = 8\ncheckpoint_every = 9\nkeep = 10\nparticles_fraction = 0.1\ncompress = 9\n"
        "wall_limit = 100:59:59\n");
    ck_assert_int_eq(config.species_count, 3);
    assert_round_trip();
    ck_assert_double_eq(config.electrons.gamma, 5.0 / 3.0);
    static const char *const overrides[] = {"run.steps=123456789", "run.dt=0.0030000000000000001"};
    put_after_head("");
    ck_assert_int_eq(read_again(2, overrides), LM_OK);
    assert_round_trip();
    ck_assert_int_eq(config.run.steps, 123456789);
}
END_TEST

/* The longest values that a file can hold still fit the echo. */
START_TEST(test_round_trip_of_long_values)
{
    char text[600] = "temperature=", tail[300] = "[fields]\nbx=";
    memset(text + 12, '1', 187);
    memset(tail + 12, '2', 196);
    strcat(text, "\n");
    strcat(tail, "\n");
    strcat(text, tail);
    assert_reads(text);
    assert_round_trip();
    ck_assert_uint_eq(strlen(config.fields.b[0]), 196);
}
END_TEST

/* A text gives what a file of the same bytes gives, messages included. */
START_TEST(test_text)
{
    lm_config_free(&config);
    ck_assert_int_eq(lm_config_read_text("case.ini", head, 0, NULL, &config), LM_OK);
    ck_assert_int_eq(config.grid.nx, 4);
    ck_assert_str_eq(config.output.directory, "case.out");
    lm_config_free(&config);
    ck_assert_int_eq(lm_config_read_text("case.ini", "[run]\nsede = 3\n", 0, NULL, &config), LM_BAD_INPUT);
    assert_message("case.ini:2: run.sede: unknown key");
}
END_TEST

START_TEST(test_keys_print)
{
    char *text = NULL;
    size_t size = 0;
    for (int markdown = 0; markdown < 2; markdown++) {
        FILE *out = open_memstream(&text, &size);
        lm_keys_print(out, markdown);
        fclose(out);
        ck_assert_ptr_nonnull(
            strstr(text, markdown ? "| `density_floor` | number | n0 | > 0 | 0.05 |" : "density_floor"));
        ck_assert_ptr_nonnull(strstr(text, "[species.NAME]"));
        ck_assert_ptr_nonnull(strstr(text, "wall_limit"));
        free(text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *tc = tcase_create("config");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_defaults);
    tcase_add_test(tc, test_accepts);
    tcase_add_loop_test(tc, test_bad_input, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tc, test_line_length);
    tcase_add_test(tc, test_nul_byte);
    tcase_add_test(tc, test_files);
    tcase_add_test(tc, test_all_errors_at_once);
    tcase_add_test(tc, test_expressions_without_a_grid);
    tcase_add_test(tc, test_too_many_species);
    tcase_add_test(tc, test_too_many_bodies);
    tcase_add_test(tc, test_sides);
    tcase_add_test(tc, test_bodies);
    tcase_add_test(tc, test_time);
    tcase_add_test(tc, test_overrides);
    tcase_add_test(tc, test_round_trip);
    tcase_add_test(tc, test_round_trip_of_long_values);
    tcase_add_test(tc, test_text);
    tcase_add_test(tc, test_keys_print);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
