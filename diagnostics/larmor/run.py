"""Reads the output directory of a run: time series, fields, particles, maps of hits, summary.

    run = Run("out")
    run.series["time"], run.series.units["time"]
    f = run.fields(500)
    f["B/z"], f.x("B/z"), f.time
    run.series.account("body_moon", "protons")["energy"]
    run.number("run.dt"), run.number("species.protons.drift_x")
    m = run.maps(500)
    m["body_moon"].hits["protons"].sum(axis=(1, 2)), m["body_moon"].x
"""

from __future__ import annotations

import ast
import csv
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from .records import Probe, Track
from .settings import present_name, read_settings


class RunError(RuntimeError):
    """The directory does not hold what was asked for; the message says what is there."""


def _text(value: object) -> str:
    """An HDF5 string attribute, whatever h5py makes of it."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _numbers(value: object) -> np.ndarray:
    return np.atleast_1d(np.asarray(value, dtype=float))


def place_names(y_at_face: bool, x_at_face: bool) -> tuple[str, str]:
    """Names of the axes of an array whose values are at the centres of cells or on their upper faces."""
    return ("y_face" if y_at_face else "y", "x_face" if x_at_face else "x")


def import_xarray():
    try:
        import xarray
    except ImportError:
        raise ImportError("labelled arrays need the package xarray: python3 -m pip install xarray") from None
    return xarray


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos}
_FUNCTIONS = {"sqrt": math.sqrt, "exp": math.exp, "sin": math.sin, "cos": math.cos, "abs": abs, "min": min, "max": max}


def _evaluate(node: ast.expr, constants: dict[str, float]) -> float:
    """The value of a parsed expression; raises ValueError where it depends on more than constants."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.operand, constants))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left, constants), _evaluate(node.right, constants))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        return _FUNCTIONS[node.func.id](*(_evaluate(argument, constants) for argument in node.args))
    raise ValueError


class Series:
    """The time series: columns by name, all of the same length, with their units."""

    def __init__(self, columns: dict[str, np.ndarray], units: dict[str, str]) -> None:
        self._columns = columns
        self.units = units

    @property
    def names(self) -> list[str]:
        return list(self._columns)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._columns:
            raise RunError(f"no column {name!r} in the series; there are: {', '.join(self._columns)}")
        return self._columns[name]

    def account(self, name: str, species: str) -> dict[str, np.ndarray]:
        """What has left or entered by "leak_x_min", "body_NAME", "energy_stopped", "injected_x_min", "ionised", ...
        until each row: number, weight, momentum [row, 3] and energy."""
        def column(quantity: str) -> np.ndarray:
            return self[f"{name}{quantity}_{species}"]
        return {"number": column(""), "weight": column("_weight"), "energy": column("_energy"),
                "momentum": np.stack([column(f"_momentum_{axis}") for axis in "xyz"], axis=-1)}

    def __len__(self) -> int:
        return min((len(column) for column in self._columns.values()), default=0)

    @classmethod
    def read(cls, directory: Path) -> Series:
        """From series.h5, or from series.csv where the HDF5 file is absent or cannot be read."""
        try:
            return cls.read_hdf5(directory / "series.h5")
        except OSError:
            pass
        try:
            return cls.read_csv(directory / "series.csv")
        except FileNotFoundError:
            raise RunError(f"{directory} holds neither series.h5 nor series.csv") from None

    @classmethod
    def read_hdf5(cls, file: Path) -> Series:
        with h5py.File(file, "r") as h5:
            sets = {name: item for name, item in h5.items() if isinstance(item, h5py.Dataset) and item.ndim == 1}
            rows = min((len(item) for item in sets.values()), default=0)  # a killed run may have cut a row
            columns = {name: item[:rows] for name, item in sets.items()}
            units = {name: _text(item.attrs.get("units", "")) for name, item in sets.items()}
        return cls(columns, units)

    @classmethod
    def read_csv(cls, file: Path) -> Series:
        """Header `name[unit],...`; a last line that is cut short is left out."""
        with open(file, newline="") as stream:
            rows = [row for row in csv.reader(stream) if row]
        if not rows:
            raise RunError(f"{file} is empty")
        names, units = cls.parse_head(",".join(rows[0]), file)
        body = [row for row in rows[1:] if len(row) == len(names)]
        table = np.array(body, dtype=float).reshape(len(body), len(names))
        columns = {name: table[:, i] for i, name in enumerate(names)}
        if "step" in columns:
            columns["step"] = columns["step"].astype(np.int64)
        return cls(columns, units)

    @staticmethod
    def parse_head(line: str, file: Path) -> tuple[list[str], dict[str, str]]:
        """Names and units of the columns, from the first line of series.csv."""
        heads = [re.fullmatch(r"\s*([^\[\]]+?)\s*(?:\[(.*)\])?\s*", head) for head in line.split(",")]
        if not all(heads):
            raise RunError(f"{file}: the header is not name[unit],name[unit],...")
        return [head[1] for head in heads], {head[1]: head[2] or "" for head in heads}


