#include "base/units.h"

#include <math.h>

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
