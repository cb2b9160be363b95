"""The page of verification is made from the file of results, and all cases are in both."""

import importlib.util
import unittest
from pathlib import Path

from larmor import verify

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("verification", ROOT / "tools/verify.py")
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)
RESULTS = verify.read_results(ROOT / "docs/physics/verification.json")


class Verification(unittest.TestCase):
    def test_every_case_has_a_result(self):
        self.assertEqual(sorted(result.name for result in RESULTS), sorted(TOOL.names()))

    def test_page(self):
        self.assertEqual((ROOT / "docs/physics/verification.md").read_text(), TOOL.page(RESULTS),
                         "tools/python.sh tools/verify.py --page docs/physics/verification.json > docs/physics/verification.md")

    def test_every_example_has_its_place_in_the_course(self):
        self.assertEqual([name for name in TOOL.LESSONS.names()
                          if f"examples/{name}/README.md" not in (ROOT / "docs/user/examples.md").read_text()], [])


if __name__ == "__main__":
    unittest.main()