class _Iteration:
    """One openPMD file with a single iteration."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._h5 = h5py.File(file, "r")
        data = self._h5["data"]
        self.step = int(next(iter(data)))
        self._group = data[str(self.step)]
        self.time = float(_numbers(self._group.attrs["time"])[0])
        self.dt = float(_numbers(self._group.attrs["dt"])[0])

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._h5.close()

    def _child(self, path_attribute: str, fallback: str):
        path = _text(self._h5.attrs.get(path_attribute, fallback)).strip("/")
        if path not in self._group:
            raise RunError(f"{self.file} has no {path}")
        return self._group[path]


@dataclass(frozen=True)
class Average:
    """Over what the values of a mesh are a mean."""

    samples: int
    first_step: int
    last_step: int

    def __str__(self) -> str:
        return f"mean of {self.samples} sample{'s' if self.samples > 1 else ''}, steps {self.first_step} to {self.last_step}"


class Fields(_Iteration):
    """The meshes of one step. Names are `record` or `record/component`: "B/z", "rho", "n_protons"."""

    @cached_property
    def _meshes(self) -> h5py.Group:
        return self._child("meshesPath", "meshes/")

    @property
    def names(self) -> list[str]:
        found: list[str] = []
        for record, item in self._meshes.items():
            found += [record] if isinstance(item, h5py.Dataset) else [f"{record}/{component}" for component in item]
        return found

    def _record(self, name: str) -> tuple[h5py.Group | h5py.Dataset, h5py.Dataset]:
        if name not in self.names:
            raise RunError(f"no mesh {name!r} in {self.file.name}; there are: {', '.join(self.names)}")
        return self._meshes[name.split("/")[0]], self._meshes[name]

    def __getitem__(self, name: str) -> np.ndarray:
        """The array [ny, nx] in the code's units."""
        record, component = self._record(name)
        data = component[()]
        return data.T if self._axes(record) == ["x", "y"] else data

    def places(self, name: str) -> tuple[tuple[str, str], dict[str, np.ndarray]]:
        """Names of the two axes of a mesh, and its coordinates by these names: y or y_face, x or x_face."""
        record, component = self._record(name)
        y, x = place_names(*(bool(position > 0) for position in _numbers(component.attrs["position"])))
        return (y, x), {y: self.y(name), x: self.x(name)}

    def path_of(self, name: str) -> tuple[str, int]:
        """The path of a mesh in the file, and the bytes of a value. The array in the file is [ny, nx]."""
        record, component = self._record(name)
        if self._axes(record) != ["y", "x"]:
            raise RunError(f"{name} in {self.file} has the axes {', '.join(self._axes(record))}; y, x are needed")
        return component.name, component.dtype.itemsize

    @staticmethod
    def _axes(record: h5py.Group | h5py.Dataset) -> list[str]:
        return [_text(label) for label in np.atleast_1d(record.attrs["axisLabels"])]

    def _coordinate(self, name: str, axis: str) -> np.ndarray:
        record, component = self._record(name)
        at = self._axes(record).index(axis)
        spacing = float(_numbers(record.attrs["gridSpacing"])[at])
        offset = float(_numbers(record.attrs["gridGlobalOffset"])[at])
        position = float(_numbers(component.attrs["position"])[at])
        return offset + (np.arange(component.shape[at]) + position) * spacing

    def spacing(self, name: str) -> tuple[float, float]:
        """Distances between the values of a mesh along x and y [d_i]."""
        record, _ = self._record(name)
        axes, spacing = self._axes(record), _numbers(record.attrs["gridSpacing"])
        return float(spacing[axes.index("x")]), float(spacing[axes.index("y")])

    def x(self, name: str) -> np.ndarray:
        """x of the values of a mesh [d_i]."""
        return self._coordinate(name, "x")

    def y(self, name: str) -> np.ndarray:
        """y of the values of a mesh [d_i]."""
        return self._coordinate(name, "y")

    def mesh_time(self, name: str) -> float:
        """Time of a record, which may lie beside the file's [1/Omega_ci]. Of a mean over time it is the middle."""
        record, _ = self._record(name)
        return self.time + float(_numbers(record.attrs.get("timeOffset", 0.0))[0])

    def average(self, name: str) -> Average | None:
        """Over which samples a mesh is a mean; None where it has the values of one step."""
        attributes = self._record(name)[0].attrs
        if "averageSamples" not in attributes:
            return None
        return Average(*(int(attributes[key]) for key in ("averageSamples", "averageFirstStep", "averageLastStep")))


