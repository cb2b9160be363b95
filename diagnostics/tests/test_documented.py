"""The configurations of docs/user/examples.md: they run, the commands of the page draw, and the plasma is as the page says."""

import contextlib
import io
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import matplotlib.image
import numpy as np
from larmor import Run
from larmor.__main__ import ABOUT, main

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LARMOR", ROOT / "build" / "release" / "larmor"))
PAGE = ROOT / "docs" / "user" / "examples.md"


@unittest.skipUnless(PROGRAM.is_file(), "the program is not built: run make")
class Documented(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_the_program_knows_the_commands_of_the_package(self):
        for name in ABOUT:
            answer = subprocess.run([PROGRAM, name, "run.out"], capture_output=True, text=True)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(f"-m larmor {name} DIR", answer.stderr)

    def follow(self, name, *overrides):
        """Does what the page says of a configuration, with few steps; returns the run."""
        blocks = re.findall(r"```(ini|sh)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
        texts = [text for kind, text in blocks if kind == "ini" and text == (ROOT / "config" / f"{name}.ini").read_text()]
        self.assertEqual(len(texts), 1, f"docs/user/examples.md holds config/{name}.ini once")
        Path(f"{name}.ini").write_text(texts[0])
        commands = next(text for kind, text in blocks if kind == "sh" and f"run {name}.ini" in text).splitlines()
        self.assertEqual(commands[:2], [f"cp config/{name}.ini {name}.ini", f"build/release/larmor run {name}.ini"])
        subprocess.run([PROGRAM, "run", f"{name}.ini", "--quiet", "--steps", "20", *overrides, "run.threads=2",
                        "run.backend=cpu", "output.fields_every=10"], check=True)
        self.assertGreater(len(commands), 2)
        for command in commands[2:]:
            words = command.split("#")[0].split()
            self.assertEqual(words[:3], ["tools/python.sh", "-m", "larmor"])
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(main(words[3:]), 0, command)
            self.assertGreater(min(matplotlib.image.imread(out.getvalue().strip()).shape[:2]), 300)
        return Run(f"{name}.out")

    def test_alphas(self):
        run = self.follow("alphas")
        with run.fields(0) as first:
            part = first["n_alphas"].mean()
            charge = first["n_protons"].mean() + 2 * part
        self.assertAlmostEqual(part, 0.05, places=6)
        self.assertAlmostEqual(charge, 1, places=6)
        momentum = run.series["momentum_x"][0] / (128 * 0.5)
        self.assertLess(abs(momentum), 0.01)  # 5 standard errors of 10^5 particles
        f = run.distribution("f", 0)
        speeds = {}
        for species in f.species:
            along = f.counts(species).sum(axis=1)
            speeds[species] = (along * (f.edges[0][1:] + f.edges[0][:-1]) / 2).sum() / along.sum()
        self.assertAlmostEqual(speeds["alphas"] - speeds["protons"], 0.8, delta=0.02)

    def test_firehose(self):
        run = self.follow("firehose", "output.moments.every=10")
        with run.output("moments", 0) as moments:
            across, along = (moments[f"T_{direction}_protons"].mean() for direction in ("perp", "par"))
        self.assertAlmostEqual(across / along, 0.3, delta=0.01)
        f = run.distribution("f", 0)
        counts, speed = f.counts("protons").sum(axis=1), (f.edges[0][1:] + f.edges[0][:-1]) / 2
        self.assertAlmostEqual((counts * speed**2).sum() / counts.sum(), 2.5, delta=0.05)
        self.assertGreater((run.track("fast")["vx"][0] > 3).sum(), 5)

    def test_alfvenic(self):
        run = self.follow("alfvenic", "output.flow.every=10")
        with run.fields(0) as fields, run.output("flow", 10) as flow:
            waves = [fields[f"B/{axis}"] - fields[f"B/{axis}"].mean() for axis in "xyz"]
            speeds = [flow[f"u_protons/{axis}"] for axis in "xyz"]
        self.assertAlmostEqual(np.sqrt(sum((wave**2).mean() for wave in waves)), 0.3, places=2)
        for wave, speed in zip(waves, speeds):
            self.assertGreater(np.sqrt((wave**2).mean()), 0.05)
            self.assertGreater(np.corrcoef(wave.ravel(), speed.ravel())[0, 1], 0.4)


if __name__ == "__main__":
    unittest.main()
