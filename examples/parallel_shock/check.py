#!/usr/bin/env python3
"""A quasi-parallel shock: jump conditions, what comes in, ions that run back, and the waves that they excite."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, shocks, theory, verify

RUNS: list[tuple[str, list[str]]] = [("wall", [])]
FULL = ["const.length=400", "const.width=32", "run.t_end=160", "output.particles_every=rint(40/dt)"]

TRACK = 20.0                      # from this time on the shock is followed
LATE = 60.0                       # from this time on plasma and waves are measured
OFF_SHOCK, OFF_WALL = 15.0, 10.0  # d_i that the downstream keeps away from both
FORESHOCK = (10.0, 80.0)          # d_i ahead of the shock: where ions and waves are measured
# The shock reforms all the time and waves of the size of B pass it, so only means obey the jump conditions.
BAND_JUMP = 0.10
DIFFUSE = (0.005, 0.05)           # density of the ions that run back (Paschmann et al. 1981; Burgess 1989)
BAND_HAND = 0.25                  # share of the power that waves of the other kind may have
GROWS = 0.75                      # waves grow about as fast as the fastest one where they have so much of its rate
WAVES = (0.05, 2.0)               # wave numbers that count


class Shock:
    """The profiles, means over y: [time, x], and what the jump conditions say."""

    def __init__(self, run: Run) -> None:
        self.run, self.length = run, run.number("grid.lx")
        self.inflow, self.slip = run.number("const.inflow"), run.number("const.slip")
        self.theta, self.gamma = np.radians(run.number("const.theta")), run.number("electrons.gamma")
        self.t_ions, self.t_electrons = run.number("species.protons.temperature"), run.number("electrons.temperature")
        self.beta = 2 * (self.t_ions + self.t_electrons)
        self.jump = shocks.wall_shock(self.inflow, self.beta, self.theta, self.gamma)
        self.t, self.n = run.history("n_protons", lambda a: a.mean(axis=0))
        self.b_y, self.b_z = (run.history(f"B/{axis}", lambda a: a.mean(axis=0))[1] for axis in "yz")
        with run.fields(run.field_steps[0]) as fields:
            self.x, self.x_b = fields.x("n_protons"), fields.x("B/y")
        self.track = self.t[self.t >= TRACK]
        self.place = np.array([self._place(row) for row in self.n[self.t >= TRACK]])

    def _place(self, n: np.ndarray) -> float:
        """Where the density, smoothed over some d_i, first passes the mean of both sides."""
        width = max(1, round(4 / (self.x[1] - self.x[0])))
        smooth = np.convolve(np.pad(n, width, mode="edge"), np.ones(width) / width, mode="same")[width:-width]
        return float(self.x[np.argmax(smooth > (1 + self.jump.compression) / 2)])

    def downstream(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The mean between shock and wall, of each output from LATE on."""
        found = []
        for t, place in zip(self.track, self.place):
            if t >= LATE:
                inside = (x > place + OFF_SHOCK) & (x < self.length - OFF_WALL)
                found.append(rows[np.argmin(np.abs(self.t - t))][inside].mean())
        return np.array(found)

    @property
    def tangential_flux(self) -> float:
        """Of B_y, that comes in: -E_z of the inflow."""
        return self.inflow * np.sin(self.theta) + self.slip * np.cos(self.theta)

    @property
    def fluid_energy_flux(self) -> float:
        """Enthalpy of the electrons, and Poynting flux of the inflow."""
        return self.inflow * self.gamma / (self.gamma - 1) * self.t_electrons + np.sin(self.theta) * self.tangential_flux


