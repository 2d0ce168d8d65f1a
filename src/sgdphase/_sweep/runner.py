"""Run what a store does not have yet.

One loop in one thread: hand out packs, take back runs, write them, and only then count them as
done. Only this process writes to the store; workers hold nothing that would be lost with them, but
for what a long training did since it last saved its state (checkpoints.py).
"""

from __future__ import annotations

import math
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from sgdphase._records import STATUSES, Training
from sgdphase._sweep.checkpoints import checkpoint_folder, drop
from sgdphase._sweep.packs import Job, Pack, packed, split
from sgdphase._sweep.progress import Progress
from sgdphase._sweep.run import Run, failed, run_pack
from sgdphase._sweep.store import Store, Stored, Writer
from sgdphase._sweep.storefile import SweepError, beside
from sgdphase._sweep.tally import Summary, Tally
from sgdphase._sweep.trainers import check_ends, cost_of, delay_of, trainer_of
from sgdphase._sweep.workers import Workers, workers_of
from sgdphase.errors import InputError, require_type

# A training that is alone in its pack when the worker dies this often is itself the cause.
_DEATHS = 3
_TICK_SECONDS = 0.2
_UNFORESEEN_SECONDS = 3600.0
# Runs of a summary: ten thousand take a second to read, and a few kilobytes each.
_READ_AT_ONCE = 10_000


class Stopped(KeyboardInterrupt):
    """A signal ended the sweep; what is done is in the store, and the same sweep resumes.

    Trainings that were under way resume too, if their trainer saves checkpoints.
    """

    kept = True  # for whoever reports that the command was stopped

    def __init__(self, signum: int, summary: Summary) -> None:
        super().__init__(f"stopped by {signal.Signals(signum).name}")
        self.signum = signum
        self.summary = summary


def missing(
    plan: Iterable[Training],
    store: Store,
    *,
    trajectories: bool = False,
    retry: Sequence[str] = (),
) -> list[Job]:
    """The trainings of a plan that a sweep would run, with their expected costs."""
    wanted = dict.fromkeys(plan)
    costs = {model: cost_of(model) for model in {training.model for training in wanted}}
    _check_retry(retry)
    # Keys take most of the time: none is made for an empty store, and each only once.
    keys = [] if store.is_empty else [training.key for training in wanted]
    standing = store.standing(keys)
    return [
        # A cost that nobody could foresee is taken as long, so that it starts early.
        Job(training, float(cost))
        if 0.0 <= cost < math.inf
        else Job(training, _UNFORESEEN_SECONDS, is_foreseen=False)
        for training, key in zip_longest(wanted, keys)
        if _is_missing(standing.get(key), trajectories, retry)
        for cost in [min(costs[training.model](training), training.max_seconds or math.inf)]
    ]


def sweep(
    plan: Iterable[Training],
    store: Store | str | Path,
    *,
    workers: int | Workers | None = None,
    gpus: Sequence[int | str] = (),
    trajectories: bool = False,
    retry: Sequence[str] = (),
    fail_fast: bool = False,
    until: float = math.inf,
    progress: Progress | None = None,
) -> Summary:
    """Run the trainings of a plan that the store does not have yet.

    A run counts as done when it is in the store. A failed training is stored with its traceback,
    and the sweep goes on. Ctrl-C and SIGTERM raise `Stopped`; the same call later finishes the
    rest. Trainings whose trainer takes a `checkpoint` save their state in the folder
    `runs.sqlite-checkpoints` and resume from there, however the sweep was stopped.

    Parameters
    ----------
    plan : iterable of Training; as `grid` makes it
    store : Store, str or Path
        The file that keeps the runs; it is made if it does not exist.
    workers : int or DaskWorkers, default one process per core
        Number of processes; 0 runs in this process.
    gpus : sequence of int or str, default none
        Each process sees one of them (`CUDA_VISIBLE_DEVICES`); by default one process per GPU.
    trajectories : bool, default False
        Whether to store observables in time. Runs without them are then made again.
    retry : sequence of str, default none
        Statuses to run again, such as "failed" or "budget".
    fail_fast : bool, default False
        Whether the first failed training ends the sweep.
    until : float, default infinite
        Time of `time.monotonic` at which the sweep ends with what is done.
    progress : Progress, default silent; shows how far the sweep is

    Examples
    --------
    >>> import tempfile
    >>> from sgdphase import grid
    >>> plan = grid(dim=8, train_size=32, lr=[0.5, 1.0], batch=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = (sweep(plan, f"{folder}/runs.sqlite", workers=0) for _ in range(2))
    >>> first.ran, again.ran, again.done_before
    (2, 0, 2)
    >>> [run.training.lr for run in again.runs], [run.outcome.status for run in again.runs]
    ([0.5, 1.0], ['fitted', 'fitted'])
    """
    store = store if isinstance(store, Store) else Store(store)
    require_type("plan", plan, Iterable, "a plan, as `grid` makes it, or a list of trainings")
    plan = tuple(dict.fromkeys(plan))
    for training in plan:
        require_type("a training of the plan", training, Training, "a Training")
    check_ends(plan)
    own = workers if isinstance(workers, Workers) else workers_of(workers, gpus)
    # What is wrong with the call shows before a file is made.
    resumes = {model: trainer_of(model).resumes for model in {t.model for t in plan}}
    _check_retry(retry)
    parallel = own.parallel  # asks a cluster whether it can run trainings
    if own.here and store.is_empty:  # all of it is to be run
        _prepare(plan)
    with store.writer() as writer, _signals() as received:
        # Asked with the lock held: what another sweep has just finished is not run again.
        jobs = missing(plan, store, trajectories=trajectories, retry=retry)
        if own.here:
            _prepare(job.training for job in jobs)
        tally = Tally.of(len(plan), jobs, parallel)
        resumable = any(resumes[job.training.model] for job in jobs)
        progress = progress or Progress()
        with checkpoint_folder(store.path, needed=resumable) as folder, progress:
            _drop_leftovers(folder, store, retry)
            delay = delay_of(job.training for job in jobs) if own.here else ""
            loop = _Loop(own, writer, tally, trajectories, progress, folder, delay)
            try:
                loop.run(packed(jobs, own.slots), received, fail_fast, until)
            except BaseException:
                own.stop()
                raise
            if received or tally.costs:
                own.stop()
            else:
                own.shutdown()
    counts = tally.planned, tally.done_before, tally.ran, dict(tally.statuses)
    summary = Summary(*counts, monotonic() - tally.started, store, plan, trajectories)
    if received:
        raise Stopped(received[0], summary)
    if len(plan) <= _READ_AT_ONCE and not trajectories:
        _ = summary.runs  # are read once
    return summary


