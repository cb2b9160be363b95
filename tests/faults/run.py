#!/usr/bin/env python3
"""Injects the faults of faults.ini one by one and reports which test fails: a fault that no test sees is a gap.

    tests/faults/run.py [--only TEXT] [--output TABLE.md] [--jobs N] [--trees N]

Works on copies of the tree in build/faults, built without CUDA. Exit code 1 if a fault stays unseen. A test `example-NAME` is
the example NAME, run by the program of the faulty tree and checked against its theory.
"""
import argparse
import configparser
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREES = ROOT / "build" / "faults"

# The tests of many ranks: random configurations under MPI, drawn or kept, compared with one rank.
ON_RANKS = ["mpirun", "--oversubscribe", "-n", "7"]
MANY_RANKS = {"random-ranks": ["--seed", "1", "--count", "12", "--ways", "ranks", "--no-shrink"],
              "kept-ranks": ["--cases", "tests/cases/random", "--ways", "ranks", "--no-shrink"]}

EXAMPLE = "example-"


def source_files():
    """The tracked files. Outside of a checkout: all files except those that were built."""
    found = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, text=True)
    if found.returncode == 0:
        return [name for name in found.stdout.split("\0") if (ROOT / name).is_file()]
    top = [path for path in ROOT.iterdir() if path.name not in ("build", "out", ".git")]
    files = [path for path in top if path.is_file()]
    files += [path for folder in top if folder.is_dir() for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(ROOT)) for path in files]


def copy_tree(tree):
    """Copies only the files that differ, so that make builds only what depends on them, and removes what is there no more."""
    names = set(source_files())
    for folder in {name.split("/")[0] for name in names if "/" in name}:
        for path in (tree / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(tree)) not in names:
                path.unlink()
    for name in names:
        source, target = ROOT / name, tree / name
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


def make(tree, jobs, *targets):
    """Builds the targets. Returns None, or the end of the compiler's messages."""
    done = subprocess.run(["make", "-j", str(jobs), "NVCC=", "WERROR=", *targets], cwd=tree, capture_output=True,
                          text=True)
    return None if done.returncode == 0 else done.stderr[-500:]


def is_program(test):
    return test not in MANY_RANKS and not test.startswith(EXAMPLE)


def needs(test):
    """What make has to build for the test."""
    if test.startswith(EXAMPLE):
        return ["build/release/larmor"]
    program = "build/release/tests/random/random" if test in MANY_RANKS else f"build/release/tests/test_{test}"
    return ["build/release/larmor", program]


def command_of(test):
    if test.startswith(EXAMPLE):
        return ["tools/python.sh", "examples/run.py", test[len(EXAMPLE):], "--threads", "1", "--output", "build/examples"]
    program = needs(test)[-1]
    return [*ON_RANKS, program, *MANY_RANKS[test]] if test in MANY_RANKS else [program]


def first_failure(output):
    found = (re.search(r"tests/\S+?:\d+:[FE]:[^:]*:([^:]*)", output) or re.search(r"in \d+ ways: (\d+ different)", output)
             or re.search(r"^(\S.*?)  +\S.* OUTSIDE$", output, re.MULTILINE))
    return found.group(1) if found else "it ends early"


def has_no_check(output):
    """A check that could not begin has seen nothing."""
    return any(text in output for text in ("no Python with", "ImportError", "ModuleNotFoundError"))


def seen_by(tree, fault, jobs):
    """The test program and the test that fail, or None."""
    for test in fault["tests"].split():
        failed = make(tree, jobs, *needs(test))
        if failed:
            raise SystemExit(f"{fault['name']}: does not compile\n{failed}")
        environment = dict(os.environ, LARMOR=str(tree / "build/release/larmor"), OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        try:
            done = subprocess.run(command_of(test), cwd=tree, env=environment, capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            return test, "it does not end"
        output = done.stdout + done.stderr
        if test.startswith(EXAMPLE) and has_no_check(output):
            raise SystemExit(f"{fault['name']}: {test} cannot be checked\n{output[-500:]}")
        if done.returncode != 0:
            return test, first_failure(output)
    return None


def inject(tree, fault, jobs):
    path = tree / fault["file"]
    sound = path.read_text()
    path.write_text(replaced(sound, fault))
    try:
        return seen_by(tree, fault, jobs)
    finally:
        path.write_text(sound)


def work_through(tree, todo, jobs, done):
    """Takes faults from the queue until it is empty."""
    copy_tree(tree)
    while True:
        try:
            number, fault = todo.get_nowait()
        except queue.Empty:
            return
        try:
            seen = inject(tree, fault, jobs)
        except SystemExit as problem:
            seen = None
            print(problem, flush=True)
        done[number] = (fault, seen)
        print(f"{len(done)}: {fault['name']}: {' '.join(seen) if seen else 'SEEN BY NO TEST'}", flush=True)


def table(rows):
    lines = ["| fault | in | seen by |", "|---|---|---|"]
    for fault, seen in rows:
        by = f"`{'test_' + seen[0] if is_program(seen[0]) else seen[0]}`: {seen[1]}" if seen else "**nothing**"
        lines.append(f"| {fault['name']} | {fault['file']} | {by} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose names have this in them")
    parser.add_argument("--output", help="where the table goes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of all builds together")
    parser.add_argument("--trees", type=int, default=1, help="copies of the tree, worked on side by side")
    options = parser.parse_args()
    faults = [fault for fault in read_faults() if options.only in fault["name"]]
    todo, done = queue.Queue(), {}
    for numbered in enumerate(faults):
        todo.put(numbered)
    jobs = max(1, options.jobs // options.trees)
    workers = [threading.Thread(target=work_through, args=(TREES / str(k), todo, jobs, done))
               for k in range(options.trees)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    rows = [done.get(number, (fault, None)) for number, fault in enumerate(faults)]
    unseen = sum(1 for _, seen in rows if not seen)
    if options.output:
        pathlib.Path(options.output).write_text(table(rows))
    print(f"{len(rows) - unseen} faults seen, {unseen} not")
    return 1 if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
