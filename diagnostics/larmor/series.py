"""The time series of a run."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import h5py
import numpy as np

from .errors import RunError
from .hdf5 import text_of


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
            units = {name: text_of(item.attrs.get("units", "")) for name, item in sets.items()}
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
