#!/usr/bin/env python3
"""What the compiler made of the ways to write a right-hand side of a background field, and of the program's own.

With --nvcc the sources are compiled as the build does: registers, spills, code size and the instructions of the PTX, and
those of the machine code where cuobjdump is found. With --program only cuobjdump is run, on a program that is there. The
times are in `larmor bench advect`.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import ptx_report
from kernels import short_name

SOURCES = ["cuda/bench/tendency.cu", "cuda/fluid/advect.cu"]

# Columns, and the classes of instructions in them.
COLUMNS = [
    ("fp64", ["fma f64", "add/mul f64", "div/sqrt f64"]),
    ("fma f64", ["fma f64"]),
    ("fp32", ["fma f32", "add/mul f32", "div/sqrt f32"]),
    ("convert", ["convert"]),
    ("select", ["select"]),
    ("setp", ["compare"]),
    ("ld glob", ["load global"]),
    ("st glob", ["store global"]),
    ("ld shar", ["load shared"]),
    ("st shar", ["store shared"]),
    ("local", ["local"]),
    ("branch", ["branch"]),
]

ORDERS = ["full", "nested", "dynamic", "branch"]
TERMS = {1: "x", 2: "y", 4: "diffusion", 8: "source", 15: "all"}
BYTES = 16  # of an instruction since Volta


def readable(name):
    """What a kernel does; None: not one of these."""
    m = re.fullmatch(r"(tendency|capped|stage)_kernel<(.*)>", name)
    if not m:
        return None
    numbers = [{"true": 1, "false": 0}.get(a) if a in ("true", "false") else int(a) for a in m[2].split(", ")]
    weno = f"WENO{2 * numbers[0] - 1}"
    if m[1] == "stage":
        scheme, single, limited = numbers
        if scheme < 3 or limited:
            return None
        return f"{weno}, the program's stage{', fp32' if single else ''}"
    order, term = ORDERS[numbers[-2 if m[1] == "tendency" else 1]], TERMS[numbers[-1 if m[1] == "tendency" else 2]]
    if m[1] == "capped":
        return f"{weno}, {order}, {term}, cap {numbers[3]}"
    if numbers[0] == 1:
        return term + (" beside solids" if order != "full" else "")
    return f"{weno}, {order}, {term}{', fp32' if numbers[1] else ''}"


def rows_of(records, code):
    """Rows of a table: resources where they are known, then instructions."""
    rows = []
    for r in records:
        name, counts = readable(r["kernel"]), r[code]
        if name and counts:
            known = [r.get(key, "-") for key in ("registers", "spill_stores", "code")]
            rows.append([name, *known, sum(counts.values())] + [sum(counts[c] for c in classes) for _, classes in COLUMNS])
    return sorted(rows)


def table(rows):
    head = ["kernel", "regs", "spill", "code", "all"] + [name for name, _ in COLUMNS]
    cells = [head] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    return "\n".join("  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]) for row in cells)


def compiled(options):
    return [r for source in SOURCES for r in ptx_report.report_unit(source, options.build, options.arch, options.tools)]


def disassembled(options):
    cuobjdump = shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    text = subprocess.run([cuobjdump, "-sass", "-arch", options.arch, options.program], capture_output=True, text=True,
                          check=True).stdout
    sass = ptx_report.parse_sass(text)
    names = ptx_report.demangle(list(sass))
    return [{"kernel": short_name(names[k]), "code": BYTES * sum(c.values()), "ptx": None, "sass": c} for k, c in sass.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, help="folder of the objects")
    parser.add_argument("--program", help="a program with kernels, in place of the objects")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--tools", help="folder that may have cuobjdump")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("build/advect-report"), help="folder")
    options = parser.parse_args()
    if not options.build and not options.program:
        parser.error("--build or --program is needed")
    try:
        records = disassembled(options) if options.program else compiled(options)
    except (RuntimeError, ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"advect-report: {error}")
    text = ""
    for code, what in (("ptx", "PTX"), ("sass", "machine code")):
        rows = rows_of(records, code)
        if rows:
            text += f"Instructions of the {what}, {options.arch}\n{table(rows)}\n\n"
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "kernels.txt").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
