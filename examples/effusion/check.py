#!/usr/bin/env python3
"""Effusion of a gas through an open side: fluxes, angles and energies; a gas between thermal walls; a box with inflow."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, verify

SPECIES = ("light", "heavy")
WALLS = 1                # temperature of the thermal walls: that of the gas along x
COLD = 0.25              # of the run walls: temperature along y and z at the start
FREE_STEP = 16           # t = 12.8: the finite size of the box changes exp(-12.5) of the flux of the light ions only
SIGMAS = 4               # every band, of the counting error that is expected
RUNS = [
    ("open", []),
    ("walls", ["boundary.x_min=thermal", "boundary.x_max=thermal", f"boundary.x_min_temperature={WALLS}",
               f"boundary.x_max_temperature={WALLS}", f"const.across={COLD}", "run.t_end=96"]),
    ("fed", ["boundary.x_min=inflow"] + [f"species.{name}.inflow_density=2" for name in SPECIES]),
]
FULL = [f"species.{name}.particles_per_cell=64000" for name in SPECIES]


# ---------------------------------------------------------------- theory, for a gas of density 1


def above(a: np.ndarray) -> np.ndarray:
    """The fraction of a Maxwellian above a > 0 thermal speeds on one side."""
    return np.array([0.5 * math.erfc(value / math.sqrt(2)) for value in np.atleast_1d(a)])


class Gas:
    """One species of a run, and the expected numbers of its particles."""

    def __init__(self, run: Run, name: str) -> None:
        self.mass = run.number(f"species.{name}.mass")
        self.temperature = run.number(f"species.{name}.temperature_x")
        self.thermal = math.sqrt(self.temperature / self.mass)
        self.length, self.height = run.number("grid.lx"), run.number("grid.ly")
        cells = run.number("grid.nx") * run.number("grid.ny") / (self.length * self.height)
        self.per_area = run.number(f"species.{name}.particles_per_cell") * cells

    def flown(self, t: np.ndarray, depth: float) -> np.ndarray:
        """How many have come to a side, a unit of its length, from no farther than `depth`: mean of min(v t, depth),
        v > 0."""
        s, t = self.thermal, np.maximum(np.atleast_1d(t), 1e-9)
        a = depth / (s * t)
        return s * t / math.sqrt(2 * math.pi) * (1 - np.exp(-a**2 / 2)) + depth * above(a)

    def whole(self, t: np.ndarray) -> np.ndarray:
        """The same from any depth: n sqrt(T/(2 pi m)) t."""
        return self.thermal * np.asarray(t) / math.sqrt(2 * math.pi)

    def untouched(self, t: np.ndarray) -> np.ndarray:
        """Part of the gas that has not met one of two walls yet: mean of max(0, 1 - |v| t/L)."""
        return 1 - 2 * self.flown(t, self.length) / self.length

    def energy_parts(self, edges: np.ndarray) -> np.ndarray:
        """Of those that leave: E exp(-E/T)/T^2 dE, with everything below the first edge and above the last."""
        above_edge = (1 + edges / self.temperature) * np.exp(-edges / self.temperature)
        return -np.diff(np.concatenate([[1.0], above_edge, [0.0]]))

    def mixed(self, cold: float) -> tuple[float, float]:
        """Temperature of the gas while a part is still as cold as at the start, and its standard error."""
        mean = cold * COLD + (1 - cold) * self.temperature
        fourth = 3 * (cold * COLD**2 + (1 - cold) * self.temperature**2)
        return mean, math.sqrt((fourth - mean**2) / (self.per_area * self.length * self.height))

    def tangential(self, t: float) -> tuple[float, float]:
        """T_y and T_z between walls: those that have met one have the walls' temperature, which is that along x."""
        return self.mixed(self.untouched(np.array(t))[0])


# ---------------------------------------------------------------- bands and rows


def counted(label: str, number: float, expected: float) -> verify.Row:
    """A number of particles with its Poisson error."""
    return verify.Row(label, number, expected, SIGMAS / math.sqrt(expected), math.sqrt(expected))


