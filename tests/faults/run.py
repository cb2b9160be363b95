#!/usr/bin/env python3
"""Injects the faults of faults.ini one by one and sees which test turns red: a fault that no test sees is a gap.

    tests/faults/run.py [--only TEXT] [--output TABLE.md] [--jobs N]

Works on a copy of the tree in build/faults, built without CUDA. Exit code 1 if a fault stays unseen.
"""
import argparse
import configparser
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "faults"


def copy_tree():
    """The tracked files, newer ones only, so that what is built stays."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, TREE / name
        if not source.is_file():
            continue
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def read_faults():
    parser = configparser.RawConfigParser(delimiters=("=",), interpolation=None)
    parser.read(ROOT / "tests" / "faults" / "faults.ini")
    return [dict(parser[name], name=name) for name in parser.sections()]


def replaced(text, fault):
    count = text.count(fault["from"])
    if count != 1:
        raise SystemExit(f"{fault['name']}: `from` stands {count} times in {fault['file']}, not once")
    return text.replace(fault["from"], fault["to"])


def make(jobs, *targets):
    """Builds; None, or the end of what the compiler said."""
    done = subprocess.run(["make", "-j", str(jobs), "NVCC=", "WERROR=", *targets], cwd=TREE, capture_output=True,
                          text=True)
    return None if done.returncode == 0 else done.stderr[-500:]


def first_failure(output):
    found = re.search(r"tests/\S+?:\d+:[FE]:[^:]*:([^:]*)", output)
    return found.group(1) if found else "it ends early"


def seen_by(fault, jobs):
    """(test program, test) that turns red, or None."""
    for test in fault["tests"].split():
        program = f"build/release/tests/test_{test}"
        failed = make(jobs, "build/release/larmor", program)
        if failed:
            raise SystemExit(f"{fault['name']}: does not compile\n{failed}")
        environment = dict(os.environ, LARMOR=str(TREE / "build/release/larmor"))
        try:
            done = subprocess.run([program], cwd=TREE, env=environment, capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            return test, "it does not end"
        if done.returncode != 0:
            return test, first_failure(done.stdout + done.stderr)
    return None


def table(rows):
    lines = ["| fault | in | seen by |", "|---|---|---|"]
    for fault, seen in rows:
        by = f"`test_{seen[0]}`: {seen[1]}" if seen else "**nothing**"
        lines.append(f"| {fault['name']} | {fault['file']} | {by} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose names have this in them")
    parser.add_argument("--output", help="where the table goes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    faults = [fault for fault in read_faults() if options.only in fault["name"]]
    copy_tree()
    rows = []
    for number, fault in enumerate(faults):
        path = TREE / fault["file"]
        sound = path.read_text()
        path.write_text(replaced(sound, fault))
        try:
            seen = seen_by(fault, options.jobs)
        finally:
            path.write_text(sound)
        rows.append((fault, seen))
        print(f"{number + 1}/{len(faults)} {fault['name']}: {' '.join(seen) if seen else 'SEEN BY NO TEST'}", flush=True)
    unseen = sum(1 for _, seen in rows if not seen)
    if options.output:
        pathlib.Path(options.output).write_text(table(rows))
    print(f"{len(rows) - unseen} faults seen, {unseen} not")
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
