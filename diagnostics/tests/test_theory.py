"""Linear theory against independent numbers: tabulated values, limits, and integrals done by brute force."""

import unittest

import numpy as np
from larmor import theory


def z_by_integration(zeta: complex) -> complex:
    """Z(zeta), Im zeta > 0, from its definition: trapezoidal rule, which converges exponentially for this integrand."""
    t = np.linspace(-12, 12, 200001)
    return complex(np.sum(np.exp(-t * t) / (t - zeta)) * (t[1] - t[0]) / np.sqrt(np.pi))


class PlasmaDispersionFunction(unittest.TestCase):
    def test_definition_in_the_upper_half_plane(self):
        for zeta in (0.3j, 1 + 0.2j, -2.5 + 0.1j, 4 + 1j, 0.01 + 3j, -7 + 0.5j):
            self.assertLess(abs(theory.plasma_z(zeta) / z_by_integration(zeta) - 1), 1e-11, zeta)

    def test_known_values(self):
        """w from Abramowitz and Stegun, and to more digits from the series and the error function."""
        root = np.sqrt(np.pi)
        self.assertAlmostEqual(abs(theory.plasma_z(0) - 1j * root), 0, delta=1e-12)
        self.assertAlmostEqual(abs(theory.plasma_z(1j) - 1j * root * 0.427583576155807), 0, delta=1e-12)  # e erfc(1)
        self.assertAlmostEqual(abs(theory.plasma_z(1) - (-1.07615901382554 + 1j * root * np.exp(-1))), 0, delta=1e-11)

    def test_reflection_between_the_half_planes(self):
        """Z(conj zeta) = conj[Z(zeta) - 2 i sqrt(pi) exp(-zeta^2)], which joins the two formulas."""
        x, y = np.meshgrid(np.linspace(-5, 5, 41), np.linspace(0.05, 3, 20))
        zeta = x + 1j * y
        expected = np.conj(theory.plasma_z(zeta) - 2j * np.sqrt(np.pi) * np.exp(-zeta**2))
        error = np.abs(theory.plasma_z(np.conj(zeta)) - expected) / np.maximum(np.abs(expected), 1)
        self.assertLess(error.max(), 1e-11)

    def test_differential_equation(self):
        """Z' from its formula equals the slope of Z."""
        for zeta in (0.7 - 0.3j, 2 + 0.5j, -1.2 - 1.1j):
            h = 1e-4
            slope = (8 * (theory.plasma_z(zeta + h) - theory.plasma_z(zeta - h))
                     - (theory.plasma_z(zeta + 2 * h) - theory.plasma_z(zeta - 2 * h))) / (12 * h)
            self.assertLess(abs(theory.plasma_z_prime(zeta) - slope), 1e-10)

    def test_asymptote(self):
        zeta = 40 + 1j
        series = -(1 / zeta) * (1 + 1 / (2 * zeta**2) + 3 / (4 * zeta**4) + 15 / (8 * zeta**6))
        self.assertLess(abs(theory.plasma_z(zeta) / series - 1), 1e-11)


class DecayOfAnAlfvenWave(unittest.TestCase):
    def test_mhd_limit_is_the_polynomial_of_derby(self):
        """Derby (1978): frequencies and wave numbers over those of the mother wave. The sixth root is omega = k."""
        for amplitude, beta, k in ((0.1, 0.1, 1.5), (0.5, 0.1, 1.3), (0.5, 0.5, 1.2), (1.0, 0.05, 2.0), (0.3, 1.5, 0.7)):
            x = np.polynomial.Polynomial([0, 1])
            derby = ((x**2 - beta * k**2) * (x - k) * ((x + k)**2 - 4)
                     - amplitude**2 * k**2 * (x**3 + x**2 * k - 3 * x + k))
            expected = np.sort_complex(np.append(derby.roots(), k))
            for branch in "LR":
                found = np.linalg.eigvals(theory.decay_matrix(k, 1.0, amplitude, beta, branch, hall=0.0))
                np.testing.assert_allclose(np.sort_complex(np.round(found, 9)), np.round(expected, 9), atol=1e-6)

    def test_small_amplitude_leaves_sound_and_the_cold_waves(self):
        k, k0, sound2 = 0.7, 0.3, 0.2
        for branch, sign in (("L", 1), ("R", -1)):
            frame = sign * float(theory.cold_parallel(k0, branch))
            up, down = k + sign * k0, k - sign * k0
            expected = [k * sound2**0.5, -k * sound2**0.5]
            for wave in "LR":
                turn = 1 if wave == "L" else -1
                expected += [turn * float(theory.cold_parallel(abs(up), wave)) - frame,
                             -turn * float(theory.cold_parallel(abs(down), wave)) + frame]
            found = np.linalg.eigvals(theory.decay_matrix(k, k0, 0.0, sound2, branch))
            np.testing.assert_allclose(np.sort(found.real), np.sort(expected), atol=1e-12)

    def test_three_waves_at_small_amplitude(self):
        """The fastest growth is where omega_s(k) + omega_A(k - k0) = omega0: sound, and a wave of the same hand backwards."""
        k0, sound2 = 0.3, 0.09
        for branch in "LR":
            ks = np.linspace(1.05, 2, 2000) * k0
            best = ks[np.argmax([theory.decay(k, k0, 0.01, sound2, branch).imag for k in ks])]
            mismatch = best * sound2**0.5 + theory.cold_parallel(best - k0, branch) - theory.cold_parallel(k0, branch)
            self.assertAlmostEqual(float(mismatch), 0, delta=2e-3 * k0)

    def test_kinetic_ions(self):
        """Cold ones are a fluid, and cool ones a fluid of pressure 3 n T_i. With T_i = T_e less than half of the growth is left."""
        for branch in "LR":
            case = (0.6, 0.4, 0.3, 0.1)
            fluid = theory.decay(0.6, 0.4, 0.3, 0.1, branch)
            self.assertLess(abs(theory.decay_kinetic(*case, 1e-5, branch) - fluid), 1e-4)
            cool = theory.decay(0.6, 0.4, 0.3, 0.1 + 3 * 4e-4, branch)
            self.assertLess(abs(theory.decay_kinetic(*case, 4e-4, branch) - cool), 1e-4)
            self.assertLess(theory.decay_kinetic(*case, 0.1, branch).imag, 0.5 * fluid.imag)


