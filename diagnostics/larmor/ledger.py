"""The ledger of particles, which closes in every row: loaded + came in - lost - present is 0, in integers."""

from __future__ import annotations

import numpy as np

from . import verify
from .errors import RunError
from .run import Run

SIDES = ("x_min", "x_max", "y_min", "y_max")


def of(run: Run, species: str) -> dict:
    """The ledger of a species in run.json: loaded, injected, lost, present, residual, ..."""
    ledgers = {one["name"]: one["ledger"] for one in run.summary["species"]}
    if species not in ledgers:
        raise RunError(f"no species {species!r} in {run.directory}; there are: {', '.join(ledgers)}")
    return ledgers[species]


def particle_weight(run: Run, species: str, way: str) -> float:
    """The weight of one particle that came in by "x_min", "ionised", ...; all of them weigh the same."""
    account = of(run, species)["injected"][way]
    return account["weight"] / account["number"]


def lost_by(run: Run, species: str) -> dict[str, str]:
    """The ways to be lost and the columns of the series that count them: x_min is leak_x_min_SPECIES."""
    return {way: f"leak_{way}_{species}" if way in SIDES else f"{way}_{species}" for way in of(run, species)["lost"]}


def came_by(run: Run, species: str) -> dict[str, str]:
    """The ways to come in and the columns of the series that count them."""
    return {way: f"injected_{way}_{species}" if way in SIDES else f"{way}_{species}"
            for way in of(run, species)["injected"]}


def missing(run: Run, species: str) -> float:
    """The largest |loaded + came in - lost - present| of run.json and of any row of the series. The series counts
    particles only where they can come in or be lost."""
    ledger, series = of(run, species), run.series
    came = sum(account["number"] for account in ledger["injected"].values())
    lost = sum(account["number"] for account in ledger["lost"].values())
    end = abs(ledger["loaded"] + came - lost - ledger["present"])
    if f"present_{species}" not in series:
        return float(end)
    came = sum(series[column] for column in came_by(run, species).values())
    lost = sum(series[column] for column in lost_by(run, species).values())
    return float(max(end, np.abs(ledger["loaded"] + came - lost - series[f"present_{species}"]).max()))


def residual(run: Run, species: str) -> float:
    """The largest residual that the program itself has found, in run.json and in any row of the series."""
    column, end = f"ledger_residual_{species}", abs(of(run, species)["residual"])
    return float(max(end, np.abs(run.series[column]).max() if column in run.series else 0))


def rows(run: Run, name: str = "") -> list[verify.Row]:
    """Two numbers that have to be 0, each the worst of all species; `name` stands before their labels."""
    species, label = [one["name"] for one in run.summary["species"]], f"{name}: " if name else ""
    return [verify.zero(f"{label}particles created or missed", max(missing(run, one) for one in species)),
            verify.zero(f"{label}residual of the ledger", max(residual(run, one) for one in species))]
