"""Pictures of runs: spectrum with theory, energies, fields, anisotropy, distributions, orbits, probes, movies.

Every function returns a matplotlib figure, which a notebook shows; `save` writes it to a file. The backend of matplotlib is
the user's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import animation, patheffects
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from . import theory
from .errors import RunError
from .openpmd import Fields
from .run import Run
from .spectrum import Transverse, omega_k, power_over_k, times_are_even, transverse

STYLE = {
    "font.size": 12, "axes.titlesize": 13, "axes.labelsize": 13, "legend.fontsize": 10, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110, "savefig.dpi": 160, "lines.linewidth": 1.8,
    "axes.prop_cycle": matplotlib.cycler(color=["#1b6ca8", "#c8553d", "#4a8f5b", "#8a5a9e", "#b8860b", "#555555"]),
}
NAMES = {"J_dot_E": "\\mathbf{J}\\cdot\\mathbf{E}", "heating_resistive": "\\mathbf{J}\\cdot\\mathbf{E}_\\mathrm{resistive}",
         "heating_compression": "-p_e\\nabla\\cdot\\mathbf{u}_e"}
POWER = "n_0 m_p v_A^2 \\Omega_{ci}"
UNITS = {**{name: POWER for name in NAMES}, "B": "B_0", "E": "v_A B_0", "J": "e n_0 v_A", "rho": "e n_0", "n": "n_0", "p": "B_0^2/\\mu_0",
         "u": "v_A", "P": "B_0^2/\\mu_0", "T": "m_p v_A^2", "Q": "n_0 m_p v_A^3"}


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
    if record in NAMES:
        return f"${NAMES[record]}$  [${unit_of(name)}$]"
    symbol, _, species = record.partition("_")
    if symbol == "background":
        return species
    directions = {"par": "\\parallel", "perp": "\\perp"}
    direction, _, rest = species.partition("_")
    if symbol == "T" and direction in directions:
        component, species = directions[direction], rest
    plain = species.replace("_", "\\_")
    index = ",\\,".join(part for part in (component, f"\\mathrm{{{plain}}}" if plain else "") if part)
    symbol = "\\rho" if symbol == "rho" else symbol
    unit = unit_of(name)
    return f"${symbol}{f'_{{{index}}}' if index else ''}$" + (f"  [${unit}$]" if unit else "")


# ---------------------------------------------------------------- spectrum


def spectrum(data: Transverse, points: Sequence[tuple[float, float]] = (), k_max: float | None = None,
             omega_max: float | None = None, title: str = "", cold_theory: bool = True) -> Figure:
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
    return figure


def _draw_cold(axes, k_max: float) -> None:
    k = np.linspace(0, k_max, 400)[1:]
    outline = [patheffects.Stroke(linewidth=2.6, foreground="black"), patheffects.Normal()]
    for branch, sign in (("L", 1), ("R", -1)):
        for side in (1, -1):
            first = branch == "L" and side == 1
            axes.plot(side * k, sign * theory.cold_parallel(k, branch), "--", color="white", lw=1.3,
                      path_effects=outline, label="cold theory" if first else None)


def spectrum_of(run: Run, cold_theory: bool = True, **options) -> Figure:
    """The spectrum of a run. The cold theory is that of waves along x, so it is drawn only where B0 is along x."""
    with run.fields(run.field_steps[0]) as first:
        mean = [float(first[f"B/{axis}"].mean()) for axis in "xyz"]
    if cold_theory and np.hypot(*mean[1:]) > 0.01 * abs(mean[0]):
        options.setdefault("title", "$B_y + iB_z$; $\\mathbf{B}_0$ is not along x: no theory")
        cold_theory = False
    return spectrum(transverse(run), cold_theory=cold_theory, **options)


# ---------------------------------------------------------------- energies


def energy(run: Run, log: bool = False) -> Figure:
    """Kinetic energy of every species, magnetic energy, and their change since the start. `log`: the size of the changes
    on a logarithmic axis, where growth with one rate is a straight line."""
    series = run.series
    groups = energy_groups(series.names)
    if not groups:
        raise ValueError("the series has no columns kinetic_* or magnetic_*")
    figure, (upper, lower) = new_figure(8.6, 6.2, nrows=2, sharex=True)
    t = series["time"]
    for label, columns in groups.items():
        total = sum(series[column] for column in columns)
        upper.plot(t, total, label=label)
        lower.plot(t, _change(total, log), label=label)
    if "energy_total" in series:
        upper.plot(t, series["energy_total"], "k--", lw=1.2, label="total")
        lower.plot(t, _change(series["energy_total"], log), "k--", lw=1.2, label="total")
    unit = pretty_unit(series.units.get(next(iter(groups.values()))[0], ""))
    upper.set(ylabel=f"energy{unit}", title=f"Energies, {run.directory.name}")
    lower.set(ylabel=f"change{unit}", xlabel="$t\\,\\Omega_{ci}$")
    if log:
        lower.set(yscale="log", ylabel=f"|change|{unit}")
    else:
        lower.axhline(0, color="0.7", lw=0.8, zorder=0)
    upper.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def _change(values: np.ndarray, log: bool) -> np.ndarray:
    change = values - values[0]
    return np.where(change != 0, np.abs(change), np.nan) if log else change


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


def fields(run: Run, name: str, step: int | None = None, source: str | None = None,
           limits: tuple[float, float] | None = None, cmap: str | None = None) -> Figure:
    """A map of one mesh, or a line where it has one row of cells. `source`: the output that holds it, "fields" or the NAME
    of [output.NAME]; by default the first one that does. `step`: by default the last one. `limits`: of the colours."""
    source, steps = run.source_of(name, source)
    with run.frame(source, steps[-1] if step is None else step) as frame:
        values, x, y, title = frame[name], frame.x(name), frame.y(name), title_of(frame, name)
    return _draw(values, x, y, label_of(name), title, limits, cmap)[0]


def anisotropy(run: Run, species: str | None = None, step: int | None = None, source: str | None = None,
               limits: tuple[float, float] | None = None, cmap: str | None = None) -> Figure:
    """T_perp/T_par of a species, from an [output.NAME] with `temperature`."""
    species = species or run.species[0]
    par, perp = f"T_par_{species}", f"T_perp_{species}"
    source, steps = run.source_of(par, source)
    with run.frame(source, steps[-1] if step is None else step) as frame:
        ratio, x, y, title = frame[perp] / frame[par], frame.x(par), frame.y(par), title_of(frame, par)
    label = f"$T_\\perp/T_\\parallel$, {species}"
    if limits is None and ratio.shape[0] > 1:
        low, high = np.nanpercentile(np.log(ratio), (0.5, 99.5))
        bound = np.exp(max(abs(low), abs(high)))
        figure, _, image = _draw(ratio, x, y, label, title, None, cmap or "RdBu_r", norm=LogNorm(1 / bound, bound))
        all_ticks = (.05, .1, .2, .3, .5, .7, 1, 1.5, 2, 3, 5, 10, 20) if bound > 1.6 else (.7, .8, .9, 1, 1.1, 1.25, 1.5)
        ticks = [tick for tick in all_ticks if 1 / bound <= tick <= bound]
        image.colorbar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
        image.colorbar.minorticks_off()
        return figure
    return _draw(ratio, x, y, label, title, limits, cmap)[0]


def title_of(frame: Fields, name: str) -> str:
    """The time of a mesh, and over what it is a mean."""
    average = frame.average(name)
    return f"$t\\,\\Omega_{{ci}} = {frame.mesh_time(name):.6g}$" + (f", {average}" if average else "")


def _map_size(aspect: float) -> tuple[float, float]:
    """Width and height of a figure [inches] whose map is as high as its colour bar. `aspect`: height over width."""
    margins = 1.9, 0.95  # what labels, the title and the colour bar take
    width = min(5.1, 6.2 / aspect) if 0.1 < aspect < 10 else 5.1
    return width + margins[0], max(width * aspect, 1.2) + margins[1] if 0.1 < aspect < 10 else 4.6


def _draw(values, x, y, label, title, limits=None, cmap=None, norm=None):
    """A map or a line; returns the figure, its title's axes and what changes from frame to frame."""
    if values.shape[0] == 1:
        figure, axes = new_figure()
        line, = axes.plot(x, values[0])
        axes.set(xlabel="$x$  $[d_i]$", ylabel=label, title=title, xlim=(x[0], x[-1]), ylim=limits)
        return figure, axes, line
    aspect = (y[-1] - y[0]) / (x[-1] - x[0]) if len(x) > 1 else 1
    figure, axes = new_figure(*_map_size(aspect))
    colours = {"norm": norm} if norm else colours_of(values)
    if limits is not None:
        colours |= {"vmin": limits[0], "vmax": limits[1]}
    if cmap is not None:
        colours["cmap"] = cmap
    image = axes.pcolormesh(x, y, values, rasterized=True, shading="nearest", **colours)
    axes.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$", title=title)
    axes.set_aspect("equal" if 0.1 < aspect < 10 else "auto")
    figure.colorbar(image, ax=axes, label=label, pad=0.02)
    return figure, axes, image


