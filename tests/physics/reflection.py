"""Oblique whistlers that leave through a radiating side, in a flow.

A packet of whistlers of 16 cells of 0.5 d_i along x leaves through x = lx at an angle of 45 or 60 degrees, in a plasma of cold ions
that flows towards this side. The number is the largest amplitude that has come back while the packet leaves, over that of the
packet: the difference from a domain twice as long, in which the packet goes on. Half of the difference of two runs with waves of
opposite signs is the wave. What is left of the noise of the ions, which pass the side a row at a time, falls with their number:
there are 1296 in a cell, and 11664 in the long form, which has more flows and is made for a GPU. The limit: 0.02.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from larmor import verify
from larmor.program import Program

LIMIT = 0.02
NX, CELLS, SIZE, AMPLITUDE = 192, 16, 0.5, 3e-2
DT, PARTS = 0.04, 8
FEW, MANY = 1296, 11664
INI = """[const]
kx = 2*pi/({cells}*dx)
ky = 2*pi/ly
k = sqrt(kx^2 + ky^2)
a = {amplitude}
c = kx/k
s = ky/k
x0 = {middle}
w = x0/4
r = 1/(sqrt(1 + 0.25*k^2) + 0.5*k)
[functions]
packet(q) = a*exp(-((x - x0)/w)^2)*q
[run]
t_end = {t_end}
dt = {dt}
[grid]
nx = {nx}
ny = {ny}
lx = {lx}
ly = {ly}
[electrons]
temperature = 0
[fields]
bx = c
by = s
bz = -packet(sin(kx*x + ky*y))
az = -packet(sin(kx*x + ky*y))/k
[boundary]
x_min = inflow
x_max = absorbing
fields_x_max = radiating
[species.ions]
particles_per_cell = {per_cell}
start = quiet
drift_x = {flow} + packet(r*s*cos(kx*x + ky*y))
drift_y = -packet(r*c*cos(kx*x + ky*y))
drift_z = packet(r*sin(kx*x + ky*y))
[output]
series_every = 0
fields_every = {every}
"""


class Case(NamedTuple):
    degrees: int
    flow: float

    @property
    def tangent(self) -> float:
        return math.tan(math.radians(self.degrees))

    @property
    def every(self) -> int:
        """An eighth of the steps in which the packet's middle would cross the domain, by the group speed of whistlers."""
        kx = 2 * math.pi / (CELLS * SIZE)
        k = kx * math.hypot(1, self.tangent)
        root = math.sqrt(1 + 0.25 * k * k)
        speed = (root + k + 0.25 * k * k / root) * kx / k + self.flow
        return int(NX * SIZE / speed / DT) // PARTS


QUICK = (Case(60, 1.5),)
LONG = tuple(Case(degrees, flow) for degrees in (45, 60) for flow in (0.5, 1.5, 3))


def b_of(program: Program, case: Case, length: int, sign: int, per_cell: int) -> list[np.ndarray]:
    """B in the first NX cells along x, at each output."""
    nx = NX * length
    text = INI.format(cells=CELLS, amplitude=sign * AMPLITUDE, middle=0.5 * NX * SIZE, dt=DT, every=case.every,
                      t_end=PARTS * case.every * DT, nx=nx, ny=round(CELLS / case.tangent), lx=nx * SIZE,
                      ly=CELLS * SIZE / case.tangent, per_cell=per_cell, flow=case.flow)
    run = program.run(text)
    return [np.stack([np.array(fields[f"B/{c}"])[:, :NX] for c in "xyz"]) for fields in run.each_fields()]


def reflection(program: Program, case: Case, per_cell: int) -> float:
    waves = []
    for length in (1, 2):
        up, down = (b_of(program, case, length, sign, per_cell) for sign in (1, -1))
        waves.append([0.5 * (u - d) for u, d in zip(up, down)])
    before = (waves[0][0]**2).sum()
    back = [((w - free)**2).sum() for w, free in zip(*waves)]
    return math.sqrt(max(back[PARTS // 2:]) / before)


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    for case in LONG if long else QUICK:
        yield verify.at_most(f"{case.degrees} degrees, flow {case.flow}: what comes back over the packet",
                             reflection(program, case, MANY if long else FEW), LIMIT)
