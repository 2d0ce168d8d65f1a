"""`sgdphase figure` and `claims`: what is printed of a claim, and which store is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sgdphase import cli
from sgdphase.errors import InputError
from sgdphase.paper import FIGURES, read_claims

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def run(*words: str) -> None:
    cli.build(lazy=True)(list(words), standalone_mode=False)


def test_an_undecided_claim_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = "the interval lies within 1 +- 0.1: regimes differ by 1"
    numbers = [(None, None, None, "too few cells"), (1.0, None, None, rule), (1.0, 0.5, 1.5, rule)]
    ledger = [
        {"id": f"fig2.{k}", "claim": "w1 ~ T", "predicted": 1.0,
         "measured": value, "low": low, "high": high, "rule": text, "cost": "",
         "verdict": "undecided"}
        for k, (value, low, high, text) in enumerate(numbers)
    ]  # fmt: skip
    ledger.append(ledger[2] | {"id": "fig2.3", "low": 0.95, "high": 1.05, "verdict": "holds"})
    whole: dict[str, Any] = {"figure": "fig2", "scale": "quick", "command": "", "runs": None}
    whole |= {"ledger": "paper", "claims": ledger}
    (tmp_path / "fig2.claims.json").write_text(json.dumps(whole))
    run("claims", str(tmp_path))
    said = printed_claims(capsys.readouterr().out)
    assert said["fig2.0"] == "undecided w1 ~ T predicted 1; too few cells"
    assert said["fig2.1"] == "undecided w1 ~ T predicted 1, measured 1; there is no interval"
    assert said["fig2.2"] == (
        "undecided w1 ~ T predicted 1, measured 1 (0.5 .. 1.5); the interval lies partly within "
        "1 +- 0.1"
    )
    assert said["fig2.3"] == "holds w1 ~ T predicted 1, measured 1 (0.95 .. 1.05)"


def printed_claims(text: str) -> dict[str, str]:
    """What is printed of each claim, by its id, in one line."""
    entries = re.split(r"^(?=\S)", text, flags=re.M)
    return {words[0]: " ".join(words[1:]) for words in map(str.split, entries) if words}


@pytest.mark.parametrize("columns", [80, 100])
def test_claims_fit_and_ids_are_whole(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe 100 columns; in a terminal those that it has."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: columns == 80)
    monkeypatch.setenv("COLUMNS", str(columns))
    ledger = read_claims(GALLERY)
    run("claims", str(GALLERY))
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    said = printed_claims(out)
    for claim in ledger:
        assert said[claim["id"]].startswith(
            f"{claim['verdict']} {' '.join(claim['claim'].split())}"
        )
    run("figure", "--list")
    listed = capsys.readouterr().out
    assert max(map(len, listed.splitlines())) <= columns
    assert {*FIGURES} <= {*re.findall(r"^\S+", listed, flags=re.M)}


@pytest.mark.parametrize("content", ["[1, 2]", '[{"id": "a"}]', "{}", "3", "{"])
def test_a_file_of_another_content_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "other.claims.json").write_text(content)
    with pytest.raises(
        InputError, match=r"other.claims.json': (is not JSON|holds no claims)"
    ) as error:
        run("claims", str(tmp_path))
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_store_ends_the_command(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    store.write_text("not a store")
    for names in (["figS9a"], ["all"]):
        with pytest.raises(InputError, match="is not a store of sgdphase"):
            run("figure", *names, "--scale", "quick", "--store", str(store), "--out", str(tmp_path))


def test_all_that_makes_nothing_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From an empty folder no figure can be drawn: the first reason is the answer."""
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"no figure was made; fig1a: .*does not exist") as error:
        run("figure", "all", "--from", str(tmp_path), "--out", str(out))
    assert "\n" not in str(error.value)
    assert not out.exists()


def test_from_tables_says_the_scale_of_their_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("figure", "fig3", "--from", str(GALLERY / "runs"), "--out", str(tmp_path))
    assert capsys.readouterr().out.startswith("fig3 (paper)\n")


def test_workers_of_this_machine_are_refused_with_a_cluster() -> None:
    with pytest.raises(InputError, match="--workers: is of this machine, and --dask has its own"):
        run("figure", "fig3", "--workers", "2", "--dask", "tcp://here:8786")
