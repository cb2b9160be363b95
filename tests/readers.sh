#!/usr/bin/env bash
# Other programs read the output: tests/readers.sh PROGRAM. Their packages come from PyPI, once, into build/readers, beside no
# package of the system. vtk is large and not among them; it is tried where build/readers has it. Exit code 77: no network.
# PYTHON: an interpreter with venv (default /usr/bin/python3).
set -eu
cd "$(dirname "$0")/.."
venv=build/readers
base=("numpy>=1.24,<3" "h5py>=3.8,<4" "matplotlib>=3.6,<4")
readers=("openPMD-api>=0.15,<0.18" "openPMD-viewer>=1.10,<2" "xarray>=2023.6,<2028" "yt>=4.3,<5")
pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet install)

skip() {
    echo "SKIPPED: readers: $1"
    exit 77
}

wanted=$(printf '%s\n' "${base[@]}" "${readers[@]}")
if [ "$(cat $venv/packages 2>/dev/null)" != "$wanted" ]; then
    mkdir -p build
    "${PYTHON:-/usr/bin/python3}" -m venv $venv >/dev/null 2>&1 || skip "cannot make a Python environment in $venv"
    "${pip[@]}" --retries 0 --timeout 5 "${base[@]}" 2>/dev/null || skip "no package can be installed (no network, or no pip)"
    installed=yes
    for package in "${readers[@]}"; do
        "${pip[@]}" "$package" || { [ -z "${CI:-}" ] || exit 1; installed=; }
    done
    [ -z "$installed" ] || echo "$wanted" >$venv/packages
fi
PYTHON=$venv/bin/python tools/python.sh tests/readers.py --larmor "$1"
