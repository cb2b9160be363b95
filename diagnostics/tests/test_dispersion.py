"""The dispersion relation at any angle against independent facts: other formulas, limits, published thresholds, and
integrals over velocities and along orbits done by brute force."""

import unittest

import numpy as np
from larmor import dispersion, theory
from larmor.dispersion import Mode, Plasma
from larmor.theory import Ions


def bessel_by_integration(n: int, lam: float) -> float:
    """exp(-lam) I_n(lam) from its integral (Abramowitz and Stegun 9.6.19), by the trapezoidal rule."""
    phi = (np.arange(2000) + 0.5) * np.pi / 2000
    return float(np.mean(np.exp(-lam * (1 - np.cos(phi))) * np.cos(n * phi)))


def conductivity_along_orbits(omega: complex, k_perp: float, k_par: float, s: Ions, magnetic: bool) -> np.ndarray:
    """J_i for E (`magnetic`: for E and its b), from f1 = -Z/m times the integral of (E + v x b) . df0/dv along the
    orbits of the past (Im omega > 0)."""
    gyro, par, perp = s.charge / s.mass, s.t_par / s.mass, (s.t_perp or s.t_par) / s.mass
    nodes, weights = np.polynomial.hermite_e.hermegauss(16)
    weights = weights / weights.sum()
    u = np.linspace(-7, 7, 57)
    along = np.exp(-u * u / 2)
    along /= along.sum()
    grids = np.meshgrid(nodes, nodes, u, indexing="ij")
    vx, vy, vz = (np.sqrt(t) * grid.ravel() for t, grid in zip((perp, perp, par), grids))
    f = (weights[:, None, None] * weights[None, :, None] * along).ravel()
    panel, panel_weights = np.polynomial.legendre.leggauss(20)
    length = 30 / omega.imag
    total = np.zeros((3, 3), complex)
    for left in np.arange(0, length, 2.0):
        for age, weight in zip(left + panel + 1, panel_weights):  # tau = -age
            c, sn = np.cos(gyro * age), np.sin(gyro * age)
            x, y = c * vx - sn * vy, sn * vx + c * vy  # velocity at tau: turned back by the gyration
            z = vz + s.drift
            shift = (sn * vx + (c - 1) * vy) / gyro  # x(0) - x(tau), the integral of the velocity
            phase = np.exp(1j * (omega * age - k_perp * shift - k_par * z * age))
            slope = np.array([-x / perp, -y / perp, -vz / par])
            kv = np.array([k_perp, 0, k_par])
            v = np.array([x, y, z])
            for column in range(3):
                e = np.eye(3)[column]
                b = np.cross(kv, e) / omega * magnetic
                force = e[:, None] + np.cross(v.T, b).T
                f1 = -s.charge / s.mass * (force * slope).sum(axis=0) * phase * f * weight
                total[:, column] += s.charge * s.density * np.array([(vx * f1).sum(), (vy * f1).sum(), (z * f1).sum()])
    return total


def cold_frequencies(k: float, angle: float, plasma: Plasma) -> np.ndarray:
    """All omega of cold ions: eigenvalues of their linear fluid equations with Ohm's and Faraday's laws."""
    kv, axis, count = dispersion.wave_vector(k, angle), np.array([0.0, 0, 1]), len(plasma.ions)
    size = 4 * count + 3  # n, v of each species; b

    def rates(state: np.ndarray) -> np.ndarray:
        n, v, b = state[:count], state[count:-3].reshape(count, 3), state[-3:]
        current = 1j * np.cross(kv, b)
        moving = sum(s.charge * (s.density * v[i] + n[i] * s.drift * axis) for i, s in enumerate(plasma.ions))
        electrons = sum(s.charge * n[i] for i, s in enumerate(plasma.ions))
        resistive = (plasma.eta + plasma.eta_hyper * k * k) * current
        ideal = (np.cross(current - moving, axis) - plasma.flux * np.cross(axis, b)
                 - 1j * kv * plasma.gamma_te * electrons) / plasma.electrons
        e = ideal + resistive
        felt = ideal if plasma.friction else e
        out = np.zeros(size, complex)
        for i, s in enumerate(plasma.ions):
            out[i] = -1j * kv[2] * s.drift * n[i] - 1j * s.density * (kv @ v[i])
            acceleration = s.charge / s.mass * (felt + np.cross(s.drift * axis, b) + np.cross(v[i], axis))
            out[count + 3 * i:count + 3 * i + 3] = -1j * kv[2] * s.drift * v[i] + acceleration
        out[-3:] = -1j * np.cross(kv, e)
        return out

    return 1j * np.linalg.eigvals(np.array([rates(row) for row in np.eye(size, dtype=complex)]).T)


