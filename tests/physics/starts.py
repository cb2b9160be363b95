"""Noise of a thermal plasma after a random, a quiet and a low-discrepancy start.

The box has 64^2 cells of 0.25 d_i, dt = 0.02, beta_i = 1, T_e = T_i, B in the plane and the linear shape. Of the ion density n and
of B the deviation from the mean is measured: of all waves, and of those with k d_i < 2, at the start and at t = 5. The numbers are
those of a low-discrepancy start over those of a random one. Each must be below 1, and those of the density at the start below a
quarter. The noise itself, and the change of the total energy, are printed, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from larmor import Run, verify
from larmor.program import Program

STARTS = ("random", "quiet", "low_discrepancy")
NUMBERS = ("n, t = 0", "long n, t = 0", "n, t = 5", "long n, t = 5", "B, t = 5", "long B, t = 5")
LIMITS = (0.25, 0.25, 1, 1, 1, 1)
CELLS, CELL, LONG = 64, 0.25, 2
INI = f"""[run]
t_end = 5
dt = 0.02
[grid]
nx = {CELLS}
ny = {CELLS}
lx = {CELLS * CELL}
ly = {CELLS * CELL}
[electrons]
temperature = 0.5
[fields]
bx = 1
[species.protons]
temperature = 0.5
[output]
series_every = 250
fields_every = 250
"""


def noise(array: np.ndarray) -> np.ndarray:
    """The root mean square of the deviation from the mean: of all waves, and of the long ones."""
    k = 2 * np.pi * np.fft.fftfreq(CELLS, CELL)
    size = np.hypot(*np.meshgrid(k, k))
    power = np.abs(np.fft.fft2(array) / array.size) ** 2
    return np.sqrt([power[size > 0].sum(), power[(size > 0) & (size < LONG)].sum()])


def measure(run: Run) -> list[float]:
    """The noise in the order of NUMBERS."""
    numbers = []
    for step in (0, 250):
        with run.fields(step) as fields:
            numbers += list(noise(fields["n_protons"]))
            if step:
                numbers += list(np.sqrt(sum(noise(fields[f"B/{c}"]) ** 2 for c in "xyz")))
    return numbers


def heating(run: Run) -> float:
    """The change of the total energy over the kinetic energy."""
    energy, kinetic = run.series["energy_total"], sum(run.series[f"kinetic_{c}_protons"][0] for c in "xyz")
    return (energy[-1] - energy[0]) / kinetic


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    print(f"{'':20} " + " ".join(f"{name:>13}" for name in NUMBERS) + "   energy")
    for per_cell in (16, 64):
        found = {}
        for start in STARTS:
            run = program.run(INI, [f"species.protons.start={start}", f"species.protons.particles_per_cell={per_cell}"])
            found[start] = measure(run)
            print(f"{per_cell:3} {start:16} " + " ".join(f"{number:13.2g}" for number in found[start]) + f"{heating(run):9.2g}")
        for name, even, random, limit in zip(NUMBERS, found["low_discrepancy"], found["random"], LIMITS):
            yield verify.at_most(f"{per_cell} a cell: {name}, low-discrepancy over random", even / random, limit)
