#!/usr/bin/env python3
"""Second order in dx and dt of an exact wave; noise falls as N^-1/2, that of an even start as N^-3/2."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, theory, verify

CELLS = (8, 16, 32, 64)           # const.n; the coarsest grid is for the picture: k dx = .88 there
STEPS = (0.16, 0.08, 0.04, 0.02)  # run.dt at n = 32
PARTICLES = (4, 16, 64, 256)      # a cell; powers of 4, for which an even start is best
SEEDS = (1, 2)
STARTS = {"random": "random", "even": "low_discrepancy"}
RUNS = [(f"n_{n}", [f"const.n={n}"], "wave.ini") for n in CELLS]
RUNS += [(f"dt_{dt}", [f"run.dt={dt}"], "wave.ini") for dt in STEPS]
RUNS += [(f"{name}_{count}_{seed}", [f"const.N={count}", f"run.seed={seed}", f"species.protons.start={start}"],
          "noise.ini") for name, start in STARTS.items() for count in PARTICLES for seed in SEEDS]
RUNS += [("quiet", ["species.protons.start=quiet"], "noise.ini")]
MIXED = 2.0                       # after this time the particles have left their cells
BAND_ORDER = 0.2                  # the terms of the next order, of relative size (k dx)^2
BAND_COUNTING, BAND_B, BAND_EVEN = 0.03, 0.10, 0.25  # README.md
# rms of the density at t = 0 times sqrt(N): every cell has N particles, uniform in it, and the linear shape. Its mean
# square is 2/3 along an axis, and the means over the three cells that a particle may be in are 1/8, 3/4, 1/8.
NOISE = np.sqrt((2 / 3)**2 - (9 / 16 + 2 / 64)**2)


# ---------------------------------------------------------------- the wave


def last_b(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """B at the end and the exact B, both [component, y, x]."""
    number = run.number
    k, kx, ky, amplitude = (number(f"const.{name}") for name in ("k", "kx", "ky", "amplitude"))
    omega = float(theory.cold_parallel(k, "L"))
    shapes = {"B/x": lambda p: kx / k - amplitude * ky / k * np.cos(p),
              "B/y": lambda p: ky / k + amplitude * kx / k * np.cos(p), "B/z": lambda p: amplitude * np.sin(p)}
    with run.fields(run.field_steps[-1]) as fields:
        phases = {name: kx * fields.x(name)[None, :] + ky * fields.y(name)[:, None] - omega * fields.time
                  for name in shapes}
        return np.array([fields[name] for name in shapes]), np.array([shapes[name](phases[name]) for name in shapes])


def distance(a: np.ndarray, b: np.ndarray, amplitude: float) -> float:
    """Root of the mean square of the difference of two vector fields, over the amplitude of the wave."""
    return float(np.sqrt(((a - b)**2).sum(axis=0).mean()) / amplitude)


def errors_in_space(directory: Path) -> list[float]:
    """Against the exact wave, with the smallest time step."""
    runs = [Run(directory / f"n_{n}") for n in CELLS]
    return [distance(*last_b(run), run.number("const.amplitude")) for run in runs]


def errors_in_time(directory: Path) -> list[float]:
    """Of each time step against half of it, on one grid: the error of the grid cancels."""
    runs = [Run(directory / f"dt_{dt}") for dt in STEPS]
    fields = [last_b(run)[0] for run in runs]
    return [distance(a, b, runs[0].number("const.amplitude")) for a, b in zip(fields, fields[1:])]


def order_rows(name: str, labels: tuple[float, ...], errors: list[float], first: int) -> list[verify.Row]:
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    return [verify.Row(f"order in {name} = {labels[i]:g} to {labels[i + 1]:g}", float(orders[i]),
                       2.0, BAND_ORDER, absolute=True) for i in range(first, len(errors) - 1)]


# ---------------------------------------------------------------- noise


def rms(values: np.ndarray) -> float:
    return float(values.std())


def noise(run: Run) -> tuple[float, float, float]:
    """rms of the density at t = 0, of the density and of B after the particles have mixed."""
    with run.fields(0) as fields:
        start = rms(fields["n_protons"])
    late = [step for step in run.field_steps if step * run.number("run.dt") >= MIXED]
    density, field = [], []
    for step in late:
        with run.fields(step) as fields:
            density.append(rms(fields["n_protons"]))
            field.append(float(np.sqrt(sum(rms(fields[f"B/{c}"])**2 for c in "xyz"))))
    return start, float(np.mean(density)), float(np.mean(field))


def noises(directory: Path, name: str) -> np.ndarray:
    """Of each number of particles: the three numbers of `noise`, root of the mean square over the seeds."""
    found = [[noise(Run(directory / f"{name}_{count}_{seed}")) for seed in SEEDS] for count in PARTICLES]
    return np.sqrt(np.mean(np.square(found), axis=1))


def slope(values: np.ndarray) -> float:
    return float(np.polyfit(np.log(PARTICLES), np.log(values), 1)[0])


def noise_rows(random: np.ndarray, even: np.ndarray, quiet: tuple[float, float, float]) -> list[verify.Row]:
    level = float(np.exp(np.mean(np.log(random[:, 0] * np.sqrt(PARTICLES)))))
    return [verify.Row("random, n at t = 0: power of N", slope(random[:, 0]), -0.5, BAND_COUNTING, absolute=True),
            verify.Row("random, n at t = 0: rms sqrt(N)", level, NOISE, BAND_COUNTING),
            verify.Row("random, B later: power of N", slope(random[:, 2]), -0.5, BAND_B, absolute=True),
            verify.Row("even, n at t = 0: power of N", slope(even[:, 0]), -1.5, BAND_EVEN, absolute=True),
            verify.zero("quiet, n at t = 0: rms", quiet[0], 1e-12), verify.zero("quiet, B later: rms", quiet[2], 1e-12)]


# ---------------------------------------------------------------- picture


def draw_order(axes, x: np.ndarray, errors: list[float], label: str, title: str) -> None:
    axes.loglog(x, errors, "o-")
    axes.loglog(x, errors[-1] * (x / x[-1])**2, "k--", lw=1.2, label="second order")
    axes.set_xticks(x, [f"{value:.2g}" for value in x])
    axes.minorticks_off()
    axes.set(xlabel=label, ylabel="error of $\\mathbf{B}$ over the amplitude", title=title)
    axes.legend(loc="upper left")


def draw_noise(axes, random: np.ndarray, even: np.ndarray) -> None:
    count = np.array(PARTICLES, float)
    for values, style, name in ((random, "C0", "random"), (even, "C1", "even")):
        axes.loglog(count, values[:, 0], "o-", color=style, label=f"$n$, $t = 0$, {name}")
        axes.loglog(count, values[:, 2], "s--", color=style, mfc="none", label=f"$\\mathbf{{B}}$, $t = 2$ to 5, {name}")
    axes.loglog(count, random[0, 2] * (count / count[0])**-0.5 * 1.5, "k:", lw=1.2, label="$N^{-1/2}$, $N^{-3/2}$")
    axes.loglog(count, even[0, 0] * (count / count[0])**-1.5 / 1.5, "k:", lw=1.2)
    axes.set(xlabel="particles in a cell, $N$", ylabel="rms  $[n_0]$ or $[B_0]$", title="Noise", ylim=(2e-5, 1))
    axes.legend(loc="lower left", fontsize=8)


def check(directory: Path) -> list[verify.Row]:
    space, time = errors_in_space(directory), errors_in_time(directory)
    random, even = (noises(directory, name) for name in STARTS)
    wave = Run(directory / f"n_{CELLS[0]}")
    cells = wave.number("const.k") * wave.number("grid.lx") / np.array(CELLS)
    figure, axes = plot.new_figure(12.0, 3.9, ncols=3)
    draw_order(axes[0], cells, space, "$k\\,\\Delta x$", "Space, against the exact wave")
    draw_order(axes[1], np.array(STEPS[:-1]), time, "$\\Omega_{ci}\\,\\Delta t$", "Time, against half the step")
    draw_noise(axes[2], random, even)
    plot.save(figure, directory / "convergence.png")
    return (order_rows("dx: n", CELLS, space, 1) + order_rows("dt: dt", STEPS, time, 0)
            + noise_rows(random, even, noise(Run(directory / "quiet"))))


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
