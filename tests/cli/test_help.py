"""`sgdphase help`: what the pages say is true."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any, get_args

import pytest

from sgdphase._records import STATUSES
from sgdphase.cli._values import numbers
from sgdphase.cli.help import TOPICS
from sgdphase.diagram._regimes import Regime


def test_topics_are_listed_and_printed(sgdphase: Any) -> None:
    code, out, _ = sgdphase("help")
    assert code == 0 and all(f"  {name} " in out for name in TOPICS)
    files = resources.files("sgdphase.cli").joinpath("topics").iterdir()
    assert {file.name for file in files} == {f"{name}.md" for name in TOPICS}
    for name in TOPICS:
        code, out, _ = sgdphase("help", name)
        assert code == 0 and out.startswith("# ")
        assert max(map(len, out.splitlines())) <= 82  # fits a terminal


@pytest.mark.parametrize("name", ["rangs", "sweep", ""])
def test_another_topic_is_one_line_and_exit_code_2(sgdphase: Any, name: str) -> None:
    code, out, err = sgdphase("help", name)
    assert code == 2 and out == "" and err.count("\n") == 1
    assert "must be ranges, regimes or store" in err


def test_ranges_hold_what_the_page_says(sgdphase: Any) -> None:
    _, out, _ = sgdphase("help", "ranges")
    counts = re.findall(r"^    (\S+\.\.\S+) .*\((\d+) values\)$", out, re.MULTILINE)
    assert len(counts) == 2
    for text, count in counts:
        assert len(numbers(text)) == int(count)
    assert "1,3..12         a mix: 1, 3, 6, 12\n" in out and numbers("1,3..12") == [1, 3, 6, 12]
    assert "`1..5` is 1, 2, 4" in out and numbers("1..5") == [1, 2, 4]


def test_every_regime_and_status_is_explained(sgdphase: Any) -> None:
    _, regimes, _ = sgdphase("help", "regimes")
    _, store, _ = sgdphase("help", "store")
    assert not [
        name for name in get_args(Regime) if not re.search(rf"^(\| |    ){name} ", regimes, re.M)
    ]
    assert not [name for name in STATUSES if not re.search(rf"^    {name} ", store, re.M)]
