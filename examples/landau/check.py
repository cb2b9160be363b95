#!/usr/bin/env python3
"""Ion-acoustic waves: frequency within 2 % and Landau damping within 5 %, for three ratios gamma T_e/T_i."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, spectrum, theory, verify

RATIOS = (10, 5, 3)  # T_e/T_i of isothermal electrons (gamma = 1)
RUNS = [(f"ratio_{ratio}", [f"electrons.temperature={ratio}"]) for ratio in RATIOS]
WINDOW = (3.0, 8.0)  # in 1/(k v_ti): after the ballistic response, before the discrete velocities show
BAND_OMEGA, BAND_GAMMA = 0.02, 0.05


def amplitude(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """t k v_ti and the standing wave in the electric field: the first mode of E_x, turned to its own phase."""
    kv = run.number("const.k")  # times v_ti = 1: the ions together are a Maxwellian of temperature 1
    t, rows = run.history("E/x", lambda e: e.mean(axis=0))
    mode = spectrum.mode(rows, 1)
    return t * kv, (mode * np.exp(-1j * np.angle(mode[np.argmax(np.abs(mode))]))).real


def starting_value(t: np.ndarray, a: np.ndarray) -> complex:
    """omega from the spacing of the zeros, gamma from the two halves of the window."""
    crossings = t[:-1][np.diff(np.sign(a)) != 0]
    omega = np.pi * (len(crossings) - 1) / (crossings[-1] - crossings[0])
    first, second = np.array_split(a, 2)
    gamma = np.log(np.std(second) / np.std(first)) / (t[len(t) // 2] - t[0])
    return complex(omega, gamma)


def measure(t: np.ndarray, a: np.ndarray) -> tuple[complex, complex]:
    """Fitted omega/(k v_ti) with its standard errors, inside the window."""
    inside = spectrum.in_window(t, WINDOW)
    return spectrum.fit_oscillation(t[inside], a[inside], starting_value(t[inside], a[inside]))


def picture(signals: dict[int, tuple[np.ndarray, np.ndarray]], fits: dict[int, complex], output: Path) -> None:
    """|E_x| of the mode in time and the damping that theory expects, from the first maximum in the window."""
    figure, axes = plot.new_figure()
    axes.axvspan(*WINDOW, color="0.93", zorder=0)
    for ratio, (t, a) in signals.items():
        axes.semilogy(t, np.abs(a) / np.abs(a).max(), label=f"$T_e/T_i = {ratio}$")
        inside = (t >= WINDOW[0]) & (t <= WINDOW[0] + np.pi / fits[ratio].real)
        start = np.argmax(np.where(inside, np.abs(a), 0))
        tail = t[start:]
        decay = np.exp(theory.ion_acoustic(ratio).imag * (tail - t[start]))
        axes.semilogy(tail, np.abs(a[start]) / np.abs(a).max() * decay, "k--", lw=1.1)
    axes.plot([], [], "k--", lw=1.1, label="theory: $Z'(\\zeta) = 2T_i/T_e$")
    axes.set(xlabel="$t\\,k v_{ti}$", ylabel="$|E_x|$ of the mode, over its maximum", ylim=(1e-3, 1.5), xlim=(0, None),
             title="Landau damping of ion-acoustic waves")
    axes.legend(loc="lower left")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    signals = {ratio: amplitude(Run(directory / name)) for ratio, (name, _) in zip(RATIOS, RUNS)}
    rows, fits = [], {}
    for ratio, (t, a) in signals.items():
        fits[ratio], error = measure(t, a)
        expected = theory.ion_acoustic(ratio)
        label = f"T_e/T_i = {ratio}: "
        rows += [verify.Row(label + "omega/(k v_ti)", fits[ratio].real, expected.real, BAND_OMEGA, error.real),
                 verify.Row(label + "gamma/(k v_ti)", fits[ratio].imag, expected.imag, BAND_GAMMA, error.imag)]
    picture(signals, fits, directory / "damping.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
