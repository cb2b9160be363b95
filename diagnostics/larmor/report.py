"""A run on one page: an HTML file that needs no other file."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Iterator

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from . import plot
from .errors import RunError
from .run import Run

STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2 { font-weight: 600; } table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; }
figure { display: inline-block; vertical-align: top; margin: 0 1rem 1.5rem 0; max-width: 29rem; } img { max-width: 100%; }
figcaption { font-size: 14px; color: #444; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: #f4f4f4; padding: 1rem; overflow-x: auto; font-size: 14px; } .bad { color: #a02020; }"""

# What a page shows of the values on the grid, where the run has them, and what a reader should look for.
MESHES = {
    "B/x": "Magnetic field along x at the last output: look for bends of the field lines and for current sheets, where it "
           "changes its sign.",
    "B/y": "Magnetic field along y at the last output: look for waves and for bends of the field lines.",
    "B/z": "Magnetic field out of the plane at the last output: look for waves, and for compression where it follows the density.",
    "J/z": "Current out of the plane, curl B: look for sheets; sheets as thin as a cell are not resolved.",
    "T_e": "Temperature of the electrons: look for heating where currents are strong or plasma is compressed.",
    "J_dot_E": "Power that the fields give to the particles in a volume, below 0 where they take it: look where energy changes "
               "its form.",
}
OF_SPECIES = {
    "n_{}": "Number density of {} at the last output: look for empty cells, for steep fronts, and for noise from cell to cell, "
            "which falls as one over the root of the particles in a cell.",
    "u_{}/x": "Bulk velocity of {} along x: look for flows, for their changes at fronts, and for cells without particles, "
              "which are grey.",
}
ENERGY = ("Energies over time, and below their changes since the start: look for growth, and whether the total stays where it "
          "was but for sources and open sides.")
SPECTRUM = ("Power of the waves along x over wave number and frequency: look for ridges, which are waves, and whether they "
            "follow the dashed lines of the theory of cold waves where it is drawn.")
ANISOTROPY = ("Temperature across B over that along B of {}: look for values far from 1, which drive instabilities (firehose "
              "below, mirror and cyclotron above).")
DISTRIBUTION = ("Particles of {} in the bins of [distribution.{}] at the last output: look for beams, for tails and for what the "
                "ends of the axes cut.")
PROBE = "Values at the points of [probe.{}] over time: look for waves that pass, as stripes or as oscillations."
TRACK = "Orbits of ions of [track.{}] and their energies over time: look for reflections, for trapping and for jumps of energy."