# ---------------------------------------------------------------- movies


def movie(run: Run, name: str, output: str | Path, source: str | None = None, limits: tuple[float, float] | None = None,
          cmap: str | None = None, rate: float = 10) -> Path:
    """All steps of one mesh as a film with fixed colours: .mp4 where ffmpeg is installed, .gif else. `rate`: frames a
    second. Returns the path, whose ending may differ from that of `output`."""
    source, steps = run.source_of(name, source)
    path = Path(output)
    if path.suffix != ".gif" and not animation.writers.is_available("ffmpeg"):
        path = path.with_suffix(".gif")
    if limits is None:
        limits = _range_of_all(run, name, source, steps)
    with run.frame(source, steps[0]) as frame:
        figure, axes, drawn = _draw(frame[name], frame.x(name), frame.y(name), label_of(name), title_of(frame, name),
                                    limits, cmap or ("RdBu_r" if limits[0] == -limits[1] else None))
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = animation.PillowWriter(fps=rate) if path.suffix == ".gif" else animation.FFMpegWriter(fps=rate)
    with writer.saving(figure, str(path), dpi=110):
        for step in steps:
            with run.frame(source, step) as frame:
                values, title = frame[name], title_of(frame, name)
            if values.shape[0] == 1:
                drawn.set_ydata(values[0])
            else:
                drawn.set_array(values)
            axes.set_title(title)
            writer.grab_frame()
    plt.close(figure)
    return path


