#!/usr/bin/env python3
"""Runs of the program on many ranks of MPI, as a user starts them: the same files as on one rank, errors, signals, ranks that
die and ranks that hang.

    ranks.py --larmor build/release/larmor --random build/release/tests/random/random [--kills 20] [--configurations 40]
             [--backend cuda] [--only kills]

Exit code 77: there is no MPI here, or the program was built without it."""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# 96 x 72 cells: up to 7 ranks have halos along one axis at least. The density is infinite on a face of cells, where nothing may
# evaluate it.
CASE = """[run]
steps = {steps}
dt = 0.02
threads = 1
backend = {backend}
[grid]
nx = 96
ny = 72
lx = 48
ly = 36
[electrons]
temperature = 0.5
[fields]
bx = 1
bz = 0.2*sin(2*pi*y/ly)
[boundary]
x_min = inflow
x_max = absorbing
fields_x_max = radiating
[species.protons]
particles_per_cell = 8
drift_x = 0.5
temperature = 0.5
density = 1 + 0.5*cos(2*pi*y/ly) + 0.01/abs(x - 2)
[body.moon]
shape = disk
x = 20
y = 18
radius = 4
particles = absorbing
[output]
series_every = 5
fields_every = 20
particles_every = 20
checkpoint_every = {every}
keep = 3
[output.moments]
every = 20
quantities = B, J, T_e, velocity, pressure, temperature, energy_flux
coarsen = 2
[output.mean]
every = 30
average = 24
average_every = 4
quantities = B, E_terms, density, temperature
[distribution.f]
every = 20
axes = v_par, v_perp, gyrophase
bins = 10, 8, 6
from = -4, 0, 0
to = 4, 4, 360
[distribution.many]
every = 40
axes = pitch, energy, y
bins = 120, 150, 72
from = 0, 0, 0
to = 180, 8, 36
from_x = 10.1
"""

LARGE = """[run]
steps = 2
dt = 0.01
threads = 1
backend = {backend}
[grid]
nx = 96
ny = 96
lx = 24
ly = 24
[electrons]
temperature = 0.5
[fields]
bz = 1
[species.protons]
particles_per_cell = 130
temperature = 0.5
[species.alphas]
particles_per_cell = 130
temperature = 0.5
density = 0.1*(1 + 0.5*cos(2*pi*x/lx))
charge = 2
mass = 4
[output]
checkpoint_every = 1
keep = 2
"""

BOX = """[run]
steps = 2
dt = 0.01
[grid]
nx = 256
ny = 256
lx = 64
ly = 64
[electrons]
temperature = 1
[species.p]
particles_per_cell = 100
temperature = 1
"""

ENDLESS = "run.steps=1000000"  # a run that is still under way when a test stops it, on the fastest GPU too

failures = []


def check(condition, text):
    print(("ok    " if condition else "FAILS ") + text, flush=True)
    if not condition:
        failures.append(text)


def environment():
    """Open MPI refuses root, whom containers and test machines have, unless told otherwise."""
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def gpus():
    listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True)
    return len(listed.stdout.splitlines())


