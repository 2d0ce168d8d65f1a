"""A sweep of toy trainings in a process of its own; prints `done KEY` for what is reported done."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence

from sgdphase._sweep import Progress, Run, Stopped, SweepError, grid, sweep
from sgdphase._sweep.tally import Tally


class Printed(Progress):
    def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
        print("".join(f"done {key}\n" for key, _ in runs), end="", flush=True)


def main() -> None:
    store, count = sys.argv[1], int(sys.argv[2])
    model = f"toy_trainer:{os.environ.get('TOY_FUNCTION', 'train')}"
    plan = grid(dim=8, train_size=64, lr=1.0, batch=1, seeds=count, model=model)
    limit = os.environ.get("TOY_FILE_LIMIT")
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    print("ready", flush=True)
    try:
        sweep(plan, store, workers=2, trajectories=True, progress=Printed())
    except Stopped as stopped:
        sys.exit(128 + stopped.signum)
    except SweepError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
