#!/usr/bin/env python3
"""Driven turbulence: work of the force, budget of the energy, steady state, spectrum, cross helicity."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, spectrum, verify

SEEDS = (1, 2, 3)
RUNS = [(f"seed_{seed}", [f"run.seed={seed}", f"const.phases={seed}"]) for seed in SEEDS]
FULL = ["grid.nx=512", "grid.lx=102.4", "grid.ny=nx", "species.protons.particles_per_cell=128", "run.t_end=200",
        "run.dt=0.025", "particles.precision=single", "const.power=0.002", "const.tau=2", "fields.eta=5e-4",
        "fields.eta_hyper=0", "output.kick.every=80", "output.kick.average=80", "output.flow.every=80"]
MODES = ((1, 1), (1, -1), (1, 2), (1, -2), (2, 1), (2, -1))  # as in run.ini
STEADY = 0.5           # of the run: waves and flow are steady after it
BAND_BUDGET = 0.01     # second order in the time step; rectangles of the heat in time
BAND_STEADY = 0.3      # of the power: 0 where all of it cascades, 1 where nothing is lost
BAND_HELICITY = 0.3    # a few independent waves in a few turnover times
# Of the power: the force also works on the flow that is there, at random. Three standard errors of three runs of 80
# kicks, of 11 % each by the statistics of the kicks (exercise 2).
BAND_POWER = 0.19


class Driven:
    """One run at the ends of its kicks."""

    def __init__(self, run: Run) -> None:
        self.run, self.tau, self.dt = run, run.number("const.tau"), run.number("run.dt")
        self.power, self.area = run.number("const.power"), run.number("grid.lx") * run.number("grid.ly")
        self.nx, self.cell = round(run.number("grid.nx")), run.number("grid.lx") / run.number("grid.nx")
        self.steps = run.outputs["flow"]
        self.passes = round(run.number("fields.smoothing"))
        self.t, heat, current, self.b, self.u = [], [], [], [], []
        for step in self.steps:
            with run.output("flow", step) as frame:
                self.t.append(frame.time)
                heat.append(frame["heating_resistive"].mean())
                current.append(np.stack([frame[f"J_i/{c}"] for c in "xyz"]))
                self.b.append(np.stack([frame[f"B/{c}"] for c in "xyz"]))
                self.u.append(current[-1] / frame["rho"])
        self.t, self.heat = np.array(self.t), np.array(heat)
        mean = [run.output("kick", step) for step in self.steps[1:]]
        self.work = np.array([self._work(n, frame, current[n], current[n + 1]) for n, frame in enumerate(mean)])

    def force(self, kick: int) -> np.ndarray:
        """The force of run.ini along x and y, at the centres of the cells, over what the smoothing leaves of a current
        with its wave number."""
        x = (np.arange(self.nx) + 0.5) * self.cell
        x, y = np.meshgrid(x, x)
        number, total = self.run.number, np.zeros((2, self.nx, self.nx))
        for m, (p, q) in enumerate(MODES, 1):
            phase = 1e4 * np.sin(12.9898 * kick + 78.233 * (m + 10 * number("const.phases")))
            wave = number("const.f0") * np.sin(number("const.k1") * (p * x + q * y) + phase) / np.hypot(p, q)
            half = number("const.k1") * self.cell / 2
            total += np.stack([q * wave, -p * wave]) / (np.cos(p * half) * np.cos(q * half))**(2 * self.passes)
        return total

    def _work(self, kick: int, mean, before: np.ndarray, after: np.ndarray) -> float:
        """Of one kick, in a unit of volume. The mean has the currents after each push; the work of a push belongs to
        the mean of those before and after it."""
        steps = self.tau / self.dt
        current = np.stack([mean[f"J_i/{c}"] for c in "xy"]) - (after - before)[:2] / (2 * steps)
        return float((self.force(kick) * current).sum(axis=0).mean() * self.tau)

    def later(self) -> np.ndarray:
        return self.t >= STEADY * self.t[-1]

    def energies(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean of u^2/2 and of b^2/2; u with the density of each cell."""
        u = np.array([0.5 * (u**2).sum(axis=0).mean() for u in self.u])
        b = np.array([0.5 * (b - b.mean(axis=(1, 2), keepdims=True))**2 for b in self.b]).sum(axis=1).mean(axis=(1, 2))
        return u, b

    def helicity(self) -> float:
        """2 <u b>/<u^2 + b^2>, mean over the steady part; the values of b at the centres of the cells."""
        dot = []
        for u, b in zip(self.u, self.b):
            b = b - b.mean(axis=(1, 2), keepdims=True)
            dot.append((u * centred(b)).sum(axis=0).mean())
        u, b = self.energies()
        return float(np.array(dot)[self.later()].mean() / (u + b)[self.later()].mean())

    def spectra(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """k, and the power of u and of B, means over the steady part."""
        sums = []
        for field in (self.u, self.b):
            sums.append(np.mean([sum(spectrum.power_over_k(f, (self.cell, self.cell))[1] for f in field[i])
                                 for i in np.flatnonzero(self.later())], axis=0))
        k = spectrum.power_over_k(self.u[0][0], (self.cell, self.cell))[0]
        return k, sums[0], sums[1]


def centred(b: np.ndarray) -> np.ndarray:
    """B_x from the upper y faces, B_y from the upper x faces and B_z from the corners to the centres."""
    return np.stack([(b[0] + np.roll(b[0], 1, 0)) / 2, (b[1] + np.roll(b[1], 1, 1)) / 2,
                     (b[2] + np.roll(b[2], 1, 0) + np.roll(b[2], 1, 1) + np.roll(b[2], (1, 1), (0, 1))) / 4])


def budget(data: Driven) -> float:
    """What the plasma has gained, with the heat of the resistivity, which isothermal electrons lose, over the work."""
    energy = data.run.series["energy_total"]
    heat = (0.5 * (data.heat[1:] + data.heat[:-1]) * np.diff(data.t)).sum() * data.area
    return float((energy[-1] - energy[0] + heat) / (data.work.sum() * data.area))


def growth(data: Driven) -> float:
    """Growth of the energy of flow and waves in the steady part, over the power."""
    later = data.later()
    slope = np.polyfit(data.t[later], sum(data.energies())[later], 1)[0]
    return float(slope / (data.work.mean() / data.tau))


def power_row(runs: list[Driven]) -> verify.Row:
    """The mean power of all kicks of all runs. The work of a kick is F^2 tau^2/2 and that on the flow before it, whose
    mean over the phases is 0."""
    work = np.concatenate([run.work for run in runs]) / (runs[0].tau * runs[0].power)
    error = work.std(ddof=1) / np.sqrt(len(work))
    return verify.Row("power of the force over F^2 tau/2", float(work.mean()), 1, BAND_POWER, float(error))


def mean_row(label: str, values: list[float], expected: float, band: float) -> verify.Row:
    mean = spectrum.mean_estimate(values)
    return verify.Row(label, mean.value, expected, band, mean.error, absolute=True)


def peak_rows(runs: list[Driven]) -> list[verify.Row]:
    """The wave number with the largest power, less than one mode off the root mean square of those of the force."""
    k1 = runs[0].run.number("const.k1")
    driven = k1 * np.sqrt(np.mean([p * p + q * q for p, q in MODES]))
    k, *_ = runs[0].spectra()
    u, b = (np.mean([run.spectra()[i] for run in runs], axis=0) for i in (1, 2))
    return [verify.Row(f"k of the largest power of {name}", float(k[np.argmax(power)]), driven, 0.99 * k1,
                       absolute=True) for name, power in (("u", u), ("B", b))]


def picture(runs: list[Driven], output: Path) -> None:
    """Energies in time with the work, and the spectra of the steady part."""
    figure, (left, right) = plot.new_figure(width=10.5, height=4.4, ncols=2)
    for i, run in enumerate(runs):
        u, b = run.energies()
        one = (lambda text, i=i: text if i == 0 else None)
        left.plot(run.t, np.concatenate([[0], np.cumsum(run.work)]), color="C5", lw=1.2, label=one("work of the force"))
        left.plot(run.t, u, color="C0", lw=1.2, label=one("$n_0 m_p u^2/2$"))
        left.plot(run.t, b, color="C1", lw=1.2, label=one("$\\delta B^2/2\\mu_0$"))
        k, pu, pb = run.spectra()
        right.loglog(k, pu, color="C0", lw=1.2, label=one("$u$"))
        right.loglog(k, pb, color="C1", lw=1.2, label=one("$B$"))
    left.plot(run.t, run.power * run.t, "k--", lw=1.4, label="$F^2\\tau t/2$")
    left.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="energy  $[n_0 m_p v_A^2]$", xlim=(0, run.t[-1]), ylim=(0, None),
             title="Energy in a unit of volume, three seeds")
    left.legend(loc="upper left")
    k1 = run.run.number("const.k1")
    sizes = [k1 * np.hypot(p, q) for p, q in MODES]
    right.axvspan(min(sizes), max(sizes), color="0.9", zorder=0)
    k = np.array([1.6, 7]) * np.mean(sizes) / 1.6
    level = pb[np.argmin(np.abs(run.spectra()[0] - k[0]))]
    right.loglog(k, 2.5 * level * (k / k[0])**(-5 / 3), "k--", lw=1.4, label="$k^{-5/3}$")
    right.set(xlabel="$k\\,d_i$", ylabel="power  $[v_A^2 d_i]$, $[B_0^2 d_i]$", xlim=(0.9 * k1, np.pi / run.cell),
              ylim=(1e-6, 0.5),
              title="Spectra of the second half (grey: driven)")
    right.legend(loc="lower left")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = [Driven(Run(directory / name)) for name, _ in RUNS]
    picture(runs, directory / "driven.png")
    budgets = [verify.Row(f"{name}: energy gained and lost as heat, over the work", budget(run), 1, BAND_BUDGET)
               for (name, _), run in zip(RUNS, runs)]
    return [*budgets, power_row(runs),
            mean_row("growth of u^2/2 + b^2/2 over the power", [growth(run) for run in runs], 0, BAND_STEADY),
            *peak_rows(runs),
            mean_row("cross helicity", [run.helicity() for run in runs], 0, BAND_HELICITY)]


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
