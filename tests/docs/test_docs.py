"""What the pages show is true: examples run, commands parse, links resolve.

A python block is run, all blocks of a page one after the other in an empty folder. A block below
`<!-- not run: reason -->` is only compiled.
"""

from __future__ import annotations

import doctest
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from typer.main import get_command

from sgdphase.cli import build

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
NOT_RUN = "<!-- not run"

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The target of a link or an image: inline, with a title or without; of a definition that other
# links refer to (`[name]: target`); of HTML.
_TARGET = r"(?:<([^>\n]*)>|([^)\s]+))"
_TITLE = r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*"""
_INLINE = re.compile(rf"\]\(\s*{_TARGET}{_TITLE}\)")
_DEFINITION = re.compile(rf"^ {{0,3}}\[([^\]^][^\]]*)\]:\s*{_TARGET}{_TITLE}$", re.MULTILINE)
_REFERENCE = re.compile(r"\[([^\]\[]+)\]\[([^\]]*)\]")
_HTML = re.compile(r"""<(?:a|img|source)\b[^>]*?\s(?:href|src)\s*=\s*["']([^"']*)["']""")
_HTML_ANCHOR = re.compile(r"""<\w+\b[^>]*?\s(?:id|name)\s*=\s*["']([^"']*)["']""")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """Without blocks and spans of code, where brackets mean something else."""
    text = re.sub(r"^    .*$", "", _FENCE.sub("", page.read_text()), flags=re.MULTILINE)
    return re.sub(r"`[^`\n]+`", "code", text)


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to headings."""
    text = _FENCE.sub("", page.read_text())
    result, seen = set(_HTML_ANCHOR.findall(text)), Counter[str]()
    for heading in _HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        result.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return result


def links(text: str) -> list[str]:
    """The targets of all links and images; a reference without a definition is `[name]`."""
    definitions = {name.lower(): one or other for name, one, other in _DEFINITION.findall(text)}
    inline = ["".join(target) for target in _INLINE.findall(text)]
    names = [name or shown for shown, name in _REFERENCE.findall(text)]
    lacking = [f"[{name}]" for name in names if name.lower() not in definitions]
    return [*inline, *definitions.values(), *_HTML.findall(text), *lacking]


# Examples


def python_blocks(page: Path) -> Iterator[tuple[str, bool]]:
    """The blocks without prompts, each with whether it is to be run."""
    text = page.read_text()
    for match in _FENCE.finditer(text):
        if match[1] == "python" and ">>>" not in match[2]:
            before = text[: match.start()].rstrip().rpartition("\n")[2]
            # Lines stay where they are in the page, for tracebacks.
            yield "\n" * text[: match.start()].count("\n") + match[2], NOT_RUN not in before


@pytest.mark.parametrize("page", [page for page in PAGES if ">>>" in page.read_text()], ids=name_of)
def test_examples_print_what_the_page_shows(page: Path):
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize("page", [page for page in PAGES if list(python_blocks(page))], ids=name_of)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block, is_run in python_blocks(page):
        code = compile(block, name_of(page), "exec")
        if is_run:
            exec(code, names)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_is_in_fences_where_it_is_tested(page: Path):
    assert not re.search(r"^    (import|from) \w+", _FENCE.sub("", page.read_text()), re.MULTILINE)


# Commands


def commands(path: Path) -> list[str]:
    """Lines that call sgdphase, alone on a line; `\\` at the end of a line goes on."""
    text = path.read_text().replace("\\\n", " ")
    return re.findall(r"^\s*(?:\$\(BIN\)/)?(sgdphase .*)$", text, re.MULTILINE)


COMMANDS = [
    pytest.param(command, id=f"{name_of(path)}: {command[:60]}")
    for path in [*PAGES, *EXAMPLES, ROOT / "Makefile"]
    for command in commands(path)
]


@cache
def application() -> Any:
    return get_command(build())


def check_command(line: str) -> None:
    """Raise if the line names a command or an option that there is not, or lacks one."""
    _, *words = shlex.split(line, comments=True)
    command = application()
    context = command.make_context("sgdphase", [], resilient_parsing=True)
    while hasattr(command, "get_command") and words and not words[0].startswith("-"):
        name, words = words[0], words[1:]
        inner = command.get_command(context, name)
        assert inner is not None, f"{line}: there is no command {name}"
        command = inner
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
    given, _, _ = command.make_parser(context).parse_args(args=words)
    missing = {param.name for param in command.params if param.required} - {
        name for name, value in given.items() if value is not None
    }
    assert not missing, f"{line}: lacks {missing}"


