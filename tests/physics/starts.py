#!/usr/bin/env python3
"""The noise of a thermal plasma at rest after a random, a quiet and a low-discrepancy start.

The box has 64^2 cells of 0.25 d_i, dt = 0.02, beta_i = 1, T_e = T_i, B in the plane and the linear shape. Of the ion density n and
of B the deviation from the mean is measured: of all waves, and of those with k d_i < 2, at the start and at t = 5. A
low-discrepancy start must have less noise than a random one in each of these numbers, and its density at the start less than a
quarter of it. The change of the total energy by t = 5 over the kinetic energy is printed, too."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from larmor import Run

STARTS = ("random", "quiet", "low_discrepancy")
CELLS, CELL, LONG = 64, 0.25, 2
INI = f"""[run]
t_end = 5
dt = 0.02
[grid]
nx = {CELLS}
ny = {CELLS}
lx = {CELLS * CELL}
ly = {CELLS * CELL}
[electrons]
temperature = 0.5
[fields]
bx = 1
[species.protons]
temperature = 0.5
[output]
series_every = 250
fields_every = 250
"""


def noise(array: np.ndarray) -> np.ndarray:
    """The root mean square of the deviation from the mean: of all waves, and of the long ones."""
    k = 2 * np.pi * np.fft.fftfreq(CELLS, CELL)
    size = np.hypot(*np.meshgrid(k, k))
    power = np.abs(np.fft.fft2(array) / array.size) ** 2
    return np.sqrt([power[size > 0].sum(), power[(size > 0) & (size < LONG)].sum()])


def measure(args: argparse.Namespace, start: str, per_cell: int, directory: pathlib.Path) -> list[float]:
    file, output = directory / "box.ini", directory / f"{start}_{per_cell}"
    file.write_text(INI)
    subprocess.run([args.larmor, "run", str(file), f"species.protons.start={start}", f"species.protons.particles_per_cell={per_cell}",
                    "--output", str(output), "--backend", args.backend, "--quiet"], check=True, stderr=subprocess.DEVNULL)
    run = Run(output)
    numbers = []
    for step in (0, 250):
        with run.fields(step) as fields:
            numbers += list(noise(fields["n_protons"]))
            if step:
                numbers += list(np.sqrt(sum(noise(fields[f"B/{c}"]) ** 2 for c in "xyz")))
    energy, kinetic = run.series["energy_total"], sum(run.series[f"kinetic_{c}_protons"][0] for c in "xyz")
    return numbers + [(energy[-1] - energy[0]) / kinetic]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--larmor", default="build/release/larmor")
    parser.add_argument("--backend", default="auto")
    args = parser.parse_args()
    failed = False
    print(f"{'':20} {'n, t = 0':>9} {'long':>9} {'n, t = 5':>9} {'long':>9} {'B, t = 5':>9} {'long':>9} {'energy':>9}")
    with tempfile.TemporaryDirectory() as directory:
        for per_cell in (16, 64):
            found = {start: measure(args, start, per_cell, pathlib.Path(directory)) for start in STARTS}
            for start, numbers in found.items():
                print(f"{per_cell:3} {start:16} " + " ".join(f"{number:9.2g}" for number in numbers))
            ratio = np.array(found["low_discrepancy"][:6]) / found["random"][:6]
            failed |= not (ratio < 1).all() or not (ratio[:2] < 0.25).all()
    sys.exit(failed)


if __name__ == "__main__":
    main()
