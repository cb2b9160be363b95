"""Pictures and the command line."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import matplotlib.image
import numpy as np
import PIL.Image
import synthetic
from larmor import plot
from larmor.__main__ import main
from synthetic import lock_of


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

    def test_growth(self):
        self.begin()
        x, y = np.meshgrid(np.arange(24) / 24, np.arange(16) / 16)
        for step in range(60):
            t, noise = 0.5 * step, np.random.default_rng(step).normal(size=(2, 16, 24)) * 1e-5
            wave = 1e-3 * min(np.exp(0.2 * t), 60) * np.cos(2 * np.pi * (2 * x - 3 * y) - 0.4 * t)
            synthetic.write_fields(self.path, step, t, {"B/x": np.ones((16, 24)), "B/y": wave + noise[0], "B/z": 0.5 + noise[1]})
        status, out, _ = self.run_main("growth", str(self.path))
        lines = out.splitlines()
        self.assertEqual((status, len(lines), lines[1]), (0, 2, str(self.path / "growth_B.png")))
        self.assertRegex(lines[0], r"^2 and -3 periods along x and y, k = \(2\.094, -2\.356\): gamma = 0\.(2|1999|2001) \+- ")
        self.assert_picture(self.path / "growth_B.png")
        for window, rate in (((5, 15), 0.2), ((22, 29), 0)):
            out = self.run_main("growth", str(self.path), "--periods", "-2", "3", "--window", *map(str, window))[1]
            self.assertAlmostEqual(float(out.split("gamma = ")[1].split()[0]), rate, delta=1e-3)
        self.assert_refused("no wave of 40 and 0 periods", "growth", self.path, "--periods", "40", "0")
        self.assert_refused("no mesh 'E' in", "growth", self.path, "--record", "E")
        synthetic.write_fields(self.path, 60, 30, {f"B/{axis}": np.full((16, 24), np.nan) for axis in "xyz"})
        self.assert_refused("at step 60: some of its values are not finite", "growth", self.path)

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
            synthetic.write_fields(self.path / name, 5, 0.5, {mesh: 2 * values for mesh, values in meshes.items()})
            for record in ("B", "n_protons"):
                self.assertEqual(self.run_main("fields", str(self.path / name), "--record", record)[0], 0)
                file = {"B": "fields_B_z.png", "n_protons": "fields_n_protons.png"}[record]
                self.assert_picture(self.path / name / file)
            status, out, _ = self.run_main("movie", str(self.path / name), "--output", str(self.path / f"{name}.gif"))
            self.assertEqual((status, out.strip()), (0, str(self.path / f"{name}.gif")))
            with PIL.Image.open(self.path / f"{name}.gif") as film:
                self.assertEqual(film.n_frames, 2)

    def test_anisotropy(self):
        rng = np.random.default_rng(1)
        meshes = {"T_par_protons": rng.uniform(1, 2, (16, 24)), "T_perp_protons": rng.uniform(1, 2, (16, 24))}
        meshes["T_par_protons"][3, 4] = np.nan  # a cell without particles
        synthetic.write_fields(self.path, 7, 0.7, meshes, folder="outputs", stem="flow")
        (self.path / "run.ini").write_text("[species.protons]\ncharge = 1\n")
        status, out, err = self.run_main("anisotropy", str(self.path))
        self.assertEqual((status, out.strip()), (0, str(self.path / "anisotropy.png")), err)
        self.assert_picture(self.path / "anisotropy.png")
        self.assertEqual(self.run_main("fields", str(self.path), "--record", "T_perp_protons", "--step", "7")[0], 0)
        self.assert_picture(self.path / "fields_T_perp_protons_00000007.png")

    def test_distribution(self):
        rng = np.random.default_rng(1)
        for axes in (["energy"], ["v_par", "v_perp"], ["v_par", "v_perp", "x"]):
            name = f"d{len(axes)}"
            synthetic.write_distribution(self.path, name, 3, axes, {"protons": rng.integers(0, 9, (12, 10, 6)[:len(axes)])})
            status, out, err = self.run_main("distribution", str(self.path), "--name", name)
            self.assertEqual(status, 0, err)
            self.assert_picture(out.strip())

    def test_power(self):
        rng = np.random.default_rng(5)
        meshes = {f"B/{axis}": rng.normal(0, 1, (16, 24)) for axis in "xyz"} | {"n_p": rng.uniform(1, 2, (16, 24))}
        synthetic.write_fields(self.path, 4, 0.4, meshes)
        for more in ([], ["--record", "n_p", "--step", "4"]):
            status, out, err = self.run_main("power", str(self.path), *more)
            self.assertEqual(status, 0, err)
            self.assert_picture(out.strip())

    def test_probe(self):
        rng = np.random.default_rng(3)
        for points in (2, 30):
            values = rng.normal(0, 1, (9, points))
            synthetic.write_probe(self.path, f"p{points}", list(range(9)), {"bz": values, "n_protons": values},
                                  list(range(points)))
            for more in ([], ["--column", "n_protons"]):
                status, out, err = self.run_main("probe", str(self.path), "--name", f"p{points}", *more)
                self.assertEqual(status, 0, err)
                self.assert_picture(out.strip())

    def test_orbits(self):
        rng = np.random.default_rng(2)
        walk = np.cumsum(rng.normal(0, 0.5, (30, 4)), axis=0)
        walk[20:, 3] = np.nan
        columns = {name: walk for name in ("x", "y", "vx", "vy", "vz")}
        synthetic.write_track(self.path, "fast", list(range(30)), columns, [-1, -1, -1, 20])
        status, out, err = self.run_main("orbits", str(self.path))
        self.assertEqual(status, 0, err)
        self.assert_picture(out.strip())

    def test_the_backend_is_the_users(self):
        """Importing the package chooses no backend of matplotlib."""
        code = "import matplotlib; matplotlib.use('svg'); import larmor.plot; print(matplotlib.get_backend())"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {
            "PYTHONPATH": os.pathsep.join(sys.path)}, check=True)
        self.assertEqual(out.stdout.strip().lower(), "svg")

    COMMANDS = ("spectrum", "energy", "power", "growth", "fields", "movie", "anisotropy", "distribution", "probe", "orbits", "xdmf")

    def assert_refused(self, words, command, directory, *options):
        status, out, err = self.run_main(command, str(directory), *options)
        self.assertEqual((status, out, len(err.strip().splitlines())), (2, "", 1), err)
        self.assertTrue(err.startswith(f"larmor {command}: "), err)
        self.assertRegex(err, words)

    def test_directories_without_a_run(self):
        (self.path / "foreign").mkdir()
        (self.path / "foreign" / "notes.txt").write_text("no run")
        (self.path / "file").write_text("")
        for command in (*self.COMMANDS, "report"):
            self.assert_refused("holds no run; give the output directory of a run", command, self.path / "foreign")
            self.assert_refused("is no directory", command, self.path / "absent")
            self.assert_refused("is no directory", command, self.path / "file")
        self.assertEqual(list((self.path / "foreign").iterdir()), [self.path / "foreign" / "notes.txt"])

    def begin(self):
        """A run that has begun and has written nothing but its settings and the head of its series."""
        (self.path / "run.ini").write_text("[run]\ndt = 0.1\n[species.p]\ncharge = 1\nmass = 1\n")
        (self.path / "series.csv").write_text("step,time[1/Omega_ci],magnetic_x[B0^2 d_i^2/mu0]\n")

    def test_runs_without_outputs(self):
        self.begin()
        for command in self.COMMANDS:
            self.assert_refused("holds no|no row|needs two", command, self.path)
        self.assertEqual(self.run_main("report", str(self.path))[0], 0)

    @unittest.skipUnless(sys.platform == "linux", "the lock of a run is seen on Linux")
    def test_runs_that_go_on(self):
        self.begin()
        with lock_of(self.path):
            for command in self.COMMANDS:
                self.assert_refused("the run goes on, and what is missing may come later$", command, self.path)

    def test_damaged_files(self):
        self.begin()
        for step, content in ((0, b""), (1, b"no HDF5")):
            synthetic.write_fields(self.path, step, 0.1 * step, {"B/z": np.ones((4, 6))})
            (self.path / "fields" / f"data_{step:08d}.h5").write_bytes(content)
        for command in ("fields", "movie", "power", "spectrum", "growth", "xdmf"):
            self.assert_refused(r"data_0000000\d.h5 cannot be read", command, self.path)

    def test_a_field_that_is_the_same_everywhere(self):
        synthetic.write_fields(self.path, 4, 0.4, {f"B/{axis}": np.ones((4, 6)) for axis in "xyz"})
        self.assert_refused("same everywhere", "power", self.path)
        self.assertEqual(self.run_main("fields", str(self.path))[0], 0)


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
