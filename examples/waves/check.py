#!/usr/bin/env python3
"""Cold parallel waves: frequencies of the R and L branch at five wave numbers, within 1 %."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, spectrum, theory, verify

RUNS: list[tuple[str, list[str]]] = [("pulse", [])]
FULL = ["grid.nx=1600", "run.dt=0.0025", "output.series_every=400", "output.fields_every=80"]
MODES = (1, 2, 5, 10, 20)  # periods in the box, whose length is such that k = 0.1, 0.2, 0.5, 1, 2
BAND = 0.01


def frequencies(t: np.ndarray, z: np.ndarray) -> dict[str, tuple[float, float]]:
    """|omega| and standard error of both branches in one spatial mode: L turns with omega > 0, R with omega < 0.

    Starting values are the two peaks of the spectrum, not the theory.
    """
    guesses = [spectrum.peak_frequency(t, z, sign) for sign in (1, -1)]
    fits = spectrum.fit_tones(t, z, guesses)
    return {branch: (abs(omega.real), error.real) for branch, (omega, error) in zip("LR", fits)}


def wave_numbers(data: spectrum.Transverse) -> list[float]:
    return [2 * np.pi * m / data.length for m in MODES]


def measure(data: spectrum.Transverse) -> list[verify.Row]:
    rows = {"R": [], "L": []}
    for m, k in zip(MODES, wave_numbers(data)):
        found = frequencies(data.t, spectrum.mode(data.b, m))
        for branch, (omega, error) in found.items():
            expected = float(theory.cold_parallel(k, branch))
            rows[branch].append(verify.Row(f"{branch}, k = {k:g}: omega", omega, expected, BAND, error))
    return rows["R"] + rows["L"]


def points(rows: list[verify.Row], ks: list[float]) -> list[tuple[float, float]]:
    """The measured points in the plane of the picture: L at (k, omega), R at (k, -omega)."""
    signs = {"R": -1, "L": 1}
    return [(k, signs[row.label[0]] * row.measured) for row, k in zip(rows, 2 * ks)]


def check(directory: Path) -> list[verify.Row]:
    data = spectrum.transverse(Run(directory / RUNS[0][0]))
    rows = measure(data)
    plot.save(plot.spectrum(data, points(rows, wave_numbers(data)), k_max=3.0, omega_max=10.0), directory / "spectrum.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
