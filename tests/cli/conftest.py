"""The command line, called in this process."""

from __future__ import annotations

import pytest

from sgdphase import cli


def run(capsys, monkeypatch, *words: str):  # type: ignore[no-untyped-def]
    monkeypatch.setattr("sys.argv", ["sgdphase", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    out, err = capsys.readouterr()
    return end.value.code, out, err


@pytest.fixture
def sgdphase(capsys, monkeypatch):  # type: ignore[no-untyped-def]
    return lambda *words: run(capsys, monkeypatch, *words)
