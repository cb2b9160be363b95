#!/usr/bin/env python3
"""Gas cell: range and depth-dose curve of a proton beam, a jet across it, scattering, the budget of all losses."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gas_cell import hydrogen
from larmor import Run, ledger, plot, verify

FINE = ["run.dt=0.00625", "grid.nx=480"]
RUNS = [("uniform", []), ("uniform_fine", FINE),
        ("jet", [], "jet.ini"), ("jet_fine", ["run.dt=0.0125/sqrt(more)"], "jet.ini"),
        ("scattering", [], "scattering.ini"),
        ("scattering_fine", ["run.dt=0.02", "output.particles_every=40", "run.seed=2"], "scattering.ini"),
        ("channels", [], "channels.ini"), ("channels_fine", ["run.dt=0.02", "run.seed=2"], "channels.ini")]
FULL = ["const.more=16"]  # the large form
SIGMAS = 4                                    # of the counting error, for every band
ROUND_OFF = 1e-12                             # of the small form


def round_off(run: Run) -> float:
    """The band of sums over particles, whose quanta grow with the number of particles."""
    return ROUND_OFF * run.number("const.more")


# ---------------------------------------------------------------- theory


class Units:
    """Of [units], in SI."""

    mass, charge, mu0 = 1.67262192595e-27, 1.602176634e-19, 1.25663706127e-6

    def __init__(self, run: Run) -> None:
        self.density, b0 = run.number("units.n0"), run.number("units.b0")
        velocity = b0 / math.sqrt(self.mu0 * self.density * self.mass)
        self.length = math.sqrt(self.mass / (self.mu0 * self.density)) / self.charge
        self.kev = self.mass * velocity**2 / self.charge / 1e3  # of m_p v_A^2
        # of 1e-15 eV cm2 = 1e-22 keV m2, in m_p v_A^2/(n0 d_i)
        self.stopping = 1e-22 * self.density * self.length / self.kev


def speed_of(run: Run) -> float:
    """The speed of the beam, v_A."""
    return run.number("species.beam.drift_x")


class Slowing:
    """A proton that slows down continuously from an energy, the beam's unless it is given, to lost_below_energy: column
    density, and time times density in a uniform gas, against energy. Stopping as in hydrogen.txt, linear between rows."""

    def __init__(self, run: Run, energy: float | None = None) -> None:
        kev, stopping = np.loadtxt(hydrogen.FILE, unpack=True)
        units, self.cut = Units(run), run.number("species.beam.lost_below_energy")
        self.energy = np.geomspace(energy or speed_of(run)**2 / 2, self.cut, 40001)
        self.stopping = np.interp(self.energy, kev / units.kev, stopping * units.stopping)
        self.column = self._sum(1 / self.stopping)
        self.time = self._sum(1 / (self.stopping * np.sqrt(2 * self.energy)))
        self.range = self.column[-1]

    def _sum(self, f: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(0.5 * (f[1:] + f[:-1]) * -np.diff(self.energy))])

    def energy_at(self, column: np.ndarray) -> np.ndarray:
        return np.interp(column, self.column, self.energy, right=0.0)


def curve(run: Run, beam: Slowing, edges: np.ndarray) -> np.ndarray:
    """The energy that an ion loses per unit of path: means over the cells of a uniform gas. The last keV is lost where it
    stops."""
    gas = run.number("const.gas")
    left = np.where(gas * edges < beam.range, beam.energy_at(gas * edges), 0.0)
    return -np.diff(left) / np.diff(edges)


def stepped(run: Run, beam: Slowing, edges: np.ndarray) -> np.ndarray:
    """The same in steps: the loss of a step is deposited at its middle, and the first step begins anywhere in a step."""
    gas, dt = run.number("const.gas"), run.number("run.dt")
    time = np.arange(0, beam.time[-1] / gas + dt, dt)
    energy = np.interp(time * gas, beam.time, beam.energy, right=0.0)
    middle = np.interp((time[:-1] + dt / 2) * gas, beam.time, beam.column) / gas
    below = np.clip((edges[:, None] - middle) / (speed_of(run) * dt) + 0.5, 0, 1)
    return np.diff(below @ -np.diff(energy)) / np.diff(edges)


class Through:
    """Ions through the moving jet, straight in the frame of the gas: where they stop, for entries spread evenly over y
    and the time of the beam."""

    def __init__(self, run: Run) -> None:
        self.run, self.height, along = run, run.number("grid.ly"), speed_of(run)
        flow = run.number("background.gas.vy")
        speed = math.hypot(along, flow)
        beam = Slowing(run, speed**2 / 2)
        count, way = 120, np.arange(0, 11.5, 0.005)
        y, t = np.meshgrid((np.arange(count) + 0.5) / count * self.height,
                           (np.arange(count) + 0.5) / count * run.number("const.on"))
        stop, self.y, self.dose = [], [], 0.0
        self.edges = np.arange(241) * run.number("grid.lx") / 240
        for y0, t0 in zip(y.ravel(), t.ravel()):
            n = self.jet(way * along / speed, y0 - flow * t0 - way * flow / speed)
            column = np.concatenate([[0], np.cumsum(0.5 * (n[1:] + n[:-1]) * 0.005)])
            s = np.interp(beam.range, column, way)
            energy = beam.energy_at(column)
            slow = 1 / np.sqrt(2 * np.maximum(energy, beam.cut))
            flight = np.interp(s, way, np.concatenate([[0], np.cumsum(0.5 * (slow[1:] + slow[:-1]) * 0.005)]))
            stop.append(s * along / speed)
            self.y.append((y0 - s * flow / speed + flow * flight) % self.height)
            w = np.interp(self.edges, way * along / speed, np.sqrt(2 * energy))
            rest = np.where(w > 0, 0.5 * w**2 - w * flow**2 / speed + 0.5 * flow**2, 0.0)  # energy where the gas moves
            self.dose = self.dose - np.diff(rest) / y.size
        self.x, self.y = np.array(stop), np.array(self.y)

    def jet(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The gas in its own frame."""
        even, peak, at_x, at_y = (self.run.number(f"const.{name}") for name in ("even", "peak", "at_x", "at_y"))
        return even + peak * np.exp(-(x - at_x)**2 / 2 + 2 * np.cos(2 * math.pi * (y - at_y) / self.height) - 2)


