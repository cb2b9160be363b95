/* Bad configurations: every class of bad input is refused with file, line and key in the message. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "larmor/base.h"
#include "larmor/config.h"
#include "config_file.h"
#include "suite.h"

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
    {"[species.1a]\n", 10, "[species.1a]: \"1a\" is not a name"},
    {"[species.]\n", 10, "[species.]: \"\" is not a name"},
    {"[species.abcdefghijabcdefghijabcdefghijab]\n", 10, "[species.abcdefghijabcdefghijabcdefghijab]: "},
    {"[fields]\ndensity_flor = 1\n", 11, "fields.density_flor: unknown key, did you mean density_floor?"},
    {"[run]\nnx = 1\n", 11, "run.nx: unknown key, did you mean grid.nx?"},
    {"qqqqqq = 1\n", 10, "species.p.qqqqqq: unknown key"},
    {"desnity = 1\n", 10, "species.p.desnity: unknown key, did you mean density?"},
    {"[grid]\nxn = 1\n", 11, "grid.xn: unknown key, did you mean nx?"},
    /* values */
    {"mass = 1x\n", 10, "species.p.mass: x cannot be used in a number or a constant: \"1x\""},
    {"density = 1e-9\nmean_particles_per_cell = 4\n", 11,
     "species.p.mean_particles_per_cell: the number at density 1 = 4000000000 is out of range (> 0, <= 1e+09)"},
    {"[units]\nb0 = -5e-9\nn0 = 5e6\n[electrons]\ntemperature = 25*eV\n[fields]\nbx = 2*nT\n", 11,
     "units.b0: -5e-9 is out"},
    {"[units]\nb0 = 5e-9\n[electrons]\ntemperature = 25*eV\n", 11, "units.b0: needs units.n0 as well"},
    {"[units]\nb0 = -5e-9\nn0 = 5e6\n[const]\na = 3*km\nb = a\n", 11, "units.b0: -5e-9 is out"},
    {"[units]\nb0 = 5*nT\nn0 = 5e6\n[const]\na = 3*km\n[fields]\nbx = 2*nT\n", 11,
     "units.b0: unknown name \"nT\" in \"5*nT\": units of SI cannot be used in [units] itself, because [units] defines "
     "them: give the plain number in T (5e-9 is 5 nT)"},
    {"[units]\nb0 = 5nT\nn0 = 5e6\n", 11, "units.b0: unknown name \"nT\" in \"5nT\": units of SI cannot"},
    {"[units]\nb0 = 5e-9\nn0 = 5*per_cm3\n", 12,
     "units.n0: unknown name \"per_cm3\" in \"5*per_cm3\": units of SI cannot be used in [units] itself, because "
     "[units] "
     "defines them: give the plain number in m^-3 (5e6 is 5 in a cm^3)"},
    {"[units]\nb0 = b\nn0 = 5e6\n[const]\nb = 5*nT\n", 11,
     "units.b0: needs b, and b cannot be defined before it: the definitions form a circle"},
    {"[units]\nb0 = f(1)\nn0 = 5e6\n[functions]\nf(m) = q*m\n", 14, "functions.f(m): unknown name \"q\""},
    {"[units]\nb0 = q\nn0 = 5e6\n[const]\nb = 5*nT\n", 11, "units.b0: unknown name \"q\""},
    {"[fields]\nbx = 5*nT\n", 11, "fields.bx: unknown name \"nT\" in \"5*nT\": units of SI need b0 and n0 of [units]"},
    {"[functions]\nf(dx) = 2*dx\n[fields]\nbx = f(1)\n", 11, "functions.f(dx): the argument dx has the name of"},
    {"[const]\nk = g(1)\n[functions]\nf(k) = 2*k\ng(u) = u\n", 13, "functions.f(k): the argument k has the name of"},
    {"[fields]\nbx = _e\n", 11, "fields.bx: "},
    {"[functions]\na(u) = u\nb(u) = a(a(a(a(a(a(a(a(a(a(u))))))))))\nc(u) = b(b(b(b(b(b(b(b(b(b(u))))))))))\n"
     "d(u) = c(c(c(c(c(c(c(c(c(c(u))))))))))\ne(u) = d(d(d(d(d(d(d(d(d(d(u))))))))))\n",
     15, "functions.e(u): calls other functions 1.11e+04 times; at most 10000 are allowed"},
    {"density = 0\nmean_particles_per_cell = 4\n", 11,
     "species.p.mean_particles_per_cell: the density is 0 everywhere"},
    {"particles_per_cell = 1\nmean_particles_per_cell = 4\n", 11,
     "species.p.mean_particles_per_cell: not together with particles_per_cell"},
    {"mass = 2*k\n", 10, "species.p.mass: unknown name \"k\""},
    {"mass = 2 - 3\n", 10, "species.p.mass: 2 - 3 = -1 is out of range (> 0)"},
    {"mass = 1/0\n", 10, "species.p.mass: \"1/0\" is infinite"},
    {"mass = f\n[functions]\nf = 2*x\n", 10, "species.p.mass: f depends on x, which cannot be used in a number"},
    {"[run]\nseed = 2^60\n", 11, "run.seed: 2^60 = 1.152921505e+18 is out of range (0 to 2^53 as an expression)"},
    {"mass = nan\n", 10, "species.p.mass: unknown name \"nan\""},
    {"mass = 0x10\n", 10, "species.p.mass: unknown name \"x10\""},
    {"mass = 1e999\n", 10, "species.p.mass: 1e999 is out of range (> 0)"},
    {"mass = 0\n", 10, "species.p.mass: 0 is out of range (> 0)"},
    {"mass =\n", 10, "species.p.mass: no value"},
    {"density =\n", 10, "species.p.density: no value"},
    {"density = # 1\n", 10, "species.p.density: no value"},
    {"start = loud\n", 10, "species.p.start: \"loud\" is not one of random, quiet, low_discrepancy"},
    {"[output]\nkeep = 2.5\n", 11, "output.keep: \"2.5\" is not an integer"},
    {"[output]\nkeep = 0\n", 11, "output.keep: 0 is out of range (1 to 1e+06)"},
    {"[output]\nseries_every = 99999999999999999999\n", 11,
     "output.series_every: 99999999999999999999 is out of range"},
    {"[output]\nwall_limit = 1:60:00\n", 11, "output.wall_limit: \"1:60:00\" is not a duration"},
    {"[output]\nwall_limit = 90\n", 11, "output.wall_limit: \"90\" is not a duration"},
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
    {"[const]\na = x\n", 11, "const.a: x cannot be used in a number or a constant"},
    {"[const]\na = 1/0\n", 11, "const.a: \"1/0\" is infinite"},
    {"[const]\na = b + 1\nb = 2*a\n", 11, "const.a: needs b, and b cannot be defined before it: the definitions form"},
    {"[const]\na = a\n", 11, "const.a: needs a, and a cannot be defined before it"},
    {"[const]\na = b\nb = c\n", 12, "const.b: unknown name \"c\""},
    {"[functions]\nf = g(x)\ng(u) = f + u\n", 11, "functions.f: needs g, and g cannot be defined before it"},
    {"[functions]\nf = g(x)\ng(u) = h + u\n", 12, "functions.g(u): unknown name \"h\""},
    {"[functions]\nf(u = u\n", 11, "functions.f(u: \"f(u\" is not of the form NAME or NAME(ARGUMENT, ...)"},
    {"[functions]\nnx = 3\n", 11, "functions.nx: the name \"nx\" is taken"},
    {"[functions]\nf(dx) = dx\n", 11, "functions.f(dx): the argument dx has the name of something else"},
    {"[const]\nf = 1\n[functions]\nf(u) = u\n", 13, "functions.f(u): the name \"f\" is taken"},
    {"[functions]\nf = x\nf = y\n", 12, "functions.f: given twice, first on line 11"},
    {"[functions]\ng = t\n[fields]\nbx = 1 + g\n", 13, "fields.bx: g depends on t, which cannot be used here"},
    {"[function]\nf = x\n", 10, "unknown section [function], did you mean [functions]?"},
    {"[const]\nsin = 1\n", 11, "const.sin: the name \"sin\" is taken"},
    {"[const]\ndx = 1\n", 11, "const.dx: the name \"dx\" is taken"},
    {"[const]\n2a = 1\n", 11, "const.2a: \"2a\" is not a name"},
    /* lines */
    {" mass = 2\n", 10, "indented line with a key or a section of its own: begin it at the left"},
    {"\t1 + 2\n", 10, "indented line, and no value before it that could go on"},
    {"mass = 2\n charge = 2\n", 11, "indented line with a key or a section of its own: begin it at the left"},
    {"mass = 2\n [fields]\n", 11, "indented line with a key or a section of its own: begin it at the left"},
    {"mass = 2\n + k\n", 10, "species.p.mass: unknown name \"k\" in \"2 + k\""},
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
    {"[body.1]\n", 10, "[body.1]: \"1\" is not a name"},
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
    {"[const]\na = t\n", 11, "const.a: t cannot be used in a number or a constant"},
    {"drag_rate = -1\n", 10, "species.p.drag_rate: -1 is out of range (>= 0)"},
    {"scattering_rate = -1\n", 10, "species.p.scattering_rate: -1 is out of range (>= 0)"},
    {"scattering_sigmas = 0\n", 10, "species.p.scattering_sigmas: 0 is out of range (> 0"},
    {"lost_below_energy = -1\n", 10, "species.p.lost_below_energy: -1 is out of range (>= 0)"},
    {"lost_above_pitch = 181\n", 10, "species.p.lost_above_pitch: 181 is out of range (0 to 180)"},
    {"lost_below_pitch = 180\n", 10, "species.p.lost_below_pitch: lost_below_pitch is not below lost_above_pitch"},
    {"lost_above_pitch = 0\n", 10, "species.p.lost_above_pitch: lost_below_pitch is not below lost_above_pitch"},
    {"scattering_rate = 1e25\n", 10, "species.p.scattering_rate: sqrt(scattering_rate*dt)*scattering_sigmas"},
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
     "body.m.fields: \"open\" is not one of conducting, resistive, transparent, insulating"},
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
    char longer[LM_MAX_TEXT + 64] = "density = 1";
    while (strlen(longer) < 10 + LM_MAX_TEXT - 1)
        strcat(longer, strlen(longer) % 2 ? "+" : "1");
    strcpy(longer + 10 + LM_MAX_TEXT - 2, "1\n");
    assert_reads(longer);
    ck_assert_uint_eq(strlen(config.species[0].density), LM_MAX_TEXT - 1);
    strcpy(longer + 10 + LM_MAX_TEXT - 2, "11\n");
    assert_rejects(longer, 10, "species.p.density: longer than 2047 bytes");
    memset(longer, ' ', 300);
    memcpy(longer, "density = 1", 11);
    strcpy(longer + 300, "+ 1\n");
    assert_rejects(longer, 10, "95 blanks, # or ; in a row");
    strcpy(longer + 11 + 70, "+ 1\n"); /* what a line holds, run.ini holds */
    assert_rejects(longer, 10, "species.p.density: more than 64 blanks, # or ; in a row");
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

/* A wrong size of the grid must neither hide errors in expressions nor cause false ones. */
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

int main(void)
{
    Suite *suite = suite_create("bad configurations");
    TCase *tc = tcase_create("bad configurations");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_bad_input, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tc, test_line_length);
    tcase_add_test(tc, test_nul_byte);
    tcase_add_test(tc, test_files);
    tcase_add_test(tc, test_all_errors_at_once);
    tcase_add_test(tc, test_expressions_without_a_grid);
    tcase_add_test(tc, test_too_many_species);
    tcase_add_test(tc, test_too_many_bodies);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
