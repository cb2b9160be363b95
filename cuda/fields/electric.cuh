/* Ohm's law as a warp computes it: 32 columns, one lane a column, row by row upwards. Registers keep what a row needs
 * of the rows below it. Shuffles, or the caller, bring what it needs of the neighbouring columns. Columns and rows at
 * the edges of a warp's or a block's part are computed twice. The bodies are in larmor/physics/fields/ohm.h.
 */
#ifndef LARMOR_FIELDS_ELECTRIC_CUH
#define LARMOR_FIELDS_ELECTRIC_CUH

#include "core/grid.cuh"

#include "larmor/physics/fields/fields.h"

namespace
{

enum { HALO = 2 }; /* columns and rows on each side of those whose E, or dB/dt, is wanted */

/* What Ohm's law reads in a cell besides B, and some of the cell to the right. */
struct plasma {
    struct lm_vector ji;
    double per_density, eta, eta_right;
    double pressure[2]; /* LM_PRESSURE_E, where E has that part */
};

/* Whether E has the part of the pressure; and where the ions take that from. */
enum pressure_part { NO_PRESSURE, ON_FACES, AT_CENTRES };

/* E of a strip, with or without the part of the pressure. Given B of row j, `advance` returns E of row j - 1: in lanes
 * HALO .. 30, and once rows j - 3 .. j have been given. With PUSH it finds out what the ions feel there, too. */
template <bool HYPER, pressure_part PRESSURE, bool PUSH> struct electric_rows {
    struct lm_vector b, j, j_below;  /* of row j - 1; j_below of j - 2 */
    struct lm_motional motional;     /* of row j - 1 */
    struct lm_vector b_centre;       /* of row j */
    struct lm_vector push_e, push_b; /* with PUSH: at the centres of row j - 1, without a pressure on the faces */
    double resistive_below;          /* with PUSH: the resistive part of E_y, of row j - 2 */
    double pressure_below;           /* with PUSH: that of the pressure */
    double bz_left;
    plasma here;

    /* by_left and bz_left_new belong to b_new, in the column to the left. */
    __device__ __forceinline__ void advance(const struct lm_vector &b_new, double by_left, double bz_left_new,
                                            const plasma &above, struct lm_ohm o, double total[3])
    {
        if (!HYPER)
            o.eta_hyper = 0.0;
        if (PUSH)
            o = lm_with_all_eta(o);
        /* Patches of 2 x 2 cells whose last one is cell (i, j): what the bodies read of it and its neighbours. */
        const double bx[4] = {0, b.x, 0, b_new.x}, by[4] = {0, 0, by_left, b_new.y},
                     bz[4] = {bz_left, b.z, bz_left_new, b_new.z};
        struct lm_view bv = {bx + 3, by + 3, bz + 3, 2};
        struct lm_vector j_new = lm_curl_b(bv, o.inv_dx, o.inv_dy);
        const double jx[4] = {0, 0, left(j_new.x), j_new.x}, jy[4] = {0, j.y, 0, j_new.y}, jz[4] = {0, 0, 0, j_new.z};
        struct lm_view jv = {jx + 3, jy + 3, jz + 3, 2};
        const struct lm_motional m_new = lm_motional_field(jv, bv, above.ji, above.per_density);
        push_b = b_centre;
        b_centre = lm_b_centre(bv);

        /* Patches whose first cell is (i, j - 1); of J, its four neighbours. */
        const double mx[2] = {motional.field.x, right(motional.field.x)}, my[3] = {motional.field.y, 0, m_new.field.y},
                     mz[1] = {motional.field.z}, slip[3] = {motional.slip, right(motional.slip), m_new.slip};
        const double eta[3] = {here.eta, here.eta_right, above.eta};
        double cx[9], cy[9], cz[9];
        cross(cx, j_below.x, j.x, j_new.x);
        cross(cy, j_below.y, j.y, j_new.y);
        cross(cz, j_below.z, j.z, j_new.z);
        const struct lm_ohm_view v = {
            {mx, my, mz, 2},
            {&b.x, &b.y, &b.z, 2},
            {cx + 4, cy + 4, cz + 4, 3},
            slip,
            eta,
            {PRESSURE != NO_PRESSURE ? here.pressure : NULL, PRESSURE != NO_PRESSURE ? here.pressure + 1 : NULL}};
        double resistive[3];
        lm_electric_field(v, &o, total, resistive);
        if (PUSH)
            find_push(resistive, o);

        b = b_new;
        bz_left = bz_left_new;
        j_below = j;
        j = j_new;
        motional = m_new;
        here = above;
    }

  private:
    __device__ __forceinline__ void find_push(const double resistive[3], const struct lm_ohm &o)
    {
        const double x[2] = {left(resistive[0]), resistive[0]}, y[2] = {resistive_below, resistive[1]};
        const struct lm_view felt = {x + 1, y + 1, resistive + 2, 1}, none = {NULL, NULL, NULL, 0};
        /* More calls than one, so that the patches stay in registers. */
        if (PRESSURE == AT_CENTRES) {
            const double px[2] = {left(here.pressure[0]), here.pressure[0]}, py[2] = {pressure_below, here.pressure[1]};
            const struct lm_view pressure = {px + 1, py + 1, NULL, 1};
            if (o.friction)
                push_e = lm_push_field(motional.field, motional.slip, push_b, none, pressure);
            else
                push_e = lm_push_field(motional.field, motional.slip, push_b, felt, pressure);
        } else if (o.friction) {
            push_e = lm_push_field(motional.field, motional.slip, push_b, none, none);
        } else {
            push_e = lm_push_field(motional.field, motional.slip, push_b, felt, none);
        }
        resistive_below = resistive[1];
        pressure_below = here.pressure[1];
    }

    __device__ __forceinline__ static void cross(double patch[9], double below, double centre, double above)
    {
        patch[4] = centre;
        if (HYPER) {
            patch[1] = below;
            patch[3] = left(centre);
            patch[5] = right(centre);
            patch[7] = above;
        }
    }
};

} // namespace

#endif
