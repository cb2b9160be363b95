#!/usr/bin/env python3
"""Single-particle motion: gyration and its order of convergence, E x B drift, grad-B drift."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, spectrum, verify

DT = 0.2
ELECTRIC, MAGNETIC = 0.3, 2.0      # of the run e_cross_b
SLOPE = 0.1                        # of the run grad_b: B = 1 + SLOPE sin(2 pi x/lx), ions at x = lx/2
RUNS = [
    ("coarse", [f"run.dt={DT}"]),
    ("fine", [f"run.dt={DT / 2}"]),
    ("e_cross_b", [f"fields.bz={MAGNETIC}", f"fields.ey={ELECTRIC}", "species.ions.drift_x=0"]),
    ("grad_b", [f"run.dt={DT / 2}", f"const.slope={SLOPE}",
                "species.ions.density=abs(x-lx/2)<0.6*dx ? 1 : 0"]),
]


def velocity(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Times and mean v_x + i v_y of ions that fill the box with density 1."""
    series = run.series
    ions = run.number("grid.lx") * run.number("grid.ly")
    return series["time"], (series["momentum_x"] + 1j * series["momentum_y"]) / ions


def boris_frequency(dt: float) -> float:
    """Gyrofrequency of the Boris rotation for Omega = 1 (Birdsall and Langdon 1985, ch. 4): (2/dt) atan(dt/2)."""
    return 2 / dt * np.arctan(dt / 2)


def gyrofrequency(t: np.ndarray, v: np.ndarray) -> float:
    """omega of v ~ exp(-i omega t): the left-handed sense."""
    return spectrum.fit_tones(t, v, [spectrum.peak_frequency(t, v, 1)])[0][0].real


def smooth_mean(v: np.ndarray) -> complex:
    """Mean over many turns with a Hann window, which leaves next to nothing of the gyration."""
    window = np.hanning(len(v))
    return complex(window @ v / window.sum())


def steady_part(t: np.ndarray, v: np.ndarray) -> complex:
    """The constant c of v = c + A exp(-i omega t), by least squares."""
    omega = gyrofrequency(t, v - smooth_mean(v))
    basis = np.stack([np.ones_like(t), np.exp(-1j * omega * t)], axis=1)
    return complex(np.linalg.lstsq(basis, v, rcond=None)[0][0])


def picture(turn: Run, drift: Run, grad_b: Run, expected: float, output: Path) -> None:
    """The two velocity circles, around 0 and around the drift; the orbit of an ion where B falls along x."""
    figure, (left, right) = plot.new_figure(9.6, 5.0, ncols=2)
    for run, label in ((turn, "gyration"), (drift, "with $E_y$, from rest")):
        t, v = velocity(run)
        left.plot(v.real, v.imag, ".", ms=4, label=label)
    left.plot(ELECTRIC / MAGNETIC, 0, "k+", ms=12, mew=2, label="$E_y/B_z$")
    left.set(xlabel="$v_x$  $[v_A]$", ylabel="$v_y$  $[v_A]$", title="Velocities", aspect="equal")
    track = grad_b.track("orbit")
    x, y = track["x"][:, 0] - grad_b.number("grid.lx") / 2, track["y"][:, 0]
    y = y - y[0] + (x.max() - x.min()) / 2
    right.plot(x, y, lw=0.8, label="orbit, $B_z$ falls along $x$")
    right.plot([x.mean()] * 2, [0, expected * t[-1]], "k--", lw=1.4, label="path of its centre, theory")
    right.set(xlabel="$x - l_x/2$  $[d_i]$", ylabel="$y$  $[d_i]$", title="grad-$B$ drift", aspect="equal")
    for axes in (left, right):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16))
    figure.suptitle(f"Ions in given fields, $t\\,\\Omega_{{ci}} = 0$ to ${t[-1]:g}$", fontsize=13)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = {name: Run(directory / name) for name, _ in RUNS}
    coarse, fine, drift = (velocity(runs[name]) for name in ("coarse", "fine", "e_cross_b"))
    omegas = [gyrofrequency(*coarse), gyrofrequency(*fine)]
    c = steady_part(*drift)
    speed, length = runs["grad_b"].number("const.speed"), runs["grad_b"].number("grid.lx")
    t, v = velocity(runs["grad_b"])
    v = v / np.abs(v[0]) * speed  # the ions do not fill the box
    expected = -speed**2 / 2 * SLOPE * 2 * np.pi / length  # v^2/(2 Omega) dB/dx / B at x = lx/2
    row = verify.Row
    rows = [
        row("gyration: mean speed", np.abs(coarse[1]).mean(), runs["coarse"].number("const.speed"), 1e-6),
        row("gyration: spread of the speed", np.ptp(np.abs(coarse[1])), 0.0, 1e-6, absolute=True),
        row(f"gyration, dt = {DT}: omega, Boris", omegas[0], boris_frequency(DT), 1e-6),
        row(f"gyration, dt = {DT / 2}: omega, Boris", omegas[1], boris_frequency(DT / 2), 1e-6),
        row("gyration: error ratio of dt and dt/2", (omegas[0] - 1) / (omegas[1] - 1), 4.0, 0.02),
        row("E x B: v_x", c.real, ELECTRIC / MAGNETIC, 1e-6),
        row("E x B: v_y", c.imag, 0.0, 1e-6, absolute=True),
        row("grad B: v_y", smooth_mean(v).imag, expected, 0.02),
    ]
    picture(runs["coarse"], runs["e_cross_b"], runs["grad_b"], expected, directory / "velocities.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
