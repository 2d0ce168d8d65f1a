"""Fig. 1A at quick scale, end to end, through the command line."""

import json
from pathlib import Path

import pytest

from sgdphase import cli


def test_fig1a(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    # In this process: workers would take longer to start than the trainings take.
    words = ["figure", "fig1a", "--scale", "quick", "--json", "--workers", "0"]
    places = ["--store", str(tmp_path / "runs.sqlite"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr("sys.argv", ["sgdphase", *words, *places])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 0
    ledger = {claim["id"]: claim for claim in json.loads(capsys.readouterr().out)}
    # The regimes are far apart even at P = 1024; the errors of 3 seeds are too noisy for the rest.
    for id in ("1", "2a", "2b", "3a", "3b", "4a", "4b"):
        assert ledger[f"fig1a.{id}"]["verdict"] == "holds", ledger[f"fig1a.{id}"]
    assert (tmp_path / "out" / "fig1a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "fig1a.pdf").read_bytes().startswith(b"%PDF")
    written = json.loads((tmp_path / "out" / "fig1a.claims.json").read_text())["claims"]
    assert [claim["id"] for claim in written] == list(ledger)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["figure"], "no figure given; there are fig1a"),
        (["figure", "fig9"], "'fig9' is not a figure (did you mean figS9b?); there are fig1a"),
        (["figure", "fig1a", "--scale", "huge"], "must be quick, laptop or paper"),
        (["claims", "."], "holds no *.claims.json"),
    ],
)
def test_bad_input(words, said, monkeypatch, capsys, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["sgdphase", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
