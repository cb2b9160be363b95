#!/usr/bin/env bash
# 10^5 steps with every kind of entry and loss. The ledger must close in each step (otherwise the program stops), and the last
# state must be the one that a GPU has reached. Usage: ledger_long.sh PROGRAM [OPTIONS OF RUN...]
set -eu
cd "$(dirname "$0")/.."
program=$1
shift
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
"$program" run tests/cases/ledger.ini --output "$output" --overwrite --quiet "$@"
want=$(cat tests/ledger_long.txt)
grep -q "\"fingerprint\": \"$want\"" "$output/run.json" || { echo "another fingerprint than $want"; exit 1; }
if grep '"residual"' "$output/run.json" | grep -qv '"residual": 0'; then
    echo "the ledger does not close"
    exit 1
fi
echo "ledger: 100000 steps, residual 0, fingerprint $want"
