#include "output/describe.h"

#include <stdio.h>

#include "config/facts.h"

static const char *const field_boundaries[] = {
    [LM_FIELDS_PERIODIC] = "periodic", [LM_CONDUCTING] = "conducting", [LM_OPEN] = "open",     [LM_INFLOW_B] = "inflow",
    [LM_INFLOW_E] = "inflow",          [LM_FIELDS_INFLOW] = "inflow",  [LM_RADIATING] = "open"};

void lm_describe_run(const struct lm_config *c, struct lm_openpmd_run *run, char solver[LM_SOLVER_TEXT])
{
    if (c->fields.solver == LM_SOLVER_NONE)
        snprintf(solver, LM_SOLVER_TEXT, "none: particles in given, constant fields");
    else
        snprintf(solver, LM_SOLVER_TEXT,
                 "hybrid: massless electrons, %s, T_e = %g, gamma = %g, eta = %s, eta_hyper = %g, density_floor = %g",
                 c->electrons.closure == LM_ISOTHERMAL ? "isothermal" : "polytropic", c->electrons.temperature,
                 c->electrons.closure == LM_ISOTHERMAL ? 1.0 : c->electrons.gamma, c->fields.eta, c->fields.eta_hyper,
                 c->fields.density_floor);
    *run = (struct lm_openpmd_run){.directory = c->output.directory,
                                   .grid = lm_config_grid(c),
                                   .units = lm_units_make(c->units.b0, c->units.n0),
                                   .dt = c->run.dt,
                                   .shape = c->particles.shape,
                                   .smoothing = c->fields.smoothing,
                                   .solver_parameters = solver,
                                   .compress = c->output.compress};
    for (int side = 0; side < LM_SIDES; side++) {
        const int is_given = c->fields.solver == LM_SOLVER_NONE && c->boundary[side] != LM_PERIODIC;
        run->boundary[side] = is_given ? "given" : field_boundaries[c->boundary_fields[side]];
        run->particle_boundary[side] = lm_boundary_names[c->boundary[side]];
    }
}
