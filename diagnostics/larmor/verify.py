"""Measured against expected: rows, tables and exit codes of the examples' checks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


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
        return abs(self.deviation) <= self.band  # False for NaN


def zero(label: str, value: float, band: float = 0.0) -> Row:
    """A number that has to be 0, exactly unless there is a band."""
    return Row(label, float(value), 0.0, band, absolute=True)


def table(rows: Iterable[Row]) -> str:
    """The rows as text, columns aligned."""
    head = ("", "measured", "std. error", "expected", "deviation", "band", "")
    lines = [head] + [_cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(_aligned(line, widths) for line in lines)


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    first, *others = zip(line, widths)
    return "  ".join([first[0].ljust(first[1])] + [cell.rjust(width) for cell, width in others]).rstrip()


def _cells(row: Row) -> tuple[str, ...]:
    error = "" if row.error != row.error else f"{row.error:.1g}"
    kind = "+.1e" if row.absolute or row.band < 1e-3 else "+.2%"
    band = f"{row.band:.0e}" if row.absolute or row.band < 1e-3 else f"{row.band:.2%}"
    return (row.label, f"{row.measured:.6g}", error, f"{row.expected:.6g}", f"{row.deviation:{kind}}", band,
            "ok" if row.passed else "OUTSIDE")


def all_passed(rows: list[Row]) -> bool:
    return bool(rows) and all(row.passed for row in rows)


def main(check: Callable[[Path], list[Row]], description: str) -> int:
    """Command line of a check.py: `check.py DIR`, DIR holding one output directory for each run of the example."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(f"usage: {sys.argv[0]} DIR\n\n{description}\nDIR holds the runs, as examples/run.py leaves them.")
        return 2
    rows = check(Path(sys.argv[1]))
    print(table(rows))
    return 0 if all_passed(rows) else 1
