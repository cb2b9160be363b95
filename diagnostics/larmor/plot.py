"""Pictures of runs: spectrum with theory, energies, fields."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of backend)
import numpy as np  # noqa: E402
from matplotlib import patheffects  # noqa: E402

from . import theory  # noqa: E402
from .run import Run  # noqa: E402
from .spectrum import Transverse, omega_k, times_are_even, transverse  # noqa: E402

STYLE = {
    "font.size": 12, "axes.titlesize": 13, "axes.labelsize": 13, "legend.fontsize": 10, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110, "savefig.dpi": 160, "lines.linewidth": 1.8,
    "axes.prop_cycle": matplotlib.cycler(color=["#1b6ca8", "#c8553d", "#4a8f5b", "#8a5a9e", "#b8860b", "#555555"]),
}
UNITS = {"B": "B_0", "E": "v_A B_0", "J": "e n_0 v_A", "rho": "e n_0", "n": "n_0", "p": "B_0^2/\\mu_0"}


def new_figure(width: float = 7.0, height: float = 4.6, **options):
    """Figure and axes in the project's style."""
    plt.rcParams.update(STYLE)
    return plt.subplots(figsize=(width, height), constrained_layout=True, **options)


def save(figure, output: str | Path) -> Path:
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)
    return path


def unit_of(name: str) -> str:
    """TeX of the unit of a mesh, by its record's name."""
    record = name.split("/")[0]
    return UNITS.get(record) or UNITS.get(record.split("_")[0], "")


def label_of(name: str) -> str:
    """TeX of a mesh and its unit; the plain name of a background field."""
    record, _, component = name.partition("/")
    symbol, _, species = record.partition("_")
    if symbol == "background":
        return species
    species = species.replace("_", "\\_")
    symbol = "\\rho" if symbol == "rho" else symbol
    index = component or (f"\\mathrm{{{species}}}" if species else "")
    unit = unit_of(name)
    return f"${symbol}{f'_{{{index}}}' if index else ''}$" + (f"  [${unit}$]" if unit else "")


# ---------------------------------------------------------------- spectrum


def spectrum(data: Transverse, output: str | Path, points: Sequence[tuple[float, float]] = (),
             k_max: float | None = None, omega_max: float | None = None, title: str = "",
             cold_theory: bool = True) -> Path:
    """|b(omega, k)|^2 of b = B_y + i B_z, the cold dispersion over it (dashed) and measured points (k, omega).

    Up (omega > 0) is left-handed, down right-handed; k > 0 and omega > 0, or both negative, runs along +x.
    """
    if not times_are_even(data.t):
        raise ValueError("the field outputs are not equidistant in time")
    omega, k, power = omega_k(data.b, data.t[1] - data.t[0], data.length / len(data.x))
    k_max = k_max or min(np.abs(k).max(), 4.0)
    omega_max = omega_max or min(np.abs(omega).max(), 1.2 * float(theory.cold_parallel(k_max, "R")))
    figure, axes = new_figure(7.4, 5.6)
    top = np.log10(power[:, np.abs(k) > 0].max())
    image = axes.pcolormesh(k, omega, np.log10(power + 1e-300), cmap="magma", vmin=top - 6, vmax=top, shading="nearest",
                            rasterized=True)
    if cold_theory:
        _draw_cold(axes, k_max)
    if len(points):
        axes.plot(*np.transpose(points), "o", ms=9, mfc="none", mec="#35d0ff", mew=1.8, label="measured")
    axes.set(xlim=(-k_max, k_max), ylim=(-omega_max, max(0.3 * omega_max, min(2.0, omega_max))),  # L stays below 1
             xlabel="$k\\,d_i$", ylabel="$\\omega/\\Omega_{ci}$")
    axes.set_title(title or "$B_y + iB_z$: left-handed above, right-handed below")
    for x, y, text in ((.97, .97, "L, to $+x$"), (.03, .97, "L, to $-x$"), (.62, .04, "R, to $-x$"),
                       (.38, .04, "R, to $+x$")):
        axes.text(x, y, text, transform=axes.transAxes, color="white", ha="right" if x in (.97, .38) else "left",
                  va="top" if y > .5 else "bottom")
    if cold_theory or len(points):
        axes.legend(loc="upper center", labelcolor="white", ncols=2)
    figure.colorbar(image, ax=axes, label="$\\log_{10}\\,|b(\\omega,k)|^2$  $[B_0^2]$", pad=0.02)
    return save(figure, output)


