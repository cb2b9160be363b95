#!/usr/bin/env python3
"""Decaying turbulence: the budget of the energy, the time of the largest current, the spectrum of B across B0.

A box with a short range between the waves of the start and the ions has no rows for the slope there and for the break,
and one with large cells none for the slope beyond.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, spectrum, verify

RUNS: list[tuple[str, list[str]]] = [("decay", [])]
# As Franci et al. (2015), with 1000 particles a cell in place of 8000.
FULL = ["grid.nx=2048", "grid.lx=256", "species.protons.particles_per_cell=1000", "particles.precision=single",
        "const.rms=0.24", "const.from_k=0.024", "const.to_k=0.28", "const.slope=-1", "fields.eta_hyper=0",
        "run.dt=0.025", "run.t_end=250", "output.series_every=100", "output.flow.every=400", "output.heat.every=2000",
        "output.film.every=200", "output.film.coarsen=4"]
KINETIC = (2.0, 4.5)     # wave numbers below the scales of the ions (Franci et al. 2015: a break near 2 to 3)
LARGEST = 2.0            # of the inertial range, which begins at 1.2 times that of the waves
RANGE = 5.0              # the least ratio of both ends for a row about the inertial range
RESOLVED = 0.6           # the largest k dx at which grid and smoothing take little (10 %)
NEAR = 0.15              # spectra are means over so much of the time around that of the largest current
MOMENTS = {"$u$ across": ("u_protons/x", "u_protons/y"), "$E$ across": ("E/x", "E/y"), "$n$": ("n_protons",)}
MOST_PIXELS = 512        # of the picture of J_z, along each axis
BAND_BUDGET = 0.01       # second order in the time step; trapezoids of the heat in time
# The hyper-resistivity of the quick form has a part in the steepening, and the noise one against it, so the row only
# says that the spectrum is steeper beyond the scales of the ions, by no more than twice as much as published.
BAND_STEEPENING = 4 / 3
BAND_INERTIAL, BAND_KINETIC, BAND_BREAK = 0.2, 0.4, 0.7
# The current is largest some turnover times 1/(k b) after the start: near 10 in the box of Franci et al. (2015), and
# earlier where the way to the scales of the ions is shorter.
TURNOVERS, BAND_TURNOVERS = 8.0, 4.0


class Turbulence:
    """Spectra of B and moments of one run, at all outputs."""

    def __init__(self, run: Run) -> None:
        self.run, self.steps = run, run.outputs["flow"]
        self.size = run.number("grid.lx")
        self.cell = self.size / run.number("grid.nx")
        self.largest_k = np.pi / self.cell / 2  # beyond it the noise of the particles counts in the current
        times, across, along, heat = [], [], [], []
        for step in self.steps:
            with run.output("flow", step) as frame:
                power = [spectrum.power_over_k(frame[f"B/{c}"], (self.cell, self.cell)) for c in "xyz"]
                times.append(frame.time)
                heat.append(frame["heating_resistive"].mean() * self.size**2)
            self.k = power[0][0]
            across.append(power[0][1] + power[1][1])
            along.append(power[2][1])
        self.t, self.across, self.along, self.heat = (np.array(a) for a in (times, across, along, heat))

    def current(self) -> np.ndarray:
        """rms of J_z of wave numbers up to half of the grid's largest."""
        inside = self.k <= self.largest_k
        return np.sqrt((self.across * self.k**2)[:, inside].sum(axis=1) * self.k[0])

    def turnover(self) -> float:
        """1/(k b) of the start, with the mean square of k over the power."""
        power = self.across[0]
        return float(1 / np.sqrt((power * self.k**2).sum() * self.k[0]))

    def peak(self) -> int:
        return int(np.argmax(self.current()))

    def mean(self, power: np.ndarray) -> np.ndarray:
        """Over outputs around the time of the largest current."""
        middle = self.t[self.peak()]
        return power[np.abs(self.t - middle) <= NEAR * middle].mean(axis=0)

    def fit(self, power: np.ndarray, ends: tuple[float, float]) -> tuple[float, float]:
        """Slope and logarithm at k = 1 of a power law, with the same weight for each part of log k."""
        inside = (self.k >= ends[0]) & (self.k <= ends[1])
        slope, level = np.polyfit(np.log(self.k[inside]), np.log(power[inside]), 1, w=self.k[inside]**-0.5)
        return float(slope), float(level)

    def moments(self) -> dict[str, np.ndarray]:
        """Spectra of u and E across B0 and of n around the same time; without outputs there, none."""
        middle, found = self.t[self.peak()], []
        for step in self.run.outputs["moments"]:
            with self.run.output("moments", step) as frame:
                if abs(frame.time - middle) <= NEAR * middle:
                    found.append({label: sum(spectrum.power_over_k(frame[name], (self.cell, self.cell))[1] for name in names)
                                  for label, names in MOMENTS.items()})
        return {label: np.mean([one[label] for one in found], axis=0) for label in MOMENTS if found}

    def inertial(self) -> tuple[float, float]:
        return 1.2 * self.run.number("const.to_k"), LARGEST


