/* SI values of the normalised units. */
#ifndef LARMOR_BASE_UNITS_H
#define LARMOR_BASE_UNITS_H

#ifdef __cplusplus
extern "C" {
#endif

/* SI value of one normalised unit of each kind (Z = 1 ions of mass m_p). */
struct lm_units {
    int is_si; /* 0: the configuration gives no scales; all values are 1 */
    double length, time, velocity, magnetic, electric, current, density, mass, charge;
    double pressure, momentum; /* momentum of one ion: m_p v_A */
};

/* The units for b0 [T] and n0 [m^-3], both > 0; or both 0: the configuration does not set them. */
struct lm_units lm_units_make(double b0, double n0);

#ifdef __cplusplus
}
#endif
#endif
