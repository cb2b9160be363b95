#!/usr/bin/env bash
# The openPMD files of short runs are valid: tests/validate_run.sh PROGRAM. Exit codes as of validate_openpmd.sh.
set -eu
cd "$(dirname "$0")/.."
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
"$1" run tests/cases/mix.ini --backend cpu --quiet --output "$output/run" output.fields_every=20 output.particles_every=20
cat tests/cases/mix.ini - >"$output/one.ini" <<END
[output.mean]
every = 20
average = 8
average_every = 4
quantities = B, density, velocity
END
"$1" run "$output/one.ini" --backend cpu --quiet --output "$output/one" output.fields_every=20 output.particles_every=40 \
    output.particles_with_fields=on output.compress=1
tests/validate_openpmd.sh "$output"/run/fields/*.h5 "$output"/run/particles/*.h5 "$output"/one/fields/*.h5 "$output"/one/outputs/*.h5
