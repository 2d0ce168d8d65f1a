"""The text of a command: its placeholders, and which of its words are paths."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from string import Formatter
from typing import Any

from sgdphase.errors import InputError, likely, one_line

# What a placeholder stands for; the values are only to try a template.
PLACEHOLDERS: dict[str, Any] = {
    "lr": 0.5, "batch": 1, "epochs": 1, "seed": 0, "train_size": 1, "out": "/", "start": "/",
}  # fmt: skip
_NEEDED = ("lr", "batch")


def placeholders_of(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def check_template(template: str) -> None:
    """Raise `InputError` for a command that cannot be filled or split."""
    braces = "write {{ and }} for braces of your own"
    there = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    try:
        names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        for name in names:
            if name not in PLACEHOLDERS:
                meant = likely(name, PLACEHOLDERS)
                raise InputError(
                    f"placeholder {{{name}}} of the command: must be one of {there}{meant}; "
                    f"{braces}"
                )
        template.format(**PLACEHOLDERS)
    except InputError:
        raise
    except (ValueError, IndexError, KeyError, AttributeError) as error:
        raise InputError(f"command = {one_line(template)}: {error}; {braces}") from None
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InputError(f"command = {one_line(template)}: {str(error).lower()}") from None
    if not words:
        raise InputError("command = '': must be a command such as python train.py --lr {lr} "
                         "--batch-size {batch}")  # fmt: skip
    for name in _NEEDED:
        if name not in names:
            raise InputError(
                f"command = {one_line(template)}: has no {{{name}}}; there are {there}"
            )


def is_path(word: str) -> bool:
    """Whether it can only be meant as a path: `resnet` may be a model, and a folder by chance."""
    return not word.startswith("-") and bool("/" in word or re.search(r"\.\w+$|^\.\.?$", word))


def placed(word: str, start: Path) -> str:
    """A word, or what follows its `=`, as an absolute path if it names what is in `start`."""
    head, equals, path = word.rpartition("=")
    if is_path(path) and not os.path.isabs(path) and (start / path).exists():
        return f"{head}{equals}{os.path.normpath(start / path)}"
    return word
