#!/usr/bin/env python3
"""Charge exchange: relaxation to the gas, a beam that loses its charge, a beam through a slab, drift across B."""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from larmor import Run, plot, verify

RUNS = [("relax", []), ("relax_fine", ["run.dt=0.05", "run.seed=2"]),
        ("beam", [], "beam.ini"), ("beam_fine", ["run.dt=0.02", "output.particles_every=50", "run.seed=2"], "beam.ini"),
        ("column", [], "column.ini"),
        ("column_fine", ["run.dt=0.025", "output.fields_every=640", "run.seed=2"], "column.ini"),
        ("drift", [], "drift.ini"), ("drift_fine", ["run.dt=0.05", "run.seed=2"], "drift.ini")]
FULL = ["const.more=25"]  # the large form
SETTLED = 10.0                                                           # when drift no longer depends on the start
SIGMAS = 4                                                               # of the counting error, for every band
KOLMOGOROV = 1.95                                                        # over sqrt(N): one in a thousand is larger
ROUND_OFF = 1e-12                                                        # of the small form


def round_off(run: Run) -> float:
    """The band of sums over particles, whose quanta grow with the number of particles."""
    return ROUND_OFF * run.number("const.more")


def covered(run: Run) -> np.ndarray:
    """The time that the collisions of each row have covered: a collision stands in the middle of its time."""
    return np.maximum(run.series["time"] - 0.5 * run.number("run.dt"), 0)


# ---------------------------------------------------------------- relaxation


