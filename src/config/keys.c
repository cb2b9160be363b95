#include "config/keys.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#define NONE DBL_MAX
#define IN(member) .offset = offsetof(struct lm_config, member)
#define OF(member) .section = LM_SPECIES_SECTION, .offset = offsetof(struct lm_species_config, member)
#define BODY(member) .section = LM_BODY_SECTION, .offset = offsetof(struct lm_body_config, member)
#define FIELD(member) .section = LM_BACKGROUND_SECTION, .offset = offsetof(struct lm_background_config, member)
#define GROUP(member) .section = LM_OUTPUT_SECTION, .offset = offsetof(struct lm_output_config, member)
#define BINNED(member) .section = LM_DISTRIBUTION_SECTION, .offset = offsetof(struct lm_distribution_config, member)
#define PROBED(member) .section = LM_PROBE_SECTION, .offset = offsetof(struct lm_probe_config, member)
#define TRACKED(member) .section = LM_TRACK_SECTION, .offset = offsetof(struct lm_track_config, member)
#define GIVEN(member) .section = LM_DATA_SECTION, .offset = offsetof(struct lm_data_config, member)
#define WAVES(member) .section = LM_SPECTRUM_SECTION, .offset = offsetof(struct lm_spectrum_config, member)
#define BIRTH(member) .section = LM_IONISATION_SECTION, .offset = offsetof(struct lm_ionisation_config, member)
#define INT .kind = LM_KEY_INT
#define LONG .kind = LM_KEY_LONG
#define REAL .kind = LM_KEY_REAL
#define EXPR .kind = LM_KEY_EXPR
#define PATH .kind = LM_KEY_PATH
#define TEXT(size) .kind = LM_KEY_TEXT, .high = (size)-1
#define CHOICE(list) .kind = LM_KEY_CHOICE, .choices = list
#define RANGE(a, b) .low = (a), .high = (b)
#define ANY RANGE(-NONE, NONE)
#define NOT_NEGATIVE RANGE(0, NONE)
#define CELL_OFFSET(a, b) .cell_offset = {(a), (b)}
#define FAMILY(f, v) .family = LM_##f##_FAMILY, .variant = (v)

#define PRESSURE "B0^2/(mu0 n0)"

static const struct lm_choice backends[] = {
    {"auto", LM_BACKEND_AUTO}, {"cpu", LM_BACKEND_CPU}, {"cuda", LM_BACKEND_CUDA}, {0}};
static const struct lm_choice tiles[] = {{"auto", 0}, {"8", 8}, {"16", 16}, {0}};
static const struct lm_choice closures[] = {
    {"isothermal", LM_ISOTHERMAL}, {"polytropic", LM_POLYTROPIC}, {"evolved", LM_EVOLVED}, {0}};
static const struct lm_choice solvers[] = {{"hybrid", LM_SOLVER_HYBRID}, {"none", LM_SOLVER_NONE}, {0}};
static const struct lm_choice gpu_exchanges[] = {{"auto", LM_EXCHANGE_AUTO},
                                                 {"nccl", LM_EXCHANGE_NCCL},
                                                 {"nccl_host", LM_EXCHANGE_NCCL_HOST},
                                                 {"host", LM_EXCHANGE_HOST},
                                                 {0}};
static const struct lm_choice halos[] = {{"auto", 0}, {"16", 16}, {"24", 24}, {"32", 32}, {"48", 48}, {"64", 64}, {0}};
static const struct lm_choice switches[] = {{"on", 1}, {"off", 0}, {0}};
static const struct lm_choice shapes[] = {{"linear", LM_LINEAR}, {"quadratic", LM_QUADRATIC}, {0}};
static const struct lm_choice precisions[] = {{"double", LM_DOUBLE}, {"single", LM_SINGLE}, {0}};
static const struct lm_choice starts[] = {
    {"random", LM_RANDOM}, {"quiet", LM_QUIET}, {"low_discrepancy", LM_LOW_DISCREPANCY}, {0}};
static const struct lm_choice boundaries[] = {{"periodic", LM_PERIODIC},   {"reflecting", LM_REFLECTING},
                                              {"absorbing", LM_ABSORBING}, {"thermal", LM_THERMAL},
                                              {"inflow", LM_INFLOW},       {0}};
static const struct lm_choice field_boundaries[] = {{"periodic", LM_FIELDS_PERIODIC},
                                                    {"conducting", LM_CONDUCTING},
                                                    {"open", LM_OPEN},
                                                    {"inflow", LM_FIELDS_INFLOW},
                                                    {"inflow_b", LM_INFLOW_B},
                                                    {"inflow_e", LM_INFLOW_E},
                                                    {"radiating", LM_RADIATING},
                                                    {0}};
static const struct lm_choice body_shapes[] = {
    {"disk", LM_DISK}, {"box", LM_BOX}, {"polygon", LM_POLYGON}, {"mask", LM_MASK}, {0}};
static const struct lm_choice body_surfaces[] = {{"absorbing", LM_ABSORBING}, {"reflecting", LM_REFLECTING},
                                                 {"thermal", LM_THERMAL},     {"absorb", LM_ABSORBING},
                                                 {"reflect", LM_REFLECTING},  {0}};
static const struct lm_choice body_fields[] = {{"conducting", LM_BODY_CONDUCTING},
                                               {"resistive", LM_BODY_RESISTIVE},
                                               {"transparent", LM_BODY_TRANSPARENT},
                                               {"insulating", LM_BODY_INSULATING},
                                               {0}};
static const struct lm_choice background_kinds[] = {{"tracer", LM_TRACER}, {"neutral_gas", LM_NEUTRAL_GAS}, {0}};
static const struct lm_choice gains[] = {{"nothing", 0},
                                         {"number", 1 + LM_GAS_NUMBER},
                                         {"momentum_x", 1 + LM_GAS_MOMENTUM},
                                         {"momentum_y", 1 + LM_GAS_MOMENTUM + 1},
                                         {"momentum_z", 1 + LM_GAS_MOMENTUM + 2},
                                         {"energy", 1 + LM_GAS_ENERGY},
                                         {0}};
static const struct lm_choice flows[] = {
    {"prescribed", LM_FLOW_PRESCRIBED}, {"ion", LM_FLOW_ION}, {"electron", LM_FLOW_ELECTRON}, {0}};
static const struct lm_choice schemes[] = {{"upwind", LM_UPWIND},
                                           {"centred", LM_CENTRED},
                                           {"3", LM_WENO3},
                                           {"5", LM_WENO5},
                                           {"7", LM_WENO7},
                                           {"9", LM_WENO9},
                                           {0}};
static const struct lm_choice positive_schemes[] = {{"upwind", LM_UPWIND}, {"3", LM_WENO3}, {"5", LM_WENO5},
                                                    {"7", LM_WENO7},       {"9", LM_WENO9}, {0}};
static const struct lm_choice smoothnesses[] = {{"double", 0}, {"single", 1}, {0}};
static const struct lm_choice background_sides[] = {{"auto", LM_BACKGROUND_PERIODIC},
                                                    {"wall", LM_BACKGROUND_WALL},
                                                    {"inflow", LM_BACKGROUND_INFLOW},
                                                    {"open", LM_BACKGROUND_OPEN},
                                                    {0}};

#define BIT(value) (1u << (value))
#define IF(words, member, bits)                                                                                        \
    {                                                                                                                  \
        words, 0, offsetof(struct lm_config, member), 1, bits, NULL                                                    \
    }
#define IF_BODY(words, member, bits)                                                                                   \
    {                                                                                                                  \
        words, 0, offsetof(struct lm_body_config, member), 1, bits, NULL                                               \
    }
#define IF_FIELD(words, member, count, bits)                                                                           \
    {                                                                                                                  \
        words, 0, offsetof(struct lm_background_config, member), count, bits, NULL                                     \
    }

