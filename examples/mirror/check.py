#!/usr/bin/env python3
"""Mirror instability at 60 degrees to B: growth rates within 10 % of linear theory for three wave numbers, three seeds;
no oscillation; density and B_z of the waves over B_par; then structures with n and B in antiphase, at the threshold."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, dispersion, moments, plot, spectrum, theory, verify

SEEDS = (1, 2, 3)
MINUS = "const.seeded=-0.002"  # the twin: the same ions, and the waves with the other sign
LONG = ["const.seeded=0", "run.t_end=150", "species.protons.particles_per_cell=400"]
RUNS = [(f"seed_{seed}", [f"run.seed={seed}"]) for seed in SEEDS]
RUNS += [(f"seed_{seed}_twin", [f"run.seed={seed}", MINUS]) for seed in SEEDS]
RUNS += [("long", LONG)]
FULL = ["species.protons.particles_per_cell=20000"]
WINDOW = (10.0, 26.0)  # after the damped waves that the start contains have gone, and below b = 0.05
BAND_GAMMA = 0.10
BAND_OMEGA = 0.01      # [Omega_ci]: a tenth of the growth rate
BAND_SHAPE = 0.10      # of n/B_par, and of B_z/B_par: as the growth rate
MARGINAL = 1e-3        # growth rate at the threshold, as in the published fits
BAND_RATIO = 0.10      # of T_perp/T_par: the ions are no bi-Maxwellian then, and the waves are large
BAND_CORRELATION = 0.2


def plasma_of(run: Run, beta_par: float | None = None, ratio: float | None = None) -> dispersion.Plasma:
    beta_par = run.number("const.beta_par") if beta_par is None else beta_par
    ratio = run.number("const.ratio") if ratio is None else ratio
    return dispersion.Plasma(theory.anisotropic(beta_par, ratio), run.number("electrons.temperature"))


def modes_of(run: Run) -> dict[int, dispersion.Mode]:
    """The mirror modes of theory, by the number of their periods in the box."""
    middle, angle, ions = round(run.number("const.periods")), run.number("const.angle"), plasma_of(run)
    ks = {m: 2 * np.pi * m / run.number("grid.lx") for m in (middle - 1, middle, middle + 1)}
    return {m: dispersion.Mode(k, angle, dispersion.root(k, angle, ions, 0.1j)) for m, k in ks.items()}


def expected_shape(run: Run, mode: dispersion.Mode) -> tuple[float, float]:
    """n/B_par and B_z/B_par of theory. Its axis 3 is along B0 and its axis 2 along -z: k is along x, B0 has x and y."""
    p = dispersion.polarisation(mode, plasma_of(run))
    return (p.electrons / p.b[2]).real, -(p.b[1] / p.b[2]).real


def amplitudes(directory: Path, seed: int, name: str, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Times, and one mode of the difference of the twins. The phase counts from x = 0, wherever in a cell it lies."""
    run = Run(directory / f"seed_{seed}")
    t, values = spectrum.response(run, Run(directory / f"seed_{seed}_twin"), name)
    with run.fields(run.field_steps[0]) as fields:
        first = fields.x(name)[0]
    return t, spectrum.mode(values, m) * np.exp(-2j * np.pi * m * first / run.number("grid.lx"))


def measure(directory: Path, seed: int, m: int, angle: float) -> tuple[complex, float, float]:
    """omega of B_y, and in the window n/B_par and B_z/B_par: slopes of the amplitudes. B_par is B_y sin(angle)."""
    t, b = amplitudes(directory, seed, "B/y", m)
    inside = spectrum.in_window(t, WINDOW)
    par = b[inside] * np.sin(angle)
    ratios = [(np.vdot(par, amplitudes(directory, seed, name, m)[1][inside]) / np.vdot(par, par)).real
              for name in ("rho", "B/z")]
    return spectrum.growing_wave(t, [b], WINDOW), ratios[0], ratios[1]


def marginal(run: Run, beta_par: float) -> float:
    """T_perp/T_par at which the fastest mirror mode at the angle of the box grows with MARGINAL."""
    fit = 1 + 0.77 / (beta_par + 0.016) ** 0.76  # Hellinger et al. 2006: where to begin
    return dispersion.threshold(lambda ratio: plasma_of(run, beta_par, ratio), 1.3 * fit, fit, MARGINAL,
                                dispersion.Mode(0.25, run.number("const.angle"), 0.05j), turn=False)[0]


