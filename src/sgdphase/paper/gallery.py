"""The page of all figures that were made into a folder: pictures, claims, commands.

python -m sgdphase.paper.gallery docs/gallery > docs/gallery.md
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

from sgdphase.paper._figure import FIGURES, Figure
from sgdphase.paper._ledger import Ledger, totals
from sgdphase.paper._make import read_claims, read_ledgers
from sgdphase.stats import digits


def page(folder: Path) -> str:
    """The page in Markdown, for a file beside `folder`."""
    ledger = read_claims(folder)
    parts = [
        "# Gallery",
        "Every figure at the largest scale that was run, with what it says about the paper's "
        "claims. Intervals have a level of 90 %, over seeds. [How claims are decided](ledger.md) "
        "says what the verdicts mean. The rule of each claim, the runs (`runs/`) and where they "
        "come from stand beside the pictures: `sgdphase figure NAME --from docs/gallery/runs` "
        "draws and decides again, `sgdphase verify docs/gallery` decides all.",
        *(_total(name, ledger) for name in get_args(Ledger)),
        at_paper_scale(ledger),
        "What fails of the paper:",
        "\n".join(
            _failure(claim)
            for claim in ledger
            if claim["verdict"] == "fails" and claim["ledger"] == "paper"
        ),
    ]
    for made in read_ledgers(folder):
        if made["figure"] in FIGURES:
            parts += _section(FIGURES[made["figure"]], made, folder.name)
    return "\n\n".join(parts) + "\n"


def _total(name: str, ledger: list[dict[str, Any]]) -> str:
    return f"**{name}** {totals([claim for claim in ledger if claim['ledger'] == name])}"


def at_paper_scale(ledger: list[dict[str, Any]]) -> str:
    """The verdicts on the paper's claims that come from runs of paper scale."""
    large = [each for each in ledger if (each["ledger"], each["scale"]) == ("paper", "paper")]
    return f"Of the paper's claims, by runs of paper scale: {totals(large)}."


def _failure(claim: dict[str, Any]) -> str:
    predicted = "" if claim["predicted"] is None else f"predicted {number(claim['predicted'])}, "
    between = f" ({interval(claim)})" if interval(claim) else ""
    measured = f"measured {number(claim['measured'])}{between}"
    smaller = "" if claim["scale"] == "paper" else f" (at {claim['scale']} scale)"
    return f"- {claim['id']}{smaller}: {claim['claim']}: {predicted}{measured}"


def _section(figure: Figure, made: dict[str, Any], folder: str) -> list[str]:
    name, shows = figure.name, figure.shows
    table = [
        "| id | claim | predicted | measured | interval | verdict |",
        "|---|---|---|---|---|---|",
    ]
    table += [
        f"| {claim['id']} | {_escape(claim['claim'])} | {number(claim['predicted'])} "
        f"| {number(claim['measured'])} | {interval(claim)} | {_verdict(claim)} |"
        for claim in made["claims"]
    ]
    return [
        f"## {name}",
        f"{shows[0].upper()}{shows[1:]}.",
        f"![{name}]({folder}/{name}.png)",
        f"    {made['command']}",
        "\n".join(table) if made["claims"] else "The paper makes no claim about it.",
        *([figure.remark] if figure.remark else []),
    ]


def _verdict(claim: dict[str, Any]) -> str:
    reason = claim["rule"] if claim["verdict"] == "not testable" else claim["cost"]
    return f"{claim['verdict']}: {_escape(reason)}" if reason else str(claim["verdict"])


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