static const struct lm_key_when if_gamma =
    IF("closure = polytropic or evolved", electrons.closure, BIT(LM_POLYTROPIC) | BIT(LM_EVOLVED));
static const struct lm_key_when if_hybrid = IF("solver = hybrid", fields.solver, BIT(LM_SOLVER_HYBRID));
static const struct lm_key_when if_evolved = IF("closure = evolved", electrons.closure, BIT(LM_EVOLVED));
static const struct lm_key_when if_inflow_e = {
    .offset = offsetof(struct lm_config, boundary_fields), .count = LM_SIDES, .values = BIT(LM_INFLOW_E)};
static const struct lm_key_when if_given_e = {"solver = none or a side whose fields are inflow_e",
                                              0,
                                              offsetof(struct lm_config, fields.solver),
                                              1,
                                              BIT(LM_SOLVER_NONE),
                                              &if_inflow_e};
static const struct lm_key_when if_thermal[LM_SIDES] = {IF("x_min = thermal", boundary[LM_X_MIN], BIT(LM_THERMAL)),
                                                        IF("x_max = thermal", boundary[LM_X_MAX], BIT(LM_THERMAL)),
                                                        IF("y_min = thermal", boundary[LM_Y_MIN], BIT(LM_THERMAL)),
                                                        IF("y_max = thermal", boundary[LM_Y_MAX], BIT(LM_THERMAL))};
static const struct lm_key_when if_inflow = {"an inflow side", 1,   offsetof(struct lm_config, boundary), LM_SIDES,
                                             BIT(LM_INFLOW),   NULL};
static const struct lm_key_when if_disk = IF_BODY("shape = disk", shape, BIT(LM_DISK));
static const struct lm_key_when if_box = IF_BODY("shape = box", shape, BIT(LM_BOX));
static const struct lm_key_when if_centred = IF_BODY("shape = disk or box", shape, BIT(LM_DISK) | BIT(LM_BOX));
static const struct lm_key_when if_polygon = IF_BODY("shape = polygon", shape, BIT(LM_POLYGON));
static const struct lm_key_when if_mask = IF_BODY("shape = mask", shape, BIT(LM_MASK));
static const struct lm_key_when if_thermal_body = IF_BODY("particles = thermal", particles, BIT(LM_THERMAL));
static const struct lm_key_when if_resistive = IF_BODY("fields = resistive", fields, BIT(LM_BODY_RESISTIVE));
static const struct lm_key_when if_prescribed = IF_FIELD("velocity = prescribed", flow, 1, BIT(LM_FLOW_PRESCRIBED));
static const struct lm_key_when if_limited = IF_FIELD("bounds = on", limited, 1, BIT(1));
static const struct lm_key_when if_gas = IF_FIELD("kind = neutral_gas", kind, 1, BIT(LM_NEUTRAL_GAS));
static const struct lm_key_when if_flows_in =
    IF_FIELD("an inflow side of the field (side_x_min, ...)", sides, LM_SIDES, BIT(LM_BACKGROUND_INFLOW));

#define NAMED(kind, section, one, many, list, length)                                                                  \
    {                                                                                                                  \
        kind, section, one, many, offsetof(struct lm_config, list), sizeof((struct lm_config *)0)->list[0],            \
            offsetof(struct lm_config, length),                                                                        \
            sizeof((struct lm_config *)0)->list / sizeof((struct lm_config *)0)->list[0]                               \
    }

const struct lm_named lm_named[LM_NAMED_KINDS] = {
    [LM_SPECIES] = NAMED("species", LM_SPECIES_SECTION, "a species", "species", species, species_count),
    [LM_BODIES] = NAMED("body", LM_BODY_SECTION, "a body", "bodies", body, body_count),
    [LM_BACKGROUNDS] = NAMED("background", LM_BACKGROUND_SECTION, "a background field", "background fields", background,
                             background_count),
    [LM_IONISATIONS] =
        NAMED("ionisation", LM_IONISATION_SECTION, "a source of ions", "sources of ions", ionisation, ionisation_count),
    [LM_OUTPUTS] = NAMED("output", LM_OUTPUT_SECTION, "an output", "outputs", outputs, output_count),
    [LM_DISTRIBUTIONS] = NAMED("distribution", LM_DISTRIBUTION_SECTION, "a distribution", "distributions", distribution,
                               distribution_count),
    [LM_PROBES] = NAMED("probe", LM_PROBE_SECTION, "a probe", "probes", probe, probe_count),
    [LM_TRACKS] = NAMED("track", LM_TRACK_SECTION, "a track", "tracks", track, track_count),
    [LM_DATA] = NAMED("data", LM_DATA_SECTION, "data of a file", "arrays of files", data, data_count),
    [LM_SPECTRA] = NAMED("spectrum", LM_SPECTRUM_SECTION, "a spectrum", "spectra", spectrum, spectrum_count),
};
_Static_assert((int)LM_MAX_BODIES <= (int)LM_MAX_NAMED && (int)LM_MAX_BACKGROUNDS <= (int)LM_MAX_NAMED &&
                   (int)LM_MAX_IONISATIONS <= (int)LM_MAX_NAMED && (int)LM_MAX_OUTPUTS <= (int)LM_MAX_NAMED,
               "raise LM_MAX_NAMED");

