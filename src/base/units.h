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

/* The units for b0 [T] and n0 [m^-3], both > 0; 0 means that the configuration does not set it, and 1 is taken. */
struct lm_units lm_units_make(double b0, double n0);

#ifdef __cplusplus
}
#endif
#endif