def structures(run: Run, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, |B| and n without the noise: waves of k <= 1 alone."""
    with run.fields(step) as fields:
        by, bz, n = (fields[name].mean(axis=0) for name in ("B/y", "B/z", "rho"))
        x = fields.x("rho")
    b = np.sqrt(run.number("fields.bx") ** 2 + by**2 + bz**2)
    b = (b + np.roll(b, 1)) / 2  # from the upper faces to the centres
    last = int(run.number("grid.lx") / (2 * np.pi))
    smooth = []
    for values in (b, n):
        modes = np.fft.rfft(values)
        modes[last + 1:] = 0
        smooth.append(np.fft.irfft(modes, len(values)))
    return x, smooth[0], smooth[1]


def correlation(run: Run) -> float:
    """Of n and |B|: mean over the outputs of the second half of the run."""
    steps = run.field_steps[len(run.field_steps) // 2:]
    return float(np.mean([np.corrcoef(*structures(run, step)[1:])[0, 1] for step in steps]))


def picture(directory: Path, modes: dict[int, dispersion.Mode]) -> None:
    figure, (left, right) = plot.new_figure(11.0, 4.8, ncols=2)
    for i, (m, mode) in enumerate(modes.items()):
        seeds = [amplitudes(directory, seed, "B/y", m) for seed in SEEDS]
        t = seeds[0][0]
        plot.growth(left, t, [wave for _, wave in seeds], mode.omega.imag, WINDOW, f"C{i}",
                    f"$k = {mode.k:.3f}$, theory $\\gamma = {mode.omega.imag:.4f}$")
    left.plot([], [], "k--", lw=1.5, label="slopes of theory")
    left.axvspan(*WINDOW, color="0.93", zorder=0)
    left.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="$|B_y|$ of the modes  $[B_0]$", xlim=(0, t[-1]),
             ylim=(1e-3, 0.1), title="Mirror modes at 60$^\\circ$ to B: growth, three seeds")
    left.legend(loc="upper left")
    run = Run(directory / "long")
    step = run.field_steps[len(run.field_steps) // 2]
    x, b, n = structures(run, step)
    right.plot(x, b, color="C0", label="$|B|$  $[B_0]$")
    right.plot(x, n, color="C1", label="$n$  $[n_0]$")
    right.set(xlabel="$x$  $[d_i]$", ylabel="$|B|$ and $n$ of waves with $k \\leq 1$", xlim=(0, x[-1]), ylim=(0.6, 1.8),
              title=f"Mirror structures at $t\\,\\Omega_{{ci}} = {step * run.number('run.dt'):.0f}$")
    right.legend(loc="upper right")
    plot.save(figure, directory / "mirror.png")


def check(directory: Path) -> list[verify.Row]:
    first, rows = Run(directory / "seed_1"), []
    modes = modes_of(first)
    for m, mode in modes.items():
        found = [measure(directory, seed, m, mode.angle) for seed in SEEDS]
        gamma = spectrum.mean_estimate([omega.imag for omega, _, _ in found])
        omega = spectrum.mean_estimate([omega.real for omega, _, _ in found])
        label = f"k = {mode.k:.3f}: "
        rows += [verify.Row(label + "gamma", gamma.value, mode.omega.imag, BAND_GAMMA, gamma.error),
                 verify.Row(label + "omega", omega.value, 0.0, BAND_OMEGA, omega.error, absolute=True)]
        for i, name in enumerate(("n/B_par", "B_z/B_par")):
            ratio = spectrum.mean_estimate([one[1 + i] for one in found])
            rows.append(verify.Row(label + name, ratio.value, expected_shape(first, mode)[i], BAND_SHAPE, ratio.error))
    long = Run(directory / "long")
    _, beta, ratio = moments.anisotropy(long, "protons")
    rows += [verify.Row("n and B in the structures: correlation", correlation(long), -1.0, BAND_CORRELATION),
             verify.Row("T_perp/T_par at the end", ratio[-1], marginal(long, beta[-1]), BAND_RATIO)]
    picture(directory, modes)
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
