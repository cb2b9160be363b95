"""Jump conditions of shocks against conservation laws and known limits, and the orbits of reflected ions."""

import unittest

import numpy as np
from larmor import shocks


class Shocks(unittest.TestCase):
    CASES = [(m, beta, np.radians(angle), gamma) for m in (2.5, 5, 9) for beta in (0.3, 1, 2)
             for angle in (0, 20, 45, 80, 90) for gamma in (5 / 3, 2)]

    def test_conservation_laws(self):
        """Mass, both components of momentum, energy and the tangential E, from the two sides of the shock."""
        def fluxes(n, u, v, p, b_n, b_t, gamma):
            e = u * b_t - b_n * v
            enthalpy = gamma / (gamma - 1) * p
            return np.array([n * u, n * u * u + p + b_t**2 / 2, n * u * v - b_n * b_t, e,
                             u * (n * (u * u + v * v) / 2 + enthalpy) + e * b_t])
        for m, beta, theta, gamma in self.CASES:
            with self.subTest(m=m, beta=beta, theta=theta, gamma=gamma):
                jump = shocks.shock_jump(m, beta, theta, gamma)
                before = fluxes(1, m, 0, beta / 2, np.cos(theta), np.sin(theta), gamma)
                x = jump.compression
                after = fluxes(x, m / x, jump.v_tangential, jump.pressure, jump.b_normal, jump.b_tangential, gamma)
                self.assertLess(np.abs(after - before).max() / np.abs(before).max(), 1e-12)

    def test_entropy_grows(self):
        for m, beta, theta, gamma in self.CASES:
            jump = shocks.shock_jump(m, beta, theta, gamma)
            self.assertGreater(jump.pressure / jump.compression**gamma, beta / 2)

    def test_across_b(self):
        for gamma in (5 / 3, 2):
            for m, beta in ((2, 0.5), (6, 1)):
                x = shocks.shock_jump(m, beta, np.pi / 2, gamma).compression
                zero = (2 - gamma) * x**2 + (gamma * (beta + 1) + (gamma - 1) * m**2) * x - (gamma + 1) * m**2
                self.assertLess(abs(zero), 1e-11)
        jump = shocks.shock_jump(6, 1, gamma=2)
        self.assertAlmostEqual(jump.field, jump.compression, delta=1e-12)

    def test_along_b_the_shock_is_that_of_a_gas(self):
        m, beta, gamma = 5.0, 1.0, 5 / 3
        gas = m**2 / (gamma * beta / 2)  # sonic Mach number, squared
        jump = shocks.shock_jump(m, beta, 0.0, gamma)
        self.assertAlmostEqual(jump.compression, (gamma + 1) * gas / ((gamma - 1) * gas + 2), delta=1e-12)
        self.assertAlmostEqual(jump.pressure / (beta / 2), (2 * gamma * gas - gamma + 1) / (gamma + 1), delta=1e-10)
        self.assertEqual(jump.b_tangential, 0)

    def test_wall(self):
        jump = shocks.wall_shock(4.0, 1.0, gamma=2)
        self.assertAlmostEqual(jump.wall_speed, 4, delta=1e-10)
        self.assertAlmostEqual(jump.shock_speed, 4 / (jump.compression - 1), delta=1e-10)
        self.assertAlmostEqual(jump.compression, 2.727, delta=1e-3)

    def test_nothing_escapes_from_a_wall_shock(self):
        none = shocks.IonMoments(0, 0, 0, 0, 0, 0, 0)
        for angle, speed, beta in ((5, 10, 0.01), (20, 3.5, 1), (60, 4, 1), (89, 3.5, 0.5)):
            theta = np.radians(angle)
            jump = shocks.wall_shock(speed, beta, theta)
            found = shocks.wall_shock_with_escape(speed, jump.v_tangential, beta, theta, 5 / 3, none)
            self.assertAlmostEqual(found.compression, jump.compression, delta=1e-9)
            self.assertAlmostEqual(found.b_tangential, jump.b_tangential, delta=1e-9)
            self.assertAlmostEqual(found.shock_speed, jump.shock_speed, delta=1e-9)

    def test_moments_of_plasma(self):
        v = np.random.default_rng(1).normal(size=(3, 10**6)) * np.sqrt(0.5) + np.array([[3.0], [-0.4], [0]])
        self.assertLess(np.abs(np.subtract(shocks.IonMoments.of(v, 1), shocks.IonMoments.of_plasma(3, 0.4, 0.5))).max(), 0.05)

    def test_a_strong_gas_shock_that_loses_energy(self):
        """Light, fast ions take a part f of the energy and little else: V = (g - 1) (1 - f) U/2 from p2 = n1 (U + V) U."""
        u, part, gamma = 100.0, 0.2, 5 / 3
        v = (gamma - 1) * (1 - part) * u / 2
        fast, energy = 1e6, part * (u + v) * u**2 / 2
        n = 2 * energy / fast**3
        ions = shocks.IonMoments.of(np.array([[-fast], [0], [0]]), n)
        found = shocks.wall_shock_with_escape(u, 0, 1e-6, 0, gamma, ions)
        self.assertAlmostEqual(found.shock_speed, v, delta=1e-3 * v)
        self.assertAlmostEqual(found.compression, 1 + u / v, delta=2e-3)

    def test_reflected_ions(self):
        """Against orbits that are integrated: reflected with the reversed normal velocity into u along x, E = -u x B."""
        for angle in (42, 60, 80, 90):
            theta, dt, v, x, way = np.radians(angle), 1e-3, np.array([-1.0, 0, 0]), 0.0, []
            b, u = np.array([np.cos(theta), np.sin(theta), 0]), np.array([1.0, 0, 0])
            while x <= 0:
                middle = v + dt / 2 * np.cross(v - u, b)
                v = v + dt * np.cross(middle - u, b)
                x += dt * middle[0]
                way.append(x)
            found = shocks.specular_reflection(theta)
            self.assertAlmostEqual(-min(way), found.distance, delta=2e-3)
            self.assertAlmostEqual(len(way) * dt, found.time, delta=2e-3)
        self.assertAlmostEqual(shocks.specular_reflection().distance, np.sqrt(3) - np.pi / 3, delta=1e-12)
        shocks.specular_reflection(np.radians(39.95))
        for angle in (39.8, 20, 0):
            with self.assertRaises(ValueError):
                shocks.specular_reflection(np.radians(angle))

    def test_slow_plasma_makes_no_shock(self):
        with self.assertRaises(ValueError):
            shocks.shock_jump(0.9, 1.0)


if __name__ == "__main__":
    unittest.main()
