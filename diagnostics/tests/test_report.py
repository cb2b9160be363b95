"""The page of a run, and two runs side by side."""

import base64
import contextlib
import html.parser
import io
import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
import PIL.Image
import synthetic
from larmor.__main__ import main
from larmor.compare import compare
from larmor.report import page
from larmor import Run

SETTINGS = "[run]\ndt = 0.1\n[grid]\nnx = 6\nny = 4\nlx = 3\nly = 2\n[species.protons]\ndensity = 1 < 2\n"
SUMMARY = {"software": "Larmor 1", "ended": "complete", "device": "CPU", "first_step": 0, "last_step": 4, "time": 0.4,
           "particles": 96, "particle_steps_per_second": 1e6, "seconds_total": 2.0, "energy_drift": 1e-6,
           "fingerprint": "0123456789abcdef", "warnings": ["the density is <low>"],
           "species": [{"name": "protons", "ledger": {
               "loaded": 100, "injected": {}, "lost": {"x_max": {"number": 4, "weight": 0.123456789, "momentum": [1.0, 2.0, 3.0],
                                                                 "energy": 2.5}}, "present": 96, "residual": 0}}]}


class Page(html.parser.HTMLParser):
    """Text and pictures of a page; every element that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.words, self.links, self.captions, self.rows = [], [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        if tag == "img":
            self.images.append(attributes["src"])
        elif tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.words.append(data)
        if self.open[-1:] == ["figcaption"]:
            self.captions.append(data)
        if self.open[-1:] in (["td"], ["th"]):
            self.rows[-1].append(data)


class Runs(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = Path(self._folder.name)

    def make(self, name, scale=1.0, summary=SUMMARY, settings=SETTINGS, steps=5):
        path = self.path / name
        t = 0.1 * np.arange(steps)
        synthetic.write_series(path, {"step": ("", np.arange(steps)), "time": ("1/Omega_ci", t),
                                      "magnetic_y": ("n0 m_p v_A^2 d_i^2", 1 + scale * t), "rate": ("1/s", t * scale)})
        ramp = np.arange(24.0).reshape(4, 6)
        for step in (0, 4):
            synthetic.write_fields(path, step, 0.1 * step, {"B/z": ramp + (scale - 1) * (step == 4), "n_protons": ramp + 1})
        (path / "run.ini").write_text(settings)
        if summary:
            (path / "run.json").write_text(json.dumps(summary))
        return path

    def test_page(self):
        parsed = Page(page(Run(self.make("a"))))
        self.assertEqual(parsed.open, [])
        self.assertEqual(len(parsed.images), 3)  # energies, B_z, n_protons
        self.assertTrue(all(link.startswith("data:image/png;base64,") for link in parsed.links))
        for image in parsed.images:
            picture = PIL.Image.open(io.BytesIO(base64.b64decode(image.split(",")[1])))
            self.assertGreater(min(picture.size), 200)
        text = "".join(parsed.words)
        for words in ("0123456789abcdef", "the density is <low>", "density = 1 < 2", "0 to 4"):
            self.assertIn(words, text)
        self.assertNotIn("http", text)

    def test_every_figure_has_a_caption_of_one_sentence(self):
        parsed = Page(page(Run(self.make("a"))))
        self.assertEqual(len(parsed.captions), len(parsed.images))
        for caption in parsed.captions:
            self.assertRegex(caption, r"^[A-Z][^.]*: look [^.]*\.$")

    def test_what_is_0_in_all_outputs_is_named_and_not_drawn(self):
        path = self.make("a")
        for step, once in ((0, 1.0), (4, 0.0)):
            meshes = {"B/x": np.zeros((4, 6)), "B/y": np.full((4, 6), once), "B/z": np.ones((4, 6))}
            synthetic.write_fields(path, step, 0.1 * step, meshes)
        text = page(Run(path))
        self.assertIn("Not drawn, because it is 0 in all outputs: B/x.", text)
        self.assertEqual(len(Page(text).images), 3)  # energies, B_y, B_z
        self.assertNotIn("Not drawn", page(Run(self.make("b"))))

    def test_budget_of_the_energy(self):
        judged = {"judged": "gains and losses", "because": "", "share": 0.0625}
        self.assertIn("0.0625 of the energy that can change", page(Run(self.make("a", summary=SUMMARY | {"energy": judged}))))
        unknown = {"judged": "nothing", "because": "a side is open", "share": 0.0625}
        self.assertIn("not judged: a side is open", page(Run(self.make("b", summary=SUMMARY | {"energy": unknown}))))
        self.assertNotIn("unexplained", page(Run(self.make("c"))))

    def test_the_ledger_is_a_table(self):
        rows = [row for row in Page(page(Run(self.make("a")))).rows if row[:1] == ["protons"]]
        self.assertEqual(rows, [["protons", "loaded", "100"], ["protons", "lost by x_max", "4", "0.123457", "2.5"],
                                ["protons", "present", "96"], ["protons", "residual", "0"]])

    def test_run_that_has_not_ended(self):
        text = page(Run(self.make("a", summary=None)))
        self.assertIn("has not ended", text)
        self.assertEqual(len(Page(text).images), 3)

    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(argument) for argument in arguments])
        return status, out.getvalue(), err.getvalue()

    def test_odd_runs(self):
        path = self.make("a", summary=SUMMARY | {"energy_drift": None})
        (path / "fields" / "data_00000004.h5").write_bytes(b"cut short")
        text = page(Run(path))
        self.assertIn("not finite", text)
        self.assertEqual(len(Page(text).images), 1)  # energies

    def test_command(self):
        path = self.make("a")
        self.assertEqual(self.run_main("report", path), (0, f"{path / 'report.html'}\n", ""))
        self.assertIn("<h1>a</h1>", (path / "report.html").read_text())
        self.assertEqual(self.run_main("report", self.path / "none")[0], 2)

    def test_equal_runs(self):
        one, other = self.make("a"), self.make("b")
        self.assertEqual(compare(Run(one), Run(other)).largest(), 0)
        status, out, _ = self.run_main("compare", one, other)
        self.assertEqual(status, 0)
        self.assertEqual(out, "fingerprints: equal\nseries: 3 compared, all equal\nmesh: 2 compared, all equal\n")

    def test_different_runs(self):
        one = self.make("a")
        other = self.make("b", scale=1.5, summary=SUMMARY | {"fingerprint": "f"}, settings=SETTINGS + "mass = 2\n")
        result = compare(Run(one), Run(other))
        self.assertEqual(result.settings, [("species.protons.mass", None, "2")])
        series = {d.name: d for d in result.series}
        self.assertNotIn("rate", series)
        self.assertEqual((series["time"].relative, series["magnetic_y"].first), (0, 1))
        self.assertAlmostEqual(series["magnetic_y"].relative, 0.2 / 1.6)
        meshes = {d.name: d.relative for d in result.meshes}
        self.assertEqual(meshes["fields: n_protons"], 0)
        self.assertAlmostEqual(meshes["fields: B/z"], 0.5 / 23.5)
        status, out, _ = self.run_main("compare", one, other, "--tolerance", "0.1")
        self.assertEqual(status, 1)
        self.assertIn("series magnetic_y: 0.125 of its largest value, first at step 1\n", out)
        self.assertIn("mesh: 2 compared, equal to 0.1\n", out)
        self.assertEqual(self.run_main("compare", one, other, "--tolerance", "0.13")[0], 0)

    def test_rounding_is_within_every_tolerance(self):
        paths = [self.make(name) for name in "ab"]
        for path, value in zip(paths, (1e-16, 3e-16)):
            synthetic.write_series(path, {"step": ("", np.arange(2)), "time": ("1/Omega_ci", np.arange(2.0)),
                                          "div_b_max": ("B0/d_i", np.full(2, value))})
        status, out, _ = self.run_main("compare", *paths)
        self.assertEqual(status, 1)
        self.assertIn("series div_b_max", out)
        status, out, _ = self.run_main("compare", *paths, "--tolerance", "1e-6")
        self.assertEqual(status, 0)
        self.assertIn("series: 3 compared, equal to 1e-06", out)

    def test_wrong_tolerance(self):
        path = self.make("a")
        for text in ("nan", "-1", "much"):
            with self.assertRaises(SystemExit):
                self.run_main("compare", path, path, "--tolerance", text)

    def test_missing_outputs(self):
        one, other = self.make("a"), self.make("b", steps=3)
        for file in (other / "fields").iterdir():
            file.unlink()
        result = compare(Run(one), Run(other))
        self.assertEqual(result.missing, ["steps of the output fields"])
        self.assertEqual(len(result.series), 3)
        self.assertEqual(self.run_main("compare", one, other)[0], 1)


if __name__ == "__main__":
    unittest.main()
