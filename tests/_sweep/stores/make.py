"""Write a store with the present version, for `test_old_stores.py`, which says when.

    python tests/_sweep/stores/make.py 6-what-is-new

writes `6-what-is-new.sqlite.gz`, and `6-what-is-new.json` with what was trained and its numbers.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

FITTED = {"train_size": 48, "lr": 0.5, "batch": 4, "test_size": 16, "max_samples": 4800}
EPOCHS = {"train_size": 48, "lr": 0.5, "batch": 4, "test_size": 16, "epochs": 2}
# Arguments of `Training`, the problem as a dict. Add what is new; leave what is here.
TRAININGS: list[dict[str, Any]] = [
    {"problem": {"dim": 4}, "train_size": 16, "lr": 1.0, "batch": 2, "test_size": 16},
    {"problem": {"dim": 4, "chi": 0.5}, "train_size": 16, "lr": 0.5, "batch": 1, "margin": 0.25,
     "momentum": 0.5, "weight_decay": 0.125, "seed": 3, "test_size": 16, "max_time": 8.0,
     "max_steps": 20},
    {"problem": {"dim": 4}, "train_size": 16, "lr": 1.0, "batch": 2, "test_size": 16,
     "model": "fc", "depth": 2, "width": 8},
    {"problem": {"dim": 4, "direction": "random"}, "train_size": 16, "lr": 1.0, "batch": 2,
     "test_size": 16, "model": "fc", "depth": 1, "width": 8, "activation": "relu",
     "loss": "square", "dynamics": "gaussian", "max_samples": 64},
    {"problem": {"file": "user_model.py"}, "model": "own", **FITTED},
    {"problem": {"file": "user_model.py"}, "model": "own", "loss": "logistic", "margin": 0.5,
     **FITTED},
    {"problem": {"file": "user_function.py"}, "model": "function", "train_size": 48, "lr": 0.5,
     "batch": 4, "test_size": 1},
    {"problem": {"file": "user_model.py"}, "model": "own", "sampler": "epoch",
     "loss": "cross-entropy", "momentum": 0.5, "weight_decay": 0.125, **EPOCHS},
    {"problem": {"file": "user_model.py"}, "model": "own", "sampler": "epoch", "loss": "mse",
     "optimizer": "adamw", "schedule": "cosine", "warmup": 0.25, "beta1": 0.8, "beta2": 0.99,
     **EPOCHS},
    {"problem": {"file": "user_function.py"}, "model": "function", **EPOCHS},
    {"problem": {"kind": "user_problem:Axis", "dim": 3}, "model": "user_problem:train",
     "train_size": 8, "lr": 0.25, "batch": 2, "test_size": 8},
    {"problem": {"kind": "user_problem:Axis", "direction": "random"}, "model": "fc", "depth": 1,
     "width": 8, "train_size": 8, "lr": 0.25, "batch": 2, "test_size": 8},
    {"problem": {"command": "sh -c 'echo {{\\\"val_loss\\\": $0}} > m.json; "
                            "echo error 0.$1' {lr} {batch}{epochs}",
                 "metrics": ["val_loss=json:m.json", "error=stdout:error (.*)"]},
     "model": "command", "train_size": 2**40, "lr": 0.25, "batch": 2, "epochs": 3},
    {"problem": {"kind": "stripe", "dim": 4, "direction": "random"}, "model": "fc", "depth": 1,
     "width": 16, "train_size": 16, "lr": 1.0, "batch": 2, "test_size": 16},
    {"problem": {"kind": "sphere", "dim": 4}, "model": "fc", "depth": 1, "width": 16,
     "train_size": 16, "lr": 1.0, "batch": 2, "test_size": 16, "l1": 0.125, "max_steps": 20},
    {"problem": {"dim": 4}, "model": "diagonal", "depth": 3, "train_size": 16, "lr": 0.125,
     "batch": 2, "test_size": 16},
    {"problem": {"dim": 4}, "loss": "logistic", "train_size": 16, "lr": 0.125, "batch": 2,
     "test_size": 16},
    {"problem": {"dim": 4}, "l1": 0.125, "train_size": 16, "lr": 0.125, "batch": 2, "test_size": 16,
     "max_steps": 20},
]  # fmt: skip


def training(options: dict[str, Any]) -> Any:
    """The training of these options, as a user makes it."""
    from sgdphase import Training, command
    from sgdphase._own.problem import user_file
    from sgdphase.problems import problem_class

    given = dict(options["problem"])
    problem: Any
    if "command" in given:
        problem = replace(command(given["command"], given["metrics"]), start="")
    elif "file" in given:
        # Not the absolute path of who writes the store.
        problem = replace(user_file(HERE / given["file"]), path=given["file"])
    else:
        problem = problem_class(given.pop("kind", "teacher"))(**given)
    return Training(**{**options, "problem": problem})


def numbers(run: Any) -> dict[str, Any]:
    """What a store must give back of a run."""
    outcome = run.outcome
    trajectory = {name: list(map(float, array)) for name, array in outcome.trajectory.items()}
    return {"status": outcome.status, "steps": outcome.steps, "time": outcome.time,
            "observables": dict(outcome.observables), "trajectory": trajectory}  # fmt: skip


def main(name: str) -> None:
    from sgdphase import Store, sweep

    os.chdir(HERE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        plan = [training(options) for options in TRAININGS]
        sweep(plan, path, workers=0, trajectories=True)
        runs = {run.training.key: run for run in Store(path).runs(trajectories=True)}
        held = [
            {"training": options, "key": each.key, **numbers(runs[each.key])}
            for options, each in zip(TRAININGS, plan, strict=True)
        ]
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("VACUUM")
        connection.close()
        (HERE / f"{name}.sqlite.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    rows = ",\n".join(json.dumps(row) for row in held)
    (HERE / f"{name}.json").write_text(f"[\n{rows}\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
