"""Simulations that Python steps: the same bits as the program's, arrays as in its files, errors, and memory."""

import gc
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import h5py
import numpy as np
from larmor import LarmorError, LarmorWarning, Run, Simulation
from larmor import library
from larmor.simulation import overrides_of

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LARMOR", ROOT / "build" / "release" / "larmor"))
SMALL = """[run]
steps = 20
dt = 0.02
threads = 2
backend = cpu
[grid]
nx = 12
ny = 8
lx = 6
ly = 4
[electrons]
temperature = 0.5
[fields]
bx = 1
bz = 0.3
[species.protons]
particles_per_cell = 25
temperature = 0.5
drift_y = 0.1*sin(2*pi*x/lx)
"""


def setUpModule():
    if "LARMOR_LIBRARY" not in os.environ and not library.IN_CHECKOUT.exists():
        raise unittest.SkipTest("the library is not built: run make")


class Case(unittest.TestCase):
    """A test in a directory of its own, which holds small.ini."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.path)
        Path("small.ini").write_text(SMALL)

    def run_program(self, file, *more):
        subprocess.run([PROGRAM, "run", file, "--quiet", "--backend", "cpu", *more], check=True, stderr=subprocess.PIPE)

    def quiet(self, *arguments, **settings):
        """A simulation whose warnings do not matter."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LarmorWarning)
            return Simulation(*arguments, **settings)


class SameBits(Case):
    """The program on one side, the library on the other."""

    def check(self, name, *more):
        case = ROOT / "tests" / "cases" / name
        self.run_program(case, "--output", "out", *more, "--steps", "12", "output.series_every=4",
                         "output.fields_every=6", "output.particles_every=12", "output.checkpoint_every=6")
        run, settings = Run("out"), dict(word.split("=", 1) for word in more)
        with self.quiet(case, {**settings, "run.steps": 12, "run.backend": "cpu", "output.directory": "none"}) as sim:
            rows = [sim.row()]
            self.check_fields(run, sim)
            sim.every(4, lambda sim: rows.append(sim.row()))
            sim.every(6, lambda sim: self.check_fields(run, sim))
            sim.run()
            self.assertEqual(sim.fingerprint, run.summary["fingerprint"])
            self.check_particles(run, sim)
            self.check_rows(run, rows)
            self.assertEqual(sim.settings["grid"], run.settings["grid"])
        settings["run.backend"] = "cpu"
        with self.quiet(case, settings, restart="out/checkpoints/checkpoint_00000006.h5") as sim:
            self.assertEqual(sim.step_number, 6)
            sim.step(6)
            self.assertEqual(sim.fingerprint, run.summary["fingerprint"])
            self.check_rows(run, [sim.row()], first=3)
        self.assertFalse(Path("none").exists())

    def check_fields(self, run, sim):
        with run.fields(sim.step_number) as fields:
            self.assertEqual(sorted(fields.names), sorted(sim.names))
            self.assertEqual(fields.time, sim.time)
            for name in fields.names:
                np.testing.assert_array_equal(sim[name], fields[name], err_msg=name)
                np.testing.assert_array_equal(sim.view(name), fields[name], err_msg=name)
                np.testing.assert_allclose(sim.x(name), fields.x(name), rtol=1e-6)  # openPMD's spacing is single
                np.testing.assert_allclose(sim.y(name), fields.y(name), rtol=1e-6)
                self.assertEqual(sim.places(name)[0], fields.places(name)[0])
                self.assertAlmostEqual(sim.mesh_time(name), fields.mesh_time(name), 6)

    def check_particles(self, run, sim):
        with run.particles(12) as particles:
            for species in sim.species:
                mine = sim.particles(species)
                for axis in "xy":
                    np.testing.assert_allclose(np.sort(mine[axis]), np.sort(particles.get(species, f"position/{axis}")),
                                               rtol=0, atol=1e-12)
                self.assertEqual(len(mine["vx"]), sim.count(species))

    def check_rows(self, run, rows, first=0):
        self.assertEqual(run.series["step"].tolist(), [0, 4, 8, 12])
        for name in run.series.names:
            if name != "rate":
                np.testing.assert_array_equal(run.series[name][first:], [row[name] for row in rows], err_msg=name)
        self.assertGreater(rows[-1]["rate"], 0)
        self.assertEqual(sorted(rows[0]), sorted(run.series.names))

    def test_periodic(self):
        self.check("mix.ini")

    def test_open_with_bodies(self):
        self.check("hybrid.ini", "particles.precision=single")

    def test_gas(self):
        """Its series has limits of the next step."""
        self.check("gas.ini")

    def test_background_fields(self):
        self.check("ionisation.ini")

    def test_evolved_electrons(self):
        self.check("carried.ini", "electrons.closure=evolved", "electrons.conductivity=0.02")

    def test_program_goes_on(self):
        self.run_program("small.ini", "--output", "whole")
        with self.quiet("small.ini", {"output.directory": "part"}) as sim:
            sim.step(7)
            with h5py.File("open.h5", "w") as file:  # h5py may share HDF5 with the library
                file["a"] = np.arange(3)
                path = sim.save()
                file["b"] = np.arange(4)
            with h5py.File("open.h5") as file:
                self.assertEqual((len(file["a"]), len(file["b"])), (3, 4))
        self.assertEqual(path, Path("part/checkpoints/checkpoint_00000007.h5"))
        with h5py.File(path) as file:
            self.assertIn(b"particles_per_cell = 25", file.attrs["settings"])
            self.assertNotIn("command", file.attrs)
        self.assertEqual([str(p) for p in Path("part").rglob("*.h5")], [str(path)])
        self.run_program("small.ini", "--output", "part", "--restart", "latest")
        self.assertEqual(Run("part").summary["fingerprint"], Run("whole").summary["fingerprint"])


