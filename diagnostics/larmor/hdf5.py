"""Attributes of HDF5 files."""

from __future__ import annotations

import numpy as np


def text_of(value: object) -> str:
    """An HDF5 string attribute, whatever h5py makes of it."""
    return value.decode() if isinstance(value, bytes) else str(value)


def numbers_of(value: object) -> np.ndarray:
    return np.atleast_1d(np.asarray(value, dtype=float))
