"""The learners of `diagnose` on the perceptron, against the whole grid.

For each task: `B*` of the full grid with many seeds is taken for the truth. The learner then finds
`B*` again and again, each time from seeds of its own and from one of several learning rates. A row
shows the trainings it used over those of the grid with as many seeds, how often its 90 % interval
holds the truth, which leaves aside the small error of the truth itself, and half the width of the
interval in octaves. The same for the two points of the GD line, whose truth is read off a fine scan
in `lr` with the plateau far below the line: that of the grid is up to 0.1 octaves too high, as its
lowest learning rates are not low enough.

Usage: `python benchmarks/bench_learner.py [replicas]`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sgdphase import PhaseDiagram, TeacherTask, Training, phase_diagram, plane_from_table, train
from sgdphase._diagnose.fitted.boundary import CriticalBatch
from sgdphase._diagnose.fitted.gd_line_search import GdLineSearch
from sgdphase._diagnose.learner import Searcher, Trial
from sgdphase._records import Outcome

LRS = [2.0**k for k in range(-6, 11)]
STARTS = (2.0**-3, 1.0, 2.0**6)  # below the GD line, near it, far above


@dataclass(frozen=True)
class Perceptron:
    """The paper's model at one size, as runs that a learner may ask for."""

    dim: int
    train_size: int
    chi: float = 1.0

    @property
    def batches(self) -> list[int]:
        return [2**k for k in range(int(math.log2(self.train_size)) + 1)]

    @property
    def cells(self) -> int:
        return len(LRS) * len(self.batches)

    def run(self, trial: Trial, first_seed: int = 0) -> Outcome:
        training = Training(
            TeacherTask(self.dim, self.chi),
            train_size=self.train_size,
            lr=trial.lr,
            batch=trial.batch,
            seed=first_seed + trial.seed,
            test_size=1024,
        )
        outcome = train(training)
        # <y f> is proportional to the weight along the teacher, but for the test set's noise.
        first = outcome["alignment"] * outcome["first_step_w1"] / outcome["w1"]
        observables = {"alignment": outcome["alignment"], "first_step_alignment": first}
        return Outcome(outcome.status, outcome.steps, outcome.time, observables)

    def diagram(self, seeds: int) -> PhaseDiagram:
        trials = [Trial(x, b, s) for s in range(seeds) for x in LRS for b in self.batches]
        outcomes = [self.run(trial) for trial in trials]
        return phase_diagram(
            plane_from_table(
                {
                    "lr": [t.lr for t in trials],
                    "batch": [t.batch for t in trials],
                    "seed": [t.seed for t in trials],
                    "status": [outcome.status for outcome in outcomes],
                    "alignment": [outcome["alignment"] for outcome in outcomes],
                }
            )
        )


def finish(learner: Searcher, run: Callable[[Trial], Outcome], most: int = 1000) -> int:
    """Tell a learner what it asks for until it is done; the number of runs."""
    runs = 0
    while wanted := learner.ask():
        for trial in wanted:
            learner.tell(trial, run(trial))
        runs += len(wanted)
        if runs > most:
            raise RuntimeError(f"the learner asked for {runs} runs")
    return runs


@cache
def line_at(task: Perceptron, batch: int, about: float, seeds: int) -> float:
    """`lr_c` at a batch, from runs around `about`."""

    def mean_log(lr: float) -> float:
        runs = [task.run(Trial(lr, batch, seed))["alignment"] for seed in range(seeds)]
        return float(np.mean(np.log2(runs)))

    x = np.log2(about) + np.arange(-1.0, 1.01, 0.25)
    rise = np.array([mean_log(2.0**k) for k in x]) - mean_log(2.0**-6 * about)
    return float(2.0 ** np.interp(1.0, rise, x))


def study(task: Perceptron, replicas: int, truth_seeds: int) -> None:
    diagram = task.diagram(truth_seeds)
    if diagram.critical_batch is None:
        print(f"{task}: the grid has no B*")
        return
    truth = diagram.critical_batch
    name = f"d={task.dim} P={task.train_size} chi={task.chi:g}"
    print(
        f"{name:24} grid of {task.cells} cells, {truth_seeds} seeds: "
        f"B* = {truth.value:.1f} [{truth.low:.1f}, {truth.high:.1f}]"
    )
    about = {point.batch: point.lr for point in diagram.gd_line}
    for start in STARTS:
        used, found, lines = [], [], []
        for k in range(replicas):

            @cache
            def run(trial: Trial, first_seed: int = 1000 + 100 * k) -> Outcome:
                return task.run(trial, first_seed)

            learner = CriticalBatch(start, task.train_size)
            runs = finish(learner, run)
            answer = learner.answer()
            estimate = answer.critical_batch
            if estimate is None or answer.lr is None:
                continue
            seeds = 1 + max(trial.seed for trial in learner.observations.runs)
            used.append(runs / (seeds * task.cells))
            found.append(compare(truth.value, estimate.value, estimate.low, estimate.high))
            line = GdLineSearch(answer.lr, estimate.value, task.train_size)
            finish(line, run)
            for p in line.answer().points:
                real = line_at(task, int(p.batch), about[p.batch], 2 * truth_seeds)
                lines.append(compare(real, p.lr, p.low, p.high))
        print(
            f"  from lr={start:<7g} trainings/grid {np.median(used):.3f}, most {np.max(used):.3f}"
        )
        print(f"    B*      {summary(found, replicas)}")
        print(f"    GD line {summary(lines, 2 * replicas)}", flush=True)


def compare(truth: float, value: float, low: float, high: float) -> tuple[bool, float, float]:
    """Whether an interval holds the truth, half its width and the error, in octaves."""
    return low <= truth <= high, math.log2(high / low) / 2, math.log2(value / truth)


def summary(rows: list[tuple[bool, float, float]], asked: int) -> str:
    """In words; an interval that is open on one side (`open`) counts as one that does not hold."""
    held, half, error = (np.array(column) for column in zip(*rows, strict=True))
    return (
        f"found {len(rows):3d}/{asked:<4d} coverage {np.mean(held):.2f}  "
        f"half width {np.nanmedian(half):.2f}  error {np.mean(error):+.2f} +- {np.std(error):.2f}"
        f"  open {np.isnan(half).sum()}"
    )


def main(replicas: int) -> None:
    tasks = [
        (Perceptron(32, 512), 24),
        (Perceptron(32, 1024), 24),
        (Perceptron(64, 2048), 8),
        (Perceptron(32, 1024, chi=2.0), 24),
        (Perceptron(32, 1024, chi=0.0), 24),
    ]
    for task, seeds in tasks:
        study(task, replicas, seeds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
