"""Public names that load with their first use, so that importing a package costs nothing.

A package states its names once, in the stub `__init__.pyi` next to its `__init__.py`, where type
checkers and editors read them too: `from ._online import Online as Online` for a name of a module,
`from . import theory as theory` for a module. A stub with an `__all__` lists there the names for
users; its other names serve the package itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import get_data
from typing import Any


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from its stub."""
    namespace = vars(sys.modules[package])
    # Asked of the loader: a package may be inside a zip file.
    stub = ast.parse(get_data(package, "__init__.pyi") or b"")
    modules = {
        alias.name: f".{node.module or alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    listed = [ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign)]
    public = sorted(listed[0] if listed else modules)

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        is_module = modules[name] == f".{name}"
        if not is_module and modules[name] != ".errors":
            # Two threads that load two names at once must not both begin to load numpy.
            import_module("numpy")
        module = import_module(modules[name], package)
        # Kept, so that the next use does not come here.
        namespace[name] = module if is_module else getattr(module, name)
        return namespace[name]

    return load, lambda: list(public), public
