"""A simulation that Python steps and looks into.

    from larmor import Simulation

    with Simulation("first.ini", run={"steps": 200}) as sim:
        sim.step(10)
        sim["B/z"], sim.x("B/z"), sim.time
        sim.particles("protons")["vx"]

        @sim.every(50)
        def show(sim):
            print(sim.time, sim.energies()["energy_total"])

        sim.run()

The state is that of the program with the same settings, to the bit. No file is written but by `save`.
"""

from __future__ import annotations

import io
import os
import re
import warnings
import weakref
from collections.abc import Callable, Mapping
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from functools import cached_property
from pathlib import Path

import numpy as np

from .library import LarmorError, call, library, must, open_simulation, text
from .openpmd import import_xarray, place_names
from .settings import read_settings

Callback = Callable[["Simulation"], object]


class LarmorWarning(UserWarning):
    """What the program prints as a warning when a run begins, and steps beyond the end of the run."""


def _value(value: object) -> str:
    """A setting as an INI file has it."""
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def overrides_of(settings: Mapping[str, object], before: str = "") -> list[str]:
    """["run.steps=10", "species.protons.density=2"] of {"run": {"steps": 10}, "species.protons.density": 2}."""
    found: list[str] = []
    for name, value in settings.items():
        key = f"{before}{name}"
        found += overrides_of(value, f"{key}.") if isinstance(value, Mapping) else [f"{key}={_value(value)}"]
    return found


class _Handle:
    """A simulation of the library. It is freed when neither a Simulation nor a view of an array refers to it."""

    def __init__(self, pointer: c_void_p) -> None:
        self.pointer = pointer
        weakref.finalize(self, call, "larmor_close", pointer)


class _View:
    """An array in the library's memory, as numpy wants it described. The handle lives as long as the view."""

    def __init__(self, handle: _Handle, address: int, shape: tuple[int, int], stride: int) -> None:
        self.handle = handle
        self.__array_interface__ = {"version": 3, "typestr": "=f8", "data": (address, True), "shape": shape,
                                    "strides": (8 * stride, 8)}


