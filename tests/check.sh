#!/usr/bin/env bash
# Runs one check: tests/check.sh RESULT COMMAND FILE...
# RESULT is a file that exists when the check has passed. It holds a hash of COMMAND and of the files that the check depends
# on; a check that has passed with the same hash does not run again. The script prints one line, and the whole output of the
# check when it fails or when SHOW is set. RESULT.log holds that output. RESULT.failed or RESULT.skipped exists in place of
# RESULT when the check has failed or was skipped. The exit code is 0 in all cases: tests/summary.sh decides when all checks
# have run.
set -u
result=$1 command=$2
shift 2
name=$(basename "$result")
# In continuous integration these must not be skipped.
required="format cppcheck-src cppcheck-tests cppcheck-cuda validate docs ranks ranks-configurations readers"

mkdir -p "$(dirname "$result")"
hash=$({ echo "$command"; cat "$@"; } | sha256sum) || exit 1
if [ -e "$result" ] && [ "$(head -n 1 "$result")" = "$hash" ]; then
    touch "$result"
    exit 0
fi
rm -f "$result" "$result.failed" "$result.skipped"

# Tests write files with fsync. In memory they need not wait for a disk, if there is enough space.
parent=${TMPDIR:-}
if [ -z "$parent" ]; then
    parent=/tmp
    free=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
    [ -w /dev/shm ] && [ "${free:-0}" -gt 4000000 ] && parent=/dev/shm
fi
TMPDIR=$(mktemp -d "$parent/larmor-check-XXXXXX") || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM

# The limits of Check are for an idle machine.
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-5}

# A recursive make must not use the job server of this make, which does not know of it.
TIMEFORMAT='%R %U %S'
if [ -n "${SHOW:-}" ]; then
    { time MAKEFLAGS= bash -c "$command" > >(tee "$result.log") 2>&1; } 2>"$result.time"
else
    { time MAKEFLAGS= bash -c "$command" >"$result.log" 2>&1; } 2>"$result.time"
fi
status=$?
took=$(awk '{printf "%.1f s, %.1f s of CPU time", $1, $2 + $3}' "$result.time")
variant=$(basename "$(dirname "$(dirname "$result")")")
[ "$variant" = release ] || name="$name ($variant)"

if [ $status -eq 77 ]; then
    reason=$(tail -n 1 "$result.log")
    case " $required " in *" $name "*) [ -n "${CI:-}" ] && status=1 ;; esac
fi
case $status in
0)
    echo "$hash" >"$result"
    printf '  %-7s %-28s %s\n' passed "$name" "$took"
    ;;
77)
    echo "$reason" >"$result.skipped"
    printf '  %-7s %-28s %s\n' skipped "$name" "$reason"
    ;;
*)
    echo "$status" >"$result.failed"
    (
        flock 9
        printf '  %-7s %-28s %s\n' FAILED "$name" "exit code $status after $took"
        [ -n "${SHOW:-}" ] || sed 's/^/    /' "$result.log"
    ) 9>>"$(dirname "$result")/lock"
    ;;
esac
exit 0
