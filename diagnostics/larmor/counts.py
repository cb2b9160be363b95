"""Files in which a run has counted particles: hits of sides and bodies, and distributions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from .errors import RunError
from .hdf5 import text_of


@dataclass(frozen=True)
class SurfaceMap:
    """What has hit one side or body, face by face."""

    particles: str  #: what the surface does to particles: "absorbing", ...
    x: np.ndarray  #: middles of the faces [d_i]
    y: np.ndarray
    normal: np.ndarray  #: [face, 2], out of the surface into the plasma
    length: np.ndarray  #: [d_i]
    hits: dict[str, np.ndarray]  #: by species: [face, angle, energy], since the run began
    weight: dict[str, float]  #: of one particle [n0 d_i^2]
    mass: dict[str, float]  #: of one ion [m_p]


class Maps:
    """Where, under which angle and how fast particles have hit sides and bodies until one step. Surfaces are x_min, ...
    and body_NAME. Bin k of an angle lies between angle_edges k and k + 1 [degrees from the normal]; bin k of an energy
    between energy_edges k - 1 and k [m_p v_A^2], with everything slower in the first and faster in the last."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with h5py.File(file, "r") as h5:
            self.step, self.time = int(h5.attrs["step"]), float(h5.attrs["time"])
            self.angle_edges, self.energy_edges = h5["angle_edges"][()], h5["energy_edges"][()]
            self._surfaces = {name: self._read(item) for name, item in h5.items() if isinstance(item, h5py.Group)}

    @staticmethod
    def _read(group: h5py.Group) -> SurfaceMap:
        sets = {name.removeprefix("hits_"): item for name, item in group.items() if name.startswith("hits_")}
        return SurfaceMap(particles=text_of(group.attrs["particles"]), x=group["x"][()], y=group["y"][()],
                          normal=np.stack([group["normal_x"][()], group["normal_y"][()]], axis=-1),
                          length=group["length"][()], hits={name: item[()] for name, item in sets.items()},
                          weight={name: float(item.attrs["weight"]) for name, item in sets.items()},
                          mass={name: float(item.attrs["mass"]) for name, item in sets.items()})

    @property
    def names(self) -> list[str]:
        return list(self._surfaces)

    def __getitem__(self, name: str) -> SurfaceMap:
        if name not in self._surfaces:
            raise RunError(f"no surface {name!r} in {self.file.name}; there are: {', '.join(self._surfaces)}")
        return self._surfaces[name]


class Distribution:
    """Particles counted in bins of one to three quantities: [distribution.NAME] of a configuration."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with h5py.File(file, "r") as h5:
            self.step, self.time = int(h5.attrs["step"]), float(h5.attrs["time"])
            self.velocity_time = float(h5.attrs["velocity_time"])
            axes = [h5[f"edges_{k}"] for k in range(sum(name.startswith("edges_") for name in h5))]
            self.axes = [text_of(axis.attrs["quantity"]) for axis in axes]  #: "v_par", ...
            self.units = [text_of(axis.attrs["units"]) for axis in axes]
            self.edges = [axis[()] for axis in axes]  #: one more than there are bins
            self._counts = {name.removeprefix("counts_"): item[()] for name, item in h5.items()
                            if name.startswith("counts_")}
            items = {name: h5[f"counts_{name}"].attrs for name in self._counts}
            self.outside = {name: int(item["outside"]) for name, item in items.items()}  #: particles in no bin
            self.weight = {name: float(item["weight"]) for name, item in items.items()}  #: of one particle [n0 d_i^2]
            self.mass = {name: float(item["mass"]) for name, item in items.items()}  #: of one ion [m_p]

    @property
    def species(self) -> list[str]:
        return list(self._counts)

    def counts(self, species: str) -> np.ndarray:
        """Particles in the bins, [axis 0, axis 1, ...]."""
        if species not in self._counts:
            raise RunError(f"no species {species!r} in {self.file.name}; there are: {', '.join(self.species)}")
        return self._counts[species]

    def density(self, species: str) -> np.ndarray:
        """f: the weight of the particles in a bin over the size of the bin. Where v_perp is an axis and gyrophase is
        none, over the ring 2 pi v_perp as well, so that f is the density in velocity space."""
        size = np.ones(())
        for k, (name, edges) in enumerate(zip(self.axes, self.edges)):
            ring = name == "v_perp" and "gyrophase" not in self.axes
            width = np.pi * np.diff(edges**2) if ring else np.diff(edges)
            size = size * width.reshape([-1 if n == k else 1 for n in range(len(self.axes))])
        return self.counts(species) * self.weight[species] / size