# ---------------------------------------------------------------- measured


class Deposit:
    """The fields at the end: sums over y, per ion."""

    def __init__(self, run: Run) -> None:
        with run.fields(run.field_steps[-1]) as fields:
            self.stopped, self.dose = fields["background_stopped"], fields["background_dose"]
            self.x, self.y = fields.x("background_dose"), fields.y("background_dose")
            self.gas = fields["background_gas"]
        self.cell = self.x[1] - self.x[0]
        self.edges = np.append(self.x - self.cell / 2, self.x[-1] + self.cell / 2)
        self.number = int(run.series["injected_x_min_beam"][-1])
        self.along = self.dose.sum(axis=0) / self.stopped.sum() / self.cell

    def place(self, rows: slice = slice(None)) -> float:
        n = self.stopped[rows].sum(axis=0)
        return float((n * self.x).sum() / n.sum())


def peak(x: np.ndarray, dose: np.ndarray, where: np.ndarray) -> float:
    """The position of the maximum of a parabola through the dose."""
    c = np.polyfit(x[where], dose[where], 2)
    return float(-c[1] / (2 * c[0]))


def table_rows(run: Run) -> Iterator[verify.Row]:
    """hydrogen.txt is what the formulae give; a straight line between rows differs from them by h^2/8 S''."""
    kev, stopping = np.loadtxt(hydrogen.FILE, unpack=True)
    yield verify.zero("table: rows off the formulae, worst", np.abs(stopping / hydrogen.stopping(kev) - 1).max(), 1e-5)
    fine, units = np.geomspace(kev[0], 397, 100001), Units(run)
    gas = run.number("const.gas") * units.density * units.length
    f = 1 / hydrogen.stopping(fine)
    whole = (0.5 * (f[1:] + f[:-1]) * np.diff(fine)).sum() * 1e22 / gas
    f = 1 / np.interp(fine, kev, stopping)
    straight = (0.5 * (f[1:] + f[:-1]) * np.diff(fine)).sum() * 1e22 / gas
    yield verify.Row("table: range of 397 keV against that of the formulae", straight, whole, 1e-3)


