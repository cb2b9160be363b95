#!/usr/bin/env python3
"""The same physics turned, mirrored, moved, drifting, in other units, with other particles, threads and restarts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from larmor import Run, plot, verify
from larmor.openpmd import Fields

TURNED = ["grid.nx=24", "grid.ny=32", "grid.lx=12", "grid.ly=16", "functions.X=y", "functions.Y=lx - x",
          "fields.bx=-0.25", "fields.by=0.625", "species.protons.drift_x=-flow_y", "species.protons.drift_y=flow_x",
          "species.alphas.drift_x=0", "species.alphas.drift_y=flow_alphas"]
MIRRORED = ["functions.X=lx - x", "fields.by=-0.25", "fields.bz=-0.75 - wave_bz", "species.protons.drift_x=-flow_x",
            "species.alphas.drift_x=-flow_alphas"]
DRIFT = ["const.ux=1", "const.uy=-0.5"]  # 8 and -4 cells in the run
FINE = ["run.steps=128", "run.dt=0.03125", "grid.nx=64", "grid.ny=48", "output.fields_every=64"]
UNITS = ["run.dt=0.03125", "grid.lx=8", "grid.ly=6", "functions.X=2*x", "functions.Y=2*y", "fields.bx=1.25",
         "fields.by=0.5", "fields.bz=2*(0.75 + wave_bz)", "fields.eta=0.0078125", "fields.density_floor=0.25",
         "species.protons.density=3", "species.protons.particles_per_cell=N/4", "species.alphas.density=0.5",
         "species.alphas.particles_per_cell=2*N"]
HEAVY = ["species.protons.charge=2", "species.protons.mass=2", "species.protons.density=0.375",
         "species.protons.particles_per_cell=2*N", "species.protons.temperature=0.5", "species.alphas.charge=4",
         "species.alphas.mass=8", "species.alphas.density=0.0625", "species.alphas.particles_per_cell=16*N",
         "species.alphas.temperature=1"]
COLD = ["const.N=128", "species.protons.temperature=0", "species.more_protons.temperature=0",
        "species.alphas.temperature=0"]
RUNS = [("base", ["run.threads=1"]), ("moved", ["functions.X=x - 5*dx", "functions.Y=y + 3*dy"]), ("turned", TURNED),
        ("mirrored", MIRRORED), ("cold", COLD), ("cold_turned", COLD + TURNED), ("cold_mirrored", COLD + MIRRORED),
        ("cold_drifting", COLD + DRIFT), ("fine", COLD + FINE), ("fine_drifting", COLD + FINE + DRIFT),
        ("units", UNITS), ("heavy", HEAVY), ("split", ["const.split=0.5"]), ("threads", ["run.threads=2"]),
        ("tiles", ["run.tile=16", "run.sort_every=7"]), ("restarted", ["run.steps=32"]),
        ("restarted", ["run.steps=64", "--restart", "latest"])]
BAND_ROUNDING = 1e-12
BAND_COLD, BAND_WARM = 1e-3, 0.05   # particles are at other places in a cell, and have other velocities (README.md)
BAND_DRIFT, BAND_ORDER = 0.02, 0.2  # the error of the grid; its next order

COMPONENTS = ("B/x", "B/y", "B/z", "rho")


def last(run: Run) -> Fields:
    return run.fields(run.field_steps[-1])


def at(fields: Fields, name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values of a mesh of a periodic plane at places that must be places of the mesh."""
    values, indices = fields[name], []
    for places, wanted, size in ((fields.y(name), y, values.shape[0]), (fields.x(name), x, values.shape[1])):
        exact = (wanted - places[0]) / (places[1] - places[0])
        index = np.rint(exact)
        if np.abs(exact - index).max() > 1e-6:
            raise ValueError(f"{name} is not known at these places")
        indices.append(index.astype(int) % size)
    return values[indices[0], indices[1]]


# ---------------------------------------------------------------- variants in space

Map = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def distance(run: Run, base: Run, place: Map, source: dict[str, tuple[str, float]] | None = None) -> float:
    """rms of the difference of B and the charge density between a variant and the base, over the rms of the waves.

    `place`: from the places of the variant to those of the base. `source`: which component of the base, with which
    sign, a component of the variant is; by default the same.
    """
    difference = waves = 0.0
    with last(run) as found, last(base) as expected:
        for name in COMPONENTS:
            from_name, sign = (source or {}).get(name, (name, 1.0))
            x, y = np.meshgrid(found.x(name), found.y(name))
            difference += np.mean((found[name] - sign * at(expected, from_name, *place(x, y)))**2)
            waves += expected[from_name].var()
    return float(np.sqrt(difference / waves))


def moved(run: Run, base: Run) -> float:
    dx, dy = (run.number(f"grid.l{axis}") / run.number(f"grid.n{axis}") for axis in "xy")
    return distance(run, base, lambda x, y: (x - 5 * dx, y + 3 * dy))