def _range_of_all(run: Run, name: str, source: str, steps: Sequence[int]) -> tuple[float, float]:
    """Limits that fit all frames: extremes of 0.1 % of each are clipped; symmetric where the values have both signs."""
    ends = []
    for step in steps:
        with run.frame(source, step) as frame:
            ends.append(np.nanpercentile(frame[name], (0.1, 99.9)))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if low < 0 < high and min(-low, high) > 0.1 * max(-low, high):
        return -max(-low, high), max(-low, high)
    return low, high if high > low else low + 1


# ---------------------------------------------------------------- distributions

AXES = {"x": "$x$  $[d_i]$", "y": "$y$  $[d_i]$", "vx": "$v_x$  $[v_A]$", "vy": "$v_y$  $[v_A]$", "vz": "$v_z$  $[v_A]$",
        "v_par": "$v_\\parallel$  $[v_A]$", "v_perp": "$v_\\perp$  $[v_A]$", "energy": "energy  $[m_p v_A^2]$",
        "pitch": "pitch angle  [degrees]", "gyrophase": "gyrophase  [degrees]"}


def distribution(run: Run, name: str | None = None, species: str | None = None, step: int | None = None,
                 limits: tuple[float, float] | None = None, cmap: str = "viridis") -> Figure:
    """[distribution.NAME] at a step (the last one): a curve for one axis, a map for two; a third axis is summed over."""
    if not run.distributions:
        raise ValueError(f"{run.directory} holds no distributions ([distribution.NAME])")
    data = run.distribution(name or next(iter(run.distributions)), step)
    species = species or data.species[0]
    values = data.density(species)
    if values.ndim == 3:
        values = (values * np.diff(data.edges[2])).sum(axis=2)
    title = f"{species}, $t\\,\\Omega_{{ci}} = {data.time:.6g}$"
    if values.ndim == 1:
        figure, axes = new_figure()
        axes.stairs(values, data.edges[0], lw=1.8)
        axes.set(xlabel=AXES[data.axes[0]], ylabel="$f$", title=title, ylim=limits)
        if limits is None and (values > 0).any():
            axes.set_yscale("log")
        return figure
    if limits is None:
        top = values.max() if values.max() > 0 else 1
        limits = (max(values[values > 0].min(initial=top), 1e-6 * top), top)
    is_alike = data.units[0] == data.units[1]
    aspect = np.ptp(data.edges[1]) / np.ptp(data.edges[0])
    figure, axes = new_figure(6.8, min(max(5.4 * aspect + 1, 2.6), 7.0) if is_alike else 4.8)
    image = axes.pcolormesh(data.edges[0], data.edges[1], np.where(values > 0, values, np.nan).T, cmap=cmap,
                            norm=LogNorm(*limits), rasterized=True)
    axes.set(xlabel=AXES[data.axes[0]], ylabel=AXES[data.axes[1]], title=title)
    axes.set_aspect("equal" if is_alike else "auto")
    figure.colorbar(image, ax=axes, label="$f$", pad=0.02)
    return figure


