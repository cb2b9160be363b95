/* SI values of the normalised units. */
#ifndef LARMOR_BASE_UNITS_H
#define LARMOR_BASE_UNITS_H

#ifdef __cplusplus
extern "C" {
#endif

/* SI value of one normalised unit of each kind (Z = 1 ions of mass m_p). */
struct lm_units {
    double length, time, velocity, magnetic, electric, current, density, mass, charge;
    double pressure, momentum; /* momentum of one ion: m_p v_A */
};

/* b0 [T] and n0 [m^-3], both > 0, or 0 for "not given" (then 1 T and 1 m^-3). */
struct lm_units lm_units_make(double b0, double n0);

#ifdef __cplusplus
}
#endif
#endif