class Simulation:
    """A simulation from an INI file. Settings that replace those of the file are given as a mapping of keys, as on the
    command line of the program, or as a mapping for each section: {"run.steps": 100} or run={"steps": 100}; named
    sections are mappings in mappings, species={"protons": {"temperature": 0.5}}. `restart` is a checkpoint, or
    "latest": the newest undamaged one of the output directory, if there is one."""

    def __init__(self, file: str | Path, overrides: Mapping[str, object] | None = None, *,
                 restart: str | Path | None = None, **sections: Mapping[str, object]) -> None:
        settings = overrides_of(overrides or {}) + overrides_of(sections)
        self._handle: _Handle | None = _Handle(open_simulation(str(file), settings))
        self._callbacks: list[tuple[int, Callback]] = []
        self._in_callback = False
        self._end_is_told = False
        if restart is None:
            must("larmor_begin", self._pointer)
        else:
            must("larmor_restart", self._pointer, os.fsencode(restart))
        said = text("larmor_warnings", self._pointer).strip()
        for warning in re.split(r"\n(?! )", said) if said else []:  # a line that begins with a blank goes on
            warnings.warn(warning, LarmorWarning, stacklevel=2)

    # --- life ---

    @property
    def _pointer(self) -> c_void_p:
        if self._handle is None:
            raise LarmorError("the simulation is closed")
        return self._handle.pointer

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the simulation. Views of its arrays stay valid; the memory goes with the last of them."""
        self._handle = None
        self._callbacks.clear()

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else f"step {self.step_number}, time {self.time:g}, {self.backend}"
        return f"<larmor.Simulation: {state}>"

    # --- steps ---

    def step(self, count: int = 1) -> int:
        """Takes so many steps, and calls the functions of `every` that are due. Ctrl-C takes effect between two steps.
        Returns the number of steps taken, which is `count`: steps beyond the end that the settings name are taken as
        well, with one LarmorWarning in the life of the simulation.
        LarmorError: the next step cannot be taken; the steps before it have been taken."""
        if self.step_number + count > self.last_step:
            self._warn_of_end()
        return self._take(count)

    def _take(self, count: int) -> int:
        if self._in_callback:
            raise LarmorError("a function of Simulation.every may not take steps")
        for _ in range(count):
            must("larmor_step", self._pointer, 1)
            self._call_back()
        return max(count, 0)

    def _warn_of_end(self) -> None:
        if not self._end_is_told:
            self._end_is_told = True
            warnings.warn(f"steps beyond step {self.last_step}, at which the settings end the run (run.t_end or "
                          "run.steps)", LarmorWarning, stacklevel=3)

    def run(self, until: int | None = None) -> int:
        """Steps to a step number, by default to the end that the settings name. Returns the number of steps taken: 0
        where that number has been reached before."""
        last = self.last_step if until is None else until
        return self._take(last - self.step_number)

    def every(self, steps: int, function: Callback | None = None):
        """Calls function(simulation) after each step whose number is a multiple of `steps`. Without a function it is a
        decorator. Returns the function."""
        if steps < 1:
            raise ValueError(f"every {steps} steps: at least 1 is needed")
        if function is None:
            return lambda decorated: self.every(steps, decorated)
        self._callbacks.append((steps, function))
        return function

    def _call_back(self) -> None:
        number = self.step_number
        self._in_callback = True
        try:
            for steps, function in list(self._callbacks):
                if number % steps == 0:
                    function(self)
        finally:
            self._in_callback = False

    def save(self) -> Path:
        """Writes a checkpoint into the output directory (output.directory), from which this class and the program can
        go on, and returns its path. LarmorError: the directory holds a run of other settings, or something else."""
        path = c_char_p()
        must("larmor_save", self._pointer, byref(path))
        return Path(os.fsdecode(path.value))

    # --- settings ---

    @cached_property
    def settings(self) -> dict[str, dict[str, str]]:
        """Every key, resolved, as text, by its section."""
        return read_settings(io.StringIO(text("larmor_settings", self._pointer)))

    @cached_property
    def _grid(self) -> tuple[int, int, float, float]:
        nx, ny, lx, ly = c_int(), c_int(), c_double(), c_double()
        call("larmor_grid", self._pointer, byref(nx), byref(ny), byref(lx), byref(ly))
        return nx.value, ny.value, lx.value, ly.value

    @property
    def shape(self) -> tuple[int, int]:
        """(ny, nx), the shape of every array on the grid."""
        return self._grid[1], self._grid[0]

    @property
    def dt(self) -> float:
        return call("larmor_time_step", self._pointer)

    @property
    def last_step(self) -> int:
        """The step at which `run` ends."""
        return call("larmor_last_step", self._pointer)

    def _list(self, kind: str) -> list[str]:
        count = call(f"larmor_{kind}_count", self._pointer)
        return [text(f"larmor_{kind}_name", self._pointer, k) for k in range(count)]

    @cached_property
    def species(self) -> list[str]:
        """Names of the species, in the order of the settings."""
        return self._list("species")

    # --- the state as a whole ---

    @property
    def time(self) -> float:
        """[1/Omega_ci]"""
        return call("larmor_time", self._pointer)

    @property
    def step_number(self) -> int:
        return call("larmor_step_number", self._pointer)

    @property
    def backend(self) -> str:
        """"cpu" or "cuda"."""
        return text("larmor_backend", self._pointer)

    @property
    def fingerprint(self) -> str:
        """A hash of the whole state, as `larmor fingerprint` prints it."""
        value = c_uint64()
        must("larmor_fingerprint", self._pointer, byref(value))
        return f"{value.value:016x}"

    @cached_property
    def _columns(self) -> list[str]:
        return self._list("column")

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of `row`; "" for a pure number."""
        return {name: text("larmor_column_unit", self._pointer, k) for k, name in enumerate(self._columns)}

    def row(self) -> dict[str, float]:
        """The columns of the time series for this state, by their names."""
        values = (c_double * len(self._columns))()
        must("larmor_row", self._pointer, values)
        return dict(zip(self._columns, values))

    def energies(self) -> dict[str, float]:
        """The energies of `row`: kinetic_x_SPECIES, ..., magnetic_x, ..., electron_thermal, energy_total."""
        parts = ("kinetic_", "magnetic_")
        return {name: value for name, value in self.row().items()
                if name.startswith(parts) or name in ("electron_thermal", "energy_total")}

    # --- arrays on the grid; names, axes and functions are those of larmor.Fields ---

    @cached_property
    def names(self) -> list[str]:
        """"B/x", ..., "E/z", "J_i/x", ..., "rho", "p_e", "n_SPECIES", "background_NAME"."""
        return self._list("array")

    def __getitem__(self, name: str) -> np.ndarray:
        """A copy of an array, [ny, nx], in the code's units."""
        self._check(name)
        out = np.empty(self.shape)
        must("larmor_array_copy", self._pointer, name.encode(), out.ctypes.data_as(POINTER(c_double)))
        return out

    def view(self, name: str) -> np.ndarray:
        """The same array without a copy, for reading only, where it is in the memory of this process; else (on a GPU) a
        copy. Its values are those of the state until the next step, and undefined after it; those of p_e are undefined
        after the next view of p_e, too."""
        self._check(name)
        first, stride = c_void_p(), c_int64()
        must("larmor_array_view", self._pointer, name.encode(), byref(first), byref(stride))
        if first.value is None:
            out = self[name]
            out.flags.writeable = False
            return out
        return np.asarray(_View(self._handle, first.value, self.shape, stride.value))

    def field(self, name: str) -> np.ndarray:
        """A copy of a record: [ny, nx], or [3, ny, nx] of a vector such as "B". Its components are at different places
        of a cell."""
        parts = [part for part in self.names if part.startswith(f"{name}/")]
        return np.stack([self[part] for part in parts]) if parts else self[name]

    @property
    def b(self) -> np.ndarray:
        """The magnetic field [3, ny, nx]."""
        return self.field("B")

    @property
    def e(self) -> np.ndarray:
        """The electric field [3, ny, nx]."""
        return self.field("E")

    def _check(self, name: str) -> None:
        if name not in self.names:
            raise LarmorError(f"no mesh {name!r}; there are: {', '.join(self.names)}")

    def _place(self, name: str) -> tuple[float, float, float]:
        self._check(name)
        x, y, time = c_double(), c_double(), c_double()
        must("larmor_array_place", self._pointer, name.encode(), byref(x), byref(y), byref(time))
        return x.value, y.value, time.value

    def x(self, name: str) -> np.ndarray:
        """x of the values of a mesh [d_i]."""
        nx, _, lx, _ = self._grid
        return (np.arange(nx) + 0.5 + self._place(name)[0]) * (lx / nx)

    def y(self, name: str) -> np.ndarray:
        """y of the values of a mesh [d_i]."""
        _, ny, _, ly = self._grid
        return (np.arange(ny) + 0.5 + self._place(name)[1]) * (ly / ny)

    def mesh_time(self, name: str) -> float:
        """Time of a mesh, which may lie beside the time of the state [1/Omega_ci]."""
        return self.time + self._place(name)[2]

    def places(self, name: str) -> tuple[tuple[str, str], dict[str, np.ndarray]]:
        """Names of the two axes of a mesh, and its coordinates by these names: y or y_face, x or x_face."""
        at_x, at_y, _ = self._place(name)
        y, x = place_names(at_y > 0, at_x > 0)
        return (y, x), {y: self.y(name), x: self.x(name)}

    def dataset(self, names: list[str] | None = None):
        """The meshes `names` (all) as an xarray.Dataset, with the names and coordinates of larmor.Run.dataset, at one
        time. It needs the package xarray."""
        xarray = import_xarray()
        variables = {}
        for name in names or self.names:
            axes, coordinates = self.places(name)
            variables[name.replace("/", "_")] = xarray.DataArray(self[name], dims=axes,
                                                                 coords={"time": self.time, **coordinates},
                                                                 attrs={"time_offset": self._place(name)[2]})
        return xarray.Dataset(variables)

    # --- particles ---

    def _species(self, name: str) -> tuple[int, dict[str, float]]:
        if name not in self.species:
            raise LarmorError(f"no species {name!r}; there are: {', '.join(self.species)}")
        count, values = c_uint64(), [c_double() for _ in range(3)]
        must("larmor_species", self._pointer, name.encode(), byref(count), *map(byref, values))
        return count.value, dict(zip(("charge", "mass", "weight"), (value.value for value in values)))

    def count(self, species: str) -> int:
        """The number of particles that are there."""
        return self._species(species)[0]

    def properties(self, species: str) -> dict[str, float]:
        """charge [e] and mass [m_p] of an ion, and weight: the ions that a particle stands for [n0 d_i^2]."""
        return self._species(species)[1]

    def particles(self, species: str) -> dict[str, np.ndarray]:
        """Copies of x, y [d_i] and vx, vy, vz [v_A] of all particles of a species, in no particular order. Velocities
        are half a step back."""
        count = self.count(species)
        out = {name: np.empty(count) for name in ("x", "y", "vx", "vy", "vz")}
        must("larmor_particles", self._pointer, species.encode(), 0, count,
             *(values.ctypes.data_as(POINTER(c_double)) for values in out.values()))
        return out


def version() -> str:
    """The version of the library."""
    return library().larmor_version().decode()
