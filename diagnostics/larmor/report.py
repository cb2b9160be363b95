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
figure { display: inline-block; margin: 0 1rem 1rem 0; max-width: 30rem; } img { max-width: 100%; }
pre { background: #f4f4f4; padding: 1rem; overflow-x: auto; font-size: 14px; } .bad { color: #a02020; }"""

# What a page shows of the values on the grid, where the run has them.
MESHES = ("B/x", "B/y", "B/z", "J/z", "T_e", "J_dot_E")
OF_SPECIES = ("n_{}", "u_{}/x")


def _picture(title: str, figure: Figure) -> str:
    """The figure as a part of the page."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    plt.close(figure)
    code = base64.b64encode(data.getvalue()).decode("ascii")
    return f'<figure><img alt="{html.escape(title)}" src="data:image/png;base64,{code}"></figure>\n'


def _figures(run: Run) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """What may be drawn; drawing what the run does not have raises."""
    yield "energies", lambda: plot.energy(run)
    names = MESHES + tuple(name.format(species) for species in run.species for name in OF_SPECIES)
    for name in names:
        yield name, lambda name=name: plot.fields(run, name)
    for species in run.species:
        yield f"anisotropy of {species}", lambda species=species: plot.anisotropy(run, species)
    for name in run.distributions:
        for species in run.distribution(name).species:
            yield f"{name}, {species}", lambda name=name, species=species: plot.distribution(run, name, species)

    for name in run.probes:
        yield f"probe {name}", lambda name=name: plot.probe(run, name)
    for name in run.tracks:
        yield f"orbits of {name}", lambda name=name: plot.orbits(run, name)

def _pictures(run: Run) -> str:
    parts = []
    for title, draw in _figures(run):
        try:
            parts.append(_picture(title, draw()))
        except (RunError, ValueError, KeyError, OSError):
            continue  # the run has no such output, or its file is damaged
    return "".join(parts) or "<p>The run has neither a time series nor outputs.</p>\n"


def _row(name: str, value: object) -> str:
    return f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>\n"


def _table(rows: list[tuple[str, object]]) -> str:
    return "<table>\n" + "".join(_row(name, value) for name, value in rows) + "</table>\n"


def _number(value: float | None, unit: str) -> str:
    return "not finite" if value is None else f"{value:.4g} {unit}"


def _numbers(run: Run, summary: dict) -> str:
    grid, steps = run.settings["grid"], f"{summary['first_step']} to {summary['last_step']}"
    rows = [("ended", summary["ended"]), ("program", summary["software"]), ("machine", summary["device"]),
            ("cells", f"{grid['nx']} x {grid['ny']}"), ("steps", f"{steps}, t = {summary['time']:g} / Omega_ci"),
            ("particles", f"{summary['particles']:.4g}"),
            ("speed", _number(summary["particle_steps_per_second"], "particle-steps/s")),
            ("duration", _number(summary["seconds_total"], "s")),
            ("change of energy", _number(summary["energy_drift"], "of the energy at the start")),
            ("fingerprint", summary["fingerprint"])]
    return _table(rows)


def _ledger(summary: dict) -> str:
    rows = []
    for species in summary["species"]:
        ledger = species["ledger"]
        for kind in ("injected", "lost"):
            rows += [(f"{species['name']}, {kind}: {channel}", number) for channel, number in ledger[kind].items()]
        rows += [(f"{species['name']}, {word}", ledger[word]) for word in ("loaded", "present", "residual")]
    return _table(rows)


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
        parts += ["<h2>Particles</h2>\n", _ledger(summary)]
    settings = (run.directory / "run.ini").read_text(encoding="utf-8")
    parts.append(f"<h2>Settings</h2>\n<pre>{html.escape(settings)}</pre>\n</body>\n</html>\n")
    return "".join(parts)
