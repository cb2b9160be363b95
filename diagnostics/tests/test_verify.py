"""The tables of the examples' checks: a number outside its band, or none, must fail."""

import argparse
import io
import math
import os
import tempfile
import threading
import unittest
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock, patch

import numpy as np
from larmor import RunError
from larmor.program import Program
from larmor.verify import Result, Row, all_passed, at_most, examine, read_results, table, write_results


class Bands(unittest.TestCase):
    def test_relative(self):
        self.assertTrue(Row("a", 1.009, 1.0, 0.01).passed)
        self.assertFalse(Row("a", 1.011, 1.0, 0.01).passed)
        self.assertTrue(Row("a", -0.2323, -0.23, 0.02).passed)
        self.assertFalse(Row("a", 0.23, -0.23, 0.02).passed)

    def test_absolute(self):
        self.assertTrue(Row("a", 1e-7, 0.0, 1e-6, absolute=True).passed)
        self.assertFalse(Row("a", -2e-6, 0.0, 1e-6, absolute=True).passed)

    def test_nan_fails(self):
        self.assertFalse(Row("a", float("nan"), 1.0, 0.5).passed)

    def test_an_error_bar_does_not_widen_the_band(self):
        self.assertFalse(Row("a", 1.2, 1.0, 0.1, error=1.0).passed)

    def test_all(self):
        good, bad = Row("a", 1, 1, 0.1), Row("b", 2, 1, 0.1)
        self.assertTrue(all_passed([good]))
        self.assertFalse(all_passed([good, bad]))
        self.assertFalse(all_passed([]))

    def test_table(self):
        text = table([Row("a", 1, 1, 0.1), Row("b", 2, 1, 0.1)])
        self.assertIn("OUTSIDE", text.splitlines()[2])
        self.assertNotIn("OUTSIDE", text.splitlines()[1])
        self.assertIn("10.00%", text)

    def test_limit(self):
        self.assertTrue(at_most("a", -0.9, 1).passed)
        self.assertFalse(at_most("a", -1.1, 1).passed)
        self.assertFalse(at_most("a", math.nan, 1).passed)


class Results(unittest.TestCase):
    def test_verdict(self):
        good, bad = Row("a", 1, 1, 0.1), Row("b", 2, 1, 0.1)
        self.assertTrue(Result("x", "X", [good]).passed)
        self.assertFalse(Result("x", "X", [good, bad]).passed)
        self.assertFalse(Result("x", "X").passed)
        self.assertFalse(Result("x", "X", [good], failure="the run has stopped").passed)

    def test_file(self):
        """Numbers come back as they were, also those that JSON has not; a new result replaces only that of its case."""
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "new" / "results.json"
            rows = [Row("a", np.float64(0.1), 1.0, 0.5, error=0.01), Row("b", math.nan, 0.0, np.float32(0.5), absolute=True)]
            write_results(file, [Result("x", "X", rows, seconds=2.0), Result("y", "Y", [rows[0]])])
            write_results(file, [Result("y", "Y", failure="gone")])
            x, y = read_results(file)
        self.assertEqual((x.name, y.name, y.failure, y.rows), ("x", "y", "gone", []))
        self.assertEqual(x.rows[0], rows[0])
        self.assertTrue(math.isnan(x.rows[1].measured) and not x.rows[1].passed)


class Failures(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = Path(scratch.name)

    def program(self, script: str) -> Program:
        file = self.directory / "program.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return Program(file, self.directory)

    def test_what_an_earlier_run_has_left_does_not_count(self):
        output = self.directory / "out"
        output.mkdir()
        (output / "run.json").write_text("{}")
        with self.assertRaises(RunError):
            self.program("exit 0").run("", output=output)

    def test_the_message_of_the_program_is_kept(self):
        for code in (1, 2, 3):
            with self.assertRaisesRegex(RunError, "no such key"):
                self.program(f"echo no such key >&2; exit {code}").run("", may_stop=True)

    def test_some_runs_at_a_time(self):
        """Two that wait for each other, and results in the order of the items."""
        both = threading.Barrier(2, timeout=10)

        def work(item: int) -> int:
            both.wait()
            return item

        self.assertEqual(list(replace(self.program(""), jobs=2).each(work, [5, 3, 4, 1])), [5, 3, 4, 1])
        program = self.program("echo gone >&2; exit 1")
        with self.assertRaisesRegex(RunError, "gone"):
            list(program.each(program.run, ["a", "b"]))

    def test_jobs_and_ranks_are_positive(self):
        for option in ("--jobs", "--ranks"):
            parser = argparse.ArgumentParser(exit_on_error=False)
            Program.add_arguments(parser, Path("larmor"))
            with self.assertRaisesRegex(argparse.ArgumentError, "0 is below 1"):
                parser.parse_args([option, "0"])

    def test_mpirun_starts_runs_of_several_ranks(self):
        launcher = self.directory / "mpirun"
        launcher.write_text('#!/bin/sh\necho "$@" >&2\nexit 1\n')
        launcher.chmod(0o755)
        program = Program(self.directory / "larmor", self.directory, ranks=3)
        with patch.dict(os.environ, PATH=f"{self.directory}:{os.environ['PATH']}"), \
                self.assertRaisesRegex(RunError, f"-n 3 {self.directory}/larmor run"):
            program.run("")

    def test_any_exception_is_a_failure_of_its_case(self):
        program = self.program("exit 0")
        program.about["device"] = "that of another case"
        for error in (KeyError("x"), AssertionError("x"), ZeroDivisionError("x"), OSError("x")):
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                result = examine(program, "x", "X", "quick", Mock(side_effect=error))
            self.assertFalse(result.passed)
            self.assertIn(type(error).__name__, result.verdict)
            self.assertEqual(result.device, "")


if __name__ == "__main__":
    unittest.main()
