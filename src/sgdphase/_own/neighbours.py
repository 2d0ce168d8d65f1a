"""The modules in the folder of a user's file.

They can be imported by name, before installed modules, as when Python runs the file; but not under
names of the standard library: a `random.py` or `html.py` would break other packages. Their texts
are part of the identity of the file, and an edited module is imported again.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

# Folders of the loaded files, the latest first: functions may import later. The texts are those of
# the last file.
_FOLDERS: list[Path] = []
_NEIGHBOURS: dict[Path, str] = {}


def neighbours(path: Path, source: str) -> tuple[list[str], list[str]]:
    """The texts of the modules that a file imports from its folder, made ready to be imported.

    Then the names of those that it cannot import: the standard library has them.
    """
    texts, shadows = _texts(path, source)
    _FOLDERS[:] = [path.parent, *(folder for folder in _FOLDERS if folder != path.parent)]
    if not any(isinstance(finder, _Beside) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Beside())
    if texts != _NEIGHBOURS:
        _NEIGHBOURS.clear()
        _NEIGHBOURS.update(texts)
        _forget()
    return list(texts.values()), sorted(shadows)


class _Beside(MetaPathFinder):
    """Finds modules and packages in the folders of the user's files."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # Modules inside a package are found by the package.
        if path is not None or _is_taken(fullname):
            return None
        for folder in _FOLDERS:
            spec = PathFinder.find_spec(fullname, [str(folder)])
            if spec is not None and spec.loader is not None:
                return spec
            if spec is not None and (places := spec.submodule_search_locations):
                # A folder without __init__.py gives way to any module of that name, as in Python:
                # it may hold data.
                spec.submodule_search_locations = list(places)
                return _elsewhere(fullname, self) or spec
        return None


def _elsewhere(name: str, but: MetaPathFinder) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if finder is not but and (spec := finder.find_spec(name, None)) and spec.loader:
            return spec
    return None


def _is_taken(name: str) -> bool:
    return name in sys.stdlib_module_names or name == "sgdphase"


def _forget() -> None:
    """Let the user's modules be imported again: they changed, or belong to another file."""
    importlib.invalidate_caches()
    for name in [name for name, module in sys.modules.items() if is_beside(_place(module))]:
        if name not in ("__main__", "user_training"):
            del sys.modules[name]


def _place(module: ModuleType) -> str:
    """The file of a module; a folder without __init__.py is a module without one."""
    file = getattr(module, "__file__", None)
    return file or next(iter(getattr(module, "__path__", ())), "")


def is_beside(file: str) -> bool:
    """Whether a file belongs to a module or package in the folder of a user's file."""
    path = Path(file)
    for folder in set(_FOLDERS).intersection(path.parents):
        top = path.relative_to(folder).parts[0].removesuffix(".py")
        if top in sys.modules and not _is_taken(top) and "site-packages" not in path.parts:
            return True
    return False


def _texts(path: Path, source: str) -> tuple[dict[Path, str], set[str]]:
    """Those that a file imports, directly or not, and the names of those that it cannot import."""
    texts: dict[Path, str] = {path: source}
    shadows: set[str] = set()

    def follow(file: Path) -> None:
        try:
            nodes = list(ast.walk(ast.parse(texts[file])))
        except (SyntaxError, ValueError):
            return
        for place in (place for node in nodes for place in _imported(node, file, path.parent)):
            for near in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                if near in texts or not near.is_file():
                    continue
                if place.parent == path.parent and _is_taken(place.name):
                    shadows.add(place.name)
                    continue
                with suppress(OSError, UnicodeDecodeError):
                    texts[near] = near.read_text(encoding="utf-8-sig")
                    follow(near)

    follow(path)
    return {file: text for file, text in texts.items() if file != path}, shadows


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
