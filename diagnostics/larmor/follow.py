"""A run that is being written: how it stands, its time series so far, and its values on the grid.

Files are only read. They may be absent, cut short, or replaced at any moment; what cannot be read now is left out."""

from __future__ import annotations

import base64
import contextlib
import math
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from . import plot
from .errors import RunError
from .growing_series import GrowingSeries, thin
from .maps import picture_of
from .run import Run

CELLS = 512  # along each axis of a picture, at most
WINDOW = 300  # seconds over which the speed is measured
# What reading damaged, foreign or vanished files may raise.
UNREADABLE = (OSError, RuntimeError, LookupError, ValueError, StopIteration)
ENTRANCES, EXCHANGES = re.compile("injected_|ionised$"), ("to_gas", "charge_exchanged", "to_electrons")


def blocks(values: np.ndarray, axis: int, cells: int) -> tuple[np.ndarray, int]:
    """Means over blocks of cells along an axis, so that of `cells` at most CELLS are left; and the cells of a block."""
    size = math.ceil(cells / CELLS)
    first = np.arange(0, values.shape[axis], size)
    counts = np.diff(np.append(first, values.shape[axis]))
    return np.add.reduceat(values, first, axis=axis) / counts.reshape((-1, 1) if axis == 0 else (1, -1)), size


def is_locked(file: Path) -> bool | None:
    """Whether a process holds the lock of a run; None where that cannot be found out. Takes no lock itself."""
    layout = "hhqqi4x"  # struct flock of 64-bit Linux
    if sys.platform != "linux" or struct.calcsize("P") != 8:
        return None
    import fcntl  # other systems may lack it

    try:
        with open(file, "rb") as stream:
            reply = fcntl.fcntl(stream, fcntl.F_GETLK, struct.pack(layout, fcntl.F_RDLCK, 0, 0, 0, 0))
    except FileNotFoundError:
        return False
    except OSError:  # the file system has no locks
        return None
    return struct.unpack(layout, reply)[0] != fcntl.F_UNLCK


