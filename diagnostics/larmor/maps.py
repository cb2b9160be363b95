"""Values on the grid as maps and lines that cover the domain exactly, with limits that suit them.

A value is drawn at the place where the program has it: nothing is interpolated. On a map each value fills a rectangle of
the size of a cell around its place. Values on the upper faces of cells leave half a cell free at the lower side; what is
drawn there is the value of the upper side where the sides are periodic, else the value of the nearest place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .figure import new_figure, time_of
from .openpmd import Fields

GREY = "0.85"  # where there is no value
ENDS = tuple[float, float]


@dataclass(frozen=True)
class Picture:
    """A mesh [ny, nx] and where its values are. `domain`: ends of the cells, (x, y). `wraps`: whether the values go on at
    the other side, along x and y."""

    values: np.ndarray
    x: np.ndarray
    y: np.ndarray
    domain: tuple[ENDS, ENDS]
    wraps: tuple[bool, bool] = (False, False)

    @property
    def is_line(self) -> bool:
        return self.values.shape[0] == 1

    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """x and the values of a line; with periodic sides one more place beyond each end of the domain."""
        if not self.wraps[0]:
            return self.x, self.values[0]
        length = self.domain[0][1] - self.domain[0][0]
        return (np.concatenate([[self.x[-1] - length], self.x, [self.x[0] + length]]),
                np.concatenate([self.values[0, -1:], self.values[0], self.values[0, :1]]))

    def covering(self) -> tuple[np.ndarray, tuple[float, float, float, float]]:
        """Values that cover the whole domain, and the ends of what they cover: x, x, y, y. These may lie beyond the domain
        by a part of a cell."""
        values, ends = self.values, []
        for axis, places, (low, high), wraps in zip((1, 0), (self.x, self.y), self.domain, self.wraps):
            size = (high - low) / len(places)
            first = places[0] - size / 2
            if first > low + 1e-6 * size:
                values = np.concatenate([np.take(values, [-1 if wraps else 0], axis), values], axis)
                first -= size
            ends += [first, first + size * values.shape[axis]]
        return values, tuple(ends)

    def places(self) -> str:
        """Where in a cell the values are, in words. What stands for several cells may lie between its centre and a face."""
        shifts = [round((places[0] - low) * len(places) / (high - low) - 0.5, 3)
                  for places, (low, high) in zip((self.x, self.y), self.domain)]
        words = {(0, 0): "the centres", (0.5, 0): "the right faces", (0, 0.5): "the upper faces",
                 (0.5, 0.5): "the upper right corners"}
        where = words.get((shifts[0], 0 if self.is_line else shifts[1]))
        return f"values at {where} of cells" if where else "values in the middle of the places of which they are means"


def picture_of(frame: Fields, name: str, values: np.ndarray | None = None, size: ENDS | None = None) -> Picture:
    """A mesh, or other `values` at its places. `size`: of the run's domain; a part of the domain does not wrap."""
    domain = frame.domain(name)
    is_whole = [size is not None and abs(high - low - whole) < 1e-6 * whole
                for (low, high), whole in zip(domain, size or (0, 0))]
    wraps = tuple(periodic and whole for periodic, whole in zip(frame.periodic(), is_whole))
    return Picture(frame[name] if values is None else values, frame.x(name), frame.y(name), domain, wraps)


def title_of(frame: Fields, name: str) -> str:
    """The time of a mesh, and over what it is a mean."""
    average = frame.average(name)
    return time_of(frame.mesh_time(name)) + (f", {average}" if average else "")


# ---------------------------------------------------------------- limits


def finite(values: np.ndarray) -> np.ndarray:
    """The values that are finite numbers, in one dimension."""
    return values[np.isfinite(values)]


def ends_of(values: np.ndarray) -> ENDS | None:
    """The smallest and the largest value, without extremes of 0.1 %; None where no value is finite."""
    numbers = finite(values)
    return tuple(float(end) for end in np.percentile(numbers, (0.1, 99.9))) if numbers.size else None


