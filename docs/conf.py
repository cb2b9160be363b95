"""How Sphinx builds the manual: python3 -m sphinx -c docs . FOLDER, in the repository's root (see tools/docs.sh).

The pages are plain Markdown that also reads well without Sphinx. So the tables of contents are made here: from the lists
of docs/index.md, and from FURTHER. A link to a source file leads to a page with its text.
"""
import re
import shutil
from pathlib import Path

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parent.parent
MATHJAX = Path("/usr/share/javascript/mathjax")  # Debian's libjs-mathjax, version 2

project = "Larmor"
html_title = "Larmor"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "config/*.md", "examples/*/*.md", "tests/*/*.md"]
exclude_patterns = ["build", "out", ".git", "examples/*/out*"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False
suppress_warnings = ["myst.header"]  # pages of tables may skip a level
smartquotes = False
highlight_language = "none"

html_theme = "furo"
html_copy_source = False
html_use_index = False
html_show_copyright = False

# Everything comes from the folder itself: no network is needed. SVG needs no fonts, which browsers do not load from files.
mathjax_path = "mathjax/MathJax.js"
mathjax2_config = {
    "jax": ["input/TeX", "output/SVG"],
    "extensions": ["tex2jax.js", "MathEvents.js"],
    "TeX": {"extensions": ["AMSmath.js", "AMSsymbols.js"]},
    "messageStyle": "none",
    "showMathMenu": False,
}
MATHJAX_PARTS = ["MathJax.js", "extensions", "jax/element", "jax/input/TeX", *(f"jax/output/SVG/{part}" for part in
                 ["jax.js", "config.js", "autoload", "fonts/TeX"])]

# Pages outside of docs/ and the page below which they stand. Others that the index does not list stand nowhere.
FURTHER = {
    "docs/user/examples": list(dict.fromkeys(re.findall(r"examples/\w+/README", (ROOT / "docs/user/examples.md").read_text()))),
    "docs/develop/testing": ["tests/random/README", "tests/faults/README"],
    "docs/develop/gpu_kernels": ["tests/gpu/README", "tests/gpu/profile", "tests/gpu/advection"],
    "docs/develop/style": [name for name in ["CONTRIBUTING"] if (ROOT / f"{name}.md").exists()],
}
LISTED = re.compile(r"^- \[[^]]*\]\(([^)#:]+)\.md\)", re.M)

sources = set()  # files of the repository that pages link to


def toctree(pages, caption=None):
    lines = ["```{toctree}", ":hidden:"] + ([f":caption: {caption}"] if caption else []) + ["", *pages, "```"]
    return "\n\n" + "\n".join(lines) + "\n"


def add_contents(_, docname, text):
    """Adds to a page the table of contents that Sphinx wants to know its place by."""
    if docname == root_doc:
        for section in re.split(r"^## ", text[0], flags=re.M)[1:]:
            text[0] += toctree(LISTED.findall(section), section.split("\n")[0])
    elif FURTHER.get(docname):
        text[0] += toctree([f"/{page}" for page in FURTHER[docname]])
    elif not docname.startswith("docs/") and not any(docname in pages for pages in FURTHER.values()):
        index = (ROOT / "docs/index.md").read_text()
        if f"../{docname}" not in LISTED.findall(index):
            text[0] = "---\norphan: true\n---\n\n" + text[0]


class SourceLinks(SphinxTransform):
    """Links to text files of the repository lead to pages with their text, not to downloads; those to folders nowhere."""
    default_priority = 500

    def apply(self, **_):
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node.get("reftype") == "myst" and (folder / node["reftarget"]).is_dir():
                node.replace_self(node.children)
        for node in list(self.document.findall(addnodes.download_reference)):
            name, path = self.env.relfn2path(node["reftarget"], self.env.docname)
            if Path(path).suffix in {".png", ".h5"}:
                continue
            sources.add(name)
            uri = self.app.builder.get_relative_uri(self.env.docname, f"source/{name}")
            node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=uri))


def add_sources(app):
    for name in sorted(sources):
        try:
            language = get_lexer_for_filename(name).aliases[0]
        except ClassNotFound:
            language = "text"
        text = app.builder.highlighter.highlight_block((ROOT / name).read_text(), language, force=True)
        yield f"source/{name}", {"title": name, "body": f"<h1>{name}</h1>{text}"}, "page.html"


def finish(app, failed):
    out = Path(app.outdir)
    if failed or app.builder.format != "html":
        return
    (out / "index.html").write_text('<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">\n'
                                    '<a href="docs/index.html">Larmor: the manual</a>\n')
    for part in MATHJAX_PARTS:
        to = out / "_static" / "mathjax" / part
        to.parent.mkdir(parents=True, exist_ok=True)
        if (MATHJAX / part).is_dir():
            shutil.copytree(MATHJAX / part, to, dirs_exist_ok=True)
        else:
            shutil.copy(MATHJAX / part, to)


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("html-collect-pages", add_sources)
    app.connect("build-finished", finish)
    app.add_transform(SourceLinks)
