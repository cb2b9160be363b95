#!/usr/bin/env bash
# Runs Python with the first interpreter that has what the diagnostics need. The package larmor (diagnostics/), the modules
# of tools/ and those of the examples can be imported from every directory, and nothing has to be installed.
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH="$root/diagnostics:$root/examples:$root/tools${PYTHONPATH:+:$PYTHONPATH}"
for python in ${PYTHON:-} python3 /usr/bin/python3; do
    "$python" -c 'import h5py, numpy, matplotlib' 2>/dev/null && exec "$python" "$@"
done
echo "no Python with h5py, numpy and matplotlib found: run make setup, or set PYTHON" >&2
exit 1
