#!/usr/bin/env python3
"""Checks that dependencies point one way: base <- grid <- physics <- backends <- sim <- main."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Files matched by the pattern may include these of the project's headers only.
RULES = [
    ("include/larmor/base.h", r"^$"),
    ("include/larmor/stop.h", r"larmor/base\.h"),
    ("include/larmor/grid.h", r"^$"),
    ("include/larmor/memory.h", r"^$"),
    ("src/memory.c", r"larmor/(base|memory)\.h"),
    ("src/input.c", r"input\.h|larmor/base\.h"),
    ("include/larmor/body.h", r"larmor/grid\.h"),
    ("include/larmor/ledger.h", r"larmor/(base|body)\.h"),
    ("include/larmor/physics/*.h", r"larmor/(physics/.*|grid|ledger)\.h"),
    ("include/larmor/background.h", r"larmor/(grid|ledger|physics/advect)\.h"),
    ("include/larmor/ionisation.h", r"^$"),
    ("include/larmor/backend.h", r"larmor/(background|base|grid|ionisation|ledger|raw|physics/(collide|electrons|exchange))\.h"),
    ("include/larmor/surfaces.h", r"larmor/backend\.h"),
    ("src/cpu/*", r"(cpu|particles)\.h|larmor/(base|stop|grid|backend|background|edges|loading|memory|surfaces|threads|physics/.*)\.h"),
    ("cuda/*", r"(advect|cells|gpu|grid|nearby|electric|particles|bench|operators|particles_bench|tendency_bench)\.cuh|larmor/(base|stop|grid|backend|background|edges|loading|surfaces|cuda|bench_cuda|bench_ops|bench_reduce|table|physics/.*)\.h"),
    ("include/larmor/sim.h", r"larmor/(backend|checkpoint|config)\.h"),
    ("include/larmor/stopping.h", r"larmor/(base|physics/collide)\.h"),
    ("src/sim.c", r"larmor/(sim|edges|physics/(bounds|tiling))\.h"),
    ("src/checksum.c", r"checksum\.h|larmor/base\.h"),
    ("src/checkpoint*", r"(checkpoint_backgrounds|checkpoint_parts|checksum|h5)\.h|larmor/(base|grid|raw|checkpoint|config|physics/hash)\.h"),
    ("src/series*", r"(h5|input|series_old)\.h|larmor/(base|series)\.h"),
    ("include/larmor/table.h", r"^$"),
    ("src/table.c", r"larmor/(base|table)\.h"),
    ("include/larmor/bench*.h", r"larmor/(base|bench_ops|grid|table|physics/(hash|operators))\.h"),
    ("src/bench*", r"bench\.h|larmor/(background|bench|bench_cuda|bench_ops|bench_reduce|config|run|sim|table|threads|physics/hash)\.h"),
    ("src/openpmd.c", r"h5\.h|larmor/(base|grid|openpmd)\.h"),
]
# Headers that only the named files may include.
OWNERS = {
    "larmor/cuda.h": {"src/backend.c", "cuda/backend.cu"},
    "larmor/bench.h": {"src/main.c", "src/bench_command.c", "src/bench.h"},
    "bench.h": {p.relative_to(ROOT).as_posix() for p in ROOT.glob("src/bench*.c")},
}


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def main():
    wrong = []
    for pattern, allowed in RULES:
        files = sorted(ROOT.glob(pattern))
        if not files:
            wrong.append(f"{pattern}: matches no file")
        for path in files:
            wrong += [f"{path.relative_to(ROOT)}: must not include {i}" for i in includes(path) if not re.fullmatch(allowed, i)]
    for path in list(ROOT.glob("src/**/*.c")) + list(ROOT.glob("cuda/*")):
        name = str(path.relative_to(ROOT))
        wrong += [f"{name}: must not include {i}" for i in includes(path) if OWNERS.get(i) and name not in OWNERS[i]]
    print("\n".join(wrong) if wrong else "layers: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
