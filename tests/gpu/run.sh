#!/usr/bin/env bash
# Checks the GPU against the CPU, bit for bit, and runs compute-sanitizer over it. Run in the folder that `make bundle` made.
set -u
cd "$(dirname "$0")"
export LARMOR_TESTS=$PWD
./larmor --version
status=0
logs=$(mktemp -d)
./test_gpu || status=1
for tool in memcheck racecheck initcheck synccheck; do
    if compute-sanitizer --tool "$tool" --error-exitcode 1 ./test_gpu --fast >"$logs/$tool.log" 2>&1; then
        echo "compute-sanitizer $tool: clean ($(tail -n 1 "$logs/$tool.log"))"
    else
        echo "compute-sanitizer $tool: FAILED"
        tail -n 30 "$logs/$tool.log"
        status=1
    fi
done
exit $status
