"""The program, the Python package and the citation must state the same version."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def version(file: Path, pattern: str) -> str:
    found = re.findall(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    return found[0] if len(found) == 1 else f"{len(found)} versions in {file.name}"


class Versions(unittest.TestCase):
    def test_agree(self):
        header = next(file for file in ROOT.glob("include/**/*.h") if "define LM_VERSION" in file.read_text())
        program = version(header, r'^#define LM_VERSION "(.*)"$')
        self.assertRegex(program, r"^\d+\.\d+\.\d+$")
        self.assertEqual(version(ROOT / "diagnostics" / "pyproject.toml", r'^version = "(.*)"$'), program)
        self.assertEqual(version(ROOT / "CITATION.cff", r"^version: (.*)$"), program)


if __name__ == "__main__":
    unittest.main()