/* clang-format off */
const struct lm_key lm_keys[] = {
#define SECTION .section = "run"
    {SECTION, .name = "t_end", REAL, IN(run.t_end), NOT_NEGATIVE, .unit = "1/Omega_ci", .shown = "required, or steps",
     FAMILY(DURATION, LM_BY_TIME), .meaning = "The run ends at this time. The number of steps is t_end/dt, rounded."},
    {SECTION, .name = "steps", LONG, IN(run.steps), RANGE(0, 1e15), .shown = "t_end/dt",
     FAMILY(DURATION, LM_BY_STEPS), .meaning = "The number of steps, in place of t_end."},
    {SECTION, .name = "dt", REAL, IN(run.dt), RANGE(LM_POSITIVE, 1e6), .unit = "1/Omega_ci", .meaning = "The time step."},
    {SECTION, .name = "seed", .kind = LM_KEY_SEED, IN(run.seed), .initial = "1", .meaning = "The seed of all random numbers."},
    {SECTION, .name = "energy_limit", REAL, IN(run.energy_limit), RANGE(LM_POSITIVE, NONE), .initial = "0.05",
     .meaning = "The run warns when the energy changes by more than this share of the energy at the start that can change, beyond what is brought and taken through sides and by collisions. It changes no result."},
    {SECTION, .name = "backend", CHOICE(backends), IN(run.backend), .initial = "auto",
     .meaning = "Where the run takes place. auto takes the GPU if there is one. It measures long runs with very little work on the GPU and on the CPU, and takes the faster one."},
    {SECTION, .name = "threads", INT, IN(run.threads), RANGE(0, 4096), .initial = "0",
     .meaning = "The number of threads of the CPU backend. 0 takes as many as have enough to do."},
    {SECTION, .name = "tile", CHOICE(tiles), IN(run.tile), .unit = "cells", .initial = "auto",
     .meaning = "The side of the tiles that particles are sorted into. It changes the speed and no result."},
    {SECTION, .name = "sort_every", LONG, IN(run.sort_every), RANGE(0, 1e15), .unit = "steps", .initial = "0",
     .meaning = "The number of steps between two sorts of the particles. It changes the speed and no result. 0 sorts when it pays."},
    {SECTION, .name = "rebalance", CHOICE(switches), IN(run.rebalance), .initial = "on",
     .meaning = "on: the ranks of an MPI run divide the cells anew when the plasma has moved and that pays. off: they keep their cells. It changes the speed and no result."},
    {SECTION, .name = "halo", CHOICE(halos), IN(run.halo), .unit = "cells", .initial = "auto",
     .meaning = "The width of the frame of its neighbours' cells that each rank of an MPI run keeps. A wide frame saves messages and costs work and memory. auto takes 16 on CPUs and 32 on GPUs. It changes the speed and no result."},
    {SECTION, .name = "rank_limit", .kind = LM_KEY_DURATION, IN(run.rank_limit), RANGE(1, 1e9), .initial = "00:30:00",
     .meaning = "The longest time that a rank of an MPI run waits for another one. After that the run ends with exit code 1. A checkpoint or another output must not take longer."},
    {SECTION, .name = "gpu_exchange", CHOICE(gpu_exchanges), IN(run.gpu_exchange), .initial = "auto",
     .meaning = "How the GPUs of an MPI run exchange data. nccl: by NCCL, which needs a GPU for each rank. nccl_host: by NCCL, but through the memory of the machine in place of the links between its GPUs, whose power the GPUs then have for the particles. host: through the memory of the hosts and MPI. auto takes nccl_host where the messages are small beside the work, else nccl, and host where NCCL is not possible. It changes the speed and no result."},
#undef SECTION
#define SECTION .section = "grid"
    {SECTION, .name = "nx", INT, IN(grid.nx), RANGE(1, 32768), .unit = "cells", .meaning = "The number of cells along x."},
    {SECTION, .name = "ny", INT, IN(grid.ny), RANGE(1, 32768), .unit = "cells", .meaning = "The number of cells along y."},
    {SECTION, .name = "lx", REAL, IN(grid.lx), RANGE(1e-9, 1e9), .unit = "d_i", .meaning = "The size of the domain along x."},
    {SECTION, .name = "ly", REAL, IN(grid.ly), RANGE(1e-9, 1e9), .unit = "d_i", .meaning = "The size of the domain along y."},
#undef SECTION
#define SECTION .section = "electrons"
    {SECTION, .name = "closure", CHOICE(closures), IN(electrons.closure), .initial = "isothermal",
     .meaning = "isothermal: p_e = T n. polytropic: p_e = T n^gamma. evolved: the electrons carry p_e^(1/gamma), resistivity heats them, and they conduct heat."},
    {SECTION, .name = "temperature", REAL, IN(electrons.temperature), NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     FAMILY(ELECTRONS, LM_AT_DENSITY_1), .meaning = "The electron temperature where the density is 1. With closure = evolved the start has p_e = T n^gamma."},
    {SECTION, .name = "initial_temperature", EXPR, IN(electrons.initial_temperature), NOT_NEGATIVE, .unit = PRESSURE,
     .shown = "none", .when = &if_evolved, FAMILY(ELECTRONS, LM_EVERYWHERE),
     .meaning = "The electron temperature as a function of place, in place of temperature: p_e = T n at the start and in plasma that flows in. Only with closure = evolved."},
    {SECTION, .name = "gamma", REAL, IN(electrons.gamma), RANGE(1, 10), .initial = "1.6666666666666667", .shown = "5/3",
     .when = &if_gamma, .meaning = "The polytropic index, or the ratio of specific heats. Only with closure = polytropic or evolved."},
    {SECTION, .name = "conductivity", REAL, IN(electrons.conductivity), NOT_NEGATIVE, .unit = "n0 v_A d_i", .initial = "0",
     .when = &if_evolved, .meaning = "The heat conductivity kappa along B; the heat flux is -kappa grad T. This key and all below: only with closure = evolved."},
    {SECTION, .name = "conductivity_across", REAL, IN(electrons.conductivity_across), NOT_NEGATIVE, .unit = "n0 v_A d_i",
     .initial = "0", .when = &if_evolved, .meaning = "The heat conductivity across B. The same value as along B makes the conduction isotropic."},
    {SECTION, .name = "weno", CHOICE(positive_schemes), IN(electrons.scheme), .initial = "7", .when = &if_evolved,
     .meaning = "The order of the WENO reconstruction of the entropy."},
    {SECTION, .name = "smoothness", CHOICE(smoothnesses), IN(electrons.single), .initial = "double", .when = &if_evolved,
     .meaning = "The precision of the smoothness indicators, as for background fields."},
    {SECTION, .name = "courant", REAL, IN(electrons.courant), RANGE(LM_POSITIVE, 1), .initial = "0.6", .when = &if_evolved,
     .meaning = "The largest Courant number of a substep of the flow, and of a substep of the conduction."},
#undef SECTION
#define SECTION .section = "fields"
    {SECTION, .name = "solver", CHOICE(solvers), IN(fields.solver), .initial = "hybrid",
     .meaning = "hybrid solves for B and E. With none the particles move in the given, constant B and E."},
    {SECTION, .name = "bx", EXPR, IN(fields.b[0]), ANY, CELL_OFFSET(0, 0.5), .unit = "B0", .initial = "0",
     .meaning = "The initial magnetic field along x."},
    {SECTION, .name = "by", EXPR, IN(fields.b[1]), ANY, CELL_OFFSET(0.5, 0), .unit = "B0", .initial = "0",
     .meaning = "The initial magnetic field along y."},
    {SECTION, .name = "bz", EXPR, IN(fields.b[2]), ANY, CELL_OFFSET(0.5, 0.5), .unit = "B0", .initial = "0",
     .meaning = "The initial magnetic field along z."},
    {SECTION, .name = "az", EXPR, IN(fields.az), ANY, CELL_OFFSET(0, 0), .unit = "B0 d_i", .initial = "0",
     .meaning = "A vector potential. It adds curl(az z) to bx and by, which is free of divergence."},
    {SECTION, .name = "ex", EXPR, IN(fields.e[0]), ANY, CELL_OFFSET(0.5, 0), .timed = LM_COMPILED, .unit = "v_A B0", .initial = "0",
     .when = &if_given_e, .meaning = "The electric field along x, of x, y and t. Only with solver = none or a side whose fields are inflow_e."},
    {SECTION, .name = "ey", EXPR, IN(fields.e[1]), ANY, CELL_OFFSET(0, 0.5), .timed = LM_COMPILED, .unit = "v_A B0", .initial = "0",
     .when = &if_given_e, .meaning = "The electric field along y, of x, y and t. Only with solver = none or a side whose fields are inflow_e."},
    {SECTION, .name = "ez", EXPR, IN(fields.e[2]), ANY, CELL_OFFSET(0, 0), .timed = LM_COMPILED, .unit = "v_A B0", .initial = "0",
     .when = &if_given_e, .meaning = "The electric field along z, of x, y and t. Only with solver = none or a side whose fields are inflow_e."},
    {SECTION, .name = "eta", EXPR, IN(fields.eta), NOT_NEGATIVE, .timed = LM_OF_PLASMA, .unit = "mu0 v_A d_i", .initial = "0",
     .meaning = "The resistivity. With solver = hybrid it may also depend on t, on the local electron density n and temperature Te, and on J = |J| of the plasma and B = |B|. Its values below 0 count as 0 then."},
    {SECTION, .name = "eta_hyper", REAL, IN(fields.eta_hyper), NOT_NEGATIVE, .unit = "mu0 v_A d_i^3", .initial = "0",
     .meaning = "The hyper-resistivity."},
    {SECTION, .name = "density_floor", REAL, IN(fields.density_floor), RANGE(LM_POSITIVE, NONE), .unit = "n0",
     .initial = "0.05", .meaning = "The least density in Ohm's law."},
    {SECTION, .name = "smoothing", INT, IN(fields.smoothing), RANGE(0, 8), .initial = "1",
     .meaning = "The number of binomial passes over the moments and over the E that pushes the ions."},
    {SECTION, .name = "electron_friction", .formerly = "friction", CHOICE(switches), IN(fields.electron_friction), .initial = "on",
     .meaning = "on: the friction of the electrons acts on the ions. It cancels the resistive part of E, which the ions do not feel then. off: the ions feel all of E."},
    {SECTION, .name = "substep_safety", REAL, IN(fields.substep_safety), RANGE(LM_POSITIVE, 2.7), .initial = "2",
     .meaning = "The largest product of frequency and substep; in the forecast for the mean of B that ions feel it may be a quarter larger. The Runge-Kutta method is stable below 2.78."},
    {SECTION, .name = "min_substeps", INT, IN(fields.min_substeps), RANGE(1, 1e6), .initial = "1",
     .meaning = "The least number of substeps of the fields in a step, also where fewer are stable. More substeps are more accurate and slower."},
    {SECTION, .name = "max_substeps", INT, IN(fields.max_substeps), RANGE(1, 1e6), .initial = "200",
     .meaning = "The largest number of substeps of the fields in a step. A step that needs more stops the run. Cells of fewer than four ions never ask for more."},
#undef SECTION
#define SECTION .section = "external"
    {SECTION, .name = "current_x", EXPR, IN(external.current[0]), ANY, CELL_OFFSET(0.5, 0), .timed = LM_COMPILED, .unit = "B0/(mu0 d_i)",
     .initial = "0", .when = &if_hybrid, .meaning = "The current density along x of coils and antennas, of x, y and t. It is no current of the plasma."},
    {SECTION, .name = "current_y", EXPR, IN(external.current[1]), ANY, CELL_OFFSET(0, 0.5), .timed = LM_COMPILED, .unit = "B0/(mu0 d_i)",
     .initial = "0", .when = &if_hybrid, .meaning = "The current density along y of coils and antennas, of x, y and t."},
    {SECTION, .name = "current_z", EXPR, IN(external.current[2]), ANY, CELL_OFFSET(0, 0), .timed = LM_COMPILED, .unit = "B0/(mu0 d_i)",
     .initial = "0", .when = &if_hybrid, .meaning = "The current density along z of coils and antennas, of x, y and t."},
    {SECTION, .name = "az", EXPR, IN(external.az), ANY, CELL_OFFSET(0, 0), .unit = "B0 d_i", .initial = "0", .when = &if_hybrid,
     .meaning = "A vector potential of magnets. curl(az z) is part of B and does not change, and its current is no current of the plasma."},
    {SECTION, .name = "bz", EXPR, IN(external.bz), ANY, CELL_OFFSET(0.5, 0.5), .unit = "B0", .initial = "0", .when = &if_hybrid,
     .meaning = "The field of magnets along z, likewise."},
#undef SECTION
#define SECTION .section = "particles"
    {SECTION, .name = "shape", CHOICE(shapes), IN(particles.shape), .initial = "linear",
     .meaning = "The shape of a particle: linear (cloud in cell, CIC) or quadratic (triangular-shaped cloud, TSC)."},
    {SECTION, .name = "precision", CHOICE(precisions), IN(particles.precision), .initial = "double",
     .meaning = "The precision of positions and velocities. Fields and moments are always in double precision."},
#undef SECTION
    {OF(charge), .name = "charge", REAL, RANGE(LM_POSITIVE, NONE), .unit = "e", .initial = "1", .meaning = "The charge of an ion."},
    {OF(mass), .name = "mass", REAL, RANGE(LM_POSITIVE, NONE), .unit = "m_p", .initial = "1", .meaning = "The mass of an ion."},
    {OF(particles_per_cell), .name = "particles_per_cell", REAL, RANGE(LM_POSITIVE, 1e9), .initial = "64", FAMILY(PARTICLES, LM_AT_DENSITY_1),
     .meaning = "The number of particles in a cell where the density is 1. The weight of a particle is its inverse."},
    {OF(mean_particles_per_cell), .name = "mean_particles_per_cell", REAL, RANGE(LM_POSITIVE, 1e9), .shown = "-", FAMILY(PARTICLES, LM_WHERE_PRESENT),
     .meaning = "The number of particles in a cell where the species is, in place of particles_per_cell: at the mean of its density over its particles."},
    {OF(start), .name = "start", CHOICE(starts), .initial = "random", .meaning = "How particles are placed. random: at random. quiet: the same set in every cell, without noise. low_discrepancy: sets that differ from cell to cell and fill positions and velocities more evenly than random ones."},
    {OF(density), .name = "density", EXPR, NOT_NEGATIVE, .unit = "n0", .initial = "1", .meaning = "The number density."},
    {OF(drift[0]), .name = "drift_x", EXPR, ANY, .unit = "v_A", .initial = "0", .meaning = "The mean velocity along x."},
    {OF(drift[1]), .name = "drift_y", EXPR, ANY, .unit = "v_A", .initial = "0", .meaning = "The mean velocity along y."},
    {OF(drift[2]), .name = "drift_z", EXPR, ANY, .unit = "v_A", .initial = "0", .meaning = "The mean velocity along z."},
    {OF(temperature[0]), .name = "temperature", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .shown = "0",
     FAMILY(TEMPERATURE, LM_ISOTROPIC), .meaning = "The temperature, the same in all directions."},
    {OF(temperature[0]), .name = "temperature_x", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     FAMILY(TEMPERATURE, LM_ALONG_AXES), .meaning = "The temperature along x. The three keys temperature_x, _y and _z stand in place of temperature."},
    {OF(temperature[1]), .name = "temperature_y", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     FAMILY(TEMPERATURE, LM_ALONG_AXES), .meaning = "The temperature along y."},
    {OF(temperature[2]), .name = "temperature_z", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     FAMILY(TEMPERATURE, LM_ALONG_AXES), .meaning = "The temperature along z."},
    {OF(temperature[0]), .name = "temperature_par", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .shown = "-",
     FAMILY(TEMPERATURE, LM_ALONG_FIELD), .meaning = "The temperature along the local B, in place of temperature."},
    {OF(temperature[1]), .name = "temperature_perp", EXPR, NOT_NEGATIVE, .unit = PRESSURE, .shown = "-",
     FAMILY(TEMPERATURE, LM_ALONG_FIELD), .meaning = "The temperature across the local B. It goes with temperature_par."},
    {OF(force[0]), .name = "force_x", EXPR, ANY, CELL_OFFSET(0.5, 0), .timed = LM_ALWAYS_COMPILED, .unit = "m_p v_A Omega_ci", .initial = "0",
     .meaning = "A force along x on each ion, of x, y and t, beside those of E and B. Gravity g is mass * g."},
    {OF(force[1]), .name = "force_y", EXPR, ANY, CELL_OFFSET(0, 0.5), .timed = LM_ALWAYS_COMPILED, .unit = "m_p v_A Omega_ci", .initial = "0",
     .meaning = "A force along y on each ion."},
    {OF(force[2]), .name = "force_z", EXPR, ANY, CELL_OFFSET(0, 0), .timed = LM_ALWAYS_COMPILED, .unit = "m_p v_A Omega_ci", .initial = "0",
     .meaning = "A force along z on each ion."},
    {OF(eta), .name = "eta", EXPR, NOT_NEGATIVE, .timed = LM_ALWAYS_OF_PLASMA, .unit = "mu0 v_A d_i", .initial = "0",
     .meaning = "The resistivity that friction between electrons and the ions of this species causes, beside fields.eta: the drag eta n Z/m (u - u_e) on these ions, and its reaction in E. It may depend on x, y, t, n, Te, J and B as fields.eta does. Only with solver = hybrid and electron_friction = on."},
    {OF(inflow_density), .name = "inflow_density", EXPR, NOT_NEGATIVE, .timed = LM_ALONG_SIDES, .unit = "n0", .shown = "density",
     .when = &if_inflow, .meaning = "The density beyond inflow sides; it may also depend on the time t. Drift and temperature there are the species' own. Only with an inflow side."},
    {OF(drag_rate), .name = "drag_rate", .formerly = "slowing", REAL, NOT_NEGATIVE, .unit = "Omega_ci", .initial = "0",
     .meaning = "The rate nu of a drag dv/dt = -nu v in a medium at rest. Only without a gas."},
    {OF(scattering_rate), .name = "scattering_rate", .formerly = "scattering", REAL, NOT_NEGATIVE, .unit = "rad^2 Omega_ci", .initial = "0",
     .meaning = "The rate of pitch-angle scattering: the growth of the mean square angle in one plane. Only without a gas."},
    {OF(scattering_sigmas), .name = "scattering_sigmas", REAL, RANGE(LM_POSITIVE, 100), .initial = "5",
     .meaning = "The largest scattering angle of a step, in standard deviations. A particle that is scattered further is removed and counted as theta_cutoff."},
    {OF(lost_below_energy), .name = "lost_below_energy", .formerly = "energy_cutoff", REAL, NOT_NEGATIVE, .unit = "m_p v_A^2", .initial = "0",
     .meaning = "The kinetic energy relative to the gas at which a particle has stopped. It is then removed and counted as energy_stopped."},
    {OF(lost_below_pitch), .name = "lost_below_pitch", .formerly = "pitch_min", REAL, RANGE(0, 180), .unit = "degrees", .initial = "0",
     .meaning = "The least angle between v and B. A particle below it is removed and counted as theta_boundary."},
    {OF(lost_above_pitch), .name = "lost_above_pitch", .formerly = "pitch_max", REAL, RANGE(0, 180), .unit = "degrees", .initial = "180",
     .meaning = "The largest angle between v and B. A particle above it is removed and counted as theta_boundary."},
    {OF(gas), .name = "gas", TEXT(LM_MAX_NAME), .shown = "none",
     .meaning = "The background field of kind neutral_gas that the ions collide with. The time series has what the ions lose, and fields with `gains` take it up."},
    {OF(stopping_table), .name = "stopping_table", PATH, .shown = "none",
     .meaning = "A file with the stopping cross-section S(E) of m dv/dt = -n S, and optionally a scattering cross-section. The path is relative to the configuration file. Only with a gas."},
    {OF(scattering_power), .name = "scattering_power", REAL, NOT_NEGATIVE, .unit = "rad^2/(n0 d_i)", .initial = "0",
     .meaning = "The growth of the mean square angle in space, d<theta^2>/ds = scattering_power n. Only with a gas."},
    {OF(charge_exchange_cross_section), .name = "charge_exchange_cross_section", .formerly = "charge_exchange", REAL, NOT_NEGATIVE, .unit = "1/(n0 d_i)", .initial = "0",
     .meaning = "The cross-section of charge exchange. The ion goes on as an ion of the gas, with the gas's velocity and temperature. Only with a gas."},
    {OF(charge_exchange_rate), .name = "charge_exchange_rate", REAL, NOT_NEGATIVE, .unit = "Omega_ci/n0", .initial = "0",
     .meaning = "A rate coefficient of charge exchange that does not depend on the velocity. It is added to that of the cross-section."},
    {OF(gas_drag_rate), .name = "gas_drag_rate", .formerly = "gas_friction", REAL, NOT_NEGATIVE, .unit = "Omega_ci/n0", .initial = "0",
     .meaning = "The rate coefficient of a drag dv/dt = -gas_drag_rate n (v - u) in a gas of velocity u. Only with a gas."},
    {OF(electron_heat_exchange_rate), .name = "electron_heat_exchange_rate", .formerly = "electron_exchange", REAL, NOT_NEGATIVE, .unit = "Omega_ci", .initial = "0",
     .meaning = "The rate nu at which ions slow down on the electrons where n = 1 and T_e = 1. Elsewhere it is nu n T_e^(-3/2). T_i and T_e approach each other at twice that rate. Only with closure = evolved."},
    {OF(collide_every), .name = "collide_every", LONG, RANGE(1, 1e6), .unit = "steps", .initial = "1",
     .meaning = "Collisions, drag, limits and the exchange of heat with electrons take place every so many steps, for all of these steps at once."},
#define SECTION .section = "boundary"
#define SIDE(text, side, member, choices) SECTION, .name = text, CHOICE(choices), IN(member[side]), .initial = "periodic"
#define FIELDS(text, side) \
    SECTION, .name = text, CHOICE(field_boundaries), IN(boundary_fields[side]), .shown = "by the particles"
    {SIDE("x_min", LM_X_MIN, boundary, boundaries), .meaning = "What happens to particles at x = 0."},
    {SIDE("x_max", LM_X_MAX, boundary, boundaries), .meaning = "What happens to particles at x = lx."},
    {SIDE("y_min", LM_Y_MIN, boundary, boundaries), .meaning = "What happens to particles at y = 0."},
    {SIDE("y_max", LM_Y_MAX, boundary, boundaries), .meaning = "What happens to particles at y = ly."},
    {SECTION, .name = "x_min_temperature", REAL, IN(boundary_temperature[LM_X_MIN]), NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     .when = &if_thermal[LM_X_MIN], .meaning = "The temperature of the particles that come back. Only with x_min = thermal."},
    {SECTION, .name = "x_max_temperature", REAL, IN(boundary_temperature[LM_X_MAX]), NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     .when = &if_thermal[LM_X_MAX], .meaning = "The temperature of the particles that come back. Only with x_max = thermal."},
    {SECTION, .name = "y_min_temperature", REAL, IN(boundary_temperature[LM_Y_MIN]), NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     .when = &if_thermal[LM_Y_MIN], .meaning = "The temperature of the particles that come back. Only with y_min = thermal."},
    {SECTION, .name = "y_max_temperature", REAL, IN(boundary_temperature[LM_Y_MAX]), NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     .when = &if_thermal[LM_Y_MAX], .meaning = "The temperature of the particles that come back. Only with y_max = thermal."},
    {FIELDS("fields_x_min", LM_X_MIN), .meaning = "What happens to the fields at x = 0. Only with solver = hybrid."},
    {FIELDS("fields_x_max", LM_X_MAX), .meaning = "What happens to the fields at x = lx. Only with solver = hybrid."},
    {FIELDS("fields_y_min", LM_Y_MIN), .meaning = "What happens to the fields at y = 0. Only with solver = hybrid."},
    {FIELDS("fields_y_max", LM_Y_MAX), .meaning = "What happens to the fields at y = ly. Only with solver = hybrid."},
    {SECTION, .name = "layer_x_min", REAL, IN(layer[LM_X_MIN]), NOT_NEGATIVE, .unit = "d_i", .initial = "0",
     .meaning = "The width of a resistive layer that damps waves before the side. 0: there is none."},
    {SECTION, .name = "layer_x_max", REAL, IN(layer[LM_X_MAX]), NOT_NEGATIVE, .unit = "d_i", .initial = "0",
     .meaning = "The width of a resistive layer that damps waves before the side. 0: there is none."},
    {SECTION, .name = "layer_y_min", REAL, IN(layer[LM_Y_MIN]), NOT_NEGATIVE, .unit = "d_i", .initial = "0",
     .meaning = "The width of a resistive layer that damps waves before the side. 0: there is none."},
    {SECTION, .name = "layer_y_max", REAL, IN(layer[LM_Y_MAX]), NOT_NEGATIVE, .unit = "d_i", .initial = "0",
     .meaning = "The width of a resistive layer that damps waves before the side. 0: there is none."},
    {SECTION, .name = "layer_eta", REAL, IN(layer_eta), NOT_NEGATIVE, .unit = "mu0 v_A d_i", .initial = "0",
     .meaning = "The resistivity of the layers at the sides."},
#undef SECTION
    {BODY(shape), .name = "shape", CHOICE(body_shapes), .meaning = "The shape of the body."},
    {BODY(x), .name = "x", REAL, RANGE(-1e12, 1e12), .unit = "d_i", .when = &if_centred, .meaning = "The centre of a disk or box along x. Only with shape = disk or box."},
    {BODY(y), .name = "y", REAL, RANGE(-1e12, 1e12), .unit = "d_i", .when = &if_centred, .meaning = "The centre of a disk or box along y. Only with shape = disk or box."},
    {BODY(radius), .name = "radius", REAL, RANGE(LM_POSITIVE, 1e12), .unit = "d_i", .when = &if_disk, .meaning = "The radius of a disk. Only with shape = disk."},
    {BODY(width), .name = "width", REAL, RANGE(LM_POSITIVE, 1e12), .unit = "d_i", .when = &if_box, .meaning = "The size of a box along x. Only with shape = box."},
    {BODY(height), .name = "height", REAL, RANGE(LM_POSITIVE, 1e12), .unit = "d_i", .when = &if_box, .meaning = "The size of a box along y. Only with shape = box."},
    {BODY(points), .name = "points", TEXT(LM_MAX_TEXT), .unit = "d_i", .when = &if_polygon,
     .meaning = "The corners of a polygon, `x y, x y, ...`. The even-odd rule says what is inside. Only with shape = polygon."},
    {BODY(file), .name = "file", PATH, .when = &if_mask,
     .meaning = "A mask with one value a cell, which is not 0 in the body: a PGM image, whose first row is the top (y = ly), or an HDF5 file. The path is relative to the configuration file. Only with shape = mask."},
    {BODY(dataset), .name = "dataset", TEXT(LM_MAX_NAME), .shown = "none: PGM", .when = &if_mask,
     .meaning = "The dataset of an HDF5 file: [ny][nx], integers or reals, the first row at y = 0. Only with shape = mask."},
    {BODY(particles), .name = "particles", CHOICE(body_surfaces), .initial = "absorbing",
     .meaning = "What happens to particles that hit the body. absorbing: they are removed and counted. reflecting: they turn round. thermal: they come back from a plasma at rest."},
    {BODY(temperature), .name = "temperature", REAL, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0",
     .when = &if_thermal_body, .meaning = "The temperature of the particles that come back. Only with particles = thermal."},
    {BODY(fields), .name = "fields", CHOICE(body_fields), .initial = "conducting",
     .meaning = "The field in the body. conducting: E = 0. resistive: E = resistivity J. transparent: E = eta J with the largest eta that the step allows. insulating: no current flows, and B is that of a vacuum."},
    {BODY(resistivity), .name = "resistivity", EXPR, NOT_NEGATIVE, .unit = "mu0 v_A d_i", .when = &if_resistive,
     .meaning = "The resistivity in the body. Only with fields = resistive."},
    {FIELD(kind), .name = "kind", CHOICE(background_kinds), .initial = "tracer",
     .meaning = "neutral_gas: a density in units of n0. tracer: a number without a unit."},
    {FIELD(initial), .name = "initial", EXPR, ANY, .unit = "n0, or 1", .meaning = "The value at the start. It is 0 in bodies."},
    {FIELD(flow), .name = "velocity", CHOICE(flows), .initial = "prescribed",
     .meaning = "What carries the field: a prescribed flow, the ions' bulk velocity, or the electrons' velocity u_i - J/n_e."},
#define FLOW(variant) .when = &if_prescribed, .timed = LM_IN_CELLS, FAMILY(VELOCITY, variant)
    {FIELD(velocity[0]), .name = "vx", EXPR, ANY, CELL_OFFSET(0.5, 0), FLOW(LM_BY_COMPONENTS), .unit = "v_A", .initial = "0",
     .meaning = "The velocity along x, of x, y and t. Only with velocity = prescribed."},
    {FIELD(velocity[1]), .name = "vy", EXPR, ANY, CELL_OFFSET(0, 0.5), FLOW(LM_BY_COMPONENTS), .unit = "v_A", .initial = "0",
     .meaning = "The velocity along y, of x, y and t. Only with velocity = prescribed."},
    {FIELD(stream), .name = "stream", EXPR, ANY, CELL_OFFSET(0.5, 0.5), FLOW(LM_BY_STREAM), .unit = "v_A d_i", .shown = "none",
     .meaning = "A stream function psi of x, y and t, in place of vx and vy: vx = dpsi/dy, vy = -dpsi/dx. The flow has no divergence and goes along bodies and walls."},
    {FIELD(scheme), .name = "weno", CHOICE(schemes), .initial = "7",
     .meaning = "The order of the WENO reconstruction. upwind is of first order. centred is of second order, for smooth fields only."},
    {FIELD(single), .name = "smoothness", CHOICE(smoothnesses), .initial = "double",
     .meaning = "The precision of the smoothness indicators. single changes the weights by about 2^-16 and is faster on large grids. Orders, bounds and sums stay the same."},
    {FIELD(limited), .name = "bounds", CHOICE(switches), .initial = "off",
     .meaning = "on: a flow without divergence keeps the field between minimum and maximum, and any flow keeps it above a minimum of 0. A source may leave the bounds. There are more substeps."},
    {FIELD(least), .name = "minimum", REAL, ANY, .initial = "0", .when = &if_limited, .meaning = "The least value. Only with bounds = on."},
    {FIELD(most), .name = "maximum", REAL, ANY, .shown = "none", .when = &if_limited, .meaning = "The largest value. Only with bounds = on."},
    {FIELD(diffusivity), .name = "diffusivity", REAL, NOT_NEGATIVE, .unit = "v_A d_i", .initial = "0", .meaning = "The diffusivity kappa."},
    {FIELD(source), .name = "source", EXPR, ANY, .timed = LM_IN_CELLS, .unit = "Omega_ci n0, or 1", .initial = "0",
     .meaning = "What is added in a unit of time, of x, y and t. It is 0 in bodies."},
#define AT(text, side) FIELD(sides[side]), .name = "side_" text, .formerly = text, CHOICE(background_sides), .initial = "auto"
    {AT("x_min", LM_X_MIN), .meaning = "What happens to the field at x = 0. auto follows the particles: wall where they come back, open where they are absorbed."},
    {AT("x_max", LM_X_MAX), .meaning = "What happens to the field at x = lx. auto follows the particles."},
    {AT("y_min", LM_Y_MIN), .meaning = "What happens to the field at y = 0. auto follows the particles."},
    {AT("y_max", LM_Y_MAX), .meaning = "What happens to the field at y = ly. auto follows the particles."},
    {FIELD(inflow), .name = "inflow", EXPR, ANY, .timed = LM_ALONG_SIDES, .unit = "n0, or 1", .when = &if_flows_in,
     .meaning = "The value that flows in by inflow sides, of x, y and t. Only with an inflow side of the field."},
    {FIELD(courant), .name = "courant", REAL, RANGE(LM_POSITIVE, 1), .initial = "0.6",
     .meaning = "The largest Courant number of a substep, diffusion included."},
    {FIELD(temperature), .name = "temperature", REAL, NOT_NEGATIVE, .unit = PRESSURE, .initial = "0", .when = &if_gas,
     .meaning = "The temperature of the gas, which the ions have that charge exchange makes of it. Only with kind = neutral_gas."},
    {FIELD(gains), .name = "gains", CHOICE(gains), .initial = "nothing",
     .meaning = "What the field takes up of the losses of ions to their gas in a unit of volume: the number of ions that have stopped (n0), momentum (n0 m_p v_A) or energy (n0 m_p v_A^2)."},
    {BIRTH(species), .name = "species", TEXT(LM_MAX_NAME), .meaning = "The NAME of the [species.NAME] that gains the ions."},
#define BORN(variant) .timed = LM_IN_CELLS, FAMILY(IONISATION, variant)
    {BIRTH(rate), .name = "rate", EXPR, NOT_NEGATIVE, BORN(LM_BY_RATE), .unit = "n0 Omega_ci", .shown = "required, or gas",
     .meaning = "The number of ions born in a unit of volume and time, of x, y and t."},
    {BIRTH(gas), .name = "gas", TEXT(LM_MAX_NAME), FAMILY(IONISATION, LM_BY_GAS), .shown = "none",
     .meaning = "The NAME of the [background.NAME] that is ionised, in place of rate. It must be of kind neutral_gas."},
    {BIRTH(frequency), .name = "frequency", EXPR, NOT_NEGATIVE, BORN(LM_BY_GAS), .unit = "Omega_ci", .shown = "required with gas",
     .meaning = "The number of ionisations of an atom of the gas in a unit of time, of x, y and t."},
    {BIRTH(temperature), .name = "temperature", EXPR, NOT_NEGATIVE, .timed = LM_IN_CELLS, .unit = PRESSURE, .initial = "0",
     .meaning = "The temperature of the ions that are born, of x, y and t."},
    {BIRTH(drift[0]), .name = "vx", EXPR, ANY, .timed = LM_IN_CELLS, .unit = "v_A", .shown = "the gas's, or 0",
     .meaning = "The mean velocity along x of the ions that are born, of x, y and t. Required where ions or electrons carry the gas."},
    {BIRTH(drift[1]), .name = "vy", EXPR, ANY, .timed = LM_IN_CELLS, .unit = "v_A", .shown = "the gas's, or 0",
     .meaning = "The mean velocity along y of the ions that are born, of x, y and t. Required where ions or electrons carry the gas."},
    {BIRTH(drift[2]), .name = "vz", EXPR, ANY, .timed = LM_IN_CELLS, .unit = "v_A", .shown = "0", .meaning = "The mean velocity along z of the ions that are born, of x, y and t."},
#define SECTION .section = "units"
    {SECTION, .name = "b0", REAL, IN(units.b0), NOT_NEGATIVE, .unit = "T", .initial = "0", .shown = "not given",
     .meaning = "The magnetic field that is 1 in this file: 5e-9 is 5 nT."},
    {SECTION, .name = "n0", REAL, IN(units.n0), NOT_NEGATIVE, .unit = "m^-3", .initial = "0", .shown = "not given",
     .meaning = "The number density that is 1 in this file: 5e6 is 5 in a cm^3."},
#undef SECTION
#define SECTION .section = "output"
    {SECTION, .name = "directory", PATH, IN(output.directory), .shown = "NAME.out for NAME.ini",
     .meaning = "The directory of all output."},
    {SECTION, .name = "series_every", LONG, IN(output.series_every), RANGE(0, 1e15), .unit = "steps", .initial = "10",
     .meaning = "The number of steps between two rows of the time series. 0: no rows."},
    {SECTION, .name = "fields_every", LONG, IN(output.fields_every), RANGE(0, 1e15), .unit = "steps", .initial = "0",
     .meaning = "The number of steps between two outputs of the fields. 0: no outputs."},
    {SECTION, .name = "particles_every", LONG, IN(output.particles_every), RANGE(0, 1e15), .unit = "steps",
     .initial = "0", .meaning = "The number of steps between two outputs of the particles. 0: no outputs."},
    {SECTION, .name = "particles_with_fields", CHOICE(switches), IN(output.particles_with_fields), .initial = "off",
     .meaning = "on: the particles of a step are in its file of fields, so both are one openPMD series. particles_every must then be a multiple of fields_every. off: they have files of their own."},
    {SECTION, .name = "checkpoint_every", LONG, IN(output.checkpoint_every), RANGE(0, 1e15), .unit = "steps",
     .initial = "0", .meaning = "The number of steps between two checkpoints. 0: only when the run is stopped early."},
    {SECTION, .name = "keep", INT, IN(output.keep), RANGE(1, 1e6), .initial = "2",
     .meaning = "The number of checkpoints that stay on disk."},
    {SECTION, .name = "particles_fraction", REAL, IN(output.particles_fraction), RANGE(LM_POSITIVE, 1), .initial = "1",
     .meaning = "The fraction of the particles in an output, spread evenly over the domain: with 0.1 every tenth in the order of the memory. Sorts change this order, and with several threads or ranks or on a GPU it can differ from run to run. So the next output, and the same run once more, may have other ions: [track.NAME] follows the same ions through all steps."},
    {SECTION, .name = "compress", INT, IN(output.compress), RANGE(0, 9), .initial = "0",
     .meaning = "The gzip level of fields, particles, maps and distributions. 0: no compression."},
    {SECTION, .name = "wall_limit", .kind = LM_KEY_DURATION, IN(output.wall_limit), RANGE(0, 1e9), .initial = "0",
     .unit = "hh:mm:ss", .meaning = "The time after which the run ends in a checkpoint. 0: there is no limit."},
    {SECTION, .name = "maps_every", LONG, IN(output.maps_every), RANGE(0, 1e15), .unit = "steps", .initial = "0",
     .meaning = "The number of steps between two maps of where particles hit sides and bodies. 0: only at the end."},
    {SECTION, .name = "map_angles", INT, IN(output.map_angles), RANGE(0, 180), .initial = "18",
     .meaning = "The number of bins of the angle of incidence in a map, from 0 to 90 degrees. 0: no maps."},
    {SECTION, .name = "map_energies", INT, IN(output.map_energies), RANGE(1, 1000), .initial = "32",
     .meaning = "The number of bins of the energy in a map, equal in the logarithm. There is one more bin below and one above."},
    {SECTION, .name = "map_energy_min", REAL, IN(output.map_energy[0]), RANGE(LM_POSITIVE, NONE), .unit = "m_p v_A^2",
     .initial = "1e-3", .meaning = "The lower end of the lowest bin."},
    {SECTION, .name = "map_energy_max", REAL, IN(output.map_energy[1]), RANGE(LM_POSITIVE, NONE), .unit = "m_p v_A^2",
     .initial = "1e3", .meaning = "The upper end of the highest bin."},
#undef SECTION
#define REGION(OF) \
    {OF(region.from_x), .name = "from_x", REAL, ANY, .unit = "d_i", .shown = "0", .meaning = "Only cells or particles at and above this x."}, \
    {OF(region.to_x), .name = "to_x", REAL, ANY, .unit = "d_i", .shown = "lx", .meaning = "Only cells or particles below this x."}, \
    {OF(region.from_y), .name = "from_y", REAL, ANY, .unit = "d_i", .shown = "0", .meaning = "Only cells or particles at and above this y."}, \
    {OF(region.to_y), .name = "to_y", REAL, ANY, .unit = "d_i", .shown = "ly", .meaning = "Only cells or particles below this y."}
    {GROUP(every), .name = "every", LONG, RANGE(1, 1e15), .unit = "steps", .meaning = "The number of steps between two of these outputs."},
    {GROUP(average), .name = "average", LONG, RANGE(0, 1e15), .unit = "steps", .initial = "0",
     .meaning = "The output is the mean over so many steps, of which the step of the output is the last. There is no output of step 0. 0: the values of the step itself."},
    {GROUP(average_every), .name = "average_every", LONG, RANGE(1, 1e15), .unit = "steps", .initial = "1",
     .meaning = "The number of steps between two samples of the mean, a divisor of average. Samples of velocity, pressure, temperature and energy_flux need a loop over all particles."},
    {GROUP(quantities), .name = "quantities", TEXT(LM_MAX_LIST),
     .meaning = "A list of B, E, E_terms (the terms of Ohm's law apart), J (curl B), J_i (current of the ions), rho (their charge density), p_e, T_e, heating (J.E, resistive heating, compression of the electrons), backgrounds; and for each species density, velocity, pressure (the tensor), temperature (along and across B), energy_flux."},
    {GROUP(species), .name = "species", TEXT(LM_MAX_LIST), .shown = "all", .meaning = "A list of the species of which there are values."},
    REGION(GROUP),
    {GROUP(coarsen), .name = "coarsen", INT, RANGE(1, 1024), .initial = "1", .unit = "cells",
     .meaning = "One value for so many times so many cells: the mean of a field; velocity, pressure and temperature of all particles in them."},
    {GROUP(precision), .name = "precision", CHOICE(precisions), .initial = "double", .meaning = "The precision of the numbers in the file."},
    {GROUP(compress), .name = "compress", INT, RANGE(0, 9), .initial = "0", .meaning = "The gzip level. 0: no compression."},
    {BINNED(every), .name = "every", LONG, RANGE(1, 1e15), .unit = "steps", .meaning = "The number of steps between two of these distributions."},
    {BINNED(axes), .name = "axes", TEXT(LM_MAX_LIST),
     .meaning = "One to three of x, y, vx, vy, vz, v_par, v_perp (along and across B), energy (of an ion, m_p v_A^2), pitch (between v and B, degrees), gyrophase (degrees from the direction z x B, or x where B is along z)."},
    {BINNED(bins), .name = "bins", TEXT(LM_MAX_LIST), .meaning = "The number of bins of each axis, `64, 32`."},
    {BINNED(from), .name = "from", TEXT(LM_MAX_LIST), .meaning = "The lower end of the first bin of each axis, `-4, 0`. Each may be an expression of constants."},
    {BINNED(to), .name = "to", TEXT(LM_MAX_LIST), .meaning = "The upper end of the last bin of each axis. Particles outside are counted together."},
    {BINNED(species), .name = "species", TEXT(LM_MAX_LIST), .shown = "all", .meaning = "A list of the species that are counted."},
    REGION(BINNED),
#undef REGION
    {PROBED(every), .name = "every", LONG, RANGE(1, 1e15), .unit = "steps", .initial = "1", .meaning = "The number of steps between two samples."},
    {PROBED(quantities), .name = "quantities", TEXT(LM_MAX_LIST),
     .meaning = "A list of B, E, J_i (current of the ions, half a step back), rho (their charge density), p_e, density (of each species), backgrounds."},
    {PROBED(x), .name = "x", TEXT(LM_MAX_LIST), .unit = "d_i", .meaning = "The x of each point, `0, lx/2, lx`. Each may be an expression of constants."},
    {PROBED(y), .name = "y", TEXT(LM_MAX_LIST), .unit = "d_i", .meaning = "The y of each point, as many as x."},
    {PROBED(line), .name = "line", INT, RANGE(0, LM_MOST_POINTS), .initial = "0", .unit = "points",
     .meaning = "So many points at even distances on the line from the first point through all others to the last one. 0: the points themselves."},
    {TRACKED(species), .name = "species", TEXT(LM_MAX_NAME), .meaning = "The species of the ions."},
    {TRACKED(count), .name = "count", INT, RANGE(1, 1e6), .initial = "100", .meaning = "At most so many ions. Of more, the seed of the run decides which."},
    {TRACKED(where), .name = "where", TEXT(LM_MAX_TEXT), .initial = "1",
     .meaning = "An expression of x, y, vx, vy and vz of an ion. Ions are chosen where it is a number other than 0: `x < 10 && vx^2 + vy^2 + vz^2 > 4`."},
    {TRACKED(start), .name = "start", LONG, RANGE(0, 1e15), .unit = "steps", .initial = "0", .meaning = "The step at which the ions are chosen."},
    {TRACKED(every), .name = "every", LONG, RANGE(1, 1e15), .unit = "steps", .initial = "1", .meaning = "The number of steps between two samples."},
    {GIVEN(file), .name = "file", PATH, .meaning = "An HDF5 file. The path is relative to the configuration file."},
    {GIVEN(dataset), .name = "dataset", TEXT(256), .shown = "required, or magnetic_field",
     .meaning = "The array in the file, [ny][nx]. In an openPMD file, as those that a run writes, the places of its values are known: `data/400/meshes/B/z`."},
    {GIVEN(magnetic_field), .name = "magnetic_field", TEXT(256), .shown = "-",
     .meaning = "A magnetic field in the file, in place of dataset: the group of its components x and y, `data/400/meshes/B`. The function NAME_az is its vector potential."},
    {GIVEN(meshes), .name = "meshes", TEXT(256), .shown = "-",
     .meaning = "All meshes of an openPMD file, in place of dataset: their group, `data/400/meshes`. Each mesh that an expression uses becomes a function, NAME_B_z of B/z, NAME_n_protons of n_protons, and NAME_az is the vector potential of B. The resolved settings have a section for each."},
    {GIVEN(from_x), .name = "from_x", REAL, ANY, .unit = "d_i", .shown = "as the file, or 0", .meaning = "Where the cells of the array begin along x; the values are at their centres."},
    {GIVEN(to_x), .name = "to_x", REAL, ANY, .unit = "d_i", .shown = "as the file, or lx", .meaning = "Where the cells of the array end along x."},
    {GIVEN(from_y), .name = "from_y", REAL, ANY, .unit = "d_i", .shown = "as the file, or 0", .meaning = "Where the cells of the array begin along y."},
    {GIVEN(to_y), .name = "to_y", REAL, ANY, .unit = "d_i", .shown = "as the file, or ly", .meaning = "Where the cells of the array end along y."},
    {WAVES(from_k), .name = "from_k", REAL, RANGE(LM_POSITIVE, NONE), .unit = "1/d_i", .meaning = "The smallest wave number."},
    {WAVES(to_k), .name = "to_k", REAL, RANGE(LM_POSITIVE, NONE), .unit = "1/d_i", .meaning = "The largest wave number, at most pi/dx."},
    {WAVES(slope), .name = "slope", REAL, RANGE(-20, 20), .initial = "1.6666666666666667", .shown = "5/3", .meaning = "The power of all waves between k and k + dk goes with k^-slope."},
    {WAVES(amplitude), .name = "amplitude", REAL, RANGE(LM_POSITIVE, NONE), .unit = "B0", .meaning = "The root mean square of the magnetic field of the waves. B_z and the field in the plane have half of the power each."},
    {WAVES(velocity), .name = "velocity", REAL, NOT_NEGATIVE, .unit = "v_A", .initial = "0", .meaning = "The root mean square of the velocity of the waves."},
    {WAVES(helicity), .name = "helicity", REAL, RANGE(-1, 1), .initial = "0", .meaning = "The magnetic helicity of each wave over its largest value: at 1, curl B = k B."},
    {WAVES(cross_helicity), .name = "cross_helicity", REAL, RANGE(-1, 1), .initial = "0", .meaning = "The correlation of the velocity and B. At 1 and -1 with velocity = amplitude and density 1, these are Alfven waves that run against B0 and along B0."},
    {WAVES(seed), .name = "seed", .kind = LM_KEY_SEED, .initial = "1", .meaning = "The phase of a wave depends on the seed and on its numbers of periods along x and y."},
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

const struct lm_named *lm_named_of(const char *section)
{
    for (int k = 0; k < LM_NAMED_KINDS; k++) {
        size_t n = strlen(lm_named[k].kind);
        if (!strncmp(section, lm_named[k].kind, n) && section[n] == '.')
            return &lm_named[k];
    }
    return NULL;
}

int lm_named_count(const struct lm_named *kind, const struct lm_config *config)
{
    return *(const int *)((const char *)config + kind->used);
}

size_t lm_named_offset(const struct lm_named *kind, int k)
{
    return kind->list + (size_t)k * kind->size;
}

enum lm_meaning lm_key_meaning(const struct lm_key *key, const struct lm_config *config, const void *base)
{
    enum lm_meaning meaning = key->when ? LM_MEANINGLESS : LM_MEANINGFUL;
    for (const struct lm_key_when *w = key->when; w; w = w->otherwise) {
        const int *choices = (const int *)((const char *)(w->in_config ? config : base) + w->offset);
        for (int k = 0; k < w->count; k++)
            if (choices[k] == LM_NOT_CHOSEN)
                return LM_UNDECIDED;
            else if (w->values >> choices[k] & 1)
                meaning = LM_MEANINGFUL;
    }
    return meaning;
}
