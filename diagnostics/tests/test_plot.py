"""Pictures and the command line."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import matplotlib.image
import numpy as np
import synthetic
from larmor import plot
from larmor.__main__ import main


class CommandLine(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = Path(self._folder.name)

    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def assert_picture(self, file):
        """A picture of a decent size with data in it: text and axes are grey, lines and maps have colours."""
        pixels = matplotlib.image.imread(file)[..., :3]
        self.assertGreater(min(pixels.shape[:2]), 300)
        coloured = np.ptp(pixels, axis=2) > 0.2
        self.assertGreater(coloured.mean(), 1e-3)

    def test_spectrum(self):
        synthetic.wave_run(self.path, [(0.02, 3, 2.0), (0.02, 3, -7.0)])
        file = self.path / "deep" / "s.png"
        status, out, _ = self.run_main("spectrum", str(self.path), "--output", str(file))
        self.assertEqual((status, out.strip()), (0, str(file)))
        self.assert_picture(file)

    def test_energy(self):
        t = np.linspace(0, 1, 5)
        synthetic.write_series(self.path, {"step": ("", np.arange(5)), "time": ("1/Omega_ci", t),
                                           "kinetic_x_protons": ("n0 m_p v_A^2 d_i^2", t), "magnetic_y": ("", 1 - t)})
        self.assertEqual(self.run_main("energy", str(self.path))[0], 0)
        self.assert_picture(self.path / "energy.png")

    def test_fields_map_and_line(self):
        rng = np.random.default_rng(1)
        for name, shape in (("map", (16, 24)), ("line", (1, 24))):
            meshes = {"B/z": rng.normal(size=shape), "n_protons": rng.uniform(size=shape)}
            synthetic.write_fields(self.path / name, 4, 0.4, meshes)
            for record in ("B", "n_protons"):
                self.assertEqual(self.run_main("fields", str(self.path / name), "--record", record)[0], 0)
                self.assert_picture(self.path / name / "fields.png")

    def test_errors_are_one_line_and_status_1(self):
        for command, folder in (("energy", "absent"), ("fields", "."), ("spectrum", ".")):
            status, _, err = self.run_main(command, str(self.path / folder))
            self.assertEqual(status, 1)
            self.assertEqual(len(err.strip().splitlines()), 1, err)


class Names(unittest.TestCase):
    def test_groups_of_energies(self):
        groups = plot.energy_groups(["step", "kinetic_x_beam", "kinetic_y_beam", "kinetic_x_slow_ions", "magnetic_z",
                                     "momentum_x", "electron_thermal"])
        self.assertEqual(groups, {"kinetic, beam": ["kinetic_x_beam", "kinetic_y_beam"],
                                  "kinetic, slow_ions": ["kinetic_x_slow_ions"], "magnetic": ["magnetic_z"],
                                  "electrons, thermal": ["electron_thermal"]})

    def test_labels_have_units(self):
        self.assertEqual(plot.label_of("B/z"), "$B_{z}$  [$B_0$]")
        self.assertIn("n_0", plot.label_of("n_protons"))
        self.assertIn("{a\\_b\\_c}", plot.label_of("n_a_b_c"))
        self.assertEqual(plot.label_of("background_a_b_c"), "a_b_c")


if __name__ == "__main__":
    unittest.main()
