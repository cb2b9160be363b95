#!/usr/bin/env python3
"""Advection: dye past an obstacle against streamlines, order of convergence, a slotted disk and a cone in one turn."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, verify

ORDERS = ("upwind", "weno3", "weno5", "weno7", "weno9")
NAMES = {"upwind": "upwind", "centred": "centred"} | {f"weno{order}": f"WENO {order}" for order in (3, 5, 7, 9)}
CELLS = (16, 24, 36)  # a side, of the waves
BOUNDS = [f"background.{name}.{key}" for name in ORDERS for key in ("bounds=on", "maximum=1", "courant=1")]
RUNS = [("obstacle", []),
        *((f"wave_{n}", [f"grid.nx={n}", f"grid.ny={n}"], "wave.ini") for n in CELLS),
        ("turn", [], "turn.ini"), ("turn_bounds", BOUNDS, "turn.ini")]


def falling(label: str, errors: dict[str, float]) -> list[verify.Row]:
    """Each scheme's error lies below that of the one before, which is its band."""
    names = list(errors)
    return [verify.zero(f"{label}, {NAMES[name]}: L1 error, below {NAMES[before]}", errors[name], errors[before])
            for before, name in zip(names, names[1:])]


# ---------------------------------------------------------------- past an obstacle

AWAY = 0.4     # psi of the streamlines that pass the obstacle at four cells or more
QUANTUM = 2**-46  # of a field of size 1
STEP = 0.025   # time step along the streamlines


