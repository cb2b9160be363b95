"""python3 -m larmor COMMAND DIR: pictures and pages of a run, and two runs side by side. `python3 -m larmor --help` lists
the commands."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # before plot is imported: the command line writes files and shows nothing
from . import live, plot, report, xdmf  # noqa: E402
from .compare import compare  # noqa: E402
from .errors import RunError  # noqa: E402
from .follow import is_locked  # noqa: E402
from .run import Run  # noqa: E402

ABOUT = {"spectrum": "omega-k spectrum of B_y + i B_z, with the cold dispersion over it where B0 is along x",
         "energy": "energies in time", "power": "power of a mesh over k at one step",
         "growth": "amplitudes of the waves that grow, and their growth rates", "fields": "one mesh at one step", "movie": "all steps of one mesh",
         "anisotropy": "T_perp/T_par of a species", "distribution": "a distribution of particles",
         "probe": "values at points in time",
         "orbits": "orbits of ions that the run has followed",
         "report": "one HTML page of a run, with its pictures in it",
         "live": "a page in the browser that follows a run while it goes on",
         "xdmf": "XDMF files beside the HDF5 files, for ParaView and VisIt",
         "compare": "what differs between two runs; ends with 1 if any values do"}


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number from 0 on")
    return value


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="larmor", description="Pictures of a run of Larmor.")
    commands = top.add_subparsers(dest="command", required=True)
    for name, text in ABOUT.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("directory", metavar="DIR", help="output directory of a run")
        if name == "compare":
            command.add_argument("other", metavar="OTHER", help="output directory of the other run")
            command.add_argument("--tolerance", type=_tolerance, default=0.0,
                                 metavar="T", help="of differences over the largest value of a quantity (default 0: equal)")
            continue
        if name == "live":
            live.add_arguments(command)
        if name in ("xdmf", "live"):
            continue
        command.add_argument("--output", metavar="FILE", help="file to write (default: in DIR, named after what it shows)")
        if name == "spectrum":
            command.add_argument("--k-max", type=float, help="largest |k| shown [1/d_i]")
            command.add_argument("--omega-max", type=float, help="largest |omega| shown [Omega_ci]")
            command.add_argument("--no-theory", action="store_true", help="without the cold dispersion")
        if name == "energy":
            command.add_argument("--log", action="store_true", help="the changes on a logarithmic axis")
        if name in ("power", "growth"):
            command.add_argument("--record", default="B", help="as of `fields` (default B)")
        if name == "growth":
            command.add_argument("--periods", type=int, nargs=2, metavar=("MX", "MY"),
                                 help="of the wave in the box, along x and y (default: the four waves that have grown most)")
            command.add_argument("--window", type=float, nargs=2, metavar=("FROM", "TO"),
                                 help="of time, for the fit [1/Omega_ci] (default: from the noise to a third of the peak)")
        if name in ("fields", "movie"):
            command.add_argument("--record", default="B",
                                 help="mesh: B, E, J_i, rho, p_e, n_NAME, background_NAME, or one of an [output.NAME], as J or "
                                      "u_NAME (default B)")
            command.add_argument("--component", help="x, y or z; scalars have none (default z for vectors)")
        if name in ("fields", "movie", "anisotropy", "power", "growth"):
            command.add_argument("--source", help="fields, or the NAME of [output.NAME] (default: the first that has it)")
        if name in ("anisotropy", "distribution"):
            command.add_argument("--species", help="default: the first one")
        if name == "probe":
            command.add_argument("--column", help="bx, ..., ez, jx_i, ..., rho, p_e, n_NAME, ... (default: bz if it is there)")
        if name in ("distribution", "orbits", "probe"):
            section = "track" if name == "orbits" else name
            command.add_argument("--name", help=f"of [{section}.NAME] (default: the first one)")
        if name in ("fields", "anisotropy", "distribution", "power"):
            command.add_argument("--step", type=int, help="default: the last one")
        if name not in ("spectrum", "energy", "report", "orbits", "power", "growth"):
            command.add_argument("--limits", type=float, nargs=2, metavar=("LOW", "HIGH"), help="of the colours")
            command.add_argument("--cmap", help="colour map of matplotlib")
        if name == "movie":
            command.add_argument("--rate", type=float, default=10, help="frames a second (default 10)")
    return top


def mesh_name(run: Run, record: str, component: str | None, source: str | None) -> str:
    """`record/component`, with z where a vector's component is not given."""
    if component is not None:
        return f"{record}/{component}"
    try:
        run.source_of(f"{record}/z", source)
        return f"{record}/z"
    except RunError:
        run.source_of(record, source)
        return record


