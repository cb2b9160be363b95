"""Energy and B of plasma beside a void.

A box of 48^2 cells of 0.5 d_i has ions with T_i = 0.1, electrons with T_e = 0.8, 64 particles a cell where n = 1, and default
settings but for the density floor. A blob in its middle, with a sharp edge or a smooth one, expands into the void: all
closures, B = 0, out of the plane and in the plane, three floors. The blob with a sharp edge stands between walls, too, and beside a disk that
gives ions back. Or the box is full but for two columns of cells in the middle, its
halves part with 6 v_A, and a void opens between them.

The first two numbers of a case are the largest change of the total energy until t = 4 and until t = 20. They are shares of the thermal
energy at the start, with limits of 2 % and 5 %. Where the halves part, they are shares of the ions' kinetic energy at the start, with
limits of 0.5 % and 1 %. The third number says that the void carries no current, so that B of no cell grows there. It is the largest
|curl B| in cells whose neighbours up to two away are empty, too, and farther than that from a body, in 40 outputs, times the size of a cell: the
change of B from cell to cell. It is a share of the B that balances all pressure of the start. Its limit is 10 %, and 15 % where the halves part. A case in which
no void is seen fails.

The short form leaves out the lowest floor with evolved electrons, B in the plane but for one axis and floor, parting halves but for the
same axis and floor, walls but for one case, disks but for two, cells of half the size but for one case, and a box of 96^2 cells, whose void is not filled so soon
(docs/physics/accuracy.md, Energy in a larger void).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from larmor import Run, verify
from larmor.program import Program

LIMITS = {4.0: 0.02, 20.0: 0.05}
LIMITS_PARTING = {4.0: 0.005, 20.0: 0.01}
LIMIT_CURRENT, LIMIT_CURRENT_PARTING = 0.1, 0.15
T_I, T_E = 0.1, 0.8
MIDDLE = "(x-lx/2)^2+(y-ly/2)^2"
PLASMAS = {"sharp edge": {"density": f"{MIDDLE} < 36 ? 1 : 0"}, "smooth edge": {"density": f"exp(-({MIDDLE})/18)"},
           "parting": {"density": "abs(x-lx/2) < 0.5 ? 0 : 1", "drift_x": "x < lx/2 ? -6 : 6"}}
CLOSURES = ("isothermal", "polytropic", "evolved")
FLOORS = (0.05, 0.01, 0.002)
B0 = 0.3
DISK = 20, 12, 2  #: its centre and radius, d_i
INI = f"""[run]
t_end = {max(LIMITS)}
dt = 0.02
[electrons]
temperature = {T_E}
[species.ions]
temperature = {T_I}
particles_per_cell = 64
[output]
series_every = 20
[output.void]
every = 25
quantities = J, density
"""


@dataclass(frozen=True)
class Case:
    plasma: str
    closure: str
    b: str  #: the axis along which B is 0.3, or "" without B
    floor: float
    cells: int = 48
    length: float = 24
    walls: bool = False  #: reflecting, conducting sides all round instead of periodic ones
    disk: str = ""  #: the fields of a disk beside the blob, or "" without a disk

    @property
    def parting(self) -> bool:
        return self.plasma == "parting"

    @property
    def ini(self) -> str:
        x, y, radius = DISK
        return INI + (f"[body.disk]\nshape = disk\nx = {x}\ny = {y}\nradius = {radius}\nparticles = reflecting\nfields = {self.disk}\n"
                      if self.disk else "")

    def settings(self) -> list[str]:
        return [f"grid.nx={self.cells}", "grid.ny=nx", f"grid.lx={self.length}", "grid.ly=lx", f"electrons.closure={self.closure}",
                f"fields.density_floor={self.floor}", *([f"fields.b{self.b}={B0}"] if self.b else []),
                *(f"boundary.{side}=reflecting" for side in ("x_min", "x_max", "y_min", "y_max") if self.walls),
                *(f"species.ions.{key}={value}" for key, value in PLASMAS[self.plasma].items())]

    def __str__(self) -> str:
        grid = "" if (self.cells, self.length) == (48, 24) else f"{self.cells}^2 cells, {self.length} d_i: "
        walls = "between walls, " if self.walls else f"{self.disk} disk, " if self.disk else ""
        return f"{grid}{walls}{self.plasma}, {self.closure}, {f'B_{self.b} = {B0}' if self.b else 'B = 0'}, floor {self.floor}"


def cases(long: bool) -> Iterator[Case]:
    for closure, b, edge, floor in itertools.product(CLOSURES, ("", "z"), ("sharp edge", "smooth edge"), FLOORS):
        if long or closure != "evolved" or floor != min(FLOORS):
            yield Case(edge, closure, b, floor)
    for closure, plasma, b, floor in itertools.product(CLOSURES, ("sharp edge", "parting"), ("", *"xyz"), FLOORS):
        if (plasma == "parting" or b in ("x", "y")) and (long or (b == "x" and floor == 0.01)):
            yield Case(plasma, closure, b, floor)
    for closure, b, floor in itertools.product(CLOSURES, ("", "z"), FLOORS):
        if long or (closure, b, floor) == ("isothermal", "z", 0.01):
            yield Case("sharp edge", closure, b, floor, walls=True)
    for disk, closure, b, floor in itertools.product(("conducting", "insulating"), CLOSURES, ("", "z"), FLOORS):
        if long or (closure, b, floor) == ("isothermal", "z", 0.01):
            yield Case("sharp edge", closure, b, floor, disk=disk)
    for closure, floor in itertools.product(CLOSURES, FLOORS[:2]):
        if long or (closure, floor) == ("evolved", 0.05):
            yield Case("sharp edge", closure, "z", floor, cells=96)
        if long:
            yield Case("sharp edge", closure, "z", floor, cells=96, length=48)


def change(run: Run, until: float, case: Case) -> float:
    """The largest change of the energy, with its sign, without what evolved electrons bring through walls; not a number if the run has
    stopped before."""
    t, energy = run.series["time"], run.series["energy_total"]
    if "surface_electrons" in run.series.names:
        energy = energy - run.series["surface_electrons"]
    if t[-1] < until - 1e-6:
        return math.nan
    kinetic = sum(run.series[f"kinetic_{c}_ions"][0] for c in "xyz")
    start = kinetic if case.parting else kinetic * (1 + T_E / T_I)
    changes = (energy[t < until + 1e-6] - energy[0]) / start
    return float(changes[np.argmax(np.abs(changes))])


def near_disk(shape: tuple[int, int], length: float) -> np.ndarray:
    """The cells of the disk, whose surface has a current, and those that it cuts."""
    size = length / shape[0]
    y, x = (np.indices(shape) + 0.5) * size
    return np.hypot(x - DISK[0], y - DISK[1]) < DISK[2] + size


def current(run: Run, case: Case) -> float:
    """The largest change of B from cell to cell where cells are empty up to two away, over the B that balances the pressure."""
    largest = []
    for step in run.outputs["void"][1:]:
        with run.output("void", step) as frame:
            full = frame["n_ions"] >= case.floor / 10
            if case.disk:
                full |= near_disk(full.shape, case.length)
            void = ~np.any([np.roll(full, (i, j), (0, 1)) for i in range(-2, 3) for j in range(-2, 3)], axis=0)
            if void.any():
                largest.append(np.linalg.norm([frame[f"J/{axis}"][void] for axis in "xyz"], axis=0).max())
    balance = math.sqrt(2 * (T_I + T_E) + (B0**2 if case.b else 0))
    return float(np.max(largest)) * case.length / case.cells / balance if largest else math.nan


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    def measure(case: Case) -> list[verify.Row]:
        run = program.run(case.ini, case.settings(), may_stop=True)
        energies = [verify.at_most(f"{case}: energy until t = {time:g}", change(run, time, case), limit)
                    for time, limit in (LIMITS_PARTING if case.parting else LIMITS).items()]
        return [*energies, verify.at_most(f"{case}: current in the void", current(run, case),
                                          LIMIT_CURRENT_PARTING if case.parting else LIMIT_CURRENT)]

    for found in program.each(measure, cases(long)):
        yield from found
