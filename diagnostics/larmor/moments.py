"""Means of moments over the grid, in time."""

from __future__ import annotations

import numpy as np

from .run import Run


def anisotropy(run: Run, species: str, output: str = "moments") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, beta along B = 1, and T_perp/T_par, of all particles of a species: from [output.NAME] with density and
    temperature."""
    rows = []
    for step in run.outputs[output]:
        with run.output(output, step) as frame:
            n = frame[f"n_{species}"]
            par, perp = ((n * frame[f"T_{way}_{species}"]).mean() for way in ("par", "perp"))
            rows.append((frame.time, 2 * par, perp / par))
    t, beta_par, ratio = np.array(rows).T
    return t, beta_par, ratio
