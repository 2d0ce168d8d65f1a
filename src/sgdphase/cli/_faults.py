"""Whose fault an error is: the user's, the system's, or ours."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from traceback import extract_tb

# What the system lacks or forbids, whatever file it concerns.
_SYSTEM = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE,
    errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ESTALE, errno.ENODEV,
}  # fmt: skip


def is_refused(error: OSError, words: Iterable[str]) -> bool:
    """Whether the system refuses something, or a file is concerned that the words name.

    A file next to it counts too, as `runs.sqlite-lock` does, and one in a folder that is named.
    """
    if error.errno in _SYSTEM:
        return True
    if not isinstance(error.filename, str | bytes | os.PathLike):
        return False
    path = os.path.abspath(os.fsdecode(error.filename))
    named = (part for word in words for part in {word, word.partition("=")[2]} if part)
    return any(path.startswith(os.path.abspath(part)) for part in named)


def fault(error: Exception) -> str:
    """A line about a fault of ours, with what a report of it needs."""
    place = extract_tb(error.__traceback__)[-1]
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        f"a fault in sgdphase, not in your input: {said} ({Path(place.filename).name}, line "
        f"{place.lineno}). Please report it, with the command and what SGDPHASE_DEBUG=1 shows: "
        f"{_tracker()}"
    )


def _tracker() -> str:
    from importlib import metadata

    urls = metadata.metadata("sgdphase").get_all("Project-URL") or []
    return next((url.split(", ")[1] for url in urls if url.startswith("Issues")), "the issues")