class ResponseOfTheIons(unittest.TestCase):
    def test_bessel_functions(self):
        for lam in (0.0, 1e-9, 0.3, 4.0, 250.0):
            found = dispersion.bessel_weights(lam)
            for n in (0, 1, 2, 5, 11):
                self.assertAlmostEqual(found[n], bessel_by_integration(n, lam), delta=1e-14)
            self.assertLess(found[-1], 1e-14)

    def test_large_arguments_join(self):
        for zeta in (10 * np.exp(1j * np.array([0.1, 1, 2, 3, -0.02, -3.1]))):
            inside, outside = (dispersion._one_plus_zeta_z(np.array([zeta * f]))[0] for f in (1 - 1e-9, 1 + 1e-9))
            self.assertLess(abs(inside / outside - 1), 1e-8)

    def test_conductivity_along_orbits(self):
        """A drifting bi-Maxwellian of another charge and mass, oblique k, complex omega."""
        s = Ions(0.7, drift=0.8, t_par=0.5, t_perp=1.4, charge=2.0, mass=4.0)
        for k_par, magnetic in ((0.6, True), (-0.4, True), (0.6, False)):
            omega = 0.9 + 0.8j
            expected = conductivity_along_orbits(omega, 0.7, k_par, s, magnetic)
            found = dispersion.conductivity(omega, 0.7, k_par, s, magnetic)
            self.assertLess(np.abs(found - expected).max() / np.abs(expected).max(), 1e-8)

    def test_electric_force_alone(self):
        """The b of a wave does not act on a Maxwellian at rest, and it does on others."""
        rest, moving = Ions(1.0, t_par=0.5), Ions(1.0, t_par=0.5, drift=1.0)
        both = [dispersion.conductivity(0.8 + 0.1j, 0.5, 0.7, rest, magnetic) for magnetic in (True, False)]
        self.assertLess(np.abs(both[0] - both[1]).max(), 1e-12)
        both = [dispersion.conductivity(0.8 + 0.1j, 0.5, 0.7, moving, magnetic) for magnetic in (True, False)]
        self.assertGreater(np.abs(both[0] - both[1]).max(), 0.1)

    def test_limits_are_continuous(self):
        for t_perp in (None, 0.4):
            species = [Ions(1.0, 0.3, t_par, t_perp) for t_par in (0.0, 1e-9)]
            pair = [dispersion.conductivity(0.7 + 0.1j, 0.6, 0.5, s) for s in species]
            self.assertLess(np.abs(pair[0] - pair[1]).max(), 1e-6)
        s = Ions(1.0, 0.3, 0.5, 0.8)
        pair = [dispersion.conductivity(0.7 + 0.1j, 0.6, k_par, s) for k_par in (0.0, 1e-7)]
        self.assertLess(np.abs(pair[0] - pair[1]).max(), 1e-6)


