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

/* The units of SI that a configuration with scales may use as numbers (500*km): their values in normalised units. */
enum { LM_SI_UNITS = 19 };
struct lm_si_unit {
    const char *name;
    double value;
};
void lm_si_units(const struct lm_units *units, struct lm_si_unit out[LM_SI_UNITS]);

/* 1 when it is the name of one of them. */
int lm_is_si_unit(const char *name);

#ifdef __cplusplus
}
#endif
#endif