class Relaxation:
    """The ions and the gas of run.ini, and how the ions relax to the gas."""

    def __init__(self, run: Run) -> None:
        self.rate = run.number("species.ions.charge_exchange_rate") * run.number("background.gas.initial")  # k n
        self.gas = np.array([run.number("background.gas.vx"), run.number("background.gas.vy"), 0.0])
        self.start = np.array([run.number(f"species.ions.drift_{axis}") for axis in "xyz"])
        self.mass = run.number("species.ions.mass")
        self.warm = run.number("species.ions.temperature") / self.mass
        self.cold = run.number("background.gas.temperature") / self.mass

    def moments(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mean velocity, mean square of the velocity in the frame of the gas, and the variances of one ion's v and
        (v - u)^2: part of the ions are as at the start, the others as the gas."""
        left, drift, warm, cold = np.exp(-self.rate * t)[:, None], self.start - self.gas, self.warm, self.cold
        square = left * (drift**2 + warm) + (1 - left) * cold
        fourth = left * (drift**4 + 6 * drift**2 * warm + 3 * warm**2) + (1 - left) * 3 * cold**2
        return self.gas + left * drift, square, square - (left * drift)**2, fourth - square**2


def box(run: Run) -> float:
    """Area of the box, and so the amount of ions of density 1 in it."""
    return run.number("grid.lx") * run.number("grid.ly")


def moments(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Mean velocity and mean square of the velocity in the frame of the gas, [row, 3], as measured."""
    s, case = run.series, Relaxation(run)
    mass, u = case.mass * box(run), case.gas
    mean = np.stack([s[f"momentum_{c}"] for c in "xyz"], axis=-1) / mass
    square = np.stack([2 * s[f"kinetic_{c}_ions"] for c in "xyz"], axis=-1) / mass
    return mean, square - 2 * u * mean + u**2


def relax_rows(run: Run, name: str) -> Iterator[verify.Row]:
    """Deviations at t = 1, 2, 4 in standard errors, and the gains of the gas in every row."""
    series, case = run.series, Relaxation(run)
    t, count = series["time"], series["present_ions"][0]
    mean, square = moments(run)
    theory = case.moments(covered(run))
    for at in (1, 2, 4):
        row = int(np.argmin(np.abs(t - at)))
        for k, axis in enumerate("xyz"):
            for label, got, want, variance in ((f"mean v_{axis}", mean, theory[0], theory[2]),
                                               (f"mean (v_{axis} - u)^2", square, theory[1], theory[3])):
                error = math.sqrt(variance[row, k] / count)
                yield verify.Row(f"{name}: {label}, t = {at}", float(got[row, k]), float(want[row, k]), SIGMAS * error,
                                 error, True)
    expected = float(count * -np.expm1(-case.rate * np.diff(covered(run))).sum())
    yield verify.Row(f"{name}: exchanges", float(series["charge_exchanged_ions"][-1]), expected,
                     SIGMAS / math.sqrt(expected), math.sqrt(expected))
    given = series.account("to_gas", "ions")
    energy = sum(series[f"kinetic_{c}_ions"] for c in "xyz")
    momentum = np.stack([series[f"momentum_{c}"] for c in "xyz"], axis=-1)
    first, size = energy[0], np.abs(momentum[0]).max()
    yield verify.zero(f"{name}: energy and what the gas got, change", np.ptp(energy + given["energy"]) / first, round_off(run))
    yield verify.zero(f"{name}: momentum, likewise", np.ptp(momentum + given["momentum"], axis=0).max() / size, round_off(run))
    fields = np.array([series[f"background_push_{c}_total"] for c in "xyz"]).T - given["momentum"]
    yield verify.zero(f"{name}: fields push, less that", np.abs(fields).max() / size, round_off(run))
    heat = series["background_heat_total"] - given["energy"]
    yield verify.zero(f"{name}: field heat, less that", np.abs(heat).max() / first, round_off(run))
    exchanged = series.account("charge_exchanged", "ions")
    yield verify.zero(f"{name}: energy of charge exchange, less all", np.abs(exchanged["energy"] - given["energy"]).max() / first,
                      round_off(run))
    yield verify.zero(f"{name}: ions that got lost", np.ptp(series["present_ions"]))


# ---------------------------------------------------------------- a cold beam in a cold gas


def kept(run: Run) -> Iterator[tuple[float, float]]:
    """Part of the beam that has its first velocity to the bit."""
    fast = run.number("species.beam.drift_x"), run.number("species.beam.drift_y")
    for step in run.particle_steps:
        with run.particles(step) as particles:
            yield particles.time, float(np.mean((particles.get("beam", "momentum/x") == fast[0]) &
                                                (particles.get("beam", "momentum/y") == fast[1])))


def beam_rows(run: Run, name: str) -> Iterator[verify.Row]:
    """An ion that has exchanged moves with the gas and does not exchange again, so the counts are the losses of the beam."""
    s = run.series
    t, count, number = s["time"], s["present_beam"][0], s["charge_exchanged_beam"]
    fast = run.number("species.beam.drift_x"), run.number("species.beam.drift_y")
    flow = run.number("background.gas.vx"), run.number("background.gas.vy")
    loss = [u - v for u, v in zip(fast, flow)]
    frequency = run.number("species.beam.charge_exchange_cross_section") * run.number("background.gas.initial") * math.hypot(*loss)
    for at in (0.4, 1, 2):
        row = int(np.argmin(np.abs(t - at)))
        left = math.exp(-frequency * float(covered(run)[row]))
        error = math.sqrt(left * (1 - left) / count)
        yield verify.Row(f"{name}: beam that is left, t = {at:g}", 1 - float(number[row]) / count, left,
                         SIGMAS * error / left, error)
    yield verify.zero(f"{name}: that, less the ions with its velocity", max(
        abs(part - 1 + number[np.argmin(np.abs(t - time))] / count) for time, part in kept(run)), 1e-15)
    weight, given = box(run) / count, s.account("to_gas", "beam")
    for axis, one in zip((0, 1), loss):
        yield verify.Row(f"{name}: momentum {'xy'[axis]} the gas got, an exchange",
                         given["momentum"][-1, axis] / (weight * number[-1]), one, round_off(run))
    energy = 0.5 * (fast[0]**2 + fast[1]**2 - flow[0]**2 - flow[1]**2)
    yield verify.Row(f"{name}: energy, an exchange", given["energy"][-1] / (weight * number[-1]), energy, round_off(run))


# ---------------------------------------------------------------- through a slab


def passed(run: Run, x: np.ndarray) -> np.ndarray:
    """The fraction of the beam that reaches x."""
    middle, width = run.number("const.middle"), run.number("const.width")
    start, wide = math.erf(middle / (math.sqrt(2) * width)), math.sqrt(2) * width
    column = math.sqrt(math.pi / 2) * width * np.array([math.erf((a - middle) / wide) + start for a in x])
    return np.exp(-run.number("species.beam.charge_exchange_cross_section") * column)


def density(run: Run) -> tuple[np.ndarray, np.ndarray]:
    with run.fields(run.field_steps[-1]) as fields:
        return fields.x("n_beam"), fields["n_beam"].mean(axis=0)


def column_rows(run: Run, name: str) -> Iterator[verify.Row]:
    s = run.series
    count, through = s["injected_x_min_beam"][-1], float(passed(run, np.array([run.number("grid.lx")]))[0])
    error = math.sqrt(through * (1 - through) / count)
    out = s.account("leak_x_max", "beam")
    yield verify.Row(f"{name}: part that comes out", out["number"][-1] / count, through, SIGMAS * error / through, error)
    yield verify.Row(f"{name}: energy of those", out["energy"][-1] / out["weight"][-1],
                     run.number("species.beam.drift_x")**2 / 2, round_off(run))
    yield verify.zero(f"{name}: injected - out - exchanged", count - out["number"][-1] - s["charge_exchanged_beam"][-1])
    yield verify.zero(f"{name}: exchanged - present", s["charge_exchanged_beam"][-1] - s["present_beam"][-1])
    x, n = density(run)
    edges = x + (x[1] - x[0]) / 2
    there = np.cumsum(n) / n.sum()
    theory = (1 - passed(run, edges)) / (1 - through)
    yield verify.zero(f"{name}: where slow ions are, off theory", np.abs(there - theory).max(),
                      KOLMOGOROV / math.sqrt(s["present_beam"][-1]))


# ---------------------------------------------------------------- drift across B


def collisions(run: Run) -> float:
    """The rate nu at which an ion starts again from rest."""
    return run.number("species.ions.charge_exchange_rate") * run.number("background.gas.initial")


def drift(nu: float, dt: float) -> complex:
    """Mean v_x + i v_y of ions that start anew at rest with the rate nu; Omega = 1 and E x B = 1. Of steps: h E, the part
    kept of them turns, h E."""
    if dt == 0:
        return 1 - nu / (nu + 1j)
    kept = math.exp(-nu * dt) * cmath.exp(-2j * math.atan(dt / 2))
    return 0.5j * dt * (1 + kept) / (1 - kept)


def mean_drift(run: Run) -> complex:
    """Mean v_x + i v_y in the middle of the steps, as J_i has it, over the time after SETTLED. The forces have turned a
    row of the series by another half step about the drift E x B."""
    s = run.series
    late = s["time"] > SETTLED
    row = complex((s["momentum_x"] + 1j * s["momentum_y"])[late].mean() / box(run))
    return 1 + (row - 1) / cmath.exp(-2j * math.atan(run.number("run.dt") / 4))


def drift_error(run: Run) -> float:
    """Standard error of a part of the mean velocity: ions start anew independently, so that velocities are forgotten as
    exp(-nu t); the field's work on them, E <v_y> = 1/2, is nu <v^2>/2, so <v^2> - <v>^2 is 1/2 for both parts."""
    s = run.series
    span = s["time"][-1] - SETTLED
    return math.sqrt(2 * 0.5 / collisions(run) / span / s["present_ions"][0])


def drift_rows(coarse: Run, fine: Run) -> Iterator[verify.Row]:
    found, nu = {}, collisions(coarse)
    for name, run in (("drift", coarse), ("drift_fine", fine)):
        dt = run.number("run.dt")
        found[dt], theory, error = mean_drift(run), drift(nu, dt), drift_error(run)
        for label, got, want in (("E x B", found[dt].real, theory.real), ("E", found[dt].imag, theory.imag)):
            yield verify.Row(f"{name}: along {label}, of such steps", got, want, SIGMAS * error, error, True)
    (long, a), (short, b) = ((dt**2, mean) for dt, mean in found.items())
    value, error = (long * b - short * a) / (long - short), math.hypot(long, short) / (long - short) * drift_error(fine)
    band = SIGMAS * error + long * short  # the fourth order in dt
    yield verify.Row("drift, dt to 0: along E x B (Hall)", value.real, drift(nu, 0).real, band, error, True)
    yield verify.Row("drift, dt to 0: along E (Pedersen)", value.imag, drift(nu, 0).imag, band, error, True)


# ---------------------------------------------------------------- picture


def picture(runs: dict[str, Run], output: Path) -> None:
    figure, axes = plot.new_figure(13.0, 4.2, ncols=3)
    t = np.linspace(0, 4, 200)
    case = Relaxation(runs["relax"])
    theory = case.moments(t)
    for name, mark in (("relax", "o"), ("relax_fine", "-")):
        mean, square = moments(runs[name])
        time, label = covered(runs[name]), f", $\\Delta t = {runs[name].number('run.dt'):g}$"
        axes[0].plot(time, mean[:, 0], mark, color="#1b6ca8", label="mean $v_x$" + label)
        axes[0].plot(time, square[:, 1] * case.mass, mark, color="#c8553d", label="$m\\langle(v_y-u_y)^2\\rangle$" + label)
    axes[0].plot(t, theory[0][:, 0], "k--", lw=1.1)
    axes[0].plot(t, theory[1][:, 1] * case.mass, "k--", lw=1.1)
    axes[0].set(xlabel="$t\\,k n$", ylabel="velocity  $[v_A]$, energy  $[m_p v_A^2]$", title="Relaxation to the gas",
                xlim=(0, 4), ylim=(0, None))
    axes[0].legend(loc="upper right")
    for name, mark in (("beam", "o"), ("beam_fine", "-")):
        s = runs[name].series
        axes[1].semilogy(covered(runs[name]), 1 - s["charge_exchanged_beam"] / s["present_beam"][0], mark,
                         label=f"$\\Delta t = {runs[name].number('run.dt'):g}$")
    axes[1].semilogy([0, 2], np.exp([0, -2]), "k--", lw=1.1, label="$e^{-n\\sigma g t}$")
    axes[1].set(xlabel="$t\\,n\\sigma g$", ylabel="part of the beam", title="Beam that is left", xlim=(0, 2))
    axes[1].set_yticks([0.2, 0.3, 0.5, 0.7, 1], labels=["0.2", "0.3", "0.5", "0.7", "1"])
    axes[1].minorticks_off()
    axes[1].legend(loc="upper right")
    column = runs["column"]
    x, n = density(column)
    axes[2].plot(x, n, label=f"slow ions, $t\\,\\Omega_{{ci}} = {column.number('run.t_end'):g}$")
    cell = x[1] - x[0]
    lost = -np.diff(passed(column, np.append(x - cell / 2, x[-1] + cell / 2))) / cell
    axes[2].plot(x, column.number("const.on") * column.number("species.beam.drift_x") * lost, "k--", lw=1.1, label="theory")
    slab = np.exp(-(x - column.number("const.middle"))**2 / (2 * column.number("const.width")**2))
    axes[2].plot(x, slab, color="0.6", label="gas")
    axes[2].set(xlabel="$x$  $[d_i]$", ylabel="$n$  $[n_0]$", title="A beam through a slab of gas",
                xlim=(0, column.number("grid.lx")), ylim=(0, 1.75))
    axes[2].legend(loc="upper right")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = {run[0]: Run(directory / run[0]) for run in RUNS}
    rows = []
    for kind, rows_of in (("relax", relax_rows), ("beam", beam_rows), ("column", column_rows)):
        for name in (kind, f"{kind}_fine"):
            rows += rows_of(runs[name], name)
    rows += drift_rows(runs["drift"], runs["drift_fine"])
    picture(runs, directory / "charge_exchange.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
