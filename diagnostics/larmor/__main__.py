"""python3 -m larmor COMMAND DIR: pictures of a run. `python3 -m larmor --help` lists the commands."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import plot
from .run import Run, RunError


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="larmor", description="Pictures of a run of Larmor.")
    commands = top.add_subparsers(dest="command", required=True)
    about = {"spectrum": "omega-k spectrum of B_y + i B_z with the cold dispersion over it (B0 along x)",
             "energy": "energies in time", "fields": "one mesh at one step"}
    for name, text in about.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("directory", metavar="DIR", help="output directory of a run")
        command.add_argument("--output", metavar="PNG", help="picture (default DIR/%s.png)" % name)
        if name == "spectrum":
            command.add_argument("--k-max", type=float, help="largest |k| shown [1/d_i]")
            command.add_argument("--omega-max", type=float, help="largest |omega| shown [Omega_ci]")
            command.add_argument("--no-theory", action="store_true", help="without the cold dispersion")
        if name == "fields":
            command.add_argument("--record", default="B",
                                 help="openPMD record: B, E, J, rho, n_NAME, background_NAME (default B)")
            command.add_argument("--component", help="x, y or z; scalars have none (default z for vectors)")
            command.add_argument("--step", type=int, help="default: the last one")
    return top


def mesh_name(run: Run, record: str, component: str | None, step: int | None) -> str:
    """`record/component`, with z where a vector's component is not given."""
    if component is not None:
        return f"{record}/{component}"
    if not run.field_steps:
        raise RunError(f"{run.directory} holds no fields")
    with run.fields(run.field_steps[-1] if step is None else step) as fields:
        return f"{record}/z" if f"{record}/z" in fields.names else record


def main(arguments: list[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    output = Path(args.output) if args.output else Path(args.directory) / f"{args.command}.png"
    try:
        run = Run(args.directory)
        if args.command == "spectrum":
            plot.spectrum_of(run, output, k_max=args.k_max, omega_max=args.omega_max, cold_theory=not args.no_theory)
        elif args.command == "energy":
            plot.energy(run, output)
        else:
            plot.fields(run, output, mesh_name(run, args.record, args.component, args.step), args.step)
    except (RunError, ValueError, OSError) as error:
        print(f"larmor {args.command}: {error}", file=sys.stderr)
        return 1
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
