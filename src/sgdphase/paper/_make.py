"""How a figure is made: run, keep the runs as tables, draw and decide from the tables, check."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sgdphase._records import ENGINES
from sgdphase._sweep import Progress, Store, Workers, missing, sweep
from sgdphase.errors import InputError, check_folder
from sgdphase.paper._figure import FIGURES, Figure, Scale, check_scale, chosen
from sgdphase.paper._ledger import Claims
from sgdphase.paper._runs import Runs
from sgdphase.paper._tables import digest, read_tables, write_tables

# The folder of the tables, in that of the pictures.
TABLES = "runs"
# What a file of claims must hold, and a claim in it.
_HEAD = {"figure", "scale", "command", "ledger", "runs", "claims"}
_ENTRIES = {"id", "claim", "predicted", "measured", "low", "high", "rule", "verdict", "cost"}
# Numbers of another machine differ in the last digits of their arithmetic.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Cost:
    """How much a figure takes: trainings, those in the store, expected seconds of the rest."""

    trainings: int
    done: int
    seconds: float


def cost(figure: Figure, scale: Scale, store: Store) -> Cost:
    """What making the figure would run, on one core."""
    check_scale(scale)
    plan = figure.plan(scale)
    jobs = missing(plan, store, trajectories=bool(figure.trajectories))
    trainings = len(set(plan))
    return Cost(trainings, trainings - len(jobs), sum(job.cost for job in jobs))


def make(
    figure: Figure | str,
    scale: Scale,
    store: Store | Path | str,
    out: Path | str,
    *,
    workers: int | Workers | None = None,
    progress: Progress | None = None,
) -> Claims:
    """Run what a figure needs, draw it and decide its claims.

    Writes `NAME.png`, `NAME.pdf`, `NAME.claims.json`, and the runs as `runs/NAME.csv.gz`. What the
    store has is not run again.

    Parameters
    ----------
    figure : Figure or str; one of `FIGURES` by its name
    scale : "quick", "laptop" or "paper"
    store : Store or path; where the runs are kept
    out : path; folder of the files
    workers, progress
        As in `sgdphase.sweep`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sgdphase.paper import Curves, Exponent, Grid
    >>> plan = Grid(dim=8, train_size=16, batch=1, lr=[64.0, 128.0], quick={"seeds": 2}, paper={})
    >>> claim = Exponent("1", "w1 ~ lr", "w1", of="lr", equals=1)
    >>> tiny = Figure("tiny", "final w1 against lr", plan, Curves("lr", "w1"), [claim])
    >>> with TemporaryDirectory() as folder:
    ...     make(tiny, "quick", f"{folder}/runs.sqlite", folder, workers=0)
    1 claim: 1 hold, 0 fail, 0 undecided
    id      verdict  measured  predicted  claim
    tiny.1  holds    1 [1, 1]          1  w1 ~ lr
    """
    (figure,) = chosen([figure]) if isinstance(figure, str) else [figure]
    store, out = store if isinstance(store, Store) else Store(store), check_folder(Path(out))
    runs = collect(figure, scale, store, workers=workers, progress=progress)
    provenance = {
        "figure": figure.name,
        "scale": scale,
        "command": f"sgdphase figure {figure.name} --scale {scale}",
        "version": version("sgdphase"),
        "date": date.today().isoformat(),
        "seeds": sorted({training.seed for training in figure.plan(scale)}),
        "engines": {model: ENGINES[model] for model in sorted(runs.models)},
    }
    write_tables(out / TABLES, figure.name, runs, provenance, figure.trajectories)
    return redraw(figure, out / TABLES, out)


def redraw(figure: Figure | str, tables: Path | str, out: Path | str) -> Claims:
    """Draw a figure and decide its claims from tables of its runs, without training.

    Parameters
    ----------
    figure : Figure or str; one of `FIGURES` by its name
    tables : path; folder of the tables, as `make` writes them
    out : path; folder of the files

    Examples
    --------
    >>> redraw("fig2", "no-such-folder", "out")
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: 'no-such-folder/fig2.csv.gz': does not exist
    """
    from sgdphase.diagram._style import save

    (figure,) = chosen([figure]) if isinstance(figure, str) else [figure]
    tables, out = Path(tables), check_folder(Path(out))
    runs, provenance = read_tables(tables, figure.name, figure.trajectories)
    scale: Scale = provenance["scale"]
    claims = figure.decide(runs, scale)
    picture = figure.picture(runs, scale)
    head = provenance | {"ledger": figure.ledger, "runs": digest(tables, figure.name)}
    out.mkdir(parents=True, exist_ok=True)
    about = {"Source": head["command"], "Comment": json.dumps(head)}
    save(picture, out / f"{figure.name}.png", metadata=about)
    save(picture, out / f"{figure.name}.pdf", metadata={"Keywords": about["Comment"]})
    ledger = head | {"claims": [claim.as_dict() for claim in claims]}
    (out / f"{figure.name}.claims.json").write_text(json.dumps(ledger, indent=2) + "\n")
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
    check_scale(scale)
    if figure.simulate:
        return figure.simulate(scale)
    plan = figure.plan(scale)
    trajectories = bool(figure.trajectories)
    summary = sweep(plan, store, workers=workers, trajectories=trajectories, progress=progress)
    return Runs(tuple(sorted(summary.runs, key=lambda run: run.training.key)))


def read_claims(folder: Path) -> list[dict[str, Any]]:
    """The claims of every figure that was made into a folder, in the paper's order.

    Each has the provenance of its figure, too.
    """
    return [
        {**claim, **{name: value for name, value in ledger.items() if name != "claims"}}
        for ledger in read_ledgers(folder)
        for claim in ledger["claims"]
    ]


def verify(folder: Path, *names: str) -> tuple[int, list[str]]:
    """Decide the claims in a folder again from its tables: how many, and what differs.

    Of all figures, or of those with `names`.
    """
    count, differences = 0, []
    for ledger in read_ledgers(folder):
        name = ledger["figure"]
        if names and name not in names:
            continue
        if name not in FIGURES:
            raise InputError(f"'{name}' is not a figure; there are {', '.join(FIGURES)}")
        runs, provenance = read_tables(folder / TABLES, name, FIGURES[name].trajectories)
        if digest(folder / TABLES, name) != ledger["runs"]:
            differences.append(f"{name}: the tables are not those of the claims")
        now = [claim.as_dict() for claim in FIGURES[name].decide(runs, provenance["scale"])]
        then = {claim["id"]: claim for claim in ledger["claims"]}
        if [claim["id"] for claim in now] != list(then):
            differences.append(f"{name}: other claims than in its claims.json")
            continue
        count += len(now)
        differences += [text for claim in now if (text := _difference(then[claim["id"]], claim))]
    return count, differences


def _difference(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What differs between two decisions of a claim, if anything."""
    for name in ("verdict", "claim", "rule", "predicted", "measured", "low", "high"):
        a, b = then[name], now[name]
        numbers = isinstance(a, float) and isinstance(b, float)
        if not (math.isclose(a, b, rel_tol=_ROUNDING, abs_tol=1e-9) if numbers else a == b):
            return f"{now['id']}: {name} is {b}, and was {a}"
    return ""


def read_ledgers(folder: Path) -> list[dict[str, Any]]:
    """What the `*.claims.json` of a folder hold, one per figure, in the paper's order."""
    places = {f"{name}.claims.json": place for place, name in enumerate(FIGURES)}
    paths = sorted(
        folder.glob("*.claims.json"),
        key=lambda path: (places.get(path.name, len(places)), path.name),
    )
    if not paths:
        raise InputError(f"'{folder}': holds no *.claims.json; `sgdphase figure` makes them")
    ledgers = []
    for path in paths:
        try:
            ledger = json.loads(path.read_text())
        except OSError as error:
            raise InputError(f"'{path}': cannot be read ({error.strerror or error})") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"'{path}': is not JSON ({error})") from None
        valid = isinstance(ledger, dict) and ledger.keys() >= _HEAD
        claims = ledger["claims"] if valid else None
        if not isinstance(claims, list) or not all(
            isinstance(claim, dict) and claim.keys() >= _ENTRIES for claim in claims
        ):
            raise InputError(f"'{path}': holds no claims as `sgdphase figure` writes them")
        ledgers.append(ledger)
    return ledgers