class ColdWaves(unittest.TestCase):
    K = np.array([0.1, 0.2, 0.5, 1, 2])

    def test_tabulated_frequencies(self):
        np.testing.assert_allclose(theory.cold_parallel(self.K, "R"), [0.10512, 0.22100, 0.64039, 1.61803, 4.82843],
                                   atol=6e-6)
        np.testing.assert_allclose(theory.cold_parallel(self.K, "L"), [0.09512, 0.18100, 0.39039, 0.61803, 0.82843],
                                   atol=6e-6)

    def test_kinetic_dispersion_in_the_cold_limit(self):
        for branch in "RL":
            for t in (0.0, 1e-8):
                for k in self.K:
                    omega = theory.cold_parallel(k, branch)
                    found = theory.parallel_root(k, branch, [theory.Ions(1.0, t_par=t)], omega * 1.01)
                    self.assertLess(abs(found - omega), 1e-5)

    def test_resistive_damping(self):
        self.assertAlmostEqual(theory.cold_parallel(0.5, "R", eta=0.02).imag, -0.003106, delta=1e-6)
        self.assertAlmostEqual(theory.cold_parallel(0.5, "L", eta=0.02).imag, -0.001894, delta=1e-6)
        hyper = theory.cold_parallel(0.5, "R", eta_hyper=0.08)  # eta_H k^4 = eta k^2
        self.assertAlmostEqual(hyper.imag, -0.003106, delta=1e-6)

    def test_resistive_waves_satisfy_the_linear_equations(self):
        """b and u of the root, put into Faraday, Ohm and the momentum equation with B0 = x."""
        k, eta = 0.7, 0.05
        for friction in (True, False):
            for branch, sense in (("L", 1), ("R", -1)):
                omega = theory.cold_parallel(k, branch, eta=eta, friction=friction)
                w = omega if sense == 1 else -np.conj(omega)  # b = B_y + i B_z ~ exp(i (k x - w t))
                current = -k  # J_y + i J_z for b = 1
                u = (-1j * current + (0 if friction else eta) * current) / (-1j * w)
                electric = 1j * u - 1j * current + eta * current
                self.assertLess(abs(-1j * w - k * electric), 1e-12, (friction, branch))

    def test_oblique_waves_along_and_across_b(self):
        for k in (0.1, 0.5, 2.0):
            for g in (0.0, 0.3, 1.5):
                expected = sorted([k * np.sqrt(g), *(float(theory.cold_parallel(k, branch)) for branch in "LR")])
                np.testing.assert_allclose(theory.cold_oblique(k, 0.0, g), expected, rtol=1e-6)
                across = theory.cold_oblique(k, np.pi / 2, g)
                np.testing.assert_allclose(across, [0, 0, theory.fast_perpendicular(k, g)], atol=1e-7)

    def test_oblique_waves_are_those_of_mhd_at_small_k(self):
        k, angle, g = 1e-3, 0.8, 0.4
        root = np.sqrt((1 + g)**2 - 4 * g * np.cos(angle)**2)
        expected = k * np.array([np.sqrt((1 + g - root) / 2), np.cos(angle), np.sqrt((1 + g + root) / 2)])
        np.testing.assert_allclose(theory.cold_oblique(k, angle, g), expected, rtol=1e-5)

    def test_oblique_waves_are_eigenvalues_of_the_linear_equations(self):
        """d/dt of (n, u, b_y, b_z) ~ exp(i k x) from continuity, momentum and Faraday with B0 = (c, s, 0)."""
        k, angle, g = 0.7, np.radians(50), 0.5
        b0 = np.array([np.cos(angle), np.sin(angle), 0])

        def slope(state):
            n, u, b = state[0], state[1:4], np.array([0, state[4], state[5]])
            current = 1j * k * np.array([0, -b[2], b[1]])
            force = np.cross(current, b0)
            electric = force - np.cross(u, b0)  # the gradient of the pressure has no curl
            db = -1j * k * np.array([0, -electric[2], electric[1]])
            return np.array([-1j * k * u[0], force[0] - 1j * k * g * n, force[1], force[2], db[1], db[2]])

        matrix = np.array([slope(column) for column in np.eye(6, dtype=complex)]).T
        omega = np.sort((1j * np.linalg.eigvals(matrix)).real)[3:]
        np.testing.assert_allclose(theory.cold_oblique(k, angle, g), omega, rtol=1e-9)

    def test_branch_is_checked(self):
        with self.assertRaises(ValueError):
            theory.cold_parallel(1.0, "X")


