#!/usr/bin/env python3
"""Charge exchange: relaxation to the gas, a beam that loses its charge, what gets through a slab, drift across B."""

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
RATE, GAS_V, GAS_T, MASS, START, WARM = 1.0, (0.4, -0.2, 0.0), 0.3, 2.0, (1.5, 0.0, -1.0), 1.0  # of run.ini: k n, ...
FAST, FLOW, FREQUENCY = (2.5, -1.1), (0.5, 0.4), 1.0                     # of beam.ini: n sigma g
SECTION, SPEED, LENGTH = 0.2, 2.0, 20.0                                  # of column.ini
NU, SETTLED = 1.0, 10.0                                                  # of drift.ini; when its start is forgotten
SIGMAS = 4                                                               # of the counting error, for every band
KOLMOGOROV = 1.95                                                        # over sqrt(N): one in a thousand is larger
ROUND_OFF = 1e-12


def exactly(label: str, value: float, band: float = 0.0) -> verify.Row:
    """A number that has to be 0."""
    return verify.Row(label, float(value), 0.0, band, absolute=True)


def step_of(run: Run) -> float:
    return float(run.settings["run"]["dt"])


# ---------------------------------------------------------------- relaxation


def moments(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Mean velocity and mean square of the velocity in the frame of the gas, [row, 3]."""
    s = run.series
    mass = MASS * 256.0  # of all ions: density 1 in 16 x 16
    mean = np.stack([s[f"momentum_{c}"] for c in "xyz"], axis=-1) / mass
    square = np.stack([2 * s[f"kinetic_{c}_ions"] for c in "xyz"], axis=-1) / mass
    u = np.array(GAS_V)
    return mean, square - 2 * u * mean + u**2


def relaxed(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same in theory, and the variances of one ion's v and (v - u)^2: part of them as at the start, the others as
    the gas."""
    left, u = np.exp(-RATE * t)[:, None], np.array(GAS_V)
    drift, warm, cold = np.array(START) - u, WARM / MASS, GAS_T / MASS
    square = left * (drift**2 + warm) + (1 - left) * cold
    fourth = left * (drift**4 + 6 * drift**2 * warm + 3 * warm**2) + (1 - left) * 3 * cold**2
    return u + left * drift, square, square - (left * drift)**2, fourth - square**2


def relax_rows(run: Run, name: str) -> Iterator[verify.Row]:
    """At t = 1, 2, 4 in standard errors; and what the gas has got in every row."""
    series, dt = run.series, step_of(run)
    t, count = series["time"], series["present_ions"][0]
    mean, square = moments(run)
    theory = relaxed(t)
    for at in (1, 2, 4):
        row = int(np.argmin(np.abs(t - at)))
        for k, axis in enumerate("xyz"):
            for label, got, want, variance in ((f"mean v_{axis}", mean, theory[0], theory[2]),
                                               (f"mean (v_{axis} - u)^2", square, theory[1], theory[3])):
                error = math.sqrt(variance[row, k] / count)
                yield verify.Row(f"{name}: {label}, t = {at}", float(got[row, k]), float(want[row, k]), SIGMAS * error,
                                 error, True)
    expected = count * len(t[1:]) * -math.expm1(-RATE * dt)
    yield verify.Row(f"{name}: exchanges", float(series["charge_exchanged_ions"][-1]), expected,
                     SIGMAS / math.sqrt(expected), math.sqrt(expected))
    given = series.account("to_gas", "ions")
    energy = sum(series[f"kinetic_{c}_ions"] for c in "xyz")
    momentum = np.stack([series[f"momentum_{c}"] for c in "xyz"], axis=-1)
    first, size = energy[0], np.abs(momentum[0]).max()
    yield exactly(f"{name}: energy and what the gas got, change", np.ptp(energy + given["energy"]) / first, ROUND_OFF)
    yield exactly(f"{name}: momentum, likewise", np.ptp(momentum + given["momentum"], axis=0).max() / size, ROUND_OFF)
    fields = np.array([series[f"background_push_{c}_total"] for c in "xyz"]).T - given["momentum"]
    yield exactly(f"{name}: fields push, less that", np.abs(fields).max() / size, ROUND_OFF)
    heat = series["background_heat_total"] - given["energy"]
    yield exactly(f"{name}: field heat, less that", np.abs(heat).max() / first, ROUND_OFF)
    exchanged = series.account("charge_exchanged", "ions")
    yield exactly(f"{name}: energy of charge exchange, less all", np.abs(exchanged["energy"] - given["energy"]).max() / first,
                  ROUND_OFF)
    yield exactly(f"{name}: ions that got lost", np.ptp(series["present_ions"]))


# ---------------------------------------------------------------- a cold beam in a cold gas


def kept(run: Run) -> Iterator[tuple[float, float]]:
    """Part of the beam that has its first velocity to the bit."""
    for step in run.particle_steps:
        with run.particles(step) as particles:
            yield particles.time, float(np.mean((particles.get("beam", "momentum/x") == FAST[0]) &
                                                (particles.get("beam", "momentum/y") == FAST[1])))


def beam_rows(run: Run, name: str) -> Iterator[verify.Row]:
    """Who has exchanged moves with the gas and does so no more: the counts are what the beam has lost."""
    s = run.series
    t, count, number = s["time"], s["present_beam"][0], s["charge_exchanged_beam"]
    for at in (0.4, 1, 2):
        row, left = int(np.argmin(np.abs(t - at))), math.exp(-FREQUENCY * at)
        error = math.sqrt(left * (1 - left) / count)
        yield verify.Row(f"{name}: beam that is left, t = {at:g}", 1 - float(number[row]) / count, left,
                         SIGMAS * error / left, error)
    yield exactly(f"{name}: that, less the ions with its velocity", max(
        abs(part - 1 + number[np.argmin(np.abs(t - time))] / count) for time, part in kept(run)), 1e-15)
    weight, given = 256.0 / count, s.account("to_gas", "beam")
    loss = [u - v for u, v in zip(FAST, FLOW)]
    for axis, one in zip((0, 1), loss):
        yield verify.Row(f"{name}: momentum {'xy'[axis]} the gas got, an exchange",
                         given["momentum"][-1, axis] / (weight * number[-1]), one, ROUND_OFF)
    energy = 0.5 * (FAST[0]**2 + FAST[1]**2 - FLOW[0]**2 - FLOW[1]**2)
    yield verify.Row(f"{name}: energy, an exchange", given["energy"][-1] / (weight * number[-1]), energy, ROUND_OFF)


# ---------------------------------------------------------------- through a slab


def passed(x: np.ndarray) -> np.ndarray:
    """Part of the beam that gets to x."""
    start = math.erf(10 / math.sqrt(8))
    column = math.sqrt(2 * math.pi) * np.array([math.erf((a - 10) / math.sqrt(8)) + start for a in x])
    return np.exp(-SECTION * column)


def density(run: Run) -> tuple[np.ndarray, np.ndarray]:
    with run.fields(run.field_steps[-1]) as fields:
        return fields.x("n_beam"), fields["n_beam"].mean(axis=0)


def column_rows(run: Run, name: str) -> Iterator[verify.Row]:
    s = run.series
    count, through = s["injected_x_min_beam"][-1], float(passed(np.array([LENGTH]))[0])
    error = math.sqrt(through * (1 - through) / count)
    out = s.account("leak_x_max", "beam")
    yield verify.Row(f"{name}: part that comes out", out["number"][-1] / count, through, SIGMAS * error / through, error)
    yield verify.Row(f"{name}: energy of those", out["energy"][-1] / out["weight"][-1], SPEED**2 / 2, ROUND_OFF)
    yield exactly(f"{name}: injected - out - exchanged", count - out["number"][-1] - s["charge_exchanged_beam"][-1])
    yield exactly(f"{name}: exchanged - present", s["charge_exchanged_beam"][-1] - s["present_beam"][-1])
    x, n = density(run)
    edges = x + (x[1] - x[0]) / 2
    there = np.cumsum(n) / n.sum()
    theory = (1 - passed(edges)) / (1 - through)
    yield exactly(f"{name}: where slow ions are, off theory", np.abs(there - theory).max(),
                  KOLMOGOROV / math.sqrt(s["present_beam"][-1]))


# ---------------------------------------------------------------- drift across B


def drift(dt: float) -> complex:
    """Mean v_x + i v_y of ions that start anew at rest with the rate NU; Omega = 1 and E x B = 1. Of steps: those whose
    turn begins anew go on as gas, then all turn by R; a row of the series is half a step later."""
    if dt == 0:
        return 1 - NU / (NU + 1j)
    turn, half = (cmath.exp(-2j * math.atan(dt / part)) for part in (2, 4))
    anew = -math.expm1(-NU * dt)
    return 1 - half * turn * anew / (1 - (1 - anew) * turn)


def mean_drift(run: Run) -> complex:
    """Mean v_x + i v_y over the time after SETTLED."""
    s = run.series
    late = s["time"] > SETTLED
    return complex((s["momentum_x"] + 1j * s["momentum_y"])[late].mean() / 64)


def drift_error(run: Run) -> float:
    """Standard error of a part of the mean velocity: ions start anew independently, so that velocities are forgotten as
    exp(-NU t); the field's work on them, E <v_y> = 1/2, is NU <v^2>/2, so <v^2> - <v>^2 is 1/2 for both parts."""
    s = run.series
    span = s["time"][-1] - SETTLED
    return math.sqrt(2 * 0.5 / NU / span / s["present_ions"][0])


def drift_rows(coarse: Run, fine: Run) -> Iterator[verify.Row]:
    found = {}
    for name, run in (("drift", coarse), ("drift_fine", fine)):
        dt = step_of(run)
        found[dt] = mean_drift(run)
        for label, got, want in (("E x B", found[dt].real, drift(dt).real), ("E", found[dt].imag, drift(dt).imag)):
            yield verify.Row(f"{name}: along {label}, of such steps", got, want, SIGMAS * drift_error(run), drift_error(run), True)
    (long, a), (short, b) = found.items()
    value, error = (long * b - short * a) / (long - short), math.hypot(long, short) / (long - short) * drift_error(fine)
    band = SIGMAS * error + long * short  # what is of second order
    yield verify.Row("drift, dt to 0: along E x B (Hall)", value.real, drift(0).real, band, error, True)
    yield verify.Row("drift, dt to 0: along E (Pedersen)", value.imag, drift(0).imag, band, error, True)


# ---------------------------------------------------------------- picture


def picture(runs: dict[str, Run], output: Path) -> None:
    figure, axes = plot.new_figure(13.0, 4.2, ncols=3)
    t = np.linspace(0, 4, 200)
    theory = relaxed(t)
    for name, mark in (("relax", "o"), ("relax_fine", "-")):
        mean, square = moments(runs[name])
        time, label = runs[name].series["time"], f", $\\Delta t = {step_of(runs[name]):g}$"
        axes[0].plot(time, mean[:, 0], mark, color="#1b6ca8", label="mean $v_x$" + label)
        axes[0].plot(time, square[:, 1] * MASS, mark, color="#c8553d", label="$m\\langle(v_y-u_y)^2\\rangle$" + label)
    axes[0].plot(t, theory[0][:, 0], "k--", lw=1.1)
    axes[0].plot(t, theory[1][:, 1] * MASS, "k--", lw=1.1)
    axes[0].set(xlabel="$t\\,k n$", title="Relaxation to the gas", xlim=(0, 4), ylim=(0, None))
    axes[0].legend(loc="upper right")
    for name, mark in (("beam", "o"), ("beam_fine", "-")):
        s = runs[name].series
        axes[1].semilogy(s["time"], 1 - s["charge_exchanged_beam"] / s["present_beam"][0], mark,
                         label=f"$\\Delta t = {step_of(runs[name]):g}$")
    axes[1].semilogy([0, 2], np.exp([0, -2]), "k--", lw=1.1, label="$e^{-n\\sigma g t}$")
    axes[1].set(xlabel="$t\\,n\\sigma g$", title="Beam that is left", xlim=(0, 2))
    axes[1].legend(loc="upper right")
    x, n = density(runs["column"])
    axes[2].plot(x, n, label="slow ions")
    cell = x[1] - x[0]
    lost = -np.diff(passed(np.append(x - cell / 2, x[-1] + cell / 2))) / cell
    axes[2].plot(x, 5 * SPEED * lost, "k--", lw=1.1, label="theory")  # the beam is on for t < 5
    axes[2].plot(x, np.exp(-(x - 10)**2 / 8), color="0.6", label="gas")
    axes[2].set(xlabel="$x$  $[d_i]$", ylabel="$n$  $[n_0]$", title="A beam through a slab of gas", xlim=(0, LENGTH), ylim=(0, None))
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
