#!/usr/bin/env python3
"""A quasi-perpendicular shock: jump conditions in one and two dimensions, foot and overshoot, reflected ions."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, shocks, verify

# In one dimension nothing scatters ions along B, so gamma is 2. In two dimensions waves along B do: see gamma_of.
RUNS: list[tuple[str, list[str]]] = [
    ("line", []),
    ("plane", ["const.width=9.6", "const.cell=0.4", "const.length=64", "const.gamma=5/3", "const.slip=0.0681",
               "run.dt=0.02", "const.time=32", "const.count=32"])]
FULL = ["const.more=2", "output.particles_every=rint(10/dt)"]

TRACK = 15.0                     # from this time on the shock is followed
LATE = 0.75                      # the last quarter of the run is when the downstream is measured
OFF_WALL, OFF_SHOCK = 10.0, 10.0  # d_i that the downstream keeps away from both
UPSTREAM = 10.0                  # d_i from x_min
# The jump conditions hold for means over many waves of the downstream. Their amplitude is of order 1, and some ten
# wavelengths are there.
BAND_JUMP, BAND_SPEED = 0.07, 0.05
REFLECTED = (0.10, 0.30)         # share of the ions, published for supercritical shocks (Leroy et al. 1982)
FOOT = 0.1                       # the foot begins where B is so much above that upstream
OVERSHOOT = 1.3                  # of the largest B over B2 at least: our choice, far above the noise of the mean B
BAND_ANISOTROPY = 0.25           # spread of the measured threshold


class Shock:
    """What a run has to show, and its profiles: means over y, [time, x]."""

    def __init__(self, run: Run) -> None:
        self.run, self.length = run, run.number("grid.lx")
        self.inflow, self.slip = run.number("const.inflow"), run.number("const.slip")
        self.theta, self.gamma = np.radians(run.number("const.theta")), run.number("electrons.gamma")
        self.t_ions, self.t_electrons = run.number("species.protons.temperature"), run.number("electrons.temperature")
        self.anisotropy = 1.5 if run.number("grid.ny") > 1 else np.inf  # T_perp/T_par downstream
        self.jump = self._jump()
        for _ in range(30 if run.number("grid.ny") > 1 else 0):
            self.anisotropy = threshold(self._beta_par())
            self.jump = self._jump()
        self._read()
        late = self.t >= TRACK
        level = (1 + self.jump.field) / 2
        self.track = self.t[late]
        self.ramp = np.array([shocks.crossing(self.x, row, level) for row in self.b[late]])

    def _jump(self) -> shocks.Jump:
        beta = 2 * (self.t_ions + self.t_electrons)
        return shocks.wall_shock(self.inflow, beta, self.theta, gamma_of(self.anisotropy))

    def _beta_par(self) -> float:
        """Of the ions downstream: the electrons, which are compressed adiabatically, have no share in it."""
        ions = self.jump.pressure - self.t_electrons * self.jump.compression**self.gamma
        return 2 * ions / self.anisotropy / self.jump.field**2

    def _read(self) -> None:
        self.t, self.n = self.run.history("n_protons", lambda a: a.mean(axis=0))
        self.b = np.sqrt(sum(self.run.history(f"B/{axis}", lambda a: a.mean(axis=0))[1]**2 for axis in "xyz"))
        with self.run.fields(self.run.field_steps[0]) as first:
            self.x = first.x("n_protons")

    def ramp_at(self, time: float) -> float:
        return float(np.interp(time, self.track, self.ramp))

    def downstream(self, rows: np.ndarray) -> float:
        """The mean between shock and wall, in the last quarter of the run."""
        found = []
        for t, ramp in zip(self.track, self.ramp):
            if t >= LATE * self.t[-1]:
                inside = (self.x > ramp + OFF_SHOCK) & (self.x < self.length - OFF_WALL)
                found.append(rows[np.argmin(np.abs(self.t - t))][inside].mean())
        return float(np.mean(found))

    def upstream(self, rows: np.ndarray) -> float:
        return float(rows[self.t >= TRACK][:, self.x < UPSTREAM].mean())

    def peaks(self) -> tuple[np.ndarray, np.ndarray]:
        """Place and value of the largest B within a gyroradius of the flow behind the ramp, at each time of `track`."""
        places, values = [], []
        for ramp, b in zip(self.ramp, self.b[self.t >= TRACK]):
            near = (self.x > ramp) & (self.x < ramp + self.jump.mach / self.jump.field)
            values.append(b[near].max())
            places.append(self.x[near][b[near].argmax()])
        return np.array(places), np.array(values)

    def feet(self) -> np.ndarray:
        """From where B is FOOT above that upstream to its maximum, at each time of `track`."""
        found = []
        for peak, b in zip(self.peaks()[0], self.b[self.t >= TRACK]):
            ahead = (self.x < peak) & (b < 1 + FOOT)
            found.append(peak - self.x[ahead][-1] if ahead.any() else np.nan)
        return np.array(found)

    def profile(self, ahead: np.ndarray) -> np.ndarray:
        """B at these distances ahead of its maximum, mean over the outputs of `track`."""
        return np.mean([np.interp(place - ahead, self.x, b)
                        for place, b in zip(self.peaks()[0], self.b[self.t >= TRACK])], axis=0)

    @property
    def energy_flux(self) -> float:
        """Kinetic energy, enthalpy of ions and electrons, Poynting flux of the inflow."""
        enthalpy = 2.5 * self.t_ions + self.gamma / (self.gamma - 1) * self.t_electrons
        b_x, b_y = np.cos(self.theta), np.sin(self.theta)
        return self.inflow * ((self.inflow**2 + self.slip**2) / 2 + enthalpy) + b_y * (self.inflow * b_y + self.slip * b_x)


def threshold(beta_par: float) -> float:
    """T_perp/T_par at which ion cyclotron waves cease to grow (Anderson et al. 1994)."""
    return float(1 + 0.85 * beta_par**-0.48)


def gamma_of(anisotropy: float) -> float:
    """The gamma that gives ions with this T_perp/T_par downstream their enthalpy, (2 + T_par/(2 T_perp)) p_perp."""
    enthalpy = 2 + 0.5 / anisotropy
    return enthalpy / (enthalpy - 1)


def reflected(s: Shock) -> np.ndarray:
    """The share of the ions that is reflected, of each output of the particles. They are reflected where B rises, as E_x
    points upstream there. An ion ahead of the maximum of B counts if its velocity differs from the inflow by more than
    half of what a mirror would make it."""
    orbit, share = shocks.specular_reflection(s.theta), []
    all_ions = orbit.time * s.jump.mach * s.run.number("grid.ly")  # that would be ahead of a mirror
    cell = s.run.number("grid.lx") / s.run.number("grid.nx")
    weight = cell**2 / s.run.number("species.protons.particles_per_cell")
    peaks = s.peaks()[0]
    for step in s.run.particle_steps:
        particles = s.run.particles(step)
        if particles.time < TRACK:
            continue
        peak = peaks[np.argmin(np.abs(s.track - particles.time))]
        v = [particles.get("protons", f"momentum/{axis}") for axis in "xyz"]
        change = np.sqrt((v[0] - s.inflow)**2 + (v[1] + s.slip)**2 + v[2]**2)
        count = np.sum((particles.get("protons", "position/x") < peak) & (change > s.jump.mach))
        share.append(count * weight / all_ions)
    return np.array(share)


def reach(s: Shock) -> float:
    """How far ahead of the maximum of B an ion gets that a mirror reflects there, in the mean B of the run: its orbit in
    the frame of the shock, where E_z = -M sin theta is uniform."""
    ahead, dt = np.arange(0, 10, 0.02), 2e-3
    b_n = np.cos(s.theta)
    b_t = np.sqrt(np.maximum(s.profile(ahead)**2 - b_n**2, 0))
    v, x, farthest = np.array([-s.jump.mach, 0.0, 0.0]), 0.0, 0.0
    while x <= 0:
        here = np.array([b_n, np.interp(-x - dt / 2 * v[0], ahead, b_t), 0])
        electric = np.array([0, 0, -s.jump.mach * np.sin(s.theta)])
        middle = v + dt / 2 * (electric + np.cross(v, here))
        v = v + dt * (electric + np.cross(middle, here))
        x += dt * middle[0]
        farthest = max(farthest, -x)
    return farthest


def anisotropy(s: Shock) -> float:
    """T_perp/T_par downstream at the end; B is along y but for some degrees."""
    particles = s.run.particles(s.run.particle_steps[-1])
    x = particles.get("protons", "position/x")
    inside = (x > s.ramp[-1] + OFF_SHOCK) & (x < s.length - OFF_WALL)
    t_x, t_y, t_z = (particles.get("protons", f"momentum/{axis}")[inside].var() for axis in "xyz")
    return float((t_x + t_z) / 2 / t_y)


def span(label: str, value: float, limits: tuple[float, float], error: float = float("nan")) -> verify.Row:
    """A number inside a published range."""
    low, high = limits
    return verify.Row(label, value, (low + high) / 2, (high - low) / 2, error, absolute=True)


def jump_rows(name: str, s: Shock) -> list[verify.Row]:
    n1, b1 = s.upstream(s.n), s.upstream(s.b)
    speed = -np.polyfit(s.track, s.ramp, 1)[0]
    time, width = s.run.series["time"][-1], s.run.number("grid.ly")
    energy = s.run.series["energy_total"]
    return [verify.Row(f"{name}: slip as the jump conditions want it", s.slip, s.jump.v_tangential, 0.01),
            verify.Row(f"{name}: upstream n", n1, 1, 0.01), verify.Row(f"{name}: upstream B", b1, 1, 0.01),
            verify.Row(f"{name}: n2/n1", s.downstream(s.n) / n1, s.jump.compression, BAND_JUMP),
            verify.Row(f"{name}: B2/B1", s.downstream(s.b) / b1, s.jump.field, BAND_JUMP),
            verify.Row(f"{name}: speed of the shock", speed, s.jump.shock_speed, BAND_SPEED),
            verify.Row(f"{name}: energy, over rate t", (energy[-1] - energy[0]) / (s.energy_flux * width * time), 1, 0.02),
            *ledger.rows(s.run, name)]


def ion_rows(line: Shock) -> list[verify.Row]:
    share, feet = reflected(line), line.feet()
    mirror = shocks.specular_reflection(line.theta).distance * line.jump.mach
    overshoot = line.peaks()[1] / line.downstream(line.b)
    return [span("line: share of reflected ions", share.mean(), REFLECTED, share.std(ddof=1) / np.sqrt(len(share))),
            span("line: length of the foot [d_i]", feet.mean(), (reach(line), mirror),
                 feet.std(ddof=1) / np.sqrt(len(feet))),
            verify.zero(f"line: outputs with an overshoot of at most {OVERSHOOT:g}", np.sum(overshoot <= OVERSHOOT))]


def phase_space(axes, s: Shock, component: str, centre: float) -> None:
    particles = s.run.particles(s.run.particle_steps[-1])
    x, v = particles.get("protons", "position/x"), particles.get("protons", f"momentum/{component}")
    near = np.abs(x - centre) < 10
    counts, xs, vs = np.histogram2d(x[near], v[near], bins=(160, 120))
    axes.pcolormesh(xs, vs, np.log10(np.where(counts > 0, counts, np.nan)).T, cmap="viridis", rasterized=True)
    axes.set(ylabel=f"$v_{component}$  $[v_A]$", xlim=(centre - 10, centre + 10))


def picture(line: Shock, plane: Shock, output: Path) -> None:
    """The shock of the line at the end, its ions, and the profile of the plane."""
    figure, (top, middle, bottom) = plot.new_figure(7.4, 8.6, nrows=3)
    centre = line.peaks()[0][-1]
    near = np.abs(line.x - centre) < 10
    top.plot(line.x[near], line.b[-1][near], lw=1.5, label="$B$  $[B_0]$")
    top.plot(line.x[near], line.n[-1][near], lw=1.0, label="$n$  $[n_0]$")
    top.axhline(line.jump.field, color="k", ls="--", lw=1.1, label="$B_2$, jump conditions")
    mirror = shocks.specular_reflection(line.theta).distance * line.jump.mach
    for distance, style, name in ((mirror, ":", "reach with upstream $B$"),
                                  (reach(line), "-.", "reach with $B$ of the run")):
        top.axvline(centre - distance, color="#b03060", ls=style, lw=1.3, label=name)
    top.set(ylabel="$B$, $n$", xlim=(centre - 10, centre + 10))
    top.set_title(f"Quasi-perpendicular shock, $t\\,\\Omega_{{ci}} = {line.t[-1]:g}$: one dimension", pad=40)
    top.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=9, borderaxespad=0.2)
    phase_space(middle, line, "x", centre)
    middle.set(xlabel="$x$  $[d_i]$")
    bottom.plot(plane.x, plane.b[-1], lw=1.5, label="$B$, mean over $y$")
    bottom.plot(line.x - line.ramp[-1] + plane.ramp[-1], line.b[-1], lw=0.8, color="0.6", label="one dimension", zorder=0)
    bottom.axhline(plane.jump.field, color="k", ls="--", lw=1.1, label="jump conditions")
    bottom.set(xlabel="$x$  $[d_i]$", ylabel="$B$  $[B_0]$", xlim=(0, plane.length), ylim=(0, 5.6))
    bottom.set_title("Two dimensions", pad=24)
    bottom.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=9, borderaxespad=0.2)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    line, plane = (Shock(Run(directory / name)) for name, _ in RUNS)
    picture(line, plane, directory / "oblique_shock.png")
    return [*jump_rows("line", line), *ion_rows(line), *jump_rows("plane", plane),
            verify.Row("plane: T_perp/T_par downstream", anisotropy(plane), plane.anisotropy, BAND_ANISOTROPY)]


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
