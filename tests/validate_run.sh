#!/usr/bin/env bash
# The openPMD files of a short run are valid: tests/validate_run.sh PROGRAM. Exit codes as of validate_openpmd.sh.
set -eu
cd "$(dirname "$0")/.."
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
"$1" run tests/cases/mix.ini --backend cpu --quiet --output "$output/run" output.fields_every=20 output.particles_every=20
tests/validate_openpmd.sh "$output"/run/fields/*.h5 "$output"/run/particles/*.h5
