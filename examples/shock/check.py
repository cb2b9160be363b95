#!/usr/bin/env python3
"""Perpendicular shock from a wall: compression and speed within 5 %, B over n within 2 %, what comes in."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, shocks, verify

RUNS: list[tuple[str, list[str]]] = [("wall", [])]
FULL = ["grid.nx=960", "grid.ny=16", "grid.ly=2", "run.dt=0.005", "species.protons.particles_per_cell=64",
        "output.series_every=100", "output.fields_every=100", "output.particles_every=8000"]
WINDOW = (30.0, 40.0)  # when the downstream is measured
TRACK = (15.0, 40.0)   # when the shock is followed
OFF_WALL, OFF_SHOCK = 10.0, 20.0  # d_i that the downstream keeps away from both
UPSTREAM = 20.0        # d_i from x_min


class Upstream:
    """The plasma that flows onto the wall, density 1 and B = 1, and what the jump conditions make of it."""

    def __init__(self, run: Run) -> None:
        self.speed = run.number("species.protons.drift_x")
        self.gamma = run.number("electrons.gamma")  # and of the ions, which have two degrees of freedom across B
        self.t_ions, self.t_electrons = run.number("species.protons.temperature"), run.number("electrons.temperature")
        self.beta = 2 * (self.t_ions + self.t_electrons)

    def compression_at(self, mach: float) -> float:
        """n2/n1 = B2/B1 at the Alfven Mach number of the shock, upstream frame: the positive root of
        (2 - g) X^2 + (g (beta + 1) + (g - 1) M^2) X - (g + 1) M^2 = 0."""
        g = self.gamma
        roots = np.roots([2 - g, g * (self.beta + 1) + (g - 1) * mach**2, -(g + 1) * mach**2])
        return float(max(roots.real))

    @cached_property
    def compression(self) -> float:
        """At the M for which M (X - 1)/X is the speed of the plasma onto the wall, found by bisection."""
        low, high = self.speed, 10 * self.speed
        for _ in range(100):
            middle = (low + high) / 2
            x = self.compression_at(middle)
            low, high = (middle, high) if middle * (x - 1) / x < self.speed else (low, middle)
        return self.compression_at((low + high) / 2)

    @property
    def shock_speed(self) -> float:
        """In the frame of the wall, away from it."""
        return self.speed / (self.compression - 1)

    @property
    def energy_flux(self) -> float:
        """Kinetic energy, enthalpy of ions (3 degrees of freedom) and electrons (gamma), Poynting flux."""
        enthalpy = 2.5 * self.t_ions + self.gamma / (self.gamma - 1) * self.t_electrons
        return self.speed * (self.speed**2 / 2 + enthalpy + 1)


class Profiles:
    """Means over y: [time, x]."""

    def __init__(self, run: Run) -> None:
        def mean(a: np.ndarray) -> np.ndarray:
            return a.mean(axis=0)
        self.t, self.n = run.history("n_protons", mean)
        _, self.b = run.history("B/z", mean)
        with run.fields(run.field_steps[0]) as fields:
            self.x, self.x_b = fields.x("n_protons"), fields.x("B/z")
        self.length, self.plasma = run.number("grid.lx"), Upstream(run)
        level = (1 + self.plasma.compression) / 2
        late = self.t >= TRACK[0]
        self.track = self.t[late]
        self.shock = np.array([shocks.crossing(self.x_b, row, level) for row in self.b[late]])

    def downstream(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The mean of each output in WINDOW, between shock and wall."""
        found = []
        for t, shock in zip(self.track, self.shock):
            if WINDOW[0] <= t <= WINDOW[1]:
                inside = (x > shock + OFF_SHOCK) & (x < self.length - OFF_WALL)
                found.append(rows[np.argmin(np.abs(self.t - t))][inside].mean())
        return np.array(found)

    def upstream(self, x: np.ndarray, rows: np.ndarray) -> float:
        return float(rows[self.t >= TRACK[0]][:, x < UPSTREAM].mean())


