#!/usr/bin/env python3
"""Checks the Markdown files of the repository, without a network: check_docs.py [FOLDER].

Every link to a file, folder or heading must lead somewhere. A block of code that is a whole file of config/ must say the
same as that file. The README stays short. Prints what is wrong, and then exits with 1.
"""
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

README_LINES, README_COLUMNS = 150, 120
SKIPPED = {"build", "out", "__pycache__"}

FENCE = re.compile(r"^( *)(```+|~~~+)([^\n]*)\n(.*?)^\1\2 *$", re.M | re.S)
LINK = re.compile(r"\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#* *$", re.M)


def pages(root):
    """Markdown files that git knows or would take; all there are where there is no git."""
    git = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "*.md"]
    found = subprocess.run(git, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return sorted(root / name for name in found.stdout.splitlines() if (root / name).is_file())
    listed = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in SKIPPED and not f.startswith(".")]
        listed += [Path(folder) / f for f in files if f.endswith(".md")]
    return sorted(listed)


def blanked(match):
    return "\n" * match.group(0).count("\n")


def prose(text):
    """The text without code, with the same lines."""
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", FENCE.sub(blanked, text))


def anchors(text):
    """Names of the headings, as GitHub and MyST make them."""
    names = set()
    for title in HEADING.findall(FENCE.sub(blanked, text)):
        title = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        number = next(n for n in range(1000) if (f"{name}-{n}" if n else name) not in names)
        names.add(f"{name}-{number}" if number else name)
    return names


def check_links(root, page, text):
    for line, words in enumerate(prose(text).split("\n"), 1):
        for link in LINK.findall(words):
            path, _, anchor = unquote(link).partition("#")
            target = (page.parent / path).resolve() if path else page
            if re.match(r"[a-z+]+:", link):
                continue
            if not target.exists() or root not in (target, *target.parents):
                yield f"{page.relative_to(root)}:{line}: there is no {link}"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                yield f"{page.relative_to(root)}:{line}: no heading gives #{anchor} in {target.relative_to(root)}"


def check_listings(root, page, text):
    """A block that begins with the first line of a file of config/ is that file."""
    files = {f.read_text().split("\n")[0]: f for f in sorted((root / "config").glob("*.ini"))}
    for *_, code in FENCE.findall(text):
        file = files.get(code.split("\n")[0])
        if file and code != file.read_text():
            yield f"{page.relative_to(root)}: a block of code differs from {file.relative_to(root)}"


def check_length(root):
    lines = (root / "README.md").read_text().splitlines()
    if len(lines) > README_LINES:
        yield f"README.md: {len(lines)} lines; at most {README_LINES}: what is more belongs to docs/"
    for number, line in enumerate(lines, 1):
        if len(line) > README_COLUMNS:
            yield f"README.md:{number}: {len(line)} columns; at most {README_COLUMNS}"


def check(root):
    wrong = list(check_length(root))
    for page in pages(root):
        text = page.read_text()
        wrong += check_links(root, page, text)
        wrong += check_listings(root, page, text)
    return wrong


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    wrong = check(root)
    print("\n".join(wrong) if wrong else "docs: links ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