def budget_row(data: Turbulence) -> verify.Row:
    """What ions, B and electrons have lost over the heat of the resistivity, which isothermal electrons lose."""
    energy = data.run.series["energy_total"]
    made = (0.5 * (data.heat[1:] + data.heat[:-1]) * np.diff(data.t)).sum()
    return verify.Row("energy lost over resistive heat", float((energy[0] - energy[-1]) / made), 1, BAND_BUDGET)


def spectrum_rows(data: Turbulence) -> list[verify.Row]:
    power = data.mean(data.across)
    (low, low_level), (high, high_level) = data.fit(power, data.inertial()), data.fit(power, KINETIC)
    rows = [verify.Row("slope of B for k = 2 to 4.5, less that below", high - low, -4 / 3, BAND_STEEPENING,
                       absolute=True)]
    if KINETIC[1] * data.cell <= RESOLVED:
        rows.append(verify.Row("slope of B for k = 2 to 4.5", high, -3, BAND_KINETIC, absolute=True))
    if data.inertial()[1] >= RANGE * data.inertial()[0]:
        rows += [verify.Row("slope of the inertial range", low, -5 / 3, BAND_INERTIAL, absolute=True),
                 verify.Row("k of the break", float(np.exp((high_level - low_level) / (low - high))), 2.5, BAND_BREAK,
                            absolute=True)]
    return rows


def temperatures(run: Run) -> list[tuple[float, float]]:
    """T_perp and T_par, means over the ions, at the first and the last output."""
    found = []
    for step in (run.outputs["heat"][0], run.outputs["heat"][-1]):
        with run.output("heat", step) as frame:
            n = frame["n_protons"]
            found.append(tuple(float((n * frame[f"T_{which}_protons"]).mean() / n.mean()) for which in ("perp", "par")))
    return found


def heat_rows(run: Run) -> list[verify.Row]:
    """Both temperatures rise, at similar rates (Franci et al. 2015); by how much depends on the resistivity."""
    (perp0, par0), (perp, par) = temperatures(run)
    return [verify.Row("rise of T_par over that of both", (par - par0) / (perp - perp0 + par - par0), 0.5, 0.3,
                       absolute=True)]


def draw(current: np.ndarray, time: float, size: float, largest_k: float, k: np.ndarray, spectra: dict[str, np.ndarray],
         slopes: tuple[tuple[tuple[float, float], float, str], ...], output: Path) -> None:
    """J_z, and spectra; the slopes are drawn above the first one of these."""
    figure, (left, right) = plot.new_figure(width=10.5, height=4.4, ncols=2)
    limit = np.percentile(np.abs(current), 99.5)
    image = left.pcolormesh(*(np.linspace(0, size, n + 1) for n in current.shape[::-1]), current, cmap="RdBu_r",
                            vmin=-limit, vmax=limit, rasterized=True)
    figure.colorbar(image, ax=left, label="$J_z$  $[e n_0 v_A]$", extend="both")
    left.set(aspect="equal", xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$",
             title=f"Current along $\\mathbf{{B}}_0$, $t\\,\\Omega_{{ci}} = {time:g}$")
    for label, power in spectra.items():
        right.loglog(k, power, label=label)
    power = next(iter(spectra.values()))
    for ends, slope, name in slopes:
        ends = np.array(ends)
        inside = (k >= ends[0]) & (k <= ends[1])
        level = np.exp(np.mean(np.log(power[inside]) - slope * np.log(k[inside])))
        right.loglog(ends, 1.8 * level * ends**slope, "k--", lw=1.4)
        middle = np.sqrt(ends[0] * ends[1])
        right.annotate(name, (middle, 2.6 * level * middle**slope), fontsize=12)
    right.set(xlabel="$k\\,d_i$", ylabel="power over $k$  [units squared, $d_i$]",
              xlim=(k[0] * 0.9, largest_k), ylim=(power.max() / 3e4, power.max() * 2),
              title="Spectra around this time")
    right.legend(loc="lower left", fontsize=9)
    plot.save(figure, output)


def picture(data: Turbulence, output: Path) -> None:
    with data.run.output("flow", data.steps[data.peak()]) as frame:
        current, time = frame["J/z"], frame.time
    each = max(1, len(current) // MOST_PIXELS)
    coarse = current.reshape(len(current) // each, each, -1, each).mean(axis=(1, 3))
    spectra = {"$B$ across $\\mathbf{B}_0$": data.mean(data.across), "$B$ along $\\mathbf{B}_0$": data.mean(data.along),
               **data.moments()}
    draw(coarse, time, data.size, np.pi / data.cell, data.k, spectra,
         ((data.inertial(), -5 / 3, "$k^{-5/3}$"), (KINETIC, -3, "$k^{-3}$")), output)


def check(directory: Path) -> list[verify.Row]:
    run = Run(directory / RUNS[0][0])
    data = Turbulence(run)
    picture(data, directory / "turbulence.png")
    time = verify.Row("time of the largest J_z, in turnover times", float(data.t[data.peak()] / data.turnover()),
                      TURNOVERS, BAND_TURNOVERS, absolute=True)
    return [budget_row(data), time, *spectrum_rows(data), *heat_rows(run)]


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
