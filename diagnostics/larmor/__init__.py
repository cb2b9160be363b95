"""Diagnostics of Larmor: reading runs, linear theory, spectra, pictures."""

from .run import Fields, Particles, Run, Series

__all__ = ["Fields", "Particles", "Run", "Series"]
