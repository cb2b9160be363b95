#!/usr/bin/env python3
"""Makes a table of what Nsight Compute measured: `ncu --csv --page raw` of a few runs to Markdown, with targets."""
import argparse
import csv
import datetime
import pathlib
import re
import sys

from kernels import is_hot, short_name

# Values of a launch by the name used below.
METRICS = {
    "time": "gpu__time_duration.sum",
    "dram": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "bytes": "dram__bytes.sum.per_second",
    "l1": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "issue": "sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
    "fp64": "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
    "threads": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "sectors": "memory_l2_theoretical_sectors_global",
    "ideal sectors": "memory_l2_theoretical_sectors_global_ideal",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
}
DRAM_TARGET, LANES_TARGET, COALESCED_TARGET = 70, 90, 90  # %, of a memory-bound kernel
SHORT = 5e-6  # seconds; what is shorter is mostly the launch

PREFIXES = {"": 1, "n": 1e-9, "u": 1e-6, "m": 1e-3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def unit_scale(unit):
    """Of times and rates, to seconds and bytes per second; 1 for any other unit."""
    match = re.fullmatch(r"([numKMGT]?)(s|second|byte/s|byte/second)", unit)
    return PREFIXES[match[1]] if match else 1


def read_launches(text):
    """Kernel -> values of its last launch; a value that was not measured is None."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError("not the output of ncu --csv --page raw")
    rows = csv.DictReader(lines[start:])
    units = next(rows, {})
    launches = {}
    for row in rows:
        values = {}
        for name, metric in METRICS.items():
            try:
                values[name] = float(row[metric].replace(",", "")) * unit_scale(units[metric])
            except (KeyError, ValueError):
                values[name] = None
        kernel = short_name(row["Kernel Name"])
        if is_hot(kernel):
            launches[kernel] = values
    if not launches:
        raise ValueError("no kernel was measured")
    return launches


def ratio(values, part, whole, scale=1.0):
    if values[part] is None or not values[whole]:
        return None
    return values[part] / values[whole] * scale


def memory_bound(values):
    """Whether DRAM is busier than the schedulers and the double-precision units, in a kernel of some length."""
    known = [values[name] for name in ("dram", "issue", "fp64", "time")]
    return None not in known and known[0] == max(known[:3]) and values["time"] >= SHORT


def show(value, digits=0, target=None):
    """A cell; with a target, whether the value is above it."""
    if value is None:
        return "-"
    return f"{value:.{digits}f}" + ("" if target is None else " met" if value > target else " **missed**")


def cells(kernel, v):
    bound = memory_bound(v)

    def judged(value, target):
        return show(value, 1, target if bound else None)

    return [
        kernel,
        show(v["time"] and v["time"] * 1e6, 1),
        judged(v["dram"], DRAM_TARGET),
        judged(v["threads"] and v["threads"] / 32 * 100, LANES_TARGET),
        judged(ratio(v, "ideal sectors", "sectors", 100), COALESCED_TARGET),
        show(v["bytes"] and v["bytes"] / 1e12, 2),
        show(v["l1"]),
        show(v["l2"]),
        show(v["issue"]),
        show(v["fp64"]),
        show(v["occupancy"]),
        show(v["registers"]),
        show(ratio(v, "load sectors", "load requests"), 1),
        show(ratio(v, "store sectors", "store requests"), 1),
        show(ratio(v, "conflicts", "wavefronts", 100)),
    ]


HEADS = ["kernel", "us", "DRAM %", "lanes %", "coalesced %", "TB/s", "L1 %", "L2 %", "issue %", "fp64 %", "occupancy %",
         "registers", "sectors/load", "sectors/store", "conflicts %"]


def table(launches):
    order = sorted(launches, key=lambda kernel: -(launches[kernel]["time"] or 0))
    rows = [HEADS, ["---"] * len(HEADS)] + [cells(kernel, launches[kernel]) for kernel in order]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def heading(version, today):
    """From the output of `larmor --version`."""
    gpu = re.search(r"^backend cuda: ([^,\n]+)", version, re.M)
    commit = re.match(r"Larmor .*\((.*)\)", version)
    return f"### {gpu[1] if gpu else 'unknown GPU'}, {today}, commit {commit[1] if commit else 'unknown'}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", action="store_true", help="print what ncu must measure")
    parser.add_argument("--version", default="", help="what larmor --version printed")
    parser.add_argument("reports", nargs="*", type=pathlib.Path, help="SHAPE_PRECISION.csv")
    options = parser.parse_args()
    if options.metrics:
        print(",".join(METRICS.values()))
        return
    try:
        text = heading(options.version, datetime.date.today())
        for path in options.reports:
            text += f"\n{path.stem.replace('_', ', ')}:\n\n" + table(read_launches(path.read_text()))
    except (OSError, ValueError) as error:
        sys.exit(f"profile: {path}: {error}")
    print(text, end="")


if __name__ == "__main__":
    main()
