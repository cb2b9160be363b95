"""Maps and lines: they cover the domain, values are where they belong, and odd values have sensible limits."""

import tempfile
import unittest
import unittest.mock
import warnings
from pathlib import Path

import h5py
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import PIL.Image
import synthetic
from larmor import Run, maps, plot

matplotlib.use("Agg")


class Case(unittest.TestCase):
    """A run of 4 x 6 cells of 0.5 x 0.25, whose B/z is at the upper right corners of cells."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(plt.close, "all")
        self.path = Path(folder.name) / "wave.out"
        self.ramp = np.arange(24.0).reshape(4, 6)

    def write(self, values, step=4, periodic=True, position=(0.5, 0.5), **options):
        synthetic.write_fields(self.path, step, 0.1 * step, {"B/z": values}, position=position, **options)
        folder, stem = options.get("folder", "fields"), options.get("stem", "data")
        with h5py.File(self.path / folder / f"{stem}_{step:08d}.h5", "a") as h5:
            h5[f"data/{step}/meshes"].attrs["fieldBoundary"] = np.array([b"periodic" if periodic else b"other"] * 4)
        (self.path / "run.ini").write_text("[grid]\nnx = 6\nny = 4\nlx = 1.5\nly = 2\n")

    def figure(self, **options):
        figure = plot.fields(Run(self.path), "B/z", **options)
        figure.canvas.draw()
        return figure, figure.axes[0]

    def shown(self, axes, x, y):
        """The value that a map has at a place."""
        image, = axes.images
        values, (left, right, bottom, top) = image.get_array(), image.get_extent()
        i = int((x - left) / (right - left) * values.shape[1])
        j = int((y - bottom) / (top - bottom) * values.shape[0])
        return values[j, i]


class Places(Case):
    def test_axes_cover_the_domain_and_values_are_where_they_belong(self):
        for position in ((0.5, 0.5), (0.0, 0.5), (0.5, 0.0), (0.0, 0.0)):
            with self.subTest(position=position):
                self.write(self.ramp, position=position)
                _, axes = self.figure()
                self.assertEqual((axes.get_xlim(), axes.get_ylim()), ((0.0, 1.5), (0.0, 2.0)))
                with Run(self.path).fields(4) as frame:
                    places = [(x, y, self.ramp[j, i]) for j, y in enumerate(frame.y("B/z")) for i, x in enumerate(frame.x("B/z"))]
                for x, y, value in places:
                    self.assertEqual(self.shown(axes, x - 0.01, y - 0.01), value)

    def test_the_lower_half_cell_is_that_of_the_other_side_where_the_sides_are_periodic(self):
        self.write(self.ramp)
        _, axes = self.figure()
        self.assertEqual([self.shown(axes, 0.01, 0.01), self.shown(axes, 0.01, 0.5), self.shown(axes, 0.25, 0.01)], [23, 5, 18])

    def test_it_is_that_of_the_nearest_place_at_walls_and_in_a_part_of_the_domain(self):
        self.write(self.ramp, periodic=False)
        self.assertEqual(self.shown(self.figure()[1], 0.01, 0.5), 0)
        self.write(self.ramp[:, :3], folder="outputs", stem="part", offset=(0.25, 0.625))
        _, axes = self.figure(source="part")
        self.assertEqual((axes.get_xlim(), self.shown(axes, 0.51, 0.5)), ((0.5, 1.25), 0))

    def test_lines_cover_the_domain(self):
        for periodic in (True, False):
            self.write(self.ramp[:1], periodic=periodic)
            _, axes = self.figure()
            x, values = axes.lines[0].get_data()
            self.assertEqual(axes.get_xlim(), (0.0, 1.5))
            self.assertAlmostEqual(x.max(), 1.75 if periodic else 1.5)
            self.assertAlmostEqual(np.interp(0.25, x, values), 0)
            self.assertAlmostEqual(np.interp(0.0, x, values), 5 if periodic else 0)

    def test_all_words_are_in_the_figure_and_colour_bars_as_high_as_the_map(self):
        for rows, columns in ((4, 6), (16, 16), (12, 16), (16, 24), (24, 48), (8, 48), (48, 16)):
            for scale in (1.0, 1e-3):
                with self.subTest(rows=rows, columns=columns, scale=scale):
                    values = scale * np.sin(np.arange(rows * columns)).reshape(rows, columns)
                    synthetic.write_fields(self.path, 4, 0.4, {"B/z": values}, spacing=(0.5, 0.5))
                    figure, axes = self.figure()
                    bar = figure.axes[1]
                    for words in (axes.title, axes.xaxis.label, axes.yaxis.label, bar.yaxis.label):
                        box = words.get_window_extent()
                        self.assertTrue(box.x0 >= 0 <= box.y0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, words)
                    share = bar.get_window_extent().height / axes.get_window_extent().height
                    self.assertTrue(0.85 < share < 1.02, share)  # pointed ends take a part of the bar
                    plt.close(figure)

    def test_figures_say_the_run_the_file_the_time_and_where_in_a_cell_values_are(self):
        self.write(self.ramp)
        figure, axes = self.figure()
        self.assertEqual(figure._supxlabel.get_text(),
                         "wave.out/fields/data_00000004.h5, values at the upper right corners of cells")
        self.assertIn("0.4", axes.get_title())
        self.write(self.ramp, position=(0.5, 0.0))
        self.assertIn("upper faces", self.figure()[0]._supxlabel.get_text())


class Films(Case):
    def film(self, frames, **options):
        """The frames of a GIF, [row, column, red green blue], and how often a figure was drawn."""
        for step, values in enumerate(frames):
            self.write(values, step)
        with unittest.mock.patch.object(matplotlib.figure.Figure, "draw", autospec=True,
                                        side_effect=matplotlib.figure.Figure.draw) as draw:
            path = plot.movie(Run(self.path), "B/z", self.path / "film.gif", rate=20, **options)
        with PIL.Image.open(path) as film:
            self.assertEqual(film.info["duration"], 50)
            found = []
            for k in range(film.n_frames):
                film.seek(k)
                found.append(np.asarray(film.convert("RGB"), dtype=int))
        return found, draw.call_count

    def test_each_frame_has_its_values_and_its_time(self):
        levels = (0.0, 0.5, 1.0)
        frames, _ = self.film([np.full((4, 6), level) for level in levels], limits=(0, 1), cmap="viridis")
        self.assertEqual(len(frames), 3)
        for level, frame in zip(levels, frames):
            colour = 255 * np.array(matplotlib.colormaps["viridis"](level)[:3])
            middle = frame[frame.shape[0] // 2, frame.shape[1] // 3]
            self.assertLess(np.abs(middle - colour).max(), 8)
        self.assertTrue((frames[0][:30] != frames[1][:30]).any())  # the title

    def test_the_number_of_drawings_does_not_depend_on_that_of_the_frames(self):
        counts = {self.film([self.ramp + k for k in range(number)])[1] for number in (2, 9)}
        self.assertEqual(len(counts), 1)
        self.assertLessEqual(counts.pop(), 2)


class OddValues(Case):
    """Limits, and what is said below the figure; no warning of numpy or matplotlib."""

    def drawn(self, values):
        self.write(np.asarray(values))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure, axes = self.figure()
        return figure._supxlabel.get_text(), axes.images[0].get_clim()

    def test_constant(self):
        words, limits = self.drawn(np.full((4, 6), 3.0))
        self.assertTrue(words.endswith(", 3 everywhere"), words)
        self.assertEqual(limits, (1.5, 4.5))
        self.assertEqual(self.drawn(np.zeros((4, 6)))[1], (-1, 1))
        rounded = 3 + np.spacing(3.0) * (self.ramp > 7)
        np.testing.assert_allclose(self.drawn(rounded)[1], (1.5, 4.5))
        self.assertLess(np.ptp(self.drawn(1 + 1e-9 * self.ramp)[1]), 1e-7)  # no rounding

    def test_not_finite(self):
        half = self.ramp.copy()
        half[:2] = np.nan
        half[3, 0] = np.inf
        words, limits = self.drawn(half)
        self.assertIn("grey: no finite value, 13 of 24 cells", words)
        self.assertTrue(12 <= limits[0] < limits[1] <= 23)
        words, limits = self.drawn(np.full((4, 6), np.nan))
        self.assertIn("no finite value", words)
        self.assertEqual(limits, (0, 1))

    def test_films(self):
        for step, values in enumerate((np.zeros((4, 6)), np.full((4, 6), np.nan), 1e-3 * (self.ramp - 12), self.ramp * np.nan)):
            self.write(values, step)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            path = plot.movie(Run(self.path), "B/z", self.path / "film.gif")
        self.assertTrue(path.is_file())
        ends = [maps.ends_of(values) for values in (np.zeros(4), np.full(4, np.nan), np.array([-1e-3, 1e-3]))]
        low, high = maps.limits_of(ends)
        self.assertEqual(low, -high)
        self.assertLess(high, 1.1e-3)  # the frame of zeros widens nothing


if __name__ == "__main__":
    unittest.main()
