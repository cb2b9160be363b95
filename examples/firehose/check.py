#!/usr/bin/env python3
"""Firehose along B: growth rates within 10 % and frequencies within 5 % of linear theory for three wave numbers, of a
plasma below the fluid's threshold (three seeds) and of one beyond it; the growth rate of the oblique firehose; the
damping of a stable plasma; and the relaxation from beyond the fluid's threshold, which ends there within 10 %."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, dispersion, moments, plot, spectrum, theory, verify

SEEDS = (1, 2, 3)
MINUS = "const.seeded=-0.002"  # the twin: the same ions, and the waves with the other sign
STABLE = ["const.ratio=0.8"]
FLUID = ["const.beta_par=4", "const.ratio=0.3", "const.k=0.36"]
PAIRS = {f"seed_{seed}": [f"run.seed={seed}"] for seed in SEEDS}
PAIRS |= {"stable": [*STABLE, "run.t_end=16"], "fluid": [*FLUID, "run.dt=0.05", "run.t_end=20"]}
LONG = [*FLUID, "const.seeded=0", "run.dt=0.05", "run.t_end=100", "species.protons.particles_per_cell=400"]
RUNS = [(name, keys) for name, keys in PAIRS.items()]
RUNS += [(f"{name}_twin", [*keys, MINUS]) for name, keys in PAIRS.items()]
RUNS += [("oblique", [], "oblique.ini"), ("oblique_twin", [MINUS], "oblique.ini"), ("long", LONG)]
FULL = ["species.protons.particles_per_cell=20000"]
WINDOW = (15.0, 35.0)   # after the damped waves that the start contains have gone, before the noise has grown
FAST_WINDOW = (8.0, 18.0)  # of the plasma beyond the fluid's threshold, which grows three times as fast
OBLIQUE_WINDOW = (20.0, 45.0)  # the start contains more waves here
STABLE_WINDOW = (3.0, 15.0)  # the response of free ions is over, and the noise has not scattered the waves yet
RELAXED = 50.0          # the mean of T after this time counts: T oscillates with the waves
BAND_GAMMA, BAND_OMEGA = 0.10, 0.05
BAND_STABLE = 0.005     # [Omega_ci]: a tenth of the largest growth rate of the unstable plasma
DAMPED = 2 * BAND_STABLE  # a wave with less damping in theory has no row: one without any would pass
BAND_RELAXED = 0.10     # b^2 = 0.1 B0^2 of the waves makes the local threshold of the fluid uncertain by as much
MARGINAL = 1e-3         # growth rate at the kinetic threshold, as in the published fits


def plasma(beta_par: float, ratio: float, te: float) -> dispersion.Plasma:
    return dispersion.Plasma(theory.anisotropic(beta_par, ratio), te)


def modes_of(run: Run) -> dict[int, dispersion.Mode]:
    """The right-handed waves of theory, by the number of their periods in the box: followed from a long whistler."""
    ions = plasma(run.number("const.beta_par"), run.number("const.ratio"), run.number("electrons.temperature"))
    middle, length = round(run.number("const.periods")), run.number("grid.lx")
    numbers = (middle - 1, middle, middle + 1)
    ks = np.linspace(0.05, 2 * np.pi * numbers[-1] / length, 80)
    roots = dispersion.follow(ks, 0.0, ions, ks[0])
    found = {}
    for m in numbers:
        k = 2 * np.pi * m / length
        found[m] = dispersion.Mode(k, 0.0, dispersion.root(k, 0.0, ions, roots[np.argmin(np.abs(ks - k))]))
    return found


def response(directory: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Times, and b of the waves without the noise of the ions."""
    return spectrum.transverse_response(Run(directory / name), Run(directory / f"{name}_twin"))


def waves(b: np.ndarray, m: int) -> list[np.ndarray]:
    """exp(-i omega t) of the right-handed waves to +x and to -x, with omega > 0 (in b it is below 0)."""
    return [np.conj(spectrum.mode(b, -m)), np.conj(spectrum.mode(b, m))]


def oblique_row(directory: Path) -> verify.Row:
    """The growth rate of the fastest mode of all angles, in B_z, whose frequency is 0."""
    run = Run(directory / "oblique")
    t, b = spectrum.response(run, Run(directory / "oblique_twin"), "B/z")
    k, angle = run.number("const.k"), run.number("const.angle")
    ions = plasma(run.number("const.beta_par"), run.number("const.ratio"), run.number("electrons.temperature"))
    wave = spectrum.mode(b, round(run.number("const.periods")))
    measured = spectrum.fit_rate(t, np.abs(wave), OBLIQUE_WINDOW)
    expected = dispersion.root(k, angle, ions, 0.06j).imag
    return verify.Row(f"oblique, k = {k:.3f}: gamma", measured.value, expected, BAND_GAMMA, measured.error)