def uniform_rows(run: Run, name: str) -> Iterator[verify.Row]:
    """All ions of a step have the same energy and stop in the same step, whose path limits the accuracy of the range."""
    d, beam, gas, dt = Deposit(run), Slowing(run), run.number("const.gas"), run.number("run.dt")
    way = speed_of(run) * dt  # of a step
    sigma = way / math.sqrt(12 * d.number)
    last = math.sqrt(2 * beam.cut) * dt / 2 + dt**2 / 24 * gas * beam.stopping.max()
    yield verify.Row(f"{name}: range", d.place(), beam.range / gas, (SIGMAS * sigma + last) * gas / beam.range, sigma)
    theory, steps = curve(run, beam, d.edges), stepped(run, beam, d.edges)
    speed = np.sqrt(2 * np.maximum(beam.energy_at(gas * d.x), beam.cut))
    counting = np.sqrt(2 / math.pi / (d.number * d.cell / (speed * dt)))  # as if the deposits were independent
    yield verify.zero(f"{name}: dose off that in steps, over all", np.abs(d.along - steps).sum() / steps.sum(),
                      (steps * counting).sum() / steps.sum())
    top = theory > 0.95 * theory.max()  # a step at its edges, 5 % lower, is what steps may change of its mean
    sigma = 1 / math.sqrt(d.number * top.sum())
    yield verify.Row(f"{name}: dose at the Bragg peak", float(d.along[top].mean()), float(theory[top].mean()),
                     SIGMAS * sigma + way / (top.sum() * d.cell) * 0.05, sigma)
    yield verify.Row(f"{name}: place of the Bragg peak", peak(d.x, d.along, top), peak(d.x, theory, top), d.cell / 2,
                     absolute=True)
    start = d.x < 1
    yield verify.Row(f"{name}: dose in the first d_i", float(d.along[start].mean()), float(theory[start].mean()),
                     SIGMAS / math.sqrt(d.number))
    yield verify.zero(f"{name}: dose beyond the range", d.along[d.edges[:-1] > beam.range / gas + way].sum())


def jet_rows(run: Run, theory: Through, name: str) -> Iterator[verify.Row]:
    d = Deposit(run)
    spread = theory.x.std() / math.sqrt(d.number)
    yield verify.Row(f"{name}: stopping place, mean", d.place(), float(theory.x.mean()), d.cell / 2, spread, absolute=True)
    rows = len(d.y) // 8
    for k in range(8):
        part = slice(k * rows, (k + 1) * rows)
        low, high = theory.height * k / 8, theory.height * (k + 1) / 8
        there = theory.x[(theory.y >= low) & (theory.y < high)]
        yield verify.Row(f"{name}: stopping place, {low:g} < y < {high:g}", d.place(part), float(there.mean()), d.cell / 2,
                         float(there.std() / math.sqrt(d.number / 8)), absolute=True)
    dose = theory.dose / np.diff(theory.edges)
    smooth = np.convolve(d.along, np.full(8, 1 / 8), "valid"), np.convolve(dose, np.full(8, 1 / 8), "valid")
    yield verify.zero(f"{name}: dose off theory, over 8 cells", np.abs(smooth[0] - smooth[1]).max() / dose.max(),
                      SIGMAS / math.sqrt(d.number))


def angles(run: Run) -> Iterator[tuple[float, np.ndarray]]:
    """The time that collisions have covered, half a step back as the velocities, and the angles of the ions."""
    for step in run.particle_steps:
        with run.particles(step) as particles:
            v = np.stack([particles.get("beam", f"momentum/{c}") for c in "xyz"])
        yield max(particles.time - 0.5 * run.number("run.dt"), 0.0), np.arctan2(np.hypot(v[1], v[2]), v[0])


