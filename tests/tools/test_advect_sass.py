"""Names and columns of make advect-report."""
import unittest

import advect_sass
import ptx_report


class Names(unittest.TestCase):
    def test_readable(self):
        for name, meaning in {
            "tendency_kernel<4, false, 1, 15>": "WENO7, nested, all",
            "tendency_kernel<5, true, 0, 2>": "WENO9, full, y, fp32",
            "tendency_kernel<1, false, 1, 4>": "diffusion beside solids",
            "tendency_kernel<1, false, 0, 8>": "source",
            "capped_kernel<3, 0, 1, 64>": "WENO5, full, x, cap 64",
            "stage_kernel<4, true, false>": "WENO7, the program's stage, fp32",
            "stage_kernel<4, true, true>": None,
            "stage_kernel<1, false, false>": None,
            "wrap_kernel": None,
        }.items():
            self.assertEqual(advect_sass.readable(name), meaning)


class Rows(unittest.TestCase):
    def test_columns(self):
        counts = ptx_report.count_classes(["fma.rn.f64", "add.rn.f64", "selp.f64", "setp.gt.f64", "ld.global.f64", "bra"], 1)
        record = {"kernel": "tendency_kernel<4, false, 2, 1>", "registers": 38, "spill_stores": 0, "code": 512, "ptx": counts}
        rows = advect_sass.rows_of([record, {"kernel": "wrap_kernel", "ptx": counts}], "ptx")
        self.assertEqual(rows, [["WENO7, dynamic, x", 38, 0, 512, 6, 2, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1]])
        self.assertEqual(len(advect_sass.table(rows).splitlines()), 2)

    def test_machine_code_alone(self):
        counts = ptx_report.count_classes(["DFMA", "DSETP.GT.AND", "FSEL", "LDG.E.64"], 2)
        rows = advect_sass.rows_of([{"kernel": "capped_kernel<4, 0, 1, 32>", "sass": counts, "code": 64}], "sass")
        self.assertEqual(rows[0][:9], ["WENO7, full, x, cap 32", "-", "-", 64, 4, 1, 1, 0, 0])


if __name__ == "__main__":
    unittest.main()
