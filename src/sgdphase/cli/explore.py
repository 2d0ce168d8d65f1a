"""`sgdphase explore`: the phase diagram as a page to touch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def explore(
    own: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Yours: a store, its export as .csv, or the output of `diagnose --json`.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("explorer.html"),
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
) -> None:
    """Write the explorer: one HTML page with the phase diagram, to move in and to train in.

    It has the plane of 1610 trainings, simulates others in the page, and shows your runs or your
    answer among them. It needs no network and can be sent to someone.

    Example: sgdphase explore diagnosis.json --out explorer.html --open
    """
    from sgdphase._report import explorer_page

    path = explorer_page(out, own)
    typer.echo(f"wrote {path}", err=True)
    if open_page:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
