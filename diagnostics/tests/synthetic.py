"""Small run directories with known contents, in the formats that the program writes."""

import contextlib
import json
import socket
import struct
from pathlib import Path

import h5py
import numpy as np


def write_series(directory: Path, columns: dict[str, tuple[str, np.ndarray]]) -> None:
    """series.h5 and series.csv from name -> (unit, values)."""
    directory.mkdir(parents=True, exist_ok=True)
    with h5py.File(directory / "series.h5", "w") as h5:
        for name, (unit, values) in columns.items():
            h5.create_dataset(name, data=values).attrs["units"] = np.bytes_(unit)
    heads = [f"{name}[{unit}]" if unit else name for name, (unit, _) in columns.items()]
    rows = zip(*(values for _, values in columns.values()))
    lines = [",".join(heads)] + [",".join(str(int(v)) if isinstance(v, np.integer) else f"{v:.16e}" for v in row)
                                 for row in rows]
    (directory / "series.csv").write_text("\n".join(lines) + "\n")


def write_fields(directory: Path, step: int, time: float, meshes: dict[str, np.ndarray], spacing=(0.5, 0.25),
                 position=(0.0, 0.5), offset=(0.25, 0.125), folder="fields", stem="data") -> None:
    """fields/data_%08d.h5 with arrays [ny, nx]; spacing, position and offset as (y, x)."""
    (directory / folder).mkdir(parents=True, exist_ok=True)
    with h5py.File(directory / folder / f"{stem}_{step:08d}.h5", "w") as h5:
        h5.attrs["meshesPath"] = np.bytes_("meshes/")
        iteration = h5.create_group(f"data/{step}")
        iteration.attrs["time"], iteration.attrs["dt"] = time, 0.1
        for name, values in meshes.items():
            record, _, component = name.partition("/")
            data = iteration.create_dataset(f"meshes/{name}", data=values)
            data.attrs["position"] = position
            group = iteration[f"meshes/{record}"] if component else data
            group.attrs["axisLabels"] = np.array([b"y", b"x"])
            group.attrs["gridSpacing"] = np.array(spacing, dtype=np.float32)
            group.attrs["gridGlobalOffset"] = offset
            group.attrs["timeOffset"] = 0.0


def write_particles(directory: Path, step: int, species: str, x: np.ndarray, weight: float, folder="particles") -> None:
    """particles/data_%08d.h5; with another folder, into a file of fields that is there."""
    (directory / folder).mkdir(parents=True, exist_ok=True)
    with h5py.File(directory / folder / f"data_{step:08d}.h5", "a") as h5:
        h5.attrs["particlesPath"] = np.bytes_("particles/")
        iteration = h5.require_group(f"data/{step}")
        iteration.attrs["time"], iteration.attrs["dt"] = 0.1 * step, 0.1
        group = iteration.create_group(f"particles/{species}")
        group.create_dataset("position/x", data=x)
        for name, value in (("positionOffset/x", 2.0), ("weighting", weight)):
            constant = group.create_group(name)
            constant.attrs["value"], constant.attrs["shape"] = value, np.array([len(x)], dtype=np.uint64)


def write_maps(directory: Path, step: int, time: float, surfaces: dict[str, dict[str, np.ndarray]]) -> None:
    """maps/maps_%08d.h5 with hits [face, angle, energy] by surface and species; faces along y at x = 1."""
    folder = directory / "maps"
    folder.mkdir(parents=True, exist_ok=True)
    with h5py.File(folder / f"maps_{step:08d}.h5", "w") as h5:
        h5.attrs["step"], h5.attrs["time"] = step, time
        h5["angle_edges"], h5["energy_edges"] = [0.0, 45.0, 90.0], [0.1, 10.0]
        for name, species in surfaces.items():
            group = h5.create_group(name)
            group.attrs["particles"] = np.bytes_("absorbing")
            faces = len(next(iter(species.values())))
            group["x"], group["y"], group["length"] = np.ones(faces), np.arange(faces) + 0.5, np.ones(faces)
            group["normal_x"], group["normal_y"] = -np.ones(faces), np.zeros(faces)
            for who, hits in species.items():
                data = group.create_dataset(f"hits_{who}", data=hits.astype(np.uint64))
                data.attrs["weight"], data.attrs["mass"] = 0.25, 4.0