def scores(counts: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Deviation of each bin from its expected part of all counts, in standard deviations."""
    total = counts.sum()
    return (counts - total * parts) / np.sqrt(total * parts * (1 - parts))


def histogram(label: str, counts: np.ndarray, parts: np.ndarray) -> Iterator[verify.Row]:
    """Worst bin, and chi^2 of all."""
    z, free = scores(counts, parts), len(counts) - 1
    yield verify.zero(f"{label}, worst bin [sigma]", np.abs(z).max(), SIGMAS)
    yield verify.Row(f"{label}, chi^2", float((z**2 * (1 - parts)).sum()), free, SIGMAS * math.sqrt(2 / free),
                     math.sqrt(2 * free))


# ---------------------------------------------------------------- the three runs


def angle_parts(edges: np.ndarray) -> np.ndarray:
    """2 sin cos d theta, from edges in degrees."""
    return np.diff(np.sin(np.radians(edges)) ** 2)


def effusion(run: Run) -> Iterator[verify.Row]:
    t, maps = run.series["time"], run.maps(FREE_STEP)
    side = maps["x_max"]
    for name in SPECIES:
        gone, gas = run.series.account("leak_x_max", name), Gas(run, name)
        n = gas.per_area * gas.height * gas.whole(t[FREE_STEP])[()]
        per_time = gas.height * t[FREE_STEP]
        error = SIGMAS / math.sqrt(n)
        s, warm = gas.thermal, gas.temperature
        yield counted(f"open, {name}: left, t = {t[FREE_STEP]:g}", gone["number"][FREE_STEP], n)
        yield verify.Row(f"open, {name}: number flux", gone["weight"][FREE_STEP] / per_time, s / math.sqrt(2 * math.pi), error)
        yield verify.Row(f"open, {name}: momentum flux", gone["momentum"][FREE_STEP, 0] / per_time, warm / 2,
                         error * math.sqrt(4 / math.pi))
        yield verify.Row(f"open, {name}: energy flux", gone["energy"][FREE_STEP] / per_time,
                         2 * warm * s / math.sqrt(2 * math.pi), error * math.sqrt(1.5))
        yield verify.Row(f"open, {name}: energy a particle", gone["energy"][FREE_STEP] / gone["weight"][FREE_STEP],
                         2 * warm, error * math.sqrt(0.5))
        for axis in (1, 2):
            yield verify.zero(f"open, {name}: mean v_{'xyz'[axis]}",
                              gone["momentum"][FREE_STEP, axis] / (gas.mass * gone["weight"][FREE_STEP]), error * s)
        hits = side.hits[name].sum(axis=0)
        yield verify.Row(f"open, {name}: hits in the map", float(hits.sum()), float(gone["number"][FREE_STEP]), 0.0)
        yield from histogram(f"open, {name}: angles", hits.sum(axis=1), angle_parts(maps.angle_edges))
        yield from histogram(f"open, {name}: energies", hits.sum(axis=0), gas.energy_parts(maps.energy_edges))
        yield counted(f"open, {name}: left, t = {t[-1]:g}", gone["number"][-1],
                      gas.per_area * gas.height * gas.flown(t[-1], 2 * gas.length)[0])


def temperature(run: Run, name: str, axis: str) -> np.ndarray:
    return 2 * run.series[f"kinetic_{axis}_{name}"] / (run.number("grid.lx") * run.number("grid.ly"))


def walls(run: Run) -> Iterator[verify.Row]:
    t, maps = run.series["time"], run.maps(FREE_STEP)
    for name in SPECIES:
        gas = Gas(run, name)
        for side in ("x_min", "x_max"):
            yield counted(f"walls, {name}: hits on {side}, t = {t[FREE_STEP]:g}", float(maps[side].hits[name].sum()),
                          gas.per_area * gas.height * gas.whole(t[FREE_STEP])[()])
        for step in (40, len(t) - 1):
            for axis, (value, error) in zip("xyz", [gas.mixed(0.0), *2 * [gas.tangential(t[step])]]):
                yield verify.Row(f"walls, {name}: T_{axis}, t = {t[step]:g}", temperature(run, name, axis)[step], value,
                                 SIGMAS * error / value, error)


def fed(run: Run) -> Iterator[verify.Row]:
    t = run.series["time"]
    for name in SPECIES:
        gas = Gas(run, name)
        entered, back, out = (run.series.account(channel, name)
                              for channel in ("injected_x_min", "leak_x_min", "leak_x_max"))
        area = gas.per_area * gas.height
        first = gas.flown(t[-1], gas.length)[0]  # of the gas at the start, to either side
        all_of_it = 2 * gas.whole(t[-1])[()]
        yield counted(f"fed, {name}: entered", entered["number"][-1], area * all_of_it)
        yield counted(f"fed, {name}: left at x_min", back["number"][-1], area * first)
        yield counted(f"fed, {name}: left at x_max", out["number"][-1], area * (all_of_it - first))
        yield counted(f"fed, {name}: left in all, entered", back["number"][-1] + out["number"][-1], entered["number"][-1])
        yield verify.Row(f"fed, {name}: energy entered a particle", entered["energy"][-1] / entered["weight"][-1],
                         2 * gas.temperature, SIGMAS * math.sqrt(0.5 / (area * all_of_it)))
        worst = np.abs(run.series[f"present_{name}"] / (area * gas.length) - 1).max()
        yield verify.zero(f"fed, {name}: density - 1, worst", worst, SIGMAS * math.sqrt(all_of_it / area) / gas.length)


# ---------------------------------------------------------------- picture


def picture(run: Run, output: Path) -> None:
    """Angles and energies of the particles that left before FREE_STEP, over the densities of theory."""
    figure, (left, right) = plot.new_figure(8.6, 4.6, ncols=2)
    maps = run.maps(FREE_STEP)
    edges = maps.angle_edges
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    energies = maps.energy_edges
    centre = np.sqrt(energies[1:] * energies[:-1])
    for name, marker in zip(SPECIES, ("o", "x")):
        hits = maps["x_max"].hits[name].sum(axis=0)
        for axes, x, counts, size in ((left, middle, hits.sum(axis=1), width),
                                      (right, centre, hits.sum(axis=0)[1:-1], np.diff(energies))):
            axes.errorbar(x, counts / hits.sum() / size, np.sqrt(counts) / hits.sum() / size, fmt=marker, ms=5,
                          mfc="none", lw=1.2, label=f"$m = {Gas(run, name).mass:g}$")
    angle, e = np.linspace(0, 90, 200), np.linspace(0, 10, 400)
    left.plot(angle, np.sin(np.radians(2 * angle)) * np.pi / 180, "k--", lw=1.1, label="$2\\,\\sin\\theta\\,\\cos\\theta$",
              zorder=0)
    right.plot(e, e * np.exp(-e), "k--", lw=1.1, label="$E\\,e^{-E/T}/T^2$", zorder=0)
    left.set(xlabel="angle to the normal  [degrees]", ylabel="share of the hits in a degree", title="Angles",
             xlim=(0, 90), ylim=(0, None))
    right.set(xlabel="energy  $[T]$", ylabel="share of the hits in $T$", title="Energies", xlim=(0, 10), ylim=(0, None))
    left.legend(loc="lower center")
    right.legend(loc="upper right")
    figure.suptitle(f"Effusion through an open side, $t\\,\\Omega_{{ci}} = 0$ to ${run.series['time'][FREE_STEP]:g}$",
                    fontsize=13)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = {name: Run(directory / name) for name, _ in RUNS}
    rows = [*effusion(runs["open"]), *walls(runs["walls"]), *fed(runs["fed"])]
    rows += [row for name, run in runs.items() for row in ledger.rows(run, name)]
    picture(runs["open"], directory / "effusion.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
