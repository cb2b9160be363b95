#!/usr/bin/env python3
"""Momentum of uniform drifts in a periodic box against limits fixed beforehand.

A box of 80^2 cells of 0.15 d_i has B = (0.5, 0.3, 0.8), 15 particles a cell and dt = 0.02. Nothing pushes the plasma, so that
its mean velocity must stay. Warm: T_i = T_e = 0.4, drifts of 0.3 along x, y, z and along the diagonal, t = 10. Cold: T_i = T_e =
0, a drift of (0.7, -0.4, 0.3), t = 60. The numbers are the changes of the mean velocity, and of the kinetic energy of the cold
drift in shares of itself. The limits: 1e-3 of the drift, and 1e-3 of the energy.
"""
import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

LIMIT = 1e-3
MASS = 12 * 12  # of all ions
INI = """[run]
t_end = {t_end}
dt = 0.02
[grid]
nx = 80
ny = 80
lx = 12
ly = 12
[fields]
bx = 0.5
by = 0.3
bz = 0.8
[electrons]
temperature = {temperature}
[particles]
shape = {shape}
[species.ions]
temperature = {temperature}
particles_per_cell = 15
drift_x = {drift[0]}
drift_y = {drift[1]}
drift_z = {drift[2]}
[output]
series_every = 50
"""
DIAGONAL = (0.3 / math.sqrt(3),) * 3
CASES = [("warm", 10, 0.4, (0, 0, 0)), ("warm", 10, 0.4, (0.3, 0, 0)), ("warm", 10, 0.4, (0, 0.3, 0)),
         ("warm", 10, 0.4, (0, 0, 0.3)), ("warm", 10, 0.4, DIAGONAL), ("cold", 60, 0.0, (0.7, -0.4, 0.3))]


def run(larmor, directory, overrides, backend, **values):
    """First and last row of the series."""
    ini = pathlib.Path(directory) / "drift.ini"
    ini.write_text(INI.format(**values))
    out = pathlib.Path(tempfile.mkdtemp(dir=directory))
    subprocess.run([larmor, "run", str(ini), *overrides, "--output", str(out), "--backend", backend, "--quiet"], check=True,
                   stderr=subprocess.DEVNULL)
    rows = list(csv.reader(open(out / "series.csv")))
    names = [n.split("[")[0] for n in rows[0]]
    return [dict(zip(names, map(float, row))) for row in (rows[1], rows[-1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--larmor", default="build/release/larmor")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("overrides", nargs="*", help="section.key=value")
    args = parser.parse_args()
    failed = False
    print(f"{'case':5} {'shape':9} {'drift':>20}  change of the mean velocity, of the energy")
    with tempfile.TemporaryDirectory() as directory:
        for shape in ("linear", "quadratic"):
            for name, t_end, temperature, drift in CASES:
                first, last = run(args.larmor, directory, args.overrides, args.backend, t_end=t_end, temperature=temperature,
                                  drift=drift, shape=shape)
                change = [(last[f"momentum_{c}"] - first[f"momentum_{c}"]) / MASS for c in "xyz"]
                speed = math.hypot(*drift)
                energy = [sum(row[f"kinetic_{c}_ions"] for c in "xyz") for row in (first, last)]
                heating = energy[1] / energy[0] - 1
                bad = math.hypot(*change) > LIMIT * (speed if speed > 0 else 0.3) or (name == "cold" and abs(heating) > LIMIT)
                failed = failed or bad
                print(f"{name:5} {shape:9} {drift[0]:6.3f} {drift[1]:6.3f} {drift[2]:6.3f}  "
                      f"{change[0]:+.6f} {change[1]:+.6f} {change[2]:+.6f}  {heating:+.5f}{'  above the limit' if bad else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
