"""Two runs side by side: their settings, fingerprints, time series and values on the grid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .errors import RunError
from .run import Run


OF_THE_MACHINE = {"rate"}  # columns that the machine gives, not the state
OF_ROUNDING = {"div_b_max"}  # columns that hold rounding errors


@dataclass
class Difference:
    """The largest difference of a quantity, over its largest value in both runs, and where it is found first."""

    name: str
    relative: float
    first: int | None = None  # step

    def is_beyond(self, tolerance: float) -> bool:
        """Rounding is beyond a tolerance of 0 only: its differences are as large as its values."""
        return not self.relative <= tolerance and (tolerance == 0 or self.name not in OF_ROUNDING)


@dataclass
class Comparison:
    settings: list[tuple[str, str | None, str | None]] = field(default_factory=list)  # key, values; None: not there
    fingerprints: tuple[str | None, str | None] = (None, None)  # of the last states; None: not of the same step
    series: list[Difference] = field(default_factory=list)  # columns at common steps
    meshes: list[Difference] = field(default_factory=list)  # at the last common step of each output
    missing: list[str] = field(default_factory=list)  # what only one run has

    def is_beyond(self, tolerance: float) -> bool:
        """Whether any value is."""
        return any(d.is_beyond(tolerance) for d in self.series + self.meshes)

    def largest(self) -> float:
        return max((d.relative for d in self.series + self.meshes), default=0.0)

    def ends_alike(self) -> bool:
        """Whether the last states are equal. True where they belong to different steps and cannot be compared."""
        return None in self.fingerprints or self.fingerprints[0] == self.fingerprints[1]

    def lines(self, tolerance: float = 0.0) -> list[str]:
        """What differs, by more than the tolerance."""
        out = [f"setting {key}: {_shown(a)} and {_shown(b)}" for key, a, b in self.settings]
        if None not in self.fingerprints:
            out.append("fingerprints: " + ("equal" if self.ends_alike() else "{} and {}".format(*self.fingerprints)))
        out += [f"only one run has {name}" for name in self.missing]
        for kind, differences in (("series", self.series), ("mesh", self.meshes)):
            beyond = [d for d in differences if d.is_beyond(tolerance)]
            out += [f"{kind} {d.name}: {d.relative:.3g} of its largest value"
                    + (f", first at step {d.first}" if kind == "series" else f", at step {d.first}") for d in beyond]
            if differences and not beyond:
                out.append(f"{kind}: {len(differences)} compared, " + (f"equal to {tolerance:g}" if tolerance else "all equal"))
        return out


def _shown(value: str | None) -> str:
    return "nothing" if value is None else value


def _relative(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """Where the values differ (numbers that are none are equal), and the largest difference over the largest value."""
    differs = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not differs.any():
        return differs, 0.0
    scale = max(np.nanmax(np.abs(a), initial=0), np.nanmax(np.abs(b), initial=0))
    largest = np.abs(a - b)[differs].max()
    return differs, float(largest / scale) if np.isfinite(largest) and scale > 0 else float("inf")


def _settings(one: Run, other: Run) -> list[tuple[str, str | None, str | None]]:
    flat = [{f"{section}.{key}": value for section, keys in run.settings.items() for key, value in keys.items()}
            for run in (one, other)]
    keys = list(dict.fromkeys([*flat[0], *flat[1]]))
    return [(key, flat[0].get(key), flat[1].get(key)) for key in keys
            if flat[0].get(key) != flat[1].get(key) and key != "output.directory"]


def _series(one: Run, other: Run, result: Comparison) -> None:
    a, b = one.series, other.series
    steps, of_a, of_b = np.intersect1d(a["step"], b["step"], return_indices=True)
    result.missing += [f"the column {name}" for name in dict.fromkeys([*a.names, *b.names]) if (name in a) != (name in b)]
    for name in a.names:
        if name in b and len(steps) and name not in OF_THE_MACHINE:
            differs, relative = _relative(np.asarray(a[name][of_a], float), np.asarray(b[name][of_b], float))
            result.series.append(Difference(name, relative, int(steps[differs][0]) if differs.any() else None))


def _meshes(one: Run, other: Run, result: Comparison) -> None:
    sources = one.sources, other.sources
    for source in dict.fromkeys([*sources[0], *sources[1]]):
        common = sorted(set(sources[0].get(source, [])) & set(sources[1].get(source, [])))
        if not common:
            result.missing.append(f"steps of the output {source}")
            continue
        with one.frame(source, common[-1]) as a, other.frame(source, common[-1]) as b:
            for name in dict.fromkeys([*a.names, *b.names]):
                if name not in a.names or name not in b.names or a[name].shape != b[name].shape:
                    result.missing.append(f"{source}: the mesh {name}, or its cells")
                    continue
                result.meshes.append(Difference(f"{source}: {name}", _relative(a[name], b[name])[1], common[-1]))


def compare(one: Run, other: Run) -> Comparison:
    """What differs between two runs: at the steps that both have."""
    result = Comparison(settings=_settings(one, other))
    if all((run.directory / "run.json").exists() for run in (one, other)):
        ends = [(run.summary.get("last_step"), run.summary.get("fingerprint")) for run in (one, other)]
        if ends[0][0] == ends[1][0]:
            result.fingerprints = (ends[0][1], ends[1][1])
    try:
        _series(one, other, result)
    except RunError:
        result.missing.append("a time series, or none has one")
    _meshes(one, other, result)
    return result
