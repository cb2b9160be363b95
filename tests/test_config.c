/* Reading the configuration: defaults, sides, bodies, times, overrides, texts, and the list of keys. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/base.h"
#include "larmor/config.h"
#include "config_file.h"
#include "inside.h"
#include "suite.h"

static void assert_override_fails(const char *override, const char *expected)
{
    char want[512];
    ck_assert_msg(read_again(1, &override) == LM_BAD_INPUT, "accepted: %s", override);
    snprintf(want, sizeof want, "command line: %s", expected);
    assert_message(want);
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
    ck_assert_int_eq(config.fields.electron_friction, 1);
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
    ck_assert_double_eq(config.species[0].drag_rate, 0.0);
    ck_assert_double_eq(config.species[0].scattering_rate, 0.0);
    ck_assert_double_eq(config.species[0].scattering_sigmas, 5.0);
    ck_assert_double_eq(config.species[0].lost_below_energy, 0.0);
    ck_assert_double_eq(config.species[0].lost_below_pitch, 0.0);
    ck_assert_double_eq(config.species[0].lost_above_pitch, 180.0);
    ck_assert_int_eq(config.output.maps_every, 0);
    ck_assert_int_eq(config.output.map_angles, 18);
    ck_assert_int_eq(config.output.map_energies, 32);
    ck_assert_double_eq(config.output.map_energy[0], 1e-3);
    ck_assert_double_eq(config.output.map_energy[1], 1e3);
    double v = 0.0;
    ck_assert_int_eq(lm_expr_value(config.names, "nx+10*ny+100*lx+1000*dx+1e5*dt+1e6*dy+1e9*ly", &v), LM_OK);
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

/* Configurations of plasma that flows out through absorbing sides, and which of these are radiating. */
static const struct outflow {
    const char *ini;
    int radiating; /* -1: none */
    double speed;
} outflows[] = {
    {"drift_x = 2\ntemperature = 1\n[boundary]\nx_min = inflow\nx_max = absorbing\n", LM_X_MAX, 2},
    {"drift_x = 2\ntemperature = 4.001\n[boundary]\nx_min = inflow\nx_max = absorbing\n", -1, 0},
    {"drift_x = -2\ntemperature = 4\n[boundary]\nx_min = absorbing\nx_max = absorbing\n", LM_X_MIN, 1},
    {"drift_y = 3\n[boundary]\ny_min = reflecting\ny_max = absorbing\n", LM_Y_MAX, INFINITY},
    {"[boundary]\nx_min = absorbing\nx_max = absorbing\n", -1, 0},
    /* The mean over the side, with a density that counts: (3 * 1 + 1 * 5) / 4. */
    {"density = y < ly/3 ? 3 : y < 2*ly/3 ? 0 : 1\ndrift_y = 9\ndrift_x = y < ly/3 ? 1 : y < 2*ly/3 ? 100 : 5\n"
     "temperature = 1\n[boundary]\nx_min = inflow\nx_max = absorbing\n",
     LM_X_MAX, 2},
    /* What flows in counts, not the void of the start. */
    {"density = 0\ninflow_density = 1\ndrift_x = 2\ntemperature = 1\n[boundary]\nx_min = inflow\nx_max = absorbing\n",
     LM_X_MAX, 2},
    {"density = x < lx/2 ? 1 : 0\ndrift_x = 2\n[boundary]\nx_min = absorbing\nx_max = absorbing\n", -1, 0},
    /* But what flows in later does not make less of what is there. */
    {"inflow_density = t\ndrift_x = 2\ntemperature = 1\n[boundary]\nx_min = inflow\nx_max = absorbing\n", LM_X_MAX, 2},
    /* The last cells count, where expressions have been looked at, and not the side itself. */
    {"drift_x = x < lx ? 2 : 0\ntemperature = 1 - x/(lx - 0.1)\n[boundary]\nx_min = inflow\nx_max = absorbing\n",
     LM_X_MAX, 7.118052168020878},
    /* No plasma flows out: noise of rounding in a cold shear flow, and next to nothing. */
    {"drift_x = 0.1*sin(2*pi*y/ly)\n[boundary]\nx_min = absorbing\nx_max = absorbing\n", -1, 0},
    {"drift_x = 1e-9\n[boundary]\nx_min = inflow\nx_max = absorbing\n", -1, 0},
    /* Exactly one thermal speed, which rounding makes less. */
    {"drift_x = 0.3\ntemperature = 0.09\n[boundary]\nx_min = inflow\nx_max = absorbing\n", LM_X_MAX, 1},
    /* Two species of the same density of charge: (4 + 2)/2 over the root of (4/1 + 4/4)/2. */
    {"drift_x = 4\ntemperature = 4\n[species.q]\ncharge = 2\nmass = 4\ndensity = 0.5\ndrift_x = 2\n"
     "temperature_par = 10\ntemperature_perp = 1\n[fields]\nbx = 1\n[boundary]\nx_min = inflow\nx_max = absorbing\n",
     LM_X_MAX, 1.8973665961010275},
    {"drift_x = 2\n[boundary]\nx_min = inflow\nx_max = absorbing\nfields_x_max = open\n", -1, 0},
    {"drift_x = 2\n[boundary]\nx_min = inflow\nx_max = absorbing\nlayer_x_max = 0.5\nlayer_eta = 0.1\n", -1, 0},
    {"drift_x = 2\n[boundary]\nx_min = inflow\nx_max = absorbing\ny_min = absorbing\ny_max = absorbing\n", -1, 0},
    {"drift_x = 2\n[fields]\nsolver = none\n[boundary]\nx_min = inflow\nx_max = absorbing\n", -1, 0},
};

