#!/usr/bin/env python3
"""Kelvin-Helmholtz instability of a layer across B: three growth rates within 10 %, a fourth wave is stable."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from larmor import Run, plot, spectrum, theory, verify

UNSTABLE, STABLE = (0.2, 0.445, 0.7), 1.2  # k L
MORE = {0.445: ["run.t_end=280"],                             # until the vortex has rolled up
        STABLE: ["species.protons.particles_per_cell=128"]}   # less noise, which the shear amplifies too
RUNS = [(f"kl_{kl:g}", [f"const.kl={kl:g}", *MORE.get(kl, [])]) for kl in (*UNSTABLE, STABLE)]
FULL = ["const.cells=8", "species.protons.particles_per_cell=256"]
ROLLED_UP = "kl_0.445"   # the run of the picture
WINDOW = (1.0, 3.0)      # over the expected growth rate: after the seed has become the mode, before saturation
BAND = 0.10              # for theory without viscosity, gyroradius and noise
ASYMMETRY = 0.15         # of the mean rate: the difference of the layers, which the grid makes (README.md, exercise 3)
MICHALKE = (0.4446, 0.1897)  # k L and gamma L/U0 of the fastest growth (Michalke 1964)


class Shear(NamedTuple):
    """Two layers of tanh form in a periodic box, as the run has them, in units of their half width and half jump."""

    height: float  # of the box
    mach: float    # half jump over the fast speed

    @classmethod
    def of(cls, run: Run) -> Shear:
        temperature, b = run.number("species.protons.temperature"), run.number("fields.bz")
        fast = np.sqrt(b**2 + 2 * temperature)  # density 1; ions across B have two degrees of freedom
        return cls(run.number("grid.ly") / run.number("const.width"), run.number("const.u0") / fast)

    def growth(self, kl: float) -> float:
        """gamma L/U0 of the mode whose u_y is the same in both layers, as in the seed."""
        y = np.arange(0.125, self.height, 0.25)
        flow = np.tanh(y - self.height / 4) - np.tanh(y - 3 * self.height / 4) - 1
        omega, modes = theory.shear_layer(kl, y, flow, 1 / self.mach if self.mach else np.inf)
        alike = np.abs(modes[:, :2] + modes[::-1, :2]).max(axis=0)
        return float(omega[np.argmax(alike)].imag)


class Layers:
    """u_y of the seeded mode in both layers, over u0, at times t: first the layer with its vorticity against B."""

    def __init__(self, directory: Path) -> None:
        self.run = Run(directory)
        width, height = self.run.number("const.width"), self.run.number("grid.ly")
        times, rows = [], []
        for step in self.run.outputs["flow"]:
            with self.run.output("flow", step) as flow:
                y, mode = flow.y("J_i/y"), 2 * np.fft.fft(flow["J_i/y"], axis=1)[:, 1] / flow["J_i/y"].shape[1]
                times.append(flow.mesh_time("J_i/y"))
            rows.append([np.abs(mode[np.abs(y - place * height) < width].mean()) for place in (1 / 4, 3 / 4)])
        self.kl, self.unit = self.run.number("const.kl"), width / self.run.number("const.u0")
        self.t, self.amplitude = np.array(times) / self.unit, np.array(rows) / self.run.number("const.u0")

    @cached_property
    def expected(self) -> float:
        return Shear.of(self.run).growth(self.kl)

    @property
    def window(self) -> tuple[float, float]:
        return WINDOW[0] / self.expected, WINDOW[1] / self.expected

    @cached_property
    def rates(self) -> list[float]:
        return [spectrum.fit_rate(self.t, self.amplitude[:, layer], self.window).value for layer in (0, 1)]


def theory_row() -> verify.Row:
    """The solver itself, without compression and with layers far apart."""
    kl, expected = MICHALKE
    return verify.Row(f"theory: gamma L/U0 at k L = {kl:g} (Michalke)", Shear(40.0, 0.0).growth(kl), expected, 0.005)


def growth_row(layers: Layers) -> verify.Row:
    against, along = layers.rates
    return verify.Row(f"k L = {layers.kl:g}: gamma L/U0", (against + along) / 2, layers.expected, BAND)


def asymmetry_row(fastest: Layers) -> verify.Row:
    against, along = fastest.rates
    label = f"k L = {fastest.kl:g}: difference of the layers, over the mean"
    return verify.zero(label, 2 * (against - along) / (against + along), ASYMMETRY)


def stable_row(stable: Layers, fastest: Layers) -> verify.Row:
    """What is left of the seed of a stable mode at the end of the fastest mode's window, where that grows by e^2."""
    late = np.argmin(np.abs(stable.t - fastest.window[1]))
    ratio = stable.amplitude[late].mean() / stable.amplitude[0].mean()
    return verify.zero(f"k L = {stable.kl:g}: amplitude over that of the seed", ratio, 1.0)


