"""Put the runs of a gallery into a store, so that a figure with a larger plan goes on from them.

python -m sgdphase.paper.refill docs/gallery runs.sqlite fig4b figS7b

Tables hold final numbers with 9 digits, and of trajectories only what their figure draws: name all
figures that share them (figS9a and figS9b).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sgdphase._records import ENGINES
from sgdphase._sweep import Run, Store
from sgdphase.errors import InputError
from sgdphase.paper._figure import chosen
from sgdphase.paper._make import TABLES
from sgdphase.paper._tables import read_tables


def refill(folder: Path | str, store: Store | Path | str, names: Iterable[str]) -> int:
    """Put the runs of figures into a store that lacks them; how many there were.

    Parameters
    ----------
    folder : path; the gallery, with its tables in `runs`
    store : Store or path
    names : of figures, or `all`

    Examples
    --------
    >>> refill("no-such-folder", "runs.sqlite", ["fig2"])
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: 'no-such-folder/runs/fig2.csv.gz': does not exist
    """
    store = store if isinstance(store, Store) else Store(store)
    runs: dict[str, Run] = {}
    for figure in chosen(names):
        if figure.simulate:
            raise InputError(f"'{figure.name}': is made of simulations, which no store keeps")
        tables = Path(folder) / TABLES
        read, provenance = read_tables(tables, figure.name, figure.trajectories)
        engines = {model: provenance.get("engines", {}).get(model, 1) for model in read.models}
        if any(engines[model] != ENGINES[model] for model in engines):
            raise InputError(f"'{figure.name}': its runs are of engines {engines}, which are older")
        for run in read.runs:
            key = run.training.key
            runs[key] = _merged(runs[key], run) if key in runs else run
    standing = store.standing(runs)
    with store.writer() as writer:
        for drawn in (False, True):
            new = [
                (key, run)
                for key, run in runs.items()
                if bool(run.outcome.trajectory) == drawn
                and run.outcome.status != "failed"  # those are tried again
                and (key not in standing or drawn > standing[key].has_trajectory)
            ]
            writer.write(new, trajectory=drawn)
    return len(runs)


def _merged(one: Run, other: Run) -> Run:
    """The same run, with the trajectories of two figures."""
    both = {**one.outcome.trajectory, **other.outcome.trajectory}
    return replace(one, outcome=replace(one.outcome, trajectory=both))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: python -m sgdphase.paper.refill GALLERY STORE FIGURE...")
    gallery, path, *figures = sys.argv[1:]
    try:
        count = refill(gallery, path, figures)
    except InputError as error:
        sys.exit(f"sgdphase: {error}")
    print(f"{path}: has the {count} runs of {', '.join(figures)}")
