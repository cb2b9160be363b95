/* Small runs with ionisation, and their particles. */
#ifndef LARMOR_TESTS_IONISATION_CASE_H
#define LARMOR_TESTS_IONISATION_CASE_H

#define LM_PRECISION 64
#include "larmor/physics/particles/ionise.h"
#include "particles_of.h"
#include "sim_run.h"

enum { NX = 24, NY = 16 };

#define GRID "[grid]\nnx = 24\nny = 16\nlx = 6\nly = 4\n"

/* A run with given fields and without any particles at the start. */
#define EMPTY(time, fields, ppc)                                                                                       \
    "[run]\n" time GRID "[fields]\nsolver = none\n" fields "[species.p]\ndensity = 0\nparticles_per_cell = " ppc "\n"

static inline double born(const struct lm_sim *sim, int species)
{
    return (double)sim->ledger[species].injected[LM_IONISED].number;
}

#define GAS(initial, more)                                                                                             \
    "[background.gas]\nkind = neutral_gas\ninitial = " initial "\n" more "[ionisation.light]\nspecies = p\ngas = "     \
    "gas\n"

static const char busy_text[] =
    "[run]\nsteps = 30\ndt = 0.05\nseed = 3\n" GRID "[electrons]\ntemperature = 0.2\n[fields]\nbx = 0.2\nbz = 1\n"
    "eta_hyper = 1e-3\n[boundary]\nx_min = inflow\nfields_x_min = inflow\nx_max = absorbing\n"
    "[species.p]\nparticles_per_cell = 8\ntemperature = 0.1\ndrift_x = 0.8\n"
    "[species.heavy]\nmass = 16\ndensity = 0\nparticles_per_cell = 40\n"
    "[body.moon]\nshape = disk\nx = 3\ny = 0\nradius = 0.8\nfields = transparent\n"
    "[background.gas]\nkind = neutral_gas\ninitial = 1\nvx = 1\ninflow = 0.5*t\n"
    "[ionisation.light]\nspecies = heavy\ngas = gas\nfrequency = 1 + sin(5*t)\ntemperature = 1\n"
    "[ionisation.comet]\nspecies = p\nrate = x > 4\nvy = t\n";

#endif
