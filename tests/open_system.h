/* An open system, and beams that hit its surfaces. */
#ifndef LARMOR_TESTS_OPEN_SYSTEM_H
#define LARMOR_TESTS_OPEN_SYSTEM_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "cases.h"
#include "dataset.h"
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

enum { ROOM = 200000 };

#endif
