"""`sgdphase help`: a page about what several commands share."""

from __future__ import annotations

from importlib import resources
from typing import Annotated

import typer

from sgdphase.errors import InputError, likely, listed

# Each is a file of `topics/`. That of ranges is also a page of the site (docs/conf.py).
TOPICS = {
    "ranges": "How to write numbers, lists and ranges.",
    "regimes": "What the regimes of SGD are, and how they are told.",
    "store": "What the file of the runs holds and promises.",
}


def help(
    topic: Annotated[
        str | None,
        typer.Argument(help=f"{listed(TOPICS).capitalize()}.", autocompletion=lambda: [*TOPICS]),
    ] = None,
) -> None:
    """Explain ranges, regimes or the store.

    Example: sgdphase help ranges
    """
    if topic is None:
        print("Topics, for `sgdphase help TOPIC`:\n")
        print("\n".join(f"  {name:8}  {line}" for name, line in TOPICS.items()))
        print("\n`sgdphase COMMAND --help` describes a command.")
    elif topic in TOPICS:
        print(resources.files("sgdphase.cli").joinpath(f"topics/{topic}.md").read_text(), end="")
    else:
        raise InputError(
            f"help {topic}: must be {listed(TOPICS)}{likely(topic, TOPICS)}; a command has --help"
        )