class Flow:
    """Potential flow past an obstacle between walls, and the fields that it carries. Positions are x + i y."""

    def __init__(self, run: Run) -> None:
        self.height, self.radius = run.number("grid.ly"), run.number("body.obstacle.radius")
        self.centre = run.number("const.cx") + 1j * run.number("const.cy")
        self.columns, self.k = (run.number("const.first"), run.number("const.last")), run.number("const.k")
        self.smoke = run.number("const.smoke_x") + 1j * run.number("const.smoke_y")
        self.smoke_width2 = run.number("const.smoke_width2")

    def velocity(self, z: np.ndarray) -> np.ndarray:
        """u + i v; z is relative to the obstacle's centre."""
        return np.conj(1 - (math.pi / self.height / np.sinh(math.pi * z / self.height))**2)

    def stream(self, z: np.ndarray) -> np.ndarray:
        return np.imag(z + math.pi / self.height / np.tanh(math.pi * z / self.height))

    def came_from(self, z: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Where what is at z now was at the start, and the smoke that it has met since then."""
        smoke, steps = np.zeros(z.shape), round(time / STEP)
        for k in range(steps + 1):
            smoke += STEP * (0.5 if k in (0, steps) else 1.0) * self.source(z + self.centre)
            if k < steps:
                v1 = self.velocity(z)
                v2 = self.velocity(z - STEP / 2 * v1)
                v3 = self.velocity(z - STEP / 2 * v2)
                z = z - STEP / 6 * (v1 + 2 * v2 + 2 * v3 + self.velocity(z - STEP * v3))
        return z, smoke

    def source(self, z: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(z - self.smoke)**2 / self.smoke_width2)

    def dots(self, z: np.ndarray, cell: float) -> np.ndarray:
        """The dye whose averages over cells are what the configuration has in their middles."""
        k, (first, last) = self.k, self.columns
        more = 0.5 * k * cell / math.sin(0.5 * k * cell)
        inside = (z.real > first) & (z.real < last) & (z.imag > 0) & (z.imag < self.height)
        return np.where(inside, 0.25 * (1 - more * np.cos(k * (z.real - first))) * (1 - more * np.cos(k * z.imag)), 0)


class Obstacle:
    """The fields at the end, and the expected ones: means over two by two points in each cell."""

    def __init__(self, run: Run) -> None:
        with run.fields(run.field_steps[-1]) as fields:
            self.fields = {name: fields[f"background_{name}"] for name in (*ORDERS, "even", "smoke")}
            x, y, time = fields.x("background_even"), fields.y("background_even"), fields.time
        self.x, self.y, self.cell, self.time = x, y, x[1] - x[0], time
        flow = Flow(run)
        z = x + 1j * y[:, None] - flow.centre
        self.solid = np.abs(z) < flow.radius
        self.away = ~self.solid & (np.abs(flow.stream(z)) > AWAY)
        self.dye, self.smoke = np.zeros(z.shape), np.zeros(z.shape)
        for side in (-1, 1, 1j, -1j):
            place = z + self.cell * side * (1 + 1j) / math.sqrt(12)
            before, met = flow.came_from(np.where(self.solid, -flow.height, place), time)
            self.dye += 0.25 * flow.dots(before + flow.centre, self.cell)
            self.smoke += 0.25 * met

    def error(self, name: str, where: np.ndarray) -> float:
        exact = self.smoke if name == "smoke" else self.dye
        return float(np.abs(self.fields[name] - exact)[where].sum() / np.abs(exact)[where].sum())


def obstacle_rows(run: Run, o: Obstacle) -> list[verify.Row]:
    series, rows = run.series, []
    for label, where in (("obstacle", ~o.solid), ("obstacle, off it", o.away)):
        rows += falling(label, {name: o.error(name, where) for name in ORDERS})
    rows += [verify.zero("obstacle, off it, WENO 9: L1 error", o.error("weno9", o.away), 0.05),
             verify.zero("obstacle, off it, smoke: L1 error", o.error("smoke", o.away), 0.03)]
    substeps = float(series["background_even_substeps"].max()) * series["step"][-1]
    worst = max(np.abs(series[f"background_even_{end}"] - 1).max() for end in ("min", "max"))
    last = {name: series[name][-1] for name in series.names}
    time, flow = last["time"], Flow(run)
    rows += [verify.zero("obstacle: what is even stays so", worst, 3 * substeps * 24 * QUANTUM),
             verify.zero("obstacle: any field in the solid", max(np.abs(f[o.solid]).max() for f in o.fields.values())),
             verify.Row("obstacle: even, entered at x_min", last["background_even_entered_x_min"], flow.height * time,
                        1e-12),
             verify.Row("obstacle: smoke, source", last["background_smoke_source"],
                        flow.smoke_width2 * math.pi * time, 1e-4)]
    return rows + budget_rows(run, "obstacle", o.fields)


def budget_rows(run: Run, label: str, names) -> list[verify.Row]:
    """The residual, an integer, of any row; total - loaded - entered - source in doubles, of any field."""
    series = run.series
    residual = max(np.abs(series[f"background_{name}_residual"]).max() for name in names)
    worst = 0.0
    for name in names:
        given = [series[column] for column in series.names
                 if column.startswith(f"background_{name}_entered_") or column == f"background_{name}_source"]
        total = series[f"background_{name}_total"]
        worst = max(worst, float(np.abs(total - total[0] - sum(given)).max() / np.abs(total).max()))
    return [verify.zero(f"{label}: residual of the ledgers", residual),
            verify.zero(f"{label}: total - loaded - entered - source", worst, 1e-14)]


def obstacle_picture(o: Obstacle, output: Path) -> None:
    """Dye above, its error below; below the exact dye the smoke."""
    figure, axes = plot.new_figure(11.6, 4.9, nrows=2, ncols=6, sharex=True, sharey=True)
    columns = {"exact": o.dye} | {NAMES[name]: o.fields[name] for name in ORDERS}
    for column, (label, values) in enumerate(columns.items()):
        shown = ((values, "magma_r", (0, 1)), (values - o.dye, "RdBu_r", (-0.5, 0.5)))
        if column == 0:
            shown = (shown[0], (o.fields["smoke"], "Blues", (0, 1)))
        for ax, (field, colours, span) in zip(axes[:, column], shown):
            image = ax.pcolormesh(o.x, o.y, np.where(o.solid, np.nan, field), cmap=colours, vmin=span[0], vmax=span[1],
                                  rasterized=True, shading="nearest")
            ax.set_facecolor("0.6")
            ax.set_aspect("equal")
            ax.set(xlim=(2, 8), xticks=(2, 4, 6, 8))
        axes[0, column].set_title(label)
        axes[1, column].set_xlabel("$x$  $[d_i]$")
    axes[1, 0].set_title("smoke, WENO 7")
    for ax in axes[:, 0]:
        ax.set_ylabel("$y$  $[d_i]$")
    figure.colorbar(axes[0, 1].collections[0], ax=axes[0], label="dye", pad=0.01)
    figure.colorbar(image, ax=axes[1], label="error", pad=0.01)
    figure.suptitle(f"Dots of dye that have passed an obstacle, $t\\,\\Omega_{{ci}} = {o.time:g}$", fontsize=13)
    plot.save(figure, output)


# ---------------------------------------------------------------- waves

FORMAL = {"weno5": 5, "weno7": 7, "weno9": 9, "shear5": 2, "shear9": 2}
BAND_ORDER = 0.3
# Weights of the cells around a face for schemes with fixed weights, and how many of the cells lie downwind.
LINEAR = {"upwind": ([1], 0), "centred": ([1 / 2, 1 / 2], 1),
          "weno5": (np.array([2, -13, 47, 27, -3]) / 60, 2),
          "weno7": (np.array([-3, 25, -101, 319, 214, -38, 4]) / 420, 3),
          "weno9": (np.array([4, -41, 199, -641, 1879, 1375, -305, 55, -5]) / 2520, 4)}


def wave(x: np.ndarray, y: np.ndarray, factor: complex, amplitude: float) -> np.ndarray:
    """The oblique wave after its parts along x have been multiplied by a factor, and those along y by its conjugate."""
    k = 2j * math.pi
    return 1 + amplitude * (factor * np.exp(k * x)).imag * (np.conj(factor) * np.exp(k * y)).imag


def linear_factor(name: str, n: int, time: float) -> complex:
    """The amplification factor of a wave for face values with fixed weights (von Neumann)."""
    weights, ahead = LINEAR[name]
    turn = 2j * math.pi / n
    face = sum(weight * np.exp(turn * (m + 1 - len(weights) + ahead)) for m, weight in enumerate(weights))
    return complex(np.exp(-time * n * face * (1 - np.exp(-turn))))


def sheared(x: np.ndarray, y: np.ndarray, time: float, amplitude: float) -> np.ndarray:
    """Averages over cells of the wave in the shear flow."""
    places, weights = np.polynomial.legendre.leggauss(6)
    h, q = x[1] - x[0], 0.0
    more = math.pi * h / math.sin(math.pi * h)
    for a, p in zip(places * h / 2, weights / 2):
        for b, r in zip(places * h / 2, weights / 2):
            q = q + p * r * np.sin(2 * math.pi * (x + a - time * np.sin(2 * math.pi * (y[:, None] + b))))
    return 1 + amplitude * more * q


class Waves:
    """Mean errors of every field of one grid."""

    def __init__(self, run: Run) -> None:
        with run.fields(run.field_steps[-1]) as fields:
            x, y, time = fields.x("background_weno5"), fields.y("background_weno5"), fields.time
            found = {name: fields[f"background_{name}"] for name in (*NAMES, "shear5", "shear9")}
        n, amplitude = len(x), run.number("const.amplitude")
        exact = wave(x, y[:, None], np.exp(-2j * math.pi * time), amplitude)
        shear = sheared(x, y, time, amplitude)
        self.error = {name: float(np.abs(q - (shear if name in ("shear5", "shear9") else exact)).mean())
                      for name, q in found.items()}
        theory = {name: wave(x, y[:, None], linear_factor(name, n, time), amplitude) for name in LINEAR}
        self.linear = {name: float(np.abs(q - exact).mean()) for name, q in theory.items()}


def wave_rows(waves: dict[int, Waves]) -> list[verify.Row]:
    rows = []
    for n in CELLS:
        rows += [verify.Row(f"wave, {NAMES[name]}, {n} cells: L1 error", waves[n].error[name], waves[n].linear[name], 0.01)
                 for name in ("upwind", "centred")]
    rows += [verify.Row(f"wave, {NAMES[name]}, {n} cells: L1 error", waves[n].error[name], waves[n].linear[name], 0.1)
             for name in ("weno5", "weno7", "weno9") for n in CELLS[-1:]]
    for name, formal in FORMAL.items():
        for coarse, fine in zip(CELLS, CELLS[1:]):
            order = math.log(waves[coarse].error[name] / waves[fine].error[name]) / math.log(fine / coarse)
            rows.append(verify.Row(f"wave, {NAMES.get(name, name)}: order, {coarse} to {fine} cells", order, formal,
                                   BAND_ORDER, absolute=True))
    return rows


def wave_picture(waves: dict[int, Waves], output: Path) -> None:
    figure, axes = plot.new_figure(6.4, 4.6)
    n = np.array(CELLS, dtype=float)
    for name in (*NAMES, "shear9"):
        label = "WENO 9 in shear" if name == "shear9" else NAMES[name]
        line, = axes.loglog(n, [waves[m].error[name] for m in CELLS], "o-" if name in NAMES else "s:", ms=6, label=label)
        if name in LINEAR:
            axes.loglog(n, [waves[m].linear[name] for m in CELLS], "k--", lw=1, zorder=5)
    axes.plot([], [], "k--", lw=1, label="fixed weights, theory")
    axes.set(xlabel="cells in a wavelength", ylabel="mean error", title="Oblique wave, a quarter of a period",
             xticks=CELLS, xticklabels=[str(m) for m in CELLS])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    plot.save(figure, output)


# ---------------------------------------------------------------- one turn

GIBBS = 0.18  # 9 % of each of the jumps on both sides of the slot: the overshoot of a truncated Fourier series
SHAPES = ("disk", "cone", "hump")


def variation(q: np.ndarray) -> float:
    """Total variation, in periodic cells, over the number of cells in a row."""
    return float(sum(np.abs(q - np.roll(q, 1, axis=axis)).sum() for axis in (0, 1)) / len(q))


class Turn:
    """The fields at the start and after one turn."""

    def __init__(self, run: Run) -> None:
        with run.fields(0) as first, run.fields(run.field_steps[-1]) as last:
            self.start = first["background_weno5"]
            self.fields = {name: last[f"background_{name}"] for name in ORDERS}
            self.x, self.y = last.x("background_weno5"), last.y("background_weno5")
        z = self.x + 1j * self.y[:, None]
        self.centre = {name: run.number(f"const.{name}_x") + 1j * run.number(f"const.{name}_y") for name in SHAPES}
        distance = [np.abs(z - centre) for centre in self.centre.values()]
        self.region = {name: np.argmin(distance, axis=0) == k for k, name in enumerate(SHAPES)}

    def errors(self, shape: str) -> dict[str, float]:
        """Of each scheme around one shape, over what it is made of."""
        where = self.region[shape]
        return {name: float(np.abs(q - self.start)[where].sum() / self.start[where].sum())
                for name, q in self.fields.items()}


def turn_rows(run: Run, turn: Turn, label: str, bounded: bool) -> list[verify.Row]:
    series, rows = run.series, []
    for shape in SHAPES:
        rows += falling(f"{label}: {shape}", turn.errors(shape))
    for name in ORDERS:
        least, most = series[f"background_{name}_min"].min(), series[f"background_{name}_max"].max()
        rows += [verify.zero(f"{label}, {NAMES[name]}: below 0", min(least, 0), 0 if bounded else GIBBS),
                 verify.zero(f"{label}, {NAMES[name]}: above 1", max(most - 1, 0), 1e-12 if bounded else GIBBS),
                 verify.Row(f"{label}, {NAMES[name]}: total variation over the start's, 0 to 1.05",
                            variation(turn.fields[name]) / variation(turn.start), 0.525, 0.525, absolute=True)]
    return rows + budget_rows(run, label, ORDERS)


def turn_picture(free: Turn, bounded: Turn, output: Path) -> None:
    """The fields after a turn, and cuts across the disk, the cone and up the disk's slot."""
    plot.plt.rcParams.update(plot.STYLE)
    figure = plot.plt.figure(figsize=(9.8, 5.2), constrained_layout=True)
    grid = figure.add_gridspec(2, 6, height_ratios=(1, 1.3))
    for column, (label, q) in enumerate(({"start": free.start} | free.fields).items()):
        ax = figure.add_subplot(grid[0, column])
        ax.pcolormesh(free.x, free.y, q, cmap="magma_r", vmin=0, vmax=1, rasterized=True, shading="nearest")
        ax.set_aspect("equal")
        ax.set(title=NAMES.get(label, label), xlim=(0.05, 0.75), ylim=(0, 1), xticks=(), yticks=())
    disk, cone, slot = (int(np.argmin(np.abs(at - place))) for at, place in (
        (free.y, free.centre["disk"].imag), (free.y, free.centre["cone"].imag), (free.x, free.centre["disk"].real)))
    start = {"color": "black", "lw": 1, "drawstyle": "steps-mid"}
    cuts = [figure.add_subplot(grid[1, column:column + 2]) for column in (0, 2, 4)]
    for ax, row, title in zip(cuts, (disk, cone), ("across the disk", "across the cone")):
        ax.plot(free.x, free.start[row], **start)
        for name in ORDERS:
            ax.plot(free.x, free.fields[name][row], label=NAMES[name], lw=1.5)
        ax.set(xlim=(0.3, 0.7 if ax is cuts[0] else 0.8), title=title, xlabel="$x$")
    cuts[1].legend(loc="upper right")
    cuts[2].plot(free.y, free.start[:, slot], **start)
    for turn, style, label in ((free, "-", "WENO 9"), (bounded, "--", "with bounds")):
        cuts[2].plot(turn.y, turn.fields["weno9"][:, slot], style, label=label, lw=1.5)
    cuts[2].set(xlim=(0.5, 0.95), title="up the slot", xlabel="$y$")
    cuts[2].legend(loc="upper left")
    figure.suptitle("Slotted disk, cone and hump after one turn; black: at the start", fontsize=13)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    runs = {run[0]: Run(directory / run[0]) for run in RUNS}
    obstacle = Obstacle(runs["obstacle"])
    waves = {n: Waves(runs[f"wave_{n}"]) for n in CELLS}
    free, bounded = Turn(runs["turn"]), Turn(runs["turn_bounds"])
    obstacle_picture(obstacle, directory / "obstacle.png")
    wave_picture(waves, directory / "wave.png")
    turn_picture(free, bounded, directory / "turn.png")
    return [*obstacle_rows(runs["obstacle"], obstacle), *wave_rows(waves),
            *turn_rows(runs["turn"], free, "turn", False), *turn_rows(runs["turn_bounds"], bounded, "turn, bounds", True)]


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
