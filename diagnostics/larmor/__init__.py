"""Larmor in Python: reading runs, linear theory, spectra, pictures; and simulations that Python steps."""

from .library import LarmorError
from .run import Distribution, Fields, Maps, Particles, Run, Series, SurfaceMap
from .simulation import LarmorWarning, Simulation

__all__ = ["Distribution", "Fields", "LarmorError", "LarmorWarning", "Maps", "Particles", "Run", "Series", "Simulation",
           "SurfaceMap"]