def draw_growth(axes, runs: list[Layers]) -> None:
    for i, one in enumerate(runs):
        axes.semilogy(one.t, one.amplitude[:, 0], color=f"C{i}", lw=1.5, label=f"$kL = {one.kl:g}$")
        axes.semilogy(one.t, one.amplitude[:, 1], color=f"C{i}", lw=0.9)
        if one.kl in UNSTABLE:
            inside = (one.t >= one.window[0]) & (one.t <= one.window[1])
            level = np.exp(np.log(one.amplitude[inside]).mean())
            slope = np.exp(one.expected * (one.t[inside] - np.mean(one.window)))
            axes.semilogy(one.t[inside], level * slope, "k--", lw=1.2)
    axes.plot([], [], "k--", lw=1.2, label="theory")
    axes.set(xlabel="$t\\,U_0/L$", ylabel="$|u_y|$ of the mode  $[U_0]$", xlim=(0, None),
             title="Growth in both layers (thin: vorticity along $\\mathbf{B}$)")
    axes.legend(loc="upper left", bbox_to_anchor=(0, 1.0), ncols=2, columnspacing=1.0)
    axes.set_ylim(None, 8 * axes.get_ylim()[1])


def draw_rates(axes, runs: list[Layers]) -> None:
    shear = Shear.of(runs[0].run)
    kl = np.linspace(0.1, 0.95, 18)
    axes.plot(kl, [Shear(shear.height, 0.0).growth(k) for k in kl], ":", color="0.4", lw=1.4, label="incompressible")
    axes.plot(kl, [shear.growth(k) for k in kl], "k-", lw=1.4, label=f"Mach {shear.mach:.2f}")
    for i, one in enumerate(runs):
        if one.kl in UNSTABLE:
            axes.plot([one.kl] * 2, one.rates, "o", color=f"C{i}", ms=6, label="measured" if i == 0 else None)
    axes.set(xlabel="$kL$", ylabel="$\\gamma L/U_0$", title="Growth rate", xlim=(0, 1.05), ylim=(0, 0.24))
    axes.legend(loc="upper right", ncols=1)


def draw_dye(axes, layers: Layers, step: int):
    """The dye beside the first layer."""
    run = layers.run
    width, height, length = run.number("const.width"), run.number("grid.ly"), run.number("grid.lx")
    with run.output("flow", step) as flow:
        dye = flow["background_dye"]
        edge = height / 4 / width
        image = axes.imshow(dye[:len(dye) // 2], origin="lower", extent=(0, length / width, -edge, edge),
                            cmap="RdYlBu_r", vmin=0, vmax=1, interpolation="bicubic")
        axes.set(xlabel="$x/L$", title=f"dye, $t\\,U_0/L = {flow.time / layers.unit:.1f}$", ylim=(-5.5, 5.5),
                 yticks=(-5, 0, 5))
    return image


def picture(runs: list[Layers], output: Path) -> None:
    figure, axes = plot.new_figure(10.0, 7.6)
    axes.remove()
    grid = figure.add_gridspec(2, 6, height_ratios=(1.35, 1))
    draw_growth(figure.add_subplot(grid[0, :3]), runs)
    draw_rates(figure.add_subplot(grid[0, 3:]), runs)
    rolled = runs[[name for name, _ in RUNS].index(ROLLED_UP)]
    steps = rolled.run.outputs["flow"]
    panels = [figure.add_subplot(grid[1, 2 * i:2 * i + 2]) for i in range(3)]
    for panel, part in zip(panels, (0.5, 0.75, 1)):  # of the run
        image = draw_dye(panel, rolled, steps[round(part * (len(steps) - 1))])
    panels[0].set_ylabel("$y/L$")
    figure.colorbar(image, ax=panels, label="dye  [no unit]", pad=0.01)
    figure.suptitle("Kelvin-Helmholtz instability of a layer across $\\mathbf{B}$", fontsize=14)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = [Layers(directory / name) for name, _ in RUNS]
    fastest = runs[UNSTABLE.index(0.445)]
    picture(runs, directory / "kelvin_helmholtz.png")
    rows = [growth_row(one) for one in runs[:-1]]
    return [theory_row(), *rows, asymmetry_row(fastest), stable_row(runs[-1], fastest)]


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
