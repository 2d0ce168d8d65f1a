"""The crash matrix: a sweep with checkpoints is crashed again and again, and nothing may be lost.

`python tests/_sweep/torture.py 200` crashes 200 times. A sweep runs in a process of its own, with
two workers; something happens to it at a random moment; what it left is compared with an
uninterrupted sweep, bit for bit; then the next process resumes it, and is crashed as well. When all
trainings are done, a new store begins. The table says, for each kind of crash:

- effective: the sweep was under way and not at its end, and trainings had started
- resumed: trainings that continued from a checkpoint
- at stake: runs that were in the store before or were reported as done, summed over the crashes
- lost: runs that were reported as done, or in the store before, and are not there, or differ;
  and those that a sweep did not run which ended with exit code 0
- doubled: trainings that were in the store and started again, or that started or were reported
  twice in one sweep
- tracebacks: sweeps that printed one, or ended with another exit code than they should

With the rights of root the store is on a file system of its own in memory, and a full disk is
one that is full; else it is a limit on the size of a file (RLIMIT_FSIZE). A clock that jumps is
Python's `time.time`, not that of the system. Nothing here loses power: see docs/store.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sgdphase._sweep import DaskWorkers, Plan, Progress, Run, Stopped, Store, SweepError, grid
from sgdphase._sweep import sweep as run_sweep
from sgdphase._sweep.tally import Tally
from sgdphase.errors import InputError

HERE = Path(__file__).parent
# Seconds between the first training that starts and the crash; some crash before any starts.
LATEST, EARLY = 1.0, 0.15
PAUSE = 0.004
PATIENCE = 900.0  # the machine may be busy


def plan_of(seeds: int) -> Plan:
    sizes: dict[str, Any] = {"dim": 16, "train_size": 48, "test_size": 64, "margin": 0.5}
    return grid(
        **sizes, lr=[0.25, 0.5], batch=[1, 2, 4], seeds=seeds, model="torture_trainer:train"
    )


# The process that is crashed


class Printed(Progress):
    def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
        print("".join(f"done {key}\n" for key, _ in runs), end="", flush=True)


def child(store: str, seeds: int, workers: int, dask: str) -> None:
    # Before the sweep too, as the command line does. At the end of the process nothing is at stake.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        team = DaskWorkers(dask) if dask else workers
        run_sweep(plan_of(seeds), store, workers=team, progress=Printed())
    except Stopped as stopped:
        sys.exit(128 + stopped.signum)
    except (SweepError, InputError) as error:
        print(error, file=sys.stderr)
        sys.exit(1 if isinstance(error, SweepError) else 2)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


# What happens to it


@dataclass
class Sweep:
    """A sweep under way, in a process of its own."""

    store: Path
    process: subprocess.Popen[bytes]
    out: Path
    rng: random.Random
    total: int
    others: list[subprocess.Popen[bytes]]  # scheduler and worker of Dask
    log: Path
    logged: int  # bytes, as it started
    before_copy: set[str] | None = None

    @property
    def is_under_way(self) -> bool:
        return self.process.poll() is None and len(self.reported()) < self.total

    @property
    def is_open(self) -> bool:
        """Whether a training has started: then the store is open."""
        return self.log.stat().st_size > self.logged

    def said(self) -> list[str]:
        # A line that was cut short by a kill was not said.
        lines = self.out.read_text().splitlines(True)
        return [line[5:-1] for line in lines if line[:5] == "done " and line[-1] == "\n"]

    def reported(self) -> set[str]:
        return set(self.said())

    def workers(self) -> list[int]:
        try:
            pid = self.process.pid
            return [
                int(one)
                for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()
            ]
        except OSError:
            return []

    def stop_later(self) -> None:
        time.sleep(self.rng.uniform(0, 0.4))
        self.process.terminate()


def kill_parent(sweep: Sweep) -> bool:
    sweep.process.kill()
    return True


def kill_worker(sweep: Sweep) -> bool:
    workers = sweep.workers()
    if workers:
        with suppress(ProcessLookupError):
            os.kill(sweep.rng.choice(workers), signal.SIGKILL)
    sweep.stop_later()
    return bool(workers)


def fill_disk(sweep: Sweep) -> bool:
    """Until it ends, which a sweep that needs no more space does without noticing."""
    folder = sweep.store.parent
    if os.path.ismount(folder):
        ballast = folder / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        _wait(sweep.process)
        ballast.unlink()
    else:
        size = sweep.store.stat().st_size if sweep.store.exists() else 0
        limit = size + sweep.rng.randrange(-2, 3) * 4096
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(
                sweep.process.pid, resource.RLIMIT_FSIZE, (max(limit, 0), resource.RLIM_INFINITY)
            )
        _wait(sweep.process)
    return sweep.process.returncode == 1


def delete_store(sweep: Sweep) -> bool:
    """Or move it away; held still, so that a sweep that has just ended keeps its store."""
    sweep.process.send_signal(signal.SIGSTOP)
    # Before it is opened it is simply not there, and a new one is made.
    there = sweep.is_under_way and sweep.is_open and sweep.store.exists()
    if there:
        if sweep.rng.random() < 0.5:
            sweep.store.unlink()
        else:
            sweep.store.rename(sweep.store.with_name("moved.sqlite"))
    sweep.process.send_signal(signal.SIGCONT)
    _wait(sweep.process)
    errors = sweep.out.with_suffix(".err").read_text()
    copy = re.search(r"saved as (\S+): name this file", errors)
    if copy and there:
        with suppress(FileNotFoundError):  # then its runs are counted as lost
            Path(copy[1]).rename(sweep.store)
    return there


def kill_scheduler(sweep: Sweep) -> bool:
    sweep.others[0].kill()
    return True


def jump_clock(sweep: Sweep) -> bool:
    """It jumped on its own, by its environment; the sweep goes on for a while."""
    sweep.stop_later()
    return True


def copy_store(sweep: Sweep) -> bool:
    """The file alone, whatever is being written; then the original is lost, and the copy used."""
    folder, store = sweep.store.parent, sweep.store
    opens = False
    for _ in range(3):
        reported = sweep.reported()
        if not store.exists():
            break
        shutil.copy(store, folder / "copy.sqlite")
        with suppress(InputError):
            opens = not Store(folder / "copy.sqlite").is_empty
            Store(folder / "copy.sqlite").runs()
        if opens:
            sweep.before_copy = reported
            break
    sweep.process.kill()
    sweep.process.wait()
    if opens:
        for path in folder.glob("runs.sqlite-[wjs]*"):
            path.unlink()
        (folder / "copy.sqlite").rename(store)
    return opens


# The exit codes that a kind may have; Python is killed by a signal that comes before our handler.
CODES = {"stop": (0, 143, -15), "kill": (-9, 0), "error": (0, 1)}
KINDS: dict[str, tuple[Callable[[Sweep], bool], tuple[int, ...]]] = {
    "parent killed": (kill_parent, CODES["kill"]),
    "worker killed": (kill_worker, CODES["stop"]),
    "disk full": (fill_disk, (0, 1, 2)),
    "store deleted or moved": (delete_store, CODES["error"]),
    "Dask scheduler killed": (kill_scheduler, (0, 1, 2)),
    "clock jumps": (jump_clock, CODES["stop"]),
    "store copied, original lost": (copy_store, CODES["kill"]),
}


# In these a training may start again before its run is stored: its worker died.
RESTARTS = ("worker killed", "Dask scheduler killed")


@dataclass
class Count:
    crashes: int = 0
    effective: int = 0
    resumed: int = 0
    at_stake: int = 0
    lost: int = 0
    doubled: int = 0
    tracebacks: int = 0


@dataclass
class Matrix:
    """Crashes of one store after another."""

    folder: Path
    rng: random.Random
    seeds: int
    workers: int
    say: Callable[[str], None] = print
    counts: dict[str, Count] = field(default_factory=dict)
    stores: int = 0

    def __post_init__(self) -> None:
        (self.folder / "site").mkdir()
        shutil.copy(HERE / "torture_clock.py", self.folder / "site" / "sitecustomize.py")
        self.store = self.folder / "store" / "runs.sqlite"
        self.log = self.folder / "log"
        self.log.touch()
        path = [str(self.folder / "site"), str(HERE), *filter(None, sys.path)]
        self.environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(path), "TORTURE_LOG": str(self.log),
            "TORTURE_PAUSE": str(PAUSE), "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s",
        }  # fmt: skip
        # What an uninterrupted sweep gives.
        os.environ["TORTURE_LOG"] = str(self.folder / "reference.log")
        self.plan = plan_of(self.seeds)
        sound = run_sweep(self.plan, self.folder / "sound.sqlite", workers=0)
        self.reference = {run.training.key: run.outcome for run in sound.runs}

    def crash(self, kind: str, after: int = 0) -> None:
        """Crash a sweep at a random moment, when `after` runs were reported or more."""
        count = self.counts.setdefault(kind, Count())
        act, codes = KINDS[kind]
        before, logged = self._stored(count), len(self._starts())
        early = self.rng.random() < EARLY
        moment = self.rng.uniform(0.0, LATEST)
        with self._started(kind, moment) as sweep:
            begun = time.monotonic()
            while sweep.process.poll() is None and (
                len(sweep.said()) < after or (not early and not self._has_saved(logged))
            ):
                time.sleep(0.005)
                if time.monotonic() > begun + PATIENCE:
                    raise AssertionError(f"{kind}: the sweep does not start")
            time.sleep(moment)
            under_way = sweep.is_under_way and sweep.is_open
            happened = act(sweep)
            _wait(sweep.process)
        count.crashes += 1
        count.effective += under_way and happened
        started = self._starts()[logged:]
        count.resumed += sum(step > 0 for _, step in started)
        keys = [key for key, _ in started]
        count.doubled += len(before.intersection(keys))
        count.doubled += len(sweep.said()) - len(sweep.reported())
        if kind not in RESTARTS:
            count.doubled += len(keys) - len(set(keys))
        said = sweep.reported() if sweep.before_copy is None else sweep.before_copy
        stored = self._stored(count)
        # A sweep that ends well has run all.
        well = sweep.process.returncode == 0 and sweep.before_copy is None
        due = self.reference.keys() if well else before | said
        count.at_stake += len(due)
        count.lost += len(due - stored)
        errors = sweep.out.with_suffix(".err").read_text()
        # What Python says about a process that was killed is not ours.
        most = 1000 if sweep.process.returncode == -signal.SIGKILL else 1
        bad = "Traceback" in errors or len(errors.splitlines()) > most
        bad |= sweep.process.returncode not in codes
        count.tracebacks += bad
        if bad or due - stored:
            moment = "under way" if under_way else "not under way"
            self.say(f"{kind}, {moment}: exit code {sweep.process.returncode}\n{errors}")
        if stored == self.reference.keys():
            self._new_store(count)

    def finish(self) -> None:
        """The last store is left in peace, and all its runs are there."""
        count = next(reversed(self.counts.values()), None) or self.counts.setdefault("", Count())
        with self._started("", 0.0) as sweep:
            _wait(sweep.process)
        if self._stored(count) != self.reference.keys():
            count.lost += len(self.reference.keys() - self._stored(count))

    def table(self) -> str:
        names = tuple(name.replace("_", " ") for name in vars(Count()))
        rows = [(kind, *vars(self.counts[kind]).values()) for kind in KINDS if kind in self.counts]
        sums = [sum(column) for column in list(zip(*rows, strict=True))[1:]]
        lines = [("kind", *names), ("---", *["--:"] * len(names)), *rows, ("all", *sums)]
        return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)

    def is_clean(self) -> bool:
        return not any(c.lost or c.doubled or c.tracebacks for c in self.counts.values())

    def _stored(self, count: Count) -> set[str]:
        """The keys in the store; a run with other numbers than the reference counts as lost."""
        store = Store(self.store)
        runs = {} if store.is_empty else {run.training.key: run.outcome for run in store.runs()}
        same = {key for key, outcome in runs.items() if outcome == self.reference[key]}
        if runs.keys() != same:
            count.lost += len(runs.keys() - same)
            self.say(f"with other numbers: {', '.join(runs.keys() - same)}")
        return same

    def _starts(self) -> list[tuple[str, int]]:
        lines = map(str.split, self.log.read_text().splitlines())
        return [(key, int(step)) for key, step in lines]

    def _has_saved(self, logged: int) -> bool:
        """Whether a training has started, and one has saved a checkpoint."""
        folder = self.store.with_name("runs.sqlite-checkpoints")
        return len(self._starts()) > logged and folder.exists() and any(folder.iterdir())

    def _new_store(self, count: Count) -> None:
        folder = self.store.parent
        checkpoints = folder / "runs.sqlite-checkpoints"
        if checkpoints.exists():
            # Killed after the last run was written, before its checkpoint was deleted, which the
            # next sweep does.
            with self._started("", 0.0) as sweep:
                _wait(sweep.process)
        if checkpoints.exists():
            count.lost += 1
            self.say("checkpoints are left behind")
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.stores += 1

    @contextmanager
    def _started(self, kind: str, moment: float) -> Iterator[Sweep]:
        # A new file each time: Python's resource tracker may write to the last one yet.
        out = self.folder / f"out{sum(count.crashes for count in self.counts.values())}"
        environment, others, dask = self.environment, [], ""
        if kind == "clock jumps":
            jump = self.rng.choice([-1, 1]) * self.rng.choice([3600.0, 86400.0, 3e8])
            since = time.monotonic() + moment + 0.5
            clock = {"TORTURE_JUMP": str(jump), "TORTURE_SINCE": str(since)}
            environment = {**environment, **clock}
        try:
            if kind == "Dask scheduler killed":
                file = self.folder / "scheduler.json"
                file.unlink(missing_ok=True)
                others.append(_dask(["scheduler", "--port=0"], file, environment))
                others.append(_dask(["worker", "--nthreads=1", "--no-nanny"], file, environment))
                dask = _address(file)
            total = len(self.reference) - len(self._stored(Count()))
            logged = self.log.stat().st_size
            words = [str(self.store), str(self.seeds), str(self.workers), dask]
            with out.open("wb") as said, out.with_suffix(".err").open("wb") as errors:
                process = subprocess.Popen(
                    [sys.executable, __file__, "--child", *words],
                    env=environment, stdout=said, stderr=errors, cwd=self.folder,
                )  # fmt: skip
            yield Sweep(self.store, process, out, self.rng, total, others, self.log, logged)
            _wait(process)
        finally:
            for each in others:
                each.kill()
                each.wait()


def _dask(words: list[str], file: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", "--scheduler-file", str(file),
         "--no-dashboard", "--host", "127.0.0.1", *words[1:]],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _address(file: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.02)
    raise AssertionError("the Dask scheduler does not start")


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def place(mounted: bool) -> Iterator[Path]:
    """A folder; its part for the store on a file system of its own, if that is possible."""
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "store"
        store.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "sgdphase-torture", str(store)]
        done = mounted and subprocess.run(mount, capture_output=True, check=False).returncode == 0
        try:
            yield Path(name)
        finally:
            if done:
                subprocess.run(["umount", "-l", str(store)], check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, usage="torture.py [N] [--seed SEED]")
    parser.add_argument("crashes", nargs="?", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    start = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is mounted is unmounted
    with place(mounted=os.name == "posix" and os.geteuid() == 0) as folder:
        is_disk = os.path.ismount(folder / "store")
        matrix = Matrix(folder, random.Random(given.seed), seeds=8, workers=2)
        kinds: list[str] = []
        with suppress(KeyboardInterrupt, SystemExit):  # what was done until then is printed
            for number in range(given.crashes):
                if not kinds:
                    kinds = matrix.rng.sample(list(KINDS), len(KINDS))
                matrix.crash(kinds.pop())
                print(f"{number + 1} of {given.crashes}", end="\r", file=sys.stderr, flush=True)
            matrix.finish()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(matrix.table())
    print(
        f"\n{sum(c.crashes for c in matrix.counts.values())} crashes (seed {given.seed}), "
        f"{matrix.stores} stores finished, "
        f"{time.monotonic() - start:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processors; "
        f"disk full: {'a full file system' if is_disk else 'a limit on the size of a file'}"
    )
    sys.exit(not matrix.is_clean())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        store, seeds, workers, dask = sys.argv[2:]
        child(store, int(seeds), int(workers), dask)
    else:
        main()
