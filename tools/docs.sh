#!/usr/bin/env bash
# The manual as web pages: tools/docs.sh FOLDER makes FOLDER/html/index.html. All links of the repository's Markdown files
# are checked first; a warning of Sphinx is an error. Exit code 77: Sphinx, MyST, Furo or MathJax is not installed
# (tools/setup.sh docs installs them).
set -eu
cd "$(dirname "$0")/.."
out=$1
python3 tools/check_docs.py
for python in ${PYTHON:-} python3 /usr/bin/python3; do
    "$python" -c 'import furo, myst_parser, sphinx' 2>/dev/null || continue
    [ -e /usr/share/javascript/mathjax/MathJax.js ] || { echo "no MathJax here"; exit 77; }
    rm -rf "$out"
    mkdir -p "$out"
    "$python" -m sphinx -q -W --keep-going -E -b html -c docs -d "$out/doctrees" . "$out/html"
    echo "docs: $out/html/index.html"
    exit 0
done
echo "no Sphinx with MyST and Furo here"
exit 77