def damping(t: np.ndarray, b: np.ndarray, mode: dispersion.Mode, m: int, ions: list[theory.Ions]) -> float:
    """gamma of the right-handed waves of a stable plasma, mean of the two directions. A left-handed wave with the same
    k, which starts as large and is damped more, is fitted with each of them."""
    left = theory.parallel_root(mode.k, "L", ions, 0.6 * mode.k - 0.1j)
    inside = spectrum.in_window(t, STABLE_WINDOW)
    both = [mode.omega, -np.conj(left)]
    fits = [spectrum.fit_tones(t[inside], wave[inside], both, damped=True) for wave in waves(b, m)]
    return float(np.mean([fit[0][0].imag for fit in fits]))


def marginal(beta_par: float, te: float) -> float:
    """T_perp/T_par at which the fastest mode along B grows with MARGINAL."""
    fit = 1 - 0.47 / (beta_par - 0.59) ** 0.53  # Hellinger et al. 2006: where to begin
    return dispersion.threshold(lambda ratio: plasma(beta_par, ratio, te), 0.8 * fit, fit, MARGINAL,
                                dispersion.Mode(0.4, 0.0, 0.4 + 0.05j), turn=False)[0]


def picture(directory: Path, modes: dict[int, dispersion.Mode], te: float) -> None:
    figure, (left, right) = plot.new_figure(11.0, 4.8, ncols=2)
    responses = [response(directory, f"seed_{seed}") for seed in SEEDS]
    t, seeds = responses[0][0], [b for _, b in responses]
    for i, (m, mode) in enumerate(modes.items()):
        plot.growth(left, t, [wave for b in seeds for wave in waves(b, m)], mode.omega.imag, WINDOW, f"C{i}",
                    f"$k = {mode.k:.3f}$, theory $\\gamma = {mode.omega.imag:.4f}$")
    left.plot([], [], "k--", lw=1.5, label="slopes of theory")
    left.axvspan(*WINDOW, color="0.93", zorder=0)
    left.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="$|b_k|$ of right-handed waves  $[B_0]$", xlim=(0, t[-1]),
             ylim=(1e-3, 0.1), title="Firehose, $T_\\perp = 0.4\\,T_\\parallel$, three seeds, waves to $\\pm x$")
    left.legend(loc="upper left")
    _, beta, ratio = moments.anisotropy(Run(directory / "long"), "protons")
    right.plot(beta, ratio, color="C0", lw=1.3)
    right.plot(beta[0], ratio[0], "o", color="C0")
    right.plot(beta[-1], ratio[-1], "s", color="C0")
    betas = np.linspace(1.5, 4.5, 13)
    kinetic = [marginal(value, te) for value in betas]
    right.plot(betas, kinetic, "k--", lw=1.5, label="kinetic theory, $\\gamma = 10^{-3}$")
    right.plot(betas, 1 - 0.47 / (betas - 0.59) ** 0.53, ":", color="0.4", lw=2, label="Hellinger et al. 2006")
    right.plot(betas, 1 - 2 / betas, "-", color="C1", lw=1.3, label="fluid: $\\beta_\\parallel - \\beta_\\perp = 2$")
    right.set(xlabel="$\\beta_\\parallel$", ylabel="$T_\\perp/T_\\parallel$", xlim=(1.5, 4.5), ylim=(0, 1),
              title="Relaxation: start (dot), end (square)")
    right.legend(loc="lower right")
    plot.save(figure, directory / "firehose.png")


def growth_rows(directory: Path, label: str, names: list[str], window: tuple[float, float]) -> list[verify.Row]:
    modes, rows = modes_of(Run(directory / names[0])), []
    responses = [response(directory, name) for name in names]
    for m, mode in modes.items():
        found = [spectrum.growing_wave(t, waves(b, m), window) for t, b in responses]
        rows += verify.wave_rows(f"{label}, k = {mode.k:.3f}", found, mode.omega, BAND_GAMMA, BAND_OMEGA)
    return rows


def check(directory: Path) -> list[verify.Row]:
    first = Run(directory / "seed_1")
    te = first.number("electrons.temperature")
    rows = growth_rows(directory, "resonant", [f"seed_{seed}" for seed in SEEDS], WINDOW)
    rows += growth_rows(directory, "fluid", ["fluid"], FAST_WINDOW)
    rows.append(oblique_row(directory))
    stable = Run(directory / "stable")
    ions = theory.anisotropic(stable.number("const.beta_par"), stable.number("const.ratio"))
    for m, mode in modes_of(stable).items():
        if -mode.omega.imag < DAMPED:
            continue
        gamma = damping(*response(directory, "stable"), mode, m, ions)
        rows.append(verify.Row(f"stable, k = {mode.k:.3f}: gamma", gamma, mode.omega.imag, BAND_STABLE, absolute=True))
    t, beta, ratio = moments.anisotropy(Run(directory / "long"), "protons")
    relaxed = (beta * (1 - ratio))[t > RELAXED].mean()
    rows.append(verify.Row("beta_par - beta_perp after the relaxation", relaxed, 2.0, BAND_RELAXED))
    picture(directory, modes_of(first), te)
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
