"""Diagnostics of Larmor: reading runs, linear theory, spectra, pictures."""

from .run import Distribution, Fields, Maps, Particles, Run, Series, SurfaceMap

__all__ = ["Distribution", "Fields", "Maps", "Particles", "Run", "Series", "SurfaceMap"]
