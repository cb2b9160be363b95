#!/usr/bin/env python3
"""Checks that dependencies between folders point one way: physics <- backend <- cpu, cuda; backend, config <- sim <-
output <- run, bench <- main. A folder may include its own headers and those of the folders that its rule names; what no
rule names is refused."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

PHYSICS = ["larmor/physics/" + part for part in ("numerics", "particles", "fields", "fluid", "collisions")]

# Folder: those whose headers its files may include. "larmor" has the headers that belong to no part: grid, ledger,
# configuration, sim, run.
RULES = {
    "larmor": PHYSICS + ["base", "backend", "output", "output/checkpoint"],
    "larmor/physics/numerics": ["larmor"],
    "larmor/physics/particles": ["larmor"] + PHYSICS,
    "larmor/physics/fields": ["larmor"] + PHYSICS,
    "larmor/physics/fluid": ["larmor"] + PHYSICS,
    "larmor/physics/collisions": ["larmor"] + PHYSICS,
    "base": ["larmor", "larmor/physics/numerics"],
    "config": ["larmor", "larmor/physics/numerics", "base", "output"],
    "backend": ["larmor", "base"] + PHYSICS,
    "cpu": ["backend", "base"] + PHYSICS,
    "core": ["backend", "base"] + PHYSICS,
    "fields": ["core"] + PHYSICS,
    "fluid": ["core"] + PHYSICS,
    "particles": ["core", "backend"] + PHYSICS,
    "sim": ["larmor", "config", "backend"] + PHYSICS,
    "output": ["larmor", "output/checkpoint", "base"],
    "output/checkpoint": ["larmor", "larmor/physics/numerics", "backend", "base"],
    "run": ["larmor", "larmor/physics/numerics", "backend", "base", "config", "output", "output/checkpoint", "run/check"],
    "run/check": ["larmor", "larmor/physics/numerics", "larmor/physics/fields", "backend", "base", "config", "output", "run"],
    "bench": ["larmor", "base"] + PHYSICS,
    "": ["larmor", "base", "bench"],
}

# Headers of "larmor" that only these folders may include.
ONLY = {
    "larmor/sim.h": {"larmor", "sim", "output", "run", "run/check", "bench"},
    "larmor/run.h": {"output", "run", "run/check", "bench", ""},
    "larmor/config.h": {"larmor", "config", "backend", "sim", "output", "output/checkpoint", "run", "run/check", "bench"},
}
# Headers that only these files may include.
OWNERS = {"backend/cuda.h": {"src/backend/backend.c", "cuda/core/backend.cu"}}


def folder_of(name):
    return name.rpartition("/")[0]


def sources():
    for top in ("include", "src", "cuda"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".c", ".h", ".cu", ".cuh"):
                yield path, folder_of(str(path.relative_to(ROOT / top)))


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def refused(path, folder, name):
    target = folder_of(name)
    if target != folder and target not in RULES.get(folder, []):
        return True
    if folder not in ONLY.get(name, {folder}):
        return True
    return path not in OWNERS.get(name, {path})


def main():
    wrong = []
    for path, folder in sources():
        name = str(path.relative_to(ROOT))
        if folder not in RULES:
            wrong.append(f"{name}: its folder has no rule")
        wrong += [f"{name}: must not include {i}" for i in includes(path) if refused(name, folder, i)]
    print("\n".join(wrong) if wrong else "layers: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
