"""Larmor in Python: reading runs, linear theory, spectra, pictures; and simulations that Python steps."""

from .library import LarmorError
from .records import Probe, Records, Track
from .run import Average, Distribution, Fields, Maps, Particles, Run, Series, SurfaceMap
from .simulation import LarmorWarning, Simulation

__all__ = ["Average", "Distribution", "Fields", "LarmorError", "LarmorWarning", "Maps", "Particles", "Probe", "Records",
           "Run", "Series", "Simulation", "SurfaceMap", "Track"]
