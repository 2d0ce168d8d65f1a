"""The page of all figures that were made into a folder: pictures, claims, commands.

python -m sgdphase.paper.gallery docs/gallery > docs/gallery.md
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sgdphase.paper._figure import FIGURES, Figure, read_claims
from sgdphase.paper._ledger import totals
from sgdphase.stats import digits


def page(folder: Path) -> str:
    """The page in Markdown, for a file beside `folder`."""
    ledger = read_claims(folder)
    parts = [
        "# Gallery",
        "Every figure at the largest scale that was run, with what it says about the paper's "
        "claims. Intervals are 90 % ones over seeds; the rule of each verdict was fixed before "
        "the run, unless a remark says otherwise, and stands in the figure's `claims.json`. "
        "Undecided means that the interval allows both, or that the runs are too few to measure.",
        f"**{totals(ledger)}.** What fails:",
        "\n".join(_failure(claim) for claim in ledger if claim["verdict"] == "fails"),
    ]
    for figure in FIGURES.values():
        claims = [claim for claim in ledger if claim["figure"] == figure.name]
        if claims:
            parts += _section(figure, claims, folder.name)
    return "\n\n".join(parts) + "\n"


def _failure(claim: dict[str, Any]) -> str:
    predicted = "" if claim["predicted"] is None else f"predicted {number(claim['predicted'])}, "
    measured = f"measured {number(claim['measured'])} ({interval(claim)})"
    return f"- {claim['id']}: {claim['claim']}: {predicted}{measured}"


def _section(figure: Figure, claims: list[dict[str, Any]], folder: str) -> list[str]:
    name, shows, scale = figure.name, figure.shows, claims[0]["scale"]
    table = [
        "| id | claim | predicted | measured | interval | verdict |",
        "|---|---|---|---|---|---|",
    ]
    table += [
        f"| {claim['id']} | {_escape(claim['claim'])} | {number(claim['predicted'])} "
        f"| {number(claim['measured'])} | {interval(claim)} | {claim['verdict']} |"
        for claim in claims
    ]
    return [
        f"## {name}",
        f"{shows[0].upper()}{shows[1:]}.",
        f"![{name}]({folder}/{name}.png)",
        f"    sgdphase figure {name} --scale {scale}",
        "\n".join(table),
        *([figure.remark] if figure.remark else []),
    ]


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def number(value: float | None) -> str:
    """Three digits, or nothing."""
    return "" if value is None else digits(value)


def interval(claim: dict[str, Any]) -> str:
    """The ends of a claim's interval, or nothing."""
    return "" if claim["low"] is None else f"{digits(claim['low'])} .. {digits(claim['high'])}"


if __name__ == "__main__":
    print(page(Path(sys.argv[1])), end="")
