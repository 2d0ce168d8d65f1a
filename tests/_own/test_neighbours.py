"""Modules beside the user's file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sgdphase._own import user_file
from sgdphase._records import Training
from sgdphase._sweep import Store, sweep

torch = pytest.importorskip("torch")


Write = Callable[..., Path]


def test_the_standard_library_is_not_shadowed(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loaded by the worker itself as it starts (random, tempfile), or later by others (html).
    for name in ("html", "random", "tempfile", "fractions"):
        write("raise RuntimeError('the wrong one')\n", f"{name}.py")
    write("from html import escape\nTEXT = escape('<')\n", "helper_of_mine.py")
    path = write(
        "import helper_of_mine\nimport fractions, random\n"
        "def train(lr, batch, epochs, seed):\n    import html\n"
        "    return {'text': len(html.escape('<')), 'drawn': random.random()}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "html", raising=False)
    problem = user_file(path)
    training = Training(problem, train_size=8, lr=1.0, batch=1, model="function", epochs=1)
    for workers in (0, 1):
        store = Store(tmp_path / f"{workers}.sqlite")
        assert sweep([training], store, workers=workers).statuses == {"finished": 1}
        assert store.runs()[0].outcome.observables["text"] == 4
    assert problem.notes == tuple(
        f"{name}.py next to mine.py is not used: import {name} gives the standard library's"
        for name in ("fractions", "html", "random")
    )
    # What is not used is no part of the identity.
    write("pass\n", "random.py")
    assert user_file(path) == problem


def test_modules_packages_and_folders_beside_are_found(write: Write, tmp_path: Path) -> None:
    write("VALUE = 1\n", "single_beside.py")
    write("from .inner import VALUE\n", "package_beside/__init__.py")
    write("from single_beside import VALUE as ONE\nVALUE = 1 + ONE\n", "package_beside/inner.py")
    write("VALUE = 3\n", "folder_beside/part.py")
    # A folder of data with the name of a package that is installed.
    write("", "pytest/readme.txt")
    path = write(
        "import single_beside, package_beside, pytest\nfrom folder_beside import part\n"
        "def train(lr, batch, seed):\n    from package_beside.inner import VALUE\n"
        "    return single_beside.VALUE + 10 * VALUE + 100 * part.VALUE, pytest.__file__\n"
    )
    path_before = list(sys.path)
    problem = user_file(path)
    value, file = problem.code.call("train", 0, lr=1, batch=1, seed=1)
    assert value == 321 and file == pytest.__file__
    assert sys.path == path_before
    for name, value in (("folder_beside/part.py", 421), ("package_beside/inner.py", 441)):
        write("VALUE = 4\n", name)
        assert user_file(path) != problem
        problem = user_file(path)
        assert problem.code.call("train", 0, lr=1, batch=1, seed=1)[0] == value
