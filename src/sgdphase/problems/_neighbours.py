"""The modules beside a user's file: they are the user's too.

Their texts belong to the identity of the file, and an edited one is imported anew.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Folders of files that were loaded: the modules beside them are the user's too. The texts are
# those of the last one's.
_FOLDERS: set[Path] = set()
_NEIGHBOURS: dict[Path, str] = {}


def neighbours(path: Path, source: str) -> list[str]:
    """The texts of the modules that a file imports from its folder, made ready to be imported."""
    texts = _texts(path, source)
    _FOLDERS.add(path.parent)
    if texts != _NEIGHBOURS:
        _NEIGHBOURS.clear()
        _NEIGHBOURS.update(texts)
        _forget()
    return list(texts.values())


def _forget() -> None:
    """Have the user's modules imported anew: they changed, or were those beside another file."""
    importlib.invalidate_caches()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name not in ("__main__", "user_training") and is_beside(file):
            del sys.modules[name]


def is_beside(file: str) -> bool:
    """Whether it is of a module, or of a package, that lies in the folder of a user's file."""
    path = Path(file)
    for folder in _FOLDERS.intersection(path.parents):
        top = path.relative_to(folder).parts[0].removesuffix(".py")
        if top in sys.modules and top != "sgdphase" and "site-packages" not in path.parts:
            return True
    return False


def _texts(path: Path, source: str) -> dict[Path, str]:
    """The texts of the modules beside a file that it imports, and of those that they import."""
    texts: dict[Path, str] = {path: source}

    def follow(file: Path) -> None:
        try:
            nodes = list(ast.walk(ast.parse(texts[file])))
        except (SyntaxError, ValueError):
            return
        for place in (place for node in nodes for place in _imported(node, file, path.parent)):
            for near in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                if near not in texts and near.is_file():
                    with suppress(OSError, UnicodeDecodeError):
                        texts[near] = near.read_text(encoding="utf-8-sig")
                        follow(near)

    follow(path)
    return {file: text for file, text in texts.items() if file != path}


def _imported(node: ast.AST, file: Path, root: Path) -> Iterator[Path]:
    """Where the modules of an import statement would lie, without suffix, parents first."""
    if isinstance(node, ast.Import):
        names = [(root, alias.name) for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        start = file.parents[min(node.level, len(file.parents)) - 1] if node.level else root
        within = f"{node.module}." if node.module else ""
        names = [(start, within + alias.name) for alias in node.names]
    else:
        return
    for place, name in names:
        for part in name.split("."):
            place = place / part
            yield place
