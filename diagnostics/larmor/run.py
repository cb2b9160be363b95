"""Reads the output directory of a run: time series, fields, particles, maps of hits, summary.

    run = larmor.open("out")
    run.series["time"], run.series.units["time"]
    f = run.fields(500)
    f["B/z"], f.x("B/z"), f.time
    run.series.account("body_moon", "protons")["energy"]
    run.number("run.dt"), run.number("species.protons.drift_x")
    m = run.maps(500)
    m["body_moon"].hits["protons"].sum(axis=(1, 2)), m["body_moon"].x
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from .counts import Distribution, Maps
from .errors import RunError
from .openpmd import Fields, Particles, import_xarray
from .records import Probe, Track
from .series import Series
from .settings import constants_of, present_name, read_settings, value_of


class Run:
    """An output directory. Files are read when something of them is asked for."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        if not self.directory.is_dir():
            raise RunError(f"{directory} is no directory")

    def has_files(self) -> bool:
        """Whether the directory holds anything that a run writes."""
        names = ("run.ini", "run.json", "series.csv", "series.h5", "larmor.lock")
        folders = ("fields", "particles", "maps", "outputs", "distributions", "probes", "tracks", "checkpoints")
        return any((self.directory / name).exists() for name in names) or any(
            next((self.directory / folder).glob("*.h5"), None) for folder in folders)

    @property
    def name(self) -> str:
        """The name of the directory."""
        return self.directory.resolve().name

    @cached_property
    def series(self) -> Series:
        return Series.read(self.directory)

    @cached_property
    def summary(self) -> dict:
        """run.json."""
        return json.loads((self.directory / "run.json").read_text())

    @cached_property
    def settings(self) -> dict[str, dict[str, str]]:
        """run.ini: every key of the run, resolved, as text."""
        with open(self.directory / "run.ini") as stream:
            return read_settings(stream)

    def section(self, name: str) -> dict[str, str]:
        """The keys of a section, as text; empty where there is no such section, or no run.ini."""
        try:
            return self.settings.get(name, {})
        except OSError:
            return {}

    @property
    def size(self) -> tuple[float, float] | None:
        """lx and ly [d_i]; None where there is no run.ini that says them."""
        grid = self.section("grid")
        return (float(grid["lx"]), float(grid["ly"])) if {"lx", "ly"} <= grid.keys() else None

    def text(self, key: str) -> str:
        """A setting as run.ini has it: "species.protons.drift_x" is the key drift_x of the section species.protons."""
        section, _, name = key.rpartition(".")
        name = present_name(section, name)
        if section not in self.settings:
            raise RunError(f"no section {section!r} in the settings; there are: {', '.join(self.settings)}")
        if name not in self.settings[section]:
            raise RunError(f"no key {name!r} in [{section}]; there are: {', '.join(self.settings[section])}")
        return self.settings[section][name]

    def number(self, key: str) -> float:
        """A setting that is a number, or an expression of numbers, of [const] and of the grid: lx, ly, nx, ny, dx, dy."""
        return value_of(self.text(key), self._constants)

    @cached_property
    def _constants(self) -> dict[str, float]:
        return constants_of(self.settings)

    @property
    def field_steps(self) -> list[int]:
        return self._steps("fields")

    @property
    def particle_steps(self) -> list[int]:
        """Steps with particles, in files of their own or in those of the fields."""
        together = [step for step in self.field_steps if self._has_particles(self._path("fields", step))]
        return sorted({*self._steps("particles"), *together})

    @property
    def map_steps(self) -> list[int]:
        return self._steps("maps")

    @property
    def outputs(self) -> dict[str, list[int]]:
        """Names of [output.NAME] sections, and the steps of their files."""
        return self._named("outputs")

    @property
    def distributions(self) -> dict[str, list[int]]:
        """Names of [distribution.NAME] sections, and the steps of their files."""
        return self._named("distributions")

    def output(self, name: str, step: int | None = None) -> Fields:
        """The values on the grid of [output.NAME] at a step, by default the last one."""
        return Fields(self._named_file("outputs", name, step))

    def distribution(self, name: str, step: int | None = None) -> Distribution:
        """[distribution.NAME] at a step, by default the last one."""
        return Distribution(self._named_file("distributions", name, step))

    @property
    def probes(self) -> dict[str, list[int]]:
        """Names of [probe.NAME] sections, and the last steps of their files."""
        return self._named("probes")

    def probe(self, name: str) -> Probe:
        """The values at the points of [probe.NAME]."""
        return Probe(name, self._named_files("probes", name))

    @property
    def tracks(self) -> dict[str, list[int]]:
        """Names of [track.NAME] sections whose ions have been sampled, and the last steps of their files."""
        return self._named("tracks")

    def track(self, name: str) -> Track:
        """The orbits of the ions of [track.NAME]."""
        return Track(name, self._named_files("tracks", name))

    @property
    def species(self) -> list[str]:
        """Names of the species, in the order of the settings."""
        return [section.removeprefix("species.") for section in self.settings if section.startswith("species.")]

    @property
    def sources(self) -> dict[str, list[int]]:
        """The outputs of values on the grid, "fields" first, and their steps."""
        return ({"fields": self.field_steps} if self.field_steps else {}) | self.outputs

    def frame(self, source: str, step: int) -> Fields:
        """The values on the grid of one source at a step."""
        return self.fields(step) if source == "fields" else self.output(source, step)

    def dataset(self, source: str = "fields", names: Sequence[str] | None = None):
        """The meshes `names` (all) of all steps of an output as an xarray.Dataset, which needs the package xarray. Its
        coordinates are time, x and y at the centres of cells, x_face and y_face on their upper faces. A name has _ in
        place of /. Where a record lies beside the time of its file, the attribute time_offset says by how much. Of a mean
        over time the attribute average_samples has the number of its samples."""
        xarray = import_xarray()
        if source not in self.sources:
            raise RunError(f"no output {source!r} in {self.directory}; there are: {', '.join(self.sources) or 'none'}")
        found: dict[str, list[np.ndarray]] = {}
        labels: dict[str, tuple[tuple[str, ...], dict[str, np.ndarray], dict[str, float]]] = {}
        times = []
        for step in self.sources[source]:
            with self.frame(source, step) as frame:
                times.append(frame.time)
                for name in names or frame.names:
                    found.setdefault(name, []).append(frame[name])
                    average = frame.average(name)
                    labels[name] = (*frame.places(name), {"time_offset": frame.mesh_time(name) - frame.time}
                                    | ({"average_samples": average.samples} if average else {}))
        variables = {name.replace("/", "_"): xarray.DataArray(np.array(frames), dims=("time", *labels[name][0]),
                                                              coords={"time": times, **labels[name][1]},
                                                              attrs=labels[name][2])
                     for name, frames in found.items()}
        return xarray.Dataset(variables)

    def source_of(self, name: str, source: str | None = None) -> tuple[str, list[int]]:
        """The source that holds a mesh, and its steps. Without a name: one that is no mean over time, where there is one."""
        if source is not None and source not in self.sources:
            raise RunError(f"no output {source!r} in {self.directory}; there are: {', '.join(self.sources) or 'none'}")
        found: list[str] = []
        for candidate, steps in sorted(self.sources.items(), key=lambda item: self._is_mean(item[0])):
            if source not in (None, candidate):
                continue
            with self.frame(candidate, steps[-1]) as frame:
                if name in frame.names:
                    return candidate, steps
                found += [mesh for mesh in frame.names if mesh not in found]
        if not found:
            raise RunError(f"{self.directory} holds no fields ([output] fields_every, or [output.NAME])")
        raise RunError(f"no mesh {name!r} in {self.directory}; there are: {', '.join(found)}")

    def _is_mean(self, source: str) -> bool:
        """Whether a source is an [output.NAME] with `average`."""
        return self.section(f"output.{source}").get("average", "0") != "0"

    def _named(self, folder: str) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for file in sorted((self.directory / folder).glob("*.h5")):
            if match := re.fullmatch(r"(.+)_(\d{8,})\.h5", file.name):
                found.setdefault(match[1], []).append(int(match[2]))
        return found

    def _named_file(self, folder: str, name: str, step: int | None) -> Path:
        have = self._named(folder)
        if name not in have:
            raise RunError(f"no {folder} of the name {name!r} in {self.directory}; there are: {', '.join(have) or 'none'}")
        if step is not None and step not in have[name]:
            raise RunError(f"no {name} of step {step} in {self.directory}; there are: {', '.join(map(str, have[name]))}")
        return self.directory / folder / f"{name}_{max(have[name]) if step is None else step:08d}.h5"

    def _named_files(self, folder: str, name: str) -> list[Path]:
        self._named_file(folder, name, None)  # raises where there is none
        return [self._named_file(folder, name, step) for step in sorted(self._named(folder)[name])]

    def maps(self, step: int) -> Maps:
        return Maps(self._file("maps", step))

    def fields(self, step: int) -> Fields:
        return Fields(self._file("fields", step))

    def particles(self, step: int) -> Particles:
        together = self._path("fields", step)
        has_them = together.is_file() and self._has_particles(together)
        return Particles(together if has_them else self._file("particles", step))

    @staticmethod
    def _has_particles(file: Path) -> bool:
        with h5py.File(file, "r") as h5:
            return "particlesPath" in h5.attrs

    def each_fields(self) -> Iterator[Fields]:
        for step in self.field_steps:
            with self.fields(step) as fields:
                yield fields

    def history(self, name: str, reduce: Callable[[np.ndarray], np.ndarray] = lambda a: a,
                ) -> tuple[np.ndarray, np.ndarray]:
        """Times and one mesh of every output, passed through `reduce` and stacked along axis 0."""
        times, frames = [], []
        for fields in self.each_fields():
            times.append(fields.mesh_time(name))
            frames.append(reduce(fields[name]))
        if not frames:
            raise RunError(f"{self.directory} holds no fields")
        return np.array(times), np.array(frames)

    @staticmethod
    def _stem(kind: str) -> str:
        return "maps" if kind == "maps" else "data"

    def _steps(self, kind: str) -> list[int]:
        stem = self._stem(kind)
        files = (self.directory / kind).glob(f"{stem}_*.h5")
        names = (re.fullmatch(rf"{stem}_(\d+)\.h5", file.name) for file in files)
        return sorted(int(name[1]) for name in names if name)

    def _path(self, kind: str, step: int) -> Path:
        return self.directory / kind / f"{self._stem(kind)}_{step:08d}.h5"

    def _file(self, kind: str, step: int) -> Path:
        file = self._path(kind, step)
        if not file.is_file():
            have = self.particle_steps if kind == "particles" else self._steps(kind)
            there = f"steps {have[0]} to {have[-1]}, {len(have)} in all" if have else "none"
            raise RunError(f"no {kind} of step {step} in {self.directory}; there are: {there}")
        return file
