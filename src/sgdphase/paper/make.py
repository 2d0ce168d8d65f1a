"""Make a figure: run what is missing, draw, decide, write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sgdphase._sweep import Progress, Store, Workers, missing, sweep
from sgdphase.diagram._style import save
from sgdphase.errors import InputError
from sgdphase.paper._claims import Claim
from sgdphase.paper._frame import Figure, Scale
from sgdphase.paper._runs import Runs
from sgdphase.paper.catalog import FIGURES


@dataclass(frozen=True)
class Cost:
    """How much a figure takes: trainings, those in the store, expected seconds of the rest."""

    trainings: int
    done: int
    seconds: float


def cost(figure: Figure, scale: Scale, store: Store) -> Cost:
    """What making the figure would run, on one core."""
    plan = figure.plan(scale)
    jobs = missing(plan, store, trajectories=figure.trajectories)
    keys = {training.key for training in plan}
    return Cost(len(keys), len(keys) - len(jobs), sum(job.cost for job in jobs))


def make(
    figure: Figure,
    scale: Scale,
    store: Store,
    out: Path,
    *,
    workers: int | Workers | None = None,
    progress: Progress | None = None,
) -> list[Claim]:
    """Write `NAME.png`, `NAME.pdf` and `NAME.claims.json` into `out`; return the claims."""
    if out.exists() and not out.is_dir():
        raise InputError(f"'{out}': is a file; a folder is needed")
    runs = collect(figure, scale, store, workers=workers, progress=progress)
    claims = figure.claims(runs, scale)
    picture = figure.draw(runs, scale)
    out.mkdir(parents=True, exist_ok=True)
    for ending in ("png", "pdf"):
        save(picture, out / f"{figure.name}.{ending}")
    write_claims(out, figure.name, scale, claims)
    return claims


def collect(
    figure: Figure,
    scale: Scale,
    store: Store,
    *,
    workers: int | Workers | None = None,
    progress: Progress | None = None,
) -> Runs:
    """The runs of a figure, after running those that the store does not have."""
    plan = figure.plan(scale)
    if not plan:
        return Runs(())
    sweep(plan, store, workers=workers, trajectories=figure.trajectories, progress=progress)
    wanted = {training.key for training in plan}
    found = store.runs(trajectories=figure.trajectories)
    return Runs(tuple(run for run in found if run.training.key in wanted))


def write_claims(out: Path, name: str, scale: Scale, claims: Sequence[Claim]) -> None:
    """The claims of a figure, one object each, with the scale they were decided at."""
    content = [claim.as_dict() | {"figure": name, "scale": scale} for claim in claims]
    (out / f"{name}.claims.json").write_text(json.dumps(content, indent=2) + "\n")


def read_claims(folder: Path) -> list[dict[str, Any]]:
    """The ledger: the claims of every figure that was made into a folder, in the paper's order."""
    places = {f"{name}.claims.json": place for place, name in enumerate(FIGURES)}
    paths = sorted(
        folder.glob("*.claims.json"),
        key=lambda path: (places.get(path.name, len(places)), path.name),
    )
    if not paths:
        raise InputError(f"'{folder}': holds no *.claims.json; `sgdphase figure` makes them")
    ledger: list[dict[str, Any]] = []
    for path in paths:
        try:
            ledger += json.loads(path.read_text())
        except (ValueError, TypeError) as error:
            raise InputError(f"'{path}': is not a list of claims ({error})") from None
    return ledger
