"""openPMD files of a run: the values on the grid and the particles of one step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from .errors import RunError
from .hdf5 import numbers_of, text_of


def import_xarray():
    try:
        import xarray
    except ImportError:
        raise ImportError("labelled arrays need the package xarray: python3 -m pip install xarray") from None
    return xarray


def place_names(y_at_face: bool, x_at_face: bool) -> tuple[str, str]:
    """Names of the axes of an array whose values are at the centres of cells or on their upper faces."""
    return ("y_face" if y_at_face else "y", "x_face" if x_at_face else "x")


class _Iteration:
    """One openPMD file with a single iteration."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._h5 = h5py.File(file, "r")
        except OSError as error:
            raise RunError(f"{file} cannot be read: {error}") from None
        data = self._h5["data"]
        self.step = int(next(iter(data)))
        self._group = data[str(self.step)]
        self.time = float(numbers_of(self._group.attrs["time"])[0])
        self.dt = float(numbers_of(self._group.attrs["dt"])[0])

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._h5.close()

    def _child(self, path_attribute: str, fallback: str):
        path = text_of(self._h5.attrs.get(path_attribute, fallback)).strip("/")
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
        y, x = place_names(*(bool(position > 0) for position in numbers_of(component.attrs["position"])))
        return (y, x), {y: self.y(name), x: self.x(name)}

    def path_of(self, name: str) -> tuple[str, int]:
        """The path of a mesh in the file, and the bytes of a value. The array in the file is [ny, nx]."""
        record, component = self._record(name)
        if self._axes(record) != ["y", "x"]:
            raise RunError(f"{name} in {self.file} has the axes {', '.join(self._axes(record))}; y, x are needed")
        return component.name, component.dtype.itemsize

    @staticmethod
    def _axes(record: h5py.Group | h5py.Dataset) -> list[str]:
        return [text_of(label) for label in np.atleast_1d(record.attrs["axisLabels"])]

    def _coordinate(self, name: str, axis: str) -> np.ndarray:
        record, component = self._record(name)
        at = self._axes(record).index(axis)
        spacing = float(numbers_of(record.attrs["gridSpacing"])[at])
        offset = float(numbers_of(record.attrs["gridGlobalOffset"])[at])
        position = float(numbers_of(component.attrs["position"])[at])
        return offset + (np.arange(component.shape[at]) + position) * spacing

    def spacing(self, name: str) -> tuple[float, float]:
        """Distances between the values of a mesh along x and y [d_i]."""
        record, _ = self._record(name)
        axes, spacing = self._axes(record), numbers_of(record.attrs["gridSpacing"])
        return float(spacing[axes.index("x")]), float(spacing[axes.index("y")])

    def x(self, name: str) -> np.ndarray:
        """x of the values of a mesh [d_i]."""
        return self._coordinate(name, "x")

    def y(self, name: str) -> np.ndarray:
        """y of the values of a mesh [d_i]."""
        return self._coordinate(name, "y")

    def domain(self, name: str) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where the cells of a mesh begin and end along x, and along y [d_i]: for the whole domain (0, lx), (0, ly)."""
        record, component = self._record(name)
        axes, spacing = self._axes(record), numbers_of(record.attrs["gridSpacing"])
        offset = numbers_of(record.attrs["gridGlobalOffset"])  # of the middle of the first cell
        ends = {axis: (float(low - step / 2), float(low + (count - 0.5) * step))
                for axis, low, step, count in zip(axes, offset, spacing, component.shape)}
        return ends["x"], ends["y"]

    def periodic(self) -> tuple[bool, bool]:
        """Whether the sides of the run at the ends of x, and of y, are periodic. False where the file does not say it."""
        sides = [text_of(side) for side in self._meshes.attrs.get("fieldBoundary", [])]  # y_min, y_max, x_min, x_max
        return sides[2:3] == ["periodic"], sides[:1] == ["periodic"]

    def mesh_time(self, name: str) -> float:
        """Time of a record, which may lie beside the file's [1/Omega_ci]. Of a mean over time it is the middle."""
        record, _ = self._record(name)
        return self.time + float(numbers_of(record.attrs.get("timeOffset", 0.0))[0])

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
        return np.full(shape, numbers_of(item.attrs["value"])[0])