class Steps(Case):
    def test_every(self):
        seen = {2: [], 3: [], 5: []}
        sim = self.quiet("small.ini")
        for steps in (2, 3):
            sim.every(steps, lambda sim, steps=steps: seen[steps].append(sim.step_number))

        @sim.every(5)
        def five(sim):
            seen[5].append(sim.step_number)

        self.assertEqual(five.__name__, "five")
        sim.step(7)
        self.assertEqual(seen, {2: [2, 4, 6], 3: [3, 6], 5: [5]})
        sim.run()
        self.assertEqual((seen[5], sim.step_number), ([5, 10, 15, 20], 20))
        sim.run(until=22)
        self.assertEqual(sim.step_number, 22)
        with self.assertRaises(ValueError):
            sim.every(0, five)

    def test_number_of_steps_and_the_end(self):
        sim = self.quiet("small.ini")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual((sim.step(), sim.step(0), sim.step(6)), (1, 0, 6))
            self.assertEqual((sim.run(), sim.run(), sim.run(until=5)), (13, 0, 0))
            self.assertEqual(sim.run(until=21), 1)  # whoever names a step number knows it
        with self.assertWarnsRegex(LarmorWarning, "beyond step 20, at which the settings end the run") as seen:
            self.assertEqual(sim.step(3), 3)
        self.assertEqual(seen.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(sim.step(2), 2)  # it is said once
        self.assertEqual(sim.step_number, 26)
        with self.assertWarns(LarmorWarning):
            self.quiet("small.ini").step(21)

    def test_functions_may_fail_but_not_step(self):
        sim = self.quiet("small.ini")
        sim.every(3, lambda sim: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            sim.step(10)
        self.assertEqual(sim.step_number, 3)
        sim.step(1)
        again = self.quiet("small.ini")
        again.step(4)
        self.assertEqual(sim.fingerprint, again.fingerprint)
        again.every(1, lambda sim: sim.step())
        with self.assertRaisesRegex(LarmorError, "may not take steps"):
            again.step()

    def test_interrupt(self):
        sim = self.quiet("small.ini", run={"steps": 10**9})
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            begin = time.monotonic()
            while time.monotonic() < begin + 60:
                sim.step(1000)
        taken = sim.step_number
        again = self.quiet("small.ini", run={"steps": 10**9})
        again.step(taken)
        self.assertEqual(again.fingerprint, sim.fingerprint)

    def test_two_at_once_in_threads(self):
        prints = {}

        def work(seed):
            sim = self.quiet("small.ini", {"run.seed": seed})
            sim.step(10)
            prints[seed] = sim.fingerprint

        for seed in (1, 2):
            work(seed)
        alone = dict(prints)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(prints, alone)
        self.assertNotEqual(prints[1], prints[2])


class Arrays(Case):
    def test_a_view_is_read_only_and_outlives_the_simulation(self):
        sim = self.quiet("small.ini")
        sim.step(2)
        view, copy = sim.view("B/z"), sim["B/z"]
        self.assertFalse(view.flags.writeable)
        with self.assertRaises(ValueError):
            view[0, 0] = 1
        with self.assertRaises(ValueError):
            view.flags.writeable = True
        sim.close()
        del sim
        gc.collect()
        np.testing.assert_array_equal(view, copy)
        copy[0, 0] = 2  # a copy is the caller's

    def test_a_view_is_no_copy(self):
        sim = self.quiet("small.ini")
        address = sim.view("B/z").__array_interface__["data"][0]
        self.assertEqual(sim.view("B/z").__array_interface__["data"][0], address)
        self.assertNotEqual(sim["B/z"].__array_interface__["data"][0], address)
        self.assertEqual(sim.view("B/z").strides[0], 8 * (12 + 6))  # with three ghost cells on either side

    def test_vectors(self):
        sim = self.quiet("small.ini")
        self.assertEqual((sim.b.shape, sim.e.shape, sim.field("rho").shape), ((3, 8, 12), (3, 8, 12), (8, 12)))
        np.testing.assert_array_equal(sim.b[2], sim["B/z"])
        np.testing.assert_allclose(sim.b[0], 1)
        np.testing.assert_allclose(sim.x("B/z"), 0.5 * np.arange(1, 13))
        self.assertEqual(sim.places("B/z")[0], ("y_face", "x_face"))

    def test_energies(self):
        sim = self.quiet("small.ini")
        energies = sim.energies()
        self.assertAlmostEqual(energies["magnetic_x"], 0.5 * 24)
        self.assertAlmostEqual(energies["magnetic_z"], 0.5 * 0.09 * 24)
        self.assertEqual(sim.units["magnetic_x"], "n0 m_p v_A^2 d_i^2")
        total = sum(value for name, value in energies.items() if name != "energy_total")
        self.assertAlmostEqual(energies["energy_total"], total)

    def test_particles(self):
        sim = self.quiet("small.ini")
        particles, properties = sim.particles("protons"), sim.properties("protons")
        self.assertEqual(len(particles["x"]), 12 * 8 * 25)
        self.assertAlmostEqual(properties["weight"] * len(particles["x"]), 24)
        self.assertEqual((properties["charge"], properties["mass"]), (1, 1))
        self.assertAlmostEqual(particles["vx"].var(), 0.5, delta=5 * 0.5 * (2 / 2400)**0.5)

    def test_dataset(self):
        try:
            import xarray  # noqa: F401
        except ImportError:
            self.skipTest("no xarray here")
        self.run_program("small.ini", "--output", "out", "output.fields_every=20")
        sim = self.quiet("small.ini")
        sim.run()
        mine, other = sim.dataset(), Run("out").dataset().isel(time=-1)
        self.assertEqual(sorted(mine), sorted(other))
        for name in other:
            self.assertEqual(mine[name].dims, other[name].dims)
            np.testing.assert_array_equal(mine[name], other[name])
            np.testing.assert_allclose(mine[name][mine[name].dims[0]], other[name][other[name].dims[0]], rtol=1e-6)


class Errors(Case):
    def test_files_and_keys(self):
        with self.assertRaisesRegex(LarmorError, "absent.ini") as caught:
            Simulation("absent.ini")
        self.assertEqual(caught.exception.status, 2)
        with self.assertRaisesRegex(LarmorError, "did you mean dt"):
            Simulation("small.ini", run={"dtt": 1})
        with self.assertRaisesRegex(LarmorError, "absent.h5"):
            Simulation("small.ini", restart="absent.h5")

    def test_names(self):
        sim = self.quiet("small.ini")
        with self.assertRaisesRegex(LarmorError, "no mesh 'B'; there are: B/x"):
            sim["B"]
        with self.assertRaisesRegex(LarmorError, "no mesh 'q'"):
            sim.view("q")
        with self.assertRaisesRegex(LarmorError, "no species 'alphas'; there are: protons"):
            sim.particles("alphas")

    def test_step_that_cannot_be_taken(self):
        Path("small.ini").write_text(SMALL + "[background.gas]\ninitial = 1\nvx = 0.1\nsource = exp(1000*t)\n")
        sim = self.quiet("small.ini")
        with self.assertRaisesRegex(LarmorError, "step 18 .* cannot be taken") as caught:
            sim.run()
        self.assertEqual((caught.exception.status, sim.step_number), (1, 17))
        self.assertTrue(np.isfinite(sim["B/z"]).all())
        with self.assertRaisesRegex(LarmorError, "step 18"):
            sim.step()

    def test_closed(self):
        with self.quiet("small.ini") as sim:
            sim.step()
        for ask in (lambda: sim.time, lambda: sim["B/z"], sim.step, sim.save):
            with self.assertRaisesRegex(LarmorError, "closed"):
                ask()
        self.assertIn("closed", repr(sim))
        sim.close()

    def test_warnings(self):
        with self.assertWarnsRegex(LarmorWarning, "beyond its limit"):
            Simulation("small.ini", run={"dt": 0.2})
        self.quiet("small.ini").save()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            Simulation("small.ini", fields={"eta": 0.01, "eta_hyper": 1e-3}, restart="latest")
        changed = [str(w.message) for w in seen if "other settings" in str(w.message)]
        self.assertEqual(len(changed), 1)
        self.assertRegex(changed[0], r"checkpoint_00000000.h5: .*:\n  fields.eta: 0 -> 0.01\n  fields.eta_hyper: 0 -> ")

    def test_ranks(self):
        os.environ["OMPI_COMM_WORLD_SIZE"] = "4"
        self.addCleanup(os.environ.pop, "OMPI_COMM_WORLD_SIZE")
        with self.assertRaisesRegex(LarmorError, "MPI has started 4"):
            Simulation("small.ini")

    def test_every_function_of_the_header_is_declared(self):
        header = (ROOT / "include" / "larmor.h").read_text()
        self.assertEqual(sorted(re.findall(r"^[a-z].*\b(larmor_\w+)\(", header, re.M)), sorted(library.FUNCTIONS))

    def test_no_library(self):
        code = "import larmor\ntry:\n larmor.Simulation('small.ini')\nexcept larmor.LarmorError as e:\n print(e)"
        out = subprocess.run([ROOT / "tools" / "python.sh", "-c", code], check=True, capture_output=True, text=True,
                             env={**os.environ, "LARMOR_LIBRARY": "absent.so"}).stdout
        self.assertRegex(out, "cannot be loaded: absent.so.*LARMOR_LIBRARY names it")

    def test_settings(self):
        self.assertEqual(overrides_of({"run.steps": 3, "species": {"p": {"density": "1 + x", "mass": 1e-3}},
                                       "run": {"rebalance": False}, "output.flow": {"species": ["p", "q"]}}),
                         ["run.steps=3", "species.p.density=1 + x", "species.p.mass=0.001", "run.rebalance=off",
                          "output.flow.species=p, q"])


class Memory(Case):
    def test_simulations_are_freed(self):
        """Many simulations one after the other, not closed, do not fill the memory."""
        def resident():
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

        large = {"grid": {"nx": 256, "ny": 256, "lx": 128, "ly": 128}, "species.protons.particles_per_cell": 1}
        self.quiet("small.ini", large)
        before = resident()
        for _ in range(12):
            self.quiet("small.ini", large).view("rho")
        gc.collect()
        self.assertLess(resident() - before, 60e6)  # one has some 30 arrays of 0.5 MB, and 65536 particles


class Page(Case):
    def test_example(self):
        """The example of docs/user/library.md runs, and comes to the program's state."""
        page = (ROOT / "docs" / "user" / "library.md").read_text()
        code = re.search(r"^```python\n(.*?)^```", page, re.M | re.S)[1]
        Path("first.ini").write_text((ROOT / "config" / "first.ini").read_text())
        names = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LarmorWarning)
            exec(compile(code.replace("print(", "seen = ("), "library.md", "exec"), names)
        self.run_program("first.ini", "--output", "out", "--steps", "40", "grid.nx=64", "grid.ny=64")
        self.assertEqual(names["seen"][1], Run("out").summary["fingerprint"])
        self.assertEqual([round(t, 3) for t, _ in names["energies"]], [0.2, 0.4, 0.6, 0.8])
        self.assertTrue(names["checkpoint"].exists())


if __name__ == "__main__":
    unittest.main()
