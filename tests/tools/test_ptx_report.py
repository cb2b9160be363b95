"""make ptx-report reads the output of ptxas, nvcc and cuobjdump of CUDA 13.0, and fails where it must."""
import contextlib
import io
import json
import re
import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import kernels
import ptx_report

PASS = "_ZN36_GLOBAL__N__3775280d_4_s_cu__Z2goPdi11pass_kernelILi2EEEvPdi"
LOOP = "_ZN36_GLOBAL__N__3775280d_4_s_cu__Z2goPdi11loop_kernelEPdi"
LOAD = "_ZN36_GLOBAL__N__3775280d_4_s_cu__Z2goPdi11load_kernelEPd"
NAMES = {
    PASS: "void (anonymous namespace)::pass_kernel<2>(double*, int)",
    LOOP: "(anonymous namespace)::loop_kernel(double*, int)",
    LOAD: "(anonymous namespace)::load_kernel(double*)",
}

# pass_kernel calls a function that spills, loop_kernel spills itself.
PTXAS = f"""\
ptxas info    : Overriding maximum register limit 256 for '{PASS}' with  32 of maxrregcount option
ptxas info    : 272 bytes gmem
ptxas info    : Compiling entry function '{PASS}' for 'sm_90'
ptxas info    : Function properties for {PASS}
    528 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 528 bytes cumulative stack size, 10816 bytes smem
ptxas info    : Compile time = 13.281 ms
ptxas info    : Function properties for _ZN34_INTERNAL_3775280d_4_s_cu__Z2goPdi36_GLOBAL__N__3775280d_4_s_cu__Z2goPdi6helperEPdi
    0 bytes stack frame, 1040 bytes spill stores, 1128 bytes spill loads
ptxas info    : Compiling entry function '{LOOP}' for 'sm_90'
ptxas info    : Function properties for {LOOP}
    520 bytes stack frame, 24 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 520 bytes cumulative stack size
ptxas info    : Compiling entry function '{LOAD}' for 'sm_90'
ptxas info    : Function properties for {LOAD}
    40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 26 registers, used 0 barriers, 40 bytes cumulative stack size
"""
CLEAN = re.sub(r"\d+ bytes spill", "0 bytes spill", PTXAS)

PTX = f"""\
.version 9.0
.target sm_90
.entry {PASS}(
	.param .u64 {PASS}_param_0,
	.param .u32 {PASS}_param_1
)
.maxntid 256, 1, 1
{{
	.reg .pred 	%p<50>;
	.shared .align 4 .b8 store[6760];

	ld.param.v2.u32 	{{%r81, %r82}}, [{PASS}_param_0+40];
	@%p1 bra 	$L__BB2_49;

	// begin inline asm
	{{  .reg .u32 r0;  .reg .pred p;  shfl.sync.up.b32 r0|p, %r271, %r730, %r755, %r757;  @p add.u32 r0, r0, %r271;}}
	// end inline asm
	fma.rn.f64 	%fd1, %fd2, %fd3, %fd4;
	mul.rn.f32 	%f1, %f2, %f3;
$L__BB2_3:
	cvt.rn.f32.f64 	%f4, %fd1;
	cvt.u64.u32 	%rd1, %r1;
	setp.gt.f64 	%p3, %fd1, %fd2;
	selp.f64 	%fd7, %fd1, %fd2, %p3;
	ld.volatile.shared.u32 	%r2, [store];
	ld.f64 	%fd5, [%rd1];
	div.rn.f64 	%fd6, %fd5, %fd1;
	atom.shared.add.u32 	%r3, [store], %r2;
	@!%p2 atom.global.add.u64 	%rd2, [%rd1], 1;
	ret;

}}
.entry {LOOP}()
{{
	ret;

}}
.visible .entry {LOAD}()
{{
	ret;

}}
"""