def beyond(angle: float, spread: float) -> float:
    """Part of a beam beyond an angle when directions have diffused on the sphere (Goudsmit and Saunderson 1940), from
    the integrals of Legendre polynomials."""
    c, below, here, inside = math.cos(angle), 1.0, math.cos(angle), (1 - math.cos(angle)) / 2
    for order in range(1, 200):
        above = ((2 * order + 1) * c * here - order * below) / (order + 1)
        inside += 0.5 * math.exp(-order * (order + 1) * spread / 4) * (below - above)
        below, here = here, above
    return 1 - inside


def scattered(run: Run) -> float:
    """Growth of the mean square angle per unit of path: T n."""
    return run.number("species.beam.scattering_power") * run.number("background.gas.initial")


def scattering_rows(run: Run, name: str) -> Iterator[verify.Row]:
    """Diffusion on the sphere: <cos theta> = exp(-T n s/2), <theta^2> = T n s - (T n s)^2/12 + ..., whatever the step."""
    t, theta = list(angles(run))[-1]
    speed = speed_of(run)
    spread = scattered(run) * speed * t
    error = float((theta**2).std() / math.sqrt(len(theta)))
    yield verify.Row(f"{name}: <theta^2> at t = {t:g}", float((theta**2).mean()), spread - spread**2 / 12,
                     SIGMAS * error / spread + spread**2 / 50, error)
    cosine = np.cos(theta)
    error, expected = float(cosine.std() / math.sqrt(len(theta))), 1 - math.exp(-spread / 2)
    yield verify.Row(f"{name}: 1 - <cos theta>", 1 - float(cosine.mean()), expected, SIGMAS * error / expected,
                     error)
    for sigmas in (1, 2, 3):
        angle = sigmas * math.sqrt(spread / 2)
        part = beyond(angle, spread)
        error = math.sqrt(part * (1 - part) / len(theta))
        yield verify.Row(f"{name}: part beyond {sigmas} sigma", float((theta > angle).mean()), part,
                         SIGMAS * error / part, error)
    energy = run.series["to_gas_energy_beam"][-1] / (speed**2 / 2 * run.series["present_beam"][0])
    yield verify.zero(f"{name}: energy handed over, of all", energy, round_off(run))


LEAKS = [f"leak_{side}" for side in ("x_min", "x_max", "y_min", "y_max")]
TAKERS = {"push_x": 0, "push_y": 1, "push_z": 2}


def channel_rows(run: Run, name: str) -> Iterator[verify.Row]:
    series = run.series
    injected = series.account("injected_x_min", "beam")
    ways = {way: series.account(way, "beam") for way in (*LEAKS, "energy_stopped", "theta_boundary", "theta_cutoff")}
    given = series.account("to_gas", "beam")
    lost = sum(way["number"] for way in ways.values())
    yield from ledger.rows(run, name)
    yield verify.zero(f"{name}: present at the end", series["present_beam"][-1])
    emptiest = min(ways["leak_y_min"]["number"][-1] + ways["leak_y_max"]["number"][-1],
                   *(ways[way]["number"][-1] for way in ("energy_stopped", "theta_boundary", "theta_cutoff")))
    yield verify.Row(f"{name}: least of the four ways, 100 to all", float(emptiest), (100 + lost[-1]) / 2,
                     (lost[-1] - 100) / 2, absolute=True)
    kinetic = sum(series[f"kinetic_{c}_beam"] for c in "xyz")
    away = sum(ways[way]["energy"] for way in ways if way != "energy_stopped")
    total = kinetic[0] + injected["energy"]
    yield verify.zero(f"{name}: energy: beam - lost - handed over, over the beam's, every row",
                      np.abs(total - kinetic - away - given["energy"]).max() / total[-1], round_off(run))
    yield verify.zero(f"{name}: stopped, less those that the gas got",
                      given["number"][-1] - ways["energy_stopped"]["number"][-1])
    for field, quantity in (("stopped", "weight"), ("dose", "energy")):
        yield verify.Row(f"{name}: field {field} against to_gas", series[f"background_{field}_total"][-1],
                         given[quantity][-1], round_off(run))
    for field, axis in TAKERS.items():
        less = series[f"background_{field}_total"][-1] - given["momentum"][-1, axis]
        yield verify.zero(f"{name}: field {field} less to_gas, over the beam's momentum",
                          less / (2 * total[-1] / speed_of(run)), round_off(run))
    drawn = series["present_beam"][:-1].sum() - ways["energy_stopped"]["number"][-1]
    sigmas = run.number("species.beam.scattering_sigmas")
    expected = math.exp(-(sigmas**2) / 2) * drawn
    yield verify.Row(f"{name}: theta_cutoff, {sigmas:g} sigmas", float(ways["theta_cutoff"]["number"][-1]), expected,
                     SIGMAS / math.sqrt(expected), math.sqrt(expected))


