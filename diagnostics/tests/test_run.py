"""Reading run directories."""

import importlib.util
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import h5py
import larmor
import numpy as np
import synthetic
from larmor import plot
from larmor import Average, Run, RunError
from larmor.settings import FORMER

COLUMNS = {"step": ("", np.arange(0, 40, 10)), "time": ("1/Omega_ci", np.arange(4) * 0.1),
           "kinetic_x_protons": ("n0 m_p v_A^2 d_i^2", np.array([1.0, 2.5, -3.25e-7, 4.0]))}


class Reading(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = Path(self._folder.name)

    def check_series(self, series):
        self.assertEqual(series.names, list(COLUMNS)) if "step" == series.names[0] else self.assertEqual(
            sorted(series.names), sorted(COLUMNS))
        for name, (unit, values) in COLUMNS.items():
            np.testing.assert_array_equal(series[name], values)
            self.assertEqual(series.units[name], unit)
        self.assertEqual(series["step"].dtype.kind, "i")
        self.assertEqual(len(series), 4)

    def test_series_hdf5(self):
        synthetic.write_series(self.path, COLUMNS)
        (self.path / "series.csv").unlink()
        self.check_series(Run(self.path).series)

    def test_open(self):
        synthetic.write_series(self.path, COLUMNS)
        self.check_series(larmor.open(self.path).series)
        with self.assertRaisesRegex(RunError, "is no directory"):
            larmor.open(self.path / "absent")

    def test_series_csv_when_there_is_no_hdf5(self):
        synthetic.write_series(self.path, COLUMNS)
        (self.path / "series.h5").unlink()
        self.check_series(Run(self.path).series)

    def test_series_csv_when_the_hdf5_is_damaged(self):
        synthetic.write_series(self.path, COLUMNS)
        (self.path / "series.h5").write_bytes(b"not HDF5")
        self.check_series(Run(self.path).series)

    def test_a_line_that_is_cut_short_is_left_out(self):
        synthetic.write_series(self.path, COLUMNS)
        (self.path / "series.h5").unlink()
        with open(self.path / "series.csv", "a") as stream:
            stream.write("40,5.0e-01")
        self.check_series(Run(self.path).series)

    def test_unknown_column_names_the_others(self):
        synthetic.write_series(self.path, COLUMNS)
        with self.assertRaisesRegex(RunError, "kinetic_x_protons"):
            Run(self.path).series["kinetic"]

    def test_no_series(self):
        with self.assertRaisesRegex(RunError, "series"):
            Run(self.path).series
        with self.assertRaises(RunError):
            Run(self.path / "absent")

    def test_fields(self):
        bz, n = np.arange(12.0).reshape(3, 4), np.full((3, 4), 2.0)
        synthetic.write_fields(self.path, 7, 0.7, {"B/z": bz, "n_protons": n})
        synthetic.write_fields(self.path, 100, 10.0, {"B/z": 2 * bz, "n_protons": n})
        run = Run(self.path)
        self.assertEqual(run.field_steps, [7, 100])
        with run.fields(7) as fields:
            self.assertEqual((fields.step, fields.time), (7, 0.7))
            np.testing.assert_array_equal(fields["B/z"], bz)
            np.testing.assert_array_equal(fields["n_protons"], n)
            np.testing.assert_allclose(fields.x("B/z"), 0.125 + (np.arange(4) + 0.5) * 0.25)
            np.testing.assert_allclose(fields.y("n_protons"), 0.25 + np.arange(3) * 0.5)
            with self.assertRaisesRegex(RunError, "B/z"):
                fields["B/q"]
        times, sums = run.history("B/z", np.sum)
        np.testing.assert_allclose(times, [0.7, 10.0])
        np.testing.assert_allclose(sums, [66, 132])

    def test_absent_step_says_which_are_there(self):
        synthetic.write_fields(self.path, 7, 0.7, {"B/z": np.zeros((3, 4))})
        with self.assertRaisesRegex(RunError, "steps 7 to 7"):
            Run(self.path).fields(8)

    def test_particles_in_files_of_fields(self):
        for step in (2, 3, 4):
            synthetic.write_fields(self.path, step, 0.1 * step, {"n_p": np.ones((2, 3))})
        synthetic.write_particles(self.path, 2, "p", np.array([1.0]), 0.25)  # an earlier part of the run
        synthetic.write_particles(self.path, 4, "p", np.array([5.0]), 0.25, folder="fields")
        run = Run(self.path)
        self.assertEqual((run.field_steps, run.particle_steps), ([2, 3, 4], [2, 4]))
        for step, x in ((2, 3.0), (4, 7.0)):
            with run.particles(step) as particles, run.fields(step) as fields:
                self.assertEqual(particles.get("p", "position/x").tolist(), [x])
                self.assertEqual(fields.names, ["n_p"])
        with self.assertRaisesRegex(RunError, "no particles of step 3.*steps 2 to 4, 2 in all"):
            run.particles(3)

    def test_particles_with_constant_records(self):
        synthetic.write_particles(self.path, 3, "protons", np.array([0.5, 1.5]), 0.25)
        with Run(self.path).particles(3) as particles:
            self.assertEqual(particles.species, ["protons"])
            np.testing.assert_array_equal(particles.get("protons", "position/x"), [2.5, 3.5])
            np.testing.assert_array_equal(particles.get("protons", "weighting"), [0.25, 0.25])
            with self.assertRaises(RunError):
                particles.get("protons", "momentum/x")

    def test_an_account_of_the_ledger(self):
        values = {quantity: np.arange(4.0) * k for k, quantity in
                  enumerate(["", "_weight", "_momentum_x", "_momentum_y", "_momentum_z", "_energy"])}
        columns = {f"body_moon{quantity}_protons": ("", column) for quantity, column in values.items()}
        synthetic.write_series(self.path, COLUMNS | columns)
        account = Run(self.path).series.account("body_moon", "protons")
        for quantity in ("number", "weight", "energy"):
            np.testing.assert_array_equal(account[quantity], values["" if quantity == "number" else "_" + quantity])
        np.testing.assert_array_equal(account["momentum"][3], [6, 9, 12])
        with self.assertRaisesRegex(RunError, "body_sun_protons"):
            Run(self.path).series.account("body_sun", "protons")

    def test_maps(self):
        hits = np.arange(18).reshape(3, 2, 3)
        synthetic.write_maps(self.path, 5, 0.5, {"x_max": {"protons": hits, "hits_like": 0 * hits}})
        run = Run(self.path)
        self.assertEqual(run.map_steps, [5])
        maps = run.maps(5)
        self.assertEqual((maps.step, maps.time, maps.names), (5, 0.5, ["x_max"]))
        np.testing.assert_array_equal(maps.angle_edges, [0, 45, 90])
        side = maps["x_max"]
        self.assertEqual((sorted(side.hits), side.particles), (["hits_like", "protons"], "absorbing"))
        np.testing.assert_array_equal(side.hits["protons"], hits)
        np.testing.assert_array_equal(side.normal, [[-1, 0]] * 3)
        np.testing.assert_array_equal(side.y, [0.5, 1.5, 2.5])
        self.assertEqual((side.weight["protons"], side.mass["protons"]), (0.25, 4.0))
        with self.assertRaisesRegex(RunError, "x_max"):
            maps["y_max"]
        with self.assertRaisesRegex(RunError, "steps 5 to 5"):
            run.maps(6)

    def test_settings_and_summary(self):
        synthetic.write_settings(self.path)
        run = Run(self.path)
        self.assertEqual(run.settings["species.protons"]["drift_y"], "0.1*sin(x)")
        self.assertEqual(run.summary["fingerprint"], "00ff")

    def test_former_names_of_keys(self):
        (self.path / "run.ini").write_text("[const]\nslowing = 4\n[grid]\nnx = 1\nny = 1\nlx = 1\nly = 1\n[run]\ndt = 1\n"
                                           "[species.p]\nslowing = 0.5\ncharge = 2\n[background.n]\nx_min = zero\n")
        run = Run(self.path)
        self.assertEqual((run.number("species.p.drag_rate"), run.number("species.p.charge")), (0.5, 2))
        self.assertEqual(run.text("background.n.side_x_min"), "zero")
        self.assertEqual(run.settings["species.p"], {"drag_rate": "0.5", "charge": "2"})
        self.assertEqual(run.number("species.p.slowing"), 0.5)  # in older scripts
        self.assertEqual(run.number("const.slowing"), 4)

    def test_former_names_are_those_of_the_program(self):
        found = {}
        for line in (Path(__file__).parents[2] / "config" / "reference.md").read_text().splitlines():
            if heading := re.match(r"#+ .*?\[(\w+)", line):
                section = heading[1]
            if row := re.match(r"\| `(\w+)` .* Formerly `(\w+)`", line):
                found.setdefault(section, {})[row[2]] = row[1]
        self.assertEqual(FORMER, found)

    def test_outputs_and_distributions(self):
        values = np.arange(12.0).reshape(3, 4)
        for step in (5, 10):
            synthetic.write_fields(self.path, step, 0.1 * step, {"u_p/x": step * values}, folder="outputs", stem="flow_2")
        run = Run(self.path)
        self.assertEqual(run.outputs, {"flow_2": [5, 10]})
        with run.output("flow_2") as last, run.output("flow_2", 5) as first:
            self.assertEqual(last["u_p/x"].tolist(), (10 * values).tolist())
            self.assertEqual(first["u_p/x"].tolist(), (5 * values).tolist())
        self.assertEqual(run.source_of("u_p/x"), ("flow_2", [5, 10]))
        for call, message in ((lambda: run.output("flow"), "no outputs of the name 'flow'.*flow_2"),
                              (lambda: run.output("flow_2", 6), "no flow_2 of step 6.*5, 10"),
                              (lambda: run.source_of("u"), "no mesh 'u'.*u_p/x"),
                              (lambda: run.source_of("u_p/x", "fields"), "no output 'fields'.*flow_2")):
            with self.assertRaisesRegex(RunError, message):
                call()

        with h5py.File(self.path / "outputs" / "flow_2_00000010.h5", "a") as h5:
            mesh = h5["data/10/meshes/u_p"].attrs
            mesh["timeOffset"] = -0.2
            mesh["averageSamples"], mesh["averageFirstStep"], mesh["averageLastStep"] = 3, 6, 10
        with run.output("flow_2") as last, run.output("flow_2", 5) as first:
            self.assertEqual(last.average("u_p/x"), Average(samples=3, first_step=6, last_step=10))
            self.assertAlmostEqual(last.mesh_time("u_p/x"), 0.8)
            self.assertIsNone(first.average("u_p/x"))
            self.assertEqual(plot.title_of(last, "u_p/x"), "$t\\,\\Omega_{ci} = 0.8$, mean of 3 samples, steps 6 to 10")
            self.assertEqual(plot.title_of(first, "u_p/x"), "$t\\,\\Omega_{ci} = 0.5$")

        counts = np.arange(6).reshape(2, 3)
        synthetic.write_distribution(self.path, "f", 4, ["v_par", "v_perp"], {"p": counts})
        f = run.distribution("f")
        self.assertEqual((run.distributions, f.species, f.axes, f.outside["p"]), ({"f": [4]}, ["p"], ["v_par", "v_perp"], 3))
        self.assertEqual(f.counts("p").tolist(), counts.tolist())
        rings = np.pi * np.array([1, 3, 5])  # areas of the rings between v_perp = 0, 1, 2, 3
        np.testing.assert_allclose(f.density("p"), 0.25 * counts / rings, rtol=1e-14)
        with self.assertRaisesRegex(RunError, "no species 'q'.*p"):
            f.counts("q")

    def test_probe(self):
        values = np.arange(12.0).reshape(4, 3)
        synthetic.write_probe(self.path, "cut", [0, 1], {"bz": values[:2]}, [0.0, 1.0, 3.0])
        synthetic.write_probe(self.path, "cut", [2, 3], {"bz": values[2:]}, [0.0, 1.0, 3.0])
        probe = Run(self.path).probe("cut")
        for name in ("bz", "Bz", "B/z"):
            np.testing.assert_array_equal(probe[name], values)
        np.testing.assert_allclose(probe.time, [0, 0.25, 0.5, 0.75])
        np.testing.assert_allclose(probe.distance, np.sqrt(5) * probe.x)

    def test_track(self):
        """Two files, in the order of their steps; the second ion goes beyond a periodic side and then leaves."""
        names = ("x", "y", "vx", "vy", "vz")
        rows = np.arange(10.0).reshape(5, 2)
        rows[4, 1] = np.nan
        for steps, part in (([0, 2, 4], rows[:3]), ([100000000, 100000002], rows[3:])):
            synthetic.write_track(self.path, "fast", steps, {name: part for name in names}, [-1, 100000002])
        run = Run(self.path)
        track = run.track("fast")
        self.assertEqual((track.columns, track.units["vx"], track.species), (sorted(names), "v_A", "protons"))
        self.assertEqual((track.count, track.left.tolist(), track.channel), (2, [-1, 100000002], [None, "x_min"]))
        np.testing.assert_array_equal(track.step, [0, 2, 4, 100000000, 100000002])
        np.testing.assert_allclose(track.time, 0.5 * track.step)
        np.testing.assert_array_equal(track["vy"], rows)
        np.testing.assert_allclose(track.energy, 3 * rows**2)
        x, y = track.in_domain()
        np.testing.assert_allclose([x[3, 1], y[3, 1]], [3, 1])
        with self.assertRaisesRegex(ValueError, "no column 'n'.*vx"):
            track["n"]
        with self.assertRaisesRegex(RunError, "no tracks of the name 'slow'.*fast"):
            run.track("slow")

    def test_dataset_without_xarray(self):
        with mock.patch.dict(sys.modules, {"xarray": None}), self.assertRaisesRegex(ImportError, "pip install xarray"):
            Run(self.path).dataset()

    @unittest.skipUnless(importlib.util.find_spec("xarray"), "xarray is not installed")
    def test_dataset(self):
        ramp = np.arange(24.0).reshape(4, 6)
        for step in (0, 10):
            synthetic.write_fields(self.path, step, 0.1 * step, {"B/x": ramp + step, "n_p": -ramp}, position=(0.0, 0.0))
            with h5py.File(self.path / "fields" / f"data_{step:08d}.h5", "a") as h5:
                h5[f"data/{step}/meshes/B/x"].attrs["position"] = (0.0, 0.5)
                h5[f"data/{step}/meshes/n_p"].attrs["timeOffset"] = -0.05
        data = Run(self.path).dataset()
        self.assertEqual((data["B_x"].dims, data["n_p"].dims), (("time", "y", "x_face"), ("time", "y", "x")))
        np.testing.assert_array_equal(data["B_x"].sel(time=1.0), ramp + 10)
        np.testing.assert_allclose(data["x_face"] - data["x"].values, 0.125)
        self.assertAlmostEqual(data["n_p"].attrs["time_offset"], -0.05)
        self.assertEqual(list(Run(self.path).dataset(names=["n_p"])), ["n_p"])

    def test_numbers_of_settings(self):
        (self.path / "run.ini").write_text(
            "[run]\ndt = 0.1\n[grid]\nnx = 8\nny = 4\nlx = 2\nly = 6\n"
            "[const]\nu = -U^2 + 1e-1\nU = 3\nk = 2*pi/lx\nunused = tanh(1)\n"
            "[species.a.b]\ndrift_x = U/(1+dx)\ndrift_y = u*sqrt(dy+2.5)\ndrift_z = U*x\ndensity = x < 1 ? U : 0\n"
            "temperature = __import__('os')\n")
        run = Run(self.path)
        for key, value in {"run.dt": 0.1, "const.U": 3, "const.u": -8.9, "const.k": np.pi, "grid.nx": 8,
                           "species.a.b.drift_x": 2.4, "species.a.b.drift_y": -17.8}.items():
            self.assertAlmostEqual(run.number(key), value, places=14)
        self.assertEqual(run.text("species.a.b.drift_z"), "U*x")
        for key in ("drift_z", "density", "temperature"):
            with self.assertRaisesRegex(RunError, "not the same number everywhere"):
                run.number("species.a.b." + key)
        with self.assertRaisesRegex(RunError, "no key 'drift'.*drift_x"):
            run.number("species.a.b.drift")
        with self.assertRaisesRegex(RunError, "no section 'species.a'.*species.a.b"):
            run.number("species.a.drift_x")


if __name__ == "__main__":
    unittest.main()
