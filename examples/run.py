#!/usr/bin/env python3
"""Runs examples and checks them against theory.

    tools/python.sh examples/run.py waves
    tools/python.sh examples/run.py all --backend cuda --full

Each example is a folder with run.ini and check.py. check.py declares RUNS, a list of (name, overrides) or, for another
file than run.ini, (name, overrides, file), and check(directory), which returns the rows of its table. FULL, where it is
declared, is a list of overrides that make every run a larger one, for a GPU. The check takes the numbers of a run from
its settings (Run.number), not from a copy. Exit status 1 when a run fails or a number is outside its band.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

from larmor import verify
from larmor.program import Program

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    return sorted(file.parent.name for file in HERE.glob("*/check.py"))


def load(name: str) -> ModuleType:
    """The module examples/NAME/check.py."""
    spec = importlib.util.spec_from_file_location(f"check_{name}", HERE / name / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def title(name: str) -> str:
    """The title of the example's page."""
    return (HERE / name / "README.md").read_text().splitlines()[0].lstrip("# ")


def run_all(program: Program, name: str, module: ModuleType, full: bool) -> None:
    """Does the runs of an example."""
    for run, overrides, *file in module.RUNS:
        start = time.monotonic()
        more = getattr(module, "FULL", []) if full else []
        keys = {text.partition("=")[0]: text for text in [*overrides, *more]}  # FULL decides where both have a key
        done = program.run(HERE / name / (file[0] if file else "run.ini"), keys.values(), program.directory / name / run)
        print(f"  {name}/{run}: {time.monotonic() - start:.1f} s on {done.summary['device']}, "
              f"{done.summary['particle_steps_per_second'] / 1e6:.3g} M particle-steps/s", flush=True)


def examine(program: Program, name: str, full: bool = False, check_only: bool = False) -> verify.Result:
    """Runs an example and checks it; prints the table and the pictures."""
    module = load(name)

    def find() -> list[verify.Row]:
        if not check_only:
            run_all(program, name, module, full)
        return module.check(program.directory / name)

    form = "full" if full and hasattr(module, "FULL") else "quick"
    result = verify.examine(program, name, title(name), form, find)
    for picture in sorted((program.directory / name).glob("*.png")):
        print(f"picture: {picture}", flush=True)
    return result


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", nargs="+", choices=[*names(), "all"], help="which; all: every one")
    Program.add_arguments(parser, HERE.parent / "build/release/larmor")
    parser.add_argument("--output", type=Path, default=Path("out/examples"), help="default out/examples")
    parser.add_argument("--full", action="store_true", help="the larger form, for a GPU")
    parser.add_argument("--check-only", action="store_true", help="check the outputs that are there, run nothing")
    return parser.parse_args()


def main() -> int:
    args = parse()
    program = Program.of(args, args.output)
    chosen = names() if "all" in args.example else args.example
    results = [examine(program, name, args.full, args.check_only) for name in chosen]
    return verify.conclude(results)


if __name__ == "__main__":
    sys.exit(main())
