#include "base/units.h"

#include <math.h>
#include <string.h>

struct lm_units lm_units_make(double b0, double n0)
{
    const double m_p = 1.67262192595e-27, e = 1.602176634e-19, mu0 = 1.25663706127e-6; /* CODATA 2022 */
    const double b = b0, n = n0;
    if (!(b0 > 0 && n0 > 0))
        return (struct lm_units){0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct lm_units u = {.is_si = 1, .magnetic = b, .density = n, .mass = m_p, .charge = e};
    u.velocity = b / sqrt(mu0 * n * m_p);
    u.time = m_p / (e * b);
    u.length = sqrt(m_p / (mu0 * n)) / e; /* c / omega_pi = v_A / Omega_ci */
    u.electric = u.velocity * b;
    u.current = e * n * u.velocity;
    u.pressure = b * b / mu0;
    u.momentum = m_p * u.velocity;
    return u;
}

void lm_si_units(const struct lm_units *u, struct lm_si_unit out[LM_SI_UNITS])
{
    const double m = 1 / u->length, s = 1 / u->time, tesla = 1 / u->magnetic, volt = 1 / (u->electric * u->length);
    const double ev = u->charge / (u->mass * u->velocity * u->velocity), ohm = u->current * u->length / u->electric;
    const struct lm_si_unit all[LM_SI_UNITS] = {{"m", m},
                                                {"km", 1e3 * m},
                                                {"cm", 1e-2 * m},
                                                {"mm", 1e-3 * m},
                                                {"s", s},
                                                {"ms", 1e-3 * s},
                                                {"us", 1e-6 * s},
                                                {"T", tesla},
                                                {"mT", 1e-3 * tesla},
                                                {"nT", 1e-9 * tesla},
                                                {"G", 1e-4 * tesla},
                                                {"V", volt},
                                                {"kV", 1e3 * volt},
                                                {"mV", 1e-3 * volt},
                                                {"eV", ev},
                                                {"keV", 1e3 * ev},
                                                {"ohm", ohm},
                                                {"per_m3", 1 / u->density},
                                                {"per_cm3", 1e6 / u->density}};
    memcpy(out, all, sizeof all);
}

int lm_is_si_unit(const char *name)
{
    const struct lm_units none = lm_units_make(0, 0);
    struct lm_si_unit units[LM_SI_UNITS];
    lm_si_units(&none, units);
    for (int k = 0; k < LM_SI_UNITS; k++)
        if (!strcmp(name, units[k].name))
            return 1;
    return 0;
}
