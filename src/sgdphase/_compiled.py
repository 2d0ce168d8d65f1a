"""What numba compiles is kept on disk, so that the next process need not compile it again.

numba keeps it beside the source or, where that cannot be written, in the user's cache folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def kept(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit(cache=True, ...)`; without the cache where no folder can be written."""
    from numba import njit

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no folder for its files
            return njit(**options)(function)

    return decorate


def unwrapped(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit(...)` for functions that only compiled ones call.

    Without what Python needs to call them, which takes long to compile.
    """
    from numba import njit

    compiled: Any = njit  # its types do not know all of its options
    decorate: Callable[[Callable[..., Any]], Any]
    decorate = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
    return decorate


def is_kept(module: str, name: str) -> bool:
    """Whether the disk has this `kept` function, as this version of Python compiled it.

    >>> is_kept("sgdphase._compiled", "is_kept")  # is not compiled
    False
    """
    spec = find_spec(module)
    source = Path(spec.origin if spec and spec.origin else "")
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    file = f"{source.stem}.{name}-*.{version}*.nbi"
    if any((source.parent / "__pycache__").glob(file)):
        return True  # and numba, which takes a while to load, was not asked
    stats = getattr(getattr(import_module(module), name), "stats", None)
    folder = stats.cache_path if stats else None
    return folder is not None and any(Path(folder).glob(file))
