#!/usr/bin/env python3
"""Checks that dependencies between folders point one way: physics <- backend <- cpu, cuda,
distributed; ranks <- backend; backend, config, checkpoint <-
sim <- output <- survey <- run; sim, output <- bench; run <- library; run, bench <- main. A rule names the folders and the single headers that the files of a folder may include,
beside the folder's own headers. A file with a rule of its own may include what that rule names and nothing else. What
no rule allows is refused."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

PHYSICS = ["larmor/physics/" + part for part in ("numerics", "particles", "fields", "fluid", "collisions")]

RULES = {
    "larmor/physics/numerics": [],
    "larmor/physics/particles": PHYSICS + ["larmor/body.h", "larmor/distribution.h", "larmor/grid.h", "larmor/ledger.h", "larmor/particles.h",
                                           "larmor/place.h", "larmor/track.h", "larmor/velocity_moments.h"],
    "larmor/physics/fields": PHYSICS + ["larmor/body.h", "larmor/grid.h"],
    "larmor/physics/fluid": PHYSICS,
    "larmor/physics/collisions": PHYSICS,
    "base": ["larmor/base.h", "larmor/body.h", "larmor/grid.h", "larmor/physics/numerics", "larmor/physics/particles/cut.h"],
    "config": ["larmor/base.h", "larmor/config.h", "larmor/grid.h", "larmor/stopping.h", "larmor/physics/numerics", "base"],
    "backend": PHYSICS + ["larmor/array.h", "larmor/background.h", "larmor/base.h", "larmor/distribution.h", "larmor/grid.h",
                          "larmor/ionisation.h", "larmor/ledger.h", "larmor/particles.h", "larmor/ranks.h", "larmor/track.h", "larmor/velocity_moments.h", "base",
                          "ranks"],
    "ranks": ["larmor/base.h", "larmor/grid.h"],
    "cpu": PHYSICS + ["backend", "base", "ranks/ranks.h"],
    "distributed": PHYSICS + ["backend", "base", "ranks"],
    "core": PHYSICS + ["backend", "base", "ranks"],
    "halo": PHYSICS + ["core", "ranks"],
    "fields": PHYSICS + ["core", "backend/friction.h", "ranks/ranks.h"],
    "fluid": PHYSICS + ["core"],
    "particles": PHYSICS + ["core", "backend"],
    "checkpoint": ["larmor/background.h", "larmor/base.h", "larmor/config.h", "larmor/grid.h", "larmor/ledger.h", "larmor/track.h",
                   "larmor/physics/numerics", "backend/raw_particles.h", "base"],
    "sim": PHYSICS + ["larmor/config.h", "larmor/ledger.h", "larmor/sim.h", "backend", "base", "checkpoint", "config",
            "ranks/ranks.h"],
    "output": ["larmor/base.h", "larmor/body.h", "larmor/grid.h", "larmor/particles.h", "larmor/physics/fields/moments.h", "larmor/physics/fields/ohm.h",
               "larmor/physics/fields/side_current.h", "larmor/physics/fields/solid.h", "larmor/physics/fields/wall.h", "larmor/sim.h",
               "larmor/physics/numerics/cell_index.h", "larmor/physics/numerics/hash.h", "larmor/physics/particles/cut.h",
               "larmor/physics/particles/hit_map.h", "base", "checkpoint", "config/facts.h"],
    "survey": PHYSICS + ["larmor/config.h", "larmor/sim.h", "backend", "base", "config", "output", "ranks", "sim/setup.h",
                         "sim/step_limits.h"],
    "run": ["larmor/base.h", "larmor/config.h", "larmor/run.h", "larmor/sim.h", "backend", "base", "checkpoint", "config",
            "output", "ranks/ranks.h", "sim/step_forecast.h", "sim/restart.h", "survey"],
    "library": ["larmor.h", "larmor/sim.h", "base", "output", "ranks/ranks.h", "run", "sim/restart.h", "survey/prepare.h"],
    "bench": PHYSICS + ["larmor/background.h", "larmor/base.h", "larmor/config.h", "larmor/grid.h", "larmor/run.h", "base",
                        "output/output.h", "output/series_columns.h", "distributed/distributed.h", "ranks/ranks.h", "sim/state.h"],
    # Files with a rule of their own. Each header in include/larmor is one.
    "larmor.h": [],
    "larmor/base.h": [],
    "larmor/place.h": ["larmor/physics/numerics/portable.h"],
    "larmor/distribution.h": ["larmor/physics/numerics/portable.h"],
    "larmor/grid.h": ["larmor/place.h"],
    "larmor/ionisation.h": [],
    "larmor/particles.h": [],
    "larmor/ranks.h": [],
    "larmor/track.h": [],
    "larmor/velocity_moments.h": [],
    "larmor/array.h": ["larmor/background.h", "larmor/base.h", "larmor/ionisation.h"],
    "larmor/body.h": ["larmor/grid.h"],
    "larmor/ledger.h": ["larmor/base.h", "larmor/body.h"],
    "larmor/background.h": ["larmor/grid.h", "larmor/ledger.h", "larmor/physics/fluid/background_sides.h",
                            "larmor/physics/numerics/wide.h"],
    "larmor/stopping.h": ["larmor/base.h", "larmor/physics/collisions/stopping_power.h"],
    "larmor/config.h": ["larmor/background.h", "larmor/base.h", "larmor/body.h", "larmor/distribution.h", "larmor/grid.h",
                        "larmor/ionisation.h", "larmor/particles.h", "larmor/ranks.h", "larmor/stopping.h"],
    "larmor/sim.h": ["larmor/array.h", "larmor/config.h", "larmor/distribution.h", "larmor/track.h", "larmor/velocity_moments.h"],
    "larmor/run.h": ["larmor/config.h"],
    "main.c": ["larmor/run.h", "base/provenance.h", "base/text.h", "base/threads.h", "bench/bench.h", "checkpoint/checkpoint.h", "distributed/distributed.h",
               "output/info.h", "ranks/ranks.h", "run/completion.h", "run/scan.h"],
    "base/memory.h": [],
    "base/stop.h": ["larmor/base.h"],
    "base/memory.c": ["base/memory.h", "base/control_group.h", "larmor/base.h"],
    "base/input.c": ["base/input.h", "larmor/base.h"],
    "base/checksum.c": ["base/checksum.h", "larmor/base.h"],
    "bench/table.h": [],
    "bench/table.c": ["bench/table.h", "larmor/base.h", "base/json.h"],
    # The only file outside of cuda/ that knows which backends exist.
    "backend/backend.c": ["larmor/config.h", "larmor/physics/collisions", "larmor/physics/fluid/opening.h", "backend", "base", "ranks/ranks.h"],
}

# Headers that only these files may include.
OWNERS = {
    "backend/cuda.h": {"backend/backend.c", "core/backend.cu", "core/memory.cu"},
    "bench/bench.h": {"main.c", "bench/command.c", "bench/cases.h"},
    "run/run_state.h": {"run/run.c", "run/due.c", "run/due.h", "run/messages.c", "run/summary.c", "run/energy.c"},
    "output/mesh_maker.h": {"output/" + name for name in ("mesh_maker.c", "meshes.c", "species_meshes.c")},
    "survey/parts.h": {"survey/" + name for name in ("backgrounds.c", "disk.c", "electrons.c", "energy.c", "ionisation.c", "limits.c", "prepare.c",
                                                   "ranks.c")}
                      | {"run/check.c"},
}


def folder_of(name):
    return name.rpartition("/")[0]


def sources():
    """Paths, and the names by which they are included."""
    for top in ("include", "src", "cuda"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".c", ".h", ".cu", ".cuh"):
                yield path, path.relative_to(ROOT / top).as_posix()


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def is_allowed(name, included):
    folder = folder_of(name)
    rule = RULES[name] if name in RULES else RULES[folder] + [folder]
    return {included, folder_of(included)} & set(rule) and name in OWNERS.get(included, {name})


def circles(uses):
    """Folders of src/ and cuda/ that need one another, found by taking away those that need no other."""
    left = {a: {b for b in needed if b in uses and b != a} for a, needed in uses.items()}
    while True:
        free = {a for a in left if not left[a] & left.keys()}
        if not free:
            return sorted(left)
        left = {a: needed for a, needed in left.items() if a not in free}


def main():
    wrong, names, uses = [], set(), {}
    for path, name in sources():
        names |= {name, folder_of(name)}
        if name not in RULES and folder_of(name) not in RULES:
            wrong.append(f"{path.relative_to(ROOT)}: neither the file nor its folder has a rule")
            continue
        wrong += [f"{path.relative_to(ROOT)}: must not include {i}" for i in includes(path) if not is_allowed(name, i)]
        if ROOT / "include" not in path.parents:
            uses.setdefault(folder_of(name), set()).update(folder_of(i) for i in includes(path))
    if circles(uses):
        wrong.append(f"folders that include from one another in a circle: {', '.join(circles(uses))}")
    wrong += [f"tools/layers.py: there is no {name}" for name in sorted(set(RULES) - names)]
    print("\n".join(wrong) if wrong else "layers: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
