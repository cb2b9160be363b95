#!/usr/bin/env python3
"""Budgets of ions, gases and electrons with everything on: tests/cases/everything.ini.

In every row: no ledger has a residual; what fields have gained is what ions have given to their gas, in number, momentum and
energy; a gas has lost what has been ionised of it. Within 1e-12 of what has been handed over.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

LIMIT = 1e-12
SPECIES = ("wind", "heavy")
CASE = pathlib.Path(__file__).parent.parent / "cases" / "everything.ini"
# What fields have gained, and the columns of what was given to them
GIVEN = {f"background_{field}_source": [f"{what}_{species}" for species in SPECIES]
         for field, what in {"stopped": "to_gas_weight", "push_x": "to_gas_momentum_x", "push_y": "to_gas_momentum_y",
                             "push_z": "to_gas_momentum_z", "heat": "to_gas_energy"}.items()}


def rows_of(args, directory):
    subprocess.run([args.larmor, "run", str(CASE), f"run.steps={args.steps}", f"output.series_every={max(1, args.steps // 100)}",
                    "--output", directory, "--overwrite", "--backend", args.backend, "--quiet"], check=True)
    table = list(csv.reader(open(pathlib.Path(directory) / "series.csv")))
    names = [name.split("[")[0] for name in table[0]]
    return [dict(zip(names, map(float, row))) for row in table[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--larmor", default="build/release/larmor")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        rows = rows_of(args, directory)
    last, failed = rows[-1], False

    def check(name, off, of):
        good = of > 0 and off <= LIMIT * of
        print(f"{args.steps} steps, {name}: {off:.1e} of {of:.4g} missing, limit {LIMIT:g}: {'ok' if good else 'BEYOND'}")
        return not good

    for field, columns in GIVEN.items():
        off = max(abs(row[field] - sum(row[c] for c in columns)) for row in rows)
        failed |= check(field, off, sum(abs(last[c]) for c in columns))
    failed |= check("gas that is ionised", max(abs(row["background_gas_source"] + row["ionised_weight_wind"]) for row in rows),
                    last["ionised_weight_wind"])
    residuals = [name for name in last if "residual" in name]
    open_ones = [name for name in residuals if any(row[name] for row in rows)]
    print(f"{len(residuals)} ledgers:", "residual 0 in every row" if residuals and not open_ones else open_ones)
    idle = [f"{what}_{s}" for s in SPECIES for what in ("charge_exchanged", "theta_cutoff", "body_moon", "to_electrons_energy",
                                                        "leak_x_max", "injected_x_min", "ionised") if not last[f"{what}_{s}"]]
    idle += [name for name in ("energy_stopped_wind", "electron_heat") if not last[name]]
    print("at work: everything" if not idle else f"nothing of {idle}")
    return int(failed or not residuals or bool(open_ones) or bool(idle))


if __name__ == "__main__":
    sys.exit(main())
