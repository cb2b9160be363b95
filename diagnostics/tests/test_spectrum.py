"""Spectra, frequencies and rates of signals that are known."""

import tempfile
import unittest
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import synthetic
from larmor import Run, plot, spectrum, theory


class Handedness(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = Path(self._folder.name)

    def peak(self, power, omega, k):
        i, j = np.unravel_index(np.argmax(power), power.shape)
        return omega[i], k[j]

    def test_a_wave_lands_in_its_own_quadrant(self):
        """b ~ exp(i (k x - omega t)): all four combinations of signs, read back from files."""
        unit = 2 * np.pi / (128 * 0.25)  # of omega
        for number, (m, bins) in enumerate(((3, 8), (3, -8), (-3, 8), (-3, -8))):
            directory = self.path / str(number)
            synthetic.wave_run(directory, [(0.02, m, bins * unit)])
            data = spectrum.transverse(Run(directory))
            self.assertAlmostEqual(data.length, 8.0, places=5)
            omega, k, power = spectrum.omega_k(data.b, 0.25, 0.25)
            self.assertEqual(power.shape, (128, 32))
            at = self.peak(power, omega, k)
            self.assertAlmostEqual(at[0], bins * unit, places=9)
            self.assertAlmostEqual(at[1], 2 * np.pi * m / 8.0, places=9)
            self.assertAlmostEqual(power.max(), 0.02**2, delta=1e-9)

    def test_ions_turn_the_left_handed_way(self):
        """dv/dt = v x B with B = +x: v_y + i v_z ~ exp(-i t), so omega = +1 is left-handed."""
        t = np.arange(0, 40, 0.1)
        v = np.array([1.0, 0.0])
        turned = np.array([[np.cos(s) * v[0] + np.sin(s) * v[1], -np.sin(s) * v[0] + np.cos(s) * v[1]] for s in t])
        rate = np.gradient(turned, 0.1, axis=0)  # v_y' = v_z, v_z' = -v_y: the equation of motion itself
        np.testing.assert_allclose(rate[1:-1], np.stack([turned[:, 1], -turned[:, 0]], axis=1)[1:-1], atol=2e-3)
        z = turned[:, 0] + 1j * turned[:, 1]
        self.assertAlmostEqual(spectrum.peak_frequency(t, z, 1), 1.0, delta=0.02)

    def test_mode(self):
        synthetic.wave_run(self.path, [(0.02, 3, 0.5), (0.05j, -3, 0.0)], nt=4)
        data = spectrum.transverse(Run(self.path))
        shift = np.exp(1j * 2 * np.pi * 3 / 8.0 * data.x[0])  # the phase counts from x[0]
        np.testing.assert_allclose(spectrum.mode(data.b, 3), 0.02 * shift * np.exp(-0.5j * data.t), atol=1e-12)
        np.testing.assert_allclose(spectrum.mode(data.b, -3), 0.05j / shift, atol=1e-12)


class Theory(unittest.TestCase):
    """The theory of cold waves is drawn where it applies, for the field and the density of the run."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(plt.close, "all")
        self.path = Path(folder.name)

    def make(self, mean=(1.0, 0.0, 0.0), density=1.0, flow=0.0, species="[species.p]\ncharge = 1\nmass = 1\n", ripple=0.0):
        x = np.arange(32) * np.ones((2, 1))
        for step in range(8):
            wave = 0.01 * np.sin(2 * np.pi * (x / 32 - 0.1 * step))
            meshes = {f"B/{axis}": value + part for axis, value, part in zip("xyz", mean, (ripple * np.cos(x), wave, 0 * x))}
            meshes |= {"rho": density + 0 * x, "J_i/x": density * flow + 0 * x}
            synthetic.write_fields(self.path, step, 0.25 * step, meshes)
        (self.path / "run.ini").write_text("[run]\ndt = 0.25\n[grid]\nnx = 32\nny = 2\nlx = 8\nly = 1\n" + species)
        return Run(self.path)

    def lines(self, run, **options):
        axes = plot.spectrum_of(run, **options).axes[0]
        return axes.lines, axes.get_title(), {text.get_text()[:1] for text in axes.texts}

    def test_it_has_the_scales_of_the_run(self):
        plasma = spectrum.cold_plasma(self.make((2.0, 0, 0), 4.0))
        self.assertEqual((plasma.gyration, plasma.length), (2.0, 0.5))
        alphas = spectrum.cold_plasma(self.make(density=2.0, species="[species.a]\ncharge = 2\nmass = 4\n"))
        self.assertEqual((alphas.gyration, alphas.length), (0.5, 1.0))
        k = np.array([0.1, 1.0])
        np.testing.assert_allclose(plasma.omega(k, "R"), 2 * theory.cold_parallel(0.5 * k, "R"))
        lines, _, turns = self.lines(self.make((2.0, 0, 0), 4.0))
        np.testing.assert_allclose(lines[0].get_ydata(), plasma.omega(lines[0].get_xdata(), "L"))
        self.assertEqual((len(lines), turns), (4, {"L", "R"}))

    def test_b_along_minus_x_turns_the_picture_round(self):
        run = self.make((-1.0, 0, 0))
        self.assertEqual(spectrum.cold_plasma(run).gyration, -1)
        lines, _, _ = self.lines(run)
        self.assertTrue((lines[0].get_ydata() < 0).all())
        axes = plot.spectrum_of(run).axes[0]
        self.assertTrue(all(text.get_text().startswith("R" if text.get_position()[1] > 0.5 else "L") for text in axes.texts))

    def test_where_it_does_not_apply_a_note_stands_in_its_place(self):
        two = "[species.p]\ncharge = 1\nmass = 1\n[species.a]\ncharge = 2\nmass = 4\n"
        cases = {"not along": {"mean": (0.0, 0, 1.0)}, "several kinds": {"species": two}, "flow": {"flow": 0.3},
                 "not uniform": {"ripple": 0.5}}
        for words, options in cases.items():
            with self.subTest(words):
                lines, title, turns = self.lines(self.make(**options))
                self.assertEqual((len(lines), turns), (0, {"t"}))  # to +x, to -x
                self.assertIn("No theory", title)
                self.assertIn(words, title)

    def test_without_theory_on_demand(self):
        lines, title, turns = self.lines(self.make(), cold_theory=False)
        self.assertEqual((len(lines), turns), (0, {"L", "R"}))
        self.assertNotIn("No theory", title)


class Power(unittest.TestCase):
    def test_waves_lie_in_their_shells_and_the_sum_is_the_mean_square(self):
        nx, ny, dx, dy = 48, 32, 0.5, 0.75  # both sides are 24 long
        x, y = np.meshgrid((np.arange(nx) + 0.5) * dx, (np.arange(ny) + 0.5) * dy)
        k0 = 2 * np.pi / 24
        values = 7 + 2 * np.cos(3 * k0 * x + 4 * k0 * y) + 0.5 * np.sin(9 * k0 * y)  # |k| = 5 and 9
        k, density = spectrum.power_over_k(values, (dx, dy))
        np.testing.assert_allclose(k, k0 * np.arange(1, len(k) + 1))
        np.testing.assert_allclose(density[[4, 8]] * k0, [2, 0.125], rtol=1e-12)
        self.assertLess(np.delete(density, [4, 8]).max(), 1e-20)
        noise = np.random.default_rng(4).normal(0, 1, (ny, nx))
        k, density = spectrum.power_over_k(noise, (dx, dy))
        np.testing.assert_allclose(density.sum() * k0, noise.var(), rtol=1e-12)


class Frequencies(unittest.TestCase):
    T = np.arange(0, 60, 0.2)

    def test_two_tones_of_opposite_sense(self):
        z = 0.3 * np.exp(-0.0951j * self.T) + 0.3 * np.exp(0.1051j * self.T) * np.exp(0.4j)
        guesses = [spectrum.peak_frequency(self.T, z, sign) for sign in (1, -1)]
        (first, error), (second, _) = spectrum.fit_tones(self.T, z, guesses)
        self.assertAlmostEqual(first, 0.0951, places=9)
        self.assertAlmostEqual(second, -0.1051, places=9)
        self.assertLess(error.real, 1e-8)

    def test_error_bar_covers_the_noise(self):
        """In 200 fits the frequency lies within two standard errors about 95 % of the time."""
        rng = np.random.default_rng(3)
        inside = 0
        for _ in range(200):
            z = np.exp(-0.7j * self.T) + 0.3 * (rng.normal(size=300) + 1j * rng.normal(size=300))
            (omega, error), = spectrum.fit_tones(self.T, z, [0.71])
            inside += abs(omega.real - 0.7) < 2 * error.real
        self.assertGreater(inside, 178)
        self.assertLess(inside, 200)

    def test_growing_tone(self):
        (omega, _), = spectrum.fit_tones(self.T, 1e-3 * np.exp((-0.5j + 0.08) * self.T), [0.45 + 0.05j], damped=True)
        self.assertLess(abs(omega - (0.5 + 0.08j)), 1e-9)

    def test_damped_oscillation_of_a_real_signal(self):
        t = self.T[:100]
        a = 0.2 * np.exp(-0.23 * t) * np.cos(3.01 * t + 0.7)
        omega, error = spectrum.fit_oscillation(t, a, 2.8 - 0.1j)
        self.assertLess(abs(omega - (3.01 - 0.23j)), 1e-9)
        rng = np.random.default_rng(5)
        omega, error = spectrum.fit_oscillation(t, a + 1e-3 * rng.normal(size=100), 2.8 - 0.1j)
        self.assertLess(abs(omega.imag + 0.23), 4 * error.imag)
        self.assertGreater(error.imag, 1e-5)

    def test_uneven_times_are_refused(self):
        with self.assertRaises(ValueError):
            spectrum.peak_frequency(self.T**2, np.exp(-1j * self.T), 1)


class Rates(unittest.TestCase):
    def test_only_the_window_counts(self):
        t = np.linspace(0, 40, 401)
        amplitude = np.where(t < 10, 1e-3, np.where(t > 30, 1e-3 * np.exp(0.2 * 20), 1e-3 * np.exp(0.2 * (t - 10))))
        self.assertAlmostEqual(spectrum.fit_rate(t, amplitude, (10, 30)).value, 0.2, places=9)
        self.assertLess(spectrum.fit_rate(t, amplitude, (0, 30)).value, 0.19)

    def test_damping_is_negative(self):
        t = np.linspace(0, 5, 50)
        self.assertAlmostEqual(spectrum.fit_rate(t, -np.exp(-0.4 * t), (0, 5)).value, -0.4, places=9)

    def test_empty_window(self):
        with self.assertRaises(ValueError):
            spectrum.fit_rate(np.arange(5.0), np.ones(5), (10, 12))

    def test_window_of_growth(self):
        t = np.linspace(0, 40, 81)
        grows = np.minimum(1e-3 * np.exp(0.2 * t), 1.0)  # from 1/20 at t = 19.6 to 1/3 at 29.05
        self.assertEqual(spectrum.window_of_growth(t, grows), (20.0, 29.5))
        for a in (1 - t / 50, 1 + t / 50, np.ones(81), np.where(t == 40, 1.0, 0.1)):
            self.assertIsNone(spectrum.window_of_growth(t, a))

    def test_mean(self):
        mean = spectrum.mean_estimate([1.0, 2.0, 3.0])
        self.assertEqual(mean.value, 2.0)
        self.assertAlmostEqual(mean.error, 1 / np.sqrt(3))


if __name__ == "__main__":
    unittest.main()
