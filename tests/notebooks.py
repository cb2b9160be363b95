#!/usr/bin/env python3
"""Runs the notebooks of examples/notebooks as plain Python, without Jupyter.

    tools/python.sh tests/notebooks.py                 # all
    tools/python.sh tests/notebooks.py 2_waves

The code cells of a notebook run in their order, in one namespace and in a scratch directory. The program is that of the
variable LARMOR, else of build/release. An exception, also of an assertion in a cell, names the cell and fails the test,
and so do outputs that are stored in a notebook.
"""

from __future__ import annotations

import argparse
import json
import linecache
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"  # before anything imports matplotlib

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "notebooks"


def code_cells(notebook: Path) -> list[tuple[str, str]]:
    """The name and the source of each code cell. The number counts all cells, as a reader does."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    cells = []
    for number, cell in enumerate(content["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        name = f"{notebook.name}, cell {number}"
        if cell["outputs"] or cell["execution_count"] is not None:
            raise ValueError(f"{name}: it has outputs; clear them before you commit")
        cells.append((name, "".join(cell["source"])))
    return cells


def run(notebook: Path) -> None:
    """Raises what a cell raises."""
    import matplotlib.pyplot as plt
    namespace: dict[str, object] = {"__name__": "__main__"}
    for name, source in code_cells(notebook):
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name  # for the traceback
        exec(compile(source, name, "exec"), namespace)
        plt.close("all")


def passed(notebook: Path) -> bool:
    start = time.monotonic()
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            run(notebook)
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            place = next((name for name in frames if name.startswith(notebook.name)), notebook.name)
            print(f"FAILED {place}: {type(error).__name__}: {error}", flush=True)
            return False
        finally:
            os.chdir(home)
    print(f"ok {notebook.name}: {time.monotonic() - start:.1f} s", flush=True)
    return True


def main() -> int:
    names = sorted(file.stem for file in FOLDER.glob("*.ipynb"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", nargs="*", help=f"which: {', '.join(names)}; all of them by default")
    chosen = parser.parse_args().notebook or names
    unknown = sorted(set(chosen) - set(names))
    if unknown or not names:
        parser.error(f"no notebook {', '.join(unknown) or 'at all'} in {FOLDER}")
    for name in {"LARMOR", "LARMOR_LIBRARY"} & os.environ.keys():
        os.environ[name] = os.path.abspath(os.environ[name])
    return 0 if all([passed(FOLDER / f"{name}.ipynb") for name in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())