def _text(file: Path) -> str:
    """"" for a file that is not there."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


class Follower:
    """The output directory of a run, which need not exist yet. Its functions may be called from several threads."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._series = GrowingSeries(self.directory / "series.csv")
        self._meshes: dict[tuple[str, int], list[str]] = {}  # of the newest file of each source
        self._since, self._seen = "", {}  # the holder of the lock, and the time at which each step was written
        self._guard = threading.Lock()
        self._refuse_other_directories()

    def _refuse_other_directories(self) -> None:
        advice = "give the output directory of a run"
        if not self.directory.exists():
            if not self.directory.absolute().parent.is_dir():
                raise RunError(f"{self.directory}: neither it nor the directory above it exists; {advice}")
            return
        if not self.directory.is_dir():
            raise RunError(f"{self.directory} is no directory; {advice}")
        names = {file.name for file in self.directory.iterdir()}
        if names and not names & {"run.ini", "series.csv", "larmor.lock"}:
            raise RunError(f"{self.directory} holds no run; {advice}")

    def state(self) -> dict:
        """All that the page shows beside curves and pictures, as values that JSON has."""
        with self._guard:
            self._series.update()
            state = {"name": self.directory.resolve().name, "directory": str(self.directory), **self._status()}
            state |= {"generation": self._series.generation, "rows": len(self._series), "curves": self._curves(),
                      "residuals": self._residuals(), "rate": self._last_of("rate"), "time": None, "last": None, "t_end": None,
                      "left": None, "age": None, "sources": [], "species": [],
                      "settings": _text(self.directory / "run.ini")}
            try:
                self._add_outputs(state, Run(self.directory))
            except UNREADABLE:
                pass  # nothing is there yet, or a run is just being replaced
            return state

    # ---- how the run stands ----

    def _status(self) -> dict:
        holder, locked = _text(self.directory / "larmor.lock").strip(), is_locked(self.directory / "larmor.lock")
        said = self._messages()
        summary = self._summary()
        warnings = summary.get("warnings", said["warnings"])
        found = {"holder": holder, "warnings": warnings, "notes": said["notes"], "failure": "", "ended": "", "step": None}
        if locked or (locked is None and holder):
            return found | {"status": "running"}
        if summary:
            ended = summary["ended"]
            status = "complete" if ended == "complete" else "stopped"
            return found | {"status": status, "ended": ended, "step": summary.get("last_step")}
        if said["failure"]:
            return found | {"status": "failed", "failure": said["failure"]}
        if holder and f" on {socket.gethostname()} " not in holder:
            return found | {"status": "unknown"}
        return found | {"status": "killed" if (self.directory / "run.ini").exists() else "waiting"}

    def _summary(self) -> dict:
        try:
            summary = Run(self.directory).summary
            return summary if "ended" in summary else {}
        except UNREADABLE:
            return {}

    def _messages(self) -> dict:
        """larmor.messages: warnings, then settings that a restart changes, then a failure, which may have several lines."""
        found = {"warnings": [], "notes": [], "failure": ""}
        lines = _text(self.directory / "larmor.messages").splitlines()
        for k, line in enumerate(lines):
            if line.startswith("larmor: warning: "):
                found["warnings"].append(line.removeprefix("larmor: warning: "))
            elif line.startswith("larmor: "):
                found["failure"] = "\n".join(lines[k:]).removeprefix("larmor: ")
                break
            else:
                found["notes"].append(line)
        return found

    # ---- what it has written ----

    def _add_outputs(self, state: dict, run: Run) -> None:
        sources = run.sources
        state["sources"] = [{"name": name, "steps": steps, "meshes": self._names(run, name, steps)}
                            for name, steps in sources.items()]
        if state["step"] is None:  # a run that has been restarted has older pictures of later steps, but no such rows
            reached = self._steps_of_series() or [steps[-1] for steps in sources.values()]
            state["step"] = max(reached, default=None)
        state["age"] = self._watch(state["holder"])
        dt, speed = run.number("run.dt"), self._speed()
        last = run.number("run.steps") if "steps" in run.settings["run"] else run.number("run.t_end") / dt
        state["last"], state["t_end"] = round(last), round(last) * dt
        if state["step"] is not None:
            state["time"] = state["step"] * dt
            if speed and state["status"] == "running":
                state["left"] = max(state["last"] - state["step"], 0) / speed
        state["species"] = [self._ledger(name) for name in run.species]

    def _steps_of_series(self) -> list[int]:
        """The step of the last row, where there is one."""
        return [int(self._series["step"][-1])] if len(self._series) else []

    def _names(self, run: Run, source: str, steps: list[int]) -> list[str]:
        key = source, steps[-1]
        if key not in self._meshes:
            self._meshes = {other: names for other, names in self._meshes.items() if other[0] != source}
            try:
                with run.frame(*key) as frame:
                    self._meshes[key] = frame.names
            except UNREADABLE:
                return []
        return self._meshes[key]

    def _written(self) -> Iterator[tuple[int, float]]:
        """Steps and the times at which their files were written: the newest few of each kind."""
        files = [(self._series.file, step) for step in self._steps_of_series()]
        for folder in ("fields", "outputs", "particles", "checkpoints"):
            found = [(file, re.search(r"_(\d{8,})\.h5$", file.name)) for file in (self.directory / folder).glob("*.h5")]
            files += sorted(((file, int(match[1])) for file, match in found if match), key=lambda pair: pair[1])[-8:]
        for file, step in files:
            with contextlib.suppress(OSError):  # old checkpoints go away
                yield step, file.stat().st_mtime

    def _watch(self, holder: str) -> float | None:
        """Seconds since something was written. Notes what has been written since the lock was taken."""
        if holder != self._since:
            self._since, self._seen = holder, {}
        match = re.search(r"since (.*) UTC", holder)
        start = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc).timestamp() if match else 0
        newest = 0.0
        for step, when in self._written():
            newest = max(newest, when)
            if when >= start:
                self._seen[step] = min(when, self._seen.get(step, when))
        return max(time.time() - newest, 0.0) if newest else None

    def _speed(self) -> float | None:
        """Steps a second of wall time, of the last WINDOW seconds where anything was written in them."""
        steps = sorted(self._seen)
        if len(steps) < 2:
            return None
        first = next(step for step in steps if self._seen[step] >= self._seen[steps[-1]] - WINDOW)
        first = min(first, steps[-2])
        self._seen = {step: self._seen[step] for step in steps if step >= first}
        seconds = self._seen[steps[-1]] - self._seen[first]
        return (steps[-1] - first) / seconds if seconds > 0.5 else None

    # ---- the series ----

    def _curves(self) -> list[dict[str, str]]:
        """What can be drawn over time. Energies are sums over axes and their parts."""
        groups, names = self._groups(), self._series.names
        parts = {name: "part" for columns in groups.values() for name in columns if len(columns) > 1}
        others = [name for name in names if name not in ("step", "time") and [name] not in groups.values()]
        found = [{"name": name, "kind": "energy"} for name in groups]
        found += [{"name": name, "kind": parts.get(name, "column")} for name in others]
        for curve in found:
            column = groups.get(curve["name"], [curve["name"]])[0]
            curve["unit"] = plot.pretty_unit(self._series.units.get(column, "")).strip()
        return found

    def _groups(self) -> dict[str, list[str]]:
        groups = plot.energy_groups(self._series.names)
        return groups | {"total": ["energy_total"]} if "energy_total" in self._series.names else groups

    def curves(self, names: list[str]) -> dict:
        """Times and values of curves, thinned; values that are not finite are None."""
        with self._guard:
            self._series.update()
            groups, found = self._groups(), {}
            for name in names:
                columns = groups.get(name, [name])
                if len(self._series) and all(column in self._series.names for column in columns):
                    values = sum(self._series[column] for column in columns)
                    rows = thin(values)
                    found[name] = {"x": self._series["time"][rows].tolist(),
                                   "y": [value if math.isfinite(value) else None for value in values[rows].tolist()]}
            return {"generation": self._series.generation, "rows": len(self._series), "curves": found}

    def _ledger(self, species: str) -> dict:
        """The accounts of a species in the last row."""
        end, accounts, names = f"_{species}", [], self._series.names
        for name in names:
            way = name.removesuffix(f"_weight{end}")
            if way == name or way + end not in names or not len(self._series):
                continue
            kind = "in" if ENTRANCES.match(way) else "exchange" if way in EXCHANGES else "out"
            accounts.append({"name": way, "kind": kind, "number": self._last_of(way + end),
                             "energy": self._last_of(f"{way}_energy{end}")})
        return {"name": species, "accounts": accounts, "present": self._last_of(f"present{end}")}

    def _last_of(self, name: str) -> float | None:
        if name not in self._series.names or not len(self._series):
            return None
        value = float(self._series[name][-1])
        return value if math.isfinite(value) else None

    def _residuals(self) -> dict[str, float]:
        """The largest of each residual in any row. All have to be 0."""
        names = [name for name in self._series.names if name.startswith("ledger_residual_") or
                 (name.startswith("background_") and name.endswith("_residual"))]
        return {name: float(np.abs(self._series[name]).max()) for name in names if len(self._series)}

    # ---- values on the grid ----

    def frame(self, source: str, step: int, mesh: str) -> dict:
        """A picture's values, as means of blocks of cells where there are many, and the colours that suit them. `x` and `y`
        are the ends of the domain; `first` is the lower left corner of the first value, at or beyond them, and `cell` the
        size of a value. Raises one of UNREADABLE."""
        with self._guard:
            run = Run(self.directory)
            with run.frame(source, step) as frame:
                picture, when = picture_of(frame, mesh, np.asarray(frame[mesh], float), run.size), frame.mesh_time(mesh)
                label = plot.label_of(mesh, run)
        ny, nx = picture.values.shape
        values, (left, right, bottom, top) = picture.covering()
        cell = (right - left) / values.shape[1], (top - bottom) / values.shape[0]
        values, high = blocks(values, 0, ny)
        values, wide = blocks(values, 1, nx)
        colours = plot.colours_of(values)
        return {"source": source, "step": step, "mesh": mesh, "label": label, "time": when,
                "x": list(picture.domain[0]), "y": list(picture.domain[1]), "first": [left, bottom],
                "cell": [wide * cell[0], high * cell[1]], "block": [wide, high], "cells": [nx, ny],
                "nx": values.shape[1], "ny": values.shape[0], "map": colours["cmap"], "low": float(colours["vmin"]),
                "high": float(colours["vmax"]), "values": base64.b64encode(values.astype("<f4").tobytes()).decode()}