class AlongB(unittest.TestCase):
    SPECIES = (theory.warm(1), theory.beam(0.02, 10, 0.5), theory.anisotropic(1, 3), theory.anisotropic(2.8, 0.4),
               [Ions(0.8, -0.2, 0.3), Ions(0.1, 0.5, 0.4, 1.0, charge=2, mass=4)])

    def test_is_the_parallel_dispersion_relation(self):
        """At angle 0, D_11 +- i D_12 is the determinant of the R or L wave, but for a factor."""
        for ions in self.SPECIES:
            for branch, sign in (("R", 1), ("L", -1)):
                for omega, k in ((0.3 + 0.2j, 0.2), (0.9 + 0.05j, 0.7), (0.4 - 0.1j, 0.5), (-0.2 + 0.3j, 1.1)):
                    d = dispersion.matrix(omega, k, 0.0, Plasma(ions, gamma_te=0.4))
                    expected = theory.parallel_dispersion(omega, k, branch, ions)
                    found = sign * omega * (d[0, 0] + 1j * sign * d[0, 1])
                    self.assertLess(abs(found - expected), 1e-10 * abs(k * k + abs(expected)), (branch, omega, k))

    def test_roots(self):
        cases = ((theory.anisotropic(1, 3), "L", 0.598, 0.58 + 0.16j),
                 (theory.anisotropic(2.8, 0.4), "R", 0.44, 0.45 + 0.06j),
                 (theory.beam(0.02, 10, 0.5), "R", 0.1227, 0.2 + 0.2j), (theory.warm(1), "L", 0.4, 0.25 - 0.02j))
        for ions, branch, k, guess in cases:
            expected = theory.parallel_root(k, branch, ions, guess)
            self.assertLess(abs(dispersion.root(k, 0.0, Plasma(ions), expected * 1.01) - expected), 1e-8)

    def test_ion_acoustic(self):
        for ratio in (10, 3, 1):
            k, t = 0.3, 0.5
            expected = theory.ion_acoustic(ratio) * k * np.sqrt(t)
            found = dispersion.root(k, 0.0, Plasma([Ions(1.0, t_par=t)], gamma_te=ratio * t), expected * 1.02)
            self.assertLess(abs(found - expected), 1e-8)


class ColdPlasma(unittest.TestCase):
    def test_hall_mhd(self):
        """(w^2 - k_par^2) (w^4 - k^2 (1 + c^2) w^2 + k^2 k_par^2 c^2) = k_par^2 k^2 w^2 (w^2 - k^2 c^2) with
        c^2 = gamma T_e: Hall MHD of electrons without mass."""
        for k, angle, c2 in ((0.3, 0.5, 0.2), (1.2, 1.2, 0.6), (3.0, 0.9, 0.0)):
            par = (k * np.cos(angle)) ** 2
            left = np.polymul([1, -par], [1, -k * k * (1 + c2), k * k * par * c2])
            right = par * k * k * np.array([1, -k * k * c2, 0])
            for square in np.roots(np.polysub(left, right)):
                if square > 1e-12:
                    omega = np.sqrt(square.real)
                    found = dispersion.root(k, angle, Plasma([Ions(1.0)], c2), omega * 1.002)
                    self.assertLess(abs(found - omega), 1e-8 * omega)

    def test_several_streams_with_resistivity(self):
        """Every frequency of the equations of cold fluids is a root."""
        ions = [Ions(0.8, -0.3), Ions(0.1, 0.7, charge=2, mass=4)]
        for friction in (True, False):
            for k, angle in ((0.4, 0.0), (0.7, 0.6), (1.1, 1.3)):
                plasma = Plasma(ions, 0.3, eta=0.03, eta_hyper=0.01, friction=friction)
                for omega in cold_frequencies(k, angle, plasma):
                    if abs(omega) < 1e-6:  # b along k, which Faraday's law does not change
                        continue
                    found = dispersion.root(k, angle, plasma, omega * (1 + 1e-5))
                    self.assertLess(abs(found - omega), 1e-7 * max(abs(omega), 0.1), (friction, k, angle, omega))