class Ions:
    """The plasma and the ions that run back, in the foreshock, means over the outputs of particles from LATE on."""

    def __init__(self, s: Shock) -> None:
        speed = -np.polyfit(s.track, s.place, 1)[0]
        area = (FORESHOCK[1] - FORESHOCK[0]) * s.run.number("grid.ly")
        cell = s.run.number("grid.lx") / s.run.number("grid.nx")
        weight = cell**2 / s.run.number("species.protons.particles_per_cell")
        rows, moments = [], []
        for step in s.run.particle_steps:
            particles = s.run.particles(step)
            if particles.time < LATE:
                continue
            ahead = np.interp(particles.time, s.track, s.place) - particles.get("protons", "position/x")
            near = (ahead > FORESHOCK[0]) & (ahead < FORESHOCK[1])
            v = np.array([particles.get("protons", f"momentum/{axis}")[near] for axis in "xyz"])
            back = v[0] < -speed
            core, beam = v[:, ~back], v[:, back]
            moments.append(shocks.IonMoments.of(v, v.shape[1] * weight / area))
            rows.append((core.shape[1] * weight / area, beam.shape[1] * weight / area, core[0].mean() - beam[0].mean(),
                         core[0].var(), beam[0].var(), (beam[1].var() + beam[2].var()) / 2))
        undisturbed = shocks.IonMoments.of_plasma(s.inflow, s.slip, s.t_ions)
        excess = shocks.IonMoments(*(np.mean(moments, axis=0) - undisturbed))
        self.jump = shocks.wall_shock_with_escape(s.inflow, s.slip, s.beta, s.theta, s.gamma, excess)
        self.densities = np.array(rows)[:, 1]
        self.core, self.beam, self.drift, self.t_core, self.t_par, self.t_perp = np.mean(rows, axis=0)

    def growth(self, ks: np.ndarray) -> np.ndarray:
        """Growth rates of right-handed waves that run with the beam."""
        total = self.core + self.beam
        ions = [theory.Ions(self.core, -self.beam * self.drift / total, self.t_core),
                theory.Ions(self.beam, self.core * self.drift / total, self.t_par, self.t_perp)]
        return theory.follow(ks, "R", ions, complex(ks[0], 0.05)).imag


