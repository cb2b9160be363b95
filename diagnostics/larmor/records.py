"""Rows that a run samples often: values at points ([probe.NAME]) and the orbits of ions ([track.NAME])."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from .hdf5 import text_of


class Records:
    """The columns of all files NAME_STEP.h5 of a folder, one file after the other: arrays [samples][width]."""

    def __init__(self, name: str, files: list[Path]) -> None:
        self.name, self.files = name, files
        with h5py.File(files[0], "r") as first:
            self.attributes = dict(first.attrs)
            self.columns = [column for column, data in first.items() if "units" in data.attrs]
            self.units = {column: text_of(first[column].attrs["units"]) for column in self.columns}
        self.step = self._join("step")  #: [samples]
        self.time = self.step * float(self.attributes["dt"])  #: [1/Omega_ci]

    def _join(self, name: str) -> np.ndarray:
        parts = []
        for file in self.files:
            with h5py.File(file, "r") as h5:
                parts.append(h5[name][()])
        return np.concatenate(parts)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column by its name; "B/z" and "Bz" stand for "bz"."""
        for name in (column, column.replace("/", "").lower()):
            if name in self.columns:
                return self._join(name)
        raise ValueError(f"no column {column!r} in {self.name}; there are: {', '.join(self.columns)}")


class Probe(Records):
    """Values at the points of [probe.NAME]: columns are [samples][points]."""

    def __init__(self, name: str, files: list[Path]) -> None:
        super().__init__(name, files)
        with h5py.File(files[0], "r") as first:
            self.x, self.y = first["x_points"][()], first["y_points"][()]  #: of the points [d_i]

    @property
    def distance(self) -> np.ndarray:
        """The way from the first point along all others to each [d_i]."""
        return np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(self.x), np.diff(self.y)))])


class Track(Records):
    """The orbits of the ions of [track.NAME]. x and y go on beyond periodic sides; velocities are half a step back; e and b
    are the fields at the place of the ion. After an ion has left, all are NaN."""

    def __init__(self, name: str, files: list[Path]) -> None:
        super().__init__(name, files)
        self.species = text_of(self.attributes["species"])
        self.charge, self.mass = float(self.attributes["charge"]), float(self.attributes["mass"])
        self.size = float(self.attributes["lx"]), float(self.attributes["ly"])  #: of the domain [d_i]
        channels = [text_of(channel) for channel in self.attributes["channel_names"]]
        with h5py.File(files[-1], "r") as last:
            self.left = last["left"][()]  #: the first step without the ion, or -1
            self.channel = [channels[k] if k >= 0 else None for k in last["channel"][()]]  #: by which it has left

    @property
    def count(self) -> int:
        return len(self.left)

    @property
    def energy(self) -> np.ndarray:
        """Kinetic energy of an ion [m_p v_A^2], [samples][ions]."""
        return 0.5 * self.mass * (self["vx"]**2 + self["vy"]**2 + self["vz"]**2)

    def in_domain(self) -> tuple[np.ndarray, np.ndarray]:
        """x and y with the images beyond periodic sides brought back into the domain."""
        return np.mod(self["x"], self.size[0]), np.mod(self["y"], self.size[1])