def draw(run: Run, args: argparse.Namespace) -> Path:
    """Writes the picture; returns its path."""
    style = {"limits": args.limits, "cmap": args.cmap} if "limits" in args else {}
    style = {name: value for name, value in style.items() if value is not None}
    name = args.command
    if args.command == "spectrum":
        figure = plot.spectrum_of(run, k_max=args.k_max, omega_max=args.omega_max, cold_theory=not args.no_theory)
    elif args.command == "energy":
        figure = plot.energy(run, args.log)
        name += "_log" if args.log else ""
    elif args.command == "power":
        figure = plot.power(run, args.record, args.step, args.source)
        name = "_".join(part for part in (name, args.record, _step(args.step)) if part)
    elif args.command == "growth":
        figure, lines = plot.growing_modes(run, args.record, args.periods and tuple(args.periods), args.window and tuple(args.window),
                                           args.source)
        print("\n".join(lines))
        name = f"{name}_{args.record}"
    elif args.command == "anisotropy":
        figure = plot.anisotropy(run, args.species, args.step, args.source, **style)
        name = "_".join(part for part in (name, args.species, _step(args.step)) if part)
    elif args.command == "distribution":
        figure = plot.distribution(run, args.name, args.species, args.step, **style)
        name = "_".join(part for part in (name, args.name, args.species, _step(args.step)) if part)
    elif args.command == "probe":
        figure = plot.probe(run, args.name, args.column, **style)
        name = "_".join(part for part in (name, args.name, args.column) if part)
    elif args.command == "orbits":
        figure = plot.orbits(run, args.name)
        name = "_".join(part for part in (name, args.name) if part)
    else:
        mesh = mesh_name(run, args.record, args.component, args.source)
        name = f"{name}_{mesh.replace('/', '_')}"
        if args.command == "movie":
            output = args.output or run.directory / f"{name}.mp4"
            return plot.movie(run, mesh, output, args.source, rate=args.rate, **style)
        figure = plot.fields(run, mesh, args.step, args.source, **style)
        name += f"_{_step(args.step)}" if args.step is not None else ""
    return plot.save(figure, args.output or run.directory / f"{name}.png")


def write_report(run: Run, output: str | None) -> Path:
    path = Path(output) if output else run.directory / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report.page(run), encoding="utf-8")
    return path


def print_comparison(args: argparse.Namespace) -> int:
    result = compare(open_run(args.directory), open_run(args.other))
    print("\n".join(result.lines(args.tolerance)))
    has_state_differences = args.tolerance == 0 and not result.ends_alike()
    return int(bool(result.missing) or has_state_differences or result.is_beyond(args.tolerance))


def _step(step: int | None) -> str:
    return "" if step is None else f"{step:08d}"


UNREADABLE = (RunError, ValueError, OSError, LookupError, RuntimeError)  # what files that are damaged or foreign may raise


def open_run(directory: str) -> Run:
    """A run, if the directory holds one."""
    run = Run(directory)
    if not run.has_files():
        raise RunError(f"{directory} holds no run; give the output directory of a run")
    return run


def explain(error: Exception, directory: str) -> str:
    """What went wrong, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, (LookupError, RuntimeError)) and not isinstance(error, RunError):
        text = f"a file of {directory} is damaged, or no run has written it: {text}"
    is_unfinished = Path(directory).is_dir() and is_locked(Path(directory) / "larmor.lock")
    return text + ("; the run goes on, and what is missing may come later" if is_unfinished else "")


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 2 where something cannot be read or drawn; of `compare` also 1, where values differ."""
    args = parser().parse_args(arguments)
    if args.command == "live":
        return live.follow(args.directory, args.port, not args.no_browser)
    try:
        if args.command == "compare":
            return print_comparison(args)
        run = open_run(args.directory)
        if args.command == "xdmf":
            print("\n".join(str(path) for path in xdmf.write_all(run)))
            return 0
        output = write_report(run, args.output) if args.command == "report" else draw(run, args)
    except UNREADABLE as error:
        print(f"larmor {args.command}: {explain(error, args.directory)}", file=sys.stderr)
        return 2
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
