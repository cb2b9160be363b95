"""Measured against expected: rows, tables and exit codes of the checks of physics, and the file of their results."""

from __future__ import annotations

import datetime
import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from .program import Program
from .spectrum import mean_estimate


@dataclass(frozen=True)
class Row:
    """One number with its expected value and band. The band is relative, or absolute where `absolute`."""

    label: str
    measured: float
    expected: float
    band: float
    error: float = float("nan")  # standard error of the measurement, for the reader; it does not widen the band
    absolute: bool = False

    @property
    def deviation(self) -> float:
        """Measured minus expected, over the expected value unless the band is absolute."""
        difference = self.measured - self.expected
        return difference if self.absolute else difference / abs(self.expected)

    @property
    def passed(self) -> bool:
        return abs(self.deviation) <= self.band < math.inf  # False for NaN


def at_most(label: str, value: float, limit: float) -> Row:
    """A number whose size must not pass a limit."""
    return Row(label, float(value), 0.0, limit, absolute=True)


def zero(label: str, value: float, band: float = 0.0) -> Row:
    """A number that has to be 0, exactly unless there is a band."""
    return Row(label, float(value), 0.0, band, absolute=True)


def wave_rows(label: str, found: Sequence[complex], expected: complex, band_gamma: float, band_omega: float) -> list[Row]:
    """Growth rate and frequency of a wave, from omega + i gamma of independent runs."""
    gamma, omega = (mean_estimate(part) for part in (np.imag(found), np.real(found)))
    return [Row(f"{label}: gamma", gamma.value, expected.imag, band_gamma, gamma.error),
            Row(f"{label}: omega", omega.value, expected.real, band_omega, omega.error)]


def table(rows: Iterable[Row]) -> str:
    """The rows as text, columns aligned."""
    head = ("", "measured", "std. error", "expected", "deviation", "band", "")
    lines = [head] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(_aligned(line, widths) for line in lines)


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    first, *others = zip(line, widths)
    return "  ".join([first[0].ljust(first[1])] + [cell.rjust(width) for cell, width in others]).rstrip()


def cells(row: Row) -> tuple[str, ...]:
    error = "" if row.error != row.error else f"{row.error:.1g}"
    kind = "+.1e" if row.absolute or row.band < 1e-3 else "+.2%"
    band = f"{row.band:.2g}" if row.absolute or row.band < 1e-3 else f"{row.band:.2%}"
    return (row.label, f"{row.measured:.6g}", error, f"{row.expected:.6g}", f"{row.deviation:{kind}}", band,
            "ok" if row.passed else "OUTSIDE")


def all_passed(rows: list[Row]) -> bool:
    return bool(rows) and all(row.passed for row in rows)


def cpu_seconds() -> float:
    """The CPU time of this process and of the programs that it has run."""
    return sum(os.times()[:4])


@dataclass(frozen=True)
class Result:
    """What a case has found: a lesson of examples/, or a case of tests/physics/."""

    name: str
    title: str
    rows: list[Row] = field(default_factory=list)
    failure: str = ""  #: why there are no rows
    form: str = "quick"  #: or "full"
    seconds: float = 0.0  #: CPU time of runs and check
    running: float = 0.0  #: s: the sum of the times of all runs
    device: str = ""
    software: str = ""
    date: str = ""

    @property
    def passed(self) -> bool:
        return not self.failure and all_passed(self.rows)

    @property
    def verdict(self) -> str:
        outside = sum(not row.passed for row in self.rows)
        if self.failure or not self.rows:
            return f"FAILED: {self.failure or 'no numbers'}"
        return f"{len(self.rows)} numbers, " + (f"{outside} OUTSIDE" if outside else "all inside their bands")


def examine(program: Program, name: str, title: str, form: str, find: Callable[[], list[Row]]) -> Result:
    """The result of a case, whose rows `find` returns; prints its table. Whatever `find` raises is a failure."""
    print(f"== {name}", flush=True)
    program.about.clear()
    start, rows, failure = cpu_seconds(), [], ""
    try:
        found = find()
        print(table(found), flush=True)
        rows = found
    except Exception as error:  # one case must not keep the others from their turn
        failure = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    return Result(name, title, rows, failure, form, round(cpu_seconds() - start, 1),
                  date=datetime.date.today().isoformat(), **program.about)


def conclude(results: list[Result]) -> int:
    """Prints the verdicts; the exit code is 0 when all cases have passed."""
    print("\n== summary")
    for result in results:
        print(f"{result.name:<20}{result.verdict}")
    return 0 if all(result.passed for result in results) else 1


def write_results(file: Path, results: Iterable[Result]) -> None:
    """Writes results as JSON; those of other cases that the file has stay."""
    old = {result.name: result for result in read_results(file)} if file.exists() else {}
    merged = old | {result.name: result for result in results}
    text = "[\n" + ",\n".join(_json(merged[name]) for name in sorted(merged)) + "\n]"
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(text + "\n")
    part.replace(file)


def read_results(file: Path) -> list[Result]:
    return [Result(**{**case, "rows": [_row(row) for row in case["rows"]]}) for case in json.loads(file.read_text())]


NUMBERS = ("measured", "expected", "band", "error")


def _json(result: Result) -> str:
    """A line for each row. JSON has no NaN, and `passed` is for the reader."""
    rows = [asdict(row) | {name: _finite(getattr(row, name)) for name in NUMBERS} | {"passed": bool(row.passed)}
            for row in result.rows]
    head = json.dumps(asdict(result) | {"rows": []}, allow_nan=False)
    lines = ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows)
    return head.replace('"rows": []', f'"rows": [\n  {lines}]' if rows else '"rows": []')


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _row(plain: dict) -> Row:
    values = plain | {name: math.nan if plain[name] is None else plain[name] for name in NUMBERS}
    del values["passed"]
    return Row(**values)


def main(check: Callable[[Path], list[Row]], description: str) -> int:
    """Command line of a check.py: `check.py DIR`, DIR holding one output directory for each run of the example."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(f"usage: {sys.argv[0]} DIR\n\n{description}\nDIR holds the runs, as examples/run.py leaves them.")
        return 2
    rows = check(Path(sys.argv[1]))
    print(table(rows))
    return 0 if all_passed(rows) else 1
