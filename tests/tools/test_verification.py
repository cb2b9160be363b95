"""The pages of verification are made from the files of results. All cases are in that of CPUs."""

import importlib.util
import unittest
from pathlib import Path

from larmor import verify

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("verification", ROOT / "tools/verify.py")
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)
FILES = [ROOT / "docs/physics" / name for name in ("verification.json", "verification_gpu.json")]


class Verification(unittest.TestCase):
    def test_every_case_has_a_result(self):
        self.assertEqual(sorted(result.name for result in verify.read_results(FILES[0])), sorted(TOOL.names()))

    def test_results_of_gpus_are_of_cases(self):
        self.assertEqual([r.name for r in verify.read_results(FILES[1]) if r.name not in TOOL.names()], [])

    def test_pages(self):
        for file in FILES:
            path = f"docs/physics/{file.stem}"
            self.assertEqual((ROOT / f"{path}.md").read_text(), TOOL.page(file),
                             f"tools/python.sh tools/verify.py --page {path}.json > {path}.md")

    def test_every_example_has_its_place_in_the_course(self):
        self.assertEqual([name for name in TOOL.LESSONS.names()
                          if f"examples/{name}/README.md" not in (ROOT / "docs/user/examples.md").read_text()], [])


if __name__ == "__main__":
    unittest.main()
