"""Budgets of ions, gases and electrons with all exchanges at once.

The case is tests/cases/everything.ini. In every row of the series no ledger has a residual; the background fields have gained what
the ions have given to their gas, in number, momentum and energy; and a gas has lost what has been ionised of it. What a cell gains
in a step is rounded to whole quanta of the field, at most 2^-46 of its largest value. Six standard deviations of the sum of this
rounding may be missing. Every ion that is born takes the same share of the gas, rounded once, so half a quantum for each ion may be
missing there. The run has 1000 steps, in the long form 10000.

At the end B_x^2/2 and B_y^2/2 are nowhere larger than the pressure of the wind, which is all that presses B against the conducting
moon: the flux through the surface of a conductor stays as it is. In 50 outputs of the long form the pressure of the electrons is
nowhere larger either: the current in the surface of the moon does not pile up their entropy there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from larmor import Run, Series, verify
from larmor.program import Program

CASE = Path(__file__).parent.parent / "cases" / "everything.ini"
SPECIES, CELLS, CELL = ("wind", "heavy"), 48 * 28, 0.25
GAINS = {"stopped": "to_gas_weight", "push_x": "to_gas_momentum_x", "push_y": "to_gas_momentum_y", "push_z": "to_gas_momentum_z",
         "heat": "to_gas_energy"}
BUSY = [f"{what}_{s}" for s in SPECIES for what in ("charge_exchanged", "theta_cutoff", "body_moon", "to_electrons_energy",
                                                    "leak_x_max", "injected_x_min", "ionised")]
BUSY += ["energy_stopped_wind", "electron_heat"]
# m n u^2 + n T + B^2/2 of the wind with its heavy ions, and the pressure of the electrons at the density 1.2
WIND = 1.3 + (0.2 + 0.1 * 0.3) + 0.5 * (0.2**2 + 0.6**2) + 0.2 * 1.2 ** (5 / 3)


def half_quantum(series: Series, field: str) -> float:
    largest = max(np.abs(series[f"background_{field}_{end}"]).max() for end in ("min", "max"))
    return 0.5 * 2**-46 * max(largest, 1) * CELL


def budgets(series: Series, steps: int) -> Iterator[tuple[str, float, float, float]]:
    """For each budget: its name, the largest missing amount of all rows, the amount that was exchanged, and the limit."""
    for field, what in GAINS.items():
        given = [series[f"{what}_{s}"] for s in SPECIES]
        yield (f"{field} and {what}", np.abs(series[f"background_{field}_source"] - sum(given)).max(),
               sum(abs(one[-1]) for one in given), 6 * half_quantum(series, field) * math.sqrt(CELLS * steps * len(SPECIES)))
    yield ("gas and ionised_weight", np.abs(series["background_gas_source"] + series["ionised_weight_wind"]).max(),
           series["ionised_weight_wind"][-1], half_quantum(series, "gas") * series["ionised_wind"][-1])


def pressure_of(run: Run, step: int) -> float:
    with run.fields(step) as fields:
        return fields["p_e"].max()


def rows(program: Program, long: bool) -> Iterator[verify.Row]:
    steps = 10000 if long else 1000
    every = steps // 50 if long else steps
    run = program.run(CASE, [f"run.steps={steps}", f"output.series_every={steps // 100}", f"output.fields_every={every}"])
    series = run.series
    for name, off, of, limit in budgets(series, steps):
        yield verify.at_most(f"{name}: missing part", off / of if of else math.nan, limit / of if of else 0)
    residuals = [name for name in series.names if "residual" in name]
    yield verify.zero("ledgers that do not close", sum(series[name].any() for name in residuals) if residuals else math.nan)
    yield verify.zero("exchanges that are idle", sum(series[name][-1] == 0 for name in BUSY))
    with run.fields(steps) as fields:
        largest = max(np.abs(fields[f"B/{axis}"]).max() for axis in "xy")
    yield verify.at_most("largest pressure of B_x and of B_y", largest**2 / 2, WIND)
    if long:
        yield verify.at_most("largest pressure of the electrons", max(pressure_of(run, n) for n in range(0, steps + 1, every)), WIND)
