#!/usr/bin/env bash
# Installs what building, testing and plotting need and this machine lacks (Debian 12, Ubuntu 24.04). Does nothing when all is there.
set -eu
packages="gcc libc6-dev pkg-config libhdf5-dev libinih-dev libmuparser-dev librandom123-dev libjansson-dev libxxhash-dev check
          python3 python3-numpy python3-h5py python3-matplotlib python3-venv"
missing=""
for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
echo "installing:$missing"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: needs root or sudo to install:$missing" >&2; exit 1; }
    as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
