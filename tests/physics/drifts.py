"""Momentum of uniform drifts in a periodic box.

A box of 80^2 cells of 0.15 d_i has B = (0.5, 0.3, 0.8), 15 particles a cell and dt = 0.02. Nothing pushes the plasma, so that
its mean velocity must stay. Warm: T_i = T_e = 0.4, drifts of 0.3 along x, y, z and along the diagonal, t = 10. Cold: T_i = T_e =
0, a drift of (0.7, -0.4, 0.3), t = 60. The numbers are the changes of the mean velocity over the drift (over 0.3 without a
drift), and of the kinetic energy of the cold drift in shares of itself. The limits: 1e-3. The warm box has isothermal electrons and
evolved ones. The long form has polytropic ones, too, and B of 1 along x, y and z as well.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from larmor import Run, verify
from larmor.program import Program

LIMIT = 1e-3
MASS = 12 * 12  # of all ions
INI = """[run]
t_end = {t_end}
dt = 0.02
[grid]
nx = 80
ny = 80
lx = 12
ly = 12
[fields]
bx = {b[0]}
by = {b[1]}
bz = {b[2]}
[electrons]
closure = {closure}
temperature = {temperature}
[particles]
shape = {shape}
[species.ions]
temperature = {temperature}
particles_per_cell = 15
drift_x = {drift[0]}
drift_y = {drift[1]}
drift_z = {drift[2]}
[output]
series_every = 50
"""
DIAGONAL = (0.3 / math.sqrt(3),) * 3
DRIFTS = [(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3), DIAGONAL]
OBLIQUE = (0.5, 0.3, 0.8)
FIELDS = [OBLIQUE, (1, 0, 0), (0, 1, 0), (0, 0, 1)]


class Case(NamedTuple):
    closure: str
    temperature: float
    drift: tuple[float, float, float]
    b: tuple[float, float, float]
    shape: str

    @property
    def cold(self) -> bool:
        return self.temperature == 0

    def settings(self) -> str:
        return INI.format(t_end=60 if self.cold else 10, **self._asdict())

    def __str__(self) -> str:
        b = "" if self.b == OBLIQUE else f", B = ({', '.join(map(str, self.b))})"
        plasma = "cold" if self.cold else f"warm, {self.closure}"
        return f"{plasma}, {self.shape}, drift ({', '.join(f'{v:.3g}' for v in self.drift)}){b}"


def cases(long: bool) -> Iterator[Case]:
    for shape, b in itertools.product(("linear", "quadratic"), FIELDS if long else FIELDS[:1]):
        for closure, drift in itertools.product(("isothermal", "evolved", *(["polytropic"] if long else [])), DRIFTS):
            yield Case(closure, 0.4, drift, b, shape)
        yield Case("isothermal", 0.0, (0.7, -0.4, 0.3), b, shape)


def change_of_velocity(run: Run) -> float:
    ends = [[run.series[f"momentum_{c}"][i] / MASS for c in "xyz"] for i in (0, -1)]
    return math.dist(*ends)


def heating(run: Run) -> float:
    first, last = (sum(run.series[f"kinetic_{c}_ions"][i] for c in "xyz") for i in (0, -1))
    return last / first - 1


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    def measure(case: Case) -> list[verify.Row]:
        run = program.run(case.settings())
        momentum = verify.at_most(f"{case}: mean velocity", change_of_velocity(run) / (math.hypot(*case.drift) or 0.3), LIMIT)
        return [momentum, *([verify.at_most(f"{case}: energy", heating(run), LIMIT)] if case.cold else [])]

    for found in program.each(measure, list(cases(long))):
        yield from found