def test_there_are_commands_to_check():
    assert len(COMMANDS) > 40


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_and_their_options_exist(line: str):
    check_command(line)


@pytest.mark.parametrize(
    "line",
    ["sgdphase sweeep perceptron", "sgdphase sweep fc --learning-rate 1", "sgdphase diagnose f.py"],
)
def test_the_check_of_commands_notices(line: str):
    with pytest.raises(Exception, match=r"sweeep|learning-rate|lacks"):
        check_command(line)


# Links


def broken(page: Path, target: str) -> str:
    """Why a link does not resolve; empty if it does. External ones are read, not followed."""
    if target.startswith("["):
        return "no such definition"
    url = urlparse(target)
    if url.scheme:
        known = url.scheme in ("http", "https") and "." in url.netloc
        return "" if known else "not an address"
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return "no such file"
    if anchor and (file.suffix != ".md" or anchor not in anchors(file)):
        return "no such heading"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path):
    faults = [f"{target}: {why}" for target in links(prose(page)) if (why := broken(page, target))]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "text",
    [
        "[a](x.md)", "![a](x.md)", "[a](<x.md>)", '[a](x.md "Title")', "[a](x.md 'Title')",
        "[![picture](x.md)](x.md)", "[a][b]\n\n[b]: x.md", '[a][]\n\n[A]: <x.md> "Title"',
        "[b]: x.md", '<img width="3" src="x.md">', "<a class='k' href='x.md'>a</a>",
        '<p align="center"><img\nsrc="x.md" alt=""></p>',
    ],
)  # fmt: skip
def test_every_form_of_link_is_seen(text: str):
    assert set(links(text)) == {"x.md"}


def test_what_is_no_link_is_not_seen():
    assert links("an interval [1, 2] (see x.md)\n[^1]: a note") == []
    assert links("[a][nowhere]") == ["[nowhere]"]


def test_anchors_are_those_of_github(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text('# A `b` & c\n## Twice\n## Twice\n<a name="own"></a>\n```\n# code\n```\n')
    assert anchors(page) == {"a-b--c", "twice", "twice-1", "own"}


def test_the_check_of_links_notices():
    page = ROOT / "README.md"
    assert broken(page, "[nowhere]") == "no such definition"
    assert broken(page, "docs/store.md#checkpoints") == ""
    assert broken(page, "docs/stores.md") == "no such file"
    assert broken(page, "docs/store.md#check-points") == "no such heading"
    assert broken(page, "http:/example") == "not an address"


def test_every_room_is_listed_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    rooms = {p.parent.name for p in (ROOT / "src/sgdphase").glob("*/__init__.py")}
    assert [room for room in sorted(rooms) if f"`src/sgdphase/{room}/`" not in readme] == []


# The site


def listed(page: Path) -> list[Path]:
    """The pages in the toctrees of a page: `name` or `Title <name>`, one per line."""
    trees = [text for kind, text in _FENCE.findall(page.read_text()) if kind == "{toctree}"]
    lines = [line for tree in trees for line in tree.splitlines() if line and line[0] != ":"]
    names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    return [page.parent / f"{name}.md" for name in names]


def test_every_page_is_in_one_toctree_and_the_first_page_links_to_it():
    index = DOCS / "index.md"
    entries = Counter(entry for page in DOCS.rglob("*.md") for entry in listed(page))
    assert set(entries) == set(DOCS.rglob("*.md")) - {index} and max(entries.values()) == 1
    linked = {(DOCS / target).resolve() for target in links(prose(index))}
    assert [page.name for page in listed(index) if page.resolve() not in linked] == []


def test_a_notebook_is_python_and_ends_with_a_picture_and_a_number():
    notebooks = sorted((DOCS / "notebooks").glob("*.md"))
    assert len(notebooks) >= 5
    for notebook in notebooks:
        text = notebook.read_text()
        cells = [code for kind, code in _FENCE.findall(text) if kind.startswith("{code-cell}")]
        for cell in cells:
            compile(cell, name_of(notebook), "exec")
        assert "?" in text.split("## ")[0], "it starts from a question"
        assert text.index("## The picture") < text.index("## The number"), notebook
        # A Figure alone is shown as its text where nothing has loaded pyplot.
        assert re.search(r"^(plt\.show\(|Image\()", cells[-2], re.MULTILINE), notebook
        assert "print(" in cells[-1]
