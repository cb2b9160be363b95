"""Thin plasma that flows out through an open or a radiating side.

It must not make the fields there grow. Boxes of 48 x 32 cells of 0.5 d_i have an inflow side at x = 0, such a side at x = lx
and periodic sides along y. The fields of the inflow side are the default. A plasma with T_i = T_e = 0.3 flows through them at
the Alfven speed of B = 1, n = 1, with one or two particles in a cell. The run has 3000 steps, 100000 in the long form, and must
come to its end. The energy of B must never be more than twice its largest value in 3000 steps of the same box with B held at
that side (inflow_b): so much of it is noise of the particles. Two boxes have the density of the floor: one with a particle in a
cell and B = 0.2236, for the same Alfven speed, and one with a particle in 20 cells. There the fields are noise, of which one
seed says little, so the medians of fifteen seeds are compared as well, and of three in the long form.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from larmor import Series, verify
from larmor.program import Program

LIMIT = 2.0
HELD = "inflow_b"
SHORT, LONG = 3000, 100_000
SEEDS_AT_FLOOR, SEEDS_AT_FLOOR_LONG = 15, 3
DT = 0.05
INI = f"""[run]
dt = {DT}
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


def series_of(program: Program, side: str, steps: int, box: tuple, may_stop: bool = True, seed: int = 1) -> Series:
    """The time series, which is shorter where a run that `may_stop` has done so."""
    per_cell, density, b = box
    overrides = [f"run.seed={seed}", f"boundary.fields_x_max={side}", f"run.t_end={steps * DT}",
                 f"species.ions.mean_particles_per_cell={per_cell}", f"species.ions.density={density}", *(f"fields.b{c}={v}" for c, v in zip("xyz", b))]
    return program.run(INI, overrides, may_stop=may_stop).series


def largest(series: Series) -> float:
    """The largest energy of B in units of that at the start."""
    energy = sum(series[f"magnetic_{c}"] for c in "xyz")
    return energy.max() / energy[0]


def median(values: list[float]) -> float:
    """Not a number if one of them is not."""
    return math.nan if any(map(math.isnan, values)) else statistics.median(values)


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    def seeds(box: tuple) -> range:
        at_floor = SEEDS_AT_FLOOR_LONG if long else SEEDS_AT_FLOOR
        return range(1, 1 + (at_floor if box[1] < 1 else 1))

    runs = [(box, side, seed) for box in BOXES for side in (HELD, "open", "radiating") for seed in seeds(box)]

    def measure(run: tuple[tuple, str, int]) -> float:
        """The largest energy of B; not a number where the run has not come to its end."""
        box, side, seed = run
        steps = LONG if long and side != HELD else SHORT
        series = series_of(program, side, steps, box, may_stop=side != HELD, seed=seed)
        return largest(series) if round(series["step"][-1]) == steps else math.nan

    found = program.each(measure, runs)
    for box in BOXES:
        most = {side: [next(found) for _ in seeds(box)] for side in (HELD, "open", "radiating")}
        for side in ("open", "radiating"):
            label = f"{box[0]} in a cell, n = {box[1]}, B = {box[2]}, {side}: energy of B, over that with a held side"
            yield verify.at_most(label, most[side][0] / most[HELD][0], LIMIT)
            if len(seeds(box)) > 1:
                yield verify.at_most(f"{label}, medians of {len(seeds(box))} seeds", median(most[side]) / median(most[HELD]), LIMIT)