class Particles(_Iteration):
    """The particles of one step, by species."""

    @cached_property
    def _particles(self) -> h5py.Group:
        return self._child("particlesPath", "particles/")

    @property
    def species(self) -> list[str]:
        return list(self._particles)

    def get(self, species: str, record: str) -> np.ndarray:
        """A record such as "position/x", "momentum/z", "charge", "id"; positions with positionOffset added."""
        if species not in self._particles:
            raise RunError(f"no species {species!r} in {self.file.name}; there are: {', '.join(self.species)}")
        group = self._particles[species]
        if record not in group:
            raise RunError(f"species {species!r} has no {record!r}")
        values = self._values(group[record])
        if record.startswith("position/"):
            offset = record.replace("position/", "positionOffset/", 1)
            values = values + (self._values(group[offset]) if offset in group else 0)
        return values

    @staticmethod
    def _values(item: h5py.Group | h5py.Dataset) -> np.ndarray:
        if isinstance(item, h5py.Dataset):
            return item[()]
        shape = tuple(int(n) for n in np.atleast_1d(item.attrs["shape"]))
        return np.full(shape, _numbers(item.attrs["value"])[0])


@dataclass(frozen=True)
class SurfaceMap:
    """What has hit one side or body, face by face."""

    particles: str  #: what the surface does to particles: "absorbing", ...
    x: np.ndarray  #: middles of the faces [d_i]
    y: np.ndarray
    normal: np.ndarray  #: [face, 2], out of the surface into the plasma
    length: np.ndarray  #: [d_i]
    hits: dict[str, np.ndarray]  #: by species: [face, angle, energy], since the run began
    weight: dict[str, float]  #: of one particle [n0 d_i^2]
    mass: dict[str, float]  #: of one ion [m_p]


