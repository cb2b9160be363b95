#!/usr/bin/env bash
# What `make install` puts in place, and what a user does with it: tests/install.sh BUILD. The C example of
# docs/user/library.md is compiled by pkg-config against an installed copy and must come to the program's fingerprint.
# Exit code 77: there is no pkg-config.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "$1")
command -v pkg-config >/dev/null || { echo "no pkg-config here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "install: $*" >&2
    exit 1
}
same() { # NAME EXPECTED FOUND
    [ "$2" = "$3" ] || fail "$1: expected"$'\n'"$2"$'\n'"and not"$'\n'"$3"
}

# --- what is installed, and that it goes away ---
library=$(cd "$build" && ls liblarmor.so.*)
export DESTDIR=$work/stage PREFIX=/opt/plasma
said=$(tools/install.sh install "$build")
same "installed files" "$(printf '%s\n' bin/larmor include/larmor.h lib/liblarmor.so "lib/$library" lib/pkgconfig/larmor.pc \
    share/bash-completion/completions/larmor share/man/man1/larmor.1 | sort)" \
    "$(cd "$work/stage/opt/plasma" && find . ! -type d | sed 's,^\./,,' | sort)"
same "files that install names" "$(find "$work/stage" ! -type d | sort)" \
    "$(awk '$1 == "installed" {print $2}' <<<"$said" | sort)"
[[ $said == *"pip install $PWD/diagnostics"* ]] || fail "it does not say how to install the Python package: $said"
grep -q '^prefix=/opt/plasma$' "$work/stage/opt/plasma/lib/pkgconfig/larmor.pc" || fail "larmor.pc names DESTDIR"
same "files that uninstall names" "$(awk '$1 == "installed" {print $2}' <<<"$said" | sort)" \
    "$(tools/install.sh uninstall "$build" | awk '$1 == "removed" {print $2}' | sort)"
same "files after uninstall" "" "$(find "$work/stage" ! -type d)"
LIBDIR=/opt/plasma/lib64 tools/install.sh install "$build" >/dev/null
[ -e "$work/stage/opt/plasma/lib64/$library" ] || fail "LIBDIR is not obeyed"

# --- the library exports what the header declares, and nothing else ---
unset DESTDIR
export PREFIX=$work/prefix
tools/install.sh install "$build" >/dev/null
same "exported symbols" "$(grep -oE '^[a-z].*\blarmor_[a-z_]+\(' include/larmor.h | grep -oE 'larmor_[a-z_]+\($' | tr -d '(' | sort)" \
    "$(nm -D --defined-only "$PREFIX/lib/liblarmor.so" | awk '{print $3}' | sort)"
same "name of the library" "$library" "$(objdump -p "$PREFIX/lib/$library" | awk '$1 == "SONAME" {print $2}')"

# --- the example of the manual ---
export PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig LD_LIBRARY_PATH=$PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
same "version" "$(sed -n 's/^#define LM_VERSION "\(.*\)"/\1/p' include/larmor/base.h)" "$(pkg-config --modversion larmor)"
awk '/^```c$/ {inside = 1; next} /^```$/ {inside = 0} inside' docs/user/library.md >"$work/example.c"
for language in "gcc -std=c99" "g++ -x c++ -std=c++11"; do
    command -v "${language%% *}" >/dev/null || continue # a machine may have no compiler for C++
    # shellcheck disable=SC2046
    $language -Wall -Wextra -Werror "$work/example.c" $(pkg-config --cflags --libs larmor) -o "$work/example"
done
cases=$PWD/tests/cases
cd "$work"
"$PREFIX/bin/larmor" run "$cases/mix.ini" --quiet --backend cpu --output run --steps 15 2>warnings
expected=$(sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p' run/run.json)
same "the example" "step 15: $expected" "$(./example "$cases/mix.ini" run.backend=cpu run.steps=15)"
status=0
message=$(./example "$cases/mix.ini" run.stepz=15 2>&1) || status=$?
[ $status -eq 2 ] || fail "the example ended with $status: $message"
[[ $message == *"run.stepz: unknown key, did you mean steps?"* ]] || fail "the message of the example: $message"
status=0
message=$(OMPI_COMM_WORLD_SIZE=2 ./example "$cases/mix.ini" 2>&1) || status=$?
[[ $status -eq 2 && $message == *"MPI has started 2"* ]] || fail "beside MPI the example ended with $status: $message"
cd - >/dev/null

tools/install.sh uninstall "$build" >/dev/null
same "files after the last uninstall" "" "$(find "$PREFIX" ! -type d)"
echo "install: ok"