def jump_rows(p: Profiles) -> list[verify.Row]:
    expected = p.plasma.compression
    n1, b1 = p.upstream(p.x, p.n), p.upstream(p.x_b, p.b)
    n2, b2 = p.downstream(p.x, p.n) / n1, p.downstream(p.x_b, p.b) / b1
    speed = -np.polyfit(p.track, p.shock, 1)[0]
    return [verify.Row("upstream n", n1, 1, 0.01), verify.Row("upstream B", b1, 1, 0.01),
            verify.Row("n2/n1", n2.mean(), expected, 0.05, n2.std()),
            verify.Row("B2/B1", b2.mean(), expected, 0.05, b2.std()),
            verify.Row("(B2/B1)/(n2/n1)", (b2 / n2).mean(), 1, 0.02, (b2 / n2).std()),
            verify.Row("speed of the shock", speed, p.plasma.shock_speed, 0.05)]


def joule_heat(run: Run) -> float:
    """What resistivity has taken from the fields: the friction of ions and electrons heats neither of them in this model."""
    times, rates, eta = [], [], run.number("fields.eta")
    for fields in run.each_fields():
        b, x = fields["B/z"], fields.x("B/z")
        cell = x[1] - x[0]
        jx, jy = (np.roll(b, -1, axis=0) - b) / cell, np.diff(b, axis=1) / cell
        times.append(fields.time)
        rates.append(eta * ((jx**2).sum() + (jy**2).sum()) * cell**2)
    return float(np.mean(rates) * (times[-1] - times[0]))


def balance_rows(run: Run, p: Profiles) -> list[verify.Row]:
    """What came in through x_min: number, flux of B, energy."""
    s, plasma = run.series, p.plasma
    width, time = run.number("grid.ly"), s["time"][-1]
    expected = plasma.speed * time * width / ledger.particle_weight(run, "protons", "x_min")
    noise = (s["injected_x_min_protons"][-1] - expected) / np.sqrt(expected)
    flux = (np.trapezoid if hasattr(np, "trapezoid") else np.trapz)(p.b, p.x_b, axis=1)
    rate = plasma.energy_flux * width
    energy = s["energy_total"][-1] - s["energy_total"][0]
    heat = joule_heat(run)
    return [verify.zero("injected, less n U t, over its root", noise, 3),
            verify.zero("lost through x_min", s["leak_x_min_protons"][-1]),
            *ledger.rows(run),
            verify.Row("flux of B that came in, over U B t", (flux[-1] - flux[0]) / (plasma.speed * time), 1, 0.01),
            verify.Row("energy, Joule heat added, over rate t", (energy + heat) / (rate * time), 1, 0.02)]


def picture(run: Run, p: Profiles, output: Path) -> None:
    figure, (top, middle, bottom) = plot.new_figure(7.0, 8.0, nrows=3, sharex=True)
    top.plot(p.x, p.n[-1], lw=1.3, label="$n$  $[n_0]$")
    top.plot(p.x_b, p.b[-1], lw=1.3, label="$B_z$  $[B_0]$")
    top.axhline(p.plasma.compression, color="k", ls="--", lw=1.1, label="jump conditions")
    top.set_title(f"Perpendicular shock, $t\\,\\Omega_{{ci}} = {p.t[-1]:g}$", pad=26)
    top.set(ylabel="$n$, $B_z$", ylim=(0, None))
    top.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, borderaxespad=0.2)
    particles = run.particles(run.particle_steps[-1])
    x, v = particles.get("protons", "position/x"), particles.get("protons", "momentum/x")
    counts, xs, vs = np.histogram2d(x, v, bins=(240, 80))
    drawn = middle.pcolormesh(xs, vs, np.where(counts > 0, counts, np.nan).T, norm="log", cmap="viridis",
                              rasterized=True)
    middle.set(ylabel="$v_x$ of protons  $[v_A]$")
    figure.colorbar(drawn, ax=middle, label="particles in a bin", pad=0.02)
    image = bottom.pcolormesh(p.x_b, p.t, p.b, cmap="magma", shading="nearest", rasterized=True)
    fit = np.polyfit(p.track, p.shock, 1)
    at = np.mean(p.track)
    bottom.plot(np.polyval(fit, at) - p.plasma.shock_speed * (p.track - at), p.track, "--", color="#35d0ff", lw=1.4,
                label="expected speed")
    bottom.set(xlabel="$x$  $[d_i]$", ylabel="$t\\,\\Omega_{ci}$", xlim=(0, p.length))
    bottom.legend(loc="lower left", labelcolor="white")
    figure.colorbar(image, ax=bottom, label="$B_z$  $[B_0]$", pad=0.02)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    run = Run(directory / RUNS[0][0])
    profiles = Profiles(run)
    picture(run, profiles, directory / "shock.png")
    return jump_rows(profiles) + balance_rows(run, profiles)


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
