#!/usr/bin/env python3
"""Runs examples and checks them against theory.

    tools/python.sh examples/run.py waves
    tools/python.sh examples/run.py all --backend cuda

Each example is a folder with run.ini and check.py. check.py declares RUNS, a list of (name, overrides) or, for another
file than run.ini, (name, overrides, file), and check(directory), which returns the rows of its table. The check takes
the numbers of a run from its settings (Run.number), not from a copy. Exit status 1 when a run fails or a number is
outside its band.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

from larmor import verify

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    return sorted(file.parent.name for file in HERE.glob("*/check.py"))


def load(name: str) -> ModuleType:
    """The module examples/NAME/check.py."""
    spec = importlib.util.spec_from_file_location(f"check_{name}", HERE / name / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_program(args: argparse.Namespace, file: Path, output: Path, overrides: list[str]) -> None:
    """One run; raises CalledProcessError when the program fails."""
    command = [str(args.larmor), "run", str(file), *overrides, "--output", str(output), "--overwrite", "--quiet"]
    command += ["--backend", args.backend] if args.backend else []
    has_threads = any(text.startswith("run.threads=") for text in overrides)  # a run whose subject is their number
    command += ["--threads", str(args.threads)] if args.threads and not has_threads else []
    start = time.monotonic()
    subprocess.run(command, check=True, env={"GOMP_SPINCOUNT": "10000"} | os.environ)  # other work may hold a core
    summary = json.loads((output / "run.json").read_text())
    print(f"  {file.parent.name}/{output.name}: {time.monotonic() - start:.1f} s on {summary['device']}, "
          f"{summary['particle_steps_per_second'] / 1e6:.3g} M particle-steps/s", flush=True)


def run_example(args: argparse.Namespace, name: str) -> list[verify.Row]:
    module = load(name)
    directory = args.output / name
    if not args.check_only:
        for run, overrides, *file in module.RUNS:
            run_program(args, HERE / name / (file[0] if file else "run.ini"), directory / run, list(overrides))
    rows = module.check(directory)
    print(verify.table(rows), flush=True)
    for picture in sorted(directory.glob("*.png")):
        print(f"picture: {picture}", flush=True)
    return rows


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", nargs="+", choices=[*names(), "all"], help="which; all: every one")
    parser.add_argument("--larmor", type=Path, default=HERE.parent / "build/release/larmor", help="the program")
    parser.add_argument("--backend", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--output", type=Path, default=Path("out/examples"), help="default out/examples")
    parser.add_argument("--check-only", action="store_true", help="check the outputs that are there, run nothing")
    return parser.parse_args()


def main() -> int:
    args = parse()
    chosen = names() if "all" in args.example else args.example
    summary: list[tuple[str, str]] = []
    for name in chosen:
        print(f"== {name}", flush=True)
        try:
            rows = run_example(args, name)
        except (subprocess.CalledProcessError, OSError, ValueError, ArithmeticError, RuntimeError) as error:
            print(f"  {error}", file=sys.stderr)
            summary.append((name, "FAILED"))
            continue
        outside = sum(not row.passed for row in rows)
        text = f"{len(rows)} numbers, " + (f"{outside} OUTSIDE" if outside else "all inside their bands")
        summary.append((name, text if rows else "FAILED: no numbers"))
    print("\n== summary")
    for name, text in summary:
        print(f"{name:<17}{text}")
    return 0 if all(text.endswith("their bands") for _, text in summary) else 1


if __name__ == "__main__":
    sys.exit(main())
