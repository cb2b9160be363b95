#!/usr/bin/env python3
"""Runs cases of physics against limits fixed beforehand.

    tools/python.sh tests/physics/run.py energy
    tools/python.sh tests/physics/run.py all fields.eta=1e-3 --long

Each case is a module of this folder. Its first line is its title, and its function rows(program, long) runs what it needs and
returns rows of a table. Exit status 1 when a run fails or a number is beyond its limit.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from larmor import verify
from larmor.program import Program

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def names() -> list[str]:
    return sorted(file.stem for file in HERE.glob("*.py") if file.stem != "run")


def examine(program: Program, name: str, long: bool = False) -> verify.Result:
    """Runs a case; prints its rows when it is done."""
    module = importlib.import_module(name)
    with tempfile.TemporaryDirectory() as directory:
        inside = replace(program, directory=Path(directory), warns=False)
        return verify.examine(inside, name, module.__doc__.splitlines()[0].rstrip("."), "full" if long else "quick",
                              lambda: list(module.rows(inside, long)))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=[*names(), "all"])
    parser.add_argument("overrides", nargs="*", help="section.key=value, for every run")
    Program.add_arguments(parser, HERE.parents[1] / "build/release/larmor")
    parser.add_argument("--long", action="store_true", help="more steps and more cases")
    return parser.parse_args()


def main() -> int:
    args = parse()
    program = Program.of(args, Path(), args.overrides)
    results = [examine(program, name, args.long) for name in (names() if args.case == "all" else [args.case])]
    return verify.conclude(results)


if __name__ == "__main__":
    sys.exit(main())
