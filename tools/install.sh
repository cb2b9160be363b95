#!/usr/bin/env bash
# Puts the program and the library in place, or removes them: tools/install.sh install|uninstall BUILD, with PREFIX, LIBDIR
# and DESTDIR in the environment. BUILD is the folder of the build. `make install` and `make uninstall` call this script.
set -eu
cd "$(dirname "$0")/.."
what=$1 build=$2
prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
to=${DESTDIR:-}
library=$(basename "$build"/liblarmor.so.*)

program=$to$prefix/bin/larmor
manual=$to$prefix/share/man/man1/larmor.1
completion=$to$prefix/share/bash-completion/completions/larmor
header=$to$prefix/include/larmor.h
module=$to$libdir/pkgconfig/larmor.pc

if [ "$what" = uninstall ]; then
    for file in "$program" "$manual" "$completion" "$header" "$module" "$to$libdir"/liblarmor.so*; do
        [ ! -e "$file" ] || echo "removed    $file"
    done
    rm -f "$program" "$manual" "$completion" "$header" "$module" "$to$libdir"/liblarmor.so "$to$libdir"/liblarmor.so.[0-9]*
    exit 0
fi
for file in "$program" "$manual" "$completion" "$header" "$module"; do
    install -d "$(dirname "$file")"
done
install -m 755 "$build/larmor" "$program"
"$build/larmor" man >"$manual"
"$build/larmor" completion >"$completion"
install -m 755 "$build/$library" "$to$libdir/$library"
ln -sf "$library" "$to$libdir/liblarmor.so"
install -m 644 include/larmor.h "$header"
cat >"$module" <<END
prefix=$prefix
libdir=$libdir
includedir=\${prefix}/include

Name: Larmor
Description: hybrid particle-in-cell plasma simulation in two dimensions
Version: $(sed -n 's/^#define LM_VERSION "\(.*\)"/\1/p' include/larmor/base.h)
Libs: -L\${libdir} -llarmor
Cflags: -I\${includedir}
END

tell() { # FILE WHAT
    printf 'installed  %s  (%s)\n' "$1" "$2"
}
tell "$program" "the program"
tell "$manual" "its manual page: man larmor"
tell "$completion" "completion for bash"
tell "$to$libdir/$library" "the library"
tell "$to$libdir/liblarmor.so" "a link to the library, for compilers"
tell "$header" "the header of the library"
tell "$module" "the library for pkg-config"
cat <<END
Python is not touched. For python3 -m larmor and import larmor:  python3 -m pip install $PWD/diagnostics
END
[ -n "$to" ] || echo "Where programs do not find the library:  ldconfig (as root), or LD_LIBRARY_PATH=$libdir"
