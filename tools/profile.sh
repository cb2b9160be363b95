#!/usr/bin/env bash
# Profiles the kernels of a step with Nsight Compute, for both shapes and both precisions, and prints a table (Markdown).
#   profile.sh [LARMOR [INI [FOLDER]]]
# LARMOR and INI: those beside this script (in a bundle), else build/release/larmor and config/thermal.ini.
# FOLDER: gets the reports (.ncu-rep, .csv) and the table, profile.md; `profile` here, or build/profile.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
larmor=$here/larmor ini=$here/thermal.ini out=profile
if [ ! -x "$larmor" ]; then
    root=$here/..
    larmor=$root/build/release/larmor ini=$root/config/thermal.ini out=$root/build/profile
fi
larmor=${1:-$larmor} ini=${2:-$ini} out=${3:-$out}

fail() { echo "profile: $1" >&2; exit 1; }
PATH=$PATH:/usr/local/cuda/bin
command -v ncu >/dev/null || fail "ncu (Nsight Compute) not found"
version=$("$larmor" --version) || fail "cannot run $larmor"
grep -q '^backend cuda: NVIDIA' <<<"$version" || fail "$larmor finds no GPU"
mkdir -p "$out"

# Particles age for SORT_EVERY steps and are sorted in the step after. Every kernel is caught at its first and fifth launch
# (all arrays of a sort) and in the step before the sort, where a pass has had two launches before the first step; the table
# shows the last of these. Caches are flushed before each measurement, clocks are left alone.
SORT_EVERY=32
launches="1|5|$((SORT_EVERY + 2))"
metrics=$("$here/profile_table.py" --metrics)
reports=()
for shape in linear quadratic; do
    for precision in double single; do
        report=$out/${shape}_$precision
        ncu --force-overwrite --export "$report" --clock-control none --kernel-id ":::$launches" --metrics "$metrics" \
            "$larmor" run "$ini" "particles.shape=$shape" "particles.precision=$precision" "run.steps=$((SORT_EVERY + 1))" \
            "run.sort_every=$SORT_EVERY" --backend cuda --quiet --output "$report.run" >"$report.log" 2>&1 ||
            fail "ncu failed: $(tail -n 5 "$report.log")"
        rm -rf "$report.run"
        ncu --import "$report.ncu-rep" --csv --page raw --print-units base >"$report.csv"
        reports+=("$report.csv")
    done
done
"$here/profile_table.py" --version "$version" "${reports[@]}" | tee "$out/profile.md"