SASS = f"""
		Function : {PASS}
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                       /* 0x00000a00ff017b82 */
                                                                                /* 0x000fe20000000800 */
        /*0070*/               @P0 LDG.E R54, desc[UR12][R2.64] ;               /* 0x0000000c02360981 */
        /*0100*/              @!P0 ATOMS.POPC.INC.32 RZ, [R4+URZ] ;             /* 0x00008e00ff368b82 */
        /*0110*/                   DFMA R2, R4, R6, R8 ;                        /* 0x000000000000781c */
        /*0120*/                   F2I.S64.F64 R2, R4 ;                         /* 0x000000000000781c */
        /*0124*/                   DSETP.GT.AND P0, PT, R2, R4, PT ;            /* 0x000000000000781c */
        /*0128*/                   FSEL R4, R5, R6, P0 ;                        /* 0x000000000000781c */
        /*0130*/                   MUFU.RCP64H R3, R5 ;                         /* 0x000000000000781c */
        /*0140*/                   BRA 0x140;                                   /* 0x000000000000781c */
        /*0150*/                   NOP;                                         /* 0x0000000000007918 */
"""


def records(ptxas):
    return ptx_report.combine("s.cu", "64", ptx_report.parse_ptxas(ptxas), ptx_report.parse_ptx(PTX),
                              {PASS: 128, LOOP: 256, LOAD: 384}, ptx_report.parse_sass(SASS), NAMES)


def nonzero(counts):
    return {name: n for name, n in counts.items() if n}


