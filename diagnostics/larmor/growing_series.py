"""The time series of a run that goes on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from .series import Series

POINTS = 600  # stretches of a curve, each with two points
PIECE = 1 << 22  # bytes that are read at once


class GrowingSeries:
    """series.csv while rows are added to it. `generation` counts how often it had to be read from its beginning."""

    def __init__(self, file: Path) -> None:
        self.file, self.generation = file, 0
        self._forget()

    def _forget(self) -> None:
        self.generation += 1
        self.names: list[str] = []
        self.units: dict[str, str] = {}
        self._rows = np.empty((0, 0))
        self._read, self._last = 0, b""  # bytes that have been read, and the last line of them

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._rows[:, self.names.index(name)]

    def update(self) -> None:
        """Reads the lines that are new and complete. A run that begins again replaces the file, and its rates differ: the
        last line that was read is then no longer where it was."""
        while self._read_some():
            pass

    def _read_some(self) -> bool:
        """Whether there is more."""
        try:
            with open(self.file, "rb") as stream:
                stream.seek(self._read - len(self._last))
                if stream.read(len(self._last)) != self._last:
                    self._forget()
                    stream.seek(0)
                new = stream.read(PIECE)
        except OSError:
            if self._read:
                self._forget()
            return False
        lines = new[:new.rfind(b"\n") + 1].splitlines(keepends=True)
        if lines and not self.names:
            self.names, self.units = Series.parse_head(lines[0].decode(), self.file)
            self._rows = np.empty((0, len(self.names)))
        if lines:
            rows = [row for row in map(self._numbers, lines) if row]
            self._rows = np.concatenate([self._rows, np.array(rows).reshape(len(rows), len(self.names))])
            self._read, self._last = self._read + sum(map(len, lines)), lines[-1]
        return len(new) == PIECE and bool(lines)

    def _numbers(self, line: bytes) -> list[float]:
        """Empty for the header, and for a line that a crash of the machine has damaged."""
        cells = line.split(b",")
        try:
            return [float(cell) for cell in cells] if len(cells) == len(self.names) else []
        except ValueError:
            return []


def thin(values: np.ndarray) -> np.ndarray:
    """The rows to draw of a long column: the first, the last, and the extremes of each of POINTS stretches."""
    size = math.ceil(len(values) / POINTS)
    if size <= 2:
        return np.arange(len(values))
    whole = len(values) // size * size
    parts = values[:whole].reshape(-1, size)
    first = np.arange(0, whole, size)
    low = first + np.argmin(np.where(np.isnan(parts), np.inf, parts), axis=1)
    high = first + np.argmax(np.where(np.isnan(parts), -np.inf, parts), axis=1)
    return np.unique(np.concatenate([[0], low, high, np.arange(whole, len(values)), [len(values) - 1]]))