class AcrossB(unittest.TestCase):
    def test_fast_wave(self):
        """Ions across B are compressed with gamma = 2: omega^2 = k^2 (1 + 2 T_perp + gamma T_e) for small k."""
        for t_perp, c2 in ((0.0, 0.0), (0.5, 0.3), (1.5, 1.0)):
            k = 0.01
            expected = k * np.sqrt(1 + 2 * t_perp + c2)
            found = dispersion.root(k, np.pi / 2, Plasma([Ions(1.0, t_par=0.2, t_perp=t_perp)], c2), expected * 1.01)
            self.assertLess(abs(found / expected - 1), 1e-4)

    def test_bernstein_waves(self):
        """Where k is large the wave is electrostatic and the ions' current along k vanishes:
        sum n^2 exp(-lam) I_n / (omega^2 - n^2) = 0, with one zero between neighbouring harmonics."""
        k = 200.0
        for lam in (0.7, 3.0):
            weights = [bessel_by_integration(n, lam) for n in range(40)]
            for n in (1, 2, 3):
                low, high = n + 1e-9, n + 1 - 1e-9
                while high - low > 1e-12:  # the sum falls from +inf to -inf
                    middle = (low + high) / 2
                    value = sum(j * j * weights[j] / (middle**2 - j * j) for j in range(1, 40))
                    low, high = (middle, high) if value > 0 else (low, middle)
                found = dispersion.root(k, np.pi / 2, Plasma([Ions(1.0, t_par=lam / k**2)]), low)
                self.assertLess(abs(found - low), 1e-3, (lam, n))


class LongWaves(unittest.TestCase):
    def test_alfven_wave(self):
        """omega = k_par sqrt(1 - (beta_par - beta_perp)/2) for k -> 0 at any angle."""
        for ratio in (1.0, 0.5, 1.3):
            for angle in (0.3, 0.9, 1.3):
                k, plasma = 0.002, Plasma(theory.anisotropic(0.8, ratio), 0.2)
                expected = k * np.cos(angle) * np.sqrt(1 - 0.4 * (1 - ratio))
                found = dispersion.root(k, angle, plasma, expected)
                self.assertLess(abs(found / expected - 1), 1e-3, (ratio, angle))

    def test_mirror_growth(self):
        """Long waves with cold electrons (Hasegawa 1969, with the tension and the inertia of the field lines):
        1 + beta_perp - beta_perp r (1 + zeta Z) + cot^2 (1 + (beta_perp - beta_par)/2 - beta_par zeta^2) = 0,
        r = T_perp/T_par, zeta = omega/(k_par sqrt(2 T_par))."""
        for beta, ratio, angle in ((1.0, 2.5, 1.2), (4.0, 1.6, 1.3)):
            perp, cot2 = beta * ratio, np.tan(angle) ** -2

            def long_waves(zeta):
                inertia = 1 + (perp - beta) / 2 - beta * zeta**2
                return 1 + perp - perp * ratio * (1 + zeta * theory.plasma_z(zeta)) + cot2 * inertia

            zeta = theory.newton(long_waves, 0.2j)
            k = 1e-3
            expected = zeta * k * np.cos(angle) * np.sqrt(beta)
            self.assertGreater(zeta.imag, 0)
            found = dispersion.root(k, angle, Plasma(theory.anisotropic(beta, ratio)), expected * 1.05)
            self.assertLess(abs(found / expected - 1), 1e-4)

    def test_mirror_threshold(self):
        """beta_perp (r - 1) - (r - 1)^2 / (2 (1/beta_par + 1/beta_e)) = 1 for nearly perpendicular long waves and
        isothermal electrons; without them beta_perp (r - 1) = 1 (Hasegawa 1969; Hellinger 2007)."""
        k, angle = 0.01, np.pi / 2 - 0.01
        for beta, beta_e in ((2.0, 0.0), (2.0, 1.0)):
            def excess(ratio):
                electrons = 0.5 * (ratio - 1) ** 2 / (1 / beta + 1 / beta_e) if beta_e else 0
                return beta * ratio * (ratio - 1) - electrons - 1

            low, high = 1.0, 3.0
            while high - low > 1e-12:
                low, high = ((low + high) / 2, high) if excess((low + high) / 2) < 0 else (low, (low + high) / 2)
            for ratio, sign in ((low * 1.01, 1), (low * 0.99, -1)):
                plasma = Plasma(theory.anisotropic(beta, ratio), beta_e / 2)
                found = dispersion.root(k, angle, plasma, sign * 2e-6j)
                self.assertEqual(np.sign(found.imag), sign, (beta_e, ratio, found))
                self.assertLess(abs(found.real), 1e-9)


