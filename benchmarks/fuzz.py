"""Any command line ends well: `make fuzz N=20000` tries that many and prints a table.

Command lines are drawn from the tree of commands itself: an example of a command's help with files
that are right for it, more of its options with values for their types, and in half of the lines one
or two values that are odd. A new option is drawn without an edit here. What must hold of each line:

- it ends with exit code 0, with 2 and one line on stderr that says why, or with 1 if trainings
  failed or claims differ;
- no traceback, no warning; what `--json` prints is one JSON document;
- exit code 2 leaves no new file behind;
- it takes less than `MOST_MEMORY` and `MOST_SECONDS`.

What is not real: a training gives made-up numbers at once, in this process (its record, its place
in the plan and the store, and all that is drawn and written of it are real). In some lines a part
or all of them fail, diverge or give NaN, and in some another command, or the same one, is run on
the same store during the first of them. Runs of a user's command are trainings too: nothing is
started. A plan holds `MOST_TRAININGS`. A few figures are made from the runs of the gallery, the
others not; one picture in five is drawn, the others are empty files. There is no network and no
browser, and the Dask cluster is this process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

from fuzz_files import WORLDS, MadeUpError, make_files, stubs
from fuzz_lines import Command, commands, line

from sgdphase import cli
from sgdphase.errors import InputError as InputError

MOST_SECONDS, MOST_MEMORY = 20.0, 2**30
USED = "used.sqlite"


@dataclass(frozen=True)
class Ended:
    """How a command line ended, and what is wrong with it; nothing if `fault` is empty."""

    code: int
    out: str = ""
    err: str = ""
    fault: str = ""
    detail: str = ""


# The words of a line, and how it ended.
Attempt = tuple[list[str], Ended]


class TooLong(BaseException):
    """A command took more than `MOST_SECONDS`."""


class Place:
    """A folder with odd files, made anew for each command line."""

    def __init__(self, folder: Path) -> None:
        self.sound, self.here = folder / "sound", folder / "here"
        self.sound.mkdir()
        make_files(self.sound)
        self.state: dict[str, Any] = {}

    def run(self, words: list[str]) -> Ended:
        """Run a command line in this process, and judge how it ended."""
        if not self.state or self._files() != self.state:
            shutil.rmtree(self.here, ignore_errors=True)
            shutil.copytree(self.sound, self.here, symlinks=True, copy_function=_copied)
            self.state = self._files()
        directory, environment = os.getcwd(), dict(os.environ)
        os.environ |= {"XDG_CACHE_HOME": str(self.here / "cache"), "SGDPHASE_DATA": str(self.here)}
        os.environ["SGDPHASE_DEBUG"] = "1"  # faults are raised
        os.chdir(self.here)
        try:
            with self._used() if USED in shlex.join(words) else nullcontext():
                return self._judged(words)
        finally:
            os.chdir(directory)
            os.environ.clear()
            os.environ.update(environment)

    def _judged(self, words: list[str]) -> Ended:
        """How a line ends, where trainings end as it happens; and in some, another during it."""
        dice = random.Random(ascii(words))
        world = dice.choice(["fine"] * 5 + [*WORLDS])
        store = next((word for word in words if word.endswith(".sqlite")), "new.sqlite")
        other = dice.choice([[], [], [], words, ["runs", store], ["diagram", store, "--json"]])
        during: list[Ended] = []
        trained = False

        def meanwhile() -> None:
            nonlocal trained
            trained = True
            if other and not during:
                during.append(Ended(0))  # it begins
                during.append(self._called(other, stubs(), self._files().keys()))

        ended = self._called(words, stubs(world, meanwhile, dice.random() < 0.2), self.state.keys())
        left = re.fullmatch(r"exit code 2 leaves .*: \['([^']*)'\]", ended.fault)
        named = {part for word in words for part in (word, word.partition("=")[2])}
        if trained and left and (left[1] in named or left[1].endswith(".sqlite")):
            ended = Ended(ended.code, ended.out, ended.err)  # runs that were made are kept
        return next((each for each in during if each.fault), ended)

    def _called(self, words: list[str], made_up: Any, before: Collection[str]) -> Ended:
        code, out, err, raised = _called(words, made_up)
        if raised:
            return Ended(code, out, err, raised.splitlines()[-1][:200], raised)
        return Ended(code, out, err, _fault(words, code, out, err, {*self._files()} - {*before}))

    @contextmanager
    def _used(self) -> Iterator[None]:
        """While it lasts, `used.sqlite` is the store of another sweep."""
        from sgdphase._sweep.storefile import writing

        shutil.copy(self.sound / "runs.sqlite", self.here / USED)
        with writing(self.here / USED):
            yield

    def _files(self) -> dict[str, Any]:
        """All files, with what changes if they are written to."""
        files: dict[str, Any] = {}
        for folder, _, _ in os.walk(self.here):
            for entry in os.scandir(folder):
                state = entry.stat(follow_symlinks=False)
                name = os.path.relpath(entry.path, self.here)
                if not name.startswith(("cache", USED)):
                    files[name] = entry.is_dir(follow_symlinks=False) or (
                        state.st_mtime_ns,
                        state.st_size,
                    )
        return files


def _copied(source: str, target: str) -> None:
    """Large files that no command writes to are linked."""
    (os.link if source.endswith((".npz", ".json")) else shutil.copy)(source, target)


def _called(words: list[str], made_up: Any) -> tuple[int, str, str, str]:
    """Exit code, output, errors, and the traceback if there is one."""
    out, err = TextIOWrapper(BytesIO(), "utf-8"), StringIO()

    def late(*_: Any) -> None:
        raise TooLong(f"more than {MOST_SECONDS:g} s")

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code, raised = -1, ""
    # Of this process alone, as others may be at work; and of the clock, for one that only waits.
    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, MOST_SECONDS),
        signal.SIGALRM: (signal.ITIMER_REAL, 50 * MOST_SECONDS),
    }
    previous = {number: signal.signal(number, late) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        with (
            made_up, redirect_stdout(out), redirect_stderr(err),
            warnings.catch_warnings(), mock.patch.object(sys, "argv", ["sgdphase", *words]),
        ):  # fmt: skip
            warnings.simplefilter("error")
            cli.main()
    except SystemExit as end:
        code = int(end.code or 0)
    except MadeUpError as error:  # which is a fault of the model, and none of the command line
        code, raised = 1, ""
        err.write(str(error))
    except BaseException:
        raised = traceback.format_exc()
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, previous[number])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    if grown > MOST_MEMORY and not raised:
        raised = f"memory: took {grown / 2**30:.1f} GiB"
    out.flush()
    text = out.buffer.getvalue().decode("utf-8", "backslashreplace")  # type: ignore[attr-defined]
    return code, text, err.getvalue(), raised


def _fault(words: list[str], code: int, out: str, err: str, new: Collection[str]) -> str:
    """What is wrong with the end of a command line, in a few words."""
    said = [
        line
        for line in err.splitlines()
        if re.match(r"sgdphase:(?! warning:| \d+ cells left out)", line)
    ]
    if "Traceback (most recent call last)" in out + err:
        return "a traceback is printed"
    if code == 2:
        if not said and "Usage: " in out:  # a bare command shows its help
            return ""
        if said != err.splitlines()[-1:]:  # others may say how far it is
            return f"exit code 2 with {len(said)} reasons, or text after it: {err[-100:]}"
        if not re.match(r"sgdphase: \S", said[0]):
            return "exit code 2 without a reason"
        blank = any(re.search(r"(^|=)[\s'\"]*$", word) for word in words)
        if re.search(r" \(\)| \[\]|: ?$|None|object at 0x", said[0]) and not blank:
            return f"a reason with a hole: {said[0][:150]}"
        if new:
            return f"exit code 2 leaves files behind: {sorted(new)[:3]}"
    elif code == 0:
        if "--json" in words and "--help" not in words:
            try:
                json.loads(out, parse_constant=_not_json)
            except ValueError as error:
                return f"--json prints what is not JSON ({error})"
    elif code != 1 or not re.search(
        r" failed|training fails|: other claims|is .*, and was|not those", err + out
    ):
        return f"exit code {code}"
    return ""


def _not_json(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


# The table


def check(command: Command, count: int, place: Place, seed: int = 0) -> Iterator[Attempt]:
    """Try `count` lines of a command: the words and how each ended."""
    rng = random.Random(f"{seed} {command.name}")
    for _ in range(count):
        words = [*command.words, *line(command, rng)]
        yield words, place.run(words)


def _checked(job: tuple[str, int, int]) -> tuple[str, list[Attempt]]:
    """In a process of its own; of what went well only the exit code is sent back."""
    name, count, seed = job
    command = next(each for each in commands() if each.name == name)
    # In memory: others may keep the disk busy.
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    ) as folder:
        tried = [*check(command, count, Place(Path(folder)), seed)]
    return name, [
        (words if end.fault else [], end if end.fault else Ended(end.code)) for words, end in tried
    ]


def main(count: int, seed: int, chosen: Collection[str], processes: int | None) -> int:
    """Try `count` lines of all or of the chosen commands; print a table, and each fault once."""
    names = [command.name for command in commands() if not chosen or command.name in chosen]
    jobs = [
        (name, count // len(names) + (n < count % len(names)), seed) for n, name in enumerate(names)
    ]
    total: Counter[int] = Counter()
    shown: set[str] = set()
    faults = 0
    head = ("command", "lines", "exit 0", "exit 1", "exit 2", "faults")
    print("| " + " | ".join(head) + " |\n|---|" + "---:|" * 5, flush=True)
    with get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        for name, tried in pool.imap(_checked, [job for job in jobs if job[1]]):
            codes = Counter(end.code for _, end in tried)
            bad = [(words, end) for words, end in tried if end.fault]
            _print_row(name, codes, len(bad))
            total, faults = total + codes, faults + len(bad)
            for words, end in bad:
                kind = re.sub(r"[0-9.]+", "#", end.fault)[:100]
                if kind not in shown:
                    shown.add(kind)
                    print(f"FAULT sgdphase {shlex.join(words)!a}\n{end.fault!a}\n"
                          f"{end.detail[-1500:]}", file=sys.stderr, flush=True)  # fmt: skip
    _print_row("all", total, faults)
    return 1 if faults else 0


def _print_row(name: str, codes: Counter[int], faults: int) -> None:
    ends = " | ".join(str(codes[code]) for code in (0, 1, 2))
    print(f"| {name} | {codes.total()} | {ends} | {faults} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        usage="fuzz.py [N] [COMMAND ...] [--seed SEED] [--processes N]"
    )
    parser.add_argument("count", nargs="?", type=int, default=2000)
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int)
    given = parser.parse_args()
    sys.exit(main(given.count, given.seed, given.commands, given.processes))
