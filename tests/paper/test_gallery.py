"""The gallery holds the numbers of the committed claims files, and every figure has its picture."""

import json
from pathlib import Path

import pytest

from sgdphase.paper._make import read_claims
from sgdphase.paper.gallery import page, totals

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"


def test_the_page_is_made_of_the_committed_claims() -> None:
    assert (ROOT / "docs" / "gallery.md").read_text() == page(GALLERY)


def test_the_readme_gives_the_totals() -> None:
    assert totals(read_claims(GALLERY)) in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("path", sorted(GALLERY.glob("*.claims.json")), ids=lambda p: p.name)
def test_claims_are_whole(path: Path) -> None:
    name = path.name.removesuffix(".claims.json")
    assert (GALLERY / f"{name}.png").is_file()
    for claim in json.loads(path.read_text()):
        assert claim["figure"] == name
        assert claim["id"].startswith(name)
        assert claim["rule"]
        assert claim["verdict"] in ("holds", "fails", "undecided")
        assert claim["scale"] in ("quick", "laptop", "paper")