# ---------------------------------------------------------------- orbits


def orbits(run: Run, name: str | None = None, most: int = 12) -> Figure:
    """The orbits of the first ions of [track.NAME] in the domain, and their energies in time. A dot is where an ion
    begins, and a cross where it has left. Lines break where an ion crosses a periodic side."""
    if not run.tracks:
        raise ValueError(f"{run.directory} holds no orbits ([track.NAME])")
    track = run.track(name or next(iter(run.tracks)))
    x, y = track.in_domain()
    energy, count = track.energy, min(most, track.count)
    figure, (left, right) = new_figure(11.0, 4.8, ncols=2)
    colours = matplotlib.colormaps["turbo"](np.linspace(0.05, 0.95, count))
    for k, colour in enumerate(colours):
        crosses = (np.abs(np.diff(x[:, k])) > 0.5 * track.size[0]) | (np.abs(np.diff(y[:, k])) > 0.5 * track.size[1])
        breaks = np.flatnonzero(crosses) + 1
        left.plot(np.insert(x[:, k], breaks, np.nan), np.insert(y[:, k], breaks, np.nan), color=colour, lw=1.0)
        left.plot(x[0, k], y[0, k], "o", color=colour, ms=4)
        if track.left[k] >= 0:
            last = np.flatnonzero(np.isfinite(x[:, k]))
            left.plot(x[last[-1:], k], y[last[-1:], k], "x", color=colour, ms=7)
        right.plot(track.time, energy[:, k], color=colour, lw=1.0)
    left.set(xlabel="$x$  $[d_i]$", ylabel="$y$  $[d_i]$", xlim=(0, track.size[0]), ylim=(0, track.size[1]),
             title=f"{count} of {track.count} ions of {track.species}, $t\\,\\Omega_{{ci}} = {track.time[0]:.6g}$ to "
                   f"${track.time[-1]:.6g}$")
    left.set_aspect("equal" if 0.1 < track.size[1] / track.size[0] < 10 else "auto")
    right.set(xlabel="$t\\,\\Omega_{ci}$", ylabel="kinetic energy  $[m_p v_A^2]$")
    return figure


