#!/bin/bash
# Validates openPMD files with the standard's own checker: tests/validate_openpmd.sh FILE.h5...
# Exit: 0 when every file has 0 errors and 0 warnings, 1 otherwise, 2 without files, 77 when the checker cannot be installed.
# PYTHON: an interpreter with h5py and numpy (default /usr/bin/python3). The checker comes from PyPI, once, into
# build/venv.
set -u

if [ $# -eq 0 ]; then
    echo "usage: $0 FILE.h5..." >&2
    exit 2
fi

python=${PYTHON:-/usr/bin/python3}
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/build/venv
checker=$venv/bin/openPMD_check_h5

skip() {
    echo "SKIPPED: openPMD validation: $1" >&2
    exit 77
}

if [ ! -x "$checker" ]; then
    "$python" -c 'import h5py, numpy' 2>/dev/null || skip "$python lacks h5py or numpy"
    mkdir -p "$root/build"
    "$python" -m venv --system-site-packages "$venv" >/dev/null 2>&1 || skip "cannot make a Python environment in $venv"
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install openPMD-validator==1.1.0.6 2>/dev/null ||
        skip "openPMD-validator cannot be installed (no network, or no pip)"
fi

failed=0
for file in "$@"; do
    if [ ! -f "$file" ]; then
        echo "FAILED: $file: no such file"
        failed=1
        continue
    fi
    # Its exit status is the number of errors modulo 256, without warnings, so the last line decides.
    report=$("$venv/bin/python" -W ignore "$checker" -i "$file" --EDPIC 2>&1)
    if [ "$(tail -n 1 <<<"$report")" = "Result: 0 Errors and 0 Warnings." ] &&
        ! grep -qE '^(Error|Warning)' <<<"$report"; then
        echo "ok: $file: $(tail -n 1 <<<"$report")"
    else
        echo "FAILED: $file"
        sed 's/^/    /' <<<"$report"
        failed=1
    fi
done
exit $failed