def _draw_cold(axes, k_max: float) -> None:
    k = np.linspace(0, k_max, 400)[1:]
    outline = [patheffects.Stroke(linewidth=2.6, foreground="black"), patheffects.Normal()]
    for branch, sign in (("L", 1), ("R", -1)):
        for side in (1, -1):
            first = branch == "L" and side == 1
            axes.plot(side * k, sign * theory.cold_parallel(k, branch), "--", color="white", lw=1.3,
                      path_effects=outline, label="cold theory" if first else None)


def spectrum_of(run: Run, output: str | Path, **options) -> Path:
    return spectrum(transverse(run), output, **options)


# ---------------------------------------------------------------- energies


def energy(run: Run, output: str | Path) -> Path:
    """Kinetic energy of every species, magnetic energy, and their change since the start."""
    series = run.series
    groups = energy_groups(series.names)
    if not groups:
        raise ValueError("the series has no columns kinetic_* or magnetic_*")
    figure, (upper, lower) = new_figure(7.0, 6.2, nrows=2, sharex=True)
    t = series["time"]
    for label, columns in groups.items():
        total = sum(series[column] for column in columns)
        upper.plot(t, total, label=label)
        lower.plot(t, total - total[0], label=label)
    if "energy_total" in series:
        upper.plot(t, series["energy_total"], "k--", lw=1.2, label="total")
        lower.plot(t, series["energy_total"] - series["energy_total"][0], "k--", lw=1.2, label="total")
    unit = pretty_unit(series.units.get(next(iter(groups.values()))[0], ""))
    upper.set(ylabel=f"energy{unit}", title=f"Energies, {run.directory.name}")
    lower.set(ylabel=f"change{unit}", xlabel="$t\\,\\Omega_{ci}$")
    lower.axhline(0, color="0.7", lw=0.8, zorder=0)
    upper.legend(ncols=2)
    return save(figure, output)


def energy_groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Legend entry -> columns to add up, from the names of the series."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if name == "electron_thermal":
            groups["electrons, thermal"] = [name]
            continue
        kind, _, rest = name.partition("_")
        axis, _, species = rest.partition("_")
        if axis not in ("x", "y", "z") or kind not in ("kinetic", "magnetic"):
            continue
        groups.setdefault(f"kinetic, {species}" if kind == "kinetic" else "magnetic", []).append(name)
    return groups


def pretty_unit(unit: str) -> str:
    """[unit] for a label, with mu0 and the like in TeX."""
    if not unit:
        return ""
    for plain, tex in (("mu0", "\\mu_0"), ("B0", "B_0"), ("n0", "n_0"), ("d_i", "d_i"), ("Omega_ci", "\\Omega_{ci}")):
        unit = unit.replace(plain, tex)
    return "  $[" + unit.replace(" ", "\\,") + "]$" if "\\" in unit or "_" in unit else f"  [{unit}]"


# ---------------------------------------------------------------- fields


def fields(run: Run, output: str | Path, name: str, step: int | None = None) -> Path:
    """A map of one mesh, or a line where the run has one row of cells."""
    steps = run.field_steps
    if not steps:
        raise ValueError(f"{run.directory} holds no fields ([output] fields_every)")
    with run.fields(steps[-1] if step is None else step) as frame:
        values, x, y, time = frame[name], frame.x(name), frame.y(name), frame.mesh_time(name)
    title = f"$t\\,\\Omega_{{ci}} = {time:g}$"
    if values.shape[0] == 1:
        figure, axes = new_figure()
        axes.plot(x, values[0])
        axes.set(xlabel="$x$  $[d_i]$", ylabel=label_of(name), title=title, xlim=(x[0], x[-1]))
        return save(figure, output)
    aspect = (y[-1] - y[0]) / (x[-1] - x[0])
    figure, axes = new_figure(7.0, min(max(7.0 * aspect, 2.4), 7.0))
    image = axes.pcolormesh(x, y, values, rasterized=True, shading="nearest", **_colours(values))
    axes.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$", title=title)
    axes.set_aspect("equal" if 0.1 < aspect < 10 else "auto")
    figure.colorbar(image, ax=axes, label=label_of(name), pad=0.02)
    return save(figure, output)


def _colours(values: np.ndarray) -> dict:
    """Diverging about 0 where the values have both signs, sequential otherwise; extremes of 0.1 % are clipped."""
    low, high = np.percentile(values, (0.1, 99.9))
    if low < 0 < high and min(-low, high) > 0.1 * max(-low, high):
        bound = max(-low, high)
        return {"cmap": "RdBu_r", "vmin": -bound, "vmax": bound}
    return {"cmap": "viridis", "vmin": low, "vmax": high if high > low else low + 1}
