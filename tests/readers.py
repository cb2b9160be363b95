#!/usr/bin/env python3
"""Other programs read the output as it is meant: readers.py --larmor PROGRAM, with diagnostics/ on PYTHONPATH.

Two runs, one with [units], have different numbers and sizes of cells along x and y, and B is another linear function of x and
y in each component. So a reader that swaps the axes, shifts the places by a part of a cell or takes a wrong unit finds
other values. Readers that are not installed are named and left out; exit code 77: none is installed."""
import argparse
import importlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import larmor

NX, NY, LX, LY, DT, STEPS = 24, 10, 12.0, 4.0, 0.01, (0, 10, 20)
B = {"x": lambda x, y: 0.3 + 0.1 * y + 0 * x, "y": lambda x, y: -0.04 * x + 0 * y, "z": lambda x, y: 1 + 0.1 * x + 0.02 * y}
PLACE = {"x": (0, 0.5), "y": (0.5, 0), "z": (0.5, 0.5)}  # of the components of B, in cells (x, y) from the centre
DENSITY, PER_CELL = 0.5, 40
DRIFT = {"x": 0.5, "y": -0.2, "z": 0.1}
RUN = f"""
[run]
dt = {DT}
steps = {STEPS[-1]}
[grid]
nx = {NX}
ny = {NY}
lx = {LX}
ly = {LY}
[boundary]
x_min = reflecting
x_max = reflecting
y_min = reflecting
y_max = reflecting
[fields]
solver = none
bx = 0.3
az = 0.05*y^2 + 0.02*x^2
bz = 1 + 0.1*x + 0.02*y
[species.alphas]
charge = 2
mass = 4
density = {DENSITY}
particles_per_cell = {PER_CELL}
drift_x = {DRIFT["x"]}
drift_y = {DRIFT["y"]}
drift_z = {DRIFT["z"]}
[output]
fields_every = 10
particles_every = 20
particles_with_fields = on
[output.part]
every = 10
from_x = 3
to_x = 9
from_y = 0.8
coarsen = 2
quantities = B density
"""
B0, N0 = 5e-9, 5e6
M_P, E, MU_0, C = 1.67262192595e-27, 1.602176634e-19, 1.25663706127e-6, 299792458.0  # CODATA 2022


@dataclass(frozen=True)
class Case:
    """A run, and the values of its units in SI; without [units] they are 1."""

    directory: Path
    is_si: bool

    def si(self, of_si):
        return of_si if self.is_si else 1.0

    @property
    def length(self):
        return self.si(np.sqrt(M_P / (MU_0 * N0)) / E)

    @property
    def time(self):
        return self.si(M_P / (E * B0))

    @property
    def speed(self):
        return self.si(B0 / np.sqrt(MU_0 * N0 * M_P))

    @property
    def magnetic(self):
        return self.si(B0)

    @property
    def mass(self):
        return self.si(M_P)

    @property
    def charge(self):
        return self.si(E)

    @property
    def ions(self):
        """Real ions in the domain, in a metre along z."""
        return DENSITY * LX * LY * self.si(N0) * self.length**2

    def times(self):
        return np.array(STEPS) * DT * self.time


@dataclass(frozen=True)
class Source:
    """An output on the grid: where its cells begin, and their numbers and sizes."""

    series: str
    low: tuple[float, float]
    cells: tuple[int, int]
    size: tuple[float, float]
    has_particles: bool

    def file(self, case, step):
        return f"{case.directory}/{self.series}_{step:08d}.h5"

    def places(self, component):
        """x and y of the values of B. A coarse value is the mean of 2 x 2 values, which is its value in their middle."""
        fine = (LX / NX, LY / NY)
        return [self.low[k] + (np.arange(self.cells[k]) + 0.5) * self.size[k] + PLACE[component][k] * fine[k] for k in (0, 1)]

    def b(self, component):
        x, y = self.places(component)
        return B[component](x[None, :], y[:, None])


SOURCES = {"fields": Source("fields/data", (0, 0), (NX, NY), (LX / NX, LY / NY), True),
           "part": Source("outputs/part", (3, 0.8), (6, 4), (1.0, 0.8), False)}