def waves(s: Shock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """k > 0 and the power of b = B_y + i B_z in the foreshock at +k and at -k. R waves that run upstream, along -x, have
    omega < 0 and omega/k < 0: they are at +k (see larmor.spectrum)."""
    cell = s.x_b[1] - s.x_b[0]
    count = round((FORESHOCK[1] - FORESHOCK[0]) / cell)
    window, power = np.hanning(count), 0
    for t, place in zip(s.track, s.place):
        if t >= LATE:
            row = np.argmin(np.abs(s.t - t))
            first = max(0, int(np.searchsorted(s.x_b, place - FORESHOCK[1])))
            b = (s.b_y[row] + 1j * s.b_z[row])[first:first + count]
            power = power + np.abs(np.fft.fft((b - b.mean()) * window))**2
    k = 2 * np.pi * np.fft.fftfreq(count, cell)
    inside = (k > WAVES[0]) & (k < WAVES[1])
    return k[inside], power[inside], power[-np.flatnonzero(inside)]


def jump_rows(s: Shock, ions: Ions) -> list[verify.Row]:
    n2, b2 = s.downstream(s.x, s.n), s.downstream(s.x_b, s.b_y)
    jump, speed = ions.jump, -np.polyfit(s.track, s.place, 1)[0]
    return [verify.Row("slip as the jump conditions want it", s.slip, s.jump.v_tangential, 0.01),
            verify.Row("n2/n1", n2.mean(), jump.compression, BAND_JUMP),
            verify.Row("B_y downstream", b2.mean(), jump.b_tangential, BAND_JUMP),
            verify.Row("speed of the shock", speed, jump.shock_speed, BAND_JUMP)]


def balance_rows(s: Shock) -> list[verify.Row]:
    """Number, flux of B and energy: what came in less what left."""
    series, width = s.run.series, s.run.number("grid.ly")
    cell = s.x_b[1] - s.x_b[0]
    grown = (s.b_y[-1].sum() - s.b_y[0].sum()) * cell
    came = series["injected_x_min_energy_protons"][-1] + s.fluid_energy_flux * width * series["time"][-1]
    kept = series["energy_total"][-1] - series["energy_total"][0] + series["leak_x_min_energy_protons"][-1]
    return [verify.Row("flux of B_y that came in, over -E_z t", grown / (s.tangential_flux * s.t[-1]), 1, 0.01),
            verify.Row("energy kept or lost, over what came in", kept / came, 1, 0.01), *ledger.rows(s.run)]


def foreshock_rows(s: Shock, ions: Ions) -> list[verify.Row]:
    k, right, left = waves(s)
    ks = np.arange(0.04, 0.6, 0.005)
    growth = ions.growth(ks)
    fast = ks[growth > GROWS * growth.max()]
    low, high = DIFFUSE
    return [verify.Row("density of ions that run back", ions.beam, (low + high) / 2, (high - low) / 2,
                       ions.densities.std(ddof=1) / np.sqrt(len(ions.densities)), absolute=True),
            verify.Row("share of R waves that run upstream", right.sum() / (right + left).sum(), 1, BAND_HAND),
            verify.Row("k of the strongest wave", k[right.argmax()], (fast[0] + fast[-1]) / 2, (fast[-1] - fast[0]) / 2,
                       absolute=True)]


def picture(s: Shock, ions: Ions, output: Path) -> None:
    figure, ((top, right), (middle, map_axes)) = plot.new_figure(11.0, 7.4, nrows=2, ncols=2)
    top.plot(s.x, s.n[-1], lw=1.2, label="$n$  $[n_0]$")
    top.plot(s.x_b, s.b_y[-1], lw=1.0, label="$B_y$  $[B_0]$")
    top.plot(s.x_b, s.b_z[-1], lw=1.0, label="$B_z$  $[B_0]$")
    top.axhline(ions.jump.compression, color="k", ls="--", lw=1.1, label="$n_2$, jump conditions")
    top.set_title(f"Quasi-parallel shock, $t\\,\\Omega_{{ci}} = {s.t[-1]:g}$", pad=26)
    top.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize=9, borderaxespad=0.2)
    top.set(xlim=(0, s.length), ylabel="$n$, $B_y$, $B_z$")
    particles = s.run.particles(s.run.particle_steps[-1])
    counts, xs, vs = np.histogram2d(particles.get("protons", "position/x"), particles.get("protons", "momentum/x"),
                                    bins=(240, 100))
    middle.pcolormesh(xs, vs, np.log10(np.where(counts > 0, counts, np.nan)).T, cmap="viridis", rasterized=True)
    middle.set(xlim=(0, s.length), xlabel="$x$  $[d_i]$", ylabel="$v_x$  $[v_A]$")
    k, plus, minus = waves(s)
    right.loglog(k, plus, lw=1.5, label="R waves to $-x$, or L to $+x$")
    right.loglog(k, minus, lw=1.2, label="L waves to $-x$, or R to $+x$")
    ks = np.arange(0.04, 0.6, 0.005)
    growth = ions.growth(ks)
    fast = ks[growth > GROWS * growth.max()]
    right.axvspan(fast[0], fast[-1], color="0.85", zorder=0, label="fast growth, theory")
    right.set(xlabel="$k\\,d_i$", ylabel="power of $B_y + iB_z$ upstream", title="Waves of the foreshock")
    right.legend(loc="lower left", fontsize=9)
    size = np.hypot(s.b_y, s.b_z)
    image = map_axes.pcolormesh(s.x_b, s.t, size, cmap="magma", shading="nearest", vmax=4, rasterized=True)
    map_axes.plot(s.length - ions.jump.shock_speed * s.t, s.t, "--", color="#35d0ff", lw=1.3, label="jump conditions")
    map_axes.legend(loc="lower left", labelcolor="white")
    map_axes.set(xlabel="$x$  $[d_i]$", ylabel="$t\\,\\Omega_{ci}$", xlim=(0, s.length))
    figure.colorbar(image, ax=map_axes, label="$(B_y^2 + B_z^2)^{1/2}$  $[B_0]$", pad=0.02, extend="max")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    shock = Shock(Run(directory / RUNS[0][0]))
    ions = Ions(shock)
    picture(shock, ions, directory / "parallel_shock.png")
    return jump_rows(shock, ions) + balance_rows(shock) + foreshock_rows(shock, ions)


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
