"""Where trainings run: executors that know how many packs they take and how a death shows."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from typing import Any

from sgdphase.errors import InputError

# Cells are the parallelism; a second thread inside one would only take a core from another.
_ENVIRONMENT = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
# A worker starts by `python -c`, which would find a `random.py` of the working directory before the
# standard library's. Not for what the user's code starts there.
_SAFE_PATH = "PYTHONSAFEPATH"
_ENVIRONMENT[_SAFE_PATH] = "1"
# Seconds for what the user's code left behind in a worker.
_LAST_SECONDS = 2.0
# Before processes that it left behind are waited for.
_FIRST = 100
# Fewer than the deaths that make a training the suspect (runner.py).
_STARTS = 2


class Workers(Executor):
    """An executor of packs."""

    # Whether they find their data where this process does.
    here = True
    # What is said when they drop what they were given.
    gone = "the workers are gone"

    @property
    def slots(self) -> int:
        """How many packs to have under way at a time."""
        raise NotImplementedError

    @property
    def parallel(self) -> int:
        """How many trainings run at a time."""
        return self.slots

    def died(self, error: BaseException) -> bool:
        """Whether a future with this error lost its worker, so that its pack may be run again."""
        return isinstance(error, BrokenExecutor)

    def waiting(self) -> str:
        """What is waited for, if nothing runs; raises `SweepError` if that takes too long."""
        return ""

    def stop(self) -> None:
        """End at once, whatever is running."""
        self.shutdown(wait=False, cancel_futures=True)


class InProcess(Workers):
    """Runs packs at once, in this process: for tests, debuggers and very small plans."""

    slots = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Workers):
    """Processes of this machine, one thread each.

    Each is a pool of one, so that a death is known to be that of the pack it was running, and the
    others go on. A process that dies is replaced when its place is needed next. With `gpus`, each
    place has one of them.
    """

    def __init__(self, count: int, gpus: Sequence[str] = ()) -> None:
        self._count = count
        self._gpus = tuple(gpus)
        self._lanes: dict[int, _Lane] = {}
        self._lost_at_start = 0
        self._any_started = False

    @property
    def slots(self) -> int:
        return self._count

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        place = self._free_place()
        if place not in self._lanes:
            self._lanes[place] = _Lane(self._environment(place))
        try:
            return self._lanes[place].submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._bury(place)
            return self.submit(fn, *args, **kwargs)

    def _free_place(self) -> int:
        """On the GPU that has the least to do; there, a process that has started already."""
        busy = Counter(self._gpu(p) for p, lane in self._lanes.items() if not lane.is_idle)
        free = [p for p in range(self._count) if p not in self._lanes or self._lanes[p].is_idle]
        # More are given than there are places only outside of sweeps.
        free = free or [max(self._lanes) + 1]
        return min(free, key=lambda place: (busy[self._gpu(place)], place not in self._lanes))

    def _gpu(self, place: int) -> str:
        return self._gpus[place % len(self._gpus)] if self._gpus else ""

    def _environment(self, place: int) -> dict[str, str]:
        """Its GPU, and for commands their share of the cores, unless the user says how many."""
        threads = os.environ.get("OMP_NUM_THREADS") or str(max(cores() // self._count, 1))
        gpu = {"CUDA_VISIBLE_DEVICES": self._gpu(place)} if self._gpus else {}
        return {"SGDPHASE_THREADS": threads, **gpu}

    def _bury(self, place: int) -> None:
        lane = self._lanes.pop(place)
        lane.pool.shutdown()
        self._any_started |= lane.has_started
        self._lost_at_start += not lane.has_started
        if self._lost_at_start >= _STARTS and not self._any_started:
            raise InputError(
                "the worker processes end as they start; workers=0 runs without processes"
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for lane in self._lanes.values():
            lane.pool.shutdown(wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        for lane in self._lanes.values():
            # Python 3.14 has kill_workers() for this.
            for process in list((lane.pool._processes or {}).values()):
                process.kill()
        self.shutdown()


class Kept(Workers):
    """Workers that outlive a sweep, for one sweep after another; `close` ends them.

    Workers that a sweep had to stop during their work are replaced.
    """

    def __init__(self, make: Callable[[], Workers]) -> None:
        self._make = make
        self._workers = make()
        self.here, self.gone = self._workers.here, self._workers.gone

    @property
    def slots(self) -> int:
        return self._workers.slots

    @property
    def parallel(self) -> int:
        return self._workers.parallel

    def died(self, error: BaseException) -> bool:
        return self._workers.died(error)

    def waiting(self) -> str:
        return self._workers.waiting()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._workers.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """They stay."""

    def stop(self) -> None:
        self._workers.stop()
        self._workers = self._make()

    def close(self) -> None:
        self._workers.shutdown()


class _Lane:
    """One process, and the last thing it was given."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.pool = ProcessPoolExecutor(
            1,
            mp_context=get_context("spawn"),
            initializer=_start,
            initargs=(os.getpid(), os.environ.get(_SAFE_PATH), environment),
        )
        with _as_worker():
            self._ready = self.pool.submit(os.getpid)
        self._last: Future[Any] = self._ready

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._last = self.pool.submit(fn, *args, **kwargs)
        return self._last

    @property
    def has_started(self) -> bool:
        return self._ready.done() and self._ready.exception() is None

    @property
    def is_idle(self) -> bool:
        return self._last.done()


@contextmanager
def _as_worker() -> Iterator[None]:
    """What a process started here inherits: one thread, a safe path, and no Ctrl-C.

    It does not import the user's script again, as spawned processes do: what workers run is in
    modules, and a script without `if __name__ == "__main__":` would sweep in every worker.
    """
    main = vars(sys.modules["__main__"])
    hidden: dict[str, Any] = {
        name: main.pop(name) for name in ("__file__", "__spec__") if name in main
    }
    main["__spec__"] = None
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    masks = hasattr(signal, "pthread_sigmask")
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    try:
        yield
    finally:
        main.update(hidden)
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start(pid: int, safe_path: str | None, environment: Mapping[str, str]) -> None:
    """In a worker: ignore Ctrl-C, die with the parent, and end when asked to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if safe_path is None:
        os.environ.pop(_SAFE_PATH, None)
    os.environ.update(environment)
    Finalize(None, _end_soon, exitpriority=_FIRST)
    _follow_parent(pid)


def _end_soon() -> None:
    """At the end of a worker: a thread that was left behind must not keep it for long."""
    timer = threading.Timer(_LAST_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _follow_parent(pid: int) -> None:
    """Die with the parent however it ends."""
    try:
        import ctypes

        # Linux: the kernel sends SIGKILL, even while compiled code holds the interpreter.
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):  # pragma: no cover
        pass
    if os.getppid() != pid:
        os._exit(1)
    # Elsewhere: a thread that sees the parent's end as soon as it can run.
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def cores() -> int:
    """Those that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def workers_of(count: int | None, gpus: Sequence[int | str] = ()) -> Workers:
    """`count` processes, by default one per GPU or else one per core; 0 is in-process."""
    names = [str(gpu).strip() for gpu in gpus]
    if len(set(names)) < len(names) or "" in names:
        raise InputError(f"gpus = {','.join(names)}: must be different GPUs, as 0,1")
    if count is None:
        count = len(names) or cores()
    if count < 0 or count != int(count):
        raise InputError(f"workers = {count}: must be an integer of at least 0")
    if names and not count:
        raise InputError(f"gpus = {','.join(names)}: are given to processes, and workers = 0")
    return Processes(int(count), names) if count else InProcess()
