"""Momentum of uniform drifts in a periodic box.

A box of 80^2 cells of 0.15 d_i has B = (0.5, 0.3, 0.8), 15 particles a cell and dt = 0.02. Nothing pushes the plasma, so that
its mean velocity must stay. Warm: T_i = T_e = 0.4, drifts of 0.3 along x, y, z and along the diagonal, t = 10. Cold: T_i = T_e =
0, a drift of (0.7, -0.4, 0.3), t = 60. The numbers are the changes of the mean velocity over the drift (over 0.3 without a
drift), and of the kinetic energy of the cold drift in shares of itself. The limits: 1e-3. The warm box has isothermal electrons and
evolved ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

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
bx = 0.5
by = 0.3
bz = 0.8
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
CASES = [*((f"warm, {closure}", closure, 10, 0.4, drift) for closure in ("isothermal", "evolved") for drift in DRIFTS),
         ("cold", "isothermal", 60, 0.0, (0.7, -0.4, 0.3))]


def change_of_velocity(run: Run) -> float:
    ends = [[run.series[f"momentum_{c}"][i] / MASS for c in "xyz"] for i in (0, -1)]
    return math.dist(*ends)


def heating(run: Run) -> float:
    first, last = (sum(run.series[f"kinetic_{c}_ions"][i] for c in "xyz") for i in (0, -1))
    return last / first - 1


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    for shape in ("linear", "quadratic"):
        for name, closure, t_end, temperature, drift in CASES:
            run = program.run(INI.format(t_end=t_end, closure=closure, temperature=temperature, drift=drift, shape=shape))
            label = f"{name}, {shape}, drift ({', '.join(f'{v:.3g}' for v in drift)})"
            yield verify.at_most(f"{label}: mean velocity", change_of_velocity(run) / (math.hypot(*drift) or 0.3), LIMIT)
            if name == "cold":
                yield verify.at_most(f"{label}: energy", heating(run), LIMIT)
