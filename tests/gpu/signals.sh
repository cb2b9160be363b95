#!/usr/bin/env bash
# A signal must end a run within seconds in the middle of a step of a million substeps, on the given backend.
# Usage: signals.sh LARMOR cpu|cuda
set -u
larmor=$1
backend=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/run.ini" <<END
[run]
steps = 10
dt = 0.02
[grid]
nx = 512
ny = 512
lx = 256
ly = 256
[electrons]
temperature = 0.5
[fields]
bx = 1
[species.protons]
particles_per_cell = 4
temperature = 0.5
END
printf '[background.dye]\ninitial = 1 + x/lx\nvx = 0.1\n' | cat "$work/run.ini" - >"$work/dye.ini"
printf '[boundary]\nx_min = reflecting\nx_max = reflecting\n' | cat "$work/run.ini" - >"$work/walls.ini"
substeps="fields.min_substeps=1000000 fields.max_substeps=1000000"
status=0

# A configuration, and the settings that make its first step long.
check() {
    local file=$1 pid begin code
    shift
    "$larmor" run "$work/$file" --backend "$backend" --quiet --output "$work/out" --overwrite "$@" 2>"$work/err" &
    pid=$!
    for _ in $(seq 600); do
        [ -e "$work/out/checkpoints/checkpoint_00000000.h5" ] && break
        sleep 0.1
    done
    sleep 2
    begin=$(date +%s.%N)
    kill -TERM $pid
    wait $pid
    code=$?
    if [ $code = 3 ] && grep -q "the step after it has been given up" "$work/err" && "$larmor" fingerprint "$work"/out/checkpoints/*0.h5 >"$work/print" &&
        grep -q "$(cat "$work/print")" "$work/out/run.json" && awk "BEGIN {exit !($(date +%s.%N) - $begin < 10)}"; then
        awk "BEGIN {printf \"signal within a step (%s, $backend): ended after %.2f s\n\", \"$*\", $(date +%s.%N) - $begin}"
    else
        echo "signal within a step ($*, $backend): FAILED with exit code $code: $(cat "$work/err")"
        status=1
    fi
    rm -rf "$work/out"
}
check run.ini $substeps
check walls.ini $substeps
check dye.ini background.dye.diffusivity=1e6
check run.ini electrons.closure=evolved electrons.conductivity=1e6
exit $status