# ---------------------------------------------------------------- picture


def picture(runs: dict[str, Run], through: Through, output: Path) -> None:
    """Dose over depth, where the jet makes ions stop, and the angle of scattering over the way."""
    figure, (first, second, third) = plot.new_figure(13.0, 4.2, ncols=3)
    for name, label, cells in (("uniform_fine", "uniform gas", 8), ("jet_fine", "jet", 4)):
        run = runs[name]
        d, units = Deposit(run), Units(run)
        theory = curve(run, Slowing(run), d.edges) if cells == 8 else through.dose / np.diff(through.edges)
        x, along, theory = (q.reshape(-1, cells).mean(axis=1) for q in (d.x, d.along, theory))
        first.plot(x, along * units.kev, label=label)
        first.plot(x, theory * units.kev, "k--", lw=1.1)
    first.plot([], [], "k--", lw=1.1, label="theory")
    first.set(xlabel="$x$  $[d_i]$", ylabel="keV lost by an ion in a $d_i$", title="Dose over depth",
              xlim=(0, runs["uniform_fine"].number("grid.lx")), ylim=(0, None))
    first.legend(loc="upper left")
    d = Deposit(runs["jet_fine"])
    image = second.pcolormesh(d.x, d.y, d.dose, cmap="magma_r", rasterized=True, shading="nearest")
    figure.colorbar(image, ax=second, label="dose  $[n_0 m_p v_A^2]$", pad=0.02)
    second.contour(d.x, d.y, d.gas / 1e4, levels=(6, 8, 10), colors="#1b6ca8", linewidths=1)
    second.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$", title="Dose around a jet that moved",
               xlim=(0, runs["jet_fine"].number("grid.lx")))
    for name, mark in (("scattering", "o"), ("scattering_fine", "x")):
        found = [(speed_of(runs[name]) * t, float((theta**2).mean())) for t, theta in angles(runs[name]) if t > 0]
        third.plot(*zip(*found), mark, label=f"$\\Delta t = {runs[name].number('run.dt'):g}$")
    way = np.array([0, speed_of(runs["scattering"]) * runs["scattering"].number("run.t_end")])
    third.plot(way, scattered(runs["scattering"]) * way, "k--", lw=1.1, label="$T n s$")
    third.set(xlabel="way $s$  $[d_i]$", ylabel="$\\langle\\theta^2\\rangle$", title="Scattering", xlim=(0, None),
              ylim=(0, None))
    third.legend(loc="upper left")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = {run[0]: Run(directory / run[0]) for run in RUNS}
    through = Through(runs["jet"])
    rows = list(table_rows(runs["uniform"]))
    for name in ("uniform", "uniform_fine"):
        rows += uniform_rows(runs[name], name)
    for name in ("jet", "jet_fine"):
        rows += jet_rows(runs[name], through, name)
    for name in ("scattering", "scattering_fine"):
        rows += scattering_rows(runs[name], name)
    for name in ("channels", "channels_fine"):
        rows += channel_rows(runs[name], name)
    picture(runs, through, directory / "gas_cell.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
