#!/usr/bin/env bash
# Checks the GPU against the CPU, bit for bit, sends signals into long steps, and runs compute-sanitizer over it. Run in the folder that `make bundle` made.
set -u
cd "$(dirname "$0")"
export LARMOR_TESTS=$PWD
./larmor --version
status=0
logs=$(mktemp -d)
./test_gpu || status=1
./signals.sh ./larmor cuda || status=1
# auto measures a small run with many steps, and no other one.
small="grid.nx=32 grid.ny=32 grid.lx=8 grid.ly=8 species.protons.particles_per_cell=4"
./larmor check --time thermal.ini $small run.steps=20000 | grep "so the run goes on the" || status=1
./larmor check --time thermal.ini $small | grep "so the run goes on the" && status=1
./random --cases cases/random || status=1
./random --count 200 --jobs "$(nproc)" --ways gpu --keep different || status=1
# One process for each family of cases, all in parallel, because racecheck is slow.
families=$(cut -d- -f1 golden.txt | sort -u)
for tool in memcheck racecheck initcheck synccheck; do
    pids=()
    for family in $families fields backgrounds ops; do
        compute-sanitizer --tool "$tool" --error-exitcode 1 ./test_gpu --fast "$family" >"$logs/$tool.$family.log" 2>&1 &
        pids+=("$!:$family")
    done
    clean=1
    for pid in "${pids[@]}"; do
        wait "${pid%%:*}" && continue
        clean=0
        echo "compute-sanitizer $tool: FAILED in ${pid##*:}"
        tail -n 30 "$logs/$tool.${pid##*:}.log"
    done
    if [ $clean = 1 ]; then echo "compute-sanitizer $tool: clean"; else status=1; fi
done
exit $status
