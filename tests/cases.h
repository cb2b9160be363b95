/* Runs whose fingerprints must be the same everywhere: with other threads, tiles, sort intervals, after restarts, on a
 * GPU. */
#ifndef LARMOR_TESTS_CASES_H
#define LARMOR_TESTS_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

enum { MOST_OVERRIDES = 9 };

struct run_case {
    const char *name, *file;
    const char *overrides[MOST_OVERRIDES];
};

static const struct run_case run_cases[] = {
    {"mix-linear-double", "mix.ini", {"particles.shape=linear", "particles.precision=double"}},
    {"mix-linear-single", "mix.ini", {"particles.shape=linear", "particles.precision=single"}},
    {"mix-quadratic-double", "mix.ini", {"particles.shape=quadratic", "particles.precision=double"}},
    {"mix-quadratic-single", "mix.ini", {"particles.shape=quadratic", "particles.precision=single"}},
    {"quiet-quadratic-double", "quiet.ini", {"particles.precision=double"}},
    {"quiet-linear-single", "quiet.ini", {"particles.shape=linear", "particles.precision=single"}},
    {"quiet-smoothed-double",
     "quiet.ini",
     {"particles.precision=double", "grid.nx=61", "grid.ny=7", "fields.smoothing=1", "fields.eta=0"}},
    {"heap-linear-double", "heap.ini", {"particles.shape=linear"}},
    {"heap-quadratic-single", "heap.ini", {"particles.shape=quadratic", "particles.precision=single"}},
    {"walls-linear-double", "walls.ini", {NULL}},
    {"walls-quadratic-single", "walls.ini", {"particles.shape=quadratic", "particles.precision=single"}},
    {"walls-around-double",
     "walls.ini",
     {"boundary.x_min=absorbing", "boundary.y_min=periodic", "boundary.y_max=periodic", "fields.smoothing=2",
      "fields.ey=0", "particles.shape=quadratic"}},
    {"box-linear-single",
     "walls.ini",
     {"grid.nx=3", "grid.ny=2", "grid.lx=0.75", "grid.ly=0.5", "boundary.x_max=reflecting", "boundary.y_min=reflecting",
      "particles.precision=single", "fields.smoothing=0"}},
    {"open-linear-double", "open.ini", {NULL}},
    {"open-quadratic-single", "open.ini", {"particles.shape=quadratic", "particles.precision=single"}},
    {"open-periodic-double",
     "open.ini",
     {"boundary.x_min=periodic", "boundary.x_max=periodic", "boundary.y_max=inflow", "species.wind.drift_y=-1",
      "particles.shape=quadratic", "body.moon.x=0.3"}},
    {"open-crossed-single",
     "open.ini",
     {"boundary.x_min=thermal", "boundary.x_min_temperature=1", "boundary.y_max=inflow", "particles.precision=single",
      "species.wind.drift_y=-2", "body.moon.particles=reflecting"}},
    {"hybrid-linear-double", "hybrid.ini", {NULL}},
    {"hybrid-quadratic-single", "hybrid.ini", {"particles.shape=quadratic", "particles.precision=single"}},
    {"hybrid-across-double",
     "hybrid.ini",
     {"boundary.y_min=periodic", "boundary.y_max=periodic", "fields.smoothing=2", "fields.electron_friction=off",
      "boundary.fields_x_max=inflow_b"}},
    {"hybrid-beyond-single",
     "hybrid.ini",
     {"boundary.fields_x_min=inflow_e", "fields.ey=3", "particles.precision=single", "boundary.fields_y_min=open",
      "electrons.closure=isothermal", "fields.smoothing=0", "boundary.y_max=thermal",
      "boundary.y_max_temperature=0.3"}},
    {"hybrid-sheared-double",
     "hybrid.ini",
     {"species.wind.drift_x=2+0.1*y", "species.wind.drift_y=0.3*sin(y)", "fields.bx=0.4", "fields.eta=0.02"}},
    {"hybrid-thin-double",
     "wide.ini",
     {"grid.ny=1", "grid.ly=0.25", "boundary.x_min=inflow", "boundary.fields_x_min=inflow", "boundary.x_max=absorbing",
      "boundary.y_min=reflecting", "boundary.y_max=thermal", "boundary.y_max_temperature=0.2", "fields.az=0"}},
    {"radiating-hybrid-double",
     "hybrid.ini",
     {"boundary.fields_x_max=radiating", "boundary.fields_y_max=radiating", "boundary.y_max=absorbing"}},
    {"radiating-periodic-double",
     "hybrid.ini",
     {"boundary.fields_x_min=radiating", "boundary.fields_x_max=radiating", "boundary.y_min=periodic",
      "boundary.y_max=periodic", "fields.smoothing=0", "particles.shape=quadratic"}},
    {"radiating-evolved-double",
     "hybrid.ini",
     {"boundary.fields_x_max=radiating", "boundary.y_min=periodic", "boundary.y_max=periodic",
      "electrons.closure=evolved", "electrons.courant=0.1", "fields.eta=0.02"}},
    {"radiating-turning-double", /* ions feel the mean of B */
     "wide.ini",
     {"boundary.x_min=inflow", "boundary.fields_x_min=inflow", "boundary.x_max=absorbing",
      "boundary.fields_x_max=radiating", "grid.nx=61", "grid.lx=15.25", "electrons.closure=polytropic"}},
    {"radiating-forced-single",
     "hybrid.ini",
     {"boundary.fields_x_max=radiating", "boundary.fields_y_min=radiating", "boundary.y_min=absorbing",
      "boundary.fields_y_max=radiating", "particles.precision=single", "species.alpha.force_y=0.2*sin(t)",
      "fields.smoothing=3", "species.wind.eta=0.01"}},
    {"radiating-filled-double",
     "hybrid.ini",
     {"boundary.fields_x_max=radiating", "boundary.fields_y_max=radiating", "boundary.y_max=absorbing",
      "species.wind.density=x < 12", "species.wind.drift_y=1"}},
    {"wide-plain-double", "wide.ini", {NULL}},
    {"middle-plain-double", "wide.ini", {"grid.nx=133", "grid.lx=33.25"}},
    {"wide-resistive-single",
     "wide.ini",
     {"particles.precision=single", "fields.eta=0.01*(1 + cos(kx*x))", "electrons.closure=polytropic",
      "electrons.gamma=1.4", "grid.nx=501", "grid.lx=125.25"}},
    {"narrow-plain-double", "wide.ini", {"grid.nx=13", "grid.ny=50", "grid.lx=3.25", "grid.ly=12.5"}},
    {"narrow-resistive-double",
     "wide.ini",
     {"grid.nx=1", "grid.ny=50", "grid.lx=0.25", "grid.ly=12.5", "fields.az=0", "fields.bx=0.4*cos(ky*y)",
      "fields.eta=1e-3"}},
    {"background-open-double", "background.ini", {"boundary.fields_x_max=open"}},
    {"background-slow-double",
     "background.ini",
     {"boundary.fields_x_min=radiating"}}, /* as the default of slow flows */
    {"carried-plain-double", "carried.ini", {NULL}},
    {"carried-others-single",
     "carried.ini",
     {"particles.precision=single", "background.gas.weno=9", "background.heat.weno=7", "background.dye.weno=3",
      "background.heat.smoothness=double"}},
    {"background-given-double",
     "background.ini",
     {"boundary.y_min=reflecting", "boundary.y_max=thermal", "boundary.y_max_temperature=0.2", "grid.nx=133",
      "background.gas.weno=3", "background.heat.smoothness=double", "background.dye.smoothness=double"}},
    {"gas-linear-double", "gas.ini", {NULL}},
    {"gas-quadratic-single", "gas.ini", {"particles.shape=quadratic", "particles.precision=single"}},
    {"gas-periodic-double",
     "gas.ini",
     {"boundary.y_min=periodic", "boundary.y_max=periodic", "body.moon.x=0.3", "particles.shape=quadratic",
      "background.gas.vx=1", "fields.solver=none"}},
    {"gas-sparse-single",
     "gas.ini",
     {"particles.precision=single", "species.beam.particles_per_cell=2", "species.wind.particles_per_cell=300",
      "species.wind.charge_exchange_rate=30", "species.beam.scattering_sigmas=1", "body.moon.particles=reflecting"}},
    {"ionisation-open-double", "ionisation.ini", {"boundary.fields_x_min=inflow", "boundary.fields_x_max=open"}},
    {"ionisation-quadratic-single",
     "ionisation.ini",
     {"particles.shape=quadratic", "particles.precision=single", "boundary.fields_x_min=inflow"}},
    {"ionisation-given-double",
     "ionisation.ini",
     {"boundary.x_max=thermal", "boundary.x_max_temperature=0.2", "boundary.y_min=reflecting",
      "boundary.y_max=absorbing", "fields.solver=none", "grid.nx=70", "ionisation.impact.frequency=200"}},
    {"births-periodic-double", "births.ini", {NULL}},
    {"births-quadratic-single",
     "births.ini",
     {"particles.shape=quadratic", "particles.precision=single", "grid.nx=9", "grid.ny=70", "background.gas.weno=3"}},
    {"gas-seldom-double",
     "gas.ini",
     {"species.beam.collide_every=3", "species.wind.collide_every=7", "boundary.y_min=periodic",
      "boundary.y_max=periodic"}},
    {"gas-plain-double",
     "gas.ini",
     {"background.gas.vx=0", "background.gas.vy=0", "species.beam.charge_exchange_cross_section=0",
      "species.wind.gas_drag_rate=0", "species.wind.charge_exchange_rate=0", "species.wind.lost_above_pitch=180"}},
    {"gas-plain-single",
     "gas.ini",
     {"background.gas.vx=0", "background.gas.vy=0", "species.beam.charge_exchange_cross_section=0",
      "species.wind.gas_drag_rate=0", "species.wind.charge_exchange_rate=0", "species.wind.lost_above_pitch=180",
      "particles.shape=quadratic", "particles.precision=single"}},
    {"narrow-hyper-single",
     "wide.ini",
     {"grid.nx=16", "grid.ny=3", "grid.lx=4", "grid.ly=0.75", "fields.eta_hyper=1e-4", "particles.precision=single"}},
    {"wide-hyper-double", "wide.ini", {"fields.eta_hyper=1e-4", "fields.eta=1e-3", "grid.nx=361", "grid.lx=90.25"}},
    {"electrons-hybrid-double",
     "hybrid.ini",
     {"electrons.closure=evolved", "electrons.conductivity=0.1", "electrons.conductivity_across=0.01",
      "fields.electron_friction=off", "electrons.weno=5"}},
    {"electrons-wide-single",
     "wide.ini",
     {"electrons.closure=evolved", "electrons.conductivity=0.05", "fields.eta=1e-3", "fields.eta_hyper=1e-5",
      "particles.precision=single", "electrons.smoothness=single", "grid.nx=133", "grid.lx=33.25"}},
    {"electrons-carried-double",
     "carried.ini",
     {"electrons.closure=evolved", "electrons.conductivity=0.02", "electrons.conductivity_across=0.02",
      "electrons.weno=9"}},
    {"electrons-void-double", /* B and the entropy take turns in rounds, up to three in a step */
     "carried.ini",
     {"electrons.closure=evolved", "electrons.conductivity=0.02", "electrons.temperature=2", "fields.bz=0.3",
      "species.p.density=(x - 18)^2 + (y - 10)^2 < 36 ? 1 : 0.02*(x > 30)"}},
    {"electrons-walls-double", /* sides that absorb the ions and conduct */
     "hybrid.ini",
     {"electrons.closure=evolved", "boundary.fields_x_max=conducting", "boundary.y_min=absorbing",
      "boundary.fields_y_min=conducting"}},
    {"exchange-hybrid-double",
     "hybrid.ini",
     {"electrons.closure=evolved", "electrons.conductivity=0.1", "species.wind.electron_heat_exchange_rate=0.2",
      "species.alpha.electron_heat_exchange_rate=2", "species.alpha.collide_every=3"}},
    {"exchange-gas-single",
     "gas.ini",
     {"electrons.closure=evolved", "particles.precision=single", "species.beam.electron_heat_exchange_rate=0.1",
      "species.wind.electron_heat_exchange_rate=0.02", "particles.shape=quadratic", "fields.density_floor=0.3",
      "run.dt=0.02"}},
    {"exchange-sparse-single",
     "wide.ini",
     {"electrons.closure=evolved", "particles.precision=single", "species.protons.electron_heat_exchange_rate=20",
      "species.protons.particles_per_cell=2", "grid.nx=133", "grid.lx=33.25", "fields.az=0"}},
    {"driven-double", "driven.ini", {NULL}},
    {"driven-quadratic-single", "driven.ini", {"particles.shape=quadratic", "particles.precision=single", "grid.nx=9"}},
    {"driven-sides-double", "driven_sides.ini", {NULL}},
    {"driven-sides-single",
     "driven_sides.ini",
     {"particles.precision=single", "particles.shape=quadratic", "boundary.fields_y_max=inflow_e",
      "fields.smoothing=2"}},
    {"driven-gap-double",
     "driven_sides.ini",
     {"species.protons.density=x > 0.25 && x < 9.25 && y > 0.25", "boundary.fields_y_min=inflow_e",
      "boundary.x_max=reflecting", "species.protons.force_x=0"}},
    {"driven-given-double",
     "walls.ini",
     {"fields.ex=0.3*sin(k*x - 5*t)", "fields.ez=0.1*cos(t)", "species.heavy.force_y=0.5*sin(3*t)*y"}},
    {"friction-double", "friction.ini", {NULL}},
    {"friction-quadratic-single",
     "friction.ini",
     {"particles.shape=quadratic", "particles.precision=single", "grid.nx=17", "electrons.closure=polytropic",
      "fields.smoothing=2"}},
    {"friction-sides-double", "driven_sides.ini", {"species.protons.eta=0.05*(1+J)", "species.protons.force_x=0"}},
    {"friction-sides-single",
     "driven_sides.ini",
     {"particles.precision=single", "particles.shape=quadratic", "boundary.fields_y_max=inflow_e", "fields.smoothing=2",
      "species.protons.eta=0.1"}},
};
enum { RUN_CASES = sizeof run_cases / sizeof *run_cases };

