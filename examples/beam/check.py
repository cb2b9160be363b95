#!/usr/bin/env python3
"""Resonant ion beams: growth rates of three modes of two beams, means over three seeds, within 10 %."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from larmor import Run, plot, spectrum, theory, verify

SEEDS = (1, 2, 3)
BAND = 0.10


class Beam(NamedTuple):
    """One configuration, the modes that are measured and when."""

    file: str
    folder: str                   # of the runs, with the seed at the end
    modes: tuple[int, ...]        # periods in the box
    window: tuple[float, float]   # after the noise has sorted itself out, before saturation
    guess: complex                # of omega


BEAMS = {"n_b = 0.02, V = 10": Beam("run.ini", "seed", (4, 5, 6), (10.0, 28.0), 0.2 + 0.2j),
         "n_b = 0.01, V = 5": Beam("weak.ini", "weak", (3, 4, 5), (25.0, 55.0), 0.25 + 0.1j)}
FULL = ["const.more=16"]  # the large form
RUNS = [(f"{beam.folder}_{seed}", [f"run.seed={seed}"], beam.file) for beam in BEAMS.values() for seed in SEEDS]


class Growth(NamedTuple):
    """What the three runs of one beam have done: |b| of the modes in time, and what is expected."""

    beam: Beam
    t: np.ndarray
    length: float
    runs: list[dict[int, np.ndarray]]
    expected: dict[int, float]

    def label(self, m: int) -> str:
        return f"k = {2 * np.pi * m / self.length:.4f}"


def amplitudes(data: spectrum.Transverse, modes: tuple[int, ...]) -> dict[int, np.ndarray]:
    """|b| of the right-handed waves along +x: b ~ exp(-i k x + i omega t), the modes with negative number."""
    return {m: np.abs(spectrum.mode(data.b, -m)) for m in modes}


def growth_of_theory(run: Run, beam: Beam) -> dict[int, float]:
    ions = theory.beam(density=run.number("const.beam"), speed=run.number("const.speed"),
                       temperature=run.number("species.beam.temperature"))
    length = run.number("grid.lx")
    return {m: theory.parallel_root(2 * np.pi * m / length, "R", ions, beam.guess).imag for m in beam.modes}


def read(directory: Path, beam: Beam) -> Growth:
    outputs = [Run(directory / f"{beam.folder}_{seed}") for seed in SEEDS]
    data = [spectrum.transverse(run) for run in outputs]
    return Growth(beam, data[0].t, data[0].length, [amplitudes(one, beam.modes) for one in data],
                  growth_of_theory(outputs[0], beam))


def draw(axes, growth: Growth, title: str) -> None:
    """Every mode and seed, and the expected slope through the mean at the middle of the window."""
    t, window = growth.t, growth.beam.window
    axes.axvspan(*window, color="0.93", zorder=0)
    for i, m in enumerate(growth.beam.modes):
        plot.growth(axes, t, [run[m] for run in growth.runs], growth.expected[m], window, f"C{i}",
                    f"${growth.label(m)}$")
    axes.plot([], [], "k--", lw=1.4, label="linear theory")
    axes.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="$|b_k|$ of right-handed waves  $[B_0]$", xlim=(0, t[-1]), title=title)
    axes.legend(loc="lower right")


def check(directory: Path) -> list[verify.Row]:
    rows = []
    figure, axes = plot.new_figure(8.8, 3.4, ncols=2)
    for part, (name, beam) in zip(axes, BEAMS.items()):
        growth = read(directory, beam)
        for m in beam.modes:
            rates = [spectrum.fit_rate(growth.t, run[m], beam.window).value for run in growth.runs]
            mean, label = spectrum.mean_estimate(rates), f"{name}, {growth.label(m)}: gamma"
            rows.append(verify.Row(label, mean.value, growth.expected[m], BAND, mean.error))
        draw(part, growth, f"${name.replace(', ', '$, $')}$, three seeds")
    plot.save(figure, directory / "growth.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