class Check(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(ptx_report.problems(records(CLEAN)), [])

    def test_a_spill_fails(self):
        wrong = ptx_report.problems(records(PTXAS))
        self.assertEqual(wrong, ["pass_kernel<2> (s.cu, 64 bit): spills: 1040 bytes stored, 1128 loaded",
                                 "loop_kernel (s.cu, 64 bit): spills: 24 bytes stored, 16 loaded"])

    def test_a_spill_in_a_cold_kernel_fails(self):
        wrong = ptx_report.problems(records(CLEAN.replace("40 bytes stack frame, 0 bytes spill stores",
                                                          "40 bytes stack frame, 8 bytes spill stores")))
        self.assertEqual(len(wrong), 1)
        self.assertIn("load_kernel", wrong[0])

    def test_a_spill_under_a_cap_is_allowed(self):
        found = records(PTXAS)
        for r in found:
            r["kernel"] = "capped_kernel<4, 1, 1, 32>"
        self.assertEqual(ptx_report.problems(found), [])

    def test_registers(self):
        self.assertEqual(ptx_report.problems(records(CLEAN.replace("Used 32", "Used 253"))), [])
        self.assertEqual(ptx_report.problems(records(CLEAN.replace("Used 26", "Used 255"))), [], "cold")
        wrong = ptx_report.problems(records(CLEAN.replace("Used 32", "Used 254", 1)))
        self.assertEqual(wrong, ["pass_kernel<2> (s.cu, 64 bit): 254 registers; a hot kernel must stay below 254"])

    def test_a_changed_format_fails(self):
        for old, new in (("spill stores", "spilled"), ("registers,", "regs,"), (LOOP, "other"), ("Compiling", "Making"), (PTXAS, "")):
            with self.assertRaises(ValueError):
                records(PTXAS.replace(old, new))
        with self.assertRaises(ValueError):
            ptx_report.combine("s.cu", "", {}, {}, {PASS: 128}, {}, {})

    def test_a_source_may_have_no_kernels(self):
        self.assertEqual(ptx_report.combine("s.cu", "", {}, {}, {}, {}, {}), [])

    def test_the_command_fails_and_still_writes(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
                mock.patch.object(ptx_report, "report_unit", lambda *_: records(PTXAS)), \
                mock.patch("sys.argv", ["ptx_report.py", "s.cu:64", "--build", "build", "--output", folder]):
            with self.assertRaises(SystemExit) as caught:
                ptx_report.main()
            self.assertIn("pass_kernel<2>", caught.exception.code)
            self.assertEqual(len(json.loads((Path(folder) / "kernels.json").read_text())["kernels"]), 3)


class Parsing(unittest.TestCase):
    def test_resources(self):
        first = records(PTXAS)[0]
        self.assertEqual([first[key] for key in ptx_report.RESOURCES],
                         ["pass_kernel<2>", "64", 32, 1040, 1128, 528, 10816, 128])

    def test_ptx(self):
        self.assertEqual(nonzero(records(CLEAN)[0]["ptx"]), {
            "fma f64": 1, "add/mul f32": 1, "div/sqrt f64": 1, "convert": 1, "load shared": 1, "generic": 1,
            "select": 1, "compare": 1, "atomic shared": 1, "atomic global": 1, "shuffle": 1, "branch": 2, "other": 3})

    def test_sass(self):
        self.assertEqual(nonzero(records(CLEAN)[0]["sass"]), {
            "fma f64": 1, "div/sqrt f64": 1, "convert": 1, "select": 1, "compare": 1, "load global": 1, "atomic shared": 1,
            "branch": 1, "other": 1})
        self.assertIsNone(records(CLEAN)[1]["sass"])

    def test_code_size(self):
        names = b"\0.text.first\0.text.second\0.shstrtab\0"
        start = 64 + len(names)
        sections = [(0, 0, 0), (1, 64, 512), (13, 64, 768), (26, 64, len(names))]  # name, offset, size
        elf = bytearray(64) + names
        struct.pack_into("<Q", elf, 0x28, start)
        struct.pack_into("<3H", elf, 0x3A, 64, len(sections), 3)
        for name, offset, size in sections:
            elf += struct.pack("<2I4Q", name, 0, 0, 0, offset, size).ljust(64, b"\0")
        self.assertEqual(ptx_report.code_sizes(bytes(elf)), {"first": 512, "second": 768})

    def test_kept(self):
        """With two kinds of GPU it reports the one that is asked for; a kind that is not there is an error."""
        both = CLEAN.replace("sm_90", "sm_80").replace("Used 26", "Used 99") + CLEAN
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(ptx_report, "demangle", lambda _: NAMES), \
                mock.patch.object(ptx_report.shutil, "which", lambda *_, **__: None), \
                mock.patch.object(ptx_report, "code_sizes", lambda elf: {PASS: len(elf), LOOP: 2, LOAD: 3}):
            kept = Path(folder) / "cuda/s.cu.64.o.kept"
            kept.mkdir(parents=True)
            (kept / "ptxas").write_text(both)
            for arch in ("80", "90"):
                (kept / f"s.compute_{arch}.ptx").write_text(PTX.replace("sm_90", f"sm_{arch}"))
            (kept / "s.compute_80.cubin").write_bytes(bytes(80))
            (kept / "s.compute_90.sm_90.cubin").write_bytes(bytes(90))
            for arch, size, registers in (("sm_80", 80, 99), ("sm_90", 90, 26)):
                found = {r["kernel"]: r for r in ptx_report.report_unit("cuda/s.cu:64", Path(folder), arch, None)}
                self.assertEqual((found["pass_kernel<2>"]["code"], found["load_kernel"]["registers"]), (size, registers))
            with self.assertRaisesRegex(ValueError, "GPU_TARGETS"):
                ptx_report.report_unit("cuda/s.cu:64", Path(folder), "sm_70", None)

    def test_tables(self):
        self.assertEqual(len(ptx_report.terminal_table(records(CLEAN)).splitlines()), 4)
        text = ptx_report.full_report(records(CLEAN), "sm_90")
        self.assertIn("| pass_kernel<2> | 64 | 32 | 0 | 0 | 528 | 10816 | 128 | yes | s.cu |", text)
        self.assertIn("## Instructions in the SASS", text)


class Names(unittest.TestCase):
    def test_short(self):
        for signature, name in {
            NAMES[PASS]: "pass_kernel<2>",
            NAMES[LOOP]: "loop_kernel",
            "void <unnamed>::pass_kernel<(int)1, (int)8>(<unnamed>::population, unsigned long long *)": "pass_kernel<1, 8>",
            "void <unnamed>::move_kernel<double>(T1 *, const T1 *, unsigned long)": "move_kernel<double>",
            "void cub::detail::scan::DeviceScanInitKernel<cub::ScanTileState<unsigned int, true> >(cub::S, int)":
                "DeviceScanInitKernel<ScanTileState<unsigned i...",
        }.items():
            self.assertEqual(kernels.short_name(signature), name)

    def test_hot(self):
        cold = ["load_kernel", "count_load_kernel", "place_stored_kernel", "get_kernel", "hash_kernel"]
        self.assertEqual([name for name in cold + ["pass_kernel<1, 8>", "place_kernel"] if kernels.is_hot(name)],
                         ["pass_kernel<1, 8>", "place_kernel"])


if __name__ == "__main__":
    unittest.main()
