"""Waves that move against a slow flow, and reach the side where it comes in.

A pulse of 10 % of B moves towards the inflow side of a box of 128 cells of 0.5 d_i, with 400 ions in a cell. It is a fast wave
across B or an Alfven wave along B, and the plasma is at rest or comes in at a quarter of the Alfven speed. The fields of the
side are the default. The pulse needs a time t to reach the side. At 1.5 t the number is what is left of the pulse in B, over
the pulse of the start: the root of the sum of squares, of half of the difference of two runs with pulses of opposite signs.
Ions come in with the velocities of the plasma beyond, so a part comes back with any fields: 0.62 to 0.87 where E is given at
the side, 0.42 to 0.73 where the side is open. The limit is 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from larmor import verify
from larmor.program import Program

LIMIT = 0.3
AMPLITUDE, PLACE, DT = 0.1, 24, 0.05
INI = """[const]
u = {flow}
v = {speed}
along = {along}
[functions]
pulse(q) = {amplitude}*exp(-((x - {place})/4)^2)*q
[run]
dt = {dt}
t_end = {t_end}
[grid]
nx = 128
ny = 4
lx = 64
ly = 2
[electrons]
temperature = 0.05
[fields]
bx = along
by = pulse(along)
bz = (1 - along)*(1 + pulse(1))
[species.ions]
temperature = 0.05
density = 1 + pulse(1 - along)
inflow_density = 1
drift_x = u - pulse((1 - along)*v)
drift_y = pulse(along)
mean_particles_per_cell = 400
[boundary]
x_min = inflow
x_max = absorbing
fields_x_max = radiating
y_min = periodic
y_max = periodic
[output]
series_every = 0
fields_every = {steps}
"""


class Case(NamedTuple):
    name: str
    along: int
    speed: float


# Ions and electrons across B have gamma = 2 and 1.
CASES = (Case("fast wave", 0, math.sqrt(1 + 2 * 0.05 + 0.05)), Case("Alfven wave", 1, 1.0))
FLOWS = (0, 0.25)


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    runs = [(case, flow, sign) for case in CASES for flow in FLOWS for sign in (1, -1)]

    def measure(run: tuple[Case, float, int]) -> np.ndarray:
        """The wave's component of B at the start and at the end."""
        case, flow, sign = run
        steps = round(1.5 * PLACE / (case.speed - flow) / DT)
        text = INI.format(flow=flow, speed=case.speed, along=case.along, amplitude=sign * AMPLITUDE, place=PLACE, dt=DT,
                          steps=steps, t_end=steps * DT)
        b = [np.array(fields[f"B/{'y' if case.along else 'z'}"]) for fields in program.run(text).each_fields()]
        return np.stack([b[0], b[-1]])

    found = program.each(measure, runs)
    for case in CASES:
        for flow in FLOWS:
            start, end = 0.5 * (next(found) - next(found))
            yield verify.at_most(f"{case.name}, flow {flow}: what is left over the pulse",
                                 math.sqrt((end**2).sum() / (start**2).sum()), LIMIT)
