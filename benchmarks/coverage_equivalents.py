"""How often the intervals of a row of `diagnose` hold, on trainings whose law is known.

A valley of the test loss around lr ~ batch^1/2, a training loss that falls with lr, and seeds that
scatter. Rows are searched, and open ones refined, as in a diagnosis. For each law: the share of
intervals that hold the true test loss at the lr of the row (of all rows, and of those accepted),
and the true lr (of matched rows); then how many rows are open, and how many verdicts are wrong.

Run: python benchmarks/coverage_equivalents.py    (two minutes; 18 laws, 80 rows each)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sgdphase._diagnose.batch_search import Point, Reference, Refinement, RowSearch, training_runs
from sgdphase._diagnose.learner import Searcher, Trial
from sgdphase._records import Outcome
from sgdphase.diagram import Equivalent, Equivalents, equivalents

CASES, BATCH, BATCHES, EPOCHS = 40, 32, (64, 256), 5
BEST = 0.02  # lr, at the user's batch


@dataclass(frozen=True)
class Law:
    """`lr` is the user's; the best loss rises by the share `rise` per octave of batch."""

    lr: float
    noise: float
    rise: float
    has_train_loss: bool
    replica: int = 0
    common: float = 0.03  # noise that all settings of a seed share

    def bottom(self, batch: int) -> float:
        return float(BEST * (batch / BATCH) ** 0.5)

    def loss(self, lr: float, batch: int) -> float:
        octaves = math.log2(lr / self.bottom(batch))
        rise = self.rise * max(math.log2(batch / BATCH), 0.0)
        mean = math.exp((self.noise**2 + self.common**2) / 2)  # of the noise
        return 0.15 * (1 + 0.1 * octaves**2) * (1 + rise) * mean

    def __call__(self, trial: Trial) -> Outcome:
        place = [trial.batch, round(1e6 * math.log(trial.lr)) % 2**32]
        own = np.random.default_rng([self.replica, trial.seed, *place]).standard_normal(2)
        shared = np.random.default_rng([self.replica, trial.seed]).standard_normal(2)
        mean = math.exp((self.noise**2 + self.common**2) / 2)
        scale = np.exp(self.noise * own + self.common * shared)
        values = {"test_loss": self.loss(trial.lr, trial.batch) / mean * scale[0]}
        if self.has_train_loss:
            progress = trial.lr / self.lr / (trial.batch / BATCH) ** 0.5
            values["train_loss"] = 0.1 * progress**-0.3 * scale[1]
        return Outcome("finished", 1, 0.0, values)

    def true_rates(self, row: Equivalent) -> list[float]:
        """That learn the same: by the training loss, or on both sides of the valley."""
        if row.by == "progress" and self.has_train_loss:
            return [float(self.lr * (row.batch / BATCH) ** 0.5)]
        bottom, ours = self.bottom(row.batch), self.loss(self.lr, BATCH)
        square = (ours / self.loss(bottom, row.batch) - 1) / 0.1
        return [bottom * 2 ** (side * math.sqrt(max(square, 0.0))) for side in (-1, 1)]


def run_search(
    law: Callable[[Trial], Outcome], known: dict[Trial, Outcome], search: Searcher
) -> None:
    """Run what a search asks for; it is told what is known, which grows."""
    for trial, outcome in known.items():
        search.tell(trial, outcome)
    while trials := search.ask():
        for trial in trials:
            known[trial] = law(trial)
            search.tell(trial, known[trial])


def diagnosed(law: Law) -> Equivalents:
    point = Point(law.lr, BATCH, EPOCHS, "test_loss", exponent=0.5)
    known: dict[Trial, Outcome] = {}
    learn = partial(run_search, law, known)
    learn(Reference(point))
    count = -1
    while count < len(known):
        count = len(known)
        for batch in BATCHES:
            learn(RowSearch(point, batch))
        learn(Refinement(point, BATCHES, math.inf))
    table = equivalents(
        training_runs(known), lr=law.lr, batch=BATCH, epochs=EPOCHS, metric="test_loss",
        batches=BATCHES,
    )  # fmt: skip
    assert table is not None
    return table


def counted(law: Law, table: Equivalents) -> Counter[str]:
    count: Counter[str] = Counter()
    for row in table.rows:
        value, true = row.metrics["test_loss"], law.loss(row.lr.value, row.batch)
        holds = value.low <= true <= value.high
        change = true - law.loss(law.lr, BATCH)
        count += Counter(
            rows=1,
            loss=int(holds),
            accepted=int(bool(row.exists)),
            accepted_loss=int(bool(row.exists) and holds),
            open=int(row.exists is None),
            wrong=int(row.exists is not None and row.exists == (change > table.tolerance)),
        )
        if row.exists and row.by != "best":
            inside = any(row.lr.low <= lr <= row.lr.high for lr in law.true_rates(row))
            count += Counter(matched=1, lr=int(inside))
    return count


def main() -> None:
    total: Counter[str] = Counter()
    print("train loss  lr     noise  rise   loss  accepted  lr    open  wrong")
    for has_train_loss in (True, False):
        for lr in (BEST, BEST / 2, BEST / 4):
            for noise, rise in ((0.03, 0.0), (0.1, 0.0), (0.1, 0.03)):
                count: Counter[str] = Counter()
                for replica in range(CASES):
                    law = Law(lr, noise, rise, has_train_loss, replica)
                    count += counted(law, diagnosed(law))
                print(f"{has_train_loss!s:10}  {lr:<5g}  {noise:<5g}  {rise:<5g}  {shown(count)}")
                total += count
    print(f"{'all':33}  {shown(total)}")


def shown(count: Counter[str]) -> str:
    shares = [
        count["loss"] / count["rows"],
        count["accepted_loss"] / max(count["accepted"], 1),
        count["lr"] / max(count["matched"], 1),
        count["open"] / count["rows"],
        count["wrong"] / count["rows"],
    ]
    return "  ".join(f"{share:.2f}" for share in shares)


if __name__ == "__main__":
    main()
