"""The errors that tools/check_docs.py finds."""
import tempfile
import unittest
from pathlib import Path

import check_docs

FIRST = "; A first file\n[run]\ndt = 1\n"


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / "config").mkdir()
        (self.root / "config/first.ini").write_text(FIRST)
        self.write("README.md", "# Title\n")

    def write(self, name, text):
        (self.root / name).write_text(text)

    def test_good(self):
        self.write("a.md", "# A `key` of [x.NAME]\n\n[file](config/first.ini) [folder](config) [web](https://b.org/c)\n"
                           "[up](#a-key-of-xname) [it](b.md#two-1)\n\n```sh\n[no](link)\n```\n`[nor](this)`\n")
        self.write("b.md", f"# Two\n\n## Two\n\n```ini\n{FIRST}```\n")
        self.assertEqual(check_docs.check(self.root), [])

    def test_links(self):
        self.write("a.md", "# A\n\n[x](none.md)\n[y](b.md#three) [z](#b)\n[out](../x)\n")
        self.write("b.md", "# Two\n\n```\n# three\n```\n")
        wrong = check_docs.check(self.root)
        self.assertEqual([w.split(" ")[0] for w in wrong], ["a.md:3:", "a.md:4:", "a.md:4:", "a.md:5:"])

    def test_listing(self):
        self.write("a.md", f"```ini\n{FIRST}dt = 2\n```\n")
        self.assertEqual(check_docs.check(self.root), ["a.md: a block of code differs from config/first.ini"])

    def test_long_readme(self):
        self.write("README.md", "\n" * 150 + "x" * 121 + "\n")
        self.assertEqual(len(check_docs.check(self.root)), 2)


if __name__ == "__main__":
    unittest.main()