def limits_of(ends: list[ENDS | None], precision: float = 1e-14) -> ENDS:
    """Limits that suit one picture or several with these ends: symmetric about 0 where the values have both signs. Where
    all values are equal, or differ by rounding alone, they are in the middle. 0 to 1 where there are none."""
    known = [pair for pair in ends if pair]
    low, high = min((pair[0] for pair in known), default=0.0), max((pair[1] for pair in known), default=1.0)
    largest = max(abs(low), abs(high))
    if high - low <= precision * largest:
        middle, half = (low + high) / 2, 0.5 * largest or 1.0
        return middle - half, middle + half
    if low < 0 < high and min(-low, high) > 0.1 * largest:
        return -largest, largest
    return low, high


def precision_of(values: np.ndarray) -> float:
    """How much of a value rounding may change."""
    return 64 * float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else 1e-14


def colours_of(values: np.ndarray) -> dict:
    """Diverging about 0 where the values have both signs, sequential otherwise."""
    low, high = limits_of([ends_of(values)], precision_of(values))
    return {"cmap": colour_map(low, high), "vmin": low, "vmax": high}


def colour_map(low: float, high: float) -> str:
    return "RdBu_r" if low == -high else "viridis"


def note_on(values: np.ndarray) -> str:
    """What a reader should know of values that are not finite, or all the same; "" where there is nothing to say."""
    numbers = finite(values)
    if not numbers.size:
        return "no finite value"
    missing = values.size - numbers.size
    spread = float(numbers.max()) - float(numbers.min())
    if spread <= precision_of(values) * float(np.abs(numbers).max()):
        return f"{numbers[0]:.6g} everywhere" + (f" but in {missing} cells without a value" if missing else "")
    return f"grey: no finite value, {missing} of {values.size} cells" if missing else ""


# ---------------------------------------------------------------- drawing


def _map_size(aspect: float) -> tuple[float, float]:
    """Width and height of a figure [inches] whose map is as high as its colour bar. `aspect`: height over width."""
    margins = 1.9, 1.3  # what labels, the title, the last line and the colour bar take
    width = min(5.1, 6.2 / aspect) if 0.1 < aspect < 10 else 5.1
    return width + margins[0], max(width * aspect, 1.2) + margins[1] if 0.1 < aspect < 10 else 4.6


def beyond(values: np.ndarray, low: float, high: float) -> str:
    """At which ends of a colour bar there are values beyond it, as matplotlib's `extend` has it."""
    numbers = finite(values)
    below, above = bool((numbers < low).any()), bool((numbers > high).any())
    return {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[below, above]


def draw(picture: Picture, label: str, title: str, limits: ENDS | None = None, cmap: str | None = None, norm=None):
    """A map or a line; returns the figure, its axes and what changes from frame to frame."""
    (left, right), (bottom, top) = picture.domain
    if picture.is_line:
        figure, axes = new_figure()
        line, = axes.plot(*picture.line())
        chosen = limits if limits is not None else _line_limits(picture.values)
        axes.set(xlabel="$x$  $[d_i]$", ylabel=label, title=title, xlim=(left, right), ylim=chosen)
        return figure, axes, line
    aspect = (top - bottom) / (right - left)
    figure, axes = new_figure(*_map_size(aspect))
    colours = {"norm": norm, "cmap": "RdBu_r"} if norm else colours_of(picture.values)
    if limits is not None:
        colours = {"cmap": colours["cmap"], "vmin": limits[0], "vmax": limits[1]}
    if cmap is not None:
        colours["cmap"] = cmap
    values, ends = picture.covering()
    image = axes.imshow(np.ma.masked_invalid(values), extent=ends, origin="lower", interpolation="nearest",
                        aspect="equal" if 0.1 < aspect < 10 else "auto", **colours)
    axes.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$", title=title, xlim=(left, right), ylim=(bottom, top),
             facecolor=GREY)
    figure.colorbar(image, ax=axes, label=label, pad=0.02, extend=beyond(values, *image.get_clim()))
    return figure, axes, image


def _line_limits(values: np.ndarray) -> ENDS | None:
    """None: matplotlib chooses; it would magnify the rounding of values that are all the same."""
    numbers = finite(values)
    is_flat = not numbers.size or np.ptp(numbers) <= precision_of(values) * np.abs(numbers).max()
    return limits_of([ends_of(values)], precision_of(values)) if is_flat else None
