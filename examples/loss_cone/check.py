#!/usr/bin/env python3
"""Loss cone: of a magnetic bottle, as a limit of the pitch angle, and with scattering into it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, verify

RATIOS = (2, 4)                   # mirror ratios of the bottles
CONE = 45.0                       # degrees, of the uniform field: mirror ratio 2
SCATTERING = 0.02
FULL = ["species.ions.particles_per_cell=20000"]
STEPS = {"coarse": 0.2, "fine": 0.05}  # dt of the runs with scattering
SIGMAS = 4                        # of the counting error, for every band
ADIABATIC = 0.03                  # band of the bottles: the magnetic moment is not quite constant
WINDOW = (25.0, 80.0)             # where the lowest mode is alone: the next is down by exp(-8)
OVERSHOOT = 0.5826                # -zeta(1/2)/sqrt(2 pi): how far, in sigmas, a normal walk lands beyond a boundary (Chernoff 1965)
BOTTLE, UNIFORM = "bottle_{}", "uniform"
PERIODIC = [f"boundary.{side}=periodic" for side in ("x_min", "x_max", "y_min", "y_max")]
FLAT = ["grid.nx=16", "grid.ny=16", "grid.lx=16", "grid.ly=16", "fields.az=0", "fields.bx=0.48", "fields.by=0.6",
        "fields.bz=0.64", "species.ions.density=1", "species.ions.particles_per_cell=300", *PERIODIC,
        f"species.ions.lost_below_pitch={CONE}", f"species.ions.lost_above_pitch={180 - CONE}"]
RUNS = [
    *((BOTTLE.format(ratio), [f"const.ratio={ratio}"]) for ratio in RATIOS),
    (UNIFORM, [*FLAT, "run.t_end=10", "output.series_every=1"]),
    *((name, [*FLAT, f"run.dt={dt}", f"run.t_end={WINDOW[1]}", "output.series_every=1", "run.seed=2",
              f"species.ions.scattering_rate={SCATTERING}"]) for name, dt in STEPS.items()),
    ("tail", [*FLAT, "run.dt=0.2", "run.t_end=5", "output.series_every=1", f"species.ions.scattering_rate={SCATTERING}",
              "species.ions.scattering_sigmas=3"]),
]


# ---------------------------------------------------------------- theory


def trapped(ratio: float) -> float:
    """Part of an isotropic distribution outside the loss cone, sin^2(alpha) = 1/R."""
    return math.sqrt(1 - 1 / ratio)


def flight_times(ratio: float, length: float, cosines: np.ndarray) -> np.ndarray:
    """Path over speed from the middle to an end, along the axis with a constant magnetic moment, for pitch angles
    inside the loss cone: integral of dx / sqrt(1 - sin^2(alpha) B)."""
    u = (np.arange(2000) + 0.5) / 2000
    # x = (L/2)(1 - w^3): points close up at the end, where the marginal ions are slow.
    w = 1 - u
    b = (ratio + 1) / 2 - (ratio - 1) / 2 * np.cos(np.pi * (1 - w**3))
    along2 = 1 - (1 - cosines[:, None] ** 2) * b[None, :]
    return length / 2 * (3 * w**2 / np.sqrt(along2)).mean(axis=1)


def thermal_speed(run: Run) -> float:
    return math.sqrt(run.number("species.ions.temperature") / run.number("species.ions.mass"))


def staying(run: Run, t: np.ndarray) -> np.ndarray:
    """Part of a Maxwellian that is still in the bottle: the trapped ones, and those in the cone with v < way/t."""
    ratio, thermal = run.number("const.ratio"), thermal_speed(run)
    count, edge = 400, trapped(ratio)
    p = ((np.arange(count) + 0.5) / count) ** 2     # marginal ones take longest
    cosines, weight = edge + (1 - edge) * p, (1 - edge) * 2 * np.sqrt(p) / count
    way = flight_times(ratio, run.number("grid.lx"), cosines)
    slow = np.array([[maxwell_below(s / (max(time, 1e-9) * thermal)) for s in way] for time in t])
    return edge + slow @ weight


def maxwell_below(a: float) -> float:
    """Part of a Maxwellian with |v| below a thermal speeds."""
    return math.erf(a / math.sqrt(2)) - math.sqrt(2 / math.pi) * a * math.exp(-a * a / 2) if a < 30 else 1.0


def legendre(nu: float, x: float) -> tuple[float, float]:
    """The even solution of ((1-x^2) f')' + nu (nu + 1) f = 0 with f(0) = 1, and its integral from 0 to x."""
    term, value, integral, n = 1.0, 0.0, 0.0, 0
    while abs(term) * x**n > 1e-17 * abs(value) or n < 4:
        value += term * x**n
        integral += term * x ** (n + 1) / (n + 1)
        term *= (n * (n + 1) - nu * (nu + 1)) / ((n + 1) * (n + 2))
        n += 2
    return value, integral


def eigenvalue(angle: float) -> float:
    """The lowest nu (nu + 1) of an even solution that vanishes at mu = cos(angle), by bisection."""
    low, high, x = 0.0, 4.0, math.cos(angle)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if legendre(middle, x)[0] > 0 else (low, middle)
    return low * (low + 1)


def rate(dt: float) -> float:
    """Rate of loss with D = scattering_rate/2; steps of sigma see the cone's edge OVERSHOOT sigma farther out."""
    return SCATTERING / 2 * eigenvalue(math.radians(CONE) - OVERSHOOT * math.sqrt(SCATTERING * dt))


# ---------------------------------------------------------------- measured


def left(run: Run) -> np.ndarray:
    return run.series["present_ions"] / run.series["present_ions"][0]


def bottles(runs: dict[str, Run]) -> Iterator[verify.Row]:
    for ratio in RATIOS:
        run = runs[BOTTLE.format(ratio)]
        t, n = run.series["time"], left(run)
        sigma = math.sqrt(trapped(ratio) * (1 - trapped(ratio)) / run.series["present_ions"][0])
        yield verify.Row(f"bottle, R = {ratio}: stay, t = {t[-1]:g}", n[-1], trapped(ratio), ADIABATIC, sigma)
        for step in np.searchsorted(t + 1e-6, (50, 100, 200, 400)):
            yield verify.Row(f"bottle, R = {ratio}: stay, t = {t[step]:g}", n[step], staying(run, t[step:step + 1])[0],
                             ADIABATIC, sigma)
        lost = [run.series[f"leak_{side}_ions"][-1] for side in ("x_min", "x_max")]
        expected = (1 - trapped(ratio)) / 2 * run.series["present_ions"][0]
        yield verify.zero(f"bottle, R = {ratio}: ends, difference [sigma]", (lost[0] - lost[1]) / math.sqrt(2 * expected),
                          SIGMAS)
        yield verify.zero(f"bottle, R = {ratio}: leave across B",
                          run.series["leak_y_min_ions"][-1] + run.series["leak_y_max_ions"][-1])


def uniform(run: Run) -> Iterator[verify.Row]:
    stay = math.cos(math.radians(CONE))
    lost, start = run.series.account("theta_boundary", "ions"), run.series["present_ions"][0]
    sigma = math.sqrt(stay * (1 - stay) / start)
    yield verify.Row("limits: stay", left(run)[-1], stay, SIGMAS * sigma / stay, sigma)
    yield verify.zero("limits: lost after the first step", np.ptp(lost["number"][1:]))
    yield verify.Row("limits: stay + theta_boundary", left(run)[-1] + lost["number"][-1] / start, 1.0, 1e-15)
    error = SIGMAS * math.sqrt(2 / 3 / ((1 - stay) * start))  # a Maxwellian's energy: variance 3/2 T^2
    yield verify.Row("limits: energy lost, a particle", lost["energy"][-1] / lost["weight"][-1],
                     1.5 * thermal_speed(run)**2, error)


def rate_of(run: Run, dt: float) -> tuple[float, float]:
    """Rate of loss into the cone and its standard error: lost in the window over present in each step before."""
    t, lost = run.series["time"], run.series["theta_boundary_ions"]
    first, last = np.searchsorted(t, np.array(WINDOW) - dt / 2)
    number = lost[last] - lost[first]
    part = number / run.series["present_ions"][first:last].sum()
    return -math.log1p(-part) / dt, -math.log1p(-part) / dt / math.sqrt(number)


def cut_off(label: str, run: Run) -> verify.Row:
    """What two normal angles take beyond so many sigmas: exp(-sigmas^2/2) of those present, each step."""
    sigmas = run.number("species.ions.scattering_sigmas")
    expected = math.exp(-(sigmas**2) / 2) * run.series["present_ions"][:-1].sum()
    return verify.Row(f"{label}: theta_cutoff, {sigmas:g} sigmas", float(run.series["theta_cutoff_ions"][-1]), expected,
                      SIGMAS / math.sqrt(expected), math.sqrt(expected))


def scattering(runs: dict[str, Run]) -> Iterator[verify.Row]:
    found = {}
    for name, dt in STEPS.items():
        run = runs[name]
        found[name], error = rate_of(run, dt)
        second_order = SCATTERING * dt
        yield verify.Row(f"scattering, dt = {dt}: rate", found[name], rate(dt), SIGMAS * error / found[name] + second_order, error)
        yield cut_off(f"scattering, dt = {dt}", run)
    yield cut_off("tail", runs["tail"])
    errors = [rate_of(runs[name], dt)[1] for name, dt in STEPS.items()]
    error = math.hypot(errors[0], 2 * errors[1])
    yield verify.Row("scattering, dt to 0: rate", 2 * found["fine"] - found["coarse"], rate(0.0),
                     SIGMAS * error / rate(0.0) + SCATTERING * STEPS["coarse"], error)


# ---------------------------------------------------------------- picture


def picture(runs: dict[str, Run], output: Path) -> None:
    """Who stays: in the bottles in time, and with scattering."""
    figure, (first, second) = plot.new_figure(8.6, 4.6, ncols=2)
    for ratio in RATIOS:
        run = runs[BOTTLE.format(ratio)]
        t = run.series["time"]
        first.plot(t, left(run), label=f"$R = {ratio}$")
        at = np.geomspace(20, t[-1], 60)
        first.plot(at, staying(run, at), "k--", lw=1.1)
        first.axhline(trapped(ratio), color="0.7", lw=0.8, zorder=0)
    first.plot([], [], "k--", lw=1.1, label="constant $v_\\perp^2/B$")
    first.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="part of the ions that is left", title="Magnetic bottle",
              ylim=(0.6, 1.01), xlim=(0, t[-1]))
    first.legend(loc="upper right")
    second.axvspan(*WINDOW, color="0.93", zorder=0)
    for name, dt in STEPS.items():
        t, n = runs[name].series["time"], left(runs[name])
        second.semilogy(t, n, label=f"$\\Delta t = {dt:g}$")
        start = np.searchsorted(t, WINDOW[0])
        second.semilogy(t[start:], n[start] * np.exp(-rate(dt) * (t[start:] - t[start])), "k--", lw=1.1)
    second.plot([], [], "k--", lw=1.1, label="$e^{-D\\nu(\\nu+1)t}$")
    second.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="part of the ions that is left", title="Scattering into the cone",
               xlim=(0, WINDOW[1]))
    second.legend(loc="lower left")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = {name: Run(directory / name) for name, _ in RUNS}
    rows = [*bottles(runs), *uniform(runs[UNIFORM]), *scattering(runs)]
    rows += [row for name, run in runs.items() for row in ledger.rows(run, name)]
    picture(runs, directory / "loss_cone.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
