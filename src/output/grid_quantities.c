#include "output/grid_quantities.h"

#include "output/openpmd.h"

static const struct lm_cell_offset centres[3] = {{0, 0}, {0, 0}, {0, 0}};

const struct lm_grid_quantity lm_grid_quantities[LM_GRID_QUANTITIES] = {
    [LM_Q_B] = {LM_B, 3, "B", LM_MESH_B, {"bx", "by", "bz"}, "B0", lm_places_of_b},
    [LM_Q_E] = {LM_E, 3, "E", LM_MESH_E, {"ex", "ey", "ez"}, "v_A B0", lm_places_of_e},
    [LM_Q_ION_CURRENT] = {LM_J_OLD, 3, "J_i", LM_MESH_J, {"jx_i", "jy_i", "jz_i"}, "e n0 v_A", centres, -0.5, 1},
    [LM_Q_CHARGE_DENSITY] = {LM_N_OLD, 1, "rho", LM_MESH_CHARGE_DENSITY, {"rho"}, "e n0", centres, 0, 1},
    [LM_Q_ELECTRON_PRESSURE] = {LM_PRESSURE, 1, "p_e", LM_MESH_PRESSURE, {"p_e"}, "B0^2/mu0", centres, 0, 1},
};