class Thresholds(unittest.TestCase):
    """T_perp/T_par = 1 + a/(beta_par - beta_0)^b where the fastest mode grows with gamma = 1e-3, beta_e = 1.

    Fits of Hellinger, Travnicek, Kasper and Lazarus, Geophys. Res. Lett. 33 (2006) L09101, to linear theory with
    kinetic electrons. They are good to some per cent; the tolerance is 5 % of the ratio, fixed beforehand."""

    def ratio(self, beta: float, a: float, b: float, zero: float) -> float:
        return 1 + a / (beta - zero) ** b

    def assert_threshold(self, beta, start, mode, fit, turn):
        expected = self.ratio(beta, *fit)
        found, _ = dispersion.threshold(lambda ratio: Plasma(theory.anisotropic(beta, ratio), 0.5), start * expected,
                                        expected, 1e-3, mode, turn)
        self.assertLess(abs(found / expected - 1), 0.05, (beta, found, expected))

    def test_proton_cyclotron(self):
        for beta in (0.3, 1.0, 5.0):
            self.assert_threshold(beta, 1.3, Mode(0.5, 0.0, 0.4 + 0.1j), (0.43, 0.42, -0.0004), False)

    def test_mirror(self):
        for beta in (1.0, 5.0):
            self.assert_threshold(beta, 1.3, Mode(0.4, 1.1, 0.05j), (0.77, 0.76, -0.016), True)

    def test_parallel_firehose(self):
        for beta in (2.0, 5.0):
            self.assert_threshold(beta, 0.7, Mode(0.4, 0.0, 0.4 + 0.05j), (-0.47, 0.53, 0.59), False)

    def test_oblique_firehose(self):
        for beta, k in ((3.0, 0.4), (8.0, 0.25)):
            self.assert_threshold(beta, 0.8, Mode(k, 0.8, 0.05j), (-1.4, 1.0, -0.11), True)


class Branches(unittest.TestCase):
    def test_follow_in_k_and_in_the_angle(self):
        plasma = Plasma([Ions(1.0)], 0.0)
        ks = np.linspace(0.05, 2, 60)
        along = dispersion.follow(ks, 0.0, plasma, theory.cold_parallel(ks[0], "R"))
        np.testing.assert_allclose(along.real, theory.cold_parallel(ks, "R"), rtol=1e-8)
        turned = dispersion.follow(0.5, np.linspace(0, 1.2, 20), plasma, theory.cold_parallel(0.5, "R"))
        cold = cold_frequencies(0.5, 1.2, plasma)
        self.assertLess(np.abs(cold - turned[-1]).min(), 1e-8)

    def test_fastest(self):
        """No neighbour grows faster, and the beam's fastest wave is that of theory.follow."""
        plasma = Plasma(theory.beam(0.02, 10, 0.5))
        mode = dispersion.fastest(plasma, 0.1, 0.0, 0.2 + 0.2j, turn=False)
        rates = theory.follow(np.linspace(0.09, 0.15, 200), "R", plasma.ions, 0.2 + 0.2j).imag
        self.assertAlmostEqual(mode.omega.imag, rates.max(), delta=1e-5)

    def test_polarisation(self):
        """R and L along B; compression in phase with B_par in the fast wave, in antiphase in the mirror mode."""
        plasma = Plasma([Ions(1.0)])
        for branch, hand in (("R", -1), ("L", 1)):
            mode = Mode(0.5, 0.0, dispersion.root(0.5, 0.0, plasma, theory.cold_parallel(0.5, branch)))
            self.assertAlmostEqual(dispersion.polarisation(mode, plasma).handedness, hand, delta=1e-6)
        mode = Mode(0.3, np.pi / 2, dispersion.root(0.3, np.pi / 2, plasma, 0.3))
        fast = dispersion.polarisation(mode, plasma)
        self.assertAlmostEqual(fast.electrons / fast.b[2], 1, delta=1e-6)  # n/B is frozen
        plasma = Plasma(theory.anisotropic(4, 1.8))
        mirror = dispersion.polarisation(dispersion.fastest(plasma, 0.3, 1.2, 0.05j), plasma)
        ratio = mirror.electrons / mirror.b[2]
        self.assertLess(ratio.real, -0.1)
        self.assertLess(abs(ratio.imag), 1e-6)


if __name__ == "__main__":
    unittest.main()
