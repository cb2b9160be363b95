#!/usr/bin/env python3
"""A theta pinch: field, density, temperature and energy of a compressed column of plasma against adiabatic theory."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, verify

RUNS: list[tuple[str, list[str]]] = [("pinch", [])]
FULL = ["grid.nx=128", "grid.ny=128", "species.protons.particles_per_cell=256"]
TIMES = (30.0, 44.0, 60.0, 84.0)  # when column and theory are compared
CORE = 0.4  # of the theory's radius: where the column counts as uniform
BAND_FIELD, BAND_WORK = 0.01, 0.01
GAMMA_IONS, GAMMA_ELECTRONS = 2.0, 5 / 3  # ions are compressed across B, v_z does not change


class Theory:
    """A uniform column that keeps its flux and is in balance with B of the void, as the flux through the domain grows.

    E is prescribed half a cell beyond the sides, so the flux is that of a domain larger by a cell."""

    def __init__(self, run: Run) -> None:
        self.length, self.cell = run.number("grid.lx"), run.number("grid.lx") / run.number("grid.nx")
        self.radius, self.bias = run.number("const.radius"), run.number("const.bias")
        self.ramp, self.rise = run.number("const.ramp"), run.number("const.rise")
        self.ions, self.electrons = run.number("species.protons.temperature"), run.number("electrons.temperature")
        self.area = (self.length + self.cell)**2

    def rate(self, t: np.ndarray) -> np.ndarray:
        """At which B_z would grow in an empty domain."""
        return np.where(t < self.ramp, self.rise / self.ramp * (1 - np.cos(2 * np.pi * t / self.ramp)), 0)

    def grown(self, t: float) -> float:
        s = min(t, self.ramp)
        return self.rise * (s / self.ramp - np.sin(2 * np.pi * s / self.ramp) / (2 * np.pi))

    def outside(self, compression: np.ndarray) -> np.ndarray:
        """B that balances a column of the density n = compression."""
        pressure = self.ions * compression**GAMMA_IONS + self.electrons * compression**GAMMA_ELECTRONS
        return np.sqrt((self.bias * compression)**2 + 2 * pressure)

    def compression(self, t: float) -> float:
        """For which B outside has all flux that is not in the column."""
        n = np.linspace(0.5, 10, 20001)
        column = np.pi * self.radius**2
        flux = self.outside(np.ones(1))[0] * (self.area - column) + self.grown(t) * self.area
        return float(np.interp(0, self.outside(n) * (self.area - column / n) - flux, n))

    def gyroradius(self, compression: float) -> float:
        """Of an ion in B outside, over the radius of the column: of this order is what the theory leaves out."""
        outside = self.outside(np.array([compression]))[0]
        return float(np.sqrt(self.ions * compression) / outside / (self.radius / np.sqrt(compression)))


class Column:
    """Means of one output: over the core of the column, and of B along the sides."""

    def __init__(self, run: Run, theory: Theory, fields) -> None:
        self.time, self.theory = fields.time, theory.compression(fields.time)
        self.n_map, self.b_map = fields["rho"], fields["B/z"]
        self.x, self.y = fields.x("rho"), fields.y("rho")
        at = [float((self.n_map.sum(axis=k) * places).sum() / self.n_map.sum()) for k, places in ((0, self.x), (1, self.y))]
        core = CORE * theory.radius / np.sqrt(self.theory)
        self.n = self.n_map[np.hypot(self.x - at[0], self.y[:, None] - at[1]) < core].mean()
        near = np.hypot(fields.x("B/z") - at[0], fields.y("B/z")[:, None] - at[1]) < core
        self.b = self.b_map[near].mean()
        self.outside = float(np.mean([self.b_map[0], self.b_map[-2], self.b_map[:, 0], self.b_map[:, -2]]))
        series = run.series
        k = int(np.argmin(np.abs(series["time"] - self.time)))
        across = series["kinetic_x_protons"] + series["kinetic_y_protons"]
        self.warmer, self.energy = across[k] / across[0], series["energy_total"][k]
        self.along = series["kinetic_z_protons"][k] / series["kinetic_z_protons"][0]


def rows_at(column: Column, theory: Theory) -> list[verify.Row]:
    n, label, band = column.theory, f"t = {column.time:g}: ", theory.gyroradius(column.theory)
    return [verify.Row(label + "B in the void", column.outside, theory.outside(np.array([n]))[0], BAND_FIELD),
            verify.Row(label + "density of the column", column.n, n, band),
            verify.Row(label + "B over n in the column", column.b / column.n, theory.bias, band),
            verify.Row(label + "T_i across B over that at the start", column.warmer, n**(GAMMA_IONS - 1), band)]


def work_row(columns: list[Column], theory: Theory) -> verify.Row:
    """The energy that the run gains, over the Poynting flux through the sides: B outside times the change of the flux."""
    t, outside = np.array([c.time for c in columns]), np.array([c.outside for c in columns])
    flux = theory.rate(t) * theory.area - (theory.area - theory.length**2) * np.gradient(outside, t)
    work = float(np.sum(0.5 * np.diff(t) * ((flux * outside)[1:] + (flux * outside)[:-1])))
    return verify.Row("energy gained over the work of the coil", (columns[-1].energy - columns[0].energy) / work, 1,
                      BAND_WORK)


def picture(columns: list[Column], theory: Theory, output: Path) -> None:
    figure, axes = plot.new_figure(12.6, 4.2, ncols=3)
    last = columns[-1]
    for ax, values, label, colours in ((axes[0], last.n_map, "$n$  $[n_0]$", "magma"),
                                       (axes[1], last.b_map, "$B_z$  $[B_0]$", "viridis")):
        image = ax.imshow(values, extent=(0, theory.length, 0, theory.length), origin="lower", cmap=colours,
                          interpolation="bilinear")
        figure.colorbar(image, ax=ax, label=label, pad=0.02, shrink=0.85)
        ax.add_patch(plot.plt.Circle((theory.length / 2, theory.length / 2), theory.radius, fill=False, ls="--", ec="white"))
        ax.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$")
        ax.set_aspect("equal")
    t = [c.time for c in columns]
    adiabatic = [c.theory for c in columns]
    outside = [theory.outside(np.array([n]))[0] for n in adiabatic]
    for values, want, label in (([c.outside for c in columns], outside, "$B_z$ in the void  $[B_0]$"),
                                ([c.n for c in columns], adiabatic, "$n$ of the column  $[n_0]$"),
                                ([c.warmer for c in columns], adiabatic, "$T_i$ over that at the start")):
        line, = axes[2].plot(t, values, lw=1.6, label=label)
        axes[2].plot(t, want, "--", color=line.get_color(), lw=1.1)
    axes[2].plot([], [], "k--", lw=1.1, label="theory")
    axes[2].set(xlabel="$t\\,\\Omega_{ci}$", xlim=(0, t[-1]), ylim=(None, 1.4 * max(outside)))
    axes[2].legend(loc="upper left")
    figure.suptitle(f"Theta pinch, maps at $t\\,\\Omega_{{ci}} = {last.time:g}$, dashed: the column at the start",
                    fontsize=13)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    run = Run(directory / RUNS[0][0])
    theory = Theory(run)
    columns = [Column(run, theory, fields) for fields in run.each_fields()]
    picture(columns, theory, directory / "theta_pinch.png")
    chosen = [min(columns, key=lambda c: abs(c.time - t)) for t in TIMES]
    rows = [row for column in chosen for row in rows_at(column, theory)]
    rows += [work_row(columns, theory), verify.Row("energy of v_z over that at the start", columns[-1].along, 1, 1e-12),
             verify.zero("lost through the sides", sum(float(run.series[f"leak_{side}_protons"][-1])
                                                       for side in ("x_min", "x_max", "y_min", "y_max")))]
    return rows + ledger.rows(run)


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
