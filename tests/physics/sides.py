"""Thin plasma that flows out through an open or a radiating side.

It must not make the fields there grow. Boxes of 48 x 32 cells of 0.5 d_i have an inflow side at x = 0, such a side at x = lx and
periodic sides along y. A plasma with T_i = T_e = 0.3 flows through them at the Alfven speed of B = 1, n = 1, with one or two
particles in a cell. The run has 3000 steps, 100000 in the long form, and must come to its end. The energy of B must never be more
than twice its largest value in 3000 steps of the same box with B held at that side (inflow_b): so much of it is noise of the
particles. Two boxes have the density of the floor: one with a particle in a cell and B = 0.2236, for the same Alfven speed, and
one with a particle in 20 cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from larmor import Series, verify
from larmor.program import Program

LIMIT = 2.0
HELD = "inflow_b"
SHORT, LONG = 3000, 100_000
DT = 0.05
INI = f"""[run]
dt = {DT}
seed = 1
[grid]
nx = 48
ny = 32
lx = 24
ly = 16
[electrons]
temperature = 0.3
[species.ions]
temperature = 0.3
drift_x = 1
[boundary]
x_min = inflow
x_max = absorbing
y_min = periodic
y_max = periodic
[output]
series_every = 50
"""
# Particles in a cell, density, B.
OBLIQUE, ACROSS, WEAK = (0.6, 0.3, 0.74), (0, 0, 1), (0, 0, 0.2236)
BOXES = ((1, 1, OBLIQUE), (2, 1, OBLIQUE), (1, 1, ACROSS), (1, 0.05, WEAK), (0.05, 0.05, ACROSS))


def series_of(program: Program, side: str, steps: int, box: tuple, may_stop: bool = True) -> Series:
    """The time series, which is shorter where a run that `may_stop` has done so."""
    per_cell, density, b = box
    overrides = [f"boundary.fields_x_max={side}", f"run.t_end={steps * DT}", f"species.ions.mean_particles_per_cell={per_cell}",
                 f"species.ions.density={density}", *(f"fields.b{c}={v}" for c, v in zip("xyz", b))]
    return program.run(INI, overrides, may_stop=may_stop).series


def largest(series: Series) -> float:
    """The largest energy of B in units of that at the start."""
    energy = sum(series[f"magnetic_{c}"] for c in "xyz")
    return energy.max() / energy[0]


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    runs = [(box, side) for box in BOXES for side in (HELD, "open", "radiating")]

    def measure(run: tuple[tuple, str]) -> tuple[float, bool]:
        """The largest energy of B, and whether the run came to its end."""
        box, side = run
        steps = LONG if long and side != HELD else SHORT
        series = series_of(program, side, steps, box, may_stop=side != HELD)
        return largest(series), round(series["step"][-1]) == steps

    for (box, side), (most, ended) in zip(runs, program.each(measure, runs)):
        if side == HELD:
            held = most
        else:
            yield verify.at_most(f"{box[0]} in a cell, n = {box[1]}, B = {box[2]}, {side}: energy of B, over that with a held side",
                                 most / held if ended else math.nan, LIMIT)
