#!/usr/bin/env bash
# Runs Python with the first interpreter that has what the diagnostics need.
PYTHONPATH="$(cd "$(dirname "$0")/.." && pwd)/diagnostics${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONPATH
for python in ${PYTHON:-} python3 /usr/bin/python3; do
    "$python" -c 'import h5py, numpy, matplotlib' 2>/dev/null && exec "$python" "$@"
done
echo "no Python with h5py, numpy and matplotlib found: run make setup, or set PYTHON" >&2
exit 1