def turned(run: Run, base: Run) -> float:
    """By 90 degrees: x' = -y, y' = x."""
    return distance(run, base, lambda x, y: (y, run.number("grid.lx") - x), {"B/x": ("B/y", -1.0), "B/y": ("B/x", 1.0)})


def mirrored(run: Run, base: Run) -> float:
    """x' = -x. B is an axial vector: its x component stays, and the others change their signs."""
    signs = {"B/y": ("B/y", -1.0), "B/z": ("B/z", -1.0)}
    return distance(run, base, lambda x, y: (run.number("grid.lx") - x, y), signs)


def drifting(run: Run, base: Run) -> float:
    time = run.number("run.t_end")
    return distance(run, base, lambda x, y: (x - run.number("const.ux") * time, y - run.number("const.uy") * time))


# ---------------------------------------------------------------- variants whose bits are known


def largest_difference(run: Run, base: Run, factors: dict[str, float] | None = None) -> float:
    """Of B and the charge density, after the factors of the units."""
    worst = 0.0
    with last(run) as found, last(base) as expected:
        for name in COMPONENTS:
            factor = (factors or {}).get(name, 1.0)
            worst = max(worst, float(np.abs(found[name] - factor * expected[name]).max()))
    return worst


def is_other(run: Run, base: Run) -> bool:
    return run.summary["fingerprint"] != base.summary["fingerprint"]


def restarted_from(run: Run) -> int:
    """The step of the checkpoint that the run went on from; 0: of none."""
    return int(Path(run.summary["restart"]["checkpoint"]).stem.split("_")[1]) if run.summary.get("restart") else 0


def rows_of_bits(runs: dict[str, Run]) -> list[verify.Row]:
    base = runs["base"]
    threads = " and ".join(run.summary["device"] for run in (base, runs["threads"]))
    middle = base.number("run.t_end") / base.number("run.dt") / 2
    units = {"B/x": 2.0, "B/y": 2.0, "B/z": 2.0, "rho": 4.0}
    return [verify.zero("other units: largest difference", largest_difference(runs["units"], base, units)),
            verify.zero("twice the charge and mass: largest difference", largest_difference(runs["heavy"], base)),
            verify.zero("protons as two species: largest difference", largest_difference(runs["split"], base)),
            verify.zero(f"{threads}: other fingerprints", is_other(runs["threads"], base)),
            verify.zero("other tiles and sorts: other fingerprints", is_other(runs["tiles"], base)),
            verify.zero("restarted: other fingerprints", is_other(runs["restarted"], base)),
            verify.Row("restarted from step", restarted_from(runs["restarted"]), middle, 0.0)]


def rows_of_space(runs: dict[str, Run]) -> list[verify.Row]:
    base = runs["base"]
    cold = runs["cold"]
    coarse, fine = drifting(runs["cold_drifting"], cold), drifting(runs["fine_drifting"], runs["fine"])
    return [verify.zero("moved by (5, -3) cells", moved(runs["moved"], base), BAND_ROUNDING),
            verify.zero("turned by 90 degrees, cold", turned(runs["cold_turned"], cold), BAND_COLD),
            verify.zero("turned by 90 degrees, warm", turned(runs["turned"], base), BAND_WARM),
            verify.zero("mirrored, cold", mirrored(runs["cold_mirrored"], cold), BAND_COLD),
            verify.zero("mirrored, warm", mirrored(runs["mirrored"], base), BAND_WARM),
            verify.zero("drifting by (8, -4) cells", coarse, BAND_DRIFT),
            verify.Row("drifting: order in dx and dt", float(np.log2(coarse / fine)), 2.0, BAND_ORDER, absolute=True)]


# ---------------------------------------------------------------- picture


def draw(runs: dict[str, Run], output: Path) -> None:
    figure, axes = plot.new_figure(12.0, 3.3, ncols=4, width_ratios=(4, 3, 4, 4))
    titles = {"cold": "As it is", "cold_turned": "Turned by 90°", "cold_mirrored": "Mirrored",
              "cold_drifting": "Drifting"}
    for part, (name, title) in zip(axes, titles.items()):
        with last(runs[name]) as fields:
            values = fields["B/z"]
            image = part.pcolormesh(fields.x("B/z"), fields.y("B/z"), values - values.mean(), cmap="RdBu_r", vmin=-0.2,
                                    vmax=0.2, shading="nearest", rasterized=True)
        part.set_aspect("equal")
        part.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$", title=title)
    figure.colorbar(image, ax=axes, label="$B_z - \\langle B_z\\rangle$  $[B_0]$", pad=0.01)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = {name: Run(directory / name) for name, _ in RUNS}
    draw(runs, directory / "variants.png")
    return rows_of_bits(runs) + rows_of_space(runs)


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