# ---------------------------------------------------------------- power over k


def power(run: Run, record: str = "B", step: int | None = None, source: str | None = None) -> Figure:
    """The power of a record over |k| at a step: its mean square is the integral of it. A vector has a curve for each of
    its components and one for their sum."""
    meshes = [f"{record}/{axis}" for axis in "xyz"]
    try:
        source, steps = run.source_of(meshes[0], source)
    except RunError:
        meshes = [record]
        source, steps = run.source_of(record, source)
    figure, axes = new_figure()
    total = 0.0
    with run.frame(source, steps[-1] if step is None else step) as frame:
        for name in meshes:
            k, density = power_over_k(frame[name], frame.spacing(name))
            total = total + density
            axes.loglog(k, density, lw=1.2 if len(meshes) > 1 else 1.8, label=label_of(name).split("  ")[0])
        axes.set_title(title_of(frame, meshes[0]))
    if len(meshes) > 1:
        axes.loglog(k, total, "k", label="sum")
        axes.legend()
    unit = unit_of(meshes[0])
    axes.set(xlabel="$k$  $[1/d_i]$", ylabel=f"power  $[{_squared(unit)} d_i]$" if unit else "power")
    return figure


def _squared(unit: str) -> str:
    return f"({unit})^2" if " " in unit else f"{unit}^2"


# ---------------------------------------------------------------- probes

COLUMNS = {"bx": "B/x", "by": "B/y", "bz": "B/z", "ex": "E/x", "ey": "E/y", "ez": "E/z", "jx_i": "J_i/x", "jy_i": "J_i/y",
           "jz_i": "J_i/z"}
MOST_CURVES = 8


def probe(run: Run, name: str | None = None, column: str | None = None, limits: tuple[float, float] | None = None,
          cmap: str | None = None) -> Figure:
    """A column of [probe.NAME] in time: a curve for each of a few points, a map of the way along them for many."""
    if not run.probes:
        raise ValueError(f"{run.directory} holds no values at points ([probe.NAME])")
    data = run.probe(name or next(iter(run.probes)))
    column = column or next(c for c in ("bz", *data.columns) if c in data.columns)
    values, label = data[column], label_of(COLUMNS.get(column, column))
    if len(data.x) > MOST_CURVES and len(data.time) > 1:
        figure, axes = new_figure(7.4, 4.8)
        colours = colours_of(values) | ({"vmin": limits[0], "vmax": limits[1]} if limits else {})
        colours |= {"cmap": cmap} if cmap else {}
        image = axes.pcolormesh(data.distance, data.time, values, rasterized=True, shading="nearest", **colours)
        axes.set(xlabel=f"way from ({data.x[0]:.4g}, {data.y[0]:.4g}) to ({data.x[-1]:.4g}, {data.y[-1]:.4g})  $[d_i]$",
                 ylabel="$t\\,\\Omega_{ci}$")
        figure.colorbar(image, ax=axes, label=label, pad=0.02)
        return figure
    figure, axes = new_figure()
    for x, y, curve in list(zip(data.x, data.y, values.T))[:MOST_CURVES]:
        axes.plot(data.time, curve, label=f"({x:.4g}, {y:.4g})")
    axes.set(xlabel="$t\\,\\Omega_{ci}$", ylabel=label, ylim=limits)
    axes.legend(title="$(x, y)$  $[d_i]$", loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def colours_of(values: np.ndarray) -> dict:
    """Diverging about 0 where the values have both signs, sequential otherwise; extremes of 0.1 % are clipped."""
    low, high = np.nanpercentile(values, (0.1, 99.9))
    if low < 0 < high and min(-low, high) > 0.1 * max(-low, high):
        bound = max(-low, high)
        return {"cmap": "RdBu_r", "vmin": -bound, "vmax": bound}
    return {"cmap": "viridis", "vmin": low, "vmax": high if high > low else low + 1}
