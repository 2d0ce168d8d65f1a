"""Modules that only some uses need."""

from __future__ import annotations

import importlib
from typing import Any

from sgdphase.errors import InputError


def extra(module: str, name: str) -> Any:
    """The module, or an error that says which extra brings it.

    >>> extra("no_such_module", "export")
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: no_such_module is not installed: pip install 'sgdphase[export]'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"{module} is not installed: pip install 'sgdphase[{name}]'") from None
