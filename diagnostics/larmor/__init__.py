"""Diagnostics of Larmor: reading runs, linear theory, spectra, pictures."""

from .records import Probe, Records, Track
from .run import Average, Distribution, Fields, Maps, Particles, Run, Series, SurfaceMap

__all__ = ["Average", "Distribution", "Fields", "Maps", "Particles", "Probe", "Records", "Run", "Series", "SurfaceMap", "Track"]
