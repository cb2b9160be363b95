#!/usr/bin/env bash
# Prints how the checks have ended: tests/summary.sh RESULT... (see tests/check.sh). The last line is N passed, N failed.
# The exit code is 0 when no check has failed.
set -u
passed=0 failed=0 skipped=0
for result in "$@"; do
    if [ -e "$result" ]; then
        passed=$((passed + 1))
    elif [ -e "$result.skipped" ]; then
        skipped=$((skipped + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: ${result%/checks/*} ${result##*/}: see $result.log"
    fi
done
for result in "$@"; do
    [ -e "$result" ] || [ ! -e "$result.skipped" ] || echo "skipped: ${result##*/}: $(cat "$result.skipped")"
done
echo "$passed passed, $failed failed$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
[ $failed -eq 0 ]
