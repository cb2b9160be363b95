#!/usr/bin/env python3
"""Proton cyclotron instability: growth rate within 10 % and frequency within 5 % of linear theory, two plasmas, three
seeds each; then the temperatures relax to the threshold of the instability, within 10 % of T_perp/T_par."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, dispersion, moments, plot, spectrum, theory, verify

SEEDS = (1, 2, 3)
PLASMAS = {"a": [], "b": ["const.beta_par=0.5", "const.ratio=4", "const.k=0.76"]}
LONG = ["run.t_end=150", "species.protons.particles_per_cell=400"]
RUNS = [(f"{name}_{seed}", [*keys, f"run.seed={seed}"]) for name, keys in PLASMAS.items() for seed in SEEDS]
RUNS += [(f"{name}_long", [*keys, *LONG]) for name, keys in PLASMAS.items()]
FULL = ["species.protons.particles_per_cell=20000"]
WINDOW = (2.5, 5.0)  # in 1/gamma of theory: the wave is above the noise, and has not changed the temperatures yet
BAND_GAMMA, BAND_OMEGA = 0.10, 0.05
MARGINAL = 1e-3      # growth rate at the end of the relaxation, as in the published fits
BAND_RATIO = 0.10    # the ions are no bi-Maxwellian then, and the relaxation slows down as 1/t


def plasma(beta_par: float, ratio: float, te: float) -> dispersion.Plasma:
    return dispersion.Plasma(theory.anisotropic(beta_par, ratio), te)


def expected_mode(run: Run) -> dispersion.Mode:
    """The mode of the box that grows fastest, from linear theory."""
    k = 2 * np.pi * run.number("const.periods") / run.number("grid.lx")
    ions = plasma(run.number("const.beta_par"), run.number("const.ratio"), run.number("electrons.temperature"))
    return dispersion.Mode(k, 0.0, dispersion.root(k, 0.0, ions, 0.6 + 0.2j))


def window_of(mode: dispersion.Mode) -> tuple[float, float]:
    """Where the growth is measured."""
    return WINDOW[0] / mode.omega.imag, WINDOW[1] / mode.omega.imag


def waves(run: Run) -> tuple[np.ndarray, list[np.ndarray]]:
    """Times, and the amplitudes of the mode to +x and of that to -x: two independent waves of the same growth."""
    data, m = spectrum.transverse(run), round(run.number("const.periods"))
    return data.t, [spectrum.mode(data.b, m), spectrum.mode(data.b, -m)]


def measure(t: np.ndarray, wave: np.ndarray, window: tuple[float, float]) -> complex:
    """omega and gamma: slopes of the phase and of the logarithm. b ~ exp(-i omega t), omega > 0 turns as ions do."""
    inside = spectrum.in_window(t, window)
    omega = -np.polyfit(t[inside], np.unwrap(np.angle(wave[inside])), 1)[0]
    return complex(omega, spectrum.fit_rate(t, np.abs(wave), window).value)


def marginal(beta_par: float, te: float) -> float:
    """T_perp/T_par at which the fastest mode grows with MARGINAL."""
    start = 1 + 0.8 / np.sqrt(beta_par)
    return dispersion.threshold(lambda ratio: plasma(beta_par, ratio, te), start, 1.0, MARGINAL,
                                dispersion.Mode(0.5, 0.0, 0.4 + 0.1j), turn=False)[0]


def picture(directory: Path, modes: dict[str, dispersion.Mode], te: float) -> None:
    figure, (left, right) = plot.new_figure(9.2, 4.2, ncols=2)
    for i, (name, mode) in enumerate(modes.items()):
        seeds = [waves(Run(directory / f"{name}_{seed}")) for seed in SEEDS]
        plot.growth(left, seeds[0][0], [wave for _, both in seeds for wave in both], mode.omega.imag, window_of(mode),
                    f"C{i}", f"$k = {mode.k:.3f}$, theory $\\gamma = {mode.omega.imag:.4f}$")
        _, beta, ratio = moments.anisotropy(Run(directory / f"{name}_long"), "protons")
        right.plot(beta, ratio, color=f"C{i}", lw=1.3)
        right.plot(beta[0], ratio[0], "o", color=f"C{i}")
        right.plot(beta[-1], ratio[-1], "s", color=f"C{i}")
    left.plot([], [], "k--", lw=1.5, label="slopes of theory")
    left.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="$|b_k|$ of left-handed waves  $[B_0]$", ylim=(1e-4, 2),
             title="Cyclotron instability: three seeds, waves to $\\pm x$")
    left.legend(loc="upper left")
    betas = np.geomspace(0.3, 3, 12)
    right.plot(betas, [marginal(beta, te) for beta in betas], "k--", lw=1.5, label="theory, $\\gamma = 10^{-3}$")
    right.plot(betas, 1 + 0.43 / (betas + 0.0004) ** 0.42, ":", color="0.4", lw=2, label="Hellinger et al. 2006")
    right.set(xlabel="$\\beta_\\parallel$", ylabel="$T_\\perp/T_\\parallel$", xscale="log",
              xlim=(0.3, 3), ylim=(1, 4.2), title="Relaxation: start (dot), end (square)", xticks=(0.3, 0.5, 1, 2, 3))
    right.set_xticklabels(["0.3", "0.5", "1", "2", "3"])
    right.minorticks_off()
    right.legend(loc="upper right")
    plot.save(figure, directory / "cyclotron.png")


def check(directory: Path) -> list[verify.Row]:
    rows, modes, te = [], {}, 0.0
    for name in PLASMAS:
        runs = [Run(directory / f"{name}_{seed}") for seed in SEEDS]
        mode, te = expected_mode(runs[0]), runs[0].number("electrons.temperature")
        window = window_of(mode)
        found = []
        for run in runs:
            t, both = waves(run)
            found.append(np.mean([measure(t, wave, window) for wave in both]))
        gamma = spectrum.mean_estimate([omega.imag for omega in found])
        omega = spectrum.mean_estimate([omega.real for omega in found])
        rows += [verify.Row(f"{name}, k = {mode.k:.3f}: gamma", gamma.value, mode.omega.imag, BAND_GAMMA, gamma.error),
                 verify.Row(f"{name}, k = {mode.k:.3f}: omega", omega.value, mode.omega.real, BAND_OMEGA, omega.error)]
        modes[name] = mode
        _, beta, ratio = moments.anisotropy(Run(directory / f"{name}_long"), "protons")
        rows.append(verify.Row(f"{name}: T_perp/T_par at the end", ratio[-1], marginal(beta[-1], te), BAND_RATIO))
    picture(directory, modes, te)
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