class KineticCases(unittest.TestCase):
    def assert_root(self, found, expected, digits):
        self.assertAlmostEqual(found.real, expected.real, delta=digits)
        self.assertAlmostEqual(found.imag, expected.imag, delta=digits)

    def test_warm_left_handed_wave(self):
        for k, omega in ((0.3, 0.2187 - 0.0016j), (0.4, 0.2440 - 0.0221j), (0.5, 0.2621 - 0.0660j)):
            self.assert_root(theory.parallel_root(k, "L", theory.warm(1), omega + 0.01), omega, 6e-5)

    def test_ion_acoustic(self):
        table = {10: 3.7288 - 0.0583j, 5: 3.0111 - 0.2322j, 3: 2.6265 - 0.4111j, 1: 2.0459 - 0.8513j}
        for ratio, omega in table.items():
            self.assert_root(theory.ion_acoustic(ratio), omega, 6e-5)

    def test_ion_acoustic_in_the_fluid_limit(self):
        self.assertAlmostEqual(theory.ion_acoustic(400).real, np.sqrt(400 + 3), delta=0.02)

    def test_resonant_beam(self):
        for m, gamma in ((4, 0.1925), (5, 0.2014), (6, 0.1698)):
            root = theory.parallel_root(2 * np.pi * m / 256, "R", theory.beam(0.02, 10, 0.5), 0.2 + 0.2j)
            self.assertAlmostEqual(root.imag, gamma, delta=6e-5)

    def test_growth_does_not_depend_on_the_frame(self):
        k, speed = 0.1227, 3.0
        ions = theory.beam(0.02, 10, 0.5)
        moved = [theory.Ions(s.density, s.drift + speed, s.t_par) for s in ions]
        root = theory.parallel_root(k, "R", ions, 0.2 + 0.2j)
        self.assertLess(abs(theory.parallel_root(k, "R", moved, root + k * speed) - root - k * speed), 1e-9)

    def test_anisotropies(self):
        cyclotron = theory.parallel_root(0.598, "L", theory.anisotropic(1, 3), 0.58 + 0.16j)
        self.assert_root(cyclotron, 0.581 + 0.1621j, 6e-4)
        cyclotron = theory.parallel_root(0.76, "L", theory.anisotropic(0.5, 4), 0.66 + 0.19j)
        self.assert_root(cyclotron, 0.657 + 0.1945j, 6e-4)
        firehose = theory.parallel_root(0.44, "R", theory.anisotropic(2.8, 0.4), 0.45 + 0.06j)
        self.assert_root(firehose, 0.454 + 0.0563j, 6e-4)

    def test_firehose_threshold_of_fluids(self):
        """At small k: omega^2 = k^2 (1 - (beta_par - beta_perp)/2)."""
        for ratio in (0.5, 1.2):
            k, ions = 0.003, theory.anisotropic(1.0, ratio)
            expected = k * np.sqrt(1 - 0.5 * (1 - ratio))
            self.assertAlmostEqual(theory.parallel_root(k, "L", ions, expected).real / expected, 1, delta=0.01)

    def test_follow_keeps_to_the_branch(self):
        ks = np.linspace(0.05, 2, 60)
        roots = theory.follow(ks, "R", [theory.Ions(1.0)], theory.cold_parallel(ks[0], "R"))
        np.testing.assert_allclose(roots.real, theory.cold_parallel(ks, "R"), rtol=1e-9)

    def test_newton_says_so_when_there_is_no_root(self):
        with self.assertRaises(ArithmeticError):
            theory.newton(lambda z: np.exp(z) + 0 * z, 0.3)


if __name__ == "__main__":
    unittest.main()
