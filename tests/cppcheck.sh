#!/usr/bin/env bash
# cppcheck over src, tests or cuda: tests/cppcheck.sh PART. Exit: 0 when it finds nothing, 77 when it is not installed.
set -eu
cd "$(dirname "$0")/.."
part=$1
command -v cppcheck >/dev/null || { echo "no cppcheck here"; exit 77; }
check() {
    cppcheck -q --enable=warning,performance,portability --inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 \
        -Iinclude -Isrc -DLM_PRECISION=64 "$@"
}
case $part in
src)
    check src
    ;;
tests)
    # It does not know that ck_assert ends a test. gcc defines what the shift of a negative number gives.
    check --max-configs=1 --suppress=nullPointerArithmetic --suppress=negativeIndex --suppress=compareBoolExpressionWithInt \
        --suppress=CastIntegerToAddressAtReturn --suppress=shiftNegativeLHS tests
    ;;
cuda)
    # It cannot read <<<...>>>, takes kernels' arguments for those of ordinary functions, and cannot know that memory is
    # shared out by casts.
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    for file in cuda/*/*; do
        mkdir -p "$copy/$(dirname "${file#cuda/}")"
        perl -0pe 's/<<<(.*?)>>>/"\n" x ($1 =~ tr,\n,,)/gse' "$file" >"$copy/${file#cuda/}"
    done
    check --language=c++ --max-configs=1 -D__CUDACC__ --suppress=passedByValue --suppress=memsetClassFloat \
        --suppress=invalidPointerCast --suppress=compareBoolExpressionWithInt -I"$copy" "$copy"/*/*.cu
    ;;
esac
