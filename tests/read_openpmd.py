#!/usr/bin/env python3
"""Reads a series of fields and particles with the openPMD-api, as users of other programs do: read_openpmd.py DIRECTORY
STEPS STEPS. The steps, with commas, are those with meshes and those with particles. Exit code 77: the package openpmd_api
is not here."""
import sys

try:
    import openpmd_api
except ImportError:
    print("SKIPPED: the package openpmd_api is not here", file=sys.stderr)
    sys.exit(77)


def main() -> int:
    series = openpmd_api.Series(f"{sys.argv[1]}/data_%T.h5", openpmd_api.Access.read_only)
    found = {"meshes": [], "particles": []}
    for step, iteration in series.iterations.items():
        if len(iteration.meshes):
            found["meshes"].append(step)
        if len(iteration.particles):
            found["particles"].append(step)
        for species in iteration.particles:
            x = iteration.particles[species]["position"]["x"]
            values = x.load_chunk()
            series.flush()
            assert len(values) == x.shape[0] > 0 and (values >= 0).all(), f"step {step}: x of {species}"
        density = next(name for name in iteration.meshes if name.startswith("n_"))
        values = iteration.meshes[density][openpmd_api.Mesh_Record_Component.SCALAR].load_chunk()
        series.flush()
        assert (values >= 0).all() and values.mean() > 0, f"step {step}: {density}"
    wanted = {kind: [int(step) for step in text.split(",")] for kind, text in zip(found, sys.argv[2:])}
    assert found == wanted, f"{found} instead of {wanted}"
    print(f"ok: the openPMD-api {openpmd_api.__version__} reads {sys.argv[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
