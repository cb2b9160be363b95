"""The injection of faults: what a test program or an example has said, and what has to be built for it."""
import importlib.util
import unittest
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("faults_run", Path(__file__).resolve().parents[1] / "faults" / "run.py")
run = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run)

TABLE = """== waves
                    measured  std. error   expected  deviation   band
R, k = 0.1: omega   0.105104       2e-08   0.105125     -0.02%  1.00%       ok
R, k = 0.2: omega   0.310907       3e-08   0.220998    +40.68%  1.00%  OUTSIDE

== summary
waves            2 numbers, 1 OUTSIDE
"""


class Witnesses(unittest.TestCase):
    def test_row_of_an_example(self):
        self.assertEqual(run.first_failure(TABLE), "R, k = 0.2: omega")

    def test_case_of_a_program(self):
        self.assertEqual(run.first_failure("tests/test_fields.c:10:F:ohm:ohm_term:0: wrong"), "ohm_term")

    def test_run_that_stops(self):
        self.assertEqual(run.first_failure("== summary\nwaves            FAILED\n"), "it ends early")

    def test_check_that_could_not_begin_has_seen_nothing(self):
        self.assertTrue(run.has_no_check("no Python with h5py, numpy and matplotlib found"))
        self.assertFalse(run.has_no_check(TABLE))

    def test_what_is_built_and_run(self):
        self.assertEqual(run.needs("example-waves"), ["build/release/larmor"])
        self.assertEqual(run.command_of("example-waves")[:3], ["tools/python.sh", "examples/run.py", "waves"])
        self.assertEqual(run.command_of("fields"), ["build/release/tests/test_fields"])
        self.assertEqual(run.command_of("random-ranks")[0], "mpirun")


if __name__ == "__main__":
    unittest.main()