def command(ranks, program, *words):
    return [*(["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []), str(program), *words]


def run(ranks, program, *words, timeout=300):
    return subprocess.run(command(ranks, program, *words), capture_output=True, text=True, env=environment(), timeout=timeout)


def start(ranks, program, *words):
    return subprocess.Popen(command(ranks, program, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment())


def ranks_of(launcher, program):
    """The processes of the ranks in the order in which they were started."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(stat[1]) == launcher.pid and (entry / "exe").resolve() == pathlib.Path(program).resolve():
                found.append(int(entry.name))
        except OSError:
            pass
    return sorted(found)


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def fingerprint(directory):
    return re.search(r'"fingerprint": "(\w+)"', (directory / "run.json").read_text())[1]


def checkpoints(directory):
    return sorted((directory / "checkpoints").glob("checkpoint_*.h5"))


def step_of(directory):
    """The step of the last checkpoint, or -1."""
    return max((int(path.stem.rpartition("_")[2]) for path in checkpoints(directory)), default=-1)


def rows(directory):
    """The time series without the rate, which is that of the machine: the last column."""
    return [line.rpartition(",")[0] for line in (directory / "series.csv").read_text().splitlines()]


def contents(path):
    """Every dataset of an HDF5 file, by name, as bytes."""
    import h5py
    found = {}
    with h5py.File(path) as h5:
        h5.visititems(lambda name, item: found.update({name: item[()].tobytes()}) if isinstance(item, h5py.Dataset) else None)
    return found


def messages(text):
    """What the program itself has printed as an error."""
    return [line for line in text.splitlines() if line.startswith("larmor: ") and not line.startswith("larmor: warning")]


class Tests:
    def __init__(self, larmor, random_program, directory, options):
        self.larmor, self.random, self.directory, self.options = larmor, random_program, directory, options
        self.case = directory / "case.ini"
        self.case.write_text(CASE.format(steps=60, every=20, backend=options.backend))
        self.long = directory / "long.ini"
        self.long.write_text(CASE.format(steps=400, every=20, backend=options.backend))

    def larmor_run(self, ranks, case, output, *words):
        return run(ranks, self.larmor, "run", str(case), "--quiet", "--output", str(self.directory / output), *words)

    def same_files(self):
        """Time series, fields and checkpoints on one rank and on many."""
        alone = self.larmor_run(1, self.case, "alone")
        check(alone.returncode == 0, "one rank runs")
        want = fingerprint(self.directory / "alone")
        for ranks in (2, 3):
            many = self.larmor_run(ranks, self.case, f"on_{ranks}")
            here = self.directory / f"on_{ranks}"
            check(many.returncode == 0 and fingerprint(here) == want, f"{ranks} ranks give the same fingerprint")
            check(rows(here) == rows(self.directory / "alone"), f"{ranks} ranks write the same series.csv")
            for name in ("outputs/moments_00000040", "outputs/mean_00000030", "distributions/f_00000040",
                         "distributions/many_00000040"):
                one, other = (contents(folder / f"{name}.h5") for folder in (self.directory / "alone", here))
                check(one == other and len(one) > 1, f"{ranks} ranks write the same {name}")
            for one in checkpoints(self.directory / "alone"):
                printed = [run(1, self.larmor, "fingerprint", str(path)).stdout
                           for path in (one, here / "checkpoints" / one.name)]
                check(printed[0] == printed[1] != "", f"{ranks} ranks write the same {one.name}")
        for ranks, source in ((1, "on_3"), (3, "alone"), (2, "on_3")):
            path = self.directory / source / "checkpoints" / "checkpoint_00000020.h5"
            output = f"again_{ranks}_{source}"
            again = self.larmor_run(ranks, self.case, output, "--restart", str(path))
            check(again.returncode == 0 and fingerprint(self.directory / output) == want,
                  f"{ranks} ranks go on from a checkpoint of {source}")
            one, other = (contents(self.directory / folder / "outputs" / "mean_00000030.h5") for folder in ("alone", output))
            check(one == other and len(one) > 1, f"{ranks} ranks go on with the mean over time of {source}")

    def large_files(self):
        """A species of more than 2^20 particles, which go to the file in pieces, in two checkpoints."""
        case = self.directory / "large.ini"
        case.write_text(LARGE.format(backend=self.options.backend))
        for ranks in (1, 3):
            self.larmor_run(ranks, case, f"large_{ranks}")
        printed = [[run(1, self.larmor, "fingerprint", str(path)).stdout for path in checkpoints(self.directory / f"large_{ranks}")]
                   for ranks in (1, 3)]
        check(printed[0] == printed[1] and len(set(printed[0])) == 2, "3 ranks write the same large checkpoints")

    def exchanges(self):
        """Between GPUs, each way of exchange gives the same fingerprint, and small messages spare the links."""
        if self.options.backend != "cuda" or gpus() < 2:
            return
        want = fingerprint(self.directory / "alone")
        for way in ("host", "nccl", "nccl_host"):
            result = self.larmor_run(2, self.case, f"by_{way}", f"run.gpu_exchange={way}")
            check(result.returncode == 0 and fingerprint(self.directory / f"by_{way}") == want,
                  f"2 GPUs that exchange data by {way} give the same fingerprint")
        case = self.directory / "box.ini"
        case.write_text(BOX)
        for per_cell, spares in ((50, False), (2000, True)):
            result = run(2, self.larmor, "run", str(case), f"species.p.particles_per_cell={per_cell}",
                         "--output", str(self.directory / f"box_{per_cell}"))
            check(result.returncode == 0 and ("through the memory of the hosts" in result.stdout + result.stderr) == spares,
                  f"{per_cell} particles a cell {'spare' if spares else 'use'} the links between the GPUs")

    def wrong_input(self):
        """One message, exit code 2, nothing written."""
        wrong = [(["grid.nx=abc"], "grid.nx"), (["species.protons.density=-1"], "density"), (["--restart", "nowhere.h5"], "nowhere.h5")]
        if run(1, self.larmor, "run", str(self.case), "--backend", "cuda", "--steps", "0", "--output", str(self.directory / "gpu")).returncode:
            wrong.append((["--backend", "cuda"], "cuda"))
        for words, part in wrong:
            result = self.larmor_run(3, self.case, "wrong", *words)
            said = messages(result.stderr)
            check(result.returncode == 2 and len(said) == 1 and part in said[0] and not (self.directory / "wrong").exists(),
                  f"{' '.join(words)} is refused once: {result.returncode}, {said}")
        few = self.directory / "few.ini"
        few.write_text(BOX)
        result = self.larmor_run(3, few, "wrong", "grid.nx=1", "grid.ny=2")
        check(result.returncode == 2 and messages(result.stderr) == ["larmor: 3 ranks cannot share 1 x 2 cells: take fewer ranks"]
              and not (self.directory / "wrong").exists(), f"more ranks than cells are refused: {messages(result.stderr)}")
        other = run(2, self.larmor, "--version")
        check(other.returncode == 0 and other.stdout.count("Larmor") == 1, "other commands print once")

    def a_signal(self):
        """SIGUSR1 to every rank, as Slurm sends it. Not every mpirun hands it on."""
        process = start(2, self.larmor, "run", str(self.long), "--quiet", "--output", str(self.directory / "asked"), ENDLESS)
        wait_until(lambda: len(checkpoints(self.directory / "asked")) > 0)
        for rank in ranks_of(process, self.larmor):
            os.kill(rank, signal.SIGUSR1)
        errors = process.communicate(timeout=120)[1]
        check(process.returncode == 3 and "asked to stop (SIGUSR1)" in errors, "SIGUSR1 stops with a checkpoint")

    def kills(self):
        """A rank is killed at a random time; the run goes on from the last checkpoint on another number of ranks."""
        self.larmor_run(1, self.long, "whole")
        want, draw = fingerprint(self.directory / "whole"), random.Random(self.options.seed)
        for n in range(self.options.kills):
            output, ranks = self.directory / f"killed_{n}", draw.choice((2, 3, 4))
            process = start(ranks, self.larmor, "run", str(self.long), "--quiet", "--output", str(output))
            step = draw.randrange(20, 260, 20)
            wait_until(lambda: step_of(output) >= step)
            time.sleep(draw.uniform(0, 0.1))
            victims = ranks_of(process, self.larmor)
            if victims:
                os.kill(draw.choice(victims), signal.SIGKILL)
            process.communicate(timeout=120)
            left = wait_until(lambda: not ranks_of(process, self.larmor))
            last = checkpoints(output)[-1]
            whole = run(1, self.larmor, "info", "--verify", str(last)).returncode == 0
            again = self.larmor_run(draw.choice((1, 2, 3)), self.long, f"killed_{n}", "--restart", str(last))
            check(left and whole and again.returncode == 0 and fingerprint(output) == want,
                  f"kill {n} of {len(victims)} ranks: {last.name}, the restart ends as a whole run")

    def a_hang(self):
        """A rank that is stopped: the others end the run after run.rank_limit."""
        for which in (0, 1):
            output = self.directory / f"hung_{which}"
            process = start(3, self.larmor, "run", str(self.long), "--quiet", "--output", str(output), "run.rank_limit=00:00:08",
                            ENDLESS)
            wait_until(lambda: len(checkpoints(output)) > 0)
            victims = ranks_of(process, self.larmor)
            os.kill(victims[which], signal.SIGSTOP)
            before = time.monotonic()
            errors = process.communicate(timeout=120)[1]
            gone = wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in victims))
            check(gone and process.returncode not in (0, None) and "run.rank_limit" in errors,
                  f"rank {which} hangs: the run ends after {time.monotonic() - before:.1f} s, {messages(errors)[:1]}")

    def the_benchmark(self):
        result = run(3, self.larmor, "bench", "scale", "--quick", "--threads", "1", "--backend", self.options.backend)
        check(result.returncode == 0 and result.stdout.count(" equal") == 7 and "failed" not in result.stdout,
              f"bench scale ends on 3 ranks as on one: exit code {result.returncode}")
        if self.options.backend == "cuda" and gpus() >= 4:
            # Two of these ranks alone spare the links, and four alone would not: NCCL must go one way on all ranks.
            result = run(4, self.larmor, "bench", "scale-weak", "--cells", "512", "--ppc", "500", "--repeats", "1")
            check(result.returncode == 0 and "4 ranks" in result.stdout,
                  f"two GPUs that spare their links go on with two more: exit code {result.returncode}")

    def configurations(self):
        drawn = ("--seed", str(self.options.seed), "--count", str(self.options.configurations))
        kept = ("--cases", pathlib.Path(__file__).resolve().parent / "cases" / "random")
        if self.options.configurations == 0:
            return
        ranks, ways = (4, "gpu-ranks") if self.options.backend == "cuda" else (7, "ranks")
        for which, cases in (("random", drawn), ("kept", kept)):
            result = run(ranks, self.random, *cases, "--ways", ways, "--no-shrink", timeout=3600)
            print(result.stdout[-2000:])
            check(result.returncode == 0 and " 0 different, 0 crashed" in result.stdout,
                  f"{which} configurations on 2 to {ranks} ranks")


TESTS = (Tests.same_files, Tests.large_files, Tests.exchanges, Tests.wrong_input, Tests.a_signal, Tests.kills, Tests.a_hang, Tests.the_benchmark,
         Tests.configurations)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--larmor", type=pathlib.Path, required=True)
    parser.add_argument("--random", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--configurations", type=int, default=8, help="0: neither drawn nor kept ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", choices=[test.__name__ for test in TESTS], help="one group of tests")
    options = parser.parse_args()
    larmor, random_program = options.larmor.resolve(), options.random.resolve()
    if not shutil.which("mpirun") or "Open MPI" not in run(1, larmor, "--version").stdout:
        print("no MPI here, or the program was built without it")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        tests = Tests(larmor, random_program, pathlib.Path(directory), options)
        for test in TESTS:
            if options.only in (None, test.__name__):
                test(tests)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
