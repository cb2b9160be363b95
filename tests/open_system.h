/* An open system, and beams that hit its surfaces. */
#ifndef LARMOR_TESTS_OPEN_SYSTEM_H
#define LARMOR_TESTS_OPEN_SYSTEM_H

#include <check.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "cases.h"
#include "scratch.h"
#include "series_row.h"

static const struct run_case open_case = {"open", "open.ini", {NULL}};

static const char *const one_thread[] = {"run.backend=cpu", "run.threads=1"};

/* A simulation from the text of a configuration; its output goes into the scratch directory. */
static inline struct case_state text_open(const char *text)
{
    struct case_state s = {calloc(1, sizeof *s.config), NULL};
    make_file("case.ini", text);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), 2, one_thread, s.config), "%s", lm_error());
    snprintf(s.config->output.directory, sizeof s.config->output.directory, "%s", scratch);
    ck_assert_msg(!lm_sim_create(s.config, &s.sim) && !lm_sim_start(s.sim), "%s", lm_error());
    return s;
}

static inline void advance(struct case_state *s, int64_t to)
{
    while (s->sim->step < to)
        ck_assert_msg(!lm_sim_check(s->sim) && !lm_sim_step(s->sim), "%s", lm_error());
}

#define BEAM(particles, more)                                                                                          \
    "[run]\nsteps = 100\ndt = 0.05\n[grid]\nnx = 8\nny = 6\nlx = 2\nly = 3\n[fields]\nsolver = none\n"                 \
    "[species.p]\nmass = 3\nparticles_per_cell = " particles                                                           \
    "\ntemperature = 0\ndrift_x = 0.75\ndrift_y = -0.3\ndrift_z = 0.1\n" more

/* Reads a dataset of a file of maps as doubles; returns its length. */
static inline hsize_t read_list(hid_t file, const char *name, double *out, hsize_t room)
{
    hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
    ck_assert_msg(data >= 0, "no dataset %s", name);
    hid_t space = H5Dget_space(data);
    hsize_t n = (hsize_t)H5Sget_simple_extent_npoints(space);
    ck_assert_uint_le(n, room);
    ck_assert_int_ge(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out), 0);
    H5Sclose(space);
    H5Dclose(data);
    return n;
}

enum { ROOM = 200000 };

#endif