/* Where the case files and golden.txt lie: $LARMOR_TESTS or tests/. */
static inline const char *tests_directory(void)
{
    const char *d = getenv("LARMOR_TESTS");
    return d ? d : "tests";
}

/* Reads a case with more overrides on top; the caller frees the configuration. Ends the program when it cannot be read.
 */
static inline void case_config(const struct run_case *c, int count, const char *const *more, struct lm_config *config)
{
    char path[LM_MAX_PATH];
    const char *all[MOST_OVERRIDES + 8];
    int n = 0;
    for (int k = 0; k < MOST_OVERRIDES && c->overrides[k]; k++)
        all[n++] = c->overrides[k];
    for (int k = 0; k < count; k++)
        all[n++] = more[k];
    snprintf(path, sizeof path, "%s/cases/%s", tests_directory(), c->file);
    if (lm_config_read(path, n, all, config)) {
        fprintf(stderr, "%s\n", lm_error());
        exit(2);
    }
}

/* A case that is being run. */
struct case_state {
    struct lm_config *config;
    struct lm_sim *sim;
};

static inline void case_must(int status, const char *name)
{
    if (status) {
        fprintf(stderr, "%s: %s\n", name, lm_error());
        exit(1);
    }
}

/* Creates a case, at its start or from a checkpoint. */
static inline struct case_state case_open(const struct run_case *c, int count, const char *const *more,
                                          const char *restart)
{
    struct case_state s = {calloc(1, sizeof *s.config), NULL};
    struct lm_checkpoint head;
    case_config(c, count, more, s.config);
    case_must(lm_sim_create(s.config, &s.sim), c->name);
    case_must(restart ? restore_checkpoint(s.sim, restart, &head) : lm_sim_start(s.sim), c->name);
    return s;
}

