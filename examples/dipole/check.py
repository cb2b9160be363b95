#!/usr/bin/env python3
"""A line dipole in a wind: stand-off distance, bow shock at the nose, the empty cavity and its field, the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, shocks, verify

FULL = ["grid.nx=192", "grid.ny=192", "run.dt=0.01", "species.protons.particles_per_cell=128", "output.series_every=40",
        "output.fields_every=100"]
RUNS: list[tuple[str, list[str]]] = [("dipole", [])]
START = 18.0   # the steady window begins
ROWS = 3       # rows of cells on each side of the axis of the nose
CAVITY = 2.0   # d_i from the planet and from the magnetopause, some gyroradii


class Theory:
    """A fluid across B_z, n = 1 and B = 1 upstream: ions have gamma = 2, B/n stays 1, electrons are isothermal."""

    def __init__(self, run: Run) -> None:
        self.wind, self.moment = run.number("const.wind"), run.number("const.moment")
        self.ions, self.electrons = run.number("species.protons.temperature"), run.number("electrons.temperature")
        self.radius, self.cell = run.number("body.planet.radius"), run.number("grid.lx") / run.number("grid.nx")
        self.x, self.y = run.number("const.planet_x"), run.number("const.planet_y")
        self.momentum = self.wind**2 + self.ions + self.electrons + 0.5         # a flux, as far as the shock
        self.energy = self.wind**2 / 2 + 2 * self.ions + 1                      # of an ion, as far as the magnetopause
        n = np.linspace(1.001, 3, 3001)                                         # a fluid of gamma = 2 is compressed to 3
        self.behind = shocks.crossing(n, -self.energy_of(n, self.wind / n, self.ion_pressure(n)), -self.energy)
        rise = self.ion_pressure(self.behind) / self.behind**2                  # p_i/n^2, which stays behind the shock
        n = np.linspace(self.behind, 2 * self.behind, 3001)
        self.stopped = shocks.crossing(n, self.energy_of(n, 0, rise * n**2), self.energy)
        self.pressure = rise * self.stopped**2 + self.electrons * self.stopped + self.stopped**2 / 2
        self.edge = np.sqrt(2 * (self.pressure - 0.5))        # B in the plane at the magnetopause; B_z is 1 in the cavity
        # The conductor keeps the normal field on its surface: that of the softened dipole and of its image at the start.
        image = self.moment / (2 * run.number("const.standoff"))**2
        self.kept = self.moment * self.radius**2 / (self.radius**2 + 1) + image * self.radius**2
        self.standoff = np.sqrt(2 * self.kept / self.edge - self.radius**2)  # field doubled, by a plane and by a circle
        self.acting = self.kept / (1 + self.radius**2 / self.standoff**2)    # the field from outside does not enter it
        self.gyroradius = self.wind / self.edge

    def ion_pressure(self, n: np.ndarray | float) -> np.ndarray | float:
        """Of plasma with the momentum that comes in, as it is at the shock."""
        return self.momentum - self.wind**2 / n - self.electrons * n - n**2 / 2

    def energy_of(self, n: np.ndarray, speed: np.ndarray | float, ion_pressure: np.ndarray) -> np.ndarray:
        """What an ion carries along: its energy and the work of p_i, that of B^2/2, and the work of isothermal electrons."""
        return speed**2 / 2 + 2 * ion_pressure / n + n + self.electrons * np.log(n)

    def inside(self, r: float) -> tuple[float, float]:
        """B on the axis of the nose, with the magnetopause a plane, and with it a circle around the planet."""
        own = self.acting / r**2
        return own + self.acting / (2 * self.standoff - r)**2, own + self.acting / self.standoff**2


class Steady:
    """Means over the steady window, and along the axis of the nose over the distance from the planet's centre."""

    def __init__(self, run: Run, theory: Theory) -> None:
        names = {"n": "rho", "x": "B/x", "y": "B/y", "z": "B/z"}
        frames: dict[str, list[np.ndarray]] = {key: [] for key in names}
        for fields in run.each_fields():
            if fields.time >= START:
                for key, name in names.items():
                    frames[key].append(fields[name])
                self.x, self.y, self.end = fields.x("rho"), fields.y("rho"), fields.time
                self.faces = theory.x - fields.x("B/y")
        self.map = {key: np.mean(values, axis=0) for key, values in frames.items()}
        near = np.abs(self.y - theory.y) < ROWS * theory.cell
        self.line = {key: values[near].mean(axis=0) for key, values in self.map.items()}
        self.distance = theory.x - self.x


