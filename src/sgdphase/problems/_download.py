"""Downloads: one file, several addresses, a checksum; whole or not at all."""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Seconds to wait for a connection, and for the next bytes.
_TIMEOUT = (10, 30)
_CHUNK = 2**16


class DownloadError(Exception):
    """No address served the file; the message has one reason per address."""


def download(name: str, addresses: Sequence[str], sha256: str, folder: Path) -> int:
    """Download a file into a folder; returns the index of the address that served it.

    It is downloaded under another name and moved into place when its checksum is right, so any
    number of processes may do this at once.
    """
    reasons = []
    for number, address in enumerate(addresses):
        try:
            with _bar(name) as bar, _quiet_pooch() as pooch:
                downloader = pooch.HTTPDownloader(
                    progressbar=bar, chunk_size=_CHUNK, timeout=_TIMEOUT
                )
                pooch.retrieve(address, f"sha256:{sha256}", name, folder, downloader=downloader)
            return number
        except (OSError, ValueError) as error:
            reasons.append(f"{urlsplit(address).hostname}: {_reason(error)}")
    raise DownloadError("; ".join(reasons))


def extract(archive: Path, digests: Mapping[str, str], folder: Path) -> None:
    """Extract members of a tarball into a folder, without their paths; checksums are checked."""
    folder.mkdir(parents=True, exist_ok=True)
    left = dict(digests)
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and member.name in left:
                stream = tar.extractfile(member)
                content = stream.read() if stream else b""
                if hashlib.sha256(content).hexdigest() != left.pop(member.name):
                    raise DownloadError(f"{member.name} in {archive.name}: wrong checksum")
                _write(folder / Path(member.name).name, content)
    if left:
        raise DownloadError(f"{archive.name} lacks {', '.join(left)}")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """A lock, held by one process at a time: the others need not download the same again."""
    if os.name == "nt":  # pragma: no cover
        yield
        return
    import fcntl

    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with suppress(OSError):  # not every network file system has locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _reason(error: Exception) -> str:
    """Why a download failed, in a few words."""
    import requests

    match error:
        case requests.HTTPError() if error.response is not None:
            return f"{error.response.status_code} {error.response.reason}"
        case requests.Timeout():
            return "no answer"
        case requests.ConnectionError():
            return "no connection"
        case requests.RequestException():
            return type(error).__name__
        case OSError():
            return str(error)
        case _:
            return "wrong checksum"


@contextmanager
def _quiet_pooch() -> Iterator[Any]:
    """pooch, without its messages on stderr; imported here, as most commands never need it."""
    import pooch  # type: ignore[import-untyped, unused-ignore]

    logger = pooch.get_logger()
    before = logger.level
    logger.setLevel("ERROR")
    try:
        yield pooch
    finally:
        logger.setLevel(before)


@contextmanager
def _bar(name: str) -> Iterator[Any]:
    """A progress bar on stderr, or `False` if that is not a terminal."""
    if not sys.stderr.isatty():
        yield False
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _Bar(progress)


class _Bar:
    """The progress bar that pooch calls: `total`, `update`, `reset`, `close`."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    @property
    def total(self) -> float | None:
        total: float | None = self._progress.tasks[0].total
        return total

    @total.setter
    def total(self, total: int) -> None:
        # pooch gives 0 if the server does not give a length.
        self._progress.update(self._task, total=total or None)

    def update(self, more: int) -> None:
        self._progress.advance(self._task, more)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.stop()