class Maps:
    """Where, under which angle and how fast particles have hit sides and bodies until one step. Surfaces are x_min, ...
    and body_NAME. Bin k of an angle lies between angle_edges k and k + 1 [degrees from the normal]; bin k of an energy
    between energy_edges k - 1 and k [m_p v_A^2], with everything slower in the first and faster in the last."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with h5py.File(file, "r") as h5:
            self.step, self.time = int(h5.attrs["step"]), float(h5.attrs["time"])
            self.angle_edges, self.energy_edges = h5["angle_edges"][()], h5["energy_edges"][()]
            self._surfaces = {name: self._read(item) for name, item in h5.items() if isinstance(item, h5py.Group)}

    @staticmethod
    def _read(group: h5py.Group) -> SurfaceMap:
        sets = {name.removeprefix("hits_"): item for name, item in group.items() if name.startswith("hits_")}
        return SurfaceMap(particles=_text(group.attrs["particles"]), x=group["x"][()], y=group["y"][()],
                          normal=np.stack([group["normal_x"][()], group["normal_y"][()]], axis=-1),
                          length=group["length"][()], hits={name: item[()] for name, item in sets.items()},
                          weight={name: float(item.attrs["weight"]) for name, item in sets.items()},
                          mass={name: float(item.attrs["mass"]) for name, item in sets.items()})

    @property
    def names(self) -> list[str]:
        return list(self._surfaces)

    def __getitem__(self, name: str) -> SurfaceMap:
        if name not in self._surfaces:
            raise RunError(f"no surface {name!r} in {self.file.name}; there are: {', '.join(self._surfaces)}")
        return self._surfaces[name]


class Distribution:
    """Particles counted in bins of one to three quantities: [distribution.NAME] of a configuration."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with h5py.File(file, "r") as h5:
            self.step, self.time = int(h5.attrs["step"]), float(h5.attrs["time"])
            self.velocity_time = float(h5.attrs["velocity_time"])
            axes = [h5[f"edges_{k}"] for k in range(sum(name.startswith("edges_") for name in h5))]
            self.axes = [_text(axis.attrs["quantity"]) for axis in axes]  #: "v_par", ...
            self.units = [_text(axis.attrs["units"]) for axis in axes]
            self.edges = [axis[()] for axis in axes]  #: one more than there are bins
            self._counts = {name.removeprefix("counts_"): item[()] for name, item in h5.items()
                            if name.startswith("counts_")}
            items = {name: h5[f"counts_{name}"].attrs for name in self._counts}
            self.outside = {name: int(item["outside"]) for name, item in items.items()}  #: particles in no bin
            self.weight = {name: float(item["weight"]) for name, item in items.items()}  #: of one particle [n0 d_i^2]
            self.mass = {name: float(item["mass"]) for name, item in items.items()}  #: of one ion [m_p]

    @property
    def species(self) -> list[str]:
        return list(self._counts)

    def counts(self, species: str) -> np.ndarray:
        """Particles in the bins, [axis 0, axis 1, ...]."""
        if species not in self._counts:
            raise RunError(f"no species {species!r} in {self.file.name}; there are: {', '.join(self.species)}")
        return self._counts[species]

    def density(self, species: str) -> np.ndarray:
        """f: the weight of the particles in a bin over the size of the bin. Where v_perp is an axis and gyrophase is
        none, over the ring 2 pi v_perp as well, so that f is the density in velocity space."""
        size = np.ones(())
        for k, (name, edges) in enumerate(zip(self.axes, self.edges)):
            ring = name == "v_perp" and "gyrophase" not in self.axes
            width = np.pi * np.diff(edges**2) if ring else np.diff(edges)
            size = size * width.reshape([-1 if n == k else 1 for n in range(len(self.axes))])
        return self.counts(species) * self.weight[species] / size


class Run:
    """An output directory."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        if not self.directory.is_dir():
            raise RunError(f"{directory} is no directory")

    @cached_property
    def series(self) -> Series:
        return Series.read(self.directory)

    @cached_property
    def summary(self) -> dict:
        """run.json."""
        return json.loads((self.directory / "run.json").read_text())

    @cached_property
    def settings(self) -> dict[str, dict[str, str]]:
        """run.ini: every key of the run, resolved, as text, under its present name."""
        with open(self.directory / "run.ini") as stream:
            return read_settings(stream)

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
        return self._value(self.text(key), self._constants)

    @cached_property
    def _constants(self) -> dict[str, float]:
        """What every expression of the run may contain."""
        known = {name: float(self.settings["grid"][name]) for name in ("nx", "ny", "lx", "ly")}
        known |= {"dx": known["lx"] / known["nx"], "dy": known["ly"] / known["ny"], "pi": math.pi,
                  "dt": float(self.settings["run"]["dt"])}
        waiting = dict(self.settings.get("const", {}))
        while waiting:  # each one may contain the others, in any order
            failed = {}
            for name, text in waiting.items():
                try:
                    known[name] = self._value(text, known)
                except RunError:
                    failed[name] = text
            if len(failed) == len(waiting):
                break  # functions that are not the same number everywhere, for instance tanh
            waiting = failed
        return known

    @staticmethod
    def _value(text: str, constants: dict[str, float]) -> float:
        try:
            return _evaluate(ast.parse(text.replace("^", "**"), mode="eval").body, constants)
        except (SyntaxError, ValueError, ArithmeticError, TypeError):
            raise RunError(f"{text!r} is not the same number everywhere") from None

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
        try:
            return self.settings.get(f"output.{source}", {}).get("average", "0") != "0"
        except OSError:
            return False  # no run.ini

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
