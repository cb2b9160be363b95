"""Larmor in Python: reading runs, linear theory, spectra, pictures; and simulations that Python steps."""

from .counts import Distribution, Maps, SurfaceMap
from .errors import RunError
from .library import LarmorError
from .openpmd import Average, Fields, Particles
from .records import Probe, Records, Track
from .run import Run
from .series import Series
from .simulation import LarmorWarning, Simulation

__all__ = ["Average", "Distribution", "Fields", "LarmorError", "LarmorWarning", "Maps", "Particles", "Probe", "Records",
           "Run", "RunError", "Series", "Simulation", "SurfaceMap", "Track"]

open = Run  # larmor.open, as PIL.Image.open is; not in __all__, so that "from larmor import *" leaves open() alone
