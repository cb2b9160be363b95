#!/usr/bin/env python3
"""GEM reconnection challenge: peak rate, which eta, cells and the mirror image of the walls hardly change; Hall field,
budgets; a sheet at rest."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path

import numpy as np

from larmor import Fields, Run, plot, verify
from larmor.plot import label_of

NARROW = ["const.psi0=0", "fields.eta=0", "grid.lx=1.6", "species.sheet.particles_per_cell=480",
          "species.background.particles_per_cell=800", "run.t_end=20", "output.flow.every=100"]
RUNS = [("gem", []), ("half_eta", ["fields.eta=0.0025"]), ("coarse", ["const.coarse=2"]), ("sheet", NARROW), ("double", [], "double.ini")]
FULL = ["const.cells=10", "run.dt=0.01", "run.t_end=40", "output.flow.every=50", "output.moments.every=500",
        "species.sheet.particles_per_cell=1000", "species.background.particles_per_cell=2000"]
RATES = (0.15, 0.30)  # B0 v_A: peaks of the codes of the GEM challenge
SAME = 0.2            # of the rate, whatever breaks the field lines at the X point: eta, or the grid; and for other noise
SHEETS = {"lower": 0.25, "upper": 0.75}  # of the two in a periodic box, over its height
SPAN = 3.0            # 1/Omega_ci over which a rate is fitted
NEAR = 6.0, 2.0       # d_i from the X point, where the Hall field is
BAND_ODD = 0.2        # noise, and the islands that are not alike on both sides
# Over the mass. Walls with B_y = 0 take none; what is left is the error of J x B on the grid. Along z the ions of the
# sheet drift with 2 T_i/w = 1.7, and all of J is along z.
MOMENTUM = {"x": 1e-4, "z": 2e-3}
BAND_DENSITY = 0.02   # of the sheet at rest: three times the counting noise of a row of cells


class Reconnection:
    """Flux and heat in time of one run; `height` of the sheet, over that of the box."""

    def __init__(self, directory: Path, height: float = 0.5) -> None:
        self.run = Run(directory)
        times, flux, heating = [], [], []
        for step in self.run.outputs["flow"]:
            with self.run.output("flow", step) as flow:
                times.append(flow.time)
                flux.append(np.ptp(in_the_sheet(potential(flow), height)))
                heating.append(flow["heating_resistive"].mean())
        self.t, self.flux = np.array(times), np.array(flux)
        self.heating = np.array(heating) * self.run.number("grid.lx") * self.run.number("grid.ly")

    @cached_property
    def rates(self) -> np.ndarray:
        """d(flux)/dt, fitted over SPAN around each time; not a number near the ends."""
        rates = np.full(len(self.t), np.nan)
        for i, t in enumerate(self.t):
            near = np.abs(self.t - t) <= SPAN / 2 + 1e-9
            if self.t[0] + SPAN / 2 <= t + 1e-9 and t - 1e-9 <= self.t[-1] - SPAN / 2:
                rates[i] = np.polyfit(self.t[near], self.flux[near], 1)[0]
        return rates

    @property
    def at_peak(self) -> int:
        return int(np.nanargmax(self.rates))

    @property
    def peak(self) -> float:
        """Not a number where the rate still rises at the end."""
        later = self.rates[self.at_peak + 1:]
        return float(self.rates[self.at_peak]) if np.isfinite(later).any() else np.nan

    @property
    def heat(self) -> float:
        """What the resistivity has taken from the fields."""
        return float(np.sum((self.heating[1:] + self.heating[:-1]) / 2 * np.diff(self.t)))


def potential(flow: Fields) -> np.ndarray:
    """A_z at the centres of cells, up to a constant: B_x = dA/dy on upper faces, B_y = -dA/dx on those to the right."""
    dx, dy = flow.spacing("B/x")
    rows = np.vstack([np.zeros_like(flow["B/x"][:1]), np.cumsum(flow["B/x"][:-1], axis=0) * dy])
    return rows - np.concatenate([[0.0], np.cumsum(flow["B/y"][0, :-1])]) * dx


def in_the_sheet(lines: np.ndarray, height: float = 0.5) -> np.ndarray:
    """A_z in the middle of a sheet, which is between two rows."""
    return lines[round(height * len(lines)) - 1:][:2].mean(axis=0)


def quadrants(flow: Fields) -> tuple[float, float]:
    """How many of the four quadrants around the X point have a mean B_z of the sign of -xy, and which part of the mean
    square of B_z is odd in x and in y, as the Hall field is."""
    b, (dx, dy) = flow["B/z"], flow.spacing("B/z")
    rows, columns = b.shape
    at = int(np.argmax(in_the_sheet(potential(flow))))  # a saddle: the largest A_z on this line
    b = np.roll(b, columns // 2 - at, axis=1)
    middle, up, right = rows // 2 - 1, round(NEAR[1] / dy), round(NEAR[0] / dx)  # B_z of a row is at its upper side
    b = b[middle - up:middle + up + 1, columns // 2 - right:columns // 2 + right + 1]
    odd = (b - b[::-1] - b[:, ::-1] + b[::-1, ::-1]) / 4
    quarters = (b[:up, :right], -b[:up, right + 1:], -b[up + 1:, :right], b[up + 1:, right + 1:])
    return float(sum(quarter.mean() < 0 for quarter in quarters)), float((odd**2).mean() / (b**2).mean())


def hall_rows(gem: Reconnection) -> list[verify.Row]:
    step = gem.run.outputs["flow"][gem.at_peak]
    with gem.run.output("flow", step) as flow:
        right, part = quadrants(flow)
    return [verify.Row("quadrants with B_z of the sign of -xy", right, 4, 0.0),
            verify.Row("part of B_z^2 that is odd in x and y", part, 1, BAND_ODD)]


def budget_rows(gem: Reconnection) -> list[verify.Row]:
    """What plasma and resistivity gain in energy is what B loses. Walls take no momentum along x and z."""
    series, run = gem.run.series, gem.run
    magnetic = sum(series[f"magnetic_{axis}"] for axis in "xyz")
    released = magnetic[0] - magnetic[-1]
    total = series["energy_total"][-1] - series["energy_total"][0]
    across = 2 * run.number("const.width") + run.number("const.background") * run.number("grid.ly")
    mass = run.number("grid.lx") * across
    rows = [verify.zero("energy, Joule heat added, over that of B released", (total + gem.heat) / released, 0.05)]
    for axis, band in MOMENTUM.items():
        change = series[f"momentum_{axis}"][-1] - series[f"momentum_{axis}"][0]
        rows.append(verify.zero(f"momentum along {axis}, change over the mass", change / mass, band))
    return rows


class Profile:
    """Means along the sheet over y, of a run without a seed, at the first and the last output."""

    def __init__(self, run: Run) -> None:
        self.b, self.n, self.pressure = [], [], []
        for step in (run.outputs["moments"][0], run.outputs["moments"][-1]):
            with run.output("moments", step) as moments:
                b = moments["B/x"].mean(axis=1)
                squares = b**2
                squares = (squares + np.concatenate([squares[:1], squares[:-1]])) / 2  # from the faces to the centres
                ions = sum(moments[f"P_{name}/yy"] for name in run.species)
                self.y, self.y_b = moments.y("p_e"), moments.y("B/x")
                self.b.append(b)
                self.n.append(sum(moments[f"n_{name}"] for name in run.species).mean(axis=1))
                self.pressure.append((ions + moments["p_e"]).mean(axis=1) + squares / 2)


def sheet_rows(run: Run) -> list[verify.Row]:
    profile = Profile(run)
    background, temperature = run.number("const.background"), run.number("const.ti") + run.number("const.te")
    total = background * temperature + 0.5
    start = np.abs(profile.pressure[0] / total - 1).max()
    return [verify.zero("sheet at rest: pressure at the start, largest deviation", start, 0.05),
            verify.zero(f"sheet at rest: B_x at t = {run.number('run.t_end'):g}, largest change",
                        np.abs(profile.b[1] - profile.b[0]).max(), 0.05),
            verify.zero("sheet at rest: density there, rms of the change", (profile.n[1] - profile.n[0]).std(), BAND_DENSITY)]


def draw_fields(axes, gem: Reconnection, step: int):
    run, half = gem.run, (gem.run.number("grid.lx") / 2, gem.run.number("grid.ly") / 2)
    with run.output("flow", step) as flow:
        limit = np.percentile(np.abs(flow["B/z"]), 99.7)
        extent = (-half[0], half[0], -half[1], half[1])
        image = axes.imshow(flow["B/z"], origin="lower", extent=extent, cmap="RdBu_r", vmin=-limit, vmax=limit,
                            interpolation="bicubic")
        lines = potential(flow)
        x, y = flow.x("rho") - half[0], flow.y("rho") - half[1]
        levels = in_the_sheet(lines).max() + np.arange(-12, 13) * 0.35  # with the separatrix
        axes.contour(x, y, lines, levels=levels, colors="k", linewidths=0.7, linestyles="solid")
        axes.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$",
                 title=f"GEM challenge: $B_z$ and field lines, $t\\,\\Omega_{{ci}} = {flow.time:g}$")
    return image


def picture(runs: list[Reconnection], output: Path) -> None:
    gem = runs[0]
    figure, axes = plot.new_figure(9.0, 7.6)
    axes.remove()
    grid = figure.add_gridspec(2, 2, height_ratios=(1.35, 1))
    upper = figure.add_subplot(grid[0, :])
    image = draw_fields(upper, gem, gem.run.outputs["flow"][gem.at_peak])
    figure.colorbar(image, ax=upper, label=label_of("B/z"), pad=0.01)
    left, right = (figure.add_subplot(grid[1, i]) for i in range(2))
    right.axhspan(*RATES, color="0.9", zorder=0, label="GEM codes, peak")
    for one in runs:
        cell = one.run.number("grid.lx") / one.run.number("grid.nx")
        label = f"$\\eta = {one.run.number('fields.eta'):g}$, cells of {cell:g} $d_i$"
        left.plot(one.t, one.flux, label=label)
        right.plot(one.t, one.rates)
    left.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="flux  $[B_0 d_i]$", title="Reconnected flux", xlim=(0, gem.t[-1]),
             ylim=(0, None))
    right.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="rate  $[B_0 v_A]$", title="Its rate", xlim=(0, gem.t[-1]),
              ylim=(0, 1.3 * max(RATES[1], gem.peak)))
    left.legend(loc="upper left")
    right.legend(loc="upper left")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = gem, half, coarse = [Reconnection(directory / name) for name, *_ in RUNS[:3]]
    picture(runs, directory / "reconnection.png")
    middle, band = sum(RATES) / 2, (RATES[1] - RATES[0]) / 2
    rates = [verify.Row("peak rate of reconnection", gem.peak, middle, band, absolute=True),
             verify.Row("that with half of eta, over that with eta", half.peak / gem.peak, 1, SAME),
             verify.Row("that with cells twice as large, over that", coarse.peak / gem.peak, 1, SAME)]
    for name, height in SHEETS.items():
        sheet = Reconnection(directory / "double", height)
        rates.append(verify.Row(f"two sheets in a periodic box, {name} one: over that", sheet.peak / gem.peak, 1, SAME))
    return rates + hall_rows(gem) + budget_rows(gem) + sheet_rows(Run(directory / RUNS[3][0]))


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