START_TEST(test_outflow_chooses_radiating_sides)
{
    const struct outflow *o = &outflows[_i];
    assert_reads(o->ini);
    for (int side = 0; side < LM_SIDES; side++) {
        if (config.boundary[side] == LM_INFLOW)
            continue;
        ck_assert_int_eq(config.boundary_fields[side] == LM_RADIATING, side == o->radiating);
        if (side != o->radiating)
            ck_assert_double_eq(config.boundary_speed[side], 0);
        else if (isinf(o->speed))
            ck_assert(isinf(config.boundary_speed[side]));
        else
            ck_assert_double_eq_tol(config.boundary_speed[side], o->speed, 1e-12);
    }
    assert_round_trip();
}
END_TEST

/* Plasma that comes in at x = 0, what the fields are there, and its speed where the flow has chosen them. The speed of
 * fast waves is 2: B^2 = 2, 2 T_i = 1.5 and T_e = 0.5. */
#define FAST "temperature = 0.75\n[electrons]\ntemperature = 0.5\n[fields]\nbx = 1\nbz = 1\n"
#define INFLOW "[boundary]\nx_min = inflow\nx_max = absorbing\n"
static const struct inflow {
    const char *ini;
    int fields;
    double speed;
} inflows[] = {
    {"drift_x = 2.001\n" FAST INFLOW, LM_FIELDS_INFLOW, 0},
    {"drift_x = 1.5\n" FAST INFLOW, LM_RADIATING, 0.75},
    {FAST INFLOW, LM_RADIATING, 0},
    {"drift_x = -1\n" FAST INFLOW, LM_RADIATING, -0.5},
    {"drift_x = 1.5\n" FAST INFLOW "fields_x_min = inflow\n", LM_FIELDS_INFLOW, 0},
    {"drift_x = 1.5\n" FAST INFLOW "fields_x_min = inflow_b\n", LM_INFLOW_B, 0},
    /* Exactly the speed of fast waves, which rounding makes more. */
    {"drift_x = 2\n" FAST INFLOW, LM_FIELDS_INFLOW, 0},
    /* Not radiating beside walls and behind a layer. */
    {"drift_x = 1.5\n" FAST INFLOW "y_min = reflecting\ny_max = reflecting\n", LM_OPEN, 0.75},
    {"drift_x = 1.5\n" FAST INFLOW "layer_x_min = 0.5\nlayer_eta = 0.1\n", LM_OPEN, 0.75},
    /* Ions that come in count, not the dense plasma of the start. Without those the start counts. */
    {"density = 9\ninflow_density = 1\ndrift_x = 1.5\n" FAST INFLOW, LM_RADIATING, 0.75},
    {"density = 1\ninflow_density = t\ndrift_x = 1.5\n" FAST INFLOW, LM_RADIATING, 0.75},
    {"drift_x = 0.1\ndensity = 0\n" FAST INFLOW, LM_FIELDS_INFLOW, 0},
    /* Means over the side: B^2 is 4, 1 and 1, and by = 1 is that of a vector potential. */
    {"drift_x = 1\n[fields]\nbz = y < ly/3 ? sqrt(3) : 0\naz = -x\n" INFLOW, LM_RADIATING, 0.70710678118654752},
    {"drift_x = 1\n[fields]\nbz = y < ly/3 ? sqrt(3) : 0\naz = 2*y\n" INFLOW, LM_RADIATING, 0.44721359549995794},
    /* T = T_0 n^(gamma - 1): isothermal 0.5 + 1.5 of ions over n = 0.25, polytropic the same with gamma = 2. */
    {"density = 0.25\ndrift_x = 1\ntemperature = 0.75\n[electrons]\nclosure = isothermal\ntemperature = 0.5\n[fields]\n"
     "bz = 0.70710678118654752\n" INFLOW,
     LM_RADIATING, 0.5},
    {"density = 0.25\ndrift_x = 1\ntemperature = 0.75\n[electrons]\nclosure = polytropic\ngamma = 2\ntemperature = "
     "1\n[fields]\n"
     "bz = 0.70710678118654752\n" INFLOW,
     LM_RADIATING, 0.5},
    /* Two ions of charge 2 and mass 4 for each of charge 1 and mass 1: B^2 = 36 over a mass of 9. */
    {"drift_x = 2\n[species.q]\ncharge = 2\nmass = 4\ndensity = 2\ndrift_x = 1\n[fields]\nbz = 6\n" INFLOW,
     LM_RADIATING, 0.6},
    /* Electrons whose temperature is given by place: 5/3 of 0.3. The temperature of ions across B. */
    {"drift_x = 1\ntemperature_par = 9\ntemperature_perp = 0.75\n[electrons]\nclosure = evolved\ninitial_temperature = "
     "0.3\n"
     "[fields]\nbx = 1\nbz = 1\n" INFLOW,
     LM_RADIATING, 0.5},
    /* Noise of rounding in a shear flow is no flow. */
    {"drift_x = 0.1*sin(2*pi*y/ly)\n" FAST INFLOW, LM_RADIATING, 0},
    /* Beside radiating sides E is held. */
    {"drift_x = 1.5\n" FAST INFLOW "y_min = absorbing\ny_max = absorbing\nfields_y_max = radiating\n", LM_FIELDS_INFLOW,
     0},
    {"drift_x = 0.1\n[fields]\nsolver = none\nbz = 1\n" INFLOW, LM_FIELDS_PERIODIC, 0},
};

