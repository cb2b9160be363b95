"""The program larmor, started from Python, with the same options for all runs."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .errors import RunError
from .run import Run

BAD_INPUT = 2  # exit code
Item, Result = TypeVar("Item"), TypeVar("Result")


def positive(text: str) -> int:
    """A number of the command line, at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return number


@dataclass(frozen=True)
class Program:
    """Where the program is and what every run is given."""

    file: Path
    directory: Path  #: for the outputs of runs without a name
    backend: str | None = None
    threads: int | None = None
    ranks: int = 1  #: more than one: mpirun starts the runs
    jobs: int = 1  #: runs at a time, in `each`
    overrides: tuple[str, ...] = ()  #: "section.key=value", after those of a run
    warns: bool = True  #: shows the program's warnings
    about: dict[str, Any] = field(default_factory=dict)  #: "device" and "software" of the last run; "running": s of all
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)  #: of `about`

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser, default: Path) -> None:
        parser.add_argument("--larmor", type=Path, default=default, help="the program")
        parser.add_argument("--backend", choices=("auto", "cpu", "cuda"))
        parser.add_argument("--threads", type=int)
        parser.add_argument("--ranks", type=positive, default=1, help="mpirun -n RANKS starts the runs, a rank a GPU (1)")
        parser.add_argument("--jobs", type=positive, default=1, help="small runs of one case at a time, where it has many (1)")

    @classmethod
    def of(cls, arguments: argparse.Namespace, directory: Path, overrides: Iterable[str] = ()) -> Program:
        """The program of the command line's arguments."""
        return cls(arguments.larmor, directory, arguments.backend, arguments.threads, arguments.ranks, arguments.jobs,
                   tuple(overrides))

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """work(item) of all items, in their order. As many as `jobs` of them run at a time, in threads."""
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(work, items)

    def run(self, settings: Path | str, overrides: Iterable[str] = (), output: Path | None = None,
            may_stop: bool = False) -> Run:
        """Runs a configuration file, or the text of one. Raises RunError with the program's message when the run does
        not come to its end, unless it `may_stop` once it has begun."""
        output = output or Path(tempfile.mkdtemp(dir=self.directory))
        if isinstance(settings, str):
            file = output.parent / f"{output.name}.ini"
            file.write_text(settings)
        else:
            file = settings
        overrides = list(overrides)
        launcher = ["mpirun", "--bind-to", "none", "-n", str(self.ranks)] if self.ranks > 1 else []
        command = [*launcher, str(self.file), "run", str(file), *overrides, *self.overrides, "--output", str(output), "--overwrite"]
        command += ["--quiet"] + (["--backend", self.backend] if self.backend else [])
        if self.threads and not any(text.startswith("run.threads=") for text in overrides):
            command += ["--threads", str(self.threads)]
        (output / "run.json").unlink(missing_ok=True)  # of an earlier run
        environment = {"GOMP_SPINCOUNT": "10000"} | os.environ  # other work may hold a core
        start = time.monotonic()
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
        with self.lock:
            self.about["running"] = round(self.about.get("running", 0.0) + time.monotonic() - start, 1)
        ended = not done.returncode and (output / "run.json").exists()
        stopped = may_stop and done.returncode != BAD_INPUT and (output / "series.csv").exists()
        if not ended and not stopped:
            raise RunError(done.stderr.strip() or f"{' '.join(command)} ended with {done.returncode}")
        if self.warns:
            sys.stderr.write(done.stderr)
        result = Run(output)
        if ended:
            self.about.update({key: result.summary[key] for key in ("device", "software")})
        return result
