#!/usr/bin/env python3
"""Stopping cross-section of protons in hydrogen gas, from published formulae; writes hydrogen.txt.

Electronic: Andersen and Ziegler, Hydrogen Stopping Powers and Ranges in All Elements, Pergamon 1977: their coefficients
of hydrogen in the form of Varelas and Biersack (Nucl. Instrum. Methods 79 (1970) 213), below 10 keV proportional to
the velocity. Nuclear: the universal one of Ziegler, Biersack and Littmark, The Stopping and Range of Ions in Solids,
Pergamon 1985. Both in 1e-15 eV cm2 an atom; no numbers of measurements are in here."""

from __future__ import annotations

from pathlib import Path

import numpy as np

A = (1.262, 1.44, 242.6, 1.2e4, 0.1159)  # of hydrogen
FIRST, LAST, A_DECADE = 1.0, 1000.0, 40  # keV; rows
FILE = Path(__file__).resolve().with_name("hydrogen.txt")


def electronic(kev: np.ndarray) -> np.ndarray:
    low = A[1] * kev**0.45
    high = A[2] / kev * np.log(1 + A[3] / kev + A[4] * kev)
    return np.where(kev < 10, A[0] * np.sqrt(kev), low * high / (low + high))


def nuclear(kev: np.ndarray) -> np.ndarray:
    """Z1 = Z2 = 1, equal masses: all sums of charges and masses are 2."""
    e = 32.53 * kev / 4
    screened = np.log(1 + 1.1383 * e) / (2 * (e + 0.01321 * e**0.21226 + 0.19593 * np.sqrt(e)))
    return 8.462 / 4 * np.where(e > 30, np.log(e) / (2 * e), screened)


def stopping(kev: np.ndarray) -> np.ndarray:
    return electronic(kev) + nuclear(kev)


def main() -> None:
    kev = np.geomspace(FIRST, LAST, round(np.log10(LAST / FIRST) * A_DECADE) + 1)
    rows = "".join(f"{e:.6g} {s:.6g}\n" for e, s in zip(kev, stopping(kev)))
    FILE.write_text("# source = formulae: electronic Andersen and Ziegler 1977, nuclear Ziegler, Biersack and Littmark "
                    "1985 (hydrogen.py)\n# protons in hydrogen gas, an atom\n# energy = keV\n# stopping = 1e-15 eV cm2\n"
                    + rows)


if __name__ == "__main__":
    main()
