"""Speed of the training of networks in this source tree against another one.

Usage: `python benchmarks/bench_trees.py OTHER/src [cell ...]`. Each training runs for a number of
steps in a process of its own, in turns in the two trees. Compared is user CPU time, the least of
three turns, since other programs may share the machine. Data as for any training (docs/data.md).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TURNS = 3
# model, points, lr, batch, margin, steps
CELLS = [
    ("fc", 4096, 32.0, 1, 2**-15, 20000),
    ("fc", 4096, 32.0, 16, 2**-15, 4000),
    ("fc", 4096, 32.0, 128, 2**-15, 700),
    ("fc", 4096, 32.0, 1024, 2**-15, 250),
    ("fc", 4096, 8.0, 16, 1.0, 4000),
    ("mobilenet", 1024, 8.0, 4, 2**-15, 1500),
    ("mobilenet", 1024, 8.0, 64, 2**-15, 250),
    ("mobilenet", 1024, 8.0, 1024, 2**-15, 20),
    # To the end.
    ("fc", 8192, 8.0, 1, 2**-15, 10**7),
    ("fc", 4096, 8.0, 16, 2**-15, 10**7),
    ("fc", 4096, 8.0, 16, 1.0, 10**7),
]

RUN = """
import sys, os, time, torch
torch.set_num_threads(1)
from sgdphase import CifarAnimals, MnistParity, Training
from sgdphase.networks import _train
model, size, lr, batch, margin, steps, test = sys.argv[1:]
problem, shape = (MnistParity(), {}) if model == "fc" else (CifarAnimals(), {"width": 8})

def run(steps):
    training = Training(problem, train_size=int(size), lr=float(lr), batch=int(batch), model=model,
                        margin=float(margin), max_steps=steps, test_size=int(test), **shape)
    before = os.times()
    outcome = _train.train(training)
    after = os.times()
    # Time in the system too: it clears the memory that the training asks for.
    return after.user + after.system - before.user - before.system, outcome

run(2)  # data, and compilation
seconds, outcome = run(int(steps))
print(seconds, outcome.status, outcome.steps)
"""


def seconds(tree: Path, cell: tuple[object, ...], test_size: int) -> tuple[float, str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, cell), str(test_size)],
        env=os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    took, *outcome = done.stdout.split()
    return float(took), " ".join(outcome)


def main() -> None:
    other, here = Path(sys.argv[1]).resolve(), Path(__file__).parents[1] / "src"
    chosen = [int(number) for number in sys.argv[2:]] or range(len(CELLS))
    print("model, P, lr, B, margin, steps | other tree, this tree (s) | ratio", flush=True)
    for number in chosen:
        cell = CELLS[number]
        # Few test points: the looks at them cost the same per point in any training.
        turns = [[seconds(tree, cell, 512) for tree in (other, here)] for _ in range(TURNS)]
        old, new = (min(turn[side][0] for turn in turns) for side in (0, 1))
        ends = " | ".join(turns[0][side][1] for side in (0, 1))
        print(*cell[:5], ends, f"| {old:.2f} {new:.2f} | {new / old:.2f}", flush=True)


if __name__ == "__main__":
    main()
