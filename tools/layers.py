#!/usr/bin/env python3
"""Checks that dependencies between folders point one way: physics <- backend <- cpu, cuda; backend, config <- sim <-
output <- run, bench <- main. A rule names the folders and the single headers that the files of a folder may include,
beside the folder's own headers. A file with a rule of its own may include what that rule names and nothing else. What
no rule allows is refused."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

PHYSICS = ["larmor/physics/" + part for part in ("numerics", "particles", "fields", "fluid", "collisions")]

RULES = {
    "larmor/physics/numerics": [],
    "larmor/physics/particles": PHYSICS + ["larmor/grid.h", "larmor/ledger.h"],
    "larmor/physics/fields": PHYSICS + ["larmor/grid.h"],
    "larmor/physics/fluid": PHYSICS,
    "larmor/physics/collisions": PHYSICS,
    "base": ["larmor/base.h", "larmor/grid.h", "larmor/physics/numerics"],
    "config": ["larmor/base.h", "larmor/config.h", "larmor/grid.h", "larmor/stopping.h", "larmor/physics/numerics", "base",
               "output/openpmd.h"],
    "backend": PHYSICS + ["larmor/background.h", "larmor/base.h", "larmor/grid.h", "larmor/ionisation.h", "larmor/ledger.h",
                          "base"],
    "cpu": PHYSICS + ["backend", "base"],
    "core": PHYSICS + ["backend", "base"],
    "fields": PHYSICS + ["core"],
    "fluid": PHYSICS + ["core"],
    "particles": PHYSICS + ["core", "backend"],
    "sim": PHYSICS + ["larmor/config.h", "larmor/ledger.h", "larmor/sim.h", "backend", "config"],
    "output": ["larmor/base.h", "larmor/grid.h", "larmor/run.h", "base", "output/checkpoint"],
    "output/checkpoint": ["larmor/background.h", "larmor/base.h", "larmor/config.h", "larmor/grid.h", "larmor/ledger.h",
                          "larmor/physics/numerics", "backend/raw_particles.h", "base"],
    "run": PHYSICS + ["larmor/base.h", "larmor/config.h", "larmor/run.h", "larmor/sim.h", "backend", "base",
            "config", "output", "output/checkpoint", "run/check"],
    "run/check": PHYSICS + ["larmor/run.h", "backend", "config", "output", "run"],
    "bench": PHYSICS + ["larmor/background.h", "larmor/base.h", "larmor/config.h", "larmor/grid.h", "larmor/run.h",
                        "larmor/sim.h", "base"],
    # Files with a rule of their own. Each header in include/larmor is one.
    "larmor/base.h": [],
    "larmor/grid.h": [],
    "larmor/ionisation.h": [],
    "larmor/body.h": ["larmor/grid.h"],
    "larmor/ledger.h": ["larmor/base.h", "larmor/body.h"],
    "larmor/background.h": ["larmor/grid.h", "larmor/ledger.h", "larmor/physics/fluid/background_sides.h",
                            "larmor/physics/numerics/wide.h"],
    "larmor/stopping.h": ["larmor/base.h", "larmor/physics/collisions/stopping_power.h"],
    "larmor/config.h": ["larmor/background.h", "larmor/base.h", "larmor/body.h", "larmor/grid.h", "larmor/ionisation.h",
                        "larmor/stopping.h", "base/expr.h"],
    "larmor/sim.h": ["larmor/config.h", "backend/backend.h", "output/checkpoint/checkpoint.h"],
    "larmor/run.h": ["larmor/config.h", "larmor/sim.h", "output/series.h"],
    "main.c": ["larmor/run.h", "base/threads.h", "bench/bench.h"],
    "base/memory.h": [],
    "base/stop.h": ["larmor/base.h"],
    "base/memory.c": ["base/memory.h", "base/control_group.h", "larmor/base.h"],
    "base/input.c": ["base/input.h", "larmor/base.h"],
    "base/checksum.c": ["base/checksum.h", "larmor/base.h"],
    "bench/table.h": [],
    "bench/table.c": ["bench/table.h", "larmor/base.h", "base/json.h"],
    "sim/step.c": ["larmor/sim.h", "larmor/physics/numerics/bounds.h", "larmor/physics/particles/tiling.h"],
    # The only file outside of cuda/ that knows which backends exist.
    "backend/backend.c": ["larmor/config.h", "larmor/physics/collisions", "backend", "base"],
}

# Headers that only these files may include.
OWNERS = {
    "backend/cuda.h": {"backend/backend.c", "core/backend.cu"},
    "bench/bench.h": {"main.c", "bench/command.c", "bench/cases.h"},
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


def main():
    wrong, names = [], set()
    for path, name in sources():
        names |= {name, folder_of(name)}
        if name not in RULES and folder_of(name) not in RULES:
            wrong.append(f"{path.relative_to(ROOT)}: neither the file nor its folder has a rule")
            continue
        wrong += [f"{path.relative_to(ROOT)}: must not include {i}" for i in includes(path) if not is_allowed(name, i)]
    wrong += [f"tools/layers.py: there is no {name}" for name in sorted(set(RULES) - names)]
    print("\n".join(wrong) if wrong else "layers: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
