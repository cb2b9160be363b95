"""The ledger of particles: closed, and with one particle wrong."""

import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
import synthetic
from larmor import ledger
from larmor import Run, RunError

COLUMNS = {"leak_x_max_a": [0, 2, 5], "body_moon_a": [0, 1, 1], "injected_x_min_a": [0, 3, 6], "ionised_a": [0, 0, 4],
           "present_a": [10, 10, 14], "ledger_residual_a": [0, 0, 0]}


def account(number: int) -> dict:
    return {"number": number, "weight": 0.5 * number}


class Ledger(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = Path(self._folder.name)

    def run_with(self, residual: int = 0, **columns: list[int]) -> Run:
        """A run of two species: a comes and goes, b stays."""
        synthetic.write_series(self.path, {name: ("", np.array(values))
                                               for name, values in (COLUMNS | columns).items()})
        a = {"loaded": 10, "injected": {"x_min": account(6), "ionised": account(4)},
             "lost": {"x_max": account(5), "body_moon": account(1)}, "present": 14, "residual": residual}
        b = {"loaded": 7, "injected": {}, "lost": {}, "present": 7, "residual": 0}
        (self.path / "run.json").write_text(json.dumps({"species": [{"name": "a", "ledger": a},
                                                                    {"name": "b", "ledger": b}]}))
        return Run(self.path)

    def test_closes(self):
        run = self.run_with()
        self.assertEqual([row.measured for row in ledger.rows(run)], [0, 0])
        self.assertEqual([ledger.missing(run, one) for one in "ab"], [0, 0])
        self.assertEqual(ledger.rows(run, "wind")[1].label, "wind: residual of the ledger")
        self.assertEqual(ledger.particle_weight(run, "a", "ionised"), 0.5)
        with self.assertRaisesRegex(RunError, "no species 'c'.*a, b"):
            ledger.of(run, "c")

    def test_one_particle_wrong(self):
        for name, values in {"present_a": [10, 11, 14], "leak_x_max_a": [0, 2, 4], "body_moon_a": [1, 1, 1],
                             "injected_x_min_a": [0, 4, 6], "ionised_a": [0, 0, 5]}.items():
            with self.subTest(name):
                first, second = ledger.rows(self.run_with(**{name: values}))
                self.assertEqual((first.measured, first.passed, second.passed), (1, False, True))

    def test_residual(self):
        self.assertEqual(ledger.residual(self.run_with(ledger_residual_a=[0, -2, 0]), "a"), 2)
        self.assertEqual(ledger.residual(self.run_with(residual=-3), "a"), 3)


if __name__ == "__main__":
    unittest.main()