@dataclass
class _Loop:
    """The state of a sweep under way: what waits, what is out, who was there when a worker died."""

    workers: Workers
    writer: Writer
    tally: Tally
    trajectories: bool
    progress: Progress
    folder: Path
    delay: str  # before the first training starts
    queue: deque[Pack] = field(default_factory=deque)
    out: dict[Future[list[Run]], Pack] = field(default_factory=dict)
    deaths: Counter[str] = field(default_factory=Counter)

    def run(
        self, packs: Iterable[Pack], received: list[int], fail_fast: bool, until: float
    ) -> None:
        self.queue.extend(packs)
        self.progress.show(self.tally, [])
        while self.queue or self.out:
            self._hand_out()
            done, _ = wait(self.out, _TICK_SECONDS, FIRST_COMPLETED)
            runs = [run for future in done for run in self._taken_back(future)]
            over = monotonic() >= until
            # Workers get their next pack before the disk is waited for.
            if not received and not over:
                self._hand_out()
            if runs:
                self.writer.write(runs, trajectory=self.trajectories)
                self._drop({key for key, _ in runs})
                self.tally.add(runs)
            else:
                self.writer.check()
            self.tally.waiting = self.workers.waiting() or ("" if self.tally.ran else self.delay)
            self.progress.show(self.tally, runs)
            failure = any(run.outcome.status == "failed" for _, run in runs)
            if received or (fail_fast and failure) or over:
                return

    def _hand_out(self) -> None:
        while self.queue and len(self.out) < self.workers.slots:
            pack = self.queue.popleft()
            named = [(job.key, job.training) for job in pack]
            future = self.workers.submit(
                run_pack, named, trajectory=self.trajectories, checkpoints=self.folder,
                folders=beside(self.writer.path.absolute(), "-runs"),
            )  # fmt: skip
            self.out[future] = pack

    def _drop(self, keys: set[str]) -> None:
        """Delete checkpoints; those made with trajectories may serve yet if none was recorded."""
        drop(self.folder, lambda key, drawn: key in keys and drawn <= self.trajectories)

    def _taken_back(self, future: Future[list[Run]]) -> list[tuple[str, Run]]:
        """The runs of a pack; what it did not get to goes back to the head of the queue."""
        pack = self.out.pop(future)
        try:
            runs = future.result()
        except CancelledError:
            raise SweepError(f"{self.workers.gone}; the same command goes on from here") from None
        except Exception as error:
            if not self.workers.died(error):
                if isinstance(error, InputError):
                    raise
                said = " ".join(f"{type(error).__name__}: {error}".split())
                raise SweepError(f"the workers cannot run trainings ({said})") from error
            return self._after_death(pack)
        rest = pack[len(runs) :]
        if rest:
            self.queue.appendleft(rest)
        return [(job.key, run) for job, run in zip(pack, runs, strict=False)]

    def _after_death(self, pack: Pack) -> list[tuple[str, Run]]:
        """Run a lost pack again in smaller ones, to learn which training kills, if any does."""
        if len(pack) > 1:
            self.queue.extendleft(reversed(split(pack)))
            return []
        (job,) = pack
        self.deaths[job.key] += 1
        if self.deaths[job.key] < _DEATHS:
            self.queue.appendleft(pack)
            return []
        reason = f"the worker process died {_DEATHS} times while it ran this training"
        return [(job.key, failed(job.training, 0.0, reason))]


def _prepare(trainings: Iterable[Training]) -> None:
    """Fetch the data once and with a bar, instead of in every worker."""
    for problem in {training.problem for training in trainings}:
        problem.prepare()


def _is_missing(stored: Stored | None, trajectories: bool, retry: Sequence[str]) -> bool:
    if stored is None or stored.status in retry:
        return True
    # A run that failed has no trajectory to give.
    return trajectories and not stored.has_trajectory and stored.status != "failed"


def _drop_leftovers(folder: Path, store: Store, retry: Sequence[str]) -> None:
    """Delete checkpoints that no sweep needs: one was killed between writing and deleting."""
    # Most stores have no such folder, and reading a large one takes a while.
    if folder.exists():
        standing = store.standing()
        drop(folder, lambda key, drawn: not _is_missing(standing.get(key), drawn, retry))


def _check_retry(retry: Sequence[str]) -> None:
    for status in retry:
        if status not in STATUSES:
            raise InputError(f"retry = '{status}': must be among {', '.join(STATUSES)}")


@contextmanager
def _signals() -> Iterator[list[int]]:
    """The signals that ask to stop, as they come in; a second one interrupts at once."""
    received: list[int] = []

    def note(signum: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(signum)

    # Python delivers signals to the main thread only, and lets no other set a handler.
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before: dict[int, Any] = {
        signum: signal.signal(signum, note) for signum in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