def rows_of(run: Run, t: Theory, s: Steady) -> list[verify.Row]:
    nose = shocks.crossing(s.faces, np.abs(s.line["y"]), t.edge / np.sqrt(2))  # half the pressure
    shock = shocks.crossing(s.distance, s.line["n"], (1 + t.behind) / 2)
    sheath = (s.distance < shock - CAVITY) & (s.distance > nose + CAVITY)
    cavity = (s.distance > t.radius + CAVITY) & (s.distance < nose - CAVITY)
    plane, circle = t.inside(6.0)
    at = float(np.interp(-6.0, -s.faces, np.abs(s.line["y"])))
    ahead = s.distance > shock + CAVITY
    return [
        verify.Row("stand-off distance", nose, t.standoff, t.gyroradius + t.cell, absolute=True),
        verify.Row("density before the shock", s.line["n"][ahead].mean(), 1, 0.03),
        verify.Row("density between shock and magnetopause", s.line["n"][sheath].mean(), (t.behind + t.stopped) / 2, 0.15),
        verify.Row("B_z over n there", (s.line["z"][sheath] / s.line["n"][sheath]).mean(), 1, 0.05),
        verify.Row("density in the cavity", s.line["n"][cavity].mean(), 0, 0.05, absolute=True),
        verify.Row("spread of B_z there over its mean", s.line["z"][cavity].std() / s.line["z"][cavity].mean(), 0, 0.02, absolute=True),
        verify.Row("B in the plane, 6 d_i from the centre", at, (plane + circle) / 2, (circle - plane) / 2, absolute=True)]


def picture(t: Theory, s: Steady, output: Path) -> None:
    figure, axes = plot.new_figure(7.8, 4.8, ncols=2, sharey=True)
    size = np.sqrt(s.map["x"]**2 + s.map["y"]**2 + s.map["z"]**2)
    for ax, values, label, most, colours in ((axes[0], s.map["n"], "$n$  $[n_0]$", 4, "magma"),
                                             (axes[1], size, "$|B|$  $[B_0]$", 10, "viridis")):
        half = t.cell / 2
        extent = (s.x[0] - half - t.x, s.x[-1] + half - t.x, s.y[0] - half - t.y, s.y[-1] + half - t.y)
        image = ax.imshow(values, extent=extent, origin="lower", cmap=colours, vmin=0, vmax=most,
                          interpolation="bilinear")
        figure.colorbar(image, ax=ax, label=label, location="top", pad=0.02, shrink=0.8, extend="max")
        ax.add_patch(plot.plt.Circle((0, 0), t.radius, fc="0.6", ec="black", zorder=3))
        ax.plot([-t.standoff] * 2, [-4, 4], "--", color="#35d0ff", lw=1.6, label="expected nose of the magnetopause")
        ax.set(xlabel="$x$  $[d_i]$")
        ax.set_aspect("equal")
    axes[0].set_ylabel("$y$  $[d_i]$")
    for words, at in (("bow shock", (-35, 20)), ("cavity", (12, 0))):
        axes[0].text(*at, words, color="white", va="center", fontsize=10)
    axes[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.17))
    figure.suptitle(f"A line dipole in a wind along $x$, mean over $t\\,\\Omega_{{ci}} = {START:g}$ to ${s.end:g}$",
                    fontsize=13)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    run = Run(directory / RUNS[0][0])
    theory = Theory(run)
    steady = Steady(run, theory)
    picture(theory, steady, directory / "dipole.png")
    return rows_of(run, theory, steady) + ledger.rows(run)


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
