#!/usr/bin/env python3
"""Budgets of ions, gases and electrons with all exchanges at once: tests/cases/everything.ini.

In every row of the series no ledger has a residual; the background fields have gained what the ions have given to their gas, in
number, momentum and energy; and a gas has lost what has been ionised of it. What a cell gains in a step is rounded to whole
quanta of the field, at most 2^-46 of its largest value. Six standard deviations of the sum of this rounding may be missing.
Every ion that is born takes the same share of the gas, rounded once, so half a quantum for each ion may be missing there.
"""
import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

CASE = pathlib.Path(__file__).parent.parent / "cases" / "everything.ini"
SPECIES, CELLS, CELL = ("wind", "heavy"), 48 * 28, 0.25
GAINS = {"stopped": "to_gas_weight", "push_x": "to_gas_momentum_x", "push_y": "to_gas_momentum_y", "push_z": "to_gas_momentum_z", "heat": "to_gas_energy"}
BUSY = [f"{what}_{s}" for s in SPECIES for what in ("charge_exchanged", "theta_cutoff", "body_moon", "to_electrons_energy",
                                                    "leak_x_max", "injected_x_min", "ionised")]
BUSY += ["energy_stopped_wind", "electron_heat"]


def rows_of(args, directory):
    subprocess.run([args.larmor, "run", str(CASE), f"run.steps={args.steps}", f"output.series_every={max(1, args.steps // 100)}",
                    "--output", directory, "--overwrite", "--backend", args.backend, "--quiet"], check=True)
    with open(pathlib.Path(directory) / "series.csv", encoding="ascii") as file:
        table = list(csv.reader(file))
    names = [name.split("[")[0] for name in table[0]]
    return [dict(zip(names, map(float, row))) for row in table[1:]]


def half_quantum(rows, field):
    largest = max(max(abs(row[f"background_{field}_min"]), abs(row[f"background_{field}_max"])) for row in rows)
    return 0.5 * 2**-46 * max(largest, 1) * CELL


def budgets(rows, steps):
    """For each budget: its name, the largest missing amount of all rows, the amount that was exchanged, and the limit."""
    for field, what in GAINS.items():
        off = max(abs(row[f"background_{field}_source"] - sum(row[f"{what}_{s}"] for s in SPECIES)) for row in rows)
        yield (f"{field} and {what}", off, sum(abs(rows[-1][f"{what}_{s}"]) for s in SPECIES),
               6 * half_quantum(rows, field) * math.sqrt(CELLS * steps * len(SPECIES)))
    off = max(abs(row["background_gas_source"] + row["ionised_weight_wind"]) for row in rows)
    yield "gas and ionised_weight", off, rows[-1]["ionised_weight_wind"], half_quantum(rows, "gas") * rows[-1]["ionised_wind"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--larmor", default="build/release/larmor")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        rows = rows_of(args, directory)
    for name, off, of, limit in budgets(rows, args.steps):
        good = of > 0 and off <= limit
        failed |= not good
        print(f"{args.steps} steps, {name}: {off / of if of else off:.1e} of {of:.4g} missing, limit {limit / of if of else limit:.1e}: "
              f"{'ok' if good else 'BEYOND'}")
    residuals = [name for name in rows[-1] if "residual" in name]
    unclosed = [name for name in residuals if any(row[name] for row in rows)]
    print(f"{len(residuals)} ledgers:", unclosed if unclosed else "residual 0 in every row")
    idle = [name for name in BUSY if not rows[-1][name]]
    print("at work:", f"nothing of {idle}" if idle else "everything")
    return int(failed or not residuals or bool(unclosed) or bool(idle))


if __name__ == "__main__":
    sys.exit(main())
