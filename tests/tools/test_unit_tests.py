"""The unit tests in C: each case runs once, and the table of injected faults names tests and lines that exist."""
import configparser
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "tests").glob("test_*.c"))
# A suite takes a case with one of Check's tcase_add... functions, or with a macro LOOP over a table.
ADDED = re.compile(r"\b(?:tcase_add_\w*test\w*|LOOP)\(\s*\w+\s*,\s*(\w+)")


def cases_and_added(file: Path) -> tuple:
    """The cases that a file defines, and the cases that its suites take."""
    text = re.sub(r"^#define.*", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return sorted(re.findall(r"\bSTART_TEST\((\w+)\)", text)), sorted(ADDED.findall(text))


class Cases(unittest.TestCase):
    def test_every_case_is_in_a_suite_once(self):
        for file in PROGRAMS:
            with self.subTest(file=file.name):
                cases, added = cases_and_added(file)
                self.assertEqual(added, cases)

    def test_no_header_has_a_case(self):
        for file in (ROOT / "tests").glob("*.h"):
            self.assertNotIn("START_TEST(", file.read_text(encoding="utf-8"), file.name)


class Faults(unittest.TestCase):
    def setUp(self):
        parser = configparser.RawConfigParser(delimiters=("=",), interpolation=None)
        parser.read(ROOT / "tests" / "faults" / "faults.ini", encoding="utf-8")
        self.faults = {name: parser[name] for name in parser.sections()}

    def test_programs_exist(self):
        programs = {file.stem[len("test_"):] for file in PROGRAMS} | {"random-ranks", "kept-ranks"}
        programs |= {f"example-{file.parent.name}" for file in (ROOT / "examples").glob("*/check.py")}
        for name, fault in self.faults.items():
            with self.subTest(fault=name):
                self.assertEqual(set(fault["tests"].split()) - programs, set())

    def test_lines_stand_once(self):
        for name, fault in self.faults.items():
            with self.subTest(fault=name):
                text = (ROOT / fault["file"]).read_text(encoding="utf-8")
                self.assertEqual(text.count(fault["from"]), 1)


if __name__ == "__main__":
    unittest.main()
