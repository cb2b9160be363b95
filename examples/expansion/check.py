#!/usr/bin/env python3
"""Expansion into vacuum: density, speed and energy of the rarefaction within 3 %, momentum within 1 %."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from larmor import Run, ledger, plot, verify

RUNS: list[tuple[str, list[str]]] = [("slab", [])]
FULL = ["grid.nx=1920", "run.dt=0.0125", "species.protons.particles_per_cell=6000", "output.series_every=40",
        "output.fields_every=80"]
TIMES = (10.0, 20.0)   # when profiles are fitted
WINDOW = (-0.5, 1.5)   # of (x - x0)/(c_s t)
EDGE_TIMES = (10.0, 25.0)  # when the density at the original edge is followed
THIN = 0.002           # three particles in a cell: the picture shows no mean velocity of fewer
BAND, BAND_LOG, BAND_MOMENTUM = 0.03, 0.03, 0.01


class Profile(NamedTuple):
    """One output: ln n and u over x - x0."""

    sound: float  # sqrt(T_e)
    t: float
    x: np.ndarray
    n: np.ndarray
    u: np.ndarray

    @property
    def xi(self) -> np.ndarray:
        return self.x / (self.sound * self.t)

    @property
    def inside(self) -> np.ndarray:
        return (self.xi > WINDOW[0]) & (self.xi < WINDOW[1])

    def fit(self, values: np.ndarray) -> np.ndarray:
        """Slope and value at the edge."""
        return np.polyfit(self.x[self.inside], values[self.inside], 1)


def profiles(run: Run) -> list[Profile]:
    found, edge, sound = [], run.number("const.edge"), float(np.sqrt(run.number("electrons.temperature")))
    for fields in run.each_fields():
        n = fields["n_protons"].mean(axis=0)
        current = fields["J_i/x"].mean(axis=0)
        u = np.divide(current, n, out=np.full_like(n, np.nan), where=n > 0)
        found.append(Profile(sound, fields.time, fields.x("n_protons") - edge, n, u))
    return found


def profile_rows(p: Profile) -> list[verify.Row]:
    log_slope, log_edge = p.fit(np.log(p.n, where=p.inside, out=np.zeros_like(p.n)))
    u_slope, u_edge = p.fit(p.u)
    label = f"t = {p.t:g}: "
    return [verify.Row(label + "-c_s t d ln n/dx", -log_slope * p.sound * p.t, 1, BAND),
            verify.Row(label + "ln n at the edge", log_edge, -1, BAND_LOG, absolute=True),
            verify.Row(label + "t du/dx", u_slope * p.t, 1, BAND),
            verify.Row(label + "u at the edge", u_edge, p.sound, BAND)]


def edge_row(all_profiles: list[Profile]) -> verify.Row:
    """The density at the original edge that is furthest from n0/e."""
    found = np.array([np.interp(0, p.x, p.n) for p in all_profiles if EDGE_TIMES[0] <= p.t <= EDGE_TIMES[1]])
    expected = float(np.exp(-1))
    return verify.Row("n at the edge, the worst", found[np.argmax(np.abs(found - expected))], expected, BAND)


def balance_rows(run: Run) -> list[verify.Row]:
    """p_e0 t of momentum, n0 T_e c_s t of energy per unit area; the ledger."""
    s = run.series
    temperature = run.number("electrons.temperature")
    k = int(np.argmin(np.abs(s["time"] - TIMES[1])))
    t = s["time"][k]
    kinetic = s["kinetic_x_protons"][k] - s["kinetic_x_protons"][0]
    push = temperature * t * run.number("grid.ly")
    return [verify.Row(f"t = {t:g}: momentum over p_e0 t", s["momentum_x"][k] / push, 1, BAND_MOMENTUM),
            verify.Row(f"t = {t:g}: energy of ions over p_e0 c_s t", kinetic / (push * np.sqrt(temperature)), 1, BAND),
            verify.zero(f"t = {t:g}: lost through x_max", s["leak_x_max_protons"][k]),
            *ledger.rows(run)]


def picture(chosen: list[Profile], output: Path) -> None:
    figure, (upper, lower) = plot.new_figure(7.0, 6.2, nrows=2, sharex=True)
    line = np.array([-1.0, 5.0])
    for axes in (upper, lower):
        axes.axvspan(*WINDOW, color="0.93", zorder=0)
    for p in chosen:
        upper.semilogy(p.xi, np.where(p.n > 0, p.n, np.nan), lw=1.4, label=f"$t\\,\\Omega_{{ci}} = {p.t:g}$")
        lower.plot(p.xi, np.where(p.n > THIN, p.u, np.nan) / p.sound, lw=1.4)
    upper.semilogy(line, np.exp(-1 - line), "k--", lw=1.2, label="$e^{-1-\\xi}$")
    lower.plot(line, 1 + line, "k--", lw=1.2, label="$1 + \\xi$")
    upper.set(ylabel="$n/n_0$", ylim=(1e-3, 2), title="Expansion into vacuum")
    upper.text(sum(WINDOW) / 2, 1.3, "fitted", ha="center", fontsize=10, color="0.4")
    lower.set(xlabel="$\\xi = (x - x_0)/(c_s t)$", ylabel="$u/c_s$", xlim=(-2, 6), ylim=(-0.5, 7.5))
    for axes in (upper, lower):
        axes.legend(loc="upper right" if axes is upper else "upper left")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    run = Run(directory / RUNS[0][0])
    found = profiles(run)
    chosen = [min(found, key=lambda p: abs(p.t - t)) for t in TIMES]
    picture(chosen, directory / "expansion.png")
    return [row for p in chosen for row in profile_rows(p)] + [edge_row(found)] + balance_rows(run)


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
