#!/usr/bin/env python3
"""What the compiler made of every CUDA kernel: registers, spills, stack, shared memory, code size, instructions by class.

The build keeps what ptxas said, the PTX and the cubin beside each object (OBJECT.kept); the numbers of one kind of GPU come
from these, and from cuobjdump where it is found. A spill in any kernel (but those that are made to be measured with too few registers), or too
many registers in a hot one, is an error.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys

from kernels import is_hot, may_spill, short_name

REGISTER_LIMIT = 254  # of a hot kernel; at 255, the most there can be, the compiler has run out

# Class of an instruction: first match of its PTX opcode, of its SASS opcode. Branches include calls and exits; generic
# are loads and stores to memory whose kind the compiler does not know.
CLASSES = [
    ("fma f32", r"fma\..*f32", r"FFMA"),
    ("fma f64", r"fma\..*f64", r"DFMA"),
    ("add/mul f32", r"(add|sub|mul)\..*f32", r"FADD|FMUL"),
    ("add/mul f64", r"(add|sub|mul)\..*f64", r"DADD|DMUL"),
    ("div/sqrt f32", r"(div|rcp|r?sqrt|sin|cos|ex2|lg2|tanh)\..*f32", r"MUFU(?!.*64)"),
    ("div/sqrt f64", r"(div|rcp|r?sqrt)\..*f64", r"MUFU"),
    ("div int", r"(div|rem)\.", r"(?!)"),
    ("convert", r"cvt\..*f(16|32|64)", r"F2FP?|F2I|I2FP?|FRND"),
    ("select", r"selp|slct", r"U?SEL|FSEL"),
    ("compare", r"set(p)?\.", r"[A-Z]*SETP"),
    ("load global", r"ld\.(.*\.)?global|cp\.async", r"LDG|LDGSTS|UBLKCP"),
    ("store global", r"st\.(.*\.)?global", r"STG"),
    ("load shared", r"ld\.(.*\.)?shared", r"LDS|LDSM"),
    ("store shared", r"st\.(.*\.)?shared", r"STS"),
    ("local", r"(ld|st)\.(.*\.)?local", r"LDL|STL"),
    ("generic", r"(ld|st)\.(?!(.*\.)?(param|const))", r"LD|ST"),
    ("atomic shared", r"(atom|red)\.(.*\.)?shared", r"ATOMS"),
    ("atomic global", r"(atom|red)\.", r"ATOMG?|REDG?"),
    ("barrier", r"(bar|barrier|membar|fence|mbarrier)\.", r"BAR|MEMBAR|SYNCS|DEPBAR"),
    ("shuffle", r"(shfl|vote|match|redux|activemask)\b", r"SHFL|VOTEU?|MATCH|REDUX"),
    ("branch", r"(bra|brx|call|ret|exit)\b", r"BRA|BRX|CALL|RET|EXIT"),
]
OTHER = "other"


def count_classes(opcodes, column):
    counts = dict.fromkeys([c[0] for c in CLASSES] + [OTHER], 0)
    patterns = [(c[0], re.compile(f"({c[column]})" + (r"(\.|$)" if column == 2 else ""))) for c in CLASSES]
    for opcode, n in collections.Counter(opcodes).items():
        counts[next((name for name, p in patterns if p.match(opcode)), OTHER)] += n
    return counts


def parse_ptxas(text):
    """Kernel -> its numbers, from `ptxas -v`. Functions that a kernel calls follow it and count as part of it."""
    kernels, name = {}, ""
    for line in text.splitlines():
        if m := re.search(r"Compiling entry function '(\w+)'", line):
            name = m[1]
        elif m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            entry = kernels.setdefault(name, {})
            for key, value in zip(("stack", "spill_stores", "spill_loads"), m.groups()):
                entry[key] = entry.get(key, 0) + int(value)
        elif m := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            kernels.setdefault(name, {}).update(registers=int(m[1]), shared=int(shared[1]) if shared else 0)
    return kernels


def parse_ptx(text):
    """Kernel -> count of each class of instruction."""
    kernels = {}
    for name, body in re.findall(r"^[.\w ]*\.entry (\w+)\(.*?^{(.*?)^}", text, re.M | re.S):
        statements = re.split("[;{}]", re.sub(r"//.*", "", body))
        matches = (re.match(r"\s*(?:\$?\w+:\s*)*(?:@!?%?\w+\s+)?([a-z][\w.:]*)(?=\s|$)", s) for s in statements)
        kernels[name] = count_classes((m[1] for m in matches if m), 1)
    return kernels


def parse_sass(text):
    """Kernel -> count of each class of instruction, from `cuobjdump -sass`. NOPs are padding."""
    kernels = {}
    for part in text.split("Function : ")[1:]:
        opcodes = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)", part, re.M)
        kernels[part.split()[0]] = count_classes((o for o in opcodes if o != "NOP"), 2)
    return kernels


def code_sizes(elf):
    """Kernel -> bytes of machine code: the sizes of an ELF file's sections .text.KERNEL."""
    start, = struct.unpack_from("<Q", elf, 0x28)
    entry, count, names = struct.unpack_from("<3H", elf, 0x3A)
    headers = [struct.unpack_from("<2I4Q", elf, start + k * entry) for k in range(count)]
    strings = headers[names][4]
    sizes = {}
    for name, _, _, _, _, size in headers:
        text = elf[strings + name:elf.index(b"\0", strings + name)].decode()
        if text.startswith(".text."):
            sizes[text[len(".text."):]] = size
    return sizes


