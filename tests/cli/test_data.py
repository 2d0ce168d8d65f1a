"""`sgdphase data` through an application of its own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from sgdphase.cli import data
from sgdphase.errors import InputError
from sgdphase.problems import CifarAnimals, MnistParity
from sgdphase.problems import _files as files

# Files that stand for the real ones, with their own checksums.
CONTENTS = {"a": b"first", "b": b"second"}
DIGESTS = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENTS.items()}


@pytest.fixture
def sgdphase(capsys, tmp_path, monkeypatch):
    # Set first, so that what the command sets is undone.
    monkeypatch.setenv("SGDPHASE_DATA", "")
    monkeypatch.setattr(files, "cache", lambda: tmp_path / "cache")
    for problem in (MnistParity, CifarAnimals):
        monkeypatch.setattr(problem, "files", replace(problem.files, digests=DIGESTS))
    app = typer.Typer(rich_markup_mode=None)
    app.callback()(lambda: None)
    data.register(app, "")

    def run(*words: str) -> str:
        app(["data", *words], standalone_mode=False)
        return capsys.readouterr().out

    return run


def put(root: Path, folder: str, contents=CONTENTS) -> None:
    (root / folder).mkdir(parents=True)
    for name, content in contents.items():
        (root / folder / name).write_bytes(content)


def test_alone_it_lists(sgdphase, tmp_path) -> None:
    put(tmp_path / "cache", "mnist")
    put(tmp_path / "mine", "cifar-10-batches-py", {"a": b"forged"})
    lines = sgdphase("--data-dir", str(tmp_path / "mine")).splitlines()
    mnist, cifar = (next(line for line in lines if kind in line) for kind in ("mnist-", "cifar-a"))
    assert mnist.split() == ["mnist-parity", "70000", "sound", str(tmp_path / "cache" / "mnist")]
    assert "60000" in cifar
    assert "1 of 2 missing, 1 of 2 not the original" in cifar
    assert str(tmp_path / "mine" / "cifar-10-batches-py") in cifar


def test_json_says_it_by_file(sgdphase, tmp_path) -> None:
    put(tmp_path / "mine", "mnist", CONTENTS | {"b": b"forged"})
    mnist, cifar = json.loads(sgdphase("--json", "--data-dir", str(tmp_path / "mine")))
    folder = tmp_path / "mine" / "mnist"
    assert mnist["files"] == [
        {"name": "a", "path": str(folder / "a"), "sound": True},
        {"name": "b", "path": str(folder / "b"), "sound": False},
    ]
    assert mnist["looked_in"] == [str(folder), str(tmp_path / "cache" / "mnist")]
    assert (cifar["kind"], cifar["images"]) == ("cifar-animals", 60_000)
    assert cifar["state"] == "2 of 2 missing"
    assert cifar["files"][0] == {"name": "a", "path": None, "sound": False}


def test_fetch_downloads_what_is_missing_of_those_named(sgdphase, tmp_path, monkeypatch) -> None:
    asked = []

    def download(name, addresses, sha256, folder):
        asked.append((name, addresses))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(CONTENTS[name])
        return 0

    monkeypatch.setattr(files, "download", download)
    put(tmp_path / "cache", "mnist", {"a": CONTENTS["a"]})
    (report,) = json.loads(sgdphase("fetch", "mnist-parity", "--json"))
    assert report["state"] == "sound"
    assert asked == [("b", [source + "b" for source in MnistParity.files.sources])]


def test_fetch_leaves_a_sound_data_dir_alone(sgdphase, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(files, "download", lambda *_: pytest.fail("downloads"))
    for folder in ("mnist", "cifar-10-batches-py"):
        put(tmp_path / "mine", folder)
    reports = json.loads(sgdphase("fetch", "--json", "--data-dir", str(tmp_path / "mine")))
    assert [report["state"] for report in reports] == ["sound", "sound"]
    assert not (tmp_path / "cache").exists()


def test_bad_words_are_named(sgdphase, tmp_path) -> None:
    with pytest.raises(InputError, match="'teacher' has no files: must be one of mnist-parity, ci"):
        sgdphase("fetch", "teacher")
    with pytest.raises(InputError, match=r"data dir = .*absent: must be a folder"):
        sgdphase("--data-dir", str(tmp_path / "absent"))