def _picture(title: str, caption: str, figure: Figure) -> str:
    """The figure as a part of the page."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    plt.close(figure)
    code = base64.b64encode(data.getvalue()).decode("ascii")
    return (f'<figure><img alt="{html.escape(title)}" src="data:image/png;base64,{code}">'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>\n")


def _meshes(run: Run) -> dict[str, str]:
    """Names and captions."""
    return MESHES | {name.format(species): text.format(species) for species in run.species for name, text in OF_SPECIES.items()}


def _is_zero(run: Run, name: str) -> bool:
    """Whether a mesh is 0 everywhere in all outputs, the last one first."""
    source, steps = run.source_of(name)
    for step in reversed(steps):
        with run.frame(source, step) as frame:
            if frame[name].any():
                return False
    return True


def _figures(run: Run) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    """Titles, captions, and what may be drawn; drawing what the run does not have raises."""
    yield "energies", ENERGY, lambda: plot.energy(run)
    for name, text in _meshes(run).items():
        yield name, text, lambda name=name: plot.fields(run, name)
    yield "spectrum", SPECTRUM, lambda: _spectrum(run)
    for species in run.species:
        yield f"anisotropy of {species}", ANISOTROPY.format(species), lambda species=species: plot.anisotropy(run, species)
    for name in run.distributions:
        for species in run.distribution(name).species:
            yield (f"{name}, {species}", DISTRIBUTION.format(species, name),
                   lambda name=name, species=species: plot.distribution(run, name, species))
    for name in run.probes:
        yield f"probe {name}", PROBE.format(name), lambda name=name: plot.probe(run, name)
    for name in run.tracks:
        yield f"orbits of {name}", TRACK.format(name), lambda name=name: plot.orbits(run, name)


def _spectrum(run: Run) -> Figure:
    """Of fewer outputs the frequencies would say little."""
    if len(run.field_steps) < 32:
        raise RunError("a spectrum needs more outputs of the fields")
    return plot.spectrum_of(run)


def _pictures(run: Run) -> str:
    parts, zeros, meshes = [], [], _meshes(run)
    for title, caption, draw in _figures(run):
        try:
            if title in meshes and _is_zero(run, title):
                zeros.append(html.escape(title))
            else:
                parts.append(_picture(title, caption, draw()))
        except (RunError, ValueError, KeyError, OSError):
            continue  # the run has no such output, or its file is damaged
    if zeros:
        parts.append(f"<p>Not drawn, because it is 0 in all outputs: {', '.join(zeros)}.</p>\n")
    return "".join(parts) or "<p>The run has neither a time series nor outputs.</p>\n"


def _row(name: str, value: object) -> str:
    return f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>\n"


def _table(rows: list[tuple[str, object]]) -> str:
    return "<table>\n" + "".join(_row(name, value) for name, value in rows) + "</table>\n"


def _number(value: float | None, unit: str) -> str:
    return "not finite" if value is None else f"{value:.4g} {unit}"


def _budget(summary: dict) -> list[tuple[str, str]]:
    """What of the change of energy is unexplained; runs of earlier versions do not say."""
    energy = summary.get("energy")
    if energy is None:
        return []
    if energy["judged"] == "nothing":
        return [("unexplained change", f"not judged: {energy['because']}")]
    return [("unexplained change", _number(energy["share"], "of the energy that can change"))]


def _numbers(run: Run, summary: dict) -> str:
    grid, steps = run.settings["grid"], f"{summary['first_step']} to {summary['last_step']}"
    rows = [("ended", summary["ended"]), ("program", summary["software"]), ("machine", summary["device"]),
            ("cells", f"{grid['nx']} x {grid['ny']}"), ("steps", f"{steps}, t = {summary['time']:g} / Omega_ci"),
            ("particles", f"{summary['particles']:.4g}"),
            ("speed", _number(summary["particle_steps_per_second"], "particle-steps/s")),
            ("duration", _number(summary["seconds_total"], "s")),
            ("change of energy", _number(summary["energy_drift"], "of the energy at the start")),
            *_budget(summary),
            ("fingerprint", summary["fingerprint"])]
    return _table(rows)


LEDGER = ("<p>Every particle that was loaded or came in is present or was lost, so the residual has to be 0. Weights are "
          "in n<sub>0</sub> d<sub>i</sub><sup>2</sup>, energies in n<sub>0</sub> m<sub>p</sub> v<sub>A</sub><sup>2</sup> "
          "d<sub>i</sub><sup>2</sup>.</p>\n")


def _ledger(summary: dict) -> str:
    """A table of the accounts of each species; the accounts have a number, a weight and an energy."""
    rows = []
    for species in summary["species"]:
        name, ledger = species["name"], species["ledger"]
        rows.append((name, "loaded", ledger["loaded"], None, None))
        for kind, word in (("injected", "came in by"), ("lost", "lost by")):
            rows += [(name, f"{word} {way}", account["number"], account["weight"], account["energy"])
                     for way, account in ledger[kind].items()]
        rows += [(name, f"exchange: {way}", account["number"], account["weight"], account["energy"])
                 for way, account in ledger.items() if way not in ("injected", "lost") and isinstance(account, dict)]
        rows += [(name, word, ledger[word], None, None) for word in ("present", "residual")]
    head = "".join(f'<th{_right(column)}>{text}</th>' for column, text in enumerate(("species", "account", "particles", "weight",
                                                                                   "energy")))
    body = "".join("<tr>" + "".join(f"<td{_right(column)}>{html.escape(_cell(value))}</td>" for column, value in enumerate(row))
                   + "</tr>\n" for row in rows)
    return f"{LEDGER}<table>\n<tr>{head}</tr>\n{body}</table>\n"


def _right(column: int) -> str:
    return ' class="number"' if column > 1 else ""


def _cell(value: object) -> str:
    """A text, a whole number with all its digits, or a measured number; empty where there is none."""
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _warnings(summary: dict) -> str:
    if not summary["warnings"]:
        return "<p>The program gave no warnings.</p>\n"
    return '<ul class="bad">\n' + "".join(f"<li>{html.escape(str(text))}</li>\n" for text in summary["warnings"]) + "</ul>\n"


def page(run: Run) -> str:
    """The page of a run. A run that has not ended, and so has no run.json, gets its pictures and settings."""
    name = html.escape(run.directory.resolve().name)
    parts = [f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{name}</title>\n<style>{STYLE}'
             f"</style>\n</head>\n<body>\n<h1>{name}</h1>\n"]
    summary = run.summary if (run.directory / "run.json").exists() else None
    if summary:
        parts += [_numbers(run, summary), "<h2>Warnings</h2>\n", _warnings(summary)]
    else:
        parts.append('<p class="bad">The run has not ended: there is no run.json.</p>\n')
    parts += ["<h2>Pictures</h2>\n", _pictures(run)]
    if summary:
        parts += ["<h2>Ledger of particles</h2>\n", _ledger(summary)]
    settings = (run.directory / "run.ini").read_text(encoding="utf-8")
    parts.append(f"<h2>Settings</h2>\n<pre>{html.escape(settings)}</pre>\n</body>\n</html>\n")
    return "".join(parts)