def combine(source, precision, ptxas, ptx, sizes, sass, demangled):
    """One record a kernel. Every part must know every kernel, so that a change of format cannot pass for a clean report."""
    if set(ptxas) != set(ptx) or (sizes and not ptx):
        raise ValueError(f"{source}: ptxas, PTX and cubin do not have the same kernels: has a format changed?")
    records = []
    for mangled, counts in ptx.items():
        numbers = ptxas[mangled]
        if len(numbers) != 5 or mangled not in sizes:
            raise ValueError(f"{source}: no resource usage or code size of {mangled}: has a format changed?")
        name = short_name(demangled[mangled])
        records.append({"kernel": name, "precision": precision, "hot": is_hot(name), "source": source, **numbers,
                        "code": sizes[mangled], "ptx": counts, "sass": sass.get(mangled), "full_name": demangled[mangled]})
    return records


def problems(records):
    found = []
    for r in records:
        name = f"{r['kernel']} ({r['source']}{', ' + r['precision'] + ' bit' if r['precision'] else ''})"
        if (r["spill_stores"] or r["spill_loads"]) and not may_spill(r["kernel"]):
            found.append(f"{name}: spills: {r['spill_stores']} bytes stored, {r['spill_loads']} loaded")
        if r["hot"] and r["registers"] >= REGISTER_LIMIT:
            found.append(f"{name}: {r['registers']} registers; a hot kernel must stay below {REGISTER_LIMIT}")
    return found


# --- running the compiler ---


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(str(c) for c in command)}\n{done.stdout}{done.stderr}")
    return done


def demangle(names):
    return dict(zip(names, run(["c++filt", *names]).stdout.splitlines())) if names else {}


def of_arch(text, arch):
    """What ptxas said of the kernels for one kind of GPU."""
    parts = re.split(r"^(?=ptxas info +: Compiling entry function)", text, flags=re.M)
    return "".join(p for p in parts if f"for '{arch}'" in p.partition("\n")[0])


def kept_files(folder, arch):
    """The PTX and the cubin for one kind of GPU. nvcc names them after it, the PTX only where there is more than one."""
    ptx = [f for f in folder.glob("*.ptx") if re.search(rf"^\.target {arch}\b", f.read_text(), re.M)]
    cubin = [f for f in folder.glob("*.cubin") if f.name.endswith((f".{arch}.cubin", f".{arch.replace('sm', 'compute')}.cubin"))]
    if len(ptx) != 1 or len(cubin) != 1:
        raise ValueError(f"{folder}: {len(ptx)} PTX files and {len(cubin)} cubins for {arch}: build with GPU_TARGETS that have it")
    return ptx[0], cubin[0]


