"""Tables from the output of ncu. The layout of the CSV is that of ncu 2025.3."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import profile_table

LEAD = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
        "Device", "CC"]
UNITS = {"time": "ns", "dram": "%", "bytes": "byte/s", "registers": "register/thread", "load sectors": "sector"}
PASS = "void <unnamed>::pass_kernel<(int)1, (int)8>(<unnamed>::population, lm_step, unsigned long long *)"
MOVE = "void <unnamed>::move_kernel<long>(T1 *, const T1 *, const unsigned int *, unsigned long)"
MIX = "<unnamed>::mix_kernel(double *, double, const double *, double, const double *, unsigned long)"
LOAD = "<unnamed>::load_kernel(lm_profile, <unnamed>::population, lm_starts, int)"

# A pass on an H200, in the units of --print-units base.
MEASURED = {"time": "3,150,000", "dram": "71.61", "bytes": "3,450,000,000,000", "l1": "93.12", "l2": "76.70", "issue": "49.68",
            "fp64": "21.50", "occupancy": "61.77", "registers": "48", "threads": "31.78", "load sectors": "174,050,056",
            "load requests": "22,413,320", "store sectors": "167,799,832", "store requests": "20,971,520",
            "sectors": "344,733,438", "ideal sectors": "342,575,741", "conflicts": "386,034,957", "wavefronts": "657,878,261"}


def capture(*launches, names=tuple(profile_table.METRICS), units=UNITS):
    """The text of `ncu --csv --page raw` for (kernel, values that differ from MEASURED)."""
    rows = [LEAD + [profile_table.METRICS[n] for n in names], [""] * len(LEAD) + [units.get(n, "") for n in names]]
    for k, (kernel, values) in enumerate(launches):
        rows.append([str(k), "1275", "larmor", "127.0.0.1", kernel, "1", "13", "(256, 1, 1)", "(4145, 1, 1)", "0", "9.0"]
                    + [{**MEASURED, **values}[n] for n in names])
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


def rows_of(text):
    """A dictionary: kernel, then head of the column, then cell."""
    lines = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in text.splitlines()]
    return {line[0]: dict(zip(lines[0], line)) for line in lines[2:]}


def rows(*launches, **how):
    return rows_of(profile_table.table(profile_table.read_launches(capture(*launches, **how))))


class Table(unittest.TestCase):
    def test_values(self):
        self.assertEqual(rows((PASS, {})), {"pass_kernel<1, 8>": {
            "kernel": "pass_kernel<1, 8>", "us": "3150.0", "DRAM %": "71.6 met", "lanes %": "99.3 met", "coalesced %": "99.4 met",
            "TB/s": "3.45", "L1 %": "93", "L2 %": "77", "issue %": "50", "fp64 %": "22", "occupancy %": "62", "registers": "48",
            "sectors/load": "7.8", "sectors/store": "8.0", "conflicts %": "59"}})

    def test_missed(self):
        row = rows((PASS, {"dram": "70.0", "threads": "20", "ideal sectors": "200000000"}))["pass_kernel<1, 8>"]
        self.assertEqual([row["DRAM %"], row["lanes %"], row["coalesced %"]],
                         ["70.0 **missed**", "62.5 **missed**", "58.0 **missed**"])

    def test_only_memory_bound_kernels_have_targets(self):
        for values in ({"dram": "40"}, {"issue": "90"}, {"fp64": "80"}, {"time": "4000"}, {"issue": "n/a"}):
            row = rows((PASS, values))["pass_kernel<1, 8>"]
            self.assertNotIn("m", row["DRAM %"] + row["lanes %"] + row["coalesced %"], values)

    def test_the_last_launch_of_each_kernel_longest_first(self):
        found = rows((MIX, {"time": "7456"}), (PASS, {"time": "1"}), (MOVE, {"time": "1598400"}), (PASS, {}), (LOAD, {}))
        self.assertEqual(list(found), ["pass_kernel<1, 8>", "move_kernel<long>", "mix_kernel"])
        self.assertEqual(found["mix_kernel"]["us"], "7.5")

    def test_missing_values(self):
        row = rows((PASS, {"dram": "n/a"}), names=["dram", "registers"])["pass_kernel<1, 8>"]
        self.assertEqual(row.pop("kernel"), "pass_kernel<1, 8>")
        self.assertEqual(row.pop("registers"), "48")
        self.assertEqual(set(row.values()), {"-"})

    def test_no_accesses(self):
        row = rows((PASS, {"load sectors": "0", "load requests": "0", "sectors": "0", "ideal sectors": "0"}))["pass_kernel<1, 8>"]
        self.assertEqual([row["sectors/load"], row["coalesced %"]], ["-", "-"])

    def test_other_units(self):
        row = rows((PASS, {"time": "3.15", "bytes": "3.45"}), units={"time": "ms", "bytes": "Tbyte/s"})["pass_kernel<1, 8>"]
        self.assertEqual([row["us"], row["TB/s"]], ["3150.0", "3.45"])

    def test_lines_before_the_table(self):
        self.assertEqual(len(profile_table.read_launches("==PROF== Connected\n" + capture((PASS, {})))), 1)

    def test_nothing_measured(self):
        for text in ("", "==ERROR== ERR_NVGPUCTRPERM\n", capture(), capture((LOAD, {}))):
            with self.assertRaises(ValueError):
                profile_table.read_launches(text)


class Command(unittest.TestCase):
    def run_main(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch("sys.argv", ["profile_table.py", *arguments]):
            profile_table.main()
        return out.getvalue()

    def test_metrics(self):
        self.assertEqual(self.run_main("--metrics").strip().split(","), list(profile_table.METRICS.values()))

    def test_report(self):
        version = "Larmor 0.1.0 (478ea82)\ncompiler: gcc 12 (Debian)\nbackend cuda: NVIDIA H200, 140 GiB, capability 9.0\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "linear_double.csv"
            path.write_text(capture((PASS, {})))
            lines = self.run_main("--version", version, str(path)).splitlines()
            self.assertRegex(lines[0], r"^### NVIDIA H200, \d{4}-\d\d-\d\d, commit 478ea82$")
            self.assertEqual(lines[2], "linear, double:")
            path.write_text("")
            with self.assertRaises(SystemExit) as caught:
                self.run_main(str(path))
            self.assertIn("linear_double.csv: not the output of ncu", caught.exception.code)


if __name__ == "__main__":
    unittest.main()
