"""Where files are looked for, what is checked, and how they are downloaded."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch
import pytest

from sgdphase.errors import InputError
from sgdphase.problems import CifarAnimals, MnistParity
from sgdphase.problems import _files as files
from sgdphase.problems import _images as images
from sgdphase.problems._files import CIFAR10, MNIST, FileSet

CONTENTS = {"a": b"first", "b": b"second" * 1000}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no folder of the user's."""
    monkeypatch.delenv("SGDPHASE_DATA", raising=False)
    monkeypatch.setattr(files, "cache", lambda: tmp_path / "cache")
    images._mnist.cache_clear()
    images._cifar.cache_clear()
    yield tmp_path / "cache"
    images._mnist.cache_clear()
    images._cifar.cache_clear()


@pytest.fixture
def no_network(monkeypatch):
    def fail(*args, **kwargs):
        raise OSError("no network here")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", fail)


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder on http, its address, and what was asked of it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(Handler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        http.folder, http.asked = folder, []
        http.address = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield http
        http.shutdown()
        thread.join()


def single(*sources: str) -> FileSet:
    digests = {name: sha256(content) for name, content in CONTENTS.items()}
    return FileSet("toy", "toys", digests, sources)


def put(folder: Path, contents=CONTENTS) -> None:
    folder.mkdir(parents=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def tarball(path: Path, members: dict[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return sha256(path.read_bytes())


def test_the_folder_of_the_user_comes_before_the_cache(tmp_path, cache, monkeypatch) -> None:
    put(cache / "toys")
    toy = single()
    assert [found.path for found in files.find(toy)] == [cache / "toys" / n for n in CONTENTS]
    put(tmp_path / "mine" / "toys", {"a": CONTENTS["a"]})
    files.use_data_dir(tmp_path / "mine")
    assert os.environ["SGDPHASE_DATA"] == str(tmp_path / "mine")
    assert [found.path for found in files.find(toy)] == [
        tmp_path / "mine" / "toys" / "a",
        cache / "toys" / "b",
    ]
    assert all(found.sound for found in files.find(toy))
    assert [files.read(toy, name) for name in CONTENTS] == list(CONTENTS.values())
    monkeypatch.delenv("SGDPHASE_DATA")


def test_a_data_dir_must_be_a_folder(tmp_path) -> None:
    with pytest.raises(InputError, match=r"data dir = .*nowhere: must be a folder"):
        files.use_data_dir(tmp_path / "nowhere")


def test_no_files_and_no_network_is_one_line(cache, no_network, monkeypatch, capfd) -> None:
    monkeypatch.setenv("SGDPHASE_DATA", "mine")
    with pytest.raises(InputError) as caught:
        MnistParity().train_set(1, seed=0)
    said = str(caught.value)
    assert "\n" not in said
    for part in (
        *MNIST.digests,
        str(Path("mine", "mnist")),
        str(cache / "mnist"),
        "SGDPHASE_DATA",
        "--data-dir",
        "sgdphase data fetch",
        "no network here",
    ):
        assert part in said
    with pytest.raises(InputError, match="data_batch_1"):
        CifarAnimals().prepare()
    assert capfd.readouterr() == ("", "")


def test_a_cache_that_cannot_be_made_is_said(tmp_path, cache, no_network) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(InputError, match=r"toy needs a, b: not in .*File exists"):
        files.fetch(single("http://127.0.0.1/"))


def test_a_wrong_file_is_refused_before_it_is_opened(tmp_path, cache, monkeypatch) -> None:
    # The trap would spring in any unpickler; the checksum comes first.
    put(tmp_path / "mine" / CIFAR10.folder, dict.fromkeys(CIFAR10.digests, b"tampered"))
    monkeypatch.setenv("SGDPHASE_DATA", str(tmp_path / "mine"))
    monkeypatch.setattr(images, "read_cifar_batch", lambda content: pytest.fail("was opened"))
    for attempt in (lambda: CifarAnimals().train_set(1, seed=0), CifarAnimals().prepare):
        with pytest.raises(InputError, match=r"data_batch_1: .*SHA-256 is wrong; replace it"):
            attempt()


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_even_with_its_checksum_a_pickle_cannot_run_code(tmp_path, cache, monkeypatch) -> None:
    evil = pickle.dumps({b"data": Evil(tmp_path / "ran"), b"labels": []})
    put(tmp_path / "mine" / CIFAR10.folder, dict.fromkeys(CIFAR10.digests, evil))
    monkeypatch.setenv("SGDPHASE_DATA", str(tmp_path / "mine"))
    trusting = replace(CIFAR10, digests=dict.fromkeys(CIFAR10.digests, sha256(evil)))
    monkeypatch.setattr(images, "CIFAR10", trusting)
    with pytest.raises(InputError, match=r"data_batch_1: not a batch .*mkdir"):
        CifarAnimals().train_set(1, seed=0)
    assert not (tmp_path / "ran").exists()


def test_a_wrong_file_in_the_cache_is_refused_and_fetched_anew(cache, server) -> None:
    put(cache / "toys", CONTENTS | {"a": b"broken"})
    put(server.folder / "toys")
    toy = single(f"{server.address}/toys/")
    with pytest.raises(InputError, match="SHA-256 is wrong; run 'sgdphase data fetch toy'"):
        files.read(toy, "a")
    assert server.asked == []
    files.fetch(toy)
    assert files.read(toy, "a") == CONTENTS["a"]
    assert server.asked == ["/toys/a"]


def test_the_second_source_serves_what_the_first_does_not(cache, server, capfd) -> None:
    put(server.folder / "wrong", dict.fromkeys(CONTENTS, b"something else"))
    put(server.folder / "right")
    broken, right = f"{server.address}/absent/", f"{server.address}/right/"
    toy = single(broken, f"{server.address}/wrong/", right)
    assert files.read(toy, "b") == CONTENTS["b"]
    # What served the first file is asked first for the next.
    assert server.asked == ["/absent/a", "/wrong/a", "/right/a", "/right/b"]
    assert sorted(path.name for path in (cache / "toys").iterdir()) == ["a", "b"]
    files.fetch(toy)
    assert len(server.asked) == 4
    assert capfd.readouterr() == ("", "")


def test_every_failure_is_said_with_its_host(cache, server) -> None:
    put(server.folder / "wrong", dict.fromkeys(CONTENTS, b"something else"))
    sources = (f"{server.address}/absent/", f"{server.address}/wrong/", "http://127.0.0.1:1/")
    with pytest.raises(InputError) as caught:
        files.fetch(single(*sources))
    assert "(127.0.0.1: 404 File not found; 127.0.0.1: wrong checksum; 127.0.0.1: no c" in str(
        caught.value
    )
    assert list((cache / "toys").iterdir()) == []


def test_an_archive_gives_its_named_members_and_nothing_else(cache, server) -> None:
    members = {f"toys/{name}": content for name, content in CONTENTS.items()}
    escape = {"../escaped": b"x", "toys/readme": b"y"}
    digest = tarball(server.folder / "toys.tar.gz", escape | members)
    address = f"{server.address}/toys.tar.gz"
    toy = replace(single(f"{server.address}/absent/toys.tar.gz", address), archive=digest)
    assert files.read(toy, "a") == CONTENTS["a"]
    assert sorted(path.name for path in cache.iterdir() if path.name[0] != ".") == ["toys"]
    assert sorted(path.name for path in (cache / "toys").iterdir()) == ["a", "b"]
    assert not list(cache.glob(".download-*"))
    assert not (cache.parent / "escaped").exists()


def test_a_member_with_another_checksum_is_not_kept(cache, server) -> None:
    members = {"toys/a": b"forged", "toys/b": CONTENTS["b"]}
    digest = tarball(server.folder / "toys.tar.gz", members)
    toy = replace(single(f"{server.address}/toys.tar.gz"), archive=digest)
    with pytest.raises(InputError, match=r"toys/a in toys\.tar\.gz: wrong checksum"):
        files.fetch(toy)
    assert list((cache / "toys").iterdir()) == []
    tarball(server.folder / "toys.tar.gz", {"toys/a": CONTENTS["a"]})
    lacking = replace(toy, archive=sha256((server.folder / "toys.tar.gz").read_bytes()))
    with pytest.raises(InputError, match=r"toys\.tar\.gz lacks toys/b"):
        files.fetch(lacking)


def test_who_asks_at_the_same_time_waits_for_the_one_download(cache, server) -> None:
    put(server.folder / "toys")
    toy = single(f"{server.address}/toys/")
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: files.read(toy, "b"), range(8))) == {CONTENTS["b"]}
    assert server.asked == ["/toys/a", "/toys/b"]


def test_images_are_read_through_the_whole_way(cache, server, monkeypatch) -> None:
    # Two training images and one test image: bytes on a server to scaled floats.
    def idx(*shape: int, data: bytes) -> bytes:
        axes = b"".join(n.to_bytes(4, "big") for n in shape)
        return gzip.compress(bytes([0, 0, 8, len(shape)]) + axes + data)

    contents = {
        "train-images-idx3-ubyte.gz": idx(2, 1, 2, data=bytes([0, 0, 2, 2])),
        "train-labels-idx1-ubyte.gz": idx(2, data=bytes([4, 7])),
        "t10k-images-idx3-ubyte.gz": idx(1, 1, 2, data=bytes([0, 2])),
        "t10k-labels-idx1-ubyte.gz": idx(1, data=bytes([0])),
    }
    put(server.folder / "mnist", contents)
    digests = {name: sha256(content) for name, content in contents.items()}
    sources = (f"{server.address}/mnist/",)
    monkeypatch.setattr(images, "MNIST", replace(MNIST, digests=digests, sources=sources))
    monkeypatch.setattr(MnistParity, "points", 3)
    data = MnistParity().train_set(3, seed=0)
    rows = sorted((float(y), *x.ravel().tolist()) for x, y in zip(data.x, data.y, strict=True))
    assert rows == [(-1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (1.0, -1.0, 1.0)]
