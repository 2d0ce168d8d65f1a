"""The gallery holds the numbers of the committed claims files, and every figure has its picture."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from sgdphase.paper._ledger import Ledger, Scale, Verdict
from sgdphase.paper._make import read_claims, verify
from sgdphase.paper.gallery import at_paper_scale, page, totals

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"


def test_the_page_is_made_of_the_committed_claims() -> None:
    assert (ROOT / "docs" / "gallery.md").read_text() == page(GALLERY)


def test_the_readme_gives_the_totals_of_the_paper() -> None:
    paper = [claim for claim in read_claims(GALLERY) if claim["ledger"] == "paper"]
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"{totals(paper)}. {at_paper_scale(paper)}" in readme


DECIDED = {ledger["figure"]: ledger for path in sorted(GALLERY.glob("*.claims.json"))
           if (ledger := json.loads(path.read_text()))["runs"]}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
def test_the_tables_give_the_verdicts(name: str) -> None:
    assert verify(GALLERY, name) == (len(DECIDED[name]["claims"]), [])


@pytest.mark.parametrize("path", sorted(GALLERY.glob("*.claims.json")), ids=lambda p: p.name)
def test_claims_are_whole(path: Path) -> None:
    name = path.name.removesuffix(".claims.json")
    assert (GALLERY / f"{name}.png").is_file()
    ledger = json.loads(path.read_text())
    assert ledger["figure"] == name
    assert ledger["ledger"] in get_args(Ledger)
    assert ledger["scale"] in get_args(Scale)
    for claim in ledger["claims"]:
        assert claim["id"].startswith(name)
        assert claim["rule"]
        assert claim["verdict"] in get_args(Verdict)
        assert claim["cost"] or claim["verdict"] != "undecided"


def test_the_findings_name_claims_that_there_are() -> None:
    """`[fig1a.2a, 2b]` and `[fig4a.chi1.1a to 2c]` name claims by their full or last part."""
    ids = {claim["id"] for claim in read_claims(GALLERY)}
    text = (ROOT / "docs" / "findings.md").read_text()
    blocks = re.findall(r"\[((?:fig|theory)[^\]]+)\]", text)
    assert len(blocks) > 20
    for block in blocks:
        prefix = ""
        for name in re.split(r",\s+|\s+to\s+", block):
            if name.startswith(("fig", "theory")):
                prefix = name.rpartition(".")[0]
            else:
                name = f"{prefix}.{name}"
            assert name in ids, f"[{block}] names no claim {name}"