/* Steps to `step`, or to the end of the run where that comes first. Returns the fingerprint there. */
static inline uint64_t case_advance(const struct run_case *c, struct case_state *s, int64_t step)
{
    uint64_t print = 0;
    while (s->sim->step < s->config->run.steps && s->sim->step < step) {
        case_must(lm_sim_check(s->sim), c->name);
        case_must(lm_sim_step(s->sim), c->name);
    }
    case_must(lm_sim_fingerprint(s->sim, &print), c->name);
    return print;
}

static inline void case_close(struct case_state *s)
{
    lm_sim_destroy(&s->sim);
    lm_config_free(s->config);
    free(s->config);
}

/* Runs a case to its end. */
static inline uint64_t case_run(const struct run_case *c, int count, const char *const *more)
{
    struct case_state s = case_open(c, count, more, NULL);
    uint64_t print = case_advance(c, &s, INT64_MAX);
    case_close(&s);
    return print;
}

/* Runs a case to `step`, through a checkpoint in `directory`, and on to its end with other overrides. */
static inline uint64_t case_run_restarted(const struct run_case *c, int count, const char *const *before,
                                          const char *const *after, int64_t step, const char *directory)
{
    char path[LM_MAX_PATH];
    struct lm_references none = {0};
    struct case_state s = case_open(c, count, before, NULL);
    case_advance(c, &s, step);
    snprintf(s.config->output.directory, sizeof s.config->output.directory, "%s", directory);
    case_must(lm_sim_save(s.sim, &none, 0, path), c->name);
    case_close(&s);
    s = case_open(c, count, after, path);
    uint64_t print = case_advance(c, &s, INT64_MAX);
    case_close(&s);
    return print;
}

/* The fingerprint that a GPU run has confirmed; 0 when golden.txt has none. */
static inline uint64_t golden_of(const char *name)
{
    char path[LM_MAX_PATH], word[128];
    unsigned long long print, found = 0;
    snprintf(path, sizeof path, "%s/golden.txt", tests_directory());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%127s %llx", word, &print) == 2)
        if (!strcmp(word, name))
            found = print;
    if (f)
        fclose(f);
    return found;
}

#endif
