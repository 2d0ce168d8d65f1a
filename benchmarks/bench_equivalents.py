"""Follow the advice of `sgdphase diagnose`, and check its predictions.

For each training of the table below: `diagnose` at the user's (lr, batch, epochs); then every row
of its answer, and the user's own, is trained with new seeds in a plain loop that shares nothing
with sgdphase's (equivalents/plain_loop.py). Reported are

- the share of recommended rows whose new mean of the deciding metric agrees with the predicted
  90 % interval, noise of both sides counted (wanted: 85 % or more), and the verdicts that
  new trainings confirm; rows at the users' points are counted separately;
- with `--grid NAME,...`, the share of rows whose interval of lr contains the lr of a
  dense grid (wanted: 80 % or more);
- the estimated time and the time taken.

Usage: `python benchmarks/bench_equivalents.py --out FOLDER [--grid digits_mlp,regression]`. All
runs are kept in the folder; the same command continues an interrupted one. Needs
the files of MNIST and CIFAR-10 (docs/data.md). `--yours` trains only the users' own rows, without
diagnose.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
from equivalents import comparison

FOLDER = Path(__file__).parent / "equivalents"
# Seeds from 1000 and from 2000 on were used for earlier versions of the search.
FIRST_SEED = 3000
# Trainings of a dense grid are spaced by this factor of lr; it is widened by octaves, so often.
SPACING, OCTAVE, WIDENED = 2**0.25, 4, 3


@dataclass(frozen=True)
class User:
    """A training as a user would run it: a file of `equivalents/` and its settings."""

    name: str
    lr: float
    batch: int
    epochs: int
    loss: str = "cross-entropy"
    optimizer: str = "sgd"
    momentum: float = 0.0
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup: float = 0.0

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.py"

    def settings(self) -> dict[str, Any]:
        """All but what a row changes, and the name."""
        return {k: v for k, v in asdict(self).items() if k not in ("name", "lr", "batch")}

    def options(self) -> list[str]:
        """Of the command line; what is as by default is left out."""
        given = asdict(self)
        del given["name"]
        plain = asdict(User("", 0.0, 0, 0))
        return [
            text
            for key, value in given.items()
            if value != plain[key]
            for text in (f"--{key.replace('_', '-')}", str(value))
        ]


# Each lr is near the best of its batch or somewhat below. Behind each: test error (regression: mean
# squared error, of which 0.04 is noise) at the user's point, mean and deviation of five seeds, and
# seconds of one core per training (`--yours`).
USERS = {
    user.name: user
    for user in (
        User("digits_mlp", 0.05, 32, 20, schedule="cosine"),  # 9.7 % (0.3), 1.2 s
        User("tabular_linear", 0.1, 8, 40),  # 9.4 % (4.0), 1.5 s
        User("transformer", 0.001, 16, 12, optimizer="adamw", weight_decay=0.01,
             schedule="linear", warmup=0.1),  # 18.1 % (0.5), 7 s
        User("resnet", 0.02, 32, 8, momentum=0.9, weight_decay=0.0005,
             schedule="cosine"),  # 57.4 % (0.9), 6 s
        User("wrong_labels", 0.0125, 32, 20),  # 13.0 % (0.7), 1.4 s
        User("black_box", 0.02, 8, 20),  # 12.6 % (0.3), 1.0 s
        User("regression", 0.05, 16, 40, loss="mse"),  # 0.064 (0.005), 1.6 s
        User("adamw_images", 0.0005, 16, 10, optimizer="adamw", weight_decay=0.01,
             schedule="cosine", warmup=0.1),  # 25.6 % (0.5), 1.4 s
    )
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One fresh training."""

    user: User
    lr: float
    batch: int
    seed: int

    def key(self) -> str:
        """The hash of all that determines it, the texts of the file and the loop included."""
        content = [
            _texts(self.user.name),
            _text("plain_loop"),
            self.user.settings(),
            self.lr,
            self.batch,
            self.seed,
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


@cache
def _texts(name: str) -> str:
    """Of a user's file and of what it may import."""
    return _text(name) + _text("image_data")


@cache
def _text(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text("utf-8")


class Fresh:
    """Fresh trainings, each done once: kept as lines of JSON, run by a few processes."""

    def __init__(self, path: Path, workers: int) -> None:
        self.path = path
        self.workers = workers
        self.done: dict[str, dict[str, Any]] = {}
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
            except ValueError:  # cut short by an interruption
                continue
            self.done[record["key"]] = record

    def run(self, jobs: Iterable[Job], title: str) -> None:
        """Train what is missing."""
        missing = {key: job for job in jobs if (key := job.key()) not in self.done}
        if not missing:
            return
        begin = monotonic()
        pool = ProcessPoolExecutor(
            self.workers, multiprocessing.get_context("spawn"), initializer=_quiet
        )
        with pool, self.path.open("a", encoding="utf-8") as file:
            # The longest first, so that no process waits for the other at the end.
            ordered = sorted(missing.items(), key=lambda item: item[1].batch)
            waiting = {pool.submit(_train, job): (key, job) for key, job in ordered}
            try:
                for count, future in enumerate(as_completed(waiting), start=1):
                    key, job = waiting[future]
                    record = {"key": key, "name": job.user.name, "lr": job.lr, "batch": job.batch,
                              "seed": job.seed, **future.result()}  # fmt: skip
                    file.write(json.dumps(record) + "\n")
                    file.flush()
                    self.done[key] = record
                    _say(f"{title}: {count} of {len(waiting)} trainings, "
                         f"{monotonic() - begin:.0f} s", again=count > 1)  # fmt: skip
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        _say("")

    def values(self, user: User, lr: float, batch: int, seeds: int) -> dict[str, np.ndarray]:
        """Metrics of the seeds at a point, and `seconds` of one core; not a number if diverged."""
        records = [self.done[job.key()] for job in jobs_at(user, lr, batch, seeds)]
        names = records[0]["metrics"]
        found = {
            name: np.array([_number(record["metrics"][name]) for record in records])
            for name in names
        }
        return found | {"seconds": np.array([record["seconds"] for record in records])}


def jobs_at(user: User, lr: float, batch: int, seeds: int) -> list[Job]:
    return [Job(user, lr, batch, FIRST_SEED + k) for k in range(seeds)]


def _quiet() -> None:
    """A process leaves Ctrl-C to the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _train(job: Job) -> dict[str, Any]:
    from equivalents.plain_loop import train

    begin = process_time()
    metrics = train(job.user.file, lr=job.lr, batch=job.batch, seed=job.seed, **job.user.settings())
    finite = {name: v if math.isfinite(v) else None for name, v in metrics.items()}
    return {"metrics": finite, "seconds": round(process_time() - begin, 3)}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _say(text: str, *, again: bool = False) -> None:
    """Progress; on a terminal a line is written over."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}" if again else text, end="", file=sys.stderr, flush=True)
        if not text:
            print(file=sys.stderr)
    elif text:
        print(text, file=sys.stderr, flush=True)


def diagnosed(user: User, out: Path, budget: str, *, again: bool) -> dict[str, Any] | None:
    """The answer of `sgdphase diagnose`, with the seconds it took and what it said meanwhile.

    An answer to the same command that stands in the folder is taken; None if the command failed.
    """
    path, store, log = (out / f"{user.name}.{end}" for end in ("json", "sqlite", "log"))
    command = [*user.options(), "--budget", budget]
    content = hashlib.sha256(_texts(user.name).encode()).hexdigest()[:20]
    if path.exists() and not again:
        kept = json.loads(path.read_text("utf-8"))
        if (kept["options"], kept["content"]) == (command, content):
            return kept
    for old in out.glob(f"{store.name}*") if again else ():
        old.unlink()
    script = Path(sys.executable).with_name("sgdphase")
    start = [str(script)] if script.exists() else [
        sys.executable, "-c", "from sgdphase.cli import main; main()"
    ]  # fmt: skip
    _say(f"{user.name}: sgdphase diagnose {' '.join(command)} (its progress: {log})\n")
    begin = monotonic()
    with log.open("w", encoding="utf-8") as progress:
        ended = subprocess.run(
            [*start, "diagnose", str(user.file), *command, "--store", str(store), "--json"],
            stdout=subprocess.PIPE,
            stderr=progress,
            text=True,
            check=False,
        )
    took, said = monotonic() - begin, log.read_text("utf-8", errors="replace")
    try:
        answer = json.loads(ended.stdout[ended.stdout.index("{") :])
    except ValueError:
        last = "\n".join(said.strip().splitlines()[-3:])
        _say(f"{user.name}: diagnose failed (exit code {ended.returncode}): {last}\n")
        return None
    kept = {"options": command, "content": content, "took": took, "said": said, "answer": answer}
    path.write_text(json.dumps(kept), encoding="utf-8")
    return kept


_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_DURATION = r"([\d.]+)\s*(h|m|s)(?:ours?|rs?|inutes?|ins?|econds?|ecs?)?\b"


def duration(text: str) -> float | None:
    """The seconds in the first line that says "about" so long.

    >>> duration("12 trainings\\nabout 2 min 30 s on 2 cores"), duration("takes about 1.5 hours")
    (150.0, 5400.0)
    >>> duration("about ten digits") is None
    True
    """
    for line in text.splitlines():
        found = re.search(rf"\babout\s+((?:{_DURATION}[\s,]*(?:and\s+)?)+)", line)
        if found:
            parts = re.findall(_DURATION, found[1])
            return sum(float(number) * _UNITS[unit] for number, unit in parts)
    return None


def compare(user: User, kept: dict[str, Any], fresh: Fresh, seeds: int) -> dict[str, Any]:
    """Train every row of an answer with fresh seeds, and the user's own; the comparison."""
    answer = kept["answer"]
    metric = answer["metric"]
    yours = {"batch": user.batch, "lr": {"value": user.lr}, "verdict": "yours",
             "metrics": answer["yours"]["metrics"]}  # fmt: skip
    rows = [yours] + [
        row
        for row in answer["equivalents"]
        if row.get("lr") and metric in (row.get("metrics") or {}) and row["batch"] != user.batch
    ]
    points = [(float(row["lr"]["value"]), int(row["batch"])) for row in rows]
    fresh.run((j for lr, batch in points for j in jobs_at(user, lr, batch, seeds)), user.name)
    values = [fresh.values(user, lr, batch, seeds)[metric] for lr, batch in points]
    gaps = [found - values[0] for found in values]
    own = float(values[0].mean())
    tolerance = max(comparison.TOLERANCE * abs(own), float(values[0].std(ddof=1)))
    table = []
    for row, (lr, batch), found, gap in zip(rows, points, values, gaps, strict=True):
        mean, predicted = float(found.mean()), row["metrics"][metric]
        # A row has its own noise: near instability it is far larger.
        noise = comparison.half_width(*comparison.pooled([found]), seeds)
        gap_noise = comparison.half_width(*comparison.pooled([gap]), seeds)
        new = comparison.verdict(float(gap.mean()), gap_noise, tolerance)
        is_own = row["verdict"] == "yours"
        table.append({
            "batch": batch,
            "lr": lr,
            "exists": row.get("exists"),
            "predicted": predicted,
            "fresh": mean if math.isfinite(mean) else None,
            "fresh_half_width": noise,
            "inside": comparison.inside(mean, noise, predicted),
            "verdict": row["verdict"],
            "fresh_verdict": "" if is_own else new,
            "confirmed": "" if is_own else comparison.confirmed(row["verdict"], new),
        })  # fmt: skip
    without = [row["batch"] for row in answer["equivalents"] if not row.get("lr")]
    estimate = answer.get("estimated_seconds") or duration(kept["said"])
    took = answer.get("table_seconds") or answer.get("seconds") or kept["took"]
    return {"metric": metric, "rows": table, "without_lr": without, "tolerance": tolerance,
            "trainings": answer.get("trainings"), "seconds": took, "estimate": estimate,
            "largest_batch": answer.get("largest_batch"), "rule": answer.get("rule"),
            "regime": answer.get("regime"), "warnings": answer.get("warnings")}  # fmt: skip


def dense(
    user: User, answer: dict[str, Any], fresh: Fresh, *, batches: int, seeds: int
) -> list[dict[str, Any]]:
    """The lr that a dense grid finds at a few batches, beside the predicted one."""
    rows = [row for row in answer["equivalents"]
            if row.get("exists") and row.get("lr") and row["batch"] != user.batch]  # fmt: skip
    places = np.linspace(0, len(rows) - 1, min(batches, len(rows))).round().astype(int)
    fresh.run(jobs_at(user, user.lr, user.batch, seeds), f"{user.name}, reference")
    reference = fresh.values(user, user.lr, user.batch, seeds)
    table = []
    for row in (rows[place] for place in places):
        lr, batch = row["lr"], int(row["batch"])
        # Points of the grid are `user.lr * SPACING**k`, whatever was predicted.
        least, most = min(lr["low"], lr["value"] / 2**0.5), max(lr["high"], lr["value"] * 2**0.5)
        low = math.floor(math.log(least / user.lr, SPACING))
        high = math.ceil(math.log(most / user.lr, SPACING))
        for _ in range(1 + WIDENED):
            points = [user.lr * SPACING**k for k in range(low, high + 1)]
            jobs = (job for point in points for job in jobs_at(user, point, batch, seeds))
            fresh.run(jobs, f"{user.name}, grid at batch {batch}")
            grid = {point: fresh.values(user, point, batch, seeds) for point in points}
            matches = comparison.crossings(grid, reference)
            stable = all(np.isfinite(grid[points[-1]][name]).all() for name in matches)
            too_high = 0.0 in matches.values()
            too_low = math.inf in matches.values() and stable
            if not (too_high or too_low):
                break
            low, high = low - OCTAVE * too_high, high + OCTAVE * too_low
        found = comparison.middle(matches)
        table.append({
            "batch": batch,
            "predicted": lr,
            "grid": found,
            "grid_noise": comparison.noise_of_middle(grid, reference),
            "matches": {n: v if 0 < v < math.inf else None for n, v in matches.items()},
            "holds": None if found is None else lr["low"] <= found <= lr["high"],
        })  # fmt: skip
    return table


def summary(results: dict[str, Any]) -> dict[str, Any]:
    """The shares over all trainings: how many of how many."""
    rows = [row for result in results.values() for row in result["rows"]]
    grids = [row for result in results.values() for row in result.get("grid", ())]
    judged = [row["holds"] for row in grids if row["holds"] is not None]
    ratios = [result["seconds"] / result["estimate"]
              for result in results.values() if result["estimate"]]  # fmt: skip
    verdicts = [row["confirmed"] for row in rows if row["confirmed"]]
    return {
        "rows_inside": _share([row["inside"] for row in rows if row["confirmed"]]),
        "yours_inside": _share([row["inside"] for row in rows if not row["confirmed"]]),
        "lr_held": _share(judged),
        "verdicts": {word: verdicts.count(word) for word in ("confirmed", "contradicted", "open")},
        "estimates_within_factor_2": _share([0.5 <= ratio <= 2 for ratio in ratios]),
    }


def _share(hits: Sequence[bool]) -> dict[str, Any]:
    share = sum(hits) / len(hits) if hits else None
    return {"true": sum(hits), "of": len(hits), "share": share}


def show(name: str, result: dict[str, Any]) -> None:
    estimate = result["estimate"]
    against = f", estimated {estimate:.0f} s: ratio {result['seconds'] / estimate:.2f}" if (
        estimate) else ", no estimate"  # fmt: skip
    print(f"\n{name}: {result['metric']}; {result['trainings']} trainings, "
          f"{result['seconds']:.0f} s{against}")  # fmt: skip
    print(f"{'batch':>7} {'lr':>9}  {'predicted':<25} {'fresh':<17} inside  verdict")
    for row in result["rows"]:
        prediction = row["predicted"]
        predicted = f"{prediction['value']:.4g} [{prediction['low']:.4g}, {prediction['high']:.4g}]"
        new = "diverged"
        if row["fresh"] is not None:
            new = f"{row['fresh']:.4g} +- {row['fresh_half_width']:.2g}"
        words = row["verdict"]
        if row["confirmed"]:
            words += f" (fresh: {row['fresh_verdict']}; {row['confirmed']})"
        print(f"{row['batch']:>7} {row['lr']:>9.4g}  {predicted:<25} {new:<17} "
              f"{'yes' if row['inside'] else 'NO':<6}  {words}")  # fmt: skip
    if result["without_lr"]:
        print(f"  no lr given at batches {', '.join(map(str, result['without_lr']))}")
    for row in result.get("grid", ()):
        prediction, found = row["predicted"], row["grid"]
        noise = row["grid_noise"]
        matched = "no match" if found is None else f"{found:.4g}"
        spread = "" if noise is None else f" [{noise[0]:.4g}, {noise[1]:.4g}]"
        each = ", ".join(f"{n} {v:.4g}" if v else f"{n} none" for n, v in row["matches"].items())
        held = {True: "held", False: "NOT held", None: "not counted"}[row["holds"]]
        lr = f"{prediction['value']:.4g} [{prediction['low']:.4g}, {prediction['high']:.4g}]"
        print(f"  batch {row['batch']}: lr {lr}; dense grid {matched}{spread} ({each}): {held}")


def show_summary(result: dict[str, Any]) -> None:
    def shown(share: dict[str, Any]) -> str:
        return f"{share['true']} of {share['of']}" + (
            f" ({100 * share['share']:.0f} %)" if share["of"] else ""
        )

    print(f"\nrows inside the predicted interval   {shown(result['rows_inside'])}, wanted 85 %")
    print(f"users' own rows inside              {shown(result['yours_inside'])}")
    print(f"lr of the dense grid held           {shown(result['lr_held'])}, wanted 80 %")
    print("verdicts                            "
          + ", ".join(f"{count} {word}" for word, count in result["verdicts"].items()))  # fmt: skip
    print(f"estimates of time within 2 times    {shown(result['estimates_within_factor_2'])}")


def show_yours(users: Sequence[User], fresh: Fresh, seeds: int) -> None:
    """The users' own rows, without any diagnose."""
    fresh.run((j for u in users for j in jobs_at(u, u.lr, u.batch, seeds)), "users' own rows")
    print(f"{'training':<16} {'batch':>5} {'lr':>7} {'epochs':>6} {'s each':>6}  metrics")
    for user in users:
        values = fresh.values(user, user.lr, user.batch, seeds)
        seconds = values.pop("seconds").mean()
        metrics = ", ".join(f"{n} {v.mean():.4g} ({v.std(ddof=1):.2g})" for n, v in values.items())
        print(f"{user.name:<16} {user.batch:>5} {user.lr:>7.4g} {user.epochs:>6} {seconds:>6.1f}  "
              f"{metrics}")  # fmt: skip


def main() -> None:
    options = _options()
    os.environ["OMP_NUM_THREADS"] = "1"
    options.out.mkdir(parents=True, exist_ok=True)
    fresh = Fresh(options.out / "fresh.jsonl", options.workers)
    users = [USERS[name] for name in options.only]
    if options.yours:
        return show_yours(users, fresh, options.seeds)
    results: dict[str, Any] = {}
    for user in users:
        kept = diagnosed(user, options.out, options.budget, again=options.again)
        if kept is None:
            continue
        result = compare(user, kept, fresh, options.seeds)
        if user.name in options.grid:
            result["grid"] = dense(user, kept["answer"], fresh, batches=options.grid_batches,
                                   seeds=options.grid_seeds)  # fmt: skip
        results[user.name] = result
        if not options.json:
            show(user.name, result)
    failed = [user.name for user in users if user.name not in results]
    result = summary(results) | {"failed": failed}
    if options.json:
        print(json.dumps({"trainings": results, "summary": result}, indent=1))
    else:
        show_summary(result)
        if failed:
            print(f"diagnose failed                     {', '.join(failed)}")
    if failed:
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for all that is run")
    parser.add_argument("--budget", default="5m", help="of each diagnose (5m)")
    parser.add_argument("--only", type=_names, default=list(USERS), help="trainings: NAME,...")
    parser.add_argument("--grid", type=_names, default=[], help="dense grids for NAME,... or all")
    parser.add_argument("--seeds", type=_several, default=5, help="fresh seeds per row (5)")
    parser.add_argument("--grid-seeds", type=_several, default=5, help="seeds per grid point (5)")
    parser.add_argument("--grid-batches", type=int, default=3, help="batches with a grid (3)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--again", action="store_true", help="diagnose again, with an empty store")
    parser.add_argument("--yours", action="store_true", help="only train the users' own rows")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = list(USERS) if text == "all" else text.split(",")
    for name in names:
        if name not in USERS:
            raise argparse.ArgumentTypeError(f"{name}: must be of {', '.join(USERS)}")
    return names


def _several(text: str) -> int:
    if int(text) < 2:
        raise argparse.ArgumentTypeError("must be 2 or more")
    return int(text)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted: the same command goes on from here", file=sys.stderr)
        sys.exit(130)
