"""Pictures of runs: spectrum with theory, energies, fields, anisotropy, distributions, orbits, probes, movies.

Every function but `growth`, which draws into axes, returns a matplotlib figure, which a notebook shows; `save` writes it to
a file. The backend of matplotlib is the user's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from . import maps
from .counts import Distribution
from .errors import RunError
from .figure import STYLE, label_of, new_figure, pretty_unit, save, sign, time_of, unit_of
from .film import movie
from .maps import Picture, colours_of, picture_of, title_of
from .openpmd import Fields
from .run import Run
from .spectrum import (Transverse, cold_plasma, fit_rate, in_window, meshes_of, modes, omega_k, power_over_k, times_are_even, transverse,
                       window_of_growth)
from .theory import ColdPlasma

__all__ = ["STYLE", "anisotropy", "colours_of", "distribution", "energy", "energy_groups", "fields", "growth", "growing_modes", "label_of", "movie",
           "new_figure", "orbits", "power", "pretty_unit", "probe", "save", "spectrum", "spectrum_of"]


# ---------------------------------------------------------------- spectrum


def spectrum(data: Transverse, points: Sequence[tuple[float, float]] = (), k_max: float | None = None,
             omega_max: float | None = None, title: str = "", plasma: ColdPlasma | None = ColdPlasma(),
             cold_theory: bool = True) -> Figure:
    """|b(omega, k)|^2 of b = B_y + i B_z, the cold dispersion of a plasma over it (dashed) and measured points (k, omega).
    `plasma`: by default with B = B0 along +x and n = n0; None where the theory does not apply. `cold_theory`: whether it is
    drawn.

    With B0 along +x, up (omega > 0) is left-handed and down right-handed; with B0 along -x it is the other way round.
    k > 0 and omega > 0, or both negative, runs along +x.
    """
    if not times_are_even(data.t):
        raise ValueError("the field outputs are not equidistant in time")
    omega, k, power = omega_k(data.b, data.t[1] - data.t[0], data.length / len(data.x))
    if not np.isfinite(power).all() or not power[:, np.abs(k) > 0].max() > 0:
        raise ValueError("B_y and B_z have no waves: they are 0, or not finite, or the same everywhere")
    some = plasma or ColdPlasma()
    k_max = k_max or min(np.abs(k).max(), 4.0)
    omega_max = omega_max or min(np.abs(omega).max(), 1.2 * abs(float(some.omega(k_max, "R"))))
    figure, axes = new_figure(7.4, 5.9)
    top = np.log10(power[:, np.abs(k) > 0].max())
    image = axes.pcolormesh(k, omega, np.log10(power + 1e-300), cmap="magma", vmin=top - 6, vmax=top, shading="nearest",
                            rasterized=True)
    slow = max(0.3 * omega_max, min(2 * abs(some.gyration), omega_max)) if plasma else omega_max  # L stays below gyration
    axes.set(xlim=(-k_max, k_max), ylim=(-omega_max, slow) if some.gyration > 0 else (-slow, omega_max),
             xlabel="$k\\,d_i$", ylabel="$\\omega/\\Omega_{ci}$")
    axes.set_facecolor("black")  # as the weakest power
    _name_quadrants(axes, plasma)
    if plasma and cold_theory:
        _draw_cold(axes, k_max, plasma)
    if len(points):
        axes.plot(*np.transpose(points), "o", ms=9, mfc="none", mec="#35a0ff", mew=1.8, label="measured")
    has_legend = (plasma is not None and cold_theory) or len(points) > 0
    axes.set_title(title or f"$B_y + iB_z$, $t\\,\\Omega_{{ci}} = {data.t[0]:.6g}$ to ${data.t[-1]:.6g}$",
                   pad=26 if has_legend else None)
    if has_legend:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, borderaxespad=0.2)
    figure.colorbar(image, ax=axes, label="$\\log_{10}\\,|b(\\omega,k)|^2$  $[B_0^2]$", pad=0.02, extend="min")
    return figure


def _name_quadrants(axes, plasma: ColdPlasma | None) -> None:
    """In which direction waves run, and where B0 is along x how they turn."""
    above, below = ("", "") if plasma is None else ("L, ", "R, ") if plasma.gyration > 0 else ("R, ", "L, ")
    for x, y, text in ((.97, .97, f"{above}to $+x$"), (.03, .97, f"{above}to $-x$"), (.62, .04, f"{below}to $-x$"),
                       (.38, .04, f"{below}to $+x$")):
        axes.text(x, y, text, transform=axes.transAxes, color="white", ha="right" if x in (.97, .38) else "left",
                  va="top" if y > .5 else "bottom")


def _draw_cold(axes, k_max: float, plasma: ColdPlasma) -> None:
    k = np.linspace(0, k_max, 400)[1:]
    outline = [patheffects.Stroke(linewidth=2.6, foreground="black"), patheffects.Normal()]
    for branch, sign in (("L", 1), ("R", -1)):
        for side in (1, -1):
            first = branch == "L" and side == 1
            axes.plot(side * k, sign * plasma.omega(k, branch), "--", color="white", lw=1.3,
                      path_effects=outline, label="cold theory" if first else None)


def growth(axes, t: np.ndarray, waves: Sequence[np.ndarray], rate: float, window: tuple[float, float], colour: str,
           label: str) -> None:
    """Draws |waves| of one mode over time into axes with a logarithmic scale. Dashed: growth with `rate`, inside `window`,
    through the mean of the logarithms there."""
    inside = in_window(t, window)
    for i, wave in enumerate(waves):
        axes.semilogy(t[1:], np.abs(wave[1:]), color=colour, lw=1.1, alpha=.75, label="" if i else label)
    level = np.mean([np.log(np.abs(wave[inside])).mean() for wave in waves])
    axes.semilogy(t[inside], np.exp(level + rate * (t[inside] - t[inside].mean())), "k--", lw=1.5)


def growing_modes(run: Run, record: str = "B", periods: tuple[int, int] | None = None, window: tuple[float, float] | None = None,
                  source: str | None = None, count: int = 4) -> tuple[Figure, list[str]]:
    """The amplitudes in time of the waves that have grown most, or of the one with so many `periods` along x and y. Each has its growth
    rate in a window of time: the given one, or window_of_growth. Returns the picture, and a line of text for each wave."""
    data = modes(run, record, source)
    chosen = [periods] if periods is not None else data.grown(count)
    if not chosen:
        raise ValueError(f"no wave of {record} has grown")
    amplitudes = [data.of(x, y) for x, y in chosen]
    if not all((amplitude[1:] > 0).all() for amplitude in amplitudes):
        raise ValueError(f"a wave of {record} with these periods has no amplitude")
    figure, axes = new_figure()
    lines = []
    for n, ((x, y), amplitude) in enumerate(zip(chosen, amplitudes)):
        colour = f"C{n}"
        wave = f"{x} and {y} periods along x and y, k = ({x * data.k0[0]:.4g}, {y * data.k0[1]:.4g})"
        fitted = window or window_of_growth(data.t, amplitude)
        if fitted is None:
            axes.semilogy(data.t[1:], amplitude[1:], color=colour, lw=1.1, alpha=.75, label=f"{x}, {y}")
            lines.append(f"{wave}: no clear growth")
            continue
        rate = fit_rate(data.t, amplitude, fitted)
        growth(axes, data.t, [amplitude], rate.value, fitted, colour, f"{x}, {y}: $\\gamma = {rate.value:.3g}$")
        lines.append(f"{wave}: gamma = {rate.value:.4g} +- {rate.error:.2g} from t = {fitted[0]:.6g} to {fitted[1]:.6g}")
    axes.set(xlabel="$t\\,\\Omega_{ci}$", ylabel=f"amplitude of {record}", title="Waves that grow")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), title="periods along $x$, $y$")
    sign(figure, run, record, f"{len(data.t)} steps, t = {data.t[0]:.6g} to {data.t[-1]:.6g}")
    return figure, lines


def spectrum_of(run: Run, cold_theory: bool = True, **options) -> Figure:
    """The spectrum of a run, with the theory of its plasma where that applies; else the title says why it does not."""
    data, plasma = transverse(run), None
    try:
        plasma = cold_plasma(run)
    except RunError as error:
        if cold_theory:
            options.setdefault("title", f"$B_y + iB_z$. No theory: {error}")
    figure = spectrum(data, plasma=plasma, cold_theory=cold_theory, **options)
    sign(figure, run, "fields", f"{len(data.t)} steps, t = {data.t[0]:.6g} to {data.t[-1]:.6g}, mean over y")
    return figure


# ---------------------------------------------------------------- energies


def energy(run: Run, log: bool = False) -> Figure:
    """Kinetic energy of every species, magnetic energy, and their change since the start. `log`: the size of the changes
    on a logarithmic axis, where growth with one rate is a straight line."""
    series = run.series
    groups = energy_groups(series.names)
    if not groups:
        raise ValueError("the series has no columns kinetic_* or magnetic_*")
    if not len(series):
        raise ValueError("the series has no row yet")
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
    upper.set(ylabel=f"energy{unit}", title="Energies")
    lower.set(ylabel=f"change{unit}", xlabel="$t\\,\\Omega_{ci}$")
    if log:
        lower.set(yscale="log", ylabel=f"|change|{unit}")
    else:
        lower.axhline(0, color="0.7", lw=0.8, zorder=0)
    upper.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    sign(figure, run, "series.csv")
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


# ---------------------------------------------------------------- fields


def fields(run: Run, name: str, step: int | None = None, source: str | None = None,
           limits: tuple[float, float] | None = None, cmap: str | None = None) -> Figure:
    """A map of one mesh, or a line where it has one row of cells. `source`: the output that holds it, "fields" or the NAME
    of [output.NAME]; by default the first one that does. `step`: by default the last one. `limits`: of the colours."""
    source, steps = run.source_of(name, source)
    with run.frame(source, steps[-1] if step is None else step) as frame:
        picture, title = picture_of(frame, name, size=run.size), title_of(frame, name)
    figure = maps.draw(picture, label_of(name, run), title, limits, cmap)[0]
    _sign_picture(figure, run, frame, picture)
    return figure


def _sign_picture(figure: Figure, run: Run, frame: Fields, picture: Picture) -> None:
    sign(figure, run, _name_of(run, frame.file), picture.places(), maps.note_on(picture.values))


def _name_of(run: Run, file: Path) -> str:
    """The name of a file in the directory of a run."""
    return file.relative_to(run.directory).as_posix()


def anisotropy(run: Run, species: str | None = None, step: int | None = None, source: str | None = None,
               limits: tuple[float, float] | None = None, cmap: str | None = None) -> Figure:
    """T_perp/T_par of a species, from an [output.NAME] with `temperature`."""
    species = species or run.species[0]
    par, perp = f"T_par_{species}", f"T_perp_{species}"
    source, steps = run.source_of(par, source)
    with run.frame(source, steps[-1] if step is None else step) as frame, np.errstate(divide="ignore", invalid="ignore"):
        picture = picture_of(frame, par, frame[perp] / frame[par], run.size)
        title = title_of(frame, par)
    label, logarithms = f"$T_\\perp/T_\\parallel$, {species}", None
    positive = picture.values[np.isfinite(picture.values) & (picture.values > 0)]
    if limits is None and not picture.is_line and positive.size:
        bound = max(np.exp(np.abs(np.percentile(np.log(positive), (0.5, 99.5))).max()), 1.1)
        logarithms = LogNorm(1 / bound, bound)
    figure, _, drawn = maps.draw(picture, label, title, limits, cmap, logarithms)
    if logarithms:
        all_ticks = (.05, .1, .2, .3, .5, .7, 1, 1.5, 2, 3, 5, 10, 20) if bound > 1.6 else (.7, .8, .9, 1, 1.1, 1.25, 1.5)
        ticks = [tick for tick in all_ticks if 1 / bound <= tick <= bound]
        drawn.colorbar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
        drawn.colorbar.minorticks_off()
    _sign_picture(figure, run, frame, picture)
    return figure


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
    title, label = f"{species}, {time_of(data.time)}", f"$f${pretty_unit(density_unit(data))}"
    note = "" if (values > 0).any() else "no particles in the bins"
    words = _name_of(run, data.file), note
    if values.ndim == 1:
        figure, axes = new_figure()
        sign(figure, run, *words)
        axes.stairs(values, data.edges[0], lw=1.8)
        axes.set(xlabel=AXES[data.axes[0]], ylabel=label, title=title, ylim=limits)
        if limits is None and (values > 0).any():
            axes.set_yscale("log")
        return figure
    if limits is None:
        top = values.max() if values.max() > 0 else 1
        limits = (min(max(values[values > 0].min(initial=top), 1e-6 * top), 0.5 * top), top)
    is_alike = data.units[0] == data.units[1]
    aspect = np.ptp(data.edges[1]) / np.ptp(data.edges[0])
    figure, axes = new_figure(6.8, min(max(5.4 * aspect + 1, 2.6), 7.0) if is_alike else 4.8)
    image = axes.pcolormesh(data.edges[0], data.edges[1], np.where(values > 0, values, np.nan).T, cmap=cmap,
                            norm=LogNorm(*limits), rasterized=True)
    axes.set(xlabel=AXES[data.axes[0]], ylabel=AXES[data.axes[1]], title=title)
    axes.set_aspect("equal" if is_alike else "auto")
    figure.colorbar(image, ax=axes, label=label, pad=0.02)
    sign(figure, run, *words)
    return figure


def density_unit(data: Distribution) -> str:
    """The unit of the density in the first two axes of a distribution."""
    powers = {"n0": 1, "d_i": 2}
    for axis, unit in list(zip(data.axes, data.units))[:2]:
        powers[unit] = powers.get(unit, 0) - (2 if axis == "v_perp" and "gyrophase" not in data.axes else 1)
    written = {True: [], False: []}
    for unit, power in powers.items():
        name = f"({unit})" if " " in unit else unit
        if power:
            written[power > 0].append(name if abs(power) == 1 else f"{name}^{abs(power)}")
    below = " ".join(written[False])
    return " ".join(written[True]) + (f" / {below}" if len(written[False]) == 1 else f" / ({below})" if below else "")


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
    sign(figure, run, f"tracks/{track.name}", "dot: begins, cross: has left")
    return figure


# ---------------------------------------------------------------- power over k


def power(run: Run, record: str = "B", step: int | None = None, source: str | None = None) -> Figure:
    """The power of a record over |k| at a step: its mean square is the integral of it. A vector has a curve for each of
    its components and one for their sum."""
    meshes, source, steps = meshes_of(run, record, source)
    figure, axes = new_figure()
    total = 0.0
    with run.frame(source, steps[-1] if step is None else step) as frame:
        for name in meshes:
            values = frame[name]
            if not np.isfinite(values).all():
                raise ValueError(f"{name} has no power over k: {maps.note_on(values)}")
            k, density = power_over_k(values, frame.spacing(name))
            total = total + density
            axes.loglog(k, density, lw=1.2 if len(meshes) > 1 else 1.8, label=label_of(name).split("  ")[0])
        axes.set_title(title_of(frame, meshes[0]))
    if not (total > 0).any():
        plt.close(figure)
        raise ValueError(f"{record} has no power over k: it is the same everywhere")
    if len(meshes) > 1:
        axes.loglog(k, total, "k", label="sum")
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    unit = unit_of(meshes[0])
    axes.set(xlabel="$k$  $[1/d_i]$", ylabel=f"power  $[{_squared(unit)} d_i]$" if unit else "power")
    sign(figure, run, _name_of(run, frame.file))
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
    values, label = data[column], label_of(COLUMNS.get(column, column), run)
    is_map = len(data.x) > MOST_CURVES and len(data.time) > 1
    figure, axes = new_figure(*((7.4, 4.8) if is_map else (7.0, 4.6)))
    if is_map:
        colours = colours_of(values) | ({"vmin": limits[0], "vmax": limits[1]} if limits else {})
        colours |= {"cmap": cmap} if cmap else {}
        image = axes.pcolormesh(data.distance, data.time, np.ma.masked_invalid(values), rasterized=True, shading="nearest",
                                **colours)
        axes.set(xlabel=f"way from ({data.x[0]:.4g}, {data.y[0]:.4g}) to ({data.x[-1]:.4g}, {data.y[-1]:.4g})  $[d_i]$",
                 ylabel="$t\\,\\Omega_{ci}$", ylim=(data.time[0], data.time[-1]), facecolor=maps.GREY)
        if data.distance[-1] > 0:
            axes.set_xlim(0, data.distance[-1])
        figure.colorbar(image, ax=axes, label=label, pad=0.02, extend=maps.beyond(values, *image.get_clim()))
    else:
        for x, y, curve in list(zip(data.x, data.y, values.T))[:MOST_CURVES]:
            axes.plot(data.time, curve, label=f"({x:.4g}, {y:.4g})")
        axes.set(xlabel="$t\\,\\Omega_{ci}$", ylabel=label, ylim=limits)
        axes.legend(title="$(x, y)$  $[d_i]$", loc="upper left", bbox_to_anchor=(1.01, 1))
    sign(figure, run, f"probes/{data.name}", maps.note_on(values))
    return figure
