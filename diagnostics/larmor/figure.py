"""What all figures share: style, the names and units of quantities, and the line that says where a figure comes from."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from .run import Run

STYLE = {
    "font.size": 12, "axes.titlesize": 13, "axes.labelsize": 13, "legend.fontsize": 10, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 110, "savefig.dpi": 160, "lines.linewidth": 1.8,
    "axes.prop_cycle": matplotlib.cycler(color=["#1b6ca8", "#c8553d", "#4a8f5b", "#8a5a9e", "#b8860b", "#555555"]),
}
LONGEST_NAME = 48  # characters of a run's name that a figure shows
NAMES = {"J_dot_E": "\\mathbf{J}\\cdot\\mathbf{E}", "heating_resistive": "\\mathbf{J}\\cdot\\mathbf{E}_\\mathrm{resistive}",
         "heating_compression": "-p_e\\nabla\\cdot\\mathbf{u}_e"}
POWER = "n_0 m_p v_A^2 \\Omega_{ci}"
UNITS = {**{name: POWER for name in NAMES}, "B": "B_0", "E": "v_A B_0", "J": "e n_0 v_A", "rho": "e n_0", "n": "n_0", "p": "B_0^2/\\mu_0",
         "u": "v_A", "P": "B_0^2/\\mu_0", "T": "m_p v_A^2", "Q": "n_0 m_p v_A^3", "background_electrons": "(B_0^2/\\mu_0)^{1/\\gamma}"}


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


def sign(figure, run: Run, file: str, *notes: str) -> None:
    """Writes small grey words below a figure: the name of the run, the file or files in it, and notes. They are the last words
    of a figure, which then fits around a map with equal scales."""
    name = run.name if len(run.name) <= LONGEST_NAME else run.name[:LONGEST_NAME - 3] + "..."
    text = ", ".join([f"{name}/{file}", *filter(None, notes)])
    figure.supxlabel(text.replace("$", "\\$"), x=0.99, ha="right", fontsize=8, color="0.45")
    maps = [axes for axes in figure.axes if axes.get_aspect() != "auto"]
    if len(maps) == 1:
        _fit(figure, maps[0])


def _fit(figure, axes) -> None:
    """Gives the figure the size that its map, with equal scales along x and y, needs with the words around it. The layout of
    matplotlib does not know the shape of the map: it would cut words off, and make the colour bar higher than the map. It
    gives the size of the map without drawing."""
    aspect, wanted = axes.get_aspect(), None
    axes.set_aspect("auto")
    for _ in range(2):  # a figure of another size may have other numbers at its axes
        figure.get_layout_engine().execute(figure)
        size = axes.get_position().size * figure.get_size_inches()
        ratio = aspect * axes.get_data_ratio()
        wanted = (min(size[0], size[1] / ratio), min(size[1], size[0] * ratio)) if wanted is None else wanted
        figure.set_size_inches(figure.get_size_inches() + wanted - size)
    axes.set_aspect(aspect)


def time_of(time: float) -> str:
    """TeX of a time, for a title."""
    return f"$t\\,\\Omega_{{ci}} = {time:.6g}$"


def unit_of(name: str) -> str:
    """TeX of the unit of a mesh, by its record's name."""
    record = name.split("/")[0]
    return UNITS.get(record) or UNITS.get(record.split("_")[0], "")


def label_of(name: str, run: Run | None = None) -> str:
    """TeX of a mesh and its unit. A background field has its plain name, and a unit where the settings of the run say its
    kind."""
    record, _, component = name.partition("/")
    if record in NAMES:
        return f"${NAMES[record]}$  [${unit_of(name)}$]"
    symbol, _, species = record.partition("_")
    if symbol == "background":
        return species + (f"  [${UNITS[record]}$]" if record in UNITS else _background_unit(species, run))
    directions = {"par": "\\parallel", "perp": "\\perp"}
    direction, _, rest = species.partition("_")
    if symbol == "T" and direction in directions:
        component, species = directions[direction], rest
    plain = species.replace("_", "\\_")
    index = ",\\,".join(part for part in (component, f"\\mathrm{{{plain}}}" if plain else "") if part)
    symbol = "\\rho" if symbol == "rho" else symbol
    unit = unit_of(name)
    return f"${symbol}{f'_{{{index}}}' if index else ''}$" + (f"  [${unit}$]" if unit else "")


def _background_unit(name: str, run: Run | None) -> str:
    section = run.section(f"background.{name}") if run else {}
    if not section:
        return ""
    return "  [$n_0$]" if section.get("kind") == "neutral_gas" else "  [no unit]"


def pretty_unit(unit: str) -> str:
    """[unit] for a label, with mu0 and the like in TeX."""
    if not unit:
        return ""
    for plain, tex in (("mu0", "\\mu_0"), ("B0", "B_0"), ("n0", "n_0"), ("d_i", "d_i"), ("Omega_ci", "\\Omega_{ci}")):
        unit = unit.replace(plain, tex)
    return "  $[" + unit.replace(" ", "\\,") + "]$" if "\\" in unit or "_" in unit else f"  [{unit}]"
