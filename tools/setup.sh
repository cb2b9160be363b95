#!/usr/bin/env bash
# Installs what building, running and drawing need and this machine lacks (Debian 12, Ubuntu 24.04); with the word tests,
# also what the tests need; with the word docs, what the manual needs and nothing else. Does nothing when all is there.
set -eu
packages="gcc libc6-dev pkg-config libhdf5-dev libinih-dev libmuparser-dev librandom123-dev libjansson-dev libxxhash-dev
          python3 python3-numpy python3-h5py python3-matplotlib"
wanted=""
if [ "${1:-}" = tests ]; then
    packages="$packages check python3-venv"
    wanted="clang-format-14 cppcheck openmpi-bin libopenmpi-dev" # without them their checks are skipped
elif [ "${1:-}" = docs ]; then
    packages="python3 python3-sphinx python3-myst-parser furo libjs-mathjax"
fi

missing() {
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || printf ' %s' "$p"
    done
}
needed=$(missing $packages)
wanted=$(missing $wanted)
[ -z "$needed$wanted" ] && exit 0
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null; then
        as_root=sudo
    elif [ -z "$needed" ]; then
        exit 0
    else
        echo "setup: needs root or sudo to install:$needed" >&2
        exit 1
    fi
fi
$as_root apt-get update -qq
for p in $wanted; do
    if apt-cache show "$p" >/dev/null 2>&1; then needed="$needed $p"; else echo "setup: this system has no $p"; fi
done
[ -z "$needed" ] && exit 0
echo "installing:$needed"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $needed >/dev/null