def write_distribution(directory: Path, name: str, step: int, axes: list[str], counts: dict[str, np.ndarray]) -> None:
    """distributions/NAME_%08d.h5; the edges of an axis are 0, 1, 2, ..."""
    folder = directory / "distributions"
    folder.mkdir(parents=True, exist_ok=True)
    with h5py.File(folder / f"{name}_{step:08d}.h5", "w") as h5:
        h5.attrs["step"], h5.attrs["time"], h5.attrs["velocity_time"] = step, 0.1 * step, 0.1 * step - 0.05
        for k, axis in enumerate(axes):
            edges = h5.create_dataset(f"edges_{k}", data=np.arange(next(iter(counts.values())).shape[k] + 1.0))
            edges.attrs["quantity"], edges.attrs["units"] = np.bytes_(axis), np.bytes_("v_A")
        for species, values in counts.items():
            data = h5.create_dataset(f"counts_{species}", data=values.astype(np.uint64))
            data.attrs["outside"], data.attrs["weight"], data.attrs["mass"] = 3, 0.25, 4.0


def write_settings(directory: Path) -> None:
    (directory / "run.ini").write_text("[run]\ndt = 0.1\n\n[species.protons]\ndrift_y = 0.1*sin(x)\n")
    (directory / "run.json").write_text(json.dumps({"fingerprint": "00ff"}))


def wave_run(directory: Path, waves, nt: int = 128, nx: int = 32, dt: float = 0.25, length: float = 8.0) -> None:
    """Field outputs of b = B_y + i B_z = sum A exp(i (k x - omega t)) from (A, mode, omega)."""
    x = (np.arange(nx) + 0.5) * length / nx
    for n in range(nt):
        b = sum(a * np.exp(1j * (2 * np.pi * m / length * x - omega * n * dt)) for a, m, omega in waves)
        b = np.tile(b, (2, 1))
        write_fields(directory, n * 5, n * dt, {"B/x": np.ones_like(b.real), "B/y": b.real, "B/z": b.imag},
                     spacing=(0.5, length / nx), offset=(0.25, 0.5 * length / nx), position=(0.0, 0.0))


def write_probe(directory: Path, name: str, steps: list[int], columns: dict[str, np.ndarray], x: list[float]) -> None:
    """probes/NAME_%08d.h5 with arrays [samples][points]; y of the points is 2 x."""
    folder = directory / "probes"
    folder.mkdir(exist_ok=True)
    with h5py.File(folder / f"{name}_{steps[-1]:08d}.h5", "w") as h5:
        h5.attrs.update({"format": np.bytes_("larmor-probe"), "dt": 0.25})
        h5["step"], h5["x_points"], h5["y_points"] = np.array(steps), np.array(x), 2 * np.array(x)
        for column, values in columns.items():
            h5[column] = values
            h5[column].attrs["units"] = np.bytes_("B0")


def write_track(directory: Path, name: str, steps: list[int], columns: dict[str, np.ndarray], left: list[int]) -> None:
    """tracks/NAME_%08d.h5 with arrays [samples][ions]; an ion with left >= 0 has left by x_min."""
    folder = directory / "tracks"
    folder.mkdir(exist_ok=True)
    with h5py.File(folder / f"{name}_{steps[-1]:08d}.h5", "w") as h5:
        h5.attrs.update({"format": np.bytes_("larmor-track"), "species": np.bytes_("protons"), "charge": 1.0, "mass": 2.0,
                         "dt": 0.5, "lx": 4.0, "ly": 2.0, "channel_names": np.array([b"x_min", b"x_max"])})
        h5["step"], h5["left"] = np.array(steps), np.array(left)
        h5["channel"] = np.where(np.array(left) >= 0, 0, -1)
        for column, values in columns.items():
            h5[column] = values
            h5[column].attrs["units"] = np.bytes_("d_i" if column in "xy" else "v_A")


@contextlib.contextmanager
def lock_of(directory, text=""):
    """Holds larmor.lock as a run does (F_OFD_SETLK)."""
    import fcntl  # other systems may lack it

    with open(directory / "larmor.lock", "w+") as stream:
        stream.write(text or f"process 7 on {socket.gethostname()} since 2026-01-02 03:04:05 UTC\n")
        stream.flush()
        fcntl.fcntl(stream, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        yield
