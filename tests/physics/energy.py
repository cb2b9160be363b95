"""Energy of a thermal box.

The box has 32^2 cells of 0.25 d_i, dt = 0.01, beta_i = 1, isothermal electrons of T_e = T_i, 64 particles a cell and the linear
shape. The number is the change of the total energy by t = 40 over the kinetic energy. A current peer (WarpX 24.10, its
defaults) has 0.22 % with B out of the plane and 0.053 % with B in the plane. The limit for both is the peer's better number:
the scheme is the same for all directions of B. The long form: 10^4 steps with colder and warmer electrons.

Short whistlers: time steps in which the shortest whistler of the grid turns several times.
"""

from __future__ import annotations

from collections.abc import Iterator

from larmor import Run, verify
from larmor.program import Program

LIMITS = {"B out of plane": (["fields.bz=1"], 0.05e-2), "B in plane": (["fields.bx=1"], 0.05e-2)}
# A row of cells of 0.0785 d_i. In a time step of 0.00968 the shortest whistler along B turns once. The limits are the two
# numbers of the peer, who was measured with whistlers that turn less than once.
OBLIQUE = ["fields.bx=0.7071", "fields.bz=0.7071"]
TURNS = {
    "2 turns along B": (["run.dt=0.01936"], 0.05e-2),
    "3 turns along B": (["run.dt=0.029"], 0.05e-2),
    "2 turns, B at 45 degrees": (["run.dt=0.01936", *OBLIQUE], 0.22e-2),
}
TURNS_INI = """[run]
t_end = 60
[grid]
nx = 200
ny = 1
lx = 15.7
ly = 0.0785
[electrons]
closure = isothermal
temperature = 0.5
[fields]
bx = 1
max_substeps = 1000
[species.protons]
temperature = 0.5
particles_per_cell = 64
[output]
series_every = 50
"""
LONG_STEPS = "run.steps=10000"
LONG_LIMITS = {
    "10^4 steps, T_e/T_i = 0.2": ([LONG_STEPS, "fields.bz=1", "electrons.temperature=0.1"], 0.4e-2),
    "10^4 steps, T_e/T_i = 1": ([LONG_STEPS, "fields.bz=1"], 0.4e-2),
    "10^4 steps, T_e/T_i = 5": ([LONG_STEPS, "fields.bz=1", "electrons.temperature=2.5"], 1e-2),
}
INI = """[run]
t_end = 40
dt = 0.01
[grid]
nx = 32
ny = 32
lx = 8
ly = 8
[electrons]
closure = isothermal
temperature = 0.5
[species.protons]
temperature = 0.5
particles_per_cell = 64
[output]
series_every = 100
"""


def drift(run: Run) -> float:
    """The change of the total energy over the kinetic energy at the start."""
    total, kinetic = run.series["energy_total"], sum(run.series[f"kinetic_{c}_protons"][0] for c in "xyz")
    return (total[-1] - total[0]) / kinetic


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    for name, (overrides, limit) in (LONG_LIMITS if long else LIMITS).items():
        yield verify.at_most(f"{name}: drift of the energy", drift(program.run(INI, overrides)), limit)
    for name, (overrides, limit) in TURNS.items():
        yield verify.at_most(f"whistlers of {name} in a step: drift of the energy",
                             drift(program.run(TURNS_INI, overrides)), limit)