START_TEST(test_inflow_chooses_fields)
{
    const struct inflow *o = &inflows[_i];
    assert_reads(o->ini);
    ck_assert_int_eq(config.boundary_fields[LM_X_MIN], o->fields);
    ck_assert_double_eq_tol(config.boundary_speed[LM_X_MIN], o->speed, 1e-9);
    assert_round_trip();
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
    assert_reads("inflow_density = 1+0.1*sin(t)\ndrag_rate = 0.1\nscattering_rate = 0.2\nscattering_sigmas = 3\n"
                 "lost_below_energy = 0.01\nlost_below_pitch = 10\nlost_above_pitch = 80\n"
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
    ck_assert_double_eq(config.species[0].drag_rate, 0.1);
    ck_assert_double_eq(config.species[0].scattering_rate, 0.2);
    ck_assert_double_eq(config.species[0].scattering_sigmas, 3.0);
    ck_assert_double_eq(config.species[0].lost_below_energy, 0.01);
    ck_assert_double_eq(config.species[0].lost_below_pitch, 10.0);
    ck_assert_double_eq(config.species[0].lost_above_pitch, 80.0);
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

/* Names may be defined in any order, and numbers and sizes may be expressions of them. */
START_TEST(test_definitions)
{
    static const char text[] = "[run]\ndt = 2*step\nsteps = 1e2\nseed = 3*n\n[grid]\nnx = 4*n\nny = nx/2\nlx = nx*h\n"
                               "ly = ny*dx\n[const]\nh = w/8\nn = rint(2.4)\nw = ratio*4\nratio = 5/3\nstep = dx/100\n"
                               "[functions]\nblob = shape(x - lx/2)*shape(y)\nshape(u) = exp(-(u/w)^2)\n"
                               "[electrons]\nclosure = polytropic\ngamma = 5/3\n"
                               "[species.p]\nmass = shape(0)\n  + w # goes on\n\n  + 1\ndensity = 1 + blob\n";
    put_bytes(text, sizeof text - 1);
    ck_assert_msg(read_again(0, NULL) == LM_OK, "%s", lm_error());
    const double ratio = 5.0 / 3.0, w = ratio * 4, h = w / 8;
    ck_assert_int_eq(config.grid.nx, 8);
    ck_assert_int_eq(config.grid.ny, 4);
    ck_assert_double_eq(config.grid.lx, 8 * h);
    ck_assert_double_eq(config.grid.ly, 4 * h);
    ck_assert_double_eq(config.run.dt, 2 * (h / 100));
    ck_assert_int_eq(config.run.steps, 100);
    ck_assert_uint_eq(config.run.seed, 6);
    ck_assert_double_eq(config.electrons.gamma, ratio);
    ck_assert_double_eq(config.species[0].mass, 1 + w + 1);
    const double x = 5, y = 2;
    double n;
    ck_assert_int_eq(lm_expr_at(config.names, config.species[0].density, 1, &x, &y, 0, &n), LM_OK);
    ck_assert_double_eq_tol(n, 1 + exp(-pow((x - 4 * h) / w, 2) - pow(y / w, 2)), 1e-15);
    static const char *const other[] = {"const.n=4", "functions.shape( u )=u*u", "grid.ny=n"};
    ck_assert_msg(read_again(3, other) == LM_OK, "%s", lm_error());
    ck_assert_int_eq(config.grid.nx, 16);
    ck_assert_int_eq(config.grid.ny, 4);
    ck_assert_str_eq(config.function_text[1].text, "u*u");
    assert_override_fails("functions.shap(u)=1", "functions.shap(u): the file has no such function");
}
END_TEST

/* With [units], SI units are numbers. 5 nT and 5 protons per cm^3: d_i = 101.835 km, v_A = 48.775 km/s. */
START_TEST(test_si_units)
{
    static const char text[] = "[run]\ndt = 0.01*s\nt_end = 10*s\n[grid]\nnx = 4\nny = 3\nlx = 500*km\nly = 3e5*m\n"
                               "[const]\nB = 5*nT\nthree = 3*ms\nms = 1\n[functions]\nf(s, T) = s + T\nV = x\n"
                               "[fields]\nbx = B\nbz = sin(2*pi*x/(100*km))\neta = 100*ohm*m\nsolver = hybrid\n"
                               "[electrons]\ntemperature = 24.84*eV\n[units]\nb0 = 10e-9/2\nn0 = 5e6\n"
                               "[species.p]\ndensity = f(2, 3)*per_cm3\ndrift_x = 48.775*km/s\ndrift_y = three + V\n"
                               "mass = 0.24388*mV/m\n";
    put_bytes(text, sizeof text - 1);
    ck_assert_msg(read_again(0, NULL) == LM_OK, "%s", lm_error());
    ck_assert_double_eq_tol(config.grid.lx, 500 / 101.835, 1e-4);
    ck_assert_double_eq_tol(config.grid.ly, 300 / 101.835, 1e-4);
    ck_assert_double_eq_tol(config.run.dt, 0.00478942, 1e-7);
    ck_assert_double_eq_tol(config.run.t_end, 4.78942, 1e-4);
    ck_assert_double_eq_tol(config.electrons.temperature, 1, 1e-3);
    ck_assert_double_eq_tol(config.species[0].mass, 1, 1e-4); /* v_A B0 = 0.24388 mV/m */
    const double x = 0.25, y = 0;
    double v;
    static const struct {
        const char *text;
        double want, tolerance;
    } values[] = {{"B", 1, 1e-12},
                  {"f(2, 3)*per_cm3", 1, 1e-12},
                  {"48.775*km/s", 1, 1e-3},
                  {"three + V", 3.25, 1e-12},
                  {"sin(2*pi*x/(100*km))", 0.99959, 1e-4},
                  /* 100 Ohm m over mu0 v_A d_i = 6241.7 Ohm m */
                  {"100*ohm*m", 0.0160213, 1e-5}};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        ck_assert_int_eq(lm_expr_at(config.names, values[k].text, 1, &x, &y, 0, &v), LM_OK);
        ck_assert_msg(fabs(v - values[k].want) <= values[k].tolerance, "%s is %.9g", values[k].text, v);
    }
    put_after_head("drift_x = 400*km/s\n");
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message("unknown name \"km\"");
}
END_TEST

/* The number of particles where a species is; the echo has the number at density 1. */
START_TEST(test_mean_particles_per_cell)
{
    assert_reads("density = 0.02\nmean_particles_per_cell = 16\n[species.q]\ndensity = x < lx/2 ? 3 : 1\n"
                 "mean_particles_per_cell = 5*2\n[species.r]\nparticles_per_cell = 7\ndensity = 4\n");
    ck_assert_double_eq_tol(config.species[0].particles_per_cell, 16 / 0.02, 1e-10);
    ck_assert_double_eq_tol(config.species[1].particles_per_cell, 10 / 2.5, 1e-14); /* (9 + 1)/(3 + 1) */
    ck_assert_double_eq(config.species[2].particles_per_cell, 7);
    const double first = config.species[0].particles_per_cell, second = config.species[1].particles_per_cell;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(lm_config_write(&config, out), LM_OK);
    fclose(out);
    ck_assert_ptr_null(strstr(text, "mean_particles"));
    put_bytes(text, size);
    free(text);
    ck_assert_int_eq(read_again(0, NULL), LM_OK);
    ck_assert(config.species[0].particles_per_cell == first && config.species[1].particles_per_cell == second);
    static const char *const other[] = {"species.p.mean_particles_per_cell=3"};
    put_after_head("density = 0.5\nparticles_per_cell = 100\n");
    ck_assert_int_eq(read_again(1, other), LM_OK);
    ck_assert_double_eq(config.species[0].particles_per_cell, 6);
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
    ck_assert_int_eq(lm_expr_value(config.names, "a", &a), LM_OK);
    ck_assert_double_eq(a, 3.0);

    assert_override_fails("grid.nx=12x", "grid.nx: x cannot be used in a number");
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
    char text[LM_MAX_TEXT + 16] = "fields.bx=";
    memset(text + 10, '1', LM_MAX_TEXT);
    assert_override_fails(text, "fields.bx: longer than 2047 bytes");
    static const char *const both[] = {"run.steps=7", "run.t_end=1"};
    ck_assert_int_eq(read_again(2, both), LM_BAD_INPUT);
    assert_message("command line: run.steps: not together with t_end");
}
END_TEST

/* A configuration from a text gives the same as a file of the same bytes, messages included. */
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
    tcase_add_test(tc, test_sides);
    tcase_add_loop_test(tc, test_outflow_chooses_radiating_sides, 0, sizeof outflows / sizeof *outflows);
    tcase_add_loop_test(tc, test_inflow_chooses_fields, 0, sizeof inflows / sizeof *inflows);
    tcase_add_test(tc, test_bodies);
    tcase_add_test(tc, test_time);
    tcase_add_test(tc, test_definitions);
    tcase_add_test(tc, test_si_units);
    tcase_add_test(tc, test_mean_particles_per_cell);
    tcase_add_test(tc, test_overrides);
    tcase_add_test(tc, test_text);
    tcase_add_test(tc, test_keys_print);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
