#!/usr/bin/env python3
"""Resonant ion beam: growth rates of three modes, mean over three seeds, within 10 %."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, spectrum, theory, verify

SEEDS = (1, 2, 3)
RUNS = [(f"seed_{seed}", [f"run.seed={seed}"]) for seed in SEEDS]
MODES = (4, 5, 6)       # periods in the box: k = .0982, .1227, .1473
WINDOW = (10.0, 28.0)   # after the noise has sorted itself out, before saturation
BAND = 0.10


def amplitudes(data: spectrum.Transverse) -> dict[int, np.ndarray]:
    """|b| of the right-handed waves along +x: b ~ exp(-i k x + i omega t), the modes with negative number."""
    return {m: np.abs(spectrum.mode(data.b, -m)) for m in MODES}


def growth(run: Run) -> dict[int, float]:
    """Growth rates of linear theory."""
    ions = theory.beam(density=run.number("const.beam"), speed=run.number("const.speed"),
                       temperature=run.number("species.beam.temperature"))
    length = run.number("grid.lx")
    return {m: theory.parallel_root(2 * np.pi * m / length, "R", ions, 0.2 + 0.2j).imag for m in MODES}


def picture(t: np.ndarray, runs: list[dict[int, np.ndarray]], expected: dict[int, float], length: float,
            output: Path) -> None:
    """Every mode and seed, and the expected slope through the mean at the middle of the window."""
    figure, axes = plot.new_figure()
    axes.axvspan(*WINDOW, color="0.93", zorder=0)
    middle = np.mean(WINDOW)
    inside = (t >= WINDOW[0]) & (t <= WINDOW[1])
    for i, m in enumerate(MODES):
        for n, run in enumerate(runs):
            axes.semilogy(t[1:], run[m][1:], color=f"C{i}", lw=1.1, alpha=.75,
                          label=f"$k = {2 * np.pi * m / length:.4f}$" if n == 0 else None)
        level = np.exp(np.mean([np.log(run[m][inside]).mean() for run in runs]))
        axes.semilogy(t[inside], level * np.exp(expected[m] * (t[inside] - middle)), "k--", lw=1.4)
    axes.plot([], [], "k--", lw=1.4, label="linear theory")
    axes.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="$|b_k|$ of right-handed waves  $[B_0]$", xlim=(0, t[-1]),
             title="Resonant ion beam, three seeds")
    axes.legend(loc="lower right")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    outputs = [Run(directory / name) for name, _ in RUNS]
    data, expected = [spectrum.transverse(run) for run in outputs], growth(outputs[0])
    t, length = data[0].t, data[0].length
    runs = [amplitudes(one) for one in data]
    rows = []
    for m in MODES:
        mean = spectrum.mean_estimate([spectrum.fit_rate(t, run[m], WINDOW).value for run in runs])
        label = f"k = {2 * np.pi * m / length:.4f}: gamma"
        rows.append(verify.Row(label, mean.value, expected[m], BAND, mean.error))
    picture(t, runs, expected, length, directory / "growth.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