def report_unit(unit, build, arch, tools):
    """Records of SOURCE or SOURCE:PRECISION."""
    source, _, precision = unit.partition(":")
    folder = build / f"{source}{'.' if precision else ''}{precision}.o.kept"
    ptx_file, cubin = kept_files(folder, arch)
    ptx = parse_ptx(ptx_file.read_text())
    cuobjdump = shutil.which("cuobjdump") or shutil.which("cuobjdump", path=tools)
    sass = parse_sass(run([cuobjdump, "-sass", cubin]).stdout) if cuobjdump else {}
    ptxas = parse_ptxas(of_arch((folder / "ptxas").read_text(), arch))
    return combine(source, precision, ptxas, ptx, code_sizes(cubin.read_bytes()), sass, demangle(list(ptx)))


# --- tables ---

RESOURCES = ["kernel", "precision", "registers", "spill_stores", "spill_loads", "stack", "shared", "code"]
HEADS = ["kernel", "bits", "regs", "spill st", "ld", "stack", "shared", "code"]
# Further columns on the terminal, and the classes of PTX instructions in them.
BRIEF = [
    ("fma", ["fma f32", "fma f64"]),
    ("add,mul", ["add/mul f32", "add/mul f64"]),
    ("div,sqrt", ["div/sqrt f32", "div/sqrt f64"]),
    ("convert", ["convert"]),
    ("select", ["select"]),
    ("global", ["load global", "store global", "generic"]),
    ("shared", ["load shared", "store shared"]),
    ("atomic", ["atomic shared", "atomic global"]),
    ("branch", ["branch"]),
]


def terminal_table(records):
    rows = [HEADS + [head for head, _ in BRIEF]]
    for r in records:
        brief = ["/".join(str(r["ptx"][c]) for c in classes) for _, classes in BRIEF]
        rows.append([str(r[key]) for key in RESOURCES] + brief)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]) for row in rows)


def markdown(rows):
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]) + "\n"


def full_report(records, arch):
    classes = [c[0] for c in CLASSES] + [OTHER]
    text = f"# Kernels for {arch}\n\n" + markdown([HEADS + ["hot", "source"]] + [
        [r[key] for key in RESOURCES] + ["yes" if r["hot"] else "", r["source"]] for r in records])
    for code in ("ptx", "sass"):
        counted = [r for r in records if r[code]]
        if counted:
            text += f"\n## Instructions in the {code.upper()}\n\n" + markdown([["kernel", "bits"] + classes] + [
                [r["kernel"], r["precision"]] + [r[code][c] for c in classes] for r in counted])
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="+", metavar="SOURCE[:PRECISION]")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder of the objects")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--tools", help="folder that may have cuobjdump")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder")
    options = parser.parse_args()
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            lists = pool.map(lambda unit: report_unit(unit, options.build, options.arch, options.tools), options.units)
            records = sorted((r for some in lists for r in some), key=lambda r: (r["source"], r["kernel"], r["precision"]))
    except (RuntimeError, ValueError, OSError) as error:
        sys.exit(f"ptx-report: {error}")
    options.output.mkdir(parents=True, exist_ok=True)
    data = {"arch": options.arch, "kernels": records}
    (options.output / "kernels.json").write_text(json.dumps(data, indent=1))
    (options.output / "kernels.md").write_text(full_report(records, options.arch))
    print(terminal_table(records))
    print(f"{len(records)} kernels for {options.arch}; PTX instructions as f32/f64, load/store(/of unknown kind), "
          f"atomics shared/global; in full: {options.output}/kernels.md")
    wrong = problems(records)
    if wrong:
        sys.exit("\n".join(f"ptx-report: {line}" for line in wrong))


if __name__ == "__main__":
    main()
