"""A fault of ours says so, in one line; what the system refuses of a named file is none."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def missing(path: str | None) -> OSError:
    return FileNotFoundError(errno.ENOENT, "No such file or directory", path)


@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("division by zero\nand more"),
        missing("/nowhere/of-ours"),  # which nobody named
        missing(None),
        ValueError("[/red]"),
    ],
)
def test_a_fault_of_ours_is_one_line_that_says_so(
    sgdphase: Run, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("sgdphase.theory.constants", failing(error))
    code, out, err = sgdphase("theory", "constants")
    assert code == 1
    assert not out
    assert err.startswith(
        f"sgdphase: a fault in sgdphase, not in your input: {type(error).__name__}"
    )
    assert "cli/test_faults.py, line" not in err and "test_faults.py" in err
    assert "SGDPHASE_DEBUG=1" in err and "issues" in err
    assert len(err.splitlines()) == 1


def test_the_variable_shows_the_traceback(sgdphase: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sgdphase.theory.constants", failing(ZeroDivisionError()))
    monkeypatch.setenv("SGDPHASE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        sgdphase("theory", "constants")


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("x.csv", "x.csv"),
        ("x.csv", "{here}/x.csv"),
        ("x.csv", "x.csv-lock"),  # a file next to it
        ("folder", "{here}/folder/deep/x"),
        ("--out=x.png", "x.png"),
    ],
)
def test_a_file_that_was_named_is_the_users(
    sgdphase: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, word: str, path: str
) -> None:
    monkeypatch.setattr(
        "sgdphase.cli.build", lambda lazy: failing(missing(path.format(here=tmp_path)))
    )
    code, _, err = sgdphase("report", word)
    assert code == 2
    assert err.endswith(": No such file or directory\n") and "fault" not in err


def test_what_the_system_lacks_is_no_fault(sgdphase: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("sgdphase.theory.constants", failing(full))
    code, _, err = sgdphase("theory", "constants")
    assert code == 2
    assert err == "sgdphase: [Errno 28] No space left on device\n"
