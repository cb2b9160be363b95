"""Diagnostics of Larmor: reading runs, linear theory, spectra, pictures."""

from .run import Fields, Maps, Particles, Run, Series, SurfaceMap

__all__ = ["Fields", "Maps", "Particles", "Run", "Series", "SurfaceMap"]
