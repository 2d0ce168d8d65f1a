"""The site of sgdphase: `make docs` builds it into build/site.

The pages are plain Markdown that GitHub renders too. What a site needs beyond that is done here:
files outside of docs/ become pages, and links to files that are no pages stay links.
"""

from __future__ import annotations

import os
import re
import shutil
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import sgdphase

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "sgdphase"
author = "the sgdphase contributors"
copyright = "the sgdphase contributors, MIT license"
version = release = installed_version("sgdphase")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
# Blocks without a language are commands and what they print.
highlight_language = "none"
# Docstrings write code as `code`.
default_role = "literal"
nitpicky = True
# The types in docstrings are words for readers ("float above 0"), not references.
nitpick_ignore_regex = [("py:.*", ".*")]

myst_heading_anchors = 4
# Blocks of pages that show a program's output; notebooks that are not run have no lexer.
suppress_warnings = ["misc.highlighting_failure", "myst-nb.lexer"]

nb_execution_mode = os.environ.get("SGDPHASE_NOTEBOOKS", "force")
# Seconds per cell, on a busy machine; all notebooks together take about two minutes of a free core.
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_member_order = "groupwise"
autodoc_typehints = "none"
autodoc_inherit_docstrings = False
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "sgdphase"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

# A page of the site whose text stands elsewhere in the repository.
FROM_ROOT = {
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
    "ranges": "src/sgdphase/cli/topics/ranges.md",
}
ROOMS = ("stats", "theory", "problems", "perceptron", "networks", "diagram", "paper")
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
_TO_EXPLORER = re.compile(
    r"\[(!?\[?[^\]]*\]?(?:\([^)]*\))?)\]\(((?:\.\./)*)explorer\.html(#[^)]*)?\)"
)
# The explorer is a page of its own look. The page about it takes the name explorer.html.
EXPLORER = "explore.html"


def read_page(app: Any, name: str, source: list[str]) -> None:
    """Take the text from where it stands, and make its links those of the site."""
    folder = DOCS / Path(name).parent
    if name in FROM_ROOT:
        path = ROOT / FROM_ROOT[name]
        folder, source[0] = path.parent, path.read_text()

    def target(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        file = (folder / path).resolve()
        if ":" in path or not file.is_relative_to(ROOT):
            return match[0]
        for page, text in FROM_ROOT.items():
            if file == ROOT / text:
                file = DOCS / f"{page}.md"
        return f"]({os.path.relpath(file, DOCS / Path(name).parent)}{anchor})"

    text = _LINK.sub(target, source[0])
    # A link to a file would be a download; this one is to be opened.
    source[0] = _TO_EXPLORER.sub(rf'<a href="\2{EXPLORER}\3">\1</a>', text)


def add_explorer(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        shutil.copyfile(DOCS / "explorer.html", Path(app.outdir) / EXPLORER)


def skip_name(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Names that `sgdphase` takes from a room stand on the page of that room."""
    if app.env.current_document.docname != "api/index" or what != "module":
        return None
    rooms = [getattr(sgdphase, room) for room in ROOMS]
    return skip or any(name in room.__all__ for room in rooms) or None


def list_fields(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Several names on one line, as `lr, batch : float`, are understood of parameters only."""
    lines[:] = ["Parameters" if line == "Attributes" else line for line in lines]


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", list_fields, priority=400)  # before napoleon
    app.connect("source-read", read_page)
    app.connect("autodoc-skip-member", skip_name)
    app.connect("build-finished", add_explorer)
