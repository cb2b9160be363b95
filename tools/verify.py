#!/usr/bin/env python3
"""Runs all checks of physics, and makes the page of the manual from their results.

    tools/python.sh tools/verify.py --results out/verification.json
    tools/python.sh tools/verify.py waves energy --full --results docs/physics/verification.json
    tools/python.sh tools/verify.py --page docs/physics/verification.json > docs/physics/verification.md

The cases are the examples and those of tests/physics. --results writes what was found as JSON; other cases that the file has stay
there. Exit status 1 when a case fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from larmor import verify
from larmor.program import Program

ROOT = Path(__file__).resolve().parent.parent


def load(name: str, path: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LESSONS, LIMITS = load("lessons", "examples/run.py"), load("limits", "tests/physics/run.py")


def names() -> list[str]:
    return LESSONS.names() + LIMITS.names()


def examine(program: Program, chosen: list[str], full: bool) -> Iterator[verify.Result]:
    for name in chosen:
        yield (LESSONS if name in LESSONS.names() else LIMITS).examine(program, name, full)


# ---------------------------------------------------------------- the page

ABOUT = """# Verification

This page lists what `make verify` has found: the numbers of all [examples](../user/examples.md), and those of the cases of
[tests/physics](../../tests/physics/run.py), each with the value that theory expects and its band. The page of an example
says where a band or an expected value was changed after a run. `make verify` writes the same numbers to
`out/verification.json`. [Another page](verification_gpu.md) has the numbers of GPUs. This page is made from
[verification.json](verification.json) by [tools/verify.py](../../tools/verify.py).

"""

ABOUT_GPU = """# Verification on GPUs

This page lists what `make verify FORM=full` has found on GPUs: the numbers of the large form of those cases that have one, and
of the quick form of all others. Seven lessons have no large form. In advection, convergence, electron heating, gyration,
invariance and Landau damping no noise of particles decides, or the case refines its runs itself. The case beside peers has the
settings of published runs. Drifts and starts have the numbers of particles that their limits are for. Thin plasma at open sides
takes $10^5$ steps in small boxes, and was run on a core. The bands are those of the
[runs on a CPU](verification.md). The time is the sum of the times of all runs, with starts and files. This page is made from
[verification_gpu.json](verification_gpu.json) by [tools/verify.py](../../tools/verify.py).

"""


def link(result: verify.Result) -> str:
    path = f"examples/{result.name}/README.md" if result.name in LESSONS.names() else f"tests/physics/{result.name}.py"
    return f"[{result.title}](../../{path})"


def summary(results: list[verify.Result], on_gpu: bool) -> str:
    lines = [f"| case | form | date | {'time' if on_gpu else 'CPU time'} | device | verdict |", "|---|---|---|---|---|---|"]
    for r in results:
        seconds = r.running if on_gpu else r.seconds
        time = f"{seconds:.0f} s" if seconds else "-"
        lines.append(f"| {link(r)} | {r.form} | {r.date} | {time} | {r.device or '-'} | {r.verdict.splitlines()[0]} |")
    return "\n".join(lines) + "\n"


def section(result: verify.Result) -> str:
    """The table of one case, with its picture."""
    lines = [f"## {result.title}", ""]
    if result.failure:
        lines += [f"FAILED: {result.failure}", ""]
    if (ROOT / f"examples/{result.name}/picture.png").exists():
        lines += [f"![{result.title}](../../examples/{result.name}/picture.png)", ""]
    lines += ["| number | measured | standard error | expected | band | verdict |", "|---|---|---|---|---|---|"]
    for row in result.rows:
        label, measured, error, expected, _, band, verdict = verify.cells(row)
        label = re.sub(r"([|_^*$<])", r"\\\1", label)
        lines.append(f"| {label} | {measured} | {error} | {expected} | {band} | {verdict} |")
    return "\n".join(lines) + "\n"


def in_order(results: list[verify.Result]) -> list[verify.Result]:
    """The lessons in the order of the course, then the other cases."""
    course = re.findall(r"examples/(\w+)/README\.md", (ROOT / "docs/user/examples.md").read_text())
    return sorted(results, key=lambda r: (r.name not in LESSONS.names(), course.index(r.name) if r.name in course else 0, r.name))


def page(file: Path) -> str:
    """The page of a file of results, whose name tells of GPUs."""
    results, on_gpu = in_order(verify.read_results(file)), file.stem.endswith("_gpu")
    numbers, inside = sum(len(r.rows) for r in results), sum(row.passed for r in results for row in r.rows)
    text = f"{len(results)} cases have {numbers} numbers; {inside} of them are inside their bands.\n\n"
    missing = sorted(set(names()) - {r.name for r in results})
    if missing:
        text += f"Not measured yet: {', '.join(missing)}.\n\n"
    return (ABOUT_GPU if on_gpu else ABOUT) + text + summary(results, on_gpu) + "\n" + "\n".join(map(section, results))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help="default: every one")
    Program.add_arguments(parser, ROOT / "build/release/larmor")
    parser.add_argument("--output", type=Path, default=Path("out/examples"), help="of the examples; default out/examples")
    parser.add_argument("--full", action="store_true", help="the large form, for a GPU")
    parser.add_argument("--results", type=Path, help="a JSON file")
    parser.add_argument("--page", type=Path, metavar="RESULTS", help="run nothing; print the page of these results")
    args = parser.parse_args()
    unknown = sorted(set(args.case) - set(names()))
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are: {', '.join(names())}")
    return args


def main() -> int:
    args = parse()
    if args.page:
        print(page(args.page), end="")
        return 0
    if args.results and args.results.exists():
        verify.read_results(args.results)  # a damaged file is found before the runs
    program = Program.of(args, args.output)
    results = []
    for result in examine(program, args.case or names(), args.full):
        results.append(result)
        if args.results:
            verify.write_results(args.results, [result])
    return verify.conclude(results)


if __name__ == "__main__":
    sys.exit(main())