def same(found, wanted, what):
    """Equal but for rounding."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape} instead of {wanted.shape}"
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max(), err_msg=what)


def in_box(position, case):
    """Positions fill the box, which is longer along x than along y."""
    for axis, length in (("x", LX), ("y", LY)):
        places = np.asarray(position[axis]) / case.length
        assert len(places) == DENSITY * PER_CELL * NX * NY, f"{len(places)} particles"
        low, high = places.min(), places.max()
        assert 0 <= low < 0.1 * length and 0.9 * length < high <= length, f"{axis}: {low} to {high}"


def drifts(velocity, case, unit=None):
    """The mean velocity is the drift, but for a turn by B within half a step and the few ions that a wall has sent back."""
    for axis, drift in DRIFT.items():
        mean = np.mean(velocity[axis]) / (unit or case.speed)
        assert abs(mean - drift) < 0.02, f"mean velocity along {axis}: {mean} instead of {drift}"


def with_openpmd_api(api, case):
    for source in SOURCES.values():
        series = api.Series(f"{case.directory}/{source.series}_%T.h5", api.Access.read_only)
        assert [int(step) for step in series.iterations] == list(STEPS)
        for (step, iteration), time in zip(series.iterations.items(), case.times()):
            same(iteration.time * iteration.time_unit_SI, time, f"time of step {step}")
            assert len(iteration.particles) == (source.has_particles and step != 10), f"particles of step {step}"
        iteration = series.iterations[0]
        mesh = iteration.meshes["B"]
        assert mesh.axis_labels == ["y", "x"], mesh.axis_labels
        same(mesh.unit_dimension, [0, 1, -2, -1, 0, 0, 0] if case.is_si else np.zeros(7), "dimension of B")
        spacing, offset = (np.array(of) * mesh.grid_unit_SI for of in (mesh.grid_spacing, mesh.grid_global_offset))
        same(spacing, np.array(source.size[::-1]) * case.length, "grid spacing")
        for component in B:
            record = mesh[component]
            values = record.load_chunk()
            series.flush()
            same(values * record.unit_SI, source.b(component) * case.magnetic, f"B_{component}")
            x, y = source.places(component)
            same(offset + np.array(record.position) * spacing, [y[0] * case.length, x[0] * case.length], "first place")
        if source.has_particles:
            openpmd_api_particles(api, series, case)


def openpmd_api_particles(api, series, case):
    species = series.iterations[0].particles["alphas"]

    def read(record, component):
        part = species[record][component]
        values = part.load_chunk()
        series.flush()
        return values * part.unit_SI

    in_box({axis: read("position", axis) + read("positionOffset", axis) for axis in "xy"}, case)
    scalar = api.Record_Component.SCALAR
    mass = read("mass", scalar)
    same(mass, np.full(len(mass), 4 * case.mass), "mass")
    same(read("charge", scalar), np.full(len(mass), 2 * case.charge), "charge")
    same(read("weighting", scalar).sum(), case.ions, "sum of the weights")
    drifts({axis: read("momentum", axis) / mass for axis in DRIFT}, case)


def with_openpmd_viewer(viewer, case):
    for source in SOURCES.values():
        series = viewer.OpenPMDTimeSeries(str((case.directory / source.series).parent), check_all_files=False)
        assert list(series.iterations) == list(STEPS)
        same(series.t, case.times(), "times")
        for component in B:
            values, grid = series.get_field("B", component, iteration=0)
            x, y = source.places(component)
            assert grid.axes == {0: "y", 1: "x"}, grid.axes
            same(grid.x, x * case.length, f"x of B_{component}")
            same(grid.y, y * case.length, f"y of B_{component}")
            same(values, source.b(component) * case.magnetic, f"B_{component}")
        if source.has_particles:
            x, y, *u, w, mass = series.get_particle(["x", "y", "ux", "uy", "uz", "w", "mass"], species="alphas", iteration=0)
            in_box({"x": x, "y": y}, case)
            same(mass, np.full(len(x), 4 * case.mass), "mass")
            same(w.sum(), case.ions, "sum of the weights")
            drifts(dict(zip("xyz", u)), case, case.speed / C)  # ux is p_x/(m c), with c in m/s also without [units]


def with_xarray(_, case):
    run = larmor.Run(case.directory)
    for name, source in SOURCES.items():
        data = run.dataset(name)
        same(data["time"], np.array(STEPS) * DT, "times")
        for component in B:
            values, (x, y) = data[f"B_{component}"].isel(time=0), source.places(component)
            labels = tuple(axis + "_face" * (place > 0) for axis, place in zip("yx", PLACE[component][::-1]))
            assert values.dims == labels, f"{values.dims} instead of {labels}"
            same(values[labels[0]], y, f"y of B_{component}")
            same(values[labels[1]], x, f"x of B_{component}")
            same(values, source.b(component), f"B_{component}")


def with_yt(yt, case):
    """Its reader of openPMD takes the first axis of an array for x, whatever its label, and leaves out the place of a value
    within its cell. The way of docs/user/outputs.md has the right places."""
    yt.set_log_level("error")
    for source in SOURCES.values():
        for step, time in zip(STEPS, case.times()):
            data = yt.load(source.file(case, step))
            same(data.current_time.to("s"), time, f"time of step {step}")
            same(data.domain_width[:2].to("m"), np.multiply(source.cells, source.size)[::-1] * case.length, "size")
        data = yt.load(source.file(case, 0))
        grid = data.covering_grid(0, data.domain_left_edge, data.domain_dimensions)
        for component in B:
            values = grid["openPMD", f"B_{component}"]
            same(values.to("T") if case.is_si else values, source.b(component)[:, :, None] * case.magnetic, f"B_{component}")
    with larmor.Run(case.directory).fields(STEPS[-1]) as fields:
        n = fields["n_alphas"].T[:, :, None]
        box = np.array([*fields.domain("n_alphas"), (0, 1)])
        data = yt.load_uniform_grid({"n": n}, n.shape, bbox=box, sim_time=fields.time)
        same(data.current_time, STEPS[-1] * DT, "time")
        same(data.r[:]["stream", "n"], fields["n_alphas"].T.ravel(), "n_alphas")
        same(data.r[:]["index", "x"], np.repeat((np.arange(NX) + 0.5) * LX / NX, NY), "x of n_alphas")
        same(data.r[:]["index", "y"], np.tile((np.arange(NY) + 0.5) * LY / NY, NX), "y of n_alphas")


def with_vtk(vtk, case):
    """The files for ParaView, which have normalised units."""
    from vtk.util.numpy_support import vtk_to_numpy
    from larmor import xdmf
    run = larmor.Run(case.directory)
    for name, source in SOURCES.items():
        reader = vtk.vtkXdmfReader()
        reader.SetFileName(str(xdmf.write(run, name)))
        reader.UpdateInformation()
        times = reader.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS())
        same(times, np.array(STEPS) * DT, "times")
        reader.UpdateTimeStep(0.0)
        blocks = reader.GetOutputDataObject(0)
        for component in B:
            found = 0
            for block in (blocks.GetBlock(k) for k in range(blocks.GetNumberOfBlocks())):
                values = block.GetPointData().GetArray(f"B_{component}")
                if not values:
                    continue
                found += 1
                x, y = source.places(component)
                same(block.GetBounds(), [x[0], x[-1], y[0], y[-1], 0, 0], f"bounds of B_{component}")
                same(vtk_to_numpy(values), source.b(component).ravel(), f"B_{component}")  # x runs fastest
            assert found == 1, f"B_{component} is in {found} blocks"


READERS = {"openpmd_api": with_openpmd_api, "openpmd_viewer": with_openpmd_viewer, "xarray": with_xarray, "yt": with_yt,
           "vtk": with_vtk}


def make_case(program, directory, is_si):
    name = "si" if is_si else "plain"
    file = directory / f"{name}.ini"
    file.write_text(RUN + (f"[units]\nb0 = {B0}\nn0 = {N0}\n" if is_si else ""))
    subprocess.run([program, "run", file, "--quiet", "--backend", "cpu", "--output", directory / name], check=True)
    return Case(directory / name, is_si)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--larmor", required=True)
    program = parser.parse_args().larmor
    packages, missing = {}, []
    for name in READERS:
        try:
            packages[name] = importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        print(f"SKIPPED, because they are not installed: {', '.join(missing)}")
    if not packages:
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        cases = [make_case(program, Path(scratch), is_si) for is_si in (False, True)]
        for name, package in packages.items():
            for case in cases:
                READERS[name](package, case)
            print(f"ok: {name} {getattr(package, '__version__', '')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
